// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/search.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct search {
	const char *name;
	int (*is)(const char *path, uint32_t id);
	uint32_t id;
	uint32_t left; /* entries that may still be looked at */
};

static int is_link(const char *path, uint32_t id)
{
	struct bpf_link_info info = { 0 };
	uint32_t len = sizeof(info);
	int fd = bpf_obj_get(path), is;

	if (fd < 0)
		return 0;
	/* Another kind of object fills the info with other things, or refuses. */
	is = !bpf_obj_get_info_by_fd(fd, &info, &len) && info.type == BPF_LINK_TYPE_XDP &&
	     info.id == id;
	close(fd);
	return is;
}

static int is_map(const char *path, uint32_t id)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);
	int fd = bpf_obj_get(path), is;

	if (fd < 0)
		return 0;
	is = !bpf_obj_get_info_by_fd(fd, &info, &len) && info.type == BPF_MAP_TYPE_ARRAY &&
	     info.id == id;
	close(fd);
	return is;
}

static int search_dir(struct search *s, const char *dir, int depth, char where[PATH_MAX])
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int found = 0;

	if (!d)
		return 0;
	while (!found && s->left && (e = readdir(d))) {
		char path[PATH_MAX];

		s->left--;
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= (int)sizeof(path))
			continue;
		if (e->d_type == DT_DIR) {
			found = depth < XSF_SEARCH_DEPTH && search_dir(s, path, depth + 1, where);
		} else if (!strcmp(e->d_name, s->name) && s->is(path, s->id)) {
			snprintf(where, PATH_MAX, "%s", dir);
			found = 1;
		}
	}
	closedir(d);
	return found;
}

static int search(struct search s, char where[PATH_MAX])
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	int found = 0;

	if (!mounts)
		return 0;
	while (!found && (m = getmntent(mounts))) {
		if (!strcmp(m->mnt_type, "bpf"))
			found = search_dir(&s, m->mnt_dir, 0, where);
	}
	endmntent(mounts);
	return found;
}

int xsf_search_link(uint32_t link_id, char where[PATH_MAX])
{
	return search(
		(struct search){
			.name = "link", .is = is_link, .id = link_id, .left = XSF_SEARCH_ENTRIES },
		where);
}

int xsf_search_map(const char *name, uint32_t map_id, char where[PATH_MAX])
{
	return search(
		(struct search){
			.name = name, .is = is_map, .id = map_id, .left = XSF_SEARCH_ENTRIES },
		where);
}
