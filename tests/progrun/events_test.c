// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rings that have no room: what they do not get is counted and told, and of flow samples every agent keeps
 * its share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "inputs.h"
#include "kernel.h"
#include "model/store.h"

#define AGENT 0x0a000001
#define RING 65536
#define AGENTS 10

/* One reader of one kind in a place. */
struct reader {
	struct ring_buffer *ring;
	int fd;
	uint64_t got, stands_for;
	uint64_t of_agent[AGENTS]; /* stands for */
	unsigned int left;	   /* to read */
};

static struct kernel *kernel;

static int on_event(void *arg, void *data, size_t size)
{
	const struct xsf_event *e = data;
	struct reader *r = arg;

	(void)size;
	r->got++;
	r->stands_for += 1 + e->shed;
	r->of_agent[wire_get32(e->agent.addr + 12) - AGENT] += 1 + e->shed;
	return --r->left ? 0 : -1;
}

static void want(uint32_t place, int samples, uint8_t mark)
{
	int fd = kernel_map(kernel, "xsf_event_wanted");
	struct xsf_event_wanted wanted;
	uint32_t zero = 0;

	assert_int_equal(bpf_map_lookup_elem(fd, &zero, &wanted), 0);
	(samples ? wanted.samples : wanted.drops)[place] = mark;
	assert_int_equal(bpf_map_update_elem(fd, &zero, &wanted, BPF_ANY), 0);
}

static void listen_at(struct reader *r, uint32_t place, int samples, uint8_t mark)
{
	int rings = kernel_map(kernel, samples ? "xsf_sample_rings" : "xsf_event_rings");

	memset(r, 0, sizeof(*r));
	r->fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "test", 0, 0, RING, NULL);
	assert_true(r->fd >= 0);
	r->ring = ring_buffer__new(r->fd, on_event, r, NULL);
	assert_non_null(r->ring);
	assert_int_equal(bpf_map_update_elem(rings, &place, &r->fd, BPF_ANY), 0);
	want(place, samples, mark);
}

static void end(struct reader *r)
{
	ring_buffer__free(r->ring);
	close(r->fd);
}

static void read_some(struct reader *r, unsigned int nr)
{
	r->left = nr;
	ring_buffer__consume(r->ring);
}

static struct xsf_event_counts counts_of(uint32_t place)
{
	struct xsf_event_counts of_cpu[256], sum = { 0 };
	int nr = libbpf_num_possible_cpus();

	assert_in_range(nr, 1, 256);
	assert_int_equal(
		bpf_map_lookup_elem(kernel_map(kernel, "xsf_event_counts"), &place, of_cpu), 0);
	for (int i = 0; i < nr; i++) {
		sum.drops_sent += of_cpu[i].drops_sent;
		sum.drops_shed += of_cpu[i].drops_shed;
		sum.samples_sent += of_cpu[i].samples_sent;
		sum.samples_shed += of_cpu[i].samples_shed;
	}
	return sum;
}

/* A datagram of an agent with so many samples. */
static void send(uint32_t agent, uint32_t samples, int drops)
{
	static uint32_t number;
	struct wire w = { 0 };
	static struct wire frame;

	number++;
	wire_datagram(&w, AGENT + agent, 0, number, number, samples);
	for (uint32_t i = 0; i < samples; i++) {
		uint32_t body = drops ? wire_drop(&w, number, 0, 1, 0, 1, 0) :
					wire_flow(&w, number, 1, 100, 1, 2, 0);

		wire_close(&w, body);
	}
	frame.len = 0;
	wire_carry4(&frame, w.p, w.len, 6343);
	assert_int_equal(kernel_run(kernel, KERNEL_XDP, frame.p, frame.len), 2);
}

static int setup(void **state)
{
	struct xsf_config config;

	(void)state;
	kernel_pin();
	xsf_config_defaults(&config);
	kernel = kernel_new(&config);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kernel_free(kernel);
	return 0;
}

/* A reader that takes a tenth of what comes, of agents that send in turn and of one that sends ten times as
 * much: each has its share of what is told, and all of it is told. */
