// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cost of the checksum program by test run, and of a plain sum of the same bytes.
 *
 *   csumbench [OBJECT [SPOIL_OBJECT]]
 *
 * Prints a table, in ns a packet: each packet many times in a row, the least of several rounds. "above" is
 * what the program takes above one that does nothing in its place. The repaired packets are made wrong again
 * before each run, by a program in front that calls the one that is measured; so is the one that does
 * nothing there. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xsf/csum_abi.h>

#define REPEAT 20000
#define ROUNDS 12
#define HEADERS (14 + 40 + 8)
#define FRAME_MAX (HEADERS + 9000)

struct programs {
	int csum, nothing, spoil, next, policy;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The sum of 16-bit words as a C programmer writes it, of an even number of bytes. */
static uint32_t plain_sum(const uint8_t *p, uint32_t len)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < len; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

static uint32_t make(uint8_t *f, uint32_t payload, uint32_t port)
{
	uint32_t udp = payload + 8, sum;

	memset(f, 0, HEADERS);
	memcpy(f, "\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x86\xdd\x60", 15);
	f[18] = (uint8_t)(udp >> 8);
	f[19] = (uint8_t)udp;
	f[20] = 17;
	f[21] = 64;
	memcpy(f + 22, "\x20\x01\x0d\xb8", 4);
	f[37] = 1;
	memcpy(f + 38, "\x20\x01\x0d\xb8", 4);
	f[53] = 2;
	f[54] = 0xc3;
	f[55] = 0x50;
	f[56] = (uint8_t)(port >> 8);
	f[57] = (uint8_t)port;
	memcpy(f + 58, f + 18, 2);
	for (uint32_t i = 0; i < payload; i++)
		f[HEADERS + i] = (uint8_t)(i * 7 + (i >> 8));
	sum = plain_sum(f + 22, 32 + udp) + 17 + udp;
	sum = (sum & 0xffff) + (sum >> 16);
	f[60] = (uint8_t)(~sum >> 8);
	f[61] = (uint8_t)~sum;
	return HEADERS + payload;
}

static double measure(int fd, const uint8_t *frame, uint32_t len)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = len,
		    .repeat = REPEAT);
	uint32_t least = UINT32_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		if (bpf_prog_test_run_opts(fd, &opts))
			fail("test run");
		if ((int)opts.retval != -1) {
			fprintf(stderr, "csumbench: verdict %d\n", (int)opts.retval);
			exit(1);
		}
		if (opts.duration < least)
			least = opts.duration;
	}
	return least;
}

static double measure_plain(const uint8_t *frame, uint32_t len)
{
	uint64_t least = UINT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = now();

		for (int i = 0; i < REPEAT / 10; i++) {
			uint32_t sum = plain_sum(frame + 22, (len - 22) & ~1u);

			__asm__ volatile("" ::"r"(sum) : "memory");
		}
		if (now() - begin < least)
			least = now() - begin;
	}
	return (double)least / (REPEAT / 10);
}

static void watch(const struct programs *p, int repair)
{
	struct xsf_csum_policy policy = { .set = 1, .watch = { { 6343, 1, (__u8)repair } } };
	uint32_t zero = 0;

	if (bpf_map_update_elem(p->policy, &zero, &policy, BPF_ANY))
		fail("policy");
}

static void row(const char *name, const struct programs *p, uint32_t payload, uint32_t port,
		int spoil)
{
	static uint8_t frame[FRAME_MAX];
	uint32_t len = make(frame, payload, port), zero = 0;
	double prog, around;

	watch(p, spoil == 2);
	if (spoil && bpf_map_update_elem(p->next, &zero, &p->nothing, BPF_ANY))
		fail("next");
	around = measure(spoil ? p->spoil : p->nothing, frame, len);
	if (spoil && bpf_map_update_elem(p->next, &zero, &p->csum, BPF_ANY))
		fail("next");
	prog = measure(spoil ? p->spoil : p->csum, frame, len);
	printf("%-44s %8u %8.0f %8.0f %8.0f", name, payload, prog - around, around, prog);
	if (port == 6343)
		printf(" %8.0f %8.2f", measure_plain(frame, len),
		       (prog - around) / measure_plain(frame, len));
	printf("\n");
	fflush(stdout);
}

static struct bpf_object *open_load(const char *path)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	struct bpf_map *map;

	if (!obj)
		fail(path);
	bpf_object__for_each_map(map, obj) bpf_map__set_pin_path(map, NULL);
	if (bpf_object__load(obj))
		fail(path);
	return obj;
}

static int program(struct bpf_object *obj, const char *name)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, name);

	if (!prog)
		fail(name);
	return bpf_program__fd(prog);
}

int main(int argc, char **argv)
{
	struct bpf_object *csum = open_load(argc > 1 ? argv[1] : "build/csum6.bpf.o");
	struct bpf_object *spoil = open_load(argc > 2 ? argv[2] : "build/tests/bench/spoil.bpf.o");
	struct programs p = {
		.csum = program(csum, "xsf_csum6"),
		.nothing = program(spoil, "bench_nothing"),
		.spoil = program(spoil, "bench_spoil"),
		.next = bpf_object__find_map_fd_by_name(spoil, "bench_next"),
		.policy = bpf_object__find_map_fd_by_name(csum, "xsf_csum_policy"),
	};

	printf("%-44s %8s %8s %8s %8s %8s %8s\n", "", "bytes", "above", "empty", "whole", "plain",
	       "ratio");
	row("a packet of another port", &p, 1432, 6344, 0);
	row("good", &p, 1432, 6343, 0);
	row("wrong, observed", &p, 1432, 6343, 1);
	row("wrong, repaired", &p, 1432, 6343, 2);
	row("good, short", &p, 0, 6343, 0);
	row("good, long", &p, 3200, 6343, 0);
	bpf_object__close(spoil);
	bpf_object__close(csum);
	return 0;
}
