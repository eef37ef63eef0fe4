// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/flow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xsf/sflow.h>

#include "model/binding.h"
#include "model/flow_filter.h"
#include "model/flow_rows.h"
#include "model/flow_state.h"
#include "model/number.h"
#include "model/random.h"

#define NONE UINT32_MAX

/* A bucket's chain is read so far; agents do not know the seed, so longer ones do not come by design. */
#define CHAIN_MAX 64
/* Records looked at for the one that gives its place to a newcomer. */
#define VICTIMS 8
/* Records looked at for silent ones with each event. */
#define SWEEP 2

static const char *const value_names[] = { "", "avg", "min", "max" };

/* ---- definitions ---- */

static int parse_value(struct xsf_flow *f, const char *text, struct xsf_flow_error *error)
{
	const char *colon = strchr(text, ':');
	size_t at = 0, begin;
	int err;

	strcpy(error->what, "value");
	if (!*text)
		return xsf_flow_refuse(error, 0, "a value is missing");
	if (strlen(text) > XSF_FLOW_KEY_TEXT)
		return xsf_flow_refuse(error, XSF_FLOW_KEY_TEXT, "longer than %d bytes",
				       XSF_FLOW_KEY_TEXT);
	for (int i = XSF_VALUE_AVERAGE; i <= XSF_VALUE_MAX && colon; i++) {
		size_t len = strlen(value_names[i]);

		if ((size_t)(colon - text) != len || memcmp(text, value_names[i], len))
			continue;
		f->value = (enum xsf_flow_value)i;
		at = len + 1;
	}
	f->value_is = XSF_FIELD_NUMBER;
	if (!strcmp(text + at, "frames"))
		f->value_is = XSF_FIELD_FRAMES;
	else if (!strcmp(text + at, "bytes"))
		f->value_is = XSF_FIELD_BYTES;
	if (f->value_is != XSF_FIELD_NUMBER)
		return 0;
	begin = at;
	err = xsf_flow_key_parse(text, strlen(text), &at, ",", &f->number, error);
	if (!err && text[at])
		err = xsf_flow_refuse(error, at, "one value only");
	if (!err && !xsf_flow_key_is_number(f->number))
		err = xsf_flow_refuse(error, begin, "not a number");
	return err;
}

static int parse_keys(struct xsf_flow *f, const char *text, struct xsf_flow_error *error)
{
	size_t len = strlen(text), at = 0, begin;
	int err;

	strcpy(error->what, "key");
	if (len > XSF_FLOW_KEYS * XSF_FLOW_KEY_TEXT)
		return xsf_flow_refuse(error, XSF_FLOW_KEYS * XSF_FLOW_KEY_TEXT,
				       "longer than %d bytes", XSF_FLOW_KEYS * XSF_FLOW_KEY_TEXT);
	while (len) {
		if (f->nr_keys == XSF_FLOW_KEYS)
			return xsf_flow_refuse(error, at, "more than %d keys", XSF_FLOW_KEYS);
		begin = at;
		err = xsf_flow_key_parse(text, len, &at, ",", &f->keys[f->nr_keys], error);
		if (err)
			return err;
		f->texts[f->nr_keys] = strndup(text + begin, at - begin);
		if (!f->texts[f->nr_keys++])
			return -ENOMEM;
		if (at == len)
			break;
		at++;
	}
	return 0;
}

static int parse_filter(struct xsf_flow *f, const char *text, struct xsf_flow_error *error)
{
	strcpy(error->what, "filter");
	return xsf_flow_filter_parse(text ? text : "", &f->filter, error);
}

int xsf_flow_new(const struct xsf_flow_options *options, struct xsf_flow **flow,
		 struct xsf_flow_error *error)
{
	struct xsf_flow *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	*flow = NULL;
	memset(error, 0, sizeof(*error));
	if (!f)
		return err;
	f->t_ns = options->t * 1e9;
	f->dropped = options->dropped;
	f->seed = options->seed;
	f->free = NONE;
	for (uint32_t i = 0; i < XSF_FLOW_BUCKETS; i++)
		f->buckets[i] = NONE;
	strcpy(error->what, "t");
	if (!(options->t >= 0.1 && options->t <= 600))
		err = xsf_flow_refuse(error, 0, "not a number of seconds from 0.1 to 600");
	else
		err = parse_keys(f, options->keys, error);
	if (!err)
		err = parse_value(f, options->value, error);
	if (!err)
		err = parse_filter(f, options->filter, error);
	if (err) {
		xsf_flow_free(f);
		return err;
	}
	*flow = f;
	return 0;
}

void xsf_flow_free(struct xsf_flow *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->nr_records; i++)
		free(f->records[i].keys);
	for (uint32_t i = 0; i < f->nr_keys; i++) {
		xsf_flow_key_free(f->keys[i]);
		free(f->texts[i]);
	}
	xsf_flow_key_free(f->number);
	xsf_flow_filter_free(f->filter);
	free(f->records);
	xsf_flow_rows_free(f);
	free(f);
}

