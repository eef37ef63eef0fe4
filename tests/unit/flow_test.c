// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys, filters and tables of flows (model/flow.h): texts of keys, what is refused and where, rates. */
#include "flow_kit.h"

static void test_fields(void **state)
{
	struct xsf_event roce = roce_event(XSF_EVENT_FLOW, 1), drop = roce_event(0, 1);
	struct xsf_event tcp = tcp_event(XSF_EVENT_FLOW);

	(void)state;
	expect_keys("macsource,macdestination,ethernetprotocol,vlan,isunicast", &roce,
		    "0200000000AA|0200000000BB|2048|77|true");
	expect_keys("stack,ipsource,ipdestination,ipprotocol,ipdscp,ipecn,ipttl,ip_offset", &roce,
		    "eth.ip.udp.ibbt|192.0.2.1|192.0.2.200|17|0|11|64|18");
	expect_keys("udpsourceport,udpdestinationport,ibbtopcode,ibbtopname,ibbtoptransport", &roce,
		    "49152|4791|6|RDMA_WRITE|RC");
	expect_keys("ibbtse,ibbtm,ibbttver,ibbtdestqp,ibbtack,ibbtpsn,ibbt_offset,ibbtrdmalen",
		    &roce, "false|true|0|291|true|7|46|32768");
	expect_keys("ip6source,ip6destination,ip6nexthdr,ip6dscp,ip6ecn,tcpsourceport,tcpflags",
		    &tcp, "2001::1|2001::2|6|46|01|179|000010000");
	expect_keys("agent,datasource,inputifindex,outputifindex,direction,frames,stripped", &roce,
		    "10.0.0.1|3|3|4|ingress|1000|4");
	expect_keys("reason", &drop, "acl");
	expect_keys("reason", &roce, "-");
	expect_keys("vlan", &tcp, "-");
	expect_keys("ipsource.1", &roce, "-");
	drop.input = drop.index = 0;
	expect_keys("inputifindex,ifname:inputifindex", &drop, "unknown|swp0");
	roce.output_format = SFLOW_IF_MULTIPLE;
	expect_keys("outputifindex", &roce, "multiple");
	roce.output_format = SFLOW_IF_DISCARDED;
	expect_keys("outputifindex", &roce, "discard");
	drop.index = 8; /* of an interface: that is where it was dropped */
	drop.input = 0;
	expect_keys("inputifindex", &drop, "8");
	drop.class = 2;
	expect_keys("inputifindex,direction", &drop, "-");
	expect_keys("inputifindex", &drop, "unknown");
	roce.class = 2;
	expect_keys("direction,datasource", &roce, "ingress|2.3");
	drop.reason = 99999;
	expect_keys("reason", &drop, "99999");
}

