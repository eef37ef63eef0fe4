// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "csum_trio.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include "csum6.skel.h"
#include "kernel.h"

#ifndef BPF_F_TEST_SKB_CHECKSUM_COMPLETE
#define BPF_F_TEST_SKB_CHECKSUM_COMPLETE (1U << 2)
#endif
#define TC_ACT_UNSPEC (-1)
#define KERNEL_NAME(name, help) #name,

static const char *const packet_names[] = { XSF_CSUM_PACKET_OUTCOMES(KERNEL_NAME) };
static const char *const names[] = { XSF_CSUM_OUTCOMES(KERNEL_NAME) };
#define NR_PACKET (sizeof(packet_names) / sizeof(packet_names[0]))
#define NR (sizeof(names) / sizeof(names[0]))

struct csum_kernel {
	struct csum6 *skel;
	int prog, nr_cpus;
	uint64_t *per_cpu;
	struct xsf_csum_totals totals, before;
	struct xsf_csum_port port, rows[XSF_CSUM_PORTS];
	struct xsf_csum_source source;
	uint32_t nr_rows; /* that the rules use */
	uint32_t row_port[XSF_MAX_PORTS];
	uint8_t row[XSF_MAX_PORTS];
};

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static void set_policy(struct csum_kernel *k, const struct csum_rules *rules)
{
	struct xsf_csum_policy policy = { .set = 1, .nr_prefixes = rules->nr_from };
	uint32_t zero = 0;
	uint8_t one = 1;

	memcpy(policy.watch, rules->watch, sizeof(policy.watch));
	for (uint32_t i = 0; i < rules->nr_from; i++) {
		struct xsf_prefix_key key = { .prefixlen = rules->from[i].len };

		memcpy(key.addr, rules->from[i].addr, 16);
		if (bpf_map_update_elem(bpf_map__fd(k->skel->maps.xsf_csum_from), &key, &one,
					BPF_ANY))
			die("xsf_csum_from");
	}
	if (bpf_map_update_elem(bpf_map__fd(k->skel->maps.xsf_csum_policy), &zero, &policy,
				BPF_ANY))
		die("xsf_csum_policy");
}

void csum_kernel_rules(struct csum_kernel *k, const struct csum_rules *rules)
{
	k->nr_rows = rules->nr_watch;
	for (uint32_t i = 0; i < k->nr_rows; i++) {
		k->row[i] = rules->watch[i].row;
		k->row_port[i] = rules->watch[i].port;
	}
	if (k->nr_rows) {
		set_policy(k, rules);
		return;
	}
#define KERNEL_ROW(number, index) \
	k->row[k->nr_rows] = (index); \
	k->row_port[k->nr_rows++] = (number);
	XSF_CSUM_DEFAULTS(KERNEL_ROW)
}

struct csum_kernel *csum_kernel_new(const struct csum_rules *rules)
{
	return csum_kernel_new_stale(rules, 0);
}

struct csum_kernel *csum_kernel_new_stale(const struct csum_rules *rules, uint64_t stale_ns)
{
	struct csum_kernel *k = calloc(1, sizeof(*k));
	struct bpf_map *map;

	if (!k)
		die("memory");
	kernel_pin();
	k->skel = csum6__open();
	if (!k->skel)
		die("opening the object");
	bpf_object__for_each_map(map, k->skel->obj) bpf_map__set_pin_path(map, NULL);
	if (stale_ns)
		*(__u64 *)&k->skel->rodata->xsf_csum_stale_ns = stale_ns;
	if (csum6__load(k->skel))
		die("loading the object (root?)");
	k->prog = bpf_program__fd(k->skel->progs.xsf_csum6);
	k->nr_cpus = libbpf_num_possible_cpus();
	k->per_cpu = calloc((size_t)k->nr_cpus, sizeof(struct xsf_csum_totals));
	if (!k->per_cpu)
		die("memory");
	csum_kernel_rules(k, rules);
	return k;
}

void csum_kernel_free(struct csum_kernel *k)
{
	if (!k)
		return;
	csum6__destroy(k->skel);
	free(k->per_cpu);
	free(k);
}

static void sum_cpus(struct csum_kernel *k, struct bpf_map *map, uint32_t index, void *out,
		     size_t size)
{
	const uint64_t *from = k->per_cpu;
	uint64_t *to = out;

	if (bpf_map_lookup_elem(bpf_map__fd(map), &index, k->per_cpu))
		die(bpf_map__name(map));
	memset(out, 0, size);
	for (int cpu = 0; cpu < k->nr_cpus; cpu++) {
		for (size_t i = 0; i < size / sizeof(uint64_t); i++)
			to[i] += *from++;
	}
}

const struct xsf_csum_totals *csum_kernel_totals(struct csum_kernel *k)
{
	sum_cpus(k, k->skel->maps.xsf_csum_totals, 0, &k->totals, sizeof(k->totals));
	return &k->totals;
}

const struct xsf_csum_port *csum_kernel_port(struct csum_kernel *k, uint32_t row)
{
	sum_cpus(k, k->skel->maps.xsf_csum_ports, row, &k->port, sizeof(k->port));
	return &k->port;
}

