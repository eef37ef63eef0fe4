// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/probe.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "kernel/maps.h"
#include "kernel/object.h"
#include "kernel/pins.h"

/* Programs that are asked whether they were compiled. */
#define MAX_PROGRAMS 64
/* Entries of the directory of pin directories that are looked at. */
#define MAX_ENTRIES 256

int xsf_probe_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	ssize_t len;

	buf[0] = 0;
	if (fd < 0)
		return -errno;
	len = read(fd, buf, size - 1);
	err = len < 0 ? -errno : 0;
	buf[len < 0 ? 0 : len] = 0;
	close(fd);
	return err;
}

xsf_fact_t xsf_probe_number(const char *path)
{
	char text[32], *end;
	int err = xsf_probe_text(path, text, sizeof(text));
	long long v;

	if (err)
		return err == -ENOENT ? XSF_NO_FACT : err;
	v = strtoll(text, &end, 10);
	return end == text || v < 0 ? XSF_NO_FACT : v;
}

static void probe_bpffs(struct xsf_facts *f)
{
	struct stat here, above;
	struct statvfs vfs;
	struct statfs fs;

	if (stat(XSF_BPFFS, &here) || stat(XSF_BPFFS "/..", &above) || statfs(XSF_BPFFS, &fs) ||
	    statvfs(XSF_BPFFS, &vfs)) {
		f->bpffs = errno == ENOENT ? XSF_NO_FACT : -errno;
		return;
	}
	f->bpffs = fs.f_type == BPF_FS_MAGIC   ? XSF_MOUNT_BPF :
		   here.st_dev == above.st_dev ? XSF_MOUNT_NONE :
						 XSF_MOUNT_OTHER;
	f->bpffs_readonly = !!(vfs.f_flag & ST_RDONLY);
	f->bpffs_closed = !(here.st_mode & S_IXOTH);
}

/* Another version's directory beside ours, the largest. */
static uint32_t other_abi(const char *dir)
{
	char path[PATH_MAX];
	struct dirent *e;
	uint32_t other = 0, version;
	int left = MAX_ENTRIES;
	char *end;
	DIR *d;

	snprintf(path, sizeof(path), "%s", dir);
	d = opendir(dirname(path));
	while (d && left-- && (e = readdir(d))) {
		version = (uint32_t)strtoul(e->d_name + (e->d_name[0] == 'v'), &end, 10);
		if (e->d_name[0] == 'v' && end > e->d_name + 1 && !*end && version != XSF_ABI &&
		    version > other)
			other = version;
	}
	if (d)
		closedir(d);
	return other;
}

static void probe_pins(const char *dir, struct xsf_facts *f)
{
	struct xsf_load_options o = { .dir = dir };
	struct xsf_object obj;
	struct xsf_why why;
	struct stat st;
	int err;

	snprintf(f->pins, sizeof(f->pins), "%s", dir);
	f->pins_group = XSF_NO_FACT;
	if (!strcmp(dir, xsf_pins_default()))
		f->other_abi = other_abi(dir);
	if (stat(dir, &st)) {
		f->pinned = errno == ENOENT ? XSF_PINS_NONE : -errno;
		return;
	}
	err = xsf_object_open(&obj, &o, 0, &why);
	if (!err) {
		xsf_object_close(&obj);
		err = xsf_object_pinned(dir, &why);
	}
	f->pinned = err == -EPROTO ? XSF_PINS_OTHER_LAYOUT :
		    err < 0	   ? err :
		    err		   ? XSF_PINS_RIGHT :
				     XSF_PINS_NONE;
	if (err == -EPROTO)
		snprintf(f->pins_why, sizeof(f->pins_why), "%.*s", (int)sizeof(f->pins_why) - 1,
			 why.text);
	if (f->group == 1) {
		const struct group *group = getgrnam(XSF_PIN_GROUP);

		f->pins_group = group && group->gr_gid == st.st_gid;
	}
}

