// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cost of the XDP program by test run, and of the native build of the same headers, on the same bytes.
 *
 *   progbench [--hold IFACE] [OBJECT]
 *
 * Prints a table. Each datagram is run 64 times in a row, except in the rows that say "in turn". IFACE
 * is a veth that nothing arrives at: while the program is attached to it the kernel does not rebuild its
 * dispatcher before and after each test run, which takes longer than the runs. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <getopt.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "mix.h"
#include "model/store.h"

#define DATAGRAMS 256
#define SET_MAX 16384
#define REPEAT 64
#define ROUNDS 24
#define TURN_ROUNDS 8

/* Where things lie in a frame of mix.c, and in a sample of the `same` kind from its type on. */
#define FRAME_PORT 36
#define FRAME_PAYLOAD 42
#define PAYLOAD_COUNT 24
#define PAYLOAD_SAMPLES 28
#define SAMPLE_SOURCE 12
#define SAMPLE_INPUT 28
#define SAMPLE_ETHERTYPE 76
#define SAMPLE_PROTOCOL 87

struct set {
	uint8_t frame[SET_MAX][MIX_MAX + 64];
	uint32_t len[SET_MAX];
	uint32_t nr;
	double payload;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void fill(struct set *s, struct mix *m, uint32_t nr)
{
	s->nr = nr;
	s->payload = 0;
	m->sequence = calloc(m->agents * (2 * m->interfaces + 1), sizeof(*m->sequence));
	for (uint32_t i = 0; i < nr; i++) {
		uint8_t payload[MIX_MAX];
		uint32_t len = mix_datagram(m, payload);

		s->len[i] = mix_frame(payload, len, 1, s->frame[i]);
		s->payload += len;
	}
	s->payload /= nr;
	free(m->sequence);
}

/* Mean over the datagrams of the least of `rounds` measurements each: other load only adds. */
static double bench_prog(int fd, struct set *s, uint32_t repeat, uint32_t rounds)
{
	static uint32_t least[SET_MAX];
	double sum = 0;

	memset(least, 0xff, sizeof(least));
	for (uint32_t round = 0; round < rounds; round++) {
		for (uint32_t i = 0; i < s->nr; i++) {
			LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = s->frame[i],
				    .data_size_in = s->len[i], .repeat = (int)repeat);

			if (bpf_prog_test_run_opts(fd, &opts)) {
				perror("test run");
				exit(1);
			}
			if (opts.duration < least[i])
				least[i] = opts.duration;
		}
	}
	for (uint32_t i = 0; i < s->nr; i++)
		sum += least[i];
	return sum / s->nr;
}

/* The native build over the same datagrams in the same order; the least of `rounds`. */
static double bench_native(struct set *s, uint32_t repeat, uint32_t rounds)
{
	struct xsf_config config;
	struct xsf_store *store;
	uint64_t least = UINT64_MAX;

	xsf_config_defaults(&config);
	store = xsf_store_new(&config);
	if (!store)
		exit(1);
	for (uint32_t round = 0; round < rounds; round++) {
		uint64_t begin = now(), took;

		for (uint32_t i = 0; i < s->nr; i++) {
			for (uint32_t r = 0; r < repeat; r++)
				xsf_store_frame(store, s->frame[i], s->len[i], s->len[i], 0, begin);
		}
		took = now() - begin;
		if (took < least)
			least = took;
	}
	xsf_store_free(store);
	return (double)least / s->nr / repeat;
}

/* Changes to one sample of a datagram that has eight RoCE samples of one source. */
static void unknown_type(uint8_t *sample, uint32_t i)
{
	(void)i;
	sample[3] = 9;
}

static void not_ip(uint8_t *sample, uint32_t i)
{
	(void)i;
	sample[SAMPLE_ETHERTYPE] = 0x88; /* LLDP */
	sample[SAMPLE_ETHERTYPE + 1] = 0xcc;
}

static void tcp(uint8_t *sample, uint32_t i)
{
	(void)i;
	sample[SAMPLE_PROTOCOL] = 6;
}

static void source_of_its_own(uint8_t *sample, uint32_t i)
{
	sample[SAMPLE_SOURCE + 3] = (uint8_t)(i + 1);
	sample[SAMPLE_INPUT + 3] = (uint8_t)(i + 1);
}

static void edit(struct set *s, void (*change)(uint8_t *sample, uint32_t i))
{
	for (uint32_t i = 0; i < s->nr; i++) {
		uint8_t *p = s->frame[i] + FRAME_PAYLOAD, *sample = p + PAYLOAD_SAMPLES;

		for (uint32_t n = 0; n < p[PAYLOAD_COUNT + 3]; n++) {
			change(sample, n);
			sample += 8 + (sample[6] << 8 | sample[7]);
		}
	}
}

