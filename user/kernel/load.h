/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* load and unload, one interface at a time. The caller holds the directory's lock (xsf_pins_make). */
#ifndef XSF_LOAD_H
#define XSF_LOAD_H

#include "kernel/attach.h"
#include "kernel/csum.h"
#include "kernel/options.h"

struct xsf_load_result {
	char name[NAME_MAX + 1]; /* of the if_* directory */
	uint32_t prog_id;
	int generic;
	int frags;
	int replaced;	       /* a program of ours was there; its counts go on */
	int moved;	       /* it was there in another mode: detached, then attached anew */
	unsigned int repinned; /* 1 + maps that had lost their pins; 0 = nothing was lost */
	int alone;	       /* libxdp could not share */
	struct xsf_csum_result csum; /* the tc program */
	int link;		     /* fd, with confirm_s; the caller closes it. -1 = none */
};

/* Checks, before anything is changed, that `load` would not refuse. 0 or negative errno. */
int xsf_load_check(const struct xsf_load_options *o, const char *ifname, struct xsf_why *why);

/* Attaches to `ifname`, or replaces what is there of ours. 0 or negative errno. */
int xsf_load(const struct xsf_load_options *o, const char *ifname, struct xsf_load_result *r,
	     struct xsf_why *why);

/* Detaches ours from `ifname`; also when the interface is gone, by the name it had at load. -ENOENT: nothing
 * of ours is there. What is left behind, as it may be another's, is in why->text, else that is as it was. */
int xsf_unload(const char *dir, const char *ifname, struct xsf_why *why);

/* All attachments of `dir`, and programs in this namespace that count into its maps but have lost their
 * pin. Returns how many, or negative errno; *why as there. */
int xsf_unload_all(const char *dir, struct xsf_why *why);

/* How many attachments `dir` still has. */
int xsf_loaded(const char *dir);

#endif
