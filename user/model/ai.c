// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/ai.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xsf/net.h>

/* Rows are shown from these values on (DESIGN 5.3). */
#define LEAST_OPERATIONS 1.0
#define LEAST_DROPS 0.0001

/* What is silent for longer is not among the interfaces whose quartiles are taken (DESIGN 5.1). */
#define JUMP_MS 400 /* of the clock, less than from one point to the next */
#define POPULATION_NS 60000000000ull

/* Groups of the first fabric (abi.h, struct xsf_group). */
enum { EDGE = 1, CORE = 2 };

/* A counter, and its smoothed rate. */
struct flow {
	uint64_t last;
	double rate;
};

/* Values of a window of one to two times XSF_RATES_T_NS: those that came in it and in the one before. */
struct seen {
	uint32_t now;
	uint32_t before;
};

/* What one direction at the edge adds up to. */
struct edge {
	struct flow op[256];
	struct flow reth;
	struct flow length;
	struct flow ack[32];
	struct seen codes; /* of ACKs, a bit each */
	struct seen any_reth;
};

struct high_reason {
	uint32_t code;
	struct flow flow;
};

struct xsf_ai {
	struct xsf_ai_options o;
	uint64_t last_ns; /* 0: no update yet */
	uint64_t trend_ns;
	uint64_t window_ns;    /* when the current window began */
	uint64_t ingress_ns;   /* last ingress sample at the edge */
	uint64_t ingress_seen; /* samples then */
	struct edge edge[2];   /* XSF_INGRESS, XSF_EGRESS */
	struct flow ecn;
	struct flow cnp;
	struct flow trim;
	struct flow reason[XSF_REASONS];
	struct high_reason high[XSF_REASONS_HIGH];
	uint32_t nr_high;
	char op_name[256][XSF_AI_NAME]; /* "" where reserved */
	uint8_t op_first[256];		/* the first opcode of that name */
	struct xsf_ai_point now;
	uint32_t next; /* oldest of the trend */
	struct xsf_ai_point trend[XSF_AI_POINTS];
	double values[2][XSF_SOURCES]; /* bit/s of each interface of a role, for its quartiles */
};

#define KEY(key) #key,
const char *const xsf_ai_keys[XSF_AI_NR_SERIES] = { XSF_AI_SERIES(KEY) };

static void name_operations(struct xsf_ai *ai)
{
	for (uint32_t op = 0; op < 256; op++) {
		const char *transport, *ibta, *collapsed;
		uint32_t first = 0;

		ai->op_first[op] = (uint8_t)op;
		if (!xsf_opcode_names((uint8_t)op, &transport, &ibta, &collapsed))
			continue;
		snprintf(ai->op_name[op], XSF_AI_NAME, "%s:%s", transport,
			 ai->o.ibta_names ? ibta : collapsed);
		while (strcmp(ai->op_name[first], ai->op_name[op]) != 0)
			first++;
		ai->op_first[op] = (uint8_t)first;
	}
}

struct xsf_ai *xsf_ai_new(const struct xsf_ai_options *options, uint64_t unix_ms)
{
	struct xsf_ai *ai = calloc(1, sizeof(*ai));

	if (!ai)
		return NULL;
	if (options)
		ai->o = *options;
	if (!ai->o.trimmed_dscps)
		ai->o.trimmed_dscps = 1ull << NET_DSCP_TRIMMED;
	name_operations(ai);
	for (uint32_t i = 0; i < XSF_AI_POINTS; i++)
		ai->trend[i].unix_ms = unix_ms - 1000ull * (XSF_AI_POINTS - i);
	ai->now.unix_ms = unix_ms;
	return ai;
}

void xsf_ai_free(struct xsf_ai *ai)
{
	free(ai);
}

void xsf_ai_reset(struct xsf_ai *ai)
{
	ai->last_ns = 0;
	ai->nr_high = 0;
}

/* ---- counters ---- */

/* The first snapshot only shows where the counter stands. Returns what it grew by. */
static uint64_t follow(const struct xsf_ai *ai, struct flow *f, uint64_t now,
		       const struct xsf_smooth *step)
{
	/* Sums over live tables and CPUs may be read a little out of order. */
	uint64_t delta = ai->last_ns && now > f->last ? now - f->last : 0;

	f->rate = xsf_smooth(step, f->rate, (double)delta);
	if (now > f->last || !ai->last_ns)
		f->last = now;
	return delta;
}

