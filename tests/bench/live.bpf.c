// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sender's side of live.c, run by BPF_F_TEST_XDP_LIVE_FRAMES: makes each frame one of a set, in turn,
 * and redirects it. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "live.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* as many as there are frames */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct live_frame);
} live_frames SEC(".maps");

/* One sender on one CPU: plain additions. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct live_state);
} live_states SEC(".maps");

const volatile struct live_config live_config = {};

SEC("xdp")
int live_send(struct xdp_md *ctx)
{
	__u32 zero = 0, i;
	struct live_state *s = bpf_map_lookup_elem(&live_states, &zero);
	struct live_frame *f;
	__u64 len;

	if (!s)
		return XDP_ABORTED;
	i = (__u32)s->next;
	s->next = i + 1 < live_config.nr_frames ? i + 1 : 0;
	f = bpf_map_lookup_elem(&live_frames, &i);
	if (!f)
		goto failed;
	len = f->len - 1;
	asm volatile("" : "+r"(len));
	if (len >= LIVE_FRAME_MAX || bpf_xdp_store_bytes(ctx, 0, f->bytes, (__u32)len + 1) ||
	    bpf_xdp_adjust_tail(ctx, (int)len + 1 - LIVE_FRAME_MAX))
		goto failed;
	s->sent++;
	return live_config.ifindex ? (int)bpf_redirect(live_config.ifindex, 0) : XDP_DROP;

failed:
	s->failed++;
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
