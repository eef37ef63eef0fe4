/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Places of the sources of csum6. Each source in the table holds one of as many; when all are taken, a
 * newcomer gets that of a source that has been silent for longer than xsf_csum_stale_ns, whose counts move to
 * `other_sources`. Nothing is looked for before the table is full, nor for a source that is in it.
 *
 * A place changes hands between two CPUs by compare-and-swap of its state. What is not held off: a source
 * whose silence ends while it is being removed (its counts are taken, then it is deleted) may lose the
 * datagram that every CPU is counting at that moment. */
#ifndef XSF_CSUM_SOURCES_BPF_H
#define XSF_CSUM_SOURCES_BPF_H

#include "csum_maps.bpf.h"
#include "../include/xsf/csum.h"

/* Silent for longer: may lose its place. Written by the loader. */
const volatile __u64 xsf_csum_stale_ns = 600000000000ull;

static const struct xsf_csum_source xsf_csum_nothing;

static __always_inline int xsf_csum_hold(struct xsf_csum_held *place, __u64 was)
{
	return XSF_CAS(&place->state, was, XSF_CSUM_HELD_CHANGING) == was;
}

/* Orders what was written to the place before it. */
static __always_inline void xsf_csum_let_go(struct xsf_csum_held *place, __u64 state)
{
	__sync_lock_test_and_set(&place->state, state);
}

/* The next place that was never used; NULL when there is none left. */
static __always_inline struct xsf_csum_held *xsf_csum_fresh(struct xsf_csum_control *c)
{
	struct xsf_csum_held *place;
	__u64 n;
	__u32 index;

	if (c->next >= XSF_CSUM_SOURCES)
		return 0;
	n = XSF_FETCH_ADD(&c->next, 1);
	if (n >= XSF_CSUM_SOURCES)
		return 0;
	index = (__u32)n;
	place = bpf_map_lookup_elem(&xsf_csum_places, &index);
	return place && xsf_csum_hold(place, XSF_CSUM_HELD_FREE) ? place : 0;
}

#define XSF_CSUM_MOVE(name, help) t->other_sources.name += XSF_TAKE(&source->counts.name);

/* Its counts go to the totals of this CPU. The caller holds its place. */
static __always_inline void xsf_csum_remove(struct xsf_csum_totals *t,
					    struct xsf_csum_source *source,
					    const struct xsf_csum_held *place)
{
	struct xsf_csum_counts *other = &t->other_sources;
	__u64 first = source->counts.first_seen_ns, last = source->counts.last_seen_ns;

	XSF_CSUM_OUTCOMES(XSF_CSUM_MOVE)
	bpf_map_delete_elem(&xsf_csum_sources, place->addr);
	if (!other->first_seen_ns || first < other->first_seen_ns)
		other->first_seen_ns = first;
	if (last > other->last_seen_ns)
		other->last_seen_ns = last;
	t->sources_reclaimed++;
}

/* One step of the hand: the place there when it is free, or was a silent source's. */
static __always_inline struct xsf_csum_held *xsf_csum_probe(struct xsf_csum_control *c,
							    struct xsf_csum_totals *t, __u64 now)
{
	__u32 index = (__u32)XSF_FETCH_ADD(&c->hand, 1) % XSF_CSUM_SOURCES;
	struct xsf_csum_held *place = bpf_map_lookup_elem(&xsf_csum_places, &index);
	struct xsf_csum_source *source;
	__u64 was, last;

	if (!place)
		return 0;
	was = place->state;
	XSF_OPAQUE(was);
	if (was == XSF_CSUM_HELD_FREE)
		return xsf_csum_hold(place, was) ? place : 0;
	if (was != XSF_CSUM_HELD_IN_USE)
		return 0;
	if (!xsf_csum_hold(place, was))
		return 0;
	source = bpf_map_lookup_elem(&xsf_csum_sources, place->addr);
	last = source ? source->counts.last_seen_ns : 0;
	/* last 0: in the table, and its first datagram is being counted. */
	if (source && (!last || now <= last || now - last <= xsf_csum_stale_ns)) {
		xsf_csum_let_go(place, was);
		return 0;
	}
	if (source)
		xsf_csum_remove(t, source, place);
	return place;
}

/* Makes an entry for the source whose address begins the scratch text, which has none. 0 there is no place
 * for it, 1 there is one now. */
XSF_GLOBAL int xsf_csum_source_new(__u64 now)
{
	struct xsf_csum_text *text;
	struct xsf_csum_control *c;
	struct xsf_csum_totals *t;
	struct xsf_csum_held *place;
	__u32 zero = 0, i;
	long err;

	text = bpf_map_lookup_elem(&xsf_csum_scratch_map, &zero);
	c = bpf_map_lookup_elem(&xsf_csum_control, &zero);
	t = bpf_map_lookup_elem(&xsf_csum_totals, &zero);
	if (!text || !c || !t)
		return 0;
	place = xsf_csum_fresh(c);
	for (i = 0; i < XSF_CSUM_PROBES && !place; i++)
		place = xsf_csum_probe(c, t, now);
	if (!place)
		return 0;
	__builtin_memcpy(place->addr, text->buf, sizeof(place->addr));
	err = bpf_map_update_elem(&xsf_csum_sources, text->buf, &xsf_csum_nothing, BPF_NOEXIST);
	/* -EEXIST: another CPU was faster, with a place of its own. */
	xsf_csum_let_go(place, err ? XSF_CSUM_HELD_FREE : XSF_CSUM_HELD_IN_USE);
	return 1;
}

#endif
