/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What live.c and its program share: the frames that are sent, in turn. */
#ifndef XSF_BENCH_LIVE_H
#define XSF_BENCH_LIVE_H

#include <linux/types.h>

#define LIVE_FRAME_MAX 1596

struct live_frame {
	__u32 len; /* 1 to LIVE_FRAME_MAX */
	__u8 bytes[LIVE_FRAME_MAX];
};

_Static_assert(sizeof(struct live_frame) % 8 == 0, "an array's values lie without gaps");

struct live_state {
	__u64 next;   /* frame */
	__u64 sent;   /* given to the device, or dropped where there is none */
	__u64 failed; /* not built: 0 unless something is wrong */
};

struct live_config {
	__u32 nr_frames;
	__u32 ifindex; /* 0: drop at once, to know what sending costs */
};

#endif
