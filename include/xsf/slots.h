/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Slots of agents and of data sources: found by key, handed out once each, then taken from whoever has
 * been silent longer than stale_ns. What a taken slot had counted goes to slot 0, so sums never shrink.
 *
 * A generation is 4 * n + 1 while its slot is in use, 4 * n when free and 4 * n + 2 while it changes
 * hands; only the CPU that moved it to 4 * n + 2 may fill the slot. */
#ifndef XSF_SLOTS_H
#define XSF_SLOTS_H

#include "sequence.h"
#include "state.h"
#include "store.h"

#define XSF_GENERATION_IN_USE 1
#define XSF_GENERATION_CHANGING 2
#define XSF_GENERATION_STEP 4

/* Slots looked at for a silent one, per request. */
#define XSF_SLOT_PROBES 4

/* Takes a slot whose generation was seen to be `was`; 0 when another CPU was faster. */
static __always_inline int xsf_slot_claim(__u32 *generation, __u32 was)
{
	if ((was & 3) == XSF_GENERATION_CHANGING)
		return 0;
	return XSF_CAS(generation, was, (was & ~3u) | XSF_GENERATION_CHANGING) == was;
}

/* The same for a slot that should be free: never used, or given back. */
static __always_inline int xsf_slot_claim_free(__u32 *generation)
{
	__u32 was = *generation;

	XSF_OPAQUE(was);
	return !(was & 3) && xsf_slot_claim(generation, was);
}

static __always_inline __u32 xsf_generation_next(__u32 generation)
{
	return (generation & ~3u) + XSF_GENERATION_STEP;
}

/* The generation of a slot that was found by its key: it may lie in the table a moment before the CPU that
 * fills it is done. */
static __always_inline __u32 xsf_generation_of(__u32 generation)
{
	return (generation & 3) == XSF_GENERATION_CHANGING ?
		       xsf_generation_next(generation) | XSF_GENERATION_IN_USE :
		       generation;
}

/* The next slot never used, 0 when there is none left. */
static __always_inline __u32 xsf_slot_fresh(struct xsf_control *c, __u32 max)
{
	__u64 n;

	if (c->next >= max - 1)
		return 0;
	n = XSF_FETCH_ADD(&c->next, 1) + 1;
	return n < max ? (__u32)n : 0;
}

static __always_inline __u32 xsf_slot_probe(struct xsf_control *c, __u32 max)
{
	return (__u32)(XSF_FETCH_ADD(&c->hand, 1) % (max - 1)) + 1;
}

static __always_inline int xsf_silent(const struct xsf_config *cfg, __u64 now, __u64 last_seen)
{
	return now > last_seen && now - last_seen > cfg->stale_ns;
}

/* Adds to a slot's `own` or `shared`. */
static __always_inline void xsf_bump(__u64 *count, __u64 n, int own)
{
	if (own)
		*count += n;
	else
		XSF_ATOMIC_ADD(count, n);
}

#define XSF_MOVE(to, from, field) XSF_ATOMIC_ADD(&(to)->field, XSF_TAKE(&(from)->field))

static __always_inline void xsf_counts_move(struct xsf_agent_counts *to,
					    struct xsf_agent_counts *from)
{
	XSF_MOVE(to, from, datagrams);
	XSF_MOVE(to, from, bytes);
	XSF_MOVE(to, from, faulty);
	XSF_MOVE(to, from, lost);
	XSF_MOVE(to, from, duplicate);
	XSF_MOVE(to, from, reordered);
	XSF_MOVE(to, from, restarts);
	XSF_MOVE(to, from, flow_samples);
	XSF_MOVE(to, from, counter_samples);
	XSF_MOVE(to, from, drop_samples);
}

