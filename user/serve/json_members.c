// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/json_parts.h"

#include <stdio.h>
#include "model/binding.h"

static uint64_t ms_ago(const struct xsf_snapshot *s, uint64_t ns)
{
	return s->now_ns > ns ? (s->now_ns - ns) / 1000000 : 0;
}

/* Where an element starts: one that changes hands while it is written is taken back. */
struct mark {
	size_t len;
	int comma;
};

static struct mark element(struct xsf_json *j)
{
	struct mark mark = { j->w.t->len, j->w.comma };

	xsf_json_open_at(&j->w, NULL, '{');
	return mark;
}

static void element_end(struct xsf_json *j, struct mark mark, int whole)
{
	xsf_json_shut(&j->w, '}');
	if (whole)
		return;
	j->w.t->len = mark.len;
	j->w.comma = mark.comma;
}

static void agent_counts(struct xsf_writer *w, const struct xsf_agent *a)
{
	uint32_t pending = xsf_agent_pending(a);
	struct xsf_agent_counts c;

	xsf_agent_sum(a, &c);
	xsf_json_u64(w, "datagrams", c.datagrams);
	xsf_json_u64(w, "bytes", c.bytes);
	xsf_json_u64(w, "lost", c.lost + pending);
	xsf_json_u64(w, "pending", pending);
	xsf_json_u64(w, "duplicate", c.duplicate);
	xsf_json_u64(w, "reordered", c.reordered);
	xsf_json_u64(w, "restarts", c.restarts);
	xsf_json_u64(w, "faulty", c.faulty);
	xsf_json_u64(w, "flow_samples", c.flow_samples);
	xsf_json_u64(w, "counter_samples", c.counter_samples);
	xsf_json_u64(w, "drop_samples", c.drop_samples);
}

void xsf_json_agent(struct xsf_json *j, uint32_t slot)
{
	const struct xsf_agent *a = &j->s->agents[slot];
	uint32_t generation = __atomic_load_n(&a->generation, __ATOMIC_ACQUIRE);
	struct xsf_writer *w = &j->w;
	struct mark mark;

	if (!xsf_snapshot_agent_shown(j->s, slot))
		return;
	mark = element(j);
	xsf_json_address(w, "agent", a->key.addr);
	xsf_json_u64(w, "sub_agent", a->key.sub_agent);
	xsf_json_name(w, "name", a->name, a->name_len);
	xsf_json_address(w, "source", a->source);
	xsf_json_u64(w, "source_port", a->source_port);
	agent_counts(w, a);
	xsf_json_u64(w, "drops", a->drops);
	xsf_json_drop_sums(j, slot);
	xsf_json_milli(w, "last_seen_seconds_ago", ms_ago(j->s, a->last_seen_ns));
	xsf_json_u64(w, "uptime_ms", a->uptime_ms);
	element_end(j, mark, __atomic_load_n(&a->generation, __ATOMIC_ACQUIRE) == generation);
}

/* What found no place in the table, or lost it. */
void xsf_json_agent_other(struct xsf_json *j, uint32_t i)
{
	(void)i;
	if (j->s->nr_agents)
		agent_counts(&j->w, &j->s->agents[0]);
}

static void if_counters(struct xsf_json *j, const struct xsf_interface *i)
{
	struct xsf_writer *w = &j->w;
	uint64_t value = i->speed;

	xsf_json_u64(w, "type", i->type);
	if (value != UINT64_MAX)
		xsf_json_u64(w, "speed", value);
	xsf_json_u64(w, "direction", i->direction);
	value = i->status;
	if (value != UINT32_MAX) {
		xsf_json_u64(w, "status", value);
		xsf_json_str(w, "admin", value & 1 ? "up" : "down");
		xsf_json_str(w, "oper", value & 2 ? "up" : "down");
	}
	for (int n = 0; n < XSF_NR_IF_COUNTERS; n++) {
		if (xsf_if_counter_read(i, n, &value))
			xsf_json_u64(w, xsf_if_counter_name(n), value);
	}
	xsf_json_milli(w, "counters_seconds_ago", ms_ago(j->s, i->counters_ns));
}

