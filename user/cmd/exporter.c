// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/exporter_state.h"
#include "model/flow_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/privileges.h"
#include "kernel/ledger.h"
#include "kernel/maps.h"
#include "kernel/pins.h"
#include "kernel/stats.h"
#include "model/period.h"
#include "serve/flows.h"
#include "serve/http.h"
#include "serve/json.h"
#include "serve/metrics.h"

#define WHY_LEN XSF_WHY_LEN
#define NR_EXTRA (XSF_HTTP_NR_CODES + XSF_HTTP_NR_CUTS + 10 + XSF_EXPORTER_FLOWS_VALUES)

/* One reply. */
struct scrape {
	struct maps_ref *ref;
	struct xsf_metrics *metrics;
	struct xsf_json *json;
	struct xsf_ledger *ledger;
	struct xsf_metrics_extra extra[NR_EXTRA];
	struct xsf_snapshot snapshot;
};

/* ---- the maps ---- */

static struct maps_ref *ref_get(struct maps_ref *ref)
{
	if (ref)
		ref->refs++;
	return ref;
}

static void ref_put(struct maps_ref *ref)
{
	if (!ref || --ref->refs)
		return;
	xsf_maps_close(ref->maps);
	free(ref);
}

struct maps_ref *xsf_exporter_hold(struct xsf_exporter *e)
{
	return ref_get(e->current);
}

void xsf_exporter_release(struct maps_ref *ref)
{
	ref_put(ref);
}

static void lose_maps(struct xsf_exporter *e)
{
	ref_put(e->current);
	e->current = NULL;
}

static int open_maps(struct xsf_exporter *e, char why[WHY_LEN])
{
	struct maps_ref *ref = calloc(1, sizeof(*ref));
	int err = -ENOMEM;

	snprintf(why, WHY_LEN, "no memory for the maps");
	if (ref)
		err = xsf_maps_open(e->options->maps_dir, &ref->maps, why, WHY_LEN);
	if (err) {
		free(ref);
		return err;
	}
	lose_maps(e);
	e->current = ref_get(ref);
	e->opened++;
	xsf_exporter_groups_open(e);
	return 0;
}

/* All counts into *out, from the maps that are pinned now. 0, or negative errno with a reason. */
static int take_snapshot(struct xsf_exporter *e, struct xsf_snapshot *out, unsigned int flags,
			 char why[WHY_LEN])
{
	int err = 0;

	if (e->current && !xsf_maps_current(e->current->maps))
		lose_maps(e);
	if (!e->current)
		err = open_maps(e, why);
	if (err)
		return err;
	err = xsf_maps_snapshot(e->current->maps, out, flags);
	if (err) {
		snprintf(why, WHY_LEN, "cannot read the pinned maps: %s", strerror(-err));
		lose_maps(e);
		return err;
	}
	if (e->options->stale_ns)
		out->stale_ns = e->options->stale_ns;
	out->bindings = e->bindings;
	xsf_exporter_periods(e, out);
	return 0;
}

int xsf_exporter_snapshot(struct xsf_exporter *e, struct xsf_snapshot *out, unsigned int flags,
			  char why[XSF_WHY_LEN])
{
	int err = take_snapshot(e, out, flags, why);

	if (err) {
		e->failed++;
		if (!e->told)
			xsf_error("%s; serving xdp_sflow_up 0 until the maps can be read", why);
	} else if (e->told) {
		xsf_error("the maps can be read again");
	}
	e->told = !!err;
	return err;
}

/* ---- what is served ---- */

#define CODE_LABEL(code) "code=\"" #code "\"",
static const char *const code_labels[] = { XSF_HTTP_CODES(CODE_LABEL) "code=\"other\"" };

#define CUT_LABEL(id, name, help) "reason=\"" #name "\"",
static const char *const cut_labels[] = { XSF_HTTP_CUTS(CUT_LABEL) };

