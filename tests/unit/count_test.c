// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a sound sample adds to: direction, weight, interface counters, names, agents' sequence numbers. */
#include "fed.h"

/* A RETH of each length on either side of each bucket's limit, and of the greatest. */
static void test_lengths(void **state)
{
	struct fed *f = *state;
	uint64_t sum = 0, buckets[XSF_RDMA_BUCKETS] = { 0 };

	for (uint32_t n = 0; n <= 32; n++) {
		for (int step = -1; step <= (n < 32 ? 1 : -1); step++) {
			uint32_t length = (uint32_t)((1ull << n) + (uint64_t)step), bucket = 0,
				 body;
			struct wire packet = { 0 };

			while (bucket < 32 && (1ull << bucket) < length)
				bucket++;
			buckets[bucket]++;
			sum += length;
			wire_roce4(&packet, 6, 0, 16);
			wire_put32(packet.p + packet.len - 4, length);
			fed_begin(f, 1);
			body = wire_flow(&f->w, f->sequence, 3, 10, 3, 4, 1);
			wire_header(&f->w, 1, 100, packet.p, packet.len);
			wire_close(&f->w, body);
			fed_end(f);
		}
	}
	for (uint32_t i = 0; i < XSF_RDMA_BUCKETS; i++) {
		assert_int_equal(f->s.rdma[0].length[i].samples, buckets[i]);
		assert_int_equal(f->s.rdma[0].length[i].packets, 10 * buckets[i]);
	}
	assert_int_equal(f->s.rdma[0].length_sum, sum);
	assert_int_equal(f->s.rdma[0].length_sum_scaled, 10 * sum);
}

/* Every syndrome, and every SE and M of a CNP. */
static void test_syndromes(void **state)
{
	struct fed *f = *state;
	const struct xsf_rdma_row *r;
	struct wire packet;
	uint32_t body;

	for (uint32_t syndrome = 0; syndrome < 256; syndrome++) {
		packet.len = 0;
		wire_roce4(&packet, 17, 0, 4);
		packet.p[packet.len - 4] = (uint8_t)syndrome;
		fed_begin(f, 1);
		body = wire_flow(&f->w, f->sequence, 3, 1 + syndrome % 128, 3, 4, 1);
		wire_header(&f->w, 1, 100, packet.p, packet.len);
		wire_close(&f->w, body);
		fed_end(f);
	}
	r = &f->s.rdma[0];
	/* the top bit is reserved */
	for (uint32_t i = 0; i < 32; i++) {
		assert_int_equal(r->ack[i].samples, 2);
		assert_int_equal(r->ack[i].packets, 2 * (1 + i));
		assert_int_equal(r->rnr[i].packets, 2 * (33 + i));
		assert_int_equal(r->reserved_syndrome[i].packets, 2 * (65 + i));
		assert_int_equal(r->nak[i].packets, 2 * (97 + i));
	}
	for (uint32_t flags = 0; flags < 256; flags++) {
		packet.len = 0;
		wire_roce4(&packet, 0x81, 0, 16);
		packet.p[14 + 20 + 8 + 1] = (uint8_t)flags;
		fed_begin(f, 1);
		body = wire_flow(&f->w, f->sequence, 3, 1 + flags / 64, 3, 4, 1);
		wire_header(&f->w, 1, 100, packet.p, packet.len);
		wire_close(&f->w, body);
		fed_end(f);
	}
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(f->s.rdma[0].cnp[i].samples, 64);
		assert_int_equal(f->s.rdma[0].cnp[i].packets, 64 * (1 + i));
	}
	assert_int_equal(fed_source(f, 0, 3)->own[XSF_INGRESS].cnp_packets, 64 * (1 + 2 + 3 + 4));
}

static void flow_between(struct fed *f, uint32_t source, uint32_t in, uint32_t out)
{
	uint32_t body;

	fed_begin(f, 1);
	body = wire_flow(&f->w, f->sequence, source, 1, in, out, 0);
	wire_close(&f->w, body);
	fed_end(f);
}

static void flow_expanded_between(struct fed *f, uint32_t class, uint32_t index, struct wire_if in,
				  struct wire_if out)
{
	uint32_t body;

	fed_begin(f, 1);
	body = wire_flow_expanded(&f->w, f->sequence, class, index, 1, in, out, 0);
	wire_close(&f->w, body);
	fed_end(f);
}

