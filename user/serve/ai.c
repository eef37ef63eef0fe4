// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/ai.h"

#include <errno.h>
#include <stdlib.h>

#include "serve/json_write.h"
#include "serve/text.h"

/* Bytes of a value, of a row around its value, and of a point. */
#define VALUE 48
#define ROW (XSF_AI_NAME + 48 + VALUE)
#define POINT (XSF_AI_NR_SERIES * VALUE + 2 * XSF_AI_TOP * ROW + VALUE)
#define HEAD 2048 /* keys and punctuation around the points */

static void text_rows(struct xsf_text *t, const char *family, const char *label,
		      const struct xsf_ai_row *rows, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		XSF_TEXT_LIT(t, "sflow_ai_");
		xsf_text_str(t, family);
		xsf_text_char(t, '{');
		xsf_text_str(t, label);
		XSF_TEXT_LIT(t, "=\"");
		xsf_text_quoted(t, rows[i].name);
		XSF_TEXT_LIT(t, "\"} ");
		xsf_text_double(t, rows[i].value);
		xsf_text_char(t, '\n');
	}
}

char *xsf_ai_text(const struct xsf_ai *ai, size_t *len)
{
	const struct xsf_ai_point *p = xsf_ai_now(ai);
	struct xsf_text t = { .max = POINT + HEAD };

	t.buf = malloc(t.max);
	if (!t.buf)
		return NULL;
	for (uint32_t i = 0; i < XSF_AI_NR_SERIES; i++) {
		XSF_TEXT_LIT(&t, "sflow_ai_");
		xsf_text_str(&t, xsf_ai_keys[i]);
		xsf_text_char(&t, ' ');
		xsf_text_double(&t, p->value[i]);
		xsf_text_char(&t, '\n');
	}
	text_rows(&t, "operations", "name", p->operation, p->nr_operations);
	text_rows(&t, "drops", "reason", p->drop, p->nr_drops);
	return xsf_text_take(&t, len);
}

/* An element of a list, or what follows a key. */
static void json_rows(struct xsf_writer *w, const struct xsf_ai_row *rows, uint32_t nr)
{
	xsf_json_open_at(w, NULL, '{');
	for (uint32_t i = 0; i < nr; i++) {
		xsf_json_next(w);
		xsf_text_char(w->t, '"');
		xsf_text_quoted(w->t, rows[i].name);
		XSF_TEXT_LIT(w->t, "\":");
		xsf_text_double(w->t, rows[i].value);
		w->comma = 1;
	}
	xsf_json_shut(w, '}');
}

static void json_double(struct xsf_writer *w, double v)
{
	xsf_json_next(w);
	xsf_text_double(w->t, v);
	w->comma = 1;
}

char *xsf_ai_trend_json(const struct xsf_ai *ai, uint64_t after, size_t *len)
{
	struct xsf_text t = { .max = (size_t)XSF_AI_POINTS * POINT + HEAD };
	struct xsf_writer w = { .t = &t };
	uint32_t first = 0;
	char *buf;

	while (first < XSF_AI_POINTS && xsf_ai_trend(ai, first)->unix_ms <= after)
		first++;
	t.buf = malloc(t.max);
	if (!t.buf)
		return NULL;
	xsf_json_open_at(&w, NULL, '{');
	xsf_json_open_at(&w, "trend", '{');
	xsf_json_u64(&w, "maxPoints", XSF_AI_POINTS);
	xsf_json_open_at(&w, "trends", '{');
	for (uint32_t n = 0; n < XSF_AI_NR_SERIES; n++) {
		xsf_json_open_at(&w, xsf_ai_keys[n], '[');
		for (uint32_t i = first; i < XSF_AI_POINTS; i++)
			json_double(&w, xsf_ai_trend(ai, i)->value[n]);
		xsf_json_shut(&w, ']');
	}
	xsf_json_open_at(&w, XSF_AI_OPERATIONS, '[');
	for (uint32_t i = first; i < XSF_AI_POINTS; i++)
		json_rows(&w, xsf_ai_trend(ai, i)->operation, xsf_ai_trend(ai, i)->nr_operations);
	xsf_json_shut(&w, ']');
	xsf_json_open_at(&w, XSF_AI_DROPS, '[');
	for (uint32_t i = first; i < XSF_AI_POINTS; i++)
		json_rows(&w, xsf_ai_trend(ai, i)->drop, xsf_ai_trend(ai, i)->nr_drops);
	xsf_json_shut(&w, ']');
	xsf_json_shut(&w, '}');
	xsf_json_open_at(&w, "times", '[');
	for (uint32_t i = first; i < XSF_AI_POINTS; i++)
		xsf_json_u64(&w, NULL, xsf_ai_trend(ai, i)->unix_ms);
	xsf_json_shut(&w, ']');
	xsf_json_shut(&w, '}');
	xsf_json_shut(&w, '}');
	t.buf = xsf_text_take(&t, len);
	/* Most of the room is for names that are seldom that long. */
	buf = t.buf ? realloc(t.buf, *len) : NULL;
	return buf ? buf : t.buf;
}

