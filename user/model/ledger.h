/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ledger: where each datagram to a telemetry port went. Facts in, stages out; every stage is a count that
 * somebody measured, and what they leave over is shown as such. All counts are since the ledger began. */
#ifndef XSF_LEDGER_H
#define XSF_LEDGER_H

#include <stddef.h>
#include <stdint.h>
#include <xsf/abi.h>
#include <xsf/ledger_abi.h>
#include "model/csum.h"

/* Bounds; what is beyond is counted in the `more_` fields. */
#define XSF_LEDGER_PORTS 32
#define XSF_LEDGER_DEVICES 256
#define XSF_LEDGER_DRIVER 32 /* statistics of a driver that are about losses */
#define XSF_LEDGER_DROPS 256
#define XSF_LEDGER_SOCKETS 256
#define XSF_LEDGER_AGENTS 256
#define XSF_LEDGER_NAME 48

/* Stages of a port: id, kind, title, what is counted. Kinds:
 *	ARRIVED	at the front; a device is counted by the first of them that is measured there
 *	END	where a datagram ends; the arrived ones should add up to these
 *	WITHIN	part of those that arrived, not an end
 *	AFTER	lost after it was handed to a socket, so within `handed` */
#define XSF_LEDGER_STAGES(X) \
	X(xdp, ARRIVED, "XDP saw", "whole datagrams and first fragments that the XDP program saw") \
	X(stack, ARRIVED, "entered the stack", \
	  "whole datagrams and first fragments that the driver gave to the kernel's network " \
	  "stack") \
	X(fragmented, WITHIN, "in fragments", "of those that arrived: came in several pieces") \
	X(wrong_checksum, WITHIN, "wrong IPv6, not repaired", \
	  "IPv6, wrong or zero, left as it was: the checksum program observes") \
	X(repaired, WITHIN, "wrong IPv6, repaired", "IPv6, wrong or zero, repaired") \
	X(consumed, END, "consumed by XDP", "counted and dropped by the XDP program on purpose") \
	X(denied, END, "denied by XDP", "source not in the allow-list, dropped on request") \
	X(no_listener, END, "no listener", "dropped: no socket on the port") \
	X(checksum, END, "checksum refused", \
	  "dropped before a socket had it: the kernel found its UDP checksum wrong") \
	X(reassembly, END, "not reassembled", \
	  "dropped: the other fragments did not come, or did twice") \
	X(backlog, END, "CPU backlog full", "dropped: the CPU's input queue was full") \
	X(filtered, END, "filtered", "dropped by a firewall, tc or a policy") \
	X(no_route, END, "not for this host", \
	  "dropped: another host's MAC or IP address, or the reverse-path filter") \
	X(dropped, END, "dropped otherwise", "dropped before a socket had it, for another reason") \
	X(forwarded, END, "forwarded", "sent on by this host: routed or bridged") \
	X(handed, END, "handed to a socket", \
	  "given to a UDP socket, before its buffer is looked at") \
	X(buffer_full, AFTER, "  then: buffer full", "the socket's receive buffer was full") \
	X(checksum_read, AFTER, "  then: wrong checksum", \
	  "its UDP checksum was found wrong when the reader came for it") \
	X(unread, AFTER, "  then: never read", "still in the socket when that was closed") \
	X(refused, AFTER, "  then: refused otherwise", "by a socket filter, or for another reason")

#define XSF_LEDGER_ENUM(id, kind, title, help) XSF_STAGE_##id,
enum xsf_ledger_stage { XSF_LEDGER_STAGES(XSF_LEDGER_ENUM) XSF_NR_STAGES };

enum xsf_ledger_kind {
	XSF_KIND_ARRIVED,
	XSF_KIND_END,
	XSF_KIND_WITHIN,
	XSF_KIND_AFTER,
};

struct xsf_ledger_stage_info {
	const char *id;
	enum xsf_ledger_kind kind;
	const char *title;
	const char *help;
};
extern const struct xsf_ledger_stage_info xsf_ledger_stage_info[XSF_NR_STAGES];

/* ---- facts ---- */

