// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "xdp_sflow.skel.h"

/* A test run of a program without frags wants the frame, 256 bytes before and the kernel's own structure
 * behind it in one page; above, it is refused. */
#define ONE_PAGE 3500

const char *const kernel_program_names[KERNEL_PROGRAMS] = { "xsf_xdp", "xsf_xdp_frags" };

struct kernel {
	struct xdp_sflow *skel;
	int prog[KERNEL_PROGRAMS];
	int nr_cpus;
	void *per_cpu; /* one value of the largest row for each CPU */
	void *agents, *sources, *interfaces, *groups, *timeline, *places;
	struct xsf_op_row *ops;
	struct xsf_tos_row *tos;
	struct xsf_rdma_row *rdma;
	struct xsf_snapshot snapshot;
	/* a reader in the last place; NULL: none */
	struct ring_buffer *reader;
	int ring[2];
	void (*each)(void *arg, const struct xsf_event *event);
	void *arg;
};

/* Half full they would be shed: more than twice what one frame can give. */
#define RING (1 << 19)
#define READER (XSF_EVENT_READERS - 1)

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint32_t pinned;

void kernel_pin(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		die("CPUs");
	while (!CPU_ISSET(pinned, &cpus))
		pinned++;
	CPU_ZERO(&cpus);
	CPU_SET(pinned, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("CPU");
}

uint32_t kernel_cpu(void)
{
	return pinned;
}

static void *map_table(struct bpf_map *map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t len = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *p = mmap(NULL, (len + page - 1) / page * page, PROT_READ, MAP_SHARED,
		       bpf_map__fd(map), 0);

	if (p == MAP_FAILED)
		die(bpf_map__name(map));
	return p;
}

static void unmap_table(struct bpf_map *map, void *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t len = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);

	munmap(p, (len + page - 1) / page * page);
}

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("memory");
	return p;
}

struct kernel *kernel_new(const struct xsf_config *config)
{
	struct kernel *k = zeroed(1, sizeof(*k));
	size_t rows = (size_t)XSF_GROUPS * XSF_DIRECTIONS;
	struct bpf_map *map;

	k->skel = xdp_sflow__open();
	if (!k->skel)
		die("opening the object");
	bpf_object__for_each_map(map, k->skel->obj) bpf_map__set_pin_path(map, NULL);
	memcpy((void *)&k->skel->rodata->xsf_config, config, sizeof(*config));
	if (xdp_sflow__load(k->skel))
		die("loading the object (root?)");
	k->prog[KERNEL_XDP] = bpf_program__fd(k->skel->progs.xsf_xdp);
	k->prog[KERNEL_FRAGS] = bpf_program__fd(k->skel->progs.xsf_xdp_frags);
	k->nr_cpus = libbpf_num_possible_cpus();
	k->per_cpu = zeroed((size_t)k->nr_cpus, sizeof(struct xsf_tos_row));
	k->agents = map_table(k->skel->maps.xsf_agents);
	k->sources = map_table(k->skel->maps.xsf_sources);
	k->interfaces = map_table(k->skel->maps.xsf_interfaces);
	k->groups = map_table(k->skel->maps.xsf_groups);
	k->timeline = map_table(k->skel->maps.xsf_timeline);
	k->places = map_table(k->skel->maps.xsf_places);
	k->ops = zeroed(rows * XSF_CARRIERS, sizeof(*k->ops));
	k->tos = zeroed(rows, sizeof(*k->tos));
	k->rdma = zeroed(rows, sizeof(*k->rdma));
	return k;
}

void kernel_free(struct kernel *k)
{
	if (!k)
		return;
	unmap_table(k->skel->maps.xsf_agents, k->agents);
	unmap_table(k->skel->maps.xsf_sources, k->sources);
	unmap_table(k->skel->maps.xsf_interfaces, k->interfaces);
	unmap_table(k->skel->maps.xsf_groups, k->groups);
	unmap_table(k->skel->maps.xsf_timeline, k->timeline);
	unmap_table(k->skel->maps.xsf_places, k->places);
	kernel_listen(k, NULL, NULL);
	xdp_sflow__destroy(k->skel);
	free(k->per_cpu);
	free(k->ops);
	free(k->tos);
	free(k->rdma);
	free(k);
}

