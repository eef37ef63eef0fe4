// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The AI metrics of snapshots that were made up, against what DESIGN 5.3 gives by hand; and their text, byte
 * for byte. */
#include "ai_kit.h"

static const char zeros[] = "sflow_ai_bps 0\n"
			    "sflow_ai_rdma_ops 0\n"
			    "sflow_ai_rdma_bytes 0\n"
			    "sflow_ai_aeth_credits_avg 0\n"
			    "sflow_ai_aeth_credits_min 0\n"
			    "sflow_ai_aeth_credits_max 0\n"
			    "sflow_ai_core_min_bps 0\n"
			    "sflow_ai_core_q1_bps 0\n"
			    "sflow_ai_core_med_bps 0\n"
			    "sflow_ai_core_q3_bps 0\n"
			    "sflow_ai_core_max_bps 0\n"
			    "sflow_ai_edge_min_bps 0\n"
			    "sflow_ai_edge_q1_bps 0\n"
			    "sflow_ai_edge_med_bps 0\n"
			    "sflow_ai_edge_q3_bps 0\n"
			    "sflow_ai_edge_max_bps 0\n"
			    "sflow_ai_discards_in 0\n"
			    "sflow_ai_errors_in 0\n"
			    "sflow_ai_discards_out 0\n"
			    "sflow_ai_errors_out 0\n"
			    "sflow_ai_ecn_pps 0\n"
			    "sflow_ai_cnp_pps 0\n"
			    "sflow_ai_trim_pps 0\n"
			    "sflow_ai_period 0\n";

static void expect_text(struct made *m, const char *want)
{
	size_t len;
	char *text = xsf_ai_text(m->ai, &len);

	assert_non_null(text);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(text, want, len);
	free(text);
}

static void zero_without_topology(void **state)
{
	struct made *m = *state;

	expect_text(m, zeros);
	for (int i = 0; i < 3; i++) {
		/* Without roles the programs count under no group. */
		for (uint32_t slot = 1; slot < NR_SOURCES; slot++)
			m->f->sources[slot].own[XSF_INGRESS].bytes += 1000 * slot;
		add_op(m, 0, XSF_INGRESS, 6, 100);
		m->f->s.reasons.notified[258] += 3;
		tick(m);
	}
	expect_text(m, zeros);
}

static void series(void **state)
{
	struct made *m = *state;
	const struct xsf_ai_point *p;
	double g = gain();

	bind(m);
	add_everything(m); /* before we came */
	tick(m);
	expect_text(m, zeros);
	add_everything(m);
	tick(m);
	expect_near(value(m, XSF_AI_bps), 8 * g * 1000 * (2 + 3 + 4 + 5 + 6), 1e-6);
	expect_near(value(m, XSF_AI_rdma_ops), g * 100, 1e-9);
	expect_near(value(m, XSF_AI_rdma_bytes), 32768, 1e-9);
	/* code 7 is 12 credits, code 10 is 32, code 31 says nothing */
	expect_near(value(m, XSF_AI_aeth_credits_avg), (150 * 12 + 50 * 32) / 200.0, 1e-9);
	expect_near(value(m, XSF_AI_aeth_credits_min), 12, 0);
	expect_near(value(m, XSF_AI_aeth_credits_max), 32, 0);
	/* core: 1000, 7000, 8000 bytes */
	expect_near(value(m, XSF_AI_core_min_bps), 8 * g * 1000, 1e-6);
	expect_near(value(m, XSF_AI_core_q1_bps), 8 * g * 4000, 1e-6);
	expect_near(value(m, XSF_AI_core_med_bps), 8 * g * 7000, 1e-6);
	expect_near(value(m, XSF_AI_core_q3_bps), 8 * g * 7500, 1e-6);
	expect_near(value(m, XSF_AI_core_max_bps), 8 * g * 8000, 1e-6);
	expect_near(value(m, XSF_AI_edge_min_bps), 8 * g * 2000, 1e-6);
	expect_near(value(m, XSF_AI_edge_med_bps), 8 * g * 4000, 1e-6);
	expect_near(value(m, XSF_AI_edge_max_bps), 8 * g * 6000, 1e-6);
	/* over all interfaces of the fabric, ingress */
	expect_near(value(m, XSF_AI_ecn_pps), g * 30, 1e-9);
	expect_near(value(m, XSF_AI_cnp_pps), g * 90, 1e-9);
	/* any direction */
	expect_near(value(m, XSF_AI_trim_pps), g * 7, 1e-9);
	p = xsf_ai_now(m->ai);
	assert_int_equal(p->nr_operations, 2);
	assert_string_equal(p->operation[0].name, "RC:RDMA_WRITE");
	expect_near(p->operation[0].value, g * 500, 1e-9);
	assert_string_equal(p->operation[1].name, "RC:ACK");
	expect_near(p->operation[1].value, g * 200, 1e-9);
	assert_int_equal(p->nr_drops, 2);
	assert_string_equal(p->drop[0].name, "dev_hdr");
	expect_near(p->drop[0].value, g * 4, 1e-9);
	assert_string_equal(p->drop[1].name, "acl");
	expect_near(p->drop[1].value, g * 3, 1e-9);
}

