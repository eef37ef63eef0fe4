// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/period_find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

#define PEAK 0.3	/* DESIGN 5.4 */
#define VALLEY 0.5	/* of its peak, at most, somewhere between two */
#define SWING 0.05	/* standard deviation of what is periodic, of the mean */
#define SURE 5.0	/* of Fisher's z: chance makes a few in a million */
#define CLEAR 0.9	/* no need to ask what makes it */
#define STILL_SURE 3.0	/* for the period that was found a second ago */
#define STILL_NEAR 0.05 /* as far as that one may have moved */
#define PROBES 9
#define CANDIDATES 256
#define PART 0.05 /* a part of a period may correlate that much less and be taken for it */

struct level {
	uint32_t nr;
	double *x; /* x[0] is the newest */
	/* of the first i: their sum, of squares, of index times value */
	double *sum, *square, *moment;
};

struct candidate {
	double r;
	uint32_t level, lag, nr; /* lag and window in bins of the level */
};

struct xsf_period_work {
	struct level level[LEVELS];
	struct candidate candidate[CANDIDATES];
	uint32_t nr;
	double corr[2 * FINE + 2 * FINE / 4 + 2]; /* of a candidate by lag */
	double x[LEVEL_BINS];
	double sum[LEVEL_BINS + LEVELS], square[LEVEL_BINS + LEVELS], moment[LEVEL_BINS + LEVELS];
};

struct xsf_period_work *xsf_period_work_new(void)
{
	return calloc(1, sizeof(struct xsf_period_work));
}

void xsf_period_work_free(struct xsf_period_work *work)
{
	free(work);
}

static void level_sums(struct level *l)
{
	l->sum[0] = l->square[0] = l->moment[0] = 0;
	for (uint32_t i = 0; i < l->nr; i++) {
		l->sum[i + 1] = l->sum[i] + l->x[i];
		l->square[i + 1] = l->square[i] + l->x[i] * l->x[i];
		l->moment[i + 1] = l->moment[i] + l->x[i] * i;
	}
}

/* All levels, of counts divided by their mean, less 1. 0: there are no counts. */
static int levels_make(struct xsf_period_work *w, const float *bins, uint32_t nr)
{
	uint32_t at = 0;
	double sum = 0;

	for (uint32_t i = 0; i < nr; i++)
		sum += (double)bins[i];
	if (!(sum > 0))
		return 0;
	for (uint32_t n = 0; n < LEVELS; n++) {
		struct level *l = &w->level[n], *finer = l - 1;

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

/* Correlation of the newest `nr` bins with themselves `lag` later, given time: -1 to 1, 0 when one of both
 * is constant. lag < nr <= l->nr. */
static double correlation(const struct level *l, uint32_t nr, uint32_t lag)
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

/* Bins of the window number `which` for a lag at a level; 0: no such window. */
static uint32_t window(const struct level *l, uint32_t shift, uint32_t lag, uint32_t which)
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

static void candidate_add(struct xsf_period_work *w, uint32_t level, uint32_t lag, uint32_t nr,
			  double r)
{
	if (w->nr < CANDIDATES)
		w->candidate[w->nr++] =
			(struct candidate){ .r = r, .level = level, .lag = lag, .nr = nr };
}

/* Peaks among the lags from .. to - 1 of a level. */
static void scan(struct xsf_period_work *w, uint32_t level, uint32_t from, uint32_t to,
		 uint32_t which)
{
	const struct level *l = &w->level[level];
	double before = 0, at = 0, after;

	for (uint32_t lag = from - 1; lag <= to; lag++) {
		uint32_t nr = window(l, level, lag, which);

		if (!nr)
			break;
		after = correlation(l, nr, lag);
		if (lag > from && at >= PEAK && at >= before && at > after)
			candidate_add(w, level, lag - 1, window(l, level, lag - 1, which), at);
		before = at;
		at = after;
	}
}

static void scan_all(struct xsf_period_work *w)
{
	w->nr = 0;
	for (uint32_t which = 0; which < 3; which++) {
		scan(w, 0, XSF_PERIOD_MIN, 2 * FINE, which);
		for (uint32_t level = 1; level < LEVELS; level++) {
			uint32_t most = XSF_PERIOD_MAX >> level;

			scan(w, level, COARSE, most < 2 * COARSE ? most + 1 : 2 * COARSE, which);
			if (most >= FINE)
				scan(w, level, FINE, most < 2 * FINE ? most + 1 : 2 * FINE, which);
		}
	}
}

/* Pairs of as many counts of one variance as would tell as much: where a few large ones make the
 * correlation, the many others say little. */
static double effective(const struct level *l, uint32_t nr, uint32_t lag)
{
	uint32_t m = nr - lag;
	double a = l->sum[m] / m, b = (l->sum[nr] - l->sum[lag]) / m;
	double aa = l->square[m] - a * a * m, bb = l->square[nr] - l->square[lag] - b * b * m,
	       both = 0;

	for (uint32_t i = 0; i < m; i++) {
		double p = (l->x[i] - a) * (l->x[i + lag] - b);

		both += p * p;
	}
	return both > 0 ? fmin(m, aa * bb / both) : 0;
}

/* Is there a valley before the peak? A few lags tell for most of what merely changes slowly. */
static int may_be_peak(const struct level *l, const struct candidate *c)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t lag = (uint32_t)(c->lag * (i + 0.6) / PROBES);

		if (lag && correlation(l, c->nr, lag) <= VALLEY * c->r)
			return 1;
	}
	return 0;
}

