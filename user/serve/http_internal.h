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
