// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/frame.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <xsf/net.h>

#define ETH_MIN 60
#define PROTO_TCP 6
#define TCP_LEN 20
#define ICRC_LEN 4

enum kind { LAYER_IP4, LAYER_IP6, LAYER_UDP, LAYER_UDP_SUM, LAYER_TCP, LAYER_BTH };

static const uint8_t mapped_prefix[12] = { [10] = 0xff, [11] = 0xff };

int xsf_addr_is_ip4(const uint8_t addr[16])
{
	return !memcmp(addr, mapped_prefix, sizeof(mapped_prefix));
}

static void store16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void store32(uint8_t *p, uint32_t v)
{
	store16(p, v >> 16);
	store16(p + 2, v);
}

static uint32_t load16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

/* Ones' complement sum of RFC 1071, not folded; len below 2^16, so 32 bits hold it. */
static uint32_t sum(const uint8_t *p, uint32_t len, uint32_t start)
{
	while (len > 1) {
		start += load16(p);
		p += 2;
		len -= 2;
	}
	return len ? start + ((uint32_t)*p << 8) : start;
}

static uint32_t fold(uint32_t s)
{
	s = (s & 0xffff) + (s >> 16);
	s = (s & 0xffff) + (s >> 16);
	return ~s & 0xffff;
}

void xsf_frame_begin(struct xsf_frame *f)
{
	memset(f, 0, sizeof(*f));
}

/* Room for `len` zero bytes, or NULL. */
static uint8_t *take(struct xsf_frame *f, uint32_t len)
{
	uint8_t *p = f->bytes + f->len;

	if (f->error || len > XSF_FRAME_BYTES - f->len) {
		f->error = -ENOSPC;
		return NULL;
	}
	f->len += len;
	return p;
}

static uint8_t *take_layer(struct xsf_frame *f, enum kind kind, uint32_t len)
{
	if (f->nr_layers == XSF_FRAME_LAYERS) {
		f->error = -ENOSPC;
		return NULL;
	}
	f->layers[f->nr_layers].kind = (uint8_t)kind;
	f->layers[f->nr_layers].off = (uint8_t)f->len;
	f->nr_layers++;
	return take(f, len);
}

void xsf_frame_raw(struct xsf_frame *f, const void *bytes, uint32_t len)
{
	uint8_t *p = take(f, len);

	if (p)
		memcpy(p, bytes, len);
}

void xsf_frame_ethernet(struct xsf_frame *f, const uint8_t dst[6], const uint8_t src[6],
			uint16_t type)
{
	uint8_t *p = take(f, NET_ETH_LEN);

	if (!p)
		return;
	memcpy(p, dst, 6);
	memcpy(p + 6, src, 6);
	store16(p + 12, type);
}

void xsf_frame_vlan(struct xsf_frame *f, uint16_t vlan, uint16_t type)
{
	uint8_t *p = take(f, NET_TAG_LEN);

	if (!p)
		return;
	store16(p, vlan);
	store16(p + 2, type);
}

void xsf_frame_ip4(struct xsf_frame *f, const struct xsf_frame_ip *ip)
{
	uint8_t *p = take_layer(f, LAYER_IP4, NET_IP4_LEN);

	if (!p)
		return;
	p[0] = 0x45;
	p[1] = ip->tos;
	store16(p + 4, ip->id);
	p[6] = 0x40; /* don't fragment */
	p[8] = ip->ttl;
	p[9] = ip->proto;
	memcpy(p + 12, ip->src + 12, 4);
	memcpy(p + 16, ip->dst + 12, 4);
}

void xsf_frame_ip6(struct xsf_frame *f, const struct xsf_frame_ip *ip)
{
	uint8_t *p = take_layer(f, LAYER_IP6, NET_IP6_LEN);

	if (!p)
		return;
	p[0] = (uint8_t)(0x60 | ip->tos >> 4);
	p[1] = (uint8_t)(ip->tos << 4);
	p[6] = ip->proto;
	p[7] = ip->ttl;
	memcpy(p + 8, ip->src, 16);
	memcpy(p + 24, ip->dst, 16);
}

