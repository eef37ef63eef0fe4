// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The ledger: where each datagram to a telemetry port went after XDP. Each stage is an event that the kernel
 * itself announces; nothing is inferred. Attached only while somebody looks (user/kernel/ledger.c). */
#include <linux/bpf.h>
#include "../vmlinux/vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "../include/xsf/ledger_abi.h"
#include "../include/xsf/net.h"

/* Written before the program loads. */
const volatile __u32 ledger_netns;	/* inode of the network namespace that is looked at */
const volatile __u32 ledger_has_socket; /* kfree_skb has the receiving socket (6.11 and later) */
const volatile __u8 ledger_ports[8192]; /* bit n: port n is looked at */

__u64 ledger_full; /* events that found no row */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, XSF_LEDGER_ROWS);
	__type(key, struct xsf_ledger_key);
	__type(value, __u64);
} ledger_rows SEC(".maps");

/* The packet that this CPU handed to a socket or sent on last, until the next one arrives. */
struct ledger_last {
	__u64 handed;
	__u64 forwarded;
	__u64 number; /* scratch: an address becomes a number by way of memory */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ledger_last);
} ledger_last SEC(".maps");

/* Packets that were handed to sockets of this network namespace, by their address: once in a socket, a packet
 * no longer says where it belongs. One pushed out by another is taken for one of the current task's. */
#define OWNED 65536
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OWNED);
	__type(key, __u32);
	__type(value, __u64);
} ledger_owned SEC(".maps");

struct packet {
	__u32 port;
	__u32 family;
	__u32 fragment; /* 1 = first, 2 = later */
};

static __always_inline int watched(__u32 port)
{
	port &= 0xffff;
	return ledger_ports[port >> 3] & 1u << (port & 7);
}

static __always_inline struct ledger_last *last(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&ledger_last, &zero);
}

static __always_inline __u64 *owned(const struct sk_buff *skb, struct ledger_last *l)
{
	__u64 at;
	__u32 slot;

	*(volatile __u64 *)&l->number = (__u64)skb;
	at = *(volatile __u64 *)&l->number >> 6;
	slot = (__u32)(at ^ at >> 16) & (OWNED - 1);
	return bpf_map_lookup_elem(&ledger_owned, &slot);
}

/* Atomic: a softirq may come in between on the same CPU. */
static __always_inline void count(const struct xsf_ledger_key *key, __u64 n)
{
	__u64 *row = bpf_map_lookup_elem(&ledger_rows, key), zero = 0;

	if (!row) {
		bpf_map_update_elem(&ledger_rows, key, &zero, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&ledger_rows, key);
	}
	if (row)
		__sync_fetch_and_add(row, n);
	else
		__sync_fetch_and_add(&ledger_full, 1);
}

/* Datagrams that offload has merged into this packet. */
static __always_inline __u64 datagrams(struct sk_buff *skb)
{
	const struct skb_shared_info *shared = (void *)(skb->head + skb->end);
	__u16 size = BPF_CORE_READ(shared, gso_size);
	__u16 segs = size ? BPF_CORE_READ(shared, gso_segs) : 0;

	return segs ? segs : 1;
}

static __always_inline int load(void *to, __u32 n, const __u8 *head, __u32 off)
{
	return bpf_probe_read_kernel(to, n, head + off) == 0;
}

/* Reads the headers from offset `off` of skb->head on: 1 = UDP to a looked-at port, or a fragment of UDP.
 * What lies behind the linear part cannot be read here; drivers put the headers there. */
