// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Families of dropped packets by agent and by place. Those by reason alone are among the totals. */
#include "serve/families.h"

/* ---- an agent as a whole ---- */

/* A u64 of struct xsf_drop_sums; nothing of agents that never notified a drop. */
static void sum(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		struct xsf_text *t)
{
	size_t before = t->len;
	const struct xsf_agent *agent;
	struct xsf_drop_sums sums;

	if (i == m->agents.nr)
		return;
	agent = xsf_agent_line(m, f, i, t);
	if (!agent)
		return;
	xsf_drop_sums(agent, &sums);
	xsf_line_end(t, xsf_field64(&sums, f->offset));
	if (!sums.notified)
		t->len = before;
	xsf_agent_check(m, i, t, before);
}

static void pending(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		    struct xsf_text *t)
{
	size_t before = t->len;
	const struct xsf_agent *agent;
	struct xsf_drop_sums sums;

	if (i == m->agents.nr)
		return;
	agent = xsf_agent_line(m, f, i, t);
	if (!agent)
		return;
	xsf_drop_sums(agent, &sums);
	xsf_line_end(t, m->drops.pending[m->agents.at[i].slot]);
	if (!sums.notified)
		t->len = before;
	xsf_agent_check(m, i, t, before);
}

/* ---- by reason ---- */

static void row(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		struct xsf_text *t)
{
	int places = f->domain == XSF_OVER_DROP_PLACES;
	const struct xsf_drop_row *r = places ? &m->drops.places.at[i] : &m->drops.agents.at[i];
	char number[16];

	xsf_line_begin(t, f);
	xsf_label_agent(t, &r->agent);
	if (places) {
		const struct xsf_interface *n = xsf_drop_row_interface(m->s, r);

		xsf_label_u64(t, ",ifindex=", r->ifindex);
		XSF_TEXT_LIT(t, ",ifname=\"");
		if (n)
			xsf_text_name(t, n->name, n->name_len);
		xsf_text_char(t, '"');
	}
	xsf_label(t, ",reason=", xsf_reason_name(r->reason, number, sizeof(number)));
	xsf_line_end(t, r->notified);
}

static void rest(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		 struct xsf_text *t)
{
	(void)i;
	if (m->s->nr_places)
		xsf_line_plain(t, f, m->drops.rest);
}

/* A u32 of struct xsf_drop_rows of places, then that of agents. */
static void shown(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		  struct xsf_text *t)
{
	(void)i;
	if (!m->s->nr_places)
		return;
	xsf_line_begin(t, f);
	xsf_label(t, "by=", "place");
	xsf_line_end(t, xsf_field32(&m->drops.places, f->offset));
	xsf_line_begin(t, f);
	xsf_label(t, "by=", "agent");
	xsf_line_end(t, xsf_field32(&m->drops.agents, f->offset));
}

#define SUM(n, field, text) \
	{ \
		XSF_FAMILY_COUNTER("agent_" n), .domain = XSF_OVER_AGENTS, .item = sum, \
						.offset = offsetof(struct xsf_drop_sums, field), \
						.help = text \
	}

const struct xsf_family xsf_families_drops[] = {
	{ XSF_FAMILY_COUNTER("agent_drop_notifications"), .domain = XSF_OVER_DROP_AGENTS,
	  .item = row, .help = "Discarded-packet samples of an agent by reason." },
	SUM("suppressed_drop_notifications", suppressed,
	    "Drop notifications that the agent says it did not send, since its first one."),
	SUM("lost_drop_notifications", lost,
	    "Numbers of drop notifications that never came (settled)."),
	SUM("duplicate_drop_notifications", duplicate,
	    "Drop notifications with a number seen before."),
	SUM("reordered_drop_notifications", reordered, "Drop notifications that came late."),
	{ XSF_FAMILY_GAUGE("agent_pending_drop_notifications"), .domain = XSF_OVER_AGENTS,
	  .item = pending,
	  .help = "Numbers of drop notifications missing, neither lost nor late yet." },
	SUM("dropped_packets_at_least", at_least,
	    "Packets dropped at least: notified, suppressed and lost notifications together."),
	{ XSF_FAMILY_COUNTER("place_drop_notifications"), .domain = XSF_OVER_DROP_PLACES,
	  .item = row,
	  .help = "Discarded-packet samples by the interface the packet came in by, and reason." },
	{ XSF_FAMILY_COUNTER("place_drop_notifications_elsewhere"), .item = rest,
	  .help = "Counts of places and of agents' reasons that have no row or lost it: one "
		  "notification is up to two of them." },
	{ XSF_FAMILY_GAUGE("drop_rows_shown"), .offset = offsetof(struct xsf_drop_rows, nr),
	  .item = shown, .help = "Places and agents' reasons that have series here." },
	{ XSF_FAMILY_GAUGE("drop_rows_hidden"), .offset = offsetof(struct xsf_drop_rows, hidden),
	  .item = shown, .help = "Places and agents' reasons left out here; see --max-places." },
	{ .item = NULL },
};
