// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Dropped headers as pcapng: block by block, with a reader of the test's own. */
#include "event.h"

#include <jansson.h>
#include "serve/pcapng.h"

struct file {
	struct xsf_pcapng *p;
	struct xsf_text t;
};

/* A block, from its type to its second length. */
struct block {
	uint32_t type;
	const uint8_t *body;
	uint32_t len;
};

static void open_file(struct file *f, uint32_t max)
{
	f->p = xsf_pcapng_new(max, 42);
	f->t = (struct xsf_text){ .buf = malloc(1 << 24), .max = 1 << 24 };
	assert_non_null(f->p);
	assert_non_null(f->t.buf);
	xsf_pcapng_begin(&f->t, "test 1");
}

static void close_file(struct file *f)
{
	xsf_pcapng_free(f->p);
	free(f->t.buf);
}

static void put(struct file *f, const struct xsf_event *e, const char *node, const char *port)
{
	size_t before = f->t.len;
	struct xsf_event_view v;

	event_see(&v, e, node, port);
	xsf_pcapng_event(f->p, &f->t, &v);
	assert_false(f->t.full);
	assert_true(f->t.len - before <= XSF_PCAPNG_PIECE);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint16_t get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The next block at *at; 0 at the end. */
static int next(const struct file *f, size_t *at, struct block *b)
{
	const uint8_t *p = (const uint8_t *)f->t.buf + *at;
	uint32_t len;

	if (*at == f->t.len)
		return 0;
	assert_true(f->t.len - *at >= 12);
	len = get32(p + 4);
	assert_int_equal(len % 4, 0);
	assert_in_range(len, 12, f->t.len - *at);
	assert_int_equal(get32(p + len - 4), len);
	*b = (struct block){ get32(p), p + 8, len - 12 };
	*at += len;
	return 1;
}

/* Likewise where there must be one. */
static struct block some(const struct file *f, size_t *at)
{
	struct block b;

	if (!next(f, at, &b)) {
		fail_msg("the file ends");
		abort();
	}
	return b;
}

/* The value of an option from `at` on in a block, of *n bytes; NULL: none. The list must be sound. */
static const uint8_t *option(const struct block *b, uint32_t at, uint16_t code, uint32_t *n)
{
	const uint8_t *found = NULL;

	for (;;) {
		uint32_t len;

		assert_true(at + 4 <= b->len);
		len = get16(b->body + at + 2);
		if (!get16(b->body + at)) {
			assert_int_equal(len, 0);
			assert_int_equal(at + 4, b->len);
			return found;
		}
		assert_true(at + 4 + len <= b->len);
		if (get16(b->body + at) == code) {
			assert_null(found);
			found = b->body + at + 4;
			*n = len;
		}
		at += 4 + ((len + 3) & ~3u);
	}
}

static void is_text(const uint8_t *p, uint32_t n, const char *want)
{
	char got[2048];

	assert_non_null(p);
	assert_true(n < sizeof(got));
	memcpy(got, p, n);
	got[n] = 0;
	assert_string_equal(got, want);
}

static void is_interface(const struct file *f, size_t *at, uint16_t link, const char *name)
{
	struct block b;
	const uint8_t *p;
	uint32_t n = 0;

	b = some(f, at);
	assert_int_equal(b.type, 1);
	assert_int_equal(get16(b.body), link);
	assert_int_equal(get32(b.body + 4), 0);
	p = option(&b, 8, 2, &n);
	is_text(p, n, name);
	p = option(&b, 8, 9, &n);
	assert_non_null(p);
	assert_int_equal(n, 1);
	assert_int_equal(*p, 9);
}

/* Returns the packet's bytes. */
static const uint8_t *is_packet(const struct file *f, size_t *at, uint32_t interface, uint64_t ns,
				uint32_t kept, uint32_t len, const char *comment)
{
	struct block b;
	const uint8_t *p;
	uint32_t n = 0;

	b = some(f, at);
	assert_int_equal(b.type, 6);
	assert_int_equal(get32(b.body), interface);
	assert_true(((uint64_t)get32(b.body + 4) << 32 | get32(b.body + 8)) == ns);
	assert_int_equal(get32(b.body + 12), kept);
	assert_int_equal(get32(b.body + 16), len);
	p = option(&b, 20 + ((kept + 3) & ~3u), 1, &n);
	if (comment)
		is_text(p, n, comment);
	return b.body + 20;
}

static void test_file(void **state)
{
	struct xsf_event e = event_of(258, 3);
	struct wire w = { .len = 0 };
	struct file f;
	struct block b;
	const uint8_t *p;
	uint32_t n = 0;
	size_t at = 0;

	(void)state;
	open_file(&f, 0);
	wire_roce4(&w, 6, 0, 1000);
	event_header(&e, &w, 1);
	e.flags |= XSF_EVENT_HAS_TIME;
	e.timestamp_ns = AT_NS - 1000;
	event_text(e.trap, &e.trap_len, "a b");
	put(&f, &e, "leaf1", "swp3");
	put(&f, &e, "leaf1", "swp3");
	e.input = 4;
	e.header_kept = 21;
	e.shed = 5;
	put(&f, &e, "leaf1", "sw\"4");
	w.len = 0;
	wire_ip6(&w, 0, 253, 0);
	e = event_of(4711, 0);
	event_header(&e, &w, 12);
	put(&f, &e, "leaf1", NULL);
	e.protocol = 7;
	put(&f, &e, "leaf1", NULL);
	e.flags = 0;
	put(&f, &e, "leaf1", NULL);

	b = some(&f, &at);
	assert_int_equal(b.type, 0x0a0d0d0a);
	assert_int_equal(get32(b.body), 0x1a2b3c4d);
	assert_int_equal(get16(b.body + 4), 1);
	p = option(&b, 16, 4, &n);
	is_text(p, n, "test 1");
	is_interface(&f, &at, 1, "leaf1 swp3");
	p = is_packet(&f, &at, 0, AT_NS - 1000, 128, 1054, "acl (258) at leaf1 swp3 trap=\"a b\"");
	assert_int_equal(p[12], 8);
	is_packet(&f, &at, 0, AT_NS - 1000, 128, 1054, "acl (258) at leaf1 swp3 trap=\"a b\"");
	is_interface(&f, &at, 1, "leaf1 \"sw\\\"4\"");
	p = is_packet(&f, &at, 1, AT_NS - 1000, 21, 1054,
		      "acl (258) at leaf1 \"sw\\\"4\" trap=\"a b\"");
	b = (struct block){ 6, p - 20, 0 };
	b.len = get32(b.body - 4) - 12;
	p = option(&b, 20 + 24, 4, &n);
	assert_int_equal(n, 8);
	assert_int_equal(get32(p), 5);
	is_interface(&f, &at, 101, "leaf1 ?");
	is_packet(&f, &at, 2, AT_NS, 40, 40, "4711 at leaf1 ?");
	is_interface(&f, &at, 147, "leaf1 ?");
	is_packet(&f, &at, 3, AT_NS, 40, 40, "4711 at leaf1 ? header_protocol=7");
	is_interface(&f, &at, 1, "leaf1 ?");
	is_packet(&f, &at, 4, AT_NS, 0, 0, "4711 at leaf1 ?");
	assert_false(next(&f, &at, &b));
	assert_int_equal(xsf_pcapng_other(f.p), 0);
	close_file(&f);
}

/* A port that is learnt to have a name is another interface: what is written stays. */
static void test_names_change(void **state)
{
	struct xsf_event e = event_of(258, 3);
	struct file f;
	size_t at = 0;

	(void)state;
	open_file(&f, 0);
	put(&f, &e, NULL, NULL);
	put(&f, &e, "leaf1", NULL);
	put(&f, &e, "leaf1", "swp3");
	put(&f, &e, "leaf1", NULL);
	some(&f, &at);
	is_interface(&f, &at, 1, "10.0.0.1 3");
	is_packet(&f, &at, 0, AT_NS, 0, 0, NULL);
	is_interface(&f, &at, 1, "leaf1 3");
	is_packet(&f, &at, 1, AT_NS, 0, 0, NULL);
	is_interface(&f, &at, 1, "leaf1 swp3");
	is_packet(&f, &at, 2, AT_NS, 0, 0, NULL);
	is_packet(&f, &at, 1, AT_NS, 0, 0, NULL);
	close_file(&f);
}

static void test_other(void **state)
{
	struct file f;
	struct block b;
	size_t at = 0;
	uint32_t interfaces = 0;

	(void)state;
	open_file(&f, 100);
	for (uint32_t i = 1; i <= 300; i++) {
		struct xsf_event e = event_of(258, i);

		e.flags = XSF_EVENT_HAS_HEADER;
		e.protocol = i % 3 ? 1 : 11;
		put(&f, &e, "s", NULL);
	}
	while (next(&f, &at, &b)) {
		interfaces += b.type == 1;
		/* Each packet's interface is there before it. */
		if (b.type == 6)
			assert_true(get32(b.body) < interfaces);
	}
	assert_int_equal(interfaces, 102);
	assert_int_equal(xsf_pcapng_other(f.p), 200);
	close_file(&f);
}

static void test_hostile(void **state)
{
	static const char longest[XSF_VIEW_NAME] = { [0 ... XSF_VIEW_NAME - 2] = '"' };
	static const char *const names[] = { "a\"b", "\n", "\xff\xfe", "\033[2J", longest };
	uint64_t seed = 9;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		struct xsf_event e;
		struct block b;
		struct file f;
		size_t at = 0;
		int nr = 0;

		open_file(&f, 2);
		event_hostile(&e, &seed);
		put(&f, &e, names[i % 5], names[i / 5 % 5]);
		for (; next(&f, &at, &b); nr++) {
			uint32_t n = 0, kept = b.type == 6 ? get32(b.body + 12) : 0;
			const uint8_t *p;
			json_t *text;

			if (nr == 0)
				continue;
			p = nr == 1 ? option(&b, 8, 2, &n) :
				      option(&b, 20 + ((kept + 3) & ~3u), 1, &n);
			assert_non_null(p);
			text = json_stringn((const char *)p, n); /* refuses what is not UTF-8 */
			assert_non_null(text);
			json_decref(text);
			for (uint32_t c = 0; c < n; c++)
				assert_true(p[c] >= 0x20 && p[c] != 0x7f);
			if (nr == 2)
				assert_true(get32(b.body + 16) >= kept);
		}
		assert_int_equal(nr, 3);
		close_file(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_names_change),
		cmocka_unit_test(test_other),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
