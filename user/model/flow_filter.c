// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/flow_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model/flow_pattern.h"

#define ENDS_OF_KEY "=!~&|()"

/* Values lie one behind the other, each with its length in front. */
struct test {
	struct xsf_flow_key *key;
	uint8_t negated;
	uint8_t has_null; /* null is among the values */
	uint16_t values, nr;
	struct xsf_flow_pattern *pattern; /* NULL: values */
};

/* In the order in which they are evaluated: a test, or what joins the two results before it. */
enum step { STEP_TEST, STEP_AND, STEP_OR };

struct xsf_flow_filter {
	uint32_t nr_tests;
	uint32_t nr_steps;
	uint32_t used;
	size_t patterns; /* bytes of them */
	uint8_t steps[2 * XSF_FLOW_TESTS];
	struct test tests[XSF_FLOW_TESTS];
	char values[XSF_FLOW_FILTER_TEXT *
		    3]; /* a value takes at most three bytes more than its text */
};

struct parser {
	const char *text;
	size_t at, len;
	struct xsf_flow_filter *filter;
	struct xsf_flow_error *error;
};

static char now(const struct parser *p)
{
	return p->at < p->len ? p->text[p->at] : '\0';
}

static int read_value(struct parser *p, struct test *t)
{
	struct xsf_flow_filter *f = p->filter;
	char *to = f->values + f->used;
	size_t begin = p->at;
	uint16_t len = 0;

	while (p->at < p->len && !strchr(",&|()", now(p))) {
		if (now(p) == '\\' && ++p->at == p->len)
			return xsf_flow_refuse(p->error, p->at - 1, "nothing behind '\\'");
		to[2 + len++] = p->text[p->at++];
	}
	if (now(p) == '(')
		return xsf_flow_refuse(p->error, p->at, "'(' inside a value; write \\(");
	if (p->at - begin == 4 && !memcmp(p->text + begin, "null", 4)) {
		t->has_null = 1;
		return 0;
	}
	memcpy(to, &len, 2);
	f->used += 2u + len;
	t->nr++;
	return 0;
}

static int read_values(struct parser *p, struct test *t)
{
	int err;

	t->values = (uint16_t)p->filter->used;
	for (;;) {
		err = read_value(p, t);
		if (err || now(p) != ',')
			return err;
		p->at++;
	}
}

static int read_test(struct parser *p)
{
	struct xsf_flow_filter *f = p->filter;
	struct test *t = &f->tests[f->nr_tests];
	size_t begin;
	int err;

	if (f->nr_tests == XSF_FLOW_TESTS)
		return xsf_flow_refuse(p->error, p->at, "more than %d tests", XSF_FLOW_TESTS);
	err = xsf_flow_key_parse(p->text, p->len, &p->at, ENDS_OF_KEY, &t->key, p->error);
	if (err)
		return err;
	f->nr_tests++;
	if (now(p) == '!') {
		t->negated = 1;
		p->at++;
	}
	switch (now(p)) {
	case '=':
		p->at++;
		err = read_values(p, t);
		break;
	case '~':
		begin = ++p->at;
		err = xsf_flow_pattern_parse(p->text, p->len, &p->at, &t->pattern, p->error);
		f->patterns += p->at - begin;
		if (!err && f->patterns > XSF_FLOW_PATTERNS)
			err = xsf_flow_refuse(p->error, begin, "patterns of more than %d bytes",
					      XSF_FLOW_PATTERNS);
		break;
	default:
		return xsf_flow_refuse(p->error, p->at, "'=', '!=', '~' or '!~' stands here");
	}
	f->steps[f->nr_steps++] = STEP_TEST;
	return err;
}

static int read_any(struct parser *p, uint32_t depth);

static int read_one(struct parser *p, uint32_t depth)
{
	size_t at = p->at;
	int err;

	if (now(p) != '(')
		return read_test(p);
	if (depth == XSF_FLOW_DEPTH)
		return xsf_flow_refuse(p->error, at, "nested deeper than %d", XSF_FLOW_DEPTH);
	p->at++;
	err = read_any(p, depth + 1);
	if (err)
		return err;
	if (now(p) != ')')
		return xsf_flow_refuse(p->error, at, "'(' without ')'");
	p->at++;
	return 0;
}

static int read_all(struct parser *p, uint32_t depth)
{
	int err = read_one(p, depth);

	while (!err && now(p) == '&') {
		p->at++;
		err = read_one(p, depth);
		if (!err)
			p->filter->steps[p->filter->nr_steps++] = STEP_AND;
	}
	return err;
}

static int read_any(struct parser *p, uint32_t depth)
{
	int err = read_all(p, depth);

	while (!err && now(p) == '|') {
		p->at++;
		err = read_all(p, depth);
		if (!err)
			p->filter->steps[p->filter->nr_steps++] = STEP_OR;
	}
	return err;
}

int xsf_flow_filter_parse(const char *text, struct xsf_flow_filter **filter,
			  struct xsf_flow_error *error)
{
	struct parser p = { .text = text, .len = strlen(text), .error = error };
	int err;

	*filter = NULL;
	if (!p.len)
		return 0;
	if (p.len > XSF_FLOW_FILTER_TEXT)
		return xsf_flow_refuse(error, XSF_FLOW_FILTER_TEXT, "longer than %d bytes",
				       XSF_FLOW_FILTER_TEXT);
	p.filter = calloc(1, sizeof(*p.filter));
	if (!p.filter)
		return -ENOMEM;
	err = read_any(&p, 0);
	if (!err && p.at < p.len)
		err = xsf_flow_refuse(
			error, p.at, now(&p) == ')' ? "')' without '('" : "'&' or '|' stands here");
	if (err) {
		xsf_flow_filter_free(p.filter);
		return err;
	}
	*filter = p.filter;
	return 0;
}

void xsf_flow_filter_free(struct xsf_flow_filter *filter)
{
	if (!filter)
		return;
	for (uint32_t i = 0; i < filter->nr_tests; i++) {
		xsf_flow_key_free(filter->tests[i].key);
		xsf_flow_pattern_free(filter->tests[i].pattern);
	}
	free(filter);
}

static int test_holds(const struct xsf_flow_filter *f, struct test *t,
		      const struct xsf_flow_event *e)
{
	const char *value = f->values + t->values;
	struct xsf_flow_text text;

	xsf_flow_key_text(t->key, e, &text);
	if (text.null)
		return t->has_null;
	if (t->pattern)
		return xsf_flow_pattern_matches(t->pattern, text.at, text.len);
	for (uint32_t i = 0; i < t->nr; i++) {
		uint16_t len;

		memcpy(&len, value, 2);
		if (len == text.len && !memcmp(value + 2, text.at, len))
			return 1;
		value += 2 + len;
	}
	return 0;
}

int xsf_flow_filter_holds(struct xsf_flow_filter *filter, const struct xsf_flow_event *e)
{
	uint8_t results[XSF_FLOW_TESTS] = { 0 };
	uint32_t depth = 0, next = 0;

	if (!filter)
		return 1;
	for (uint32_t i = 0; i < filter->nr_steps; i++) {
		struct test *t = &filter->tests[next];

		if (filter->steps[i] == STEP_TEST) {
			next++;
			results[depth++] = test_holds(filter, t, e) != t->negated;
			continue;
		}
		depth--;
		if (filter->steps[i] == STEP_AND)
			results[depth - 1] &= results[depth];
		else
			results[depth - 1] |= results[depth];
	}
	return results[0];
}
