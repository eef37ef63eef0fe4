// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "reference.h"

#include <string.h>

enum fault { FINE, SHORT_BODY, RECORD_OVERRUN, HEADER_OVERRUN };

/* A sample read to its end: what it says, and the records that matter. */
struct sample {
	uint32_t tag;
	const uint8_t *fixed;
	struct bytes header, ethernet, ip4, ip6; /* p NULL = absent; header: the whole record */
	struct bytes counters, port_name, host_descr, lag;
	struct bytes more[8]; /* 1036 to 1043 */
};

static const struct {
	uint32_t fixed; /* bytes before the records */
	int counters;
} samples[6] = {
	[1] = { 32, 0 }, [2] = { 12, 1 }, [3] = { 44, 0 }, [4] = { 16, 1 }, [5] = { 32, 0 },
};

static void keep(struct bytes *place, struct bytes body)
{
	if (!place->p)
		*place = body;
}

static enum fault counter_record(uint32_t tag, struct bytes body, struct sample *s)
{
	switch (tag) {
	case 1:
		if (body.left < 88)
			return SHORT_BODY;
		keep(&s->counters, body);
		return FINE;
	case 7:
		if (body.left < 56) /* dot3adAggPort: two system ids, attachedAggID, ... */
			return SHORT_BODY;
		keep(&s->lag, body);
		return FINE;
	case 1005:
	case 2000:
		if (body.left < 4 || bytes_32(body.p) > body.left - 4)
			return SHORT_BODY;
		keep(tag == 1005 ? &s->port_name : &s->host_descr, body);
		return FINE;
	}
	return FINE;
}

static enum fault flow_record(uint32_t tag, struct bytes body, struct sample *s)
{
	switch (tag) {
	case 1:
		if (body.left < 16)
			return SHORT_BODY;
		if (bytes_32(body.p + 12) > body.left - 16)
			return HEADER_OVERRUN;
		keep(&s->header, body);
		return FINE;
	case 2:
		if (body.left < 20) /* some agents leave out the padding of both MAC addresses */
			return SHORT_BODY;
		keep(&s->ethernet, body);
		return FINE;
	case 3:
		if (body.left < 32)
			return SHORT_BODY;
		keep(&s->ip4, body);
		return FINE;
	case 4:
		if (body.left < 56)
			return SHORT_BODY;
		keep(&s->ip6, body);
		return FINE;
	}
	return reference_more(s->tag, tag, body, s->more) ? FINE : SHORT_BODY;
}

static enum fault records(struct bytes b, uint32_t nr, int counters, struct sample *s)
{
	while (nr--) {
		const uint8_t *head = bytes_take(&b, 8);
		struct bytes body;
		enum fault fault;
		uint32_t pad;

		if (!head || bytes_32(head + 4) > b.left)
			return RECORD_OVERRUN;
		body.left = bytes_32(head + 4);
		body.p = bytes_take(&b, body.left);
		fault = counters ? counter_record(bytes_32(head), body, s) :
				   flow_record(bytes_32(head), body, s);
		if (fault)
			return fault;
		pad = -(uint32_t)body.left & 3;
		bytes_take(&b, pad < b.left ? pad : b.left);
	}
	return FINE;
}

/* ceil(log2(length)), by doubling. */
static uint32_t length_bucket(uint32_t length)
{
	uint32_t n = 0;

	while ((1ull << n) < length)
		n++;
	return n;
}

static void add(struct xsf_count *c, uint64_t weight)
{
	c->samples++;
	c->packets += weight;
}

static void count_end(struct xsf_totals *t, enum reference_end end)
{
	__u64 *const places[] = {
		[END_NONE] = &t->header_none,
		[END_OTHER_PROTOCOL] = &t->header_other_protocol,
		[END_CUT] = &t->header_cut,
		[END_NOT_IP] = &t->header_not_ip,
		[END_BAD_IP] = &t->header_bad_ip,
		[END_FRAGMENT] = &t->header_fragment,
		[END_IP] = &t->header_ip,
		[END_OTHER_TUNNEL] = &t->header_other_tunnel,
		[END_ROCE] = &t->header_roce,
		[END_ROCE_TUNNEL] = &t->header_roce_tunnel,
		[END_ROCE_V1] = &t->header_roce_v1,
		[END_BTH_CUT] = &t->header_bth_cut,
	};

	++*places[end];
}

