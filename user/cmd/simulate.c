// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/cmd.h"
#include "cmd/simulate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <xsf/sflow.h>

#include "model/frame.h"

#define SECOND 1000000000ull
#define BATCH 64
#define MAX_REFUSALS 8		       /* in a row, for one datagram */
#define LONGEST_SLEEP (SECOND / 10)    /* so that a signal is never waited for longer */
#define SHORTEST_SLEEP (SECOND / 2000) /* what is due within half a millisecond goes together */
#define SEND_BUFFER (1 << 20)

struct options {
	struct xsf_fabric_config fabric;
	uint64_t duration; /* ns; 0 = without end */
	uint64_t count;	   /* datagrams; 0 = without end */
	struct sockaddr_storage to;
	socklen_t to_len;
	const char *to_text;
	const char *write;
	const char *truth;
};

struct sender {
	int fd;
	unsigned int nr; /* datagrams that wait */
	uint64_t sent;
	uint64_t refused; /* ICMP said that nobody listens; sent nevertheless */
	uint64_t failed;  /* not sent */
	int last_error;
	struct mmsghdr msgs[BATCH];
	struct iovec iov[BATCH];
	uint8_t data[BATCH][XSF_FABRIC_DATAGRAM];
};

static volatile sig_atomic_t stop;

static void on_signal(int signo)
{
	(void)signo;
	stop = 1;
}

static void help(void)
{
	printf("Usage: xdp-sflow simulate [OPTION]...\n"
	       "A leaf-spine fabric of an AI cluster whose switches send sFlow: RoCEv2 in training "
	       "cycles\n"
	       "(compute, then exchange), congestion marks, CNPs, trimmed packets, interface "
	       "counters, drop\n"
	       "notifications. The same options and seed give the same bytes.\n\n"
	       "  --to ADDR[:PORT]  where to send, [ADDR]:PORT for IPv6 (127.0.0.1:6343)\n"
	       "  --rate N          datagrams a second, mean of a cycle, 0..%u (1000); 0 = as fast "
	       "as the\n"
	       "                    socket takes, while the fabric's own time runs as at %u\n"
	       "  --seconds S       how long, 0 = until interrupted (10)\n"
	       "  --count N         stop after N datagrams, 0 = don't (0)\n"
	       "  --leaves N        1..%u (4)\n"
	       "  --spines N        1..%u (2)\n"
	       "  --ports N         hosts per leaf, 1..%u (8); leaves * (ports + 2 * spines) at "
	       "most %u\n"
	       "  --cycle S         a training cycle, 0 or 0.001.. (1); 0 = exchange without "
	       "pause\n"
	       "  --polling S       between counter samples of an interface, 0 = none (20)\n"
	       "  --seed N          of everything random (1)\n"
	       "  --ipv6-agents     switches have IPv6 addresses\n"
	       "  --write FILE      write a pcap instead of sending, without waiting\n"
	       "  --truth FILE      write what was generated as JSON, comparable to replay "
	       "--json\n\n"
	       "Seconds may have decimals. Agents are 10.1.0.1.. (leaf1..) and 10.2.0.1.. "
	       "(spine1..), or\n"
	       "fd00:5f:1::1.. and fd00:5f:2::1..; ports are swp1.. with ifIndex 3...\n",
	       XSF_FABRIC_MAX_RATE, XSF_FABRIC_NOMINAL_RATE, XSF_FABRIC_MAX_LEAVES,
	       XSF_FABRIC_MAX_SPINES, XSF_FABRIC_MAX_PORTS, XSF_FABRIC_MAX_INTERFACES);
}

/* ---- options ---- */

/* Seconds with up to nine decimals -> ns in [min, max], or 0. */
static int parse_seconds(const char *text, uint64_t min, uint64_t *ns)
{
	const char *dot = strchr(text, '.');
	size_t whole = dot ? (size_t)(dot - text) : strlen(text);
	uint64_t s, part = 0, unit = SECOND;
	char digits[16];

	if (!whole || whole >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, whole);
	digits[whole] = '\0';
	if (xsf_parse_u64(digits, 0, XSF_FABRIC_MAX_NS / SECOND - 1, &s))
		return -EINVAL;
	if (dot && !dot[1])
		return -EINVAL;
	for (const char *c = dot ? dot + 1 : ""; *c; c++) {
		if (*c < '0' || *c > '9' || unit == 1)
			return -EINVAL;
		unit /= 10;
		part += (uint64_t)(*c - '0') * unit;
	}
	s = s * SECOND + part;
	if (s && s < min)
		return -EINVAL;
	*ns = s;
	return 0;
}

/* ADDR, ADDR:PORT, [ADDR]:PORT; numeric only, so that nothing is looked up. */
static int parse_to(const char *text, struct options *o)
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
	OPT_SEED,
	OPT_IPV6_AGENTS,
	OPT_WRITE,
	OPT_TRUTH,
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
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "ipv6-agents", no_argument, NULL, OPT_IPV6_AGENTS },
	{ "write", required_argument, NULL, OPT_WRITE },
	{ "truth", required_argument, NULL, OPT_TRUTH },
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

