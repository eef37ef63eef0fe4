// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A sampled header as named fields: each of them, where each needs the header to reach, and that what both
 * tell is what include/xsf/packet.h tells. */
#include "decode.h"
#include "model/packet_fields.h"
#include "../progrun/inputs.h"

static struct xsf_packet_fields fields_of(const struct wire *w, uint32_t protocol, uint32_t len)
{
	struct xsf_packet_fields f;
	/* Nothing behind it can be read. */
	uint8_t *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, w->p, len);
	memset(&f, 0x55, sizeof(f));
	xsf_packet_fields(copy, len, protocol, &f);
	free(copy);
	return f;
}

static void is_stack(const struct xsf_packet_fields *f, const char *want)
{
	char buf[XSF_STACK_TEXT];

	assert_string_equal(xsf_stack_text(f, buf), want);
}

/* The two decoders read the same. */
static void same(const struct wire *w, uint32_t protocol, uint32_t len)
{
	const struct xsf_packet *p = decode_cut(w, protocol, len);
	struct xsf_packet_fields f = fields_of(w, protocol, len);
	const struct xsf_frame_fields *first = &f.frame[0], *last = &f.frame[f.nr_frames - 1];
	int is_ip = f.nr_frames && first->has & (XSF_HAS_IP4 | XSF_HAS_IP6);

	assert_int_equal(!!(p->flags & XSF_PKT_IP), is_ip);
	if (is_ip)
		assert_int_equal(p->tos, first->tos);
	assert_int_equal(!!(p->flags & XSF_PKT_ROCE), !!(f.roce.has & XSF_HAS_ROCE));
	assert_int_equal(!!(p->flags & XSF_PKT_BTH), !!(f.roce.has & XSF_HAS_BTH));
	assert_int_equal(!!(p->flags & XSF_PKT_RETH), !!(f.roce.has & XSF_HAS_RETH));
	assert_int_equal(!!(p->flags & XSF_PKT_AETH), !!(f.roce.has & XSF_HAS_AETH));
	if (f.roce.has & XSF_HAS_ROCE) {
		assert_int_equal(p->carrier, f.roce.carrier);
		assert_int_equal(p->roce_tos, f.roce.tos);
	}
	if (f.roce.has & XSF_HAS_BTH) {
		assert_int_equal(p->opcode, f.roce.opcode);
		assert_int_equal(p->bth_flags, f.roce.flags);
		assert_int_equal(w->p[f.roce.off], f.roce.opcode);
	}
	if (f.roce.has & XSF_HAS_RETH)
		assert_int_equal(p->dma_length, f.roce.dma_length);
	if (f.roce.has & XSF_HAS_AETH)
		assert_int_equal(p->syndrome, f.roce.syndrome);
	if (p->outcome == XSF_HEADER_fragment)
		assert_true(first->has & XSF_HAS_FRAGMENT && first->fragment_off);
	if (p->outcome == XSF_HEADER_other_tunnel)
		assert_true(last->has & (XSF_HAS_GRE | XSF_HAS_GENEVE));
}

static void test_as_counted(void **state)
{
	static const uint32_t protocols[] = { 1, 1, 1, 11, 12, 13 };
	uint64_t seed = 5;
	struct wire w;

	(void)state;
	for (uint32_t i = 0; i < BUILT_PACKETS; i++) {
		built_packet(i, &w);
		for (uint32_t len = 0; len <= w.len; len++)
			same(&w, 1, len);
	}
	for (uint32_t i = 0; i < 200000; i++) {
		uint32_t protocol = protocols[draw(&seed, 6)], changes = draw(&seed, 4);

		built_packet(draw(&seed, BUILT_PACKETS), &w);
		if (protocol != 1) {
			w.len -= 14;
			memmove(w.p, w.p + 14, w.len);
		}
		while (changes--)
			w.p[draw(&seed, w.len)] ^= (uint8_t)(1 + draw(&seed, 255));
		same(&w, protocol, draw(&seed, 3) ? w.len : draw(&seed, w.len + 1));
	}
}

