// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which notifications a filter lets through, and what it refuses. */
#include "event.h"

#include <errno.h>
#include "model/event_filter.h"

static struct xsf_event_filter *filter(const char *reasons, const char *agents,
				       const char *interfaces, const char *expression)
{
	struct xsf_event_filter_options o = { reasons, agents, interfaces, expression };
	struct xsf_event_filter *f = NULL;
	char why[512];

	if (xsf_event_filter_new(&o, &f, why, sizeof(why)))
		fail_msg("%s", why);
	return f;
}

static int matches(const char *reasons, const char *agents, const char *interfaces,
		   const char *expression, const struct xsf_event *e)
{
	struct xsf_event_filter *f = filter(reasons, agents, interfaces, expression);
	struct xsf_event_view v;
	int match;

	event_see(&v, e, "leaf1", "swp3");
	match = xsf_event_filter_match(f, &v);
	xsf_event_filter_free(f);
	return match;
}

static void refuses(const char *reasons, const char *agents, const char *interfaces,
		    const char *expression, const char *want)
{
	struct xsf_event_filter_options o = { reasons, agents, interfaces, expression };
	struct xsf_event_filter *f = NULL;
	char why[512];

	assert_int_equal(xsf_event_filter_new(&o, &f, why, sizeof(why)), -EINVAL);
	assert_null(f);
	if (!strstr(why, want))
		fail_msg("'%s' has no '%s'", why, want);
}

static void test_reasons(void **state)
{
	struct xsf_event e = event_of(258, 3);

	(void)state;
	assert_true(matches(NULL, NULL, NULL, NULL, &e));
	assert_true(matches("acl", NULL, NULL, NULL, &e));
	assert_true(matches("258", NULL, NULL, NULL, &e));
	assert_true(matches("red,acl", NULL, NULL, NULL, &e));
	assert_false(matches("red,257,4711", NULL, NULL, NULL, &e));
	for (uint32_t code = 33; code <= 332; code += 299) {
		e.reason = code;
		assert_true(matches("dev_hdr", NULL, NULL, NULL, &e));
		assert_true(matches("33", NULL, NULL, NULL, &e));
		assert_true(matches("332", NULL, NULL, NULL, &e));
		assert_false(matches("tc_egress", NULL, NULL, NULL, &e));
	}
	e.reason = 36;
	assert_true(matches("tc_egress", NULL, NULL, NULL, &e));
	e.reason = 4294967295u;
	assert_true(matches("4294967295", NULL, NULL, NULL, &e));
	refuses("nonsense", NULL, NULL, NULL, "'nonsense'; they look like acl, ");
	refuses("buffer", NULL, NULL, NULL, "'buffer'; like it: no_buffer_space, unknown_buffer");
	refuses("_", NULL, NULL, NULL, "like it: ");
	refuses("4294967296", NULL, NULL, NULL, "4294967296");
	refuses("acl,", NULL, NULL, NULL, "--reason: an empty item");
	refuses("", NULL, NULL, NULL, "--reason: an empty item");
}

static void test_agents(void **state)
{
	struct xsf_event e = event_of(258, 3);

	(void)state;
	assert_true(matches(NULL, "10.0.0.1", NULL, NULL, &e));
	assert_true(matches(NULL, "::ffff:10.0.0.1", NULL, NULL, &e));
	assert_true(matches(NULL, "leaf2,leaf1", NULL, NULL, &e));
	assert_false(matches(NULL, "leaf", NULL, NULL, &e));
	assert_false(matches(NULL, "10.0.0.2,fd00::1", NULL, NULL, &e));
	refuses(NULL, "a,,b", NULL, NULL, "--agent: an empty item");
}

