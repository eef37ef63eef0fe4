// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Notifications of a capture, through the native build of the programs. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/capture.h"
#include "cmd/cmd.h"
#include "cmd/drops.h"
#include "model/store.h"

#define SECOND_NS 1000000000ull

struct replay {
	struct xsf_drops *d;
	struct xsf_store *store;
	struct xsf_snapshot *snapshot;
	uint64_t frames;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t named_ns; /* when names were last taken on the way */
};

static void replayed(void *arg, const struct xsf_event *event)
{
	struct replay *r = arg;

	if (!(event->flags & XSF_EVENT_FLOW))
		xsf_drops_event(r->d, event, event->ns);
}

/* 1 at the end of --seconds. */
static int frame(struct replay *r, const struct xsf_capture_frame *f)
{
	uint64_t seconds = r->d->options->seconds;

	if (!r->first_ns)
		r->first_ns = r->named_ns = f->ns;
	if (seconds && f->ns - r->first_ns >= seconds * SECOND_NS)
		return 1;
	r->last_ns = f->ns;
	r->frames++;
	xsf_store_frame(r->store, f->data, f->caplen, f->len, f->type, f->ns);
	return 0;
}

static void names_on_the_way(struct replay *r, uint64_t ns)
{
	if (ns - r->named_ns < SECOND_NS)
		return;
	r->named_ns = ns;
	xsf_store_snapshot(r->store, r->snapshot);
	xsf_drops_names(r->d, r->snapshot);
}

/* Names come with counters, perhaps behind the drops: so a file is read for them first. What is wrong with it
 * is told the second time. */
static void learn_names(struct replay *r, struct xsf_capture *capture)
{
	struct xsf_capture_frame f;
	char why[512];

	while (xsf_capture_next(capture, &f, why, sizeof(why)) > 0)
		xsf_store_frame(r->store, f.data, f.caplen, f.len, f.type, f.ns);
	xsf_store_snapshot(r->store, r->snapshot);
	xsf_drops_names(r->d, r->snapshot);
}

static int feed(struct replay *r, struct xsf_capture *capture, int known)
{
	const char *file = r->d->options->read;
	struct xsf_capture_frame f;
	char why[512];
	int got = 0;

	while (!r->d->ended && !r->d->failed &&
	       (got = xsf_capture_next(capture, &f, why, sizeof(why))) > 0) {
		if (r->first_ns && !known)
			names_on_the_way(r, f.ns);
		if (frame(r, &f))
			break;
		if (xsf_capture_is_live(capture))
			xsf_drops_flush(r->d);
	}
	xsf_drops_flush(r->d);
	if (got == -EINTR)
		r->d->ended = XSF_DROPS_SIGNAL;
	if (got >= 0 || got == -EINTR)
		return 0;
	xsf_error("%s: damaged: %s; what came before is shown", file, why);
	return XSF_EXIT_FAILURE;
}

/* Opens capture and store. 0, also when a signal ended the wait for it, or the exit code after a message. */
static int begin(struct replay *r, struct xsf_capture **capture)
{
	char why[512];
	int err;

	xsf_store_free(r->store);
	xsf_capture_close(*capture);
	*capture = NULL;
	r->store = xsf_store_new(&r->d->options->config);
	if (!r->store) {
		xsf_error("drops: out of memory (it needs about 60 MB)");
		return XSF_EXIT_FAILURE;
	}
	err = xsf_capture_open(r->d->options->read, r->d->signal_fd, capture, why, sizeof(why));
	if (err == -EINTR) {
		r->d->ended = XSF_DROPS_SIGNAL;
		return 0;
	}
	if (err)
		xsf_error("%s: %s", r->d->options->read, why);
	return err ? XSF_EXIT_FAILURE : 0;
}

int xsf_drops_read(struct xsf_drops *d)
{
	struct replay r = { .d = d, .snapshot = malloc(sizeof(*r.snapshot)) };
	int known = 0, code;
	struct xsf_capture *capture = NULL;

	if (!r.snapshot) {
		xsf_error("drops: out of memory");
		return XSF_EXIT_FAILURE;
	}
	code = begin(&r, &capture);
	if (!code && capture && !xsf_capture_is_live(capture)) {
		known = 1;
		learn_names(&r, capture);
		code = begin(&r, &capture);
	}
	if (!code)
		code = xsf_drops_begin(d);
	if (!code && capture) {
		xsf_store_on_event(r.store, replayed, &r);
		code = feed(&r, capture, known);
		d->notified = d->shown + d->filtered + d->left;
		xsf_store_snapshot(r.store, r.snapshot);
		if (r.frames && !r.snapshot->totals.datagrams)
			xsf_error("%s: no frame of %" PRIu64 " is sFlow to UDP port %u; "
				  "for another port: --port",
				  d->options->read, r.frames, d->options->config.ports[0]);
	}
	if (d->top)
		xsf_drops_top_tick(d->top, (double)(r.last_ns - r.first_ns) / SECOND_NS, 0);
	xsf_capture_close(capture);
	xsf_store_free(r.store);
	free(r.snapshot);
	return code;
}
