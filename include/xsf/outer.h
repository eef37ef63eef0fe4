/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frame around a datagram, as it arrives: tags, IP, UDP, port. Works on packet pointers, so that the
 * kernel reads other people's traffic in place. */
#ifndef XSF_OUTER_H
#define XSF_OUTER_H

#include "abi.h"
#include "net.h"

#define XSF_ENUM_FRAME(name, help) XSF_FRAME_##name,
enum xsf_frame_outcome {
	XSF_FRAME_datagram,
	XSF_FRAME_OUTCOMES(XSF_ENUM_FRAME) XSF_NR_FRAME_OUTCOMES
};

struct xsf_outer {
	const __u8 *data;
	const __u8 *data_end; /* of what can be read in place */
	__u32 frame_len;      /* of the frame on the wire, from data */
	__u32 off;	      /* in: of the header that `type` names; out: of the UDP payload */
	__u32 type;	      /* in: EtherType */
	__u32 payload_len;    /* out; from the UDP header */
	__u32 first_fragment; /* out: 1 = first fragment to a configured port */
	__u32 bad_length;     /* out: 1 = UDP length does not fit the IP packet */
	__u32 telemetry; /* out: destination port, when it is a configured or a telemetry port; else 0 */
	__u32 source_port;
	__u8 source[16]; /* v4-mapped */
	__u8 destination[16] __attribute__((aligned(8)));
};

/* The outcome when `n` bytes at o->off cannot be read. */
static __always_inline __u32 xsf_outer_cut(const struct xsf_outer *o, __u32 n)
{
	return o->off + n > o->frame_len ? XSF_FRAME_short_frame : XSF_FRAME_capture_cut;
}

/* `n` readable bytes at o->off, or NULL. Offsets stay below 2^14: 14 + 8 + 40 + 3 * 2048. */
static __always_inline const __u8 *xsf_outer_at(const struct xsf_outer *o, __u32 n)
{
	const __u8 *p = o->data + (o->off & 0x3fff);

	return p + n > o->data_end ? 0 : p;
}

static __always_inline void xsf_map_ip4(__u8 *to, const __u8 *ip4)
{
	__builtin_memset(to, 0, 10);
	to[10] = 0xff;
	to[11] = 0xff;
	__builtin_memcpy(to + 12, ip4, 4);
}

static __always_inline int xsf_port_configured(const struct xsf_config *cfg, __u32 port)
{
	__u32 i;

	for (i = 0; i < XSF_MAX_PORTS; i++) {
		if (!cfg->ports[i])
			break;
		if (cfg->ports[i] == port)
			return 1;
	}
	return 0;
}

/* IPFIX (RFC 7011, 10.3.4), sFlow and NetFlow: what the ledger and the checksum program look at unasked. */
static __always_inline int xsf_port_telemetry(__u32 port)
{
	return port == 4739 || port == 6343 || port == 2055;
}

