/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counts of a snapshot as tables: what each is called, what it means and where it lies. Made from the
 * lists of totals.h, so a new total appears wherever these tables are read. */
#ifndef XSF_FIELDS_H
#define XSF_FIELDS_H

#include "model/snapshot.h"

/* One word of struct xsf_totals. */
struct xsf_total {
	const char *name;
	const char *help;
	uint32_t offset;
};

enum xsf_total_list {
	XSF_LIST_FRAMES,    /* frame outcomes; the rest are datagrams */
	XSF_LIST_DATAGRAMS, /* datagram outcomes */
	XSF_LIST_FAULTS,
	XSF_LIST_SAMPLES,
	XSF_LIST_HEADERS,
	XSF_LIST_EVENTS,
	XSF_TOTAL_LISTS,
};

/* Entry i of a list, NULL behind its end. */
const struct xsf_total *xsf_total_at(enum xsf_total_list list, uint32_t i);

/* The value of an entry. */
static inline uint64_t xsf_total_value(const struct xsf_snapshot *s, const struct xsf_total *total)
{
	return *(const uint64_t *)((const char *)&s->totals + total->offset);
}

/* Sum over a list. */
uint64_t xsf_total_sum(const struct xsf_snapshot *s, enum xsf_total_list list);

/* Generic interface counters (sflow_version_5.txt, if_counters), as the agent sent them: name, width in
 * bits, help. */
#define XSF_IF_COUNTERS(X) \
	X(in_octets, 64, "ifInOctets") \
	X(in_ucast, 32, "ifInUcastPkts") \
	X(in_multicast, 32, "ifInMulticastPkts") \
	X(in_broadcast, 32, "ifInBroadcastPkts") \
	X(in_discards, 32, "ifInDiscards") \
	X(in_errors, 32, "ifInErrors") \
	X(in_unknown, 32, "ifInUnknownProtos") \
	X(out_octets, 64, "ifOutOctets") \
	X(out_ucast, 32, "ifOutUcastPkts") \
	X(out_multicast, 32, "ifOutMulticastPkts") \
	X(out_broadcast, 32, "ifOutBroadcastPkts") \
	X(out_discards, 32, "ifOutDiscards") \
	X(out_errors, 32, "ifOutErrors") \
	X(promiscuous, 32, "ifPromiscuousMode")

#define XSF_ENUM_IF_COUNTER(name, bits, help) XSF_IF_##name,
enum xsf_if_counter { XSF_IF_COUNTERS(XSF_ENUM_IF_COUNTER) XSF_NR_IF_COUNTERS };

const char *xsf_if_counter_name(enum xsf_if_counter which);

/* Reads one counter. 0 when the agent does not know it (all ones, sflow_version_5.txt), else 1. */
int xsf_if_counter_read(const struct xsf_interface *i, enum xsf_if_counter which, uint64_t *value);

/* "full", "half", "in", "out" or "unknown" (ifDirection). */
const char *xsf_if_direction_name(uint32_t direction);

extern const char *const xsf_direction_names[XSF_DIRECTIONS]; /* "ingress", "egress", "other" */
extern const char *const xsf_carrier_names[XSF_CARRIERS];     /* "v2", "tunnel", "v1" */

/* Not-ECT, ECT(1), ECT(0), CE by the two bits (RFC 3168): "not_ect", "ect1", "ect0", "ce". */
extern const char *const xsf_ecn_names[4];

/* Credits of an AETH credit code (IBTA volume 1, 9.7.5.1.2); code 31 says nothing and has none. */
#define XSF_CREDIT_CODES 31
#define XSF_CREDIT_INVALID 31
extern const uint32_t xsf_credits[XSF_CREDIT_CODES];

/* Sums over a TOS row (struct xsf_tos_row): all values with these ECN bits; all with this DSCP; all. */
struct xsf_count xsf_tos_ecn(const struct xsf_count tos[256], uint32_t ecn);
struct xsf_count xsf_tos_dscp(const struct xsf_count tos[256], uint32_t dscp);
uint64_t xsf_tos_samples(const struct xsf_count tos[256]);

/* Name of a NAK code (IBTA volume 1, 9.7.5.2.8); the codes from XSF_NAK_CODES on are "reserved". */
#define XSF_NAK_CODES 5
const char *xsf_nak_name(uint32_t code);

#endif
