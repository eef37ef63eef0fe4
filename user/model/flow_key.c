// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/flow_key.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/number.h"

/* Arguments in their order: K, I, T, N as in flow_key.h; '?' behind one: it may be missing; '+': once or
 * more. */
/* clang-format off */
#define FUNCTIONS(X) \
	X(null, "KT?") \
	X(or, "KK+") \
	X(node, "I") \
	X(ifname, "I") \
	X(link, "I") \
	X(concat, "TK+") \
	X(group, "KT+") \
	X(map, "KT") \
	X(range, "KNN") \
	X(prefix, "KTN") \
	X(suffix, "KTN") \
	X(first, "KTT+")
/* clang-format on */

#define FUNCTION_ENUM(name, arguments) FN_##name,
enum function { FUNCTIONS(FUNCTION_ENUM) NR_FUNCTIONS };

#define FUNCTION_ENTRY(name, arguments) { #name, arguments },
static const struct {
	const char *name;
	const char *arguments;
} functions[] = { FUNCTIONS(FUNCTION_ENTRY) };

enum kind { NODE_FIELD, NODE_FUNCTION, NODE_TEXT, NODE_NUMBER };

struct node {
	uint8_t kind;
	uint8_t what; /* enum xsf_flow_field or enum function */
	uint8_t occurrence;
	uint8_t nr;
	uint16_t args[XSF_FLOW_ARGUMENTS]; /* nodes */
	double number;
	uint16_t text, len; /* in texts */
};

struct xsf_flow_key {
	uint32_t nr;
	uint32_t used;
	struct node nodes[XSF_FLOW_NODES]; /* 0 is the whole */
	char texts[XSF_FLOW_KEY_TEXT];
};

struct parser {
	const char *text;
	size_t at, len;
	const char *end;
	struct xsf_flow_key *key;
	struct xsf_flow_error *error;
};

int xsf_flow_refuse(struct xsf_flow_error *error, size_t at, const char *format, ...)
{
	va_list args;

	error->at = (uint32_t)at;
	va_start(args, format);
	vsnprintf(error->why, sizeof(error->why), format, args);
	va_end(args);
	return -EINVAL;
}

/* A text without its escapes. */
struct word {
	size_t begin;	  /* in the source */
	uint16_t at, len; /* in texts */
};

static int ends(const struct parser *p, char c, uint32_t depth)
{
	if (c == ':' || c == ']')
		return 1;
	return !depth && c && strchr(p->end, c);
}

static int read_word(struct parser *p, uint32_t depth, struct word *w)
{
	struct xsf_flow_key *k = p->key;

	w->begin = p->at;
	w->at = (uint16_t)k->used;
	while (p->at < p->len && !ends(p, p->text[p->at], depth)) {
		if (p->text[p->at] == '[')
			return xsf_flow_refuse(p->error, p->at,
					       "'[' begins an argument; inside a text write \\[");
		if (p->text[p->at] == '\\' && ++p->at == p->len)
			return xsf_flow_refuse(p->error, p->at - 1, "nothing behind '\\'");
		if (k->used == sizeof(k->texts))
			return xsf_flow_refuse(p->error, p->at, "longer than %d bytes",
					       XSF_FLOW_KEY_TEXT);
		k->texts[k->used++] = p->text[p->at++];
	}
	w->len = (uint16_t)(k->used - w->at);
	return 0;
}

static int new_node(struct parser *p, enum kind kind, size_t at, uint16_t *index)
{
	struct xsf_flow_key *k = p->key;

	if (k->nr == XSF_FLOW_NODES)
		return xsf_flow_refuse(p->error, at, "more than %d parts", XSF_FLOW_NODES);
	*index = (uint16_t)k->nr++;
	k->nodes[*index].kind = (uint8_t)kind;
	return 0;
}

