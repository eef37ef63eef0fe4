// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/netlink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* The kernel fills messages of up to the buffer it is offered, at most 32 KiB. */
#define BUF_LEN 32768
/* Messages of one dump: far beyond what is kept of any. */
#define MAX_MESSAGES 262144
#define MAX_BODY 64
#define ANSWER_SECONDS 5

static int open_protocol(int protocol, int flags, uint32_t groups)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = groups };
	struct timeval wait = { .tv_sec = ANSWER_SECONDS };
	int fd, err;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | flags, protocol);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait))) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int xsf_netlink_open(int flags, uint32_t groups)
{
	return open_protocol(NETLINK_ROUTE, flags, groups);
}

/* One received buffer. 1 = the answer ended, 0 = more follows, or negative errno. */
static int dump_part(const char *buf, size_t len, int (*each)(void *arg, const struct nlmsghdr *h),
		     void *arg)
{
	const struct nlmsghdr *h = (const struct nlmsghdr *)buf;
	int err;

	for (; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
		if (h->nlmsg_type == NLMSG_DONE)
			return 1;
		if (h->nlmsg_type == NLMSG_ERROR) {
			const struct nlmsgerr *e = NLMSG_DATA(h);

			if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*e)))
				return -EBADMSG;
			return e->error ? e->error : 1;
		}
		err = each(arg, h);
		if (err)
			return err < 0 ? err : 1;
	}
	return 0;
}

int xsf_netlink_ask(int protocol, const struct nlmsghdr *request,
		    int (*each)(void *arg, const struct nlmsghdr *h), void *arg)
{
	char *buf = malloc(BUF_LEN);
	int fd, err = -E2BIG, n;

	if (!buf)
		return -ENOMEM;
	fd = open_protocol(protocol, 0, 0);
	if (fd < 0) {
		err = fd;
		goto out;
	}
	if (send(fd, request, request->nlmsg_len, 0) < 0) {
		err = -errno;
		goto out;
	}
	for (n = 0; n < MAX_MESSAGES; n++) {
		ssize_t len = recv(fd, buf, BUF_LEN, 0);

		if (len < 0 && errno == EINTR)
			continue;
		err = len < 0 ? -errno : dump_part(buf, (size_t)len, each, arg);
		if (err) {
			err = err < 0 ? err : 0;
			goto out;
		}
		err = -E2BIG;
	}
out:
	if (fd >= 0)
		close(fd);
	free(buf);
	return err;
}

int xsf_netlink_dump(uint16_t type, const void *body, uint32_t body_len,
		     int (*each)(void *arg, const struct nlmsghdr *h), void *arg)
{
	struct {
		struct nlmsghdr h;
		uint8_t body[MAX_BODY];
	} request = {
		.h.nlmsg_len = NLMSG_LENGTH(body_len),
		.h.nlmsg_type = type,
		.h.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};

	if (body_len > MAX_BODY)
		return -EINVAL;
	memcpy(request.body, body, body_len);
	return xsf_netlink_ask(NETLINK_ROUTE, &request.h, each, arg);
}

uint32_t xsf_attr_u32(const struct rtattr *a)
{
	uint32_t v = 0;

	if (RTA_PAYLOAD(a) >= sizeof(v))
		memcpy(&v, RTA_DATA(a), sizeof(v));
	return v;
}

void xsf_attr_text(const struct rtattr *a, char *out, size_t size)
{
	size_t len = RTA_PAYLOAD(a);

	if (len >= size)
		len = size - 1;
	memcpy(out, RTA_DATA(a), len);
	out[len] = 0;
}
