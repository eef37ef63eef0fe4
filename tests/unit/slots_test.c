// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tables of agents and sources: full, aged, given to others. What was counted never gets less. */
#include <xsf/sequence.h>
#include "fed.h"

#define STALE (600 * SECOND)

/* A datagram of an agent with flow samples of sources first .. first + nr - 1, at most 200. */
static void send_sources(struct fed *f, uint32_t agent, uint32_t number, uint32_t first,
			 uint32_t nr)
{
	uint32_t body;

	f->w.len = 0;
	wire_datagram(&f->w, agent, 0, number, 1000 * number, nr);
	for (uint32_t i = 0; i < nr; i++) {
		body = wire_flow(&f->w, number, first + i, 10, first + i, 0x3fffffff, 0);
		wire_close(&f->w, body);
	}
	f->now_ns += 1000;
	xsf_store_datagram(f->store, f->w.p, f->w.len, f->now_ns);
}

static void look(struct fed *f)
{
	char text[256];
	const char *broken;

	xsf_store_snapshot(f->store, &f->s);
	broken = sums_broken(&f->s, text, sizeof(text));
	if (broken)
		fail_msg("%s", broken);
}

static uint32_t agent_slot(const struct fed *f, uint32_t agent)
{
	for (uint32_t i = 1; i < f->s.nr_agents; i++) {
		if (f->s.agents[i].generation & 1 &&
		    wire_get32(f->s.agents[i].key.addr + 12) == agent)
			return i;
	}
	return 0;
}

/* Every place is taken, the next agents go to slot 0: counted as such, and in all totals. */
static void test_agents_full(void **state)
{
	struct fed *f = *state;
	const uint32_t places = XSF_AGENTS - 1, others = 1000;

	for (uint32_t i = 0; i < places; i++)
		send_sources(f, AGENT + i, 1, 3, 1);
	look(f);
	assert_int_equal(f->s.nr_agents, XSF_AGENTS);
	assert_int_equal(f->s.totals.agents_full, 0);
	assert_int_equal(f->s.agents[0].shared.datagrams, 0);
	for (uint32_t i = 0; i < others; i++)
		send_sources(f, AGENT + places + i, 1, 3, 2);
	look(f);
	assert_int_equal(f->s.totals.agents_full, others);
	assert_int_equal(f->s.totals.sources_full, 2 * others);
	assert_int_equal(f->s.totals.sample_flow, places + 2 * others);
	assert_int_equal(f->s.agents[0].shared.datagrams, others);
	assert_int_equal(f->s.agents[0].shared.flow_samples, 2 * others);
	assert_int_equal(f->s.sources[0].shared[XSF_INGRESS].samples, 2 * others);
	assert_int_equal(f->s.totals.agents_reclaimed, 0);
	/* Those that have a place keep it. */
	for (uint32_t i = 0; i < places; i++)
		send_sources(f, AGENT + i, 2, 3, 1);
	look(f);
	assert_int_equal(f->s.totals.agents_full, others);
	assert_int_equal(f->s.agents[places].own.datagrams, 2);
	assert_int_equal(f->s.agents[places].own.lost, 0);
	/* What has no place has no name and no drops of its own. */
	assert_int_equal(f->s.agents[0].name_len, 0);
	assert_int_equal(f->s.agents[0].generation, 0);
}

static void test_sources_full(void **state)
{
	struct fed *f = *state;
	const uint32_t places = XSF_SOURCES - 1, per = 200;
	uint32_t sent = 0, n = 0;

	while (sent < places) {
		uint32_t nr = places - sent < per ? places - sent : per;

		send_sources(f, AGENT + n % 40, 1 + n / 40, 1 + 1000 * (n / 40), nr);
		sent += nr;
		n++;
	}
	look(f);
	assert_int_equal(f->s.nr_sources, XSF_SOURCES);
	assert_int_equal(f->s.totals.sources_full, 0);
	send_sources(f, AGENT, 1000, 900000, 100);
	look(f);
	assert_int_equal(f->s.totals.sources_full, 100);
	assert_int_equal(f->s.sources[0].shared[XSF_INGRESS].samples, 100);
	assert_int_equal(f->s.sources[0].shared[XSF_INGRESS].packets, 1000);
	assert_int_equal(f->s.agents[agent_slot(f, AGENT)].own.flow_samples, 200ull * 9 + 100);
	assert_int_equal(f->s.totals.sources_reclaimed, 0);
}

