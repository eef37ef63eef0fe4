// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/load.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/confirm.h"
#include "kernel/object.h"
#include "kernel/policy.h"
#include "kernel/share.h"

/* Interfaces stacked on each other (VLAN on bond on NIC): deeper ones are not looked at. */
#define MAX_STACK 4

/* Does every frame that `above` receives come through `below`? */
static int is_below(const struct xsf_ifs *ifs, const struct xsf_if *below,
		    const struct xsf_if *above, int depth)
{
	const struct xsf_if *i;

	/* clang-tidy takes -errno for something that may be 0, and so the interface for not found. */
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	if (above->lower == below->ifindex || below->master == above->ifindex)
		return 1;
	if (depth >= MAX_STACK)
		return 0;
	i = above->lower ? xsf_ifs_index(ifs, above->lower) : NULL;
	if (i && is_below(ifs, below, i, depth + 1))
		return 1;
	i = below->master ? xsf_ifs_index(ifs, below->master) : NULL;
	return i && is_below(ifs, i, above, depth + 1);
}

/* A frame seen on a VLAN and on its parent, or on a bond and on its member, would count twice. */
static int check_stack(const struct xsf_ifs *ifs, const struct xsf_if *i, struct xsf_why *why)
{
	for (uint32_t n = 0; n < ifs->nr; n++) {
		const struct xsf_if *other = &ifs->row[n];
		struct xsf_prog_info prog;
		int fd, ours, below;

		if (!other->xdp_prog || other == i)
			continue;
		below = is_below(ifs, i, other, 0);
		if (!below && !is_below(ifs, other, i, 0))
			continue;
		fd = bpf_prog_get_fd_by_id(other->xdp_prog);
		ours = fd >= 0 && !xsf_prog_info(fd, &prog) && xsf_prog_is_ours(&prog);
		if (fd >= 0)
			close(fd);
		if (ours)
			return xsf_because(why, -EBUSY,
					   "%s stands %s %s, where datagrams are counted already: "
					   "each would count "
					   "twice; leave one out, or first: xdp-sflow unload %s",
					   i->name, below ? "below" : "on", other->name,
					   other->name);
	}
	return 0;
}

static int find_interface(const struct xsf_ifs *ifs, const char *ifname, const struct xsf_if **i,
			  struct xsf_why *why)
{
	*i = xsf_ifs_name(ifs, ifname);
	if (*i)
		return 0;
	return xsf_because(
		why, -ENODEV,
		"no interface %s in this network namespace; 'ip link' lists those that there are",
		ifname);
}

/* Does the program that is there count into the maps of `dir`? With `pin` those get their pins again. */
static int check_maps(const char *dir, const struct xsf_if *i, const struct xsf_place *place,
		      int pin, unsigned int *nr, struct xsf_why *why)
{
	struct xsf_why mismatch = { "" };
	int err = xsf_object_adopt(dir, place->prog_fd, pin, nr, &mismatch);

	if (err == -EXDEV)
		return xsf_because(
			why, err,
			"%s: its program (id %u) counts into other maps than those in %s: %s; give "
			"the --maps directory it was loaded with, or first: xdp-sflow unload %s",
			i->name, place->prog.id, dir, mismatch.text, i->name);
	if (err)
		*why = mismatch;
	return err;
}

/* The interface, and what is on it, when `load` may go on. */
static int look(const struct xsf_load_options *o, const struct xsf_ifs *ifs, const char *ifname,
		const struct xsf_if **i, struct xsf_place *place, struct xsf_why *why)
{
	unsigned int nr;
	int err;

	place->prog_fd = place->at.link = -1;
	err = find_interface(ifs, ifname, i, why);
	if (!err)
		err = check_stack(ifs, *i, why);
	if (!err)
		err = xsf_place_look(o->dir, *i, place, why);
	if (!err)
		err = xsf_place_elsewhere(place, *i, why);
	if (err)
		return err;
	if (place->occupant == XSF_OURS_BARE || (place->occupant == XSF_FOREIGN && !o->share))
		return xsf_place_refuse(place, *i, why);
	if (o->confirm_s &&
	    (o->share || place->occupant == XSF_DISPATCHER || place->occupant == XSF_OURS_LIBXDP))
		return xsf_because(
			why, -EOPNOTSUPP,
			"%s: --confirm needs a link of its own and does not go with --share",
			ifname);
	if (place->occupant == XSF_OURS || place->occupant == XSF_OURS_LIBXDP)
		err = check_maps(o->dir, *i, place, 0, &nr, why);
	return err ? err : xsf_csum_check(o, *i, why);
}

