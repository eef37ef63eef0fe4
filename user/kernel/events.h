/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A reader's own rings of events (xsf/event.h): drop notifications, and flow samples. Opening takes a place
 * of XSF_EVENT_READERS, held by a lock that ends with the process, so that a place of a reader that died is
 * found free and cleaned. Needs CAP_BPF and the write right of the pins; once open, what follows needs
 * none. */
#ifndef XSF_KERNEL_EVENTS_H
#define XSF_KERNEL_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <xsf/event.h>

struct xsf_events;

/* Bytes of a ring: a power of two, from a page to XSF_EVENTS_RING_MAX. */
#define XSF_EVENTS_RING_DEFAULT 4194304
#define XSF_EVENTS_RING_MAX 1073741824

struct xsf_events_options {
	const char *dir; /* pins; NULL: the default directory */
	/* Bytes of each ring; 0: none, no such events. */
	uint32_t drops_ring;
	uint32_t samples_ring;
};

/* 0 and *events, with nothing asked for yet; or negative errno and in `why` what failed, why, and what to do.
 * -ENOENT: nothing is pinned there, or by programs without events. -EBUSY: all places are taken by readers
 * that live. */
int xsf_events_open(const struct xsf_events_options *options, struct xsf_events **events, char *why,
		    size_t len);

/* Gives the place back. NULL is fine. */
void xsf_events_close(struct xsf_events *events);

/* From now on, and no more. */
void xsf_events_want_drops(struct xsf_events *events, int on);
void xsf_events_want_samples(struct xsf_events *events, int on);

/* Readable when there is something in a ring (epoll of libbpf). */
int xsf_events_fd(const struct xsf_events *events);

/* Hands up to max events that are there to `each`, in the order of their ring, drops first; does not wait. An
 * event is valid during the call; when that returns nonzero, it was the last. Returns how many, or negative
 * errno. */
int xsf_events_read(struct xsf_events *events, unsigned int max,
		    int (*each)(void *arg, const struct xsf_event *event), void *arg);

/* Sent and shed since the opening. 0 or negative errno. */
int xsf_events_counts(const struct xsf_events *events, struct xsf_event_counts *counts);

/* Frees the places of readers of a directory (NULL: the default one) that died: their rings take memory, and
 * programs' time, until somebody does. Opening does, too. Says nothing when it must not. */
void xsf_events_clean(const char *dir);

/* 1 while the rings are in the maps that are pinned in the directory now; else reopen. */
int xsf_events_current(const struct xsf_events *events);

#endif
