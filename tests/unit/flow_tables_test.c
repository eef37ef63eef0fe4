// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables of groups and maps: what is found, what is refused, and that nothing is lost by a refusal. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "model/flow_tables.h"

static char why[XSF_FLOW_TABLE_WHY];

static int put(struct xsf_flow_tables *t, enum xsf_flow_table_kind kind, const char *name,
	       const char *json)
{
	return xsf_flow_tables_put(t, kind, name, json, strlen(json), why);
}

static void is_group(const struct xsf_flow_tables *t, const char *address, const char *group)
{
	const char *found = xsf_flow_tables_group(t, "g", address);

	if (!group != !found || (group && strcmp(group, found) != 0))
		fail_msg("%s: %s, not %s", address, found ? found : "none", group ? group : "none");
}

static void test_longest(void **state)
{
	struct xsf_flow_tables *t = xsf_flow_tables_new();

	(void)state;
	assert_int_equal(put(t, XSF_FLOW_GROUPS, "g",
			     "{\"ten\":[\"10.0.0.0/8\"],\"rack\":[\"10.1.2.0/24\",\"fd00:1::/32\"],"
			     "\"host\":[\"10.1.2.3\",\"10.1.2.5/32\",\"fd00:1::7\"],"
			     "\"half\":[\"128.0.0.0/1\"],\"ula\":[\"fc00::/"
			     "7\"],\"odd\":[\"10.1.2.128/25\"]}"),
			 0);
	is_group(t, "10.9.9.9", "ten");
	is_group(t, "10.1.2.4", "rack");
	is_group(t, "10.1.2.3", "host");
	is_group(t, "10.1.2.5", "host");
	is_group(t, "10.1.2.127", "rack");
	is_group(t, "10.1.2.128", "odd");
	is_group(t, "10.1.2.255", "odd");
	is_group(t, "10.1.3.0", "ten");
	is_group(t, "128.0.0.0", "half");
	is_group(t, "255.255.255.255", "half");
	is_group(t, "127.255.255.255", NULL);
	is_group(t, "11.0.0.0", NULL);
	is_group(t, "fd00:1::7", "host");
	is_group(t, "fd00:1::8", "rack");
	is_group(t, "fd00:2::7", "ula");
	is_group(t, "fe80::1", NULL);
	is_group(t, "::1", NULL);
	/* What is no address is in no group. */
	is_group(t, "", NULL);
	is_group(t, "10.1.2", NULL);
	is_group(t, "AC1F6B000001", NULL);
	assert_null(xsf_flow_tables_group(t, "other", "10.1.2.3"));
	assert_null(xsf_flow_tables_map(t, "g", "10.1.2.3"));
	xsf_flow_tables_free(t);
}

static void test_everything(void **state)
{
	struct xsf_flow_tables *t = xsf_flow_tables_new();

	(void)state;
	assert_int_equal(put(t, XSF_FLOW_GROUPS, "g", "{\"v4\":[\"0.0.0.0/0\"]}"), 0);
	is_group(t, "0.0.0.0", "v4");
	is_group(t, "203.0.113.9", "v4");
	is_group(t, "2001:db8::1", NULL);
	/* Everything of IPv6 is nothing of IPv4. */
	assert_int_equal(put(t, XSF_FLOW_GROUPS, "g", "{\"v6\":[\"::/0\"]}"), 0);
	is_group(t, "203.0.113.9", NULL);
	is_group(t, "2001:db8::1", "v6");
	assert_int_equal(put(t, XSF_FLOW_GROUPS, "g", "{\"v6\":[\"::/0\"],\"v4\":[\"0.0.0.0/0\"]}"),
			 0);
	is_group(t, "203.0.113.9", "v4");
	is_group(t, "2001:db8::1", "v6");
	assert_int_equal(put(t, XSF_FLOW_GROUPS, "g", "{}"), 0);
	is_group(t, "203.0.113.9", NULL);
	xsf_flow_tables_free(t);
}

