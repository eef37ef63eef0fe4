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
static int write_file(const struct simulate_options *o, struct xsf_fabric *f)
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
		xsf_error("cannot send to %s: %s; see: ip route get", o->to_text, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
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
		s->iov[s->nr].iov_len = d.len;
		if (++s->nr == BATCH)
			flush(s);
	}
	flush(s);
}

static int send_to(const struct simulate_options *o, struct xsf_fabric *f, struct sender *s)
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
}

static int write_truth(const struct simulate_options *o, FILE *truth, const struct xsf_fabric *f,
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
	rc = o.write ? write_file(&o, f) : send_to(&o, f, &sender);
	if (!rc)
		report(&o, f, &sender, clock_ns() - start);
	if (truth && write_truth(&o, truth, f, sender.failed))
		rc = XSF_EXIT_FAILURE;
out:
	xsf_fabric_free(f);
	return rc;
}
