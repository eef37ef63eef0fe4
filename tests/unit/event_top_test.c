// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of `drops --top`: totals, rates, order, and its bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "model/event_top.h"

static void add(struct xsf_top *top, const char *key, int times)
{
	while (times-- > 0)
		xsf_top_add(top, key, strlen(key));
}

static void is_row(const struct xsf_top_row *row, const char *key, uint64_t total, double rate)
{
	if (key)
		assert_string_equal(row->key, key);
	else
		assert_null(row->key);
	assert_int_equal(row->total, total);
	assert_true(row->rate > rate - 1e-9 && row->rate < rate + 1e-9);
}

static void test_order(void **state)
{
	struct xsf_top *top = xsf_top_new(1);
	const struct xsf_top_row *rows;

	(void)state;
	assert_int_equal(xsf_top_rows(top, &rows), 0);
	add(top, "b", 3);
	add(top, "a", 3);
	add(top, "c", 10);
	xsf_top_tick(top, 2);
	add(top, "b", 4);
	assert_int_equal(xsf_top_rows(top, &rows), 3);
	is_row(&rows[0], "c", 10, 5);
	is_row(&rows[1], "b", 7, 1.5);
	is_row(&rows[2], "a", 3, 1.5);
	xsf_top_tick(top, 1);
	assert_int_equal(xsf_top_rows(top, &rows), 3);
	is_row(&rows[0], "b", 7, 4);
	is_row(&rows[1], "c", 10, 0);
	is_row(&rows[2], "a", 3, 0);
	xsf_top_free(top);
}

static void test_bound(void **state)
{
	struct xsf_top *top = xsf_top_new(2);
	const struct xsf_top_row *rows;
	uint64_t sum = 0;
	uint32_t nr;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 2 * XSF_TOP_ROWS; i++) {
			char key[16];

			snprintf(key, sizeof(key), "%u", i);
			add(top, key, 1);
		}
	}
	xsf_top_tick(top, 1);
	nr = xsf_top_rows(top, &rows);
	assert_int_equal(nr, XSF_TOP_ROWS + 1);
	is_row(&rows[0], NULL, 2 * XSF_TOP_ROWS, 2 * XSF_TOP_ROWS);
	for (uint32_t i = 0; i < nr; i++)
		sum += rows[i].total;
	assert_int_equal(sum, 4 * XSF_TOP_ROWS);
	xsf_top_free(top);
}

static void test_long_keys(void **state)
{
	struct xsf_top *top = xsf_top_new(3);
	const struct xsf_top_row *rows;
	char key[5000];

	(void)state;
	memset(key, 'x', sizeof(key));
	xsf_top_add(top, key, sizeof(key));
	key[XSF_TOP_KEY] = 'y'; /* behind the end: the same */
	xsf_top_add(top, key, sizeof(key));
	xsf_top_add(top, "", 0);
	assert_int_equal(xsf_top_rows(top, &rows), 2);
	assert_int_equal(rows[0].total, 2);
	assert_int_equal(strlen(rows[0].key), XSF_TOP_KEY - 1);
	xsf_top_free(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_long_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
