// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Notifications as they come, from a ring of our own. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/drops.h"
#include "kernel/events.h"
#include "kernel/maps.h"

#define SECOND_NS 1000000000ull
#define BATCH 1024
#define WHY 768

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

struct live {
	struct xsf_drops *d;
	struct xsf_events *events;
	struct xsf_maps *maps;
	struct xsf_snapshot *snapshot;
	uint64_t read;	     /* from these rings */
	uint64_t since_1970; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint64_t named_ns;
	uint64_t
		table_ns; /* of --top: when the last table was made, and with how many notifications */
	uint64_t in_table;
};

static int arrived(void *arg, const struct xsf_event *event)
{
	struct live *l = arg;

	l->read++;
	xsf_drops_event(l->d, event, event->ns + l->since_1970);
	return 0;
}

/* Rings and maps of what is pinned now. 0 or negative errno and why. */
static int open_rings(struct live *l, char *why, size_t len)
{
	const struct xsf_drops_options *o = l->d->options;
	struct xsf_events_options rings = { .dir = o->dir, .drops_ring = o->ring };
	int err = xsf_events_open(&rings, &l->events, why, len);

	if (err)
		return err;
	l->read = 0;
	l->named_ns = 0;
	err = xsf_maps_open(o->dir, &l->maps, why, len);
	if (!err)
		return 0;
	xsf_events_close(l->events);
	l->events = NULL;
	return err;
}

static int read_batch(struct live *l)
{
	int n;

	l->since_1970 = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	n = xsf_events_read(l->events, BATCH, arrived, l);
	xsf_drops_flush(l->d);
	return n;
}

/* The rest of the rings: a program that had seen that events were wanted may still be writing one. */
static void drain(struct live *l)
{
	const struct timespec wait = { .tv_nsec = 1000000 };
	struct xsf_event_counts counts = { 0 };

	xsf_events_want_drops(l->events, 0);
	for (int i = 0; i < 20; i++) {
		while (read_batch(l) > 0)
			;
		if (xsf_events_counts(l->events, &counts) || counts.drops_sent == l->read)
			break;
		nanosleep(&wait, NULL);
	}
	l->d->shed += counts.drops_shed;
	l->d->notified += counts.drops_sent + counts.drops_shed;
}

static void close_rings(struct live *l)
{
	if (l->events)
		drain(l);
	xsf_events_close(l->events);
	xsf_maps_close(l->maps);
	l->events = NULL;
	l->maps = NULL;
}

static void refresh_names(struct live *l)
{
	l->named_ns = clock_ns(CLOCK_MONOTONIC);
	if (!xsf_maps_snapshot(l->maps, l->snapshot,
			       XSF_SNAPSHOT_NO_ROWS | XSF_SNAPSHOT_NO_PROGRAMS))
		xsf_drops_names(l->d, l->snapshot);
}

/* Once a second. Programs may be loaded anew, with other maps: then those are read. */
static void tick(struct live *l, int *told)
{
	char why[WHY];

	if (l->events && !xsf_events_current(l->events)) {
		close_rings(l);
		*told = 0;
	}
	if (!l->events) {
		if (!open_rings(l, why, sizeof(why))) {
			xsf_events_want_drops(l->events, 1);
		} else if (!*told) {
			xsf_error("%s; waiting", why);
			*told = 1;
		}
	}
}

static void tick_top(struct live *l, uint64_t now)
{
	struct xsf_event_counts counts = { 0 };

	if (l->events)
		xsf_events_counts(l->events, &counts);
	xsf_drops_top_tick(l->d->top, (double)(now - l->table_ns) / SECOND_NS,
			   l->d->shed + counts.drops_shed);
	l->table_ns = now;
	l->in_table = l->d->shown;
}

/* What came since the last table that went to no terminal: the last one has all. */
static void end_top(struct live *l)
{
	struct xsf_drops *d = l->d;

	if (d->top && !d->failed && xsf_drops_top_fd(d->top) < 0 && d->shown != l->in_table)
		tick_top(l, clock_ns(CLOCK_MONOTONIC));
}

/* 1: a signal came. What is there is called by the names of now. */
static int wait_for_more(struct live *l, int ms)
{
	struct pollfd p[3] = {
		{ .fd = l->d->signal_fd, .events = POLLIN },
		{ .fd = l->events ? xsf_events_fd(l->events) : -1, .events = POLLIN },
		{ .fd = l->d->top ? xsf_drops_top_fd(l->d->top) : -1, .events = POLLIN }
	};

	if (poll(p, 3, ms) < 0)
		return 0;
	if (p[1].revents && l->events && clock_ns(CLOCK_MONOTONIC) - l->named_ns >= SECOND_NS)
		refresh_names(l);
	return p[0].revents != 0;
}

static void loop(struct live *l)
{
	struct xsf_drops *d = l->d;
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), now = begin, last = begin;
	int told = 0;

	l->table_ns = begin;
	if (d->options->seconds)
		d->until_ns = begin + d->options->seconds * SECOND_NS;
	while (!d->ended && !d->failed && xsf_drops_ms_left(d)) {
		int next = (int)((last + SECOND_NS - now) / 1000000) + 1;

		if (wait_for_more(l, d->until_ns ? XSF_MIN(next, xsf_drops_ms_left(d)) : next))
			d->ended = XSF_DROPS_SIGNAL;
		if (l->events && read_batch(l) < 0) {
			xsf_error("cannot read the ring of events");
			d->failed = 1;
		}
		now = clock_ns(CLOCK_MONOTONIC);
		if (now - last >= SECOND_NS) {
			tick(l, &told);
			if (d->top)
				tick_top(l, now);
			last = now;
		}
		if (d->top && xsf_drops_top_keys(d->top))
			d->ended = XSF_DROPS_QUIT;
	}
}

/* Maps stay when programs are unloaded: then nothing comes, and that is to be told from no drops. */
static void warn_detached(struct live *l)
{
	if (!xsf_maps_snapshot(l->maps, l->snapshot, XSF_SNAPSHOT_NO_ROWS) &&
	    !l->snapshot->nr_attached)
		xsf_error("no program is attached now, so nothing comes; first: xdp-sflow load "
			  "IFACE; waiting");
}

int xsf_drops_live(struct xsf_drops *d)
{
	struct live l = { .d = d, .snapshot = malloc(sizeof(*l.snapshot)) };
	char why[WHY];
	int err = -ENOMEM;

	if (l.snapshot)
		err = open_rings(&l, why, sizeof(why));
	else
		snprintf(why, sizeof(why), "drops: out of memory");
	if (err) {
		xsf_error("%s", why);
		free(l.snapshot);
		return XSF_EXIT_FAILURE;
	}
	err = xsf_drops_begin(d);
	if (!err) {
		xsf_events_want_drops(l.events, 1);
		warn_detached(&l);
		loop(&l);
	}
	close_rings(&l);
	if (!err)
		end_top(&l);
	free(l.snapshot);
	return err;
}
