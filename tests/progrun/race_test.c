// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two CPUs receive the first datagrams of the same new agents at the same moment: every one counts, each
 * agent and each data source has one slot, and nothing that was counted for it is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include "../unit/sums.h"
#include "inputs.h"
#include "kernel.h"
#include "model/store.h"

#define XDP_PASS 2
#define CPUS 2
#define DATAGRAMS 4 /* of each CPU and agent */
#define SOURCES 3
/* So that all agents and all sources have a place. */
#define AGENTS 4000

struct race {
	struct kernel *kernel;
	int cpu[CPUS];
	atomic_uint ready;
	atomic_uint failed;
	uint32_t nr_agents;
	uint32_t first_agent;
};

struct runner {
	struct race *race;
	uint32_t id;
	pthread_t thread;
};

/* Datagram `number` of an agent: a flow sample, a drop and a counter sample of each source; all samples of
 * a kind are numbered like their datagram. */
static void datagram(uint32_t agent, uint32_t number, struct wire *frame)
{
	struct wire w = { 0 }, packet = { 0 };
	uint32_t body;

	wire_roce4(&packet, 6, 3, 16);
	wire_datagram(&w, 0x0a000000 + agent, 0, number, 1000 + number, 3 * SOURCES);
	for (uint32_t i = 1; i <= SOURCES; i++) {
		body = wire_flow(&w, number, i, 100, i, 9, 1);
		wire_header(&w, 1, 1000, packet.p, packet.len);
		wire_close(&w, body);
		body = wire_drop(&w, number, 0, i, number, 258, 0);
		wire_close(&w, body);
		body = wire_counters(&w, number, i, 2);
		wire_if_counters(&w, i, 7);
		wire_string(&w, 1005, "swp1", 4);
		wire_close(&w, body);
	}
	wire_carry4(frame, w.p, w.len, 6343);
}

/* Both leave this together, give or take some nanoseconds. */
static void meet(struct race *r, uint32_t turn)
{
	atomic_fetch_add(&r->ready, 1);
	while (atomic_load(&r->ready) < CPUS * (turn + 1)) {
		if (atomic_load(&r->failed))
			return;
	}
}

static void *run(void *arg)
{
	struct runner *self = arg;
	struct race *r = self->race;
	static _Thread_local struct wire frame;
	uint32_t turn = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(r->cpu[self->id], &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		atomic_store(&r->failed, 1);
	for (uint32_t n = 0; n < DATAGRAMS; n++) {
		for (uint32_t agent = 0; agent < r->nr_agents; agent++) {
			datagram(r->first_agent + agent, 1 + CPUS * n + self->id, &frame);
			/* It is the first ones that race for a slot. */
			if (!n)
				meet(r, turn++);
			if (kernel_run(r->kernel, KERNEL_XDP, frame.p, frame.len) != XDP_PASS)
				atomic_store(&r->failed, 1);
		}
	}
	return NULL;
}

/* The first CPUs that the test may use; how many. */
static int usable_cpus(int cpu[CPUS])
{
	cpu_set_t set;
	int nr = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int i = 0; i < CPU_SETSIZE && nr < CPUS; i++) {
		if (CPU_ISSET(i, &set))
			cpu[nr++] = i;
	}
	return nr;
}

static void race(struct race *r)
{
	struct runner runners[CPUS];

	atomic_store(&r->ready, 0);
	for (uint32_t i = 0; i < CPUS; i++) {
		runners[i] = (struct runner){ .race = r, .id = i };
		assert_int_equal(pthread_create(&runners[i].thread, NULL, run, &runners[i]), 0);
	}
	for (uint32_t i = 0; i < CPUS; i++)
		pthread_join(runners[i].thread, NULL);
	assert_int_equal(atomic_load(&r->failed), 0);
}

static void sums_hold(const struct xsf_snapshot *s)
{
	char text[256];
	const char *broken = sums_broken(s, text, sizeof(text));

	if (!broken)
		broken = sums_timeline(s, text, sizeof(text));

	if (broken)
		fail_msg("%s", broken);
}

