// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The device and its driver: by ethtool's ioctl, and the kernel's netdev family. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel/netlink.h"
#include "kernel/probe.h"

/* Features of a device that are looked at; kernels have about 64. */
#define MAX_FEATURES 512

/* From the kernel's netdev family (6.3), which these headers may be too old for. */
#define NETDEV_DEV_GET 1
#define NETDEV_IFINDEX 1
#define NETDEV_XDP_FEATURES 3

/* IFF_LOWER_UP of <linux/if.h>, which does not go with <net/if.h>: carrier, without IFF_RUNNING's delay. */
#define LOWER_UP 0x10000U

struct device {
	int fd;
	struct ifreq request;
};

static int ask(struct device *dev, void *data)
{
	dev->request.ifr_data = data;
	return ioctl(dev->fd, SIOCETHTOOL, &dev->request) ? -errno : 0;
}

/* XSF_FEATURE_* of a name. */
static xsf_fact_t feature(const struct ethtool_gstrings *names, const struct ethtool_gfeatures *is,
			  const char *name)
{
	for (uint32_t n = 0; n < names->len && n / 32 < is->size; n++) {
		const struct ethtool_get_features_block *block = &is->features[n / 32];
		uint32_t bit = 1U << n % 32;
		xsf_fact_t v = 0;

		if (strncmp((const char *)names->data + (size_t)n * ETH_GSTRING_LEN, name,
			    ETH_GSTRING_LEN))
			continue;
		if (block->active & bit)
			v |= XSF_FEATURE_ON;
		if (!(block->available & bit) || block->never_changed & bit)
			v |= XSF_FEATURE_FIXED;
		return v;
	}
	return XSF_NO_FACT;
}

static void all_features(struct xsf_facts *f, xsf_fact_t v)
{
	f->lro = f->gro_hw = f->gro_forward = f->gro_list = f->rx_vlan = v;
}

static void probe_features(struct device *dev, struct xsf_facts *f)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t nr;
	} set = { .info = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_FEATURES } };
	struct ethtool_gfeatures *is = NULL;
	struct ethtool_gstrings *names = NULL;
	uint32_t blocks;
	int err;

	err = ask(dev, &set);
	if (!err && (!set.info.sset_mask || set.nr > MAX_FEATURES))
		err = -EOPNOTSUPP;
	if (err)
		goto out;
	blocks = (set.nr + 31) / 32;
	names = calloc(1, sizeof(*names) + (size_t)set.nr * ETH_GSTRING_LEN);
	is = calloc(1, sizeof(*is) + blocks * sizeof(is->features[0]));
	err = -ENOMEM;
	if (!names || !is)
		goto out;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = set.nr;
	is->cmd = ETHTOOL_GFEATURES;
	is->size = blocks;
	err = ask(dev, names);
	if (!err)
		err = ask(dev, is);
	if (err)
		goto out;
	f->lro = feature(names, is, "rx-lro");
	f->gro_hw = feature(names, is, "rx-gro-hw");
	f->gro_forward = feature(names, is, "rx-udp-gro-forwarding");
	f->gro_list = feature(names, is, "rx-gro-list");
	f->rx_vlan = feature(names, is, "rx-vlan-hw-parse");
out:
	if (err)
		all_features(f, err);
	free(names);
	free(is);
}

static void probe_channels(struct device *dev, struct xsf_facts *f)
{
	struct ethtool_channels is = { .cmd = ETHTOOL_GCHANNELS };
	int err = ask(dev, &is);

	f->queues = err ? err : (xsf_fact_t)is.rx_count + is.combined_count;
	f->queues_max = err ? err : (xsf_fact_t)is.max_rx + is.max_combined;
	f->queues_combined = is.combined_count > 0;
	if (!err && !f->queues)
		f->queues = XSF_NO_FACT;
}

static void probe_ring(struct device *dev, struct xsf_facts *f)
{
	struct ethtool_ringparam is = { .cmd = ETHTOOL_GRINGPARAM };
	int err = ask(dev, &is);

	f->ring = err ? err : (xsf_fact_t)is.rx_pending;
	f->ring_max = err ? err : (xsf_fact_t)is.rx_max_pending;
	if (!err && !is.rx_max_pending)
		f->ring = XSF_NO_FACT;
}

/* Send queues of a veth's other end. */
static xsf_fact_t send_queues(int fd, const struct xsf_if *peer)
{
	struct ethtool_channels is = { .cmd = ETHTOOL_GCHANNELS };
	struct device dev = { .fd = fd };
	int err;

	snprintf(dev.request.ifr_name, sizeof(dev.request.ifr_name), "%s", peer->name);
	err = ask(&dev, &is);
	return err ? err : (xsf_fact_t)is.tx_count + is.combined_count;
}

static void probe_driver(struct device *dev, struct xsf_facts *f)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	char path[128];

	f->numa_node = XSF_NO_FACT;
	if (ask(dev, &info))
		return;
	snprintf(f->driver, sizeof(f->driver), "%.31s", info.driver);
	info.bus_info[sizeof(info.bus_info) - 1] = 0;
	/* By its place on the bus: /sys/class/net may be of another network namespace. */
	if (!info.bus_info[0] || strchr(info.bus_info, '/'))
		return;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", info.bus_info);
	f->numa_node = xsf_probe_number(path);
}

struct generic_request {
	struct nlmsghdr h;
	struct genlmsghdr g;
	struct nlattr a;
	char value[16];
};

