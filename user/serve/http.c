// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libmicrohttpd parses and writes; sockets are accepted here, because what it does at its connection
 * limit is to stop accepting, and then whoever came first decides whether anybody is served. A
 * connection is ended by shutdown(): the library sees the hang-up, calls back and closes. */
#include "serve/http.h"
#include "serve/http_conn.h"
#include "serve/http_listen.h"

#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define ACCEPTS_PER_RUN 32    /* below XSF_CONN_SPARE: as many may be cut before one is gone */
#define ACCEPT_PAUSE_MS 100   /* after a lack of descriptors or memory */
#define BODY_BLOCK 32768      /* bytes pulled at a time */

struct xsf_http {
	struct xsf_http_options options;
	struct xsf_conns conns;
	struct xsf_http_counts counts;
	struct xsf_conn *adding; /* whose socket the library is being given */
	struct MHD_Daemon *daemon;
	uint64_t accept_again_ms; /* 0 = accepting */
	int listen_fd;
	int epoll_fd;
	char listening[64];
	char index[XSF_HTTP_TEXT_MAX];
};

struct xsf_http_request {
	struct MHD_Connection *connection;
	const char *method;
	const char *path;
};

/* A body that is being pulled. A request head that fills most of the connection's memory leaves less
 * than readers are promised; then it goes through `rest`. */
struct stream {
	struct xsf_http *http;
	struct xsf_conn *conn;
	ssize_t (*read)(void *state, char *buf, size_t max);
	void (*free)(void *state);
	void *state;
	size_t rest_pos;
	size_t rest_len;
	char rest[XSF_HTTP_READ_MIN];
};

/* What a request's place for application data points to. */
static char uri_too_long, head_seen;

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void count_code(struct xsf_http *http, unsigned int status)
{
	switch (status) {
#define COUNT_CODE(code)                                                                           \
	case code:                                                                                 \
		http->counts.requests[XSF_HTTP_##code]++;                                          \
		break;
		XSF_HTTP_CODES(COUNT_CODE)
	default:
		http->counts.requests[XSF_HTTP_OTHER]++;
	}
}

const char *xsf_http_code_name(unsigned int code)
{
#define CODE_NAME(number) #number,
	static const char *const names[] = { XSF_HTTP_CODES(CODE_NAME) };

	return code < XSF_HTTP_OTHER ? names[code] : "other";
}

const char *xsf_http_cut_name(unsigned int cut)
{
#define CUT_NAME(id, name, help) #name,
	static const char *const names[] = { XSF_HTTP_CUTS(CUT_NAME) };

	return cut < XSF_HTTP_NR_CUTS ? names[cut] : "other";
}

/* Ends a connection now, with a reset: what the kernel still holds for it goes too, and half a body
 * cannot be taken for a whole one. The descriptor stays the library's to close. */
static void cut(struct xsf_http *http, struct xsf_conn *conn, enum xsf_http_cut reason)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	if (conn->state == XSF_CONN_CLOSING)
		return;
	http->counts.cut[reason]++;
	xsf_conns_set(&http->conns, conn, XSF_CONN_CLOSING, now_ms());
	setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	shutdown(conn->fd, SHUT_RDWR);
}

static void set_state(struct xsf_http *http, struct xsf_conn *conn, enum xsf_conn_state state)
{
	if (conn)
		xsf_conns_set(&http->conns, conn, state, now_ms());
}

/* ---- replies ---- */

static ssize_t stream_pull(struct stream *stream, char *buf, size_t max)
{
	size_t left = stream->rest_len - stream->rest_pos;
	ssize_t n;

	if (!left && max >= XSF_HTTP_READ_MIN)
		return stream->read(stream->state, buf, max);
	if (!left) {
		n = stream->read(stream->state, stream->rest, sizeof(stream->rest));
		if (n <= 0 || (size_t)n > sizeof(stream->rest))
			return n > 0 ? -EOVERFLOW : n;
		stream->rest_pos = 0;
		stream->rest_len = left = (size_t)n;
	}
	if (left > max)
		left = max;
	memcpy(buf, stream->rest + stream->rest_pos, left);
	stream->rest_pos += left;
	return (ssize_t)left;
}

