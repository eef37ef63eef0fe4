// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/capture.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "model/store.h"

enum { REPLAY_TEXT, REPLAY_JSON, REPLAY_METRICS };

struct replay_options {
	struct xsf_config config;
	int format;
	const char *file;
};

static void help(void)
{
	printf("Usage: xdp-sflow replay [OPTION]... FILE\n"
	       "Count a capture (pcap or pcapng; - is standard input) with the parser that runs\n"
	       "in the kernel. Needs no root and no interface.\n\n"
	       "  -j, --json             one JSON object, as 'status --json'\n"
	       "  -m, --metrics          Prometheus text, as /metrics, with every interface\n"
	       "  -p, --port PORT[,...]  UDP ports that carry sFlow, at most %d (default 6343)\n"
	       "      --drop-duplicates  leave out the samples of duplicate datagrams\n"
	       "  -h, --help             this text\n\n"
	       "Link types: EN10MB, RAW, SLL, SLL2, NULL. Frames that the capture's snap length\n"
	       "cut count as capture_cut. A file that is damaged is counted up to there; exit\n"
	       "code 1.\n",
	       XSF_MAX_PORTS);
}

/* 0: go on; 1: done; else an exit code. */
static int options(int argc, char **argv, struct replay_options *o)
{
	static const struct option known[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "metrics", no_argument, NULL, 'm' },
		{ "port", required_argument, NULL, 'p' },
		{ "drop-duplicates", no_argument, NULL, 'D' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option, json = 0, metrics = 0;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":jmp:h", known, NULL)) != -1) {
		switch (option) {
		case 'j':
			json = 1;
			o->format = REPLAY_JSON;
			break;
		case 'm':
			metrics = 1;
			o->format = REPLAY_METRICS;
			break;
		case 'p':
			if (xsf_parse_ports(optarg, o->config.ports))
				return xsf_usage(
					"replay",
					"'%s' is no list of at most %d ports from 1 to 65535",
					optarg, XSF_MAX_PORTS);
			break;
		case 'D':
			o->config.flags |= XSF_F_DROP_DUPLICATES;
			break;
		case 'h':
			help();
			return 1;
		case ':':
			return xsf_usage("replay", "option '%s' needs a value", argv[optind - 1]);
		default:
			return xsf_usage("replay", "unknown option '%s'", argv[optind - 1]);
		}
	}
	if (json && metrics)
		return xsf_usage("replay", "--json and --metrics are two formats: give one");
	if (optind + 1 != argc)
		return xsf_usage("replay", optind < argc ? "more than one file given" :
							   "no capture file given");
	o->file = argv[optind];
	return 0;
}

static int feed(struct xsf_store *store, struct xsf_capture *capture, const char *file)
{
	struct xsf_capture_frame f;
	uint64_t frames = 0;
	char why[512];
	int got;

	while ((got = xsf_capture_next(capture, &f, why, sizeof(why))) > 0) {
		xsf_store_frame(store, f.data, f.caplen, f.len, f.type, f.ns);
		frames++;
	}
	if (got < 0)
		xsf_error("%s: damaged after %llu frames: %s; the frames before are counted", file,
			  (unsigned long long)frames, why);
	return got;
}

int cmd_replay(int argc, char **argv)
{
	struct replay_options o = { .format = REPLAY_TEXT };
	struct xsf_snapshot *snapshot = NULL;
	struct xsf_capture *capture = NULL;
	struct xsf_store *store = NULL;
	char why[512];
	int code;

	xsf_config_defaults(&o.config);
	/* In a capture nobody is silent: time is what its frames say. */
	o.config.stale_ns = UINT64_MAX;
	code = options(argc, argv, &o);
	if (code)
		return code == 1 ? 0 : code;
	code = XSF_EXIT_FAILURE;
	if (xsf_capture_open(o.file, -1, &capture, why, sizeof(why))) {
		xsf_error("%s: %s", o.file, why);
		goto out;
	}
	store = xsf_store_new(&o.config);
	snapshot = malloc(sizeof(*snapshot));
	if (!store || !snapshot) {
		xsf_error("replay: out of memory (it needs about 60 MB)");
		goto out;
	}
	code = feed(store, capture, o.file) ? XSF_EXIT_FAILURE : 0;
	xsf_store_snapshot(store, snapshot);
	if (o.format == REPLAY_JSON)
		xsf_print_json(snapshot);
	else if (o.format == REPLAY_METRICS)
		xsf_print_metrics(snapshot);
	else
		xsf_print_summary(snapshot);
	if (fflush(stdout) || ferror(stdout)) {
		xsf_error("standard output: %s", strerror(errno));
		code = XSF_EXIT_FAILURE;
	}
out:
	free(snapshot);
	xsf_store_free(store);
	xsf_capture_close(capture);
	return code;
}
