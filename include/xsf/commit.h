/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A whole, sound sample: what its fields say, and where it counts. Nothing here reads beyond what walk.h
 * has checked. */
#ifndef XSF_COMMIT_H
#define XSF_COMMIT_H

#include "count.h"
#include "emit.h"
#include "places.h"
#include "timeline.h"

/* Interface formats (sflow_version_5.txt, struct interface). Returns 1 for one plain ifIndex. */
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

/* What a flow sample adds to: its source's slot, and the rows of its group and direction. */
static __always_inline void xsf_flow_add(struct xsf_walk *w, struct xsf_totals *t,
					 struct xsf_source *s, __u32 slot, __u32 direction,
					 __u64 weight, __u64 bytes)
{
	struct xsf_packet *p = &w->packet;
	__u32 row = 0;

	if (slot && w->grouped)
		row = xsf_group_of(t, slot, s->generation);
	row = row * XSF_DIRECTIONS + direction;
	xsf_traffic_add(s, direction, slot && s->cpu == w->cpu, p, weight, bytes);
	w->flow_samples++;
	xsf_count_packet(p, row, weight, bytes);
	if (p->flags & XSF_PKT_ROCE)
		xsf_timeline_add(w, row, weight, bytes);
}

/* Open vSwitch samples a bridge as one entity; what it saw came in at the input, and counts there. */
XSF_GLOBAL int xsf_flow_add_input(struct xsf_walk *w, __u32 in, __u64 weight, __u64 bytes)
{
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);
	struct xsf_source *s;
	__u32 slot;

	if (!w || !t)
		return 0;
	w->source.class = SFLOW_CLASS_IFINDEX;
	w->source.index = in;
	s = xsf_source_get(w, t, &slot);
	if (!s)
		return 0;
	if (slot)
		s->last_seen_ns = w->now_ns;
	xsf_flow_add(w, t, s, slot, XSF_INGRESS, weight, bytes);
	return 0;
}

static __always_inline void xsf_commit_flow(struct xsf_walk *w, struct xsf_totals *t, int expanded)
{
	const __u8 *body = xsf_at(w, w->body);
	__u32 in_format, in, out_format, out, direction = XSF_OTHER, frame_len = 0, slot;
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
		if (xsf_be32(r) != SFLOW_PROTO_ETHERNET ||
		    !xsf_packet_plain(w, w->rec_header + SFLOW_REC_HEADER_LEN, xsf_be32(r + 12), p))
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
	if (slot) {
		s->sampling_rate = (__u32)weight;
		s->sample_pool = xsf_be32(fixed + 4);
		s->drops = xsf_be32(fixed + 8);
		s->last_seen_ns = w->now_ns;
		xsf_sample_sequence(w, t, &s->flow_sequence, slot, 0, xsf_be32(body));
	}
	if ((w->source.class & ~1u) == SFLOW_CLASS_ENTITY && xsf_is_ifindex(in_format, in))
		xsf_flow_add_input(w, in, weight, bytes);
	else
		xsf_flow_add(w, t, s, slot, direction, weight, bytes);
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
		__u32 word = xsf_kept_word(w, string, 4, i, len);

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
	if (!slot || !(w->rec_counters | w->rec_port_name | w->rec_lag))
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
	if (w->rec_lag)
		i->aggregate = xsf_be32(xsf_at(w, w->rec_lag) + 16);
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

/* Agents limit the rate of their notifications, and say in `total` how many they held back so far. What its
 * source's next one adds to that counts, modulo 2^32; not what the first says, or the first after a restart,
 * nor a step back. Numbers that are missing were lost on the way. */
XSF_GLOBAL int xsf_drop_sequence(__u32 agent, __u32 slot, __u32 number, __u32 total)
{
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);
	struct xsf_agent *a = xsf_lookup(XSF_MAP_AGENTS, agent);
	struct xsf_interface *i = xsf_interface_of(slot);
	struct xsf_seq_step step;
	__u32 was, more;
	int first;

	if (!t || !a || !i || !agent)
		return 0;
	was = i->drop_total;
	XSF_OPAQUE(was);
	first = !i->drop_window;
	if (xsf_seq_advance(&i->drop_window, number, 0, 0, &step)) {
		t->sequence_contended++;
		return 0;
	}
	if (step.lost | step.duplicate | step.reordered | step.restarted) {
		XSF_ATOMIC_ADD(&a->drops_lost, step.lost);
		XSF_ATOMIC_ADD(&a->drops_duplicate, step.duplicate);
		XSF_ATOMIC_ADD(&a->drops_reordered, step.reordered);
		XSF_ATOMIC_ADD(&a->drops_restarts, step.restarted);
		/* An old total. */
		if (step.duplicate | step.reordered)
			return 0;
	}
	more = total - was;
	/* When another CPU was faster, the next total counts what this one would have. */
	if (!more || XSF_CAS(&i->drop_total, was, total) != was)
		return 0;
	if (!first && !step.restarted && more < 0x80000000)
		XSF_ATOMIC_ADD(&a->drops_suppressed, more);
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
	__u32 slot, ifindex;

	if (!w || !t)
		return 0;
	body = xsf_at(w, w->body);
	p = &w->packet;
	t->sample_drop++;
	w->drop_samples++;
	xsf_count_reason(0, xsf_be32(body + 24));
	xsf_source_name(w, body, 1);
	ifindex = xsf_be32(body + 16);
	if (!ifindex && w->source.class == SFLOW_CLASS_IFINDEX)
		ifindex = w->source.index;
	if (ifindex == XSF_PLACE_WHOLE_AGENT)
		ifindex = 0;
	xsf_place_count(w, ifindex, xsf_be32(body + 24));
	xsf_place_count(w, XSF_PLACE_WHOLE_AGENT, xsf_be32(body + 24));
	if (XSF_LOAD64(w->wanted.drops))
		xsf_event_drop(w);

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
	s = xsf_source_get(w, t, &slot);
	if (!s || !slot)
		return 0;
	s->last_seen_ns = w->now_ns;
	s->drop_sequence = xsf_be32(body);
	i = xsf_interface_of(slot);
	if (i)
		XSF_ATOMIC_ADD(&i->drop_samples, 1);
	/* The number in a duplicate datagram was judged when it came first. */
	if (!w->duplicate)
		xsf_drop_sequence(w->source.agent, slot, xsf_be32(body), xsf_be32(body + 12));
	return 0;
}

#endif
