/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The definitions of flows that are in force: those with a name stay until they are deleted, those of a
 * scrape until nobody has asked for XSF_FLOW_EXPIRE_NS. At most XSF_FLOWS of both. Pure: events and the time
 * come from the caller. */
#ifndef XSF_MODEL_FLOW_SET_H
#define XSF_MODEL_FLOW_SET_H

#include "model/flow.h"

#define XSF_FLOW_NAME 64 /* bytes of a definition's name */

/* What can be said of a definition. Texts are the caller's. */
struct xsf_flow_spec {
	struct xsf_flow_options options;
	enum xsf_flow_aggregation aggregation; /* where a query names none */
	const char *separator; /* between the values of keys that are shown as one */
};

struct xsf_flow_definition {
	const char *name;	   /* NULL: of a scrape */
	struct xsf_flow_spec spec; /* texts of its own */
	struct xsf_flow *flow;
	uint64_t asked_ns; /* last scrape */
};

struct xsf_flow_set;

/* seed: of all definitions (struct xsf_flow_options). NULL: no memory. */
struct xsf_flow_set *xsf_flow_set_new(uint64_t seed);
void xsf_flow_set_free(struct xsf_flow_set *set);

/* A name is 1 to XSF_FLOW_NAME bytes, of characters that can be shown (xsf_text_shows), none of them '/'. */
int xsf_flow_name_ok(const char *name);

/* The definition that a scrape asks for, by what it counts (keys, value, filter, n, t, dropped), new when
 * there is none. 0; -EINVAL and *error; -ENOSPC: there are XSF_FLOWS; -ENOMEM. */
int xsf_flow_set_scraped(struct xsf_flow_set *set, const struct xsf_flow_spec *spec,
			 uint64_t now_ns, struct xsf_flow_definition **definition,
			 struct xsf_flow_error *error);

/* Ends that one; its counts stay. */
void xsf_flow_set_forget(struct xsf_flow_set *set, struct xsf_flow_definition *definition);

/* A definition with a name; another of that name gives way, unless it counts the same: then it goes on
 * counting. Likewise. */
int xsf_flow_set_put(struct xsf_flow_set *set, const char *name, const struct xsf_flow_spec *spec,
		     struct xsf_flow_error *error);

/* NULL: there is none. */
struct xsf_flow_definition *xsf_flow_set_named(struct xsf_flow_set *set, const char *name);

/* 0 or -ENOENT. */
int xsf_flow_set_delete(struct xsf_flow_set *set, const char *name);

/* Definition i, in no particular order; NULL behind the last. */
const struct xsf_flow_definition *xsf_flow_set_at(const struct xsf_flow_set *set, uint32_t i);

/* Ends those of scrapes that nobody asks for any more. */
void xsf_flow_set_expire(struct xsf_flow_set *set, uint64_t now_ns);

/* Does any definition take drop notifications; flow samples? */
int xsf_flow_set_wants(const struct xsf_flow_set *set, int dropped);

/* An event for all that take its kind, at the time of its datagram. */
void xsf_flow_set_add(struct xsf_flow_set *set, const struct xsf_flow_names *names,
		      const struct xsf_event *event);

/* xsf_flow_rows() at a moment of the clock of events. */
int xsf_flow_set_rows(struct xsf_flow_set *set, struct xsf_flow_definition *definition,
		      const struct xsf_flow_query *query, uint64_t now_ns,
		      const struct xsf_flow_row **rows, struct xsf_flow_error *error);

/* But for the first three they only ever grow. */
struct xsf_flow_set_counts {
	uint32_t scraped; /* definitions of scrapes */
	uint32_t named;
	uint32_t records; /* live ones of all definitions */
	uint64_t made;	  /* definitions */
	uint64_t expired;
	uint64_t refused;   /* there were XSF_FLOWS */
	uint64_t events[2]; /* flow samples, drop notifications */
	uint64_t counted;   /* by a definition each */
	uint64_t full;	    /* for want of room for a record */
};
void xsf_flow_set_count(const struct xsf_flow_set *set, struct xsf_flow_set_counts *counts);

#endif
