// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/load.h"
#include "cmd/output.h"
#include "cmd/repair.h"
#include "cmd/topologies.h"
#include "kernel/events.h"
#include "kernel/maps.h"
#include "kernel/pins.h"
#include "kernel/why.h"

enum { TOPOLOGY = 256 };

static void help(void)
{
	printf("Usage: xdp-sflow status [IFACE] [OPTION]...\n"
	       "What is attached (to IFACE; without it, everywhere), who is sending, and what is\n"
	       "lost. Counts are those of all interfaces that share the pin directory.\n\n"
	       "      --json      one JSON object\n"
	       "      --maps DIR  pin directory (default /sys/fs/bpf/xdp-sflow/v2; what 'ip link'\n"
	       "                  pins is in /sys/fs/bpf/xdp/globals)\n"
	       "      --topology [NAME=]FILE  as for export: what has become of it\n"
	       "      --state-dir DIR         as for export: what was PUT to it (default\n"
	       "                              " XSF_STATE_DIR ")\n"
	       "      --no-topology all-edge  as for export\n"
	       "  -h, --help      this text\n");
}

static void print_attached(const struct xsf_snapshot *s, const char *dir)
{
	char ports[64];

	printf("Maps: %s\n", dir);
	printf("Attached: %" PRIu32 "%s\n", s->nr_attached,
	       s->nr_attached == XSF_MAX_ATTACHED ? " (no more are shown)" : "");
	for (uint32_t n = 0; n < s->nr_attached; n++) {
		const struct xsf_attached *a = &s->attached[n];

		printf("  %-15s %s, %s, by %s, program %" PRIu32 "%s, port %s\n", a->ifname,
		       a->mode, a->verdict[0] ? a->verdict : "unknown verdict", a->how, a->prog_id,
		       a->frags ? " (frames of several buffers)" : "",
		       xsf_ports_text(a->ports, ports, sizeof(ports)));
		if (a->run_count)
			printf("  %-15s %" PRIu64 " runs, %" PRIu64 " ns each\n", "", a->run_count,
			       a->run_time_ns / a->run_count);
		if (!strcmp(a->how, "unconfirmed"))
			printf("  %-15s undone unless: xdp-sflow confirm %s\n", "", a->ifname);
	}
}

static void print_fill(const struct xsf_snapshot *s)
{
	struct xsf_fill agents, sources;

	xsf_snapshot_fill(s, XSF_TABLE_AGENTS, &agents);
	xsf_snapshot_fill(s, XSF_TABLE_SOURCES, &sources);
	printf("Tables: %" PRIu32 " of %" PRIu32 " agents (%" PRIu32 " silent), %" PRIu32
	       " of %" PRIu32 " sources (%" PRIu32 " silent)\n",
	       agents.used, agents.size, agents.stale, sources.used, sources.size, sources.stale);
}

/* Leaves only what is attached to one interface. */
static int only(struct xsf_snapshot *s, const char *iface)
{
	static struct xsf_csum_attached csum[XSF_MAX_ATTACHED];
	uint32_t kept = 0, nr_csum = 0;

	for (uint32_t n = 0; n < s->nr_attached; n++) {
		if (!strcmp(s->attached[n].ifname, iface))
			s->attached[kept++] = s->attached[n];
	}
	s->nr_attached = kept;
	for (uint32_t n = 0; n < s->csum.nr_attached; n++) {
		if (!strcmp(s->csum.attached[n].ifname, iface))
			csum[nr_csum++] = s->csum.attached[n];
	}
	s->csum.attached = csum;
	s->csum.nr_attached = nr_csum;
	return kept || nr_csum ? 0 : -ENOENT;
}

/* Binds the topologies of this host to what is in the maps. 0 or the exit code. */
static int bind_topologies(struct xsf_snapshot *s, const struct xsf_topology_options *o,
			   struct xsf_bindings **out)
{
	int ret = xsf_topologies_load(o, 0, out);

	if (ret)
		return ret;
	xsf_bindings_update(*out, s);
	s->bindings = *out;
	return 0;
}

static int status(const char *dir, const char *iface, int json,
		  const struct xsf_topology_options *topology)
{
	static struct xsf_snapshot s;
	struct xsf_bindings *bindings = NULL;
	struct xsf_maps *maps;
	char why[768];
	int err;

	if (xsf_maps_open(dir, &maps, why, sizeof(why))) {
		xsf_error("%s", why);
		return XSF_EXIT_FAILURE;
	}
	xsf_events_clean(dir);
	err = xsf_maps_snapshot(maps, &s, 0);
	if (err) {
		xsf_error("cannot read the maps in %s: %s", dir, strerror(-err));
	} else if (iface && only(&s, iface)) {
		xsf_error("no program that counts into %s is attached to %s; 'xdp-sflow status' "
			  "lists all",
			  dir, iface);
		err = -ENOENT;
	} else if (bind_topologies(&s, topology, &bindings)) {
		err = -EINVAL;
	} else if (json) {
		xsf_print_json(&s);
	} else {
		print_attached(&s, dir);
		print_fill(&s);
		xsf_print_summary(&s);
		xsf_print_csum(&s.csum, s.now_ns);
	}
	xsf_bindings_free(bindings);
	xsf_maps_close(maps);
	if (!err && fflush(stdout)) {
		xsf_error("cannot write the status: %s", strerror(errno));
		err = -errno;
	}
	return err ? XSF_EXIT_FAILURE : 0;
}

int cmd_status(int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' },
						 { "maps", required_argument, NULL, 'm' },
						 XSF_TOPOLOGY_LONG_OPTIONS(TOPOLOGY),
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	const char *dir = xsf_maps_dir(NULL);
	struct xsf_topology_options topology = { .nr_fabrics = 0 };
	int opt, json = 0, ret;

	opterr = 0;
	xsf_log_capture(NULL);
	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (opt) {
		case 'j':
			json = 1;
			break;
		case 'm':
			dir = xsf_maps_dir(optarg);
			if (!dir)
				return xsf_usage("status", "--maps needs a directory");
			break;
		case 'h':
			help();
			return 0;
		case ':':
			return xsf_usage("status", "%s needs a value", argv[optind - 1]);
		case TOPOLOGY + XSF_OPT_TOPOLOGY:
		case TOPOLOGY + XSF_OPT_STATE_DIR:
		case TOPOLOGY + XSF_OPT_NO_TOPOLOGY:
			ret = xsf_topology_arg(&topology, "status", opt - TOPOLOGY, optarg);
			if (ret)
				return ret;
			break;
		default:
			return xsf_usage("status", "unknown option '%s'", argv[optind - 1]);
		}
	}
	if (argc - optind > 1)
		return xsf_usage("status", "one interface at most");
	return status(dir, optind < argc ? argv[optind] : NULL, json, &topology);
}
