// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "reference.h"

/* A UDP datagram in an IP packet: what is left of the packet, and which kind of fragment it is. */
enum part { WHOLE, FIRST_FRAGMENT, LATER_FRAGMENT };

static int configured(const uint16_t ports[XSF_MAX_PORTS], uint32_t port)
{
	for (int i = 0; i < XSF_MAX_PORTS && ports[i]; i++) {
		if (ports[i] == port)
			return 1;
	}
	return 0;
}

static void udp(struct reference *r, struct bytes b, enum part part,
		const uint16_t ports[XSF_MAX_PORTS])
{
	struct bytes whole = b;
	const uint8_t *p = bytes_take(&b, 8);

	if (part != WHOLE) {
		r->totals.fragments++;
		if (part == FIRST_FRAGMENT && p && configured(ports, bytes_16(p + 2)))
			r->totals.fragments_first++;
		return;
	}
	if (!p) {
		r->totals.short_frame++;
		return;
	}
	if (!configured(ports, bytes_16(p + 2))) {
		r->totals.other_port++;
		return;
	}
	if (bytes_16(p + 4) < 8 || bytes_16(p + 4) > whole.left) {
		r->totals.datagrams++;
		r->totals.fault_udp_length++;
		r->totals.datagram_refused++;
		return;
	}
	b.left = bytes_16(p + 4) - 8;
	if (b.left > 9000) {
		r->totals.datagrams++;
		r->totals.datagram_too_long++;
		r->totals.bytes += b.left;
		return;
	}
	reference_datagram(r, b.p, b.left);
}

static void ip4(struct reference *r, struct bytes b, const uint16_t ports[XSF_MAX_PORTS])
{
	uint32_t header, total, offset;
	const uint8_t *p;

	if (b.left < 20) {
		r->totals.short_frame++;
		return;
	}
	header = (uint32_t)(b.p[0] & 15) * 4;
	total = bytes_16(b.p + 2);
	if (b.p[0] >> 4 != 4 || header < 20 || total < header || total > b.left) {
		r->totals.bad_ip++;
		return;
	}
	if (b.p[9] != 17) {
		r->totals.not_udp++;
		return;
	}
	b.left = total;
	p = bytes_take(&b, header);
	offset = bytes_16(p + 6) & 0x1fff;
	udp(r, b, offset ? LATER_FRAGMENT : p[6] & 0x20 ? FIRST_FRAGMENT : WHOLE, ports);
}

static void ip6(struct reference *r, struct bytes b, const uint16_t ports[XSF_MAX_PORTS])
{
	enum part part = WHOLE;
	uint32_t next;
	const uint8_t *p;
	int headers = 0;

	if (b.left < 40) {
		r->totals.short_frame++;
		return;
	}
	if (b.p[0] >> 4 != 6 || bytes_16(b.p + 4) > b.left - 40) {
		r->totals.bad_ip++;
		return;
	}
	p = bytes_take(&b, 40);
	size_t behind = b.left - bytes_16(p + 4); /* not part of the packet */

	b.left -= behind;
	next = p[6];
	while (next == 0 || next == 43 || next == 44 || next == 60) {
		if (headers++ == 3) {
			r->totals.ext_depth++;
			return;
		}
		/* A header that starts in the packet and ends behind it is wrong; one that the frame does
		 * not hold is short. */
		if (b.left + behind < 8) {
			r->totals.short_frame++;
			return;
		}
		if (b.left < (next == 44 ? 8u : 8u * (1 + b.p[1]))) {
			r->totals.bad_ip++;
			return;
		}
		if (next == 44) {
			p = bytes_take(&b, 8);
			next = p[0];
			if (bytes_16(p + 2) & 0xfff8) {
				if (next == 17)
					r->totals.fragments++;
				else
					r->totals.not_udp++;
				return;
			}
			/* With neither offset nor more to come it is an atomic fragment: whole. */
			if (p[3] & 1)
				part = FIRST_FRAGMENT;
		} else {
			uint32_t len = 8u * (1 + b.p[1]);

			next = b.p[0];
			bytes_take(&b, len);
		}
	}
	if (next != 17) {
		r->totals.not_udp++;
		return;
	}
	udp(r, b, part, ports);
}

void reference_frame(struct reference *r, const uint8_t *frame, size_t len,
		     const uint16_t ports[XSF_MAX_PORTS])
{
	struct bytes b = { frame, len };
	const uint8_t *p = bytes_take(&b, 14);
	uint32_t type;
	int tags;

	if (!p) {
		r->totals.short_frame++;
		return;
	}
	type = bytes_16(p + 12);
	for (tags = 0; type == 0x8100 || type == 0x88a8 || type == 0x9100; tags++) {
		if (tags == 2) {
			r->totals.vlan_depth++;
			return;
		}
		p = bytes_take(&b, 4);
		if (!p) {
			r->totals.short_frame++;
			return;
		}
		type = bytes_16(p + 2);
	}
	if (type == 0x0800)
		ip4(r, b, ports);
	else if (type == 0x86dd)
		ip6(r, b, ports);
	else
		r->totals.not_ip++;
}
