// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Facts that were made up, and what the ledger makes of them: stages, what is unexplained, what mends it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>
#include "model/ledger.h"
#include "serve/ledger.h"

#define NR_ROWS 300

static struct xsf_ledger l;
static struct xsf_ledger_facts f;
static struct xsf_ledger_row rows[NR_ROWS];

/* eth0 (2), which stands under br0 (3); port 4739 and, beyond the usual ones, 9995. */
static int fresh(void **state)
{
	(void)state;
	memset(&l, 0, sizeof(l));
	memset(&f, 0, sizeof(f));
	memset(rows, 0, sizeof(rows));
	f.ports[0] = 4739;
	f.ports[1] = 9995;
	f.nr_ports = 2;
	f.rows = rows;
	f.rmem_max = 212992;
	f.rmem_default = 212992;
	f.max_backlog = 1000;
	l.device[0] =
		(struct xsf_ledger_device){ .ifindex = 2, .name = "eth0", .arrives = 1, .ends = 1 };
	l.device[1] = (struct xsf_ledger_device){ .ifindex = 3, .name = "br0", .ends = 1 };
	l.device[0].nic.rx_packets = 1000;
	l.nr_devices = 2;
	return 0;
}

static void row(enum xsf_ledger_event event, uint32_t ifindex, uint16_t port, uint64_t count,
		const char *reason, const char *where)
{
	struct xsf_ledger_row *r = &rows[f.nr_rows++];

	r->key.event = (uint8_t)event;
	r->key.ifindex = ifindex;
	r->key.port = port;
	r->key.family = 6;
	r->count = count;
	snprintf(r->reason, sizeof(r->reason), "%s", reason);
	snprintf(r->where, sizeof(r->where), "%s", where);
}

static uint64_t stage(unsigned int port, enum xsf_ledger_stage s)
{
	return l.port[port].stage[s];
}

static int measured(unsigned int port, enum xsf_ledger_stage s)
{
	return l.port[port].measured >> s & 1;
}

static void adds_up(void **state)
{
	(void)state;
	row(XSF_LEDGER_STACK, 2, 4739, 100, "", "");
	row(XSF_LEDGER_STACK_FIRST, 2, 4739, 10, "", "");
	row(XSF_LEDGER_STACK_LATER, 2, 0, 11, "", "");
	row(XSF_LEDGER_HANDED, 2, 4739, 80, "", "");
	row(XSF_LEDGER_FORWARDED, 2, 4739, 5, "", "");
	row(XSF_LEDGER_DROP, 2, 4739, 7, "NO_SOCKET", "__udp6_lib_rcv");
	row(XSF_LEDGER_DROP, 2, 4739, 6, "UDP_CSUM", "__udp6_lib_rcv");
	row(XSF_LEDGER_DROP, 2, 4739, 4, "FRAG_REASM_TIMEOUT", "");
	row(XSF_LEDGER_DROP, 2, 4739, 3, "SOME_NEW_REASON", "elsewhere");
	row(XSF_LEDGER_DROP, 2, 0, 2, "FRAG_REASM_TIMEOUT", "");
	/* By name, though the event does not say so. */
	row(XSF_LEDGER_DROP, 2, 4739, 9, "SOCKET_RCVBUFF", "");
	row(XSF_LEDGER_DROP_AFTER, 2, 4739, 8, "UDP_CSUM", "udpv6_recvmsg");
	xsf_ledger_build(&l, &f);
	assert_int_equal(l.port[0].arrived, 110);
	assert_int_equal(stage(0, XSF_STAGE_stack), 110);
	assert_int_equal(stage(0, XSF_STAGE_fragmented), 10);
	assert_int_equal(stage(0, XSF_STAGE_handed), 80);
	assert_int_equal(stage(0, XSF_STAGE_forwarded), 5);
	assert_int_equal(stage(0, XSF_STAGE_no_listener), 7);
	assert_int_equal(stage(0, XSF_STAGE_checksum), 6);
	assert_int_equal(stage(0, XSF_STAGE_reassembly), 4);
	assert_int_equal(stage(0, XSF_STAGE_dropped), 3);
	assert_int_equal(stage(0, XSF_STAGE_buffer_full), 9);
	assert_int_equal(stage(0, XSF_STAGE_checksum_read), 8);
	/* 110 - 80 - 5 - 7 - 6 - 4 - 3; what came after handing is no second end. */
	assert_int_equal(l.port[0].unexplained, 5);
	assert_int_equal(l.port[1].unexplained, 0);
	assert_int_equal(l.later_fragments, 11);
	assert_int_equal(l.later_fragments_dropped, 2);
	assert_false(measured(0, XSF_STAGE_xdp));
	assert_false(measured(0, XSF_STAGE_wrong_checksum));
	assert_true(measured(0, XSF_STAGE_buffer_full));
}

