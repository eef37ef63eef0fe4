// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/ai_fast.h"

#include <math.h>
#include <string.h>

#include "model/rates.h"

/* The programs' clock is up to a jiffy, 10 ms at most, behind. */
#define LATE_NS 20000000

void xsf_ai_fast_reset(struct xsf_ai_fast *f)
{
	memset(f, 0, sizeof(*f));
}

void xsf_ai_fast_read(struct xsf_ai_fast *f, const struct xsf_timeline_row *row, uint64_t now_ns)
{
	uint64_t end = now_ns > LATE_NS ? (now_ns - LATE_NS) / XSF_TIMELINE_NS : 0;
	struct xsf_smooth step;

	xsf_smooth_step(&step, XSF_TIMELINE_NS, XSF_AI_FAST_T_NS);
	if (!f->next_slot || end > f->next_slot + XSF_TIMELINE_SLOTS) {
		for (uint32_t i = 0; i < XSF_TIMELINE_SLOTS; i++)
			f->packets[i] = row->bin[i].packets;
		f->next_slot = end;
		f->value = 0;
		return;
	}
	for (; f->next_slot < end; f->next_slot++) {
		uint32_t i = (uint32_t)(f->next_slot % XSF_TIMELINE_SLOTS);
		uint64_t packets = row->bin[i].packets;

		f->value = xsf_smooth(&step, f->value, (double)(packets - f->packets[i]));
		f->packets[i] = packets;
	}
}

static void add(struct xsf_ai_baseline *b, double value)
{
	b->value[b->next] = value;
	b->next = (b->next + 1) % XSF_AI_WINDOW;
	if (b->nr < XSF_AI_WINDOW)
		b->nr++;
}

void xsf_ai_fast_second(struct xsf_ai_fast *f, double load, double period)
{
	add(&f->load, load);
	if (period > 0)
		add(&f->period, period);
	else
		memset(&f->period, 0, sizeof(f->period));
}

void xsf_ai_baseline_stats(const struct xsf_ai_baseline *b, struct xsf_ai_stats *out)
{
	double sum = 0, squares = 0;

	memset(out, 0, sizeof(*out));
	if (!b->nr)
		return;
	out->min = out->max = b->value[0];
	for (uint32_t i = 0; i < b->nr; i++) {
		sum += b->value[i];
		out->min = fmin(out->min, b->value[i]);
		out->max = fmax(out->max, b->value[i]);
	}
	out->mean = sum / b->nr;
	for (uint32_t i = 0; i < b->nr; i++)
		squares += (b->value[i] - out->mean) * (b->value[i] - out->mean);
	out->sdev = sqrt(squares / b->nr);
}

double xsf_ai_fast_threshold(const struct xsf_ai_fast *f)
{
	struct xsf_ai_stats s;

	if (f->load.nr < XSF_AI_WINDOW)
		return 0;
	xsf_ai_baseline_stats(&f->load, &s);
	return s.mean;
}
