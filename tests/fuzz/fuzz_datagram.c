// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One sFlow datagram, twice: counted as the reference decoder counts it, told to a reader as that tells it,
 * nothing behind it read. */
#include <stdio.h>
#include "target.h"
#include "../progrun/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct reference reference;
	static struct events events, expected;
	struct xsf_store *s;
	char text[200];

	if (size > XSF_MAX_PAYLOAD)
		return 0;
	s = target_empty(0);
	reference_reset(&reference);
	events_clear(&events);
	events_clear(&expected);
	xsf_store_on_event(s, events_put, &events);
	reference.each = events_put;
	reference.arg = &expected;
	xsf_store_datagram(s, data, (uint32_t)size, 1);
	reference_datagram(&reference, data, size);
	/* Its sources are there now. As if there were so many that the walk looks ahead for them. */
	s->control[XSF_TABLE_SOURCES].next += XSF_TOUCH_SOURCES;
	xsf_store_datagram(s, data, (uint32_t)size, 2);
	reference_datagram(&reference, data, size);
	s->control[XSF_TABLE_SOURCES].next -= XSF_TOUCH_SOURCES;
	target_check(&reference);
	if (events_differ(&events, &expected, XSF_EVENT_DUPLICATE, text, sizeof(text))) {
		fprintf(stderr, "FOUND: %s\n", text);
		abort();
	}
	return 0;
}
