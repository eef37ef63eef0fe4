/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the exporter: shared by exporter.c (maps, loop, our own metrics) and the files with further
 * endpoints. */
#ifndef XSF_CMD_EXPORTER_STATE_H
#define XSF_CMD_EXPORTER_STATE_H

#include <time.h>

#include "cmd/exporter.h"
#include "kernel/groups.h"
#include "kernel/maps.h"
#include "model/ai.h"
#include "model/ai_fast.h"
#include "serve/http.h"

#define XSF_WHY_LEN 512

/* Open maps, and who reads them: a reply that began before they were replaced still does. */
struct maps_ref {
	struct xsf_maps *maps;
	unsigned int refs;
};

/* What of the CPUs' time was used between two ticks: shares of all of it. */
struct xsf_exporter_load {
	double process;
	double system;
	uint64_t start_ns; /* of the first tick */
	uint64_t last_ns;
	uint64_t cpu_ns;
	uint64_t busy;
	uint64_t all;
};

struct xsf_exporter {
	const struct xsf_export_options *options;
	struct xsf_http *http;
	struct maps_ref *current; /* NULL: nothing can be read now */
	uint64_t opened;
	uint64_t failed;
	int told; /* that nothing can be read */
	int signal_fd;
	int stats_fd;
	struct xsf_ledger_probe *ledger; /* exporter_ledger.c; NULL: none */
	int ledger_told;

	/* exporter_topology.c */
	struct xsf_bindings *bindings;
	struct xsf_groups *groups; /* of the current maps; NULL: may not be written */
	char groups_why[XSF_WHY_LEN];
	int groups_told;
	int contests;	      /* times in a row that somebody else had set groups otherwise */
	uint64_t overwritten; /* groups that had to be put again for that */
	int fabrics_told;     /* that there are more than the maps have room for */
	int idle;	      /* no source has a group, and none is to get one */
	uint64_t next_tick_ms;
	uint64_t uploads[2]; /* topologies refused, taken */
	struct xsf_snapshot tick;

	/* exporter_ai.c */
	struct xsf_rates *rates;
	struct xsf_ai *ai;
	struct xsf_ai_fast fast;
	uint32_t fast_direction; /* that it was read from */
	uint64_t ai_ns;		 /* of the last update */
	struct xsf_exporter_load load;
	uint64_t rates_opened; /* `opened` when rates and ai saw their maps first */

	/* exporter_period.c */
	struct xsf_periods *periods; /* of the maps opened `periods_of` times; NULL: no timeline */
	uint64_t periods_of;
	struct xsf_batching *batching; /* likewise */
	uint64_t next_period_ns;

	struct xsf_exporter_flows *flows; /* exporter_flows.c */
	struct xsf_flow_tables *tables;	  /* that keys of flows look up */
};

/* All counts into *out, from the maps that are pinned now; says so on stderr when that begins to fail and
 * when it is over. flags: XSF_SNAPSHOT_*. 0, or negative errno with a reason. */
int xsf_exporter_snapshot(struct xsf_exporter *e, struct xsf_snapshot *out, unsigned int flags,
			  char why[XSF_WHY_LEN]);

/* ---- exporter_ledger.c ---- */

/* When it is asked for; with the rights to attach. 0 or an exit code. */
int xsf_exporter_ledger_open(struct xsf_exporter *e);
/* To be freed; NULL: there is none, or it cannot be read. */
struct xsf_ledger *xsf_exporter_ledger_read(struct xsf_exporter *e);

/* ---- exporter_period.c ---- */

/* Once a second: reads the timeline and looks for periods. Does nothing when it is not yet time. Returns
 * milliseconds until it is again. */
int xsf_exporter_period_tick(struct xsf_exporter *e);

/* Each second, with all agents and sources: how they send. */
void xsf_exporter_period_agents(struct xsf_exporter *e, const struct xsf_snapshot *s);

/* What was found last, into *out. */
void xsf_exporter_periods(const struct xsf_exporter *e, struct xsf_snapshot *out);

/* ---- exporter_topology.c ---- */

/* Before anything else: the topologies. 0 or an exit code. */
int xsf_exporter_topology_open(struct xsf_exporter *e);
void xsf_exporter_topology_close(struct xsf_exporter *e);

/* The maps are others now: the groups' map is opened too, if it may be written. */
void xsf_exporter_groups_open(struct xsf_exporter *e);

/* At the start, with the maps open: do the fabrics fit? 0 or an exit code. */
int xsf_exporter_topology_check(struct xsf_exporter *e);

/* About once a second: roles of agents and interfaces that came, and of names that changed. Does
 * nothing when it is not yet time. Returns milliseconds until it is again. */
int xsf_exporter_tick(struct xsf_exporter *e);

/* For replies that go on reading the maps of a snapshot: they stay open until they are released. */
struct maps_ref *xsf_exporter_hold(struct xsf_exporter *e);
void xsf_exporter_release(struct maps_ref *ref);

static inline uint64_t xsf_exporter_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Unix time of a moment of CLOCK_MONOTONIC, ns. */
uint64_t xsf_exporter_unix_ns(uint64_t monotonic_ns);

/* ---- exporter_ai.c ---- */

/* Before the first tick. 0 or an exit code. */
int xsf_exporter_ai_open(struct xsf_exporter *e);
void xsf_exporter_ai_close(struct xsf_exporter *e);

