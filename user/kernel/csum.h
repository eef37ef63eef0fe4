/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tc program that verifies and repairs UDP checksums over IPv6 (bpf/csum6.bpf.c) on interfaces.
 *
 * Its filter stands at a preference of its own (kernel/tc.h) and goes with the interface: no pin holds it.
 * What lies in the pin directory as tc_NAME_ID is its policy and what load knew, by the program's id; such
 * a directory is dead once no program has that id. A replacement gets a directory, and so a policy, of its
 * own before it takes the place of the old one. The caller holds the directory's lock for all that change
 * something. */
#ifndef XSF_KERNEL_CSUM_H
#define XSF_KERNEL_CSUM_H

#include <limits.h>
#include <xsf/csum_abi.h>
#include "kernel/net.h"
#include "kernel/options.h"
#include "kernel/programs.h"
#include "kernel/tc.h"

#define XSF_CSUM_PROG "xsf_csum6"
#define XSF_CSUM_DIR "tc_"

/* In tc_NAME_ID/about. */
struct xsf_csum_about {
	uint32_t prog_id;
	uint32_t ifindex;
	uint64_t netns_dev; /* the network namespace, as stat(2) names it */
	uint64_t netns_ino;
	uint32_t made_qdisc; /* 1: the clsact was made for it */
	uint32_t waiting;    /* 1: for `confirm` */
	char ifname[IF_NAMESIZE];
	uint32_t attached; /* 1: it was put in place, and not taken off by us since */
	uint32_t reserved0;
	uint64_t reserved[3];
};
_Static_assert(sizeof(struct xsf_csum_about) == 80, "read by other versions of the command");

struct xsf_csum_result {
	uint32_t prog_id; /* 0: none is attached */
	uint32_t before;  /* filters that run before it */
	int replaced;
	int removed;	/* one was there and is not wanted any more */
	int made_qdisc; /* now */
	int ended;	/* the policy before, `was`, repaired what the new one does not */
	int kept; /* this kernel does not take a new one, see skipped: the one there before stays */
	struct xsf_csum_policy policy;
	struct xsf_csum_policy was;
	struct xsf_why skipped; /* why it was left out; "" = it was not */
};

/* The filter of ours on one interface. */
struct xsf_csum_place {
	struct xsf_tc tc;
	const struct xsf_tc_filter *filter; /* within tc; NULL = none */
	struct xsf_prog_info prog;
	int prog_fd;
	int by_hand;		 /* not as load attaches it: attached with tc */
	char name[NAME_MAX + 1]; /* of its directory; "" = none in `dir` */
	struct xsf_csum_about about;
};

/* Finds out. Close with xsf_csum_place_close, also after a failure. 0 or negative errno. */
int xsf_csum_look(const char *dir, const struct xsf_if *i, struct xsf_csum_place *place,
		  struct xsf_why *why);
void xsf_csum_place_close(struct xsf_csum_place *place);

/* Would xsf_csum_load be refused? Changes nothing. 0 or negative errno. */
int xsf_csum_check(const struct xsf_load_options *o, const struct xsf_if *i, struct xsf_why *why);

/* Attaches it, or replaces what is there of ours; with o->csum.off takes it away. 0 or negative errno;
 * -EOPNOTSUPP: this kernel cannot take it. Then one of ours that is there already is given the new policy,
 * which is done with that; except with o->confirm_s, as nothing would return it. */
int xsf_csum_load(const struct xsf_load_options *o, const struct xsf_if *i,
		  struct xsf_csum_result *r, struct xsf_why *why);

/* Takes ours off an interface, and the clsact that was made for it when nothing else is in it. One whose pins
 * are lost as well; `of_dir`: only when it counts into the maps of `dir`. 1 = done, 0 = there was none, or
 * negative errno. What is left behind, as it may be another's, is in why->text, else that is as it was. */
int xsf_csum_unload(const char *dir, const struct xsf_if *i, int of_dir, struct xsf_why *why);

/* Everywhere: attachments of `dir`, and in this namespace those that lost their pins. As above. */
int xsf_csum_unload_all(const char *dir, const struct xsf_ifs *ifs, struct xsf_why *why);

/* How many attachments `dir` has. */
int xsf_csum_loaded(const char *dir);

/* load --confirm: back to what was there before, or keep what is there now. */
void xsf_csum_undo(const char *dir, uint32_t ifindex);
void xsf_csum_keep(const char *dir, uint32_t ifindex);

/* Removes the directories of programs that are gone, and undoes a load --confirm whose waiting process was
 * killed. */
void xsf_csum_tidy(const char *dir);

/* Does the interface have a program whose policy xsf_csum_set may write? 0 or negative errno. */
int xsf_csum_may_set(const char *dir, const struct xsf_if *i, struct xsf_why *why);

/* Writes a new policy for the program on the interface. 0 or negative errno. */
int xsf_csum_set(const char *dir, const struct xsf_if *i, const struct xsf_csum_options *c,
		 struct xsf_csum_policy *policy, struct xsf_why *why);

/* A map of the program in a place, by its name. fd or negative errno; -ENOENT where it has none. */
int xsf_csum_map(const struct xsf_csum_place *place, const char *name);

/* The network namespace of this process. 0 or negative errno. */
int xsf_csum_netns(uint64_t *dev, uint64_t *ino);

#endif
