// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the program does with a frame under each configuration: passed or dropped, counted or not; and
 * frames of several buffers. */
#include "trio.h"

#include <stdio.h>
#include <unistd.h>
#include "../unit/sums.h"
#include "../bench/mix.h"

#define XDP_DROP 1
#define XDP_PASS 2

static const uint8_t here4[16] = { [10] = 0xff, 0xff, 198, 51, 100, 10 };
static const uint8_t here6[16] = { 0x20, 1, 0xd, 0xb8, 0xff, 0xff, [15] = 0x10 };
static const uint8_t net4[16] = { [10] = 0xff, 0xff, 192, 0, 2, 0 };
static const uint8_t net6[16] = { 0x20, 1, 0xd, 0xb8 };

static struct wire payload, frame;

/* A sound datagram of one sample; its number is its agent's next. */
static uint32_t number;

static void sound(void)
{
	struct wire packet = { 0 };
	uint32_t body;

	number++;
	payload.len = 0;
	wire_datagram(&payload, 0x0a000001, 0, number, 1000 + number, 1);
	wire_roce4(&packet, 4, 0, 16);
	body = wire_flow(&payload, number, 3, 100, 3, 4, 1);
	wire_header(&payload, 1, packet.len + 4, packet.p, packet.len);
	wire_close(&payload, body);
}

static void carry4(void)
{
	sound();
	wire_carry4(&frame, payload.p, payload.len, 6343);
}

static void carry6(void)
{
	sound();
	wire_carry6(&frame, payload.p, payload.len, 6343);
}

#define EXPECT(t, verdict) assert_int_equal(trio_frame(t, frame.p, frame.len), verdict)

/* What no configuration drops. */
static void passes_the_rest(struct trio *t)
{
	/* one sample announced too many; header faults */
	sound();
	payload.p[27] = 2;
	wire_carry4(&frame, payload.p, payload.len, 6343);
	EXPECT(t, XDP_PASS);
	sound();
	payload.p[3] = 4;
	wire_carry4(&frame, payload.p, payload.len, 6343);
	EXPECT(t, XDP_PASS);
	wire_carry4(&frame, payload.p, 20, 6343);
	EXPECT(t, XDP_PASS);
	wire_carry4(&frame, payload.p, 0, 6343);
	EXPECT(t, XDP_PASS);
	/* UDP length, port, protocol, fragment, not IP */
	carry4();
	frame.p[14 + 20 + 5]++;
	EXPECT(t, XDP_PASS);
	sound();
	wire_carry4(&frame, payload.p, payload.len, 6344);
	EXPECT(t, XDP_PASS);
	carry4();
	frame.p[14 + 9] = 6;
	EXPECT(t, XDP_PASS);
	carry4();
	frame.p[14 + 6] = 0x20;
	EXPECT(t, XDP_PASS);
	carry4();
	frame.p[12] = 9;
	EXPECT(t, XDP_PASS);
}

static void consume(enum kernel_program which)
{
	struct xsf_config config;
	struct trio t;

	xsf_config_defaults(&config);
	config.flags = XSF_F_CONSUME;
	trio_begin(&t, which, &config);
	carry4();
	EXPECT(&t, XDP_PASS); /* no address is ours yet */
	kernel_local(t.kernel, here4);
	EXPECT(&t, XDP_DROP);
	EXPECT(&t, XDP_DROP); /* a duplicate is sound */
	carry6();
	EXPECT(&t, XDP_PASS);
	kernel_local(t.kernel, here6);
	carry6();
	EXPECT(&t, XDP_DROP);
	/* to somebody else */
	carry4();
	frame.p[14 + 19]++;
	EXPECT(&t, XDP_PASS);
	carry6();
	frame.p[14 + 39]++;
	EXPECT(&t, XDP_PASS);
	assert_int_equal(kernel_snapshot(t.kernel)->totals.consumed, 3);
	passes_the_rest(&t);
	assert_int_equal(kernel_snapshot(t.kernel)->totals.consumed, 3);
	trio_check(&t, "consume", NULL, 0);
	trio_end(&t);

	/* Our addresses alone drop nothing. */
	trio_begin(&t, which, NULL);
	kernel_local(t.kernel, here4);
	carry4();
	EXPECT(&t, XDP_PASS);
	passes_the_rest(&t);
	assert_int_equal(kernel_snapshot(t.kernel)->totals.consumed, 0);
	trio_check(&t, "pass", NULL, 0);
	trio_end(&t);
}

