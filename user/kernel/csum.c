// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/csum.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/csum_parts.h"
#include "kernel/object.h"
#include "kernel/pins.h"
#include "kernel/search.h"
/* After the types of its maps. */
#include "csum6.skel.h"

struct bpf_object *xsf_csum_open(const char *dir, struct xsf_why *why)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "csum6", .pin_root_path = dir);
	struct bpf_object *obj;
	const void *elf;
	uint32_t groups;
	size_t size;

	xsf_log_clear();
	elf = csum6__elf_bytes(&size);
	obj = bpf_object__open_mem(elf, size, &opts);
	if (!obj) {
		xsf_because(why, -errno, "cannot open the BPF object of the tc program: %s",
			    xsf_log_first()[0] ? xsf_log_first() : strerror(errno));
		return NULL;
	}
	if (xsf_pinned_check(obj, &groups, why)) {
		bpf_object__close(obj);
		return NULL;
	}
	return obj;
}

int xsf_csum_elsewhere(const struct xsf_if *i, const struct xsf_csum_place *place,
		       struct xsf_why *why)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	char where[PATH_MAX];
	int fd;

	if (place->name[0])
		return 0;
	fd = xsf_csum_map(place, "xsf_csum_policy");
	if (fd < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		info.id = 0;
	close(fd);
	if (!info.id || !xsf_search_map("xsf_csum_policy", info.id, where))
		return 0;
	dirname(where);
	return xsf_because(why, -EXDEV,
			   "%s: its checksum program (id %u) is pinned in %s; add --maps %s, or "
			   "unload it there first",
			   i->name, place->prog.id, where, where);
}

int xsf_csum_belongs(const char *dir, const struct xsf_if *i, const struct xsf_csum_place *place,
		     struct xsf_why *why)
{
	struct bpf_object *obj = xsf_csum_open(dir, why);
	struct xsf_why mismatch;
	unsigned int nr;
	int err;

	if (!obj)
		return -EPROTO;
	err = xsf_pinned_adopt(obj, place->prog_fd, 0, &nr, &mismatch);
	bpf_object__close(obj);
	if (err == -EXDEV)
		return xsf_because(
			why, err,
			"%s: its checksum program (id %u) counts into other maps than "
			"those in %s: %s; give the --maps directory it was loaded with, or "
			"first: tc filter del dev %s ingress pref %u",
			i->name, place->prog.id, dir, mismatch.text, i->name, place->filter->pref);
	if (err)
		*why = mismatch;
	return err ? err : xsf_csum_elsewhere(i, place, why);
}

void xsf_csum_drop_qdisc(uint32_t ifindex, int made)
{
	struct xsf_tc tc;

	if (!made || xsf_tc_get(ifindex, &tc))
		return;
	if (!strcmp(tc.qdisc, "clsact") && !tc.block && !tc.nr && !tc.nr_egress)
		xsf_tc_remove(ifindex);
	xsf_tc_free(&tc);
}

/* ---- may it be attached? ---- */

/* What stands where ours belongs, or makes no sense beside it. */
static int refuse(const struct xsf_if *i, const struct xsf_csum_place *place, struct xsf_why *why)
{
	if (place->tc.block)
		return xsf_because(
			why, -EBUSY,
			"%s shares its tc filters with other interfaces (block %u): a "
			"program of one interface cannot be attached; leave the part out "
			"with --no-checksum",
			i->name, place->tc.block);
	if (place->filter && place->by_hand)
		return xsf_because(
			why, -EBUSY,
			"%s already has %s (id %u), attached by hand: packets would count "
			"twice; remove it with: tc filter del dev %s ingress pref %u; or "
			"leave the part out with --no-checksum",
			i->name, place->prog.name, place->prog.id, i->name, place->filter->pref);
	for (uint32_t n = 0; n < place->tc.nr && !place->filter; n++) {
		const struct xsf_tc_filter *f = &place->tc.row[n];

		if (!f->chain && f->pref == XSF_TC_PREF)
			return xsf_because(
				why, -EBUSY,
				"%s: the tc preference %u, which is ours, has another filter: %s "
				"%s; move that one ('tc filter show dev %s ingress' lists it), or "
				"leave the part out with --no-checksum",
				i->name, f->pref, f->kind, f->name[0] ? f->name : "without a name",
				i->name);
	}
	return 0;
}

