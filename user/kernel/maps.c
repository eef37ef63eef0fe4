// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kernel/csum_maps.h"
#include "kernel/layout.h"
#include "kernel/pins.h"
#include "kernel/programs.h"

/* stale_ns of the object's own defaults, where no attached program tells (bpf/maps.bpf.h). */
#define DEFAULT_STALE_NS 600000000000ull

/* Elements asked for in one system call where a table has to be copied. */
#define BATCH 4096

/* The tables come first. */
enum map {
	AGENTS,
	SOURCES,
	INTERFACES,
	GROUPS,
	PLACES,
	NR_TABLES,
	TOTALS = NR_TABLES,
	OPS,
	TOS,
	RDMA,
	REASONS,
	REASON_IDS,
	CONTROL,
	TIMELINE, /* behind those that tell the number of groups */
	NR_MAPS
};

#define ARRAY(value, entries) \
	{ \
		BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(value), entries, BPF_F_MMAPABLE, 0 \
	}
#define PER_CPU(value, entries, rows) \
	{ \
		BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(__u32), sizeof(value), entries, 0, rows \
	}
#define OP_ROWS (XSF_DIRECTIONS * XSF_CARRIERS)
#define TIMELINE_ROWS (XSF_GROUPS * XSF_DIRECTIONS)

/* bpf/maps.bpf.h, as a reader sees it. */
static const struct {
	const char *name;
	struct xsf_layout layout;
} specs[NR_MAPS] = {
	[AGENTS] = { "xsf_agents", ARRAY(struct xsf_agent, XSF_AGENTS) },
	[SOURCES] = { "xsf_sources", ARRAY(struct xsf_source, XSF_SOURCES) },
	[INTERFACES] = { "xsf_interfaces", ARRAY(struct xsf_interface, XSF_SOURCES) },
	[GROUPS] = { "xsf_groups", ARRAY(struct xsf_group, XSF_SOURCES) },
	[PLACES] = { "xsf_places", ARRAY(struct xsf_drop_place, XSF_PLACES) },
	[TOTALS] = { "xsf_totals", PER_CPU(struct xsf_totals, 1, 0) },
	[OPS] = { "xsf_ops", PER_CPU(struct xsf_op_row, XSF_GROUPS *OP_ROWS, OP_ROWS) },
	[TOS] = { "xsf_tos",
		  PER_CPU(struct xsf_tos_row, XSF_GROUPS *XSF_DIRECTIONS, XSF_DIRECTIONS) },
	[RDMA] = { "xsf_rdma",
		   PER_CPU(struct xsf_rdma_row, XSF_GROUPS *XSF_DIRECTIONS, XSF_DIRECTIONS) },
	[REASONS] = { "xsf_reasons", PER_CPU(struct xsf_reasons, 1, 0) },
	[REASON_IDS] = { "xsf_reason_ids",
			 { BPF_MAP_TYPE_HASH, sizeof(struct xsf_reason_key), sizeof(__u64),
			   XSF_REASONS_HIGH, 0, 0 } },
	[CONTROL] = { "xsf_control",
		      { BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct xsf_control), XSF_TABLES,
			0, 0 } },
	[TIMELINE] = { "xsf_timeline",
		       { BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct xsf_timeline_row),
			 TIMELINE_ROWS, BPF_F_MMAPABLE, XSF_DIRECTIONS } },
};

/* The kernel maps a BPF array only through a descriptor that may write; who has read rights alone gets
 * copies instead, made by each snapshot as far as the slots are in use. */
struct xsf_maps {
	char dir[PATH_MAX];
	int fd[NR_MAPS];
	void *table[NR_TABLES];
	int copied[NR_TABLES]; /* 1: table[] is a copy */
	uint32_t totals_id;
	uint32_t nr_groups;
	int nr_cpus;	    /* possible ones: what the kernel writes */
	uint64_t *cpu_rows; /* one value for each of them */
	struct xsf_op_row *ops;
	struct xsf_tos_row *tos;
	struct xsf_rdma_row *rdma;
	struct xsf_csum_maps *csum; /* of the tc program */
	/* All rows, mapped; or one row, the last that was copied. NULL: the maps are of older programs. */
	struct xsf_timeline_row *timeline;
	int timeline_copied;
};

static size_t table_len(enum map m)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* The kernel rounds array elements up to 8 bytes; ours are multiples of 8. */
	size_t len = (size_t)specs[m].layout.value_size * specs[m].layout.entries;

	return (len + page - 1) / page * page;
}

