// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "inputs.h"

#include <stdio.h>
#include "../bench/mix.h"

/* Payloads longer than this are not mutated further, so that frames stay within one page. */
#define LONGEST 2000

const char *const place_names[] = { "number of samples", "sample length", "number of records",
				    "record length",	 "header_length", "string length" };

uint32_t draw(uint64_t *seed, uint32_t below)
{
	uint64_t z = (*seed += 0x9e3779b97f4a7c15ull);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)((z ^ z >> 31) % below);
}

static uint32_t place(struct place *out, uint32_t nr, uint32_t max, enum place_kind kind,
		      uint32_t off)
{
	if (nr == max)
		return nr;
	out[nr] = (struct place){ kind, off };
	return nr + 1;
}

uint32_t places_find(const uint8_t *p, uint32_t len, struct place *out, uint32_t max)
{
	static const uint32_t fixed[6] = { 0, 32, 12, 44, 16, 32 };
	uint32_t off = wire_get32(p + 4) == 1 ? 24 : 36, nr;

	if (len < off + 4)
		return 0;
	nr = place(out, 0, max, PLACE_SAMPLES, off);
	for (off += 4; off + 8 <= len; off += 8 + ((wire_get32(p + off + 4) + 3) & ~3u)) {
		uint32_t tag = wire_get32(p + off), size = wire_get32(p + off + 4), record;
		int counters = tag == 2 || tag == 4;

		nr = place(out, nr, max, PLACE_SAMPLE_LENGTH, off + 4);
		if (size > len - off - 8)
			break;
		if (tag < 1 || tag > 5 || size < fixed[tag])
			continue;
		record = off + 8 + fixed[tag];
		nr = place(out, nr, max, PLACE_RECORDS, record - 4);
		while (record + 8 <= off + 8 + size) {
			uint32_t what = wire_get32(p + record), n = wire_get32(p + record + 4);

			nr = place(out, nr, max, PLACE_RECORD_LENGTH, record + 4);
			if (n > off + size - record)
				break;
			if (counters && n >= 4 && (what == 1005 || what == 2000))
				nr = place(out, nr, max, PLACE_STRING_LENGTH, record + 8);
			if (tag == 5 && n >= 4 && (what == 1038 || what == 1041 || what == 1042))
				nr = place(out, nr, max, PLACE_STRING_LENGTH, record + 8);
			if (tag == 5 && n >= 8 && what == 1041)
				nr = place(out, nr, max, PLACE_STRING_LENGTH,
					   record + 8 + n / 2 / 4 * 4);
			if (!counters && n >= 16 && what == 1)
				nr = place(out, nr, max, PLACE_HEADER_LENGTH, record + 8 + 12);
			record += 8 + ((n + 3) & ~3u);
		}
	}
	return nr;
}

void pool_add(struct pool *pool, const uint8_t *p, uint32_t len)
{
	if (len < 28 || len > LONGEST)
		return;
	if (pool->nr == pool->room) {
		pool->room = pool->room ? 2 * pool->room : 64;
		pool->payloads = realloc(pool->payloads, pool->room * sizeof(*pool->payloads));
		if (!pool->payloads)
			abort();
	}
	pool->payloads[pool->nr].p = malloc(len);
	if (!pool->payloads[pool->nr].p)
		abort();
	memcpy(pool->payloads[pool->nr].p, p, len);
	pool->payloads[pool->nr++].len = len;
}

void pool_fill(struct pool *pool, uint32_t mixed)
{
	struct mix mix = { .seed = 7, .agents = 6, .interfaces = 5 };
	uint8_t payload[MIX_MAX];
	struct wire w;

	for (uint32_t i = 0; i < BUILT_DATAGRAMS; i++) {
		built_datagram(i, &w);
		pool_add(pool, w.p, w.len);
	}
	mix.sequence = calloc(mix.agents * (2 * mix.interfaces + 1), sizeof(*mix.sequence));
	if (!mix.sequence)
		abort();
	for (uint32_t i = 0; i < mixed; i++)
		pool_add(pool, payload, mix_datagram(&mix, payload));
	free(mix.sequence);
}

void pool_free(struct pool *pool)
{
	for (uint32_t i = 0; i < pool->nr; i++)
		free(pool->payloads[i].p);
	free(pool->payloads);
	memset(pool, 0, sizeof(*pool));
}

/* Another value for a 32-bit field. */
static uint32_t other_value(uint64_t *seed, uint32_t was)
{
	switch (draw(seed, 10)) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return 0xffffffff;
	case 3:
		return was + 1;
	case 4:
		return was - 1;
	case 5:
		return was + 4;
	case 6:
		return was - 4;
	case 7:
		return 0xfffffffc - 4 * draw(seed, 4);
	case 8:
		return 0x80000000 | was;
	}
	return draw(seed, 4096);
}

static void insert(struct wire *w, uint32_t at, const uint8_t *bytes, uint32_t len)
{
	if (w->len + len > LONGEST)
		return;
	memmove(w->p + at + len, w->p + at, w->len - at);
	memcpy(w->p + at, bytes, len);
	w->len += len;
}

