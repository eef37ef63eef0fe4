// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/flow_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xsf/sflow.h>

#include "model/flow_field.h"

#define NONE XSF_TOPOLOGY_NONE
#define EMPTY UINT32_MAX /* in a hash */

/* A switch, by its address: whatever its sub-agents say. */
struct agent {
	uint8_t addr[16];
	uint32_t fabric; /* NONE: in none */
	uint32_t node;
	char host[XSF_NAME_LEN]; /* "": not known */
};

/* An interface of agents[agent]. */
struct port {
	uint32_t agent;
	uint32_t ifindex;
	uint32_t role;
	uint32_t fabric;
	uint32_t link;		 /* NONE: no end of one */
	char name[XSF_NAME_LEN]; /* "": not known */
};

/* Open addressing, at most half full. */
struct hash {
	uint32_t *at; /* index, or EMPTY */
	uint32_t mask;
};

struct content {
	struct agent *agents;
	struct port *ports;
	uint32_t nr_agents;
	uint32_t nr_ports;
	struct hash by_addr;
	struct hash by_port;
	struct xsf_topology *topology[XSF_FABRICS_MAX];
};

struct xsf_name_table {
	struct xsf_flow_names names;
	const struct xsf_flow_tables *tables; /* of groups and maps; NULL: none */
	uint64_t seed;
	struct content now;
	char text[XSF_ADDRESS_TEXT]; /* of the last answer that is stored nowhere */
};

/* ---- hashes ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15ull;
	return a ^ a >> 32;
}

static uint32_t addr_hash(uint64_t seed, const uint8_t addr[16])
{
	uint64_t half[2];

	memcpy(half, addr, sizeof(half));
	return (uint32_t)mix(mix(mix(seed, half[0]), half[1]), seed);
}

static uint32_t port_hash(uint64_t seed, uint32_t agent, uint32_t ifindex)
{
	return (uint32_t)mix(mix(seed, (uint64_t)agent << 32 | ifindex), seed);
}

static int hash_new(struct hash *h, uint32_t nr)
{
	uint32_t size = 16;

	while (size < 2 * nr)
		size *= 2;
	h->mask = size - 1;
	h->at = malloc(size * sizeof(*h->at));
	if (!h->at)
		return -ENOMEM;
	memset(h->at, 0xff, size * sizeof(*h->at));
	return 0;
}

/* Where the agent is, or where it would be. */
static uint32_t *find_agent(const struct content *c, uint64_t seed, const uint8_t addr[16])
{
	uint32_t i = addr_hash(seed, addr);

	for (;; i++) {
		uint32_t *at = &c->by_addr.at[i & c->by_addr.mask];

		if (*at == EMPTY || !memcmp(c->agents[*at].addr, addr, 16))
			return at;
	}
}

static uint32_t *find_port(const struct content *c, uint64_t seed, uint32_t agent, uint32_t ifindex)
{
	uint32_t i = port_hash(seed, agent, ifindex);

	for (;; i++) {
		uint32_t *at = &c->by_port.at[i & c->by_port.mask];

		if (*at == EMPTY ||
		    (c->ports[*at].agent == agent && c->ports[*at].ifindex == ifindex))
			return at;
	}
}

/* ---- making it ---- */

static void content_free(struct content *c)
{
	free(c->agents);
	free(c->ports);
	free(c->by_addr.at);
	free(c->by_port.at);
	for (uint32_t f = 0; f < XSF_FABRICS_MAX; f++)
		xsf_topology_put(c->topology[f]);
}

/* The name may be changing; a zero byte ends it. */
static void take_name(char to[XSF_NAME_LEN], const volatile uint8_t *name, uint32_t len)
{
	len = XSF_MIN(len, XSF_NAME_LEN - 1);
	for (uint32_t i = 0; i < len; i++)
		to[i] = (char)name[i];
	to[len] = 0;
}

static int agent_in_use(const struct xsf_snapshot *s, uint32_t slot)
{
	return (s->agents[slot].generation & 1) != 0;
}

/* An interface of an agent that has its place still. */
static int port_in_use(const struct xsf_snapshot *s, uint32_t slot)
{
	const struct xsf_agent *agent;

	return s->sources[slot].generation & 1 && xsf_source_is_interface(&s->sources[slot]) &&
	       xsf_snapshot_source_agent(s, slot, &agent) &&
	       agent_in_use(s, s->sources[slot].key.agent);
}

/* Room for what is there by now; what comes meanwhile is for the next time. */
static int content_room(struct content *c, const struct xsf_snapshot *s)
{
	uint32_t agents = 0, ports = 0;

	for (uint32_t slot = 1; slot < s->nr_agents; slot++)
		agents += (uint32_t)agent_in_use(s, slot);
	for (uint32_t slot = 1; slot < s->nr_sources; slot++)
		ports += (uint32_t)port_in_use(s, slot);
	c->nr_agents = agents;
	c->nr_ports = ports;
	c->agents = calloc(agents + 1, sizeof(*c->agents));
	c->ports = calloc(ports + 1, sizeof(*c->ports));
	if (!c->agents || !c->ports)
		return -ENOMEM;
	return hash_new(&c->by_addr, agents) || hash_new(&c->by_port, ports) ? -ENOMEM : 0;
}