/* The sample counted in this direction of source (class, index), once. */
static void counted(const struct fed *f, uint32_t class, uint32_t index, enum xsf_direction d,
		    uint64_t n)
{
	assert_non_null(fed_source(f, class, index));
	assert_int_equal(fed_source(f, class, index)->own[d].samples, n);
}

static void test_directions(void **state)
{
	struct fed *f = *state;

	flow_between(f, 3, 3, 4);
	counted(f, 0, 3, XSF_INGRESS, 1);
	flow_between(f, 4, 3, 4);
	counted(f, 0, 4, XSF_EGRESS, 1);
	flow_between(f, 5, 5, 5); /* hairpin */
	counted(f, 0, 5, XSF_INGRESS, 1);
	flow_between(f, 6, 3, 4);
	counted(f, 0, 6, XSF_OTHER, 1);
	flow_between(f, 1 << 24 | 3, 3, 4); /* a VLAN's number is no ifIndex */
	counted(f, 1, 3, XSF_OTHER, 1);
	flow_between(f, 0, 0, 0); /* 0 is no interface */
	counted(f, 0, 0, XSF_OTHER, 1);
	/* The compact form has 30 bits for an interface, 24 for a data source. */
	flow_between(f, 0xffffff, 0xffffff, 4);
	counted(f, 0, 0xffffff, XSF_INGRESS, 1);
	flow_between(f, 3, 0x01000003, 4);
	counted(f, 0, 3, XSF_OTHER, 1);

	flow_expanded_between(f, 0, 1285816721, (struct wire_if){ 0, 1285816721 },
			      (struct wire_if){ 0, 4 });
	counted(f, 0, 1285816721, XSF_INGRESS, 1);
	/* top bits of an expanded interface are part of it */
	flow_expanded_between(f, 0, 4294967280u, (struct wire_if){ 0, 9 },
			      (struct wire_if){ 0, 4294967280u });
	counted(f, 0, 4294967280u, XSF_EGRESS, 1);
	flow_expanded_between(f, 2, 7, (struct wire_if){ 0, 7 }, (struct wire_if){ 0, 7 });
	/* an entity samples what came in at its input (DESIGN.md 4.12) */
	counted(f, 0, 7, XSF_INGRESS, 1);
	assert_int_equal(fed_source(f, 2, 7)->own[XSF_OTHER].samples, 0);
	/* not of format 0 */
	flow_expanded_between(f, 0, 11, (struct wire_if){ 2, 11 }, (struct wire_if){ 1, 11 });
	counted(f, 0, 11, XSF_OTHER, 1);
	flow_expanded_between(f, 0, 12, (struct wire_if){ 3, 12 }, (struct wire_if){ 0, 12 });
	counted(f, 0, 12, XSF_EGRESS, 1);
	/* class and index use all their bits */
	flow_expanded_between(f, 0x01000000, 3, (struct wire_if){ 0, 3 }, (struct wire_if){ 0, 4 });
	counted(f, 0x01000000, 3, XSF_OTHER, 1);
}

/* Interface numbers that are none: internal, unknown, multiple, discarded, undefined. */
static void test_special_interfaces(void **state)
{
	static const struct {
		uint32_t in, out;
		uint64_t discarded, multiple, undefined;
	} cases[] = {
		{ 0x3fffffff, 0x3fffffff, 0, 0, 0 }, { 3, 0x3fffffff, 0, 0, 0 },
		{ 3, 0x80000000, 0, 1, 0 },	     { 3, 0x80000007, 0, 1, 0 },
		{ 3, 0x40000102, 1, 0, 0 },	     { 3, 0x40000003, 1, 0, 0 },
		{ 3, 0xc0000001, 0, 0, 1 },	     { 3, 0, 0, 0, 0 },
		{ 0x40000003, 4, 0, 0, 1 },	     { 0x80000000, 4, 0, 0, 1 },
		{ 0x40000003, 0x40000003, 1, 0, 0 }, { 0xffffffff, 0xffffffff, 0, 0, 1 },
	};
	uint64_t discarded = 0, multiple = 0, undefined = 0;
	struct fed *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		flow_between(f, 3, cases[i].in, cases[i].out);
		discarded += cases[i].discarded;
		multiple += cases[i].multiple;
		undefined += cases[i].undefined;
		assert_int_equal(f->s.totals.output_discarded, discarded);
		assert_int_equal(f->s.totals.output_multiple, multiple);
		assert_int_equal(f->s.totals.output_undefined, undefined);
		assert_int_equal(f->s.totals.sample_flow, i + 1);
	}
	assert_int_equal(f->s.reasons.sampled[258], 1);
	assert_int_equal(f->s.reasons.sampled[3], 2);
	assert_int_equal(f->s.reasons.notified[258], 0);
	assert_int_equal(f->s.nr_sources, 2); /* no other source came of it */
	/* expanded: 0x3fffffff and 0xffffffff keep their meaning */
	flow_expanded_between(f, 0, 0x3fffffff, (struct wire_if){ 0, 0x3fffffff },
			      (struct wire_if){ 0, 0x3fffffff });
	counted(f, 0, 0x3fffffff, XSF_OTHER, 1);
	flow_expanded_between(f, 0, 0xffffffff, (struct wire_if){ 0, 0xffffffff },
			      (struct wire_if){ 0, 0xffffffff });
	counted(f, 0, 0xffffffff, XSF_OTHER, 1);
}

