/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A snapshot as Prometheus text, format 0.0.4. Made piece by piece while it is read: the document is never
 * held whole.
 *
 * Series are bounded by the tables, never by what agents send: XSF_SERIES_* for each member of a table,
 * 1024 drop reasons in each of two families, XSF_METRICS_PLACES places of drops and as many reasons of
 * agents, and some 150 besides. */
#ifndef XSF_METRICS_H
#define XSF_METRICS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "model/snapshot.h"

#define XSF_METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Interfaces shown unless asked for more; other data sources likewise, apart from them. */
#define XSF_METRICS_INTERFACES 4096

/* Places of drops (interface and reason) that have series of their own unless asked for more, and likewise
 * agents and reasons: the first ones seen. */
#define XSF_METRICS_PLACES 4096

/* Sources of checksums that have series of their own, the first ones seen; the others count as
 * source="other". */
#define XSF_METRICS_CSUM_SOURCES 512

/* The most series of one shown agent, interface, other data source, row (group and direction; two more for
 * each DSCP that means trimmed) and row of operations (group, direction and carrier). */
#define XSF_SERIES_AGENT 20
#define XSF_SERIES_INTERFACE 54
#define XSF_SERIES_SOURCE 35
#define XSF_SERIES_ROW 182
#define XSF_SERIES_OPS_ROW 258
/* Of one port, and of one shown source, of checksums. */
#define XSF_SERIES_CSUM_PORT 15
#define XSF_SERIES_CSUM_SOURCE 17

/* A value of the exporter itself. Entries of one name lie together. */
struct xsf_metrics_extra {
	const char
		*name; /* whole: "xdp_sflow_http_requests_total"; ends in _total unless a gauge */
	const char *help;   /* one line, no backslash; of the name's first entry */
	const char *labels; /* NULL or what stands between the braces, escaped: method="GET" */
	uint64_t value;
	int gauge;
};

struct xsf_ledger;

struct xsf_metrics_options {
	uint64_t unix_now_ns;	 /* CLOCK_REALTIME at the snapshot's now_ns */
	uint32_t max_interfaces; /* 0: XSF_METRICS_INTERFACES; UINT32_MAX: all */
	uint32_t max_places;	 /* 0: XSF_METRICS_PLACES; UINT32_MAX: all */
	int prog_stats;		 /* run_time_ns and run_count of the programs are kept */
	uint64_t trimmed_dscps;	 /* bit n: DSCP n says "trimmed"; 0: only 11 */
	const struct xsf_metrics_extra *extra;
	uint32_t nr_extra;
	const struct xsf_ledger *ledger; /* NULL: none */
};

struct xsf_metrics;

/* Starts a document of *s, which stays the caller's and must outlive it, as must options->extra and its
 * strings; the options themselves are copied (NULL: all zero). Holds 16 KiB, 8 bytes for each agent and
 * shown data source and 72 for each place of drops that is in use. s NULL: nothing could be read; then
 * only xdp_sflow_up 0, the version and the extra values. Returns NULL: no memory. */
struct xsf_metrics *xsf_metrics_open(const struct xsf_snapshot *s,
				     const struct xsf_metrics_options *options);

/* The next bytes: at most max of them, 0 at the end. */
ssize_t xsf_metrics_read(struct xsf_metrics *m, char *buf, size_t max);

void xsf_metrics_close(struct xsf_metrics *m);

#endif
