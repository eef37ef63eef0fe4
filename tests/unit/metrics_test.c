// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What /metrics says, line by line. */
#include "exposition.h"

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
#define ETH0 "{ifname='eth0',ifindex='2'"
#define ETH0_INFO ",mode='native',verdict='pass',how='link',frags='yes',prog_id='40'} 1"
#define BUILD "{version='" XSF_VERSION "',abi='2'} 1"
	/* clang-format off */
	expect_lines(text, (const char *const[]){
		"xdp_sflow_build_info" BUILD,
		"xdp_sflow_program_info" ETH0 ETH0_INFO,
		"xdp_sflow_program_run_time_seconds_total" ETH0 "} 1.500000001",
		"xdp_sflow_program_runs_total" ETH0 "} 3",
		NULL });
	expect_lines(text, (const char *const[]){
		"# HELP xdp_sflow_up 1: the counts could be read.",
		"# TYPE xdp_sflow_up gauge",
		"xdp_sflow_up 1",
		"# TYPE xdp_sflow_http_requests_total counter",
		"xdp_sflow_http_requests_total{code='200'} 5",
		"xdp_sflow_http_requests_total{code='404'} 6",
		"# TYPE xdp_sflow_http_connections gauge",
		"xdp_sflow_http_connections 7",
		"xdp_sflow_table_entries{table='agents'} 3",
		"xdp_sflow_table_stale_entries{table='agents'} 1",
		"xdp_sflow_table_capacity{table='agents'} 4095",
		"xdp_sflow_table_entries{table='sources'} 6",
		"xdp_sflow_table_stale_entries{table='sources'} 0",
		"xdp_sflow_table_capacity{table='sources'} 65535",
		"xdp_sflow_interfaces_shown 3",
		"xdp_sflow_interfaces_hidden 0",
		"xdp_sflow_sources_hidden 0",
		NULL });
	/* clang-format on */
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
#define LEAF "{agent='10.0.0.1',sub_agent='0'}"
	/* clang-format off */
	expect_lines(text, (const char *const[]){
		"xdp_sflow_agent_info{agent='10.0.0.1',sub_agent='0',name='leaf1',"
		"source='192.0.2.1'} 1",
		"xdp_sflow_agent_info{agent='2001:db8::2',sub_agent='100000',name='',"
		"source='192.0.2.2'} 1",
		"xdp_sflow_agent_datagrams_total" LEAF " 20",
		"xdp_sflow_agent_datagrams_total{agent='2001:db8::2',sub_agent='100000'} 0",
		"xdp_sflow_agent_datagrams_total{agent='other',sub_agent=''} 77",
		"xdp_sflow_agent_bytes_total" LEAF " 26000",
		"xdp_sflow_agent_lost_datagrams_total" LEAF " 3",
		"xdp_sflow_agent_pending_datagrams" LEAF " 2",
		"xdp_sflow_agent_duplicate_datagrams_total" LEAF " 2",
		"xdp_sflow_agent_reordered_datagrams_total" LEAF " 1",
		"xdp_sflow_agent_restarts_total" LEAF " 4",
		"xdp_sflow_agent_faulty_datagrams_total" LEAF " 5",
		"xdp_sflow_agent_samples_total{agent='10.0.0.1',sub_agent='0',type='flow'} 140",
		"xdp_sflow_agent_samples_total{agent='10.0.0.1',sub_agent='0',type='counter'} 6",
		"xdp_sflow_agent_samples_total{agent='10.0.0.1',sub_agent='0',type='drop'} 7",
		"xdp_sflow_agent_samples_total{agent='other',sub_agent='',type='flow'} 78",
		"xdp_sflow_agent_uptime_seconds" LEAF " 123.456",
		"xdp_sflow_agent_last_seen_timestamp_seconds" LEAF " 1699999998.500",
		NULL });
	/* clang-format on */
	/* the silent one is gone */
	assert_null(strstr(text, "10.0.0.3"));
	free(text);
	fixture_free(f);
}

