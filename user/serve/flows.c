// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is asked for: parameters of a request. */
#include "serve/flows.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/line.h"
#include "model/number.h"
#include "serve/flows_parts.h"

const char *const xsf_flow_aggregation_names[4] = {
	[XSF_FLOW_SUM] = "sum",
	[XSF_FLOW_MAX] = "max",
	[XSF_FLOW_EDGE] = "edge",
	[XSF_FLOW_CORE] = "core",
};

/* ---- what is wrong ---- */

int xsf_flows_refuse(char why[XSF_FLOWS_WHY], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	xsf_line(why, XSF_FLOWS_WHY, format, args);
	va_end(args);
	return -EINVAL;
}

void xsf_flows_error(const struct xsf_flows_query *q, const struct xsf_flow_error *error,
		     char why[XSF_FLOWS_WHY])
{
	unsigned int i = 0;
	int len;

	if (!q || strcmp(error->what, "key") != 0 || q->nr_keys < 2) {
		xsf_flows_refuse(why, "%s, at offset %u: %s", error->what, error->at, error->why);
		return;
	}
	while (i + 1 < q->nr_keys && q->key_at[i + 1] <= error->at)
		i++;
	len = (int)strlen(q->keys + q->key_at[i]);
	if (i + 1 < q->nr_keys)
		len = (int)(q->key_at[i + 1] - q->key_at[i] - 1);
	xsf_flows_refuse(why, "key %u '%.*s%s', at offset %u: %s", i + 1, len < 64 ? len : 64,
			 q->keys + q->key_at[i], len > 64 ? "..." : "", error->at - q->key_at[i],
			 error->why);
}

/* ---- numbers ---- */

