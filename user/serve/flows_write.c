// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The answers: Prometheus text and JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xsf/sflow.h>
#include "serve/flows_parts.h"
#include "serve/json_write.h"
#include "serve/text.h"

/* ---- documents that grow ---- */

/* Values are seldom as long as they may be: a document starts with room for little and is written again from
 * `before` in twice the room when that was not enough. 0: once more; 1: go on; or -ENOMEM. */
static int grown(struct xsf_text *t, size_t before)
{
	char *buf;

	if (!t->full)
		return 1;
	buf = realloc(t->buf, 2 * t->max);
	if (!buf)
		return -ENOMEM;
	t->buf = buf;
	t->max *= 2;
	t->len = before;
	t->full = 0;
	return 0;
}

static int begin(struct xsf_text *t)
{
	*t = (struct xsf_text){ .max = 4096 };
	t->buf = malloc(t->max);
	return t->buf ? 0 : -ENOMEM;
}

/* Gives the document away, or nothing after an error. */
static int end(struct xsf_text *t, int err, char **out, size_t *len)
{
	*out = err ? NULL : t->buf;
	*len = t->len;
	if (err)
		free(t->buf);
	return err;
}

/* Shorter than a gauge's and without its six decimals: rates in other units may be small. Finite: fields are
 * of 64 bits at most, and so is what an event stands for; XSF_FLOWS_SCALE leaves room. */
static void put_number(struct xsf_text *t, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.12g", value);
	xsf_text_str(t, text);
}

/* ---- Prometheus text ---- */

/* A name of a metric or label: what Prometheus does not take is '_'. */
static void put_name(struct xsf_text *t, const char *name)
{
	if (*name >= '0' && *name <= '9')
		xsf_text_char(t, '_');
	for (const char *c = name; *c; c++) {
		int good = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
			   (*c >= 'A' && *c <= 'Z') || *c == '_';

		xsf_text_char(t, (char)(good ? *c : '_'));
	}
}

static const char *next_label(const char *label)
{
	return label + strlen(label) + 1;
}

/* The names of the labels, terminated, one after the other, in a document of its own; at[i] is where i is. */
static int label_names(const struct xsf_flows_query *q, const struct xsf_flow *flow,
		       struct xsf_text *t, size_t at[XSF_FLOW_KEYS], char why[XSF_FLOWS_WHY])
{
	uint32_t nr = xsf_flow_nr_keys(flow);
	const char *label = q->labels;
	int err;

	if (q->nr_labels > nr) {
		xsf_flows_refuse(why, "label: %u labels for %u keys", q->nr_labels, nr);
		return -ERANGE;
	}
	for (uint32_t i = 0; i < nr; i++) {
		const char *name = i < q->nr_labels && *label ? label : xsf_flow_key(flow, i);

		at[i] = t->len;
		do {
			put_name(t, name);
			xsf_text_char(t, '\0');
			err = grown(t, at[i]);
		} while (!err);
		if (err < 0)
			return err;
		if (!strcmp(t->buf + at[i], "__name__"))
			return xsf_flows_refuse(why, "label: __name__ is the metric's own");
		for (uint32_t j = 0; j < i; j++) {
			if (!strcmp(t->buf + at[i], t->buf + at[j]))
				return xsf_flows_refuse(why,
							"label: keys %u and %u are both '%.64s'",
							j + 1, i + 1, t->buf + at[i]);
		}
		if (i < q->nr_labels)
			label = next_label(label);
	}
	return 0;
}

static void put_row(struct xsf_text *t, const struct xsf_flows_query *q, const char *names,
		    const size_t *at, uint32_t nr, const struct xsf_flow_row *row)
{
	put_name(t, q->metric);
	for (uint32_t i = 0; i < nr; i++) {
		xsf_text_char(t, i ? ',' : '{');
		xsf_text_str(t, names + at[i]);
		XSF_TEXT_LIT(t, "=\"");
		xsf_text_bytes(t, row->keys[i], strlen(row->keys[i]));
		xsf_text_char(t, '"');
	}
	if (nr)
		xsf_text_char(t, '}');
	xsf_text_char(t, ' ');
	put_number(t, row->value * q->scale);
	xsf_text_char(t, '\n');
}

int xsf_flows_text(const struct xsf_flows_query *q, const struct xsf_flow *flow,
		   const struct xsf_flow_row *rows, int nr, char **out, size_t *len,
		   char why[XSF_FLOWS_WHY])
{
	struct xsf_text t, names;
	size_t at[XSF_FLOW_KEYS];
	int err = begin(&names);

	*out = NULL;
	if (err)
		return err;
	err = label_names(q, flow, &names, at, why);
	if (!err)
		err = begin(&t);
	if (err)
		goto out;
	for (int i = 0; i < nr && !err; i++) {
		size_t before = t.len;

		do {
			put_row(&t, q, names.buf, at, xsf_flow_nr_keys(flow), &rows[i]);
			err = grown(&t, before);
		} while (!err);
		err = err < 0 ? err : 0;
	}
	err = end(&t, err, out, len);
out:
	free(names.buf);
	return err;
}

