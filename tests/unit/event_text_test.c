// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A notification as a line of text and as JSON: each field, and nothing that breaks either. */
#include "event.h"

#include <jansson.h>
#include <xsf/drop_reasons.h>
#include "serve/event_json.h"
#include "serve/event_text.h"

static char line[XSF_EVENT_LINE + 1], json_line[XSF_EVENT_JSON + 1];

static const char *text_of(const struct xsf_event *e, const char *node, const char *ifname)
{
	struct xsf_text t = { .buf = line, .max = XSF_EVENT_LINE };
	struct xsf_event_view v;

	event_see(&v, e, node, ifname);
	xsf_event_text(&t, &v);
	assert_false(t.full);
	line[t.len] = 0;
	assert_int_equal(strlen(line), t.len);
	return line;
}

static json_t *json_of(const struct xsf_event *e, const char *node, const char *ifname)
{
	struct xsf_text t = { .buf = json_line, .max = XSF_EVENT_JSON };
	struct xsf_event_view v;
	json_error_t error;
	json_t *root;

	event_see(&v, e, node, ifname);
	xsf_event_json(&t, &v);
	assert_false(t.full);
	json_line[t.len] = 0;
	assert_null(strchr(json_line, '\n'));
	root = json_loads(json_line, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("%d: %s in %s", error.column, error.text, json_line);
	return root;
}

static void is_int(json_t *root, const char *key, uint64_t want)
{
	if (!json_is_integer(json_object_get(root, key)))
		fail_msg("%s is no integer in %s", key, json_line);
	assert_int_equal(json_integer_value(json_object_get(root, key)), want);
}

static void is_str(json_t *root, const char *key, const char *want)
{
	if (!json_is_string(json_object_get(root, key)))
		fail_msg("%s is no string in %s", key, json_line);
	assert_string_equal(json_string_value(json_object_get(root, key)), want);
}

/* One of everything. */
static struct xsf_event full_event(void)
{
	struct xsf_event e = event_of(258, 3);
	struct wire w = { .len = 0 };

	wire_roce4(&w, 6, 3, 32);
	event_header(&e, &w, 1);
	e.agent.sub_agent = 9;
	e.index = 3;
	e.output = 4;
	e.flags |= XSF_EVENT_HAS_QUEUE | XSF_EVENT_HAS_DEPTH | XSF_EVENT_HAS_DELAY |
		   XSF_EVENT_HAS_TIME | XSF_EVENT_DUPLICATE | XSF_EVENT_TRAP_CUT;
	e.shed = 8;
	e.queue = 5;
	e.depth = 1500;
	e.delay_ns = 250;
	e.timestamp_ns = UINT64_MAX;
	event_text(e.function, &e.function_len, "nft_do_chain+0x1/0x2");
	event_text(e.linux_reason, &e.linux_len, "NETFILTER_DROP");
	event_text(e.trap_group, &e.trap_group_len, "l2 drops");
	event_text(e.trap, &e.trap_len, "a\"b\\c\nd");
	return e;
}

static void test_line(void **state)
{
	struct xsf_event e = full_event();

	(void)state;
	assert_string_equal(
		text_of(&e, "leaf1", "swp3"),
		"leaf1 swp3 acl output=swp3 function=nft_do_chain+0x1/0x2 linux=NETFILTER_DROP "
		"group=\"l2 drops\" trap=\"a\\\"b\\\\c\\nd\"... queue=5 depth=1500 delay=250ns "
		"duplicate | IP 192.0.2.1.49152 > 198.51.100.10.4791: UDP RoCE RC RDMA WRITE First "
		"qp 0x000011 psn 7 dma 0 CE, length 86");
	e = event_of(4711, 0);
	assert_string_equal(text_of(&e, NULL, "never"), "10.0.0.1 ? 4711 | no header");
	e.index = 12;
	assert_string_equal(text_of(&e, "a b", NULL), "\"a b\" 12 4711 | no header");
	e.class = 2;
	assert_string_equal(text_of(&e, "", NULL), "10.0.0.1 ? 4711 | no header");
	e.delay_ns = UINT32_MAX;
	e.flags = XSF_EVENT_HAS_DELAY;
	assert_string_equal(text_of(&e, NULL, NULL),
			    "10.0.0.1 ? 4711 delay>=4294967295ns | no header");
}

/* Of each kind of packet what is behind the last bar. */
static void is_packet(const struct wire *w, uint32_t protocol, const char *want)
{
	struct xsf_event e = event_of(0, 1);
	const char *got;

	event_header(&e, w, protocol);
	got = strstr(text_of(&e, "s", "p"), " | ");
	assert_non_null(got);
	assert_string_equal(got + 3, want);
}

static void wire_tcp(struct wire *w, uint32_t flags)
{
	wire_ip4(w, 0, 6, 0, 0, 20);
	wire_16(w, 1234);
	wire_16(w, 80);
	wire_32(w, 100);
	wire_32(w, 200);
	wire_16(w, 5 << 12 | flags);
	wire_fill(w, 0, 6);
}

static void test_packets(void **state)
{
	struct wire w = { .len = 0 };

	(void)state;
	wire_eth(&w, 0x8100);
	wire_tag(&w, 100, 0x8100);
	wire_tag(&w, 20, 0x0800);
	wire_tcp(&w, 0x12);
	is_packet(&w, 1,
		  "vlan 100.20, IP 192.0.2.1.1234 > 198.51.100.10.80: TCP [S.] seq 100 ack 200, "
		  "length 62");
	w.len = 0;
	wire_tcp(&w, 0);
	is_packet(&w, 11, "IP 192.0.2.1.1234 > 198.51.100.10.80: TCP [none] seq 100, length 40");
	w.len = 0;
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 0, 1, 0, 0, 8);
	wire_8(&w, 8);
	wire_fill(&w, 0, 7);
	is_packet(&w, 1,
		  "IP 192.0.2.1 > 198.51.100.10: ICMP echo request type 8 code 0, length 42");
	w.len = 0;
	wire_eth(&w, 0x0806);
	wire_32(&w, 0x00010800);
	wire_32(&w, 0x06040001);
	wire_bytes(&w, "\x02\0\0\0\0\x01\x0a\x01\0\x01\0\0\0\0\0\0\x0a\x01\0\x02", 20);
	is_packet(&w, 1,
		  "02:00:00:00:00:01 > 02:00:00:00:00:02, ARP who-has 10.1.0.2 tell 10.1.0.1, "
		  "length 42");
	w.len = 0;
	wire_eth(&w, 0x88cc);
	is_packet(&w, 1, "02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype 0x88cc, length 14");
	w.len = 0;
	wire_ip6(&w, 0, 253, 0);
	is_packet(&w, 12, "IP6 2001:db8::1 > 2001:db8:ffff::10: protocol 253, length 40");
	w.len = 0;
	wire_fill(&w, 0, 10);
	is_packet(&w, 1, "[cut], length 10");
	is_packet(&w, 7, "header protocol 7, length 10");
	w.len = 0;
	is_packet(&w, 1, "[cut], length 0");
}

