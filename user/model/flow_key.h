/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Key expressions of flows (DESIGN 5; sFlow-RT define_flow.php): parsed once, run for each event. Pure.
 *
 *	key        := FIELD | FIELD.1 | FUNCTION { ':' argument }
 *	argument   := '[' key ']' | text
 *
 * A text ends at ':', ',' or ']' unless '\' stands before it. Functions and their arguments: K a key (a bare
 * FIELD, or any key in brackets), I inputifindex or outputifindex, T a text, N a number.
 *
 *	null:K[:T]		K, else T (the text "null" without)
 *	or:K:K...		the first that is not null
 *	node:I  ifname:I	names of the switch and of its port
 *	link:I			of the topology's link at it, null at the edge
 *	concat:T:K:K...		all, T between them; null if any is
 *	group:K:T...		the first of the named tables of addresses that has K
 *	map:K:T			what the named table has for K
 *	range:K:N:N		"true" when the number K is in it, both ends included, else "false"
 *	prefix:K:T:N		the first N of the elements of K, which T parts; suffix the last
 *	first:K:T:T:T...	which of the later texts comes first among those elements; null if none does
 *
 * Except for null and or, a null argument makes null. */
#ifndef XSF_MODEL_FLOW_KEY_H
#define XSF_MODEL_FLOW_KEY_H

#include "model/flow_field.h"

#define XSF_FLOW_ARGUMENTS 16 /* of a function */
#define XSF_FLOW_NODES 64     /* fields, functions and texts in one key */

struct xsf_flow_key;

/* Parses what begins at text[*at], up to len; *at is then where it ended: at len, or at the first of
 * the bytes of `end` outside brackets. 0 and *key; -EINVAL, with place (from text's beginning) and
 * reason in *error; -ENOMEM. */
int xsf_flow_key_parse(const char *text, size_t len, size_t *at, const char *end,
		       struct xsf_flow_key **key, struct xsf_flow_error *error);
void xsf_flow_key_free(struct xsf_flow_key *key);

/* 1 for a field whose text is a decimal number, or null: or of such. */
int xsf_flow_key_is_number(const struct xsf_flow_key *key);

void xsf_flow_key_text(const struct xsf_flow_key *key, const struct xsf_flow_event *e,
		       struct xsf_flow_text *out);

/* For all parts of a definition: fills *error; -EINVAL. */
int xsf_flow_refuse(struct xsf_flow_error *error, size_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
