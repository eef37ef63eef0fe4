// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The search for a period, on series with a known truth (fixed seeds), and how the timeline becomes such a
 * series. */
/* Times that advance by what was drawn. */
/* NOLINTBEGIN(cert-flp30-c,clang-analyzer-security.FloatLoopCounter) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "model/period.h"
#include "draw.h"

#define WHOLE XSF_PERIOD_BINS
#define BEFORE 2000
#define WEIGHT 4096 /* sampling_rate: what a sample counts for */

static struct xsf_period_work *work;
static float bins[BEFORE + WHOLE];

static struct xsf_period_found find(uint32_t nr)
{
	return xsf_period_find(work, bins, nr, 0, NULL);
}

/* Within 2 %. */
static int right(struct xsf_period_found found, double period)
{
	return fabs(found.seconds / period - 1) < 0.02 && found.confidence >= 0.3 &&
	       found.confidence <= 1;
}

/* ---- where there is none */

enum noise {
	WHITE,
	POISSON,
	CONSTANT,
	COARSE_CLOCK,
	TELEGRAPH,
	BURSTS,
	WALK,
	DRIFT,
	STEP,
	HEAVY_TAIL,
	NOISES
};

static const char *const noise_names[NOISES] = {
	"white noise",	 "Poisson",
	"constant load", "constant load by a clock of 4 ms",
	"telegraph",	 "random bursts",
	"random walk",	 "drift",
	"one step",	 "heavy-tailed flows",
};

/* A load that is on and off for random times; on for `on` bins exactly when it is above 0. */
static void on_off(struct xsf_random *r, uint32_t nr, double on, double mean_on, double mean_off,
		   double rate)
{
	double left = 0;
	int is_on = 0;

	for (uint32_t i = 0; i < nr; i++, left--) {
		while (left <= 0) {
			is_on = !is_on;
			left += !is_on ? exponential(r) * mean_off :
				on > 0 ? on :
					 exponential(r) * mean_on;
		}
		bins[i] = (float)(WEIGHT * poisson(r, is_on ? 4 * rate : 0));
	}
}

static void heavy_tail(struct xsf_random *r, uint32_t nr, double rate)
{
	memset(bins, 0, nr * sizeof(*bins));
	for (double at = 0; at < nr; at += 20 * exponential(r)) {
		double len = fmin(3000, 2 / pow(uniform(r) + 1e-9, 0.8)), height = 0.2 + uniform(r);

		for (double i = at; i < at + len && i < nr; i++)
			bins[(uint32_t)i] += (float)height;
	}
	for (uint32_t i = 0; i < nr; i++)
		bins[i] = (float)(WEIGHT * poisson(r, rate * (double)bins[i]));
}

/* A mean of 3 to 10,000 samples a second, and times from 0.1 to 25 s where the kind has one. */
static void make_noise(enum noise kind, struct xsf_random *r, uint32_t nr)
{
	double rate = pow(10, -1.5 + 3.5 * uniform(r)), level = 1, at = nr * uniform(r);
	double time = 10 * pow(250, uniform(r)), slope = 2 * uniform(r) - 1, up = 5 * uniform(r);

	if (kind == TELEGRAPH || kind == BURSTS) {
		on_off(r, nr, kind == BURSTS ? time * (0.05 + 0.4 * uniform(r)) : 0, time,
		       time * (0.3 + 3 * uniform(r)), rate);
		return;
	}
	if (kind == HEAVY_TAIL) {
		heavy_tail(r, nr, rate);
		return;
	}
	for (uint32_t i = 0; i < nr; i++) {
		double t = (double)i / nr, mean = rate;

		if (kind == COARSE_CLOCK) {
			mean = rate * (i % 2 ? 0.8 : 1.2);
		} else if (kind == WALK) {
			level = fabs(level + 0.01 * normal(r));
			level = level > 3 ? 6 - level : level;
			mean = rate * level;
		} else if (kind == DRIFT) {
			mean = rate * (1 + slope * t + 0.3 * sin(2.2 * t));
		} else if (kind == STEP) {
			mean = rate * (i > at ? up : 1);
		}
		bins[i] = (float)(kind == CONSTANT ? 5000 :
				  kind == WHITE	   ? 1000 + 100 * normal(r) :
						     WEIGHT * poisson(r, mean));
	}
}

/* Of 1,000 windows each at most one; of bursts at random times, all alike, up to 5: three of them may lie
 * as those of a job do, and a job is to be believed after three periods. */
