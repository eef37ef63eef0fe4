// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/flow_field.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xsf/sflow.h>

#include "model/fields.h"
#include "model/snapshot.h"
#include "model/utf8.h"

#define FIELD_NAME(name, help) #name,
static const char *const names[] = { XSF_FLOW_SAMPLE_FIELDS(FIELD_NAME)
					     XSF_FLOW_PACKET_FIELDS(FIELD_NAME) };

static const struct xsf_flow_names no_names;

void xsf_flow_event(struct xsf_flow_event *e, const struct xsf_event *event,
		    const struct xsf_flow_names *n)
{
	uint32_t kept = XSF_MIN(event->header_kept, XSF_EVENT_HEADER);

	e->event = event;
	e->names = n ? n : &no_names;
	xsf_packet_fields(event->header, event->flags & XSF_EVENT_HAS_HEADER ? kept : 0,
			  event->protocol, &e->packet);
}

int xsf_flow_field(const char *name, size_t len)
{
	for (int i = 0; i < XSF_NR_FLOW_FIELDS; i++) {
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return i;
	}
	return -1;
}

int xsf_flow_field_is_number(enum xsf_flow_field field)
{
	switch (field) {
	case XSF_FLOW_FIELD_queueindex:
	case XSF_FLOW_FIELD_queuedepth:
	case XSF_FLOW_FIELD_transitdelay:
	case XSF_FLOW_FIELD_frames:
	case XSF_FLOW_FIELD_bytes:
	case XSF_FLOW_FIELD_stripped:
	case XSF_FLOW_FIELD_ibbtopcode:
	case XSF_FLOW_FIELD_ibbttver:
	case XSF_FLOW_FIELD_ibbtdestqp:
	case XSF_FLOW_FIELD_ibbtpsn:
	case XSF_FLOW_FIELD_ibbt_offset:
	case XSF_FLOW_FIELD_ibbtrdmalen:
	case XSF_FLOW_FIELD_ibbtaethack:
	case XSF_FLOW_FIELD_ethernetprotocol:
	case XSF_FLOW_FIELD_vlan:
	case XSF_FLOW_FIELD_priority:
	case XSF_FLOW_FIELD_arpoperation:
	case XSF_FLOW_FIELD_ipprotocol:
	case XSF_FLOW_FIELD_iptos:
	case XSF_FLOW_FIELD_ipdscp:
	case XSF_FLOW_FIELD_ipttl:
	case XSF_FLOW_FIELD_ipbytes:
	case XSF_FLOW_FIELD_ip_offset:
	case XSF_FLOW_FIELD_ip6nexthdr:
	case XSF_FLOW_FIELD_ip6tos:
	case XSF_FLOW_FIELD_ip6dscp:
	case XSF_FLOW_FIELD_ip6ttl:
	case XSF_FLOW_FIELD_ip6bytes:
	case XSF_FLOW_FIELD_ip6_offset:
	case XSF_FLOW_FIELD_icmptype:
	case XSF_FLOW_FIELD_icmpcode:
	case XSF_FLOW_FIELD_icmp6type:
	case XSF_FLOW_FIELD_icmp6code:
	case XSF_FLOW_FIELD_tcpsourceport:
	case XSF_FLOW_FIELD_tcpdestinationport:
	case XSF_FLOW_FIELD_udpsourceport:
	case XSF_FLOW_FIELD_udpdestinationport:
	case XSF_FLOW_FIELD_vxlanvni:
		return 1;
	default:
		return 0;
	}
}

const char *xsf_flow_field_name(enum xsf_flow_field field)
{
	return names[field];
}

void xsf_flow_text_append(struct xsf_flow_text *out, const char *text, size_t len)
{
	const uint8_t *s = (const uint8_t *)text;

	while (len) {
		size_t n = *s == '\n' ? 1 : xsf_character(s, len), took = n ? n : 1;

		if (took > XSF_FLOW_VALUE_TEXT - out->len)
			break;
		memcpy(out->at + out->len, n ? (const char *)s : "?", took);
		out->len += (uint32_t)took;
		s += took;
		len -= took;
	}
	out->at[out->len] = '\0';
}

