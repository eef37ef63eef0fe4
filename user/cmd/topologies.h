/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The topologies of the command line and of the state directory: what export, run and status share.
 *
 * A fabric's topology comes from --topology, or from what was PUT to a server before, which is kept in the
 * state directory as topology-NAME.json. When there are both, the younger file counts. */
#ifndef XSF_CMD_TOPOLOGIES_H
#define XSF_CMD_TOPOLOGIES_H

#include <stddef.h>
#include <stdint.h>
#include "model/binding.h"

#define XSF_STATE_DIR "/var/lib/xdp-sflow"
#define XSF_DEFAULT_FABRIC "default"

struct xsf_topology_options {
	struct {
		char name[XSF_FABRIC_NAME_LEN];
		const char *file;
	} fabric[XSF_FABRICS_MAX];
	uint32_t nr_fabrics;   /* 0: one without file, XSF_DEFAULT_FABRIC */
	const char *state_dir; /* NULL: $STATE_DIRECTORY, else XSF_STATE_DIR */
	int all_edge;
};

/* For the table of getopt_long, with values from `first` on, and their text in --help. */
enum xsf_topology_opt {
	XSF_OPT_TOPOLOGY,
	XSF_OPT_STATE_DIR,
	XSF_OPT_NO_TOPOLOGY,
	XSF_NR_TOPOLOGY_OPTS
};

#define XSF_TOPOLOGY_LONG_OPTIONS(first) \
	{ "topology", required_argument, NULL, (first) + XSF_OPT_TOPOLOGY }, \
		{ "state-dir", required_argument, NULL, (first) + XSF_OPT_STATE_DIR }, \
	{ \
		"no-topology", required_argument, NULL, (first) + XSF_OPT_NO_TOPOLOGY \
	}

extern const char xsf_topology_options_help[];

/* One option, its number counted from `first`. 0, or the exit code after a message. */
int xsf_topology_arg(struct xsf_topology_options *o, const char *command, int opt,
		     const char *value);

/* The fabrics with their topologies: one line on stderr for each that has one, when `say`. 0, or the exit
 * code after a message; the caller frees *out. */
int xsf_topologies_load(const struct xsf_topology_options *o, int say, struct xsf_bindings **out);

/* Keeps the text of a topology in the state directory: all of it or, after a failure, what was there. 0, or
 * negative errno with a reason. */
int xsf_topologies_keep(const struct xsf_topology_options *o, const char *fabric, const char *text,
			size_t len, char *why, size_t why_len);

/* Keeps none for the fabric: what was kept is removed. An empty one is kept only where --topology gives one
 * that would else be in force again. Likewise. */
int xsf_topologies_forget(const struct xsf_topology_options *o, const char *fabric, char *why,
			  size_t why_len);

#endif