int xsf_csum_check(const struct xsf_load_options *o, const struct xsf_if *i, struct xsf_why *why)
{
	struct xsf_csum_place place;
	struct bpf_object *obj;
	int err;

	if (o->csum.off)
		return 0;
	err = xsf_csum_look(o->dir, i, &place, why);
	if (!err)
		err = refuse(i, &place, why);
	if (!err && place.filter) {
		err = xsf_csum_belongs(o->dir, i, &place, why);
	} else if (!err) {
		obj = xsf_csum_open(o->dir, why);
		err = obj ? 0 : -EPROTO;
		bpf_object__close(obj);
	}
	xsf_csum_place_close(&place);
	return err;
}

/* ---- load ---- */

/* One interface while it is being loaded. */
struct job {
	const struct xsf_load_options *o;
	const struct xsf_if *i;
	struct xsf_csum_result *r;
	struct xsf_why *why;
	struct xsf_csum_about key;
	struct xsf_csum_place place;
	struct bpf_object *obj;
	struct bpf_program *prog;
	char name[NAME_MAX + 1];
	int made; /* a clsact that is there was made for us */
};

static int add_made(void *arg, const char *name, struct xsf_csum_about *about)
{
	struct job *j = arg;

	(void)name;
	j->made |= xsf_csum_made(about, j->place.filter ? j->place.prog.id : 0);
	return 0;
}

/* As the XDP program's. */
static void set_stale(struct bpf_object *obj, const struct xsf_load_options *o)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".rodata");
	void *rodata;
	size_t size;

	rodata = map ? (void *)bpf_map__initial_value(map, &size) : NULL;
	if (rodata && o->stale_ns)
		*(__u64 *)&((struct csum6__rodata *)rodata)->xsf_csum_stale_ns = o->stale_ns;
}

/* The program with its maps, in the kernel but not attached. */
static int prepare(struct job *j)
{
	unsigned int nr;
	int err;

	j->obj = xsf_csum_open(j->o->dir, j->why);
	if (!j->obj)
		return -EPROTO;
	/* A program whose pins are gone counts into maps that nobody can open. */
	if (j->place.filter) {
		err = xsf_pinned_adopt(j->obj, j->place.prog_fd, 1, &nr, j->why);
		if (err)
			return err;
	}
	set_stale(j->obj, j->o);
	j->prog = bpf_object__find_program_by_name(j->obj, XSF_CSUM_PROG);
	xsf_log_clear();
	err = j->prog ? bpf_object__load(j->obj) : -ENOENT;
	if (err)
		return xsf_because(j->why, err == -EPERM || err == -ENOMEM ? err : -EOPNOTSUPP,
				   "%s: cannot load the tc program with the maps in %s: %s (%s); "
				   "--no-checksum leaves the part out",
				   j->i->name, j->o->dir, xsf_errno_text(err), xsf_log_first());
	return xsf_pinned_permit(j->obj, j->why);
}

static int map_fd(const struct job *j, const char *name)
{
	return bpf_object__find_map_fd_by_name(j->obj, name);
}

/* Its directory, complete before it runs. */
static int pin(struct job *j, int made)
{
	struct xsf_csum_about about = j->key;
	struct xsf_prog_info prog;
	const char *dir = j->o->dir;
	char path[PATH_MAX];
	int err;

	err = xsf_prog_info(bpf_program__fd(j->prog), &prog);
	if (err)
		return err;
	j->r->prog_id = about.prog_id = prog.id;
	about.made_qdisc = (uint32_t)made;
	about.waiting = j->o->confirm_s > 0;
	snprintf(about.ifname, sizeof(about.ifname), "%s", j->i->name);
	xsf_pins_name(j->name, XSF_CSUM_DIR, j->i->name, prog.id);
	err = xsf_pins_path(path, dir, j->name, NULL);
	if (!err && mkdir(path, 0700) && errno != EEXIST)
		err = -errno;
	if (!err)
		err = xsf_pins_permit(path, 1);
	if (!err)
		err = xsf_pins_put(map_fd(j, "xsf_csum_policy"), dir, j->name, "xsf_csum_policy");
	if (!err)
		err = xsf_pins_put(map_fd(j, "xsf_csum_from"), dir, j->name, "xsf_csum_from");
	if (!err)
		err = xsf_csum_about_write(dir, j->name, &about);
	return err;
}