void xsf_flow_text_set(struct xsf_flow_text *out, const char *text, size_t len)
{
	out->null = 0;
	out->len = 0;
	xsf_flow_text_append(out, text, len);
}

static void word(struct xsf_flow_text *out, const char *text)
{
	xsf_flow_text_set(out, text, strlen(text));
}

static void number(struct xsf_flow_text *out, uint64_t v)
{
	out->null = 0;
	out->len = (uint32_t)snprintf(out->at, sizeof(out->at), "%" PRIu64, v);
}

static void truth(struct xsf_flow_text *out, int v)
{
	word(out, v ? "true" : "false");
}

static void ecn(struct xsf_flow_text *out, uint32_t tos)
{
	const char two[2] = { tos & 2 ? '1' : '0', tos & 1 ? '1' : '0' };

	xsf_flow_text_set(out, two, 2);
}

static void address(struct xsf_flow_text *out, const uint8_t addr[16])
{
	out->null = 0;
	xsf_address_text(addr, out->at);
	out->len = (uint32_t)strlen(out->at);
}

static void mac(struct xsf_flow_text *out, const uint8_t addr[6])
{
	out->null = 0;
	xsf_mac_text(addr, out->at);
	out->len = 12;
}

static void bytes(struct xsf_flow_text *out, const uint8_t *text, uint32_t len)
{
	if (len)
		xsf_flow_text_set(out, (const char *)text, XSF_MIN(len, XSF_EVENT_TEXT));
}

double xsf_flow_weight(const struct xsf_event *event)
{
	double rate = event->flags & XSF_EVENT_FLOW && event->rate ? event->rate : 1;

	return rate * (1 + (double)event->shed);
}

uint32_t xsf_flow_ifindex(const struct xsf_event *event, int output)
{
	uint32_t format = output ? event->output_format : event->input_format;
	uint32_t index = output ? event->output : event->input;

	if (format != SFLOW_IF_SINGLE)
		return 0;
	if (!index && !output && !(event->flags & XSF_EVENT_FLOW) &&
	    event->class == SFLOW_CLASS_IFINDEX)
		return event->index;
	return index == SFLOW_IF_NONE ? 0 : index;
}

enum xsf_direction xsf_flow_direction(const struct xsf_event *event)
{
	uint32_t in = xsf_flow_ifindex(event, 0), out = xsf_flow_ifindex(event, 1);

	if ((event->class & ~1u) == SFLOW_CLASS_ENTITY && event->flags & XSF_EVENT_FLOW)
		return in && in != SFLOW_IF_INTERNAL ? XSF_INGRESS : XSF_OTHER;
	if (event->class != SFLOW_CLASS_IFINDEX || !event->index)
		return XSF_OTHER;
	if (in == event->index)
		return XSF_INGRESS;
	return out == event->index ? XSF_EGRESS : XSF_OTHER;
}

static void interface(struct xsf_flow_text *out, const struct xsf_event *event, int output)
{
	uint32_t format = output ? event->output_format : event->input_format;
	uint32_t index = xsf_flow_ifindex(event, output);

	if (format == SFLOW_IF_DISCARDED && output)
		word(out, "discard");
	else if (format == SFLOW_IF_MULTIPLE && output)
		word(out, "multiple");
	else if (index == SFLOW_IF_INTERNAL)
		word(out, "internal");
	else if (!index)
		word(out, "unknown");
	else
		number(out, index);
}

static void sample_field(const struct xsf_flow_event *e, enum xsf_flow_field field,
			 struct xsf_flow_text *out)
{
	const struct xsf_event *v = e->event;
	int flow = v->flags & XSF_EVENT_FLOW;
	enum xsf_direction direction;
	char reason[16];