static void test_drops(void **state)
{
	struct fixture *f = fixture_full();
	char *text = render(f, &options, 4096);

	(void)state;
#define AGENT2 "{agent='2001:db8::2',sub_agent='100000'"
	/* clang-format off */
	expect_lines(text, (const char *const[]){
		"# TYPE xdp_sflow_agent_drop_notifications_total counter",
		"xdp_sflow_agent_drop_notifications_total{agent='10.0.0.1',sub_agent='0',reason='dev_hdr'} 3",
		"xdp_sflow_agent_drop_notifications_total{agent='10.0.0.1',sub_agent='0',reason='acl'} 5",
		"xdp_sflow_agent_drop_notifications_total" AGENT2 ",reason='70000'} 6",
		"xdp_sflow_agent_suppressed_drop_notifications_total" LEAF " 8",
		"xdp_sflow_agent_lost_drop_notifications_total" LEAF " 5",
		"xdp_sflow_agent_duplicate_drop_notifications_total" LEAF " 6",
		"xdp_sflow_agent_reordered_drop_notifications_total" LEAF " 9",
		"# TYPE xdp_sflow_agent_pending_drop_notifications gauge",
		"xdp_sflow_agent_pending_drop_notifications" LEAF " 1",
		"xdp_sflow_agent_dropped_packets_at_least_total" LEAF " 19",
		"# TYPE xdp_sflow_place_drop_notifications_total counter",
		"xdp_sflow_place_drop_notifications_total{agent='10.0.0.1',sub_agent='0',ifindex='12',"
		"ifname='swp12',reason='dev_hdr'} 3",
		"xdp_sflow_place_drop_notifications_total{agent='10.0.0.1',sub_agent='0',ifindex='14',"
		"ifname='',reason='acl'} 4",
		"xdp_sflow_place_drop_notifications_total{agent='10.0.0.1',sub_agent='0',ifindex='0',"
		"ifname='',reason='acl'} 1",
		"xdp_sflow_place_drop_notifications_total" AGENT2 ",ifindex='16777216',ifname='',"
		"reason='70000'} 6",
		"xdp_sflow_place_drop_notifications_elsewhere_total 41",
		"xdp_sflow_drop_rows_shown{by='place'} 4",
		"xdp_sflow_drop_rows_shown{by='agent'} 3",
		"xdp_sflow_drop_rows_hidden{by='place'} 0",
		"xdp_sflow_drop_rows_hidden{by='agent'} 0",
		NULL });
	/* clang-format on */
	assert_int_equal(count_of(text, "xdp_sflow_agent_drop_notifications_total{"), 3);
	assert_int_equal(count_of(text, "xdp_sflow_place_drop_notifications_total{"), 4);
	/* Agents that notified nothing have none of the sums. */
	assert_int_equal(count_of(text, "xdp_sflow_agent_suppressed_drop_notifications_total{"), 1);
	assert_int_equal(count_of(text, "xdp_sflow_agent_pending_drop_notifications{"), 1);
	free(text);
	/* Older programs keep no places. */
	f->s.places = NULL;
	f->s.nr_places = 0;
	text = render(f, &options, 4096);
	assert_null(strstr(text, "place_drop"));
	assert_null(strstr(text, "drop_rows"));
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
#define NONE_IN "fabric='none',role='none',direction='ingress'"
	/* clang-format off */
	expect_lines(text, (const char *const[]){
		"xdp_sflow_roce_operation_samples_total{" NONE_IN ",version='2',carrier='v2',"
		"transport='RC',operation='RDMA_WRITE',opname='RDMA WRITE Only',opcode='10'} 3",
		"xdp_sflow_roce_operation_packets_total{fabric='0',role='core',direction='egress',"
		"version='2',carrier='tunnel',transport='RC',operation='RDMA_WRITE',"
		"opname='RDMA WRITE Only',opcode='10'} 100",
		"xdp_sflow_roce_operation_bytes_total{fabric='1',role='edge',direction='other',"
		"version='1',carrier='v1',transport='RC',operation='ACK',"
		"opname='Acknowledge',opcode='17'} 12800",
		/* two reserved opcodes share a series */
		"xdp_sflow_roce_operation_packets_total{" NONE_IN ",version='2',carrier='v2',"
		"transport='reserved',operation='reserved',opname='reserved',opcode='reserved'} 900",
		"xdp_sflow_ip_ecn_samples_total{" NONE_IN ",ecn='ect1'} 6",
		"xdp_sflow_ip_ecn_packets_total{" NONE_IN ",ecn='ce'} 10",
		"xdp_sflow_ip_ecn_packets_total{" NONE_IN ",ecn='not_ect'} 0",
		"xdp_sflow_roce_ecn_packets_total{" NONE_IN ",ecn='ce'} 20",
		"xdp_sflow_roce_ecn_samples_total{" NONE_IN ",ecn='ect0'} 3",
		"xdp_sflow_trimmed_samples_total{" NONE_IN ",dscp='11'} 6",
		"xdp_sflow_trimmed_packets_total{" NONE_IN ",dscp='11'} 60",
		"xdp_sflow_roce_cnp_samples_total{" NONE_IN ",se='0',m='1'} 9",
		"xdp_sflow_roce_cnp_packets_total{fabric='0',role='edge',direction='egress',se='0',"
		"m='0'} 80",
		"# TYPE xdp_sflow_rdma_length_bytes histogram",
		"xdp_sflow_rdma_length_bytes_bucket{" NONE_IN ",le='1'} 1",
		"xdp_sflow_rdma_length_bytes_bucket{" NONE_IN ",le='16384'} 1",
		"xdp_sflow_rdma_length_bytes_bucket{" NONE_IN ",le='32768'} 3",
		"xdp_sflow_rdma_length_bytes_bucket{" NONE_IN ",le='4294967296'} 4",
		"xdp_sflow_rdma_length_bytes_bucket{" NONE_IN ",le='+Inf'} 4",
		"xdp_sflow_rdma_length_bytes_sum{" NONE_IN "} 4295032832",
		"xdp_sflow_rdma_length_bytes_count{" NONE_IN "} 4",
		"xdp_sflow_rdma_length_scaled_bytes_bucket{" NONE_IN ",le='32768'} 30",
		"xdp_sflow_rdma_length_scaled_bytes_sum{" NONE_IN "} 42950328320",
		"xdp_sflow_rdma_length_scaled_bytes_count{" NONE_IN "} 40",
		"xdp_sflow_aeth_credits_bucket{" NONE_IN ",le='0'} 0",
		"xdp_sflow_aeth_credits_bucket{" NONE_IN ",le='8'} 0",
		"xdp_sflow_aeth_credits_bucket{" NONE_IN ",le='12'} 4",
		"xdp_sflow_aeth_credits_bucket{" NONE_IN ",le='24576'} 4",
		"xdp_sflow_aeth_credits_bucket{" NONE_IN ",le='32768'} 5",
		"xdp_sflow_aeth_credits_sum{" NONE_IN "} 32816",
		"xdp_sflow_aeth_credits_count{" NONE_IN "} 5",
		"xdp_sflow_aeth_credits_scaled_sum{" NONE_IN "} 328160",
		"xdp_sflow_aeth_no_credits_samples_total{" NONE_IN "} 5",
		"xdp_sflow_aeth_no_credits_packets_total{" NONE_IN "} 50",
		"xdp_sflow_aeth_nak_samples_total{" NONE_IN ",code='psn_sequence_error'} 2",
		"xdp_sflow_aeth_nak_packets_total{" NONE_IN ",code='reserved'} 70",
		"xdp_sflow_aeth_rnr_nak_samples_total{" NONE_IN "} 2",
		"xdp_sflow_period_seconds{fabric='none'} 0.000",
		"xdp_sflow_period_seconds{fabric='1'} 1.234",
		"xdp_sflow_period_confidence{fabric='none'} 0.000",
		"xdp_sflow_period_confidence{fabric='1'} 0.988",
		"xdp_sflow_drop_notifications_total{reason='acl'} 5",
		"xdp_sflow_drop_notifications_total{reason='dev_hdr'} 3",
		"xdp_sflow_drop_notifications_total{reason='400'} 3",
		"xdp_sflow_drop_notifications_total{reason='70000'} 6",
		"xdp_sflow_sampled_discards_total{reason='port_unreachable'} 4",
		"xdp_sflow_sampled_discards_total{reason='70000'} 7",
		NULL });
	/* clang-format on */
	assert_int_equal(count_of(text, "xdp_sflow_roce_operation_samples_total{"), 4);
	assert_int_equal(count_of(text, "xdp_sflow_aeth_reserved_samples_total"), 0);
	/* None of fabric 0, which has no name and none. */
	assert_int_equal(count_of(text, "xdp_sflow_period_seconds{"), 2);
	assert_int_equal(count_of(text, "xdp_sflow_drop_notifications_total{"), 4);
	assert_int_equal(count_of(text, "xdp_sflow_sampled_discards_total{"), 2);
	free(text);

	o.trimmed_dscps = 1ull << 0 | 1ull << 63;
	text = render(f, &o, 4096);
	/* clang-format off */
	expect_lines(text, (const char *const[]){
		"xdp_sflow_trimmed_packets_total{" NONE_IN ",dscp='0'} 10",
		"xdp_sflow_trimmed_packets_total{" NONE_IN ",dscp='63'} 0",
		NULL });
	/* clang-format on */
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
#define SWP "agent='10.0.0.1',sub_agent='0',ifindex='12',ifname='swp12'"
#define I "xdp_sflow_interface_"
	/* clang-format off */
	expect_lines(text, (const char *const[]){
		I "info{" SWP ",type='6',duplex='full'} 1",
		I "speed_bps{" SWP "} 400000000000",
		I "admin_up{" SWP "} 1",
		I "oper_up{" SWP "} 0",
		I "counters_timestamp_seconds{" SWP "} 1699999998.000",
		I "in_bytes_total{" SWP "} 9223372036854775813",
		I "in_packets_total{" SWP ",cast='unicast'} 11",
		I "in_packets_total{" SWP ",cast='multicast'} 12",
		I "in_packets_total{" SWP ",cast='broadcast'} 13",
		I "in_discards_total{" SWP "} 14",
		I "in_errors_total{" SWP "} 15",
		I "in_unknown_protocols_total{" SWP "} 16",
		I "out_bytes_total{" SWP "} 77",
		I "out_packets_total{" SWP ",cast='unicast'} 21",
		I "out_packets_total{" SWP ",cast='broadcast'} 23",
		I "out_discards_total{" SWP "} 24",
		I "out_errors_total{" SWP "} 25",
		I "promiscuous{" SWP "} 0",
		I "samples_total{" SWP ",direction='ingress'} 10",
		I "sampled_packets_total{" SWP ",direction='ingress'} 1000",
		I "sampled_bytes_total{" SWP ",direction='egress'} 750000",
		I "sampled_roce_packets_total{" SWP ",direction='ingress'} 400",
		I "sampled_roce_bytes_total{" SWP ",direction='ingress'} 600000",
		I "sampled_ce_packets_total{" SWP ",direction='ingress'} 30",
		I "sampled_cnp_packets_total{" SWP ",direction='ingress'} 20",
		I "sampled_trimmed_packets_total{" SWP ",direction='ingress'} 10",
		I "sampling_rate{" SWP "} 100",
		I "sample_pool_packets_total{" SWP "} 5000",
		I "agent_dropped_samples_total{" SWP "} 9",
		I "lost_samples_total{" SWP ",type='flow'} 2",
		I "lost_samples_total{" SWP ",type='counter'} 1",
		I "duplicate_samples_total{" SWP ",type='flow'} 0",
		I "drop_notifications_total{" SWP "} 3",
		/* without a record there is no name */
		I "samples_total{agent='10.0.0.1',sub_agent='0',ifindex='14',ifname='',"
		"direction='ingress'} 1",
		"xdp_sflow_source_samples_total{agent='10.0.0.1',sub_agent='0',class='1',index='30',"
		"direction='other'} 2",
		"xdp_sflow_source_sampling_rate{agent='10.0.0.1',sub_agent='0',class='1',"
		"index='30'} 100",
		"xdp_sflow_source_sampled_bytes_total{agent='other',sub_agent='',class='',index='',"
		"direction='other'} 3",
		NULL });
	/* clang-format on */
	/* unknown counters: of 16777216 there is its info, when it came, and a place of drops */
	assert_int_equal(count_of(text, "ifindex=\"16777216\""), 3);
	assert_null(strstr(text, "18446744073709551615"));
	assert_null(strstr(text, "4294967295\n"));
	assert_null(strstr(text, "left-over"));
	assert_null(strstr(text, "ifindex=\"13\""));
	assert_null(strstr(text, "ifindex=\"15\""));
	free(text);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals), cmocka_unit_test(test_self),
		cmocka_unit_test(test_agents), cmocka_unit_test(test_drops),
		cmocka_unit_test(test_roce),   cmocka_unit_test(test_interfaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
