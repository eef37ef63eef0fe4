// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/load.h"
#include "kernel/ledger.h"
#include "kernel/why.h"
#include "serve/ledger.h"

#define DEFAULT_SECONDS 10
#define MAX_SECONDS 31536000

struct options {
	struct xsf_ledger_ask ask;
	uint64_t seconds; /* 0: until a signal */
	int json;
	int watch;
};

static void help(void)
{
	printf("Usage: xdp-sflow ledger [IFACE] [OPTION]...\n"
	       "Where each datagram to a telemetry port went: counts for some seconds, then "
	       "prints\n"
	       "for each port what arrived (on IFACE; without it, on all interfaces), what was\n"
	       "dropped and why, what was handed to a socket, and what is left unexplained; and "
	       "for\n"
	       "each stage the command that would mend it. Needs root, cgroup2 and BTF. Its\n"
	       "programs are attached only while it runs; XDP programs are not needed.\n\n"
	       "  -p, --port N[,N]...  these ports alone; repeat for more, at most %d (default: "
	       "4739,\n"
	       "                       6343, 2055 and those of the attached programs)\n"
	       "      --seconds N      how long (default %d; with --watch, until SIGINT); SIGINT "
	       "and\n"
	       "                       SIGTERM end it early, and it prints\n"
	       "      --watch          print each second what was counted so far\n"
	       "  -j, --json           one JSON object, with --watch one a line\n"
	       "      --maps DIR       pin directory (default /sys/fs/bpf/xdp-sflow/v2)\n"
	       "  -h, --help           this text\n\n"
	       "Exit code: 0 it counted, 1 it could not, 2 wrong usage.\n",
	       XSF_LEDGER_PORTS, DEFAULT_SECONDS);
}

static int print(const struct options *o, const struct xsf_ledger *l)
{
	struct xsf_text t = { .buf = malloc(XSF_LEDGER_DOCUMENT), .max = XSF_LEDGER_DOCUMENT };
	int err = 0;

	if (!t.buf)
		return -ENOMEM;
	if (o->json)
		xsf_ledger_json(l, &t);
	else
		xsf_ledger_text(l, &t);
	/* A terminal is drawn anew; elsewhere a blank line parts the tables. */
	if (o->watch && !o->json)
		fputs(isatty(STDOUT_FILENO) ? "\033[H\033[J" : "\n", stdout);
	if (t.full)
		err = -EOVERFLOW;
	else if (fwrite(t.buf, 1, t.len, stdout) != t.len || fflush(stdout))
		err = -errno;
	free(t.buf);
	return err;
}

/* One reading, printed. 0 or an exit code. */
static int show(const struct options *o, struct xsf_ledger_probe *probe, struct xsf_ledger *l)
{
	struct xsf_why why;
	int err;

	if (xsf_ledger_probe_read(probe, l, &why)) {
		xsf_error("%s", why.text);
		return XSF_EXIT_FAILURE;
	}
	err = print(o, l);
	if (err)
		xsf_error("cannot write the ledger: %s", strerror(-err));
	return err ? XSF_EXIT_FAILURE : 0;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Waits until `until` (ms). 1: a signal came. */
static int wait_until(int signal_fd, uint64_t until)
{
	struct pollfd p = { .fd = signal_fd, .events = POLLIN };
	uint64_t now;

	for (now = now_ms(); now < until; now = now_ms()) {
		uint64_t left = until - now;

		if (poll(&p, 1, left > 60000 ? 60000 : (int)left) > 0)
			return 1;
	}
	return 0;
}

static int count(const struct options *o, int signal_fd, struct xsf_ledger_probe *probe)
{
	struct xsf_ledger *l = malloc(sizeof(*l));
	uint64_t begin = now_ms(), end = o->seconds ? begin + o->seconds * 1000 : UINT64_MAX;
	uint64_t next = o->watch ? begin + 1000 : end;
	int stop = 0, ret = 0;

	if (!l) {
		xsf_error("no memory for the ledger");
		return XSF_EXIT_FAILURE;
	}
	while (!stop && !ret) {
		stop = wait_until(signal_fd, next < end ? next : end) || now_ms() >= end;
		ret = show(o, probe, l);
		next += 1000;
	}
	free(l);
	return ret;
}

static int run(const struct options *o)
{
	struct xsf_ledger_probe *probe;
	struct xsf_why why;
	int signal_fd = xsf_end_signals(), ret;

	if (signal_fd < 0) {
		xsf_error("cannot wait for signals: %s", strerror(-signal_fd));
		return XSF_EXIT_FAILURE;
	}
	if (xsf_ledger_probe_open(&o->ask, &probe, &why)) {
		xsf_error("%s", why.text);
		close(signal_fd);
		return XSF_EXIT_FAILURE;
	}
	if (o->seconds)
		xsf_error("counting for %" PRIu64 " s", o->seconds);
	else
		xsf_error("counting");
	ret = count(o, signal_fd, probe);
	xsf_ledger_probe_close(probe);
	close(signal_fd);
	return ret;
}

static int add_ports(struct xsf_ledger_ask *ask, const char *text)
{
	uint16_t ports[XSF_MAX_PORTS];
	const size_t room = XSF_LEDGER_PORTS;
	size_t at = 0;

	if (xsf_parse_ports(text, ports))
		return xsf_usage("ledger",
				 "--port: '%.64s' is not a list of 1 to %d ports from 1 to 65535",
				 text, XSF_MAX_PORTS);
	while (at < room && ask->ports[at])
		at++;
	for (size_t n = 0; n < XSF_MAX_PORTS && ports[n]; n++) {
		if (at == room)
			return xsf_usage("ledger", "at most %zu ports", room);
		ask->ports[at++] = ports[n];
	}
	return 0;
}

/* 0: go on; -1: help was given; else an exit code. */
static int parse(int argc, char **argv, struct options *o)
{
	enum { SECONDS = 256, WATCH, MAPS };
	static const struct option known[] = { { "port", required_argument, NULL, 'p' },
					       { "seconds", required_argument, NULL, SECONDS },
					       { "watch", no_argument, NULL, WATCH },
					       { "json", no_argument, NULL, 'j' },
					       { "maps", required_argument, NULL, MAPS },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	int opt, code;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":hjp:", known, NULL)) != -1) {
		switch (opt) {
		case 'p':
			code = add_ports(&o->ask, optarg);
			if (code)
				return code;
			break;
		case SECONDS:
			if (xsf_parse_u64(optarg, 1, MAX_SECONDS, &o->seconds))
				return xsf_usage("ledger", "--seconds is a number from 1 to %d",
						 MAX_SECONDS);
			break;
		case WATCH:
			o->watch = 1;
			break;
		case 'j':
			o->json = 1;
			break;
		case MAPS:
			o->ask.dir = xsf_maps_dir(optarg);
			if (!o->ask.dir)
				return xsf_usage("ledger", "--maps needs a directory");
			break;
		case 'h':
			help();
			return -1;
		case ':':
			return xsf_usage("ledger", "%s needs a value", argv[optind - 1]);
		default:
			return xsf_usage("ledger", "unknown option '%s'", argv[optind - 1]);
		}
	}
	if (argc - optind > 1)
		return xsf_usage("ledger", "one interface at most");
	o->ask.iface = optind < argc ? argv[optind] : NULL;
	if (!o->seconds && !o->watch)
		o->seconds = DEFAULT_SECONDS;
	return 0;
}

int cmd_ledger(int argc, char **argv)
{
	struct options o = { 0 };
	int code = parse(argc, argv, &o);

	if (code)
		return code < 0 ? 0 : code;
	xsf_log_capture(NULL);
	return run(&o);
}
