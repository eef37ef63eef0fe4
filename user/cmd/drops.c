// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/drops.h"
#include "cmd/load.h"
#include "kernel/events.h"
#include "kernel/why.h"
#include "model/store.h"
#include "serve/pcapng.h"

#define MAX_SECONDS 31536000
#define MIN_RING 4096

static void help(void)
{
	printf("Usage: xdp-sflow drops [OPTION]... [FILTER]\n"
	       "Each packet that a switch says it dropped, as it comes: when, where, why, and "
	       "what\n"
	       "packet. FILTER is a pcap filter expression (pcap-filter(7)) on the dropped "
	       "packet.\n"
	       "Needs root, and programs that are loaded; with --read neither.\n\n"
	       "  -j, --json                   one JSON object a line\n"
	       "  -t, --top                    a table by place, reason and flow, each second: on "
	       "a\n"
	       "                               terminal p, r, f or Tab choose, q ends\n"
	       "  -w, --write FILE             pcapng: dropped headers, with reason and place as\n"
	       "                               comments; - is standard output\n"
	       "  -r, --read FILE              from a capture of sFlow (pcap, pcapng; - is "
	       "standard\n"
	       "                               input)\n"
	       "      --reason NAME[,NAME]...  these reasons alone, or codes\n"
	       "      --agent ADDR[,ADDR]...   these switches alone, or their names\n"
	       "      --interface NAME[,NAME]...  these ports alone, or ifIndexes: input or "
	       "output\n"
	       "  -c, --count N                end after N\n"
	       "      --seconds N              end after N seconds; with --read, of the capture\n"
	       "      --buffer BYTES           ring of the kernel, a power of two (default %d)\n"
	       "  -p, --port PORT[,PORT]...    with --read: UDP ports that carry sFlow (default\n"
	       "                               6343)\n"
	       "      --maps DIR               pin directory (default\n"
	       "                               /sys/fs/bpf/xdp-sflow/v2)\n"
	       "  -h, --help                   this text\n\n"
	       "At its end it says how many were shown, did not match, and came faster than they\n"
	       "were read. Exit code: 0, 1 it failed, 2 wrong usage.\n",
	       XSF_EVENTS_RING_DEFAULT);
}

/* The rest of the command line as one expression, as tcpdump takes it. 0 or an exit code. */
static int join(int argc, char **argv, char **expression)
{
	size_t len = 1;
	char *at;

	for (int i = 0; i < argc; i++)
		len += strlen(argv[i]) + 1;
	if (!argc)
		return 0;
	*expression = at = malloc(len);
	if (!at) {
		xsf_error("drops: out of memory");
		return XSF_EXIT_FAILURE;
	}
	for (int i = 0; i < argc; i++) {
		at = stpcpy(at, argv[i]);
		*at++ = ' ';
	}
	at[-1] = 0;
	return 0;
}

static int ring_bytes(const char *text, uint32_t *ring)
{
	uint64_t v;

	if (xsf_parse_u64(text, MIN_RING, XSF_EVENTS_RING_MAX, &v) || v & (v - 1) ||
	    v % (uint64_t)sysconf(_SC_PAGESIZE))
		return xsf_usage("drops", "--buffer is a power of two from %d to %d, not '%.64s'",
				 MIN_RING, XSF_EVENTS_RING_MAX, text);
	*ring = (uint32_t)v;
	return 0;
}

enum { REASON = 256, AGENT, INTERFACE, SECONDS, BUFFER, MAPS };

/* A list, or more of one that was given before. */
static int add_to_list(struct xsf_drops_options *o, int opt)
{
	static const char *const names[XSF_DROPS_LISTS] = { "--reason", "--agent", "--interface" };
	const char **kept[XSF_DROPS_LISTS] = { &o->filter.reasons, &o->filter.agents,
					       &o->filter.interfaces };
	char *list = o->lists[opt - REASON];
	size_t before = *kept[opt - REASON] ? strlen(list) + 1 : 0, len = strlen(optarg);

	if (before + len >= sizeof(o->lists[0]))
		return xsf_usage("drops", "%s: longer than %d bytes", names[opt - REASON],
				 XSF_FILTER_TEXT);
	if (before)
		list[before - 1] = ',';
	memcpy(list + before, optarg, len + 1);
	*kept[opt - REASON] = list;
	return 0;
}

/* One option with a value that is kept as it is; 0 when it is none of those. */
static int take_text(struct xsf_drops_options *o, int opt)
{
	switch (opt) {
	case 'r':
		o->read = optarg;
		return 1;
	case 'w':
		o->write = optarg;
		return 1;
	}
	return 0;
}

