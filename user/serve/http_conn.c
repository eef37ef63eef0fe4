// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/http_conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static int in_range(unsigned int value, unsigned int min, unsigned int max)
{
	return value >= min && value <= max;
}

int xsf_conns_open(struct xsf_conns *conns, const struct xsf_http_limits *limits)
{
	memset(conns, 0, sizeof(*conns));
	if (!in_range(limits->connections, 16, 4096) || !in_range(limits->per_host, 1, 4096) ||
	    !in_range(limits->streams, 1, 4096) || !in_range(limits->uploads, 1, 4096) ||
	    !in_range(limits->memory, 4096, 1 << 20) ||
	    !in_range(limits->uri, 64, limits->memory) ||
	    !in_range(limits->head_ms, 100, 3600000) || !in_range(limits->stall_ms, 100, 3600000) ||
	    !in_range(limits->reply_ms, 100, 3600000))
		return -EINVAL;
	conns->limits = *limits;
	conns->nr_places = limits->connections + XSF_CONN_SPARE;
	conns->conn = calloc(conns->nr_places, sizeof(*conns->conn));
	conns->host = calloc(conns->nr_places, sizeof(*conns->host));
	if (!conns->conn || !conns->host) {
		xsf_conns_close(conns);
		return -ENOMEM;
	}
	return 0;
}

void xsf_conns_close(struct xsf_conns *conns)
{
	free(conns->conn);
	free(conns->host);
	memset(conns, 0, sizeof(*conns));
}

/* The key of a peer's host; anything but IP (there is none) is one host of its own. */
static int peer_key(const struct sockaddr *peer, uint8_t key[16])
{
	struct in6_addr addr = IN6ADDR_ANY_INIT;
	int loopback = 0;

	if (peer->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)peer;

		addr.s6_addr[10] = addr.s6_addr[11] = 0xff;
		memcpy(&addr.s6_addr[12], &in->sin_addr, 4);
	} else if (peer->sa_family == AF_INET6) {
		addr = ((const struct sockaddr_in6 *)peer)->sin6_addr;
	}
	if (IN6_IS_ADDR_V4MAPPED(&addr)) {
		loopback = addr.s6_addr[12] == 127;
	} else {
		loopback = IN6_IS_ADDR_LOOPBACK(&addr);
		if (!loopback)
			memset(&addr.s6_addr[8], 0, 8);
	}
	memcpy(key, &addr, 16);
	return loopback;
}

static unsigned int host_find(const struct xsf_conns *conns, const uint8_t key[16])
{
	for (unsigned int i = 0; i < conns->nr_places; i++) {
		if (conns->host[i].nr && !memcmp(conns->host[i].addr, key, 16))
			return i;
	}
	return UINT_MAX;
}

/* May go for a newcomer: it holds a place and gets nowhere. */
static int evictable(const struct xsf_conn *conn, uint64_t now_ms)
{
	if (conn->state == XSF_CONN_WAITING)
		return 1;
	return (conn->state == XSF_CONN_REPLYING || conn->state == XSF_CONN_STREAMING ||
		conn->state == XSF_CONN_UPLOADING) &&
	       now_ms - conn->progress_ms >= XSF_CONN_STALL_EVICT_MS;
}

/* a should go rather than b: the host with more connections first, then one that waits for a request
 * rather than one in a reply, then the older. */
static int rather(const struct xsf_conns *conns, const struct xsf_conn *a, const struct xsf_conn *b)
{
	unsigned int nr_a = conns->host[a->host].nr;
	unsigned int nr_b = conns->host[b->host].nr;

	if (nr_a != nr_b)
		return nr_a > nr_b;
	if ((a->state == XSF_CONN_WAITING) != (b->state == XSF_CONN_WAITING))
		return a->state == XSF_CONN_WAITING;
	return a->order < b->order;
}

/* Among those of one host, or of all (UINT_MAX). */
static struct xsf_conn *victim_of(const struct xsf_conns *conns, unsigned int host, uint64_t now_ms)
{
	struct xsf_conn *best = NULL;

	for (unsigned int i = 0; i < conns->nr_places; i++) {
		struct xsf_conn *conn = &conns->conn[i];

		if ((host != UINT_MAX && conn->host != host) || !evictable(conn, now_ms))
			continue;
		if (!best || rather(conns, conn, best))
			best = conn;
	}
	return best;
}

int xsf_conns_room(const struct xsf_conns *conns, const struct sockaddr *peer, uint64_t now_ms,
		   struct xsf_conn **victim, enum xsf_http_cut *cut)
{
	uint8_t key[16];
	int loopback = peer_key(peer, key);
	unsigned int host = host_find(conns, key);

	*victim = NULL;
	if (!loopback && host != UINT_MAX && conns->host[host].nr >= conns->limits.per_host) {
		*cut = XSF_CUT_HOST_LIMIT;
		*victim = victim_of(conns, host, now_ms);
		return *victim ? 0 : -EAGAIN;
	}
	if (conns->open >= conns->limits.connections) {
		*cut = XSF_CUT_EVICTED;
		*victim = victim_of(conns, UINT_MAX, now_ms);
		return *victim ? 0 : -EAGAIN;
	}
	return 0;
}

