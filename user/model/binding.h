/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which fabric each agent and data source belongs to, and whether an interface is at the edge or in the
 * core (DESIGN 5.1, 5.2). Plain state: fed with topologies and snapshots.
 *
 * An agent is a node's when the node's `agent` is its address, or, of a node without one, when its host_descr
 * name is the node's; all sub-agents of the address go with it. The first fabric that knows it has it. A name
 * that several agents send belongs to the first of them, until that one falls silent.
 * An interface of such an agent is a port: by ifindex where the topology gives one, else by port_name.
 * It is core when the port is an end of a link, or when it is a member (or the aggregate) of a link
 * aggregation group with such an end; else edge. Interfaces of other agents, and sources that are no
 * interfaces, have no role.
 *
 * xsf_bindings_update() follows names, agents and interfaces that come and go; call it about once a second,
 * and after a topology was set. */
#ifndef XSF_BINDING_H
#define XSF_BINDING_H

#include "model/snapshot.h"
#include "model/topology.h"

/* Fabrics at most, and bytes of their names with the end. */
#define XSF_FABRICS_MAX 16
#define XSF_FABRIC_NAME_LEN 32

enum xsf_role { XSF_ROLE_NONE, XSF_ROLE_EDGE, XSF_ROLE_CORE };
extern const char *const xsf_role_names[3]; /* "none", "edge", "core" */

/* What is known of a data source, by its slot. */
struct xsf_place {
	uint32_t generation; /* the source's; anything else: of who had the slot before */
	uint8_t role;	     /* enum xsf_role */
	uint8_t fabric;	     /* 0 is the first; of no meaning without a role */
	uint8_t follows;     /* role and link come from its aggregate or member */
	uint8_t reserved;
	uint32_t node; /* of the fabric's topology; XSF_TOPOLOGY_NONE with --no-topology=all-edge */
	uint32_t port; /* likewise; XSF_TOPOLOGY_NONE: the topology does not name it */
	uint32_t link; /* core: the link; else XSF_TOPOLOGY_NONE */
};

/* Where an agent stands, by its slot. */
struct xsf_agent_place {
	uint32_t generation;
	uint32_t fabric; /* XSF_TOPOLOGY_NONE: in none */
	uint32_t node;
};

enum xsf_link_state { XSF_LINK_UNMONITORED, XSF_LINK_UP, XSF_LINK_DOWN, XSF_LINK_STATES };
enum xsf_node_state { XSF_NODE_UNMONITORED, XSF_NODE_NOFLOWS, XSF_NODE_FLOWS, XSF_NODE_STATES };

struct xsf_topology_status {
	uint32_t nodes[XSF_NODE_STATES];
	uint32_t links[XSF_LINK_STATES];
	uint32_t ports_unknown; /* named by the topology; no source was found for them */
	uint32_t edge;		/* sources by role */
	uint32_t core;
};

struct xsf_bindings;

/* No fabric yet. NULL: no memory. */
struct xsf_bindings *xsf_bindings_new(void);
void xsf_bindings_free(struct xsf_bindings *b);

/* One more fabric, without topology. Its number, or -EINVAL (name: 1 to 31 of A-Z a-z 0-9 _ . -, and no
 * '.' in front), -EEXIST, -E2BIG, -ENOMEM. */
int xsf_bindings_add(struct xsf_bindings *b, const char *name);
int xsf_fabric_name_ok(const char *name);

/* Another topology for a fabric; takes a reference of its own. NULL: none. In force with the next update. */
int xsf_bindings_set(struct xsf_bindings *b, uint32_t fabric, struct xsf_topology *topology);

/* --no-topology=all-edge: as long as no fabric has a topology with nodes, every interface is edge of the
 * first. */
void xsf_bindings_all_edge(struct xsf_bindings *b, int on);

uint32_t xsf_bindings_nr_fabrics(const struct xsf_bindings *b);
const char *xsf_bindings_name(const struct xsf_bindings *b, uint32_t fabric);
int xsf_bindings_find(const struct xsf_bindings *b, const char *name); /* or -ENOENT */
const struct xsf_topology *xsf_bindings_topology(const struct xsf_bindings *b, uint32_t fabric);

/* Binds what is in the snapshot. 0 or -ENOMEM (then all stays as it was). */
int xsf_bindings_update(struct xsf_bindings *b, const struct xsf_snapshot *s);

/* Changes with each update that changed any role. */
uint64_t xsf_bindings_version(const struct xsf_bindings *b);

/* Of the last update. Never NULL: without a role for anything that is not bound. */
const struct xsf_place *xsf_bindings_source(const struct xsf_bindings *b,
					    const struct xsf_snapshot *s, uint32_t slot);
const struct xsf_agent_place *xsf_bindings_agent(const struct xsf_bindings *b,
						 const struct xsf_snapshot *s, uint32_t slot);

/* The value for struct xsf_group: 0, or 1 + 2 * fabric + (core). */
static inline uint8_t xsf_place_group(const struct xsf_place *p)
{
	return p->role == XSF_ROLE_NONE ? 0 :
					  (uint8_t)(1 + 2 * p->fabric + (p->role == XSF_ROLE_CORE));
}

/* Slot of the source that is a port, 0 when there is none; likewise the agent that is a node. */
uint32_t xsf_bindings_port_slot(const struct xsf_bindings *b, uint32_t fabric, uint32_t port);
uint32_t xsf_bindings_node_slot(const struct xsf_bindings *b, uint32_t fabric, uint32_t node);

/* A link is monitored when both ends have sent their interface counters, up when both say so (DESIGN 5.2); a
 * node when its agent is heard, with flows once it has sent a flow sample. */
enum xsf_link_state xsf_bindings_link(const struct xsf_bindings *b, const struct xsf_snapshot *s,
				      uint32_t fabric, uint32_t link);
enum xsf_node_state xsf_bindings_node(const struct xsf_bindings *b, const struct xsf_snapshot *s,
				      uint32_t fabric, uint32_t node);

void xsf_bindings_status(const struct xsf_bindings *b, const struct xsf_snapshot *s,
			 uint32_t fabric, struct xsf_topology_status *out);

#endif
