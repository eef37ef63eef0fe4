// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/period_levels.h"

#include <math.h>

static void level_sums(struct period_level *l)
{
	l->sum[0] = l->square[0] = l->moment[0] = 0;
	for (uint32_t i = 0; i < l->nr; i++) {
		l->sum[i + 1] = l->sum[i] + l->x[i];
		l->square[i + 1] = l->square[i] + l->x[i] * l->x[i];
		l->moment[i + 1] = l->moment[i] + l->x[i] * i;
	}
}

int period_levels_make(struct period_levels *w, const float *bins, uint32_t nr)
{
	uint32_t at = 0;
	double sum = 0;

	for (uint32_t i = 0; i < nr; i++)
		sum += (double)bins[i];
	if (!(sum > 0))
		return 0;
	for (uint32_t n = 0; n < LEVELS; n++) {
		struct period_level *l = &w->level[n], *finer = l - 1;

		l->x = w->x + at;
		l->sum = w->sum + at + n;
		l->square = w->square + at + n;
		l->moment = w->moment + at + n;
		l->nr = n ? finer->nr / 2 : nr;
		at += l->nr;
		for (uint32_t i = 0; i < l->nr; i++)
			l->x[i] = n ? (finer->x[2 * i] + finer->x[2 * i + 1]) / 2 :
				      (double)bins[nr - 1 - i] * nr / sum - 1;
	}
	/* The clock of the counts may move by 4 ms (xsf/timeline.h): pairs, where they are not made yet. */
	for (uint32_t i = 0; i + 1 < nr; i++)
		w->x[i] = (w->x[i] + w->x[i + 1]) / 2;
	for (uint32_t n = 0; n < LEVELS; n++)
		level_sums(&w->level[n]);
	return 1;
}

static double dot(const double *a, const double *b, uint32_t nr)
{
	double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
	uint32_t i = 0;

	for (; i + 4 <= nr; i += 4) {
		s0 += a[i] * b[i];
		s1 += a[i + 1] * b[i + 1];
		s2 += a[i + 2] * b[i + 2];
		s3 += a[i + 3] * b[i + 3];
	}
	for (; i < nr; i++)
		s0 += a[i] * b[i];
	return s0 + s1 + s2 + s3;
}

double period_correlation(const struct period_level *l, uint32_t nr, uint32_t lag)
{
	uint32_t m = nr - lag;
	double mean_t = (m - 1) / 2.0, var_t = m * ((double)m * m - 1) / 12;
	double a = l->sum[m], b = l->sum[nr] - l->sum[lag];
	double at = l->moment[m] - mean_t * a;
	double bt = l->moment[nr] - l->moment[lag] - (lag + mean_t) * b;
	double aa = l->square[m] - a * a / m - at * at / var_t;
	double bb = l->square[nr] - l->square[lag] - b * b / m - bt * bt / var_t;
	double ab = dot(l->x, l->x + lag, m) - a * b / m - at * bt / var_t;

	if (m < 8 || aa < 1e-9 * m || bb < 1e-9 * m)
		return 0;
	return ab / sqrt(aa * bb);
}

uint32_t period_window(const struct period_level *l, uint32_t shift, uint32_t lag, uint32_t which)
{
	double least = which ? MEDIUM_LAGS * lag : SHORT_LAGS * lag;
	uint32_t nr = (which ? MEDIUM_BINS : SHORT_BINS) >> shift;

	if (which == 2) {
		/* Not at the finest level, for its cost. */
		if (!shift || l->nr < LONG_LAGS * lag || l->nr <= (uint32_t)MEDIUM_BINS >> shift)
			return 0;
		return l->nr;
	}
	if (nr < least)
		nr = (uint32_t)least;
	return nr <= l->nr ? nr : 0;
}

double period_highest(const struct period_level *l, uint32_t nr, double lag, uint32_t reach,
		      uint32_t *top)
{
	uint32_t middle = (uint32_t)lround(lag), at = 0;
	double best = -1, left, right, slope;

	if (middle <= reach + 1)
		return best;
	for (uint32_t i = middle - reach; i <= middle + reach && i + 16 < nr; i++) {
		double r = period_correlation(l, nr, i);

		if (r > best) {
			best = r;
			at = i;
		}
	}
	if (top)
		*top = at;
	if (!at)
		return best;
	left = period_correlation(l, nr, at - 1);
	right = period_correlation(l, nr, at + 1);
	slope = best - fmin(left, right);
	if (left > best || right > best || slope <= 0)
		return best;
	return fmin(1, best + fabs(right - left) / 2);
}

double period_peak_near(const struct period_level *l, uint32_t nr, double lag, uint32_t reach,
			double *r)
{
	uint32_t from = (uint32_t)lround(lag), top = 0;
	double best = -1, left, right, bend;

	from = from > reach + 1 ? from - reach : 2;
	for (uint32_t i = from; i <= from + 2 * reach && i + 8 < nr; i++) {
		double c = period_correlation(l, nr, i);

		if (c > best) {
			best = c;
			top = i;
		}
	}
	*r = best;
	if (!top)
		return 0;
	left = period_correlation(l, nr, top - 1);
	right = period_correlation(l, nr, top + 1);
	bend = left - 2 * best + right;
	if (left > best || right > best || bend > -1e-12)
		return 0;
	return top + 0.5 * (left - right) / bend;
}
