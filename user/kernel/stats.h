/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Run time and run count of BPF programs, which the kernel keeps only while somebody asks for it. */
#ifndef XSF_STATS_H
#define XSF_STATS_H

/* Has the kernel keep them, for all programs of the machine, until the returned descriptor is closed (or
 * for longer, if others ask too). Costs each run of each program two reads of the clock. Needs
 * CAP_SYS_ADMIN. A descriptor, or negative errno. */
int xsf_stats_enable(void);

#endif
