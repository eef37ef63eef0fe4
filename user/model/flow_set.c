// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/flow_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model/utf8.h"

struct xsf_flow_set {
	struct xsf_flow_definition *definitions[XSF_FLOWS];
	uint32_t nr;
	uint64_t seed;
	uint64_t clock_ns; /* of what was counted or read last: flows never go back */
	struct xsf_flow_set_counts
		counts; /* of definitions that are gone, and what is counted here */
};

struct xsf_flow_set *xsf_flow_set_new(uint64_t seed)
{
	struct xsf_flow_set *set = calloc(1, sizeof(*set));

	if (set)
		set->seed = seed;
	return set;
}

/* ---- one definition ---- */

static void definition_free(struct xsf_flow_definition *d)
{
	if (!d)
		return;
	xsf_flow_free(d->flow);
	free((void *)(uintptr_t)d->name);
	free((void *)(uintptr_t)d->spec.options.keys);
	free((void *)(uintptr_t)d->spec.options.value);
	free((void *)(uintptr_t)d->spec.options.filter);
	free((void *)(uintptr_t)d->spec.separator);
	free(d);
}

static const char *text(const char *s)
{
	return s ? s : "";
}

static struct xsf_flow_definition *definition_copy(const char *name,
						   const struct xsf_flow_spec *spec)
{
	struct xsf_flow_definition *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->spec = *spec;
	d->name = name ? strdup(name) : NULL;
	d->spec.options.keys = strdup(text(spec->options.keys));
	d->spec.options.value = strdup(text(spec->options.value));
	d->spec.options.filter = strdup(text(spec->options.filter));
	d->spec.separator = strdup(text(spec->separator));
	if ((!name || d->name) && d->spec.options.keys && d->spec.options.value &&
	    d->spec.options.filter && d->spec.separator)
		return d;
	definition_free(d);
	return NULL;
}

static int definition_new(const struct xsf_flow_set *set, const char *name,
			  const struct xsf_flow_spec *spec, struct xsf_flow_definition **out,
			  struct xsf_flow_error *error)
{
	struct xsf_flow_definition *d = definition_copy(name, spec);
	int err = -ENOMEM;

	if (d) {
		d->spec.options.seed = set->seed;
		err = xsf_flow_new(&d->spec.options, &d->flow, error);
	}
	*out = err ? NULL : d;
	if (err)
		definition_free(d);
	return err;
}

static int same(const struct xsf_flow_options *a, const struct xsf_flow_options *b)
{
	return a->n == b->n && a->dropped == b->dropped && !(a->t < b->t) && !(a->t > b->t) &&
	       !strcmp(text(a->keys), text(b->keys)) && !strcmp(text(a->value), text(b->value)) &&
	       !strcmp(text(a->filter), text(b->filter));
}

/* ---- the set ---- */

void xsf_flow_set_free(struct xsf_flow_set *set)
{
	if (!set)
		return;
	for (uint32_t i = 0; i < set->nr; i++)
		definition_free(set->definitions[i]);
	free(set);
}

int xsf_flow_name_ok(const char *name)
{
	size_t len = strlen(name);

	return len && len <= XSF_FLOW_NAME && !strchr(name, '/') && xsf_text_shows(name);
}

static int room(struct xsf_flow_set *set)
{
	if (set->nr < XSF_FLOWS)
		return 1;
	set->counts.refused++;
	return 0;
}

static void put_in(struct xsf_flow_set *set, struct xsf_flow_definition *d)
{
	set->definitions[set->nr++] = d;
	set->counts.made++;
}

/* Its counts stay. */
static void retire(struct xsf_flow_set *set, struct xsf_flow_definition *d)
{
	struct xsf_flow_counts c;

	xsf_flow_count(d->flow, &c);
	set->counts.counted += c.counted;
	set->counts.full += c.full;
	definition_free(d);
}

static void remove_at(struct xsf_flow_set *set, uint32_t i)
{
	retire(set, set->definitions[i]);
	set->definitions[i] = set->definitions[--set->nr];
}

int xsf_flow_set_scraped(struct xsf_flow_set *set, const struct xsf_flow_spec *spec,
			 uint64_t now_ns, struct xsf_flow_definition **definition,
			 struct xsf_flow_error *error)
{
	struct xsf_flow_definition *d = NULL;
	int err;