static xsf_fact_t effective_capabilities(void)
{
	static const cap_value_t asked[] = { XSF_CAP_NET_ADMIN, XSF_CAP_SYS_ADMIN, XSF_CAP_PERFMON,
					     XSF_CAP_BPF };
	xsf_fact_t all = 0;
	cap_t now = cap_get_proc();

	if (!now)
		return -errno;
	for (size_t n = 0; n < sizeof(asked) / sizeof(asked[0]); n++) {
		cap_flag_value_t has = CAP_CLEAR;

		if (!cap_get_flag(now, asked[n], CAP_EFFECTIVE, &has) && has == CAP_SET)
			all |= (xsf_fact_t)1 << asked[n];
	}
	cap_free(now);
	return all;
}

/* In other network namespances than the first the setting is not shown: then by what became of programs. */
static xsf_fact_t jit_by_programs(void)
{
	uint32_t id = 0;

	for (int n = 0; n < MAX_PROGRAMS; n++) {
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);
		int fd, err;

		if (bpf_prog_get_next_id(id, &id))
			return errno == ENOENT ? -EOPNOTSUPP : -errno;
		fd = bpf_prog_get_fd_by_id(id);
		if (fd < 0)
			return -errno;
		err = bpf_obj_get_info_by_fd(fd, &info, &len);
		close(fd);
		if (!err && info.xlated_prog_len)
			return info.jited_prog_len > 0;
	}
	return -EOPNOTSUPP;
}

static uint32_t numa_nodes(void)
{
	unsigned long from, to;
	char text[256], *at = text, *end;
	uint32_t nodes = 0;

	if (xsf_probe_text("/sys/devices/system/node/online", text, sizeof(text)))
		return 1;
	/* "0-1,4" */
	for (;;) {
		from = to = strtoul(at, &end, 10);
		if (end == at)
			break;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		nodes += to >= from && to - from < 4096 ? (uint32_t)(to - from + 1) : 1;
		if (*end != ',')
			break;
		at = end + 1;
	}
	return nodes ? nodes : 1;
}

/* As the loader will read it: a file that is there may hold nothing, or something else. */
static xsf_fact_t kernel_btf(void)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	struct btf *btf;
	int types;

	if (access(path, R_OK))
		return errno == ENOENT ? XSF_BTF_NONE : -errno;
	btf = btf__parse_raw(path);
	if (!btf)
		return errno == ENOMEM ? -ENOMEM : XSF_BTF_BROKEN;
	types = (int)btf__type_cnt(btf);
	btf__free(btf);
	return types > 1 ? XSF_BTF_READABLE : XSF_BTF_BROKEN; /* type 0, void, is always there */
}

void xsf_probe_machine(const char *dir, struct xsf_facts *f)
{
	struct utsname name = { 0 };
	struct rlimit limit;
	char map[64];

	uname(&name);
	snprintf(f->release, sizeof(f->release), "%s", name.release);
	snprintf(f->machine, sizeof(f->machine), "%s", name.machine);
	f->debian = !access("/etc/debian_version", F_OK);
	f->systemd = !access("/run/systemd/system", F_OK); /* sd_booted(3) */
	f->root = geteuid() == 0;
	/* The whole range of user ids is the first namespace's. */
	f->initial_user_namespace = xsf_probe_text("/proc/self/uid_map", map, sizeof(map)) != 0 ||
				    strstr(map, "4294967295") != NULL;
	f->capabilities = effective_capabilities();
	f->btf = kernel_btf();
	probe_bpffs(f);
	errno = 0;
	f->group = getgrnam(XSF_PIN_GROUP) ? 1 : 0;
	probe_pins(dir, f);
	f->jit = xsf_probe_number("/proc/sys/net/core/bpf_jit_enable");
	if (f->jit == XSF_NO_FACT)
		f->jit = jit_by_programs();
	else if (f->jit > 1) /* 2: with debugging output */
		f->jit = 1;
	f->memlock = getrlimit(RLIMIT_MEMLOCK, &limit) ? -errno :
		     limit.rlim_cur > INT64_MAX	       ? INT64_MAX :
							 (xsf_fact_t)limit.rlim_cur;
	f->cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	f->numa_nodes = numa_nodes();
}

