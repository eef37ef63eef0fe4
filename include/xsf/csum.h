/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* UDP over IPv6 as it arrives: which datagrams are watched, whether their checksum is right (RFC 8200, 8.1),
 * and what to do when it is not. Reads headers in place where the packet allows it. */
#ifndef XSF_CSUM_H
#define XSF_CSUM_H

#include "csum_abi.h"
#include "net.h"

#ifndef XSF_CSUM_HANDLE
#error "define XSF_CSUM_HANDLE, the type that xsf_csum_load and the others take"
#endif

#define XSF_ENUM_CSUM_PACKET(name, help) XSF_CSUM_PACKET_##name,
enum xsf_csum_packet_outcome {
	XSF_CSUM_PACKET_datagram,
	XSF_CSUM_PACKET_OUTCOMES(XSF_ENUM_CSUM_PACKET) XSF_NR_CSUM_PACKET_OUTCOMES
};

#define XSF_ENUM_CSUM(name, help) XSF_CSUM_##name,
enum xsf_csum_outcome { XSF_CSUM_OUTCOMES(XSF_ENUM_CSUM) XSF_NR_CSUM_OUTCOMES };

/* skb->ip_summed (linux/skbuff.h). */
enum xsf_csum_summed {
	XSF_SUMMED_NONE,
	XSF_SUMMED_UNNECESSARY,
	XSF_SUMMED_COMPLETE,
	XSF_SUMMED_PARTIAL
};

/* Met on the way to the UDP header. */
#define XSF_CSUM_F_FRAGMENT 1 /* first fragment */
#define XSF_CSUM_F_ROUTING 2
#define XSF_CSUM_F_HOME 4
#define XSF_CSUM_F_LENGTH 8 /* IPv6 payload length does not fit */
#define XSF_CSUM_F_JUMBO 16

/* Options of one header that are looked at: Linux takes 8 by default, with at most 7 bytes of padding
 * before each (net.ipv6.max_dst_opts_number). */
#define XSF_CSUM_MAX_OPTIONS 64
#define XSF_CSUM_PAD1 0
#define XSF_CSUM_JUMBO 0xc2 /* RFC 2675 */
#define XSF_CSUM_HOME 0xc9  /* RFC 6275, 6.3 */

/* Longest link header that is believed. */
#define XSF_CSUM_MAX_LINK 128

#define XSF_CSUM_ADDRS 32 /* source and destination */
/* Longest extension header, and the longest text of a sum, rounded up to whole words. */
#define XSF_CSUM_EXT_LEN 2048
#define XSF_CSUM_MAX_SUM (XSF_CSUM_ADDRS + NET_UDP_LEN + XSF_MAX_PAYLOAD)
#define XSF_CSUM_BUF_LEN 9216 /* in pieces of 512 */

/* Per-CPU scratch: the text of the sum, without the pseudo header's length and next header. Before that,
 * an extension header. */
struct xsf_csum_text {
	/* On the way to the UDP header. Not on the stack, where the verifier would follow each value. */
	__u32 option; /* offset in buf */
	__u32 off;
	__u32 left;
	__u32 flags;
	__u32 proto;
	__u32 reserved;
	__u8 buf[XSF_CSUM_BUF_LEN];
};
_Static_assert(XSF_CSUM_BUF_LEN >= XSF_CSUM_MAX_SUM + 8 && XSF_CSUM_BUF_LEN % 8 == 0, "padding");

struct xsf_csum_packet {
	XSF_CSUM_HANDLE *handle; /* for the functions below */
	const __u8 *data;
	const __u8 *data_end; /* of what can be read in place */
	__u32 len;	      /* of the packet, from data */
	__u32 type;	      /* EtherType, skb->protocol */
	__u32 gso_size;	      /* not 0: several datagrams */
	/* out */
	__u32 ip;      /* offset of the IPv6 header */
	__u32 off;     /* of the header that comes next; at the end of the UDP header */
	__u32 left;    /* bytes from off to the end of the IPv6 payload, or of the packet */
	__u32 flags;   /* XSF_CSUM_F_* */
	__u32 udp_len; /* as the UDP header says */
	__u32 watched; /* struct xsf_csum_watch of the port */
};

/* What this needs of the place where the packet lies; whoever includes this defines it. `handle` is the
 * packet's. */
