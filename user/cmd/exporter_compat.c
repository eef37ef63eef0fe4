// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* sFlow-RT's own paths in the exporter: metrics of interfaces, agents, the collector. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/exporter_state.h"
#include "serve/compat.h"
#include "serve/metrics.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Time that all CPUs were busy, and all time, in ticks since boot: user, nice, system, idle, iowait, irq,
 * softirq, steal (proc(5), stat). 0 when it was read. */
static int system_time(uint64_t *busy, uint64_t *all)
{
	FILE *f = fopen("/proc/stat", "re");
	char line[512], *at = line + 3;
	int ok;

	if (!f)
		return -1;
	ok = fgets(line, sizeof(line), f) && !strncmp(line, "cpu ", 4);
	fclose(f);
	*busy = *all = 0;
	for (int n = 0; n < 8 && ok; n++) {
		char *end;
		uint64_t ticks = strtoull(at, &end, 10);

		ok = end != at;
		at = end;
		*all += ticks;
		if (n != 3 && n != 4)
			*busy += ticks;
	}
	return ok ? 0 : -1;
}

void xsf_exporter_load_update(struct xsf_exporter_load *l)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t busy, all;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!l->start_ns)
		l->start_ns = now;
	else if (now > l->last_ns && cpus > 0)
		l->process = (double)(cpu - l->cpu_ns) / (double)(now - l->last_ns) / (double)cpus;
	l->last_ns = now;
	l->cpu_ns = cpu;
	if (system_time(&busy, &all))
		return;
	if (l->all && all > l->all)
		l->system = (double)(busy - l->busy) / (double)(all - l->all);
	l->busy = busy;
	l->all = all;
}

static void self(const struct xsf_exporter *e, struct xsf_compat_self *out)
{
	const struct xsf_http_counts *c = xsf_http_counts(e->http);

	*out = (struct xsf_compat_self){
		.cpu_process = e->load.process,
		.cpu_system = e->load.system,
		.heap_used = mallinfo2().uordblks + mallinfo2().hblkhd,
		.heap_max = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
		.uptime_ms = (clock_ns(CLOCK_MONOTONIC) - e->load.start_ns) / 1000000,
		.http_open = c->open,
		.http_total = c->accepted,
	};
}

/* 0; or the reply is made, and *s not to be read. */
static int counts(struct xsf_exporter *e, struct xsf_snapshot *s, struct xsf_http_reply *reply)
{
	char why[XSF_WHY_LEN];
	int err = xsf_exporter_snapshot(e, s, XSF_SNAPSHOT_NO_ROWS | XSF_SNAPSHOT_NO_PROGRAMS, why);

	if (err)
		xsf_http_reply_line(reply, 503, "%s", why);
	return err;
}

/* ---- /prometheus/metrics/{agents}/{metrics}/txt ---- */

struct metrics_reply {
	struct maps_ref *ref;
	struct xsf_compat_metrics *metrics;
	struct xsf_snapshot s;
};

static ssize_t metrics_read(void *state, char *buf, size_t max)
{
	return xsf_compat_metrics_read(((struct metrics_reply *)state)->metrics, buf, max);
}

static void metrics_free(void *state)
{
	struct metrics_reply *m = state;

	xsf_compat_metrics_close(m->metrics);
	xsf_exporter_release(m->ref);
	free(m);
}

static uint32_t most_interfaces(const struct xsf_exporter *e)
{
	return e->options->max_interfaces ? e->options->max_interfaces : XSF_METRICS_INTERFACES;
}

static int too_many(struct xsf_http_reply *reply)
{
	return xsf_http_reply_line(reply, 400, "more than %d names in a list", XSF_IF_NAMES);
}

int xsf_handle_compat_metrics(void *arg, const struct xsf_http_request *request,
			      struct xsf_http_reply *reply)
{
	struct xsf_exporter *e = arg;
	struct metrics_reply *m = calloc(1, sizeof(*m));
	struct xsf_if_view view;
	int err;

	if (!m)
		return -ENOMEM;
	view = (struct xsf_if_view){ .s = &m->s, .b = e->bindings, .r = e->rates };
	if (counts(e, &m->s, reply)) {
		free(m);
		return 0;
	}
	m->ref = xsf_exporter_hold(e);
	err = xsf_compat_metrics_open(&view, xsf_http_variable(request, 0),
				      xsf_http_variable(request, 1), most_interfaces(e),
				      &m->metrics);
	if (err) {
		metrics_free(m);
		return err == -E2BIG ? too_many(reply) : err;
	}
	reply->content_type = XSF_METRICS_CONTENT_TYPE;
	reply->read = metrics_read;
	reply->free = metrics_free;
	reply->state = m;
	return 0;
}

/* ---- documents ---- */

int xsf_handle_compat_metric(void *arg, const struct xsf_http_request *request,
			     struct xsf_http_reply *reply)
{
	static struct xsf_snapshot s; /* large; not beyond this call */
	struct xsf_exporter *e = arg;
	const struct xsf_if_view view = { .s = &s, .b = e->bindings, .r = e->rates };
	char *text;
	size_t len;
	int err;

	if (counts(e, &s, reply))
		return 0;
	err = xsf_compat_metric_json(&view, xsf_http_variable(request, 0),
				     xsf_http_variable(request, 1), UINT32_MAX, &text, &len);
	if (err == -E2BIG)
		return too_many(reply);
	return err ? err : xsf_http_reply_bytes(reply, XSF_CONTENT_JSON, text, len);
}

int xsf_handle_compat_agents(void *arg, const struct xsf_http_request *request,
			     struct xsf_http_reply *reply)
{
	static struct xsf_snapshot s;
	size_t len = 0;
	char *text;

	(void)request;
	if (counts(arg, &s, reply))
		return 0;
	text = xsf_compat_agents_json(&s, &len);
	return text ? xsf_http_reply_bytes(reply, XSF_CONTENT_JSON, text, len) : -ENOMEM;
}

int xsf_handle_compat_analyzer(void *arg, const struct xsf_http_request *request,
			       struct xsf_http_reply *reply)
{
	static struct xsf_snapshot s;
	struct xsf_compat_self me;
	size_t len = 0;
	char *text;

	if (counts(arg, &s, reply))
		return 0;
	self(arg, &me);
	if (!strcmp(xsf_http_path(request), "/analyzer/json")) {
		text = xsf_compat_analyzer_json(&s, &me, &len);
		return text ? xsf_http_reply_bytes(reply, XSF_CONTENT_JSON, text, len) : -ENOMEM;
	}
	text = xsf_compat_analyzer_text(&s, &me, &len);
	return text ? xsf_http_reply_bytes(reply, XSF_METRICS_CONTENT_TYPE, text, len) : -ENOMEM;
}

int xsf_handle_compat_version(void *arg, const struct xsf_http_request *request,
			      struct xsf_http_reply *reply)
{
	(void)arg;
	(void)request;
	snprintf(reply->text, sizeof(reply->text), "%s", XSF_VERSION);
	return 0;
}
