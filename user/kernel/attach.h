/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs on interfaces, and the pins that hold them there. */
#ifndef XSF_ATTACH_H
#define XSF_ATTACH_H

#include "kernel/net.h"
#include "kernel/pins.h"
#include "kernel/programs.h"

/* Links of the whole machine that are looked at for one that lost its pin. */
#define XSF_MAX_LINKS 65536

/* One attachment: an if_* directory, or a link that has none. */
struct xsf_attachment {
	char name[NAME_MAX + 1]; /* of the directory; empty = none */
	int link;		 /* fd, -1 = none (libxdp, or not found) */
	uint32_t link_id;
	uint32_t how; /* enum xsf_how */
	int waiting;  /* for `confirm`: 1 first attachment, 2 replaced an older program */
};

/* What is on an interface. */
enum xsf_occupant {
	XSF_FREE,
	XSF_OURS,	 /* held by a link that we have */
	XSF_OURS_LIBXDP, /* attached by load --share */
	XSF_OURS_BARE,	 /* our program without a link: attached by ip, tc or bpftool */
	XSF_DISPATCHER,	 /* libxdp's, and ours is not in it */
	XSF_FOREIGN,
};

struct xsf_place {
	enum xsf_occupant occupant;
	struct xsf_prog_info prog; /* what is attached, when not free */
	int prog_fd;
	struct xsf_attachment at; /* XSF_OURS and XSF_OURS_LIBXDP */
	char elsewhere[PATH_MAX]; /* XSF_OURS: another pin directory that has its link; "" = none */
};

/* Finds out. Opens descriptors: xsf_place_close, which accepts a zeroed one. 0 or negative errno. */
int xsf_place_look(const char *dir, const struct xsf_if *i, struct xsf_place *place,
		   struct xsf_why *why);
void xsf_place_close(struct xsf_place *place);

/* -EBUSY and one line when the program belongs to another pin directory than the one asked for, else 0. */
int xsf_place_elsewhere(const struct xsf_place *place, const struct xsf_if *i, struct xsf_why *why);

/* One line about what is there and how to remove it, for XSF_OURS_BARE and on. Returns -EBUSY. */
int xsf_place_refuse(const struct xsf_place *place, const struct xsf_if *i, struct xsf_why *why);

/* Opens the attachment in dir/name: its link, by its pin or, where it waits for `confirm`, by its id.
 * at->link is -1 when there is none any more. 0 or negative errno. */
int xsf_attachment_open(const char *dir, const char *name, struct xsf_attachment *at);
void xsf_attachment_close(struct xsf_attachment *at);

/* Interface index of the link, 0 when the interface is gone, or negative errno. */
int xsf_link_ifindex(int link, uint32_t *prog_id);

/* A new link. Returns its fd or negative errno, and in *why the kernel's own words and what to do. */
int xsf_link_create(const struct xsf_if *i, int prog_fd, int generic, struct xsf_why *why);

/* Puts `prog_fd` in the place of the link's program, atomically. */
int xsf_link_update(int link, int prog_fd);

/* Removes if_* directories whose link is gone: with its interface, or with a killed command. */
void xsf_attachments_tidy(const char *dir);

#endif
