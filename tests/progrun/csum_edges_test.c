// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What random packets do not bring up: bounds of tables and lengths, another policy on a loaded program,
 * and what only the kernel around it can do to a packet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "csum_trio.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct wire w;
static const struct csum_rules defaults;

/* Ethernet, IPv6 of source number `source`, UDP with `payload` bytes, checksum right. */
static void make(uint32_t source, uint32_t port, uint32_t payload)
{
	w.len = 0;
	wire_fill(&w, 2, 12);
	wire_16(&w, 0x86dd);
	wire_32(&w, 0x60000000);
	wire_16(&w, 8 + payload);
	wire_16(&w, 17 << 8 | 64);
	wire_32(&w, 0x20010db8);
	wire_64(&w, 0);
	wire_32(&w, source);
	wire_32(&w, 0x20010db8);
	wire_64(&w, 1);
	wire_32(&w, 1);
	wire_16(&w, 50000);
	wire_16(&w, port);
	wire_16(&w, 8 + payload);
	wire_16(&w, 0);
	for (uint32_t i = 0; i < payload; i++)
		wire_8(&w, i * 31 + (i >> 8));
	csum_fill(w.p, 14, 54, 8 + payload);
}

static const char *outcome(struct csum_kernel *k, const struct csum_rules *rules)
{
	struct csum_how how = { .linear = w.len };

	return csum_all(k, rules, "edge", w.p, w.len, &how)->outcome;
}

static void lengths(void **state)
{
	struct csum_how how = { 0 };
	struct csum_result r;

	(void)state;
	for (uint32_t payload = 8998; payload <= 9002; payload++) {
		make(1, 6343, payload);
		assert_string_equal(outcome(NULL, &defaults),
				    payload > 9000 ? "left_too_long" : "good");
		w.p[60] ^= 1;
		assert_string_equal(outcome(NULL, &defaults),
				    payload > 9000 ? "left_too_long" : "repaired_wrong");
		/* headers beyond the first buffer */
		csum_native(&defaults, w.p, w.len, &how, &r);
		assert_string_equal(r.outcome, payload > 9000 ? "left_too_long" : "repaired_wrong");
	}
}

/* Every length around whole words and pieces, right, wrong and 0. */
static void every_length(void **state)
{
	struct csum_kernel *k = csum_kernel_new(&defaults);

	(void)state;
	for (uint32_t payload = 0; payload <= 1600; payload++) {
		make(1, 4739, payload);
		assert_string_equal(outcome(k, &defaults), "good");
		w.p[61]++;
		assert_string_equal(outcome(k, &defaults),
				    w.p[60] || w.p[61] ? "repaired_wrong" : "repaired_zero");
		w.p[60] = w.p[61] = 0;
		assert_string_equal(outcome(k, &defaults), "repaired_zero");
	}
	csum_kernel_free(k);
}

/* Beyond the table, datagrams are repaired as others are, and counted together. */
static void sources_full(void **state)
{
	struct csum_kernel *k = csum_kernel_new(&defaults);
	const struct xsf_csum_source *s;
	const struct xsf_csum_totals *t;
	uint8_t addr[16];

	(void)state;
	for (uint32_t i = 0; i < XSF_CSUM_SOURCES + 10; i++) {
		make(i, 2055, 20);
		w.p[60] ^= 0x10;
		assert_string_equal(outcome(k, &defaults), "repaired_wrong");
		memcpy(addr, w.p + 22, 16);
		s = csum_kernel_source(k, addr);
		if (i < XSF_CSUM_SOURCES) {
			assert_non_null(s);
			assert_int_equal(csum_count(&s->counts, "repaired_wrong"), 1);
		} else {
			assert_null(s);
		}
	}
	make(3, 2055, 20);
	assert_string_equal(outcome(k, &defaults), "good");
	t = csum_kernel_totals(k);
	assert_int_equal(t->sources_full, 10);
	assert_int_equal(t->other_sources.repaired_wrong, 10);
	assert_int_equal(t->other_sources.good, 0);
	assert_int_equal(t->datagrams, XSF_CSUM_SOURCES + 11);
	csum_kernel_free(k);
}

