// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct xsf_cmd commands[] = {
	{ "load", cmd_load, "attach the programs to interfaces and pin them" },
	{ "unload", cmd_unload, "detach what was attached; counts stay until --purge" },
	{ "confirm", cmd_confirm, "keep what load --confirm attached" },
	{ "run", cmd_run, "load and export; unload on exit" },
	{ "export", cmd_export, "serve the counts over HTTP" },
	{ "status", cmd_status, "what is attached, who is sending, what is lost" },
	{ "doctor", cmd_doctor, "what would go wrong on an interface, and what mends it" },
	{ "repair", cmd_repair, "UDP checksums over IPv6: who breaks them, and what is repaired" },
	{ "ledger", cmd_ledger, "where each datagram to a telemetry port went" },
	{ "drops", cmd_drops, "each packet that a switch dropped: where, why, which" },
	{ "replay", cmd_replay, "count a capture file with the same parser" },
	{ "simulate", cmd_simulate, "a leaf-spine fabric that sends sFlow" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* Help that could not be written was not given. */
static int written(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	xsf_error("standard output: %s", strerror(errno));
	return XSF_EXIT_FAILURE;
}

static void help(void)
{
	printf("Usage: xdp-sflow COMMAND [OPTION]...\n"
	       "sFlow counted in the kernel by XDP, served to Prometheus.\n\nCommands:\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].summary);
	printf("\n'xdp-sflow COMMAND --help' tells more; --version says which this is.\n");
}

static int is_help(const char *arg)
{
	return !strcmp(arg, "--help") || !strcmp(arg, "-h");
}

/* A standard descriptor that is closed would be given to the first file that is opened, and written to. What
 * takes its place can be neither read nor written: EBADF, as before. */
static void keep_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_PATH) != fd)
			return;
	}
}

int main(int argc, char **argv)
{
	int code;

	keep_standard();

	if (argc < 2)
		return xsf_usage(NULL, "no command given");
	if (is_help(argv[1]) || !strcmp(argv[1], "help")) {
		help();
		return written();
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("xdp-sflow %s\n", XSF_VERSION);
		return written();
	}
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(argv[1], commands[i].name)) {
			code = commands[i].run(argc - 1, argv + 1);
			return code ? code : written();
		}
	}
	return xsf_usage(NULL, "unknown command '%s'", argv[1]);
}
