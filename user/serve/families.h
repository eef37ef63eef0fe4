/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Within serve/: the families of /metrics as tables. A family runs over a domain (agents, rows, ...); its
 * `item` writes the lines of one member, none when there is nothing to say. */
#ifndef XSF_FAMILIES_H
#define XSF_FAMILIES_H

#include "model/binding.h"
#include "model/drop_rows.h"
#include "model/fields.h"
#include "serve/metrics.h"
#include "serve/text.h"

#define XSF_PREFIX "xdp_sflow_"

enum xsf_domain {
	XSF_OVER_ONE,
	XSF_OVER_LIST, /* of totals: arg */
	XSF_OVER_TABLES,
	XSF_OVER_AGENTS,     /* shown ones, then slot 0 */
	XSF_OVER_INTERFACES, /* shown ones */
	XSF_OVER_SOURCES,    /* shown ones that are no interfaces, then slot 0 */
	XSF_OVER_ROWS,	     /* group, direction */
	XSF_OVER_OPS,	     /* group, direction, carrier, opcode; reserved ones together */
	XSF_OVER_REASONS,
	XSF_OVER_DROP_AGENTS, /* agent and reason */
	XSF_OVER_DROP_PLACES, /* agent, interface and reason */
	XSF_OVER_PERIODS,     /* fabrics, and what is in none */
	XSF_OVER_ATTACHED,
	XSF_OVER_CSUM, /* one, where there are checksum maps */
	XSF_OVER_CSUM_ATTACHED,
	XSF_OVER_CSUM_PORTS,
	XSF_OVER_CSUM_SOURCES, /* shown ones, then all others */
	XSF_OVER_FABRICS,      /* where somebody keeps them */
	XSF_OVER_LEDGER,       /* one, where there is a ledger */
	XSF_OVER_LEDGER_PORTS,
	XSF_OVER_LEDGER_DROPS,
	XSF_OVER_LEDGER_DEVICES,
	XSF_OVER_EXTRA,
	XSF_DOMAINS,
};

enum xsf_family_type { XSF_COUNTER, XSF_GAUGE, XSF_HISTOGRAM };

struct xsf_family {
	const char *name; /* NULL: `item` writes HELP and TYPE itself */
	uint16_t name_len;
	uint8_t type;
	uint8_t domain;
	uint16_t offset; /* of a value in the domain's struct */
	uint16_t arg;
	void (*item)(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		     struct xsf_text *t);
	const char *help;
};

#define XSF_FAMILY_NAME(n) .name = XSF_PREFIX n, .name_len = sizeof(XSF_PREFIX n) - 1
#define XSF_FAMILY_COUNTER(n) XSF_FAMILY_NAME(n "_total"), .type = XSF_COUNTER
#define XSF_FAMILY_GAUGE(n) XSF_FAMILY_NAME(n), .type = XSF_GAUGE
#define XSF_FAMILY_HISTOGRAM(n) XSF_FAMILY_NAME(n), .type = XSF_HISTOGRAM

/* A slot and who had it when the document began; lines of others are left out. */
struct xsf_shown {
	uint32_t slot;
	uint32_t generation;
};

struct xsf_shown_list {
	struct xsf_shown *at;
	uint32_t nr;
	uint32_t hidden; /* those beyond the bound */
};

struct xsf_metrics {
	const struct xsf_snapshot *s;
	struct xsf_metrics_options o;
	struct xsf_shown_list agents;
	struct xsf_shown_list interfaces;
	struct xsf_shown_list sources;
	struct xsf_drop_table drops;	     /* as they were when the document began */
	struct xsf_topology_status *fabrics; /* as they were when the document began */
	int up;				     /* there is a snapshot */
	/* where the document is */
	uint32_t list;
	uint32_t family;
	uint32_t item;
	int headed; /* the family's HELP and TYPE are written */
	struct xsf_pull pull;
};

