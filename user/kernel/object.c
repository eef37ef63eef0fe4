// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/object.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kernel/layout.h"
#include "kernel/pins.h"
#include "kernel/programs.h"
/* After the types of the configuration. */
#include "xdp_sflow.skel.h"

static uint32_t rows_per_group(const char *map)
{
	if (!strcmp(map, "xsf_ops"))
		return XSF_DIRECTIONS * XSF_CARRIERS;
	return !strcmp(map, "xsf_tos") || !strcmp(map, "xsf_rdma") || !strcmp(map, "xsf_timeline") ?
		       XSF_DIRECTIONS :
		       0;
}

static void layout_of(const struct bpf_map *map, struct xsf_layout *layout)
{
	layout->type = bpf_map__type(map);
	layout->key_size = bpf_map__key_size(map);
	layout->value_size = bpf_map__value_size(map);
	layout->entries = bpf_map__max_entries(map);
	layout->flags = bpf_map__map_flags(map);
	layout->rows_per_group = rows_per_group(bpf_map__name(map));
}

int xsf_pinned_check(struct bpf_object *obj, uint32_t *groups, struct xsf_why *why)
{
	struct bpf_map *map;

	*groups = 0;
	bpf_object__for_each_map(map, obj)
	{
		const char *path = bpf_map__pin_path(map);
		struct xsf_layout layout;
		uint32_t entries;
		int fd, err;

		if (!path)
			continue;
		fd = bpf_obj_get(path);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return xsf_because(why, -errno, "cannot open the pinned map %s: %s%s", path,
					   strerror(errno),
					   errno == EPERM || errno == EACCES ? "; run as root" :
									       "");
		layout_of(map, &layout);
		err = xsf_layout_check(fd, path, &layout, NULL, &entries, why);
		close(fd);
		if (err)
			return err;
		if (layout.rows_per_group && !*groups)
			*groups = entries / layout.rows_per_group;
		else if (layout.rows_per_group && *groups != entries / layout.rows_per_group)
			return xsf_because(
				why, -EPROTO,
				"the maps pinned beside %s are of another number of fabrics; "
				"remove "
				"them and their counts with: xdp-sflow unload --all --purge",
				path);
	}
	return 0;
}

static int set_groups(struct xsf_object *obj, const struct xsf_load_options *o, struct xsf_why *why)
{
	uint32_t asked = o->fabrics ? 1 + 2 * o->fabrics : 0, groups;
	struct bpf_map *map;
	int err;

	err = xsf_pinned_check(obj->skel->obj, &groups, why);
	if (err)
		return err;
	if (groups && asked && groups != asked)
		return xsf_because(
			why, -EPROTO,
			"the maps pinned in %s have room for %u fabrics, not %u; leave --fabrics "
			"out, "
			"or remove them and their counts with: xdp-sflow unload --all --purge",
			o->dir, (groups - 1) / 2, o->fabrics);
	if (!groups)
		groups = asked ? asked : XSF_GROUPS;
	bpf_object__for_each_map(map, obj->skel->obj)
	{
		uint32_t rows = rows_per_group(bpf_map__name(map));

		err = rows ? bpf_map__set_max_entries(map, rows * groups) : 0;
		if (err)
			return xsf_because(why, err, "cannot size the map %s: %s",
					   bpf_map__name(map), xsf_errno_text(err));
	}
	obj->config.groups = groups;
	return 0;
}

int xsf_object_open(struct xsf_object *obj, const struct xsf_load_options *o, int frags,
		    struct xsf_why *why)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .pin_root_path = o->dir);
	int err;

	memset(obj, 0, sizeof(*obj));
	xsf_log_clear();
	obj->skel = xdp_sflow__open_opts(&opts);
	if (!obj->skel)
		return xsf_because(why, -errno, "cannot open the BPF object: %s",
				   xsf_log_first()[0] ? xsf_log_first() : strerror(errno));
	obj->frags = frags;
	obj->prog = frags ? obj->skel->progs.xsf_xdp_frags : obj->skel->progs.xsf_xdp;
	bpf_program__set_autoload(frags ? obj->skel->progs.xsf_xdp : obj->skel->progs.xsf_xdp_frags,
				  false);

	memcpy(&obj->config, (const void *)&obj->skel->rodata->xsf_config, sizeof(obj->config));
	obj->config.flags = o->flags;
	if (o->stale_ns)
		obj->config.stale_ns = o->stale_ns;
	if (o->has_ports)
		memcpy(obj->config.ports, o->ports, sizeof(obj->config.ports));
	err = set_groups(obj, o, why);
	if (err) {
		xsf_object_close(obj);
		return err;
	}
	memcpy((void *)&obj->skel->rodata->xsf_config, &obj->config, sizeof(obj->config));
	if (o->trimmed_dscps)
		memcpy((void *)&obj->skel->rodata->xsf_trimmed_dscps, &o->trimmed_dscps,
		       sizeof(o->trimmed_dscps));
	return 0;
}

int xsf_object_load(struct xsf_object *obj, const struct xsf_load_options *o, struct xsf_why *why)
{
	int err;

	xsf_log_clear();
	err = xdp_sflow__load(obj->skel);
	if (!err)
		return 0;
	if (err == -EPERM || err == -EACCES)
		return xsf_because(
			why, err,
			"no right to load BPF programs and maps: %s; run as root (or with CAP_BPF, "
			"CAP_NET_ADMIN, CAP_PERFMON and CAP_SYS_ADMIN)",
			xsf_errno_text(err));
	if (err == -ENOMEM || err == -E2BIG || err == -ENOSPC)
		return xsf_because(
			why, err,
			"cannot load the program: %s (%s); fewer --fabrics, a larger memory limit "
			"of the cgroup, or on kernels before 5.11: ulimit -l unlimited",
			xsf_errno_text(err), xsf_log_first());
	return xsf_because(why, err, "cannot load the program with the maps in %s: %s (%s)", o->dir,
			   xsf_errno_text(err), xsf_log_first());
}