static void test_weight(void **state)
{
	static const uint32_t rates[] = { 0, 1, 2, 1000, 0x7fffffff, 0xffffffff };
	struct fed *f = *state;
	uint64_t packets = 0, bytes = 0;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct wire packet = { 0 };
		uint32_t body;

		wire_roce4(&packet, 4, 0, 0);
		fed_begin(f, 1);
		body = wire_flow(&f->w, f->sequence, 3, rates[i], 3, 4, 1);
		wire_header(&f->w, 1, 1086, packet.p, packet.len);
		wire_close(&f->w, body);
		fed_end(f);
		packets += rates[i] ? rates[i] : 1;
		bytes += 1086ull * (rates[i] ? rates[i] : 1);
		assert_int_equal(f->s.totals.sampled_packets, packets);
		assert_int_equal(f->s.totals.sampled_bytes, bytes);
		assert_int_equal(f->s.totals.bad_rate, 1);
		assert_int_equal(f->s.ops[0].opcode[4].bytes, bytes);
		assert_int_equal(f->s.ops[0].opcode[4].packets, packets);
		assert_int_equal(fed_source(f, 0, 3)->sampling_rate, rates[i] ? rates[i] : 1);
		assert_int_equal(fed_source(f, 0, 3)->sample_pool, f->sequence * rates[i]);
		assert_int_equal(fed_source(f, 0, 3)->drops, 3);
	}
}

/* Agents without sampled headers: sampled_ethernet of 20 and 24 bytes, sampled_ipv4, sampled_ipv6. */
static void test_field_records(void **state)
{
	struct fed *f = *state;
	uint32_t body, record;

	for (uint32_t len = 19; len <= 24; len++) {
		fed_begin(f, 1);
		body = wire_flow(&f->w, f->sequence, 3, 10, 3, 4, 1);
		record = wire_open(&f->w, 2);
		wire_32(&f->w, 500);
		wire_fill(&f->w, 1, len - 4);
		wire_put32(f->w.p + record - 4, len);
		wire_pad(&f->w, record);
		wire_close(&f->w, body);
		fed_end(f);
	}
	assert_int_equal(f->s.totals.fault_short_body, 1);
	assert_int_equal(f->s.totals.header_not_ip, 5);
	assert_int_equal(f->s.totals.sampled_bytes, 5 * 10 * 500);
	for (uint32_t ip6 = 0; ip6 < 2; ip6++) {
		for (uint32_t udp = 0; udp < 2; udp++) {
			fed_begin(f, 1);
			body = wire_flow(&f->w, f->sequence, 4, 10, 4, 5, 1);
			record = wire_open(&f->w, ip6 ? 4 : 3);
			wire_32(&f->w, 700);
			wire_32(&f->w, udp ? 17 : 6);
			wire_fill(&f->w, 9, ip6 ? 32 : 8);
			wire_32(&f->w, 1000);
			wire_32(&f->w, 4791);
			wire_32(&f->w, 0x10);
			wire_32(&f->w, 11 << 2 | 3);
			wire_close(&f->w, record);
			wire_close(&f->w, body);
			fed_end(f);
		}
	}
	assert_int_equal(f->s.totals.header_ip, 2);
	assert_int_equal(f->s.totals.header_bth_cut, 2);
	assert_int_equal(f->s.tos[0].all[11 << 2 | 3].samples, 4);
	assert_int_equal(f->s.tos[0].roce[11 << 2 | 3].samples, 2);
	assert_int_equal(fed_source(f, 0, 4)->own[0].bytes, 4 * 10 * 700);
	assert_int_equal(fed_source(f, 0, 4)->own[0].roce_packets, 2 * 10);
	assert_int_equal(fed_source(f, 0, 4)->own[0].ce_packets, 2 * 10);
	assert_int_equal(fed_source(f, 0, 4)->own[0].trimmed_packets, 4 * 10);
}

