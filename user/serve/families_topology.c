// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Families of what has become of the fabrics' topologies. */
#include "serve/families.h"

static void line_begin(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t fabric,
		       struct xsf_text *t)
{
	xsf_line_begin(t, f);
	xsf_label(t, "fabric=", xsf_bindings_name(m->s->bindings, fabric));
}

/* arg: how many states; offset: of their numbers in struct xsf_topology_status. */
static void by_status(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		      struct xsf_text *t)
{
	static const char *const links[] = { "unmonitored", "up", "down" };
	static const char *const nodes[] = { "unmonitored", "noflows", "flows" };
	int of_links = f->offset == offsetof(struct xsf_topology_status, links);

	if (!xsf_bindings_topology(m->s->bindings, i))
		return;
	for (uint32_t state = 0; state < f->arg; state++) {
		line_begin(m, f, i, t);
		xsf_label(t, ",status=", of_links ? links[state] : nodes[state]);
		xsf_line_end(t, xsf_field32(&m->fabrics[i],
					    f->offset + state * (uint32_t)sizeof(uint32_t)));
	}
}

static void ports_unknown(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
			  struct xsf_text *t)
{
	if (!xsf_bindings_topology(m->s->bindings, i))
		return;
	line_begin(m, f, i, t);
	xsf_line_end(t, m->fabrics[i].ports_unknown);
}

static void by_role(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		    struct xsf_text *t)
{
	line_begin(m, f, i, t);
	xsf_label(t, ",role=", xsf_role_names[XSF_ROLE_EDGE]);
	xsf_line_end(t, m->fabrics[i].edge);
	line_begin(m, f, i, t);
	xsf_label(t, ",role=", xsf_role_names[XSF_ROLE_CORE]);
	xsf_line_end(t, m->fabrics[i].core);
}

const struct xsf_family xsf_families_topology[] = {
	{ XSF_FAMILY_GAUGE("topology_links"), .domain = XSF_OVER_FABRICS, .item = by_status,
	  .offset = offsetof(struct xsf_topology_status, links), .arg = XSF_LINK_STATES,
	  .help = "Links of the fabric's topology." },
	{ XSF_FAMILY_GAUGE("topology_nodes"), .domain = XSF_OVER_FABRICS, .item = by_status,
	  .offset = offsetof(struct xsf_topology_status, nodes), .arg = XSF_NODE_STATES,
	  .help = "Nodes of the fabric's topology." },
	{ XSF_FAMILY_GAUGE("topology_ports_unknown"), .domain = XSF_OVER_FABRICS,
	  .item = ports_unknown, .help = "Ports of the topology that no interface was found for." },
	{ XSF_FAMILY_GAUGE("topology_interfaces"), .domain = XSF_OVER_FABRICS, .item = by_role,
	  .help = "Interfaces of the fabric by role." },
	{ .item = NULL },
};