static __always_inline struct xsf_csum_text *xsf_csum_scratch(void); /* or NULL */
/* `len` bytes at `off`, a constant number of them; the other, any number that is not 0 to text->buf + at.
 * store writes a checksum. They return nonzero when it cannot be done. */
static __always_inline int xsf_csum_load(XSF_CSUM_HANDLE *handle, __u32 off, void *to, __u32 len);
static __always_inline int xsf_csum_load_text(XSF_CSUM_HANDLE *handle, __u32 off,
					      struct xsf_csum_text *text, __u32 at, __u32 len);
static __always_inline int xsf_csum_store(XSF_CSUM_HANDLE *handle, __u32 off, __u16 check,
					  __u32 summed);
/* Offset of the network header, negative when there is none. */
static __always_inline int xsf_csum_network(XSF_CSUM_HANDLE *handle);
/* enum xsf_csum_summed */
static __always_inline __u32 xsf_csum_summed(XSF_CSUM_HANDLE *handle);
/* The one's-complement sum, any number of carries unfolded, of seed and `len` bytes of buf, a multiple of 4
 * up to XSF_CSUM_BUF_LEN. */
static __always_inline __u64 xsf_csum_add(struct xsf_csum_text *text, __u32 len, __u32 seed);
/* Is the source at `addr` (16 bytes) in one of the policy's prefixes? */
static __always_inline int xsf_csum_listed(const __u8 *addr);

/* To 16 bits, with end-around carry. The result is 0 only for 0. */
static __always_inline __u32 xsf_csum_fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u32)((sum & 0xffff) + (sum >> 16));
}

/* The right checksum, as it lies in memory, given the folded sum with the present one in it. */
static __always_inline __u16 xsf_csum_right(__u32 sum, __u16 present)
{
	__u32 check = ~xsf_csum_fold((__u64)sum + (__u16)~present) & 0xffff;

	/* 0 would say that there is no checksum (RFC 768). */
	return (__u16)(check ? check : 0xffff);
}

/* The n bytes at `off`: in place or, where they are not in the first buffer, copied to tmp. NULL: the
 * packet ends before. Offsets stay far below 2^14. */
static __always_inline const __u8 *xsf_csum_get(const struct xsf_csum_packet *p, __u32 off, __u32 n,
						__u8 *tmp)
{
	__u64 o = off & 0x3fff;
	const __u8 *at;

	XSF_OPAQUE(o);
	at = p->data + o;
	if (at + n <= p->data_end)
		return at;
	return off + n > p->len || xsf_csum_load(p->handle, off, tmp, n) ? 0 : tmp;
}

/* One option of an extension header in the text. 1: it is `type`, 0: another, -1: there is none left. */
XSF_GLOBAL int xsf_csum_option(struct xsf_csum_text *text, __u32 len, __u32 type)
{
	__u64 o;
	__u32 is;

	if (!text)
		return -1;
	o = text->option & (XSF_CSUM_EXT_LEN - 1);
	XSF_OPAQUE(o);
	if (text->option >= len)
		return -1;
	is = text->buf[o];
	text->option += is == XSF_CSUM_PAD1 ? 1 : 2u + text->buf[o + 1];
	return is == type;
}

/* Is there one of that type among those of the first `len` bytes of the text? 0, 1, or -1: not all were
 * looked at. */
XSF_GLOBAL int xsf_csum_find_option(struct xsf_csum_text *text, __u32 len, __u32 type)
{
	__u64 i;
	int is;

	if (!text)
		return 0;
	text->option = 2; /* next header and length */
	for (i = 0; i < XSF_CSUM_MAX_OPTIONS; i++) {
		is = xsf_csum_option(text, len, type);
		if (is)
			return is > 0;
	}
	return text->option >= len ? 0 : -1;
}

/* Where the header that `type` names begins. Ethernet where it looks so, else as the kernel says: some
 * devices have no link header, and generic XDP hands on packets without theirs. 0 or an outcome. */
