/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a whole, sound sample adds to. Nothing here reads beyond what walk.h has checked. */
#ifndef XSF_COUNT_H
#define XSF_COUNT_H

#include "packet.h"
#include "sequence.h"
#include "slots.h"

#define XSF_CAS_TRIES 4

/* Advances a sequence that other CPUs advance too. 0 = done, out is what it meant. */
static __always_inline int xsf_seq_advance(xsf_seq_t *seq, __u32 number, int went_back, int frozen,
					   struct xsf_seq_step *out)
{
	__u32 i;

	for (i = 0; i < XSF_CAS_TRIES; i++) {
		xsf_seq_t was = *seq;

		xsf_seq_step(was, number, went_back, frozen, out);
		if (XSF_CAS(seq, was, out->next) == was)
			return 0;
	}
	return -1;
}

/* Smallest n with 2^n >= v; 0 for 0. */
static __always_inline __u32 xsf_ceil_log2(__u32 v)
{
	__u32 n = 0;

	if (v < 2)
		return 0;
	v--;
	if (v >> 16) {
		n = 16;
		v >>= 16;
	}
	if (v >> 8) {
		n += 8;
		v >>= 8;
	}
	if (v >> 4) {
		n += 4;
		v >>= 4;
	}
	if (v >> 2) {
		n += 2;
		v >>= 2;
	}
	return n + (v >> 1) + 1;
}

static __always_inline void xsf_add(struct xsf_count *c, __u64 weight)
{
	c->samples++;
	c->packets += weight;
}

/* Adds one flow sample to its source. Its own CPU adds plainly, the others atomically. */
static __always_inline void xsf_traffic_add(struct xsf_source *s, __u32 direction, int own,
					    const struct xsf_packet *p, __u64 weight, __u64 bytes)
{
	struct xsf_traffic *t = own ? &s->own[XSF_INGRESS] : &s->shared[XSF_INGRESS];

	if (direction == XSF_EGRESS)
		t += XSF_EGRESS;
	else if (direction == XSF_OTHER)
		t += XSF_OTHER;
	xsf_bump(&t->samples, 1, own);
	xsf_bump(&t->packets, weight, own);
	xsf_bump(&t->bytes, bytes, own);
	if (p->flags & XSF_PKT_ROCE) {
		xsf_bump(&t->roce_packets, weight, own);
		xsf_bump(&t->roce_bytes, bytes, own);
		if ((p->roce_tos & 3) == NET_ECN_CE)
			xsf_bump(&t->ce_packets, weight, own);
		if (p->opcode == NET_OP_CNP && p->flags & XSF_PKT_BTH)
			xsf_bump(&t->cnp_packets, weight, own);
	}
	if (p->tos >> 2 == NET_DSCP_TRIMMED && p->flags & XSF_PKT_IP)
		xsf_bump(&t->trimmed_packets, weight, own);
}

static __always_inline __u32 xsf_hint_index(__u32 class, __u32 index)
{
	return (index + (index >> 6) + (index >> 12) + class * 17) & (XSF_HINTS - 1);
}

static __always_inline int xsf_source_is(const struct xsf_source *s,
					 const struct xsf_source_key *key)
{
	return XSF_LOAD64(&s->key.agent) == XSF_LOAD64(&key->agent) &&
	       XSF_LOAD64(&s->key.class) == XSF_LOAD64(&key->class);
}

/* The source w->source and its slot; slot 0, which collects the rest, when there is no room. */
static __always_inline struct xsf_source *xsf_source_get(struct xsf_walk *w, struct xsf_totals *t,
							 __u32 *slot)
{
	struct xsf_hints *h = xsf_lookup(XSF_MAP_HINTS, w->source.agent);
	__u32 i = xsf_hint_index(w->source.class, w->source.index);
	struct xsf_source *s;

	*slot = 0;
	if (w->source.agent && h) {
		*slot = h->slot[i];
		s = xsf_lookup(XSF_MAP_SOURCES, *slot);
		if (s && *slot && xsf_source_is(s, &w->source))
			return s;
		*slot = (__u32)xsf_source_find(w);
		h->slot[i] = *slot;
	}
	if (!*slot)
		t->sources_full++;
	return xsf_lookup(XSF_MAP_SOURCES, *slot);
}

