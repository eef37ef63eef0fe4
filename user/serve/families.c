// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Families of the process, the programs, the totals and the agents. */
#include "serve/families.h"

/* ---- the exporter and the programs ---- */

static void one_up(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		   struct xsf_text *t)
{
	(void)i;
	xsf_line_plain(t, f, (uint64_t)m->up);
}

static void one_build(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		      struct xsf_text *t)
{
	(void)m;
	(void)i;
	xsf_line_begin(t, f);
	xsf_label(t, "version=", XSF_VERSION);
	xsf_label_u64(t, ",abi=", XSF_ABI);
	xsf_line_end(t, 1);
}

static void label_program(struct xsf_text *t, const struct xsf_attached *a)
{
	XSF_TEXT_LIT(t, "ifname=\"");
	xsf_text_quoted(t, a->ifname);
	xsf_label_u64(t, "\",ifindex=", a->ifindex);
}

static void attached_info(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
			  struct xsf_text *t)
{
	const struct xsf_attached *a = &m->s->attached[i];

	xsf_line_begin(t, f);
	label_program(t, a);
	xsf_label(t, ",mode=", a->mode);
	xsf_label(t, ",verdict=", a->verdict);
	xsf_label(t, ",how=", a->how);
	xsf_label(t, ",frags=", a->frags ? "yes" : "no");
	xsf_label_u64(t, ",prog_id=", a->prog_id);
	xsf_line_end(t, 1);
}

static void attached_run_time(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
			      struct xsf_text *t)
{
	uint64_t ns = m->s->attached[i].run_time_ns;
	char nano[10];

	if (!m->o.prog_stats)
		return;
	xsf_line_begin(t, f);
	label_program(t, &m->s->attached[i]);
	XSF_TEXT_LIT(t, "} ");
	xsf_text_u64(t, ns / 1000000000);
	ns %= 1000000000;
	for (int n = 9; n; n--, ns /= 10)
		nano[n] = (char)('0' + ns % 10);
	nano[0] = '.';
	xsf_text_add(t, nano, sizeof(nano));
	xsf_text_char(t, '\n');
}

static void attached_runs(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
			  struct xsf_text *t)
{
	if (!m->o.prog_stats)
		return;
	xsf_line_begin(t, f);
	label_program(t, &m->s->attached[i]);
	xsf_line_end(t, m->s->attached[i].run_count);
}

static void extra(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		  struct xsf_text *t)
{
	const struct xsf_metrics_extra *e = &m->o.extra[i];
	size_t len = strlen(e->name);

	(void)f;
	if (!i || strcmp(e->name, m->o.extra[i - 1].name) != 0)
		xsf_family_head(t, e->name, len, e->help, e->gauge ? XSF_GAUGE : XSF_COUNTER);
	xsf_text_add(t, e->name, len);
	if (e->labels) {
		xsf_text_char(t, '{');
		xsf_text_str(t, e->labels);
		xsf_text_char(t, '}');
	}
	xsf_text_char(t, ' ');
	xsf_text_u64(t, e->value);
	xsf_text_char(t, '\n');
}

const struct xsf_family xsf_families_self[] = {
	{ XSF_FAMILY_GAUGE("up"), .item = one_up, .help = "1: the counts could be read." },
	{ XSF_FAMILY_GAUGE("build_info"), .item = one_build,
	  .help = "Version of the program and of the layout of its maps." },
	{ XSF_FAMILY_GAUGE("program_info"), .domain = XSF_OVER_ATTACHED, .item = attached_info,
	  .help = "XDP programs that are attached now." },
	{ XSF_FAMILY_COUNTER("program_run_time_seconds"), .domain = XSF_OVER_ATTACHED,
	  .item = attached_run_time,
	  .help = "Time spent in the XDP program, as the kernel measures it." },
	{ XSF_FAMILY_COUNTER("program_runs"), .domain = XSF_OVER_ATTACHED, .item = attached_runs,
	  .help = "Frames that the XDP program was run for, as the kernel counts them." },
	{ .domain = XSF_OVER_EXTRA, .item = extra },
	{ .item = NULL },
};

/* ---- totals ---- */

static void list_value(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		       struct xsf_text *t)
{
	const struct xsf_total *total = xsf_total_at(f->arg, i);

	xsf_line_begin(t, f);
	xsf_label(t,
		  f->arg == XSF_LIST_FAULTS  ? "kind=" :
		  f->arg == XSF_LIST_SAMPLES ? "type=" :
					       "outcome=",
		  total->name);
	xsf_line_end(t, xsf_total_value(m->s, total));
	/* What is none of the outcomes is a datagram. */
	if (f->arg == XSF_LIST_FRAMES && !xsf_total_at(f->arg, i + 1)) {
		xsf_line_begin(t, f);
		xsf_label(t, "outcome=", "datagram");
		xsf_line_end(t, m->s->totals.datagrams);
	}
}

