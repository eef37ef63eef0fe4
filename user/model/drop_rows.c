// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/drop_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xsf/sequence.h>

/* A row that is being given to another while it is copied is left out: its count is in row 0 by then. */
static int copy_row(const struct xsf_drop_place *p, struct xsf_drop_row *row)
{
	struct xsf_drop_place a;

	if (__atomic_load_n(&p->state, __ATOMIC_ACQUIRE) != XSF_PLACE_IN_USE)
		return 0;
	memcpy(&a, (const void *)p, sizeof(a));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&p->state, __ATOMIC_RELAXED) != XSF_PLACE_IN_USE ||
	    p->first_seen_ns != a.first_seen_ns || p->ifindex != a.ifindex ||
	    p->reason != a.reason || memcmp(&p->agent, &a.agent, sizeof(a.agent)) != 0)
		return 0;
	memset(row, 0, sizeof(*row));
	row->agent = a.agent;
	row->ifindex = a.ifindex;
	row->reason = xsf_reason_code(a.reason);
	row->first_seen_ns = a.first_seen_ns;
	row->last_seen_ns = a.last_seen_ns;
	row->notified = a.notified;
	return 1;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_key(const void *va, const void *vb)
{
	const struct xsf_drop_row *a = va, *b = vb;
	int d = memcmp(&a->agent, &b->agent, sizeof(a->agent));

	if (!d)
		d = compare_u64(a->ifindex, b->ifindex);
	return d ? d : compare_u64(a->reason, b->reason);
}

static int compare_age(const void *va, const void *vb)
{
	const struct xsf_drop_row *a = va, *b = vb;
	int d = compare_u64(a->first_seen_ns, b->first_seen_ns);

	return d ? d : compare_key(va, vb);
}

/* Codes of one name become one row. */
static uint32_t merge(struct xsf_drop_row *rows, uint32_t nr)
{
	uint32_t kept = 0;

	qsort(rows, nr, sizeof(*rows), compare_key);
	for (uint32_t i = 0; i < nr; i++) {
		struct xsf_drop_row *last = kept ? &rows[kept - 1] : NULL;

		if (!last || compare_key(last, &rows[i])) {
			rows[kept++] = rows[i];
			continue;
		}
		last->notified += rows[i].notified;
		last->first_seen_ns = XSF_MIN(last->first_seen_ns, rows[i].first_seen_ns);
		if (last->last_seen_ns < rows[i].last_seen_ns)
			last->last_seen_ns = rows[i].last_seen_ns;
	}
	return kept;
}

static int of_agent(const struct xsf_drop_row *row)
{
	return row->ifindex == XSF_PLACE_WHOLE_AGENT;
}

/* Those of the one kind that are not silent, the oldest `max` of them. Judged only now: a sum must not shrink
 * because the row of one of its codes is silent. */
static int choose(const struct xsf_snapshot *s, const struct xsf_drop_row *rows, uint32_t nr,
		  int agents, uint32_t max, struct xsf_drop_rows *out)
{
	uint32_t n = 0;

	out->at = calloc(nr + 1, sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		if (of_agent(&rows[i]) == agents && !xsf_snapshot_silent(s, rows[i].last_seen_ns))
			out->at[n++] = rows[i];
	}
	qsort(out->at, n, sizeof(*out->at), compare_age);
	out->nr = XSF_MIN(n, max);
	out->hidden = n - out->nr;
	return 0;
}