static void text(void **state)
{
	struct made *m = *state;
	char want[4096];

	bind(m);
	tick(m);
	for (int i = 0; i < 120; i++) {
		add_everything(m);
		tick(m);
	}
	snprintf(want, sizeof(want), "%s",
		 "sflow_ai_bps 160000\n"
		 "sflow_ai_rdma_ops 100\n"
		 "sflow_ai_rdma_bytes 32768\n"
		 "sflow_ai_aeth_credits_avg 17\n"
		 "sflow_ai_aeth_credits_min 12\n"
		 "sflow_ai_aeth_credits_max 32\n"
		 "sflow_ai_core_min_bps 8000\n"
		 "sflow_ai_core_q1_bps 32000\n"
		 "sflow_ai_core_med_bps 56000\n"
		 "sflow_ai_core_q3_bps 60000\n"
		 "sflow_ai_core_max_bps 64000\n"
		 "sflow_ai_edge_min_bps 16000\n"
		 "sflow_ai_edge_q1_bps 24000\n"
		 "sflow_ai_edge_med_bps 32000\n"
		 "sflow_ai_edge_q3_bps 40000\n"
		 "sflow_ai_edge_max_bps 48000\n"
		 "sflow_ai_discards_in 0\n"
		 "sflow_ai_errors_in 0\n"
		 "sflow_ai_discards_out 0\n"
		 "sflow_ai_errors_out 0\n"
		 "sflow_ai_ecn_pps 30\n"
		 "sflow_ai_cnp_pps 90\n"
		 "sflow_ai_trim_pps 7\n"
		 "sflow_ai_period 0\n"
		 "sflow_ai_operations{name=\"RC:RDMA_WRITE\"} 500\n"
		 "sflow_ai_operations{name=\"RC:ACK\"} 200\n"
		 "sflow_ai_drops{reason=\"dev_hdr\"} 4\n"
		 "sflow_ai_drops{reason=\"acl\"} 3\n");
	expect_text(m, want);
}

static void top_five(void **state)
{
	struct made *m = *state;
	const struct xsf_ai_point *p;
	static const uint8_t opcodes[] = { 0, 6, 12, 13, 17, 18, 19, 100, 129, 0x60 };

	bind(m);
	tick(m);
	for (uint32_t i = 0; i < sizeof(opcodes); i++)
		add_op(m, EDGE, XSF_INGRESS, opcodes[i], 1000 * (i + 1));
	for (uint32_t code = 257; code < 263; code++)
		m->f->s.reasons.notified[code] += code;
	m->f->s.high[0] = (struct xsf_reason_high){ { 0, 70000 }, 10000 };
	m->f->s.high[1] = (struct xsf_reason_high){ { 1, 70001 }, 20000 };
	m->f->s.nr_high = 2;
	tick(m);
	p = xsf_ai_now(m->ai);
	/* 0x60 is reserved: it has no name */
	assert_int_equal(p->nr_operations, XSF_AI_TOP);
	assert_string_equal(p->operation[0].name, "CNP:CNP");
	assert_string_equal(p->operation[1].name, "UD:SEND");
	assert_string_equal(p->operation[2].name, "RC:COMPARE_SWAP");
	assert_string_equal(p->operation[3].name, "RC:ATOMIC_ACK");
	assert_string_equal(p->operation[4].name, "RC:ACK");
	expect_near(p->operation[4].value, gain() * 5000, 1e-9);
	assert_int_equal(p->nr_drops, XSF_AI_TOP);
	assert_string_equal(p->drop[0].name, "70000");
	expect_near(p->drop[0].value, gain() * 10000, 1e-9);
	assert_string_equal(p->drop[1].name, "pkt_too_big");
	assert_string_equal(p->drop[4].name, "no_buffer_space");
	/* Below 1 a second, operations are not shown; drops, below one in 10,000 s. */
	for (int i = 0; i < 18; i++)
		tick(m);
	p = xsf_ai_now(m->ai);
	assert_int_equal(p->nr_operations, 0);
	assert_int_equal(p->nr_drops, 5);
	for (int i = 0; i < 20; i++)
		tick(m);
	assert_int_equal(xsf_ai_now(m->ai)->nr_drops, 0);
}

