// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/period_find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/period_levels.h"

#define PEAK 0.3	/* DESIGN 5.4 */
#define VALLEY 0.5	/* of its peak, at most, somewhere between two */
#define SWING 0.05	/* standard deviation of what is periodic, of the mean */
#define SURE 5.0	/* of Fisher's z: chance makes a few in a million */
#define CLEAR 0.9	/* no need to ask what makes it */
#define STILL_SURE 3.0	/* for the period that was found a second ago */
#define STILL_NEAR 0.05 /* as far as that one may have moved */
#define PROBES 9
#define CANDIDATES 256
#define STABLE 3  /* times found: a job of which the end is looked for */
#define OVER 0.5  /* of how clear it was: it has ended */
#define PART 0.05 /* a part of a period may correlate that much less and be taken for it */

struct candidate {
	double r;
	uint32_t level, lag, nr; /* lag and window in bins of the level */
};

struct xsf_period_work {
	struct period_levels levels;
	struct candidate candidate[CANDIDATES];
	uint32_t nr;
	uint32_t least;				  /* bins of the shortest period looked for */
	double corr[2 * FINE + 2 * FINE / 4 + 2]; /* of a candidate by lag */
	float even[XSF_PERIOD_BINS];
};

struct xsf_period_work *xsf_period_work_new(void)
{
	return calloc(1, sizeof(struct xsf_period_work));
}

void xsf_period_work_free(struct xsf_period_work *work)
{
	free(work);
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
	const struct period_level *l = &w->levels.level[level];
	double before = 0, at = 0, after;

	for (uint32_t lag = from - 1; lag <= to; lag++) {
		uint32_t nr = period_window(l, level, lag, which);

		if (!nr)
			break;
		after = period_correlation(l, nr, lag);
		if (lag > from && at >= PEAK && at >= before && at > after)
			candidate_add(w, level, lag - 1, period_window(l, level, lag - 1, which),
				      at);
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
static double effective(const struct period_level *l, uint32_t nr, uint32_t lag)
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
static int may_be_peak(const struct period_level *l, const struct candidate *c)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t lag = (uint32_t)(c->lag * (i + 0.6) / PROBES);

		if (lag && period_correlation(l, c->nr, lag) <= VALLEY * c->r)
			return 1;
	}
	return 0;
}

/* What goes by the lag changes the load enough to be worth the name. */
static int swings(const struct period_level *l, const struct candidate *c)
{
	double mean = l->sum[c->nr] / c->nr, var = l->square[c->nr] / c->nr - mean * mean;

	return c->r * var >= SWING * SWING * (1 + mean) * (1 + mean);
}

