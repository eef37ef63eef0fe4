/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `load` and `run` share: the options that say how to attach, and attaching. */
#ifndef XSF_CMD_LOAD_H
#define XSF_CMD_LOAD_H

#include <getopt.h>
#include <stdio.h>
#include "kernel/options.h"
#include "model/snapshot.h"

/* Values of the long options below; others' options of the same command start at XSF_OPT_OTHERS. */
enum xsf_load_opt {
	XSF_OPT_MODE = 256,
	XSF_OPT_CONSUME,
	XSF_OPT_PORT,
	XSF_OPT_ALLOW,
	XSF_OPT_DROP_DENIED,
	XSF_OPT_DROP_DUPLICATES,
	XSF_OPT_STALE,
	XSF_OPT_FRAGS,
	XSF_OPT_FABRICS,
	XSF_OPT_SHARE,
	XSF_OPT_MAPS,
	XSF_OPT_YES,
	XSF_OPT_VERBOSE,
	XSF_OPT_REPAIR,
	XSF_OPT_REPAIR_FROM,
	XSF_OPT_OBSERVE,
	XSF_OPT_NO_CHECKSUM,
	XSF_OPT_OTHERS = 512,
};

/* For the table of getopt_long. */
#define XSF_LOAD_LONG_OPTIONS \
	{ "mode", required_argument, NULL, XSF_OPT_MODE }, \
		{ "consume", no_argument, NULL, XSF_OPT_CONSUME }, \
		{ "port", required_argument, NULL, XSF_OPT_PORT }, \
		{ "allow", required_argument, NULL, XSF_OPT_ALLOW }, \
		{ "drop-denied", no_argument, NULL, XSF_OPT_DROP_DENIED }, \
		{ "drop-duplicates", no_argument, NULL, XSF_OPT_DROP_DUPLICATES }, \
		{ "stale", required_argument, NULL, XSF_OPT_STALE }, \
		{ "frags", required_argument, NULL, XSF_OPT_FRAGS }, \
		{ "fabrics", required_argument, NULL, XSF_OPT_FABRICS }, \
		{ "share", no_argument, NULL, XSF_OPT_SHARE }, \
		{ "maps", required_argument, NULL, XSF_OPT_MAPS }, \
		{ "repair", required_argument, NULL, XSF_OPT_REPAIR }, \
		{ "repair-from", required_argument, NULL, XSF_OPT_REPAIR_FROM }, \
		{ "observe", no_argument, NULL, XSF_OPT_OBSERVE }, \
		{ "no-checksum", no_argument, NULL, XSF_OPT_NO_CHECKSUM }, \
		{ "yes", no_argument, NULL, XSF_OPT_YES }, \
	{ \
		"verbose", no_argument, NULL, XSF_OPT_VERBOSE \
	}

/* Their text in --help. */
extern const char xsf_load_options_help[];

struct xsf_load_args {
	struct xsf_load_options options;
	char **ifaces; /* of argv */
	int nr_ifaces;
	int yes;
	int fresh[XSF_MAX_ATTACHED]; /* by xsf_load_all: 1 = attached where nothing of ours was */
};

/* dir = the default one, else nothing. */
void xsf_load_args_init(struct xsf_load_args *a);

/* One option of enum xsf_load_opt. 0, or the exit code after a message that says what is wrong. */
int xsf_load_arg(struct xsf_load_args *a, const char *command, int opt, const char *value);

/* After all: takes the interfaces' names (argv from optind on), checks what goes with what. Likewise. */
int xsf_load_args_finish(struct xsf_load_args *a, const char *command, int nr, char **ifaces);

/* Attaches to all of them, says so on stdout; exit code. */
int xsf_load_all(struct xsf_load_args *a);

/* Detaches from one; that somebody else has done so is no failure. 0, or the exit code after a message. */
int xsf_unload_after(const char *dir, const char *iface);

/* A directory name as getopt gives it, made absolute. NULL when that is too long or there is none. */
const char *xsf_maps_dir(const char *value);

/* "6343, 6344"; buf of at least 64 bytes; returns it. */
const char *xsf_ports_text(const uint16_t *ports, char *buf, size_t size);

#endif
