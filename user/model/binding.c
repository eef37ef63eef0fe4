// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE XSF_TOPOLOGY_NONE

const char *const xsf_role_names[3] = { "none", "edge", "core" };

struct fabric {
	char name[XSF_FABRIC_NAME_LEN];
	struct xsf_topology *topology;
	uint32_t *node_slot; /* agent by node; 0 = none */
	uint32_t *port_slot; /* source by port */
};

/* An agent in use, by address: its sub-agents stand together. */
struct by_address {
	uint8_t addr[16];
	uint32_t slot;
};

/* An interface, by its agent's slot and ifIndex. */
struct by_index {
	uint32_t agent;
	uint32_t index;
	uint32_t slot;
};

struct xsf_bindings {
	struct fabric fabric[XSF_FABRICS_MAX];
	uint32_t nr_fabrics;
	int all_edge;
	uint64_t version;
	uint64_t sum;			/* of all places at the last update */
	struct xsf_agent_place *agents; /* XSF_AGENTS */
	struct xsf_place *sources;	/* XSF_SOURCES */
	struct by_address *addresses;	/* XSF_AGENTS */
	struct by_index *indexes;	/* XSF_SOURCES */
};

static const struct xsf_place no_place = { .node = NONE, .port = NONE, .link = NONE };
static const struct xsf_agent_place no_agent_place = { .fabric = NONE, .node = NONE };

struct xsf_bindings *xsf_bindings_new(void)
{
	struct xsf_bindings *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->agents = calloc(XSF_AGENTS, sizeof(*b->agents));
	b->sources = calloc(XSF_SOURCES, sizeof(*b->sources));
	b->addresses = calloc(XSF_AGENTS, sizeof(*b->addresses));
	b->indexes = calloc(XSF_SOURCES, sizeof(*b->indexes));
	if (b->agents && b->sources && b->addresses && b->indexes)
		return b;
	xsf_bindings_free(b);
	return NULL;
}

void xsf_bindings_free(struct xsf_bindings *b)
{
	if (!b)
		return;
	for (uint32_t f = 0; f < b->nr_fabrics; f++) {
		xsf_topology_put(b->fabric[f].topology);
		free(b->fabric[f].node_slot);
		free(b->fabric[f].port_slot);
	}
	free(b->agents);
	free(b->sources);
	free(b->addresses);
	free(b->indexes);
	free(b);
}

int xsf_fabric_name_ok(const char *name)
{
	size_t len = strlen(name);

	return len && len < XSF_FABRIC_NAME_LEN && *name != '.' &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") ==
		       len;
}

int xsf_bindings_add(struct xsf_bindings *b, const char *name)
{
	if (!xsf_fabric_name_ok(name))
		return -EINVAL;
	if (xsf_bindings_find(b, name) >= 0)
		return -EEXIST;
	if (b->nr_fabrics == XSF_FABRICS_MAX)
		return -E2BIG;
	memcpy(b->fabric[b->nr_fabrics].name, name, strlen(name) + 1);
	return (int)b->nr_fabrics++;
}

int xsf_bindings_set(struct xsf_bindings *b, uint32_t fabric, struct xsf_topology *topology)
{
	struct fabric *f = &b->fabric[fabric];
	uint32_t *nodes = NULL, *ports = NULL;

	if (topology) {
		nodes = calloc(topology->nr_nodes + 1, sizeof(*nodes));
		ports = calloc(topology->nr_ports + 1, sizeof(*ports));
		if (!nodes || !ports) {
			free(nodes);
			free(ports);
			return -ENOMEM;
		}
	}
	xsf_topology_put(f->topology);
	free(f->node_slot);
	free(f->port_slot);
	f->topology = xsf_topology_get(topology);
	f->node_slot = nodes;
	f->port_slot = ports;
	/* Numbers of nodes and ports are those of the topology before. */
	memset(b->agents, 0, XSF_AGENTS * sizeof(*b->agents));
	memset(b->sources, 0, XSF_SOURCES * sizeof(*b->sources));
	for (uint32_t i = 0; i < b->nr_fabrics; i++) {
		const struct xsf_topology *t = b->fabric[i].topology;

		if (!t)
			continue;
		memset(b->fabric[i].node_slot, 0, t->nr_nodes * sizeof(*nodes));
		memset(b->fabric[i].port_slot, 0, t->nr_ports * sizeof(*ports));
	}
	b->version++;
	return 0;
}

