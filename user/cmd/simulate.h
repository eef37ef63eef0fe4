/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XSF_CMD_SIMULATE_H
#define XSF_CMD_SIMULATE_H

#include <stdio.h>
#include "model/fabric.h"

/* What the fabric has generated, as one JSON object in the form of `replay --json`, so that the two compare
 * key by key. `send_errors`: datagrams among them that were not sent. The caller closes the stream and
 * checks it. */
void simulate_write_truth(FILE *out, const struct xsf_fabric *f, uint64_t send_errors);

#endif
