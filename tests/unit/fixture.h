/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Snapshots made by hand: plain arrays of the test's own sizes, filled through pointers. */
#ifndef XSF_TEST_FIXTURE_H
#define XSF_TEST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "model/snapshot.h"

#define SECOND 1000000000ull
#define FIXTURE_PLACES 64

struct fixture {
	struct xsf_snapshot s;
	struct xsf_agent *agents;
	struct xsf_source *sources;
	struct xsf_interface *interfaces;
	struct xsf_group *groups;
	struct xsf_op_row *ops;
	struct xsf_tos_row *tos;
	struct xsf_rdma_row *rdma;
	struct xsf_drop_place *places; /* rows of fixture_place(); room for FIXTURE_PLACES */
};

static inline void *fixture_array(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	assert_non_null(p);
	return p;
}

/* Room for slots 0..nr-1, all free; the clock stands at 1000 s and silence counts from 600 s on. */
static inline struct fixture *fixture_new(uint32_t nr_agents, uint32_t nr_sources)
{
	struct fixture *f = fixture_array(1, sizeof(*f));
	uint32_t rows = XSF_GROUPS * XSF_DIRECTIONS;

	f->agents = fixture_array(nr_agents, sizeof(*f->agents));
	f->sources = fixture_array(nr_sources, sizeof(*f->sources));
	f->interfaces = fixture_array(nr_sources, sizeof(*f->interfaces));
	f->groups = fixture_array(nr_sources, sizeof(*f->groups));
	f->ops = fixture_array(rows * XSF_CARRIERS, sizeof(*f->ops));
	f->tos = fixture_array(rows, sizeof(*f->tos));
	f->rdma = fixture_array(rows, sizeof(*f->rdma));
	f->places = fixture_array(FIXTURE_PLACES, sizeof(*f->places));
	f->s.places = f->places;
	f->s.now_ns = 1000 * SECOND;
	f->s.stale_ns = 600 * SECOND;
	f->s.agents = f->agents;
	f->s.nr_agents = nr_agents;
	f->s.sources = f->sources;
	f->s.interfaces = f->interfaces;
	f->s.groups = f->groups;
	f->s.nr_sources = nr_sources;
	f->s.nr_groups = XSF_GROUPS;
	f->s.ops = f->ops;
	f->s.tos = f->tos;
	f->s.rdma = f->rdma;
	return f;
}

static inline void fixture_free(struct fixture *f)
{
	free(f->agents);
	free(f->sources);
	free(f->interfaces);
	free(f->groups);
	free(f->ops);
	free(f->tos);
	free(f->rdma);
	free(f->places);
	free(f);
}

static inline void fixture_ip4(uint8_t addr[16], uint32_t ip)
{
	memset(addr, 0, 10);
	addr[10] = addr[11] = 0xff;
	for (int i = 0; i < 4; i++)
		addr[12 + i] = (uint8_t)(ip >> (24 - 8 * i));
}

/* Agent 10.0.0.slot (or beyond), seen 1.5 s ago. */
static inline struct xsf_agent *fixture_agent(struct fixture *f, uint32_t slot, uint32_t sub_agent)
{
	struct xsf_agent *a = &f->agents[slot];

	fixture_ip4(a->key.addr, 0x0a000000 + slot);
	fixture_ip4(a->source, 0xc0000200 + slot);
	a->key.sub_agent = sub_agent;
	a->generation = 5;
	a->last_seen_ns = f->s.now_ns - SECOND - SECOND / 2;
	a->sequence = 100ull << 32 | 0xffffffff;
	return a;
}

static inline struct xsf_source *fixture_source(struct fixture *f, uint32_t slot, uint32_t agent,
						uint32_t class, uint32_t index)
{
	struct xsf_source *s = &f->sources[slot];

	s->key.agent = agent;
	s->key.agent_generation = f->agents[agent].generation;
	s->key.class = class;
	s->key.index = index;
	s->generation = 9;
	s->last_seen_ns = f->s.now_ns - SECOND;
	return s;
}

