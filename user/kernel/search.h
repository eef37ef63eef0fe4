/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where else a link or a map of ours may be pinned. */
#ifndef XSF_SEARCH_H
#define XSF_SEARCH_H

#include <limits.h>
#include <stdint.h>

/* Looks for a pin named "link" of this bpf_link in every BPF file system of this mount namespace, down to
 * XSF_SEARCH_DEPTH folders and XSF_SEARCH_ENTRIES entries. 1: found, its folder in where; 0: none. */
#define XSF_SEARCH_DEPTH 8
#define XSF_SEARCH_ENTRIES 16384
int xsf_search_link(uint32_t link_id, char where[PATH_MAX]);
/* Likewise for a pin of that name of an array map. */
int xsf_search_map(const char *name, uint32_t map_id, char where[PATH_MAX]);

#endif
