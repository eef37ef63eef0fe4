/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decodes a sampled packet as the walk does, for the tests of include/xsf/packet.h. */
#ifndef XSF_TEST_DECODE_H
#define XSF_TEST_DECODE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <xsf/packet.h>
#include "wire.h"

#define ETHERNET 1
#define IP4 11
#define IP6 12

static struct xsf_walk *walk;

static inline int setup(void **state)
{
	(void)state;
	walk = calloc(1, sizeof(*walk));
	return walk ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	free(walk);
	return 0;
}

/* Decodes the first `len` bytes; what follows them looks like more of the packet. */
static inline const struct xsf_packet *decode_cut(const struct wire *w, uint32_t protocol,
						  uint32_t len)
{
	const uint32_t off = 88;

	memset(walk->buf, 0xee, sizeof(walk->buf));
	memcpy(walk->buf + off, w->p, w->len);
	memset(&walk->packet, 0x55, sizeof(walk->packet));
	xsf_packet_decode(walk, off, len, protocol);
	return &walk->packet;
}

static inline const struct xsf_packet *decode(const struct wire *w)
{
	return decode_cut(w, ETHERNET, w->len);
}

static inline void is_outcome(const struct xsf_packet *p, uint32_t outcome, uint32_t flags)
{
	assert_int_equal(p->outcome, outcome);
	assert_int_equal(p->flags, flags);
}

#define IP_ROCE (XSF_PKT_IP | XSF_PKT_ROCE)
#define IP_BTH (XSF_PKT_IP | XSF_PKT_ROCE | XSF_PKT_BTH)

#endif