int kernel_takes(enum kernel_program which, uint32_t len)
{
	return len >= 14 && (which == KERNEL_FRAGS || len <= ONE_PAGE);
}

int kernel_map(struct kernel *k, const char *name)
{
	return bpf_object__find_map_fd_by_name(k->skel->obj, name);
}

static int on_event(void *arg, void *data, size_t size)
{
	const struct xsf_event *event = data;
	struct kernel *k = arg;

	if (size != (event->flags & XSF_EVENT_FLOW ? XSF_EVENT_FLOW_LEN : sizeof(*event)) ||
	    !event->ns)
		die("an event's size or time");
	k->each(k->arg, event);
	return 0;
}

void kernel_listen(struct kernel *k, void (*each)(void *arg, const struct xsf_event *event),
		   void *arg)
{
	struct bpf_map *const maps[] = { k->skel->maps.xsf_event_rings,
					 k->skel->maps.xsf_sample_rings };
	struct xsf_event_wanted wanted = { 0 };
	uint32_t place = READER, zero = 0;

	k->each = each;
	k->arg = arg;
	wanted.drops[READER] = wanted.samples[READER] = each != NULL;
	if (bpf_map_update_elem(bpf_map__fd(k->skel->maps.xsf_event_wanted), &zero, &wanted,
				BPF_ANY))
		die("xsf_event_wanted");
	if (!each && k->reader) {
		ring_buffer__free(k->reader);
		k->reader = NULL;
		close(k->ring[0]);
		close(k->ring[1]);
	}
	for (int i = 0; i < 2 && each && !k->reader; i++) {
		k->ring[i] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "events", 0, 0, RING, NULL);
		if (k->ring[i] < 0 ||
		    bpf_map_update_elem(bpf_map__fd(maps[i]), &place, &k->ring[i], BPF_ANY))
			die("ring");
	}
	if (!each || k->reader)
		return;
	k->reader = ring_buffer__new(k->ring[0], on_event, k, NULL);
	if (!k->reader || ring_buffer__add(k->reader, k->ring[1], on_event, k))
		die("reader");
}

int kernel_run(struct kernel *k, enum kernel_program which, const uint8_t *frame, uint32_t len)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = len, .repeat = 1);

	if (bpf_prog_test_run_opts(k->prog[which], &opts)) {
		printf("# a frame of %u bytes, %s\n", len, kernel_program_names[which]);
		die("test run");
	}
	if (k->reader && ring_buffer__consume(k->reader) < 0)
		die("rings");
	return (int)opts.retval;
}

void kernel_local(struct kernel *k, const uint8_t addr[16])
{
	uint8_t one = 1;

	if (bpf_map_update_elem(bpf_map__fd(k->skel->maps.xsf_local), addr, &one, BPF_ANY))
		die("xsf_local");
}

void kernel_allow(struct kernel *k, const uint8_t addr[16], uint32_t prefixlen)
{
	struct xsf_prefix_key key = { .prefixlen = prefixlen };
	uint8_t one = 1;

	memcpy(key.addr, addr, 16);
	if (bpf_map_update_elem(bpf_map__fd(k->skel->maps.xsf_allow), &key, &one, BPF_ANY))
		die("xsf_allow");
}

void kernel_group(struct kernel *k, uint32_t slot, uint32_t generation, uint8_t group)
{
	struct xsf_group value = { .generation = generation, .group = group };
	struct xsf_group in_use = { .group = 1 };
	int fd = bpf_map__fd(k->skel->maps.xsf_groups);
	uint32_t nobody = 0;

	if (bpf_map_update_elem(fd, &slot, &value, BPF_ANY) ||
	    bpf_map_update_elem(fd, &nobody, &in_use, BPF_ANY))
		die("xsf_groups");
}

/* Adds up the CPUs' values at `index`, word by word. */
static void sum_cpus(struct kernel *k, struct bpf_map *map, uint32_t index, void *out, size_t size)
{
	const uint64_t *from = k->per_cpu;
	size_t words = size / sizeof(uint64_t);
	uint64_t *to = out;

	if (bpf_map_lookup_elem(bpf_map__fd(map), &index, k->per_cpu))
		die(bpf_map__name(map));
	memset(out, 0, size);
	for (int cpu = 0; cpu < k->nr_cpus; cpu++) {
		for (size_t i = 0; i < words; i++)
			to[i] += from[i];
		from += words;
	}
}

