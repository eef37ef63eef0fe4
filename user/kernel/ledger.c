// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/ledger.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "kernel/csum_maps.h"
#include "kernel/ledger_internal.h"
#include "kernel/pins.h"
#include "ledger.skel.h"

#define MAX_MOUNTS 65536

/* What the sources said at the beginning, and say now. */
struct moment {
	struct timespec time;
	struct xsf_ledger_devices devices;
	struct xsf_ledger_sockets sockets;
	struct xsf_ledger_pins pins;
};

struct xsf_ledger_probe {
	char dir[PATH_MAX];
	char iface[IF_NAMESIZE];
	uint16_t ports[XSF_LEDGER_PORTS];
	uint32_t nr_ports;
	struct ledger *skel;
	int cpus;
	uint64_t *cpu_counts; /* one row's, by CPU */
	struct xsf_ledger_names names;
	struct xsf_ledger_row rows[XSF_LEDGER_ROWS];
	struct moment begin, now;
	struct xsf_csum_maps *csum; /* of the last look, for what to advise */
};

/* ---- attaching ---- */

/* Opens a directory when it is of a cgroup2 hierarchy: another file system may cover the mount. */
static int open_cgroup2(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return -errno;
	if (!fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
		return fd;
	close(fd);
	return -ENOENT;
}

/* The root of the cgroup2 hierarchy, as far as it is mounted here, and where. fd or negative errno. */
static int cgroup2_root(char path[PATH_MAX], struct xsf_why *why)
{
	FILE *file = fopen("/proc/self/mounts", "re");
	char *line = NULL, at[PATH_MAX], type[64];
	size_t size = 0;
	int fd = -ENOENT;

	if (!file)
		return xsf_because(why, -errno, "cannot read /proc/self/mounts: %s",
				   strerror(errno));
	_Static_assert(PATH_MAX == 4096, "the format below");
	for (int n = 0; n < MAX_MOUNTS && fd < 0 && getline(&line, &size, file) > 0; n++) {
		if (sscanf(line, "%*s %4095s %63s", at, type) != 2 || strcmp(type, "cgroup2") != 0)
			continue;
		snprintf(path, PATH_MAX, "%s", at);
		fd = open_cgroup2(path);
	}
	free(line);
	fclose(file);
	if (fd < 0)
		return xsf_because(
			why, fd,
			"no cgroup2 hierarchy is mounted, by which deliveries to sockets are "
			"counted; as root: mount -t cgroup2 none /sys/fs/cgroup");
	return fd;
}

static void watch(struct ledger *skel, uint16_t port)
{
	/* Read-only for the program alone, and only once it is loaded. */
	uint8_t *ports = (uint8_t *)(unsigned long)skel->rodata->ledger_ports;

	ports[port >> 3] |= (uint8_t)(1u << (port & 7));
}

static int load(struct xsf_ledger_probe *probe, struct xsf_why *why)
{
	uint32_t *netns, *has_socket;
	struct stat ns;
	int err;

	if (stat("/proc/self/ns/net", &ns))
		return xsf_because(why, -errno, "cannot tell this network namespace: %s",
				   strerror(errno));
	xsf_log_clear();
	probe->skel = ledger__open();
	if (!probe->skel)
		return xsf_because(why, -errno, "cannot open the BPF object of the ledger: %s",
				   strerror(errno));
	netns = (uint32_t *)(unsigned long)&probe->skel->rodata->ledger_netns;
	has_socket = (uint32_t *)(unsigned long)&probe->skel->rodata->ledger_has_socket;
	*netns = (uint32_t)ns.st_ino;
	*has_socket = (uint32_t)probe->names.has_socket;
	for (uint32_t n = 0; n < probe->nr_ports; n++)
		watch(probe->skel, probe->ports[n]);
	err = ledger__load(probe->skel);
	if (err == -EPERM)
		return xsf_because(why, err,
				   "no right to load the programs of the ledger: %s; run as root",
				   xsf_errno_text(err));
	if (err)
		return xsf_because(why, err, "cannot load the programs of the ledger: %s (%s)",
				   xsf_errno_text(err), xsf_log_first());
	return 0;
}

static int attach_trace(struct bpf_program *prog, struct bpf_link **link, struct xsf_why *why)
{
	*link = bpf_program__attach(prog);
	if (*link)
		return 0;
	return xsf_because(why, -errno, "cannot attach %s to its tracepoint: %s",
			   bpf_program__name(prog), strerror(errno));
}

/* Ends before arrivals: who arrives is then seen wherever it ends. */
static int attach(struct xsf_ledger_probe *probe, struct xsf_why *why)
{
	struct ledger *skel = probe->skel;
	char path[PATH_MAX];
	int cgroup, err;

	cgroup = cgroup2_root(path, why);
	if (cgroup < 0)
		return cgroup;
	skel->links.ledger_handed = bpf_program__attach_cgroup(skel->progs.ledger_handed, cgroup);
	err = skel->links.ledger_handed ? 0 : -errno;
	close(cgroup);
	if (err)
		return xsf_because(
			why, err,
			"cannot attach to the cgroup2 hierarchy at %s: %s; another program "
			"may hold it alone: bpftool cgroup show %s",
			path, xsf_errno_text(err), path);
	err = attach_trace(skel->progs.ledger_drop, &skel->links.ledger_drop, why);
	if (!err)
		err = attach_trace(skel->progs.ledger_forward, &skel->links.ledger_forward, why);
	if (!err)
		err = attach_trace(skel->progs.ledger_stack, &skel->links.ledger_stack, why);
	return err;
}

/* ---- reading ---- */

static int read_moment(struct xsf_ledger_probe *probe, struct moment *m, struct xsf_why *why)
{
	int err;

	clock_gettime(CLOCK_MONOTONIC, &m->time);
	xsf_ledger_pins_free(&m->pins);
	err = xsf_ledger_pins_read(probe->dir, &m->pins, why);
	if (!err)
		err = xsf_ledger_devices_read(probe->iface[0] ? probe->iface : NULL, &m->devices,
					      why);
	if (err)
		return err;
	err = xsf_ledger_sockets_read(probe->ports, probe->nr_ports, &m->sockets);
	return err ? xsf_because(why, err, "cannot read /proc/net/udp: %s", xsf_errno_text(err)) :
		     0;
}

/* Rows are only ever added, so the walk ends. */
static int read_rows(struct xsf_ledger_probe *probe, uint32_t *nr)
{
	int fd = bpf_map__fd(probe->skel->maps.ledger_rows);
	struct xsf_ledger_key *last = NULL;

	for (*nr = 0; *nr < XSF_LEDGER_ROWS; (*nr)++) {
		struct xsf_ledger_row *row = &probe->rows[*nr];

		memset(row, 0, sizeof(*row));
		if (bpf_map_get_next_key(fd, last, &row->key))
			return errno == ENOENT ? 0 : -errno;
		last = &row->key;
		if (bpf_map_lookup_elem(fd, last, probe->cpu_counts))
			return -errno;
		for (int cpu = 0; cpu < probe->cpus; cpu++)
			row->count += probe->cpu_counts[cpu];
	}
	return 0;
}

/* Times that a program was to run on a CPU where it was running already. */
static uint64_t missed(const struct xsf_ledger_probe *probe)
{
	const struct bpf_program *const progs[] = { probe->skel->progs.ledger_stack,
						    probe->skel->progs.ledger_forward,
						    probe->skel->progs.ledger_drop };
	uint64_t sum = 0;

	for (size_t n = 0; n < sizeof(progs) / sizeof(progs[0]); n++) {
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);

		if (!bpf_obj_get_info_by_fd(bpf_program__fd(progs[n]), &info, &len))
			sum += info.recursion_misses;
	}
	return sum;
}

