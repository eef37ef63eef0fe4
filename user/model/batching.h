/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Do agents send their samples when a datagram is full, or when their timer says so? An agent may
 * hold a sample back for a second (sFlow version 5); one that has few to tell empties its datagram
 * by a timer, and arrivals then have the timer's period, whatever the load does. Told from the rates
 * of samples and datagrams of each agent, without a look at any datagram. */
#ifndef XSF_BATCHING_H
#define XSF_BATCHING_H

#include "model/snapshot.h"

/* An agent's timer counts for much when it sends no more datagrams a second than that; or no more
 * samples, and they do not go one by one. Full datagrams have 7 samples of 128 bytes or more; where
 * twice that fills in a second, what the timer sends is lost among the others. */
#define XSF_BATCHING_DATAGRAMS 3
#define XSF_BATCHING_SAMPLES 20
#define XSF_BATCHING_ALONE 1.5 /* samples of a datagram, less: one by one */

struct xsf_batching;

/* 230 KB. NULL: no memory. */
struct xsf_batching *xsf_batching_new(void);
void xsf_batching_free(struct xsf_batching *b);

/* About once a second; rates are means over the last ten. Snapshots of other maps begin anew. */
void xsf_batching_update(struct xsf_batching *b, const struct xsf_snapshot *s);

/* Do most samples of a line (model/period.h) come from agents that send by their timer? b: NULL: no. */
int xsf_batching_held(const struct xsf_batching *b, uint32_t line);

#endif
