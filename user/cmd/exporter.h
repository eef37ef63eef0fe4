/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pinned maps over HTTP, in one thread and one epoll loop: what `export` and `run` share.
 *
 *	err = xsf_exporter_listen(&options, &exporter);	  the address is ours, or why not
 *	...						  run: load
 *	err = err ? err : xsf_exporter_start(exporter);	  maps open, rights given up
 *	err = err ? err : xsf_export_loop(exporter);	  until SIGINT or SIGTERM
 *	xsf_exporter_close(exporter);
 *
 * Each returns an exit code and has printed the line that belongs to it.
 *
 * A scrape takes a snapshot of its own; the rows it shares with the others may be younger when several
 * scrapes overlap. When the pins are gone or of other maps, the next scrape opens what is there;
 * xdp_sflow_up is 0 as long as nothing can be read. */
#ifndef XSF_EXPORTER_H
#define XSF_EXPORTER_H

#include <stdint.h>
#include "cmd/topologies.h"
#include "model/ai.h"

struct xsf_export_options {
	const char *listen;	 /* NULL: XSF_HTTP_DEFAULT_LISTEN */
	const char *maps_dir;	 /* NULL: the default */
	const char *user;	 /* go on as this user; NULL: do not change */
	uint64_t stale_ns;	 /* 0: as the programs were loaded */
	uint32_t max_interfaces; /* 0: XSF_METRICS_INTERFACES; UINT32_MAX: all */
	uint32_t max_places;	 /* 0: XSF_METRICS_PLACES; UINT32_MAX: all */
	int prog_stats;		 /* have the kernel keep the programs' run time */
	int ledger;		 /* attach the ledger's programs and serve what they count */
	int keep_rights;	 /* run: they are needed to unload */
	int allow_write;	 /* over HTTP, also where the listener is not loopback */
	struct xsf_topology_options topology;
	struct xsf_ai_options ai;
	/* Something else to look after: called when watch_fd is readable, and has to empty it. */
	void (*watch)(void *arg); /* NULL: nothing */
	void *watch_arg;
	int watch_fd;
};

struct xsf_exporter;

/* The value of --listen: 0, or the exit code for wrong usage. */
int xsf_listen_arg(const char *command, const char *value);

/* Listens. From here on SIGINT and SIGTERM wait for the loop. *options must outlive the exporter. */
int xsf_exporter_listen(const struct xsf_export_options *options, struct xsf_exporter **exporter);

/* Opens the maps, and gives up rights unless they are to be kept. */
int xsf_exporter_start(struct xsf_exporter *exporter);

/* Serves until SIGINT or SIGTERM. */
int xsf_export_loop(struct xsf_exporter *exporter);

/* NULL is fine. */
void xsf_exporter_close(struct xsf_exporter *exporter);

#endif