/* A number in /proc/sys; 0 when it cannot be read. */
static uint64_t sysctl_value(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[32] = "";

	if (!file)
		return 0;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	return strtoull(line, NULL, 10);
}

static void mark_xdp(const struct xsf_ledger_pins *pins, struct xsf_ledger_devices *devices)
{
	for (uint32_t n = 0; n < devices->nr; n++) {
		for (uint32_t x = 0; x < pins->nr_xdp; x++) {
			if (pins->xdp[x].ifindex != devices->now[n].ifindex)
				continue;
			devices->now[n].xdp = 1;
			memcpy(devices->now[n].xdp_ports, pins->xdp[x].ports,
			       sizeof(devices->now[n].xdp_ports));
		}
	}
}

static void take_agents(const struct xsf_ledger_pins *pins, struct xsf_ledger *l)
{
	l->agents_measured = (uint32_t)pins->has_agents;
	for (uint32_t n = 0; n < pins->nr_agents; n++) {
		const struct xsf_ledger_agent *agent = &pins->agents[n].agent;

		if (!pins->agents[n].generation || !agent->lost)
			continue;
		l->lost_before += agent->lost;
		if (l->nr_agents == XSF_LEDGER_AGENTS)
			l->more_agents++;
		else
			l->agent[l->nr_agents++] = *agent;
	}
}

