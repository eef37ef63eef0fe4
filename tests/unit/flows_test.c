// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Flows over HTTP: what is asked for, and the answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "near.h"
#include "serve/flows.h"

#define SECOND 1000000000ull

/* ---- parameters: "name=value" and so on, NULL ends ---- */

static unsigned int values(const void *arg, const char *name, const char **to, unsigned int max)
{
	const char *const *p = arg;
	size_t len = strlen(name);
	unsigned int nr = 0;

	for (; *p; p++) {
		if (strncmp(*p, name, len) != 0 || (*p)[len] != '=')
			continue;
		if (nr < max)
			to[nr] = *p + len + 1;
		nr++;
	}
	return nr;
}

static char why[XSF_FLOWS_WHY];

static int scrape(const char *const *parameters, struct xsf_flows_query *q)
{
	const struct xsf_flows_parameters p = { .arg = parameters, .values = values };

	*why = 0;
	return xsf_flows_scrape(&p, "ALL", q, why);
}

#define P(...) \
	(const char *const[]) \
	{ \
		__VA_ARGS__, NULL \
	}
#define LEAST "metric=m", "key=reason", "value=frames"

static void test_defaults(void **state)
{
	struct xsf_flows_query q;

	(void)state;
	assert_int_equal(scrape(P(LEAST), &q), 0);
	assert_string_equal(q.metric, "m");
	assert_string_equal(q.spec.options.keys, "reason");
	assert_string_equal(q.spec.options.value, "frames");
	assert_null(q.spec.options.filter);
	assert_int_equal(q.spec.options.n, 10);
	expect_near(q.spec.options.t, 15, 0);
	assert_int_equal(q.spec.options.dropped, 0);
	assert_string_equal(q.query.agents, "ALL");
	assert_int_equal(q.query.aggregation, XSF_FLOW_MAX);
	assert_int_equal(q.query.max_flows, 20);
	expect_near(q.query.min_value, 0.1, 0);
	expect_near(q.scale, 1, 0);
	assert_int_equal(q.nr_labels, 0);
	xsf_flows_query_free(&q);
	assert_int_equal(scrape(P(LEAST, "dropped=true"), &q), 0);
	assert_int_equal(q.spec.options.dropped, 1);
	assert_int_equal(q.query.aggregation, XSF_FLOW_SUM);
	xsf_flows_query_free(&q);
}

static void test_all(void **state)
{
	struct xsf_flows_query q;

	(void)state;
	assert_int_equal(
		scrape(P("scale=0.008", "scale=7", "key=a,[b:c]", "metric=m", "metric=n", "key=d",
			 "label=x", "label=,z", "value=bytes", "value=frames", "filter=a=b&c=d",
			 "filter=e", "n=7", "n=8", "t=0.5", "t=9", "dropped=false", "dropped=true",
			 "aggMode=edge", "aggMode=sum", "maxFlows=1000", "maxFlows=1",
			 "minValue=1e-3", "minValue=4", "other=1"),
		       &q),
		0);
	assert_string_equal(q.metric, "m");
	assert_string_equal(q.keys, "a,[b:c],d");
	assert_int_equal(q.nr_keys, 2);
	assert_int_equal(q.key_at[1], 8);
	assert_int_equal(q.nr_labels, 3);
	assert_memory_equal(q.labels, "x\0\0z", 5);
	assert_string_equal(q.spec.options.value, "bytes");
	assert_string_equal(q.spec.options.filter, "a=b&c=d");
	assert_int_equal(q.spec.options.n, 7);
	expect_near(q.spec.options.t, 0.5, 0);
	assert_int_equal(q.spec.options.dropped, 0);
	assert_int_equal(q.query.aggregation, XSF_FLOW_EDGE);
	assert_int_equal(q.query.max_flows, 1000);
	expect_near(q.query.min_value, 0.001, 0);
	expect_near(q.scale, 0.008, 0);
	xsf_flows_query_free(&q);
}