	switch (field) {
	case XSF_FLOW_FIELD_agent:
		address(out, v->agent.addr);
		break;
	case XSF_FLOW_FIELD_datasource:
		out->null = 0;
		out->len =
			(uint32_t)(v->class ? snprintf(out->at, sizeof(out->at), "%u.%u", v->class,
						       v->index) :
					      snprintf(out->at, sizeof(out->at), "%u", v->index));
		break;
	case XSF_FLOW_FIELD_inputifindex:
		interface(out, v, 0);
		break;
	case XSF_FLOW_FIELD_outputifindex:
		interface(out, v, 1);
		break;
	case XSF_FLOW_FIELD_direction:
		direction = xsf_flow_direction(v);
		if (direction != XSF_OTHER)
			word(out, xsf_direction_names[direction]);
		break;
	case XSF_FLOW_FIELD_reason:
		if (!flow)
			word(out, xsf_reason_name(v->reason, reason, sizeof(reason)));
		break;
	case XSF_FLOW_FIELD_function:
		if (!flow)
			bytes(out, v->function, v->function_len);
		break;
	case XSF_FLOW_FIELD_trapgroup:
		if (!flow)
			bytes(out, v->trap_group, v->trap_group_len);
		break;
	case XSF_FLOW_FIELD_trap:
		if (!flow)
			bytes(out, v->trap, v->trap_len);
		break;
	case XSF_FLOW_FIELD_linuxreason:
		if (!flow)
			bytes(out, v->linux_reason, v->linux_len);
		break;
	case XSF_FLOW_FIELD_queueindex:
		if (v->flags & XSF_EVENT_HAS_QUEUE)
			number(out, v->queue);
		break;
	case XSF_FLOW_FIELD_queuedepth:
		if (v->flags & XSF_EVENT_HAS_DEPTH)
			number(out, v->depth);
		break;
	case XSF_FLOW_FIELD_transitdelay:
		if (v->flags & XSF_EVENT_HAS_DELAY)
			number(out, v->delay_ns);
		break;
	case XSF_FLOW_FIELD_frames:
		number(out, (uint64_t)xsf_flow_weight(v));
		break;
	case XSF_FLOW_FIELD_bytes:
		if (v->flags & XSF_EVENT_HAS_HEADER)
			number(out, v->frame_len);
		break;
	case XSF_FLOW_FIELD_stripped:
		if (v->flags & XSF_EVENT_HAS_HEADER)
			number(out, v->stripped);
		break;
	default:
		break;
	}
}

static void roce_field(const struct xsf_packet_fields *p, enum xsf_flow_field field,
		       struct xsf_flow_text *out)
{
	const struct xsf_roce_fields *r = &p->roce;
	const char *transport, *ibta, *operation;
	char stack[XSF_STACK_TEXT];

	if (field == XSF_FLOW_FIELD_stack) {
		if (p->nr_stack)
			word(out, xsf_stack_text(p, stack));
		return;
	}
	if (!(r->has & XSF_HAS_BTH))
		return;
	switch (field) {
	case XSF_FLOW_FIELD_ibbtopcode:
		number(out, r->opcode);
		break;
	case XSF_FLOW_FIELD_ibbtopname:
		if (xsf_opcode_names(r->opcode, &transport, &ibta, &operation))
			word(out, operation);
		break;
	case XSF_FLOW_FIELD_ibbtoptransport:
		if (xsf_opcode_names(r->opcode, &transport, &ibta, &operation))
			word(out, transport);
		break;
	case XSF_FLOW_FIELD_ibbtse:
		truth(out, r->flags >> 7);
		break;
	case XSF_FLOW_FIELD_ibbtm:
		truth(out, r->flags >> 6 & 1);
		break;
	case XSF_FLOW_FIELD_ibbttver:
		number(out, r->flags & 15);
		break;
	case XSF_FLOW_FIELD_ibbtdestqp:
		number(out, r->dest_qp);
		break;
	case XSF_FLOW_FIELD_ibbtack:
		truth(out, r->ack_request);
		break;
	case XSF_FLOW_FIELD_ibbtpsn:
		number(out, r->psn);
		break;
	case XSF_FLOW_FIELD_ibbt_offset:
		number(out, r->off);
		break;
	case XSF_FLOW_FIELD_ibbtrdmalen:
		if (r->has & XSF_HAS_RETH)
			number(out, r->dma_length);
		break;
	case XSF_FLOW_FIELD_ibbtaethack:
		/* Bits 6 and 5: 00 is an acknowledgement (IBTA volume 1, 9.7.5.1). */
		if (r->has & XSF_HAS_AETH && !(r->syndrome & 0x60) &&
		    (r->syndrome & 31) != XSF_CREDIT_INVALID)
			number(out, xsf_credits[r->syndrome & 31]);
		break;
	default:
		break;
	}
}