static int get_interfaces(struct xsf_ifs *ifs, struct xsf_why *why)
{
	int err = xsf_ifs_get(ifs);

	return err ? xsf_because(why, err, "cannot list the interfaces: %s", xsf_errno_text(err)) :
		     0;
}

int xsf_load_check(const struct xsf_load_options *o, const char *ifname, struct xsf_why *why)
{
	struct xsf_place place = {};
	const struct xsf_if *i;
	struct xsf_ifs ifs;
	int err;

	err = get_interfaces(&ifs, why);
	if (err)
		return err;
	err = look(o, &ifs, ifname, &i, &place, why);
	xsf_place_close(&place);
	xsf_ifs_free(&ifs);
	return err;
}

/* One interface while it is being loaded. */
struct job {
	const struct xsf_load_options *o;
	const struct xsf_if *i;
	struct xsf_place place;
	struct xsf_object obj;
	struct xsf_load_result *r;
	struct xsf_why *why;
	int generic;
	int link;
	uint32_t about_how;
};

static int prepare_object(struct job *j, int frags)
{
	int err;

	xsf_object_close(&j->obj);
	err = xsf_object_open(&j->obj, j->o, frags, j->why);
	if (!err)
		err = xsf_object_load(&j->obj, j->o, j->why);
	return err;
}

/* What programs read must be there before the first of them runs. */
static int write_policy(struct job *j)
{
	int err = 0;

	if (j->o->flags & XSF_F_CONSUME)
		err = xsf_local_sync(xsf_object_map(&j->obj, "xsf_local"), j->why);
	if (err >= 0 && j->o->flags & XSF_F_ALLOW_LIST)
		err = xsf_allow_sync(xsf_object_map(&j->obj, "xsf_allow"), j->o, j->why);
	return err < 0 ? err : 0;
}

static int about_to_attach(struct job *j)
{
	const struct xsf_load_options *o = j->o;

	if (!o->about_to_attach || !o->about_to_attach(o->about_arg, j->i, j->generic))
		return 0;
	return xsf_because(j->why, -ECANCELED, "%s: nothing was attached", j->i->name);
}

/* Puts the program on the interface: into the link that is there, or by a new one. */
static int put_program(struct job *j)
{
	int prog = bpf_program__fd(j->obj.prog), err;

	if (j->place.occupant == XSF_OURS && !j->r->moved) {
		err = xsf_link_update(j->place.at.link, prog);
		if (err)
			return xsf_because(j->why, err,
					   "%s: the program could not be replaced: %s (MTU %u); "
					   "the one that was "
					   "there goes on counting",
					   j->i->name, xsf_errno_text(err), j->i->mtu);
		j->r->replaced = 1;
		return 0;
	}
	err = about_to_attach(j);
	if (err)
		return err;
	err = xsf_link_create(j->i, prog, j->generic, j->why);
	if (err < 0)
		return err;
	j->link = err;
	return 0;
}

/* Are frames of several buffers to be tried first? Where they are taken already they stay: the MTU may have
 * been raised because they are. */
static int frags_first(const struct job *j)
{
	if (j->generic || j->o->frags != XSF_FRAGS_AUTO)
		return !j->generic && j->o->frags == XSF_FRAGS_YES;
	return j->place.occupant == XSF_OURS && !strcmp(j->place.prog.name, XSF_PROG_NAME "_frags");
}

/* The plain program where the driver takes it: frames of one buffer are cheaper. The other one where it is
 * asked for, or where the plain one is refused (the MTU needs several buffers). */
