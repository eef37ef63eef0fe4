// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/traffic.h"

#include <string.h>
#include <xsf/net.h>
#include <xsf/opcodes.h>

#define MTU 4096     /* of RDMA: payload of one packet */
#define DSCP_RDMA 26 /* lossless class of most fabrics */
#define DSCP_CNP 48
#define ECT0 2
#define TRIMMED_LEN 252 /* what a trimmed packet keeps, without FCS */
#define VLAN_TYPE(hop, type) ((hop)->vlan ? NET_TYPE_VLAN : (type))
#define PROTO_TCP 6
#define TCP_ACK 0x10
#define TCP_PSH 0x08
#define TCP_SYN 0x02

enum shape {
	TCP_DATA, /* also what every other kind falls back to, so the first */
	TCP_EMPTY,
	TCP_IP6,
	SYN,
	BGP,
	UDP,
	ARP,
	MDNS,
	ROCE,
	NAK,
	RNR,
	TRIMMED,
	VXLAN,
};

struct kind {
	uint8_t shape;
	uint8_t opcode;
	uint8_t reach;
	uint16_t weight[XSF_PHASES]; /* of XSF_TRAFFIC_DRAWS; TCP_DATA takes what is left */
};

static const struct kind kinds[] = {
	{ TCP_DATA, 0, XSF_FORWARD, { 0, 0, 0 } },
	{ SYN, 0, XSF_FORWARD, { 8, 1, 1 } },
	{ TCP_EMPTY, 0, XSF_BACKWARD, { 240, 30, 30 } },
	{ TCP_IP6, 0, XSF_FORWARD, { 60, 10, 10 } },
	{ BGP, 0, XSF_TO_SWITCH, { 16, 2, 2 } },
	{ UDP, 0, XSF_FORWARD, { 80, 8, 8 } },
	{ ARP, 0, XSF_FLOODED, { 24, 2, 2 } },
	{ MDNS, 0, XSF_FLOODED, { 20, 2, 2 } },
	{ ROCE, 0x00, XSF_FORWARD, { 2, 10, 8 } }, /* SEND First, Middle, Last, Only */
	{ ROCE, 0x01, XSF_FORWARD, { 4, 40, 32 } },
	{ ROCE, 0x02, XSF_FORWARD, { 2, 10, 8 } },
	{ ROCE, 0x04, XSF_FORWARD, { 24, 30, 24 } },
	{ ROCE, 0x17, XSF_FORWARD, { 0, 4, 4 } },   /* SEND Only with Invalidate */
	{ ROCE, 0x06, XSF_FORWARD, { 4, 24, 20 } }, /* RDMA WRITE */
	{ ROCE, 0x07, XSF_FORWARD, { 30, 410, 340 } },
	{ ROCE, 0x08, XSF_FORWARD, { 4, 20, 16 } },
	{ ROCE, 0x09, XSF_FORWARD, { 0, 4, 4 } },
	{ ROCE, 0x0a, XSF_FORWARD, { 8, 30, 24 } },
	{ ROCE, 0x0b, XSF_FORWARD, { 2, 6, 6 } },
	{ ROCE, 0x0c, XSF_FORWARD, { 6, 12, 10 } }, /* RDMA READ Request, Response */
	{ ROCE, 0x0d, XSF_BACKWARD, { 2, 8, 8 } },
	{ ROCE, 0x0e, XSF_BACKWARD, { 6, 60, 50 } },
	{ ROCE, 0x0f, XSF_BACKWARD, { 2, 8, 8 } },
	{ ROCE, 0x10, XSF_BACKWARD, { 4, 8, 8 } },
	{ ROCE, 0x11, XSF_BACKWARD, { 80, 150, 140 } }, /* Acknowledge */
	{ NAK, 0x11, XSF_BACKWARD, { 0, 1, 6 } },
	{ RNR, 0x11, XSF_BACKWARD, { 0, 1, 4 } },
	{ ROCE, 0x12, XSF_BACKWARD, { 2, 4, 4 } }, /* ATOMIC Acknowledge, FetchAdd */
	{ ROCE, 0x14, XSF_FORWARD, { 2, 4, 4 } },
	{ ROCE, 0x64, XSF_FORWARD, { 30, 20, 20 } }, /* UD SEND Only */
	{ ROCE, 0x81, XSF_BACKWARD, { 0, 2, 60 } },  /* CNP */
	{ TRIMMED, 0x07, XSF_FORWARD, { 0, 0, 24 } },
	{ VXLAN, 0x0a, XSF_FORWARD, { 16, 24, 24 } },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))
