// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cost of the XDP program by test run, and of the native build of the same headers, on the same bytes.
 * progbench [OBJECT] prints a table; every figure is the mean over 256 datagrams, repeated. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "mix.h"
#include "model/store.h"

#define DATAGRAMS 256
#define REPEAT 64
#define ROUNDS 12

struct set {
	uint8_t frame[4096][MIX_MAX + 64];
	uint32_t len[4096];
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

static double bench_prog(int fd, struct set *s, uint32_t repeat, uint32_t rounds)
{
	double best = 1e18;

	for (uint32_t round = 0; round < rounds; round++) {
		double sum = 0;

		for (uint32_t i = 0; i < s->nr; i++) {
			LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = s->frame[i],
				    .data_size_in = s->len[i], .repeat = (int)repeat);

			if (bpf_prog_test_run_opts(fd, &opts)) {
				perror("test run");
				exit(1);
			}
			sum += opts.duration;
		}
		if (sum / s->nr < best)
			best = sum / s->nr;
	}
	return best;
}

static double bench_native(struct set *s, uint32_t rounds)
{
	struct xsf_config config;
	struct xsf_store *store;
	double best = 1e18;

	xsf_config_defaults(&config);
	store = xsf_store_new(&config);
	for (uint32_t round = 0; round < rounds; round++) {
		uint64_t begin = now();

		for (uint32_t r = 0; r < REPEAT; r++) {
			for (uint32_t i = 0; i < s->nr; i++)
				xsf_store_frame(store, s->frame[i], s->len[i], s->len[i], 0, begin);
		}
		begin = now() - begin;
		if ((double)begin / (REPEAT * s->nr) < best)
			best = (double)begin / (REPEAT * s->nr);
	}
	xsf_store_free(store);
	return best;
}

static void row(const char *name, int fd, struct set *s, struct mix m, uint32_t nr, uint32_t repeat)
{
	double prog, native;

	fill(s, &m, nr);
	prog = bench_prog(fd, s, repeat, repeat == 1 ? 2 * ROUNDS : ROUNDS);
	native = bench_native(s, ROUNDS / 3);
	printf("%-34s %8.0f %10.0f %10.0f %8.2f\n", name, s->payload, prog, native, prog / native);
}

int main(int argc, char **argv)
{
	struct bpf_object *object = bpf_object__open(argc > 1 ? argv[1] : "build/xdp_sflow.bpf.o");
	struct set *s = calloc(1, sizeof(*s));
	struct bpf_map *map;
	int fd;

	if (!object || !s)
		return 1;
	bpf_object__for_each_map(map, object) bpf_map__set_pin_path(map, NULL);
	if (bpf_object__load(object))
		return 1;
	fd = bpf_program__fd(bpf_object__find_program_by_name(object, "xsf_xdp"));
	printf("%-34s %8s %10s %10s %8s\n", "datagrams", "bytes", "program ns", "native ns",
	       "ratio");
	row("same: 8 RoCE samples, 1 source", fd, s,
	    (struct mix){ .seed = 1, .agents = 1, .interfaces = 1, .same = 1 }, DATAGRAMS, REPEAT);
	row("mixed: 100 sources", fd, s, (struct mix){ .seed = 2, .agents = 10, .interfaces = 10 },
	    DATAGRAMS, REPEAT);
	row("mixed, rotated: 100 sources", fd, s,
	    (struct mix){ .seed = 2, .agents = 10, .interfaces = 10 }, 4096, 1);
	row("mixed, rotated: 64000 sources", fd, s,
	    (struct mix){ .seed = 3, .agents = 2000, .interfaces = 32 }, 4096, 1);
	bpf_object__close(object);
	free(s);
	return 0;
}
