// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cost of the XDP program by test run, and of the native build of the same headers, on the same bytes.
 *
 *   progbench [--hold IFACE] [OBJECT [BUMP_OBJECT]]
 *
 * Prints a table, in ns a datagram. Rows that say "in turn" run every datagram once, then all again; the
 * others each REPEAT times in a row. Either way its numbers grow from run to run as its agent's would. What
 * a program that does nothing takes in the place of ours is the column "around", and is taken off; so is
 * what surrounds the native build.
 *
 * IFACE is a veth that nothing arrives at: while a program is attached to it the kernel does not rebuild its
 * dispatcher before and after each test run, which takes longer than the runs. */
#include <arpa/inet.h>
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
#include "bump.h"
#include "mix.h"
#include "model/store.h"

#define DATAGRAMS 256
#define SET_MAX 16384
#define REPEAT 256
#define ROUNDS 8
#define TURN_ROUNDS 8

/* Where things lie in a frame of mix.c; in its payload; in a sample from its type on; and in one of the
 * `same` kind. */
#define FRAME_PORT 36
#define FRAME_PAYLOAD 42
#define PAYLOAD_SEQUENCE 16
#define PAYLOAD_UPTIME 20
#define PAYLOAD_COUNT 24
#define PAYLOAD_SAMPLES 28
#define SAMPLE_SEQUENCE 8
#define SAMPLE_SOURCE 12
#define SAMPLE_EXPANDED_SOURCE 16
#define SAMPLE_INPUT 28
#define SAMPLE_ETHERTYPE 76
#define SAMPLE_PROTOCOL 87

struct set {
	struct mix mix;
	uint64_t seed;
	uint8_t frame[SET_MAX][MIX_MAX + 64];
	uint32_t len[SET_MAX];
	struct bump bump[SET_MAX];
	uint32_t nr;
	int in_turn;
	double payload;
};

/* Programs under test, and what test runs start with. */
struct programs {
	int tested;
	int nothing;
	int bump;
	int next;  /* map: what bump runs next */
	int bumps; /* map: what it adds to */
	/* maps of a reader of notifications; ring -1: none listens */
	int rings, wanted, ring;
	struct ring_buffer *reader; /* NULL: it does not read */
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

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return ntohl(v);
}

static void add_field(struct bump *b, uint32_t off, uint32_t by)
{
	if (b->nr < BUMP_FIELDS) {
		b->field[b->nr].off = (uint16_t)off;
		b->field[b->nr++].by = (uint16_t)by;
	}
}

static void find_numbers(struct bump *b, const uint8_t *frame)
{
	const uint8_t *p = frame + FRAME_PAYLOAD;
	uint32_t nr = get32(p + PAYLOAD_COUNT), off = PAYLOAD_SAMPLES, key[BUMP_FIELDS], first;

	b->nr = 0;
	add_field(b, FRAME_PAYLOAD + PAYLOAD_SEQUENCE, 1);
	add_field(b, FRAME_PAYLOAD + PAYLOAD_UPTIME, 10);
	first = b->nr;
	for (uint32_t i = 0; i < nr && first + i < BUMP_FIELDS; i++) {
		uint32_t type = get32(p + off), same = 1;

		key[i] = get32(p + off + (type > 2 ? SAMPLE_EXPANDED_SOURCE : SAMPLE_SOURCE)) |
			 (type & 1) << 31;
		add_field(b, FRAME_PAYLOAD + off + SAMPLE_SEQUENCE, 0);
		for (uint32_t n = 0; n < i; n++) {
			if (key[n] == key[i])
				same++;
		}
		for (uint32_t n = 0; n <= i; n++) {
			if (key[n] == key[i])
				b->field[first + n].by = (uint16_t)same;
		}
		off += 8 + get32(p + off + 4);
	}
}

