/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of our programs are attached now. */
#ifndef XSF_PROGRAMS_H
#define XSF_PROGRAMS_H

#include "kernel/net.h"
#include "kernel/pins.h"
#include "model/snapshot.h"

/* What both programs' names begin with (bpf/xdp_sflow.bpf.c). */
#define XSF_PROG_NAME "xsf_xdp"

/* Maps of one program that are looked at; ours has fewer than 24. */
#define XSF_PROG_MAPS 64

struct xsf_prog_info {
	uint32_t id;
	char name[16];
	uint32_t nr_maps;
	uint32_t maps[XSF_PROG_MAPS]; /* ids */
	uint64_t run_time_ns;
	uint64_t run_count;
};

/* 0 or negative errno. */
int xsf_prog_info(int fd, struct xsf_prog_info *info);

/* Is it one of ours, by name? */
int xsf_prog_is_ours(const struct xsf_prog_info *info);
int xsf_prog_uses_map(const struct xsf_prog_info *info, uint32_t map_id);

/* The configuration a running program was loaded with, from its read-only data. Needs CAP_SYS_ADMIN. 0 or
 * negative errno. */
int xsf_prog_config(const struct xsf_prog_info *info, struct xsf_config *config);

/* Programs that count into the maps of `dir`: those attached in this network namespace and, as far as the
 * caller's rights allow to see it, those elsewhere. totals_id: id of the map xsf_totals; with the right to do
 * so programs that were attached by other means (ip, bpftool) are found by it. Returns how many were
 * written to `out`, or negative errno. *stale_ns: the longest configured, untouched when there are none. */
int xsf_programs_attached(const char *dir, uint32_t totals_id, struct xsf_attached *out,
			  unsigned int max, uint64_t *stale_ns);

#endif
