/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a reader of events gets: drop notifications (sFlow discarded-packet samples, sflow_drops.txt), and
 * flow samples while somebody asks for them. One struct for both. Integers are in host order.
 *
 *	xsf_event_rings		ARRAY_OF_MAPS XSF_EVENT_READERS	each reader's ring of notifications
 *	xsf_sample_rings	ARRAY_OF_MAPS XSF_EVENT_READERS	likewise of flow samples
 *	xsf_event_wanted	ARRAY 1, mmapable		struct xsf_event_wanted: readers write it
 *	xsf_event_counts	PERCPU_ARRAY XSF_EVENT_READERS	struct xsf_event_counts: programs do
 *	xsf_places		ARRAY XSF_PLACES, mmapable	struct xsf_drop_place
 *
 * All are pinned beside the other maps. A ring that is full loses events, never counts, and what it lost is
 * counted. Nobody listens: one load a notification, and one a flow sample.
 *
 * A ring of flow samples is shed before it is full, or agents that send in bursts would leave no room for
 * the others: from half full on each sample is kept by chance, 1 in 2 up to half and a sixteenth, then 1 in 4
 * and so on to 1 in 256 in the last sixteenth. That chance is the same whatever agent a sample is of, and one
 * that is kept says for how many it stands (shed): sums and rates stay right on average, of every agent. */
#ifndef XSF_EVENT_H
#define XSF_EVENT_H

#include "abi.h"

#define XSF_EVENT_READERS 8
#define XSF_EVENT_TEXT 64    /* bytes of a text that are kept */
#define XSF_EVENT_HEADER 128 /* bytes of a sampled header that are kept */

#define XSF_EVENT_FLOW 1	/* a flow sample; else a drop notification */
#define XSF_EVENT_HAS_QUEUE 2	/* queue (record 1036) */
#define XSF_EVENT_HAS_DEPTH 4	/* depth (1040) */
#define XSF_EVENT_HAS_DELAY 8	/* delay_ns (1039) */
#define XSF_EVENT_HAS_TIME 16	/* timestamp_ns (1043) */
#define XSF_EVENT_HAS_HEADER 32 /* header, protocol, frame_len, stripped (1) */
#define XSF_EVENT_DUPLICATE 64	/* its datagram was one seen before */
#define XSF_EVENT_FUNCTION_CUT \
	128 /* the text was longer than XSF_EVENT_TEXT: its first bytes are kept */
#define XSF_EVENT_TRAP_GROUP_CUT 256 /* likewise */
#define XSF_EVENT_TRAP_CUT 512
#define XSF_EVENT_LINUX_CUT 1024

/* A notification or a flow sample as it was on the wire. Flow samples are sent up to `function`. What a
 * flag says is absent is 0. */
struct xsf_event {
	__u64 ns;	    /* when its datagram came, CLOCK_MONOTONIC (coarse) */
	__u64 timestamp_ns; /* 1043: the agent's clock */
	struct xsf_agent_key agent;
	__u32 flags; /* XSF_EVENT_* */
	__u32 class; /* data source */
	__u32 index;
	__u32 sequence; /* of the sample, at its source */
	__u32 drops; /* notifications that the agent suppressed, or samples it lost: its own total */
	__u32 input_format;
	__u32 input; /* ifIndex; in a flow sample as the format says (sflow.h, SFLOW_IF_*) */
	__u32 output_format;
	__u32 output;
	__u32 reason; /* notification: drop_reasons.h */
	__u32 rate;   /* flow sample: sampling_rate as sent; notification: 0 */
	__u32 pool;
	__u32 queue;
	__u32 depth;	/* bytes */
	__u32 delay_ns; /* all ones: at least that */
	__u32 protocol; /* header_protocol */
	__u32 frame_len;
	__u32 stripped;
	__u32 header_len;  /* as sent, may be above XSF_EVENT_HEADER */
	__u32 header_kept; /* bytes in header[] */
	__u8 function_len; /* bytes kept of each text */
	__u8 trap_group_len;
	__u8 trap_len;
	__u8 linux_len;
	/* It stands for 1 + shed of its kind, at this reader: in a flow sample for those that the chance of
	 * being kept left out, as it was then; in both for those before it, on the CPU that it came to, that
	 * found the ring full. */
	__u32 shed;
	__u32 reserved;
	__u8 header[XSF_EVENT_HEADER];
	__u8 function[XSF_EVENT_TEXT];	 /* 1038 */
	__u8 trap_group[XSF_EVENT_TEXT]; /* 1041 */
	__u8 trap[XSF_EVENT_TEXT];
	__u8 linux_reason[XSF_EVENT_TEXT]; /* 1042 */
};
#define XSF_EVENT_FLOW_LEN __builtin_offsetof(struct xsf_event, function)
_Static_assert(sizeof(struct xsf_event) % 8 == 0 && XSF_EVENT_FLOW_LEN % 8 == 0,
	       "a ring keeps it aligned");

/* One byte a reader: not 0 while it wants events, and another value than that of the reader who had the place
 * before (1 + id of its ring % 255), so that programs begin its `shed` anew. Only readers write here. */
struct xsf_event_wanted {
	__u8 drops[XSF_EVENT_READERS];
	__u8 samples[XSF_EVENT_READERS];
};

/* Per CPU; only ever grows, over all readers that a place had: each takes the difference. */
struct xsf_event_counts {
	__u64 drops_sent;
	__u64 drops_shed; /* the ring was full */
	__u64 samples_sent;
	__u64 samples_shed;
};

/* Drop notifications by place and reason. Each notification counts in two rows: that of its interface, and
 * that of its agent as a whole. Rows are found by hash and XSF_PLACE_PROBES probes; a newcomer takes a free
 * one, or that of a place that was silent for longer than --stale, whose count moves to row 0, which also
 * collects what finds no row. So rows, added up, are twice all notifications. */
#define XSF_PLACES 16385 /* row 0, and 16,384 */
#define XSF_PLACE_PROBES 8
/* As ifindex: no interface has one as high (RFC 2863, InterfaceIndex). */
#define XSF_PLACE_WHOLE_AGENT 0xffffffff

enum xsf_place_state { XSF_PLACE_FREE, XSF_PLACE_CHANGING, XSF_PLACE_IN_USE };

struct xsf_drop_place {
	__u32 state; /* enum xsf_place_state; row 0: always IN_USE, keys 0 */
	__u32 reason;
	struct xsf_agent_key agent;
	__u32 ifindex; /* input, or else of the data source; 0: unknown, or no ifIndex; or WHOLE_AGENT */
	__u64 first_seen_ns;
	__u64 last_seen_ns;
	__u64 notified;
};
_Static_assert(sizeof(struct xsf_drop_place) == 56, "ABI");

#endif
