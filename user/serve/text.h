/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text that is made piece by piece and fetched in pieces: an appender into a bounded buffer, and the
 * buffer of a document that is never held whole. */
#ifndef XSF_TEXT_H
#define XSF_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <xsf/abi.h>

/* Appends to buf; what does not fit is left out and sets `full`, so callers check once at the end. */
struct xsf_text {
	char *buf;
	size_t len;
	size_t max;
	int full;
};

/* Room for n more bytes, or NULL. */
static inline char *xsf_text_room(struct xsf_text *t, size_t n)
{
	if (n > t->max - t->len) {
		t->full = 1;
		return NULL;
	}
	return t->buf + t->len;
}

static inline void xsf_text_add(struct xsf_text *t, const char *s, size_t n)
{
	char *p = xsf_text_room(t, n);

	if (!p)
		return;
	memcpy(p, s, n);
	t->len += n;
}

static inline void xsf_text_char(struct xsf_text *t, char c)
{
	xsf_text_add(t, &c, 1);
}

static inline void xsf_text_str(struct xsf_text *t, const char *s)
{
	xsf_text_add(t, s, strlen(s));
}

/* A string constant: its length is known when compiling. */
#define XSF_TEXT_LIT(t, s) xsf_text_add((t), "" s, sizeof(s) - 1)

/* Decimal. */
void xsf_text_u64(struct xsf_text *t, uint64_t v);

/* v thousandths as a decimal fraction: 1500 is 1.500. */
void xsf_text_milli(struct xsf_text *t, uint64_t v);

/* A decimal number without exponent, up to six decimals, none that are 0 at the end: what a gauge shows.
 * Not a number, or beyond 1e30: 0. */
void xsf_text_double(struct xsf_text *t, double v);

/* An address as xsf_address_text writes it. */
void xsf_text_address(struct xsf_text *t, const uint8_t addr[16]);

/* n bytes from an agent inside double quotes (which the caller writes), for a Prometheus label value or
 * a JSON string alike: backslash, quote and line feed escaped, other control characters and each byte
 * that is not UTF-8, or of a character that shows nothing itself (direction marks and the like),
 * replaced by "?". At most XSF_NAME_LEN bytes are read, each once: it may change. */
void xsf_text_name(struct xsf_text *t, const uint8_t *name, size_t n);

/* Likewise n bytes that do not change, however many: twice as many at most are written. */
void xsf_text_bytes(struct xsf_text *t, const char *s, size_t n);

/* Likewise for a terminated string of our own side (an interface's name may hold a quote); up to
 * XSF_NAME_LEN bytes. */
void xsf_text_quoted(struct xsf_text *t, const char *s);

/* The document in a buffer of its own (malloc), to be freed by who gets it; NULL when there was no room for
 * all: then it is freed here. */
char *xsf_text_take(struct xsf_text *t, size_t *len);

/* The longest piece that a producer may append in one step. */
#define XSF_PIECE_MAX 8192

/* A document between its producer and its reader. */
struct xsf_pull {
	size_t at;
	size_t len;
	int ended;
	char buf[2 * XSF_PIECE_MAX];
};

/* Copies the next bytes of the document, asking `next` for pieces as the buffer empties. next appends one
 * piece of at most XSF_PIECE_MAX bytes (perhaps none) and returns 0 when there are no more. Returns bytes, 0
 * at the end, -EOVERFLOW when a piece was longer than that. */
ssize_t xsf_pull_read(struct xsf_pull *p, int (*next)(void *arg, struct xsf_text *t), void *arg,
		      char *buf, size_t max);

#endif
