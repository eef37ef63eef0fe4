// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/ledger.h"

#include <stdio.h>
#include <string.h>

#define INFO(id_, kind_, title_, help_) \
	[XSF_STAGE_## \
		id_] = { .id = #id_, .kind = XSF_KIND_##kind_, .title = title_, .help = help_ },
const struct xsf_ledger_stage_info xsf_ledger_stage_info[XSF_NR_STAGES] = { XSF_LEDGER_STAGES(
	INFO) };

#define NIC_NAME(id, help) #id,
const char *const xsf_ledger_nic_names[XSF_NR_NIC] = { XSF_LEDGER_NIC(NIC_NAME) };

#define NIC_VALUE(id, help) nic->id,
uint64_t xsf_ledger_nic_value(const struct xsf_ledger_nic *nic, unsigned int n)
{
	const uint64_t values[XSF_NR_NIC] = { XSF_LEDGER_NIC(NIC_VALUE) };

	return values[n];
}

/* ---- drops ---- */

/* The kernel's names of reasons (include/net/dropreason-core.h); older kernels have fewer. Those with `after`
 * are given once the socket filter, where `handed` is counted, has been reached. */
static const struct {
	const char *reason;
	enum xsf_ledger_stage stage;
	enum xsf_ledger_stage stage_after;
	uint8_t after;
} reasons[] = {
	{ "NO_SOCKET", XSF_STAGE_no_listener, XSF_STAGE_refused, 0 },
	{ "UDP_CSUM", XSF_STAGE_checksum, XSF_STAGE_checksum_read, 0 },
	{ "SKB_CSUM", XSF_STAGE_checksum, XSF_STAGE_checksum_read, 0 },
	{ "SOCKET_RCVBUFF", XSF_STAGE_dropped, XSF_STAGE_buffer_full, 1 },
	{ "PROTO_MEM", XSF_STAGE_dropped, XSF_STAGE_buffer_full, 1 },
	{ "SOCKET_FILTER", XSF_STAGE_dropped, XSF_STAGE_refused, 1 },
	{ "QUEUE_PURGE", XSF_STAGE_dropped, XSF_STAGE_unread, 0 },
	{ "SOCKET_CLOSE", XSF_STAGE_dropped, XSF_STAGE_unread, 0 },
	{ "FRAG_REASM_TIMEOUT", XSF_STAGE_reassembly, XSF_STAGE_refused, 0 },
	{ "DUP_FRAG", XSF_STAGE_reassembly, XSF_STAGE_refused, 0 },
	{ "FRAG_TOO_FAR", XSF_STAGE_reassembly, XSF_STAGE_refused, 0 },
	{ "CPU_BACKLOG", XSF_STAGE_backlog, XSF_STAGE_refused, 0 },
	{ "NETFILTER_DROP", XSF_STAGE_filtered, XSF_STAGE_refused, 0 },
	{ "TC_INGRESS", XSF_STAGE_filtered, XSF_STAGE_refused, 0 },
	{ "XFRM_POLICY", XSF_STAGE_filtered, XSF_STAGE_refused, 0 },
	{ "SECURITY_HOOK", XSF_STAGE_filtered, XSF_STAGE_refused, 1 },
	{ "OTHERHOST", XSF_STAGE_no_route, XSF_STAGE_refused, 0 },
	{ "UNICAST_IN_L2_MULTICAST", XSF_STAGE_no_route, XSF_STAGE_refused, 0 },
	{ "IP_RPFILTER", XSF_STAGE_no_route, XSF_STAGE_refused, 0 },
	{ "IP_INADDRERRORS", XSF_STAGE_no_route, XSF_STAGE_refused, 0 },
	{ "IP_INNOROUTES", XSF_STAGE_no_route, XSF_STAGE_refused, 0 },
	{ "IP_OUTNOROUTES", XSF_STAGE_no_route, XSF_STAGE_refused, 0 },
	{ "IP_LOCAL_SOURCE", XSF_STAGE_no_route, XSF_STAGE_refused, 0 },
	{ "IP_INVALID_SOURCE", XSF_STAGE_no_route, XSF_STAGE_refused, 0 },
	{ "IP_INVALID_DEST", XSF_STAGE_no_route, XSF_STAGE_refused, 0 },
	{ "IP_LOCALNET", XSF_STAGE_no_route, XSF_STAGE_refused, 0 },
};

/* Kernels that give no reason (NOT_SPECIFIED, above all before 6.3) are told apart by who freed it. */
static const struct {
	const char *where; /* within the function's name */
	const char *reason;
} places[] = {
	{ "udp_recvmsg", "UDP_CSUM" },	       /* udp_recvmsg, udpv6_recvmsg below */
	{ "udpv6_recvmsg", "UDP_CSUM" },       /* the copy to the reader found it wrong */
	{ "first_packet_length", "UDP_CSUM" }, /* poll or FIONREAD did */
	{ "udp_poll", "UDP_CSUM" },
	{ "skb_queue_purge", "QUEUE_PURGE" },
	{ "udp_destruct", "QUEUE_PURGE" },
	{ "ip_frag", "FRAG_REASM_TIMEOUT" },
	{ "inet_frag", "FRAG_REASM_TIMEOUT" },
	{ "ip_expire", "FRAG_REASM_TIMEOUT" },
	{ "ip6frag_expire", "FRAG_REASM_TIMEOUT" },
	{ "ip6_frag", "FRAG_REASM_TIMEOUT" },
	{ "ip_defrag", "FRAG_REASM_TIMEOUT" },
	{ "ip_route_input", "IP_RPFILTER" },
	{ "nf_hook", "NETFILTER_DROP" },
	{ "enqueue_to_backlog", "CPU_BACKLOG" },
	{ "sch_handle_ingress", "TC_INGRESS" },
};

/* Packet sockets (tcpdump) have copies; that one of them is lost says nothing about the datagram. */
static int is_tap(const char *reason, const char *where)
{
	return !strcmp(reason, "PACKET_SOCK_ERROR") || !strcmp(where, "packet_rcv") ||
	       !strcmp(where, "tpacket_rcv") || !strcmp(where, "packet_rcv_spkt");
}

static int is_xdp(const char *reason, const char *where)
{
	return !strcmp(reason, "XDP") || strstr(where, "xdp") != NULL;
}

int xsf_ledger_classify(const char *reason, const char *where, uint8_t *after)
{
	if (is_tap(reason, where))
		return -1;
	if (!strcmp(reason, "NOT_SPECIFIED")) {
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			if (strstr(where, places[i].where)) {
				reason = places[i].reason;
				break;
			}
		}
	}
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (strcmp(reason, reasons[i].reason))
			continue;
		*after |= reasons[i].after;
		return *after ? (int)reasons[i].stage_after : (int)reasons[i].stage;
	}
	return *after ? XSF_STAGE_refused : XSF_STAGE_dropped;
}

