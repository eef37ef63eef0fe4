/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What sFlow-RT serves besides its applications (DESIGN 5.8): metrics of interfaces, agents and the collector
 * itself, as Prometheus text without TYPE and as JSON. */
#ifndef XSF_COMPAT_H
#define XSF_COMPAT_H

#include <stddef.h>
#include <sys/types.h>
#include "model/if_metrics.h"

/* ---- /prometheus/metrics/{agents}/{metrics}/txt: made while it is read ----
 *
 *	sflow_ifinoctets{agent="10.0.0.1",datasource="15",ifname="swp10",host="leaf1"} 0
 *
 * ifname and host where they are known; metrics that are text are left out, as are those of other names; ALL
 * are those in numbers, but for ai_bytes. One metric after the other, each by agent, then ifIndex. */

struct xsf_compat_metrics;

/* What the view points to must outlive it. At most `max` interfaces. 0, -E2BIG (too many names), -ENOMEM. */
int xsf_compat_metrics_open(const struct xsf_if_view *v, const char *agents, const char *metrics,
			    uint32_t max, struct xsf_compat_metrics **out);
ssize_t xsf_compat_metrics_read(struct xsf_compat_metrics *m, char *buf, size_t max);
void xsf_compat_metrics_close(struct xsf_compat_metrics *m);

/* ---- whole documents, which the caller frees; their length in *len; NULL: no memory ---- */

/* /metric/{agents}/{metrics}/json: one object for each metric asked for; without metricValue when nothing is
 * known. 0, -E2BIG, -ENOMEM. */
int xsf_compat_metric_json(const struct xsf_if_view *v, const char *agents, const char *metrics,
			   uint32_t max, char **out, size_t *len);

/* /agents/json: an object by address, its sub-agents together. */
char *xsf_compat_agents_json(const struct xsf_snapshot *s, size_t *len);

/* What the process knows of itself. Loads: 0 to 1, of all CPUs. */
struct xsf_compat_self {
	double cpu_process;
	double cpu_system;
	uint64_t heap_used; /* bytes */
	uint64_t heap_max;
	uint64_t uptime_ms;
	uint32_t http_open;
	uint64_t http_total;
};

/* /prometheus/analyzer/txt, /analyzer/json */
char *xsf_compat_analyzer_text(const struct xsf_snapshot *s, const struct xsf_compat_self *self,
			       size_t *len);
char *xsf_compat_analyzer_json(const struct xsf_snapshot *s, const struct xsf_compat_self *self,
			       size_t *len);

#endif
