/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pseudo-random numbers for the simulation: the same seed gives the same numbers on every machine. A
 * 64-bit counter in steps of the golden ratio, mixed by two multiplications (the construction known as
 * SplitMix64). Not for secrets. */
#ifndef XSF_RANDOM_H
#define XSF_RANDOM_H

#include <stdint.h>

struct xsf_random {
	uint64_t state; /* any value; the seed */
};

static inline uint64_t xsf_random_mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline uint64_t xsf_random64(struct xsf_random *r)
{
	r->state += 0x9e3779b97f4a7c15;
	return xsf_random_mix(r->state);
}

/* A number in [0, bound), bound at least 1. The bias is below bound / 2^32. */
static inline uint32_t xsf_random_below(struct xsf_random *r, uint32_t bound)
{
	return (uint32_t)((xsf_random64(r) >> 32) * bound >> 32);
}

#endif
