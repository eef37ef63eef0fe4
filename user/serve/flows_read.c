// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Definitions from JSON. A document of XSF_FLOWS_BODY bytes takes jansson some MB at most, for the moment in
 * which it is read; how deep it may nest is jansson's bound, 2048. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "model/number.h"
#include "serve/flows_parts.h"

static int read_text(const char *key, json_t *value, const char **text, char why[XSF_FLOWS_WHY])
{
	if (!json_is_string(value))
		return xsf_flows_refuse(why, "%s is no string", key);
	*text = json_string_value(value);
	return 0;
}

/* A number, or one in quotes. */
static int read_number(const char *key, json_t *value, int whole, double *number,
		       char why[XSF_FLOWS_WHY])
{
	if (json_is_number(value))
		*number = json_number_value(value);
	else if (!json_is_string(value) || xsf_number(json_string_value(value), number))
		return xsf_flows_refuse(why, "%s is no number", key);
	if (whole && *number != floor(*number))
		return xsf_flows_refuse(why, "%s is no whole number", key);
	return 0;
}

static int read_member(const char *key, json_t *value, struct xsf_flow_spec *spec, int *aggregated,
		       char why[XSF_FLOWS_WHY])
{
	struct xsf_flow_options *o = &spec->options;
	const char *text = "";
	double number = 0;
	int err = 0;

	if (!strcmp(key, "keys"))
		return read_text(key, value, &o->keys, why);
	if (!strcmp(key, "value"))
		return read_text(key, value, &o->value, why);
	if (!strcmp(key, "filter"))
		return json_is_null(value) ? 0 : read_text(key, value, &o->filter, why);
	if (!strcmp(key, "fs"))
		return read_text(key, value, &spec->separator, why);
	if (!strcmp(key, "n")) {
		err = read_number(key, value, 1, &number, why);
		if (!err)
			o->n = (uint32_t)xsf_flows_adjusted(number, XSF_FLOWS_N_MIN,
							    XSF_FLOWS_N_MAX);
		return err;
	}
	if (!strcmp(key, "t")) {
		err = read_number(key, value, 0, &number, why);
		if (!err)
			o->t = xsf_flows_adjusted(number, XSF_FLOWS_T_MIN, XSF_FLOWS_T_MAX);
		return err;
	}
	if (!strcmp(key, "dropped")) {
		if (!json_is_boolean(value))
			return xsf_flows_refuse(why, "dropped is neither true nor false");
		o->dropped = json_is_true(value);
		return 0;
	}
	if (!strcmp(key, "aggMode")) {
		err = read_text(key, value, &text, why);
		if (!err && xsf_flows_aggregation(text, &spec->aggregation))
			err = xsf_flows_refuse(
				why, "aggMode: '%.64s' is none of sum, max, edge, core", text);
		*aggregated = !err;
		return err;
	}
	if (!strcmp(key, "log") || !strcmp(key, "flowStart") || !strcmp(key, "activeTimeout"))
		return 0;
	return xsf_flows_refuse(why, "'%.64s' is not known here", key);
}

int xsf_flows_read(const char *text, size_t len, struct xsf_flows_document *document,
		   char why[XSF_FLOWS_WHY])
{
	struct xsf_flow_spec *spec = &document->spec;
	int err = 0, aggregated = 0;
	json_error_t error;
	const char *key;
	json_t *root, *value;

	*document = (struct xsf_flows_document){ .spec.options = { .keys = "", .n = 5, .t = 2 },
						 .spec.separator = "," };
	document->json = root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		return xsf_flows_refuse(why, "line %d, column %d: %.160s", error.line, error.column,
					error.text);
	if (!json_is_object(root))
		return xsf_flows_refuse(why, "the document is no object");
	json_object_foreach(root, key, value)
	{
		err = read_member(key, value, spec, &aggregated, why);
		if (err)
			return err;
	}
	if (!spec->options.value || !*spec->options.value)
		return xsf_flows_refuse(why, "value is missing");
	if (strlen(spec->separator) > XSF_FLOWS_SEPARATOR)
		return xsf_flows_refuse(why, "fs is longer than %d bytes", XSF_FLOWS_SEPARATOR);
	if (!aggregated)
		spec->aggregation = spec->options.dropped ? XSF_FLOW_SUM : XSF_FLOW_MAX;
	return 0;
}

void xsf_flows_document_free(struct xsf_flows_document *document)
{
	json_decref(document->json);
	document->json = NULL;
}