static int parse_option(int opt, const char *arg, struct options *o)
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
	case OPT_SEED:
		return xsf_parse_u64(arg, 0, UINT64_MAX, &c->seed);
	case OPT_TO:
		o->to_text = arg;
		return parse_to(arg, o);
	case OPT_IPV6_AGENTS:
		c->ipv6_agents = 1;
		return 0;
	case OPT_WRITE:
		o->write = arg;
		return *arg ? 0 : -EINVAL;
	case OPT_TRUTH:
		o->truth = arg;
		return *arg ? 0 : -EINVAL;
	}
	return -EINVAL;
}

/* 0 go on, -1 help was shown, else the exit code. */
static int parse_options(int argc, char **argv, struct options *o)
{
	const struct xsf_fabric_config *c = &o->fabric;
	int opt, index = 0;

	*o = (struct options){
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
		if (parse_option(opt, optarg, o))
			return xsf_usage("simulate", "bad value '%s' for --%s", optarg,
					 long_options[opt - OPT_LEAVES].name);
	}
	if (optind < argc)
		return xsf_usage("simulate", "unexpected argument '%s'", argv[optind]);
	if (c->leaves * (c->ports + 2 * c->spines) > XSF_FABRIC_MAX_INTERFACES)
		return xsf_usage("simulate",
				 "more than %u interfaces: take fewer leaves, spines or ports",
				 XSF_FABRIC_MAX_INTERFACES);
	if (o->write && !o->duration && !o->count)
		return xsf_usage("simulate", "--write needs an end: --seconds or --count above 0");
	return 0;
}

/* ---- into a file ---- */

static void sockaddr_bytes(const struct sockaddr_storage *s, uint8_t addr[16], uint16_t *port)
{
	memset(addr, 0, 16);
	if (s->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)s;

		memcpy(addr, &in6->sin6_addr, 16);
		*port = ntohs(in6->sin6_port);
	} else {
		const struct sockaddr_in *in = (const void *)s;

		addr[10] = 0xff;
		addr[11] = 0xff;
		memcpy(addr + 12, &in->sin_addr, 4);
		*port = ntohs(in->sin_port);
	}
}

static int ended(const struct options *o, const struct xsf_fabric *f)
{
	return stop || (o->count && xsf_fabric_truth(f)->datagrams >= o->count) ||
	       (o->duration && xsf_fabric_time(f) >= o->duration);
}

/* Frames from each agent's own address, at its virtual time. */
static int write_file(const struct options *o, struct xsf_fabric *f)
{
	uint8_t frame[XSF_WRAP_BYTES + XSF_FABRIC_DATAGRAM], data[XSF_FABRIC_DATAGRAM];
	struct xsf_fabric_datagram d;
	struct pcap_pkthdr header;
	uint8_t src[16], dst[16];
	pcap_dumper_t *out;
	uint16_t port;
	uint32_t len;
	pcap_t *p;
	int err = 0;

	sockaddr_bytes(&o->to, dst, &port);
	p = pcap_open_dead(DLT_EN10MB, 65535);
	out = p ? pcap_dump_open(p, o->write) : NULL;
	if (!out) {
		xsf_error("cannot write %s", p ? pcap_geterr(p) : "a capture: no memory");
		if (p)
			pcap_close(p);
		return XSF_EXIT_FAILURE;
	}
	while (!ended(o, f) && !err) {
		xsf_fabric_next(f, data, &d);
		xsf_fabric_source(f, d.agent, !xsf_addr_is_ip4(dst), src);
		len = xsf_frame_wrap(frame, src, dst, SFLOW_PORT, port, data, d.len);
		memcpy(frame + len, data, d.len);
		header.ts.tv_sec = (time_t)(d.time_ns / SECOND);
		header.ts.tv_usec = (suseconds_t)(d.time_ns % SECOND / 1000);
		header.caplen = header.len = len + d.len;
		pcap_dump((unsigned char *)out, &header, frame);
		err = ferror(pcap_dump_file(out));
	}
	if (pcap_dump_flush(out) || err) {
		xsf_error("cannot write %s: %s", o->write, strerror(errno));
		err = 1;
	}
	pcap_dump_close(out);
	pcap_close(p);
	return err ? XSF_EXIT_FAILURE : 0;
}

/* ---- to a socket ---- */

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec t = { 0, (long)(ns < LONGEST_SLEEP ? ns : LONGEST_SLEEP) };

	nanosleep(&t, NULL);
}

/* Sends what waits. A refusal is the answer to an earlier datagram, so this one is tried again. */
static void flush(struct sender *s)
{
	unsigned int at = 0, refusals = 0;

	while (at < s->nr) {
		int n = sendmmsg(s->fd, s->msgs + at, s->nr - at, 0);

		if (n > 0) {
			s->sent += (uint64_t)n;
			at += (unsigned int)n;
			refusals = 0;
		} else if (errno == ECONNREFUSED && refusals < MAX_REFUSALS) {
			s->refused++;
			refusals++;
		} else if (errno != EINTR) {
			s->failed++;
			s->last_error = errno;
			at++;
			refusals = 0;
		}
	}
	s->nr = 0;
}

