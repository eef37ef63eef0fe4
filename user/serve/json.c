// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/json.h"

#include <stdlib.h>
#include "model/binding.h"
#include "serve/json_parts.h"

enum over {
	ONE,
	OPCODES,
	REASONS,
	TABLES,
	AGENTS,
	SOURCES,
	DROP_AGENTS,
	DROP_PLACES,
	ATTACHED,
	CSUM_ATTACHED,
	CSUM_PORTS,
	CSUM_SOURCES,
	FABRICS
};

/* One key of the outer object (or of totals) and what is inside: `item` once for each member. */
static const struct section {
	const char *key; /* NULL: no brackets */
	const char *brackets;
	enum over over;
	void (*item)(struct xsf_json *j, uint32_t i); /* NULL: only the bracket that comes first */
} sections[] = {
	{ NULL, "{", ONE, NULL },
	{ "totals", "{", ONE, NULL },
	{ NULL, NULL, ONE, xsf_json_totals },
	{ "roce_opcodes", "{}", OPCODES, xsf_json_opcode_v2 },
	{ "roce_v1_opcodes", "{}", OPCODES, xsf_json_opcode_v1 },
	{ "drop_reasons", "{}", REASONS, xsf_json_reason_notified },
	{ "sampled_discards", "{}", REASONS, xsf_json_reason_sampled },
	{ "ecn", "{}", ONE, xsf_json_ecn_roce },
	{ "ip_ecn", "{}", ONE, xsf_json_ecn_all },
	{ "trimmed", "{}", ONE, xsf_json_trimmed },
	{ "rdma_lengths", "{}", ONE, xsf_json_rdma_lengths },
	{ "aeth", "{}", ONE, xsf_json_aeth },
	{ "cnp", "{}", ONE, xsf_json_cnp },
	{ NULL, "}", ONE, NULL },
	{ "tables", "{}", TABLES, xsf_json_table },
	{ "agents", "[]", AGENTS, xsf_json_agent },
	{ "other_agents", "{}", ONE, xsf_json_agent_other },
	{ "interfaces", "[]", SOURCES, xsf_json_interface },
	{ "sources", "[]", SOURCES, xsf_json_source },
	{ "other_sources", "{}", ONE, xsf_json_source_other },
	{ "drop_agents", "[]", DROP_AGENTS, xsf_json_drop_agent },
	{ "drop_places", "[]", DROP_PLACES, xsf_json_drop_place },
	{ "drop_places_elsewhere", "{}", ONE, xsf_json_drop_elsewhere },
	{ "attached", "[]", ATTACHED, xsf_json_attached },
	{ "topology", "[]", FABRICS, xsf_json_topology },
#define FIRST_CSUM "checksum"
	{ FIRST_CSUM, "{", ONE, NULL },
	{ NULL, NULL, ONE, xsf_json_csum_totals },
	{ "attached", "[]", CSUM_ATTACHED, xsf_json_csum_attached },
	{ "ports", "[]", CSUM_PORTS, xsf_json_csum_port },
	{ "sources", "[]", CSUM_SOURCES, xsf_json_csum_source },
	{ "other_sources", "{}", ONE, xsf_json_csum_other },
	{ NULL, "}", ONE, NULL },
	{ NULL, "}", ONE, NULL },
};

#define NR_SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* Where the checksums' sections begin; they end before the last one. */
static uint32_t first_csum(void)
{
	uint32_t n = 0;

	while (!sections[n].key || strcmp(sections[n].key, FIRST_CSUM) != 0)
		n++;
	return n;
}

static uint32_t size_of(const struct xsf_json *j, enum over over)
{
	switch (over) {
	case OPCODES:
		return 256;
	case REASONS:
		return xsf_snapshot_nr_reasons(j->s);
	case TABLES:
		return XSF_TABLES;
	case AGENTS:
		return j->s->nr_agents;
	case SOURCES:
		return j->s->nr_sources;
	case DROP_AGENTS:
		return j->drops.agents.nr;
	case DROP_PLACES:
		return j->drops.places.nr;
	case ATTACHED:
		return XSF_MIN(j->s->nr_attached, XSF_MAX_ATTACHED);
	case CSUM_ATTACHED:
		return j->csum->nr_attached;
	case CSUM_PORTS:
		return XSF_CSUM_PORTS;
	case CSUM_SOURCES:
		return j->csum->nr_sources;
	case FABRICS:
		return j->s->bindings ? xsf_bindings_nr_fabrics(j->s->bindings) : 0;
	case ONE:
		break;
	}
	return 1;
}

static int next_piece(void *arg, struct xsf_text *t)
{
	struct xsf_json *j = arg;
	const struct section *s;

	j->w.t = t;
	if (j->alone && j->section == 1)
		j->section = first_csum();
	/* Without those maps, in a replay for one, there is no such key. */
	if (j->section == first_csum() && !j->csum->present)
		j->section = NR_SECTIONS - 1;
	if (j->section == NR_SECTIONS) {
		xsf_text_char(t, '\n');
		return 0;
	}
	s = &sections[j->section];
	if (!j->opened && s->brackets) {
		if (s->brackets[0] == '}')
			xsf_json_shut(&j->w, '}');
		else
			xsf_json_open_at(&j->w, s->key, s->brackets[0]);
	}
	j->opened = 1;
	if (s->item && j->item < size_of(j, s->over)) {
		s->item(j, j->item++);
		return 1;
	}
	if (s->brackets && s->brackets[1])
		xsf_json_shut(&j->w, s->brackets[1]);
	j->section++;
	j->item = 0;
	j->opened = 0;
	return 1;
}

struct xsf_json *xsf_json_open(const struct xsf_snapshot *s)
{
	struct xsf_json *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->s = s;
	j->csum = &s->csum;
	if (xsf_drop_table_read(s, UINT32_MAX, &j->drops)) {
		xsf_json_close(j);
		return NULL;
	}
	return j;
}

struct xsf_json *xsf_json_open_csum(const struct xsf_csum *c)
{
	struct xsf_json *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->csum = c;
	j->alone = 1;
	return j;
}

ssize_t xsf_json_read(struct xsf_json *j, char *buf, size_t max)
{
	return xsf_pull_read(&j->pull, next_piece, j, buf, max);
}

void xsf_json_close(struct xsf_json *j)
{
	if (!j)
		return;
	xsf_drop_table_free(&j->drops);
	free(j);
}
