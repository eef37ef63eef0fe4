// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the next sequence number means: each rule by itself, then all of them against a model that keeps
 * every number in a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <xsf/sequence.h>

#define MS_PER_DAY 86400000u

static struct xsf_seq_step step(xsf_seq_t *state, uint32_t number, int went_back, int frozen)
{
	struct xsf_seq_step s;

	xsf_seq_step(*state, number, went_back, frozen, &s);
	*state = s.next;
	return s;
}

/* The step does exactly this. */
#define EXPECT(s, lost_, duplicate_, reordered_, restarted_) \
	do { \
		struct xsf_seq_step s_ = (s); \
		assert_int_equal(s_.lost, lost_); \
		assert_int_equal(s_.duplicate, duplicate_); \
		assert_int_equal(s_.reordered, reordered_); \
		assert_int_equal(s_.restarted, restarted_); \
	} while (0)

static uint32_t last(xsf_seq_t state)
{
	return (uint32_t)(state >> 32);
}

static void test_first_and_next(void **state)
{
	static const uint32_t starts[] = { 0, 1, 5, 0x7fffffff, 0x80000000, 0xffffffff };

	(void)state;
	assert_int_equal(xsf_seq_pending(0), 0);
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		xsf_seq_t seq = 0;

		EXPECT(step(&seq, starts[i], 0, 0), 0, 0, 0, 0);
		assert_int_not_equal(seq, 0);
		assert_int_equal(last(seq), starts[i]);
		for (uint32_t n = 1; n < 100; n++) {
			EXPECT(step(&seq, starts[i] + n, 0, 0), 0, 0, 0, 0);
			assert_int_equal(last(seq), starts[i] + n);
			assert_int_equal(xsf_seq_pending(seq), 0);
		}
	}
}

/* A hole of every age that the window knows is filled, once. */
static void test_late(void **state)
{
	(void)state;
	for (uint32_t age = 1; age < XSF_SEQ_WINDOW; age++) {
		xsf_seq_t seq = 0;

		step(&seq, 100, 0, 0);
		for (uint32_t n = 0; n < age; n++)
			EXPECT(step(&seq, 102 + n, 0, 0), 0, 0, 0, 0);
		assert_int_equal(xsf_seq_pending(seq), 1);
		EXPECT(step(&seq, 101, 0, 0), 0, 0, 1, 0);
		assert_int_equal(last(seq), 101 + age);
		assert_int_equal(xsf_seq_pending(seq), 0);
		EXPECT(step(&seq, 101, 0, 0), 0, 1, 0, 0);
		/* filled in time: it is not lost when it leaves */
		for (uint32_t n = 0; n < 40; n++)
			EXPECT(step(&seq, 102 + age + n, 0, 0), 0, 0, 0, 0);
	}
}

/* A hole is pending as long as it could still be filled, and lost with the step that moves it out. */
static void test_hole_leaves(void **state)
{
	xsf_seq_t seq = 0;

	(void)state;
	step(&seq, 100, 0, 0);
	EXPECT(step(&seq, 102, 0, 0), 0, 0, 0, 0);
	for (uint32_t n = 103; n <= 132; n++) {
		EXPECT(step(&seq, n, 0, 0), 0, 0, 0, 0);
		assert_int_equal(xsf_seq_pending(seq), 1);
	}
	/* 101 is 31 behind 132: the last that the window holds */
	EXPECT(step(&seq, 133, 0, 0), 1, 0, 0, 0);
	assert_int_equal(xsf_seq_pending(seq), 0);
	/* and 32 behind is a restart */
	EXPECT(step(&seq, 101, 0, 0), 0, 0, 0, 1);
	assert_int_equal(last(seq), 101);
}

static void test_duplicates(void **state)
{
	xsf_seq_t seq = 0;

	(void)state;
	step(&seq, 100, 0, 0);
	EXPECT(step(&seq, 100, 0, 0), 0, 1, 0, 0);
	EXPECT(step(&seq, 100, 0, 0), 0, 1, 0, 0);
	for (uint32_t n = 101; n < 132; n++)
		step(&seq, n, 0, 0);
	for (uint32_t n = 100; n < 132; n++)
		EXPECT(step(&seq, n, 0, 0), 0, 1, 0, 0);
	assert_int_equal(last(seq), 131);
	/* Numbers before the first that came were not expected: they are not lost, and not late. */
	seq = 0;
	step(&seq, 100, 0, 0);
	for (uint32_t n = 69; n < 100; n++)
		EXPECT(step(&seq, n, 0, 0), 0, 1, 0, 0);
}

/* An agent that says the same number for ever. */
static void test_never_advances(void **state)
{
	xsf_seq_t seq = 0;

	(void)state;
	EXPECT(step(&seq, 0, 0, 1), 0, 0, 0, 0);
	for (int i = 0; i < 1000; i++)
		EXPECT(step(&seq, 0, 0, 1), 0, 1, 0, 0);
}

