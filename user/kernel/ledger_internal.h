/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Within kernel/ledger*.c: each source of facts, with what it said when the ledger began. */
#ifndef XSF_LEDGER_INTERNAL_H
#define XSF_LEDGER_INTERNAL_H

#include <stdio.h>
#include "kernel/ledger.h"
#include "kernel/net.h"

/* ---- ledger_names.c: the running kernel's words ---- */

#define XSF_LEDGER_REASONS 512
#define XSF_LEDGER_PLACES 512

struct xsf_ledger_names {
	int has_socket; /* kfree_skb tells the receiving socket */
	char reason[XSF_LEDGER_REASONS][XSF_LEDGER_NAME];
	struct {
		uint64_t location;
		uint64_t start; /* of the symbol found so far */
		char name[XSF_LEDGER_NAME];
	} place[XSF_LEDGER_PLACES];
	uint32_t nr_places;
	uint32_t nr_asked; /* places looked up in /proc/kallsyms */
	FILE *symbols;	   /* which tells addresses to those who had the right when it was opened */
};

/* Accepts one that was not read. */
void xsf_ledger_names_close(struct xsf_ledger_names *names);
/* Reads enum skb_drop_reason and the tracepoint's arguments. 0 or negative errno. */
int xsf_ledger_names_read(struct xsf_ledger_names *names, struct xsf_why *why);
/* Fills reason and where of drops. */
void xsf_ledger_names_fill(struct xsf_ledger_names *names, struct xsf_ledger_row *rows,
			   uint32_t nr);

/* ---- ledger_devices.c ---- */

struct xsf_ledger_devices {
	struct xsf_ledger_device now[XSF_LEDGER_DEVICES];
	uint32_t nr, more;
};

/* All interfaces (or `iface`, what lies under it and stands on it) with their statistics since boot. */
int xsf_ledger_devices_read(const char *iface, struct xsf_ledger_devices *d, struct xsf_why *why);
/* out = now less before. */
void xsf_ledger_devices_since(const struct xsf_ledger_devices *before,
			      struct xsf_ledger_devices *now);

/* ---- ledger_sockets.c ---- */

struct xsf_ledger_sockets {
	struct xsf_ledger_socket at[XSF_LEDGER_SOCKETS];
	uint32_t nr, more;
};

/* UDP sockets bound to one of the ports, with their drops since they were made. */
int xsf_ledger_sockets_read(const uint16_t *ports, uint32_t nr_ports, struct xsf_ledger_sockets *s);
void xsf_ledger_sockets_since(const struct xsf_ledger_sockets *before,
			      struct xsf_ledger_sockets *now);

/* ---- ledger_pins.c: what our other programs counted ---- */

#define XSF_LEDGER_SEEN 1024

struct xsf_ledger_pins {
	struct xsf_ledger_seen seen[XSF_LEDGER_SEEN];
	uint32_t nr_seen;
	struct {
		uint32_t ifindex;
		uint16_t ports[XSF_MAX_PORTS];
	} xdp[XSF_LEDGER_DEVICES]; /* where a program counts into xsf_ports, and what for */
	uint32_t nr_xdp;
	uint16_t configured[64]; /* ports of the attached programs */
	uint32_t nr_configured;
	struct xsf_ledger_csum csum[64];
	uint32_t nr_csum;
	int has_csum; /* the checksum program's map is there */
	struct {
		struct xsf_ledger_agent agent;
		uint32_t generation; /* 0: the slot is free */
	} * agents;		     /* by slot; owned */
	uint32_t nr_agents;
	int has_agents;
};

/* What lies in `dir`; nothing there is no failure. 0 or negative errno; free it also then. */
int xsf_ledger_pins_read(const char *dir, struct xsf_ledger_pins *pins, struct xsf_why *why);
void xsf_ledger_pins_since(const struct xsf_ledger_pins *before, struct xsf_ledger_pins *now);
void xsf_ledger_pins_free(struct xsf_ledger_pins *pins);

#endif