static void one_datagrams(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
			  struct xsf_text *t)
{
	(void)i;
	xsf_line_plain(t, f, m->s->totals.datagrams);
}

#define EVENT_ENUM(name, help) EVENT_##name,
enum { XSF_EVENTS(EVENT_ENUM) NR_EVENTS };

/* An event is a family of its own, called after it unless another name says more. */
#define EVENT_DEFAULT(name, help) XSF_PREFIX #name "_total",
static const char *const event_default[NR_EVENTS] = { XSF_EVENTS(EVENT_DEFAULT) };

static const char event_elsewhere[] = "";
static const char *const event_name[NR_EVENTS] = {
	[EVENT_fragments_first] = XSF_PREFIX "first_fragments_total",
	[EVENT_consumed] = XSF_PREFIX "consumed_datagrams_total",
	[EVENT_denied_dropped] = XSF_PREFIX "denied_dropped_datagrams_total",
	[EVENT_bytes] = XSF_PREFIX "datagram_bytes_total",
	[EVENT_bad_rate] = XSF_PREFIX "bad_rate_samples_total",
	[EVENT_output_discarded] = XSF_PREFIX "output_discarded_samples_total",
	[EVENT_output_multiple] = XSF_PREFIX "output_multiple_samples_total",
	[EVENT_output_undefined] = XSF_PREFIX "output_undefined_samples_total",
	[EVENT_drops_roce] = XSF_PREFIX "roce_drop_notifications_total",
	[EVENT_agents_full] = event_elsewhere,
	[EVENT_sources_full] = event_elsewhere,
	[EVENT_groups_full] = event_elsewhere,
	[EVENT_reasons_full] = event_elsewhere,
	[EVENT_agents_reclaimed] = event_elsewhere,
	[EVENT_sources_reclaimed] = event_elsewhere,
	[EVENT_places_full] = event_elsewhere,
	[EVENT_places_reclaimed] = event_elsewhere,
};

static void event(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		  struct xsf_text *t)
{
	const struct xsf_total *total = xsf_total_at(XSF_LIST_EVENTS, i);
	const char *name = event_name[i] ? event_name[i] : event_default[i];

	(void)f;
	if (name == event_elsewhere)
		return;
	xsf_family_head(t, name, strlen(name), total->help, XSF_COUNTER);
	xsf_text_str(t, name);
	xsf_text_char(t, ' ');
	xsf_text_u64(t, xsf_total_value(m->s, total));
	xsf_text_char(t, '\n');
}

static void table_line(const struct xsf_family *f, struct xsf_text *t, const char *table,
		       uint64_t value)
{
	xsf_line_begin(t, f);
	xsf_label(t, "table=", table);
	xsf_line_end(t, value);
}

static const char *const table_names[XSF_TABLES] = {
	[XSF_TABLE_AGENTS] = "agents",
	[XSF_TABLE_SOURCES] = "sources",
};

static void one_full(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		     struct xsf_text *t)
{
	const struct xsf_totals *totals = &m->s->totals;

	(void)i;
	table_line(f, t, "agents", totals->agents_full);
	table_line(f, t, "sources", totals->sources_full);
	table_line(f, t, "groups", totals->groups_full);
	table_line(f, t, "drop_reasons", totals->reasons_full);
	table_line(f, t, "drop_places", totals->places_full);
}

static void one_reclaimed(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
			  struct xsf_text *t)
{
	(void)i;
	table_line(f, t, "agents", m->s->totals.agents_reclaimed);
	table_line(f, t, "sources", m->s->totals.sources_reclaimed);
	table_line(f, t, "drop_places", m->s->totals.places_reclaimed);
}

/* arg: offset within struct xsf_fill. */
static void table_fill(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		       struct xsf_text *t)
{
	struct xsf_fill fill;

	xsf_snapshot_fill(m->s, i, &fill);
	table_line(f, t, table_names[i], xsf_field32(&fill, f->offset));
}

static void one_shown(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		      struct xsf_text *t)
{
	const struct xsf_shown_list *list =
		(const struct xsf_shown_list *)((const char *)m + f->offset);

	(void)i;
	xsf_line_plain(t, f, f->arg ? list->hidden : list->nr);
}

