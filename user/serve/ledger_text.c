// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/snapshot.h"
#include "serve/ledger.h"

static void put(struct xsf_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct xsf_text *t, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	/* Names are the kernel's and drivers'; none ends the line but ours. */
	xsf_text_str(t, line);
}

static void put_mend(struct xsf_text *t, const char *command, const char *otherwise)
{
	if (command[0]) {
		XSF_TEXT_LIT(t, "   mend: ");
		xsf_text_str(t, command);
		if (otherwise[0])
			put(t, " (%s)", otherwise);
	}
	xsf_text_char(t, '\n');
}

static void put_devices(const struct xsf_ledger *l, struct xsf_text *t)
{
	char command[XSF_LEDGER_MEND];

	put(t, "%-16s %12s %10s %10s %10s %10s  %s\n", "Device", "rx packets", "dropped", "missed",
	    "fifo", "errors", "XDP");
	for (uint32_t n = 0; n < l->nr_devices; n++) {
		const struct xsf_ledger_device *d = &l->device[n];

		if (!d->arrives)
			continue;
		put(t,
		    "%-16s %12" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
		    "  %s\n",
		    d->name, d->nic.rx_packets, d->nic.rx_dropped, d->nic.rx_missed_errors,
		    d->nic.rx_fifo_errors, d->nic.rx_errors, d->xdp ? "yes" : "no");
		for (unsigned int i = 1; i < XSF_NR_NIC; i++) {
			uint64_t count = xsf_ledger_nic_value(&d->nic, i);

			if (!count)
				continue;
			put(t, "  %-26s %12" PRIu64, xsf_ledger_nic_names[i], count);
			put_mend(t, xsf_ledger_mend_nic(l, d, i, command, sizeof(command)), "");
		}
		for (uint32_t i = 0; i < d->nr_driver; i++) {
			if (d->driver[i].count)
				put(t, "  %-26s %12" PRIu64 "   of the driver\n", d->driver[i].name,
				    d->driver[i].count);
		}
	}
	if (l->more_devices)
		put(t, "and %" PRIu32 " more\n", l->more_devices);
}

static int has_drops(const struct xsf_ledger *l, uint16_t port)
{
	for (uint32_t n = 0; n < l->nr_drops; n++) {
		if (l->drop[n].port == port)
			return 1;
	}
	return 0;
}

static int is_silent(const struct xsf_ledger *l, const struct xsf_ledger_port *p)
{
	for (int s = 0; s < XSF_NR_STAGES; s++) {
		if (p->stage[s])
			return 0;
	}
	return !has_drops(l, p->port);
}

static void put_reason(const struct xsf_ledger_drop *d, struct xsf_text *t)
{
	put(t, "      %s", d->reason);
	if (d->where[0])
		put(t, " in %s", d->where);
	put(t, ", IPv%u: %" PRIu64 "\n", d->family, d->count);
}

/* The family that most of a stage's drops are of; 0 when there are none. */
static uint8_t family_of(const struct xsf_ledger *l, uint16_t port, int stage)
{
	uint64_t v4 = 0, v6 = 0;

	for (uint32_t n = 0; n < l->nr_drops; n++) {
		const struct xsf_ledger_drop *d = &l->drop[n];

		if (!d->counts || d->port != port || (int)d->stage != stage)
			continue;
		if (d->family == 4)
			v4 += d->count;
		else
			v6 += d->count;
	}
	return v4 > v6 ? 4 : v6 ? 6 : 0;
}

/* Always said, so that 0 and "not measured" differ. */
static int is_always_shown(int stage)
{
	return stage == XSF_STAGE_xdp || stage == XSF_STAGE_stack || stage == XSF_STAGE_handed ||
	       stage == XSF_STAGE_wrong_checksum;
}

static const char *not_measured(int stage)
{
	return stage == XSF_STAGE_xdp ? "no XDP program that counts it here: xdp-sflow load IFACE" :
					"no checksum program counts it: xdp-sflow load IFACE";
}

static void put_port(const struct xsf_ledger *l, const struct xsf_ledger_port *p,
		     struct xsf_text *t)
{
	char command[XSF_LEDGER_MEND];

