// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Interfaces, agents and the collector by sFlow-RT's names, of snapshots that were made up. */
#include "fixture.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include "near.h"
#include "serve/compat.h"

/* Agents 1 (leaf1, with an interface of each index 1 to 4 in slots 1 to 4), its sub-agent 2 (index 1 again,
 * slot 5, told earlier) and 3 (no name, slot 6). Interface n takes in 100 * n octets a second. */
struct made {
	struct fixture *f;
	struct xsf_bindings *b;
	struct xsf_rates *r;
	struct xsf_if_view v;
};

static void tick(struct made *m)
{
	m->f->s.now_ns += 10 * SECOND;
	for (uint32_t slot = 1; slot <= 6; slot++) {
		struct xsf_interface *i = &m->f->interfaces[slot];

		m->f->sources[slot].last_seen_ns = m->f->s.now_ns;
		i->counters_ns = m->f->s.now_ns - (slot == 5 ? SECOND : 0);
		i->in_octets += 1000 * slot;
		i->in_ucast += 10 * slot;
		i->in_multicast += 20 * slot;
	}
	xsf_rates_update(m->r, &m->f->s);
}

static int setup(void **state)
{
	struct made *m = calloc(1, sizeof(*m));

	if (!m)
		return -1;
	m->f = fixture_new(5, 8);
	fixture_name(fixture_agent(m->f, 1, 0), "leaf\"1\n");
	fixture_agent(m->f, 2, 7);
	memcpy(m->f->agents[2].key.addr, m->f->agents[1].key.addr, 16);
	fixture_agent(m->f, 3, 0);
	for (uint32_t slot = 1; slot <= 6; slot++) {
		struct xsf_interface *i;
		char name[8];

		fixture_source(m->f, slot, slot < 5 ? 1 : slot - 3, 0, slot < 5 ? slot : slot - 4);
		snprintf(name, sizeof(name), "swp%u", slot);
		i = fixture_interface(m->f, slot, slot == 6 ? "" : name);
		i->in_octets = i->in_ucast = i->in_multicast = 7;
		i->speed = slot == 4 ? 0 : 8000 * slot;
		i->type = 6;
		i->status = slot == 2 ? 1 : 3;
		i->counters_ns = 1;
	}
	m->b = xsf_bindings_new();
	m->r = xsf_rates_new();
	assert_int_equal(xsf_bindings_add(m->b, "fabric"), 0);
	m->v = (struct xsf_if_view){ .s = &m->f->s, .b = m->b, .r = m->r };
	for (int i = 0; i < 3; i++)
		tick(m);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	xsf_rates_free(m->r);
	xsf_bindings_free(m->b);
	fixture_free(m->f);
	free(m);
	return 0;
}

static ssize_t read_it(void *from, char *buf, size_t max)
{
	return xsf_compat_metrics_read(from, buf, max);
}

static char *text_of(struct made *m, const char *agents, const char *metrics, uint32_t max)
{
	struct xsf_compat_metrics *c;
	char *text;

	assert_int_equal(xsf_compat_metrics_open(&m->v, agents, metrics, max, &c), 0);
	text = fixture_read(read_it, c, 4096);
	xsf_compat_metrics_close(c);
	return text;
}

#define LEAF(n, name, value) \
	"{agent=\"10.0.0.1\",datasource=\"" n "\",ifname=\"" name \
	"\",host=\"leaf\\\"1\\n\"} " value "\n"

static void expect_text(struct made *m, const char *agents, const char *metrics, uint32_t max,
			const char *want)
{
	char *text = text_of(m, agents, metrics, max);

	assert_string_equal(text, want);
	free(text);
}

