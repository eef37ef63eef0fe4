/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of a flow's last answer (xsf_flow_rows). */
#ifndef XSF_MODEL_FLOW_ROWS_H
#define XSF_MODEL_FLOW_ROWS_H

struct xsf_flow;

void xsf_flow_rows_free(struct xsf_flow *flow);

#endif
