/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading /metrics in tests, with a strict reader of the Prometheus text format 0.0.4: it stops the test at
 * the first line that is not as the format (and its conventions) want it. */
#ifndef XSF_TEST_EXPOSITION_H
#define XSF_TEST_EXPOSITION_H

#include <stdio.h>
#include "fixture.h"
#include "serve/metrics.h"

struct exposition {
	uint32_t nr_families;
	uint32_t nr_series;
	char **names;  /* of families */
	char **series; /* name{labels} */
	/* the family being read */
	char family[128];
	char type[16];
	uint32_t nr_in_family;
	/* the histogram being read: its labels without le, and what came so far */
	char hist[2048];
	double le, bucket;
	int buckets, inf, sum;
};

#define EXPECT(condition, line) \
	do { \
		if (!(condition)) \
			fail_msg("%s: %.200s", #condition, line); \
	} while (0)

static inline size_t metric_name(const char *p)
{
	size_t n = 0;

	while ((p[n] >= 'a' && p[n] <= 'z') || p[n] == '_' || (n && p[n] >= '0' && p[n] <= '9'))
		n++;
	return n;
}

static inline char *copy(const char *p, size_t n)
{
	char *s = strndup(p, n);

	assert_non_null(s);
	return s;
}

/* Reads {a="b",...}; appends all but le to `rest`, sets *le. Returns the byte behind the brace. */
static inline const char *read_labels(const char *p, const char *line, char *rest, char *le)
{
	char *out = rest;

	*out = 0;
	*le = 0;
	EXPECT(*p == '{', line);
	p++;
	while (*p != '}') {
		const char *start = p, *value;
		size_t n = metric_name(p);
		int is_le = n == 2 && !memcmp(p, "le", 2);

		EXPECT(n && p[n] == '=' && p[n + 1] == '"', line);
		p += n + 2;
		value = p;
		while (*p != '"') {
			EXPECT((unsigned char)*p >= ' ' && *p != 127, line);
			if (*p == '\\') {
				p++;
				EXPECT(*p == '\\' || *p == '"' || *p == 'n', line);
			}
			p++;
		}
		if (is_le) {
			snprintf(le, 32, "%.*s", (int)(p - value), value);
		} else {
			memcpy(out, start, (size_t)(p + 1 - start));
			out += p + 1 - start;
			*out++ = ',';
			*out = 0;
			assert_true(out - rest < 1900);
		}
		p++;
		EXPECT(*p == ',' || *p == '}', line);
		if (*p == ',') {
			p++;
			EXPECT(*p != '}', line);
		}
	}
	return p + 1;
}

static inline void expect_histogram_whole(struct exposition *e, const char *line)
{
	EXPECT(!e->buckets, line);
}

static inline void read_histogram(struct exposition *e, const char *suffix, const char *rest,
				  const char *le, double value, const char *line)
{
	if (!strcmp(suffix, "_bucket")) {
		double bound = strtod(le, NULL);

		EXPECT(*le, line);
		if (!e->buckets) {
			snprintf(e->hist, sizeof(e->hist), "%s", rest);
		} else {
			EXPECT(!strcmp(e->hist, rest), line);
			EXPECT(!e->inf && bound > e->le && value >= e->bucket, line);
		}
		e->buckets++;
		e->inf = !strcmp(le, "+Inf");
		e->le = bound;
		e->bucket = value;
	} else if (!strcmp(suffix, "_sum")) {
		EXPECT(e->inf && !e->sum && !strcmp(e->hist, rest) && !*le, line);
		e->sum = 1;
	} else {
		EXPECT(!strcmp(suffix, "_count") && e->sum && !strcmp(e->hist, rest), line);
		EXPECT(value == e->bucket, line);
		e->buckets = e->inf = e->sum = 0;
	}
}

static inline void read_sample(struct exposition *e, const char *line)
{
	size_t n = metric_name(line), family = strlen(e->family);
	const char *p = line + n;
	char rest[2048] = "", le[32] = "", *end;
	double value;

	EXPECT(n >= family && !memcmp(line, e->family, family), line);
	if (*p == '{')
		p = read_labels(p, line, rest, le);
	/* doubled at powers of two */
	if (!(e->nr_series & (e->nr_series - 1)))
		e->series = realloc(e->series, 2 * (e->nr_series + 1) * sizeof(char *));
	assert_non_null(e->series);
	e->series[e->nr_series++] = copy(line, (size_t)(p - line));
	EXPECT(*p == ' ' && p[1] >= '0' && p[1] <= '9', line);
	value = strtod(p + 1, &end);
	EXPECT(*end == 0, line);
	if (!strcmp(e->type, "histogram")) {
		char suffix[16];

		snprintf(suffix, sizeof(suffix), "%.*s", (int)(n - family), line + family);
		read_histogram(e, suffix, rest, le, value, line);
	} else {
		EXPECT(n == family, line);
	}
	e->nr_in_family++;
}

static inline void read_head(struct exposition *e, const char *help, const char *type)
{
	size_t n = metric_name(help + 7);
	int total;

	expect_histogram_whole(e, help);
	EXPECT(!e->nr_families || e->nr_in_family, help);
	EXPECT(!strncmp(help, "# HELP xdp_sflow_", 17) && help[7 + n] == ' ' && help[8 + n], help);
	EXPECT(!strchr(help, '\\'), help);
	EXPECT(type && !strncmp(type, "# TYPE ", 7) && !strncmp(type + 7, help + 7, n + 1), help);
	assert_true(n < sizeof(e->family));
	snprintf(e->family, sizeof(e->family), "%.*s", (int)n, help + 7);
	snprintf(e->type, sizeof(e->type), "%s", type + 8 + n);
	total = n > 6 && !strcmp(e->family + n - 6, "_total");
	EXPECT(!strcmp(e->type, "counter") ?
		       total :
		       !total && (!strcmp(e->type, "gauge") || !strcmp(e->type, "histogram")),
	       type);
	e->names = realloc(e->names, (e->nr_families + 1) * sizeof(char *));
	e->names[e->nr_families++] = copy(e->family, n);
	e->nr_in_family = 0;
}

static inline int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline void expect_unique(char **list, uint32_t nr)
{
	if (!nr)
		return;
	assert_non_null(list);
	qsort(list, nr, sizeof(*list), by_text);
	for (uint32_t i = 1; i < nr; i++)
		EXPECT(strcmp(list[i - 1], list[i]), list[i]);
}

/* Reads the whole text or fails the test. Series and families: how many there were. */
static inline void read_exposition(const char *text, uint32_t *families, uint32_t *series)
{
	struct exposition e = { 0 };
	char *all = copy(text, strlen(text)), *line, *next;

	assert_true(*text && text[strlen(text) - 1] == '\n');
	for (line = all; *line; line = next) {
		next = strchr(line, '\n');
		*next++ = 0;
		if (*line == '#') {
			char *type = next, *end = strchr(next, '\n');

			EXPECT(end, line);
			*end = 0;
			next = end + 1;
			read_head(&e, line, type);
		} else {
			read_sample(&e, line);
		}
	}
	expect_histogram_whole(&e, "end");
	EXPECT(e.nr_in_family, e.family);
	expect_unique(e.names, e.nr_families);
	expect_unique(e.series, e.nr_series);
	if (families)
		*families = e.nr_families;
	if (series)
		*series = e.nr_series;
	for (uint32_t i = 0; i < e.nr_families; i++)
		free(e.names[i]);
	for (uint32_t i = 0; i < e.nr_series; i++)
		free(e.series[i]);
	free(e.names);
	free(e.series);
	free(all);
}

static inline ssize_t read_metrics(void *m, char *buf, size_t max)
{
	return xsf_metrics_read(m, buf, max);
}

static inline char *render(const struct fixture *f, const struct xsf_metrics_options *o,
			   size_t chunk)
{
	struct xsf_metrics *m = xsf_metrics_open(&f->s, o);
	char *text;

	assert_non_null(m);
	text = fixture_read(read_metrics, m, chunk);
	xsf_metrics_close(m);
	return text;
}

/* The line behind *text, its length without the line feed; NULL at the end. Line by line, since the searches
 * of AddressSanitizer look at all of the rest each time. */
static inline const char *next_line(const char **text, size_t *len)
{
	const char *line = *text, *end = line;

	if (!*line)
		return NULL;
	while (*end != '\n')
		end++;
	*len = (size_t)(end - line);
	*text = end + 1;
	return line;
}

static inline int has(const char *text, const char *wanted)
{
	size_t n = strlen(wanted), len;
	const char *line;

	while ((line = next_line(&text, &len))) {
		if (len == n && !memcmp(line, wanted, n))
			return 1;
	}
	return 0;
}

/* Each of the lines is there; they are written with single quotes for double ones. */
static inline void expect_lines(const char *text, const char *const *lines)
{
	char line[512];

	for (; *lines; lines++) {
		snprintf(line, sizeof(line), "%s", *lines);
		for (char *c = line; *c; c++)
			*c = *c == '\'' ? '"' : *c;
		if (!has(text, line))
			fail_msg("missing: %s", line);
	}
}

/* Lines that contain `part`. */
static inline uint32_t count_of(const char *text, const char *part)
{
	const char *line;
	uint32_t n = 0;
	size_t len;

	while ((line = next_line(&text, &len)))
		n += !!memmem(line, len, part, strlen(part));
	return n;
}

static const struct xsf_metrics_extra extras[] = {
	{ "xdp_sflow_http_requests_total", "HTTP requests.", "code=\"200\"", 5, 0 },
	{ "xdp_sflow_http_requests_total", NULL, "code=\"404\"", 6, 0 },
	{ "xdp_sflow_http_connections", "HTTP connections now.", NULL, 7, 1 },
};

static const struct xsf_metrics_options options = {
	.unix_now_ns = 1700000000 * SECOND,
	.prog_stats = 1,
	.extra = extras,
	.nr_extra = 3,
};

#endif
