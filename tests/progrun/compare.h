/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two snapshots of the same traffic, counter for counter. */
#ifndef XSF_PROGRUN_COMPARE_H
#define XSF_PROGRUN_COMPARE_H

#include "model/snapshot.h"
#include "reference.h"

#define COMPARE_TEXT 400

/* NULL when every counter of every table is equal; else which one is not, in text. Slots too: on one CPU
 * both sides hand them out in the same order. Of times only the order is compared: nanoseconds of
 * the kernel's coarse clock and of the test's own. */
const char *compare_snapshots(const struct xsf_snapshot *kernel, const struct xsf_snapshot *native,
			      char text[COMPARE_TEXT]);

/* The part of it about drops by place (xsf/event.h). */
const char *compare_places(const struct xsf_snapshot *kernel, const struct xsf_snapshot *native,
			   char text[COMPARE_TEXT]);

/* Likewise a snapshot against what the reference decoder made of the same datagrams: sums over all groups,
 * and each agent and source while all have a place. */
const char *compare_reference(const struct xsf_snapshot *s, struct reference *r,
			      char text[COMPARE_TEXT]);
const char *compare_places_reference(const struct xsf_snapshot *s, struct reference *r,
				     char text[COMPARE_TEXT]);

#endif
