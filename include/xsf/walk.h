/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walk through one sFlow datagram that lies in w->buf. Every step takes at least 8 bytes of the
 * payload or ends the datagram, so XSF_WALK_CALLS calls of XSF_WALK_STEPS steps end any payload of up to
 * XSF_MAX_PAYLOAD bytes: one separately verified
 * function, called from a plain bounded loop. */
#ifndef XSF_WALK_H
#define XSF_WALK_H

#include "commit.h"
#include "outer.h"

#define XSF_WALK_STEPS 8
#define XSF_WALK_CALLS 141
_Static_assert(XSF_WALK_STEPS *XSF_WALK_CALLS >= XSF_MAX_PAYLOAD / 8, "a walk must always end");

/* A faulty sample: nothing of it counts, the walk goes on behind it. */
#define XSF_FAULT(w, t, kind) \
	do { \
		(t)->fault_##kind++; \
		(w)->faults++; \
	} while (0)

static __always_inline __u32 xsf_padded(__u32 off, __u32 len, __u32 lim)
{
	__u32 pad = -len & 3;

	off += len;
	/* Padding that would leave the container is missing, not read. */
	return pad > lim - off ? lim : off + pad;
}

/* Bytes of a sample's fixed body; 0 for a tag that is none of ours. */
static __always_inline __u32 xsf_fixed_len(__u32 tag)
{
	const __u64 words = SFLOW_FLOW_LEN / 4 << SFLOW_FLOW * 8 |
			    SFLOW_COUNTER_LEN / 4 << SFLOW_COUNTER * 8 |
			    SFLOW_FLOW_EXPANDED_LEN / 4 << SFLOW_FLOW_EXPANDED * 8 |
			    (__u64)(SFLOW_COUNTER_EXPANDED_LEN / 4) << SFLOW_COUNTER_EXPANDED * 8 |
			    (__u64)(SFLOW_DROP_LEN / 4) << SFLOW_DROP * 8;

	return tag < 8 ? (words >> tag * 8 & 0xff) * 4 : 0;
}

/* What most samples begin with, and many hold nothing else: a sampled header. Where the first record is a
 * sound one it is taken here; xsf_record would do the same a step later. */
static __always_inline void xsf_record_first(struct xsf_walk *w)
{
	const __u8 *p = xsf_at(w, w->off);
	__u32 room = w->end - w->off, len;

	if (room < 8 + SFLOW_REC_HEADER_LEN || xsf_be32(p) != SFLOW_REC_HEADER)
		return;
	len = xsf_be32(p + 4);
	if (len < SFLOW_REC_HEADER_LEN || len > room - 8 ||
	    xsf_be32(p + 20) > len - SFLOW_REC_HEADER_LEN)
		return;
	w->rec_header = w->off + 8;
	w->off = xsf_padded(w->off + 8, len, w->end);
	w->records_left--;
}

/* Starts the next sample. 1: it is at hand; 0: skipped, faulty or none left. */
static __always_inline int xsf_sample_begin(struct xsf_walk *w, struct xsf_totals *t)
{
	__u32 tag, len, fixed;
	const __u8 *p;

	if (!w->samples_left)
		return 0;
	if (!xsf_fits(w->off, 8, w->len)) {
		XSF_FAULT(w, t, sample_overrun);
		w->samples_left = 0;
		return 0;
	}
	p = xsf_at(w, w->off);
	tag = xsf_be32(p);
	len = xsf_be32(p + 4);
	w->off += 8;
	if (!xsf_fits_len(w->off, len, w->len)) {
		XSF_FAULT(w, t, sample_overrun);
		w->samples_left = 0;
		return 0;
	}
	w->samples_left--;
	w->body = w->off;
	w->end = w->off + len;
	fixed = xsf_fixed_len(tag);
	if (!fixed || len < fixed) {
		if (fixed)
			XSF_FAULT(w, t, short_body);
		else
			t->sample_unknown++;
		w->off = xsf_padded(w->off, len, w->len);
		return 0;
	}
	w->type = tag;
	w->records_left = xsf_be32(xsf_at(w, w->body + fixed - 4));
	w->off += fixed;
	w->rec_header = 0;
	w->rec_ethernet = 0;
	w->rec_ip4 = 0;
	w->rec_ip6 = 0;
	w->rec_counters = 0;
	w->rec_port_name = 0;
	w->rec_host = 0;
	w->rec_lag = 0;
	w->rec_mask = 0;
	if (w->type != SFLOW_COUNTER && w->type != SFLOW_COUNTER_EXPANDED && w->records_left)
		xsf_record_first(w);
	return 1;
}

