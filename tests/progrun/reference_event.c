// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a reader is told of a sample (xsf/event.h). */
#include <string.h>
#include "reference.h"

/* Takes a string off a record that is whole; returns how many bytes of it are kept. */
static uint8_t keep(struct reference *r, struct bytes *record, uint8_t text[XSF_EVENT_TEXT],
		    uint32_t cut, uint32_t *flags)
{
	uint32_t len = bytes_32(bytes_take(record, 4)), pad = -len & 3;
	const uint8_t *string = bytes_take(record, len);

	bytes_take(record, pad < record->left ? pad : record->left);
	if (len > XSF_EVENT_TEXT) {
		*flags |= cut;
		r->totals.drop_texts_cut++;
		len = XSF_EVENT_TEXT;
	}
	memcpy(text, string, len);
	return (uint8_t)len;
}

static void texts(struct reference *r, struct xsf_event *e, const struct bytes more[8])
{
	struct bytes function = more[2], trap = more[5], reason = more[6];

	if (function.p)
		e->function_len =
			keep(r, &function, e->function, XSF_EVENT_FUNCTION_CUT, &e->flags);
	if (trap.p) {
		e->trap_group_len =
			keep(r, &trap, e->trap_group, XSF_EVENT_TRAP_GROUP_CUT, &e->flags);
		e->trap_len = keep(r, &trap, e->trap, XSF_EVENT_TRAP_CUT, &e->flags);
	}
	if (reason.p)
		e->linux_len = keep(r, &reason, e->linux_reason, XSF_EVENT_LINUX_CUT, &e->flags);
}

static void numbers(struct xsf_event *e, struct bytes header, const struct bytes more[8])
{
	if (more[0].p) {
		e->flags |= XSF_EVENT_HAS_QUEUE;
		e->queue = bytes_32(more[0].p);
	}
	if (more[3].p) {
		e->flags |= XSF_EVENT_HAS_DELAY;
		e->delay_ns = bytes_32(more[3].p);
	}
	if (more[4].p) {
		e->flags |= XSF_EVENT_HAS_DEPTH;
		e->depth = bytes_32(more[4].p);
	}
	if (more[7].p) {
		e->flags |= XSF_EVENT_HAS_TIME;
		e->timestamp_ns = (uint64_t)bytes_32(more[7].p) << 32 | bytes_32(more[7].p + 4);
	}
	if (!header.p)
		return;
	e->flags |= XSF_EVENT_HAS_HEADER;
	e->protocol = bytes_32(header.p);
	e->frame_len = bytes_32(header.p + 4);
	e->stripped = bytes_32(header.p + 8);
	e->header_len = bytes_32(header.p + 12);
	e->header_kept = e->header_len < 128 ? e->header_len : 128;
	memcpy(e->header, header.p + 16, e->header_kept);
}

void reference_event(struct reference *r, uint32_t tag, const uint8_t *f, struct bytes header,
		     const struct bytes more[8])
{
	struct xsf_event e = { .agent = r->agents[r->agent].key, .sequence = bytes_32(f) };

	if (!r->each)
		return;
	numbers(&e, header, more);
	if (tag == 1) {
		e.class = f[4];
		e.index = bytes_32(f + 4) & 0xffffff;
	} else {
		e.class = bytes_32(f + 4);
		e.index = bytes_32(f + 8);
	}
	if (tag == 5) {
		e.drops = bytes_32(f + 12);
		e.input = bytes_32(f + 16);
		e.output = bytes_32(f + 20);
		e.reason = bytes_32(f + 24);
		texts(r, &e, more);
	} else {
		const uint8_t *rate = f + (tag == 1 ? 8 : 12);

		e.flags |= XSF_EVENT_FLOW;
		e.rate = bytes_32(rate);
		e.pool = bytes_32(rate + 4);
		e.drops = bytes_32(rate + 8);
		e.input_format = tag == 1 ? f[20] >> 6 : bytes_32(f + 24);
		e.input = tag == 1 ? bytes_32(f + 20) & 0x3fffffff : bytes_32(f + 28);
		e.output_format = tag == 1 ? f[24] >> 6 : bytes_32(f + 32);
		e.output = tag == 1 ? bytes_32(f + 24) & 0x3fffffff : bytes_32(f + 36);
	}
	r->each(r->arg, &e);
}
