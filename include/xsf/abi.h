/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Layout of everything that lies in pinned maps. XSF_ABI changes when an existing layout changes, not
 * when a map is added. All integers are in host order unless the name ends in _be. */
#ifndef XSF_ABI_H
#define XSF_ABI_H

#include "totals.h"

#define XSF_ABI 2

/* Bounds. README repeats them with the memory they cost; the tests compare. */
#define XSF_MAX_PORTS 8
#define XSF_MAX_PAYLOAD 9000
#define XSF_AGENTS 4096
#define XSF_SOURCES 65536
#define XSF_FABRICS 2
#define XSF_GROUPS (1 + 2 * XSF_FABRICS)
#define XSF_REASONS 512
#define XSF_REASONS_HIGH 1024
#define XSF_NAME_LEN 64
#define XSF_LOCAL_ADDRS 1024
#define XSF_ALLOW_PREFIXES 1024

enum xsf_direction { XSF_INGRESS, XSF_EGRESS, XSF_OTHER, XSF_DIRECTIONS };

enum xsf_carrier { XSF_ROCE_V2, XSF_ROCE_TUNNEL, XSF_ROCE_V1, XSF_CARRIERS };

/* Slots in `control`: one per slot table. */
enum xsf_table { XSF_TABLE_AGENTS, XSF_TABLE_SOURCES, XSF_TABLES };

#define XSF_F_CONSUME 1		/* drop sound datagrams to this host */
#define XSF_F_ALLOW_LIST 2	/* only sources in the allow-list are parsed */
#define XSF_F_DROP_DENIED 4	/* and others are dropped */
#define XSF_F_DROP_DUPLICATES 8 /* samples of duplicate datagrams do not count */

/* Set by the loader before the program loads (read-only data); the object carries the defaults. */
struct xsf_config {
	__u64 stale_ns;		    /* a slot silent for longer may be given to another */
	__u32 flags;		    /* XSF_F_* */
	__u16 ports[XSF_MAX_PORTS]; /* host order; unused ones 0 */
	__u32 groups;		    /* rows of the group tables: XSF_GROUPS or more */
};

/* Addresses: IPv4 in its v4-mapped IPv6 form (RFC 4291, 2.5.5.2). */
struct xsf_agent_key {
	__u8 addr[16];
	__u32 sub_agent;
};

struct xsf_source_key {
	__u32 agent; /* agent slot */
	__u32 agent_generation;
	__u32 class;
	__u32 index;
};

/* Sequence numbers (DESIGN 4.8): last number in the high half, the 32 numbers up to it in the low one
 * (bit 0 the last; 1 = seen). 0 = nothing received yet. */
typedef __u64 xsf_seq_t;

/* Slots are counted twice, and readers add: in `own` by the CPU that made the slot, with plain additions,
 * since an agent's datagrams nearly always arrive on one receive queue; in `shared` by all others, with
 * atomic ones. Slot 0, which collects what found no slot of its own, is shared by all. */

struct xsf_agent_counts {
	__u64 datagrams;
	__u64 bytes;
	__u64 faulty; /* datagrams with at least one faulty sample */
	__u64 lost;   /* settled: holes that left the window */
	__u64 duplicate;
	__u64 reordered;
	__u64 restarts;
	__u64 flow_samples;
	__u64 counter_samples;
	__u64 drop_samples;
};

