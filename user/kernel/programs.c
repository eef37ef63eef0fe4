// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int xsf_prog_info(int fd, struct xsf_prog_info *out)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	memset(out, 0, sizeof(*out));
	info.nr_map_ids = XSF_PROG_MAPS;
	info.map_ids = (__u64)(unsigned long)out->maps;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	out->id = info.id;
	snprintf(out->name, sizeof(out->name), "%s", info.name);
	out->nr_maps = info.nr_map_ids < XSF_PROG_MAPS ? info.nr_map_ids : XSF_PROG_MAPS;
	out->run_time_ns = info.run_time_ns;
	out->run_count = info.run_cnt;
	return 0;
}

int xsf_prog_is_ours(const struct xsf_prog_info *info)
{
	return !strcmp(info->name, XSF_PROG_NAME) || !strcmp(info->name, XSF_PROG_NAME "_frags");
}

int xsf_prog_uses_map(const struct xsf_prog_info *info, uint32_t map_id)
{
	for (uint32_t n = 0; n < info->nr_maps; n++) {
		if (info->maps[n] == map_id)
			return 1;
	}
	return 0;
}

/* Offset of xsf_config in a .rodata map, from its BTF. Negative when it is not there. */
static int config_offset(uint32_t btf_id)
{
	struct btf *btf = btf__load_from_kernel_by_id(btf_id);
	int id, off = -ENOENT;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);
	if (id > 0) {
		const struct btf_type *section = btf__type_by_id(btf, (__u32)id);
		const struct btf_var_secinfo *var = btf_var_secinfos(section);

		for (int n = 0; n < btf_vlen(section); n++, var++) {
			const struct btf_type *t = btf__type_by_id(btf, var->type);

			if (!strcmp(btf__name_by_offset(btf, t->name_off), "xsf_config") &&
			    var->size == sizeof(struct xsf_config))
				off = (int)var->offset;
		}
	}
	btf__free(btf);
	return off;
}

static int read_config(int fd, const struct bpf_map_info *info, struct xsf_config *config)
{
	int off = config_offset(info->btf_id), err = 0;
	__u32 zero = 0;
	uint8_t *value;

	if (off < 0)
		return off;
	if ((size_t)off + sizeof(*config) > info->value_size)
		return -EPROTO;
	value = malloc(info->value_size);
	if (!value)
		return -ENOMEM;
	if (bpf_map_lookup_elem(fd, &zero, value))
		err = -errno;
	else
		memcpy(config, value + off, sizeof(*config));
	free(value);
	return err;
}

int xsf_prog_config(const struct xsf_prog_info *prog, struct xsf_config *config)
{
	int err = -ENOENT;

	for (uint32_t n = 0; n < prog->nr_maps && err; n++) {
		struct bpf_map_info info = {};
		__u32 len = sizeof(info);
		int fd = bpf_map_get_fd_by_id(prog->maps[n]);

		if (fd < 0)
			return -errno;
		/* libbpf names it after the object: "xdp_sflo.rodata". */
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && info.btf_id &&
		    info.type == BPF_MAP_TYPE_ARRAY && strstr(info.name, ".rodata"))
			err = read_config(fd, &info, config);
		close(fd);
	}
	return err;
}

static void describe(struct xsf_attached *a, const struct xsf_config *config)
{
	snprintf(a->verdict, sizeof(a->verdict), "%s",
		 config->flags & XSF_F_CONSUME ? "consume" : "pass");
	memcpy(a->ports, config->ports, sizeof(a->ports));
}

static void place(struct xsf_attached *a, const struct xsf_if *i)
{
	snprintf(a->ifname, sizeof(a->ifname), "%s", i->name);
	snprintf(a->mode, sizeof(a->mode), "%s", xsf_xdp_mode_name(i->xdp_mode));
	a->ifindex = i->ifindex;
}

/* The interface a pinned link is on, seen from the link's own namespace; 0 when it is gone. -EACCES for
 * readers without the right to open links, -ENOENT when no link is pinned. */
static int link_ifindex(const char *dir, const char *name)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	char path[PATH_MAX];
	int fd, ret;

	ret = xsf_pins_path(path, dir, name, "link");
	if (ret)
		return ret;
	fd = bpf_obj_get(path);
	if (fd < 0)
		return -errno;
	ret = bpf_obj_get_info_by_fd(fd, &info, &len) ? -errno : (int)info.xdp.ifindex;
	close(fd);
	return ret;
}

