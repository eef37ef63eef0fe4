/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of one walk through one datagram, with the payload in it. Per-CPU scratch in the kernel. */
#ifndef XSF_STATE_H
#define XSF_STATE_H

#include "abi.h"
#include "event.h"

/* A power of two above XSF_MAX_PAYLOAD, so that a mask bounds an offset; the guard takes a read that
 * starts at the last masked offset. */
#define XSF_BUF_LEN 16384
#define XSF_BUF_GUARD 128

#define XSF_PKT_IP 1	/* tos is set */
#define XSF_PKT_ROCE 2	/* roce_tos, carrier are set */
#define XSF_PKT_BTH 4	/* opcode, bth_flags are set */
#define XSF_PKT_RETH 8	/* dma_length is set */
#define XSF_PKT_AETH 16 /* syndrome is set */

/* What was read of one sampled packet. In the walk's state and not on the stack: the verifier does not
 * follow what lies there, and would multiply its states by every combination of these. */
struct xsf_packet {
	__u32 outcome; /* enum xsf_header_outcome */
	__u32 flags;   /* XSF_PKT_* */
	__u32 carrier; /* enum xsf_carrier */
	__u32 dma_length;
	__u8 tos;      /* of the outermost IP header */
	__u8 roce_tos; /* of the IP header (or GRH) that carries RoCE */
	__u8 opcode;
	__u8 bth_flags; /* second byte of the BTH: SE, M, PadCnt, TVer */
	__u8 syndrome;
};

struct xsf_walk {
	__u64 now_ns;
	/* The kernel's tick that now_ns was read in, and an address that was this host's in it; only the
	 * program's. */
	__u64 tick;
	__u8 local[16];
	__u32 local_known;
	__u64 touched; /* never read: for xsf_touch */
	__u32 flags;   /* XSF_F_* */
	__u32 len;     /* of the payload, at most XSF_MAX_PAYLOAD */
	__u32 cpu;     /* that walks */

	__u32 spare
		[XSF_TABLES]; /* slots that this CPU lost a race with, free if nobody found them */

	/* datagram */
	__u32 off;
	__u32 samples_left;
	struct xsf_source_key source; /* the agent's slot (0 = found none) and generation; class and
				       * index of the sample at hand */
	__u32 faults;
	__u32 duplicate;		/* its number was seen before */
	__u32 grouped;			/* some sources have groups */
	struct xsf_event_wanted wanted; /* as it was when the datagram came */
	__u32 uptime_ms;
	__u32 flow_samples;
	__u32 counter_samples;
	__u32 drop_samples;
	/* its RoCE of one row that the timeline does not have yet; none while line_packets is 0 */
	__u32 line_row;
	__u64 line_packets;
	__u64 line_bytes;

	/* sample */
	__u32 in_sample;
	__u32 type;
	__u32 body; /* offset of its fixed fields */
	__u32 end;
	__u32 records_left;
	/* offsets of its records' bodies; 0 = absent */
	__u32 rec_header;
	__u32 rec_ethernet;
	__u32 rec_ip4;
	__u32 rec_ip6;
	__u32 rec_counters;
	__u32 rec_port_name;
	__u32 rec_host;
	__u32 rec_lag;
	/* Likewise of records SFLOW_REC_MORE and the seven behind it, those whose bit is in rec_mask. */
	__u32 rec_mask;
	__u32 rec_more[8];

	struct xsf_packet packet;
	struct xsf_agent_key agent_key;
	__u8 buf[XSF_BUF_LEN + XSF_BUF_GUARD];
};

/* The bytes at `off`. The caller has checked with xsf_fits that those it reads are there; up to
 * XSF_BUF_GUARD bytes are within the buffer whatever `off` is. */
static __always_inline const __u8 *xsf_at(const struct xsf_walk *w, __u32 off)
{
	__u64 o = off & (XSF_BUF_LEN - 1);

	XSF_OPAQUE(o);
	return w->buf + o;
}

/* Are there `n` bytes at `off` before `lim`? n is small; offsets stay far below 2^32. */
static __always_inline int xsf_fits(__u32 off, __u32 n, __u32 lim)
{
	return off + n <= lim;
}

/* The same for a length from the wire; off <= lim. */
static __always_inline int xsf_fits_len(__u32 off, __u32 len, __u32 lim)
{
	return len <= lim - off;
}

#endif