static const struct xsf_csum_source *seen(struct csum_kernel *k, uint32_t source)
{
	make(source, 2055, 20);
	assert_string_equal(outcome(k, &defaults), "good");
	return csum_kernel_source(k, w.p + 22);
}

static void adds_up(struct csum_kernel *k, uint64_t datagrams)
{
	const struct xsf_csum_totals *t;
	uint64_t sum;
	uint32_t nr;

	sum = csum_kernel_sources(k, &nr);
	t = csum_kernel_totals(k);
	assert_int_equal(nr, XSF_CSUM_SOURCES);
	assert_int_equal(t->datagrams, datagrams);
	assert_int_equal(sum + csum_outcomes(&t->other_sources), datagrams);
}

/* A flood fills the table. Once its sources are silent for long enough, each newcomer gets a place, and a
 * source that goes on sending keeps its own. */
static void sources_taken_over(void **state)
{
	const struct timespec silence = { .tv_nsec = 600 * 1000000 };
	struct csum_kernel *k = csum_kernel_new_stale(&defaults, 500 * 1000000);
	const struct xsf_csum_source *s;
	const struct xsf_csum_totals *t;
	uint32_t full;

	(void)state;
	for (uint32_t i = 0; i < XSF_CSUM_SOURCES + 104; i++)
		seen(k, i);
	t = csum_kernel_totals(k);
	full = (uint32_t)(t->sources_full + t->sources_reclaimed);
	assert_int_equal(full, 104); /* reclaimed: where the run was slow */
	adds_up(k, XSF_CSUM_SOURCES + 104);
	nanosleep(&silence, NULL);
	full = (uint32_t)csum_kernel_totals(k)->sources_full;
	/* where the hand comes by */
	for (uint32_t i = 0; i < XSF_CSUM_SOURCES; i += 64)
		seen(k, i);
	for (uint32_t i = 0; i < 2000; i++) {
		s = seen(k, 100000 + i);
		assert_non_null(s);
		assert_int_equal(s->counts.good, 1);
	}
	t = csum_kernel_totals(k);
	assert_int_equal(t->sources_full, full);
	assert_in_range(t->sources_reclaimed, 2000, 2000 + 104 + XSF_CSUM_SOURCES / 64);
	adds_up(k, XSF_CSUM_SOURCES + 104 + XSF_CSUM_SOURCES / 64 + 2000);
	assert_true(t->other_sources.first_seen_ns <= t->other_sources.last_seen_ns);
	for (uint32_t i = 128; i < 1024; i += 64) {
		make(i, 2055, 20);
		s = csum_kernel_source(k, w.p + 22);
		assert_non_null(s);
		assert_int_equal(s->counts.good, 2);
	}
	/* One of the flood that comes back is a newcomer. */
	for (uint32_t i = 1; i < 64; i++) {
		s = seen(k, i);
		assert_non_null(s);
	}
	csum_kernel_free(k);
}

/* Full, and nobody silent: newcomers count together, and nobody loses a place. */
static void nobody_silent(void **state)
{
	struct csum_kernel *k = csum_kernel_new_stale(&defaults, 3600000000000);
	const struct xsf_csum_totals *t;

	(void)state;
	for (uint32_t i = 0; i < XSF_CSUM_SOURCES; i++)
		assert_non_null(seen(k, i));
	for (uint32_t i = 0; i < 1000; i++)
		assert_null(seen(k, 100000 + i));
	for (uint32_t i = 0; i < XSF_CSUM_SOURCES; i += 7)
		assert_int_equal(seen(k, i)->counts.good, 2);
	t = csum_kernel_totals(k);
	assert_int_equal(t->sources_full, 1000);
	assert_int_equal(t->sources_reclaimed, 0);
	assert_int_equal(t->other_sources.good, 1000);
	adds_up(k, XSF_CSUM_SOURCES + 1000 + (XSF_CSUM_SOURCES + 6) / 7);
	csum_kernel_free(k);
}

