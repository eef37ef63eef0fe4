/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dies with a message when the snapshot's sums do not hold, or the reference (NULL: none) has other counts.
 * In a file of its own, which is built without the sanitizers and without coverage: it is not what is tested,
 * and would cost more than the rest. */
#ifndef XSF_FUZZ_CHECK_H
#define XSF_FUZZ_CHECK_H

#include "../progrun/compare.h"

void check(const struct xsf_snapshot *s, struct reference *reference);

#endif