static void test_none(void **state)
{
	(void)state;
	for (uint32_t kind = 0; kind < NOISES; kind++) {
		uint32_t false_ones = 0;

		for (uint32_t seed = 0; seed < 1000; seed++) {
			struct xsf_random r = { seed * NOISES + kind };
			uint32_t nr = 900 + xsf_random_below(&r, WHOLE - 899);

			make_noise((enum noise)kind, &r, nr);
			false_ones += find(nr).seconds > 0;
		}
		printf("# %s: %u of 1000 windows with a false period\n", noise_names[kind],
		       false_ones);
		assert_in_range(false_ones, 0, kind == BURSTS ? 5 : 1);
	}
}

static void test_nothing(void **state)
{
	(void)state;
	memset(bins, 0, sizeof(bins));
	for (uint32_t nr = 0; nr <= WHOLE; nr += 100)
		assert_true(find(nr).seconds == 0 && find(nr).confidence == 0);
	/* Regular, but hardly a change. */
	for (uint32_t i = 0; i < WHOLE; i++)
		bins[i] = i % 50 < 25 ? 1000 : 1040;
	assert_true(find(WHOLE).seconds == 0);
	for (uint32_t i = 0; i < WHOLE; i++)
		bins[i] = i % 50 < 25 ? 1000 : 1200;
	assert_true(right(find(WHOLE), 0.5));
	memset(bins, 0, sizeof(bins));
	bins[WHOLE - 1] = 1e9f;
	assert_true(find(WHOLE).seconds == 0);
	for (uint32_t i = 0; i < WHOLE; i++)
		bins[i] = 4e9f;
	assert_true(find(WHOLE).seconds == 0);
}

/* ---- where there is one */

enum shape { ON_OFF, ON_LOW, TWO_BURSTS, COMB, SINE, RAMP, SHAPES };

static const char *const shape_names[SHAPES] = {
	"on and off", "more and less", "two unequal bursts", "seven bursts and a pause",
	"sine",	      "ramp",
};

static double shape_at(enum shape shape, double phase, double duty)
{
	switch (shape) {
	case ON_OFF:
		return phase < duty;
	case ON_LOW:
		return phase < duty ? 1 : 0.3;
	case TWO_BURSTS:
		return phase < 0.2 ? 1 : phase > 0.4 && phase < 0.55 ? 0.5 : 0;
	case COMB:
		return phase >= 0.7 ? 0 : fmod(phase * 10, 1) < 0.5 ? 1 : 0.2;
	case SINE:
		return 0.5 + 0.5 * sin(2 * M_PI * phase);
	case RAMP:
		return phase < 0.5 ? 2 * phase : 0;
	default:
		return 0;
	}
}

/* What was before the job. */
enum past { SILENCE, LOAD, OTHER_JOB, MORE_LOAD, PASTS };

struct job {
	enum shape shape;
	enum past past;
	double rate;   /* samples a second */
	double period; /* s */
	double duty;
	double jitter; /* of each cycle's length, standard deviation */
	double other;  /* period of the other job */
};

/* Bins with BEFORE of the past and nr of the job. */
static void make_job(const struct job *j, struct xsf_random *r, uint32_t nr)
{
	double mean = 0, len, start = BEFORE - uniform(r) * j->period * 100;

	for (uint32_t i = 0; i < 1000; i++)
		mean += shape_at(j->shape, i / 1000.0, j->duty) / 1000;
	len = j->period * 100 * (1 + j->jitter * normal(r));
	for (uint32_t i = 0; i < BEFORE + nr; i++) {
		double now = 0;

		if (i < BEFORE) {
			now = j->past == SILENCE		  ? 0 :
			      j->past == LOAD			  ? 0.01 :
			      j->past == MORE_LOAD		  ? 0.03 :
			      fmod(i / (j->other * 100), 1) < 0.4 ? 0.025 :
								    0;
		} else {
			for (uint32_t part = 0; part < 4; part++) {
				double t = i + part / 4.0;

				while (t - start >= len) {
					start += len;
					len = j->period * 100 * (1 + j->jitter * normal(r));
				}
				now += shape_at(j->shape, (t - start) / len, j->duty) / mean / 400;
			}
		}
		bins[i] = (float)(WEIGHT * poisson(r, j->rate * now));
	}
}

#define JOBS 120

/* Right of JOBS after max(10 s, three periods), and after 75 s. */
static void jobs(enum shape shape, double rate, double jitter, uint32_t right_of[2])
{
	right_of[0] = right_of[1] = 0;
	for (uint32_t seed = 0; seed < JOBS; seed++) {
		struct xsf_random r = { seed * 7919ull + (uint64_t)shape * 131 + (uint64_t)rate };
		struct job j = { .shape = shape, .rate = rate, .jitter = jitter };

		j.past = (enum past)(seed % PASTS);
		/* Bursts shorter than two bins cannot be told: those of the comb are 1 / 20. */
		j.period = 25 * pow(shape == COMB ? 62.5 : 250, -uniform(&r));
		j.duty = 0.1 + 0.8 * uniform(&r);
		j.other = 0.1 * pow(250, uniform(&r));
		make_job(&j, &r, WHOLE);
		right_of[0] +=
			right(find(BEFORE + (uint32_t)(100 * fmax(10, 3 * j.period))), j.period);
		right_of[1] += right(find(BEFORE + WHOLE), j.period);
	}
}