/* Link layer and ARP. */
static void link_field(const struct xsf_frame_fields *f, enum xsf_flow_field field,
		       struct xsf_flow_text *out)
{
	static const uint8_t all[6] = { 255, 255, 255, 255, 255, 255 };
	int broadcast = !memcmp(f->mac_destination, all, 6);
	int one = !(f->mac_destination[0] & 1);

	if (f->has & XSF_HAS_ETHERNET) {
		switch (field) {
		case XSF_FLOW_FIELD_macsource:
			mac(out, f->mac_source);
			break;
		case XSF_FLOW_FIELD_macdestination:
			mac(out, f->mac_destination);
			break;
		case XSF_FLOW_FIELD_ethernetprotocol:
			number(out, f->ethertype);
			break;
		case XSF_FLOW_FIELD_vlan:
			if (f->nr_tags)
				number(out, f->tags[0] & 0xfff);
			break;
		case XSF_FLOW_FIELD_priority:
			if (f->nr_tags)
				number(out, f->tags[0] >> 13);
			break;
		case XSF_FLOW_FIELD_isunicast:
			truth(out, one);
			break;
		case XSF_FLOW_FIELD_isbroadcast:
			truth(out, broadcast);
			break;
		case XSF_FLOW_FIELD_ismulticast:
			truth(out, !one && !broadcast);
			break;
		default:
			break;
		}
	}
	if (f->has & XSF_HAS_ARP && field == XSF_FLOW_FIELD_arpoperation)
		number(out, f->arp_operation);
	if (!(f->has & XSF_HAS_ARP_IP))
		return;
	switch (field) {
	case XSF_FLOW_FIELD_arpmacsender:
		mac(out, f->arp_mac_sender);
		break;
	case XSF_FLOW_FIELD_arpmactarget:
		mac(out, f->arp_mac_target);
		break;
	case XSF_FLOW_FIELD_arpipsender:
		address(out, f->arp_ip_sender);
		break;
	case XSF_FLOW_FIELD_arpiptarget:
		address(out, f->arp_ip_target);
		break;
	default:
		break;
	}
}

