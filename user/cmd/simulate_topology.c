// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>

#include "cmd/simulate.h"

/* Uplink n of a leaf leads to spine n, at its port for that leaf (model/fabric.h); hosts are no nodes. */
static void write_links(FILE *out, const struct xsf_fabric *f, const struct xsf_fabric_config *c)
{
	for (uint32_t leaf = 0; leaf < c->leaves; leaf++) {
		for (uint32_t spine = 0; spine < c->spines; spine++) {
			struct xsf_fabric_interface up, down;
			struct xsf_fabric_agent a, b;

			xsf_fabric_agent(f, leaf, &a);
			xsf_fabric_agent(f, c->leaves + spine, &b);
			xsf_fabric_interface(f, leaf, c->ports + spine, &up);
			xsf_fabric_interface(f, c->leaves + spine, leaf, &down);
			fprintf(out,
				"%s\n  \"link%u\": {\"node1\": \"%s\", \"port1\": \"%s\", "
				"\"node2\": \"%s\", "
				"\"port2\": \"%s\"}",
				leaf || spine ? "," : "", leaf * c->spines + spine + 1, a.name,
				up.name, b.name, down.name);
		}
	}
}

static void write_nodes(FILE *out, const struct xsf_fabric *f)
{
	for (uint32_t n = 0; n < xsf_fabric_agents(f); n++) {
		char address[XSF_ADDRESS_TEXT];
		struct xsf_fabric_agent a;

		xsf_fabric_agent(f, n, &a);
		fprintf(out, "%s\n  \"%s\": {\"agent\": \"%s\", \"ports\": {", n ? "," : "", a.name,
			xsf_address_text(a.addr, address));
		for (uint32_t i = 0; i < a.nr_interfaces; i++) {
			struct xsf_fabric_interface port;

			xsf_fabric_interface(f, n, i, &port);
			fprintf(out, "%s\"%s\": {\"ifindex\": \"%u\"}", i ? ", " : "", port.name,
				port.ifindex);
		}
		fprintf(out, "}}");
	}
}

void simulate_write_topology(FILE *out, const struct xsf_fabric *f,
			     const struct xsf_fabric_config *c, int nodes)
{
	fprintf(out, "{\"links\": {");
	write_links(out, f, c);
	fprintf(out, "\n}");
	if (nodes) {
		fprintf(out, ",\n\"nodes\": {");
		write_nodes(out, f);
		fprintf(out, "\n}");
	}
	fprintf(out, "}\n");
}
