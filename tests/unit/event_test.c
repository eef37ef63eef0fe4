// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a reader is told of notifications and flow samples, and how those add up by place and by agent. */
#include <stdio.h>
#include "fed.h"

#define STALE (600 * SECOND)

static struct xsf_event last;
static uint32_t nr_events;

static void on_event(void *arg, const struct xsf_event *event)
{
	(void)arg;
	last = *event;
	nr_events++;
}

static int setup(void **state)
{
	struct fed *f;

	if (fed_setup(state))
		return -1;
	f = *state;
	nr_events = 0;
	memset(&last, 0xee, sizeof(last));
	xsf_store_on_event(f->store, on_event, NULL);
	return 0;
}

#define EVENT(name) cmocka_unit_test_setup_teardown(name, setup, fed_teardown)

static uint32_t drop_sequence;

/* A datagram with one notification, whose records follow; returns what end_drop wants. */
static uint32_t begin_drop(struct fed *f, uint32_t records)
{
	fed_begin(f, 1);
	return wire_drop(&f->w, ++drop_sequence, 0, 9, 77, 285, records);
}

/* 1: it was sound, and told. */
static int end_drop(struct fed *f, uint32_t body)
{
	uint32_t was = nr_events;
	uint64_t faults = f->s.totals.fault_short_body;

	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(nr_events - was + f->s.totals.fault_short_body - faults, 1);
	return nr_events != was;
}

static const char *letters(void)
{
	static char text[5000];

	for (uint32_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 26);
	return text;
}

static void is_text(const uint8_t *kept, uint32_t kept_len, int cut, uint32_t len)
{
	uint8_t want[XSF_EVENT_TEXT] = { 0 };

	memcpy(want, letters(), len < XSF_EVENT_TEXT ? len : XSF_EVENT_TEXT);
	assert_memory_equal(kept, want, sizeof(want));
	assert_int_equal(kept_len, len < XSF_EVENT_TEXT ? len : XSF_EVENT_TEXT);
	assert_int_equal(!!cut, len > XSF_EVENT_TEXT);
}

static void wire_trap(struct wire *w, uint32_t group, uint32_t trap)
{
	uint32_t body = wire_open(w, 1041);

	wire_32(w, group);
	wire_bytes(w, letters(), group);
	wire_pad(w, body);
	wire_32(w, trap);
	wire_bytes(w, letters(), trap);
	wire_close(w, body);
}

static void test_texts(void **state)
{
	static const uint32_t lengths[] = { 5000, 0, 1, 63, 64, 65, 4, 2 };
	struct fed *f = *state;
	uint64_t cut = 0;

	for (uint32_t n = 0; n < 8; n++) {
		for (uint32_t m = 0; m < 8; m++) {
			uint32_t a = lengths[n], b = lengths[m];
			uint32_t body = begin_drop(f, a + b > 6000 ? 1 : 3);

			wire_trap(&f->w, a > 4000 && b > 4000 ? 64 : a, b);
			if (a + b <= 6000) {
				wire_string(&f->w, 1038, letters(), b > 1000 ? 65 : b);
				wire_string(&f->w, 1042, letters(), a > 1000 ? 63 : a);
			}
			assert_true(end_drop(f, body));
			is_text(last.trap, last.trap_len, last.flags & XSF_EVENT_TRAP_CUT, b);
			if (a + b > 6000)
				continue;
			is_text(last.trap_group, last.trap_group_len,
				last.flags & XSF_EVENT_TRAP_GROUP_CUT, a);
			is_text(last.function, last.function_len,
				last.flags & XSF_EVENT_FUNCTION_CUT, b > 1000 ? 65 : b);
			is_text(last.linux_reason, last.linux_len, last.flags & XSF_EVENT_LINUX_CUT,
				a > 1000 ? 63 : a);
		}
	}
	/* and with no text nothing is left of those before */
	assert_true(end_drop(f, begin_drop(f, 0)));
	is_text(last.function, last.function_len, last.flags & XSF_EVENT_FUNCTION_CUT, 0);
	is_text(last.trap_group, last.trap_group_len, 0, 0);
	is_text(last.trap, last.trap_len, 0, 0);
	is_text(last.linux_reason, last.linux_len, 0, 0);
	assert_int_equal(last.flags, 0);
	for (uint32_t n = 0; n < 8; n++) {
		for (uint32_t m = 0; m < 8; m++) {
			uint32_t a = lengths[n], b = lengths[m];

			cut += b > 64;
			if (a + b <= 6000)
				cut += (a > 64) + (b > 64) + (a == 65);
		}
	}
	assert_int_equal(f->s.totals.drop_texts_cut, cut);
}

