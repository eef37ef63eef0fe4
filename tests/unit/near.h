/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Floating point numbers in tests. */
#ifndef XSF_TEST_NEAR_H
#define XSF_TEST_NEAR_H

#include <math.h>

/* `got` is `want`, within `most`. */
#define expect_near(got, want, most) \
	do { \
		double got_ = (got), want_ = (want); \
\
		if (!(fabs(got_ - want_) <= (most))) \
			fail_msg("%s is %.12g, want %.12g", #got, got_, want_); \
	} while (0)

#endif
