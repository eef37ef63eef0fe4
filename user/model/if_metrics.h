/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of an interface, by sFlow-RT's names (DESIGN 5.7, 5.8): values of its last counter sample,
 * and rates of its counters. They expire as the rates do (model/rates.h). Choosing interfaces and metrics
 * as the paths of sFlow-RT's REST interface name them, and aggregating. */
#ifndef XSF_IF_METRICS_H
#define XSF_IF_METRICS_H

#include "model/ai.h"
#include "model/binding.h"
#include "model/rates.h"

/* Name, unit. Text: what is said in words. */
#define XSF_IF_METRICS(X) \
	X(ifindex) \
	X(ifname) \
	X(iftype) \
	X(ifspeed) \
	X(ifdirection) \
	X(ifadminstatus) \
	X(ifoperstatus) \
	X(ifinoctets) \
	X(ifinpkts) \
	X(ifinucastpkts) \
	X(ifinmulticastpkts) \
	X(ifinbroadcastpkts) \
	X(ifindiscards) \
	X(ifinerrors) \
	X(ifinunknownprotos) \
	X(ifinutilization) \
	X(ifoutoctets) \
	X(ifoutpkts) \
	X(ifoutucastpkts) \
	X(ifoutmulticastpkts) \
	X(ifoutbroadcastpkts) \
	X(ifoutdiscards) \
	X(ifouterrors) \
	X(ifoututilization) \
	X(ai_bytes)

#define XSF_IFM_ENUM(name) XSF_IFM_##name,
enum xsf_if_metric { XSF_IF_METRICS(XSF_IFM_ENUM) XSF_NR_IF_METRICS };

extern const char *const xsf_if_metric_names[XSF_NR_IF_METRICS];

/* All there is to read from. */
struct xsf_if_view {
	const struct xsf_snapshot *s;
	const struct xsf_bindings *b;
	const struct xsf_rates *r;
};

enum xsf_if_kind { XSF_IF_ABSENT, XSF_IF_NUMBER, XSF_IF_TEXT };

struct xsf_if_value {
	enum xsf_if_kind kind;
	double number;
	size_t len;
	uint8_t text[XSF_NAME_LEN]; /* as the agent sent it, len bytes */
};

/* The metric of the source in a slot. */
void xsf_if_metric(const struct xsf_if_view *v, uint32_t slot, enum xsf_if_metric which,
		   struct xsf_if_value *value);

/* The name of its port, else of the topology's; of its agent's host, else of the topology's node. Length, 0:
 * there is none. */
size_t xsf_if_name(const struct xsf_if_view *v, uint32_t slot, uint8_t name[XSF_NAME_LEN]);
size_t xsf_if_host(const struct xsf_if_view *v, uint32_t slot, uint8_t name[XSF_NAME_LEN]);

/* Bounds of a path: names in a list, interfaces that are its answer. */
#define XSF_IF_NAMES 64

struct xsf_if_slot {
	uint32_t slot;
	uint32_t generation;
};

/* The interfaces of {agents}: ALL; TOPOLOGY, EDGE or CORE of the first fabric; or a list, parted by ';' or
 * ',', of agents' addresses and host names. By agent, then ifIndex; one of each, though several sub-agents
 * may send it. At most `max`, of which *hidden are left out. The caller frees *out. 0, -E2BIG (more than
 * XSF_IF_NAMES names), -ENOMEM. */
int xsf_if_choose(const struct xsf_if_view *v, const char *agents, uint32_t max,
		  struct xsf_if_slot **out, uint32_t *nr, uint32_t *hidden);

/* Is it still the one that was chosen? */
int xsf_if_still(const struct xsf_if_view *v, const struct xsf_if_slot *i);

#define XSF_AGGREGATES(X) \
	X(max) \
	X(min) \
	X(sum) \
	X(avg) \
	X(var) \
	X(sdev) \
	X(med) \
	X(q1) \
	X(q2) \
	X(q3) \
	X(iqr) \
	X(any)

#define XSF_AGG_ENUM(name) XSF_AGG_##name,
enum xsf_aggregate { XSF_AGGREGATES(XSF_AGG_ENUM) XSF_NR_AGGREGATES };

extern const char *const xsf_aggregate_names[XSF_NR_AGGREGATES];

/* A name in a list of metrics: "med:ifinoctets"; max without prefix. */
struct xsf_if_wanted {
	enum xsf_aggregate aggregate;
	enum xsf_if_metric metric; /* XSF_NR_IF_METRICS: there is none of that name */
	const char *name;	   /* within the list */
	size_t len;
};

/* Reads a list of metrics, parted by ','; *all: it is ALL. 0 or -E2BIG. */
int xsf_if_want(const char *metrics, struct xsf_if_wanted wanted[XSF_IF_NAMES], uint32_t *nr,
		int *all);

struct xsf_if_sum {
	uint32_t nr;		   /* values */
	struct xsf_if_value value; /* absent when nr is 0 */
	uint32_t slot;		   /* whose value it is; 0 when it is nobody's */
	uint64_t newest_ns;	   /* ages of the counters behind them */
	uint64_t oldest_ns;
	struct xsf_quartiles quartiles;
};

/* Of the chosen interfaces. var and sdev are of the population; any is the first value, and the only one that
 * text has (text is left out of all the others but max). `scratch` holds nr values. */
void xsf_if_aggregate(const struct xsf_if_view *v, const struct xsf_if_slot *slots, uint32_t nr,
		      const struct xsf_if_wanted *wanted, double *scratch, struct xsf_if_sum *out);

#endif