/* What load --confirm returns to: the program that is there, held by a pin. */
static int remember(struct job *j)
{
	const char *dir = j->o->dir;
	struct xsf_csum_about about = j->key;
	char name[NAME_MAX + 1], path[PATH_MAX];
	int err = 0;

	if (j->place.name[0] && j->place.about.waiting)
		return 0; /* what is remembered already is what to return to */
	snprintf(name, sizeof(name), "%s", j->place.name);
	if (!name[0]) { /* it lost its pins */
		about.prog_id = j->place.prog.id;
		snprintf(about.ifname, sizeof(about.ifname), "%s", j->i->name);
		xsf_pins_name(name, XSF_CSUM_DIR, j->i->name, about.prog_id);
		err = xsf_pins_path(path, dir, name, NULL);
		if (!err && mkdir(path, 0700) && errno != EEXIST)
			err = -errno;
		if (!err)
			err = xsf_csum_about_write(dir, name, &about);
	}
	return err ? err : xsf_pins_put(j->place.prog_fd, dir, name, "prog");
}

static int remove_old(void *arg, const char *name, struct xsf_csum_about *about)
{
	const struct job *j = arg;

	(void)about;
	if (strcmp(name, j->name) && (!j->o->confirm_s || !xsf_csum_is_before(j->o->dir, name)))
		xsf_pins_remove(j->o->dir, name);
	return 0;
}

static int cannot_pin(const struct job *j, int err)
{
	return xsf_because(j->why, err, "%s: cannot pin the tc program in %s: %s", j->i->name,
			   j->o->dir, xsf_errno_text(err));
}

/* Notes in a directory whether its program is in place. */
static void mark(const char *dir, const char *name, uint32_t attached)
{
	struct xsf_csum_about about;

	if (xsf_csum_about_read(dir, name, &about))
		return;
	about.attached = attached;
	xsf_csum_about_write(dir, name, &about);
}

/* Pins, makes the qdisc, attaches: in this order, so that a load that is killed leaves nothing that the
 * next one does not know of. */
static int attach(struct job *j)
{
	int has_qdisc = j->place.tc.qdisc[0] != 0, fresh = 0, err;
	/* Empty, it can be the one that a killed load made; in use and not by us, it is another's. */
	int made = !has_qdisc || (j->made && !strcmp(j->place.tc.qdisc, "clsact") &&
				  (j->place.filter || !j->place.tc.nr));

	if (j->o->confirm_s && j->place.filter) {
		err = remember(j);
		if (err)
			return cannot_pin(j, err);
	}
	err = pin(j, made);
	if (err) {
		cannot_pin(j, err);
		goto out;
	}
	if (!has_qdisc) {
		fresh = err = xsf_tc_make(j->i->ifindex, j->i->name, j->why);
		if (err < 0)
			goto out;
		j->r->made_qdisc = fresh;
	}
	err = xsf_tc_attach(j->i->ifindex, j->i->name, bpf_program__fd(j->prog),
			    j->place.filter != NULL, j->why);
	if (!err) {
		j->r->replaced = j->place.filter != NULL;
		mark(j->o->dir, j->name, 1);
		xsf_csum_each(j->o->dir, &j->key, remove_old, j);
		return 0;
	}
	if (fresh > 0)
		xsf_csum_drop_qdisc(j->i->ifindex, 1);
out:
	xsf_pins_remove(j->o->dir, j->name);
	j->r->prog_id = 0;
	return err;
}

