/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What keys of flows ask of the world (struct xsf_flow_names), answered from a snapshot and the bindings.
 *
 *	node		the topology's node, else the name that the agent sends, else its address
 *	ifname		the name that the agent sends for the port, else the topology's for that ifIndex,
 *			else the ifIndex in decimal; "unknown" for 0, "internal" for the switch itself
 *	link		the topology's link that the port is an end of; none at the edge
 *	role		of the data source; of a drop notification of the switch as a whole (ifIndex 0),
 *			that of its input
 *	in_topology	the agent is a node of any fabric, or has a role without a topology
 *	group, map	what the tables have that were PUT (flow_tables.h)
 *
 * All sub-agents of an address are one switch here: what one of them says of a port holds for all. Names are
 * copied when the table is made anew, about once a second while somebody needs them; nothing of the snapshot
 * or the bindings is held on to but the topologies. */
#ifndef XSF_MODEL_FLOW_NAMES_H
#define XSF_MODEL_FLOW_NAMES_H

#include "model/binding.h"
#include "model/flow.h"
#include "model/flow_tables.h"

struct xsf_name_table;

/* Empty: nodes are addresses, ports numbers. seed: random, against agents that choose where they fall.
 * tables: outlive it, may change meanwhile; NULL: none. NULL: no memory. */
struct xsf_name_table *xsf_name_table_new(uint64_t seed, const struct xsf_flow_tables *tables);
void xsf_name_table_free(struct xsf_name_table *table);

/* As the snapshot and the bindings say, which were updated with it or one before. Memory for as many agents
 * and interfaces as there are, 6.5 MB when the tables are full. 0; or -ENOMEM: all stays as it was. */
int xsf_name_table_update(struct xsf_name_table *table, const struct xsf_snapshot *s,
			  const struct xsf_bindings *b);

/* Valid as long as the table. */
const struct xsf_flow_names *xsf_name_table_names(const struct xsf_name_table *table);

#endif
