// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where there is no period any more, and where there never was one but the agents' timers'; fixed seeds. */
/* Times that advance by what was drawn. */
/* NOLINTBEGIN(cert-flp30-c,clang-analyzer-security.FloatLoopCounter) */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "draw.h"
#include "fixture.h"
#include "model/batching.h"
#include "model/period.h"

#define WEIGHT 4096
#define JOB 8000 /* bins of it */
#define AFTER 9000

static struct xsf_period_work *work;
static float bins[JOB + AFTER];

/* ---- a job ends */

enum after { STEADY, CONSTANT, SILENCE, AFTERS };

static const char *const after_names[AFTERS] = { "a steady load", "a constant load", "silence" };

struct ending {
	double period, duty, phase; /* s, share, s */
	double rate;		    /* samples a second */
	enum after after;
	double load; /* afterwards, of that rate */
};

static void make_ending(const struct ending *e, struct xsf_random *r)
{
	for (uint32_t i = 0; i < JOB + AFTER; i++) {
		double mean = e->rate / 100;

		if (i < JOB)
			mean *= fmod(i * 0.01 + e->phase, e->period) < e->duty * e->period ?
					1 / e->duty :
					0;
		else if (e->after == SILENCE)
			mean = 0;
		else
			mean *= e->load;
		bins[i] = (float)(WEIGHT *
				  (i >= JOB && e->after == CONSTANT ? mean : poisson(r, mean)));
	}
}

/* Searches each second, as the exporter does; seconds after the job's end until there is none for good. */
static uint32_t until_none(void)
{
	struct xsf_period_found found = { 0 };
	uint32_t from = 0, last = 0;

	for (uint32_t end = JOB - 1500; end <= JOB + AFTER; end += 100) {
		uint32_t nr = XSF_MIN(end - from, XSF_PERIOD_BINS);

		found = xsf_period_find(work, bins + end - nr, nr, 0, &found);
		if (found.past.keep < nr)
			from = end - found.past.keep;
		if (end > JOB && found.seconds > 0)
			last = (end - JOB) / 100;
	}
	return last;
}

/* None is shown later than max(10 s, three periods) after a job has ended; of 80 endings each, one may have
 * a false one later, as any 90 s of a load may. */
static void test_ended(void **state)
{
	static const double rates[] = { 10000, 1000, 200 };

	(void)state;
	for (uint32_t after = 0; after < AFTERS; after++) {
		uint32_t late = 0, worst = 0;

		for (uint32_t seed = 0; seed < 80; seed++) {
			struct xsf_random r = { seed * 31ull + after };
			struct ending e = { .after = (enum after)after, .rate = rates[seed % 3] };
			uint32_t seconds;

			e.period = 0.1 * pow(250, uniform(&r));
			e.duty = 0.1 + 0.8 * uniform(&r);
			e.phase = uniform(&r) * e.period;
			e.load = 0.3 + 2 * uniform(&r);
			make_ending(&e, &r);
			seconds = until_none();
			if (seconds > fmax(10, 3 * e.period)) {
				late++;
				worst = seconds > worst ? seconds : worst;
			}
		}
		printf("# then %s: %u of 80 shown longer than max(10 s, 3 periods), at most %u "
		       "s\n",
		       after_names[after], late, worst);
		assert_in_range(late, 0, 1);
	}
}

/* ---- agents with timers */

#define AGENTS 100
#define FULL 7
#define WINDOW 7500

/* Agents that empty their datagrams each second, each in its own phase, or when they are full. constant:
 * samples are about as far apart from each other; else by chance. */
static void make_timers(struct xsf_random *r, uint32_t nr, double rate, int constant)
{
	memset(bins, 0, nr * sizeof(*bins));
	for (uint32_t agent = 0; agent < AGENTS; agent++) {
		/* Clocks are not all alike, nor on time. */
		double timer = 1 + 0.002 * (uniform(r) - 0.5), next = uniform(r),
		       at = -uniform(r) / rate;
		uint32_t held = 0;

		while (at < nr / 100.0) {
			uint32_t bin;

			at += (constant ? 0.5 + uniform(r) : exponential(r)) / rate;
			for (; next <= at; next += timer) {
				bin = (uint32_t)((next + 0.005 * uniform(r)) * 100);
				if (bin < nr)
					bins[bin] += (float)(WEIGHT * held);
				held = 0;
			}
			bin = at > 0 ? (uint32_t)(at * 100) : 0;
			if (++held < FULL || bin >= nr)
				continue;
			bins[bin] += WEIGHT * FULL;
			held = 0;
		}
	}
}

