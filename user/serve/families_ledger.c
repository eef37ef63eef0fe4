// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Families of the ledger: datagrams since it began, which is the exporter's start. */
#include "model/ledger.h"
#include "serve/families.h"

uint32_t xsf_ledger_domain_size(const struct xsf_ledger *l, uint32_t domain)
{
	if (!l)
		return 0;
	switch (domain) {
	case XSF_OVER_LEDGER_PORTS:
		return l->facts.nr_ports;
	case XSF_OVER_LEDGER_DROPS:
		return l->nr_drops;
	case XSF_OVER_LEDGER_DEVICES:
		return l->nr_devices;
	}
	return 1;
}

static void seconds(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		    struct xsf_text *t)
{
	(void)i;
	xsf_text_add(t, f->name, f->name_len);
	xsf_text_char(t, ' ');
	xsf_text_milli(t, (uint64_t)(m->o.ledger->facts.seconds * 1000));
	xsf_text_char(t, '\n');
}

static void missed(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		   struct xsf_text *t)
{
	(void)i;
	xsf_line_plain(t, f, m->o.ledger->facts.missed + m->o.ledger->facts.full);
}

static const char *kind_name(enum xsf_ledger_kind kind)
{
	switch (kind) {
	case XSF_KIND_ARRIVED:
		return "arrived";
	case XSF_KIND_END:
		return "end";
	case XSF_KIND_AFTER:
		return "after";
	case XSF_KIND_WITHIN:
		break;
	}
	return "within";
}

static void stages(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		   struct xsf_text *t)
{
	const struct xsf_ledger_port *p = &m->o.ledger->port[i];

	for (int s = 0; s < XSF_NR_STAGES; s++) {
		if (!(p->measured & 1u << s))
			continue;
		xsf_line_begin(t, f);
		xsf_label_u64(t, "port=", p->port);
		xsf_label(t, ",stage=", xsf_ledger_stage_info[s].id);
		xsf_label(t, ",kind=", kind_name(xsf_ledger_stage_info[s].kind));
		xsf_line_end(t, p->stage[s]);
	}
}

static void arrived(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		    struct xsf_text *t)
{
	xsf_line_begin(t, f);
	xsf_label_u64(t, "port=", m->o.ledger->port[i].port);
	xsf_line_end(t, m->o.ledger->port[i].arrived);
}

static void unexplained(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
			struct xsf_text *t)
{
	int64_t value = m->o.ledger->port[i].unexplained;

	xsf_line_begin(t, f);
	xsf_label_u64(t, "port=", m->o.ledger->port[i].port);
	XSF_TEXT_LIT(t, "} ");
	if (value < 0)
		xsf_text_char(t, '-');
	xsf_text_u64(t, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
	xsf_text_char(t, '\n');
}

/* How many sockets are bound to the port, or the bytes that wait in them. */
static void sockets(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		    struct xsf_text *t)
{
	const struct xsf_ledger *l = m->o.ledger;
	uint64_t sum = 0;

	for (uint32_t n = 0; n < l->nr_sockets; n++) {
		if (l->socket[n].port == l->port[i].port)
			sum += f->arg ? l->socket[n].queued : 1;
	}
	xsf_line_begin(t, f);
	xsf_label_u64(t, "port=", l->port[i].port);
	xsf_line_end(t, sum);
}

static void drops(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		  struct xsf_text *t)
{
	const struct xsf_ledger_drop *d = &m->o.ledger->drop[i];

	if (!d->counts)
		return;
	xsf_line_begin(t, f);
	xsf_label_u64(t, "port=", d->port);
	xsf_label(t, ",stage=", xsf_ledger_stage_info[d->stage].id);
	XSF_TEXT_LIT(t, ",reason=\"");
	xsf_text_quoted(t, d->reason);
	XSF_TEXT_LIT(t, "\",where=\"");
	xsf_text_quoted(t, d->where);
	xsf_label(t, "\",family=", d->family == 4 ? "ipv4" : "ipv6");
	xsf_line_end(t, d->count);
}

static void devices(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		    struct xsf_text *t)
{
	const struct xsf_ledger_device *d = &m->o.ledger->device[i];

	for (unsigned int n = 0; d->arrives && n < XSF_NR_NIC; n++) {
		xsf_line_begin(t, f);
		XSF_TEXT_LIT(t, "ifname=\"");
		xsf_text_quoted(t, d->name);
		xsf_label(t, "\",statistic=", xsf_ledger_nic_names[n]);
		xsf_line_end(t, xsf_ledger_nic_value(&d->nic, n));
	}
}

#define OVER(domain_, item_, help_) .domain = domain_, .item = item_, .help = help_

const struct xsf_family xsf_families_ledger[] = {
	{ XSF_FAMILY_GAUGE("ledger_seconds"),
	  OVER(XSF_OVER_LEDGER, seconds, "How long the ledger has counted.") },
	{ XSF_FAMILY_COUNTER("ledger_events_missed"),
	  OVER(XSF_OVER_LEDGER, missed, "Events that the ledger could not count.") },
	{ XSF_FAMILY_COUNTER("ledger_arrived"),
	  OVER(XSF_OVER_LEDGER_PORTS, arrived,
	       "Datagrams that arrived for the port, by the first stage measured.") },
	{ XSF_FAMILY_COUNTER("ledger_stage"),
	  OVER(XSF_OVER_LEDGER_PORTS, stages,
	       "Datagrams by stage: those of kind end add up to the arrived ones.") },
	{ XSF_FAMILY_GAUGE("ledger_unexplained"),
	  OVER(XSF_OVER_LEDGER_PORTS, unexplained,
	       "Arrived datagrams less those whose end was seen; negative: more ended.") },
	{ XSF_FAMILY_COUNTER("ledger_drops"),
	  OVER(XSF_OVER_LEDGER_DROPS, drops,
	       "Dropped datagrams by the kernel's reason and the function that dropped them.") },
	{ XSF_FAMILY_GAUGE("ledger_sockets"),
	  OVER(XSF_OVER_LEDGER_PORTS, sockets, "UDP sockets bound to the port.") },
	{ XSF_FAMILY_GAUGE("ledger_socket_queued_bytes"),
	  OVER(XSF_OVER_LEDGER_PORTS, sockets, "Memory of the datagrams that wait in them."),
	  .arg = 1 },
	{ XSF_FAMILY_COUNTER("ledger_device"),
	  OVER(XSF_OVER_LEDGER_DEVICES, devices,
	       "Receive statistics of the interface since the ledger began.") },
	{ 0 },
};
