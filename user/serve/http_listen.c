// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/http_listen.h"
#include "serve/http.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BACKLOG 4096 /* net.core.somaxconn may be less */
/* Bytes of kernel memory a connection may hold; the kernel doubles them for its own bookkeeping. Without
 * the bound a client that does not read makes the kernel keep tcp_wmem's maximum, 4 MB, for it. */
#define SEND_BUFFER (128 * 1024)
#define RECEIVE_BUFFER (32 * 1024)
#define FILES_SPARE 128 /* descriptors for everything that is not a connection */

static const char *advice(int err)
{
	switch (err) {
	case EADDRINUSE:
		return "see who listens there with 'ss -ltnp', or choose another with --listen";
	case EADDRNOTAVAIL:
		return "no interface here has that address, see 'ip address'";
	case EACCES:
		return "ports below 1024 need root or CAP_NET_BIND_SERVICE, choose a higher one";
	case EAFNOSUPPORT:
		return "this kernel or namespace has no such protocol, choose another with "
		       "--listen";
	default:
		return "choose another address with --listen";
	}
}

static int set_options(int fd, const struct sockaddr_storage *addr)
{
	const int on = 1, off = 0, send_buffer = SEND_BUFFER, receive_buffer = RECEIVE_BUFFER;
	const unsigned int user_timeout_ms = 60000; /* for what a client never acknowledges */

	/* Connections inherit all of these from the listening socket. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms,
		       sizeof(user_timeout_ms)))
		return -errno;
	if (addr->ss_family == AF_INET6 &&
	    IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)addr)->sin6_addr) &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)))
		return -errno;
	return 0;
}

int xsf_http_listen(const char *listen_text, struct sockaddr_storage *addr, char *why,
		    size_t why_len)
{
	char reason[160];
	socklen_t len;
	int fd, err;

	err = xsf_http_address(listen_text, addr, &len, reason, sizeof(reason));
	if (err) {
		snprintf(why, why_len, "cannot listen on '%s': %s", listen_text, reason);
		return err;
	}
	fd = socket(addr->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		err = -errno;
	else
		err = set_options(fd, addr);
	if (!err && (bind(fd, (struct sockaddr *)addr, len) || listen(fd, BACKLOG)))
		err = -errno;
	len = sizeof(*addr);
	if (!err && getsockname(fd, (struct sockaddr *)addr, &len))
		err = -errno;
	if (err) {
		snprintf(why, why_len, "cannot listen on %s: %s; %s", listen_text, strerror(-err),
			 advice(-err));
		if (fd >= 0)
			close(fd);
		return err;
	}
	return fd;
}

int xsf_http_raise_files(unsigned int connections, char *why, size_t why_len)
{
	const rlim_t need = connections + FILES_SPARE;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	if (limit.rlim_cur >= need)
		return 0;
	if (limit.rlim_max < need) {
		snprintf(why, why_len,
			 "%u connections need %llu open files and the hard limit is %llu; raise it "
			 "('ulimit -Hn', LimitNOFILE=)",
			 connections, (unsigned long long)need, (unsigned long long)limit.rlim_max);
		return -EMFILE;
	}
	limit.rlim_cur = need;
	return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : 0;
}