static void sampled(struct xsf_writer *w, const struct xsf_source *source)
{
	xsf_json_open_at(w, "sampled", '{');
	for (int d = 0; d < XSF_DIRECTIONS; d++) {
		struct xsf_traffic t;

		xsf_source_sum(source, (enum xsf_direction)d, &t);
		xsf_json_open_at(w, xsf_direction_names[d], '{');
		xsf_json_u64(w, "samples", t.samples);
		xsf_json_u64(w, "packets", t.packets);
		xsf_json_u64(w, "bytes", t.bytes);
		if (t.roce_packets) {
			xsf_json_u64(w, "roce_packets", t.roce_packets);
			xsf_json_u64(w, "roce_bytes", t.roce_bytes);
			xsf_json_u64(w, "ce_packets", t.ce_packets);
			xsf_json_u64(w, "cnp_packets", t.cnp_packets);
		}
		if (t.trimmed_packets)
			xsf_json_u64(w, "trimmed_packets", t.trimmed_packets);
		xsf_json_shut(w, '}');
	}
	xsf_json_shut(w, '}');
	if (source->flow_sequence) {
		xsf_json_u64(w, "sampling_rate", source->sampling_rate);
		xsf_json_u64(w, "sample_pool", source->sample_pool);
		xsf_json_u64(w, "drops", source->drops);
	}
}

static void sample_numbers(struct xsf_writer *w, const struct xsf_interface *i)
{
	xsf_json_u64(w, "flow_lost", i->flow_lost);
	xsf_json_u64(w, "flow_duplicate", i->flow_duplicate);
	xsf_json_u64(w, "flow_reordered", i->flow_reordered);
	xsf_json_u64(w, "counter_lost", i->counter_lost);
	xsf_json_u64(w, "counter_duplicate", i->counter_duplicate);
	xsf_json_u64(w, "counter_reordered", i->counter_reordered);
	xsf_json_u64(w, "sample_restarts", i->sample_restarts);
	xsf_json_u64(w, "drop_samples", i->drop_samples);
}

/* What the kernel counts it as. */
static void role(struct xsf_json *j, uint32_t slot)
{
	const struct xsf_group *g = j->s->groups ? &j->s->groups[slot] : NULL;
	uint32_t fabric;

	if (!g || !g->group || g->generation != j->s->sources[slot].generation)
		return;
	fabric = (g->group - 1u) / 2;
	if (j->s->bindings && fabric < xsf_bindings_nr_fabrics(j->s->bindings)) {
		xsf_json_str(&j->w, "fabric", xsf_bindings_name(j->s->bindings, fabric));
	} else {
		char number[4];

		snprintf(number, sizeof(number), "%u", fabric & 127);
		xsf_json_str(&j->w, "fabric", number);
	}
	xsf_json_str(&j->w, "role", xsf_role_names[g->group & 1 ? XSF_ROLE_EDGE : XSF_ROLE_CORE]);
}

void xsf_json_interface(struct xsf_json *j, uint32_t slot)
{
	const struct xsf_source *source = &j->s->sources[slot];
	uint32_t generation = __atomic_load_n(&source->generation, __ATOMIC_ACQUIRE);
	const struct xsf_interface *i = xsf_snapshot_interface(j->s, slot);
	struct xsf_writer *w = &j->w;
	const struct xsf_agent *a;
	struct mark mark;

	if (!xsf_snapshot_interface_shown(j->s, slot, &a))
		return;
	mark = element(j);
	xsf_json_address(w, "agent", a->key.addr);
	xsf_json_u64(w, "sub_agent", a->key.sub_agent);
	xsf_json_u64(w, "ifindex", source->key.index);
	xsf_json_name(w, "ifname", i ? i->name : NULL, i ? i->name_len : 0);
	role(j, slot);
	if (i && i->aggregate)
		xsf_json_u64(w, "aggregate", i->aggregate);
	if (i && i->has_counters)
		if_counters(j, i);
	sampled(w, source);
	if (i)
		sample_numbers(w, i);
	element_end(j, mark,
		    __atomic_load_n(&source->generation, __ATOMIC_ACQUIRE) == generation &&
			    xsf_snapshot_source_agent(j->s, slot, &a));
}

void xsf_json_source(struct xsf_json *j, uint32_t slot)
{
	const struct xsf_source *src = &j->s->sources[slot];
	uint32_t generation = __atomic_load_n(&src->generation, __ATOMIC_ACQUIRE);
	const struct xsf_interface *i = xsf_snapshot_interface(j->s, slot);
	struct xsf_writer *w = &j->w;
	const struct xsf_agent *a;
	struct mark mark;

	if (!xsf_snapshot_source_shown(j->s, slot, &a) || xsf_source_is_interface(src))
		return;
	mark = element(j);
	xsf_json_address(w, "agent", a->key.addr);
	xsf_json_u64(w, "sub_agent", a->key.sub_agent);
	xsf_json_u64(w, "class", src->key.class);
	xsf_json_u64(w, "index", src->key.index);
	sampled(w, src);
	if (i)
		sample_numbers(w, i);
	element_end(j, mark,
		    __atomic_load_n(&src->generation, __ATOMIC_ACQUIRE) == generation &&
			    xsf_snapshot_source_agent(j->s, slot, &a));
}