static void below_zero(void **state)
{
	(void)state;
	row(XSF_LEDGER_STACK, 2, 4739, 1, "", "");
	row(XSF_LEDGER_HANDED, 2, 4739, 3, "", "");
	xsf_ledger_build(&l, &f);
	assert_int_equal(l.port[0].unexplained, -2);
}

static void xdp_in_front(void **state)
{
	static const struct xsf_ledger_seen seen[] = {
		{ .ifindex = 2,
		  .port = 4739,
		  .datagrams = 50,
		  .fragments_first = 5,
		  .consumed = 20,
		  .denied = 3 },
		{ .ifindex = 9, .port = 4739, .datagrams = 1000 }, /* not here */
		{ .ifindex = 2, .port = 9995, .datagrams = 7 },	   /* of an earlier program */
	};
	static const struct xsf_ledger_csum csum[] = { { .port = 4739, .wrong = 4, .repaired = 2 },
						       { .port = 1, .wrong = 9 } };

	(void)state;
	l.device[0].xdp = 1;
	f.seen = seen;
	f.nr_seen = 3;
	f.csum = csum;
	f.nr_csum = 2;
	/* Generic mode: the stack sees what XDP then drops, and the kernel says so once more. */
	row(XSF_LEDGER_STACK, 2, 4739, 50, "", "");
	row(XSF_LEDGER_STACK_FIRST, 2, 4739, 5, "", "");
	row(XSF_LEDGER_DROP, 2, 4739, 23, "NOT_SPECIFIED", "do_xdp_generic");
	row(XSF_LEDGER_HANDED, 2, 4739, 32, "", "");
	row(XSF_LEDGER_STACK, 2, 9995, 7, "", "");
	row(XSF_LEDGER_HANDED, 2, 9995, 7, "", "");
	xsf_ledger_build(&l, &f);
	assert_int_equal(stage(0, XSF_STAGE_xdp), 55);
	assert_int_equal(stage(0, XSF_STAGE_stack), 55);
	assert_int_equal(l.port[0].arrived, 55);
	assert_int_equal(stage(0, XSF_STAGE_fragmented), 5);
	assert_int_equal(stage(0, XSF_STAGE_consumed), 20);
	assert_int_equal(stage(0, XSF_STAGE_denied), 3);
	assert_int_equal(stage(0, XSF_STAGE_dropped), 0);
	assert_int_equal(stage(0, XSF_STAGE_wrong_checksum), 4);
	assert_int_equal(stage(0, XSF_STAGE_repaired), 2);
	assert_int_equal(l.port[0].unexplained, 0);
	/* A port that the program does not look at: the stack is what arrived. */
	assert_false(measured(1, XSF_STAGE_xdp));
	assert_int_equal(l.port[1].arrived, 7);
	assert_int_equal(l.port[1].unexplained, 0);
	/* One that it is configured for. */
	l.device[0].xdp_ports[0] = 9995;
	xsf_ledger_build(&l, &f);
	assert_true(measured(1, XSF_STAGE_xdp));
	assert_int_equal(stage(1, XSF_STAGE_xdp), 7);
	assert_int_equal(l.port[1].arrived, 7);
}

/* The XDP of others is an end like any drop. */
static void foreign_xdp(void **state)
{
	(void)state;
	row(XSF_LEDGER_STACK, 2, 4739, 5, "", "");
	row(XSF_LEDGER_DROP, 2, 4739, 5, "XDP", "do_xdp_generic");
	xsf_ledger_build(&l, &f);
	assert_int_equal(stage(0, XSF_STAGE_dropped), 5);
	assert_int_equal(l.port[0].unexplained, 0);
}

