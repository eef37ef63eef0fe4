// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/compat.h"

#include <errno.h>
#include <stdlib.h>

#include "serve/json_write.h"
#include "serve/text.h"

/* ---- metrics of interfaces ---- */

struct xsf_compat_metrics {
	struct xsf_if_view v;
	struct xsf_if_slot *slots;
	uint32_t nr_slots;
	enum xsf_if_metric metrics[XSF_NR_IF_METRICS]; /* each once, as they were asked for */
	uint32_t nr_metrics;
	uint32_t metric; /* the next line: of this one, */
	uint32_t at;	 /* of that interface */
	struct xsf_pull pull;
};

static int is_text(enum xsf_if_metric which)
{
	return which == XSF_IFM_ifname || which == XSF_IFM_iftype || which == XSF_IFM_ifdirection ||
	       which == XSF_IFM_ifadminstatus || which == XSF_IFM_ifoperstatus;
}

static void add_metric(struct xsf_compat_metrics *m, enum xsf_if_metric which)
{
	if (which == XSF_NR_IF_METRICS || is_text(which))
		return;
	for (uint32_t i = 0; i < m->nr_metrics; i++) {
		if (m->metrics[i] == which)
			return;
	}
	m->metrics[m->nr_metrics++] = which;
}

int xsf_compat_metrics_open(const struct xsf_if_view *v, const char *agents, const char *metrics,
			    uint32_t max, struct xsf_compat_metrics **out)
{
	struct xsf_compat_metrics *m = calloc(1, sizeof(*m));
	struct xsf_if_wanted wanted[XSF_IF_NAMES];
	uint32_t nr = 0, hidden;
	int err = m ? 0 : -ENOMEM, all;

	*out = NULL;
	if (!err)
		err = xsf_if_want(metrics, wanted, &nr, &all);
	if (!err)
		err = xsf_if_choose(v, agents, max, &m->slots, &m->nr_slots, &hidden);
	if (err) {
		xsf_compat_metrics_close(m);
		return err;
	}
	m->v = *v;
	for (uint32_t i = 0; all && i < XSF_IFM_ai_bytes; i++)
		add_metric(m, (enum xsf_if_metric)i);
	for (uint32_t i = 0; !all && i < nr; i++)
		add_metric(m, wanted[i].metric);
	*out = m;
	return 0;
}

static void one_line(const struct xsf_compat_metrics *m, struct xsf_text *t, uint32_t slot,
		     const char *metric, double value)
{
	const struct xsf_source *source = &m->v.s->sources[slot];
	const struct xsf_agent *agent;
	uint8_t name[XSF_NAME_LEN];
	size_t len;

	if (!xsf_snapshot_source_agent(m->v.s, slot, &agent))
		return;
	XSF_TEXT_LIT(t, "sflow_");
	xsf_text_str(t, metric);
	XSF_TEXT_LIT(t, "{agent=\"");
	xsf_text_address(t, agent->key.addr);
	XSF_TEXT_LIT(t, "\",datasource=\"");
	xsf_text_u64(t, source->key.index);
	len = xsf_if_name(&m->v, slot, name);
	if (len) {
		XSF_TEXT_LIT(t, "\",ifname=\"");
		xsf_text_name(t, name, len);
	}
	len = xsf_if_host(&m->v, slot, name);
	if (len) {
		XSF_TEXT_LIT(t, "\",host=\"");
		xsf_text_name(t, name, len);
	}
	XSF_TEXT_LIT(t, "\"} ");
	xsf_text_double(t, value);
	xsf_text_char(t, '\n');
}

static int next_piece(void *arg, struct xsf_text *t)
{
	struct xsf_compat_metrics *m = arg;
	const struct xsf_if_slot *i;
	struct xsf_if_value value;
	size_t before = t->len;

	if (m->metric == m->nr_metrics)
		return 0;
	if (m->at == m->nr_slots) {
		m->metric++;
		m->at = 0;
		return 1;
	}
	i = &m->slots[m->at++];
	if (!xsf_if_still(&m->v, i))
		return 1;
	xsf_if_metric(&m->v, i->slot, m->metrics[m->metric], &value);
	if (value.kind != XSF_IF_NUMBER)
		return 1;
	one_line(m, t, i->slot, xsf_if_metric_names[m->metrics[m->metric]], value.number);
	/* Given to another meanwhile. */
	if (!xsf_if_still(&m->v, i))
		t->len = before;
	return 1;
}

ssize_t xsf_compat_metrics_read(struct xsf_compat_metrics *m, char *buf, size_t max)
{
	return xsf_pull_read(&m->pull, next_piece, m, buf, max);
}

void xsf_compat_metrics_close(struct xsf_compat_metrics *m)
{
	if (!m)
		return;
	free(m->slots);
	free(m);
}

/* ---- one value over many interfaces ---- */

/* Bytes of one object: names of 63 bytes, escaped. */
#define OBJECT 1024

