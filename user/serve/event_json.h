/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A drop notification as one JSON object in one line. */
#ifndef XSF_EVENT_JSON_H
#define XSF_EVENT_JSON_H

#include "model/event_view.h"
#include "serve/text.h"

#define XSF_EVENT_JSON 8192 /* room for any */

/* Without a line end. `time` is when the datagram came, in UTC; numbers of 64 bits stand in quotes. What the
 * notification did not carry is absent. */
void xsf_event_json(struct xsf_text *t, const struct xsf_event_view *view);

#endif
