// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/flow_tables.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/line.h"
#include "model/prefix.h"

#define LENGTHS 129 /* of prefixes, 0 to 128 */

/* Texts are the document's. Groups by length, the longest first, then by address; maps by key. */
struct entry {
	struct xsf_prefix_key prefix;
	const char *key;
	const char *value;
};

struct table {
	char *name;
	enum xsf_flow_table_kind kind;
	json_t *json;
	struct entry *at;
	uint32_t nr;
	/* Prefixes of length n lie in at[end[n + 1]] to at[end[n] - 1]. */
	uint32_t end[LENGTHS + 1];
};

struct xsf_flow_tables {
	struct table *at[XSF_FLOW_TABLES];
	uint32_t nr;
};

static int refuse(char why[XSF_FLOW_TABLE_WHY], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int refuse(char why[XSF_FLOW_TABLE_WHY], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	xsf_line(why, XSF_FLOW_TABLE_WHY, format, args);
	va_end(args);
	return -EINVAL;
}

/* ---- reading ---- */

static void table_free(struct table *t)
{
	if (!t)
		return;
	json_decref(t->json);
	free(t->name);
	free(t->at);
	free(t);
}

static int by_prefix(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->prefix.prefixlen != b->prefix.prefixlen)
		return a->prefix.prefixlen < b->prefix.prefixlen ? 1 : -1;
	return memcmp(a->prefix.addr, b->prefix.addr, sizeof(a->prefix.addr));
}

static int by_key(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	return strcmp(a->key, b->key);
}

/* Where `nr` more entries have room; NULL with *err and, if they are too many, the reason. */
static struct entry *room_for(struct table *t, size_t nr, int *err, char why[XSF_FLOW_TABLE_WHY])
{
	struct entry *at;

	if (nr > XSF_FLOW_TABLE_ENTRIES - t->nr) {
		*err = refuse(why, "more than %d entries", XSF_FLOW_TABLE_ENTRIES);
		return NULL;
	}
	at = realloc(t->at, (t->nr + nr + 1) * sizeof(*at));
	if (!at) {
		*err = -ENOMEM;
		return NULL;
	}
	t->at = at;
	return at + t->nr;
}

static int read_group(struct table *t, const char *group, const json_t *prefixes,
		      char why[XSF_FLOW_TABLE_WHY])
{
	struct entry *e;
	json_t *prefix;
	size_t i;
	int err;

	if (!json_is_array(prefixes))
		return refuse(why, "'%.64s' is no list of prefixes", group);
	e = room_for(t, json_array_size(prefixes), &err, why);
	if (!e)
		return err;
	json_array_foreach(prefixes, i, prefix)
	{
		const char *text = json_string_value(prefix);

		if (!text || xsf_prefix_parse(text, &e->prefix))
			return refuse(why,
				      "'%.64s': '%.64s', number %zu, is no prefix such as "
				      "10.0.0.0/8 or 2001:db8::/32",
				      group, text ? text : "?", i + 1);
		e->key = text;
		e->value = group;
		e++;
		t->nr++;
	}
	return 0;
}

static int read_groups(struct table *t, char why[XSF_FLOW_TABLE_WHY])
{
	const char *group;
	json_t *prefixes;
	int err = 0;

	json_object_foreach(t->json, group, prefixes)
	{
		err = read_group(t, group, prefixes, why);
		if (err)
			return err;
	}
	if (!t->at)
		return 0;
	qsort(t->at, t->nr, sizeof(*t->at), by_prefix);
	for (uint32_t i = 1; i < t->nr; i++) {
		if (!by_prefix(&t->at[i - 1], &t->at[i]))
			return refuse(why, "'%.64s' is there twice, in '%.64s' and '%.64s'",
				      t->at[i].key, t->at[i - 1].value, t->at[i].value);
	}
	for (uint32_t i = 0; i < t->nr; i++)
		t->end[t->at[i].prefix.prefixlen] = i + 1;
	/* Where there are none of a length, those of the next longer one end. */
	for (uint32_t n = LENGTHS; n--;)
		t->end[n] = t->end[n] ? t->end[n] : t->end[n + 1];
	return 0;
}

/* As text, which takes the place of the number or boolean. */
static int as_text(json_t *object, const char *key, const json_t *value)
{
	char text[64];
	json_t *string;

	if (json_is_boolean(value))
		snprintf(text, sizeof(text), "%s", json_is_true(value) ? "true" : "false");
	else if (json_is_integer(value))
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		snprintf(text, sizeof(text), "%.15g", json_real_value(value));
	string = json_string(text);
	return json_object_set_new(object, key, string) ? -ENOMEM : 0;
}

static int read_map(struct table *t, char why[XSF_FLOW_TABLE_WHY])
{
	const char *key;
	json_t *value;
	int err;
	struct entry *e = room_for(t, json_object_size(t->json), &err, why);

	if (!e)
		return err;
	json_object_foreach(t->json, key, value)
	{
		if (!json_is_string(value) && !json_is_number(value) && !json_is_boolean(value))
			return refuse(why, "'%.64s' is neither text nor number nor boolean", key);
		if (!json_is_string(value) && as_text(t->json, key, value))
			return -ENOMEM;
		value = json_object_get(t->json, key);
		*e++ = (struct entry){ .key = key, .value = json_string_value(value) };
		t->nr++;
	}
	qsort(t->at, t->nr, sizeof(*t->at), by_key);
	return 0;
}