static void interface_counters(void **state)
{
	struct made *m = *state;

	bind(m);
	for (uint32_t slot = 1; slot < NR_SOURCES; slot++) {
		struct xsf_interface *i = &m->f->interfaces[slot];

		i->in_discards = i->in_errors = i->out_discards = i->out_errors = 1000;
	}
	m->f->interfaces[8].in_errors = UINT32_MAX;
	tick(m);
	for (uint32_t slot = 1; slot < NR_SOURCES; slot++) {
		struct xsf_interface *i = &m->f->interfaces[slot];

		i->counters_ns += 10 * SECOND;
		i->in_discards += 10 * slot;
		if (slot != 8)
			i->in_errors += 20 * slot;
		i->out_discards += 30 * slot;
		i->out_errors += 40 * slot;
	}
	tick(m);
	/* slots 1 to 8 are the fabric's; errors of 8 are not known */
	expect_near(value(m, XSF_AI_discards_in), 36, 1e-5);
	expect_near(value(m, XSF_AI_errors_in), 2 * 28, 1e-5);
	expect_near(value(m, XSF_AI_discards_out), 3 * 36, 1e-5);
	expect_near(value(m, XSF_AI_errors_out), 4 * 36, 1e-5);
}

/* Who is silent for a minute is not among those whose quartiles are taken; who sends zeros is. */
static void population(void **state)
{
	struct made *m = *state;

	bind(m);
	tick(m);
	m->f->sources[7].own[XSF_INGRESS].bytes += 7000;
	m->f->sources[8].own[XSF_INGRESS].bytes += 9000;
	tick(m);
	expect_near(value(m, XSF_AI_core_min_bps), 0, 0);
	expect_near(value(m, XSF_AI_core_med_bps), 8 * gain() * 7000, 1e-6);
	m->f->s.now_ns += SECOND / 100;
	m->f->sources[1].last_seen_ns = m->f->s.now_ns - 60 * SECOND;
	xsf_rates_update(m->r, &m->f->s);
	xsf_ai_update(m->ai, &m->f->s, m->b, m->r, m->unix_ms + 10, 0);
	expect_near(value(m, XSF_AI_core_min_bps), 8 * gain() * 7000 * exp(-0.005), 1e-6);
}

/* A fabric that samples only what leaves. */
static void egress_only(void **state)
{
	struct made *m = *state;

	bind(m);
	tick(m);
	for (int i = 0; i < 61; i++) {
		add_op(m, EDGE, XSF_EGRESS, 17, 700);
		tick(m);
		if (i < 59)
			assert_int_equal(xsf_ai_now(m->ai)->nr_operations, 0);
	}
	assert_int_equal(xsf_ai_now(m->ai)->nr_operations, 1);
	expect_near(xsf_ai_now(m->ai)->operation[0].value, 700, 1e-6);
	/* One ingress sample, and it is ingress again. */
	m->f->sources[2].shared[XSF_INGRESS].samples++;
	tick(m);
	assert_int_equal(xsf_ai_now(m->ai)->nr_operations, 0);
}

static void credits(void **state)
{
	struct made *m = *state;
	struct xsf_rdma_row *edge = &m->f->rdma[fixture_row(EDGE, XSF_INGRESS)];

	bind(m);
	tick(m);
	edge->ack[31].packets += 10;
	tick(m);
	expect_near(value(m, XSF_AI_aeth_credits_max), 0, 0);
	edge->ack[0].packets += 10;
	edge->ack[30].packets += 30;
	edge->length_sum_scaled += 500;
	edge->length[5].packets += 10;
	tick(m);
	expect_near(value(m, XSF_AI_aeth_credits_min), 0, 0);
	expect_near(value(m, XSF_AI_aeth_credits_max), 32768, 0);
	expect_near(value(m, XSF_AI_aeth_credits_avg), 0.75 * 32768, 1e-6);
	expect_near(value(m, XSF_AI_rdma_bytes), 50, 1e-6);
	/* The window is two to four seconds; then there are none. */
	tick(m);
	expect_near(value(m, XSF_AI_aeth_credits_max), 32768, 0);
	for (int i = 0; i < 4; i++)
		tick(m);
	expect_near(value(m, XSF_AI_aeth_credits_max), 0, 0);
	expect_near(value(m, XSF_AI_aeth_credits_avg), 0, 0);
	expect_near(value(m, XSF_AI_rdma_bytes), 0, 0);
	assert_true(value(m, XSF_AI_rdma_ops) > 0);
}

