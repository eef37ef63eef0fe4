/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events (event.h) of the sample at hand, built in scratch and handed to the readers that want them. Nothing
 * here runs while nobody does, and nothing here changes a count of what agents sent. */
#ifndef XSF_EMIT_H
#define XSF_EMIT_H

#include "count.h"
#include "event.h"

/* Answered by whoever includes walk.h, beside store.h. `samples` is a constant: 0 notifications, 1 flow
 * samples.
 *
 * Which readers get the next event, as bits; for the others, whose ring has no room, it counts as shed. */
static __always_inline __u32 xsf_event_readers(const struct xsf_walk *w, int samples);
/* Gives them the event in scratch. */
static __always_inline void xsf_event_send(struct xsf_event *e, int samples, __u32 readers);

/* What is kept of one text. */
struct xsf_event_text {
	__u8 byte[XSF_EVENT_TEXT];
};

/* Word i of the n bytes that lie `head` bytes behind `off`, as it lies in memory, with zeros for what is
 * not of them. Without a branch: they would be 2^16 paths to the verifier. Where the word has none of the
 * bytes, the first one at `off` is read, not what may lie behind the payload. */
static __always_inline __u32 xsf_kept_word(const struct xsf_walk *w, __u32 off, __u32 head, __u32 i,
					   __u32 n)
{
	__s64 left = (__s64)n - i, none = (left - 1) >> 63, part = (left - 4) >> 63;
	__u32 word;

	XSF_OPAQUE(none);
	XSF_OPAQUE(part);
	left = (((left - 4) & part) + 4) & ~none;
	word = xsf_be32(xsf_at(w, off + ((head + i) & ~(__u32)none)));
	word &= (__u32)(0xffffffff00000000ull >> (8 * left));
	return xsf_swap32(word);
}

/* Keeps the first XSF_EVENT_TEXT bytes of the XDR string at `string`, which is within its record, and zeros
 * behind them. Returns its length, as far as 255. */
XSF_GLOBAL int xsf_event_text(struct xsf_walk *w, __u32 string, struct xsf_event_text *to)
{
	struct xsf_totals *t = xsf_lookup(XSF_MAP_TOTALS, 0);
	__u32 len, i;

	if (!w || !t || !to)
		return 0;
	len = xsf_be32(xsf_at(w, string));
	if (len > XSF_EVENT_TEXT)
		t->drop_texts_cut++;
	for (i = 0; i < XSF_EVENT_TEXT; i += 4) {
		__u32 word = xsf_kept_word(w, string, 4, i, len);

		__builtin_memcpy(to->byte + i, &word, 4);
	}
	return (int)(len > 255 ? 255 : len);
}

static __always_inline __u32 xsf_more(const struct xsf_walk *w, __u32 tag)
{
	return w->rec_mask >> (tag - SFLOW_REC_MORE) & 1;
}

static __always_inline const __u8 *xsf_more_at(const struct xsf_walk *w, __u32 tag)
{
	return xsf_at(w, w->rec_more[tag - SFLOW_REC_MORE]);
}

/* What notifications and flow samples have in common. */
XSF_GLOBAL int xsf_event_common(struct xsf_walk *w)
{
	struct xsf_event *e = xsf_lookup(XSF_MAP_EVENT, 0);
	__u32 flags = 0, i;
	const __u8 *p;

	if (!w || !e)
		return 0;
	e->ns = w->now_ns;
	__builtin_memcpy(&e->agent, &w->agent_key, sizeof(e->agent));
	e->class = w->source.class;
	e->index = w->source.index;
	e->timestamp_ns = 0;
	e->queue = 0;
	e->depth = 0;
	e->delay_ns = 0;
	if (w->duplicate)
		flags |= XSF_EVENT_DUPLICATE;
	if (xsf_more(w, SFLOW_REC_QUEUE)) {
		e->queue = xsf_be32(xsf_more_at(w, SFLOW_REC_QUEUE));
		flags |= XSF_EVENT_HAS_QUEUE;
	}
	if (xsf_more(w, SFLOW_REC_DELAY)) {
		e->delay_ns = xsf_be32(xsf_more_at(w, SFLOW_REC_DELAY));
		flags |= XSF_EVENT_HAS_DELAY;
	}
	if (xsf_more(w, SFLOW_REC_DEPTH)) {
		e->depth = xsf_be32(xsf_more_at(w, SFLOW_REC_DEPTH));
		flags |= XSF_EVENT_HAS_DEPTH;
	}
	if (xsf_more(w, SFLOW_REC_TIME)) {
		e->timestamp_ns = xsf_be64(xsf_more_at(w, SFLOW_REC_TIME));
		flags |= XSF_EVENT_HAS_TIME;
	}
	e->protocol = 0;
	e->frame_len = 0;
	e->stripped = 0;
	e->header_len = 0;
	if (w->rec_header) {
		p = xsf_at(w, w->rec_header);
		e->protocol = xsf_be32(p);
		e->frame_len = xsf_be32(p + 4);
		e->stripped = xsf_be32(p + 8);
		e->header_len = xsf_be32(p + 12);
		flags |= XSF_EVENT_HAS_HEADER;
	}
	e->header_kept = XSF_MIN(e->header_len, XSF_EVENT_HEADER);
	for (i = 0; i < XSF_EVENT_HEADER; i += 4) {
		__u32 word =
			xsf_kept_word(w, w->rec_header, SFLOW_REC_HEADER_LEN, i, e->header_kept);

		__builtin_memcpy(e->header + i, &word, 4);
	}
	e->shed = 0;
	e->reserved = 0;
	e->flags = flags;
	return 0;
}

