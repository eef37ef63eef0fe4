// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What becomes of datagrams that XDP passes on: filters of the stack, sockets, their buffers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/doctor_find.h"

/* What a datagram of an Ethernet frame's length takes of a socket's buffer: a page and the kernel's own
 * data. (Measured: 48 datagrams of 1,361 bytes fill the default of 212,992.) */
#define DATAGRAM_TRUESIZE 4352
/* How long a collector may look away: a reload, a flush to disk, a busy CPU. */
#define PAUSE_MS 200
/* What is proposed at most. */
#define BUFFER_MAX (1LL << 30)

static int64_t power_of_two(int64_t need)
{
	int64_t size = 1 << 18;

	while (size < need && size < BUFFER_MAX)
		size *= 2;
	return size;
}

static void buffers(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	/* What XDP consumes no socket sees. */
	xsf_fact_t counted = f->holder == XSF_XDP_OURS && f->consume ? 0 : f->our_rate;
	xsf_fact_t rate = counted > f->udp_rate ? counted : f->udp_rate;
	int64_t need, holds;
	char max[64] = "";

	if (f->rmem_default >= 0 && f->udp_rate == XSF_NO_FACT && f->our_rate < 0) {
		xsf_find(d, "buffers", XSF_LEVEL_UNKNOWN,
			 "rmem_default %" PRId64 "; the rate was not measured (--seconds 0)",
			 f->rmem_default);
		return;
	}
	if (f->rmem_default < 0 || (f->udp_rate < 0 && f->our_rate < 0)) {
		xsf_find_unknown(d, f, "buffers", "socket buffers and rate",
				 f->rmem_default < 0 ? f->rmem_default : f->udp_rate);
		return;
	}
	need = rate * PAUSE_MS / 1000 * DATAGRAM_TRUESIZE;
	holds = f->rmem_default / DATAGRAM_TRUESIZE;
	if (f->rmem_max >= 0)
		snprintf(max, sizeof(max), "; rmem_max %" PRId64, f->rmem_max);
	if (f->rmem_default >= need)
		xsf_find(d, "buffers", XSF_LEVEL_OK,
			 "rmem_default %" PRId64 " / %d bytes a datagram = %" PRId64
			 " datagrams; %" PRId64 "/s were seen in %" PRIu32 " ms, %" PRId64
			 " in a pause of %d ms%s",
			 f->rmem_default, DATAGRAM_TRUESIZE, holds, rate, f->sample_ms,
			 rate * PAUSE_MS / 1000, PAUSE_MS, max);
	else
		xsf_mend(xsf_find(d, "buffers", XSF_LEVEL_WARN,
				  "rmem_default %" PRId64 " / %d bytes a datagram = %" PRId64
				  " datagrams; %" PRId64 "/s were seen in %" PRIu32
				  " ms: a collector that pauses %d ms needs %" PRId64
				  " bytes%s; then restart it",
				  f->rmem_default, DATAGRAM_TRUESIZE, holds, rate, f->sample_ms,
				  PAUSE_MS, need, max),
			 "sysctl -w net.core.rmem_max=%" PRId64 " net.core.rmem_default=%" PRId64,
			 f->rmem_max > power_of_two(need) ? f->rmem_max : power_of_two(need),
			 power_of_two(need));
}

static void reverse_path(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	xsf_fact_t is = f->rp_all > f->rp_iface ? f->rp_all : f->rp_iface;
	char dropped[64] = "", key[XSF_WORD_LEN], word[XSF_WORD_LEN];
	size_t n;

	if (f->rp_all < 0 || f->rp_iface < 0) {
		xsf_find_unknown(d, f, "rp_filter", "reverse-path filter",
				 f->rp_all < 0 ? f->rp_all : f->rp_iface);
		return;
	}
	if (f->rp_dropped > 0)
		snprintf(dropped, sizeof(dropped), "; %" PRId64 " packets dropped so far",
			 f->rp_dropped);
	/* The kernel takes the larger of the two (Documentation/networking/ip-sysctl.rst). */
	if (is != 1) {
		xsf_find(d, "rp_filter", XSF_LEVEL_OK, "%s (all %" PRId64 ", %s %" PRId64 ")%s",
			 is ? "loose" : "off", f->rp_all, f->iface, f->rp_iface, dropped);
		return;
	}
	snprintf(key, sizeof(key), "net/ipv4/conf/%s/rp_filter=2", f->iface);
	n = strlen(f->iface);
	if (n == strcspn(f->iface, "."))
		snprintf(key, sizeof(key), "net.ipv4.conf.%s.rp_filter=2", f->iface);
	xsf_mend(xsf_find(d, "rp_filter", XSF_LEVEL_WARN,
			  "strict (all %" PRId64 ", %s %" PRId64
			  "): IPv4 datagrams whose source is "
			  "routed through another interface are dropped behind XDP%s",
			  f->rp_all, f->iface, f->rp_iface, dropped),
		 "sysctl -w %s",
		 strpbrk(f->iface, "'\"$`\\;&|<>()*?[]#~!{} ") ? xsf_doctor_word(key, word) : key);
}

