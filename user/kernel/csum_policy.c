// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/csum_parts.h"
#include "kernel/pins.h"
#include "kernel/policy.h"

#define DEFAULT_PORT(port, row) { port, row, 0 },
static const struct xsf_csum_watch defaults[] = { XSF_CSUM_DEFAULTS(DEFAULT_PORT) };

/* Maps of the machine that are looked at. */
#define MAX_MAPS 65536

/* Whose each row of xsf_csum_ports is. */
struct rows {
	const char *dir;
	uint16_t port[XSF_CSUM_PORTS]; /* 0: nobody's */
};

/* Rows that have counted: their port is in the value of the CPUs that did. */
static int rows_counted(struct rows *rows)
{
	int nr_cpus = libbpf_num_possible_cpus(), fd, err = 0;
	struct xsf_csum_port *cpus;

	if (nr_cpus <= 0)
		return nr_cpus ? nr_cpus : -EINVAL;
	fd = xsf_pins_open_readonly(rows->dir, "xsf_csum_ports", NULL);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	cpus = calloc((size_t)nr_cpus, sizeof(*cpus));
	if (!cpus)
		err = -ENOMEM;
	for (uint32_t row = 0; row < XSF_CSUM_PORTS && !err; row++) {
		if (bpf_map_lookup_elem(fd, &row, cpus))
			err = -errno;
		for (int cpu = 0; cpu < nr_cpus && !err; cpu++) {
			if (cpus[cpu].port)
				rows->port[row] = cpus[cpu].port;
		}
	}
	free(cpus);
	close(fd);
	return err;
}

static void take_rows(struct rows *rows, const struct xsf_csum_policy *policy)
{
	for (int n = 0; n < XSF_MAX_PORTS && policy->watch[n].port; n++) {
		const struct xsf_csum_watch *w = &policy->watch[n];

		if (w->row < XSF_CSUM_PORTS && !rows->port[w->row])
			rows->port[w->row] = w->port;
	}
}

/* Rows that another attachment was given. */
static int rows_given(void *arg, const char *name, struct xsf_csum_about *about)
{
	struct xsf_csum_policy policy;
	struct rows *rows = arg;

	(void)about;
	if (!xsf_pins_read(rows->dir, name, "xsf_csum_policy", &policy, sizeof(policy)))
		take_rows(rows, &policy);
	return 0;
}

/* Rows in any policy of the machine: also of a program whose directory is lost, or is another pin
 * directory's, for which taking one row more than needed does no harm. */
static void rows_anywhere(struct rows *rows)
{
	__u32 id = 0;

	for (int n = 0; n < MAX_MAPS && !bpf_map_get_next_id(id, &id); n++) {
		struct bpf_map_info info = {};
		__u32 len = sizeof(info), zero = 0;
		struct xsf_csum_policy policy;
		int fd = bpf_map_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) &&
		    !strcmp(info.name, "xsf_csum_policy") && info.value_size == sizeof(policy) &&
		    info.type == BPF_MAP_TYPE_ARRAY && !bpf_map_lookup_elem(fd, &zero, &policy))
			take_rows(rows, &policy);
		close(fd);
	}
}

/* The row of a port, a free one where it has none yet, or -ENOSPC. */
static int row_of(struct rows *rows, uint16_t port)
{
	int free_row = -ENOSPC;

	for (int row = 0; row < XSF_CSUM_PORTS; row++) {
		if (rows->port[row] == port)
			return row;
		if (!rows->port[row] && free_row < 0)
			free_row = row;
	}
	if (free_row >= 0)
		rows->port[free_row] = port;
	return free_row;
}

static struct xsf_csum_watch *watch_of(struct xsf_csum_policy *policy, uint16_t port)
{
	int n = 0;

	while (n < XSF_MAX_PORTS && policy->watch[n].port && policy->watch[n].port != port)
		n++;
	return n < XSF_MAX_PORTS ? &policy->watch[n] : NULL;
}

int xsf_csum_policy_make(const char *dir, const struct xsf_csum_options *c,
			 struct xsf_csum_policy *policy, struct xsf_why *why)
{
	struct rows rows = { .dir = dir };
	int err, row;

	memset(policy, 0, sizeof(*policy));
	policy->set = 1;
	policy->nr_prefixes = c->nr_from;
	memcpy(policy->watch, defaults, sizeof(defaults));
	for (int n = 0; n < XSF_CSUM_NR_DEFAULTS; n++)
		rows.port[defaults[n].row] = defaults[n].port;
	err = rows_counted(&rows);
	if (!err)
		err = xsf_csum_each(dir, NULL, rows_given, &rows);
	if (err)
		return xsf_because(why, err, "cannot read the checksum maps in %s: %s", dir,
				   xsf_errno_text(err));
	rows_anywhere(&rows);
	for (int n = 0; n < XSF_MAX_PORTS && c->repair[n]; n++) {
		struct xsf_csum_watch *watch = watch_of(policy, c->repair[n]);

		if (!watch)
			return xsf_because(
				why, -E2BIG,
				"more than %d ports to watch: %d are watched in any case "
				"(4739, 6343, 2055)",
				XSF_MAX_PORTS, XSF_CSUM_NR_DEFAULTS);
		row = row_of(&rows, c->repair[n]);
		if (row < 0)
			return xsf_because(why, row,
					   "the maps in %s have counted %d ports, and have no room "
					   "for port %u; begin anew with: xdp-sflow unload --all "
					   "--purge",
					   dir, XSF_CSUM_PORTS, c->repair[n]);
		watch->port = c->repair[n];
		watch->row = (uint8_t)row;
		watch->repair = 1;
	}
	/* Sources alone: whatever they send to a watched port. */
	for (int n = 0; n < XSF_CSUM_NR_DEFAULTS && c->nr_from && !c->repair[0]; n++)
		policy->watch[n].repair = 1;
	return 0;
}

