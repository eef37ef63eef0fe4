// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/json.h"

#include <jansson.h>
#include <stdio.h>
#include <time.h>
#include "fixture.h"

static ssize_t read_json(void *j, char *buf, size_t max)
{
	return xsf_json_read(j, buf, max);
}

static char *render(const struct fixture *f, size_t chunk)
{
	struct xsf_json *j = xsf_json_open(&f->s);
	char *text;

	assert_non_null(j);
	text = fixture_read(read_json, j, chunk);
	xsf_json_close(j);
	return text;
}

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		fail_msg("%d:%d %s", error.line, error.column, error.text);
	return root;
}

/* The value at a path of keys and array places, "agents.0.name"; NULL when it is not there. */
static json_t *at(json_t *v, const char *path)
{
	char copy[128], *save, *key;

	snprintf(copy, sizeof(copy), "%s", path);
	for (key = strtok_r(copy, ".", &save); key && v; key = strtok_r(NULL, ".", &save)) {
		if (json_is_array(v))
			v = json_array_get(v, strtoul(key, NULL, 10));
		else
			v = json_object_get(v, key);
	}
	return v;
}

static void expect_int(json_t *root, const char *path, uint64_t value)
{
	json_t *v = at(root, path);

	if (!json_is_integer(v))
		fail_msg("%s is no integer", path);
	if ((uint64_t)json_integer_value(v) != value)
		fail_msg("%s is %lld", path, (long long)json_integer_value(v));
}

static void expect_str(json_t *root, const char *path, const char *value)
{
	json_t *v = at(root, path);

	if (!json_is_string(v))
		fail_msg("%s is no string", path);
	if (strcmp(json_string_value(v), value) != 0)
		fail_msg("%s is %s", path, json_string_value(v));
}

static void expect_none(json_t *root, const char *path)
{
	if (at(root, path))
		fail_msg("%s is there", path);
}

static void expect_samples(json_t *root, const char *path, uint64_t samples, uint64_t packets)
{
	char sub[128];

	snprintf(sub, sizeof(sub), "%s.samples", path);
	expect_int(root, sub, samples);
	snprintf(sub, sizeof(sub), "%s.packets", path);
	expect_int(root, sub, packets);
}

