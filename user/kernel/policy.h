/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps that user space writes and programs only read: this host's addresses, and allowed sources. One
 * set for all interfaces of a pin directory. */
#ifndef XSF_POLICY_H
#define XSF_POLICY_H

#include "kernel/options.h"
#include "kernel/why.h"

/* Makes xsf_local the addresses of this network namespace: missing ones are added first, then those that
 * are gone are removed. Returns how many were added and removed, or negative errno. */
int xsf_local_sync(int map_fd, struct xsf_why *why);

/* Opens dir/xsf_local for xsf_local_sync. fd or negative errno. */
int xsf_local_open(const char *dir, struct xsf_why *why);

/* Makes xsf_allow the prefixes of the options, likewise. 0 or negative errno. */
int xsf_allow_sync(int map_fd, const struct xsf_load_options *o, struct xsf_why *why);

/* Removes all prefixes but those from such a map of at most `max`. 0 or negative errno. */
int xsf_prefixes_trim(int map_fd, const struct xsf_prefix_key *keep, uint32_t nr, uint32_t max);

#endif