static void test_consume(void **state)
{
	(void)state;
	consume(KERNEL_XDP);
	consume(KERNEL_FRAGS);
}

static const struct xsf_snapshot *holds(struct kernel *k)
{
	const struct xsf_snapshot *s = kernel_snapshot(k);
	char text[256];
	const char *broken = sums_broken(s, text, sizeof(text));

	if (broken)
		fail_msg("%s", broken);
	return s;
}

/* `from` 0: 192.0.2.1 and 2001:db8::1, which are allowed; 1: others. */
static void allow_list(uint32_t flags, int denied_verdict)
{
	const struct xsf_snapshot *s;
	struct xsf_config config;
	struct kernel *k;

	xsf_config_defaults(&config);
	config.flags = XSF_F_ALLOW_LIST | flags;
	k = kernel_new(&config);
	kernel_local(k, here4);
	carry4();
	assert_int_equal(kernel_run(k, KERNEL_XDP, frame.p, frame.len), denied_verdict);
	kernel_allow(k, net4, 96 + 24);
	kernel_allow(k, net6, 32);
	assert_int_equal(kernel_run(k, KERNEL_XDP, frame.p, frame.len),
			 flags & XSF_F_CONSUME ? XDP_DROP : XDP_PASS);
	carry6();
	assert_int_equal(kernel_run(k, KERNEL_XDP, frame.p, frame.len), XDP_PASS);
	s = holds(k);
	assert_int_equal(s->totals.datagrams, 3);
	assert_int_equal(s->totals.datagram_denied, 1);
	assert_int_equal(s->totals.datagram_sound, 2);
	assert_int_equal(s->totals.bytes, 2 * payload.len);

	/* 192.0.3.1 and 2001:db9::1 are others; so is whatever they send that is broken */
	carry4();
	frame.p[14 + 14] = 3;
	assert_int_equal(kernel_run(k, KERNEL_XDP, frame.p, frame.len), denied_verdict);
	frame.p[14 + 20 + 5]++;
	assert_int_equal(kernel_run(k, KERNEL_XDP, frame.p, frame.len), denied_verdict);
	carry6();
	frame.p[14 + 8 + 3] = 0xb9;
	assert_int_equal(kernel_run(k, KERNEL_XDP, frame.p, frame.len), denied_verdict);
	/* not sFlow: none of our business */
	sound();
	wire_carry4(&frame, payload.p, payload.len, 53);
	frame.p[14 + 14] = 3;
	assert_int_equal(kernel_run(k, KERNEL_XDP, frame.p, frame.len), XDP_PASS);
	s = holds(k);
	assert_int_equal(s->totals.datagram_denied, 4);
	assert_int_equal(s->totals.denied_dropped, denied_verdict == XDP_DROP ? 4 : 0);
	assert_int_equal(s->totals.fault_udp_length, 0);
	assert_int_equal(s->totals.datagram_sound, 2);
	assert_int_equal(s->totals.sample_flow, 2);
	assert_int_equal(s->nr_agents, 2);
	kernel_free(k);
}

static void test_allow_list(void **state)
{
	(void)state;
	allow_list(0, XDP_PASS);
	allow_list(XSF_F_CONSUME, XDP_PASS);
	allow_list(XSF_F_DROP_DENIED, XDP_DROP);
	allow_list(XSF_F_DROP_DENIED | XSF_F_CONSUME, XDP_DROP);
}

