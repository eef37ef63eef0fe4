/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drops by place and by agent, as metrics and status show them: read out of a snapshot at one moment. */
#ifndef XSF_DROP_ROWS_H
#define XSF_DROP_ROWS_H

#include <stdint.h>
#include "model/snapshot.h"

/* Notifications of a port (or of an agent: ifindex XSF_PLACE_WHOLE_AGENT) and reason. */
struct xsf_drop_row {
	struct xsf_agent_key agent;
	uint32_t ifindex; /* 0: unknown */
	uint32_t reason;  /* one code for each name (xsf_reason_code()) */
	uint32_t source;  /* slot of that interface; 0: not known */
	uint32_t generation;
	uint64_t first_seen_ns;
	uint64_t last_seen_ns;
	uint64_t notified;
};

/* In the order in which they were first seen, so that the bound hides latecomers. */
struct xsf_drop_rows {
	struct xsf_drop_row *at;
	uint32_t nr;
	uint32_t hidden; /* beyond the bound */
};

struct xsf_drop_table {
	struct xsf_drop_rows places;
	struct xsf_drop_rows agents;
	/* Counts of rows that were silent and went to others, and of what found no row: of places and of
	 * agents, so that a notification may be in it twice. */
	uint64_t rest;
	uint32_t *pending; /* by agent slot: holes in the numbers of its notifications */
};

/* What one agent says of its drops. */
struct xsf_drop_sums {
	uint64_t notified;
	uint64_t suppressed;
	uint64_t lost;
	uint64_t duplicate;
	uint64_t reordered;
	uint64_t restarts;
	uint64_t at_least; /* dropped: notified (not again in duplicates), suppressed and lost */
};

/* Reads at most `max` rows of places and as many of agents; those that are silent are left out. 0 or
 * -ENOMEM. Holds 72 bytes a row. To be freed, also when it failed. */
int xsf_drop_table_read(const struct xsf_snapshot *s, uint32_t max, struct xsf_drop_table *out);
void xsf_drop_table_free(struct xsf_drop_table *d);

/* The interface that a row names; NULL when it is not known, or its slot has changed hands since. */
const struct xsf_interface *xsf_drop_row_interface(const struct xsf_snapshot *s,
						   const struct xsf_drop_row *row);

void xsf_drop_sums(const struct xsf_agent *agent, struct xsf_drop_sums *out);

#endif