/* The filters before ours. */
static void see_position(struct job *j)
{
	struct xsf_csum_place now;
	struct xsf_why ignored;

	if (!xsf_csum_look(j->o->dir, j->i, &now, &ignored) && now.filter)
		j->r->before = xsf_tc_before(&now.tc, now.filter);
	xsf_csum_place_close(&now);
}

/* --no-checksum, and perhaps only until it is not confirmed. */
static int take_away(struct job *j)
{
	int err;

	if (!j->place.filter || j->place.by_hand)
		return 0;
	if (!j->o->confirm_s) {
		err = xsf_csum_unload(j->o->dir, j->i, 0, j->why);
		j->r->removed = err > 0;
		return err < 0 ? err : 0;
	}
	err = xsf_csum_belongs(j->o->dir, j->i, &j->place, j->why);
	if (err)
		return err == -EXDEV ? 0 : err;
	err = remember(j);
	if (err)
		return cannot_pin(j, err);
	err = xsf_tc_detach(j->i->ifindex);
	if (err)
		return xsf_because(j->why, err, "%s: cannot detach the tc program: %s", j->i->name,
				   xsf_errno_text(err));
	if (j->place.name[0])
		mark(j->o->dir, j->place.name, 0);
	j->r->removed = 1;
	return 0;
}

/* No new program: the policy of the one that is there is replaced, as all options are. */
static int keep(struct job *j)
{
	struct xsf_csum_policy *policy = &j->r->policy;
	int policy_fd, from_fd, err = 0;
	struct xsf_why reason = *j->why;
	__u32 zero = 0;

	if (!j->place.filter)
		return -EOPNOTSUPP;
	policy_fd = xsf_csum_map(&j->place, "xsf_csum_policy");
	from_fd = xsf_csum_map(&j->place, "xsf_csum_from");
	if (policy_fd < 0 || from_fd < 0)
		err = xsf_because(j->why, policy_fd < 0 ? policy_fd : from_fd,
				  "%s; nor open the policy of the one that is there", reason.text);
	else if (j->o->confirm_s)
		err = bpf_map_lookup_elem(policy_fd, &zero, policy) ? -errno : -EOPNOTSUPP;
	else
		err = xsf_csum_policy_make(j->o->dir, &j->o->csum, policy, j->why);
	if (!err)
		err = xsf_csum_policy_write(policy_fd, from_fd, &j->o->csum, policy, j->why);
	if (policy_fd >= 0)
		close(policy_fd);
	if (from_fd >= 0)
		close(from_fd);
	if (!err || err == -EOPNOTSUPP) {
		j->r->kept = 1;
		j->r->prog_id = j->place.prog.id;
		j->r->skipped = reason;
	}
	return err;
}

int xsf_csum_load(const struct xsf_load_options *o, const struct xsf_if *i,
		  struct xsf_csum_result *r, struct xsf_why *why)
{
	struct job j = { .o = o, .i = i, .r = r, .why = why };
	int err;

	memset(r, 0, sizeof(*r));
	err = xsf_csum_key(i->ifindex, &j.key);
	if (err)
		return xsf_because(why, err, "cannot tell the network namespace: %s",
				   xsf_errno_text(err));
	err = xsf_csum_look(o->dir, i, &j.place, why);
	if (err)
		goto out;
	if (j.place.filter && !j.place.by_hand)
		r->ended = xsf_csum_policy_ends(&j.place, &o->csum, &r->was);
	if (o->csum.off) {
		err = take_away(&j);
		goto out;
	}
	xsf_csum_each(o->dir, &j.key, add_made, &j);
	err = refuse(i, &j.place, why);
	if (!err)
		err = prepare(&j);
	if (err == -EOPNOTSUPP) {
		err = keep(&j);
		goto out;
	}
	if (!err)
		err = xsf_csum_policy_make(o->dir, &o->csum, &r->policy, why);
	if (!err)
		err = xsf_csum_policy_write(map_fd(&j, "xsf_csum_policy"),
					    map_fd(&j, "xsf_csum_from"), &o->csum, &r->policy, why);
	if (!err)
		err = attach(&j);
	if (!err)
		see_position(&j);
out:
	bpf_object__close(j.obj);
	xsf_csum_place_close(&j.place);
	return err;
}
