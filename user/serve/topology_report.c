// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/topology_report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "model/prefix.h"
#include "serve/text.h"

/* Takes the document. */
static char *finish(json_t *root, size_t *len)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	*len = text ? strlen(text) : 0;
	return text;
}

static void add_name(json_t *list, const char *name)
{
	if (json_array_size(list) < XSF_TOPOLOGY_DETAILS)
		json_array_append_new(list, json_string(name));
}

static void add_u32(json_t *object, const char *key, uint32_t value)
{
	json_object_set_new(object, key, json_integer(value));
}

/* ---- status ---- */

static json_t *links_status(const struct xsf_bindings *b, const struct xsf_snapshot *s,
			    uint32_t fabric, const struct xsf_topology_status *st)
{
	const struct xsf_topology *t = xsf_bindings_topology(b, fabric);
	json_t *links = json_object(), *details = json_object();
	json_t *unmonitored = json_array(), *down = json_array();

	add_u32(links, "total", t ? t->nr_links : 0);
	add_u32(links, "monitored", st->links[XSF_LINK_UP] + st->links[XSF_LINK_DOWN]);
	add_u32(links, "unmonitored", st->links[XSF_LINK_UNMONITORED]);
	add_u32(links, "up", st->links[XSF_LINK_UP]);
	add_u32(links, "down", st->links[XSF_LINK_DOWN]);
	for (uint32_t l = 0; t && l < t->nr_links; l++) {
		enum xsf_link_state state = xsf_bindings_link(b, s, fabric, l);

		if (state != XSF_LINK_UP)
			add_name(state == XSF_LINK_DOWN ? down : unmonitored, t->links[l].name);
	}
	json_object_set_new(details, "unmonitored", unmonitored);
	json_object_set_new(details, "down", down);
	json_object_set_new(links, "details", details);
	return links;
}

static json_t *nodes_status(const struct xsf_bindings *b, const struct xsf_snapshot *s,
			    uint32_t fabric, const struct xsf_topology_status *st)
{
	const struct xsf_topology *t = xsf_bindings_topology(b, fabric);
	json_t *nodes = json_object(), *details = json_object();
	json_t *unmonitored = json_array(), *noflows = json_array();

	add_u32(nodes, "total", t ? t->nr_nodes : 0);
	add_u32(nodes, "monitored", st->nodes[XSF_NODE_FLOWS] + st->nodes[XSF_NODE_NOFLOWS]);
	add_u32(nodes, "unmonitored", st->nodes[XSF_NODE_UNMONITORED]);
	add_u32(nodes, "flows", st->nodes[XSF_NODE_FLOWS]);
	add_u32(nodes, "noflows", st->nodes[XSF_NODE_NOFLOWS]);
	for (uint32_t n = 0; t && n < t->nr_nodes; n++) {
		enum xsf_node_state state = xsf_bindings_node(b, s, fabric, n);

		if (state != XSF_NODE_FLOWS)
			add_name(state == XSF_NODE_NOFLOWS ? noflows : unmonitored,
				 t->nodes[n].name);
	}
	json_object_set_new(details, "unmonitored", unmonitored);
	json_object_set_new(details, "noflows", noflows);
	json_object_set_new(nodes, "details", details);
	return nodes;
}

char *xsf_topology_status_json(const struct xsf_bindings *b, const struct xsf_snapshot *s,
			       uint32_t fabric, size_t *len)
{
	const struct xsf_topology *t = xsf_bindings_topology(b, fabric);
	json_t *root = json_object(), *ports = json_object(), *sources = json_object();
	struct xsf_topology_status st;

	xsf_bindings_status(b, s, fabric, &st);
	json_object_set_new(root, "links", links_status(b, s, fabric, &st));
	json_object_set_new(root, "nodes", nodes_status(b, s, fabric, &st));
	add_u32(ports, "total", t ? t->nr_ports : 0);
	add_u32(ports, "unknown", st.ports_unknown);
	json_object_set_new(root, "ports", ports);
	add_u32(sources, "edge", st.edge);
	add_u32(sources, "core", st.core);
	json_object_set_new(root, "sources", sources);
	return finish(root, len);
}

/* ---- who is who ---- */

char *xsf_topology_agents_json(const struct xsf_bindings *b, const struct xsf_snapshot *s,
			       uint32_t fabric, size_t *len)
{
	const struct xsf_topology *t = xsf_bindings_topology(b, fabric);
	char addr[XSF_ADDRESS_TEXT];
	json_t *root = json_object();

	for (uint32_t n = 0; t && n < t->nr_nodes; n++) {
		uint32_t slot = xsf_bindings_node_slot(b, fabric, n);

		if (slot)
			json_object_set_new(root, xsf_address_text(s->agents[slot].key.addr, addr),
					    json_string(t->nodes[n].name));
	}
	return finish(root, len);
}