/* One text of the notification at hand: its length, and its flag when it was cut. */
#define XSF_EVENT_PUT_TEXT(e, w, string, name, name_len, cut) \
	do { \
		int len_ = xsf_event_text((w), (string), (struct xsf_event_text *)(e)->name); \
\
		if (len_ > XSF_EVENT_TEXT) { \
			len_ = XSF_EVENT_TEXT; \
			(e)->flags |= (cut); \
		} \
		(e)->name_len = (__u8)len_; \
	} while (0)

static __always_inline void xsf_event_texts(struct xsf_walk *w, struct xsf_event *e)
{
	e->function_len = 0;
	e->trap_group_len = 0;
	e->trap_len = 0;
	e->linux_len = 0;
	__builtin_memset(e->function, 0, sizeof(e->function));
	__builtin_memset(e->trap_group, 0, sizeof(e->trap_group));
	__builtin_memset(e->trap, 0, sizeof(e->trap));
	__builtin_memset(e->linux_reason, 0, sizeof(e->linux_reason));
	if (xsf_more(w, SFLOW_REC_FUNCTION))
		XSF_EVENT_PUT_TEXT(e, w, w->rec_more[SFLOW_REC_FUNCTION - SFLOW_REC_MORE], function,
				   function_len, XSF_EVENT_FUNCTION_CUT);
	if (xsf_more(w, SFLOW_REC_TRAP)) {
		__u32 group = w->rec_more[SFLOW_REC_TRAP - SFLOW_REC_MORE];
		__u32 len = xsf_be32(xsf_at(w, group));

		XSF_EVENT_PUT_TEXT(e, w, group, trap_group, trap_group_len,
				   XSF_EVENT_TRAP_GROUP_CUT);
		XSF_EVENT_PUT_TEXT(e, w, group + 4 + ((len + 3) & ~3u), trap, trap_len,
				   XSF_EVENT_TRAP_CUT);
	}
	if (xsf_more(w, SFLOW_REC_LINUX))
		XSF_EVENT_PUT_TEXT(e, w, w->rec_more[SFLOW_REC_LINUX - SFLOW_REC_MORE],
				   linux_reason, linux_len, XSF_EVENT_LINUX_CUT);
}

/* The notification that xsf_commit_drop has counted. */
XSF_GLOBAL int xsf_event_drop(struct xsf_walk *w)
{
	struct xsf_event *e = xsf_lookup(XSF_MAP_EVENT, 0);
	const __u8 *body;
	__u32 readers;

	if (!w || !e)
		return 0;
	readers = xsf_event_readers(w, 0);
	if (!readers)
		return 0;
	body = xsf_at(w, w->body);
	xsf_source_name(w, body, 1);
	xsf_event_common(w);
	e->sequence = xsf_be32(body);
	e->drops = xsf_be32(body + 12);
	e->input_format = 0;
	e->input = xsf_be32(body + 16);
	e->output_format = 0;
	e->output = xsf_be32(body + 20);
	e->reason = xsf_be32(body + 24);
	e->rate = 0;
	e->pool = 0;
	xsf_event_texts(w, e);
	xsf_event_send(e, 0, readers);
	return 0;
}

/* The flow sample that xsf_commit_flow counts. */
XSF_GLOBAL int xsf_event_flow(struct xsf_walk *w)
{
	struct xsf_event *e = xsf_lookup(XSF_MAP_EVENT, 0);
	const __u8 *body, *fixed;
	__u32 readers, expanded;

	if (!w || !e)
		return 0;
	readers = xsf_event_readers(w, 1);
	if (!readers)
		return 0;
	expanded = w->type == SFLOW_FLOW_EXPANDED;
	body = xsf_at(w, w->body);
	xsf_source_name(w, body, (int)expanded);
	xsf_event_common(w);
	fixed = expanded ? body + 12 : body + 8;
	e->flags |= XSF_EVENT_FLOW;
	e->sequence = xsf_be32(body);
	e->rate = xsf_be32(fixed);
	e->pool = xsf_be32(fixed + 4);
	e->drops = xsf_be32(fixed + 8);
	if (expanded) {
		e->input_format = xsf_be32(body + 24);
		e->input = xsf_be32(body + 28);
		e->output_format = xsf_be32(body + 32);
		e->output = xsf_be32(body + 36);
	} else {
		e->input = xsf_be32(body + 20);
		e->output = xsf_be32(body + 24);
		e->input_format = e->input >> 30;
		e->input &= 0x3fffffff;
		e->output_format = e->output >> 30;
		e->output &= 0x3fffffff;
	}
	e->reason = 0;
	e->function_len = 0;
	e->trap_group_len = 0;
	e->trap_len = 0;
	e->linux_len = 0;
	xsf_event_send(e, 1, readers);
	return 0;
}

#endif
