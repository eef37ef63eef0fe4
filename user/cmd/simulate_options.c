// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/cmd.h"
#include "cmd/simulate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <xsf/sflow.h>

#define SECOND 1000000000ull

static void help(void)
{
	printf("Usage: xdp-sflow simulate [OPTION]...\n"
	       "A leaf-spine fabric of an AI cluster whose switches send sFlow: RoCEv2 in\n"
	       "training cycles (compute, then exchange), congestion marks, CNPs, trimmed\n"
	       "packets, interface counters, drop notifications. The same options and seed give\n"
	       "the same bytes.\n\n"
	       "      --to ADDR[:PORT]  where to send, [ADDR]:PORT for IPv6 (default\n"
	       "                        127.0.0.1:6343)\n"
	       "      --rate N          datagrams a second, mean of a cycle, 0..%u (default\n"
	       "                        1000); 0 = as fast as the socket takes, while the\n"
	       "                        fabric's own time runs as at %u\n"
	       "      --seconds S       how long, 0 = until interrupted (default 10)\n"
	       "      --count N         stop after N datagrams, 0 = don't (default 0)\n"
	       "      --leaves N        1..%u (default 4)\n"
	       "      --spines N        1..%u (default 2)\n"
	       "      --ports N         hosts per leaf, 1..%u (default 8); leaves * (ports +\n"
	       "                        2 * spines) at most %u\n"
	       "      --cycle S         seconds of a training cycle, 0 or 0.001.. (default 1);\n"
	       "                        0 = exchange without pause\n"
	       "      --polling S       seconds between counter samples of an interface, 0 = none\n"
	       "                        (default 20)\n"
	       "      --drops N         packets dropped a second by all switches together, in "
	       "bursts,\n"
	       "                        each notified, 1..%u (default: some, at most 50 a\n"
	       "                        second of a switch notified)\n"
	       "      --drop-limit N    with --drops: notifications a second of a switch, 1..%u;\n"
	       "                        it counts the others (default: all are notified)\n"
	       "      --seed N          of everything random (default 1)\n"
	       "      --wrong-checksums PERCENT\n"
	       "                        so many of the datagrams have a wrong UDP checksum,\n"
	       "                        0..100 with at most 3 decimals (default 0); to an IPv6\n"
	       "                        address, and needs CAP_NET_RAW\n"
	       "      --ipv6-agents     switches have IPv6 addresses\n"
	       "      --write FILE      write a pcap instead of sending, without waiting\n"
	       "      --truth FILE      write what was generated as JSON, comparable to\n"
	       "                        'replay --json'\n"
	       "      --print-topology full|links  print the fabric's topology as JSON, whole or\n"
	       "                        its links alone, and send nothing\n"
	       "  -h, --help            this text\n\n"
	       "Seconds may have decimals. Agents are 10.1.0.1.. (leaf1..) and 10.2.0.1..\n"
	       "(spine1..), or fd00:5f:1::1.. and fd00:5f:2::1..; ports are swp1.. with ifIndex\n"
	       "3 and on.\n",
	       XSF_FABRIC_MAX_RATE, XSF_FABRIC_NOMINAL_RATE, XSF_FABRIC_MAX_LEAVES,
	       XSF_FABRIC_MAX_SPINES, XSF_FABRIC_MAX_PORTS, XSF_FABRIC_MAX_INTERFACES,
	       XSF_FABRIC_MAX_DROPS, XSF_FABRIC_MAX_DROPS);
}

/* A number of at most `max` with as many decimals as `one` has zeros -> in units of 1 / `one`. */
static int parse_decimal(const char *text, uint64_t max, uint64_t one, uint64_t *value)
{
	const char *dot = strchr(text, '.');
	size_t whole = dot ? (size_t)(dot - text) : strlen(text);
	uint64_t s, part = 0, unit = one;
	char digits[16];

	if (!whole || whole >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, whole);
	digits[whole] = '\0';
	if (xsf_parse_u64(digits, 0, max, &s))
		return -EINVAL;
	if (dot && !dot[1])
		return -EINVAL;
	for (const char *c = dot ? dot + 1 : ""; *c; c++) {
		if (*c < '0' || *c > '9' || unit == 1)
			return -EINVAL;
		unit /= 10;
		part += (uint64_t)(*c - '0') * unit;
	}
	*value = s * one + part;
	return 0;
}

