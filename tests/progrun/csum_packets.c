// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Packets around UDP over IPv6, of every shape that the checksum program tells apart, most of them sound. */
#include "csum_trio.h"

#include "inputs.h"

struct made {
	struct wire *w;
	uint64_t *seed;
	uint32_t ip, udp, udp_len;
};

static int one_in(struct made *m, uint32_t n)
{
	return draw(m->seed, n) == 0;
}

static void noise(struct made *m, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		wire_8(m->w, draw(m->seed, 256));
}

static void link_header(struct made *m)
{
	static const uint32_t types[] = { 0x8100, 0x88a8, 0x9100 };
	static const uint32_t others[] = { 0x0800, 0x0806, 0x88cc, 0x0100 };
	uint32_t tags = one_in(m, 4) ? 1 + draw(m->seed, 3) : 0;

	noise(m, 12);
	/* Addresses that look like the beginning of an IPv6 header. */
	if (one_in(m, 8)) {
		m->w->p[0] = 0x60;
		m->w->p[4] = 0;
		m->w->p[5] &= 0x3f;
		m->w->p[6] = 17;
	}
	while (tags--) {
		wire_16(m->w, types[draw(m->seed, 3)]);
		wire_16(m->w, draw(m->seed, 65536));
	}
	wire_16(m->w, one_in(m, 50) ? others[draw(m->seed, 4)] : 0x86dd);
}

static void address(struct made *m)
{
	/* Few, so that each source has many. */
	wire_32(m->w, 0x20010db8);
	wire_32(m->w, draw(m->seed, 4));
	wire_32(m->w, 0);
	wire_32(m->w, draw(m->seed, 12));
}

/* Options that fill `len` bytes, or claim to. */
static void options(struct made *m, uint32_t len)
{
	static const uint32_t kinds[] = { 0, 0, 1, 1, 5, 0xc2, 0xc9, 0x1e, 0x3e };
	uint32_t end = m->w->len + len, few = draw(m->seed, 3);

	while (m->w->len < end) {
		uint32_t left = end - m->w->len, kind = kinds[draw(m->seed, few ? 5 : 9)], n;

		wire_8(m->w, kind);
		if (!kind || left == 1)
			continue;
		n = kind == 0xc9 ? 16 : kind == 0xc2 ? 4 : draw(m->seed, left > 20 ? 20 : left);
		if (n > left - 2)
			n = left - 2;
		wire_8(m->w, one_in(m, 100) ? draw(m->seed, 256) : n);
		noise(m, n);
	}
}

static void extension(struct made *m, uint32_t is, uint32_t next)
{
	uint32_t words = one_in(m, 30) ? draw(m->seed, 100) : draw(m->seed, 4);

	wire_8(m->w, next);
	switch (is) {
	case 44:
		wire_8(m->w, draw(m->seed, 256));
		/* atomic, first, later */
		wire_16(m->w, one_in(m, 3) ? 1 :
			      one_in(m, 4) ? draw(m->seed, 65536) :
					     draw(m->seed, 4) << 1);
		wire_32(m->w, draw(m->seed, 1u << 31));
		break;
	case 43:
		wire_8(m->w, words);
		wire_8(m->w, draw(m->seed, 5));
		wire_8(m->w, one_in(m, 2) ? 0 : draw(m->seed, 4));
		noise(m, 4 + words * 8);
		break;
	default:
		wire_8(m->w, words);
		options(m, 6 + words * 8);
	}
}

static uint32_t payload_len(struct made *m)
{
	switch (draw(m->seed, 6)) {
	case 0:
		return draw(m->seed, 10);
	case 1:
		return draw(m->seed, 200);
	case 2:
		return 470 + draw(m->seed, 60); /* around one piece of 512 */
	case 3:
		return 1432;
	case 4:
		return 1 + 2 * draw(m->seed, 700);
	default:
		return draw(m->seed, 2300);
	}
}

static void udp(struct made *m)
{
	static const uint32_t ports[] = { 4739, 6343, 2055, 4739, 6343, 2055, 6344, 53, 0 };
	uint32_t payload = payload_len(m);

	m->udp = m->w->len;
	m->udp_len = 8 + payload;
	wire_16(m->w, draw(m->seed, 65536));
	wire_16(m->w, ports[draw(m->seed, 9)]);
	wire_16(m->w, m->udp_len);
	wire_16(m->w, 0);
	if (one_in(m, 20))
		wire_fill(m->w, one_in(m, 2) ? 0 : 0xff, payload);
	else
		noise(m, payload);
}

