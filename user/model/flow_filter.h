/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Filters of flows (DESIGN 5; sFlow-RT define_flow.php). Pure.
 *
 *	filter := all { '|' all };  all := one { '&' one };  one := '(' filter ')' | test
 *	test   := key '=' values | key '!=' values | key '~' pattern | key '!~' pattern
 *	values := text { ',' text }
 *
 * '=' holds when the key's text is one of the values; the value null stands for a key that is null. '~' holds
 * when the pattern (flow_pattern.h), a regular expression without intervals and references, matches the whole
 * text; never for null. '!=' and '!~' hold where '=' and '~' do not. A text ends at ',', '&', '|' or ')', a
 * pattern at '&', '|' or ')' outside its own parentheses and brackets, unless '\' stands before it. */
#ifndef XSF_MODEL_FLOW_FILTER_H
#define XSF_MODEL_FLOW_FILTER_H

#include "model/flow_key.h"

#define XSF_FLOW_TESTS 64 /* of a filter */
/* Bytes of all its patterns: each event takes time for each of them. */
#define XSF_FLOW_PATTERNS 1024

struct xsf_flow_filter;

/* 0 and *filter, NULL for an empty text; -EINVAL and *error; -ENOMEM. */
int xsf_flow_filter_parse(const char *text, struct xsf_flow_filter **filter,
			  struct xsf_flow_error *error);
void xsf_flow_filter_free(struct xsf_flow_filter *filter);

/* NULL holds always. */
int xsf_flow_filter_holds(struct xsf_flow_filter *filter, const struct xsf_flow_event *e);

#endif
