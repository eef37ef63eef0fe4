// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Each field of flows, on the wire and inside VXLAN; bounds of keys, filters and tables. */
#include "flow_kit.h"

#include <time.h>

#include "model/flow_filter.h"
#include "model/flow_pattern.h"

enum packet { ROCE, ACK, TCP6, ARP, ICMP, ICMP6, TUNNEL, NR_PACKETS };

#define OUTER (14 + 20 + 8 + 8)

static void put_inner(struct xsf_frame *f, enum packet packet)
{
	static const uint8_t all[6] = { 255, 255, 255, 255, 255, 255 },
			     some[6] = { 1, 0, 94, 0, 0, 1 };
	struct xsf_frame_bth bth = { .opcode = 17, .flags = 0x80, .dest_qp = 5, .psn = 9 };
	struct xsf_frame_ip v4 = ip4(packet == ICMP ? 1 : NET_PROTO_UDP, 1);
	struct xsf_frame_ip v6 = { .ttl = 9, .tos = 0xb9, .proto = packet == TCP6 ? 6 : 58 };

	v6.src[0] = 0x20, v6.src[1] = 1, v6.src[15] = 1;
	v6.dst[0] = 0x20, v6.dst[1] = 1, v6.dst[15] = 2;
	switch (packet) {
	case ARP:
		xsf_frame_ethernet(f, all, mac_a, NET_TYPE_VLAN);
		xsf_frame_vlan(f, 5 << 13 | 77, 0x0806);
		xsf_frame_arp(f, mac_a, v4.src, v4.dst);
		break;
	case TCP6:
	case ICMP6:
		xsf_frame_ethernet(f, mac_b, mac_a, NET_TYPE_IP6);
		xsf_frame_ip6(f, &v6);
		if (packet == TCP6)
			xsf_frame_tcp(f, 179, 50000, 1, 1, 0x12);
		else
			xsf_frame_raw(f, "\x87\2\0\0\0\0\0\0", 8);
		break;
	case ICMP:
		xsf_frame_ethernet(f, some, mac_a, NET_TYPE_IP4);
		xsf_frame_ip4(f, &v4);
		xsf_frame_raw(f, "\3\1\0\0\0\0\0\0", 8);
		break;
	default:
		xsf_frame_ethernet(f, mac_b, mac_a, NET_TYPE_IP4);
		xsf_frame_ip4(f, &v4);
		xsf_frame_udp(f, 49152, 4791, 0);
		bth.opcode = packet == ROCE ? 6 : 17;
		xsf_frame_bth(f, &bth);
		if (packet == ROCE)
			xsf_frame_reth(f, 1, 2, 32768);
		else
			xsf_frame_aeth(f, 5, 1);
	}
}

/* The packet as it is, or inside VXLAN. */
static struct xsf_event event_of(enum packet packet, int inside)
{
	struct xsf_event e = base_event(0);
	struct xsf_frame_ip ip = ip4(NET_PROTO_UDP, 66);
	struct xsf_frame f;

	xsf_frame_begin(&f);
	if (inside || packet == TUNNEL) {
		xsf_frame_ethernet(&f, mac_a, mac_b, NET_TYPE_IP4);
		xsf_frame_ip4(&f, &ip);
		xsf_frame_udp(&f, 1000, NET_PORT_VXLAN, 0);
		xsf_frame_vxlan(&f, 7777);
	}
	put_inner(&f, packet == TUNNEL ? ROCE : packet);
	put_frame(&e, &f);
	e.flags |= XSF_EVENT_HAS_QUEUE | XSF_EVENT_HAS_DEPTH | XSF_EVENT_HAS_DELAY;
	e.queue = 4, e.depth = 4096, e.delay_ns = UINT32_MAX;
	e.function_len = e.trap_group_len = e.trap_len = e.linux_len = 2;
	memcpy(e.function, "fn", 2);
	memcpy(e.trap_group, "gr", 2);
	memcpy(e.trap, "tr", 2);
	memcpy(e.linux_reason, "li", 2);
	return e;
}

