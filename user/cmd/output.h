/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Snapshots on standard output, for every command that has one. The caller checks ferror(stdout). */
#ifndef XSF_OUTPUT_H
#define XSF_OUTPUT_H

#include "model/snapshot.h"

/* Lines of each list in the summary; the rest is a line that says how many. */
#define XSF_SUMMARY_ROWS 32

void xsf_print_json(const struct xsf_snapshot *snapshot);

/* Its checksums alone. */
void xsf_print_csum_json(const struct xsf_csum *csum);

/* Every interface, whatever their number. */
void xsf_print_metrics(const struct xsf_snapshot *snapshot);

/* For people: totals, faults, agents, topology, operations, drops. */
void xsf_print_summary(const struct xsf_snapshot *snapshot);

#endif
