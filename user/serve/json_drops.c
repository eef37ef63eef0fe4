// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/json_parts.h"

static uint64_t ms_ago(const struct xsf_snapshot *s, uint64_t ns)
{
	return s->now_ns > ns ? (s->now_ns - ns) / 1000000 : 0;
}

void xsf_json_drop_sums(struct xsf_json *j, uint32_t slot)
{
	struct xsf_writer *w = &j->w;
	struct xsf_drop_sums d;

	xsf_drop_sums(&j->s->agents[slot], &d);
	xsf_json_open_at(w, "drop_notifications", '{');
	xsf_json_u64(w, "notified", d.notified);
	xsf_json_u64(w, "suppressed", d.suppressed);
	xsf_json_u64(w, "lost", d.lost);
	xsf_json_u64(w, "pending", j->drops.pending[slot]);
	xsf_json_u64(w, "duplicate", d.duplicate);
	xsf_json_u64(w, "reordered", d.reordered);
	xsf_json_u64(w, "restarts", d.restarts);
	xsf_json_u64(w, "at_least", d.at_least);
	xsf_json_shut(w, '}');
}

static void row_begin(struct xsf_json *j, const struct xsf_drop_row *row)
{
	xsf_json_open_at(&j->w, NULL, '{');
	xsf_json_address(&j->w, "agent", row->agent.addr);
	xsf_json_u64(&j->w, "sub_agent", row->agent.sub_agent);
}

static void row_end(struct xsf_json *j, const struct xsf_drop_row *row)
{
	struct xsf_writer *w = &j->w;
	char number[16];

	xsf_json_str(w, "reason", xsf_reason_name(row->reason, number, sizeof(number)));
	xsf_json_u64(w, "notified", row->notified);
	xsf_json_milli(w, "first_seen_seconds_ago", ms_ago(j->s, row->first_seen_ns));
	xsf_json_milli(w, "last_seen_seconds_ago", ms_ago(j->s, row->last_seen_ns));
	xsf_json_shut(w, '}');
}

void xsf_json_drop_agent(struct xsf_json *j, uint32_t i)
{
	const struct xsf_drop_row *row = &j->drops.agents.at[i];

	row_begin(j, row);
	row_end(j, row);
}

void xsf_json_drop_place(struct xsf_json *j, uint32_t i)
{
	const struct xsf_drop_row *row = &j->drops.places.at[i];
	const struct xsf_interface *n = xsf_drop_row_interface(j->s, row);

	row_begin(j, row);
	xsf_json_u64(&j->w, "ifindex", row->ifindex);
	xsf_json_name(&j->w, "ifname", n ? n->name : NULL, n ? n->name_len : 0);
	row_end(j, row);
}

void xsf_json_drop_elsewhere(struct xsf_json *j, uint32_t i)
{
	(void)i;
	if (j->s->nr_places)
		xsf_json_u64(&j->w, "notified", j->drops.rest);
}
