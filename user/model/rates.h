/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rates of what data sources count, refreshed about once a second from what their counters grew by. Plain
 * state of a fixed size: one element for each place of a data source.
 *
 * What flow samples add up to is smoothed as sFlow-RT does (DESIGN 5.1), x' = x * exp(-dt / t) + v / t, with
 * what came in dt taken as spread evenly over it: constant traffic shows its own rate.
 *
 * Interface counters (DESIGN 5.7) give a rate with each counter sample: what they grew by since the one
 * before, over the time between. None with the first one, after a restart of the agent, after a gap of more
 * than three intervals, or for a counter that is unknown, went back, or grew faster than the link can carry.
 * A rate holds until the next sample, XSF_RATES_FRESH_NS at most. */
#ifndef XSF_RATES_H
#define XSF_RATES_H

#include "model/fields.h"
#include "model/snapshot.h"

#define XSF_RATES_T_NS 2000000000ull /* of the smoothing */
#define XSF_RATES_FRESH_NS 60000000000ull

/* One step of the smoothing: what grew by `delta` in `seconds`. */
struct xsf_smooth {
	double keep; /* exp(-dt / t) */
	double gain; /* (1 - keep) / dt, 1/s */
};

static inline double xsf_smooth(const struct xsf_smooth *step, double was, double delta)
{
	double now = was * step->keep + delta * step->gain;

	/* Far below what anything shows, and before it gets denormal. */
	return now < 1e-12 ? 0 : now;
}

void xsf_smooth_step(struct xsf_smooth *step, uint64_t dt_ns, uint64_t t_ns);

struct xsf_source_rates {
	uint32_t generation; /* the source's; anything else: of who had the place before */
	uint32_t known;	     /* bit n: rate[n] is one */
	double ingress;	     /* smoothed: bytes/s of ingress flow samples, scaled */
	uint64_t made_ns;    /* when the counters behind rate[] came, CLOCK_MONOTONIC */
	float rate[XSF_NR_IF_COUNTERS]; /* by enum xsf_if_counter: bytes/s, packets/s */
	/* as they were last time */
	uint32_t interval_ms; /* between the last two counter samples; 0 unknown */
	uint32_t uptime_ms;
	uint32_t restarts;
	uint64_t bytes;
	uint64_t counters_ns; /* 0: none yet */
	uint64_t counter[XSF_NR_IF_COUNTERS];
};

struct xsf_rates;

/* 15 MB of address space, touched as sources come. NULL: no memory. */
struct xsf_rates *xsf_rates_new(void);
void xsf_rates_free(struct xsf_rates *r);

/* Forgets all: the snapshots to come are of other counters. */
void xsf_rates_reset(struct xsf_rates *r);

/* Takes in a snapshot, later than the one before. The first one only shows where counters stand. */
void xsf_rates_update(struct xsf_rates *r, const struct xsf_snapshot *s);

/* Of the last update. Never NULL: without rates for a source that came after it. */
const struct xsf_source_rates *xsf_rates_source(const struct xsf_rates *r,
						const struct xsf_snapshot *s, uint32_t slot);

/* The rate of a counter, with 1; 0 when there is none. */
int xsf_rates_counter(const struct xsf_source_rates *m, const struct xsf_snapshot *s,
		      enum xsf_if_counter which, double *rate);

#endif
