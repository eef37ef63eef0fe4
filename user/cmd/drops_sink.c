// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What becomes of a notification: filter, forms of output, counts. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/drops.h"
#include "serve/event_json.h"
#include "serve/event_text.h"
#include "serve/pcapng.h"

#define OUT_BYTES 65536
/* A pipe that poll calls writable takes as many without waiting (PIPE_BUF). */
#define CHUNK 4096

_Static_assert(XSF_EVENT_JSON <= OUT_BYTES && XSF_PCAPNG_PIECE <= OUT_BYTES, "one always fits");

static uint64_t random64(void)
{
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uint64_t)getpid();
	return seed;
}

int xsf_drops_ms_left(const struct xsf_drops *d)
{
	struct timespec t;
	uint64_t now;

	if (!d->until_ns)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	return now < d->until_ns ?
		       (int)XSF_MIN((d->until_ns - now) / 1000000 + 1, (uint64_t)INT_MAX) :
		       0;
}

/* ---- bytes ---- */

static int out_open(struct xsf_drops_out *out, int fd, const char *name)
{
	out->fd = fd;
	out->name = name;
	out->text = (struct xsf_text){ .buf = malloc(OUT_BYTES), .max = OUT_BYTES };
	return out->text.buf ? 0 : -ENOMEM;
}

static void broken(struct xsf_drops *d, const struct xsf_drops_out *out, int err)
{
	/* Who read it has read enough. */
	if (err == EPIPE) {
		d->ended = XSF_DROPS_PIPE;
		return;
	}
	xsf_error("cannot write to %s: %s", out->name, strerror(err));
	d->failed = 1;
}

/* Waits until the descriptor takes more. A signal, a key or the time end it: the rest is not written. 0, or
 * nonzero. */
static int wait_writable(struct xsf_drops *d, const struct xsf_drops_out *out)
{
	struct pollfd p[3] = { { .fd = out->fd, .events = POLLOUT },
			       { .fd = d->signal_fd, .events = POLLIN },
			       { .fd = d->top ? xsf_drops_top_fd(d->top) : -1, .events = POLLIN } };

	for (;;) {
		if (poll(p, 3, xsf_drops_ms_left(d)) < 0) {
			if (errno != EINTR)
				return 0; /* write tells why */
			continue;
		}
		if (p[0].revents)
			return 0;
		if (p[1].revents)
			d->ended = XSF_DROPS_SIGNAL;
		else if (p[2].revents && xsf_drops_top_keys(d->top))
			d->ended = XSF_DROPS_QUIT;
		else if (!xsf_drops_ms_left(d))
			d->ended = XSF_DROPS_TIME;
		else
			continue;
		d->stuck = out->name;
		return 1;
	}
}

static void out_flush(struct xsf_drops *d, struct xsf_drops_out *out)
{
	size_t done = 0;

	while (done < out->text.len && !d->failed && d->ended != XSF_DROPS_PIPE) {
		ssize_t n;

		if (wait_writable(d, out))
			break;
		n = write(out->fd, out->text.buf + done, XSF_MIN(out->text.len - done, CHUNK));
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			broken(d, out, errno);
	}
	out->text.len = 0;
}

/* Room for a piece of so many bytes. */
static struct xsf_text *out_room(struct xsf_drops *d, struct xsf_drops_out *out, size_t n)
{
	if (out->text.max - out->text.len < n)
		out_flush(d, out);
	return &out->text;
}

void xsf_drops_flush(struct xsf_drops *d)
{
	if (d->lines.fd >= 0)
		out_flush(d, &d->lines);
	if (d->file.fd >= 0)
		out_flush(d, &d->file);
}

/* ---- open, close ---- */