_Static_assert(NR_KINDS <= 256, "a kind is one byte of the table");

#define HAS_RETH 1
#define HAS_AETH 2

static const uint8_t extensions[256] = {
#define EXTENSIONS(number, transport, ibta, op, reth, aeth) \
	[number] = ((reth) ? HAS_RETH : 0) | ((aeth) ? HAS_AETH : 0),
	XSF_OPCODES(EXTENSIONS)
};

void xsf_traffic_init(struct xsf_traffic_mix *mix)
{
	memset(mix, 0, sizeof(*mix)); /* kind 0 */
	for (int phase = 0; phase < XSF_PHASES; phase++) {
		uint32_t at = 0;

		for (uint32_t k = 0; k < NR_KINDS; k++) {
			for (uint32_t n = kinds[k].weight[phase]; n && at < XSF_TRAFFIC_DRAWS; n--)
				mix->kind[phase][at++] = (uint8_t)k;
		}
	}
}

uint32_t xsf_traffic_draw(const struct xsf_traffic_mix *mix, enum xsf_traffic_phase phase,
			  struct xsf_random *r)
{
	return mix->kind[phase][xsf_random_below(r, XSF_TRAFFIC_DRAWS)];
}

enum xsf_traffic_reach xsf_traffic_reach(uint32_t kind)
{
	return kinds[kind].reach;
}

uint32_t xsf_traffic_plain(void)
{
	return 0;
}

uint32_t xsf_traffic_unwanted(void)
{
	return 1;
}

static void put_link(struct xsf_frame *f, const struct xsf_traffic_hop *hop, uint16_t type)
{
	xsf_frame_ethernet(f, hop->dst_mac, hop->src_mac, VLAN_TYPE(hop, type));
	if (hop->vlan)
		xsf_frame_vlan(f, hop->vlan, type);
}

/* Link and network layer of a packet between the hosts of this hop. */
static void put_network(struct xsf_frame *f, const struct xsf_traffic_hop *hop, int ip6,
			uint8_t proto, uint8_t tos)
{
	struct xsf_frame_ip ip = {
		.tos = tos, .ttl = hop->ttl, .proto = proto, .id = (uint16_t)hop->flow
	};

	memcpy(ip.src, ip6 ? hop->src6 : hop->src4, 16);
	memcpy(ip.dst, ip6 ? hop->dst6 : hop->dst4, 16);
	put_link(f, hop, ip6 ? NET_TYPE_IP6 : NET_TYPE_IP4);
	if (ip6)
		xsf_frame_ip6(f, &ip);
	else
		xsf_frame_ip4(f, &ip);
}

static uint16_t ephemeral(uint32_t flow)
{
	return (uint16_t)(0xc000 | (flow & 0x3fff));
}

/* ECT(0), or CE where a queue on the way here was long. */
static uint8_t ecn(const struct xsf_traffic_hop *hop, struct xsf_random *r)
{
	/* of 1024, by switches passed */
	static const uint16_t marked[XSF_PHASES][3] = {
		[XSF_EXCHANGE] = { 0, 4, 10 },
		[XSF_CONGESTED] = { 0, 100, 220 },
	};

	return xsf_random_below(r, 1024) < marked[hop->phase][hop->passed] ? NET_ECN_CE : ECT0;
}

/* Payload bytes of one packet of an operation. */
static uint32_t roce_payload(uint8_t opcode, struct xsf_random *r)
{
	switch (opcode) {
	case 0x00: /* First and Middle are full */
	case 0x01:
	case 0x06:
	case 0x07:
	case 0x0d:
	case 0x0e:
		return MTU;
	case 0x0c: /* requests, acknowledgements, atomics, CNP carry none */
	case 0x11:
	case 0x12:
	case 0x14:
	case NET_OP_CNP:
		return 0;
	case 0x64: /* datagrams are short messages */
		return 1 + xsf_random_below(r, MTU / 2);
	}
	return 1 + xsf_random_below(r, MTU);
}

/* Message length that a RETH announces. */
static uint32_t message_length(uint8_t opcode, uint32_t payload, struct xsf_random *r)
{
	switch (opcode) {
	case 0x06: /* RDMA WRITE First: more than one packet */
		return (2 * MTU) << xsf_random_below(r, 8);
	case 0x0c: /* RDMA READ Request */
		return MTU << xsf_random_below(r, 9);
	}
	return payload;
}