/* One ns before its time a silent agent still has its place; then it can lose it to whoever asks. */
static void test_stale_after(void **state)
{
	struct fed *f = *state;
	struct xsf_config config;
	uint64_t seen;

	xsf_config_defaults(&config);
	config.stale_ns = 5000000;
	fed_again(f, &config);
	/* all seen at the same moment, but for the send's own microsecond */
	for (uint32_t i = 0; i < XSF_AGENTS - 1; i++) {
		send_sources(f, AGENT + i, 1, 3, 1);
		f->now_ns -= 1000;
	}
	seen = f->now_ns + 1000;
	f->now_ns = seen + config.stale_ns - 1000;
	send_sources(f, AGENT + 100000, 1, 3, 1);
	look(f);
	assert_int_equal(f->s.totals.agents_full, 1);
	assert_int_equal(f->s.totals.agents_reclaimed, 0);
	f->now_ns = seen + config.stale_ns + 1 - 1000;
	send_sources(f, AGENT + 100000, 2, 3, 1);
	look(f);
	assert_int_equal(f->s.totals.agents_full, 1);
	assert_int_equal(f->s.totals.agents_reclaimed, 1);
	assert_int_not_equal(agent_slot(f, AGENT + 100000), 0);
}

/* The whole table is given to others, twice: generations move, sums do not shrink, sources of the old agents
 * belong to nobody, those that went on are left alone. */
static void test_reclaim(void **state)
{
	struct fed *f = *state;
	const uint32_t places = XSF_AGENTS - 1;
	const uint32_t keeper = AGENT + 17;
	uint32_t slot, generation;
	uint64_t sent = 0;

	for (uint32_t round = 0; round < 3; round++) {
		uint64_t datagrams = 0;

		for (uint32_t i = 0; i < places - 1; i++) {
			uint32_t agent = AGENT + 0x10000 * round + i + (i >= 17);

			/* the second is not the next: a hole of two is pending */
			send_sources(f, agent, 1, 3, 2);
			send_sources(f, agent, 4, 3, 1);
			sent += 2;
			if (i % 500 == 0) {
				send_sources(f, keeper, ++f->sequence, 3, 1);
				sent++;
			}
		}
		look(f);
		assert_int_equal(f->s.totals.agents_full, 0);
		assert_int_equal(f->s.totals.agents_reclaimed, round * (places - 1));
		for (uint32_t i = 0; i < f->s.nr_agents; i++)
			datagrams += f->s.agents[i].own.datagrams + f->s.agents[i].shared.datagrams;
		assert_int_equal(datagrams, sent);
		assert_int_equal(f->s.agents[0].shared.datagrams, round * 2 * (places - 1));
		/* what was pending is lost with the agent */
		assert_int_equal(f->s.agents[0].shared.lost, round * 2 * (places - 1));
		slot = agent_slot(f, keeper);
		assert_int_not_equal(slot, 0);
		assert_int_equal(f->s.agents[slot].generation, 5);
		assert_int_equal(f->s.agents[slot].own.lost, 0);
		slot = agent_slot(f, AGENT + 0x10000 * round + 1000);
		generation = f->s.agents[slot].generation;
		assert_int_equal(generation, 4 * (round + 1) + 1);
		assert_int_equal(f->s.agents[slot].own.datagrams, 2);
		assert_int_equal(f->s.agents[slot].own.lost, 0);
		assert_int_equal(xsf_agent_pending(&f->s.agents[slot]), 2);
		if (round) {
			assert_int_equal(agent_slot(f, AGENT + 0x10000 * (round - 1) + 1000), 0);
		}
		f->now_ns += STALE + 1;
		/* one sign of life is enough */
		send_sources(f, keeper, ++f->sequence, 3, 1);
		sent++;
	}
	/* Sources of gone agents are in use until somebody needs their place, but are of no agent. */
	look(f);
	for (uint32_t i = 1; i < f->s.nr_sources; i++) {
		const struct xsf_source *s = &f->s.sources[i];
		const struct xsf_agent *a = NULL;
		int of_agent = xsf_snapshot_source_agent(&f->s, i, &a);

		assert_int_equal(of_agent != 0,
				 s->key.agent_generation == f->s.agents[s->key.agent].generation);
	}
}

