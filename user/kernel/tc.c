// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/tc.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/tc_act/tc_gact.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/netlink.h"

#ifndef TCA_INGRESS_BLOCK
#define TCA_INGRESS_BLOCK 13
#endif

/* BPF_TCX_INGRESS of <linux/bpf.h> since 6.6 */
#define TCX_INGRESS 46

struct reading {
	uint32_t ifindex;
	struct xsf_tc *tc;
};

/* The attributes of a message about a qdisc or a filter. */
#define EACH_ATTR(a, len, h) \
	for (a = TCA_RTA(NLMSG_DATA(h)), \
	    len = (int)((h)->nlmsg_len - NLMSG_LENGTH(sizeof(struct tcmsg))); \
	     RTA_OK(a, len); a = RTA_NEXT(a, len))

static const struct tcmsg *message(const struct reading *r, const struct nlmsghdr *h, uint16_t type)
{
	const struct tcmsg *tcm = NLMSG_DATA(h);

	if (h->nlmsg_type != type || h->nlmsg_len < NLMSG_LENGTH(sizeof(*tcm)) ||
	    (uint32_t)tcm->tcm_ifindex != r->ifindex)
		return NULL;
	return tcm;
}

static int read_qdisc(void *arg, const struct nlmsghdr *h)
{
	const struct reading *r = arg;
	const struct tcmsg *tcm = message(r, h, RTM_NEWQDISC);
	const struct rtattr *a;
	int len;

	if (!tcm || tcm->tcm_parent != TC_H_CLSACT)
		return 0;
	EACH_ATTR(a, len, h)
	{
		if (a->rta_type == TCA_KIND)
			xsf_attr_text(a, r->tc->qdisc, sizeof(r->tc->qdisc));
		else if (a->rta_type == TCA_INGRESS_BLOCK)
			r->tc->block = xsf_attr_u32(a);
	}
	return 0;
}

static void read_bpf(const struct rtattr *nest, struct xsf_tc_filter *f)
{
	const struct rtattr *a = RTA_DATA(nest);
	int len = (int)RTA_PAYLOAD(nest);

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == TCA_BPF_ID)
			f->prog_id = xsf_attr_u32(a);
		else if (a->rta_type == TCA_BPF_NAME)
			xsf_attr_text(a, f->name, sizeof(f->name));
	}
}

/* What a list of actions ends with: enum TC_ACT_*, or INT32_MIN where that is not known. */
static int32_t last_verdict(const struct rtattr *actions)
{
	const struct rtattr *action = RTA_DATA(actions), *a, *p;
	int left = (int)RTA_PAYLOAD(actions), len, inner;
	int32_t verdict = TC_ACT_OK;

	for (; RTA_OK(action, left); action = RTA_NEXT(action, left)) {
		char kind[16] = "";
		const struct rtattr *options = NULL;

		verdict = INT32_MIN;
		for (a = RTA_DATA(action), len = (int)RTA_PAYLOAD(action); RTA_OK(a, len);
		     a = RTA_NEXT(a, len)) {
			if (a->rta_type == TCA_ACT_KIND)
				xsf_attr_text(a, kind, sizeof(kind));
			else if ((a->rta_type & NLA_TYPE_MASK) == TCA_ACT_OPTIONS)
				options = a;
		}
		/* These begin their parameters with tc_gen: index, capability, verdict. */
		if (!options || (strcmp(kind, "gact") && strcmp(kind, "mirred")))
			return INT32_MIN;
		for (p = RTA_DATA(options), inner = (int)RTA_PAYLOAD(options); RTA_OK(p, inner);
		     p = RTA_NEXT(p, inner)) {
			if (p->rta_type == TCA_GACT_PARMS && RTA_PAYLOAD(p) >= 12)
				memcpy(&verdict, (const char *)RTA_DATA(p) + 8, sizeof(verdict));
		}
		if (verdict != TC_ACT_PIPE)
			return verdict;
	}
	return verdict;
}

/* struct xsf_tc_filter.ends. A classifier other than a BPF one in direct action ends the chain with what its
 * actions say, and without any of them too; only "continue" goes on (net/sched/cls_api.c, tcf_classify). */
