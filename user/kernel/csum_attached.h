/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of our tc programs are attached now. */
#ifndef XSF_CSUM_ATTACHED_H
#define XSF_CSUM_ATTACHED_H

#include "model/csum.h"
#include "model/snapshot.h"

/* Interfaces with an ingress qdisc that are looked at for programs attached by hand. */
#define XSF_CSUM_LOOKED 64

/* Those that count into the maps of `dir`: in this network namespace and, as far as the caller's rights
 * allow to see it, elsewhere. from[n]: where the prefixes of out[n] go. How many, or negative errno. */
int xsf_csum_programs(const char *dir, struct xsf_csum_attached *out,
		      struct xsf_prefix_key (*from)[XSF_CSUM_FROM_SHOWN], unsigned int max);

#endif
