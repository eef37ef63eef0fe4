// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel/ledger_internal.h"
#include "kernel/netlink.h"

/* Statistics of one driver that are read. */
#define MAX_STATISTICS 16384

/* ---- which ---- */

/* What comes in by these has come in by another interface first, and was counted there. */
static int stands_on_others(const struct xsf_if *i)
{
	static const char *const kinds[] = { "bridge",	"bond",	  "team",   "vlan", "macvlan",
					     "macvtap", "ipvlan", "ipvtap", "vrf" };

	for (size_t n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++) {
		if (!strcmp(i->kind, kinds[n]))
			return 1;
	}
	return 0;
}

static int collects(const struct xsf_if *i)
{
	return !strcmp(i->kind, "bridge") || !strcmp(i->kind, "bond") || !strcmp(i->kind, "team");
}

/* Is `upper` the interface `below`, or does it stand on it? Stacks are at most 8 high in the kernel. */
static int stands_on(const struct xsf_ifs *ifs, const struct xsf_if *upper, uint32_t below)
{
	for (int depth = 0; depth < 8 && upper; depth++) {
		if (upper->ifindex == below)
			return 1;
		upper = upper->lower ? xsf_ifs_index(ifs, upper->lower) : NULL;
	}
	return 0;
}

static int is_above(const struct xsf_ifs *ifs, const struct xsf_if *i, const struct xsf_if *asked)
{
	const struct xsf_if *at = asked;

	for (int depth = 0; depth < 8 && at; depth++) {
		if (stands_on(ifs, i, at->ifindex))
			return 1;
		at = at->master ? xsf_ifs_index(ifs, at->master) : NULL;
	}
	return 0;
}

static int choose(const struct xsf_ifs *ifs, const char *iface, struct xsf_ledger_devices *d,
		  struct xsf_why *why)
{
	const struct xsf_if *asked = iface ? xsf_ifs_name(ifs, iface) : NULL;

	if (iface && !asked)
		return xsf_because(why, -ENODEV, "no interface %s; 'ip link' lists them", iface);
	if (asked && stands_on_others(asked) && !collects(asked))
		return xsf_because(
			why, -EINVAL,
			"%s (%s) stands on another interface, where arrivals are counted; "
			"name that one%s%s",
			iface, asked->kind, asked->lower ? ": " : "",
			asked->lower && xsf_ifs_index(ifs, asked->lower) ?
				xsf_ifs_index(ifs, asked->lower)->name :
				"");
	for (uint32_t n = 0; n < ifs->nr; n++) {
		const struct xsf_if *i = &ifs->row[n];
		struct xsf_ledger_device device = { .ifindex = i->ifindex, .mtu = i->mtu };

		if (!asked) {
			device.arrives = !stands_on_others(i);
			device.ends = 1;
		} else {
			device.arrives = i == asked ?
						 !collects(i) :
						 collects(asked) && i->master == asked->ifindex;
			device.ends = device.arrives || is_above(ifs, i, asked);
		}
		if (!device.arrives && !device.ends)
			continue;
		if (d->nr == XSF_LEDGER_DEVICES) {
			d->more++;
			continue;
		}
		snprintf(device.name, sizeof(device.name), "%s", i->name);
		d->now[d->nr++] = device;
	}
	return 0;
}

/* ---- what they count ---- */

#define FROM_STATS(id, help) device->nic.id = stats.id;

static int take_stats(void *arg, const struct nlmsghdr *h)
{
	struct xsf_ledger_devices *d = arg;
	const struct ifinfomsg *msg = NLMSG_DATA(h);
	const struct rtattr *a;
	int len;

	if (h->nlmsg_type != RTM_NEWLINK || h->nlmsg_len < NLMSG_LENGTH(sizeof(*msg)))
		return 0;
	a = IFLA_RTA(msg);
	len = (int)IFLA_PAYLOAD(h);
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		struct rtnl_link_stats64 stats = { 0 };
		size_t size = RTA_PAYLOAD(a);

		if (a->rta_type != IFLA_STATS64)
			continue;
		memcpy(&stats, RTA_DATA(a), size < sizeof(stats) ? size : sizeof(stats));
		for (uint32_t n = 0; n < d->nr; n++) {
			struct xsf_ledger_device *device = &d->now[n];

			if (device->ifindex == (uint32_t)msg->ifi_index) {
				XSF_LEDGER_NIC(FROM_STATS)
			}
		}
	}
	return 0;
}

