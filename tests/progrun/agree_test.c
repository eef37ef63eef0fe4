// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel's program, the native build and the reference agree on captures, on the benchmark's mix and on
 * 100,000 mutated frames, counter for counter. */
#include "trio.h"

#include <stdio.h>
#include <unistd.h>
#include "../bench/mix.h"
#include "model/fabric.h"

#define XDP_PASS 2
#define MUTANTS 100000
#define BATCH 1000
#define SEED 20240607

/* Two thousand agents are in one file; all of the folders fit in one table. */
static const char *const folders[] = { "tests/golden/pcaps", "tests/golden/lab",
				       "../shared/cases/pcaps", "../shared/lab-captures",
				       "../shared/captures" };

struct capture_run {
	struct trio trio;
	char file[256];
	uint32_t frames;
	struct pool *pool;
};

static void capture_frame(void *arg, const char *file, const uint8_t *frame, uint32_t len)
{
	struct capture_run *run = arg;

	if (strcmp(run->file, file)) {
		trio_check(&run->trio, run->file, NULL, 0);
		snprintf(run->file, sizeof(run->file), "%s", file);
	}
	if (trio_frame(&run->trio, frame, len) != -1)
		run->frames++;
}

/* Compares after every file, then, for the one that differs, after every frame. */
static void capture_frame_closely(void *arg, const char *file, const uint8_t *frame, uint32_t len)
{
	struct capture_run *run = arg;

	capture_frame(arg, file, frame, len);
	trio_check(&run->trio, file, frame, len);
}

static void captures(enum kernel_program which)
{
	struct xsf_config config;
	uint32_t files = 0, frames = 0;

	xsf_config_defaults(&config);
	config.ports[1] = 6344; /* of one of the lab's captures */
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		struct capture_run run = { 0 };
		char text[COMPARE_TEXT];

		trio_begin(&run.trio, which, &config);
		files += captures_each(folders[i], capture_frame, &run);
		frames += run.frames;
		if (trio_compare(&run.trio, text)) {
			trio_end(&run.trio);
			trio_begin(&run.trio, which, &config);
			captures_each(folders[i], capture_frame_closely, &run);
		}
		trio_end(&run.trio);
	}
	printf("# %s: %u captures, %u frames\n", kernel_program_names[which], files, frames);
}

static void mixed(enum kernel_program which)
{
	struct mix mix = { .seed = 11, .agents = 300, .interfaces = 20 };
	uint8_t payload[MIX_MAX], frame[MIX_MAX + 64];
	struct trio t;

	mix.sequence = calloc(mix.agents * (2 * mix.interfaces + 1), sizeof(*mix.sequence));
	trio_begin(&t, which, NULL);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t len = mix_datagram(&mix, payload);

		len = mix_frame(payload, len, i % 7, frame);
		assert_int_equal(trio_frame(&t, frame, len), XDP_PASS);
	}
	trio_check(&t, "mix", NULL, 0);
	trio_end(&t);
	free(mix.sequence);
}