static const struct {
	const char *field;
	enum packet packet;
	const char *want;
} on_the_wire[] = {
	{ "agent", ROCE, "10.0.0.1" },
	{ "datasource", ROCE, "3" },
	{ "inputifindex", ROCE, "3" },
	{ "outputifindex", ROCE, "4" },
	{ "direction", ROCE, "ingress" },
	{ "reason", ROCE, "acl" },
	{ "function", ROCE, "fn" },
	{ "trapgroup", ROCE, "gr" },
	{ "trap", ROCE, "tr" },
	{ "linuxreason", ROCE, "li" },
	{ "queueindex", ROCE, "4" },
	{ "queuedepth", ROCE, "4096" },
	{ "transitdelay", ROCE, "4294967295" },
	{ "frames", ROCE, "1" },
	{ "bytes", ROCE, "142" }, /* 14 + 20 + 8 + 12 + 16 + 64, ICRC and FCS */
	{ "stripped", ROCE, "4" },
	{ "stack", ROCE, "eth.ip.udp.ibbt" },
	{ "stack", ICMP6, "eth.ip6.icmp6" },
	{ "stack", TUNNEL, "eth.ip.udp.vxlan.eth.ip.udp.ibbt" },
	{ "ibbtopcode", ACK, "17" },
	{ "ibbtopname", ACK, "ACK" },
	{ "ibbtoptransport", ACK, "RC" },
	{ "ibbtse", ACK, "true" },
	{ "ibbtm", ACK, "false" },
	{ "ibbttver", ACK, "0" },
	{ "ibbtdestqp", ACK, "5" },
	{ "ibbtack", ACK, "false" },
	{ "ibbtpsn", ACK, "9" },
	{ "ibbt_offset", ACK, "42" },
	{ "ibbt_offset", TUNNEL, "92" },
	{ "ibbtrdmalen", ROCE, "32768" },
	{ "ibbtrdmalen", ACK, "-" },
	{ "ibbtaethack", ACK, "6" }, /* five: IBTA volume 1, table 45 */
	{ "ibbtaethack", ROCE, "-" },
	{ "ibbtopcode", ICMP, "-" },
	{ "macsource", ARP, "0200000000AA" },
	{ "macdestination", ARP, "FFFFFFFFFFFF" },
	{ "ethernetprotocol", ARP, "2054" },
	{ "vlan", ARP, "77" },
	{ "priority", ARP, "5" },
	{ "priority", ROCE, "-" },
	{ "isunicast", ARP, "false" },
	{ "isbroadcast", ARP, "true" },
	{ "ismulticast", ARP, "false" },
	{ "ismulticast", ICMP, "true" },
	{ "isbroadcast", ICMP, "false" },
	{ "arpoperation", ARP, "1" },
	{ "arpmacsender", ARP, "0200000000AA" },
	{ "arpmactarget", ARP, "000000000000" },
	{ "arpipsender", ARP, "192.0.2.1" },
	{ "arpiptarget", ARP, "192.0.2.200" },
	{ "arpoperation", ICMP, "-" },
	{ "ipsource", ARP, "-" },
	{ "ipsource", ICMP, "192.0.2.1" },
	{ "ipdestination", ICMP, "192.0.2.200" },
	{ "ipprotocol", ICMP, "1" },
	{ "iptos", ICMP, "3" },
	{ "ipdscp", ICMP, "0" },
	{ "ipecn", ICMP, "11" },
	{ "ipttl", ICMP, "64" },
	{ "ipbytes", ICMP, "92" },
	{ "ip_offset", ICMP, "14" },
	{ "ipsource", ICMP6, "-" },
	{ "ip6source", ICMP6, "2001::1" },
	{ "ip6destination", ICMP6, "2001::2" },
	{ "ip6nexthdr", ICMP6, "58" },
	{ "ip6tos", ICMP6, "185" },
	{ "ip6dscp", ICMP6, "46" },
	{ "ip6ecn", ICMP6, "01" },
	{ "ip6ttl", ICMP6, "9" },
	{ "ip6bytes", ICMP6, "112" },
	{ "ip6_offset", ICMP6, "14" },
	{ "ip6source", ICMP, "-" },
	{ "icmptype", ICMP, "3" },
	{ "icmpcode", ICMP, "1" },
	{ "icmptype", ICMP6, "-" },
	{ "icmp6type", ICMP6, "135" },
	{ "icmp6code", ICMP6, "2" },
	{ "icmp6type", ICMP, "-" },
	{ "tcpsourceport", TCP6, "179" },
	{ "tcpdestinationport", TCP6, "50000" },
	{ "tcpflags", TCP6, "000010010" },
	{ "tcpflags", ROCE, "-" },
	{ "udpsourceport", ROCE, "49152" },
	{ "udpdestinationport", ROCE, "4791" },
	{ "udpsourceport", TCP6, "-" },
	{ "vxlanvni", TUNNEL, "7777" },
	{ "vxlanvni", ROCE, "-" },
};
#define CASES (sizeof(on_the_wire) / sizeof(on_the_wire[0]))

