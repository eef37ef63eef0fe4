// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/layout.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void differs(char *text, size_t size, const char *what, uint32_t is, uint32_t want)
{
	size_t len = strlen(text);

	if (is != want && len < size)
		snprintf(text + len, size - len, "%s%s %u, wanted %u", len ? "; " : "", what, is,
			 want);
}

static int groups_fit(uint32_t entries, uint32_t rows)
{
	uint32_t groups = entries / rows;

	return entries % rows == 0 && groups >= 3 && groups % 2 == 1;
}

int xsf_layout_check(int fd, const char *path, const struct xsf_layout *want, uint32_t *id,
		     uint32_t *entries, struct xsf_why *why)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	char text[384] = "";

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return xsf_because(why, -errno, "cannot ask about the pinned map %s: %s", path,
				   strerror(errno));
	differs(text, sizeof(text), "map type", info.type, want->type);
	differs(text, sizeof(text), "key bytes", info.key_size, want->key_size);
	differs(text, sizeof(text), "value bytes", info.value_size, want->value_size);
	differs(text, sizeof(text), "map flags", info.map_flags, want->flags);
	if (!want->rows_per_group || !groups_fit(info.max_entries, want->rows_per_group))
		differs(text, sizeof(text), "entries", info.max_entries, want->entries);
	if (text[0])
		return xsf_because(
			why, -EPROTO,
			"pin %s is a map of another layout: %s; use the version of xdp-sflow that "
			"made "
			"it, or remove it and its counts with: xdp-sflow unload --all --purge",
			path, text);
	if (id)
		*id = info.id;
	if (entries)
		*entries = info.max_entries;
	return 0;
}