/* The samples of a datagram whose number was seen are left out; it counts as what it is otherwise. */
static void test_drop_duplicates(void **state)
{
	const struct xsf_snapshot *s;
	struct xsf_config config;
	struct trio t;

	(void)state;
	for (int drop = 0; drop < 2; drop++) {
		struct pool pool = { 0 };

		xsf_config_defaults(&config);
		config.flags = drop ? XSF_F_DROP_DUPLICATES : 0;
		trio_begin(&t, KERNEL_XDP, &config);
		t.no_reference = drop;
		carry4();
		for (int i = 0; i < 3; i++)
			EXPECT(&t, XDP_PASS);
		trio_check(&t, "duplicates", frame.p, frame.len);
		s = kernel_snapshot(t.kernel);
		assert_int_equal(s->totals.datagram_sound, 3);
		assert_int_equal(s->agents[1].own.duplicate, 2);
		assert_int_equal(s->totals.sample_flow, drop ? 1 : 3);
		assert_int_equal(s->totals.duplicate_samples, drop ? 2 : 0);
		assert_int_equal(s->totals.sampled_packets, drop ? 100 : 300);
		/* all kinds of samples, many of them in duplicates */
		pool_fill(&pool, 8);
		for (uint32_t n = 0; n < 5000; n++) {
			mutant(&pool, 99, n, &frame);
			EXPECT(&t, XDP_PASS);
		}
		trio_check(&t, "mutants and duplicates", NULL, 0);
		assert_true(!drop || kernel_snapshot(t.kernel)->totals.duplicate_samples > 100);
		trio_end(&t);
		pool_free(&pool);
	}
}

static void test_ports(void **state)
{
	struct xsf_config config;
	struct trio t;

	(void)state;
	xsf_config_defaults(&config);
	for (uint32_t nr = 1; nr <= XSF_MAX_PORTS; nr += XSF_MAX_PORTS - 1) {
		memset(config.ports, 0, sizeof(config.ports));
		for (uint32_t i = 0; i < nr; i++)
			config.ports[i] = (uint16_t)(65535 - i * 100);
		trio_begin(&t, KERNEL_XDP, &config);
		for (uint32_t port = 0; port < 65536; port++) {
			if (port % 100 != 35 && port % 1000)
				continue;
			sound();
			wire_carry4(&frame, payload.p, payload.len, port);
			EXPECT(&t, XDP_PASS);
		}
		trio_check(&t, "ports", NULL, 0);
		assert_int_equal(kernel_snapshot(t.kernel)->totals.datagrams, nr);
		trio_end(&t);
	}
}

/* `len` bytes of samples, as many as fit, then one that is skipped. Returns how many flow samples. */
static uint32_t large(uint32_t len)
{
	struct wire packet = { 0 };
	uint32_t nr = 0, body;

	wire_roce4(&packet, 10, 3, 40);
	payload.len = 0;
	number++;
	wire_datagram(&payload, 0x0a000001, 0, number, 1000 + number, 0);
	while (payload.len + 300 < len) {
		body = wire_flow(&payload, number, 1 + nr % 20, 100, 3, 4, 1);
		wire_header(&payload, 1, 1000, packet.p, packet.len);
		wire_close(&payload, body);
		nr++;
	}
	body = wire_open(&payload, 99);
	if (len > payload.len)
		wire_fill(&payload, 0x77, len - payload.len);
	wire_close(&payload, body);
	payload.len = len;
	wire_put32(payload.p + 24, nr + 1);
	return nr;
}

static void test_large(void **state)
{
	static const uint32_t edges[] = { 3460, 3500, 4054, 4096, 8191, 8192, 8958, 8999, 9000 };
	uint64_t samples = 0, datagrams = 0, bytes = 0;
	const struct xsf_snapshot *s;
	struct trio t;

	(void)state;
	trio_begin(&t, KERNEL_FRAGS, NULL);
	for (uint32_t len = 100; len <= 9000; len += 97) {
		for (int ip6 = 0; ip6 < 2; ip6++) {
			samples += large(len);
			datagrams++;
			bytes += len;
			if (ip6)
				wire_carry6(&frame, payload.p, payload.len, 6343);
			else
				wire_carry4(&frame, payload.p, payload.len, 6343);
			EXPECT(&t, XDP_PASS);
		}
	}
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		samples += large(edges[i]);
		datagrams++;
		bytes += edges[i];
		wire_carry4(&frame, payload.p, payload.len, 6343);
		EXPECT(&t, XDP_PASS);
	}
	trio_check(&t, "large", frame.p, frame.len);
	s = kernel_snapshot(t.kernel);
	assert_int_equal(s->totals.datagram_sound, datagrams);
	assert_int_equal(s->totals.bytes, bytes);
	assert_int_equal(s->totals.sample_flow, samples);
	assert_int_equal(s->totals.header_roce, samples);
	assert_int_equal(s->totals.sample_unknown, datagrams);

	/* above 9000: passed, counted, not parsed */
	for (uint32_t len = 9001; len < 12000; len += 733) {
		large(len);
		wire_carry4(&frame, payload.p, payload.len, 6343);
		EXPECT(&t, XDP_PASS);
		datagrams++;
	}
	trio_check(&t, "too long", NULL, 0);
	s = kernel_snapshot(t.kernel);
	assert_int_equal(s->totals.datagram_too_long, 5);
	assert_int_equal(s->totals.datagrams, datagrams);
	assert_int_equal(s->totals.sample_flow, samples);
	trio_end(&t);
}