static ssize_t stream_read(void *arg, uint64_t pos, char *buf, size_t max)
{
	struct stream *stream = arg;
	ssize_t n;

	(void)pos;
	n = stream_pull(stream, buf, max);
	if (n < 0 || (size_t)n > max) {
		cut(stream->http, stream->conn, XSF_CUT_READ_ERROR);
		return MHD_CONTENT_READER_END_WITH_ERROR;
	}
	stream->conn->progress_ms = now_ms();
	if (!n)
		return MHD_CONTENT_READER_END_OF_STREAM;
	stream->conn->bytes += (uint64_t)n;
	stream->http->counts.body_bytes += (uint64_t)n;
	return n;
}

static void stream_free(void *arg)
{
	struct stream *stream = arg;

	if (stream->free)
		stream->free(stream->state);
	free(stream);
}

static struct MHD_Response *stream_response(struct xsf_http *http, struct xsf_conn *conn,
					    const struct xsf_http_reply *reply)
{
	struct stream *stream = malloc(sizeof(*stream));
	struct MHD_Response *response;

	if (!stream) {
		if (reply->free)
			reply->free(reply->state);
		return NULL;
	}
	*stream = (struct stream){ .http = http,
				   .conn = conn,
				   .read = reply->read,
				   .free = reply->free,
				   .state = reply->state };
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BODY_BLOCK, stream_read,
						     stream, stream_free);
	if (!response)
		stream_free(stream);
	return response;
}

/* Sends *reply; `allow` is for 405. Consumes reply->state. */
static enum MHD_Result send_reply(struct xsf_http *http, struct xsf_conn *conn,
				  const struct xsf_http_request *request,
				  const struct xsf_http_reply *reply, const char *allow)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	if (reply->read)
		response = stream_response(http, conn, reply);
	else
		response = MHD_create_response_from_buffer(
			strlen(reply->text), (void *)(uintptr_t)reply->text, MHD_RESPMEM_MUST_COPY);
	if (!response)
		return MHD_NO;
	if (MHD_add_response_header(response, "Content-Type", reply->content_type) != MHD_YES ||
	    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff") != MHD_YES ||
	    (allow && MHD_add_response_header(response, "Allow", allow) != MHD_YES) ||
	    (reply->status == 503 &&
	     MHD_add_response_header(response, "Retry-After", "1") != MHD_YES)) {
		MHD_destroy_response(response);
		return MHD_NO;
	}
	set_state(http, conn,
		  reply->read && strcmp(request->method, "HEAD") ? XSF_CONN_STREAMING :
								   XSF_CONN_REPLYING);
	result = MHD_queue_response(request->connection, reply->status, response);
	if (result == MHD_YES)
		count_code(http, reply->status);
	MHD_destroy_response(response);
	return result;
}

static void reply_text(struct xsf_http_reply *reply, unsigned int status, const char *text)
{
	*reply = (struct xsf_http_reply){ .status = status, .content_type = XSF_CONTENT_TEXT };
	snprintf(reply->text, sizeof(reply->text), "%s\n", text);
}

/* ---- what is asked ---- */

static int handle_index(void *arg, const struct xsf_http_request *request,
			struct xsf_http_reply *reply)
{
	struct xsf_http *http = arg;

	(void)request;
	memcpy(reply->text, http->index, sizeof(reply->text));
	return 0;
}

static int handle_healthy(void *arg, const struct xsf_http_request *request,
			  struct xsf_http_reply *reply)
{
	(void)arg;
	(void)request;
	reply_text(reply, 200, "healthy");
	return 0;
}

static const struct xsf_http_endpoint own_endpoints[] = {
	{ "GET", "/", NULL, handle_index },
	{ "GET", "/-/healthy", "200 while the server serves", handle_healthy },
};

#define NR_OWN (sizeof(own_endpoints) / sizeof(own_endpoints[0]))

