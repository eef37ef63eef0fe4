/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagrams for measurements: about 1370 bytes, 7 or 8 samples, mostly RoCE, some of everything else.
 * Seeded; the same seed gives the same bytes. */
#ifndef XSF_BENCH_MIX_H
#define XSF_BENCH_MIX_H

#include <stdint.h>

#define MIX_MAX 1500

struct mix {
	uint64_t seed;
	uint32_t agents;
	uint32_t interfaces; /* per agent */
	uint32_t same;	     /* 1: eight equal RoCE samples of one source */
	uint32_t *sequence;  /* agents * (2 * interfaces + 1) numbers, zeroed */
};

/* Writes the next sFlow datagram and returns its length. */
uint32_t mix_datagram(struct mix *m, uint8_t out[MIX_MAX]);

/* Wraps a payload in Ethernet (to 02:02:02:02:02:02), IPv4 (from 10.0.0.0 + agent to 198.51.100.64) and UDP
 * to port 6343, as a stack takes it; returns the frame's length. */
uint32_t mix_frame(const uint8_t *payload, uint32_t len, uint32_t agent, uint8_t *out);

#endif