static void test_each_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		struct xsf_event e = event_of(on_the_wire[i].packet, 0);

		expect_keys(on_the_wire[i].field, &e, on_the_wire[i].want);
	}
	for (int field = 0; field < XSF_NR_FLOW_FIELDS; field++) {
		const char *name = xsf_flow_field_name(field);
		int found = 0;

		for (size_t i = 0; i < CASES; i++)
			found |= !strcmp(on_the_wire[i].field, name) &&
				 strcmp(on_the_wire[i].want, "-");
		if (!found)
			fail_msg("%s is not tested", name);
	}
}

/* What NAME is of a packet, NAME.1 is of that packet inside VXLAN, and NAME is that of the outer one. */
static void test_inner(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		struct xsf_event e = event_of(on_the_wire[i].packet, 1);
		const char *want = on_the_wire[i].want, *name = on_the_wire[i].field;
		int field = xsf_flow_field(name, strlen(name));
		char key[64], moved[16];

		if (field < (int)XSF_FLOW_FIELD_FIRST_INNER || on_the_wire[i].packet == TUNNEL)
			continue;
		if (strstr(name, "_offset")) {
			snprintf(moved, sizeof(moved), "%d", atoi(want) + OUTER);
			want = moved;
		}
		snprintf(key, sizeof(key), "%s.1", name);
		expect_keys(key, &e, want);
		snprintf(key, sizeof(key), "%s.2", name);
		expect_keys(key, &e, "-");
		expect_keys("ipsource,vxlanvni,udpsourceport,macsource", &e,
			    "192.0.2.66|7777|1000|0200000000BB");
	}
}

static void test_cut(void **state)
{
	struct xsf_event e = event_of(ROCE, 0);
	char want[XSF_FLOW_VALUE_TEXT + 1], key[512] = "null:vlan:";

	(void)state;
	for (int i = 0; i < XSF_FLOW_VALUE_TEXT; i += 2)
		memcpy(want + i, "tr", 2);
	want[XSF_FLOW_VALUE_TEXT] = '\0';
	memset(e.trap, 0, sizeof(e.trap));
	for (int i = 0; i < XSF_EVENT_TEXT; i += 2)
		memcpy(e.trap + i, "tr", 2);
	e.trap_len = XSF_EVENT_TEXT;
	expect_keys("concat::trap:trap:trap:trap", &e, want);
	expect_keys("concat::trap:trap:trap:trap:trap", &e, want);
	memset(want, 'x', XSF_FLOW_VALUE_TEXT);
	memset(key + strlen(key), 'x', XSF_FLOW_VALUE_TEXT + 1);
	expect_keys(key, &e, want);
}

/* 0, or where it is refused and not 0. */
static uint32_t refused_at(const char *keys, const char *filter)
{
	struct xsf_flow_options o = { .keys = keys, .value = "frames", .filter = filter, .t = 1 };
	struct xsf_flow_error error;
	struct xsf_flow *f;
	int err = xsf_flow_new(&o, &f, &error);

	xsf_flow_free(f);
	assert_true(err == 0 || (err == -EINVAL && error.at && error.why[0]));
	return err ? error.at : 0;
}