static int attach(struct job *j)
{
	struct xsf_why plain;
	int err;

	err = prepare_object(j, frags_first(j));
	if (!err)
		err = xsf_object_permit(&j->obj, j->why);
	if (!err)
		err = write_policy(j);
	if (err)
		return err;
	err = put_program(j);
	if (!err || j->obj.frags || j->generic || j->o->frags == XSF_FRAGS_NO || err == -EPERM ||
	    err == -ENODEV || err == -EBUSY || err == -EEXIST || err == -ECANCELED)
		return err;
	plain = *j->why;
	err = prepare_object(j, 1);
	if (!err)
		err = put_program(j);
	if (err) /* the first refusal says more */
		*j->why = plain;
	return err;
}

static uint32_t prog_id(int fd)
{
	struct xsf_prog_info info;

	return xsf_prog_info(fd, &info) ? 0 : info.id;
}

static uint32_t new_link_id(int link)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(link, &info, &len) ? 0 : info.id;
}

/* Keeps the replaced program for the time that it may be returned to. */
static int keep_before(struct job *j)
{
	const char *dir = j->o->dir, *name = j->r->name;
	char from[PATH_MAX], to[PATH_MAX];
	int err;

	if (j->place.at.waiting)
		return 0; /* what is kept already is what to return to */
	err = xsf_pins_path(from, dir, name, "about");
	if (!err)
		err = xsf_pins_path(to, dir, name, "about_before");
	if (!err && rename(from, to))
		err = -errno;
	if (!err)
		err = xsf_pins_put(j->place.prog_fd, dir, name, "prog_before");
	return err;
}

/* Pins what `attach` made. The link comes last: with it the attachment outlives this process. */
static int pin(struct job *j)
{
	int prog = bpf_program__fd(j->obj.prog), confirm = j->o->confirm_s > 0, err = 0;
	struct xsf_about about = {
		.config = j->obj.config,
		.prog_id = prog_id(prog),
		.ifindex = j->i->ifindex,
		.how = j->about_how,
		.generic = (uint32_t)j->generic,
		.frags = (uint32_t)j->obj.frags,
	};
	int link = j->link >= 0 ? j->link : j->place.at.link;
	const char *dir = j->o->dir;
	char path[PATH_MAX];

	snprintf(about.ifname, sizeof(about.ifname), "%s", j->i->name);
	if (j->r->replaced && j->place.at.name[0])
		snprintf(j->r->name, sizeof(j->r->name), "%s", j->place.at.name);
	else
		xsf_pins_name(j->r->name, "if_", j->i->name,
			      link >= 0 ? new_link_id(link) : about.prog_id);
	err = xsf_pins_path(path, dir, j->r->name, NULL);
	if (!err && mkdir(path, 0700) && errno != EEXIST)
		err = -errno;
	if (!err)
		err = xsf_pins_permit(path, 1);
	if (!err && confirm && j->r->replaced)
		err = keep_before(j);
	if (!err)
		err = xsf_pins_put(prog, dir, j->r->name, "prog");
	if (!err)
		err = xsf_pins_put_about(dir, j->r->name, &about);
	/* A first attachment waits for its confirmation without a pin: it ends with the process that
	 * holds it, however that ends. */
	if (!err && link >= 0 && (!confirm || (j->r->replaced && j->place.at.waiting != 1)))
		err = xsf_pins_put(link, dir, j->r->name, "link");
	if (!err && !confirm)
		xsf_confirm_drop(dir, j->r->name);
	if (err)
		return xsf_because(j->why, err, "%s: cannot pin the program in %s: %s", j->i->name,
				   dir, xsf_errno_text(err));
	j->r->prog_id = about.prog_id;
	j->r->frags = j->obj.frags;
	j->r->generic = j->generic;
	if (confirm)
		j->r->link = fcntl(link, F_DUPFD_CLOEXEC, 0);
	return 0;
}

/* A program whose pins are gone goes on counting into maps that nobody can open: they are pinned again, so
 * that the new program counts on in them. */
static int rescue(struct job *j)
{
	unsigned int nr;
	int err = check_maps(j->o->dir, j->i, &j->place, 1, &nr, j->why);

	if (!err && (nr || (j->place.occupant == XSF_OURS && !j->place.at.name[0])))
		j->r->repinned = 1 + nr;
	return err;
}

