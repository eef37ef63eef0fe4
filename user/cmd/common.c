// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

#include "model/line.h"

static void error_line(const char *format, va_list args, const char *tail)
{
	char line[1024];

	xsf_line(line, sizeof(line), format, args);
	fprintf(stderr, "xdp-sflow: %s%s\n", line, tail);
}

void xsf_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_line(format, args, "");
	va_end(args);
}

int xsf_usage(const char *command, const char *format, ...)
{
	char tail[128];
	va_list args;

	snprintf(tail, sizeof(tail), "; see: xdp-sflow %s%s--help", command ? command : "",
		 command ? " " : "");
	va_start(args, format);
	error_line(format, args, tail);
	va_end(args);
	return XSF_EXIT_USAGE;
}

int xsf_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	unsigned long long v;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || *end || v < min || v > max)
		return -EINVAL;
	*value = v;
	return 0;
}

int xsf_parse_ports(const char *text, uint16_t ports[XSF_MAX_PORTS])
{
	uint16_t parsed[XSF_MAX_PORTS] = { 0 };
	unsigned int n = 0;

	for (;;) {
		char one[8];
		size_t len = strcspn(text, ",");
		uint64_t port;

		if (n == XSF_MAX_PORTS || len >= sizeof(one))
			return -EINVAL;
		memcpy(one, text, len);
		one[len] = 0;
		if (xsf_parse_u64(one, 1, 65535, &port))
			return -EINVAL;
		parsed[n++] = (uint16_t)port;
		if (!text[len])
			break;
		text += len + 1;
	}
	memcpy(ports, parsed, sizeof(parsed));
	return 0;
}

int xsf_end_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
