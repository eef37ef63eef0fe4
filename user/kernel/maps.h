/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pinned maps, for readers. Everything is opened read-only, so the read right of the pins' group is
 * enough, also where kernel.unprivileged_bpf_disabled is 1 or 2. */
#ifndef XSF_MAPS_H
#define XSF_MAPS_H

#include <stddef.h>
#include "model/snapshot.h"

struct xsf_maps;

/* Opens the maps pinned in `dir` (NULL: the default one). 0 and *maps, or negative errno and in `why` what
 * failed, why, and what to do, without a line end. -ENOENT: nothing is pinned there. */
int xsf_maps_open(const char *dir, struct xsf_maps **maps, char *why, size_t len);

/* Accepts NULL. Snapshots made from it are void afterwards. */
void xsf_maps_close(struct xsf_maps *maps);

/* 1 while what is pinned in the directory is what was opened; 0 when the pins are gone, out of reach or of
 * other maps. */
int xsf_maps_current(const struct xsf_maps *maps);

#define XSF_SNAPSHOT_NO_ROWS 1 /* leave ops, tos and rdma as they were at the last full snapshot */
#define XSF_SNAPSHOT_NO_PROGRAMS 2 /* leave out who is attached */
#define XSF_SNAPSHOT_FIRST_FABRIC \
	4 /* of the rows only those of groups 1 and 2; the others likewise */

/* All counts now. Rows and tables it points to belong to `maps` and are overwritten by the next call. `out`
 * is some 13 KB and need not be initialised. 0 or negative errno. */
int xsf_maps_snapshot(struct xsf_maps *maps, struct xsf_snapshot *out, unsigned int flags);

/* Groups that the maps have rows for: 1 + 2 * fabrics. */
uint32_t xsf_maps_groups(const struct xsf_maps *maps);

/* A row of the timeline: live, or with few rights a copy that the next call overwrites. NULL: no such row,
 * or the maps were made by programs that have no timeline. */
const struct xsf_timeline_row *xsf_maps_timeline(struct xsf_maps *maps, uint32_t row);

#endif
