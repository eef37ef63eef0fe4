// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sampled packet: every layer, every tunnel, and every place where the header can end. */
#include "decode.h"

/* The outcome of each length: outcomes[i] from bounds[i] on, flags likewise. */
struct bound {
	uint32_t from;
	uint32_t outcome;
	uint32_t flags;
};

static void cuts(const struct wire *w, uint32_t protocol, const struct bound *bounds, size_t nr)
{
	for (uint32_t len = 0; len <= w->len; len++) {
		const struct xsf_packet *p = decode_cut(w, protocol, len);
		size_t i = nr;

		while (i > 1 && bounds[i - 1].from > len)
			i--;
		if (p->outcome != bounds[i - 1].outcome || p->flags != bounds[i - 1].flags)
			fail_msg("%u of %u bytes: outcome %u flags %u, not %u %u", len, w->len,
				 p->outcome, p->flags, bounds[i - 1].outcome, bounds[i - 1].flags);
	}
}

#define CUTS(w, protocol, ...) \
	do { \
		const struct bound bounds_[] = { __VA_ARGS__ }; \
		cuts(w, protocol, bounds_, sizeof(bounds_) / sizeof(bounds_[0])); \
	} while (0)

/* UDP to port 4791 in IPv4, with BTH and `body` bytes more. */
static void roce_ip4(struct wire *w, uint32_t opcode, uint32_t tos, uint32_t options, uint32_t body)
{
	wire_ip4(w, tos, 17, 0x4000, options, 8 + 12 + body);
	wire_udp(w, 49152, 4791, 12 + body);
	wire_bth(w, opcode, 0x40);
	wire_fill(w, 0, body);
}

static void roce_ip6(struct wire *w, uint32_t opcode, uint32_t class, uint32_t body)
{
	wire_ip6(w, class, 17, 8 + 12 + body);
	wire_udp(w, 49152, 4791, 12 + body);
	wire_bth(w, opcode, 0x40);
	wire_fill(w, 0, body);
}

static void test_cuts_ip4(void **state)
{
	struct wire w = { 0 };

	(void)state;
	wire_eth(&w, 0x0800);
	roce_ip4(&w, 6, 2, 0, 20);
	CUTS(&w, ETHERNET, { 0, XSF_HEADER_cut, 0 }, { 34, XSF_HEADER_ip, XSF_PKT_IP },
	     { 42, XSF_HEADER_bth_cut, IP_ROCE }, { 54, XSF_HEADER_roce, IP_BTH },
	     { 70, XSF_HEADER_roce, IP_BTH | XSF_PKT_RETH });
	/* An acknowledge's syndrome is one byte. */
	w.len = 0;
	wire_eth(&w, 0x0800);
	roce_ip4(&w, 17, 2, 0, 4);
	CUTS(&w, ETHERNET, { 0, XSF_HEADER_cut, 0 }, { 34, XSF_HEADER_ip, XSF_PKT_IP },
	     { 42, XSF_HEADER_bth_cut, IP_ROCE }, { 54, XSF_HEADER_roce, IP_BTH },
	     { 55, XSF_HEADER_roce, IP_BTH | XSF_PKT_AETH });
}

static void test_cuts_ip6(void **state)
{
	struct wire w = { 0 };

	(void)state;
	wire_eth(&w, 0x86dd);
	roce_ip6(&w, 12, 3, 20);
	CUTS(&w, ETHERNET, { 0, XSF_HEADER_cut, 0 }, { 54, XSF_HEADER_ip, XSF_PKT_IP },
	     { 62, XSF_HEADER_bth_cut, IP_ROCE }, { 74, XSF_HEADER_roce, IP_BTH },
	     { 90, XSF_HEADER_roce, IP_BTH | XSF_PKT_RETH });
}

