// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "inputs.h"

#define AGENT 0xc0000201 /* 192.0.2.1 */

/* UDP to `port` in IPv4, with a BTH when it is RoCE's. */
static void udp4(struct wire *w, uint32_t tos, uint32_t port, uint32_t options, uint32_t opcode)
{
	wire_ip4(w, tos, 17, 0x4000, options, 8 + 60);
	wire_udp(w, 49152, port, 60);
	wire_bth(w, opcode, 0xc0);
	wire_fill(w, 0x11, 48);
}

static void udp6(struct wire *w, uint32_t class, uint32_t headers, uint32_t opcode)
{
	static const uint32_t kinds[] = { 0, 60, 43, 44, 60 };
	uint32_t i, len = 8 + 60;

	for (i = 0; i < headers; i++)
		len += kinds[i] == 44 ? 8 : 8 + 8 * i;
	wire_ip6(w, class, headers ? kinds[0] : 17, len);
	for (i = 0; i < headers; i++) {
		uint32_t next = i + 1 < headers ? kinds[i + 1] : 17;

		if (kinds[i] == 44)
			wire_fragment(w, next, 0, 0);
		else
			wire_ext(w, next, i);
	}
	wire_udp(w, 49152, 4791, 60);
	wire_bth(w, opcode, 0);
	wire_fill(w, 0x22, 48);
}

static void tags(struct wire *w, uint32_t n, uint32_t type)
{
	static const uint32_t kinds[] = { 0x88a8, 0x8100, 0x9100 };
	uint32_t i;

	wire_eth(w, n ? kinds[0] : type);
	for (i = 0; i < n; i++)
		wire_tag(w, 100 + i, i + 1 < n ? kinds[i + 1] : type);
}

static void labels(struct wire *w, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		wire_32(w, (16 + i) << 12 | (i + 1 == n) << 8 | 64);
}

void built_packet(uint32_t which, struct wire *w)
{
	w->len = 0;
	switch (which % BUILT_PACKETS) {
	case 0: /* the usual one, RDMA WRITE First */
		wire_roce4(w, 6, 2, 32);
		break;
	case 1: /* CE */
		wire_roce4(w, 10, 3, 32);
		break;
	case 2: /* Acknowledge with a NAK syndrome */
		wire_roce4(w, 17, 0, 16);
		w->p[14 + 20 + 8 + 12] = 0x60;
		break;
	case 3: /* CNP */
		wire_roce4(w, 0x81, 0xc0, 16);
		break;
	case 4: /* trimmed */
		wire_roce4(w, 7, 11 << 2, 0);
		break;
	case 5:
	case 6:
	case 7:
		tags(w, which % BUILT_PACKETS - 4, 0x0800);
		udp4(w, 0, 4791, 0, 4);
		break;
	case 8: /* IPv4 options */
		wire_eth(w, 0x0800);
		udp4(w, 3, 4791, 40, 12);
		break;
	case 9:
	case 10:
	case 11:
	case 12:
	case 13:
		wire_eth(w, 0x86dd);
		udp6(w, 3, which % BUILT_PACKETS - 9, 8);
		break;
	case 14: /* VXLAN around IPv4 */
		wire_eth(w, 0x0800);
		wire_ip4(w, 0, 17, 0, 0, 8 + 8 + 14 + 20 + 8 + 60);
		wire_udp(w, 49152, 4789, 8 + 14 + 20 + 8 + 60);
		wire_64(w, 0x0800000000006400);
		wire_eth(w, 0x0800);
		udp4(w, 3, 4791, 0, 10);
		break;
	case 15: /* VXLAN around a tagged IPv6 */
		wire_eth(w, 0x86dd);
		wire_ip6(w, 0, 17, 8 + 8 + 18 + 40 + 8 + 60);
		wire_udp(w, 49152, 4789, 8 + 18 + 40 + 8 + 60);
		wire_64(w, 0x0800000000006400);
		tags(w, 1, 0x86dd);
		udp6(w, 0, 0, 17);
		break;
	case 16: /* MPLS */
		wire_eth(w, 0x8847);
		labels(w, 4);
		udp4(w, 0, 4791, 0, 4);
		break;
	case 17:
		wire_eth(w, 0x8848);
		labels(w, 1);
		udp6(w, 3, 1, 4);
		break;
	case 18: /* GENEVE */
		wire_eth(w, 0x0800);
		udp4(w, 0, 6081, 0, 4);
		break;
	case 19: /* GRE */
		wire_eth(w, 0x0800);
		wire_ip4(w, 0, 47, 0, 0, 20);
		wire_fill(w, 0, 20);
		break;
	case 20: /* RoCEv1 */
		wire_eth(w, 0x8915);
		wire_ip6(w, 3, 27, 12 + 16);
		wire_bth(w, 12, 0);
		wire_64(w, 1);
		wire_32(w, 2);
		wire_32(w, 65537);
		break;
	case 21: /* TCP */
		wire_eth(w, 0x0800);
		wire_ip4(w, 11 << 2, 6, 0x4000, 0, 20);
		wire_fill(w, 0x50, 20);
		break;
	case 22: /* later fragment that looks like RoCE */
		wire_eth(w, 0x0800);
		wire_ip4(w, 0, 17, 0x2001, 0, 8 + 20);
		wire_udp(w, 49152, 4791, 20);
		wire_bth(w, 10, 0);
		wire_fill(w, 0, 8);
		break;
	default: /* ARP */
		wire_eth(w, 0x0806);
		wire_fill(w, 1, 46);
	}
}

