// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Families of interfaces and of the other data sources. */
#include "model/binding.h"
#include "serve/families.h"

/* One member of XSF_OVER_INTERFACES or XSF_OVER_SOURCES while its lines are written. */
struct member {
	const struct xsf_source *source;
	const struct xsf_agent *agent;
	const struct xsf_interface *interface; /* NULL: has none */
	uint32_t generation;
	size_t before; /* where its lines start */
};

/* Finds member i. 0: it has changed hands since the document began. */
static int member_get(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		      const struct xsf_text *t, struct member *out)
{
	const struct xsf_shown_list *list =
		f->domain == XSF_OVER_INTERFACES ? &m->interfaces : &m->sources;
	uint32_t slot = i < list->nr ? list->at[i].slot : 0;

	out->before = t->len;
	out->generation = i < list->nr ? list->at[i].generation : 0;
	if (slot >= m->s->nr_sources)
		return 0;
	out->source = &m->s->sources[slot];
	out->interface = slot ? xsf_snapshot_interface(m->s, slot) : NULL;
	if (!slot) {
		out->agent = NULL;
		return 1;
	}
	return __atomic_load_n(&out->source->generation, __ATOMIC_ACQUIRE) == out->generation &&
	       xsf_snapshot_source_agent(m->s, slot, &out->agent);
}

/* Takes back the lines when the slot or its agent changed hands while they were written. */
static void member_put(const struct member *b, struct xsf_text *t)
{
	if (!b->agent)
		return;
	if (__atomic_load_n(&b->source->generation, __ATOMIC_ACQUIRE) != b->generation ||
	    __atomic_load_n(&b->agent->generation, __ATOMIC_ACQUIRE) !=
		    b->source->key.agent_generation)
		t->len = b->before;
}

static void member_line(const struct xsf_family *f, const struct member *b, struct xsf_text *t)
{
	xsf_line_begin(t, f);
	if (!b->agent) {
		XSF_TEXT_LIT(t, "agent=\"other\",sub_agent=\"\",class=\"\",index=\"\"");
		return;
	}
	xsf_label_agent(t, &b->agent->key);
	if (f->domain == XSF_OVER_SOURCES) {
		xsf_label_u64(t, ",class=", b->source->key.class);
		xsf_label_u64(t, ",index=", b->source->key.index);
		return;
	}
	XSF_TEXT_LIT(t, ",ifindex=\"");
	xsf_text_u64(t, b->source->key.index);
	XSF_TEXT_LIT(t, "\",ifname=\"");
	if (b->interface)
		xsf_text_name(t, b->interface->name, b->interface->name_len);
	xsf_text_char(t, '"');
}

/* ---- what the agent says of its interface ---- */

static const struct xsf_interface *counters(const struct member *b)
{
	return b->interface && b->interface->has_counters ? b->interface : NULL;
}

/* arg: enum xsf_if_counter. */
static void if_counter(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		       struct xsf_text *t)
{
	struct member b;
	uint64_t value;

	if (!member_get(m, f, i, t, &b) || !counters(&b) ||
	    !xsf_if_counter_read(b.interface, f->arg, &value))
		return;
	member_line(f, &b, t);
	xsf_line_end(t, value);
	member_put(&b, t);
}

/* arg: the first of three enum xsf_if_counter, in the order unicast, multicast, broadcast. */
static void if_packets(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		       struct xsf_text *t)
{
	static const char *const casts[] = { "unicast", "multicast", "broadcast" };
	struct member b;
	uint64_t value;

	if (!member_get(m, f, i, t, &b) || !counters(&b))
		return;
	for (uint32_t n = 0; n < 3; n++) {
		if (!xsf_if_counter_read(b.interface, f->arg + n, &value))
			continue;
		member_line(f, &b, t);
		xsf_label(t, ",cast=", casts[n]);
		xsf_line_end(t, value);
	}
	member_put(&b, t);
}

enum { IF_INFO, IF_SPEED, IF_ADMIN_UP, IF_OPER_UP, IF_ARRIVED };

static void if_state(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		     struct xsf_text *t)
{
	struct member b;
	uint64_t speed;
	uint32_t status;

	if (!member_get(m, f, i, t, &b) || !counters(&b))
		return;
	speed = xsf_field64(b.interface, offsetof(struct xsf_interface, speed));
	status = xsf_field32(b.interface, offsetof(struct xsf_interface, status));
	if (f->arg == IF_SPEED && (!speed || speed == UINT64_MAX))
		return;
	if ((f->arg == IF_ADMIN_UP || f->arg == IF_OPER_UP) && status == UINT32_MAX)
		return;
	member_line(f, &b, t);
	switch (f->arg) {
	case IF_INFO:
		xsf_label_u64(t, ",type=", b.interface->type);
		xsf_label(t, ",duplex=", xsf_if_direction_name(b.interface->direction));
		xsf_line_end(t, 1);
		break;
	case IF_SPEED:
		xsf_line_end(t, speed);
		break;
	case IF_ADMIN_UP:
		xsf_line_end(t, status & 1);
		break;
	case IF_OPER_UP:
		xsf_line_end(t, status >> 1 & 1);
		break;
	case IF_ARRIVED:
		xsf_line_end_milli(t, xsf_unix_ms(m, b.interface->counters_ns));
		break;
	}
	member_put(&b, t);
}