static void test_totals(void **state)
{
	struct fixture *f = fixture_full();
	const struct xsf_totals *t = &f->s.totals;
	uint64_t malformed = 0, kinds = 0;
	char *text;
	json_t *root;

	(void)state;
	f->s.totals.fault_bad_version = 0;
	text = render(f, 4096);
	root = parse(text);
	expect_int(root, "totals.datagrams", t->datagrams);
	expect_int(root, "totals.flow_samples", t->sample_flow + t->sample_flow_expanded);
	expect_int(root, "totals.counter_samples", t->sample_counter + t->sample_counter_expanded);
	expect_int(root, "totals.drop_samples", t->sample_drop);
	expect_int(root, "totals.fragments", t->fragments);
	expect_int(root, "totals.fragments_first", t->fragments_first);
	expect_int(root, "totals.capture_cut", t->capture_cut);
	expect_int(root, "totals.sampled_packets", t->sampled_packets);
	expect_int(root, "totals.sampled_bytes", t->sampled_bytes);
	expect_int(root, "totals.bytes", t->bytes);
	expect_none(root, "totals.malformed_by_kind.bad_version");
#define FAULT(name, help) \
	if (t->fault_##name) \
		expect_int(root, "totals.malformed_by_kind." #name, t->fault_##name); \
	kinds += !!t->fault_##name; \
	malformed += t->fault_##name;
#define FRAME(name, help) expect_int(root, "totals.frames_by_outcome." #name, t->name);
#define DATAGRAM(name, help) \
	expect_int(root, "totals.datagrams_by_outcome." #name, t->datagram_##name);
#define SAMPLE(name, help) expect_int(root, "totals.samples_by_type." #name, t->sample_##name);
#define HEADER(name, help) \
	expect_int(root, "totals.sampled_headers_by_outcome." #name, t->header_##name);
#define EVENT(name, help) expect_int(root, "totals.events." #name, t->name);
	XSF_FAULTS(FAULT)
	XSF_FRAME_OUTCOMES(FRAME)
	XSF_DATAGRAM_OUTCOMES(DATAGRAM)
	XSF_SAMPLE_TYPES(SAMPLE)
	XSF_HEADER_OUTCOMES(HEADER)
	XSF_EVENTS(EVENT)
	expect_int(root, "totals.malformed", malformed);
	assert_int_equal(json_object_size(at(root, "totals.malformed_by_kind")), kinds);
	json_decref(root);
	free(text);
	fixture_free(f);
}

static void test_roce(void **state)
{
	struct fixture *f = fixture_full();
	char *text = render(f, 4096);
	json_t *root = parse(text);

	(void)state;
	/* v2 and tunnel, over groups and directions */
	expect_samples(root, "totals.roce_opcodes.10", 4, 400);
	expect_int(root, "totals.roce_opcodes.10.bytes", 600000);
	expect_samples(root, "totals.roce_opcodes.224", 4, 400);
	assert_int_equal(json_object_size(at(root, "totals.roce_opcodes")), 3);
	expect_samples(root, "totals.roce_v1_opcodes.17", 2, 200);
	assert_int_equal(json_object_size(at(root, "totals.roce_v1_opcodes")), 1);
	expect_int(root, "totals.drop_reasons.acl", 5);
	expect_int(root, "totals.drop_reasons.dev_hdr", 3);
	expect_int(root, "totals.drop_reasons.400", 3);
	expect_int(root, "totals.drop_reasons.70000", 6);
	assert_int_equal(json_object_size(at(root, "totals.drop_reasons")), 4);
	expect_int(root, "totals.sampled_discards.port_unreachable", 4);
	expect_int(root, "totals.sampled_discards.70000", 7);
	expect_samples(root, "totals.ecn.3", 2, 20);
	expect_samples(root, "totals.ecn.2", 3, 30);
	expect_samples(root, "totals.ecn.0", 0, 0);
	expect_samples(root, "totals.ip_ecn.1", 6, 60);
	expect_samples(root, "totals.ip_ecn.3", 1, 10);
	expect_samples(root, "totals.trimmed", 6, 60);
	expect_samples(root, "totals.rdma_lengths", 4, 40);
	expect_int(root, "totals.rdma_lengths.sum", 4295032832);
	expect_int(root, "totals.rdma_lengths.sum_scaled", 42950328320);
	expect_samples(root, "totals.rdma_lengths.buckets.32768", 2, 20);
	expect_samples(root, "totals.rdma_lengths.buckets.4294967296", 1, 10);
	assert_int_equal(json_object_size(at(root, "totals.rdma_lengths.buckets")), 3);
	expect_samples(root, "totals.aeth.ack.7", 4, 40);
	expect_samples(root, "totals.aeth.ack.31", 5, 50);
	expect_samples(root, "totals.aeth.rnr.14", 1, 10);
	expect_samples(root, "totals.aeth.nak.0", 2, 20);
	expect_samples(root, "totals.aeth.nak.31", 4, 40);
	assert_int_equal(json_object_size(at(root, "totals.aeth.reserved")), 0);
	expect_samples(root, "totals.cnp", 17, 170);
	expect_samples(root, "totals.cnp.by_se_m.se0_m1", 9, 90);
	json_decref(root);
	free(text);
	fixture_free(f);
}

static void test_agents(void **state)
{
	struct fixture *f = fixture_full();
	char *text = render(f, 4096);
	json_t *root = parse(text);

	(void)state;
	assert_int_equal(json_array_size(at(root, "agents")), 2);
	expect_str(root, "agents.0.agent", "10.0.0.1");
	expect_int(root, "agents.0.sub_agent", 0);
	expect_str(root, "agents.0.name", "leaf1");
	expect_str(root, "agents.0.source", "192.0.2.1");
	expect_int(root, "agents.0.source_port", 40000);
	expect_int(root, "agents.0.datagrams", 20);
	expect_int(root, "agents.0.bytes", 26000);
	expect_int(root, "agents.0.lost", 5); /* settled and pending */
	expect_int(root, "agents.0.pending", 2);
	expect_int(root, "agents.0.duplicate", 2);
	expect_int(root, "agents.0.reordered", 1);
	expect_int(root, "agents.0.restarts", 4);
	expect_int(root, "agents.0.faulty", 5);
	expect_int(root, "agents.0.flow_samples", 140);
	expect_int(root, "agents.0.counter_samples", 6);
	expect_int(root, "agents.0.drop_samples", 7);
	expect_int(root, "agents.0.drops", 8);
	expect_int(root, "agents.0.uptime_ms", 123456);
	assert_true(json_real_value(at(root, "agents.0.last_seen_seconds_ago")) == 1.5);
	expect_str(root, "agents.1.agent", "2001:db8::2");
	expect_int(root, "agents.1.sub_agent", 100000);
	expect_str(root, "agents.1.name", "");
	expect_int(root, "other_agents.datagrams", 77);
	expect_int(root, "tables.agents.size", XSF_AGENTS - 1);
	expect_int(root, "tables.agents.used", 3);
	expect_int(root, "tables.agents.stale", 1);
	expect_int(root, "tables.sources.used", 6);
	json_decref(root);
	free(text);
	fixture_free(f);
}

static void test_drops(void **state)
{
	struct fixture *f = fixture_full();
	char *text = render(f, 4096);
	json_t *root = parse(text);

	(void)state;
#define SUMS "agents.0.drop_notifications."
	expect_int(root, SUMS "notified", 7);
	expect_int(root, SUMS "suppressed", 8);
	expect_int(root, SUMS "lost", 5);
	expect_int(root, SUMS "pending", 1);
	expect_int(root, SUMS "duplicate", 6);
	expect_int(root, SUMS "reordered", 9);
	expect_int(root, SUMS "restarts", 2);
	expect_int(root, SUMS "at_least", 19);
	expect_int(root, "agents.1.drop_notifications.at_least", 0);
	expect_str(root, "drop_agents.0.agent", "10.0.0.1");
	expect_int(root, "drop_agents.0.sub_agent", 0);
	expect_str(root, "drop_agents.0.reason", "dev_hdr");
	expect_int(root, "drop_agents.0.notified", 3);
	expect_int(root, "drop_agents.2.notified", 6);
	expect_none(root, "drop_agents.3");
	expect_str(root, "drop_places.0.agent", "10.0.0.1");
	expect_int(root, "drop_places.0.ifindex", 12);
	expect_str(root, "drop_places.0.ifname", "swp12");
	expect_str(root, "drop_places.0.reason", "dev_hdr");
	expect_int(root, "drop_places.0.notified", 3);
	assert_true(json_real_value(at(root, "drop_places.0.first_seen_seconds_ago")) == 899);
	assert_true(json_real_value(at(root, "drop_places.0.last_seen_seconds_ago")) == 2);
	expect_int(root, "drop_places.2.ifindex", 0);
	expect_str(root, "drop_places.3.agent", "2001:db8::2");
	expect_int(root, "drop_places.3.sub_agent", 100000);
	expect_str(root, "drop_places.3.reason", "70000");
	expect_none(root, "drop_places.4");
	expect_int(root, "drop_places_elsewhere.notified", 41);
	json_decref(root);
	free(text);
	fixture_free(f);
}

static void test_interfaces(void **state)
{
	static const char *const counters[] = {
		"in_octets",	 "in_ucast",	 "in_multicast", "in_broadcast", "in_discards",
		"in_errors",	 "in_unknown",	 "out_octets",	 "out_ucast",	 "out_multicast",
		"out_broadcast", "out_discards", "out_errors",	 "promiscuous",	 "speed",
		"status",	 "admin",	 "oper",
	};
	static const uint64_t values[] = { 0,  11, 12, 13, 14, 15, 16,		 77,
					   21, 22, 23, 24, 25, 0,  400000000000, 1 };
	struct fixture *f = fixture_full();
	char *text, path[64];
	json_t *root;

	(void)state;
	f->interfaces[1].in_octets = 9223372036854775813u;
	text = render(f, 4096);
	/* beyond what jansson's integers hold: exact in the text, which a reader of 64 bits can use */
	assert_non_null(strstr(text, "\"in_octets\":9223372036854775813,"));
	free(text);
	f->interfaces[1].in_octets = 0;
	text = render(f, 4096);
	root = parse(text);
	assert_int_equal(json_array_size(at(root, "interfaces")), 3);
	expect_str(root, "interfaces.0.agent", "10.0.0.1");
	expect_int(root, "interfaces.0.sub_agent", 0);
	expect_int(root, "interfaces.0.ifindex", 12);
	expect_str(root, "interfaces.0.ifname", "swp12");
	expect_int(root, "interfaces.0.type", 6);
	expect_int(root, "interfaces.0.direction", 1);
	expect_str(root, "interfaces.0.admin", "up");
	expect_str(root, "interfaces.0.oper", "down");
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		snprintf(path, sizeof(path), "interfaces.0.%s", counters[i]);
		expect_int(root, path, values[i]);
	}
	expect_samples(root, "interfaces.0.sampled.ingress", 10, 1000);
	expect_int(root, "interfaces.0.sampled.ingress.bytes", 1500000);
	expect_int(root, "interfaces.0.sampled.ingress.ce_packets", 30);
	expect_samples(root, "interfaces.0.sampled.egress", 5, 500);
	expect_samples(root, "interfaces.0.sampled.other", 0, 0);
	expect_int(root, "interfaces.0.sampled.other.bytes", 0);
	expect_int(root, "interfaces.0.sampling_rate", 100);
	expect_int(root, "interfaces.0.sample_pool", 5000);
	expect_int(root, "interfaces.0.drops", 9);
	expect_int(root, "interfaces.0.flow_lost", 2);
	/* all ones have no key */
	expect_int(root, "interfaces.1.ifindex", 0x1000000);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		snprintf(path, sizeof(path), "interfaces.1.%s", counters[i]);
		expect_none(root, path);
	}
	/* no record: a name, but no counters */
	expect_int(root, "interfaces.2.ifindex", 14);
	expect_str(root, "interfaces.2.ifname", "");
	expect_none(root, "interfaces.2.type");
	assert_int_equal(json_array_size(at(root, "sources")), 1);
	expect_int(root, "sources.0.class", 1);
	expect_int(root, "sources.0.index", 30);
	expect_samples(root, "sources.0.sampled.other", 2, 200);
	expect_samples(root, "other_sources.sampled.other", 1, 2);
	expect_str(root, "attached.0.ifname", "eth0");
	expect_str(root, "attached.0.mode", "native");
	expect_str(root, "attached.0.verdict", "pass");
	expect_str(root, "attached.0.how", "link");
	expect_int(root, "attached.0.run_time_ns", 1500000001);
	json_decref(root);
	free(text);
	fixture_free(f);
}

static void test_chunks(void **state)
{
	static const size_t chunks[] = { 1, 7, 1000, 1 << 20 };
	struct fixture *f = fixture_full();
	char *text = render(f, 4096);

	(void)state;
	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		char *other = render(f, chunks[i]);

		assert_string_equal(text, other);
		free(other);
	}
	free(text);
	fixture_free(f);
}

static void test_empty(void **state)
{
	struct fixture *f = fixture_new(0, 0);
	char *text;
	json_t *root;

	(void)state;
	f->s.nr_groups = 0;
	text = render(f, 4096);
	root = parse(text);
	expect_int(root, "totals.datagrams", 0);
	assert_true(json_is_object(at(root, "totals.malformed_by_kind")));
	assert_true(json_is_object(at(root, "totals.roce_opcodes")));
	assert_true(json_is_array(at(root, "agents")));
	assert_true(json_is_array(at(root, "interfaces")));
	json_decref(root);
	free(text);
	fixture_free(f);
}

static void test_hostile_names(void **state)
{
	static const struct {
		const char *name, *value;
	} names[] = {
		{ "a\\b\"c\nd", "a\\b\"c\nd" },
		{ "\r\t\x01\x7f", "????" },
		{ "\xc3\xa9\xf0\x9f\x98\x80", "\xc3\xa9\xf0\x9f\x98\x80" },
		{ "\xed\xa0\x80\xff", "????" },
		{ "\",\"lost\":0,\"x\":\"", "\",\"lost\":0,\"x\":\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct fixture *f = fixture_new(4, 4);
		char *text;
		json_t *root;

		fixture_name(fixture_agent(f, 1, 0), names[i].name);
		fixture_source(f, 1, 1, 0, 1);
		fixture_interface(f, 1, names[i].name);
		text = render(f, 4096);
		root = parse(text);
		expect_str(root, "agents.0.name", names[i].value);
		expect_str(root, "interfaces.0.ifname", names[i].value);
		json_decref(root);
		free(text);
		fixture_free(f);
	}
}

/* Every piece at its longest fits its buffer: reading would stop with an error. */
static void test_all_values_large(void **state)
{
	struct fixture *f = fixture_full();
	char *text;

	(void)state;
	for (uint32_t slot = 0; slot < 16; slot++) {
		memset(f->sources[slot].own, 0xff, sizeof(f->sources[slot].own));
		memset(&f->interfaces[slot].type, 0xfe,
		       offsetof(struct xsf_interface, name) - offsetof(struct xsf_interface, type));
		memset(f->interfaces[slot].name, '"', XSF_NAME_LEN);
	}
	memset(&f->s.totals, 0xff, sizeof(f->s.totals));
	memset(f->rdma, 0xff, XSF_GROUPS * XSF_DIRECTIONS * sizeof(*f->rdma));
	memset(f->tos, 0xff, XSF_GROUPS * XSF_DIRECTIONS * sizeof(*f->tos));
	memset(f->ops, 0xff, XSF_GROUPS * XSF_DIRECTIONS * XSF_CARRIERS * sizeof(*f->ops));
	text = render(f, 4096);
	assert_non_null(strstr(text, "\"datagrams\":18446744073709551615,"));
	free(text);
	fixture_free(f);
}

static void test_time(void **state)
{
	struct fixture *f = fixture_new(2001, 65536);
	static char buf[32768];
	struct timespec start, end;
	struct xsf_json *j;
	uint64_t bytes = 0;
	ssize_t n;

	(void)state;
	for (uint32_t a = 1; a <= 2000; a++)
		fixture_name(fixture_agent(f, a, 0), "a-switch");
	for (uint32_t slot = 1; slot < 65536; slot++) {
		fixture_source(f, slot, 1 + slot % 2000, 0, slot);
		fixture_interface(f, slot, "Ethernet1/12/3")->in_octets = 1;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	j = xsf_json_open(&f->s);
	while ((n = xsf_json_read(j, buf, sizeof(buf))) > 0)
		bytes += (uint64_t)n;
	assert_int_equal(n, 0);
	xsf_json_close(j);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	printf("# 65535 interfaces: %.1f ms of CPU, %.1f MB\n",
	       (double)(end.tv_sec - start.tv_sec) * 1e3 +
		       (double)(end.tv_nsec - start.tv_nsec) / 1e6,
	       (double)bytes / 1e6);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_roce),
		cmocka_unit_test(test_agents),
		cmocka_unit_test(test_interfaces),
		cmocka_unit_test(test_drops),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_all_values_large),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
