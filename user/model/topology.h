/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric's topology as sFlow-RT writes it (DESIGN 5.2), read and checked once, never changed afterwards:
 *
 *	{"links": {"L1": {"node1": "leaf1", "port1": "swp1", "node2": "spine1", "port2": "swp1"}},
 *	 "nodes": {"leaf1": {"agent": "10.0.0.1", "ports": {"swp1": {"ifindex": "3"}}}}}
 *
 * `links` and `nodes` may be absent; `ifindex` is a string or a number; what a link names need not be in
 * `nodes`; other keys are ignored. Refused, with the reason: what is not JSON, a key that is there twice, a
 * port in two links or at both ends of one, an agent of two nodes, an ifindex of two ports of a node, and
 * whatever is beyond the bounds below. Objects and arrays may lie in one another as deep as jansson goes,
 * 2048. What data sources the names belong to is model/binding.h. */
#ifndef XSF_TOPOLOGY_H
#define XSF_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

/* Bounds of one topology. As many ports at ends of links as there are places for data sources. */
#define XSF_TOPOLOGY_BYTES 8388608
#define XSF_TOPOLOGY_LINKS 32768
#define XSF_TOPOLOGY_NODES 32768
#define XSF_TOPOLOGY_PORTS 65536
#define XSF_TOPOLOGY_NAME 255	      /* bytes of a name */
#define XSF_TOPOLOGY_MEMORY 134217728 /* bytes while it is read */

#define XSF_TOPOLOGY_NONE UINT32_MAX

struct xsf_topology_node {
	const char *name;
	uint32_t first_port; /* its ports are ports[first_port] and nr_ports - 1 more */
	uint32_t nr_ports;
	uint32_t has_agent; /* `agent` was given */
	uint8_t agent[16];  /* IPv4 in v4-mapped form, as in struct xsf_agent_key */
};

struct xsf_topology_port {
	const char *name;
	uint32_t node;
	uint32_t link;	  /* that it is an end of, or XSF_TOPOLOGY_NONE */
	uint32_t ifindex; /* 0: not given; then the port's name says which it is */
};

struct xsf_topology_link {
	const char *name;
	uint32_t port[2]; /* port1, port2 */
};

/* Counts its owners: xsf_topology_get, xsf_topology_put. */
struct xsf_topology {
	unsigned int refs;
	const char *text; /* the JSON as it came */
	size_t text_len;
	struct xsf_topology_link *links; /* by name */
	uint32_t nr_links;
	struct xsf_topology_node *nodes; /* by name */
	uint32_t nr_nodes;
	struct xsf_topology_port *ports; /* by node, then name */
	uint32_t nr_ports;
	uint32_t *by_agent; /* nodes with an agent, by its address */
	uint32_t nr_by_agent;
	uint32_t *by_ifindex; /* ports by node, then ifindex: those of node n where its ports are */
	char *names;	      /* what the names point into */
};

/* Reads `len` bytes of JSON. 0 and one reference in *out; or negative errno and in `why` what is wrong and
 * where, one line: -EINVAL not a topology, -E2BIG a bound, -ENOMEM. */
int xsf_topology_parse(const char *text, size_t len, struct xsf_topology **out, char *why,
		       size_t why_len);

/* One more owner; one owner less, the last frees it. Both accept NULL. */
struct xsf_topology *xsf_topology_get(struct xsf_topology *topology);
void xsf_topology_put(struct xsf_topology *topology);

/* Index of a node, or XSF_TOPOLOGY_NONE. */
uint32_t xsf_topology_node_of_agent(const struct xsf_topology *topology, const uint8_t addr[16]);
/* `len` bytes at `name`, as an agent sent it: cut at XSF_NAME_LEN - 1, it matches a name that begins so. */
uint32_t xsf_topology_node_named(const struct xsf_topology *topology, const uint8_t *name,
				 size_t len);

/* Index of a port of `node`, or XSF_TOPOLOGY_NONE; named: only those without ifindex, likewise. */
uint32_t xsf_topology_port_of_ifindex(const struct xsf_topology *topology, uint32_t node,
				      uint32_t ifindex);
uint32_t xsf_topology_port_named(const struct xsf_topology *topology, uint32_t node,
				 const uint8_t *name, size_t len);

#endif