/* One row of the BPF map, with the words for its numbers. */
struct xsf_ledger_row {
	struct xsf_ledger_key key;
	uint64_t count;
	char reason
		[XSF_LEDGER_NAME];   /* without SKB_DROP_REASON_; the number where it has no name */
	char where[XSF_LEDGER_NAME]; /* kernel function; "" = unknown */
};

/* What XDP saw since: struct xsf_port, summed over the CPUs. */
struct xsf_ledger_seen {
	uint32_t ifindex;
	uint16_t port;
	uint64_t datagrams;
	uint64_t fragments_first;
	uint64_t consumed;
	uint64_t denied;
};

/* What the checksum program saw since. */
struct xsf_ledger_csum {
	uint16_t port;
	uint64_t wrong;	   /* observed, wrong and zero */
	uint64_t repaired; /* wrong and zero */
};

/* Receive statistics of the device (struct rtnl_link_stats64), since. */
#define XSF_LEDGER_NIC(X) \
	X(rx_packets, "packets received, of any kind") \
	X(rx_dropped, "received, but dropped in the device layer: no memory, full backlog, or " \
		      "nobody for its protocol") \
	X(rx_missed_errors, "not received: the host was too slow to empty the ring") \
	X(rx_fifo_errors, "overruns of the device's queue") \
	X(rx_over_errors, "frames larger than the receive buffer, or overruns") \
	X(rx_crc_errors, "frames with a bad checksum of the line") \
	X(rx_frame_errors, "misaligned frames") \
	X(rx_length_errors, "frames of a wrong length") \
	X(rx_errors, "bad frames, the four above included") \
	X(rx_nohandler, "dropped: the device is inactive in its bond or team")

#define XSF_LEDGER_NIC_FIELD(id, help) uint64_t id;
struct xsf_ledger_nic {
	XSF_LEDGER_NIC(XSF_LEDGER_NIC_FIELD)
};
#define XSF_LEDGER_NIC_COUNT(id, help) +1
#define XSF_NR_NIC (0 XSF_LEDGER_NIC(XSF_LEDGER_NIC_COUNT))
extern const char *const xsf_ledger_nic_names[XSF_NR_NIC];

/* Value n of XSF_LEDGER_NIC. */
uint64_t xsf_ledger_nic_value(const struct xsf_ledger_nic *nic, unsigned int n);

struct xsf_ledger_driver {
	char name[XSF_LEDGER_NAME];
	uint64_t count;
};

struct xsf_ledger_device {
	uint32_t ifindex;
	char name[16];
	uint32_t
		arrives; /* datagrams are counted where they arrive: here, not again on bridge or bond */
	uint32_t ends; /* what came in by it, or by a device above it, is looked at */
	uint32_t xdp;  /* our program is attached, and xsf_ports is its map */
	uint16_t xdp_ports[XSF_MAX_PORTS]; /* that it counts beside the usual ones; 0 ends */
	uint32_t mtu;
	uint32_t ring; /* rx descriptors now and at most; 0 = unknown */
	uint32_t ring_max;
	struct xsf_ledger_nic nic;
	struct xsf_ledger_driver driver[XSF_LEDGER_DRIVER];
	uint32_t nr_driver;
};

struct xsf_ledger_socket {
	uint16_t port;
	uint8_t addr[16]; /* v4-mapped or IPv6 */
	uint32_t uid;
	uint64_t inode;
	uint64_t drops;	 /* since */
	uint64_t queued; /* bytes in it now */
};

struct xsf_ledger_agent {
	uint8_t addr[16];
	uint32_t sub_agent;
	uint64_t datagrams; /* since */
	int64_t lost;	    /* settled and pending, since; late ones take back */
};

