/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes sFlow version 5 datagrams (sflow.org, sflow_version_5.txt; sflow_drops.txt). Nothing is ever
 * written beyond the buffer: what does not fit makes xsf_enc_end() fail, which takes the sample back, so
 * the buffer holds a sound datagram at any time. Pure. */
#ifndef XSF_ENCODE_H
#define XSF_ENCODE_H

#include <stdint.h>

/* Flow records of discarded-packet samples, and of switches; include/xsf/sflow.h has those that are read. */
#define SFLOW_REC_SWITCH 1001
#define SFLOW_REC_QUEUE 1036
#define SFLOW_REC_FUNCTION 1038
#define SFLOW_REC_DELAY 1039
#define SFLOW_REC_DEPTH 1040
#define SFLOW_REC_HW_TRAP 1041
#define SFLOW_REC_LINUX_REASON 1042
#define SFLOW_REC_TIMESTAMP 1043

/* Bytes of a sample's or record's tag and length. */
#define SFLOW_TAG_LEN 8

struct xsf_enc {
	uint8_t *buf;
	uint32_t cap;	     /* bytes of buf */
	uint32_t len;	     /* bytes written: the datagram */
	uint32_t samples;    /* finished ones, as the header says */
	uint32_t samples_at; /* where it says so */
	uint32_t sample;     /* offset of the open sample; 0 = none */
	uint32_t records_at; /* where the number of its records lies */
	uint32_t records;
	int error; /* first one since the open sample began, negative errno */
};

struct xsf_enc_datagram {
	uint8_t addr[16];   /* agent; IPv4 uses the first 4 bytes */
	uint32_t addr_type; /* SFLOW_ADDR_IP4 or SFLOW_ADDR_IP6 */
	uint32_t sub_agent;
	uint32_t sequence;
	uint32_t uptime_ms;
};

/* A data source; the compact form holds a class below 2^8 and an index below 2^24. */
struct xsf_enc_source {
	uint32_t class;
	uint32_t index;
};

/* One end of a packet's way; the compact form holds a value below 2^30. */
struct xsf_enc_if {
	uint32_t format; /* SFLOW_IF_SINGLE, _DISCARDED, _MULTIPLE */
	uint32_t value;
};

struct xsf_enc_flow {
	int expanded; /* form 3 instead of 1 */
	uint32_t sequence;
	struct xsf_enc_source source;
	uint32_t sampling_rate;
	uint32_t sample_pool;
	uint32_t drops;
	struct xsf_enc_if input;
	struct xsf_enc_if output;
};

struct xsf_enc_counter {
	int expanded; /* form 4 instead of 2 */
	uint32_t sequence;
	struct xsf_enc_source source;
};

struct xsf_enc_drop {
	uint32_t sequence;
	struct xsf_enc_source source;
	uint32_t drops; /* the agent's own count of drops that it did not notify */
	uint32_t input; /* plain ifIndex, 0 = unknown */
	uint32_t output;
	uint32_t reason; /* drop_reasons.h */
};

/* sampled_header; frame_length counts FCS and everything stripped. */
struct xsf_enc_header {
	uint32_t protocol; /* SFLOW_PROTO_* */
	uint32_t frame_length;
	uint32_t stripped;
	const uint8_t *bytes;
	uint32_t len;
};

/* extended_switch; 0xffffffff = unknown. */
struct xsf_enc_switch {
	uint32_t src_vlan;
	uint32_t src_priority;
	uint32_t dst_vlan;
	uint32_t dst_priority;
};

/* Generic interface counters (RFC 2233 names); all ones = unknown. */
struct xsf_enc_if_counters {
	uint32_t index;
	uint32_t type;
	uint64_t speed;	    /* bit/s */
	uint32_t direction; /* 1 full duplex */
	uint32_t status;    /* bit 0 admin, bit 1 oper */
	uint64_t in_octets;
	uint32_t in_ucast;
	uint32_t in_multicast;
	uint32_t in_broadcast;
	uint32_t in_discards;
	uint32_t in_errors;
	uint32_t in_unknown;
	uint64_t out_octets;
	uint32_t out_ucast;
	uint32_t out_multicast;
	uint32_t out_broadcast;
	uint32_t out_discards;
	uint32_t out_errors;
	uint32_t promiscuous;
};

struct xsf_enc_host {
	const char *name;
	uint8_t uuid[16];
	uint32_t machine; /* machine_type, 3 = x86_64 */
	uint32_t os;	  /* os_name, 2 = linux */
	const char *release;
};

/* Starts a datagram without samples in buf. 0, -ENOSPC or -EINVAL (address type). */
int xsf_enc_begin(struct xsf_enc *e, uint8_t *buf, uint32_t cap, const struct xsf_enc_datagram *d);

/* Open a sample; records follow, then xsf_enc_end(). */
void xsf_enc_flow(struct xsf_enc *e, const struct xsf_enc_flow *s);
void xsf_enc_counter(struct xsf_enc *e, const struct xsf_enc_counter *s);
void xsf_enc_drop(struct xsf_enc *e, const struct xsf_enc_drop *s);

/* Records of flow and discarded-packet samples. */
void xsf_enc_header(struct xsf_enc *e, const struct xsf_enc_header *h);
void xsf_enc_switch(struct xsf_enc *e, const struct xsf_enc_switch *s);
void xsf_enc_function(struct xsf_enc *e, const char *symbol);
void xsf_enc_hw_trap(struct xsf_enc *e, const char *group, const char *trap);
void xsf_enc_linux_reason(struct xsf_enc *e, const char *reason);
void xsf_enc_queue(struct xsf_enc *e, uint32_t queue); /* that it was to leave by */
void xsf_enc_delay(struct xsf_enc *e, uint32_t ns);    /* within the switch */
void xsf_enc_depth(struct xsf_enc *e, uint32_t bytes); /* of that queue */
void xsf_enc_timestamp(struct xsf_enc *e, uint64_t ns);

/* Records of counters samples. */
void xsf_enc_if_counters(struct xsf_enc *e, const struct xsf_enc_if_counters *c);
void xsf_enc_port_name(struct xsf_enc *e, const char *name);
void xsf_enc_host(struct xsf_enc *e, const struct xsf_enc_host *h);

/* Ends the open sample. 0, or the sample is taken back: -ENOSPC (no room), -ERANGE (a value that the
 * compact form cannot hold), -EINVAL (no sample is open, or one was opened inside another). */
int xsf_enc_end(struct xsf_enc *e);

/* Bytes that are left. */
static inline uint32_t xsf_enc_room(const struct xsf_enc *e)
{
	return e->cap - e->len;
}

#endif