/* The record of an interface, with every counter all ones and no name. */
static inline struct xsf_interface *fixture_interface(struct fixture *f, uint32_t slot,
						      const char *name)
{
	struct xsf_interface *i = &f->interfaces[slot];

	memset(i, 0, sizeof(*i));
	i->generation = f->sources[slot].generation;
	i->has_counters = 1;
	i->counters_ns = f->s.now_ns - 2 * SECOND;
	i->speed = i->in_octets = i->out_octets = UINT64_MAX;
	i->status = UINT32_MAX;
	i->in_ucast = i->in_multicast = i->in_broadcast = UINT32_MAX;
	i->in_discards = i->in_errors = i->in_unknown = UINT32_MAX;
	i->out_ucast = i->out_multicast = i->out_broadcast = UINT32_MAX;
	i->out_discards = i->out_errors = i->promiscuous = UINT32_MAX;
	i->name_len = (uint32_t)strlen(name);
	memcpy(i->name, name, i->name_len);
	return i;
}

static inline void fixture_name(struct xsf_agent *a, const char *name)
{
	a->name_len = (uint16_t)strlen(name);
	memcpy(a->name, name, a->name_len);
}

/* Row of the TOS and RDMA tables; times XSF_CARRIERS plus carrier, of the operation table. */
static inline uint32_t fixture_row(uint32_t group, uint32_t direction)
{
	return group * XSF_DIRECTIONS + direction;
}

/* A row of places after those that are there (the first is row 0), first seen a second after the one before
 * and for the last time 3 s ago. */
static inline struct xsf_drop_place *fixture_place(struct fixture *f, uint32_t agent,
						   uint32_t ifindex, uint32_t reason,
						   uint64_t notified)
{
	struct xsf_drop_place *p = &f->places[f->s.nr_places];

	assert_true(f->s.nr_places < FIXTURE_PLACES);
	p->state = XSF_PLACE_IN_USE;
	if (f->s.nr_places) {
		p->agent = f->agents[agent].key;
		p->ifindex = ifindex;
		p->reason = reason;
	}
	p->first_seen_ns = (100 + f->s.nr_places) * SECOND;
	p->last_seen_ns = f->s.now_ns - 3 * SECOND;
	p->notified = notified;
	f->s.nr_places++;
	return p;
}

/* Rows of agents 1 and 2 of fixture_full(). */
static inline void fixture_drops(struct fixture *f)
{
	struct xsf_agent *a = &f->agents[1];

	a->drops_suppressed = 8;
	a->drops_lost = 5;
	a->drops_duplicate = 6;
	a->drops_reordered = 9;
	a->drops_restarts = 2;
	a->drops_fresh = 6;
	f->interfaces[1].drop_window = 50ull << 32 | 0xfffffffd; /* a hole */
	f->interfaces[5].drop_window = 50ull << 32 | 0xfffffff0; /* left behind */
	fixture_place(f, 0, 0, 0, 41);
	/* two codes of one name */
	fixture_place(f, 1, 12, 33, 1);
	fixture_place(f, 1, XSF_PLACE_WHOLE_AGENT, 33, 1);
	fixture_place(f, 1, 12, 332, 2)->last_seen_ns = f->s.now_ns - 2 * SECOND;
	fixture_place(f, 1, XSF_PLACE_WHOLE_AGENT, 332, 2);
	/* a port without name, none, and a code that has no name */
	fixture_place(f, 1, 14, 258, 4);
	fixture_place(f, 1, 0, 258, 1);
	fixture_place(f, 1, XSF_PLACE_WHOLE_AGENT, 258, 5);
	fixture_place(f, 2, 0x1000000, 70000, 6);
	fixture_place(f, 2, XSF_PLACE_WHOLE_AGENT, 70000, 6);
	/* not shown: silent, changing hands */
	fixture_place(f, 1, 12, 259, 7)->last_seen_ns = f->s.now_ns - 601 * SECOND;
	fixture_place(f, 1, 12, 260, 8)->state = XSF_PLACE_CHANGING;
}

