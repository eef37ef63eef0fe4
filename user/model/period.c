// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/period.h"

#include <stdlib.h>
#include <string.h>

/* A slot is whole when the coarse clock, up to 10 ms behind, is beyond it. */
#define LAG_NS 20000000

/* Without ingress for that long, the edge is seen by its egress (DESIGN 5.1): 60 s. */
#define EDGE_BINS 6000

#define WAYS 2 /* XSF_INGRESS, XSF_EGRESS */

/* One row's history. */
struct history {
	int begun;
	uint64_t next; /* slot since the clock began that is read next */
	uint32_t nr;
	uint32_t was[XSF_TIMELINE_SLOTS]; /* low half of packets; no slot gets 2^32 in its 10 ms */
	float bins[2 * XSF_PERIOD_BINS];  /* nr of them */
};

struct xsf_periods {
	uint32_t nr;
	struct history *history; /* WAYS of each line */
	struct xsf_period_found *found;
	struct xsf_period_work *work;
};

uint32_t xsf_periods_row(uint32_t line, uint32_t direction)
{
	/* Edge of fabric n: group 1 + 2 n (struct xsf_group). */
	return (line ? 2 * line - 1 : 0) * XSF_DIRECTIONS + direction;
}

struct xsf_periods *xsf_periods_new(uint32_t nr_groups)
{
	struct xsf_periods *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->nr = 1 + (nr_groups - 1) / 2;
	p->history = calloc((size_t)p->nr * WAYS, sizeof(*p->history));
	p->found = calloc(p->nr, sizeof(*p->found));
	p->work = xsf_period_work_new();
	if (!p->history || !p->found || !p->work) {
		xsf_periods_free(p);
		return NULL;
	}
	return p;
}

void xsf_periods_free(struct xsf_periods *p)
{
	if (!p)
		return;
	free(p->history);
	free(p->found);
	xsf_period_work_free(p->work);
	free(p);
}

uint32_t xsf_periods_nr(const struct xsf_periods *p)
{
	return p->nr;
}

static uint32_t packets(const struct xsf_timeline_row *row, uint64_t slot)
{
	/* A live map. */
	const volatile __u64 *at = &row->bin[slot % XSF_TIMELINE_SLOTS].packets;

	return (uint32_t)*at;
}

static void begin(struct history *h, const struct xsf_timeline_row *row, uint64_t slot)
{
	for (uint32_t i = 0; i < XSF_TIMELINE_SLOTS; i++)
		h->was[i] = packets(row, i);
	h->begun = 1;
	h->next = slot;
	h->nr = 0;
}

void xsf_periods_read(struct xsf_periods *p, uint32_t line, uint32_t direction,
		      const struct xsf_timeline_row *row, uint64_t now_ns)
{
	struct history *h = &p->history[line * WAYS + direction];
	uint64_t end = (now_ns < LAG_NS ? 0 : now_ns - LAG_NS) / XSF_TIMELINE_NS;

	if (h->begun && end < h->next)
		return;
	/* A few less than a revolution: the newest slots are being written. */
	if (!h->begun || end - h->next > XSF_TIMELINE_SLOTS - 8) {
		/* The slots from `end` on may have counts by now: they begin behind them. */
		begin(h, row, end + LAG_NS / XSF_TIMELINE_NS + 1);
		return;
	}
	for (; h->next < end; h->next++) {
		uint32_t now = packets(row, h->next), *was = &h->was[h->next % XSF_TIMELINE_SLOTS];

		if (h->nr == 2 * XSF_PERIOD_BINS) {
			h->nr = XSF_PERIOD_BINS;
			memmove(h->bins, h->bins + h->nr, h->nr * sizeof(*h->bins));
		}
		h->bins[h->nr++] = (float)(now - *was);
		*was = now;
	}
}

static int has_counts(const struct history *h, uint32_t nr)
{
	for (uint32_t i = h->nr < nr ? 0 : h->nr - nr; i < h->nr; i++) {
		if (h->bins[i] > 0)
			return 1;
	}
	return 0;
}

void xsf_periods_find(struct xsf_periods *p, const struct xsf_batching *batching)
{
	for (uint32_t line = 0; line < p->nr; line++) {
		struct history *h = &p->history[line * WAYS];
		struct xsf_period_found *found = &p->found[line];

		if (!has_counts(h, EDGE_BINS))
			h++;
		if (!has_counts(h, EDGE_BINS)) {
			*found = (struct xsf_period_found){ 0 };
			continue;
		}
		*found = xsf_period_find(p->work, h->bins, h->nr, xsf_batching_held(batching, line),
					 found);
		/* What is older is looked at no more. */
		if (found->past.keep < XSF_MIN(h->nr, XSF_PERIOD_BINS)) {
			memmove(h->bins, h->bins + h->nr - found->past.keep,
				found->past.keep * sizeof(*h->bins));
			h->nr = found->past.keep;
		}
	}
}

const struct xsf_period_found *xsf_periods_found(const struct xsf_periods *p)
{
	return p->found;
}
