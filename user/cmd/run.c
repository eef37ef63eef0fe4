// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/ai_options.h"
#include "cmd/cmd.h"
#include "cmd/exporter.h"
#include "cmd/load.h"
#include "kernel/net.h"
#include "kernel/policy.h"
#include "serve/http.h"
#include "serve/metrics.h"

enum {
	OPT_LISTEN = XSF_OPT_OTHERS,
	OPT_MAX,
	OPT_ALL,
	OPT_PLACES,
	OPT_STATS,
	OPT_LEDGER,
	OPT_KEEP,
	OPT_WRITE,
	OPT_TOPOLOGY,
	OPT_AI = OPT_TOPOLOGY + XSF_NR_TOPOLOGY_OPTS
};

struct run {
	struct xsf_load_args load;
	struct xsf_export_options export;
	int keep;
	int told; /* that the addresses could not be written */
};

static void help(void)
{
	printf("Usage: xdp-sflow run IFACE... [OPTION]...\n"
	       "Load as 'load' does, serve as 'export' does, and unload on SIGINT, SIGTERM or\n"
	       "SIGHUP; counts stay pinned. With --consume the addresses of this host are\n"
	       "followed.\n\n"
	       "%s"
	       "  -l, --listen ADDR[:PORT]   where to serve (default " XSF_HTTP_DEFAULT_LISTEN
	       "); IPv6 as\n"
	       "                             [ADDR]:PORT\n"
	       "      --max-interfaces N     interfaces shown, the first ones seen (default %u)\n"
	       "      --all-interfaces       every one\n"
	       "      --max-places N         places of drops (port and reason) shown (default "
	       "%u)\n"
	       "      --prog-stats           run time and run count of the programs\n"
	       "      --ledger               where each telemetry datagram went, as in 'ledger'\n"
	       "      --keep                 leave the programs attached at the end\n"
	       "%s"
	       "%s"
	       "      --allow-write          as for export\n"
	       "  -h, --help                 this text\n",
	       xsf_load_options_help, XSF_METRICS_INTERFACES, XSF_METRICS_PLACES,
	       xsf_topology_options_help, xsf_ai_options_help);
}

/* The addresses of this namespace have changed. */
static void follow_addresses(void *arg)
{
	struct run *r = arg;
	struct xsf_why why;
	int map, err;

	if (!xsf_addresses_changed(r->export.watch_fd))
		return;
	/* Opened each time: the pins may be others by now. */
	map = err = xsf_local_open(r->load.options.dir, &why);
	if (map >= 0) {
		err = xsf_local_sync(map, &why);
		close(map);
	}
	if (err < 0 && !r->told)
		xsf_error("%s; sound datagrams to new addresses are passed on", why.text);
	r->told = err < 0;
}

static int serve(struct run *r)
{
	const struct xsf_load_args *a = &r->load;
	struct xsf_exporter *exporter;
	int ret, loaded = 0;

	r->export.watch_fd = -1;
	ret = xsf_exporter_listen(&r->export, &exporter);
	if (!ret && a->options.flags & XSF_F_CONSUME) {
		/* Before load reads them, so that no change is missed. */
		r->export.watch_fd = xsf_addresses_watch();
		if (r->export.watch_fd < 0) {
			xsf_error("cannot follow this host's addresses: %s",
				  strerror(-r->export.watch_fd));
			ret = XSF_EXIT_FAILURE;
		}
	}
	if (ret)
		goto out;
	ret = xsf_load_all(&r->load);
	loaded = !ret;
	fflush(stdout);
	if (!ret)
		ret = xsf_exporter_start(exporter);
	if (!ret)
		ret = xsf_export_loop(exporter);
	for (int n = 0; n < a->nr_ifaces; n++) {
		/* What could be attached before a failure goes as well, but not what was there. */
		if (loaded ? !r->keep : a->fresh[n])
			ret |= xsf_unload_after(a->options.dir, a->ifaces[n]);
	}
out:
	xsf_exporter_close(exporter);
	if (r->export.watch_fd >= 0)
		close(r->export.watch_fd);
	return ret;
}

