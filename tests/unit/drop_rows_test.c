// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Drops by place and by agent, read out of a snapshot. */
#include "model/drop_rows.h"

#include <pthread.h>
#include <stdio.h>
#include "fixture.h"

/* The row of (agent slot, ifindex, reason), NULL: none. */
static const struct xsf_drop_row *find(const struct fixture *f, const struct xsf_drop_rows *rows,
				       uint32_t agent, uint32_t ifindex, uint32_t reason)
{
	const struct xsf_drop_row *found = NULL;

	for (uint32_t i = 0; i < rows->nr; i++) {
		const struct xsf_drop_row *r = &rows->at[i];

		if (memcmp(&r->agent, &f->agents[agent].key, sizeof(r->agent)) != 0 ||
		    r->ifindex != ifindex || r->reason != reason)
			continue;
		assert_null(found);
		found = r;
	}
	return found;
}

static void test_rows(void **state)
{
	struct fixture *f = fixture_full();
	const struct xsf_drop_row *r;
	struct xsf_drop_table d;

	(void)state;
	/* Another data source of the agent, with two holes. */
	fixture_interface(f, 3, "vlan30")->drop_window = 50ull << 32 | 0xfffffff5;
	assert_int_equal(xsf_drop_table_read(&f->s, UINT32_MAX, &d), 0);
	assert_int_equal(d.places.nr, 4);
	assert_int_equal(d.agents.nr, 3);
	assert_int_equal(d.places.hidden + d.agents.hidden, 0);
	assert_int_equal(d.rest, 41);
	assert_int_equal(d.pending[1], 3);
	assert_int_equal(d.pending[2], 0);
	/* Codes of one name are one row: seen as early as the first, as late as the last. */
	r = find(f, &d.places, 1, 12, 332);
	assert_non_null(r);
	assert_int_equal(r->notified, 3);
	assert_true(r->first_seen_ns == 101 * SECOND);
	assert_true(r->last_seen_ns == f->s.now_ns - 2 * SECOND);
	assert_ptr_equal(xsf_drop_row_interface(&f->s, r), &f->interfaces[1]);
	assert_null(find(f, &d.places, 1, 12, 33));
	/* No data source, or one without a record: no name. */
	r = find(f, &d.places, 1, 0, 258);
	assert_non_null(r);
	assert_int_equal(r->source, 0);
	assert_null(xsf_drop_row_interface(&f->s, r));
	r = find(f, &d.places, 1, 14, 258);
	assert_int_equal(r->source, 5);
	assert_null(xsf_drop_row_interface(&f->s, r));
	/* Its slot goes to another. */
	r = find(f, &d.places, 1, 12, 332);
	f->sources[1].generation += 2;
	assert_null(xsf_drop_row_interface(&f->s, r));
	xsf_drop_table_free(&d);
	fixture_free(f);
}

/* An alias that is silent still counts while the other code is heard: a counter must not shrink. */
static void test_silence(void **state)
{
	struct fixture *f = fixture_full();
	struct xsf_drop_table d;

	(void)state;
	f->places[1].last_seen_ns = 1;
	assert_int_equal(xsf_drop_table_read(&f->s, UINT32_MAX, &d), 0);
	assert_int_equal(find(f, &d.places, 1, 12, 332)->notified, 3);
	xsf_drop_table_free(&d);
	f->places[3].last_seen_ns = 1;
	assert_int_equal(xsf_drop_table_read(&f->s, UINT32_MAX, &d), 0);
	assert_null(find(f, &d.places, 1, 12, 332));
	assert_int_equal(d.places.nr, 3);
	xsf_drop_table_free(&d);
	f->s.stale_ns = 0;
	assert_int_equal(xsf_drop_table_read(&f->s, UINT32_MAX, &d), 0);
	assert_int_equal(d.places.nr, 5);
	xsf_drop_table_free(&d);
	fixture_free(f);
}

/* The first ones seen stay, whatever their keys. */
static void test_bound(void **state)
{
	struct fixture *f = fixture_full();
	struct xsf_drop_table d;

	(void)state;
	assert_int_equal(xsf_drop_table_read(&f->s, 2, &d), 0);
	assert_int_equal(d.places.nr, 2);
	assert_int_equal(d.places.hidden, 2);
	assert_int_equal(d.agents.nr, 2);
	assert_int_equal(d.agents.hidden, 1);
	assert_int_equal(d.places.at[0].reason, 332);
	assert_int_equal(d.places.at[1].ifindex, 14);
	assert_int_equal(d.agents.at[1].reason, 258);
	xsf_drop_table_free(&d);
	/* Others come before them in every order of keys: nothing changes. */
	fixture_place(f, 1, 1, 1, 9);
	assert_int_equal(xsf_drop_table_read(&f->s, 2, &d), 0);
	assert_int_equal(d.places.hidden, 3);
	assert_int_equal(d.places.at[0].reason, 332);
	assert_int_equal(d.places.at[1].ifindex, 14);
	xsf_drop_table_free(&d);
	fixture_free(f);
}

static void test_sums(void **state)
{
	struct fixture *f = fixture_full();
	struct xsf_drop_sums d;

	(void)state;
	xsf_drop_sums(&f->agents[1], &d);
	assert_int_equal(d.notified, 7);
	assert_int_equal(d.suppressed, 8);
	assert_int_equal(d.lost, 5);
	assert_int_equal(d.duplicate, 6);
	assert_int_equal(d.reordered, 9);
	assert_int_equal(d.restarts, 2);
	assert_int_equal(d.at_least, 6 + 8 + 5);
	fixture_free(f);
}