static void taps_do_not_count(void **state)
{
	(void)state;
	row(XSF_LEDGER_STACK, 2, 4739, 5, "", "");
	row(XSF_LEDGER_HANDED, 2, 4739, 5, "", "");
	row(XSF_LEDGER_DROP, 2, 4739, 5, "PACKET_SOCK_ERROR", "packet_rcv");
	row(XSF_LEDGER_DROP, 2, 4739, 4, "NOT_SPECIFIED", "tpacket_rcv");
	xsf_ledger_build(&l, &f);
	assert_int_equal(l.port[0].unexplained, 0);
	assert_int_equal(stage(0, XSF_STAGE_dropped), 0);
	assert_int_equal(l.nr_drops, 2);
	assert_false(l.drop[0].counts);
}

/* Asked for eth0: arrivals there, ends also at the bridge above, nothing of others. */
static void one_interface(void **state)
{
	(void)state;
	strcpy(f.iface, "eth0");
	row(XSF_LEDGER_STACK, 2, 4739, 10, "", "");
	row(XSF_LEDGER_STACK, 3, 4739, 10, "", ""); /* once more, through the bridge */
	row(XSF_LEDGER_HANDED, 3, 4739, 10, "", "");
	row(XSF_LEDGER_STACK, 7, 4739, 4, "", "");
	row(XSF_LEDGER_HANDED, 7, 4739, 3, "", "");
	row(XSF_LEDGER_DROP, 7, 4739, 1, "NO_SOCKET", "");
	xsf_ledger_build(&l, &f);
	assert_int_equal(l.port[0].arrived, 10);
	assert_int_equal(stage(0, XSF_STAGE_handed), 10);
	assert_int_equal(stage(0, XSF_STAGE_no_listener), 0);
	assert_int_equal(l.port[0].unexplained, 0);
	/* Not asked for one: a device that is gone counts. */
	f.iface[0] = 0;
	xsf_ledger_build(&l, &f);
	assert_int_equal(l.port[0].arrived, 14);
	assert_int_equal(l.port[0].unexplained, 0);
}

/* Kernels that give no reason: by the function. */
static void without_reason(void **state)
{
	static const struct {
		const char *reason, *where;
		uint8_t after, after_then;
		int stage;
	} cases[] = {
		{ "NOT_SPECIFIED", "udpv6_recvmsg", 1, 1, XSF_STAGE_checksum_read },
		{ "NOT_SPECIFIED", "udp_recvmsg", 1, 1, XSF_STAGE_checksum_read },
		{ "NOT_SPECIFIED", "__first_packet_length", 1, 1, XSF_STAGE_checksum_read },
		{ "NOT_SPECIFIED", "__skb_queue_purge", 1, 1, XSF_STAGE_unread },
		{ "NOT_SPECIFIED", "ip6frag_expire_frag_queue", 0, 0, XSF_STAGE_reassembly },
		{ "NOT_SPECIFIED", "inet_frag_rbtree_purge", 0, 0, XSF_STAGE_reassembly },
		{ "NOT_SPECIFIED", "", 0, 0, XSF_STAGE_dropped },
		{ "NOT_SPECIFIED", "", 1, 1, XSF_STAGE_refused },
		{ "PROTO_MEM", "", 0, 1, XSF_STAGE_buffer_full },
		{ "SOCKET_FILTER", "", 0, 1, XSF_STAGE_refused },
		{ "CPU_BACKLOG", "", 0, 0, XSF_STAGE_backlog },
		{ "OTHERHOST", "", 0, 0, XSF_STAGE_no_route },
		{ "NETFILTER_DROP", "", 0, 0, XSF_STAGE_filtered },
		{ "PACKET_SOCK_ERROR", "", 0, 0, -1 },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		uint8_t after = cases[n].after;

		assert_int_equal(xsf_ledger_classify(cases[n].reason, cases[n].where, &after),
				 cases[n].stage);
		assert_int_equal(after, cases[n].after_then);
	}
}

