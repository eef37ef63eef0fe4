// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <getopt.h>
#include <stdio.h>

#include "cmd/ai_options.h"
#include "cmd/cmd.h"
#include "cmd/exporter.h"
#include "serve/http.h"
#include "serve/metrics.h"

static void help(void)
{
	const struct xsf_http_limits l = XSF_HTTP_LIMITS_DEFAULT;

	printf("Usage: xdp-sflow export [OPTION]...\n"
	       "Serve the counts in the pinned maps over HTTP until SIGINT or SIGTERM.\n\n"
	       "  -l, --listen ADDR[:PORT]   where to serve (default " XSF_HTTP_DEFAULT_LISTEN
	       "); IPv6 as\n"
	       "                             [ADDR]:PORT; all addresses are 0.0.0.0 or [::]\n"
	       "      --maps DIR             pin directory (default /sys/fs/bpf/xdp-sflow/v2)\n"
	       "      --max-interfaces N     interfaces shown, the first ones seen (default %u)\n"
	       "      --all-interfaces       every one\n"
	       "      --max-places N         places of drops (port and reason) shown, the first "
	       "ones\n"
	       "                             seen (default %u), and as many agents' reasons\n"
	       "      --stale SECONDS        agents and interfaces silent for longer are not\n"
	       "                             shown (default: as loaded)\n"
	       "      --prog-stats           run time and run count of the programs, which the\n"
	       "                             kernel keeps only on demand, at a small cost to each\n"
	       "                             run; needs root\n"
	       "      --ledger               where each telemetry datagram went, counted as "
	       "'ledger'\n"
	       "                             does while this serves; needs root\n"
	       "      --user NAME            go on as this user, in its groups; needs root\n"
	       "%s%s"
	       "      --allow-write          whoever reaches the address may PUT a topology,\n"
	       "                             definitions of flows, groups and maps; without\n"
	       "                             it only clients of a loopback address, and never\n"
	       "                             a web page\n"
	       "  -h, --help                 this text\n\n"
	       "Paths: /metrics, /status.json, /topology/json (GET, PUT, POST), those of sFlow-RT\n"
	       "(/app/ai-metrics/scripts/metrics.js/prometheus/txt,\n"
	       "/app/prometheus/scripts/export.js/flows/ALL/txt and others), /-/healthy (200 "
	       "while\n"
	       "it serves), / (all of them).\n"
	       "When the maps are unpinned or replaced, it opens them anew at the next request;\n"
	       "xdp_sflow_up is 0 while there are none.\n\n"
	       "At once at most %u connections (%u from one host, loopback apart) and %u replies;\n"
	       "%u bytes of request; %u s for a request, %u s without progress and %u s in all for "
	       "a\n"
	       "reply. When the places are taken, what waited longest goes.\n",
	       XSF_METRICS_INTERFACES, XSF_METRICS_PLACES, xsf_topology_options_help,
	       xsf_ai_options_help, l.connections, l.per_host, l.streams, l.memory,
	       l.head_ms / 1000, l.stall_ms / 1000, l.reply_ms / 1000);
}

/* 0: go on; -1: help was given; else an exit code. */
static int parse(int argc, char **argv, struct xsf_export_options *o)
{
	enum {
		MAPS = 256,
		MAX,
		ALL,
		PLACES,
		STALE,
		STATS,
		LEDGER,
		USER,
		WRITE,
		TOPOLOGY,
		AI = TOPOLOGY + XSF_NR_TOPOLOGY_OPTS
	};
	static const struct option known[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "maps", required_argument, NULL, MAPS },
		{ "max-interfaces", required_argument, NULL, MAX },
		{ "all-interfaces", no_argument, NULL, ALL },
		{ "max-places", required_argument, NULL, PLACES },
		{ "stale", required_argument, NULL, STALE },
		{ "prog-stats", no_argument, NULL, STATS },
		{ "ledger", no_argument, NULL, LEDGER },
		{ "user", required_argument, NULL, USER },
		{ "allow-write", no_argument, NULL, WRITE },
		XSF_TOPOLOGY_LONG_OPTIONS(TOPOLOGY),
		XSF_AI_LONG_OPTIONS(AI),
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t value;
	int option, code;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":l:h", known, NULL)) != -1) {
		switch (option) {
		case 'l':
			code = xsf_listen_arg("export", optarg);
			if (code)
				return code;
			o->listen = optarg;
			break;
		case MAPS:
			o->maps_dir = optarg;
			break;
		case MAX:
			if (xsf_parse_u64(optarg, 1, XSF_SOURCES, &value))
				return xsf_usage("export", "'%s' is not a number from 1 to %d",
						 optarg, XSF_SOURCES);
			o->max_interfaces = (uint32_t)value;
			break;
		case ALL:
			o->max_interfaces = UINT32_MAX;
			break;
		case PLACES:
			if (xsf_parse_u64(optarg, 1, XSF_PLACES, &value))
				return xsf_usage("export",
						 "--max-places is a number from 1 to %d, not '%s'",
						 XSF_PLACES, optarg);
			o->max_places = (uint32_t)value;
			break;
		case STALE:
			if (xsf_parse_u64(optarg, 1, XSF_MAX_STALE_SECONDS, &value))
				return xsf_usage("export",
						 "--stale is a number from 1 to %d, not '%s'",
						 XSF_MAX_STALE_SECONDS, optarg);
			o->stale_ns = value * 1000000000;
			break;
		case STATS:
			o->prog_stats = 1;
			break;
		case LEDGER:
			o->ledger = 1;
			break;
		case USER:
			o->user = optarg;
			break;
		case WRITE:
			o->allow_write = 1;
			break;
		case TOPOLOGY + XSF_OPT_TOPOLOGY:
		case TOPOLOGY + XSF_OPT_STATE_DIR:
		case TOPOLOGY + XSF_OPT_NO_TOPOLOGY:
			code = xsf_topology_arg(&o->topology, "export", option - TOPOLOGY, optarg);
			if (code)
				return code;
			break;
		case AI + XSF_OPT_CREDITS:
		case AI + XSF_OPT_TRIM_DSCP:
		case AI + XSF_OPT_CNP_ANY:
		case AI + XSF_OPT_OP_DETAIL:
			code = xsf_ai_arg(&o->ai, "export", option - AI, optarg);
			if (code)
				return code;
			break;
		case 'h':
			help();
			return -1;
		case ':':
			return xsf_usage("export", "option '%s' needs a value", argv[optind - 1]);
		default:
			return xsf_usage("export", "unknown option '%s'", argv[optind - 1]);
		}
	}
	if (optind != argc)
		return xsf_usage("export", "unexpected '%s'", argv[optind]);
	return 0;
}

int cmd_export(int argc, char **argv)
{
	struct xsf_export_options options = { .watch_fd = -1 };
	struct xsf_exporter *exporter = NULL;
	int code = parse(argc, argv, &options);

	if (code)
		return code < 0 ? 0 : code;
	code = xsf_exporter_listen(&options, &exporter);
	if (!code)
		code = xsf_exporter_start(exporter);
	if (!code)
		code = xsf_export_loop(exporter);
	xsf_exporter_close(exporter);
	return code;
}
