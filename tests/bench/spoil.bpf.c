// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For the checksum program: one that does nothing, and one that first makes the checksum of a plain IPv6 UDP
 * packet wrong, since only the first run of many would find it so. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#define CHECK (14 + 40 + 6)

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} bench_next SEC(".maps");

SEC("tc")
int bench_nothing(struct __sk_buff *skb)
{
	(void)skb;
	return TC_ACT_UNSPEC;
}

SEC("tc")
int bench_spoil(struct __sk_buff *skb)
{
	__u8 *data = (__u8 *)(long)skb->data, *data_end = (__u8 *)(long)skb->data_end;

	if (data + CHECK + 2 > data_end)
		return TC_ACT_SHOT;
	data[CHECK] ^= 0x55;
	bpf_tail_call(skb, &bench_next, 0);
	return TC_ACT_SHOT;
}

char _license[] SEC("license") = "Dual BSD/GPL";