/* A source's place changes hands: traffic goes to slot 0, numbers, counters and names do not go over. */
static void test_source_reclaim(void **state)
{
	struct fed *f = *state;
	const uint32_t places = XSF_SOURCES - 1;
	uint32_t body, nr = 0;

	/* slot 1: a source with everything */
	fed_begin(f, 3);
	body = wire_flow(&f->w, 1, 7, 10, 7, 8, 0);
	wire_close(&f->w, body);
	body = wire_flow(&f->w, 9, 7, 10, 7, 8, 0);
	wire_close(&f->w, body);
	body = wire_counters(&f->w, 1, 7, 2);
	wire_if_counters(&f->w, 7, 100);
	wire_string(&f->w, 1005, "swp7", 4);
	wire_close(&f->w, body);
	fed_end(f);
	assert_ptr_equal(fed_source(f, 0, 7), &f->s.sources[1]);
	xsf_store_group(f->store, 1, 2);
	for (uint32_t sent = 1; sent < places; nr++) {
		uint32_t n = places - sent < 200 ? places - sent : 200;

		send_sources(f, AGENT + 1, nr + 1, 100 + 200 * nr, n);
		sent += n;
	}
	look(f);
	assert_int_equal(f->s.totals.sources_full, 0);
	f->now_ns += STALE + 1;
	/* The agents live on, with new numbers for all their interfaces. */
	send_sources(f, AGENT + 1, 1000, 3000000, 200);
	look(f);
	assert_int_equal(f->s.totals.sources_full, 0);
	assert_int_equal(f->s.totals.sources_reclaimed, 200);
	assert_int_equal(f->s.sources[1].generation, 9);
	assert_int_equal(f->s.sources[1].key.index, 3000000);
	assert_int_equal(f->s.sources[1].own[XSF_INGRESS].samples, 1);
	assert_int_equal(f->s.sources[1].sample_pool, 10000);
	assert_int_equal(f->s.interfaces[1].generation, 9);
	assert_int_equal(f->s.interfaces[1].has_counters, 0);
	assert_int_equal(f->s.interfaces[1].name_len, 0);
	assert_int_equal(f->s.interfaces[1].flow_lost, 0);
	assert_int_equal(f->s.interfaces[1].index, 3000000);
	assert_int_equal(f->s.sources[0].shared[XSF_INGRESS].samples, 2 + 199);
	/* Its group was another's: row 0 counts. */
	assert_int_equal(f->s.tos[0].all[0].samples, 0);
	assert_int_not_equal(f->s.groups[1].generation, f->s.sources[1].generation);
	/* The old one comes back, as a new one. */
	fed_begin(f, 1);
	body = wire_flow(&f->w, 100, 7, 10, 7, 8, 0);
	wire_close(&f->w, body);
	fed_end(f);
	assert_ptr_not_equal(fed_source(f, 0, 7), &f->s.sources[1]);
	assert_int_equal(fed_source(f, 0, 7)->own[XSF_INGRESS].samples, 1);
	assert_int_equal(f->s.interfaces[fed_source(f, 0, 7) - f->s.sources].flow_lost, 0);
}

/* The place of one agent's interface 7 is another agent's interface 7 by now: nothing is mixed up. */
static void test_same_index(void **state)
{
	struct fed *f = *state;
	uint32_t n = 1;

	send_sources(f, AGENT, 1, 7, 1);
	for (uint32_t sent = 1; sent < XSF_SOURCES - 1; n++) {
		uint32_t nr = XSF_SOURCES - 1 - sent < 200 ? XSF_SOURCES - 1 - sent : 200;

		send_sources(f, AGENT + 1, n, 200 * n, nr);
		sent += nr;
	}
	f->now_ns += STALE + 1;
	send_sources(f, AGENT + 1, n, 7, 1);
	send_sources(f, AGENT, 2, 7, 1);
	look(f);
	assert_int_equal(f->s.sources[1].key.agent, agent_slot(f, AGENT + 1));
	assert_int_equal(f->s.sources[1].key.index, 7);
	assert_int_equal(f->s.sources[1].own[XSF_INGRESS].samples, 1);
	assert_ptr_not_equal(fed_source(f, 0, 7), &f->s.sources[1]);
	assert_int_equal(fed_source(f, 0, 7)->own[XSF_INGRESS].samples, 1);
}

/* RoCE of this opcode and TOS, in and out of interface 7 and beside it, so that every count of a source in
 * every direction is above 0. */
