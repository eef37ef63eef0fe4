// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cost of the checksum program, and of a plain sum of the same bytes.
 *
 *   csumbench [--tap IFACE] [OBJECT [SPOIL_OBJECT]]
 *
 * Prints a table, in ns a packet: by test run, each packet many times in a row, the least of several rounds.
 * "above" is what the program takes above one that does nothing in its place. The wrong packets are made
 * wrong again before each run, by a program in front that calls the one that is measured; so is the one that
 * does nothing there.
 *
 * A test run takes packets of one page. Longer ones are written into IFACE, a tap device that is up, with
 * vnet_hdr and an MTU of 9000 or more, and the run time is the kernel's own measure; either whole or with
 * nothing but their headers in the first buffer. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <xsf/csum_abi.h>

#define REPEAT 20000
#define ROUNDS 12
#define PLAIN_REPEAT 2000
#define TAP_REPEAT 1000
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
	static const uint8_t head[] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60 };
	static const uint8_t net[] = { 0x20, 1, 0xd, 0xb8 };

	memset(f, 0, HEADERS);
	memcpy(f, head, sizeof(head));
	f[18] = (uint8_t)(udp >> 8);
	f[19] = (uint8_t)udp;
	f[20] = 17;
	f[21] = 64;
	memcpy(f + 22, net, sizeof(net));
	f[37] = 1;
	memcpy(f + 38, net, sizeof(net));
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

		for (int i = 0; i < PLAIN_REPEAT; i++) {
			uint32_t sum = plain_sum(frame + 22, (len - 22) & ~1u);

			__asm__ volatile("" ::"r"(sum) : "memory");
		}
		if (now() - begin < least)
			least = now() - begin;
	}
	return (double)least / PLAIN_REPEAT;
}

static void watch(const struct programs *p, int repair)
{
	struct xsf_csum_policy policy = { .set = 1, .watch = { { 6343, 1, (__u8)repair } } };
	uint32_t zero = 0;

	if (bpf_map_update_elem(p->policy, &zero, &policy, BPF_ANY))
		fail("policy");
}

static void print_row(const char *name, uint32_t payload, double prog, double around, double plain)
{
	printf("%-44s %8u %8.0f %8.0f %8.0f %8.1f", name, payload, prog - around, around, prog,
	       prog / around);
	if (plain > 0)
		printf(" %8.0f %8.2f", plain, (prog - around) / plain);
	printf("\n");
	fflush(stdout);
}

/* spoil: 1 wrong and observed, 2 wrong and repaired. */
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
	print_row(name, payload, prog, around, port == 6343 ? measure_plain(frame, len) : 0);
}

static int open_tap(const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	int fd = open("/dev/net/tun", O_RDWR);

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr))
		fail(name);
	return fd;
}

static void run_time(int prog, uint64_t *ns, uint64_t *nr)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(prog, &info, &len))
		fail("program");
	*ns = info.run_time_ns;
	*nr = info.run_cnt;
}

/* The kernel's measure of a program at the ingress of `name`, least of several rounds of one packet. */
static double measure_tap(const char *name, int prog, const uint8_t *frame, uint32_t len,
			  uint32_t linear)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)if_nametoindex(name),
		    .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = prog, .handle = 1, .priority = 1);
	static uint8_t out[sizeof(struct virtio_net_hdr) + FRAME_MAX];
	struct virtio_net_hdr header = { .hdr_len = (uint16_t)linear };
	uint64_t ns, nr, before_ns, before_nr;
	double least = 1e9;
	int tap = open_tap(name), stats;

	memcpy(out, &header, sizeof(header));
	memcpy(out + sizeof(header), frame, len);
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats < 0 || bpf_tc_hook_create(&hook) || bpf_tc_attach(&hook, &opts))
		fail(name);
	for (int round = 0; round < ROUNDS; round++) {
		run_time(prog, &before_ns, &before_nr);
		for (int i = 0; i < TAP_REPEAT; i++) {
			if (write(tap, out, sizeof(header) + len) < 0)
				fail(name);
		}
		run_time(prog, &ns, &nr);
		if (nr - before_nr < TAP_REPEAT) {
			fprintf(stderr, "csumbench: %s: the program did not run\n", name);
			exit(1);
		}
		if ((double)(ns - before_ns) / (double)(nr - before_nr) < least)
			least = (double)(ns - before_ns) / (double)(nr - before_nr);
	}
	hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS; /* the whole qdisc, which is ours */
	bpf_tc_hook_destroy(&hook);
	close(stats);
	close(tap);
	return least;
}

static void tap_row(const char *what, const struct programs *p, const char *tap, uint32_t payload,
		    uint32_t linear)
{
	static uint8_t frame[FRAME_MAX];
	uint32_t len = make(frame, payload, 6343);
	double around, prog;

	frame[60] ^= what[0] == 'w' ? 0x55 : 0;
	watch(p, 1);
	around = measure_tap(tap, p->nothing, frame, len, linear);
	prog = measure_tap(tap, p->csum, frame, len, linear);
	print_row(what, payload, prog, around, measure_plain(frame, len));
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
	static const struct option options[] = { { "tap", required_argument, NULL, 't' }, { 0 } };
	struct bpf_object *csum, *spoil;
	const char *tap = NULL;
	struct programs p;

	while (getopt_long(argc, argv, "", options, NULL) == 't')
		tap = optarg;
	csum = open_load(optind < argc ? argv[optind] : "build/csum6.bpf.o");
	spoil = open_load(optind + 1 < argc ? argv[optind + 1] : "build/tests/bench/spoil.bpf.o");
	p = (struct programs){
		.csum = program(csum, "xsf_csum6"),
		.nothing = program(spoil, "bench_nothing"),
		.spoil = program(spoil, "bench_spoil"),
		.next = bpf_object__find_map_fd_by_name(spoil, "bench_next"),
		.policy = bpf_object__find_map_fd_by_name(csum, "xsf_csum_policy"),
	};
	printf("%-44s %8s %8s %8s %8s %8s %8s %8s\n", "", "bytes", "above", "empty", "whole",
	       "of empty", "plain", "of plain");
	row("a packet of another port", &p, 1432, 6344, 0);
	row("right", &p, 1432, 6343, 0);
	row("wrong, observed", &p, 1432, 6343, 1);
	row("wrong, repaired", &p, 1432, 6343, 2);
	row("right, no payload", &p, 0, 6343, 0);
	row("right, 3200 bytes", &p, 3200, 6343, 0);
	if (tap) {
		tap_row("right, on a tap", &p, tap, 1432, 0);
		tap_row("wrong, repaired, on a tap", &p, tap, 1432, 0);
		tap_row("right, on a tap", &p, tap, 8900, 0);
		tap_row("right, on a tap, in pieces", &p, tap, 8900, HEADERS);
		tap_row("wrong, repaired, on a tap, in pieces", &p, tap, 8900, HEADERS);
	}
	bpf_object__close(spoil);
	bpf_object__close(csum);
	return 0;
}
