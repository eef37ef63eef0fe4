/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Within kernel/: what the csum*.c files share. */
#ifndef XSF_CSUM_PARTS_H
#define XSF_CSUM_PARTS_H

#include <bpf/libbpf.h>
#include "kernel/csum.h"

/* The namespace of this process and an interface in it: the key that attachments are compared with. */
int xsf_csum_key(uint32_t ifindex, struct xsf_csum_about *key);
int xsf_csum_same_netns(const struct xsf_csum_about *a, const struct xsf_csum_about *b);

/* Enters the network namespace of an attachment, if it has a name in /run/netns. What to give back to
 * xsf_csum_leave, or negative errno. */
int xsf_csum_enter(const struct xsf_csum_about *about);
void xsf_csum_leave(int back);

int xsf_csum_about_read(const char *dir, const char *name, struct xsf_csum_about *about);
int xsf_csum_about_write(const char *dir, const char *name, const struct xsf_csum_about *about);

/* Was it left by a load --confirm whose waiting process was killed? Its XDP link went with that process, the
 * filter, and what to return to, did not. `i`: its interface. */
int xsf_csum_abandoned(const char *dir, const char *name, const struct xsf_csum_about *about,
		       const struct xsf_if *i);

/* Is it what load --confirm may return to? */
int xsf_csum_is_before(const char *dir, const char *name);

/* Calls `each` for the directories of one interface (key NULL: all) until it returns nonzero, which is then
 * returned. */
int xsf_csum_each(const char *dir, const struct xsf_csum_about *key,
		  int (*each)(void *arg, const char *name, struct xsf_csum_about *about),
		  void *arg);

/* Is a clsact that is there known to be of our making? Not once the filter in it was removed by hand: by
 * then it may be another one. prog_id: of the filter that is there, 0 = none. */
int xsf_csum_made(const struct xsf_csum_about *about, uint32_t prog_id);

/* Opens the object with the maps of `dir`. NULL after a message; close with bpf_object__close. */
struct bpf_object *xsf_csum_open(const char *dir, struct xsf_why *why);

/* 0 when the program counts into the maps of `dir`, or none are pinned there, else -EXDEV and a message. */
int xsf_csum_belongs(const char *dir, const struct xsf_if *i, const struct xsf_csum_place *place,
		     struct xsf_why *why);

/* -EXDEV and a message when the directory of the program is in another pin directory, else 0. */
int xsf_csum_elsewhere(const struct xsf_if *i, const struct xsf_csum_place *place,
		       struct xsf_why *why);

/* Removes a clsact that was made for us, where nothing is in it. */
void xsf_csum_drop_qdisc(uint32_t ifindex, int made);

/* Fills in what the policy watches, with rows of `dir`'s maps. 0 or negative errno. */
int xsf_csum_policy_make(const char *dir, const struct xsf_csum_options *c,
			 struct xsf_csum_policy *policy, struct xsf_why *why);

/* What the program of this place repairs now, in *was. 1: the options end some of it. */
int xsf_csum_policy_ends(const struct xsf_csum_place *place, const struct xsf_csum_options *c,
			 struct xsf_csum_policy *was);

/* Writes policy and prefixes into two maps, so that no source is repaired in between that neither the old
 * nor the new policy repairs. 0 or negative errno. */
int xsf_csum_policy_write(int policy_fd, int from_fd, const struct xsf_csum_options *c,
			  const struct xsf_csum_policy *policy, struct xsf_why *why);

#endif