/* The exporter's own values; entries of one name together. Returns their number, at most NR_EXTRA. */
static uint32_t own_values(const struct xsf_exporter *e, struct xsf_metrics_extra *x)
{
	const struct xsf_http_counts *c = xsf_http_counts(e->http);
	const struct xsf_metrics_extra *first = x;

	for (unsigned int i = 0; i < XSF_HTTP_NR_CODES; i++)
		*x++ = (struct xsf_metrics_extra){
			.name = "xdp_sflow_http_requests_total",
			.help = "HTTP requests answered, by status code.",
			.labels = code_labels[i],
			.value = c->requests[i],
		};
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_http_connections",
					   .help = "HTTP connections open now.",
					   .value = c->open,
					   .gauge = 1 };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_http_replies",
					   .help = "HTTP replies being sent now.",
					   .value = c->streams,
					   .gauge = 1 };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_http_connections_accepted_total",
					   .help = "HTTP connections accepted.",
					   .value = c->accepted };
	for (unsigned int i = 0; i < XSF_HTTP_NR_CUTS; i++)
		*x++ = (struct xsf_metrics_extra){
			.name = "xdp_sflow_http_connections_cut_total",
			.help = "HTTP connections that the server ended or refused because of a "
				"bound.",
			.labels = cut_labels[i],
			.value = c->cut[i],
		};
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_http_body_bytes_total",
					   .help = "Bytes of documents served.",
					   .value = c->body_bytes };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_maps_opened_total",
					   .help = "Times the pinned maps were opened.",
					   .value = e->opened };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_snapshot_failures_total",
					   .help = "Times the pinned maps could not be read.",
					   .value = e->failed };
	for (int taken = 0; taken < 2; taken++)
		*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_topology_uploads_total",
						   .help = "Topologies sent over HTTP.",
						   .labels = taken ? "result=\"taken\"" :
								     "result=\"refused\"",
						   .value = e->uploads[taken] };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_groups_writable",
					   .help = "1: fabric and role of interfaces reach the "
						   "kernel's map.",
					   .value = e->groups != NULL,
					   .gauge = 1 };
	*x++ = (struct xsf_metrics_extra){ .name = "xdp_sflow_groups_overwritten_total",
					   .help = "Interfaces whose fabric and role another "
						   "exporter had set otherwise.",
					   .value = e->overwritten };
	x += xsf_exporter_flows_values(e, x);
	return (uint32_t)(x - first);
}

uint64_t xsf_exporter_unix_ns(uint64_t monotonic_ns)
{
	struct timespec mono, real;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	return (uint64_t)real.tv_sec * 1000000000 + (uint64_t)real.tv_nsec -
	       ((uint64_t)mono.tv_sec * 1000000000 + (uint64_t)mono.tv_nsec - monotonic_ns);
}

static ssize_t scrape_read(void *arg, char *buf, size_t max)
{
	struct scrape *scrape = arg;

	return scrape->json ? xsf_json_read(scrape->json, buf, max) :
			      xsf_metrics_read(scrape->metrics, buf, max);
}

static void scrape_free(void *arg)
{
	struct scrape *scrape = arg;

	xsf_metrics_close(scrape->metrics);
	xsf_json_close(scrape->json);
	ref_put(scrape->ref);
	free(scrape->ledger);
	free(scrape);
}

/* A scrape with its snapshot, as the reply's body; *err says whether there is one. NULL: no memory. */
static struct scrape *scrape_new(struct xsf_exporter *e, struct xsf_http_reply *reply, int *err,
				 char why[WHY_LEN])
{
	struct scrape *scrape = calloc(1, sizeof(*scrape));

	if (!scrape)
		return NULL;
	*err = xsf_exporter_snapshot(e, &scrape->snapshot, 0, why);
	if (!*err)
		scrape->ref = ref_get(e->current);
	reply->read = scrape_read;
	reply->free = scrape_free;
	reply->state = scrape;
	return scrape;
}

static int handle_metrics(void *arg, const struct xsf_http_request *request,
			  struct xsf_http_reply *reply)
{
	struct xsf_exporter *e = arg;
	struct xsf_metrics_options options = { .max_interfaces = e->options->max_interfaces,
					       .max_places = e->options->max_places,
					       .prog_stats = e->options->prog_stats };
	struct scrape *scrape;
	char why[WHY_LEN];
	int err;

	(void)request;
	scrape = scrape_new(e, reply, &err, why);
	if (!scrape)
		return -ENOMEM;
	options.unix_now_ns = xsf_exporter_unix_ns(scrape->snapshot.now_ns);
	options.trimmed_dscps = e->options->ai.trimmed_dscps;
	options.extra = scrape->extra;
	options.nr_extra = own_values(e, scrape->extra);
	options.ledger = scrape->ledger = xsf_exporter_ledger_read(e);
	scrape->metrics = xsf_metrics_open(err ? NULL : &scrape->snapshot, &options);
	reply->content_type = XSF_METRICS_CONTENT_TYPE;
	return scrape->metrics ? 0 : -ENOMEM;
}

static int handle_status(void *arg, const struct xsf_http_request *request,
			 struct xsf_http_reply *reply)
{
	struct scrape *scrape;
	char why[WHY_LEN];
	int err;

