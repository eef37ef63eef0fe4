// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The JSON documents of the AI metrics: trend, metric, period; and the fast load that a period comes from. */
#include "ai_kit.h"

static json_t *parsed(char *text, size_t len)
{
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);

	assert_non_null(text);
	assert_non_null(j);
	free(text);
	return j;
}

static json_t *trend_of(struct made *m, uint64_t after)
{
	size_t len;
	char *text = xsf_ai_trend_json(m->ai, after, &len);

	return parsed(text, len);
}

static void trend(void **state)
{
	struct made *m = *state;
	json_t *j, *t, *all, *times, *row;

	bind(m);
	j = trend_of(m, 0);
	t = json_object_get(j, "trend");
	assert_int_equal(json_integer_value(json_object_get(t, "maxPoints")), 300);
	all = json_object_get(t, "trends");
	times = json_object_get(t, "times");
	assert_int_equal(json_object_size(all), XSF_AI_NR_SERIES + 2);
	assert_int_equal(json_array_size(times), 300);
	assert_int_equal(json_integer_value(json_array_get(times, 0)), UNIX_MS - 300000);
	assert_int_equal(json_integer_value(json_array_get(times, 299)), UNIX_MS - 1000);
	for (uint32_t i = 0; i < XSF_AI_NR_SERIES; i++) {
		row = json_object_get(all, xsf_ai_keys[i]);
		assert_int_equal(json_array_size(row), 300);
		expect_near(json_number_value(json_array_get(row, 0)), 0, 0);
	}
	json_decref(j);

	tick(m);
	for (int i = 0; i < 310; i++) {
		add_everything(m);
		tick(m);
	}
	j = trend_of(m, 0);
	t = json_object_get(j, "trend");
	all = json_object_get(t, "trends");
	times = json_object_get(t, "times");
	for (int i = 1; i < 300; i++)
		assert_int_equal(json_integer_value(json_array_get(times, (size_t)i)),
				 json_integer_value(json_array_get(times, (size_t)i - 1)) + 1000);
	assert_int_equal(json_integer_value(json_array_get(times, 299)), m->unix_ms);
	expect_near(json_number_value(json_array_get(json_object_get(all, "bps"), 299)), 160000,
		    1e-3);
	row = json_array_get(json_object_get(all, XSF_AI_OPERATIONS), 299);
	assert_int_equal(json_object_size(row), 2);
	expect_near(json_number_value(json_object_get(row, "RC:ACK")), 200, 1e-3);
	row = json_array_get(json_object_get(all, XSF_AI_DROPS), 299);
	expect_near(json_number_value(json_object_get(row, "acl")), 3, 1e-3);
	json_decref(j);

	/* strictly later */
	j = trend_of(m, m->unix_ms - 2000);
	t = json_object_get(j, "trend");
	assert_int_equal(json_integer_value(json_object_get(t, "maxPoints")), 300);
	assert_int_equal(json_array_size(json_object_get(t, "times")), 2);
	assert_int_equal(json_array_size(json_object_get(json_object_get(t, "trends"), "bps")), 2);
	json_decref(j);
	j = trend_of(m, m->unix_ms);
	assert_int_equal(json_array_size(json_object_get(json_object_get(j, "trend"), "times")), 0);
	json_decref(j);
}

/* The system's time is set, back and on: the points stay a second apart, and those after one are the later
 * ones. */
static void trend_clock(void **state)
{
	static const int64_t jumps[] = { -7200000, 3600000, -400, 86400000 };
	struct made *m = *state;

	bind(m);
	for (int i = 0; i < 5; i++)
		tick(m);
	for (size_t n = 0; n < sizeof(jumps) / sizeof(jumps[0]); n++) {
		json_t *j, *times;

		m->unix_ms += (uint64_t)jumps[n];
		tick(m);
		j = trend_of(m, 0);
		times = json_object_get(json_object_get(j, "trend"), "times");
		assert_int_equal(json_integer_value(json_array_get(times, 299)), m->unix_ms);
		for (size_t i = 295; i < 300; i++)
			assert_int_equal(json_integer_value(json_array_get(times, i)),
					 json_integer_value(json_array_get(times, i - 1)) + 1000);
		json_decref(j);
		j = trend_of(m, m->unix_ms - 3000);
		times = json_object_get(json_object_get(j, "trend"), "times");
		assert_int_equal(json_array_size(times), 3);
		json_decref(j);
	}
}

