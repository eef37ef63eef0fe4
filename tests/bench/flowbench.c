// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a flow costs its exporter: flowbench [LIVE] [RATE]
 *
 * LIVE keys (default 10000) of the drops that sFlow-RT's dashboard asks for, ten keys each, and RATE
 * notifications a second (default 10000) spread over them, each of its own packet. Prints ns an event, ms a
 * scrape of the 20 largest, and the share of one core that a second of them takes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xsf/net.h>
#include <xsf/sflow.h>

#include "model/flow.h"
#include "model/frame.h"

#define ROUNDS 5

static const char keys[] =
	"node:inputifindex,ifname:inputifindex,reason,stack,macsource,macdestination,"
	"null:vlan:untagged,null:[or:ipsource:ip6source]:none,"
	"null:[or:ipdestination:ip6destination]:none,"
	"null:[or:icmptype:icmp6type:ipprotocol:ip6nexthdr]:none";

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static const char *node(void *arg, const struct xsf_event *event, uint32_t ifindex)
{
	(void)arg, (void)ifindex;
	return event->agent.addr[15] & 1 ? "leaf1" : "leaf2";
}

static const char *ifname(void *arg, const struct xsf_event *event, uint32_t ifindex)
{
	static const char *const ports[] = { "swp1", "swp2", "swp3", "swp4",
					     "swp5", "swp6", "swp7", "swp8" };

	(void)arg, (void)event;
	return ports[ifindex % 8];
}

/* Flow i: a RoCE write over IPv4, or TCP over IPv6 for one of three. */
static void make_event(struct xsf_event *e, uint32_t i)
{
	const uint8_t mac[2][6] = { { 2, 0, 0, 0, 0, 1 },
				    { 2, 0, 0, 0, (uint8_t)(i >> 8), (uint8_t)i } };
	struct xsf_frame_bth bth = { .opcode = 10, .dest_qp = i };
	struct xsf_frame_ip ip = { .ttl = 64 };
	struct xsf_frame f;

	memset(e, 0, sizeof(*e));
	memcpy(e->agent.addr, (uint8_t[16]){ [10] = 255, 255, 10, 0, 0, (uint8_t)(i % 64) }, 16);
	e->input = i % 48 + 1;
	e->reason = 256 + i % 30;
	xsf_frame_begin(&f);
	xsf_frame_ethernet(&f, mac[0], mac[1], i % 3 ? NET_TYPE_IP4 : NET_TYPE_IP6);
	if (i % 3) {
		memcpy(ip.src,
		       (uint8_t[16]){ [10] = 255, 255, 10, 1, (uint8_t)(i >> 8), (uint8_t)i }, 16);
		memcpy(ip.dst, (uint8_t[16]){ [10] = 255, 255, 10, 2, (uint8_t)i, 9 }, 16);
		ip.proto = NET_PROTO_UDP;
		xsf_frame_ip4(&f, &ip);
		xsf_frame_udp(&f, 49152, NET_PORT_ROCE, 0);
		xsf_frame_bth(&f, &bth);
	} else {
		memcpy(ip.src,
		       (uint8_t[16]){ 0x20, 1, 0xd, 0xb8, [14] = (uint8_t)(i >> 8), (uint8_t)i },
		       16);
		memcpy(ip.dst, (uint8_t[16]){ 0x20, 1, 0xd, 0xb8, [15] = 1 }, 16);
		ip.proto = 6;
		xsf_frame_ip6(&f, &ip);
		xsf_frame_tcp(&f, 50000, 443, 1, 1, 0x10);
	}
	if (xsf_frame_end(&f, 1000))
		abort();
	e->flags = XSF_EVENT_HAS_HEADER;
	e->protocol = SFLOW_PROTO_ETHERNET;
	e->frame_len = f.wire + 4;
	e->header_len = e->header_kept = xsf_frame_seen(&f, XSF_EVENT_HEADER);
	memcpy(e->header, f.bytes, e->header_kept);
}

int main(int argc, char **argv)
{
	struct xsf_flow_options o = {
		.keys = keys, .value = "frames", .t = 15, .dropped = 1, .seed = 1
	};
	const struct xsf_flow_names names = { .node = node, .ifname = ifname };
	struct xsf_flow_query query = { .agents = "ALL", .max_flows = 20, .min_value = 0.001 };
	uint32_t live = argc > 1 ? (uint32_t)atoi(argv[1]) : 10000;
	uint32_t rate = argc > 2 ? (uint32_t)atoi(argv[2]) : 10000;
	double event_ns = INFINITY, scrape_ns = INFINITY;
	const struct xsf_flow_row *rows;
	struct xsf_flow_counts counts;
	struct xsf_flow_error error;
	struct xsf_event *events;
	struct xsf_flow *flow;
	uint64_t now = 1;

	events = live ? calloc(live, sizeof(*events)) : NULL;
	if (!events || !rate || xsf_flow_new(&o, &flow, &error))
		return 1;
	for (uint32_t i = 0; i < live; i++)
		make_event(&events[i], i);
	/* Each round is as many seconds as every key needs to come once, or one. */
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t nr = live > rate ? live : rate;
		uint64_t began = cpu_ns(), then;

		for (uint32_t i = 0; i < nr; i++)
			xsf_flow_add(flow, &names, &events[i % live], now += 1000000000 / rate);
		then = cpu_ns();
		if (xsf_flow_rows(flow, &query, now, &rows, &error) < 0)
			return 1;
		scrape_ns = fmin(scrape_ns, (double)(cpu_ns() - then));
		event_ns = fmin(event_ns, (double)(then - began) / nr);
	}
	xsf_flow_count(flow, &counts);
	printf("%u live keys, %u events a second: %.0f ns an event, %.2f ms a scrape, %.2f %% of a "
	       "core\n",
	       counts.records, rate, event_ns, scrape_ns / 1e6,
	       100 * (event_ns * rate + scrape_ns) / 1e9);
	xsf_flow_free(flow);
	free(events);
	return 0;
}