/* A field, perhaps with ".N". */
static int read_field(struct parser *p, const struct word *w, uint16_t index)
{
	struct node *n = &p->key->nodes[index];
	const char *name = p->key->texts + w->at;
	const char *dot = memchr(name, '.', w->len);
	size_t len = dot ? (size_t)(dot - name) : w->len;
	int field = xsf_flow_field(name, len);

	if (field < 0 && !w->len)
		return xsf_flow_refuse(p->error, w->begin, "a key is missing");
	if (field < 0)
		return xsf_flow_refuse(p->error, w->begin, "no key or function is named '%.*s'",
				       (int)XSF_MIN(len, 40), name);
	n->what = (uint8_t)field;
	if (!dot)
		return 0;
	if (field < XSF_FLOW_FIELD_FIRST_INNER)
		return xsf_flow_refuse(p->error, w->begin + len, "%s has no inner occurrence",
				       xsf_flow_field_name((enum xsf_flow_field)field));
	if (w->len != len + 2 || dot[1] < '0' || dot[1] > '9')
		return xsf_flow_refuse(p->error, w->begin + len, "behind the '.' stands one digit");
	n->occurrence = (uint8_t)(dot[1] - '0');
	return 0;
}

static int read_number(struct parser *p, const struct word *w, uint16_t index)
{
	char text[32];

	snprintf(text, sizeof(text), "%.*s", (int)w->len, p->key->texts + w->at);
	if (w->len >= sizeof(text) || xsf_number(text, &p->key->nodes[index].number))
		return xsf_flow_refuse(p->error, w->begin, "not a number");
	return 0;
}

static int read_key(struct parser *p, uint32_t depth, uint16_t *index);

static int read_argument(struct parser *p, uint32_t depth, char kind, uint16_t *index)
{
	size_t at = p->at;
	struct word w = { 0 };
	int err;

	if (p->at < p->len && p->text[p->at] == '[') {
		if (kind != 'K')
			return xsf_flow_refuse(p->error, at, "%s here",
					       kind == 'I' ?
						       "inputifindex or outputifindex stands" :
						       "no key, but a text stands");
		p->at++;
		err = read_key(p, depth + 1, index);
		if (err)
			return err;
		if (p->at == p->len || p->text[p->at] != ']')
			return xsf_flow_refuse(p->error, at, "'[' without ']'");
		p->at++;
		return 0;
	}
	err = read_word(p, depth, &w);
	if (!err)
		err = new_node(p,
			       kind == 'T' ? NODE_TEXT :
			       kind == 'N' ? NODE_NUMBER :
					     NODE_FIELD,
			       at, index);
	if (err)
		return err;
	p->key->nodes[*index].text = w.at;
	p->key->nodes[*index].len = w.len;
	if (kind == 'T')
		return 0;
	if (kind == 'N')
		return read_number(p, &w, *index);
	err = read_field(p, &w, *index);
	if (!err && kind == 'I' && p->key->nodes[*index].what != XSF_FLOW_FIELD_inputifindex &&
	    p->key->nodes[*index].what != XSF_FLOW_FIELD_outputifindex)
		err = xsf_flow_refuse(p->error, at, "inputifindex or outputifindex stands here");
	return err;
}

static int read_arguments(struct parser *p, uint32_t depth, enum function f, uint16_t index)
{
	const char *want = functions[f].arguments;
	uint16_t arg = 0;
	int err;

	while (p->at < p->len && p->text[p->at] == ':') {
		if (!*want)
			return xsf_flow_refuse(p->error, p->at, "%s takes fewer arguments",
					       functions[f].name);
		if (p->key->nodes[index].nr == XSF_FLOW_ARGUMENTS)
			return xsf_flow_refuse(p->error, p->at, "more than %d arguments",
					       XSF_FLOW_ARGUMENTS);
		p->at++;
		err = read_argument(p, depth, *want, &arg);
		if (err)
			return err;
		p->key->nodes[index].args[p->key->nodes[index].nr++] = arg;
		if (want[1] == '?')
			want += 2;
		else if (want[1] != '+')
			want++;
	}
	if (*want && want[1] == '+' &&
	    p->key->nodes[index].nr >= strlen(functions[f].arguments) - 1)
		return 0;
	if (*want && want[1] != '?')
		return xsf_flow_refuse(p->error, p->at, "%s takes more arguments",
				       functions[f].name);
	return 0;
}