/* The map in memory, or MAP_FAILED when the rights do not allow it. */
static void *map_pinned(const char *path, size_t len)
{
	void *table;
	int fd = bpf_obj_get(path);

	if (fd < 0)
		return MAP_FAILED;
	table = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return table;
}

static size_t timeline_len(const struct xsf_maps *maps)
{
	return (size_t)maps->nr_groups * XSF_DIRECTIONS * sizeof(struct xsf_timeline_row);
}

static int open_timeline(struct xsf_maps *maps, const char *path)
{
	void *rows = map_pinned(path, timeline_len(maps));

	maps->timeline_copied = rows == MAP_FAILED;
	maps->timeline = maps->timeline_copied ? malloc(sizeof(*maps->timeline)) : rows;
	return maps->timeline ? 0 : -ENOMEM;
}

static void close_timeline(struct xsf_maps *maps)
{
	if (maps->timeline_copied)
		free(maps->timeline);
	else if (maps->timeline)
		munmap(maps->timeline, timeline_len(maps));
}

/* Fills maps->table[m]: mapped when the rights allow it, else room for a copy (zero pages cost nothing
 * until they are written). */
static int open_table(struct xsf_maps *maps, enum map m, const char *path)
{
	size_t len = table_len(m);
	void *table = map_pinned(path, len);

	maps->copied[m] = table == MAP_FAILED;
	if (maps->copied[m])
		table = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table == MAP_FAILED)
		return -errno;
	maps->table[m] = table;
	return 0;
}

static int open_map(struct xsf_maps *maps, enum map m, struct xsf_why *why)
{
	uint32_t rows = specs[m].layout.rows_per_group, entries, id;
	char path[PATH_MAX];
	int err;

	err = xsf_pins_path(path, maps->dir, specs[m].name, NULL);
	if (err)
		return xsf_because(why, err, "directory name too long");
	maps->fd[m] = err = xsf_pins_open_readonly(maps->dir, specs[m].name, NULL);
	/* Programs of before have none. */
	if (err == -ENOENT && (m == TIMELINE || m == PLACES))
		return 0;
	if (err == -ENOENT)
		return xsf_because(why, err,
				   "no map %s is pinned in %s; first: xdp-sflow load IFACE",
				   specs[m].name, maps->dir);
	if (err < 0)
		return xsf_because(why, err, "cannot open the pinned map %s: %s%s", path,
				   xsf_errno_text(err),
				   err == -EACCES || err == -EPERM ?
					   "; run as root or as a member of group " XSF_PIN_GROUP :
					   "");
	err = xsf_layout_check(maps->fd[m], path, &specs[m].layout, &id, &entries, why);
	if (err)
		return err;
	if (m == TOTALS)
		maps->totals_id = id;
	if (rows) {
		if (maps->nr_groups && maps->nr_groups != entries / rows)
			return xsf_because(
				why, -EPROTO,
				"the maps in %s are of different numbers of fabrics (%u and %u "
				"groups); remove them with: xdp-sflow unload --all --purge",
				maps->dir, maps->nr_groups, entries / rows);
		maps->nr_groups = entries / rows;
	}
	if (m < NR_TABLES || m == TIMELINE) {
		err = m == TIMELINE ? open_timeline(maps, path) : open_table(maps, m, path);
		if (err)
			return xsf_because(why, err, "cannot map %s into memory: %s", path,
					   xsf_errno_text(err));
	}
	return 0;
}

static int open_all(const char *dir, struct xsf_maps **out, struct xsf_why *why)
{
	struct xsf_maps *maps = calloc(1, sizeof(*maps));
	size_t rows;
	int err = -ENOMEM, m;

	*out = NULL;
	if (!maps)
		goto no_memory;
	for (m = 0; m < NR_MAPS; m++)
		maps->fd[m] = -1;
	if (strlen(dir) >= XSF_MAX_DIR) {
		err = xsf_because(why, -ENAMETOOLONG, "directory name too long");
		goto out;
	}
	snprintf(maps->dir, sizeof(maps->dir), "%s", dir);
	for (m = 0; m < NR_MAPS; m++) {
		err = open_map(maps, (enum map)m, why);
		if (err)
			goto out;
	}

	maps->nr_cpus = libbpf_num_possible_cpus();
	if (maps->nr_cpus <= 0) {
		err = maps->nr_cpus ? maps->nr_cpus : -EINVAL;
		xsf_because(why, err, "cannot tell the number of possible CPUs: %s",
			    xsf_errno_text(err));
		goto out;
	}
	rows = (size_t)maps->nr_groups * XSF_DIRECTIONS;
	err = -ENOMEM;
	/* The largest row; all are multiples of 8 bytes, so CPUs' values follow without gaps. */
	maps->cpu_rows = calloc((size_t)maps->nr_cpus, sizeof(struct xsf_tos_row));
	maps->ops = calloc(rows * XSF_CARRIERS, sizeof(*maps->ops));
	maps->tos = calloc(rows, sizeof(*maps->tos));
	maps->rdma = calloc(rows, sizeof(*maps->rdma));
	if (!maps->cpu_rows || !maps->ops || !maps->tos || !maps->rdma)
		goto no_memory;
	*out = maps;
	return 0;

no_memory:
	xsf_because(why, err, "%s", xsf_errno_text(err));
out:
	xsf_maps_close(maps);
	return err;
}