/* 1: the file is what is read. */
static int is_input(const struct xsf_drops *d, int fd)
{
	struct stat in, out;

	return d->options->read && strcmp(d->options->read, "-") != 0 &&
	       !stat(d->options->read, &in) && !fstat(fd, &out) && S_ISREG(out.st_mode) &&
	       in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

static int open_file(struct xsf_drops *d, const char *path)
{
	int fd = STDOUT_FILENO;

	/* A pipe that nobody reads is refused, not waited for. */
	if (strcmp(path, "-") != 0)
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
	if (fd < 0) {
		xsf_error("cannot write %s: %s", path,
			  errno == ENXIO ? "nobody reads that pipe" : strerror(errno));
		return XSF_EXIT_FAILURE;
	}
	if (is_input(d, fd)) {
		xsf_error("cannot write %s: it is what --read reads", path);
		close(fd);
		return XSF_EXIT_FAILURE;
	}
	if (fd != STDOUT_FILENO && ftruncate(fd, 0) && errno != EINVAL) {
		xsf_error("cannot write %s: %s", path, strerror(errno));
		close(fd);
		return XSF_EXIT_FAILURE;
	}
	d->pcapng = xsf_pcapng_new(0, random64());
	if (out_open(&d->file, fd, fd == STDOUT_FILENO ? "standard output" : path) || !d->pcapng) {
		xsf_error("drops: out of memory");
		return XSF_EXIT_FAILURE;
	}
	xsf_pcapng_begin(&d->file.text, "xdp-sflow " XSF_VERSION);
	return 0;
}

int xsf_drops_open(struct xsf_drops *d, const struct xsf_drops_options *o)
{
	char why[512];

	*d = (struct xsf_drops){
		.options = o, .lines.fd = -1, .file.fd = -1, .signal_fd = -1, .clock_second = -1
	};
	if (xsf_event_filter_new(&o->filter, &d->filter, why, sizeof(why))) {
		if (o->filter.expression && if_nametoindex(o->filter.expression))
			return xsf_usage(
				"drops",
				"'%s' is no filter; drops takes no interface, it shows what "
				"all programs see",
				o->filter.expression);
		return xsf_usage("drops", "%s", why);
	}
	d->signal_fd = xsf_end_signals();
	if (d->signal_fd < 0) {
		xsf_error("cannot wait for signals: %s", strerror(-d->signal_fd));
		return XSF_EXIT_FAILURE;
	}
	d->names = xsf_name_table_new(random64(), NULL);
	if (!d->names || ((!o->write || o->json || o->top) &&
			  out_open(&d->lines, STDOUT_FILENO, "standard output"))) {
		xsf_error("drops: out of memory");
		return XSF_EXIT_FAILURE;
	}
	return 0;
}

int xsf_drops_begin(struct xsf_drops *d)
{
	const struct xsf_drops_options *o = d->options;

	if (o->write && open_file(d, o->write))
		return XSF_EXIT_FAILURE;
	if (o->top)
		d->top = xsf_drops_top_open(&d->lines, !o->read);
	if (o->top && !d->top) {
		xsf_error("drops: out of memory");
		return XSF_EXIT_FAILURE;
	}
	d->began = 1;
	return 0;
}

void xsf_drops_close(struct xsf_drops *d)
{
	xsf_drops_top_close(d->top);
	xsf_event_filter_free(d->filter);
	xsf_name_table_free(d->names);
	xsf_pcapng_free(d->pcapng);
	free(d->lines.text.buf);
	free(d->file.text.buf);
	if (d->file.fd > STDOUT_FILENO)
		close(d->file.fd);
	if (d->signal_fd >= 0)
		close(d->signal_fd);
}

void xsf_drops_names(struct xsf_drops *d, const struct xsf_snapshot *s)
{
	struct xsf_bindings *none = xsf_bindings_new();

	if (none && !xsf_bindings_update(none, s))
		xsf_name_table_update(d->names, s, none);
	xsf_bindings_free(none);
}

/* ---- one notification ---- */

static void clock_text(struct xsf_drops *d, struct xsf_text *t, uint64_t ns)
{
	time_t second = (time_t)(ns / 1000000000);
	char micro[16];
	struct tm tm;

	if (second != d->clock_second && localtime_r(&second, &tm)) {
		strftime(d->clock, sizeof(d->clock), "%H:%M:%S", &tm);
		d->clock_second = second;
	}
	snprintf(micro, sizeof(micro), ".%06u ", (unsigned int)(ns % 1000000000 / 1000));
	xsf_text_str(t, d->clock);
	xsf_text_str(t, micro);
}

static void show(struct xsf_drops *d, const struct xsf_event_view *v)
{
	struct xsf_text *t;

	if (d->pcapng)
		xsf_pcapng_event(d->pcapng, out_room(d, &d->file, XSF_PCAPNG_PIECE), v);
	if (d->top)
		xsf_drops_top_add(d->top, v);
	if (d->options->json) {
		t = out_room(d, &d->lines, XSF_EVENT_JSON);
		xsf_event_json(t, v);
		xsf_text_char(t, '\n');
	} else if (d->lines.fd >= 0 && !d->options->top) {
		t = out_room(d, &d->lines, XSF_EVENT_LINE);
		clock_text(d, t, v->time_ns);
		xsf_event_text(t, v);
		xsf_text_char(t, '\n');
	}
}

void xsf_drops_event(struct xsf_drops *d, const struct xsf_event *event, uint64_t time_ns)
{
	struct xsf_event_view view;

	if (event->flags & XSF_EVENT_FLOW)
		return;
	if (d->options->count && d->shown == d->options->count) {
		d->left++;
		return;
	}
	xsf_event_view(&view, event, time_ns, xsf_name_table_names(d->names));
	if (!xsf_event_filter_match(d->filter, &view)) {
		d->filtered++;
		return;
	}
	d->shown++;
	show(d, &view);
	if (d->options->count && d->shown == d->options->count)
		d->ended = XSF_DROPS_COUNT;
}
