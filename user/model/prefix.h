/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prefixes as they are written. */
#ifndef XSF_MODEL_PREFIX_H
#define XSF_MODEL_PREFIX_H

#include <xsf/abi.h>

/* "192.0.2.0/24", "2001:db8::/32", or an address alone. 0, or -EINVAL also where bits beyond the prefix
 * are set. */
int xsf_prefix_parse(const char *text, struct xsf_prefix_key *prefix);

#endif
