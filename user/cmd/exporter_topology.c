// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Topologies in the exporter: roles of interfaces into the kernel's map, once a second, and the endpoints. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/exporter_state.h"
#include "cmd/topologies.h"
#include "serve/topology_report.h"

#define TICK_MS 1000
/* So many times in a row another exporter has undone what was set: then it is told. */
#define CONTESTS 3

int xsf_exporter_topology_open(struct xsf_exporter *e)
{
	return xsf_topologies_load(&e->options->topology, 1, &e->bindings);
}

void xsf_exporter_topology_close(struct xsf_exporter *e)
{
	xsf_groups_close(e->groups);
	xsf_bindings_free(e->bindings);
}

void xsf_exporter_groups_open(struct xsf_exporter *e)
{
	xsf_groups_close(e->groups);
	xsf_groups_open(e->options->maps_dir, &e->groups, e->groups_why, sizeof(e->groups_why));
	e->idle = 0;
}

static int wanted(const struct xsf_exporter *e)
{
	int any = e->options->topology.all_edge;

	for (uint32_t f = 0; f < xsf_bindings_nr_fabrics(e->bindings); f++)
		any |= xsf_bindings_topology(e->bindings, f) != NULL;
	return any;
}

int xsf_exporter_topology_check(struct xsf_exporter *e)
{
	uint32_t nr = xsf_bindings_nr_fabrics(e->bindings), room;
	char why[XSF_WHY_LEN];
	int err = xsf_exporter_snapshot(e, &e->tick,
					XSF_SNAPSHOT_NO_ROWS | XSF_SNAPSHOT_NO_PROGRAMS, why);

	if (err)
		return XSF_EXIT_FAILURE;
	room = (e->tick.nr_groups - 1) / 2;
	if (nr > room) {
		xsf_error("%u topologies, but the pinned maps have room for %u fabrics; load anew "
			  "with --fabrics %u, after: xdp-sflow unload --all --purge",
			  nr, room, nr);
		return XSF_EXIT_FAILURE;
	}
	return 0;
}

/* ---- roles ---- */

/* Two exporters that are of different minds would each undo what the other sets, second by second. */
static void tell_overwritten(struct xsf_exporter *e, uint32_t overwritten)
{
	e->overwritten += overwritten;
	e->contests = overwritten ? e->contests + 1 : 0;
	if (e->contests != CONTESTS)
		return;
	xsf_error(
		"another exporter sets fabric and role of interfaces otherwise, so that the "
		"kernel's counts by them are of neither: give both the same topology, or end one");
}

/* What the kernel's map says must be what the bindings say. */
static void write_groups(struct xsf_exporter *e, const struct xsf_snapshot *s)
{
	uint32_t in_use = 0, beyond = 0, overwritten = 0;

	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_sources, XSF_SOURCES); slot++) {
		uint32_t generation = s->sources[slot].generation;
		const struct xsf_group *is = &s->groups[slot];
		uint8_t group = 0;

		if (generation & 1)
			group = xsf_place_group(xsf_bindings_source(e->bindings, s, slot));
		if (group >= s->nr_groups) {
			beyond++;
			group = 0;
		}
		in_use += group != 0;
		if (is->group != group || (group && is->generation != generation))
			overwritten +=
				xsf_groups_put(e->groups, slot, group ? generation : 0, group);
	}
	tell_overwritten(e, overwritten);
	if (s->groups[0].group != (in_use != 0))
		xsf_groups_put(e->groups, 0, 0, in_use != 0);
	if (beyond && !e->fabrics_told)
		xsf_error("the pinned maps have room for %u fabrics, fewer than there are "
			  "topologies; load anew with --fabrics %u",
			  (s->nr_groups - 1) / 2, xsf_bindings_nr_fabrics(e->bindings));
	e->fabrics_told = beyond != 0;
	e->idle = !in_use && !wanted(e);
}

