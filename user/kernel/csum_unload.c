// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/csum_parts.h"
#include "kernel/pins.h"

/* What the directories of one interface say. */
struct found {
	const char *dir;
	char before[NAME_MAX + 1]; /* what load --confirm returns to; "" = nothing */
	char now[NAME_MAX + 1];	   /* what waits for it */
	struct xsf_csum_about about;
	uint32_t before_id;
	uint32_t there; /* program of the filter that is there, 0 = none */
	int made;
	int lost;   /* a clsact was made, but the filter in it is gone, and not by us */
	int remove; /* them all */
};

static int find_one(void *arg, const char *name, struct xsf_csum_about *about)
{
	struct found *f = arg;

	f->made |= xsf_csum_made(about, f->there);
	f->lost |= about->made_qdisc && about->attached && about->prog_id != f->there;
	if (f->remove) {
		xsf_pins_remove(f->dir, name);
	} else if (xsf_csum_is_before(f->dir, name)) {
		snprintf(f->before, sizeof(f->before), "%s", name);
		f->before_id = about->prog_id;
	} else if (about->waiting) {
		snprintf(f->now, sizeof(f->now), "%s", name);
		f->about = *about;
	}
	return 0;
}

static int cannot_detach(const char *ifname, int err, struct xsf_why *why)
{
	return xsf_because(why, err, "%s: cannot detach the tc program: %s%s", ifname,
			   xsf_errno_text(err), err == -EPERM ? "; run as root" : "");
}

int xsf_csum_unload(const char *dir, const struct xsf_if *i, int of_dir, struct xsf_why *why)
{
	struct found found = { .dir = dir, .remove = 1 };
	struct xsf_csum_place place;
	struct xsf_csum_about key;
	struct xsf_why other;
	int err, ours;

	err = xsf_csum_look(dir, i, &place, why);
	if (!err)
		err = xsf_csum_key(i->ifindex, &key);
	if (err)
		goto out;
	/* Of another pin directory: left to it. */
	ours = place.filter && !place.by_hand &&
	       (place.name[0] || !(of_dir ? xsf_csum_belongs(dir, i, &place, &other) :
					    xsf_csum_elsewhere(i, &place, &other)));
	if (ours) {
		err = xsf_tc_detach(i->ifindex);
		if (err) {
			cannot_detach(i->name, err, why);
			goto out;
		}
	}
	found.there = place.filter ? place.prog.id : 0;
	xsf_csum_each(dir, &key, find_one, &found);
	if (ours || !place.filter)
		xsf_csum_drop_qdisc(i->ifindex, found.made);
	/* Every clsact has the same handle and no mark of who made it. */
	if (!place.filter && !found.made && found.lost && !strcmp(place.tc.qdisc, "clsact") &&
	    !place.tc.block && !place.tc.nr && !place.tc.nr_egress)
		xsf_because(why, 0,
			    "%s: an empty clsact qdisc stays, which may be another's: the checksum "
			    "program that load made one for was removed by hand; to remove it: tc "
			    "qdisc del dev %s clsact",
			    i->name, i->name);
	err = ours;
out:
	xsf_csum_place_close(&place);
	return err;
}

struct unloading {
	const char *dir;
	const struct xsf_ifs *ifs;
	struct xsf_csum_about here;
	struct xsf_why *why;
	int done;
	int err;
};

/* An attachment in another network namespace. 1, 0 or negative errno. */
static int unload_elsewhere(const struct unloading *u, const char *name,
			    const struct xsf_csum_about *about)
{
	const struct xsf_if *i;
	struct xsf_ifs ifs;
	int back, fd, err;

	fd = bpf_prog_get_fd_by_id(about->prog_id);
	if (fd < 0)
		return xsf_pins_remove(u->dir, name);
	close(fd);
	back = xsf_csum_enter(about);
	if (back < 0)
		return xsf_because(u->why, back,
				   "%s: its tc program (id %u) is in another network namespace "
				   "that has no name in /run/netns: run the command there",
				   about->ifname, about->prog_id);
	err = xsf_ifs_get(&ifs);
	if (!err) {
		i = xsf_ifs_index(&ifs, about->ifindex);
		err = i ? xsf_csum_unload(u->dir, i, 1, u->why) : xsf_pins_remove(u->dir, name);
		xsf_ifs_free(&ifs);
	}
	xsf_csum_leave(back);
	return err;
}

