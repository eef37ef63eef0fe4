// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Patterns of filters: what they match, by the C library's regular expressions where those are safe, and how
 * long that takes where they are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "model/flow_pattern.h"

/* Behind what is there, which has room for it. */
static void append(char *to, const char *text)
{
	memcpy(to + strlen(to), text, strlen(text) + 1);
}

static struct xsf_flow_pattern *pattern_of(const char *text)
{
	struct xsf_flow_pattern *pattern;
	struct xsf_flow_error error;
	size_t at = 0;

	if (xsf_flow_pattern_parse(text, strlen(text), &at, &pattern, &error))
		fail_msg("%s: at %u: %s", text, error.at, error.why);
	assert_int_equal(at, strlen(text));
	return pattern;
}

static int matches(const char *pattern, const char *text)
{
	struct xsf_flow_pattern *p = pattern_of(pattern);
	int is = xsf_flow_pattern_matches(p, text, strlen(text));

	xsf_flow_pattern_free(p);
	return is;
}

static void refused(const char *text, uint32_t at, const char *why)
{
	struct xsf_flow_pattern *pattern;
	struct xsf_flow_error error;
	size_t i = 0;

	assert_int_equal(xsf_flow_pattern_parse(text, strlen(text), &i, &pattern, &error), -EINVAL);
	assert_null(pattern);
	if (error.at != at || strcmp(error.why, why) != 0)
		fail_msg("%s: at %u: %s", text, error.at, error.why);
}

