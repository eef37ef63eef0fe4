/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The HTTP server: libmicrohttpd in epoll mode, without threads, inside the caller's own loop.
 *
 * Everything that a client can make it hold is bounded (struct xsf_http_limits), and every bound that
 * was reached is counted (struct xsf_http_counts). When all places are taken the server stays up and
 * makes room: it closes what has waited longest, from the host that holds most (serve/http_conn.h). */
#ifndef XSF_HTTP_H
#define XSF_HTTP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#define XSF_HTTP_DEFAULT_LISTEN "127.0.0.1:8008"
#define XSF_HTTP_DEFAULT_PORT 8008
#define XSF_HTTP_TEXT_MAX 4096 /* bytes of xsf_http_reply.text and of the index */

#define XSF_HTTP_READ_MIN 4096 /* least room that xsf_http_reply.read is given */

#define XSF_CONTENT_TEXT "text/plain; charset=utf-8"
#define XSF_CONTENT_JSON "application/json"

/* Bounds; README repeats the defaults. */
struct xsf_http_limits {
	unsigned int connections; /* open at once; 16 to 4096 */
	unsigned int per_host; /* of them from one IPv4 address or IPv6 /64; loopback is exempt */
	unsigned int streams;  /* bodies being pulled at once; beyond: 503 */
	unsigned int uploads;  /* request bodies being received at once; beyond: 503 */
	unsigned int memory;   /* bytes a connection for request line, headers and write buffer */
	unsigned int uri;      /* bytes of a request target; longer: 414 */
	unsigned int head_ms;  /* from accept, or the last reply, to the whole request head */
	unsigned int stall_ms; /* a reply, or a request body, that makes no progress */
	unsigned int reply_ms; /* a whole reply; likewise */
};

#define XSF_HTTP_LIMITS_DEFAULT \
	{ \
		.connections = 256, .per_host = 64, .streams = 32, .uploads = 4, .memory = 32768, \
		.uri = 8192, .head_ms = 10000, .stall_ms = 10000, .reply_ms = 60000 \
	}

/* Status codes that are counted by themselves; any other is "other". */
#define XSF_HTTP_CODES(X) \
	X(200) \
	X(204) \
	X(400) \
	X(403) \
	X(404) \
	X(405) \
	X(413) \
	X(414) \
	X(431) \
	X(500) \
	X(503) \
	X(505)

#define XSF_HTTP_CODE_ENUM(code) XSF_HTTP_##code,
enum xsf_http_code { XSF_HTTP_CODES(XSF_HTTP_CODE_ENUM) XSF_HTTP_OTHER, XSF_HTTP_NR_CODES };

/* Why the server closed a connection by itself, or did not take it. */
#define XSF_HTTP_CUTS(X) \
	X(HEAD_TIMEOUT, head_timeout, "no whole request head in time") \
	X(STALLED, stalled, "the client did not read its reply") \
	X(REPLY_TIMEOUT, reply_timeout, "the whole reply took too long") \
	X(EVICTED, evicted, "room for a newer connection") \
	X(HOST_LIMIT, host_limit, "room for a newer connection of the same host") \
	X(STREAM_LIMIT, stream_limit, "a slow reply, for a newer one") \
	X(REFUSED, refused, "no room could be made, or no memory or descriptor was left") \
	X(READ_ERROR, read_error, "the body failed half way") \
	X(UPLOAD_TIMEOUT, upload_timeout, "no whole request body in time") \
	X(UPLOAD_LIMIT, upload_limit, "a refused request body that would not end")

#define XSF_HTTP_CUT_ENUM(id, name, help) XSF_CUT_##id,
enum xsf_http_cut { XSF_HTTP_CUTS(XSF_HTTP_CUT_ENUM) XSF_HTTP_NR_CUTS };

struct xsf_http_counts {
	uint64_t requests[XSF_HTTP_NR_CODES]; /* answers by status */
	uint64_t accepted;		      /* connections */
	uint64_t cut[XSF_HTTP_NR_CUTS];
	uint64_t body_bytes; /* of streamed bodies */
	unsigned int open;   /* connections now */
	unsigned int streams;
	unsigned int uploads;
};

struct xsf_http_request;

/* What a handler answers. Zeroed before the handler is called, except status = 200 and content_type =
 * XSF_CONTENT_TEXT. A body is either `text`, or pulled from `read`. */
struct xsf_http_reply {
	unsigned int status;
	const char *content_type; /* must outlive the reply */
	/* Up to max (at least XSF_HTTP_READ_MIN) bytes into buf: their number, 0 at the end, or
	 * negative errno, which cuts the connection so that the client does not take half a body
	 * for a whole one. */
	ssize_t (*read)(void *state, char *buf, size_t max);
	void (*free)(void *state); /* called once when the reply is over, however it ended */
	void *state;
	char text[XSF_HTTP_TEXT_MAX];
};