/* Samples that start at the IP header (header_protocol 11 and 12), and other protocols. */
static void test_protocols(void **state)
{
	struct wire w = { 0 };

	(void)state;
	roce_ip4(&w, 4, 3, 0, 0);
	CUTS(&w, IP4, { 0, XSF_HEADER_cut, 0 }, { 20, XSF_HEADER_ip, XSF_PKT_IP },
	     { 28, XSF_HEADER_bth_cut, IP_ROCE }, { 40, XSF_HEADER_roce, IP_BTH });
	CUTS(&w, IP6, { 0, XSF_HEADER_cut, 0 }, { 40, XSF_HEADER_bad_ip, 0 });
	for (uint32_t protocol = 0; protocol < 20; protocol++) {
		if (protocol != ETHERNET && protocol != IP4 && protocol != IP6)
			CUTS(&w, protocol, { 0, XSF_HEADER_other_protocol, 0 });
	}
	CUTS(&w, 0xffffffff, { 0, XSF_HEADER_other_protocol, 0 });
	w.len = 0;
	roce_ip6(&w, 17, 0, 4);
	CUTS(&w, IP6, { 0, XSF_HEADER_cut, 0 }, { 40, XSF_HEADER_ip, XSF_PKT_IP },
	     { 48, XSF_HEADER_bth_cut, IP_ROCE }, { 60, XSF_HEADER_roce, IP_BTH },
	     { 61, XSF_HEADER_roce, IP_BTH | XSF_PKT_AETH });
	CUTS(&w, IP4, { 0, XSF_HEADER_cut, 0 }, { 20, XSF_HEADER_bad_ip, 0 });
}

/* 0 to 2 tags of each kind and order are followed; behind a third nothing is known. */
static void test_tags(void **state)
{
	static const uint32_t types[] = { 0x8100, 0x88a8, 0x9100 };

	(void)state;
	for (uint32_t n = 0; n <= 3; n++) {
		for (uint32_t first = 0; first < 3; first++) {
			struct wire w = { 0 };
			uint32_t at = 14 + 4 * n;

			wire_eth(&w, n ? types[first] : 0x0800);
			for (uint32_t i = 1; i <= n; i++)
				wire_tag(&w, i % 2 ? 0 : 4095,
					 i < n ? types[(first + i) % 3] : 0x0800);
			roce_ip4(&w, 4, 0, 0, 0);
			if (n <= 2)
				CUTS(&w, ETHERNET, { 0, XSF_HEADER_cut, 0 },
				     { at + 20, XSF_HEADER_ip, XSF_PKT_IP },
				     { at + 28, XSF_HEADER_bth_cut, IP_ROCE },
				     { at + 40, XSF_HEADER_roce, IP_BTH });
			else
				CUTS(&w, ETHERNET, { 0, XSF_HEADER_cut, 0 },
				     { 14 + 8, XSF_HEADER_not_ip, 0 });
		}
	}
}

/* 1 to 4 labels are followed, 5 are not; what follows the last shows its version. */
static void test_labels(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 5; n++) {
		for (int ip6 = 0; ip6 < 2; ip6++) {
			struct wire w = { 0 };
			uint32_t at = 14 + 4 * n, ip = ip6 ? 40 : 20;

			wire_eth(&w, ip6 ? 0x8848 : 0x8847);
			for (uint32_t i = 1; i <= n; i++)
				wire_32(&w, 1000 << 12 | (i == n) << 8 | 64);
			if (ip6)
				roce_ip6(&w, 4, 3, 0);
			else
				roce_ip4(&w, 4, 3, 0, 0);
			if (n > 4) {
				CUTS(&w, ETHERNET, { 0, XSF_HEADER_cut, 0 },
				     { 14 + 16, XSF_HEADER_not_ip, 0 });
				continue;
			}
			CUTS(&w, ETHERNET, { 0, XSF_HEADER_cut, 0 },
			     { at + ip, XSF_HEADER_ip, XSF_PKT_IP },
			     { at + ip + 8, XSF_HEADER_bth_cut, IP_ROCE },
			     { at + ip + 20, XSF_HEADER_roce_tunnel, IP_BTH });
			assert_int_equal(decode(&w)->carrier, XSF_ROCE_TUNNEL);
			assert_int_equal(walk->packet.tos, 3);
			/* neither 4 nor 6: a pseudowire, say */
			w.p[at] = 0;
			is_outcome(decode(&w), XSF_HEADER_not_ip, 0);
		}
	}
}

