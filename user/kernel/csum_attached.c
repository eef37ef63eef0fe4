// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/csum_attached.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/csum_parts.h"
#include "kernel/pins.h"

struct looking {
	const char *dir;
	struct xsf_csum_about here;
	struct xsf_ifs ifs;
	struct xsf_csum_attached *out;
	struct xsf_prefix_key (*from)[XSF_CSUM_FROM_SHOWN];
	unsigned int nr;
	unsigned int max;
	uint32_t ports_id; /* of the pinned map, 0 = not known */
};

/* The filters before ours, by preference. */
static void say_ahead(struct xsf_csum_attached *a, const struct xsf_tc *tc,
		      const struct xsf_tc_filter *ours)
{
	uint32_t pref = 0;
	size_t len = 0;

	for (uint32_t n = 0; n < tc->nr_tcx && len < sizeof(a->ahead); n++)
		len += (size_t)snprintf(a->ahead + len, sizeof(a->ahead) - len, "%stcx program %u",
					len ? ", " : "", tc->tcx[n]);

	for (const struct xsf_tc_filter *f = tc->row; f < ours && len < sizeof(a->ahead); f++) {
		if (f->chain != ours->chain || f->pref >= ours->pref || f->pref == pref)
			continue;
		pref = f->pref;
		len += (size_t)snprintf(a->ahead + len, sizeof(a->ahead) - len,
					"%s%s%s%.40s (pref %u)", len ? ", " : "", f->kind,
					f->name[0] ? " " : "", f->name, f->pref);
	}
}

static void place(struct xsf_csum_attached *a, const struct xsf_if *i, const struct xsf_tc *tc,
		  const struct xsf_tc_filter *f)
{
	snprintf(a->ifname, sizeof(a->ifname), "%s", i->name);
	snprintf(a->qdisc, sizeof(a->qdisc), "%s", tc->qdisc);
	a->ifindex = i->ifindex;
	a->prog_id = f->prog_id;
	a->pref = f->pref;
	a->handle = f->handle;
	a->before = xsf_tc_before(tc, f);
	say_ahead(a, tc, f);
}

/* What only the right to open programs shows. */
static void run_times(struct xsf_csum_attached *a)
{
	int fd = bpf_prog_get_fd_by_id(a->prog_id);
	struct xsf_prog_info prog;

	if (fd < 0)
		return;
	if (!xsf_prog_info(fd, &prog)) {
		a->run_time_ns = prog.run_time_ns;
		a->run_count = prog.run_count;
	}
	close(fd);
}

static void read_from(struct looking *l, struct xsf_csum_attached *a, int fd)
{
	struct xsf_prefix_key *row = l->from[l->nr];

	a->from = row;
	a->nr_from = 0;
	while (a->nr_from < XSF_CSUM_FROM_SHOWN &&
	       !bpf_map_get_next_key(fd, a->nr_from ? &row[a->nr_from - 1] : NULL,
				     &row[a->nr_from]))
		a->nr_from++;
}

static void read_policy(struct looking *l, struct xsf_csum_attached *a, int policy, int from)
{
	__u32 zero = 0;

	a->policy_known = policy >= 0 && !bpf_map_lookup_elem(policy, &zero, &a->policy);
	if (from >= 0 && a->policy_known && a->policy.nr_prefixes)
		read_from(l, a, from);
	if (policy >= 0)
		close(policy);
	if (from >= 0)
		close(from);
}

/* The filter of an attachment in this namespace. 1 = found. */
static int find_filter(const struct looking *l, const struct xsf_csum_about *about,
		       struct xsf_csum_attached *a)
{
	const struct xsf_if *i = xsf_ifs_index(&l->ifs, about->ifindex);
	struct xsf_tc tc;
	int found = 0;

	if (!i || xsf_tc_get(i->ifindex, &tc))
		return 0;
	for (uint32_t n = 0; n < tc.nr && !found; n++) {
		if (tc.row[n].prog_id != about->prog_id)
			continue;
		place(a, i, &tc, &tc.row[n]);
		found = 1;
	}
	xsf_tc_free(&tc);
	return found;
}