/* 0, or an exit code. */
static int take(struct xsf_drops_options *o, int opt, char **argv)
{
	switch (opt) {
	case 'j':
		o->json = 1;
		return 0;
	case 't':
		o->top = 1;
		return 0;
	case 'c':
		if (xsf_parse_u64(optarg, 1, UINT64_MAX, &o->count))
			return xsf_usage("drops", "--count is a number from 1");
		return 0;
	case SECONDS:
		if (xsf_parse_u64(optarg, 1, MAX_SECONDS, &o->seconds))
			return xsf_usage("drops", "--seconds is a number from 1 to %d",
					 MAX_SECONDS);
		return 0;
	case BUFFER:
		o->for_live = "--buffer";
		return ring_bytes(optarg, &o->ring);
	case 'p':
		o->for_read = "--port";
		if (xsf_parse_ports(optarg, o->config.ports))
			return xsf_usage("drops",
					 "--port: '%.64s' is no list of at most %d ports from 1 to "
					 "65535",
					 optarg, XSF_MAX_PORTS);
		return 0;
	case MAPS:
		o->for_live = "--maps";
		o->dir = xsf_maps_dir(optarg);
		return o->dir ? 0 : xsf_usage("drops", "--maps needs a directory");
	case REASON:
	case AGENT:
	case INTERFACE:
		return add_to_list(o, opt);
	case ':':
		return xsf_usage("drops", "%s needs a value", argv[optind - 1]);
	}
	return xsf_usage("drops", "unknown option '%s'", argv[optind - 1]);
}

/* 0: go on; -1: help was given; else an exit code. */
static int parse(int argc, char **argv, struct xsf_drops_options *o, char **expression)
{
	static const struct option known[] = { { "json", no_argument, NULL, 'j' },
					       { "top", no_argument, NULL, 't' },
					       { "write", required_argument, NULL, 'w' },
					       { "read", required_argument, NULL, 'r' },
					       { "reason", required_argument, NULL, REASON },
					       { "agent", required_argument, NULL, AGENT },
					       { "interface", required_argument, NULL, INTERFACE },
					       { "count", required_argument, NULL, 'c' },
					       { "seconds", required_argument, NULL, SECONDS },
					       { "buffer", required_argument, NULL, BUFFER },
					       { "port", required_argument, NULL, 'p' },
					       { "maps", required_argument, NULL, MAPS },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	int opt, code;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":hjtw:r:c:p:", known, NULL)) != -1) {
		if (opt == 'h') {
			help();
			return -1;
		}
		code = take_text(o, opt) ? 0 : take(o, opt, argv);
		if (code)
			return code;
	}
	if (o->json && o->top)
		return xsf_usage("drops", "--json and --top are two forms: give one");
	if (o->read && o->for_live)
		return xsf_usage("drops", "%s is not for --read, which needs no programs",
				 o->for_live);
	if (!o->read && o->for_read)
		return xsf_usage("drops", "%s is for --read; ports of programs: xdp-sflow load %s",
				 o->for_read, o->for_read);
	if (o->write && !strcmp(o->write, "-") && (o->json || o->top))
		return xsf_usage("drops", "--write - and %s both want standard output",
				 o->json ? "--json" : "--top");
	if (o->write && !strcmp(o->write, "-") && isatty(STDOUT_FILENO))
		return xsf_usage("drops", "--write - is for a pipe, not for a terminal");
	code = join(argc - optind, argv + optind, expression);
	o->filter.expression = *expression;
	return code;
}

static void summary(const struct xsf_drops *d)
{
	char more[320] = "";
	size_t n = 0;

	if (d->left)
		n += (size_t)snprintf(more + n, sizeof(more) - n, ", %" PRIu64 " left after those",
				      d->left);
	if (d->stuck)
		n += (size_t)snprintf(more + n, sizeof(more) - n,
				      ", the last not written since %.64s took no more", d->stuck);
	if (d->pcapng && xsf_pcapng_other(d->pcapng))
		snprintf(more + n, sizeof(more) - n,
			 ", %" PRIu64 " of interface 'other' (%d have their own)",
			 xsf_pcapng_other(d->pcapng), XSF_PCAPNG_INTERFACES);
	xsf_error("%" PRIu64 " shown, %" PRIu64 " did not match, %" PRIu64
		  " shed by a full ring%s; %" PRIu64 " notified",
		  d->shown, d->filtered, d->shed, more, d->notified);
}

int cmd_drops(int argc, char **argv)
{
	struct xsf_drops_options o = { .ring = XSF_EVENTS_RING_DEFAULT, .dir = xsf_maps_dir(NULL) };
	char *expression = NULL;
	struct xsf_drops d;
	int code;

	xsf_config_defaults(&o.config);
	o.config.stale_ns = UINT64_MAX; /* in a capture nobody is silent */
	code = parse(argc, argv, &o, &expression);
	if (code) {
		free(expression);
		return code < 0 ? 0 : code;
	}
	xsf_log_capture(NULL);
	signal(SIGPIPE, SIG_IGN);
	code = xsf_drops_open(&d, &o);
	if (!code)
		code = o.read ? xsf_drops_read(&d) : xsf_drops_live(&d);
	xsf_drops_flush(&d);
	if (d.failed)
		code = XSF_EXIT_FAILURE;
	if (d.top) {
		xsf_drops_top_close(d.top);
		d.top = NULL;
	}
	if (d.began && !d.failed && d.ended != XSF_DROPS_PIPE)
		summary(&d);
	xsf_drops_close(&d);
	free(expression);
	return code;
}