static void test_jumps(void **state)
{
	static const struct {
		uint32_t jump, lost, pending;
	} cases[] = {
		{ 2, 0, 1 },	      { 30, 0, 29 },
		{ 31, 0, 30 },	      { 32, 0, 31 },
		{ 33, 1, 31 },	      { 64, 32, 31 },
		{ 65536, 65504, 31 }, { 0x7fffffff, 0x7fffffff - 32, 31 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		xsf_seq_t seq = 0;

		/* across the wrap of the number too */
		for (uint32_t start = 1000; start; start = start == 1000 ? 0xfffffff0 : 0) {
			seq = 0;
			step(&seq, start, 0, 0);
			EXPECT(step(&seq, start + cases[i].jump, 0, 0), cases[i].lost, 0, 0, 0);
			assert_int_equal(xsf_seq_pending(seq), cases[i].pending);
			assert_int_equal(last(seq), start + cases[i].jump);
		}
	}
	/* 2^31 and more ahead is behind */
	for (uint32_t jump = 0x80000000; jump; jump = jump == 0x80000000 ? 0x80000001 : 0) {
		xsf_seq_t seq = 0;

		step(&seq, 1000, 0, 0);
		EXPECT(step(&seq, 1000 + jump, 0, 0), 0, 0, 0, 1);
	}
}

/* The holes of the old window and those of the jump, each counted once. */
static void test_jump_with_holes(void **state)
{
	xsf_seq_t seq = 0;

	(void)state;
	step(&seq, 100, 0, 0);
	step(&seq, 103, 0, 0); /* 101, 102 */
	step(&seq, 110, 0, 0); /* 104-109 */
	assert_int_equal(xsf_seq_pending(seq), 8);
	EXPECT(step(&seq, 110 + 32, 0, 0), 8, 0, 0, 0);
	assert_int_equal(xsf_seq_pending(seq), 31);
	EXPECT(step(&seq, 142 + 31, 0, 0), 31, 0, 0, 0); /* 111-141 */
	assert_int_equal(xsf_seq_pending(seq), 30);
}

static void test_number_wraps(void **state)
{
	xsf_seq_t seq = 0;

	(void)state;
	step(&seq, 0xfffffffe, 0, 0);
	EXPECT(step(&seq, 0xffffffff, 0, 0), 0, 0, 0, 0);
	EXPECT(step(&seq, 1, 0, 0), 0, 0, 0, 0);
	EXPECT(step(&seq, 0, 0, 0), 0, 0, 1, 0);
	EXPECT(step(&seq, 0xffffffff, 0, 0), 0, 1, 0, 0);
	EXPECT(step(&seq, 2, 0, 0), 0, 0, 0, 0);
	assert_int_equal(xsf_seq_pending(seq), 0);
}

/* A restart loses what was pending, and begins anew wherever the number stands. */
static void test_restarts(void **state)
{
	xsf_seq_t seq = 0;

	(void)state;
	step(&seq, 100, 0, 0);
	step(&seq, 104, 0, 0);
	EXPECT(step(&seq, 1, 1, 0), 3, 0, 0, 1);
	assert_int_equal(xsf_seq_pending(seq), 0);
	EXPECT(step(&seq, 2, 0, 0), 0, 0, 0, 0);
	/* uptime says so, though the number goes on, stays or jumps ahead */
	EXPECT(step(&seq, 3, 1, 0), 0, 0, 0, 1);
	EXPECT(step(&seq, 3, 1, 0), 0, 0, 0, 1);
	EXPECT(step(&seq, 300, 1, 0), 0, 0, 0, 1);
	/* the first one ever is none */
	seq = 0;
	EXPECT(step(&seq, 7, 1, 1), 0, 0, 0, 0);
}

/* Backwards: inside the window late or seen, beyond it a restart. */
static void test_backwards(void **state)
{
	(void)state;
	for (uint32_t back = 1; back <= 34; back++) {
		xsf_seq_t seq = 0;

		step(&seq, 1000, 0, 0);
		step(&seq, 1040, 0, 0); /* only 1040 is seen */
		if (back < 32)
			EXPECT(step(&seq, 1040 - back, 0, 0), 0, 0, 1, 0);
		else
			EXPECT(step(&seq, 1040 - back, 0, 0), 31, 0, 0, 1);
	}
}

/* Agents whose uptime stands still: only the size of a jump tells. */
static void test_frozen_jumps(void **state)
{
	xsf_seq_t seq;

	(void)state;
	for (int frozen = 0; frozen < 2; frozen++) {
		seq = 0;
		step(&seq, 10, 0, 1);
		EXPECT(step(&seq, 10 + 65536, 0, frozen), 65536 - 32, 0, 0, 0);
		seq = 0;
		step(&seq, 10, 0, 1);
		if (frozen)
			EXPECT(step(&seq, 10 + 65537, 0, 1), 0, 0, 0, 1);
		else
			EXPECT(step(&seq, 10 + 65537, 0, 0), 65537 - 32, 0, 0, 0);
	}
}

static void test_uptime(void **state)
{
	const uint32_t wrap = XSF_UPTIME_WRAP_MS, slack = XSF_UPTIME_SLACK_MS;

	(void)state;
	assert_int_equal(xsf_uptime_went_back(1000, 1000, 1), 0);
	assert_int_equal(xsf_uptime_went_back(1000, 1001, 1), 0);
	assert_int_equal(xsf_uptime_went_back(0, 0xffffffff, 1), 0);
	/* a little back is reordering */
	assert_int_equal(xsf_uptime_went_back(10000, 10000 - slack, 1), 0);
	assert_int_equal(xsf_uptime_went_back(10000, 10000 - slack - 1, 1), 1);
	assert_int_equal(xsf_uptime_went_back(slack, 0, 1), 0);
	assert_int_equal(xsf_uptime_went_back(slack + 1, 0, 1), 1);
	/* up for minutes, 25 days, 30 days, 49 days: a restart all the same */
	assert_int_equal(xsf_uptime_went_back(600000, 100, 1), 1);
	assert_int_equal(xsf_uptime_went_back(25 * MS_PER_DAY, 100, 1), 1);
	assert_int_equal(xsf_uptime_went_back(30 * MS_PER_DAY, 100, 1), 1);
	assert_int_equal(xsf_uptime_went_back(49 * MS_PER_DAY, 100, 1), 1);
	/* The clock's own wrap at 49.7 days; only while the numbers go on as before. */
	assert_int_equal(xsf_uptime_went_back(0xffffffff, 0, 1), 0);
	assert_int_equal(xsf_uptime_went_back(0xffffffff, 0, 0), 1);
	assert_int_equal(xsf_uptime_went_back(-wrap + 1, wrap - 1, 1), 0);
	assert_int_equal(xsf_uptime_went_back(-wrap, wrap - 1, 1), 1);
	assert_int_equal(xsf_uptime_went_back(-wrap + 1, wrap, 1), 1);
	assert_int_equal(xsf_uptime_went_back(-wrap + 1, wrap - 1, 0), 1);
}

static void test_popcount(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 32; i++) {
		assert_int_equal(xsf_popcount(1u << i), 1);
		assert_int_equal(xsf_popcount(0xffffffff >> i), 32 - i);
		assert_int_equal(xsf_popcount(~(1u << i)), 31);
	}
	assert_int_equal(xsf_popcount(0), 0);
	assert_int_equal(xsf_popcount(0xa5a5a5a5), 16);
}

