// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Request bodies: who may send one, how much of it is kept, and the variables of a path. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "serve/http_internal.h"

#define FIRST_ROOM 16384

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* ---- who may write ---- */

static int is_loopback6(const struct in6_addr *addr)
{
	return IN6_IS_ADDR_LOOPBACK(addr) ||
	       (IN6_IS_ADDR_V4MAPPED(addr) && addr->s6_addr[12] == 127);
}

int xsf_http_is_loopback(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)addr)->sin_addr.s_addr) >> 24 == 127;
	return addr->ss_family == AF_INET6 &&
	       is_loopback6(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

/* "localhost", 127.0.0.0/8 or [::1], each with or without a port (RFC 3986, 3.2.2 and 3.2.3), `len` bytes.
 * Any other name may be that of a web page that had it resolved to this host (DNS rebinding). */
int xsf_http_host_is_local(const char *host, size_t len)
{
	char name[64], *end;
	struct in6_addr in6;
	struct in_addr in;

	if (!len || len >= sizeof(name))
		return 0;
	memcpy(name, host, len);
	name[len] = 0;
	end = *name == '[' ? strchr(name, ']') : name + strcspn(name, ":");
	if (!end)
		return 0;
	if (*name == '[')
		*end++ = 0;
	if (*end && (*end != ':' || end[1 + strspn(end + 1, "0123456789")]))
		return 0;
	*end = 0;
	if (*name == '[')
		return inet_pton(AF_INET6, name + 1, &in6) == 1 && is_loopback6(&in6);
	if (!strcasecmp(name, "localhost"))
		return 1;
	return inet_pton(AF_INET, name, &in) == 1 && ntohl(in.s_addr) >> 24 == 127;
}

const char *xsf_http_write_denied(const struct xsf_http *http,
				  const struct xsf_http_request *request)
{
	static const char not_local[] = "Host is not a loopback name, so nothing may be changed; "
					"to allow it: --allow-write";
	const char *host = header(request->connection, "Host");

	if (header(request->connection, "Origin"))
		return "web pages (an Origin header) may not change anything here";
	if (http->options.allow_write)
		return NULL;
	if (!http->loopback)
		return "nothing may be changed through this address; to allow it: --allow-write";
	if (host && !xsf_http_host_is_local(host, strlen(host)))
		return not_local;
	/* What a request target names goes before Host (RFC 9112, 3.2.2). */
	if (request->authority &&
	    !xsf_http_host_is_local(request->authority, strcspn(request->authority, "/")))
		return not_local;
	return NULL;
}

static enum MHD_Result count_host(void *arg, enum MHD_ValueKind kind, const char *name,
				  const char *value)
{
	unsigned int *nr = arg;

	(void)kind;
	(void)value;
	*nr += !strcasecmp(name, "Host");
	return MHD_YES;
}

int xsf_http_has_two_hosts(struct MHD_Connection *connection)
{
	unsigned int nr = 0;

	MHD_get_connection_values(connection, MHD_HEADER_KIND, count_host, &nr);
	return nr > 1;
}

/* ---- bodies ---- */

int xsf_http_has_body(struct MHD_Connection *connection)
{
	return header(connection, "Content-Length") || header(connection, "Transfer-Encoding");
}

/* Digits alone, as the library has checked; larger than any that counts when there are too many. */
static uint64_t content_length(struct MHD_Connection *connection)
{
	const char *text = header(connection, "Content-Length");

	return !text ? 0 : strlen(text) > 18 ? UINT64_MAX : strtoull(text, NULL, 10);
}

int xsf_http_upload_begin(struct xsf_http *http, const struct xsf_http_request *request,
			  const struct xsf_http_endpoint *endpoint, struct xsf_http_upload **out)
{
	struct xsf_http_upload *upload = calloc(1, sizeof(*upload));
	struct MHD_Connection *connection = request->connection;
	uint64_t length = content_length(connection);

	*out = upload;
	if (!upload)
		return 1;
	upload->max = endpoint->body;
	if (endpoint->writes)
		upload->why = xsf_http_write_denied(http, request);
	if (upload->why) {
		upload->status = 403;
	} else if (length > endpoint->body) {
		upload->status = 413;
	} else if (http->uploads >= http->options.limits.uploads) {
		upload->status = 503;
		upload->why = "too many request bodies at once; try again";
	}
	/* A refused one holds nothing. */
	upload->counted = !upload->status;
	http->uploads += upload->counted;
	/* Who waits to be told to go on needs no more than the answer. */
	return upload->status && (header(connection, "Expect") || length > XSF_HTTP_DRAIN);
}

static void refuse(struct xsf_http_upload *upload, unsigned int status)
{
	upload->status = status;
	upload->why = status == 503 ? strerror(ENOMEM) : NULL;
	free(upload->data);
	upload->data = NULL;
	upload->len = upload->room = 0;
}

int xsf_http_upload_add(struct xsf_http_upload *upload, const char *data, size_t len)
{
	upload->received += len;
	if (!upload->status && len > upload->max - upload->len)
		refuse(upload, 413);
	if (!upload->status && len > upload->room - upload->len) {
		size_t room = upload->room ? upload->room : FIRST_ROOM;
		char *more;

		while (len > room - upload->len)
			room *= 2;
		more = realloc(upload->data, room);
		if (!more) {
			refuse(upload, 503);
		} else {
			upload->data = more;
			upload->room = room;
		}
	}
	if (upload->status)
		return upload->received > XSF_HTTP_DRAIN ? -E2BIG : 0;
	memcpy(upload->data + upload->len, data, len);
	upload->len += len;
	return 0;
}

void xsf_http_upload_free(struct xsf_http *http, struct xsf_http_upload *upload)
{
	if (!upload)
		return;
	http->uploads -= upload->counted;
	free(upload->data);
	free(upload);
}

const char *xsf_http_body(const struct xsf_http_request *request, size_t *len)
{
	*len = request->upload ? request->upload->len : 0;
	return *len ? request->upload->data : NULL;
}

/* ---- variables ---- */

int xsf_http_match(const char *pattern, struct xsf_http_request *request)
{
	const char *path = request->path;
	char *part = request->path_parts;

	request->nr_variables = 0;
	if (!strchr(pattern, '{'))
		return !strcmp(pattern, path);
	if (strlen(path) >= sizeof(request->path_parts))
		return 0;
	while (*pattern && *path) {
		size_t len;

		if (*pattern != '{') {
			if (*pattern++ != *path++)
				return 0;
			continue;
		}
		len = strcspn(path, "/");
		if (!len || request->nr_variables == XSF_HTTP_VARIABLES)
			return 0;
		/* Shorter together than the path, with an end each in the place of its slash. */
		memcpy(part, path, len);
		part[len] = 0;
		request->variable[request->nr_variables++] = part;
		part += len + 1;
		path += len;
		pattern += strcspn(pattern, "}") + 1;
	}
	return !*pattern && !*path;
}

const char *xsf_http_variable(const struct xsf_http_request *request, unsigned int n)
{
	return n < request->nr_variables ? request->variable[n] : NULL;
}
