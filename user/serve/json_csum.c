// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* "checksum" of the JSON document. */
#include "serve/json_parts.h"

static void counts(struct xsf_json *j, const struct xsf_csum_counts *c)
{
	const struct xsf_csum_outcome *o;
	struct xsf_writer *w = &j->w;

	for (uint32_t i = 0; (o = xsf_csum_outcome_at(i)); i++)
		xsf_json_u64(w, o->name, xsf_csum_value(c, o));
	xsf_json_u64(w, "checked", xsf_csum_checked(c));
	xsf_json_u64(w, "wrong", xsf_csum_wrong(c));
	xsf_json_u64(w, "repaired", xsf_csum_repaired(c));
	xsf_json_u64(w, "left", xsf_csum_left(c));
	if (!c->first_seen_ns)
		return;
	xsf_json_u64(w, "first_seen_ns", c->first_seen_ns);
	xsf_json_u64(w, "last_seen_ns", c->last_seen_ns);
}

void xsf_json_csum_totals(struct xsf_json *j, uint32_t i)
{
	const struct xsf_csum_totals *t = &j->csum->totals;
	const struct xsf_csum_outcome *o;
	struct xsf_writer *w = &j->w;

	(void)i;
	xsf_json_u64(w, "packets", t->packets);
	xsf_json_u64(w, "datagrams", t->datagrams);
	xsf_json_u64(w, "sources_full", t->sources_full);
	xsf_json_u64(w, "sources_reclaimed", t->sources_reclaimed);
	xsf_json_open_at(w, "packets_by_outcome", '{');
	for (uint32_t n = 0; (o = xsf_csum_packet_outcome_at(n)); n++)
		xsf_json_u64(w, o->name, *(const uint64_t *)((const char *)t + o->offset));
	xsf_json_shut(w, '}');
}

void xsf_json_csum_other(struct xsf_json *j, uint32_t i)
{
	(void)i;
	counts(j, &j->csum->totals.other_sources);
}

static void policy(struct xsf_json *j, const struct xsf_csum_attached *a)
{
	struct xsf_writer *w = &j->w;
	struct xsf_csum_policy p = a->policy;
	char text[XSF_CSUM_PREFIX_TEXT];

#define WATCH_DEFAULT(number, line) p.watch[line] = (struct xsf_csum_watch){ number, line, 1 };
	if (!p.set) {
		XSF_CSUM_DEFAULTS(WATCH_DEFAULT)
	}
	xsf_json_open_at(w, "ports", '[');
	for (int n = 0; n < XSF_MAX_PORTS && p.watch[n].port; n++) {
		xsf_json_open_at(w, NULL, '{');
		xsf_json_u64(w, "port", p.watch[n].port);
		xsf_json_bool(w, "repair", p.watch[n].repair != 0);
		xsf_json_shut(w, '}');
	}
	xsf_json_shut(w, ']');
	xsf_json_u64(w, "nr_prefixes", p.nr_prefixes);
	xsf_json_open_at(w, "repair_from", '[');
	for (uint32_t n = 0; n < a->nr_from; n++) {
		xsf_json_next(w);
		xsf_text_char(w->t, '"');
		xsf_text_str(w->t, xsf_csum_prefix_text(&a->from[n], text));
		xsf_text_char(w->t, '"');
		w->comma = 1;
	}
	xsf_json_shut(w, ']');
}

void xsf_json_csum_attached(struct xsf_json *j, uint32_t i)
{
	const struct xsf_csum_attached *a = &j->csum->attached[i];
	struct xsf_csum_advice advice;
	struct xsf_writer *w = &j->w;

	xsf_json_open_at(w, NULL, '{');
	xsf_json_name(w, "ifname", (const uint8_t *)a->ifname,
		      strnlen(a->ifname, sizeof(a->ifname)));
	xsf_json_u64(w, "ifindex", a->ifindex);
	xsf_json_str(w, "how", a->how);
	xsf_json_str(w, "mode", xsf_csum_mode(a));
	xsf_json_u64(w, "prog_id", a->prog_id);
	xsf_json_str(w, "qdisc", a->qdisc);
	xsf_json_u64(w, "pref", a->pref);
	xsf_json_u64(w, "handle", a->handle);
	xsf_json_u64(w, "filters_before", a->before);
	xsf_json_name(w, "before", (const uint8_t *)a->ahead, strnlen(a->ahead, XSF_NAME_LEN));
	if (a->policy_known)
		policy(j, a);
	xsf_json_u64(w, "run_time_ns", a->run_time_ns);
	xsf_json_u64(w, "run_count", a->run_count);
	if (xsf_csum_advice(j->csum, a, &advice)) {
		xsf_json_key(w, "advice");
		xsf_text_char(w->t, '"');
		/* Of our own words, numbers, and names without control characters, which may hold a quote. */
		for (const char *c = advice.command; *c; c++) {
			if (*c == '"' || *c == '\\')
				xsf_text_char(w->t, '\\');
			xsf_text_char(w->t, *c);
		}
		xsf_text_char(w->t, '"');
		w->comma = 1;
	}
	if (advice.warning[0])
		xsf_json_str(w, "advice_warning", advice.warning);
	xsf_json_shut(w, '}');
}

void xsf_json_csum_port(struct xsf_json *j, uint32_t row)
{
	const struct xsf_csum_port *p = &j->csum->ports[row];

	if (!p->port)
		return;
	xsf_json_open_at(&j->w, NULL, '{');
	xsf_json_u64(&j->w, "port", p->port);
	counts(j, &p->counts);
	xsf_json_shut(&j->w, '}');
}

void xsf_json_csum_source(struct xsf_json *j, uint32_t i)
{
	const struct xsf_csum_address *s = &j->csum->sources[i];

	xsf_json_open_at(&j->w, NULL, '{');
	xsf_json_address(&j->w, "source", s->addr);
	xsf_json_str(&j->w, "verdict", xsf_csum_verdict_name(xsf_csum_verdict(&s->counts)));
	counts(j, &s->counts);
	xsf_json_shut(&j->w, '}');
}
