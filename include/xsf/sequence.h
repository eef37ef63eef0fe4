/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sequence numbers of agents and of data sources: what the next number means. Pure. */
#ifndef XSF_SEQUENCE_H
#define XSF_SEQUENCE_H

#include "abi.h"

#define XSF_SEQ_WINDOW 32
/* Reordering moves a datagram by far less than this; a restart sets uptime back by more. */
#define XSF_UPTIME_SLACK_MS 1000
/* Uptime wraps at 2^32 ms; a step over the wrap is shorter than this. */
#define XSF_UPTIME_WRAP_MS 3600000
/* Agents whose uptime never moves: a jump beyond this is a restart, not loss. */
#define XSF_SEQ_STATIC_JUMP 65536

struct xsf_seq_step {
	xsf_seq_t next;	 /* the state after this number */
	__u32 lost;	 /* numbers that are now known to be lost */
	__u32 duplicate; /* 1: seen before */
	__u32 reordered; /* 1: late, but inside the window */
	__u32 restarted; /* 1: the sender began anew */
};

static __always_inline __u32 xsf_popcount(__u32 v)
{
	v -= v >> 1 & 0x55555555;
	v = (v & 0x33333333) + (v >> 2 & 0x33333333);
	v = (v + (v >> 4)) & 0x0f0f0f0f;
	return v * 0x01010101 >> 24;
}

/* Holes that are still inside the window: the `pending` gauge. */
static __always_inline __u32 xsf_seq_pending(xsf_seq_t state)
{
	return state ? XSF_SEQ_WINDOW - xsf_popcount((__u32)state) : 0;
}

static __always_inline xsf_seq_t xsf_seq_begin(__u32 number)
{
	return (__u64)number << 32 | 0xffffffff;
}

/* Did the sender's clock go back? `forward`: the sequence number advanced by less than the window, so a
 * small uptime after a huge one is the clock's own wrap. Uptime is milliseconds modulo 2^32. */
static __always_inline int xsf_uptime_went_back(__u32 was, __u32 now, int forward)
{
	if (now >= was || was - now <= XSF_UPTIME_SLACK_MS)
		return 0;
	if (forward && was > -(__u32)XSF_UPTIME_WRAP_MS && now < XSF_UPTIME_WRAP_MS)
		return 0;
	return 1;
}

/* The step from `state` to `number`. went_back: the sender's uptime says that it restarted; frozen: its
 * uptime has never moved, so only the size of a jump can tell (DESIGN 4.8). */
static __always_inline void xsf_seq_step(xsf_seq_t state, __u32 number, int went_back, int frozen,
					 struct xsf_seq_step *out)
{
	__u32 window = (__u32)state;
	__s32 delta = (__s32)(number - (__u32)(state >> 32));

	out->lost = 0;
	out->duplicate = 0;
	out->reordered = 0;
	out->restarted = 0;

	/* The usual case: the next number, and the one leaving the window was seen. */
	if (state && delta == 1 && !went_back) {
		out->next = (__u64)number << 32 | (__u32)(window << 1 | 1);
		out->lost = !(window >> 31);
		return;
	}
	if (!state) {
		out->next = xsf_seq_begin(number);
		return;
	}
	if (went_back || delta <= -XSF_SEQ_WINDOW || (frozen && delta > XSF_SEQ_STATIC_JUMP)) {
		out->lost = xsf_seq_pending(state);
		out->restarted = 1;
		out->next = xsf_seq_begin(number);
		return;
	}
	if (delta <= 0) {
		__u32 bit = 1u << (-delta & 31);

		out->duplicate = !!(window & bit);
		out->reordered = !out->duplicate;
		out->next = state | bit;
		return;
	}
	if (delta >= XSF_SEQ_WINDOW) {
		/* All holes of the old window, and the numbers between it and the new one. */
		out->lost = xsf_seq_pending(state) + (__u32)delta - XSF_SEQ_WINDOW;
		out->next = (__u64)number << 32 | 1;
		return;
	}
	{
		__u32 shift = (__u32)delta & 31;

		out->lost = xsf_popcount(~window >> (32 - shift));
		out->next = (__u64)number << 32 | (__u32)(window << shift | 1);
	}
}

#endif
