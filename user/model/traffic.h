/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The packets of an AI training fabric: what kinds there are, how often in which phase, and how one looks
 * at one hop of its way. Pure; the random numbers come from the caller. */
#ifndef XSF_TRAFFIC_H
#define XSF_TRAFFIC_H

#include "model/frame.h"
#include "model/random.h"

/* A training cycle: accelerators compute, then exchange what they found; late in the exchange queues build
 * up. */
enum xsf_traffic_phase { XSF_COMPUTE, XSF_EXCHANGE, XSF_CONGESTED, XSF_PHASES };

/* Which way a kind of packet goes. */
enum xsf_traffic_reach {
	XSF_FORWARD,  /* from a host to the next in its ring */
	XSF_BACKWARD, /* the other way: acknowledgements, CNPs */
	XSF_FLOODED,  /* stays within its leaf: broadcast, multicast */
	XSF_TO_SWITCH /* ends in the switch itself */
};

/* Draws are by table, so that one draw finds the kind. */
#define XSF_TRAFFIC_DRAWS 1024

struct xsf_traffic_mix {
	uint8_t kind[XSF_PHASES][XSF_TRAFFIC_DRAWS];
};

/* One packet on its way. Addresses are 16 bytes, IPv4 v4-mapped. */
struct xsf_traffic_hop {
	enum xsf_traffic_phase phase;
	uint32_t passed; /* switches before this one: 0..2 */
	uint32_t flow;	 /* anything that is the same for all packets of a connection */
	uint16_t vlan;	 /* 0 = untagged */
	uint8_t ttl;	 /* at this hop */
	uint8_t ip6;	 /* hosts talk IPv6 */
	uint8_t src_mac[6];
	uint8_t dst_mac[6];
	uint8_t src4[16], dst4[16];
	uint8_t src6[16], dst6[16];
};

/* What was built, besides the bytes. */
struct xsf_traffic_truth {
	int opcode; /* RoCEv2, in tunnels included; -1 = none */
	int has_reth;
	uint32_t dma_length;
	int syndrome; /* of an AETH; -1 = none */
	uint8_t tos;  /* of the outermost IP header; 0 without one */
	uint8_t roce_tos;
	uint8_t multicast;
	uint8_t broadcast;
};

void xsf_traffic_init(struct xsf_traffic_mix *mix);

/* A kind of packet of this phase. */
uint32_t xsf_traffic_draw(const struct xsf_traffic_mix *mix, enum xsf_traffic_phase phase,
			  struct xsf_random *r);

enum xsf_traffic_reach xsf_traffic_reach(uint32_t kind);

/* The kind that takes the place of one that cannot be met at a hop: plain TCP. */
uint32_t xsf_traffic_plain(void);

/* A SYN to a port that is filtered: what access lists drop. */
uint32_t xsf_traffic_unwanted(void);

/* A packet of that kind at that hop; always fits. */
void xsf_traffic_build(uint32_t kind, const struct xsf_traffic_hop *hop, struct xsf_random *r,
		       struct xsf_frame *f, struct xsf_traffic_truth *truth);

#endif