#define XSF_NR_OPS 257 /* opcodes, and the reserved ones together */

/* Each ends with an entry without `item`. */
extern const struct xsf_family xsf_families_self[];
extern const struct xsf_family xsf_families_totals[];
extern const struct xsf_family xsf_families_agents[];
extern const struct xsf_family xsf_families_drops[];
extern const struct xsf_family xsf_families_roce[];
extern const struct xsf_family xsf_families_sources[];
extern const struct xsf_family xsf_families_csum[];
extern const struct xsf_family xsf_families_topology[];

/* Sources of checksums that have series of their own. */
static inline uint32_t xsf_csum_nr_shown(const struct xsf_csum *c)
{
	return XSF_MIN(c->nr_sources, XSF_METRICS_CSUM_SOURCES);
}

extern const struct xsf_family xsf_families_ledger[];

/* Members of a domain of the ledger; l may be NULL. */
uint32_t xsf_ledger_domain_size(const struct xsf_ledger *l, uint32_t domain);

/* HELP and TYPE lines. */
void xsf_family_head(struct xsf_text *t, const char *name, size_t name_len, const char *help,
		     enum xsf_family_type type);

/* name{ ... caller's labels ... } value */
static inline void xsf_line_begin(struct xsf_text *t, const struct xsf_family *f)
{
	xsf_text_add(t, f->name, f->name_len);
	xsf_text_char(t, '{');
}

static inline void xsf_line_end(struct xsf_text *t, uint64_t value)
{
	XSF_TEXT_LIT(t, "} ");
	xsf_text_u64(t, value);
	xsf_text_char(t, '\n');
}

/* A gauge of thousandths. */
static inline void xsf_line_end_milli(struct xsf_text *t, uint64_t value)
{
	XSF_TEXT_LIT(t, "} ");
	xsf_text_milli(t, value);
	xsf_text_char(t, '\n');
}

/* name value */
static inline void xsf_line_plain(struct xsf_text *t, const struct xsf_family *f, uint64_t value)
{
	xsf_text_add(t, f->name, f->name_len);
	xsf_text_char(t, ' ');
	xsf_text_u64(t, value);
	xsf_text_char(t, '\n');
}

/* key="value", our own constants. `key` with its equals sign, and the comma before it. */
static inline void xsf_label(struct xsf_text *t, const char *key, const char *value)
{
	xsf_text_str(t, key);
	xsf_text_char(t, '"');
	xsf_text_str(t, value);
	xsf_text_char(t, '"');
}

static inline void xsf_label_u64(struct xsf_text *t, const char *key, uint64_t value)
{
	xsf_text_str(t, key);
	xsf_text_char(t, '"');
	xsf_text_u64(t, value);
	xsf_text_char(t, '"');
}

/* agent="...",sub_agent="..." */
void xsf_label_agent(struct xsf_text *t, const struct xsf_agent_key *key);

/* Begins a line of member i of XSF_OVER_AGENTS; the last is slot 0, which counts for those that found no
 * place or lost it. NULL: nothing to write. */
const struct xsf_agent *xsf_agent_line(const struct xsf_metrics *m, const struct xsf_family *f,
				       uint32_t i, struct xsf_text *t);
/* Takes back what was written since `before` when the slot changed hands meanwhile. */
void xsf_agent_check(const struct xsf_metrics *m, uint32_t i, struct xsf_text *t, size_t before);

/* The moment `ns` of the snapshot's clock in milliseconds of Unix time. */
uint64_t xsf_unix_ms(const struct xsf_metrics *m, uint64_t ns);

/* A field of a live table, read once. */
static inline uint64_t xsf_field64(const void *base, uint32_t offset)
{
	return *(const volatile uint64_t *)((const char *)base + offset);
}

static inline uint32_t xsf_field32(const void *base, uint32_t offset)
{
	return *(const volatile uint32_t *)((const char *)base + offset);
}

#endif