static void since_begin(struct xsf_ledger_probe *probe, struct xsf_ledger *l)
{
	struct moment *now = &probe->now;

	xsf_ledger_pins_since(&probe->begin.pins, &now->pins);
	xsf_ledger_devices_since(&probe->begin.devices, &now->devices);
	xsf_ledger_sockets_since(&probe->begin.sockets, &now->sockets);
	mark_xdp(&now->pins, &now->devices);
	memcpy(l->device, now->devices.now, sizeof(l->device));
	l->nr_devices = now->devices.nr;
	l->more_devices = now->devices.more;
	memcpy(l->socket, now->sockets.at, sizeof(l->socket));
	l->nr_sockets = now->sockets.nr;
	l->more_sockets = now->sockets.more;
	take_agents(&now->pins, l);
}

/* Were checksums found wrong, by our program or by the kernel? */
static int has_wrong(const struct xsf_ledger *l)
{
	for (uint32_t n = 0; n < l->facts.nr_ports; n++) {
		const uint64_t *stage = l->port[n].stage;

		if (stage[XSF_STAGE_wrong_checksum] || stage[XSF_STAGE_checksum] ||
		    stage[XSF_STAGE_checksum_read] || stage[XSF_STAGE_consumed] ||
		    stage[XSF_STAGE_denied])
			return 1;
	}
	return 0;
}

/* What `repair show` would advise; without the right to see it, nothing. */
static void advise(struct xsf_ledger_probe *probe, struct xsf_ledger *l)
{
	struct xsf_csum c;
	const char *maps = strlen(probe->dir) < sizeof(l->maps) ? probe->dir : "DIR";

	if (strcmp(probe->dir, xsf_pins_default()) != 0)
		memcpy(l->maps, maps, strlen(maps) + 1);
	if (!has_wrong(l) || xsf_csum_maps_read(&probe->csum, probe->dir, 1, &c) || !c.present)
		return;
	for (uint32_t n = 0; n < c.nr_attached && l->nr_repairs < XSF_LEDGER_REPAIRS; n++) {
		struct xsf_ledger_repair *r = &l->repair[l->nr_repairs];

		if (!strcmp(c.attached[n].how, "elsewhere") ||
		    (probe->iface[0] && strcmp(c.attached[n].ifname, probe->iface) != 0))
			continue;
		memcpy(r->ifname, c.attached[n].ifname, sizeof(r->ifname));
		xsf_csum_advice(&c, &c.attached[n], &r->advice);
		l->nr_repairs++;
	}
}

int xsf_ledger_probe_read(struct xsf_ledger_probe *probe, struct xsf_ledger *l, struct xsf_why *why)
{
	struct xsf_ledger_facts f = { .nr_ports = probe->nr_ports };
	int err;

	/* Arrivals first: what comes in between is then at worst an end too many. */
	err = read_moment(probe, &probe->now, why);
	if (err)
		return err;
	err = read_rows(probe, &f.nr_rows);
	if (err)
		return xsf_because(why, err, "cannot read the ledger's map: %s",
				   xsf_errno_text(err));
	xsf_ledger_names_fill(&probe->names, probe->rows, f.nr_rows);

	memset(l, 0, sizeof(*l));
	since_begin(probe, l);
	f.seconds = (double)(probe->now.time.tv_sec - probe->begin.time.tv_sec) +
		    (double)(probe->now.time.tv_nsec - probe->begin.time.tv_nsec) / 1e9;
	memcpy(f.ports, probe->ports, sizeof(f.ports));
	memcpy(f.iface, probe->iface, sizeof(f.iface));
	f.rows = probe->rows;
	f.seen = probe->now.pins.seen;
	f.nr_seen = probe->now.pins.nr_seen;
	f.csum = probe->now.pins.csum;
	f.nr_csum = probe->now.pins.nr_csum;
	f.csum_measured = (uint32_t)probe->now.pins.has_csum;
	f.missed = missed(probe);
	f.full = probe->skel->bss->ledger_full;
	f.rmem_max = sysctl_value("/proc/sys/net/core/rmem_max");
	f.rmem_default = sysctl_value("/proc/sys/net/core/rmem_default");
	f.max_backlog = sysctl_value("/proc/sys/net/core/netdev_max_backlog");
	xsf_ledger_build(l, &f);
	advise(probe, l);
	return 0;
}

