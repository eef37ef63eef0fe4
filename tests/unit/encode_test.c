// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Datagrams and packets byte for byte: every expectation here was written out by hand from the layouts of
 * sflow_version_5.txt, sflow_drops.txt and the RFCs, or was sent by another implementation. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/encode.h"
#include "model/frame.h"
#include <xsf/net.h>
#include <xsf/sflow.h>

static const struct xsf_enc_datagram agent4 = {
	.addr = { 192, 0, 2, 1 },
	.addr_type = SFLOW_ADDR_IP4,
	.sub_agent = 7,
	.sequence = 0x01020304,
	.uptime_ms = 0x0a0b0c0d,
};

#define HEADER4 "00000005 00000001 c0000201 00000007 01020304 0a0b0c0d"

/* Hexadecimal digits, blanks ignored -> bytes. */
static uint32_t unhex(const char *text, uint8_t *out, uint32_t cap)
{
	uint32_t n = 0;

	for (; *text; text++) {
		char digits[3] = { text[0], text[1] }, *end;

		if (*text == ' ')
			continue;
		assert_true(n < cap);
		out[n++] = (uint8_t)strtoul(digits, &end, 16);
		assert_ptr_equal(end, digits + 2);
		text++;
	}
	return n;
}

static void expect_bytes(const uint8_t *got, uint32_t len, const char *want)
{
	uint8_t bytes[2048];
	uint32_t n = unhex(want, bytes, sizeof(bytes));

	assert_int_equal(len, n);
	assert_memory_equal(got, bytes, n);
}

static void datagram_headers(void **state)
{
	struct xsf_enc_datagram d = agent4;
	uint8_t buf[64];
	struct xsf_enc e;

	(void)state;
	assert_int_equal(xsf_enc_begin(&e, buf, sizeof(buf), &d), 0);
	expect_bytes(buf, e.len, HEADER4 "00000000");
	assert_int_equal(e.len, SFLOW_HEADER_IP4_LEN);

	d.addr_type = SFLOW_ADDR_IP6;
	unhex("20010db8000000000000000000000009", d.addr, 16);
	assert_int_equal(xsf_enc_begin(&e, buf, sizeof(buf), &d), 0);
	expect_bytes(
		buf, e.len,
		"00000005 00000002 20010db8 00000000 00000000 00000009 00000007 01020304 0a0b0c0d"
		"00000000");
	assert_int_equal(e.len, SFLOW_HEADER_IP6_LEN);

	d.addr_type = 0;
	assert_int_equal(xsf_enc_begin(&e, buf, sizeof(buf), &d), -EINVAL);
	assert_int_equal(xsf_enc_begin(&e, buf, 27, &agent4), -ENOSPC);
	assert_int_equal(xsf_enc_begin(&e, buf, 28, &agent4), 0);
}

/* Writes one sample of each kind; the byte strings below are what must come out. */
static void put_flow(struct xsf_enc *e, int expanded)
{
	static const uint8_t bytes[5] = { 0xde, 0xad, 0xbe, 0xef, 0x55 };
	struct xsf_enc_flow s = {
		.expanded = expanded,
		.sequence = 0x11,
		.source = { 0, 0x000203 },
		.sampling_rate = 1000,
		.sample_pool = 0x00010000,
		.drops = 2,
		.input = { SFLOW_IF_SINGLE, 0x203 },
		.output = { SFLOW_IF_MULTIPLE, 5 },
	};
	struct xsf_enc_header h = { SFLOW_PROTO_ETHERNET, 1518, 4, bytes, sizeof(bytes) };
	struct xsf_enc_switch v = { 100, 1, 200, 0xffffffff };

	xsf_enc_flow(e, &s);
	xsf_enc_switch(e, &v);
	xsf_enc_header(e, &h);
}

#define FLOW_RECORDS \
	"000003e9 00000010 00000064 00000001 000000c8 ffffffff" \
	"00000001 00000018 00000001 000005ee 00000004 00000005 deadbeef 55000000"
/* 32 + 24 + 32 = 88; the expanded form has 12 bytes more */
#define FLOW_COMPACT \
	"00000001 00000058 00000011 00000203 000003e8 00010000 00000002 00000203 80000005 " \
	"00000002" FLOW_RECORDS
#define FLOW_EXPANDED \
	"00000003 00000064 00000011 00000000 00000203 000003e8 00010000 00000002" \
	"00000000 00000203 00000002 00000005 00000002" FLOW_RECORDS

