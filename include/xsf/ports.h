/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What arrived for each telemetry port on each interface, as XDP saw it: the first stage of the ledger. The
 * ports are the configured ones and those of the ledger's defaults. */
#ifndef XSF_PORTS_H
#define XSF_PORTS_H

#include "outer.h"
#include "store.h"

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
