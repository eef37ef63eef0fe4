// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/prefix.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int xsf_address_parse(const char *text, size_t len, uint8_t addr[16])
{
	char copy[INET6_ADDRSTRLEN];

	if (len >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, len);
	copy[len] = 0;
	memset(addr, 0, 10);
	addr[10] = addr[11] = 0xff;
	return inet_pton(AF_INET, copy, addr + 12) == 1 || inet_pton(AF_INET6, copy, addr) == 1 ?
		       0 :
		       -EINVAL;
}

int xsf_prefix_parse(const char *text, struct xsf_prefix_key *prefix)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	int is_ip6 = memchr(text, ':', len) != NULL;
	unsigned long bits = 128;
	uint32_t n;

	memset(prefix, 0, sizeof(*prefix));
	if (xsf_address_parse(text, len, prefix->addr))
		return -EINVAL;
	if (slash) {
		char *end;

		if (slash[1] < '0' || slash[1] > '9' || (slash[1] == '0' && slash[2]))
			return -EINVAL;
		bits = strtoul(slash + 1, &end, 10);
		if (*end || bits > (is_ip6 ? 128 : 32))
			return -EINVAL;
		bits += is_ip6 ? 0 : 96;
	}
	prefix->prefixlen = (uint32_t)bits;
	for (n = (uint32_t)bits; n < 128; n++) {
		if (prefix->addr[n / 8] & 0x80 >> n % 8)
			return -EINVAL;
	}
	return 0;
}