static __always_inline int parse(struct sk_buff *skb, __u32 off, struct packet *p)
{
	const __u8 *head = skb->head;
	__u32 type = xsf_be16((const __u8 *)&(__be16){ skb->protocol });
	__u32 end = (__u32)(skb->data - head) + skb->len - skb->data_len;
	__u32 proto, offset, i;
	__u8 h[40], x[8];

	for (i = 0; i < NET_MAX_TAGS; i++) {
		if (type != NET_TYPE_VLAN && type != NET_TYPE_QINQ)
			break;
		if (off + NET_TAG_LEN > end || !load(h, NET_TAG_LEN, head, off))
			return 0;
		type = xsf_be16(h + 2);
		off += NET_TAG_LEN;
	}
	p->fragment = 0;
	if (type == NET_TYPE_IP4) {
		if (off + NET_IP4_LEN > end || !load(h, NET_IP4_LEN, head, off) || h[0] >> 4 != 4 ||
		    h[9] != NET_PROTO_UDP)
			return 0;
		p->family = 4;
		offset = xsf_be16(h + 6) & 0x3fff;
		if (offset)
			p->fragment = offset & 0x1fff ? 2 : 1;
		off += (h[0] & 15) * 4;
	} else if (type == NET_TYPE_IP6) {
		if (off + NET_IP6_LEN > end || !load(h, NET_IP6_LEN, head, off) || h[0] >> 4 != 6)
			return 0;
		p->family = 6;
		proto = h[6];
		off += NET_IP6_LEN;
		for (i = 0; i < NET_MAX_EXT; i++) {
			__u32 was = proto;

			if (was != NET_PROTO_HOPOPTS && was != NET_PROTO_ROUTING &&
			    was != NET_PROTO_DSTOPTS && was != NET_PROTO_FRAGMENT)
				break;
			if (off + 8 > end || !load(x, 8, head, off))
				return 0;
			proto = x[0];
			offset = xsf_be16(x + 2) & 0xfff9;
			if (was == NET_PROTO_FRAGMENT && offset)
				p->fragment = offset & 0xfff8 ? 2 : 1;
			off += was == NET_PROTO_FRAGMENT ? 8 : 8 + x[1] * 8u;
			if (p->fragment == 2)
				break;
		}
		if (proto != NET_PROTO_UDP)
			return 0;
	} else {
		return 0;
	}
	p->port = 0;
	if (p->fragment == 2)
		return 1;
	if (off + NET_UDP_LEN > end || !load(x, 4, head, off))
		return 0;
	p->port = xsf_be16(x + 2);
	return watched(p->port) != 0;
}

static __always_inline int is_ours(__u32 netns)
{
	return !netns || netns == ledger_netns;
}

SEC("tp_btf/netif_receive_skb")
int ledger_stack(__u64 *ctx)
{
	struct sk_buff *skb = (struct sk_buff *)ctx[0];
	struct xsf_ledger_key key = {};
	struct ledger_last *l;
	struct packet p;

	if (!parse(skb, (__u32)(skb->data - skb->head), &p) ||
	    !is_ours(skb->dev->nd_net.net->ns.inum))
		return 0;
	l = last();
	if (l) {
		l->handed = 0;
		l->forwarded = 0;
	}
	key.ifindex = (__u32)skb->dev->ifindex;
	key.port = (__u16)p.port;
	key.family = (__u8)p.family;
	key.event = (__u8)(XSF_LEDGER_STACK + p.fragment);
	count(&key, datagrams(skb));
	return 0;
}

/* One that is sent on passes here once for each device of a stack (VLAN on bond on NIC). */
SEC("tp_btf/net_dev_queue")
int ledger_forward(__u64 *ctx)
{
	struct sk_buff *skb = (struct sk_buff *)ctx[0];
	struct xsf_ledger_key key = { .event = XSF_LEDGER_FORWARDED };
	struct ledger_last *l;
	struct packet p;

	if (!skb->skb_iif || !parse(skb, skb->network_header, &p) || !p.port ||
	    !is_ours(skb->dev->nd_net.net->ns.inum))
		return 0;
	l = last();
	if (!l || l->forwarded == (__u64)skb)
		return 0;
	l->forwarded = (__u64)skb;
	key.ifindex = (__u32)skb->skb_iif;
	key.port = (__u16)p.port;
	key.family = (__u8)p.family;
	count(&key, datagrams(skb));
	return 0;
}