/* Fills *reply. 0, or negative errno, which is answered with 500 (-ENOMEM, -EBUSY: 503). */
typedef int (*xsf_http_handler)(void *arg, const struct xsf_http_request *request,
				struct xsf_http_reply *reply);

/* Variables of one path at most. */
#define XSF_HTTP_VARIABLES 4

/* What of a refused request body is read, so that the client gets to see why; more is cut off. */
#define XSF_HTTP_DRAIN 134217728

/* GET serves HEAD too. A path may be there several times with different methods. A part of a path in braces,
 * "/metric/{agents}/{metrics}/json", is a variable: it stands for any one part that is not empty. The first
 * endpoint that matches is taken, so what is exact stands before what is not. */
struct xsf_http_endpoint {
	const char *method;
	const char *path;
	const char *summary; /* its line in the index at "/"; NULL = not listed */
	xsf_http_handler handle;
	/* Bytes of a request body at most (longer: 413); 0: a body is not read. The handler is called once
	 * all of it is there. */
	uint32_t body;
	/* It changes something: only for who may write (xsf_http_options.allow_write), else 403. */
	int writes;
};

struct xsf_http_options {
	const char *listen; /* ADDR[:PORT], [ADDR6][:PORT]; NULL = XSF_HTTP_DEFAULT_LISTEN */
	const struct xsf_http_endpoint *endpoints; /* must outlive the server */
	size_t nr_endpoints;
	void *arg; /* handed to the handlers */
	/* Who may use endpoints that write (DESIGN 4.11). 0: on a loopback address everybody, but not through
	 * another name than that of this host (a page may have its name resolved to 127.0.0.1); elsewhere
	 * nobody. 1: everybody who gets here. Never a web page: no request with an Origin. */
	int allow_write;
	struct xsf_http_limits limits;
};

struct xsf_http;

/* Numeric address from text: "192.0.2.1", "192.0.2.1:80", "[2001:db8::1]:80", "localhost:80"; port 0
 * lets the kernel choose. 0, or -EINVAL with a reason in why. */
int xsf_http_address(const char *text, struct sockaddr_storage *addr, socklen_t *len, char *why,
		     size_t why_len);

/* "192.0.2.1:80" or "[2001:db8::1]:80"; buf of 64 bytes or more; returns it. */
const char *xsf_http_address_text(const struct sockaddr_storage *addr, char *buf, size_t len);

/* Listens, and raises the soft limit of open files as far as the limits ask. "/" and "/-/healthy" are
 * served besides the endpoints. SIGPIPE is ignored from here on. 0 or negative errno, with what, why
 * and what to do in one line in `why`. */
int xsf_http_open(const struct xsf_http_options *options, struct xsf_http **http, char *why,
		  size_t why_len);

/* Readable when xsf_http_run has something to do; level triggered. */
int xsf_http_fd(const struct xsf_http *http);

/* Milliseconds after which xsf_http_run must be called even so, 0 = at once, -1 = no limit. */
int xsf_http_timeout(const struct xsf_http *http);

/* Accepts a bounded number of connections and moves ready replies on while there are any, XSF_HTTP_TURN_MS
 * at most: then others have their turn. */
#define XSF_HTTP_TURN_MS 10
void xsf_http_run(struct xsf_http *http);

/* The address that it listens on, with the real port: "127.0.0.1:8008". */
const char *xsf_http_listening(const struct xsf_http *http);

const struct xsf_http_counts *xsf_http_counts(const struct xsf_http *http);

/* Text of a code or cut, for labels: "200", "other"; "stalled". */
const char *xsf_http_code_name(unsigned int code);
const char *xsf_http_cut_name(unsigned int cut);

/* The request. HEAD: the body will not be asked for. */
const char *xsf_http_method(const struct xsf_http_request *request);
const char *xsf_http_path(const struct xsf_http_request *request);

/* The first value of a query argument, decoded, or NULL. */
const char *xsf_http_argument(const struct xsf_http_request *request, const char *name);

/* Values of an argument that may be repeated, in their order, decoded ("" where there is no value): at most
 * max of them are put into values; returns how many there are. */
unsigned int xsf_http_arguments(const struct xsf_http_request *request, const char *name,
				const char **values, unsigned int max);

/* Variable n of the path (0 is the first), decoded; NULL behind the last. */
const char *xsf_http_variable(const struct xsf_http_request *request, unsigned int n);

/* The request's body, its length in *len; NULL when there is none. It is gone when the handler returns. */
const char *xsf_http_body(const struct xsf_http_request *request, size_t *len);

/* For handlers: answers with len bytes at data, which are freed when the reply is over. 0; or -ENOMEM, with
 * data freed. */
int xsf_http_reply_bytes(struct xsf_http_reply *reply, const char *content_type, char *data,
			 size_t len);

/* For handlers: answers with this status and one line. 0. */
int xsf_http_reply_line(struct xsf_http_reply *reply, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Closes all connections; NULL is fine. */
void xsf_http_close(struct xsf_http *http);

#endif