static void test_adjusted(void **state)
{
	static const struct {
		const char *n, *t;
		uint32_t want_n;
		double want_t;
	} cases[] = {
		{ "n=4", "t=0.1", 5, 0.1 },	     { "n=5", "t=0.09", 5, 0.1 },
		{ "n=20", "t=600", 20, 600 },	     { "n=21", "t=601", 20, 600 },
		{ "n=-1", "t=-1", 5, 0.1 },	     { "n=1e3", "t=1e300", 20, 600 },
		{ "n=99999999999", "t=0", 20, 0.1 }, { "n=0", "t=1.5e1", 5, 15 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xsf_flows_query q;

		assert_int_equal(scrape(P(LEAST, cases[i].n, cases[i].t), &q), 0);
		assert_int_equal(q.spec.options.n, cases[i].want_n);
		expect_near(q.spec.options.t, cases[i].want_t, 0);
		xsf_flows_query_free(&q);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *parameter, *why;
	} cases[] = {
		{ "n=", "n: '' is no number" },
		{ "n=five", "n: 'five' is no number" },
		{ "n=5.5", "n: '5.5' is no whole number" },
		{ "n=0x10", "n: '0x10' is no number" },
		{ "n= 5", "n: ' 5' is no number" },
		{ "t=inf", "t: 'inf' is no number" },
		{ "t=nan", "t: 'nan' is no number" },
		{ "t=1e999", "t: '1e999' is no number" },
		{ "t=1-2", "t: '1-2' is no number" },
		{ "maxFlows=0", "maxFlows: 0 is not from 1 to 1000" },
		{ "maxFlows=-20", "maxFlows: -20 is not from 1 to 1000" },
		{ "maxFlows=1001", "maxFlows: 1001 is not from 1 to 1000" },
		{ "maxFlows=2.5", "maxFlows: '2.5' is no whole number" },
		{ "minValue=-0.1", "minValue: -0.1 is below 0" },
		{ "minValue=x\ny", "minValue: 'x?y' is no number" },
		{ "minValue=\xff\xe2\x80\xae\xc3\xbf", "minValue: '????\xc3\xbf' is no number" },
		{ "scale=0", "scale: 0 is not from 1e-30 to 1e+30" },
		{ "scale=-1", "scale: -1 is not from 1e-30 to 1e+30" },
		{ "scale=1.1e30", "scale: 1.1e+30 is not from 1e-30 to 1e+30" },
		{ "scale=9e-31", "scale: 9e-31 is not from 1e-30 to 1e+30" },
		{ "scale=", "scale: '' is no number" },
		/* Taken for false, a capital letter would show samples as drops. */
		{ "dropped=True", "dropped: 'True' is neither true nor false" },
		{ "dropped=", "dropped: '' is neither true nor false" },
		{ "dropped=1", "dropped: '1' is neither true nor false" },
		{ "aggMode=", "aggMode: '' is none of sum, max, edge, core" },
		{ "aggMode=Sum", "aggMode: 'Sum' is none of sum, max, edge, core" },
	};
	struct xsf_flows_query q;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(scrape(P(LEAST, cases[i].parameter), &q), -EINVAL);
		assert_string_equal(why, cases[i].why);
		xsf_flows_query_free(&q);
	}
	assert_int_equal(scrape(P("metric=m", "key=reason"), &q), -EINVAL);
	assert_string_equal(why, "value is missing");
	xsf_flows_query_free(&q);
	assert_int_equal(scrape(P("metric=m", "key=reason", "value="), &q), -EINVAL);
	assert_string_equal(why, "value is missing");
	xsf_flows_query_free(&q);
	assert_int_equal(scrape(P("metric=m", "value=frames"), &q), -EINVAL);
	assert_string_equal(why, "key is missing");
	xsf_flows_query_free(&q);
	assert_int_equal(scrape(P("metric=m", "key=", "value=frames"), &q), -EINVAL);
	assert_string_equal(why, "key is missing");
	xsf_flows_query_free(&q);
	assert_int_equal(scrape(P("key=reason", "value=frames"), &q), -EINVAL);
	assert_string_equal(why, "metric is missing");
	xsf_flows_query_free(&q);
	assert_int_equal(scrape(P("metric=", "key=reason", "value=frames"), &q), -EINVAL);
	assert_string_equal(why, "metric is missing");
	xsf_flows_query_free(&q);
}

