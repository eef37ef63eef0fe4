// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/share.h"

#include <errno.h>
#include <linux/if_link.h>
#include <string.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "kernel/pins.h"

/* Programs of one dispatcher: libxdp's own bound is 10. */
#define MAX_PROGRAMS 64

/* libxdp's pointers may be an errno in disguise. */
static int bad(const void *p)
{
	return !p || libxdp_get_error(p);
}

static struct xdp_program *find(struct xdp_multiprog *mp, uint32_t prog_id)
{
	struct xdp_program *prog = NULL;

	if (xdp_multiprog__is_legacy(mp)) {
		prog = xdp_multiprog__main_prog(mp);
		return prog && xdp_program__id(prog) == prog_id ? prog : NULL;
	}
	for (int n = 0; n < MAX_PROGRAMS; n++) {
		prog = xdp_multiprog__next_prog(prog, mp);
		if (!prog || xdp_program__id(prog) == prog_id)
			return prog;
	}
	return NULL;
}

int xsf_share_holds(uint32_t ifindex, uint32_t prog_id)
{
	struct xdp_multiprog *mp = xdp_multiprog__get_from_ifindex((int)ifindex);
	int held;

	if (bad(mp))
		return 0;
	held = find(mp, prog_id) != NULL;
	xdp_multiprog__close(mp);
	return held;
}

int xsf_share_attach(const struct xsf_if *i, struct xsf_object *obj, int generic, int *alone,
		     struct xsf_why *why)
{
	struct xdp_program *prog;
	struct xdp_multiprog *mp;
	int err;

	*alone = 0;
	xsf_log_clear();
	prog = xdp_program__from_bpf_obj(xsf_object_bpf(obj), bpf_program__section_name(obj->prog));
	err = prog ? (int)libxdp_get_error(prog) : -ENOMEM;
	if (err)
		return xsf_because(why, err, "%s: libxdp cannot use the program: %s", i->name,
				   xsf_errno_text(err));
	err = xdp_program__attach(prog, (int)i->ifindex, generic ? XDP_MODE_SKB : XDP_MODE_NATIVE,
				  0);
	if (err) {
		xsf_because(why, err,
			    "%s: libxdp could not attach beside what is there: %s (%s); remove the "
			    "other "
			    "program and load without --share",
			    i->name, xsf_errno_text(err),
			    xsf_log_kernel_word()[0] ? xsf_log_kernel_word() : xsf_log_first());
		goto out;
	}
	mp = xdp_multiprog__get_from_ifindex((int)i->ifindex);
	if (!bad(mp)) {
		*alone = xdp_multiprog__is_legacy(mp);
		xdp_multiprog__close(mp);
	}
out:
	xdp_program__close(prog);
	return err;
}

int xsf_share_detach(const struct xsf_if *i, uint32_t prog_id, struct xsf_why *why)
{
	struct xdp_multiprog *mp = xdp_multiprog__get_from_ifindex((int)i->ifindex);
	struct xdp_program *prog;
	int err = -ENOENT;

	xsf_log_clear();
	if (!bad(mp)) {
		prog = find(mp, prog_id);
		if (prog)
			err = xdp_program__detach(prog, (int)i->ifindex,
						  xdp_multiprog__attach_mode(mp), 0);
		xdp_multiprog__close(mp);
	}
	/* libxdp makes its directory for each attachment and leaves it; others' pins keep it. */
	rmdir(XSF_BPFFS "/xdp");
	if (err)
		return xsf_because(why, err, "%s: libxdp could not detach program %u: %s (%s)",
				   i->name, prog_id, xsf_errno_text(err), xsf_log_first());
	return 0;
}