/* A simulated fabric says what all that it sends adds up to. */
static void fabric(enum kernel_program which)
{
	const struct xsf_fabric_config config = {
		.leaves = 4,
		.spines = 2,
		.ports = 8,
		.cycle_ns = 1000000000,
		.polling_ns = 100000000,
		.seed = 5,
		.ipv6_agents = which == KERNEL_FRAGS,
	};
	static struct wire frame;
	uint8_t payload[XSF_FABRIC_DATAGRAM];
	const struct xsf_fabric_truth *truth;
	const struct xsf_snapshot *s;
	struct xsf_fabric_datagram d;
	struct xsf_fabric *f;
	struct trio t;

	assert_int_equal(xsf_fabric_new(&config, &f), 0);
	trio_begin(&t, which, NULL);
	for (uint32_t i = 0; i < 20000; i++) {
		xsf_fabric_next(f, payload, &d);
		if (i & 1)
			wire_carry6(&frame, payload, d.len, 6343);
		else
			wire_carry4(&frame, payload, d.len, 6343);
		assert_int_equal(trio_frame(&t, frame.p, frame.len), XDP_PASS);
	}
	trio_check(&t, "fabric", NULL, 0);
	truth = xsf_fabric_truth(f);
	s = kernel_snapshot(t.kernel);
	assert_int_equal(s->totals.datagram_sound, truth->datagrams);
	assert_int_equal(s->totals.bytes, truth->bytes);
	assert_int_equal(s->totals.sample_flow + s->totals.sample_flow_expanded,
			 truth->flow_samples);
	assert_int_equal(s->totals.sample_counter + s->totals.sample_counter_expanded,
			 truth->counter_samples);
	assert_int_equal(s->totals.sample_drop, truth->drop_samples);
	for (uint32_t op = 0; op < 256; op++) {
		uint64_t samples = 0, packets = 0, bytes = 0;

		for (uint32_t row = 0; row < XSF_DIRECTIONS * XSF_CARRIERS; row++) {
			if (row % XSF_CARRIERS == XSF_ROCE_V1)
				continue;
			samples += s->ops[row].opcode[op].samples;
			packets += s->ops[row].opcode[op].packets;
			bytes += s->ops[row].opcode[op].bytes;
		}
		assert_int_equal(samples, truth->opcode[op].samples);
		assert_int_equal(packets, truth->opcode[op].packets);
		assert_int_equal(bytes, truth->opcode[op].bytes);
	}
	for (uint32_t code = 0; code < XSF_REASONS; code++) {
		assert_int_equal(s->reasons.notified[code], truth->notified[code]);
		assert_int_equal(s->reasons.sampled[code], truth->sampled_drops[code]);
	}
	for (uint32_t i = 1; i < s->nr_agents; i++) {
		assert_int_equal(s->agents[i].own.lost + s->agents[i].own.duplicate +
					 s->agents[i].own.reordered + s->agents[i].own.restarts,
				 0);
	}
	trio_end(&t);
	xsf_fabric_free(f);
}

/* Of each capture, the first few and then some: the large ones repeat themselves. */
struct pool_run {
	struct pool pool;
	char file[256];
	uint32_t seen, taken;
};

static void to_pool(void *arg, const char *file, const uint8_t *frame, uint32_t len)
{
	struct pool_run *run = arg;
	const uint8_t *payload;
	uint32_t n = frame_payload(frame, len, &payload);

	if (strcmp(run->file, file)) {
		snprintf(run->file, sizeof(run->file), "%s", file);
		run->seen = run->taken = 0;
	}
	run->seen++;
	if (!n || run->taken == 20 || (run->seen > 5 && run->seen % 20))
		return;
	run->taken++;
	pool_add(&run->pool, payload, n);
}

static void make_mutant(void *arg, uint32_t n, struct wire *frame)
{
	mutant(arg, SEED, n, frame);
}

static void mutants(enum kernel_program which)
{
	struct pool_run run = { 0 };

	pool_fill(&run.pool, 64);
	/* Only what is always there, so that the seed means the same everywhere. */
	captures_each("tests/golden/pcaps", to_pool, &run);
	captures_each("tests/golden/lab", to_pool, &run);
	trio_batches(which, "mutant", make_mutant, &run.pool, MUTANTS, BATCH);
	printf("# %s: %u mutants of %u datagrams\n", kernel_program_names[which], MUTANTS,
	       run.pool.nr);
	pool_free(&run.pool);
}

static void captures_xdp(void **state)
{
	(void)state;
	captures(KERNEL_XDP);
}

static void captures_frags(void **state)
{
	(void)state;
	captures(KERNEL_FRAGS);
}

static void mix_xdp(void **state)
{
	(void)state;
	mixed(KERNEL_XDP);
}

static void mix_frags(void **state)
{
	(void)state;
	mixed(KERNEL_FRAGS);
}

static void fabric_xdp(void **state)
{
	(void)state;
	fabric(KERNEL_XDP);
}

static void fabric_frags(void **state)
{
	(void)state;
	fabric(KERNEL_FRAGS);
}

static void mutants_xdp(void **state)
{
	(void)state;
	mutants(KERNEL_XDP);
}

static void mutants_frags(void **state)
{
	(void)state;
	mutants(KERNEL_FRAGS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_xdp), cmocka_unit_test(captures_frags),
		cmocka_unit_test(mix_xdp),	cmocka_unit_test(mix_frags),
		cmocka_unit_test(fabric_xdp),	cmocka_unit_test(fabric_frags),
		cmocka_unit_test(mutants_xdp),	cmocka_unit_test(mutants_frags),
	};

	if (geteuid()) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