static void test_many(void **state)
{
	const char *parameters[XSF_FLOWS_MAX_VALUES + 5] = { "metric=m", "value=frames", "key=k" };
	struct xsf_flows_query q;

	(void)state;
	for (int i = 3; i < XSF_FLOWS_MAX_VALUES + 4; i++)
		parameters[i] = "label=l";
	assert_int_equal(scrape(parameters, &q), -EINVAL);
	assert_string_equal(why, "label: 257 of them, more than 256");
	xsf_flows_query_free(&q);
	parameters[3] = "other=1";
	assert_int_equal(scrape(parameters, &q), 0);
	assert_int_equal(q.nr_labels, 256);
	xsf_flows_query_free(&q);
}

/* Which of several keys, and where in it. */
static void test_where(void **state)
{
	struct xsf_flow_error error = { .what = "key", .why = "no\nsuch key" };
	struct xsf_flows_query q;

	(void)state;
	assert_int_equal(scrape(P("metric=m", "value=v", "key=reason", "key=a,bad", "key=c"), &q),
			 0);
	error.at = 0;
	xsf_flows_error(&q, &error, why);
	assert_string_equal(why, "key 1 'reason', at offset 0: no?such key");
	error.at = 9;
	xsf_flows_error(&q, &error, why);
	assert_string_equal(why, "key 2 'a,bad', at offset 2: no?such key");
	error.at = 13;
	xsf_flows_error(&q, &error, why);
	assert_string_equal(why, "key 3 'c', at offset 0: no?such key");
	error.at = 14;
	xsf_flows_error(&q, &error, why);
	assert_string_equal(why, "key 3 'c', at offset 1: no?such key");
	xsf_flows_error(NULL, &error, why);
	assert_string_equal(why, "key, at offset 14: no?such key");
	xsf_flows_query_free(&q);
	assert_int_equal(scrape(P(LEAST), &q), 0);
	xsf_flows_error(&q, &error, why);
	assert_string_equal(why, "key, at offset 14: no?such key");
	xsf_flows_query_free(&q);
}

/* ---- answers ---- */

static struct xsf_flow *flow_of(const struct xsf_flow_options *options)
{
	struct xsf_flow_error error;
	struct xsf_flow *flow;

	if (xsf_flow_new(options, &flow, &error))
		fail_msg("%s at %u: %s", error.what, error.at, error.why);
	return flow;
}

static int text_of(const char *const *parameters, const struct xsf_flow_row *rows, int nr,
		   char **text)
{
	struct xsf_flows_query q;
	struct xsf_flow *flow;
	size_t len;
	int err;

	assert_int_equal(scrape(parameters, &q), 0);
	flow = flow_of(&q.spec.options);
	err = xsf_flows_text(&q, flow, rows, nr, text, &len, why);
	if (!err) {
		assert_int_equal(strnlen(*text, len), len);
		*text = realloc(*text, len + 1);
		assert_non_null(*text);
		(*text)[len] = 0;
	}
	xsf_flow_free(flow);
	xsf_flows_query_free(&q);
	return err;
}

