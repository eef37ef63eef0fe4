/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts about this machine and an interface. Nothing is changed, attached, pinned or loaded (no module
 * either, by being asked for); what the caller's rights do not reach stays unknown, with its errno. */
#ifndef XSF_PROBE_H
#define XSF_PROBE_H

#include "kernel/net.h"
#include "kernel/why.h"
#include "model/doctor.h"

/* How long rates are measured, at most. */
#define XSF_PROBE_MS_MAX 60000

struct xsf_probe_options {
	const char *iface;
	const char *dir;	       /* of the pins */
	uint16_t ports[XSF_MAX_PORTS]; /* to look at; 0 = unused; none: the default ones, and those
					 * that our program on the interface is configured for */
	uint32_t sample_ms;	       /* 0: no rates */
};

/* Takes sample_ms and a little more. 0, -ENODEV (no such interface) or another negative errno, and why. */
int xsf_probe(const struct xsf_probe_options *o, struct xsf_facts *f, struct xsf_why *why);

/* Within kernel/probe*.c: the parts. */
void xsf_probe_machine(const char *dir, struct xsf_facts *f);
void xsf_probe_device(const struct xsf_ifs *ifs, const struct xsf_if *i, struct xsf_facts *f);
/* Ports of our program there, if any, in `ours` (XSF_MAX_PORTS + 1, the rest 0). */
void xsf_probe_programs(const char *dir, const struct xsf_if *i, struct xsf_facts *f,
			uint16_t *ours);
void xsf_probe_firewall(struct xsf_facts *f);
void xsf_probe_buffers(const char *iface, struct xsf_facts *f);
/* Sockets and rates, at the beginning and at the end of the sample. */
void xsf_probe_sockets(struct xsf_facts *f);
void xsf_probe_sockets_again(struct xsf_facts *f);
/* UDP datagrams that arrived for sockets of this namespace so far. */
xsf_fact_t xsf_probe_udp(void);

/* A small file of /proc or /sys: a number (XSF_NO_FACT when there is no such file), or its first bytes,
 * terminated. */
xsf_fact_t xsf_probe_number(const char *path);
int xsf_probe_text(const char *path, char *buf, size_t size);

#endif