static void with_other_options(void **state)
{
	const struct xsf_ai_options o = { .raw_credits = 1,
					  .any_cnp = 1,
					  .ibta_names = 1,
					  .trimmed_dscps = 1ull << 12 | 1ull << 11 };
	struct made *m = *state;

	with_options(m, &o);
	bind(m);
	tick(m);
	add_everything(m);
	tick(m);
	expect_near(value(m, XSF_AI_aeth_credits_max), 31, 0);
	expect_near(value(m, XSF_AI_aeth_credits_min), 7, 0);
	expect_near(value(m, XSF_AI_aeth_credits_avg), (150 * 7 + 50 * 10 + 1000 * 31) / 1200.0,
		    1e-9);
	expect_near(value(m, XSF_AI_cnp_pps), gain() * 590, 1e-9);
	expect_near(value(m, XSF_AI_trim_pps), gain() * 15, 1e-9);
	assert_int_equal(xsf_ai_now(m->ai)->nr_operations, 4);
	assert_string_equal(xsf_ai_now(m->ai)->operation[0].name, "RC:RDMA WRITE Middle");
}

/* Other maps: nothing jumps, in either direction. */
static void other_maps(void **state)
{
	struct made *m = *state;

	bind(m);
	tick(m);
	add_everything(m);
	tick(m);
	xsf_ai_reset(m->ai);
	xsf_rates_reset(m->r);
	for (int i = 0; i < 1000; i++)
		add_everything(m);
	tick(m);
	assert_true(value(m, XSF_AI_ecn_pps) <= gain() * 30);
	assert_true(xsf_ai_now(m->ai)->operation[0].value <= gain() * 500);
	expect_near(value(m, XSF_AI_bps), 0, 0);
	m->f->ops[fixture_row(EDGE, XSF_INGRESS) * XSF_CARRIERS].opcode[7].packets = 0;
	tick(m);
	assert_true(xsf_ai_now(m->ai)->operation[0].value < 500);
	xsf_ai_blank(m->ai, m->f->s.now_ns + SECOND, UNIX_MS + 9000);
	expect_text(m, zeros);
}

static void quartiles(void **state)
{
	double one[] = { 7 }, two[] = { 20, 10 }, four[] = { 4, 1, 3, 2 };
	double many[11] = { 5, 50, 15, 30, 35, 40, 45, 0, 10, 20, 25 };
	struct xsf_quartiles q;

	(void)state;
	xsf_quartiles(one, 0, &q);
	expect_near(q.max, 0, 0);
	xsf_quartiles(one, 1, &q);
	expect_near(q.min, 7, 0);
	expect_near(q.q1, 7, 0);
	expect_near(q.max, 7, 0);
	xsf_quartiles(two, 2, &q);
	expect_near(q.q1, 12.5, 1e-12);
	expect_near(q.med, 15, 1e-12);
	expect_near(q.q3, 17.5, 1e-12);
	xsf_quartiles(four, 4, &q);
	expect_near(q.q1, 1.75, 1e-12);
	expect_near(q.med, 2.5, 1e-12);
	expect_near(q.q3, 3.25, 1e-12);
	xsf_quartiles(many, 11, &q);
	expect_near(q.min, 0, 0);
	expect_near(q.q1, 12.5, 1e-12);
	expect_near(q.med, 25, 1e-12);
	expect_near(q.q3, 37.5, 1e-12);
	expect_near(q.max, 50, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE(zero_without_topology),
		MADE(series),
		MADE(text),
		MADE(top_five),
		MADE(interface_counters),
		MADE(population),
		MADE(egress_only),
		MADE(credits),
		MADE(with_other_options),
		MADE(other_maps),
		cmocka_unit_test(quartiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
