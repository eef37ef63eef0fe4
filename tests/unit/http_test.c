// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses to listen on, and who has to go when the places run out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "serve/http.h"
#include "serve/http_conn.h"

/* ---- addresses ---- */

static void addresses_good(void **state)
{
	static const struct {
		const char *text;
		const char *want;
	} cases[] = {
		{ "127.0.0.1", "127.0.0.1:8008" },
		{ "127.0.0.1:0", "127.0.0.1:0" },
		{ "127.0.0.1:1", "127.0.0.1:1" },
		{ "127.0.0.1:65535", "127.0.0.1:65535" },
		{ "0.0.0.0:00080", "0.0.0.0:80" },
		{ "255.255.255.255:9", "255.255.255.255:9" },
		{ "localhost", "127.0.0.1:8008" },
		{ "localhost:9100", "127.0.0.1:9100" },
		{ "[::1]", "[::1]:8008" },
		{ "[::]:80", "[::]:80" },
		{ "[2001:DB8:0:0::1]:65535", "[2001:db8::1]:65535" },
		{ "[::ffff:192.0.2.1]:1", "[::ffff:192.0.2.1]:1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sockaddr_storage addr;
		char why[160] = "", text[64];
		socklen_t len = 0;

		if (xsf_http_address(cases[i].text, &addr, &len, why, sizeof(why)))
			fail_msg("%s: %s", cases[i].text, why);
		assert_string_equal(xsf_http_address_text(&addr, text, sizeof(text)),
				    cases[i].want);
		assert_int_equal(len, addr.ss_family == AF_INET ? sizeof(struct sockaddr_in) :
								  sizeof(struct sockaddr_in6));
	}
}

static void addresses_bad(void **state)
{
	static const char *const cases[] = {
		"",
		":",
		":80",
		"127.0.0.1:",
		"127.0.0.1:65536",
		"127.0.0.1:100000",
		"127.0.0.1:-1",
		"127.0.0.1:+1",
		"127.0.0.1: 1",
		"127.0.0.1:1x",
		"127.0.0.1:1:2",
		"127.0.0.1:http",
		"127.1:80",
		"1:80",
		"0x7f000001:80",
		"256.0.0.1:80",
		"127.0.0.1.:80",
		" 127.0.0.1:80",
		"127.0.0.1 :80",
		"example.org:80",
		"localhost.:80",
		"::1",
		"::1:8008",
		"[::1",
		"[::1]80",
		"[::1]:",
		"[::1]:x",
		"[::1]]:80",
		"[]:80",
		"[127.0.0.1]:80",
		"[:::]:80",
		"[::1]:80 ",
		"[1:2:3:4:5:6:7:8:9]:80",
		"[::1%nosuchinterface0]:80",
		"http://127.0.0.1:80",
		"127.0.0.1:80/",
	};
	struct sockaddr_storage addr;
	char text[256], why[160];
	socklen_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		*why = '\0';
		if (xsf_http_address(cases[i], &addr, &len, why, sizeof(why)) != -EINVAL)
			fail_msg("'%s' was taken", cases[i]);
		assert_true(strlen(why) > 10 && strlen(why) < sizeof(why) - 1);
	}
	/* Each length around the bound of the copy. */
	for (size_t n = 100; n < 200; n++) {
		memset(text, '1', n);
		text[n] = '\0';
		assert_int_equal(xsf_http_address(text, &addr, &len, why, sizeof(why)), -EINVAL);
	}
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(xsf_http_code_name(XSF_HTTP_200), "200");
	assert_string_equal(xsf_http_code_name(XSF_HTTP_505), "505");
	assert_string_equal(xsf_http_code_name(XSF_HTTP_OTHER), "other");
	assert_string_equal(xsf_http_code_name(1000), "other");
	assert_string_equal(xsf_http_cut_name(XSF_CUT_STALLED), "stalled");
	assert_string_equal(xsf_http_cut_name(XSF_CUT_READ_ERROR), "read_error");
	assert_string_equal(xsf_http_cut_name(XSF_HTTP_NR_CUTS), "other");
}

/* ---- connections ---- */

#define NR 16

static const struct xsf_http_limits small = { .connections = NR,
					      .per_host = 4,
					      .streams = 3,
					      .uploads = 2,
					      .memory = 4096,
					      .uri = 1024,
					      .head_ms = 10000,
					      .stall_ms = 5000,
					      .reply_ms = 60000 };

static struct sockaddr_storage peer_of(const char *text)
{
	struct sockaddr_storage addr;
	char why[160];
	socklen_t len;

	if (xsf_http_address(text, &addr, &len, why, sizeof(why)))
		fail_msg("%s: %s", text, why);
	return addr;
}

