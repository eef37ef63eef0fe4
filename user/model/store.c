// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/store.h"

#include <stdlib.h>
#include <string.h>
#include <xsf/state.h>
#include <xsf/store.h>
#include <xsf/ports.h>

/* Open addressing over slot numbers; the keys lie in the slots' values. Twice the slots, so that a probe
 * always ends. */
struct id_table {
	uint32_t *slot;
	uint32_t size; /* a power of two */
};

struct xsf_store {
	struct xsf_config config;
	struct xsf_walk walk;
	struct xsf_totals totals;
	struct xsf_agent *agents;
	struct xsf_source *sources;
	struct xsf_interface *interfaces;
	struct xsf_group *groups;
	struct xsf_hints *hints;
	struct xsf_drop_place *places;
	struct xsf_event_wanted wanted;
	struct xsf_event event;
	void (*on_event)(void *arg, const struct xsf_event *event);
	void *on_event_arg;
	struct xsf_control control[XSF_TABLES];
	struct xsf_op_row ops[XSF_GROUPS * XSF_DIRECTIONS * XSF_CARRIERS];
	struct xsf_tos_row tos[XSF_GROUPS * XSF_DIRECTIONS];
	struct xsf_rdma_row rdma[XSF_GROUPS * XSF_DIRECTIONS];
	struct xsf_timeline_row timeline[XSF_GROUPS * XSF_DIRECTIONS];
	struct xsf_reasons reasons;
	struct xsf_port ports[XSF_PORT_ROWS];
	struct xsf_reason_high high[XSF_REASONS_HIGH];
	uint32_t nr_high;
	struct id_table ids[XSF_TABLES];
	uint64_t last_ns;
};

/* The walk has no argument for it; one thread, one store at a time. */
static struct xsf_store *current;

static __always_inline __u64 xsf_trimmed(void)
{
	return 1ull << NET_DSCP_TRIMMED;
}

static __always_inline const struct xsf_config *xsf_cfg(void)
{
	return &current->config;
}

static __always_inline void *xsf_lookup(enum xsf_map id, __u32 index)
{
	struct xsf_store *s = current;

	switch (id) {
	case XSF_MAP_TOTALS:
		return &s->totals;
	case XSF_MAP_AGENTS:
		return index < XSF_AGENTS ? &s->agents[index] : NULL;
	case XSF_MAP_SOURCES:
		return index < XSF_SOURCES ? &s->sources[index] : NULL;
	case XSF_MAP_INTERFACES:
		return index < XSF_SOURCES ? &s->interfaces[index] : NULL;
	case XSF_MAP_GROUPS:
		return index < XSF_SOURCES ? &s->groups[index] : NULL;
	case XSF_MAP_HINTS:
		return index < XSF_AGENTS ? &s->hints[index] : NULL;
	case XSF_MAP_CONTROL:
		return &s->control[index];
	case XSF_MAP_OPS:
		return index < XSF_GROUPS * XSF_DIRECTIONS * XSF_CARRIERS ? &s->ops[index] : NULL;
	case XSF_MAP_TOS:
		return index < XSF_GROUPS * XSF_DIRECTIONS ? &s->tos[index] : NULL;
	case XSF_MAP_RDMA:
		return index < XSF_GROUPS * XSF_DIRECTIONS ? &s->rdma[index] : NULL;
	case XSF_MAP_REASONS:
		return &s->reasons;
	case XSF_MAP_PORTS:
		return &s->ports[index];
	case XSF_MAP_TIMELINE:
		return index < XSF_GROUPS * XSF_DIRECTIONS ? &s->timeline[index] : NULL;
	case XSF_MAP_PLACES:
		return index < XSF_PLACES ? &s->places[index] : NULL;
	case XSF_MAP_WANTED:
		return &s->wanted;
	case XSF_MAP_EVENT:
		return &s->event;
	}
	return NULL;
}

