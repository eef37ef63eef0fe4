// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Some frames, each with a byte that says what it starts with and how it was captured, and two of length. */
#include "target.h"

#define FRAMES 8

/* The byte: bits 0-1 type, bit 2 captured whole or not, bit 3 drops duplicates (of the first frame). */
static const uint32_t types[4] = { 0, 0x0800, 0x86dd, 0xffff };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct reference reference;
	int plain = 1, frames = 0;
	struct xsf_store *s;

	s = target_empty(size && data[0] & 8 ? XSF_F_DROP_DUPLICATES : 0);
	reference_reset(&reference);
	while (size >= 3 && frames < FRAMES) {
		uint32_t type = types[data[0] & 3], len = (uint32_t)data[1] << 8 | data[2];
		uint32_t missing = data[0] & 4 ? 1 + (data[0] >> 4) * 16 : 0;
		uint8_t *frame;

		data += 3;
		size -= 3;
		if (len > size)
			len = (uint32_t)size;
		/* Of its own, so that every byte behind it is out of bounds. */
		frame = malloc(len ? len : 1);
		if (!frame)
			abort();
		memcpy(frame, data, len);
		xsf_store_frame(s, frame, len, len + missing, type, (uint64_t)++frames);
		if (type || missing || s->config.flags)
			plain = 0;
		else
			reference_frame(&reference, frame, len, s->config.ports);
		free(frame);
		data += len;
		size -= len;
	}
	target_check(plain ? &reference : NULL);
	return 0;
}