/* Several in one sample: the lengths of Ethernet, the addresses of IPv4. */
static void test_field_records_together(void **state)
{
	static const uint32_t body_len[] = { 0, 0, 24, 32, 56 };
	struct fed *f = *state;
	uint32_t body = 0, record;

	fed_begin(f, 1);
	body = wire_flow(&f->w, 1, 3, 10, 3, 4, 3);
	for (uint32_t tag = 4; tag >= 2; tag--) {
		record = wire_open(&f->w, tag);
		wire_32(&f->w, 100 * tag);
		wire_32(&f->w, 6);
		wire_fill(&f->w, (uint8_t)tag, body_len[tag] - 8);
		wire_close(&f->w, record);
	}
	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(f->s.totals.header_ip, 1);
	assert_int_equal(f->s.tos[0].all[3].samples, 1);
	assert_int_equal(f->s.totals.sampled_bytes, 10 * 200);
}

/* Each of these records in one sample, and then a sample without: it has none of them. */
static void test_records_of_the_sample_before(void **state)
{
	static const uint32_t lengths[] = { 0, 0, 24, 32, 56 };
	struct fed *f = *state;
	uint32_t body, record;

	for (uint32_t tag = 1; tag <= 4; tag++) {
		uint64_t none = f->s.totals.header_none, bytes = f->s.totals.sampled_bytes;

		fed_begin(f, 2);
		body = wire_flow(&f->w, f->sequence, 4, 10, 4, 5, 1);
		if (tag == 1) {
			wire_header(&f->w, 1, 700, "", 0);
		} else {
			record = wire_open(&f->w, tag);
			wire_32(&f->w, 700);
			wire_fill(&f->w, 9, lengths[tag] - 4);
			wire_close(&f->w, record);
		}
		wire_close(&f->w, body);
		body = wire_flow(&f->w, f->sequence, 5, 10, 5, 4, 0);
		wire_close(&f->w, body);
		fed_end(f);
		assert_int_equal(f->s.totals.header_none, none + 1);
		assert_int_equal(f->s.totals.sampled_bytes, bytes + 7000);
	}
	assert_int_equal(fed_source(f, 0, 5)->own[XSF_INGRESS].bytes, 0);
	assert_int_equal(fed_source(f, 0, 5)->own[XSF_INGRESS].packets, 40);
}

