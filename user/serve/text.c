// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "model/snapshot.h"
#include "model/utf8.h"

static const char digit_pairs[] = "0001020304050607080910111213141516171819"
				  "2021222324252627282930313233343536373839"
				  "4041424344454647484950515253545556575859"
				  "6061626364656667686970717273747576777879"
				  "8081828384858687888990919293949596979899";

/* Digits of v, right-aligned at `end`; returns where they start. */
static char *digits(char *end, uint64_t v)
{
	while (v >= 100) {
		end -= 2;
		memcpy(end, digit_pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, digit_pairs + v * 2, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

void xsf_text_u64(struct xsf_text *t, uint64_t v)
{
	char buf[20], *end = buf + sizeof(buf), *p = digits(end, v);

	xsf_text_add(t, p, (size_t)(end - p));
}

void xsf_text_milli(struct xsf_text *t, uint64_t v)
{
	char fraction[4] = { '.', '0', '0', '0' };

	xsf_text_u64(t, v / 1000);
	digits(fraction + 4, v % 1000);
	xsf_text_add(t, fraction, sizeof(fraction));
}

void xsf_text_double(struct xsf_text *t, double v)
{
	char buf[48];
	size_t len;

	if (!(v > -1e30 && v < 1e30))
		v = 0;
	len = (size_t)snprintf(buf, sizeof(buf), "%.6f", v);
	while (buf[len - 1] == '0')
		len--;
	if (buf[len - 1] == '.')
		len--;
	if (len == 2 && buf[0] == '-' && buf[1] == '0')
		xsf_text_char(t, '0');
	else
		xsf_text_add(t, buf, len);
}

void xsf_text_address(struct xsf_text *t, const uint8_t addr[16])
{
	char buf[XSF_ADDRESS_TEXT];

	xsf_text_str(t, xsf_address_text(addr, buf));
}

/* Stands for itself, whatever comes before or after. */
static int plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '\\' && c != '"';
}

/* Writes one that is not plain, of the n > 0 bytes at s; returns how many it took. */
static size_t odd_character(struct xsf_text *t, const uint8_t *s, size_t n)
{
	size_t len = xsf_character(s, n);

	if (*s == '\n') {
		XSF_TEXT_LIT(t, "\\n");
		return 1;
	}
	if (!len) {
		xsf_text_char(t, '?');
		return 1;
	}
	if (*s == '\\' || *s == '"')
		xsf_text_char(t, '\\');
	xsf_text_add(t, (const char *)s, len);
	return len;
}

void xsf_text_bytes(struct xsf_text *t, const char *s, size_t n)
{
	const uint8_t *at = (const uint8_t *)s;

	for (size_t i = 0, start; i < n;) {
		/* Nearly all texts are one such run. */
		for (start = i; i < n && plain(at[i]); i++)
			;
		xsf_text_add(t, s + start, i - start);
		if (i < n)
			i += odd_character(t, at + i, n - i);
	}
}

void xsf_text_name(struct xsf_text *t, const uint8_t *name, size_t n)
{
	uint8_t copy[XSF_NAME_LEN];

	n = XSF_MIN(n, sizeof(copy));
	if (!n)
		return;
	memcpy(copy, name, n);
	xsf_text_bytes(t, (const char *)copy, n);
}

void xsf_text_quoted(struct xsf_text *t, const char *s)
{
	xsf_text_name(t, (const uint8_t *)s, strnlen(s, XSF_NAME_LEN));
}

char *xsf_text_take(struct xsf_text *t, size_t *len)
{
	*len = t->len;
	if (!t->full)
		return t->buf;
	free(t->buf);
	return NULL;
}

ssize_t xsf_pull_read(struct xsf_pull *p, int (*next)(void *arg, struct xsf_text *t), void *arg,
		      char *buf, size_t max)
{
	size_t n;

	if (p->at == p->len && !p->ended) {
		struct xsf_text t = { .buf = p->buf, .max = sizeof(p->buf) };

		while (!p->ended && t.max - t.len >= XSF_PIECE_MAX)
			p->ended = !next(arg, &t);
		if (t.full)
			return -EOVERFLOW;
		p->at = 0;
		p->len = t.len;
	}
	n = XSF_MIN(max, p->len - p->at);
	memcpy(buf, p->buf + p->at, n);
	p->at += n;
	return (ssize_t)n;
}
