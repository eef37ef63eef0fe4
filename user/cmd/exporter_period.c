// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The periods of the fabrics' jobs: the timeline of the current maps, read and searched once a second. */
#include <string.h>

#include "cmd/exporter_state.h"
#include "model/period.h"

#define TICK_MS 1000
#define MS 1000000ull

/* Histories begin anew with other maps. */
static void renew(struct xsf_exporter *e)
{
	struct xsf_maps *maps = e->current ? e->current->maps : NULL;

	if (e->periods && e->current && e->periods_of == e->opened)
		return;
	xsf_periods_free(e->periods);
	xsf_batching_free(e->batching);
	e->periods = NULL;
	e->batching = NULL;
	e->periods_of = e->opened;
	/* Without memory for it there is none; the next tick tries again. */
	if (maps && xsf_maps_timeline(maps, 0)) {
		e->periods = xsf_periods_new(xsf_maps_groups(maps));
		e->batching = xsf_batching_new();
	}
}

static void read_all(struct xsf_exporter *e)
{
	for (uint32_t line = 0; line < xsf_periods_nr(e->periods); line++) {
		for (uint32_t way = XSF_INGRESS; way <= XSF_EGRESS; way++) {
			const struct xsf_timeline_row *row =
				xsf_maps_timeline(e->current->maps, xsf_periods_row(line, way));

			if (row)
				xsf_periods_read(e->periods, line, way, row, xsf_exporter_now_ns());
		}
	}
}

int xsf_exporter_period_tick(struct xsf_exporter *e)
{
	uint64_t now = xsf_exporter_now_ns();

	if (now < e->next_period_ns)
		return (int)((e->next_period_ns - now) / MS + 1);
	e->next_period_ns = now + TICK_MS * MS;
	renew(e);
	if (e->periods) {
		read_all(e);
		xsf_periods_find(e->periods, e->batching);
	}
	return TICK_MS;
}

void xsf_exporter_period_agents(struct xsf_exporter *e, const struct xsf_snapshot *s)
{
	if (e->batching && e->periods_of == e->opened)
		xsf_batching_update(e->batching, s);
}

void xsf_exporter_periods(const struct xsf_exporter *e, struct xsf_snapshot *out)
{
	out->nr_periods = 0;
	if (!e->periods)
		return;
	out->nr_periods = XSF_MIN(xsf_periods_nr(e->periods), XSF_MAX_PERIODS);
	memcpy(out->periods, xsf_periods_found(e->periods),
	       out->nr_periods * sizeof(*out->periods));
}
