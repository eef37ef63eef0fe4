// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One sFlow datagram, twice: counted as the reference decoder counts it, nothing behind it read. */
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct reference reference;
	struct xsf_store *s;

	if (size > XSF_MAX_PAYLOAD)
		return 0;
	s = target_empty(0);
	reference_reset(&reference);
	for (uint64_t now = 1; now <= 2; now++) {
		xsf_store_datagram(s, data, (uint32_t)size, now);
		reference_datagram(&reference, data, size);
	}
	target_check(&reference);
	return 0;
}
