// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sockets on the telemetry ports, who has them, their buffers; counters of the stack. By /proc, so that no
 * module is loaded for the question. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel/probe.h"

/* Lines of a table of sockets, processes, and descriptors of all processes that are looked at. */
#define MAX_LINES 262144
#define MAX_PROCESSES 65536
#define MAX_DESCRIPTORS 1048576

struct line {
	uint16_t port;
	int loopback;
	uint64_t inode;
	uint64_t drops;
};

/* Inodes of the sockets in xsf_facts.socket. */
static uint64_t inodes[XSF_DOCTOR_SOCKETS];

static int is_zero(const char *hex, size_t len)
{
	return strspn(hex, "0") >= len;
}

/* "12: 0100007F:18C7 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 4711 2 ffff.. 0": address
 * and port, peer, state, queues, timer, retransmits, uid, timeout, inode, references, pointer, drops. 1 when
 * it is a socket that is not connected. */
static int read_line(const char *text, int ipv6, struct line *l)
{
	char local[33], peer[33];
	unsigned int port, peer_port;

	/* The kernel writes it. NOLINTNEXTLINE(cert-err34-c) */
	if (sscanf(text,
		   " %*[0-9]: %32[0-9A-F]:%4x %32[0-9A-F]:%4x %*x %*x:%*x %*x:%*x %*x %*u %*u "
		   "%" SCNu64 " %*u %*s %" SCNu64,
		   local, &port, peer, &peer_port, &l->inode, &l->drops) != 6)
		return 0;
	l->port = (uint16_t)port;
	/* Words in host order: 127.0.0.1 on a little-endian machine ends in 7F, else begins with it. ::1 is
	 * three words of 0 and a 1. */
	if (ipv6)
		l->loopback = is_zero(local, 24) &&
			      (!strcmp(local + 24, "01000000") || !strcmp(local + 24, "00000001"));
	else
		l->loopback = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? !strcmp(local + 6, "7F") :
									  !strncmp(local, "7F", 2);
	return !peer_port;
}

static int wanted(const struct xsf_facts *f, uint16_t port)
{
	for (uint32_t n = 0; n < f->nr_ports; n++) {
		if (f->ports[n] == port)
			return 1;
	}
	return 0;
}

static void take_socket(struct xsf_facts *f, const struct line *l, int ipv6, int again)
{
	struct xsf_doctor_socket *s;

	for (uint32_t n = 0; again && n < f->nr_sockets; n++) {
		s = &f->socket[n];
		if (inodes[n] != l->inode || s->port != l->port || s->ipv6 != ipv6)
			continue;
		s->losing = l->drops > s->drops ? l->drops - s->drops : 0;
		s->drops = l->drops;
	}
	if (again)
		return;
	f->sockets++;
	if (f->nr_sockets == XSF_DOCTOR_SOCKETS)
		return;
	inodes[f->nr_sockets] = l->inode;
	s = &f->socket[f->nr_sockets++];
	memset(s, 0, sizeof(*s));
	s->port = l->port;
	s->ipv6 = ipv6;
	s->loopback = l->loopback;
	s->drops = l->drops;
}

static int read_table(struct xsf_facts *f, const char *path, int ipv6, int again)
{
	FILE *file = fopen(path, "re");
	char text[512];
	struct line l;

	if (!file)
		return errno == ENOENT ? 0 : -errno;
	for (int n = 0; n < MAX_LINES && fgets(text, sizeof(text), file); n++) {
		if (read_line(text, ipv6, &l) && wanted(f, l.port))
			take_socket(f, &l, ipv6, again);
	}
	fclose(file);
	return 0;
}

/* Sockets among the descriptors of one process. */
static void read_process(struct xsf_facts *f, const char *pid, int *left)
{
	char path[64], target[64], command[24];
	struct dirent *e;
	uint64_t inode;
	ssize_t len;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%.10s/fd", pid);
	d = opendir(path);
	while (d && *left > 0 && (e = readdir(d))) {
		(*left)--;
		len = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);
		if (len <= 0)
			continue;
		target[len] = 0;
		if (strncmp(target, "socket:[", 8))
			continue;
		inode = strtoull(target + 8, NULL, 10);
		for (uint32_t n = 0; n < f->nr_sockets; n++) {
			struct xsf_doctor_socket *s = &f->socket[n];

			if (inodes[n] != inode || s->pid)
				continue;
			s->pid = (uint32_t)strtoul(pid, NULL, 10);
			snprintf(path, sizeof(path), "/proc/%.10s/comm", pid);
			if (!xsf_probe_text(path, command, sizeof(command)))
				snprintf(s->command, sizeof(s->command), "%.*s",
					 (int)strcspn(command, "\n"), command);
		}
	}
	if (d)
		closedir(d);
}