/* Attached in another namespace, as far as can be seen from here. */
static int is_elsewhere(const struct xsf_csum_about *about, struct xsf_csum_attached *a)
{
	int fd = bpf_prog_get_fd_by_id(about->prog_id);

	if (fd < 0 && errno != EPERM)
		return 0;
	if (fd >= 0)
		close(fd);
	snprintf(a->ifname, sizeof(a->ifname), "%s", about->ifname);
	a->ifindex = about->ifindex;
	a->prog_id = about->prog_id;
	a->pref = XSF_TC_PREF;
	a->handle = XSF_TC_HANDLE;
	return 1;
}

static int pinned(void *arg, const char *name, struct xsf_csum_about *about)
{
	struct looking *l = arg;
	struct xsf_csum_attached *a = &l->out[l->nr];
	int here = xsf_csum_same_netns(about, &l->here);
	const struct xsf_if *i;

	if (l->nr == l->max)
		return 1;
	memset(a, 0, sizeof(*a));
	if (!(here ? find_filter(l, about, a) : is_elsewhere(about, a)))
		return 0;
	i = here ? xsf_ifs_index(&l->ifs, about->ifindex) : NULL;
	snprintf(a->how, sizeof(a->how), "%s",
		 !here						 ? "elsewhere" :
		 i && xsf_csum_abandoned(l->dir, name, about, i) ? "abandoned" :
		 about->waiting					 ? "unconfirmed" :
								   "load");
	run_times(a);
	read_policy(l, a, xsf_pins_open_readonly(l->dir, name, "xsf_csum_policy"),
		    xsf_pins_open_readonly(l->dir, name, "xsf_csum_from"));
	l->nr++;
	return 0;
}

static uint32_t pinned_id(const char *dir, const char *name)
{
	int fd = xsf_pins_open_readonly(dir, name, NULL);
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (fd < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		info.id = 0;
	close(fd);
	return info.id;
}

/* A program that no directory speaks of: attached with tc, or its pins are lost. */
static void external(struct looking *l, const struct xsf_if *i)
{
	struct xsf_csum_attached *a = &l->out[l->nr];
	struct xsf_csum_place p;
	struct xsf_why ignored;

	if (!xsf_csum_look(l->dir, i, &p, &ignored) && p.filter && !p.name[0] && l->nr < l->max &&
	    xsf_prog_uses_map(&p.prog, l->ports_id)) {
		memset(a, 0, sizeof(*a));
		place(a, i, &p.tc, p.filter);
		snprintf(a->how, sizeof(a->how), "external");
		a->run_time_ns = p.prog.run_time_ns;
		a->run_count = p.prog.run_count;
		read_policy(l, a, xsf_csum_map(&p, "xsf_csum_policy"),
			    xsf_csum_map(&p, "xsf_csum_from"));
		l->nr++;
	}
	xsf_csum_place_close(&p);
}

int xsf_csum_programs(const char *dir, struct xsf_csum_attached *out,
		      struct xsf_prefix_key (*from)[XSF_CSUM_FROM_SHOWN], unsigned int max)
{
	struct looking l = { .dir = dir, .out = out, .from = from, .max = max };
	uint32_t *with = NULL;
	int nr, err;

	err = xsf_csum_key(0, &l.here);
	if (!err)
		err = xsf_ifs_get(&l.ifs);
	if (err)
		return err;
	err = xsf_csum_each(dir, NULL, pinned, &l);
	if (err < 0)
		goto out;
	l.ports_id = pinned_id(dir, "xsf_csum_ports");
	nr = xsf_tc_interfaces(&with);
	for (int n = 0; n < nr && n < XSF_CSUM_LOOKED && l.ports_id; n++) {
		const struct xsf_if *i = xsf_ifs_index(&l.ifs, with[n]);
		unsigned int known = 0;

		while (i && known < l.nr &&
		       (l.out[known].ifindex != i->ifindex ||
			!strcmp(l.out[known].how, "elsewhere")))
			known++;
		if (i && known == l.nr)
			external(&l, i);
	}
	err = (int)l.nr;
out:
	free(with);
	xsf_ifs_free(&l.ifs);
	return err;
}