static int table_read(struct table *t, const char *json, size_t len, char why[XSF_FLOW_TABLE_WHY])
{
	json_error_t error;

	t->json = json_loadb(json, len, JSON_REJECT_DUPLICATES, &error);
	if (!t->json)
		return refuse(why, "line %d, column %d: %.160s", error.line, error.column,
			      error.text);
	if (!json_is_object(t->json))
		return refuse(why, "the document is no object");
	return t->kind == XSF_FLOW_GROUPS ? read_groups(t, why) : read_map(t, why);
}

/* ---- those in force ---- */

/* Which one; tables->nr: none. */
static uint32_t find(const struct xsf_flow_tables *tables, enum xsf_flow_table_kind kind,
		     const char *name)
{
	uint32_t i;

	for (i = 0; i < tables->nr; i++) {
		if (tables->at[i]->kind == kind && !strcmp(tables->at[i]->name, name))
			break;
	}
	return i;
}

struct xsf_flow_tables *xsf_flow_tables_new(void)
{
	return calloc(1, sizeof(struct xsf_flow_tables));
}

void xsf_flow_tables_free(struct xsf_flow_tables *tables)
{
	if (!tables)
		return;
	for (uint32_t i = 0; i < tables->nr; i++)
		table_free(tables->at[i]);
	free(tables);
}

int xsf_flow_tables_put(struct xsf_flow_tables *tables, enum xsf_flow_table_kind kind,
			const char *name, const char *json, size_t len,
			char why[XSF_FLOW_TABLE_WHY])
{
	uint32_t i = find(tables, kind, name);
	struct table *t;
	int err;

	if (i == XSF_FLOW_TABLES)
		return -ENOSPC;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->kind = kind;
	t->name = strdup(name);
	err = t->name ? table_read(t, json, len, why) : -ENOMEM;
	if (err) {
		table_free(t);
		return err;
	}
	if (i == tables->nr)
		tables->nr++;
	else
		table_free(tables->at[i]);
	tables->at[i] = t;
	return 0;
}

int xsf_flow_tables_delete(struct xsf_flow_tables *tables, enum xsf_flow_table_kind kind,
			   const char *name)
{
	uint32_t i = find(tables, kind, name);

	if (i == tables->nr)
		return -ENOENT;
	table_free(tables->at[i]);
	tables->at[i] = tables->at[--tables->nr];
	return 0;
}

uint32_t xsf_flow_tables_count(const struct xsf_flow_tables *tables, enum xsf_flow_table_kind kind)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < tables->nr; i++)
		nr += tables->at[i]->kind == kind;
	return nr;
}

char *xsf_flow_tables_json(const struct xsf_flow_tables *tables, enum xsf_flow_table_kind kind,
			   const char *name, int *err)
{
	json_t *all;
	char *text;

	*err = -ENOMEM;
	if (name) {
		uint32_t i = find(tables, kind, name);

		if (i < tables->nr)
			return json_dumps(tables->at[i]->json, JSON_COMPACT);
		*err = -ENOENT;
		return NULL;
	}
	all = json_object();
	for (uint32_t i = 0; all && i < tables->nr; i++) {
		const struct table *t = tables->at[i];

		if (t->kind == kind && json_object_set(all, t->name, t->json)) {
			json_decref(all);
			all = NULL;
		}
	}
	text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	return text;
}

/* ---- looking up ---- */

static void cut(uint8_t addr[16], uint32_t bits)
{
	if (bits < 128)
		addr[bits / 8] &= (uint8_t) ~(0xff >> bits % 8);
	for (uint32_t i = bits / 8 + 1; i < 16; i++)
		addr[i] = 0;
}

const char *xsf_flow_tables_group(const struct xsf_flow_tables *tables, const char *name,
				  const char *address)
{
	uint32_t i = find(tables, XSF_FLOW_GROUPS, name), shortest = strchr(address, ':') ? 0 : 96;
	struct entry wanted;
	const struct table *t;

	if (i == tables->nr)
		return NULL;
	t = tables->at[i];
	if (xsf_address_parse(address, strlen(address), wanted.prefix.addr))
		return NULL;
	/* From the longest on, so what is cut off needs not come back. */
	for (uint32_t n = LENGTHS; n-- > shortest;) {
		const struct entry *found;

		if (t->end[n] == t->end[n + 1])
			continue;
		cut(wanted.prefix.addr, n);
		wanted.prefix.prefixlen = n;
		found = bsearch(&wanted, t->at + t->end[n + 1], t->end[n] - t->end[n + 1],
				sizeof(wanted), by_prefix);
		if (found)
			return found->value;
	}
	return NULL;
}

const char *xsf_flow_tables_map(const struct xsf_flow_tables *tables, const char *name,
				const char *key)
{
	uint32_t i = find(tables, XSF_FLOW_MAPS, name);
	const struct entry wanted = { .key = key }, *found;

	if (i == tables->nr)
		return NULL;
	found = tables->at[i]->nr ? bsearch(&wanted, tables->at[i]->at, tables->at[i]->nr,
					    sizeof(wanted), by_key) :
				    NULL;
	return found ? found->value : NULL;
}