/* One option that is not load's. 0 or the exit code after a message. */
static int parse_own(struct run *r, int opt, const char *value)
{
	uint64_t v;

	switch (opt) {
	case OPT_LISTEN:
		r->export.listen = value;
		return xsf_listen_arg("run", value);
	case OPT_MAX:
		if (xsf_parse_u64(value, 1, XSF_SOURCES, &v))
			return xsf_usage("run", "--max-interfaces is a number from 1 to %d",
					 XSF_SOURCES);
		r->export.max_interfaces = (uint32_t)v;
		return 0;
	case OPT_ALL:
		r->export.max_interfaces = UINT32_MAX;
		return 0;
	case OPT_PLACES:
		if (xsf_parse_u64(value, 1, XSF_PLACES, &v))
			return xsf_usage("run", "--max-places is a number from 1 to %d",
					 XSF_PLACES);
		r->export.max_places = (uint32_t)v;
		return 0;
	case OPT_STATS:
		r->export.prog_stats = 1;
		return 0;
	case OPT_LEDGER:
		r->export.ledger = 1;
		return 0;
	case OPT_KEEP:
		r->keep = 1;
		return 0;
	case OPT_WRITE:
		r->export.allow_write = 1;
		return 0;
	}
	if (opt >= OPT_TOPOLOGY && opt < OPT_TOPOLOGY + XSF_NR_TOPOLOGY_OPTS)
		return xsf_topology_arg(&r->export.topology, "run", opt - OPT_TOPOLOGY, value);
	if (opt >= OPT_AI && opt < OPT_AI + XSF_NR_AI_OPTS)
		return xsf_ai_arg(&r->export.ai, "run", opt - OPT_AI, value);
	return xsf_usage("run", "unknown option");
}

int cmd_run(int argc, char **argv)
{
	static const struct option options[] = {
		XSF_LOAD_LONG_OPTIONS,
		{ "listen", required_argument, NULL, OPT_LISTEN },
		{ "max-interfaces", required_argument, NULL, OPT_MAX },
		{ "all-interfaces", no_argument, NULL, OPT_ALL },
		{ "max-places", required_argument, NULL, OPT_PLACES },
		{ "prog-stats", no_argument, NULL, OPT_STATS },
		{ "ledger", no_argument, NULL, OPT_LEDGER },
		{ "keep", no_argument, NULL, OPT_KEEP },
		{ "allow-write", no_argument, NULL, OPT_WRITE },
		XSF_TOPOLOGY_LONG_OPTIONS(OPT_TOPOLOGY),
		XSF_AI_LONG_OPTIONS(OPT_AI),
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	static struct run r;
	int opt, ret;

	xsf_load_args_init(&r.load);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":hl:", options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			help();
			return 0;
		case ':':
			return xsf_usage("run", "%s needs a value", argv[optind - 1]);
		case '?':
			return xsf_usage("run", "unknown option '%s'", argv[optind - 1]);
		case 'l':
			opt = OPT_LISTEN;
			break;
		}
		ret = opt < XSF_OPT_OTHERS ? xsf_load_arg(&r.load, "run", opt, optarg) :
					     parse_own(&r, opt, optarg);
		if (ret)
			return ret;
	}
	ret = xsf_load_args_finish(&r.load, "run", argc - optind, argv + optind);
	if (ret)
		return ret;
	r.export.maps_dir = r.load.options.dir;
	r.load.options.trimmed_dscps = r.export.ai.trimmed_dscps;
	r.export.keep_rights = 1;
	if (r.load.options.flags & XSF_F_CONSUME) {
		r.export.watch = follow_addresses;
		r.export.watch_arg = &r;
	}
	return serve(&r);
}
