// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Records that tell about a drop: where in the switch, and why. */
#include "reference.h"

/* Takes one string off a record; 0 when it is not whole. Its padding may be missing at the end. */
static int string_there(struct bytes *b)
{
	const uint8_t *len = bytes_take(b, 4);
	size_t pad;

	if (!len || !bytes_take(b, bytes_32(len)))
		return 0;
	pad = -bytes_32(len) & 3;
	bytes_take(b, pad < b->left ? pad : b->left);
	return 1;
}

int reference_more(uint32_t sample, uint32_t tag, struct bytes body, struct bytes more[8])
{
	struct bytes rest = body;

	switch (tag) {
	case 1036: /* egress queue; transit delay; queue depth */
	case 1039:
	case 1040:
		if (body.left < 4)
			return 0;
		break;
	case 1043: /* timestamp */
		if (body.left < 8)
			return 0;
		break;
	case 1038: /* function; trap group and trap; Linux drop reason */
	case 1041:
	case 1042:
		if (sample != 5)
			return 1;
		if (!string_there(&rest) || (tag == 1041 && !string_there(&rest)))
			return 0;
		break;
	default:
		return 1;
	}
	if (!more[tag - 1036].p)
		more[tag - 1036] = body;
	return 1;
}
