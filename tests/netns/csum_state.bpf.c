// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters before and behind csum6: one says that a packet's checksum is known to be right, one counts what
 * the packets that come by are said to be. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "../../vmlinux/vmlinux.h"

/* By ip_summed * 4 + csum_level: UDP over IPv6 to 6343. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 16);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, __u64);
} csum_state SEC(".maps");

SEC("tc/unnecessary")
int csum_state_unnecessary(struct __sk_buff *skb)
{
	bpf_csum_level(skb, BPF_CSUM_LEVEL_INC);
	return TC_ACT_UNSPEC;
}

SEC("tc/count")
int csum_state_count(struct __sk_buff *skb)
{
	struct sk_buff *kernel = (void *)skb;
	__u8 p[44];
	__u32 at;
	__u64 *n;

	if (bpf_skb_load_bytes_relative(skb, 0, p, sizeof(p), BPF_HDR_START_NET) ||
	    p[0] >> 4 != 6 || p[6] != 17 || p[42] != 6343 >> 8 || p[43] != (6343 & 0xff))
		return TC_ACT_UNSPEC;
	at = (__u32)BPF_CORE_READ_BITFIELD_PROBED(kernel, ip_summed) * 4 +
	     (__u32)BPF_CORE_READ_BITFIELD_PROBED(kernel, csum_level);
	n = bpf_map_lookup_elem(&csum_state, &at);
	if (n)
		__sync_fetch_and_add(n, 1);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "Dual BSD/GPL";