/* Of IPv4, or of IPv6: they lie in the same order. */
static void ip_field(const struct xsf_frame_fields *f, enum xsf_flow_field first,
		     enum xsf_flow_field field, struct xsf_flow_text *out)
{
	if (field < first)
		return;
	switch ((int)(field - first) + (int)XSF_FLOW_FIELD_ipsource) {
	case XSF_FLOW_FIELD_ipsource:
		address(out, f->ip_source);
		break;
	case XSF_FLOW_FIELD_ipdestination:
		address(out, f->ip_destination);
		break;
	case XSF_FLOW_FIELD_ipprotocol:
		if (f->has & XSF_HAS_PROTOCOL)
			number(out, f->protocol);
		break;
	case XSF_FLOW_FIELD_iptos:
		number(out, f->tos);
		break;
	case XSF_FLOW_FIELD_ipdscp:
		number(out, f->tos >> 2);
		break;
	case XSF_FLOW_FIELD_ipecn:
		ecn(out, f->tos);
		break;
	case XSF_FLOW_FIELD_ipttl:
		number(out, f->ttl);
		break;
	case XSF_FLOW_FIELD_ipbytes:
		number(out, f->ip_bytes);
		break;
	case XSF_FLOW_FIELD_ip_offset:
		number(out, f->ip_off);
		break;
	default:
		break;
	}
}
_Static_assert(XSF_FLOW_FIELD_ip6_offset - XSF_FLOW_FIELD_ip6source ==
		       XSF_FLOW_FIELD_ip_offset - XSF_FLOW_FIELD_ipsource,
	       "the same fields in the same order");

static void transport_field(const struct xsf_frame_fields *f, enum xsf_flow_field field,
			    struct xsf_flow_text *out)
{
	char flags[10];

	switch (field) {
	case XSF_FLOW_FIELD_icmptype:
		if (f->has & XSF_HAS_ICMP)
			number(out, f->icmp_type);
		break;
	case XSF_FLOW_FIELD_icmpcode:
		if (f->has & XSF_HAS_ICMP)
			number(out, f->icmp_code);
		break;
	case XSF_FLOW_FIELD_icmp6type:
		if (f->has & XSF_HAS_ICMP6)
			number(out, f->icmp_type);
		break;
	case XSF_FLOW_FIELD_icmp6code:
		if (f->has & XSF_HAS_ICMP6)
			number(out, f->icmp_code);
		break;
	case XSF_FLOW_FIELD_tcpsourceport:
		if (f->has & XSF_HAS_TCP)
			number(out, f->source_port);
		break;
	case XSF_FLOW_FIELD_tcpdestinationport:
		if (f->has & XSF_HAS_TCP)
			number(out, f->destination_port);
		break;
	case XSF_FLOW_FIELD_tcpflags:
		if (f->has & XSF_HAS_TCP_FLAGS)
			word(out, xsf_tcp_flags_text(f->tcp_flags, flags));
		break;
	case XSF_FLOW_FIELD_udpsourceport:
		if (f->has & XSF_HAS_UDP)
			number(out, f->source_port);
		break;
	case XSF_FLOW_FIELD_udpdestinationport:
		if (f->has & XSF_HAS_UDP)
			number(out, f->destination_port);
		break;
	case XSF_FLOW_FIELD_vxlanvni:
		if (f->has & XSF_HAS_VXLAN)
			number(out, f->vni);
		break;
	default:
		break;
	}
}

void xsf_flow_field_text(const struct xsf_flow_event *e, enum xsf_flow_field field,
			 uint32_t occurrence, struct xsf_flow_text *out)
{
	const struct xsf_frame_fields *f;

	out->null = 1;
	out->len = 0;
	out->at[0] = '\0';
	if (field < XSF_FLOW_FIELD_stack) {
		sample_field(e, field, out);
		return;
	}
	if (field < XSF_FLOW_FIELD_FIRST_INNER) {
		roce_field(&e->packet, field, out);
		return;
	}
	if (occurrence >= e->packet.nr_frames)
		return;
	f = &e->packet.frame[occurrence];
	if (field <= XSF_FLOW_FIELD_arpiptarget) {
		link_field(f, field, out);
	} else if (field <= XSF_FLOW_FIELD_ip_offset) {
		if (f->has & XSF_HAS_IP4)
			ip_field(f, XSF_FLOW_FIELD_ipsource, field, out);
	} else if (field <= XSF_FLOW_FIELD_ip6_offset) {
		if (f->has & XSF_HAS_IP6)
			ip_field(f, XSF_FLOW_FIELD_ip6source, field, out);
	} else {
		transport_field(f, field, out);
	}
}