static const void *slot_key(enum xsf_table table, uint32_t slot, size_t *len)
{
	if (table == XSF_TABLE_AGENTS) {
		*len = sizeof(struct xsf_agent_key);
		return &current->agents[slot].key;
	}
	*len = sizeof(struct xsf_source_key);
	return &current->sources[slot].key;
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint32_t key_hash(const void *key, size_t len)
{
	const uint8_t *p = key;
	uint32_t h = 2166136261u;

	while (len--)
		h = (h ^ *p++) * 16777619u;
	return h ^ h >> 15;
}

/* Where the key is, or the empty place where it would be. */
static uint32_t *id_place(enum xsf_table table, const void *key)
{
	struct id_table *ids = &current->ids[table];
	size_t len;
	uint32_t i;

	slot_key(table, 0, &len);
	for (i = key_hash(key, len);; i++) {
		uint32_t *place = &ids->slot[i & (ids->size - 1)];

		if (!*place || !memcmp(slot_key(table, *place, &len), key, len))
			return place;
	}
}

static __always_inline __u32 xsf_find(enum xsf_table table, const void *key)
{
	return *id_place(table, key);
}

static __always_inline int xsf_insert(enum xsf_table table, const void *key, __u32 slot)
{
	uint32_t *place = id_place(table, key);

	if (*place)
		return -1;
	*place = slot;
	return 0;
}

static __always_inline void xsf_erase(enum xsf_table table, const void *key)
{
	struct id_table *ids = &current->ids[table];
	uint32_t *place = id_place(table, key);
	uint32_t i = (uint32_t)(place - ids->slot);

	if (!*place)
		return;
	*place = 0;
	/* What was pushed past the empty place moves back. */
	for (i = (i + 1) & (ids->size - 1); ids->slot[i]; i = (i + 1) & (ids->size - 1)) {
		uint32_t slot = ids->slot[i];
		size_t len;

		ids->slot[i] = 0;
		*id_place(table, slot_key(table, slot, &len)) = slot;
	}
}

static __always_inline __u64 *xsf_reason_high(const struct xsf_reason_key *key)
{
	struct xsf_store *s = current;
	uint32_t i;

	for (i = 0; i < s->nr_high; i++) {
		if (!memcmp(&s->high[i].key, key, sizeof(*key)))
			return &s->high[i].count;
	}
	if (i == XSF_REASONS_HIGH)
		return NULL;
	s->nr_high++;
	s->high[i].key = *key;
	return &s->high[i].count;
}

#include <xsf/walk.h>

/* There is one reader at most, who takes everything. */
static __always_inline __u32 xsf_event_readers(const struct xsf_walk *w, int samples)
{
	(void)w;
	(void)samples;
	return 1;
}

static __always_inline void xsf_event_send(struct xsf_event *e, int samples, __u32 readers)
{
	(void)samples;
	(void)readers;
	current->on_event(current->on_event_arg, e);
}

void xsf_config_defaults(struct xsf_config *config)
{
	memset(config, 0, sizeof(*config));
	config->stale_ns = 600000000000ull;
	config->ports[0] = SFLOW_PORT;
	config->groups = XSF_GROUPS;
}

static int id_table_init(struct id_table *ids, uint32_t slots)
{
	ids->size = 2 * slots;
	ids->slot = calloc(ids->size, sizeof(*ids->slot));
	return ids->slot ? 0 : -1;
}

struct xsf_store *xsf_store_new(const struct xsf_config *config)
{
	struct xsf_store *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->config = *config;
	s->agents = calloc(XSF_AGENTS, sizeof(*s->agents));
	s->sources = calloc(XSF_SOURCES, sizeof(*s->sources));
	s->interfaces = calloc(XSF_SOURCES, sizeof(*s->interfaces));
	s->groups = calloc(XSF_SOURCES, sizeof(*s->groups));
	s->hints = calloc(XSF_AGENTS, sizeof(*s->hints));
	s->places = calloc(XSF_PLACES, sizeof(*s->places));
	if (!s->agents || !s->sources || !s->interfaces || !s->groups || !s->hints || !s->places ||
	    id_table_init(&s->ids[XSF_TABLE_AGENTS], XSF_AGENTS) ||
	    id_table_init(&s->ids[XSF_TABLE_SOURCES], XSF_SOURCES)) {
		xsf_store_free(s);
		return NULL;
	}
	return s;
}

void xsf_store_free(struct xsf_store *s)
{
	if (!s)
		return;
	free(s->agents);
	free(s->sources);
	free(s->interfaces);
	free(s->groups);
	free(s->hints);
	free(s->places);
	free(s->ids[XSF_TABLE_AGENTS].slot);
	free(s->ids[XSF_TABLE_SOURCES].slot);
	free(s);
}

static int walk(struct xsf_store *s, const struct xsf_outer *o, uint64_t now_ns)
{
	s->walk.now_ns = now_ns;
	s->walk.flags = s->config.flags;
	s->last_ns = now_ns;
	return xsf_walk(&s->walk, &s->totals, o);
}

int xsf_store_frame(struct xsf_store *s, const uint8_t *data, uint32_t caplen, uint32_t len,
		    uint32_t type, uint64_t now_ns)
{
	struct xsf_outer o = { .data = data, .data_end = data + caplen, .frame_len = len };
	struct xsf_totals *t = &s->totals;
	uint32_t outcome;

	current = s;
	s->last_ns = now_ns;
	o.type = type;
	if (!type) {
		if (caplen < NET_ETH_LEN) {
			xsf_outer_count(t, &o, xsf_outer_cut(&o, NET_ETH_LEN));
			return 0;
		}
		o.type = xsf_be16(data + 12);
		o.off = NET_ETH_LEN;
	}
	outcome = xsf_outer_parse(&o, &s->config);
	if (outcome == XSF_FRAME_datagram && !o.bad_length && o.off + o.payload_len > caplen)
		outcome = XSF_FRAME_capture_cut;
	xsf_port_arrived(&o, outcome, 0);
	if (outcome != XSF_FRAME_datagram) {
		xsf_outer_count(t, &o, outcome);
		return 0;
	}
	t->datagrams++;
	if (o.bad_length) {
		t->fault_udp_length++;
		t->datagram_refused++;
		return 0;
	}
	if (o.payload_len > XSF_MAX_PAYLOAD) {
		t->bytes += o.payload_len;
		t->datagram_too_long++;
		return 0;
	}
	memcpy(s->walk.buf, data + o.off, o.payload_len);
	s->walk.len = o.payload_len;
	return walk(s, &o, now_ns);
}

int xsf_store_datagram(struct xsf_store *s, const uint8_t *payload, uint32_t len, uint64_t now_ns)
{
	static const uint8_t nobody[4] = { 192, 0, 2, 0 };
	struct xsf_outer o = { .source_port = SFLOW_PORT };

	if (len > XSF_MAX_PAYLOAD)
		return 0;
	current = s;
	xsf_map_ip4(o.source, nobody);
	memcpy(s->walk.buf, payload, len);
	s->walk.len = len;
	s->totals.datagrams++;
	return walk(s, &o, now_ns);
}

void xsf_store_group(struct xsf_store *s, uint32_t slot, uint8_t group)
{
	if (slot >= XSF_SOURCES)
		return;
	s->groups[slot].generation = s->sources[slot].generation;
	s->groups[slot].group = group;
	s->groups[0].group = 1;
}

void xsf_store_port(const struct xsf_store *s, uint16_t port, struct xsf_port *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (uint32_t n = 0; n < XSF_PORT_ROWS; n++) {
		if (s->ports[n].port != port)
			continue;
		sum->datagrams += s->ports[n].datagrams;
		sum->fragments_first += s->ports[n].fragments_first;
	}
}

void xsf_store_on_event(struct xsf_store *s, void (*each)(void *arg, const struct xsf_event *event),
			void *arg)
{
	s->on_event = each;
	s->on_event_arg = arg;
	s->wanted.drops[0] = s->wanted.samples[0] = each != NULL;
}

static uint32_t slots_used(const struct xsf_control *c, uint32_t max)
{
	return c->next + 1 < max ? (uint32_t)c->next + 1 : max;
}

void xsf_store_snapshot(const struct xsf_store *s, struct xsf_snapshot *out)
{
	memset(out, 0, sizeof(*out));
	out->now_ns = s->last_ns;
	out->totals = s->totals;
	out->agents = s->agents;
	out->nr_agents = slots_used(&s->control[XSF_TABLE_AGENTS], XSF_AGENTS);
	out->sources = s->sources;
	out->interfaces = s->interfaces;
	out->groups = s->groups;
	out->nr_sources = slots_used(&s->control[XSF_TABLE_SOURCES], XSF_SOURCES);
	out->nr_groups = XSF_GROUPS;
	out->ops = s->ops;
	out->tos = s->tos;
	out->rdma = s->rdma;
	out->timeline = s->timeline;
	out->places = s->places;
	out->nr_places = XSF_PLACES;
	out->reasons = s->reasons;
	memcpy(out->high, s->high, sizeof(out->high));
	out->nr_high = s->nr_high;
}
