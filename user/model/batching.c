// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/batching.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEAN_NS 10e9
#define MOST 0.5 /* of the samples: their agents' timers rule */
#define FEW 0.35 /* and no longer, below that */

struct agent {
	uint32_t generation;
	uint32_t nr; /* updates so far, 2 at most */
	uint64_t datagrams, samples;
	double datagram_rate, sample_rate;
};

struct xsf_batching {
	uint64_t last_ns;
	uint8_t held[XSF_MAX_PERIODS];
	struct agent agents[XSF_AGENTS];
};

struct xsf_batching *xsf_batching_new(void)
{
	return calloc(1, sizeof(struct xsf_batching));
}

void xsf_batching_free(struct xsf_batching *b)
{
	free(b);
}

/* seconds, and which share of the mean they take. */
static void follow(struct agent *a, const struct xsf_agent *agent, double seconds, double share)
{
	struct xsf_agent_counts sum;

	xsf_agent_sum(agent, &sum);
	if (a->generation != agent->generation || sum.datagrams < a->datagrams ||
	    sum.flow_samples < a->samples)
		*a = (struct agent){ .generation = agent->generation };
	else if (seconds > 0) {
		double by = a->nr > 1 ? share : 1;

		a->datagram_rate +=
			by * ((double)(sum.datagrams - a->datagrams) / seconds - a->datagram_rate);
		a->sample_rate +=
			by * ((double)(sum.flow_samples - a->samples) / seconds - a->sample_rate);
	}
	a->datagrams = sum.datagrams;
	a->samples = sum.flow_samples;
	if (a->nr < 2)
		a->nr++;
}

static int by_timer(const struct agent *a)
{
	return a->datagram_rate <= XSF_BATCHING_DATAGRAMS ||
	       (a->sample_rate <= XSF_BATCHING_SAMPLES &&
		a->sample_rate >= XSF_BATCHING_ALONE * a->datagram_rate);
}

/* Samples of an interface at the edge count for its fabric's line, of one without a role for the first. */
static int line_of(const struct xsf_snapshot *s, uint32_t slot)
{
	uint32_t group = s->groups[slot].generation == s->sources[slot].generation ?
				 s->groups[slot].group :
				 0;

	if (group && group % 2 == 0)
		return -1;
	return group / 2 + (group != 0) < XSF_MAX_PERIODS ? (int)(group / 2 + (group != 0)) : -1;
}

static void weigh(struct xsf_batching *b, const struct xsf_snapshot *s)
{
	double all[XSF_MAX_PERIODS] = { 0 }, timed[XSF_MAX_PERIODS] = { 0 };

	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_sources, XSF_SOURCES); slot++) {
		const struct xsf_source *source = &s->sources[slot];
		const struct xsf_agent *agent;
		const struct agent *a;
		struct xsf_traffic in, out;
		double weight;
		int line;

		if (!(source->generation & 1) || !xsf_snapshot_source_agent(s, slot, &agent))
			continue;
		line = line_of(s, slot);
		a = &b->agents[source->key.agent];
		if (line < 0 || a->nr < 2 || !a->samples)
			continue;
		xsf_source_sum(source, XSF_INGRESS, &in);
		xsf_source_sum(source, XSF_EGRESS, &out);
		/* This source's part of what the agent sends now. */
		weight = a->sample_rate * (double)(in.samples + out.samples) / (double)a->samples;
		all[line] += weight;
		if (by_timer(a))
			timed[line] += weight;
	}
	for (uint32_t line = 0; line < XSF_MAX_PERIODS; line++)
		b->held[line] = timed[line] > (b->held[line] ? FEW : MOST) * all[line];
}

void xsf_batching_update(struct xsf_batching *b, const struct xsf_snapshot *s)
{
	double ns = b->last_ns && s->now_ns > b->last_ns ? (double)(s->now_ns - b->last_ns) : 0;

	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_agents, XSF_AGENTS); slot++) {
		if (s->agents[slot].generation & 1)
			follow(&b->agents[slot], &s->agents[slot], ns / 1e9,
			       1 - exp(-ns / MEAN_NS));
	}
	weigh(b, s);
	b->last_ns = s->now_ns;
}

int xsf_batching_held(const struct xsf_batching *b, uint32_t line)
{
	return b && line < XSF_MAX_PERIODS && b->held[line];
}