static void flow_of(struct wire *w, uint32_t n, uint32_t protocol, uint32_t skip)
{
	struct wire packet;
	uint32_t body;

	built_packet(n, &packet);
	body = wire_flow(w, n + 1, 3, 1000 + n, 3, 4, 1);
	wire_header(w, protocol, packet.len + 4, packet.p + skip, packet.len - skip);
	wire_close(w, body);
}

static void flow_expanded_of(struct wire *w, uint32_t n)
{
	struct wire packet;
	uint32_t body;

	built_packet(n, &packet);
	body = wire_flow_expanded(w, n, 0, 0x01000005, 1u << n % 32,
				  (struct wire_if){ n % 4, n % 3 ? 0x01000005 : 0x3fffffff },
				  (struct wire_if){ n / 4 % 4, n % 5 ? 0x01000005 : 258 }, 1);
	wire_header(w, 1, packet.len + 4, packet.p, packet.len);
	wire_close(w, body);
}

/* Samples of agents without raw headers, and of odd ones. */
static void other_records(struct wire *w)
{
	uint32_t body = wire_flow(w, 1, 3, 100, 3, 4, 3), record;

	record = wire_open(w, 2);
	wire_32(w, 1000);
	wire_fill(w, 2, 12);
	wire_32(w, 0x0800);
	wire_close(w, record);
	record = wire_open(w, 3);
	wire_32(w, 990);
	wire_32(w, 17);
	wire_fill(w, 9, 8);
	wire_32(w, 49152);
	wire_32(w, 4791);
	wire_32(w, 0);
	wire_32(w, 3);
	wire_close(w, record);
	record = wire_open(w, 1001);
	wire_fill(w, 0, 16);
	wire_close(w, record);
	wire_close(w, body);

	body = wire_flow(w, 2, 4, 100, 3, 4, 1);
	record = wire_open(w, 4);
	wire_32(w, 1400);
	wire_32(w, 6);
	wire_fill(w, 9, 32);
	wire_32(w, 49152);
	wire_32(w, 443);
	wire_32(w, 0x10);
	wire_32(w, 11 << 2);
	wire_close(w, record);
	wire_close(w, body);

	body = wire_flow(w, 3, 3, 0, 3, 0x80000007, 0);
	wire_close(w, body);
}

static void counters_of(struct wire *w)
{
	uint32_t body = wire_counters(w, 1, 3, 3), record;

	wire_if_counters(w, 3, 1000);
	record = wire_open(w, 2);
	wire_fill(w, 0, 52);
	wire_close(w, record);
	wire_string(w, 1005, "swp1", 4);
	wire_close(w, body);
	body = wire_counters_expanded(w, 1, 2, 1, 2);
	wire_string(w, 2000, "leaf1.example.net", 17);
	wire_if_counters(w, 0x01000007, 7);
	wire_close(w, body);
	body = wire_counters_expanded(w, 2, 0, 0x01000007, 3);
	wire_lag(w, 0x01000100);
	wire_string(w, 1005, "a name of more than sixty-three bytes, which nobody gives to ports",
		    66);
	wire_if_counters(w, 0x01000007, 0xffffffff);
	wire_close(w, body);
	body = wire_counters(w, 2, 3, 0);
	wire_close(w, body);
}