/* The next datagrams of the same agents: equal but for their numbers. */
static void fill(struct set *s)
{
	s->mix.seed = s->seed;
	s->payload = 0;
	for (uint32_t i = 0; i < s->nr; i++) {
		uint8_t payload[MIX_MAX];
		uint32_t len = mix_datagram(&s->mix, payload);

		s->len[i] = mix_frame(payload, len, 1, s->frame[i]);
		find_numbers(&s->bump[i], s->frame[i]);
		s->payload += len;
	}
	s->payload /= s->nr;
}

static void begin_set(struct set *s, const struct mix *m, uint32_t nr, int in_turn)
{
	free(s->mix.sequence);
	s->mix = *m;
	s->mix.sequence = calloc(m->agents * (2 * m->interfaces + 1), sizeof(*m->sequence));
	if (!s->mix.sequence)
		fail("memory");
	s->seed = m->seed;
	s->nr = nr;
	s->in_turn = in_turn;
	fill(s);
}

static void test_run(const struct programs *p, int fd, struct set *s, uint32_t i, uint32_t *took)
{
	uint32_t zero = 0;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = s->frame[i], .data_size_in = s->len[i],
		    .repeat = s->in_turn ? 1 : REPEAT);

	if (!s->in_turn && bpf_map_update_elem(p->bumps, &zero, &s->bump[i], BPF_ANY))
		fail("bump");
	if (bpf_prog_test_run_opts(fd, &opts))
		fail("test run");
	if (opts.retval != XDP_PASS) {
		fprintf(stderr, "test run: verdict %u\n", opts.retval);
		exit(1);
	}
	if (opts.duration < *took)
		*took = opts.duration;
	if (p->reader)
		ring_buffer__consume(p->reader);
}

/* Mean over the datagrams of the least of several measurements each: other load only adds. */
static double bench_prog(const struct programs *p, int tested, struct set *s)
{
	uint32_t rounds = s->in_turn ? TURN_ROUNDS : ROUNDS, zero = 0;
	static uint32_t least[SET_MAX];
	double sum = 0;

	if (bpf_map_update_elem(p->next, &zero, &tested, BPF_ANY))
		fail("next program");
	memset(least, 0xff, sizeof(least));
	for (uint32_t round = 0; round < rounds; round++) {
		for (uint32_t i = 0; i < s->nr; i++)
			test_run(p, s->in_turn ? tested : p->bump, s, i, &least[i]);
		if (s->in_turn)
			fill(s);
	}
	for (uint32_t i = 0; i < s->nr; i++)
		sum += least[i];
	return sum / s->nr;
}

static void bump_frame(uint8_t *frame, const struct bump *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		uint32_t v = htonl(get32(frame + b->field[i].off) + b->field[i].by);

		memcpy(frame + b->field[i].off, &v, 4);
	}
	asm volatile("" ::"r"(frame) : "memory");
}

/* One round over the datagrams, through a store or through nothing; ns in all. */
static uint64_t native_round(struct set *s, struct xsf_store *store)
{
	static uint8_t frame[MIX_MAX + 64];
	uint64_t begin = now();

	for (uint32_t i = 0; i < s->nr; i++) {
		if (s->in_turn) {
			if (store)
				xsf_store_frame(store, s->frame[i], s->len[i], s->len[i], 0, begin);
			continue;
		}
		memcpy(frame, s->frame[i], s->len[i]);
		for (uint32_t r = 0; r < REPEAT; r++) {
			bump_frame(frame, &s->bump[i]);
			if (store)
				xsf_store_frame(store, frame, s->len[i], s->len[i], 0, begin);
		}
	}
	return now() - begin;
}

static double bench_native(struct set *s)
{
	uint32_t rounds = s->in_turn ? TURN_ROUNDS : ROUNDS;
	uint64_t least = UINT64_MAX, around = UINT64_MAX;
	struct xsf_config config;
	struct xsf_store *store;

	xsf_config_defaults(&config);
	store = xsf_store_new(&config);
	if (!store)
		fail("store");
	for (uint32_t round = 0; round < rounds; round++) {
		uint64_t took = native_round(s, NULL);

		if (took < around)
			around = took;
		took = native_round(s, store);
		if (took < least)
			least = took;
		if (s->in_turn)
			fill(s);
	}
	xsf_store_free(store);
	return (double)(least - around) / s->nr / (s->in_turn ? 1 : REPEAT);
}

