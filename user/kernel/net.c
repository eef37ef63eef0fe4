// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/net.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/netlink.h"

static void parse_xdp(const struct rtattr *nest, struct xsf_if *i)
{
	const struct rtattr *a = RTA_DATA(nest);
	int len = (int)RTA_PAYLOAD(nest);

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == IFLA_XDP_ATTACHED && RTA_PAYLOAD(a) >= 1)
			i->xdp_mode = *(const uint8_t *)RTA_DATA(a);
		else if (a->rta_type == IFLA_XDP_PROG_ID)
			i->xdp_prog = xsf_attr_u32(a);
	}
}

static void parse_kind(const struct rtattr *nest, struct xsf_if *i)
{
	const struct rtattr *a = RTA_DATA(nest);
	int len = (int)RTA_PAYLOAD(nest);

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == IFLA_INFO_KIND)
			xsf_attr_text(a, i->kind, sizeof(i->kind));
	}
}

static int add_link(void *arg, const struct nlmsghdr *h)
{
	struct xsf_ifs *ifs = arg;
	const struct ifinfomsg *msg = NLMSG_DATA(h);
	const struct rtattr *a;
	int elsewhere = 0, len;
	struct xsf_if *i;

	if (h->nlmsg_type != RTM_NEWLINK || h->nlmsg_len < NLMSG_LENGTH(sizeof(*msg)))
		return 0;
	if (ifs->nr >= XSF_MAX_IFS)
		return -E2BIG;
	/* Grown to the next power of two whenever nr is one. */
	if (!(ifs->nr & (ifs->nr - 1))) {
		i = realloc(ifs->row, (ifs->nr ? 2 * (size_t)ifs->nr : 1) * sizeof(*i));
		if (!i)
			return -ENOMEM;
		ifs->row = i;
	}
	i = &ifs->row[ifs->nr++];
	memset(i, 0, sizeof(*i));
	i->ifindex = (uint32_t)msg->ifi_index;
	i->flags = msg->ifi_flags;
	i->type = msg->ifi_type;
	a = IFLA_RTA(msg);
	len = (int)IFLA_PAYLOAD(h);
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		switch (a->rta_type & NLA_TYPE_MASK) {
		case IFLA_IFNAME:
			xsf_attr_text(a, i->name, sizeof(i->name));
			break;
		case IFLA_MTU:
			i->mtu = xsf_attr_u32(a);
			break;
		case IFLA_MASTER:
			i->master = xsf_attr_u32(a);
			break;
		case IFLA_LINK:
			i->lower = xsf_attr_u32(a);
			break;
		case IFLA_LINK_NETNSID:
			elsewhere = 1;
			break;
		case IFLA_LINKINFO:
			parse_kind(a, i);
			break;
		case IFLA_XDP:
			parse_xdp(a, i);
			break;
		}
	}
	/* A veth's "link" is its peer, not something below it. */
	if (elsewhere || i->lower == i->ifindex)
		i->lower = 0;
	if (!strcmp(i->kind, "veth")) {
		i->peer = i->lower;
		i->lower = 0;
	}
	return 0;
}

int xsf_ifs_get(struct xsf_ifs *ifs)
{
	int err;

	memset(ifs, 0, sizeof(*ifs));
	err = xsf_netlink_dump(RTM_GETLINK, &(struct ifinfomsg){ 0 }, sizeof(struct ifinfomsg),
			       add_link, ifs);
	if (err)
		xsf_ifs_free(ifs);
	return err;
}

void xsf_ifs_free(struct xsf_ifs *ifs)
{
	free(ifs->row);
	memset(ifs, 0, sizeof(*ifs));
}

const struct xsf_if *xsf_ifs_name(const struct xsf_ifs *ifs, const char *name)
{
	for (uint32_t n = 0; n < ifs->nr; n++) {
		if (!strcmp(ifs->row[n].name, name))
			return &ifs->row[n];
	}
	return NULL;
}

const struct xsf_if *xsf_ifs_index(const struct xsf_ifs *ifs, uint32_t ifindex)
{
	for (uint32_t n = 0; n < ifs->nr; n++) {
		if (ifs->row[n].ifindex == ifindex)
			return &ifs->row[n];
	}
	return NULL;
}

const struct xsf_if *xsf_ifs_prog(const struct xsf_ifs *ifs, uint32_t prog_id)
{
	for (uint32_t n = 0; n < ifs->nr && prog_id; n++) {
		if (ifs->row[n].xdp_prog == prog_id)
			return &ifs->row[n];
	}
	return NULL;
}

const char *xsf_xdp_mode_name(uint32_t xdp_mode)
{
	switch (xdp_mode) {
	case XDP_ATTACHED_DRV:
		return "native";
	case XDP_ATTACHED_SKB:
		return "generic";
	case XDP_ATTACHED_HW:
		return "offload";
	case XDP_ATTACHED_MULTI:
		return "multi";
	}
	return "";
}

struct each_address {
	int (*each)(void *arg, const uint8_t addr[16]);
	void *arg;
	int stopped;
};

static int is_loopback(const uint8_t addr[16])
{
	static const uint8_t v4[13] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127 };
	static const uint8_t v6[16] = { [15] = 1 };

	return !memcmp(addr, v4, sizeof(v4)) || !memcmp(addr, v6, sizeof(v6));
}

static int add_address(void *arg, const struct nlmsghdr *h)
{
	struct each_address *each = arg;
	const struct ifaddrmsg *msg = NLMSG_DATA(h);
	uint8_t addr[16] = { 0 };
	const struct rtattr *a;
	int len, found = 0;

	if (h->nlmsg_type != RTM_NEWADDR || h->nlmsg_len < NLMSG_LENGTH(sizeof(*msg)))
		return 0;
	a = IFA_RTA(msg);
	len = (int)IFA_PAYLOAD(h);
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		/* On a point-to-point link IFA_ADDRESS is the peer's; IFA_LOCAL is ours where both are. */
		if (a->rta_type != IFA_LOCAL && (a->rta_type != IFA_ADDRESS || found == 2))
			continue;
		if (msg->ifa_family == AF_INET && RTA_PAYLOAD(a) == 4) {
			addr[10] = addr[11] = 0xff;
			memcpy(addr + 12, RTA_DATA(a), 4);
		} else if (msg->ifa_family == AF_INET6 && RTA_PAYLOAD(a) == 16) {
			memcpy(addr, RTA_DATA(a), 16);
		} else {
			continue;
		}
		found = a->rta_type == IFA_LOCAL ? 2 : 1;
	}
	if (!found || is_loopback(addr))
		return 0;
	each->stopped = each->each(each->arg, addr);
	return !!each->stopped;
}

int xsf_addresses_each(int (*each)(void *arg, const uint8_t addr[16]), void *arg)
{
	struct each_address state = { .each = each, .arg = arg };
	int err = xsf_netlink_dump(RTM_GETADDR, &(struct ifaddrmsg){ 0 }, sizeof(struct ifaddrmsg),
				   add_address, &state);

	return err ? err : state.stopped;
}

int xsf_addresses_watch(void)
{
	return xsf_netlink_open(SOCK_NONBLOCK, RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);
}

int xsf_addresses_changed(int fd)
{
	char buf[8192];
	int changed = 0, n;

	/* Bounded: what is left makes the socket readable again. */
	for (n = 0; n < 1024; n++) {
		ssize_t len = recv(fd, buf, sizeof(buf), 0);

		if (len < 0 && errno == EAGAIN)
			break;
		if (len < 0 && errno != EINTR && errno != ENOBUFS)
			return -errno;
		changed = 1;
	}
	return changed;
}
