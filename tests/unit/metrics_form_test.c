// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The form of /metrics: syntax, lint, hostile names, bounds, changes while it is read, time. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "exposition.h"

static void test_strict(void **state)
{
	static const size_t chunks[] = { 1, 7, 100, 16384, 1 << 20 };
	struct fixture *f = fixture_full();
	char *text = render(f, &options, 4096);
	uint32_t families, series;

	(void)state;
	read_exposition(text, &families, &series);
	assert_true(families > 90 && series > 300);
	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		char *other = render(f, &options, chunks[i]);

		assert_string_equal(text, other);
		free(other);
	}
	free(text);
	fixture_free(f);

	/* nothing there at all, not even slots */
	f = fixture_new(0, 0);
	f->s.nr_groups = 0;
	text = render(f, NULL, 4096);
	read_exposition(text, NULL, NULL);
	free(text);
	fixture_free(f);
}

static void test_promtool(void **state)
{
	struct fixture *f;
	char *text, line[256], path[] = "/tmp/xsf-metrics-XXXXXX";
	uint32_t slot, lines = 0;
	FILE *pipe;
	int fd;

	(void)state;
	if (system("promtool --version >/dev/null 2>&1") != 0)
		skip();
	f = fixture_full();
	/* every row of every table, so that every family is there */
	for (uint32_t row = 0; row < XSF_GROUPS * XSF_DIRECTIONS; row++) {
		for (uint32_t op = 0; op < 256; op++) {
			f->ops[row * XSF_CARRIERS + row % XSF_CARRIERS].opcode[op].samples = 1;
			f->tos[row].roce[op].samples = 1;
		}
		for (uint32_t n = 0; n < 32; n++)
			f->rdma[row].reserved_syndrome[n].samples = 1;
	}
	for (slot = 0; slot < 16; slot++) {
		f->interfaces[slot].sample_restarts = 1;
		f->interfaces[slot].drop_samples = 1;
	}
	text = render(f, &options, 4096);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	snprintf(line, sizeof(line), "promtool check metrics <%s 2>&1; echo \"exit $?\"", path);
	pipe = popen(line, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		if (strcmp(line, "exit 0\n") != 0)
			fail_msg("promtool: %s", line);
		lines++;
	}
	pclose(pipe);
	unlink(path);
	assert_int_equal(lines, 1);
	free(text);
	fixture_free(f);
}

