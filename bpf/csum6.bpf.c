// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tc ingress: verifies the checksums of UDP over IPv6 to watched ports, counts by port and source, and
 * writes the right one where it is wrong and the policy says so. Whatever it finds, the next filter sees the
 * packet: the program ends with TC_ACT_UNSPEC. */
#include "csum_maps.bpf.h"
#include <linux/pkt_cls.h>
#include <bpf/bpf_core_read.h>
#include "../vmlinux/vmlinux.h"
#define XSF_CSUM_HANDLE struct __sk_buff
#include "../include/xsf/csum.h"
#include "csum_sources.bpf.h"

/* bpf_csum_diff before 6.13 takes so many bytes at once. */
#define XSF_CSUM_PIECE 512
#define XSF_CSUM_PIECES ((XSF_CSUM_BUF_LEN + XSF_CSUM_PIECE - 1) / XSF_CSUM_PIECE)

static __always_inline struct xsf_csum_text *xsf_csum_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&xsf_csum_scratch_map, &zero);
}

static __always_inline int xsf_csum_load(struct __sk_buff *handle, __u32 off, void *to, __u32 len)
{
	return bpf_skb_load_bytes(handle, off, to, len) != 0;
}

static __always_inline int xsf_csum_load_text(struct __sk_buff *handle, __u32 off,
					      struct xsf_csum_text *text, __u32 at, __u32 len)
{
	__u64 less = (__u64)len - 1;

	/* 6.1 learns nothing from "not 0": the bounds are put on what is one less. */
	XSF_OPAQUE(less);
	if (less >= XSF_CSUM_MAX_SUM - at)
		return -1;
	return bpf_skb_load_bytes(handle, off, text->buf + at, (__u32)(less + 1)) != 0;
}

/* The device's sum over the packet follows (CHECKSUM_COMPLETE). A packet that nobody summed is known to be
 * right now, and spared the stack's own sum. A device that called the wrong one right said nothing that is
 * still needed. */
static __always_inline int xsf_csum_store(struct __sk_buff *handle, __u32 off, __u16 check,
					  __u32 summed)
{
	if (bpf_skb_store_bytes(handle, off, &check, sizeof(check), BPF_F_RECOMPUTE_CSUM))
		return -1;
	if (summed == XSF_SUMMED_NONE)
		bpf_csum_level(handle, BPF_CSUM_LEVEL_INC);
	return 0;
}

static __always_inline int xsf_csum_network(struct __sk_buff *handle)
{
	struct sk_buff *skb = (void *)handle;
	const unsigned char *head = BPF_CORE_READ(skb, head), *data = BPF_CORE_READ(skb, data);

	return (int)BPF_CORE_READ(skb, network_header) - (int)(data - head);
}

static __always_inline __u32 xsf_csum_summed(struct __sk_buff *handle)
{
	struct sk_buff *skb = (void *)handle;

	return (__u32)BPF_CORE_READ_BITFIELD_PROBED(skb, ip_summed);
}

static __always_inline __u64 xsf_csum_add(struct xsf_csum_text *text, __u32 len, __u32 seed)
{
	__u64 n = len, i;
	__s64 sum;

	XSF_OPAQUE(n);
	if (n > XSF_CSUM_BUF_LEN)
		return 0;
	sum = bpf_csum_diff(0, 0, (__be32 *)text->buf, (__u32)n, seed);
	if (sum >= 0)
		return (__u64)sum;
	sum = seed;
	for (i = 0; i < XSF_CSUM_PIECES; i++) {
		__u64 off = i * XSF_CSUM_PIECE, piece;

		if (off >= len)
			break;
		piece = len - off;
		XSF_OPAQUE(piece);
		if (piece > XSF_CSUM_PIECE)
			piece = XSF_CSUM_PIECE;
		sum = bpf_csum_diff(0, 0, (__be32 *)(text->buf + off), (__u32)piece, (__u32)sum);
	}
	return (__u64)sum;
}

static __always_inline int xsf_csum_listed(const __u8 *addr)
{
	struct xsf_prefix_key key = { .prefixlen = 128 };

	__builtin_memcpy(key.addr, addr, sizeof(key.addr));
	return bpf_map_lookup_elem(&xsf_csum_from, &key) != 0;
}

/* A place for the source is made when it is first seen; without one its datagrams are nobody's. */
static __always_inline struct xsf_csum_source *xsf_csum_source_of(const struct xsf_csum_text *text,
								  __u64 now)
{
	struct xsf_csum_source *source = bpf_map_lookup_elem(&xsf_csum_sources, text->buf);

	if (source || !xsf_csum_source_new(now))
		return source;
	return bpf_map_lookup_elem(&xsf_csum_sources, text->buf);
}

static __always_inline void xsf_csum_count(struct xsf_csum_counts *c, __u64 outcome, __u64 now,
					   int shared)
{
	XSF_OPAQUE(outcome);
	if (outcome >= XSF_NR_CSUM_OUTCOMES)
		return;
	if (shared)
		XSF_ATOMIC_ADD(&c->good + outcome, 1);
	else
		(&c->good)[outcome]++;
	if (!c->first_seen_ns)
		c->first_seen_ns = now;
	c->last_seen_ns = now;
}

static __always_inline void xsf_csum_audit(struct xsf_csum_totals *t,
					   const struct xsf_csum_text *text, __u32 word,
					   __u32 outcome)
{
	union {
		__u32 word;
		struct xsf_csum_watch watch;
	} watched = { .word = word };
	__u64 now = bpf_ktime_get_coarse_ns();
	struct xsf_csum_source *source = xsf_csum_source_of(text, now);
	__u32 row = watched.watch.row;
	struct xsf_csum_port *port = bpf_map_lookup_elem(&xsf_csum_ports, &row);

	if (port) {
		port->port = watched.watch.port;
		xsf_csum_count(&port->counts, outcome, now, 0);
	}
	if (source) {
		xsf_csum_count(&source->counts, outcome, now, 1);
	} else {
		t->sources_full++;
		xsf_csum_count(&t->other_sources, outcome, now, 0);
	}
}

SEC("tc")
int xsf_csum6(struct __sk_buff *skb)
{
	struct xsf_csum_packet p = { .handle = skb };
	struct xsf_csum_policy *policy;
	struct xsf_csum_totals *t;
	struct xsf_csum_text *text;
	__u32 zero = 0;
	__u64 outcome;

	t = bpf_map_lookup_elem(&xsf_csum_totals, &zero);
	policy = bpf_map_lookup_elem(&xsf_csum_policy, &zero);
	if (!t || !policy)
		return TC_ACT_UNSPEC;
	t->packets++;
	p.data = (const __u8 *)(long)skb->data;
	p.data_end = (const __u8 *)(long)skb->data_end;
	p.len = skb->len;
	p.type = xsf_swap16((__u16)skb->protocol);
	outcome = xsf_csum_parse(&p, policy);
	if (outcome != XSF_CSUM_PACKET_datagram) {
		XSF_OPAQUE(outcome);
		if (outcome < XSF_NR_CSUM_PACKET_OUTCOMES)
			(&t->datagrams)[outcome]++;
		return TC_ACT_UNSPEC;
	}
	text = xsf_csum_scratch();
	if (!text)
		return TC_ACT_UNSPEC;
	t->datagrams++;
	p.gso_size = skb->gso_size;
	xsf_csum_audit(t, text, p.watched, xsf_csum_judge(&p, text, policy));
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "Dual BSD/GPL";