/* Each of the records too short by every length: the sample is faulty, nobody is told, nothing counts. */
static void test_short_records(void **state)
{
	static const struct {
		uint32_t tag, needed;
	} fixed[] = { { 1036, 4 }, { 1039, 4 }, { 1040, 4 }, { 1043, 8 } };
	struct fed *f = *state;
	uint64_t sound = 0;

	for (uint32_t n = 0; n < 4; n++) {
		for (uint32_t len = 0; len <= fixed[n].needed + 4; len++) {
			uint32_t body = begin_drop(f, 1), record = wire_open(&f->w, fixed[n].tag);

			wire_fill(&f->w, 1, len);
			wire_close(&f->w, record);
			assert_int_equal(end_drop(f, body), len >= fixed[n].needed);
			sound += len >= fixed[n].needed;
			assert_int_equal(f->s.totals.sample_drop, sound);
		}
	}
}

static void test_overrun_texts(void **state)
{
	static const uint32_t says[] = { 4, 5, 12, 13, 14, 0x7fffffff, 0xfffffffc, 0xffffffff };
	struct fed *f = *state;

	for (uint32_t tag = 1038; tag <= 1042; tag += 2) {
		for (uint32_t n = 0; n < 8; n++) {
			uint32_t body, record;

			if (tag == 1040)
				continue;
			body = begin_drop(f, 1);
			record = wire_open(&f->w, tag);
			wire_32(&f->w, says[n]);
			wire_fill(&f->w, 'x', 12);
			wire_close(&f->w, record);
			assert_int_equal(end_drop(f, body), says[n] <= 12);
		}
	}
	for (uint32_t n = 0; n < 8; n++) {
		/* group of 5 (padded to 8), then the trap */
		uint32_t body = begin_drop(f, 1), record = wire_open(&f->w, 1041);

		wire_32(&f->w, 5);
		wire_fill(&f->w, 'g', 8);
		wire_32(&f->w, says[n]);
		wire_fill(&f->w, 't', 12);
		wire_close(&f->w, record);
		assert_int_equal(end_drop(f, body), says[n] <= 12);
	}
	for (uint32_t len = 0; len <= 16; len++) {
		/* cut anywhere: whole with the length of an empty trap behind the padded group */
		uint32_t body = begin_drop(f, 1), record = wire_open(&f->w, 1041);
		uint8_t all[16] = { 0, 0, 0, 5, 'g', 'r', 'o', 'u', 'p' };

		wire_bytes(&f->w, all, len);
		wire_close(&f->w, record);
		assert_int_equal(end_drop(f, body), len == 16);
	}
}

static void put_record(struct fed *f, uint32_t n)
{
	uint32_t record;

	switch (n) {
	case 0:
		record = wire_open(&f->w, 1036);
		wire_32(&f->w, 3);
		wire_close(&f->w, record);
		return;
	case 1:
		wire_string(&f->w, 1038, "fib_lookup", 10);
		return;
	case 2:
		record = wire_open(&f->w, 1039);
		wire_32(&f->w, 0xffffffff);
		wire_close(&f->w, record);
		return;
	case 3:
		record = wire_open(&f->w, 1040);
		wire_32(&f->w, 65000);
		wire_close(&f->w, record);
		return;
	case 4:
		record = wire_open(&f->w, 1041);
		wire_32(&f->w, 8);
		wire_bytes(&f->w, "l2_drops", 8);
		wire_32(&f->w, 5);
		wire_bytes(&f->w, "stp\n\"", 5);
		wire_close(&f->w, record);
		return;
	case 5:
		wire_string(&f->w, 1042, "NO_SOCKET", 9);
		return;
	case 6:
		record = wire_open(&f->w, 1043);
		wire_64(&f->w, 1700000000123456789ull);
		wire_close(&f->w, record);
		return;
	default:
		wire_header(&f->w, 1, 1500, letters(), 130);
		return;
	}
}