static void put_counter(struct xsf_enc *e, int expanded)
{
	struct xsf_enc_counter s = { expanded, 0x21, { 2, 1 } };
	struct xsf_enc_if_counters c = {
		.index = 3,
		.type = 6,
		.speed = 400000000000,
		.direction = 1,
		.status = 3,
		.in_octets = 0x0102030405060708,
		.in_ucast = 0x10,
		.in_multicast = 0x11,
		.in_broadcast = 0x12,
		.in_discards = 0x13,
		.in_errors = 0x14,
		.in_unknown = 0xffffffff,
		.out_octets = 0x1112131415161718,
		.out_ucast = 0x20,
		.out_multicast = 0x21,
		.out_broadcast = 0x22,
		.out_discards = 0x23,
		.out_errors = 0x24,
		.promiscuous = 2,
	};
	struct xsf_enc_host h = { .name = "leaf1", .machine = 3, .os = 2, .release = "6.1" };

	for (int i = 0; i < 16; i++)
		h.uuid[i] = (uint8_t)(0xa0 + i);
	xsf_enc_counter(e, &s);
	xsf_enc_if_counters(e, &c);
	xsf_enc_port_name(e, "swp10");
	xsf_enc_host(e, &h);
}

/* 8 + 88, 8 + 12, 8 + 44 bytes */
#define COUNTER_RECORDS \
	"00000001 00000058 00000003 00000006 0000005d 21dba000 00000001 00000003" \
	"01020304 05060708 00000010 00000011 00000012 00000013 00000014 ffffffff" \
	"11121314 15161718 00000020 00000021 00000022 00000023 00000024 00000002" \
	"000003ed 0000000c 00000005 73777031 30000000" \
	"000007d0 0000002c 00000005 6c656166 31000000 a0a1a2a3 a4a5a6a7 a8a9aaab acadaeaf" \
	"00000003 00000002 00000003 362e3100"
#define COUNTER_COMPACT "00000002 000000b4 00000021 02000001 00000003" COUNTER_RECORDS
#define COUNTER_EXPANDED "00000004 000000b8 00000021 00000002 00000001 00000003" COUNTER_RECORDS

static void put_drop(struct xsf_enc *e)
{
	static const uint8_t bytes[4] = { 1, 2, 3, 4 };
	struct xsf_enc_drop s = { 9, { 0, 0 }, 77, 3, 4, 259 };
	struct xsf_enc_header h = { SFLOW_PROTO_IP4, 100, 18, bytes, sizeof(bytes) };

	xsf_enc_drop(e, &s);
	xsf_enc_linux_reason(e, "NO_SOCKET");
	xsf_enc_function(e, "ip_rcv");
	xsf_enc_hw_trap(e, "l3_drops", "x");
	xsf_enc_header(e, &h);
}

/* 32, 8 + 16, 8 + 12, 8 + 20, 8 + 20 */
#define DROP \
	"00000005 00000084 00000009 00000000 00000000 0000004d 00000003 00000004 00000103 " \
	"00000004" \
	"00000412 00000010 00000009 4e4f5f53 4f434b45 54000000" \
	"0000040e 0000000c 00000006 69705f72 63760000" \
	"00000411 00000014 00000008 6c335f64 726f7073 00000001 78000000" \
	"00000001 00000014 0000000b 00000064 00000012 00000004 01020304"

static void (*const puts_[])(struct xsf_enc *, int) = { put_flow, put_counter };

static void one_sample_each(void **state)
{
	static const char *const want[2][2] = { { FLOW_COMPACT, FLOW_EXPANDED },
						{ COUNTER_COMPACT, COUNTER_EXPANDED } };
	uint8_t buf[1400];
	struct xsf_enc e;
	char text[2048];

	(void)state;
	for (int i = 0; i < 4; i++) {
		xsf_enc_begin(&e, buf, sizeof(buf), &agent4);
		puts_[i / 2](&e, i % 2);
		assert_int_equal(xsf_enc_end(&e), 0);
		snprintf(text, sizeof(text), "%s 00000001 %s", HEADER4, want[i / 2][i % 2]);
		expect_bytes(buf, e.len, text);
	}
	xsf_enc_begin(&e, buf, sizeof(buf), &agent4);
	put_drop(&e);
	assert_int_equal(xsf_enc_end(&e), 0);
	expect_bytes(buf, e.len, HEADER4 "00000001" DROP);
}