void kernel_port(struct kernel *k, uint16_t port, struct xsf_port *sum)
{
	struct xsf_port *rows = k->per_cpu;

	memset(sum, 0, sizeof(*sum));
	for (uint32_t i = 0; i < XSF_PORT_ROWS; i++) {
		if (bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.xsf_ports), &i, rows))
			die("xsf_ports");
		for (int cpu = 0; cpu < k->nr_cpus; cpu++) {
			if (rows[cpu].port != port)
				continue;
			sum->datagrams += rows[cpu].datagrams;
			sum->fragments_first += rows[cpu].fragments_first;
			sum->consumed += rows[cpu].consumed;
			sum->denied_dropped += rows[cpu].denied_dropped;
		}
	}
}

void kernel_control(struct kernel *k, struct xsf_control control[XSF_TABLES])
{
	for (uint32_t i = 0; i < XSF_TABLES; i++) {
		if (bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.xsf_control), &i, &control[i]))
			die("xsf_control");
	}
}

uint32_t kernel_find(struct kernel *k, enum xsf_table table, const void *key)
{
	struct bpf_map *map = table == XSF_TABLE_AGENTS ? k->skel->maps.xsf_agent_ids :
							  k->skel->maps.xsf_source_ids;
	uint32_t slot = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(map), key, &slot))
		return 0;
	return slot;
}

static uint32_t slots_used(const struct xsf_control *c, uint32_t max)
{
	return c->next + 1 < max ? (uint32_t)c->next + 1 : max;
}

static void read_high(struct kernel *k)
{
	int fd = bpf_map__fd(k->skel->maps.xsf_reason_ids);
	struct xsf_snapshot *s = &k->snapshot;
	struct xsf_reason_key *was = NULL;

	s->nr_high = 0;
	while (s->nr_high < XSF_REASONS_HIGH &&
	       !bpf_map_get_next_key(fd, was, &s->high[s->nr_high].key)) {
		was = &s->high[s->nr_high].key;
		if (bpf_map_lookup_elem(fd, was, &s->high[s->nr_high].count))
			die("xsf_reason_ids");
		s->nr_high++;
	}
}

const struct xsf_snapshot *kernel_snapshot(struct kernel *k)
{
	struct xsf_snapshot *s = &k->snapshot;
	struct xsf_control control[XSF_TABLES];
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	s->now_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	kernel_control(k, control);
	s->agents = k->agents;
	s->nr_agents = slots_used(&control[XSF_TABLE_AGENTS], XSF_AGENTS);
	s->sources = k->sources;
	s->interfaces = k->interfaces;
	s->groups = k->groups;
	s->nr_sources = slots_used(&control[XSF_TABLE_SOURCES], XSF_SOURCES);
	s->nr_groups = XSF_GROUPS;
	sum_cpus(k, k->skel->maps.xsf_totals, 0, &s->totals, sizeof(s->totals));
	sum_cpus(k, k->skel->maps.xsf_reasons, 0, &s->reasons, sizeof(s->reasons));
	for (uint32_t row = 0; row < XSF_GROUPS * XSF_DIRECTIONS; row++) {
		sum_cpus(k, k->skel->maps.xsf_tos, row, &k->tos[row], sizeof(k->tos[row]));
		sum_cpus(k, k->skel->maps.xsf_rdma, row, &k->rdma[row], sizeof(k->rdma[row]));
	}
	for (uint32_t row = 0; row < XSF_GROUPS * XSF_DIRECTIONS * XSF_CARRIERS; row++)
		sum_cpus(k, k->skel->maps.xsf_ops, row, &k->ops[row], sizeof(k->ops[row]));
	s->ops = k->ops;
	s->tos = k->tos;
	s->rdma = k->rdma;
	s->timeline = k->timeline;
	s->places = k->places;
	s->nr_places = XSF_PLACES;
	read_high(k);
	return s;
}
