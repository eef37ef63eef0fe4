// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libmicrohttpd parses and writes; sockets are accepted here, because what it does at its connection
 * limit is to stop accepting, and then whoever came first decides whether anybody is served. A
 * connection is ended under the library: it sees the hang-up, calls back and closes. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "serve/http_internal.h"
#include "serve/http_listen.h"

#define ACCEPTS_PER_RUN 32  /* below XSF_CONN_SPARE: as many may be cut before one is gone */
#define ACCEPT_PAUSE_MS 100 /* after a lack of descriptors or memory */

uint64_t xsf_http_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void xsf_http_cut_conn(struct xsf_http *http, struct xsf_conn *conn, enum xsf_http_cut reason)
{
	/* Disconnects a TCP socket (tcp(7)): reset, buffers freed, and still a descriptor. */
	const struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	if (conn->state == XSF_CONN_CLOSING)
		return;
	if (conn->state == XSF_CONN_WAITING || connect(conn->fd, &nobody, sizeof(nobody)))
		shutdown(conn->fd, SHUT_RDWR);
	http->counts.cut[reason]++;
	xsf_conns_set(&http->conns, conn, XSF_CONN_CLOSING, xsf_http_now_ms());
}

static void connection_changed(void *arg, struct MHD_Connection *connection, void **context,
			       enum MHD_ConnectionNotificationCode code)
{
	struct xsf_http *http = arg;

	(void)connection;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = http->adding;
		return;
	}
	xsf_conns_remove(&http->conns, *context);
	*context = NULL;
}

/* ---- accepting ---- */

static void pause_accepting(struct xsf_http *http)
{
	epoll_ctl(http->epoll_fd, EPOLL_CTL_DEL, http->listen_fd, NULL);
	http->accept_again_ms = xsf_http_now_ms() + ACCEPT_PAUSE_MS;
}