void xsf_bindings_all_edge(struct xsf_bindings *b, int on)
{
	b->all_edge = on;
}

uint32_t xsf_bindings_nr_fabrics(const struct xsf_bindings *b)
{
	return b->nr_fabrics;
}

const char *xsf_bindings_name(const struct xsf_bindings *b, uint32_t fabric)
{
	return fabric < b->nr_fabrics ? b->fabric[fabric].name : "none";
}

int xsf_bindings_find(const struct xsf_bindings *b, const char *name)
{
	for (uint32_t f = 0; f < b->nr_fabrics; f++) {
		if (!strcmp(b->fabric[f].name, name))
			return (int)f;
	}
	return -ENOENT;
}

const struct xsf_topology *xsf_bindings_topology(const struct xsf_bindings *b, uint32_t fabric)
{
	return fabric < b->nr_fabrics ? b->fabric[fabric].topology : NULL;
}

uint64_t xsf_bindings_version(const struct xsf_bindings *b)
{
	return b->version;
}

/* "{}" is what takes one away. */
static int any_topology(const struct xsf_bindings *b)
{
	for (uint32_t f = 0; f < b->nr_fabrics; f++) {
		if (b->fabric[f].topology && b->fabric[f].topology->nr_nodes)
			return 1;
	}
	return 0;
}

/* ---- agents ---- */

static int compare_address(const void *a, const void *b)
{
	const struct by_address *x = a, *y = b;
	int order = memcmp(x->addr, y->addr, sizeof(x->addr));

	return order ? order : (x->slot > y->slot) - (x->slot < y->slot);
}

/* Which node the agents at group[0..nr) are, who have one address; 1: *place says. */
static int find_node(const struct xsf_bindings *b, const struct xsf_snapshot *s,
		     const struct by_address *group, uint32_t nr, struct xsf_agent_place *place)
{
	for (uint32_t f = 0; f < b->nr_fabrics; f++) {
		const struct xsf_topology *t = b->fabric[f].topology;
		uint32_t node;

		if (!t)
			continue;
		node = xsf_topology_node_of_agent(t, group->addr);
		for (uint32_t i = 0; i < nr && node == NONE; i++) {
			const struct xsf_agent *a = &s->agents[group[i].slot];
			uint8_t name[XSF_NAME_LEN];

			node = xsf_topology_node_named(t, name,
						       xsf_name_copy(name, a->name, a->name_len));
			if (node != NONE && t->nodes[node].has_agent)
				node = NONE;
		}
		if (node != NONE) {
			place->fabric = f;
			place->node = node;
			return 1;
		}
	}
	return 0;
}

static int was_node(const struct xsf_bindings *b, const struct xsf_snapshot *s, uint32_t slot,
		    const struct xsf_agent_place *place)
{
	const struct xsf_agent_place *was = &b->agents[slot];

	return was->generation == s->agents[slot].generation && was->fabric == place->fabric &&
	       was->node == place->node;
}

static int same_address(const struct xsf_snapshot *s, uint32_t slot, const uint8_t addr[16])
{
	return !memcmp(s->agents[slot].key.addr, addr, 16);
}

/* Who is a node: the agent that was, while it lasts, else the first one. */
static void claim_node(struct xsf_bindings *b, const struct xsf_snapshot *s,
		       const struct by_address *group, uint32_t nr,
		       const struct xsf_agent_place *place)
{
	uint32_t *claim = &b->fabric[place->fabric].node_slot[place->node];

	for (uint32_t i = 0; i < nr; i++) {
		if (!*claim ||
		    (was_node(b, s, group[i].slot, place) && !was_node(b, s, *claim, place)))
			*claim = group[i].slot;
	}
}

