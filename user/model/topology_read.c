// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/topology.h"

#include <errno.h>
#include <jansson.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xsf/abi.h>
#include "model/line.h"
#include "model/prefix.h"
#include "model/utf8.h"

/* A port as it is named somewhere: by a link's end, or under its node. Names are the document's. */
struct named_port {
	const char *node;
	const char *name;
	uint32_t link;
	uint32_t end; /* of the link: 0 or 1 */
	uint32_t ifindex;
};

struct named_node {
	const char *name;
	uint32_t has_agent;
	uint8_t agent[16];
};

struct reader {
	struct xsf_topology *t;
	struct named_node *nodes; /* also those that only links name */
	size_t nr_nodes;
	struct named_port *ports;
	size_t nr_ports;
	char *why;
	size_t why_len;
};

/* ---- memory of the document ---- */

/* jansson takes up to a hundred bytes for one of text; what it may have is bounded here. One document at a
 * time, in one thread; the functions are set only while it is read and freed. */
static size_t document_used;
static int document_full;

static void *document_alloc(size_t n)
{
	void *p;

	if (n > XSF_TOPOLOGY_MEMORY - document_used) {
		document_full = 1;
		return NULL;
	}
	p = malloc(n);
	if (p)
		document_used += malloc_usable_size(p);
	if (document_used > XSF_TOPOLOGY_MEMORY)
		document_used = XSF_TOPOLOGY_MEMORY;
	return p;
}

static void document_free(void *p)
{
	size_t n = p ? malloc_usable_size(p) : 0;

	document_used -= XSF_MIN(n, document_used);
	free(p);
}

/* ---- what is wrong ---- */

__attribute__((format(printf, 3, 4))) static int refuse(const struct reader *r, int err,
							const char *format, ...)
{
	va_list args;

	va_start(args, format);
	xsf_line(r->why, r->why_len, format, args);
	va_end(args);
	return err;
}

static int name_ok(const struct reader *r, const char *what, const char *of, const char *name)
{
	size_t len = strlen(name);

	if (!len)
		return refuse(r, -EINVAL, "%s of '%.64s' is empty", what, of);
	if (len > XSF_TOPOLOGY_NAME)
		return refuse(r, -E2BIG, "%s '%.64s...' is longer than %d bytes", what, name,
			      XSF_TOPOLOGY_NAME);
	if (!xsf_text_shows(name))
		return refuse(r, -EINVAL, "%s '%.64s' holds a character that cannot be shown", what,
			      name);
	return 0;
}

/* ---- links ---- */

static const char *const end_keys[4] = { "node1", "port1", "node2", "port2" };

static int read_link(struct reader *r, const char *name, json_t *value)
{
	struct xsf_topology_link *link = &r->t->links[r->t->nr_links];
	const char *end[4];
	int err = name_ok(r, "the name of a link", "links", name);

	if (err)
		return err;
	if (!json_is_object(value))
		return refuse(r, -EINVAL, "link '%.64s' is no object", name);
	for (int i = 0; i < 4; i++) {
		json_t *v = json_object_get(value, end_keys[i]);

		if (!json_is_string(v))
			return refuse(r, -EINVAL, "link '%.64s': %s is %s", name, end_keys[i],
				      v ? "no string" : "missing");
		end[i] = json_string_value(v);
		err = name_ok(r, end_keys[i], name, end[i]);
		if (err)
			return err;
	}
	link->name = name;
	for (int i = 0; i < 4; i += 2) {
		r->nodes[r->nr_nodes++] = (struct named_node){ .name = end[i] };
		r->ports[r->nr_ports++] = (struct named_port){ .node = end[i],
							       .name = end[i + 1],
							       .link = r->t->nr_links,
							       .end = (uint32_t)i / 2 };
	}
	r->t->nr_links++;
	return 0;
}

/* ---- nodes ---- */

/* 1 to 2^32 - 1, as a string or a number. */
static int read_ifindex(const json_t *v, uint32_t *ifindex)
{
	const char *text = json_string_value(v);
	unsigned long long n = 0;
	char *end;

	if (json_is_integer(v)) {
		n = json_integer_value(v) < 0 ? 0 : (unsigned long long)json_integer_value(v);
	} else if (text && *text >= '0' && *text <= '9' && strlen(text) <= 10) {
		n = strtoull(text, &end, 10);
		if (*end)
			return -EINVAL;
	}
	*ifindex = (uint32_t)n;
	return n && n <= UINT32_MAX ? 0 : -EINVAL;
}

