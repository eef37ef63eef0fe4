// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/prefix.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int xsf_prefix_parse(const char *text, struct xsf_prefix_key *prefix)
{
	char addr[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	unsigned long bits = 128;
	uint32_t n;

	if (len >= sizeof(addr))
		return -EINVAL;
	memcpy(addr, text, len);
	addr[len] = 0;
	memset(prefix, 0, sizeof(*prefix));
	if (slash) {
		char *end;

		if (slash[1] < '0' || slash[1] > '9')
			return -EINVAL;
		bits = strtoul(slash + 1, &end, 10);
		if (*end || bits > 128)
			return -EINVAL;
	}
	if (inet_pton(AF_INET, addr, prefix->addr + 12) == 1) {
		prefix->addr[10] = prefix->addr[11] = 0xff;
		if (slash && bits > 32)
			return -EINVAL;
		bits = slash ? bits + 96 : 128;
	} else if (inet_pton(AF_INET6, addr, prefix->addr) != 1) {
		return -EINVAL;
	}
	prefix->prefixlen = (uint32_t)bits;
	for (n = (uint32_t)bits; n < 128; n++) {
		if (prefix->addr[n / 8] & 0x80 >> n % 8)
			return -EINVAL;
	}
	return 0;
}
