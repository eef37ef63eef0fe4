// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/flow_pattern.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model/flow_key.h"

/* A byte of a pattern makes two steps at most. */
#define STEPS (2 * XSF_FLOW_PATTERN + 1)
#define SETS (XSF_FLOW_PATTERN / 2)

enum kind {
	STEP_BYTE, /* arg */
	STEP_ANY,
	STEP_SET, /* sets[arg] */
	STEP_BEGIN,
	STEP_END,
	STEP_JUMP,  /* to `first` steps further on */
	STEP_SPLIT, /* likewise, and to `second` */
	STEP_MATCH
};

struct step {
	uint8_t kind;
	uint8_t arg;
	int16_t first;
	int16_t second;
};

struct set {
	uint8_t bits[32];
};

struct xsf_flow_pattern {
	uint16_t nr_steps;
	uint16_t nr_sets;
	struct set *sets; /* behind the steps */
	struct step steps[];
};

struct parser {
	const char *text;
	size_t at, len, begin;
	uint32_t nr_steps, nr_sets;
	struct xsf_flow_error *error;
	struct step steps[STEPS];
	struct set sets[SETS];
};

/* ---- sets ---- */

static void add(struct set *s, unsigned int c)
{
	s->bits[c / 8] |= (uint8_t)(1u << c % 8);
}

static int has(const struct set *s, unsigned char c)
{
	return s->bits[c / 8] >> c % 8 & 1;
}

static void add_all(struct set *s, int (*is)(int c))
{
	for (int c = 0; c < 128; c++) {
		if (is(c))
			add(s, (unsigned int)c);
	}
}

static void invert(struct set *s)
{
	for (size_t i = 0; i < sizeof(s->bits); i++)
		s->bits[i] ^= 0xff;
}

static int is_word(int c)
{
	return isalnum(c) || c == '_';
}

/* \d and so on; 0: there is no such class. */
static int add_class(struct set *s, char name)
{
	switch (tolower((unsigned char)name)) {
	case 'd':
		add_all(s, isdigit);
		break;
	case 'w':
		add_all(s, is_word);
		break;
	case 's':
		add_all(s, isspace);
		break;
	default:
		return 0;
	}
	if (isupper((unsigned char)name))
		invert(s);
	return 1;
}

/* At "[:name:]" within a set. 0; -ENOENT: there is none; or refused. */
static int add_named(struct parser *p, struct set *s)
{
	static const struct {
		const char *name;
		int (*is)(int c);
	} classes[] = {
		{ "alpha", isalpha }, { "digit", isdigit }, { "alnum", isalnum },
		{ "upper", isupper }, { "lower", islower }, { "space", isspace },
		{ "punct", ispunct }, { "print", isprint }, { "graph", isgraph },
		{ "cntrl", iscntrl }, { "blank", isblank }, { "xdigit", isxdigit },
	};
	const char *text = p->text + p->at;

	if (p->len - p->at < 2 || text[0] != '[' || !strchr(":.=", text[1]))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		size_t n = strlen(classes[i].name);

		if (p->len - p->at < n + 4 || text[1] != ':' ||
		    memcmp(text + 2, classes[i].name, n) != 0 || memcmp(text + 2 + n, ":]", 2) != 0)
			continue;
		add_all(s, classes[i].is);
		p->at += n + 4;
		return 0;
	}
	return xsf_flow_refuse(p->error, p->at, "no such class of characters");
}

/* Behind '['. */
static int read_set(struct parser *p, struct set *s)
{
	size_t open = p->at - 1, first;
	int others = p->at < p->len && p->text[p->at] == '^', err;

	memset(s, 0, sizeof(*s));
	p->at += (size_t)others;
	for (first = p->at; p->at < p->len && (p->text[p->at] != ']' || p->at == first);) {
		unsigned char from = (unsigned char)p->text[p->at], to = from;

		err = add_named(p, s);
		if (!err)
			continue;
		if (err != -ENOENT)
			return err;
		if (p->len - p->at > 2 && p->text[p->at + 1] == '-' && p->text[p->at + 2] != ']') {
			to = (unsigned char)p->text[p->at + 2];
			if (to < from)
				return xsf_flow_refuse(p->error, p->at,
						       "a range that ends before it "
						       "begins");
			p->at += 2;
		}
		p->at++;
		for (unsigned int c = from; c <= to; c++)
			add(s, c);
	}
	if (p->at == p->len)
		return xsf_flow_refuse(p->error, open, "'[' without ']'");
	p->at++;
	if (others)
		invert(s);
	return 0;
}

/* ---- the program ---- */

static struct step *append(struct parser *p, enum kind kind)
{
	struct step *s = &p->steps[p->nr_steps++];

	*s = (struct step){ .kind = (uint8_t)kind };
	return s;
}

