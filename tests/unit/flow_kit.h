/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events, names and definitions for the tests of flows (model/flow.h). */
#ifndef XSF_TEST_FLOW_KIT_H
#define XSF_TEST_FLOW_KIT_H

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <xsf/net.h>
#include <xsf/sflow.h>

#include "model/binding.h"
#include "model/flow.h"
#include "model/frame.h"

#define SECOND 1000000000ull

static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 0xaa }, mac_b[6] = { 2, 0, 0, 0, 0, 0xbb };

static inline struct xsf_event base_event(uint32_t flags)
{
	struct xsf_event e = { .flags = flags,
			       .class = 0,
			       .index = 3,
			       .input = 3,
			       .output = 4,
			       .reason = 258,
			       .rate = flags & XSF_EVENT_FLOW ? 1000 : 0 };

	memcpy(e.agent.addr, (uint8_t[16]){ [10] = 255, 255, 10, 0, 0, 1 }, 16);
	return e;
}

static inline void put_frame(struct xsf_event *e, struct xsf_frame *f)
{
	assert_int_equal(xsf_frame_end(f, 64), 0);
	e->flags |= XSF_EVENT_HAS_HEADER;
	e->protocol = SFLOW_PROTO_ETHERNET;
	e->frame_len = f->wire + 4;
	e->stripped = 4;
	e->header_len = e->header_kept = xsf_frame_seen(f, XSF_EVENT_HEADER);
	memcpy(e->header, f->bytes, e->header_kept);
}

static inline struct xsf_frame_ip ip4(uint8_t proto, uint8_t last)
{
	struct xsf_frame_ip ip = { .tos = 3, .ttl = 64, .proto = proto };

	memcpy(ip.src, (uint8_t[16]){ [10] = 255, 255, 192, 0, 2, last }, 16);
	memcpy(ip.dst, (uint8_t[16]){ [10] = 255, 255, 192, 0, 2, 200 }, 16);
	return ip;
}

static inline struct xsf_event roce_event(uint32_t flags, uint8_t last)
{
	struct xsf_frame_bth bth = {
		.opcode = 6, .flags = 0x40, .dest_qp = 291, .psn = 7, .ack = 1
	};
	struct xsf_frame_ip ip = ip4(NET_PROTO_UDP, last);
	struct xsf_event e = base_event(flags);
	struct xsf_frame f;

	xsf_frame_begin(&f);
	xsf_frame_ethernet(&f, mac_b, mac_a, NET_TYPE_VLAN);
	xsf_frame_vlan(&f, 77, NET_TYPE_IP4);
	xsf_frame_ip4(&f, &ip);
	xsf_frame_udp(&f, 49152, 4791, 0);
	xsf_frame_bth(&f, &bth);
	xsf_frame_reth(&f, 1, 2, 32768);
	put_frame(&e, &f);
	return e;
}

static inline struct xsf_event tcp_event(uint32_t flags)
{
	struct xsf_frame_ip ip = { .ttl = 9, .tos = 0xb9, .proto = 6 };
	struct xsf_event e = base_event(flags);
	struct xsf_frame f;

	ip.src[0] = 0x20, ip.src[1] = 1, ip.src[15] = 1;
	ip.dst[0] = 0x20, ip.dst[1] = 1, ip.dst[15] = 2;
	xsf_frame_begin(&f);
	xsf_frame_ethernet(&f, mac_b, mac_a, NET_TYPE_IP6);
	xsf_frame_ip6(&f, &ip);
	xsf_frame_tcp(&f, 179, 50000, 1, 1, 0x10);
	put_frame(&e, &f);
	return e;
}

static const char *node(void *arg, const struct xsf_event *e, uint32_t ifindex)
{
	(void)arg, (void)e, (void)ifindex;
	return "leaf\"1";
}

static const char *ifname(void *arg, const struct xsf_event *e, uint32_t ifindex)
{
	static char text[16];

	(void)arg, (void)e;
	snprintf(text, sizeof(text), "swp%u", ifindex);
	return text;
}

static const char *uplink(void *arg, const struct xsf_event *e, uint32_t ifindex)
{
	(void)arg, (void)e;
	return ifindex == 4 ? "L4" : NULL;
}

static inline uint32_t role(void *arg, const struct xsf_event *e)
{
	(void)arg;
	return e->index < 10 ? XSF_ROLE_EDGE : XSF_ROLE_CORE;
}

static inline int in_topology(void *arg, const struct xsf_event *e)
{
	(void)arg;
	return e->index != 9;
}

static const char *group(void *arg, const char *table, const char *address)
{
	(void)arg;
	return !strcmp(table, "g2") && !strcmp(address, "192.0.2.1") ? "inside" : NULL;
}

static const struct xsf_flow_names names = { .node = node,
					     .ifname = ifname,
					     .link = uplink,
					     .role = role,
					     .in_topology = in_topology,
					     .group = group };

static inline struct xsf_flow *flow_of(const struct xsf_flow_options *o)
{
	struct xsf_flow_error error;
	struct xsf_flow *f;
	int err = xsf_flow_new(o, &f, &error);

	if (err)
		fail_msg("%s: %s at %u: %s", o->keys, error.what, error.at, error.why);
	return f;
}

static const struct xsf_flow_query everything = { .agents = "ALL", .max_flows = 1000 };

/* The texts of the keys of one event, joined by '|'; "-" where one is null. */
static inline void expect_keys(const char *keys, const struct xsf_event *e, const char *want)
{
	struct xsf_flow_options o = {
		.keys = keys, .value = "frames", .t = 1, .dropped = !(e->flags & XSF_EVENT_FLOW)
	};
	struct xsf_flow *f = flow_of(&o);
	const struct xsf_flow_row *rows;
	struct xsf_flow_error error;
	char got[4096] = "-";
	int nr;

	xsf_flow_add(f, &names, e, SECOND);
	nr = xsf_flow_rows(f, &everything, SECOND, &rows, &error);
	assert_true(nr == 0 || nr == 1);
	if (nr)
		got[0] = '\0';
	for (uint32_t k = 0; nr && k < xsf_flow_nr_keys(f); k++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", k ? "|" : "",
			 rows[0].keys[k]);
	if (strcmp(got, want))
		fail_msg("%s: got %s, want %s", keys, got, want);
	xsf_flow_free(f);
}

static inline void expect_filter(const char *filter, const struct xsf_event *e, int want)
{
	struct xsf_flow_options o = { .keys = "",
				      .value = "frames",
				      .filter = filter,
				      .t = 1,
				      .dropped = !(e->flags & XSF_EVENT_FLOW) };
	struct xsf_flow *f = flow_of(&o);
	struct xsf_flow_counts counts;

	xsf_flow_add(f, &names, e, SECOND);
	xsf_flow_count(f, &counts);
	assert_int_equal(counts.events, 1);
	if (counts.counted != (uint64_t)want)
		fail_msg("%s: %d, want %d", filter, (int)counts.counted, want);
	xsf_flow_free(f);
}

static inline double only_value(struct xsf_flow *f, const struct xsf_flow_query *q, uint64_t now)
{
	const struct xsf_flow_row *rows;
	struct xsf_flow_error error;
	int nr = xsf_flow_rows(f, q, now, &rows, &error);

	assert_in_range(nr, 0, 1);
	return nr ? rows[0].value : -1;
}

#endif