static char *repeat(const char *begin, const char *unit, size_t nr, const char *last,
		    const char *unit_after, const char *end)
{
	static char text[2 * XSF_FLOW_FILTER_TEXT];
	char *to = stpcpy(text, begin);

	for (size_t i = 0; i < nr; i++)
		to = stpcpy(to, unit);
	to = stpcpy(to, last);
	for (size_t i = 0; i < nr; i++)
		to = stpcpy(to, unit_after);
	stpcpy(to, end);
	return text;
}

static void test_bounds(void **state)
{
	(void)state;
	/* Nesting: a function in eight others is one too many. */
	assert_int_equal(refused_at(repeat("", "null:[", 7, "or:vlan:vlan", "]", ""), NULL), 0);
	assert_int_not_equal(refused_at(repeat("", "null:[", 8, "or:vlan:vlan", "]", ""), NULL), 0);
	assert_int_equal(refused_at("", repeat("", "(", 8, "vlan=1", ")", "")), 0);
	assert_int_equal(refused_at("", repeat("", "(", 9, "vlan=1", ")", "")), 8);
	/* Tests of a filter. */
	assert_int_equal(refused_at("", repeat("", "vlan=1|", 63, "vlan=1", "", "")), 0);
	assert_int_equal(refused_at("", repeat("", "vlan=1|", 64, "vlan=1", "", "")), 64 * 7);
	/* Arguments, bytes. */
	assert_int_equal(refused_at(repeat("or", ":vlan", 16, "", "", ""), NULL), 0);
	assert_int_not_equal(refused_at(repeat("or", ":vlan", 17, "", "", ""), NULL), 0);
	assert_int_equal(refused_at(repeat("null:vlan:", "x", 1014, "", "", ""), NULL), 0);
	assert_int_equal(refused_at(repeat("null:vlan:", "x", 1015, "", "", ""), NULL), 1024);
	assert_int_equal(refused_at(repeat("vlan,null:vlan:", "\\x", 508, "", "", ""), NULL), 1029);
	assert_int_equal(refused_at("", repeat("vlan=", "x", 4091, "", "", "")), 0);
	assert_int_equal(refused_at("", repeat("vlan=", "x", 4092, "", "", "")), 4096);
	assert_int_equal(refused_at(repeat("", "vlan,", 31, "vlan", "", ""), NULL), 0);
	assert_int_equal(refused_at(repeat("", "vlan,", 32, "vlan", "", ""), NULL), 32 * 5);
}

static void test_64_tests(void **state)
{
	struct xsf_event e = event_of(ROCE, 0);

	(void)state;
	expect_filter(repeat("", "ipttl=1|", 63, "ipttl=64", "", ""), &e, 1);
	expect_filter(repeat("", "ipttl=1|", 63, "ipttl=65", "", ""), &e, 0);
	expect_filter(repeat("", "ipttl=64&", 63, "ipttl=65", "", ""), &e, 0);
	expect_filter(repeat("", "ipttl=64&", 63, "ipttl=64", "", ""), &e, 1);
}

/* The longest filter of patterns that try all ways, on the longest texts. */
static void test_time(void **state)
{
	static const char *const units[] = { "(.*a)?", "(a|aa)*", "(a|b)*a", "(a*)*", "(a|b)" };
	struct xsf_event e = event_of(ROCE, 0);

	(void)state;
	memset(e.trap, 'a', XSF_EVENT_TEXT);
	e.trap_len = XSF_EVENT_TEXT;
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		char filter[XSF_FLOW_FILTER_TEXT + 1] = "", *to = filter;
		clock_t began;

		for (int i = 0; i < XSF_FLOW_PATTERNS / XSF_FLOW_PATTERN; i++) {
			to = stpcpy(to, to == filter ? "" : "|");
			to = stpcpy(to, "concat::trap:trap:trap:trap~");
			for (int left = 250; left > 8; left -= (int)strlen(units[u]))
				to = stpcpy(to, units[u]);
			to = stpcpy(to, "c");
		}
		began = clock();
		expect_filter(filter, &e, 0);
		/* Milliseconds; a matcher that goes back takes years. */
		assert_true(clock() - began < CLOCKS_PER_SEC / 2);
	}
}