/* Host sFlow leaves out the checksum, and says that it took it off. */
static void test_length(void **state)
{
	struct xsf_event e = event_of(0, 1);
	struct xsf_event_view v;
	struct wire w = { .len = 0 };

	(void)state;
	wire_eth(&w, 0x0800);
	wire_tcp(&w, 0);
	event_header(&e, &w, 1);
	event_see(&v, &e, NULL, NULL);
	assert_int_equal(v.length, 54);
	e.frame_len = 54;
	event_see(&v, &e, NULL, NULL);
	assert_int_equal(v.length, 54);
	e.frame_len = 1504;
	event_see(&v, &e, NULL, NULL);
	assert_int_equal(v.length, 1500);
	e.header_kept = e.header_len = 10;
	event_see(&v, &e, NULL, NULL);
	assert_int_equal(v.length, 1500);
	e.stripped = 5000; /* more than there was */
	event_see(&v, &e, NULL, NULL);
	assert_int_equal(v.length, 1504);
	e.frame_len = 0;
	event_see(&v, &e, NULL, NULL);
	assert_int_equal(v.length, 10);
}

static void test_drop_time(void **state)
{
	struct xsf_event e = event_of(0, 1);
	struct xsf_event_view v;

	(void)state;
	e.timestamp_ns = AT_NS - 5;
	event_see(&v, &e, NULL, NULL);
	assert_true(xsf_event_drop_time(&v) == AT_NS);
	e.flags = XSF_EVENT_HAS_TIME;
	assert_true(xsf_event_drop_time(&v) == AT_NS - 5);
	e.timestamp_ns = AT_NS + 3600000000001ull;
	assert_true(xsf_event_drop_time(&v) == AT_NS);
	e.timestamp_ns = AT_NS - 3600000000001ull;
	assert_true(xsf_event_drop_time(&v) == AT_NS);
	e.timestamp_ns = UINT64_MAX;
	assert_true(xsf_event_drop_time(&v) == AT_NS);
	e.timestamp_ns = 0;
	assert_true(xsf_event_drop_time(&v) == AT_NS);
}

