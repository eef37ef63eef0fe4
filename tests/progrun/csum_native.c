// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "csum_trio.h"

#include <stdlib.h>

/* A packet in memory, as long as it is: a sanitizer sees every read beyond. */
struct native_packet {
	uint8_t *p;
	uint32_t len;
	const struct csum_how *how;
};

#define XSF_CSUM_HANDLE struct native_packet
#include <xsf/csum.h>

static struct xsf_csum_text native_text;
static const struct csum_rules *native_rules;

static __always_inline struct xsf_csum_text *xsf_csum_scratch(void)
{
	return &native_text;
}

static __always_inline int xsf_csum_load(XSF_CSUM_HANDLE *handle, __u32 off, void *to, __u32 len)
{
	if (off > handle->len || len > handle->len - off || handle->how->unreadable)
		return -1;
	memcpy(to, handle->p + off, len);
	return 0;
}

static __always_inline int xsf_csum_load_text(XSF_CSUM_HANDLE *handle, __u32 off,
					      struct xsf_csum_text *text, __u32 at, __u32 len)
{
	if (!len || len > XSF_CSUM_MAX_SUM - at)
		return -1;
	return xsf_csum_load(handle, off, text->buf + at, len);
}

static __always_inline int xsf_csum_store(XSF_CSUM_HANDLE *handle, __u32 off, __u16 check,
					  __u32 summed)
{
	(void)summed;
	if (off > handle->len || sizeof(check) > handle->len - off || handle->how->unwritable)
		return -1;
	memcpy(handle->p + off, &check, sizeof(check));
	return 0;
}

static __always_inline int xsf_csum_network(XSF_CSUM_HANDLE *handle)
{
	(void)handle;
	return 14;
}

static __always_inline __u32 xsf_csum_summed(XSF_CSUM_HANDLE *handle)
{
	return handle->how->partial ? XSF_SUMMED_PARTIAL : XSF_SUMMED_NONE;
}

static __always_inline __u64 xsf_csum_add(struct xsf_csum_text *text, __u32 len, __u32 seed)
{
	__u64 sum = seed;

	for (__u32 i = 0; i < len; i += 4)
		sum += XSF_LOAD32(text->buf + i);
	return sum;
}

static __always_inline int xsf_csum_listed(const __u8 *addr)
{
	for (uint32_t i = 0; i < native_rules->nr_from; i++) {
		const struct csum_prefix *prefix = &native_rules->from[i];
		uint32_t whole = prefix->len / 8, rest = prefix->len % 8;

		if (!memcmp(prefix->addr, addr, whole) &&
		    (!rest || !((prefix->addr[whole] ^ addr[whole]) >> (8 - rest))))
			return 1;
	}
	return 0;
}

#define NATIVE_NAME(name, help) #name,
static const char *const packet_names[] = { NULL, XSF_CSUM_PACKET_OUTCOMES(NATIVE_NAME) };
static const char *const names[] = { XSF_CSUM_OUTCOMES(NATIVE_NAME) };

void csum_native(const struct csum_rules *rules, const uint8_t *frame, uint32_t len,
		 const struct csum_how *how, struct csum_result *out)
{
	struct xsf_csum_policy policy = { .set = rules->nr_watch != 0,
					  .nr_prefixes = rules->nr_from };
	struct native_packet packet = { .p = malloc(len), .len = len, .how = how };
	struct xsf_csum_packet p = { .handle = &packet, .len = len, .gso_size = how->gso_size };
	uint32_t linear = how->linear < len ? how->linear : len, outcome;
	union {
		__u32 word;
		struct xsf_csum_watch watch;
	} watched;

	if (!packet.p)
		abort();
	memcpy(packet.p, frame, len);
	memcpy(policy.watch, rules->watch, sizeof(policy.watch));
	/* What lies behind it would come from the call before. */
	memset(&native_text, 0xee, sizeof(native_text));
	native_rules = rules;
	p.data = packet.p;
	p.data_end = packet.p + linear;
	p.type = (uint32_t)frame[12] << 8 | frame[13];
	out->port = 0;
	memset(out->source, 0, 16);
	outcome = xsf_csum_parse(&p, &policy);
	if (outcome == XSF_CSUM_PACKET_datagram) {
		out->outcome = names[xsf_csum_judge(&p, &native_text, &policy)];
		watched.word = p.watched;
		out->port = watched.watch.port;
		memcpy(out->source, native_text.buf, 16);
	} else {
		out->outcome = packet_names[outcome];
	}
	memcpy(out->p, packet.p, len);
	free(packet.p);
}
