/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What samples add to: sources, operations, marks, reasons, sequences. */
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

/* 1 when v, up to 2^63, is above `limit`; without a branch, see xsf_mask. */
static __always_inline __u64 xsf_above(__u64 v, __u64 limit)
{
	__u64 less = limit - v;

	XSF_OPAQUE(less);
	return less >> 63;
}

/* All ones when v is not 0, else 0: what a sample may add to or not is added without asking, masked. Which
 * packets are marked and how long they are follows no pattern; a branch that the CPU guesses wrong costs
 * more than several additions of 0. */
static __always_inline __u64 xsf_mask(__u32 v)
{
	return -xsf_above(v, 0);
}

/* Smallest n with 2^n >= v; 0 for 0. */
static __always_inline __u32 xsf_ceil_log2(__u32 v)
{
	__u64 x = v - xsf_above(v, 0), n, shift;

	n = xsf_above(x, 0xffff) << 4;
	x >>= n;
	shift = xsf_above(x, 0xff) << 3;
	x >>= shift;
	n += shift;
	shift = xsf_above(x, 0xf) << 2;
	x >>= shift;
	n += shift;
	shift = xsf_above(x, 3) << 1;
	x >>= shift;
	n += shift;
	/* 0, 1, 2 or 3 are left, of 0, 1, 2 and 2 bits. */
	return (__u32)(n + x - (x & x >> 1));
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
	__u64 roce = xsf_mask(p->flags & XSF_PKT_ROCE);
	__u64 ce = roce & ~xsf_mask((p->roce_tos & 3) ^ NET_ECN_CE);
	__u64 cnp = xsf_mask(p->flags & XSF_PKT_BTH) & ~xsf_mask(p->opcode ^ NET_OP_CNP);
	__u64 trimmed = xsf_mask(p->flags & XSF_PKT_IP) &
			xsf_mask((__u32)(xsf_trimmed() >> (p->tos >> 2 & 63) & 1));

	if (direction == XSF_EGRESS)
		t += XSF_EGRESS;
	else if (direction == XSF_OTHER)
		t += XSF_OTHER;
	xsf_bump(&t->samples, 1, own);
	xsf_bump(&t->packets, weight, own);
	xsf_bump(&t->bytes, bytes, own);
	if (own) {
		t->roce_packets += weight & roce;
		t->roce_bytes += bytes & roce;
		t->ce_packets += weight & ce;
		t->cnp_packets += weight & cnp;
		t->trimmed_packets += weight & trimmed;
		return;
	}
	if (!roce && !trimmed)
		return;
	XSF_ATOMIC_ADD(&t->roce_packets, weight & roce);
	XSF_ATOMIC_ADD(&t->roce_bytes, bytes & roce);
	XSF_ATOMIC_ADD(&t->ce_packets, weight & ce);
	XSF_ATOMIC_ADD(&t->cnp_packets, weight & cnp);
	XSF_ATOMIC_ADD(&t->trimmed_packets, weight & trimmed);
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

#endif