/* Names in which drivers count what they could not receive. */
static int is_loss(const char *name)
{
	static const char *const words[] = { "drop",	"miss",	 "fifo",    "no_buf", "nobuf",
					     "discard", "alloc", "overrun", "oob",    "err" };

	if (!strncmp(name, "tx", 2) || strstr(name, "_tx_") || strstr(name, "tx_queue"))
		return 0;
	for (size_t n = 0; n < sizeof(words) / sizeof(words[0]); n++) {
		if (strstr(name, words[n]))
			return 1;
	}
	return 0;
}

static int ask(int fd, const char *name, void *command)
{
	struct ifreq request = { 0 };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	request.ifr_data = command;
	return ioctl(fd, SIOCETHTOOL, &request) ? -errno : 0;
}

/* Driver statistics by name: losses, the first of them in the driver's own order. */
static void take_driver(int fd, struct xsf_ledger_device *device)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ethtool_gstrings *names = NULL;
	struct ethtool_stats *values = NULL;

	if (ask(fd, device->name, &info) || !info.n_stats || info.n_stats > MAX_STATISTICS)
		return;
	names = calloc(1, sizeof(*names) + (size_t)info.n_stats * ETH_GSTRING_LEN);
	values = calloc(1, sizeof(*values) + (size_t)info.n_stats * sizeof(uint64_t));
	if (!names || !values)
		goto out;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_STATS;
	names->len = info.n_stats;
	values->cmd = ETHTOOL_GSTATS;
	values->n_stats = info.n_stats;
	if (ask(fd, device->name, names) || ask(fd, device->name, values) ||
	    names->len != info.n_stats || values->n_stats != info.n_stats)
		goto out;
	for (uint32_t n = 0; n < info.n_stats && device->nr_driver < XSF_LEDGER_DRIVER; n++) {
		struct xsf_ledger_driver *to = &device->driver[device->nr_driver];

		snprintf(to->name, sizeof(to->name), "%.*s", ETH_GSTRING_LEN,
			 (const char *)names->data + (size_t)n * ETH_GSTRING_LEN);
		to->count = values->data[n];
		device->nr_driver += (uint32_t)is_loss(to->name);
	}
out:
	free(names);
	free(values);
}

static void take_ring(int fd, struct xsf_ledger_device *device)
{
	struct ethtool_ringparam ring = { .cmd = ETHTOOL_GRINGPARAM };

	if (ask(fd, device->name, &ring))
		return;
	device->ring = ring.rx_pending;
	device->ring_max = ring.rx_max_pending;
}

int xsf_ledger_devices_read(const char *iface, struct xsf_ledger_devices *d, struct xsf_why *why)
{
	struct ifinfomsg all = { 0 };
	struct xsf_ifs ifs;
	int err, fd;

	memset(d, 0, sizeof(*d));
	err = xsf_ifs_get(&ifs);
	if (err)
		return xsf_because(why, err, "cannot list the interfaces: %s", xsf_errno_text(err));
	err = choose(&ifs, iface, d, why);
	xsf_ifs_free(&ifs);
	if (err)
		return err;
	err = xsf_netlink_dump(RTM_GETLINK, &all, sizeof(all), take_stats, d);
	if (err)
		return xsf_because(why, err, "cannot read the interfaces' statistics: %s",
				   xsf_errno_text(err));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	for (uint32_t n = 0; fd >= 0 && n < d->nr; n++) {
		take_driver(fd, &d->now[n]);
		take_ring(fd, &d->now[n]);
	}
	if (fd >= 0)
		close(fd);
	return 0;
}

/* A driver that was reset counts from 0 again. */
static uint64_t since(uint64_t before, uint64_t now)
{
	return now >= before ? now - before : now;
}

#define SINCE(id, help) now->nic.id = since(before->nic.id, now->nic.id);

static void device_since(const struct xsf_ledger_device *before, struct xsf_ledger_device *now)
{
	XSF_LEDGER_NIC(SINCE)
	for (uint32_t n = 0; n < now->nr_driver; n++) {
		for (uint32_t b = 0; b < before->nr_driver; b++) {
			if (!strcmp(before->driver[b].name, now->driver[n].name))
				now->driver[n].count =
					since(before->driver[b].count, now->driver[n].count);
		}
	}
}

void xsf_ledger_devices_since(const struct xsf_ledger_devices *before,
			      struct xsf_ledger_devices *now)
{
	for (uint32_t n = 0; n < now->nr; n++) {
		for (uint32_t b = 0; b < before->nr; b++) {
			if (before->now[b].ifindex == now->now[n].ifindex)
				device_since(&before->now[b], &now->now[n]);
		}
	}
}
