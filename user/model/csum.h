/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* UDP checksums over IPv6: what the tc program counted, what its policy repairs, what that says about a
 * source, and what to do about it. Pure. */
#ifndef XSF_MODEL_CSUM_H
#define XSF_MODEL_CSUM_H

#include <stddef.h>
#include <stdint.h>
#include <xsf/csum_abi.h>

/* Prefixes of one policy that are shown; `policy.nr_prefixes` is how many there are. */
#define XSF_CSUM_FROM_SHOWN 64

/* A tc program that is attached now. */
struct xsf_csum_attached {
	char ifname[16];
	char how[16]; /* "load", "unconfirmed", "abandoned", "external" (attached with tc), "elsewhere" */
	char qdisc[16]; /* "clsact", "ingress" */
	char ahead[96]; /* the filters that run before it, as far as they fit */
	uint32_t ifindex;
	uint32_t prog_id;
	uint32_t pref;
	uint32_t handle;
	uint32_t before;   /* how many run before it */
	uint32_t reserved; /* */
	uint64_t
		run_time_ns; /* both 0 unless kernel.bpf_stats_enabled, or without the right to see it */
	uint64_t run_count;
	struct xsf_csum_policy policy;
	int policy_known; /* 0: no right to read it */
	uint32_t nr_from; /* of `from` */
	const struct xsf_prefix_key *from;
};

struct xsf_csum_address {
	uint8_t addr[16];
	struct xsf_csum_counts counts;
};

/* Part of a snapshot (snapshot.h); as there, what is pointed to is overwritten by the next one. A source
 * keeps its place for as long as the maps are the same and it is among them: the place of one that is gone is
 * the next newcomer's. */
struct xsf_csum {
	uint32_t present; /* 0: no such maps, nothing else is set */
	uint32_t nr_sources;
	uint32_t nr_attached;
	uint32_t reserved;
	struct xsf_csum_totals totals;
	const struct xsf_csum_port *ports; /* XSF_CSUM_PORTS rows; port 0: unused */
	const struct xsf_csum_address *sources;
	const struct xsf_csum_attached *attached;
	const char *maps; /* pin directory, for commands; NULL: the default one */
};

/* The outcomes, as a table: i from 0; NULL at the end. */
struct xsf_csum_outcome {
	const char *name;
	const char *help;
	uint32_t offset; /* in struct xsf_csum_counts, or in struct xsf_csum_totals */
};
const struct xsf_csum_outcome *xsf_csum_outcome_at(uint32_t i);
const struct xsf_csum_outcome *xsf_csum_packet_outcome_at(uint32_t i);
uint64_t xsf_csum_value(const struct xsf_csum_counts *counts, const struct xsf_csum_outcome *o);

/* Adds one CPU's counts; keeps the first first_seen and the last last_seen. */
void xsf_csum_add(struct xsf_csum_counts *sum, const struct xsf_csum_counts *one);

/* Of all: with a checksum that was verified; of these, wrong or 0, whatever became of them; of these, 0 (what
 * could not be written is not told apart) and repaired; and of all, those left alone, by kind. */
uint64_t xsf_csum_checked(const struct xsf_csum_counts *c);
uint64_t xsf_csum_wrong(const struct xsf_csum_counts *c);
uint64_t xsf_csum_zero(const struct xsf_csum_counts *c);
uint64_t xsf_csum_repaired(const struct xsf_csum_counts *c);
uint64_t xsf_csum_left(const struct xsf_csum_counts *c);

/* What the share of wrong checksums of one source says. A chip or a stack that computes them wrong does so
 * for all that it makes, and the rest of the export, made elsewhere in the router, is right; a line damages
 * a datagram now and then, and one that passed the link's own check is rare. */
#define XSF_CSUM_FEW 10		 /* verified datagrams; with fewer nothing is said */
#define XSF_CSUM_CHIP_PERCENT 10 /* wrong, at least */
#define XSF_CSUM_LINE_PERCENT 1	 /* wrong, less than */

