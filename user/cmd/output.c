// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/output.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "model/binding.h"
#include "model/drop_rows.h"
#include "serve/json.h"
#include "serve/metrics.h"
#include "serve/text.h"

static void print_json(struct xsf_json *json)
{
	char buf[4096];
	ssize_t n;

	if (!json)
		return;
	while ((n = xsf_json_read(json, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, (size_t)n, stdout);
	xsf_json_close(json);
}

void xsf_print_json(const struct xsf_snapshot *snapshot)
{
	print_json(xsf_json_open(snapshot));
}

void xsf_print_csum_json(const struct xsf_csum *csum)
{
	print_json(xsf_json_open_csum(csum));
}

void xsf_print_metrics(const struct xsf_snapshot *snapshot)
{
	struct xsf_metrics_options options = { .max_interfaces = UINT32_MAX,
					       .max_places = UINT32_MAX };
	struct xsf_metrics *metrics;
	struct timespec t;
	char buf[4096];
	ssize_t n;

	clock_gettime(CLOCK_REALTIME, &t);
	options.unix_now_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	metrics = xsf_metrics_open(snapshot, &options);
	if (!metrics)
		return;
	while ((n = xsf_metrics_read(metrics, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, (size_t)n, stdout);
	xsf_metrics_close(metrics);
}

#define XSF_AGENT_TEXT (XSF_ADDRESS_TEXT + 16)

/* A heading that appears with its first line, and how many lines it may have. */
struct section {
	const char *heading;
	uint32_t rows;
	uint32_t hidden;
};

/* 1: print a line now; 0: the section is full. */
static int section_row(struct section *s)
{
	if (s->rows == XSF_SUMMARY_ROWS) {
		s->hidden++;
		return 0;
	}
	if (!s->rows++)
		printf("%s:\n", s->heading);
	return 1;
}

static void section_end(const struct section *s)
{
	if (s->hidden)
		printf("  ... and %" PRIu32 " more (--json lists all)\n", s->hidden);
}

static void named(struct section *s, const char *name, uint64_t count)
{
	if (count && section_row(s))
		printf("  %-24s %" PRIu64 "\n", name, count);
}

static void print_totals(const struct xsf_totals *t)
{
	struct section samples = { .heading = "Samples" };
	struct section faults = { .heading = "Malformed" };
	struct section frames = { .heading = "Other frames" };
	struct section events = { .heading = "Other counts, sums and limits met" };
	struct section outcomes = { .heading = "Datagrams", .rows = 1 };

	printf("Datagrams: %" PRIu64 "\n", (uint64_t)t->datagrams);
#define SUMMARY_OUTCOME(name, help) named(&outcomes, #name, t->datagram_##name);
	XSF_DATAGRAM_OUTCOMES(SUMMARY_OUTCOME)
#define SUMMARY_SAMPLE(name, help) named(&samples, #name, t->sample_##name);
	XSF_SAMPLE_TYPES(SUMMARY_SAMPLE)
#define SUMMARY_FAULT(name, help) named(&faults, #name, t->fault_##name);
	XSF_FAULTS(SUMMARY_FAULT)
#define SUMMARY_FRAME(name, help) named(&frames, #name, t->name);
	XSF_FRAME_OUTCOMES(SUMMARY_FRAME)
#define SUMMARY_EVENT(name, help) named(&events, #name, t->name);
	XSF_EVENTS(SUMMARY_EVENT)
	section_end(&events);
}

static void print_agents(const struct xsf_snapshot *s)
{
	uint32_t shown = 0, rows = 0;
	char address[INET6_ADDRSTRLEN], name[2 * XSF_NAME_LEN + 1];

	for (uint32_t i = 0; i < s->nr_agents; i++)
		shown += (uint32_t)xsf_snapshot_agent_shown(s, i);
	printf("Agents: %" PRIu32 "\n", shown);
	if (!shown)
		return;
	printf("  %-24s %-16s %10s %10s %8s %8s %6s %10s\n", "agent", "name", "datagrams",
	       "samples", "lost", "restarts", "dup", "seen s ago");
	for (uint32_t i = 0; i < s->nr_agents && rows < XSF_SUMMARY_ROWS; i++) {
		const struct xsf_agent *a = &s->agents[i];
		struct xsf_text text = { .buf = name, .max = sizeof(name) - 1 };
		struct xsf_agent_counts c;

		if (!xsf_snapshot_agent_shown(s, i))
			continue;
		xsf_agent_sum(a, &c);
		xsf_text_name(&text, a->name, XSF_MIN(a->name_len, XSF_NAME_LEN));
		name[text.len] = 0;
		printf("  %-24s %-16s %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %8" PRIu64
		       " %6" PRIu64 " %10.1f\n",
		       xsf_address_text(a->key.addr, address), name, (uint64_t)c.datagrams,
		       (uint64_t)(c.flow_samples + c.counter_samples + c.drop_samples),
		       (uint64_t)c.lost + xsf_agent_pending(a), (uint64_t)c.restarts,
		       (uint64_t)c.duplicate,
		       s->now_ns > a->last_seen_ns ? (double)(s->now_ns - a->last_seen_ns) / 1e9 :
						     0);
		rows++;
	}
	if (rows < shown)
		printf("  ... and %" PRIu32 " more (--json lists all)\n", shown - rows);
}

/* A name from a topology: whoever sent it. */
static void print_name(const char *name, const char *what)
{
	char shown[2 * XSF_NAME_LEN + 1];
	struct xsf_text text = { .buf = shown, .max = sizeof(shown) - 1 };

	xsf_text_quoted(&text, name);
	shown[text.len] = 0;
	printf("  %-24s %s\n", shown, what);
}

static void print_operations(const struct xsf_snapshot *s)
{
	uint64_t samples[256] = { 0 }, packets[256] = { 0 };
	struct section section = { .heading = "RoCE operations" };

	for (uint32_t row = 0; row < s->nr_groups * XSF_DIRECTIONS * XSF_CARRIERS; row++) {
		for (uint32_t op = 0; op < 256; op++) {
			samples[op] += s->ops[row].opcode[op].samples;
			packets[op] += s->ops[row].opcode[op].packets;
		}
	}
	for (uint32_t op = 0; op < 256; op++) {
		const char *transport, *ibta, *name;

		if (!samples[op] || !section_row(&section))
			continue;
		xsf_opcode_names((uint8_t)op, &transport, &ibta, &name);
		printf("  0x%02x %-3s %-32s %10" PRIu64 " samples %14" PRIu64 " packets\n", op,
		       transport, ibta, samples[op], packets[op]);
	}
	section_end(&section);
}

static void print_reason(void *section, const char *name, uint64_t count)
{
	named(section, name, count);
}

static void print_reasons(const struct xsf_snapshot *s, int sampled, const char *heading)
{
	struct section section = { .heading = heading };

	xsf_snapshot_reasons(s, sampled, print_reason, &section);
	section_end(&section);
}

static void print_topology(const struct xsf_snapshot *s, uint32_t fabric)
{
	const struct xsf_topology *t = xsf_bindings_topology(s->bindings, fabric);
	struct section links = { .heading = "  Links not up" };
	struct section nodes = { .heading = "  Nodes without flows" };
	struct xsf_topology_status st;

	if (!t)
		return;
	xsf_bindings_status(s->bindings, s, fabric, &st);
	printf("Topology of fabric %s: %" PRIu32 " links (%" PRIu32 " up, %" PRIu32
	       " down, %" PRIu32 " unmonitored), %" PRIu32 " nodes (%" PRIu32
	       " with flows, %" PRIu32 " without, %" PRIu32 " unmonitored), %" PRIu32 " of %" PRIu32
	       " ports unknown; %" PRIu32 " interfaces at the edge, %" PRIu32 " in the core\n",
	       xsf_bindings_name(s->bindings, fabric), t->nr_links, st.links[XSF_LINK_UP],
	       st.links[XSF_LINK_DOWN], st.links[XSF_LINK_UNMONITORED], t->nr_nodes,
	       st.nodes[XSF_NODE_FLOWS], st.nodes[XSF_NODE_NOFLOWS], st.nodes[XSF_NODE_UNMONITORED],
	       st.ports_unknown, t->nr_ports, st.edge, st.core);
	for (uint32_t l = 0; l < t->nr_links; l++) {
		enum xsf_link_state state = xsf_bindings_link(s->bindings, s, fabric, l);

		if (state != XSF_LINK_UP && section_row(&links))
			print_name(t->links[l].name,
				   state == XSF_LINK_DOWN ? "down" : "unmonitored");
	}
	section_end(&links);
	for (uint32_t n = 0; n < t->nr_nodes; n++) {
		enum xsf_node_state state = xsf_bindings_node(s->bindings, s, fabric, n);

		if (state != XSF_NODE_FLOWS && section_row(&nodes))
			print_name(t->nodes[n].name,
				   state == XSF_NODE_NOFLOWS ? "no flows" : "unmonitored");
	}
	section_end(&nodes);
}

/* What an exporter elsewhere knew. */
static void print_roles(const struct xsf_snapshot *s)
{
	uint32_t nr = 0;

	for (uint32_t slot = 1; slot < s->nr_sources; slot++)
		nr += s->groups[slot].group &&
		      s->groups[slot].generation == s->sources[slot].generation;
	if (nr)
		printf("Topology: not known here, but %" PRIu32
		       " interfaces have roles; see --topology, --state-dir\n",
		       nr);
}

/* An agent's address, and its sub-agent unless that is 0. */
static const char *agent_text(const struct xsf_agent_key *key, char text[XSF_AGENT_TEXT])
{
	xsf_address_text(key->addr, text);
	if (key->sub_agent)
		snprintf(text + strlen(text), 16, "/%" PRIu32, key->sub_agent);
	return text;
}

static void print_drop_agents(const struct xsf_snapshot *s)
{
	struct section section = { .heading = "Drop notifications by agent" };
	char text[XSF_AGENT_TEXT];

	for (uint32_t i = 1; i < s->nr_agents; i++) {
		struct xsf_drop_sums d;

		if (!xsf_snapshot_agent_shown(s, i))
			continue;
		xsf_drop_sums(&s->agents[i], &d);
		if (d.notified && section_row(&section))
			printf("  %-24s %" PRIu64 " notified, %" PRIu64 " suppressed, %" PRIu64
			       " lost: at least %" PRIu64 "\n",
			       agent_text(&s->agents[i].key, text), d.notified, d.suppressed,
			       d.lost, d.at_least);
	}
	section_end(&section);
}

static int more_notified(const void *a, const void *b)
{
	const struct xsf_drop_row *ra = a, *rb = b;

	return ra->notified < rb->notified ? 1 : -(ra->notified > rb->notified);
}

static void print_drop_place(const struct xsf_snapshot *s, const struct xsf_drop_row *row)
{
	const struct xsf_interface *n = xsf_drop_row_interface(s, row);
	char text[XSF_AGENT_TEXT], port[2 * XSF_NAME_LEN + 1], number[16];
	struct xsf_text name = { .buf = port, .max = sizeof(port) - 1 };

	if (!row->ifindex)
		xsf_text_str(&name, "no port told");
	else if (n && n->name_len)
		xsf_text_name(&name, n->name, XSF_MIN(n->name_len, XSF_NAME_LEN));
	else
		xsf_text_u64(&name, row->ifindex);
	port[name.len] = 0;
	printf("  %-24s %-16s %-24s %10" PRIu64 "   %.1f s ago\n", agent_text(&row->agent, text),
	       port, xsf_reason_name(row->reason, number, sizeof(number)), row->notified,
	       s->now_ns > row->last_seen_ns ? (double)(s->now_ns - row->last_seen_ns) / 1e9 : 0);
}

/* Those with most notifications first. */
static void print_drop_places(const struct xsf_snapshot *s)
{
	struct section section = { .heading = "Drop notifications by place and reason" };
	struct xsf_drop_table d;

	if (!xsf_drop_table_read(s, UINT32_MAX, &d) && d.places.nr) {
		qsort(d.places.at, d.places.nr, sizeof(*d.places.at), more_notified);
		for (uint32_t i = 0; i < d.places.nr; i++) {
			if (section_row(&section))
				print_drop_place(s, &d.places.at[i]);
		}
	}
	section_end(&section);
	xsf_drop_table_free(&d);
}

void xsf_print_summary(const struct xsf_snapshot *s)
{
	int known = 0;

	print_totals(&s->totals);
	print_agents(s);
	for (uint32_t f = 0; s->bindings && f < xsf_bindings_nr_fabrics(s->bindings); f++) {
		print_topology(s, f);
		known |= xsf_bindings_topology(s->bindings, f) != NULL;
	}
	if (s->bindings && !known)
		print_roles(s);
	print_operations(s);
	print_reasons(s, 0, "Drop notifications by reason");
	print_drop_agents(s);
	print_drop_places(s);
	print_reasons(s, 1, "Sampled discards by reason");
}
