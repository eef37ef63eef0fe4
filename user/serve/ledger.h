/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ledger as a table, as one JSON object, and as Prometheus text. */
#ifndef XSF_SERVE_LEDGER_H
#define XSF_SERVE_LEDGER_H

#include "model/ledger.h"
#include "serve/text.h"

/* Room for either document of the fullest ledger. */
#define XSF_LEDGER_DOCUMENT (4u << 20)

/* Appends a table for people. */
void xsf_ledger_text(const struct xsf_ledger *l, struct xsf_text *t);

/* Appends one line: a JSON object. Stages that were not measured have no key. */
void xsf_ledger_json(const struct xsf_ledger *l, struct xsf_text *t);

#endif