/* Class and index of the data source, which compact and expanded forms write differently. */
static __always_inline void xsf_source_name(struct xsf_walk *w, const __u8 *body, int expanded)
{
	__u32 id = xsf_be32(body + 4);

	w->source.class = expanded ? id : id >> 24;
	w->source.index = expanded ? xsf_be32(body + 8) : id & 0xffffff;
}

/* The place for a source's rarely changing values, while the slot is its own. */
static __always_inline struct xsf_interface *xsf_interface_of(__u32 slot)
{
	struct xsf_interface *i = xsf_lookup(XSF_MAP_INTERFACES, slot);
	struct xsf_source *s = xsf_lookup(XSF_MAP_SOURCES, slot);

	if (!i || !s || !slot || i->generation != xsf_generation_of(s->generation))
		return 0;
	return i;
}

/* A flow or counter sample's number was not the expected one. */
XSF_GLOBAL int xsf_sample_irregular(__u32 slot, __u32 is_counter, __u32 lost, __u32 kind)
{
	struct xsf_interface *i = xsf_interface_of(slot);

	if (!i)
		return 0;
	if (is_counter) {
		XSF_ATOMIC_ADD(&i->counter_lost, lost);
		XSF_ATOMIC_ADD(&i->counter_duplicate, kind & 1);
		XSF_ATOMIC_ADD(&i->counter_reordered, kind >> 1 & 1);
	} else {
		XSF_ATOMIC_ADD(&i->flow_lost, lost);
		XSF_ATOMIC_ADD(&i->flow_duplicate, kind & 1);
		XSF_ATOMIC_ADD(&i->flow_reordered, kind >> 1 & 1);
	}
	XSF_ATOMIC_ADD(&i->sample_restarts, kind >> 2 & 1);
	return 0;
}

static __always_inline void xsf_sample_sequence(struct xsf_walk *w, struct xsf_totals *t,
						xsf_seq_t *seq, __u32 slot, __u32 is_counter,
						__u32 number)
{
	struct xsf_seq_step step;

	/* The numbers in a duplicate datagram were judged when it came first. */
	if (w->duplicate)
		return;
	if (xsf_seq_advance(seq, number, 0, 0, &step)) {
		t->sequence_contended++;
		return;
	}
	if (step.lost | step.duplicate | step.reordered | step.restarted)
		xsf_sample_irregular(slot, is_counter, step.lost,
				     step.duplicate | step.reordered << 1 | step.restarted << 2);
}

/* A drop reason, notified (sampled = 0) or of a flow sample whose output says discarded. */
XSF_GLOBAL int xsf_count_reason(__u32 sampled, __u32 code)
{
	struct xsf_reasons *r = xsf_lookup(XSF_MAP_REASONS, 0);
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);
	struct xsf_reason_key key = { .sampled = sampled, .code = code };
	__u64 *high;

	if (!r || !t)
		return 0;
	if (code < XSF_REASONS) {
		if (sampled)
			r->sampled[code]++;
		else
			r->notified[code]++;
		return 0;
	}
	high = xsf_reason_high(&key);
	if (high)
		XSF_ATOMIC_ADD(high, 1);
	else
		t->reasons_full++;
	return 0;
}