/* ---- opening and closing ---- */

static void add_port(struct xsf_ledger_probe *probe, uint16_t port)
{
	for (uint32_t n = 0; n < probe->nr_ports; n++) {
		if (probe->ports[n] == port)
			return;
	}
	if (port && probe->nr_ports < XSF_LEDGER_PORTS)
		probe->ports[probe->nr_ports++] = port;
}

/* Those asked for; without, the usual ones, then those of the attached programs while there is room. */
static int choose_ports(struct xsf_ledger_probe *probe, const struct xsf_ledger_ask *ask,
			struct xsf_why *why)
{
	static const uint16_t usual[] = { 4739, 6343, 2055 };
	int err;

	for (size_t n = 0; n < XSF_LEDGER_PORTS && ask->ports[n]; n++)
		add_port(probe, ask->ports[n]);
	for (size_t n = 0; n < sizeof(usual) / sizeof(usual[0]) && !ask->ports[0]; n++)
		add_port(probe, usual[n]);
	err = xsf_ledger_pins_read(probe->dir, &probe->begin.pins, why);
	for (uint32_t n = 0; n < probe->begin.pins.nr_configured && !err && !ask->ports[0]; n++)
		add_port(probe, probe->begin.pins.configured[n]);
	return err;
}

/* Without programs of ours nothing is pinned, which is no mistake; in a directory that was named, it is. */
static int check_dir(const char *dir, struct xsf_why *why)
{
	static const char *const maps[] = { "xsf_totals", "xsf_csum_totals" };
	char path[PATH_MAX];

	for (size_t n = 0; n < sizeof(maps) / sizeof(maps[0]); n++) {
		if (!xsf_pins_path(path, dir, maps[n], NULL) &&
		    (!access(path, F_OK) || errno == EACCES))
			return 0;
	}
	return xsf_because(why, -ENOENT,
			   "no maps are pinned in %s; without --maps the ledger takes those in %s, "
			   "and goes without where there are none",
			   dir, xsf_pins_default());
}

int xsf_ledger_probe_open(const struct xsf_ledger_ask *ask, struct xsf_ledger_probe **out,
			  struct xsf_why *why)
{
	struct xsf_ledger_probe *probe = calloc(1, sizeof(*probe));
	int err;

	*out = NULL;
	if (!probe)
		return xsf_because(why, -ENOMEM, "no memory for the ledger");
	if (ask->iface && strlen(ask->iface) >= sizeof(probe->iface)) {
		free(probe);
		return xsf_because(why, -ENODEV, "no interface %s; 'ip link' lists them",
				   ask->iface);
	}
	snprintf(probe->dir, sizeof(probe->dir), "%s", ask->dir ? ask->dir : xsf_pins_default());
	if (ask->iface)
		snprintf(probe->iface, sizeof(probe->iface), "%s", ask->iface);
	probe->cpus = libbpf_num_possible_cpus();
	probe->cpu_counts = probe->cpus > 0 ? calloc((size_t)probe->cpus, sizeof(uint64_t)) : NULL;
	if (!probe->cpu_counts)
		err = xsf_because(why, -ENOMEM, "no memory for the ledger");
	else
		err = xsf_ledger_names_read(&probe->names, why);
	if (!err && ask->dir)
		err = check_dir(ask->dir, why);
	if (!err)
		err = choose_ports(probe, ask, why);
	/* Whatever is wrong with the interface is said before anything is attached. */
	if (!err)
		err = read_moment(probe, &probe->begin, why);
	if (!err)
		err = load(probe, why);
	if (!err)
		err = attach(probe, why);
	if (!err)
		err = read_moment(probe, &probe->begin, why);
	if (err) {
		xsf_ledger_probe_close(probe);
		return err;
	}
	*out = probe;
	return 0;
}

void xsf_ledger_probe_close(struct xsf_ledger_probe *probe)
{
	if (!probe)
		return;
	ledger__destroy(probe->skel);
	xsf_ledger_pins_free(&probe->begin.pins);
	xsf_ledger_pins_free(&probe->now.pins);
	xsf_ledger_names_close(&probe->names);
	xsf_csum_maps_free(probe->csum);
	free(probe->cpu_counts);
	free(probe);
}