static void lines(void **state)
{
	static const char octets[] =
		"sflow_ifinoctets" LEAF("1", "swp1", "100") "sflow_ifinoctets" LEAF(
			"2", "swp2",
			"200") "sflow_ifinoctets" LEAF("3", "swp3",
						       "300") "sflow_ifinoctets" LEAF("4", "swp4",
										      "400") "sflow"
											     "_ifin"
											     "octet"
											     "s{"
											     "agent"
											     "=\"10"
											     ".0.0."
											     "3\","
											     "datas"
											     "ource"
											     "=\"2"
											     "\"} "
											     "600"
											     "\n";
	struct made *m = *state;

	expect_text(m, "ALL", "ifinoctets", 100, octets);
	/* once each, in words or of nothing left out, unknown counters too */
	expect_text(m, "ALL", "ifoperstatus,nope,ifinoctets,ifinoctets,ifinerrors", 100, octets);
	expect_text(m, "10.0.0.3;10.0.0.9", "ifinoctets", 100,
		    "sflow_ifinoctets{agent=\"10.0.0.3\",datasource=\"2\"} 600\n");
	expect_text(
		m, "leaf\"1\n", "ifinoctets,ifindex", 1,
		"sflow_ifinoctets" LEAF("1", "swp1", "100") "sflow_ifindex" LEAF("1", "swp1", "1"));
	expect_text(m, "EDGE", "ifinoctets", 100, "");
	expect_text(m, "ALL", "", 100, "");
	/* percent of the speed, where there is one; packets of all kinds that are known */
	expect_text(
		m, "leaf\"1\n", "ifinutilization,ifinpkts,ifoutpkts", 2,
		"sflow_ifinutilization" LEAF("1", "swp1", "10") "sflow_ifinutilization" LEAF(
			"2", "swp2",
			"10") "sflow_ifinpkts" LEAF("1", "swp1",
						    "3") "sflow_ifinpkts" LEAF("2", "swp2", "6"));
	/* a minute later they have expired */
	m->f->s.now_ns += 61 * SECOND;
	expect_text(m, "ALL", "ALL", 100, "");
}

static void too_many_names(void **state)
{
	struct made *m = *state;
	struct xsf_compat_metrics *c;
	char list[3 * 65 + 1] = "", *doc;
	size_t len;

	for (int i = 0; i < 65; i++)
		memcpy(list + 2 * i, "a,", 2);
	assert_int_equal(xsf_compat_metrics_open(&m->v, "ALL", list, 9, &c), -E2BIG);
	assert_int_equal(xsf_compat_metrics_open(&m->v, list, "ALL", 9, &c), -E2BIG);
	assert_int_equal(xsf_compat_metric_json(&m->v, "ALL", list, 9, &doc, &len), -E2BIG);
	list[2 * 64] = 0;
	assert_int_equal(xsf_compat_metrics_open(&m->v, list, list, 9, &c), 0);
	xsf_compat_metrics_close(c);
}

static json_t *parsed(char *text, size_t len)
{
	json_t *j;

	assert_non_null(text);
	j = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(j);
	free(text);
	return j;
}

static json_t *metric_of(struct made *m, const char *metrics)
{
	size_t len;
	char *text;

	assert_int_equal(xsf_compat_metric_json(&m->v, "ALL", metrics, 100, &text, &len), 0);
	return parsed(text, len);
}

/* 100, 200, 300, 400, 600 */
static void aggregates(void **state)
{
	static const struct {
		const char *name;
		double value;
	} want[] = {
		{ "ifinoctets", 600 },	    { "max:ifinoctets", 600 }, { "min:ifinoctets", 100 },
		{ "sum:ifinoctets", 1600 }, { "avg:ifinoctets", 320 }, { "var:ifinoctets", 29600 },
		{ "med:ifinoctets", 300 },  { "q1:ifinoctets", 200 },  { "q2:ifinoctets", 300 },
		{ "q3:ifinoctets", 400 },   { "iqr:ifinoctets", 200 }, { "any:ifinoctets", 100 },
	};
	struct made *m = *state;
	json_t *j, *q;

	for (uint32_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		j = metric_of(m, want[i].name);
		assert_int_equal(json_array_size(j), 1);
		q = json_array_get(j, 0);
		assert_int_equal(json_integer_value(json_object_get(q, "metricN")), 5);
		expect_near(json_number_value(json_object_get(q, "metricValue")), want[i].value,
			    1e-3);
		json_decref(j);
	}
	j = metric_of(m, "sdev:ifinoctets,max:ifoperstatus,any:iftype,sum:ifname,nope:ifinoctets,x,"
			 "min:ifinoctets");
	assert_int_equal(json_array_size(j), 7);
	expect_near(json_number_value(json_object_get(json_array_get(j, 0), "metricValue")),
		    sqrt(29600), 1e-3);
	assert_string_equal(json_string_value(json_object_get(json_array_get(j, 1), "metricValue")),
			    "up");
	assert_string_equal(json_string_value(json_object_get(json_array_get(j, 2), "metricValue")),
			    "ethernetCsmacd");
	for (size_t i = 3; i < 6; i++) {
		assert_null(json_object_get(json_array_get(j, i), "metricValue"));
		assert_int_equal(
			json_integer_value(json_object_get(json_array_get(j, i), "metricN")), 0);
	}
	/* whose it is, and how old */
	q = json_array_get(j, 6);
	assert_string_equal(json_string_value(json_object_get(q, "agent")), "10.0.0.1");
	assert_string_equal(json_string_value(json_object_get(q, "dataSource")), "1");
	assert_int_equal(json_integer_value(json_object_get(q, "lastUpdateMax")), 0);
	json_decref(j);
	j = metric_of(m, "med:ifinoctets");
	q = json_object_get(json_array_get(j, 0), "quartiles");
	expect_near(json_number_value(json_object_get(q, "q3")), 400, 1e-3);
	expect_near(json_number_value(json_object_get(q, "max")), 600, 1e-3);
	json_decref(j);
	j = metric_of(m, "ALL");
	assert_int_equal(json_array_size(j), XSF_NR_IF_METRICS);
	json_decref(j);
}