static void several_samples(void **state)
{
	uint8_t buf[1400];
	struct xsf_enc e;

	(void)state;
	xsf_enc_begin(&e, buf, sizeof(buf), &agent4);
	put_counter(&e, 0);
	assert_int_equal(xsf_enc_end(&e), 0);
	put_drop(&e);
	assert_int_equal(xsf_enc_end(&e), 0);
	put_flow(&e, 1);
	assert_int_equal(xsf_enc_end(&e), 0);
	expect_bytes(buf, e.len, HEADER4 "00000003" COUNTER_COMPACT DROP FLOW_EXPANDED);
}

/* Whatever room there is: nothing beyond it is touched, and what stands is the samples that fit. */
static void no_room(void **state)
{
	uint8_t want[1400], buf[1400];
	uint32_t ends[6], samples;
	struct xsf_enc e;

	(void)state;
	xsf_enc_begin(&e, want, sizeof(want), &agent4);
	ends[0] = e.len;
	for (int i = 0; i < 5; i++) {
		if (i < 4)
			puts_[i / 2](&e, i % 2);
		else
			put_drop(&e);
		assert_int_equal(xsf_enc_end(&e), 0);
		ends[i + 1] = e.len;
	}
	for (uint32_t cap = ends[0]; cap <= ends[5]; cap++) {
		memset(buf, 0xa5, sizeof(buf));
		assert_int_equal(xsf_enc_begin(&e, buf, cap, &agent4), 0);
		for (samples = 0; samples < 5; samples++) {
			if (samples < 4)
				puts_[samples / 2](&e, samples % 2);
			else
				put_drop(&e);
			if (xsf_enc_end(&e) == 0)
				continue;
			break;
		}
		assert_int_equal(e.samples, samples);
		assert_int_equal(e.len, ends[samples]);
		assert_true(samples == 5 || cap < ends[samples + 1]);
		assert_int_equal(buf[27], samples);
		assert_memory_equal(buf + 28, want + 28, e.len - 28);
		for (uint32_t i = cap; i < sizeof(buf); i++)
			assert_int_equal(buf[i], 0xa5);
	}
}

static void compact_ranges(void **state)
{
	struct xsf_enc_flow s = { .source = { 255, 0xffffff },
				  .input = { 0, 0x3fffffff },
				  .output = { 3, 0x3fffffff } };
	struct xsf_enc_counter c = { .source = { 256, 0 } };
	uint8_t buf[256];
	struct xsf_enc e;

	(void)state;
	xsf_enc_begin(&e, buf, sizeof(buf), &agent4);
	xsf_enc_flow(&e, &s);
	assert_int_equal(xsf_enc_end(&e), 0);
	expect_bytes(
		buf + 28, e.len - 28,
		"00000001 00000020 00000000 ffffffff 00000000 00000000 00000000 3fffffff ffffffff"
		"00000000");
	s.source.index++;
	xsf_enc_flow(&e, &s);
	assert_int_equal(xsf_enc_end(&e), -ERANGE);
	s.source.index--;
	s.input.value++;
	xsf_enc_flow(&e, &s);
	assert_int_equal(xsf_enc_end(&e), -ERANGE);
	s.input.value--;
	s.output.format++;
	xsf_enc_flow(&e, &s);
	assert_int_equal(xsf_enc_end(&e), -ERANGE);
	xsf_enc_counter(&e, &c);
	assert_int_equal(xsf_enc_end(&e), -ERANGE);
	assert_int_equal(e.samples, 1);
	s.expanded = 1;
	xsf_enc_flow(&e, &s);
	assert_int_equal(xsf_enc_end(&e), 0);
	assert_int_equal(e.samples, 2);
}

static void misuse(void **state)
{
	struct xsf_enc_counter c = { 0 };
	uint8_t buf[256];
	struct xsf_enc e;
	uint32_t len;

	(void)state;
	xsf_enc_begin(&e, buf, sizeof(buf), &agent4);
	len = e.len;
	assert_int_equal(xsf_enc_end(&e), -EINVAL);
	xsf_enc_port_name(&e, "no sample is open");
	assert_int_equal(xsf_enc_end(&e), -EINVAL);
	xsf_enc_counter(&e, &c);
	xsf_enc_counter(&e, &c);
	assert_int_equal(xsf_enc_end(&e), -EINVAL);
	assert_int_equal(e.len, len);
	assert_int_equal(e.samples, 0);
	xsf_enc_counter(&e, &c);
	assert_int_equal(xsf_enc_end(&e), 0);
	assert_int_equal(e.samples, 1);
}