static int read_port(struct reader *r, const char *node, const char *name, json_t *value)
{
	struct named_port port = { .node = node, .name = name, .link = XSF_TOPOLOGY_NONE };
	json_t *v = json_object_get(value, "ifindex");
	int err = name_ok(r, "the name of a port", node, name);

	if (err)
		return err;
	if (!json_is_object(value))
		return refuse(r, -EINVAL, "port '%.64s' of node '%.64s' is no object", name, node);
	if (v && !json_is_null(v) && read_ifindex(v, &port.ifindex))
		return refuse(r, -EINVAL,
			      "port '%.64s' of node '%.64s': ifindex is no number from 1 to "
			      "4294967295",
			      name, node);
	r->ports[r->nr_ports++] = port;
	return 0;
}

static int read_node(struct reader *r, const char *name, json_t *value)
{
	struct named_node node = { .name = name };
	json_t *v, *ports;
	const char *key;
	int err = name_ok(r, "the name of a node", "nodes", name);

	if (err)
		return err;
	if (!json_is_object(value))
		return refuse(r, -EINVAL, "node '%.64s' is no object", name);
	v = json_object_get(value, "agent");
	if (v && !json_is_null(v)) {
		if (!json_is_string(v) ||
		    xsf_address_parse(json_string_value(v), strlen(json_string_value(v)),
				      node.agent))
			return refuse(r, -EINVAL, "node '%.64s': agent is no IP address", name);
		node.has_agent = 1;
	}
	r->nodes[r->nr_nodes++] = node;
	ports = json_object_get(value, "ports");
	if (!ports || json_is_null(ports))
		return 0;
	if (!json_is_object(ports))
		return refuse(r, -EINVAL, "node '%.64s': ports is no object", name);
	if (r->nr_ports + json_object_size(ports) > XSF_TOPOLOGY_PORTS + 2 * XSF_TOPOLOGY_LINKS)
		return refuse(r, -E2BIG, "more than %d ports", XSF_TOPOLOGY_PORTS);
	json_object_foreach(ports, key, v)
	{
		err = read_port(r, name, key, v);
		if (err)
			return err;
	}
	return 0;
}

/* ---- all names in order ---- */

static int by_node_name(const void *a, const void *b)
{
	return strcmp(((const struct named_node *)a)->name, ((const struct named_node *)b)->name);
}

static int by_port_name(const void *a, const void *b)
{
	const struct named_port *x = a, *y = b;
	int order = strcmp(x->node, y->node);

	if (!order)
		order = strcmp(x->name, y->name);
	/* Ends of links first, in order, so that a second one is seen. */
	return order ? order : (x->link > y->link) - (x->link < y->link);
}

static int by_link_name(const void *a, const void *b, void *links)
{
	const struct xsf_topology_link *l = links;

	return strcmp(l[*(const uint32_t *)a].name, l[*(const uint32_t *)b].name);
}

static int make_nodes(struct reader *r)
{
	struct xsf_topology *t = r->t;

	qsort(r->nodes, r->nr_nodes, sizeof(*r->nodes), by_node_name);
	for (size_t i = 0; i < r->nr_nodes; i++) {
		const struct named_node *n = &r->nodes[i];
		struct xsf_topology_node *node;

		if (!t->nr_nodes || strcmp(t->nodes[t->nr_nodes - 1].name, n->name) != 0) {
			if (t->nr_nodes == XSF_TOPOLOGY_NODES)
				return refuse(r, -E2BIG, "more than %d nodes", XSF_TOPOLOGY_NODES);
			t->nodes[t->nr_nodes++].name = n->name;
		}
		node = &t->nodes[t->nr_nodes - 1];
		if (n->has_agent) {
			node->has_agent = 1;
			memcpy(node->agent, n->agent, sizeof(node->agent));
		}
	}
	return 0;
}

static int make_ports(struct reader *r)
{
	struct xsf_topology *t = r->t;
	uint32_t node = 0;

	qsort(r->ports, r->nr_ports, sizeof(*r->ports), by_port_name);
	for (size_t i = 0; i < r->nr_ports; i++) {
		const struct named_port *p = &r->ports[i];
		struct xsf_topology_port *last = t->nr_ports ? &t->ports[t->nr_ports - 1] : NULL;

		/* Both are in order, and every port's node is there. */
		while (strcmp(t->nodes[node].name, p->node) != 0)
			node++;
		if (last && last->node == node && !strcmp(last->name, p->name)) {
			if (p->link != XSF_TOPOLOGY_NONE && p->link == last->link)
				return refuse(r, -EINVAL, "link '%.64s' has both ends at one port",
					      t->links[p->link].name);
			if (p->link != XSF_TOPOLOGY_NONE)
				return refuse(r, -EINVAL,
					      "port '%.64s' of node '%.64s' is in two links, "
					      "'%.64s' and '%.64s'",
					      p->name, p->node, t->links[last->link].name,
					      t->links[p->link].name);
			last->ifindex = p->ifindex;
			continue;
		}
		if (t->nr_ports == XSF_TOPOLOGY_PORTS)
			return refuse(r, -E2BIG, "more than %d ports", XSF_TOPOLOGY_PORTS);
		t->ports[t->nr_ports] = (struct xsf_topology_port){
			.name = p->name, .node = node, .link = p->link, .ifindex = p->ifindex
		};
		if (!t->nodes[node].nr_ports++)
			t->nodes[node].first_port = t->nr_ports;
		if (p->link != XSF_TOPOLOGY_NONE)
			t->links[p->link].port[p->end] = t->nr_ports;
		t->nr_ports++;
	}
	return 0;
}

