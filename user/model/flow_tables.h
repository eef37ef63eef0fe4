/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables that keys of flows look up (flow_key.h): "group:K:T" finds the group of an address, "map:K:T" what
 * stands for a text. They are PUT as JSON, under a name for each kind:
 *
 *	groups	{"private":["10.0.0.0/8","fd00::/8"],"external":["0.0.0.0/0","::/0"]}
 *		prefixes, or addresses alone; the longest that has the address names the group
 *	map	{"AC1F6B000001":"host1","10.0.0.1":"host1","7":true}
 *		texts, or numbers and booleans, which are taken as they are written
 *
 * Nothing of them is kept anywhere else. Pure. */
#ifndef XSF_MODEL_FLOW_TABLES_H
#define XSF_MODEL_FLOW_TABLES_H

#include <stddef.h>
#include <stdint.h>

#define XSF_FLOW_TABLES 16	     /* of both kinds together */
#define XSF_FLOW_TABLE_BODY 1048576  /* bytes of one in JSON */
#define XSF_FLOW_TABLE_ENTRIES 32768 /* prefixes of one, or pairs */
#define XSF_FLOW_TABLE_WHY 256

enum xsf_flow_table_kind { XSF_FLOW_GROUPS, XSF_FLOW_MAPS };

struct xsf_flow_tables;

/* NULL: no memory. */
struct xsf_flow_tables *xsf_flow_tables_new(void);
void xsf_flow_tables_free(struct xsf_flow_tables *tables);

/* In the place of the one of that name and kind, if there is one; what is refused leaves all as it was. The
 * name is one that xsf_flow_name_ok() takes (flow_set.h). 0; -EINVAL and one line in `why`; -ENOSPC: there
 * are XSF_FLOW_TABLES; -ENOMEM. */
int xsf_flow_tables_put(struct xsf_flow_tables *tables, enum xsf_flow_table_kind kind,
			const char *name, const char *json, size_t len,
			char why[XSF_FLOW_TABLE_WHY]);

/* 0 or -ENOENT. */
int xsf_flow_tables_delete(struct xsf_flow_tables *tables, enum xsf_flow_table_kind kind,
			   const char *name);

uint32_t xsf_flow_tables_count(const struct xsf_flow_tables *tables, enum xsf_flow_table_kind kind);

/* The table as JSON, as it may be PUT again; name NULL: all of a kind, an object by their names. The caller
 * frees it. NULL: there is none of that name (*err -ENOENT), or no memory (-ENOMEM). */
char *xsf_flow_tables_json(const struct xsf_flow_tables *tables, enum xsf_flow_table_kind kind,
			   const char *name, int *err);

/* What table `name` has for it, valid until that table is replaced or deleted. NULL: nothing, or no such
 * table. */
const char *xsf_flow_tables_group(const struct xsf_flow_tables *tables, const char *name,
				  const char *address);
const char *xsf_flow_tables_map(const struct xsf_flow_tables *tables, const char *name,
				const char *key);

#endif
