// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The simulated fabric, judged by a reader of its own that knows sFlow from its specification and leaf-spine
 * fabrics from fabric.h: lengths add up, numbers follow one another, packets pass the ports they must, the
 * counters say the same as the samples. */
#include "fabric_reader.h"

#include <errno.h>

static const struct xsf_fabric_config small = {
	.leaves = 4,
	.spines = 2,
	.ports = 8,
	.rate = 2000,
	.cycle_ns = SECOND,
	.polling_ns = 2 * SECOND,
	.seed = 1,
};

/* Reads everything of `seconds`; *out is the fabric at the end, to be freed. */
static struct reader *run(const struct xsf_fabric_config *c, uint64_t seconds,
			  struct xsf_fabric **out)
{
	struct reader *r = reader_new(c);
	uint8_t buf[XSF_FABRIC_DATAGRAM + 1];
	struct xsf_fabric_datagram d;

	assert_int_equal(xsf_fabric_new(c, out), 0);
	while (xsf_fabric_time(*out) < seconds * SECOND) {
		uint64_t due = xsf_fabric_time(*out);

		buf[XSF_FABRIC_DATAGRAM] = 0xa5;
		xsf_fabric_next(*out, buf, &d);
		assert_true(d.time_ns == due);
		assert_int_equal(buf[XSF_FABRIC_DATAGRAM], 0xa5);
		read_datagram(r, buf, &d);
	}
	return r;
}

static void about(uint64_t got, double want, double tolerance)
{
	if ((double)got < want * (1 - tolerance) || (double)got > want * (1 + tolerance))
		fail_msg("got %llu, want about %.0f", (unsigned long long)got, want);
}

static void sound_datagrams(void **state)
{
	struct xsf_fabric *f;
	struct reader *r = run(&small, 20, &f);

	(void)state;
	/* whole cycles: exactly the rate */
	assert_int_equal(r->datagrams, 40000);
	for (int form = 1; form <= 5; form++)
		assert_true(r->forms[form] > 100);
	about(r->flows, 6.4 * 40000, 0.05);
	/* 48 interfaces and 6 hosts: once at the start, then every 2 seconds */
	about(r->counters, 54 * 10, 0.08);
	xsf_fabric_free(f);
	reader_free(r);
}

static void truth_is_what_was_sent(void **state)
{
	struct xsf_fabric *f;
	struct reader *r = run(&small, 10, &f);
	const struct xsf_fabric_truth *t = xsf_fabric_truth(f);
	struct xsf_fabric_agent a;
	uint64_t datagrams = 0, flows = 0;

	(void)state;
	assert_int_equal(t->datagrams, r->datagrams);
	assert_int_equal(t->flow_samples, r->flows);
	assert_int_equal(t->counter_samples, r->counters);
	assert_int_equal(t->drop_samples, r->drops);
	assert_memory_equal(t->opcode, r->opcode, sizeof(r->opcode));
	assert_memory_equal(t->notified, r->reasons, sizeof(r->reasons));
	assert_int_equal(xsf_fabric_agents(f), 6);
	for (uint32_t i = 0; i < 6; i++) {
		xsf_fabric_agent(f, i, &a);
		assert_int_equal(a.datagrams, r->agents[i].sequence);
		assert_int_equal(a.drop_samples, r->agents[i].drop_sequence);
		datagrams += a.datagrams;
		flows += a.flow_samples;
		for (uint32_t p = 0; p < a.nr_interfaces; p++) {
			struct xsf_fabric_interface n;

			xsf_fabric_interface(f, i, p, &n);
			assert_int_equal(n.ifindex, XSF_FABRIC_FIRST_IFINDEX + p);
			assert_int_equal(n.ingress.samples + n.egress.samples,
					 r->agents[i].ports[p].flow_sequence);
			assert_true(n.counters.in_octets == r->agents[i].ports[p].in_octets);
		}
	}
	assert_int_equal(datagrams, r->datagrams);
	assert_int_equal(flows, r->flows);
	xsf_fabric_free(f);
	reader_free(r);
}

