// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Flows in the exporter: a reader of events as long as a definition wants them, and the endpoints.
 *
 * The rings are opened at the start, with all rights, and cost a place of XSF_EVENT_READERS and their memory;
 * events come only while a definition takes them. When the maps are replaced they are opened anew, if the
 * rights that are left allow it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/exporter_state.h"
#include "kernel/events.h"
#include "model/flow_names.h"
#include "model/flow_set.h"
#include "model/flow_tables.h"
#include "serve/flows.h"
#include "serve/metrics.h"

/* Events are read for so long before HTTP has its turn; before an answer is made, as long as that at most. */
#define TURN_NS 10000000ull
#define CATCH_UP_NS 50000000ull

struct xsf_exporter_flows {
	struct xsf_flow_set *set;
	struct xsf_name_table *names;
	struct xsf_events *events; /* NULL: not open, `why` says why */
	char why[XSF_WHY_LEN];
	uint64_t until_ns; /* events are read */
	int told;
	int watched; /* the events' descriptor is in the loop */
	uint64_t opened;
	struct xsf_event_counts before; /* of events that were closed */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- events ---- */

static int wanted(const struct xsf_exporter_flows *f)
{
	return xsf_flow_set_at(f->set, 0) != NULL;
}

static void want(struct xsf_exporter_flows *f)
{
	if (!f->events)
		return;
	xsf_events_want_drops(f->events, xsf_flow_set_wants(f->set, 1));
	xsf_events_want_samples(f->events, xsf_flow_set_wants(f->set, 0));
}

static void add_counts(struct xsf_event_counts *sum, struct xsf_event_counts c)
{
	sum->drops_sent += c.drops_sent;
	sum->drops_shed += c.drops_shed;
	sum->samples_sent += c.samples_sent;
	sum->samples_shed += c.samples_shed;
}

static void close_events(struct xsf_exporter_flows *f)
{
	struct xsf_event_counts counts;

	if (!f->events)
		return;
	if (!xsf_events_counts(f->events, &counts))
		add_counts(&f->before, counts);
	xsf_events_close(f->events);
	f->events = NULL;
	f->watched = 0;
}

static void open_events(struct xsf_exporter *e)
{
	const struct xsf_events_options options = { .dir = e->options->maps_dir,
						    .drops_ring = XSF_EVENTS_RING_DEFAULT,
						    .samples_ring = XSF_EVENTS_RING_DEFAULT };
	struct xsf_exporter_flows *f = e->flows;

	if (xsf_events_open(&options, &f->events, f->why, sizeof(f->why))) {
		f->events = NULL;
		return;
	}
	f->opened++;
	want(f);
}

/* The rings of the maps that are pinned now, if they can be had. */
static void follow_maps(struct xsf_exporter *e)
{
	struct xsf_exporter_flows *f = e->flows;

	if (f->events && !xsf_events_current(f->events))
		close_events(f);
	if (!f->events)
		open_events(e);
	if (!f->events && !f->told)
		xsf_error("%s; flows are not served until events can be read", f->why);
	else if (f->events && f->told)
		xsf_error("events can be read again");
	f->told = !f->events;
}

/* How long one takes is up to the definitions. */
static int one_event(void *arg, const struct xsf_event *event)
{
	struct xsf_exporter_flows *f = arg;

	xsf_flow_set_add(f->set, xsf_name_table_names(f->names), event);
	return now_ns() >= f->until_ns;
}

static void read_events(struct xsf_exporter_flows *f, uint64_t budget_ns)
{
	f->until_ns = now_ns() + budget_ns;
	if (f->events)
		xsf_events_read(f->events, UINT_MAX, one_event, f);
}

void xsf_exporter_flows_run(struct xsf_exporter *e)
{
	read_events(e->flows, TURN_NS);
}

void xsf_exporter_flows_watch(struct xsf_exporter *e, int epoll_fd)
{
	struct xsf_exporter_flows *f = e->flows;
	struct epoll_event event = { .events = EPOLLIN };

	if (!f->events || f->watched)
		return;
	event.data.fd = xsf_events_fd(f->events);
	f->watched = !epoll_ctl(epoll_fd, EPOLL_CTL_ADD, event.data.fd, &event);
}

int xsf_exporter_flows_fd(const struct xsf_exporter *e)
{
	return e->flows->events ? xsf_events_fd(e->flows->events) : -1;
}

/* ---- start, each second, end ---- */

int xsf_exporter_flows_open(struct xsf_exporter *e)
{
	uint64_t seed = now_ns();

	e->flows = calloc(1, sizeof(*e->flows));
	if (e->flows) {
		getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
		e->flows->set = xsf_flow_set_new(seed);
		e->tables = xsf_flow_tables_new();
		e->flows->names = xsf_name_table_new(seed, e->tables);
	}
	if (e->flows && e->flows->set && e->tables && e->flows->names)
		return 0;
	xsf_error("cannot serve: %s", strerror(ENOMEM));
	return XSF_EXIT_FAILURE;
}

void xsf_exporter_flows_start(struct xsf_exporter *e)
{
	open_events(e);
}

void xsf_exporter_flows_tick(struct xsf_exporter *e, const struct xsf_snapshot *s)
{
	struct xsf_exporter_flows *f = e->flows;

	/* What is sent to readers that were killed would count as shed. */
	xsf_events_clean(e->options->maps_dir);
	if (!wanted(f))
		return;
	xsf_flow_set_expire(f->set, now_ns());
	want(f);
	if (!wanted(f))
		return;
	follow_maps(e);
	if (s)
		xsf_name_table_update(f->names, s, e->bindings);
}

void xsf_exporter_flows_close(struct xsf_exporter *e)
{
	if (!e->flows)
		return;
	close_events(e->flows);
	xsf_name_table_free(e->flows->names);
	xsf_flow_tables_free(e->tables);
	xsf_flow_set_free(e->flows->set);
	free(e->flows);
}

/* ---- /metrics ---- */

uint32_t xsf_exporter_flows_values(const struct xsf_exporter *e, struct xsf_metrics_extra *x)
{
	static const char *const kinds[] = { "kind=\"sample\"", "kind=\"drop\"" };
	const struct xsf_exporter_flows *f = e->flows;
	const struct xsf_metrics_extra *first = x;
	struct xsf_event_counts rings = f->before, now;
	struct xsf_flow_set_counts c;

	xsf_flow_set_count(f->set, &c);
	if (f->events && !xsf_events_counts(f->events, &now))
		add_counts(&rings, now);
	for (int kind = 0; kind < 2; kind++)
		*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_flow_events_read_total",
						   .help = "Events read for definitions of flows.",
						   .labels = kinds[kind],
						   .value = c.events[kind] };
	for (int kind = 0; kind < 2; kind++)
		*x++ = (struct xsf_metrics_extra){
			.name = "xdp_sflow_flow_events_shed_total",
			.help = "Events that found no room in the exporter's ring; the next one "
				"stands for them.",
			.labels = kinds[kind],
			.value = kind ? rings.drops_shed : rings.samples_shed
		};
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_flow_events_open",
					   .help = "1: the exporter has rings for events.",
					   .value = f->events != NULL,
					   .gauge = 1 };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_flow_definitions",
					   .help = "Definitions of flows in force.",
					   .labels = "of=\"scrape\"",
					   .value = c.scraped,
					   .gauge = 1 };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_flow_definitions",
					   .labels = "of=\"name\"",
					   .value = c.named,
					   .gauge = 1 };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_flow_definitions_expired_total",
					   .help = "Definitions of scrapes that nobody repeated.",
					   .value = c.expired };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_flow_definitions_refused_total",
					   .help = "Definitions refused because there were as many "
						   "as there may be.",
					   .value = c.refused };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_flow_records",
					   .help = "Flows that are being counted.",
					   .value = c.records,
					   .gauge = 1 };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_flow_counted_total",
					   .help = "Events counted, once for each definition that "
						   "they fit.",
					   .value = c.counted };
	*x++ = (struct xsf_metrics_extra){
		.name = "xdp_sflow_flow_records_full_total",
		.help = "Events not counted for want of room for another "
			"flow.",
		.value = c.full
	};
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_flow_tables",
					   .help = "Tables that keys of flows look up.",
					   .labels = "kind=\"group\"",
					   .value = xsf_flow_tables_count(e->tables,
									  XSF_FLOW_GROUPS),
					   .gauge = 1 };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_flow_tables",
					   .labels = "kind=\"map\"",
					   .value = xsf_flow_tables_count(e->tables, XSF_FLOW_MAPS),
					   .gauge = 1 };
	return (uint32_t)(x - first);
}