static int epoll_add(struct xsf_http *http, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(http->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static void refuse(struct xsf_http *http, int fd)
{
	static const char full[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
				   "Connection: close\r\nContent-Length: 0\r\n\r\n";

	http->counts.cut[XSF_CUT_REFUSED]++;
	if (send(fd, full, sizeof(full) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		xsf_http_count_code(http, 503);
	close(fd);
}

static void take(struct xsf_http *http, int fd, const struct sockaddr *peer, socklen_t len)
{
	enum xsf_http_cut reason = XSF_CUT_REFUSED;
	struct xsf_conn *victim;

	http->counts.accepted++;
	if (xsf_conns_room(&http->conns, peer, xsf_http_now_ms(), &victim, &reason)) {
		refuse(http, fd);
		return;
	}
	if (victim)
		xsf_http_cut_conn(http, victim, reason);
	http->adding = xsf_conns_add(&http->conns, peer, fd, xsf_http_now_ms());
	if (!http->adding) {
		refuse(http, fd);
		return;
	}
	/* On failure the library closes fd, and has not told of the connection. */
	if (MHD_add_connection(http->daemon, fd, peer, len) != MHD_YES) {
		http->counts.cut[XSF_CUT_REFUSED]++;
		if (http->adding->state != XSF_CONN_FREE)
			xsf_conns_remove(&http->conns, http->adding);
	}
	http->adding = NULL;
}

static void accept_some(struct xsf_http *http)
{
	for (int i = 0; i < ACCEPTS_PER_RUN; i++) {
		struct sockaddr_storage peer;
		socklen_t len = sizeof(peer);
		int fd = accept4(http->listen_fd, (struct sockaddr *)&peer, &len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);
		int err;

		if (fd >= 0) {
			take(http, fd, (struct sockaddr *)&peer, len);
			continue;
		}
		err = errno;
		if (err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM) {
			http->counts.cut[XSF_CUT_REFUSED]++;
			pause_accepting(http);
		}
		/* Anything else is about one connection that is gone already, or EAGAIN. */
		if (err != ECONNABORTED && err != EINTR)
			return;
	}
}

/* ---- the caller's side ---- */

int xsf_http_fd(const struct xsf_http *http)
{
	return http->epoll_fd;
}

static int sooner(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

int xsf_http_timeout(const struct xsf_http *http)
{
	MHD_UNSIGNED_LONG_LONG library;
	const uint64_t now = xsf_http_now_ms();
	int timeout = xsf_conns_next(&http->conns, now);

	if (MHD_get_timeout(http->daemon, &library) == MHD_YES)
		timeout = sooner(timeout, library > 60000 ? 60000 : (int)library);
	if (http->accept_again_ms)
		timeout = sooner(timeout, http->accept_again_ms > now ?
						  (int)(http->accept_again_ms - now) :
						  0);
	return timeout;
}

void xsf_http_run(struct xsf_http *http)
{
	uint64_t until_ms = xsf_http_now_ms() + XSF_HTTP_TURN_MS;
	struct xsf_conn *conn;
	enum xsf_http_cut reason;

	if (http->accept_again_ms && xsf_http_now_ms() >= http->accept_again_ms) {
		http->accept_again_ms = 0;
		if (epoll_add(http, http->listen_fd))
			http->accept_again_ms = xsf_http_now_ms() + ACCEPT_PAUSE_MS;
	}
	if (!http->accept_again_ms)
		accept_some(http);
	while ((conn = xsf_conns_expired(&http->conns, xsf_http_now_ms(), &reason)))
		xsf_http_cut_conn(http, conn, reason);
	/* The library moves each connection by one step: a block of a body, at most. */
	do
		MHD_run(http->daemon);
	while (!xsf_http_timeout(http) && xsf_http_now_ms() < until_ms);
}

const char *xsf_http_listening(const struct xsf_http *http)
{
	return http->listening;
}

const struct xsf_http_counts *xsf_http_counts(const struct xsf_http *http)
{
	struct xsf_http *writable = (struct xsf_http *)(uintptr_t)http;

	writable->counts.open = http->conns.open;
	writable->counts.streams = http->conns.streams;
	writable->counts.uploads = http->uploads;
	return &http->counts;
}

static int start_library(struct xsf_http *http)
{
	const struct xsf_http_limits *limits = &http->options.limits;
	const union MHD_DaemonInfo *info;

	http->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG, 0, NULL, NULL,
		xsf_http_answer, http, MHD_OPTION_EXTERNAL_LOGGER, xsf_http_library_log, http,
		MHD_OPTION_CONNECTION_LIMIT, http->conns.nr_places,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)limits->memory,
		MHD_OPTION_URI_LOG_CALLBACK, xsf_http_uri_seen, http, MHD_OPTION_NOTIFY_COMPLETED,
		xsf_http_completed, http, MHD_OPTION_NOTIFY_CONNECTION, connection_changed, http,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
		MHD_OPTION_END);
	if (!http->daemon)
		return -ENOMEM;
	info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return -ENOTSUP;
	return epoll_add(http, info->epoll_fd);
}

int xsf_http_open(const struct xsf_http_options *options, struct xsf_http **out, char *why,
		  size_t why_len)
{
	struct xsf_http *http = calloc(1, sizeof(*http));
	struct sockaddr_storage addr;
	const char *where = options->listen ? options->listen : XSF_HTTP_DEFAULT_LISTEN;
	int err;

	snprintf(why, why_len,
		 "cannot start the HTTP server: a limit is out of range, or no memory");
	if (!http)
		return -ENOMEM;
	http->options = *options;
	http->listen_fd = http->epoll_fd = -1;
	err = xsf_http_make_index(http);
	if (!err)
		err = xsf_conns_open(&http->conns, &options->limits);
	if (err)
		goto out;
	err = xsf_http_raise_files(http->conns.nr_places, why, why_len);
	if (err)
		goto out;
	err = xsf_http_listen(where, &addr, why, why_len);
	if (err < 0)
		goto out;
	http->listen_fd = err;
	xsf_http_address_text(&addr, http->listening, sizeof(http->listening));
	http->loopback = xsf_http_is_loopback(&addr);
	signal(SIGPIPE, SIG_IGN);
	http->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = http->epoll_fd < 0 ? -errno : epoll_add(http, http->listen_fd);
	if (!err)
		err = start_library(http);
	if (err)
		snprintf(why, why_len, "cannot start the HTTP server: %s", strerror(-err));
out:
	if (err < 0) {
		xsf_http_close(http);
		return err;
	}
	*out = http;
	return 0;
}

void xsf_http_close(struct xsf_http *http)
{
	if (!http)
		return;
	if (http->listen_fd >= 0)
		close(http->listen_fd);
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	if (http->epoll_fd >= 0)
		close(http->epoll_fd);
	xsf_conns_close(&http->conns);
	free(http);
}
