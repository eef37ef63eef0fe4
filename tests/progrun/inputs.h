/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagrams and frames to try: built by hand, from captures, and mutated. All of it seeded: the same numbers
 * give the same bytes. */
#ifndef XSF_PROGRUN_INPUTS_H
#define XSF_PROGRUN_INPUTS_H

#include <stdint.h>
#include "../unit/wire.h"

/* ---- datagrams that have every kind of sample, record and packet in them */

#define BUILT_DATAGRAMS 12
#define BUILT_PACKETS 24

void built_datagram(uint32_t which, struct wire *w);

/* A sampled packet (Ethernet): each layer and tunnel once. */
void built_packet(uint32_t which, struct wire *w);

/* ---- where a datagram's lengths and counts stand */

enum place_kind {
	PLACE_SAMPLES, /* number of samples */
	PLACE_SAMPLE_LENGTH,
	PLACE_RECORDS,
	PLACE_RECORD_LENGTH,
	PLACE_HEADER_LENGTH,
	PLACE_STRING_LENGTH,
};

extern const char *const place_names[];

struct place {
	enum place_kind kind;
	uint32_t off;
};

/* At most max of them, up to the first that does not fit; returns how many. */
uint32_t places_find(const uint8_t *payload, uint32_t len, struct place *out, uint32_t max);

/* ---- mutation */

struct payload {
	uint8_t *p;
	uint32_t len;
};

/* Sound datagrams to start from. */
struct pool {
	struct payload *payloads;
	uint32_t nr, room;
};

/* Ignores what is shorter than a header, or longer than 2000 bytes. */
void pool_add(struct pool *pool, const uint8_t *p, uint32_t len);
/* The built ones and `mixed` of the benchmark's. */
void pool_fill(struct pool *pool, uint32_t mixed);
void pool_free(struct pool *pool);

/* splitmix64 (Steele, Lea, Flood 2014): a number below `below`. */
uint32_t draw(uint64_t *seed, uint32_t below);

/* The n-th frame of a seed: a payload of the pool, changed 0 to 4 times, in a frame that is sometimes
 * strange and sometimes changed as well. Never shorter than 14 bytes. */
void mutant(const struct pool *pool, uint64_t seed, uint32_t n, struct wire *frame);

/* ---- captures */

/* Calls each(arg, file, frame, len) for every frame of every capture in a folder, in the order of the
 * names; a frame without link layer gets one. Returns the number of captures, 0 when there is no such
 * folder. */
uint32_t captures_each(const char *folder,
		       void (*each)(void *arg, const char *file, const uint8_t *frame,
				    uint32_t len),
		       void *arg);

/* The UDP payload of a plain frame (Ethernet, IPv4 or IPv6 without options) to port 6343 or 6344, or 0. */
uint32_t frame_payload(const uint8_t *frame, uint32_t len, const uint8_t **payload);

#endif