const struct xsf_csum_source *csum_kernel_source(struct csum_kernel *k, const uint8_t addr[16])
{
	if (bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.xsf_csum_sources), addr, &k->source))
		return NULL;
	return &k->source;
}

uint64_t csum_outcomes(const struct xsf_csum_counts *counts)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < NR; i++)
		sum += (&counts->good)[i];
	return sum;
}

uint64_t csum_kernel_sources(struct csum_kernel *k, uint32_t *nr)
{
	int fd = bpf_map__fd(k->skel->maps.xsf_csum_sources);
	struct xsf_csum_source source;
	struct xsf_csum_addr at, next;
	uint64_t sum = 0;

	*nr = 0;
	for (void *from = NULL; *nr <= XSF_CSUM_SOURCES && !bpf_map_get_next_key(fd, from, &next);
	     from = &at) {
		at = next;
		if (bpf_map_lookup_elem(fd, &at, &source))
			die("xsf_csum_sources");
		sum += csum_outcomes(&source.counts);
		(*nr)++;
	}
	return sum;
}

uint64_t csum_count(const struct xsf_csum_counts *counts, const char *outcome)
{
	for (size_t i = 0; i < NR; i++) {
		if (!strcmp(names[i], outcome))
			return (&counts->good)[i];
	}
	die(outcome);
	return 0;
}

/* The name of the only counter of nr that is one higher than before; "?" when it is not so. */
static const char *moved(const __u64 *now, const __u64 *before, const char *const *name, size_t nr)
{
	const char *found = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (now[i] == before[i])
			continue;
		if (found || now[i] != before[i] + 1)
			return "?";
		found = name[i];
	}
	return found ? found : "none";
}

/* Which outcome was counted: exactly one, of one row. */
static void find_outcome(struct csum_kernel *k, struct csum_result *out)
{
	struct xsf_csum_totals before = k->totals;

	csum_kernel_totals(k);
	assert_int_equal(k->totals.packets, before.packets + 1);
	out->port = 0;
	if (k->totals.datagrams == before.datagrams) {
		out->outcome = moved(&k->totals.not_ip6, &before.not_ip6, packet_names, NR_PACKET);
		return;
	}
	assert_int_equal(k->totals.datagrams, before.datagrams + 1);
	assert_string_equal(moved(&k->totals.not_ip6, &before.not_ip6, packet_names, NR_PACKET),
			    "none");
	out->outcome = "none";
	for (uint32_t i = 0; i < k->nr_rows; i++) {
		const struct xsf_csum_port *row = csum_kernel_port(k, k->row[i]);
		struct xsf_csum_port *was = &k->rows[k->row[i]];
		const char *name = moved(&row->counts.good, &was->counts.good, names, NR);

		if (strcmp(name, "none")) {
			assert_string_equal(out->outcome, "none");
			out->outcome = name;
			out->port = k->row_port[i];
			assert_int_equal(row->port, k->row_port[i]); /* all runs are on one CPU */
			assert_true(row->counts.first_seen_ns && row->counts.last_seen_ns);
		}
		*was = *row;
	}
}

void csum_kernel_run(struct csum_kernel *k, const uint8_t *frame, uint32_t len,
		     const struct csum_how *how, struct csum_result *out)
{
	struct __sk_buff ctx = { .gso_size = how->gso_size, .gso_segs = how->gso_size ? 2 : 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = len,
		    .data_out = out->p, .data_size_out = sizeof(out->p), .repeat = 1);

	if (how->gso_size) {
		opts.ctx_in = &ctx;
		opts.ctx_size_in = sizeof(ctx);
	}
	if (how->complete)
		opts.flags = BPF_F_TEST_SKB_CHECKSUM_COMPLETE;
	if (bpf_prog_test_run_opts(k->prog, &opts)) {
		printf("# a packet of %u bytes, CHECKSUM_%s\n", len,
		       how->complete ? "COMPLETE" : "NONE");
		die("test run");
	}
	assert_int_equal((int)opts.retval, TC_ACT_UNSPEC);
	assert_int_equal(opts.data_size_out, len);
	find_outcome(k, out);
}

int csum_kernel_takes(const uint8_t *frame, uint32_t len)
{
	if (len < CSUM_SHORTEST || len > CSUM_LONGEST)
		return 0;
	if (frame[12] == 0x86 && frame[13] == 0xdd)
		return len >= 14 + 40;
	return frame[12] != 8 || frame[13] || len >= 14 + 20;
}

int csum_kernel_complete(void)
{
	static const uint8_t frame[64] = { [12] = 0x86, 0xdd, 0x60 };
	struct csum_rules rules = { 0 };
	struct csum_kernel *k = csum_kernel_new(&rules);
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = 1, .flags = BPF_F_TEST_SKB_CHECKSUM_COMPLETE);
	int err = bpf_prog_test_run_opts(k->prog, &opts);

	csum_kernel_free(k);
	return !err;
}