/* The four records of fixed length. */
static void numbers_of(struct wire *w)
{
	uint32_t record;

	for (uint32_t tag = 1036; tag <= 1043; tag++) {
		if (tag != 1036 && tag != 1039 && tag != 1040 && tag != 1043)
			continue;
		record = wire_open(w, tag);
		wire_32(w, 0x01020300 + tag - 1036);
		if (tag == 1043)
			wire_32(w, 0xfffefdfc);
		wire_close(w, record);
	}
}

static void drops_of(struct wire *w)
{
	static const uint32_t reasons[] = { 258, 36, 511, 512, 0xffffffff };
	uint32_t i;

	for (i = 0; i < 5; i++) {
		uint32_t body =
			wire_drop(w, i + 1, 0, 3 * (i & 1), 10 + i, reasons[i], i < 3 ? 4 : 9);
		uint32_t record;
		struct wire packet;

		wire_string(w, 1038, "nf_hook_slow", 12);
		wire_string(w, 1042, "NETFILTER_DROP", 14);
		record = wire_open(w, 1041);
		wire_32(w, 8);
		wire_bytes(w, "l2_drops", 8);
		wire_32(w, 5);
		wire_bytes(w, "trap1\0\0\0", 8);
		wire_close(w, record);
		if (i >= 3) {
			numbers_of(w);
			wire_string(
				w, 1038,
				"a function of more than sixty-four bytes, which no kernel calls "
				"its own",
				71);
		}
		built_packet(i, &packet);
		wire_header(w, 1, packet.len, packet.p, packet.len);
		wire_close(w, body);
	}
}

void built_datagram(uint32_t which, struct wire *w)
{
	static const uint8_t agent6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 7 };
	uint32_t n, body;

	w->len = 0;
	which %= BUILT_DATAGRAMS;
	if (which == 8)
		wire_datagram6(w, agent6, 1, 1, 5000, 8);
	else
		wire_datagram(w, AGENT + which, which & 1, 100 + which, 1000 * which, 0);
	switch (which) {
	case 0:
	case 1:
	case 2:
	case 3:
		for (n = 6 * which; n < 6 * which + 6; n++)
			flow_of(w, n, 1, 0);
		break;
	case 4:
		for (n = 0; n < 6; n++)
			flow_expanded_of(w, n * 5);
		break;
	case 5:
		other_records(w);
		break;
	case 6:
		counters_of(w);
		break;
	case 7:
		drops_of(w);
		break;
	case 8:
		flow_of(w, 0, 1, 0);
		counters_of(w);
		other_records(w);
		break;
	case 9: /* header protocols */
		flow_of(w, 0, 11, 14);
		flow_of(w, 9, 12, 14);
		flow_of(w, 14, 11, 14);
		flow_of(w, 0, 7, 0);
		flow_of(w, 0, 12, 14);
		flow_of(w, 9, 11, 14);
		break;
	case 10: /* samples that are skipped, then one that is not */
		body = wire_open(w, 4300 << 12 | 1002);
		wire_fill(w, 0, 21);
		wire_close(w, body);
		body = wire_open(w, 77);
		wire_close(w, body);
		flow_of(w, 1, 1, 0);
		body = wire_open(w, 1 << 12 | 1);
		wire_fill(w, 0xff, 32);
		wire_close(w, body);
		flow_of(w, 2, 1, 0);
		break;
	case 11: /* many small records before the header */
		body = wire_flow(w, 1, 3, 10, 0x3fffffff, 0x40000102, 12);
		for (n = 0; n < 11; n++) {
			uint32_t record = wire_open(w, n & 1 ? 1012 : 9 << 12 | n);

			wire_fill(w, (uint8_t)n, n);
			wire_close(w, record);
		}
		wire_header(w, 1, 60, "\1\2\3\4\5", 5);
		wire_close(w, body);
	}
	/* The number of samples, by counting them. */
	n = 0;
	for (body = which == 8 ? 40 : 28; body < w->len; n++)
		body += 8 + ((wire_get32(w->p + body + 4) + 3) & ~3u);
	wire_put32(w->p + (which == 8 ? 36 : 24), n);
}