static void test_samples_shed_fairly(void **state)
{
	struct xsf_event_counts c;
	struct reader r;
	uint64_t sent = 0, least = UINT64_MAX, most = 0;

	(void)state;
	listen_at(&r, 3, 1, 1);
	for (uint32_t n = 0; n < 8000; n++) {
		send(0, 10, 0);
		send(1 + n % (AGENTS - 1), 9, 0);
		sent += 19;
		read_some(&r, 2);
	}
	c = counts_of(3);
	assert_int_equal(c.samples_sent + c.samples_shed, sent);
	assert_int_equal(c.drops_sent + c.drops_shed, 0);
	read_some(&r, 100000);
	assert_int_equal(r.got, c.samples_sent);
	assert_in_range(r.got, 15000, 40000);
	/* A sample stands for 16 or less: standard deviations below 1,200, 1,100 and 360. */
	assert_in_range(r.stands_for, sent - 6000, sent + 6000);
	assert_in_range(r.of_agent[0], 75000, 85000);
	for (uint32_t i = 1; i < AGENTS; i++) {
		least = r.of_agent[i] < least ? r.of_agent[i] : least;
		most = r.of_agent[i] > most ? r.of_agent[i] : most;
	}
	printf("# of 80000: %llu; of 8000 each: %llu to %llu; %llu events\n",
	       (unsigned long long)r.of_agent[0], (unsigned long long)least,
	       (unsigned long long)most, (unsigned long long)r.got);
	assert_in_range(least, 6200, 8000);
	assert_in_range(most, 8000, 9800);
	end(&r);
}

/* A burst leaves room for others even when nobody reads at all. */
static void test_room_for_others(void **state)
{
	struct reader r;

	(void)state;
	listen_at(&r, 0, 1, 1);
	for (uint32_t n = 0; n < 100; n++)
		send(0, 10, 0);
	for (uint32_t n = 0; n < 100; n++)
		send(1, 10, 0);
	read_some(&r, 100000);
	assert_true(r.of_agent[0] > 0);
	assert_true(r.of_agent[1] > 0);
	/* half of the ring is filled at once */
	assert_true(r.got > RING / 2 / (XSF_EVENT_FLOW_LEN + 8));
	end(&r);
}

static void test_drops_full(void **state)
{
	const uint32_t room = RING / (sizeof(struct xsf_event) + 8);
	struct reader r, other;
	struct xsf_event_counts c;

	(void)state;
	listen_at(&r, 2, 0, 1);
	listen_at(&other, 7, 0, 1);
	for (uint32_t n = 0; n < 100; n++) {
		send(0, 5, 1);
		read_some(&other, 1000);
	}
	assert_int_equal(other.got, 500);
	assert_int_equal(other.stands_for, 500);
	c = counts_of(2);
	assert_int_equal(c.drops_sent, room);
	assert_int_equal(c.drops_sent + c.drops_shed, 500);
	assert_int_equal(kernel_snapshot(kernel)->totals.drops_shed, 500 - room);
	assert_int_equal(kernel_snapshot(kernel)->totals.sample_drop, 500);
	read_some(&r, 1000);
	assert_int_equal(r.stands_for, room);
	/* told with the next */
	send(0, 1, 1);
	read_some(&r, 1000);
	assert_int_equal(r.got, room + 1);
	assert_int_equal(r.stands_for, 501);
	end(&other);

	/* Another reader in the place knows nothing of that. */
	for (uint32_t n = 0; n < 100; n++)
		send(0, 5, 1);
	assert_true(counts_of(2).drops_shed > 500 - room);
	want(2, 0, 0);
	end(&r);
	listen_at(&r, 2, 0, 2);
	send(0, 1, 1);
	read_some(&r, 1000);
	assert_int_equal(r.got, 1);
	assert_int_equal(r.stands_for, 1);
	/* nobody wants: nothing comes */
	want(2, 0, 0);
	send(0, 1, 1);
	read_some(&r, 1000);
	assert_int_equal(r.got, 1);
	end(&r);
}

/* Wanted by somebody whose ring has gone. */
static void test_no_ring(void **state)
{
	(void)state;
	want(5, 0, 1);
	want(5, 1, 1);
	send(0, 5, 1);
	send(0, 5, 0);
	assert_int_equal(kernel_snapshot(kernel)->totals.sample_drop, 5);
	assert_int_equal(counts_of(5).drops_sent + counts_of(5).drops_shed, 0);
	assert_int_equal(kernel_snapshot(kernel)->totals.drops_shed, 0);
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(test_samples_shed_fairly),
		WITH(test_room_for_others),
		WITH(test_drops_full),
		WITH(test_no_ring),
	};

	if (geteuid()) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