static const struct xsf_http_endpoint *endpoint_at(const struct xsf_http *http, size_t i)
{
	if (i < NR_OWN)
		return &own_endpoints[i];
	i -= NR_OWN;
	return i < http->options.nr_endpoints ? &http->options.endpoints[i] : NULL;
}

static int method_matches(const char *served, const char *asked)
{
	return !strcmp(served, asked) || (!strcmp(served, "GET") && !strcmp(asked, "HEAD"));
}

/* The endpoint, or NULL with the methods that the path has in allow ("" = no such path). */
static const struct xsf_http_endpoint *find(const struct xsf_http *http,
					    const struct xsf_http_request *request, char *allow,
					    size_t len)
{
	const struct xsf_http_endpoint *endpoint;
	size_t used = 0;

	*allow = '\0';
	for (size_t i = 0; (endpoint = endpoint_at(http, i)); i++) {
		if (strcmp(endpoint->path, request->path))
			continue;
		if (method_matches(endpoint->method, request->method))
			return endpoint;
		used += (size_t)snprintf(allow + used, len - used, "%s%s%s", used ? ", " : "",
					 endpoint->method,
					 strcmp(endpoint->method, "GET") ? "" : ", HEAD");
		if (used >= len)
			return NULL;
	}
	return NULL;
}

static int is_own(const struct xsf_http_endpoint *endpoint)
{
	return endpoint >= own_endpoints && endpoint < own_endpoints + NR_OWN;
}