static int open_socket(const struct options *o)
{
	int fd = socket(o->to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), size = SEND_BUFFER;

	if (fd < 0) {
		xsf_error("cannot open a UDP socket: %s", strerror(errno));
		return -1;
	}
	/* What the system allows of it will do. */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (connect(fd, (const struct sockaddr *)&o->to, o->to_len)) {
		xsf_error("cannot send to %s: %s; see: ip route get", o->to_text, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

/* Each datagram at its time; without a rate, until the time is over. */
static void send_all(const struct options *o, struct xsf_fabric *f, struct sender *s)
{
	struct options limits = *o;
	uint64_t start = clock_ns(), now, due;
	struct xsf_fabric_datagram d;

	if (!o->fabric.rate)
		limits.duration = 0;
	while (!ended(&limits, f)) {
		if (o->fabric.rate) {
			due = xsf_fabric_time(f);
			now = clock_ns() - start;
			if (due > now) {
				flush(s);
				now = clock_ns() - start;
				if (due > now)
					sleep_ns(due - now > SHORTEST_SLEEP ? due - now :
									      SHORTEST_SLEEP);
				continue;
			}
		} else if (!s->nr && o->duration && clock_ns() - start >= o->duration) {
			break;
		}
		xsf_fabric_next(f, s->data[s->nr], &d);
		s->iov[s->nr].iov_len = d.len;
		if (++s->nr == BATCH)
			flush(s);
	}
	flush(s);
}

static int send_to(const struct options *o, struct xsf_fabric *f, struct sender *s)
{
	s->fd = open_socket(o);
	if (s->fd < 0)
		return XSF_EXIT_FAILURE;
	for (int i = 0; i < BATCH; i++) {
		s->iov[i].iov_base = s->data[i];
		s->msgs[i].msg_hdr.msg_iov = &s->iov[i];
		s->msgs[i].msg_hdr.msg_iovlen = 1;
	}
	send_all(o, f, s);
	close(s->fd);
	if (s->failed && !s->sent) {
		xsf_error("nothing could be sent to %s: %s", o->to_text, strerror(s->last_error));
		return XSF_EXIT_FAILURE;
	}
	return 0;
}

/* ---- all of it ---- */

static void report(const struct options *o, const struct xsf_fabric *f, const struct sender *s,
		   uint64_t ns)
{
	const struct xsf_fabric_truth *t = xsf_fabric_truth(f);

	/* A capture that goes to stdout stays alone there. */
	fprintf(o->write && !strcmp(o->write, "-") ? stderr : stdout,
		"%s %" PRIu64 " datagrams, %" PRIu64 " bytes, in %.2f s: %" PRIu64 " flow, %" PRIu64
		" counter, %" PRIu64 " drop samples; %" PRIu64 " send errors%s%s%s\n",
		o->write ? "wrote" : "sent", o->write ? t->datagrams : s->sent, t->bytes,
		(double)ns / 1e9, t->flow_samples, t->counter_samples, t->drop_samples,
		s->failed + s->refused, s->failed ? ", last: " : "",
		s->failed ? strerror(s->last_error) : "",
		s->refused ? ", nobody listens there" : "");
}

static int write_truth(const struct options *o, FILE *truth, const struct xsf_fabric *f,
		       uint64_t failed)
{
	int bad;

	simulate_write_truth(truth, f, failed);
	bad = ferror(truth);
	if (fclose(truth) || bad) {
		xsf_error("cannot write %s: %s", o->truth, strerror(errno));
		return XSF_EXIT_FAILURE;
	}
	return 0;
}

int cmd_simulate(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	static struct sender sender; /* large, and there is one */
	struct xsf_fabric *f = NULL;
	FILE *truth = NULL;
	struct options o;
	uint64_t start;
	int rc;

	rc = parse_options(argc, argv, &o);
	if (rc)
		return rc < 0 ? 0 : rc;
	rc = xsf_fabric_new(&o.fabric, &f);
	if (rc) {
		xsf_error("cannot build the fabric: %s", strerror(-rc));
		return XSF_EXIT_FAILURE;
	}
	if (o.truth) {
		truth = fopen(o.truth, "we");
		if (!truth) {
			xsf_error("cannot write %s: %s", o.truth, strerror(errno));
			rc = XSF_EXIT_FAILURE;
			goto out;
		}
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	start = clock_ns();
	rc = o.write ? write_file(&o, f) : send_to(&o, f, &sender);
	if (!rc)
		report(&o, f, &sender, clock_ns() - start);
	if (truth && write_truth(&o, truth, f, sender.failed))
		rc = XSF_EXIT_FAILURE;
out:
	xsf_fabric_free(f);
	return rc;
}