void xsf_probe_sockets(struct xsf_facts *f)
{
	int err, left = MAX_DESCRIPTORS;
	struct dirent *e;
	DIR *d;

	err = read_table(f, "/proc/net/udp", 0, 0);
	if (!err)
		err = read_table(f, "/proc/net/udp6", 1, 0);
	if (err)
		f->sockets = err;
	if (!f->nr_sockets)
		return;
	d = opendir("/proc");
	for (int n = 0; d && n < MAX_PROCESSES && (e = readdir(d)); n++) {
		if (isdigit((unsigned char)e->d_name[0]))
			read_process(f, e->d_name, &left);
	}
	if (d)
		closedir(d);
}

void xsf_probe_sockets_again(struct xsf_facts *f)
{
	if (f->nr_sockets && !read_table(f, "/proc/net/udp", 0, 1))
		read_table(f, "/proc/net/udp6", 1, 1);
}

/* A counter of /proc/net/snmp or netstat: two lines that begin alike, names and then values. */
static xsf_fact_t stack_counter(const char *path, const char *group, const char *name)
{
	size_t len = strlen(group);
	FILE *file = fopen(path, "re");
	char names[4096], values[4096], *n, *v, *names_left, *values_left;
	xsf_fact_t found = XSF_NO_FACT;

	if (!file)
		return errno == ENOENT ? XSF_NO_FACT : -errno;
	while (found == XSF_NO_FACT && fgets(names, sizeof(names), file) &&
	       fgets(values, sizeof(values), file)) {
		if (strncmp(names, group, len) || names[len] != ':')
			continue;
		n = strtok_r(names, " \n", &names_left);
		v = strtok_r(values, " \n", &values_left);
		while (n && v && strcmp(n, name)) {
			n = strtok_r(NULL, " \n", &names_left);
			v = strtok_r(NULL, " \n", &values_left);
		}
		if (n && v)
			found = (xsf_fact_t)(strtoull(v, NULL, 10) & INT64_MAX);
	}
	fclose(file);
	return found;
}

/* A counter of /proc/net/snmp6: a name and its value in each line. */
static xsf_fact_t stack6_counter(const char *name)
{
	FILE *file = fopen("/proc/net/snmp6", "re");
	size_t len = strlen(name);
	char text[128];
	xsf_fact_t found = XSF_NO_FACT;

	while (file && found == XSF_NO_FACT && fgets(text, sizeof(text), file)) {
		if (!strncmp(text, name, len) && isspace((unsigned char)text[len]))
			found = (xsf_fact_t)(strtoull(text + len, NULL, 10) & INT64_MAX);
	}
	if (file)
		fclose(file);
	return found;
}

xsf_fact_t xsf_probe_udp(void)
{
	xsf_fact_t part[] = { stack_counter("/proc/net/snmp", "Udp", "InDatagrams"),
			      stack_counter("/proc/net/snmp", "Udp", "RcvbufErrors"),
			      stack6_counter("Udp6InDatagrams"),
			      stack6_counter("Udp6RcvbufErrors") };
	xsf_fact_t sum = 0;

	for (size_t n = 0; n < sizeof(part) / sizeof(part[0]); n++)
		sum += part[n] > 0 ? part[n] : 0;
	return part[0] < 0 && part[2] < 0 ? part[0] : sum;
}

/* By a socket of our own: in other network namespances than the first not every kernel shows the settings. */
static void probe_rmem(struct xsf_facts *f)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), most = 0x3fffffff, is = 0;
	socklen_t len = sizeof(is);

	f->rmem_default = f->rmem_max = fd < 0 ? -errno : XSF_NO_FACT;
	if (fd < 0)
		return;
	if (!getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &is, &len))
		f->rmem_default = is;
	/* It is given rmem_max, doubled (socket(7)). */
	if (!setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &most, sizeof(most)) &&
	    !getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &is, &len))
		f->rmem_max = is / 2;
	close(fd);
}

void xsf_probe_buffers(const char *iface, struct xsf_facts *f)
{
	char path[128];

	probe_rmem(f);
	f->rp_all = xsf_probe_number("/proc/sys/net/ipv4/conf/all/rp_filter");
	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/conf/%s/rp_filter", iface);
	f->rp_iface = xsf_probe_number(path);
	f->rp_dropped = stack_counter("/proc/net/netstat", "TcpExt", "IPReversePathFilter");
}
