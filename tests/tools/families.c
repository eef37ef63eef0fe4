// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* families: every family that /metrics can have, "NAME TYPE" a line, in the order of the document. Those of
 * the exporter itself (user/cmd/exporter.c) are not among them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "serve/families.h"

/* Families without a name write their own HELP and TYPE: those are taken from a document of no counts. */
static int unnamed(void)
{
	static const struct xsf_snapshot nothing;
	struct xsf_metrics *m = xsf_metrics_open(&nothing, NULL);
	size_t max = 1 << 20, len = 0;
	char *text = m ? calloc(1, max) : NULL, *rest, *line;
	ssize_t n;

	if (!text)
		return -1;
	while (len + 1 < max && (n = xsf_metrics_read(m, text + len, max - len - 1)) > 0)
		len += (size_t)n;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		if (!strncmp(line, "# TYPE ", 7))
			puts(line + 7);
	}
	free(text);
	xsf_metrics_close(m);
	return 0;
}

int main(void)
{
	static const struct xsf_family *const lists[] = {
		xsf_families_self,  xsf_families_totals,   xsf_families_agents,
		xsf_families_drops, xsf_families_roce,	   xsf_families_sources,
		xsf_families_csum,  xsf_families_topology, xsf_families_ledger,
	};
	static const char *const types[] = {
		[XSF_COUNTER] = "counter",
		[XSF_GAUGE] = "gauge",
		[XSF_HISTOGRAM] = "histogram",
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (const struct xsf_family *f = lists[i]; f->item; f++) {
			if (f->name)
				printf("%s %s\n", f->name, types[f->type]);
		}
	}
	return unnamed() || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