static int add_prefixes(int fd, const struct xsf_csum_options *c)
{
	__u8 one = 1;

	for (uint32_t n = 0; n < c->nr_from; n++) {
		if (bpf_map_update_elem(fd, &c->from[n], &one, BPF_ANY))
			return -errno;
	}
	return 0;
}

int xsf_csum_policy_write(int policy_fd, int from_fd, const struct xsf_csum_options *c,
			  const struct xsf_csum_policy *policy, struct xsf_why *why)
{
	__u32 zero = 0;
	int err;

	err = add_prefixes(from_fd, c);
	if (err == -ENOSPC) { /* the old and the new ones do not fit together */
		err = xsf_prefixes_trim(from_fd, c->from, c->nr_from, XSF_CSUM_PREFIXES);
		if (!err)
			err = add_prefixes(from_fd, c);
	}
	if (!err && bpf_map_update_elem(policy_fd, &zero, policy, BPF_ANY))
		err = -errno;
	if (!err)
		err = xsf_prefixes_trim(from_fd, c->from, c->nr_from, XSF_CSUM_PREFIXES);
	if (err)
		return xsf_because(why, err, "cannot write the checksum policy: %s",
				   xsf_errno_text(err));
	return 0;
}

static int repairs_port(const struct xsf_csum_options *c, uint16_t port)
{
	int is_usual = 0;

	for (int n = 0; n < XSF_MAX_PORTS && c->repair[n]; n++) {
		if (c->repair[n] == port)
			return 1;
	}
	for (int n = 0; n < XSF_CSUM_NR_DEFAULTS; n++)
		is_usual |= defaults[n].port == port;
	return is_usual && c->nr_from && !c->repair[0];
}

static int has_prefix(const struct xsf_csum_options *c, const struct xsf_prefix_key *key)
{
	for (uint32_t n = 0; n < c->nr_from; n++) {
		if (!memcmp(&c->from[n], key, sizeof(*key)))
			return 1;
	}
	return 0;
}

int xsf_csum_policy_ends(const struct xsf_csum_place *place, const struct xsf_csum_options *c,
			 struct xsf_csum_policy *was)
{
	int fd = xsf_csum_map(place, "xsf_csum_policy"), ends = 0, repairs = 0;
	struct xsf_prefix_key key;
	__u32 zero = 0;

	memset(was, 0, sizeof(*was));
	if (fd < 0)
		return 0;
	if (bpf_map_lookup_elem(fd, &zero, was))
		was->set = 0;
	close(fd);
	if (!was->set)
		return 0;
	for (int n = 0; n < XSF_MAX_PORTS && was->watch[n].port; n++) {
		repairs |= was->watch[n].repair;
		ends |= was->watch[n].repair && (c->off || !repairs_port(c, was->watch[n].port));
	}
	/* From all sources before, or from others. */
	if (!repairs || ends || !c->nr_from)
		return ends;
	if (!was->nr_prefixes)
		return 1;
	fd = xsf_csum_map(place, "xsf_csum_from");
	for (uint32_t n = 0; fd >= 0 && n < XSF_CSUM_PREFIXES && !ends; n++) {
		if (bpf_map_get_next_key(fd, n ? &key : NULL, &key))
			break;
		ends = !has_prefix(c, &key);
	}
	if (fd >= 0)
		close(fd);
	return ends;
}

/* Of the place alone. */
static int may_set(const char *dir, const struct xsf_if *i, const struct xsf_csum_place *place,
		   struct xsf_why *why)
{
	if (place->filter && place->by_hand)
		return xsf_because(
			why, -ENOENT,
			"%s: the checksum program there was attached by hand, and repairs its "
			"default ports from any source; to choose: tc filter del dev %s ingress "
			"pref %u; then xdp-sflow load %s with these options",
			i->name, i->name, place->filter->pref, i->name);
	if (!place->filter)
		return xsf_because(why, -ENOENT,
				   "%s has no checksum program that xdp-sflow attached; first: "
				   "xdp-sflow load %s",
				   i->name, i->name);
	return xsf_csum_belongs(dir, i, place, why);
}

int xsf_csum_may_set(const char *dir, const struct xsf_if *i, struct xsf_why *why)
{
	struct xsf_csum_place place;
	int err;

	err = xsf_csum_look(dir, i, &place, why);
	if (!err)
		err = may_set(dir, i, &place, why);
	xsf_csum_place_close(&place);
	return err;
}

int xsf_csum_set(const char *dir, const struct xsf_if *i, const struct xsf_csum_options *c,
		 struct xsf_csum_policy *policy, struct xsf_why *why)
{
	int policy_fd = -1, from_fd = -1, err;
	struct xsf_csum_place place;

	err = xsf_csum_look(dir, i, &place, why);
	if (!err)
		err = may_set(dir, i, &place, why);
	if (!err)
		err = xsf_csum_policy_make(dir, c, policy, why);
	if (err)
		goto out;
	policy_fd = xsf_csum_map(&place, "xsf_csum_policy");
	from_fd = xsf_csum_map(&place, "xsf_csum_from");
	if (policy_fd < 0 || from_fd < 0) {
		err = policy_fd < 0 ? policy_fd : from_fd;
		xsf_because(why, err, "%s: cannot open the policy of its checksum program: %s",
			    i->name, xsf_errno_text(err));
		goto out;
	}
	err = xsf_csum_policy_write(policy_fd, from_fd, c, policy, why);
out:
	if (policy_fd >= 0)
		close(policy_fd);
	if (from_fd >= 0)
		close(from_fd);
	xsf_csum_place_close(&place);
	return err;
}
