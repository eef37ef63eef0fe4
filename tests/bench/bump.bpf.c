// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes a frame that a test run repeats the next one of its agent, then runs the program to be measured. */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "bump.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bump);
} bench_bumps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} bench_next SEC(".maps");

SEC("xdp")
int bench_bump(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data, *data_end = (__u8 *)(long)ctx->data_end;
	__u32 zero = 0;
	const struct bump *b = bpf_map_lookup_elem(&bench_bumps, &zero);

	if (!b)
		return XDP_ABORTED;
	for (__u64 i = 0; i < BUMP_FIELDS; i++) {
		__u64 off = b->field[i].off & 0x7ff; /* above any frame of mix.c */
		__u32 *word;

		asm volatile("" : "+r"(off));
		if (i >= b->nr)
			break;
		word = (__u32 *)(data + off);
		if ((__u8 *)(word + 1) > data_end)
			return XDP_ABORTED;
		*word = bpf_htonl(bpf_ntohl(*word) + b->field[i].by);
	}
	bpf_tail_call(ctx, &bench_next, 0);
	return XDP_ABORTED;
}

char _license[] SEC("license") = "Dual BSD/GPL";
