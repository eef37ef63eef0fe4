/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The timeline: RoCE by 10 ms of arrival, from which user space tells the period of a job (DESIGN 5.4). */
#ifndef XSF_TIMELINE_H
#define XSF_TIMELINE_H

#include "state.h"
#include "store.h"

/* Adds what the walk holds. The slot is that of the clock read once a datagram. It is the coarse one, which
 * moves by jiffies: with HZ 250 slots have 2 and 3 jiffies by turns. Whoever reads takes them in pairs. */
static __always_inline void xsf_timeline_flush(struct xsf_walk *w)
{
	struct xsf_timeline_row *row;
	__u64 slot;

	if (!w->line_packets)
		return;
	row = xsf_lookup(XSF_MAP_TIMELINE, w->line_row);
	if (!row)
		return;
	slot = w->now_ns / XSF_TIMELINE_NS;
	XSF_OPAQUE(slot);
	slot &= XSF_TIMELINE_SLOTS - 1;
	XSF_ATOMIC_ADD(&row->bin[slot].packets, w->line_packets);
	XSF_ATOMIC_ADD(&row->bin[slot].bytes, w->line_bytes);
}

/* One RoCE sample. Those of one datagram are of one slot and mostly of one row: they are summed here, and
 * cost the two atomic additions once. */
static __always_inline void xsf_timeline_add(struct xsf_walk *w, __u32 row, __u64 weight,
					     __u64 bytes)
{
	if (row != w->line_row) {
		xsf_timeline_flush(w);
		w->line_row = row;
		w->line_packets = 0;
		w->line_bytes = 0;
	}
	w->line_packets += weight;
	w->line_bytes += bytes;
}

#endif
