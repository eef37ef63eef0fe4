/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Within `drops`: where notifications come from (drops_live.c: the rings; drops_read.c: a capture), and what
 * becomes of them (drops_sink.c: filter, forms of output, counts; drops_top.c: tables). */
#ifndef XSF_CMD_DROPS_H
#define XSF_CMD_DROPS_H

#include <xsf/abi.h>
#include "model/event_filter.h"
#include "model/flow_names.h"
#include "serve/text.h"

#define XSF_DROPS_LISTS 3 /* reasons, agents, interfaces */

struct xsf_drops_options {
	struct xsf_event_filter_options filter; /* its lists are those below */
	char lists[XSF_DROPS_LISTS][XSF_FILTER_TEXT + 1];
	const char *read;  /* NULL: live */
	const char *write; /* NULL: no file; "-": standard output */
	const char *dir;   /* of pins */
	uint64_t count;	   /* 0: no end */
	uint64_t seconds;
	uint32_t ring; /* bytes */
	int json;
	int top;
	struct xsf_config config; /* of a replay: its ports */
	const char *for_live;	  /* an option that was given and needs programs; NULL: none */
	const char *for_read;	  /* likewise, a capture */
};

/* Bytes on their way to a descriptor. */
struct xsf_drops_out {
	int fd;		  /* -1: none */
	const char *name; /* for messages */
	struct xsf_text text;
};

struct xsf_drops_top;
struct xsf_pcapng;

struct xsf_drops {
	const struct xsf_drops_options *options;
	struct xsf_event_filter *filter;
	struct xsf_name_table *names;
	struct xsf_pcapng *pcapng;
	struct xsf_drops_top *top;
	struct xsf_drops_out lines; /* text or JSON, on standard output */
	struct xsf_drops_out file;  /* pcapng */
	int signal_fd;
	uint64_t until_ns;   /* CLOCK_MONOTONIC: no wait lasts longer; 0: no end */
	time_t clock_second; /* what `clock` tells, "05:44:21" */
	char clock[16];
	uint64_t shown;
	uint64_t filtered;
	uint64_t left; /* came after --count was reached */
	uint64_t shed;
	uint64_t notified; /* live: by the programs' own count */
	int began;	   /* all that is needed is open */
	int ended;	   /* no more is to be shown; nonzero: why */
	const char *stuck; /* output that did not take what was left at the end */
	int failed;	   /* after a message */
};

/* Values of `ended`. */
enum { XSF_DROPS_COUNT = 1, XSF_DROPS_SIGNAL, XSF_DROPS_TIME, XSF_DROPS_PIPE, XSF_DROPS_QUIT };

/* 0, or the exit code after a message. Then xsf_drops_close in any case. */
int xsf_drops_open(struct xsf_drops *d, const struct xsf_drops_options *o);
/* The file of --write and the tables of --top, once the notifications can be read: what fails before leaves a
 * file as it was. 0 or the exit code after a message. */
int xsf_drops_begin(struct xsf_drops *d);
void xsf_drops_close(struct xsf_drops *d);

/* Names as a snapshot has them; without topologies, so that a switch is called what it calls itself. */
void xsf_drops_names(struct xsf_drops *d, const struct xsf_snapshot *s);

/* One notification, that came at time_ns since 1970. */
void xsf_drops_event(struct xsf_drops *d, const struct xsf_event *event, uint64_t time_ns);

/* Milliseconds until until_ns, rounded up; 0 behind it; -1 without one. As poll() wants them. */
int xsf_drops_ms_left(const struct xsf_drops *d);

/* Writes what is ready. */
void xsf_drops_flush(struct xsf_drops *d);

/* The rings or the capture, until an end. 0 or the exit code after a message. */
int xsf_drops_live(struct xsf_drops *d);
int xsf_drops_read(struct xsf_drops *d);

/* Tables on a terminal or, elsewhere, as text to `out`. NULL: no memory. */
struct xsf_drops_top *xsf_drops_top_open(struct xsf_drops_out *out, int live);
void xsf_drops_top_close(struct xsf_drops_top *top);
void xsf_drops_top_add(struct xsf_drops_top *top, const struct xsf_event_view *view);

/* Once a second: draws what the last `seconds` brought; shed: since the start. */
void xsf_drops_top_tick(struct xsf_drops_top *top, double seconds, uint64_t shed);

/* Readable when a key was pressed; -1: there are none. */
int xsf_drops_top_fd(const struct xsf_drops_top *top);

/* Keys that were pressed, if any can be: 1 when it shall end. */
int xsf_drops_top_keys(struct xsf_drops_top *top);

#endif