/* Calls the endpoint's handler, when a place for its body is free or can be made. */
static void call_handler(struct xsf_http *http, const struct xsf_http_endpoint *endpoint,
			 const struct xsf_http_request *request, struct xsf_http_reply *reply)
{
	struct xsf_conn *victim = NULL;
	int err;

	if (!is_own(endpoint)) {
		if (xsf_conns_stream_room(&http->conns, now_ms(), &victim)) {
			reply_text(reply, 503, "too many replies at once; try again");
			return;
		}
		if (victim)
			cut(http, victim, XSF_CUT_STREAM_LIMIT);
	}
	err = endpoint->handle(is_own(endpoint) ? http : http->options.arg, request, reply);
	if (!err)
		return;
	if (reply->free)
		reply->free(reply->state);
	reply_text(reply, err == -ENOMEM || err == -EBUSY ? 503 : 500, strerror(-err));
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload_data,
			      size_t *upload_data_size, void **request_arg)
{
	struct xsf_http *http = arg;
	const struct xsf_http_request request = { connection, method, url };
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct xsf_conn *conn = info ? info->socket_context : NULL;
	struct xsf_http_reply reply = { .status = 200, .content_type = XSF_CONTENT_TEXT };
	const struct xsf_http_endpoint *endpoint;
	char allow[128];

	(void)version;
	(void)upload_data;
	(void)upload_data_size;
	if (!conn)
		return MHD_NO;
	if (*request_arg == &uri_too_long) {
		reply_text(&reply, 414, "the request target is too long");
		return send_reply(http, conn, &request, &reply, NULL);
	}
	endpoint = find(http, &request, allow, sizeof(allow));
	/* The first call comes with the head. Without a body a second one follows at once, and only a
	 * reply given there leaves the connection open; a body is not read: the reply closes. */
	if (!*request_arg && endpoint) {
		*request_arg = &head_seen;
		if (!MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length") &&
		    !MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding"))
			return MHD_YES;
	}
	if (endpoint)
		call_handler(http, endpoint, &request, &reply);
	else if (*allow)
		reply_text(&reply, 405, "this path has no such method; see Allow");
	else
		reply_text(&reply, 404, "no such path; see /");
	return send_reply(http, conn, &request, &reply, !endpoint && *allow ? allow : NULL);
}

const char *xsf_http_method(const struct xsf_http_request *request)
{
	return request->method;
}

const char *xsf_http_path(const struct xsf_http_request *request)
{
	return request->path;
}

const char *xsf_http_argument(const struct xsf_http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* ---- what the library tells ---- */

static void *uri_seen(void *arg, const char *uri, struct MHD_Connection *connection)
{
	struct xsf_http *http = arg;

	(void)connection;
	return strlen(uri) > http->options.limits.uri ? &uri_too_long : NULL;
}

static void request_completed(void *arg, struct MHD_Connection *connection, void **request_arg,
			      enum MHD_RequestTerminationCode code)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	(void)code;
	*request_arg = NULL;
	if (info)
		set_state(arg, info->socket_context, XSF_CONN_WAITING);
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

/* Faults in what a client sends are answered by the library itself; the status is in its log only. */
static void library_log(void *arg, const char *format, va_list args)
{
	if (strstr(format, "(HTTP response code is %u"))
		count_code(arg, va_arg(args, unsigned int));
}

/* ---- accepting ---- */

static void pause_accepting(struct xsf_http *http)
{
	epoll_ctl(http->epoll_fd, EPOLL_CTL_DEL, http->listen_fd, NULL);
	http->accept_again_ms = now_ms() + ACCEPT_PAUSE_MS;
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
		count_code(http, 503);
	close(fd);
}

static void take(struct xsf_http *http, int fd, const struct sockaddr *peer, socklen_t len)
{
	enum xsf_http_cut reason = XSF_CUT_REFUSED;
	struct xsf_conn *victim;

	http->counts.accepted++;
	if (xsf_conns_room(&http->conns, peer, now_ms(), &victim, &reason)) {
		refuse(http, fd);
		return;
	}
	if (victim)
		cut(http, victim, reason);
	http->adding = xsf_conns_add(&http->conns, peer, fd, now_ms());
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

		if (fd >= 0) {
			take(http, fd, (struct sockaddr *)&peer, len);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			http->counts.cut[XSF_CUT_REFUSED]++;
			pause_accepting(http);
		}
		/* Anything else is about one connection that is gone already, or EAGAIN. */
		if (errno != ECONNABORTED && errno != EINTR)
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
	const uint64_t now = now_ms();
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
	struct xsf_conn *conn;
	enum xsf_http_cut reason;

	if (http->accept_again_ms && now_ms() >= http->accept_again_ms) {
		http->accept_again_ms = 0;
		if (epoll_add(http, http->listen_fd))
			http->accept_again_ms = now_ms() + ACCEPT_PAUSE_MS;
	}
	if (!http->accept_again_ms)
		accept_some(http);
	while ((conn = xsf_conns_expired(&http->conns, now_ms(), &reason)))
		cut(http, conn, reason);
	MHD_run(http->daemon);
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
	return &http->counts;
}

static int make_index(struct xsf_http *http)
{
	const struct xsf_http_endpoint *endpoint;
	size_t used = 0;

	for (size_t i = 0; (endpoint = endpoint_at(http, i)); i++) {
		if (!endpoint->summary)
			continue;
		used += (size_t)snprintf(http->index + used, sizeof(http->index) - used,
					 "%-6s %-24s %s\n", endpoint->method, endpoint->path,
					 endpoint->summary);
		if (used >= sizeof(http->index))
			return -E2BIG;
	}
	return 0;
}

static int start_library(struct xsf_http *http)
{
	const struct xsf_http_limits *limits = &http->options.limits;
	const union MHD_DaemonInfo *info;

	http->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG, 0, NULL, NULL, answer,
		http, MHD_OPTION_EXTERNAL_LOGGER, library_log, http, MHD_OPTION_CONNECTION_LIMIT,
		http->conns.nr_places, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)limits->memory,
		MHD_OPTION_URI_LOG_CALLBACK, uri_seen, http, MHD_OPTION_NOTIFY_COMPLETED,
		request_completed, http, MHD_OPTION_NOTIFY_CONNECTION, connection_changed, http,
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

	snprintf(why, why_len, "cannot start the HTTP server: a limit is out of range, or no memory");
	if (!http)
		return -ENOMEM;
	http->options = *options;
	http->listen_fd = http->epoll_fd = -1;
	err = make_index(http);
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