static int ends(const struct rtattr *nest, const char *kind)
{
	static const struct {
		const char *kind;
		uint16_t actions;
	} known[] = { { "u32", TCA_U32_ACT },		{ "flower", TCA_FLOWER_ACT },
		      { "matchall", TCA_MATCHALL_ACT }, { "basic", TCA_BASIC_ACT },
		      { "bpf", TCA_BPF_ACT },		{ "fw", TCA_FW_ACT } };
	const struct rtattr *a = RTA_DATA(nest);
	int len = (int)RTA_PAYLOAD(nest), bpf = !strcmp(kind, "bpf");
	int32_t verdict = TC_ACT_OK;
	uint16_t actions = 0;

	for (size_t n = 0; n < sizeof(known) / sizeof(known[0]); n++) {
		if (!strcmp(known[n].kind, kind))
			actions = known[n].actions;
	}
	if (!actions)
		return -1;
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		uint16_t type = a->rta_type & NLA_TYPE_MASK;

		if (bpf && type == TCA_BPF_FLAGS && xsf_attr_u32(a) & TCA_BPF_FLAG_ACT_DIRECT)
			return -1;
		/* A hash table's row, no filter. */
		if (!strcmp(kind, "u32") && type == TCA_U32_DIVISOR)
			return 0;
		if (type == actions)
			verdict = last_verdict(a);
	}
	if (verdict == TC_ACT_UNSPEC)
		return 0;
	return verdict < 0 || verdict & ~0xf ? -1 : 1;
}

/* The kernel names each preference once without a handle, then the filters there. */
static struct xsf_tc_filter *next_row(struct xsf_tc *tc, const struct xsf_tc_filter *f)
{
	struct xsf_tc_filter *last = tc->nr ? &tc->row[tc->nr - 1] : NULL;

	if (last && !last->handle && last->pref == f->pref && last->chain == f->chain)
		return last;
	if (tc->nr == tc->capacity) {
		uint32_t capacity = tc->capacity ? 2 * tc->capacity : 16;

		last = realloc(tc->row, capacity * sizeof(*last));
		if (!last)
			return NULL;
		tc->row = last;
		tc->capacity = capacity;
	}
	return &tc->row[tc->nr++];
}

static int read_filter(void *arg, const struct nlmsghdr *h)
{
	const struct reading *r = arg;
	const struct tcmsg *tcm = message(r, h, RTM_NEWTFILTER);
	const struct rtattr *a, *options = NULL;
	struct xsf_tc_filter f = { 0 }, *row;
	int len;

	if (!tcm)
		return 0;
	f.handle = tcm->tcm_handle;
	f.pref = TC_H_MAJ(tcm->tcm_info) >> 16;
	EACH_ATTR(a, len, h)
	{
		switch (a->rta_type) {
		case TCA_KIND:
			xsf_attr_text(a, f.kind, sizeof(f.kind));
			break;
		case TCA_CHAIN:
			f.chain = xsf_attr_u32(a);
			break;
		case TCA_OPTIONS:
			options = a;
			break;
		}
	}
	if (options && !strcmp(f.kind, "bpf"))
		read_bpf(options, &f);
	if (options)
		f.ends = ends(options, f.kind);
	row = next_row(r->tc, &f);
	if (!row)
		return -ENOMEM;
	*row = f;
	return r->tc->nr > XSF_MAX_FILTERS ? -E2BIG : 0;
}

static int read_filters(struct reading *r, uint32_t minor)
{
	struct tcmsg body = { .tcm_family = AF_UNSPEC,
			      .tcm_ifindex = (int)r->ifindex,
			      .tcm_parent = TC_H_MAKE(TC_H_CLSACT, minor) };

	return xsf_netlink_dump(RTM_GETTFILTER, &body, sizeof(body), read_filter, r);
}

/* They need no qdisc, and what they give a verdict on meets no filter. Older kernels know of none. */
static void read_tcx(uint32_t ifindex, struct xsf_tc *tc)
{
	uint32_t flags = 0, nr = XSF_MAX_TCX;

	if (!bpf_prog_query((int)ifindex, (enum bpf_attach_type)TCX_INGRESS, 0, &flags, tc->tcx,
			    &nr))
		tc->nr_tcx = nr < XSF_MAX_TCX ? nr : XSF_MAX_TCX;
}

int xsf_tc_get(uint32_t ifindex, struct xsf_tc *tc)
{
	struct tcmsg body = { .tcm_family = AF_UNSPEC, .tcm_ifindex = (int)ifindex };
	struct reading r = { .ifindex = ifindex, .tc = tc };
	int err;

	memset(tc, 0, sizeof(*tc));
	err = xsf_netlink_dump(RTM_GETQDISC, &body, sizeof(body), read_qdisc, &r);
	if (!err && !strcmp(tc->qdisc, "clsact")) {
		err = read_filters(&r, TC_H_MIN_EGRESS);
		tc->nr_egress = tc->nr;
		tc->nr = 0;
	}
	if (!err && tc->qdisc[0])
		err = read_filters(&r, TC_H_MIN_INGRESS);
	if (err)
		xsf_tc_free(tc);
	else if (tc->nr)
		read_tcx(ifindex, tc);
	return err;
}

