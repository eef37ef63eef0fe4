// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/events.h"
#include "kernel/load.h"
#include "kernel/object.h"
#include "kernel/share.h"

static int cannot_detach(const char *ifname, int err, struct xsf_why *why)
{
	return xsf_because(why, err, "%s: cannot detach the program: %s%s", ifname,
			   xsf_errno_text(err), err == -EPERM ? "; run as root" : "");
}

static int cannot_remove(const char *dir, const char *name, int err, struct xsf_why *why)
{
	return xsf_because(why, err, "cannot remove the pins %s/%s: %s", dir, name,
			   xsf_errno_text(err));
}

/* Takes off what xsf_place_look found. */
static int take_off(const char *dir, const struct xsf_if *i, struct xsf_place *place,
		    struct xsf_why *why)
{
	int err;

	if (place->occupant == XSF_OURS_LIBXDP) {
		err = xsf_share_detach(i, place->prog.id, why);
		if (err)
			return err;
	} else if (bpf_link_detach(place->at.link)) {
		return cannot_detach(i->name, -errno, why);
	}
	err = place->at.name[0] ? xsf_pins_remove(dir, place->at.name) : 0;
	return err ? cannot_remove(dir, place->at.name, err, why) : 0;
}

/* The interface has gone, or has another name now, or is in another namespace. 1 = pins that were left over
 * have been removed, 0 = nothing of that name, or negative errno. */
static int unload_left_over(const char *dir, const char *ifname, const struct xsf_ifs *ifs,
			    struct xsf_why *why)
{
	char(*names)[NAME_MAX + 1];
	int nr, done = 0, err = 0;

	nr = xsf_pins_attachments(dir, &names);
	for (int n = 0; n < nr && !err; n++) {
		const struct xsf_if *now;
		struct xsf_attachment at;
		struct xsf_about about;
		uint32_t prog;
		int on;

		if (xsf_pins_about(dir, names[n], "about", &about) ||
		    strcmp(about.ifname, ifname) || xsf_attachment_open(dir, names[n], &at))
			continue;
		on = at.link >= 0 ? xsf_link_ifindex(at.link, &prog) : 0;
		xsf_attachment_close(&at);
		if (on > 0) {
			now = xsf_ifs_prog(ifs, prog);
			err = now ? xsf_because(why, -ENOENT,
						"%s is called %s now: xdp-sflow unload %s", ifname,
						now->name, now->name) :
				    xsf_because(why, -ENOENT,
						"%s is in another network namespace: run the "
						"command there "
						"(nsenter --net=/run/netns/NAME), or unload --all",
						ifname);
			continue;
		}
		err = xsf_pins_remove(dir, names[n]);
		if (err)
			cannot_remove(dir, names[n], err, why);
		else
			done = 1;
	}
	free(names);
	return err ? err : done;
}

int xsf_unload(const char *dir, const char *ifname, struct xsf_why *why)
{
	struct xsf_place place = { .prog_fd = -1, .at.link = -1 };
	const struct xsf_if *i;
	struct xsf_ifs ifs;
	int err, csum;

	err = xsf_ifs_get(&ifs);
	if (err)
		return xsf_because(why, err, "cannot list the interfaces: %s", xsf_errno_text(err));
	i = xsf_ifs_name(&ifs, ifname);
	err = i ? xsf_place_look(dir, i, &place, why) : 0;
	if (err)
		goto out;
	if (place.occupant == XSF_OURS || place.occupant == XSF_OURS_LIBXDP) {
		err = xsf_place_elsewhere(&place, i, why);
		if (!err)
			err = take_off(dir, i, &place, why);
		if (!err)
			err = xsf_csum_unload(dir, i, 0, why);
		err = err > 0 ? 0 : err;
		goto out;
	}
	csum = i ? xsf_csum_unload(dir, i, 0, why) : 0;
	if (csum < 0) {
		err = csum;
		goto out;
	}
	xsf_csum_tidy(dir);
	err = unload_left_over(dir, ifname, &ifs, why);
	if (err) {
		err = err > 0 ? 0 : err;
	} else if (csum) {
		err = 0;
	} else if (place.occupant == XSF_OURS_BARE) {
		xsf_place_refuse(&place, i, why);
		err = -ENOENT;
	} else {
		err = xsf_because(why, -ENOENT, "%s %s; 'xdp-sflow status' lists what is attached",
				  ifname,
				  i ? "has no program that xdp-sflow attached" :
				      "is no interface of this network namespace");
	}
out:
	xsf_place_close(&place);
	xsf_ifs_free(&ifs);
	return err;
}