static void test_hostile_names(void **state)
{
	static const struct {
		const char *name, *label;
	} names[] = {
		{ "a\\b\"c\nd", "a\\\\b\\\"c\\nd" },
		{ "\r\t\x01\x7f", "????" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "\xc0\xaf", "??" },		/* overlong */
		{ "\xe0\x80\xaf", "???" },	/* overlong */
		{ "\xed\xa0\x80", "???" },	/* surrogate */
		{ "\xf4\x90\x80\x80", "????" }, /* beyond U+10FFFF */
		{ "x\xe2\x82", "x??" },		/* cut */
		{ "\xc2\x9b"
		  "31m",
		  "??31m" }, /* CSI */
		{ "\xff\xfe\x80", "???" },
		{ "a\xe2\x80\xae"
		  "b",
		  "a???b" },		     /* U+202E: right to left */
		{ "\xef\xbb\xbfx", "???x" }, /* U+FEFF */
		{ "\"} 1\nxdp_sflow_up 0\n#", "\\\"} 1\\nxdp_sflow_up 0\\n#" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct fixture *f = fixture_new(4, 4);
		char *text, line[512];

		fixture_name(fixture_agent(f, 1, 0), names[i].name);
		fixture_source(f, 1, 1, 0, 1);
		fixture_interface(f, 1, names[i].name)->in_octets = 1;
		text = render(f, &options, 4096);
		read_exposition(text, NULL, NULL);
		snprintf(line, sizeof(line),
			 "xdp_sflow_agent_info{agent=\"10.0.0.1\",sub_agent=\"0\",name=\"%s\","
			 "source=\"192.0.2.1\"} 1",
			 names[i].label);
		assert_true(has(text, line));
		snprintf(line, sizeof(line),
			 "xdp_sflow_interface_in_bytes_total{agent=\"10.0.0.1\",sub_agent=\"0\","
			 "ifindex=\"1\",ifname=\"%s\"} 1",
			 names[i].label);
		assert_true(has(text, line));
		assert_true(has(text, "xdp_sflow_up 1"));
		free(text);
		fixture_free(f);
	}
}

/* A map that another program wrote may hold lengths beyond the field. */
static void test_long_names(void **state)
{
	struct fixture *f = fixture_new(3, 3);
	struct xsf_agent *a = fixture_agent(f, 1, UINT32_MAX);
	struct xsf_interface *i;
	char *text, name[2 * XSF_NAME_LEN + 1];

	(void)state;
	memset(a->key.addr, 0xfe, 16);
	memset(a->name, '"', XSF_NAME_LEN);
	a->name_len = UINT16_MAX;
	fixture_source(f, 1, 1, 0, 0xfffffffe);
	i = fixture_interface(f, 1, "");
	memset(i, 0, sizeof(*i));
	i->generation = f->sources[1].generation;
	i->has_counters = 1;
	memset(i->name, '\\', XSF_NAME_LEN);
	i->name_len = UINT32_MAX;
	for (int d = 0; d < XSF_DIRECTIONS; d++)
		memset(&f->sources[1].own[d], 0xff, sizeof(struct xsf_traffic));
	text = render(f, &options, 4096);
	read_exposition(text, NULL, NULL);
	memset(name, '\\', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	assert_non_null(strstr(text, name));
	assert_null(strstr(text, "\\\\\\\\\\\\\\\\x"));
	free(text);
	fixture_free(f);
}

static struct fixture *many(uint32_t nr_agents, uint32_t nr)
{
	struct fixture *f = fixture_new(nr_agents + 1, nr + 1);

	for (uint32_t a = 1; a <= nr_agents; a++)
		fixture_name(fixture_agent(f, a, 0), "a-switch");
	for (uint32_t slot = 1; slot <= nr; slot++) {
		struct xsf_source *s =
			fixture_source(f, slot, 1 + slot % nr_agents, 0, 1 + slot / nr_agents);
		struct xsf_interface *i = fixture_interface(f, slot, "Ethernet1/12/3");

		s->own[XSF_INGRESS] = (struct xsf_traffic){ 9, 9000, 9000000, 8, 8, 8, 8, 8 };
		s->shared[XSF_EGRESS] = (struct xsf_traffic){ 9, 9000, 9000000, 8, 8, 8, 8, 8 };
		s->flow_sequence = 1;
		memset(&i->type, 0x12,
		       offsetof(struct xsf_interface, name_len) -
			       offsetof(struct xsf_interface, type));
		i->speed = 400000000000;
		i->in_octets = i->out_octets = 1ull << 60;
	}
	return f;
}

static void test_bound(void **state)
{
	struct fixture *f = many(10, 5000);
	struct xsf_metrics_options o = options;
	char *text = render(f, &o, 65536);

	(void)state;
	read_exposition(text, NULL, NULL);
	assert_true(has(text, "xdp_sflow_interfaces_shown 4096"));
	assert_true(has(text, "xdp_sflow_interfaces_hidden 904"));
	assert_int_equal(count_of(text, "xdp_sflow_interface_in_bytes_total{"), 4096);
	free(text);
	o.max_interfaces = 10;
	f->sources[3].key.class = 2;
	text = render(f, &o, 65536);
	assert_true(has(text, "xdp_sflow_interfaces_shown 10"));
	assert_true(has(text, "xdp_sflow_interfaces_hidden 4989"));
	assert_int_equal(count_of(text, "xdp_sflow_interface_in_bytes_total{"), 10);
	assert_int_equal(count_of(text, "xdp_sflow_source_samples_total{agent=\"10"), 2);
	free(text);
	o.max_interfaces = UINT32_MAX;
	text = render(f, &o, 65536);
	assert_true(has(text, "xdp_sflow_interfaces_hidden 0"));
	assert_int_equal(count_of(text, "xdp_sflow_interface_in_bytes_total{"), 4999);
	free(text);
	fixture_free(f);
}

/* The most series that the header promises, with everything an agent can send. */
static void test_series(void **state)
{
	struct fixture *f = fixture_full();
	struct xsf_metrics_options o = options;
	char *text;

	(void)state;
	memset(&f->sources[1].sampling_rate, 1,
	       sizeof(struct xsf_source) - offsetof(struct xsf_source, sampling_rate));
	memset(&f->sources[3].sampling_rate, 1,
	       sizeof(struct xsf_source) - offsetof(struct xsf_source, sampling_rate));
	fixture_interface(f, 3, "vlan30");
	for (uint32_t slot = 1; slot <= 3; slot += 2)
		memset(&f->interfaces[slot].type, 1,
		       sizeof(struct xsf_interface) - offsetof(struct xsf_interface, type));
	memset(&f->ops[1], 1, sizeof(f->ops[1]));
	memset(&f->tos[1], 1, sizeof(f->tos[1]));
	memset(&f->rdma[1], 1, sizeof(f->rdma[1]));
	f->s.now_ns = UINT64_MAX;
	f->s.stale_ns = 0;
	o.trimmed_dscps = UINT64_MAX;
	text = render(f, &o, 65536);
	read_exposition(text, NULL, NULL);
	assert_int_equal(count_of(text, "{agent=\"10.0.0.1\",sub_agent=\"0\"") -
				 count_of(text, "{agent=\"10.0.0.1\",sub_agent=\"0\",ifindex=") -
				 count_of(text, "{agent=\"10.0.0.1\",sub_agent=\"0\",class=") -
				 count_of(text, "{agent=\"10.0.0.1\",sub_agent=\"0\",reason="),
			 XSF_SERIES_AGENT);
	assert_int_equal(
		count_of(text, ",ifindex=\"12\"") -
			count_of(text,
				 "xdp_sflow_place_drop_notifications_total{agent=\"10.0.0.1\","
				 "sub_agent=\"0\",ifindex=\"12\""),
		XSF_SERIES_INTERFACE);
	assert_int_equal(count_of(text, ",class=\"1\",index=\"30\""), XSF_SERIES_SOURCE);
	assert_int_equal(count_of(text, "role=\"none\",direction=\"egress\"") -
				 count_of(text, "role=\"none\",direction=\"egress\",version"),
			 XSF_SERIES_ROW + 2 * 64);
	assert_int_equal(count_of(text, "direction=\"ingress\",version=\"2\",carrier=\"tunnel\""),
			 XSF_SERIES_OPS_ROW);
	free(text);
	fixture_free(f);
}

/* The tables live on while a document is read: a slot that another takes has no more lines. */
/* Places likewise, and agents' reasons apart from them. */
static void test_bound_of_places(void **state)
{
	struct fixture *f = fixture_full();
	struct xsf_metrics_options o = options;
	char *text;

	(void)state;
	o.max_places = 2;
	text = render(f, &o, 4096);
	read_exposition(text, NULL, NULL);
	assert_true(has(text, "xdp_sflow_drop_rows_shown{by=\"place\"} 2"));
	assert_true(has(text, "xdp_sflow_drop_rows_hidden{by=\"place\"} 2"));
	assert_true(has(text, "xdp_sflow_drop_rows_shown{by=\"agent\"} 2"));
	assert_true(has(text, "xdp_sflow_drop_rows_hidden{by=\"agent\"} 1"));
	assert_int_equal(count_of(text, "xdp_sflow_place_drop_notifications_total{"), 2);
	assert_int_equal(count_of(text, "xdp_sflow_agent_drop_notifications_total{"), 2);
	free(text);
	fixture_free(f);
}

static void test_changing_hands(void **state)
{
	struct fixture *f = many(10, 50);
	struct xsf_metrics *m = xsf_metrics_open(&f->s, &options);
	char *text;

	(void)state;
	f->sources[7].generation += 4;
	f->sources[7].key.index = 4242;
	f->agents[2].generation += 4;
	fixture_ip4(f->agents[2].key.addr, 0x0a0000ff);
	text = fixture_read(read_metrics, m, 4096);
	xsf_metrics_close(m);
	read_exposition(text, NULL, NULL);
	assert_null(strstr(text, "4242"));
	assert_null(strstr(text, "10.0.0.2\""));
	assert_null(strstr(text, "10.0.0.255"));
	/* 1 interface lost its slot, 5 their agent */
	assert_int_equal(count_of(text, "xdp_sflow_interface_in_bytes_total{"), 44);
	free(text);
	fixture_free(f);
}

static void timed(uint32_t agents, uint32_t interfaces, uint32_t bound)
{
	struct fixture *f = many(agents, interfaces);
	struct xsf_metrics_options o = options;
	struct timespec start, end;
	struct xsf_metrics *m;
	static char buf[32768];
	uint64_t bytes = 0;
	ssize_t n;

	o.max_interfaces = bound;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	m = xsf_metrics_open(&f->s, &o);
	assert_non_null(m);
	while ((n = xsf_metrics_read(m, buf, sizeof(buf))) > 0)
		bytes += (uint64_t)n;
	assert_int_equal(n, 0);
	xsf_metrics_close(m);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	printf("# %u of %u interfaces: %.1f ms of CPU, %.1f MB\n",
	       bound < interfaces ? bound : interfaces, interfaces,
	       (double)(end.tv_sec - start.tv_sec) * 1e3 +
		       (double)(end.tv_nsec - start.tv_nsec) / 1e6,
	       (double)bytes / 1e6);
	fixture_free(f);
}

static void test_time(void **state)
{
	(void)state;
	timed(2000, 65535, XSF_METRICS_INTERFACES);
	timed(2000, 65535, UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strict),	      cmocka_unit_test(test_promtool),
		cmocka_unit_test(test_hostile_names), cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_bound),	      cmocka_unit_test(test_bound_of_places),
		cmocka_unit_test(test_series),	      cmocka_unit_test(test_changing_hands),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