static __always_inline void xsf_sample_leave(struct xsf_walk *w)
{
	w->off = xsf_padded(w->body, w->end - w->body, w->len);
}

/* Remembers the first record of a kind that has its fixed fields. 0 = ok. */
static __always_inline int xsf_record_keep(__u32 *place, __u32 body, __u32 len, __u32 needed)
{
	if (len < needed)
		return -1;
	if (!*place)
		*place = body;
	return 0;
}

/* The XDR string at `off` is within `lim`: the offset behind it and its padding; 0 when it is not. */
static __always_inline __u32 xsf_string_end(const struct xsf_walk *w, __u32 off, __u32 lim)
{
	__u32 len;

	if (!xsf_fits(off, 4, lim))
		return 0;
	len = xsf_be32(xsf_at(w, off));
	return xsf_fits_len(off + 4, len, lim) ? xsf_padded(off + 4, len, lim) : 0;
}

/* One of the records from SFLOW_REC_MORE on, at `body`; texts are of interest in notifications only. Returns
 * nonzero when it lacks some of its fields. */
XSF_GLOBAL int xsf_record_more(struct xsf_walk *w, __u32 tag, __u32 body, __u32 len)
{
	__u32 end = body + len, needed = 4, bit;

	if (!w)
		return 0;
	if (tag == SFLOW_REC_FUNCTION || tag == SFLOW_REC_TRAP || tag == SFLOW_REC_LINUX) {
		if (w->type != SFLOW_DROP)
			return 0;
		end = xsf_string_end(w, body, end);
		if (end && tag == SFLOW_REC_TRAP)
			end = xsf_string_end(w, end, body + len);
		if (!end)
			return 1;
	} else {
		if (tag == SFLOW_REC_TIME)
			needed = 8;
		else if (tag != SFLOW_REC_QUEUE && tag != SFLOW_REC_DELAY && tag != SFLOW_REC_DEPTH)
			return 0;
		if (len < needed)
			return 1;
	}
	bit = 1u << ((tag - SFLOW_REC_MORE) & 7);
	if (!(w->rec_mask & bit))
		w->rec_more[(tag - SFLOW_REC_MORE) & 7] = body;
	w->rec_mask |= bit;
	return 0;
}

