// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/event_json.h"

#include <stdio.h>
#include <time.h>
#include "model/snapshot.h"
#include "serve/json_write.h"

static void string(struct xsf_writer *w, const char *key, const char *s, size_t n)
{
	xsf_json_key(w, key);
	xsf_text_char(w->t, '"');
	xsf_text_bytes(w->t, s, n);
	xsf_text_char(w->t, '"');
	w->comma = 1;
}

static void hex(struct xsf_writer *w, const char *key, const uint8_t *p, uint32_t n)
{
	static const char digit[] = "0123456789abcdef";

	xsf_json_key(w, key);
	xsf_text_char(w->t, '"');
	for (uint32_t i = 0; i < n; i++) {
		xsf_text_char(w->t, digit[p[i] >> 4]);
		xsf_text_char(w->t, digit[p[i] & 15]);
	}
	xsf_text_char(w->t, '"');
	w->comma = 1;
}

static void mac(struct xsf_writer *w, const char *key, const uint8_t a[6])
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2], a[3], a[4],
		 a[5]);
	xsf_json_str(w, key, buf);
}

/* RFC 3339, UTC, nanoseconds. */
static void utc(struct xsf_writer *w, const char *key, uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char day[40], text[64];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm))
		return;
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%09uZ", day, (unsigned int)(ns % 1000000000));
	xsf_json_str(w, key, text);
}

static void quoted_u64(struct xsf_writer *w, const char *key, uint64_t v)
{
	xsf_json_key(w, key);
	xsf_text_char(w->t, '"');
	xsf_text_u64(w->t, v);
	xsf_text_char(w->t, '"');
	w->comma = 1;
}

/* A text of the notification, and whether it was longer. */
static void text(struct xsf_writer *w, const char *key, const char *cut_key, const uint8_t *s,
		 uint8_t n, uint32_t cut)
{
	if (!n && !cut)
		return;
	string(w, key, (const char *)s, XSF_MIN(n, XSF_EVENT_TEXT));
	if (cut)
		xsf_json_bool(w, cut_key, 1);
}

static void ip(struct xsf_writer *w, const struct xsf_frame_fields *f)
{
	xsf_json_u64(w, "ip_version", f->has & XSF_HAS_IP4 ? 4 : 6);
	xsf_json_address(w, "source", f->ip_source);
	xsf_json_address(w, "destination", f->ip_destination);
	xsf_json_u64(w, "ip_bytes", f->ip_bytes);
	xsf_json_u64(w, "dscp", f->tos >> 2);
	xsf_json_u64(w, "ecn", f->tos & 3);
	xsf_json_u64(w, "ttl", f->ttl);
	if (f->has & XSF_HAS_PROTOCOL)
		xsf_json_u64(w, "protocol", f->protocol);
	if (f->has & XSF_HAS_FRAGMENT) {
		xsf_json_u64(w, "fragment_offset", f->fragment_off);
		xsf_json_bool(w, "more_fragments", f->more_fragments);
	}
	if (f->has & (XSF_HAS_TCP | XSF_HAS_UDP)) {
		xsf_json_u64(w, "source_port", f->source_port);
		xsf_json_u64(w, "destination_port", f->destination_port);
	}
	if (f->has & XSF_HAS_TCP_FLAGS) {
		xsf_json_u64(w, "tcp_flags", f->tcp_flags);
		xsf_json_u64(w, "tcp_sequence", f->tcp_sequence);
		xsf_json_u64(w, "tcp_ack", f->tcp_ack);
	}
	if (f->has & (XSF_HAS_ICMP | XSF_HAS_ICMP6)) {
		xsf_json_u64(w, "icmp_type", f->icmp_type);
		xsf_json_u64(w, "icmp_code", f->icmp_code);
	}
	if (f->has & XSF_HAS_VXLAN)
		xsf_json_u64(w, "vxlan_vni", f->vni);
}

static void arp(struct xsf_writer *w, const struct xsf_frame_fields *f)
{
	xsf_json_open_at(w, "arp", '{');
	xsf_json_u64(w, "operation", f->arp_operation);
	if (f->has & XSF_HAS_ARP_IP) {
		mac(w, "sender_mac", f->arp_mac_sender);
		xsf_json_address(w, "sender", f->arp_ip_sender);
		mac(w, "target_mac", f->arp_mac_target);
		xsf_json_address(w, "target", f->arp_ip_target);
	}
	xsf_json_shut(w, '}');
}

static void roce(struct xsf_writer *w, const struct xsf_roce_fields *r)
{
	const char *transport, *ibta, *op;

	xsf_json_open_at(w, "roce", '{');
	if (r->has & XSF_HAS_BTH) {
		xsf_json_u64(w, "opcode", r->opcode);
		if (xsf_opcode_names(r->opcode, &transport, &ibta, &op)) {
			xsf_json_str(w, "transport", transport);
			xsf_json_str(w, "operation", op);
			xsf_json_str(w, "name", ibta);
		}
		xsf_json_u64(w, "dest_qp", r->dest_qp);
		xsf_json_u64(w, "psn", r->psn);
		xsf_json_u64(w, "pkey", r->pkey);
		xsf_json_bool(w, "ack_request", r->ack_request);
	}
	if (r->has & XSF_HAS_RETH)
		xsf_json_u64(w, "dma_length", r->dma_length);
	if (r->has & XSF_HAS_AETH)
		xsf_json_u64(w, "syndrome", r->syndrome);
	xsf_json_shut(w, '}');
}

