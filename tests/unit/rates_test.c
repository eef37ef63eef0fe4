// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rates against what the formulas of DESIGN 5.7 and 5.1 give by hand. */
#include "fixture.h"

#include <math.h>
#include "near.h"
#include "model/rates.h"

struct rated {
	struct fixture *f;
	struct xsf_rates *r;
	struct xsf_source *s;
	struct xsf_interface *i;
};

static int setup(void **state)
{
	struct rated *t = calloc(1, sizeof(*t));

	if (!t)
		return -1;
	t->f = fixture_new(4, 8);
	fixture_agent(t->f, 1, 0);
	t->s = fixture_source(t->f, 1, 1, 0, 7);
	t->i = fixture_interface(t->f, 1, "swp7");
	t->i->speed = 100000000000;
	t->i->in_octets = t->i->out_octets = 1000;
	t->i->in_ucast = t->i->in_errors = t->i->in_discards = 100;
	t->i->counters_uptime_ms = 5000;
	t->r = xsf_rates_new();
	*state = t;
	return t->r ? 0 : -1;
}

static int teardown(void **state)
{
	struct rated *t = *state;

	xsf_rates_free(t->r);
	fixture_free(t->f);
	free(t);
	return 0;
}

static void later(struct rated *t, double seconds)
{
	t->f->s.now_ns += (uint64_t)(seconds * 1e9);
	t->s->last_seen_ns = t->f->s.now_ns;
}

static void update(struct rated *t)
{
	xsf_rates_update(t->r, &t->f->s);
}

static double ingress(struct rated *t)
{
	return xsf_rates_source(t->r, &t->f->s, 1)->ingress;
}

/* The agent polls, `seconds` after the last time; the network delays by `late`. */
static void poll(struct rated *t, double seconds, double late)
{
	later(t, seconds);
	t->i->counters_uptime_ms += (uint32_t)(seconds * 1000);
	t->i->counters_ns = t->f->s.now_ns + (uint64_t)(late * 1e9);
}

static int rate_of(struct rated *t, enum xsf_if_counter which, double *rate)
{
	*rate = -1;
	return xsf_rates_counter(xsf_rates_source(t->r, &t->f->s, 1), &t->f->s, which, rate);
}

#define EXPECT_RATE(t, which, want) \
	do { \
		double rate_; \
		assert_true(rate_of(t, which, &rate_)); \
		expect_near(rate_, want, 1e-6 * (want) + 1e-9); \
	} while (0)
#define EXPECT_NONE(t, which) \
	do { \
		double rate_; \
		assert_false(rate_of(t, which, &rate_)); \
	} while (0)

static void smoothing(void **state)
{
	struct rated *t = *state;
	double want = 0;

	/* What was counted before we came is no rate. */
	t->s->own[XSF_INGRESS].bytes = 1000000000;
	t->s->shared[XSF_INGRESS].bytes = 5;
	update(t);
	expect_near(ingress(t), 0, 0);
	/* 1 - exp(-k / 2) of the rate after k seconds of it. */
	for (int k = 1; k <= 20; k++) {
		later(t, 1);
		t->s->own[XSF_INGRESS].bytes += 600;
		t->s->shared[XSF_INGRESS].bytes += 400;
		t->s->own[XSF_EGRESS].bytes += 777;
		update(t);
		expect_near(ingress(t), 1000 * (1 - exp(-k / 2.0)), 1e-9);
	}
	want = ingress(t);
	/* Then silence: it decays, whatever the steps. */
	later(t, 0.7);
	update(t);
	later(t, 2.3);
	update(t);
	expect_near(ingress(t), want * exp(-1.5), 1e-9);
	for (int k = 0; k < 2000; k++) {
		later(t, 1);
		update(t);
	}
	expect_near(ingress(t), 0, 0);
}

/* The unit impulse has an area of 1 (DESIGN 5.1), so averages over a long time are true. */
static void impulse(void **state)
{
	struct rated *t = *state;
	double area = 0;

	update(t);
	t->s->own[XSF_INGRESS].bytes += 5000;
	for (int k = 0; k < 400; k++) {
		double before = ingress(t);

		later(t, 0.1);
		update(t);
		/* between two updates the value stands */
		area += 0.1 * (k ? before : 0);
	}
	expect_near(area, 5000, 5000 * 0.03);
}

static void sources_come_and_go(void **state)
{
	struct rated *t = *state;

	update(t);
	t->s->own[XSF_INGRESS].bytes = 4000;
	later(t, 1);
	update(t);
	assert_true(ingress(t) > 0);
	/* Another source has the place: it began at 0. */
	t->s->generation += 4;
	t->s->own[XSF_INGRESS].bytes = 300;
	expect_near(ingress(t), 0, 0);
	later(t, 1);
	update(t);
	expect_near(ingress(t), 300 * (1 - exp(-0.5)), 1e-9);
	t->s->generation = 16;
	later(t, 1);
	update(t);
	expect_near(ingress(t), 0, 0);
	/* Other maps: where counters stand is no rate. */
	t->s->generation = 17;
	t->s->own[XSF_INGRESS].bytes = 1ull << 40;
	xsf_rates_reset(t->r);
	later(t, 1);
	update(t);
	expect_near(ingress(t), 0, 0);
}

