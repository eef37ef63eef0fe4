/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sampled packet: Ethernet, VLAN, MPLS, IPv4, IPv6, UDP, VXLAN, RoCE. Reads the bytes of one sampled
 * header, never beyond its own length. Loops over layers are short and bounded; the outcome names where
 * reading stopped. */
#ifndef XSF_PACKET_H
#define XSF_PACKET_H

#include "abi.h"
#include "net.h"
#include "opcodes.h"
#include "sflow.h"
#include "state.h"

#define XSF_ENUM_HEADER(name, help) XSF_HEADER_##name,
enum xsf_header_outcome { XSF_HEADER_OUTCOMES(XSF_ENUM_HEADER) XSF_NR_HEADER_OUTCOMES };

/* Offsets of the DMA length (low nibbles) and the syndrome (high ones) in words from the BTH; 0 = none. */
#define XSF_BTH_ENTRY(number, transport, ibta, op, reth, aeth) \
	[number] = (reth) / 4 | (aeth) / 4 << 4,
static const __u8 xsf_bth_table[256] = { XSF_OPCODES(XSF_BTH_ENTRY) };

/* Where the next layer starts, and how it was announced. */
struct xsf_layer {
	__u32 off;
	__u32 lim;
	__u32 type;  /* EtherType */
	__u32 proto; /* IP protocol */
	__u8 tos;
	__u8 tunnel; /* behind MPLS or inside VXLAN */
};

/* VLAN tags, then MPLS labels. 0: l->type is a network layer; else an outcome. */
static __always_inline __u32 xsf_packet_link(struct xsf_walk *w, struct xsf_layer *l)
{
	__u32 i;

	if (!xsf_fits(l->off, NET_ETH_LEN, l->lim))
		return XSF_HEADER_cut;
	l->type = xsf_be16(xsf_at(w, l->off) + 12);
	l->off += NET_ETH_LEN;
	for (i = 0; i < NET_MAX_TAGS; i++) {
		if (l->type != NET_TYPE_VLAN && l->type != NET_TYPE_QINQ &&
		    l->type != NET_TYPE_QINQ_OLD)
			break;
		if (!xsf_fits(l->off, NET_TAG_LEN, l->lim))
			return XSF_HEADER_cut;
		l->type = xsf_be16(xsf_at(w, l->off) + 2);
		l->off += NET_TAG_LEN;
	}
	if (l->type != NET_TYPE_MPLS && l->type != NET_TYPE_MPLS_MULTICAST)
		return 0;
	l->tunnel = 1;
	l->type = 0;
	for (i = 0; i < NET_MAX_LABELS; i++) {
		__u32 bottom;

		if (!xsf_fits(l->off, NET_MPLS_LEN, l->lim))
			return XSF_HEADER_cut;
		bottom = xsf_at(w, l->off)[2] & 1;
		l->off += NET_MPLS_LEN;
		if (!bottom)
			continue;
		/* Nothing announces what follows the last label (RFC 3032); IP by its version. */
		if (!xsf_fits(l->off, 1, l->lim))
			return XSF_HEADER_cut;
		switch (xsf_at(w, l->off)[0] >> 4) {
		case 4:
			l->type = NET_TYPE_IP4;
			break;
		case 6:
			l->type = NET_TYPE_IP6;
			break;
		}
		break;
	}
	return 0;
}

/* Bytes behind the IP packet are padding or FCS. A length that cannot be (0 in segmentation offload) is
 * no limit. */
static __always_inline void xsf_packet_limit(struct xsf_layer *l, __u32 header, __u32 total)
{
	if (total > header && total < l->lim - l->off)
		l->lim = l->off + total;
}

static __always_inline __u32 xsf_packet_ip4(struct xsf_walk *w, struct xsf_layer *l)
{
	const __u8 *p;
	__u32 len;

	if (!xsf_fits(l->off, NET_IP4_LEN, l->lim))
		return XSF_HEADER_cut;
	p = xsf_at(w, l->off);
	len = (p[0] & 15) * 4;
	if (p[0] >> 4 != 4 || len < NET_IP4_LEN)
		return XSF_HEADER_bad_ip;
	l->tos = p[1];
	l->proto = p[9];
	xsf_packet_limit(l, len, xsf_be16(p + 2));
	l->off += len;
	if (xsf_be16(p + 6) & 0x1fff)
		return XSF_HEADER_fragment;
	return 0;
}