/* Elements are counted in whole numbers from 1. */
static int check_count(struct parser *p, enum function f, uint16_t index, size_t at)
{
	const struct node *n = &p->key->nodes[index];
	double count;

	if (f != FN_prefix && f != FN_suffix)
		return 0;
	count = p->key->nodes[n->args[2]].number;
	if (count < 1 || count > XSF_FLOW_VALUE_TEXT || count != (double)(int)count)
		return xsf_flow_refuse(p->error, at,
				       "%s takes a whole number of elements from 1 to %d",
				       functions[f].name, XSF_FLOW_VALUE_TEXT);
	return 0;
}

static int read_key(struct parser *p, uint32_t depth, uint16_t *index)
{
	size_t at = p->at;
	struct word w = { 0 };
	uint32_t f;
	int err;

	if (depth >= XSF_FLOW_DEPTH)
		return xsf_flow_refuse(p->error, at, "nested deeper than %d", XSF_FLOW_DEPTH);
	err = read_word(p, depth, &w);
	if (!err)
		err = new_node(p, NODE_FIELD, at, index);
	if (err)
		return err;
	if (p->at == p->len || p->text[p->at] != ':')
		return read_field(p, &w, *index);
	for (f = 0; f < NR_FUNCTIONS; f++) {
		if (strlen(functions[f].name) == w.len &&
		    !memcmp(functions[f].name, p->key->texts + w.at, w.len))
			break;
	}
	if (f == NR_FUNCTIONS)
		return xsf_flow_refuse(p->error, at, "no function is named '%.*s'",
				       (int)XSF_MIN(w.len, 40), p->key->texts + w.at);
	p->key->nodes[*index].kind = NODE_FUNCTION;
	p->key->nodes[*index].what = (uint8_t)f;
	err = read_arguments(p, depth, (enum function)f, *index);
	return err ? err : check_count(p, (enum function)f, *index, at);
}

int xsf_flow_key_parse(const char *text, size_t len, size_t *at, const char *end,
		       struct xsf_flow_key **key, struct xsf_flow_error *error)
{
	struct parser p = { .text = text, .at = *at, .len = len, .end = end, .error = error };
	uint16_t index = 0;
	int err;

	*key = NULL;
	p.key = calloc(1, sizeof(*p.key));
	if (!p.key)
		return -ENOMEM;
	err = read_key(&p, 0, &index);
	if (!err && p.at < len && text[p.at] == ']')
		err = xsf_flow_refuse(error, p.at, "']' without '['");
	if (!err && p.at - *at > XSF_FLOW_KEY_TEXT)
		err = xsf_flow_refuse(error, *at + XSF_FLOW_KEY_TEXT, "longer than %d bytes",
				      XSF_FLOW_KEY_TEXT);
	if (err) {
		free(p.key);
		return err;
	}
	*at = p.at;
	*key = p.key;
	return 0;
}

void xsf_flow_key_free(struct xsf_flow_key *key)
{
	free(key);
}

static int is_number(const struct xsf_flow_key *k, uint32_t index)
{
	const struct node *n = &k->nodes[index];

	if (n->kind == NODE_FIELD)
		return xsf_flow_field_is_number((enum xsf_flow_field)n->what);
	if (n->kind != NODE_FUNCTION || (n->what != FN_or && n->what != FN_null))
		return 0;
	for (uint32_t i = 0; i < n->nr; i++) {
		const struct node *a = &k->nodes[n->args[i]];

		if (a->kind == NODE_TEXT ?
			    !a->len || strspn(k->texts + a->text, "0123456789") < a->len :
			    !is_number(k, n->args[i]))
			return 0;
	}
	return n->what == FN_or || n->nr == 2;
}

