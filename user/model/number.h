/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers as texts from outside hold them. */
#ifndef XSF_MODEL_NUMBER_H
#define XSF_MODEL_NUMBER_H

/* Decimal, perhaps with sign, fraction and exponent; no infinity, no hexadecimal, nothing around it. 0, or
 * -EINVAL with *value undefined. */
int xsf_number(const char *text, double *value);

#endif