void xsf_json_source_other(struct xsf_json *j, uint32_t i)
{
	(void)i;
	if (j->s->nr_sources)
		sampled(&j->w, &j->s->sources[0]);
}

void xsf_json_table(struct xsf_json *j, uint32_t which)
{
	static const char *const names[XSF_TABLES] = {
		[XSF_TABLE_AGENTS] = "agents",
		[XSF_TABLE_SOURCES] = "sources",
	};
	struct xsf_fill fill;

	xsf_snapshot_fill(j->s, which, &fill);
	xsf_json_open_at(&j->w, names[which], '{');
	xsf_json_u64(&j->w, "size", fill.size);
	xsf_json_u64(&j->w, "used", fill.used);
	xsf_json_u64(&j->w, "stale", fill.stale);
	xsf_json_shut(&j->w, '}');
}

void xsf_json_attached(struct xsf_json *j, uint32_t i)
{
	const struct xsf_attached *a = &j->s->attached[i];
	struct xsf_writer *w = &j->w;

	xsf_json_open_at(w, NULL, '{');
	xsf_json_name(w, "ifname", (const uint8_t *)a->ifname,
		      strnlen(a->ifname, sizeof(a->ifname)));
	xsf_json_u64(w, "ifindex", a->ifindex);
	xsf_json_str(w, "mode", a->mode);
	xsf_json_str(w, "verdict", a->verdict);
	xsf_json_str(w, "how", a->how);
	xsf_json_u64(w, "prog_id", a->prog_id);
	xsf_json_bool(w, "frags", a->frags != 0);
	xsf_json_open_at(w, "ports", '[');
	for (int n = 0; n < XSF_MAX_PORTS && a->ports[n]; n++)
		xsf_json_u64(w, NULL, a->ports[n]);
	xsf_json_shut(w, ']');
	xsf_json_u64(w, "run_time_ns", a->run_time_ns);
	xsf_json_u64(w, "run_count", a->run_count);
	xsf_json_shut(w, '}');
}

void xsf_json_topology(struct xsf_json *j, uint32_t i)
{
	const struct xsf_topology *t = xsf_bindings_topology(j->s->bindings, i);
	struct xsf_topology_status st;
	struct xsf_writer *w = &j->w;

	if (!t)
		return;
	xsf_bindings_status(j->s->bindings, j->s, i, &st);
	xsf_json_open_at(w, NULL, '{');
	xsf_json_str(w, "fabric", xsf_bindings_name(j->s->bindings, i));
	xsf_json_open_at(w, "links", '{');
	xsf_json_u64(w, "total", t->nr_links);
	xsf_json_u64(w, "monitored", st.links[XSF_LINK_UP] + st.links[XSF_LINK_DOWN]);
	xsf_json_u64(w, "unmonitored", st.links[XSF_LINK_UNMONITORED]);
	xsf_json_u64(w, "up", st.links[XSF_LINK_UP]);
	xsf_json_u64(w, "down", st.links[XSF_LINK_DOWN]);
	xsf_json_shut(w, '}');
	xsf_json_open_at(w, "nodes", '{');
	xsf_json_u64(w, "total", t->nr_nodes);
	xsf_json_u64(w, "monitored", st.nodes[XSF_NODE_FLOWS] + st.nodes[XSF_NODE_NOFLOWS]);
	xsf_json_u64(w, "unmonitored", st.nodes[XSF_NODE_UNMONITORED]);
	xsf_json_u64(w, "flows", st.nodes[XSF_NODE_FLOWS]);
	xsf_json_u64(w, "noflows", st.nodes[XSF_NODE_NOFLOWS]);
	xsf_json_shut(w, '}');
	xsf_json_open_at(w, "ports", '{');
	xsf_json_u64(w, "total", t->nr_ports);
	xsf_json_u64(w, "unknown", st.ports_unknown);
	xsf_json_shut(w, '}');
	xsf_json_open_at(w, "sources", '{');
	xsf_json_u64(w, "edge", st.edge);
	xsf_json_u64(w, "core", st.core);
	xsf_json_shut(w, '}');
	xsf_json_shut(w, '}');
}
