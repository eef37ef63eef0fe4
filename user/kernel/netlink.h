/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Netlink, mostly rtnetlink: what the kernel is asked, and attributes of its answers. */
#ifndef XSF_NETLINK_H
#define XSF_NETLINK_H

#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

/* A socket, at most ANSWER_SECONDS (netlink.c) patient; flags as for socket(2). Or negative errno. */
int xsf_netlink_open(int flags, uint32_t groups);

/* Calls `each` for every message of a dump until it returns nonzero: negative is returned, positive ends it.
 * 0 or negative errno; -E2BIG when it has no end. */
int xsf_netlink_dump(uint16_t type, const void *body, uint32_t body_len,
		     int (*each)(void *arg, const struct nlmsghdr *h), void *arg);

/* Likewise for a whole request of any netlink protocol; its answer ends like a dump (NLM_F_DUMP) or with its
 * acknowledgement (NLM_F_ACK). */
int xsf_netlink_ask(int protocol, const struct nlmsghdr *request,
		    int (*each)(void *arg, const struct nlmsghdr *h), void *arg);

/* 0 when it is shorter. */
uint32_t xsf_attr_u32(const struct rtattr *a);
/* Cut and terminated. */
void xsf_attr_text(const struct rtattr *a, char *out, size_t size);

#endif
