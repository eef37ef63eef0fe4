// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/ledger_internal.h"

#define MAX_LINES 1000000

static int is_listed(const uint16_t *ports, uint32_t nr, unsigned int port)
{
	for (uint32_t n = 0; n < nr; n++) {
		if (ports[n] == port)
			return 1;
	}
	return 0;
}

/* 32-bit words in host order: "0100007F" is 127.0.0.1 on a little-endian machine. */
static int parse_address(const char *hex, uint8_t addr[16])
{
	size_t words = strlen(hex) / 8;

	if (words != 1 && words != 4)
		return -EPROTO;
	memset(addr, 0, 16);
	for (size_t w = 0; w < words; w++) {
		char part[9] = { 0 };
		uint32_t value;

		memcpy(part, hex + 8 * w, 8);
		value = (uint32_t)strtoul(part, NULL, 16);
		memcpy(addr + (words == 1 ? 12 : 4 * w), &value, 4);
	}
	if (words == 1)
		addr[10] = addr[11] = 0xff;
	return 0;
}

/* Columns, as in Documentation/networking/proc_net_tcp.rst; drops is the last one and UDP's alone. */
enum {
	SL,
	LOCAL,
	REMOTE,
	STATE,
	QUEUES,
	TIMER,
	RETRANSMITS,
	USER,
	TIMEOUT,
	INODE,
	REFS,
	POINTER,
	DROPS,
	NR
};

static int parse_line(char *line, struct xsf_ledger_socket *s)
{
	char *column[NR], *rest, *port, *received;

	for (int n = 0; n < NR; n++) {
		column[n] = strtok_r(n ? NULL : line, " \n", &rest);
		if (!column[n])
			return -EPROTO;
	}
	port = strchr(column[LOCAL], ':');
	received = strchr(column[QUEUES], ':');
	/* The first line names the columns. */
	if (!port || !received)
		return -EPROTO;
	*port = 0;
	s->port = (uint16_t)strtoul(port + 1, NULL, 16);
	s->queued = strtoul(received + 1, NULL, 16);
	s->uid = (uint32_t)strtoul(column[USER], NULL, 10);
	s->inode = strtoull(column[INODE], NULL, 10);
	s->drops = strtoull(column[DROPS], NULL, 10);
	return parse_address(column[LOCAL], s->addr);
}

static int read_file(const char *path, const uint16_t *ports, uint32_t nr_ports,
		     struct xsf_ledger_sockets *s)
{
	FILE *file = fopen(path, "re");
	char line[512];

	if (!file)
		return errno == ENOENT ? 0 : -errno;
	for (uint32_t lines = 0; lines < MAX_LINES && fgets(line, sizeof(line), file); lines++) {
		struct xsf_ledger_socket one = { 0 };

		if (parse_line(line, &one) || !is_listed(ports, nr_ports, one.port))
			continue;
		if (s->nr == XSF_LEDGER_SOCKETS)
			s->more++;
		else
			s->at[s->nr++] = one;
	}
	fclose(file);
	return 0;
}

int xsf_ledger_sockets_read(const uint16_t *ports, uint32_t nr_ports, struct xsf_ledger_sockets *s)
{
	int err;

	s->nr = s->more = 0;
	err = read_file("/proc/net/udp", ports, nr_ports, s);
	/* Absent without IPv6. */
	return err ? err : read_file("/proc/net/udp6", ports, nr_ports, s);
}

void xsf_ledger_sockets_since(const struct xsf_ledger_sockets *before,
			      struct xsf_ledger_sockets *now)
{
	for (uint32_t n = 0; n < now->nr; n++) {
		for (uint32_t b = 0; b < before->nr; b++) {
			if (before->at[b].inode == now->at[n].inode &&
			    before->at[b].drops <= now->at[n].drops)
				now->at[n].drops -= before->at[b].drops;
		}
	}
}
