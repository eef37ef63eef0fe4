// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Fills pinned maps as agents that send everything would: fill_maps DIR AGENTS INTERFACES. Each of the
 * agents has that many interfaces with counters, a name and traffic in each direction. For tests of readers;
 * no program may be counting meanwhile. */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xsf/abi.h>

static const char *dir;

static int open_map(const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = bpf_obj_get(path);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void put(int fd, uint32_t slot, const void *value)
{
	if (bpf_map_update_elem(fd, &slot, value, BPF_ANY)) {
		perror("bpf_map_update_elem");
		exit(1);
	}
}

static void address_of(uint32_t agent, uint8_t addr[16])
{
	memset(addr, 0, 16);
	addr[10] = addr[11] = 0xff;
	addr[12] = 10;
	addr[13] = (uint8_t)(agent >> 16);
	addr[14] = (uint8_t)(agent >> 8);
	addr[15] = (uint8_t)agent;
}

static void fill_agent(int fd, uint32_t slot, uint64_t now)
{
	struct xsf_agent a = { .generation = 1,
			       .uptime_ms = 1000,
			       .uptime_moves = 1,
			       .sequence = (uint64_t)slot << 32 | 1,
			       .first_seen_ns = now,
			       .last_seen_ns = now };

	a.shared.datagrams = slot;
	a.shared.bytes = slot * 1370ull;
	address_of(slot, a.key.addr);
	memcpy(a.source, a.key.addr, 16);
	a.name_len = (uint16_t)snprintf((char *)a.name, sizeof(a.name), "switch-%u", slot);
	put(fd, slot, &a);
}

static void fill_source(int source_fd, int interface_fd, uint32_t slot, uint32_t agent,
			uint32_t index, uint64_t now)
{
	struct xsf_source s = { .key = { agent, 1, 0, index },
				.generation = 1,
				.sampling_rate = 1000,
				.last_seen_ns = now };
	struct xsf_interface i = { .index = index, .generation = 1, .has_counters = 1 };
	uint32_t *counter = &i.in_ucast;

	for (int d = 0; d < XSF_DIRECTIONS; d++)
		s.shared[d] = (struct xsf_traffic){ .samples = slot,
						    .packets = slot * 1000ull,
						    .bytes = slot * 1000000ull,
						    .roce_packets = slot * 900ull,
						    .roce_bytes = slot * 900000ull,
						    .ce_packets = slot,
						    .cnp_packets = slot,
						    .trimmed_packets = slot };
	address_of(agent, i.agent.addr);
	i.counters_ns = now;
	i.speed = 400000000000ull;
	i.in_octets = i.out_octets = 1234567890123456789ull;
	i.type = 6;
	i.direction = 1;
	i.status = 3;
	while (counter <= &i.promiscuous)
		*counter++ = slot * 1000;
	i.name_len = (uint32_t)snprintf((char *)i.name, sizeof(i.name), "Ethernet1/%u", index);
	put(source_fd, slot, &s);
	put(interface_fd, slot, &i);
}

int main(int argc, char **argv)
{
	uint32_t agents, interfaces, slot = 0;
	struct xsf_control control = {};
	int agent_fd, source_fd, interface_fd, control_fd;
	struct timespec ts;
	uint64_t now;

	if (argc != 4)
		return 2;
	dir = argv[1];
	agents = (uint32_t)strtoul(argv[2], NULL, 10);
	interfaces = (uint32_t)strtoul(argv[3], NULL, 10);
	if (agents >= XSF_AGENTS || (uint64_t)agents * interfaces >= XSF_SOURCES) {
		fprintf(stderr, "fill_maps: more than the tables hold\n");
		return 2;
	}
	agent_fd = open_map("xsf_agents");
	source_fd = open_map("xsf_sources");
	interface_fd = open_map("xsf_interfaces");
	control_fd = open_map("xsf_control");
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	for (uint32_t a = 1; a <= agents; a++) {
		fill_agent(agent_fd, a, now);
		for (uint32_t i = 1; i <= interfaces; i++)
			fill_source(source_fd, interface_fd, ++slot, a, i, now);
	}
	control.next = agents;
	put(control_fd, XSF_TABLE_AGENTS, &control);
	control.next = slot;
	put(control_fd, XSF_TABLE_SOURCES, &control);
	printf("%u\n", slot);
	return 0;
}