static void test_counters(void **state)
{
	struct fed *f = *state;
	const struct xsf_interface *i;
	uint32_t body, record;
	uint64_t value;

	fed_begin(f, 1);
	body = wire_counters(&f->w, 1, 3, 1);
	wire_if_counters(&f->w, 3, 100);
	wire_close(&f->w, body);
	fed_end(f);
	i = fed_interface(f, 3);
	assert_int_equal(i->has_counters, 1);
	assert_int_equal(i->type, 6);
	assert_int_equal(i->speed, 100000000000ull);
	assert_int_equal(i->direction, 1);
	assert_int_equal(i->status, 3);
	assert_int_equal(i->in_octets, 100ull << 32 | 100);
	assert_int_equal(i->in_ucast, 101);
	assert_int_equal(i->in_multicast, 102);
	assert_int_equal(i->in_broadcast, 103);
	assert_int_equal(i->in_discards, 104);
	assert_int_equal(i->in_errors, 105);
	assert_int_equal(i->in_unknown, 106);
	assert_int_equal(i->out_octets, 107ull << 32 | 100);
	assert_int_equal(i->out_ucast, 108);
	assert_int_equal(i->out_multicast, 109);
	assert_int_equal(i->out_broadcast, 110);
	assert_int_equal(i->out_discards, 111);
	assert_int_equal(i->out_errors, 112);
	assert_int_equal(i->promiscuous, 1);
	assert_int_equal(i->counters_uptime_ms, 1000);
	assert_int_equal(i->counters_ns, f->now_ns);

	/* all ones are kept as they are, and read as unknown; lower values replace higher ones */
	fed_begin(f, 1);
	body = wire_counters(&f->w, 2, 3, 1);
	record = wire_open(&f->w, 1);
	wire_32(&f->w, 3);
	wire_fill(&f->w, 0xff, 84);
	wire_close(&f->w, record);
	wire_close(&f->w, body);
	fed_end(f);
	for (int c = 0; c < XSF_NR_IF_COUNTERS; c++)
		assert_int_equal(xsf_if_counter_read(i, (enum xsf_if_counter)c, &value), 0);
	fed_begin(f, 1);
	body = wire_counters(&f->w, 3, 3, 1);
	wire_if_counters(&f->w, 3, 0);
	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(i->in_octets, 0);
	for (int c = 0; c < XSF_NR_IF_COUNTERS; c++)
		assert_int_equal(xsf_if_counter_read(i, (enum xsf_if_counter)c, &value), 1);

	/* one byte short is a fault, longer is not; of two records the first counts */
	for (uint32_t len = 87; len <= 96; len++) {
		fed_begin(f, 1);
		body = wire_counters(&f->w, f->sequence, 3, 2);
		record = wire_open(&f->w, 1);
		wire_32(&f->w, 3);
		wire_fill(&f->w, (uint8_t)len, len - 4);
		wire_close(&f->w, record);
		wire_if_counters(&f->w, 4, 1);
		wire_close(&f->w, body);
		fed_end(f);
		assert_int_equal(i->type, len < 88 ? 6 : len * 0x01010101u);
	}
	assert_int_equal(f->s.totals.fault_short_body, 1);
	assert_null(fed_source(f, 0, 4));
}

/* The record's own ifIndex says which interface it is about, whatever the data source. */
static void test_counters_of_others(void **state)
{
	struct fed *f = *state;
	uint32_t body;

	fed_begin(f, 1);
	body = wire_counters_expanded(&f->w, 1, 2, 1, 2);
	wire_if_counters(&f->w, 77, 5);
	wire_string(&f->w, 1005, "eth77", 5);
	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(fed_interface(f, 77)->in_ucast, 6);
	assert_int_equal(fed_interface(f, 77)->name_len, 5);
	assert_non_null(fed_source(f, 2, 1));
	assert_int_equal(f->s.interfaces[fed_source(f, 2, 1) - f->s.sources].has_counters, 0);
	/* a name alone is the data source's */
	fed_begin(f, 1);
	body = wire_counters(&f->w, 1, 78, 1);
	wire_string(&f->w, 1005, "eth78", 5);
	wire_close(&f->w, body);
	fed_end(f);
	assert_memory_equal(fed_interface(f, 78)->name, "eth78", 6);
	assert_int_equal(fed_interface(f, 78)->has_counters, 0);
}

/* lag_port_stats: whom a member follows, kept when later samples do not say; shorter ones are a fault. */
static void test_lag(void **state)
{
	struct fed *f = *state;
	uint32_t body, record;

	fed_begin(f, 2);
	body = wire_counters(&f->w, 1, 7, 2);
	wire_if_counters(&f->w, 7, 5);
	wire_lag(&f->w, 1000);
	wire_close(&f->w, body);
	body = wire_counters(&f->w, 1, 8, 1);
	wire_lag(&f->w, 0);
	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(fed_interface(f, 7)->aggregate, 1000);
	assert_int_equal(fed_interface(f, 8)->aggregate, 0);
	fed_begin(f, 1);
	body = wire_counters(&f->w, 2, 7, 1);
	wire_if_counters(&f->w, 7, 6);
	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(fed_interface(f, 7)->aggregate, 1000);
	for (uint32_t len = 0; len <= 56; len += 4) {
		fed_begin(f, 1);
		body = wire_counters(&f->w, 3 + len / 4, 7, 1);
		record = wire_open(&f->w, 7);
		wire_fill(&f->w, 0, len);
		wire_close(&f->w, record);
		wire_close(&f->w, body);
		fed_end(f);
		assert_int_equal(fed_interface(f, 7)->aggregate, len < 56 ? 1000 : 0);
	}
	assert_int_equal(f->s.totals.fault_short_body, 14);
}