	(void)request;
	scrape = scrape_new(arg, reply, &err, why);
	if (!scrape)
		return -ENOMEM;
	if (err) {
		scrape_free(scrape);
		reply->read = NULL;
		reply->free = NULL;
		reply->status = 503;
		snprintf(reply->text, sizeof(reply->text), "%s\n", why);
		return 0;
	}
	scrape->json = xsf_json_open(&scrape->snapshot);
	reply->content_type = XSF_CONTENT_JSON;
	return scrape->json ? 0 : -ENOMEM;
}

#define AI_APP "/app/ai-metrics/scripts/metrics.js"
#define EXPORT_APP "/app/prometheus/scripts/export.js"
#define TOPOLOGY_APP "/app/topology/scripts/topology.js"

static const struct xsf_http_endpoint endpoints[] = {
	{ .method = "GET",
	  .path = "/metrics",
	  .summary = "counts as Prometheus text",
	  .handle = handle_metrics },
	{ .method = "GET",
	  .path = "/status.json",
	  .summary = "counts as 'xdp-sflow status --json' prints them",
	  .handle = handle_status },
	{ .method = "GET",
	  .path = "/topology/json",
	  .summary = "the topology; PUT or POST sets it",
	  .handle = xsf_handle_topology_get },
	{ .method = "PUT",
	  .path = "/topology/json",
	  .handle = xsf_handle_topology_put,
	  .body = XSF_TOPOLOGY_BYTES,
	  .writes = 1 },
	{ .method = "POST",
	  .path = "/topology/json",
	  .handle = xsf_handle_topology_put,
	  .body = XSF_TOPOLOGY_BYTES,
	  .writes = 1 },
	{ .method = "GET",
	  .path = TOPOLOGY_APP "/topology/json",
	  .handle = xsf_handle_topology_get },
	{ .method = "PUT",
	  .path = TOPOLOGY_APP "/topology/json",
	  .handle = xsf_handle_topology_put,
	  .body = XSF_TOPOLOGY_BYTES,
	  .writes = 1 },
	{ .method = "POST",
	  .path = TOPOLOGY_APP "/topology/json",
	  .handle = xsf_handle_topology_put,
	  .body = XSF_TOPOLOGY_BYTES,
	  .writes = 1 },
	{ .method = "GET",
	  .path = TOPOLOGY_APP "/{what}/json",
	  .summary = "status, agents, unknown, locate",
	  .handle = xsf_handle_topology_app },
	{ .method = "GET",
	  .path = TOPOLOGY_APP "/prometheus/txt",
	  .summary = "links and nodes by status",
	  .handle = xsf_handle_topology_prometheus },
	{ .method = "GET",
	  .path = AI_APP "/prometheus/txt",
	  .summary = "AI metrics",
	  .handle = xsf_handle_ai_text },
	{ .method = "GET",
	  .path = AI_APP "/{what}/json",
	  .summary = "trend (?after=ms), metric, period",
	  .handle = xsf_handle_ai_json },
	{ .method = "GET", .path = AI_APP "/metric/{key}/json", .handle = xsf_handle_ai_value },
	{ .method = "GET",
	  .path = EXPORT_APP "/flows/{agents}/txt",
	  .summary = "flows, ?metric=&key=&value=",
	  .handle = xsf_handle_flows_text },
	{ .method = "GET",
	  .path = "/flow/json",
	  .summary = "definitions of flows by name",
	  .handle = xsf_handle_flow_list },
	{ .method = "GET",
	  .path = "/flow/{name}/json",
	  .summary = "one; PUT sets it, DELETE ends it",
	  .handle = xsf_handle_flow_get },
	{ .method = "PUT",
	  .path = "/flow/{name}/json",
	  .handle = xsf_handle_flow_put,
	  .body = XSF_FLOWS_BODY,
	  .writes = 1 },
	{ .method = "DELETE",
	  .path = "/flow/{name}/json",
	  .handle = xsf_handle_flow_delete,
	  .writes = 1 },
	{ .method = "GET",
	  .path = "/activeflows/{agents}/{name}/json",
	  .summary = "what it counts",
	  .handle = xsf_handle_activeflows },
	{ .method = "GET",
	  .path = "/group/json",
	  .summary = "groups of addresses, for keys of flows",
	  .handle = xsf_handle_group_list },
	{ .method = "GET",
	  .path = "/group/{name}/json",
	  .summary = "one; PUT sets it, DELETE ends it",
	  .handle = xsf_handle_group_get },
	{ .method = "PUT",
	  .path = "/group/{name}/json",
	  .handle = xsf_handle_group_put,
	  .body = XSF_FLOW_TABLE_BODY,
	  .writes = 1 },
	{ .method = "DELETE",
	  .path = "/group/{name}/json",
	  .handle = xsf_handle_group_delete,
	  .writes = 1 },
	{ .method = "GET",
	  .path = "/map/json",
	  .summary = "maps of texts, for keys of flows",
	  .handle = xsf_handle_map_list },
	{ .method = "GET",
	  .path = "/map/{name}/json",
	  .summary = "one; PUT sets it, DELETE ends it",
	  .handle = xsf_handle_map_get },
	{ .method = "PUT",
	  .path = "/map/{name}/json",
	  .handle = xsf_handle_map_put,
	  .body = XSF_FLOW_TABLE_BODY,
	  .writes = 1 },
	{ .method = "DELETE",
	  .path = "/map/{name}/json",
	  .handle = xsf_handle_map_delete,
	  .writes = 1 },
	{ .method = "GET",
	  .path = "/prometheus/metrics/{agents}/{metrics}/txt",
	  .summary = "interfaces, by sFlow-RT's names",
	  .handle = xsf_handle_compat_metrics },
	{ .method = "GET",
	  .path = "/prometheus/analyzer/txt",
	  .summary = "the collector, by sFlow-RT's names",
	  .handle = xsf_handle_compat_analyzer },
	{ .method = "GET",
	  .path = "/metric/{agents}/{metrics}/json",
	  .summary = "aggregated metrics of interfaces",
	  .handle = xsf_handle_compat_metric },
	{ .method = "GET",
	  .path = "/agents/json",
	  .summary = "who sends, and what is lost",
	  .handle = xsf_handle_compat_agents },
	{ .method = "GET",
	  .path = "/analyzer/json",
	  .summary = "the collector itself",
	  .handle = xsf_handle_compat_analyzer },
	{ .method = "GET",
	  .path = "/version",
	  .summary = "of xdp-sflow",
	  .handle = xsf_handle_compat_version },
};

