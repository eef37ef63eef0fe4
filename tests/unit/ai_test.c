// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The AI metrics of snapshots that were made up, against what DESIGN 5.3 gives by hand; and their documents,
 * byte for byte. */
#include "fixture.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include "near.h"
#include "serve/ai.h"

/* Two switches and a link: leaf1 (agent 1) has the core port 1 (slot 1) and edge ports 2..6 (slots 2..6);
 * spine1 (agent 2) has the core ports 1 and 2 (slots 7, 8; the second leads to a leaf that is silent).
 * Agent 3 (slot 9) is not in the topology. */
static const char topology[] =
	"{\"links\":{\"L1\":{\"node1\":\"leaf1\",\"port1\":\"swp1\",\"node2\":\"spine1\",\"port2\":"
	"\"swp1\"},"
	"\"L2\":{\"node1\":\"leaf2\",\"port1\":\"swp1\",\"node2\":\"spine1\",\"port2\":\"swp2\"}},"
	"\"nodes\":{\"leaf1\":{\"agent\":\"10.0.0.1\",\"ports\":{\"swp1\":{\"ifindex\":\"1\"}}},"
	"\"spine1\":{\"agent\":\"10.0.0.2\",\"ports\":{\"swp1\":{\"ifindex\":\"1\"},"
	"\"swp2\":{\"ifindex\":\"2\"}}}}}";

#define NR_SOURCES 10
#define UNIX_MS 1700000000000ull
#define EDGE 1
#define CORE 2

/* What one second adds to a rate, in two seconds' smoothing. */
static double gain(void)
{
	return 1 - exp(-0.5);
}

struct made {
	struct fixture *f;
	struct xsf_bindings *b;
	struct xsf_rates *r;
	struct xsf_ai *ai;
	uint64_t unix_ms;
};

static void with_options(struct made *m, const struct xsf_ai_options *o)
{
	xsf_ai_free(m->ai);
	m->ai = xsf_ai_new(o, UNIX_MS);
	assert_non_null(m->ai);
}

static void bind(struct made *m)
{
	struct xsf_topology *t;
	char why[256];

	assert_int_equal(xsf_topology_parse(topology, strlen(topology), &t, why, sizeof(why)), 0);
	assert_int_equal(xsf_bindings_set(m->b, 0, t), 0);
	xsf_topology_put(t);
}

static int setup(void **state)
{
	struct made *m = calloc(1, sizeof(*m));

	if (!m)
		return -1;
	m->f = fixture_new(5, NR_SOURCES);
	for (uint32_t agent = 1; agent <= 3; agent++)
		fixture_agent(m->f, agent, 0);
	for (uint32_t slot = 1; slot < NR_SOURCES; slot++) {
		uint32_t agent = slot < 7 ? 1 : slot < 9 ? 2 : 3;

		fixture_source(m->f, slot, agent, 0, slot < 7 ? slot : slot - 6);
		fixture_interface(m->f, slot, "");
	}
	m->b = xsf_bindings_new();
	m->r = xsf_rates_new();
	assert_int_equal(xsf_bindings_add(m->b, "fabric"), 0);
	m->unix_ms = UNIX_MS;
	with_options(m, NULL);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	xsf_ai_free(m->ai);
	xsf_rates_free(m->r);
	xsf_bindings_free(m->b);
	fixture_free(m->f);
	free(m);
	return 0;
}

/* A tick, a second later; all are heard. */
static void tick(struct made *m)
{
	m->f->s.now_ns += SECOND;
	m->unix_ms += 1000;
	for (uint32_t slot = 1; slot < NR_SOURCES; slot++)
		m->f->sources[slot].last_seen_ns = m->f->s.now_ns;
	assert_int_equal(xsf_bindings_update(m->b, &m->f->s), 0);
	xsf_rates_update(m->r, &m->f->s);
	xsf_ai_update(m->ai, &m->f->s, m->b, m->r, m->unix_ms, 0);
}

static double value(struct made *m, enum xsf_ai_series which)
{
	return xsf_ai_now(m->ai)->value[which];
}

static void add_op(struct made *m, uint32_t group, uint32_t direction, uint8_t opcode,
		   uint64_t packets)
{
	m->f->ops[fixture_row(group, direction) * XSF_CARRIERS].opcode[opcode].packets += packets;
}

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

