// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/packet_fields.h"

#include <string.h>
#include <xsf/abi.h>
#include <xsf/opcodes.h>
#include <xsf/sflow.h>

#define TYPE_ARP 0x0806
#define PROTO_ICMP 1
#define PROTO_TCP 6
#define PROTO_ICMP6 58

/* Offsets of DMA length and syndrome from the BTH; 0: none. */
static const struct {
	uint8_t reth, aeth;
} bth_table[256] = {
#define BTH_ENTRY(number, transport, ibta, op, reth, aeth) [number] = { reth, aeth },
	XSF_OPCODES(BTH_ENTRY)
};

static const char *const stack_names[XSF_NR_STACK_LAYERS] = {
#define STACK_NAME(name) [XSF_STACK_##name] = #name,
	XSF_STACK_LAYERS(STACK_NAME)
};

/* The bytes not read yet. `off` may be beyond `lim`: then there are none. */
struct reader {
	const uint8_t *p;
	uint32_t off;
	uint32_t lim;
	uint8_t tunnel; /* behind MPLS or inside VXLAN */
	struct xsf_packet_fields *out;
	struct xsf_frame_fields *f;
};

/* The n bytes at hand, or NULL; they stay at hand. off is below 2^16, n small. */
static const uint8_t *peek(const struct reader *r, uint32_t n)
{
	return r->off + n <= r->lim ? r->p + r->off : NULL;
}

static const uint8_t *take(struct reader *r, uint32_t n)
{
	const uint8_t *p = peek(r, n);

	if (p)
		r->off += n;
	return p;
}

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

static void mapped(uint8_t addr[16], const uint8_t ip4[4])
{
	memset(addr, 0, 10);
	addr[10] = addr[11] = 0xff;
	memcpy(addr + 12, ip4, 4);
}

static void push(struct reader *r, enum xsf_stack_layer layer)
{
	if (r->out->nr_stack < XSF_STACK_MAX)
		r->out->stack[r->out->nr_stack++] = (uint8_t)layer;
}

/* MPLS labels; returns the type behind them as far as it can be told (RFC 3032: IP by its version), or 0. */
static uint32_t labels(struct reader *r)
{
	const uint8_t *p;

	r->tunnel = 1;
	push(r, XSF_STACK_mpls);
	while (r->f->nr_labels < NET_MAX_LABELS) {
		p = take(r, NET_MPLS_LEN);
		if (!p)
			return 0;
		r->f->labels[r->f->nr_labels++] = be32(p);
		if (!(p[2] & 1))
			continue;
		p = peek(r, 1);
		if (!p)
			return 0;
		return p[0] >> 4 == 4 ? NET_TYPE_IP4 : p[0] >> 4 == 6 ? NET_TYPE_IP6 : 0;
	}
	return 0;
}

/* Ethernet, tags and labels; the type of what follows, 0: nothing is known of it. */
static uint32_t link_layer(struct reader *r)
{
	struct xsf_frame_fields *f = r->f;
	const uint8_t *p = take(r, NET_ETH_LEN);
	uint32_t type;

	if (!p)
		return 0;
	push(r, XSF_STACK_eth);
	f->has |= XSF_HAS_ETHERNET;
	memcpy(f->mac_destination, p, 6);
	memcpy(f->mac_source, p + 6, 6);
	type = be16(p + 12);
	f->ethertype = (uint16_t)type;
	while (f->nr_tags < NET_MAX_TAGS &&
	       (type == NET_TYPE_VLAN || type == NET_TYPE_QINQ || type == NET_TYPE_QINQ_OLD)) {
		p = take(r, NET_TAG_LEN);
		if (!p)
			return 0;
		f->tags[f->nr_tags++] = be16(p);
		type = be16(p + 2);
		f->ethertype = (uint16_t)type;
	}
	if (type == NET_TYPE_MPLS || type == NET_TYPE_MPLS_MULTICAST)
		return labels(r);
	return type;
}

/* RFC 826. */
static void arp(struct reader *r)
{
	struct xsf_frame_fields *f = r->f;
	const uint8_t *p = peek(r, 8);

	if (!p)
		return;
	push(r, XSF_STACK_arp);
	f->has |= XSF_HAS_ARP;
	f->arp_operation = be16(p + 6);
	/* Ethernet and IPv4, by their numbers and lengths. */
	if (be32(p) != 0x00010800 || be16(p + 4) != 0x0604 || !peek(r, 28))
		return;
	f->has |= XSF_HAS_ARP_IP;
	memcpy(f->arp_mac_sender, p + 8, 6);
	mapped(f->arp_ip_sender, p + 14);
	memcpy(f->arp_mac_target, p + 18, 6);
	mapped(f->arp_ip_target, p + 24);
}

/* Padding and FCS are not the packet's. A length that cannot be (0 in segmentation offload) is no limit. */
static void limit(struct reader *r, uint32_t header, uint32_t total)
{
	if (total > header && total < r->lim - r->off)
		r->lim = r->off + total;
}

