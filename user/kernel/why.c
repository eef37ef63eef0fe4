// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/why.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xdp/libxdp.h>

static struct {
	void (*also)(const char *line);
	char first[256];
	char kernel[256];
} said;

int xsf_because(struct xsf_why *why, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return err;
}

const char *xsf_errno_text(int err)
{
	return strerror(abs(err));
}

/* One line, whatever was in it; libbpf's own prefix says nothing to a user. */
static void keep(char *to, size_t size, const char *line)
{
	if (!strncmp(line, "libbpf: ", 8))
		line += 8;
	snprintf(to, size, "%.*s", (int)strcspn(line, "\n"), line);
}

static void take(int warning, const char *format, va_list args)
{
	/* libbpf's words before the kernel's (nlattr.c, libbpf_nla_dump_errormsg). */
	static const char prefix[] = "Kernel error message: ";
	char line[1024];
	const char *kernel;

	vsnprintf(line, sizeof(line), format, args);
	if (said.also)
		said.also(line);
	kernel = strstr(line, prefix);
	if (kernel)
		keep(said.kernel, sizeof(said.kernel), kernel + sizeof(prefix) - 1);
	else if (warning && !said.first[0])
		keep(said.first, sizeof(said.first), line);
}

static int take_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	take(level == LIBBPF_WARN, format, args);
	return 0;
}

static int take_libxdp(enum libxdp_print_level level, const char *format, va_list args)
{
	take(level == LIBXDP_WARN, format, args);
	return 0;
}

void xsf_log_capture(void (*also)(const char *line))
{
	said.also = also;
	xsf_log_clear();
	libbpf_set_print(take_libbpf);
	libxdp_set_print(take_libxdp);
}

void xsf_log_clear(void)
{
	said.first[0] = 0;
	said.kernel[0] = 0;
}

const char *xsf_log_kernel_word(void)
{
	return said.kernel;
}

const char *xsf_log_first(void)
{
	return said.first;
}