static void bounds(void **state)
{
	(void)state;
	row(XSF_LEDGER_STACK, 2, 4739, XSF_LEDGER_DROPS + 5, "", "");
	for (int n = 0; n < XSF_LEDGER_DROPS + 5; n++) {
		row(XSF_LEDGER_DROP, 2, 4739, 1, "NO_SOCKET", "");
		snprintf(rows[f.nr_rows - 1].where, XSF_LEDGER_NAME, "function_%d", n);
	}
	/* The same once more is no further row. */
	row(XSF_LEDGER_DROP, 2, 4739, 2, "NO_SOCKET", "function_0");
	xsf_ledger_build(&l, &f);
	assert_int_equal(l.nr_drops, XSF_LEDGER_DROPS);
	assert_int_equal(l.more_drops, 5);
	assert_int_equal(l.drop[0].count, 3);
	assert_int_equal(stage(0, XSF_STAGE_no_listener), XSF_LEDGER_DROPS + 7);
	/* Built again, it is the same. */
	xsf_ledger_build(&l, &f);
	assert_int_equal(stage(0, XSF_STAGE_no_listener), XSF_LEDGER_DROPS + 7);
}

static void mends(enum xsf_ledger_stage s, uint8_t family, const char *want)
{
	char buf[XSF_LEDGER_MEND];

	assert_string_equal(xsf_ledger_mend(&l, &l.port[0], s, family, buf, sizeof(buf)), want);
}

static void commands(void **state)
{
	(void)state;
	row(XSF_LEDGER_DROP, 2, 4739, 3, "IP_RPFILTER", "");
	row(XSF_LEDGER_DROP, 2, 4739, 2, "OTHERHOST", "");
	row(XSF_LEDGER_DROP, 2, 4739, 1, "NETFILTER_DROP", "");
	xsf_ledger_build(&l, &f);
	/* No checksum program at all; then one, and nothing that it should repair. */
	mends(XSF_STAGE_checksum_read, 6, "xdp-sflow load eth0");
	l.facts.csum_measured = 1;
	mends(XSF_STAGE_wrong_checksum, 0, "xdp-sflow repair show eth0");
	mends(XSF_STAGE_checksum_read, 6, "xdp-sflow repair show eth0");
	mends(XSF_STAGE_checksum_read, 4, "tcpdump -c 20 -vvni eth0 'ip and udp port 4739'");
	mends(XSF_STAGE_dropped, 0, "xdp-sflow doctor eth0");
	mends(XSF_STAGE_buffer_full, 0,
	      "sysctl -w net.core.rmem_max=33554432 net.core.rmem_default=33554432");
	mends(XSF_STAGE_no_listener, 0, "ss -lunp 'sport = :4739'");
	mends(XSF_STAGE_no_route, 0,
	      "sysctl -w net.ipv4.conf.all.rp_filter=2 net.ipv4.conf.eth0.rp_filter=2");
	mends(XSF_STAGE_filtered, 0, "nft insert rule inet filter input udp dport 4739 accept");
	mends(XSF_STAGE_backlog, 0, "sysctl -w net.core.netdev_max_backlog=10000");
	mends(XSF_STAGE_handed, 0, "");
	f.rmem_max = 64 << 20;
	f.max_backlog = 30000;
	xsf_ledger_build(&l, &f);
	mends(XSF_STAGE_buffer_full, 0,
	      "sysctl -w net.core.rmem_max=134217728 net.core.rmem_default=134217728");
	mends(XSF_STAGE_backlog, 0, "sysctl -w net.core.netdev_max_backlog=60000");
}