/* One if_* directory, wherever its interface is. */
static int unload_pinned(const char *dir, const char *name, const struct xsf_ifs *ifs,
			 struct xsf_why *why)
{
	struct xsf_attachment at;
	struct xsf_about about;
	const struct xsf_if *i;
	int err;

	err = xsf_attachment_open(dir, name, &at);
	if (err)
		return cannot_detach(name, err, why);
	if (at.link >= 0 && bpf_link_detach(at.link))
		err = cannot_detach(name, -errno, why);
	xsf_attachment_close(&at);
	if (!err && at.how == XSF_HOW_LIBXDP && !xsf_pins_about(dir, name, "about", &about)) {
		i = xsf_ifs_index(ifs, about.ifindex);
		if (i && xsf_share_holds(i->ifindex, about.prog_id))
			err = xsf_share_detach(i, about.prog_id, why);
	}
	if (err)
		return err;
	err = xsf_pins_remove(dir, name);
	return err ? cannot_remove(dir, name, err, why) : 0;
}

/* Programs of ours in this namespace whose pins are lost, when they count into the maps of `dir`, or when
 * there are none to tell. */
static int unload_lost(const char *dir, const struct xsf_if *i, struct xsf_why *why)
{
	struct xsf_place place;
	struct xsf_why other;
	unsigned int nr;
	int err;

	if (!i->xdp_prog || xsf_place_look(dir, i, &place, &other))
		return 0;
	err = 0;
	if (place.occupant == XSF_OURS && !place.at.name[0] && !place.elsewhere[0] &&
	    !xsf_object_adopt(dir, place.prog_fd, 0, &nr, &other)) {
		err = take_off(dir, i, &place, why);
		if (!err)
			err = 1;
	}
	xsf_place_close(&place);
	return err;
}

int xsf_unload_all(const char *dir, struct xsf_why *why)
{
	char(*names)[NAME_MAX + 1];
	struct xsf_ifs ifs;
	int nr, err, csum, done = 0;
	struct xsf_why of_csum = { .text = "" };

	err = xsf_ifs_get(&ifs);
	if (err)
		return xsf_because(why, err, "cannot list the interfaces: %s", xsf_errno_text(err));
	nr = xsf_pins_attachments(dir, &names);
	if (nr < 0)
		err = xsf_because(why, nr, "cannot read %s: %s%s", dir, xsf_errno_text(nr),
				  nr == -EACCES ? "; run as root" : "");
	/* One that cannot be taken off keeps none of the others there; the last refusal is told. */
	for (int n = 0; n < nr; n++) {
		int one = unload_pinned(dir, names[n], &ifs, why);

		if (one)
			err = one;
		else
			done++;
	}
	for (uint32_t n = 0; n < ifs.nr && nr >= 0; n++) {
		int one = unload_lost(dir, &ifs.row[n], why);

		if (one < 0)
			err = one;
		else
			done += one;
	}
	free(names);
	csum = nr < 0 ? 0 : xsf_csum_unload_all(dir, &ifs, &of_csum);
	if (csum < 0)
		err = csum;
	if (csum < 0 || !err)
		*why = of_csum;
	/* An interface has both, or only the one that is left. */
	done = csum > done ? csum : done;
	xsf_ifs_free(&ifs);
	return err ? err : done;
}

int xsf_loaded(const char *dir)
{
	char(*names)[NAME_MAX + 1];
	int nr, csum;

	xsf_attachments_tidy(dir);
	xsf_events_clean(dir);
	nr = xsf_pins_attachments(dir, &names);
	free(names);
	csum = xsf_csum_loaded(dir);
	return csum > nr ? csum : nr;
}
