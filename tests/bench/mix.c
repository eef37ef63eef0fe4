// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mix.h"

#include <string.h>

struct writer {
	uint8_t *p;
	uint32_t len;
};

static uint32_t draw(struct mix *m, uint32_t below)
{
	/* splitmix64 (Steele, Lea, Flood 2014). */
	uint64_t z = (m->seed += 0x9e3779b97f4a7c15ull);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)((z ^ z >> 31) % below);
}

static void put8(struct writer *w, uint32_t v)
{
	w->p[w->len++] = (uint8_t)v;
}

static void put16(struct writer *w, uint32_t v)
{
	put8(w, v >> 8);
	put8(w, v);
}

static void put32(struct writer *w, uint32_t v)
{
	put16(w, v >> 16);
	put16(w, v);
}

static void set32(uint8_t *p, uint32_t v)
{
	struct writer w = { p, 0 };

	put32(&w, v);
}

/* A sampled packet of exactly `len` bytes. */
static void put_packet(struct mix *m, struct writer *w, uint32_t len)
{
	static const uint8_t ops[] = { 4, 6, 7, 7, 7, 7, 8, 10, 12, 13, 14, 15, 17, 17, 129, 0x64 };
	uint32_t start = w->len, kind = m->same ? 0 : draw(m, 16), ip;

	memset(w->p + w->len, 0x5a, len);
	w->len += 12;
	if (kind == 1) {
		put16(w, 0x8100);
		put16(w, 100);
	}
	if (kind == 2) { /* IPv6 */
		put16(w, 0x86dd);
		put32(w, 0x60000000 | (draw(m, 4) << 20));
		put16(w, 1000);
		put16(w, 17 << 8 | 64);
		w->len += 32;
	} else {
		put16(w, 0x0800);
		ip = w->len;
		put16(w, 0x4500 | draw(m, 4));
		put16(w, 1024);
		put32(w, 0x4000);
		put16(w, 64 << 8 | (kind == 3 ? 6 : 17));
		w->len = ip + 20;
	}
	put16(w, 49152 + draw(m, 1000));
	put16(w, kind == 3 ? 443 : 4791);
	put16(w, 1000);
	put16(w, 0);
	put8(w, m->same ? 10 : ops[draw(m, sizeof(ops))]);
	put8(w, 0x40);
	put16(w, 0xffff);
	put32(w, 0x11);
	put32(w, draw(m, 1 << 24));
	put32(w, 0x1f000000 | draw(m, 1 << 20));
	put32(w, 0);
	put32(w, 7);
	put32(w, 4096u << draw(m, 8));
	w->len = start + len;
}

static void put_flow(struct mix *m, struct writer *w, uint32_t *sequence, uint32_t interface)
{
	int expanded = !m->same && draw(m, 8) == 0, ext = !m->same && draw(m, 4) == 0;
	uint32_t header = m->same ? 104 : ext ? 96 : 104 + 4 * draw(m, 7);
	uint32_t rate = m->same ? 1000 : 1000 << draw(m, 3);
	uint8_t *length;
	uint32_t body;

	put32(w, expanded ? 3 : 1);
	length = w->p + w->len;
	put32(w, 0);
	body = w->len;
	put32(w, ++sequence[2 * interface - 1]);
	if (expanded)
		put32(w, 0);
	put32(w, interface);
	put32(w, rate);
	put32(w, draw(m, 1 << 30));
	put32(w, 0);
	if (expanded)
		put32(w, 0);
	put32(w, interface);
	if (expanded)
		put32(w, 0);
	put32(w, interface + 1);
	put32(w, ext ? 2 : 1);
	put32(w, 1);
	put32(w, 16 + header);
	put32(w, 1);
	put32(w, 1086);
	put32(w, 4);
	put32(w, header);
	put_packet(m, w, header);
	if (ext) {
		put32(w, 1001);
		put32(w, 16);
		memset(w->p + w->len, 0, 16);
		w->len += 16;
	}
	set32(length, w->len - body);
}

static void put_counters(struct writer *w, uint32_t *sequence, uint32_t interface)
{
	put32(w, 2);
	put32(w, 12 + 8 + 88);
	put32(w, ++sequence[2 * interface]);
	put32(w, interface);
	put32(w, 1);
	put32(w, 1);
	put32(w, 88);
	put32(w, interface);
	put32(w, 6);
	memset(w->p + w->len, 1, 80);
	w->len += 80;
}

uint32_t mix_datagram(struct mix *m, uint8_t out[MIX_MAX])
{
	struct writer w = { out, 0 };
	uint32_t agent = m->same ? 0 : draw(m, m->agents), samples = 0;
	uint32_t *sequence = m->sequence + agent * (2 * m->interfaces + 1);
	uint8_t *count;

	put32(&w, 5);
	put32(&w, 1);
	put32(&w, 0x0a000000 + agent);
	put32(&w, 0);
	put32(&w, ++sequence[0]);
	put32(&w, 1000 + sequence[0] * 10);
	count = out + w.len;
	put32(&w, 0);
	while (samples < 8 && w.len + 204 <= MIX_MAX - 76) {
		uint32_t interface = 1 + (m->same ? 0 : draw(m, m->interfaces));

		if (!m->same && draw(m, 32) == 0)
			put_counters(&w, sequence, interface);
		else
			put_flow(m, &w, sequence, interface);
		samples++;
	}
	set32(count, samples);
	return w.len;
}

uint32_t mix_frame(const uint8_t *payload, uint32_t len, uint32_t agent, uint8_t *out)
{
	struct writer w = { out, 0 };
	uint32_t sum = 0;

	memset(out, 2, 12);
	w.len = 12;
	put16(&w, 0x0800);
	put16(&w, 0x4500);
	put16(&w, 28 + len);
	put32(&w, 0);
	put32(&w, 64u << 24 | 17 << 16);
	put32(&w, 0x0a000000 + agent);
	put32(&w, 0xc6336440);
	for (uint32_t i = 14; i < 34; i += 2)
		sum += (uint32_t)out[i] << 8 | out[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	out[24] = (uint8_t)(sum >> 8);
	out[25] = (uint8_t)sum;
	put16(&w, 50000);
	put16(&w, 6343);
	put16(&w, 8 + len);
	put16(&w, 0);
	memcpy(out + w.len, payload, len);
	return w.len + len;
}