int xsf_maps_open(const char *dir, struct xsf_maps **out, char *text, size_t len)
{
	struct xsf_why why = { "" };
	int err = open_all(dir ? dir : xsf_pins_default(), out, &why);

	if (err)
		snprintf(text, len, "%s", why.text);
	return err;
}

void xsf_maps_close(struct xsf_maps *maps)
{
	if (!maps)
		return;
	for (int m = 0; m < NR_TABLES; m++) {
		if (maps->table[m])
			munmap(maps->table[m], table_len((enum map)m));
	}
	close_timeline(maps);
	for (int m = 0; m < NR_MAPS; m++) {
		if (maps->fd[m] >= 0)
			close(maps->fd[m]);
	}
	free(maps->cpu_rows);
	free(maps->ops);
	free(maps->tos);
	free(maps->rdma);
	xsf_csum_maps_free(maps->csum);
	free(maps);
}

int xsf_maps_current(const struct xsf_maps *maps)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int fd = xsf_pins_open_readonly(maps->dir, specs[TOTALS].name, NULL);
	int err;

	if (fd < 0)
		return 0;
	err = bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	return !err && info.id == maps->totals_id;
}

_Static_assert(sizeof(struct xsf_tos_row) >= sizeof(struct xsf_op_row) &&
		       sizeof(struct xsf_tos_row) >= sizeof(struct xsf_rdma_row) &&
		       sizeof(struct xsf_tos_row) >= sizeof(struct xsf_totals) &&
		       sizeof(struct xsf_tos_row) >= sizeof(struct xsf_reasons),
	       "cpu_rows holds any of them");
_Static_assert(sizeof(struct xsf_rdma_row) % 8 == 0 && sizeof(struct xsf_reasons) % 8 == 0 &&
		       sizeof(struct xsf_totals) % 8 == 0,
	       "words");

/* out[0..words) = the sum of row `index` over all possible CPUs. */
static int sum_row(struct xsf_maps *maps, enum map m, uint32_t index, void *out)
{
	size_t size = specs[m].layout.value_size, words = size / sizeof(uint64_t);
	uint64_t *sum = out;

	if (bpf_map_lookup_elem(maps->fd[m], &index, maps->cpu_rows))
		return -errno;
	memcpy(sum, maps->cpu_rows, size);
	for (int cpu = 1; cpu < maps->nr_cpus; cpu++) {
		const uint64_t *row = maps->cpu_rows + (size_t)cpu * words;

		/* Most CPUs never see a row: comparing it with itself, one word on, is much
		 * cheaper than adding. */
		if (!row[0] && !memcmp(row, row + 1, size - sizeof(*row)))
			continue;
		for (size_t w = 0; w < words; w++)
			sum[w] += row[w];
	}
	return 0;
}

/* Rows of the groups first .. end - 1 into their places. */
static int sum_rows(struct xsf_maps *maps, enum map m, uint32_t first, uint32_t end, void *out)
{
	uint32_t per_group = specs[m].layout.rows_per_group;
	size_t size = specs[m].layout.value_size;
	int err;

	for (uint32_t n = first * per_group; n < end * per_group; n++) {
		err = sum_row(maps, m, n, (uint8_t *)out + n * size);
		if (err)
			return err;
	}
	return 0;
}

/* Entries are only ever added, so a walk ends after as many as there are. */
static int read_reasons_high(struct xsf_maps *maps, struct xsf_snapshot *out)
{
	struct xsf_reason_key *key = NULL, next;

	for (out->nr_high = 0; out->nr_high < XSF_REASONS_HIGH;) {
		struct xsf_reason_high *high = &out->high[out->nr_high];

		if (bpf_map_get_next_key(maps->fd[REASON_IDS], key, &next))
			return errno == ENOENT ? 0 : -errno;
		high->key = next;
		key = &high->key;
		if (bpf_map_lookup_elem(maps->fd[REASON_IDS], key, &high->count))
			return -errno;
		out->nr_high++;
	}
	return 0;
}

