// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sends sFlow datagrams as frames that go through a driver's XDP path without a copy: a test run of
 * live.bpf.c with live frames, redirected to a device.
 *
 *   live [OPTION]... [SCHEDSTAT]...
 *     --object FILE      live.bpf.o
 *     --to IFACE         a veth whose peer has XDP or GRO; without it the frames are dropped at once
 *     --hold IFACE       a veth that nothing arrives at: while the sender's program is attached to it the
 *                        kernel does not rebuild its dispatcher, with a pause of many ms, at each burst
 *     --count N          frames (default 100000)
 *     --rate N           frames a second, in bursts of BURST; 0 (default): without a pause
 *     --frames N         different ones, sent in turn (default 4096)
 *     --agents N --interfaces N   that the datagrams speak of (default 10 and 10)
 *     --stats ID         have the kernel measure this program meanwhile
 *
 * Sends every frame once to warm up, then what was asked for, and prints key=value lines: sent, total (with
 * the warm-up), failed; ns: wall, self (CPU time of this process while it sent, softirqs that ran in it
 * included), own (with making the frames), tasks (CPU time of those whose /proc/.../schedstat are named),
 * busy (the whole machine's, by /proc/stat). */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <getopt.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "live.h"
#include "mix.h"

#define BURST 1024
#define SEED 2
#define FRAMES_MAX 65536
/* What a veth's ring of 256 takes with room to spare; the kernel polls it after each batch. */
#define BATCH 64

struct options {
	const char *object;
	const char *to;
	const char *hold;
	uint64_t count;
	uint64_t rate;
	uint32_t frames;
	uint32_t agents;
	uint32_t interfaces;
	uint32_t stats; /* program id */
	char **tasks;
	int nr_tasks;
};

struct sender {
	struct bpf_object *object;
	int prog;
	int states; /* map */
	struct live_frame *frames;
	uint32_t nr_frames;
	struct mix mix;
	uint64_t spent; /* CPU ns of this process while it sent */
};

struct clocks {
	uint64_t wall;
	uint64_t self;
	uint64_t tasks;
	uint64_t busy; /* user, nice, system, irq, softirq of all CPUs */
	uint64_t run_time;
	uint64_t run_count;
	struct live_state state;
};

static void fail(const char *what)
{
	fprintf(stderr, "live: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The first number of a schedstat file is the time on a CPU, in ns. */
static uint64_t task_ns(const char *path)
{
	unsigned long long ns;
	FILE *f = fopen(path, "re");

	if (!f || fscanf(f, "%llu", &ns) != 1)
		fail(path);
	fclose(f);
	return ns;
}

static uint64_t busy_ns(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	FILE *f = fopen("/proc/stat", "re");

	if (!f || fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
			 &iowait, &irq, &softirq) != 7)
		fail("/proc/stat");
	fclose(f);
	return (user + nice + system + irq + softirq) *
	       (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void read_clocks(struct clocks *c, const struct options *o, int states, int stats_prog)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info), zero = 0;

	memset(c, 0, sizeof(*c));
	for (int i = 0; i < o->nr_tasks; i++)
		c->tasks += task_ns(o->tasks[i]);
	if (stats_prog >= 0 && !bpf_obj_get_info_by_fd(stats_prog, &info, &len)) {
		c->run_time = info.run_time_ns;
		c->run_count = info.run_cnt;
	}
	if (bpf_map_lookup_elem(states, &zero, &c->state))
		fail("state");
	c->busy = busy_ns();
	c->self = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	c->wall = clock_ns(CLOCK_MONOTONIC);
}

/* The next datagrams of the same agents: equal to those before but for their numbers. */
static void fill_frames(struct sender *s)
{
	s->mix.seed = SEED;
	for (uint32_t i = 0; i < s->nr_frames; i++) {
		uint8_t payload[MIX_MAX];
		uint32_t len = mix_datagram(&s->mix, payload);

		s->frames[i].len = mix_frame(payload, len, 1, s->frames[i].bytes);
	}
}

static struct bpf_object *load(const struct options *o)
{
	struct bpf_object *object = bpf_object__open(o->object);
	struct live_config config = { .nr_frames = o->frames };
	struct bpf_map *rodata = NULL, *map;

	if (!object)
		fail(o->object);
	if (o->to) {
		config.ifindex = if_nametoindex(o->to);
		if (!config.ifindex)
			fail(o->to);
	}
	bpf_object__for_each_map(map, object)
	{
		if (strstr(bpf_map__name(map), ".rodata"))
			rodata = map;
	}
	if (!rodata || bpf_map__set_initial_value(rodata, &config, sizeof(config)) ||
	    bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "live_frames"),
				     o->frames) ||
	    bpf_object__load(object))
		fail(o->object);
	return object;
}

static void send_burst(int prog, uint32_t count)
{
	static uint8_t data[LIVE_FRAME_MAX];
	struct xdp_md ctx = { .data_end = sizeof(data) };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = data, .data_size_in = sizeof(data),
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = (int)count,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = BATCH);

	if (bpf_prog_test_run_opts(prog, &opts))
		fail("test run with live frames");
}

