/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dropped headers as a pcapng file (draft-ietf-opsawg-pcapng): a section, an interface for each switch and
 * port as it is first seen, and each header as a packet with a comment. Bytes into a text; the caller
 * writes them. */
#ifndef XSF_PCAPNG_H
#define XSF_PCAPNG_H

#include "model/event_view.h"
#include "serve/text.h"

/* Interfaces of a file, as told apart by place and link type; packets of further ones go to one "other" of
 * their link type. */
#define XSF_PCAPNG_INTERFACES 65535

/* Room for what one call appends. */
#define XSF_PCAPNG_PIECE 8192

struct xsf_pcapng;

/* max_interfaces: at most XSF_PCAPNG_INTERFACES; 0: that many. seed: random, against agents that choose
 * where they fall. NULL: no memory. */
struct xsf_pcapng *xsf_pcapng_new(uint32_t max_interfaces, uint64_t seed);
void xsf_pcapng_free(struct xsf_pcapng *p);

/* The start of the file; application: who wrote it. */
void xsf_pcapng_begin(struct xsf_text *t, const char *application);

/* One notification, before it its interface when that is new. Its time is xsf_event_drop_time(), its length
 * view->length; without a header, a packet of no bytes. */
void xsf_pcapng_event(struct xsf_pcapng *p, struct xsf_text *t, const struct xsf_event_view *view);

/* Packets that went to "other" because there were too many interfaces. */
uint64_t xsf_pcapng_other(const struct xsf_pcapng *p);

#endif
