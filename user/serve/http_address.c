// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A port, or -EINVAL. */
static int parse_port(const char *text)
{
	unsigned int port = 0;

	if (!*text || strlen(text) > 5)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		port = port * 10 + (unsigned int)(*text - '0');
	}
	return port > 65535 ? -EINVAL : (int)port;
}

/* Cuts "HOST", "HOST:PORT", "[HOST]" or "[HOST]:PORT" in place. */
static const char *split(char *text, char **host, char **port)
{
	char *colon;

	*port = NULL;
	*host = text;
	if (*text == '[') {
		char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return "write an IPv6 address as [ADDR] or [ADDR]:PORT";
		*host = text + 1;
		*end = '\0';
		if (end[1])
			*port = end + 2;
		if (!strchr(*host, ':'))
			return "only an IPv6 address stands in brackets";
		return NULL;
	}
	colon = strchr(text, ':');
	if (colon && strchr(colon + 1, ':'))
		return "write an IPv6 address as [ADDR] or [ADDR]:PORT";
	if (colon) {
		*colon = '\0';
		*port = colon + 1;
	}
	if (!*text)
		return "the address is missing; all addresses are 0.0.0.0 or [::]";
	return NULL;
}

int xsf_http_address(const char *text, struct sockaddr_storage *addr, socklen_t *len, char *why,
		     size_t why_len)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct addrinfo *info = NULL;
	int number = XSF_HTTP_DEFAULT_PORT;
	const char *fault;
	char *host, *port;
	char copy[128];

	if (strlen(text) >= sizeof(copy)) {
		snprintf(why, why_len, "it is longer than any address");
		return -EINVAL;
	}
	memcpy(copy, text, strlen(text) + 1);
	fault = split(copy, &host, &port);
	if (!fault && port) {
		number = parse_port(port);
		if (number < 0)
			fault = "the port must be a number from 0 to 65535";
	}
	if (fault) {
		snprintf(why, why_len, "%s", fault);
		return -EINVAL;
	}
	/* The one name that means the same everywhere (RFC 6761, 6.3). */
	if (!strcmp(host, "localhost"))
		memcpy(host, "127.0.0.1", sizeof("127.0.0.1")); /* as long */
	/* inet_pton refuses the short forms ("127.1", "1") that getaddrinfo takes; only getaddrinfo
	 * takes an IPv6 address with its interface (fe80::1%eth0). */
	hints.ai_family = strchr(host, ':') ? AF_INET6 : AF_INET;
	if ((hints.ai_family == AF_INET && inet_pton(AF_INET, host, &(struct in_addr){ 0 }) != 1) ||
	    getaddrinfo(host, NULL, &hints, &info)) {
		snprintf(why, why_len,
			 "write a numeric address of this host, as 192.0.2.1:8008 or "
			 "[2001:db8::1]:8008");
		return -EINVAL;
	}
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, info->ai_addr, info->ai_addrlen);
	*len = info->ai_addrlen;
	freeaddrinfo(info);
	if (addr->ss_family == AF_INET)
		((struct sockaddr_in *)addr)->sin_port = htons((uint16_t)number);
	else
		((struct sockaddr_in6 *)addr)->sin6_port = htons((uint16_t)number);
	return 0;
}

const char *xsf_http_address_text(const struct sockaddr_storage *addr, char *buf, size_t len)
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (addr->ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(buf, len, "%s:%u", host, ntohs(in->sin_port));
	} else {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(buf, len, "[%s]:%u", host, ntohs(in6->sin6_port));
	}
	return buf;
}
