// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One sampled packet, its first byte the header protocol: decoded as the reference decodes it, no byte
 * before it or behind it read, and its named fields (model/packet_fields.h) are of the same packet. */
#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xsf/packet.h>
#include "../progrun/reference.h"
#include "model/packet_fields.h"

/* Where a sampled header stands in a datagram, at least. */
#define OFF 88

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(int is, const char *what)
{
	if (is)
		return;
	fprintf(stderr, "FOUND: %s\n", what);
	abort();
}

static void compare(const struct xsf_packet *p, const struct reference_packet *r)
{
	hold(p->outcome == (uint32_t)r->end, "outcome");
	hold(!(p->flags & XSF_PKT_IP) == !r->is_ip, "is IP");
	hold(!(p->flags & XSF_PKT_ROCE) == !r->is_roce, "is RoCE");
	hold(!(p->flags & XSF_PKT_BTH) == !r->has_bth, "has BTH");
	hold(!(p->flags & XSF_PKT_RETH) == !r->has_reth, "has RETH");
	hold(!(p->flags & XSF_PKT_AETH) == !r->has_aeth, "has AETH");
	if (r->is_ip)
		hold(p->tos == r->tos, "TOS");
	if (r->is_roce) {
		hold(p->carrier == (uint32_t)r->carrier, "carrier");
		hold(p->roce_tos == r->roce_tos, "TOS of RoCE");
	}
	if (r->has_bth) {
		hold(p->opcode == r->opcode, "opcode");
		hold(p->bth_flags == r->bth_flags, "BTH flags");
	}
	if (r->has_reth)
		hold(p->dma_length == r->dma_length, "DMA length");
	if (r->has_aeth)
		hold(p->syndrome == r->syndrome, "syndrome");
}

static void compare_roce(const struct xsf_packet *p, const struct xsf_roce_fields *r)
{
	hold(!(p->flags & XSF_PKT_ROCE) == !(r->has & XSF_HAS_ROCE), "fields: is RoCE");
	hold(!(p->flags & XSF_PKT_BTH) == !(r->has & XSF_HAS_BTH), "fields: has BTH");
	hold(!(p->flags & XSF_PKT_RETH) == !(r->has & XSF_HAS_RETH), "fields: has RETH");
	hold(!(p->flags & XSF_PKT_AETH) == !(r->has & XSF_HAS_AETH), "fields: has AETH");
	if (r->has & XSF_HAS_ROCE) {
		hold(p->carrier == r->carrier, "fields: carrier");
		hold(p->roce_tos == r->tos, "fields: TOS of RoCE");
	}
	if (r->has & XSF_HAS_BTH) {
		hold(p->opcode == r->opcode, "fields: opcode");
		hold(p->bth_flags == r->flags, "fields: BTH flags");
	}
	if (r->has & XSF_HAS_RETH)
		hold(p->dma_length == r->dma_length, "fields: DMA length");
	if (r->has & XSF_HAS_AETH)
		hold(p->syndrome == r->syndrome, "fields: syndrome");
}

static void compare_fields(const struct xsf_packet *p, const uint8_t *data, size_t size,
			   uint32_t protocol)
{
	uint8_t *header = malloc(size ? size : 1); /* its end is where reading ends */
	struct xsf_packet_fields f;
	char text[XSF_STACK_TEXT];
	int is_ip;

	if (!header)
		abort();
	memcpy(header, data, size);
	memset(&f, 0xaa, sizeof(f));
	xsf_packet_fields(header, (uint32_t)size, protocol, &f);
	hold(f.nr_frames <= 2 && f.nr_stack <= XSF_STACK_MAX, "fields: bounds");
	hold(strlen(xsf_stack_text(&f, text)) < XSF_STACK_TEXT, "fields: text of the stack");
	is_ip = f.nr_frames && f.frame[0].has & (XSF_HAS_IP4 | XSF_HAS_IP6);
	hold(!(p->flags & XSF_PKT_IP) == !is_ip, "fields: is IP");
	if (is_ip)
		hold(p->tos == f.frame[0].tos, "fields: TOS");
	compare_roce(p, &f.roce);
	if (f.roce.has & XSF_HAS_BTH)
		hold(f.roce.off + 12 <= size && header[f.roce.off] == p->opcode,
		     "fields: place of the BTH");
	free(header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t protocols[4] = { 1, 11, 12, 13 };
	static struct xsf_walk *w;
	struct reference_packet reference;
	struct bytes header;
	uint32_t protocol;

	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w)
			abort();
	}
	if (!size || size > 2048)
		return 0;
	/* Mostly Ethernet. */
	protocol = data[0] < 4 ? protocols[data[0]] : 1;
	data++;
	size--;
	memcpy(w->buf + OFF, data, size);
	ASAN_POISON_MEMORY_REGION(w->buf, OFF);
	ASAN_POISON_MEMORY_REGION(w->buf + OFF + size, sizeof(w->buf) - OFF - size);
	memset(&w->packet, 0xaa, sizeof(w->packet));
	xsf_packet_decode(w, OFF, (uint32_t)size, protocol);
	ASAN_UNPOISON_MEMORY_REGION(w->buf, sizeof(w->buf));
	header.p = data;
	header.left = size;
	reference_packet(header, protocol, &reference);
	compare(&w->packet, &reference);
	compare_fields(&w->packet, data, size, protocol);
	return 0;
}
