// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* XDP: finds sFlow datagrams, copies their payload to scratch, walks and counts them. Whatever is not
 * understood is counted by reason and passed on. */
#include "maps.bpf.h"
#include "../include/xsf/walk.h"
#include "events.bpf.h"

/* The coarse clock moves once a tick, so it is read once a tick: the tick costs a load, the clock a call. */
static __always_inline void xsf_clock(struct xsf_walk *w)
{
	__u64 tick = bpf_jiffies64();

	if (w->tick == tick)
		return;
	w->tick = tick;
	w->now_ns = bpf_ktime_get_coarse_ns();
	w->local_known = 0;
}

/* Is this an address of the host? Asked once a tick, too: nearly all datagrams go to one. */
static __always_inline int xsf_is_local(struct xsf_walk *w, const __u8 addr[16])
{
	if (w->local_known && XSF_LOAD64(w->local) == XSF_LOAD64(addr) &&
	    XSF_LOAD64(w->local + 8) == XSF_LOAD64(addr + 8))
		return 1;
	if (!bpf_map_lookup_elem(&xsf_local, addr))
		return 0;
	__builtin_memcpy(w->local, addr, sizeof(w->local));
	w->local_known = 1;
	return 1;
}

/* Dropping is only for datagrams that were understood and would have ended at this host. */
static __always_inline int xsf_verdict(struct xsf_walk *w, struct xsf_totals *t,
				       const struct xsf_outer *o, struct xsf_port *port, int sound)
{
	if (!sound || !(xsf_cfg()->flags & XSF_F_CONSUME) || !xsf_is_local(w, o->destination))
		return XDP_PASS;
	t->consumed++;
	if (port)
		port->consumed++;
	return XDP_DROP;
}

static __always_inline int xsf_allowed(const struct xsf_outer *o)
{
	struct xsf_prefix_key key = { .prefixlen = 128 };

	__builtin_memcpy(key.addr, o->source, sizeof(key.addr));
	return bpf_map_lookup_elem(&xsf_allow, &key) != 0;
}

static __always_inline int xsf_frame(struct xdp_md *ctx)
{
	struct xsf_outer o = {};
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);
	struct xsf_port *port;
	struct xsf_walk *w;
	__u32 outcome, zero = 0;
	__u64 len;

	if (!t)
		return XDP_PASS;
	o.data = (const __u8 *)(long)ctx->data;
	o.data_end = (const __u8 *)(long)ctx->data_end;
	o.frame_len = (__u32)bpf_xdp_get_buff_len(ctx);
	if (o.data + NET_ETH_LEN > o.data_end) {
		t->short_frame++;
		return XDP_PASS;
	}
	o.type = xsf_be16(o.data + 12);
	o.off = NET_ETH_LEN;
	outcome = xsf_outer_parse(&o, xsf_cfg());
	port = xsf_port_arrived(&o, outcome, ctx->ingress_ifindex);
	if (outcome != XSF_FRAME_datagram) {
		xsf_outer_count(t, &o, outcome);
		return XDP_PASS;
	}

	t->datagrams++;
	if (xsf_cfg()->flags & XSF_F_ALLOW_LIST && !xsf_allowed(&o)) {
		t->datagram_denied++;
		if (!(xsf_cfg()->flags & XSF_F_DROP_DENIED))
			return XDP_PASS;
		t->denied_dropped++;
		if (port)
			port->denied_dropped++;
		return XDP_DROP;
	}
	if (o.bad_length) {
		t->fault_udp_length++;
		t->datagram_refused++;
		return XDP_PASS;
	}
	len = o.payload_len;
	if (len > XSF_MAX_PAYLOAD) {
		t->bytes += len;
		t->datagram_too_long++;
		return XDP_PASS;
	}
	w = bpf_map_lookup_elem(&xsf_scratch, &zero);
	if (!w)
		return XDP_PASS;
	w->len = (__u32)len;
	/* 6.1 learns nothing from "not 0": the bounds are put on what is one less. */
	len--;
	XSF_OPAQUE(len);
	if (len < XSF_MAX_PAYLOAD && bpf_xdp_load_bytes(ctx, o.off, w->buf, (__u32)(len + 1))) {
		t->datagram_unreadable++;
		return XDP_PASS;
	}
	xsf_clock(w);
	w->cpu = bpf_get_smp_processor_id();
	w->flags = xsf_cfg()->flags;
	return xsf_verdict(w, t, &o, port, xsf_walk(w, t, &o));
}

SEC("xdp")
int xsf_xdp(struct xdp_md *ctx)
{
	return xsf_frame(ctx);
}

/* The same for frames of several buffers (MTU above the driver's limit for one). */
SEC("xdp.frags")
int xsf_xdp_frags(struct xdp_md *ctx)
{
	return xsf_frame(ctx);
}

char _license[] SEC("license") = "Dual BSD/GPL";
