// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The program's tables when there are more agents and sources than places, when the silent give theirs up,
 * and when user space puts sources into groups. */
#include "trio.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "../unit/sums.h"

#define XDP_PASS 2

static struct wire payload, frame;

/* One datagram with flow samples of sources first .. first + nr - 1, RoCE each. */
static void datagram(uint32_t agent, uint32_t number, uint32_t first, uint32_t nr)
{
	struct wire packet = { 0 };
	uint32_t body;

	payload.len = 0;
	wire_roce4(&packet, 6, 3, 16);
	wire_datagram(&payload, agent, 0, number, 1000 * number, nr);
	for (uint32_t i = 0; i < nr; i++) {
		body = wire_flow(&payload, number, first + i, 100, first + i, 0x3fffffff, 1);
		wire_header(&payload, 1, 1000, packet.p, packet.len);
		wire_close(&payload, body);
	}
	wire_carry4(&frame, payload.p, payload.len, 6343);
}

/* 5,000 agents: 4,095 places. */
static void make_agents(void *arg, uint32_t n, struct wire *out)
{
	(void)arg;
	datagram(0x0a000000 + n % 5000, 1 + n / 5000, 3, 2);
	memcpy(out->p, frame.p, frame.len);
	out->len = frame.len;
}

/* 80,000 sources: 65,535 places. */
static void make_sources(void *arg, uint32_t n, struct wire *out)
{
	(void)arg;
	datagram(0x0a000000 + n % 100, 1 + n / 100, 1 + 20 * (n / 100), 20);
	memcpy(out->p, frame.p, frame.len);
	out->len = frame.len;
}

/* All three count the same while the tables overflow; what has no place is in slot 0 and in the totals. */
static void test_full(void **state)
{
	(void)state;
	trio_batches(KERNEL_XDP, "agents", make_agents, NULL, 10000, 2500);
	trio_batches(KERNEL_XDP, "sources", make_sources, NULL, 6000, 1000);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static const struct xsf_snapshot *holds(struct kernel *k)
{
	const struct xsf_snapshot *s = kernel_snapshot(k);
	char text[256];
	const char *broken = sums_broken(s, text, sizeof(text));

	if (broken)
		fail_msg("%s", broken);
	return s;
}

static uint64_t agents_datagrams(const struct xsf_snapshot *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->nr_agents; i++)
		n += s->agents[i].own.datagrams + s->agents[i].shared.datagrams;
	return n;
}

static void send(struct kernel *k, uint32_t agent, uint32_t number, uint32_t nr)
{
	datagram(agent, number, 3, nr);
	assert_int_equal(kernel_run(k, KERNEL_XDP, frame.p, frame.len), XDP_PASS);
}

static uint32_t slot_of(struct kernel *k, uint32_t agent)
{
	struct xsf_agent_key key = { 0 };

	key.addr[10] = key.addr[11] = 0xff;
	wire_put32(key.addr + 12, agent);
	return kernel_find(k, XSF_TABLE_AGENTS, &key);
}

#define KEEPERS 50

/* The silent lose their places to others, once they are silent for long enough; those who are not keep
 * theirs. Sums never shrink. 0: took so long that even the keepers may have been taken for silent. */
static int reclaim(uint64_t stale_ns)
{
	const struct xsf_snapshot *s;
	struct xsf_config config;
	uint32_t slots[KEEPERS], others = 3000, old, slot;
	uint64_t sent = 0, alive;
	struct kernel *k;
	int in_time;

	xsf_config_defaults(&config);
	config.stale_ns = stale_ns;
	k = kernel_new(&config);
	alive = now_ns();
	for (uint32_t i = 0; i < XSF_AGENTS - 1; i++) {
		send(k, 0x0a000000 + i, 1, 1);
		sent++;
	}
	for (uint32_t i = 0; i < KEEPERS; i++)
		slots[i] = slot_of(k, 0x0a000000 + 80 * i);
	old = slot_of(k, 0x0a000001 + 1000);
	s = holds(k);
	assert_int_equal(s->totals.agents_full, 0);
	assert_int_equal(s->agents[old].generation, 5);
	/* nobody is silent yet */
	in_time = now_ns() - alive < stale_ns / 2;
	if (in_time) {
		send(k, 0x0b000000, 1, 1);
		sent++;
		assert_int_equal(slot_of(k, 0x0b000000), 0);
		assert_int_equal(holds(k)->totals.agents_full, 1);
	}
	while (now_ns() - alive < 2 * stale_ns || now_ns() - alive < stale_ns + 50000000)
		usleep(10000);
	alive = now_ns();
	for (uint32_t i = 0; i < KEEPERS; i++) {
		send(k, 0x0a000000 + 80 * i, 2, 1);
		sent++;
	}
	for (uint32_t i = 0; i < others; i++) {
		send(k, 0x0c000000 + i, 1, 1);
		sent++;
		if (i % 1000 == 0)
			assert_int_equal(agents_datagrams(holds(k)), sent);
	}
	in_time = in_time && now_ns() - alive < stale_ns / 2;
	s = holds(k);
	assert_int_equal(agents_datagrams(s), sent);
	assert_int_equal(s->totals.sample_flow, sent);
	if (in_time) {
		/* Of four places looked at, at most one is a keeper's: everybody finds one. */
		assert_int_equal(s->totals.agents_full, 1);
		assert_int_equal(s->totals.agents_reclaimed, others);
		assert_int_equal(s->agents[0].shared.datagrams, 1 + others);
		for (uint32_t i = 0; i < KEEPERS; i++) {
			assert_int_equal(slot_of(k, 0x0a000000 + 80 * i), slots[i]);
			assert_int_equal(s->agents[slots[i]].generation, 5);
			assert_int_equal(s->agents[slots[i]].own.datagrams, 2);
		}
		assert_int_equal(slot_of(k, 0x0a000001 + 1000), 0);
		slot = slot_of(k, 0x0c000000);
		assert_int_not_equal(slot, 0);
		assert_int_equal(s->agents[slot].generation, 9);
		assert_int_equal(s->agents[slot].own.datagrams, 1);
	}
	kernel_free(k);
	return in_time;
}