static void count_reason(struct reference *r, int sampled, uint32_t code)
{
	if (code >= XSF_REASONS)
		r->high_reasons++;
	else if (sampled)
		r->reasons.sampled[code]++;
	else
		r->reasons.notified[code]++;
}

/* One packet, in a source's sum as in the sum of all. */
static void count_traffic(struct xsf_traffic *t, const struct reference_packet *p, uint64_t weight,
			  uint64_t bytes)
{
	t->samples++;
	t->packets += weight;
	t->bytes += bytes;
	if (p->is_ip && p->tos >> 2 == 11)
		t->trimmed_packets += weight;
	if (p->is_roce) {
		t->roce_packets += weight;
		t->roce_bytes += bytes;
		if ((p->roce_tos & 3) == 3)
			t->ce_packets += weight;
	}
	if (p->has_bth && p->opcode == 0x81)
		t->cnp_packets += weight;
}

static void count_packet(struct reference *r, const struct reference_packet *p,
			 enum xsf_direction direction, uint64_t weight, uint64_t bytes)
{
	struct xsf_rdma_row *rdma = &r->rdma[direction];

	count_traffic(&r->traffic[direction], p, weight, bytes);
	if (p->is_ip)
		add(&r->tos[direction].all[p->tos], weight);
	if (p->is_roce)
		add(&r->tos[direction].roce[p->roce_tos], weight);
	if (p->has_bth) {
		struct xsf_op *op = &r->ops[direction][p->carrier].opcode[p->opcode];

		op->samples++;
		op->packets += weight;
		op->bytes += bytes;
		if (p->opcode == 0x81)
			add(&rdma->cnp[p->bth_flags >> 6], weight);
	}
	if (p->has_reth) {
		rdma->length_sum += p->dma_length;
		rdma->length_sum_scaled += p->dma_length * weight;
		add(&rdma->length[length_bucket(p->dma_length)], weight);
	}
	if (p->has_aeth) {
		struct xsf_count *const kinds[] = { rdma->ack, rdma->rnr, rdma->reserved_syndrome,
						    rdma->nak };

		add(&kinds[p->syndrome >> 5 & 3][p->syndrome & 31], weight);
	}
}

static struct reference_source *source_of(struct reference *r, uint32_t class, uint32_t index)
{
	uint32_t i = reference_source_of(r, &r->agents[r->agent].key, class, index);

	return &r->sources[i];
}

/* The packet of a sample without a sampled header (sflow_version_5.txt: sampled_ethernet, _ipv4, _ipv6).
 * Returns its length. */
static uint32_t fields_packet(const struct sample *s, struct reference_packet *p)
{
	const uint8_t *ip = s->ip4.p ? s->ip4.p : s->ip6.p, *ports;
	uint32_t length = 0;

	memset(p, 0, sizeof(*p));
	if (ip) {
		ports = ip + (s->ip4.p ? 16 : 40);
		length = bytes_32(ip);
		p->is_ip = 1;
		p->tos = ports[15];
		p->end = END_IP;
		if (bytes_32(ip + 4) == 17 && bytes_32(ports + 4) == 4791) {
			p->is_roce = 1;
			p->roce_tos = p->tos;
			p->end = END_BTH_CUT;
		}
	}
	if (s->ethernet.p) {
		length = bytes_32(s->ethernet.p);
		if (!ip)
			p->end = END_NOT_IP;
	}
	return length;
}

/* A value of format 0 that is an ifIndex. */
static int is_interface(uint32_t format, uint32_t value)
{
	return format == 0 && value != 0 && value != 0x3fffffff && value != 0xffffffff;
}