static long long number(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static void agents(void **state)
{
	struct made *m = *state;
	json_t *j, *a;
	size_t len;
	char *text;

	for (uint32_t slot = 1; slot <= 3; slot++) {
		struct xsf_agent *agent = &m->f->agents[slot];

		agent->last_seen_ns = m->f->s.now_ns - slot * SECOND;
		agent->first_seen_ns = m->f->s.now_ns - (10 + slot) * SECOND;
		agent->own.datagrams = 100 * slot;
		agent->shared.lost = slot;
		agent->uptime_ms = 1000 * slot;
	}
	m->f->sources[1].drops = 5;
	m->f->sources[5].drops = 6;
	m->f->sources[1].flow_sequence = 1;
	m->f->sources[5].counter_sequence = 1;
	m->f->interfaces[5].flow_lost = 9;
	text = xsf_compat_agents_json(&m->f->s, &len);
	j = parsed(text, len);
	assert_int_equal(json_object_size(j), 2);
	a = json_object_get(j, "10.0.0.1"); /* two sub-agents */
	assert_int_equal(json_object_size(a), 19);
	assert_int_equal(json_array_size(json_object_get(a, "sFlowDatagramSource")), 2);
	assert_int_equal(number(a, "sFlowDatagramsReceived"), 300);
	assert_int_equal(number(a, "sFlowDatagramsLost"), 3);
	assert_int_equal(number(a, "sFlowFlowDrops"), 11);
	assert_int_equal(number(a, "sFlowFlowLostSamples"), 9);
	assert_int_equal(number(a, "sFlowFlowDatasources"), 1);
	assert_int_equal(number(a, "sFlowCounterDatasources"), 1);
	assert_int_equal(number(a, "firstSeen"), 12000);
	assert_int_equal(number(a, "lastSeen"), 1000);
	assert_int_equal(number(a, "uptime"), 2000);
	json_decref(j);
}

static void analyzer(void **state)
{
	const struct xsf_compat_self self = { .cpu_process = 0.25,
					      .cpu_system = 0.5,
					      .heap_used = 1000,
					      .heap_max = 2000,
					      .uptime_ms = 3000,
					      .http_open = 4,
					      .http_total = 5 };
	struct made *m = *state;
	char *text, want[512];
	size_t len;
	json_t *j;

	m->f->s.totals.datagrams = 10;
	m->f->s.totals.bytes = 1ull << 40;
	m->f->s.totals.datagram_refused = 2;
	m->f->s.totals.fault_bad_version = 1;
	m->f->s.totals.fault_short_header = 1;
	text = xsf_compat_analyzer_text(&m->f->s, &self, &len);
	assert_non_null(text);
	snprintf(want, sizeof(want), "%s",
		 "sflow_analyzer_agent_count 2\nsflow_analyzer_received_bytes 1099511627776\n"
		 "sflow_analyzer_received_datagrams 10\nsflow_analyzer_discarded_datagrams 2\n"
		 "sflow_analyzer_heap_used_bytes 1000\nsflow_analyzer_cpu_load_process 0.25\n");
	assert_int_equal(len, strlen(want));
	assert_memory_equal(text, want, len);
	free(text);
	text = xsf_compat_analyzer_json(&m->f->s, &self, &len);
	j = parsed(text, len);
	assert_int_equal(json_object_size(j), 14);
	assert_int_equal(number(j, "sFlowAgents"), 2);
	assert_int_equal(number(j, "sFlowDatagramsDiscarded"), 2);
	assert_int_equal(number(j, "sFlowParseErrors"), 1);
	assert_int_equal(number(j, "sFlowUnsupportedVersion"), 1);
	assert_int_equal(number(j, "httpConnectionsTotal"), 5);
	assert_string_equal(json_string_value(json_object_get(j, "version")), XSF_VERSION);
	json_decref(j);
}

#define MADE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE(lines), MADE(too_many_names), MADE(aggregates), MADE(agents), MADE(analyzer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
