// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Agents by their datagrams: numbers, uptime, restarts, duplicates; and the numbers of their samples. */
#include "fed.h"

#define DAY 86400000u /* ms */

/* A datagram of AGENT and a sub-agent with one flow sample of this number. */
static void send_sample(struct fed *f, uint32_t sub_agent, uint32_t number, uint32_t uptime,
			uint32_t sample)
{
	uint32_t body;

	f->w.len = 0;
	wire_datagram(&f->w, AGENT, sub_agent, number, uptime, 1);
	body = wire_flow(&f->w, sample, 3, 10, 3, 4, 0);
	wire_close(&f->w, body);
	fed_end(f);
}

static void send(struct fed *f, uint32_t number, uint32_t uptime)
{
	send_sample(f, 0, number, uptime, f->s.totals.sample_flow + 1);
}

static struct xsf_agent_counts sum(const struct fed *f)
{
	struct xsf_agent_counts c;

	xsf_agent_sum(&f->s.agents[1], &c);
	return c;
}

static void counts(const struct fed *f, uint64_t lost, uint64_t duplicate, uint64_t reordered,
		   uint64_t restarts, uint32_t pending)
{
	struct xsf_agent_counts c = sum(f);

	assert_int_equal(c.lost, lost);
	assert_int_equal(c.duplicate, duplicate);
	assert_int_equal(c.reordered, reordered);
	assert_int_equal(c.restarts, restarts);
	assert_int_equal(xsf_agent_pending(&f->s.agents[1]), pending);
}

static void test_restarts(void **state)
{
	struct fed *f = *state;

	/* Numbers and uptime begin anew. */
	for (uint32_t n = 1; n <= 10; n++)
		send(f, n, 100000 + 1000 * n);
	send(f, 1, 500);
	counts(f, 0, 0, 0, 1, 0);
	send(f, 2, 1500);
	counts(f, 0, 0, 0, 1, 0);
	/* Uptime alone, the numbers go on. */
	send(f, 3, 200000);
	send(f, 4, 400);
	counts(f, 0, 0, 0, 2, 0);
	/* The number alone: back beyond the window. */
	for (uint32_t n = 5; n < 105; n++)
		send(f, n, 1000 * n);
	send(f, 104 - 32, 105000);
	counts(f, 0, 0, 0, 3, 0);
	assert_int_equal(sum(f).datagrams, 10 + 2 + 2 + 100 + 1);
}

/* Up for more than 25 days, then anew: uptime as a signed number would say that it went forward. */
static void test_restart_after_weeks(void **state)
{
	static const uint32_t days[] = { 1, 24, 25, 26, 30, 48, 49 };
	struct fed *f = *state;
	uint32_t number = 0;

	for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++) {
		/* the numbers go on, so that only uptime tells */
		send(f, ++number, days[i] * DAY);
		send(f, ++number, days[i] * DAY + 1000);
		send(f, ++number, 100);
		counts(f, 0, 0, 0, i + 1, 0);
	}
}

/* Uptime passes 2^32 ms after 49.7 days. */
static void test_uptime_wraps(void **state)
{
	struct fed *f = *state;

	send(f, 100, 0xffffff00);
	send(f, 101, 0x80);
	counts(f, 0, 0, 0, 0, 0);
	send(f, 102, 1000);
	/* with a late one from before the wrap */
	send(f, 104, 2000);
	send(f, 103, 0xfffffff0);
	counts(f, 0, 0, 1, 0, 0);
	send(f, 105, 3000);
	counts(f, 0, 0, 1, 0, 0);
	/* a wrap with a jump beyond the window is a restart */
	send(f, 106, 0xffffff00);
	send(f, 200, 0x80);
	counts(f, 0, 0, 1, 1, 0);
}

/* Agents whose uptime stands still. */
static void test_frozen(void **state)
{
	struct fed *f = *state;

	send(f, 10, 0);
	send(f, 11, 0);
	send(f, 11 + 65536, 0);
	counts(f, 65536 - 32, 0, 0, 0, 31);
	send(f, 11 + 65536 + 65537, 0);
	counts(f, 65536 - 32 + 31, 0, 0, 1, 0);
	/* Once uptime has moved, a jump is loss again, also when it stands for a while. */
	send(f, 200000, 5);
	counts(f, 65536 - 32 + 31 + 200000 - 131084 - 32, 0, 0, 1, 31);
	send(f, 200000 + 70000, 5);
	counts(f, 65536 - 32 + 31 + 200000 - 131084 - 32 + 31 + 70000 - 32, 0, 0, 1, 31);
}

/* An agent that says the same number and the same uptime for ever: duplicates, whose samples count. */
static void test_never_advances(void **state)
{
	struct fed *f = *state;

	for (int i = 0; i < 100; i++)
		send(f, 0, 0);
	counts(f, 0, 99, 0, 0, 0);
	assert_int_equal(sum(f).datagrams, 100);
	assert_int_equal(f->s.totals.sample_flow, 100);
	assert_int_equal(fed_source(f, 0, 3)->own[XSF_INGRESS].packets, 1000);
}

