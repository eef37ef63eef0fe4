// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Datagrams cut at every byte, and every length and count in them at 0, 1, its maximum and its neighbours:
 * what is counted is what the reference decoder counts. */
#include "trio.h"

#include <stdio.h>
#include <unistd.h>

#define BATCH 500
#define MIXED 6
#define PLACES 512

/* One input: datagram, and how it is changed. */
struct variant {
	uint16_t payload;
	enum { CUT_DATAGRAM, CUT_FRAME, SET } how;
	uint32_t off; /* of the cut, or of the field */
	uint32_t value;
};

struct variants {
	struct pool pool;
	struct variant *list;
	uint32_t nr, room;
};

static void add(struct variants *v, struct variant one)
{
	if (v->nr == v->room) {
		v->room = v->room ? 2 * v->room : 1024;
		v->list = realloc(v->list, v->room * sizeof(*v->list));
		assert_non_null(v->list);
	}
	v->list[v->nr++] = one;
}

static void make(void *arg, uint32_t n, struct wire *frame)
{
	const struct variants *v = arg;
	const struct variant *one = &v->list[n];
	const struct payload *p = &v->pool.payloads[one->payload];
	static struct wire w;

	memcpy(w.p, p->p, p->len);
	w.len = p->len;
	if (one->how == CUT_DATAGRAM)
		w.len = one->off;
	if (one->how == SET)
		wire_put32(w.p + one->off, one->value);
	/* Each in its own carrier, half of them IPv6. */
	if (one->payload & 1)
		wire_carry6(frame, w.p, w.len, 6343);
	else
		wire_carry4(frame, w.p, w.len, 6343);
	if (one->how == CUT_FRAME)
		frame->len = one->off;
}

static void begin(struct variants *v)
{
	memset(v, 0, sizeof(*v));
	pool_fill(&v->pool, MIXED);
	assert_int_equal(v->pool.nr, BUILT_DATAGRAMS + MIXED);
}

static void run(struct variants *v, const char *what)
{
	for (int which = 0; which < KERNEL_PROGRAMS; which++)
		trio_batches((enum kernel_program)which, what, make, v, v->nr, BATCH);
	printf("# %u %s of %u datagrams, both programs\n", v->nr, what, v->pool.nr);
	pool_free(&v->pool);
	free(v->list);
}

/* The sender cut it: IP and UDP lengths are right. */
static void test_cut_datagrams(void **state)
{
	struct variants v;

	(void)state;
	begin(&v);
	for (uint32_t i = 0; i < v.pool.nr; i++) {
		for (uint32_t off = 0; off <= v.pool.payloads[i].len; off++)
			add(&v, (struct variant){ i, CUT_DATAGRAM, off, 0 });
	}
	run(&v, "cuts");
}

/* Somebody on the way cut it: the lengths say more than there is. */
static void test_cut_frames(void **state)
{
	struct variants v;

	(void)state;
	begin(&v);
	for (uint32_t i = 0; i < v.pool.nr; i++) {
		uint32_t len = v.pool.payloads[i].len + (i & 1 ? 62 : 42);

		for (uint32_t off = 14; off < len; off++)
			add(&v, (struct variant){ i, CUT_FRAME, off, 0 });
	}
	run(&v, "cut frames");
}

static void test_lengths(void **state)
{
	static const uint32_t values[] = { 0,	       1,	   2,	       3,
					   4,	       7,	   8,	       0x7fffffff,
					   0x80000000, 0xfffffff8, 0xfffffffc, 0xfffffffd,
					   0xffffffff };
	static const int32_t steps[] = { -8, -4, -1, 1, 4, 8 };
	static struct place places[PLACES];
	uint32_t kinds[PLACE_STRING_LENGTH + 1] = { 0 };
	struct variants v;

	(void)state;
	begin(&v);
	for (uint32_t i = 0; i < v.pool.nr; i++) {
		const struct payload *p = &v.pool.payloads[i];
		uint32_t nr = places_find(p->p, p->len, places, PLACES);

		assert_in_range(nr, 2, PLACES - 1);
		for (uint32_t k = 0; k < nr; k++) {
			uint32_t was = wire_get32(p->p + places[k].off);

			kinds[places[k].kind]++;
			for (size_t n = 0; n < sizeof(values) / sizeof(values[0]); n++)
				add(&v, (struct variant){ i, SET, places[k].off, values[n] });
			for (size_t n = 0; n < sizeof(steps) / sizeof(steps[0]); n++)
				add(&v, (struct variant){ i, SET, places[k].off,
							  was + (uint32_t)steps[n] });
		}
	}
	for (int kind = 0; kind <= PLACE_STRING_LENGTH; kind++) {
		printf("# %u times %s\n", kinds[kind], place_names[kind]);
		assert_true(kinds[kind] >= 2);
	}
	run(&v, "lengths");
}

/* Every 32-bit word of the built datagrams, whatever it means. */
static void test_words(void **state)
{
	struct variants v;

	(void)state;
	begin(&v);
	for (uint16_t i = 0; i < BUILT_DATAGRAMS; i++) {
		const struct payload *p = &v.pool.payloads[i];

		for (uint32_t off = 0; off + 4 <= p->len; off += 4) {
			uint32_t was = wire_get32(p->p + off);

			add(&v, (struct variant){ i, SET, off, 0 });
			add(&v, (struct variant){ i, SET, off, 0xffffffff });
			add(&v, (struct variant){ i, SET, off, was + 1 });
			add(&v, (struct variant){ i, SET, off, was - 1 });
		}
	}
	run(&v, "words");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_datagrams),
		cmocka_unit_test(test_cut_frames),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_words),
	};

	if (geteuid()) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