/* One slot of the agent in the ids map, and no other in use that has its key. */
static void check_agent(const struct xsf_snapshot *s, const struct xsf_agent *a,
			const uint32_t *slots_of)
{
	struct xsf_agent_counts sum;

	xsf_agent_sum(a, &sum);
	(void)s;
	assert_int_equal(*slots_of, 1);
	assert_int_equal(a->generation & 3, 1);
	assert_int_equal(sum.datagrams, CPUS * DATAGRAMS);
	assert_int_equal(sum.flow_samples, CPUS * DATAGRAMS * SOURCES);
	assert_int_equal(sum.counter_samples, CPUS * DATAGRAMS * SOURCES);
	assert_int_equal(sum.drop_samples, CPUS * DATAGRAMS * SOURCES);
	assert_int_equal(sum.lost, 0);
	assert_int_equal(sum.restarts, 0);
	assert_int_equal(xsf_agent_pending(a), 0);
	/* A number below the first that arrived is taken for seen. */
	assert_in_range(sum.duplicate, 0, 1);
}

static void check_source(const struct xsf_snapshot *s, uint32_t slot)
{
	const struct xsf_source *source = &s->sources[slot];
	const struct xsf_interface *i = &s->interfaces[slot];
	struct xsf_traffic sum;

	assert_int_equal(source->generation & 3, 1);
	xsf_source_sum(source, XSF_INGRESS, &sum);
	assert_int_equal(sum.samples, CPUS * DATAGRAMS);
	assert_int_equal(sum.packets, 100 * CPUS * DATAGRAMS);
	assert_int_equal(sum.ce_packets, 100 * CPUS * DATAGRAMS);
	assert_int_equal(i->generation, source->generation);
	assert_int_equal(i->index, source->key.index);
	assert_int_equal(i->drop_samples, CPUS * DATAGRAMS);
	assert_int_equal(i->has_counters, 1);
	assert_int_equal(i->in_ucast, 8);
	assert_int_equal(i->name_len, 4);
	assert_int_equal(i->flow_lost, 0);
	assert_int_equal(i->counter_lost, 0);
	assert_int_equal(i->sample_restarts, 0);
}

/* Each agent has one row for its notifications, and one for the interface and reason that all have; or two
 * CPUs met at it, and one of theirs counts in row 0. How often they meet is up to the machine (a virtual CPU
 * may stand still for long while it makes a row), but who makes a row makes it. Few keys find no room. */
static void check_places(const struct xsf_snapshot *s)
{
	static uint8_t rows_of[2][AGENTS];
	uint64_t missing = 0, all = 2ull * AGENTS * CPUS * DATAGRAMS * SOURCES, sum = 0;
	uint32_t rows = 0;

	for (uint32_t i = 1; i < s->nr_places; i++) {
		const struct xsf_drop_place *p = &s->places[i];

		if (p->state == XSF_PLACE_FREE)
			continue;
		assert_int_equal(p->state, XSF_PLACE_IN_USE);
		assert_int_equal(p->reason, 258);
		assert_int_equal(
			rows_of[p->ifindex == 7][wire_get32(p->agent.addr + 12) - 0x0a000001]++, 0);
		assert_true(p->notified <= CPUS * DATAGRAMS * SOURCES);
		missing += CPUS * DATAGRAMS * SOURCES - p->notified;
		sum += p->notified;
		rows++;
	}
	printf("# %llu notifications met at a new row, %llu found none\n",
	       (unsigned long long)missing, (unsigned long long)s->places[0].notified);
	assert_true(s->places[0].notified >= missing);
	assert_int_equal(sum + s->places[0].notified, all);
	assert_int_equal(s->totals.places_full, s->places[0].notified);
	assert_in_range(rows, 2 * AGENTS - AGENTS / 50, 2 * AGENTS);
}

