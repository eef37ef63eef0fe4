// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/event_text.h"

#include <stdarg.h>
#include <stdio.h>
#include "model/snapshot.h"

#define PROTO_TCP 6

__attribute__((format(printf, 2, 3))) static void add(struct xsf_text *t, const char *format, ...)
{
	char buf[128];
	va_list args;

	va_start(args, format);
	vsnprintf(buf, sizeof(buf), format, args);
	va_end(args);
	xsf_text_str(t, buf);
}

/* What needs no quotes: letters, digits, and what interfaces and functions have in their names. */
static int word(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      (c && strchr("_.-:/+@#%~", c))))
			return 0;
	}
	return n > 0;
}

void xsf_event_text_word(struct xsf_text *t, const char *s, size_t n)
{
	if (word(s, n)) {
		xsf_text_add(t, s, n);
		return;
	}
	xsf_text_char(t, '"');
	xsf_text_bytes(t, s, n);
	xsf_text_char(t, '"');
}

static void name(struct xsf_text *t, const char *s)
{
	xsf_event_text_word(t, s, strlen(s));
}

void xsf_event_text_place(struct xsf_text *t, const struct xsf_event_view *v)
{
	name(t, v->switch_);
	xsf_text_char(t, ' ');
	if (*v->port)
		name(t, v->port);
	else
		xsf_text_char(t, '?');
}

static void detail(struct xsf_text *t, const char *key, const uint8_t *s, uint8_t n, uint32_t cut)
{
	if (!n && !cut)
		return;
	add(t, " %s=", key);
	xsf_event_text_word(t, (const char *)s, XSF_MIN(n, XSF_EVENT_TEXT));
	if (cut)
		XSF_TEXT_LIT(t, "...");
}

void xsf_event_text_details(struct xsf_text *t, const struct xsf_event_view *v)
{
	const struct xsf_event *e = v->event;

	if (*v->output) {
		XSF_TEXT_LIT(t, " output=");
		name(t, v->output);
	}
	detail(t, "function", e->function, e->function_len, e->flags & XSF_EVENT_FUNCTION_CUT);
	detail(t, "linux", e->linux_reason, e->linux_len, e->flags & XSF_EVENT_LINUX_CUT);
	detail(t, "group", e->trap_group, e->trap_group_len, e->flags & XSF_EVENT_TRAP_GROUP_CUT);
	detail(t, "trap", e->trap, e->trap_len, e->flags & XSF_EVENT_TRAP_CUT);
	if (e->flags & XSF_EVENT_HAS_QUEUE)
		add(t, " queue=%u", e->queue);
	if (e->flags & XSF_EVENT_HAS_DEPTH)
		add(t, " depth=%u", e->depth);
	if (e->flags & XSF_EVENT_HAS_DELAY && e->delay_ns == UINT32_MAX)
		add(t, " delay>=%uns", e->delay_ns);
	else if (e->flags & XSF_EVENT_HAS_DELAY)
		add(t, " delay=%uns", e->delay_ns);
	if (e->flags & XSF_EVENT_DUPLICATE)
		XSF_TEXT_LIT(t, " duplicate");
}

/* ---- the packet ---- */