static void follow_edge(struct xsf_ai *ai, const struct xsf_snapshot *s, uint32_t direction,
			const struct xsf_smooth *step)
{
	uint32_t row = EDGE * XSF_DIRECTIONS + direction;
	const struct xsf_op_row *v2 = &s->ops[row * XSF_CARRIERS + XSF_ROCE_V2];
	const struct xsf_op_row *tunnel = &s->ops[row * XSF_CARRIERS + XSF_ROCE_TUNNEL];
	const struct xsf_rdma_row *rdma = &s->rdma[row];
	struct edge *e = &ai->edge[direction];
	uint64_t reth = 0;

	for (uint32_t op = 0; op < 256; op++)
		follow(ai, &e->op[op], v2->opcode[op].packets + tunnel->opcode[op].packets, step);
	for (uint32_t n = 0; n < XSF_RDMA_BUCKETS; n++)
		reth += rdma->length[n].packets;
	if (follow(ai, &e->reth, reth, step))
		e->any_reth.now = 1;
	follow(ai, &e->length, rdma->length_sum_scaled, step);
	for (uint32_t code = 0; code < 32; code++) {
		if (follow(ai, &e->ack[code], rdma->ack[code].packets, step))
			e->codes.now |= 1u << code;
	}
}

/* Over all interfaces of the fabric. */
static void follow_marks(struct xsf_ai *ai, const struct xsf_snapshot *s,
			 const struct xsf_smooth *step)
{
	uint64_t ecn = 0, cnp = 0, trim = 0;

	for (uint32_t row = EDGE * XSF_DIRECTIONS; row < (CORE + 1) * XSF_DIRECTIONS; row++) {
		for (uint32_t dscp = 0; dscp < 64; dscp++) {
			if (ai->o.trimmed_dscps >> dscp & 1)
				trim += xsf_tos_dscp(s->tos[row].all, dscp).packets;
		}
		if (row % XSF_DIRECTIONS != XSF_INGRESS)
			continue;
		ecn += xsf_tos_ecn(s->tos[row].roce, NET_ECN_CE).packets;
		cnp += s->rdma[row].cnp[0].packets;
		for (uint32_t flags = 1; flags < 4 && ai->o.any_cnp; flags++)
			cnp += s->rdma[row].cnp[flags].packets;
	}
	follow(ai, &ai->ecn, ecn, step);
	follow(ai, &ai->cnp, cnp, step);
	follow(ai, &ai->trim, trim, step);
}

static void follow_reasons(struct xsf_ai *ai, const struct xsf_snapshot *s,
			   const struct xsf_smooth *step)
{
	const char *name;
	char buf[16];

	for (uint32_t code = 0; code < XSF_REASONS; code++)
		follow(ai, &ai->reason[code], xsf_snapshot_reason(s, 0, code, &name, buf), step);
	for (uint32_t i = 0; i < XSF_MIN(s->nr_high, XSF_REASONS_HIGH); i++) {
		const struct xsf_reason_high *high = &s->high[i];
		struct high_reason *h = ai->high, *end = ai->high + ai->nr_high;

		if (high->key.sampled)
			continue;
		while (h < end && h->code != high->key.code)
			h++;
		if (h == end) {
			if (ai->nr_high == XSF_REASONS_HIGH)
				continue;
			ai->nr_high++;
			*h = (struct high_reason){ .code = high->key.code };
		}
		follow(ai, &h->flow, high->count, step);
	}
}

static void turn_window(struct seen *seen)
{
	seen->before = seen->now;
	seen->now = 0;
}

static void turn_windows(struct xsf_ai *ai, uint64_t now_ns)
{
	if (now_ns - ai->window_ns < XSF_RATES_T_NS)
		return;
	for (int d = 0; d < 2; d++) {
		turn_window(&ai->edge[d].codes);
		turn_window(&ai->edge[d].any_reth);
	}
	ai->window_ns = now_ns;
}

