/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Within serve/: JSON punctuation on top of text.h. The writer remembers whether a comma is due, also
 * from one piece to the next. */
#ifndef XSF_JSON_WRITE_H
#define XSF_JSON_WRITE_H

#include "serve/text.h"

struct xsf_writer {
	struct xsf_text *t;
	int comma;
};

/* Before each element of an array, and each key of an object. */
static inline void xsf_json_next(struct xsf_writer *w)
{
	if (w->comma)
		xsf_text_char(w->t, ',');
	w->comma = 0;
}

/* "key": of our own constants */
static inline void xsf_json_key(struct xsf_writer *w, const char *key)
{
	xsf_json_next(w);
	xsf_text_char(w->t, '"');
	xsf_text_str(w->t, key);
	XSF_TEXT_LIT(w->t, "\":");
}

/* "number": */
static inline void xsf_json_key_u64(struct xsf_writer *w, uint64_t key)
{
	xsf_json_next(w);
	xsf_text_char(w->t, '"');
	xsf_text_u64(w->t, key);
	XSF_TEXT_LIT(w->t, "\":");
}

/* Opens { or [; with a key unless that is NULL. */
static inline void xsf_json_open_at(struct xsf_writer *w, const char *key, char bracket)
{
	if (key)
		xsf_json_key(w, key);
	else
		xsf_json_next(w);
	xsf_text_char(w->t, bracket);
	w->comma = 0;
}

static inline void xsf_json_shut(struct xsf_writer *w, char bracket)
{
	xsf_text_char(w->t, bracket);
	w->comma = 1;
}

/* key NULL: an element of a list. */
static inline void xsf_json_u64(struct xsf_writer *w, const char *key, uint64_t value)
{
	if (key)
		xsf_json_key(w, key);
	else
		xsf_json_next(w);
	xsf_text_u64(w->t, value);
	w->comma = 1;
}

/* Thousandths. */
static inline void xsf_json_milli(struct xsf_writer *w, const char *key, uint64_t value)
{
	xsf_json_key(w, key);
	xsf_text_milli(w->t, value);
	w->comma = 1;
}

/* A constant of our own, nothing to escape. */
static inline void xsf_json_str(struct xsf_writer *w, const char *key, const char *value)
{
	xsf_json_key(w, key);
	xsf_text_char(w->t, '"');
	xsf_text_str(w->t, value);
	xsf_text_char(w->t, '"');
	w->comma = 1;
}

static inline void xsf_json_bool(struct xsf_writer *w, const char *key, int value)
{
	xsf_json_key(w, key);
	xsf_text_str(w->t, value ? "true" : "false");
	w->comma = 1;
}

static inline void xsf_json_name(struct xsf_writer *w, const char *key, const uint8_t *name,
				 size_t n)
{
	xsf_json_key(w, key);
	xsf_text_char(w->t, '"');
	xsf_text_name(w->t, name, n);
	xsf_text_char(w->t, '"');
	w->comma = 1;
}

static inline void xsf_json_address(struct xsf_writer *w, const char *key, const uint8_t addr[16])
{
	xsf_json_key(w, key);
	xsf_text_char(w->t, '"');
	xsf_text_address(w->t, addr);
	xsf_text_char(w->t, '"');
	w->comma = 1;
}

#endif