static __always_inline __u32 xsf_csum_link(struct xsf_csum_packet *p)
{
	__u8 tmp[16];
	const __u8 *at = xsf_csum_get(p, 0, sizeof(tmp), tmp);
	int network, ethernet;

	if (!at)
		return XSF_CSUM_PACKET_short_packet;
	ethernet = xsf_be16(at + 12) == p->type;
	/* Does an address begin as an IPv6 header of this packet would? */
	if (p->type == NET_TYPE_IP6 &&
	    (at[14] >> 4 != 6 ||
	     (at[0] >> 4 == 6 && (__u32)NET_IP6_LEN + xsf_be16(at + 4) <= p->len)))
		ethernet = 0;
	if (ethernet) {
		p->off = NET_ETH_LEN;
		return 0;
	}
	network = xsf_csum_network(p->handle);
	if (network < 0 || network > XSF_CSUM_MAX_LINK)
		return XSF_CSUM_PACKET_bad_ip;
	p->off = (__u32)network;
	return 0;
}

static __always_inline int xsf_csum_is_tag(__u32 type)
{
	return type == NET_TYPE_VLAN || type == NET_TYPE_QINQ || type == NET_TYPE_QINQ_OLD;
}

static __always_inline int xsf_csum_is_extension(__u32 proto)
{
	return proto == NET_PROTO_HOPOPTS || proto == NET_PROTO_ROUTING ||
	       proto == NET_PROTO_FRAGMENT || proto == NET_PROTO_DSTOPTS;
}

/* The extension header text->proto at text->off. 0 or an outcome. A function of its own: in a loop, 6.1
 * refuses what clang makes of it ("back-edge"). */
XSF_GLOBAL int xsf_csum_extension(XSF_CSUM_HANDLE *handle, struct xsf_csum_text *text)
{
	__u32 is, len, wanted = 0;
	__u8 at[8];
	int found;

	if (!text)
		return XSF_CSUM_PACKET_short_packet;
	is = text->proto;
	if (text->left < sizeof(at) || xsf_csum_load(handle, text->off, at, sizeof(at)))
		return XSF_CSUM_PACKET_short_packet;
	text->proto = at[0];
	len = is == NET_PROTO_FRAGMENT ? 8 : 8 + at[1] * 8u;
	if (len > text->left)
		return XSF_CSUM_PACKET_bad_ip;
	if (is == NET_PROTO_FRAGMENT) {
		__u32 fragment = xsf_be16(at + 2);

		/* Later fragments name the first header that was cut off. */
		if (fragment & 0xfff8)
			return at[0] == NET_PROTO_UDP ? XSF_CSUM_PACKET_fragments :
							XSF_CSUM_PACKET_not_udp;
		if (fragment & 1)
			text->flags |= XSF_CSUM_F_FRAGMENT;
	} else if (is == NET_PROTO_ROUTING) {
		if (at[3])
			text->flags |= XSF_CSUM_F_ROUTING;
	} else if (is == NET_PROTO_DSTOPTS) {
		wanted = XSF_CSUM_HOME;
	} else if (text->flags & XSF_CSUM_F_LENGTH) {
		wanted = XSF_CSUM_JUMBO;
	}
	if (wanted) {
		if (xsf_csum_load_text(handle, text->off, text, 0, len))
			return XSF_CSUM_PACKET_short_packet;
		found = xsf_csum_find_option(text, len, wanted);
		if (found < 0)
			return XSF_CSUM_PACKET_ext_depth;
		if (found)
			text->flags |= wanted == XSF_CSUM_HOME ? XSF_CSUM_F_HOME : XSF_CSUM_F_JUMBO;
	}
	text->off += len;
	text->left -= len;
	return 0;
}

/* The headers from text->off to UDP. An outcome; XSF_CSUM_PACKET_datagram: UDP is next. */
XSF_GLOBAL int xsf_csum_extensions(XSF_CSUM_HANDLE *handle, struct xsf_csum_text *text)
{
	__u32 i;

	if (!text)
		return XSF_CSUM_PACKET_short_packet;
	for (i = 0; i < NET_MAX_EXT; i++) {
		int outcome;

		if (!xsf_csum_is_extension(text->proto))
			break;
		outcome = xsf_csum_extension(handle, text);
		if (outcome)
			return outcome;
	}
	if (text->proto == NET_PROTO_UDP)
		return XSF_CSUM_PACKET_datagram;
	return xsf_csum_is_extension(text->proto) ? XSF_CSUM_PACKET_ext_depth :
						    XSF_CSUM_PACKET_not_udp;
}