/* Gives slot `a` to w->agent_key; its counts go to slot 0. The caller holds it (CHANGING). */
static __always_inline void xsf_agent_take(struct xsf_walk *w, struct xsf_agent *a, __u32 slot)
{
	struct xsf_agent *other = xsf_lookup(XSF_MAP_AGENTS, 0);

	if (!other)
		return;
	if (xsf_find(XSF_TABLE_AGENTS, &a->key) == slot)
		xsf_erase(XSF_TABLE_AGENTS, &a->key);
	/* Holes still pending will not be filled any more. */
	XSF_ATOMIC_ADD(&a->shared.lost, xsf_seq_pending(XSF_TAKE(&a->sequence)));
	xsf_counts_move(&other->shared, &a->own);
	xsf_counts_move(&other->shared, &a->shared);
	XSF_MOVE(other, a, drops_suppressed);
	XSF_MOVE(other, a, drops_lost);
	XSF_MOVE(other, a, drops_duplicate);
	XSF_MOVE(other, a, drops_reordered);
	XSF_MOVE(other, a, drops_restarts);
	XSF_MOVE(other, a, drops_fresh);
	a->cpu = w->cpu;
	a->drops = 0;
	a->uptime_ms = 0;
	a->uptime_moves = 0;
	a->name_len = 0;
	a->first_seen_ns = w->now_ns;
	a->last_seen_ns = w->now_ns;
	__builtin_memcpy(&a->key, &w->agent_key, sizeof(a->key));
}

/* A slot for w->agent_key, which is not in the table. 0 when there is none. */
XSF_GLOBAL int xsf_agent_new(struct xsf_walk *w)
{
	struct xsf_control *c = xsf_lookup(XSF_MAP_CONTROL, XSF_TABLE_AGENTS);
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);
	struct xsf_agent_key key;
	struct xsf_agent *a;
	__u32 slot, was, i;

	if (!w || !c || !t)
		return 0;
	/* Here w is plain memory to the verifier, and 6.1 takes no map key from there. */
	__builtin_memcpy(&key, &w->agent_key, sizeof(key));
	slot = w->spare[XSF_TABLE_AGENTS];
	w->spare[XSF_TABLE_AGENTS] = 0;
	if (!slot)
		slot = xsf_slot_fresh(c, XSF_AGENTS);
	a = xsf_lookup(XSF_MAP_AGENTS, slot);
	if (!a || !slot || !xsf_slot_claim_free(&a->generation))
		slot = 0;
	for (i = 0; i < XSF_SLOT_PROBES && !slot; i++) {
		__u32 n = xsf_slot_probe(c, XSF_AGENTS);

		a = xsf_lookup(XSF_MAP_AGENTS, n);
		if (!a)
			return 0;
		was = a->generation;
		XSF_OPAQUE(was);
		if (was & XSF_GENERATION_IN_USE &&
		    !xsf_silent(xsf_cfg(), w->now_ns, a->last_seen_ns))
			continue;
		if (!xsf_slot_claim(&a->generation, was))
			continue;
		/* Else a place that a lost race gave back. */
		t->agents_reclaimed += was & XSF_GENERATION_IN_USE;
		slot = n;
	}
	if (!slot || !a)
		return 0;
	xsf_agent_take(w, a, slot);
	if (xsf_insert(XSF_TABLE_AGENTS, &key, slot)) {
		/* Another CPU was faster: the slot is free again, and the next one asked for here. */
		a->generation = xsf_generation_next(a->generation);
		w->spare[XSF_TABLE_AGENTS] = slot;
		return (int)xsf_find(XSF_TABLE_AGENTS, &key);
	}
	a->generation = xsf_generation_next(a->generation) | XSF_GENERATION_IN_USE;
	return (int)slot;
}

static __always_inline void xsf_traffic_move(struct xsf_traffic *to, struct xsf_traffic *from)
{
	XSF_MOVE(to, from, samples);
	XSF_MOVE(to, from, packets);
	XSF_MOVE(to, from, bytes);
	XSF_MOVE(to, from, roce_packets);
	XSF_MOVE(to, from, roce_bytes);
	XSF_MOVE(to, from, ce_packets);
	XSF_MOVE(to, from, cnp_packets);
	XSF_MOVE(to, from, trimmed_packets);
}

