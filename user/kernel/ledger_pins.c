// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsf/csum_abi.h>

#include "kernel/ledger_internal.h"
#include "kernel/maps.h"
#include "kernel/pins.h"
#include "kernel/programs.h"

/* Opens a per-CPU array of the right shape. fd, 0 when it is not there (or of another shape), or negative
 * errno. */
static int open_rows(const char *dir, const char *name, uint32_t value_size, uint32_t entries,
		     uint32_t *id, struct xsf_why *why)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int fd = xsf_pins_open_readonly(dir, name, NULL);

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return xsf_because(why, fd, "cannot open the pinned map %s/%s: %s%s", dir, name,
				   xsf_errno_text(fd),
				   fd == -EACCES || fd == -EPERM ? "; run as root" : "");
	if (bpf_obj_get_info_by_fd(fd, &info, &len) || info.type != BPF_MAP_TYPE_PERCPU_ARRAY ||
	    info.key_size != sizeof(__u32) || info.value_size != value_size ||
	    info.max_entries != entries) {
		close(fd);
		return 0;
	}
	if (id)
		*id = info.id;
	return fd;
}

static struct xsf_ledger_seen *seen_of(struct xsf_ledger_pins *pins, uint32_t ifindex,
				       uint16_t port)
{
	for (uint32_t n = 0; n < pins->nr_seen; n++) {
		if (pins->seen[n].ifindex == ifindex && pins->seen[n].port == port)
			return &pins->seen[n];
	}
	if (pins->nr_seen == XSF_LEDGER_SEEN)
		return NULL;
	pins->seen[pins->nr_seen].ifindex = ifindex;
	pins->seen[pins->nr_seen].port = port;
	return &pins->seen[pins->nr_seen++];
}

static void add_seen(struct xsf_ledger_pins *pins, const struct xsf_port *row)
{
	struct xsf_ledger_seen *seen = row->port ? seen_of(pins, row->ifindex, row->port) : NULL;

	if (!seen)
		return;
	seen->datagrams += row->datagrams;
	seen->fragments_first += row->fragments_first;
	seen->consumed += row->consumed;
	seen->denied += row->denied_dropped;
}

