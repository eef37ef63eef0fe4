// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/topology.h"

#include <stdlib.h>
#include <string.h>
#include <xsf/abi.h>

static void free_topology(struct xsf_topology *t)
{
	if (!t)
		return;
	free(t->links);
	free(t->nodes);
	free(t->ports);
	free(t->by_agent);
	free(t->by_ifindex);
	free(t->names);
	free(t);
}

struct xsf_topology *xsf_topology_get(struct xsf_topology *topology)
{
	if (topology)
		topology->refs++;
	return topology;
}

void xsf_topology_put(struct xsf_topology *topology)
{
	if (topology && !--topology->refs)
		free_topology(topology);
}

/* ---- who is who ---- */

uint32_t xsf_topology_node_of_agent(const struct xsf_topology *t, const uint8_t addr[16])
{
	uint32_t low = 0, high = t->nr_by_agent;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int order = memcmp(t->nodes[t->by_agent[mid]].agent, addr, 16);

		if (!order)
			return t->by_agent[mid];
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return XSF_TOPOLOGY_NONE;
}

/* Against what an agent sent: below, at or above 0. A name that was cut where the tables cut it is that of
 * whatever begins so. */
static int compare_name(const char *ours, const uint8_t *name, size_t len)
{
	size_t ours_len = strlen(ours);
	int order = memcmp(ours, name, XSF_MIN(ours_len, len));

	if (order)
		return order;
	if (ours_len < len)
		return -1;
	return ours_len > len && len < XSF_NAME_LEN - 1;
}

uint32_t xsf_topology_node_named(const struct xsf_topology *t, const uint8_t *name, size_t len)
{
	uint32_t low = 0, high = t->nr_nodes;

	while (len && low < high) {
		uint32_t mid = low + (high - low) / 2;
		int order = compare_name(t->nodes[mid].name, name, len);

		if (!order)
			return mid;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return XSF_TOPOLOGY_NONE;
}

uint32_t xsf_topology_port_named(const struct xsf_topology *t, uint32_t node, const uint8_t *name,
				 size_t len)
{
	uint32_t low = t->nodes[node].first_port, high = low + t->nodes[node].nr_ports;

	while (len && low < high) {
		uint32_t mid = low + (high - low) / 2;
		int order = compare_name(t->ports[mid].name, name, len);

		if (!order)
			return t->ports[mid].ifindex ? XSF_TOPOLOGY_NONE : mid;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return XSF_TOPOLOGY_NONE;
}

uint32_t xsf_topology_port_of_ifindex(const struct xsf_topology *t, uint32_t node, uint32_t ifindex)
{
	uint32_t low = t->nodes[node].first_port, high = low + t->nodes[node].nr_ports;

	while (ifindex && low < high) {
		uint32_t mid = low + (high - low) / 2;
		uint32_t at = t->ports[t->by_ifindex[mid]].ifindex;

		if (at == ifindex)
			return t->by_ifindex[mid];
		if (at < ifindex)
			low = mid + 1;
		else
			high = mid;
	}
	return XSF_TOPOLOGY_NONE;
}
