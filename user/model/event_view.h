/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A drop notification with what belongs to it: names, the time of day, the packet's fields. What every form
 * of output (serve/event_*.h, serve/pcapng.h), the filter and the table of `drops --top` start from. */
#ifndef XSF_EVENT_VIEW_H
#define XSF_EVENT_VIEW_H

#include "model/flow.h"
#include "model/packet_fields.h"

#define XSF_VIEW_NAME 256 /* bytes of a name, its end included; longer ones are cut */

struct xsf_event_view {
	const struct xsf_event *event;
	uint64_t time_ns; /* when the datagram came, since 1970 */
	/* Where: the input; of an event without one its data source, when that is an interface; else 0. */
	uint32_t ifindex;
	uint32_t length;    /* of the packet whose header this is, in bytes; 0 without header */
	const char *reason; /* name, or the code in decimal */
	char switch_[XSF_VIEW_NAME]; /* host name, else the agent's address */
	char port[XSF_VIEW_NAME];    /* name, else the ifIndex; "" where ifindex is 0 */
	char output[XSF_VIEW_NAME];  /* likewise; "" when the event tells none */
	char reason_number[16];
	struct xsf_packet_fields packet;
};

/* `names`: node and ifname are asked, as flow.h says. The event must stay as long as the view is used. */
void xsf_event_view(struct xsf_event_view *view, const struct xsf_event *event, uint64_t time_ns,
		    const struct xsf_flow_names *names);

/* When the packet was dropped, since 1970: the agent's own time (record 1043) where it is within an hour of
 * the datagram's, else that. */
uint64_t xsf_event_drop_time(const struct xsf_event_view *view);

#endif