static void reason(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		   struct xsf_text *t)
{
	const char *name;
	char buf[16];
	uint64_t count = xsf_snapshot_reason(m->s, f->arg, i, &name, buf);

	if (!count)
		return;
	xsf_line_begin(t, f);
	xsf_label(t, "reason=", name);
	xsf_line_end(t, count);
}

#define LIST(n, which, text) \
	{ \
		XSF_FAMILY_COUNTER(n), .domain = XSF_OVER_LIST, .arg = XSF_LIST_##which, \
				       .item = list_value, .help = text \
	}
#define FILL(n, field, text) \
	{ \
		XSF_FAMILY_GAUGE(n), .domain = XSF_OVER_TABLES, \
				     .offset = offsetof(struct xsf_fill, field), \
				     .item = table_fill, .help = text \
	}
#define SHOWN(n, list, is_hidden, text) \
	{ \
		XSF_FAMILY_GAUGE(n), .offset = offsetof(struct xsf_metrics, list), \
				     .arg = is_hidden, .item = one_shown, .help = text \
	}

const struct xsf_family xsf_families_totals[] = {
	LIST("frames", FRAMES, "Frames that reached the program, by what became of them."),
	{ XSF_FAMILY_COUNTER("datagrams"), .item = one_datagrams,
	  .help = "Unfragmented UDP datagrams to a configured port, sound or not." },
	LIST("datagram_outcomes", DATAGRAMS, "Datagrams by what became of them."),
	LIST("malformed", FAULTS, "Faulty datagram headers and samples, by kind."),
	LIST("samples", SAMPLES, "Sound samples by type."),
	LIST("sampled_headers", HEADERS,
	     "Flow samples by how far the sampled packet could be read."),
	{ .domain = XSF_OVER_LIST, .arg = XSF_LIST_EVENTS, .item = event },
	{ XSF_FAMILY_COUNTER("table_full"), .item = one_full,
	  .help = "Datagrams (agents), samples (sources, groups), drops (drop_reasons) and their "
		  "places (drop_places) that found no place in a table." },
	{ XSF_FAMILY_COUNTER("table_reclaimed"), .item = one_reclaimed,
	  .help = "Places of silent members that were given to others." },
	FILL("table_entries", used, "Places of a table that are taken."),
	FILL("table_stale_entries", stale,
	     "Places taken by members silent for longer than --stale."),
	FILL("table_capacity", size, "Places of a table."),
	SHOWN("interfaces_shown", interfaces, 0, "Interfaces that have series here."),
	SHOWN("interfaces_hidden", interfaces, 1,
	      "Interfaces left out here; see --all-interfaces."),
	SHOWN("sources_hidden", sources, 1,
	      "Other data sources left out here; see --all-interfaces."),
	{ XSF_FAMILY_COUNTER("drop_notifications"), .domain = XSF_OVER_REASONS, .arg = 0,
	  .item = reason, .help = "Discarded-packet samples by reason." },
	{ XSF_FAMILY_COUNTER("sampled_discards"), .domain = XSF_OVER_REASONS, .arg = 1,
	  .item = reason, .help = "Flow samples whose output says discarded, by reason." },
	{ .item = NULL },
};

/* ---- agents ---- */

/* The agent at i of the document, NULL when its slot has changed hands since it began. */
static const struct xsf_agent *agent_at(const struct xsf_metrics *m, uint32_t i)
{
	const struct xsf_agent *agent = &m->s->agents[m->agents.at[i].slot];

	return __atomic_load_n(&agent->generation, __ATOMIC_ACQUIRE) == m->agents.at[i].generation ?
		       agent :
		       NULL;
}

void xsf_agent_check(const struct xsf_metrics *m, uint32_t i, struct xsf_text *t, size_t before)
{
	if (!agent_at(m, i))
		t->len = before;
}

const struct xsf_agent *xsf_agent_line(const struct xsf_metrics *m, const struct xsf_family *f,
				       uint32_t i, struct xsf_text *t)
{
	const struct xsf_agent *agent;

	if (i == m->agents.nr) {
		if (!m->s->nr_agents)
			return NULL;
		xsf_line_begin(t, f);
		XSF_TEXT_LIT(t, "agent=\"other\",sub_agent=\"\"");
		return &m->s->agents[0];
	}
	agent = agent_at(m, i);
	if (!agent)
		return NULL;
	xsf_line_begin(t, f);
	xsf_label_agent(t, &agent->key);
	return agent;
}

/* A count of struct xsf_agent_counts. */
static uint64_t agent_count(const struct xsf_agent *agent, uint32_t offset)
{
	return xsf_field64(&agent->own, offset) + xsf_field64(&agent->shared, offset);
}