/* AETH syndrome (IBTA volume 1, 9.7.5.2.1). */
static uint8_t draw_syndrome(enum shape shape, enum xsf_traffic_phase phase, struct xsf_random *r)
{
	uint32_t d = xsf_random_below(r, 64);

	if (shape == NAK)
		return d < 60 ? 0x60 :
				(uint8_t)(0x60 + 1 + (d & 1)); /* mostly PSN sequence error */
	if (shape == RNR)
		return (uint8_t)(0x20 | (d & 31));
	if (d < 16)
		return 31; /* no limit: shared receive queues */
	/* Credits run low while queues are long. */
	return (uint8_t)(phase == XSF_CONGESTED ? 2 + d % 12 : 8 + d % 23);
}

/* BTH and what follows it; returns payload bytes. */
static uint32_t put_roce(struct xsf_frame *f, const struct kind *k,
			 const struct xsf_traffic_hop *hop, struct xsf_random *r,
			 struct xsf_traffic_truth *t)
{
	uint32_t payload = roce_payload(k->opcode, r), pad = -payload & 3;
	uint64_t draw = xsf_random64(r);
	uint8_t rest[28] = { 0 };
	struct xsf_frame_bth bth = {
		.opcode = k->opcode,
		.flags = k->opcode == NET_OP_CNP ? 0 : 0x40, /* migrated: the usual state */
		.pad = (uint8_t)pad,
		.becn = k->opcode == NET_OP_CNP,
		.ack = extensions[k->opcode] & HAS_AETH ? 0 : !(draw & 7),
		.dest_qp = 0x100 + (hop->flow >> 3 & 0xffff),
		.psn = (uint32_t)(draw >> 8),
	};

	t->opcode = k->opcode;
	xsf_frame_bth(f, &bth);
	if (k->opcode >> 5 == 3) { /* DETH: Q_Key, source QP */
		rest[0] = 0x11;
		rest[3] = 0x01;
		rest[7] = (uint8_t)hop->flow;
		xsf_frame_raw(f, rest, 8);
	}
	if (extensions[k->opcode] & HAS_RETH) {
		t->has_reth = 1;
		t->dma_length = message_length(k->opcode, payload, r);
		xsf_frame_reth(f, 0x7f0000000000 | (draw & 0xfffffff000), hop->flow, t->dma_length);
	}
	if (extensions[k->opcode] & HAS_AETH) {
		t->syndrome = draw_syndrome(k->shape, hop->phase, r);
		xsf_frame_aeth(f, (uint8_t)t->syndrome, (uint32_t)(draw >> 32));
	}
	switch (k->opcode) {
	case 0x14: /* AtomicETH: address, key, addend, unused */
		rest[19] = 1;
		xsf_frame_raw(f, rest, 28);
		break;
	case 0x12: /* AtomicAckETH: the value before */
		xsf_frame_raw(f, rest, 8);
		break;
	case 0x09: /* ImmDt or IETH */
	case 0x0b:
	case 0x17:
		rest[0] = (uint8_t)draw;
		xsf_frame_raw(f, rest, 4);
		break;
	case NET_OP_CNP:
		xsf_frame_raw(f, rest, 16);
		break;
	}
	return payload + pad;
}

static uint32_t build_roce(const struct kind *k, const struct xsf_traffic_hop *hop,
			   struct xsf_random *r, struct xsf_frame *f, struct xsf_traffic_truth *t)
{
	/* A packet is trimmed where the queue is long: on the spine, towards the last leaf. */
	int trimmed = k->shape == TRIMMED && hop->passed == 2;
	uint32_t payload;

	if (k->opcode == NET_OP_CNP)
		t->roce_tos = DSCP_CNP << 2;
	else if (trimmed)
		t->roce_tos = NET_DSCP_TRIMMED << 2 | ECT0;
	else
		t->roce_tos = DSCP_RDMA << 2 | ecn(hop, r);
	t->tos = t->roce_tos;
	put_network(f, hop, hop->ip6, NET_PROTO_UDP, t->tos);
	xsf_frame_udp(f, ephemeral(hop->flow), NET_PORT_ROCE, 0);
	payload = put_roce(f, k, hop, r, t);
	return trimmed ? TRIMMED_LEN - f->len - 4 : payload;
}

/* RoCEv2 of a virtual network between the hosts, which wrap it themselves. */
static uint32_t build_vxlan(const struct kind *k, const struct xsf_traffic_hop *hop,
			    struct xsf_random *r, struct xsf_frame *f, struct xsf_traffic_truth *t)
{
	struct xsf_traffic_hop inner = *hop;

