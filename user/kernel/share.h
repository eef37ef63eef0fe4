/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Beside other XDP programs, through libxdp's dispatcher. libxdp makes no bpf_link and cannot replace one
 * program of a dispatcher in place: a replacement is removed first and added then, so that no datagram counts
 * twice; those in between are not counted. Where the kernel refuses the dispatcher (it needs programs of type
 * EXT) libxdp attaches ours alone, which only works where nothing else is. */
#ifndef XSF_SHARE_H
#define XSF_SHARE_H

#include <stdint.h>
#include "kernel/net.h"
#include "kernel/object.h"

/* Is the program with this id on the interface, alone or in a dispatcher? */
int xsf_share_holds(uint32_t ifindex, uint32_t prog_id);

/* Loads and attaches an opened object. 0 or negative errno. *alone: libxdp fell back to a single program. */
int xsf_share_attach(const struct xsf_if *i, struct xsf_object *obj, int generic, int *alone,
		     struct xsf_why *why);

/* Takes the program with this id off the interface. 0 or negative errno. */
int xsf_share_detach(const struct xsf_if *i, uint32_t prog_id, struct xsf_why *why);

#endif