static struct xsf_conn *add(struct xsf_conns *conns, const char *peer, uint64_t now)
{
	struct sockaddr_storage addr = peer_of(peer);

	return xsf_conns_add(conns, (struct sockaddr *)&addr, 1000, now);
}

static int room(struct xsf_conns *conns, const char *peer, uint64_t now, struct xsf_conn **victim,
		enum xsf_http_cut *cut)
{
	struct sockaddr_storage addr = peer_of(peer);

	return xsf_conns_room(conns, (struct sockaddr *)&addr, now, victim, cut);
}

static int opens(size_t field, unsigned int value)
{
	struct xsf_http_limits l = small;
	struct xsf_conns conns;
	int err;

	memcpy((char *)&l + field, &value, sizeof(value));
	err = xsf_conns_open(&conns, &l);
	xsf_conns_close(&conns);
	return err;
}

#define OPENS(field, value) opens(offsetof(struct xsf_http_limits, field), value)

static void limits(void **state)
{
	const struct xsf_http_limits defaults = XSF_HTTP_LIMITS_DEFAULT;
	struct xsf_conns conns;

	(void)state;
	assert_int_equal(xsf_conns_open(&conns, &defaults), 0);
	assert_int_equal(conns.nr_places, 256 + XSF_CONN_SPARE);
	xsf_conns_close(&conns);
	assert_int_equal(OPENS(connections, 15), -EINVAL);
	assert_int_equal(OPENS(connections, 16), 0);
	assert_int_equal(OPENS(connections, 4096), 0);
	assert_int_equal(OPENS(connections, 4097), -EINVAL);
	assert_int_equal(OPENS(per_host, 0), -EINVAL);
	assert_int_equal(OPENS(per_host, 1), 0);
	assert_int_equal(OPENS(streams, 0), -EINVAL);
	assert_int_equal(OPENS(streams, 1), 0);
	assert_int_equal(OPENS(memory, 4095), -EINVAL);
	assert_int_equal(OPENS(memory, 1 << 20), 0);
	assert_int_equal(OPENS(memory, (1 << 20) + 1), -EINVAL);
	assert_int_equal(OPENS(uri, 4096), 0);
	assert_int_equal(OPENS(uri, 4097), -EINVAL); /* more than the memory */
	assert_int_equal(OPENS(head_ms, 99), -EINVAL);
	assert_int_equal(OPENS(stall_ms, 0), -EINVAL);
	assert_int_equal(OPENS(reply_ms, 3600000), 0);
	assert_int_equal(OPENS(reply_ms, 3600001), -EINVAL);
}

/* Full: the oldest that waits goes; the one that gets its reply does not. */
static void full(void **state)
{
	struct xsf_conn *conn[NR], *victim, *spare;
	enum xsf_http_cut cut;
	struct xsf_conns conns;

	(void)state;
	assert_int_equal(xsf_conns_open(&conns, &small), 0);
	for (int i = 0; i < NR; i++) {
		assert_int_equal(room(&conns, "127.0.0.1", 1, &victim, &cut), 0);
		assert_null(victim);
		conn[i] = add(&conns, "127.0.0.1", 1); /* all at once: the order decides */
		assert_non_null(conn[i]);
	}
	xsf_conns_set(&conns, conn[0], XSF_CONN_REPLYING, 1);
	assert_int_equal(room(&conns, "127.0.0.1", 2, &victim, &cut), 0);
	assert_ptr_equal(victim, conn[1]);
	assert_int_equal(cut, XSF_CUT_EVICTED);

	/* Until it is gone a spare place serves; then its own. */
	xsf_conns_set(&conns, victim, XSF_CONN_CLOSING, 2);
	assert_int_equal(conns.open, NR - 1);
	spare = add(&conns, "127.0.0.1", 2);
	assert_ptr_not_equal(spare, victim);
	assert_int_equal(conns.open, NR);
	xsf_conns_set(&conns, victim, XSF_CONN_WAITING, 2);
	assert_int_equal(victim->state, XSF_CONN_CLOSING);
	xsf_conns_remove(&conns, victim);
	xsf_conns_remove(&conns, NULL);
	assert_int_equal(conns.open, NR);
	assert_ptr_equal(add(&conns, "127.0.0.1", 3), victim);

	/* One that was served once waits anew, behind the others. */
	xsf_conns_set(&conns, conn[0], XSF_CONN_WAITING, 3);
	for (int i = 2; i < NR; i++) {
		assert_int_equal(room(&conns, "127.0.0.1", 4, &victim, &cut), 0);
		assert_ptr_equal(victim, conn[i]);
		xsf_conns_set(&conns, victim, XSF_CONN_CLOSING, 4);
		assert_non_null(add(&conns, "127.0.0.1", 4));
	}
	xsf_conns_close(&conns);
}

