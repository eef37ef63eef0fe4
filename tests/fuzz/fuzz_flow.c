// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A definition of a flow (keys, value and filter, each ended by a 0) and events for it: what is accepted is
 * accepted again from the texts of its keys, what is refused says where, every event is counted or not, and
 * rows hold texts and values as flow.h says. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/flow.h"

#define EVENTS 24
#define DEFINITION (XSF_FLOW_KEYS * XSF_FLOW_KEY_TEXT)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(int is, const char *what)
{
	if (is)
		return;
	fprintf(stderr, "FOUND: %s\n", what);
	abort();
}

static const char *some_name(void *arg, const struct xsf_event *event, uint32_t ifindex)
{
	(void)arg;
	return ifindex % 3 == 1 ? "leaf\"1" :
	       ifindex % 3	? (const char *)"" :
	       event->index & 1 ? NULL :
				  "x";
}

static uint32_t some_role(void *arg, const struct xsf_event *event)
{
	(void)arg;
	return event->index % 3;
}

static int some_topology(void *arg, const struct xsf_event *event)
{
	(void)arg;
	return event->index & 1;
}

static const struct xsf_flow_names names = { .node = some_name,
					     .ifname = some_name,
					     .link = some_name,
					     .role = some_role,
					     .in_topology = some_topology };

/* The text up to the next 0, in a block of its own so that a read behind it is found. */
static char *take_text(const uint8_t **data, size_t *size)
{
	size_t len = strnlen((const char *)*data, *size);
	char *text = malloc(len + 1);

	if (!text)
		abort();
	memcpy(text, *data, len);
	text[len] = '\0';
	*data += len;
	*size -= len;
	if (*size) {
		(*data)++;
		(*size)--;
	}
	return text;
}

static void defined_again(const struct xsf_flow *flow, const struct xsf_flow_options *o)
{
	struct xsf_flow_options again = *o;
	char *keys = calloc(1, DEFINITION + XSF_FLOW_KEYS + 1), *to = keys;
	struct xsf_flow_error error;
	struct xsf_flow *second;
	int err;

	if (!keys)
		abort();
	for (uint32_t k = 0; k < xsf_flow_nr_keys(flow); k++) {
		if (k)
			*to++ = ',';
		to = stpcpy(to, xsf_flow_key(flow, k));
	}
	again.keys = keys;
	err = xsf_flow_new(&again, &second, &error);
	hold(!err, "keys are refused that were accepted");
	hold(xsf_flow_nr_keys(second) == xsf_flow_nr_keys(flow), "number of keys");
	for (uint32_t k = 0; k < xsf_flow_nr_keys(flow); k++)
		hold(!strcmp(xsf_flow_key(flow, k), xsf_flow_key(second, k)), "text of a key");
	xsf_flow_free(second);
	free(keys);
}

static void check_rows(struct xsf_flow *flow, const struct xsf_flow_query *query, uint64_t now)
{
	const struct xsf_flow_row *rows;
	struct xsf_flow_counts counts;
	struct xsf_flow_error error;
	int nr = xsf_flow_rows(flow, query, now, &rows, &error);

	xsf_flow_count(flow, &counts);
	hold(nr >= 0 && (uint32_t)nr <= query->max_flows && (uint32_t)nr <= counts.records,
	     "number of rows");
	for (int i = 0; i < nr; i++) {
		hold(isfinite(rows[i].value) && rows[i].value >= query->min_value, "a value");
		hold(!i || rows[i].value <= rows[i - 1].value, "order of rows");
		hold(rows[i].nr_sources > 0, "sources of a row");
		for (uint32_t k = 0; k < xsf_flow_nr_keys(flow); k++)
			hold(strlen(rows[i].keys[k]) <= XSF_FLOW_VALUE_TEXT, "length of a text");
	}
}

static uint64_t add_events(struct xsf_flow *flow, const uint8_t *data, size_t size, uint64_t *nr)
{
	uint64_t now = 1000000000;

	for (*nr = 0; *nr < EVENTS && size; ++*nr) {
		size_t len = size < sizeof(struct xsf_event) ? size : sizeof(struct xsf_event);
		struct xsf_event *event = calloc(1, sizeof(*event));

		if (!event)
			abort();
		memcpy(event, data, len);
		now += event->ns & 0x3ffffffff;
		xsf_flow_add(flow, &names, event, now);
		free(event);
		data += len;
		size -= len;
	}
	return now;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const agents[] = { "ALL", "TOPOLOGY", "EDGE", "CORE",
					      "10.0.0.1;2001:db8::1" };
	char *keys = take_text(&data, &size), *value = take_text(&data, &size),
	     *filter = take_text(&data, &size);
	struct xsf_flow_options o = { .keys = keys,
				      .value = value,
				      .filter = filter,
				      .t = 1,
				      .dropped = size & 1,
				      .seed = size };
	struct xsf_flow_counts counts;
	struct xsf_flow_error error;
	struct xsf_flow *flow;
	uint64_t events, now;
	int err = xsf_flow_new(&o, &flow, &error);

	if (err) {
		hold(err == -EINVAL, "an error");
		hold(error.what[0] && error.why[0] && error.at <= DEFINITION, "why it is refused");
	} else {
		defined_again(flow, &o);
		now = add_events(flow, data, size, &events);
		xsf_flow_count(flow, &counts);
		hold(counts.events <= events && counts.counted <= counts.events &&
			     counts.records <= counts.counted,
		     "counts");
		for (unsigned int i = 0; i < 5; i++) {
			struct xsf_flow_query query = { .agents = agents[i],
							.aggregation = i % 4,
							.max_flows = 1 + i * 7,
							.min_value = 0 };

			check_rows(flow, &query, now + i * 700000000);
		}
		xsf_flow_free(flow);
	}
	free(keys);
	free(value);
	free(filter);
	return 0;
}
