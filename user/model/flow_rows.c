// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/flow_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/binding.h"
#include "model/flow_state.h"
#include "model/prefix.h"

#define NONE UINT32_MAX
#define ASKED_MAX 64 /* addresses of a query */
#define EDGE_SILENT_NS 60000000000ull

/* Records of one text of keys, over all data sources that were asked for. */
struct group {
	uint32_t first; /* record whose keys are shown */
	uint32_t most;	/* record with the largest value */
	uint32_t nr;
	uint32_t next; /* in its bucket */
	double most_value;
	double value, weight;
	struct xsf_flow_range range;
	double shown;
};

struct xsf_flow_rows {
	struct group *groups;
	uint32_t *buckets;
	struct group **order;
	struct xsf_flow_row *rows;
};

struct asked {
	enum { ASK_ALL, ASK_TOPOLOGY, ASK_ROLE, ASK_ADDRESSES } what;
	uint32_t role;
	uint32_t nr;
	uint8_t addresses[ASKED_MAX][16];
};

void xsf_flow_rows_free(struct xsf_flow *f)
{
	if (!f->rows)
		return;
	free(f->rows->groups);
	free(f->rows->buckets);
	free(f->rows->order);
	free(f->rows->rows);
	free(f->rows);
	f->rows = NULL;
}

/* ---- who is asked ---- */

