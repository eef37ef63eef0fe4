// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/csum_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/csum_attached.h"
#include "kernel/layout.h"
#include "kernel/pins.h"

/* Further reads of a full table whose places change hands meanwhile. */
#define MAX_READS 4
#define TOTALS "xsf_csum_totals"
#define PORTS "xsf_csum_ports"
#define SOURCES "xsf_csum_sources"

struct xsf_csum_maps {
	uint32_t id; /* of the map of sources: another one has other places */
	int nr_cpus;
	uint32_t nr_sources;
	struct xsf_csum_address source[XSF_CSUM_SOURCES]; /* in the order of their places */
	struct xsf_csum_port port[XSF_CSUM_PORTS];
	struct xsf_csum_attached attached[XSF_MAX_ATTACHED];
	struct xsf_prefix_key from[XSF_MAX_ATTACHED][XSF_CSUM_FROM_SHOWN];
	/* room for one read */
	struct xsf_csum_addr keys[XSF_CSUM_SOURCES];
	struct xsf_csum_source values[XSF_CSUM_SOURCES];
	uint32_t order[XSF_CSUM_SOURCES]; /* of keys and values, by address */
	uint8_t known[XSF_CSUM_SOURCES];
	uint32_t gone[XSF_CSUM_SOURCES]; /* places of those that are not there any more */
	uint64_t *cpu_rows;
	char dir[PATH_MAX];
};

static const struct {
	const char *name;
	struct xsf_layout layout;
} specs[] = {
	{ TOTALS,
	  { BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(__u32), sizeof(struct xsf_csum_totals), 1, 0, 0 } },
	{ PORTS,
	  { BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(__u32), sizeof(struct xsf_csum_port), XSF_CSUM_PORTS,
	    0, 0 } },
	{ SOURCES,
	  { BPF_MAP_TYPE_HASH, sizeof(struct xsf_csum_addr), sizeof(struct xsf_csum_source),
	    XSF_CSUM_SOURCES, 0, 0 } },
};

