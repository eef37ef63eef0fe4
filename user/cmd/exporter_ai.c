// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The AI metrics in the exporter: refreshed with each tick, whether anybody asks or not, so that the first
 * request finds rates and their trend. */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/exporter_state.h"
#include "serve/ai.h"
#include "serve/metrics.h"

/* Updates are further apart than that: a topology that was PUT is bound at once, not in the next tick. */
#define LEAST_NS 500000000ull

/* Group of the first fabric's edge (abi.h, struct xsf_group). */
#define FIRST_EDGE 1

int xsf_exporter_ai_open(struct xsf_exporter *e)
{
	e->rates = xsf_rates_new();
	e->ai = xsf_ai_new(&e->options->ai, xsf_exporter_unix_ns(xsf_exporter_now_ns()) / 1000000);
	if (e->rates && e->ai)
		return 0;
	xsf_error("cannot serve: %s", strerror(ENOMEM));
	return XSF_EXIT_FAILURE;
}

void xsf_exporter_ai_close(struct xsf_exporter *e)
{
	xsf_rates_free(e->rates);
	xsf_ai_free(e->ai);
}

/* What the timeline has of the first fabric's edge by now. */
static void read_fast(struct xsf_exporter *e)
{
	uint32_t direction = xsf_ai_edge_direction(e->ai);
	const struct xsf_timeline_row *row = NULL;

	if (e->fast_direction != direction)
		xsf_ai_fast_reset(&e->fast);
	e->fast_direction = direction;
	if (e->current && e->rates_opened == e->opened)
		row = xsf_maps_timeline(e->current->maps, FIRST_EDGE * XSF_DIRECTIONS + direction);
	if (row)
		xsf_ai_fast_read(&e->fast, row, xsf_exporter_now_ns());
}

void xsf_exporter_ai_update(struct xsf_exporter *e, const struct xsf_snapshot *s)
{
	uint64_t now = s ? s->now_ns : xsf_exporter_now_ns();
	uint64_t unix_ms = xsf_exporter_unix_ns(now) / 1000000;

	if (e->load.last_ns + LEAST_NS < now)
		xsf_exporter_load_update(&e->load);
	if (!s) {
		xsf_ai_blank(e->ai, now, unix_ms);
		return;
	}
	if (e->rates_opened != e->opened) {
		xsf_rates_reset(e->rates);
		xsf_ai_reset(e->ai);
		xsf_ai_fast_reset(&e->fast);
		e->rates_opened = e->opened;
	} else if (now < e->ai_ns + LEAST_NS) {
		return;
	}
	e->ai_ns = now;
	xsf_rates_update(e->rates, s);
	/* Line 1 is the first fabric (model/period.h). */
	xsf_ai_update(e->ai, s, e->bindings, e->rates, unix_ms,
		      s->nr_periods > 1 ? s->periods[1].seconds : 0);
	read_fast(e);
	xsf_ai_fast_second(&e->fast, xsf_ai_frames(e->ai), xsf_ai_now(e->ai)->value[XSF_AI_period]);
}

/* ---- endpoints ---- */

/* Takes the document; NULL: there was no memory for it. */
static int answer(struct xsf_http_reply *reply, const char *type, char *text, size_t len)
{
	return text ? xsf_http_reply_bytes(reply, type, text, len) : -ENOMEM;
}

int xsf_handle_ai_text(void *arg, const struct xsf_http_request *request,
		       struct xsf_http_reply *reply)
{
	const struct xsf_exporter *e = arg;
	size_t len = 0;
	char *text = xsf_ai_text(e->ai, &len);

	(void)request;
	return answer(reply, XSF_METRICS_CONTENT_TYPE, text, len);
}

int xsf_handle_ai_json(void *arg, const struct xsf_http_request *request,
		       struct xsf_http_reply *reply)
{
	struct xsf_exporter *e = arg;
	const char *what = xsf_http_variable(request, 0);
	const char *after = xsf_http_argument(request, "after");
	uint64_t after_ms = 0;
	char *text = NULL;
	size_t len = 0;

	if (!strcmp(what, "trend")) {
		if (after && xsf_parse_u64(after, 0, UINT64_MAX, &after_ms))
			return xsf_http_reply_line(reply, 400, "after is not a number of ms");
		text = xsf_ai_trend_json(e->ai, after_ms, &len);
	} else if (!strcmp(what, "metric")) {
		text = xsf_ai_metric_json(e->ai, &len);
	} else if (!strcmp(what, "period")) {
		read_fast(e);
		text = xsf_ai_period_json(e->ai, &e->fast, &len);
	} else {
		return xsf_http_reply_line(reply, 404, "no such path; see /");
	}
	return answer(reply, XSF_CONTENT_JSON, text, len);
}

int xsf_handle_ai_value(void *arg, const struct xsf_http_request *request,
			struct xsf_http_reply *reply)
{
	const struct xsf_exporter *e = arg;
	char *text;
	size_t len;
	int err = xsf_ai_value_json(e->ai, xsf_http_variable(request, 0), &text, &len);

	if (err == -ENOENT)
		return xsf_http_reply_line(reply, 404, "no such metric; see metric/json");
	return err ? err : xsf_http_reply_bytes(reply, XSF_CONTENT_JSON, text, len);
}