char *xsf_ai_metric_json(const struct xsf_ai *ai, size_t *len)
{
	const struct xsf_ai_point *p = xsf_ai_now(ai);
	struct xsf_text t = { .max = POINT + HEAD };
	struct xsf_writer w = { .t = &t };

	t.buf = malloc(t.max);
	if (!t.buf)
		return NULL;
	xsf_json_open_at(&w, NULL, '{');
	for (uint32_t i = 0; i < XSF_AI_NR_SERIES; i++) {
		xsf_json_key(&w, xsf_ai_keys[i]);
		json_double(&w, p->value[i]);
	}
	xsf_json_key(&w, XSF_AI_OPERATIONS);
	json_rows(&w, p->operation, p->nr_operations);
	xsf_json_key(&w, XSF_AI_DROPS);
	json_rows(&w, p->drop, p->nr_drops);
	xsf_json_shut(&w, '}');
	return xsf_text_take(&t, len);
}

int xsf_ai_value_json(const struct xsf_ai *ai, const char *key, char **out, size_t *len)
{
	const struct xsf_ai_point *p = xsf_ai_now(ai);
	struct xsf_text t = { .max = XSF_AI_TOP * ROW + HEAD };
	struct xsf_writer w = { .t = &t };
	uint32_t i = 0;

	*out = NULL;
	while (i < XSF_AI_NR_SERIES && strcmp(key, xsf_ai_keys[i]) != 0)
		i++;
	if (i == XSF_AI_NR_SERIES && strcmp(key, XSF_AI_OPERATIONS) != 0 &&
	    strcmp(key, XSF_AI_DROPS) != 0)
		return -ENOENT;
	t.buf = malloc(t.max);
	if (!t.buf)
		return -ENOMEM;
	if (i < XSF_AI_NR_SERIES)
		json_double(&w, p->value[i]);
	else if (!strcmp(key, XSF_AI_OPERATIONS))
		json_rows(&w, p->operation, p->nr_operations);
	else
		json_rows(&w, p->drop, p->nr_drops);
	*out = xsf_text_take(&t, len);
	return *out ? 0 : -ENOMEM;
}

static void json_baseline(struct xsf_writer *w, const char *key, const struct xsf_ai_baseline *b)
{
	struct xsf_ai_stats stats;

	xsf_ai_baseline_stats(b, &stats);
	xsf_json_open_at(w, key, '{');
	xsf_json_u64(w, "n", b->nr);
	xsf_json_key(w, "mean");
	json_double(w, stats.mean);
	xsf_json_key(w, "sdev");
	json_double(w, stats.sdev);
	xsf_json_key(w, "min");
	json_double(w, stats.min);
	xsf_json_key(w, "max");
	json_double(w, stats.max);
	xsf_json_shut(w, '}');
}

char *xsf_ai_period_json(const struct xsf_ai *ai, const struct xsf_ai_fast *fast, size_t *len)
{
	struct xsf_text t = { .max = HEAD };
	struct xsf_writer w = { .t = &t };

	t.buf = malloc(t.max);
	if (!t.buf)
		return NULL;
	xsf_json_open_at(&w, NULL, '{');
	xsf_json_key(&w, "value");
	json_double(&w, fast->value);
	xsf_json_key(&w, "period");
	json_double(&w, xsf_ai_now(ai)->value[XSF_AI_period]);
	xsf_json_key(&w, "threshold");
	json_double(&w, xsf_ai_fast_threshold(fast));
	json_baseline(&w, "baselineLoad", &fast->load);
	json_baseline(&w, "baselinePeriod", &fast->period);
	xsf_json_shut(&w, '}');
	return xsf_text_take(&t, len);
}
