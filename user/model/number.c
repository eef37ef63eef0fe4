// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int xsf_number(const char *text, double *value)
{
	char *end;

	if (!*text || strspn(text, "0123456789+-.eE") != strlen(text))
		return -EINVAL;
	*value = strtod(text, &end);
	return *end || !isfinite(*value) ? -EINVAL : 0;
}
