// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which command mends which stage. */
#include "model/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Room for a second of 10,000 datagrams of 1400 bytes, which take 2304 bytes each in a socket. */
#define BUFFER_LEAST (32u << 20)
#define BACKLOG_LEAST 10000

static const char *iface_of(const struct xsf_ledger *l)
{
	if (l->facts.iface[0])
		return l->facts.iface;
	for (uint32_t n = 0; n < l->nr_devices; n++) {
		if (l->device[n].arrives && strcmp(l->device[n].name, "lo") != 0 &&
		    (l->device[n].xdp || l->device[n].nic.rx_packets))
			return l->device[n].name;
	}
	return "IFACE";
}

/* The reason with most datagrams in a stage of a port. */
static const char *main_reason(const struct xsf_ledger *l, uint16_t port, enum xsf_ledger_stage s)
{
	const struct xsf_ledger_drop *most = NULL;

	for (uint32_t n = 0; n < l->nr_drops; n++) {
		const struct xsf_ledger_drop *d = &l->drop[n];

		if (d->counts && d->port == port && d->stage == s &&
		    (!most || d->count > most->count))
			most = d;
	}
	return most ? most->reason : "";
}

static uint64_t twice(uint64_t now, uint64_t least)
{
	return 2 * now > least ? 2 * now : least;
}

static void mend_no_route(const struct xsf_ledger *l, uint16_t port, char *buf, size_t len)
{
	const char *reason = main_reason(l, port, XSF_STAGE_no_route), *iface = iface_of(l);

	if (!strcmp(reason, "IP_RPFILTER"))
		snprintf(buf, len,
			 "sysctl -w net.ipv4.conf.all.rp_filter=2 net.ipv4.conf.%s.rp_filter=2",
			 iface);
	else if (!strcmp(reason, "OTHERHOST"))
		snprintf(buf, len, "ip link set dev %s promisc off", iface);
	else
		snprintf(buf, len, "ip address add ADDRESS dev %s", iface);
}

static void mend_filtered(const struct xsf_ledger *l, uint16_t port, char *buf, size_t len)
{
	const char *reason = main_reason(l, port, XSF_STAGE_filtered);

	if (!strcmp(reason, "TC_INGRESS"))
		snprintf(buf, len, "tc filter show dev %s ingress", iface_of(l));
	else if (!strcmp(reason, "XFRM_POLICY"))
		snprintf(buf, len, "ip xfrm policy");
	else
		snprintf(buf, len, "nft insert rule inet filter input udp dport %u accept", port);
}

/* The checksum program of the interface that is looked at, one that is to repair the port, or the first. */
static const struct xsf_ledger_repair *repair_of(const struct xsf_ledger *l, uint16_t port)
{
	const struct xsf_ledger_repair *first = NULL;

	for (uint32_t n = 0; n < l->nr_repairs; n++) {
		const struct xsf_ledger_repair *r = &l->repair[n];

		if (l->facts.iface[0] && strcmp(r->ifname, l->facts.iface) != 0)
			continue;
		for (int i = 0; i < XSF_MAX_PORTS && r->advice.ports[i]; i++) {
			if (r->advice.ports[i] == port)
				return r;
		}
		if (!first)
			first = r;
	}
	return first;
}

/* `load` and `repair set` take the place of the whole policy: what is in force, or what another stage of
 * the ledger advises, is in the command. */
static void mend_load(const struct xsf_ledger *l, uint16_t port, const char *more, char *buf,
		      size_t len)
{
	const struct xsf_ledger_repair *r = repair_of(l, port);

	snprintf(buf, len, "xdp-sflow load %s%s%s%s%s", iface_of(l), more,
		 r && !strcmp(r->ifname, iface_of(l)) ? r->advice.options : "",
		 l->maps[0] ? " --maps " : "", l->maps);
}

static void mend_checksum(const struct xsf_ledger *l, uint16_t port, char *buf, size_t len)
{
	const struct xsf_ledger_repair *r = repair_of(l, port);
	const char *maps = l->maps[0] ? l->maps : NULL, *iface = iface_of(l);
	char show[XSF_CSUM_SHOW];

	if (r && r->advice.command[0]) {
		for (int i = 0; i < XSF_MAX_PORTS && r->advice.ports[i]; i++) {
			if (r->advice.ports[i] == port) {
				snprintf(buf, len, "%s", r->advice.command);
				return;
			}
		}
	}
	if (!r && !l->facts.csum_measured) {
		mend_load(l, port, "", buf, len);
		return;
	}
	/* Not known for a chip: the audit says more. */
	snprintf(buf, len, "%s", xsf_csum_show(r ? r->ifname : iface, maps, show));
}