struct xsf_agent {
	struct xsf_agent_key key;
	__u32 generation; /* odd: in use; 0: never used */
	__u32 cpu;	  /* whose `own` is; in slot 0 nobody's */
	__u32 uptime_ms;
	xsf_seq_t sequence;
	__u64 first_seen_ns; /* CLOCK_MONOTONIC */
	__u64 last_seen_ns;
	struct xsf_agent_counts own;
	struct xsf_agent_counts shared;
	__u32 uptime_moves; /* 0 until the agent was seen to advance its uptime */
	__u32 drops;	    /* last `drops` of a discarded-packet sample: the agent's own total */
	__u16 source_port;
	__u16 name_len;
	__u32 reserved0;
	__u8 source[16];	 /* UDP source of the last datagram */
	__u8 name[XSF_NAME_LEN]; /* hostname of host_descr, not terminated */
	/* Notifications that it says it suppressed, and what the numbers of its discarded-packet samples say,
	 * summed over its data sources (struct xsf_interface, drop_window). Only ever grow. */
	__u64 drops_suppressed;
	__u64 drops_lost; /* settled, as `lost` */
	__u64 drops_duplicate;
	__u64 drops_reordered;
	__u64 drops_restarts;
	__u64 drops_fresh; /* discarded-packet samples of datagrams that were not duplicates */
	__u64 reserved[2];
};
_Static_assert(sizeof(struct xsf_agent) == 376, "ABI");

/* What flow samples of one source and direction add up to, already scaled by sampling_rate. */
struct xsf_traffic {
	__u64 samples;
	__u64 packets;
	__u64 bytes;
	__u64 roce_packets;
	__u64 roce_bytes;
	__u64 ce_packets; /* RoCE marked Congestion Experienced */
	__u64 cnp_packets;
	__u64 trimmed_packets; /* DSCP of packet trimming (11) */
};
_Static_assert(sizeof(struct xsf_traffic) == 64, "one cache line");

/* One data source. The array is page aligned, so the first line and each direction are cache lines. */
struct xsf_source {
	struct xsf_source_key key;
	__u32 generation; /* odd: in use; 0: never used */
	__u32 cpu;	  /* as in xsf_agent */
	__u32 sampling_rate;
	__u32 sample_pool;
	__u64 last_seen_ns;
	xsf_seq_t flow_sequence;
	xsf_seq_t counter_sequence;
	__u32 drops;	     /* the agent's own count of samples it lost */
	__u32 drop_sequence; /* of the last discarded-packet sample */
	struct xsf_traffic own[XSF_DIRECTIONS];
	struct xsf_traffic shared[XSF_DIRECTIONS];
};
_Static_assert(sizeof(struct xsf_source) == 448, "seven cache lines");

/* The rest of a source, same slot: counters as the agent sent them (all ones = unknown). */
struct xsf_interface {
	struct xsf_agent_key agent;
	__u32 class;
	__u32 index;
	__u32 generation; /* of the source it belongs to; anything else is a left-over */
	__u32 has_counters;
	__u32 counters_uptime_ms;
	__u64 counters_ns; /* when they arrived, CLOCK_MONOTONIC */
	__u64 speed;
	__u64 in_octets;
	__u64 out_octets;
	__u32 type;
	__u32 direction;
	__u32 status;
	__u32 in_ucast;
	__u32 in_multicast;
	__u32 in_broadcast;
	__u32 in_discards;
	__u32 in_errors;
	__u32 in_unknown;
	__u32 out_ucast;
	__u32 out_multicast;
	__u32 out_broadcast;
	__u32 out_discards;
	__u32 out_errors;
	__u32 promiscuous;
	__u32 name_len;
	__u8 name[XSF_NAME_LEN]; /* port_name, not terminated */
	/* sample sequence accounting, in samples */
	__u32 flow_lost;
	__u32 flow_duplicate;
	__u32 flow_reordered;
	__u32 counter_lost;
	__u32 counter_duplicate;
	__u32 counter_reordered;
	__u32 sample_restarts;
	__u32 drop_samples;
	__u32 aggregate; /* ifIndex of the aggregate it is a member of (lag_port_stats); 0 none */
	/* discarded-packet samples: `drops` of the last one in order, and their numbers */
	__u32 drop_total;
	xsf_seq_t drop_window;
};
_Static_assert(sizeof(struct xsf_interface) == 248, "ABI");

/* Written by user space, by source slot; counts only while the generation is the source's. Slot 0 is
 * nobody's: its group is 1 while any other slot has one, and spares looking otherwise. */
struct xsf_group {
	__u32 generation;
	__u8 group; /* 0 none, else 1 + 2 * fabric + role (0 edge, 1 core) */
	__u8 reserved[3];
};