/* Periods from 0.1 to 25 s, right within 2 %: after three of them or 10 s, whatever was before,
 * where samples tell the shape (10,000 a second); later with fewer. */
static void test_jobs(void **state)
{
	static const struct {
		double rate;
		uint32_t soon, later; /* at least, of 100 */
	} at[] = { { 10000, 95, 97 }, { 1000, 70, 90 }, { 300, 45, 80 } };

	(void)state;
	for (uint32_t shape = 0; shape < SHAPES; shape++) {
		for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
			uint32_t right_of[2];

			jobs((enum shape)shape, at[i].rate, 0, right_of);
			printf("# %s, %.0f samples a second: %u of %u within max(10 s, 3 periods), "
			       "%u in 75 s\n",
			       shape_names[shape], at[i].rate, right_of[0], JOBS, right_of[1]);
			assert_true(right_of[0] * 100 >= at[i].soon * JOBS);
			assert_true(right_of[1] * 100 >= (shape == COMB ? 85 : at[i].later) * JOBS);
		}
	}
}

/* Cycles that are not all of one length. */
static void test_jitter(void **state)
{
	uint32_t right_of[2];

	(void)state;
	jobs(ON_OFF, 10000, 0.02, right_of);
	printf("# cycles of +-2 %%: %u of %u, %u in 75 s\n", right_of[0], JOBS, right_of[1]);
	assert_true(right_of[0] * 100 >= 60 * JOBS);
	assert_true(right_of[1] * 100 >= 85 * JOBS);
}

/* Every period from 0.1 to 25 s on its own, on and off, seen at once and well. */
static void test_range(void **state)
{
	(void)state;
	for (double period = 0.1; period <= 25; period *= 1.01) {
		struct job j = { ON_OFF, SILENCE, 20000, period, 0.4, 0, 0 };
		struct xsf_random r = { (uint64_t)(period * 1e6) };
		uint32_t nr = BEFORE + (uint32_t)(100 * fmax(10, 3 * period));
		struct xsf_period_found found;

		make_job(&j, &r, WHOLE);
		found = find(nr);
		if (!right(found, period))
			fail_msg("%.3f s: found %.3f s, confidence %.2f", period, found.seconds,
				 found.confidence);
	}
}

/* Agents that hold samples back until seven fill a datagram, or for a second by a timer, each in its
 * phase. */
static void batch(struct xsf_random *r, uint32_t nr)
{
	static float sent[BEFORE + WHOLE];
	uint32_t held[64] = { 0 };

	memset(sent, 0, sizeof(sent));
	for (uint32_t i = 0; i < nr; i++) {
		for (double left = bins[i]; left > 0; left -= WEIGHT) {
			uint32_t agent = xsf_random_below(r, 64);

			if (++held[agent] == 7) {
				sent[i] += 7 * WEIGHT;
				held[agent] = 0;
			}
		}
		for (uint32_t agent = 0; agent < 64; agent++) {
			if ((i + agent * 37) % 100)
				continue;
			sent[i] += (float)(WEIGHT * held[agent]);
			held[agent] = 0;
		}
	}
	memcpy(bins, sent, nr * sizeof(*bins));
}

/* What batching costs: nothing to speak of while datagrams fill before the timer; where they do not,
 * a timer that is known for one leaves the periods above 2 s. */
static void test_batching(void **state)
{
	static const double rates[] = { 10000, 200 };

	(void)state;
	for (int held = 0; held < 2; held++) {
		uint32_t found = 0, timer = 0;

		for (uint32_t seed = 0; seed < 50; seed++) {
			struct xsf_random r = { seed };
			struct job j = { ON_OFF, SILENCE, rates[held], 2.2 + 18 * uniform(&r), 0.4,
					 0,	 0 };

			make_job(&j, &r, WHOLE);
			batch(&r, BEFORE + WHOLE);
			found += right(xsf_period_find(work, bins, BEFORE + WHOLE, held, NULL),
				       j.period);
			for (uint32_t n = 0; n < WHOLE; n++)
				bins[n] = (float)(WEIGHT * poisson(&r, rates[held] / 100));
			batch(&r, WHOLE);
			timer += xsf_period_find(work, bins, WHOLE, held, NULL).seconds > 0;
		}
		printf("# 64 agents, %.0f samples a second of them all: %u of 50 periods of 2.2 to "
		       "20 s; of 50 loads without %u have one\n",
		       rates[held], found, timer);
		assert_true(found >= 48);
		assert_true(timer <= 1);
	}
}