static int read_ports(int fd, int cpus, struct xsf_ledger_pins *pins)
{
	struct xsf_port *rows = calloc((size_t)cpus, sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	for (uint32_t n = 0; n < XSF_PORT_ROWS && !err; n++) {
		err = bpf_map_lookup_elem(fd, &n, rows) ? -errno : 0;
		for (int cpu = 0; cpu < cpus && !err; cpu++)
			add_seen(pins, &rows[cpu]);
	}
	free(rows);
	return err;
}

static int read_csum(int fd, int cpus, struct xsf_ledger_pins *pins)
{
	struct xsf_csum_port *rows = calloc((size_t)cpus, sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	for (uint32_t n = 0; n < XSF_CSUM_PORTS && !err; n++) {
		struct xsf_ledger_csum *to = &pins->csum[pins->nr_csum];

		err = bpf_map_lookup_elem(fd, &n, rows) ? -errno : 0;
		memset(to, 0, sizeof(*to));
		for (int cpu = 0; cpu < cpus && !err; cpu++) {
			const struct xsf_csum_counts *c = &rows[cpu].counts;

			to->port = rows[cpu].port ? rows[cpu].port : to->port;
			to->wrong += c->observed_wrong + c->observed_zero + c->left_unwritable;
			to->repaired += c->repaired_wrong + c->repaired_zero;
		}
		pins->nr_csum += to->port != 0;
	}
	free(rows);
	return err;
}

static void add_port(struct xsf_ledger_pins *pins, uint16_t port)
{
	for (uint32_t n = 0; n < pins->nr_configured; n++) {
		if (pins->configured[n] == port)
			return;
	}
	if (port && pins->nr_configured < sizeof(pins->configured) / sizeof(pins->configured[0]))
		pins->configured[pins->nr_configured++] = port;
}

/* Does this program count into xsf_ports? One of an older version does not. */
static int counts_ports(uint32_t prog_id, uint32_t ports_id)
{
	struct xsf_prog_info info;
	int fd = bpf_prog_get_fd_by_id(prog_id), yes;

	/* Who may not ask sees the map, and takes it for an answer. */
	if (fd < 0)
		return errno == EPERM || errno == EACCES;
	yes = !xsf_prog_info(fd, &info) && xsf_prog_uses_map(&info, ports_id);
	close(fd);
	return yes;
}

static void take_attached(struct xsf_ledger_pins *pins, const struct xsf_snapshot *s,
			  uint32_t ports_id)
{
	for (uint32_t n = 0; n < s->nr_attached; n++) {
		for (unsigned int i = 0; i < XSF_MAX_PORTS; i++)
			add_port(pins, s->attached[n].ports[i]);
		if (ports_id && counts_ports(s->attached[n].prog_id, ports_id) &&
		    pins->nr_xdp < XSF_LEDGER_DEVICES) {
			pins->xdp[pins->nr_xdp].ifindex = s->attached[n].ifindex;
			memcpy(pins->xdp[pins->nr_xdp++].ports, s->attached[n].ports,
			       sizeof(s->attached[n].ports));
		}
	}
}

static int take_agents(struct xsf_ledger_pins *pins, const struct xsf_snapshot *s)
{
	pins->agents = calloc(s->nr_agents, sizeof(*pins->agents));
	if (!pins->agents)
		return -ENOMEM;
	pins->nr_agents = s->nr_agents;
	pins->has_agents = 1;
	for (uint32_t n = 1; n < s->nr_agents; n++) {
		const struct xsf_agent *from = &s->agents[n];
		struct xsf_ledger_agent *to = &pins->agents[n].agent;
		struct xsf_agent_counts sum;

		if (!(from->generation & 1))
			continue;
		xsf_agent_sum(from, &sum);
		pins->agents[n].generation = from->generation;
		memcpy(to->addr, from->key.addr, sizeof(to->addr));
		to->sub_agent = from->key.sub_agent;
		to->datagrams = sum.datagrams;
		to->lost = (int64_t)(sum.lost + xsf_agent_pending(from));
	}
	return 0;
}

static int read_maps(const char *dir, struct xsf_ledger_pins *pins, uint32_t ports_id,
		     struct xsf_why *why)
{
	struct xsf_snapshot *s = malloc(sizeof(*s));
	struct xsf_maps *maps = NULL;
	int err = -ENOMEM;

	if (!s)
		return xsf_because(why, err, "no memory for the counts");
	err = xsf_maps_open(dir, &maps, why->text, sizeof(why->text));
	if (err == -ENOENT) {
		free(s);
		return 0;
	}
	if (!err) {
		err = xsf_maps_snapshot(maps, s, XSF_SNAPSHOT_NO_ROWS);
		if (!err) {
			take_attached(pins, s, ports_id);
			err = take_agents(pins, s);
		}
		if (err)
			xsf_because(why, err, "cannot read the maps in %s: %s", dir,
				    xsf_errno_text(err));
	}
	xsf_maps_close(maps);
	free(s);
	return err;
}

int xsf_ledger_pins_read(const char *dir, struct xsf_ledger_pins *pins, struct xsf_why *why)
{
	int cpus = libbpf_num_possible_cpus(), fd, err;
	uint32_t ports_id = 0;

	memset(pins, 0, sizeof(*pins));
	if (cpus <= 0)
		return xsf_because(why, -EINVAL, "cannot tell the number of possible CPUs");
	fd = err =
		open_rows(dir, "xsf_ports", sizeof(struct xsf_port), XSF_PORT_ROWS, &ports_id, why);
	if (fd > 0) {
		err = read_ports(fd, cpus, pins);
		close(fd);
		if (err)
			return xsf_because(why, err, "cannot read %s/xsf_ports: %s", dir,
					   xsf_errno_text(err));
	}
	if (err < 0)
		return err;
	fd = err = open_rows(dir, "xsf_csum_ports", sizeof(struct xsf_csum_port), XSF_CSUM_PORTS,
			     NULL, why);
	if (fd > 0) {
		pins->has_csum = 1;
		err = read_csum(fd, cpus, pins);
		close(fd);
		if (err)
			return xsf_because(why, err, "cannot read %s/xsf_csum_ports: %s", dir,
					   xsf_errno_text(err));
	}
	return err < 0 ? err : read_maps(dir, pins, ports_id, why);
}

static void agents_since(const struct xsf_ledger_pins *before, struct xsf_ledger_pins *now)
{
	for (uint32_t n = 0; n < now->nr_agents && n < before->nr_agents; n++) {
		if (before->agents[n].generation != now->agents[n].generation)
			continue;
		now->agents[n].agent.datagrams -= before->agents[n].agent.datagrams;
		now->agents[n].agent.lost -= before->agents[n].agent.lost;
	}
}

void xsf_ledger_pins_since(const struct xsf_ledger_pins *before, struct xsf_ledger_pins *now)
{
	for (uint32_t n = 0; n < now->nr_seen; n++) {
		struct xsf_ledger_seen *to = &now->seen[n];

		for (uint32_t b = 0; b < before->nr_seen; b++) {
			const struct xsf_ledger_seen *from = &before->seen[b];

			if (from->ifindex != to->ifindex || from->port != to->port ||
			    from->datagrams > to->datagrams)
				continue;
			to->datagrams -= from->datagrams;
			to->fragments_first -= from->fragments_first;
			to->consumed -= from->consumed;
			to->denied -= from->denied;
		}
	}
	for (uint32_t n = 0; n < now->nr_csum; n++) {
		for (uint32_t b = 0; b < before->nr_csum; b++) {
			if (before->csum[b].port != now->csum[n].port ||
			    before->csum[b].wrong > now->csum[n].wrong)
				continue;
			now->csum[n].wrong -= before->csum[b].wrong;
			now->csum[n].repaired -= before->csum[b].repaired;
		}
	}
	agents_since(before, now);
}

void xsf_ledger_pins_free(struct xsf_ledger_pins *pins)
{
	free(pins->agents);
	memset(pins, 0, sizeof(*pins));
}
