// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/cmd.h"
#include "cmd/simulate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
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

#define UDP_BYTES 8
#define UDP_CHECKSUM 6 /* where it is in the header */

struct sender {
	int fd;
	int reserved; /* with a raw socket: the UDP socket whose port it uses, else -1 */
	uint8_t src[16], dst[16];
	uint16_t src_port, dst_port;
	uint64_t wrong;	 /* datagrams given a wrong checksum */
	unsigned int nr; /* datagrams that wait */
	uint64_t sent;
	uint64_t refused; /* ICMP said that nobody listens; sent nevertheless */
	uint64_t failed;  /* not sent */
	int last_error;
	struct mmsghdr msgs[BATCH];
	struct iovec iov[BATCH][2];
	uint8_t head[BATCH][UDP_BYTES];
	uint8_t data[BATCH][XSF_FABRIC_DATAGRAM];
};

static volatile sig_atomic_t stop;

static void on_signal(int signo)
{
	(void)signo;
	stop = 1;
}

/* Makes the right checksum of a UDP header wrong, for so many of the datagrams: which ones depends on the
 * seed and their number alone. 1 = made wrong. */
static int break_checksum(const struct simulate_options *o, uint64_t number, uint8_t *udp)
{
	uint64_t x = o->fabric.seed + (number + 1) * 0x9e3779b97f4a7c15ull; /* splitmix64 */
	uint32_t sum;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	x ^= x >> 31;
	if (x % 100000 >= o->wrong_checksums)
		return 0;
	/* As a router's chip did; never 0, which says that there is none. */
	sum = ((uint32_t)udp[UDP_CHECKSUM] << 8 | udp[UDP_CHECKSUM + 1]) - 0x0100;
	if (!(sum & 0xffff))
		sum = 0x0200;
	udp[UDP_CHECKSUM] = (uint8_t)(sum >> 8);
	udp[UDP_CHECKSUM + 1] = (uint8_t)sum;
	return 1;
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

static int ended(const struct simulate_options *o, const struct xsf_fabric *f)
{
	return stop || (o->count && xsf_fabric_truth(f)->datagrams >= o->count) ||
	       (o->duration && xsf_fabric_time(f) >= o->duration);
}

/* Frames from each agent's own address, at its virtual time. */
static int write_file(const struct simulate_options *o, struct xsf_fabric *f, struct sender *s)
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
		if (o->wrong_checksums)
			s->wrong += (uint64_t)break_checksum(o, xsf_fabric_truth(f)->datagrams,
							     frame + len - UDP_BYTES);
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

static int open_socket(const struct simulate_options *o)
{
	int fd = socket(o->to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), size = SEND_BUFFER;

	if (fd < 0) {
		xsf_error("cannot open a UDP socket: %s", strerror(errno));
		return -1;
	}
	/* What the system allows of it will do. */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (connect(fd, (const struct sockaddr *)&o->to, o->to_len)) {
		xsf_error("cannot send to %s: %s; see: ip route get%s", o->to_text, strerror(errno),
			  o->to_hint);
		close(fd);
		return -1;
	}
	return fd;
}

/* A raw socket, which sends UDP headers as they are made here: from the address and port of a UDP socket,
 * which stays open so that nobody else gets the port. */
static int open_raw(const struct simulate_options *o, struct sender *s)
{
	struct sockaddr_storage self;
	socklen_t len = sizeof(self);
	struct sockaddr_in6 to;
	int fd;

	memcpy(&to, &o->to, sizeof(to));
	sockaddr_bytes(&o->to, s->dst, &s->dst_port);
	to.sin6_port = 0;
	s->reserved = open_socket(o);
	if (s->reserved < 0)
		return -1;
	if (getsockname(s->reserved, (struct sockaddr *)&self, &len)) {
		xsf_error("cannot tell the address of a socket: %s", strerror(errno));
		return -1;
	}
	sockaddr_bytes(&self, s->src, &s->src_port);
	fd = socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_UDP);
	if (fd < 0) {
		xsf_error(
			"cannot open a raw socket, which --wrong-checksums needs: %s; run as root "
			"(CAP_NET_RAW)",
			strerror(errno));
		return -1;
	}
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to))) {
		xsf_error("cannot send to %s: %s; see: ip route get%s", o->to_text, strerror(errno),
			  o->to_hint);
		close(fd);
		return -1;
	}
	return fd;
}