static void test_reclaim(void **state)
{
	int in_time = 0;

	(void)state;
	/* On a busy machine with more time. */
	for (uint64_t stale_ns = 1000000000; !in_time && stale_ns <= 16000000000; stale_ns *= 4)
		in_time = reclaim(stale_ns);
	assert_true(in_time);
}

/* As user space writes them: with the generation that it saw. */
static void test_groups(void **state)
{
	const struct xsf_snapshot *s;
	struct trio t;
	uint32_t number = 1;

	(void)state;
	trio_begin(&t, KERNEL_XDP, NULL);
	datagram(0x0a000001, number++, 1, 8);
	assert_int_equal(trio_frame(&t, frame.p, frame.len), XDP_PASS);
	trio_check(&t, "before", NULL, 0);
	/* sources 1-4: groups 1-4; 5: of another generation; 6: no group; 7: no such row; 8: row 255 */
	s = kernel_snapshot(t.kernel);
	for (uint32_t slot = 1; slot <= 4; slot++) {
		assert_int_equal(s->sources[slot].key.index, slot);
		kernel_group(t.kernel, slot, s->sources[slot].generation, (uint8_t)slot);
		xsf_store_group(t.native, slot, (uint8_t)slot);
	}
	kernel_group(t.kernel, 5, s->sources[5].generation + 4, 1);
	kernel_group(t.kernel, 7, s->sources[7].generation, XSF_GROUPS);
	xsf_store_group(t.native, 7, XSF_GROUPS);
	kernel_group(t.kernel, 8, s->sources[8].generation, 255);
	xsf_store_group(t.native, 8, 255);
	for (uint32_t i = 0; i < 10; i++) {
		datagram(0x0a000001, number++, 1, 8);
		assert_int_equal(trio_frame(&t, frame.p, frame.len), XDP_PASS);
	}
	trio_check(&t, "groups", NULL, 0);
	s = kernel_snapshot(t.kernel);
	for (uint32_t group = 1; group <= 4; group++) {
		uint32_t row = group * XSF_DIRECTIONS + XSF_INGRESS;

		assert_int_equal(s->ops[row * XSF_CARRIERS].opcode[6].samples, 10);
		assert_int_equal(s->tos[row].roce[3].packets, 1000);
		assert_int_equal(s->rdma[row].length[0].samples, 10);
	}
	assert_int_equal(s->ops[XSF_INGRESS * XSF_CARRIERS].opcode[6].samples, 8 + 40);
	assert_int_equal(s->totals.groups_full, 20);
	trio_end(&t);
}

/* Fewer rows than the map has. */
static void test_fewer_groups(void **state)
{
	struct xsf_config config;
	struct trio t;

	(void)state;
	xsf_config_defaults(&config);
	config.groups = 3;
	trio_begin(&t, KERNEL_FRAGS, &config);
	datagram(0x0a000001, 1, 1, 4);
	trio_frame(&t, frame.p, frame.len);
	for (uint32_t slot = 1; slot <= 4; slot++) {
		kernel_group(t.kernel, slot, 5, (uint8_t)slot);
		xsf_store_group(t.native, slot, (uint8_t)slot);
	}
	datagram(0x0a000001, 2, 1, 4);
	trio_frame(&t, frame.p, frame.len);
	trio_check(&t, "fewer groups", NULL, 0);
	assert_int_equal(kernel_snapshot(t.kernel)->totals.groups_full, 2);
	trio_end(&t);
}

/* RoCE lies in the slots of the time it came in, by the kernel's coarse clock; nowhere else. */
static void test_timeline(void **state)
{
	uint64_t first, last, in = 0, packets = 0;
	uint32_t used = 0;
	const struct xsf_snapshot *s;
	struct xsf_config config;
	struct kernel *k;

	(void)state;
	xsf_config_defaults(&config);
	k = kernel_new(&config);
	/* The clock may stand still for a jiffy of up to 10 ms. */
	first = now_ns() / XSF_TIMELINE_NS - 1;
	for (uint32_t n = 1; n <= 30; n++) {
		send(k, 0x0a000001, n, 5);
		usleep(10000);
	}
	last = now_ns() / XSF_TIMELINE_NS;
	assert_in_range(last - first, 30, XSF_TIMELINE_SLOTS - 1);
	s = holds(k);
	for (uint64_t slot = first; slot <= last; slot++) {
		const struct xsf_bin *bin =
			&s->timeline[XSF_INGRESS].bin[slot % XSF_TIMELINE_SLOTS];

		in += bin->packets;
		used += bin->packets > 0;
	}
	/* 10 ms apart and more, by a clock of 10 ms at worst */
	assert_true(used >= 15);
	for (uint32_t i = 0; i < 256; i++)
		packets += s->tos[XSF_INGRESS].roce[i].packets;
	assert_true(packets > 0);
	assert_int_equal(in, packets);
	kernel_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),	 cmocka_unit_test(test_reclaim),
		cmocka_unit_test(test_groups),	 cmocka_unit_test(test_fewer_groups),
		cmocka_unit_test(test_timeline),
	};

	if (geteuid()) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