static void add_agent(struct content *c, uint64_t seed, uint32_t room, const struct xsf_snapshot *s,
		      const struct xsf_bindings *b, uint32_t slot)
{
	const struct xsf_agent_place *place = xsf_bindings_agent(b, s, slot);
	const struct xsf_agent *from = &s->agents[slot];
	uint8_t addr[16];
	uint32_t *at;
	struct agent *a;

	memcpy(addr, from->key.addr, sizeof(addr));
	at = find_agent(c, seed, addr);
	if (*at == EMPTY) {
		if (c->nr_agents == room)
			return;
		*at = c->nr_agents++;
		a = &c->agents[*at];
		memcpy(a->addr, addr, sizeof(addr));
		a->fabric = a->node = NONE;
	}
	a = &c->agents[*at];
	if (!*a->host)
		take_name(a->host, from->name, from->name_len);
	if (a->fabric == NONE && place->fabric < XSF_FABRICS_MAX && c->topology[place->fabric] &&
	    place->node < c->topology[place->fabric]->nr_nodes) {
		a->fabric = place->fabric;
		a->node = place->node;
	}
}

static void add_port(struct content *c, uint64_t seed, uint32_t room, const struct xsf_snapshot *s,
		     const struct xsf_bindings *b, uint32_t slot)
{
	const struct xsf_place *place = xsf_bindings_source(b, s, slot);
	const struct xsf_interface *i = xsf_snapshot_interface(s, slot);
	uint32_t ifindex = s->sources[slot].key.index, agent, *at;
	uint8_t addr[16];
	struct port *p;

	memcpy(addr, s->agents[s->sources[slot].key.agent].key.addr, sizeof(addr));
	agent = *find_agent(c, seed, addr);
	if (agent == EMPTY)
		return;
	at = find_port(c, seed, agent, ifindex);
	if (*at == EMPTY) {
		if (c->nr_ports == room)
			return;
		*at = c->nr_ports++;
		c->ports[*at] = (struct port){
			.agent = agent, .ifindex = ifindex, .fabric = NONE, .link = NONE
		};
	}
	p = &c->ports[*at];
	if (!*p->name && i)
		take_name(p->name, i->name, i->name_len);
	if (p->role == XSF_ROLE_NONE && place->role != XSF_ROLE_NONE) {
		p->role = place->role;
		p->fabric = place->fabric;
		p->link = place->link;
	}
}

int xsf_name_table_update(struct xsf_name_table *t, const struct xsf_snapshot *s,
			  const struct xsf_bindings *b)
{
	struct content c = { 0 };
	uint32_t agents, ports;

	if (content_room(&c, s)) {
		content_free(&c);
		return -ENOMEM;
	}
	agents = c.nr_agents;
	ports = c.nr_ports;
	c.nr_agents = c.nr_ports = 0;
	for (uint32_t f = 0; f < xsf_bindings_nr_fabrics(b); f++)
		c.topology[f] = xsf_topology_get(
			(struct xsf_topology *)(uintptr_t)xsf_bindings_topology(b, f));
	for (uint32_t slot = 1; slot < s->nr_agents; slot++) {
		if (agent_in_use(s, slot))
			add_agent(&c, t->seed, agents, s, b, slot);
	}
	for (uint32_t slot = 1; slot < s->nr_sources; slot++) {
		if (port_in_use(s, slot))
			add_port(&c, t->seed, ports, s, b, slot);
	}
	content_free(&t->now);
	t->now = c;
	return 0;
}

/* ---- asking it ---- */

static const struct agent *agent_of(const struct xsf_name_table *t, const struct xsf_event *event)
{
	uint32_t at = t->now.nr_agents ? *find_agent(&t->now, t->seed, event->agent.addr) : EMPTY;

	return at == EMPTY ? NULL : &t->now.agents[at];
}

static const struct port *port_of(const struct xsf_name_table *t, const struct agent *agent,
				  uint32_t ifindex)
{
	uint32_t at =
		agent && t->now.nr_ports ?
			*find_port(&t->now, t->seed, (uint32_t)(agent - t->now.agents), ifindex) :
			EMPTY;

	return at == EMPTY ? NULL : &t->now.ports[at];
}

