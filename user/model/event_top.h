/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A table of how many notifications there were of each kind, and how many a second: for `drops --top`.
 * Bounded; what finds no place counts as "other". */
#ifndef XSF_EVENT_TOP_H
#define XSF_EVENT_TOP_H

#include <stddef.h>
#include <stdint.h>

#define XSF_TOP_ROWS 4096 /* the rest under "other" */
#define XSF_TOP_KEY 512	  /* bytes of a key, its end included; longer ones are cut */

struct xsf_top;

struct xsf_top_row {
	const char *key; /* terminated; "other" is the one without a key of its own: NULL */
	uint64_t total;
	double rate; /* a second, over the last interval */
};

/* seed: random. NULL: no memory. */
struct xsf_top *xsf_top_new(uint64_t seed);
void xsf_top_free(struct xsf_top *top);

void xsf_top_add(struct xsf_top *top, const char *key, size_t len);

/* Ends an interval of so many seconds (above 0): its counts become the rates. */
void xsf_top_tick(struct xsf_top *top, double seconds);

/* Rows by falling rate, then total, then key; of "other" as long as it is not 0. Valid until the next call
 * for this table. Returns their number, at most XSF_TOP_ROWS + 1. */
uint32_t xsf_top_rows(struct xsf_top *top, const struct xsf_top_row **rows);

#endif
