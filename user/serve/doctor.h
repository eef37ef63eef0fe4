/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Findings of `doctor`, as text and as JSON. */
#ifndef XSF_SERVE_DOCTOR_H
#define XSF_SERVE_DOCTOR_H

#include "model/doctor.h"
#include "serve/text.h"

/* Enough for either of them. */
#define XSF_DOCTOR_TEXT (XSF_MAX_FINDINGS * 2560 + 1024)

/* A line for each finding, with its command at the end; the last line counts them. Names in them that
 * hold control characters show "?" there. */
void xsf_doctor_text(const struct xsf_diagnosis *d, struct xsf_text *t);

/* One object, ended by a line feed. */
void xsf_doctor_json(const char *iface, const struct xsf_diagnosis *d, struct xsf_text *t);

#endif