	if (is_silent(l, p)) {
		put(t, "\nPort %u: nothing\n", p->port);
		return;
	}
	put(t, "\nPort %u\n", p->port);
	for (int s = 0; s < XSF_NR_STAGES; s++) {
		const char *title = xsf_ledger_stage_info[s].title;

		if (!(p->measured & 1u << s)) {
			if (is_always_shown(s))
				put(t, "  %-26s %12s   %s\n", title, "not measured",
				    not_measured(s));
			continue;
		}
		if (!p->stage[s] && !is_always_shown(s))
			continue;
		put(t, "  %-26s %12" PRIu64, title, p->stage[s]);
		put_mend(t,
			 p->stage[s] ? xsf_ledger_mend(l, p, (enum xsf_ledger_stage)s,
						       family_of(l, p->port, s), command,
						       sizeof(command)) :
				       "",
			 xsf_ledger_mend_else((enum xsf_ledger_stage)s));
		for (uint32_t n = 0; n < l->nr_drops; n++) {
			if (l->drop[n].counts && l->drop[n].port == p->port &&
			    (int)l->drop[n].stage == s)
				put_reason(&l->drop[n], t);
		}
	}
	put(t, "  %-26s %12" PRId64 "\n", "unexplained", p->unexplained);
	for (uint32_t n = 0; n < l->nr_drops; n++) {
		if (!l->drop[n].counts && l->drop[n].port == p->port) {
			put(t, "  (copies for packet sockets, or counted by XDP already:)\n");
			put_reason(&l->drop[n], t);
		}
	}
}

static void put_sockets(const struct xsf_ledger *l, struct xsf_text *t)
{
	char address[XSF_ADDRESS_TEXT];

	put(t, "\nSockets on these ports: %" PRIu32 "\n", l->nr_sockets + l->more_sockets);
	for (uint32_t n = 0; n < l->nr_sockets; n++) {
		const struct xsf_ledger_socket *s = &l->socket[n];

		put(t,
		    "  %s port %u, uid %" PRIu32 ", inode %" PRIu64 ": dropped %" PRIu64
		    ", %" PRIu64 " bytes waiting\n",
		    xsf_address_text(s->addr, address), s->port, s->uid, s->inode, s->drops,
		    s->queued);
	}
}

static void put_agents(const struct xsf_ledger *l, struct xsf_text *t)
{
	char address[XSF_ADDRESS_TEXT];

	if (!l->agents_measured) {
		put(t, "\nLost before it came here: not measured; xdp-sflow load IFACE\n");
		return;
	}
	put(t, "\nLost before it came here, of all sFlow agents: %" PRId64 "\n", l->lost_before);
	for (uint32_t n = 0; n < l->nr_agents; n++) {
		const struct xsf_ledger_agent *a = &l->agent[n];

		put(t, "  agent %s/%" PRIu32 ": %" PRId64 " lost, %" PRIu64 " received\n",
		    xsf_address_text(a->addr, address), a->sub_agent, a->lost, a->datagrams);
	}
	if (l->more_agents)
		put(t, "  and %" PRIu32 " more\n", l->more_agents);
}

void xsf_ledger_text(const struct xsf_ledger *l, struct xsf_text *t)
{
	put(t, "Ledger of %s, %.1f s\n\n", l->facts.iface[0] ? l->facts.iface : "all interfaces",
	    l->facts.seconds);
	put_devices(l, t);
	for (uint32_t n = 0; n < l->facts.nr_ports; n++)
		put_port(l, &l->port[n], t);
	put_sockets(l, t);
	put_agents(l, t);
	if (l->later_fragments || l->later_fragments_dropped)
		put(t,
		    "Later fragments, which name no port: %" PRIu64 " came, %" PRIu64
		    " were dropped\n",
		    l->later_fragments, l->later_fragments_dropped);
	if (l->facts.missed || l->facts.full)
		put(t, "Events that the ledger itself missed: %" PRIu64 "\n",
		    l->facts.missed + l->facts.full);
}
