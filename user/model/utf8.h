/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which characters of a foreign text can be shown as they are. */
#ifndef XSF_MODEL_UTF8_H
#define XSF_MODEL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at s (n > 0 bytes are left) when it is valid UTF-8 (RFC 3629), no control character
 * and not invisible; else 0: '?' is shown for its first byte. */
size_t xsf_character(const uint8_t *s, size_t n);

/* 1: the whole text is such characters. */
int xsf_text_shows(const char *text);

#endif
