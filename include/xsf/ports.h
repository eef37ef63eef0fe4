/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What arrived for each telemetry port on each interface, as XDP saw it: the first stage of the ledger. The
 * ports are the configured ones and those of the ledger's defaults. */
#ifndef XSF_PORTS_H
#define XSF_PORTS_H

#include "outer.h"
#include "store.h"

/* A row belongs to the first interface and port that came; each CPU's rows for itself, so readers go by the
 * value. What finds no row within XSF_PORT_PROBES counts in the last one, whose port is 0. */
#define XSF_PORT_SLOTS 512
#define XSF_PORT_ROWS (XSF_PORT_SLOTS + 1)
#define XSF_PORT_PROBES 8

/* In pinned maps: ABI, see abi.h. Per CPU. */
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

/* The frame's row, or NULL when it is no telemetry. Counts the arrival. */
static __always_inline struct xsf_port *xsf_port_arrived(const struct xsf_outer *o, __u32 outcome,
							 __u32 ifindex)
{
	struct xsf_port *row;
	__u32 i, at;

	if (!o->telemetry)
		return 0;
	at = (ifindex * 0x9e3779b1u + o->telemetry * 0x85ebca6bu) >> 16;
	for (i = 0; i <= XSF_PORT_PROBES; i++) {
		row = xsf_lookup(XSF_MAP_PORTS, i < XSF_PORT_PROBES ?
							(at + i) & (XSF_PORT_SLOTS - 1) :
							XSF_PORT_SLOTS);
		if (!row)
			return 0;
		if (i == XSF_PORT_PROBES)
			break;
		if (row->port == o->telemetry && row->ifindex == ifindex)
			break;
		if (!row->port) {
			row->port = (__u16)o->telemetry;
			row->ifindex = ifindex;
			break;
		}
	}
	if (outcome == XSF_FRAME_fragments)
		row->fragments_first++;
	else
		row->datagrams++;
	return row;
}

#endif
