/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Within serve/: what flows.c (parameters), flows_read.c (JSON) and flows_write.c share. */
#ifndef XSF_SERVE_FLOWS_PARTS_H
#define XSF_SERVE_FLOWS_PARTS_H

#include "serve/flows.h"

/* sFlow-RT adjusts what is beyond (define_flow); of t it says 0.2, and its own applications use 0.1. */
#define XSF_FLOWS_N_MIN 5
#define XSF_FLOWS_N_MAX 20
#define XSF_FLOWS_T_MIN 0.1
#define XSF_FLOWS_T_MAX 600

/* The reason, one line without control characters. -EINVAL. */
int xsf_flows_refuse(char why[XSF_FLOWS_WHY], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* 0 or -EINVAL. */
int xsf_flows_aggregation(const char *text, enum xsf_flow_aggregation *aggregation);

double xsf_flows_adjusted(double value, double low, double high);

#endif