/* One record of the current sample. 1: go on; 0: the sample was faulty and is left. */
static __always_inline int xsf_record(struct xsf_walk *w, struct xsf_totals *t)
{
	__u32 tag, len, body;
	const __u8 *p;
	int bad = 0;

	if (!xsf_fits(w->off, 8, w->end)) {
		XSF_FAULT(w, t, record_overrun);
		xsf_sample_leave(w);
		return 0;
	}
	p = xsf_at(w, w->off);
	tag = xsf_be32(p);
	len = xsf_be32(p + 4);
	body = w->off + 8;
	if (!xsf_fits_len(body, len, w->end)) {
		XSF_FAULT(w, t, record_overrun);
		xsf_sample_leave(w);
		return 0;
	}
	w->off = xsf_padded(body, len, w->end);
	w->records_left--;
	p += 8;
	if (w->type == SFLOW_COUNTER || w->type == SFLOW_COUNTER_EXPANDED) {
		if (tag == SFLOW_REC_IF_COUNTERS) {
			bad = xsf_record_keep(&w->rec_counters, body, len,
					      SFLOW_REC_IF_COUNTERS_LEN);
		} else if (tag == SFLOW_REC_LAG) {
			bad = xsf_record_keep(&w->rec_lag, body, len, SFLOW_REC_LAG_LEN);
		} else if (tag == SFLOW_REC_PORT_NAME || tag == SFLOW_REC_HOST_DESCR) {
			if (len < 4 || xsf_be32(p) > len - 4)
				bad = -1;
			else if (tag == SFLOW_REC_PORT_NAME)
				bad = xsf_record_keep(&w->rec_port_name, body, len, 4);
			else
				bad = xsf_record_keep(&w->rec_host, body, len, 4);
		}
	} else if (tag == SFLOW_REC_HEADER) {
		if (len >= SFLOW_REC_HEADER_LEN && xsf_be32(p + 12) > len - SFLOW_REC_HEADER_LEN) {
			XSF_FAULT(w, t, header_overrun);
			xsf_sample_leave(w);
			return 0;
		}
		bad = xsf_record_keep(&w->rec_header, body, len, SFLOW_REC_HEADER_LEN);
	} else if (tag == SFLOW_REC_ETHERNET) {
		bad = xsf_record_keep(&w->rec_ethernet, body, len, SFLOW_REC_ETHERNET_LEN);
	} else if (tag == SFLOW_REC_IP4) {
		bad = xsf_record_keep(&w->rec_ip4, body, len, SFLOW_REC_IP4_LEN);
	} else if (tag == SFLOW_REC_IP6) {
		bad = xsf_record_keep(&w->rec_ip6, body, len, SFLOW_REC_IP6_LEN);
	} else if (tag - SFLOW_REC_MORE <= SFLOW_REC_TIME - SFLOW_REC_MORE) {
		bad = xsf_record_more(w, tag, body, len);
	}
	/* Or the compiler makes ways of their own for those that it knows, twice as many for the verifier. */
	XSF_OPAQUE(bad);
	if (bad) {
		XSF_FAULT(w, t, short_body);
		xsf_sample_leave(w);
		return 0;
	}
	return 1;
}

/* The sample is whole: it counts. */
static __always_inline void xsf_sample_end(struct xsf_walk *w, struct xsf_totals *t)
{
	if (w->duplicate && w->flags & XSF_F_DROP_DUPLICATES) {
		t->duplicate_samples++;
	} else if (w->type == SFLOW_FLOW || w->type == SFLOW_FLOW_EXPANDED) {
		/* Before it is counted: behind that, the verifier would go every way through this twice. */
		if (XSF_LOAD64(w->wanted.samples))
			xsf_event_flow(w);
		xsf_commit_flow(w, t, w->type == SFLOW_FLOW_EXPANDED);
	} else if (w->type == SFLOW_DROP) {
		xsf_commit_drop(w);
	} else {
		xsf_commit_counter(w, w->type == SFLOW_COUNTER_EXPANDED);
	}
	xsf_sample_leave(w);
}

/* XSF_WALK_STEPS steps; each starts a sample, reads a record, ends a sample, as far as it can. Returns
 * nonzero while there is more. */
XSF_GLOBAL int xsf_walk_steps(struct xsf_walk *w)
{
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);
	__u64 i;

	if (!w || !t)
		return 0;
	for (i = 0; i < XSF_WALK_STEPS; i++) {
		/* Or the compiler keeps the address of every field on the stack, all through the loop. */
		XSF_OPAQUE(w);
		XSF_OPAQUE(t);
		if (!w->in_sample && !xsf_sample_begin(w, t)) {
			if (!w->samples_left)
				return 0;
			continue;
		}
		w->in_sample = 0;
		if (w->records_left && !xsf_record(w, t))
			continue;
		if (w->records_left)
			w->in_sample = 1;
		else
			xsf_sample_end(w, t);
	}
	return w->in_sample || w->samples_left;
}

static __always_inline int xsf_refuse(struct xsf_walk *w)
{
	w->samples_left = 0;
	w->faults++;
	return -1;
}