int xsf_flow_key_is_number(const struct xsf_flow_key *key)
{
	return is_number(key, 0);
}

/* ---- running ---- */

static void run(const struct xsf_flow_key *k, uint32_t index, const struct xsf_flow_event *e,
		struct xsf_flow_text *out);

static void set_null(struct xsf_flow_text *out)
{
	out->null = 1;
	out->len = 0;
	out->at[0] = '\0';
}

static const struct node *arg(const struct xsf_flow_key *k, const struct node *n, uint32_t i)
{
	return &k->nodes[n->args[i]];
}

static void copy(const struct xsf_flow_key *k, const struct node *text, struct xsf_flow_text *out)
{
	xsf_flow_text_set(out, k->texts + text->text, text->len);
}

static void name_of(const struct xsf_flow_event *e, enum function f, int output,
		    struct xsf_flow_text *out)
{
	const struct xsf_flow_names *names = e->names;
	uint32_t ifindex = xsf_flow_ifindex(e->event, output);
	const char *name = NULL;

	set_null(out);
	switch (f) {
	case FN_node:
		if (names->node)
			name = names->node(names->arg, e->event, ifindex);
		else
			xsf_flow_field_text(e, XSF_FLOW_FIELD_agent, 0, out);
		break;
	case FN_ifname:
		if (names->ifname)
			name = names->ifname(names->arg, e->event, ifindex);
		else
			xsf_flow_field_text(e,
					    output ? XSF_FLOW_FIELD_outputifindex :
						     XSF_FLOW_FIELD_inputifindex,
					    0, out);
		break;
	default:
		if (names->link)
			name = names->link(names->arg, e->event, ifindex);
		break;
	}
	if (name)
		xsf_flow_text_set(out, name, strlen(name));
}

static void run_concat(const struct xsf_flow_key *k, const struct node *n,
		       const struct xsf_flow_event *e, struct xsf_flow_text *out)
{
	const struct node *between = arg(k, n, 0);
	struct xsf_flow_text part;

	part.null = 1;
	xsf_flow_text_set(out, "", 0);
	for (uint32_t i = 1; i < n->nr; i++) {
		run(k, n->args[i], e, &part);
		if (part.null) {
			set_null(out);
			return;
		}
		if (i > 1)
			xsf_flow_text_append(out, k->texts + between->text, between->len);
		xsf_flow_text_append(out, part.at, part.len);
	}
}

static void run_table(const struct xsf_flow_key *k, const struct node *n,
		      const struct xsf_flow_event *e, const struct xsf_flow_text *key,
		      struct xsf_flow_text *out)
{
	const struct xsf_flow_names *names = e->names;
	struct xsf_flow_text table;
	const char *found = NULL;

	set_null(out);
	for (uint32_t i = 1; i < n->nr && !found; i++) {
		copy(k, arg(k, n, i), &table);
		if (n->what == FN_map)
			found = names->map ? names->map(names->arg, table.at, key->at) : NULL;
		else
			found = names->group ? names->group(names->arg, table.at, key->at) : NULL;
	}
	if (found)
		xsf_flow_text_set(out, found, strlen(found));
}

/* Where the element behind the one that begins at `at` begins; beyond the end: that was the last. */
static uint32_t next_element(const struct xsf_flow_text *t, uint32_t at, const char *part,
			     uint32_t len)
{
	const char *found = len ? memmem(t->at + at, t->len - at, part, len) : NULL;

	return found ? (uint32_t)(found - t->at) + len : t->len + len + 1;
}

