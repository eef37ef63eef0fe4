// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/load.h"
#include "kernel/load.h"

static void help(void)
{
	printf("Usage: xdp-sflow unload [IFACE]... [OPTION]...\n"
	       "Detach what load attached to these interfaces, and nothing else. Counts stay\n"
	       "pinned for the next load.\n\n"
	       "      --all       every interface, also in other network namespaces\n"
	       "      --purge     remove the counts as well: all pins, and the directory\n"
	       "      --maps DIR  pin directory (default /sys/fs/bpf/xdp-sflow/v2)\n"
	       "  -h, --help      this text\n");
}

/* The lock, -1 where there is no directory to lock, or -2 after a message. */
static int lock_dir(const char *dir)
{
	struct xsf_why why;
	int lock = xsf_pins_lock(dir, &why);

	if (lock >= 0 || lock == -ENOENT)
		return lock >= 0 ? lock : -1;
	xsf_error("%s", why.text);
	return -2;
}

static int unload_each(const char *dir, char **ifaces, int nr)
{
	struct xsf_why why;
	int failed = 0;

	for (int n = 0; n < nr; n++) {
		why.text[0] = 0;
		if (xsf_unload(dir, ifaces[n], &why)) {
			xsf_error("%s", why.text);
			failed = XSF_EXIT_FAILURE;
		} else {
			printf("%s: detached\n", ifaces[n]);
			if (why.text[0])
				printf("%s\n", why.text);
		}
	}
	return failed;
}

int xsf_unload_after(const char *dir, const char *iface)
{
	int lock = lock_dir(dir), err;
	struct xsf_why why;

	if (lock == -2)
		return XSF_EXIT_FAILURE;
	err = xsf_unload(dir, iface, &why);
	if (lock >= 0)
		close(lock);
	if (err && err != -ENOENT)
		xsf_error("%s", why.text);
	return err && err != -ENOENT ? XSF_EXIT_FAILURE : 0;
}

static int purge(const char *dir)
{
	int left = xsf_loaded(dir);
	struct xsf_why why;

	if (left > 0) {
		xsf_error("counts in %s stay: %d other interface%s still count%s there; xdp-sflow "
			  "unload --all "
			  "--purge removes everything",
			  dir, left, left > 1 ? "s" : "", left > 1 ? "" : "s");
		return XSF_EXIT_FAILURE;
	}
	if (xsf_pins_purge(dir, &why)) {
		xsf_error("%s", why.text);
		return XSF_EXIT_FAILURE;
	}
	return 0;
}

static int unload(const char *dir, int all, int purging, char **ifaces, int nr)
{
	struct xsf_why why;
	int ret = 0, lock, done;

	lock = lock_dir(dir);
	if (lock == -2)
		return XSF_EXIT_FAILURE;
	if (all) {
		why.text[0] = 0;
		done = xsf_unload_all(dir, &why);
		if (done < 0) {
			xsf_error("%s", why.text);
			ret = XSF_EXIT_FAILURE;
		} else {
			printf("%d interface%s detached\n", done, done == 1 ? "" : "s");
			if (why.text[0])
				printf("%s\n", why.text);
		}
	} else {
		ret = unload_each(dir, ifaces, nr);
	}
	if (!ret && purging)
		ret = purge(dir);
	if (lock >= 0)
		close(lock);
	return ret;
}

int cmd_unload(int argc, char **argv)
{
	static const struct option options[] = { { "all", no_argument, NULL, 'a' },
						 { "purge", no_argument, NULL, 'p' },
						 { "maps", required_argument, NULL, 'm' },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	const char *dir = xsf_maps_dir(NULL);
	int opt, all = 0, purging = 0;

	opterr = 0;
	xsf_log_capture(NULL);
	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (opt) {
		case 'a':
			all = 1;
			break;
		case 'p':
			purging = 1;
			break;
		case 'm':
			dir = xsf_maps_dir(optarg);
			if (!dir)
				return xsf_usage("unload", "--maps needs a directory");
			break;
		case 'h':
			help();
			return 0;
		case ':':
			return xsf_usage("unload", "%s needs a value", argv[optind - 1]);
		default:
			return xsf_usage("unload", "unknown option '%s'", argv[optind - 1]);
		}
	}
	if (all && optind < argc)
		return xsf_usage("unload", "--all goes without names of interfaces");
	if (!all && !purging && optind == argc)
		return xsf_usage("unload", "name interfaces, or --all");
	return unload(dir, all, purging, argv + optind, argc - optind);
}