static void test_texts_of_agents(void **state)
{
	struct xsf_event drop = roce_event(0, 1);

	(void)state;
	memcpy(drop.function, "a\0b\"\n\\", 6);
	drop.function_len = 6;
	memset(drop.trap, 'x', XSF_EVENT_TEXT);
	drop.trap_len = 255; /* never beyond the array */
	expect_keys("function,null:linuxreason:none", &drop, "a?b\"\n\\|none");
	expect_keys("trap", &drop,
		    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	expect_keys("trapgroup", &drop, "-");
}

static void test_functions(void **state)
{
	struct xsf_event roce = roce_event(XSF_EVENT_FLOW, 1), tcp = tcp_event(XSF_EVENT_FLOW);

	(void)state;
	expect_keys("null:vlan:untagged", &roce, "77");
	expect_keys("null:vlan:untagged,null:vlan,null:vlan:", &tcp, "untagged|null|");
	expect_keys("or:ipsource:ip6source", &tcp, "2001::1");
	expect_keys("null:[or:icmptype:icmp6type]:none", &tcp, "none");
	expect_keys("node:inputifindex,ifname:outputifindex", &roce, "leaf\"1|swp4");
	expect_keys("link:outputifindex", &roce, "L4");
	expect_keys("link:inputifindex", &roce, "-");
	expect_keys("concat:_SEP_:ipsource:ipdestination", &roce, "192.0.2.1_SEP_192.0.2.200");
	expect_keys("concat:\\::ipsource:[null:ip6source:x]", &roce, "192.0.2.1:x");
	expect_keys("concat:-:ipsource:ip6source", &roce, "-");
	expect_keys("group:ipsource:g1:g2", &roce, "inside");
	expect_keys("group:ipdestination:g1:g2", &roce, "-");
	expect_keys("map:ipsource:m", &roce, "-");
	expect_keys("range:udpsourceport:49152:65535,range:udpdestinationport:0:1023", &roce,
		    "true|false");
	expect_keys("range:stack:0:1", &roce, "-");
	expect_keys("suffix:stack:.:1,prefix:stack:.:2,suffix:stack:.:9", &roce,
		    "ibbt|eth.ip|eth.ip.udp.ibbt");
	expect_keys("first:stack:.:udp:ip", &roce, "ip");
	expect_keys("first:stack:.:tcp", &roce, "-");
	expect_keys("prefix:stack::1", &roce, "eth.ip.udp.ibbt");
	expect_keys("", &roce, "");
}

static void test_drop_scrape(void **state)
{
	static const char keys[] =
		"node:inputifindex,ifname:inputifindex,reason,stack,macsource,macdestination,"
		"null:vlan:untagged,null:[or:ipsource:ip6source]:none,"
		"null:[or:ipdestination:ip6destination]:none,"
		"null:[or:icmptype:icmp6type:ipprotocol:ip6nexthdr]:none";
	struct xsf_event drop = roce_event(0, 1), bare = base_event(0);

	(void)state;
	expect_keys(keys, &drop,
		    "leaf\"1|swp3|acl|eth.ip.udp.ibbt|0200000000AA|0200000000BB|77|192.0.2.1|192.0."
		    "2.200|17");
	expect_keys(keys, &bare, "-");
}

static void refused(const char *keys, const char *value, const char *filter, const char *what,
		    uint32_t at)
{
	struct xsf_flow_options o = { .keys = keys, .value = value, .filter = filter, .t = 1 };
	struct xsf_flow_error error;
	struct xsf_flow *f;
	int err = xsf_flow_new(&o, &f, &error);

	if (err != -EINVAL || strcmp(error.what, what) || error.at != at || !error.why[0])
		fail_msg("%s # %s # %s: %d %s %u %s; want %s %u", keys, value, filter ? filter : "",
			 err, error.what, error.at, error.why, what, at);
	assert_null(f);
}

static void test_refused(void **state)
{
	char deep[256] = "", many[2048] = "";

	(void)state;
	refused("ipsource,nosuch", "frames", NULL, "key", 9);
	refused("ipsource,", "frames", NULL, "key", 9);
	refused("nofunction:vlan", "frames", NULL, "key", 0);
	refused("null", "frames", NULL, "key", 0);
	refused("or:vlan", "frames", NULL, "key", 7);
	refused("null:[or:vlan:vlan", "frames", NULL, "key", 5);
	refused("vlan]", "frames", NULL, "key", 4);
	refused("vl[an", "frames", NULL, "key", 2);
	refused("node:vlan", "frames", NULL, "key", 5);
	refused("node:[or:vlan:vlan]", "frames", NULL, "key", 5);
	refused("range:vlan:1:two", "frames", NULL, "key", 13);
	refused("range:vlan:1:inf", "frames", NULL, "key", 13);
	refused("prefix:stack:.:0", "frames", NULL, "key", 0);
	refused("node:inputifindex:x", "frames", NULL, "key", 17);
	refused("reason.1", "frames", NULL, "key", 6);
	refused("vlan.x", "frames", NULL, "key", 4);
	refused("vlan\\", "frames", NULL, "key", 4);
	for (int i = 0; i < 9; i++)
		snprintf(deep + strlen(deep), sizeof(deep) - strlen(deep), "null:[");
	refused(deep, "frames", NULL, "key", 48);
	for (int i = 0; i < 33; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), i ? ",vlan" : "vlan");
	refused(many, "frames", NULL, "key", 160);
	refused("vlan", "", NULL, "value", 0);
	refused("vlan", "nosuch", NULL, "value", 0);
	refused("vlan", "avg:nosuch", NULL, "value", 4);
	refused("vlan", "frames,bytes", NULL, "value", 6);
	refused("vlan", "macsource", NULL, "value", 0);
	refused("vlan", "max:stack", NULL, "value", 4);
	refused("vlan", "frames", "vlan", "filter", 4);
	refused("vlan", "frames", "vlan=1&", "filter", 7);
	refused("vlan", "frames", "(vlan=1", "filter", 0);
	refused("vlan", "frames", "vlan=1)", "filter", 6);
	refused("vlan", "frames", "vlan~(", "filter", 5);
	refused("vlan", "frames", "vlan~a{1,99}", "filter", 6);
	refused("vlan", "frames", "vlan~(a)\\1", "filter", 8);
	refused("vlan", "frames", "vlan>1", "filter", 0);
}