/* 1: the header above IP is at hand. */
static int ip4(struct reader *r)
{
	struct xsf_frame_fields *f = r->f;
	const uint8_t *p = peek(r, NET_IP4_LEN);
	uint32_t len, fragment;

	if (!p)
		return 0;
	len = (p[0] & 15u) * 4;
	if (p[0] >> 4 != 4 || len < NET_IP4_LEN)
		return 0;
	push(r, XSF_STACK_ip);
	f->has |= XSF_HAS_IP4 | XSF_HAS_PROTOCOL;
	f->ip_off = r->off;
	f->tos = p[1];
	f->ip_bytes = be16(p + 2);
	f->ttl = p[8];
	f->protocol = p[9];
	mapped(f->ip_source, p + 12);
	mapped(f->ip_destination, p + 16);
	fragment = be16(p + 6);
	f->fragment_off = (uint16_t)((fragment & 0x1fff) * 8);
	f->more_fragments = fragment >> 13 & 1;
	if (f->fragment_off || f->more_fragments)
		f->has |= XSF_HAS_FRAGMENT;
	limit(r, len, f->ip_bytes);
	r->off += len;
	return !f->fragment_off;
}

static int ip6_extensions(struct reader *r)
{
	struct xsf_frame_fields *f = r->f;

	for (uint32_t i = 0; i < NET_MAX_EXT; i++) {
		uint32_t proto = f->protocol;
		const uint8_t *p;

		if (proto != NET_PROTO_HOPOPTS && proto != NET_PROTO_ROUTING &&
		    proto != NET_PROTO_DSTOPTS && proto != NET_PROTO_FRAGMENT)
			break;
		p = peek(r, 8);
		if (!p)
			return 0;
		f->protocol = p[0];
		if (proto != NET_PROTO_FRAGMENT) {
			r->off += 8 + p[1] * 8u;
			continue;
		}
		f->has |= XSF_HAS_FRAGMENT;
		f->fragment_off = be16(p + 2) & 0xfff8;
		f->more_fragments = p[3] & 1;
		r->off += 8;
		if (f->fragment_off)
			break;
	}
	f->has |= XSF_HAS_PROTOCOL;
	return !f->fragment_off;
}

static int ip6(struct reader *r)
{
	struct xsf_frame_fields *f = r->f;
	const uint8_t *p = peek(r, NET_IP6_LEN);
	uint32_t payload;

	if (!p || p[0] >> 4 != 6)
		return 0;
	push(r, XSF_STACK_ip6);
	f->has |= XSF_HAS_IP6;
	f->ip_off = r->off;
	f->tos = (uint8_t)(be16(p) >> 4);
	payload = be16(p + 4);
	f->ip_bytes = NET_IP6_LEN + payload;
	f->protocol = p[6];
	f->ttl = p[7];
	memcpy(f->ip_source, p + 8, 16);
	memcpy(f->ip_destination, p + 24, 16);
	limit(r, NET_IP6_LEN, f->ip_bytes);
	r->off += NET_IP6_LEN;
	return ip6_extensions(r);
}

/* The BTH and what follows it (IBTA volume 1, 9.2, 9.3 and 9.5). */
static void bth(struct reader *r, uint32_t carrier, uint8_t tos)
{
	struct xsf_roce_fields *roce = &r->out->roce;
	const uint8_t *p = peek(r, NET_BTH_LEN);
	uint32_t at;

	roce->has |= XSF_HAS_ROCE;
	roce->carrier = carrier;
	roce->tos = tos;
	if (!p)
		return;
	push(r, XSF_STACK_ibbt);
	roce->has |= XSF_HAS_BTH;
	roce->off = r->off;
	roce->opcode = p[0];
	roce->flags = p[1];
	roce->pkey = be16(p + 2);
	roce->fecn_becn = p[4] >> 6;
	roce->dest_qp = be24(p + 5);
	roce->ack_request = p[8] >> 7;
	roce->psn = be24(p + 9);
	at = bth_table[roce->opcode].reth;
	if (at && peek(r, at + 4)) {
		roce->has |= XSF_HAS_RETH;
		roce->dma_length = be32(p + at);
	}
	at = bth_table[roce->opcode].aeth;
	if (at && peek(r, at + 1)) {
		roce->has |= XSF_HAS_AETH;
		roce->syndrome = p[at];
	}
}

/* RoCEv1: a GRH, shaped like an IPv6 header (IBTA volume 1, 8.3). */
static void grh(struct reader *r)
{
	const uint8_t *p = peek(r, 2);
	uint8_t tos = p ? (uint8_t)(be16(p) >> 4) : 0;

	if (take(r, NET_GRH_LEN))
		push(r, XSF_STACK_grh);
	else
		r->off = r->lim;
	bth(r, XSF_ROCE_V1, tos);
}