/* The agent of the datagram: found or made, its sequence advanced. */
static __always_inline void xsf_agent_count(struct xsf_walk *w, struct xsf_totals *t,
					    const struct xsf_outer *o, __u32 number)
{
	struct xsf_seq_step step;
	struct xsf_agent *a;
	__u32 slot, was, moves;
	struct xsf_agent_counts *c;
	int back, forward, own;

	slot = xsf_find(XSF_TABLE_AGENTS, &w->agent_key);
	if (!slot)
		slot = (__u32)xsf_agent_new(w);
	a = xsf_lookup(XSF_MAP_AGENTS, slot);
	if (!a)
		return;
	w->source.agent = slot;
	own = slot && a->cpu == w->cpu;
	c = own ? &a->own : &a->shared;
	xsf_bump(&c->datagrams, 1, own);
	xsf_bump(&c->bytes, w->len, own);
	if (!slot) {
		t->agents_full++;
		return;
	}
	w->source.agent_generation = xsf_generation_of(a->generation);
	was = a->uptime_ms;
	moves = a->uptime_moves;
	if (a->sequence && was != w->uptime_ms && !moves)
		a->uptime_moves = 1;
	forward = number - (__u32)(a->sequence >> 32) - 1 < XSF_SEQ_WINDOW;
	back = a->sequence && xsf_uptime_went_back(was, w->uptime_ms, forward);
	if (xsf_seq_advance(&a->sequence, number, back, !moves && was == w->uptime_ms, &step)) {
		t->sequence_contended++;
	} else {
		if (step.lost)
			xsf_bump(&c->lost, step.lost, own);
		if (step.duplicate) {
			xsf_bump(&c->duplicate, 1, own);
			w->duplicate = 1;
		}
		if (step.reordered)
			xsf_bump(&c->reordered, 1, own);
		if (step.restarted)
			xsf_bump(&c->restarts, 1, own);
		/* A late datagram carries an old uptime. */
		if (!step.reordered && !step.duplicate)
			a->uptime_ms = w->uptime_ms;
	}
	a->last_seen_ns = w->now_ns;
	a->source_port = (__u16)o->source_port;
	__builtin_memcpy(a->source, o->source, sizeof(a->source));
}

/* Reads the datagram's header; w->len, w->now_ns, w->flags and the payload are set. 0: samples follow. */
static __always_inline int xsf_walk_begin(struct xsf_walk *w, struct xsf_totals *t,
					  const struct xsf_outer *o)
{
	const struct xsf_group *any = xsf_lookup(XSF_MAP_GROUPS, 0);
	const struct xsf_event_wanted *wanted = xsf_lookup(XSF_MAP_WANTED, 0);
	const __u8 *p = xsf_at(w, 0);
	__u32 type, addr_len, off;

	w->samples_left = 0;
	w->in_sample = 0;
	w->faults = 0;
	w->duplicate = 0;
	w->grouped = any && any->group;
	w->source.agent = 0;
	w->source.agent_generation = 0;
	w->flow_samples = 0;
	w->counter_samples = 0;
	w->drop_samples = 0;
	w->wanted = (struct xsf_event_wanted){};
	if (wanted)
		w->wanted = *wanted;
	w->line_row = 0;
	w->line_packets = 0;
	w->line_bytes = 0;

	if (w->len < 4) {
		t->fault_short_header++;
		return xsf_refuse(w);
	}
	if (xsf_be32(p) != SFLOW_VERSION) {
		t->fault_bad_version++;
		return xsf_refuse(w);
	}
	if (w->len < 8) {
		t->fault_short_header++;
		return xsf_refuse(w);
	}
	type = xsf_be32(p + 4);
	if (type != SFLOW_ADDR_IP4 && type != SFLOW_ADDR_IP6) {
		t->fault_bad_agent_type++;
		return xsf_refuse(w);
	}
	addr_len = type == SFLOW_ADDR_IP4 ? 4 : 16;
	off = type == SFLOW_ADDR_IP4 ? SFLOW_HEADER_IP4_LEN : SFLOW_HEADER_IP6_LEN;
	if (w->len < off) {
		t->fault_short_header++;
		return xsf_refuse(w);
	}
	if (type == SFLOW_ADDR_IP4)
		xsf_map_ip4(w->agent_key.addr, p + 8);
	else
		__builtin_memcpy(w->agent_key.addr, p + 8, 16);
	p += 8 + addr_len;
	w->agent_key.sub_agent = xsf_be32(p);
	w->uptime_ms = xsf_be32(p + 8);
	w->samples_left = xsf_be32(p + 12);
	w->off = off;
	xsf_agent_count(w, t, o, xsf_be32(p + 4));
	return 0;
}

