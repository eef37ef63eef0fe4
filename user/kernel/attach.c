// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/attach.h"
#include "kernel/search.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <libgen.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/share.h"

int xsf_link_ifindex(int link, uint32_t *prog_id)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(link, &info, &len))
		return -errno;
	if (info.type != BPF_LINK_TYPE_XDP)
		return -EINVAL;
	if (prog_id)
		*prog_id = info.prog_id;
	return (int)info.xdp.ifindex;
}

static uint32_t link_id(int link)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(link, &info, &len) ? 0 : info.id;
}

/* The XDP link that holds a program, whoever has it open. fd, or -ENOENT. */
static int link_by_prog(uint32_t prog_id)
{
	uint32_t id = 0, of;

	for (int n = 0; n < XSF_MAX_LINKS && !bpf_link_get_next_id(id, &id); n++) {
		int fd = bpf_link_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (xsf_link_ifindex(fd, &of) > 0 && of == prog_id)
			return fd;
		close(fd);
	}
	return -ENOENT;
}

static int pinned_prog_id(const char *dir, const char *name, const char *file, uint32_t *id)
{
	struct xsf_prog_info prog;
	int fd, err;

	fd = xsf_pins_open_readonly(dir, name, file);
	if (fd < 0)
		return fd;
	err = xsf_prog_info(fd, &prog);
	close(fd);
	*id = prog.id;
	return err;
}

int xsf_attachment_open(const char *dir, const char *name, struct xsf_attachment *at)
{
	struct xsf_about about;
	char path[PATH_MAX];
	uint32_t prog, on;
	int err;

	memset(at, 0, sizeof(*at));
	at->link = -1;
	snprintf(at->name, sizeof(at->name), "%s", name);
	err = xsf_pins_path(path, dir, name, "link");
	if (err)
		return err;
	at->link = bpf_obj_get(path);
	if (at->link < 0 && errno != ENOENT)
		return -errno;
	if (at->link >= 0) {
		at->link_id = link_id(at->link);
		err = pinned_prog_id(dir, name, "prog_before", &prog);
		at->waiting = err ? 0 : 2;
		return 0;
	}
	err = xsf_pins_about(dir, name, "about", &about);
	if (!err && about.how == XSF_HOW_LIBXDP) {
		at->how = XSF_HOW_LIBXDP;
		return 0;
	}
	/* Not pinned yet: held by the process that waits for `confirm`. The program must be the one it
	 * was made with, so that no other link of the same number is taken for it. */
	at->link_id = xsf_pins_name_id(name);
	at->link = bpf_link_get_fd_by_id(at->link_id);
	if (at->link < 0)
		return errno == ENOENT ? 0 : -errno;
	at->waiting = 1;
	if (pinned_prog_id(dir, name, "prog", &prog) || xsf_link_ifindex(at->link, &on) < 0 ||
	    on != prog)
		xsf_attachment_close(at);
	return 0;
}

void xsf_attachment_close(struct xsf_attachment *at)
{
	if (at->link >= 0)
		close(at->link);
	at->link = -1;
}

/* Is `place` held by this attachment? Beside other programs the interface names libxdp's dispatcher: then
 * place->prog becomes ours within it. */
static enum xsf_occupant held_by(const char *dir, const struct xsf_attachment *at,
				 const struct xsf_if *i, struct xsf_place *place)
{
	uint32_t prog;
	int fd;

	if (at->link >= 0)
		return xsf_link_ifindex(at->link, &prog) > 0 && prog == place->prog.id ? XSF_OURS :
											 XSF_FREE;
	if (at->how != XSF_HOW_LIBXDP || pinned_prog_id(dir, at->name, "prog", &prog) ||
	    !xsf_share_holds(i->ifindex, prog))
		return XSF_FREE;
	fd = xsf_pins_open_readonly(dir, at->name, "prog");
	if (fd < 0 || xsf_prog_info(fd, &place->prog))
		return XSF_FREE;
	close(place->prog_fd);
	place->prog_fd = fd;
	return XSF_OURS_LIBXDP;
}