static void change(const struct pool *pool, uint64_t *seed, struct wire *w)
{
	const struct payload *other = &pool->payloads[draw(seed, pool->nr)];
	uint32_t words = w->len / 4, at, end, nr;
	struct place places[256];
	uint8_t copy[512];

	if (words < 8)
		return;
	at = 4 * draw(seed, words);
	switch (draw(seed, 10)) {
	case 0: /* a bit */
		w->p[draw(seed, w->len)] ^= (uint8_t)(1u << draw(seed, 8));
		break;
	case 1: /* some bytes */
		for (nr = 1 + draw(seed, 8); nr; nr--)
			w->p[draw(seed, w->len)] = (uint8_t)draw(seed, 256);
		break;
	case 2:
	case 3: /* any field */
		wire_put32(w->p + at, other_value(seed, wire_get32(w->p + at)));
		break;
	case 4:
	case 5: /* a length or a count */
		nr = wire_get32(w->p) == 5 ? places_find(w->p, w->len, places, 256) : 0;
		if (!nr)
			break;
		at = places[draw(seed, nr)].off;
		if (at + 4 <= w->len)
			wire_put32(w->p + at, other_value(seed, wire_get32(w->p + at)));
		break;
	case 6: /* cut */
		w->len = draw(seed, w->len);
		break;
	case 7: /* the front of this, the back of another */
		end = 4 * draw(seed, other->len / 4);
		if (at + other->len - end <= LONGEST) {
			memcpy(w->p + at, other->p + end, other->len - end);
			w->len = at + other->len - end;
		}
		break;
	case 8: /* something twice: from one length field's start to another's, or any words */
		nr = wire_get32(w->p) == 5 ? places_find(w->p, w->len, places, 256) : 0;
		end = 4 + 4 * draw(seed, 40);
		if (nr > 2) {
			uint32_t which = draw(seed, nr - 1);

			at = places[which].off - 4;
			end = places[which + 1].off - 4 - at;
		}
		if (end > sizeof(copy) || end > w->len - at)
			break;
		memcpy(copy, w->p + at, end);
		insert(w, at, copy, end);
		break;
	case 9: /* something missing */
		end = 4 + 4 * draw(seed, 40);
		if (end > w->len - at)
			break;
		memmove(w->p + at, w->p + at + end, w->len - at - end);
		w->len -= end;
		break;
	}
}

/* IPv6 with some extension headers around UDP. */
static void carry6(uint64_t *seed, const struct wire *payload, uint32_t port, struct wire *w)
{
	static const uint32_t kinds[] = { 0, 43, 60, 44, 0 };
	uint32_t headers = draw(seed, 6), kind[5], more[5], i, len = 8 + payload->len;

	for (i = 0; i < headers; i++) {
		kind[i] = kinds[draw(seed, 4)];
		more[i] = kind[i] == 44 ? 0 : draw(seed, 4);
		len += 8 + 8 * more[i];
	}
	wire_ip6(w, 0, headers ? kind[0] : 17, len);
	for (i = 0; i < headers; i++) {
		uint32_t next = i + 1 < headers ? kind[i + 1] : 17;

		if (kind[i] == 44)
			wire_fragment(w, next, draw(seed, 4) ? 0 : 8 * draw(seed, 3),
				      !draw(seed, 3));
		else
			wire_ext(w, next, more[i]);
	}
	wire_udp(w, 50000, port, payload->len);
	wire_bytes(w, payload->p, payload->len);
}

static void carry(uint64_t *seed, const struct wire *payload, struct wire *w)
{
	static const uint32_t types[] = { 0x8100, 0x88a8, 0x9100 };
	uint32_t tags = draw(seed, 4) ? draw(seed, 2) : draw(seed, 4), ip6 = draw(seed, 2), i;
	uint32_t port = draw(seed, 16) ? 6343 : 6300 + draw(seed, 64), type = ip6 ? 0x86dd : 0x0800;
	uint32_t fragment = draw(seed, 8) ? 0x4000 : draw(seed, 2) ? 0x2000 : draw(seed, 0x3fff);

	wire_eth(w, tags ? types[draw(seed, 3)] : type);
	for (i = 0; i < tags; i++)
		wire_tag(w, draw(seed, 4096), i + 1 < tags ? types[draw(seed, 3)] : type);
	if (ip6) {
		carry6(seed, payload, port, w);
	} else {
		wire_ip4(w, 0, draw(seed, 16) ? 17 : 6, fragment, 4 * draw(seed, 11),
			 8 + payload->len);
		wire_udp(w, 50000, port, payload->len);
		wire_bytes(w, payload->p, payload->len);
	}
	/* Trailing bytes that belong to nobody. */
	if (!draw(seed, 4))
		wire_fill(w, 0xee, draw(seed, 20));
}

void mutant(const struct pool *pool, uint64_t seed, uint32_t n, struct wire *frame)
{
	static struct wire payload;
	const struct payload *from;
	uint32_t changes, headers;

	seed += (uint64_t)n << 32;
	from = &pool->payloads[draw(&seed, pool->nr)];
	memcpy(payload.p, from->p, from->len);
	payload.len = from->len;
	for (changes = draw(&seed, 5); changes; changes--)
		change(pool, &seed, &payload);

	frame->len = 0;
	if (draw(&seed, 3)) {
		/* Most of what changes is inside. */
		if (draw(&seed, 8))
			wire_carry4(frame, payload.p, payload.len, 6343);
		else
			wire_carry6(frame, payload.p, payload.len, 6343);
		return;
	}
	carry(&seed, &payload, frame);
	headers = frame->len < 90 ? frame->len : 90;
	if (!draw(&seed, 3)) {
		for (changes = 1 + draw(&seed, 3); changes; changes--)
			frame->p[draw(&seed, headers)] = (uint8_t)draw(&seed, 256);
	}
	if (!draw(&seed, 8))
		frame->len = 14 + draw(&seed, frame->len - 14);
}