static void test_ip4_header(void **state)
{
	struct wire w;

	(void)state;
	for (uint32_t options = 0; options <= 40; options += 4) {
		uint32_t ip = 14 + 20 + options;

		w.len = 0;
		wire_eth(&w, 0x0800);
		roce_ip4(&w, 10, 0xb1, options, 16);
		/* a first fragment is read, a later one is not, whatever it looks like */
		CUTS(&w, ETHERNET, { 0, XSF_HEADER_cut, 0 }, { 34, XSF_HEADER_ip, XSF_PKT_IP },
		     { ip + 8, XSF_HEADER_bth_cut, IP_ROCE }, { ip + 20, XSF_HEADER_roce, IP_BTH },
		     { ip + 36, XSF_HEADER_roce, IP_BTH | XSF_PKT_RETH });
		assert_int_equal(decode(&w)->tos, 0xb1);
		assert_int_equal(walk->packet.roce_tos, 0xb1);
	}
	for (uint32_t length = 0; length < 5; length++) {
		w.p[14] = (uint8_t)(0x40 + length);
		is_outcome(decode(&w), XSF_HEADER_bad_ip, 0);
	}
	for (uint32_t version = 0; version < 16; version++) {
		w.p[14] = (uint8_t)(version << 4 | 5);
		if (version != 4)
			is_outcome(decode(&w), XSF_HEADER_bad_ip, 0);
	}
}

static void test_fragments(void **state)
{
	static const struct {
		uint32_t field;
		int later;
	} cases[] = { { 0, 0 },	     { 0x4000, 0 }, { 0x8000, 0 }, { 0x2000, 0 },
		      { 0x2001, 1 }, { 1, 1 },	    { 0x1fff, 1 }, { 0x3fff, 1 } };
	struct wire w;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		w.len = 0;
		wire_eth(&w, 0x0800);
		wire_ip4(&w, 7, 17, cases[i].field, 0, 20);
		wire_udp(&w, 1, 4791, 12);
		wire_bth(&w, 4, 0);
		if (cases[i].later)
			is_outcome(decode(&w), XSF_HEADER_fragment, XSF_PKT_IP);
		else
			is_outcome(decode(&w), XSF_HEADER_roce, IP_BTH);
		assert_int_equal(walk->packet.tos, 7);
	}
	/* IPv6: atomic, first, later */
	for (uint32_t offset = 0; offset <= 0xfff8; offset += 0xfff8) {
		for (uint32_t more = 0; more < 2; more++) {
			w.len = 0;
			wire_eth(&w, 0x86dd);
			wire_ip6(&w, 7, 44, 8 + 20);
			wire_fragment(&w, 17, offset, more);
			wire_udp(&w, 1, 4791, 12);
			wire_bth(&w, 4, 0);
			if (offset)
				is_outcome(decode(&w), XSF_HEADER_fragment, XSF_PKT_IP);
			else
				is_outcome(decode(&w), XSF_HEADER_roce, IP_BTH);
		}
	}
}

static void test_extension_headers(void **state)
{
	static const uint32_t kinds[] = { 0, 43, 60, 44 };

	(void)state;
	for (uint32_t n = 0; n <= 4; n++) {
		for (uint32_t first = 0; first < 4; first++) {
			struct wire w = { 0 };
			uint32_t at = 14 + 40, len = 20;

			for (uint32_t i = 0; i < n; i++)
				len += kinds[(first + i) % 4] == 44 ? 8 : 8 + 8 * i;
			wire_eth(&w, 0x86dd);
			wire_ip6(&w, 0xff, n ? kinds[first] : 17, len);
			for (uint32_t i = 0; i < n; i++) {
				uint32_t next = i + 1 < n ? kinds[(first + i + 1) % 4] : 17;

				if (kinds[(first + i) % 4] == 44)
					wire_fragment(&w, next, 0, 0);
				else
					wire_ext(&w, next, i);
			}
			at = w.len;
			wire_udp(&w, 1, 4791, 12);
			wire_bth(&w, 4, 0);
			if (n <= 3)
				CUTS(&w, ETHERNET, { 0, XSF_HEADER_cut, 0 },
				     { 54, XSF_HEADER_ip, XSF_PKT_IP },
				     { at + 8, XSF_HEADER_bth_cut, IP_ROCE },
				     { at + 20, XSF_HEADER_roce, IP_BTH });
			else
				CUTS(&w, ETHERNET, { 0, XSF_HEADER_cut, 0 },
				     { 54, XSF_HEADER_ip, XSF_PKT_IP });
			assert_int_equal(decode(&w)->tos, 0xff);
		}
	}
}

