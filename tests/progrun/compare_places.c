// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "compare.h"

#include <stdio.h>
#include <string.h>

const char *compare_places(const struct xsf_snapshot *kernel, const struct xsf_snapshot *native,
			   char text[COMPARE_TEXT])
{
	for (uint32_t i = 0; i < native->nr_places; i++) {
		struct xsf_drop_place a, b;

		if (!kernel->places[i].state && !native->places[i].state)
			continue;
		a = kernel->places[i];
		b = native->places[i];
		if (a.first_seen_ns > a.last_seen_ns || b.first_seen_ns > b.last_seen_ns) {
			snprintf(text, COMPARE_TEXT, "place %u: first seen after last seen", i);
			return text;
		}
		a.first_seen_ns = a.last_seen_ns = b.first_seen_ns = b.last_seen_ns = 0;
		if (!memcmp(&a, &b, sizeof(a)))
			continue;
		snprintf(text, COMPARE_TEXT,
			 "place %u: state %u ifindex %u reason %u notified %llu and state %u "
			 "ifindex %u reason %u notified %llu",
			 i, a.state, a.ifindex, a.reason, (unsigned long long)a.notified, b.state,
			 b.ifindex, b.reason, (unsigned long long)b.notified);
		return text;
	}
	return NULL;
}

const char *compare_places_reference(const struct xsf_snapshot *s, struct reference *r,
				     char text[COMPARE_TEXT])
{
	uint32_t nr = 0;

	for (uint32_t i = 1; i < s->nr_places; i++) {
		const struct xsf_drop_place *p = &s->places[i];
		uint64_t want;

		if (p->state != XSF_PLACE_IN_USE)
			continue;
		nr++;
		want = *reference_place_of(r, &p->agent, p->ifindex, p->reason);
		/* One that found its rows taken counts in row 0, and may have one later. */
		if (p->notified == want || (s->totals.places_full && p->notified < want))
			continue;
		snprintf(text, COMPARE_TEXT, "place %u: ifindex %u reason %u: %llu and %llu", i,
			 p->ifindex, p->reason, (unsigned long long)p->notified,
			 (unsigned long long)want);
		return text;
	}
	if (nr == r->nr_places || s->totals.places_full)
		return NULL;
	snprintf(text, COMPARE_TEXT, "places: %u and %u", nr, r->nr_places);
	return text;
}