static void test_filters(void **state)
{
	struct xsf_event roce = roce_event(XSF_EVENT_FLOW, 1), tcp = tcp_event(XSF_EVENT_FLOW);

	(void)state;
	expect_filter("", &roce, 1);
	expect_filter("ipsource=192.0.2.1", &roce, 1);
	expect_filter("ipsource=192.0.2.2,192.0.2.1", &roce, 1);
	expect_filter("ipsource!=192.0.2.2,192.0.2.1", &roce, 0);
	expect_filter("ip6source=null", &roce, 1);
	expect_filter("ip6source!=null", &roce, 0);
	expect_filter("ip6source=null,x", &tcp, 0);
	expect_filter("ip6source!=x", &roce, 1);
	expect_filter("direction=ingress&(ipecn=11|ip6ecn=11)&ibbt_offset!=null", &roce, 1);
	expect_filter("direction=ingress&(ipecn=11|ip6ecn=11)&ibbt_offset!=null", &tcp, 0);
	expect_filter("vlan=1|vlan=77&ipttl=1", &roce, 0);
	expect_filter("(vlan=1|vlan=77)&ipttl=64", &roce, 1);
	expect_filter("suffix:stack:.:1=ibbt", &roce, 1);
	expect_filter("tcpflags~....1.000", &tcp, 1);
	expect_filter("tcpflags~....1", &tcp, 0); /* the whole text */
	expect_filter("tcpflags!~....1.000", &tcp, 0);
	expect_filter("tcpflags~.*", &roce, 0);
	expect_filter("stack~eth\\.ip(6|x)?\\..*", &tcp, 1);
	expect_filter("stack~[^]&]*&vlan=null", &tcp, 1);
	expect_filter("stack~[\\]eth]*.*&ipttl=1", &tcp, 0); /* no escapes within a set */
	expect_filter("null:vlan:a\\&b=a\\&b", &tcp, 1);
}

/* Events at a steady rate for ten t show that rate; t later e^-1 of it. */
static void test_rate(void **state)
{
	struct xsf_flow_options o = {
		.keys = "ipsource", .value = "frames", .t = 15, .dropped = 1
	};
	struct xsf_event drop = roce_event(0, 1);
	const struct xsf_flow_row *rows;
	struct xsf_flow_error error;
	struct xsf_flow *f = flow_of(&o);
	uint64_t now = SECOND;

	(void)state;
	for (int i = 0; i < 150 * 40; i++)
		xsf_flow_add(f, &names, &drop, now += SECOND / 40);
	assert_int_equal(xsf_flow_rows(f, &everything, now, &rows, &error), 1);
	assert_true(fabs(rows[0].value - 40) < 0.2);
	assert_string_equal(rows[0].keys[0], "192.0.2.1");
	assert_int_equal(rows[0].nr_sources, 1);
	assert_int_equal(xsf_flow_rows(f, &everything, now + 15 * SECOND, &rows, &error), 1);
	assert_true(fabs(rows[0].value - 40 * exp(-1)) < 0.2);
	assert_int_equal(xsf_flow_rows(f, &everything, now + 151 * SECOND, &rows, &error), 0);
	xsf_flow_free(f);
}

/* The same flow at three data sources, in and out. */
static void test_aggregation(void **state)
{
	static const struct {
		uint32_t index;
		uint32_t in, out, rate;
	} at[] = { { 3, 3, 4, 100 }, { 4, 3, 4, 200 }, { 11, 11, 12, 300 }, { 9, 9, 1, 50 } };
	struct xsf_flow_options o = { .keys = "ipsource", .value = "bytes", .t = 1 };
	struct xsf_flow_query q = { .agents = "ALL", .max_flows = 10 };
	struct xsf_flow *f = flow_of(&o);
	struct xsf_event e = roce_event(XSF_EVENT_FLOW, 1);
	uint64_t now = 100 * SECOND;
	double len = e.frame_len;

	(void)state;
	for (int i = 0; i < 4; i++) {
		e.index = at[i].index;
		e.input = at[i].in;
		e.output = at[i].out;
		e.rate = at[i].rate;
		xsf_flow_add(f, &names, &e, now);
	}
	assert_true(fabs(only_value(f, &q, now) - 650 * len) < 1);
	q.aggregation = XSF_FLOW_MAX;
	assert_true(fabs(only_value(f, &q, now) - 300 * len) < 1);
	q.aggregation = XSF_FLOW_EDGE;
	assert_true(fabs(only_value(f, &q, now) - 150 * len) < 1);
	q.aggregation = XSF_FLOW_CORE;
	assert_true(fabs(only_value(f, &q, now) - 300 * len) < 1);
	q.aggregation = XSF_FLOW_SUM;
	q.agents = "EDGE";
	assert_true(fabs(only_value(f, &q, now) - 350 * len) < 1);
	q.agents = "TOPOLOGY";
	assert_true(fabs(only_value(f, &q, now) - 600 * len) < 1);
	q.agents = "10.0.0.2;10.0.0.1";
	assert_true(fabs(only_value(f, &q, now) - 650 * len) < 1);
	q.agents = "10.0.0.2";
	assert_true(only_value(f, &q, now) < 0);
	q.agents = "ALL";
	q.min_value = 650 * len + 1;
	assert_true(only_value(f, &q, now) < 0);
	xsf_flow_free(f);
}