void xsf_frame_udp(struct xsf_frame *f, uint16_t src, uint16_t dst, int checksum)
{
	uint8_t *p = take_layer(f, checksum ? LAYER_UDP_SUM : LAYER_UDP, NET_UDP_LEN);

	if (!p)
		return;
	store16(p, src);
	store16(p + 2, dst);
}

void xsf_frame_tcp(struct xsf_frame *f, uint16_t src, uint16_t dst, uint32_t seq, uint32_t ack,
		   uint8_t flags)
{
	uint8_t *p = take_layer(f, LAYER_TCP, TCP_LEN);

	if (!p)
		return;
	store16(p, src);
	store16(p + 2, dst);
	store32(p + 4, seq);
	store32(p + 8, ack);
	p[12] = TCP_LEN / 4 << 4;
	p[13] = flags;
	store16(p + 14, 0xffff); /* window */
}

void xsf_frame_vxlan(struct xsf_frame *f, uint32_t vni)
{
	uint8_t *p = take(f, NET_VXLAN_LEN);

	if (!p)
		return;
	p[0] = 0x08; /* the VNI is valid */
	store32(p + 4, vni << 8);
}

void xsf_frame_bth(struct xsf_frame *f, const struct xsf_frame_bth *b)
{
	uint8_t *p = take_layer(f, LAYER_BTH, NET_BTH_LEN);

	if (!p)
		return;
	p[0] = b->opcode;
	p[1] = (uint8_t)(b->flags | (b->pad & 3) << 4);
	store16(p + 2, 0xffff); /* default partition */
	store32(p + 4, (uint32_t)b->becn << 30 | (b->dest_qp & 0xffffff));
	store32(p + 8, (uint32_t)b->ack << 31 | (b->psn & 0xffffff));
}

void xsf_frame_reth(struct xsf_frame *f, uint64_t address, uint32_t key, uint32_t length)
{
	uint8_t *p = take(f, 16);

	if (!p)
		return;
	store32(p, (uint32_t)(address >> 32));
	store32(p + 4, (uint32_t)address);
	store32(p + 8, key);
	store32(p + 12, length);
}

void xsf_frame_aeth(struct xsf_frame *f, uint8_t syndrome, uint32_t msn)
{
	uint8_t *p = take(f, 4);

	if (p)
		store32(p, (uint32_t)syndrome << 24 | (msn & 0xffffff));
}

void xsf_frame_arp(struct xsf_frame *f, const uint8_t mac[6], const uint8_t src[16],
		   const uint8_t dst[16])
{
	static const uint8_t request[8] = { 0, 1, 8, 0, 6, 4, 0, 1 };
	uint8_t *p = take(f, 28);

	if (!p)
		return;
	memcpy(p, request, sizeof(request));
	memcpy(p + 8, mac, 6);
	memcpy(p + 14, src + 12, 4);
	memcpy(p + 24, dst + 12, 4);
}

/* Invariant CRC (IBTA annex A17.3.3): CRC-32 over eight bytes of ones, the IP packet with everything that
 * may change on the way set to ones, up to the CRC itself, which is sent low byte first. */
static void put_icrc(struct xsf_frame *f, uint32_t ip, int ip6, uint32_t bth, uint32_t end)
{
	uint8_t m[8 + XSF_FRAME_BYTES], *p = m + 8;
	uint32_t crc, len = end - ip;

	memset(m, 0xff, 8);
	memcpy(p, f->bytes + ip, len);
	if (ip6) {
		p[0] |= 0x0f; /* traffic class, flow label, hop limit */
		memset(p + 1, 0xff, 3);
		p[7] = 0xff;
	} else {
		p[1] = 0xff; /* type of service, time to live, checksum */
		p[8] = 0xff;
		memset(p + 10, 0xff, 2);
	}
	memset(p + (bth - ip) - 2, 0xff, 2); /* UDP checksum */
	p[bth - ip + 4] = 0xff;		     /* FECN, BECN and reserved */
	crc = (uint32_t)crc32(0, m, 8 + len);
	for (int i = 0; i < 4; i++)
		f->bytes[end + (uint32_t)i] = (uint8_t)(crc >> 8 * i);
}