static int read_rows(const struct xsf_snapshot *s, uint32_t max, struct xsf_drop_table *out)
{
	struct xsf_drop_row *rows;
	uint32_t room = 0, nr = 0;
	int err;

	if (!s->nr_places)
		return 0;
	out->rest = __atomic_load_n(&s->places[0].notified, __ATOMIC_RELAXED);
	for (uint32_t i = 1; i < s->nr_places; i++)
		room += s->places[i].state == XSF_PLACE_IN_USE;
	rows = calloc(room + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	/* More may have come meanwhile: they wait for the next time. */
	for (uint32_t i = 1; i < s->nr_places && nr < room; i++)
		nr += (uint32_t)copy_row(&s->places[i], &rows[nr]);
	nr = merge(rows, nr);
	err = choose(s, rows, nr, 0, max, &out->places);
	if (!err)
		err = choose(s, rows, nr, 1, max, &out->agents);
	free(rows);
	return err;
}

/* ---- what the tables of agents and sources know of them ---- */

/* Where a port is: of the agent in a slot. */
struct port {
	uint32_t agent;
	uint32_t ifindex;
	uint32_t row;
};

static int compare_port(const void *va, const void *vb)
{
	const struct port *a = va, *b = vb;
	int d = compare_u64(a->agent, b->agent);

	return d ? d : compare_u64(a->ifindex, b->ifindex);
}

static int compare_agent(const void *key, const void *row)
{
	return memcmp(key, &((const struct xsf_drop_row *)row)->agent,
		      sizeof(struct xsf_agent_key));
}

/* The ports of `rows`, which are in the order of compare_key, by agent slot and ifIndex. */
static uint32_t ports_of(const struct xsf_snapshot *s, const struct xsf_drop_row *rows, uint32_t nr,
			 struct port *ports)
{
	uint32_t n = 0;

	for (uint32_t slot = 1; slot < s->nr_agents; slot++) {
		struct xsf_agent_key key = s->agents[slot].key;
		const struct xsf_drop_row *found;
		uint32_t i;

		if (!xsf_snapshot_agent_shown(s, slot))
			continue;
		found = bsearch(&key, rows, nr, sizeof(*rows), compare_agent);
		if (!found)
			continue;
		for (i = (uint32_t)(found - rows); i && !compare_agent(&key, &rows[i - 1]); i--)
			;
		for (; i < nr && n < nr && !compare_agent(&key, &rows[i]); i++)
			ports[n++] = (struct port){ slot, rows[i].ifindex, i };
	}
	qsort(ports, n, sizeof(*ports), compare_port);
	return n;
}

/* A port's rows get the slot of its data source. */
static void name_rows(const struct xsf_source *source, uint32_t slot, const struct port *ports,
		      uint32_t nr, struct xsf_drop_row *rows)
{
	const struct port want = { source->key.agent, source->key.index, 0 };
	const struct port *p = bsearch(&want, ports, nr, sizeof(*ports), compare_port);

	if (!p)
		return;
	while (p > ports && !compare_port(p - 1, &want))
		p--;
	for (; p < ports + nr && !compare_port(p, &want); p++) {
		rows[p->row].source = slot;
		rows[p->row].generation = source->generation;
	}
}

static int look_up(const struct xsf_snapshot *s, struct xsf_drop_table *d)
{
	struct xsf_drop_row *rows = d->places.at;
	struct port *ports = calloc(d->places.nr + 1, sizeof(*ports));
	uint32_t nr = 0;

	if (!ports)
		return -ENOMEM;
	if (rows) {
		qsort(rows, d->places.nr, sizeof(*rows), compare_key);
		nr = ports_of(s, rows, d->places.nr, ports);
	}
	for (uint32_t slot = 1; slot < s->nr_sources; slot++) {
		const struct xsf_source *source = &s->sources[slot];
		const struct xsf_interface *i;
		const struct xsf_agent *agent;

		if (!(source->generation & 1) || !xsf_snapshot_source_agent(s, slot, &agent))
			continue;
		i = xsf_snapshot_interface(s, slot);
		if (i)
			d->pending[source->key.agent] += xsf_seq_pending(i->drop_window);
		if (nr && xsf_source_is_interface(source))
			name_rows(source, slot, ports, nr, rows);
	}
	if (rows)
		qsort(rows, d->places.nr, sizeof(*rows), compare_age);
	free(ports);
	return 0;
}

int xsf_drop_table_read(const struct xsf_snapshot *s, uint32_t max, struct xsf_drop_table *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	out->pending = calloc(s->nr_agents + 1, sizeof(*out->pending));
	if (!out->pending)
		return -ENOMEM;
	err = read_rows(s, max, out);
	return err ? err : look_up(s, out);
}

void xsf_drop_table_free(struct xsf_drop_table *d)
{
	free(d->places.at);
	free(d->agents.at);
	free(d->pending);
	memset(d, 0, sizeof(*d));
}

const struct xsf_interface *xsf_drop_row_interface(const struct xsf_snapshot *s,
						   const struct xsf_drop_row *row)
{
	if (!row->source || row->source >= s->nr_sources ||
	    s->sources[row->source].generation != row->generation)
		return NULL;
	return xsf_snapshot_interface(s, row->source);
}

static uint64_t once(const __u64 *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

void xsf_drop_sums(const struct xsf_agent *a, struct xsf_drop_sums *out)
{
	out->notified = once(&a->own.drop_samples) + once(&a->shared.drop_samples);
	out->suppressed = once(&a->drops_suppressed);
	out->lost = once(&a->drops_lost);
	out->duplicate = once(&a->drops_duplicate);
	out->reordered = once(&a->drops_reordered);
	out->restarts = once(&a->drops_restarts);
	out->at_least = once(&a->drops_fresh) + out->suppressed + out->lost;
}
