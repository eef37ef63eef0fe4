// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which definitions of flows are in force, and how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "model/flow_set.h"

#define SECOND 1000000000ull

static struct xsf_flow_spec spec(const char *keys, int dropped)
{
	return (struct xsf_flow_spec){ .options = { .keys = keys,
						    .value = "frames",
						    .n = 10,
						    .t = 15,
						    .dropped = dropped },
				       .separator = "," };
}

static struct xsf_flow_set_counts counts(const struct xsf_flow_set *set)
{
	struct xsf_flow_set_counts c;

	xsf_flow_set_count(set, &c);
	return c;
}

static void test_set(void **state)
{
	struct xsf_flow_set *set = xsf_flow_set_new(1);
	struct xsf_flow_definition *a, *b, *c;
	struct xsf_flow_error error;
	struct xsf_flow_spec s = spec("reason", 1);
	struct xsf_event event = { .ns = SECOND };

	(void)state;
	assert_non_null(set);
	assert_int_equal(xsf_flow_set_wants(set, 0) | xsf_flow_set_wants(set, 1), 0);
	assert_int_equal(xsf_flow_set_scraped(set, &s, SECOND, &a, &error), 0);
	assert_int_equal(xsf_flow_set_wants(set, 1), 1);
	assert_int_equal(xsf_flow_set_wants(set, 0), 0);
	/* Aggregation and the like are no part of what is counted. */
	s.aggregation = XSF_FLOW_EDGE;
	s.options.filter = "";
	assert_int_equal(xsf_flow_set_scraped(set, &s, 2 * SECOND, &b, &error), 0);
	assert_ptr_equal(a, b);
	for (int i = 0; i < 5; i++) {
		s = spec("reason", 1);
		switch (i) {
		case 0:
			s.options.t = 14;
			break;
		case 1:
			s.options.n = 11;
			break;
		case 2:
			s.options.dropped = 0;
			break;
		case 3:
			s.options.filter = "reason=acl";
			break;
		case 4:
			s.options.keys = "reason,stack";
		}
		assert_int_equal(xsf_flow_set_scraped(set, &s, 3 * SECOND, &c, &error), 0);
		assert_ptr_not_equal(a, c);
		assert_int_equal(counts(set).scraped, i + 2);
	}
	assert_int_equal(xsf_flow_set_wants(set, 0), 1);
	xsf_flow_set_add(set, NULL, &event);
	event.flags = XSF_EVENT_FLOW;
	xsf_flow_set_add(set, NULL, &event);
	xsf_flow_set_add(set, NULL, &event);
	assert_int_equal(counts(set).events[1], 1);
	assert_int_equal(counts(set).events[0], 2);
	s = spec("nonsense:", 1);
	assert_int_equal(xsf_flow_set_scraped(set, &s, SECOND, &c, &error), -EINVAL);
	assert_null(c);
	assert_int_equal(counts(set).scraped, 6);
	xsf_flow_set_free(set);
}

static void test_expires(void **state)
{
	struct xsf_flow_set *set = xsf_flow_set_new(1);
	struct xsf_flow_definition *a;
	struct xsf_flow_error error;
	struct xsf_flow_spec s = spec("reason", 1), t = spec("stack", 1);

	(void)state;
	assert_int_equal(xsf_flow_set_scraped(set, &s, 10 * SECOND, &a, &error), 0);
	assert_int_equal(xsf_flow_set_scraped(set, &t, 10 * SECOND, &a, &error), 0);
	assert_int_equal(xsf_flow_set_put(set, "kept", &s, &error), 0);
	assert_int_equal(xsf_flow_set_scraped(set, &s, 11 * SECOND, &a, &error), 0);
	xsf_flow_set_expire(set, 310 * SECOND);
	assert_int_equal(counts(set).scraped, 2);
	xsf_flow_set_expire(set, 310 * SECOND + 1);
	assert_int_equal(counts(set).scraped, 1);
	assert_int_equal(counts(set).expired, 1);
	xsf_flow_set_expire(set, 311 * SECOND + 1);
	assert_int_equal(counts(set).scraped, 0);
	assert_int_equal(counts(set).expired, 2);
	xsf_flow_set_expire(set, 311000 * SECOND);
	assert_int_equal(counts(set).named, 1);
	xsf_flow_set_free(set);
}