/* The topology's port of that ifIndex, which may never have been heard of otherwise. */
static const struct xsf_topology_port *planned_port(const struct xsf_name_table *t,
						    const struct agent *agent, uint32_t ifindex)
{
	const struct xsf_topology *topology;
	uint32_t port;

	if (!agent || agent->fabric == NONE)
		return NULL;
	topology = t->now.topology[agent->fabric];
	port = xsf_topology_port_of_ifindex(topology, agent->node, ifindex);
	return port == NONE ? NULL : &topology->ports[port];
}

static const char *node(void *arg, const struct xsf_event *event, uint32_t ifindex)
{
	struct xsf_name_table *t = arg;
	const struct agent *a = agent_of(t, event);

	(void)ifindex;
	if (a && a->fabric != NONE)
		return t->now.topology[a->fabric]->nodes[a->node].name;
	return a && *a->host ? a->host : xsf_address_text(event->agent.addr, t->text);
}

static const char *ifname(void *arg, const struct xsf_event *event, uint32_t ifindex)
{
	struct xsf_name_table *t = arg;
	const struct xsf_topology_port *planned;
	const struct agent *a;
	const struct port *p;

	if (ifindex == SFLOW_IF_UNKNOWN || ifindex == SFLOW_IF_NONE)
		return "unknown";
	if (ifindex == SFLOW_IF_INTERNAL)
		return "internal";
	a = agent_of(t, event);
	p = port_of(t, a, ifindex);
	if (p && *p->name)
		return p->name;
	planned = planned_port(t, a, ifindex);
	if (planned)
		return planned->name;
	snprintf(t->text, sizeof(t->text), "%u", ifindex);
	return t->text;
}

static const char *link_of(void *arg, const struct xsf_event *event, uint32_t ifindex)
{
	const struct xsf_name_table *t = arg;
	const struct agent *a = agent_of(t, event);
	const struct port *p = port_of(t, a, ifindex);
	const struct xsf_topology_port *planned;
	const struct xsf_topology *topology;

	if (p && p->link != NONE) {
		topology = p->fabric < XSF_FABRICS_MAX ? t->now.topology[p->fabric] : NULL;
		return topology && p->link < topology->nr_links ? topology->links[p->link].name :
								  NULL;
	}
	planned = p && p->role != XSF_ROLE_NONE ? NULL : planned_port(t, a, ifindex);
	if (!planned || planned->link == NONE)
		return NULL;
	return t->now.topology[a->fabric]->links[planned->link].name;
}

static uint32_t role(void *arg, const struct xsf_event *event)
{
	const struct xsf_name_table *t = arg;
	const struct agent *a = agent_of(t, event);
	const struct xsf_topology_port *planned;
	int entity = (event->class & ~1u) == SFLOW_CLASS_ENTITY;
	uint32_t ifindex = event->index;
	const struct port *p;

	if (event->class != SFLOW_CLASS_IFINDEX && !entity)
		return XSF_ROLE_NONE;
	/* Switches send their drops as one source for all ports (host sFlow: 0:0), and what an entity samples
	 * came in at its input (DESIGN.md 4.12). */
	if (entity || (!ifindex && !(event->flags & XSF_EVENT_FLOW)))
		ifindex = xsf_flow_ifindex(event, 0);
	if (!a || ifindex == SFLOW_IF_UNKNOWN)
		return XSF_ROLE_NONE;
	p = port_of(t, a, ifindex);
	if (p && p->role != XSF_ROLE_NONE)
		return p->role;
	planned = planned_port(t, a, ifindex);
	if (!planned)
		return XSF_ROLE_NONE;
	return planned->link == NONE ? XSF_ROLE_EDGE : XSF_ROLE_CORE;
}

static int in_topology(void *arg, const struct xsf_event *event)
{
	const struct xsf_name_table *t = arg;
	const struct agent *a = agent_of(t, event);

	return (a && a->fabric != NONE) || role(arg, event) != XSF_ROLE_NONE;
}

const struct xsf_flow_names *xsf_name_table_names(const struct xsf_name_table *t)
{
	return &t->names;
}

static const char *group(void *arg, const char *table, const char *address)
{
	const struct xsf_name_table *t = arg;

	return t->tables ? xsf_flow_tables_group(t->tables, table, address) : NULL;
}

static const char *map(void *arg, const char *table, const char *key)
{
	const struct xsf_name_table *t = arg;

	return t->tables ? xsf_flow_tables_map(t->tables, table, key) : NULL;
}

struct xsf_name_table *xsf_name_table_new(uint64_t seed, const struct xsf_flow_tables *tables)
{
	struct xsf_name_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->seed = seed;
	t->tables = tables;
	t->names = (struct xsf_flow_names){ .arg = t,
					    .node = node,
					    .ifname = ifname,
					    .link = link_of,
					    .role = role,
					    .in_topology = in_topology,
					    .group = group,
					    .map = map };
	return t;
}

void xsf_name_table_free(struct xsf_name_table *t)
{
	if (!t)
		return;
	content_free(&t->now);
	free(t);
}