/* Operation, marks, lengths and credits of one sampled packet. */
static __always_inline void xsf_count_packet(const struct xsf_packet *p, __u32 row, __u64 weight,
					     __u64 bytes)
{
	struct xsf_tos_row *tos;
	struct xsf_rdma_row *rdma;

	tos = xsf_lookup(XSF_MAP_TOS, row);
	if (!tos)
		return;
	if (p->flags & XSF_PKT_IP)
		xsf_add(&tos->all[p->tos], weight);
	if (!(p->flags & XSF_PKT_ROCE))
		return;
	xsf_add(&tos->roce[p->roce_tos], weight);
	if (p->flags & XSF_PKT_BTH) {
		struct xsf_op_row *ops = xsf_lookup(XSF_MAP_OPS, row * XSF_CARRIERS + p->carrier);

		if (!ops)
			return;
		ops->opcode[p->opcode].samples++;
		ops->opcode[p->opcode].packets += weight;
		ops->opcode[p->opcode].bytes += bytes;
		if (p->opcode != NET_OP_CNP && !(p->flags & (XSF_PKT_RETH | XSF_PKT_AETH)))
			return;
		rdma = xsf_lookup(XSF_MAP_RDMA, row);
		if (!rdma)
			return;
		if (p->flags & XSF_PKT_RETH) {
			__u64 bucket = xsf_ceil_log2(p->dma_length);

			XSF_OPAQUE(bucket);
			if (bucket < XSF_RDMA_BUCKETS)
				xsf_add(&rdma->length[bucket], weight);
			rdma->length_sum += p->dma_length;
			rdma->length_sum_scaled += p->dma_length * weight;
		}
		if (p->flags & XSF_PKT_AETH) {
			/* ack, rnr, reserved_syndrome, nak lie in the order of the two bits. */
			__u64 at = p->syndrome & 127;

			XSF_OPAQUE(at);
			xsf_add(&rdma->ack[0] + (at & 127), weight);
		}
		if (p->opcode == NET_OP_CNP)
			xsf_add(&rdma->cnp[p->bth_flags >> 6], weight);
	}
}

/* Interface formats (sflow_version_5.txt, struct interface; SPEC 1.4). Returns 1 for one plain ifIndex. */
static __always_inline int xsf_is_ifindex(__u32 format, __u32 value)
{
	return format == SFLOW_IF_SINGLE && value != SFLOW_IF_UNKNOWN &&
	       value != SFLOW_IF_INTERNAL && value != SFLOW_IF_NONE;
}

/* The group that user space gave to a source, or 0. */
static __always_inline __u32 xsf_group_of(struct xsf_totals *t, __u32 slot, __u32 generation)
{
	struct xsf_group *g = xsf_lookup(XSF_MAP_GROUPS, slot);

	if (!g || !g->group || g->generation != generation)
		return 0;
	if (g->group < xsf_cfg()->groups)
		return g->group;
	t->groups_full++;
	return 0;
}

