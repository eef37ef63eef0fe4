// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* serve/http.h with made-up bodies, for tests/cli/http_test.sh.
 *   http_server [NAME=NUMBER]... [listen=ADDR]     the names of struct xsf_http_limits
 * Prints "listening ADDR:PORT" and serves until SIGTERM. /body?bytes=N, /broken (a body that fails half
 * way), /fails (a handler that fails), /counts (the counters as name value lines), /upload (length and sum
 * of a body), /parts/... (variables and arguments). */
#include "serve/http.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

static struct xsf_http *http;
static volatile sig_atomic_t stop;
static unsigned long bodies; /* now held */
static size_t least_room = (size_t)-1;
static unsigned long reads, turns; /* of body_read and of the loop, since the last body began */

struct body {
	uint64_t left;
	uint64_t line;
	int breaks;
};

/* Numbered lines of 16 bytes, so that a client can tell a hole from a whole body. */
static ssize_t body_read(void *state, char *buf, size_t max)
{
	struct body *body = state;
	size_t n = 0;

	if (max < least_room)
		least_room = max;
	reads++;
	if (body->breaks && !body->left)
		return -EIO;
	while (n + 16 <= max && body->left >= 16) {
		char line[17];

		snprintf(line, sizeof(line), "%015llu\n", (unsigned long long)body->line++);
		memcpy(buf + n, line, 16);
		n += 16;
		body->left -= 16;
	}
	return (ssize_t)n;
}

static void body_free(void *state)
{
	bodies--;
	free(state);
}

static int handle_body(void *arg, const struct xsf_http_request *request,
		       struct xsf_http_reply *reply)
{
	const char *bytes = xsf_http_argument(request, "bytes");
	struct body *body = calloc(1, sizeof(*body));

	(void)arg;
	if (!body)
		return -ENOMEM;
	bodies++;
	reads = turns = 0;
	body->left = bytes ? strtoull(bytes, NULL, 10) : 50 << 20;
	body->breaks = !strcmp(xsf_http_path(request), "/broken");
	reply->read = body_read;
	reply->free = body_free;
	reply->state = body;
	return 0;
}

static int handle_fails(void *arg, const struct xsf_http_request *request,
			struct xsf_http_reply *reply)
{
	(void)arg;
	(void)reply;
	return xsf_http_argument(request, "busy") ? -EBUSY : -EIO;
}

static int handle_counts(void *arg, const struct xsf_http_request *request,
			 struct xsf_http_reply *reply)
{
	const struct xsf_http_counts *counts = xsf_http_counts(http);
	char *at = reply->text;
	char *end = at + sizeof(reply->text);

	(void)arg;
	(void)request;
	for (unsigned int i = 0; i < XSF_HTTP_NR_CODES; i++)
		at += snprintf(at, (size_t)(end - at), "%s %llu\n", xsf_http_code_name(i),
			       (unsigned long long)counts->requests[i]);
	for (unsigned int i = 0; i < XSF_HTTP_NR_CUTS; i++)
		at += snprintf(at, (size_t)(end - at), "%s %llu\n", xsf_http_cut_name(i),
			       (unsigned long long)counts->cut[i]);
	snprintf(at, (size_t)(end - at),
		 "accepted %llu\nopen %u\nstreams %u\nuploads %u\nbody_bytes %llu\nbodies %lu\n"
		 "least_room %zu\nreads %lu\nturns %lu\n",
		 (unsigned long long)counts->accepted, counts->open, counts->streams,
		 counts->uploads, (unsigned long long)counts->body_bytes, bodies, least_room, reads,
		 turns);
	return 0;
}

/* Length and sum of the bytes of a request body. */
static int handle_upload(void *arg, const struct xsf_http_request *request,
			 struct xsf_http_reply *reply)
{
	unsigned long long sum = 0;
	const char *body;
	size_t len;

	(void)arg;
	body = xsf_http_body(request, &len);
	for (size_t i = 0; i < len; i++)
		sum += (unsigned char)body[i];
	return xsf_http_reply_line(reply, 200, "%zu %llu", len, sum);
}

/* What a path's variables and its repeated arguments "v" are. */
static int handle_parts(void *arg, const struct xsf_http_request *request,
			struct xsf_http_reply *reply)
{
	const char *values[3], *v;
	unsigned int nr = xsf_http_arguments(request, "v", values, 3);
	char *text = malloc(4096);
	size_t len = 0;