static int is_pinned(const char *dir, const char *name, const char *file)
{
	char path[PATH_MAX];

	return !xsf_pins_path(path, dir, name, file) && !access(path, F_OK);
}

/* One if_* directory. 1 = attached, 0 = not (any more), or negative errno. */
static int pinned(const char *dir, const char *name, const struct xsf_ifs *ifs,
		  struct xsf_attached *a, struct xsf_config *config)
{
	const struct xsf_if *i;
	struct xsf_prog_info prog;
	struct xsf_about about;
	int fd, err, link;

	fd = xsf_pins_open_readonly(dir, name, "prog");
	if (fd < 0)
		return fd;
	err = xsf_prog_info(fd, &prog);
	close(fd);
	if (!err)
		err = xsf_pins_about(dir, name, "about", &about);
	if (err)
		return err;
	memset(a, 0, sizeof(*a));
	a->prog_id = prog.id;
	a->run_time_ns = prog.run_time_ns;
	a->run_count = prog.run_count;
	a->frags = about.frags;
	*config = about.config;
	describe(a, config);
	snprintf(a->how, sizeof(a->how), "%s", about.how == XSF_HOW_LIBXDP ? "libxdp" : "link");

	link = link_ifindex(dir, name);
	i = xsf_ifs_prog(ifs, prog.id);
	if (about.how == XSF_HOW_LINK && (link == -ENOENT || is_pinned(dir, name, "prog_before")))
		snprintf(a->how, sizeof(a->how), "unconfirmed");
	/* Beside other programs what the interface names is libxdp's dispatcher. */
	if (!i && about.how == XSF_HOW_LIBXDP) {
		i = xsf_ifs_index(ifs, about.ifindex);
		if (i && !i->xdp_prog)
			i = NULL;
	}
	if (i) {
		place(a, i);
		return 1;
	}
	if (link <= 0)
		return 0;
	/* In another network namespace. */
	snprintf(a->ifname, sizeof(a->ifname), "%s", about.ifname);
	snprintf(a->mode, sizeof(a->mode), "%s", about.generic ? "generic" : "native");
	a->ifindex = (uint32_t)link;
	return 1;
}

/* A program on an interface that no pin speaks of. */
static int external(const struct xsf_if *i, uint32_t totals_id, struct xsf_attached *a,
		    struct xsf_config *config)
{
	struct xsf_prog_info prog;
	int fd, err;

	fd = bpf_prog_get_fd_by_id(i->xdp_prog);
	if (fd < 0)
		return -errno;
	err = xsf_prog_info(fd, &prog);
	close(fd);
	if (err)
		return err;
	if (!xsf_prog_is_ours(&prog) || !xsf_prog_uses_map(&prog, totals_id))
		return 0;
	memset(a, 0, sizeof(*a));
	place(a, i);
	a->prog_id = prog.id;
	a->run_time_ns = prog.run_time_ns;
	a->run_count = prog.run_count;
	a->frags = !!strstr(prog.name, "_frags");
	snprintf(a->how, sizeof(a->how), "external");
	if (!xsf_prog_config(&prog, config))
		describe(a, config);
	return 1;
}

int xsf_programs_attached(const char *dir, uint32_t totals_id, struct xsf_attached *out,
			  unsigned int max, uint64_t *stale_ns)
{
	char(*names)[NAME_MAX + 1] = NULL;
	struct xsf_config config;
	struct xsf_ifs ifs = {};
	unsigned int nr = 0;
	uint64_t stale = 0;
	int nr_names, err;

	err = xsf_ifs_get(&ifs);
	if (err)
		return err;
	nr_names = xsf_pins_attachments(dir, &names);
	for (int n = 0; n < nr_names && nr < max; n++) {
		if (pinned(dir, names[n], &ifs, &out[nr], &config) != 1)
			continue;
		nr++;
		stale = config.stale_ns > stale ? config.stale_ns : stale;
	}
	for (uint32_t n = 0; n < ifs.nr && nr < max; n++) {
		unsigned int known = 0;

		while (known < nr && out[known].prog_id != ifs.row[n].xdp_prog)
			known++;
		memset(&config, 0, sizeof(config));
		if (!ifs.row[n].xdp_prog || known < nr ||
		    external(&ifs.row[n], totals_id, &out[nr], &config) != 1)
			continue;
		nr++;
		stale = config.stale_ns > stale ? config.stale_ns : stale;
	}
	if (stale)
		*stale_ns = stale;
	free(names);
	xsf_ifs_free(&ifs);
	return (int)nr;
}