/* What goes by the lag changes the load enough to be worth the name. */
static int swings(const struct level *l, const struct candidate *c)
{
	double mean = l->sum[c->nr] / c->nr, var = l->square[c->nr] / c->nr - mean * mean;

	return c->r * var >= SWING * SWING * (1 + mean) * (1 + mean);
}

/* The correlations around a candidate, into w->corr; its z, or 0 when it is no peak behind a valley. */
static double certainty(struct xsf_period_work *w, const struct candidate *c)
{
	const struct level *l = &w->level[c->level];
	uint32_t last = c->lag + c->lag / 4, narrow = 0;
	double valley = 1, width = 1, pairs;

	if (!swings(l, c) || !may_be_peak(l, c))
		return 0;
	w->corr[0] = 1;
	for (uint32_t lag = 1; lag <= last; lag++) {
		double r = lag < c->nr ? correlation(l, c->nr, lag) : 0;

		w->corr[lag] = r;
		if (lag < c->lag && r < valley)
			valley = r;
		if (r <= 0 || lag > c->lag / 2)
			narrow = 1;
		if (!narrow)
			width += 2 * r * r;
	}
	if (valley > VALLEY * c->r)
		return 0;
	pairs = (c->r < CLEAR ? effective(l, c->nr, c->lag) : c->nr - c->lag) / width - 4;
	return pairs > 0 ? atanh(fmin(c->r, 0.9999)) * sqrt(pairs) : 0;
}

static double candidate_bins(const struct candidate *c)
{
	return (double)c->lag * (1u << c->level);
}

static int by_lag(const void *a, const void *b)
{
	double x = candidate_bins(a), y = candidate_bins(b);

	return x < y ? -1 : x > y;
}

/* Height of the highest peak within `reach` of a lag, and where it is; -1 when they do not fit into the
 * window. A peak between two bins is higher than both: as the point of a triangle. */
static double highest(const struct level *l, uint32_t nr, double lag, uint32_t reach, uint32_t *top)
{
	uint32_t middle = (uint32_t)lround(lag), at = 0;
	double best = -1, left, right, slope;

	if (middle <= reach + 1)
		return best;
	for (uint32_t i = middle - reach; i <= middle + reach && i + 16 < nr; i++) {
		double r = correlation(l, nr, i);

		if (r > best) {
			best = r;
			at = i;
		}
	}
	if (top)
		*top = at;
	if (!at)
		return best;
	left = correlation(l, nr, at - 1);
	right = correlation(l, nr, at + 1);
	slope = best - fmin(left, right);
	if (left > best || right > best || slope <= 0)
		return best;
	return fmin(1, best + fabs(right - left) / 2);
}