static void frame(struct xsf_writer *w, const struct xsf_frame_fields *f)
{
	if (f->has & XSF_HAS_ETHERNET) {
		mac(w, "mac_source", f->mac_source);
		mac(w, "mac_destination", f->mac_destination);
		xsf_json_u64(w, "ethertype", f->ethertype);
	}
	if (f->nr_tags) {
		xsf_json_open_at(w, "vlan", '[');
		for (uint32_t i = 0; i < f->nr_tags; i++)
			xsf_json_u64(w, NULL, f->tags[i] & 0xfff);
		xsf_json_shut(w, ']');
	}
	if (f->nr_labels) {
		xsf_json_open_at(w, "mpls", '[');
		for (uint32_t i = 0; i < f->nr_labels; i++)
			xsf_json_u64(w, NULL, f->labels[i] >> 12);
		xsf_json_shut(w, ']');
	}
	if (f->has & XSF_HAS_ARP)
		arp(w, f);
	if (f->has & (XSF_HAS_IP4 | XSF_HAS_IP6))
		ip(w, f);
}

static void packet(struct xsf_writer *w, const struct xsf_event_view *v)
{
	const struct xsf_packet_fields *p = &v->packet;
	char stack[XSF_STACK_TEXT];

	xsf_json_open_at(w, "packet", '{');
	xsf_json_str(w, "stack", xsf_stack_text(p, stack));
	xsf_json_u64(w, "length", v->length);
	if (p->nr_frames)
		frame(w, &p->frame[0]);
	if (p->nr_frames > 1) {
		xsf_json_open_at(w, "inner", '{');
		frame(w, &p->frame[1]);
		xsf_json_shut(w, '}');
	}
	if (p->roce.has & XSF_HAS_ROCE)
		roce(w, &p->roce);
	xsf_json_shut(w, '}');
}

static void records(struct xsf_writer *w, const struct xsf_event *e)
{
	text(w, "function", "function_cut", e->function, e->function_len,
	     e->flags & XSF_EVENT_FUNCTION_CUT);
	text(w, "trap_group", "trap_group_cut", e->trap_group, e->trap_group_len,
	     e->flags & XSF_EVENT_TRAP_GROUP_CUT);
	text(w, "trap", "trap_cut", e->trap, e->trap_len, e->flags & XSF_EVENT_TRAP_CUT);
	text(w, "linux_reason", "linux_reason_cut", e->linux_reason, e->linux_len,
	     e->flags & XSF_EVENT_LINUX_CUT);
	if (e->flags & XSF_EVENT_HAS_QUEUE)
		xsf_json_u64(w, "queue", e->queue);
	if (e->flags & XSF_EVENT_HAS_DEPTH)
		xsf_json_u64(w, "queue_depth_bytes", e->depth);
	if (e->flags & XSF_EVENT_HAS_DELAY) {
		xsf_json_u64(w, "transit_delay_ns", e->delay_ns);
		/* The standard's way to say more than fits. */
		if (e->delay_ns == UINT32_MAX)
			xsf_json_bool(w, "transit_delay_at_least", 1);
	}
	if (e->flags & XSF_EVENT_HAS_TIME)
		quoted_u64(w, "timestamp", e->timestamp_ns);
}

void xsf_event_json(struct xsf_text *t, const struct xsf_event_view *v)
{
	const struct xsf_event *e = v->event;
	struct xsf_writer w = { .t = t };

	xsf_json_open_at(&w, NULL, '{');
	utc(&w, "time", v->time_ns);
	string(&w, "switch", v->switch_, strlen(v->switch_));
	if (*v->port)
		string(&w, "port", v->port, strlen(v->port));
	if (*v->output)
		string(&w, "output_port", v->output, strlen(v->output));
	xsf_json_str(&w, "reason", v->reason);
	xsf_json_u64(&w, "reason_code", e->reason);
	xsf_json_address(&w, "agent", e->agent.addr);
	xsf_json_u64(&w, "sub_agent", e->agent.sub_agent);
	xsf_json_open_at(&w, "source", '{');
	xsf_json_u64(&w, "class", e->class);
	xsf_json_u64(&w, "index", e->index);
	xsf_json_shut(&w, '}');
	xsf_json_u64(&w, "sequence", e->sequence);
	xsf_json_u64(&w, "drops", e->drops);
	xsf_json_u64(&w, "input", e->input);
	xsf_json_u64(&w, "output", e->output);
	records(&w, e);
	if (e->flags & XSF_EVENT_DUPLICATE)
		xsf_json_bool(&w, "duplicate", 1);
	/* Notifications before it that a full ring left out. */
	if (e->shed)
		xsf_json_u64(&w, "shed", e->shed);
	if (e->flags & XSF_EVENT_HAS_HEADER) {
		xsf_json_u64(&w, "header_protocol", e->protocol);
		xsf_json_u64(&w, "frame_length", e->frame_len);
		xsf_json_u64(&w, "stripped", e->stripped);
		xsf_json_u64(&w, "header_length", e->header_len);
		hex(&w, "header", e->header, XSF_MIN(e->header_kept, XSF_EVENT_HEADER));
		packet(&w, v);
	}
	xsf_json_shut(&w, '}');
}