static uint32_t group_len(const struct by_address *at, uint32_t left)
{
	uint32_t nr = 1;

	while (nr < left && !memcmp(at->addr, at[nr].addr, sizeof(at->addr)))
		nr++;
	return nr;
}

/* Sets b->agents and the fabrics' node_slot. */
static void bind_agents(struct xsf_bindings *b, const struct xsf_snapshot *s)
{
	uint32_t nr = 0, len;

	for (uint32_t f = 0; f < b->nr_fabrics; f++) {
		if (b->fabric[f].topology)
			memset(b->fabric[f].node_slot, 0,
			       b->fabric[f].topology->nr_nodes * sizeof(uint32_t));
	}
	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_agents, XSF_AGENTS); slot++) {
		if (!xsf_snapshot_agent_shown(s, slot))
			continue;
		memcpy(b->addresses[nr].addr, s->agents[slot].key.addr, 16);
		b->addresses[nr++].slot = slot;
	}
	qsort(b->addresses, nr, sizeof(*b->addresses), compare_address);
	for (uint32_t at = 0; at < nr; at += len) {
		struct xsf_agent_place place = no_agent_place;

		len = group_len(b->addresses + at, nr - at);
		if (find_node(b, s, b->addresses + at, len, &place))
			claim_node(b, s, b->addresses + at, len, &place);
	}
	for (uint32_t at = 0; at < nr; at += len) {
		struct xsf_agent_place place = no_agent_place;

		len = group_len(b->addresses + at, nr - at);
		if (find_node(b, s, b->addresses + at, len, &place)) {
			uint32_t claim = b->fabric[place.fabric].node_slot[place.node];

			if (!same_address(s, claim, b->addresses[at].addr))
				place = no_agent_place;
		}
		for (uint32_t i = at; i < at + len; i++) {
			uint32_t slot = b->addresses[i].slot;

			place.generation = s->agents[slot].generation;
			b->agents[slot] = place;
		}
	}
}

/* ---- interfaces ---- */

static uint32_t find_port(const struct xsf_topology *t, uint32_t node, uint32_t ifindex,
			  const struct xsf_interface *i)
{
	uint32_t port = xsf_topology_port_of_ifindex(t, node, ifindex);
	uint8_t name[XSF_NAME_LEN];

	if (port == NONE && i && i->name_len)
		port = xsf_topology_port_named(t, node, name,
					       xsf_name_copy(name, i->name, i->name_len));
	return port;
}

/* An aggregate that sends nothing itself is known by the topology alone, where its ifindex is given. */
static void follow_silent(const struct xsf_topology *t, uint32_t aggregate, struct xsf_place *p)
{
	uint32_t port = xsf_topology_port_of_ifindex(t, p->node, aggregate);

	if (port == NONE || t->ports[port].link == NONE)
		return;
	p->role = XSF_ROLE_CORE;
	p->link = t->ports[port].link;
	p->follows = 1;
}

/* Where the source in a slot stands by itself. */
static struct xsf_place place_of(struct xsf_bindings *b, const struct xsf_snapshot *s,
				 uint32_t slot, int all_edge, uint32_t *members)
{
	const struct xsf_source *source = &s->sources[slot];
	const struct xsf_agent_place *at;
	const struct xsf_interface *i;
	struct xsf_place p = no_place;
	const struct xsf_agent *agent;
	uint32_t aggregate;
	struct fabric *f;

	p.generation = source->generation;
	if (!xsf_source_is_interface(source) || !xsf_snapshot_source_agent(s, slot, &agent))
		return p;
	if (all_edge) {
		p.role = XSF_ROLE_EDGE;
		return p;
	}
	at = xsf_bindings_agent(b, s, source->key.agent);
	if (at->fabric == NONE)
		return p;
	f = &b->fabric[at->fabric];
	i = xsf_snapshot_interface(s, slot);
	p.fabric = (uint8_t)at->fabric;
	p.node = at->node;
	p.port = find_port(f->topology, at->node, source->key.index, i);
	p.role = XSF_ROLE_EDGE;
	if (p.port != NONE) {
		p.link = f->topology->ports[p.port].link;
		/* Several sub-agents may have it: best the one that sends counters. */
		if (!f->port_slot[p.port] || (i && i->has_counters))
			f->port_slot[p.port] = slot;
	}
	if (p.link != NONE)
		p.role = XSF_ROLE_CORE;
	aggregate = i ? i->aggregate : 0;
	*members += aggregate != 0;
	if (aggregate && p.role == XSF_ROLE_EDGE)
		follow_silent(f->topology, aggregate, &p);
	return p;
}