/* At most one of 1,000 windows, of random and of constant loads. */
static void test_timers(void **state)
{
	(void)state;
	for (int constant = 0; constant < 2; constant++) {
		uint32_t false_ones = 0, plain = 0;

		for (uint32_t seed = 0; seed < 1000; seed++) {
			struct xsf_random r = { seed * 2 + (uint64_t)constant };
			/* 0.3 to 20 samples a second of each agent */
			double rate = 0.3 * pow(66, uniform(&r));
			uint32_t nr = 900 + xsf_random_below(&r, WINDOW - 899);

			make_timers(&r, nr, rate, constant);
			false_ones += xsf_period_find(work, bins, nr, 1, NULL).seconds > 0;
			if (seed < 50)
				plain += xsf_period_find(work, bins, nr, 0, NULL).seconds > 0;
		}
		printf("# 100 agents with timers, %s: %u of 1000 windows with a false period (of "
		       "50 %u "
		       "when the timers are not known of)\n",
		       constant ? "constant load" : "random load", false_ones, plain);
		assert_in_range(false_ones, 0, 1);
		assert_true(plain > 10); /* else this would show nothing */
	}
}

/* ---- who has a timer */

/* A second passes; agent `slot` sent so many datagrams with so many samples of its one interface. */
static void sends(struct fixture *f, uint32_t slot, uint32_t datagrams, uint32_t samples)
{
	f->agents[slot].own.datagrams += datagrams;
	f->agents[slot].shared.flow_samples += samples;
	f->sources[slot].own[XSF_INGRESS].samples += samples;
}

static struct fixture *three_agents(void)
{
	struct fixture *f = fixture_new(4, 4);

	for (uint32_t slot = 1; slot < 4; slot++) {
		fixture_agent(f, slot, 0);
		fixture_source(f, slot, slot, 0, 3);
		f->groups[slot].generation = f->sources[slot].generation;
	}
	return f;
}

static void test_who(void **state)
{
	static const struct {
		uint32_t datagrams, samples, held;
	} kinds[] = {
		{ 1, 5, 1 },			 /* by its timer */
		{ 3, 150, 1 },			 /* so are its long datagrams */
		{ 6, 18, 1 },			 /* its counters fill some */
		{ 15, 100, 0 },	  { 10, 10, 0 }, /* one by one */
		{ 300, 2000, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct xsf_batching *b = xsf_batching_new();
		struct fixture *f = three_agents();

		f->groups[1].group = 1; /* edge of the first fabric */
		f->groups[2].group = 2; /* core: of no interest */
		f->groups[3].group = 3;
		for (int second = 0; second < 20; second++) {
			sends(f, 1, kinds[i].datagrams, kinds[i].samples);
			sends(f, 2, 300, 2000);
			sends(f, 3, 500, 3500);
			f->s.now_ns += SECOND;
			xsf_batching_update(b, &f->s);
			if (second < 1)
				assert_false(xsf_batching_held(b, 1));
		}
		assert_int_equal(xsf_batching_held(b, 1), kinds[i].held);
		assert_false(xsf_batching_held(b, 2));
		assert_false(xsf_batching_held(b, 0));
		/* The slot is another agent's. */
		f->agents[1].generation += 2;
		f->agents[1].own.datagrams = f->agents[1].shared.flow_samples = 0;
		f->s.now_ns += SECOND;
		xsf_batching_update(b, &f->s);
		assert_false(xsf_batching_held(b, 1));
		fixture_free(f);
		xsf_batching_free(b);
	}
	assert_false(xsf_batching_held(NULL, 1));
}

/* The most samples decide, not the most agents; and not at each turn anew. */
static void test_most(void **state)
{
	struct xsf_batching *b = xsf_batching_new();
	struct fixture *f = three_agents();

	(void)state;
	for (int second = 0; second < 200; second++) {
		int few = second < 50, between = second >= 100 && second < 150;

		sends(f, 1, 1, 6);
		sends(f, 2, 1, 6);
		sends(f, 3, 8, few ? 40 : between ? 15 : 0);
		f->s.now_ns += SECOND;
		xsf_batching_update(b, &f->s);
		if (second == 45)
			assert_false(xsf_batching_held(b, 0));
		if (second == 95 || second == 195)
			assert_true(xsf_batching_held(b, 0));
	}
	fixture_free(f);
	xsf_batching_free(b);
}

static int setup(void **state)
{
	(void)state;
	work = xsf_period_work_new();
	return work ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	xsf_period_work_free(work);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_timers),
		cmocka_unit_test(test_who),
		cmocka_unit_test(test_most),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
/* NOLINTEND(cert-flp30-c,clang-analyzer-security.FloatLoopCounter) */