/* All frames once, or the first `count`. */
static void send_pass(struct sender *s, uint32_t count, uint64_t rate)
{
	uint64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID), next = clock_ns(CLOCK_MONOTONIC);

	while (count) {
		uint32_t burst = count < BURST ? count : BURST;

		send_burst(s->prog, burst);
		count -= burst;
		if (rate) {
			struct timespec until;

			next += burst * 1000000000ull / rate;
			until.tv_sec = (time_t)(next / 1000000000);
			until.tv_nsec = (long)(next % 1000000000);
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		}
	}
	s->spent += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

/* The frames are made anew before each pass, so a pass is whole or the last. */
static void send_all(struct sender *s, uint64_t count, uint64_t rate)
{
	while (count) {
		uint32_t pass = count < s->nr_frames ? (uint32_t)count : s->nr_frames;

		fill_frames(s);
		send_pass(s, pass, rate);
		count -= pass;
	}
}

static void begin_sender(struct sender *s, const struct options *o)
{
	int fd;

	memset(s, 0, sizeof(*s));
	s->object = load(o);
	s->prog = bpf_program__fd(bpf_object__find_program_by_name(s->object, "live_send"));
	s->states = bpf_object__find_map_fd_by_name(s->object, "live_states");
	fd = bpf_object__find_map_fd_by_name(s->object, "live_frames");
	s->nr_frames = o->frames;
	s->frames = mmap(NULL, o->frames * sizeof(*s->frames), PROT_READ | PROT_WRITE, MAP_SHARED,
			 fd, 0);
	s->mix = (struct mix){ .agents = o->agents, .interfaces = o->interfaces };
	s->mix.sequence = calloc(o->agents * (2 * o->interfaces + 1), sizeof(*s->mix.sequence));
	if (s->frames == MAP_FAILED || !s->mix.sequence)
		fail("memory");
}

static void print(const char *key, uint64_t value)
{
	printf("%s=%llu\n", key, (unsigned long long)value);
}

static void run(const struct options *o)
{
	struct timespec pause = { .tv_nsec = 100000000 };
	int stats_prog = -1, stats = -1, hold = 0;
	struct clocks a, b;
	struct sender s;

	begin_sender(&s, o);
	if (o->hold) {
		hold = (int)if_nametoindex(o->hold);
		if (!hold || bpf_xdp_attach(hold, s.prog, XDP_FLAGS_DRV_MODE, NULL))
			fail(o->hold);
	}

	if (o->stats) {
		stats_prog = bpf_prog_get_fd_by_id(o->stats);
		stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
		if (stats_prog < 0 || stats < 0)
			fail("run times");
	}
	/* The first frames find everything cold, and make the agents and sources. */
	send_all(&s, o->frames, o->rate);
	nanosleep(&pause, NULL);
	read_clocks(&a, o, s.states, stats_prog);
	s.spent = 0;
	send_all(&s, o->count, o->rate);
	nanosleep(&pause, NULL); /* readers are still at it */
	read_clocks(&b, o, s.states, stats_prog);
	print("sent", b.state.sent - a.state.sent);
	print("total", b.state.sent);
	print("failed", b.state.failed);
	print("wall", b.wall - a.wall);
	print("self", s.spent);
	print("own", b.self - a.self);
	print("tasks", b.tasks - a.tasks);
	print("busy", b.busy - a.busy);
	print("run_time", b.run_time - a.run_time);
	print("run_count", b.run_count - a.run_count);
	if (stats >= 0)
		close(stats);
	if (hold)
		bpf_xdp_detach(hold, XDP_FLAGS_DRV_MODE, NULL);
	free(s.mix.sequence);
	bpf_object__close(s.object);
}

static uint32_t number(const char *text, uint32_t most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || end == text || value > most) {
		fprintf(stderr, "live: '%s' is not a number up to %u\n", text, most);
		exit(2);
	}
	return (uint32_t)value;
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "object", 1, NULL, 'o' },	{ "to", 1, NULL, 't' },
		{ "count", 1, NULL, 'c' },	{ "rate", 1, NULL, 'r' },
		{ "frames", 1, NULL, 'f' },	{ "agents", 1, NULL, 'a' },
		{ "stats", 1, NULL, 's' },	{ "hold", 1, NULL, 'h' },
		{ "interfaces", 1, NULL, 'i' }, {}
	};
	struct options o = { .object = "build/tests/bench/live.bpf.o",
			     .count = 100000,
			     .frames = 4096,
			     .agents = 10,
			     .interfaces = 10 };
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 'o')
			o.object = optarg;
		else if (c == 't')
			o.to = optarg;
		else if (c == 'h')
			o.hold = optarg;
		else if (c == 'c')
			o.count = number(optarg, 100000000);
		else if (c == 'r')
			o.rate = number(optarg, 100000000);
		else if (c == 'f')
			o.frames = number(optarg, FRAMES_MAX);
		else if (c == 'a')
			o.agents = number(optarg, 65536);
		else if (c == 'i')
			o.interfaces = number(optarg, 65536);
		else if (c == 's')
			o.stats = number(optarg, UINT32_MAX);
		else
			return 2;
	}
	if (!o.frames || !o.agents || !o.interfaces)
		return 2;
	o.tasks = argv + optind;
	o.nr_tasks = argc - optind;
	run(&o);
	return 0;
}