/* A little of everything that has a line or a key. */
static inline struct fixture *fixture_full(void)
{
	struct fixture *f = fixture_new(8, 16);
	struct xsf_interface *i;
	struct xsf_source *s;
	struct xsf_agent *a;
	uint64_t *total = (uint64_t *)&f->s.totals;

	for (uint32_t n = 0; n < XSF_NR_TOTALS; n++)
		total[n] = 1000 + n;

	f->agents[0].shared.datagrams = 77;
	f->agents[0].shared.flow_samples = 78;
	a = fixture_agent(f, 1, 0);
	fixture_name(a, "leaf1");
	a->own.datagrams = 10;
	a->shared.datagrams = 10;
	a->own.bytes = 13000;
	a->shared.bytes = 13000;
	a->own.lost = 1;
	a->shared.lost = 2;
	a->own.duplicate = 1;
	a->shared.duplicate = 1;
	a->own.reordered = 0;
	a->shared.reordered = 1;
	a->own.restarts = 2;
	a->shared.restarts = 2;
	a->own.faulty = 2;
	a->shared.faulty = 3;
	a->own.flow_samples = 70;
	a->shared.flow_samples = 70;
	a->own.counter_samples = 3;
	a->shared.counter_samples = 3;
	a->own.drop_samples = 3;
	a->shared.drop_samples = 4;
	a->drops = 8;
	a->uptime_ms = 123456;
	a->source_port = 40000;
	a->sequence = 100ull << 32 | 0xfffffff9; /* two holes */
	a = fixture_agent(f, 2, 100000);	 /* 2001:db8::2 */
	memset(a->key.addr, 0, 16);
	a->key.addr[0] = 0x20;
	a->key.addr[1] = 0x01;
	a->key.addr[2] = 0x0d;
	a->key.addr[3] = 0xb8;
	a->key.addr[15] = 2;
	a = fixture_agent(f, 3, 0); /* silent */
	a->last_seen_ns = f->s.now_ns - 601 * SECOND;

	f->sources[0].own[XSF_OTHER] =
		(struct xsf_traffic){ .samples = 1, .packets = 2, .bytes = 3 };
	s = fixture_source(f, 1, 1, 0, 12);
	s->own[XSF_INGRESS] = (struct xsf_traffic){ 10, 1000, 1500000, 400, 600000, 30, 20, 10 };
	s->shared[XSF_EGRESS] = (struct xsf_traffic){ 5, 500, 750000, 0, 0, 0, 0, 0 };
	s->sampling_rate = 100;
	s->sample_pool = 5000;
	s->drops = 9;
	s->flow_sequence = 7ull << 32 | 0xffffffff;
	i = fixture_interface(f, 1, "swp12");
	i->type = 6;
	i->speed = 400000000000;
	i->direction = 1;
	i->status = 1;
	i->in_octets = 10;
	i->in_ucast = 11;
	i->in_multicast = 12;
	i->in_broadcast = 13;
	i->in_discards = 14;
	i->in_errors = 15;
	i->in_unknown = 16;
	i->out_octets = 77;
	i->out_ucast = 21;
	i->out_multicast = 22;
	i->out_broadcast = 23;
	i->out_discards = 24;
	i->out_errors = 25;
	i->promiscuous = 0;
	i->flow_lost = 2;
	i->counter_lost = 1;
	i->drop_samples = 3;
	/* nothing but unknown counters */
	fixture_source(f, 2, 2, 0, 0x1000000);
	fixture_interface(f, 2, "");
	/* a VLAN with traffic */
	s = fixture_source(f, 3, 1, 1, 30);
	s->own[XSF_OTHER] = (struct xsf_traffic){ 2, 200, 3000, 0, 0, 0, 0, 0 };
	s->sampling_rate = 100;
	s->flow_sequence = 2ull << 32 | 0xffffffff;
	/* of an agent that lost its place: not shown */
	s = fixture_source(f, 4, 1, 0, 13);
	s->own[XSF_INGRESS].samples = 1;
	s->key.agent_generation = 1;
	/* a record that another source left behind */
	s = fixture_source(f, 5, 1, 0, 14);
	s->own[XSF_INGRESS] = (struct xsf_traffic){ 1, 1, 64, 0, 0, 0, 0, 0 };
	fixture_interface(f, 5, "left-over")->generation = 5;
	/* silent since a counter sample without counters: nothing to show */
	fixture_source(f, 6, 1, 0, 15);

	f->ops[fixture_row(0, XSF_INGRESS) * XSF_CARRIERS + XSF_ROCE_V2].opcode[10] =
		(struct xsf_op){ 3, 300, 450000 };
	f->ops[fixture_row(2, XSF_EGRESS) * XSF_CARRIERS + XSF_ROCE_TUNNEL].opcode[10] =
		(struct xsf_op){ 1, 100, 150000 };
	f->ops[fixture_row(3, XSF_OTHER) * XSF_CARRIERS + XSF_ROCE_V1].opcode[17] =
		(struct xsf_op){ 2, 200, 12800 };
	f->ops[fixture_row(0, XSF_INGRESS) * XSF_CARRIERS + XSF_ROCE_V2].opcode[0xe0] =
		(struct xsf_op){ 4, 400, 5 };
	f->ops[fixture_row(0, XSF_INGRESS) * XSF_CARRIERS + XSF_ROCE_V2].opcode[0xe1] =
		(struct xsf_op){ 5, 500, 6 };
	f->tos[0].all[11 << 2 | 1] = (struct xsf_count){ 6, 60 };
	f->tos[0].all[3] = (struct xsf_count){ 1, 10 };
	f->tos[0].roce[48 << 2 | 3] = (struct xsf_count){ 2, 20 };
	f->tos[0].roce[2] = (struct xsf_count){ 3, 30 };
	f->rdma[0].length[0] = (struct xsf_count){ 1, 10 };
	f->rdma[0].length[15] = (struct xsf_count){ 2, 20 };
	f->rdma[0].length[32] = (struct xsf_count){ 1, 10 };
	f->rdma[0].length_sum = 1 + 2 * 32768 + 4294967295;
	f->rdma[0].length_sum_scaled = 10 * f->rdma[0].length_sum;
	f->rdma[0].ack[7] = (struct xsf_count){ 4, 40 };
	f->rdma[0].ack[30] = (struct xsf_count){ 1, 10 };
	f->rdma[0].ack[31] = (struct xsf_count){ 5, 50 };
	f->rdma[0].rnr[3] = (struct xsf_count){ 1, 10 };
	f->rdma[0].rnr[14] = (struct xsf_count){ 1, 10 };
	f->rdma[0].nak[0] = (struct xsf_count){ 2, 20 };
	f->rdma[0].nak[5] = (struct xsf_count){ 3, 30 };
	f->rdma[0].nak[31] = (struct xsf_count){ 4, 40 };
	f->rdma[0].cnp[1] = (struct xsf_count){ 9, 90 };
	f->rdma[4].cnp[0] = (struct xsf_count){ 8, 80 };
	fixture_drops(f);
	f->s.reasons.notified[258] = 5;
	f->s.reasons.notified[33] = 1;
	f->s.reasons.notified[332] = 2;
	f->s.reasons.notified[400] = 3;
	f->s.reasons.sampled[3] = 4;
	f->s.high[0] = (struct xsf_reason_high){ { 0, 70000 }, 6 };
	f->s.high[1] = (struct xsf_reason_high){ { 1, 70000 }, 7 };
	f->s.nr_high = 2;
	f->s.attached[0] = (struct xsf_attached){
		.ifname = "eth0",
		.mode = "native",
		.verdict = "pass",
		.how = "link",
		.ifindex = 2,
		.prog_id = 40,
		.frags = 1,
		.run_time_ns = 1500000001,
		.run_count = 3,
	};
	f->s.nr_attached = 1;
	f->s.periods[2] = (struct xsf_period_found){ .seconds = 1.23449,
						     .confidence = 0.98761 }; /* of fabric 1 */
	f->s.nr_periods = 3;
	return f;
}

/* The whole document in one terminated string, read `chunk` bytes at a time. */
static inline char *fixture_read(ssize_t (*read)(void *, char *, size_t), void *from, size_t chunk)
{
	size_t len = 0, max = 1 << 16;
	char *buf = malloc(max + 1);

	assert_non_null(buf);
	for (;;) {
		ssize_t n;

		if (max - len < chunk) {
			max = 2 * max + chunk;
			buf = realloc(buf, max + 1);
			assert_non_null(buf);
		}
		n = read(from, buf + len, chunk);
		assert_true(n >= 0 && (size_t)n <= chunk);
		if (!n)
			break;
		len += (size_t)n;
	}
	buf[len] = 0;
	assert_int_equal(strlen(buf), len);
	return buf;
}

#endif