/* Links by name. */
static int order_links(struct reader *r)
{
	struct xsf_topology *t = r->t;
	uint32_t *order, *place;
	struct xsf_topology_link *sorted;

	order = calloc(t->nr_links + 1, sizeof(*order));
	place = calloc(t->nr_links + 1, sizeof(*place));
	sorted = calloc(t->nr_links + 1, sizeof(*sorted));
	if (!order || !place || !sorted) {
		free(order);
		free(place);
		free(sorted);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->nr_links; i++)
		order[i] = i;
	qsort_r(order, t->nr_links, sizeof(*order), by_link_name, t->links);
	for (uint32_t i = 0; i < t->nr_links; i++)
		place[order[i]] = i;
	for (uint32_t p = 0; p < t->nr_ports; p++) {
		if (t->ports[p].link != XSF_TOPOLOGY_NONE)
			t->ports[p].link = place[t->ports[p].link];
	}
	for (uint32_t i = 0; i < t->nr_links; i++)
		sorted[i] = t->links[order[i]];
	free(t->links);
	t->links = sorted;
	free(order);
	free(place);
	return 0;
}

/* ---- the other indexes ---- */

static int by_address(const void *a, const void *b, void *nodes)
{
	const struct xsf_topology_node *n = nodes;

	return memcmp(n[*(const uint32_t *)a].agent, n[*(const uint32_t *)b].agent, 16);
}

static int by_ifindex(const void *a, const void *b, void *ports)
{
	const struct xsf_topology_port *p = ports;
	uint32_t x = p[*(const uint32_t *)a].ifindex, y = p[*(const uint32_t *)b].ifindex;

	return (x > y) - (x < y);
}

static int make_indexes(struct reader *r)
{
	struct xsf_topology *t = r->t;

	t->by_agent = calloc(t->nr_nodes + 1, sizeof(*t->by_agent));
	t->by_ifindex = calloc(t->nr_ports + 1, sizeof(*t->by_ifindex));
	if (!t->by_agent || !t->by_ifindex)
		return -ENOMEM;
	for (uint32_t n = 0; n < t->nr_nodes; n++) {
		if (t->nodes[n].has_agent)
			t->by_agent[t->nr_by_agent++] = n;
	}
	qsort_r(t->by_agent, t->nr_by_agent, sizeof(*t->by_agent), by_address, t->nodes);
	for (uint32_t i = 1; i < t->nr_by_agent; i++) {
		const struct xsf_topology_node *a = &t->nodes[t->by_agent[i - 1]];
		const struct xsf_topology_node *b = &t->nodes[t->by_agent[i]];

		if (!memcmp(a->agent, b->agent, 16))
			return refuse(r, -EINVAL, "nodes '%.64s' and '%.64s' have the same agent",
				      a->name, b->name);
	}
	for (uint32_t p = 0; p < t->nr_ports; p++)
		t->by_ifindex[p] = p;
	for (uint32_t n = 0; n < t->nr_nodes; n++) {
		const struct xsf_topology_node *node = &t->nodes[n];
		uint32_t *of_node = t->by_ifindex + node->first_port;

		qsort_r(of_node, node->nr_ports, sizeof(*of_node), by_ifindex, t->ports);
		for (uint32_t i = 1; i < node->nr_ports; i++) {
			const struct xsf_topology_port *a = &t->ports[of_node[i - 1]];
			const struct xsf_topology_port *b = &t->ports[of_node[i]];

			if (a->ifindex && a->ifindex == b->ifindex)
				return refuse(r, -EINVAL,
					      "ports '%.64s' and '%.64s' of node '%.64s' have the "
					      "same ifindex",
					      a->name, b->name, node->name);
		}
	}
	return 0;
}

/* ---- from the document to memory of our own ---- */

static const char *keep(char **at, const char *name)
{
	size_t len = strlen(name) + 1;
	char *kept = memcpy(*at, name, len);

	*at += len;
	return kept;
}