/* `repair set` and `load` replace the policy: what they print is one policy, for all stages of all ports. */
static void checksum_commands(void **state)
{
	static const char merged[] = "xdp-sflow repair set eth0 --repair 4739,9995 --repair-from "
				     "2001:db8::/64 --maps /sys/fs/bpf/mine";
	struct xsf_csum_advice *a = &l.repair[1].advice;
	char buf[XSF_LEDGER_MEND];

	(void)state;
	xsf_ledger_build(&l, &f);
	l.facts.csum_measured = 1;
	strcpy(l.maps, "/sys/fs/bpf/mine");
	strcpy(l.repair[0].ifname, "eth7");
	strcpy(l.repair[1].ifname, "eth0");
	l.nr_repairs = 2;
	snprintf(a->command, sizeof(a->command), "%s", merged);
	strcpy(a->options, " --repair 4739,9995 --repair-from 2001:db8::/64");
	a->ports[0] = 4739;
	a->ports[1] = 9995;
	mends(XSF_STAGE_wrong_checksum, 0, merged);
	mends(XSF_STAGE_checksum, 6, merged);
	mends(XSF_STAGE_consumed, 0,
	      "xdp-sflow load eth0 --repair 4739,9995 --repair-from 2001:db8::/64 --maps "
	      "/sys/fs/bpf/mine");
	assert_string_equal(
		xsf_ledger_mend(&l, &l.port[1], XSF_STAGE_checksum_read, 6, buf, sizeof(buf)),
		merged);
	/* A port that only a line spoils. */
	a->ports[0] = 9995;
	a->ports[1] = 0;
	strcpy(l.facts.iface, "eth0");
	mends(XSF_STAGE_wrong_checksum, 0, "xdp-sflow repair show --maps /sys/fs/bpf/mine eth0");
	/* Another interface than the one that is looked at is no matter. */
	strcpy(l.facts.iface, "eth5");
	mends(XSF_STAGE_wrong_checksum, 0, "xdp-sflow repair show --maps /sys/fs/bpf/mine eth5");
}

static void device_commands(void **state)
{
	struct xsf_ledger_device *d = &l.device[0];
	char buf[XSF_LEDGER_MEND];

	(void)state;
	d->nic.rx_missed_errors = 5;
	d->ring = 256;
	d->ring_max = 4096;
	for (unsigned int n = 0; n < XSF_NR_NIC; n++) {
		const char *want = strcmp(xsf_ledger_nic_names[n], "rx_missed_errors") ?
					   "" :
					   "ethtool -G eth0 rx 4096";

		assert_string_equal(xsf_ledger_mend_nic(&l, d, n, buf, sizeof(buf)), want);
	}
}

