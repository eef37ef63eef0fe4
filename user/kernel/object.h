/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF object: configured, and loaded with the pinned maps of a directory. */
#ifndef XSF_OBJECT_H
#define XSF_OBJECT_H

#include <bpf/libbpf.h>
#include <linux/limits.h>
#include "kernel/options.h"
#include "kernel/why.h"

struct xdp_sflow;

struct xsf_object {
	struct xdp_sflow *skel;
	struct bpf_program *prog;
	struct xsf_config config; /* as written into the program */
	int frags;
};

/* Opens it with one of the two programs, configures it and compares the pinned maps' layouts. Nothing is in
 * the kernel yet. 0 or negative errno; closed on failure. */
int xsf_object_open(struct xsf_object *obj, const struct xsf_load_options *o, int frags,
		    struct xsf_why *why);

/* Loads it: pinned maps are reused, missing ones made and pinned. */
int xsf_object_load(struct xsf_object *obj, const struct xsf_load_options *o, struct xsf_why *why);

/* Gives the pins of its maps their group and mode. */
int xsf_object_permit(struct xsf_object *obj, struct xsf_why *why);

/* For libxdp, which loads it itself. */
struct bpf_object *xsf_object_bpf(struct xsf_object *obj);

/* fd of one of its maps, after loading; negative errno when there is none. */
int xsf_object_map(struct xsf_object *obj, const char *name);

/* Accepts a closed one. */
void xsf_object_close(struct xsf_object *obj);

/* Are any of its maps pinned in `dir`? 1, 0 or negative errno. */
int xsf_object_pinned(const char *dir, struct xsf_why *why);

/* Compares the maps of a running program with those pinned in `dir`. -EXDEV: at least one pin is another
 * map than the program's: it counts elsewhere. With `pin` those that have no pin are pinned, and *nr_pinned
 * is how many. 0 or negative errno. */
int xsf_object_adopt(const char *dir, int prog_fd, int pin, unsigned int *nr_pinned,
		     struct xsf_why *why);

/* The same for any opened object whose maps are pinned by name.
 * Compares the layouts of what is pinned; *groups: that the pinned tables have rows for, 0 = none. */
int xsf_pinned_check(struct bpf_object *obj, uint32_t *groups, struct xsf_why *why);
int xsf_pinned_permit(struct bpf_object *obj, struct xsf_why *why);
int xsf_pinned_adopt(struct bpf_object *obj, int prog_fd, int pin, unsigned int *nr_pinned,
		     struct xsf_why *why);

#endif