/* 4791 is RoCE's only as the destination; TCP to 4791 is not RoCE. */
static void test_ports(void **state)
{
	struct wire w = { 0 };

	(void)state;
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 3, 17, 0, 0, 20);
	wire_udp(&w, 4791, 53, 12);
	wire_bth(&w, 4, 0);
	is_outcome(decode(&w), XSF_HEADER_ip, XSF_PKT_IP);
	w.len = 0;
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 3, 6, 0, 0, 20);
	wire_udp(&w, 1, 4791, 12);
	wire_bth(&w, 4, 0);
	is_outcome(decode(&w), XSF_HEADER_ip, XSF_PKT_IP);
	w.len = 0;
	wire_eth(&w, 0x0806);
	wire_fill(&w, 0x45, 46);
	is_outcome(decode(&w), XSF_HEADER_not_ip, 0);
	/* 802.3 with LLC */
	w.len = 0;
	wire_eth(&w, 46);
	wire_fill(&w, 0x42, 46);
	is_outcome(decode(&w), XSF_HEADER_not_ip, 0);
}

/* The marks of the outer packet are its own; those of RoCE are the inner's. */
static void test_vxlan(void **state)
{
	(void)state;
	for (int outer6 = 0; outer6 < 2; outer6++) {
		for (int inner6 = 0; inner6 < 2; inner6++) {
			uint32_t ip = inner6 ? 40 : 20, inner = 14 + ip + 20 + 20;
			struct wire w = { 0 };
			uint32_t at;

			wire_eth(&w, outer6 ? 0x86dd : 0x0800);
			if (outer6)
				wire_ip6(&w, 11 << 2, 17, 16 + inner);
			else
				wire_ip4(&w, 11 << 2, 17, 0x4000, 0, 16 + inner);
			wire_udp(&w, 1, 4789, 8 + inner);
			wire_64(&w, 0x0800000000006400);
			at = w.len;
			wire_eth(&w, inner6 ? 0x86dd : 0x0800);
			if (inner6)
				roce_ip6(&w, 12, 3, 20);
			else
				roce_ip4(&w, 12, 3, 0, 20);
			CUTS(&w, ETHERNET, { 0, XSF_HEADER_cut, 0 },
			     { outer6 ? 54 : 34, XSF_HEADER_ip, XSF_PKT_IP },
			     { at + 14 + ip + 8, XSF_HEADER_bth_cut, IP_ROCE },
			     { at + 14 + ip + 20, XSF_HEADER_roce_tunnel, IP_BTH },
			     { at + 14 + ip + 36, XSF_HEADER_roce_tunnel, IP_BTH | XSF_PKT_RETH });
			assert_int_equal(decode(&w)->carrier, XSF_ROCE_TUNNEL);
			assert_int_equal(walk->packet.tos, 11 << 2);
			assert_int_equal(walk->packet.roce_tos, 3);
		}
	}
}

/* What stands inside a tunnel and is no RoCE leaves the outer packet IP; a tunnel in it stays closed. */
static void test_inside_vxlan(void **state)
{
	static const uint32_t types[] = { 0x0806, 0x8100, 0x0800 };
	struct wire w;

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		w.len = 0;
		wire_eth(&w, 0x0800);
		wire_ip4(&w, 0, 17, 0, 0, 16 + 60);
		wire_udp(&w, 1, 4789, 8 + 60);
		wire_64(&w, 0);
		wire_eth(&w, types[i]);
		wire_fill(&w, 0, 46);
		is_outcome(decode(&w), XSF_HEADER_ip, XSF_PKT_IP);
	}
	w.len = 0;
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 0, 17, 0, 0, 16 + 14 + 36 + 14 + 40);
	wire_udp(&w, 1, 4789, 8 + 14 + 36 + 14 + 40);
	wire_64(&w, 0);
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 0, 17, 0, 0, 16 + 14 + 40);
	wire_udp(&w, 1, 4789, 8 + 14 + 40);
	wire_64(&w, 0);
	wire_eth(&w, 0x0800);
	roce_ip4(&w, 4, 0, 0, 0);
	is_outcome(decode(&w), XSF_HEADER_ip, XSF_PKT_IP);
}