/* Everything that a dashboard shows is there, and more of it where it belongs. */
static void what_an_ai_fabric_does(void **state)
{
	static const uint8_t usual[] = { 0,  1,	 2,  4,	 6,  7,	 8,  10,  12,
					 13, 14, 15, 16, 17, 18, 20, 100, 129 };
	struct xsf_fabric *f;
	struct reader *r = run(&small, 20, &f);
	uint64_t compute, exchange;

	(void)state;
	for (size_t i = 0; i < sizeof(usual); i++)
		assert_true(r->opcode[usual[i]].samples > 50);
	assert_true(r->opcode[7].bytes > r->opcode[17].bytes);
	assert_true(r->tcp && r->arp && r->ip6 && r->vxlan && r->multicast);
	assert_true(r->trimmed > 50 && r->cnp > 500);
	assert_int_equal(r->ecn[1], 0);
	assert_true(r->ecn[3] * 100 > r->flows && r->ecn[3] * 5 < r->flows);
	assert_true(r->reasons[257] && r->reasons[258] && r->reasons[262]);
	assert_true(r->reasons[259] > r->drops / 4);
	/* a quarter of the mean rate for 3/5 of the cycle, 17/8 of it for the rest */
	for (int i = 0; i < 20; i++)
		about(r->by_time[i], (i < 12 ? 0.25 : 2.125) * 40000 / 20, 0.1);
	/* Three of four connections form a ring, the others go to any of the three leaves: data to the
	 * next leaf, acknowledgements away from it. */
	about(r->to_next[1], 10. / 12 * (double)(r->to_next[0] + r->to_next[1]), 0.03);
	about(r->back_to_next[0], 11. / 12 * (double)(r->back_to_next[0] + r->back_to_next[1]),
	      0.03);
	compute = r->roce_by_phase[0] * 100 / r->by_phase[0];
	exchange = r->roce_by_phase[1] * 100 / r->by_phase[1];
	assert_true(compute > 5 && compute < 35);
	assert_true(exchange > 80 && exchange < 97);
	/* What enters the core leaves it; edge in is edge out. Few samples stand for much: a tenth. */
	about(r->core_down, (double)r->core_in, 0.1);
	about(r->edge_up * 9 / 10, (double)r->core_in, 0.1);
	about(r->edge_out, (double)r->edge_up, 0.1);
	xsf_fabric_free(f);
	reader_free(r);
}

/* The truth of places is that of the reader's counts; returns the notifications. */
static uint64_t check_places(const struct xsf_fabric *f, const struct reader *r)
{
	uint64_t notified = 0, reasons[512] = { 0 }, unplaced = 0;

	for (uint32_t i = 0; i < xsf_fabric_agents(f); i++) {
		uint64_t of_agent = 0;
		struct xsf_fabric_agent a;

		xsf_fabric_agent(f, i, &a);
		for (uint32_t n = 0; n < (a.nr_interfaces + 1) * XSF_FABRIC_DROP_REASONS; n++) {
			struct xsf_fabric_place p;

			xsf_fabric_place(f, i, n, &p);
			of_agent += p.notified;
			reasons[p.reason] += p.notified;
			unplaced += p.ifindex ? 0 : p.notified;
		}
		assert_int_equal(of_agent, r->agents[i].drop_sequence);
		assert_int_equal(a.drops_suppressed, r->agents[i].drops - r->agents[i].first_drops);
		notified += of_agent;
	}
	assert_memory_equal(reasons, r->reasons, sizeof(reasons));
	assert_int_equal(unplaced, r->unplaced);
	return notified;
}

static void drops_in_bursts(void **state)
{
	struct xsf_fabric_config c = small;
	struct xsf_fabric *f;
	struct reader *r;

	(void)state;
	c.drops = 50000;
	r = run(&c, 2, &f);
	assert_int_equal(check_places(f, r), r->drops);
	about(r->drops, 100000, 0.01);
	assert_true(r->unplaced > 1000);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(r->agents[i].drops, 0);
	/* Datagrams of notifications are full of them; the others come at their rate. */
	assert_true(r->drops > 3 * (r->datagrams - 4000));
	assert_true(r->reasons[259] > r->drops / 4 && r->reasons[279] && r->reasons[269]);
	xsf_fabric_free(f);
	reader_free(r);
	c.drops = 3;
	r = run(&c, 100, &f);
	about(r->drops, 300, 0.02);
	xsf_fabric_free(f);
	reader_free(r);
}