/* A period that goes on is not lost for one bad second, and found with less than a new one needs. */
static void test_goes_on(void **state)
{
	struct xsf_period_found last = { 0 };
	uint32_t held = 0, fresh = 0;

	(void)state;
	for (uint32_t seed = 0; seed < 100; seed++) {
		struct xsf_random r = { seed };
		struct job j = { ON_LOW, LOAD, 25, 1.5, 0.5, 0, 0 };

		make_job(&j, &r, 3000);
		last.seconds = 1.5;
		held += right(xsf_period_find(work, bins, BEFORE + 3000, 0, &last), 1.5);
		fresh += right(find(BEFORE + 3000), 1.5);
	}
	printf("# weak: %u of 100 anew, %u as what was there\n", fresh, held);
	assert_true(held >= fresh + 20);
}

static void test_cost(void **state)
{
	struct timespec a, b;
	double ms = 0;

	(void)state;
	for (uint32_t seed = 0; seed < 100; seed++) {
		struct xsf_random r = { seed };
		struct job j = { ON_OFF, LOAD, 1000, 0.1 * pow(250, seed / 100.0), 0.5, 0, 0 };

		make_job(&j, &r, WHOLE);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		find(BEFORE + WHOLE);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
		ms += (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
	}
	printf("# a search takes %.2f ms\n", ms / 100);
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

/* ---- from the timeline */

static struct xsf_timeline_row row;

/* Adds to the slot of a time in ms. */
static void count(uint64_t ms, uint32_t n)
{
	row.bin[ms / 10 % XSF_TIMELINE_SLOTS].packets += n;
}

/* Reads and searches every second for `seconds`, with packets of a cycle of 1.2 s; returns the ms after. */
static uint64_t run(struct xsf_periods *p, uint32_t line, uint32_t way, uint64_t ms,
		    uint32_t seconds)
{
	for (uint64_t end = ms + 1000ull * seconds; ms < end; ms += 1000) {
		for (uint64_t t = ms; t < ms + 1000; t += 10) {
			if (t % 1200 < 500)
				count(t, 100 + (uint32_t)(t * 7919 % 13));
		}
		xsf_periods_read(p, line, way, &row, (ms + 1000) * 1000000);
		xsf_periods_find(p, NULL);
	}
	return ms;
}

static void test_timeline(void **state)
{
	struct xsf_periods *p = xsf_periods_new(5);
	const struct xsf_period_found *found;
	uint64_t ms = 1000000;

	(void)state;
	assert_non_null(p);
	assert_int_equal(xsf_periods_nr(p), 3);
	assert_int_equal(xsf_periods_row(0, XSF_INGRESS), 0);
	assert_int_equal(xsf_periods_row(1, XSF_EGRESS), 1 * XSF_DIRECTIONS + 1);
	assert_int_equal(xsf_periods_row(2, XSF_INGRESS), 3 * XSF_DIRECTIONS);
	/* What was counted before does not matter. */
	for (uint32_t i = 0; i < XSF_TIMELINE_SLOTS; i++)
		row.bin[i].packets = 4294967290u + i % 97 * 100000;
	found = xsf_periods_found(p);
	ms = run(p, 1, XSF_INGRESS, ms, 9);
	assert_true(found[1].seconds == 0);
	ms = run(p, 1, XSF_INGRESS, ms, 2);
	assert_true(right(found[1], 1.2));
	/* over several revolutions of the ring */
	ms = run(p, 1, XSF_INGRESS, ms, 300);
	assert_true(right(found[1], 1.2));
	assert_true(found[1].confidence > 0.95);
	assert_true(found[0].seconds == 0 && found[2].seconds == 0);
	/* After more than a revolution it begins anew. */
	ms += 100000;
	ms = run(p, 1, XSF_INGRESS, ms, 1);
	assert_true(found[1].seconds == 0);
	ms = run(p, 1, XSF_INGRESS, ms, 11);
	assert_true(right(found[1], 1.2));
	/* Nothing for 90 s. */
	for (uint32_t i = 0; i < 90; i++, ms += 1000) {
		xsf_periods_read(p, 1, XSF_INGRESS, &row, ms * 1000000);
		xsf_periods_find(p, NULL);
	}
	assert_true(found[1].seconds == 0 && found[1].confidence == 0);
	/* Only what goes out is sampled. */
	(void)run(p, 1, XSF_EGRESS, ms, 12);
	assert_true(right(found[1], 1.2));
	xsf_periods_free(p);
	xsf_periods_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),	 cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_jobs),	 cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_range),	 cmocka_unit_test(test_batching),
		cmocka_unit_test(test_goes_on),	 cmocka_unit_test(test_cost),
		cmocka_unit_test(test_timeline),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
/* NOLINTEND(cert-flp30-c,clang-analyzer-security.FloatLoopCounter) */