static void metric(void **state)
{
	struct made *m = *state;
	const char *key;
	json_t *j, *one, *value_of;
	uint32_t n = 0;
	size_t len;
	char *doc;

	bind(m);
	tick(m);
	add_everything(m);
	tick(m);
	doc = xsf_ai_metric_json(m->ai, &len);
	j = parsed(doc, len);
	assert_int_equal(json_object_size(j), XSF_AI_NR_SERIES + 2);
	json_object_foreach(j, key, value_of)
	{
		assert_int_equal(xsf_ai_value_json(m->ai, key, &doc, &len), 0);
		one = parsed(doc, len);
		assert_true(json_equal(one, value_of));
		json_decref(one);
		n++;
	}
	assert_int_equal(n, XSF_AI_NR_SERIES + 2);
	json_decref(j);
	assert_int_equal(xsf_ai_value_json(m->ai, "nope", &doc, &len), -ENOENT);
	assert_int_equal(xsf_ai_value_json(m->ai, "", &doc, &len), -ENOENT);
}

/* Bins of 10 ms: a constant load, then none; a revolution; a gap. */
static void fast_load(void **state)
{
	static struct xsf_timeline_row row;
	static struct xsf_ai_fast f;
	struct made *m = *state;
	struct xsf_ai_stats stats;
	uint64_t bin = 1000;
	json_t *j;
	size_t len;
	char *doc;

	row.bin[999].packets = 1ull << 50; /* of the revolution before */
	xsf_ai_fast_read(&f, &row, bin * XSF_TIMELINE_NS);
	for (int i = 0; i < 100; i++)
		row.bin[bin++ % XSF_TIMELINE_SLOTS].packets += 50;
	/* the last two are still being counted */
	xsf_ai_fast_read(&f, &row, bin * XSF_TIMELINE_NS);
	expect_near(f.value, 5000 * (1 - exp(-9.8)), 3);
	bin += 10;
	xsf_ai_fast_read(&f, &row, bin * XSF_TIMELINE_NS);
	expect_near(f.value, 5000 * exp(-0.8), 3);
	for (int i = 0; i < 2 * XSF_TIMELINE_SLOTS; i++) {
		row.bin[bin++ % XSF_TIMELINE_SLOTS].packets += 20;
		if (i % 100 == 0)
			xsf_ai_fast_read(&f, &row, bin * XSF_TIMELINE_NS);
	}
	xsf_ai_fast_read(&f, &row, bin * XSF_TIMELINE_NS);
	expect_near(f.value, 2000, 0.1);
	bin += 3 * XSF_TIMELINE_SLOTS;
	xsf_ai_fast_read(&f, &row, bin * XSF_TIMELINE_NS);
	expect_near(f.value, 0, 0);

	for (int i = 0; i < 19; i++)
		xsf_ai_fast_second(&f, i, 0.5);
	expect_near(xsf_ai_fast_threshold(&f), 0, 0);
	for (int i = 19; i < 30; i++)
		xsf_ai_fast_second(&f, i, i == 25 ? 0 : 0.5);
	expect_near(xsf_ai_fast_threshold(&f), (10 + 29) / 2.0, 1e-9);
	xsf_ai_baseline_stats(&f.load, &stats);
	expect_near(stats.min, 10, 0);
	expect_near(stats.max, 29, 0);
	expect_near(stats.sdev, sqrt((20 * 20 - 1) / 12.0), 1e-9);
	assert_int_equal(f.period.nr, 4);
	doc = xsf_ai_period_json(m->ai, &f, &len);
	j = parsed(doc, len);
	assert_int_equal(json_object_size(j), 5);
	expect_near(json_number_value(json_object_get(j, "threshold")), 19.5, 1e-9);
	expect_near(
		json_number_value(json_object_get(json_object_get(j, "baselinePeriod"), "mean")),
		0.5, 1e-9);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE(trend),
		MADE(trend_clock),
		MADE(metric),
		MADE(fast_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