/* The fullest ledger there can be, with names that need escaping. */
static void fill(void)
{
	f.nr_ports = XSF_LEDGER_PORTS;
	for (uint16_t n = 0; n < XSF_LEDGER_PORTS; n++)
		f.ports[n] = 65535 - n;
	for (int n = 0; n < XSF_LEDGER_DROPS; n++) {
		row(XSF_LEDGER_DROP, 2, (uint16_t)(65535 - n % XSF_LEDGER_PORTS), UINT64_MAX / 512,
		    "REASON_\"\\", "");
		snprintf(rows[n].where, XSF_LEDGER_NAME, "%040d\n", n);
	}
	for (uint32_t n = 0; n < XSF_LEDGER_DEVICES; n++) {
		struct xsf_ledger_device *d = &l.device[n];

		d->ifindex = n + 2;
		d->arrives = d->ends = 1;
		strcpy(d->name, "\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"");
		memset(&d->nic, 0x7f, sizeof(d->nic));
		d->nr_driver = XSF_LEDGER_DRIVER;
		for (int i = 0; i < XSF_LEDGER_DRIVER; i++)
			snprintf(d->driver[i].name, XSF_LEDGER_NAME, "\"%031d", i);
	}
	l.nr_devices = XSF_LEDGER_DEVICES;
	xsf_ledger_build(&l, &f);
	l.nr_sockets = XSF_LEDGER_SOCKETS;
	l.nr_agents = XSF_LEDGER_AGENTS;
	l.agents_measured = 1;
	l.lost_before = l.agent[0].lost = -3;
	memset(l.socket, 0x7e, sizeof(l.socket));
}

static void json_of_the_fullest(void **state)
{
	struct xsf_text t = { .buf = malloc(XSF_LEDGER_DOCUMENT), .max = XSF_LEDGER_DOCUMENT };
	json_t *root, *port;
	json_error_t why;

	(void)state;
	fill();
	xsf_ledger_json(&l, &t);
	assert_false(t.full);
	assert_int_equal(t.buf[t.len - 1], '\n');
	assert_null(memchr(t.buf, '\n', t.len - 1));
	root = json_loadb(t.buf, t.len, JSON_REJECT_DUPLICATES, &why);
	assert_non_null(root);
	assert_int_equal(json_array_size(json_object_get(root, "devices")), XSF_LEDGER_DEVICES);
	assert_int_equal(json_array_size(json_object_get(root, "ports")), XSF_LEDGER_PORTS);
	assert_int_equal(json_integer_value(json_object_get(root, "lost_before")), -3);
	port = json_array_get(json_object_get(root, "ports"), 0);
	assert_true(json_integer_value(json_object_get(port, "unexplained")) < 0);
	assert_null(json_object_get(json_object_get(port, "stages"), "xdp"));
	json_decref(root);
	t.len = 0;
	xsf_ledger_text(&l, &t);
	assert_false(t.full);
	free(t.buf);
}

static void json_values(void **state)
{
	struct xsf_text t = { .buf = malloc(XSF_LEDGER_DOCUMENT), .max = XSF_LEDGER_DOCUMENT };
	json_t *root, *port;

	(void)state;
	strcpy(f.iface, "eth0");
	f.seconds = 2.5;
	row(XSF_LEDGER_STACK, 2, 4739, 9, "", "");
	row(XSF_LEDGER_DROP, 2, 4739, 7, "NO_SOCKET", "__udp6_lib_rcv");
	xsf_ledger_build(&l, &f);
	xsf_ledger_json(&l, &t);
	root = json_loadb(t.buf, t.len, 0, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "interface")), "eth0");
	assert_true(json_real_value(json_object_get(root, "seconds")) == 2.5);
	assert_null(json_object_get(root, "lost_before"));
	port = json_array_get(json_object_get(root, "ports"), 0);
	assert_int_equal(json_integer_value(json_object_get(port, "unexplained")), 2);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(port, "stages"), "no_listener")),
		7);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(port, "mend"), "no_listener")),
		"ss -lunp 'sport = :4739'");
	port = json_array_get(json_object_get(port, "drops"), 0);
	assert_string_equal(json_string_value(json_object_get(port, "reason")), "NO_SOCKET");
	assert_string_equal(json_string_value(json_object_get(port, "stage")), "no_listener");
	assert_false(json_is_true(json_object_get(port, "after_handing")));
	json_decref(root);
	/* The text says the same, and that two stages were not measured. */
	t.len = 0;
	xsf_ledger_text(&l, &t);
	xsf_text_char(&t, 0);
	assert_non_null(
		strstr(t.buf, "  no listener                           7   mend: ss -lunp"));
	assert_non_null(strstr(t.buf, "      NO_SOCKET in __udp6_lib_rcv, IPv6: 7\n"));
	assert_non_null(strstr(t.buf, "  unexplained                           2\n"));
	assert_non_null(strstr(t.buf, "  XDP saw                    not measured"));
	assert_non_null(strstr(t.buf, "\nPort 9995: nothing\n"));
	free(t.buf);
}

/* A document that does not fit says so. */
static void no_room(void **state)
{
	struct xsf_text t = { .buf = malloc(100), .max = 100 };

	(void)state;
	xsf_ledger_build(&l, &f);
	xsf_ledger_json(&l, &t);
	assert_true(t.full);
	assert_true(t.len <= 100);
	free(t.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(adds_up, fresh),
		cmocka_unit_test_setup(below_zero, fresh),
		cmocka_unit_test_setup(xdp_in_front, fresh),
		cmocka_unit_test_setup(foreign_xdp, fresh),
		cmocka_unit_test_setup(taps_do_not_count, fresh),
		cmocka_unit_test_setup(one_interface, fresh),
		cmocka_unit_test_setup(without_reason, fresh),
		cmocka_unit_test_setup(bounds, fresh),
		cmocka_unit_test_setup(commands, fresh),
		cmocka_unit_test_setup(checksum_commands, fresh),
		cmocka_unit_test_setup(device_commands, fresh),
		cmocka_unit_test_setup(json_of_the_fullest, fresh),
		cmocka_unit_test_setup(json_values, fresh),
		cmocka_unit_test_setup(no_room, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