static void test_other_tunnels(void **state)
{
	struct wire w = { 0 };

	(void)state;
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 3, 47, 0, 0, 4 + 40);
	wire_32(&w, 0x0800);
	roce_ip4(&w, 4, 0, 0, 0);
	is_outcome(decode(&w), XSF_HEADER_other_tunnel, XSF_PKT_IP);
	w.len = 0;
	wire_eth(&w, 0x86dd);
	wire_ip6(&w, 0, 17, 8 + 8 + 14 + 40);
	wire_udp(&w, 1, 6081, 8 + 14 + 40);
	wire_64(&w, 0x0000655800006400);
	wire_eth(&w, 0x0800);
	roce_ip4(&w, 4, 0, 0, 0);
	is_outcome(decode(&w), XSF_HEADER_other_tunnel, XSF_PKT_IP);
}

static void test_roce_v1(void **state)
{
	struct wire w = { 0 };

	(void)state;
	wire_eth(&w, 0x8100);
	wire_tag(&w, 3, 0x8915);
	wire_ip6(&w, 3, 27, 28);
	wire_bth(&w, 10, 0);
	wire_fill(&w, 1, 16);
	/* Without IP there is no TOS; without a whole GRH no BTH. */
	CUTS(&w, ETHERNET, { 0, XSF_HEADER_cut, 0 }, { 18, XSF_HEADER_bth_cut, XSF_PKT_ROCE },
	     { 18 + 40 + 12, XSF_HEADER_roce_v1, XSF_PKT_ROCE | XSF_PKT_BTH },
	     { 18 + 40 + 28, XSF_HEADER_roce_v1, XSF_PKT_ROCE | XSF_PKT_BTH | XSF_PKT_RETH });
	assert_int_equal(decode(&w)->carrier, XSF_ROCE_V1);
	assert_int_equal(walk->packet.roce_tos, 3);
	assert_int_equal(walk->packet.dma_length, 0x01010101);
	assert_int_equal(decode_cut(&w, ETHERNET, 18 + 2)->roce_tos, 3);
	assert_int_equal(decode_cut(&w, ETHERNET, 18 + 1)->roce_tos, 0);
}

/* Ethernet pads short frames, and an FCS may follow: bytes behind the IP packet are not part of it. */
static void test_padding(void **state)
{
	struct wire w = { 0 };

	(void)state;
	/* 12 bytes of UDP payload, said to be 4 */
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 0, 17, 0, 0, 8 + 4);
	wire_udp(&w, 1, 4791, 4);
	wire_bth(&w, 4, 0);
	is_outcome(decode(&w), XSF_HEADER_bth_cut, IP_ROCE);
	w.len = 0;
	wire_eth(&w, 0x86dd);
	wire_ip6(&w, 0, 17, 8 + 11);
	wire_udp(&w, 1, 4791, 11);
	wire_bth(&w, 4, 0);
	is_outcome(decode(&w), XSF_HEADER_bth_cut, IP_ROCE);
	/* the RETH is behind the packet */
	w.len = 0;
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 0, 17, 0, 0, 8 + 12);
	wire_udp(&w, 1, 4791, 12);
	wire_bth(&w, 6, 0);
	wire_fill(&w, 1, 20);
	is_outcome(decode(&w), XSF_HEADER_roce, IP_BTH);
	/* A total length of 0 (segmentation offload) or below the header is no limit. */
	w.p[14 + 2] = w.p[14 + 3] = 0;
	is_outcome(decode(&w), XSF_HEADER_roce, IP_BTH | XSF_PKT_RETH);
	w.p[14 + 3] = 20;
	is_outcome(decode(&w), XSF_HEADER_roce, IP_BTH | XSF_PKT_RETH);
	/* nor one that is longer than what was sampled */
	w.p[14 + 2] = 0xff;
	is_outcome(decode(&w), XSF_HEADER_roce, IP_BTH | XSF_PKT_RETH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts_ip4),     cmocka_unit_test(test_cuts_ip6),
		cmocka_unit_test(test_protocols),    cmocka_unit_test(test_tags),
		cmocka_unit_test(test_labels),	     cmocka_unit_test(test_ip4_header),
		cmocka_unit_test(test_fragments),    cmocka_unit_test(test_extension_headers),
		cmocka_unit_test(test_ports),	     cmocka_unit_test(test_vxlan),
		cmocka_unit_test(test_inside_vxlan), cmocka_unit_test(test_other_tunnels),
		cmocka_unit_test(test_roce_v1),	     cmocka_unit_test(test_padding),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