static void mac(struct xsf_text *t, const uint8_t a[6])
{
	add(t, "%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void tags(struct xsf_text *t, const struct xsf_frame_fields *f)
{
	for (uint32_t i = 0; i < f->nr_tags; i++)
		add(t, "%s%u", i ? "." : "vlan ", f->tags[i] & 0xfff);
	if (f->nr_tags)
		XSF_TEXT_LIT(t, ", ");
	for (uint32_t i = 0; i < f->nr_labels; i++)
		add(t, "%s%u", i ? "/" : "mpls ", f->labels[i] >> 12);
	if (f->nr_labels)
		XSF_TEXT_LIT(t, ", ");
}

/* "10.0.0.1.4000 > 10.0.0.2.53", as tcpdump. */
static void ends(struct xsf_text *t, const struct xsf_frame_fields *f)
{
	int ports = (f->has & (XSF_HAS_TCP | XSF_HAS_UDP)) != 0;

	xsf_text_address(t, f->ip_source);
	if (ports)
		add(t, ".%u", f->source_port);
	XSF_TEXT_LIT(t, " > ");
	xsf_text_address(t, f->ip_destination);
	if (ports)
		add(t, ".%u", f->destination_port);
}

static void tcp(struct xsf_text *t, const struct xsf_frame_fields *f)
{
	static const struct {
		uint16_t flag;
		char letter;
	} flags[] = { { 2, 'S' },  { 1, 'F' },	 { 8, 'P' },   { 4, 'R' }, { 32, 'U' },
		      { 64, 'E' }, { 128, 'W' }, { 256, 'e' }, { 16, '.' } };

	XSF_TEXT_LIT(t, "TCP");
	if (!(f->has & XSF_HAS_TCP_FLAGS))
		return;
	XSF_TEXT_LIT(t, " [");
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (f->tcp_flags & flags[i].flag)
			xsf_text_char(t, flags[i].letter);
	}
	if (!f->tcp_flags)
		XSF_TEXT_LIT(t, "none");
	add(t, "] seq %u", f->tcp_sequence);
	if (f->tcp_flags & 16)
		add(t, " ack %u", f->tcp_ack);
}

static void icmp(struct xsf_text *t, const struct xsf_frame_fields *f)
{
	static const struct {
		uint8_t six, type;
		const char *name;
	} types[] = {
		{ 0, 0, "echo reply" },
		{ 0, 3, "unreachable" },
		{ 0, 5, "redirect" },
		{ 0, 8, "echo request" },
		{ 0, 11, "time exceeded" },
		{ 1, 1, "unreachable" },
		{ 1, 2, "packet too big" },
		{ 1, 3, "time exceeded" },
		{ 1, 128, "echo request" },
		{ 1, 129, "echo reply" },
		{ 1, 133, "router solicitation" },
		{ 1, 134, "router advertisement" },
		{ 1, 135, "neighbor solicitation" },
		{ 1, 136, "neighbor advertisement" },
	};
	uint8_t six = (f->has & XSF_HAS_ICMP6) != 0;

	add(t, "ICMP%s", six ? "6" : "");
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].six == six && types[i].type == f->icmp_type)
			add(t, " %s", types[i].name);
	}
	add(t, " type %u code %u", f->icmp_type, f->icmp_code);
}

static void roce(struct xsf_text *t, const struct xsf_roce_fields *r)
{
	const char *transport, *ibta, *op;

	XSF_TEXT_LIT(t, "RoCE");
	if (!(r->has & XSF_HAS_BTH)) {
		XSF_TEXT_LIT(t, " [cut]");
		return;
	}
	if (xsf_opcode_names(r->opcode, &transport, &ibta, &op))
		add(t, " %s %s", transport, ibta);
	else
		add(t, " opcode %u", r->opcode);
	add(t, " qp 0x%06x psn %u", r->dest_qp, r->psn);
	if (r->has & XSF_HAS_RETH)
		add(t, " dma %u", r->dma_length);
	if (r->has & XSF_HAS_AETH)
		add(t, " syndrome %u", r->syndrome);
	if ((r->tos & 3) == 3)
		XSF_TEXT_LIT(t, " CE");
}

static void transport(struct xsf_text *t, const struct xsf_packet_fields *p,
		      const struct xsf_frame_fields *f, int last)
{
	if (f->has & XSF_HAS_FRAGMENT)
		add(t, "frag %u%s ", f->fragment_off, f->more_fragments ? "+" : "");
	if (f->has & XSF_HAS_TCP)
		tcp(t, f);
	else if (f->has & (XSF_HAS_ICMP | XSF_HAS_ICMP6))
		icmp(t, f);
	else if (f->has & XSF_HAS_UDP)
		XSF_TEXT_LIT(t, "UDP");
	else if (f->has & XSF_HAS_GRE)
		XSF_TEXT_LIT(t, "GRE");
	else if (f->has & XSF_HAS_PROTOCOL && f->protocol == PROTO_TCP)
		XSF_TEXT_LIT(t, "TCP");
	else if (f->has & XSF_HAS_PROTOCOL && f->protocol == NET_PROTO_UDP)
		XSF_TEXT_LIT(t, "UDP");
	else if (f->has & XSF_HAS_PROTOCOL)
		add(t, "protocol %u", f->protocol);
	else
		XSF_TEXT_LIT(t, "[cut]");
	if (f->has & XSF_HAS_GENEVE)
		XSF_TEXT_LIT(t, " GENEVE");
	if (f->has & XSF_HAS_VXLAN)
		add(t, " VXLAN vni %u", f->vni);
	if (last && p->roce.has & XSF_HAS_ROCE) {
		xsf_text_char(t, ' ');
		roce(t, &p->roce);
	}
}