	t->tos = DSCP_RDMA << 2 | ecn(hop, r);
	t->roce_tos = DSCP_RDMA << 2 | ECT0;
	put_network(f, hop, 0, NET_PROTO_UDP, t->tos);
	xsf_frame_udp(f, ephemeral(hop->flow), NET_PORT_VXLAN, 0);
	xsf_frame_vxlan(f, 5000 + (hop->flow & 15));
	inner.vlan = 0;
	inner.ttl = 64;
	inner.src4[12] = inner.dst4[12] = 192; /* 192.168/16, host part as outside */
	inner.src4[13] = inner.dst4[13] = 168;
	inner.src_mac[0] = inner.dst_mac[0] = 0x06;
	put_network(f, &inner, 0, NET_PROTO_UDP, t->roce_tos);
	xsf_frame_udp(f, ephemeral(hop->flow * 7), NET_PORT_ROCE, 0);
	return put_roce(f, k, hop, r, t);
}

static uint32_t build_tcp(const struct kind *k, const struct xsf_traffic_hop *hop,
			  struct xsf_random *r, struct xsf_frame *f)
{
	static const uint8_t keepalive[19] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
					       255, 255, 255, 255, 255, 255, 0,	  19,  4 };
	uint64_t draw = xsf_random64(r);
	uint8_t flags = TCP_ACK;
	uint16_t port = 2049; /* storage */
	uint32_t payload = 0;

	if (k->shape == SYN) {
		flags = TCP_SYN;
		port = 23;
	} else if (k->shape == BGP) {
		flags |= TCP_PSH;
		port = 179;
	} else if (k->shape != TCP_EMPTY) {
		flags |= TCP_PSH;
		payload = draw & 3 ? 1448 : 64 + (uint32_t)(draw >> 4 & 1023);
	}
	put_network(f, hop, k->shape == TCP_IP6, PROTO_TCP, 0);
	xsf_frame_tcp(f, ephemeral(hop->flow), port, (uint32_t)draw, (uint32_t)(draw >> 32), flags);
	if (k->shape == BGP)
		xsf_frame_raw(f, keepalive, sizeof(keepalive));
	return payload;
}

static uint32_t build_flooded(const struct kind *k, const struct xsf_traffic_hop *hop,
			      struct xsf_frame *f, struct xsf_traffic_truth *t)
{
	static const uint8_t group_mac[6] = { 0x33, 0x33, 0, 0, 0, 0xfb };
	static const uint8_t group[16] = { 0xff, 2, [15] = 0xfb };
	struct xsf_traffic_hop to = *hop;

	if (k->shape == ARP) {
		t->broadcast = 1;
		memset(to.dst_mac, 0xff, 6);
		put_link(f, &to, 0x0806);
		xsf_frame_arp(f, hop->src_mac, hop->src4, hop->dst4);
		return 0;
	}
	t->multicast = 1;
	memcpy(to.dst_mac, group_mac, 6);
	memcpy(to.dst6, group, 16);
	to.ttl = 255;
	put_network(f, &to, 1, NET_PROTO_UDP, 0);
	xsf_frame_udp(f, 5353, 5353, 1);
	return 12; /* an empty DNS message */
}

void xsf_traffic_build(uint32_t kind, const struct xsf_traffic_hop *hop, struct xsf_random *r,
		       struct xsf_frame *f, struct xsf_traffic_truth *truth)
{
	const struct kind *k = &kinds[kind];
	uint32_t payload = 0;

	memset(truth, 0, sizeof(*truth));
	truth->opcode = -1;
	truth->syndrome = -1;
	xsf_frame_begin(f);
	switch (k->shape) {
	case TCP_DATA:
	case TCP_EMPTY:
	case TCP_IP6:
	case SYN:
	case BGP:
		payload = build_tcp(k, hop, r, f);
		break;
	case UDP:
		put_network(f, hop, hop->ip6, NET_PROTO_UDP, 0);
		xsf_frame_udp(f, ephemeral(hop->flow), 8125, 1);
		payload = 32 + (uint32_t)xsf_random_below(r, 400);
		break;
	case ARP:
	case MDNS:
		payload = build_flooded(k, hop, f, truth);
		break;
	case VXLAN:
		payload = build_vxlan(k, hop, r, f, truth);
		break;
	default:
		payload = build_roce(k, hop, r, f, truth);
	}
	xsf_frame_end(f, payload);
}
