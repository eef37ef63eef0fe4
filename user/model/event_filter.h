/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which drop notifications are wanted: by reason, by place, and by a filter expression of libpcap that runs
 * on the dropped packet's header. Pure: parsed once, then run for each. */
#ifndef XSF_EVENT_FILTER_H
#define XSF_EVENT_FILTER_H

#include <stddef.h>
#include "model/event_view.h"

#define XSF_FILTER_ITEMS 256 /* in each list */
#define XSF_FILTER_TEXT 8192 /* bytes of each list, and of the expression */

struct xsf_event_filter;

/* Each NULL: all. Lists are comma separated and match when one item does; all that are given must match. */
struct xsf_event_filter_options {
	const char *reasons;	/* names or codes; 33 is 332, 36 is 366 (drop_reasons.h) */
	const char *agents;	/* addresses or names */
	const char *interfaces; /* names or ifIndexes, of the input or the output */
	const char *expression; /* pcap-filter(7) */
};

/* 0 and *filter; or -EINVAL or -ENOMEM, and in `why` which option and why, libpcap's words included. */
int xsf_event_filter_new(const struct xsf_event_filter_options *options,
			 struct xsf_event_filter **filter, char *why, size_t len);
void xsf_event_filter_free(struct xsf_event_filter *filter);

/* An expression sees the bytes that were kept, of a packet as long as it was. What it asks of bytes that were
 * not kept, of a packet without a header or of a header_protocol that is neither Ethernet nor IP, is no
 * match. */
int xsf_event_filter_match(const struct xsf_event_filter *filter,
			   const struct xsf_event_view *view);

#endif