/* ---- packets ---- */

static void mapped(uint8_t addr[16], uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	memset(addr, 0, 10);
	addr[10] = addr[11] = 0xff;
	addr[12] = a;
	addr[13] = b;
	addr[14] = c;
	addr[15] = d;
}

/* Acknowledgements as Linux' software RoCE sent them, invariant CRC included. */
static void roce_ack_ip4(void **state)
{
	static const uint8_t dst[6] = { 0x42, 0xaf, 0x4e, 0x37, 0xcc, 0x46 };
	static const uint8_t src[6] = { 0x52, 0x54, 0x00, 0x01, 0x00, 0x02 };
	struct xsf_frame_ip ip = { .ttl = 64, .proto = NET_PROTO_UDP, .id = 0xabea };
	struct xsf_frame_bth bth = { .opcode = 0x11, .dest_qp = 0x29, .psn = 0xb0a666 };
	struct xsf_frame f;

	(void)state;
	mapped(ip.src, 10, 9, 1, 2);
	mapped(ip.dst, 10, 9, 1, 1);
	xsf_frame_begin(&f);
	xsf_frame_ethernet(&f, dst, src, NET_TYPE_IP4);
	xsf_frame_ip4(&f, &ip);
	xsf_frame_udp(&f, 0xc691, NET_PORT_ROCE, 0);
	xsf_frame_bth(&f, &bth);
	xsf_frame_aeth(&f, 31, 1);
	assert_int_equal(xsf_frame_end(&f, 0), 0);
	assert_int_equal(f.wire, 62);
	expect_bytes(f.bytes, f.wire,
		     "42af4e37cc46 525400010002 0800 45000030abea4000401178be0a0901020a090101"
		     "c69112b7001c0000 1100ffff0000002900b0a666 1f000001 1b4c2520");
}

static void roce_ack_ip6(void **state)
{
	static const uint8_t dst[6] = { 0x42, 0xaf, 0x4e, 0x37, 0xcc, 0x46 };
	static const uint8_t src[6] = { 0x52, 0x54, 0x00, 0x01, 0x00, 0x02 };
	struct xsf_frame_ip ip = { .ttl = 64, .proto = NET_PROTO_UDP };
	struct xsf_frame_bth bth = { .opcode = 0x11, .dest_qp = 0x37, .psn = 0xc951a2 };
	struct xsf_frame f;

	(void)state;
	unhex("fd000009000100000000000000000002", ip.src, 16);
	unhex("fd000009000100000000000000000001", ip.dst, 16);
	xsf_frame_begin(&f);
	xsf_frame_ethernet(&f, dst, src, NET_TYPE_IP6);
	xsf_frame_ip6(&f, &ip);
	xsf_frame_udp(&f, 0xcbd1, NET_PORT_ROCE, 0);
	xsf_frame_bth(&f, &bth);
	xsf_frame_aeth(&f, 31, 1);
	assert_int_equal(xsf_frame_end(&f, 0), 0);
	expect_bytes(
		f.bytes, f.wire,
		"42af4e37cc46 525400010002 86dd 60000000001c1140 fd000009000100000000000000000002"
		"fd000009000100000000000000000001 cbd112b7001c0000 1100ffff0000003700c951a2"
		"1f000001 2b4c8f5d");
}

static void roce_headers(void **state)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
	struct xsf_frame_ip ip = { .ttl = 63, .tos = 0x6a, .proto = NET_PROTO_UDP };
	struct xsf_frame_bth bth = { .opcode = 0x06,
				     .flags = 0x40,
				     .pad = 3,
				     .ack = 1,
				     .dest_qp = 0xff123456,
				     .psn = 0xff010203 };
	struct xsf_frame f;

	(void)state;
	mapped(ip.src, 10, 0, 0, 1);
	mapped(ip.dst, 10, 0, 0, 2);
	xsf_frame_begin(&f);
	xsf_frame_ethernet(&f, mac, mac, NET_TYPE_VLAN);
	xsf_frame_vlan(&f, 100, NET_TYPE_IP4);
	xsf_frame_ip4(&f, &ip);
	xsf_frame_udp(&f, 0xc000, NET_PORT_ROCE, 0);
	xsf_frame_bth(&f, &bth);
	xsf_frame_reth(&f, 0x1122334455667788, 0x99aabbcc, 0x00010000);
	assert_int_equal(xsf_frame_end(&f, 4096), 0);
	/* 18 + 20 + 8 + 12 + 16 + 4096 + 4; IP 4156, UDP 4136 */
	assert_int_equal(f.wire, 4174);
	expect_bytes(f.bytes, f.len,
		     "020000000001 020000000001 8100 0064 0800"
		     "456a103c 00004000 3f111745 0a000001 0a000002 c000 12b7 1028 0000"
		     "0670ffff 00123456 80010203 11223344 55667788 99aabbcc 00010000");

	/* CNP: nothing but BECN and the sender's queue pair */
	bth = (struct xsf_frame_bth){ .opcode = NET_OP_CNP, .becn = 1, .dest_qp = 0x123 };
	xsf_frame_begin(&f);
	xsf_frame_bth(&f, &bth);
	expect_bytes(f.bytes, f.len, "8100ffff 40000123 00000000");
}