static void generic_request(struct generic_request *r, uint16_t family, uint8_t command,
			    uint16_t attr, const void *value, uint16_t len)
{
	memset(r, 0, sizeof(*r));
	r->h.nlmsg_type = family;
	r->h.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	r->h.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN + NLA_HDRLEN) + (uint32_t)NLA_ALIGN(len);
	r->g.cmd = command;
	r->g.version = 1;
	r->a.nla_type = attr;
	r->a.nla_len = (uint16_t)(NLA_HDRLEN + len);
	memcpy(r->value, value, len);
}

struct wanted {
	uint16_t attr;
	size_t len;
	uint64_t value; /* its first bytes */
	int found;
};

static int take(void *arg, const struct nlmsghdr *h)
{
	struct wanted *w = arg;
	const struct rtattr *a;
	int len;

	if (h->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN))
		return 0;
	a = (const struct rtattr *)((const char *)NLMSG_DATA(h) + GENL_HDRLEN);
	len = (int)(h->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN));
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if ((a->rta_type & NLA_TYPE_MASK) == w->attr && RTA_PAYLOAD(a) >= w->len) {
			memcpy(&w->value, RTA_DATA(a), w->len);
			w->found = 1;
		}
	}
	return 0;
}

static xsf_fact_t xdp_features(uint32_t ifindex)
{
	struct wanted family = { .attr = CTRL_ATTR_FAMILY_ID, .len = sizeof(uint16_t) };
	struct wanted features = { .attr = NETDEV_XDP_FEATURES, .len = sizeof(uint64_t) };
	struct generic_request r;
	uint16_t id;
	int err;

	generic_request(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, "netdev",
			sizeof("netdev"));
	err = xsf_netlink_ask(NETLINK_GENERIC, &r.h, take, &family);
	if (err || !family.found)
		return err == -ENOENT || !err ? -EOPNOTSUPP : err;
	memcpy(&id, &family.value, sizeof(id));
	generic_request(&r, id, NETDEV_DEV_GET, NETDEV_IFINDEX, &ifindex, sizeof(ifindex));
	err = xsf_netlink_ask(NETLINK_GENERIC, &r.h, take, &features);
	if (err)
		return err;
	return features.found ? (xsf_fact_t)(features.value & INT64_MAX) : -EOPNOTSUPP;
}

/* A unicast address that a sender elsewhere could use. */
static int is_reachable(const struct sockaddr *addr, int on_loopback)
{
	if (addr->sa_family == AF_INET) {
		uint32_t v4 = ntohl(((const struct sockaddr_in *)addr)->sin_addr.s_addr);

		return on_loopback || v4 >> 24 != 127;
	}
	if (addr->sa_family == AF_INET6) {
		const struct in6_addr *v6 = &((const struct sockaddr_in6 *)addr)->sin6_addr;

		return !IN6_IS_ADDR_LINKLOCAL(v6) && (on_loopback || !IN6_IS_ADDR_LOOPBACK(v6));
	}
	return 0;
}

static void probe_addresses(struct xsf_facts *f)
{
	struct ifaddrs *all = NULL;

	f->missed = XSF_NO_FACT;
	if (getifaddrs(&all)) {
		f->addresses = f->addresses_all = -errno;
		return;
	}
	for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
		int here = !strcmp(a->ifa_name, f->iface);

		if (!a->ifa_addr)
			continue;
		if (a->ifa_addr->sa_family == AF_PACKET && here && a->ifa_data) {
			const struct rtnl_link_stats *stats = a->ifa_data;

			f->missed = (xsf_fact_t)stats->rx_missed_errors + stats->rx_fifo_errors;
		}
		if (!is_reachable(a->ifa_addr, here && f->loopback))
			continue;
		f->addresses += here;
		f->addresses_all++;
	}
	freeifaddrs(all);
}

void xsf_probe_device(const struct xsf_ifs *ifs, const struct xsf_if *i, struct xsf_facts *f)
{
	const struct xsf_if *peer = i->peer ? xsf_ifs_index(ifs, i->peer) : NULL;
	struct device dev = { .fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) };

	snprintf(f->kind, sizeof(f->kind), "%s", i->kind);
	f->mtu = i->mtu;
	f->ethernet = i->type == ARPHRD_ETHER || i->type == ARPHRD_LOOPBACK;
	f->peer_mtu = peer ? peer->mtu : 0;
	f->up = !!(i->flags & IFF_UP);
	f->carrier = !!(i->flags & LOWER_UP);
	f->loopback = !!(i->flags & IFF_LOOPBACK);
	for (uint32_t n = 0; n < ifs->nr; n++)
		f->vlans += ifs->row[n].lower == i->ifindex && !strcmp(ifs->row[n].kind, "vlan");
	probe_addresses(f);
	f->xdp_features = xdp_features(i->ifindex);
	f->peer_queues = XSF_NO_FACT;
	f->numa_node = XSF_NO_FACT;
	if (dev.fd < 0) {
		f->queues = f->queues_max = f->ring = f->ring_max = -errno;
		all_features(f, -errno);
		return;
	}
	snprintf(dev.request.ifr_name, sizeof(dev.request.ifr_name), "%s", i->name);
	probe_driver(&dev, f);
	probe_features(&dev, f);
	probe_channels(&dev, f);
	probe_ring(&dev, f);
	if (peer)
		f->peer_queues = send_queues(dev.fd, peer);
	close(dev.fd);
}
