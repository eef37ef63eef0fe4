// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/events.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/layout.h"
#include "kernel/pins.h"

enum kind { DROPS, SAMPLES, KINDS };

/* Looks at a place that somebody else has just made or removed. */
#define PLACE_TRIES 10
/* All places busy may mean that a dead one is being cleaned. */
#define CLAIM_TRIES 3

/* The maps of a directory that readers write to. */
struct places {
	int rings[KINDS]; /* the maps of rings; -1: not open */
	struct xsf_event_wanted *wanted;
};

struct xsf_events {
	char dir[PATH_MAX];
	struct places places;
	uint32_t rings_id;
	uint32_t place;
	int lock; /* the place's directory; -1: none yet */
	int ring[KINDS];
	uint8_t mark[KINDS]; /* what `wanted` becomes */
	struct ring_buffer *consumer;
	int counts;
	int nr_cpus;
	struct xsf_event_counts *cpu_counts; /* one for each */
	struct xsf_event_counts base;
	/* of xsf_events_read */
	unsigned int left;
	int (*each)(void *arg, const struct xsf_event *event);
	void *arg;
};

static size_t wanted_len(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Opens the pinned map `name` for writing. fd or negative errno. */
static int open_map(const char *dir, const char *name, const struct xsf_layout *layout,
		    uint32_t *id, struct xsf_why *why)
{
	char path[PATH_MAX];
	int fd, err;

	err = xsf_pins_path(path, dir, name, NULL);
	if (err)
		return xsf_because(why, err, "directory name too long");
	fd = bpf_obj_get(path);
	if (fd < 0 && errno == ENOENT)
		return xsf_because(
			why, -ENOENT,
			"no map %s is pinned in %s: nothing is loaded there, or "
			"programs of a version without events; first: xdp-sflow load IFACE",
			name, dir);
	if (fd < 0)
		return xsf_because(why, -errno, "cannot open the pinned map %s for writing: %s%s",
				   path, strerror(errno),
				   errno == EACCES || errno == EPERM ? "; run as root" : "");
	err = xsf_layout_check(fd, path, layout, id, NULL, why);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

static void places_close(struct places *p)
{
	for (int kind = 0; kind < KINDS; kind++) {
		if (p->rings[kind] >= 0)
			close(p->rings[kind]);
	}
	if (p->wanted)
		munmap(p->wanted, wanted_len());
}

static int places_open(struct places *p, const char *dir, uint32_t *rings_id, struct xsf_why *why)
{
	const struct xsf_layout rings = { BPF_MAP_TYPE_ARRAY_OF_MAPS,
					  sizeof(uint32_t),
					  sizeof(uint32_t),
					  XSF_EVENT_READERS,
					  0,
					  0 };
	const struct xsf_layout wanted = { BPF_MAP_TYPE_ARRAY,
					   sizeof(uint32_t),
					   sizeof(struct xsf_event_wanted),
					   1,
					   BPF_F_MMAPABLE,
					   0 };
	void *page;
	int fd;

	p->rings[SAMPLES] = -1;
	p->wanted = NULL;
	p->rings[DROPS] = fd = open_map(dir, "xsf_event_rings", &rings, rings_id, why);
	if (fd >= 0)
		p->rings[SAMPLES] = fd = open_map(dir, "xsf_sample_rings", &rings, NULL, why);
	if (fd >= 0)
		fd = open_map(dir, "xsf_event_wanted", &wanted, NULL, why);
	if (fd < 0)
		goto out;
	page = mmap(NULL, wanted_len(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED)
		p->wanted = page;
	close(fd);
	fd = page == MAP_FAILED ?
		     xsf_because(why, -errno, "cannot map %s/xsf_event_wanted into memory: %s", dir,
				 strerror(errno)) :
		     0;
out:
	if (fd < 0)
		places_close(p);
	return fd;
}

/* Nobody wants anything there, and the rings go as soon as no program uses them. */
static void place_clean(struct places *p, uint32_t place)
{
	__atomic_store_n(&p->wanted->drops[place], 0, __ATOMIC_RELEASE);
	__atomic_store_n(&p->wanted->samples[place], 0, __ATOMIC_RELEASE);
	for (int kind = 0; kind < KINDS; kind++)
		bpf_map_delete_elem(p->rings[kind], &place);
}

static int place_path(char path[PATH_MAX], const char *dir, uint32_t place)
{
	char name[32];

	snprintf(name, sizeof(name), XSF_READER_PREFIX "%u", place);
	return xsf_pins_path(path, dir, name, NULL);
}

/* Takes the lock of a place, whose directory is made where `make` says so. The lock, -EBUSY when a reader
 * that lives has it, -ENOENT when there is none, or another negative errno. */
static int place_lock(const char *dir, uint32_t place, int make)
{
	char path[PATH_MAX];
	int err, fd;

	err = place_path(path, dir, place);
	for (int tries = 0; tries < PLACE_TRIES && !err; tries++) {
		if (make && mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		/* Given back in between. */
		if (fd < 0 && errno == ENOENT && make)
			continue;
		if (fd < 0)
			return -errno;
		err = xsf_pins_try_lock(fd, path);
		if (!err)
			return fd;
		close(fd);
		if (err == XSF_LOCK_GONE)
			err = make ? 0 : -ENOENT;
		else if (err > 0)
			err = -EBUSY;
	}
	return err ? err : -EBUSY;
}

/* Removes the directory of a place, whose lock is held, and lets go of it. */
static void place_release(const char *dir, uint32_t place, int lock)
{
	struct stat held, named;
	char path[PATH_MAX];

	/* After a purge the name may be another reader's. */
	if (!place_path(path, dir, place) && !fstat(lock, &held) && !stat(path, &named) &&
	    held.st_ino == named.st_ino && held.st_dev == named.st_dev)
		rmdir(path);
	close(lock);
}

void xsf_events_clean(const char *dir)
{
	struct xsf_why why;
	struct places places;

	dir = dir ? dir : xsf_pins_default();
	for (uint32_t n = 0; n < XSF_EVENT_READERS; n++) {
		int lock = place_lock(dir, n, 0);

		if (lock < 0)
			continue;
		if (!places_open(&places, dir, NULL, &why)) {
			place_clean(&places, n);
			places_close(&places);
		}
		place_release(dir, n, lock);
	}
}

static int claim(struct xsf_events *e, struct xsf_why *why)
{
	for (int tries = 0; tries < CLAIM_TRIES; tries++) {
		for (uint32_t n = 0; n < XSF_EVENT_READERS; n++) {
			int lock = place_lock(e->dir, n, 1);

			if (lock >= 0) {
				e->lock = lock;
				e->place = n;
				place_clean(&e->places, n);
				return 0;
			}
			if (lock != -EBUSY)
				return xsf_because(
					why, lock,
					"cannot take a place for a reader of events in "
					"%s: %s%s",
					e->dir, xsf_errno_text(lock),
					lock == -EACCES || lock == -EPERM ? "; run as root" : "");
		}
		usleep(20000);
	}
	return xsf_because(why, -EBUSY,
			   "all %d places for readers of events in %s are taken; end one of those "
			   "that run (xdp-sflow drops, xdp-sflow export)",
			   XSF_EVENT_READERS, e->dir);
}

/* Of all readers that the place had. */
static int read_counts(const struct xsf_events *e, struct xsf_event_counts *sum)
{
	if (bpf_map_lookup_elem(e->counts, &e->place, e->cpu_counts))
		return -errno;
	memset(sum, 0, sizeof(*sum));
	for (int cpu = 0; cpu < e->nr_cpus; cpu++) {
		sum->drops_sent += e->cpu_counts[cpu].drops_sent;
		sum->drops_shed += e->cpu_counts[cpu].drops_shed;
		sum->samples_sent += e->cpu_counts[cpu].samples_sent;
		sum->samples_shed += e->cpu_counts[cpu].samples_shed;
	}
	return 0;
}

static int open_counts(struct xsf_events *e, struct xsf_why *why)
{
	const struct xsf_layout layout = { BPF_MAP_TYPE_PERCPU_ARRAY,
					   sizeof(uint32_t),
					   sizeof(struct xsf_event_counts),
					   XSF_EVENT_READERS,
					   0,
					   0 };
	int err;

	e->counts = open_map(e->dir, "xsf_event_counts", &layout, NULL, why);
	if (e->counts < 0)
		return e->counts;
	e->nr_cpus = libbpf_num_possible_cpus();
	e->cpu_counts = e->nr_cpus > 0 ? calloc((size_t)e->nr_cpus, sizeof(*e->cpu_counts)) : NULL;
	if (e->nr_cpus < 0)
		err = e->nr_cpus;
	else
		err = e->cpu_counts ? read_counts(e, &e->base) : -ENOMEM;
	return err ? xsf_because(why, err, "cannot read %s/xsf_event_counts: %s", e->dir,
				 xsf_errno_text(err)) :
		     0;
}

/* libbpf's: anything below 0 ends the round, this event taken. */
static int on_event(void *arg, void *data, size_t size)
{
	struct xsf_events *e = arg;
	int enough = size >= XSF_EVENT_FLOW_LEN && e->each(e->arg, data);

	return --e->left && !enough ? 0 : -ECANCELED;
}

static int make_ring(struct xsf_events *e, enum kind kind, uint32_t size, struct xsf_why *why)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int err = 0;

	if (size & (size - 1) || size < (uint32_t)sysconf(_SC_PAGESIZE) ||
	    size > XSF_EVENTS_RING_MAX)
		return xsf_because(why, -EINVAL,
				   "a ring of %u bytes: must be a power of two, from a page to "
				   "%d",
				   size, XSF_EVENTS_RING_MAX);
	e->ring[kind] =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, kind == DROPS ? "xsf_drops" : "xsf_samples", 0,
			       0, size, NULL);
	if (e->ring[kind] < 0)
		return xsf_because(why, -errno, "cannot make a ring of %u bytes: %s%s", size,
				   strerror(errno),
				   errno == EPERM  ? "; run as root (CAP_BPF)" :
				   errno == ENOMEM ? "; a smaller one, or a larger memory limit of "
						     "the cgroup" :
						     "");
	if (bpf_obj_get_info_by_fd(e->ring[kind], &info, &len))
		err = -errno;
	e->mark[kind] = (uint8_t)(1 + info.id % 255);
	if (!err && !e->consumer) {
		e->consumer = ring_buffer__new(e->ring[kind], on_event, e, NULL);
		err = e->consumer ? 0 : -errno;
	} else if (!err) {
		err = ring_buffer__add(e->consumer, e->ring[kind], on_event, e);
	}
	if (!err && bpf_map_update_elem(e->places.rings[kind], &e->place, &e->ring[kind], BPF_ANY))
		err = -errno;
	return err ? xsf_because(why, err, "cannot set up a ring of %u bytes: %s", size,
				 xsf_errno_text(err)) :
		     0;
}

static int open_all(struct xsf_events *e, const struct xsf_events_options *o, struct xsf_why *why)
{
	const char *dir = o->dir ? o->dir : xsf_pins_default();
	int err;

	if (strlen(dir) >= XSF_MAX_DIR)
		return xsf_because(why, -ENAMETOOLONG, "directory name too long");
	snprintf(e->dir, sizeof(e->dir), "%s", dir);
	err = places_open(&e->places, dir, &e->rings_id, why);
	if (err)
		return err;
	xsf_events_clean(dir);
	err = claim(e, why);
	if (!err)
		err = open_counts(e, why);
	if (!err && o->drops_ring)
		err = make_ring(e, DROPS, o->drops_ring, why);
	if (!err && o->samples_ring)
		err = make_ring(e, SAMPLES, o->samples_ring, why);
	return err;
}

int xsf_events_open(const struct xsf_events_options *options, struct xsf_events **events,
		    char *text, size_t len)
{
	struct xsf_events *e = calloc(1, sizeof(*e));
	struct xsf_why why = { "" };
	int err = -ENOMEM;

	*events = NULL;
	if (!e) {
		snprintf(text, len, "%s", strerror(ENOMEM));
		return err;
	}
	e->lock = e->counts = -1;
	for (int kind = 0; kind < KINDS; kind++)
		e->ring[kind] = e->places.rings[kind] = -1;
	err = open_all(e, options, &why);
	if (err) {
		snprintf(text, len, "%s", why.text);
		xsf_events_close(e);
		return err;
	}
	*events = e;
	return 0;
}

void xsf_events_close(struct xsf_events *e)
{
	if (!e)
		return;
	if (e->lock >= 0) {
		place_clean(&e->places, e->place);
		place_release(e->dir, e->place, e->lock);
	}
	ring_buffer__free(e->consumer);
	for (int kind = 0; kind < KINDS; kind++) {
		if (e->ring[kind] >= 0)
			close(e->ring[kind]);
	}
	if (e->counts >= 0)
		close(e->counts);
	if (e->places.wanted)
		places_close(&e->places);
	free(e->cpu_counts);
	free(e);
}

void xsf_events_want_drops(struct xsf_events *e, int on)
{
	__atomic_store_n(&e->places.wanted->drops[e->place],
			 on && e->ring[DROPS] >= 0 ? e->mark[DROPS] : 0, __ATOMIC_RELEASE);
}

void xsf_events_want_samples(struct xsf_events *e, int on)
{
	__atomic_store_n(&e->places.wanted->samples[e->place],
			 on && e->ring[SAMPLES] >= 0 ? e->mark[SAMPLES] : 0, __ATOMIC_RELEASE);
}

int xsf_events_fd(const struct xsf_events *e)
{
	return e->consumer ? ring_buffer__epoll_fd(e->consumer) : -1;
}

int xsf_events_read(struct xsf_events *e, unsigned int max,
		    int (*each)(void *arg, const struct xsf_event *event), void *arg)
{
	int err;

	if (!max || !e->consumer)
		return 0;
	e->left = max > INT_MAX ? INT_MAX : max;
	max = e->left;
	e->each = each;
	e->arg = arg;
	err = ring_buffer__consume(e->consumer);
	if (err < 0 && err != -ECANCELED)
		return err;
	return (int)(max - e->left);
}

int xsf_events_counts(const struct xsf_events *e, struct xsf_event_counts *counts)
{
	int err = read_counts(e, counts);

	if (err)
		return err;
	counts->drops_sent -= e->base.drops_sent;
	counts->drops_shed -= e->base.drops_shed;
	counts->samples_sent -= e->base.samples_sent;
	counts->samples_shed -= e->base.samples_shed;
	return 0;
}

int xsf_events_current(const struct xsf_events *e)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int fd = xsf_pins_open_readonly(e->dir, "xsf_event_rings", NULL);
	int err;

	if (fd < 0)
		return 0;
	err = bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	return !err && info.id == e->rings_id;
}
