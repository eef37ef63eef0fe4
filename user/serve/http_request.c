// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Requests: which endpoint, its reply, and how its body is pulled. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/http_internal.h"

#define BODY_BLOCK 32768 /* bytes pulled at a time */

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
static char uri_too_long, uri_has_nul, head_seen; /* or to a struct xsf_http_upload */

void xsf_http_count_code(struct xsf_http *http, unsigned int status)
{
	switch (status) {
#define COUNT_CODE(code) \
	case code: \
		http->counts.requests[XSF_HTTP_##code]++; \
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

static void set_state(struct xsf_http *http, struct xsf_conn *conn, enum xsf_conn_state state)
{
	if (conn)
		xsf_conns_set(&http->conns, conn, state, xsf_http_now_ms());
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
		xsf_http_cut_conn(stream->http, stream->conn, XSF_CUT_READ_ERROR);
		return MHD_CONTENT_READER_END_WITH_ERROR;
	}
	stream->conn->progress_ms = xsf_http_now_ms();
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
	int streams = reply->read && strcmp(request->method, "HEAD") != 0;

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
	/* The library ends a chunked body even where HEAD forbids one; not without chunks. */
	if (reply->read && !streams)
		MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
	set_state(http, conn, streams ? XSF_CONN_STREAMING : XSF_CONN_REPLYING);
	result = MHD_queue_response(request->connection, reply->status, response);
	if (result == MHD_YES)
		xsf_http_count_code(http, reply->status);
	MHD_destroy_response(response);
	return result;
}

int xsf_http_reply_line(struct xsf_http_reply *reply, unsigned int status, const char *format, ...)
{
	size_t len;
	va_list args;

	*reply = (struct xsf_http_reply){ .status = status, .content_type = XSF_CONTENT_TEXT };
	va_start(args, format);
	vsnprintf(reply->text, sizeof(reply->text) - 1, format, args);
	va_end(args);
	len = strlen(reply->text);
	reply->text[len] = '\n';
	reply->text[len + 1] = 0;
	return 0;
}

static void reply_text(struct xsf_http_reply *reply, unsigned int status, const char *text)
{
	xsf_http_reply_line(reply, status, "%s", text);
}

/* ---- bytes that are at hand ---- */

struct bytes {
	char *data;
	size_t len;
	size_t at;
};

static ssize_t bytes_read(void *state, char *buf, size_t max)
{
	struct bytes *b = state;
	size_t n = b->len - b->at;

	if (n > max)
		n = max;
	memcpy(buf, b->data + b->at, n);
	b->at += n;
	return (ssize_t)n;
}

static void bytes_free(void *state)
{
	struct bytes *b = state;

	free(b->data);
	free(b);
}

int xsf_http_reply_bytes(struct xsf_http_reply *reply, const char *content_type, char *data,
			 size_t len)
{
	struct bytes *b = malloc(sizeof(*b));

	if (!b) {
		free(data);
		return -ENOMEM;
	}
	*b = (struct bytes){ .data = data, .len = len };
	reply->content_type = content_type;
	reply->read = bytes_read;
	reply->free = bytes_free;
	reply->state = b;
	return 0;
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
	{ .method = "GET", .path = "/", .handle = handle_index },
	{ .method = "GET",
	  .path = "/-/healthy",
	  .summary = "200 while the server serves",
	  .handle = handle_healthy },
};

#define NR_OWN (sizeof(own_endpoints) / sizeof(own_endpoints[0]))

static const struct xsf_http_endpoint *endpoint_at(const struct xsf_http *http, size_t i)
{
	if (i < NR_OWN)
		return &own_endpoints[i];
	i -= NR_OWN;
	return i < http->options.nr_endpoints ? &http->options.endpoints[i] : NULL;
}

int xsf_http_make_index(struct xsf_http *http)
{
	const struct xsf_http_endpoint *endpoint;
	size_t used = 0, width = 0;

	for (size_t i = 0; (endpoint = endpoint_at(http, i)); i++) {
		if (endpoint->summary && strlen(endpoint->path) > width)
			width = strlen(endpoint->path);
	}
	for (size_t i = 0; (endpoint = endpoint_at(http, i)); i++) {
		if (!endpoint->summary)
			continue;
		used += (size_t)snprintf(http->index + used, sizeof(http->index) - used,
					 "%-6s %-*s  %s\n", endpoint->method, (int)width,
					 endpoint->path, endpoint->summary);
		if (used >= sizeof(http->index))
			return -E2BIG;
	}
	return 0;
}

static int method_matches(const char *served, const char *asked)
{
	return !strcmp(served, asked) || (!strcmp(served, "GET") && !strcmp(asked, "HEAD"));
}

/* The endpoint, or NULL with the methods that the path has in allow ("" = no such path). */
static const struct xsf_http_endpoint *
find(const struct xsf_http *http, struct xsf_http_request *request, char *allow, size_t len)
{
	const struct xsf_http_endpoint *endpoint;
	size_t used = 0;

	*allow = '\0';
	for (size_t i = 0; (endpoint = endpoint_at(http, i)); i++) {
		if (!xsf_http_match(endpoint->path, request))
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
	const char *denied = NULL;
	int err;

	/* With a body it has been looked at before. */
	if (endpoint->writes && !request->upload)
		denied = xsf_http_write_denied(http, request);
	if (denied) {
		reply_text(reply, 403, denied);
		return;
	}
	if (!is_own(endpoint)) {
		if (xsf_conns_stream_room(&http->conns, xsf_http_now_ms(), &victim)) {
			reply_text(reply, 503, "too many replies at once; try again");
			return;
		}
		if (victim)
			xsf_http_cut_conn(http, victim, XSF_CUT_STREAM_LIMIT);
	}
	err = endpoint->handle(is_own(endpoint) ? http : http->options.arg, request, reply);
	if (!err)
		return;
	if (reply->free)
		reply->free(reply->state);
	reply_text(reply, err == -ENOMEM || err == -EBUSY ? 503 : 500, strerror(-err));
}

/* ---- with a body ---- */

static enum MHD_Result body_refused(struct xsf_http *http, struct xsf_conn *conn,
				    const struct xsf_http_request *request,
				    const struct xsf_http_upload *upload)
{
	struct xsf_http_reply reply;

	if (upload->status == 413)
		xsf_http_reply_line(&reply, 413, "the body is longer than %zu bytes", upload->max);
	else
		reply_text(&reply, upload->status, upload->why);
	return send_reply(http, conn, request, &reply, NULL);
}

/* The head is there. */
static enum MHD_Result body_begin(struct xsf_http *http, struct xsf_conn *conn,
				  const struct xsf_http_request *request,
				  const struct xsf_http_endpoint *endpoint, void **request_arg)
{
	struct xsf_http_upload *upload;
	int at_once = xsf_http_upload_begin(http, request, endpoint, &upload);

	if (!upload)
		return MHD_NO;
	*request_arg = upload;
	if (at_once)
		return body_refused(http, conn, request, upload);
	set_state(http, conn, XSF_CONN_UPLOADING);
	return MHD_YES;
}

static enum MHD_Result body_part(struct xsf_http *http, struct xsf_conn *conn,
				 struct xsf_http_upload *upload, const char *data, size_t *len)
{
	conn->progress_ms = xsf_http_now_ms();
	if (xsf_http_upload_add(upload, data, *len)) {
		xsf_http_cut_conn(http, conn, XSF_CUT_UPLOAD_LIMIT);
		return MHD_NO;
	}
	*len = 0;
	return MHD_YES;
}

/* All of it is there. */
static enum MHD_Result body_answer(struct xsf_http *http, struct xsf_conn *conn,
				   struct xsf_http_request *request,
				   const struct xsf_http_upload *upload)
{
	struct xsf_http_reply reply = { .status = 200, .content_type = XSF_CONTENT_TEXT };
	const struct xsf_http_endpoint *endpoint;
	char allow[128];

	if (upload->status)
		return body_refused(http, conn, request, upload);
	request->upload = upload;
	endpoint = find(http, request, allow, sizeof(allow));
	if (!endpoint)
		return MHD_NO;
	call_handler(http, endpoint, request, &reply);
	return send_reply(http, conn, request, &reply, NULL);
}

/* A request target may also name the server (absolute-form, RFC 9112 section 3.2.2): what counts is the path
 * behind it. */
static const char *origin_form(const char *url)
{
	const char *path;

	if (strncasecmp(url, "http://", 7))
		return url;
	path = strchr(url + 7, '/');
	return path ? path : "/";
}

static const char *authority(const char *url)
{
	return strncasecmp(url, "http://", 7) ? NULL : url + 7;
}

enum MHD_Result xsf_http_answer(void *arg, struct MHD_Connection *connection, const char *url,
				const char *method, const char *version, const char *upload_data,
				size_t *upload_data_size, void **request_arg)
{
	struct xsf_http *http = arg;
	struct xsf_http_request request = { .connection = connection,
					    .method = method,
					    .path = origin_form(url),
					    .authority = authority(url) };
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct xsf_conn *conn = info ? info->socket_context : NULL;
	struct xsf_http_reply reply = { .status = 200, .content_type = XSF_CONTENT_TEXT };
	const struct xsf_http_endpoint *endpoint;
	char allow[128];

	(void)version;
	if (!conn)
		return MHD_NO;
	if (*request_arg == &uri_too_long) {
		reply_text(&reply, 414, "the request target is too long");
		return send_reply(http, conn, &request, &reply, NULL);
	}
	if (*request_arg == &uri_has_nul) {
		reply_text(&reply, 400, "the request target holds a zero byte");
		return send_reply(http, conn, &request, &reply, NULL);
	}
	/* Which one is meant, others on the way may see otherwise (RFC 9112, 3.2). */
	if (!*request_arg && xsf_http_has_two_hosts(connection)) {
		reply_text(&reply, 400, "more than one Host");
		return send_reply(http, conn, &request, &reply, NULL);
	}
	if (*request_arg && *request_arg != &head_seen) {
		if (!*upload_data_size)
			return body_answer(http, conn, &request, *request_arg);
		return body_part(http, conn, *request_arg, upload_data, upload_data_size);
	}
	endpoint = find(http, &request, allow, sizeof(allow));
	/* The first call comes with the head. Without a body a second one follows at once, and only a
	 * reply given there leaves the connection open. A body that the endpoint does not take is not
	 * read: the reply closes. */
	if (!*request_arg && endpoint) {
		int body = xsf_http_has_body(connection);

		if (body && endpoint->body)
			return body_begin(http, conn, &request, endpoint, request_arg);
		*request_arg = &head_seen;
		if (!body)
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

struct collected {
	const char *name;
	const char **values;
	unsigned int max;
	unsigned int nr;
};

static enum MHD_Result collect(void *arg, enum MHD_ValueKind kind, const char *name,
			       const char *value)
{
	struct collected *c = arg;

	(void)kind;
	if (strcmp(name, c->name) != 0)
		return MHD_YES;
	if (c->nr < c->max)
		c->values[c->nr] = value ? value : "";
	c->nr++;
	return MHD_YES;
}

unsigned int xsf_http_arguments(const struct xsf_http_request *request, const char *name,
				const char **values, unsigned int max)
{
	struct collected c = { .name = name, .values = values, .max = max };

	MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, collect, &c);
	return c.nr;
}

/* ---- what the library tells ---- */

void *xsf_http_uri_seen(void *arg, const char *uri, struct MHD_Connection *connection)
{
	struct xsf_http *http = arg;

	(void)connection;
	if (strlen(uri) > http->options.limits.uri)
		return &uri_too_long;
	/* Decoded it would end the path, or a value, early. */
	return strstr(uri, "%00") ? &uri_has_nul : NULL;
}

void xsf_http_completed(void *arg, struct MHD_Connection *connection, void **request_arg,
			enum MHD_RequestTerminationCode code)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	(void)code;
	if (*request_arg && *request_arg != &head_seen && *request_arg != &uri_too_long &&
	    *request_arg != &uri_has_nul)
		xsf_http_upload_free(arg, *request_arg);
	*request_arg = NULL;
	if (info)
		set_state(arg, info->socket_context, XSF_CONN_WAITING);
}

/* Faults in what a client sends are answered by the library itself; the status is in its log only. */
void xsf_http_library_log(void *arg, const char *format, va_list args)
{
	if (strstr(format, "(HTTP response code is %u"))
		xsf_http_count_code(arg, va_arg(args, unsigned int));
}