static int plain(const char *name)
{
	return *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_")] == 0;
}

/* Ports of the list that a chain does not accept, as "4739, 6343". */
static void not_accepted(const struct xsf_facts *f, uint32_t accepted, char *out, size_t size)
{
	size_t len = 0;

	out[0] = 0;
	for (uint32_t n = 0; n < f->nr_ports && len < size; n++) {
		if (!(accepted >> n & 1))
			len += (size_t)snprintf(out + len, size - len, "%s%u", len ? ", " : "",
						f->ports[n]);
	}
}

static void chain(const struct xsf_facts *f, const struct xsf_doctor_chain *c,
		  struct xsf_diagnosis *d)
{
	char ports[128], rules[48] = "";
	struct xsf_finding *found;

	not_accepted(f, c->accepted, ports, sizeof(ports));
	if (c->drops)
		snprintf(rules, sizeof(rules), "%" PRIu32 " rule(s) that drop or reject", c->drops);
	if (!ports[0]) {
		xsf_find(d, "firewall", XSF_LEVEL_OK,
			 "nftables %s %s %s accepts the telemetry ports before it drops", c->family,
			 c->table, c->name);
		return;
	}
	found = xsf_find(
		d, "firewall", XSF_LEVEL_WARN,
		"nftables %s %s %s: %s%s%s; UDP to %s may not reach a collector (XDP counts it "
		"before)",
		c->family, c->table, c->name, c->policy_drop ? "policy drop" : "",
		c->policy_drop && rules[0] ? ", " : "", rules, ports);
	if (plain(c->table) && plain(c->name))
		xsf_mend(found, "nft insert rule %s %s %s udp dport '{ %s }' accept", c->family,
			 c->table, c->name, ports);
	else
		xsf_mend(found, "nft list ruleset");
}

static void firewall(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	if (f->chains < 0)
		xsf_find_unknown(d, f, "firewall", "nftables", f->chains);
	for (uint32_t n = 0; n < f->nr_chains; n++)
		chain(f, &f->chain[n], d);
	if (f->chains > f->nr_chains)
		xsf_mend(xsf_find(d, "firewall", XSF_LEVEL_UNKNOWN,
				  "nftables: %" PRId64 " more chains may drop",
				  f->chains - f->nr_chains),
			 "nft list ruleset");
	else if (!f->chains)
		xsf_find(d, "firewall", XSF_LEVEL_OK, "nftables drops nothing at input");
	if (f->legacy > 0) {
		if (f->legacy & 1)
			xsf_mend(xsf_find(d, "firewall", XSF_LEVEL_WARN,
					  "iptables of the old kind has rules that may drop "
					  "telemetry"),
				 "iptables-legacy -L INPUT -v -n");
		if (f->legacy & 2)
			xsf_mend(xsf_find(d, "firewall", XSF_LEVEL_WARN,
					  "ip6tables of the old kind has rules that may drop "
					  "telemetry"),
				 "ip6tables-legacy -L INPUT -v -n");
	} else if (f->legacy < 0) {
		xsf_find_unknown(d, f, "firewall", "iptables of the old kind", f->legacy);
	}
}

/* Ports somebody listens on, as "6343,2055". */
static void heard(const struct xsf_facts *f, char *out, size_t size)
{
	size_t len = 0;

	out[0] = 0;
	for (uint32_t n = 0; n < f->nr_ports && len < size; n++) {
		for (uint32_t s = 0; s < f->nr_sockets; s++) {
			if (f->socket[s].port != f->ports[n] || f->socket[s].loopback)
				continue;
			len += (size_t)snprintf(out + len, size - len, "%s%u", len ? "," : "",
						f->ports[n]);
			break;
		}
	}
}

/* Of IPFIX or NetFlow, which XDP does not count. */
static int is_flow_port(uint16_t port)
{
	return port == 4739 || port == 2055 || port == 9995 || port == 9996;
}