static void flow(struct reference *r, const struct sample *s)
{
	const uint8_t *f = s->fixed;
	uint32_t class, index, rate, pool, drops, in_format, in, out_format, out, length;
	enum xsf_direction direction = XSF_OTHER;
	struct reference_source *source;
	struct reference_packet packet;
	uint64_t weight;
	int at_input;

	if (s->tag == 3) {
		r->totals.sample_flow_expanded++;
		class = bytes_32(f + 4);
		index = bytes_32(f + 8);
		rate = bytes_32(f + 12);
		pool = bytes_32(f + 16);
		drops = bytes_32(f + 20);
		in_format = bytes_32(f + 24);
		in = bytes_32(f + 28);
		out_format = bytes_32(f + 32);
		out = bytes_32(f + 36);
	} else {
		r->totals.sample_flow++;
		class = f[4];
		index = bytes_32(f + 4) & 0xffffff;
		rate = bytes_32(f + 8);
		pool = bytes_32(f + 12);
		drops = bytes_32(f + 16);
		in_format = f[20] >> 6;
		in = bytes_32(f + 20) & 0x3fffffff;
		out_format = f[24] >> 6;
		out = bytes_32(f + 24) & 0x3fffffff;
	}
	if (class == 0 && in == index && is_interface(in_format, in))
		direction = XSF_INGRESS;
	else if (class == 0 && out == index && is_interface(out_format, out))
		direction = XSF_EGRESS;
	if (out_format == 1) {
		r->totals.output_discarded++;
		count_reason(r, 1, out);
	} else if (out_format == 2) {
		r->totals.output_multiple++;
	} else if (in_format || out_format) {
		r->totals.output_undefined++;
	}
	weight = rate;
	if (!rate) {
		weight = 1;
		r->totals.bad_rate++;
	}
	if (s->header.p) {
		struct bytes header = { s->header.p + 16, bytes_32(s->header.p + 12) };

		length = bytes_32(s->header.p + 4);
		reference_packet(header, bytes_32(s->header.p), &packet);
	} else {
		length = fields_packet(s, &packet);
	}
	count_end(&r->totals, packet.end);
	r->totals.sampled_packets += weight;
	r->totals.sampled_bytes += weight * length;
	/* A switch as a whole: it came in at the input. */
	at_input = (class == 2 || class == 3) && is_interface(in_format, in);
	if (at_input)
		direction = XSF_INGRESS;
	count_packet(r, &packet, direction, weight, weight * length);

	r->agents[r->agent].flow_samples++;
	source = source_of(r, class, index);
	source->sampling_rate = (uint32_t)weight;
	source->sample_pool = pool;
	source->drops = drops;
	if (at_input)
		source = source_of(r, 0, in);
	count_traffic(&source->traffic[direction], &packet, weight, weight * length);
}

static void drop(struct reference *r, const struct sample *s)
{
	struct reference_agent *agent = &r->agents[r->agent];
	uint32_t ifindex = bytes_32(s->fixed + 16), reason = bytes_32(s->fixed + 24);

	if (!ifindex && !bytes_32(s->fixed + 4))
		ifindex = bytes_32(s->fixed + 8);
	/* No interface has that number. */
	if (ifindex == 0xffffffff)
		ifindex = 0;
	++*reference_place_of(r, &agent->key, ifindex, reason);
	++*reference_place_of(r, &agent->key, 0xffffffff, reason);
	r->totals.sample_drop++;
	count_reason(r, 0, bytes_32(s->fixed + 24));
	if (s->header.p) {
		struct bytes header = { s->header.p + 16, bytes_32(s->header.p + 12) };
		struct reference_packet packet;

		reference_packet(header, bytes_32(s->header.p), &packet);
		r->totals.drops_roce += (uint64_t)packet.is_roce;
	}
	agent->drop_samples++;
	agent->drops = bytes_32(s->fixed + 12);
	source_of(r, bytes_32(s->fixed + 4), bytes_32(s->fixed + 8))->drop_samples++;
}

/* Of a string, what is kept. Returns its length. */
static uint32_t keep_name(struct reference *r, struct bytes string, uint8_t name[XSF_NAME_LEN])
{
	uint32_t len = bytes_32(string.p);

	if (len > 63) {
		len = 63;
		r->totals.names_cut++;
	}
	memset(name, 0, XSF_NAME_LEN);
	memcpy(name, string.p + 4, len);
	return len;
}

