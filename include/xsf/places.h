/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drop notifications by place and reason (event.h, struct xsf_drop_place): a table shared between CPUs.
 *
 * A key lies in one of XSF_PLACE_PROBES rows behind its hash. Rows in use never become free again, so the
 * first free one ends a search. A row changes hands between two CPUs by compare-and-swap of its state; who
 * meets one that is changing does not wait: its notification counts in row 0. So two CPUs that bring the same
 * new key do not make two rows of it. What is not held off: a place whose silence ends in the moment in which
 * another gets its row may count one notification there. The sum of all rows is right whatever happens. */
#ifndef XSF_PLACES_H
#define XSF_PLACES_H

#include "slots.h"
#include "event.h"

_Static_assert(((XSF_PLACES - 1) & (XSF_PLACES - 2)) == 0, "a mask bounds the hash");

static __always_inline __u32 xsf_place_hash(const struct xsf_agent_key *agent, __u32 ifindex,
					    __u32 reason)
{
	const __u8 *addr = agent->addr;
	__u64 h = XSF_LOAD64(addr) ^ (__u64)agent->sub_agent << 32;

	h = (h ^ h >> 29) * 0x9e3779b97f4a7c15ull;
	h ^= XSF_LOAD64(addr + 8);
	h = (h ^ h >> 32) * 0xbf58476d1ce4e5b9ull;
	h ^= (__u64)reason << 32 | ifindex;
	h = (h ^ h >> 31) * 0x94d049bb133111ebull;
	return (__u32)(h >> 40);
}

static __always_inline int xsf_place_is(const struct xsf_drop_place *p,
					const struct xsf_agent_key *agent, __u32 ifindex,
					__u32 reason)
{
	return p->ifindex == ifindex && p->reason == reason &&
	       XSF_LOAD64(p->agent.addr) == XSF_LOAD64(agent->addr) &&
	       XSF_LOAD64(p->agent.addr + 8) == XSF_LOAD64(agent->addr + 8) &&
	       p->agent.sub_agent == agent->sub_agent;
}

/* The row now belongs to the key. The caller holds it (CHANGING). */
static __always_inline void xsf_place_take(struct xsf_walk *w, struct xsf_drop_place *p,
					   __u32 ifindex, __u32 reason)
{
	p->reason = reason;
	__builtin_memcpy(&p->agent, &w->agent_key, sizeof(p->agent));
	p->ifindex = ifindex;
	p->first_seen_ns = w->now_ns;
	p->last_seen_ns = w->now_ns;
	/* Orders what was written before it. */
	(void)XSF_CAS(&p->state, XSF_PLACE_CHANGING, XSF_PLACE_IN_USE);
}

/* A silent row behind the hash, taken for the key; 0 when there is none, or another CPU is about it. */
static __always_inline struct xsf_drop_place *
xsf_place_reclaim(struct xsf_walk *w, struct xsf_totals *t, __u32 at, __u32 ifindex, __u32 reason)
{
	struct xsf_drop_place *rest = xsf_lookup(XSF_MAP_PLACES, 0), *p;
	__u64 i;

	if (!rest)
		return 0;
	for (i = 0; i < XSF_PLACE_PROBES; i++) {
		p = xsf_lookup(XSF_MAP_PLACES, ((at + (__u32)i) & (XSF_PLACES - 2)) + 1);
		if (!p || p->state != XSF_PLACE_IN_USE)
			return 0;
		/* Another CPU gave it the row meanwhile. */
		if (xsf_place_is(p, &w->agent_key, ifindex, reason))
			return p;
		if (!xsf_silent(xsf_cfg(), w->now_ns, p->last_seen_ns))
			continue;
		if (XSF_CAS(&p->state, XSF_PLACE_IN_USE, XSF_PLACE_CHANGING) != XSF_PLACE_IN_USE)
			return 0;
		XSF_ATOMIC_ADD(&rest->notified, XSF_TAKE(&p->notified));
		xsf_place_take(w, p, ifindex, reason);
		t->places_reclaimed++;
		return p;
	}
	return 0;
}

/* Counts a notification of w->agent_key in the row of (ifindex, reason), else in row 0. */
XSF_GLOBAL int xsf_place_count(struct xsf_walk *w, __u32 ifindex, __u32 reason)
{
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);
	struct xsf_drop_place *p = 0;
	__u32 at;
	__u64 i;

	if (!w || !t)
		return 0;
	at = xsf_place_hash(&w->agent_key, ifindex, reason);
	for (i = 0; i < XSF_PLACE_PROBES; i++) {
		__u32 was;

		p = xsf_lookup(XSF_MAP_PLACES, ((at + (__u32)i) & (XSF_PLACES - 2)) + 1);
		if (!p)
			return 0;
		was = p->state;
		XSF_OPAQUE(was);
		if (was == XSF_PLACE_IN_USE) {
			if (xsf_place_is(p, &w->agent_key, ifindex, reason))
				goto found;
			continue;
		}
		if (was == XSF_PLACE_FREE &&
		    XSF_CAS(&p->state, XSF_PLACE_FREE, XSF_PLACE_CHANGING) == XSF_PLACE_FREE) {
			xsf_place_take(w, p, ifindex, reason);
			goto found;
		}
		goto rest;
	}
	p = xsf_place_reclaim(w, t, at, ifindex, reason);
	if (p)
		goto found;
rest:
	p = xsf_lookup(XSF_MAP_PLACES, 0);
	if (!p)
		return 0;
	p->state = XSF_PLACE_IN_USE;
	if (!p->first_seen_ns)
		p->first_seen_ns = w->now_ns;
	t->places_full++;
found:
	p->last_seen_ns = w->now_ns;
	XSF_ATOMIC_ADD(&p->notified, 1);
	return 0;
}

#endif