/* Ones' complement sum of a pseudo-header and what follows it: all ones when the checksum is right. */
static uint32_t verify(const uint8_t *addrs, uint32_t addr_len, const uint8_t *p, uint32_t len,
		       uint32_t proto)
{
	uint64_t s = proto + len;

	for (uint32_t i = 0; i < addr_len; i += 2)
		s += (uint32_t)addrs[i] << 8 | addrs[i + 1];
	for (uint32_t i = 0; i < len; i++)
		s += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint32_t)s;
}

static void transport_checksums(void **state)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
	struct xsf_frame_ip ip = { .ttl = 64 };
	uint8_t packet[1600];
	struct xsf_frame f;

	(void)state;
	for (int i = 0; i < 4; i++) {
		int tcp = i & 1, ip6 = i >> 1;
		uint32_t at = ip6 ? 54 : 34;

		ip.proto = tcp ? 6 : NET_PROTO_UDP;
		mapped(ip.src, 10, 1, 2, 3);
		mapped(ip.dst, 10, 3, 2, 1);
		xsf_frame_begin(&f);
		xsf_frame_ethernet(&f, mac, mac, ip6 ? NET_TYPE_IP6 : NET_TYPE_IP4);
		if (ip6)
			xsf_frame_ip6(&f, &ip);
		else
			xsf_frame_ip4(&f, &ip);
		if (tcp)
			xsf_frame_tcp(&f, 1000, 2000, 0x01020304, 0x05060708, 0x18);
		else
			xsf_frame_udp(&f, 1000, 2000, 1);
		assert_int_equal(xsf_frame_end(&f, 1201), 0);
		assert_int_equal(f.wire, at + (tcp ? 20 : 8) + 1201);
		memset(packet, 0, sizeof(packet));
		memcpy(packet, f.bytes, f.len);
		assert_int_equal(verify(packet + (ip6 ? 22 : 26), ip6 ? 32 : 8, packet + at,
					f.wire - at, ip.proto),
				 0xffff);
		if (!ip6)
			assert_int_equal(verify(packet, 0, packet + 14, 20, (uint32_t)-20), 0xffff);
	}
}

static void small_and_nested(void **state)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
	struct xsf_frame_ip ip = { .ttl = 64, .proto = NET_PROTO_UDP };
	struct xsf_frame f;

	(void)state;
	mapped(ip.src, 10, 0, 0, 1);
	mapped(ip.dst, 10, 0, 0, 2);
	xsf_frame_begin(&f);
	xsf_frame_ethernet(&f, mac, mac, 0x0806);
	xsf_frame_arp(&f, mac, ip.src, ip.dst);
	assert_int_equal(xsf_frame_end(&f, 0), 0);
	assert_int_equal(f.wire, 60); /* padded */
	expect_bytes(f.bytes + 14, 46,
		     "0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002"
		     "000000000000000000000000000000000000");
	assert_int_equal(xsf_frame_seen(&f, 128), 60);
	assert_int_equal(xsf_frame_seen(&f, 59), 59);

	xsf_frame_begin(&f);
	xsf_frame_ethernet(&f, mac, mac, NET_TYPE_IP4);
	xsf_frame_ip4(&f, &ip);
	xsf_frame_udp(&f, 1, NET_PORT_VXLAN, 0);
	xsf_frame_vxlan(&f, 0x123456);
	xsf_frame_ethernet(&f, mac, mac, NET_TYPE_IP4);
	xsf_frame_ip4(&f, &ip);
	xsf_frame_udp(&f, 1, 2, 0);
	assert_int_equal(xsf_frame_end(&f, 1000), 0);
	/* outer IP 1078, UDP 1058; inner IP 1028, UDP 1008 */
	assert_int_equal(f.bytes[16] << 8 | f.bytes[17], 1078);
	assert_int_equal(f.bytes[38] << 8 | f.bytes[39], 1058);
	expect_bytes(f.bytes + 42, 8, "08000000 12345600");
	assert_int_equal(f.bytes[66] << 8 | f.bytes[67], 1028);
	assert_int_equal(f.bytes[88] << 8 | f.bytes[89], 1008);
	assert_int_equal(f.wire, 14 + 1078);
	assert_int_equal(xsf_frame_seen(&f, 128), 128);
}