static uint32_t now_role;

static uint32_t changing_role(void *arg, const struct xsf_event *e)
{
	(void)arg, (void)e;
	return now_role;
}

/* Texts are told apart as they are shown: what is shown alike is one flow. */
static void test_shown_alike(void **state)
{
	static const struct {
		const char *text;
		uint8_t len;
		const char *shown;
	} cases[] = {
		{ "a\x01z", 3, "a?z" },
		{ "a\x7fz", 3, "a?z" },
		{ "a\0z", 3, "a?z" },
		{ "a\xffz", 3, "a?z" },
		{ "a\xc3z", 3, "a?z" },
		{ "a?z", 3, "a?z" },
		{ "a\xc2\x80z", 4, "a??z" },
		{ "a\xe2\x80\xaez", 5, "a???z" },
		{ "a\xc3\xbfz", 4, "a\xc3\xbfz" },
		{ "a\nz", 3, "a\nz" },
		{ "a\\\"z", 4, "a\\\"z" },
	};
	struct xsf_flow_options o = { .keys = "trap", .value = "frames", .t = 1, .dropped = 1 };
	struct xsf_flow *f = flow_of(&o);
	struct xsf_event e = event_of(ROCE, 0);
	const struct xsf_flow_row *rows;
	struct xsf_flow_error error;
	char want[XSF_FLOW_VALUE_TEXT + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy(e.trap, cases[i].text, cases[i].len);
		e.trap_len = cases[i].len;
		expect_keys("trap", &e, cases[i].shown);
		xsf_flow_add(f, &names, &e, SECOND);
	}
	assert_int_equal(xsf_flow_rows(f, &everything, SECOND, &rows, &error), 6);
	xsf_flow_free(f);
	/* A character that does not fit is left out whole: 4 times 63 bytes, 3, and one is left. */
	e.trap_len = 63;
	e.trap[0] = 'a';
	for (int i = 1; i < 63; i += 2)
		memcpy(e.trap + i, "\xc3\xbf", 2);
	for (int i = 0; i < 4; i++)
		memcpy(want + 63 * (size_t)i, e.trap, 63);
	memcpy(want + 252, "a\xc3\xbf", 4);
	expect_keys("concat::trap:trap:trap:trap:trap", &e, want);
}

/* The bytes of all patterns have one bound. */
static void test_patterns(void **state)
{
	char filter[XSF_FLOW_FILTER_TEXT + 1] = "", *to = filter;
	struct xsf_event e = event_of(ROCE, 0);
	struct xsf_flow_options o = { .keys = "", .value = "frames", .filter = filter, .t = 1 };
	struct xsf_flow_error error;
	struct xsf_flow *f;

	(void)state;
	for (int i = 0; i < XSF_FLOW_PATTERNS / 32; i++)
		to += sprintf(to, "%sagent~%032d", i ? "|" : "", 0);
	expect_filter(filter, &e, 0);
	stpcpy(to, "&agent~1");
	assert_int_equal(xsf_flow_new(&o, &f, &error), -EINVAL);
	assert_string_equal(error.why, "patterns of more than 1024 bytes");
	assert_int_equal(error.at, to - filter + 7);
}