struct interfaces {
	uint32_t *ifindex;
	int nr;
};

static int read_interface(void *arg, const struct nlmsghdr *h)
{
	const struct tcmsg *tcm = NLMSG_DATA(h);
	struct interfaces *all = arg;
	uint32_t *more;

	if (h->nlmsg_type != RTM_NEWQDISC || h->nlmsg_len < NLMSG_LENGTH(sizeof(*tcm)) ||
	    tcm->tcm_parent != TC_H_CLSACT)
		return 0;
	/* Grown to the next power of two whenever nr is one. */
	if (!(all->nr & (all->nr - 1))) {
		more = realloc(all->ifindex, (all->nr ? 2 * (size_t)all->nr : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		all->ifindex = more;
	}
	all->ifindex[all->nr++] = (uint32_t)tcm->tcm_ifindex;
	return all->nr > XSF_MAX_FILTERS ? -E2BIG : 0;
}

int xsf_tc_interfaces(uint32_t **ifindex)
{
	struct tcmsg body = { .tcm_family = AF_UNSPEC };
	struct interfaces all = { 0 };
	int err;

	err = xsf_netlink_dump(RTM_GETQDISC, &body, sizeof(body), read_interface, &all);
	*ifindex = all.ifindex;
	return err ? err : all.nr;
}

void xsf_tc_free(struct xsf_tc *tc)
{
	free(tc->row);
	memset(tc, 0, sizeof(*tc));
}

uint32_t xsf_tc_before(const struct xsf_tc *tc, const struct xsf_tc_filter *filter)
{
	uint32_t before = tc->nr_tcx, pref = 0;

	/* A packet begins in chain 0; others are reached from there only. */
	for (const struct xsf_tc_filter *f = tc->row; f < filter; f++) {
		if (f->chain == filter->chain && f->pref < filter->pref && f->pref != pref) {
			before++;
			pref = f->pref;
		}
	}
	return before;
}

int xsf_tc_make(uint32_t ifindex, const char *ifname, struct xsf_why *why)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex, .attach_point = BPF_TC_INGRESS);
	const char *word;
	int err;

	xsf_log_clear();
	err = bpf_tc_hook_create(&hook);
	if (!err || err == -EEXIST)
		return !err;
	word = xsf_log_kernel_word();
	return xsf_because(
		why, err == -ENOENT ? -EOPNOTSUPP : err,
		"%s: cannot make a clsact qdisc, where tc programs attach: %s%s%s%s; %s", ifname,
		xsf_errno_text(err), word[0] ? ", \"" : "", word, word[0] ? "\"" : "",
		err == -EPERM			     ? "run as root (CAP_NET_ADMIN)" :
		err == -ENOENT || err == -EOPNOTSUPP ? "this kernel has no sch_ingress; leave the "
						       "part out with --no-checksum" :
						       "'tc qdisc show' lists what is there; "
						       "--no-checksum leaves the part out");
}

int xsf_tc_remove(uint32_t ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);

	return bpf_tc_hook_destroy(&hook);
}

int xsf_tc_attach(uint32_t ifindex, const char *ifname, int prog_fd, int replace,
		  struct xsf_why *why)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = prog_fd, .handle = XSF_TC_HANDLE,
		    .priority = XSF_TC_PREF, .flags = replace ? BPF_TC_F_REPLACE : 0);
	const char *word;
	int err;

	xsf_log_clear();
	err = bpf_tc_attach(&hook, &opts);
	if (!err)
		return 0;
	word = xsf_log_kernel_word();
	return xsf_because(
		why, err,
		"%s: the tc program was refused: %s%s%s%s; 'tc filter show dev %s ingress' "
		"lists what is there; --no-checksum leaves the part out",
		ifname, xsf_errno_text(err), word[0] ? ", \"" : "", word, word[0] ? "\"" : "",
		ifname);
}

int xsf_tc_detach(uint32_t ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = XSF_TC_HANDLE, .priority = XSF_TC_PREF);

	return bpf_tc_detach(&hook, &opts);
}
