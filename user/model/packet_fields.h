/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A sampled header as named fields: for the keys of flows, and for a line of text about a packet. Pure, and
 * bounded by the bytes given; the header can end anywhere, and what it does not hold is absent. Follows
 * tags, labels, extension headers and VXLAN as far as xsf/packet.h does, which decides what counts, and finds
 * the same BTH. */
#ifndef XSF_MODEL_PACKET_FIELDS_H
#define XSF_MODEL_PACKET_FIELDS_H

#include <stddef.h>
#include <stdint.h>
#include <xsf/net.h>

/* What is there, of a frame. */
#define XSF_HAS_ETHERNET 1 /* MAC addresses and ethertype */
#define XSF_HAS_ARP 2	   /* arp_operation */
#define XSF_HAS_ARP_IP 4   /* IPv4 over Ethernet: the addresses */
#define XSF_HAS_IP4 8	   /* the fixed header, whole; likewise IPv6 */
#define XSF_HAS_IP6 16
#define XSF_HAS_FRAGMENT 32 /* one of several, or an atomic fragment of IPv6 */
#define XSF_HAS_ICMP 64	    /* type and code */
#define XSF_HAS_ICMP6 128
#define XSF_HAS_TCP 256 /* ports */
#define XSF_HAS_TCP_FLAGS 512
#define XSF_HAS_UDP 1024   /* ports */
#define XSF_HAS_VXLAN 2048 /* vni */
#define XSF_HAS_GRE 4096   /* named, not entered; likewise GENEVE */
#define XSF_HAS_GENEVE 8192
#define XSF_HAS_PROTOCOL 16384 /* protocol: of IPv6 only where its extension headers were there */

struct xsf_frame_fields {
	uint32_t has; /* XSF_HAS_* */
	uint8_t mac_destination[6];
	uint8_t mac_source[6];
	uint16_t ethertype; /* behind the tags */
	uint8_t nr_tags;
	uint8_t nr_labels;
	uint16_t tags[NET_MAX_TAGS];	 /* priority, drop eligible, and 12 bits of VLAN */
	uint32_t labels[NET_MAX_LABELS]; /* 20 bits of label, class, bottom, TTL */
	uint16_t arp_operation;
	uint8_t arp_mac_sender[6];
	uint8_t arp_mac_target[6];
	uint8_t arp_ip_sender[16]; /* v4-mapped */
	uint8_t arp_ip_target[16];
	uint32_t ip_off;       /* from the start of the sampled header */
	uint8_t ip_source[16]; /* IPv4: v4-mapped */
	uint8_t ip_destination[16];
	uint32_t ip_bytes; /* header included, as the header says */
	uint8_t tos;	   /* or traffic class */
	uint8_t ttl;
	uint8_t protocol; /* of IPv6: behind its extension headers */
	uint8_t more_fragments;
	uint16_t fragment_off; /* bytes */
	uint8_t icmp_type;
	uint8_t icmp_code;
	uint16_t source_port;
	uint16_t destination_port;
	uint16_t tcp_flags; /* 9 bits: NS CWR ECE URG ACK PSH RST SYN FIN */
	uint32_t tcp_sequence;
	uint32_t tcp_ack;
	uint32_t vni;
};

/* Layers by name; a tag has none. */
/* clang-format off */
#define XSF_STACK_LAYERS(X) \
	X(eth) X(mpls) X(arp) X(ip) X(ip6) X(icmp) X(icmp6) X(tcp) X(udp) X(gre) X(geneve) X(vxlan) \
	X(grh) X(ibbt)
/* clang-format on */
#define XSF_STACK_ENUM(name) XSF_STACK_##name,
enum xsf_stack_layer { XSF_STACK_LAYERS(XSF_STACK_ENUM) XSF_NR_STACK_LAYERS };

#define XSF_STACK_MAX 12  /* eth.mpls.ip6.udp.vxlan.eth.mpls.ip6.udp.ibbt, and room */
#define XSF_STACK_TEXT 80 /* bytes of its text */

/* RoCE: the last layer there is. */
#define XSF_HAS_ROCE 1 /* it is RoCE, by port or ethertype */
#define XSF_HAS_BTH 2
#define XSF_HAS_RETH 4 /* dma_length */
#define XSF_HAS_AETH 8 /* syndrome */

struct xsf_roce_fields {
	uint32_t has;
	uint32_t carrier; /* enum xsf_carrier */
	uint32_t off;	  /* of the BTH, from the start of the sampled header */
	uint8_t tos;	  /* of the IP header or GRH that carries it */
	uint8_t opcode;
	uint8_t flags;	   /* SE, M, PadCnt (2), TVer (4) */
	uint8_t fecn_becn; /* the two upper bits */
	uint16_t pkey;
	uint8_t ack_request;
	uint8_t syndrome;
	uint32_t dest_qp;
	uint32_t psn;
	uint32_t dma_length;
};

struct xsf_packet_fields {
	uint32_t nr_frames; /* 2: one inside VXLAN; 0: a header_protocol that is not decoded */
	uint32_t nr_stack;
	uint8_t stack[XSF_STACK_MAX]; /* enum xsf_stack_layer */
	struct xsf_roce_fields roce;
	struct xsf_frame_fields frame[2]; /* only nr_frames of them are set */
};

/* Reads `len` bytes of a header of this header_protocol (1 Ethernet, 11 IPv4, 12 IPv6; others: nothing). */
void xsf_packet_fields(const uint8_t *header, uint32_t len, uint32_t protocol,
		       struct xsf_packet_fields *out);

/* "eth.ip.udp.ibbt"; "" where nothing is known. buf of XSF_STACK_TEXT bytes; returns it. */
const char *xsf_stack_text(const struct xsf_packet_fields *fields, char *buf);

/* "000010000": NS first, FIN last. buf of 10 bytes; returns it. */
const char *xsf_tcp_flags_text(uint16_t flags, char *buf);

/* "0200000000FF". buf of 13 bytes; returns it. */
const char *xsf_mac_text(const uint8_t mac[6], char *buf);

#endif
