/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A leaf-spine fabric whose switches send sFlow: a state machine that gives one datagram after another,
 * with the virtual time at which it leaves. The same configuration gives the same bytes, always: nothing
 * in it depends on a clock or on the machine. Pure: no I/O.
 *
 * Every leaf has `ports` hosts and one link to every spine. Packets go host, leaf, spine, leaf, host; a
 * connection keeps its spine. Each switch samples what enters it (leaves also, eight times less often,
 * what they send to hosts), counts all of it in its interface counters, and notifies drops. A sample of
 * rate N stands for exactly N packets like it, so counters and scaled samples agree. */
#ifndef XSF_FABRIC_H
#define XSF_FABRIC_H

#include <stdint.h>
#include "model/encode.h"

/* Bounds of the configuration. */
#define XSF_FABRIC_MAX_LEAVES 1024
#define XSF_FABRIC_MAX_SPINES 256
#define XSF_FABRIC_MAX_PORTS 512
#define XSF_FABRIC_MAX_INTERFACES 262144 /* leaves * (ports + 2 * spines) */
#define XSF_FABRIC_MAX_RATE 10000000
#define XSF_FABRIC_MAX_DROPS 1000000
#define XSF_FABRIC_MAX_NS (365ull * 86400 * 1000000000) /* any duration */

/* No datagram is longer. */
#define XSF_FABRIC_DATAGRAM 1400
/* Datagrams a second of virtual time when none are configured. */
#define XSF_FABRIC_NOMINAL_RATE 100000
/* ifIndex of swp1; the others follow. */
#define XSF_FABRIC_FIRST_IFINDEX 3
#define XSF_FABRIC_NAME 16

struct xsf_fabric_config {
	uint32_t leaves;
	uint32_t spines;
	uint32_t ports;	     /* hosts per leaf */
	uint32_t rate;	     /* datagrams a second, mean of a cycle; 0 = XSF_FABRIC_NOMINAL_RATE */
	uint64_t cycle_ns;   /* of training: 3/5 compute, 2/5 exchange; 0 = exchange only */
	uint64_t polling_ns; /* between counter samples of an interface; 0 = none */
	uint64_t seed;
	int ipv6_agents;
	/* Packets dropped a second by all switches together, in bursts that fill datagrams of their own; 0:
	 * some, as it happens, told by the way. */
	uint32_t drops;
	uint32_t drop_limit; /* of them, notified a second by one switch; 0: all */
};

/* Scaled: packets = sum of rates, bytes = sum of rate times frame length. */
struct xsf_fabric_sum {
	uint64_t samples;
	uint64_t packets;
	uint64_t bytes;
};

#define XSF_FABRIC_REASONS 512
#define XSF_FABRIC_DROP_REASONS 9 /* of them, those that are notified */

/* What all datagrams so far held: what a collector that lost nothing must have counted. */
struct xsf_fabric_truth {
	uint64_t datagrams;
	uint64_t bytes;
	uint64_t flow_samples;
	uint64_t counter_samples;
	uint64_t drop_samples;
	struct xsf_fabric_sum opcode[256]; /* RoCEv2, in tunnels included */
	uint64_t notified[XSF_FABRIC_REASONS];
	uint64_t sampled_drops[XSF_FABRIC_REASONS]; /* flow samples with output "discarded" */
	struct xsf_fabric_sum ecn[4];		    /* RoCE, by ECN bits */
	struct xsf_fabric_sum trimmed;
	struct xsf_fabric_sum syndrome[128]; /* AETH */
	struct xsf_fabric_sum reth;
	uint64_t dma_length; /* sum of RETH DMA lengths, and times the rate */
	uint64_t dma_length_scaled;
	uint64_t sampled_packets;
	uint64_t sampled_bytes;
	/* Of what hosts send, where it enters their leaf: every packet once. */
	struct xsf_fabric_sum edge;
	struct xsf_fabric_sum edge_opcode[256];
	struct xsf_fabric_sum edge_reth;
	uint64_t edge_dma_length_scaled;
	struct xsf_fabric_sum edge_ack[32]; /* by credit code */
	/* Of all that enters any switch. */
	struct xsf_fabric_sum ingress_ce;
	struct xsf_fabric_sum ingress_cnp;
};

struct xsf_fabric_agent {
	uint8_t addr[16]; /* v4-mapped or IPv6 */
	char name[XSF_FABRIC_NAME];
	int reported; /* its name was sent */
	uint32_t nr_interfaces;
	uint64_t datagrams;
	uint64_t bytes;
	uint64_t flow_samples;
	uint64_t counter_samples;
	uint64_t drop_samples;
	uint64_t drops_suppressed; /* since its first notification, as the last one says */
};

/* Drop notifications of one port and reason. */
struct xsf_fabric_place {
	uint32_t ifindex; /* 0: not told */
	uint32_t reason;
	uint64_t notified;
};

struct xsf_fabric_interface {
	uint32_t ifindex;
	char name[XSF_FABRIC_NAME];
	int reported;			     /* a counter sample was sent */
	struct xsf_enc_if_counters counters; /* the last one sent */
	struct xsf_fabric_sum ingress;	     /* flow samples of this data source */
	struct xsf_fabric_sum egress;
};

struct xsf_fabric_datagram {
	uint64_t time_ns;
	uint32_t agent; /* 0 .. xsf_fabric_agents() - 1 */
	uint32_t len;
};

struct xsf_fabric;

/* 0, -EINVAL (out of bounds) or -ENOMEM. The caller frees it. */
int xsf_fabric_new(const struct xsf_fabric_config *config, struct xsf_fabric **out);
void xsf_fabric_free(struct xsf_fabric *f);

/* When the next datagram leaves, ns since the start. Never decreases. */
uint64_t xsf_fabric_time(const struct xsf_fabric *f);

/* Writes the next datagram into buf, which holds XSF_FABRIC_DATAGRAM bytes. */
void xsf_fabric_next(struct xsf_fabric *f, uint8_t *buf, struct xsf_fabric_datagram *out);

const struct xsf_fabric_truth *xsf_fabric_truth(const struct xsf_fabric *f);

/* Number of agents: leaves, then spines. */
uint32_t xsf_fabric_agents(const struct xsf_fabric *f);
void xsf_fabric_agent(const struct xsf_fabric *f, uint32_t agent, struct xsf_fabric_agent *out);
/* Interface 0 .. nr_interfaces - 1 of an agent: hosts first, then uplinks. */
void xsf_fabric_interface(const struct xsf_fabric *f, uint32_t agent, uint32_t interface,
			  struct xsf_fabric_interface *out);

/* Place 0 .. (nr_interfaces + 1) * XSF_FABRIC_DROP_REASONS - 1 of an agent, those without notifications too.
 */
void xsf_fabric_place(const struct xsf_fabric *f, uint32_t agent, uint32_t place,
		      struct xsf_fabric_place *out);

/* The address that an agent sends from, in the family asked for. */
void xsf_fabric_source(const struct xsf_fabric *f, uint32_t agent, int ip6, uint8_t addr[16]);

#endif