	*definition = NULL;
	for (uint32_t i = 0; i < set->nr && !d; i++) {
		if (!set->definitions[i]->name &&
		    same(&set->definitions[i]->spec.options, &spec->options))
			d = set->definitions[i];
	}
	if (!d) {
		err = definition_new(set, NULL, spec, &d, error);
		if (err)
			return err;
		if (!room(set)) {
			definition_free(d);
			return -ENOSPC;
		}
		put_in(set, d);
	}
	d->asked_ns = now_ns;
	*definition = d;
	return 0;
}

void xsf_flow_set_forget(struct xsf_flow_set *set, struct xsf_flow_definition *definition)
{
	for (uint32_t i = 0; i < set->nr; i++) {
		if (set->definitions[i] == definition) {
			remove_at(set, i);
			return;
		}
	}
}

static uint32_t find(const struct xsf_flow_set *set, const char *name)
{
	uint32_t i = 0;

	while (i < set->nr &&
	       (!set->definitions[i]->name || strcmp(set->definitions[i]->name, name) != 0))
		i++;
	return i;
}

int xsf_flow_set_put(struct xsf_flow_set *set, const char *name, const struct xsf_flow_spec *spec,
		     struct xsf_flow_error *error)
{
	uint32_t i = find(set, name);
	struct xsf_flow_definition *d, *was = i < set->nr ? set->definitions[i] : NULL;
	int err = definition_new(set, name, spec, &d, error);

	if (err)
		return err;
	if (!was && !room(set)) {
		definition_free(d);
		return -ENOSPC;
	}
	if (was && same(&was->spec.options, &d->spec.options)) {
		struct xsf_flow *fresh = d->flow;

		d->flow = was->flow;
		was->flow = fresh;
		definition_free(was);
		set->definitions[i] = d;
	} else if (was) {
		retire(set, was);
		set->definitions[i] = d;
		set->counts.made++;
	} else {
		put_in(set, d);
	}
	return 0;
}

struct xsf_flow_definition *xsf_flow_set_named(struct xsf_flow_set *set, const char *name)
{
	uint32_t i = find(set, name);

	return i < set->nr ? set->definitions[i] : NULL;
}

int xsf_flow_set_delete(struct xsf_flow_set *set, const char *name)
{
	uint32_t i = find(set, name);

	if (i == set->nr)
		return -ENOENT;
	remove_at(set, i);
	return 0;
}

const struct xsf_flow_definition *xsf_flow_set_at(const struct xsf_flow_set *set, uint32_t i)
{
	return i < set->nr ? set->definitions[i] : NULL;
}

void xsf_flow_set_expire(struct xsf_flow_set *set, uint64_t now_ns)
{
	for (uint32_t i = set->nr; i-- > 0;) {
		const struct xsf_flow_definition *d = set->definitions[i];

		if (d->name || now_ns <= d->asked_ns || now_ns - d->asked_ns <= XSF_FLOW_EXPIRE_NS)
			continue;
		remove_at(set, i);
		set->counts.expired++;
	}
}

int xsf_flow_set_wants(const struct xsf_flow_set *set, int dropped)
{
	for (uint32_t i = 0; i < set->nr; i++) {
		if (!set->definitions[i]->spec.options.dropped == !dropped)
			return 1;
	}
	return 0;
}

void xsf_flow_set_add(struct xsf_flow_set *set, const struct xsf_flow_names *names,
		      const struct xsf_event *event)
{
	int dropped = !(event->flags & XSF_EVENT_FLOW);

	if (set->clock_ns < event->ns)
		set->clock_ns = event->ns;
	set->counts.events[dropped]++;
	for (uint32_t i = 0; i < set->nr; i++) {
		if (!set->definitions[i]->spec.options.dropped == !dropped)
			xsf_flow_add(set->definitions[i]->flow, names, event, set->clock_ns);
	}
}

int xsf_flow_set_rows(struct xsf_flow_set *set, struct xsf_flow_definition *definition,
		      const struct xsf_flow_query *query, uint64_t now_ns,
		      const struct xsf_flow_row **rows, struct xsf_flow_error *error)
{
	if (set->clock_ns < now_ns)
		set->clock_ns = now_ns;
	return xsf_flow_rows(definition->flow, query, set->clock_ns, rows, error);
}

void xsf_flow_set_count(const struct xsf_flow_set *set, struct xsf_flow_set_counts *counts)
{
	*counts = set->counts;
	for (uint32_t i = 0; i < set->nr; i++) {
		struct xsf_flow_counts c;

		xsf_flow_count(set->definitions[i]->flow, &c);
		if (set->definitions[i]->name)
			counts->named++;
		else
			counts->scraped++;
		counts->records += c.records;
		counts->counted += c.counted;
		counts->full += c.full;
	}
}