/* ---- start, loop, end ---- */

int xsf_listen_arg(const char *command, const char *value)
{
	struct sockaddr_storage addr;
	char why[WHY_LEN];
	socklen_t len;

	if (!xsf_http_address(value, &addr, &len, why, sizeof(why)))
		return 0;
	return xsf_usage(command, "cannot listen on '%.128s': %s", value, why);
}

int xsf_exporter_listen(const struct xsf_export_options *options, struct xsf_exporter **out)
{
	struct xsf_exporter *e = calloc(1, sizeof(*e));
	const struct xsf_http_options http = { .listen = options->listen,
					       .endpoints = endpoints,
					       .nr_endpoints =
						       sizeof(endpoints) / sizeof(endpoints[0]),
					       .arg = e,
					       .allow_write = options->allow_write,
					       .limits = XSF_HTTP_LIMITS_DEFAULT };
	char why[WHY_LEN];
	int err;

	*out = e;
	if (!e) {
		xsf_error("cannot serve: %s", strerror(ENOMEM));
		return XSF_EXIT_FAILURE;
	}
	e->options = options;
	e->stats_fd = e->signal_fd = -1;
	err = xsf_exporter_topology_open(e);
	if (!err)
		err = xsf_exporter_ai_open(e);
	if (!err)
		err = xsf_exporter_flows_open(e);
	if (err)
		return err;
	err = xsf_http_open(&http, &e->http, why, sizeof(why));
	if (err) {
		xsf_error("%s", why);
		return XSF_EXIT_FAILURE;
	}
	e->signal_fd = xsf_end_signals();
	if (e->signal_fd < 0) {
		xsf_error("cannot wait for signals: %s", strerror(-e->signal_fd));
		return XSF_EXIT_FAILURE;
	}
	return 0;
}

/* Opens and reads all once more, with the rights that are left, so that what they do not reach is said now.
 * What was opened with more rights goes on being read: without copying. */
static int check_maps(const struct xsf_exporter *e, char why[WHY_LEN])
{
	struct xsf_snapshot *snapshot = malloc(sizeof(*snapshot));
	struct xsf_maps *maps = NULL;
	int err = -ENOMEM;

	snprintf(why, WHY_LEN, "no memory for the counts");
	if (snapshot)
		err = xsf_maps_open(e->options->maps_dir, &maps, why, WHY_LEN);
	if (!err) {
		err = xsf_maps_snapshot(maps, snapshot, 0);
		if (err)
			snprintf(why, WHY_LEN, "cannot read the pinned maps: %s", strerror(-err));
	}
	xsf_maps_close(maps);
	free(snapshot);
	return err;
}

