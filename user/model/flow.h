/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Flows as sFlow-RT defines them (DESIGN 5; define_flow.php): keys and a value of each event, added up by
 * the text of the keys and smoothed with a time constant. Pure: no I/O, no clock; hostile events and
 * definitions. Parsed once into a program (flow_key.h, flow_filter.h), run for each event. */
#ifndef XSF_MODEL_FLOW_H
#define XSF_MODEL_FLOW_H

#include <stddef.h>
#include <stdint.h>
#include <xsf/event.h>

/* Bounds; README repeats them. */
#define XSF_FLOW_KEYS 32       /* keys of a definition */
#define XSF_FLOW_KEY_TEXT 1024 /* bytes of one key expression, and of a filter 4096 */
#define XSF_FLOW_FILTER_TEXT 4096
#define XSF_FLOW_DEPTH 8	/* of nesting, in keys and filters */
#define XSF_FLOW_VALUE_TEXT 256 /* bytes of one key's value; longer ones are cut */
#define XSF_FLOW_RECORDS 16384	/* live ones of a definition, over all its data sources */
#define XSF_FLOW_BYTES 4194304	/* of the keys of those */
#define XSF_FLOWS 64		/* definitions */
#define XSF_FLOW_EXPIRE_NS 300000000000ull /* one that came with a scrape, after the last of them */

enum xsf_flow_aggregation { XSF_FLOW_SUM, XSF_FLOW_MAX, XSF_FLOW_EDGE, XSF_FLOW_CORE };

/* What a definition asks of the world; each may be NULL. Texts are valid until the next call. NULL: none. */
struct xsf_flow_names {
	void *arg;
	/* Topology node, else host name (model/binding.h). */
	const char *(*node)(void *arg, const struct xsf_event *event, uint32_t ifindex);
	const char *(*ifname)(void *arg, const struct xsf_event *event, uint32_t ifindex);
	const char *(*link)(void *arg, const struct xsf_event *event, uint32_t ifindex);
	/* enum xsf_role of the event's data source; for aggregation and the agents EDGE, CORE, TOPOLOGY. */
	uint32_t (*role)(void *arg, const struct xsf_event *event);
	int (*in_topology)(void *arg, const struct xsf_event *event);
	/* Uploaded tables: the group of an address, what a map holds for a key. */
	const char *(*group)(void *arg, const char *table, const char *address);
	const char *(*map)(void *arg, const char *table, const char *key);
};

struct xsf_flow_options {
	const char *keys;   /* comma separated; "" is one flow of everything */
	const char *value;  /* frames, bytes, or a numeric key, perhaps avg: min: max: */
	const char *filter; /* NULL or "": everything */
	double t;	    /* seconds, 0.1 to 600 */
	/* sFlow-RT keeps so many of the largest flows of a data source. Here all are kept, up to the bounds
	 * above; it only tells definitions apart. */
	uint32_t n;
	int dropped;   /* 1: drop notifications; 0: flow samples */
	uint64_t seed; /* random, against agents that choose where their keys fall */
};

/* Where and why a text is refused. */
struct xsf_flow_error {
	char what[16]; /* "key", "value", "filter", ... */
	uint32_t at;   /* byte in that text, from 0 */
	char why[128];
};

struct xsf_flow;

/* 0 and *flow; -EINVAL and *error; -ENOMEM. */
int xsf_flow_new(const struct xsf_flow_options *options, struct xsf_flow **flow,
		 struct xsf_flow_error *error);
void xsf_flow_free(struct xsf_flow *flow);

uint32_t xsf_flow_nr_keys(const struct xsf_flow *flow);
/* The text of key i as it was written, terminated. */
const char *xsf_flow_key(const struct xsf_flow *flow, uint32_t i);

/* One event at the time of its datagram. It counts where the filter holds and no key is null. now_ns never
 * goes back. */
void xsf_flow_add(struct xsf_flow *flow, const struct xsf_flow_names *names,
		  const struct xsf_event *event, uint64_t now_ns);

/* One line of the table: the values of the keys, in order, each terminated; what they add up to now, over how
 * many data sources, and which of those has the largest value. */
struct xsf_flow_row {
	const char *keys[XSF_FLOW_KEYS];
	double value;
	uint32_t nr_sources;
	struct xsf_agent_key agent;
	uint32_t class;
	uint32_t index;
};

/* Who is asked: "ALL", "TOPOLOGY", "CORE", "EDGE", or addresses joined by ';'. -EINVAL and *error. */
struct xsf_flow_query {
	const char *agents;
	enum xsf_flow_aggregation aggregation;
	uint32_t max_flows; /* 1 to 1000 */
	double min_value;   /* rows at or above it */
};

/* Rows in falling order of their value (of equal ones by their keys), at most max_flows; valid until the flow
 * changes. Returns their number, or negative errno. */
int xsf_flow_rows(struct xsf_flow *flow, const struct xsf_flow_query *query, uint64_t now_ns,
		  const struct xsf_flow_row **rows, struct xsf_flow_error *error);

struct xsf_flow_counts {
	uint64_t events;  /* that were offered */
	uint64_t counted; /* of them: filter held, no key null */
	uint64_t full;	  /* not counted: no room for another record */
	uint32_t records; /* live ones */
};
void xsf_flow_count(const struct xsf_flow *flow, struct xsf_flow_counts *counts);

#endif