/* Late by less than a second of uptime, as a network reorders; and its uptime is not taken over. */
static void test_late(void **state)
{
	struct fed *f = *state;

	send(f, 1, 10000);
	send(f, 3, 12000);
	counts(f, 0, 0, 0, 0, 1);
	send(f, 2, 11000);
	counts(f, 0, 0, 1, 0, 0);
	assert_int_equal(f->s.agents[1].uptime_ms, 12000);
	send(f, 2, 11000);
	counts(f, 0, 1, 1, 0, 0);
	send(f, 4, 13000);
	counts(f, 0, 1, 1, 0, 0);
}

static void test_loss(void **state)
{
	struct fed *f = *state;
	uint64_t lost = 0;

	/* every third is missing */
	for (uint32_t n = 1; n <= 3000; n++) {
		if (n % 3 == 0)
			continue;
		send(f, n, 10 * n);
		assert_true(sum(f).lost >= lost);
		lost = sum(f).lost;
		assert_int_equal(lost + xsf_agent_pending(&f->s.agents[1]) + sum(f).datagrams, n);
	}
}

/* Sub-agents have numbers of their own; so have agents of one address in both families. */
static void test_sub_agents(void **state)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
	struct fed *f = *state;

	for (uint32_t n = 1; n < 50; n++) {
		send_sample(f, 0, n, 10 * n, n);
		send_sample(f, 100000, 1000 + n, 10 * n, n);
	}
	assert_int_equal(f->s.nr_agents, 3);
	assert_int_equal(f->s.agents[2].key.sub_agent, 100000);
	counts(f, 0, 0, 0, 0, 0);
	assert_int_equal(f->s.agents[2].own.datagrams, 49);
	assert_int_equal(f->s.agents[2].own.lost, 0);
	/* An IPv4 address and the same as v4-mapped IPv6 are one agent. */
	f->w.len = 0;
	wire_datagram6(&f->w, mapped, 0, 50, 500, 0);
	fed_end(f);
	assert_int_equal(f->s.nr_agents, 3);
	counts(f, 0, 0, 0, 0, 0);
}

/* Flow and counter samples of a source are numbered apart; duplicates of datagrams are not looked at. */
static void test_sample_numbers(void **state)
{
	struct fed *f = *state;
	const struct xsf_interface *i;
	uint32_t number = 0;

	static const uint32_t samples[] = { 10, 11, 13, 12, 12, 50, 1, 100, 1 };

	for (size_t n = 0; n < sizeof(samples) / sizeof(samples[0]); n++) {
		number++;
		send_sample(f, 0, number, 1000 * number, samples[n]);
		send_sample(f, 0, number, 1000 * number, samples[n]); /* the datagram again */
	}
	i = fed_interface(f, 3);
	assert_int_equal(i->flow_reordered, 1);
	assert_int_equal(i->flow_duplicate, 1);
	/* 14-49, and 2-99 but for the last 31, which the restart after 100 adds */
	assert_int_equal(i->flow_lost, 36 + 98);
	assert_int_equal(i->sample_restarts, 2);
	assert_int_equal(i->counter_lost, 0);
	assert_int_equal(sum(f).duplicate, 9);
	assert_int_equal(f->s.totals.sample_flow, 18);

	for (uint32_t n = 0; n < 4; n++) {
		static const uint32_t counters[] = { 5, 7, 6, 6 };
		uint32_t body;

		number++;
		f->w.len = 0;
		wire_datagram(&f->w, AGENT, 0, number, 1000 * number, 1);
		body = wire_counters(&f->w, counters[n], 3, 0);
		wire_close(&f->w, body);
		fed_end(f);
	}
	assert_int_equal(i->counter_reordered, 1);
	assert_int_equal(i->counter_duplicate, 1);
	assert_int_equal(i->counter_lost, 0);
	assert_int_equal(i->flow_lost, 36 + 98);
}

static void test_drop_duplicates(void **state)
{
	struct fed *f = *state;
	struct xsf_config config;

	xsf_config_defaults(&config);
	config.flags = XSF_F_DROP_DUPLICATES;
	fed_again(f, &config);
	send(f, 1, 1000);
	send(f, 1, 1000);
	send(f, 2, 2000);
	send(f, 1, 1000);
	counts(f, 0, 2, 0, 0, 0);
	assert_int_equal(f->s.totals.sample_flow, 2);
	assert_int_equal(f->s.totals.duplicate_samples, 2);
	assert_int_equal(f->s.totals.datagram_sound, 4);
	assert_int_equal(sum(f).datagrams, 4);
	assert_int_equal(sum(f).flow_samples, 2);
	/* late is not duplicate */
	send(f, 4, 4000);
	send(f, 3, 3500);
	assert_int_equal(f->s.totals.sample_flow, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FED(test_restarts),	  FED(test_restart_after_weeks),
		FED(test_uptime_wraps),	  FED(test_frozen),
		FED(test_never_advances), FED(test_late),
		FED(test_loss),		  FED(test_sub_agents),
		FED(test_sample_numbers), FED(test_drop_duplicates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
