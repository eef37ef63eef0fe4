/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Giving up what a command does not need any more. */
#ifndef XSF_PRIVILEGES_H
#define XSF_PRIVILEGES_H

#include <stddef.h>

/* For what only reads pinned maps. From here on nothing that is executed gains rights (no_new_privs).
 *
 * user NULL: this user goes on, with no capability but CAP_SYS_ADMIN, where it has it: without it the
 * kernel does not open programs by number, so those that were attached by other means than load, or in
 * other network namespaces, could not be told.
 * Else: goes on as that user, with its groups and no capability at all; needs root.
 *
 * 0, or negative errno and in `why` what failed and what to do. */
int xsf_drop_privileges(const char *user, char *why, size_t len);

#endif