/* The datagram that waits last gets its UDP header. */
static void add_header(const struct simulate_options *o, struct xsf_fabric *f, struct sender *s,
		       uint32_t len)
{
	uint8_t head[XSF_WRAP_BYTES], *udp = s->head[s->nr];
	uint32_t head_len;

	head_len =
		xsf_frame_wrap(head, s->src, s->dst, s->src_port, s->dst_port, s->data[s->nr], len);
	memcpy(udp, head + head_len - UDP_BYTES, UDP_BYTES);
	s->wrong += (uint64_t)break_checksum(o, xsf_fabric_truth(f)->datagrams, udp);
	s->iov[s->nr][0].iov_len = UDP_BYTES;
}

/* Each datagram at its time; without a rate, until the time is over. */
static void send_all(const struct simulate_options *o, struct xsf_fabric *f, struct sender *s)
{
	struct simulate_options limits = *o;
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
		s->iov[s->nr][1].iov_len = d.len;
		if (o->wrong_checksums)
			add_header(o, f, s, d.len);
		if (++s->nr == BATCH)
			flush(s);
	}
	flush(s);
}

static int send_to(const struct simulate_options *o, struct xsf_fabric *f, struct sender *s)
{
	s->reserved = -1;
	s->fd = o->wrong_checksums ? open_raw(o, s) : open_socket(o);
	if (s->fd < 0) {
		if (s->reserved >= 0)
			close(s->reserved);
		return XSF_EXIT_FAILURE;
	}
	for (int i = 0; i < BATCH; i++) {
		s->iov[i][0].iov_base = s->head[i];
		s->iov[i][1].iov_base = s->data[i];
		s->msgs[i].msg_hdr.msg_iov = s->iov[i];
		s->msgs[i].msg_hdr.msg_iovlen = 2;
	}
	send_all(o, f, s);
	close(s->fd);
	if (s->reserved >= 0)
		close(s->reserved);
	if (s->failed && !s->sent) {
		xsf_error("nothing could be sent to %s: %s%s", o->to_text, strerror(s->last_error),
			  o->to_hint);
		return XSF_EXIT_FAILURE;
	}
	return 0;
}

/* ---- all of it ---- */

static void report(const struct simulate_options *o, const struct xsf_fabric *f,
		   const struct sender *s, uint64_t ns)
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
	if (o->to_hint[0])
		xsf_error("%s is an address as it stands%s", o->to_text, o->to_hint);
	if (o->wrong_checksums)
		fprintf(o->write && !strcmp(o->write, "-") ? stderr : stdout,
			"%" PRIu64 " of them with a wrong UDP checksum\n", s->wrong);
}

static int write_truth(const struct simulate_options *o, FILE *truth, const struct xsf_fabric *f,
		       const struct sender *s)
{
	int bad;

	simulate_write_truth(truth, f, s->failed, s->wrong);
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
	struct simulate_options o;
	uint64_t start;
	int rc;

	rc = simulate_options_parse(argc, argv, &o);
	if (rc)
		return rc < 0 ? 0 : rc;
	rc = xsf_fabric_new(&o.fabric, &f);
	if (rc) {
		xsf_error("cannot build the fabric: %s", strerror(-rc));
		return XSF_EXIT_FAILURE;
	}
	if (o.topology) {
		simulate_write_topology(stdout, f, &o.fabric, !strcmp(o.topology, "full"));
		if (fflush(stdout) || ferror(stdout)) {
			xsf_error("cannot write the topology: %s", strerror(errno));
			rc = XSF_EXIT_FAILURE;
		}
		goto out;
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
	rc = o.write ? write_file(&o, f, &sender) : send_to(&o, f, &sender);
	if (!rc)
		report(&o, f, &sender, clock_ns() - start);
	if (truth && write_truth(&o, truth, f, &sender))
		rc = XSF_EXIT_FAILURE;
out:
	xsf_fabric_free(f);
	return rc;
}
