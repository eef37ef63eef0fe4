/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who is connected, since when, and who has to go. Plain state: time is an argument, nothing here
 * touches a socket. Costs are linear in the number of places, which is bounded. */
#ifndef XSF_HTTP_CONN_H
#define XSF_HTTP_CONN_H

#include "serve/http.h"

#define XSF_CONN_STALL_EVICT_MS \
	1000			    /* a reply without progress for so long may go for a newcomer */
#define XSF_CONN_STREAM_IDLE_MS 500 /* likewise a stream, for a newer stream */
#define XSF_CONN_STREAM_AGE_MS 2000 /* and any stream of that age: the slowest */
#define XSF_CONN_SPARE 64	    /* places for those that were cut and are not gone yet */

enum xsf_conn_state {
	XSF_CONN_FREE,
	XSF_CONN_WAITING,   /* for a request head: nothing, or part of one, has come */
	XSF_CONN_REPLYING,  /* a text */
	XSF_CONN_STREAMING, /* a pulled body */
	XSF_CONN_UPLOADING, /* a request body is coming */
	XSF_CONN_CLOSING,   /* cut; its socket is not gone yet */
};

struct xsf_conn {
	enum xsf_conn_state state;
	int fd;
	unsigned int host;    /* index of its row in hosts */
	int loopback;	      /* no limit per host */
	uint64_t since_ms;    /* when the state began */
	uint64_t order;	      /* of that among all changes */
	uint64_t progress_ms; /* when a part of a body was last pulled, or came */
	uint64_t bytes;	      /* pulled in this reply */
};

struct xsf_host {
	uint8_t addr[16]; /* v4-mapped, or an IPv6 /64 */
	unsigned int nr;  /* its connections, those closing apart; 0 = free row */
};

struct xsf_conns {
	struct xsf_http_limits limits;
	struct xsf_conn *conn; /* nr_places of each */
	struct xsf_host *host;
	unsigned int nr_places; /* limits.connections + XSF_CONN_SPARE */
	unsigned int open;	/* neither free nor closing */
	unsigned int streams;
	uint64_t order;
};

/* 0, -EINVAL when a limit is out of range, -ENOMEM. */
int xsf_conns_open(struct xsf_conns *conns, const struct xsf_http_limits *limits);
void xsf_conns_close(struct xsf_conns *conns);

/* Who must be cut before a connection from this peer may be taken: NULL when there is room, else the
 * victim, with the reason in *cut. -EAGAIN when there is no room and nobody can be cut. */
int xsf_conns_room(const struct xsf_conns *conns, const struct sockaddr *peer, uint64_t now_ms,
		   struct xsf_conn **victim, enum xsf_http_cut *cut);

/* A place, in state waiting; NULL when all places, the spare ones too, are taken. */
struct xsf_conn *xsf_conns_add(struct xsf_conns *conns, const struct sockaddr *peer, int fd,
			       uint64_t now_ms);

/* Changes its state; a change to closing gives its share back before the place is free. */
void xsf_conns_set(struct xsf_conns *conns, struct xsf_conn *conn, enum xsf_conn_state state,
		   uint64_t now_ms);

/* The socket is gone. NULL is fine. */
void xsf_conns_remove(struct xsf_conns *conns, struct xsf_conn *conn);

/* As xsf_conns_room, for one more stream. */
int xsf_conns_stream_room(const struct xsf_conns *conns, uint64_t now_ms, struct xsf_conn **victim);

/* A connection whose time is over, with the reason in *cut; NULL: none. */
struct xsf_conn *xsf_conns_expired(const struct xsf_conns *conns, uint64_t now_ms,
				   enum xsf_http_cut *cut);

/* Milliseconds until xsf_conns_expired finds one; -1 when there is no connection. */
int xsf_conns_next(const struct xsf_conns *conns, uint64_t now_ms);

#endif