static int unload_one(void *arg, const char *name, struct xsf_csum_about *about)
{
	struct unloading *u = arg;
	const struct xsf_if *i;
	int err;

	if (!xsf_csum_same_netns(about, &u->here)) {
		err = unload_elsewhere(u, name, about);
	} else {
		i = xsf_ifs_index(u->ifs, about->ifindex);
		err = i ? xsf_csum_unload(u->dir, i, 1, u->why) : xsf_pins_remove(u->dir, name);
	}
	/* One that cannot be taken off keeps none of the others there. */
	if (err < 0)
		u->err = err;
	else
		u->done += err;
	return 0;
}

int xsf_csum_unload_all(const char *dir, const struct xsf_ifs *ifs, struct xsf_why *why)
{
	struct unloading u = { .dir = dir, .ifs = ifs, .why = why };
	uint32_t *with;
	int nr, err;

	err = xsf_csum_key(0, &u.here);
	if (!err)
		err = xsf_csum_each(dir, NULL, unload_one, &u);
	if (err)
		return xsf_because(why, err, "cannot read %s: %s", dir, xsf_errno_text(err));
	/* Those that lost their pins. */
	nr = xsf_tc_interfaces(&with);
	for (int n = 0; n < nr; n++) {
		const struct xsf_if *i = xsf_ifs_index(ifs, with[n]);

		err = i ? xsf_csum_unload(dir, i, 1, why) : 0;
		if (err < 0)
			u.err = err;
		else
			u.done += err;
	}
	free(with);
	return u.err ? u.err : u.done;
}

/* ---- load --confirm ---- */

/* Is a program of this id at our place on the interface? */
static int is_there(uint32_t ifindex, uint32_t prog_id)
{
	struct xsf_tc tc;
	int there = 0;

	if (xsf_tc_get(ifindex, &tc))
		return 0;
	for (uint32_t n = 0; n < tc.nr && prog_id; n++)
		there |= tc.row[n].prog_id == prog_id && tc.row[n].pref == XSF_TC_PREF;
	xsf_tc_free(&tc);
	return there;
}

void xsf_csum_undo(const char *dir, uint32_t ifindex)
{
	struct found found = { .dir = dir };
	struct xsf_csum_about key;
	struct xsf_why ignored;
	char path[PATH_MAX];
	int waits, prog;

	if (xsf_csum_key(ifindex, &key) || xsf_csum_each(dir, &key, find_one, &found) < 0)
		return;
	waits = found.now[0] && is_there(ifindex, found.about.prog_id);
	if (found.before[0]) {
		prog = xsf_pins_open_readonly(dir, found.before, "prog");
		if (prog >= 0) {
			xsf_tc_make(ifindex, "", &ignored);
			xsf_tc_attach(ifindex, "", prog, waits, &ignored);
			close(prog);
		}
		if (is_there(ifindex, found.before_id) &&
		    !xsf_pins_path(path, dir, found.before, "prog"))
			unlink(path);
		if (!xsf_csum_about_read(dir, found.before, &key)) {
			key.attached = 1;
			xsf_csum_about_write(dir, found.before, &key);
		}
	} else if (waits) {
		xsf_tc_detach(ifindex);
		xsf_csum_drop_qdisc(ifindex, found.about.made_qdisc != 0);
	}
	if (found.now[0])
		xsf_pins_remove(dir, found.now);
}

void xsf_csum_keep(const char *dir, uint32_t ifindex)
{
	struct found found = { .dir = dir };
	struct xsf_csum_about key;

	if (xsf_csum_key(ifindex, &key) || xsf_csum_each(dir, &key, find_one, &found) < 0)
		return;
	if (found.before[0])
		xsf_pins_remove(dir, found.before);
	if (found.now[0]) {
		found.about.waiting = 0;
		xsf_csum_about_write(dir, found.now, &found.about);
	} else if (found.before[0]) {
		xsf_csum_drop_qdisc(ifindex, found.made);
	}
}
