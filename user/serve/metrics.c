// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/metrics.h"

#include <stdlib.h>
#include <xsf/net.h>
#include "serve/families.h"

static const struct xsf_family *const lists[] = {
	xsf_families_self,  xsf_families_totals,   xsf_families_agents,
	xsf_families_drops, xsf_families_roce,	   xsf_families_sources,
	xsf_families_csum,  xsf_families_topology, xsf_families_ledger,
};

void xsf_family_head(struct xsf_text *t, const char *name, size_t name_len, const char *help,
		     enum xsf_family_type type)
{
	static const char *const types[] = {
		[XSF_COUNTER] = " counter\n",
		[XSF_GAUGE] = " gauge\n",
		[XSF_HISTOGRAM] = " histogram\n",
	};

	XSF_TEXT_LIT(t, "# HELP ");
	xsf_text_add(t, name, name_len);
	xsf_text_char(t, ' ');
	xsf_text_str(t, help);
	XSF_TEXT_LIT(t, "\n# TYPE ");
	xsf_text_add(t, name, name_len);
	xsf_text_str(t, types[type]);
}

void xsf_label_agent(struct xsf_text *t, const struct xsf_agent_key *key)
{
	XSF_TEXT_LIT(t, "agent=\"");
	xsf_text_address(t, key->addr);
	XSF_TEXT_LIT(t, "\",sub_agent=\"");
	xsf_text_u64(t, key->sub_agent);
	xsf_text_char(t, '"');
}

uint64_t xsf_unix_ms(const struct xsf_metrics *m, uint64_t ns)
{
	uint64_t ago = m->s->now_ns > ns ? m->s->now_ns - ns : 0;

	return m->o.unix_now_ns > ago ? (m->o.unix_now_ns - ago) / 1000000 : 0;
}

/* How many members the family's domain has. */
static uint32_t domain_size(const struct xsf_metrics *m, const struct xsf_family *f)
{
	uint32_t rows = m->s->nr_groups * XSF_DIRECTIONS, n = 0;

	switch (f->domain) {
	case XSF_OVER_LIST:
		while (xsf_total_at(f->arg, n))
			n++;
		return n;
	case XSF_OVER_TABLES:
		return XSF_TABLES;
	case XSF_OVER_AGENTS:
		return m->agents.nr + 1;
	case XSF_OVER_INTERFACES:
		return m->interfaces.nr;
	case XSF_OVER_SOURCES:
		return m->sources.nr + 1;
	case XSF_OVER_ROWS:
		return rows;
	case XSF_OVER_OPS:
		return rows * XSF_CARRIERS * XSF_NR_OPS;
	case XSF_OVER_REASONS:
		return xsf_snapshot_nr_reasons(m->s);
	case XSF_OVER_DROP_AGENTS:
		return m->drops.agents.nr;
	case XSF_OVER_DROP_PLACES:
		return m->drops.places.nr;
	case XSF_OVER_PERIODS:
		return XSF_MIN(m->s->nr_periods, XSF_MAX_PERIODS);
	case XSF_OVER_ATTACHED:
		return XSF_MIN(m->s->nr_attached, XSF_MAX_ATTACHED);
	case XSF_OVER_CSUM:
		return m->s->csum.present;
	case XSF_OVER_CSUM_ATTACHED:
		return m->s->csum.nr_attached;
	case XSF_OVER_CSUM_PORTS:
		return m->s->csum.present ? XSF_CSUM_PORTS : 0;
	case XSF_OVER_CSUM_SOURCES:
		return m->s->csum.present ? xsf_csum_nr_shown(&m->s->csum) + 1 : 0;
	case XSF_OVER_FABRICS:
		return m->s->bindings ? xsf_bindings_nr_fabrics(m->s->bindings) : 0;
	case XSF_OVER_LEDGER:
	case XSF_OVER_LEDGER_PORTS:
	case XSF_OVER_LEDGER_DROPS:
	case XSF_OVER_LEDGER_DEVICES:
		return xsf_ledger_domain_size(m->o.ledger, f->domain);
	case XSF_OVER_EXTRA:
		return m->o.nr_extra;
	}
	return 1;
}