/* Each second, with what was bound just now; NULL: nothing could be read. */
void xsf_exporter_ai_update(struct xsf_exporter *e, const struct xsf_snapshot *s);

int xsf_handle_ai_text(void *arg, const struct xsf_http_request *request,
		       struct xsf_http_reply *reply);
/* .../{what}/json: trend, metric, period */
int xsf_handle_ai_json(void *arg, const struct xsf_http_request *request,
		       struct xsf_http_reply *reply);
/* .../metric/{key}/json */
int xsf_handle_ai_value(void *arg, const struct xsf_http_request *request,
			struct xsf_http_reply *reply);

/* ---- exporter_compat.c ---- */

/* Each second. */
void xsf_exporter_load_update(struct xsf_exporter_load *l);

int xsf_handle_compat_metrics(void *arg, const struct xsf_http_request *request,
			      struct xsf_http_reply *reply);
int xsf_handle_compat_metric(void *arg, const struct xsf_http_request *request,
			     struct xsf_http_reply *reply);
int xsf_handle_compat_agents(void *arg, const struct xsf_http_request *request,
			     struct xsf_http_reply *reply);
int xsf_handle_compat_analyzer(void *arg, const struct xsf_http_request *request,
			       struct xsf_http_reply *reply);
int xsf_handle_compat_version(void *arg, const struct xsf_http_request *request,
			      struct xsf_http_reply *reply);

/* ---- exporter_flows.c ---- */

struct xsf_metrics_extra;

/* Before anything else. 0 or an exit code. */
int xsf_exporter_flows_open(struct xsf_exporter *e);
void xsf_exporter_flows_close(struct xsf_exporter *e);

/* With the rights to open the events' rings. That they cannot be opened is told to who asks for flows. */
void xsf_exporter_flows_start(struct xsf_exporter *e);

/* Each second, with what was bound just now; NULL: nothing could be read. Costs nothing without
 * definitions. */
void xsf_exporter_flows_tick(struct xsf_exporter *e, const struct xsf_snapshot *s);

/* The events' descriptor, -1 while there is none; into the loop, where it is not there yet; and what to do
 * when it is readable: some events, not all, so that others have their turn. */
int xsf_exporter_flows_fd(const struct xsf_exporter *e);
void xsf_exporter_flows_watch(struct xsf_exporter *e, int epoll_fd);
void xsf_exporter_flows_run(struct xsf_exporter *e);

/* 400, for a name that xsf_flow_name_ok() does not take. 0 or -ENOMEM. */
int xsf_exporter_refuse_name(struct xsf_http_reply *reply);

/* Own values for /metrics; returns how many. */
#define XSF_EXPORTER_FLOWS_VALUES 18
uint32_t xsf_exporter_flows_values(const struct xsf_exporter *e, struct xsf_metrics_extra *x);

/* /app/prometheus/scripts/export.js/flows/{agents}/txt; /activeflows/{agents}/{name}/json */
int xsf_handle_flows_text(void *arg, const struct xsf_http_request *request,
			  struct xsf_http_reply *reply);
int xsf_handle_activeflows(void *arg, const struct xsf_http_request *request,
			   struct xsf_http_reply *reply);
/* /flow/{name}/json, /flow/json */
int xsf_handle_flow_put(void *arg, const struct xsf_http_request *request,
			struct xsf_http_reply *reply);
int xsf_handle_flow_get(void *arg, const struct xsf_http_request *request,
			struct xsf_http_reply *reply);
int xsf_handle_flow_delete(void *arg, const struct xsf_http_request *request,
			   struct xsf_http_reply *reply);
int xsf_handle_flow_list(void *arg, const struct xsf_http_request *request,
			 struct xsf_http_reply *reply);

/* ---- exporter_tables.c: /group/{name}/json, /group/json, /map/{name}/json, /map/json ---- */

int xsf_handle_group_put(void *arg, const struct xsf_http_request *request,
			 struct xsf_http_reply *reply);
int xsf_handle_group_get(void *arg, const struct xsf_http_request *request,
			 struct xsf_http_reply *reply);
int xsf_handle_group_delete(void *arg, const struct xsf_http_request *request,
			    struct xsf_http_reply *reply);
int xsf_handle_group_list(void *arg, const struct xsf_http_request *request,
			  struct xsf_http_reply *reply);
int xsf_handle_map_put(void *arg, const struct xsf_http_request *request,
		       struct xsf_http_reply *reply);
int xsf_handle_map_get(void *arg, const struct xsf_http_request *request,
		       struct xsf_http_reply *reply);
int xsf_handle_map_delete(void *arg, const struct xsf_http_request *request,
			  struct xsf_http_reply *reply);
int xsf_handle_map_list(void *arg, const struct xsf_http_request *request,
			struct xsf_http_reply *reply);

/* ---- exporter_topology.c: endpoints; arg is the exporter ---- */

int xsf_handle_topology_get(void *arg, const struct xsf_http_request *request,
			    struct xsf_http_reply *reply);
int xsf_handle_topology_put(void *arg, const struct xsf_http_request *request,
			    struct xsf_http_reply *reply);
int xsf_handle_topology_app(void *arg, const struct xsf_http_request *request,
			    struct xsf_http_reply *reply);
int xsf_handle_topology_prometheus(void *arg, const struct xsf_http_request *request,
				   struct xsf_http_reply *reply);

#endif
