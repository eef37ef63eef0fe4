// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shortest time that a rate is made over: two counter samples in one datagram say nothing. */
#define SHORTEST_NS 1000000

/* Frames of 64 bytes with preamble and gap, in bits; twice that many a second are not believed, nor are more
 * than MOST_PACKETS where the speed is not known. */
#define FRAME_BITS 672
#define MOST_PACKETS 1e10

struct xsf_rates {
	uint64_t last_ns; /* 0: no update yet */
	struct xsf_source_rates source[XSF_SOURCES];
};

static const struct xsf_source_rates no_rates;

struct xsf_rates *xsf_rates_new(void)
{
	return calloc(1, sizeof(struct xsf_rates));
}

void xsf_rates_free(struct xsf_rates *r)
{
	free(r);
}

void xsf_rates_reset(struct xsf_rates *r)
{
	r->last_ns = 0;
	for (uint32_t slot = 0; slot < XSF_SOURCES; slot++) {
		/* Untouched pages stay so. */
		if (r->source[slot].generation)
			memset(&r->source[slot], 0, sizeof(r->source[slot]));
	}
}

void xsf_smooth_step(struct xsf_smooth *step, uint64_t dt_ns, uint64_t t_ns)
{
	double dt = (double)dt_ns / 1e9;

	step->keep = exp(-(double)dt_ns / (double)t_ns);
	step->gain = dt > 0 ? (1 - step->keep) / dt : 0;
}

/* What a counter grew by. 1, or 0 when it cannot be told: unknown, or back at a smaller value. */
static int grown(enum xsf_if_counter which, uint64_t was, uint64_t now, uint64_t *delta)
{
	if (which != XSF_IF_in_octets && which != XSF_IF_out_octets) {
		*delta = (uint32_t)(now - was);
		return was != UINT32_MAX && now != UINT32_MAX;
	}
	if (was == UINT64_MAX || now == UINT64_MAX)
		return 0;
	*delta = now - was;
	if (now >= was)
		return 1;
	/* 64 bits filled from a counter of 32 (DESIGN 5.7). */
	*delta = (uint32_t)(now - was);
	return was <= UINT32_MAX && was - now > UINT32_MAX / 2;
}

/* Uptime where it moves as the clock does (so what the network did to the datagrams does not show), else the
 * times of arrival. */
static double elapsed_s(uint64_t ns, uint32_t uptime_ms)
{
	double arrival = (double)ns / 1e9, uptime = uptime_ms / 1e3;

	return uptime > 0 && fabs(uptime - arrival) <= arrival / 5 ? uptime : arrival;
}

static void make_rates(struct xsf_source_rates *m, const uint64_t now[XSF_NR_IF_COUNTERS],
		       double seconds, uint64_t speed)
{
	double most = MOST_PACKETS;

	if (speed && speed != UINT64_MAX)
		most = fmin(most, 2 * (double)speed / FRAME_BITS);
	m->known = 0;
	for (enum xsf_if_counter c = 0; c < XSF_IF_promiscuous; c++) {
		uint64_t delta;

		if (!grown(c, m->counter[c], now[c], &delta))
			continue;
		m->rate[c] = (float)((double)delta / seconds);
		if (c == XSF_IF_in_octets || c == XSF_IF_out_octets || m->rate[c] <= most)
			m->known |= 1u << c;
	}
}

/* One more counter sample than last time? */
static void follow_counters(struct xsf_source_rates *m, const struct xsf_interface *i)
{
	uint64_t now[XSF_NR_IF_COUNTERS], ns = __atomic_load_n(&i->counters_ns, __ATOMIC_ACQUIRE);
	uint32_t uptime = i->counters_uptime_ms, restarts = i->sample_restarts, interval;
	uint64_t speed = i->speed;
	int usable;

	if (ns == m->counters_ns || (m->counters_ns && ns < m->counters_ns + SHORTEST_NS))
		return;
	for (enum xsf_if_counter c = 0; c < XSF_NR_IF_COUNTERS; c++)
		(void)xsf_if_counter_read(i, c, &now[c]);
	/* The next one is just being written: in a second it can be read whole. */
	if (__atomic_load_n(&i->counters_ns, __ATOMIC_ACQUIRE) != ns)
		return;
	interval = (uint32_t)XSF_MIN((ns - m->counters_ns) / 1000000, (uint64_t)UINT32_MAX);
	usable = m->counters_ns && uptime >= m->uptime_ms && restarts == m->restarts &&
		 (!m->interval_ms || interval / 3 <= m->interval_ms);
	if (usable)
		make_rates(m, now, elapsed_s(ns - m->counters_ns, uptime - m->uptime_ms), speed);
	else
		m->known = 0;
	m->interval_ms = m->counters_ns ? interval : 0;
	m->made_ns = m->counters_ns = ns;
	m->uptime_ms = uptime;
	m->restarts = restarts;
	memcpy(m->counter, now, sizeof(now));
}

static void update_source(struct xsf_rates *r, const struct xsf_snapshot *s, uint32_t slot,
			  const struct xsf_smooth *step)
{
	const struct xsf_source *source = &s->sources[slot];
	uint32_t generation = __atomic_load_n(&source->generation, __ATOMIC_ACQUIRE);
	struct xsf_source_rates *m = &r->source[slot];
	const struct xsf_interface *i;
	uint64_t bytes;

	if (!(generation & 1)) {
		if (m->generation)
			memset(m, 0, sizeof(*m));
		return;
	}
	bytes = source->own[XSF_INGRESS].bytes + source->shared[XSF_INGRESS].bytes;
	/* It is given to another just now, its counts half taken away. */
	if (__atomic_load_n(&source->generation, __ATOMIC_ACQUIRE) != generation)
		return;
	if (m->generation != generation) {
		memset(m, 0, sizeof(*m));
		m->generation = generation;
		/* Who came since the last update began at 0. */
		m->bytes = r->last_ns ? 0 : bytes;
	}
	m->ingress = xsf_smooth(step, m->ingress, (double)(bytes - m->bytes));
	m->bytes = bytes;
	i = xsf_snapshot_interface(s, slot);
	if (i && i->has_counters)
		follow_counters(m, i);
}

void xsf_rates_update(struct xsf_rates *r, const struct xsf_snapshot *s)
{
	struct xsf_smooth step;

	if (r->last_ns && s->now_ns <= r->last_ns)
		return;
	xsf_smooth_step(&step, r->last_ns ? s->now_ns - r->last_ns : 0, XSF_RATES_T_NS);
	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_sources, XSF_SOURCES); slot++)
		update_source(r, s, slot, &step);
	r->last_ns = s->now_ns;
}

const struct xsf_source_rates *xsf_rates_source(const struct xsf_rates *r,
						const struct xsf_snapshot *s, uint32_t slot)
{
	if (slot >= XSF_SOURCES || !r->source[slot].generation ||
	    r->source[slot].generation != s->sources[slot].generation)
		return &no_rates;
	return &r->source[slot];
}

int xsf_rates_counter(const struct xsf_source_rates *m, const struct xsf_snapshot *s,
		      enum xsf_if_counter which, double *rate)
{
	if (!(m->known & 1u << which) ||
	    (s->now_ns > m->made_ns && s->now_ns - m->made_ns > XSF_RATES_FRESH_NS))
		return 0;
	*rate = (double)m->rate[which];
	return 1;
}