static void is_whole(const struct fed *f)
{
	static const uint8_t agent[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1 };

	assert_memory_equal(last.agent.addr, agent, 16);
	assert_int_equal(last.agent.sub_agent, 0);
	assert_int_equal(last.ns, f->now_ns);
	assert_int_equal(last.class, 0);
	assert_int_equal(last.index, 9);
	assert_int_equal(last.sequence, drop_sequence);
	assert_int_equal(last.drops, 77);
	assert_int_equal(last.input, 7);
	assert_int_equal(last.output, 0);
	assert_int_equal(last.reason, 285);
	assert_int_equal(last.rate, 0);
	assert_int_equal(last.flags, XSF_EVENT_HAS_QUEUE | XSF_EVENT_HAS_DEPTH |
					     XSF_EVENT_HAS_DELAY | XSF_EVENT_HAS_TIME |
					     XSF_EVENT_HAS_HEADER);
	assert_int_equal(last.queue, 3);
	assert_int_equal(last.delay_ns, 0xffffffff);
	assert_int_equal(last.depth, 65000);
	assert_int_equal(last.timestamp_ns, 1700000000123456789ull);
	assert_int_equal(last.protocol, 1);
	assert_int_equal(last.frame_len, 1500);
	assert_int_equal(last.stripped, 4);
	assert_int_equal(last.header_len, 130);
	assert_int_equal(last.header_kept, 128);
	assert_memory_equal(last.header, letters(), 128);
	assert_int_equal(last.function_len, 10);
	assert_string_equal((const char *)last.function, "fib_lookup");
	assert_string_equal((const char *)last.trap_group, "l2_drops");
	assert_string_equal((const char *)last.trap, "stp\n\"");
	assert_string_equal((const char *)last.linux_reason, "NO_SOCKET");
	assert_int_equal(last.shed, 0);
}

static void test_order_and_duplicates(void **state)
{
	struct fed *f = *state;
	uint32_t body;

	/* from every one of them on, forwards and backwards */
	for (uint32_t first = 0; first < 8; first++) {
		for (uint32_t step = 1; step <= 7; step += 6) {
			body = begin_drop(f, 8);
			for (uint32_t n = 0; n < 8; n++)
				put_record(f, (first + n * step) % 8);
			assert_true(end_drop(f, body));
			is_whole(f);
		}
	}
	/* of two of a kind the first counts */
	body = begin_drop(f, 15);
	for (uint32_t n = 0; n < 8; n++)
		put_record(f, n);
	for (uint32_t tag = 1036; tag <= 1043; tag++) {
		uint32_t record;

		if (tag == 1037)
			continue;
		record = wire_open(&f->w, tag);
		wire_32(&f->w, tag == 1038 || tag >= 1041 ? 4 : 9);
		wire_bytes(&f->w, "late", 4);
		wire_32(&f->w, 0);
		wire_close(&f->w, record);
	}
	assert_true(end_drop(f, body));
	is_whole(f);
}