/* ---- endpoints ---- */

static unsigned int values(const void *arg, const char *name, const char **to, unsigned int max)
{
	return xsf_http_arguments(arg, name, to, max);
}

/* Answers what is wrong with a definition. 0 or -ENOMEM. */
static int refused(int err, const char *why, struct xsf_http_reply *reply)
{
	if (err == -ENOSPC)
		return xsf_http_reply_line(
			reply, 503,
			"there are %d definitions of flows; those of scrapes end "
			"%llu s after the last one, others with DELETE "
			"/flow/{name}/json",
			XSF_FLOWS, XSF_FLOW_EXPIRE_NS / 1000000000);
	return err == -EINVAL ? xsf_http_reply_line(reply, 400, "%s", why) : err;
}

/* After the definitions have changed: names and events for them, now. */
static void changed(struct xsf_exporter *e)
{
	want(e->flows);
	e->next_tick_ms = 0;
	xsf_exporter_tick(e);
}

/* What is counted by now. 0 or more rows; else negative errno, or 503 in *reply (-EAGAIN). */
static int rows_now(struct xsf_exporter *e, struct xsf_flow_definition *d,
		    const struct xsf_flows_query *q, const struct xsf_flow_row **rows,
		    struct xsf_http_reply *reply)
{
	struct xsf_exporter_flows *f = e->flows;
	struct xsf_flow_error error;
	char why[XSF_FLOWS_WHY];
	int nr;