char *xsf_topology_unknown_json(const struct xsf_bindings *b, const struct xsf_snapshot *s,
				uint32_t fabric, size_t *len)
{
	const struct xsf_topology *t = xsf_bindings_topology(b, fabric);
	json_t *root = json_object(), *agents = json_object(), *nodes = json_array();
	json_t *ports = json_array();
	char addr[XSF_ADDRESS_TEXT];

	for (uint32_t slot = 1; slot < s->nr_agents; slot++) {
		const struct xsf_agent *a = &s->agents[slot];
		char name[2 * XSF_NAME_LEN + 1];
		struct xsf_text text = { .buf = name, .max = sizeof(name) - 1 };

		if (!xsf_snapshot_agent_shown(s, slot) ||
		    xsf_bindings_agent(b, s, slot)->fabric != XSF_TOPOLOGY_NONE ||
		    json_object_size(agents) >= XSF_TOPOLOGY_DETAILS)
			continue;
		xsf_text_name(&text, a->name, XSF_MIN(a->name_len, XSF_NAME_LEN - 1));
		name[text.len] = 0;
		json_object_set_new(agents, xsf_address_text(a->key.addr, addr), json_string(name));
	}
	for (uint32_t n = 0; t && n < t->nr_nodes; n++) {
		const struct xsf_topology_node *node = &t->nodes[n];

		if (!xsf_bindings_node_slot(b, fabric, n)) {
			add_name(nodes, node->name);
			continue;
		}
		for (uint32_t p = node->first_port; p < node->first_port + node->nr_ports; p++) {
			if (!xsf_bindings_port_slot(b, fabric, p) &&
			    json_array_size(ports) < XSF_TOPOLOGY_DETAILS)
				json_array_append_new(ports,
						      json_pack("{s:s, s:s}", "node", node->name,
								"port", t->ports[p].name));
		}
	}
	json_object_set_new(root, "agents", agents);
	json_object_set_new(root, "nodes", nodes);
	json_object_set_new(root, "ports", ports);
	return finish(root, len);
}

char *xsf_topology_locate_json(const struct xsf_bindings *b, const struct xsf_snapshot *s,
			       uint32_t fabric, const char *what, size_t *len)
{
	const struct xsf_topology *t = xsf_bindings_topology(b, fabric);
	json_t *root = json_array();
	uint8_t want[16];
	int is_address = !xsf_address_parse(what, strlen(what), want);
	char addr[XSF_ADDRESS_TEXT];

	for (uint32_t n = 0; t && n < t->nr_nodes; n++) {
		uint32_t slot = xsf_bindings_node_slot(b, fabric, n);
		const uint8_t *agent = slot ? s->agents[slot].key.addr : NULL;

		if (!agent ||
		    (is_address ? memcmp(agent, want, 16) : strcmp(t->nodes[n].name, what)))
			continue;
		json_array_append_new(root, json_pack("{s:s, s:s}", "node", t->nodes[n].name,
						      "agent", xsf_address_text(agent, addr)));
	}
	return finish(root, len);
}

static void traffic(struct xsf_text *t, const struct xsf_bindings *b, const struct xsf_snapshot *s,
		    const struct xsf_rates *r, uint32_t fabric)
{
	static const struct {
		const char *name;
		double scale;
		enum xsf_if_counter counters[3];
		int nr;
	} sums[] = {
		{ "sflow_topology_traffic_bps ", 8, { XSF_IF_in_octets }, 1 },
		{ "sflow_topology_traffic_pps ",
		  1,
		  { XSF_IF_in_ucast, XSF_IF_in_multicast, XSF_IF_in_broadcast },
		  3 },
		{ "sflow_topology_traffic_discards ",
		  1,
		  { XSF_IF_in_discards, XSF_IF_out_discards },
		  2 },
		{ "sflow_topology_traffic_errors ", 1, { XSF_IF_in_errors, XSF_IF_out_errors }, 2 },
	};
	double sum[4] = { 0 }, speed = 0, rate;

	for (uint32_t slot = 1; slot < s->nr_sources; slot++) {
		const struct xsf_place *p = xsf_bindings_source(b, s, slot);
		const struct xsf_source_rates *m;
		const struct xsf_interface *i;
		const struct xsf_agent *agent;

		if (p->role == XSF_ROLE_NONE || p->fabric != fabric ||
		    !xsf_snapshot_source_shown(s, slot, &agent))
			continue;
		i = xsf_snapshot_interface(s, slot);
		if (i && i->has_counters && i->speed != UINT64_MAX)
			speed += (double)i->speed;
		m = xsf_rates_source(r, s, slot);
		for (int n = 0; n < 4; n++) {
			for (int c = 0; c < sums[n].nr; c++) {
				if (xsf_rates_counter(m, s, sums[n].counters[c], &rate))
					sum[n] += sums[n].scale * rate;
			}
		}
	}
	for (int n = 0; n < 4; n++) {
		xsf_text_str(t, sums[n].name);
		xsf_text_double(t, sum[n]);
		xsf_text_char(t, '\n');
		if (n)
			continue;
		XSF_TEXT_LIT(t, "sflow_topology_traffic_speed ");
		xsf_text_double(t, speed);
		xsf_text_char(t, '\n');
	}
}

char *xsf_topology_prometheus(const struct xsf_bindings *b, const struct xsf_snapshot *s,
			      const struct xsf_rates *r, uint32_t fabric, size_t *len)
{
	static const char *const link_states[] = { "unmonitored", "up", "down" };
	static const char *const node_states[] = { "unmonitored", "noflows", "flows" };
	struct xsf_text t = { .max = 1024 };
	struct xsf_topology_status st;

	t.buf = malloc(t.max);
	if (!t.buf)
		return NULL;
	xsf_bindings_status(b, s, fabric, &st);
	for (int i = 0; i < XSF_LINK_STATES; i++) {
		XSF_TEXT_LIT(&t, "sflow_topology_links{status=\"");
		xsf_text_str(&t, link_states[i]);
		XSF_TEXT_LIT(&t, "\"} ");
		xsf_text_u64(&t, st.links[i]);
		xsf_text_char(&t, '\n');
	}
	for (int i = 0; i < XSF_NODE_STATES; i++) {
		XSF_TEXT_LIT(&t, "sflow_topology_nodes{status=\"");
		xsf_text_str(&t, node_states[i]);
		XSF_TEXT_LIT(&t, "\"} ");
		xsf_text_u64(&t, st.nodes[i]);
		xsf_text_char(&t, '\n');
	}
	traffic(&t, b, s, r, fabric);
	*len = t.len;
	return t.buf;
}