static void arp(struct xsf_text *t, const struct xsf_frame_fields *f)
{
	XSF_TEXT_LIT(t, "ARP");
	if (!(f->has & XSF_HAS_ARP_IP)) {
		add(t, " operation %u", f->arp_operation);
	} else if (f->arp_operation == 1) {
		XSF_TEXT_LIT(t, " who-has ");
		xsf_text_address(t, f->arp_ip_target);
		XSF_TEXT_LIT(t, " tell ");
		xsf_text_address(t, f->arp_ip_sender);
	} else if (f->arp_operation == 2) {
		xsf_text_char(t, ' ');
		xsf_text_address(t, f->arp_ip_sender);
		XSF_TEXT_LIT(t, " is-at ");
		mac(t, f->arp_mac_sender);
	} else {
		add(t, " operation %u ", f->arp_operation);
		xsf_text_address(t, f->arp_ip_sender);
		XSF_TEXT_LIT(t, " > ");
		xsf_text_address(t, f->arp_ip_target);
	}
}

static void frame(struct xsf_text *t, const struct xsf_packet_fields *p,
		  const struct xsf_frame_fields *f, int last)
{
	int ip = (f->has & (XSF_HAS_IP4 | XSF_HAS_IP6)) != 0;

	if (!ip && f->has & XSF_HAS_ETHERNET) {
		mac(t, f->mac_source);
		XSF_TEXT_LIT(t, " > ");
		mac(t, f->mac_destination);
		XSF_TEXT_LIT(t, ", ");
	}
	tags(t, f);
	if (ip) {
		xsf_text_str(t, f->has & XSF_HAS_IP4 ? "IP " : "IP6 ");
		ends(t, f);
		XSF_TEXT_LIT(t, ": ");
		transport(t, p, f, last);
	} else if (f->has & XSF_HAS_ARP) {
		arp(t, f);
	} else if (last && p->roce.has & XSF_HAS_ROCE) {
		roce(t, &p->roce);
	} else if (f->has & XSF_HAS_ETHERNET && f->ethertype) {
		add(t, "ethertype 0x%04x", f->ethertype);
	} else {
		XSF_TEXT_LIT(t, "[cut]");
	}
}

void xsf_event_text_packet(struct xsf_text *t, const struct xsf_event_view *v)
{
	const struct xsf_packet_fields *p = &v->packet;

	if (!(v->event->flags & XSF_EVENT_HAS_HEADER)) {
		XSF_TEXT_LIT(t, "no header");
		return;
	}
	if (!p->nr_frames)
		add(t, "header protocol %u", v->event->protocol);
	for (uint32_t i = 0; i < p->nr_frames; i++) {
		if (i)
			XSF_TEXT_LIT(t, ": ");
		frame(t, p, &p->frame[i], i + 1 == p->nr_frames);
	}
	add(t, ", length %u", v->length);
}

/* ---- the whole ---- */

void xsf_event_text(struct xsf_text *t, const struct xsf_event_view *v)
{
	xsf_event_text_place(t, v);
	xsf_text_char(t, ' ');
	xsf_text_str(t, v->reason);
	xsf_event_text_details(t, v);
	XSF_TEXT_LIT(t, " | ");
	xsf_event_text_packet(t, v);
}

void xsf_event_text_flow(struct xsf_text *t, const struct xsf_event_view *v)
{
	const struct xsf_packet_fields *p = &v->packet;
	const struct xsf_frame_fields *f = p->nr_frames ? &p->frame[p->nr_frames - 1] : NULL;
	const char *how = "";

	if (!f || !(f->has & (XSF_HAS_IP4 | XSF_HAS_IP6 | XSF_HAS_ETHERNET))) {
		XSF_TEXT_LIT(t, "?");
		return;
	}
	if (f->has & (XSF_HAS_IP4 | XSF_HAS_IP6)) {
		ends(t, f);
		how = f->has & XSF_HAS_TCP		      ? " TCP" :
		      p->roce.has & XSF_HAS_ROCE	      ? " RoCE" :
		      f->has & XSF_HAS_UDP		      ? " UDP" :
		      f->has & (XSF_HAS_ICMP | XSF_HAS_ICMP6) ? " ICMP" :
								"";
		xsf_text_str(t, how);
		if (!*how && f->has & XSF_HAS_PROTOCOL)
			add(t, " protocol %u", f->protocol);
		return;
	}
	mac(t, f->mac_source);
	XSF_TEXT_LIT(t, " > ");
	mac(t, f->mac_destination);
	if (f->has & XSF_HAS_ARP)
		XSF_TEXT_LIT(t, " ARP");
	else
		add(t, " ethertype 0x%04x", f->ethertype);
}