/* Ports to look at; which of them our program counts is in f->counted when the caller asked for none. */
static void choose_ports(const struct xsf_probe_options *o, const uint16_t *ours,
			 struct xsf_facts *f)
{
	static const uint16_t usual[] = { 4739, 6343, 2055 };
	size_t nr = sizeof(usual) / sizeof(usual[0]);

	for (size_t n = 0; n < XSF_MAX_PORTS && o->ports[n]; n++)
		f->ports[f->nr_ports++] = o->ports[n];
	for (size_t n = 0; n < nr && !o->ports[0]; n++)
		f->ports[f->nr_ports++] = usual[n];
	for (size_t n = 0; n < XSF_MAX_PORTS && ours[n]; n++) {
		uint32_t at = 0;

		while (at < f->nr_ports && f->ports[at] != ours[n])
			at++;
		if (at == f->nr_ports && (o->ports[0] || at == XSF_DOCTOR_PORTS))
			continue;
		if (at == f->nr_ports)
			f->ports[f->nr_ports++] = ours[n];
		f->counted |= 1U << at;
	}
}

/* sFlow datagrams counted in our maps so far. */
static xsf_fact_t counted(struct xsf_maps *maps)
{
	static struct xsf_snapshot s;
	int err = xsf_maps_snapshot(maps, &s, XSF_SNAPSHOT_NO_ROWS | XSF_SNAPSHOT_NO_PROGRAMS);

	return err ? err : (xsf_fact_t)s.totals.datagrams;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static xsf_fact_t rate(xsf_fact_t before, xsf_fact_t after, uint64_t ms)
{
	if (before < 0 || after < 0)
		return before < 0 ? before : after;
	return after > before ? (after - before) * 1000 / (xsf_fact_t)ms : 0;
}

static void sample(const struct xsf_probe_options *o, struct xsf_facts *f)
{
	struct timespec left = { .tv_sec = o->sample_ms / 1000,
				 .tv_nsec = (long)(o->sample_ms % 1000) * 1000000 };
	xsf_fact_t udp = xsf_probe_udp(), ours = XSF_NO_FACT;
	struct xsf_maps *maps = NULL;
	uint64_t began = now_ms(), took;
	char why[768];

	if (!xsf_maps_open(o->dir, &maps, why, sizeof(why)))
		ours = counted(maps);
	xsf_probe_sockets(f);
	while (nanosleep(&left, &left) && errno == EINTR)
		;
	took = now_ms() - began;
	took = took ? took : 1;
	f->udp_rate = o->sample_ms ? rate(udp, xsf_probe_udp(), took) : XSF_NO_FACT;
	f->our_rate = maps && o->sample_ms ? rate(ours, counted(maps), took) : XSF_NO_FACT;
	f->sample_ms = (uint32_t)took;
	xsf_probe_sockets_again(f);
	xsf_maps_close(maps);
}

int xsf_probe(const struct xsf_probe_options *o, struct xsf_facts *f, struct xsf_why *why)
{
	uint16_t ours[XSF_MAX_PORTS + 1] = { 0 };
	const struct xsf_if *i;
	struct xsf_ifs ifs;
	int err;

	memset(f, 0, sizeof(*f));
	err = xsf_ifs_get(&ifs);
	if (err)
		return xsf_because(why, err, "cannot list the interfaces: %s", xsf_errno_text(err));
	i = xsf_ifs_name(&ifs, o->iface);
	if (!i) {
		xsf_ifs_free(&ifs);
		return xsf_because(why, -ENODEV,
				   "no interface %s in this network namespace; 'ip link' lists "
				   "those that there are",
				   o->iface);
	}
	snprintf(f->iface, sizeof(f->iface), "%s", i->name);
	xsf_probe_machine(o->dir, f);
	xsf_probe_device(&ifs, i, f);
	xsf_probe_programs(o->dir, i, f, ours);
	choose_ports(o, ours, f);
	xsf_probe_buffers(o->iface, f);
	xsf_probe_firewall(f);
	sample(o, f);
	xsf_ifs_free(&ifs);
	return 0;
}
