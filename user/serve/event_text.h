/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A drop notification for people: one line as tcpdump would write it. */
#ifndef XSF_EVENT_LINE_H
#define XSF_EVENT_LINE_H

#include "model/event_view.h"
#include "serve/text.h"

/* Room for any line, and for any of its parts. */
#define XSF_EVENT_LINE 4096

/* Where, why, and what packet, in one line without its end and without the time:
 *
 *	leaf1 swp1 acl function=nft_do_chain queue=3 | IP 10.0.0.1.4000 > 10.0.0.2.53: UDP, length 60
 *
 * The port is ? when unknown. Names and texts come from the network: what xsf_text_bytes replaces is, those
 * with other characters than a word's stand in double quotes, and "..." follows one that was cut. */
void xsf_event_text(struct xsf_text *t, const struct xsf_event_view *view);

/* Its parts. */
void xsf_event_text_place(struct xsf_text *t, const struct xsf_event_view *view);
void xsf_event_text_details(struct xsf_text *t, const struct xsf_event_view *view);
void xsf_event_text_packet(struct xsf_text *t, const struct xsf_event_view *view);

/* The packet's ends alone: "10.0.0.1.4000 > 10.0.0.2.4791 UDP RoCE", what is one flow in `drops --top`. */
void xsf_event_text_flow(struct xsf_text *t, const struct xsf_event_view *view);

/* n bytes as they stand when they are a word, else escaped in double quotes. */
void xsf_event_text_word(struct xsf_text *t, const char *s, size_t n);

#endif