static int keep_names(struct xsf_topology *t, const char *text, size_t text_len)
{
	size_t bytes = text_len + 1;
	char *at;

	for (uint32_t i = 0; i < t->nr_links; i++)
		bytes += strlen(t->links[i].name) + 1;
	for (uint32_t i = 0; i < t->nr_nodes; i++)
		bytes += strlen(t->nodes[i].name) + 1;
	for (uint32_t i = 0; i < t->nr_ports; i++)
		bytes += strlen(t->ports[i].name) + 1;
	t->names = at = malloc(bytes);
	if (!at)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr_links; i++)
		t->links[i].name = keep(&at, t->links[i].name);
	for (uint32_t i = 0; i < t->nr_nodes; i++)
		t->nodes[i].name = keep(&at, t->nodes[i].name);
	for (uint32_t i = 0; i < t->nr_ports; i++)
		t->ports[i].name = keep(&at, t->ports[i].name);
	memcpy(at, text, text_len);
	at[text_len] = 0;
	t->text = at;
	t->text_len = text_len;
	return 0;
}

static int read_document(struct reader *r, json_t *root, const char *text, size_t len)
{
	json_t *links = json_object_get(root, "links"), *nodes = json_object_get(root, "nodes"), *v;
	struct xsf_topology *t = r->t;
	const char *key;
	size_t nr_links, nr_nodes;
	int err = 0;

	if (!json_is_object(root))
		return refuse(r, -EINVAL, "the document is no object");
	links = json_is_null(links) ? NULL : links;
	nodes = json_is_null(nodes) ? NULL : nodes;
	if ((links && !json_is_object(links)) || (nodes && !json_is_object(nodes)))
		return refuse(r, -EINVAL, "%s is no object",
			      links && !json_is_object(links) ? "links" : "nodes");
	if (!links && !nodes && json_object_size(root))
		return refuse(r, -EINVAL, "it has neither links nor nodes");
	nr_links = json_object_size(links);
	nr_nodes = json_object_size(nodes);
	if (nr_links > XSF_TOPOLOGY_LINKS)
		return refuse(r, -E2BIG, "%zu links, more than %d", nr_links, XSF_TOPOLOGY_LINKS);
	if (nr_nodes > XSF_TOPOLOGY_NODES)
		return refuse(r, -E2BIG, "%zu nodes, more than %d", nr_nodes, XSF_TOPOLOGY_NODES);

	t->links = calloc(nr_links + 1, sizeof(*t->links));
	r->nodes = calloc(nr_nodes + 2 * nr_links + 1, sizeof(*r->nodes));
	r->ports = calloc(XSF_TOPOLOGY_PORTS + 2 * XSF_TOPOLOGY_LINKS, sizeof(*r->ports));
	t->nodes =
		calloc(XSF_MIN(nr_nodes + 2 * nr_links, XSF_TOPOLOGY_NODES) + 1, sizeof(*t->nodes));
	if (!t->links || !r->nodes || !r->ports || !t->nodes)
		return -ENOMEM;
	json_object_foreach(links, key, v)
	{
		err = read_link(r, key, v);
		if (err)
			return err;
	}
	json_object_foreach(nodes, key, v)
	{
		err = read_node(r, key, v);
		if (err)
			return err;
	}
	t->ports = calloc(XSF_MIN(r->nr_ports, XSF_TOPOLOGY_PORTS) + 1, sizeof(*t->ports));
	err = t->ports ? make_nodes(r) : -ENOMEM;
	if (!err)
		err = make_ports(r);
	if (!err)
		err = order_links(r);
	if (!err)
		err = make_indexes(r);
	return err ? err : keep_names(t, text, len);
}

int xsf_topology_parse(const char *text, size_t len, struct xsf_topology **out, char *why,
		       size_t why_len)
{
	struct reader r = { .why = why, .why_len = why_len };
	json_malloc_t old_malloc;
	json_free_t old_free;
	json_error_t error;
	json_t *root;
	int err;

	*out = NULL;
	if (len > XSF_TOPOLOGY_BYTES)
		return refuse(&r, -E2BIG, "%zu bytes, more than %d", len, XSF_TOPOLOGY_BYTES);
	r.t = calloc(1, sizeof(*r.t));
	if (!r.t)
		return refuse(&r, -ENOMEM, "%s", strerror(ENOMEM));
	r.t->refs = 1;
	json_get_alloc_funcs(&old_malloc, &old_free);
	json_set_alloc_funcs(document_alloc, document_free);
	document_used = 0;
	document_full = 0;
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (root) {
		err = read_document(&r, root, text, len);
		if (err == -ENOMEM)
			refuse(&r, err, "%s", strerror(ENOMEM));
	} else if (document_full) {
		err = refuse(&r, -E2BIG, "it takes more than %d bytes of memory to read",
			     XSF_TOPOLOGY_MEMORY);
	} else {
		err = refuse(&r, -EINVAL, "line %d, column %d: %.160s", error.line, error.column,
			     error.text);
	}
	json_decref(root);
	json_set_alloc_funcs(old_malloc, old_free);
	free(r.nodes);
	free(r.ports);
	if (err)
		xsf_topology_put(r.t);
	else
		*out = r.t;
	return err;
}
