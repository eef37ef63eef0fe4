// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include "../progrun/kernel.h"
#include "../unit/sums.h"

/* The comparison asks for the CPU that the kernel counted on. */
uint32_t kernel_cpu(void)
{
	return 0;
}

void check(const struct xsf_snapshot *s, struct reference *reference)
{
	char text[COMPARE_TEXT];
	const char *found = sums_broken(s, text, sizeof(text));

	if (!found && reference)
		found = compare_reference(s, reference, text);
	if (!found)
		return;
	fprintf(stderr, "FOUND: %s\n", found);
	abort();
}