/* Looks among the pins for the one that holds place->prog. 1, 0 or negative errno. */
static int look_in_pins(const char *dir, const struct xsf_if *i, struct xsf_place *place)
{
	char(*names)[NAME_MAX + 1];
	int nr, found = 0;

	nr = xsf_pins_attachments(dir, &names);
	for (int n = 0; n < nr && !found; n++) {
		struct xsf_attachment at;
		enum xsf_occupant occupant;

		if (xsf_attachment_open(dir, names[n], &at))
			continue;
		occupant = held_by(dir, &at, i, place);
		if (occupant == XSF_FREE) {
			xsf_attachment_close(&at);
			continue;
		}
		place->at = at;
		place->occupant = occupant;
		found = 1;
	}
	free(names);
	return nr < 0 ? nr : found;
}

int xsf_place_look(const char *dir, const struct xsf_if *i, struct xsf_place *place,
		   struct xsf_why *why)
{
	int err;

	memset(place, 0, sizeof(*place));
	place->prog_fd = -1;
	place->at.link = -1;
	if (i->xdp_mode == XDP_ATTACHED_NONE)
		return 0;
	place->occupant = XSF_FOREIGN;
	/* Several at once (native and in hardware): not ours, and it has no one id. */
	if (!i->xdp_prog)
		return 0;
	place->prog_fd = bpf_prog_get_fd_by_id(i->xdp_prog);
	if (place->prog_fd < 0)
		return xsf_because(why, -errno, "cannot open the XDP program on %s (id %u): %s%s",
				   i->name, i->xdp_prog, strerror(errno),
				   errno == EPERM ? "; run as root" : "");
	err = xsf_prog_info(place->prog_fd, &place->prog);
	if (err) {
		xsf_place_close(place);
		return xsf_because(why, err, "cannot ask about the XDP program on %s: %s", i->name,
				   xsf_errno_text(err));
	}
	err = look_in_pins(dir, i, place);
	if (err < 0) {
		xsf_place_close(place);
		return xsf_because(why, err, "cannot read %s: %s", dir, xsf_errno_text(err));
	}
	if (err)
		return 0;
	if (!strcmp(place->prog.name, "xdp_dispatcher"))
		place->occupant = XSF_DISPATCHER;
	if (!xsf_prog_is_ours(&place->prog))
		return 0;
	/* Its pins are gone, or in another directory, or under a fresh file system. */
	place->at.link = link_by_prog(place->prog.id);
	place->at.link_id = place->at.link >= 0 ? link_id(place->at.link) : 0;
	place->occupant = place->at.link >= 0 ? XSF_OURS : XSF_OURS_BARE;
	place->elsewhere[0] = 0;
	if (place->at.link >= 0 && xsf_search_link(place->at.link_id, place->elsewhere))
		dirname(place->elsewhere);
	return 0;
}

int xsf_place_elsewhere(const struct xsf_place *place, const struct xsf_if *i, struct xsf_why *why)
{
	if (place->occupant != XSF_OURS || !place->elsewhere[0])
		return 0;
	return xsf_because(why, -EBUSY,
			   "%s: its program (id %u) is pinned in %s; add --maps %s, or unload it "
			   "there first",
			   i->name, place->prog.id, place->elsewhere, place->elsewhere);
}

void xsf_place_close(struct xsf_place *place)
{
	if (place->prog_fd > 0)
		close(place->prog_fd);
	if (place->at.link > 0)
		close(place->at.link);
	place->prog_fd = -1;
	place->at.link = -1;
}

int xsf_place_refuse(const struct xsf_place *place, const struct xsf_if *i, struct xsf_why *why)
{
	const char *off = i->xdp_mode == XDP_ATTACHED_SKB ? "xdpgeneric" : "xdp";
	char remove[96];
	int link;

	if (!place->prog.id)
		return xsf_because(why, -EBUSY,
				   "%s already has XDP programs of several modes; remove them "
				   "with: ip link set "
				   "dev %s xdp off; ip link set dev %s xdpoffload off",
				   i->name, i->name, i->name);
	link = link_by_prog(place->prog.id);
	if (link >= 0)
		snprintf(remove, sizeof(remove), "bpftool link detach id %u", link_id(link));
	else
		snprintf(remove, sizeof(remove), "ip link set dev %s %s off", i->name, off);
	if (link >= 0)
		close(link);
	if (place->occupant == XSF_OURS_BARE)
		return xsf_because(
			why, -EBUSY,
			"%s already has %s (id %u), attached by hand, without a link of ours "
			"to replace or detach; remove it with: %s",
			i->name, place->prog.name, place->prog.id, remove);
	return xsf_because(
		why, -EBUSY,
		"%s already has another XDP program: %s (id %u, %s); remove it with: %s; or attach "
		"beside it with --share",
		i->name, place->prog.name[0] ? place->prog.name : "without a name", place->prog.id,
		xsf_xdp_mode_name(i->xdp_mode), remove);
}

