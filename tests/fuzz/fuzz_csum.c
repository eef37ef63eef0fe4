// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One packet, behind a byte that says what it is to the program besides its bytes: include/xsf/csum.h and the
 * reference agree on what becomes of it, and on every byte afterwards. */
#include <stdio.h>
#include <stdlib.h>
#include "../progrun/csum_trio.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bits of the byte: 0 merged, 1 local sender, 2 its checksum is made right first, 3 not all in place, 4 the
 * policy says something. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct csum_rules rules[2] = {
		{ .nr_watch = 0 },
		{ .watch = { { 6343, 1, 1 }, { 2055, 2, 0 } },
		  .nr_watch = 2,
		  .from = { { { 0x20, 1, 0xd, 0xb8 }, 37 } },
		  .nr_from = 1 },
	};
	static struct csum_result reference, native;
	static uint8_t frame[WIRE_MAX];
	struct csum_how how = { 0 };
	uint32_t len, at;
	uint8_t say;

	if (size < 1 + CSUM_SHORTEST || size > WIRE_MAX)
		return 0;
	say = data[0];
	len = (uint32_t)size - 1;
	memcpy(frame, data + 1, len);
	how.gso_size = say & 1 ? 100 : 0;
	how.partial = say & 2;
	how.linear = say & 8 ? say >> 4 : len;
	if (say & 4 && csum_verify(frame, len, &at) >= 0)
		csum_repair(frame, len);
	csum_reference(&rules[say >> 4 & 1], frame, len, &how, &reference);
	csum_native(&rules[say >> 4 & 1], frame, len, &how, &native);
	if (strcmp(reference.outcome, native.outcome) || reference.port != native.port ||
	    memcmp(reference.source, native.source, 16) || memcmp(reference.p, native.p, len)) {
		fprintf(stderr, "ERROR: reference %s, port %u; native %s, port %u\n",
			reference.outcome, reference.port, native.outcome, native.port);
		abort();
	}
	return 0;
}
