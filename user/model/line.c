// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/line.h"

#include <stdio.h>
#include <string.h>
#include "model/utf8.h"

void xsf_line(char *buf, size_t len, const char *format, va_list args)
{
	char *at = buf;
	size_t left, n;

	vsnprintf(buf, len, format, args);
	for (left = strlen(buf); left; at += n, left -= n) {
		n = xsf_character((const uint8_t *)at, left);
		if (!n) {
			*at = '?';
			n = 1;
		}
	}
}