/* Another mode needs another link. */
static int move(struct job *j)
{
	int old = j->i->xdp_mode == XDP_ATTACHED_SKB, err;
	struct xsf_why refused;

	if (bpf_link_detach(j->place.at.link))
		return xsf_because(j->why, -errno, "%s: cannot detach: %s", j->i->name,
				   strerror(errno));
	if (j->place.at.name[0])
		xsf_pins_remove(j->o->dir, j->place.at.name);
	j->r->moved = 1;
	err = attach(j);
	if (!err)
		return 0;
	refused = *j->why;
	j->generic = old;
	if (!attach(j) && !pin(j))
		xsf_because(j->why, err, "%s; it is attached as before", refused.text);
	else
		*j->why = refused;
	return err;
}

static int share(struct job *j)
{
	int err;

	j->about_how = XSF_HOW_LIBXDP;
	/* Opened, not loaded: libxdp does that, as the type that its dispatcher takes. */
	err = xsf_object_open(&j->obj, j->o, j->o->frags == XSF_FRAGS_YES, j->why);
	if (!err && j->place.occupant == XSF_OURS_LIBXDP) {
		err = xsf_share_detach(j->i, j->place.prog.id, j->why);
		xsf_pins_remove(j->o->dir, j->place.at.name);
		j->r->moved = 1;
	}
	if (!err)
		err = about_to_attach(j);
	if (!err)
		err = xsf_share_attach(j->i, &j->obj, j->generic, &j->r->alone, j->why);
	if (!err)
		err = xsf_object_permit(&j->obj, j->why);
	if (!err)
		err = write_policy(j);
	if (!err)
		err = pin(j);
	return err;
}

/* The tc program. Without it a first attachment is undone; a replacement stays, as does the filter before. */
static int load_csum(struct job *j)
{
	int err = xsf_csum_load(j->o, j->i, &j->r->csum, j->why);
	struct xsf_why ignored;

	if (!err)
		return 0;
	/* Nobody asked for it in so many words, and this kernel has no such thing: said, and left out. */
	if (err == -EOPNOTSUPP && !j->o->csum.asked) {
		j->r->csum.skipped = *j->why;
		return 0;
	}
	if (!j->r->replaced && !j->r->moved)
		xsf_unload(j->o->dir, j->i->name, &ignored);
	if (j->r->link >= 0)
		close(j->r->link);
	j->r->link = -1;
	return err;
}

int xsf_load(const struct xsf_load_options *o, const char *ifname, struct xsf_load_result *r,
	     struct xsf_why *why)
{
	struct job j = { .o = o, .r = r, .why = why, .link = -1, .about_how = XSF_HOW_LINK };
	struct xsf_ifs ifs;
	int err;

	memset(r, 0, sizeof(*r));
	r->link = -1;
	xsf_attachments_tidy(o->dir);
	xsf_csum_tidy(o->dir);
	err = get_interfaces(&ifs, why);
	if (err)
		return err;
	err = look(o, &ifs, ifname, &j.i, &j.place, why);
	if (err)
		goto out;
	j.generic = o->mode == XSF_MODE_GENERIC ||
		    (o->mode == XSF_MODE_DEFAULT && j.i->xdp_mode == XDP_ATTACHED_SKB);
	if (j.place.occupant == XSF_OURS || j.place.occupant == XSF_OURS_LIBXDP)
		err = rescue(&j);
	if (err)
		goto out;
	if (o->share || j.place.occupant == XSF_DISPATCHER || j.place.occupant == XSF_OURS_LIBXDP) {
		err = share(&j);
	} else if (j.place.occupant == XSF_OURS &&
		   j.generic != (j.i->xdp_mode == XDP_ATTACHED_SKB)) {
		err = move(&j);
		if (!err)
			err = pin(&j);
	} else {
		err = attach(&j);
		if (!err)
			err = pin(&j);
	}
	if (!err)
		err = load_csum(&j);
out:
	if (j.link >= 0)
		close(j.link);
	xsf_object_close(&j.obj);
	xsf_place_close(&j.place);
	xsf_ifs_free(&ifs);
	return err;
}
