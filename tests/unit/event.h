/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notifications made by hand, seen through names of a test's own. */
#ifndef XSF_TEST_EVENT_H
#define XSF_TEST_EVENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "model/event_view.h"
#include "wire.h"

#define AT_NS 1764567861123456789ull /* 2025-12-01T05:44:21.123456789Z */

/* What node and ifname say of anything; NULL: nothing. */
struct event_names {
	const char *node, *ifname;
};

static inline const char *event_node(void *arg, const struct xsf_event *event, uint32_t ifindex)
{
	(void)event;
	(void)ifindex;
	return ((struct event_names *)arg)->node;
}

static inline const char *event_ifname(void *arg, const struct xsf_event *event, uint32_t ifindex)
{
	(void)event;
	(void)ifindex;
	return ((struct event_names *)arg)->ifname;
}

static inline struct xsf_event event_of(uint32_t reason, uint32_t input)
{
	static const uint8_t agent[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
	struct xsf_event e = { .reason = reason, .input = input, .sequence = 7, .drops = 3 };

	memcpy(e.agent.addr, agent, sizeof(agent));
	return e;
}

/* A sampled header; it claims a frame with checksum, which was taken off. */
static inline void event_header(struct xsf_event *e, const struct wire *w, uint32_t protocol)
{
	e->flags |= XSF_EVENT_HAS_HEADER;
	e->protocol = protocol;
	e->frame_len = w->len + 4;
	e->stripped = 4;
	e->header_len = w->len;
	e->header_kept = XSF_MIN(w->len, XSF_EVENT_HEADER);
	memcpy(e->header, w->p, e->header_kept);
}

static inline void event_text(uint8_t *to, uint8_t *len, const char *text)
{
	*len = (uint8_t)XSF_MIN(strlen(text), XSF_EVENT_TEXT);
	memcpy(to, text, *len);
}

static inline void event_see(struct xsf_event_view *v, const struct xsf_event *e, const char *node,
			     const char *ifname)
{
	struct event_names n = { node, ifname };
	struct xsf_flow_names names = { .arg = &n, .node = event_node, .ifname = event_ifname };

	xsf_event_view(v, e, AT_NS, &names);
}

/* A pseudo-random notification: any bytes in texts and header, lengths within their bounds. */
static inline void event_hostile(struct xsf_event *e, uint64_t *seed)
{
	static const char bad[] = "\"\\\n\r\t\033[31m\x80\xff\xc3\xe2\x80\xae=|,{}<>%s";
	uint8_t *p = (uint8_t *)e;

	for (size_t i = 0; i < sizeof(*e); i++) {
		*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
		p[i] = (uint8_t)(*seed >> 56);
		/* Texts and headers of any bytes, the bad ones more often. */
		if (i >= offsetof(struct xsf_event, function) && *seed >> 55 & 1)
			p[i] = (uint8_t)bad[(*seed >> 40) % (sizeof(bad) - 1)];
	}
	e->flags &= ~(uint32_t)XSF_EVENT_FLOW;
	e->function_len %= XSF_EVENT_TEXT + 1;
	e->trap_group_len %= XSF_EVENT_TEXT + 1;
	e->trap_len %= XSF_EVENT_TEXT + 1;
	e->linux_len %= XSF_EVENT_TEXT + 1;
	e->header_kept %= XSF_EVENT_HEADER + 1;
	if (*seed >> 50 & 1)
		e->protocol = e->protocol % 3 ? 1 : 11;
}

#endif