/* ---- values ---- */

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *sorted, uint32_t nr, double p)
{
	double at = (nr - 1) * p;
	uint32_t below = (uint32_t)at;

	if (below + 1 >= nr)
		return sorted[nr - 1];
	return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

void xsf_quartiles(double *values, uint32_t nr, struct xsf_quartiles *out)
{
	memset(out, 0, sizeof(*out));
	if (!nr)
		return;
	qsort(values, nr, sizeof(*values), compare_double);
	out->min = values[0];
	out->q1 = quantile(values, nr, 0.25);
	out->med = quantile(values, nr, 0.5);
	out->q3 = quantile(values, nr, 0.75);
	out->max = values[nr - 1];
}

static void put_quartiles(double *values, uint32_t nr, double *min)
{
	struct xsf_quartiles q;

	/* min, q1, med, q3, max follow one another in XSF_AI_SERIES. */
	xsf_quartiles(values, nr, &q);
	min[0] = q.min;
	min[1] = q.q1;
	min[2] = q.med;
	min[3] = q.q3;
	min[4] = q.max;
}

/* What interfaces tell: bytes, and their errors and discards. */
static void sum_sources(struct xsf_ai *ai, const struct xsf_snapshot *s,
			const struct xsf_bindings *b, const struct xsf_rates *r)
{
	double *value = ai->now.value, rate, bps = 0;
	uint32_t nr[2] = { 0, 0 };
	uint64_t ingress = 0;

	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_sources, XSF_SOURCES); slot++) {
		const struct xsf_place *p = xsf_bindings_source(b, s, slot);
		const struct xsf_source *source = &s->sources[slot];
		const struct xsf_source_rates *m;
		uint32_t core = p->role == XSF_ROLE_CORE;

		if (p->role == XSF_ROLE_NONE || p->fabric)
			continue;
		m = xsf_rates_source(r, s, slot);
		if (xsf_rates_counter(m, s, XSF_IF_in_discards, &rate))
			value[XSF_AI_discards_in] += rate;
		if (xsf_rates_counter(m, s, XSF_IF_in_errors, &rate))
			value[XSF_AI_errors_in] += rate;
		if (xsf_rates_counter(m, s, XSF_IF_out_discards, &rate))
			value[XSF_AI_discards_out] += rate;
		if (xsf_rates_counter(m, s, XSF_IF_out_errors, &rate))
			value[XSF_AI_errors_out] += rate;
		if (!core) {
			bps += 8 * m->ingress;
			ingress += source->own[XSF_INGRESS].samples +
				   source->shared[XSF_INGRESS].samples;
		}
		if (s->now_ns < source->last_seen_ns + POPULATION_NS)
			ai->values[core][nr[core]++] = 8 * m->ingress;
	}
	value[XSF_AI_bps] = bps;
	put_quartiles(ai->values[0], nr[0], &value[XSF_AI_edge_min_bps]);
	put_quartiles(ai->values[1], nr[1], &value[XSF_AI_core_min_bps]);
	if (ingress != ai->ingress_seen || !ai->last_ns)
		ai->ingress_ns = s->now_ns;
	ai->ingress_seen = ingress;
}

static double credits_of(const struct xsf_ai *ai, uint32_t code)
{
	return ai->o.raw_credits ? code : xsf_credits[code];
}

static void put_credits(const struct xsf_ai *ai, const struct edge *e, double *value)
{
	uint32_t codes = e->codes.now | e->codes.before, nr = ai->o.raw_credits ? 32 : 31;
	double sum = 0, packets = 0;
	int any = 0;

	for (uint32_t code = 0; code < nr; code++) {
		sum += e->ack[code].rate * credits_of(ai, code);
		packets += e->ack[code].rate;
		if (!(codes >> code & 1))
			continue;
		/* Credits grow with their codes. */
		value[XSF_AI_aeth_credits_max] = credits_of(ai, code);
		if (!any)
			value[XSF_AI_aeth_credits_min] = credits_of(ai, code);
		any = 1;
	}
	if (any && packets > 0)
		value[XSF_AI_aeth_credits_avg] = sum / packets;
}

/* Inserts a row where its value belongs, unless five are larger. */
static void put_top(struct xsf_ai_row *top, uint32_t *nr, const char *name, double v, double least)
{
	uint32_t at = *nr;

	if (v < least || (at == XSF_AI_TOP && v <= top[at - 1].value))
		return;
	if (at == XSF_AI_TOP)
		at--;
	else
		(*nr)++;
	for (; at && top[at - 1].value < v; at--)
		top[at] = top[at - 1];
	top[at].value = v;
	snprintf(top[at].name, sizeof(top[at].name), "%s", name);
}

static void put_operations(struct xsf_ai *ai, const struct edge *e)
{
	double sum[256] = { 0 };

	for (uint32_t op = 0; op < 256; op++)
		sum[ai->op_first[op]] += e->op[op].rate;
	for (uint32_t op = 0; op < 256; op++) {
		if (ai->op_name[op][0])
			put_top(ai->now.operation, &ai->now.nr_operations, ai->op_name[op], sum[op],
				LEAST_OPERATIONS);
	}
}

static void put_drops(struct xsf_ai *ai)
{
	char buf[16];

	for (uint32_t code = 0; code < XSF_REASONS; code++) {
		if (ai->reason[code].rate >= LEAST_DROPS)
			put_top(ai->now.drop, &ai->now.nr_drops,
				xsf_reason_name(code, buf, sizeof(buf)), ai->reason[code].rate,
				LEAST_DROPS);
	}
	for (uint32_t i = 0; i < ai->nr_high; i++)
		put_top(ai->now.drop, &ai->now.nr_drops,
			xsf_reason_name(ai->high[i].code, buf, sizeof(buf)), ai->high[i].flow.rate,
			LEAST_DROPS);
}

