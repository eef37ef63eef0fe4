// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/load.h"
#include "kernel/probe.h"
#include "serve/doctor.h"

#define SAMPLE_MS 1000

static void help(void)
{
	printf("Usage: xdp-sflow doctor IFACE [OPTION]...\n"
	       "What would go wrong when telemetry is received on IFACE: a line for each check, "
	       "ok,\n"
	       "warn, fail or unknown, with the command that mends it. Changes nothing. Exit code "
	       "1\n"
	       "when a check fails.\n\n"
	       "  -p, --port PORT[,...]  UDP ports of the telemetry, at most 8 (default: 4739, "
	       "6343,\n"
	       "                         2055, and those that IFACE's program counts)\n"
	       "      --seconds N        how long rates are measured (default 1, at most 60; 0: "
	       "not)\n"
	       "  -j, --json             one JSON object\n"
	       "      --maps DIR         pin directory (default /sys/fs/bpf/xdp-sflow/v2)\n"
	       "  -h, --help             this text\n");
}

static int print(const char *iface, const struct xsf_diagnosis *d, int json)
{
	static char buf[XSF_DOCTOR_TEXT];
	struct xsf_text t = { .buf = buf, .max = sizeof(buf) };

	if (json)
		xsf_doctor_json(iface, d, &t);
	else
		xsf_doctor_text(d, &t);
	if (t.full)
		errno = EOVERFLOW;
	if (t.full || fwrite(buf, 1, t.len, stdout) != t.len || fflush(stdout)) {
		xsf_error("cannot write the findings: %s", strerror(errno));
		return XSF_EXIT_FAILURE;
	}
	return d->count[XSF_LEVEL_FAIL] ? XSF_EXIT_FAILURE : 0;
}

static int doctor(const struct xsf_probe_options *o, int json)
{
	static struct xsf_facts facts;
	static struct xsf_diagnosis diagnosis;
	struct xsf_why why;

	if (xsf_probe(o, &facts, &why)) {
		xsf_error("%s", why.text);
		return XSF_EXIT_FAILURE;
	}
	xsf_diagnose(&facts, &diagnosis);
	return print(facts.iface, &diagnosis, json);
}

int cmd_doctor(int argc, char **argv)
{
	static const struct option options[] = { { "port", required_argument, NULL, 'p' },
						 { "seconds", required_argument, NULL, 's' },
						 { "json", no_argument, NULL, 'j' },
						 { "maps", required_argument, NULL, 'm' },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	struct xsf_probe_options o = { .dir = xsf_maps_dir(NULL), .sample_ms = SAMPLE_MS };
	uint64_t seconds;
	int opt, json = 0;

	opterr = 0;
	xsf_log_capture(NULL);
	while ((opt = getopt_long(argc, argv, ":p:jh", options, NULL)) != -1) {
		switch (opt) {
		case 'p':
			if (xsf_parse_ports(optarg, o.ports))
				return xsf_usage(
					"doctor",
					"'%s' is no list of at most %d ports from 1 to 65535",
					optarg, XSF_MAX_PORTS);
			break;
		case 's':
			if (xsf_parse_u64(optarg, 0, XSF_PROBE_MS_MAX / 1000, &seconds))
				return xsf_usage("doctor",
						 "--seconds is a number from 0 to %d, not '%s'",
						 XSF_PROBE_MS_MAX / 1000, optarg);
			o.sample_ms = (uint32_t)seconds * 1000;
			break;
		case 'j':
			json = 1;
			break;
		case 'm':
			o.dir = xsf_maps_dir(optarg);
			if (!o.dir)
				return xsf_usage("doctor", "--maps needs a directory");
			break;
		case 'h':
			help();
			return 0;
		case ':':
			return xsf_usage("doctor", "%s needs a value", argv[optind - 1]);
		default:
			return xsf_usage("doctor", "unknown option '%s'", argv[optind - 1]);
		}
	}
	if (optind == argc)
		return xsf_usage("doctor", "no interface given");
	if (argc - optind > 1)
		return xsf_usage("doctor", "one interface at a time");
	o.iface = argv[optind];
	return doctor(&o, json);
}