/* The datagram is done: its outcome counts, and its samples count for the agent. */
static __always_inline void xsf_walk_end(struct xsf_walk *w, struct xsf_totals *t)
{
	struct xsf_agent *a = xsf_lookup(XSF_MAP_AGENTS, w->source.agent);
	struct xsf_agent_counts *c;
	int own;

	if (w->faults)
		t->datagram_faulty++;
	else
		t->datagram_sound++;
	xsf_timeline_flush(w);
	if (!a)
		return;
	own = w->source.agent && a->cpu == w->cpu;
	c = own ? &a->own : &a->shared;
	if (w->flow_samples)
		xsf_bump(&c->flow_samples, w->flow_samples, own);
	if (w->counter_samples)
		xsf_bump(&c->counter_samples, w->counter_samples, own);
	if (w->drop_samples) {
		xsf_bump(&c->drop_samples, w->drop_samples, own);
		if (!w->duplicate)
			XSF_ATOMIC_ADD(&a->drops_fresh, w->drop_samples);
	}
	if (w->faults)
		xsf_bump(&c->faulty, 1, own);
}

/* With many sources nearly every sample finds its source's lines out of the caches. Reading them for the
 * first samples before the walk begins lets the CPU wait for all at once: 1310 ns became 951 for 64,000
 * sources. With few it would only cost (40 ns). Nothing depends on what is read. */
#define XSF_TOUCH_SAMPLES 8
#define XSF_TOUCH_SOURCES 4096

static __always_inline void xsf_touch(struct xsf_walk *w)
{
	struct xsf_control *c = xsf_lookup(XSF_MAP_CONTROL, XSF_TABLE_SOURCES);
	struct xsf_hints *h;
	__u32 off = w->off;
	__u64 i, sum = 0;

	if (!c || c->next < XSF_TOUCH_SOURCES)
		return;
	h = xsf_lookup(XSF_MAP_HINTS, w->source.agent);
	if (!h)
		return;
	for (i = 0; i < XSF_TOUCH_SAMPLES; i++) {
		struct xsf_source *s;
		const __u8 *p;
		__u32 id;

		if (!xsf_fits(off, 24, w->len))
			break;
		p = xsf_at(w, off);
		id = xsf_be32(p) > 2 ? xsf_be32(p + 16) : xsf_be32(p + 12);
		s = xsf_lookup(XSF_MAP_SOURCES, h->slot[xsf_hint_index(0, id)]);
		if (s)
			sum += s->cpu + s->own[XSF_INGRESS].samples;
		off += 8 + (xsf_be32(p + 4) & 0x3fff);
	}
	w->touched = sum;
}

/* The whole of it, once the payload is in w->buf. Returns nonzero when all of it was sound. */
static __always_inline int xsf_walk(struct xsf_walk *w, struct xsf_totals *t,
				    const struct xsf_outer *o)
{
	__u64 i;

	t->bytes += w->len;
	if (xsf_walk_begin(w, t, o)) {
		t->datagram_refused++;
		return 0;
	}
	xsf_touch(w);
	for (i = 0; i < XSF_WALK_CALLS; i++) {
		if (!xsf_walk_steps(w))
			break;
	}
	xsf_walk_end(w, t);
	return !w->faults;
}

#endif