/* Where a topology has it; nothing where none does. */
static void role(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		 struct xsf_text *t)
{
	const struct xsf_place *place;
	struct member b;

	if (!m->s->bindings || !member_get(m, f, i, t, &b) || !b.agent)
		return;
	place = xsf_bindings_source(m->s->bindings, m->s, (uint32_t)(b.source - m->s->sources));
	if (place->role == XSF_ROLE_NONE)
		return;
	member_line(f, &b, t);
	xsf_label(t, ",fabric=", xsf_bindings_name(m->s->bindings, place->fabric));
	xsf_label(t, ",role=", xsf_role_names[place->role]);
	xsf_line_end(t, 1);
	member_put(&b, t);
}

/* ---- what was sampled there ---- */

/* Which directions have a line. */
enum { IF_SAMPLES, IF_ROCE, IF_NONZERO };

static void traffic(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		    struct xsf_text *t)
{
	struct member b;

	if (!member_get(m, f, i, t, &b))
		return;
	for (int d = 0; d < XSF_DIRECTIONS; d++) {
		struct xsf_traffic sum;
		uint64_t value;

		xsf_source_sum(b.source, (enum xsf_direction)d, &sum);
		value = xsf_field64(&sum, f->offset);
		if (!(f->arg == IF_SAMPLES ? sum.samples :
		      f->arg == IF_ROCE	   ? sum.roce_packets :
					     value))
			continue;
		member_line(f, &b, t);
		xsf_label(t, ",direction=", xsf_direction_names[d]);
		xsf_line_end(t, value);
	}
	member_put(&b, t);
}

/* A u32 of struct xsf_source that flow samples carry. */
static void sampler(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		    struct xsf_text *t)
{
	struct member b;

	if (!member_get(m, f, i, t, &b) || !b.agent || !b.source->flow_sequence)
		return;
	member_line(f, &b, t);
	xsf_line_end(t, xsf_field32(b.source, f->offset));
	member_put(&b, t);
}

/* A u32 of struct xsf_interface for flow samples and the one for counter samples, at arg: shown once
 * something was irregular. */
static void irregular(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		      struct xsf_text *t)
{
	const struct xsf_interface *n;
	struct member b;

	if (!member_get(m, f, i, t, &b) || !b.interface)
		return;
	n = b.interface;
	if (!(n->flow_lost | n->flow_duplicate | n->flow_reordered | n->counter_lost |
	      n->counter_duplicate | n->counter_reordered | n->sample_restarts))
		return;
	member_line(f, &b, t);
	xsf_label(t, ",type=", "flow");
	xsf_line_end(t, xsf_field32(n, f->offset));
	member_line(f, &b, t);
	xsf_label(t, ",type=", "counter");
	xsf_line_end(t, xsf_field32(n, f->arg));
	member_put(&b, t);
}

/* A u32 of struct xsf_interface that is mostly 0. */
static void rare(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		 struct xsf_text *t)
{
	struct member b;
	uint32_t value;

	if (!member_get(m, f, i, t, &b) || !b.interface)
		return;
	value = xsf_field32(b.interface, f->offset);
	if (!value)
		return;
	member_line(f, &b, t);
	xsf_line_end(t, value);
	member_put(&b, t);
}

#define COUNTER(n, which, text) \
	{ \
		XSF_FAMILY_COUNTER("interface_" n), \
			.domain = XSF_OVER_INTERFACES, .item = if_counter, .arg = XSF_IF_##which, \
			.help = text " (" #which " of the agent's interface counters)." \
	}
#define CASTS(n, first, text) \
	{ \
		XSF_FAMILY_COUNTER("interface_" n), .domain = XSF_OVER_INTERFACES, \
						    .item = if_packets, .arg = XSF_IF_##first, \
						    .help = text \
	}
#define STATE(n, which, text) \
	{ \
		XSF_FAMILY_GAUGE("interface_" n), .domain = XSF_OVER_INTERFACES, .item = if_state, \
						  .arg = which, .help = text \
	}
#define TRAFFIC(of, over, n, field, when, text) \
	{ \
		XSF_FAMILY_COUNTER(of n), .domain = over, .item = traffic, .arg = when, \
					  .offset = offsetof(struct xsf_traffic, field), \
					  .help = text \
	}
