// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/line.h"

#include <stdio.h>

void xsf_line(char *buf, size_t len, const char *format, va_list args)
{
	vsnprintf(buf, len, format, args);
	for (char *c = buf; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	}
}