/* Everything at once: bytes, operations, marks, drops. */
static void add_everything(struct made *m)
{
	struct xsf_rdma_row *edge = &m->f->rdma[fixture_row(EDGE, XSF_INGRESS)];

	for (uint32_t slot = 1; slot < NR_SOURCES; slot++) {
		m->f->sources[slot].own[XSF_INGRESS].bytes += 1000 * slot;
		m->f->sources[slot].own[XSF_INGRESS].samples++;
		m->f->sources[slot].own[XSF_EGRESS].bytes += 1ull << 30;
	}
	add_op(m, EDGE, XSF_INGRESS, 6, 100);
	add_op(m, EDGE, XSF_INGRESS, 7, 300);
	m->f->ops[fixture_row(EDGE, XSF_INGRESS) * XSF_CARRIERS + XSF_ROCE_TUNNEL]
		.opcode[8]
		.packets += 100;
	add_op(m, EDGE, XSF_INGRESS, 17, 200);
	add_op(m, EDGE, XSF_EGRESS, 17, 5000);
	add_op(m, CORE, XSF_INGRESS, 17, 5000);
	edge->length[15].packets += 100;
	edge->length_sum_scaled += 100 * 32768;
	edge->ack[7].packets += 150;
	edge->ack[10].packets += 50;
	edge->ack[31].packets += 1000;
	edge->cnp[0].packets += 30;
	edge->cnp[1].packets += 500;
	m->f->rdma[fixture_row(CORE, XSF_INGRESS)].cnp[0].packets += 60;
	m->f->rdma[fixture_row(CORE, XSF_EGRESS)].cnp[0].packets += 500;
	m->f->tos[fixture_row(EDGE, XSF_INGRESS)].roce[3].packets += 10;
	m->f->tos[fixture_row(CORE, XSF_INGRESS)].roce[26 << 2 | 3].packets += 20;
	m->f->tos[fixture_row(CORE, XSF_EGRESS)].roce[3].packets += 500;
	m->f->tos[fixture_row(0, XSF_INGRESS)].roce[3].packets += 500;
	m->f->tos[fixture_row(EDGE, XSF_INGRESS)].all[11 << 2].packets += 1;
	m->f->tos[fixture_row(EDGE, XSF_EGRESS)].all[11 << 2 | 2].packets += 2;
	m->f->tos[fixture_row(CORE, XSF_OTHER)].all[11 << 2 | 3].packets += 4;
	m->f->tos[fixture_row(CORE, XSF_INGRESS)].all[12 << 2].packets += 8;
	m->f->s.reasons.notified[258] += 3;
	m->f->s.reasons.notified[33] += 2;
	m->f->s.reasons.notified[332] += 2;
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

static json_t *parsed(char *text, size_t len)
{
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);

	assert_non_null(text);
	assert_non_null(j);
	free(text);
	return j;
}

static json_t *trend_of(struct made *m, uint64_t after)
{
	size_t len;
	char *text = xsf_ai_trend_json(m->ai, after, &len);

	return parsed(text, len);
}

static void trend(void **state)
{
	struct made *m = *state;
	json_t *j, *t, *all, *times, *row;

	bind(m);
	j = trend_of(m, 0);
	t = json_object_get(j, "trend");
	assert_int_equal(json_integer_value(json_object_get(t, "maxPoints")), 300);
	all = json_object_get(t, "trends");
	times = json_object_get(t, "times");
	assert_int_equal(json_object_size(all), XSF_AI_NR_SERIES + 2);
	assert_int_equal(json_array_size(times), 300);
	assert_int_equal(json_integer_value(json_array_get(times, 0)), UNIX_MS - 300000);
	assert_int_equal(json_integer_value(json_array_get(times, 299)), UNIX_MS - 1000);
	for (uint32_t i = 0; i < XSF_AI_NR_SERIES; i++) {
		row = json_object_get(all, xsf_ai_keys[i]);
		assert_int_equal(json_array_size(row), 300);
		expect_near(json_number_value(json_array_get(row, 0)), 0, 0);
	}
	json_decref(j);

	tick(m);
	for (int i = 0; i < 310; i++) {
		add_everything(m);
		tick(m);
	}
	j = trend_of(m, 0);
	t = json_object_get(j, "trend");
	all = json_object_get(t, "trends");
	times = json_object_get(t, "times");
	for (int i = 1; i < 300; i++)
		assert_int_equal(json_integer_value(json_array_get(times, (size_t)i)),
				 json_integer_value(json_array_get(times, (size_t)i - 1)) + 1000);
	assert_int_equal(json_integer_value(json_array_get(times, 299)), m->unix_ms);
	expect_near(json_number_value(json_array_get(json_object_get(all, "bps"), 299)), 160000,
		    1e-3);
	row = json_array_get(json_object_get(all, XSF_AI_OPERATIONS), 299);
	assert_int_equal(json_object_size(row), 2);
	expect_near(json_number_value(json_object_get(row, "RC:ACK")), 200, 1e-3);
	row = json_array_get(json_object_get(all, XSF_AI_DROPS), 299);
	expect_near(json_number_value(json_object_get(row, "acl")), 3, 1e-3);
	json_decref(j);

	/* strictly later */
	j = trend_of(m, m->unix_ms - 2000);
	t = json_object_get(j, "trend");
	assert_int_equal(json_integer_value(json_object_get(t, "maxPoints")), 300);
	assert_int_equal(json_array_size(json_object_get(t, "times")), 2);
	assert_int_equal(json_array_size(json_object_get(json_object_get(t, "trends"), "bps")), 2);
	json_decref(j);
	j = trend_of(m, m->unix_ms);
	assert_int_equal(json_array_size(json_object_get(json_object_get(j, "trend"), "times")), 0);
	json_decref(j);
}

/* The system's time is set, back and on: the points stay a second apart, and those after one are the later
 * ones. */