/* Nobody waits and all make progress: refused. One that makes none for a second goes. */
static void full_of_replies(void **state)
{
	struct xsf_conn *conn[NR], *victim;
	enum xsf_http_cut cut;
	struct xsf_conns conns;

	(void)state;
	assert_int_equal(xsf_conns_open(&conns, &small), 0);
	for (int i = 0; i < NR; i++) {
		conn[i] = add(&conns, "127.0.0.1", 0);
		xsf_conns_set(&conns, conn[i], XSF_CONN_REPLYING, 1000);
	}
	conn[5]->progress_ms = 800;
	assert_int_equal(room(&conns, "[::1]", 1799, &victim, &cut), -EAGAIN);
	assert_int_equal(room(&conns, "[::1]", 1800, &victim, &cut), 0);
	assert_ptr_equal(victim, conn[5]);
	xsf_conns_close(&conns);
}

/* The host that holds most gives, whoever comes; and the spare places are bounded. */
static void fair(void **state)
{
	struct xsf_http_limits l = small;
	struct xsf_conn *first, *victim;
	enum xsf_http_cut cut;
	struct xsf_conns conns;

	(void)state;
	l.per_host = 15;
	assert_int_equal(xsf_conns_open(&conns, &l), 0);
	assert_non_null(add(&conns, "192.0.2.1", 0)); /* the oldest, but alone */
	first = add(&conns, "[2001:db8::1]", 1);
	for (int i = 2; i < NR; i++) /* all of one /64 */
		assert_non_null(add(&conns, i & 1 ? "[2001:db8::2]" : "[2001:db8::3:4:5:6]", 2));
	assert_int_equal(room(&conns, "192.0.2.2", 3, &victim, &cut), 0);
	assert_ptr_equal(victim, first);
	/* That /64 is at its share too, and the next one is not. */
	assert_int_equal(room(&conns, "[2001:db8::9]", 3, &victim, &cut), 0);
	assert_int_equal(cut, XSF_CUT_HOST_LIMIT);
	assert_int_equal(room(&conns, "[2001:db8:0:1::9]", 3, &victim, &cut), 0);
	assert_int_equal(cut, XSF_CUT_EVICTED);
	for (int i = 0; i < XSF_CONN_SPARE; i++)
		assert_non_null(add(&conns, "192.0.2.3", 3));
	assert_null(add(&conns, "192.0.2.3", 3));
	xsf_conns_close(&conns);
}

static void per_host(void **state)
{
	static const char *const same[] = { "192.0.2.1", "[::ffff:192.0.2.1]" };
	struct xsf_conn *conn[4], *victim;
	enum xsf_http_cut cut;
	struct xsf_conns conns;

	(void)state;
	assert_int_equal(xsf_conns_open(&conns, &small), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(room(&conns, same[i & 1], 0, &victim, &cut), 0);
		assert_null(victim);
		conn[i] = add(&conns, same[i & 1], 0);
	}
	assert_int_equal(room(&conns, same[0], 1, &victim, &cut), 0);
	assert_ptr_equal(victim, conn[0]);
	assert_int_equal(cut, XSF_CUT_HOST_LIMIT);
	assert_int_equal(room(&conns, "192.0.2.2", 1, &victim, &cut), 0);
	assert_null(victim);

	/* All of its own are busy: refused, also while places are free. */
	for (int i = 0; i < 4; i++)
		xsf_conns_set(&conns, conn[i], XSF_CONN_STREAMING, 1);
	assert_int_equal(room(&conns, same[1], 2, &victim, &cut), -EAGAIN);
	xsf_conns_remove(&conns, conn[3]);
	assert_int_equal(room(&conns, same[1], 2, &victim, &cut), 0);
	assert_null(victim);

	/* Loopback, in any form, has no such limit. */
	for (int i = 0; i < 5; i++) {
		assert_int_equal(room(&conns, "127.0.0.9", 2, &victim, &cut), 0);
		assert_null(victim);
		assert_non_null(add(&conns, "[::ffff:127.0.0.9]", 2));
	}
	xsf_conns_close(&conns);
}

