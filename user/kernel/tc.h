/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The filters at the ingress of an interface: whose they are, in which order they run, and putting one of
 * ours among them. Reading needs no rights. */
#ifndef XSF_TC_H
#define XSF_TC_H

#include <net/if.h>
#include <stdint.h>
#include "kernel/why.h"

/* Where our filter stands: early, with room for others before it. A lower preference runs first. */
#define XSF_TC_PREF 10
#define XSF_TC_HANDLE 1

/* Filters of one interface that are looked at; more are refused with -E2BIG. */
#define XSF_MAX_FILTERS 4096

struct xsf_tc_filter {
	uint32_t chain;
	uint32_t pref;
	uint32_t handle;
	uint32_t prog_id; /* of a BPF one, else 0 */
	int ends;	  /* the chain, for what it matches: 1 yes, 0 no, -1 its program decides */
	char kind[16];	  /* "bpf", "u32", "flower", ... */
	char name[64];	  /* of a BPF one, as who attached it called it */
};

/* Programs of tcx (Linux 6.6) that are looked at. */
#define XSF_MAX_TCX 64

struct xsf_tc {
	uint32_t nr_tcx; /* programs that run before all filters; 0 without the right to ask */
	uint32_t tcx[XSF_MAX_TCX]; /* their ids */
	char qdisc[16];		   /* "clsact", "ingress", or "" where there is neither */
	uint32_t block;		   /* not 0: its filters are shared with other interfaces */
	uint32_t nr_egress;	   /* filters at a clsact's other end */
	uint32_t nr;		   /* at ingress, */
	uint32_t capacity;	   /* */
	struct xsf_tc_filter *row; /* in the order in which they run */
};

/* Reads them. Free with xsf_tc_free, which accepts an empty one. 0 or negative errno. */
int xsf_tc_get(uint32_t ifindex, struct xsf_tc *tc);
void xsf_tc_free(struct xsf_tc *tc);

/* The interfaces of this namespace that have such a qdisc; the caller frees *ifindex. How many, or negative
 * errno. */
int xsf_tc_interfaces(uint32_t **ifindex);

/* How many filters (by preference), and programs of tcx, run before this one. */
uint32_t xsf_tc_before(const struct xsf_tc *tc, const struct xsf_tc_filter *filter);

/* Makes a clsact where there is no qdisc for ingress. 1 = made, 0 = there was one, or negative errno. */
int xsf_tc_make(uint32_t ifindex, const char *ifname, struct xsf_why *why);

/* Removes the clsact, with whatever filters it has: for who has seen that it has none. */
int xsf_tc_remove(uint32_t ifindex);

/* Puts a program at our preference and handle; `replace`: in the place of the one there, without a packet
 * in between that meets neither. 0 or negative errno, and in *why the kernel's own words. */
int xsf_tc_attach(uint32_t ifindex, const char *ifname, int prog_fd, int replace,
		  struct xsf_why *why);

/* Takes the filter at our preference and handle off. */
int xsf_tc_detach(uint32_t ifindex);

#endif
