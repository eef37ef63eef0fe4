// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel fields that programs of bpf/ and tests/ read. scripts/vmlinux.sh builds this against the running kernel's
 * full types, and keeps of those what is touched here. It is never loaded. */
#include "vmlinux_full.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define NEED(type, field) needs += (__u64)__builtin_preserve_field_info(((type *)0)->field, 0)

SEC("tp_btf/kfree_skb")
int needs(void *ctx)
{
	__u64 needs = (__u64)ctx;

	NEED(struct sk_buff, head);
	NEED(struct sk_buff, data);
	NEED(struct sk_buff, len);
	NEED(struct sk_buff, data_len);
	NEED(struct sk_buff, mac_len);
	NEED(struct sk_buff, protocol);
	NEED(struct sk_buff, ip_summed);
	NEED(struct sk_buff, csum_level);
	NEED(struct sk_buff, mac_header);
	NEED(struct sk_buff, network_header);
	NEED(struct sk_buff, transport_header);
	NEED(struct sk_buff, skb_iif);
	NEED(struct sk_buff, dev);
	NEED(struct sk_buff, sk);
	NEED(struct sk_buff, end);
	NEED(struct skb_shared_info, gso_size);
	NEED(struct skb_shared_info, gso_segs);
	NEED(struct net_device, ifindex);
	NEED(struct net_device, nd_net.net);
	NEED(struct net, ns.inum);
	NEED(struct task_struct, nsproxy);
	NEED(struct nsproxy, net_ns);
	NEED(struct sock, __sk_common.skc_num);
	NEED(struct sock, __sk_common.skc_family);
	NEED(struct sock, __sk_common.skc_net.net);
	return (int)needs;
}