uint32_t xsf_flow_nr_keys(const struct xsf_flow *f)
{
	return f->nr_keys;
}

const char *xsf_flow_key(const struct xsf_flow *f, uint32_t i)
{
	return f->texts[i];
}

/* ---- records ---- */

static uint64_t hash_bytes(uint64_t seed, const void *data, size_t len)
{
	const char *p = data;
	uint64_t h = seed ^ len, word;

	for (; len; p += 8) {
		size_t n = XSF_MIN(len, 8);

		word = 0;
		memcpy(&word, p, n);
		h = xsf_random_mix(h + word * 0x9e3779b97f4a7c15);
		len -= n;
	}
	return h;
}

double xsf_flow_decay(const struct xsf_flow *f, const struct xsf_flow_record *r, uint64_t now_ns)
{
	return now_ns > r->last_ns ? exp(-(double)(now_ns - r->last_ns) / f->t_ns) : 1;
}

int xsf_flow_silent(const struct xsf_flow *f, const struct xsf_flow_record *r, uint64_t now_ns)
{
	return now_ns > r->last_ns && (double)(now_ns - r->last_ns) > XSF_FLOW_SILENT_T * f->t_ns;
}

/* Takes the record out; its place is the first free one. */
static void forget(struct xsf_flow *f, uint32_t i)
{
	struct xsf_flow_record *r = &f->records[i];
	uint32_t *link = &f->buckets[r->hash % XSF_FLOW_BUCKETS];

	while (*link != i)
		link = &f->records[*link].next;
	*link = r->next;
	f->key_bytes -= r->keys_len;
	free(r->keys);
	r->keys = NULL;
	r->next = f->free;
	f->free = i;
	f->nr_live--;
}

static void sweep(struct xsf_flow *f, uint64_t now_ns, uint32_t nr)
{
	while (nr-- && f->nr_records) {
		uint32_t i = f->hand++ % f->nr_records;

		if (f->records[i].keys && xsf_flow_silent(f, &f->records[i], now_ns))
			forget(f, i);
	}
}

/* The record that shows least of the next few. */
static void make_room(struct xsf_flow *f, uint64_t now_ns)
{
	uint32_t least = NONE;
	double value = 0;

	for (uint32_t n = 0; n < VICTIMS || least == NONE; n++) {
		uint32_t i = f->hand++ % f->nr_records;
		const struct xsf_flow_record *r = &f->records[i];
		double v;

		if (!r->keys)
			continue;
		v = xsf_flow_decay(f, r, now_ns) *
		    (r->sums[0].weight + r->sums[1].weight + r->sums[2].weight);
		if (least == NONE || v < value) {
			least = i;
			value = v;
		}
	}
	if (!xsf_flow_silent(f, &f->records[least], now_ns))
		f->full++;
	forget(f, least);
}

/* A free place; NONE: no memory. */
static uint32_t take_place(struct xsf_flow *f, uint32_t keys_len, uint64_t now_ns)
{
	struct xsf_flow_record *more;
	uint32_t room;

	while (f->nr_live &&
	       (f->nr_live == XSF_FLOW_RECORDS || f->key_bytes + keys_len > XSF_FLOW_BYTES))
		make_room(f, now_ns);
	if (f->free != NONE) {
		uint32_t i = f->free;

		f->free = f->records[i].next;
		return i;
	}
	if (f->nr_records == f->room) {
		room = f->room ? 2 * f->room : 64;
		more = realloc(f->records, room * sizeof(*more));
		if (!more)
			return NONE;
		f->records = more;
		f->room = room;
	}
	return f->nr_records++;
}

static int is_record(const struct xsf_flow_record *r, const struct xsf_flow_at *at, uint64_t hash,
		     const char *keys, uint32_t len)
{
	return r->hash == hash && r->keys_len == len && !memcmp(&r->at, at, sizeof(*at)) &&
	       !memcmp(r->keys, keys, len);
}

static struct xsf_flow_record *new_record(struct xsf_flow *f, const struct xsf_flow_at *at,
					  uint64_t hash, const char *keys, uint32_t len,
					  uint64_t now_ns)
{
	uint32_t *bucket = &f->buckets[hash % XSF_FLOW_BUCKETS];
	struct xsf_flow_record *r;
	char *copy = malloc(len ? len : 1);
	uint32_t i = copy ? take_place(f, len, now_ns) : NONE;

	if (i == NONE) {
		free(copy);
		return NULL;
	}
	r = &f->records[i];
	memset(r, 0, sizeof(*r));
	memcpy(copy, keys, len);
	r->keys = copy;
	r->keys_len = len;
	r->hash = hash;
	r->at = *at;
	r->last_ns = now_ns;
	r->next = *bucket;
	*bucket = i;
	f->key_bytes += len;
	f->nr_live++;
	return r;
}