static void test_ethernet(void **state)
{
	struct xsf_packet_fields f;
	struct wire w = { 0 };
	char buf[16];

	(void)state;
	wire_eth(&w, 0x8100);
	wire_tag(&w, 0xe00a, 0x88a8);
	wire_tag(&w, 20, 0x0806);
	wire_bytes(&w, "\0\1\x08\0\6\4\0\2", 8);
	wire_bytes(&w, "\x02\0\0\0\0\x0a\xc0\0\2\1\x02\0\0\0\0\x0b\xc0\0\2\2", 20);
	f = fields_of(&w, 1, w.len);
	is_stack(&f, "eth.arp");
	assert_int_equal(f.frame[0].has, XSF_HAS_ETHERNET | XSF_HAS_ARP | XSF_HAS_ARP_IP);
	assert_string_equal(xsf_mac_text(f.frame[0].mac_source, buf), "020000000001");
	assert_string_equal(xsf_mac_text(f.frame[0].mac_destination, buf), "020000000002");
	assert_int_equal(f.frame[0].ethertype, 0x0806);
	assert_int_equal(f.frame[0].nr_tags, 2);
	assert_int_equal(f.frame[0].tags[0], 0xe00a);
	assert_int_equal(f.frame[0].tags[1], 20);
	assert_int_equal(f.frame[0].arp_operation, 2);
	assert_memory_equal(f.frame[0].arp_ip_sender + 10, "\xff\xff\xc0\0\2\1", 6);
	assert_memory_equal(f.frame[0].arp_ip_target + 10, "\xff\xff\xc0\0\2\2", 6);
	assert_memory_equal(f.frame[0].arp_mac_target, "\x02\0\0\0\0\x0b", 6);
	for (uint32_t len = 0; len < w.len; len++) {
		uint32_t has = (len >= 14 ? XSF_HAS_ETHERNET : 0) | (len >= 30 ? XSF_HAS_ARP : 0);

		f = fields_of(&w, 1, len);
		assert_int_equal(f.frame[0].has, has);
		assert_int_equal(f.frame[0].nr_tags, len >= 22 ? 2 : len >= 18);
	}
	/* Not over Ethernet: no addresses. */
	w.p[22 + 4] = 8;
	f = fields_of(&w, 1, w.len);
	assert_int_equal(f.frame[0].has, XSF_HAS_ETHERNET | XSF_HAS_ARP);
}

static void test_ip(void **state)
{
	struct xsf_packet_fields f;
	struct wire w = { 0 };
	char buf[16];

	(void)state;
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 0xb9, 6, 0x4000, 8, 20);
	wire_16(&w, 179);
	wire_16(&w, 49152);
	wire_32(&w, 0x01020304);
	wire_32(&w, 0x05060708);
	wire_16(&w, 0x5118); /* NS, ACK, PSH */
	wire_fill(&w, 0, 6);
	f = fields_of(&w, 1, w.len);
	is_stack(&f, "eth.ip.tcp");
	assert_int_equal(f.frame[0].ip_off, 14);
	assert_int_equal(f.frame[0].ip_bytes, 48);
	assert_int_equal(f.frame[0].tos, 0xb9);
	assert_int_equal(f.frame[0].ttl, 64);
	assert_int_equal(f.frame[0].protocol, 6);
	assert_memory_equal(f.frame[0].ip_source + 10, "\xff\xff\xc0\0\2\1", 6);
	assert_memory_equal(f.frame[0].ip_destination + 10, "\xff\xff\xc6\x33\x64\x0a", 6);
	assert_int_equal(f.frame[0].source_port, 179);
	assert_int_equal(f.frame[0].destination_port, 49152);
	assert_int_equal(f.frame[0].tcp_sequence, 0x01020304);
	assert_int_equal(f.frame[0].tcp_ack, 0x05060708);
	assert_string_equal(xsf_tcp_flags_text(f.frame[0].tcp_flags, buf), "100011000");
	for (uint32_t len = 0; len < w.len; len++) {
		f = fields_of(&w, 1, len);
		assert_int_equal(!!(f.frame[0].has & XSF_HAS_IP4), len >= 34);
		assert_int_equal(!!(f.frame[0].has & XSF_HAS_TCP), len >= 14 + 28 + 4);
		assert_int_equal(!!(f.frame[0].has & XSF_HAS_TCP_FLAGS), len >= 14 + 28 + 14);
	}
	/* A later fragment has no ports, the first one does. */
	w.p[14 + 6] = 0x20;
	f = fields_of(&w, 1, w.len);
	assert_true(f.frame[0].has & XSF_HAS_FRAGMENT && f.frame[0].has & XSF_HAS_TCP);
	assert_int_equal(f.frame[0].more_fragments, 1);
	w.p[14 + 7] = 2;
	f = fields_of(&w, 1, w.len);
	is_stack(&f, "eth.ip");
	assert_int_equal(f.frame[0].fragment_off, 16);
	/* ICMPv6 behind an extension header, without Ethernet. */
	w.len = 0;
	wire_ip6(&w, 0x2e, 0, 16 + 8);
	wire_ext(&w, 58, 1);
	wire_bytes(&w, "\x87\1\0\0\0\0\0\0", 8);
	f = fields_of(&w, 12, w.len);
	is_stack(&f, "ip6.icmp6");
	assert_int_equal(f.frame[0].protocol, 58);
	assert_int_equal(f.frame[0].icmp_type, 0x87);
	assert_int_equal(f.frame[0].icmp_code, 1);
	assert_int_equal(f.frame[0].ip_off, 0);
	assert_int_equal(f.frame[0].ip_bytes, 40 + 24);
	assert_int_equal(f.frame[0].tos, 0x2e);
	assert_memory_equal(f.frame[0].ip_source, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	/* Where the extension header is cut, the protocol is not known. */
	f = fields_of(&w, 12, 47);
	assert_false(f.frame[0].has & XSF_HAS_PROTOCOL);
}