/* Numbers 0 .. MODEL-1, of which `seen` came; those that left the window without are lost. */
#define MODEL 4096

struct model {
	uint8_t seen[MODEL];
	uint32_t first, last, floor; /* below floor: settled */
	uint64_t lost;
};

static void model_settle(struct model *m)
{
	while (m->floor + XSF_SEQ_WINDOW <= m->last)
		m->lost += !m->seen[m->floor++];
}

static uint32_t model_pending(const struct model *m)
{
	uint32_t pending = 0;

	for (uint32_t n = m->floor; n <= m->last; n++)
		pending += !m->seen[n];
	return pending;
}

static void model_run(uint32_t seed, uint32_t base)
{
	struct model m = { .first = 64, .last = 64, .floor = 64 };
	uint64_t lost = 0, received = 1, duplicate = 0, reordered = 0;
	xsf_seq_t seq = 0;

	srand(seed);
	m.seen[64] = 1;
	step(&seq, base + 64, 0, 0);
	while (m.last < MODEL - 100) {
		int kind = rand() % 16;
		uint32_t number;
		struct xsf_seq_step s;
		uint64_t before = lost;

		if (kind < 10)
			number = m.last + 1;
		else if (kind < 13)
			number = m.last + 1 + (uint32_t)rand() % 5;
		else if (kind < 14)
			number = m.last + 28 + (uint32_t)rand() % 10;
		else
			number = m.last - (uint32_t)rand() % 32;
		if (number < m.first)
			continue;
		s = step(&seq, base + number, 0, 0);
		lost += s.lost;
		assert_true(lost >= before);
		assert_int_equal(s.restarted, 0);
		assert_int_equal(s.duplicate, m.seen[number]);
		assert_int_equal(s.reordered, !m.seen[number] && number < m.last);
		duplicate += s.duplicate;
		reordered += s.reordered;
		received += !s.duplicate;
		m.seen[number] = 1;
		if (number > m.last)
			m.last = number;
		model_settle(&m);
		assert_int_equal(lost, m.lost);
		assert_int_equal(xsf_seq_pending(seq), model_pending(&m));
		/* every number of the span is one of the three */
		assert_int_equal(lost + xsf_seq_pending(seq) + received, m.last - m.first + 1);
	}
	assert_true(lost && duplicate && reordered);
}

static void test_model(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 200; seed++)
		model_run(seed, seed % 3 ? 0xfffff800 + seed : 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_and_next),	cmocka_unit_test(test_late),
		cmocka_unit_test(test_hole_leaves),	cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_never_advances),	cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_jump_with_holes), cmocka_unit_test(test_number_wraps),
		cmocka_unit_test(test_restarts),	cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_frozen_jumps),	cmocka_unit_test(test_uptime),
		cmocka_unit_test(test_popcount),	cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