static struct xsf_flow_record *get_record(struct xsf_flow *f, const struct xsf_flow_at *at,
					  const char *keys, uint32_t len, uint64_t now_ns)
{
	uint64_t hash = hash_bytes(hash_bytes(f->seed, at, sizeof(*at)), keys, len);
	uint32_t i, steps = 0;

	for (i = f->buckets[hash % XSF_FLOW_BUCKETS]; i != NONE && steps < CHAIN_MAX; steps++) {
		if (is_record(&f->records[i], at, hash, keys, len))
			return &f->records[i];
		i = f->records[i].next;
	}
	return steps < CHAIN_MAX ? new_record(f, at, hash, keys, len, now_ns) : NULL;
}

/* ---- events ---- */

/* The keys' texts, each terminated, one behind the other; their length, or 0: one is null. No keys: "". */
static uint32_t read_keys(const struct xsf_flow *f, const struct xsf_flow_event *e, char *keys)
{
	struct xsf_flow_text text;
	uint32_t len = 0;

	for (uint32_t i = 0; i < f->nr_keys; i++) {
		xsf_flow_key_text(f->keys[i], e, &text);
		if (text.null)
			return 0;
		memcpy(keys + len, text.at, text.len + 1);
		len += text.len + 1;
	}
	if (!len)
		keys[len++] = '\0';
	return len;
}

/* The value of one packet. 0; or -1: the event has none. */
static int read_value(const struct xsf_flow *f, const struct xsf_flow_event *e, double *value)
{
	struct xsf_flow_text text;

	switch (f->value_is) {
	case XSF_FIELD_FRAMES:
		*value = 1;
		return 0;
	case XSF_FIELD_BYTES:
		*value = e->event->frame_len;
		return e->event->flags & XSF_EVENT_HAS_HEADER ? 0 : -1;
	default:
		xsf_flow_key_text(f->number, e, &text);
		return text.null || xsf_number(text.at, value) ? -1 : 0;
	}
}

static void count(struct xsf_flow *f, struct xsf_flow_record *r, const struct xsf_event *e,
		  double value, uint64_t now_ns)
{
	enum xsf_direction direction = f->dropped ? XSF_INGRESS : xsf_flow_direction(e);
	double decay = xsf_flow_decay(f, r, now_ns), weight = xsf_flow_weight(e) / (f->t_ns / 1e9);
	uint64_t window = (uint64_t)((double)now_ns / f->t_ns);

	for (int d = 0; d < XSF_DIRECTIONS; d++) {
		r->sums[d].value *= decay;
		r->sums[d].weight *= decay;
	}
	r->sums[direction].value += weight * value;
	r->sums[direction].weight += weight;
	if (now_ns > r->last_ns)
		r->last_ns = now_ns;
	/* Extremes of this window of t and of the one before. */
	if (!r->range[0].any || window != r->window) {
		r->range[1] = window == r->window + 1 ? r->range[0] : (struct xsf_flow_range){ 0 };
		r->range[0] = (struct xsf_flow_range){ .any = 1, .min = value, .max = value };
		r->window = window;
	}
	r->range[0].min = fmin(r->range[0].min, value);
	r->range[0].max = fmax(r->range[0].max, value);
}

static void where(struct xsf_flow_at *at, const struct xsf_flow_names *names,
		  const struct xsf_event *event)
{
	at->agent = event->agent;
	at->class = event->class;
	at->index = event->index;
	at->role = names->role ? names->role(names->arg, event) : XSF_ROLE_NONE;
	at->in_topology = names->in_topology && names->in_topology(names->arg, event);
}

void xsf_flow_add(struct xsf_flow *f, const struct xsf_flow_names *names,
		  const struct xsf_event *event, uint64_t now_ns)
{
	char keys[XSF_FLOW_KEYS * (XSF_FLOW_VALUE_TEXT + 1)];
	struct xsf_flow_event e;
	struct xsf_flow_record *r;
	struct xsf_flow_at at;
	double value;
	uint32_t len;

	if (f->dropped == !!(event->flags & XSF_EVENT_FLOW))
		return;
	f->events++;
	sweep(f, now_ns, SWEEP);
	xsf_flow_event(&e, event, names);
	if (!xsf_flow_filter_holds(f->filter, &e))
		return;
	len = read_keys(f, &e, keys);
	if (!len || read_value(f, &e, &value))
		return;
	where(&at, e.names, event);
	r = get_record(f, &at, keys, len, now_ns);
	if (!r) {
		f->full++;
		return;
	}
	f->counted++;
	if (at.role == XSF_ROLE_EDGE && xsf_flow_direction(event) == XSF_INGRESS)
		f->edge_ingress_ns = now_ns;
	count(f, r, event, value, now_ns);
}

void xsf_flow_count(const struct xsf_flow *f, struct xsf_flow_counts *counts)
{
	*counts = (struct xsf_flow_counts){
		.events = f->events, .counted = f->counted, .full = f->full, .records = f->nr_live
	};
}