/* The port that a datagram was sent to, where its socket does not tell: one that is being closed on another
 * CPU has lost its number (udp_lib_unhash), and is given the datagram all the same. */
static __always_inline __u32 sent_to(struct sk_buff *skb)
{
	const __u8 *head = BPF_CORE_READ(skb, head);
	__u8 ports[4] = {};

	load(ports, sizeof(ports), head, BPF_CORE_READ(skb, transport_header));
	return xsf_be16(ports + 2);
}

/* In sk_filter: the checksum may not have been looked at yet, the buffer has not. Ends with 1, "go on". */
SEC("cgroup_skb/ingress")
int ledger_handed(struct __sk_buff *ctx)
{
	struct xsf_ledger_key key = { .event = XSF_LEDGER_HANDED };
	struct sk_buff *skb = (struct sk_buff *)ctx;
	struct bpf_sock *sk = ctx->sk;
	struct ledger_last *l;
	__u64 *mine;
	__u32 port;

	if (!sk)
		return 1;
	port = sk->src_port;
	if (port && !watched(port))
		return 1;
	sk = bpf_sk_fullsock(sk);
	if (!sk || sk->protocol != NET_PROTO_UDP)
		return 1;
	if (!port)
		port = sent_to(skb);
	if (!watched(port))
		return 1;
	key.port = (__u16)port;
	l = last();
	mine = l ? owned(skb, l) : 0;
	if (!is_ours(BPF_CORE_READ(skb, dev, nd_net.net, ns.inum))) {
		if (mine && *mine == (__u64)skb)
			*mine = 0;
		return 1;
	}
	if (mine)
		*mine = (__u64)skb;
	if (l)
		l->handed = (__u64)skb;
	key.ifindex = ctx->ingress_ifindex;
	count(&key, ctx->gso_segs ? ctx->gso_segs : 1);
	return 1;
}

/* The network namespace in which it was dropped; 0 = unknown. A datagram in a socket has lost its device:
 * that field then holds its length (struct udp_dev_scratch), which is no kernel address. */
static __always_inline __u32 dropped_in(struct sk_buff *skb, struct sock *sk, int has_device,
					struct ledger_last *l)
{
	struct task_struct *task;
	__u64 *mine;

	if (sk)
		return sk->__sk_common.skc_net.net->ns.inum;
	if (has_device)
		return skb->dev->nd_net.net->ns.inum;
	mine = l ? owned(skb, l) : 0;
	if (mine && *mine == (__u64)skb)
		return ledger_netns;
	/* The reader; closed sockets are emptied in anybody's name. */
	task = (struct task_struct *)bpf_get_current_task_btf();
	return task->nsproxy->net_ns->ns.inum;
}

SEC("tp_btf/kfree_skb")
int ledger_drop(__u64 *ctx)
{
	struct sk_buff *skb = (struct sk_buff *)ctx[0];
	struct xsf_ledger_key key = {};
	struct ledger_last *l = last();
	struct sock *sk = 0;
	int has_device;
	struct packet p;

	/* Of our own sending. */
	if (!skb->skb_iif && skb->sk)
		return 0;
	if (!skb->network_header || !parse(skb, skb->network_header, &p))
		return 0;
	if (ledger_has_socket)
		sk = (struct sock *)ctx[3];
	has_device = (long)skb->dev < 0;
	if (!is_ours(dropped_in(skb, sk, has_device, l)))
		return 0;
	key.ifindex = (__u32)skb->skb_iif;
	if (!key.ifindex && has_device)
		key.ifindex = (__u32)skb->dev->ifindex;
	key.port = (__u16)p.port;
	key.family = (__u8)p.family;
	key.event = !has_device || (l && l->handed == (__u64)skb) ? XSF_LEDGER_DROP_AFTER :
								    XSF_LEDGER_DROP;
	key.reason = (__u32)ctx[2];
	key.location = ctx[1];
	count(&key, datagrams(skb));
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