static void counters(struct reference *r, const struct sample *s)
{
	struct reference_agent *agent = &r->agents[r->agent];
	struct reference_source *source;
	uint32_t class, index;

	if (s->tag == 4) {
		r->totals.sample_counter_expanded++;
		class = bytes_32(s->fixed + 4);
		index = bytes_32(s->fixed + 8);
	} else {
		r->totals.sample_counter++;
		class = s->fixed[4];
		index = bytes_32(s->fixed + 4) & 0xffffff;
	}
	agent->counter_samples++;
	source = source_of(r, class, index);
	if (s->host_descr.p)
		agent->name_len = keep_name(r, s->host_descr, agent->name);
	/* The record says which interface it is about; the name beside it is that interface's. */
	if (s->counters.p) {
		source = source_of(r, 0, bytes_32(s->counters.p));
		memcpy(source->counters, s->counters.p, sizeof(source->counters));
		source->has_counters = 1;
		source->counters_uptime = r->uptime;
	}
	if (s->lag.p)
		source->aggregate = bytes_32(s->lag.p + 16);
	if (s->port_name.p)
		source->name_len = keep_name(r, s->port_name, source->name);
}

/* One sample of a length that is there. Returns 1 when it was faulty. */
static int sample(struct reference *r, uint32_t tag, struct bytes b)
{
	struct sample s = { .tag = tag };
	uint32_t nr;

	if (tag < 1 || tag > 5) {
		r->totals.sample_unknown++;
		return 0;
	}
	s.fixed = bytes_take(&b, samples[tag].fixed);
	if (!s.fixed) {
		r->totals.fault_short_body++;
		return 1;
	}
	nr = bytes_32(s.fixed + samples[tag].fixed - 4);
	switch (records(b, nr, samples[tag].counters, &s)) {
	case SHORT_BODY:
		r->totals.fault_short_body++;
		return 1;
	case RECORD_OVERRUN:
		r->totals.fault_record_overrun++;
		return 1;
	case HEADER_OVERRUN:
		r->totals.fault_header_overrun++;
		return 1;
	case FINE:
		break;
	}
	if (!samples[tag].counters)
		reference_event(r, tag, s.fixed, s.header, s.more);
	if (tag == 5)
		drop(r, &s);
	else if (samples[tag].counters)
		counters(r, &s);
	else
		flow(r, &s);
	return 0;
}

/* The datagram's header. Returns the number of samples, or -1. */
static int64_t begin(struct reference *r, struct bytes *b)
{
	__u64 *fault = &r->totals.fault_short_header;
	struct xsf_agent_key key = { 0 };
	const uint8_t *p;
	uint32_t type;

	if (b->left < 4)
		goto refused;
	if (bytes_32(b->p) != 5) {
		fault = &r->totals.fault_bad_version;
		goto refused;
	}
	if (b->left < 8)
		goto refused;
	type = bytes_32(b->p + 4);
	if (type != 1 && type != 2) {
		fault = &r->totals.fault_bad_agent_type;
		goto refused;
	}
	p = b->p;
	if (!bytes_take(b, type == 1 ? 8 + 4 : 8 + 16) || b->left < 16)
		goto refused;
	if (type == 1) {
		key.addr[10] = key.addr[11] = 0xff;
		memcpy(key.addr + 12, p + 8, 4);
	} else {
		memcpy(key.addr, p + 8, 16);
	}
	p = bytes_take(b, 16);
	key.sub_agent = bytes_32(p);
	r->uptime = bytes_32(p + 8);
	r->agent = reference_agent_of(r, &key);
	return bytes_32(p + 12);

refused:
	++*fault;
	r->totals.datagram_refused++;
	return -1;
}

void reference_datagram(struct reference *r, const uint8_t *payload, size_t len)
{
	struct bytes b = { payload, len };
	int64_t nr;
	int faulty = 0;

	r->totals.datagrams++;
	r->totals.bytes += len;
	nr = begin(r, &b);
	if (nr < 0)
		return;
	r->agents[r->agent].datagrams++;
	r->agents[r->agent].bytes += len;
	while (nr--) {
		const uint8_t *head = bytes_take(&b, 8);
		struct bytes body;
		uint32_t pad;

		if (!head || bytes_32(head + 4) > b.left) {
			r->totals.fault_sample_overrun++;
			faulty = 1;
			break;
		}
		body.left = bytes_32(head + 4);
		body.p = bytes_take(&b, body.left);
		faulty |= sample(r, bytes_32(head), body);
		pad = -(uint32_t)body.left & 3;
		bytes_take(&b, pad < b.left ? pad : b.left);
	}
	if (faulty) {
		r->totals.datagram_faulty++;
		r->agents[r->agent].faulty++;
	} else {
		r->totals.datagram_sound++;
	}
}