/* A step before those from `at` on, whose jumps are within themselves. */
static struct step *insert(struct parser *p, uint32_t at, enum kind kind)
{
	memmove(&p->steps[at + 1], &p->steps[at], (p->nr_steps - at) * sizeof(p->steps[0]));
	p->nr_steps++;
	p->steps[at] = (struct step){ .kind = (uint8_t)kind };
	return &p->steps[at];
}

static int read_branches(struct parser *p, uint32_t depth);

static int read_escape(struct parser *p)
{
	char c = p->at + 1 < p->len ? p->text[p->at + 1] : '\0';
	struct set set = { 0 };

	if (!c)
		return xsf_flow_refuse(p->error, p->at, "nothing behind '\\'");
	if (isdigit((unsigned char)c))
		return xsf_flow_refuse(p->error, p->at, "references (\\%c) are not supported", c);
	if (add_class(&set, c)) {
		append(p, STEP_SET)->arg = (uint8_t)p->nr_sets;
		p->sets[p->nr_sets++] = set;
	} else if (isalpha((unsigned char)c)) {
		return xsf_flow_refuse(p->error, p->at, "\\%c is not supported", c);
	} else {
		append(p, STEP_BYTE)->arg = (uint8_t)c;
	}
	p->at += 2;
	return 0;
}

static int read_group(struct parser *p, uint32_t depth)
{
	size_t open = p->at++;
	int err;

	if (depth == XSF_PATTERN_DEPTH)
		return xsf_flow_refuse(p->error, open, "nested deeper than %d", XSF_PATTERN_DEPTH);
	err = read_branches(p, depth + 1);
	if (err)
		return err;
	if (p->at == p->len)
		return xsf_flow_refuse(p->error, open, "'(' without ')'");
	p->at++;
	return 0;
}

static int read_atom(struct parser *p, uint32_t depth)
{
	char c = p->text[p->at];
	int err;

	switch (c) {
	case '(':
		return read_group(p, depth);
	case '\\':
		return read_escape(p);
	case '[':
		p->at++;
		err = read_set(p, &p->sets[p->nr_sets]);
		if (!err)
			append(p, STEP_SET)->arg = (uint8_t)p->nr_sets++;
		return err;
	case '{':
		return xsf_flow_refuse(p->error, p->at, "intervals ({) are not supported");
	case '*':
	case '+':
	case '?':
		return xsf_flow_refuse(p->error, p->at, "nothing before '%c'", c);
	case '.':
		append(p, STEP_ANY);
		break;
	case '^':
		append(p, STEP_BEGIN);
		break;
	case '$':
		append(p, STEP_END);
		break;
	default:
		append(p, STEP_BYTE)->arg = (uint8_t)c;
	}
	p->at++;
	return 0;
}

/* The atom from `start` on, as often as the character says. */
static void repeat(struct parser *p, uint32_t start, char how)
{
	int16_t len = (int16_t)(p->nr_steps - start);
	struct step *s;

	if (how == '+') {
		s = append(p, STEP_SPLIT);
		s->first = (int16_t)-len;
		s->second = 1;
		return;
	}
	s = insert(p, start, STEP_SPLIT);
	s->first = 1;
	s->second = (int16_t)(how == '*' ? len + 2 : len + 1);
	if (how == '*')
		append(p, STEP_JUMP)->first = (int16_t)(-len - 1);
}

static int ends(const struct parser *p, uint32_t depth)
{
	return p->at == p->len || strchr(depth ? "|)" : "&|)", p->text[p->at]) != NULL;
}

static int read_branch(struct parser *p, uint32_t depth)
{
	while (!ends(p, depth)) {
		uint32_t start = p->nr_steps;
		int err = p->at - p->begin >= XSF_FLOW_PATTERN ?
				  xsf_flow_refuse(p->error, p->begin,
						  "a pattern is longer than %d bytes",
						  XSF_FLOW_PATTERN) :
				  read_atom(p, depth);

		if (err)
			return err;
		/* Not here: what would be too long is refused above, with room for two steps a byte. */
		while (p->at < p->len && p->at - p->begin < XSF_FLOW_PATTERN &&
		       strchr("*+?", p->text[p->at]))
			repeat(p, start, p->text[p->at++]);
	}
	return 0;
}

/* Outside parentheses '|' is the filter's. */
static int read_branches(struct parser *p, uint32_t depth)
{
	uint32_t start = p->nr_steps, jumps[XSF_FLOW_PATTERN], nr = 0;
	int err = read_branch(p, depth);

	while (!err && depth && p->at < p->len && p->text[p->at] == '|') {
		if (p->at++ - p->begin >= XSF_FLOW_PATTERN)
			return xsf_flow_refuse(p->error, p->begin,
					       "a pattern is longer than %d bytes",
					       XSF_FLOW_PATTERN);
		/* This branch, or the next ones. */
		insert(p, start, STEP_SPLIT)->first = 1;
		jumps[nr++] = p->nr_steps;
		append(p, STEP_JUMP);
		p->steps[start].second = (int16_t)(p->nr_steps - start);
		start = p->nr_steps;
		err = read_branch(p, depth);
	}
	for (uint32_t i = 0; i < nr; i++)
		p->steps[jumps[i]].first = (int16_t)(p->nr_steps - jumps[i]);
	return err;
}

