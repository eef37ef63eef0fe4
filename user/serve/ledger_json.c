// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/snapshot.h"
#include "serve/json_write.h"
#include "serve/ledger.h"

static void put_i64(struct xsf_writer *w, const char *key, int64_t value)
{
	xsf_json_key(w, key);
	if (value < 0)
		xsf_text_char(w->t, '-');
	xsf_text_u64(w->t, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
	w->comma = 1;
}

/* A string that may hold a quote: kernel functions, drivers' names, interfaces. */
static void put_text(struct xsf_writer *w, const char *key, const char *value)
{
	xsf_json_key(w, key);
	xsf_text_char(w->t, '"');
	xsf_text_quoted(w->t, value);
	xsf_text_char(w->t, '"');
	w->comma = 1;
}

/* A command of ours, in which only interface names are not our own; those hold no
 * control characters, but may hold a quote or backslash. */
static void put_command(struct xsf_writer *w, const char *key, const char *command)
{
	if (!command[0])
		return;
	xsf_json_key(w, key);
	xsf_text_char(w->t, '"');
	for (; *command; command++) {
		if (*command == '"' || *command == '\\')
			xsf_text_char(w->t, '\\');
		xsf_text_char(w->t, (unsigned char)*command < ' ' ? '?' : *command);
	}
	xsf_text_char(w->t, '"');
	w->comma = 1;
}

static void put_device(const struct xsf_ledger *l, const struct xsf_ledger_device *d,
		       struct xsf_writer *w)
{
	char command[XSF_LEDGER_MEND];

	xsf_json_open_at(w, NULL, '{');
	put_text(w, "interface", d->name);
	xsf_json_u64(w, "ifindex", d->ifindex);
	xsf_json_bool(w, "xdp", d->xdp != 0);
	for (unsigned int n = 0; n < XSF_NR_NIC; n++)
		xsf_json_u64(w, xsf_ledger_nic_names[n], xsf_ledger_nic_value(&d->nic, n));
	xsf_json_open_at(w, "driver", '{');
	for (uint32_t n = 0; n < d->nr_driver; n++) {
		xsf_json_next(w);
		xsf_text_char(w->t, '"');
		xsf_text_quoted(w->t, d->driver[n].name);
		XSF_TEXT_LIT(w->t, "\":");
		xsf_text_u64(w->t, d->driver[n].count);
		w->comma = 1;
	}
	xsf_json_shut(w, '}');
	xsf_json_open_at(w, "mend", '{');
	for (unsigned int n = 0; n < XSF_NR_NIC; n++)
		put_command(w, xsf_ledger_nic_names[n],
			    xsf_ledger_mend_nic(l, d, n, command, sizeof(command)));
	xsf_json_shut(w, '}');
	xsf_json_shut(w, '}');
}

static void put_drops(const struct xsf_ledger *l, const struct xsf_ledger_port *p,
		      struct xsf_writer *w)
{
	xsf_json_open_at(w, "drops", '[');
	for (uint32_t n = 0; n < l->nr_drops; n++) {
		const struct xsf_ledger_drop *d = &l->drop[n];

		if (d->port != p->port)
			continue;
		xsf_json_open_at(w, NULL, '{');
		put_text(w, "reason", d->reason);
		if (d->where[0])
			put_text(w, "where", d->where);
		xsf_json_u64(w, "family", d->family);
		xsf_json_bool(w, "after_handing", d->after);
		if (d->counts)
			xsf_json_str(w, "stage", xsf_ledger_stage_info[d->stage].id);
		xsf_json_u64(w, "count", d->count);
		xsf_json_shut(w, '}');
	}
	xsf_json_shut(w, ']');
}

static void put_port(const struct xsf_ledger *l, const struct xsf_ledger_port *p,
		     struct xsf_writer *w)
{
	char command[XSF_LEDGER_MEND];

	xsf_json_open_at(w, NULL, '{');
	xsf_json_u64(w, "port", p->port);
	xsf_json_u64(w, "arrived", p->arrived);
	xsf_json_open_at(w, "stages", '{');
	for (int s = 0; s < XSF_NR_STAGES; s++) {
		if (p->measured & 1u << s)
			xsf_json_u64(w, xsf_ledger_stage_info[s].id, p->stage[s]);
	}
	xsf_json_shut(w, '}');
	put_i64(w, "unexplained", p->unexplained);
	put_drops(l, p, w);
	xsf_json_open_at(w, "mend", '{');
	for (int s = 0; s < XSF_NR_STAGES; s++) {
		if (p->stage[s])
			put_command(w, xsf_ledger_stage_info[s].id,
				    xsf_ledger_mend(l, p, (enum xsf_ledger_stage)s, 0, command,
						    sizeof(command)));
	}
	xsf_json_shut(w, '}');
	xsf_json_shut(w, '}');
}

static void put_sockets(const struct xsf_ledger *l, struct xsf_writer *w)
{
	xsf_json_open_at(w, "sockets", '[');
	for (uint32_t n = 0; n < l->nr_sockets; n++) {
		const struct xsf_ledger_socket *s = &l->socket[n];

		xsf_json_open_at(w, NULL, '{');
		xsf_json_address(w, "address", s->addr);
		xsf_json_u64(w, "port", s->port);
		xsf_json_u64(w, "uid", s->uid);
		xsf_json_u64(w, "inode", s->inode);
		xsf_json_u64(w, "drops", s->drops);
		xsf_json_u64(w, "queued_bytes", s->queued);
		xsf_json_shut(w, '}');
	}
	xsf_json_shut(w, ']');
}

static void put_agents(const struct xsf_ledger *l, struct xsf_writer *w)
{
	if (!l->agents_measured)
		return;
	put_i64(w, "lost_before", l->lost_before);
	xsf_json_open_at(w, "agents", '[');
	for (uint32_t n = 0; n < l->nr_agents; n++) {
		const struct xsf_ledger_agent *a = &l->agent[n];

		xsf_json_open_at(w, NULL, '{');
		xsf_json_address(w, "agent", a->addr);
		xsf_json_u64(w, "sub_agent", a->sub_agent);
		xsf_json_u64(w, "datagrams", a->datagrams);
		put_i64(w, "lost", a->lost);
		xsf_json_shut(w, '}');
	}
	xsf_json_shut(w, ']');
}

void xsf_ledger_json(const struct xsf_ledger *l, struct xsf_text *t)
{
	struct xsf_writer writer = { .t = t }, *w = &writer;

	xsf_json_open_at(w, NULL, '{');
	if (l->facts.iface[0])
		put_text(w, "interface", l->facts.iface);
	xsf_json_milli(w, "seconds", (uint64_t)(l->facts.seconds * 1000));
	xsf_json_open_at(w, "devices", '[');
	for (uint32_t n = 0; n < l->nr_devices; n++) {
		if (l->device[n].arrives)
			put_device(l, &l->device[n], w);
	}
	xsf_json_shut(w, ']');
	xsf_json_u64(w, "devices_left_out", l->more_devices);
	xsf_json_open_at(w, "ports", '[');
	for (uint32_t n = 0; n < l->facts.nr_ports; n++)
		put_port(l, &l->port[n], w);
	xsf_json_shut(w, ']');
	xsf_json_u64(w, "drops_left_out", l->more_drops);
	xsf_json_u64(w, "later_fragments", l->later_fragments);
	xsf_json_u64(w, "later_fragments_dropped", l->later_fragments_dropped);
	put_sockets(l, w);
	xsf_json_u64(w, "sockets_left_out", l->more_sockets);
	put_agents(l, w);
	xsf_json_u64(w, "agents_left_out", l->more_agents);
	xsf_json_u64(w, "events_missed", l->facts.missed + l->facts.full);
	xsf_json_shut(w, '}');
	xsf_text_char(t, '\n');
}
