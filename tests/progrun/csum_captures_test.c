// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* IPv6 UDP of captures, each packet with its own port watched: what was right leaves as it was, what was
 * wrong is right afterwards, what cannot be told is not touched. Fewer captures where ../shared is absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "csum_trio.h"

#include <stdio.h>
#include <unistd.h>
#include "inputs.h"

#define ROW 9

struct counts {
	uint32_t good, wrong, zero, untold, frames;
};

struct run {
	struct csum_kernel *kernel;
	char file[256];
	struct counts now;
	void (*done)(struct run *run);
	void (*each)(struct run *run, const uint8_t *frame, uint32_t len,
		     const struct csum_result *r);
	uint32_t files, packets;
};

static void end_of_file(struct run *run)
{
	const struct counts *c = &run->now;

	if (!c->frames)
		return;
	run->files++;
	run->packets += c->good + c->wrong + c->zero + c->untold;
	if (c->wrong + c->zero + c->untold)
		printf("# %s: right %u, wrong %u, zero %u, cannot be told %u\n", run->file, c->good,
		       c->wrong, c->zero, c->untold);
	if (run->done)
		run->done(run);
	memset(&run->now, 0, sizeof(run->now));
}

static void packet(void *arg, const char *file, const uint8_t *frame, uint32_t len)
{
	struct csum_rules rules = { .watch = { { 0, ROW, 1 } }, .nr_watch = 1 };
	struct csum_how how = { .linear = len };
	const struct csum_result *r;
	struct run *run = arg;
	uint32_t at;

	if (strcmp(run->file, file)) {
		end_of_file(run);
		snprintf(run->file, sizeof(run->file), "%s", file);
	}
	run->now.frames++;
	rules.watch[0].port = (uint16_t)csum_port(frame, len);
	if (!rules.watch[0].port || len > WIRE_MAX)
		return;
	switch (csum_verify(frame, len, &at)) {
	case 0:
		run->now.wrong++;
		break;
	case 1:
		run->now.good++;
		break;
	case 2:
		run->now.zero++;
		break;
	default:
		run->now.untold++;
	}
	csum_kernel_rules(run->kernel, &rules);
	r = csum_all(run->kernel, &rules, file, frame, len, &how);
	if (run->each)
		run->each(run, frame, len, r);
	how.linear = 60;
	csum_all(NULL, &rules, file, frame, len, &how);
}

static struct run over(const char *folder, void (*done)(struct run *run))
{
	struct csum_rules rules = { 0 };
	struct run run = { .kernel = csum_kernel_new(&rules), .done = done };

	captures_each(folder, packet, &run);
	end_of_file(&run);
	csum_kernel_free(run.kernel);
	printf("# %s: %u captures, %u packets of UDP over IPv6\n", folder, run.files, run.packets);
	return run;
}

/* ---- the lab's, whose truth two other programs told */

static uint32_t truth(const char *path, const char *file, const char *key)
{
	char line[256], name[128], value[64];
	FILE *f = fopen(path, "r");
	uint32_t n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%127s %*s %63s %u", name, value, &n) == 3 &&
		    !strcmp(name, file) && !strcmp(value, key))
			break;
		n = 0;
	}
	fclose(f);
	return n;
}

static void check_truth(struct run *run, const char *path)
{
	if (!strstr(run->file, "_badck"))
		return;
	assert_int_equal(run->now.good, truth(path, run->file, "udp6ck.good"));
	assert_int_equal(run->now.wrong, truth(path, run->file, "udp6ck.off_0x100"));
	assert_int_equal(run->now.zero, truth(path, run->file, "udp6ck.zero"));
	assert_true(run->now.wrong + run->now.zero > 0);
}

static void check_golden(struct run *run)
{
	check_truth(run, "tests/golden/csum/truth.tsv");
}

static void check_shared(struct run *run)
{
	check_truth(run, "../shared/lab-captures/truth.tsv");
}

static void lab(void **state)
{
	(void)state;
	assert_int_equal(over("tests/golden/csum", check_golden).files, 3);
}

static void shared_lab(void **state)
{
	(void)state;
	over("../shared/lab-captures", check_shared);
}

static void shared_captures(void **state)
{
	(void)state;
	assert_true(over("../shared/captures", NULL).packets > 100 ||
		    access("../shared/captures", F_OK));
}

/* ---- cases 02a and 02b, as tests/golden/expected.tsv says */

static void each_case(struct run *run, const uint8_t *frame, uint32_t len,
		      const struct csum_result *r)
{
	static const char *const a[] = { "good",	  "repaired_zero", "repaired_wrong",
					 "good",	  "repaired_zero", "repaired_wrong",
					 "repaired_wrong" };
	uint32_t n = run->now.good + run->now.wrong + run->now.zero, at = 0;

	if (strncmp(run->file, "02", 2))
		return;
	assert_int_equal(csum_verify(r->p, len, &at), 1);
	if (!strncmp(run->file, "02b", 3)) {
		assert_string_equal(r->outcome, "repaired_wrong");
		return;
	}
	assert_in_range(n, 1, 7);
	assert_string_equal(r->outcome, a[n - 1]);
	if (n == 1 || n == 4)
		assert_memory_equal(r->p, frame, len);
	if (n >= 4 && n <= 6)
		assert_memory_equal(r->p + at, "\xff\xff", 2);
}

static void cases(void **state)
{
	struct csum_rules rules = { 0 };
	struct run run = { .kernel = csum_kernel_new(&rules), .each = each_case };

	(void)state;
	captures_each("tests/golden/pcaps", packet, &run);
	end_of_file(&run);
	assert_true(run.packets >= 8);
	csum_kernel_free(run.kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cases),
		cmocka_unit_test(lab),
		cmocka_unit_test(shared_lab),
		cmocka_unit_test(shared_captures),
	};

	if (geteuid()) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
