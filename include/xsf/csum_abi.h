/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Layout of the maps of bpf/csum6.bpf.c: what became of each UDP datagram over IPv6, by port and by source,
 * and the policy. Names of the maps, keys and values:
 *
 *	xsf_csum_totals		PERCPU_ARRAY 1			struct xsf_csum_totals
 *	xsf_csum_ports		PERCPU_ARRAY XSF_CSUM_PORTS	struct xsf_csum_port, by row
 *	xsf_csum_sources	HASH XSF_CSUM_SOURCES		address (16 bytes) -> struct xsf_csum_source
 *	xsf_csum_places		ARRAY XSF_CSUM_SOURCES		struct xsf_csum_held, by place
 *	xsf_csum_control	ARRAY 1				struct xsf_csum_control
 *	xsf_csum_policy		ARRAY 1				struct xsf_csum_policy
 *	xsf_csum_from		LPM XSF_CSUM_PREFIXES		struct xsf_prefix_key -> __u8
 *
 * The first five are pinned by name beside the XDP program's maps, shared by all interfaces and written by
 * programs only. Counts only ever grow, but for a source that lost its place: it is gone from the table, and
 * its counts are in `other_sources`. Places and control are the programs' own business. The last two belong
 * to one attachment, are not pinned by name, and are written by user space only. All integers are in host
 * order. */
#ifndef XSF_CSUM_ABI_H
#define XSF_CSUM_ABI_H

#include "abi.h"

#define XSF_CSUM_PORTS 64
#define XSF_CSUM_SOURCES 4096
#define XSF_CSUM_PREFIXES 1024
/* Places looked at for a silent source, per newcomer to a full table. */
#define XSF_CSUM_PROBES 8

/* What became of a packet at tc ingress: exactly one of these, or `datagrams`. Their ports are unknown or
 * not watched. */
#define XSF_CSUM_PACKET_OUTCOMES(X) \
	X(not_ip6, "EtherType is not IPv6") \
	X(short_packet, "packet ends inside its VLAN, IPv6, extension or UDP header") \
	X(vlan_depth, "more than two VLAN tags") \
	X(bad_ip, "IP version is not 6, or an extension header is longer than the packet") \
	X(ext_depth, "more than three extension headers, or more options than are read") \
	X(not_udp, "another transport protocol") \
	X(fragments, \
	  "later fragment of a UDP datagram of any port, or a first one without its ports") \
	X(other_port, "UDP to a port that is not watched")

/* What became of a UDP datagram over IPv6 to a watched port: exactly one of these. */
#define XSF_CSUM_OUTCOMES(X) \
	X(good, "checksum right; never written to") \
	X(repaired_wrong, "wrong checksum, right one written") \
	X(repaired_zero, "checksum 0, which UDP over IPv6 forbids, right one written") \
	X(observed_wrong, "wrong checksum, left: the policy does not repair it") \
	X(observed_zero, "checksum 0, left: the policy does not repair it") \
	X(left_fragment, "first fragment: the sum is over more than is here") \
	X(left_gso, "several datagrams merged into one packet by offload") \
	X(left_partial, "sender is local: the sum is not made yet (CHECKSUM_PARTIAL)") \
	X(left_routing, "routing header with segments left: the sum is over another destination") \
	X(left_home_address, "Home Address option: the sum is over another source") \
	X(left_bad_length, "IPv6 or UDP length does not fit the packet") \
	X(left_jumbogram, "jumbogram (RFC 2675)") \
	X(left_too_long, "UDP payload above 9000 bytes") \
	X(left_unreadable, "the kernel could not hand over the bytes") \
	X(left_unwritable, "wrong or 0, to be repaired, but the kernel refused the write")

#define XSF_FIELD_CSUM(name, help) __u64 name;

struct xsf_csum_counts {
	XSF_CSUM_OUTCOMES(XSF_FIELD_CSUM)
	__u64 reserved[7];   /* a new outcome takes the first */
	__u64 first_seen_ns; /* CLOCK_MONOTONIC, by the tick; 0: never */
	__u64 last_seen_ns;
};
_Static_assert(sizeof(struct xsf_csum_counts) == 24 * 8, "ABI");

/* Per CPU. Rows are given out by user space, once for all interfaces, and never to another port: a row's
 * counts are `port`'s for ever. Rows 0, 1 and 2 are the default ports'. */
struct xsf_csum_port {
	__u16 port; /* 0: nothing came for this row yet (on this CPU) */
	__u16 reserved[3];
	struct xsf_csum_counts counts;
};
_Static_assert(sizeof(struct xsf_csum_port) == 200, "ABI");

/* Shared between CPUs, atomic additions. */
struct xsf_csum_source {
	struct xsf_csum_counts counts; /* of all watched ports */
	__u64 reserved[4];
};
_Static_assert(sizeof(struct xsf_csum_source) == 224, "ABI");

struct xsf_csum_addr {
	__u8 addr[16];
};

/* Who holds a place in the table of sources. */
enum { XSF_CSUM_HELD_FREE, XSF_CSUM_HELD_IN_USE, XSF_CSUM_HELD_CHANGING };

struct xsf_csum_held {
	__u8 addr[16]; /* of the source, while in use */
	__u64 state;
};
_Static_assert(sizeof(struct xsf_csum_held) == 24, "ABI");

/* Shared between CPUs, atomic additions. */
struct xsf_csum_control {
	__u64 next; /* place that was never used; XSF_CSUM_SOURCES or more: all were */
	__u64 hand; /* modulo XSF_CSUM_SOURCES: where a silent source is looked for next */
	__u64 reserved[6];
};
_Static_assert(sizeof(struct xsf_csum_control) == 64, "ABI");

/* Per CPU. packets = the packet outcomes + datagrams; datagrams = the sum of the ports' outcomes = the sum
 * of the sources' and of `other_sources`. */
struct xsf_csum_totals {
	__u64 packets; /* that the program saw */
	__u64 datagrams;
	XSF_CSUM_PACKET_OUTCOMES(XSF_FIELD_CSUM)
	__u64 sources_full;	 /* datagrams of sources that found no place in the table */
	__u64 sources_reclaimed; /* places taken from silent sources */
	__u64 reserved[4];
	/* of sources that found no place, and of those that lost theirs */
	struct xsf_csum_counts other_sources;
};
_Static_assert(sizeof(struct xsf_csum_totals) == 40 * 8, "ABI");

/* One watched port. Read in one load. */
struct xsf_csum_watch {
	__u16 port;  /* 0: this and the following entries are unused */
	__u8 row;    /* in xsf_csum_ports */
	__u8 repair; /* 1: write right checksums; 0: only count */
};

/* While `set` is 0 (nobody wrote it: attached with tc alone) the program repairs XSF_CSUM_DEFAULTS from
 * any source. */
struct xsf_csum_policy {
	__u32 set;
	__u32 nr_prefixes; /* in xsf_csum_from; 0: repair whatever the source */
	struct xsf_csum_watch watch[XSF_MAX_PORTS];
	__u64 reserved[3];
};
_Static_assert(sizeof(struct xsf_csum_policy) == 64, "ABI");

/* Port and row: IPFIX (RFC 7011, 10.3.4), sFlow version 5, NetFlow v9 (RFC 3954 names none: 2055) */
#define XSF_CSUM_DEFAULTS(X) X(4739, 0) X(6343, 1) X(2055, 2)
#define XSF_CSUM_NR_DEFAULTS 3

#endif
