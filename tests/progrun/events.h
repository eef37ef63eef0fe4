/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events of one frame, as each decoder gives them, byte for byte. */
#ifndef XSF_PROGRUN_EVENTS_H
#define XSF_PROGRUN_EVENTS_H

#include <xsf/event.h>

/* More than a frame of the longest payload can hold, and that twice. */
#define EVENTS_MAX 512

enum event_kind { EVENTS_DROPS, EVENTS_FLOWS, EVENTS_KINDS };

struct events {
	struct xsf_event list[EVENTS_KINDS][EVENTS_MAX];
	uint32_t nr[EVENTS_KINDS];
};

/* Keeps one; `arg` is a struct events. Behind a flow sample are zeros. */
void events_put(void *arg, const struct xsf_event *event);

/* NULL when both have the same, but for the time, and for the flags in `but`; else which differs, in text. */
const char *events_differ(const struct events *a, const struct events *b, uint32_t but, char *text,
			  size_t len);

void events_clear(struct events *e);

#endif