/* The correlations around a candidate, into w->corr; its z, or 0 when it is no peak behind a valley. */
static double certainty(struct xsf_period_work *w, const struct candidate *c)
{
	const struct period_level *l = &w->levels.level[c->level];
	uint32_t last = c->lag + c->lag / 4, narrow = 0;
	double valley = 1, width = 1, pairs;

	if (!swings(l, c) || !may_be_peak(l, c))
		return 0;
	w->corr[0] = 1;
	for (uint32_t lag = 1; lag <= last; lag++) {
		double r = lag < c->nr ? period_correlation(l, c->nr, lag) : 0;

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

/* By how much the longer one correlates better than the shorter one, in the bins of that and over the
 * newest `nr` of them, and `deviations` times the error of that, as far as it comes from noise. If the
 * longer one is a multiple, its neighbours among the multiples speak for the shorter one, which is known
 * less exactly. */
static double gain(const struct xsf_period_work *w, const struct candidate *longer,
		   const struct candidate *shorter, uint32_t nr, double deviations)
{
	const struct period_level *l = &w->levels.level[shorter->level];
	double much = 1u << longer->level, little = 1u << shorter->level;
	double lag = candidate_bins(longer) / little, times = round(lag / shorter->lag), part,
	       whole;
	uint32_t reach = 1 + (uint32_t)(much / little), top = 0;

	whole = period_highest(l, nr, lag, reach, &top);
	part = period_highest(l, nr, shorter->lag, 1, NULL);
	if (times >= 2 && fabs(lag - times * shorter->lag) <= reach + times / 2) {
		part = fmax(part, period_highest(l, nr, top * (times - 1) / times, 1, NULL));
		part = fmax(part, period_highest(l, nr, top * (times + 1) / times, 1, NULL));
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
	const struct period_level *l = &w->levels.level[shorter->level];
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
	const struct period_level *l = &w->levels.level[c->level];
	uint32_t nr = period_window(l, c->level, c->lag, 0);
	double error = (1 - c->r * c->r) / sqrt(nr - c->lag);

	return c->nr == nr || period_highest(l, nr, c->lag, 1, NULL) >= 0.8 * c->r - 2 * error;
}

/* Bins of the shortest lag that is as good as the candidate's, whose correlations are in w->corr: its own,
 * or a part of it that was too weak to be a candidate. */
static double shortest(const struct xsf_period_work *w, const struct candidate *c)
{
	double best = c->lag;

	for (uint32_t part = 2; part <= c->lag / COARSE; part++) {
		uint32_t lag = (uint32_t)lround((double)c->lag / part), top = lag;

		if (lag << c->level < w->least)
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

/* A period of about `bins`, to a fraction of a percent: the peaks at its multiples, while they are
 * there. */
static double refine(const struct xsf_period_work *w, double bins, double *r)
{
	uint32_t shift = 0, nr;
	const struct period_level *l;
	double lag, fine, first;

	while (bins / (2 << shift) >= FINE)
		shift++;
	l = &w->levels.level[shift];
	lag = bins / (1u << shift);
	nr = (uint32_t)fmax(SHORT_BINS >> shift, SHORT_LAGS * lag);
	if (nr > l->nr)
		nr = l->nr;
	/* What was found at the coarse level may be off by one bin of it. */
	fine = period_peak_near(l, nr, lag, (uint32_t)(lag / COARSE) + 1, &first);
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
		far = period_peak_near(l, nr, times * lag, times == 2 ? 4 : 3, &c);
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

		if (candidate_bins(c) < w->least)
			continue;
		if (best &&
		    (candidate_bins(c) < 1.02 * candidate_bins(best) || !better(w, c, best)))
			continue;
		if (certainty(w, c) >= (near ? STILL_SURE : SURE) && goes_on(w, c))
			best = c;
	}
	return best;
}

/* ---- a job that has ended ---- */

/* Its period is gone from the newest bins, 9 s or 2.85 periods, and was clear before. Those bins; 0:
 * it goes on, or cannot be told. (Where only a part of them is of the job, its multiples still stand
 * out of the longer windows, and once found would stay: so nothing older is looked at from then on.) */
static uint32_t over(const struct xsf_period_work *w, const struct xsf_period_past *past)
{
	double bins = past->job / XSF_PERIOD_BIN_S, now = -1, error = 0;
	const uint32_t at[2] = { FINE, COARSE };
	uint32_t nr = 0;

	for (int i = 0; i < 2; i++) {
		const struct period_level *l;
		uint32_t shift = 0, lag;

		while (shift + 1 < LEVELS && bins / (1u << shift) >= 2 * at[i])
			shift++;
		l = &w->levels.level[shift];
		lag = (uint32_t)lround(bins / (1u << shift));
		nr = period_window(l, shift, lag, 0);
		if (!nr)
			return 0;
		now = fmax(now, period_highest(l, nr, lag, 1, NULL));
		error = (1 - past->strength * past->strength) / sqrt(nr - lag);
		nr <<= shift;
	}
	return now < OVER * past->strength - error ? nr : 0;
}

static int near_to(double seconds, double other)
{
	return fabs(seconds - other) <= STILL_NEAR * other;
}

/* The job that this belongs to is what was found several times in a row; not a longer one, which may be a
 * multiple that is left of it. */
static void remember(struct xsf_period_found *found, const struct xsf_period_found *last)
{
	struct xsf_period_past *past = &found->past;

	past->times = 1;
	if (last && near_to(found->seconds, last->seconds))
		past->times = last->past.times + (last->past.times < STABLE);
	if (past->job > 0 && near_to(found->seconds, past->job)) {
		past->job = found->seconds;
		past->strength = fmax(past->strength, found->confidence);
	} else if (past->times == STABLE && (past->job <= 0 || found->seconds < past->job)) {
		past->job = found->seconds;
		past->strength = found->confidence;
	}
}

/* ---- the search ---- */

static struct xsf_period_found search(struct xsf_period_work *w, const float *bins, uint32_t nr,
				      const struct xsf_period_found *last)
{
	struct xsf_period_found found = { .past.keep = nr };
	struct candidate *best;
	uint32_t keep;

	if (nr < SHORT_BINS || !period_levels_make(&w->levels, bins, nr))
		return found;
	keep = last && last->past.job > 0 ? over(w, &last->past) : 0;
	if (keep) {
		found.past.keep = keep;
		last = NULL;
		if (keep < SHORT_BINS || !period_levels_make(&w->levels, bins + nr - keep, keep))
			return found;
	}
	if (last) {
		found.past.job = last->past.job;
		found.past.strength = last->past.strength;
	}
	scan_all(w);
	best = choose(w, last ? last->seconds / XSF_PERIOD_BIN_S : 0);
	if (!best)
		return found;
	certainty(w, best);
	found.confidence = best->r;
	found.seconds = refine(w, shortest(w, best), &found.confidence) * XSF_PERIOD_BIN_S;
	if (found.confidence > 1)
		found.confidence = 1;
	remember(&found, last);
	return found;
}

/* Means over `width` bins each: what repeats after just that has no part in them. How many there are. */
static uint32_t even_out(struct xsf_period_work *w, const float *bins, uint32_t nr, double width)
{
	uint32_t whole = (uint32_t)width, used = 0;
	double part = width - whole, sum = 0;

	for (uint32_t i = 0; i < nr; i++) {
		sum += (double)bins[i];
		if (i < whole)
			continue;
		sum -= (double)bins[i - whole];
		w->even[used++] = (float)(sum + part * (double)bins[i - whole]);
	}
	return used;
}

struct xsf_period_found xsf_period_find(struct xsf_period_work *w, const float *bins, uint32_t nr,
					int held_back, const struct xsf_period_found *last)
{
	struct xsf_period_found found;
	double hold = XSF_PERIOD_HOLD_S;
	uint32_t left;

	if (nr > XSF_PERIOD_BINS) {
		bins += nr - XSF_PERIOD_BINS;
		nr = XSF_PERIOD_BINS;
	}
	w->least = XSF_PERIOD_MIN;
	found = search(w, bins, nr, held_back ? NULL : last);
	if (!held_back)
		return found;
	/* The agents' timer, if it is seen. */
	if (found.seconds > 0 && found.seconds <= 1.05 * XSF_PERIOD_HOLD_S)
		hold = found.seconds;
	left = even_out(w, bins, nr, hold / XSF_PERIOD_BIN_S);
	w->least = (uint32_t)(2 * XSF_PERIOD_HOLD_S / XSF_PERIOD_BIN_S);
	found = search(w, w->even, left, last);
	found.past.keep += nr - left;
	return found;
}