static void test_nothing(void **state)
{
	static const struct xsf_snapshot nothing;
	struct fixture *f = fixture_new(1, 1);
	struct xsf_drop_table d;

	(void)state;
	assert_int_equal(xsf_drop_table_read(&nothing, UINT32_MAX, &d), 0);
	assert_int_equal(d.places.nr + d.agents.nr + d.rest, 0);
	xsf_drop_table_free(&d);
	assert_int_equal(xsf_drop_table_read(&f->s, UINT32_MAX, &d), 0);
	assert_int_equal(d.places.nr + d.agents.nr + d.rest, 0);
	xsf_drop_table_free(&d);
	fixture_free(f);
}

/* Many places of many agents: each gets the name of its own port. */
static void test_names(void **state)
{
	static struct xsf_drop_place places[XSF_PLACES];
	struct fixture *f = fixture_new(201, 4001);
	struct xsf_drop_table d;

	(void)state;
	for (uint32_t a = 1; a <= 200; a++)
		fixture_agent(f, a, a % 3);
	for (uint32_t slot = 1; slot <= 4000; slot++) {
		char name[16];

		/* Slots lie in no order of agents or ports. */
		fixture_source(f, slot, slot * 7 % 200 + 1, 0, slot * 11 % 4001);
		snprintf(name, sizeof(name), "swp%u", slot * 11 % 4001);
		fixture_interface(f, slot, name);
	}
	for (uint32_t slot = 1; slot <= 4000; slot++) {
		const struct xsf_source *s = &f->sources[4001 - slot];

		for (uint32_t n = 0; n < 4; n++) {
			struct xsf_drop_place *p = &places[4 * slot - n];

			p->state = XSF_PLACE_IN_USE;
			p->agent = f->agents[s->key.agent].key;
			p->ifindex = s->key.index;
			p->reason = 258 + n;
			p->first_seen_ns = p->last_seen_ns = f->s.now_ns;
			p->notified = 1;
		}
	}
	f->s.places = places;
	f->s.nr_places = XSF_PLACES;
	assert_int_equal(xsf_drop_table_read(&f->s, UINT32_MAX, &d), 0);
	assert_int_equal(d.places.nr, 16000);
	for (uint32_t i = 0; i < d.places.nr; i++) {
		const struct xsf_drop_row *r = &d.places.at[i];
		const struct xsf_interface *n = xsf_drop_row_interface(&f->s, r);
		char name[16];

		assert_non_null(n);
		snprintf(name, sizeof(name), "swp%u", r->ifindex);
		assert_int_equal(n->name_len, strlen(name));
		assert_memory_equal(n->name, name, n->name_len);
	}
	xsf_drop_table_free(&d);
	fixture_free(f);
}

/* ---- rows that change hands while they are read ---- */

struct churn {
	struct fixture *f;
	int stop;
};

/* As places.h does: the count is taken, then the row given to the other of two agents, whose key and reason
 * belong together. */
static void *churn(void *arg)
{
	struct churn *c = arg;
	uint64_t now = 200 * SECOND;

	for (uint32_t n = 0; !__atomic_load_n(&c->stop, __ATOMIC_RELAXED); n++) {
		struct xsf_drop_place *p = &c->f->places[1 + n / 2 % 8];
		uint32_t agent = 1 + n % 2;

		__atomic_store_n(&p->state, XSF_PLACE_CHANGING, __ATOMIC_SEQ_CST);
		__atomic_store_n(&p->notified, 0, __ATOMIC_SEQ_CST);
		p->agent = c->f->agents[agent].key;
		p->ifindex = agent;
		p->reason = 258 + agent;
		p->first_seen_ns = p->last_seen_ns = now++;
		__atomic_store_n(&p->state, XSF_PLACE_IN_USE, __ATOMIC_SEQ_CST);
		__atomic_store_n(&p->notified, agent, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void test_changing_hands(void **state)
{
	struct fixture *f = fixture_new(3, 1);
	struct churn c = { .f = f };
	uint64_t rows = 0;
	pthread_t thread;

	(void)state;
	fixture_agent(f, 1, 0);
	fixture_agent(f, 2, 0);
	for (uint32_t i = 0; i < 9; i++)
		fixture_place(f, 1, 1, 259, 1);
	f->s.stale_ns = 0;
	assert_int_equal(pthread_create(&thread, NULL, churn, &c), 0);
	for (uint32_t n = 0; n < 20000; n++) {
		struct xsf_drop_table d;

		assert_int_equal(xsf_drop_table_read(&f->s, UINT32_MAX, &d), 0);
		for (uint32_t i = 0; i < d.places.nr; i++) {
			const struct xsf_drop_row *r = &d.places.at[i];

			assert_in_range(r->ifindex, 1, 2);
			assert_int_equal(r->reason, 258 + r->ifindex);
			assert_memory_equal(&r->agent, &f->agents[r->ifindex].key,
					    sizeof(r->agent));
		}
		rows += d.places.nr;
		xsf_drop_table_free(&d);
	}
	__atomic_store_n(&c.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_true(rows > 100);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),	       cmocka_unit_test(test_silence),
		cmocka_unit_test(test_bound),	       cmocka_unit_test(test_sums),
		cmocka_unit_test(test_nothing),	       cmocka_unit_test(test_names),
		cmocka_unit_test(test_changing_hands),
	};

	return cmocka_run_group_tests_name("drop_rows", tests, NULL, NULL);
}