static void run_elements(const struct xsf_flow_key *k, const struct node *n,
			 const struct xsf_flow_text *text, struct xsf_flow_text *out)
{
	const struct node *part = arg(k, n, 1);
	const char *parting = k->texts + part->text;
	uint32_t count = (uint32_t)arg(k, n, 2)->number, all = 0, skip, begin = 0, end, at;

	for (at = 0; at <= text->len; at = next_element(text, at, parting, part->len))
		all++;
	skip = n->what == FN_suffix && all > count ? all - count : 0;
	while (skip--)
		begin = next_element(text, begin, parting, part->len);
	for (end = begin; count-- && end <= text->len;)
		end = next_element(text, end, parting, part->len);
	end = end > text->len ? text->len : end - part->len;
	xsf_flow_text_set(out, text->at + begin, end - begin);
}

static void run_first(const struct xsf_flow_key *k, const struct node *n,
		      const struct xsf_flow_text *text, struct xsf_flow_text *out)
{
	const struct node *part = arg(k, n, 1);
	const char *parting = k->texts + part->text;
	uint32_t next;

	set_null(out);
	for (uint32_t at = 0; at <= text->len; at = next) {
		uint32_t len;

		next = next_element(text, at, parting, part->len);
		len = (next > text->len ? text->len : next - part->len) - at;
		for (uint32_t i = 2; i < n->nr; i++) {
			const struct node *one = arg(k, n, i);

			if (one->len == len && !memcmp(k->texts + one->text, text->at + at, len)) {
				copy(k, one, out);
				return;
			}
		}
	}
}

static void run_range(const struct xsf_flow_key *k, const struct node *n,
		      const struct xsf_flow_text *text, struct xsf_flow_text *out)
{
	const char *is;
	double v;

	if (xsf_number(text->at, &v)) {
		set_null(out);
		return;
	}
	is = v >= arg(k, n, 1)->number && v <= arg(k, n, 2)->number ? "true" : "false";
	xsf_flow_text_set(out, is, strlen(is));
}

static void run_function(const struct xsf_flow_key *k, const struct node *n,
			 const struct xsf_flow_event *e, struct xsf_flow_text *out)
{
	struct xsf_flow_text first;

	switch ((enum function)n->what) {
	case FN_node:
	case FN_ifname:
	case FN_link:
		name_of(e, (enum function)n->what,
			arg(k, n, 0)->what == XSF_FLOW_FIELD_outputifindex, out);
		return;
	case FN_null:
		run(k, n->args[0], e, out);
		if (out->null && n->nr > 1)
			copy(k, arg(k, n, 1), out);
		else if (out->null)
			xsf_flow_text_set(out, "null", 4);
		return;
	case FN_or:
		for (uint32_t i = 0; i < n->nr; i++) {
			run(k, n->args[i], e, out);
			if (!out->null)
				return;
		}
		return;
	case FN_concat:
		run_concat(k, n, e, out);
		return;
	default:
		break;
	}
	first.null = 1;
	run(k, n->args[0], e, &first);
	if (first.null) {
		set_null(out);
		return;
	}
	switch ((enum function)n->what) {
	case FN_group:
	case FN_map:
		run_table(k, n, e, &first, out);
		return;
	case FN_range:
		run_range(k, n, &first, out);
		return;
	case FN_first:
		run_first(k, n, &first, out);
		return;
	default:
		run_elements(k, n, &first, out);
		return;
	}
}

static void run(const struct xsf_flow_key *k, uint32_t index, const struct xsf_flow_event *e,
		struct xsf_flow_text *out)
{
	const struct node *n = &k->nodes[index];

	if (n->kind == NODE_FUNCTION)
		run_function(k, n, e, out);
	else
		xsf_flow_field_text(e, (enum xsf_flow_field)n->what, n->occurrence, out);
}

void xsf_flow_key_text(const struct xsf_flow_key *key, const struct xsf_flow_event *e,
		       struct xsf_flow_text *out)
{
	run(key, 0, e, out);
}