double xsf_flows_adjusted(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

int xsf_flows_aggregation(const char *text, enum xsf_flow_aggregation *aggregation)
{
	for (int i = 0; i < 4; i++) {
		if (!strcmp(text, xsf_flow_aggregation_names[i])) {
			*aggregation = (enum xsf_flow_aggregation)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* ---- parameters ---- */

static const char *first(const struct xsf_flows_parameters *p, const char *name)
{
	const char *value = NULL;

	return p->values(p->arg, name, &value, 1) ? value : NULL;
}

/* The parameter's value, `otherwise` without it; 1: a whole number is asked for. */
static int number(const struct xsf_flows_parameters *p, const char *name, double otherwise,
		  int whole, double *value, char why[XSF_FLOWS_WHY])
{
	const char *text = first(p, name);

	*value = otherwise;
	if (!text)
		return 0;
	if (xsf_number(text, value))
		return xsf_flows_refuse(why, "%s: '%.64s' is no number", name, text);
	if (whole && *value != floor(*value))
		return xsf_flows_refuse(why, "%s: '%.64s' is no whole number", name, text);
	return 0;
}

static int read_query(const struct xsf_flows_parameters *p, double max_flows, double min_value,
		      enum xsf_flow_aggregation aggregation, struct xsf_flow_query *query,
		      char why[XSF_FLOWS_WHY])
{
	const char *text = first(p, "aggMode");
	double value;

	query->aggregation = aggregation;
	if (text && xsf_flows_aggregation(text, &query->aggregation))
		return xsf_flows_refuse(why, "aggMode: '%.64s' is none of sum, max, edge, core",
					text);
	if (number(p, "maxFlows", max_flows, 1, &value, why))
		return -EINVAL;
	if (value < 1 || value > XSF_FLOWS_MAX_ROWS)
		return xsf_flows_refuse(why, "maxFlows: %.15g is not from 1 to %d", value,
					XSF_FLOWS_MAX_ROWS);
	query->max_flows = (uint32_t)value;
	if (number(p, "minValue", min_value, 0, &query->min_value, why))
		return -EINVAL;
	if (query->min_value < 0)
		return xsf_flows_refuse(why, "minValue: %.15g is below 0", query->min_value);
	return 0;
}

/* All values of a parameter, joined by ','; where each begins in at[], when that is given. 0 and *out, NULL
 * without any. */
static int join(const struct xsf_flows_parameters *p, const char *name, char **out, uint32_t *at,
		unsigned int *nr, char why[XSF_FLOWS_WHY])
{
	const char *values[XSF_FLOWS_MAX_VALUES];
	size_t len = 0, used = 0;
	char *text;

	*out = NULL;
	*nr = p->values(p->arg, name, values, XSF_FLOWS_MAX_VALUES);
	if (!*nr)
		return 0;
	if (*nr > XSF_FLOWS_MAX_VALUES)
		return xsf_flows_refuse(why, "%s: %u of them, more than %d", name, *nr,
					XSF_FLOWS_MAX_VALUES);
	for (unsigned int i = 0; i < *nr; i++)
		len += strlen(values[i]) + 1;
	text = malloc(len);
	if (!text)
		return -ENOMEM;
	for (unsigned int i = 0; i < *nr; i++) {
		size_t n = strlen(values[i]);

		if (at)
			at[i] = (uint32_t)used;
		memcpy(text + used, values[i], n);
		used += n;
		text[used++] = i + 1 < *nr ? ',' : '\0';
	}
	*out = text;
	return 0;
}

static int read_labels(const struct xsf_flows_parameters *p, struct xsf_flows_query *q,
		       char why[XSF_FLOWS_WHY])
{
	unsigned int nr;
	int err = join(p, "label", &q->labels, NULL, &nr, why);

	if (err || !q->labels)
		return err;
	q->nr_labels = 1;
	for (char *c = q->labels; *c; c++) {
		if (*c != ',')
			continue;
		*c = '\0';
		q->nr_labels++;
	}
	return 0;
}

/* What is to be counted; of "n" and "t" as much as there may be. */
static int read_spec(const struct xsf_flows_parameters *p, struct xsf_flows_query *q,
		     char why[XSF_FLOWS_WHY])
{
	struct xsf_flow_options *o = &q->spec.options;
	const char *dropped = first(p, "dropped");
	double value;
	int err = join(p, "key", &q->keys, q->key_at, &q->nr_keys, why);

	if (err)
		return err;
	if (!q->keys || !*q->keys)
		return xsf_flows_refuse(why, "key is missing");
	o->keys = q->keys;
	o->value = first(p, "value");
	if (!o->value || !*o->value)
		return xsf_flows_refuse(why, "value is missing");
	o->filter = first(p, "filter");
	o->dropped = dropped && !strcmp(dropped, "true");
	if (dropped && !o->dropped && strcmp(dropped, "false") != 0)
		return xsf_flows_refuse(why, "dropped: '%.64s' is neither true nor false", dropped);
	q->spec.aggregation = o->dropped ? XSF_FLOW_SUM : XSF_FLOW_MAX;
	if (number(p, "n", 10, 1, &value, why))
		return -EINVAL;
	o->n = (uint32_t)xsf_flows_adjusted(value, XSF_FLOWS_N_MIN, XSF_FLOWS_N_MAX);
	if (number(p, "t", 15, 0, &value, why))
		return -EINVAL;
	o->t = xsf_flows_adjusted(value, XSF_FLOWS_T_MIN, XSF_FLOWS_T_MAX);
	return 0;
}

int xsf_flows_scrape(const struct xsf_flows_parameters *p, const char *agents,
		     struct xsf_flows_query *q, char why[XSF_FLOWS_WHY])
{
	int err;

	*q = (struct xsf_flows_query){ .query.agents = agents, .metric = first(p, "metric") };
	if (!q->metric || !*q->metric)
		return xsf_flows_refuse(why, "metric is missing");
	if (strlen(q->metric) > XSF_FLOWS_METRIC)
		return xsf_flows_refuse(why, "metric: longer than %d bytes", XSF_FLOWS_METRIC);
	err = read_spec(p, q, why);
	if (!err)
		err = read_labels(p, q, why);
	if (!err)
		err = read_query(p, 20, 0.1, q->spec.aggregation, &q->query, why);
	if (!err)
		err = number(p, "scale", 1, 0, &q->scale, why);
	if (!err && !(q->scale >= 1 / XSF_FLOWS_SCALE && q->scale <= XSF_FLOWS_SCALE))
		err = xsf_flows_refuse(why, "scale: %.15g is not from %g to %g", q->scale,
				       1 / XSF_FLOWS_SCALE, XSF_FLOWS_SCALE);
	return err;
}

int xsf_flows_active(const struct xsf_flows_parameters *p, const char *agents,
		     const struct xsf_flow_definition *d, struct xsf_flows_query *q,
		     char why[XSF_FLOWS_WHY])
{
	*q = (struct xsf_flows_query){ .query.agents = agents, .scale = 1 };
	return read_query(p, 100, 0, d->spec.aggregation, &q->query, why);
}

void xsf_flows_query_free(struct xsf_flows_query *q)
{
	free(q->keys);
	free(q->labels);
}