static __always_inline void xsf_commit_flow(struct xsf_walk *w, struct xsf_totals *t, int expanded)
{
	const __u8 *body = xsf_at(w, w->body);
	__u32 in_format, in, out_format, out, direction = XSF_OTHER, frame_len = 0, slot, row;
	struct xsf_packet *p = &w->packet;
	struct xsf_source *s;
	const __u8 *fixed;
	__u64 weight, bytes, outcome;

	xsf_source_name(w, body, (int)expanded);
	fixed = expanded ? body + 12 : body + 8;
	if (expanded) {
		t->sample_flow_expanded++;
		in_format = xsf_be32(body + 24);
		in = xsf_be32(body + 28);
		out_format = xsf_be32(body + 32);
		out = xsf_be32(body + 36);
	} else {
		t->sample_flow++;
		in = xsf_be32(body + 20);
		out = xsf_be32(body + 24);
		in_format = in >> 30;
		in &= 0x3fffffff;
		out_format = out >> 30;
		out &= 0x3fffffff;
	}
	if (w->source.class == SFLOW_CLASS_IFINDEX) {
		if (xsf_is_ifindex(in_format, in) && in == w->source.index)
			direction = XSF_INGRESS;
		else if (xsf_is_ifindex(out_format, out) && out == w->source.index)
			direction = XSF_EGRESS;
	}
	if (in_format | out_format) {
		if (out_format == SFLOW_IF_DISCARDED) {
			t->output_discarded++;
			xsf_count_reason(1, out);
		} else if (out_format == SFLOW_IF_MULTIPLE) {
			t->output_multiple++;
		} else {
			t->output_undefined++;
		}
	}

	weight = xsf_be32(fixed);
	if (!weight) {
		weight = 1;
		t->bad_rate++;
	}

	if (w->rec_header) {
		const __u8 *r = xsf_at(w, w->rec_header);

		frame_len = xsf_be32(r + 4);
		xsf_packet_decode(w, w->rec_header + SFLOW_REC_HEADER_LEN, xsf_be32(r + 12),
				  xsf_be32(r));
	} else {
		/* Agents without raw headers: lengths and TOS, never a BTH. */
		__u32 rec = w->rec_ip4 ? w->rec_ip4 : w->rec_ip6;

		p->flags = 0;
		p->carrier = XSF_ROCE_V2;
		p->outcome = XSF_HEADER_none;
		if (rec) {
			const __u8 *r = xsf_at(w, rec);
			__u32 tail = w->rec_ip4 ? 16 : 40; /* of source port; TOS 12 bytes on */

			frame_len = xsf_be32(r);
			p->outcome = XSF_HEADER_ip;
			p->flags = XSF_PKT_IP;
			p->tos = xsf_at(w, rec + tail)[15];
			if (xsf_be32(r + 4) == NET_PROTO_UDP &&
			    xsf_be32(xsf_at(w, rec + tail) + 4) == NET_PORT_ROCE) {
				p->outcome = XSF_HEADER_bth_cut;
				p->flags |= XSF_PKT_ROCE;
				p->roce_tos = p->tos;
			}
		}
		if (w->rec_ethernet) {
			frame_len = xsf_be32(xsf_at(w, w->rec_ethernet));
			if (!rec)
				p->outcome = XSF_HEADER_not_ip;
		}
	}
	bytes = weight * frame_len;
	t->sampled_packets += weight;
	t->sampled_bytes += bytes;
	outcome = p->outcome;
	XSF_OPAQUE(outcome);
	if (outcome < XSF_NR_HEADER_OUTCOMES)
		(&t->header_none)[outcome]++;

	s = xsf_source_get(w, t, &slot);
	if (!s)
		return;
	row = 0;
	if (slot) {
		s->sampling_rate = (__u32)weight;
		s->sample_pool = xsf_be32(fixed + 4);
		s->drops = xsf_be32(fixed + 8);
		s->last_seen_ns = w->now_ns;
		xsf_sample_sequence(w, t, &s->flow_sequence, slot, 0, xsf_be32(body));
		if (w->grouped)
			row = xsf_group_of(t, slot, s->generation);
	}
	row = row * XSF_DIRECTIONS + direction;

	xsf_traffic_add(s, direction, slot && s->cpu == w->cpu, p, weight, bytes);
	w->flow_samples++;
	xsf_count_packet(p, row, weight, bytes);
}

struct xsf_name {
	__u8 byte[XSF_NAME_LEN];
};

/* Keeps at most XSF_NAME_LEN - 1 bytes of the XDR string at `string`, and zeroes behind them. Returns
 * how many. The string is within its record, and its last word within the buffer. */
XSF_GLOBAL int xsf_keep_name(struct xsf_walk *w, __u32 string, struct xsf_name *name)
{
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);
	__u32 len, i;

	if (!w || !t || !name)
		return 0;
	len = xsf_be32(xsf_at(w, string));
	if (len > XSF_NAME_LEN - 1) {
		len = XSF_NAME_LEN - 1;
		t->names_cut++;
	}
	for (i = 0; i < XSF_NAME_LEN; i += 4) {
		__u32 left = len > i ? len - i : 0;
		__u32 word = left ? xsf_be32(xsf_at(w, string + 4 + i)) : 0;

		/* Of this word, the first `left` bytes belong to the name. */
		if (left && left < 4)
			word &= 0xffffffff << (32 - 8 * left);
		word = xsf_swap32(word);
		__builtin_memcpy(name->byte + i, &word, 4);
	}
	return (int)len;
}

