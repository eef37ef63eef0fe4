/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the load of a fabric's edge moves within seconds (DESIGN 5.4, period/json): RoCE packets a second
 * smoothed over 0.1 s from the 10 ms timeline, and what the last 20 seconds' load and periods were. Plain
 * state. */
#ifndef XSF_AI_FAST_H
#define XSF_AI_FAST_H

#include <stdint.h>
#include <xsf/abi.h>

#define XSF_AI_FAST_T_NS 100000000ull
#define XSF_AI_WINDOW 20 /* values of a baseline */

struct xsf_ai_baseline {
	uint32_t nr;   /* values so far, XSF_AI_WINDOW at most */
	uint32_t next; /* the oldest, once there are all */
	double value[XSF_AI_WINDOW];
};

struct xsf_ai_stats {
	double mean;
	double sdev; /* of the population */
	double min;
	double max;
};

struct xsf_ai_fast {
	uint64_t next_slot; /* of the timeline, from the start of the clock; 0: nothing read yet */
	double value;	    /* packets/s */
	struct xsf_ai_baseline load;
	struct xsf_ai_baseline period;
	uint64_t packets[XSF_TIMELINE_SLOTS]; /* as they were when they were read */
};

/* The history begins anew with other maps. */
void xsf_ai_fast_reset(struct xsf_ai_fast *f);

/* Takes in the slots that are complete by now (CLOCK_MONOTONIC). The first call sees where they stand. */
void xsf_ai_fast_read(struct xsf_ai_fast *f, const struct xsf_timeline_row *row, uint64_t now_ns);

/* Each second: packets/s smoothed over 2 s, and the period in seconds (0 none: its baseline begins anew). */
void xsf_ai_fast_second(struct xsf_ai_fast *f, double load, double period);

/* All 0 without values. */
void xsf_ai_baseline_stats(const struct xsf_ai_baseline *b, struct xsf_ai_stats *out);

/* The load that a new compute or exchange crosses: the mean of a whole window, 0 until there is one. */
double xsf_ai_fast_threshold(const struct xsf_ai_fast *f);

#endif
