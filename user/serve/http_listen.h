/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The listening socket of serve/http.c. */
#ifndef XSF_HTTP_LISTEN_H
#define XSF_HTTP_LISTEN_H

#include <stddef.h>
#include <sys/socket.h>

/* A listening, non-blocking socket, or negative errno with one line in why; *addr = where, with the
 * real port. */
int xsf_http_listen(const char *listen_text, struct sockaddr_storage *addr, char *why,
		    size_t why_len);

/* Raises the soft limit of open files to what so many connections need. -EMFILE when the hard limit is
 * lower. */
int xsf_http_raise_files(unsigned int connections, char *why, size_t why_len);

#endif