/* Right, or one of the ways in which it is wrong. */
static void checksum(struct made *m)
{
	uint8_t *check = m->w->p + m->udp + 6;
	uint32_t right;

	csum_fill(m->w->p, m->ip, m->udp, m->udp_len);
	if (one_in(m, 4)) {
		/* A payload whose sum is 0, if there is room: the checksum is sent as 0xffff. */
		if (m->udp_len >= 10 && one_in(m, 2)) {
			memcpy(check + 2, check, 2);
			check[2] = (uint8_t) ~(0xff & ~check[2]);
			m->w->p[m->udp + 8] = m->w->p[m->udp + 9] = 0;
			csum_fill(m->w->p, m->ip, m->udp, m->udp_len);
			memcpy(m->w->p + m->udp + 8, check, 2);
			csum_fill(m->w->p, m->ip, m->udp, m->udp_len);
		}
		return;
	}
	right = (uint32_t)check[0] << 8 | check[1];
	switch (draw(m->seed, 8)) {
	case 0:
	case 1:
		check[0] = check[1] = 0;
		break;
	case 2:
		right -= 0x100; /* as a router's chip does */
		check[0] = (uint8_t)(right >> 8);
		check[1] = (uint8_t)right;
		break;
	case 3:
		check[0] = (uint8_t)~check[0]; /* the bare sum */
		check[1] = (uint8_t)~check[1];
		break;
	case 4:
		check[0] = (uint8_t)draw(m->seed, 256);
		check[1] = (uint8_t)draw(m->seed, 256);
		break;
	case 5:
		m->w->p[m->udp + draw(m->seed, m->udp_len)] ^= (uint8_t)(1u << draw(m->seed, 8));
		break;
	default:
		break;
	}
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Lengths that do not fit, bits that flipped, packets that were cut. */
static void spoil(struct made *m)
{
	static const int steps[] = { -9, -8, -2, -1, 1, 2, 8, 1000 };
	uint32_t step = (uint32_t)steps[draw(m->seed, 8)];
	struct wire *w = m->w;

	switch (draw(m->seed, 6)) {
	case 0:
		put16(w->p + m->ip + 4, w->len - m->ip - 40 + step);
		break;
	case 1:
		put16(w->p + m->udp + 4, m->udp_len + step);
		break;
	case 2:
		put16(w->p + m->ip + 4, draw(m->seed, 3) ? 0 : draw(m->seed, 65536));
		put16(w->p + m->udp + 4, draw(m->seed, 3) ? 0 : draw(m->seed, 65536));
		break;
	case 3:
		for (uint32_t i = draw(m->seed, 4); i < 4; i++)
			w->p[12 + draw(m->seed, w->len - 12)] ^= (uint8_t)(1u << draw(m->seed, 8));
		break;
	case 4:
		w->p[12 + draw(m->seed, m->udp + 8 - 12)] = (uint8_t)draw(m->seed, 256);
		break;
	default:
		w->len = CSUM_SHORTEST + draw(m->seed, w->len - CSUM_SHORTEST);
	}
}

void csum_packet(uint64_t seed, uint32_t n, struct wire *w, struct csum_how *how)
{
	static const uint32_t kinds[] = { 0, 60, 43, 44, 60 };
	uint64_t state = seed + n * 0x632be59bd9b4e019ull;
	struct made m = { .w = w, .seed = &state };
	uint32_t nr, chain[5];

	w->len = 0;
	memset(how, 0, sizeof(*how));
	link_header(&m);
	m.ip = w->len;
	nr = one_in(&m, 3) ? 1 + draw(&state, one_in(&m, 4) ? 4 : 2) : 0;
	for (uint32_t i = 0; i < nr; i++)
		chain[i] = kinds[draw(&state, 5)];
	chain[nr] = one_in(&m, 40) ? draw(&state, 256) : 17;
	wire_32(w, 0x60000000 | draw(&state, 1 << 28));
	wire_16(w, 0);
	wire_8(w, chain[0]);
	wire_8(w, 64);
	address(&m);
	address(&m);
	for (uint32_t i = 0; i < nr; i++)
		extension(&m, chain[i], chain[i + 1]);
	udp(&m);
	put16(w->p + m.ip + 4, w->len - m.ip - 40);
	checksum(&m);
	if (one_in(&m, 6)) /* bytes behind the datagram, within the packet: a longer IPv6 payload */
		put16(w->p + m.ip + 4, w->len - m.ip - 40 + draw(&state, 9));
	if (one_in(&m, 3))
		noise(&m, draw(&state, 20));
	if (one_in(&m, 5))
		spoil(&m);
	if (one_in(&m, 40))
		how->gso_size = 100 + draw(&state, 1000);
	if (w->len > CSUM_LONGEST)
		w->len = CSUM_LONGEST;
	how->linear = one_in(&m, 2) ? w->len : draw(&state, w->len > 200 ? 200 : w->len);
	how->complete = one_in(&m, 2);
}