static void rich_flow(struct fed *f, uint32_t number, uint32_t opcode, uint32_t tos)
{
	static const uint32_t ways[3][2] = { { 7, 8 }, { 8, 7 }, { 8, 9 } };
	struct wire packet = { 0 };
	uint32_t body;

	wire_roce4(&packet, opcode, tos, 16);
	for (uint32_t i = 0; i < 3; i++) {
		body = wire_flow(&f->w, number + i, 7, 10 + i, ways[i][0], ways[i][1], 1);
		wire_header(&f->w, 1, 1000, packet.p, packet.len);
		wire_close(&f->w, body);
	}
}

static void rich_datagram(struct fed *f, uint32_t agent, uint32_t number, uint32_t uptime,
			  uint32_t fault)
{
	uint32_t body;

	f->w.len = 0;
	wire_datagram(&f->w, agent, 0, number, uptime, 9 + 2 + fault);
	rich_flow(f, 10 * number, 0x81, 0);
	rich_flow(f, 10 * number + 3, 6, 3);
	rich_flow(f, 10 * number + 6, 7, 11 << 2);
	body = wire_counters(&f->w, number, 7, 2);
	wire_if_counters(&f->w, 7, 9);
	wire_string(&f->w, 2000, "leaf1", 5);
	wire_close(&f->w, body);
	body = wire_drop(&f->w, number, 0, 7, 12345, 258, 0);
	wire_close(&f->w, body);
	f->now_ns += 1000;
	xsf_store_datagram(f->store, f->w.p, f->w.len, f->now_ns);
}

/* No count is left behind when an agent's place is given away, and nothing of it is the next one's. */
static void test_rich_agent(void **state)
{
	struct fed *f = *state;
	const struct xsf_agent *a;
	struct xsf_agent_counts old;
	const uint64_t *words;

	rich_datagram(f, AGENT, 10, 1000, 0);
	rich_datagram(f, AGENT, 100, 2000, 1); /* lost */
	rich_datagram(f, AGENT, 99, 1900, 0);  /* late */
	rich_datagram(f, AGENT, 99, 1900, 0);  /* duplicate */
	rich_datagram(f, AGENT, 1, 10, 0);     /* restart */
	rich_datagram(f, AGENT, 5, 20, 0);     /* three pending */
	look(f);
	a = &f->s.agents[1];
	xsf_agent_sum(a, &old);
	words = (const uint64_t *)&old;
	for (size_t i = 0; i < sizeof(old) / 8; i++)
		assert_int_not_equal(words[i], 0);
	assert_int_equal(a->name_len, 5);
	assert_int_equal(a->drops, 12345);
	assert_int_equal(a->uptime_moves, 1);

	for (uint32_t i = 1; i < XSF_AGENTS - 1; i++)
		send_sources(f, AGENT + i, 1, 3, 0);
	f->now_ns += STALE + 1;
	f->w.len = 0;
	wire_datagram(&f->w, AGENT + 0x10000, 0, 10, 0, 0);
	fed_end(f);
	assert_int_equal(a->generation, 9);
	old.lost += 3;
	assert_memory_equal(&f->s.agents[0].shared, &old, sizeof(old));
	assert_int_equal(a->own.datagrams, 1);
	assert_int_equal(a->own.bytes, 28);
	for (size_t i = 2; i < sizeof(old) / 8; i++)
		assert_int_equal(((const uint64_t *)&a->own)[i], 0);
	assert_int_equal(a->name_len, 0);
	assert_int_equal(a->drops, 0);
	/* Its uptime never moved: so large a jump is a restart, not loss. */
	f->w.len = 0;
	wire_datagram(&f->w, AGENT + 0x10000, 0, 10 + 65537, 0, 0);
	fed_end(f);
	assert_int_equal(a->own.restarts, 1);
	assert_int_equal(a->own.lost, 0);
}

