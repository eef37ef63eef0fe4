// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/attach.h"
#include "kernel/csum_parts.h"
#include "kernel/pins.h"

#define NETNS_DIR "/run/netns"
/* Names in it that are looked at. */
#define MAX_NETNS 4096

int xsf_csum_netns(uint64_t *dev, uint64_t *ino)
{
	struct stat st;

	if (stat("/proc/self/ns/net", &st))
		return -errno;
	*dev = st.st_dev;
	*ino = st.st_ino;
	return 0;
}

int xsf_csum_key(uint32_t ifindex, struct xsf_csum_about *key)
{
	memset(key, 0, sizeof(*key));
	key->ifindex = ifindex;
	return xsf_csum_netns(&key->netns_dev, &key->netns_ino);
}

int xsf_csum_same_netns(const struct xsf_csum_about *a, const struct xsf_csum_about *b)
{
	return a->netns_dev == b->netns_dev && a->netns_ino == b->netns_ino;
}

int xsf_csum_enter(const struct xsf_csum_about *about)
{
	struct dirent *entry;
	int back = -ENOENT;
	DIR *d = opendir(NETNS_DIR);

	for (int n = 0; d && n < MAX_NETNS && back == -ENOENT && (entry = readdir(d)); n++) {
		int fd = openat(dirfd(d), entry->d_name, O_RDONLY | O_CLOEXEC);
		struct stat st;

		if (fd >= 0 && !fstat(fd, &st) && st.st_dev == about->netns_dev &&
		    st.st_ino == about->netns_ino) {
			back = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
			if (back < 0 || setns(fd, CLONE_NEWNET)) {
				int err = -errno;

				if (back >= 0)
					close(back);
				back = err;
			}
		}
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
	return back;
}

void xsf_csum_leave(int back)
{
	(void)setns(back, CLONE_NEWNET);
	close(back);
}

int xsf_csum_about_read(const char *dir, const char *name, struct xsf_csum_about *about)
{
	return xsf_pins_read(dir, name, "about", about, sizeof(*about));
}

int xsf_csum_about_write(const char *dir, const char *name, const struct xsf_csum_about *about)
{
	return xsf_pins_put_value(dir, name, "about", about, sizeof(*about));
}

int xsf_csum_made(const struct xsf_csum_about *about, uint32_t prog_id)
{
	return about->made_qdisc && (!about->attached || about->prog_id == prog_id);
}

int xsf_csum_is_before(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return !xsf_pins_path(path, dir, name, "prog") && !access(path, F_OK);
}

int xsf_csum_each(const char *dir, const struct xsf_csum_about *key,
		  int (*each)(void *arg, const char *name, struct xsf_csum_about *about), void *arg)
{
	char(*names)[NAME_MAX + 1];
	int nr, ret = 0;

	nr = xsf_pins_list(dir, XSF_CSUM_DIR, &names);
	for (int n = 0; n < nr && !ret; n++) {
		struct xsf_csum_about about;

		if (xsf_csum_about_read(dir, names[n], &about) ||
		    (key && (about.ifindex != key->ifindex || !xsf_csum_same_netns(&about, key))))
			continue;
		ret = each(arg, names[n], &about);
	}
	free(names);
	return nr < 0 ? nr : ret;
}

static int find_name(void *arg, const char *name, struct xsf_csum_about *about)
{
	struct xsf_csum_place *place = arg;

	if (about->prog_id != place->prog.id)
		return 0;
	snprintf(place->name, sizeof(place->name), "%s", name);
	place->about = *about;
	return 1;
}

static int is_ours(const struct xsf_prog_info *prog)
{
	return !strcmp(prog->name, XSF_CSUM_PROG);
}

/* Opens the program of a BPF filter when it is ours. fd, -ENOENT when it is another's, or negative errno. */
static int open_ours(const struct xsf_tc_filter *f, struct xsf_prog_info *prog)
{
	int fd, err;

	if (!f->prog_id)
		return -ENOENT;
	fd = bpf_prog_get_fd_by_id(f->prog_id);
	if (fd < 0)
		return -errno;
	err = xsf_prog_info(fd, prog);
	if (!err && is_ours(prog))
		return fd;
	close(fd);
	return err ? err : -ENOENT;
}

static int is_at_ours(const struct xsf_tc_filter *f)
{
	return !f->chain && f->pref == XSF_TC_PREF && f->handle == XSF_TC_HANDLE;
}

/* Has load written its policy? */
static int is_set(const struct xsf_csum_place *place)
{
	struct xsf_csum_policy policy = { 0 };
	__u32 zero = 0;
	int fd = xsf_csum_map(place, "xsf_csum_policy");

	if (fd < 0)
		return 0;
	if (bpf_map_lookup_elem(fd, &zero, &policy))
		policy.set = 0;
	close(fd);
	return policy.set != 0;
}

int xsf_csum_look(const char *dir, const struct xsf_if *i, struct xsf_csum_place *place,
		  struct xsf_why *why)
{
	int err;

	memset(place, 0, sizeof(*place));
	place->prog_fd = -1;
	err = xsf_tc_get(i->ifindex, &place->tc);
	if (err)
		return xsf_because(why, err, "cannot list the tc filters of %s: %s", i->name,
				   xsf_errno_text(err));
	for (uint32_t n = 0; n < place->tc.nr; n++) {
		const struct xsf_tc_filter *f = &place->tc.row[n];
		struct xsf_prog_info prog;
		int fd = open_ours(f, &prog);

		if (fd < 0 && fd != -ENOENT)
			return xsf_because(why, fd,
					   "cannot open the tc program on %s (id %u): %s%s",
					   i->name, f->prog_id, xsf_errno_text(fd),
					   fd == -EPERM ? "; run as root" : "");
		if (fd < 0)
			continue;
		/* Ours proper goes before one that somebody attached by hand. */
		if (place->filter && !is_at_ours(f)) {
			close(fd);
			continue;
		}
		if (place->prog_fd >= 0)
			close(place->prog_fd);
		place->filter = f;
		place->prog = prog;
		place->prog_fd = fd;
	}
	if (!place->filter)
		return 0;
	place->by_hand = !is_at_ours(place->filter) || !is_set(place);
	err = xsf_csum_each(dir, NULL, find_name, place);
	return err < 0 ? xsf_because(why, err, "cannot read %s: %s", dir, xsf_errno_text(err)) : 0;
}

void xsf_csum_place_close(struct xsf_csum_place *place)
{
	if (place->prog_fd >= 0)
		close(place->prog_fd);
	place->prog_fd = -1;
	place->filter = NULL;
	xsf_tc_free(&place->tc);
}

int xsf_csum_map(const struct xsf_csum_place *place, const char *name)
{
	for (uint32_t n = 0; n < place->prog.nr_maps; n++) {
		int fd = bpf_map_get_fd_by_id(place->prog.maps[n]);
		struct bpf_map_info info = {};
		__u32 len = sizeof(info);

		if (fd < 0)
			return -errno;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && !strcmp(info.name, name))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

/* 1: no program has the id any more. */
static int is_gone(uint32_t prog_id)
{
	int fd = bpf_prog_get_fd_by_id(prog_id);

	if (fd < 0)
		return errno == ENOENT;
	close(fd);
	return 0;
}

int xsf_csum_abandoned(const char *dir, const char *name, const struct xsf_csum_about *about,
		       const struct xsf_if *i)
{
	char(*names)[NAME_MAX + 1];
	int nr, waits = 0;

	if (!about->waiting && !xsf_csum_is_before(dir, name))
		return 0;
	if (i->xdp_mode == XDP_ATTACHED_NONE)
		return 1;
	nr = xsf_pins_attachments(dir, &names);
	for (int n = 0; n < nr && !waits; n++) {
		struct xsf_attachment at;
		uint32_t prog;

		/* Who may not ask takes it for the one that waits. */
		if (xsf_attachment_open(dir, names[n], &at)) {
			waits = 1;
			continue;
		}
		waits = at.waiting && xsf_link_ifindex(at.link, &prog) > 0 && prog == i->xdp_prog;
		xsf_attachment_close(&at);
	}
	free(names);
	return nr >= 0 && !waits;
}

struct tidying {
	const char *dir;
	struct xsf_ifs ifs;
	struct xsf_csum_about here;
};

static int tidy_one(void *arg, const char *name, struct xsf_csum_about *about)
{
	const struct tidying *t = arg;
	const struct xsf_if *i = xsf_ifs_index(&t->ifs, about->ifindex);

	if (i && xsf_csum_same_netns(about, &t->here) &&
	    xsf_csum_abandoned(t->dir, name, about, i)) {
		xsf_csum_undo(t->dir, about->ifindex);
		return 0;
	}
	if (!is_gone(about->prog_id))
		return 0;
	/* A load that was killed may have made a clsact: the next one there takes it over. */
	if (xsf_csum_made(about, 0) && xsf_csum_same_netns(about, &t->here) && i)
		return 0;
	xsf_pins_remove(t->dir, name);
	return 0;
}

/* A load that was killed before it wrote what its directory is about. */
static void remove_begun(const char *dir)
{
	char(*names)[NAME_MAX + 1];
	struct xsf_csum_about about;
	int nr = xsf_pins_list(dir, XSF_CSUM_DIR, &names);

	for (int n = 0; n < nr; n++) {
		if (xsf_csum_about_read(dir, names[n], &about) == -ENOENT)
			xsf_pins_remove(dir, names[n]);
	}
	free(names);
}

void xsf_csum_tidy(const char *dir)
{
	struct tidying t = { .dir = dir };

	remove_begun(dir);
	if (xsf_csum_key(0, &t.here) || xsf_ifs_get(&t.ifs))
		return;
	xsf_csum_each(dir, NULL, tidy_one, &t);
	xsf_ifs_free(&t.ifs);
}

static int count_one(void *arg, const char *name, struct xsf_csum_about *about)
{
	int *nr = arg;

	(void)name;
	*nr += !is_gone(about->prog_id);
	return 0;
}

int xsf_csum_loaded(const char *dir)
{
	int nr = 0, err;

	xsf_csum_tidy(dir);
	err = xsf_csum_each(dir, NULL, count_one, &nr);
	return err < 0 ? err : nr;
}