/* Slots 0..nr-1 of a table into its copy. */
static int copy_table(struct xsf_maps *maps, enum map m, uint32_t nr)
{
	__u32 keys[BATCH], at = 0, count;
	uint8_t *value = maps->table[m];

	for (uint32_t done = 0; done < nr; done += count) {
		count = nr - done < BATCH ? nr - done : BATCH;
		if (bpf_map_lookup_batch(maps->fd[m], done ? &at : NULL, &at, keys, value, &count,
					 NULL) &&
		    errno != ENOENT) /* the end was reached */
			return -errno;
		if (!count)
			break;
		value += (size_t)count * specs[m].layout.value_size;
	}
	return 0;
}

/* Slots ever handed out, with slot 0: what lies beyond was never written. */
static int used_slots(struct xsf_maps *maps, uint32_t table, uint32_t max, uint32_t *nr)
{
	struct xsf_control control;

	if (bpf_map_lookup_elem(maps->fd[CONTROL], &table, &control))
		return -errno;
	*nr = control.next < max ? (uint32_t)control.next + 1 : max;
	return 0;
}

static int read_tables(struct xsf_maps *maps, struct xsf_snapshot *out)
{
	uint32_t agents = 0, sources = 0;
	int err;

	err = used_slots(maps, XSF_TABLE_AGENTS, XSF_AGENTS, &agents);
	if (!err)
		err = used_slots(maps, XSF_TABLE_SOURCES, XSF_SOURCES, &sources);
	for (int m = 0; m < NR_TABLES && !err; m++) {
		if (maps->copied[m])
			err = copy_table(maps, (enum map)m,
					 m == AGENTS ? agents :
					 m == PLACES ? XSF_PLACES :
						       sources);
	}
	out->nr_agents = XSF_AGENTS;
	out->nr_sources = XSF_SOURCES;
	out->agents = maps->table[AGENTS];
	out->sources = maps->table[SOURCES];
	out->interfaces = maps->table[INTERFACES];
	out->groups = maps->table[GROUPS];
	out->places = maps->table[PLACES];
	out->nr_places = maps->table[PLACES] ? XSF_PLACES : 0;
	return err;
}

int xsf_maps_snapshot(struct xsf_maps *maps, struct xsf_snapshot *out, unsigned int flags)
{
	uint32_t first = flags & XSF_SNAPSHOT_FIRST_FABRIC ? 1 : 0;
	uint32_t end = first ? XSF_MIN(3u, maps->nr_groups) : maps->nr_groups;
	struct timespec now;
	int err, nr;

	memset(out, 0, sizeof(*out));
	clock_gettime(CLOCK_MONOTONIC, &now);
	out->now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	out->stale_ns = DEFAULT_STALE_NS;
	out->nr_groups = maps->nr_groups;
	out->ops = maps->ops;
	out->tos = maps->tos;
	out->rdma = maps->rdma;
	out->timeline = maps->timeline_copied ? NULL : maps->timeline;

	err = read_tables(maps, out);
	if (!err)
		err = sum_row(maps, TOTALS, 0, &out->totals);
	if (!err)
		err = sum_row(maps, REASONS, 0, &out->reasons);
	if (!err)
		err = read_reasons_high(maps, out);
	if (!err && !(flags & XSF_SNAPSHOT_NO_ROWS)) {
		err = sum_rows(maps, OPS, first, end, maps->ops);
		if (!err)
			err = sum_rows(maps, TOS, first, end, maps->tos);
		if (!err)
			err = sum_rows(maps, RDMA, first, end, maps->rdma);
	}
	if (!err)
		err = xsf_csum_maps_read(&maps->csum, maps->dir,
					 !(flags & XSF_SNAPSHOT_NO_PROGRAMS), &out->csum);
	if (err || flags & XSF_SNAPSHOT_NO_PROGRAMS)
		return err;
	nr = xsf_programs_attached(maps->dir, maps->totals_id, out->attached, XSF_MAX_ATTACHED,
				   &out->stale_ns);
	if (nr < 0)
		return nr;
	out->nr_attached = (uint32_t)nr;
	return 0;
}

uint32_t xsf_maps_groups(const struct xsf_maps *maps)
{
	return maps->nr_groups;
}

const struct xsf_timeline_row *xsf_maps_timeline(struct xsf_maps *maps, uint32_t row)
{
	if (!maps->timeline || row >= maps->nr_groups * XSF_DIRECTIONS)
		return NULL;
	if (!maps->timeline_copied)
		return &maps->timeline[row];
	return bpf_map_lookup_elem(maps->fd[TIMELINE], &row, maps->timeline) ? NULL :
									       maps->timeline;
}