/* Against looking at each prefix, for many of them. */
static void test_many(void **state)
{
	struct xsf_flow_tables *t = xsf_flow_tables_new();
	char *json = malloc(XSF_FLOW_TABLE_BODY), *p = json, address[32], name[16];
	static struct {
		uint32_t net, bits;
	} prefixes[3000];
	uint32_t x = 1;

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		x = x * 1664525 + 1013904223;
		prefixes[i].bits = 2 + x / 65536 % 31;
		/* The number of the prefix within its bits, so that none is there twice. */
		prefixes[i].net = (0x0a000000 + i * 977) & (0xffffffffu << (32 - prefixes[i].bits));
		for (uint32_t j = 0; j < i; j++) {
			if (prefixes[j].bits == prefixes[i].bits &&
			    prefixes[j].net == prefixes[i].net)
				prefixes[i].bits = 0; /* left out */
		}
	}
	*p++ = '{';
	for (uint32_t i = 0; i < 3000; i++) {
		const uint32_t n = prefixes[i].net;

		if (prefixes[i].bits)
			p += sprintf(p, "%s\"%u\":[\"%u.%u.%u.%u/%u\"]", p[-1] == '{' ? "" : ",", i,
				     n >> 24, n >> 16 & 255, n >> 8 & 255, n & 255,
				     prefixes[i].bits);
	}
	strcpy(p, "}"); // NOLINT: there is room for it
	assert_int_equal(put(t, XSF_FLOW_GROUPS, "g", json), 0);
	for (uint32_t k = 0; k < 3000; k++) {
		const uint32_t a = 0x0a000000 + k * 1013;
		uint32_t best = 0, which = 0;

		for (uint32_t i = 0; i < 3000; i++) {
			uint32_t bits = prefixes[i].bits;

			if (bits > best && !((a ^ prefixes[i].net) & 0xffffffffu << (32 - bits)))
				best = bits, which = i;
		}
		snprintf(address, sizeof(address), "%u.%u.%u.%u", a >> 24, a >> 16 & 255,
			 a >> 8 & 255, a & 255);
		snprintf(name, sizeof(name), "%u", which);
		is_group(t, address, best ? name : NULL);
	}
	free(json);
	xsf_flow_tables_free(t);
}

static void test_map(void **state)
{
	struct xsf_flow_tables *t = xsf_flow_tables_new();

	(void)state;
	assert_int_equal(put(t, XSF_FLOW_MAPS, "m",
			     "{\"AC1F6B000001\":\"host1\",\"7\":true,\"8\":-12,\"9\":0.5,\"\":"
			     "\"none\",\"10\":\"\"}"),
			 0);
	assert_string_equal(xsf_flow_tables_map(t, "m", "AC1F6B000001"), "host1");
	assert_string_equal(xsf_flow_tables_map(t, "m", "7"), "true");
	assert_string_equal(xsf_flow_tables_map(t, "m", "8"), "-12");
	assert_string_equal(xsf_flow_tables_map(t, "m", "9"), "0.5");
	assert_string_equal(xsf_flow_tables_map(t, "m", ""), "none");
	assert_string_equal(xsf_flow_tables_map(t, "m", "10"), "");
	assert_null(xsf_flow_tables_map(t, "m", "ac1f6b000001"));
	assert_null(xsf_flow_tables_map(t, "m", "AC1F6B00000"));
	assert_null(xsf_flow_tables_map(t, "n", "7"));
	assert_int_equal(put(t, XSF_FLOW_MAPS, "m", "{}"), 0);
	assert_null(xsf_flow_tables_map(t, "m", "7"));
	xsf_flow_tables_free(t);
}

static void test_refused(void **state)
{
	static const struct {
		enum xsf_flow_table_kind kind;
		const char *json, *why;
	} cases[] = {
		{ XSF_FLOW_GROUPS, "", "line 1, column 0: '[' or '{' expected near end of file" },
		{ XSF_FLOW_GROUPS, "{\"a\":[\n\"10.0.0.0/8\",]}",
		  "line 2, column 14: unexpected token near ']'" },
		{ XSF_FLOW_GROUPS, "[]", "the document is no object" },
		{ XSF_FLOW_GROUPS, "{\"a\":[],\"a\":[]}",
		  "line 1, column 11: duplicate object key near '\"a\"'" },
		{ XSF_FLOW_GROUPS, "{\"a\":\"10.0.0.0/8\"}", "'a' is no list of prefixes" },
		{ XSF_FLOW_GROUPS, "{\"a\":[\"10.0.0.0/8\",\"10.0.0.0/33\"]}",
		  "'a': '10.0.0.0/33', number 2, is no prefix such as 10.0.0.0/8 or "
		  "2001:db8::/32" },
		{ XSF_FLOW_GROUPS, "{\"a\":[\"10.0.0.1/8\"]}",
		  "'a': '10.0.0.1/8', number 1, is no prefix such as 10.0.0.0/8 or 2001:db8::/32" },
		{ XSF_FLOW_GROUPS, "{\"a\":[7]}",
		  "'a': '?', number 1, is no prefix such as 10.0.0.0/8 or 2001:db8::/32" },
		{ XSF_FLOW_GROUPS, "{\"a\\n\":[\"x\\u001b\"]}",
		  "'a?': 'x?', number 1, is no prefix such as 10.0.0.0/8 or 2001:db8::/32" },
		{ XSF_FLOW_GROUPS, "{\"a\":[\"fd00::/8\",\"fd00::/8\"]}",
		  "'fd00::/8' is there twice, in 'a' and 'a'" },
		{ XSF_FLOW_MAPS, "{\"a\":\"\\u0000\"}",
		  "line 1, column 13: \\u0000 is not allowed without JSON_ALLOW_NUL near "
		  "'\"\\u0000\"'" },
		{ XSF_FLOW_MAPS, "{\"a\":null}", "'a' is neither text nor number nor boolean" },
		{ XSF_FLOW_MAPS, "{\"b\":1,\"a\":{}}",
		  "'a' is neither text nor number nor boolean" },
		{ XSF_FLOW_MAPS, "{\"a\":\"\xff\"}",
		  "line 1, column 6: unable to decode byte 0xff near '\"'" },
	};
	struct xsf_flow_tables *t = xsf_flow_tables_new();
	int err;

	(void)state;
	assert_int_equal(put(t, XSF_FLOW_GROUPS, "g", "{\"a\":[\"10.0.0.0/8\"]}"), 0);
	assert_int_equal(put(t, XSF_FLOW_MAPS, "g", "{\"a\":\"b\"}"), 0);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		err = put(t, cases[i].kind, "g", cases[i].json);
		if (err != -EINVAL || strcmp(why, cases[i].why) != 0)
			fail_msg("%s: %d %s", cases[i].json, err, err ? why : "");
		is_group(t, "10.0.0.1", "a");
		assert_string_equal(xsf_flow_tables_map(t, "g", "a"), "b");
	}
	xsf_flow_tables_free(t);
}

