/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of flows: flow.c counts events, flow_rows.c reads. */
#ifndef XSF_MODEL_FLOW_STATE_H
#define XSF_MODEL_FLOW_STATE_H

#include "model/flow_key.h"

#define XSF_FLOW_BUCKETS 16384

/* A record that was silent for so many t shows e^-10 of what it did, and is forgotten. */
#define XSF_FLOW_SILENT_T 10

enum xsf_flow_value { XSF_VALUE_SUM, XSF_VALUE_AVERAGE, XSF_VALUE_MIN, XSF_VALUE_MAX };
enum xsf_flow_value_is { XSF_FIELD_FRAMES, XSF_FIELD_BYTES, XSF_FIELD_NUMBER };

/* Per second, smoothed: packets times value, and packets. */
struct xsf_flow_sums {
	double value;
	double weight;
};

struct xsf_flow_range {
	int any;
	double min, max;
};

/* Where an event was sampled, and what that place was then: events of one source and keys that came
 * while it was something else are another record. No padding: compared and hashed as bytes. */
struct xsf_flow_at {
	struct xsf_agent_key agent;
	uint32_t class;
	uint32_t index;
	uint32_t role; /* enum xsf_role */
	uint32_t in_topology;
};
_Static_assert(sizeof(struct xsf_flow_at) == sizeof(struct xsf_agent_key) + 16, "no padding");

/* The keys' values at one place. */
struct xsf_flow_record {
	char *keys; /* each terminated; NULL: the place is free */
	uint32_t keys_len;
	uint32_t next; /* in its bucket, or of the free places */
	uint64_t hash;
	struct xsf_flow_at at;
	uint64_t last_ns;
	uint64_t window; /* that range[0] is of */
	struct xsf_flow_sums sums[XSF_DIRECTIONS];
	struct xsf_flow_range range[2];
};

struct xsf_flow_rows;

struct xsf_flow {
	struct xsf_flow_key *keys[XSF_FLOW_KEYS];
	char *texts[XSF_FLOW_KEYS];
	uint32_t nr_keys;
	struct xsf_flow_filter *filter;
	enum xsf_flow_value value;
	enum xsf_flow_value_is value_is;
	struct xsf_flow_key *number;
	int dropped;
	double t_ns;
	uint64_t seed;
	struct xsf_flow_record *records;
	uint32_t nr_records; /* places, used or free */
	uint32_t room;
	uint32_t nr_live;
	uint32_t free; /* the first free place */
	uint32_t hand;
	size_t key_bytes;
	uint64_t edge_ingress_ns; /* when something was last seen to come in at the edge */
	uint64_t events;
	uint64_t counted;
	uint64_t full;
	struct xsf_flow_rows *rows; /* of the last answer */
	uint32_t buckets[XSF_FLOW_BUCKETS];
};

/* What of a record's sums is left now. */
double xsf_flow_decay(const struct xsf_flow *flow, const struct xsf_flow_record *record,
		      uint64_t now_ns);
int xsf_flow_silent(const struct xsf_flow *flow, const struct xsf_flow_record *record,
		    uint64_t now_ns);

#endif