static int parse_asked(const char *text, struct asked *a, struct xsf_flow_error *error)
{
	const char *at = text;

	memset(a, 0, sizeof(*a));
	strcpy(error->what, "agents");
	if (!strcmp(text, "ALL"))
		return 0;
	a->what = !strcmp(text, "TOPOLOGY") ? ASK_TOPOLOGY : ASK_ROLE;
	a->role = !strcmp(text, "CORE") ? XSF_ROLE_CORE : XSF_ROLE_EDGE;
	if (a->what == ASK_TOPOLOGY || a->role == XSF_ROLE_CORE || !strcmp(text, "EDGE"))
		return 0;
	a->what = ASK_ADDRESSES;
	for (;;) {
		size_t len = strcspn(at, ";");

		if (a->nr == ASKED_MAX)
			return xsf_flow_refuse(error, (size_t)(at - text), "more than %d addresses",
					       ASKED_MAX);
		if (xsf_address_parse(at, len, a->addresses[a->nr++]))
			return xsf_flow_refuse(error, (size_t)(at - text),
					       "neither ALL, TOPOLOGY, CORE, EDGE nor an address");
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

static int is_asked(const struct asked *a, const struct xsf_flow_record *r)
{
	switch (a->what) {
	case ASK_ALL:
		return 1;
	case ASK_TOPOLOGY:
		return r->at.in_topology;
	case ASK_ROLE:
		return r->at.role == a->role;
	case ASK_ADDRESSES:
		break;
	}
	for (uint32_t i = 0; i < a->nr; i++) {
		if (!memcmp(a->addresses[i], r->at.agent.addr, 16))
			return 1;
	}
	return 0;
}

/* ---- adding up ---- */

/* What of a record counts: at the edge and in the core what comes in there, so that a packet counts
 * once; where nothing came in at the edge for a minute, what goes out. 0: nothing of it does. */
static int part(const struct xsf_flow *f, const struct xsf_flow_record *r,
		enum xsf_flow_aggregation how, uint64_t now_ns, struct xsf_flow_sums *sums)
{
	double decay = xsf_flow_decay(f, r, now_ns);
	int in_only = how == XSF_FLOW_EDGE || how == XSF_FLOW_CORE, direction = XSF_INGRESS;

	if (how == XSF_FLOW_EDGE && r->at.role != XSF_ROLE_EDGE)
		return 0;
	if (how == XSF_FLOW_CORE && r->at.role != XSF_ROLE_CORE)
		return 0;
	if (how == XSF_FLOW_EDGE && !f->dropped &&
	    (!f->edge_ingress_ns || now_ns - f->edge_ingress_ns > EDGE_SILENT_NS))
		direction = XSF_EGRESS;
	*sums = r->sums[direction];
	for (int d = 0; d < XSF_DIRECTIONS && !in_only; d++) {
		if (d == direction)
			continue;
		sums->value += r->sums[d].value;
		sums->weight += r->sums[d].weight;
	}
	sums->value *= decay;
	sums->weight *= decay;
	return sums->weight > 0;
}

static struct xsf_flow_range range(const struct xsf_flow *f, const struct xsf_flow_record *r,
				   uint64_t now_ns)
{
	uint64_t window = (uint64_t)((double)now_ns / f->t_ns);
	struct xsf_flow_range out = { 0 };

	if (window > r->window + 1)
		return out;
	out = r->range[0];
	if (window <= r->window && r->range[1].any) {
		out.min = fmin(out.min, r->range[1].min);
		out.max = fmax(out.max, r->range[1].max);
	}
	return out;
}

static double shown(const struct xsf_flow *f, const struct xsf_flow_sums *sums,
		    const struct xsf_flow_range *extremes)
{
	switch (f->value) {
	case XSF_VALUE_AVERAGE:
		return sums->value / sums->weight;
	case XSF_VALUE_MIN:
		return extremes->any ? extremes->min : 0;
	case XSF_VALUE_MAX:
		return extremes->any ? extremes->max : 0;
	default:
		return sums->value;
	}
}

static struct group *find_group(const struct xsf_flow *f, struct xsf_flow_rows *rows, uint32_t mask,
				uint32_t *nr, uint32_t record)
{
	const struct xsf_flow_record *r = &f->records[record];
	uint64_t h = 1469598103934665603ull ^ f->seed;
	uint32_t *bucket, g;

	for (uint32_t i = 0; i < r->keys_len; i++)
		h = (h ^ (uint8_t)r->keys[i]) * 1099511628211ull;
	bucket = &rows->buckets[(h ^ h >> 32) & mask];
	for (g = *bucket; g != NONE; g = rows->groups[g].next) {
		const struct xsf_flow_record *first = &f->records[rows->groups[g].first];

		if (first->keys_len == r->keys_len && !memcmp(first->keys, r->keys, r->keys_len))
			return &rows->groups[g];
	}
	g = (*nr)++;
	rows->groups[g] = (struct group){ .first = record, .most = record, .next = *bucket };
	*bucket = g;
	return &rows->groups[g];
}

static void add_record(const struct xsf_flow *f, struct group *g, uint32_t record,
		       enum xsf_flow_aggregation how, const struct xsf_flow_sums *sums,
		       uint64_t now_ns)
{
	struct xsf_flow_range extremes = range(f, &f->records[record], now_ns);
	double value = shown(f, sums, &extremes);

	if (!g->nr++ || value > g->most_value) {
		g->most = record;
		g->most_value = value;
	}
	if (how == XSF_FLOW_MAX) {
		g->shown = g->most_value;
		return;
	}
	g->value += sums->value;
	g->weight += sums->weight;
	if (extremes.any && g->range.any) {
		g->range.min = fmin(g->range.min, extremes.min);
		g->range.max = fmax(g->range.max, extremes.max);
	} else if (extremes.any) {
		g->range = extremes;
	}
	g->shown = shown(f, &(struct xsf_flow_sums){ g->value, g->weight }, &g->range);
}

/* ---- order ---- */

static int by_value(const void *a, const void *b, void *arg)
{
	const struct group *x = *(const struct group *const *)a,
			   *y = *(const struct group *const *)b;
	const struct xsf_flow *f = arg;
	const struct xsf_flow_record *r = &f->records[x->first], *s = &f->records[y->first];
	int order;

	if (x->shown != y->shown)
		return x->shown < y->shown ? 1 : -1;
	order = memcmp(r->keys, s->keys, XSF_MIN(r->keys_len, s->keys_len));
	return order ? order : (r->keys_len > s->keys_len) - (r->keys_len < s->keys_len);
}

static void fill(const struct xsf_flow *f, const struct group *g, struct xsf_flow_row *row)
{
	const struct xsf_flow_record *most = &f->records[g->most];
	const char *key = f->records[g->first].keys;

	memset(row, 0, sizeof(*row));
	for (uint32_t k = 0; k < f->nr_keys; k++) {
		row->keys[k] = key;
		key += strlen(key) + 1;
	}
	row->value = g->shown;
	row->nr_sources = g->nr;
	row->agent = most->at.agent;
	row->class = most->at.class;
	row->index = most->at.index;
}

int xsf_flow_rows(struct xsf_flow *f, const struct xsf_flow_query *query, uint64_t now_ns,
		  const struct xsf_flow_row **out, struct xsf_flow_error *error)
{
	uint32_t size = 16, nr = 0, kept = 0;
	struct xsf_flow_rows *rows;
	struct asked asked;
	int err;

	*out = NULL;
	memset(error, 0, sizeof(*error));
	err = parse_asked(query->agents, &asked, error);
	if (err)
		return err;
	xsf_flow_rows_free(f);
	while (size < 2 * f->nr_live)
		size *= 2;
	f->rows = rows = calloc(1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	rows->groups = malloc((f->nr_live + 1) * sizeof(*rows->groups));
	rows->order = malloc((f->nr_live + 1) * sizeof(struct group *));
	rows->buckets = malloc(size * sizeof(*rows->buckets));
	rows->rows = calloc(XSF_MIN(query->max_flows, f->nr_live) + 1, sizeof(*rows->rows));
	if (!rows->groups || !rows->order || !rows->buckets || !rows->rows)
		return -ENOMEM;
	memset(rows->buckets, 0xff, size * sizeof(*rows->buckets));
	for (uint32_t i = 0; i < f->nr_records; i++) {
		const struct xsf_flow_record *r = &f->records[i];
		struct xsf_flow_sums sums;

		if (!r->keys || xsf_flow_silent(f, r, now_ns) || !is_asked(&asked, r) ||
		    !part(f, r, query->aggregation, now_ns, &sums))
			continue;
		add_record(f, find_group(f, rows, size - 1, &nr, i), i, query->aggregation, &sums,
			   now_ns);
	}
	for (uint32_t g = 0; g < nr; g++) {
		if (rows->groups[g].shown >= query->min_value)
			rows->order[kept++] = &rows->groups[g];
	}
	qsort_r(rows->order, kept, sizeof(struct group *), by_value, f);
	kept = XSF_MIN(kept, query->max_flows);
	for (uint32_t g = 0; g < kept; g++)
		fill(f, rows->order[g], &rows->rows[g]);
	*out = rows->rows;
	return (int)kept;
}
