// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/utf8.h"

#include <string.h>

/* Characters that show nothing themselves and only change how others look (Unicode: Default_Ignorable and
 * Bidi_Control): with them a name could be shown as another one. */
static int invisible(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0xad, 0xad },	      { 0x34f, 0x34f },	    { 0x61c, 0x61c },
		{ 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
		{ 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x206f },
		{ 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
		{ 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },   { 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (c >= ranges[i].first && c <= ranges[i].last)
			return 1;
	}
	return 0;
}

size_t xsf_character(const uint8_t *s, size_t n)
{
	uint32_t c, min;
	size_t len;

	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	if (s[0] >= 0xc2 && s[0] <= 0xdf) {
		len = 2;
		c = s[0] & 0x1f;
		min = 0xa0; /* U+0080 to U+009F are control characters */
	} else if ((s[0] & 0xf0) == 0xe0) {
		len = 3;
		c = s[0] & 0xf;
		min = 0x800;
	} else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		len = 4;
		c = s[0] & 7;
		min = 0x10000;
	} else {
		return 0;
	}
	if (n < len)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) || invisible(c))
		return 0;
	return len;
}

int xsf_text_shows(const char *text)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t len = strlen(text), n;

	for (; len; s += n, len -= n) {
		n = xsf_character(s, len);
		if (!n)
			return 0;
	}
	return 1;
}