struct xsf_conn *xsf_conns_add(struct xsf_conns *conns, const struct sockaddr *peer, int fd,
			       uint64_t now_ms)
{
	struct xsf_conn *conn = NULL;
	unsigned int host;
	uint8_t key[16];
	int loopback = peer_key(peer, key);

	for (unsigned int i = 0; i < conns->nr_places && !conn; i++) {
		if (conns->conn[i].state == XSF_CONN_FREE)
			conn = &conns->conn[i];
	}
	if (!conn)
		return NULL;
	host = host_find(conns, key);
	/* There are as many rows as places, so one is free. */
	for (unsigned int i = 0; host == UINT_MAX && i < conns->nr_places; i++) {
		if (!conns->host[i].nr)
			host = i;
	}
	memcpy(conns->host[host].addr, key, 16);
	conns->host[host].nr++;
	conns->open++;
	*conn = (struct xsf_conn){
		.state = XSF_CONN_WAITING,
		.fd = fd,
		.host = host,
		.loopback = loopback,
		.since_ms = now_ms,
		.order = conns->order++,
		.progress_ms = now_ms,
	};
	return conn;
}

static int counted(enum xsf_conn_state state)
{
	return state != XSF_CONN_FREE && state != XSF_CONN_CLOSING;
}

void xsf_conns_set(struct xsf_conns *conns, struct xsf_conn *conn, enum xsf_conn_state state,
		   uint64_t now_ms)
{
	/* What is closing stays so until it is gone. */
	if (conn->state == XSF_CONN_CLOSING && state != XSF_CONN_FREE)
		return;
	conns->streams -= conn->state == XSF_CONN_STREAMING;
	conns->streams += state == XSF_CONN_STREAMING;
	if (counted(conn->state) && !counted(state)) {
		conns->open--;
		conns->host[conn->host].nr--;
	}
	conn->state = state;
	conn->order = conns->order++;
	conn->since_ms = conn->progress_ms = now_ms;
	conn->bytes = 0;
}

void xsf_conns_remove(struct xsf_conns *conns, struct xsf_conn *conn)
{
	if (conn)
		xsf_conns_set(conns, conn, XSF_CONN_FREE, 0);
}

int xsf_conns_stream_room(const struct xsf_conns *conns, uint64_t now_ms, struct xsf_conn **victim)
{
	double slowest = 0;

	*victim = NULL;
	if (conns->streams < conns->limits.streams)
		return 0;
	for (unsigned int i = 0; i < conns->nr_places; i++) {
		struct xsf_conn *conn = &conns->conn[i];
		uint64_t age = now_ms - conn->since_ms;
		double rate;

		if (conn->state != XSF_CONN_STREAMING)
			continue;
		if (age < XSF_CONN_STREAM_AGE_MS &&
		    now_ms - conn->progress_ms < XSF_CONN_STREAM_IDLE_MS)
			continue;
		rate = (double)conn->bytes / (double)(age + 1);
		if (!*victim || rate < slowest) {
			*victim = conn;
			slowest = rate;
		}
	}
	return *victim ? 0 : -EAGAIN;
}

/* When its time is over, and why. */
static uint64_t expires(const struct xsf_conns *conns, const struct xsf_conn *conn,
			enum xsf_http_cut *cut)
{
	uint64_t whole = conn->since_ms + conns->limits.reply_ms;
	uint64_t stall = conn->progress_ms + conns->limits.stall_ms;

	if (!counted(conn->state))
		return UINT64_MAX;
	if (conn->state == XSF_CONN_WAITING) {
		*cut = XSF_CUT_HEAD_TIMEOUT;
		return conn->since_ms + conns->limits.head_ms;
	}
	*cut = stall < whole ? XSF_CUT_STALLED : XSF_CUT_REPLY_TIMEOUT;
	if (conn->state == XSF_CONN_UPLOADING)
		*cut = XSF_CUT_UPLOAD_TIMEOUT;
	return stall < whole ? stall : whole;
}

struct xsf_conn *xsf_conns_expired(const struct xsf_conns *conns, uint64_t now_ms,
				   enum xsf_http_cut *cut)
{
	for (unsigned int i = 0; i < conns->nr_places; i++) {
		if (expires(conns, &conns->conn[i], cut) <= now_ms)
			return &conns->conn[i];
	}
	return NULL;
}

int xsf_conns_next(const struct xsf_conns *conns, uint64_t now_ms)
{
	uint64_t first = UINT64_MAX;
	enum xsf_http_cut cut;

	for (unsigned int i = 0; i < conns->nr_places; i++) {
		uint64_t at = expires(conns, &conns->conn[i], &cut);

		if (at < first)
			first = at;
	}
	if (first == UINT64_MAX)
		return -1;
	return first <= now_ms ? 0 : (int)(first - now_ms);
}