static void test_headers(void **state)
{
	static const uint32_t lengths[] = { 256, 0, 1, 3, 4, 5, 127, 128, 129, 64 };
	struct fed *f = *state;

	for (uint32_t n = 0; n < 10; n++) {
		uint8_t want[XSF_EVENT_HEADER] = { 0 };
		uint32_t body = begin_drop(f, 1), len = lengths[n];

		memcpy(want, letters(), len < 128 ? len : 128);
		wire_header(&f->w, 11, 2000, letters(), len);
		assert_true(end_drop(f, body));
		assert_memory_equal(last.header, want, sizeof(want));
		assert_int_equal(last.header_kept, len < 128 ? len : 128);
		assert_int_equal(last.header_len, len);
		assert_int_equal(last.flags, XSF_EVENT_HAS_HEADER);
	}
	assert_true(end_drop(f, begin_drop(f, 0)));
	for (uint32_t i = 0; i < XSF_EVENT_HEADER; i++)
		assert_int_equal(last.header[i], 0);
	assert_int_equal(last.header_kept | last.header_len | last.frame_len | last.flags, 0);
}

static void test_flow_samples(void **state)
{
	struct fed *f = *state;
	uint32_t body, record;

	fed_begin(f, 1);
	body = wire_flow(&f->w, 12, 9, 400, 9, 1u << 30 | 258, 6);
	put_record(f, 0);
	put_record(f, 2);
	put_record(f, 3);
	put_record(f, 6);
	/* texts are not looked at, not even broken ones */
	record = wire_open(&f->w, 1041);
	wire_32(&f->w, 900);
	wire_close(&f->w, record);
	put_record(f, 7);
	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(nr_events, 1);
	assert_int_equal(f->s.totals.sample_flow, 1);
	assert_int_equal(last.flags, XSF_EVENT_FLOW | XSF_EVENT_HAS_QUEUE | XSF_EVENT_HAS_DEPTH |
					     XSF_EVENT_HAS_DELAY | XSF_EVENT_HAS_TIME |
					     XSF_EVENT_HAS_HEADER);
	assert_int_equal(last.class, 0);
	assert_int_equal(last.index, 9);
	assert_int_equal(last.sequence, 12);
	assert_int_equal(last.rate, 400);
	assert_int_equal(last.input_format, 0);
	assert_int_equal(last.input, 9);
	assert_int_equal(last.output_format, 1);
	assert_int_equal(last.output, 258);
	assert_int_equal(last.reason, 0);
	assert_int_equal(last.queue, 3);
	assert_int_equal(last.depth, 65000);
	assert_int_equal(last.header_kept, 128);
	assert_memory_equal(last.header, letters(), 128);
	/* short fixed ones make it faulty */
	fed_begin(f, 1);
	body = wire_flow(&f->w, 13, 9, 400, 9, 0, 1);
	record = wire_open(&f->w, 1043);
	wire_32(&f->w, 1);
	wire_close(&f->w, record);
	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(nr_events, 1);
	assert_int_equal(f->s.totals.fault_short_body, 1);
	/* counter samples are no events, and what is not asked for is not told */
	fed_begin(f, 1);
	body = wire_counters(&f->w, 1, 9, 0);
	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(nr_events, 1);
	xsf_store_on_event(f->store, NULL, NULL);
	fed_begin(f, 1);
	body = wire_flow(&f->w, 14, 9, 400, 9, 0, 0);
	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(nr_events, 1);
}

/* One notification of source `index` with a number and a total. */
static void notify(struct fed *f, uint32_t index, uint32_t sequence, uint32_t drops)
{
	uint32_t body;

	fed_begin(f, 1);
	body = wire_drop(&f->w, sequence, 0, index, drops, 1, 0);
	wire_close(&f->w, body);
	fed_end(f);
}

