/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The numbers in a frame that must grow from one run to the next, or it is a duplicate and costs less:
 * big-endian words of 32 bits at `off`. */
#ifndef XSF_BENCH_BUMP_H
#define XSF_BENCH_BUMP_H

#include <linux/types.h>

#define BUMP_FIELDS 12

struct bump {
	__u32 nr;
	struct {
		__u16 off;
		__u16 by;
	} field[BUMP_FIELDS];
};

#endif
