// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/event_view.h"

#include <stdio.h>
#include <string.h>
#include <xsf/sflow.h>
#include "model/snapshot.h"

#define HOUR_NS 3600000000000ull

/* Bytes of the packet without what the agent took off. frame_length counts the stripped bytes (sflow_version
 * 5, sampled_header), but Host sFlow's notifications leave them out and say `stripped` all the same: there
 * the IP header, or the sampled header itself, is longer than what would be left. */
static uint32_t packet_length(const struct xsf_event *e, const struct xsf_packet_fields *packet)
{
	uint32_t left = e->frame_len > e->stripped ? e->frame_len - e->stripped : 0;
	uint32_t least = e->header_kept;

	if (packet->nr_frames && packet->frame[0].has & (XSF_HAS_IP4 | XSF_HAS_IP6)) {
		uint32_t ip = packet->frame[0].ip_off + packet->frame[0].ip_bytes;

		if (ip > left && ip <= e->frame_len)
			left = e->frame_len;
	}
	if (e->header_len > left && e->header_len <= e->frame_len)
		left = e->frame_len;
	return left > least ? left : least;
}

static void port_name(char to[XSF_VIEW_NAME], const struct xsf_event *e, uint32_t ifindex,
		      const struct xsf_flow_names *names)
{
	const char *name = NULL;

	to[0] = 0;
	if (ifindex == SFLOW_IF_UNKNOWN || ifindex == SFLOW_IF_NONE)
		return;
	if (names->ifname)
		name = names->ifname(names->arg, e, ifindex);
	if (name && *name)
		snprintf(to, XSF_VIEW_NAME, "%s", name);
	else
		snprintf(to, XSF_VIEW_NAME, "%u", ifindex);
}

void xsf_event_view(struct xsf_event_view *v, const struct xsf_event *e, uint64_t time_ns,
		    const struct xsf_flow_names *names)
{
	const char *node = names->node ? names->node(names->arg, e, e->input) : NULL;

	v->event = e;
	v->time_ns = time_ns;
	v->ifindex = e->input ? e->input : e->class == SFLOW_CLASS_IFINDEX ? e->index : 0;
	v->reason = xsf_reason_name(e->reason, v->reason_number, sizeof(v->reason_number));
	if (node && *node)
		snprintf(v->switch_, sizeof(v->switch_), "%s", node);
	else
		xsf_address_text(e->agent.addr, v->switch_);
	port_name(v->port, e, v->ifindex, names);
	port_name(v->output, e, e->output, names);
	if (e->flags & XSF_EVENT_HAS_HEADER) {
		xsf_packet_fields(e->header, e->header_kept, e->protocol, &v->packet);
		v->length = packet_length(e, &v->packet);
	} else {
		xsf_packet_fields(e->header, 0, 0, &v->packet);
		v->length = 0;
	}
}

uint64_t xsf_event_drop_time(const struct xsf_event_view *v)
{
	uint64_t then = v->event->timestamp_ns;

	if (v->event->flags & XSF_EVENT_HAS_TIME && then <= v->time_ns + HOUR_NS &&
	    then + HOUR_NS >= v->time_ns && then + HOUR_NS > then)
		return then;
	return v->time_ns;
}
