/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The checksum policy on the command line, and what came of it as text. */
#ifndef XSF_CMD_REPAIR_H
#define XSF_CMD_REPAIR_H

#include "kernel/options.h"
#include "model/csum.h"

/* One of XSF_OPT_REPAIR, _REPAIR_FROM, _OBSERVE and _NO_CHECKSUM. 0, or the exit code after a message. */
int xsf_repair_arg(struct xsf_csum_options *c, const char *command, int opt, const char *value);

/* What goes with what. Likewise. */
int xsf_repair_args_check(const struct xsf_csum_options *c, const char *command);

/* "repairing 4739 from 2 prefixes, observing 6343, 2055"; returns buf. */
#define XSF_POLICY_TEXT 160
const char *xsf_policy_text(const struct xsf_csum_policy *policy, char buf[XSF_POLICY_TEXT]);

/* Its first part alone; "" when it repairs nothing. Likewise. */
const char *xsf_repairing_text(const struct xsf_csum_policy *policy, char buf[XSF_POLICY_TEXT]);

/* For people: what is attached, each port, each source, and the command that repairs. Nothing where there
 * are no such maps. */
void xsf_print_csum(const struct xsf_csum *c, uint64_t now_ns);

#endif