static void counters(void **state)
{
	struct rated *t = *state;

	update(t);
	EXPECT_NONE(t, XSF_IF_in_octets);
	poll(t, 10, 0);
	t->i->in_octets += 25000;
	t->i->in_ucast += 50;
	t->i->in_errors += 0;
	update(t);
	EXPECT_RATE(t, XSF_IF_in_octets, 2500.0);
	EXPECT_RATE(t, XSF_IF_in_ucast, 5.0);
	EXPECT_RATE(t, XSF_IF_in_errors, 0.0);
	/* all ones: the agent does not know */
	EXPECT_NONE(t, XSF_IF_out_errors);
	EXPECT_NONE(t, XSF_IF_promiscuous);
	/* holds between two polls, for a minute */
	later(t, 59);
	update(t);
	EXPECT_RATE(t, XSF_IF_in_octets, 2500.0);
	later(t, 1.5);
	update(t);
	EXPECT_NONE(t, XSF_IF_in_octets);
}

static void jitter(void **state)
{
	struct rated *t = *state;

	update(t);
	poll(t, 10, 0);
	update(t);
	poll(t, 10, 0.5);
	t->i->in_octets += 10000;
	later(t, 1);
	update(t);
	/* by the agent's clock, which says 10 s */
	EXPECT_RATE(t, XSF_IF_in_octets, 1000.0);
	/* which some do not have: then by ours */
	t->i->counters_ns += 10 * SECOND;
	t->i->in_octets += 10000;
	later(t, 10);
	update(t);
	EXPECT_RATE(t, XSF_IF_in_octets, 1000.0);
}

static void wraps(void **state)
{
	struct rated *t = *state;

	t->i->in_ucast = UINT32_MAX - 10;
	t->i->in_octets = UINT32_MAX - 999;
	t->i->out_octets = 1ull << 40;
	update(t);
	poll(t, 10, 0);
	t->i->in_ucast = 39;
	t->i->in_octets = 1000;
	t->i->out_octets = (1ull << 40) - 1;
	update(t);
	EXPECT_RATE(t, XSF_IF_in_ucast, 5.0);
	/* 64 bits that are filled from 32 */
	EXPECT_RATE(t, XSF_IF_in_octets, 200.0);
	/* else a smaller number is a reset */
	EXPECT_NONE(t, XSF_IF_out_octets);
	poll(t, 10, 0);
	t->i->out_octets += 10;
	update(t);
	EXPECT_RATE(t, XSF_IF_out_octets, 1.0);
}

static void restarts(void **state)
{
	struct rated *t = *state;

	update(t);
	poll(t, 10, 0);
	update(t);
	EXPECT_RATE(t, XSF_IF_in_octets, 0.0);
	/* uptime went back */
	poll(t, 10, 0);
	t->i->counters_uptime_ms = 100;
	t->i->in_octets += 99999;
	update(t);
	EXPECT_NONE(t, XSF_IF_in_octets);
	poll(t, 10, 0);
	update(t);
	EXPECT_RATE(t, XSF_IF_in_octets, 0.0);
	/* sequence numbers began again */
	poll(t, 10, 0);
	t->i->sample_restarts++;
	update(t);
	EXPECT_NONE(t, XSF_IF_in_octets);
	poll(t, 10, 0);
	update(t);
	EXPECT_RATE(t, XSF_IF_in_octets, 0.0);
	/* a gap of more than three intervals, then the new interval is the measure */
	poll(t, 31, 0);
	update(t);
	EXPECT_NONE(t, XSF_IF_in_octets);
	poll(t, 31, 0);
	t->i->in_octets += 310;
	update(t);
	EXPECT_RATE(t, XSF_IF_in_octets, 10.0);
}

static void too_fast(void **state)
{
	struct rated *t = *state;

	t->i->speed = 672000; /* 1000 frames a second */
	update(t);
	poll(t, 10, 0);
	t->i->in_ucast += 20000;
	t->i->in_errors += 20010;
	update(t);
	EXPECT_RATE(t, XSF_IF_in_ucast, 2000.0);
	EXPECT_NONE(t, XSF_IF_in_errors);
	t->i->speed = 0;
	poll(t, 10, 0);
	t->i->in_errors += 20010;
	update(t);
	EXPECT_RATE(t, XSF_IF_in_errors, 2001.0);
	/* a counter went unknown, and came back */
	t->i->in_errors = UINT32_MAX;
	poll(t, 10, 0);
	update(t);
	EXPECT_NONE(t, XSF_IF_in_errors);
	t->i->in_errors = 5;
	poll(t, 10, 0);
	update(t);
	EXPECT_NONE(t, XSF_IF_in_errors);
	poll(t, 10, 0);
	update(t);
	EXPECT_RATE(t, XSF_IF_in_errors, 0.0);
}

#define RATED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RATED(smoothing), RATED(impulse),  RATED(sources_come_and_go),
		RATED(counters),  RATED(jitter),   RATED(wraps),
		RATED(restarts),  RATED(too_fast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