static void agent_counter(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
			  struct xsf_text *t)
{
	size_t before = t->len;
	const struct xsf_agent *agent = xsf_agent_line(m, f, i, t);

	if (!agent)
		return;
	xsf_line_end(t, agent_count(agent, f->offset));
	if (i < m->agents.nr)
		xsf_agent_check(m, i, t, before);
}

static void agent_samples(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
			  struct xsf_text *t)
{
	static const struct {
		const char *type;
		uint32_t offset;
	} types[] = {
		{ "flow", offsetof(struct xsf_agent_counts, flow_samples) },
		{ "counter", offsetof(struct xsf_agent_counts, counter_samples) },
		{ "drop", offsetof(struct xsf_agent_counts, drop_samples) },
	};
	size_t before = t->len;

	for (size_t n = 0; n < sizeof(types) / sizeof(types[0]); n++) {
		const struct xsf_agent *agent = xsf_agent_line(m, f, i, t);

		if (!agent)
			break;
		xsf_label(t, ",type=", types[n].type);
		xsf_line_end(t, agent_count(agent, types[n].offset));
	}
	if (i < m->agents.nr)
		xsf_agent_check(m, i, t, before);
}

static void agent_info(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		       struct xsf_text *t)
{
	size_t before = t->len;
	const struct xsf_agent *agent;

	if (i == m->agents.nr)
		return;
	agent = xsf_agent_line(m, f, i, t);
	if (!agent)
		return;
	XSF_TEXT_LIT(t, ",name=\"");
	xsf_text_name(t, agent->name, agent->name_len);
	XSF_TEXT_LIT(t, "\",source=\"");
	xsf_text_address(t, agent->source);
	xsf_text_char(t, '"');
	xsf_line_end(t, 1);
	xsf_agent_check(m, i, t, before);
}

enum { AGENT_PENDING, AGENT_UPTIME, AGENT_LAST_SEEN };

static void agent_state(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
			struct xsf_text *t)
{
	size_t before = t->len;
	const struct xsf_agent *agent;

	if (i == m->agents.nr)
		return;
	agent = xsf_agent_line(m, f, i, t);
	if (!agent)
		return;
	switch (f->arg) {
	case AGENT_PENDING:
		xsf_line_end(t, xsf_agent_pending(agent));
		break;
	case AGENT_UPTIME:
		xsf_line_end_milli(t, agent->uptime_ms);
		break;
	case AGENT_LAST_SEEN:
		xsf_line_end_milli(t, xsf_unix_ms(m, agent->last_seen_ns));
		break;
	}
	xsf_agent_check(m, i, t, before);
}

#define AGENT(n, field, text) \
	{ \
		XSF_FAMILY_COUNTER(n), .domain = XSF_OVER_AGENTS, .item = agent_counter, \
				       .offset = offsetof(struct xsf_agent_counts, field), \
				       .help = text \
	}
#define AGENT_STATE .domain = XSF_OVER_AGENTS, .item = agent_state

const struct xsf_family xsf_families_agents[] = {
	{ XSF_FAMILY_GAUGE("agent_info"), .domain = XSF_OVER_AGENTS, .item = agent_info,
	  .help = "Host name that the agent sent, and the UDP source of its last datagram." },
	AGENT("agent_datagrams", datagrams, "Datagrams with a sound header."),
	AGENT("agent_bytes", bytes, "UDP payload bytes of these datagrams."),
	AGENT("agent_lost_datagrams", lost, "Sequence numbers that never came (settled)."),
	{ XSF_FAMILY_GAUGE("agent_pending_datagrams"), AGENT_STATE, .arg = AGENT_PENDING,
	  .help = "Sequence numbers missing among the last 32, neither lost nor late yet." },
	AGENT("agent_duplicate_datagrams", duplicate, "Datagrams with a number seen before."),
	AGENT("agent_reordered_datagrams", reordered, "Datagrams that came late."),
	AGENT("agent_restarts", restarts, "Times the agent began anew."),
	AGENT("agent_faulty_datagrams", faulty, "Datagrams with at least one faulty sample."),
	{ XSF_FAMILY_COUNTER("agent_samples"), .domain = XSF_OVER_AGENTS, .item = agent_samples,
	  .help = "Sound samples by type." },
	{ XSF_FAMILY_GAUGE("agent_last_seen_timestamp_seconds"), AGENT_STATE,
	  .arg = AGENT_LAST_SEEN, .help = "When the last datagram came, Unix time." },
	{ XSF_FAMILY_GAUGE("agent_uptime_seconds"), AGENT_STATE, .arg = AGENT_UPTIME,
	  .help = "Uptime the agent sent; wraps after 49.7 days." },
	{ .item = NULL },
};
