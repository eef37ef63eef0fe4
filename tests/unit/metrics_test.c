// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/metrics.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "exposition.h"

static ssize_t read_metrics(void *m, char *buf, size_t max)
{
	return xsf_metrics_read(m, buf, max);
}

static char *render(const struct fixture *f, const struct xsf_metrics_options *o, size_t chunk)
{
	struct xsf_metrics *m = xsf_metrics_open(&f->s, o);
	char *text;

	assert_non_null(m);
	text = fixture_read(read_metrics, m, chunk);
	xsf_metrics_close(m);
	return text;
}

static int has(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *p = text; (p = strstr(p, line)); p++) {
		if ((p == text || p[-1] == '\n') && p[n] == '\n')
			return 1;
	}
	return 0;
}

static void expect_lines(const char *text, const char *const *lines)
{
	for (; *lines; lines++) {
		if (!has(text, *lines))
			fail_msg("missing: %s", *lines);
	}
}

static uint32_t count_of(const char *text, const char *part)
{
	uint32_t n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

static const struct xsf_metrics_extra extras[] = {
	{ "xdp_sflow_http_requests_total", "HTTP requests.", "code=\"200\"", 5, 0 },
	{ "xdp_sflow_http_requests_total", NULL, "code=\"404\"", 6, 0 },
	{ "xdp_sflow_http_connections", "HTTP connections now.", NULL, 7, 1 },
};

static const struct xsf_metrics_options options = {
	.unix_now_ns = 1700000000 * SECOND,
	.prog_stats = 1,
	.extra = extras,
	.nr_extra = 3,
};

static void test_totals(void **state)
{
	struct fixture *f = fixture_full();
	const struct xsf_totals *t = &f->s.totals;
	char *text = render(f, &options, 4096), line[256];

	(void)state;
#define EXPECT_TOTAL(name, value) \
	do { \
		snprintf(line, sizeof(line), name " %llu", (unsigned long long)(value)); \
		if (!has(text, line)) \
			fail_msg("missing: %s", line); \
	} while (0);
#define FRAME(name, help) EXPECT_TOTAL("xdp_sflow_frames_total{outcome=\"" #name "\"}", t->name)
#define DATAGRAM(name, help) \
	EXPECT_TOTAL("xdp_sflow_datagram_outcomes_total{outcome=\"" #name "\"}", t->datagram_##name)
#define FAULT(name, help) \
	EXPECT_TOTAL("xdp_sflow_malformed_total{kind=\"" #name "\"}", t->fault_##name)
#define SAMPLE(name, help) \
	EXPECT_TOTAL("xdp_sflow_samples_total{type=\"" #name "\"}", t->sample_##name)
#define HEADER(name, help) \
	EXPECT_TOTAL("xdp_sflow_sampled_headers_total{outcome=\"" #name "\"}", t->header_##name)
	XSF_FRAME_OUTCOMES(FRAME)
	XSF_DATAGRAM_OUTCOMES(DATAGRAM)
	XSF_FAULTS(FAULT)
	XSF_SAMPLE_TYPES(SAMPLE)
	XSF_HEADER_OUTCOMES(HEADER)
	EXPECT_TOTAL("xdp_sflow_frames_total{outcome=\"datagram\"}", t->datagrams);
	EXPECT_TOTAL("xdp_sflow_datagrams_total", t->datagrams);
	EXPECT_TOTAL("xdp_sflow_datagram_bytes_total", t->bytes);
	EXPECT_TOTAL("xdp_sflow_sampled_packets_total", t->sampled_packets);
	EXPECT_TOTAL("xdp_sflow_table_full_total{table=\"agents\"}", t->agents_full);
	EXPECT_TOTAL("xdp_sflow_table_full_total{table=\"drop_reasons\"}", t->reasons_full);
	EXPECT_TOTAL("xdp_sflow_table_reclaimed_total{table=\"sources\"}", t->sources_reclaimed);
	/* every event is somewhere, whatever it is called: their values are all different */
#define EVENT(name, help) \
	snprintf(line, sizeof(line), " %llu\n", (unsigned long long)t->name); \
	assert_non_null(strstr(text, line));
	XSF_EVENTS(EVENT)
	free(text);
	fixture_free(f);
}

static void test_self(void **state)
{
	struct fixture *f = fixture_full();
	char *text = render(f, &options, 4096);
	struct xsf_metrics_options without = options;

	(void)state;
	expect_lines(text, (const char *const[]){
				   "# HELP xdp_sflow_up 1: the counts could be read.",
				   "# TYPE xdp_sflow_up gauge",
				   "xdp_sflow_up 1",
				   "xdp_sflow_build_info{version=\"" XSF_VERSION "\",abi=\"1\"} 1",
				   "xdp_sflow_program_info{ifname=\"eth0\",ifindex=\"2\",mode="
				   "\"native\",verdict=\"pass\","
				   "how=\"link\",frags=\"yes\",prog_id=\"40\"} 1",
				   "xdp_sflow_program_run_time_seconds_total{ifname=\"eth0\","
				   "ifindex=\"2\"} 1.500000001",
				   "xdp_sflow_program_runs_total{ifname=\"eth0\",ifindex=\"2\"} 3",
				   "# TYPE xdp_sflow_http_requests_total counter",
				   "xdp_sflow_http_requests_total{code=\"200\"} 5",
				   "xdp_sflow_http_requests_total{code=\"404\"} 6",
				   "# TYPE xdp_sflow_http_connections gauge",
				   "xdp_sflow_http_connections 7",
				   "xdp_sflow_table_entries{table=\"agents\"} 3",
				   "xdp_sflow_table_stale_entries{table=\"agents\"} 1",
				   "xdp_sflow_table_capacity{table=\"agents\"} 7",
				   "xdp_sflow_table_entries{table=\"sources\"} 6",
				   "xdp_sflow_table_stale_entries{table=\"sources\"} 0",
				   "xdp_sflow_table_capacity{table=\"sources\"} 15",
				   "xdp_sflow_interfaces_shown 3",
				   "xdp_sflow_interfaces_hidden 0",
				   "xdp_sflow_sources_hidden 0",
				   NULL });
	free(text);
	without.prog_stats = 0;
	text = render(f, &without, 4096);
	assert_null(strstr(text, "program_run"));
	free(text);
	fixture_free(f);
}

static void test_agents(void **state)
{
	struct fixture *f = fixture_full();
	char *text = render(f, &options, 4096);

	(void)state;
#define LEAF "{agent=\"10.0.0.1\",sub_agent=\"0\"}"
	expect_lines(text,
		     (const char *const[]){
			     "xdp_sflow_agent_info{agent=\"10.0.0.1\",sub_agent=\"0\",name="
			     "\"leaf1\",source=\"192.0.2.1\"} 1",
			     "xdp_sflow_agent_info{agent=\"2001:db8::2\",sub_agent=\"100000\",name="
			     "\"\",source=\"192.0.2.2\"} 1",
			     "xdp_sflow_agent_datagrams_total" LEAF " 20",
			     "xdp_sflow_agent_datagrams_total{agent=\"2001:db8::2\",sub_agent="
			     "\"100000\"} 0",
			     "xdp_sflow_agent_datagrams_total{agent=\"other\",sub_agent=\"\"} 77",
			     "xdp_sflow_agent_bytes_total" LEAF " 26000",
			     "xdp_sflow_agent_lost_datagrams_total" LEAF " 3",
			     "xdp_sflow_agent_pending_datagrams" LEAF " 2",
			     "xdp_sflow_agent_duplicate_datagrams_total" LEAF " 2",
			     "xdp_sflow_agent_reordered_datagrams_total" LEAF " 1",
			     "xdp_sflow_agent_restarts_total" LEAF " 4",
			     "xdp_sflow_agent_faulty_datagrams_total" LEAF " 5",
			     "xdp_sflow_agent_samples_total{agent=\"10.0.0.1\",sub_agent=\"0\","
			     "type=\"flow\"} 140",
			     "xdp_sflow_agent_samples_total{agent=\"10.0.0.1\",sub_agent=\"0\","
			     "type=\"counter\"} 6",
			     "xdp_sflow_agent_samples_total{agent=\"10.0.0.1\",sub_agent=\"0\","
			     "type=\"drop\"} 7",
			     "xdp_sflow_agent_samples_total{agent=\"other\",sub_agent=\"\",type="
			     "\"flow\"} 78",
			     "xdp_sflow_agent_suppressed_drop_notifications_total" LEAF " 8",
			     "xdp_sflow_agent_uptime_seconds" LEAF " 123.456",
			     "xdp_sflow_agent_last_seen_timestamp_seconds" LEAF " 1699999998.500",
			     NULL });
	/* the silent one is gone */
	assert_null(strstr(text, "10.0.0.3"));
	assert_int_equal(count_of(text, "xdp_sflow_agent_suppressed_drop_notifications_total{"), 1);
	free(text);
	fixture_free(f);
}

static void test_roce(void **state)
{
	struct fixture *f = fixture_full();
	struct xsf_metrics_options o = options;
	char *text = render(f, &options, 4096);

	(void)state;
#define NONE_IN "fabric=\"none\",role=\"none\",direction=\"ingress\""
	expect_lines(text,
		     (const char *const[]){
			     "xdp_sflow_roce_operation_samples_total{" NONE_IN
			     ",version=\"2\",carrier=\"v2\","
			     "transport=\"RC\",operation=\"RDMA_WRITE\",opname=\"RDMA WRITE "
			     "Only\",opcode=\"10\"} 3",
			     "xdp_sflow_roce_operation_packets_total{fabric=\"0\",role=\"core\","
			     "direction=\"egress\","
			     "version=\"2\",carrier=\"tunnel\",transport=\"RC\",operation=\"RDMA_"
			     "WRITE\","
			     "opname=\"RDMA WRITE Only\",opcode=\"10\"} 100",
			     "xdp_sflow_roce_operation_bytes_total{fabric=\"1\",role=\"edge\","
			     "direction=\"other\","
			     "version=\"1\",carrier=\"v1\",transport=\"RC\",operation=\"ACK\","
			     "opname=\"Acknowledge\","
			     "opcode=\"17\"} 12800",
			     /* two reserved opcodes share a series */
			     "xdp_sflow_roce_operation_packets_total{" NONE_IN
			     ",version=\"2\",carrier=\"v2\","
			     "transport=\"reserved\",operation=\"reserved\",opname=\"reserved\","
			     "opcode=\"reserved\"} 900",
			     "xdp_sflow_ip_ecn_samples_total{" NONE_IN ",ecn=\"ect1\"} 6",
			     "xdp_sflow_ip_ecn_packets_total{" NONE_IN ",ecn=\"ce\"} 10",
			     "xdp_sflow_ip_ecn_packets_total{" NONE_IN ",ecn=\"not_ect\"} 0",
			     "xdp_sflow_roce_ecn_packets_total{" NONE_IN ",ecn=\"ce\"} 20",
			     "xdp_sflow_roce_ecn_samples_total{" NONE_IN ",ecn=\"ect0\"} 3",
			     "xdp_sflow_trimmed_samples_total{" NONE_IN ",dscp=\"11\"} 6",
			     "xdp_sflow_trimmed_packets_total{" NONE_IN ",dscp=\"11\"} 60",
			     "xdp_sflow_roce_cnp_samples_total{" NONE_IN ",se=\"0\",m=\"1\"} 9",
			     "xdp_sflow_roce_cnp_packets_total{fabric=\"0\",role=\"edge\","
			     "direction=\"egress\",se=\"0\",m=\"0\"} 80",
			     "# TYPE xdp_sflow_rdma_length_bytes histogram",
			     "xdp_sflow_rdma_length_bytes_bucket{" NONE_IN ",le=\"1\"} 1",
			     "xdp_sflow_rdma_length_bytes_bucket{" NONE_IN ",le=\"16384\"} 1",
			     "xdp_sflow_rdma_length_bytes_bucket{" NONE_IN ",le=\"32768\"} 3",
			     "xdp_sflow_rdma_length_bytes_bucket{" NONE_IN ",le=\"4294967296\"} 4",
			     "xdp_sflow_rdma_length_bytes_bucket{" NONE_IN ",le=\"+Inf\"} 4",
			     "xdp_sflow_rdma_length_bytes_sum{" NONE_IN "} 4295032832",
			     "xdp_sflow_rdma_length_bytes_count{" NONE_IN "} 4",
			     "xdp_sflow_rdma_length_scaled_bytes_bucket{" NONE_IN
			     ",le=\"32768\"} 30",
			     "xdp_sflow_rdma_length_scaled_bytes_sum{" NONE_IN "} 42950328320",
			     "xdp_sflow_rdma_length_scaled_bytes_count{" NONE_IN "} 40",
			     "xdp_sflow_aeth_credits_bucket{" NONE_IN ",le=\"0\"} 0",
			     "xdp_sflow_aeth_credits_bucket{" NONE_IN ",le=\"8\"} 0",
			     "xdp_sflow_aeth_credits_bucket{" NONE_IN ",le=\"12\"} 4",
			     "xdp_sflow_aeth_credits_bucket{" NONE_IN ",le=\"24576\"} 4",
			     "xdp_sflow_aeth_credits_bucket{" NONE_IN ",le=\"32768\"} 5",
			     "xdp_sflow_aeth_credits_sum{" NONE_IN "} 32816",
			     "xdp_sflow_aeth_credits_count{" NONE_IN "} 5",
			     "xdp_sflow_aeth_credits_scaled_sum{" NONE_IN "} 328160",
			     "xdp_sflow_aeth_no_credits_samples_total{" NONE_IN "} 5",
			     "xdp_sflow_aeth_no_credits_packets_total{" NONE_IN "} 50",
			     "xdp_sflow_aeth_nak_samples_total{" NONE_IN
			     ",code=\"psn_sequence_error\"} 2",
			     "xdp_sflow_aeth_nak_packets_total{" NONE_IN ",code=\"reserved\"} 70",
			     "xdp_sflow_aeth_rnr_nak_samples_total{" NONE_IN "} 2",
			     "xdp_sflow_drop_notifications_total{reason=\"acl\"} 5",
			     "xdp_sflow_drop_notifications_total{reason=\"dev_hdr\"} 3",
			     "xdp_sflow_drop_notifications_total{reason=\"400\"} 3",
			     "xdp_sflow_drop_notifications_total{reason=\"70000\"} 6",
			     "xdp_sflow_sampled_discards_total{reason=\"port_unreachable\"} 4",
			     "xdp_sflow_sampled_discards_total{reason=\"70000\"} 7", NULL });
	assert_int_equal(count_of(text, "xdp_sflow_roce_operation_samples_total{"), 4);
	assert_int_equal(count_of(text, "xdp_sflow_aeth_reserved_samples_total"), 0);
	assert_int_equal(count_of(text, "xdp_sflow_drop_notifications_total{"), 4);
	assert_int_equal(count_of(text, "xdp_sflow_sampled_discards_total{"), 2);
	free(text);

	o.trimmed_dscps = 1ull << 0 | 1ull << 63;
	text = render(f, &o, 4096);
	expect_lines(text,
		     (const char *const[]){
			     "xdp_sflow_trimmed_packets_total{" NONE_IN ",dscp=\"0\"} 10",
			     "xdp_sflow_trimmed_packets_total{" NONE_IN ",dscp=\"63\"} 0", NULL });
	assert_null(strstr(text, "dscp=\"11\""));
	free(text);
	fixture_free(f);
}

static void test_interfaces(void **state)
{
	struct fixture *f = fixture_full();
	char *text;

	(void)state;
	f->interfaces[1].in_octets = 9223372036854775813u;
	text = render(f, &options, 4096);
#define SWP "agent=\"10.0.0.1\",sub_agent=\"0\",ifindex=\"12\",ifname=\"swp12\""
#define I "xdp_sflow_interface_"
	expect_lines(
		text,
		(const char *const[]){
			I "info{" SWP ",type=\"6\",duplex=\"full\"} 1",
			I "speed_bps{" SWP "} 400000000000", I "admin_up{" SWP "} 1",
			I "oper_up{" SWP "} 0",
			I "counters_timestamp_seconds{" SWP "} 1699999998.000",
			I "in_bytes_total{" SWP "} 9223372036854775813",
			I "in_packets_total{" SWP ",cast=\"unicast\"} 11",
			I "in_packets_total{" SWP ",cast=\"multicast\"} 12",
			I "in_packets_total{" SWP ",cast=\"broadcast\"} 13",
			I "in_discards_total{" SWP "} 14", I "in_errors_total{" SWP "} 15",
			I "in_unknown_protocols_total{" SWP "} 16", I "out_bytes_total{" SWP "} 77",
			I "out_packets_total{" SWP ",cast=\"unicast\"} 21",
			I "out_packets_total{" SWP ",cast=\"broadcast\"} 23",
			I "out_discards_total{" SWP "} 24", I "out_errors_total{" SWP "} 25",
			I "promiscuous{" SWP "} 0",
			I "samples_total{" SWP ",direction=\"ingress\"} 10",
			I "sampled_packets_total{" SWP ",direction=\"ingress\"} 1000",
			I "sampled_bytes_total{" SWP ",direction=\"egress\"} 750000",
			I "sampled_roce_packets_total{" SWP ",direction=\"ingress\"} 400",
			I "sampled_roce_bytes_total{" SWP ",direction=\"ingress\"} 600000",
			I "sampled_ce_packets_total{" SWP ",direction=\"ingress\"} 30",
			I "sampled_cnp_packets_total{" SWP ",direction=\"ingress\"} 20",
			I "sampled_trimmed_packets_total{" SWP ",direction=\"ingress\"} 10",
			I "sampling_rate{" SWP "} 100", I "sample_pool_packets_total{" SWP "} 5000",
			I "agent_dropped_samples_total{" SWP "} 9",
			I "lost_samples_total{" SWP ",type=\"flow\"} 2",
			I "lost_samples_total{" SWP ",type=\"counter\"} 1",
			I "duplicate_samples_total{" SWP ",type=\"flow\"} 0",
			I "drop_notifications_total{" SWP "} 3",
			/* without a record there is no name */
			I "samples_total{agent=\"10.0.0.1\",sub_agent=\"0\",ifindex=\"14\",ifname="
			  "\"\","
			  "direction=\"ingress\"} 1",
			"xdp_sflow_source_samples_total{agent=\"10.0.0.1\",sub_agent=\"0\",class="
			"\"1\",index=\"30\","
			"direction=\"other\"} 2",
			"xdp_sflow_source_sampling_rate{agent=\"10.0.0.1\",sub_agent=\"0\",class="
			"\"1\",index=\"30\"} 100",
			"xdp_sflow_source_sampled_bytes_total{agent=\"other\",sub_agent=\"\",class="
			"\"\",index=\"\","
			"direction=\"other\"} 3",
			NULL });
	/* unknown counters: of 16777216 there is its info and when it came, nothing else */
	assert_int_equal(count_of(text, "ifindex=\"16777216\""), 2);
	assert_null(strstr(text, "18446744073709551615"));
	assert_null(strstr(text, "4294967295\n"));
	assert_null(strstr(text, "left-over"));
	assert_null(strstr(text, "ifindex=\"13\""));
	assert_null(strstr(text, "ifindex=\"15\""));
	free(text);
	fixture_free(f);
}

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
	struct fixture *f = fixture_full();
	char *text, line[256], path[] = "/tmp/xsf-metrics-XXXXXX";
	uint32_t slot, lines = 0;
	FILE *pipe;
	int fd;

	(void)state;
	if (system("promtool --version >/dev/null 2>&1")) {
		fixture_free(f);
		skip();
	}
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
		if (strcmp(line, "exit 0\n"))
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
		s->own[XSF_EGRESS] = (struct xsf_traffic){ 9, 9000, 9000000, 8, 8, 8, 8, 8 };
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

/* The tables live on while a document is read: a slot that another takes has no more lines. */
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
	clock_gettime(CLOCK_MONOTONIC, &start);
	m = xsf_metrics_open(&f->s, &o);
	assert_non_null(m);
	while ((n = xsf_metrics_read(m, buf, sizeof(buf))) > 0)
		bytes += (uint64_t)n;
	assert_int_equal(n, 0);
	xsf_metrics_close(m);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("# %u of %u interfaces: %.1f ms, %.1f MB\n", bound < interfaces ? bound : interfaces,
	       interfaces,
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
		cmocka_unit_test(test_totals),	       cmocka_unit_test(test_self),
		cmocka_unit_test(test_agents),	       cmocka_unit_test(test_roce),
		cmocka_unit_test(test_interfaces),     cmocka_unit_test(test_strict),
		cmocka_unit_test(test_promtool),       cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_long_names),     cmocka_unit_test(test_bound),
		cmocka_unit_test(test_changing_hands), cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