/* Appends the lines of one member, after the family's head when they are the first; then steps on. */
static int next_piece(void *arg, struct xsf_text *t)
{
	struct xsf_metrics *m = arg;
	const struct xsf_family *f;
	size_t before, head;

	/* Without a snapshot only what the first list tells. */
	if (m->list == (m->up ? sizeof(lists) / sizeof(lists[0]) : 1))
		return 0;
	f = &lists[m->list][m->family];
	if (!f->item) {
		m->list++;
		m->family = 0;
		return 1;
	}
	if (m->item == domain_size(m, f)) {
		m->family++;
		m->item = 0;
		m->headed = 0;
		return 1;
	}
	before = t->len;
	if (f->name && !m->headed)
		xsf_family_head(t, f->name, f->name_len, f->help, f->type);
	head = t->len;
	f->item(m, f, m->item++, t);
	if (t->len == head)
		t->len = before;
	else
		m->headed = 1;
	return 1;
}

static void show(struct xsf_shown_list *list, uint32_t bound, uint32_t slot, uint32_t generation)
{
	if (list->nr == bound) {
		list->hidden++;
		return;
	}
	list->at[list->nr].slot = slot;
	list->at[list->nr].generation = generation;
	list->nr++;
}

/* Fixes which agents and data sources the document is about: the same in each family, in the order in
 * which they were first seen, so the bound hides latecomers and never those already shown. */
static int choose(struct xsf_metrics *m)
{
	uint32_t bound = XSF_MIN(m->o.max_interfaces, m->s->nr_sources);
	const struct xsf_agent *agent;

	m->agents.at = calloc(m->s->nr_agents + 1, sizeof(struct xsf_shown));
	m->interfaces.at = calloc(bound + 1, sizeof(struct xsf_shown));
	m->sources.at = calloc(bound + 1, sizeof(struct xsf_shown));
	if (!m->agents.at || !m->interfaces.at || !m->sources.at)
		return -1;
	for (uint32_t slot = 1; slot < m->s->nr_agents; slot++) {
		if (xsf_snapshot_agent_shown(m->s, slot))
			show(&m->agents, m->s->nr_agents, slot, m->s->agents[slot].generation);
	}
	for (uint32_t slot = 1; slot < m->s->nr_sources; slot++) {
		const struct xsf_source *source = &m->s->sources[slot];

		if (!xsf_snapshot_source_shown(m->s, slot, &agent))
			continue;
		if (!xsf_source_is_interface(source))
			show(&m->sources, bound, slot, source->generation);
		else if (xsf_snapshot_interface_shown(m->s, slot, &agent))
			show(&m->interfaces, bound, slot, source->generation);
	}
	return 0;
}

static int count_topologies(struct xsf_metrics *m)
{
	uint32_t nr = m->s->bindings ? xsf_bindings_nr_fabrics(m->s->bindings) : 0;

	m->fabrics = calloc(nr + 1, sizeof(*m->fabrics));
	if (!m->fabrics)
		return -1;
	for (uint32_t f = 0; f < nr; f++)
		xsf_bindings_status(m->s->bindings, m->s, f, &m->fabrics[f]);
	return 0;
}

struct xsf_metrics *xsf_metrics_open(const struct xsf_snapshot *s,
				     const struct xsf_metrics_options *options)
{
	static const struct xsf_snapshot nothing;
	struct xsf_metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->up = s != NULL;
	m->s = s ? s : &nothing;
	if (options)
		m->o = *options;
	if (!m->o.max_interfaces)
		m->o.max_interfaces = XSF_METRICS_INTERFACES;
	if (!m->o.max_places)
		m->o.max_places = XSF_METRICS_PLACES;
	if (!m->o.trimmed_dscps)
		m->o.trimmed_dscps = 1ull << NET_DSCP_TRIMMED;
	if (choose(m) || count_topologies(m) ||
	    xsf_drop_table_read(m->s, m->o.max_places, &m->drops)) {
		xsf_metrics_close(m);
		return NULL;
	}
	return m;
}

ssize_t xsf_metrics_read(struct xsf_metrics *m, char *buf, size_t max)
{
	return xsf_pull_read(&m->pull, next_piece, m, buf, max);
}

void xsf_metrics_close(struct xsf_metrics *m)
{
	if (!m)
		return;
	free(m->agents.at);
	free(m->interfaces.at);
	free(m->sources.at);
	free(m->fabrics);
	xsf_drop_table_free(&m->drops);
	free(m);
}
