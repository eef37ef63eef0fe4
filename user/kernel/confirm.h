/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* load --confirm: what it did is undone unless `confirm` comes in time.
 *
 * A first attachment has no pin until it is confirmed: the process that waits holds the only descriptor of
 * its link, so that it also ends when that process is killed. A replacement keeps the program that was there
 * as prog_before; the waiting process puts it back. Should that one be killed the new program stays, still
 * marked as waiting, until confirm, load or unload. */
#ifndef XSF_CONFIRM_H
#define XSF_CONFIRM_H

#include <stdint.h>
#include "kernel/why.h"

#define XSF_MAX_CONFIRM_SECONDS 86400

/* Waits in the process that holds `link`, and undoes when the time is over. Returns when there is nothing to
 * wait for any more. */
void xsf_confirm_wait(const char *dir, const char *name, int link, uint32_t prog_id,
		      uint32_t seconds);

/* Keeps what waits on `ifname`, or everywhere (NULL). The caller holds the lock. Returns how many, 0 when
 * none waited, or negative errno. */
int xsf_confirm(const char *dir, const char *ifname, struct xsf_why *why);

/* Forgets what to return to. */
void xsf_confirm_drop(const char *dir, const char *name);

#endif
