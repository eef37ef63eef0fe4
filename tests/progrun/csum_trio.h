/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The same packets through three programs that repair IPv6 UDP checksums: bpf/csum6 by test run, the native
 * build of include/xsf/csum.h, and a third one written from the RFCs. They must agree on what became of each
 * packet and on every byte of it. */
#ifndef XSF_PROGRUN_CSUM_TRIO_H
#define XSF_PROGRUN_CSUM_TRIO_H

#include <stdint.h>
#include <xsf/csum_abi.h>
#include "../unit/wire.h"

/* A test run takes packets of one page, less what the kernel needs around them. */
#define CSUM_LONGEST 3500
#define CSUM_SHORTEST 15
#define CSUM_MAX_FROM 8

struct csum_prefix {
	uint8_t addr[16];
	uint32_t len;
};

/* What is watched and repaired. nr_watch 0: nothing is said, so the defaults are repaired. */
struct csum_rules {
	struct csum_prefix from[CSUM_MAX_FROM];
	struct xsf_csum_watch watch[XSF_MAX_PORTS];
	uint32_t nr_watch, nr_from;
};

/* What a packet is to the program besides its bytes. */
struct csum_how {
	uint32_t gso_size;
	uint32_t linear; /* native build only: bytes that can be read in place */
	int partial;	 /* native build and reference only */
	int unreadable;	 /* native build only: nothing beyond `linear` can be read */
	int unwritable;	 /* native build only */
	int complete;	 /* kernel only: CHECKSUM_COMPLETE, and its sum is right afterwards */
};

struct csum_result {
	const char *outcome; /* a name of XSF_CSUM_PACKET_OUTCOMES or XSF_CSUM_OUTCOMES */
	uint32_t port;	     /* of a datagram to a watched port, else 0 */
	uint8_t source[16];  /* likewise */
	uint8_t p[WIRE_MAX]; /* the packet afterwards, as long as before */
};

/* ---- csum_reference.c */

void csum_reference(const struct csum_rules *rules, const uint8_t *frame, uint32_t len,
		    const struct csum_how *how, struct csum_result *out);

/* Offset of the checksum of a whole UDP datagram in a plain or extended IPv6 packet, whatever its port, and
 * whether it is right: -1 there is none whose sum could be told, 0 wrong, 1 right, 2 zero. */
int csum_verify(const uint8_t *frame, uint32_t len, uint32_t *at);

/* Makes that checksum right, where there is one. */
void csum_repair(uint8_t *frame, uint32_t len);

/* Destination port of UDP over IPv6, of whatever can be told; 0 when it is something else. */
uint32_t csum_port(const uint8_t *frame, uint32_t len);

/* ---- csum_native.c */

void csum_native(const struct csum_rules *rules, const uint8_t *frame, uint32_t len,
		 const struct csum_how *how, struct csum_result *out);

/* ---- csum_kernel.c */

struct csum_kernel;

struct csum_kernel *csum_kernel_new(const struct csum_rules *rules);
/* Places of sources that have been silent for longer may be taken; 0 = the object's default. */
struct csum_kernel *csum_kernel_new_stale(const struct csum_rules *rules, uint64_t stale_ns);
void csum_kernel_free(struct csum_kernel *k);
/* Other rules from now on; counts stay. */
void csum_kernel_rules(struct csum_kernel *k, const struct csum_rules *rules);

/* Runs one packet. Fails the test when it is not counted exactly once in every table. */
void csum_kernel_run(struct csum_kernel *k, const uint8_t *frame, uint32_t len,
		     const struct csum_how *how, struct csum_result *out);

/* 1 when a test run takes such a packet: one page, and whole IP headers behind Ethernet's. */
int csum_kernel_takes(const uint8_t *frame, uint32_t len);

/* 1 when the kernel can do a test run of a CHECKSUM_COMPLETE packet (6.16 or so). */
int csum_kernel_complete(void);

/* Counts of a source, NULL when it has no place; the totals; sums over the CPUs. They stay until the next
 * call of the same function. */
const struct xsf_csum_source *csum_kernel_source(struct csum_kernel *k, const uint8_t addr[16]);
/* The sum of the outcomes of all sources in the table; *nr: how many they are. */
uint64_t csum_kernel_sources(struct csum_kernel *k, uint32_t *nr);
/* Of one source or of one row: the sum of the outcomes. */
uint64_t csum_outcomes(const struct xsf_csum_counts *counts);
const struct xsf_csum_totals *csum_kernel_totals(struct csum_kernel *k);
const struct xsf_csum_port *csum_kernel_port(struct csum_kernel *k, uint32_t row);
/* By the name of an outcome. */
uint64_t csum_count(const struct xsf_csum_counts *counts, const char *outcome);

/* ---- csum_packets.c */

/* The n-th packet of a seed, in Ethernet; never shorter than CSUM_SHORTEST nor longer than CSUM_LONGEST. */
void csum_packet(uint64_t seed, uint32_t n, struct wire *w, struct csum_how *how);

/* Makes a UDP checksum right: udp_len bytes at `udp`, of the IPv6 header at `ip`. */
void csum_fill(uint8_t *frame, uint32_t ip, uint32_t udp, uint32_t udp_len);

/* ---- csum_compare.c */

/* Runs a packet through all three (the kernel's where it takes the length), fails the test when they
 * differ or break a rule that holds for every packet, and returns the reference's result. */
const struct csum_result *csum_all(struct csum_kernel *k, const struct csum_rules *rules,
				   const char *what, const uint8_t *frame, uint32_t len,
				   const struct csum_how *how);

#endif
