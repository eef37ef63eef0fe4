// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/policy.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/net.h"
#include "kernel/pins.h"

/* The largest of the two keys. */
#define MAX_KEY sizeof(struct xsf_prefix_key)

/* Removes all keys of a map of at most `max` that are not among `keep`. Collected first: removing while
 * walking starts a walk anew. Returns how many, or negative errno. */
static int remove_others(int fd, const void *keep, uint32_t nr_keep, size_t size, uint32_t max)
{
	uint8_t key[MAX_KEY], next[MAX_KEY], *others;
	const uint8_t *known = keep;
	uint32_t nr = 0, steps, n;
	int err = 0;

	others = calloc(max, size);
	if (!others)
		return -ENOMEM;
	for (steps = 0; steps < 2 * max && nr < max; steps++) {
		if (bpf_map_get_next_key(fd, steps ? key : NULL, next))
			break;
		memcpy(key, next, size);
		for (n = 0; n < nr_keep && memcmp(known + n * size, key, size); n++)
			;
		if (n == nr_keep)
			memcpy(others + size * nr++, key, size);
	}
	for (n = 0; n < nr && !err; n++) {
		if (bpf_map_delete_elem(fd, others + size * n) && errno != ENOENT)
			err = -errno;
	}
	free(others);
	return err ? err : (int)nr;
}

struct addresses {
	uint8_t row[XSF_LOCAL_ADDRS][16];
	uint32_t nr;
};

static int add_address(void *arg, const uint8_t addr[16])
{
	struct addresses *a = arg;

	for (uint32_t n = 0; n < a->nr; n++) {
		if (!memcmp(a->row[n], addr, 16))
			return 0;
	}
	if (a->nr >= XSF_LOCAL_ADDRS)
		return -E2BIG;
	memcpy(a->row[a->nr++], addr, 16);
	return 0;
}

int xsf_local_sync(int map_fd, struct xsf_why *why)
{
	struct addresses *a = calloc(1, sizeof(*a));
	__u8 one = 1, was;
	int err, changed = 0;

	if (!a)
		return xsf_because(why, -ENOMEM, "%s", strerror(ENOMEM));
	err = xsf_addresses_each(add_address, a);
	if (err == -E2BIG) {
		xsf_because(why, err,
			    "this host has more than %d addresses, the bound of consume mode; load "
			    "without "
			    "--consume",
			    XSF_LOCAL_ADDRS);
		goto out;
	}
	if (err) {
		xsf_because(why, err, "cannot read this host's addresses: %s", xsf_errno_text(err));
		goto out;
	}
	/* The map may be full of addresses that are gone. */
	err = remove_others(map_fd, a->row, a->nr, sizeof(a->row[0]), XSF_LOCAL_ADDRS);
	for (uint32_t n = 0; n < a->nr && err >= 0; n++) {
		if (!bpf_map_lookup_elem(map_fd, a->row[n], &was))
			continue;
		changed++;
		if (bpf_map_update_elem(map_fd, a->row[n], &one, BPF_ANY))
			err = -errno;
	}
	if (err < 0)
		xsf_because(why, err, "cannot write this host's addresses to the map xsf_local: %s",
			    xsf_errno_text(err));
	else
		err += changed;
out:
	free(a);
	return err;
}

int xsf_local_open(const char *dir, struct xsf_why *why)
{
	char path[PATH_MAX];
	int fd, err;

	err = xsf_pins_path(path, dir, "xsf_local", NULL);
	if (err)
		return xsf_because(why, err, "directory name too long");
	fd = bpf_obj_get(path);
	if (fd < 0)
		return xsf_because(why, -errno, "cannot open the pinned map %s: %s", path,
				   strerror(errno));
	return fd;
}

int xsf_allow_sync(int map_fd, const struct xsf_load_options *o, struct xsf_why *why)
{
	__u8 one = 1;
	int err;

	err = remove_others(map_fd, o->allow, o->nr_allow, sizeof(o->allow[0]), XSF_ALLOW_PREFIXES);
	for (uint32_t n = 0; n < o->nr_allow && err >= 0; n++) {
		if (bpf_map_update_elem(map_fd, &o->allow[n], &one, BPF_ANY))
			err = -errno;
	}
	if (err < 0)
		return xsf_because(why, err, "cannot write the allow-list to the map xsf_allow: %s",
				   xsf_errno_text(err));
	return 0;
}

int xsf_prefixes_trim(int map_fd, const struct xsf_prefix_key *keep, uint32_t nr, uint32_t max)
{
	int err = remove_others(map_fd, keep, nr, sizeof(*keep), max);

	return err < 0 ? err : 0;
}
