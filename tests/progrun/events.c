// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "events.h"

void events_clear(struct events *e)
{
	e->nr[EVENTS_DROPS] = e->nr[EVENTS_FLOWS] = 0;
}

void events_put(void *arg, const struct xsf_event *event)
{
	enum event_kind kind = event->flags & XSF_EVENT_FLOW ? EVENTS_FLOWS : EVENTS_DROPS;
	struct events *e = arg;
	struct xsf_event *to;

	if (e->nr[kind] == EVENTS_MAX)
		abort();
	to = &e->list[kind][e->nr[kind]++];
	memset(to, 0, sizeof(*to));
	memcpy(to, event, kind == EVENTS_FLOWS ? XSF_EVENT_FLOW_LEN : sizeof(*to));
	to->ns = 0;
}

const char *events_differ(const struct events *a, const struct events *b, uint32_t but, char *text,
			  size_t len)
{
	for (int kind = 0; kind < EVENTS_KINDS; kind++) {
		const char *what = kind == EVENTS_DROPS ? "notifications" : "flow samples";

		if (a->nr[kind] != b->nr[kind]) {
			snprintf(text, len, "events: %u and %u %s", a->nr[kind], b->nr[kind], what);
			return text;
		}
		for (uint32_t i = 0; i < a->nr[kind]; i++) {
			struct xsf_event x = a->list[kind][i], y = b->list[kind][i];
			const uint8_t *p = (const uint8_t *)&x, *q = (const uint8_t *)&y;
			size_t at = 0;

			x.flags &= ~but;
			y.flags &= ~but;
			while (at < sizeof(x) && p[at] == q[at])
				at++;
			if (at == sizeof(x))
				continue;
			snprintf(text, len, "events: %s %u: byte %zu: %02x and %02x", what, i, at,
				 p[at], q[at]);
			return text;
		}
	}
	return NULL;
}