static void other_port(struct set *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		s->frame[i][FRAME_PORT + 1]++;
}

static void no_samples(struct set *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		s->frame[i][FRAME_PAYLOAD + PAYLOAD_COUNT + 3] = 0;
}

/* Returns what the program took. */
static double row(const char *name, int fd, struct set *s, uint32_t repeat)
{
	/* A test run of one repetition costs far more around the program than in it. */
	uint32_t rounds = repeat == 1 ? TURN_ROUNDS : ROUNDS;
	double prog = bench_prog(fd, s, repeat, rounds), native = bench_native(s, repeat, rounds);

	printf("%-44s %8.0f %8.0f %8.0f %8.2f\n", name, s->payload, prog, native, prog / native);
	fflush(stdout);
	return prog;
}

static void empty_row(struct set *s)
{
	struct bpf_insn insns[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
				    { .code = BPF_JMP | BPF_EXIT } };
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "empty", "GPL", insns, 2, NULL);
	uint32_t nr = s->nr;

	s->nr = 1;
	printf("%-44s %8.0f %8.0f\n", "a program that does nothing", s->payload,
	       bench_prog(fd, s, REPEAT * DATAGRAMS, 4));
	s->nr = nr;
	close(fd);
}

static void breakdown(int fd, struct set *s)
{
	static const struct {
		const char *name;
		void (*change)(uint8_t *sample, uint32_t i);
	} edits[] = {
		{ "8 samples of an unknown type", unknown_type },
		{ "8 flow samples, not IP", not_ip },
		{ "8 flow samples, TCP", tcp },
		{ "8 flow samples, RoCE", NULL },
		{ "8 flow samples, RoCE, each of its own source", source_of_its_own },
	};
	struct mix same = { .seed = 1, .agents = 1, .interfaces = 1, .same = 1 };

	fill(s, &same, DATAGRAMS);
	empty_row(s);
	other_port(s);
	row("a frame of another port", fd, s, REPEAT);
	fill(s, &same, DATAGRAMS);
	no_samples(s);
	row("a datagram without samples", fd, s, REPEAT);
	for (uint32_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		fill(s, &same, DATAGRAMS);
		if (edits[i].change)
			edit(s, edits[i].change);
		row(edits[i].name, fd, s, REPEAT);
	}
}

static void mixed(int fd, struct set *s)
{
	struct mix few = { .seed = 2, .agents = 10, .interfaces = 10 };
	struct mix many = { .seed = 3, .agents = 2000, .interfaces = 32 };
	double at_few, at_many;

	fill(s, &few, DATAGRAMS);
	row("mixed, 256, each repeated: 100 sources", fd, s, REPEAT);
	row("mixed, 256 in turn: 100 sources", fd, s, 1);
	fill(s, &few, SET_MAX);
	at_few = row("mixed, 16384 in turn: 100 sources", fd, s, 1);
	fill(s, &many, SET_MAX);
	at_many = row("mixed, 16384 in turn: 64000 sources", fd, s, 1);
	printf("%-44s %26s %8.2f\n", "64000 sources to 100", "", at_many / at_few);
}

static void instructions(int fd)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return;
	printf("instructions: %u in the program, %u read by the verifier; %u bytes of machine "
	       "code\n",
	       info.xlated_prog_len / 8, info.verified_insns, info.jited_prog_len);
}

int main(int argc, char **argv)
{
	static const struct option known[] = { { "hold", 1, NULL, 'h' }, {} };
	static struct set sets;
	struct set *s = &sets;
	struct bpf_object *object;
	unsigned int hold = 0;
	struct bpf_map *map;
	int fd, c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c != 'h' || !(hold = if_nametoindex(optarg)))
			return 2;
	}
	object = bpf_object__open(optind < argc ? argv[optind] : "build/xdp_sflow.bpf.o");
	if (!object)
		return 1;
	bpf_object__for_each_map(map, object) bpf_map__set_pin_path(map, NULL);
	if (bpf_object__load(object))
		return 1;
	fd = bpf_program__fd(bpf_object__find_program_by_name(object, "xsf_xdp"));
	if (hold && bpf_xdp_attach((int)hold, fd, XDP_FLAGS_DRV_MODE, NULL)) {
		perror("--hold");
		return 1;
	}
	printf("%-44s %8s %8s %8s %8s\n", "", "bytes", "program", "native", "ratio");
	breakdown(fd, s);
	mixed(fd, s);
	instructions(fd);
	if (hold)
		bpf_xdp_detach((int)hold, XDP_FLAGS_DRV_MODE, NULL);
	bpf_object__close(object);
	return 0;
}