static void test_suppressed(void **state)
{
	static const struct {
		uint32_t sequence, drops;
		uint64_t suppressed, lost, duplicate, reordered, restarts;
	} steps[] = {
		{ 10, 500, 0, 0, 0, 0, 0 }, /* the first sets the base */
		{ 11, 500, 0, 0, 0, 0, 0 },
		{ 12, 507, 7, 0, 0, 0, 0 },
		{ 14, 510, 10, 0, 0, 0, 0 }, /* 13 is on its way */
		{ 13, 508, 10, 0, 0, 1, 0 }, /* and its total an old one */
		{ 14, 510, 10, 0, 1, 1, 0 },
		{ 15, 511, 11, 0, 1, 1, 0 },
		{ 115, 611, 111, 68, 1, 1, 0 }, /* 16 to 83 left the window */
		{ 147, 611, 111, 99, 1, 1, 0 }, /* 84 to 114 with it */
		{ 5, 20, 111, 130, 1, 1, 1 },	/* begins anew, what was pending is lost */
		{ 6, 21, 112, 130, 1, 1, 1 },
		{ 7, 3, 112, 130, 1, 1, 1 }, /* went back */
		{ 8, 4, 113, 130, 1, 1, 1 },
		{ 9, 0x80000004, 113, 130, 1, 1, 1 },
		{ 10, 0xffffffff, 113 + 0x7ffffffbull, 130, 1, 1, 1 },
		{ 11, 4, 113 + 0x80000000ull, 130, 1, 1, 1 }, /* over the wrap */
	};
	struct fed *f = *state;

	for (uint32_t n = 0; n < sizeof(steps) / sizeof(steps[0]); n++) {
		const struct xsf_agent *a;

		notify(f, 3, steps[n].sequence, steps[n].drops);
		a = &f->s.agents[1];
		if (a->drops_suppressed != steps[n].suppressed || a->drops_lost != steps[n].lost ||
		    a->drops_duplicate != steps[n].duplicate ||
		    a->drops_reordered != steps[n].reordered ||
		    a->drops_restarts != steps[n].restarts)
			fail_msg("step %u: suppressed %llu lost %llu duplicate %llu reordered %llu "
				 "restarts %llu",
				 n, a->drops_suppressed, a->drops_lost, a->drops_duplicate,
				 a->drops_reordered, a->drops_restarts);
	}
	/* Another source has its own; both add up at the agent. */
	notify(f, 4, 1000, 70000);
	notify(f, 4, 1001, 70005);
	assert_int_equal(f->s.agents[1].drops_suppressed, 118 + 0x80000000ull);
	assert_int_equal(f->s.agents[1].drops_lost, 130);
}

/* A datagram that came twice says nothing new of numbers; its notification is counted, and told as such. */
static void test_duplicate_datagrams(void **state)
{
	struct fed *f = *state;

	notify(f, 3, 1, 10);
	notify(f, 3, 2, 20);
	assert_int_equal(last.flags, 0);
	fed_end(f);
	assert_int_equal(f->s.totals.sample_drop, 3);
	assert_int_equal(f->s.agents[1].drops_fresh, 2);
	assert_int_equal(last.flags, XSF_EVENT_DUPLICATE);
	assert_int_equal(f->s.agents[1].drops_suppressed, 10);
	assert_int_equal(f->s.agents[1].drops_duplicate, 0);
}

static const struct xsf_drop_place *place(const struct fed *f, uint32_t ifindex, uint32_t reason)
{
	const struct xsf_drop_place *found = NULL;

	for (uint32_t i = 1; i < f->s.nr_places; i++) {
		const struct xsf_drop_place *p = &f->s.places[i];

		if (p->state != XSF_PLACE_IN_USE || p->ifindex != ifindex || p->reason != reason)
			continue;
		assert_null(found);
		found = p;
	}
	return found;
}

static void drop_at(struct fed *f, uint32_t class, uint32_t index, uint32_t input, uint32_t reason)
{
	uint32_t body;

	fed_begin(f, 1);
	body = wire_drop(&f->w, f->sequence, class, index, 0, reason, 0);
	wire_put32(f->w.p + body + 16, input);
	wire_close(&f->w, body);
	fed_end(f);
}

