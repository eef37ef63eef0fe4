// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Families of the tc program: UDP checksums over IPv6. What never happened has no series. */
#include "serve/families.h"

static void attached(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		     struct xsf_text *t)
{
	const struct xsf_csum_attached *a = &m->s->csum.attached[i];

	xsf_line_begin(t, f);
	XSF_TEXT_LIT(t, "ifname=\"");
	xsf_text_quoted(t, a->ifname);
	xsf_label_u64(t, "\",ifindex=", a->ifindex);
	xsf_label(t, ",mode=", xsf_csum_mode(a));
	xsf_label(t, ",how=", a->how);
	xsf_label_u64(t, ",pref=", a->pref);
	xsf_label_u64(t, ",filters_before=", a->before);
	xsf_label_u64(t, ",prog_id=", a->prog_id);
	xsf_line_end(t, 1);
}

static void packets(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		    struct xsf_text *t)
{
	const struct xsf_csum_totals *totals = &m->s->csum.totals;
	const struct xsf_csum_outcome *o;

	(void)i;
	for (uint32_t n = 0; (o = xsf_csum_packet_outcome_at(n)); n++) {
		xsf_line_begin(t, f);
		xsf_label(t, "outcome=", o->name);
		xsf_line_end(t, xsf_field64(totals, o->offset));
	}
	/* What is none of them is a datagram to a watched port. */
	xsf_line_begin(t, f);
	XSF_TEXT_LIT(t, "outcome=\"datagram\"");
	xsf_line_end(t, totals->datagrams);
}

static void port(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t row,
		 struct xsf_text *t)
{
	const struct xsf_csum_port *p = &m->s->csum.ports[row];
	const struct xsf_csum_outcome *o;

	for (uint32_t n = 0; p->port && (o = xsf_csum_outcome_at(n)); n++) {
		uint64_t value = xsf_csum_value(&p->counts, o);

		if (!value)
			continue;
		xsf_line_begin(t, f);
		xsf_label_u64(t, "port=", p->port);
		xsf_label(t, ",outcome=", o->name);
		xsf_line_end(t, value);
	}
}

/* The last member counts for the sources that are not shown and those that found no place. */
static void source(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		   struct xsf_text *t)
{
	const struct xsf_csum *c = &m->s->csum;
	const struct xsf_csum_outcome *o;
	int other = i == xsf_csum_nr_shown(c);

	for (uint32_t n = 0; (o = xsf_csum_outcome_at(n)); n++) {
		uint64_t value =
			xsf_csum_value(other ? &c->totals.other_sources : &c->sources[i].counts, o);

		for (uint32_t h = i; other && h < c->nr_sources; h++)
			value += xsf_csum_value(&c->sources[h].counts, o);
		if (!value)
			continue;
		xsf_line_begin(t, f);
		XSF_TEXT_LIT(t, "source=\"");
		if (other)
			XSF_TEXT_LIT(t, "other");
		else
			xsf_text_address(t, c->sources[i].addr);
		xsf_label(t, "\",outcome=", o->name);
		xsf_line_end(t, value);
	}
}

static void last_seen(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		      struct xsf_text *t)
{
	const struct xsf_csum *c = &m->s->csum;

	if (i == xsf_csum_nr_shown(c))
		return;
	xsf_line_begin(t, f);
	XSF_TEXT_LIT(t, "source=\"");
	xsf_text_address(t, c->sources[i].addr);
	xsf_text_char(t, '"');
	xsf_line_end_milli(t, xsf_unix_ms(m, f->arg ? c->sources[i].counts.last_seen_ns :
						      c->sources[i].counts.first_seen_ns));
}

enum { CSUM_SOURCES, CSUM_HIDDEN, CSUM_FULL, CSUM_RECLAIMED };

static void one(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		struct xsf_text *t)
{
	const struct xsf_csum *c = &m->s->csum;

	(void)i;
	xsf_line_plain(t, f,
		       f->arg == CSUM_SOURCES ? c->nr_sources :
		       f->arg == CSUM_HIDDEN  ? c->nr_sources - xsf_csum_nr_shown(c) :
		       f->arg == CSUM_FULL    ? c->totals.sources_full :
						c->totals.sources_reclaimed);
}

const struct xsf_family xsf_families_csum[] = {
	{ XSF_FAMILY_GAUGE("checksum_program_info"), .domain = XSF_OVER_CSUM_ATTACHED,
	  .item = attached, .help = "Checksum programs that are attached at tc ingress now." },
	{ XSF_FAMILY_COUNTER("checksum_packets"), .domain = XSF_OVER_CSUM, .item = packets,
	  .help = "Packets that the checksum program saw, by what became of them." },
	{ XSF_FAMILY_COUNTER("checksum_datagrams"), .domain = XSF_OVER_CSUM_PORTS, .item = port,
	  .help = "UDP datagrams over IPv6 to watched ports, by port and outcome." },
	{ XSF_FAMILY_COUNTER("checksum_source_datagrams"), .domain = XSF_OVER_CSUM_SOURCES,
	  .item = source, .help = "The same by source address and outcome." },
	{ XSF_FAMILY_GAUGE("checksum_source_first_seen_timestamp_seconds"),
	  .domain = XSF_OVER_CSUM_SOURCES, .arg = 0, .item = last_seen,
	  .help = "When the source's first datagram came, Unix time." },
	{ XSF_FAMILY_GAUGE("checksum_source_last_seen_timestamp_seconds"),
	  .domain = XSF_OVER_CSUM_SOURCES, .arg = 1, .item = last_seen,
	  .help = "When the source's last datagram came, Unix time." },
	{ XSF_FAMILY_GAUGE("checksum_sources"), .domain = XSF_OVER_CSUM, .arg = CSUM_SOURCES,
	  .item = one, .help = "Sources in the table." },
	{ XSF_FAMILY_GAUGE("checksum_sources_hidden"), .domain = XSF_OVER_CSUM, .arg = CSUM_HIDDEN,
	  .item = one, .help = "Sources whose counts are in source=\"other\" here." },
	{ XSF_FAMILY_COUNTER("checksum_sources_full"), .domain = XSF_OVER_CSUM, .arg = CSUM_FULL,
	  .item = one, .help = "Datagrams whose source found no place in the table." },
	{ XSF_FAMILY_COUNTER("checksum_sources_reclaimed"), .domain = XSF_OVER_CSUM,
	  .arg = CSUM_RECLAIMED, .item = one,
	  .help = "Places in the table taken from sources silent for longer than --stale." },
	{ .item = NULL },
};
