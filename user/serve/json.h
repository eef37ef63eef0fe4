/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A snapshot as one JSON object: what `replay --json` and `status --json` print. Made piece by piece while
 * it is read. Counts are JSON integers up to 2^64 - 1. Names from agents: control characters and bytes that
 * are not UTF-8 are "?". */
#ifndef XSF_JSON_H
#define XSF_JSON_H

#include <stddef.h>
#include <sys/types.h>
#include "model/snapshot.h"

struct xsf_json;

/* Starts a document of *s, which stays the caller's and must outlive it. Holds 16 KiB
 * and 72 bytes for each place of drops that is in use. NULL: no memory. */
struct xsf_json *xsf_json_open(const struct xsf_snapshot *s);

/* A document of {"checksum": ...} alone; likewise. */
struct xsf_json *xsf_json_open_csum(const struct xsf_csum *c);

/* The next bytes: at most max of them, 0 at the end. The last byte is a line feed. */
ssize_t xsf_json_read(struct xsf_json *j, char *buf, size_t max);

void xsf_json_close(struct xsf_json *j);

#endif
