// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "reference.h"

#include <stdlib.h>
#include <string.h>

void reference_reset(struct reference *r)
{
	struct reference_agent *agents = r->agents;
	struct reference_source *sources = r->sources;
	struct reference_place *places = r->places;
	uint32_t room_agents = r->room_agents, room_sources = r->room_sources;
	uint32_t room_places = r->room_places;
	void (*each)(void *arg, const struct xsf_event *event) = r->each;
	void *arg = r->arg;

	memset(r, 0, sizeof(*r));
	r->each = each;
	r->arg = arg;
	r->places = places;
	r->room_places = room_places;
	r->agents = agents;
	r->sources = sources;
	r->room_agents = room_agents;
	r->room_sources = room_sources;
}

void reference_free(struct reference *r)
{
	if (!r)
		return;
	free(r->agents);
	free(r->sources);
	free(r->places);
	free(r);
}

/* Room for one more element, zeroed. */
static void *grow(void *array, uint32_t nr, uint32_t *room, size_t size)
{
	if (nr == *room) {
		*room = *room ? 2 * *room : 16;
		array = realloc(array, *room * size);
		if (!array)
			abort();
	}
	memset((char *)array + nr * size, 0, size);
	return array;
}

static uint32_t bucket(const struct xsf_agent_key *key, uint32_t class, uint32_t index)
{
	uint32_t h = key->sub_agent + 31 * class + 7919 * index;

	for (int i = 0; i < 16; i++)
		h = h * 33 + key->addr[i];
	return (h ^ h >> 13) % REFERENCE_BUCKETS;
}

uint32_t reference_agent_of(struct reference *r, const struct xsf_agent_key *key)
{
	uint32_t *first = &r->agent_bucket[bucket(key, 0, 0)], i;

	for (i = *first; i; i = r->agents[i - 1].next) {
		if (!memcmp(&r->agents[i - 1].key, key, sizeof(*key)))
			return i - 1;
	}
	r->agents = grow(r->agents, r->nr_agents, &r->room_agents, sizeof(*r->agents));
	r->agents[r->nr_agents].key = *key;
	r->agents[r->nr_agents].next = *first;
	*first = ++r->nr_agents;
	return r->nr_agents - 1;
}

uint32_t reference_source_of(struct reference *r, const struct xsf_agent_key *agent, uint32_t class,
			     uint32_t index)
{
	uint32_t *first = &r->source_bucket[bucket(agent, class, index)], i;
	struct reference_source *s;

	for (i = *first; i; i = s->next) {
		s = &r->sources[i - 1];
		if (s->class == class && s->index == index &&
		    !memcmp(&s->agent, agent, sizeof(*agent)))
			return i - 1;
	}
	r->sources = grow(r->sources, r->nr_sources, &r->room_sources, sizeof(*r->sources));
	s = &r->sources[r->nr_sources];
	s->agent = *agent;
	s->class = class;
	s->index = index;
	s->next = *first;
	*first = ++r->nr_sources;
	return r->nr_sources - 1;
}

uint64_t *reference_place_of(struct reference *r, const struct xsf_agent_key *agent,
			     uint32_t ifindex, uint32_t reason)
{
	uint32_t *first = &r->place_bucket[bucket(agent, reason, ifindex)], i;
	struct reference_place *p;

	for (i = *first; i; i = p->next) {
		p = &r->places[i - 1];
		if (p->ifindex == ifindex && p->reason == reason &&
		    !memcmp(&p->agent, agent, sizeof(*agent)))
			return &p->notified;
	}
	r->places = grow(r->places, r->nr_places, &r->room_places, sizeof(*r->places));
	p = &r->places[r->nr_places];
	p->agent = *agent;
	p->ifindex = ifindex;
	p->reason = reason;
	p->next = *first;
	*first = ++r->nr_places;
	return &p->notified;
}
