// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/pins.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STRING_(x) #x
#define STRING(x) STRING_(x)

const char *xsf_pins_default(void)
{
	return XSF_BPFFS "/xdp-sflow/v" STRING(XSF_ABI);
}

int xsf_pins_path(char out[PATH_MAX], const char *dir, const char *a, const char *b)
{
	int len = snprintf(out, PATH_MAX, "%s/%s%s%s", dir, a, b ? "/" : "", b ? b : "");

	return len < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int xsf_pins_attachments(const char *dir, char (**names)[NAME_MAX + 1])
{
	char(*list)[NAME_MAX + 1];
	struct dirent *entry;
	int nr = 0;
	DIR *d;

	*names = NULL;
	d = opendir(dir);
	if (!d)
		return errno == ENOENT ? 0 : -errno;
	list = calloc(XSF_MAX_ATTACHMENTS, sizeof(*list));
	if (!list) {
		closedir(d);
		return -ENOMEM;
	}
	while (nr < XSF_MAX_ATTACHMENTS && (entry = readdir(d))) {
		if (!strncmp(entry->d_name, "if_", 3))
			snprintf(list[nr++], sizeof(*list), "%s", entry->d_name);
	}
	closedir(d);
	*names = list;
	return nr;
}

int xsf_pins_open_readonly(const char *dir, const char *a, const char *b)
{
	LIBBPF_OPTS(bpf_obj_get_opts, opts, .file_flags = BPF_F_RDONLY);
	char path[PATH_MAX];
	int fd, err;

	err = xsf_pins_path(path, dir, a, b);
	if (err)
		return err;
	fd = bpf_obj_get_opts(path, &opts);
	return fd < 0 ? -errno : fd;
}

int xsf_pins_about(const char *dir, const char *name, const char *file, struct xsf_about *about)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info), zero = 0;
	int fd, err = 0;

	fd = xsf_pins_open_readonly(dir, name, file);
	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		err = -errno;
	else if (info.key_size != sizeof(zero) || info.value_size != sizeof(*about))
		err = -EPROTO;
	else if (bpf_map_lookup_elem(fd, &zero, about))
		err = -errno;
	close(fd);
	return err;
}