static void test_text(void **state)
{
	const struct xsf_flow_row rows[] = {
		{ .keys = { "acl", "a\\b\"c\nd\xff\x01", "" }, .value = 1234567890123 },
		{ .keys = { "\xc3\xa9", "{}=,", "\xe2\x80\xae" }, .value = 0.25 },
	};
	char *text;

	(void)state;
	assert_int_equal(text_of(P("metric=1 m-é", "key=reason",
				   "key=null:[or:ipsource:ip6source]:none,ipdestination",
				   "value=frames", "label=", "label=a.b,9z", "scale=0.001"),
				 rows, 2, &text),
			 0);
	assert_string_equal(
		text, "_1_m___{reason=\"acl\",a_b=\"a\\\\b\\\"c\\nd??\",_9z=\"\"} 1234567890.12\n"
		      "_1_m___{reason=\"\xc3\xa9\",a_b=\"{}=,\",_9z=\"???\"} 0.00025\n");
	free(text);
	assert_int_equal(text_of(P("metric=m", "key=reason,null:[or:ipsource:ip6source]:none",
				   "key=ipdestination", "value=frames"),
				 rows, 1, &text),
			 0);
	assert_string_equal(text, "m{reason=\"acl\",null__or_ipsource_ip6source__none="
				  "\"a\\\\b\\\"c\\nd??\",ipdestination=\"\"} 1.23456789012e+12\n");
	free(text);
	assert_int_equal(text_of(P(LEAST), rows, 0, &text), 0);
	assert_string_equal(text, "");
	free(text);
	/* Fewer labels are none of their keys'. */
	assert_int_equal(text_of(P("metric=m", "key=reason,stack", "value=frames", "label=x"), rows,
				 1, &text),
			 0);
	assert_memory_equal(text, "m{x=\"acl\",stack=", 16);
	free(text);
}

static void test_labels(void **state)
{
	const struct xsf_flow_row row = { .keys = { "a", "b", "c" } };
	char *text;

	(void)state;
	assert_int_equal(text_of(P(LEAST, "label=a,b"), &row, 1, &text), -ERANGE);
	assert_string_equal(why, "label: 2 labels for 1 keys");
	assert_null(text);
	assert_int_equal(
		text_of(P("metric=m", "value=frames", "key=reason,stack,vlan", "label=a.b,,a_b"),
			&row, 1, &text),
		-EINVAL);
	assert_string_equal(why, "label: keys 1 and 3 are both 'a_b'");
	assert_int_equal(
		text_of(P("metric=m", "value=frames", "key=reason,reason"), &row, 1, &text),
		-EINVAL);
	assert_int_equal(text_of(P(LEAST, "label=__name__"), &row, 1, &text), -EINVAL);
}

/* As long as values can be, and as many. */
static void test_long(void **state)
{
	struct xsf_flow_row *rows = calloc(XSF_FLOWS_MAX_ROWS, sizeof(*rows));
	char value[XSF_FLOW_VALUE_TEXT + 1], *text;
	size_t lines = 0;

	(void)state;
	assert_non_null(rows);
	memset(value, '"', XSF_FLOW_VALUE_TEXT);
	value[XSF_FLOW_VALUE_TEXT] = 0;
	for (int i = 0; i < XSF_FLOWS_MAX_ROWS; i++) {
		rows[i].keys[0] = rows[i].keys[1] = value;
		rows[i].value = XSF_FLOWS_MAX_ROWS - i;
	}
	assert_int_equal(text_of(P("metric=m", "key=reason,stack", "value=frames"), rows,
				 XSF_FLOWS_MAX_ROWS, &text),
			 0);
	for (char *line = text; *line; lines++) {
		char want[2 * XSF_FLOW_VALUE_TEXT + 1], got[2 * XSF_FLOW_VALUE_TEXT + 1];

		for (int i = 0; i < 2 * XSF_FLOW_VALUE_TEXT; i++)
			want[i] = i % 2 ? '"' : '\\';
		want[2 * XSF_FLOW_VALUE_TEXT] = 0;
		assert_int_equal(sscanf(line, "m{reason=\"%512[\\\"]", got), 1);
		assert_string_equal(got, want);
		line = strchr(line, '\n');
		assert_non_null(line);
		line++;
	}
	assert_int_equal(lines, XSF_FLOWS_MAX_ROWS);
	free(text);
	free(rows);
}

/* ---- JSON ---- */

