/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds the headers of packets, from the outside in: Ethernet, VLAN, IPv4, IPv6, UDP, TCP, VXLAN, ARP and
 * RoCEv2 (BTH, RETH, AETH, CNP). Payload is zeros and need not fit. xsf_frame_end() then fills in lengths,
 * checksums and the RoCE invariant CRC. Nothing is written beyond bytes[]. Pure. */
#ifndef XSF_FRAME_H
#define XSF_FRAME_H

#include <stdint.h>

/* Room for headers; more than any combination that the simulation makes. */
#define XSF_FRAME_BYTES 192
#define XSF_FRAME_LAYERS 6

struct xsf_frame {
	uint8_t bytes[XSF_FRAME_BYTES]; /* zeros behind len */
	uint32_t len;			/* bytes of headers */
	uint32_t wire;			/* after xsf_frame_end(): length without FCS */
	int error;			/* first one, negative errno */
	uint32_t nr_layers;
	struct {
		uint8_t kind;
		uint8_t off;
	} layers[XSF_FRAME_LAYERS];
};

/* Addresses are 16 bytes; IPv4 in v4-mapped form. */
struct xsf_frame_ip {
	uint8_t src[16];
	uint8_t dst[16];
	uint8_t tos; /* or traffic class */
	uint8_t ttl; /* or hop limit */
	uint8_t proto;
	uint16_t id; /* IPv4 only */
};

/* Base transport header (IBTA volume 1, 9.2). */
struct xsf_frame_bth {
	uint8_t opcode;
	uint8_t flags;	  /* SE 0x80, M 0x40 */
	uint8_t pad;	  /* 0..3: bytes that fill the payload up to 4 */
	uint8_t becn;	  /* 1: this tells of congestion */
	uint8_t ack;	  /* 1: an acknowledgement is asked for */
	uint32_t dest_qp; /* 24 bits */
	uint32_t psn;	  /* 24 bits */
};

void xsf_frame_begin(struct xsf_frame *f);
void xsf_frame_ethernet(struct xsf_frame *f, const uint8_t dst[6], const uint8_t src[6],
			uint16_t type);
/* After Ethernet or another tag, whose type must be NET_TYPE_VLAN. */
void xsf_frame_vlan(struct xsf_frame *f, uint16_t vlan, uint16_t type);
void xsf_frame_ip4(struct xsf_frame *f, const struct xsf_frame_ip *ip);
void xsf_frame_ip6(struct xsf_frame *f, const struct xsf_frame_ip *ip);
/* checksum 0: sent as 0, as RoCEv2 and VXLAN do; 1: computed, over a payload of zeros. */
void xsf_frame_udp(struct xsf_frame *f, uint16_t src, uint16_t dst, int checksum);
void xsf_frame_tcp(struct xsf_frame *f, uint16_t src, uint16_t dst, uint32_t seq, uint32_t ack,
		   uint8_t flags);
void xsf_frame_vxlan(struct xsf_frame *f, uint32_t vni);
void xsf_frame_bth(struct xsf_frame *f, const struct xsf_frame_bth *b);
void xsf_frame_reth(struct xsf_frame *f, uint64_t address, uint32_t key, uint32_t length);
void xsf_frame_aeth(struct xsf_frame *f, uint8_t syndrome, uint32_t msn);
/* An ARP request for the IPv4 address dst (v4-mapped). */
void xsf_frame_arp(struct xsf_frame *f, const uint8_t mac[6], const uint8_t src[16],
		   const uint8_t dst[16]);
/* Bytes as they are: what no function above knows. */
void xsf_frame_raw(struct xsf_frame *f, const void *bytes, uint32_t len);

/* `payload` more bytes follow the headers. 0, -ENOSPC (more headers than fit), -ERANGE (longer than an IP
 * packet can be). Short frames are padded to the 60 bytes of Ethernet. */
int xsf_frame_end(struct xsf_frame *f, uint32_t payload);

/* What an agent that samples the first `max` bytes sees of it. */
static inline uint32_t xsf_frame_seen(const struct xsf_frame *f, uint32_t max)
{
	uint32_t len = f->wire < XSF_FRAME_BYTES ? f->wire : XSF_FRAME_BYTES;

	return len < max ? len : max;
}

#define XSF_WRAP_BYTES (14 + 40 + 8)

/* Ethernet, IP and UDP headers of a whole packet with this payload and right checksums. IPv4 when both
 * addresses are v4-mapped. Returns their length, at most XSF_WRAP_BYTES; payloads up to 65,000 bytes. */
uint32_t xsf_frame_wrap(uint8_t *head, const uint8_t src[16], const uint8_t dst[16],
			uint16_t src_port, uint16_t dst_port, const uint8_t *payload, uint32_t len);

/* Is this the v4-mapped form of an IPv4 address (RFC 4291, 2.5.5.2)? */
int xsf_addr_is_ip4(const uint8_t addr[16]);

#endif