static void trend_clock(void **state)
{
	static const int64_t jumps[] = { -7200000, 3600000, -400, 86400000 };
	struct made *m = *state;

	bind(m);
	for (int i = 0; i < 5; i++)
		tick(m);
	for (size_t n = 0; n < sizeof(jumps) / sizeof(jumps[0]); n++) {
		json_t *j, *times;

		m->unix_ms += (uint64_t)jumps[n];
		tick(m);
		j = trend_of(m, 0);
		times = json_object_get(json_object_get(j, "trend"), "times");
		assert_int_equal(json_integer_value(json_array_get(times, 299)), m->unix_ms);
		for (size_t i = 295; i < 300; i++)
			assert_int_equal(json_integer_value(json_array_get(times, i)),
					 json_integer_value(json_array_get(times, i - 1)) + 1000);
		json_decref(j);
		j = trend_of(m, m->unix_ms - 3000);
		times = json_object_get(json_object_get(j, "trend"), "times");
		assert_int_equal(json_array_size(times), 3);
		json_decref(j);
	}
}

static void metric(void **state)
{
	struct made *m = *state;
	const char *key;
	json_t *j, *one, *value_of;
	uint32_t n = 0;
	size_t len;
	char *doc;

	bind(m);
	tick(m);
	add_everything(m);
	tick(m);
	doc = xsf_ai_metric_json(m->ai, &len);
	j = parsed(doc, len);
	assert_int_equal(json_object_size(j), XSF_AI_NR_SERIES + 2);
	json_object_foreach(j, key, value_of)
	{
		assert_int_equal(xsf_ai_value_json(m->ai, key, &doc, &len), 0);
		one = parsed(doc, len);
		assert_true(json_equal(one, value_of));
		json_decref(one);
		n++;
	}
	assert_int_equal(n, XSF_AI_NR_SERIES + 2);
	json_decref(j);
	assert_int_equal(xsf_ai_value_json(m->ai, "nope", &doc, &len), -ENOENT);
	assert_int_equal(xsf_ai_value_json(m->ai, "", &doc, &len), -ENOENT);
}

/* Bins of 10 ms: a constant load, then none; a revolution; a gap. */
static void fast_load(void **state)
{
	static struct xsf_timeline_row row;
	static struct xsf_ai_fast f;
	struct made *m = *state;
	struct xsf_ai_stats stats;
	uint64_t bin = 1000;
	json_t *j;
	size_t len;
	char *doc;

	row.bin[999].packets = 1ull << 50; /* of the revolution before */
	xsf_ai_fast_read(&f, &row, bin * XSF_TIMELINE_NS);
	for (int i = 0; i < 100; i++)
		row.bin[bin++ % XSF_TIMELINE_SLOTS].packets += 50;
	/* the last two are still being counted */
	xsf_ai_fast_read(&f, &row, bin * XSF_TIMELINE_NS);
	expect_near(f.value, 5000 * (1 - exp(-9.8)), 3);
	bin += 10;
	xsf_ai_fast_read(&f, &row, bin * XSF_TIMELINE_NS);
	expect_near(f.value, 5000 * exp(-0.8), 3);
	for (int i = 0; i < 2 * XSF_TIMELINE_SLOTS; i++) {
		row.bin[bin++ % XSF_TIMELINE_SLOTS].packets += 20;
		if (i % 100 == 0)
			xsf_ai_fast_read(&f, &row, bin * XSF_TIMELINE_NS);
	}
	xsf_ai_fast_read(&f, &row, bin * XSF_TIMELINE_NS);
	expect_near(f.value, 2000, 0.1);
	bin += 3 * XSF_TIMELINE_SLOTS;
	xsf_ai_fast_read(&f, &row, bin * XSF_TIMELINE_NS);
	expect_near(f.value, 0, 0);

	for (int i = 0; i < 19; i++)
		xsf_ai_fast_second(&f, i, 0.5);
	expect_near(xsf_ai_fast_threshold(&f), 0, 0);
	for (int i = 19; i < 30; i++)
		xsf_ai_fast_second(&f, i, i == 25 ? 0 : 0.5);
	expect_near(xsf_ai_fast_threshold(&f), (10 + 29) / 2.0, 1e-9);
	xsf_ai_baseline_stats(&f.load, &stats);
	expect_near(stats.min, 10, 0);
	expect_near(stats.max, 29, 0);
	expect_near(stats.sdev, sqrt((20 * 20 - 1) / 12.0), 1e-9);
	assert_int_equal(f.period.nr, 4);
	doc = xsf_ai_period_json(m->ai, &f, &len);
	j = parsed(doc, len);
	assert_int_equal(json_object_size(j), 5);
	expect_near(json_number_value(json_object_get(j, "threshold")), 19.5, 1e-9);
	expect_near(
		json_number_value(json_object_get(json_object_get(j, "baselinePeriod"), "mean")),
		0.5, 1e-9);
	json_decref(j);
}

#define MADE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

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
		MADE(trend),
		MADE(trend_clock),
		MADE(metric),
		MADE(fast_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