static void json_number(struct xsf_writer *w, const char *key, double value)
{
	xsf_json_key(w, key);
	xsf_text_double(w->t, value);
	w->comma = 1;
}

static void json_quartiles(struct xsf_writer *w, const struct xsf_quartiles *q)
{
	xsf_json_open_at(w, "quartiles", '{');
	json_number(w, "min", q->min);
	json_number(w, "q1", q->q1);
	json_number(w, "med", q->med);
	json_number(w, "q3", q->q3);
	json_number(w, "max", q->max);
	xsf_json_shut(w, '}');
}

static uint64_t ms_ago(const struct xsf_snapshot *s, uint64_t ns)
{
	return s->now_ns > ns ? (s->now_ns - ns) / 1000000 : 0;
}

static void json_metric(struct xsf_writer *w, const struct xsf_if_view *v,
			const struct xsf_if_wanted *wanted, const struct xsf_if_sum *sum)
{
	const struct xsf_agent *agent;
	const char *name = wanted->name;
	size_t len = wanted->len;

	xsf_json_open_at(w, NULL, '{');
	xsf_json_key(w, "metricName");
	xsf_text_char(w->t, '"');
	if (!memchr(name, ':', len))
		XSF_TEXT_LIT(w->t, "max:");
	xsf_text_name(w->t, (const uint8_t *)name, XSF_MIN(len, (size_t)XSF_NAME_LEN));
	xsf_text_char(w->t, '"');
	w->comma = 1;
	xsf_json_u64(w, "metricN", sum->nr);
	if (sum->nr && sum->slot && xsf_snapshot_source_agent(v->s, sum->slot, &agent)) {
		xsf_json_address(w, "agent", agent->key.addr);
		xsf_json_key(w, "dataSource");
		xsf_text_char(w->t, '"');
		xsf_text_u64(w->t, v->s->sources[sum->slot].key.index);
		xsf_text_char(w->t, '"');
		w->comma = 1;
		xsf_json_u64(w, "lastUpdate", ms_ago(v->s, sum->newest_ns));
	}
	if (sum->nr) {
		xsf_json_u64(w, "lastUpdateMin", ms_ago(v->s, sum->newest_ns));
		xsf_json_u64(w, "lastUpdateMax", ms_ago(v->s, sum->oldest_ns));
		if (sum->value.kind == XSF_IF_NUMBER)
			json_number(w, "metricValue", sum->value.number);
		else
			xsf_json_name(w, "metricValue", sum->value.text, sum->value.len);
	}
	if (sum->nr && wanted->aggregate == XSF_AGG_med)
		json_quartiles(w, &sum->quartiles);
	xsf_json_shut(w, '}');
}

/* ALL: each of the metrics, by itself. */
static uint32_t want_all(struct xsf_if_wanted wanted[XSF_IF_NAMES])
{
	_Static_assert(XSF_NR_IF_METRICS <= XSF_IF_NAMES, "room for all");
	for (uint32_t i = 0; i < XSF_NR_IF_METRICS; i++)
		wanted[i] = (struct xsf_if_wanted){ .aggregate = XSF_AGG_max,
						    .metric = (enum xsf_if_metric)i,
						    .name = xsf_if_metric_names[i],
						    .len = strlen(xsf_if_metric_names[i]) };
	return XSF_NR_IF_METRICS;
}

int xsf_compat_metric_json(const struct xsf_if_view *v, const char *agents, const char *metrics,
			   uint32_t max, char **out, size_t *len)
{
	struct xsf_text t = { .max = XSF_IF_NAMES * OBJECT };
	struct xsf_if_wanted wanted[XSF_IF_NAMES];
	struct xsf_writer w = { .t = &t };
	struct xsf_if_slot *slots = NULL;
	uint32_t nr, nr_slots, hidden;
	double *scratch = NULL;
	int err, all;

	*out = NULL;
	err = xsf_if_want(metrics, wanted, &nr, &all);
	if (!err)
		err = xsf_if_choose(v, agents, max, &slots, &nr_slots, &hidden);
	if (err)
		goto out;
	scratch = calloc((size_t)nr_slots + 1, sizeof(*scratch));
	t.buf = malloc(t.max);
	err = -ENOMEM;
	if (!scratch || !t.buf) {
		free(t.buf);
		goto out;
	}
	if (all)
		nr = want_all(wanted);
	xsf_json_open_at(&w, NULL, '[');
	for (uint32_t i = 0; i < nr; i++) {
		struct xsf_if_sum sum;

		xsf_if_aggregate(v, slots, nr_slots, &wanted[i], scratch, &sum);
		json_metric(&w, v, &wanted[i], &sum);
	}
	xsf_json_shut(&w, ']');
	*out = xsf_text_take(&t, len);
	err = *out ? 0 : -ENOMEM;
out:
	free(slots);
	free(scratch);
	return err;
}
