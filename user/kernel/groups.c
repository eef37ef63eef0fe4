// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/groups.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/layout.h"
#include "kernel/pins.h"

struct xsf_groups {
	struct xsf_group *table; /* XSF_SOURCES */
	uint64_t *put;		 /* what was put there last */
};

_Static_assert(sizeof(struct xsf_group) == sizeof(uint64_t), "is written in one piece");

#define TABLE_LEN (XSF_SOURCES * sizeof(struct xsf_group))

int xsf_groups_open(const char *dir, struct xsf_groups **out, char *text, size_t text_len)
{
	const struct xsf_layout layout = { BPF_MAP_TYPE_ARRAY,	     sizeof(uint32_t),
					   sizeof(struct xsf_group), XSF_SOURCES,
					   BPF_F_MMAPABLE,	     0 };
	struct xsf_groups *groups = NULL;
	struct xsf_why why = { "" };
	char path[PATH_MAX];
	void *table;
	int fd = -1, err;

	*out = NULL;
	err = xsf_pins_path(path, dir ? dir : xsf_pins_default(), "xsf_groups", NULL);
	if (err) {
		xsf_because(&why, err, "directory name too long");
		goto out;
	}
	fd = bpf_obj_get(path);
	if (fd < 0) {
		err = -errno;
		xsf_because(&why, err, "cannot open the pinned map %s for writing: %s", path,
			    xsf_errno_text(err));
		goto out;
	}
	err = xsf_layout_check(fd, path, &layout, NULL, NULL, &why);
	if (err)
		goto out;
	groups = calloc(1, sizeof(*groups));
	if (groups)
		groups->put = calloc(XSF_SOURCES, sizeof(*groups->put));
	table = mmap(NULL, TABLE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!groups || !groups->put || table == MAP_FAILED) {
		err = table == MAP_FAILED ? -errno : -ENOMEM;
		xsf_because(&why, err, "cannot map %s into memory: %s", path, xsf_errno_text(err));
		if (table != MAP_FAILED)
			munmap(table, TABLE_LEN);
		if (groups)
			free(groups->put);
		free(groups);
		goto out;
	}
	groups->table = table;
	*out = groups;
out:
	if (fd >= 0)
		close(fd);
	if (err)
		snprintf(text, text_len, "%s", why.text);
	return err;
}

void xsf_groups_close(struct xsf_groups *groups)
{
	if (!groups)
		return;
	munmap(groups->table, TABLE_LEN);
	free(groups->put);
	free(groups);
}

int xsf_groups_put(struct xsf_groups *groups, uint32_t slot, uint32_t generation, uint8_t group)
{
	const struct xsf_group value = { .generation = generation, .group = group };
	uint64_t word, was;
	int again;

	memcpy(&word, &value, sizeof(word));
	again = generation && groups->put[slot] == word;
	groups->put[slot] = word;
	/* Never half of it, and never torn: a program may read at any time. */
	was = __atomic_exchange_n((uint64_t *)(void *)&groups->table[slot], word, __ATOMIC_RELEASE);
	return again && was != word;
}