static void test_bad_query(void **state)
{
	struct xsf_flow_options o = { .keys = "", .value = "frames", .t = 1 };
	struct xsf_flow_query q = { .agents = "10.0.0.1;leaf1", .max_flows = 10 };
	struct xsf_flow *f = flow_of(&o);
	const struct xsf_flow_row *rows;
	struct xsf_flow_error error;

	(void)state;
	assert_int_equal(xsf_flow_rows(f, &q, SECOND, &rows, &error), -EINVAL);
	assert_string_equal(error.what, "agents");
	assert_int_equal(error.at, 9);
	xsf_flow_free(f);
}

static void test_values(void **state)
{
	static const struct {
		const char *value;
		double want;
	} cases[] = { { "avg:udpsourceport", 300 },
		      { "min:udpsourceport", 100 },
		      { "max:udpsourceport", 400 } };
	struct xsf_event e[2] = { roce_event(XSF_EVENT_FLOW, 1), roce_event(XSF_EVENT_FLOW, 1) };

	(void)state;
	/* Weight 1 at 100, weight 2 at 400. */
	e[0].header[14 + 4 + 20] = 0, e[0].header[14 + 4 + 21] = 100;
	e[1].header[14 + 4 + 20] = 1, e[1].header[14 + 4 + 21] = 0x90;
	e[0].rate = 1;
	e[1].rate = 2;
	for (int i = 0; i < 3; i++) {
		struct xsf_flow_options o = { .keys = "", .value = cases[i].value, .t = 2 };
		struct xsf_flow *f = flow_of(&o);

		xsf_flow_add(f, &names, &e[0], 8 * SECOND);
		xsf_flow_add(f, &names, &e[1], 8 * SECOND);
		assert_true(fabs(only_value(f, &everything, 8 * SECOND) - cases[i].want) < 1e-6);
		xsf_flow_free(f);
	}
}

/* What was shed before an event is in its weight. */
static void test_shed(void **state)
{
	struct xsf_flow_options o = { .keys = "", .value = "frames", .t = 1 };
	struct xsf_event e = roce_event(XSF_EVENT_FLOW, 1);
	struct xsf_flow *f = flow_of(&o);

	(void)state;
	e.rate = 10;
	e.shed = 7;
	xsf_flow_add(f, &names, &e, SECOND);
	assert_true(fabs(only_value(f, &everything, SECOND) - 80) < 1e-6);
	xsf_flow_free(f);
}

/* More keys than there is room for: bounded, counted; large flows stay. */
static void test_full(void **state)
{
	struct xsf_flow_options o = { .keys = "ipsource,udpsourceport",
				      .value = "frames",
				      .t = 600,
				      .dropped = 1,
				      .seed = 42 };
	struct xsf_event e = roce_event(0, 1), big = roce_event(0, 9);
	struct xsf_flow *f = flow_of(&o);
	struct xsf_flow_query q = { .agents = "ALL", .max_flows = 1 };
	const struct xsf_flow_row *rows;
	struct xsf_flow_counts counts;
	struct xsf_flow_error error;
	uint64_t now = SECOND;

	(void)state;
	for (int i = 0; i < 1000; i++)
		xsf_flow_add(f, &names, &big, now);
	for (uint32_t i = 0; i < 3 * XSF_FLOW_RECORDS; i++) {
		e.header[30] = (uint8_t)(i >> 16);
		e.header[14 + 4 + 20] = (uint8_t)(i >> 8);
		e.header[14 + 4 + 21] = (uint8_t)i;
		xsf_flow_add(f, &names, &e, now += 1000);
	}
	xsf_flow_count(f, &counts);
	assert_int_equal(counts.records, XSF_FLOW_RECORDS);
	assert_int_equal(counts.full, 2 * XSF_FLOW_RECORDS + 1);
	assert_int_equal(xsf_flow_rows(f, &q, now, &rows, &error), 1);
	assert_string_equal(rows[0].keys[0], "192.0.2.9");
	xsf_flow_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),	  cmocka_unit_test(test_texts_of_agents),
		cmocka_unit_test(test_functions), cmocka_unit_test(test_drop_scrape),
		cmocka_unit_test(test_refused),	  cmocka_unit_test(test_filters),
		cmocka_unit_test(test_rate),	  cmocka_unit_test(test_aggregation),
		cmocka_unit_test(test_bad_query), cmocka_unit_test(test_values),
		cmocka_unit_test(test_shed),	  cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