/* As xsf_agent_take, for source `key`. */
static __always_inline void xsf_source_take(struct xsf_walk *w, struct xsf_source *s, __u32 slot,
					    const struct xsf_source_key *key)
{
	struct xsf_source *other = xsf_lookup(XSF_MAP_SOURCES, 0);
	struct xsf_interface *interface = xsf_lookup(XSF_MAP_INTERFACES, slot);
	struct xsf_agent *agent = xsf_lookup(XSF_MAP_AGENTS, s->key.agent);
	__u32 i;

	if (!other || !interface || !agent)
		return;
	/* Its sums are at its agent, while that is there. */
	if (agent->generation != s->key.agent_generation)
		agent = xsf_lookup(XSF_MAP_AGENTS, 0);
	if (agent)
		XSF_ATOMIC_ADD(&agent->drops_lost, xsf_seq_pending(interface->drop_window));
	if (xsf_find(XSF_TABLE_SOURCES, &s->key) == slot)
		xsf_erase(XSF_TABLE_SOURCES, &s->key);
	for (i = 0; i < XSF_DIRECTIONS; i++) {
		xsf_traffic_move(&other->shared[i], &s->own[i]);
		xsf_traffic_move(&other->shared[i], &s->shared[i]);
	}
	s->cpu = w->cpu;
	s->sampling_rate = 0;
	s->sample_pool = 0;
	s->drops = 0;
	s->flow_sequence = 0;
	s->counter_sequence = 0;
	s->drop_sequence = 0;
	s->last_seen_ns = w->now_ns;
	__builtin_memcpy(&s->key, key, sizeof(s->key));
	/* Here, before anybody can find the slot, and not when its first value comes: two CPUs may come
	 * with one, and the second would wipe out what the first has added. */
	__builtin_memset(interface, 0, sizeof(*interface));
	__builtin_memcpy(&interface->agent, &w->agent_key, sizeof(interface->agent));
	interface->class = key->class;
	interface->index = key->index;
	interface->generation = xsf_generation_of(s->generation);
}

/* The slot of source w->source, found or made; 0 when there is no room. */
XSF_GLOBAL int xsf_source_find(struct xsf_walk *w)
{
	struct xsf_control *c = xsf_lookup(XSF_MAP_CONTROL, XSF_TABLE_SOURCES);
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);
	struct xsf_source_key key;
	struct xsf_source *s;
	__u32 slot, was, i;

	if (!w || !c || !t)
		return 0;
	__builtin_memcpy(&key, &w->source, sizeof(key));
	slot = xsf_find(XSF_TABLE_SOURCES, &key);
	if (slot)
		return (int)slot;
	slot = w->spare[XSF_TABLE_SOURCES];
	w->spare[XSF_TABLE_SOURCES] = 0;
	if (!slot)
		slot = xsf_slot_fresh(c, XSF_SOURCES);
	s = xsf_lookup(XSF_MAP_SOURCES, slot);
	if (!s || !slot || !xsf_slot_claim_free(&s->generation))
		slot = 0;
	for (i = 0; i < XSF_SLOT_PROBES && !slot; i++) {
		__u32 n = xsf_slot_probe(c, XSF_SOURCES);

		s = xsf_lookup(XSF_MAP_SOURCES, n);
		if (!s)
			return 0;
		was = s->generation;
		XSF_OPAQUE(was);
		if (was & XSF_GENERATION_IN_USE &&
		    !xsf_silent(xsf_cfg(), w->now_ns, s->last_seen_ns))
			continue;
		if (!xsf_slot_claim(&s->generation, was))
			continue;
		/* Else a place that a lost race gave back. */
		t->sources_reclaimed += was & XSF_GENERATION_IN_USE;
		slot = n;
	}
	if (!slot || !s)
		return 0;
	xsf_source_take(w, s, slot, &key);
	if (xsf_insert(XSF_TABLE_SOURCES, &key, slot)) {
		s->generation = xsf_generation_next(s->generation);
		w->spare[XSF_TABLE_SOURCES] = slot;
		return (int)xsf_find(XSF_TABLE_SOURCES, &key);
	}
	s->generation = xsf_generation_next(s->generation) | XSF_GENERATION_IN_USE;
	return (int)slot;
}

#endif