static __always_inline __u32 xsf_packet_ip6(struct xsf_walk *w, struct xsf_layer *l)
{
	const __u8 *p;
	__u32 i;

	if (!xsf_fits(l->off, NET_IP6_LEN, l->lim))
		return XSF_HEADER_cut;
	p = xsf_at(w, l->off);
	if (p[0] >> 4 != 6)
		return XSF_HEADER_bad_ip;
	l->tos = (__u8)(xsf_be16(p) >> 4);
	l->proto = p[6];
	xsf_packet_limit(l, NET_IP6_LEN, NET_IP6_LEN + xsf_be16(p + 4));
	l->off += NET_IP6_LEN;
	for (i = 0; i < NET_MAX_EXT; i++) {
		__u32 proto = l->proto;

		if (proto != NET_PROTO_HOPOPTS && proto != NET_PROTO_ROUTING &&
		    proto != NET_PROTO_DSTOPTS && proto != NET_PROTO_FRAGMENT)
			return 0;
		if (!xsf_fits(l->off, 8, l->lim))
			return XSF_HEADER_ip;
		p = xsf_at(w, l->off);
		l->proto = p[0];
		if (proto == NET_PROTO_FRAGMENT) {
			l->off += 8;
			if (xsf_be16(p + 2) & 0xfff8)
				return XSF_HEADER_fragment;
		} else {
			l->off += 8 + p[1] * 8u;
		}
	}
	return 0;
}

/* The BTH at l->off and what follows it (IBTA volume 1, 9.2, 9.3 and 9.5). */
static __always_inline void xsf_packet_bth(struct xsf_walk *w, const struct xsf_layer *l,
					   __u32 carrier, struct xsf_packet *out)
{
	const __u8 *p;
	__u32 at, entry;

	out->flags |= XSF_PKT_ROCE;
	out->roce_tos = l->tos;
	out->carrier = carrier;
	if (!xsf_fits(l->off, NET_BTH_LEN, l->lim)) {
		out->outcome = XSF_HEADER_bth_cut;
		return;
	}
	p = xsf_at(w, l->off);
	out->flags |= XSF_PKT_BTH;
	out->opcode = p[0];
	out->bth_flags = p[1];
	out->outcome = XSF_HEADER_roce + carrier;
	entry = xsf_bth_table[p[0]];
	at = (entry & 15) * 4;
	if (at && xsf_fits(l->off, at + 4, l->lim)) {
		out->dma_length = xsf_be32(p + at);
		out->flags |= XSF_PKT_RETH;
	}
	at = entry >> 4 << 2;
	/* A syndrome's own byte is enough. */
	if (at && xsf_fits(l->off, at + 1, l->lim)) {
		out->syndrome = p[at];
		out->flags |= XSF_PKT_AETH;
	}
}

/* One pass over link, network and transport layer. Returns 1 when a VXLAN payload starts at l->off. */
static __always_inline int xsf_packet_layers(struct xsf_walk *w, struct xsf_layer *l, int ethernet,
					     struct xsf_packet *out)
{
	const __u8 *p;
	__u32 stop, port;

