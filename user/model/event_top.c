// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/event_top.h"

#include <stdlib.h>
#include <string.h>
#include "model/random.h"

#define HASH (4 * XSF_TOP_ROWS) /* a power of two */
#define OTHER XSF_TOP_ROWS

struct entry {
	char *key;
	size_t len;
	uint64_t total;
	uint64_t before; /* total at the last tick */
	double rate;
};

struct xsf_top {
	uint64_t seed;
	uint32_t nr;
	uint32_t hash[HASH]; /* 1 + place; 0: none */
	struct entry entry[XSF_TOP_ROWS + 1];
	struct xsf_top_row rows[XSF_TOP_ROWS + 1];
};

struct xsf_top *xsf_top_new(uint64_t seed)
{
	struct xsf_top *top = calloc(1, sizeof(*top));

	if (top)
		top->seed = seed;
	return top;
}

void xsf_top_free(struct xsf_top *top)
{
	if (!top)
		return;
	for (uint32_t i = 0; i < top->nr; i++)
		free(top->entry[i].key);
	free(top);
}

/* The key's entry, made when there is room. */
static struct entry *find(struct xsf_top *top, const char *key, size_t len)
{
	uint64_t h = top->seed;
	struct entry *e;
	uint32_t at;

	for (size_t i = 0; i < len; i++)
		h = xsf_random_mix(h ^ (uint8_t)key[i]);
	for (at = h % HASH; top->hash[at]; at = (at + 1) % HASH) {
		e = &top->entry[top->hash[at] - 1];
		if (e->len == len && !memcmp(e->key, key, len))
			return e;
	}
	if (top->nr == XSF_TOP_ROWS)
		return &top->entry[OTHER];
	e = &top->entry[top->nr];
	e->key = malloc(len + 1);
	if (!e->key)
		return &top->entry[OTHER];
	memcpy(e->key, key, len);
	e->key[len] = 0;
	e->len = len;
	top->hash[at] = ++top->nr;
	return e;
}

void xsf_top_add(struct xsf_top *top, const char *key, size_t len)
{
	find(top, key, len < XSF_TOP_KEY ? len : XSF_TOP_KEY - 1)->total++;
}

void xsf_top_tick(struct xsf_top *top, double seconds)
{
	for (uint32_t i = 0; i <= XSF_TOP_ROWS; i++) {
		struct entry *e = &top->entry[i];

		e->rate = (double)(e->total - e->before) / seconds;
		e->before = e->total;
	}
}

static int by_rate(const void *a, const void *b)
{
	const struct xsf_top_row *x = a, *y = b;

	if (x->rate != y->rate)
		return x->rate > y->rate ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (!x->key || !y->key)
		return !x->key - !y->key;
	return strcmp(x->key, y->key);
}

uint32_t xsf_top_rows(struct xsf_top *top, const struct xsf_top_row **rows)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= XSF_TOP_ROWS; i++) {
		const struct entry *e = &top->entry[i];

		if (e->total)
			top->rows[n++] = (struct xsf_top_row){ .key = e->key,
							       .total = e->total,
							       .rate = e->rate };
	}
	qsort(top->rows, n, sizeof(*top->rows), by_rate);
	*rows = top->rows;
	return n;
}
