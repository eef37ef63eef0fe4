// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A receiver that does nothing: what the way to it costs. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int bench_drop(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