	if (ethernet) {
		stop = xsf_packet_link(w, l);
		if (stop) {
			/* Inside a tunnel the outer packet stands. */
			if (!(out->flags & XSF_PKT_IP))
				out->outcome = stop;
			return 0;
		}
	}
	if (l->type == NET_TYPE_ROCE_V1) {
		/* GRH, shaped like an IPv6 header (IBTA volume 1, 8.3). */
		if (!xsf_fits(l->off, NET_GRH_LEN, l->lim)) {
			l->tos = xsf_fits(l->off, 2, l->lim) ?
					 (__u8)(xsf_be16(xsf_at(w, l->off)) >> 4) :
					 0;
			l->off = l->lim;
		} else {
			l->tos = (__u8)(xsf_be16(xsf_at(w, l->off)) >> 4);
			l->off += NET_GRH_LEN;
		}
		xsf_packet_bth(w, l, XSF_ROCE_V1, out);
		return 0;
	}
	if (l->type == NET_TYPE_IP4) {
		stop = xsf_packet_ip4(w, l);
	} else if (l->type == NET_TYPE_IP6) {
		stop = xsf_packet_ip6(w, l);
	} else {
		if (!(out->flags & XSF_PKT_IP))
			out->outcome = XSF_HEADER_not_ip;
		return 0;
	}
	if (!(out->flags & XSF_PKT_IP)) {
		if (stop == XSF_HEADER_cut || stop == XSF_HEADER_bad_ip) {
			out->outcome = stop;
			return 0;
		}
		out->flags |= XSF_PKT_IP;
		out->tos = l->tos;
		out->outcome = stop ? stop : XSF_HEADER_ip;
	}
	if (stop)
		return 0;
	if (l->proto == NET_PROTO_GRE) {
		out->outcome = XSF_HEADER_other_tunnel;
		return 0;
	}
	if (l->proto != NET_PROTO_UDP || !xsf_fits(l->off, NET_UDP_LEN, l->lim))
		return 0;
	p = xsf_at(w, l->off);
	port = xsf_be16(p + 2);
	l->off += NET_UDP_LEN;
	if (port == NET_PORT_ROCE) {
		xsf_packet_bth(w, l, l->tunnel ? XSF_ROCE_TUNNEL : XSF_ROCE_V2, out);
		return 0;
	}
	if (port == NET_PORT_GENEVE) {
		out->outcome = XSF_HEADER_other_tunnel;
		return 0;
	}
	if (port != NET_PORT_VXLAN || !xsf_fits(l->off, NET_VXLAN_LEN, l->lim))
		return 0;
	l->off += NET_VXLAN_LEN;
	l->tunnel = 1;
	return 1;
}

/* The usual packet of such a fabric, told by three words: Ethernet without a tag, IPv4 without options,
 * no later fragment, UDP to 4791. Returns 1 when it was one, and decoded; what xsf_packet_decode does
 * step by step ends the same. */
static __always_inline int xsf_packet_plain(struct xsf_walk *w, __u32 off, __u32 len,
					    struct xsf_packet *out)
{
	struct xsf_layer l = { .off = off + NET_ETH_LEN, .lim = off + len };
	const __u8 *p = xsf_at(w, off);

	if (len < NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN ||
	    (xsf_be32(p + 12) & 0xffffff00) != (NET_TYPE_IP4 << 16 | 0x4500) ||
	    (xsf_be32(p + 20) & 0x1fff00ff) != NET_PROTO_UDP || xsf_be16(p + 36) != NET_PORT_ROCE)
		return 0;
	xsf_packet_limit(&l, NET_IP4_LEN, xsf_be16(p + 16));
	l.off += NET_IP4_LEN + NET_UDP_LEN;
	if (l.off > l.lim)
		return 0;
	l.tos = p[15];
	out->tos = l.tos;
	out->flags = XSF_PKT_IP;
	xsf_packet_bth(w, &l, XSF_ROCE_V2, out);
	return 1;
}

/* Decodes the `len` bytes at `off` of the payload, of header_protocol `protocol`, to w->packet. */
XSF_GLOBAL int xsf_packet_decode(struct xsf_walk *w, __u32 off, __u32 len, __u32 protocol)
{
	struct xsf_layer l = { .off = off, .lim = off + len };
	int ethernet = protocol == SFLOW_PROTO_ETHERNET;
	struct xsf_packet *out;

	if (!w)
		return 0;
	out = &w->packet;
	out->flags = 0;
	out->carrier = 0;
	out->outcome = XSF_HEADER_other_protocol;
	if (protocol == SFLOW_PROTO_IP4)
		l.type = NET_TYPE_IP4;
	else if (protocol == SFLOW_PROTO_IP6)
		l.type = NET_TYPE_IP6;
	else if (!ethernet)
		return 0;
	if (xsf_packet_layers(w, &l, ethernet, out))
		xsf_packet_layers(w, &l, 1, out);
	return 0;
}

#endif
