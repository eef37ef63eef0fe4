/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Snapshots that were made up, and the AI metrics of them, for the tests of model/ai.h and serve/ai.h. */
#ifndef XSF_TEST_AI_KIT_H
#define XSF_TEST_AI_KIT_H

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
static inline double gain(void)
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

static inline void with_options(struct made *m, const struct xsf_ai_options *o)
{
	xsf_ai_free(m->ai);
	m->ai = xsf_ai_new(o, UNIX_MS);
	assert_non_null(m->ai);
}

static inline void bind(struct made *m)
{
	struct xsf_topology *t;
	char why[256];

	assert_int_equal(xsf_topology_parse(topology, strlen(topology), &t, why, sizeof(why)), 0);
	assert_int_equal(xsf_bindings_set(m->b, 0, t), 0);
	xsf_topology_put(t);
}

static inline int setup(void **state)
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

static inline int teardown(void **state)
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
static inline void tick(struct made *m)
{
	m->f->s.now_ns += SECOND;
	m->unix_ms += 1000;
	for (uint32_t slot = 1; slot < NR_SOURCES; slot++)
		m->f->sources[slot].last_seen_ns = m->f->s.now_ns;
	assert_int_equal(xsf_bindings_update(m->b, &m->f->s), 0);
	xsf_rates_update(m->r, &m->f->s);
	xsf_ai_update(m->ai, &m->f->s, m->b, m->r, m->unix_ms, 0);
}

static inline double value(struct made *m, enum xsf_ai_series which)
{
	return xsf_ai_now(m->ai)->value[which];
}

static inline void add_op(struct made *m, uint32_t group, uint32_t direction, uint8_t opcode,
			  uint64_t packets)
{
	m->f->ops[fixture_row(group, direction) * XSF_CARRIERS].opcode[opcode].packets += packets;
}

/* Everything at once: bytes, operations, marks, drops. */
static inline void add_everything(struct made *m)
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

#define MADE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
