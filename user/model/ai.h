/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The AI metrics of a fabric (DESIGN 5.3) as they stand, refreshed about once a second, and how
 * they were in the 300 seconds before. Plain state of a fixed size.
 *
 * Bytes are those of ingress samples of each interface (model/rates.h). Operations, lengths, credits and
 * marks are what the programs count by group, so they need the roles to reach the kernel's map. "Edge" is
 * ingress at edge interfaces, which each packet passes once; where no edge interface has sent an ingress
 * sample for 60 s, egress. */
#ifndef XSF_AI_H
#define XSF_AI_H

#include "model/binding.h"
#include "model/rates.h"

/* The series in their order: key, unit. */
#define XSF_AI_SERIES(X) \
	X(bps) \
	X(rdma_ops) \
	X(rdma_bytes) \
	X(aeth_credits_avg) \
	X(aeth_credits_min) \
	X(aeth_credits_max) \
	X(core_min_bps) \
	X(core_q1_bps) \
	X(core_med_bps) \
	X(core_q3_bps) \
	X(core_max_bps) \
	X(edge_min_bps) \
	X(edge_q1_bps) \
	X(edge_med_bps) \
	X(edge_q3_bps) \
	X(edge_max_bps) \
	X(discards_in) \
	X(errors_in) \
	X(discards_out) \
	X(errors_out) \
	X(ecn_pps) \
	X(cnp_pps) \
	X(trim_pps) \
	X(period)

#define XSF_AI_ENUM(key) XSF_AI_##key,
enum xsf_ai_series { XSF_AI_SERIES(XSF_AI_ENUM) XSF_AI_NR_SERIES };

extern const char *const xsf_ai_keys[XSF_AI_NR_SERIES];

#define XSF_AI_TOP 5		   /* rows of operations and of drop reasons */
#define XSF_AI_POINTS 300	   /* of the trend */
#define XSF_AI_NAME 48		   /* bytes of a row's name with the end */
#define XSF_AI_GAP_NS 500000000ull /* points of the trend are further apart than that */

struct xsf_ai_row {
	double value;
	char name[XSF_AI_NAME]; /* "RC:RDMA_WRITE"; "acl" */
};

struct xsf_ai_point {
	uint64_t unix_ms;
	double value[XSF_AI_NR_SERIES];
	uint32_t nr_operations;
	uint32_t nr_drops;
	struct xsf_ai_row operation[XSF_AI_TOP]; /* largest first */
	struct xsf_ai_row drop[XSF_AI_TOP];
};

struct xsf_ai_options {
	uint64_t trimmed_dscps; /* bit n: DSCP n says "trimmed"; 0: only 11 */
	int raw_credits;	/* credit codes as they are, 31 ("no limit") too; else credits */
	int any_cnp;		/* CNPs with SE or M set count too */
	int ibta_names;		/* "RC:RDMA WRITE First"; else First, Middle, Last, Only are one */
};

struct xsf_ai;

/* 1.5 MB. unix_ms: now; the trend ends there, with zeros. NULL: no memory. */
struct xsf_ai *xsf_ai_new(const struct xsf_ai_options *options, uint64_t unix_ms);
void xsf_ai_free(struct xsf_ai *ai);

/* Forgets where counters stood, not the trend: the snapshots to come are of other ones. */
void xsf_ai_reset(struct xsf_ai *ai);

/* Takes in a snapshot that bindings and rates were updated with. Of its rows those of the first fabric's
 * two groups are read. period: in seconds, 0 none (model/period.h). */
void xsf_ai_update(struct xsf_ai *ai, const struct xsf_snapshot *s, const struct xsf_bindings *b,
		   const struct xsf_rates *r, uint64_t unix_ms, double period);

/* There was nothing to read: all is 0, from now_ns (CLOCK_MONOTONIC) on. */
void xsf_ai_blank(struct xsf_ai *ai, uint64_t now_ns, uint64_t unix_ms);

/* As of the last update. */
const struct xsf_ai_point *xsf_ai_now(const struct xsf_ai *ai);

/* RoCE packets/s at the edge, smoothed as the rest. */
double xsf_ai_frames(const struct xsf_ai *ai);

/* The direction that counts at the edge: XSF_INGRESS, or XSF_EGRESS. */
uint32_t xsf_ai_edge_direction(const struct xsf_ai *ai);

/* Point i of the trend, 0 the oldest, XSF_AI_POINTS - 1 the newest. */
const struct xsf_ai_point *xsf_ai_trend(const struct xsf_ai *ai, uint32_t i);

struct xsf_quartiles {
	double min, q1, med, q3, max;
};

/* Type 7 (Hyndman, Fan 1996): linear between the values at (n - 1) * p. Sorts the values; all 0 when there
 * are none. */
void xsf_quartiles(double *values, uint32_t nr, struct xsf_quartiles *out);

#endif