/* ---- JSON ---- */

static void put_string(struct xsf_writer *w, const char *key, const char *value)
{
	xsf_json_key(w, key);
	xsf_text_char(w->t, '"');
	xsf_text_bytes(w->t, value, strlen(value));
	xsf_text_char(w->t, '"');
	w->comma = 1;
}

/* As sFlow-RT writes it: the ifIndex alone, else with its class. */
static void put_source(struct xsf_writer *w, const struct xsf_flow_row *row)
{
	xsf_json_key(w, "dataSource");
	xsf_text_char(w->t, '"');
	if (row->class != SFLOW_CLASS_IFINDEX) {
		xsf_text_u64(w->t, row->class);
		xsf_text_char(w->t, '.');
	}
	xsf_text_u64(w->t, row->index);
	xsf_text_char(w->t, '"');
	w->comma = 1;
}

static void put_active(struct xsf_writer *w, const struct xsf_flow_definition *d,
		       const struct xsf_flow_row *row)
{
	const char *separator = d->spec.separator;

	xsf_json_open_at(w, NULL, '{');
	xsf_json_address(w, "agent", row->agent.addr);
	put_source(w, row);
	xsf_json_u64(w, "flowN", row->nr_sources);
	xsf_json_key(w, "key");
	xsf_text_char(w->t, '"');
	for (uint32_t i = 0; i < xsf_flow_nr_keys(d->flow); i++) {
		if (i)
			xsf_text_bytes(w->t, separator, strlen(separator));
		xsf_text_bytes(w->t, row->keys[i], strlen(row->keys[i]));
	}
	xsf_text_char(w->t, '"');
	w->comma = 1;
	xsf_json_key(w, "value");
	put_number(w->t, row->value);
	w->comma = 1;
	xsf_json_shut(w, '}');
}

int xsf_flows_active_json(const struct xsf_flow_definition *d, const struct xsf_flow_row *rows,
			  int nr, char **out, size_t *len)
{
	struct xsf_text t;
	struct xsf_writer w = { .t = &t };
	int err = begin(&t);

	*out = NULL;
	if (err)
		return err;
	xsf_json_open_at(&w, NULL, '[');
	for (int i = 0; i < nr && !err; i++) {
		size_t before = t.len;
		int comma = w.comma;

		do {
			w.comma = comma;
			put_active(&w, d, &rows[i]);
			err = grown(&t, before);
		} while (!err);
		err = err < 0 ? err : 0;
	}
	if (!err) {
		size_t before = t.len;

		do {
			xsf_text_char(&t, ']');
			err = grown(&t, before);
		} while (!err);
		err = err < 0 ? err : 0;
	}
	return end(&t, err, out, len);
}

static void put_definition(struct xsf_writer *w, const struct xsf_flow_definition *d)
{
	const struct xsf_flow_options *o = &d->spec.options;

	xsf_json_open_at(w, NULL, '{');
	put_string(w, "keys", o->keys);
	put_string(w, "value", o->value);
	put_string(w, "filter", o->filter);
	xsf_json_u64(w, "n", o->n);
	xsf_json_key(w, "t");
	put_number(w->t, o->t);
	w->comma = 1;
	put_string(w, "fs", d->spec.separator);
	xsf_json_bool(w, "dropped", o->dropped);
	xsf_json_str(w, "aggMode", xsf_flow_aggregation_names[d->spec.aggregation]);
	xsf_json_shut(w, '}');
}

int xsf_flows_definition_json(const struct xsf_flow_definition *d, char **out, size_t *len)
{
	struct xsf_text t;
	int err = begin(&t);

	*out = NULL;
	if (err)
		return err;
	do {
		struct xsf_writer w = { .t = &t };

		put_definition(&w, d);
		err = grown(&t, 0);
	} while (!err);
	return end(&t, err < 0 ? err : 0, out, len);
}

int xsf_flows_list_json(const struct xsf_flow_set *set, char **out, size_t *len)
{
	const struct xsf_flow_definition *d;
	struct xsf_text t;
	int err = begin(&t);

	*out = NULL;
	if (err)
		return err;
	do {
		struct xsf_writer w = { .t = &t };

		xsf_json_open_at(&w, NULL, '{');
		for (uint32_t i = 0; (d = xsf_flow_set_at(set, i)); i++) {
			if (!d->name)
				continue;
			xsf_json_next(&w);
			xsf_text_char(&t, '"');
			xsf_text_bytes(&t, d->name, strlen(d->name));
			XSF_TEXT_LIT(&t, "\":");
			put_definition(&w, d);
		}
		xsf_json_shut(&w, '}');
		err = grown(&t, 0);
	} while (!err);
	return end(&t, err < 0 ? err : 0, out, len);
}
