// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The ledger in /metrics: its programs are attached as long as the exporter runs. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/exporter_state.h"
#include "kernel/ledger.h"

int xsf_exporter_ledger_open(struct xsf_exporter *e)
{
	const struct xsf_ledger_ask ask = { .dir = e->options->maps_dir };
	struct xsf_why why;

	if (!e->options->ledger || !xsf_ledger_probe_open(&ask, &e->ledger, &why))
		return 0;
	xsf_error("%s; or leave --ledger out", why.text);
	return XSF_EXIT_FAILURE;
}

struct xsf_ledger *xsf_exporter_ledger_read(struct xsf_exporter *e)
{
	struct xsf_ledger *l = e->ledger ? malloc(sizeof(*l)) : NULL;
	struct xsf_why why;
	int err;

	if (!l)
		return NULL;
	err = xsf_ledger_probe_read(e->ledger, l, &why);
	if (err && !e->ledger_told)
		xsf_error("%s; serving no ledger until it can be read", why.text);
	e->ledger_told = !!err;
	if (!err)
		return l;
	free(l);
	return NULL;
}