/* Nobody notifies more than the limit, what is dropped above it is in the switch's own count. */
static void drops_above_a_limit(void **state)
{
	static const uint32_t limits[] = { 1, 7, 10, 55, 1000 };
	struct xsf_fabric_config c = small;
	struct xsf_fabric *f;
	struct reader *r;

	(void)state;
	c.drops = 20000;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		uint64_t suppressed = 0;
		uint32_t a_tenth = limits[i] / 10;

		c.drop_limit = limits[i];
		r = run(&c, 10, &f);
		check_places(f, r);
		for (uint32_t n = 0; n < 6; n++) {
			uint32_t most = a_tenth ? a_tenth * 101 : limits[i] * 11;

			assert_in_range(r->agents[n].drop_sequence, most / 2, most);
			suppressed += r->agents[n].drops;
		}
		about(r->drops + suppressed, 200000, 0.05);
		xsf_fabric_free(f);
		reader_free(r);
	}
}

static void fill(const struct xsf_fabric_config *c, uint8_t *buf, uint32_t datagrams)
{
	struct xsf_fabric_datagram d;
	struct xsf_fabric *f;

	assert_int_equal(xsf_fabric_new(c, &f), 0);
	memset(buf, 0, (size_t)datagrams * XSF_FABRIC_DATAGRAM);
	for (uint32_t i = 0; i < datagrams; i++)
		xsf_fabric_next(f, buf + (size_t)i * XSF_FABRIC_DATAGRAM, &d);
	xsf_fabric_free(f);
}

static void seeds(void **state)
{
	const uint32_t nr = 500;
	const size_t size = (size_t)nr * XSF_FABRIC_DATAGRAM;
	uint8_t *a = malloc(size), *b = malloc(size);
	struct xsf_fabric_config c = small;

	(void)state;
	c.polling_ns = 0; /* host_descr has an UUID of the seed's own: not what is asked here */
	assert_non_null(a);
	assert_non_null(b);
	fill(&c, a, nr);
	fill(&c, b, nr);
	assert_memory_equal(a, b, size);
	c.seed = 2;
	fill(&c, b, nr);
	assert_memory_not_equal(a, b, size);
	free(a);
	free(b);
}

static void shapes(void **state)
{
	static const uint16_t sizes[][3] = { { 1, 1, 1 }, { 1, 2, 8 }, { 2, 1, 1 }, { 2, 8, 16 },
					     { 8, 3, 4 }, { 3, 1, 2 }, { 1, 1, 32 } };
	struct xsf_fabric_config c = small;
	struct xsf_fabric *f;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		c.leaves = sizes[i][0];
		c.spines = sizes[i][1];
		c.ports = sizes[i][2];
		c.ipv6_agents = (int)(i & 1);
		c.seed = i;
		reader_free(run(&c, 3, &f));
		/* every interface and every agent speaks */
		for (uint32_t a = 0; a < xsf_fabric_agents(f); a++) {
			struct xsf_fabric_agent agent;
			struct xsf_fabric_interface n;

			xsf_fabric_agent(f, a, &agent);
			assert_true(agent.datagrams > 0);
			for (uint32_t p = 0; p < agent.nr_interfaces; p++) {
				xsf_fabric_interface(f, a, p, &n);
				assert_true(n.reported);
			}
		}
		xsf_fabric_free(f);
	}
}