static void test_tunnels(void **state)
{
	struct xsf_packet_fields f;
	struct wire w = { 0 };

	(void)state;
	wire_eth(&w, 0x86dd);
	wire_ip6(&w, 0, 17, 8 + 8 + 14 + 20 + 8 + 12 + 16);
	wire_udp(&w, 1, 4789, 8 + 14 + 20 + 8 + 12 + 16);
	wire_bytes(&w, "\x08\0\0\0\x12\x34\x56\0", 8);
	wire_roce4(&w, 10, 3, 16);
	f = fields_of(&w, 1, w.len);
	is_stack(&f, "eth.ip6.udp.vxlan.eth.ip.udp.ibbt");
	assert_int_equal(f.nr_frames, 2);
	assert_int_equal(f.frame[0].vni, 0x123456);
	assert_int_equal(f.frame[1].ip_off, 14 + 40 + 8 + 8 + 14);
	assert_int_equal(f.frame[1].tos, 3);
	assert_int_equal(f.roce.carrier, XSF_ROCE_TUNNEL);
	assert_int_equal(f.roce.off, 14 + 40 + 8 + 8 + 14 + 20 + 8);
	assert_int_equal(f.roce.has, XSF_HAS_ROCE | XSF_HAS_BTH | XSF_HAS_RETH);
	/* The last thing that is entered. */
	w.len = 0;
	wire_eth(&w, 0x8847);
	wire_32(&w, 0x00010040);
	wire_32(&w, 0x00020140);
	wire_ip4(&w, 0, 47, 0, 0, 24);
	wire_fill(&w, 0, 24);
	f = fields_of(&w, 1, w.len);
	is_stack(&f, "eth.mpls.ip.gre");
	assert_int_equal(f.frame[0].nr_labels, 2);
	assert_int_equal(f.frame[0].labels[0] >> 12, 16);
	assert_int_equal(f.frame[0].labels[1] >> 12, 32);
	assert_int_equal(f.frame[0].ethertype, 0x8847);
}

static void test_bth(void **state)
{
	struct xsf_packet_fields f;
	struct wire w = { 0 };

	(void)state;
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 0, 17, 0, 0, 8 + 16);
	wire_udp(&w, 1, 4791, 16);
	wire_bytes(&w, "\x11\xe5\x12\x34\xc0\xab\xcd\xef\x80\x12\x34\x56\x1f\0\0\0", 16);
	f = fields_of(&w, 1, w.len);
	assert_int_equal(f.roce.has, XSF_HAS_ROCE | XSF_HAS_BTH | XSF_HAS_AETH);
	assert_int_equal(f.roce.opcode, 0x11);
	assert_int_equal(f.roce.flags, 0xe5);
	assert_int_equal(f.roce.pkey, 0x1234);
	assert_int_equal(f.roce.fecn_becn, 3);
	assert_int_equal(f.roce.dest_qp, 0xabcdef);
	assert_int_equal(f.roce.ack_request, 1);
	assert_int_equal(f.roce.psn, 0x123456);
	assert_int_equal(f.roce.syndrome, 0x1f);
	/* RoCEv1. */
	w.len = 0;
	wire_eth(&w, 0x8915);
	wire_ip6(&w, 7, 27, 12);
	wire_bth(&w, 4, 0);
	f = fields_of(&w, 1, w.len);
	is_stack(&f, "eth.grh.ibbt");
	assert_int_equal(f.roce.carrier, XSF_ROCE_V1);
	assert_int_equal(f.roce.tos, 7);
	assert_false(f.frame[0].has & XSF_HAS_IP6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_counted), cmocka_unit_test(test_ethernet),
		cmocka_unit_test(test_ip),	   cmocka_unit_test(test_tunnels),
		cmocka_unit_test(test_bth),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