/* What keeps the user that we are now from the pins, and how to mend it. Below the mount point all is load's,
 * which gives it to the group; what leads there is the administrator's (systemd mounts it with mode 0700). */
static void explain_denied(const struct xsf_export_options *o, char why[WHY_LEN])
{
	const char *dir = o->maps_dir ? o->maps_dir : xsf_pins_default();

	if (!strncmp(dir, XSF_BPFFS "/", sizeof(XSF_BPFFS)) && access(XSF_BPFFS, X_OK))
		snprintf(why, WHY_LEN,
			 "user '%s' may not enter " XSF_BPFFS ", where the maps are pinned; first: "
			 "chmod o+x " XSF_BPFFS,
			 o->user);
	else
		snprintf(
			why, WHY_LEN,
			"user '%s' may not read the maps pinned in %s; make it a member of a group "
			"called " XSF_PIN_GROUP ", then load again",
			o->user, dir);
}

int xsf_exporter_start(struct xsf_exporter *e)
{
	const struct xsf_export_options *o = e->options;
	char why[WHY_LEN];
	int err;

	if (o->prog_stats) {
		e->stats_fd = xsf_stats_enable();
		if (e->stats_fd < 0) {
			xsf_error(
				"cannot have the kernel keep run times: %s; run as root, or leave "
				"--prog-stats out",
				strerror(-e->stats_fd));
			return XSF_EXIT_FAILURE;
		}
	}
	if (xsf_exporter_ledger_open(e))
		return XSF_EXIT_FAILURE;
	err = open_maps(e, why);
	if (!err)
		xsf_exporter_flows_start(e);
	if (!err && !o->keep_rights) {
		err = xsf_drop_privileges(o->user, why, sizeof(why));
		if (!err)
			err = check_maps(e, why);
		if (err == -EACCES && o->user)
			explain_denied(o, why);
	}
	if (err) {
		xsf_error("%s", why);
		return XSF_EXIT_FAILURE;
	}
	err = xsf_exporter_topology_check(e);
	if (err)
		return err;
	xsf_error("serving http://%s/metrics", xsf_http_listening(e->http));
	return 0;
}

static int add_fd(int epoll_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int xsf_export_loop(struct xsf_exporter *e)
{
	const struct xsf_export_options *o = e->options;
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC), stop = 0, err;

	err = epoll_fd < 0 ? -errno : add_fd(epoll_fd, e->signal_fd);
	if (!err)
		err = add_fd(epoll_fd, xsf_http_fd(e->http));
	if (!err && o->watch)
		err = add_fd(epoll_fd, o->watch_fd);
	while (!err && !stop) {
		int tick = xsf_exporter_tick(e), period = xsf_exporter_period_tick(e);
		int timeout = xsf_http_timeout(e->http);
		struct epoll_event ready[4];
		int nr;

		xsf_exporter_flows_watch(e, epoll_fd);
		tick = XSF_MIN(tick, period);
		nr = epoll_wait(epoll_fd, ready, 4, timeout < 0 || tick < timeout ? tick : timeout);
		if (nr < 0 && errno != EINTR)
			err = -errno;
		for (int i = 0; i < nr; i++) {
			if (ready[i].data.fd == e->signal_fd)
				stop = 1;
			else if (o->watch && ready[i].data.fd == o->watch_fd)
				o->watch(o->watch_arg);
			else if (ready[i].data.fd == xsf_exporter_flows_fd(e))
				xsf_exporter_flows_run(e);
		}
		if (!stop)
			xsf_http_run(e->http);
	}
	if (epoll_fd >= 0)
		close(epoll_fd);
	if (err)
		xsf_error("cannot wait for events: %s", strerror(-err));
	return err ? XSF_EXIT_FAILURE : 0;
}

void xsf_exporter_close(struct xsf_exporter *e)
{
	if (!e)
		return;
	xsf_http_close(e->http); /* ends the replies, which hold maps */
	lose_maps(e);
	xsf_exporter_topology_close(e);
	xsf_exporter_ai_close(e);
	xsf_exporter_flows_close(e);
	xsf_periods_free(e->periods);
	xsf_batching_free(e->batching);
	if (e->signal_fd >= 0)
		close(e->signal_fd);
	xsf_ledger_probe_close(e->ledger);
	if (e->stats_fd >= 0)
		close(e->stats_fd);
	free(e);
}