static void bind_now(struct xsf_exporter *e, const struct xsf_snapshot *s)
{
	if (xsf_bindings_update(e->bindings, s))
		return;
	if (e->groups) {
		write_groups(e, s);
	} else if (wanted(e) && !e->groups_told) {
		xsf_error("%s; the kernel cannot count by fabric and role: start export as root "
			  "(--user NAME goes on without)",
			  e->groups_why);
		e->groups_told = 1;
	}
}

int xsf_exporter_tick(struct xsf_exporter *e)
{
	uint64_t now = xsf_exporter_now_ns() / 1000000;
	char why[XSF_WHY_LEN];

	if (now < e->next_tick_ms)
		return (int)(e->next_tick_ms - now);
	e->next_tick_ms = now + TICK_MS;
	if (xsf_exporter_snapshot(e, &e->tick, XSF_SNAPSHOT_FIRST_FABRIC | XSF_SNAPSHOT_NO_PROGRAMS,
				  why)) {
		xsf_exporter_ai_update(e, NULL);
		xsf_exporter_flows_tick(e, NULL);
		return TICK_MS;
	}
	if (!e->idle || wanted(e))
		bind_now(e, &e->tick);
	xsf_exporter_period_agents(e, &e->tick);
	xsf_exporter_ai_update(e, &e->tick);
	xsf_exporter_flows_tick(e, &e->tick);
	return TICK_MS;
}

/* ---- endpoints ---- */

/* ?fabric=NAME; without it the first. */
static int which_fabric(const struct xsf_exporter *e, const struct xsf_http_request *request)
{
	const char *name = xsf_http_argument(request, "fabric");

	return name ? xsf_bindings_find(e->bindings, name) : 0;
}

static int no_such_fabric(struct xsf_http_reply *reply)
{
	return xsf_http_reply_line(reply, 404, "no fabric has that name; see --topology");
}

struct text_reply {
	struct xsf_topology *topology;
	size_t at;
};

static ssize_t text_read(void *state, char *buf, size_t max)
{
	struct text_reply *t = state;
	size_t n = XSF_MIN(t->topology->text_len - t->at, max);

	memcpy(buf, t->topology->text + t->at, n);
	t->at += n;
	return (ssize_t)n;
}

static void text_free(void *state)
{
	struct text_reply *t = state;

	xsf_topology_put(t->topology);
	free(t);
}

int xsf_handle_topology_get(void *arg, const struct xsf_http_request *request,
			    struct xsf_http_reply *reply)
{
	struct xsf_exporter *e = arg;
	int fabric = which_fabric(e, request);
	const struct xsf_topology *topology;
	struct text_reply *t;

	if (fabric < 0)
		return no_such_fabric(reply);
	reply->content_type = XSF_CONTENT_JSON;
	topology = xsf_bindings_topology(e->bindings, (uint32_t)fabric);
	if (!topology) {
		snprintf(reply->text, sizeof(reply->text), "{}");
		return 0;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->topology = xsf_topology_get((struct xsf_topology *)(uintptr_t)topology);
	reply->read = text_read;
	reply->free = text_free;
	reply->state = t;
	return 0;
}

/* 0, or the status with a reason; then all stays as it was. */
static unsigned int put(struct xsf_exporter *e, uint32_t fabric, const char *text, size_t len,
			char why[XSF_WHY_LEN])
{
	const char *name = xsf_bindings_name(e->bindings, fabric);
	struct xsf_topology *topology;
	int err = xsf_topology_parse(text, len, &topology, why, XSF_WHY_LEN);
	unsigned int status = err == -ENOMEM ? 503 : 400;

	if (err)
		return status;
	if (topology->nr_links || topology->nr_nodes)
		err = xsf_topologies_keep(&e->options->topology, name, text, len, why, XSF_WHY_LEN);
	else
		err = xsf_topologies_forget(&e->options->topology, name, why, XSF_WHY_LEN);
	status = err ? 500 : 0;
	if (!err && xsf_bindings_set(e->bindings, fabric, topology)) {
		snprintf(why, XSF_WHY_LEN, "%s", strerror(ENOMEM));
		status = 503;
	}
	if (!status)
		xsf_error("topology of fabric %s: set over HTTP, %u links, %u nodes", name,
			  topology->nr_links, topology->nr_nodes);
	xsf_topology_put(topology);
	return status;
}

int xsf_handle_topology_put(void *arg, const struct xsf_http_request *request,
			    struct xsf_http_reply *reply)
{
	struct xsf_exporter *e = arg;
	int fabric = which_fabric(e, request);
	char why[XSF_WHY_LEN];
	unsigned int status;
	const char *text;
	size_t len;

