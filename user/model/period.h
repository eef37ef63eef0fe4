/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The period of the jobs on each fabric: the timeline's slots (xsf/timeline.h) as a history of counts,
 * read once a second or so, and the search in it (model/period_find.h).
 *
 * Counted are RoCE packets at the edge where they come in; where no edge interface is sampled there, those
 * that go out (DESIGN 5.1). Resolution is that of the datagrams' arrival: agents that hold samples back
 * for up to T smear what is shorter than 2 T, and those that send by a timer put the timer's own period
 * into the timeline; while an agent's datagrams fill before the timer, neither matters. Where they do not
 * (model/batching.h), the timer's period is taken out, and none below 2 s is found. */
#ifndef XSF_PERIOD_H
#define XSF_PERIOD_H

#include <xsf/abi.h>
#include "model/batching.h"
#include "model/period_find.h"

struct xsf_periods;

/* For maps with rows for `nr_groups`; 190 KB for each line of xsf_periods_nr. NULL: no memory. */
struct xsf_periods *xsf_periods_new(uint32_t nr_groups);
void xsf_periods_free(struct xsf_periods *periods);

/* Lines: 0 is what belongs to no fabric, each interface alike; line 1 + n fabric n. */
uint32_t xsf_periods_nr(const struct xsf_periods *periods);

/* The row of the timeline that belongs to a line and direction (XSF_INGRESS or XSF_EGRESS). */
uint32_t xsf_periods_row(uint32_t line, uint32_t direction);

/* Takes over the whole slots since the last call. now_ns: CLOCK_MONOTONIC. The first call, and one later
 * than a revolution of the ring after the one before, begins the history anew. */
void xsf_periods_read(struct xsf_periods *periods, uint32_t line, uint32_t direction,
		      const struct xsf_timeline_row *row, uint64_t now_ns);

/* Searches every line that has counts: about half a millisecond each, a whole one where agents send
 * by their timer. batching: as of now; NULL: unknown, they do not. */
void xsf_periods_find(struct xsf_periods *periods, const struct xsf_batching *batching);

/* What the last search found, xsf_periods_nr of them. */
const struct xsf_period_found *xsf_periods_found(const struct xsf_periods *periods);

#endif
