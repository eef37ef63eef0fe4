/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts at several widths of bins, and their correlations with themselves: the arithmetic under
 * model/period_find.c alone. */
#ifndef XSF_PERIOD_LEVELS_H
#define XSF_PERIOD_LEVELS_H

#include "model/period_find.h"

/* Level l has the counts in bins of 2^l: those of a lag are at the level where it is 64 to 127 bins, which
 * sees narrow bursts, and at the one where it is 16 to 31, which sees through more noise. */
#define LEVELS 8
#define FINE 64
#define COARSE 16
#define LEVEL_BINS (2 * XSF_PERIOD_BINS)

/* Windows: the shortest in bins and in lags; the second; the third is everything and at least LONG lags. */
#define SHORT_BINS 900
#define SHORT_LAGS 2.85
#define MEDIUM_BINS 2000
#define MEDIUM_LAGS 6.0
#define LONG_LAGS 10

struct period_level {
	uint32_t nr;
	double *x; /* x[0] is the newest */
	/* of the first i: their sum, of squares, of index times value */
	double *sum, *square, *moment;
};

struct period_levels {
	struct period_level level[LEVELS];
	double x[LEVEL_BINS];
	double sum[LEVEL_BINS + LEVELS], square[LEVEL_BINS + LEVELS], moment[LEVEL_BINS + LEVELS];
};

/* All levels, of counts divided by their mean, less 1. 0: there are no counts. nr <= XSF_PERIOD_BINS. */
int period_levels_make(struct period_levels *levels, const float *bins, uint32_t nr);

/* Correlation of the newest `nr` bins with themselves `lag` later, given time: -1 to 1, 0 when one of both
 * is constant. lag < nr <= l->nr. */
double period_correlation(const struct period_level *l, uint32_t nr, uint32_t lag);

/* Bins of the window number `which` for a lag at a level; 0: no such window. */
uint32_t period_window(const struct period_level *l, uint32_t shift, uint32_t lag, uint32_t which);

/* Height of the highest peak within `reach` of a lag, and where it is; -1 when they do not fit into the
 * window. A peak between two bins is higher than both: as the point of a triangle. */
double period_highest(const struct period_level *l, uint32_t nr, double lag, uint32_t reach,
		      uint32_t *top);

/* The peak near `lag` bins of a level, by a parabola through the three highest. 0: none within `reach`. */
double period_peak_near(const struct period_level *l, uint32_t nr, double lag, uint32_t reach,
			double *r);

#endif
