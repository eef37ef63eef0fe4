/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said in one line, whatever a name in it holds. */
#ifndef XSF_MODEL_LINE_H
#define XSF_MODEL_LINE_H

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf; each byte of what cannot be shown (xsf_character) becomes '?'. */
void xsf_line(char *buf, size_t len, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

#endif