/* Names of every length: up to 63 bytes are kept, and no more of a shorter one than it has. */
static void test_names(void **state)
{
	struct fed *f = *state;
	char text[256];
	uint64_t cut = 0;

	for (uint32_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 26);
	for (uint32_t n = 0; n < 512; n++) {
		uint32_t len = n < 256 ? n : 511 - n, kept = len < 64 ? len : 63, body;
		const struct xsf_interface *i;

		fed_begin(f, 1);
		body = wire_counters(&f->w, f->sequence, 3, 2);
		wire_string(&f->w, 1005, text, len);
		wire_string(&f->w, 2000, text, len);
		wire_close(&f->w, body);
		fed_end(f);
		i = fed_interface(f, 3);
		cut += len > 63 ? 2 : 0;
		assert_int_equal(f->s.totals.names_cut, cut);
		assert_int_equal(i->name_len, kept);
		assert_memory_equal(i->name, text, kept);
		assert_int_equal(f->s.agents[1].name_len, kept);
		assert_memory_equal(f->s.agents[1].name, text, kept);
	}
	assert_int_equal(f->s.totals.datagram_sound, 512);
}

/* A string's length, at the limits of its record. */
static void test_name_lengths(void **state)
{
	static const uint32_t lengths[] = { 0, 1, 12, 13, 14, 0x7fffffff, 0xfffffffc, 0xffffffff };
	struct fed *f = *state;
	uint64_t bad = 0;

	for (uint32_t tag = 1005; tag <= 2000; tag += 995) {
		for (size_t n = 0; n < sizeof(lengths) / sizeof(lengths[0]); n++) {
			uint32_t body, record;

			fed_begin(f, 1);
			body = wire_counters(&f->w, f->sequence, 3, 1);
			record = wire_open(&f->w, tag);
			wire_32(&f->w, lengths[n]);
			wire_fill(&f->w, 'x', 12);
			wire_close(&f->w, record);
			wire_close(&f->w, body);
			fed_end(f);
			bad += lengths[n] > 12;
			assert_int_equal(f->s.totals.fault_short_body, bad);
		}
		for (uint32_t len = 0; len < 4; len++) {
			uint32_t body, record;

			fed_begin(f, 1);
			body = wire_counters(&f->w, f->sequence, 3, 1);
			record = wire_open(&f->w, tag);
			wire_fill(&f->w, 0, len);
			wire_close(&f->w, record);
			wire_close(&f->w, body);
			fed_end(f);
			bad++;
			assert_int_equal(f->s.totals.fault_short_body, bad);
		}
	}
	assert_int_equal(fed_interface(f, 3)->name_len, 12);
	assert_int_equal(f->s.agents[1].name_len, 12);
}

static void test_drops(void **state)
{
	static const uint32_t reasons[] = { 0, 258, 511, 512, 0xffffffff };
	struct fed *f = *state;

	for (uint32_t n = 0; n < 10; n++) {
		struct wire packet = { 0 };
		uint32_t body;

		wire_roce4(&packet, 6, 3, 16);
		fed_begin(f, 1);
		body = wire_drop(&f->w, n + 1, 0, 0, 10 * n, reasons[n % 5], 2);
		wire_string(&f->w, 1038, "l2_drops", 8);
		wire_header(&f->w, n & 1 ? 1 : 7, 100, packet.p, packet.len);
		wire_close(&f->w, body);
		fed_end(f);
	}
	assert_int_equal(f->s.totals.sample_drop, 10);
	assert_int_equal(f->s.totals.drops_roce, 5);
	for (uint32_t n = 0; n < 3; n++)
		assert_int_equal(f->s.reasons.notified[reasons[n]], 2);
	assert_int_equal(f->s.nr_high, 2);
	assert_int_equal(f->s.high[0].count, 2);
	assert_int_equal(f->s.agents[1].drops, 90);
	assert_int_equal(fed_source(f, 0, 0)->drop_sequence, 10);
	/* no traffic, no operation */
	assert_int_equal(f->s.totals.sampled_packets, 0);
	assert_int_equal(f->s.ops[0].opcode[6].samples, 0);
	assert_int_equal(f->s.interfaces[fed_source(f, 0, 0) - f->s.sources].drop_samples, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FED(test_lengths),
		FED(test_syndromes),
		FED(test_directions),
		FED(test_special_interfaces),
		FED(test_weight),
		FED(test_field_records),
		FED(test_field_records_together),
		FED(test_records_of_the_sample_before),
		FED(test_counters),
		FED(test_counters_of_others),
		FED(test_lag),
		FED(test_names),
		FED(test_name_lengths),
		FED(test_drops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