static void frame_limits(void **state)
{
	struct xsf_frame_ip ip = { .ttl = 64 };
	struct xsf_frame f;
	uint8_t raw[XSF_FRAME_BYTES + 1] = { 0 };

	(void)state;
	xsf_frame_begin(&f);
	xsf_frame_raw(&f, raw, XSF_FRAME_BYTES);
	assert_int_equal(xsf_frame_end(&f, 0), 0);
	xsf_frame_begin(&f);
	xsf_frame_raw(&f, raw, XSF_FRAME_BYTES + 1);
	assert_int_equal(xsf_frame_end(&f, 0), -ENOSPC);
	xsf_frame_begin(&f);
	for (int i = 0; i < XSF_FRAME_LAYERS; i++)
		xsf_frame_udp(&f, 1, 2, 0);
	assert_int_equal(xsf_frame_end(&f, 0), 0);
	xsf_frame_udp(&f, 1, 2, 0);
	assert_int_equal(xsf_frame_end(&f, 0), -ENOSPC);

	xsf_frame_begin(&f);
	xsf_frame_ip4(&f, &ip);
	assert_int_equal(xsf_frame_end(&f, 65515), 0);
	assert_int_equal(xsf_frame_end(&f, 65516), -ERANGE);
	xsf_frame_begin(&f);
	xsf_frame_ip6(&f, &ip);
	assert_int_equal(xsf_frame_end(&f, 65535), 0);
	assert_int_equal(xsf_frame_end(&f, 65536), -ERANGE);
}

static void wrapped(void **state)
{
	uint8_t src[16], dst[16], packet[XSF_WRAP_BYTES + 1400];
	uint32_t len;

	(void)state;
	mapped(src, 10, 1, 0, 1);
	mapped(dst, 192, 0, 2, 9);
	assert_true(xsf_addr_is_ip4(src));
	for (uint32_t i = 0; i < 1400; i++)
		packet[42 + i] = (uint8_t)(i * 7 + 3);
	for (uint32_t n = 1395; n <= 1400; n++) {
		len = xsf_frame_wrap(packet, src, dst, 6343, 6344, packet + 42, n);
		assert_int_equal(len, 42);
		assert_int_equal(packet[16] << 8 | packet[17], 28 + n);
		assert_int_equal(packet[38] << 8 | packet[39], 8 + n);
		assert_int_equal(verify(packet, 0, packet + 14, 20, (uint32_t)-20), 0xffff);
		assert_int_equal(verify(packet + 26, 8, packet + 34, 8 + n, NET_PROTO_UDP), 0xffff);
	}
	memmove(packet + 62, packet + 42, 1399);
	unhex("fd00005f000100000000000000000001", src, 16);
	unhex("20010db8000000000000000000000009", dst, 16);
	assert_false(xsf_addr_is_ip4(src));
	len = xsf_frame_wrap(packet, src, dst, 6343, 6343, packet + 62, 1399);
	assert_int_equal(len, 62);
	assert_int_equal(packet[18] << 8 | packet[19], 8 + 1399);
	assert_int_equal(verify(packet + 22, 32, packet + 54, 8 + 1399, NET_PROTO_UDP), 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(datagram_headers), cmocka_unit_test(one_sample_each),
		cmocka_unit_test(several_samples),  cmocka_unit_test(no_room),
		cmocka_unit_test(compact_ranges),   cmocka_unit_test(misuse),
		cmocka_unit_test(roce_ack_ip4),	    cmocka_unit_test(roce_ack_ip6),
		cmocka_unit_test(roce_headers),	    cmocka_unit_test(transport_checksums),
		cmocka_unit_test(small_and_nested), cmocka_unit_test(frame_limits),
		cmocka_unit_test(wrapped),
	};

	return cmocka_run_group_tests_name("encode", tests, NULL, NULL);
}