/* Returns what the program took. */
static double row(const char *name, const struct programs *p, struct set *s)
{
	double around = bench_prog(p, p->nothing, s), prog = bench_prog(p, p->tested, s) - around;
	double native = bench_native(s);

	printf("%-44s %8.0f %8.0f %8.0f %8.2f %8.0f\n", name, s->payload, prog, native,
	       prog / native, around);
	fflush(stdout);
	return prog;
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

		for (uint32_t n = 0; n < get32(p + PAYLOAD_COUNT); n++) {
			change(sample, n);
			sample += 8 + get32(sample + 4);
		}
		find_numbers(&s->bump[i], s->frame[i]);
	}
}

/* The fields of both kinds take 32 bytes. */
static void notification(uint8_t *sample, uint32_t i)
{
	static const uint32_t fields[] = { 0, 1, 0, 1, 2, 285 };

	(void)i;
	sample[3] = 5;
	for (uint32_t n = 0; n < sizeof(fields) / sizeof(fields[0]); n++) {
		uint32_t v = htonl(fields[n]);

		memcpy(sample + 12 + 4 * n, &v, 4);
	}
}

static int ignore(void *arg, void *data, size_t size)
{
	(void)arg;
	(void)data;
	(void)size;
	return 0;
}

/* A reader whose ring has this many bytes, the first place's. */
static void listen_to(struct programs *p, uint32_t bytes, int reads)
{
	uint64_t wanted[2] = { 0 };
	uint32_t zero = 0;

	((uint8_t *)wanted)[0] = 1;
	p->ring = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "bench", 0, 0, bytes, NULL);
	if (p->ring < 0 || bpf_map_update_elem(p->rings, &zero, &p->ring, BPF_ANY) ||
	    bpf_map_update_elem(p->wanted, &zero, wanted, BPF_ANY))
		fail("ring");
	p->reader = reads ? ring_buffer__new(p->ring, ignore, NULL, NULL) : NULL;
}

static void listen_no_more(struct programs *p)
{
	uint64_t wanted[2] = { 0 };
	uint32_t zero = 0;

	bpf_map_update_elem(p->wanted, &zero, wanted, BPF_ANY);
	bpf_map_delete_elem(p->rings, &zero);
	ring_buffer__free(p->reader);
	p->reader = NULL;
	close(p->ring);
}

static void other_port(struct set *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		s->frame[i][FRAME_PORT + 1]++;
}

static void no_samples(struct set *s)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		memset(s->frame[i] + FRAME_PAYLOAD + PAYLOAD_COUNT, 0, 4);
		find_numbers(&s->bump[i], s->frame[i]);
	}
}

static void breakdown(const struct programs *p, struct set *s)
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

	begin_set(s, &same, DATAGRAMS, 0);
	other_port(s);
	row("a frame of another port", p, s);
	begin_set(s, &same, DATAGRAMS, 0);
	no_samples(s);
	row("a datagram without samples", p, s);
	for (uint32_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		begin_set(s, &same, DATAGRAMS, 0);
		if (edits[i].change)
			edit(s, edits[i].change);
		row(edits[i].name, p, s);
	}
}

/* Notifications as large as the samples of `same`, and what one takes more than such a sample. */
static void drops(struct programs *p, struct set *s)
{
	static const struct {
		const char *name;
		uint32_t ring;
		int reads;
	} kinds[] = {
		{ "8 drop samples, nobody listens", 0, 0 },
		{ "8 drop samples, the ring is full", 4096, 0 },
		{ "8 drop samples, to a reader", 4 << 20, 1 },
	};
	struct mix same = { .seed = 1, .agents = 1, .interfaces = 1, .same = 1 };
	double plain, took[3];

	begin_set(s, &same, DATAGRAMS, 0);
	plain = row("8 flow samples, RoCE, once more", p, s);
	for (uint32_t i = 0; i < 3; i++) {
		begin_set(s, &same, DATAGRAMS, 0);
		edit(s, notification);
		if (kinds[i].ring)
			listen_to(p, kinds[i].ring, kinds[i].reads);
		took[i] = row(kinds[i].name, p, s);
		if (kinds[i].ring)
			listen_no_more(p);
	}
	printf("a notification more than such a flow sample, ns: nobody listens %.0f, full %.0f, "
	       "to a reader %.0f\n",
	       (took[0] - plain) / 8, (took[1] - plain) / 8, (took[2] - plain) / 8);
}