static void test_bounds(void **state)
{
	struct xsf_flow_tables *t = xsf_flow_tables_new();
	char name[16], *json = malloc(XSF_FLOW_TABLE_ENTRIES * 16 + 64), *p = json;
	int err;

	(void)state;
	for (int i = 0; i < XSF_FLOW_TABLES; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		assert_int_equal(put(t, i % 2 ? XSF_FLOW_MAPS : XSF_FLOW_GROUPS, name, "{}"), 0);
	}
	assert_int_equal(put(t, XSF_FLOW_GROUPS, "more", "{}"), -ENOSPC);
	assert_int_equal(put(t, XSF_FLOW_MAPS, "t0", "{}"), -ENOSPC);
	assert_int_equal(put(t, XSF_FLOW_GROUPS, "t0", "{\"a\":[\"::1\"]}"), 0);
	assert_int_equal(xsf_flow_tables_count(t, XSF_FLOW_GROUPS), XSF_FLOW_TABLES / 2);
	assert_int_equal(xsf_flow_tables_delete(t, XSF_FLOW_MAPS, "t0"), -ENOENT);
	assert_int_equal(xsf_flow_tables_delete(t, XSF_FLOW_MAPS, "t1"), 0);
	assert_int_equal(xsf_flow_tables_count(t, XSF_FLOW_MAPS), XSF_FLOW_TABLES / 2 - 1);
	assert_null(xsf_flow_tables_json(t, XSF_FLOW_MAPS, "t1", &err));
	assert_int_equal(err, -ENOENT);
	/* As many entries as there may be, and one more. */
	p += sprintf(p, "{\"a\":[\"::1\"");
	for (uint32_t i = 1; i < XSF_FLOW_TABLE_ENTRIES; i++)
		p += sprintf(p, ",\"10.%u.%u.%u\"", i >> 16, i >> 8 & 255, i & 255);
	sprintf(p, "]}");
	assert_int_equal(put(t, XSF_FLOW_GROUPS, "t0", json), 0);
	sprintf(p, ",\"11.0.0.0/8\"]}");
	assert_int_equal(put(t, XSF_FLOW_GROUPS, "t0", json), -EINVAL);
	assert_string_equal(why, "more than 32768 entries");
	free(json);
	xsf_flow_tables_free(t);
}

static void test_json(void **state)
{
	struct xsf_flow_tables *t = xsf_flow_tables_new();
	static const char groups[] = "{\"b\":[\"10.0.0.0/8\",\"::1\"],\"a\":[]}";
	char *text;
	int err;

	(void)state;
	text = xsf_flow_tables_json(t, XSF_FLOW_GROUPS, NULL, &err);
	assert_string_equal(text, "{}");
	free(text);
	assert_int_equal(put(t, XSF_FLOW_GROUPS, "g\"1", groups), 0);
	assert_int_equal(put(t, XSF_FLOW_MAPS, "m", "{\"a\":\"b\",\"c\":7}"), 0);
	text = xsf_flow_tables_json(t, XSF_FLOW_GROUPS, "g\"1", &err);
	assert_string_equal(text, groups);
	free(text);
	text = xsf_flow_tables_json(t, XSF_FLOW_GROUPS, NULL, &err);
	assert_string_equal(text, "{\"g\\\"1\":{\"b\":[\"10.0.0.0/8\",\"::1\"],\"a\":[]}}");
	free(text);
	text = xsf_flow_tables_json(t, XSF_FLOW_MAPS, NULL, &err);
	assert_string_equal(text, "{\"m\":{\"a\":\"b\",\"c\":\"7\"}}");
	free(text);
	xsf_flow_tables_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_longest), cmocka_unit_test(test_everything),
		cmocka_unit_test(test_many),	cmocka_unit_test(test_map),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
