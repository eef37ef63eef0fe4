// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "reference.h"

#include <string.h>

/* Transports: the top three bits of an opcode. */
enum { RC = 0, UC = 1, RD = 2, XRC = 5 };

/* Operations: the lower five bits. */
enum {
	WRITE_FIRST = 6,
	WRITE_ONLY = 10,
	WRITE_ONLY_IMMEDIATE = 11,
	READ_REQUEST = 12,
	READ_RESPONSE_FIRST = 13,
	READ_RESPONSE_LAST = 15,
	READ_RESPONSE_ONLY = 16,
	ACKNOWLEDGE = 17,
	ATOMIC_ACKNOWLEDGE = 18,
	FLUSH = 28,
	ATOMIC_WRITE = 29,
};

uint32_t reference_dma_length_at(uint8_t opcode)
{
	uint32_t transport = opcode >> 5, operation = opcode & 31;
	uint32_t at = 12; /* BTH */

	switch (operation) {
	case WRITE_FIRST:
	case WRITE_ONLY:
	case WRITE_ONLY_IMMEDIATE:
		if (transport != RC && transport != UC && transport != RD && transport != XRC)
			return 0;
		break;
	case READ_REQUEST:
		if (transport != RC && transport != RD && transport != XRC)
			return 0;
		break;
	case FLUSH:
		if (transport != RC)
			return 0;
		at += 4; /* FETH */
		break;
	case ATOMIC_WRITE:
		if (transport != RC)
			return 0;
		break;
	default:
		return 0;
	}
	if (transport == RD)
		at += 4 + 8; /* RDETH, DETH */
	if (transport == XRC)
		at += 4;   /* XRCETH */
	return at + 8 + 4; /* RETH: address, key, length */
}

uint32_t reference_syndrome_at(uint8_t opcode)
{
	uint32_t transport = opcode >> 5;

	if (transport != RC && transport != RD && transport != XRC)
		return 0;
	switch (opcode & 31) {
	case READ_RESPONSE_FIRST:
	case READ_RESPONSE_LAST:
	case READ_RESPONSE_ONLY:
	case ACKNOWLEDGE:
	case ATOMIC_ACKNOWLEDGE:
		return transport == RD ? 12 + 4 : 12; /* RDETH */
	}
	return 0;
}

static void bth(struct bytes b, uint8_t tos, enum xsf_carrier carrier, struct reference_packet *out)
{
	static const enum reference_end ends[] = { END_ROCE, END_ROCE_TUNNEL, END_ROCE_V1 };
	uint32_t at;

	out->is_roce = 1;
	out->roce_tos = tos;
	out->carrier = carrier;
	out->end = END_BTH_CUT;
	if (b.left < 12)
		return;
	out->end = ends[carrier];
	out->has_bth = 1;
	out->opcode = b.p[0];
	out->bth_flags = b.p[1];
	at = reference_dma_length_at(out->opcode);
	if (at && b.left >= at + 4) {
		out->has_reth = 1;
		out->dma_length = bytes_32(b.p + at);
	}
	at = reference_syndrome_at(out->opcode);
	if (at && b.left > at) {
		out->has_aeth = 1;
		out->syndrome = b.p[at];
	}
}

static void ethernet(struct bytes b, int tunnel, struct reference_packet *out);

/* Where reading stopped, unless the packet around it was IP already: then that stands. */
static void stop(struct reference_packet *out, enum reference_end end)
{
	if (!out->is_ip)
		out->end = end;
}

static void first_ip(struct reference_packet *out, uint8_t tos)
{
	if (out->is_ip)
		return;
	out->is_ip = 1;
	out->tos = tos;
	out->end = END_IP;
}

static void transport(struct bytes b, uint32_t proto, uint8_t tos, int tunnel,
		      struct reference_packet *out)
{
	const uint8_t *udp;

	if (proto == 47) { /* GRE */
		out->end = END_OTHER_TUNNEL;
		return;
	}
	if (proto != 17)
		return;
	udp = bytes_take(&b, 8);
	if (!udp)
		return;
	switch (bytes_16(udp + 2)) {
	case 4791:
		bth(b, tos, tunnel ? XSF_ROCE_TUNNEL : XSF_ROCE_V2, out);
		break;
	case 6081: /* GENEVE */
		out->end = END_OTHER_TUNNEL;
		break;
	case 4789:
		/* One VXLAN inside another is not opened. */
		if (bytes_take(&b, 8) && tunnel != 2)
			ethernet(b, 2, out);
		break;
	}
}