/* The IPv6 header at p->off and what is between it and UDP. 0 or an outcome. */
static __always_inline __u32 xsf_csum_ip6(struct xsf_csum_packet *p)
{
	struct xsf_csum_text *text;
	__u32 proto, len, outcome;
	const __u8 *at;
	__u8 tmp[8];

	at = xsf_csum_get(p, p->off, 8, tmp);
	if (!at || p->off + NET_IP6_LEN > p->len)
		return XSF_CSUM_PACKET_short_packet;
	if (at[0] >> 4 != 6)
		return XSF_CSUM_PACKET_bad_ip;
	len = xsf_be16(at + 4);
	proto = at[6];
	p->ip = p->off;
	p->off += NET_IP6_LEN;
	p->left = p->len - p->off;
	/* 0 stands for a length in a hop-by-hop option. */
	if (len > p->left || (!len && proto == NET_PROTO_HOPOPTS))
		p->flags = XSF_CSUM_F_LENGTH;
	else
		p->left = len;
	if (proto == NET_PROTO_UDP)
		return 0;
	text = xsf_csum_scratch();
	if (!text)
		return XSF_CSUM_PACKET_short_packet;
	text->off = p->off;
	text->left = p->left;
	text->flags = p->flags;
	text->proto = proto;
	outcome = (__u32)xsf_csum_extensions(p->handle, text);
	p->off = text->off;
	p->left = text->left;
	p->flags = text->flags;
	return outcome;
}

/* The entry of a port, 0 when it is not watched. */
static __always_inline __u32 xsf_csum_watched(const struct xsf_csum_policy *policy, __u32 port)
{
	union {
		__u32 word;
		struct xsf_csum_watch watch;
	} is;
	__u32 i;

#define XSF_CSUM_DEFAULT(number, index) \
	if (port == (number)) { \
		is.watch = \
			(struct xsf_csum_watch){ .port = (number), .row = (index), .repair = 1 }; \
		return is.word; \
	}
	if (!policy->set) {
		XSF_CSUM_DEFAULTS(XSF_CSUM_DEFAULT)
		return 0;
	}
	for (i = 0; i < XSF_MAX_PORTS; i++) {
		is.word = XSF_LOAD32(&policy->watch[i]);
		XSF_OPAQUE(is.word);
		if (!is.watch.port)
			break;
		if (is.watch.port == port)
			return is.word;
	}
	return 0;
}

/* Finds the UDP header. XSF_CSUM_PACKET_datagram: to a watched port. */
static __always_inline __u32 xsf_csum_parse(struct xsf_csum_packet *p,
					    const struct xsf_csum_policy *policy)
{
	__u32 outcome, i;
	const __u8 *at;
	__u8 tmp[8];

	if (p->type != NET_TYPE_IP6 && !xsf_csum_is_tag(p->type))
		return XSF_CSUM_PACKET_not_ip6;
	outcome = xsf_csum_link(p);
	if (outcome)
		return outcome;
	for (i = 0; i < NET_MAX_TAGS; i++) {
		if (!xsf_csum_is_tag(p->type))
			break;
		at = xsf_csum_get(p, p->off, NET_TAG_LEN, tmp);
		if (!at)
			return XSF_CSUM_PACKET_short_packet;
		p->type = xsf_be16(at + 2);
		p->off += NET_TAG_LEN;
	}
	if (p->type != NET_TYPE_IP6)
		return xsf_csum_is_tag(p->type) ? XSF_CSUM_PACKET_vlan_depth :
						  XSF_CSUM_PACKET_not_ip6;
	outcome = xsf_csum_ip6(p);
	if (outcome)
		return outcome;
	at = p->left < NET_UDP_LEN ? 0 : xsf_csum_get(p, p->off, NET_UDP_LEN, tmp);
	if (!at)
		return p->flags & XSF_CSUM_F_FRAGMENT ? XSF_CSUM_PACKET_fragments :
							XSF_CSUM_PACKET_short_packet;
	p->watched = xsf_csum_watched(policy, xsf_be16(at + 2));
	if (!p->watched)
		return XSF_CSUM_PACKET_other_port;
	p->udp_len = xsf_be16(at + 4);
	return XSF_CSUM_PACKET_datagram;
}