static void test_named(void **state)
{
	struct xsf_flow_set *set = xsf_flow_set_new(1);
	struct xsf_flow_spec s = spec("reason", 1);
	struct xsf_flow_error error;
	struct xsf_flow *flow;

	(void)state;
	assert_null(xsf_flow_set_named(set, "one"));
	assert_int_equal(xsf_flow_set_put(set, "one", &s, &error), 0);
	flow = xsf_flow_set_named(set, "one")->flow;
	/* The same goes on counting, whatever else is said of it. */
	s.separator = "_SEP_";
	assert_int_equal(xsf_flow_set_put(set, "one", &s, &error), 0);
	assert_ptr_equal(xsf_flow_set_named(set, "one")->flow, flow);
	assert_string_equal(xsf_flow_set_named(set, "one")->spec.separator, "_SEP_");
	assert_int_equal(counts(set).made, 1);
	/* A wrong one changes nothing. */
	s.options.filter = "reason=(";
	assert_int_equal(xsf_flow_set_put(set, "one", &s, &error), -EINVAL);
	assert_ptr_equal(xsf_flow_set_named(set, "one")->flow, flow);
	s.options.filter = "reason=acl";
	assert_int_equal(xsf_flow_set_put(set, "one", &s, &error), 0);
	assert_string_equal(xsf_flow_set_named(set, "one")->spec.options.filter, "reason=acl");
	assert_int_equal(counts(set).made, 2);
	assert_int_equal(counts(set).named, 1);
	assert_int_equal(xsf_flow_set_delete(set, "two"), -ENOENT);
	assert_int_equal(xsf_flow_set_delete(set, "one"), 0);
	assert_null(xsf_flow_set_named(set, "one"));
	assert_null(xsf_flow_set_at(set, 0));
	xsf_flow_set_free(set);
	assert_true(xsf_flow_name_ok("a b\xc3\xbf"));
	/* Two of these would be shown alike. */
	assert_false(xsf_flow_name_ok("a b\xff"));
	assert_false(xsf_flow_name_ok("a b\xc2\x80"));
	assert_false(xsf_flow_name_ok("a b\xe2\x80\xae"));
	assert_false(xsf_flow_name_ok(""));
	assert_false(xsf_flow_name_ok("a/b"));
	assert_false(xsf_flow_name_ok("a\n"));
	assert_true(xsf_flow_name_ok(
		"1234567890123456789012345678901234567890123456789012345678901234"));
	assert_false(xsf_flow_name_ok(
		"12345678901234567890123456789012345678901234567890123456789012345"));
}

static void test_full(void **state)
{
	struct xsf_flow_set *set = xsf_flow_set_new(1);
	struct xsf_flow_definition *d;
	struct xsf_flow_error error;
	struct xsf_flow_spec s = spec("reason", 1);
	char name[16];

	(void)state;
	for (int i = 0; i < XSF_FLOWS - 1; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		assert_int_equal(xsf_flow_set_put(set, name, &s, &error), 0);
	}
	assert_int_equal(xsf_flow_set_scraped(set, &s, SECOND, &d, &error), 0);
	assert_int_equal(xsf_flow_set_put(set, "more", &s, &error), -ENOSPC);
	s.options.t = 3;
	assert_int_equal(xsf_flow_set_scraped(set, &s, SECOND, &d, &error), -ENOSPC);
	assert_null(d);
	assert_int_equal(counts(set).refused, 2);
	/* Those that are there are asked and replaced as ever. */
	assert_int_equal(xsf_flow_set_put(set, "f7", &s, &error), 0);
	s.options.t = 15;
	assert_int_equal(xsf_flow_set_scraped(set, &s, SECOND, &d, &error), 0);
	assert_int_equal(xsf_flow_set_delete(set, "f0"), 0);
	assert_int_equal(xsf_flow_set_put(set, "more", &s, &error), 0);
	assert_int_equal(counts(set).refused, 2);
	xsf_flow_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_expires),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
