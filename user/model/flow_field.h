/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields that keys and filters of flows are made of, and their texts (DESIGN 5; sFlow-RT
 * define_flow.php for the names). Pure. Numbers are decimal, MAC addresses twelve upper-case digits,
 * IPv6 as in RFC 5952, ECN two binary digits, TCP flags nine (NS first), yes and no "true" and "false".
 * A field that the packet or the sample does not have is null. */
#ifndef XSF_MODEL_FLOW_FIELD_H
#define XSF_MODEL_FLOW_FIELD_H

#include "model/flow.h"
#include "model/packet_fields.h"

/* name, help. Those of the packet have an inner occurrence, name.1: that of the frame inside VXLAN. */
/* clang-format off */
#define XSF_FLOW_SAMPLE_FIELDS(X) \
	X(agent, "address of the agent") \
	X(datasource, "ifIndex of the data source; CLASS.INDEX when it is no interface") \
	X(inputifindex, "ifIndex; internal, unknown") \
	X(outputifindex, "ifIndex; internal, unknown, multiple, discard") \
	X(direction, "ingress, egress: where its source sampled it") \
	X(reason, "of a drop notification, by name") \
	X(function, "of a notification: the function of the kernel that dropped (record 1038)") \
	X(trapgroup, "of a notification: the group of its hardware trap (1041)") \
	X(trap, "of a notification: its hardware trap (1041)") \
	X(linuxreason, "of a notification: the kernel's own reason (1042)") \
	X(queueindex, "egress queue (1036)") \
	X(queuedepth, "bytes in it (1040)") \
	X(transitdelay, "nanoseconds (1039)") \
	X(frames, "packets that it stands for") \
	X(bytes, "length of the frame") \
	X(stripped, "bytes taken off the frame before it was sampled") \
	X(stack, "layers, as eth.ip.udp.ibbt") \
	X(ibbtopcode, "BTH: opcode") \
	X(ibbtopname, "its operation, as RDMA_WRITE") \
	X(ibbtoptransport, "its transport, as RC") \
	X(ibbtse, "solicited event") \
	X(ibbtm, "migration state") \
	X(ibbttver, "version") \
	X(ibbtdestqp, "destination queue pair") \
	X(ibbtack, "an acknowledgement is asked for") \
	X(ibbtpsn, "packet sequence number") \
	X(ibbt_offset, "bytes from the start of the packet to the BTH") \
	X(ibbtrdmalen, "RETH: length of the operation in bytes") \
	X(ibbtaethack, "AETH of an acknowledgement: credits")

#define XSF_FLOW_PACKET_FIELDS(X) \
	X(macsource, "source MAC address") \
	X(macdestination, "destination MAC address") \
	X(ethernetprotocol, "EtherType behind the tags") \
	X(vlan, "of the first tag") \
	X(priority, "likewise") \
	X(isunicast, "destination is one station") \
	X(isbroadcast, "destination is all") \
	X(ismulticast, "destination is a group, not all") \
	X(arpoperation, "1 request, 2 reply") \
	X(arpmacsender, "ARP: hardware address of the sender") \
	X(arpmactarget, "of the target") \
	X(arpipsender, "IPv4 address of the sender") \
	X(arpiptarget, "of the target") \
	X(ipsource, "IPv4 source") \
	X(ipdestination, "IPv4 destination") \
	X(ipprotocol, "IPv4: protocol") \
	X(iptos, "IPv4: TOS") \
	X(ipdscp, "its upper six bits") \
	X(ipecn, "its lower two") \
	X(ipttl, "IPv4: time to live") \
	X(ipbytes, "IPv4: total length") \
	X(ip_offset, "bytes from the start of the packet to the IPv4 header") \
	X(ip6source, "IPv6 source") \
	X(ip6destination, "IPv6 destination") \
	X(ip6nexthdr, "IPv6: protocol behind the extension headers") \
	X(ip6tos, "IPv6: traffic class") \
	X(ip6dscp, "its upper six bits") \
	X(ip6ecn, "its lower two") \
	X(ip6ttl, "IPv6: hop limit") \
	X(ip6bytes, "IPv6: length with its header") \
	X(ip6_offset, "bytes from the start of the packet to the IPv6 header") \
	X(icmptype, "ICMP: type") \
	X(icmpcode, "ICMP: code") \
	X(icmp6type, "ICMPv6: type") \
	X(icmp6code, "ICMPv6: code") \
	X(tcpsourceport, "TCP source port") \
	X(tcpdestinationport, "TCP destination port") \
	X(tcpflags, "TCP flags") \
	X(udpsourceport, "UDP source port") \
	X(udpdestinationport, "UDP destination port") \
	X(vxlanvni, "VXLAN network")
/* clang-format on */

#define XSF_FLOW_FIELD_ENUM(name, help) XSF_FLOW_FIELD_##name,
enum xsf_flow_field {
	XSF_FLOW_SAMPLE_FIELDS(XSF_FLOW_FIELD_ENUM) XSF_FLOW_PACKET_FIELDS(XSF_FLOW_FIELD_ENUM)
		XSF_NR_FLOW_FIELDS
};
#define XSF_FLOW_FIELD_FIRST_INNER XSF_FLOW_FIELD_macsource

/* A text as it is shown, with an end; null: there is none. */
struct xsf_flow_text {
	uint32_t len;
	uint8_t null;
	char at[XSF_FLOW_VALUE_TEXT + 1];
};

/* The event at hand, decoded once for all keys and filters of a flow. */
struct xsf_flow_event {
	const struct xsf_event *event;
	const struct xsf_flow_names *names; /* never NULL, its functions may be */
	struct xsf_packet_fields packet;
};
void xsf_flow_event(struct xsf_flow_event *e, const struct xsf_event *event,
		    const struct xsf_flow_names *names);

/* The field of that name, which need not end behind len bytes; negative: there is none. */
int xsf_flow_field(const char *name, size_t len);
const char *xsf_flow_field_name(enum xsf_flow_field field);
/* Its text is a decimal number wherever it is not null. */
int xsf_flow_field_is_number(enum xsf_flow_field field);

/* Its text; occurrence 0, 1 the inner one, any other is null. */
void xsf_flow_field_text(const struct xsf_flow_event *e, enum xsf_flow_field field,
			 uint32_t occurrence, struct xsf_flow_text *out);

/* Packets that the event stands for: sampling rate (1 for a notification), times what was shed before
 * it. */
double xsf_flow_weight(const struct xsf_event *event);

/* Where its source sampled it; what an entity sampled came in at its input (DESIGN.md 4.12). */
enum xsf_direction xsf_flow_direction(const struct xsf_event *event);

/* ifIndex of input or output; 0 unknown, SFLOW_IF_INTERNAL; multiple and discarded ones are 0. The
 * input of a notification that does not say is its data source, as in the counts by place
 * (xsf/event.h). */
uint32_t xsf_flow_ifindex(const struct xsf_event *event, int output);

/* len bytes as they are shown, cut to what fits: '?' for each that is not of a character which can be
 * (xsf_character) or a line feed. So two texts that differ are shown differently. */
void xsf_flow_text_set(struct xsf_flow_text *out, const char *text, size_t len);
void xsf_flow_text_append(struct xsf_flow_text *out, const char *text, size_t len);

#endif