/* Seconds with up to nine decimals -> ns in [min, max], or 0. */
static int parse_seconds(const char *text, uint64_t min, uint64_t *ns)
{
	uint64_t v;

	if (parse_decimal(text, XSF_FABRIC_MAX_NS / SECOND - 1, SECOND, &v) || (v && v < min))
		return -EINVAL;
	*ns = v;
	return 0;
}

static int parse_percent(const char *text, uint32_t *of_100000)
{
	uint64_t v;

	if (parse_decimal(text, 100, 1000, &v) || v > 100000)
		return -EINVAL;
	*of_100000 = (uint32_t)v;
	return 0;
}

/* "::1:6343" is an address of IPv6 and one perhaps meant another, with a port. */
static void hint_at_port(struct simulate_options *o, const char *text)
{
	const char *port = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN];
	struct in6_addr in6;
	uint64_t number;

	o->to_hint[0] = 0;
	if (*text == '[' || !port || (size_t)(port - text) >= sizeof(host) ||
	    xsf_parse_u64(port + 1, 1, 65535, &number))
		return;
	memcpy(host, text, (size_t)(port - text));
	host[port - text] = 0;
	if (inet_pton(AF_INET6, host, &in6) == 1)
		snprintf(o->to_hint, sizeof(o->to_hint), "; with a port: [%s]:%u", host,
			 (unsigned int)number);
}

/* ADDR, ADDR:PORT, [ADDR]:PORT; numeric only, so that nothing is looked up. */
static int parse_to(const char *text, struct simulate_options *o)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_DGRAM };
	char host[128], service[8];
	const char *colon = strchr(text, ':'), *port = NULL;
	size_t len = strlen(text);
	uint64_t number = SFLOW_PORT;
	struct addrinfo *found;
	struct in_addr in;

	if (*text == '[') {
		const char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		len = (size_t)(end - ++text);
		port = end[1] ? end + 2 : NULL;
	} else if (colon && !strchr(colon + 1, ':')) {
		len = (size_t)(colon - text);
		port = colon + 1;
	}
	if (!len || len >= sizeof(host) || (port && xsf_parse_u64(port, 1, 65535, &number)))
		return -EINVAL;
	memcpy(host, text, len);
	host[len] = '\0';
	/* getaddrinfo() would take "10.1" as well */
	if (!strchr(host, ':') && inet_pton(AF_INET, host, &in) != 1)
		return -EINVAL;
	snprintf(service, sizeof(service), "%u", (unsigned int)number);
	if (getaddrinfo(host, service, &hints, &found))
		return -EINVAL;
	memcpy(&o->to, found->ai_addr, found->ai_addrlen);
	o->to_len = found->ai_addrlen;
	hint_at_port(o, text);
	freeaddrinfo(found);
	return 0;
}

enum {
	OPT_LEAVES = 256,
	OPT_SPINES,
	OPT_PORTS,
	OPT_RATE,
	OPT_SECONDS,
	OPT_COUNT,
	OPT_CYCLE,
	OPT_POLLING,
	OPT_TO,
	OPT_DROPS,
	OPT_DROP_LIMIT,
	OPT_SEED,
	OPT_IPV6_AGENTS,
	OPT_WRONG_CHECKSUMS,
	OPT_WRITE,
	OPT_TRUTH,
	OPT_TOPOLOGY,
};

static const struct option long_options[] = {
	{ "leaves", required_argument, NULL, OPT_LEAVES },
	{ "spines", required_argument, NULL, OPT_SPINES },
	{ "ports", required_argument, NULL, OPT_PORTS },
	{ "rate", required_argument, NULL, OPT_RATE },
	{ "seconds", required_argument, NULL, OPT_SECONDS },
	{ "count", required_argument, NULL, OPT_COUNT },
	{ "cycle", required_argument, NULL, OPT_CYCLE },
	{ "polling", required_argument, NULL, OPT_POLLING },
	{ "to", required_argument, NULL, OPT_TO },
	{ "drops", required_argument, NULL, OPT_DROPS },
	{ "drop-limit", required_argument, NULL, OPT_DROP_LIMIT },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "ipv6-agents", no_argument, NULL, OPT_IPV6_AGENTS },
	{ "wrong-checksums", required_argument, NULL, OPT_WRONG_CHECKSUMS },
	{ "write", required_argument, NULL, OPT_WRITE },
	{ "truth", required_argument, NULL, OPT_TRUTH },
	{ "print-topology", required_argument, NULL, OPT_TOPOLOGY },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *value)
{
	uint64_t v;

	if (xsf_parse_u64(text, min, max, &v))
		return -EINVAL;
	*value = (uint32_t)v;
	return 0;
}