int xsf_flow_pattern_parse(const char *text, size_t len, size_t *at,
			   struct xsf_flow_pattern **pattern, struct xsf_flow_error *error)
{
	struct parser p = { .text = text, .at = *at, .begin = *at, .len = len, .error = error };
	int err = read_branches(&p, 0);
	struct xsf_flow_pattern *out;

	*pattern = NULL;
	*at = p.at;
	if (err)
		return err;
	append(&p, STEP_MATCH);
	out = malloc(sizeof(*out) + p.nr_steps * sizeof(p.steps[0]) +
		     p.nr_sets * sizeof(p.sets[0]));
	if (!out)
		return -ENOMEM;
	out->nr_steps = (uint16_t)p.nr_steps;
	out->nr_sets = (uint16_t)p.nr_sets;
	memcpy(out->steps, p.steps, p.nr_steps * sizeof(p.steps[0]));
	out->sets = (struct set *)(out->steps + p.nr_steps);
	memcpy(out->sets, p.sets, p.nr_sets * sizeof(p.sets[0]));
	*pattern = out;
	return 0;
}

void xsf_flow_pattern_free(struct xsf_flow_pattern *pattern)
{
	free(pattern);
}

/* ---- matching: all ways at once ---- */

/* Steps that take a byte, or end; each once. */
struct ways {
	uint16_t at[STEPS];
	uint16_t nr;
};

struct run {
	const struct xsf_flow_pattern *p;
	uint16_t turn; /* of the byte: 1.. */
	uint16_t seen[STEPS];
	uint16_t todo[STEPS];
};

/* What can come next from a step on, at position i of n. */
static void follow(struct run *r, struct ways *to, uint32_t from, size_t i, size_t n)
{
	uint32_t nr = 0;

	if (r->seen[from] == r->turn)
		return;
	r->seen[from] = r->turn;
	r->todo[nr++] = (uint16_t)from;
	while (nr) {
		uint32_t at = r->todo[--nr], next[2], nr_next = 0;
		const struct step *s = &r->p->steps[at];

		if (s->kind == STEP_JUMP || s->kind == STEP_SPLIT)
			next[nr_next++] = (uint32_t)((int32_t)at + s->first);
		if (s->kind == STEP_SPLIT)
			next[nr_next++] = (uint32_t)((int32_t)at + s->second);
		if ((s->kind == STEP_BEGIN && !i) || (s->kind == STEP_END && i == n))
			next[nr_next++] = at + 1;
		if (s->kind == STEP_BYTE || s->kind == STEP_ANY || s->kind == STEP_SET ||
		    s->kind == STEP_MATCH)
			to->at[to->nr++] = (uint16_t)at;
		while (nr_next) {
			if (r->seen[next[--nr_next]] == r->turn)
				continue;
			r->seen[next[nr_next]] = r->turn;
			r->todo[nr++] = (uint16_t)next[nr_next];
		}
	}
}

static int takes(const struct xsf_flow_pattern *p, const struct step *s, unsigned char c)
{
	switch (s->kind) {
	case STEP_BYTE:
		return s->arg == c;
	case STEP_ANY:
		return 1;
	case STEP_SET:
		return has(&p->sets[s->arg], c);
	default:
		return 0;
	}
}

int xsf_flow_pattern_matches(const struct xsf_flow_pattern *p, const char *text, size_t len)
{
	struct ways ways[2], *now = &ways[0], *next = &ways[1];
	struct run r;

	/* Turns are 16 bits; no text is that long. */
	if (len >= UINT16_MAX - 1)
		return 0;
	r.p = p;
	r.turn = 1;
	memset(r.seen, 0, p->nr_steps * sizeof(r.seen[0]));
	now->nr = 0;
	follow(&r, now, 0, 0, len);
	for (size_t i = 0; i < len && now->nr; i++) {
		struct ways *was = now;

		r.turn++;
		next->nr = 0;
		for (uint32_t w = 0; w < now->nr; w++) {
			if (takes(p, &p->steps[now->at[w]], (unsigned char)text[i]))
				follow(&r, next, now->at[w] + 1u, i + 1, len);
		}
		now = next;
		next = was;
	}
	for (uint32_t w = 0; w < now->nr; w++) {
		if (p->steps[now->at[w]].kind == STEP_MATCH)
			return 1;
	}
	return 0;
}