/* Why the sum of a datagram cannot be told from this packet; XSF_CSUM_good: it can. */
static __always_inline __u32 xsf_csum_left(const struct xsf_csum_packet *p)
{
	if (p->flags & XSF_CSUM_F_JUMBO)
		return XSF_CSUM_left_jumbogram;
	if (p->flags & XSF_CSUM_F_FRAGMENT)
		return XSF_CSUM_left_fragment;
	if (p->gso_size)
		return XSF_CSUM_left_gso;
	if (p->flags & XSF_CSUM_F_ROUTING)
		return XSF_CSUM_left_routing;
	if (p->flags & XSF_CSUM_F_HOME)
		return XSF_CSUM_left_home_address;
	if (p->flags & XSF_CSUM_F_LENGTH || p->udp_len < NET_UDP_LEN || p->udp_len > p->left)
		return XSF_CSUM_left_bad_length;
	if (p->udp_len > NET_UDP_LEN + XSF_MAX_PAYLOAD)
		return XSF_CSUM_left_too_long;
	return XSF_CSUM_good;
}

/* Addresses and datagram to the text, and zeros behind. Nonzero: they could not be read. */
static __always_inline int xsf_csum_read(const struct xsf_csum_packet *p,
					 struct xsf_csum_text *text)
{
	__u64 len = p->udp_len;

	/* They are one piece where nothing lies between. */
	if (p->off - p->ip == NET_IP6_LEN) {
		if (xsf_csum_load_text(p->handle, p->ip + 8, text, 0, XSF_CSUM_ADDRS + p->udp_len))
			return -1;
	} else if (xsf_csum_load(p->handle, p->ip + 8, text->buf, XSF_CSUM_ADDRS) ||
		   xsf_csum_load_text(p->handle, p->off, text, XSF_CSUM_ADDRS, p->udp_len)) {
		return -1;
	}
	XSF_OPAQUE(len);
	if (len <= NET_UDP_LEN + XSF_MAX_PAYLOAD)
		__builtin_memset(text->buf + XSF_CSUM_ADDRS + len, 0, 4);
	return 0;
}

/* What becomes of a datagram to a watched port. Its addresses are in the text afterwards (zeros when they
 * could not be read). */
static __always_inline __u32 xsf_csum_judge(const struct xsf_csum_packet *p,
					    struct xsf_csum_text *text,
					    const struct xsf_csum_policy *policy)
{
	__u32 outcome = xsf_csum_left(p), sum, summed, zero;
	union {
		__u32 word;
		struct xsf_csum_watch watch;
	} watched = { .word = p->watched };
	__u16 present;

	if (outcome == XSF_CSUM_good && xsf_csum_read(p, text))
		outcome = XSF_CSUM_left_unreadable;
	if (outcome != XSF_CSUM_good) {
		if (xsf_csum_load(p->handle, p->ip + 8, text->buf, XSF_CSUM_ADDRS))
			__builtin_memset(text->buf, 0, XSF_CSUM_ADDRS);
		return outcome;
	}
	/* Next header and length of the pseudo header, as words of the packet. */
	sum = (__u32)xsf_swap16(NET_PROTO_UDP) + xsf_swap16((__u16)p->udp_len);
	sum = xsf_csum_fold(xsf_csum_add(text, (XSF_CSUM_ADDRS + p->udp_len + 3) & ~3u, sum));
	present = XSF_LOAD16(text->buf + XSF_CSUM_ADDRS + 6);
	zero = !present;
	if (sum == 0xffff && !zero)
		return XSF_CSUM_good;
	summed = xsf_csum_summed(p->handle);
	if (summed == XSF_SUMMED_PARTIAL)
		return XSF_CSUM_left_partial;
	if (!watched.watch.repair ||
	    (policy->set && policy->nr_prefixes && !xsf_csum_listed(text->buf)))
		return zero ? XSF_CSUM_observed_zero : XSF_CSUM_observed_wrong;
	if (xsf_csum_store(p->handle, p->off + 6, xsf_csum_right(sum, present), summed))
		return XSF_CSUM_left_unwritable;
	return zero ? XSF_CSUM_repaired_zero : XSF_CSUM_repaired_wrong;
}

#endif