/* Those that our program counts, and this one. 0: there is no room. */
static int add_port(const struct xsf_facts *f, uint16_t port, uint16_t all[XSF_MAX_PORTS])
{
	int n = 0;

	memcpy(all, f->kept_ports, sizeof(f->kept_ports));
	while (n < XSF_MAX_PORTS && all[n] && all[n] != port)
		n++;
	if (n == XSF_MAX_PORTS)
		return 0;
	all[n] = port;
	return 1;
}

static void nobody(const struct xsf_facts *f, uint32_t n, int loopback, struct xsf_diagnosis *d)
{
	uint16_t port = f->ports[n];
	char ports[128], word[XSF_WORD_LEN], load[XSF_DOCTOR_LOAD];
	const char *iface = xsf_doctor_word(f->iface, word);
	uint16_t all[XSF_MAX_PORTS];
	struct xsf_finding *found;

	if (f->holder == XSF_XDP_OURS && f->consume && f->counted >> n & 1) {
		xsf_find(d, "listener", XSF_LEVEL_OK,
			 "UDP %u: nobody listens, nor needs to: XDP consumes it", port);
		return;
	}
	found = xsf_find(
		d, "listener", XSF_LEVEL_WARN,
		loopback ? "UDP %u: who listens does so on a loopback address: what comes "
			   "from the network is dropped" :
			   "UDP %u: nobody listens: what comes is dropped; start a collector, "
			   "or leave the port out",
		port);
	heard(f, ports, sizeof(ports));
	if (ports[0])
		xsf_mend(found, "xdp-sflow doctor %s --port %s", iface, ports);
	else if (is_flow_port(port))
		xsf_mend(found, "nfcapd -D -l /var/cache/nfdump -p %u", port);
	else if (f->holder == XSF_XDP_OURS && add_port(f, port, all) &&
		 xsf_doctor_load(f, " --consume", all, load)[0])
		xsf_mend(found, "%s", load);
	else if (f->holder == XSF_XDP_OURS)
		xsf_mend(found, "sfcapd -D -l /var/cache/nfdump -p %u", port);
	else
		xsf_mend(found, "xdp-sflow load %s --consume --port %u%s", iface, port,
			 xsf_doctor_no_native(f) ? " --mode generic" : "");
}

static void listener(const struct xsf_facts *f, const struct xsf_doctor_socket *s,
		     struct xsf_diagnosis *d)
{
	char who[64] = "a process that this user may not see";

	if (s->pid)
		snprintf(who, sizeof(who), "%.15s (pid %" PRIu32 ")", s->command, s->pid);
	if (!s->drops) {
		xsf_find(d, "listener", XSF_LEVEL_OK, "UDP %u over IPv%d: %s", s->port,
			 s->ipv6 ? 6 : 4, who);
		return;
	}
	xsf_mend(xsf_find(d, "listener", s->losing ? XSF_LEVEL_FAIL : XSF_LEVEL_WARN,
			  "UDP %u over IPv%d: %s: its socket has dropped %" PRIu64
			  " datagrams, %" PRIu64 " of them in the last %" PRIu32
			  " ms: a larger buffer, then restart it",
			  s->port, s->ipv6 ? 6 : 4, who, s->drops, s->losing, f->sample_ms),
		 "sysctl -w net.core.rmem_max=%" PRId64 " net.core.rmem_default=%" PRId64,
		 f->rmem_max > (16 << 20) ? f->rmem_max : (xsf_fact_t)16 << 20,
		 f->rmem_default > (16 << 20) ? f->rmem_default : (xsf_fact_t)16 << 20);
}

static void listeners(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	if (f->sockets < 0) {
		xsf_find_unknown(d, f, "listener", "UDP sockets", f->sockets);
		return;
	}
	for (uint32_t n = 0; n < f->nr_ports; n++) {
		int found = 0, loopback = 0;

		for (uint32_t s = 0; s < f->nr_sockets; s++) {
			if (f->socket[s].port != f->ports[n])
				continue;
			if (f->socket[s].loopback && !f->loopback) {
				loopback = 1;
				continue;
			}
			listener(f, &f->socket[s], d);
			found = 1;
		}
		if (!found)
			nobody(f, n, loopback, d);
	}
}

void xsf_diagnose_receiving(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	buffers(f, d);
	reverse_path(f, d);
	firewall(f, d);
	listeners(f, d);
}
