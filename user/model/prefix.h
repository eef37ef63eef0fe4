/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses and prefixes as they are written. */
#ifndef XSF_MODEL_PREFIX_H
#define XSF_MODEL_PREFIX_H

#include <stddef.h>
#include <stdint.h>
#include <xsf/abi.h>

/* "10.0.0.1", "fd00::1", of `len` bytes: in v4-mapped or IPv6 form. 0, or -EINVAL (addr may be written). */
int xsf_address_parse(const char *text, size_t len, uint8_t addr[16]);

/* "192.0.2.0/24", "2001:db8::/32", or an address alone. 0, or -EINVAL also where bits beyond the prefix
 * are set. */
int xsf_prefix_parse(const char *text, struct xsf_prefix_key *prefix);

#endif