static void test_json(void **state)
{
	struct xsf_event e = full_event();
	json_t *root = json_of(&e, "leaf1", "swp3"), *packet = json_object_get(root, "packet");
	json_t *roce = json_object_get(packet, "roce");

	(void)state;
	is_str(root, "time", "2025-12-01T05:44:21.123456789Z");
	is_str(root, "switch", "leaf1");
	is_str(root, "port", "swp3");
	is_str(root, "reason", "acl");
	is_int(root, "reason_code", 258);
	is_str(root, "agent", "10.0.0.1");
	is_int(root, "sub_agent", 9);
	is_int(json_object_get(root, "source"), "class", 0);
	is_int(json_object_get(root, "source"), "index", 3);
	is_int(root, "input", 3);
	is_int(root, "output", 4);
	is_int(root, "sequence", 7);
	is_int(root, "drops", 3);
	is_str(root, "function", "nft_do_chain+0x1/0x2");
	assert_null(json_object_get(root, "function_cut"));
	is_str(root, "trap_group", "l2 drops");
	is_str(root, "trap", "a\"b\\c\nd");
	assert_true(json_is_true(json_object_get(root, "trap_cut")));
	is_str(root, "linux_reason", "NETFILTER_DROP");
	is_int(root, "queue", 5);
	is_int(root, "queue_depth_bytes", 1500);
	is_int(root, "transit_delay_ns", 250);
	assert_null(json_object_get(root, "transit_delay_at_least"));
	is_str(root, "timestamp", "18446744073709551615");
	assert_true(json_is_true(json_object_get(root, "duplicate")));
	is_int(root, "shed", 8);
	is_int(root, "header_protocol", 1);
	is_int(root, "frame_length", 90);
	is_int(root, "stripped", 4);
	is_int(root, "header_length", 86);
	assert_int_equal(json_string_length(json_object_get(root, "header")), 2 * 86);
	is_str(packet, "stack", "eth.ip.udp.ibbt");
	is_int(packet, "length", 86);
	is_str(packet, "mac_source", "02:00:00:00:00:01");
	is_str(packet, "source", "192.0.2.1");
	is_int(packet, "destination_port", 4791);
	is_int(packet, "ecn", 3);
	is_int(roce, "opcode", 6);
	is_str(roce, "operation", "RDMA_WRITE");
	is_int(roce, "dest_qp", 0x11);
	is_int(roce, "psn", 7);
	json_decref(root);
	e = event_of(4711, 0);
	root = json_of(&e, NULL, NULL);
	is_str(root, "reason", "4711");
	is_str(root, "switch", "10.0.0.1");
	assert_null(json_object_get(root, "port"));
	assert_null(json_object_get(root, "packet"));
	assert_null(json_object_get(root, "queue"));
	assert_null(json_object_get(root, "timestamp"));
	json_decref(root);
}

/* Every reason has its name, in any form; other codes their number. */
static void test_reasons(void **state)
{
	static const struct {
		uint32_t code;
		const char *name;
	} known[] = {
#define REASON(code, name, category) { code, #name },
		XSF_DROP_REASONS(REASON)
	};
	uint32_t names = 0, unknown = 0;
	char want[64];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct xsf_event e = event_of(known[i].code, 1);
		json_t *root = json_of(&e, "s", "p");

		snprintf(want, sizeof(want), "s p %s | no header", known[i].name);
		assert_string_equal(text_of(&e, "s", "p"), want);
		is_str(root, "reason", known[i].name);
		is_int(root, "reason_code", known[i].code);
		json_decref(root);
		names += known[i].code != 33 && known[i].code != 36;
	}
	assert_int_equal(names, 133);
	for (uint32_t code = 1000; unknown < 1000; code += 4294967, unknown++) {
		struct xsf_event e = event_of(code, 1);

		snprintf(want, sizeof(want), "s p %u | no header", code);
		assert_string_equal(text_of(&e, "s", "p"), want);
	}
}

/* One line of valid UTF-8 without control characters, whatever the bytes. */
static void is_clean(const char *s)
{
	json_t *text = json_string(s); /* refuses what is not UTF-8 */

	if (!text)
		fail_msg("not UTF-8: %s", s);
	json_decref(text);
	for (; *s; s++)
		assert_true((uint8_t)*s >= 0x20 && *s != 0x7f);
}

static void test_hostile(void **state)
{
	static const char longest[XSF_VIEW_NAME * 2] = { [0 ... XSF_VIEW_NAME * 2 - 2] = '\\' };
	static const char *const names[] = { "a\"b",	       "\n",   "\xff\xfe", "\033[2J",
					     "x\xe2\x80\xaey", longest };
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		const char *node = names[i % 6], *port = names[i / 6 % 6];
		struct xsf_event e;
		json_t *root;

		event_hostile(&e, &seed);
		is_clean(text_of(&e, node, port));
		root = json_of(&e, node, port);
		is_int(root, "reason_code", e.reason);
		is_clean(json_line);
		json_decref(root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),	cmocka_unit_test(test_packets),
		cmocka_unit_test(test_length),	cmocka_unit_test(test_drop_time),
		cmocka_unit_test(test_json),	cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