static const struct xsf_ledger_device *device_of(const struct xsf_ledger *l, uint32_t ifindex)
{
	for (uint32_t n = 0; n < l->nr_devices; n++) {
		if (l->device[n].ifindex == ifindex)
			return &l->device[n];
	}
	return NULL;
}

static struct xsf_ledger_port *port_of(struct xsf_ledger *l, uint16_t port)
{
	for (uint32_t n = 0; n < l->facts.nr_ports; n++) {
		if (l->port[n].port == port)
			return &l->port[n];
	}
	return NULL;
}

static void keep_drop(struct xsf_ledger *l, const struct xsf_ledger_drop *drop)
{
	for (uint32_t n = 0; n < l->nr_drops; n++) {
		struct xsf_ledger_drop *d = &l->drop[n];

		if (d->port == drop->port && d->family == drop->family && d->after == drop->after &&
		    d->counts == drop->counts && !strcmp(d->reason, drop->reason) &&
		    !strcmp(d->where, drop->where)) {
			d->count += drop->count;
			return;
		}
	}
	if (l->nr_drops == XSF_LEDGER_DROPS)
		l->more_drops += drop->count;
	else
		l->drop[l->nr_drops++] = *drop;
}

static void add_drop(struct xsf_ledger *l, struct xsf_ledger_port *p,
		     const struct xsf_ledger_row *row)
{
	const struct xsf_ledger_device *device = device_of(l, row->key.ifindex);
	struct xsf_ledger_drop drop = {
		.port = row->key.port,
		.family = row->key.family,
		.after = row->key.event == XSF_LEDGER_DROP_AFTER,
		.count = row->count,
	};
	int stage = xsf_ledger_classify(row->reason, row->where, &drop.after);

	memcpy(drop.reason, row->reason, sizeof(drop.reason));
	memcpy(drop.where, row->where, sizeof(drop.where));
	/* What our XDP program drops it counts itself. */
	drop.counts = stage >= 0 && !(is_xdp(row->reason, row->where) && device && device->xdp);
	if (drop.counts) {
		drop.stage = (uint32_t)stage;
		p->stage[stage] += row->count;
	}
	keep_drop(l, &drop);
}

/* ---- stages ---- */

/* Those that every program of ours looks at. */
int xsf_ledger_is_default(uint16_t port)
{
	return port == 4739 || port == 6343 || port == 2055;
}

/* Does XDP on this device count what comes for the port? */
static int xdp_sees(const struct xsf_ledger_device *device, uint16_t port)
{
	if (!device || !device->xdp || !device->arrives)
		return 0;
	for (unsigned int n = 0; n < XSF_MAX_PORTS; n++) {
		if (device->xdp_ports[n] == port)
			return 1;
	}
	return xsf_ledger_is_default(port);
}