static void mixed(const struct programs *p, struct set *s)
{
	struct mix few = { .seed = 2, .agents = 10, .interfaces = 10 };
	struct mix many = { .seed = 3, .agents = 2000, .interfaces = 32 };
	double at_few, at_many;

	begin_set(s, &few, DATAGRAMS, 0);
	row("mixed, 256, each repeated: 100 sources", p, s);
	begin_set(s, &few, DATAGRAMS, 1);
	row("mixed, 256 in turn: 100 sources", p, s);
	begin_set(s, &few, SET_MAX, 1);
	at_few = row("mixed, 16384 in turn: 100 sources", p, s);
	begin_set(s, &many, SET_MAX, 1);
	at_many = row("mixed, 16384 in turn: 64000 sources", p, s);
	printf("%-44s %8s %8.2f\n", "64000 sources to 100", "", at_many / at_few);
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

static struct bpf_object *load(const char *path)
{
	struct bpf_object *object = bpf_object__open(path);
	struct bpf_map *map;

	if (!object)
		fail(path);
	bpf_object__for_each_map(map, object) bpf_map__set_pin_path(map, NULL);
	if (bpf_object__load(object))
		fail(path);
	return object;
}

static int program(struct bpf_object *object, const char *name)
{
	return bpf_program__fd(bpf_object__find_program_by_name(object, name));
}

int main(int argc, char **argv)
{
	static const struct option known[] = { { "hold", 1, NULL, 'h' }, {} };
	struct bpf_insn insns[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
				    { .code = BPF_JMP | BPF_EXIT } };
	/* As libbpf loads the others, or they do not fit into one map. */
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_XDP);
	struct bpf_object *object, *bump;
	static struct set set;
	struct programs p;
	int hold = 0, c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c != 'h' || !(hold = (int)if_nametoindex(optarg)))
			return 2;
	}
	object = load(optind < argc ? argv[optind] : "build/xdp_sflow.bpf.o");
	bump = load(optind + 1 < argc ? argv[optind + 1] : "build/tests/bench/bump.bpf.o");
	p.tested = program(object, "xsf_xdp");
	p.nothing = bpf_prog_load(BPF_PROG_TYPE_XDP, "nothing", "GPL", insns, 2, &opts);
	p.bump = program(bump, "bench_bump");
	p.next = bpf_object__find_map_fd_by_name(bump, "bench_next");
	p.bumps = bpf_object__find_map_fd_by_name(bump, "bench_bumps");
	p.rings = bpf_object__find_map_fd_by_name(object, "xsf_event_rings");
	p.wanted = bpf_object__find_map_fd_by_name(object, "xsf_event_wanted");
	p.reader = NULL;
	if (p.tested < 0 || p.nothing < 0 || p.bump < 0 || p.next < 0 || p.bumps < 0 ||
	    p.rings < 0 || p.wanted < 0)
		fail("programs");
	if (hold && bpf_xdp_attach(hold, p.bump, XDP_FLAGS_DRV_MODE, NULL))
		fail("--hold");
	printf("%-44s %8s %8s %8s %8s %8s\n", "", "bytes", "program", "native", "ratio", "around");
	breakdown(&p, &set);
	drops(&p, &set);
	mixed(&p, &set);
	instructions(p.tested);
	if (hold)
		bpf_xdp_detach(hold, XDP_FLAGS_DRV_MODE, NULL);
	free(set.mix.sequence);
	bpf_object__close(bump);
	bpf_object__close(object);
	return 0;
}