int xsf_object_permit(struct xsf_object *obj, struct xsf_why *why)
{
	return xsf_pinned_permit(obj->skel->obj, why);
}

int xsf_pinned_permit(struct bpf_object *obj, struct xsf_why *why)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
	{
		const char *path = bpf_map__pin_path(map);
		int err = path ? xsf_pins_permit(path, 0) : 0;

		if (err)
			return xsf_because(why, err, "cannot set group and mode of %s: %s", path,
					   xsf_errno_text(err));
	}
	return 0;
}

struct bpf_object *xsf_object_bpf(struct xsf_object *obj)
{
	return obj->skel->obj;
}

int xsf_object_map(struct xsf_object *obj, const char *name)
{
	return bpf_object__find_map_fd_by_name(obj->skel->obj, name);
}

void xsf_object_close(struct xsf_object *obj)
{
	xdp_sflow__destroy(obj->skel);
	memset(obj, 0, sizeof(*obj));
}

int xsf_object_pinned(const char *dir, struct xsf_why *why)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .pin_root_path = dir);
	struct xdp_sflow *skel = xdp_sflow__open_opts(&opts);
	struct bpf_map *map;
	int found = 0;

	if (!skel)
		return xsf_because(why, -errno, "cannot open the BPF object: %s", strerror(errno));
	bpf_object__for_each_map(map, skel->obj)
	{
		const char *path = bpf_map__pin_path(map);

		found |= path && !access(path, F_OK);
	}
	xdp_sflow__destroy(skel);
	return found;
}

/* Id of a pinned map, 0 when nothing is pinned there, or negative errno. */
static int64_t pinned_id(const char *path)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int64_t id;
	int fd;

	fd = bpf_obj_get(path);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	id = bpf_obj_get_info_by_fd(fd, &info, &len) ? -errno : (int64_t)info.id;
	close(fd);
	return id;
}

/* By the name that the kernel has, which it cut. */
static const struct bpf_map *find_map(const struct bpf_object *obj, const char *name)
{
	const struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
	{
		if (!strncmp(bpf_map__name(map), name, BPF_OBJ_NAME_LEN - 1))
			return map;
	}
	return NULL;
}

/* One map of a running program. pin = 0: only compare; 1: pin what has no pin. */
static int adopt_map(struct bpf_object *obj, uint32_t id, int pin, unsigned int *nr_pinned,
		     struct xsf_why *why)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	const struct bpf_map *map;
	struct xsf_layout layout;
	const char *path;
	int64_t there;
	int fd, err = 0;

	fd = bpf_map_get_fd_by_id(id);
	if (fd < 0)
		return xsf_because(why, -errno, "cannot open map %u of the attached program: %s",
				   id, strerror(errno));
	if (bpf_obj_get_info_by_fd(fd, &info, &len)) {
		err = xsf_because(why, -errno, "cannot ask about map %u: %s", id, strerror(errno));
		goto out;
	}
	map = find_map(obj, info.name);
	path = map ? bpf_map__pin_path(map) : NULL;
	if (!path)
		goto out;
	there = pinned_id(path);
	if (there < 0) {
		err = xsf_because(why, (int)there, "cannot open the pin %s: %s", path,
				  xsf_errno_text((int)there));
		goto out;
	}
	if (there) {
		if (there != id)
			err = xsf_because(why, -EXDEV,
					  "map %s (id %u) of the attached program is not the one "
					  "pinned at %s (id %u)",
					  info.name, id, path, (unsigned int)there);
		goto out;
	}
	layout_of(map, &layout);
	err = xsf_layout_check(fd, path, &layout, NULL, NULL, why);
	if (err || !pin)
		goto out;
	err = bpf_obj_pin(fd, path) ? -errno : xsf_pins_permit(path, 0);
	if (err)
		xsf_because(why, err, "cannot pin %s: %s", path, xsf_errno_text(err));
	else
		(*nr_pinned)++;
out:
	close(fd);
	return err;
}

int xsf_pinned_adopt(struct bpf_object *obj, int prog_fd, int pin, unsigned int *nr_pinned,
		     struct xsf_why *why)
{
	struct xsf_prog_info prog;
	int err;

	*nr_pinned = 0;
	err = xsf_prog_info(prog_fd, &prog);
	if (err)
		return xsf_because(why, err, "cannot ask about the attached program: %s",
				   xsf_errno_text(err));
	/* All are compared before the first is pinned. */
	for (int pass = 0; pass <= !!pin && !err; pass++) {
		for (uint32_t n = 0; n < prog.nr_maps && !err; n++)
			err = adopt_map(obj, prog.maps[n], pass, nr_pinned, why);
	}
	return err;
}

int xsf_object_adopt(const char *dir, int prog_fd, int pin, unsigned int *nr_pinned,
		     struct xsf_why *why)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .pin_root_path = dir);
	struct xdp_sflow *skel;
	int err;

	skel = xdp_sflow__open_opts(&opts);
	if (!skel)
		return xsf_because(why, -errno, "cannot open the BPF object: %s", strerror(errno));
	err = xsf_pinned_adopt(skel->obj, prog_fd, pin, nr_pinned, why);
	xdp_sflow__destroy(skel);
	return err;
}
