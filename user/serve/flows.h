/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Flows over HTTP as sFlow-RT and its Prometheus exporter give them (DESIGN 5): what is asked for, and the
 * answers.
 *
 *	/app/prometheus/scripts/export.js/flows/{agents}/txt?metric=&key=&value=...
 *		metric	name of the series; needed
 *		key	keys, perhaps several times, joined by ','; needed
 *		value	needed
 *		label	names for the keys, likewise joined; empty or missing: the key itself
 *		filter	n=10  t=15  dropped (only "true" is)  aggMode (sum of drops, max of samples)
 *		maxFlows=20  minValue=0.1  scale=1
 *	/activeflows/{agents}/{name}/json?maxFlows=100&minValue=0&aggMode=
 *	/flow/{name}/json
 *		{"keys":"ipsource,ipdestination","value":"bytes","filter":"","n":5,"t":2,
 *		 "fs":",","dropped":false,"aggMode":"max"}
 *
 * Of what is there once, the first value counts. n and t are adjusted to 5..20 and 0.1..600, as sFlow-RT
 * does; any other number beyond its bounds is refused. */
#ifndef XSF_SERVE_FLOWS_H
#define XSF_SERVE_FLOWS_H

#include <stddef.h>
#include <stdint.h>
#include "model/flow_set.h"

#define XSF_FLOWS_MAX_ROWS 1000	 /* of maxFlows */
#define XSF_FLOWS_MAX_VALUES 256 /* of a parameter that may be repeated */
#define XSF_FLOWS_SCALE 1e30	 /* of scale; and 1 over it */
#define XSF_FLOWS_METRIC 256	 /* bytes of a metric's name */
#define XSF_FLOWS_BODY 65536	 /* bytes of a definition */
#define XSF_FLOWS_SEPARATOR 16	 /* bytes of "fs" */
#define XSF_FLOWS_WHY 512

extern const char *const xsf_flow_aggregation_names[4];

/* The parameters of a request: values of that name in their order, as xsf_http_arguments() gives them. */
struct xsf_flows_parameters {
	const void *arg;
	unsigned int (*values)(const void *arg, const char *name, const char **values,
			       unsigned int max);
};

struct xsf_flows_query {
	struct xsf_flow_spec spec;
	struct xsf_flow_query query; /* agents: the caller's */
	double scale;
	const char *metric; /* the caller's */
	char *keys;	    /* joined; spec.options.keys */
	char *labels;	    /* likewise, each terminated */
	unsigned int nr_labels;
	/* Where each value of `key` begins in keys, and how many there are: for telling what is wrong. */
	uint32_t key_at[XSF_FLOWS_MAX_VALUES];
	unsigned int nr_keys;
};

/* What a scrape asks for. 0; -EINVAL with the reason in `why`; -ENOMEM. In any case it is to be freed. */
int xsf_flows_scrape(const struct xsf_flows_parameters *p, const char *agents,
		     struct xsf_flows_query *q, char why[XSF_FLOWS_WHY]);
/* Likewise of /activeflows, of a definition that is there; nothing of `spec` or for Prometheus. */
int xsf_flows_active(const struct xsf_flows_parameters *p, const char *agents,
		     const struct xsf_flow_definition *definition, struct xsf_flows_query *q,
		     char why[XSF_FLOWS_WHY]);
void xsf_flows_query_free(struct xsf_flows_query *q);

/* One line: which parameter (of several keys which one), where in it, and why. q NULL: of a document. */
void xsf_flows_error(const struct xsf_flows_query *q, const struct xsf_flow_error *error,
		     char why[XSF_FLOWS_WHY]);

/* The answers, which the caller frees; their length in *len.
 *
 * Prometheus text: "<metric>{<label>="<value>",...} <number>\n" for each row. 0; -ERANGE: more labels than
 * keys; -EINVAL: two labels of one name (both with the reason); -ENOMEM. */
int xsf_flows_text(const struct xsf_flows_query *q, const struct xsf_flow *flow,
		   const struct xsf_flow_row *rows, int nr, char **out, size_t *len,
		   char why[XSF_FLOWS_WHY]);

/* [{"agent":"10.0.0.1","dataSource":"3","flowN":1,"key":"a,b","value":1.5},...]: agent and data source of the
 * largest value, of how many they are. 0 or -ENOMEM. */
int xsf_flows_active_json(const struct xsf_flow_definition *definition,
			  const struct xsf_flow_row *rows, int nr, char **out, size_t *len);

/* The definition as it may be PUT again; all that have a name, an object by their names. 0 or -ENOMEM. */
int xsf_flows_definition_json(const struct xsf_flow_definition *definition, char **out,
			      size_t *len);
int xsf_flows_list_json(const struct xsf_flow_set *set, char **out, size_t *len);

/* A definition read from JSON; texts live in the document. */
struct xsf_flows_document {
	struct xsf_flow_spec spec;
	void *json;
};

/* Of "log", "flowStart" and "activeTimeout" any value is taken, without effect: ended flows are not kept.
 * Other keys are refused. 0; -EINVAL with the reason; -ENOMEM. To be freed in any case. */
int xsf_flows_read(const char *text, size_t len, struct xsf_flows_document *document,
		   char why[XSF_FLOWS_WHY]);
void xsf_flows_document_free(struct xsf_flows_document *document);

#endif