/* By how much the longer one correlates better than the shorter one, in the bins of that and over the
 * newest `nr` of them, and `deviations` times the error of that, as far as it comes from noise. If the
 * longer one is a multiple, its neighbours among the multiples speak for the shorter one, which is known
 * less exactly. */
static double gain(const struct xsf_period_work *w, const struct candidate *longer,
		   const struct candidate *shorter, uint32_t nr, double deviations)
{
	const struct level *l = &w->level[shorter->level];
	double much = 1u << longer->level, little = 1u << shorter->level;
	double lag = candidate_bins(longer) / little, times = round(lag / shorter->lag), part,
	       whole;
	uint32_t reach = 1 + (uint32_t)(much / little), top = 0;

	whole = highest(l, nr, lag, reach, &top);
	part = highest(l, nr, shorter->lag, 1, NULL);
	if (times >= 2 && fabs(lag - times * shorter->lag) <= reach + times / 2) {
		part = fmax(part, highest(l, nr, top * (times - 1) / times, 1, NULL));
		part = fmax(part, highest(l, nr, top * (times + 1) / times, 1, NULL));
	}
	if (whole <= 0)
		return -1;
	return whole - part + deviations * (1 - whole * whole) / sqrt(nr - lag);
}

/* Is the longer one a period, and the shorter one only a part of it that looks like the others? Its own
 * window says so clearly, and the shortest does not deny it. (Where the window reaches back to another job,
 * the shorter one may look bad in it, but so does the longer one.) */
static int better(const struct xsf_period_work *w, const struct candidate *longer,
		  const struct candidate *shorter)
{
	const struct level *l = &w->level[shorter->level];
	uint32_t lag = (uint32_t)candidate_bins(longer) >> shorter->level;
	uint32_t nr = longer->nr << longer->level >> shorter->level;
	uint32_t least = (uint32_t)fmax(SHORT_BINS >> shorter->level, SHORT_LAGS * lag);

	if (nr > l->nr)
		nr = l->nr;
	return longer->r > shorter->r && gain(w, longer, shorter, nr, -2) > PART &&
	       (nr <= least || gain(w, longer, shorter, least, 2) > PART);
}

/* What a longer window says, the shortest has to say too, though less clearly: or it is over. */
static int goes_on(const struct xsf_period_work *w, const struct candidate *c)
{
	const struct level *l = &w->level[c->level];
	uint32_t nr = window(l, c->level, c->lag, 0);
	double error = (1 - c->r * c->r) / sqrt(nr - c->lag);

	return c->nr == nr || highest(l, nr, c->lag, 1, NULL) >= 0.8 * c->r - 2 * error;
}

/* Bins of the shortest lag that is as good as the candidate's, whose correlations are in w->corr: its own,
 * or a part of it that was too weak to be a candidate. */
static double shortest(const struct xsf_period_work *w, const struct candidate *c)
{
	double best = c->lag;

	for (uint32_t part = 2; part <= c->lag / COARSE; part++) {
		uint32_t lag = (uint32_t)lround((double)c->lag / part), top = lag;

		if (lag << c->level < XSF_PERIOD_MIN)
			break;
		for (uint32_t i = lag - 1; i <= lag + 1; i++) {
			if (w->corr[i] > w->corr[top])
				top = i;
		}
		if (w->corr[top] >= c->r - PART && w->corr[top] >= w->corr[top - 1] &&
		    w->corr[top] >= w->corr[top + 1] && w->corr[top / 2] < w->corr[top])
			best = (double)c->lag / part;
	}
	return best * (1u << c->level);
}

