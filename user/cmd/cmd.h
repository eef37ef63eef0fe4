/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Subcommands: options in, text out. Only the files in cmd/ print or exit. */
#ifndef XSF_CMD_H
#define XSF_CMD_H

#include <stdint.h>
#include <xsf/abi.h>

/* Exit codes: 0 done, 1 failed, 2 wrong usage. */
#define XSF_EXIT_FAILURE 1
#define XSF_EXIT_USAGE 2

/* --stale of all commands: a year. */
#define XSF_MAX_STALE_SECONDS 31536000

struct xsf_cmd {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the subcommand; returns the exit code */
	const char *summary;
};

int cmd_load(int argc, char **argv);
int cmd_unload(int argc, char **argv);
int cmd_confirm(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_repair(int argc, char **argv);
int cmd_ledger(int argc, char **argv);
int cmd_drops(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_simulate(int argc, char **argv);

/* One line on stderr, "xdp-sflow: ...". Say what failed, on what, why and what to do. */
void xsf_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As xsf_error, followed by where help is; returns XSF_EXIT_USAGE. */
int xsf_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Parses a whole decimal number in [min, max]. 0, or -EINVAL with *value untouched. */
int xsf_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* "6343,6344": at most XSF_MAX_PORTS ports from 1 to 65535; unused places become 0. 0 or -EINVAL. */
int xsf_parse_ports(const char *text, uint16_t ports[XSF_MAX_PORTS]);

/* For what ends in order: SIGINT, SIGTERM and SIGHUP (the terminal is gone) do not end the process any more
 * but are read from the descriptor returned, a signalfd that does not wait. Or negative errno. */
int xsf_end_signals(void);

/* --trim-dscp (ai_options.c): "11,12" as a set: bit n for DSCP n. 0, or the exit code after a message. */
int xsf_dscps_arg(uint64_t *dscps, const char *command, const char *value);

#endif