/* Opens one of them. fd or negative errno; -EPROTO where it is of another layout. */
static int open_map(const char *dir, size_t which, uint32_t *id)
{
	struct xsf_why ignored;
	int fd, err;

	fd = xsf_pins_open_readonly(dir, specs[which].name, NULL);
	if (fd < 0)
		return fd;
	err = xsf_layout_check(fd, specs[which].name, &specs[which].layout, id, NULL, &ignored);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int read_totals(struct xsf_csum_maps *m, const char *dir, struct xsf_csum_totals *out)
{
	const struct xsf_csum_totals *cpu = (const void *)m->cpu_rows;
	int fd = open_map(dir, 0, NULL), err = 0;
	__u32 zero = 0;

	if (fd < 0)
		return fd;
	if (bpf_map_lookup_elem(fd, &zero, m->cpu_rows))
		err = -errno;
	close(fd);
	memset(out, 0, sizeof(*out));
	for (int n = 0; n < m->nr_cpus && !err; n++, cpu++) {
		out->packets += cpu->packets;
		out->datagrams += cpu->datagrams;
		out->sources_full += cpu->sources_full;
		out->sources_reclaimed += cpu->sources_reclaimed;
#define ADD(name, help) out->name += cpu->name;
		XSF_CSUM_PACKET_OUTCOMES(ADD)
		xsf_csum_add(&out->other_sources, &cpu->other_sources);
	}
	return err;
}

static int read_ports(struct xsf_csum_maps *m, const char *dir)
{
	int fd = open_map(dir, 1, NULL), err = 0;

	if (fd < 0)
		return fd;
	memset(m->port, 0, sizeof(m->port));
	for (uint32_t row = 0; row < XSF_CSUM_PORTS && !err; row++) {
		const struct xsf_csum_port *cpu = (const void *)m->cpu_rows;

		if (bpf_map_lookup_elem(fd, &row, m->cpu_rows))
			err = -errno;
		for (int n = 0; n < m->nr_cpus && !err; n++, cpu++) {
			if (!cpu->port)
				continue;
			m->port[row].port = cpu->port;
			xsf_csum_add(&m->port[row].counts, &cpu->counts);
		}
	}
	close(fd);
	return err;
}

static int by_address(const void *a, const void *b, void *arg)
{
	const struct xsf_csum_maps *m = arg;

	return memcmp(&m->keys[*(const uint32_t *)a], &m->keys[*(const uint32_t *)b],
		      sizeof(m->keys[0]));
}

static int by_first_seen(const void *a, const void *b, void *arg)
{
	const struct xsf_csum_maps *m = arg;
	uint64_t x = m->values[*(const uint32_t *)a].counts.first_seen_ns;
	uint64_t y = m->values[*(const uint32_t *)b].counts.first_seen_ns;

	return x < y ? -1 : x > y ? 1 : by_address(a, b, arg);
}

/* Where an address is in what was just read; nr when it is not. */
static uint32_t find(const struct xsf_csum_maps *m, uint32_t nr, const uint8_t addr[16])
{
	uint32_t low = 0, high = nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int order = memcmp(m->keys[m->order[mid]].addr, addr, 16);

		if (!order)
			return m->order[mid];
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return nr;
}

/* Known sources keep their places; new ones take those of the ones that are gone, then follow, in the order
 * in which they came. Where more have gone than come, the last ones move up. */
static void place_sources(struct xsf_csum_maps *m, uint32_t nr)
{
	uint32_t nr_new = 0, nr_gone = 0, next = 0;

	for (uint32_t n = 0; n < nr; n++)
		m->order[n] = n;
	qsort_r(m->order, nr, sizeof(m->order[0]), by_address, m);
	memset(m->known, 0, nr);
	for (uint32_t n = 0; n < m->nr_sources; n++) {
		uint32_t at = find(m, nr, m->source[n].addr);

		if (at == nr) {
			m->gone[nr_gone++] = n;
			continue;
		}
		m->known[at] = 1;
		m->source[n].counts = m->values[at].counts;
	}
	for (uint32_t n = 0; n < nr; n++) {
		if (!m->known[n])
			m->order[nr_new++] = n;
	}
	qsort_r(m->order, nr_new, sizeof(m->order[0]), by_first_seen, m);
	for (uint32_t n = 0; n < nr_new; n++) {
		struct xsf_csum_address *s;

		if (next == nr_gone && m->nr_sources == XSF_CSUM_SOURCES)
			break;
		s = &m->source[next < nr_gone ? m->gone[next++] : m->nr_sources++];
		memcpy(s->addr, m->keys[m->order[n]].addr, sizeof(s->addr));
		s->counts = m->values[m->order[n]].counts;
	}
	/* From the end: what moves up is no gap. */
	while (nr_gone > next)
		m->source[m->gone[--nr_gone]] = m->source[--m->nr_sources];
}

static int read_sources(struct xsf_csum_maps *m, const char *dir)
{
	uint32_t id, at, count = XSF_CSUM_SOURCES;
	int fd = open_map(dir, 2, &id), err = 0;

	if (fd < 0)
		return fd;
	if (id != m->id)
		m->nr_sources = 0;
	m->id = id;
	/* All at once: a batch ends with -ENOENT where the table does. */
	if (bpf_map_lookup_batch(fd, NULL, &at, m->keys, m->values, &count, NULL) &&
	    errno != ENOENT)
		err = -errno;
	close(fd);
	if (!err)
		place_sources(m, count);
	return err;
}

static struct xsf_csum_maps *new_maps(void)
{
	struct xsf_csum_maps *m = calloc(1, sizeof(*m));
	int nr = libbpf_num_possible_cpus();

	if (!m || nr <= 0) {
		free(m);
		return NULL;
	}
	m->nr_cpus = nr;
	m->cpu_rows = calloc((size_t)nr, sizeof(struct xsf_csum_totals));
	if (!m->cpu_rows) {
		free(m);
		return NULL;
	}
	return m;
}

int xsf_csum_maps_read(struct xsf_csum_maps **maps, const char *dir, int programs,
		       struct xsf_csum *out)
{
	struct xsf_csum_maps *m;
	int err;

	memset(out, 0, sizeof(*out));
	if (!*maps)
		*maps = new_maps();
	m = *maps;
	if (!m)
		return -ENOMEM;
	err = read_totals(m, dir, &out->totals);
	if (!err)
		err = read_ports(m, dir);
	if (!err)
		err = read_sources(m, dir);
	/* Sources that lost their places in between would be neither among them nor in the totals. */
	for (int n = 0; n < MAX_READS && !err; n++) {
		uint64_t reclaimed = out->totals.sources_reclaimed;

		err = read_totals(m, dir, &out->totals);
		if (err || out->totals.sources_reclaimed == reclaimed)
			break;
		err = read_sources(m, dir);
	}
	/* Loaded without the tc program, or with another version's: the rest can be read all the same. */
	if (err == -ENOENT || err == -EPROTO)
		return 0;
	if (err)
		return err;
	out->present = 1;
	out->ports = m->port;
	out->sources = m->source;
	out->nr_sources = m->nr_sources;
	out->attached = m->attached;
	if (strcmp(dir, xsf_pins_default()) != 0) {
		snprintf(m->dir, sizeof(m->dir), "%s", dir);
		out->maps = m->dir;
	}
	if (programs) {
		err = xsf_csum_programs(dir, m->attached, m->from, XSF_MAX_ATTACHED);
		if (err < 0)
			return err;
		out->nr_attached = (uint32_t)err;
	}
	return 0;
}

void xsf_csum_maps_free(struct xsf_csum_maps *maps)
{
	if (!maps)
		return;
	free(maps->cpu_rows);
	free(maps);
}

_Static_assert(sizeof(struct xsf_csum_totals) >= sizeof(struct xsf_csum_port),
	       "cpu_rows holds both");
