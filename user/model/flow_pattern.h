/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns of filters. They come from whoever may read, and are tried on each event: neither reading nor
 * matching one may take longer than its length and the text's allow. (glibc's regcomp takes hours for 200
 * bytes of "(a*)*".) So they are a program that is run for all ways at once.
 *
 *	pattern := branch { '|' branch };  branch := { piece };  piece := atom { '*' | '+' | '?' }
 *	atom    := '(' pattern ')' | '[' set ']' | '.' | '^' | '$' | '\' class | '\' character | character
 *	class   := one of d D w W s S
 *
 * Sets are POSIX's: ranges, [:alpha:] and its like, '^' in front for all others; no escapes in them. Bytes
 * are characters. Intervals and references are refused. Pure. */
#ifndef XSF_MODEL_FLOW_PATTERN_H
#define XSF_MODEL_FLOW_PATTERN_H

#include <stddef.h>
#include "model/flow.h"

#define XSF_FLOW_PATTERN 256 /* bytes of a pattern */
#define XSF_PATTERN_DEPTH 32 /* of parentheses */

struct xsf_flow_pattern;

/* Reads from text[*at] to `len`, or to the first '&', '|' or ')' outside parentheses, where *at is then. 0;
 * -EINVAL and *error; -ENOMEM. */
int xsf_flow_pattern_parse(const char *text, size_t len, size_t *at,
			   struct xsf_flow_pattern **pattern, struct xsf_flow_error *error);
void xsf_flow_pattern_free(struct xsf_flow_pattern *pattern);

/* Is it the whole text? Takes at most about three steps for each of its bytes and of the pattern's. */
int xsf_flow_pattern_matches(const struct xsf_flow_pattern *pattern, const char *text, size_t len);

#endif