/* Is any agent in the first fabric? Notifications are not counted by agent, so all are its drops. */
static int any_agent(const struct xsf_snapshot *s, const struct xsf_bindings *b)
{
	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_agents, XSF_AGENTS); slot++) {
		if (xsf_bindings_agent(b, s, slot)->fabric == 0)
			return 1;
	}
	/* With --no-topology=all-edge no agent is bound. */
	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_sources, XSF_SOURCES); slot++) {
		const struct xsf_place *p = xsf_bindings_source(b, s, slot);

		if (p->role != XSF_ROLE_NONE && !p->fabric)
			return 1;
	}
	return 0;
}

/* When the system's time is set, the points before are told by the new one: else those who ask for what is
 * later than the last point they have would get old ones, or none for hours. */
static void follow_clock(struct xsf_ai *ai, uint64_t now_ns)
{
	const struct xsf_ai_point *last = xsf_ai_trend(ai, XSF_AI_POINTS - 1);
	uint64_t since_ms = ai->trend_ns ? (now_ns - ai->trend_ns) / 1000000 : 0;
	int64_t jump = (int64_t)(ai->now.unix_ms - last->unix_ms - since_ms);

	if (!ai->trend_ns || (jump > -JUMP_MS && jump < JUMP_MS))
		return;
	for (uint32_t i = 0; i < XSF_AI_POINTS; i++)
		ai->trend[i].unix_ms += (uint64_t)jump;
}

static void add_point(struct xsf_ai *ai, uint64_t now_ns)
{
	if (ai->trend_ns && now_ns < ai->trend_ns + XSF_AI_GAP_NS)
		return;
	follow_clock(ai, now_ns);
	ai->trend_ns = now_ns;
	ai->trend[ai->next] = ai->now;
	ai->next = (ai->next + 1) % XSF_AI_POINTS;
}

uint32_t xsf_ai_edge_direction(const struct xsf_ai *ai)
{
	return ai->last_ns - ai->ingress_ns > POPULATION_NS ? XSF_EGRESS : XSF_INGRESS;
}

double xsf_ai_frames(const struct xsf_ai *ai)
{
	const struct edge *e = &ai->edge[xsf_ai_edge_direction(ai)];
	double sum = 0;

	for (uint32_t op = 0; op < 256; op++)
		sum += e->op[op].rate;
	return sum;
}

void xsf_ai_update(struct xsf_ai *ai, const struct xsf_snapshot *s, const struct xsf_bindings *b,
		   const struct xsf_rates *r, uint64_t unix_ms, double period)
{
	const struct edge *edge;
	double *value = ai->now.value;
	struct xsf_smooth step;

	if (ai->last_ns && s->now_ns <= ai->last_ns)
		return;
	xsf_smooth_step(&step, ai->last_ns ? s->now_ns - ai->last_ns : 0, XSF_RATES_T_NS);
	memset(&ai->now, 0, sizeof(ai->now));
	ai->now.unix_ms = unix_ms;
	turn_windows(ai, s->now_ns);
	follow_edge(ai, s, XSF_INGRESS, &step);
	follow_edge(ai, s, XSF_EGRESS, &step);
	follow_marks(ai, s, &step);
	follow_reasons(ai, s, &step);
	sum_sources(ai, s, b, r);
	ai->last_ns = s->now_ns;

	edge = &ai->edge[xsf_ai_edge_direction(ai)];
	value[XSF_AI_rdma_ops] = edge->reth.rate;
	if ((edge->any_reth.now | edge->any_reth.before) && edge->reth.rate > 0)
		value[XSF_AI_rdma_bytes] = edge->length.rate / edge->reth.rate;
	put_credits(ai, edge, value);
	value[XSF_AI_ecn_pps] = ai->ecn.rate;
	value[XSF_AI_cnp_pps] = ai->cnp.rate;
	value[XSF_AI_trim_pps] = ai->trim.rate;
	value[XSF_AI_period] = period;
	put_operations(ai, edge);
	if (any_agent(s, b))
		put_drops(ai);
	add_point(ai, s->now_ns);
}

void xsf_ai_blank(struct xsf_ai *ai, uint64_t now_ns, uint64_t unix_ms)
{
	memset(&ai->now, 0, sizeof(ai->now));
	ai->now.unix_ms = unix_ms;
	add_point(ai, now_ns);
}

const struct xsf_ai_point *xsf_ai_now(const struct xsf_ai *ai)
{
	return &ai->now;
}

const struct xsf_ai_point *xsf_ai_trend(const struct xsf_ai *ai, uint32_t i)
{
	return &ai->trend[(ai->next + i) % XSF_AI_POINTS];
}