/* What came while the switch was at the edge stays there. */
static void test_role_changes(void **state)
{
	const struct xsf_flow_names changing = { .role = changing_role };
	struct xsf_flow_options o = { .keys = "ipsource", .value = "frames", .t = 1, .dropped = 1 };
	struct xsf_flow_query q = { .agents = "ALL", .max_flows = 10 };
	struct xsf_event e = event_of(ROCE, 0);
	struct xsf_flow *f = flow_of(&o);
	struct xsf_flow_counts counts;
	uint64_t now = SECOND;

	(void)state;
	now_role = XSF_ROLE_EDGE;
	for (int i = 0; i < 3; i++)
		xsf_flow_add(f, &changing, &e, now);
	now_role = XSF_ROLE_CORE;
	for (int i = 0; i < 5; i++)
		xsf_flow_add(f, &changing, &e, now);
	xsf_flow_count(f, &counts);
	assert_int_equal(counts.records, 2);
	assert_int_equal(counts.counted, 8);
	assert_true(fabs(only_value(f, &q, now) - 8) < 1e-9);
	q.aggregation = XSF_FLOW_EDGE;
	assert_true(fabs(only_value(f, &q, now) - 3) < 1e-9);
	q.aggregation = XSF_FLOW_CORE;
	assert_true(fabs(only_value(f, &q, now) - 5) < 1e-9);
	q.aggregation = XSF_FLOW_SUM;
	q.agents = "CORE";
	assert_true(fabs(only_value(f, &q, now) - 5) < 1e-9);
	xsf_flow_free(f);
}

/* Silent for ten t: their places are free again, which is no loss. */
static void test_forgotten(void **state)
{
	struct xsf_flow_options o = {
		.keys = "udpsourceport", .value = "frames", .t = 1, .dropped = 1
	};
	struct xsf_event e = event_of(ROCE, 0);
	struct xsf_flow *f = flow_of(&o);
	struct xsf_flow_counts counts;
	uint64_t now = SECOND;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		e.header[14 + 20] = (uint8_t)(i >> 8);
		e.header[14 + 21] = (uint8_t)i;
		xsf_flow_add(f, &names, &e, now);
	}
	xsf_flow_count(f, &counts);
	assert_int_equal(counts.records, 1000);
	now += 11 * SECOND;
	for (int i = 0; i < 1000; i++)
		xsf_flow_add(f, &names, &e, now);
	xsf_flow_count(f, &counts);
	assert_int_equal(counts.records, 1);
	assert_int_equal(counts.full, 0);
	xsf_flow_free(f);
}

/* The longest keys: memory is bounded, the largest flow stays. */
static void test_bytes(void **state)
{
	char keys[XSF_FLOW_KEYS * 40], *to = keys;
	struct xsf_flow_options o = {
		.keys = keys, .value = "frames", .t = 600, .dropped = 1, .seed = 3
	};
	struct xsf_event e = event_of(ROCE, 0), big;
	struct xsf_flow_query q = { .agents = "ALL", .max_flows = 1 };
	const uint32_t most = XSF_FLOW_BYTES / (XSF_FLOW_KEYS * (XSF_FLOW_VALUE_TEXT + 1));
	const struct xsf_flow_row *rows;
	struct xsf_flow_counts counts;
	struct xsf_flow_error error;
	struct xsf_flow *f;

	(void)state;
	for (int i = 0; i < XSF_FLOW_KEYS; i++)
		to = stpcpy(to, ",concat::trap:trap:trap:trap" + !i);
	f = flow_of(&o);
	memset(e.trap, 'a', XSF_EVENT_TEXT);
	e.trap_len = XSF_EVENT_TEXT;
	big = e;
	big.trap[0] = 'B';
	for (int i = 0; i < 100; i++)
		xsf_flow_add(f, &names, &big, SECOND);
	for (uint32_t i = 0; i < 3 * most; i++) {
		snprintf((char *)e.trap, XSF_EVENT_TEXT, "%063u", i);
		e.trap[XSF_EVENT_TEXT - 1] = 'a';
		xsf_flow_add(f, &names, &e, SECOND + i);
	}
	xsf_flow_count(f, &counts);
	assert_int_equal(counts.records, most);
	assert_int_equal(counts.full, 2 * most + 1);
	assert_int_equal(xsf_flow_rows(f, &q, 2 * SECOND, &rows, &error), 1);
	assert_int_equal(rows[0].keys[XSF_FLOW_KEYS - 1][0], 'B');
	xsf_flow_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_field),   cmocka_unit_test(test_inner),
		cmocka_unit_test(test_cut),	     cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_64_tests),     cmocka_unit_test(test_time),
		cmocka_unit_test(test_role_changes), cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_bytes),	     cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_shown_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
