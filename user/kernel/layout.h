/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is a pinned map the one that this version knows? */
#ifndef XSF_LAYOUT_H
#define XSF_LAYOUT_H

#include <stdint.h>
#include "kernel/why.h"

struct xsf_layout {
	uint32_t type; /* BPF_MAP_TYPE_* */
	uint32_t key_size;
	uint32_t value_size;
	uint32_t entries;
	uint32_t flags; /* BPF_F_* */
	/* Not 0: a row for each group; any odd number of groups from 3 on is right, and this many rows
	 * belong to one. */
	uint32_t rows_per_group;
};

/* Compares an open map with `want`; `path` is for the message. 0, -EPROTO and a line that names the pin, what
 * differs and what to do, or another negative errno. *id and *entries (may be NULL): the map's own. */
int xsf_layout_check(int fd, const char *path, const struct xsf_layout *want, uint32_t *id,
		     uint32_t *entries, struct xsf_why *why);

#endif