struct xsf_ledger_facts {
	double seconds;
	uint16_t ports[XSF_LEDGER_PORTS]; /* looked at; host order */
	uint32_t nr_ports;
	char iface[16]; /* "" = all */
	const struct xsf_ledger_row *rows;
	uint32_t nr_rows;
	const struct xsf_ledger_seen *seen;
	uint32_t nr_seen;
	const struct xsf_ledger_csum *csum;
	uint32_t nr_csum;
	uint32_t csum_measured; /* the checksum program is loaded */
	uint64_t missed;	/* events that a program did not see: it was running already */
	uint64_t full;		/* events that found no row */
	uint64_t rmem_max;	/* sysctl, bytes; 0 = unknown */
	uint64_t rmem_default;
	uint64_t max_backlog;
};

/* A checksum program that is attached here, and what would mend its policy (xsf_csum_advice). */
struct xsf_ledger_repair {
	char ifname[16];
	struct xsf_csum_advice advice;
};
#define XSF_LEDGER_REPAIRS 16

/* ---- the ledger ---- */

struct xsf_ledger_drop {
	uint16_t port;
	uint8_t family;
	uint8_t after;	/* it had been handed to a socket */
	uint8_t counts; /* 0: a copy for a packet socket, or dropped by our XDP: in no stage */
	uint32_t stage; /* enum xsf_ledger_stage, when it counts */
	char reason[XSF_LEDGER_NAME];
	char where[XSF_LEDGER_NAME];
	uint64_t count;
};

struct xsf_ledger_port {
	uint16_t port;
	uint32_t measured; /* bit n: stage n */
	uint64_t stage[XSF_NR_STAGES];
	uint64_t arrived;    /* by device, the first stage that is measured there */
	int64_t unexplained; /* arrived less the ends; negative: more ended than arrived */
};

struct xsf_ledger {
	struct xsf_ledger_facts facts; /* rows, seen and csum are not kept */
	struct xsf_ledger_port port[XSF_LEDGER_PORTS];
	struct xsf_ledger_device device[XSF_LEDGER_DEVICES];
	uint32_t nr_devices, more_devices;
	struct xsf_ledger_drop drop[XSF_LEDGER_DROPS];
	uint32_t nr_drops;
	uint64_t more_drops; /* datagrams of drops beyond; they are in their stages all the same */
	uint64_t later_fragments;
	uint64_t later_fragments_dropped;
	struct xsf_ledger_socket socket[XSF_LEDGER_SOCKETS];
	uint32_t nr_sockets, more_sockets;
	struct xsf_ledger_agent agent[XSF_LEDGER_AGENTS]; /* those that lost something */
	uint32_t nr_agents, more_agents;
	uint32_t agents_measured;
	int64_t lost_before; /* of all agents */
	struct xsf_ledger_repair repair[XSF_LEDGER_REPAIRS];
	uint32_t nr_repairs;
	char maps[XSF_CSUM_ADVICE_DIR + 1]; /* pin directory, for commands; "" = the default one */
};

/* IPFIX, sFlow or NetFlow's usual port. */
int xsf_ledger_is_default(uint16_t port);

/* Fills ports and drops of *l from *f and l->device[0..nr_devices), which the caller has filled, as sockets
 * and agents. Starts by clearing ports and drops. */
void xsf_ledger_build(struct xsf_ledger *l, const struct xsf_ledger_facts *f);

/* The stage that a drop belongs to; -1: none (a copy for a packet socket). `after` may be set: some reasons
 * imply it. */
int xsf_ledger_classify(const char *reason, const char *where, uint8_t *after);

/* The one command that would mend the stage, or "" when there is none: for stage `s` of port `p`, `family`
 * 4, 6 or 0 (any). Returns buf, which should hold XSF_LEDGER_MEND bytes. */
#define XSF_LEDGER_MEND (XSF_CSUM_ADVICE + 64)
const char *xsf_ledger_mend(const struct xsf_ledger *l, const struct xsf_ledger_port *p,
			    enum xsf_ledger_stage s, uint8_t family, char *buf, size_t len);
/* What else would mend it, for people: "" or a few words. */
const char *xsf_ledger_mend_else(enum xsf_ledger_stage s);
/* Likewise for value n of XSF_LEDGER_NIC of a device. */
const char *xsf_ledger_mend_nic(const struct xsf_ledger *l, const struct xsf_ledger_device *d,
				unsigned int n, char *buf, size_t len);

#endif
