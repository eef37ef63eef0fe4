// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/ai_options.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

const char xsf_ai_options_help[] =
	"      --credits WHAT         AI metrics: decoded (default), or raw credit codes\n"
	"      --trim-dscp LIST       DSCPs that say \"trimmed\", 0..63 (default 11); by\n"
	"                             interface what load and run are given counts\n"
	"      --cnp-any              AI metrics: CNPs with SE or M set count too\n"
	"      --op-detail            AI metrics: operations by IBTA's names, First, Middle and\n"
	"                             Last apart\n";

/* "11,12" */
static int parse_dscps(const char *text, uint64_t *dscps)
{
	char number[4];

	*dscps = 0;
	for (;;) {
		size_t len = strcspn(text, ",");
		uint64_t dscp;

		if (len >= sizeof(number))
			return -1;
		memcpy(number, text, len);
		number[len] = 0;
		if (xsf_parse_u64(number, 0, 63, &dscp))
			return -1;
		*dscps |= 1ull << dscp;
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

int xsf_dscps_arg(uint64_t *dscps, const char *command, const char *value)
{
	return parse_dscps(value, dscps) ?
		       xsf_usage(command, "--trim-dscp is a list of numbers from 0 to 63, not '%s'",
				 value) :
		       0;
}

int xsf_ai_arg(struct xsf_ai_options *o, const char *command, int opt, const char *value)
{
	switch (opt) {
	case XSF_OPT_CREDITS:
		if (strcmp(value, "raw") != 0 && strcmp(value, "decoded") != 0)
			return xsf_usage(command, "--credits is decoded or raw, not '%s'", value);
		o->raw_credits = !strcmp(value, "raw");
		return 0;
	case XSF_OPT_TRIM_DSCP:
		return xsf_dscps_arg(&o->trimmed_dscps, command, value);
	case XSF_OPT_CNP_ANY:
		o->any_cnp = 1;
		return 0;
	default:
		o->ibta_names = 1;
		return 0;
	}
}