/* Other rules on a loaded program: they hold from the next packet on, and no count is lost. */
static void other_rules(void **state)
{
	struct csum_kernel *k = csum_kernel_new(&defaults);
	struct csum_rules rules = { .nr_watch = XSF_MAX_PORTS };

	(void)state;
	make(1, 4739, 100);
	w.p[60] ^= 1;
	assert_string_equal(outcome(k, &defaults), "repaired_wrong");
	for (uint32_t i = 0; i < XSF_MAX_PORTS; i++)
		rules.watch[i] =
			(struct xsf_csum_watch){ (uint16_t)(9000 + i), (uint8_t)(63 - i), i & 1 };
	csum_kernel_rules(k, &rules);
	assert_string_equal(outcome(k, &rules), "other_port");
	for (uint32_t i = 0; i < XSF_MAX_PORTS; i++) {
		make(1, 9000 + i, 100);
		w.p[60] ^= 1;
		assert_string_equal(outcome(k, &rules),
				    i & 1 ? "repaired_wrong" : "observed_wrong");
		assert_int_equal(csum_kernel_port(k, 63 - i)->port, 9000 + i);
	}
	make(1, 0, 100);
	assert_string_equal(outcome(k, &rules), "other_port");
	/* Two ports, one of them repaired, of one network. */
	memset(&rules, 0, sizeof(rules));
	rules.nr_watch = 2;
	rules.watch[0] = (struct xsf_csum_watch){ 4739, 0, 1 };
	rules.watch[1] = (struct xsf_csum_watch){ 6343, 1, 0 };
	rules.nr_from = 1;
	rules.from[0] = (struct csum_prefix){ { 0x20, 1, 0xd, 0xb8, [15] = 8 }, 126 };
	csum_kernel_rules(k, &rules);
	for (uint32_t i = 6; i < 14; i++) {
		make(i, 4739, 5);
		w.p[60] ^= 1;
		assert_string_equal(outcome(k, &rules),
				    i >= 8 && i < 12 ? "repaired_wrong" : "observed_wrong");
		make(i, 6343, 5);
		w.p[60] = w.p[61] = 0;
		assert_string_equal(outcome(k, &rules), "observed_zero");
	}
	assert_int_equal(csum_kernel_port(k, 0)->counts.repaired_wrong, 1 + 4);
	assert_int_equal(csum_kernel_port(k, 0)->counts.observed_wrong, 4);
	csum_kernel_free(k);
}

/* What the kernel around the program may do. */
static void refusals(void **state)
{
	struct csum_how partial = { .partial = 1 }, unreadable = { .unreadable = 1 },
			unwritable = { .unwritable = 1 };
	struct csum_result r;

	(void)state;
	for (uint32_t n = 0; n < 5000; n++) {
		struct csum_how how;

		csum_packet(1, n, &w, &how);
		how.partial = 1;
		csum_all(NULL, &defaults, "partial", w.p, w.len, &how);
	}
	make(1, 6343, 10);
	w.p[60] ^= 1;
	csum_native(&defaults, w.p, w.len, &partial, &r);
	assert_string_equal(r.outcome, "left_partial");
	unreadable.linear = w.len;
	csum_native(&defaults, w.p, w.len, &unreadable, &r);
	assert_string_equal(r.outcome, "left_unreadable");
	for (int i = 0; i < 16; i++)
		assert_int_equal(r.source[i], 0);
	csum_native(&defaults, w.p, w.len, &unwritable, &r);
	assert_string_equal(r.outcome, "left_unwritable");
	assert_memory_equal(r.p, w.p, w.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),	 cmocka_unit_test(every_length),
		cmocka_unit_test(sources_full),	 cmocka_unit_test(sources_taken_over),
		cmocka_unit_test(nobody_silent), cmocka_unit_test(other_rules),
		cmocka_unit_test(refusals),
	};

	if (geteuid()) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