#define RARE(of, over, n, field, text) \
	{ \
		XSF_FAMILY_COUNTER(of n), .domain = over, .item = rare, \
					  .offset = offsetof(struct xsf_interface, field), \
					  .help = text \
	}
#define IRREGULAR(of, over, n, which, text) \
	{ \
		XSF_FAMILY_COUNTER(of n), .domain = over, .item = irregular, \
					  .offset = offsetof(struct xsf_interface, flow_##which), \
					  .arg = offsetof(struct xsf_interface, counter_##which), \
					  .help = text \
	}

/* What interfaces and other data sources have alike. */
#define SAMPLED(of, over) \
	TRAFFIC(of, over, "samples", samples, IF_SAMPLES, "Flow samples by direction."), \
		TRAFFIC(of, over, "sampled_packets", packets, IF_SAMPLES, \
			"Estimated packets: flow samples times sampling_rate."), \
		TRAFFIC(of, over, "sampled_bytes", bytes, IF_SAMPLES, \
			"Estimated bytes: flow samples times sampling_rate times frame length."), \
		TRAFFIC(of, over, "sampled_roce_packets", roce_packets, IF_ROCE, \
			"Estimated RoCE packets."), \
		TRAFFIC(of, over, "sampled_roce_bytes", roce_bytes, IF_ROCE, \
			"Estimated bytes of RoCE packets."), \
		TRAFFIC(of, over, "sampled_ce_packets", ce_packets, IF_ROCE, \
			"Estimated RoCE packets marked Congestion Experienced."), \
		TRAFFIC(of, over, "sampled_cnp_packets", cnp_packets, IF_ROCE, \
			"Estimated congestion notification packets."), \
		TRAFFIC(of, over, "sampled_trimmed_packets", trimmed_packets, IF_NONZERO, \
			"Estimated IP packets whose DSCP says that a switch cut their payload."), \
		{ XSF_FAMILY_GAUGE(of "sampling_rate"), .domain = over, .item = sampler, \
		  .offset = offsetof(struct xsf_source, sampling_rate), \
		  .help = "One in so many packets is sampled, as the last flow sample said." }, \
		{ XSF_FAMILY_COUNTER(of "sample_pool_packets"), .domain = over, .item = sampler, \
		  .offset = offsetof(struct xsf_source, sample_pool), \
		  .help = "Packets the agent could have sampled; wraps at 2^32." }, \
		{ XSF_FAMILY_COUNTER(of "agent_dropped_samples"), .domain = over, .item = sampler, \
		  .offset = offsetof(struct xsf_source, drops), \
		  .help = "Samples the agent says it lost itself." }, \
		IRREGULAR(of, over, "lost_samples", lost, "Sample numbers that never came."), \
		IRREGULAR(of, over, "duplicate_samples", duplicate, \
			  "Samples with a number seen before."), \
		IRREGULAR(of, over, "reordered_samples", reordered, "Samples that came late."), \
		RARE(of, over, "sample_restarts", sample_restarts, \
		     "Times the sample numbers began anew."), \
		RARE(of, over, "drop_notifications", drop_samples, "Discarded-packet samples.")

const struct xsf_family xsf_families_sources[] = {
	STATE("info", IF_INFO, "ifType and ifDirection, as the agent sent them."),
	STATE("speed_bps", IF_SPEED, "ifSpeed in bits per second, as the agent sent it."),
	STATE("admin_up", IF_ADMIN_UP, "1: ifAdminStatus is up."),
	STATE("oper_up", IF_OPER_UP, "1: ifOperStatus is up."),
	STATE("counters_timestamp_seconds", IF_ARRIVED, "When the counters came, Unix time."),
	COUNTER("in_bytes", in_octets, "Bytes received"),
	CASTS("in_packets", in_ucast, "Packets received, as the agent counts them."),
	COUNTER("in_discards", in_discards, "Packets received and discarded"),
	COUNTER("in_errors", in_errors, "Packets received with errors"),
	COUNTER("in_unknown_protocols", in_unknown, "Packets of unknown protocols"),
	COUNTER("out_bytes", out_octets, "Bytes sent"),
	CASTS("out_packets", out_ucast, "Packets sent, as the agent counts them."),
	COUNTER("out_discards", out_discards, "Packets discarded instead of sent"),
	COUNTER("out_errors", out_errors, "Packets not sent because of errors"),
	{ XSF_FAMILY_GAUGE("interface_promiscuous"), .domain = XSF_OVER_INTERFACES,
	  .item = if_counter, .arg = XSF_IF_promiscuous, .help = "ifPromiscuousMode." },
	{ XSF_FAMILY_GAUGE("interface_role"), .domain = XSF_OVER_INTERFACES, .item = role,
	  .help = "Fabric and role by the topology." },
	SAMPLED("interface_", XSF_OVER_INTERFACES),
	SAMPLED("source_", XSF_OVER_SOURCES),
	{ .item = NULL },
};