/* The peak near `lag` bins of a level, by a parabola through the three highest. 0: none within `reach`. */
static double peak_near(const struct level *l, uint32_t nr, double lag, uint32_t reach, double *r)
{
	uint32_t from = (uint32_t)lround(lag), top = 0;
	double best = -1, left, right, bend;

	from = from > reach + 1 ? from - reach : 2;
	for (uint32_t i = from; i <= from + 2 * reach && i + 8 < nr; i++) {
		double c = correlation(l, nr, i);

		if (c > best) {
			best = c;
			top = i;
		}
	}
	*r = best;
	if (!top)
		return 0;
	left = correlation(l, nr, top - 1);
	right = correlation(l, nr, top + 1);
	bend = left - 2 * best + right;
	if (left > best || right > best || bend > -1e-12)
		return 0;
	return top + 0.5 * (left - right) / bend;
}

/* A period of about `bins`, to a fraction of a percent: the peaks at its multiples, while they are there. */
static double refine(const struct xsf_period_work *w, double bins, double *r)
{
	uint32_t shift = 0, nr;
	const struct level *l;
	double lag, fine, first;

	while (bins / (2 << shift) >= FINE)
		shift++;
	l = &w->level[shift];
	lag = bins / (1u << shift);
	nr = (uint32_t)fmax(SHORT_BINS >> shift, SHORT_LAGS * lag);
	if (nr > l->nr)
		nr = l->nr;
	/* What was found at the coarse level may be off by one bin of it. */
	fine = peak_near(l, nr, lag, (uint32_t)(lag / COARSE) + 1, &first);
	if (!(fine > 0))
		return bins;
	if (first > *r)
		*r = first;
	lag = fine;
	for (uint32_t times = 2;; times *= 2) {
		double much = SHORT_LAGS * times / 2 * lag, c, far;

		if (much > l->nr || times * lag + 16 > l->nr)
			break;
		nr = (uint32_t)fmax(fmax(SHORT_BINS >> shift, fmin(2 * times * lag, l->nr)), much);
		nr = nr < l->nr ? nr : l->nr;
		far = peak_near(l, nr, times * lag, times == 2 ? 4 : 3, &c);
		if (!(far > 0) || c < 0.6 * first)
			break;
		lag = far / times;
	}
	return lag * (1u << shift);
}

/* The shortest sure one that no longer one betters. `was`: the lag of the last search. */
static struct candidate *choose(struct xsf_period_work *w, double was)
{
	struct candidate *best = NULL;

	qsort(w->candidate, w->nr, sizeof(*w->candidate), by_lag);
	for (uint32_t i = 0; i < w->nr; i++) {
		struct candidate *c = &w->candidate[i];
		int near = fabs(candidate_bins(c) - was) <= STILL_NEAR * was;

		if (best &&
		    (candidate_bins(c) < 1.02 * candidate_bins(best) || !better(w, c, best)))
			continue;
		if (certainty(w, c) >= (near ? STILL_SURE : SURE) && goes_on(w, c))
			best = c;
	}
	return best;
}

struct xsf_period_found xsf_period_find(struct xsf_period_work *w, const float *bins, uint32_t nr,
					const struct xsf_period_found *last)
{
	struct xsf_period_found found = { 0 };
	struct candidate *best;
	double lag;

	if (nr > XSF_PERIOD_BINS) {
		bins += nr - XSF_PERIOD_BINS;
		nr = XSF_PERIOD_BINS;
	}
	if (nr < SHORT_BINS || !levels_make(w, bins, nr))
		return found;
	scan_all(w);
	best = choose(w, last ? last->seconds / XSF_PERIOD_BIN_S : 0);
	if (!best)
		return found;
	certainty(w, best);
	found.confidence = best->r;
	lag = refine(w, shortest(w, best), &found.confidence);
	if (found.confidence > 1)
		found.confidence = 1;
	found.seconds = lag * XSF_PERIOD_BIN_S;
	return found;
}