static void test_places(void **state)
{
	struct fed *f = *state;

	drop_at(f, 0, 5, 7, 1);
	drop_at(f, 0, 5, 7, 1);
	drop_at(f, 0, 5, 0, 1); /* no input: the source's */
	drop_at(f, 2, 6, 0, 1); /* that is no interface */
	drop_at(f, 2, 6, 7, 2);
	/* what stands for the agent is no interface's number */
	drop_at(f, 0, 5, 0xffffffff, 3);
	drop_at(f, 0, 0xffffffff, 0, 3);
	assert_int_equal(place(f, 7, 1)->notified, 2);
	assert_int_equal(place(f, 5, 1)->notified, 1);
	assert_int_equal(place(f, 0, 1)->notified, 1);
	assert_int_equal(place(f, 7, 2)->notified, 1);
	assert_int_equal(place(f, XSF_PLACE_WHOLE_AGENT, 1)->notified, 4);
	assert_int_equal(place(f, XSF_PLACE_WHOLE_AGENT, 2)->notified, 1);
	assert_int_equal(place(f, XSF_PLACE_WHOLE_AGENT, 3)->notified, 2);
	assert_int_equal(place(f, 0, 3)->notified, 2);
	assert_null(place(f, 6, 1));
	assert_int_equal(f->s.places[0].notified, 0);
	assert_int_equal(place(f, 7, 1)->last_seen_ns - place(f, 7, 1)->first_seen_ns, 1000000);
}

static uint32_t in_use(const struct fed *f)
{
	uint32_t nr = 0;

	for (uint32_t i = 1; i < f->s.nr_places; i++)
		nr += f->s.places[i].state == XSF_PLACE_IN_USE;
	return nr;
}

/* Notifications with reasons first .. first + nr - 1, of interfaces by them. */
static void many_places(struct fed *f, uint32_t first, uint32_t nr)
{
	for (uint32_t done = 0; done < nr; done += 200) {
		f->w.len = 0;
		f->sequence++;
		wire_datagram(&f->w, AGENT, 0, f->sequence, 1000 * f->sequence, 200);
		for (uint32_t i = 0; i < 200; i++) {
			uint32_t body = wire_drop(&f->w, 1, 0, 1, 0, 1, 0);

			wire_put32(f->w.p + body + 16, first + done + i);
			wire_close(&f->w, body);
		}
		f->now_ns += 1000;
		xsf_store_datagram(f->store, f->w.p, f->w.len, f->now_ns);
	}
	f->w.len = 0;
	fed_begin(f, 0);
	fed_end(f);
}

/* Full, everything else counts in row 0; once the old ones are silent, new ones get their rows, and nothing
 * is lost: fed_end adds all rows up. */
static void test_places_full(void **state)
{
	struct fed *f = *state;
	uint64_t rest;
	uint32_t full;

	many_places(f, 1, 40000);
	full = in_use(f);
	assert_true(full > 16000 && full <= XSF_PLACES - 1);
	rest = f->s.places[0].notified;
	assert_int_equal(f->s.totals.places_full, rest);
	assert_true(rest >= 40000 - full);
	assert_int_equal(f->s.totals.places_reclaimed, 0);
	assert_int_equal(place(f, XSF_PLACE_WHOLE_AGENT, 1)->notified, 40000);
	f->now_ns += STALE;
	/* all are silent but the agent's own row */
	drop_at(f, 0, 1, 1, 1);
	f->now_ns += SECOND;
	many_places(f, 100001, 1000);
	assert_int_equal(f->s.places[0].notified - rest, f->s.totals.places_reclaimed);
	assert_true(f->s.totals.places_reclaimed >= 900);
	for (uint32_t i = 100001; i < 101001; i++)
		assert_int_equal(place(f, i, 1)->notified, 1);
	assert_int_equal(place(f, XSF_PLACE_WHOLE_AGENT, 1)->notified, 41001);
	assert_int_equal(f->s.totals.places_full, rest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT(test_texts),	   EVENT(test_short_records),
		EVENT(test_overrun_texts), EVENT(test_order_and_duplicates),
		EVENT(test_headers),	   EVENT(test_flow_samples),
		EVENT(test_suppressed),	   EVENT(test_duplicate_datagrams),
		EVENT(test_places),	   EVENT(test_places_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