static void test_matches(void **state)
{
	static const struct {
		const char *pattern, *yes, *no;
	} cases[] = {
		{ "", "", "a" },
		{ "abc", "abc", "abcd" },
		{ "a.c", "a\nc", "ac" },
		{ "a*", "aaa", "ab" },
		{ "a+b?", "aab", "b" },
		{ "a+?", "", "b" },
		{ "(a|bc|)d", "bcd", "bd" },
		{ "(a|bc|)d", "d", "abcd" },
		{ "((a|b)(c|d))+", "acbd", "acb" },
		{ "(a*)*", "aaaa", "b" },
		{ "()*a", "a", "" },
		{ "()+a", "a", "" },
		{ "[a-cx]+", "abxc", "abd" },
		{ "[^a-c]", "d", "b" },
		{ "[]a]+", "]a", "b" },
		{ "[^]a]", "b", "]" },
		{ "[a-]+", "a-", "b" },
		{ "[\\]+", "\\\\", "a" },
		{ "[[:digit:][:upper:]_]+", "1A_", "a" },
		{ "[[]", "[", "]" },
		{ "\\d+\\.\\D", "12.x", "12x3" },
		{ "\\w+\\W\\s\\S", "a_1- x", "a_1-xx" },
		{ "a\\|b\\&\\(\\)\\\\", "a|b&()\\", "a" },
		{ "^ab$", "ab", "b" },
		{ "a^b", "", "a^b" },
		{ "(^a|b$)*", "ab", "ba" },
		{ "(&|\\||,)*", "&|,", "x" },
		{ "\xc3\xa9.*", "\xc3\xa9t\xc3\xa9", "\xc3" },
		{ "....1.000", "000010000", "0000100000" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int empty = strcmp(cases[i].pattern, "a^b") == 0 ||
			    strcmp(cases[i].pattern, "a+?") == 0;

		if (!matches(cases[i].pattern, cases[i].yes) && !empty)
			fail_msg("%s does not match '%s'", cases[i].pattern, cases[i].yes);
		if (matches(cases[i].pattern, cases[i].no))
			fail_msg("%s matches '%s'", cases[i].pattern, cases[i].no);
	}
	assert_int_equal(matches("a+?", ""), 1);
}

static void test_ends(void **state)
{
	static const struct {
		const char *text;
		size_t end;
	} cases[] = {
		{ "ab&c", 2 }, { "a(b&c)&d", 6 }, { "a|b", 1 },	  { "(a|b)|c", 5 },
		{ "a)b", 1 },  { "[&|)]&", 5 },	  { "\\&a)", 3 }, { "&", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xsf_flow_pattern *pattern;
		struct xsf_flow_error error;
		size_t at = 0;

		assert_int_equal(xsf_flow_pattern_parse(cases[i].text, strlen(cases[i].text), &at,
							&pattern, &error),
				 0);
		assert_int_equal(at, cases[i].end);
		xsf_flow_pattern_free(pattern);
	}
}

static void test_refused(void **state)
{
	char text[XSF_FLOW_PATTERN + 2], deep[2 * XSF_PATTERN_DEPTH + 8];

	(void)state;
	refused("a(b", 1, "'(' without ')'");
	refused("a((b)", 1, "'(' without ')'");
	refused("a[b", 1, "'[' without ']'");
	refused("[]", 0, "'[' without ']'");
	refused("[^]", 0, "'[' without ']'");
	refused("[b-a]", 1, "a range that ends before it begins");
	refused("[[:alphabet:]]", 1, "no such class of characters");
	refused("[[.a.]]", 1, "no such class of characters");
	refused("*a", 0, "nothing before '*'");
	refused("(+)", 1, "nothing before '+'");
	refused("(a|?)", 3, "nothing before '?'");
	refused("a{2}", 1, "intervals ({) are not supported");
	refused("(a)\\1", 3, "references (\\1) are not supported");
	refused("\\b", 0, "\\b is not supported");
	refused("a\\", 1, "nothing behind '\\'");
	memset(text, 'a', sizeof(text));
	text[XSF_FLOW_PATTERN + 1] = 0;
	refused(text, 0, "a pattern is longer than 256 bytes");
	text[XSF_FLOW_PATTERN] = '*';
	refused(text, 0, "a pattern is longer than 256 bytes");
	text[XSF_FLOW_PATTERN] = 0;
	xsf_flow_pattern_free(pattern_of(text));
	memset(deep, '(', sizeof(deep));
	memcpy(deep + XSF_PATTERN_DEPTH + 1, "a)", 3);
	refused(deep, XSF_PATTERN_DEPTH, "nested deeper than 32");
	memset(deep + XSF_PATTERN_DEPTH, ')', XSF_PATTERN_DEPTH);
	deep[2 * XSF_PATTERN_DEPTH] = 0;
	xsf_flow_pattern_free(pattern_of(deep));
}

/* Each byte makes as many steps as it can. */
static void test_longest(void **state)
{
	static const char *const units[] = {
		"a*", "(a*)*", "(|)", "a|", "\\d", "[a]", "a*?+", "()*"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		char text[XSF_FLOW_PATTERN + 16] = "(";

		while (strlen(text) + strlen(units[i]) < XSF_FLOW_PATTERN)
			append(text, units[i]);
		append(text, ")");
		matches(text, "aaaaaaaaaaaaaaaaaaab");
	}
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 16;
}

/* A random pattern of up to 9 characters of those that both read alike; 0: not one of those. */
static int random_pattern(uint32_t *seed, char text[12])
{
	static const char *const pieces[] = { "a", "b", "c", ".", "(",	  ")",
					      "|", "*", "+", "?", "[ab]", "[^a]" };
	uint32_t nr = 1 + next(seed) % 5, depth = 0, stars = 0;
	char last = '(';

	*text = 0;
	for (uint32_t i = 0; i < nr || depth; i++) {
		const char *piece = pieces[next(seed) % 12];

		if (i >= nr && depth) {
			piece = ")";
		} else if (strlen(text) > 6) {
			return 0;
		}
		if (*piece == ')' && (!depth || strchr("(|", last)))
			return 0;
		if (*piece == '|' && (!depth || strchr("(|", last)))
			return 0;
		if (strchr("*+?", *piece) && (strchr("(|*+?", last) || ++stars > 2))
			return 0;
		depth += *piece == '(';
		depth -= *piece == ')';
		if (strlen(text) + strlen(piece) > 11)
			return 0;
		append(text, piece);
		last = *piece;
	}
	return 1;
}

static void test_random(void **state)
{
	uint32_t seed = 7, tried = 0, matched = 0;

	(void)state;
	for (int i = 0; i < 60000; i++) {
		struct xsf_flow_pattern *p;
		char text[12], whole[20];
		regex_t regex;

		if (!random_pattern(&seed, text))
			continue;
		snprintf(whole, sizeof(whole), "^(%s)$", text);
		if (regcomp(&regex, whole, REG_EXTENDED | REG_NOSUB))
			continue;
		p = pattern_of(text);
		for (int j = 0; j < 20; j++) {
			char subject[8];
			uint32_t len = next(&seed) % 7;
			int want, got;

			for (uint32_t k = 0; k < len; k++)
				subject[k] = "abc"[next(&seed) % 3];
			subject[len] = 0;
			want = !regexec(&regex, subject, 0, NULL, 0);
			got = xsf_flow_pattern_matches(p, subject, len);
			if (want != got)
				fail_msg("%s, '%s': %d, want %d", text, subject, got, want);
			tried++;
			matched += (uint32_t)want;
		}
		regfree(&regex);
		xsf_flow_pattern_free(p);
	}
	assert_true(tried > 100000 && matched > tried / 20 && matched < tried / 2);
}

/* Bombs: each within a second, however slow the machine; the C library takes hours for the first. */
static void test_bombs(void **state)
{
	static const char *const units[] = { "(a*)*",	 "((((a*)*)*)*)*", "(a|aa)*", "(.*a)?",
					     "(.|a)*a.", "(a?)*",	   ".*" };
	char subject[XSF_FLOW_VALUE_TEXT + 1];

	(void)state;
	memset(subject, 'a', XSF_FLOW_VALUE_TEXT);
	subject[XSF_FLOW_VALUE_TEXT] = 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		char text[XSF_FLOW_PATTERN + 16] = "";
		clock_t begin = clock();

		while (strlen(text) + strlen(units[i]) < XSF_FLOW_PATTERN - 1)
			append(text, units[i]);
		append(text, "b");
		for (int n = 0; n < 50; n++)
			assert_int_equal(matches(text, subject), 0);
		assert_true(clock() - begin < CLOCKS_PER_SEC);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches), cmocka_unit_test(test_ends),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_longest),
		cmocka_unit_test(test_random),	cmocka_unit_test(test_bombs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
