// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/repair.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/load.h"
#include "cmd/output.h"
#include "kernel/csum.h"
#include "kernel/csum_maps.h"
#include "kernel/pins.h"
#include "kernel/policy.h"
#include "model/prefix.h"
#include "model/snapshot.h"

enum { OPT_JSON = XSF_OPT_OTHERS };

struct args {
	struct xsf_csum_options csum;
	const char *dir;
	int json;
};

static void help(void)
{
	printf("Usage: xdp-sflow repair show [IFACE] [OPTION]...\n"
	       "       xdp-sflow repair set IFACE OPTION...\n"
	       "UDP checksums over IPv6 at tc ingress. 'show': what is repaired, and for each "
	       "port\n"
	       "and source how many were right, wrong, 0, repaired or left alone; and the command\n"
	       "that repairs what is always wrong. 'set': another policy for the program that "
	       "load\n"
	       "attached, from the next packet on; what is not given again ends. Ports 4739, 6343\n"
	       "and 2055 are watched in any case.\n\n"
	       "      --repair PORT[,...]   set: write right checksums where they are wrong or 0, "
	       "of\n"
	       "                            datagrams to these ports\n"
	       "      --repair-from PREFIX  set: from these IPv6 sources only; repeat for more;\n"
	       "                            without --repair to every port that is watched\n"
	       "      --observe             set: count them, and write nothing\n"
	       "      --json                show: one JSON object, the 'checksum' of status "
	       "--json\n"
	       "      --maps DIR            pin directory (default /sys/fs/bpf/xdp-sflow/v2; what\n"
	       "                            'tc' pins is in /sys/fs/bpf/tc/globals)\n"
	       "  -h, --help                this text\n");
}

/* ---- options ---- */

/* A repeated --repair adds to the ports before it. */
static int add_ports(struct xsf_csum_options *c, const char *command, const char *value)
{
	uint16_t more[XSF_MAX_PORTS];
	int bad = xsf_parse_ports(value, more);

	for (int i = 0; !bad && i < XSF_MAX_PORTS && more[i]; i++) {
		int n = 0;

		while (n < XSF_MAX_PORTS && c->repair[n] && c->repair[n] != more[i])
			n++;
		if (n == XSF_MAX_PORTS)
			bad = 1;
		else
			c->repair[n] = more[i];
	}
	if (bad)
		return xsf_usage(command, "'%s' is no list of at most %d ports from 1 to 65535",
				 value, XSF_MAX_PORTS);
	return 0;
}

static int add_prefix(struct xsf_csum_options *c, const char *command, const char *value)
{
	struct xsf_prefix_key p;

	if (xsf_prefix_parse(value, &p) || !strchr(value, ':'))
		return xsf_usage(
			command,
			"'%s' is no IPv6 prefix (2001:db8::/32; no bits beyond its length)", value);
	for (uint32_t n = 0; n < c->nr_from; n++) {
		if (!memcmp(&c->from[n], &p, sizeof(p)))
			return 0;
	}
	if (c->nr_from == XSF_CSUM_PREFIXES)
		return xsf_usage(command, "more than %d prefixes", XSF_CSUM_PREFIXES);
	c->from[c->nr_from++] = p;
	return 0;
}

int xsf_repair_arg(struct xsf_csum_options *c, const char *command, int opt, const char *value)
{
	switch (opt) {
	case XSF_OPT_REPAIR:
		c->asked = 1;
		return add_ports(c, command, value);
	case XSF_OPT_REPAIR_FROM:
		c->asked = 1;
		return add_prefix(c, command, value);
	case XSF_OPT_OBSERVE:
		c->asked = c->observe = 1;
		return 0;
	case XSF_OPT_NO_CHECKSUM:
		c->off = 1;
		return 0;
	}
	return xsf_usage(command, "unknown option");
}

int xsf_repair_args_check(const struct xsf_csum_options *c, const char *command)
{
	int repair = c->repair[0] || c->nr_from;

	if (c->observe && repair)
		return xsf_usage(command, "--observe repairs nothing: it goes without --repair and "
					  "--repair-from");
	if (c->off && (repair || c->observe))
		return xsf_usage(command, "--no-checksum goes without --repair, --repair-from and "
					  "--observe");
	return 0;
}

/* ---- set ---- */

static int set(const struct args *a, const char *iface)
{
	struct xsf_csum_policy policy;
	char text[XSF_POLICY_TEXT];
	const struct xsf_if *i;
	struct xsf_ifs ifs = {};
	struct xsf_why why;
	int lock = -1, err;

	err = xsf_ifs_get(&ifs);
	if (err) {
		xsf_because(&why, err, "cannot list the interfaces: %s", xsf_errno_text(err));
		goto out;
	}
	i = xsf_ifs_name(&ifs, iface);
	/* Asked first: taking the lock makes a directory, perhaps in one that is not ours. */
	err = i ? xsf_csum_may_set(a->dir, i, &why) :
		  xsf_because(&why, -ENODEV,
			      "no interface %s in this network namespace; 'ip link' lists "
			      "those that there are",
			      iface);
	if (err)
		goto out;
	lock = xsf_pins_lock(a->dir, &why);
	if (lock == -ENOENT)
		xsf_because(&why, lock, "nothing is pinned in %s; first: xdp-sflow load %s", a->dir,
			    iface);
	err = lock < 0 ? lock : xsf_csum_set(a->dir, i, &a->csum, &policy, &why);
out:
	if (err)
		xsf_error("%s", why.text);
	else
		printf("%s: %s\n", iface, xsf_policy_text(&policy, text));
	xsf_ifs_free(&ifs);
	if (lock >= 0)
		close(lock);
	return err ? XSF_EXIT_FAILURE : 0;
}