static int compare_index(const void *a, const void *b)
{
	const struct by_index *x = a, *y = b;

	if (x->agent != y->agent)
		return x->agent < y->agent ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* The slot of interface `index` of the agent in a slot, 0 when there is none. */
static uint32_t interface_of(const struct xsf_bindings *b, uint32_t nr, uint32_t agent,
			     uint32_t index)
{
	const struct by_index key = { .agent = agent, .index = index };
	const struct by_index *found =
		bsearch(&key, b->indexes, nr, sizeof(*b->indexes), compare_index);

	return found ? found->slot : 0;
}

static void follow(struct xsf_bindings *b, uint32_t slot, uint32_t whom)
{
	struct xsf_place *p = &b->sources[slot];

	if (p->role != XSF_ROLE_EDGE || b->sources[whom].role != XSF_ROLE_CORE)
		return;
	p->role = XSF_ROLE_CORE;
	p->link = b->sources[whom].link;
	p->follows = 1;
}

/* A link on an aggregate covers its members, and one on a member the aggregate, and so the others. */
static void follow_aggregates(struct xsf_bindings *b, const struct xsf_snapshot *s)
{
	uint32_t nr = 0;

	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_sources, XSF_SOURCES); slot++) {
		if (xsf_bindings_source(b, s, slot)->role == XSF_ROLE_NONE)
			continue;
		b->indexes[nr++] = (struct by_index){ .agent = s->sources[slot].key.agent,
						      .index = s->sources[slot].key.index,
						      .slot = slot };
	}
	qsort(b->indexes, nr, sizeof(*b->indexes), compare_index);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t n = 0; n < nr; n++) {
			uint32_t slot = b->indexes[n].slot, aggregate;
			const struct xsf_interface *i = xsf_snapshot_interface(s, slot);

			if (!i || !i->aggregate || i->aggregate == b->indexes[n].index)
				continue;
			aggregate = interface_of(b, nr, b->indexes[n].agent, i->aggregate);
			if (aggregate && !pass)
				follow(b, aggregate, slot);
			else if (aggregate)
				follow(b, slot, aggregate);
		}
	}
}

/* Of all places: tells whether any has changed. */
static uint64_t places_sum(const struct xsf_bindings *b, const struct xsf_snapshot *s)
{
	uint64_t sum = 0;

	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_sources, XSF_SOURCES); slot++) {
		const struct xsf_place *p = &b->sources[slot];
		uint64_t word = (uint64_t)p->generation << 32 ^ (uint64_t)p->port << 20 ^
				(uint64_t)p->link << 10 ^ (uint64_t)p->fabric << 2 ^ p->role;

		sum = (sum ^ word) * 0x9e3779b97f4a7c15ull + slot;
	}
	return sum;
}

int xsf_bindings_update(struct xsf_bindings *b, const struct xsf_snapshot *s)
{
	int all_edge = b->all_edge && b->nr_fabrics && !any_topology(b);
	uint32_t members = 0;
	uint64_t sum;

	bind_agents(b, s);
	for (uint32_t f = 0; f < b->nr_fabrics; f++) {
		if (b->fabric[f].topology)
			memset(b->fabric[f].port_slot, 0,
			       b->fabric[f].topology->nr_ports * sizeof(uint32_t));
	}
	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_sources, XSF_SOURCES); slot++) {
		if (s->sources[slot].generation & 1)
			b->sources[slot] = place_of(b, s, slot, all_edge, &members);
	}
	if (members)
		follow_aggregates(b, s);
	sum = places_sum(b, s);
	b->version += sum != b->sum;
	b->sum = sum;
	return 0;
}

