/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The readers' rings (xsf/event.h), and include/xsf/emit.h answered with them. */
#ifndef XSF_EVENTS_BPF_H
#define XSF_EVENTS_BPF_H

#include "maps.bpf.h"

/* A map of maps needs one to know the kind of; readers bring theirs, of any size. */
#define XSF_RINGS(name) \
	struct { \
		__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS); \
		__uint(max_entries, XSF_EVENT_READERS); \
		__uint(pinning, LIBBPF_PIN_BY_NAME); \
		__type(key, __u32); \
		__array( \
			values, struct { \
				__uint(type, BPF_MAP_TYPE_RINGBUF); \
				__uint(max_entries, 4096); \
			}); \
	} name SEC(".maps")

XSF_RINGS(xsf_event_rings);
XSF_RINGS(xsf_sample_rings);
XSF_PINNED_ARRAY(xsf_event_counts, BPF_MAP_TYPE_PERCPU_ARRAY, struct xsf_event_counts,
		 XSF_EVENT_READERS, 0);

/* What the kernel puts before an event in a ring. */
#define XSF_RING_HEAD 8

static __always_inline void *xsf_event_ring(int samples, __u32 reader)
{
	return samples ? bpf_map_lookup_elem(&xsf_sample_rings, &reader) :
			 bpf_map_lookup_elem(&xsf_event_rings, &reader);
}

static __always_inline void xsf_event_shed(int samples, __u32 reader)
{
	struct xsf_event_counts *c = bpf_map_lookup_elem(&xsf_event_counts, &reader);
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);

	if (!c || !t)
		return;
	if (samples) {
		c->samples_shed++;
		t->samples_shed++;
	} else {
		c->drops_shed++;
		t->drops_shed++;
	}
}

/* May the ring get this one? Asked before it is built: a flood that finds a full ring costs no more than
 * this. 0: no; else for how many it stands, the same for all samples that come while the ring is as full.
 * What was chosen and finds no room is told with the next that does: *lost. */
static __always_inline __u32 xsf_event_choose(void *ring, int samples, __u32 *lost)
{
	__u64 size = bpf_ringbuf_query(ring, BPF_RB_RING_SIZE);
	__u64 used = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
	__u64 len = samples ? XSF_EVENT_FLOW_LEN : sizeof(struct xsf_event);
	__u32 stands_for = 1;

	if (samples && used >= size / 2) {
		stands_for = 2u << ((used * 16 / size - 8) & 7);
		if (bpf_get_prandom_u32() & (stands_for - 1))
			return 0;
	}
	if (used + len + XSF_RING_HEAD <= size)
		return stands_for;
	*lost += stands_for;
	return 0;
}

static __always_inline __u32 xsf_event_readers(const struct xsf_walk *w, int samples)
{
	struct xsf_event_scratch *scratch;
	__u32 zero = 0;
	__u64 r;

	scratch = bpf_map_lookup_elem(&xsf_event_scratch, &zero);
	if (!scratch)
		return 0;
	scratch->readers = 0;
	for (r = 0; r < XSF_EVENT_READERS; r++) {
		__u8 wanted = samples ? w->wanted.samples[r] : w->wanted.drops[r];
		__u32 stands_for;
		void *ring;

		if (!wanted)
			continue;
		ring = xsf_event_ring(samples, (__u32)r);
		if (!ring)
			continue;
		if (scratch->reader[samples][r] != wanted) {
			scratch->reader[samples][r] = wanted;
			scratch->shed[samples][r] = 0;
		}
		stands_for = xsf_event_choose(ring, samples, &scratch->shed[samples][r]);
		scratch->stands_for[r] = stands_for;
		if (stands_for)
			scratch->readers |= 1u << r;
		else
			xsf_event_shed(samples, (__u32)r);
	}
	return scratch->readers;
}

static __always_inline void xsf_event_send(struct xsf_event *e, int samples, __u32 readers)
{
	struct xsf_event_scratch *scratch;
	__u32 zero = 0;
	__u64 r;

	scratch = bpf_map_lookup_elem(&xsf_event_scratch, &zero);
	if (!scratch)
		return;
	for (r = 0; r < XSF_EVENT_READERS; r++) {
		struct xsf_event_counts *c;
		void *ring;
		__u32 reader = (__u32)r;

		if (!(readers >> r & 1))
			continue;
		ring = xsf_event_ring(samples, reader);
		c = bpf_map_lookup_elem(&xsf_event_counts, &reader);
		if (!ring || !c)
			continue;
		e->shed = scratch->shed[samples][r] + scratch->stands_for[r] - 1;
		if (bpf_ringbuf_output(ring, e, samples ? XSF_EVENT_FLOW_LEN : sizeof(*e), 0)) {
			scratch->shed[samples][r] += scratch->stands_for[r];
			xsf_event_shed(samples, reader);
			continue;
		}
		scratch->shed[samples][r] = 0;
		if (samples)
			c->samples_sent++;
		else
			c->drops_sent++;
	}
}

#endif