	if (fabric < 0)
		return no_such_fabric(reply);
	text = xsf_http_body(request, &len);
	status = put(e, (uint32_t)fabric, text ? text : "", len, why);
	e->uploads[!status]++;
	if (status)
		return xsf_http_reply_line(reply, status, "%s", why);
	e->next_tick_ms = 0;
	xsf_exporter_tick(e);
	reply->status = 204;
	return 0;
}

/* With a snapshot that is bound. 0; or the reply is made. */
static int bound_snapshot(struct xsf_exporter *e, struct xsf_snapshot *s,
			  struct xsf_http_reply *reply)
{
	char why[XSF_WHY_LEN];

	if (xsf_exporter_snapshot(e, s, XSF_SNAPSHOT_NO_ROWS | XSF_SNAPSHOT_NO_PROGRAMS, why)) {
		xsf_http_reply_line(reply, 503, "%s", why);
		return -EAGAIN;
	}
	bind_now(e, s);
	return 0;
}

int xsf_handle_topology_app(void *arg, const struct xsf_http_request *request,
			    struct xsf_http_reply *reply)
{
	static struct xsf_snapshot s; /* large; not beyond this call */
	struct xsf_exporter *e = arg;
	const char *what = xsf_http_variable(request, 0);
	const char *address = xsf_http_argument(request, "address");
	int fabric = which_fabric(e, request);
	const struct xsf_bindings *b = e->bindings;
	char *text = NULL;
	size_t len;

	if (fabric < 0)
		return no_such_fabric(reply);
	if (!strcmp(what, "locate") && (!address || !*address))
		return xsf_http_reply_line(reply, 400, "locate needs ?address=");
	if (strcmp(what, "status") != 0 && strcmp(what, "metrics") != 0 &&
	    strcmp(what, "agents") != 0 && strcmp(what, "unknown") != 0 &&
	    strcmp(what, "locate") != 0)
		return xsf_http_reply_line(reply, 404, "no such path; see /");
	if (bound_snapshot(e, &s, reply))
		return 0;
	if (!strcmp(what, "agents"))
		text = xsf_topology_agents_json(b, &s, (uint32_t)fabric, &len);
	else if (!strcmp(what, "unknown"))
		text = xsf_topology_unknown_json(b, &s, (uint32_t)fabric, &len);
	else if (!strcmp(what, "locate"))
		text = xsf_topology_locate_json(b, &s, (uint32_t)fabric, address, &len);
	else
		text = xsf_topology_status_json(b, &s, (uint32_t)fabric, &len);
	return text ? xsf_http_reply_bytes(reply, XSF_CONTENT_JSON, text, len) : -ENOMEM;
}

int xsf_handle_topology_prometheus(void *arg, const struct xsf_http_request *request,
				   struct xsf_http_reply *reply)
{
	static struct xsf_snapshot s;
	struct xsf_exporter *e = arg;
	int fabric = which_fabric(e, request);
	char *text;
	size_t len;

	if (fabric < 0)
		return no_such_fabric(reply);
	if (bound_snapshot(e, &s, reply))
		return 0;
	text = xsf_topology_prometheus(e->bindings, &s, e->rates, (uint32_t)fabric, &len);
	return text ? xsf_http_reply_bytes(reply, "text/plain; version=0.0.4; charset=utf-8", text,
					   len) :
		      -ENOMEM;
}
