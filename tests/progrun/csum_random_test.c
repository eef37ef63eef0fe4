// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* 100,000 random packets through the kernel's program, the native build and the reference: the same outcome,
 * the same bytes, and every total adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "csum_trio.h"

#include <stdio.h>
#include <unistd.h>

#define SEED 20261130
#define PACKETS 100000
#define SOURCES 64 /* more than csum_packets.c makes, less those of flipped bits */
#define NAME(name, help) #name,

static const char *const names[] = { XSF_CSUM_PACKET_OUTCOMES(NAME) XSF_CSUM_OUTCOMES(NAME) };
#define NR_NAMES (sizeof(names) / sizeof(names[0]))
/* The generator cannot make these: the kernel decides, or payloads of one page are too short for them. */
static const char *const never[] = { "left_partial", "left_too_long", "left_unreadable",
				     "left_unwritable" };

/* What the reference counted. */
struct tally {
	uint64_t outcome[NR_NAMES];
	uint64_t datagrams;
	struct {
		uint8_t addr[16];
		uint64_t outcome[NR_NAMES];
	} source[SOURCES];
	uint32_t nr_sources;
};

static size_t index_of(const char *outcome)
{
	size_t i = 0;

	while (strcmp(names[i], outcome))
		i++;
	return i;
}

static void count(struct tally *t, const struct csum_result *r)
{
	size_t at = index_of(r->outcome);
	uint32_t i;

	t->outcome[at]++;
	if (!r->port)
		return;
	t->datagrams++;
	for (i = 0; i < t->nr_sources && memcmp(t->source[i].addr, r->source, 16); i++)
		;
	if (i == SOURCES)
		return;
	if (i == t->nr_sources)
		memcpy(t->source[t->nr_sources++].addr, r->source, 16);
	t->source[i].outcome[at]++;
}

static void check_sources(struct csum_kernel *k, const struct tally *t)
{
	for (uint32_t i = 0; i < t->nr_sources; i++) {
		const struct xsf_csum_source *s = csum_kernel_source(k, t->source[i].addr);

		assert_non_null(s);
		for (size_t n = index_of("good"); n < NR_NAMES; n++)
			assert_int_equal(csum_count(&s->counts, names[n]), t->source[i].outcome[n]);
		assert_true(s->counts.first_seen_ns &&
			    s->counts.first_seen_ns <= s->counts.last_seen_ns);
	}
}

static void run(const struct csum_rules *rules, uint32_t nr, const char *const *expected,
		size_t nr_expected)
{
	struct csum_kernel *k = csum_kernel_new(rules);
	int complete = csum_kernel_complete();
	const struct xsf_csum_totals *totals;
	static struct tally t;
	static struct wire w;
	uint64_t sum = 0;

	memset(&t, 0, sizeof(t));
	for (uint32_t n = 0, taken = 0; taken < nr; n++) {
		const struct csum_result *r;
		struct csum_how how;
		char what[32];

		snprintf(what, sizeof(what), "packet %u", n);
		csum_packet(SEED, n, &w, &how);
		how.complete &= complete;
		r = csum_all(k, rules, what, w.p, w.len, &how);
		if (!csum_kernel_takes(w.p, w.len))
			continue;
		count(&t, r);
		taken++;
	}
	totals = csum_kernel_totals(k);
	assert_int_equal(totals->packets, nr);
	assert_int_equal(totals->datagrams, t.datagrams);
	assert_int_equal(totals->sources_full, 0);
	for (size_t i = 0; i < NR_NAMES; i++) {
		printf("# %8lu %s\n", (unsigned long)t.outcome[i], names[i]);
		sum += t.outcome[i];
	}
	assert_int_equal(sum, nr);
	check_sources(k, &t);
	for (size_t i = 0; i < nr_expected; i++)
		assert_true(t.outcome[index_of(expected[i])] > 20);
	csum_kernel_free(k);
	if (!complete)
		printf("# this kernel makes no CHECKSUM_COMPLETE packets in a test run\n");
}

/* Attached by hand: everything to the default ports is repaired. Every outcome comes up. */
static void defaults(void **state)
{
	struct csum_rules rules = { 0 };
	const char *expected[NR_NAMES];
	size_t nr = 0;

	(void)state;
	for (size_t i = 0; i < NR_NAMES; i++) {
		int can = strncmp(names[i], "observed_", 9) != 0;

		for (size_t n = 0; n < sizeof(never) / sizeof(never[0]); n++)
			can &= strcmp(names[i], never[n]) != 0;
		if (can)
			expected[nr++] = names[i];
	}
	run(&rules, PACKETS, expected, nr);
}

/* Two ports repaired from two networks, one observed; another one watched besides. */
static void policy(void **state)
{
	struct csum_rules rules = {
		.watch = { { 4739, 0, 1 }, { 6344, 7, 1 }, { 2055, 2, 0 } },
		.nr_watch = 3,
		.from = { { { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 1 }, 64 },
			  { { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 2, [15] = 5 }, 128 } },
		.nr_from = 2,
	};
	static const char *const expected[] = { "good",		  "repaired_wrong", "repaired_zero",
						"observed_wrong", "observed_zero",  "other_port" };

	(void)state;
	run(&rules, 30000, expected, sizeof(expected) / sizeof(expected[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(defaults), cmocka_unit_test(policy) };

	if (geteuid()) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
