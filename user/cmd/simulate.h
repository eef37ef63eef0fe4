/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XSF_CMD_SIMULATE_H
#define XSF_CMD_SIMULATE_H

#include <stdio.h>
#include <sys/socket.h>
#include "model/fabric.h"
#include "model/snapshot.h"

struct simulate_options {
	struct xsf_fabric_config fabric;
	uint64_t duration; /* ns; 0 = without end */
	uint64_t count;	   /* datagrams; 0 = without end */
	struct sockaddr_storage to;
	socklen_t to_len;
	const char *to_text;
	char to_hint[80]; /* what was perhaps meant by it: " (port 6343 of ::1 is [::1]:6343)" */
	uint32_t wrong_checksums; /* of 100,000 datagrams, IPv6 only */
	const char *write;
	const char *truth;
	const char *topology; /* "full", "links": print it and do nothing else */
};

/* Parses the command line. 0 go on, -1 help was shown, else the exit code. */
int simulate_options_parse(int argc, char **argv, struct simulate_options *o);

/* What the fabric has generated, as one JSON object in the form of `replay --json`, so that the two compare
 * key by key. `send_errors`: datagrams among them that were not sent; `wrong_checksums`: that
 * were given a wrong UDP checksum. The caller closes the stream and
 * checks it. */
void simulate_write_truth(FILE *out, const struct xsf_fabric *f, uint64_t send_errors,
			  uint64_t wrong_checksums);

/* The fabric's topology as sFlow-RT has it; `nodes`: with agents and ifindexes, else links alone, as
 * containerlab's are. Likewise. */
void simulate_write_topology(FILE *out, const struct xsf_fabric *f,
			     const struct xsf_fabric_config *c, int nodes);

#endif
