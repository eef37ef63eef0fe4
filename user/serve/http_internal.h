/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What serve/http.c (connections) and serve/http_request.c (requests) share. */
#ifndef XSF_HTTP_INTERNAL_H
#define XSF_HTTP_INTERNAL_H

#include <microhttpd.h>
#include <stdarg.h>

#include "serve/http.h"
#include "serve/http_conn.h"

struct xsf_http {
	struct xsf_http_options options;
	struct xsf_conns conns;
	struct xsf_http_counts counts;
	struct xsf_conn *adding; /* whose socket the library is being given */
	struct MHD_Daemon *daemon;
	uint64_t accept_again_ms; /* 0 = accepting */
	unsigned int uploads;	  /* request bodies being received or held */
	int loopback;		  /* listens on a loopback address */
	int listen_fd;
	int epoll_fd; /* of two: the listening socket and the library's epoll */
	char listening[64];
	char index[XSF_HTTP_TEXT_MAX];
};

/* CLOCK_MONOTONIC */
uint64_t xsf_http_now_ms(void);

/* One more answer of this status. */
void xsf_http_count_code(struct xsf_http *http, unsigned int status);

/* Ends a connection now; one in a reply with a reset: what the kernel still holds for it goes too, and
 * half a body cannot be taken for a whole one. The descriptor stays the library's to close. */
void xsf_http_cut_conn(struct xsf_http *http, struct xsf_conn *conn, enum xsf_http_cut reason);

struct xsf_http_request {
	struct MHD_Connection *connection;
	const char *method;
	const char *path;
	const char *authority;		      /* that the target names, up to a '/'; NULL: none */
	const struct xsf_http_upload *upload; /* NULL: without a body */
	unsigned int nr_variables;
	const char *variable[XSF_HTTP_VARIABLES]; /* into path_parts */
	char path_parts[8192];
};

/* ---- http_body.c ---- */

/* A request body on its way. */
struct xsf_http_upload {
	unsigned int status; /* not 0: it is refused, and only read so that the client sees why */
	const char *why;
	unsigned int counted; /* among http->uploads */
	size_t max;
	uint64_t received;
	size_t len;
	size_t room;
	char *data;
};

/* Does a body follow the request's head? */
int xsf_http_has_body(struct MHD_Connection *connection);

/* A body of an endpoint that takes one is about to come. *upload NULL: no memory. Returns 1 when the answer
 * is to be given at once, and no body read: upload->status says which. */
int xsf_http_upload_begin(struct xsf_http *http, const struct xsf_http_request *request,
			  const struct xsf_http_endpoint *endpoint,
			  struct xsf_http_upload **upload);

/* A part of it. 0, or -E2BIG: too much of a refused one. */
int xsf_http_upload_add(struct xsf_http_upload *upload, const char *data, size_t len);

/* NULL is fine. */
void xsf_http_upload_free(struct xsf_http *http, struct xsf_http_upload *upload);

/* Why this request may not write; NULL: it may. */
const char *xsf_http_write_denied(const struct xsf_http *http,
				  const struct xsf_http_request *request);

/* Is there more than one Host header? */
int xsf_http_has_two_hosts(struct MHD_Connection *connection);

/* Is the numeric address, or the Host header of `len` bytes, one that means this host alone? */
int xsf_http_is_loopback(const struct sockaddr_storage *addr);
int xsf_http_host_is_local(const char *host, size_t len);

/* Does the path match the pattern? Fills the request's variables. Bounded by the path's length. */
int xsf_http_match(const char *pattern, struct xsf_http_request *request);

/* Writes http->index; -E2BIG. */
int xsf_http_make_index(struct xsf_http *http);

/* Callbacks of the library; arg is the struct xsf_http. */
enum MHD_Result xsf_http_answer(void *arg, struct MHD_Connection *connection, const char *url,
				const char *method, const char *version, const char *upload_data,
				size_t *upload_data_size, void **request_arg);
void *xsf_http_uri_seen(void *arg, const char *uri, struct MHD_Connection *connection);
void xsf_http_completed(void *arg, struct MHD_Connection *connection, void **request_arg,
			enum MHD_RequestTerminationCode code);
void xsf_http_library_log(void *arg, const char *format, va_list args);

#endif