struct xsf_op {
	__u64 samples;
	__u64 packets;
	__u64 bytes;
};

/* Row (group * XSF_DIRECTIONS + direction) * XSF_CARRIERS + carrier. */
struct xsf_op_row {
	struct xsf_op opcode[256];
};

struct xsf_count {
	__u64 samples;
	__u64 packets;
};

/* Row group * XSF_DIRECTIONS + direction; by TOS or traffic class: of the outermost IP header, and of
 * the one that carries RoCE. */
struct xsf_tos_row {
	struct xsf_count all[256];
	struct xsf_count roce[256];
};

#define XSF_RDMA_BUCKETS 33

/* Row as in xsf_tos_row. */
struct xsf_rdma_row {
	__u64 length_sum;			   /* RETH DMA length, bytes, unscaled */
	__u64 length_sum_scaled;		   /* times sampling_rate */
	struct xsf_count length[XSF_RDMA_BUCKETS]; /* by ceil(log2(length)), 0 and 1 byte in [0] */
	struct xsf_count ack[32];		   /* AETH 00: credit code */
	struct xsf_count rnr[32];		   /* AETH 01: RNR timer */
	struct xsf_count reserved_syndrome[32];	   /* AETH 10 */
	struct xsf_count nak[32];		   /* AETH 11: NAK code */
	struct xsf_count cnp[4];		   /* SE << 1 | M */
};

/* 81.92 s. */
#define XSF_TIMELINE_NS 10000000
#define XSF_TIMELINE_SLOTS 8192

struct xsf_bin {
	__u64 packets;
	__u64 bytes;
};

/* Row as in xsf_tos_row: RoCE packets and bytes, scaled, by the time their datagram came: slot
 * CLOCK_MONOTONIC_COARSE / XSF_TIMELINE_NS modulo XSF_TIMELINE_SLOTS. Slots only accumulate; what one
 * revolution added is the difference to what the slot held before (model/period.h). */
struct xsf_timeline_row {
	struct xsf_bin bin[XSF_TIMELINE_SLOTS];
};

/* Drop reasons below XSF_REASONS. */
struct xsf_reasons {
	__u64 notified[XSF_REASONS]; /* discarded-packet samples */
	__u64 sampled[XSF_REASONS];  /* flow samples whose output says discarded */
};

struct xsf_reason_key {
	__u32 sampled; /* 0 notified, 1 sampled */
	__u32 code;
};

/* Slot allocation of one table: the next unused slot, then a hand that looks for silent ones. */
struct xsf_control {
	__u64 next;
	__u64 hand;
};

/* Telemetry ports (ports.h). A row belongs to the first interface and port that came, on each CPU by
 * itself, so readers go by the value. What finds no row within XSF_PORT_PROBES counts in the last one, whose
 * port is 0. */
#define XSF_PORT_SLOTS 512
#define XSF_PORT_ROWS (XSF_PORT_SLOTS + 1)
#define XSF_PORT_PROBES 8

/* Per CPU. */
struct xsf_port {
	__u32 ifindex; /* of the interface whose program counted; 0 in a replay */
	__u16 port;    /* destination, host order; 0: the row is free */
	__u16 reserved0;
	__u64 datagrams;       /* whole ones, malformed and denied ones too */
	__u64 fragments_first; /* first fragments: as many fragmented datagrams began */
	__u64 consumed;	       /* within datagrams: XSF_F_CONSUME */
	__u64 denied_dropped;  /* within datagrams: XSF_F_DROP_DENIED */
	__u64 reserved[3];
};
_Static_assert(sizeof(struct xsf_port) == 64, "one cache line");

struct xsf_prefix_key {
	__u32 prefixlen; /* bits of the v4-mapped form */
	__u8 addr[16];
};

#define XSF_HINTS 64

/* Where this agent's sources lay last; a hint is checked against the source's key. Not pinned. */
struct xsf_hints {
	__u32 slot[XSF_HINTS];
};

#endif
