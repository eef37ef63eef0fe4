/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the user asked load for. */
#ifndef XSF_OPTIONS_H
#define XSF_OPTIONS_H

#include <stdint.h>
#include <xsf/csum_abi.h>
#include "kernel/net.h"

enum xsf_mode { XSF_MODE_DEFAULT, XSF_MODE_NATIVE, XSF_MODE_GENERIC };
enum xsf_frags { XSF_FRAGS_AUTO, XSF_FRAGS_YES, XSF_FRAGS_NO };

/* Each fabric has two groups of rows; the bound keeps the per-CPU maps below 3 MB a CPU. */
#define XSF_MAX_FABRICS 16

/* The checksum policy that was asked for: without anything, watch the default ports and repair nothing. */
struct xsf_csum_options {
	uint32_t off;			/* --no-checksum: no tc program */
	uint32_t asked;			/* one of the options below: then it must be possible */
	uint32_t observe;		/* --observe */
	uint16_t repair[XSF_MAX_PORTS]; /* --repair; unused ones 0 */
	struct xsf_prefix_key from[XSF_CSUM_PREFIXES]; /* --repair-from */
	uint32_t nr_from;
};

struct xsf_load_options {
	const char *dir;    /* of the pins */
	enum xsf_mode mode; /* default: as it is attached already, else native */
	enum xsf_frags frags;
	int share;	/* through libxdp, beside other programs */
	uint32_t flags; /* XSF_F_* */
	uint16_t ports[XSF_MAX_PORTS];
	uint32_t has_ports;	/* 0 = the object's default */
	uint64_t stale_ns;	/* 0 = the object's default */
	uint32_t fabrics;	/* 0 = as the pinned maps, else XSF_FABRICS */
	uint64_t trimmed_dscps; /* bit n: DSCP n says "trimmed"; 0 = the object's default */
	uint32_t confirm_s;	/* 0 = needs no confirmation */
	struct xsf_prefix_key allow[XSF_ALLOW_PREFIXES];
	uint32_t nr_allow;
	struct xsf_csum_options csum;
	/* Called when all is ready, before a driver is asked to take XDP where it had none; not 0 = leave
	 * it. May be NULL. */
	int (*about_to_attach)(void *arg, const struct xsf_if *i, int generic);
	void *about_arg;
};

#endif