/* ---- show ---- */

/* Leaves only what is attached to one interface. */
static int only(struct xsf_csum *c, const char *iface, struct xsf_csum_attached *kept)
{
	for (uint32_t n = 0; n < c->nr_attached; n++) {
		if (strcmp(c->attached[n].ifname, iface) != 0)
			continue;
		*kept = c->attached[n];
		c->attached = kept;
		c->nr_attached = 1;
		return 0;
	}
	return -ENOENT;
}

/* What `ip` pins is of the XDP program alone. */
static void nothing_there(const char *dir, const char *iface)
{
	char totals[PATH_MAX];
	int is_default = !strcmp(dir, xsf_pins_default());

	if (!is_default && !xsf_pins_path(totals, dir, "xsf_totals", NULL) && !access(totals, F_OK))
		xsf_error("%s has maps of the XDP program and none of the checksum program: what "
			  "tc pins is in /sys/fs/bpf/tc/globals, what load pins in %s",
			  dir, xsf_pins_default());
	else
		xsf_error("no checksum maps are pinned in %s; first: xdp-sflow load %s%s%s", dir,
			  iface, is_default ? "" : " --maps ", is_default ? "" : dir);
}

static int show(const struct args *a, const char *iface)
{
	struct xsf_csum_maps *maps = NULL;
	struct xsf_csum_attached kept;
	struct timespec now;
	struct xsf_csum c;
	int err;

	err = xsf_csum_maps_read(&maps, a->dir, 1, &c);
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (err) {
		xsf_error("cannot read the checksum maps in %s: %s%s", a->dir, strerror(-err),
			  err == -EACCES || err == -EPERM ?
				  "; run as root or as a member of group " XSF_PIN_GROUP :
				  "");
	} else if (!c.present) {
		nothing_there(a->dir, iface ? iface : "IFACE");
		err = -ENOENT;
	} else if (iface && only(&c, iface, &kept)) {
		xsf_error("no checksum program that counts into %s is attached to %s; 'xdp-sflow "
			  "repair show' lists all",
			  a->dir, iface);
		err = -ENOENT;
	} else if (a->json) {
		xsf_print_csum_json(&c);
	} else {
		xsf_print_csum(&c, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	}
	xsf_csum_maps_free(maps);
	if (!err && fflush(stdout)) {
		xsf_error("cannot write it: %s", strerror(errno));
		err = -errno;
	}
	return err ? XSF_EXIT_FAILURE : 0;
}

/* ---- both ---- */

/* One option; 0 or the exit code after a message. */
static int parse_option(struct args *a, int opt, char **argv)
{
	switch (opt) {
	case ':':
		return xsf_usage("repair", "%s needs a value", argv[optind - 1]);
	case OPT_JSON:
		a->json = 1;
		return 0;
	case XSF_OPT_MAPS:
		a->dir = xsf_maps_dir(optarg);
		return a->dir ? 0 : xsf_usage("repair", "--maps needs a directory");
	case '?':
		return xsf_usage("repair", "unknown option '%s'", argv[optind - 1]);
	}
	return xsf_repair_arg(&a->csum, "repair", opt, optarg);
}

static int run(const struct args *a, int nr, char **words)
{
	const struct xsf_csum_options *c = &a->csum;
	int asked = c->repair[0] || c->nr_from || c->observe, ret;

	if (!nr)
		return xsf_usage("repair", "show or set?");
	if (!strcmp(words[0], "show")) {
		if (asked)
			return xsf_usage("repair", "show changes nothing: 'repair set' does");
		if (nr > 2)
			return xsf_usage("repair", "one interface at most");
		return show(a, nr == 2 ? words[1] : NULL);
	}
	if (strcmp(words[0], "set") != 0)
		return xsf_usage("repair", "show or set, not '%s'", words[0]);
	if (nr != 2)
		return xsf_usage("repair",
				 nr < 2 ? "set needs an interface" : "set one interface at a time");
	if (a->json)
		return xsf_usage("repair", "--json is for show");
	if (!asked)
		return xsf_usage("repair", "set what? --repair, --repair-from or --observe");
	ret = xsf_repair_args_check(c, "repair");
	return ret ? ret : set(a, words[1]);
}

int cmd_repair(int argc, char **argv)
{
	static const struct option options[] = {
		{ "repair", required_argument, NULL, XSF_OPT_REPAIR },
		{ "repair-from", required_argument, NULL, XSF_OPT_REPAIR_FROM },
		{ "observe", no_argument, NULL, XSF_OPT_OBSERVE },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "maps", required_argument, NULL, XSF_OPT_MAPS },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	static struct args a;
	int opt, ret;

	a.dir = xsf_maps_dir(NULL);
	xsf_log_capture(NULL);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (opt == 'h') {
			help();
			return 0;
		}
		ret = parse_option(&a, opt, argv);
		if (ret)
			return ret;
	}
	return run(&a, argc - optind, argv + optind);
}
