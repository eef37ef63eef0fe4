/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of the AI metrics, which export and run share: as enum xsf_topology_opt in topologies.h. */
#ifndef XSF_CMD_AI_OPTIONS_H
#define XSF_CMD_AI_OPTIONS_H

#include "model/ai.h"

enum xsf_ai_opt {
	XSF_OPT_CREDITS,
	XSF_OPT_TRIM_DSCP,
	XSF_OPT_CNP_ANY,
	XSF_OPT_OP_DETAIL,
	XSF_NR_AI_OPTS
};

#define XSF_AI_LONG_OPTIONS(first) \
	{ "credits", required_argument, NULL, (first) + XSF_OPT_CREDITS }, \
		{ "trim-dscp", required_argument, NULL, (first) + XSF_OPT_TRIM_DSCP }, \
		{ "cnp-any", no_argument, NULL, (first) + XSF_OPT_CNP_ANY }, \
	{ \
		"op-detail", no_argument, NULL, (first) + XSF_OPT_OP_DETAIL \
	}

extern const char xsf_ai_options_help[];

/* One option, its number counted from `first`. 0, or the exit code after a message. */
int xsf_ai_arg(struct xsf_ai_options *o, const char *command, int opt, const char *value);

#endif
