// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cost of the XDP program by test run, and of the native build of the same headers, on the same bytes.
 * progbench [OBJECT] prints a table; `repeated` runs each datagram 256 times in a
 * row, `rotated` all of them once in turn. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "mix.h"
#include "model/store.h"

#define DATAGRAMS 64
#define SET_MAX 4096
#define REPEAT 256
#define ROUNDS 6
#define ROTATED_ROUNDS 4

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

static void row(const char *name, int fd, struct set *s, struct mix m, uint32_t nr, uint32_t repeat)
{
	/* A test run of one repetition costs far more around the program than in it. */
	uint32_t rounds = repeat == 1 ? ROTATED_ROUNDS : ROUNDS;
	double prog, native;

	fill(s, &m, nr);
	prog = bench_prog(fd, s, repeat, rounds);
	native = bench_native(s, repeat, rounds);
	printf("%-34s %8.0f %10.0f %10.0f %8.2f\n", name, s->payload, prog, native, prog / native);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct bpf_object *object = bpf_object__open(argc > 1 ? argv[1] : "build/xdp_sflow.bpf.o");
	static struct set sets;
	struct set *s = &sets;
	struct bpf_map *map;
	int fd;

	if (!object)
		return 1;
	bpf_object__for_each_map(map, object) bpf_map__set_pin_path(map, NULL);
	if (bpf_object__load(object))
		return 1;
	fd = bpf_program__fd(bpf_object__find_program_by_name(object, "xsf_xdp"));
	printf("%-34s %8s %10s %10s %8s\n", "datagrams", "bytes", "program ns", "native ns",
	       "ratio");
	row("same, repeated: 1 source", fd, s,
	    (struct mix){ .seed = 1, .agents = 1, .interfaces = 1, .same = 1 }, DATAGRAMS, REPEAT);
	row("mixed, repeated: 100 sources", fd, s,
	    (struct mix){ .seed = 2, .agents = 10, .interfaces = 10 }, DATAGRAMS, REPEAT);
	row("mixed, rotated: 100 sources", fd, s,
	    (struct mix){ .seed = 2, .agents = 10, .interfaces = 10 }, 4096, 1);
	row("mixed, rotated: 64000 sources", fd, s,
	    (struct mix){ .seed = 3, .agents = 2000, .interfaces = 32 }, 4096, 1);
	bpf_object__close(object);
	return 0;
}