static void ip4(struct bytes b, int tunnel, struct reference_packet *out)
{
	uint32_t len, total;

	if (b.left < 20) {
		stop(out, END_CUT);
		return;
	}
	len = (uint32_t)(b.p[0] & 15) * 4;
	if (b.p[0] >> 4 != 4 || len < 20) {
		stop(out, END_BAD_IP);
		return;
	}
	total = bytes_16(b.p + 2);
	if (total > len && total < b.left)
		b.left = total;
	const uint8_t *header = b.p;
	int was_ip = out->is_ip;

	first_ip(out, header[1]);
	if (bytes_16(header + 6) & 0x1fff) {
		if (!was_ip)
			out->end = END_FRAGMENT;
		return;
	}
	if (!bytes_take(&b, len))
		b.left = 0;
	transport(b, header[9], header[1], tunnel, out);
}

static void ip6(struct bytes b, int tunnel, struct reference_packet *out)
{
	const uint8_t *header;
	uint32_t next, payload;
	int was_ip = out->is_ip;
	uint8_t class;

	if (b.left < 40) {
		stop(out, END_CUT);
		return;
	}
	if (b.p[0] >> 4 != 6) {
		stop(out, END_BAD_IP);
		return;
	}
	header = bytes_take(&b, 40);
	payload = bytes_16(header + 4);
	if (payload && payload < b.left)
		b.left = payload;
	class = (uint8_t)(header[0] << 4 | header[1] >> 4);
	next = header[6];
	first_ip(out, class);
	for (int i = 0; i < 3 && (next == 0 || next == 43 || next == 44 || next == 60); i++) {
		uint32_t is = next;

		if (b.left < 8)
			return;
		next = b.p[0];
		if (is == 44 && bytes_16(b.p + 2) >> 3) {
			if (!was_ip)
				out->end = END_FRAGMENT;
			return;
		}
		if (!bytes_take(&b, is == 44 ? 8 : 8u * (1 + b.p[1])))
			b.left = 0;
	}
	transport(b, next, class, tunnel, out);
}

/* tunnel: 0 none, 1 behind MPLS, 2 inside VXLAN. */
static void ethernet(struct bytes b, int tunnel, struct reference_packet *out)
{
	const uint8_t *p = bytes_take(&b, 14);
	uint32_t type;

	if (!p) {
		stop(out, END_CUT);
		return;
	}
	type = bytes_16(p + 12);
	for (int tags = 0; tags < 2 && (type == 0x8100 || type == 0x88a8 || type == 0x9100);
	     tags++) {
		p = bytes_take(&b, 4);
		if (!p) {
			stop(out, END_CUT);
			return;
		}
		type = bytes_16(p + 2);
	}
	if (type == 0x8847 || type == 0x8848) {
		int bottom = 0;

		for (int labels = 0; labels < 4 && !bottom; labels++) {
			p = bytes_take(&b, 4);
			if (!p) {
				stop(out, END_CUT);
				return;
			}
			bottom = p[2] & 1;
		}
		if (bottom && !b.left) {
			stop(out, END_CUT);
			return;
		}
		if (!tunnel)
			tunnel = 1;
		type = !bottom ? 0 : b.p[0] >> 4 == 4 ? 0x0800 : b.p[0] >> 4 == 6 ? 0x86dd : 0;
	}
	if (type == 0x0800) {
		ip4(b, tunnel, out);
	} else if (type == 0x86dd) {
		ip6(b, tunnel, out);
	} else if (type == 0x8915) {
		/* GRH: shaped like an IPv6 header. */
		uint8_t class = b.left >= 2 ? (uint8_t)(b.p[0] << 4 | b.p[1] >> 4) : 0;

		if (!bytes_take(&b, 40))
			b.left = 0;
		bth(b, class, XSF_ROCE_V1, out);
	} else {
		stop(out, END_NOT_IP);
	}
}

void reference_packet(struct bytes header, uint32_t header_protocol, struct reference_packet *out)
{
	memset(out, 0, sizeof(*out));
	out->end = END_OTHER_PROTOCOL;
	switch (header_protocol) {
	case 1:
		ethernet(header, 0, out);
		break;
	case 11:
		ip4(header, 0, out);
		break;
	case 12:
		ip6(header, 0, out);
		break;
	}
}