const char *xsf_ledger_mend(const struct xsf_ledger *l, const struct xsf_ledger_port *p,
			    enum xsf_ledger_stage s, uint8_t family, char *buf, size_t len)
{
	uint64_t buffer = twice(l->facts.rmem_max > l->facts.rmem_default ? l->facts.rmem_max :
									    l->facts.rmem_default,
				BUFFER_LEAST);

	buf[0] = 0;
	switch (s) {
	case XSF_STAGE_fragmented:
		snprintf(buf, len, "ip link set dev %s mtu 9000", iface_of(l));
		break;
	case XSF_STAGE_checksum:
	case XSF_STAGE_checksum_read:
		/* IPv4's checksum can be left out, which only the exporter can do: who that is. */
		if (family == 4) {
			snprintf(buf, len, "tcpdump -c 20 -vvni %s 'ip and udp port %u'",
				 iface_of(l), p->port);
			break;
		}
		/* fall through */
	case XSF_STAGE_wrong_checksum:
		mend_checksum(l, p->port, buf, len);
		break;
	case XSF_STAGE_consumed:
		mend_load(l, p->port, "", buf, len);
		break;
	case XSF_STAGE_denied:
		mend_load(l, p->port, " --allow PREFIX", buf, len);
		break;
	case XSF_STAGE_no_listener:
		snprintf(buf, len, "ss -lunp 'sport = :%u'", p->port);
		break;
	case XSF_STAGE_reassembly:
		snprintf(buf, len,
			 "sysctl -w net.ipv4.ipfrag_high_thresh=%u net.ipv6.ip6frag_high_thresh=%u",
			 64u << 20, 64u << 20);
		break;
	case XSF_STAGE_backlog:
		snprintf(buf, len, "sysctl -w net.core.netdev_max_backlog=%" PRIu64,
			 twice(l->facts.max_backlog, BACKLOG_LEAST));
		break;
	case XSF_STAGE_filtered:
		mend_filtered(l, p->port, buf, len);
		break;
	case XSF_STAGE_no_route:
		mend_no_route(l, p->port, buf, len);
		break;
	case XSF_STAGE_buffer_full:
		if (!strcmp(main_reason(l, p->port, s), "PROTO_MEM"))
			snprintf(buf, len, "sysctl -w net.ipv4.udp_mem='262144 524288 1048576'");
		else
			snprintf(buf, len,
				 "sysctl -w net.core.rmem_max=%" PRIu64
				 " net.core.rmem_default=%" PRIu64,
				 buffer, buffer);
		break;
	case XSF_STAGE_dropped:
		snprintf(buf, len, "xdp-sflow doctor %s", iface_of(l));
		break;
	case XSF_STAGE_unread:
	case XSF_STAGE_refused:
		snprintf(buf, len, "ss -lunpm 'sport = :%u'", p->port);
		break;
	default:
		break;
	}
	return buf;
}

const char *xsf_ledger_mend_else(enum xsf_ledger_stage s)
{
	return s == XSF_STAGE_buffer_full ? "then restart the collector; or the collector's own "
					    "option for its receive buffer" :
					    "";
}

const char *xsf_ledger_mend_nic(const struct xsf_ledger *l, const struct xsf_ledger_device *d,
				unsigned int n, char *buf, size_t len)
{
	const char *name = xsf_ledger_nic_names[n];

	buf[0] = 0;
	if (!strcmp(name, "rx_packets") || !xsf_ledger_nic_value(&d->nic, n))
		return buf;
	if (!strcmp(name, "rx_missed_errors") || !strcmp(name, "rx_fifo_errors") ||
	    !strcmp(name, "rx_over_errors")) {
		if (d->ring_max > d->ring)
			snprintf(buf, len, "ethtool -G %s rx %u", d->name, d->ring_max);
		else
			snprintf(buf, len, "ethtool -L %s combined N", d->name);
	} else if (!strcmp(name, "rx_dropped")) {
		snprintf(buf, len, "sysctl -w net.core.netdev_max_backlog=%" PRIu64,
			 twice(l->facts.max_backlog, BACKLOG_LEAST));
	} else if (!strcmp(name, "rx_length_errors")) {
		snprintf(buf, len, "ip link set dev %s mtu 9000", d->name);
	} else {
		snprintf(buf, len, "ethtool -S %s", d->name);
	}
	return buf;
}
