/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random numbers of several kinds, from a seed. */
#ifndef XSF_TEST_DRAW_H
#define XSF_TEST_DRAW_H

#include <math.h>
#include "model/random.h"

static inline double uniform(struct xsf_random *r)
{
	return (double)(xsf_random64(r) >> 11) / 9007199254740992.0;
}

static inline double normal(struct xsf_random *r)
{
	double u = uniform(r) + 1e-18, v = uniform(r);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static inline double exponential(struct xsf_random *r)
{
	return -log(uniform(r) + 1e-18);
}

static inline double poisson(struct xsf_random *r, double mean)
{
	double limit = exp(-mean), p = 1;
	int k = -1;

	if (mean > 200)
		return fmax(0, floor(mean + sqrt(mean) * normal(r) + 0.5));
	do {
		k++;
		p *= uniform(r);
	} while (p > limit);
	return k;
}

#endif
