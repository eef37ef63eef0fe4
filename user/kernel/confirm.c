// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/confirm.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernel/attach.h"
#include "kernel/csum.h"

#define POLL_US 200000

static uint64_t now_ns(void)
{
	struct timespec now;

	/* A suspended machine's time counts: who did not confirm before it slept has not confirmed. */
	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Is it still this program that waits there? */
static int waits(const char *dir, const char *name, uint32_t prog_id)
{
	struct xsf_attachment at;
	struct xsf_prog_info prog;
	int fd, waiting;

	fd = xsf_pins_open_readonly(dir, name, "prog");
	if (fd < 0)
		return 0;
	waiting = !xsf_prog_info(fd, &prog) && prog.id == prog_id;
	close(fd);
	if (!waiting || xsf_attachment_open(dir, name, &at))
		return 0;
	xsf_attachment_close(&at);
	return at.waiting;
}

static void put_back(const char *dir, const char *name, int link)
{
	static const char *const files[][2] = { { "prog_before", "prog" },
						{ "about_before", "about" } };
	char from[PATH_MAX], to[PATH_MAX];
	int before;

	before = xsf_pins_open_readonly(dir, name, "prog_before");
	if (before < 0)
		return;
	if (!xsf_link_update(link, before)) {
		for (int n = 0; n < 2; n++) {
			if (!xsf_pins_path(from, dir, name, files[n][0]) &&
			    !xsf_pins_path(to, dir, name, files[n][1]))
				rename(from, to);
		}
	}
	close(before);
}

void xsf_confirm_wait(const char *dir, const char *name, int link, uint32_t prog_id,
		      uint32_t seconds)
{
	uint64_t end = now_ns() + (uint64_t)seconds * 1000000000;
	struct xsf_about about = { .ifindex = 0 };
	struct xsf_why why;
	int lock;

	while (now_ns() < end) {
		if (!waits(dir, name, prog_id))
			return;
		usleep(POLL_US);
	}
	/* Without the lock after its bounded wait: leaving the program there would be worse. */
	lock = xsf_pins_lock(dir, &why);
	xsf_pins_about(dir, name, "about", &about);
	switch (waits(dir, name, prog_id)) {
	case 1:
		xsf_csum_undo(dir, about.ifindex);
		bpf_link_detach(link);
		xsf_pins_remove(dir, name);
		break;
	case 2:
		xsf_csum_undo(dir, about.ifindex);
		put_back(dir, name, link);
		break;
	}
	if (lock >= 0)
		close(lock);
}

void xsf_confirm_drop(const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (!xsf_pins_path(path, dir, name, "prog_before"))
		unlink(path);
	if (!xsf_pins_path(path, dir, name, "about_before"))
		unlink(path);
}

/* Is the attachment on the interface of that name, now or at load? */
static int is_on(const char *dir, const struct xsf_attachment *at, const struct xsf_ifs *ifs,
		 const char *ifname)
{
	const struct xsf_if *i = NULL;
	struct xsf_about about;
	uint32_t prog;

	if (xsf_link_ifindex(at->link, &prog) > 0)
		i = xsf_ifs_prog(ifs, prog);
	if (i)
		return !strcmp(i->name, ifname);
	return !xsf_pins_about(dir, at->name, "about", &about) && !strcmp(about.ifname, ifname);
}

static void keep(const char *dir, const struct xsf_attachment *at)
{
	int ifindex = xsf_link_ifindex(at->link, NULL);

	xsf_confirm_drop(dir, at->name);
	if (ifindex > 0)
		xsf_csum_keep(dir, (uint32_t)ifindex);
}

int xsf_confirm(const char *dir, const char *ifname, struct xsf_why *why)
{
	char(*names)[NAME_MAX + 1];
	struct xsf_ifs ifs;
	int nr, done = 0, err;

	err = xsf_ifs_get(&ifs);
	if (err)
		return xsf_because(why, err, "cannot list the interfaces: %s", xsf_errno_text(err));
	nr = xsf_pins_attachments(dir, &names);
	if (nr < 0)
		err = xsf_because(why, nr, "cannot read %s: %s%s", dir, xsf_errno_text(nr),
				  nr == -EACCES ? "; run as root" : "");
	for (int n = 0; n < nr && !err; n++) {
		struct xsf_attachment at;

		if (xsf_attachment_open(dir, names[n], &at))
			continue;
		if (at.waiting && (!ifname || is_on(dir, &at, &ifs, ifname))) {
			if (at.waiting == 1)
				err = xsf_pins_put(at.link, dir, names[n], "link");
			if (err)
				xsf_because(why, err, "cannot pin %s/%s/link: %s", dir, names[n],
					    xsf_errno_text(err));
			else
				keep(dir, &at);
			done++;
		}
		xsf_attachment_close(&at);
	}
	free(names);
	xsf_ifs_free(&ifs);
	return err ? err : done;
}