	(void)arg;
	if (!text)
		return -ENOMEM;
	for (unsigned int i = 0; (v = xsf_http_variable(request, i)); i++)
		len += (size_t)snprintf(text + len, 4096 - len, "%s|", v);
	len += (size_t)snprintf(text + len, 4096 - len, " %u", nr);
	for (unsigned int i = 0; i < nr && i < 3; i++)
		len += (size_t)snprintf(text + len, 4096 - len, " %s", values[i]);
	return xsf_http_reply_bytes(reply, XSF_CONTENT_TEXT, text, len);
}

static const struct xsf_http_endpoint endpoints[] = {
	{ .method = "GET", .path = "/body", .summary = "numbered lines", .handle = handle_body },
	{ .method = "GET",
	  .path = "/broken",
	  .summary = "a body that fails",
	  .handle = handle_body },
	{ .method = "GET",
	  .path = "/fails",
	  .summary = "a handler that fails",
	  .handle = handle_fails },
	{ .method = "GET", .path = "/counts", .summary = "counters", .handle = handle_counts },
	{ .method = "PUT", .path = "/counts", .handle = handle_counts },
	{ .method = "PUT",
	  .path = "/upload",
	  .handle = handle_upload,
	  .body = 1 << 20,
	  .writes = 1 },
	{ .method = "GET", .path = "/parts/all/json", .handle = handle_fails },
	{ .method = "GET", .path = "/parts/{one}/json", .handle = handle_parts },
	{ .method = "GET", .path = "/parts/{one}/{two}/json", .handle = handle_parts },
};

static const struct {
	const char *name;
	size_t off;
} limit_names[] = {
	{ "connections", offsetof(struct xsf_http_limits, connections) },
	{ "per_host", offsetof(struct xsf_http_limits, per_host) },
	{ "streams", offsetof(struct xsf_http_limits, streams) },
	{ "uploads", offsetof(struct xsf_http_limits, uploads) },
	{ "memory", offsetof(struct xsf_http_limits, memory) },
	{ "uri", offsetof(struct xsf_http_limits, uri) },
	{ "head_ms", offsetof(struct xsf_http_limits, head_ms) },
	{ "stall_ms", offsetof(struct xsf_http_limits, stall_ms) },
	{ "reply_ms", offsetof(struct xsf_http_limits, reply_ms) },
};

static int set_option(struct xsf_http_options *options, const char *text)
{
	const char *value = strchr(text, '=');
	size_t len = value ? (size_t)(value - text) : 0;

	if (!len)
		return -EINVAL;
	if (!strncmp(text, "listen", len)) {
		options->listen = value + 1;
		return 0;
	}
	if (!strcmp(text, "allow_write=1")) {
		options->allow_write = 1;
		return 0;
	}
	for (size_t i = 0; i < sizeof(limit_names) / sizeof(limit_names[0]); i++) {
		if (strlen(limit_names[i].name) == len &&
		    !strncmp(text, limit_names[i].name, len)) {
			unsigned int number = (unsigned int)strtoul(value + 1, NULL, 10);

			memcpy((char *)&options->limits + limit_names[i].off, &number,
			       sizeof(number));
			return 0;
		}
	}
	return -EINVAL;
}

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

int main(int argc, char **argv)
{
	struct xsf_http_options options = { .listen = "127.0.0.1:0",
					    .endpoints = endpoints,
					    .nr_endpoints =
						    sizeof(endpoints) / sizeof(endpoints[0]),
					    .limits = XSF_HTTP_LIMITS_DEFAULT };
	struct epoll_event event = { .events = EPOLLIN };
	char why[256];
	int epoll_fd;

	for (int i = 1; i < argc; i++) {
		if (set_option(&options, argv[i])) {
			fprintf(stderr, "http_server: what is '%s'?\n", argv[i]);
			return 2;
		}
	}
	if (xsf_http_open(&options, &http, why, sizeof(why))) {
		fprintf(stderr, "http_server: %s\n", why);
		return 1;
	}
	signal(SIGTERM, on_signal);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, xsf_http_fd(http), &event)) {
		perror("http_server");
		return 1;
	}
	printf("listening %s\n", xsf_http_listening(http));
	fflush(stdout);
	while (!stop) {
		struct epoll_event ready;

		if (epoll_wait(epoll_fd, &ready, 1, xsf_http_timeout(http)) >= 0) {
			turns++;
			xsf_http_run(http);
		}
	}
	xsf_http_close(http);
	printf("bodies %lu\n", bodies);
	return 0;
}