static struct xsf_flow_spec spec(const char *keys, int dropped)
{
	return (struct xsf_flow_spec){ .options = { .keys = keys,
						    .value = "frames",
						    .n = 10,
						    .t = 15,
						    .dropped = dropped },
				       .separator = "," };
}

static json_t *parsed(char *text, size_t len)
{
	json_error_t error;
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);

	if (!json)
		fail_msg("%s: %.*s", error.text, (int)len, text);
	free(text);
	return json;
}

static int read_it(const char *text, struct xsf_flows_document *d)
{
	*why = 0;
	return xsf_flows_read(text, strlen(text), d, why);
}

static void test_read(void **state)
{
	struct xsf_flows_document d;

	(void)state;
	assert_int_equal(read_it("{\"value\":\"bytes\"}", &d), 0);
	assert_string_equal(d.spec.options.keys, "");
	assert_string_equal(d.spec.options.value, "bytes");
	assert_int_equal(d.spec.options.n, 5);
	expect_near(d.spec.options.t, 2, 0);
	assert_string_equal(d.spec.separator, ",");
	assert_int_equal(d.spec.aggregation, XSF_FLOW_MAX);
	xsf_flows_document_free(&d);
	assert_int_equal(
		read_it("{\"aggMode\":\"core\",\"dropped\":true,\"keys\":\"a\",\"value\":\"b\","
			"\"filter\":\"c\",\"n\":\"30\",\"t\":0.25,\"fs\":\"_SEP_\",\"log\":true,"
			"\"flowStart\":false,\"activeTimeout\":10}",
			&d),
		0);
	assert_int_equal(d.spec.options.n, 20);
	expect_near(d.spec.options.t, 0.25, 0);
	assert_string_equal(d.spec.options.filter, "c");
	assert_string_equal(d.spec.separator, "_SEP_");
	assert_int_equal(d.spec.options.dropped, 1);
	assert_int_equal(d.spec.aggregation, XSF_FLOW_CORE);
	xsf_flows_document_free(&d);
	assert_int_equal(read_it("{\"value\":\"frames\",\"dropped\":true,\"filter\":null}", &d), 0);
	assert_int_equal(d.spec.aggregation, XSF_FLOW_SUM);
	assert_null(d.spec.options.filter);
	xsf_flows_document_free(&d);
}

static void test_read_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "line 1, column 0: *" },
		{ "{", "line 1, column 1: *" },
		{ "[]", "the document is no object" },
		{ "{}", "value is missing" },
		{ "{\"value\":\"\"}", "value is missing" },
		{ "{\"value\":1}", "value is no string" },
		{ "{\"value\":\"a\",\"value\":\"b\"}", "line 1, column 20: *" },
		{ "{\"value\":\"a\",\"keys\":[\"b\"]}", "keys is no string" },
		{ "{\"value\":\"a\",\"keys\":\"b\\u0000\"}", "line 1, *" },
		{ "{\"value\":\"a\",\"n\":true}", "n is no number" },
		{ "{\"value\":\"a\",\"n\":1.5}", "n is no whole number" },
		{ "{\"value\":\"a\",\"t\":\"x\"}", "t is no number" },
		{ "{\"value\":\"a\",\"dropped\":\"true\"}", "dropped is neither true nor false" },
		{ "{\"value\":\"a\",\"aggMode\":\"avg\"}",
		  "aggMode: 'avg' is none of sum, max, edge, core" },
		{ "{\"value\":\"a\",\"fs\":\"12345678901234567\"}", "fs is longer than 16 bytes" },
		{ "{\"value\":\"a\",\"values\":\"b\"}", "'values' is not known here" },
		{ "{\"value\":\"a\",\"fil\\nter\":\"b\"}", "'fil?ter' is not known here" },
	};
	struct xsf_flows_document d;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(read_it(cases[i].text, &d), -EINVAL);
		if (fnmatch(cases[i].why, why, FNM_NOESCAPE) != 0)
			fail_msg("%s: '%s', want '%s'", cases[i].text, why, cases[i].why);
		xsf_flows_document_free(&d);
	}
}