const struct xsf_place *xsf_bindings_source(const struct xsf_bindings *b,
					    const struct xsf_snapshot *s, uint32_t slot)
{
	if (slot >= XSF_SOURCES || b->sources[slot].generation != s->sources[slot].generation ||
	    !b->sources[slot].generation)
		return &no_place;
	return &b->sources[slot];
}

const struct xsf_agent_place *xsf_bindings_agent(const struct xsf_bindings *b,
						 const struct xsf_snapshot *s, uint32_t slot)
{
	if (slot >= XSF_AGENTS || b->agents[slot].generation != s->agents[slot].generation ||
	    !b->agents[slot].generation)
		return &no_agent_place;
	return &b->agents[slot];
}

/* ---- what has come of a topology ---- */

uint32_t xsf_bindings_port_slot(const struct xsf_bindings *b, uint32_t fabric, uint32_t port)
{
	return b->fabric[fabric].port_slot[port];
}

uint32_t xsf_bindings_node_slot(const struct xsf_bindings *b, uint32_t fabric, uint32_t node)
{
	return b->fabric[fabric].node_slot[node];
}

enum xsf_link_state xsf_bindings_link(const struct xsf_bindings *b, const struct xsf_snapshot *s,
				      uint32_t fabric, uint32_t link)
{
	const struct fabric *f = &b->fabric[fabric];
	enum xsf_link_state state = XSF_LINK_UP;

	for (int end = 0; end < 2; end++) {
		uint32_t slot = f->port_slot[f->topology->links[link].port[end]];
		const struct xsf_interface *i;
		const struct xsf_agent *agent;

		if (!slot || !xsf_snapshot_source_shown(s, slot, &agent))
			return XSF_LINK_UNMONITORED;
		i = xsf_snapshot_interface(s, slot);
		if (!i || !i->has_counters)
			return XSF_LINK_UNMONITORED;
		if ((i->status & 3) != 3)
			state = XSF_LINK_DOWN;
	}
	return state;
}

enum xsf_node_state xsf_bindings_node(const struct xsf_bindings *b, const struct xsf_snapshot *s,
				      uint32_t fabric, uint32_t node)
{
	uint32_t claim = b->fabric[fabric].node_slot[node];
	enum xsf_node_state state = XSF_NODE_UNMONITORED;

	if (!claim || !xsf_snapshot_agent_shown(s, claim))
		return state;
	state = XSF_NODE_NOFLOWS;
	if (s->agents[claim].own.flow_samples || s->agents[claim].shared.flow_samples)
		return XSF_NODE_FLOWS;
	/* Another sub-agent may send them. */
	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_agents, XSF_AGENTS); slot++) {
		const struct xsf_agent *a = &s->agents[slot];

		if (xsf_snapshot_agent_shown(s, slot) &&
		    same_address(s, slot, s->agents[claim].key.addr) &&
		    (a->own.flow_samples || a->shared.flow_samples))
			return XSF_NODE_FLOWS;
	}
	return state;
}

void xsf_bindings_status(const struct xsf_bindings *b, const struct xsf_snapshot *s,
			 uint32_t fabric, struct xsf_topology_status *out)
{
	const struct xsf_topology *t = xsf_bindings_topology(b, fabric);

	memset(out, 0, sizeof(*out));
	for (uint32_t n = 0; t && n < t->nr_nodes; n++)
		out->nodes[xsf_bindings_node(b, s, fabric, n)]++;
	for (uint32_t l = 0; t && l < t->nr_links; l++)
		out->links[xsf_bindings_link(b, s, fabric, l)]++;
	for (uint32_t p = 0; t && p < t->nr_ports; p++)
		out->ports_unknown += !b->fabric[fabric].port_slot[p];
	for (uint32_t slot = 1; slot < XSF_MIN(s->nr_sources, XSF_SOURCES); slot++) {
		const struct xsf_place *p = xsf_bindings_source(b, s, slot);

		if (p->fabric != fabric)
			continue;
		out->edge += p->role == XSF_ROLE_EDGE;
		out->core += p->role == XSF_ROLE_CORE;
	}
}