	if (!f->events) {
		xsf_http_reply_line(reply, 503, "%s", f->why);
		return -EAGAIN;
	}
	read_events(f, CATCH_UP_NS);
	nr = xsf_flow_set_rows(f->set, d, &q->query, now_ns(), rows, &error);
	if (nr == -EINVAL) {
		xsf_flows_error(NULL, &error, why);
		xsf_http_reply_line(reply, 400, "%s", why);
		return -EAGAIN;
	}
	return nr;
}

/* The definition that is asked for; *made: it is new. */
static int scraped(struct xsf_exporter *e, const struct xsf_flows_query *q,
		   struct xsf_flow_definition **d, int *made, struct xsf_http_reply *reply)
{
	struct xsf_exporter_flows *f = e->flows;
	struct xsf_flow_set_counts before, after;
	struct xsf_flow_error error;
	char why[XSF_FLOWS_WHY];
	int err;

	xsf_flow_set_count(f->set, &before);
	err = xsf_flow_set_scraped(f->set, &q->spec, now_ns(), d, &error);
	if (err == -EINVAL)
		xsf_flows_error(q, &error, why);
	if (err) {
		err = refused(err, why, reply);
		return err ? err : -EAGAIN;
	}
	xsf_flow_set_count(f->set, &after);
	*made = after.made != before.made;
	if (*made)
		changed(e);
	return 0;
}

static int answer(struct xsf_exporter *e, struct xsf_flow_definition *d,
		  const struct xsf_flows_query *q, struct xsf_http_reply *reply)
{
	const struct xsf_flow_row *rows;
	char why[XSF_FLOWS_WHY];
	char *text;
	size_t len;
	int nr = rows_now(e, d, q, &rows, reply), err;

	if (nr < 0)
		return nr;
	err = xsf_flows_text(q, d->flow, rows, nr, &text, &len, why);
	if (err == -EINVAL || err == -ERANGE)
		return xsf_http_reply_line(reply, err == -EINVAL ? 400 : 500, "%s", why);
	return err ? err : xsf_http_reply_bytes(reply, XSF_METRICS_CONTENT_TYPE, text, len);
}

static int scrape(struct xsf_exporter *e, const struct xsf_flows_query *q,
		  struct xsf_http_reply *reply)
{
	struct xsf_flow_definition *d;
	int made, err = scraped(e, q, &d, &made, reply);

	if (err)
		return err;
	err = answer(e, d, q, reply);
	/* Nobody comes back for what was refused; for what cannot be read yet they do. */
	if (made && reply->status != 200 && reply->status != 503) {
		xsf_flow_set_forget(e->flows->set, d);
		want(e->flows);
	}
	return err;
}