XSF_GLOBAL int xsf_commit_counter(struct xsf_walk *w, __u32 expanded)
{
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);
	struct xsf_interface *i;
	struct xsf_agent *a;
	struct xsf_source *s;
	const __u8 *body, *r;
	__u32 slot;

	if (!w || !t)
		return 0;
	body = xsf_at(w, w->body);
	xsf_source_name(w, body, (int)expanded);
	if (expanded)
		t->sample_counter_expanded++;
	else
		t->sample_counter++;
	w->counter_samples++;

	s = xsf_source_get(w, t, &slot);
	if (s && slot) {
		s->last_seen_ns = w->now_ns;
		xsf_sample_sequence(w, t, &s->counter_sequence, slot, 1, xsf_be32(body));
	}
	if (w->rec_host && w->source.agent) {
		a = xsf_lookup(XSF_MAP_AGENTS, w->source.agent);
		if (a)
			a->name_len =
				(__u16)xsf_keep_name(w, w->rec_host, (struct xsf_name *)a->name);
	}
	if (!slot || (!w->rec_counters && !w->rec_port_name))
		return 0;
	if (w->rec_counters) {
		/* The record names its own ifIndex; agents may send it under another data source. */
		__u32 index = xsf_be32(xsf_at(w, w->rec_counters));

		if (w->source.class != SFLOW_CLASS_IFINDEX || index != w->source.index) {
			w->source.class = SFLOW_CLASS_IFINDEX;
			w->source.index = index;
			s = xsf_source_get(w, t, &slot);
			if (!s || !slot)
				return 0;
			s->last_seen_ns = w->now_ns;
		}
	}
	i = xsf_interface_of(slot);
	if (!i)
		return 0;
	if (w->rec_port_name)
		i->name_len = (__u32)xsf_keep_name(w, w->rec_port_name, (struct xsf_name *)i->name);
	if (!w->rec_counters)
		return 0;
	r = xsf_at(w, w->rec_counters);
	i->type = xsf_be32(r + 4);
	i->speed = xsf_be64(r + 8);
	i->direction = xsf_be32(r + 16);
	i->status = xsf_be32(r + 20);
	i->in_octets = xsf_be64(r + 24);
	i->in_ucast = xsf_be32(r + 32);
	i->in_multicast = xsf_be32(r + 36);
	i->in_broadcast = xsf_be32(r + 40);
	i->in_discards = xsf_be32(r + 44);
	i->in_errors = xsf_be32(r + 48);
	i->in_unknown = xsf_be32(r + 52);
	i->out_octets = xsf_be64(r + 56);
	i->out_ucast = xsf_be32(r + 64);
	i->out_multicast = xsf_be32(r + 68);
	i->out_broadcast = xsf_be32(r + 72);
	i->out_discards = xsf_be32(r + 76);
	i->out_errors = xsf_be32(r + 80);
	i->promiscuous = xsf_be32(r + 84);
	i->counters_uptime_ms = w->uptime_ms;
	i->counters_ns = w->now_ns;
	i->has_counters = 1;
	return 0;
}

XSF_GLOBAL int xsf_commit_drop(struct xsf_walk *w)
{
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);
	struct xsf_interface *i;
	struct xsf_agent *a;
	struct xsf_source *s;
	struct xsf_packet *p;
	const __u8 *body, *r;
	__u32 slot;

	if (!w || !t)
		return 0;
	body = xsf_at(w, w->body);
	p = &w->packet;
	t->sample_drop++;
	w->drop_samples++;
	xsf_count_reason(0, xsf_be32(body + 24));

	if (w->rec_header) {
		r = xsf_at(w, w->rec_header);
		xsf_packet_decode(w, w->rec_header + SFLOW_REC_HEADER_LEN, xsf_be32(r + 12),
				  xsf_be32(r));
		if (p->flags & XSF_PKT_ROCE)
			t->drops_roce++;
	}
	a = xsf_lookup(XSF_MAP_AGENTS, w->source.agent);
	if (a && w->source.agent)
		a->drops = xsf_be32(body + 12);
	xsf_source_name(w, body, 1);
	s = xsf_source_get(w, t, &slot);
	if (!s || !slot)
		return 0;
	s->last_seen_ns = w->now_ns;
	/* Notifications are rate limited by the agent, which says so in `drops`; the number is only kept. */
	s->drop_sequence = xsf_be32(body);
	i = xsf_interface_of(slot);
	if (i)
		XSF_ATOMIC_ADD(&i->drop_samples, 1);
	return 0;
}

#endif