enum xsf_csum_verdict {
	XSF_CSUM_UNVERIFIED, /* none was verified: all were left alone */
	XSF_CSUM_RIGHT,	     /* none wrong */
	XSF_CSUM_TOO_FEW,    /* some wrong, of fewer than XSF_CSUM_FEW */
	XSF_CSUM_CHIP,	     /* always wrong: to be repaired */
	XSF_CSUM_LINE,	     /* rarely wrong: damaged on the way, not to be repaired */
	XSF_CSUM_UNCLEAR,    /* between the two */
};
enum xsf_csum_verdict xsf_csum_verdict(const struct xsf_csum_counts *c);
/* "unverified", "right", "few", "chip", "line", "unclear" */
const char *xsf_csum_verdict_name(enum xsf_csum_verdict v);
/* For people, a few words. */
const char *xsf_csum_verdict_text(enum xsf_csum_verdict v);
/* The same of one source, with what it rests on where some were wrong: "always wrong: a chip; 40 % of 200 in
 * 12 s". The time is from its first datagram to its last one. buf of XSF_CSUM_SAYS bytes; returns it. */
#define XSF_CSUM_SAYS 96
const char *xsf_csum_says(const struct xsf_csum_counts *c, char buf[XSF_CSUM_SAYS]);

/* 1: the policy repairs what this source sends to this port. Unknown policies repair nothing. */
int xsf_csum_repairs(const struct xsf_csum_attached *a, uint16_t port, const uint8_t addr[16]);

/* 1: one of the prefixes that are known has it. */
int xsf_csum_from_has(const struct xsf_csum_attached *a, const uint8_t addr[16]);

/* "observe", "repair", "default" (attached with tc alone: repairs the default ports), "unknown" */
const char *xsf_csum_mode(const struct xsf_csum_attached *a);

/* Sources that a command names anew, and with those that it named before; with more of them it names none
 * where nobody else sends wrong checksums, else the first ones. */
#define XSF_CSUM_ADVISED 16
#define XSF_CSUM_NAMED 40
#define XSF_CSUM_ADVICE 3072	/* bytes that the longest takes */
#define XSF_CSUM_ADVICE_DIR 255 /* of a pin directory in it; with a longer one nothing is advised */
#define XSF_CSUM_WARNING 160

struct xsf_csum_advice {
	char command
		[XSF_CSUM_ADVICE]; /* a line for a shell; "" when there is nothing to do or to be known */
	char options
		[XSF_CSUM_ADVICE]; /* those of the policy in it, else of the one in force: " --repair 4739" */
	uint16_t ports[XSF_MAX_PORTS]; /* that the command repairs; 0 ends */
	uint8_t first[16];	       /* source that it is for, */
	uint32_t nr_sources;	       /* and how many there are */
	/* "also repairs 2001:db8::d, a line": what cannot be left out without ending what is in force */
	char warning[XSF_CSUM_WARNING];
};

/* The command that has this attachment repair what the sources of verdict XSF_CSUM_CHIP send to the ports
 * that it watches, and whatever it repairs already: as it is, `repair set` takes it. Returns the length of
 * the command. */
size_t xsf_csum_advice(const struct xsf_csum *c, const struct xsf_csum_attached *a,
		       struct xsf_csum_advice *out);

/* The command that shows it: "xdp-sflow repair show eth0". buf of XSF_CSUM_SHOW bytes; returns it. */
#define XSF_CSUM_SHOW 384
const char *xsf_csum_show(const char *ifname, const char *maps, char buf[XSF_CSUM_SHOW]);

/* "2001:db8::/32", or the address alone. buf of XSF_CSUM_PREFIX_TEXT bytes; returns it. */
#define XSF_CSUM_PREFIX_TEXT 64
const char *xsf_csum_prefix_text(const struct xsf_prefix_key *p, char *buf);

#endif