/* Classifies the frame and finds the payload: XSF_FRAME_datagram, or why not. */
static __always_inline __u32 xsf_outer_parse(struct xsf_outer *o, const struct xsf_config *cfg)
{
	__u32 proto, left, len, i, port, fragment = 0;
	const __u8 *p;

	o->first_fragment = 0;
	o->bad_length = 0;
	o->telemetry = 0;
	for (i = 0; i < NET_MAX_TAGS; i++) {
		if (o->type != NET_TYPE_VLAN && o->type != NET_TYPE_QINQ &&
		    o->type != NET_TYPE_QINQ_OLD)
			break;
		p = xsf_outer_at(o, NET_TAG_LEN);
		if (!p)
			return xsf_outer_cut(o, NET_TAG_LEN);
		o->type = xsf_be16(p + 2);
		o->off += NET_TAG_LEN;
	}

	if (o->type == NET_TYPE_IP4) {
		p = xsf_outer_at(o, NET_IP4_LEN);
		if (!p)
			return xsf_outer_cut(o, NET_IP4_LEN);
		len = (p[0] & 15) * 4;
		left = xsf_be16(p + 2);
		if (p[0] >> 4 != 4 || len < NET_IP4_LEN || left < len ||
		    left > o->frame_len - o->off)
			return XSF_FRAME_bad_ip;
		proto = p[9];
		if (proto != NET_PROTO_UDP)
			return XSF_FRAME_not_udp;
		fragment = xsf_be16(p + 6) & 0x3fff;
		if (fragment & 0x1fff)
			return XSF_FRAME_fragments;
		xsf_map_ip4(o->source, p + 12);
		xsf_map_ip4(o->destination, p + 16);
		o->off += len;
		left -= len;
	} else if (o->type == NET_TYPE_IP6) {
		p = xsf_outer_at(o, NET_IP6_LEN);
		if (!p)
			return xsf_outer_cut(o, NET_IP6_LEN);
		left = xsf_be16(p + 4);
		if (p[0] >> 4 != 6 || left + NET_IP6_LEN > o->frame_len - o->off)
			return XSF_FRAME_bad_ip;
		proto = p[6];
		__builtin_memcpy(o->source, p + 8, 16);
		__builtin_memcpy(o->destination, p + 24, 16);
		o->off += NET_IP6_LEN;
		for (i = 0; i <= NET_MAX_EXT; i++) {
			__u32 was = proto;

			if (was != NET_PROTO_HOPOPTS && was != NET_PROTO_ROUTING &&
			    was != NET_PROTO_DSTOPTS && was != NET_PROTO_FRAGMENT)
				break;
			if (i == NET_MAX_EXT)
				return XSF_FRAME_ext_depth;
			p = xsf_outer_at(o, 8);
			if (!p)
				return xsf_outer_cut(o, 8);
			proto = p[0];
			len = was == NET_PROTO_FRAGMENT ? 8 : 8 + p[1] * 8u;
			if (len > left)
				return XSF_FRAME_bad_ip;
			if (was == NET_PROTO_FRAGMENT) {
				fragment |= xsf_be16(p + 2) & 0xfff9;
				/* Later fragments name the first header that was cut off. */
				if (fragment & 0xfff8)
					return proto == NET_PROTO_UDP ? XSF_FRAME_fragments :
									XSF_FRAME_not_udp;
			}
			o->off += len;
			left -= len;
		}
		if (proto != NET_PROTO_UDP)
			return XSF_FRAME_not_udp;
	} else if (o->type == NET_TYPE_VLAN || o->type == NET_TYPE_QINQ ||
		   o->type == NET_TYPE_QINQ_OLD) {
		return XSF_FRAME_vlan_depth;
	} else {
		return XSF_FRAME_not_ip;
	}

	if (left < NET_UDP_LEN)
		return fragment ? XSF_FRAME_fragments : XSF_FRAME_short_frame;
	p = xsf_outer_at(o, NET_UDP_LEN);
	if (!p)
		return fragment ? XSF_FRAME_fragments : xsf_outer_cut(o, NET_UDP_LEN);
	port = xsf_be16(p + 2);
	if (!xsf_port_configured(cfg, port)) {
		if (xsf_port_telemetry(port))
			o->telemetry = port;
		return fragment ? XSF_FRAME_fragments : XSF_FRAME_other_port;
	}
	o->telemetry = port;
	if (fragment) {
		o->first_fragment = 1;
		return XSF_FRAME_fragments;
	}
	o->source_port = xsf_be16(p);
	len = xsf_be16(p + 4);
	o->off += NET_UDP_LEN;
	if (len < NET_UDP_LEN || len > left) {
		o->bad_length = 1;
		return XSF_FRAME_datagram;
	}
	o->payload_len = len - NET_UDP_LEN;
	return XSF_FRAME_datagram;
}

/* Counts a frame that is no datagram. */
static __always_inline void xsf_outer_count(struct xsf_totals *t, const struct xsf_outer *o,
					    __u64 outcome)
{
	XSF_OPAQUE(outcome);
	if (outcome > XSF_FRAME_datagram && outcome < XSF_NR_FRAME_OUTCOMES)
		(&t->short_frame)[outcome - XSF_FRAME_short_frame]++;
	if (o->first_fragment)
		t->fragments_first++;
}

#endif
