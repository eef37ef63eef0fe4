/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The map of the sources' groups, for the one process that gives them out. The programs only read it. */
#ifndef XSF_KERNEL_GROUPS_H
#define XSF_KERNEL_GROUPS_H

#include <stddef.h>
#include <stdint.h>

struct xsf_groups;

/* Opens xsf_groups of a pin directory (NULL: the default one) for writing. 0, or negative errno with a
 * reason; -EACCES, -EPERM: only for reading. */
int xsf_groups_open(const char *dir, struct xsf_groups **out, char *why, size_t len);

/* NULL is fine. What was written stays. */
void xsf_groups_close(struct xsf_groups *groups);

/* Gives the source of that generation in a slot its group, at once for the programs. slot < XSF_SOURCES.
 * 1: the same had been put there before, and somebody else has changed it. */
int xsf_groups_put(struct xsf_groups *groups, uint32_t slot, uint32_t generation, uint8_t group);

#endif
