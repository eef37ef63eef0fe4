/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What has become of a topology, as sFlow-RT's topology application tells it (DESIGN 5.2). Each returns a
 * text that the caller frees, its length in *len, or NULL: no memory. Lists of names hold the first
 * XSF_TOPOLOGY_DETAILS. */
#ifndef XSF_TOPOLOGY_REPORT_H
#define XSF_TOPOLOGY_REPORT_H

#include <stddef.h>
#include "model/binding.h"
#include "model/rates.h"

#define XSF_TOPOLOGY_DETAILS 1000

/* {"links": {total, monitored, unmonitored, up, down, details}, "nodes": {...}, "ports", "sources"} */
char *xsf_topology_status_json(const struct xsf_bindings *b, const struct xsf_snapshot *s,
			       uint32_t fabric, size_t *len);

/* {"10.0.0.1": "leaf1"}: agents of the fabric and which node each is. */
char *xsf_topology_agents_json(const struct xsf_bindings *b, const struct xsf_snapshot *s,
			       uint32_t fabric, size_t *len);

/* {"agents": [in no fabric], "nodes": [nobody], "ports": [{"node", "port"} of nodes that are somebody]} */
char *xsf_topology_unknown_json(const struct xsf_bindings *b, const struct xsf_snapshot *s,
				uint32_t fabric, size_t *len);

/* [{"node", "agent"}] of an agent's address or a node's name. Where hosts are is not known: []. */
char *xsf_topology_locate_json(const struct xsf_bindings *b, const struct xsf_snapshot *s,
			       uint32_t fabric, const char *what, size_t *len);

/* sflow_topology_links{status="..."}, sflow_topology_nodes{status="..."}, and what the counters of the
 * fabric's interfaces add up to: sflow_topology_traffic_bps and _pps (in), _speed, _discards and _errors (in
 * and out, a second). Without TYPE. */
char *xsf_topology_prometheus(const struct xsf_bindings *b, const struct xsf_snapshot *s,
			      const struct xsf_rates *r, uint32_t fabric, size_t *len);

#endif