/* Likewise of a data source's place. */
static void test_rich_source(void **state)
{
	struct fed *f = *state;
	const struct xsf_source *s;
	struct xsf_traffic old[XSF_DIRECTIONS];
	const uint64_t *words = (const uint64_t *)old;
	uint32_t body;

	rich_datagram(f, AGENT, 1, 1000, 0);
	look(f);
	s = &f->s.sources[1];
	for (uint32_t d = 0; d < XSF_DIRECTIONS; d++)
		xsf_source_sum(s, (enum xsf_direction)d, &old[d]);
	for (size_t i = 0; i < sizeof(old) / 8; i++)
		assert_int_not_equal(words[i], 0);
	for (uint32_t sent = 1, n = 1; sent < XSF_SOURCES - 1; n++) {
		uint32_t nr = XSF_SOURCES - 1 - sent < 200 ? XSF_SOURCES - 1 - sent : 200;

		send_sources(f, AGENT + 1, n, 200 * n, nr);
		sent += nr;
	}
	f->now_ns += STALE + 1;
	f->w.len = 0;
	wire_datagram(&f->w, AGENT, 0, 2, 2000, 1);
	body = wire_counters(&f->w, 100, 99, 0);
	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(s->generation, 9);
	assert_int_equal(s->key.index, 99);
	assert_memory_equal(f->s.sources[0].shared, old, sizeof(old));
	memset(old, 0, sizeof(old));
	assert_memory_equal(s->own, old, sizeof(old));
	assert_memory_equal(s->shared, old, sizeof(old));
	assert_int_equal(s->sampling_rate, 0);
	assert_int_equal(s->sample_pool, 0);
	assert_int_equal(s->drops, 0);
	assert_int_equal(s->drop_sequence, 0);
	/* 100 is its first number, not 98 lost ones */
	assert_int_equal(f->s.interfaces[1].counter_lost, 0);
	assert_int_equal(xsf_seq_pending(s->counter_sequence), 0);
}

/* An invented flood cannot keep the table: once it ends, others get in. */
static void test_flood_ends(void **state)
{
	struct fed *f = *state;

	for (uint32_t i = 0; i < 3 * XSF_AGENTS; i++)
		send_sources(f, 0x20000000 + i, 1, 3, 1);
	look(f);
	assert_int_equal(f->s.totals.agents_full, 2 * XSF_AGENTS + 1);
	f->now_ns += STALE + 1;
	for (uint32_t i = 0; i < 100; i++)
		send_sources(f, AGENT + i, 1, 3, 1);
	look(f);
	assert_int_equal(f->s.totals.agents_full, 2 * XSF_AGENTS + 1);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_not_equal(agent_slot(f, AGENT + i), 0);
}

/* One RoCE sample of this source. */
static void send_roce(struct fed *f, uint32_t source, uint32_t rate)
{
	struct wire packet = { 0 };
	uint32_t body;

	wire_roce4(&packet, 6, 3, 16);
	fed_begin(f, 1);
	body = wire_flow(&f->w, f->sequence, source, rate, source, 0x3fffffff, 1);
	wire_header(&f->w, 1, 1000, packet.p, packet.len);
	wire_close(&f->w, body);
	fed_end(f);
}

/* The rows of a group, while the group is the source's and there are rows for it. */
static void test_groups(void **state)
{
	struct fed *f = *state;
	struct xsf_config config;

	for (uint32_t group = 0; group < XSF_GROUPS; group++) {
		send_roce(f, 10 + group, 1);
		xsf_store_group(f->store, group + 1, (uint8_t)group);
		send_roce(f, 10 + group, 100);
	}
	for (uint32_t group = 1; group < XSF_GROUPS; group++) {
		uint32_t row = group * XSF_DIRECTIONS + XSF_INGRESS;

		assert_int_equal(f->s.ops[row * XSF_CARRIERS].opcode[6].packets, 100);
		assert_int_equal(f->s.tos[row].all[3].packets, 100);
		assert_int_equal(f->s.tos[row].roce[3].packets, 100);
		assert_int_equal(f->s.rdma[row].length[0].packets, 100);
	}
	assert_int_equal(f->s.ops[0].opcode[6].packets, 100 + XSF_GROUPS);
	assert_int_equal(f->s.totals.groups_full, 0);

	/* fewer rows: what has none counts in row 0 */
	xsf_config_defaults(&config);
	config.groups = 3;
	fed_again(f, &config);
	for (uint32_t group = 1; group < 6; group++) {
		send_roce(f, group, 1);
		xsf_store_group(f->store, group, (uint8_t)(group < 5 ? group : 255));
		send_roce(f, group, 100);
	}
	assert_int_equal(f->s.totals.groups_full, 3);
	assert_int_equal(f->s.ops[0].opcode[6].packets, 5 + 300);
	for (uint32_t group = 1; group < 3; group++)
		assert_int_equal(f->s.ops[group * XSF_DIRECTIONS * XSF_CARRIERS].opcode[6].packets,
				 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FED(test_agents_full), FED(test_sources_full),	 FED(test_stale_after),
		FED(test_reclaim),     FED(test_source_reclaim), FED(test_flood_ends),
		FED(test_groups),      FED(test_same_index),	 FED(test_rich_agent),
		FED(test_rich_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