/* Checksum of the transport header at `at`, its payload being zeros. */
static uint32_t transport_sum(const struct xsf_frame *f, uint32_t ip, int ip6, uint32_t at,
			      uint32_t end, uint32_t proto)
{
	uint32_t len = end - at, s;

	s = ip6 ? sum(f->bytes + ip + 8, 32, 0) : sum(f->bytes + ip + 12, 8, 0);
	s += proto + len;
	return fold(sum(f->bytes + at, f->len - at, s));
}

/* Lengths and checksums. Only the innermost transport header has one; a tunnel's UDP sends 0 (RFC 7348). */
static int finish_layers(struct xsf_frame *f, uint32_t end)
{
	uint32_t i, at, s, ip = 0;
	int ip6 = 0;

	for (i = 0; i < f->nr_layers; i++) {
		uint8_t *p = f->bytes + f->layers[i].off;

		at = f->layers[i].off;
		switch (f->layers[i].kind) {
		case LAYER_IP4:
			if (end - at > 0xffff)
				return -ERANGE;
			store16(p + 2, end - at);
			store16(p + 10, fold(sum(p, NET_IP4_LEN, 0)));
			ip = at;
			ip6 = 0;
			break;
		case LAYER_IP6:
			if (end - at - NET_IP6_LEN > 0xffff)
				return -ERANGE;
			store16(p + 4, end - at - NET_IP6_LEN);
			ip = at;
			ip6 = 1;
			break;
		case LAYER_UDP:
		case LAYER_UDP_SUM:
			store16(p + 4, end - at);
			if (f->layers[i].kind == LAYER_UDP)
				break;
			s = transport_sum(f, ip, ip6, at, end, NET_PROTO_UDP);
			store16(p + 6, s ? s : 0xffff);
			break;
		case LAYER_TCP:
			store16(p + 16, transport_sum(f, ip, ip6, at, end, PROTO_TCP));
			break;
		case LAYER_BTH:
			if (end <= XSF_FRAME_BYTES)
				put_icrc(f, ip, ip6, at, end - ICRC_LEN);
			break;
		}
	}
	return 0;
}

int xsf_frame_end(struct xsf_frame *f, uint32_t payload)
{
	uint32_t end;

	if (!f->error && payload > 0xffff)
		f->error = -ERANGE;
	if (f->error)
		return f->error;
	end = f->len + payload;
	if (f->nr_layers && f->layers[f->nr_layers - 1].kind == LAYER_BTH)
		end += ICRC_LEN;
	f->wire = end < ETH_MIN ? ETH_MIN : end;
	f->error = finish_layers(f, end);
	return f->error;
}

uint32_t xsf_frame_wrap(uint8_t *head, const uint8_t src[16], const uint8_t dst[16],
			uint16_t src_port, uint16_t dst_port, const uint8_t *payload, uint32_t len)
{
	static const uint8_t dst_mac[6] = { 2, 0, 0, 0, 0, 2 }, src_mac[6] = { 2, 0, 0, 0, 0, 1 };
	struct xsf_frame_ip ip = { .ttl = 64, .proto = NET_PROTO_UDP };
	int ip6 = !xsf_addr_is_ip4(src) || !xsf_addr_is_ip4(dst);
	struct xsf_frame f;
	uint32_t s;

	memcpy(ip.src, src, 16);
	memcpy(ip.dst, dst, 16);
	xsf_frame_begin(&f);
	xsf_frame_ethernet(&f, dst_mac, src_mac, ip6 ? NET_TYPE_IP6 : NET_TYPE_IP4);
	if (ip6)
		xsf_frame_ip6(&f, &ip);
	else
		xsf_frame_ip4(&f, &ip);
	xsf_frame_udp(&f, src_port, dst_port, 1);
	xsf_frame_end(&f, len);
	/* So far over zeros; the payload adds to it (RFC 1624). */
	s = ~load16(f.bytes + f.len - 2) & 0xffff;
	s = fold(sum(payload, len, s));
	store16(f.bytes + f.len - 2, s ? s : 0xffff);
	memcpy(head, f.bytes, f.len);
	return f.len;
}