int xsf_handle_flows_text(void *arg, const struct xsf_http_request *request,
			  struct xsf_http_reply *reply)
{
	const struct xsf_flows_parameters p = { .arg = request, .values = values };
	struct xsf_flows_query q;
	char why[XSF_FLOWS_WHY];
	int err = xsf_flows_scrape(&p, xsf_http_variable(request, 0), &q, why);

	err = err ? refused(err, why, reply) : scrape(arg, &q, reply);
	xsf_flows_query_free(&q);
	return err == -EAGAIN ? 0 : err;
}

static int no_such_flow(struct xsf_http_reply *reply)
{
	return xsf_http_reply_line(reply, 404, "no definition of flows has that name");
}

int xsf_handle_activeflows(void *arg, const struct xsf_http_request *request,
			   struct xsf_http_reply *reply)
{
	const struct xsf_flows_parameters p = { .arg = request, .values = values };
	struct xsf_exporter *e = arg;
	struct xsf_flow_definition *d =
		xsf_flow_set_named(e->flows->set, xsf_http_variable(request, 1));
	const struct xsf_flow_row *rows;
	struct xsf_flows_query q;
	char why[XSF_FLOWS_WHY];
	char *text;
	size_t len;
	int err, nr;

	if (!d)
		return no_such_flow(reply);
	err = xsf_flows_active(&p, xsf_http_variable(request, 0), d, &q, why);
	if (err)
		return refused(err, why, reply);
	nr = rows_now(e, d, &q, &rows, reply);
	if (nr < 0)
		return nr == -EAGAIN ? 0 : nr;
	err = xsf_flows_active_json(d, rows, nr, &text, &len);
	return err ? err : xsf_http_reply_bytes(reply, XSF_CONTENT_JSON, text, len);
}

int xsf_exporter_refuse_name(struct xsf_http_reply *reply)
{
	return xsf_http_reply_line(
		reply, 400, "a name is 1 to %d bytes of UTF-8 that can be shown, without '/'",
		XSF_FLOW_NAME);
}

int xsf_handle_flow_put(void *arg, const struct xsf_http_request *request,
			struct xsf_http_reply *reply)
{
	struct xsf_exporter *e = arg;
	const char *name = xsf_http_variable(request, 0), *body;
	struct xsf_flows_document document;
	struct xsf_flow_error error;
	char why[XSF_FLOWS_WHY];
	size_t len;
	int err;

	if (!xsf_flow_name_ok(name))
		return xsf_exporter_refuse_name(reply);
	body = xsf_http_body(request, &len);
	err = xsf_flows_read(body ? body : "", body ? len : 0, &document, why);
	if (!err) {
		err = xsf_flow_set_put(e->flows->set, name, &document.spec, &error);
		if (err == -EINVAL)
			xsf_flows_error(NULL, &error, why);
	}
	xsf_flows_document_free(&document);
	if (err)
		return refused(err, why, reply);
	changed(e);
	reply->status = 204;
	return 0;
}

int xsf_handle_flow_get(void *arg, const struct xsf_http_request *request,
			struct xsf_http_reply *reply)
{
	const struct xsf_exporter *e = arg;
	const struct xsf_flow_definition *d =
		xsf_flow_set_named(e->flows->set, xsf_http_variable(request, 0));
	char *text;
	size_t len;
	int err;

	if (!d)
		return no_such_flow(reply);
	err = xsf_flows_definition_json(d, &text, &len);
	return err ? err : xsf_http_reply_bytes(reply, XSF_CONTENT_JSON, text, len);
}

int xsf_handle_flow_delete(void *arg, const struct xsf_http_request *request,
			   struct xsf_http_reply *reply)
{
	struct xsf_exporter *e = arg;

	if (xsf_flow_set_delete(e->flows->set, xsf_http_variable(request, 0)))
		return no_such_flow(reply);
	want(e->flows);
	reply->status = 204;
	return 0;
}

int xsf_handle_flow_list(void *arg, const struct xsf_http_request *request,
			 struct xsf_http_reply *reply)
{
	const struct xsf_exporter *e = arg;
	char *text;
	size_t len;
	int err = xsf_flows_list_json(e->flows->set, &text, &len);

	(void)request;
	return err ? err : xsf_http_reply_bytes(reply, XSF_CONTENT_JSON, text, len);
}
