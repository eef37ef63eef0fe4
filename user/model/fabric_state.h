/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the fabric: shared by fabric.c (what there is, who speaks when), fabric_sample.c (what a switch
 * says) and fabric_drops.c (of its drops). */
#ifndef XSF_FABRIC_STATE_H
#define XSF_FABRIC_STATE_H

#include "model/fabric.h"
#include "model/traffic.h"

#define SECOND 1000000000ull

/* Of 10 connections of a host, those inside its leaf. */
#define LOCAL 1
/* Shares of flow samples of a leaf: what hosts send, what spines send, what goes out to hosts; and of a
 * spine. Core links are sampled half as often as edge links, what leaves to hosts an eighth as often. */
#define SHARE_UP 80
#define SHARE_DOWN (SHARE_UP * (10 - LOCAL) / 10 / CORE_RATE)
#define SHARE_OUT (SHARE_UP / EGRESS_RATE)
#define SHARE_LEAF (SHARE_UP + SHARE_DOWN + SHARE_OUT)
#define SHARE_SPINE SHARE_DOWN
#define CORE_RATE 2
#define EGRESS_RATE 8

#define EDGE_SPEED 400000000000ull /* bit/s */
#define CORE_SPEED 800000000000ull

/* Packets that every port but the one they came from sends on. */
struct fabric_flood {
	uint64_t octets;
	uint32_t multicast;
	uint32_t broadcast;
};

struct fabric_port {
	struct xsf_enc_if_counters now; /* without what was flooded to it */
	struct fabric_flood own;	/* flooded from here */
	uint32_t flow_sequence;
	uint32_t counter_sequence;
	uint32_t pool;
};

/* Kept apart: not touched by most samples. */
struct fabric_report {
	struct xsf_enc_if_counters last;
	struct xsf_fabric_sum ingress;
	struct xsf_fabric_sum egress;
};

struct fabric_agent {
	uint32_t number; /* from 0, within leaves or within spines */
	uint32_t is_spine;
	uint32_t
		nr_ports; /* leaf: hosts, then an uplink to each spine; spine: a link to each leaf */
	uint32_t first_port;
	uint32_t sequence;
	uint32_t boot_ms; /* uptime at the start */
	struct fabric_flood flood;
	uint32_t poll_next;  /* 0 the host, else port + 1 */
	uint32_t poll_later; /* the first round is over */
	uint64_t poll_due;
	uint32_t host_sequence;
	uint32_t drop_sequence;
	uint32_t drops;	      /* not notified */
	uint32_t drops_first; /* the same as its first notification said, and its last */
	uint32_t drops_told;
	uint64_t drop_due;   /* when it may notify again */
	uint64_t quota_tick; /* with a limit: which round, and what is left of it */
	uint32_t quota;
	uint64_t datagrams;
	uint64_t bytes;
	uint64_t flow_samples;
	uint64_t counter_samples;
};

/* A packet's way through one switch. */
struct fabric_way {
	uint32_t in; /* port of this switch */
	struct xsf_enc_if out;
	uint32_t out_port; /* when out is one interface */
	int egress;	   /* sampled as it leaves */
	struct xsf_traffic_hop hop;
};

struct fabric_reason;

/* Drops of one switch at one moment. */
struct fabric_burst {
	uint64_t due;
	uint32_t agent;
	const struct fabric_reason *reason;
	uint32_t kind;
	struct fabric_way way;
	uint32_t left; /* to be notified */
	uint32_t suppressed;
};

/* Notifications of one port, by the place of their reason in fabric_drops.c. */
struct fabric_place {
	uint64_t notified[XSF_FABRIC_DROP_REASONS];
};

struct xsf_fabric {
	struct xsf_fabric_config c;
	struct xsf_traffic_mix mix;
	struct xsf_random random;
	uint64_t index; /* of the next datagram */
	uint32_t edge_rate;
	uint32_t nr_agents;
	uint32_t nr_ports;
	uint32_t flaky; /* the port with a bad cable */
	struct fabric_agent *agents;
	struct fabric_port *ports;
	struct fabric_report *reports; /* by port */
	struct fabric_place *places;   /* by port, then by agent: of no port */
	struct fabric_burst burst;     /* with c.drops: the next one */
	uint64_t dropped;	       /* in bursts, this one included */
	struct xsf_fabric_truth truth;
};

/* Tag of frames on the links of leaves that have one. */
#define FABRIC_HOST_VLAN 100

#define FABRIC_SAMPLED_BYTES 128 /* of a packet, as most agents are set */
#define FABRIC_REASON_ACL 258

/* Where a switch takes a sample: from a host, from a spine, on the way out to a host, on a spine. */
enum fabric_share { FABRIC_UP, FABRIC_DOWN, FABRIC_OUT, FABRIC_THROUGH };

/* A place where this switch samples, by the shares above. */
enum fabric_share fabric_draw_share(struct xsf_fabric *f, const struct fabric_agent *a);

/* Some kinds of packets are met at some places only: the kind, or plain TCP instead. */
uint32_t fabric_kind_at(uint32_t kind, enum fabric_share share);

/* The way of a packet of this kind at this place. */
void fabric_choose_way(struct xsf_fabric *f, const struct fabric_agent *a, enum fabric_share share,
		       uint32_t kind, enum xsf_traffic_phase phase, struct fabric_way *w);

enum xsf_traffic_phase fabric_phase(const struct xsf_fabric *f, uint64_t time);

/* "leaf1", "spine1". */
void fabric_agent_name(const struct fabric_agent *a, char name[XSF_FABRIC_NAME]);

/* Append what is due of counters, perhaps a drop, and flow samples as long as there is room. */
void fabric_polls(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e, uint64_t time);
void fabric_drops(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e, uint64_t time);
void fabric_flows(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e, uint64_t time);

/* The record of the sampled bytes; returns the frame's length. */
uint32_t fabric_put_header(struct xsf_enc *e, const struct xsf_frame *frame);

/* Chooses the next burst in which something is notified. */
void fabric_burst_next(struct xsf_fabric *f);
/* Appends notifications of the burst as long as there is room. */
void fabric_burst(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e);
uint32_t fabric_reason_code(uint32_t i);

/* Would fabric_polls() send something? */
int fabric_poll_is_due(const struct xsf_fabric *f, const struct fabric_agent *a, uint64_t time);

#endif