static void test_json(void **state)
{
	struct xsf_flow_row rows[] = {
		{ .keys = { "acl", "a\"\\\n" }, .value = 1.5, .nr_sources = 2, .index = 3 },
		{ .keys = { "red", "" }, .value = 1e-7, .nr_sources = 1, .class = 3, .index = 9 },
	};
	struct xsf_flow_set *set = xsf_flow_set_new(1);
	struct xsf_flow_definition *d;
	struct xsf_flow_spec s = spec("reason,stack", 1);
	struct xsf_flow_error error;
	json_t *json;
	char *text;
	size_t len;

	(void)state;
	s.separator = "\"_";
	s.options.filter = "reason!=\"x\\y\"";
	s.options.t = 0.5;
	assert_int_equal(xsf_flow_set_put(set, "na\"me", &s, &error), 0);
	assert_int_equal(xsf_flow_set_scraped(set, &s, SECOND, &d, &error), 0);
	d = xsf_flow_set_named(set, "na\"me");
	assert_int_equal(xsf_flows_definition_json(d, &text, &len), 0);
	json = parsed(text, len);
	assert_string_equal(json_string_value(json_object_get(json, "keys")), "reason,stack");
	assert_string_equal(json_string_value(json_object_get(json, "filter")), s.options.filter);
	assert_string_equal(json_string_value(json_object_get(json, "fs")), "\"_");
	assert_string_equal(json_string_value(json_object_get(json, "aggMode")), "sum");
	assert_true(json_is_true(json_object_get(json, "dropped")));
	assert_int_equal(json_integer_value(json_object_get(json, "n")), 10);
	expect_near(json_number_value(json_object_get(json, "t")), 0.5, 0);
	/* It can be PUT again. */
	text = json_dumps(json, 0);
	{
		struct xsf_flows_document document;

		assert_int_equal(read_it(text, &document), 0);
		assert_string_equal(document.spec.options.filter, s.options.filter);
		xsf_flows_document_free(&document);
	}
	free(text);
	json_decref(json);
	assert_int_equal(xsf_flows_list_json(set, &text, &len), 0);
	json = parsed(text, len);
	assert_int_equal(json_object_size(json), 1);
	assert_non_null(json_object_get(json, "na\"me"));
	json_decref(json);

	rows[0].agent.addr[10] = rows[0].agent.addr[11] = 0xff;
	rows[0].agent.addr[12] = 10;
	assert_int_equal(xsf_flows_active_json(d, rows, 2, &text, &len), 0);
	json = parsed(text, len);
	assert_int_equal(json_array_size(json), 2);
#define MEMBER(i, name) json_object_get(json_array_get(json, i), name)
	assert_string_equal(json_string_value(MEMBER(0, "agent")), "10.0.0.0");
	assert_string_equal(json_string_value(MEMBER(0, "dataSource")), "3");
	assert_string_equal(json_string_value(MEMBER(0, "key")), "acl\"_a\"\\\n");
	assert_int_equal(json_integer_value(MEMBER(0, "flowN")), 2);
	expect_near(json_number_value(MEMBER(0, "value")), 1.5, 0);
	assert_string_equal(json_string_value(MEMBER(1, "dataSource")), "3.9");
	expect_near(json_number_value(MEMBER(1, "value")), 1e-7, 1e-18);
	json_decref(json);
	assert_int_equal(xsf_flows_active_json(d, rows, 0, &text, &len), 0);
	assert_int_equal(len, 2);
	assert_memory_equal(text, "[]", 2);
	free(text);
	xsf_flow_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),     cmocka_unit_test(test_all),
		cmocka_unit_test(test_adjusted),     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_many),	     cmocka_unit_test(test_where),
		cmocka_unit_test(test_text),	     cmocka_unit_test(test_labels),
		cmocka_unit_test(test_long),	     cmocka_unit_test(test_read),
		cmocka_unit_test(test_read_refused), cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