/* Consuming: only what was parsed. */
static void test_large_consumed(void **state)
{
	struct xsf_config config;
	struct trio t;

	(void)state;
	xsf_config_defaults(&config);
	config.flags = XSF_F_CONSUME;
	trio_begin(&t, KERNEL_FRAGS, &config);
	kernel_local(t.kernel, here4);
	for (uint32_t len = 8998; len <= 9002; len++) {
		large(len);
		wire_carry4(&frame, payload.p, payload.len, 6343);
		EXPECT(&t, len <= 9000 ? XDP_DROP : XDP_PASS);
	}
	trio_check(&t, "large, consumed", NULL, 0);
	assert_int_equal(kernel_snapshot(t.kernel)->totals.consumed, 3);
	trio_end(&t);
}

/* Mutants whose payload lies in two and three buffers. */
static void make_large(void *arg, uint32_t n, struct wire *out)
{
	uint64_t seed = n + 1234567;

	(void)arg;
	number = n;
	large(3300 + draw(&seed, 5700));
	for (uint32_t changes = draw(&seed, 4); changes; changes--) {
		uint32_t at = 4 * draw(&seed, payload.len / 4);

		wire_put32(payload.p + at, draw(&seed, 3) ?
						   draw(&seed, 4096) :
						   wire_get32(payload.p + at) - 4 + draw(&seed, 9));
	}
	if (draw(&seed, 2))
		wire_carry4(out, payload.p, payload.len, 6343);
	else
		wire_carry6(out, payload.p, payload.len, 6343);
}

static void test_large_mutants(void **state)
{
	(void)state;
	trio_batches(KERNEL_FRAGS, "large mutant", make_large, NULL, 10000, 500);
}

/* All headers but UDP's in the first buffer, or not even those: what the program cannot read in place it
 * counts, and passes. */
static void test_headers_beyond(void **state)
{
	struct kernel *k;
	struct xsf_config config;
	uint32_t cut = 0;

	(void)state;
	xsf_config_defaults(&config);
	k = kernel_new(&config);
	for (uint32_t more = 0; more <= 255; more++) {
		sound();
		frame.len = 0;
		wire_eth(&frame, 0x86dd);
		wire_ip6(&frame, 0, 0, 3 * 8 * (1 + more) + 8 + payload.len);
		wire_ext(&frame, 60, more);
		wire_ext(&frame, 60, more);
		wire_ext(&frame, 17, more);
		wire_udp(&frame, 1, 6343, payload.len);
		wire_bytes(&frame, payload.p, payload.len);
		assert_int_equal(kernel_run(k, KERNEL_FRAGS, frame.p, frame.len), XDP_PASS);
		cut += frame.len - payload.len > 3520;
	}
	assert_true(cut > 50);
	assert_int_equal(holds(k)->totals.capture_cut, cut);
	assert_int_equal(kernel_snapshot(k)->totals.datagram_sound, 256 - cut);
	kernel_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_consume),		cmocka_unit_test(test_allow_list),
		cmocka_unit_test(test_drop_duplicates), cmocka_unit_test(test_ports),
		cmocka_unit_test(test_large),		cmocka_unit_test(test_large_consumed),
		cmocka_unit_test(test_large_mutants),	cmocka_unit_test(test_headers_beyond),
	};

	if (geteuid()) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