static void tcp(struct reader *r)
{
	struct xsf_frame_fields *f = r->f;
	const uint8_t *p = peek(r, 4);

	if (!p)
		return;
	push(r, XSF_STACK_tcp);
	f->has |= XSF_HAS_TCP;
	f->source_port = be16(p);
	f->destination_port = be16(p + 2);
	if (!peek(r, 14))
		return;
	f->has |= XSF_HAS_TCP_FLAGS;
	f->tcp_sequence = be32(p + 4);
	f->tcp_ack = be32(p + 8);
	f->tcp_flags = be16(p + 12) & 0x1ff;
}

static void icmp(struct reader *r, enum xsf_stack_layer layer, uint32_t has)
{
	const uint8_t *p = peek(r, 2);

	if (!p)
		return;
	push(r, layer);
	r->f->has |= has;
	r->f->icmp_type = p[0];
	r->f->icmp_code = p[1];
}

/* 1: the frame inside VXLAN is at hand. */
static int udp(struct reader *r)
{
	struct xsf_frame_fields *f = r->f;
	const uint8_t *p = peek(r, 4);

	if (!p)
		return 0;
	push(r, XSF_STACK_udp);
	f->has |= XSF_HAS_UDP;
	f->source_port = be16(p);
	f->destination_port = be16(p + 2);
	if (!take(r, NET_UDP_LEN))
		return 0;
	switch (f->destination_port) {
	case NET_PORT_ROCE:
		bth(r, r->tunnel ? XSF_ROCE_TUNNEL : XSF_ROCE_V2, f->tos);
		break;
	case NET_PORT_GENEVE:
		push(r, XSF_STACK_geneve);
		f->has |= XSF_HAS_GENEVE;
		break;
	case NET_PORT_VXLAN:
		p = take(r, NET_VXLAN_LEN);
		if (!p)
			break;
		push(r, XSF_STACK_vxlan);
		f->has |= XSF_HAS_VXLAN;
		f->vni = be24(p + 4);
		r->tunnel = 1;
		return 1;
	}
	return 0;
}

static int transport(struct reader *r)
{
	switch (r->f->protocol) {
	case PROTO_ICMP:
		if (r->f->has & XSF_HAS_IP4)
			icmp(r, XSF_STACK_icmp, XSF_HAS_ICMP);
		break;
	case PROTO_ICMP6:
		if (r->f->has & XSF_HAS_IP6)
			icmp(r, XSF_STACK_icmp6, XSF_HAS_ICMP6);
		break;
	case PROTO_TCP:
		tcp(r);
		break;
	case NET_PROTO_UDP:
		return udp(r);
	case NET_PROTO_GRE:
		push(r, XSF_STACK_gre);
		r->f->has |= XSF_HAS_GRE;
		break;
	}
	return 0;
}

/* One frame; 1: another one follows at r->off. */
static int frame(struct reader *r, uint32_t type)
{
	struct xsf_packet_fields *out = r->out;

	r->f = &out->frame[out->nr_frames++];
	memset(r->f, 0, sizeof(*r->f));
	if (!type)
		type = link_layer(r);
	switch (type) {
	case NET_TYPE_IP4:
		return ip4(r) && transport(r);
	case NET_TYPE_IP6:
		return ip6(r) && transport(r);
	case NET_TYPE_ROCE_V1:
		grh(r);
		break;
	case TYPE_ARP:
		arp(r);
		break;
	}
	return 0;
}

void xsf_packet_fields(const uint8_t *header, uint32_t len, uint32_t protocol,
		       struct xsf_packet_fields *out)
{
	struct reader r = { .p = header, .lim = len, .out = out };
	uint32_t type = 0;

	out->nr_frames = 0;
	out->nr_stack = 0;
	memset(&out->roce, 0, sizeof(out->roce));
	switch (protocol) {
	case SFLOW_PROTO_ETHERNET:
		break;
	case SFLOW_PROTO_IP4:
		type = NET_TYPE_IP4;
		break;
	case SFLOW_PROTO_IP6:
		type = NET_TYPE_IP6;
		break;
	default:
		return;
	}
	if (frame(&r, type))
		frame(&r, 0);
}

const char *xsf_stack_text(const struct xsf_packet_fields *fields, char *buf)
{
	char *at = buf;

	for (uint32_t i = 0; i < fields->nr_stack; i++) {
		if (i)
			*at++ = '.';
		at = stpcpy(at, stack_names[fields->stack[i]]);
	}
	*at = '\0';
	return buf;
}

const char *xsf_tcp_flags_text(uint16_t flags, char *buf)
{
	for (int i = 0; i < 9; i++)
		buf[i] = flags >> (8 - i) & 1 ? '1' : '0';
	buf[9] = '\0';
	return buf;
}

const char *xsf_mac_text(const uint8_t mac[6], char *buf)
{
	static const char digits[] = "0123456789ABCDEF";

	for (int i = 0; i < 6; i++) {
		buf[2 * i] = digits[mac[i] >> 4];
		buf[2 * i + 1] = digits[mac[i] & 15];
	}
	buf[12] = '\0';
	return buf;
}