static int parse_option(int opt, const char *arg, struct simulate_options *o)
{
	struct xsf_fabric_config *c = &o->fabric;

	switch (opt) {
	case OPT_LEAVES:
		return parse_u32(arg, 1, XSF_FABRIC_MAX_LEAVES, &c->leaves);
	case OPT_SPINES:
		return parse_u32(arg, 1, XSF_FABRIC_MAX_SPINES, &c->spines);
	case OPT_PORTS:
		return parse_u32(arg, 1, XSF_FABRIC_MAX_PORTS, &c->ports);
	case OPT_RATE:
		return parse_u32(arg, 0, XSF_FABRIC_MAX_RATE, &c->rate);
	case OPT_SECONDS:
		return parse_seconds(arg, 1, &o->duration);
	case OPT_COUNT:
		return xsf_parse_u64(arg, 0, UINT64_MAX, &o->count);
	case OPT_CYCLE:
		return parse_seconds(arg, SECOND / 1000, &c->cycle_ns);
	case OPT_POLLING:
		return parse_seconds(arg, 1, &c->polling_ns);
	case OPT_DROPS:
		return parse_u32(arg, 1, XSF_FABRIC_MAX_DROPS, &c->drops);
	case OPT_DROP_LIMIT:
		return parse_u32(arg, 1, XSF_FABRIC_MAX_DROPS, &c->drop_limit);
	case OPT_SEED:
		return xsf_parse_u64(arg, 0, UINT64_MAX, &c->seed);
	case OPT_TO:
		o->to_text = arg;
		return parse_to(arg, o);
	case OPT_IPV6_AGENTS:
		c->ipv6_agents = 1;
		return 0;
	case OPT_WRONG_CHECKSUMS:
		return parse_percent(arg, &o->wrong_checksums);
	case OPT_WRITE:
		o->write = arg;
		return *arg ? 0 : -EINVAL;
	case OPT_TRUTH:
		o->truth = arg;
		return *arg ? 0 : -EINVAL;
	case OPT_TOPOLOGY:
		o->topology = arg;
		return strcmp(arg, "full") && strcmp(arg, "links") ? -EINVAL : 0;
	}
	return -EINVAL;
}

int simulate_options_parse(int argc, char **argv, struct simulate_options *o)
{
	const struct xsf_fabric_config *c = &o->fabric;
	int opt, index = 0;

	*o = (struct simulate_options){
		.fabric = { .leaves = 4,
			    .spines = 2,
			    .ports = 8,
			    .rate = 1000,
			    .cycle_ns = SECOND,
			    .polling_ns = 20 * SECOND,
			    .seed = 1 },
		.duration = 10 * SECOND,
	};
	parse_option(OPT_TO, "127.0.0.1", o);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":h", long_options, &index)) != -1) {
		if (opt == 'h') {
			help();
			return -1;
		}
		if (opt == '?')
			return xsf_usage("simulate", "unknown option '%s'", argv[optind - 1]);
		if (opt == ':')
			return xsf_usage("simulate", "option '%s' needs a value", argv[optind - 1]);
		if (!parse_option(opt, optarg, o))
			continue;
		if (opt == OPT_WRONG_CHECKSUMS)
			return xsf_usage("simulate",
					 "--wrong-checksums is a percentage from 0 to 100 with at "
					 "most 3 decimals, not '%s'",
					 optarg);
		else
			return xsf_usage("simulate", "bad value '%s' for --%s", optarg,
					 long_options[opt - OPT_LEAVES].name);
	}
	if (optind < argc)
		return xsf_usage("simulate", "unexpected argument '%s'", argv[optind]);
	if (c->leaves * (c->ports + 2 * c->spines) > XSF_FABRIC_MAX_INTERFACES)
		return xsf_usage("simulate",
				 "more than %u interfaces: take fewer leaves, spines or ports",
				 XSF_FABRIC_MAX_INTERFACES);
	if (c->drop_limit && !c->drops)
		return xsf_usage("simulate", "--drop-limit goes with --drops");
	if (o->wrong_checksums && o->to.ss_family != AF_INET6)
		return xsf_usage("simulate",
				 "--wrong-checksums is about UDP over IPv6: give --to an "
				 "IPv6 address");
	if (o->write && !o->duration && !o->count)
		return xsf_usage("simulate", "--write needs an end: --seconds or --count above 0");
	return 0;
}
