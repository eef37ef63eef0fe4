// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/confirm.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/load.h"
#include "kernel/pins.h"

static void help(void)
{
	printf("Usage: xdp-sflow confirm [IFACE] [OPTION]...\n"
	       "Keep what 'load --confirm SECONDS' attached to IFACE, or to all interfaces.\n\n"
	       "      --maps DIR  pin directory (default /sys/fs/bpf/xdp-sflow/v2)\n"
	       "  -h, --help      this text\n");
}

static int confirm(const char *dir, const char *iface)
{
	struct xsf_why why;
	int lock, done = 0;

	lock = xsf_pins_lock(dir, &why);
	if (lock >= 0) {
		done = xsf_confirm(dir, iface, &why);
		close(lock);
	} else if (lock != -ENOENT) {
		done = lock;
	}
	if (done > 0) {
		printf("confirmed: %d interface%s\n", done, done == 1 ? "" : "s");
		return 0;
	}
	if (done < 0)
		xsf_error("%s", why.text);
	else
		xsf_error("nothing waits for confirmation%s%s: it was confirmed, has been undone, "
			  "or was loaded "
			  "without --confirm; see: xdp-sflow status",
			  iface ? " on " : "", iface ? iface : "");
	return XSF_EXIT_FAILURE;
}

int cmd_confirm(int argc, char **argv)
{
	static const struct option options[] = { { "maps", required_argument, NULL, 'm' },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	const char *dir = xsf_maps_dir(NULL);
	int opt;

	opterr = 0;
	xsf_log_capture(NULL);
	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (opt) {
		case 'm':
			dir = xsf_maps_dir(optarg);
			if (!dir)
				return xsf_usage("confirm", "--maps needs a directory");
			break;
		case 'h':
			help();
			return 0;
		case ':':
			return xsf_usage("confirm", "%s needs a value", argv[optind - 1]);
		default:
			return xsf_usage("confirm", "unknown option '%s'", argv[optind - 1]);
		}
	}
	if (argc - optind > 1)
		return xsf_usage("confirm", "one interface at most");
	return confirm(dir, optind < argc ? argv[optind] : NULL);
}
