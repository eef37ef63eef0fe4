/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/ledger.bpf.c counts. Its map is not pinned: it lives as long as the command that attached it. */
#ifndef XSF_LEDGER_ABI_H
#define XSF_LEDGER_ABI_H

#include "base.h"

#define XSF_LEDGER_ROWS 4096

enum xsf_ledger_event {
	XSF_LEDGER_STACK,	/* entered the kernel's stack (tp netif_receive_skb) */
	XSF_LEDGER_STACK_FIRST, /* likewise, a first fragment */
	XSF_LEDGER_STACK_LATER, /* likewise, a later fragment: port 0 */
	XSF_LEDGER_FORWARDED,	/* received, then sent on (tp net_dev_queue) */
	XSF_LEDGER_HANDED,     /* handed to a UDP socket, before its buffer is asked (cgroup_skb) */
	XSF_LEDGER_DROP,       /* freed as dropped (tp kfree_skb) */
	XSF_LEDGER_DROP_AFTER, /* likewise, after it was handed to a socket */
	XSF_LEDGER_EVENTS,
};

/* One row: what happened, to what, where. Counts are of datagrams: one merged by offload counts as those
 * it was made of. */
struct xsf_ledger_key {
	__u32 ifindex; /* that it came in by, the uppermost one; 0 = unknown */
	__u16 port;    /* destination, host order; 0 in later fragments */
	__u8 event;    /* enum xsf_ledger_event */
	__u8 family;   /* 4 or 6; 0 = not looked at */
	__u32 reason;  /* of drops: the running kernel's enum skb_drop_reason */
	__u32 reserved;
	__u64 location; /* of drops: the address in the kernel's text that freed it */
};
_Static_assert(sizeof(struct xsf_ledger_key) == 24, "no padding");

#endif