static int xdp_sees_somewhere(const struct xsf_ledger *l, uint16_t port)
{
	for (uint32_t n = 0; n < l->nr_devices; n++) {
		if (xdp_sees(&l->device[n], port))
			return 1;
	}
	return 0;
}

/* Does the ledger look at what came in by this interface? */
static int ends_here(const struct xsf_ledger *l, uint32_t ifindex)
{
	const struct xsf_ledger_device *device;

	if (!l->facts.iface[0])
		return 1;
	device = device_of(l, ifindex);
	return device && device->ends;
}

static void add_row(struct xsf_ledger *l, const struct xsf_ledger_row *row)
{
	const struct xsf_ledger_device *device = device_of(l, row->key.ifindex);
	/* Without an interface asked for, one that is not known (it is gone, or beyond the bound) counts. */
	int arrives = device ? (int)device->arrives : !l->facts.iface[0];
	struct xsf_ledger_port *p = port_of(l, row->key.port);
	int first = row->key.event == XSF_LEDGER_STACK_FIRST;

	if (row->key.event == XSF_LEDGER_STACK_LATER) {
		l->later_fragments += arrives ? row->count : 0;
		return;
	}
	if (!p) {
		if (!row->key.port && ends_here(l, row->key.ifindex))
			l->later_fragments_dropped += row->count;
		return;
	}
	if (row->key.event == XSF_LEDGER_STACK || first) {
		if (!arrives)
			return;
		p->stage[XSF_STAGE_stack] += row->count;
		if (!xdp_sees(device, p->port)) {
			p->arrived += row->count;
			p->stage[XSF_STAGE_fragmented] += first ? row->count : 0;
		}
	} else if (!ends_here(l, row->key.ifindex)) {
		return;
	} else if (row->key.event == XSF_LEDGER_FORWARDED) {
		p->stage[XSF_STAGE_forwarded] += row->count;
	} else if (row->key.event == XSF_LEDGER_HANDED) {
		p->stage[XSF_STAGE_handed] += row->count;
	} else {
		add_drop(l, p, row);
	}
}

static void add_seen(struct xsf_ledger *l, const struct xsf_ledger_seen *seen)
{
	const struct xsf_ledger_device *device = device_of(l, seen->ifindex);
	struct xsf_ledger_port *p = port_of(l, seen->port);

	if (!p || !xdp_sees(device, p->port))
		return;
	p->stage[XSF_STAGE_xdp] += seen->datagrams + seen->fragments_first;
	p->arrived += seen->datagrams + seen->fragments_first;
	p->stage[XSF_STAGE_fragmented] += seen->fragments_first;
	p->stage[XSF_STAGE_consumed] += seen->consumed;
	p->stage[XSF_STAGE_denied] += seen->denied;
}

static uint32_t bit(enum xsf_ledger_stage stage)
{
	return 1u << stage;
}

void xsf_ledger_build(struct xsf_ledger *l, const struct xsf_ledger_facts *f)
{
	const uint32_t xdp = bit(XSF_STAGE_xdp) | bit(XSF_STAGE_consumed) | bit(XSF_STAGE_denied);
	const uint32_t csum = bit(XSF_STAGE_wrong_checksum) | bit(XSF_STAGE_repaired);

	l->facts = *f;
	l->facts.rows = NULL;
	l->facts.seen = NULL;
	l->facts.csum = NULL;
	l->nr_drops = 0;
	l->more_drops = l->later_fragments = l->later_fragments_dropped = 0;
	memset(l->port, 0, sizeof(l->port));
	for (uint32_t n = 0; n < f->nr_ports; n++) {
		l->port[n].port = f->ports[n];
		l->port[n].measured = (bit(XSF_NR_STAGES) - 1) & ~(xdp | csum);
		if (xdp_sees_somewhere(l, f->ports[n]))
			l->port[n].measured |= xdp;
		if (f->csum_measured && xsf_ledger_is_default(f->ports[n]))
			l->port[n].measured |= csum;
	}
	for (uint32_t n = 0; n < f->nr_seen; n++)
		add_seen(l, &f->seen[n]);
	for (uint32_t n = 0; n < f->nr_csum; n++) {
		struct xsf_ledger_port *p = port_of(l, f->csum[n].port);

		if (!p)
			continue;
		p->measured |= csum;
		p->stage[XSF_STAGE_wrong_checksum] += f->csum[n].wrong;
		p->stage[XSF_STAGE_repaired] += f->csum[n].repaired;
	}
	for (uint32_t n = 0; n < f->nr_rows; n++)
		add_row(l, &f->rows[n]);
	for (uint32_t n = 0; n < f->nr_ports; n++) {
		struct xsf_ledger_port *p = &l->port[n];
		uint64_t ended = 0;

		for (int s = 0; s < XSF_NR_STAGES; s++)
			ended += xsf_ledger_stage_info[s].kind == XSF_KIND_END ? p->stage[s] : 0;
		p->unexplained = (int64_t)(p->arrived - ended);
	}
}
