/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The facts of the ledger: BPF programs attached as long as somebody looks, and the kernel's own tables. */
#ifndef XSF_KERNEL_LEDGER_H
#define XSF_KERNEL_LEDGER_H

#include "kernel/why.h"
#include "model/ledger.h"

struct xsf_ledger_ask {
	const char *
		dir; /* pins of the XDP and checksum programs: there must be some; NULL: the default */
	const char *iface; /* NULL: all */
	uint16_t ports
		[XSF_LEDGER_PORTS]; /* 0 ends; none: the telemetry ports and the configured ones */
};

struct xsf_ledger_probe;

/* Attaches and begins to count. The programs are held by descriptors of this process alone. 0 and *probe, or
 * negative errno. */
int xsf_ledger_probe_open(const struct xsf_ledger_ask *ask, struct xsf_ledger_probe **probe,
			  struct xsf_why *why);

/* What was counted since, into *l (some 400 KB). 0 or negative errno. */
int xsf_ledger_probe_read(struct xsf_ledger_probe *probe, struct xsf_ledger *l,
			  struct xsf_why *why);

/* Detaches. Accepts NULL. */
void xsf_ledger_probe_close(struct xsf_ledger_probe *probe);

#endif