static void test_new_agents(void **state)
{
	static uint32_t slots_of[AGENTS];
	struct race r = { .first_agent = 1, .nr_agents = AGENTS };
	const struct xsf_snapshot *s;
	struct xsf_config config;
	uint64_t races;
	uint32_t nr = 0;

	(void)state;
	if (usable_cpus(r.cpu) < CPUS)
		skip();
	xsf_config_defaults(&config);
	r.kernel = kernel_new(&config);
	race(&r);
	s = kernel_snapshot(r.kernel);
	sums_hold(s);
	assert_int_equal(s->totals.datagrams, CPUS * DATAGRAMS * AGENTS);
	assert_int_equal(s->totals.datagram_sound, CPUS * DATAGRAMS * AGENTS);
	assert_int_equal(s->totals.agents_full, 0);
	assert_int_equal(s->totals.sources_full, 0);
	assert_int_equal(s->totals.sequence_contended, 0);
	races = s->nr_agents - 1 - AGENTS + s->totals.agents_reclaimed;

	for (uint32_t i = 1; i < s->nr_agents; i++) {
		const struct xsf_agent *a = &s->agents[i];

		if (a->generation & 1)
			slots_of[wire_get32(a->key.addr + 12) - 0x0a000001]++;
	}
	for (uint32_t i = 1; i < s->nr_agents; i++) {
		const struct xsf_agent *a = &s->agents[i];

		if (a->generation & 1)
			check_agent(s, a, &slots_of[wire_get32(a->key.addr + 12) - 0x0a000001]);
	}
	for (uint32_t i = 1; i < s->nr_sources; i++) {
		const struct xsf_source *source = &s->sources[i];

		if (!(source->generation & 1))
			continue;
		nr++;
		assert_int_equal(source->key.agent_generation,
				 s->agents[source->key.agent].generation);
		check_source(s, i);
	}
	assert_int_equal(nr, SOURCES * AGENTS);
	check_places(s);
	printf("# %u agents, %llu lost a race for a slot\n", AGENTS, (unsigned long long)races);
	kernel_free(r.kernel);
}

#define CHURN_DATAGRAMS 40000
#define CHURN_AGENTS 6000

/* Agents in no order, more of them than places. */
static void *churn(void *arg)
{
	struct runner *self = arg;
	struct race *r = self->race;
	static _Thread_local struct wire frame;
	uint64_t seed = self->id + 1;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(r->cpu[self->id], &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		atomic_store(&r->failed, 1);
	for (uint32_t n = 0; n < CHURN_DATAGRAMS; n++) {
		datagram(1 + draw(&seed, CHURN_AGENTS), 1 + draw(&seed, 40), &frame);
		if (kernel_run(r->kernel, KERNEL_XDP, frame.p, frame.len) != XDP_PASS)
			atomic_store(&r->failed, 1);
	}
	return NULL;
}

/* Everybody is silent at once: places change hands all the time, on two CPUs. Sent = counted. */
static void test_churn(void **state)
{
	struct runner runners[CPUS];
	struct race r = { 0 };
	const struct xsf_snapshot *s;
	struct xsf_config config;

	(void)state;
	if (usable_cpus(r.cpu) < CPUS)
		skip();
	xsf_config_defaults(&config);
	config.stale_ns = 1; /* of a clock that ticks every few milliseconds */
	r.kernel = kernel_new(&config);
	for (uint32_t i = 0; i < CPUS; i++) {
		runners[i] = (struct runner){ .race = &r, .id = i };
		assert_int_equal(pthread_create(&runners[i].thread, NULL, churn, &runners[i]), 0);
	}
	for (uint32_t i = 0; i < CPUS; i++)
		pthread_join(runners[i].thread, NULL);
	assert_int_equal(atomic_load(&r.failed), 0);
	s = kernel_snapshot(r.kernel);
	assert_int_equal(s->totals.datagrams, CPUS * CHURN_DATAGRAMS);
	printf("# %llu agents and %llu sources lost their places, %llu found none\n",
	       (unsigned long long)s->totals.agents_reclaimed,
	       (unsigned long long)s->totals.sources_reclaimed,
	       (unsigned long long)s->totals.agents_full);
	sums_hold(s);
	kernel_free(r.kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_agents),
		cmocka_unit_test(test_churn),
	};

	if (geteuid()) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