/* Rates and cycles that are no round numbers, and the largest fabric. */
static void extremes(void **state)
{
	static const struct {
		uint32_t rate;
		uint64_t cycle;
	} times[] = { { 1, SECOND }, { 7, 333333333 },	   { 10000000, 1000 },
		      { 999, 0 },    { 3, 7919 * SECOND }, { 0, XSF_FABRIC_MAX_NS } };
	struct xsf_fabric_config c = small;
	uint8_t buf[XSF_FABRIC_DATAGRAM];
	struct xsf_fabric_datagram d;
	struct xsf_fabric *f;

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		uint64_t last = 0;

		c.rate = times[i].rate;
		c.cycle_ns = times[i].cycle;
		assert_int_equal(xsf_fabric_new(&c, &f), 0);
		for (int n = 0; n < 5000; n++) {
			assert_true(xsf_fabric_time(f) >= last);
			last = xsf_fabric_time(f);
			xsf_fabric_next(f, buf, &d);
		}
		/* as many as the rate says, when whole cycles have passed */
		if (c.rate && c.rate * (double)c.cycle_ns / 1e9 < 500)
			about(last, 5000e9 / c.rate, 0.1);
		xsf_fabric_free(f);
	}
	c = (struct xsf_fabric_config){ 1024, 120, 16, 100000, SECOND, SECOND, 1, 0, 0, 0 };
	assert_int_equal(xsf_fabric_new(&c, &f), 0);
	for (int n = 0; n < 20000; n++) {
		xsf_fabric_next(f, buf, &d);
		assert_true(d.len <= XSF_FABRIC_DATAGRAM && d.agent < 1144);
	}
	xsf_fabric_free(f);
}

static void bounds(void **state)
{
	static const struct {
		struct xsf_fabric_config c;
		int want;
	} cases[] = {
		{ { 0, 1, 1, 1, SECOND, 0, 1, 0, 0, 0 }, -EINVAL },
		{ { 1, 0, 1, 1, SECOND, 0, 1, 0, 0, 0 }, -EINVAL },
		{ { 1, 1, 0, 1, SECOND, 0, 1, 0, 0, 0 }, -EINVAL },
		{ { 1024, 1, 1, 1, SECOND, 0, 1, 0, 0, 0 }, 0 },
		{ { 1025, 1, 1, 1, SECOND, 0, 1, 0, 0, 0 }, -EINVAL },
		{ { 1, 256, 1, 1, SECOND, 0, 1, 0, 0, 0 }, 0 },
		{ { 1, 257, 1, 1, SECOND, 0, 1, 0, 0, 0 }, -EINVAL },
		{ { 1, 1, 512, 1, SECOND, 0, 1, 0, 0, 0 }, 0 },
		{ { 1, 1, 513, 1, SECOND, 0, 1, 0, 0, 0 }, -EINVAL },
		{ { 1024, 120, 16, 1, SECOND, 0, 1, 0, 0, 0 }, 0 },
		{ { 1024, 120, 17, 1, SECOND, 0, 1, 0, 0, 0 }, -EINVAL },
		{ { 1, 1, 1, 10000000, SECOND, 0, 1, 0, 0, 0 }, 0 },
		{ { 1, 1, 1, 10000001, SECOND, 0, 1, 0, 0, 0 }, -EINVAL },
		{ { .leaves = 1, .spines = 1, .ports = 1, .drops = 1000000 }, 0 },
		{ { .leaves = 1, .spines = 1, .ports = 1, .drops = 1000001 }, -EINVAL },
		{ { 1, 1, 1, 1, 999, 0, 1, 0, 0, 0 }, -EINVAL },
		{ { 1, 1, 1, 1, XSF_FABRIC_MAX_NS + 1, 0, 1, 0, 0, 0 }, -EINVAL },
		{ { 1, 1, 1, 1, 0, XSF_FABRIC_MAX_NS + 1, 1, 0, 0, 0 }, -EINVAL },
	};
	struct xsf_fabric *f;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f = NULL;
		assert_int_equal(xsf_fabric_new(&cases[i].c, &f), cases[i].want);
		xsf_fabric_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_datagrams),
		cmocka_unit_test(truth_is_what_was_sent),
		cmocka_unit_test(what_an_ai_fabric_does),
		cmocka_unit_test(drops_in_bursts),
		cmocka_unit_test(drops_above_a_limit),
		cmocka_unit_test(seeds),
		cmocka_unit_test(shapes),
		cmocka_unit_test(extremes),
		cmocka_unit_test(bounds),
	};

	return cmocka_run_group_tests_name("fabric", tests, NULL, NULL);
}