/* bpf(2) gives back only a number; asked by netlink the kernel says in words why it refuses. */
static void ask_kernel_word(const struct xsf_if *i, int prog_fd, uint32_t mode)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, opts, .old_prog_fd = prog_fd);

	xsf_log_clear();
	/* Should it succeed after all, what was refused is taken off again. */
	if (!bpf_xdp_attach((int)i->ifindex, prog_fd, mode | XDP_FLAGS_UPDATE_IF_NOEXIST, NULL))
		bpf_xdp_detach((int)i->ifindex, mode | XDP_FLAGS_REPLACE, &opts);
}

static const char *what_to_do(const struct xsf_if *i, int err, int generic)
{
	switch (-err) {
	case ENODEV:
		return "the interface has just gone";
	case EBUSY:
	case EEXIST:
		return "another XDP program is there (ip -d link shows it)";
	case EPERM:
	case EACCES:
		return "run as root (CAP_NET_ADMIN and CAP_BPF)";
	case ENOMEM:
	case ENOSPC:
		return "free queues or memory are missing: fewer channels (ethtool -L), smaller "
		       "rings "
		       "(ethtool -G), or --mode generic";
	}
	if (err == -EOPNOTSUPP && !generic)
		return "the slower --mode generic: this driver has no native one for it";
	if (generic)
		return "generic mode is off for this interface";
	if (i->mtu > 1500)
		return "a smaller MTU, LRO off (ethtool -K), or the slower --mode generic";
	return "LRO off (ethtool -K), or the slower --mode generic";
}

int xsf_link_create(const struct xsf_if *i, int prog_fd, int generic, struct xsf_why *why)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts,
		    .flags = generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);
	const char *word;
	int fd, err;

	fd = bpf_link_create(prog_fd, (int)i->ifindex, BPF_XDP, &opts);
	if (fd >= 0)
		return fd;
	err = -errno;
	if (err != -EPERM && err != -ENODEV)
		ask_kernel_word(i, prog_fd, opts.flags);
	else
		xsf_log_clear();
	word = xsf_log_kernel_word();
	return xsf_because(why, err, "%s: %s XDP was refused: %s%s%s%s (MTU %u); what may help: %s",
			   i->name, generic ? "generic" : "native", xsf_errno_text(err),
			   word[0] ? ", \"" : "", word, word[0] ? "\"" : "", i->mtu,
			   what_to_do(i, err, generic));
}

int xsf_link_update(int link, int prog_fd)
{
	return bpf_link_update(link, prog_fd, NULL) ? -errno : 0;
}

/* Is it left over from a link that is gone? */
static int is_dead(const char *dir, const char *name, const struct xsf_ifs *ifs)
{
	struct xsf_attachment at;
	struct xsf_about about;
	const struct xsf_if *i;
	uint32_t prog;
	int dead;

	if (xsf_attachment_open(dir, name, &at))
		return 0;
	if (at.how == XSF_HOW_LINK) {
		dead = at.link < 0 || !xsf_link_ifindex(at.link, NULL);
		xsf_attachment_close(&at);
		return dead;
	}
	if (xsf_pins_about(dir, name, "about", &about) || pinned_prog_id(dir, name, "prog", &prog))
		return 0;
	i = xsf_ifs_index(ifs, about.ifindex);
	return i && !strcmp(i->name, about.ifname) && !xsf_share_holds(i->ifindex, prog);
}

void xsf_attachments_tidy(const char *dir)
{
	char(*names)[NAME_MAX + 1];
	struct xsf_ifs ifs;
	int nr;

	if (xsf_ifs_get(&ifs))
		return;
	nr = xsf_pins_attachments(dir, &names);
	for (int n = 0; n < nr; n++) {
		if (is_dead(dir, names[n], &ifs))
			xsf_pins_remove(dir, names[n]);
	}
	free(names);
	xsf_ifs_free(&ifs);
}