static void test_interfaces(void **state)
{
	struct xsf_event e = event_of(258, 3);

	(void)state;
	assert_true(matches(NULL, NULL, "3", NULL, &e));
	assert_true(matches(NULL, NULL, "swp3", NULL, &e));
	assert_false(matches(NULL, NULL, "4", NULL, &e));
	e.output = 4;
	assert_true(matches(NULL, NULL, "4", NULL, &e));
	e.output = e.input = 0;
	assert_false(matches(NULL, NULL, "0", NULL, &e));
	assert_false(matches(NULL, NULL, "swp3", NULL, &e));
	e.index = 12; /* the data source, when no input is told */
	assert_true(matches(NULL, NULL, "12", NULL, &e));
	e.class = 1;
	assert_false(matches(NULL, NULL, "12", NULL, &e));
}

static void test_expression(void **state)
{
	struct xsf_event e = event_of(258, 3);
	struct wire w = { .len = 0 };

	(void)state;
	assert_false(matches(NULL, NULL, NULL, "ip", &e)); /* no header */
	wire_roce4(&w, 6, 0, 1000);
	event_header(&e, &w, 1);
	assert_true(matches(NULL, NULL, NULL, "ip", &e));
	assert_true(matches(NULL, NULL, NULL, "udp dst port 4791 and src host 192.0.2.1", &e));
	assert_true(matches(NULL, NULL, NULL, "ether src 02:00:00:00:00:01", &e));
	assert_false(matches(NULL, NULL, NULL, "tcp", &e));
	assert_true(matches("acl", "leaf1", "3", "udp", &e));
	assert_false(matches("red", "leaf1", "3", "udp", &e));
	/* As long as it was, not as much as was kept. */
	assert_true(matches(NULL, NULL, NULL, "greater 1000", &e));
	assert_false(matches(NULL, NULL, NULL, "less 1000", &e));
	/* What was not kept matches nothing, not even "not". */
	assert_false(matches(NULL, NULL, NULL, "udp[500] = 0", &e));
	e.header_kept = 20;
	assert_false(matches(NULL, NULL, NULL, "udp", &e));
	e.header_kept = 0;
	assert_false(matches(NULL, NULL, NULL, "ip", &e));
	/* Without Ethernet. */
	memmove(w.p, w.p + 14, w.len -= 14);
	event_header(&e, &w, 11);
	assert_true(matches(NULL, NULL, NULL, "udp dst port 4791", &e));
	assert_false(matches(NULL, NULL, NULL, "ether src 02:00:00:00:00:01", &e));
	e.protocol = 7;
	assert_false(matches(NULL, NULL, NULL, "ip", &e));
	refuses(NULL, NULL, NULL, "host and",
		"filter: can't parse filter expression: syntax error");
	refuses(NULL, NULL, NULL, "port 99999999", "filter: ");
}

static void test_bounds(void **state)
{
	static char text[XSF_FILTER_TEXT + 2];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	refuses(NULL, text, NULL, NULL, "--agent: longer than");
	refuses(NULL, NULL, NULL, text, "filter: longer than");
	for (int i = 0; i <= 2 * XSF_FILTER_ITEMS; i++)
		text[i] = i % 2 ? ',' : '1';
	text[2 * XSF_FILTER_ITEMS - 1] = 0;
	xsf_event_filter_free(filter(text, text, text, NULL));
	text[2 * XSF_FILTER_ITEMS - 1] = ',';
	text[2 * XSF_FILTER_ITEMS + 1] = 0;
	refuses(NULL, NULL, text, NULL, "--interface: more than 256");
}

static void test_hostile(void **state)
{
	struct xsf_event_filter *f =
		filter("acl,red,unknown", NULL, NULL, "ip6 proto 17 or udp[8] > 3 or vlan");
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct xsf_event_view v;
		struct xsf_event e;
		int match;

		event_hostile(&e, &seed);
		e.reason = 256 + e.reason % 4;
		event_see(&v, &e, "\xff", "\n");
		match = xsf_event_filter_match(f, &v);
		assert_in_range(match, 0, 1);
	}
	xsf_event_filter_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons),	   cmocka_unit_test(test_agents),
		cmocka_unit_test(test_interfaces), cmocka_unit_test(test_expression),
		cmocka_unit_test(test_bounds),	   cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