static void streams(void **state)
{
	struct xsf_conn *conn[4], *victim;
	struct xsf_conns conns;

	(void)state;
	assert_int_equal(xsf_conns_open(&conns, &small), 0);
	for (int i = 0; i < 4; i++)
		conn[i] = add(&conns, "127.0.0.1", 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(xsf_conns_stream_room(&conns, 0, &victim), 0);
		assert_null(victim);
		xsf_conns_set(&conns, conn[i], XSF_CONN_STREAMING, 0);
	}
	assert_int_equal(conns.streams, 3);

	/* Young and going on: none gives way. */
	assert_int_equal(xsf_conns_stream_room(&conns, 499, &victim), -EAGAIN);
	/* One that stands still does. */
	conn[0]->progress_ms = conn[2]->progress_ms = 400;
	assert_int_equal(xsf_conns_stream_room(&conns, 500, &victim), 0);
	assert_ptr_equal(victim, conn[1]);
	/* Of those that have had their two seconds, the slowest. */
	for (int i = 0; i < 3; i++) {
		conn[i]->progress_ms = 1900;
		conn[i]->bytes = 1000 + (uint64_t)i;
	}
	conn[2]->bytes = 999;
	assert_int_equal(xsf_conns_stream_room(&conns, 1999, &victim), -EAGAIN);
	assert_int_equal(xsf_conns_stream_room(&conns, 2000, &victim), 0);
	assert_ptr_equal(victim, conn[2]);

	xsf_conns_set(&conns, conn[1], XSF_CONN_WAITING, 2000);
	assert_int_equal(conns.streams, 2);
	xsf_conns_remove(&conns, conn[2]);
	assert_int_equal(conns.streams, 1);
	xsf_conns_close(&conns);
}

static void expiry(void **state)
{
	struct xsf_conn *waiting, *stalled, *slow;
	enum xsf_http_cut cut;
	struct xsf_conns conns;

	(void)state;
	assert_int_equal(xsf_conns_open(&conns, &small), 0);
	assert_int_equal(xsf_conns_next(&conns, 0), -1);
	assert_null(xsf_conns_expired(&conns, UINT64_MAX - 1, &cut));

	waiting = add(&conns, "127.0.0.1", 1000);
	assert_int_equal(xsf_conns_next(&conns, 1000), 10000);
	assert_int_equal(xsf_conns_next(&conns, 10999), 1);
	assert_null(xsf_conns_expired(&conns, 10999, &cut));
	assert_ptr_equal(xsf_conns_expired(&conns, 11000, &cut), waiting);
	assert_int_equal(cut, XSF_CUT_HEAD_TIMEOUT);
	assert_int_equal(xsf_conns_next(&conns, 20000), 0);
	/* A reply, then its time starts again. */
	xsf_conns_set(&conns, waiting, XSF_CONN_REPLYING, 10000);
	xsf_conns_set(&conns, waiting, XSF_CONN_WAITING, 11000);
	assert_null(xsf_conns_expired(&conns, 20999, &cut));
	xsf_conns_remove(&conns, waiting);

	stalled = add(&conns, "127.0.0.1", 0);
	xsf_conns_set(&conns, stalled, XSF_CONN_STREAMING, 1000);
	stalled->progress_ms = 3000;
	assert_null(xsf_conns_expired(&conns, 7999, &cut));
	assert_ptr_equal(xsf_conns_expired(&conns, 8000, &cut), stalled);
	assert_int_equal(cut, XSF_CUT_STALLED);
	xsf_conns_remove(&conns, stalled);

	slow = add(&conns, "127.0.0.1", 0);
	xsf_conns_set(&conns, slow, XSF_CONN_STREAMING, 1000);
	slow->progress_ms = 60999;
	assert_null(xsf_conns_expired(&conns, 60999, &cut));
	assert_ptr_equal(xsf_conns_expired(&conns, 61000, &cut), slow);
	assert_int_equal(cut, XSF_CUT_REPLY_TIMEOUT);
	xsf_conns_set(&conns, slow, XSF_CONN_UPLOADING, 61000);
	slow->progress_ms = 65000;
	assert_null(xsf_conns_expired(&conns, 69999, &cut));
	assert_ptr_equal(xsf_conns_expired(&conns, 70000, &cut), slow);
	assert_int_equal(cut, XSF_CUT_UPLOAD_TIMEOUT);
	slow->progress_ms = 120999;
	assert_null(xsf_conns_expired(&conns, 120999, &cut));
	assert_ptr_equal(xsf_conns_expired(&conns, 121000, &cut), slow);
	assert_int_equal(cut, XSF_CUT_UPLOAD_TIMEOUT);
	xsf_conns_set(&conns, slow, XSF_CONN_CLOSING, 61000);
	assert_null(xsf_conns_expired(&conns, 61000, &cut));
	assert_int_equal(xsf_conns_next(&conns, 61000), -1);
	xsf_conns_close(&conns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_good), cmocka_unit_test(addresses_bad),
		cmocka_unit_test(names),	  cmocka_unit_test(limits),
		cmocka_unit_test(full),		  cmocka_unit_test(full_of_replies),
		cmocka_unit_test(fair),		  cmocka_unit_test(per_host),
		cmocka_unit_test(streams),	  cmocka_unit_test(expiry),
	};

	return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
