// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Agents and the collector itself, by sFlow-RT's names. */
#include <stdlib.h>

#include "model/fields.h"
#include "serve/compat.h"
#include "serve/json_write.h"
#include "serve/text.h"

/* Bytes of an agent's object, and of one of its UDP sources; sources that are listed. */
#define AGENT 1536
#define SOURCE 64
#define SOURCES 16

#define DOCUMENT 4096

/* ---- agents ---- */

/* What data sources tell of their agent, by the agent's slot. */
struct of_sources {
	uint64_t drops; /* samples that the agent itself lost */
	uint32_t flow_sources;
	uint32_t counter_sources;
	uint64_t flow_lost, flow_reordered, flow_duplicate;
	uint64_t counter_lost, counter_reordered, counter_duplicate;
};

static int compare_slots(const void *a, const void *b, void *arg)
{
	const struct xsf_snapshot *s = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = memcmp(s->agents[x].key.addr, s->agents[y].key.addr, 16);

	return order ? order : (x > y) - (x < y);
}

static void sum_sources(const struct xsf_snapshot *s, struct of_sources *of)
{
	for (uint32_t slot = 1; slot < s->nr_sources; slot++) {
		const struct xsf_source *source = &s->sources[slot];
		const struct xsf_interface *i;
		const struct xsf_agent *agent;
		struct of_sources *o;

		if (!xsf_snapshot_source_shown(s, slot, &agent))
			continue;
		o = &of[source->key.agent];
		o->drops += source->drops;
		o->flow_sources += source->flow_sequence != 0;
		o->counter_sources += source->counter_sequence != 0;
		i = xsf_snapshot_interface(s, slot);
		if (!i)
			continue;
		o->flow_lost += i->flow_lost;
		o->flow_duplicate += i->flow_duplicate;
		o->flow_reordered += i->flow_reordered;
		o->counter_lost += i->counter_lost;
		o->counter_duplicate += i->counter_duplicate;
		o->counter_reordered += i->counter_reordered;
	}
}

/* The sub-agents of one address, in slots[0..nr). */
static void one_agent(struct xsf_writer *w, const struct xsf_snapshot *s,
		      const struct of_sources *of, const uint32_t *slots, uint32_t nr)
{
	uint64_t first = UINT64_MAX, last = 0, lost = 0, uptime = 0;
	struct xsf_agent_counts sum = { 0 };
	struct of_sources o = { 0 };

	xsf_json_next(w);
	xsf_text_char(w->t, '"');
	xsf_text_address(w->t, s->agents[slots[0]].key.addr);
	XSF_TEXT_LIT(w->t, "\":");
	xsf_json_open_at(w, NULL, '{');
	xsf_json_open_at(w, "sFlowDatagramSource", '[');
	for (uint32_t n = 0; n < nr; n++) {
		const struct xsf_agent *a = &s->agents[slots[n]];
		const struct of_sources *one = &of[slots[n]];
		struct xsf_agent_counts c;
		uint32_t before = 0;

		xsf_agent_sum(a, &c);
		for (uint32_t i = 0; i < sizeof(c) / sizeof(__u64); i++)
			((__u64 *)&sum)[i] += ((const __u64 *)&c)[i];
		lost += xsf_agent_pending(a);
		first = XSF_MIN(first, (uint64_t)a->first_seen_ns);
		last = last > a->last_seen_ns ? last : a->last_seen_ns;
		uptime = uptime > a->uptime_ms ? uptime : a->uptime_ms;
		o.drops += one->drops;
		o.flow_sources += one->flow_sources;
		o.counter_sources += one->counter_sources;
		o.flow_lost += one->flow_lost;
		o.flow_duplicate += one->flow_duplicate;
		o.flow_reordered += one->flow_reordered;
		o.counter_lost += one->counter_lost;
		o.counter_duplicate += one->counter_duplicate;
		o.counter_reordered += one->counter_reordered;
		while (before < n && memcmp(s->agents[slots[before]].source, a->source, 16) != 0)
			before++;
		if (before < n || n >= SOURCES)
			continue;
		xsf_json_next(w);
		xsf_text_char(w->t, '"');
		xsf_text_address(w->t, a->source);
		xsf_text_char(w->t, '"');
		w->comma = 1;
	}
	xsf_json_shut(w, ']');
	xsf_json_u64(w, "sFlowDatagramsReceived", sum.datagrams);
	xsf_json_u64(w, "sFlowDatagramsLost", sum.lost + lost);
	xsf_json_u64(w, "sFlowDatagramsOutOfOrder", sum.reordered);
	xsf_json_u64(w, "sFlowDatagramsDuplicates", sum.duplicate);
	xsf_json_u64(w, "sFlowFlowSamples", sum.flow_samples);
	xsf_json_u64(w, "sFlowFlowDrops", o.drops);
	xsf_json_u64(w, "sFlowFlowLostSamples", o.flow_lost);
	xsf_json_u64(w, "sFlowFlowOutOfOrderSamples", o.flow_reordered);
	xsf_json_u64(w, "sFlowFlowDuplicateSamples", o.flow_duplicate);
	xsf_json_u64(w, "sFlowFlowDatasources", o.flow_sources);
	xsf_json_u64(w, "sFlowCounterSamples", sum.counter_samples);
	xsf_json_u64(w, "sFlowCounterLostSamples", o.counter_lost);
	xsf_json_u64(w, "sFlowCounterOutOfOrderSamples", o.counter_reordered);
	xsf_json_u64(w, "sFlowCounterDuplicateSamples", o.counter_duplicate);
	xsf_json_u64(w, "sFlowCounterDatasources", o.counter_sources);
	xsf_json_u64(w, "firstSeen", s->now_ns > first ? (s->now_ns - first) / 1000000 : 0);
	xsf_json_u64(w, "lastSeen", s->now_ns > last ? (s->now_ns - last) / 1000000 : 0);
	xsf_json_u64(w, "uptime", uptime);
	xsf_json_shut(w, '}');
}

char *xsf_compat_agents_json(const struct xsf_snapshot *s, size_t *len)
{
	struct of_sources *of = calloc((size_t)s->nr_agents + 1, sizeof(*of));
	uint32_t *slots = calloc((size_t)s->nr_agents + 1, sizeof(*slots));
	uint32_t nr = 0, of_address;
	struct xsf_text t = { 0 };
	struct xsf_writer w = { .t = &t };
	char *out = NULL;

	for (uint32_t slot = 1; of && slots && slot < s->nr_agents; slot++) {
		if (xsf_snapshot_agent_shown(s, slot))
			slots[nr++] = slot;
	}
	t.max = 64 + (size_t)nr * (AGENT + SOURCE);
	t.buf = malloc(t.max);
	if (!of || !slots || !t.buf) {
		free(t.buf);
		goto out;
	}
	sum_sources(s, of);
	qsort_r(slots, nr, sizeof(*slots), compare_slots, (void *)(uintptr_t)s);
	xsf_json_open_at(&w, NULL, '{');
	for (uint32_t at = 0; at < nr; at += of_address) {
		of_address = 1;
		while (at + of_address < nr &&
		       !memcmp(s->agents[slots[at]].key.addr,
			       s->agents[slots[at + of_address]].key.addr, 16))
			of_address++;
		one_agent(&w, s, of, slots + at, of_address);
	}
	xsf_json_shut(&w, '}');
	out = xsf_text_take(&t, len);
out:
	free(of);
	free(slots);
	return out;
}

/* ---- the collector ---- */

/* Addresses, as /agents/json has them. */
static uint32_t nr_agents(const struct xsf_snapshot *s)
{
	uint32_t *slots = calloc((size_t)s->nr_agents + 1, sizeof(*slots)), nr = 0, of_address = 0;

	for (uint32_t slot = 1; slots && slot < s->nr_agents; slot++) {
		if (xsf_snapshot_agent_shown(s, slot))
			slots[nr++] = slot;
	}
	if (slots)
		qsort_r(slots, nr, sizeof(*slots), compare_slots, (void *)(uintptr_t)s);
	for (uint32_t i = 0; i < nr; i++)
		of_address += !i || memcmp(s->agents[slots[i - 1]].key.addr,
					   s->agents[slots[i]].key.addr, 16) != 0;
	free(slots);
	return of_address;
}

/* Datagrams of which nothing counted. */
static uint64_t discarded(const struct xsf_totals *t)
{
	return t->datagram_refused + t->datagram_too_long + t->datagram_denied +
	       t->datagram_unreadable;
}

static void line(struct xsf_text *t, const char *name, double value)
{
	XSF_TEXT_LIT(t, "sflow_analyzer_");
	xsf_text_str(t, name);
	xsf_text_char(t, ' ');
	xsf_text_double(t, value);
	xsf_text_char(t, '\n');
}

char *xsf_compat_analyzer_text(const struct xsf_snapshot *s, const struct xsf_compat_self *self,
			       size_t *len)
{
	struct xsf_text t = { .max = DOCUMENT };

	t.buf = malloc(t.max);
	if (!t.buf)
		return NULL;
	line(&t, "agent_count", nr_agents(s));
	line(&t, "received_bytes", (double)s->totals.bytes);
	line(&t, "received_datagrams", (double)s->totals.datagrams);
	line(&t, "discarded_datagrams", (double)discarded(&s->totals));
	line(&t, "heap_used_bytes", (double)self->heap_used);
	line(&t, "cpu_load_process", self->cpu_process);
	return xsf_text_take(&t, len);
}

static void json_number(struct xsf_writer *w, const char *key, double value)
{
	xsf_json_key(w, key);
	xsf_text_double(w->t, value);
	w->comma = 1;
}

char *xsf_compat_analyzer_json(const struct xsf_snapshot *s, const struct xsf_compat_self *self,
			       size_t *len)
{
	struct xsf_text t = { .max = DOCUMENT };
	struct xsf_writer w = { .t = &t };

	t.buf = malloc(t.max);
	if (!t.buf)
		return NULL;
	xsf_json_open_at(&w, NULL, '{');
	xsf_json_u64(&w, "sFlowAgents", nr_agents(s));
	xsf_json_u64(&w, "sFlowBytesReceived", s->totals.bytes);
	xsf_json_u64(&w, "sFlowDatagramsReceived", s->totals.datagrams);
	xsf_json_u64(&w, "sFlowDatagramsDiscarded", discarded(&s->totals));
	xsf_json_u64(&w, "sFlowParseErrors",
		     xsf_total_sum(s, XSF_LIST_FAULTS) - s->totals.fault_bad_version);
	xsf_json_u64(&w, "sFlowUnsupportedVersion", s->totals.fault_bad_version);
	json_number(&w, "cpuLoadProcess", self->cpu_process);
	json_number(&w, "cpuLoadSystem", self->cpu_system);
	xsf_json_u64(&w, "heapUsed", self->heap_used);
	xsf_json_u64(&w, "heapMax", self->heap_max);
	xsf_json_u64(&w, "httpConnectionsCurrent", self->http_open);
	xsf_json_u64(&w, "httpConnectionsTotal", self->http_total);
	xsf_json_u64(&w, "uptime", self->uptime_ms);
	xsf_json_str(&w, "version", XSF_VERSION);
	xsf_json_shut(&w, '}');
	return xsf_text_take(&t, len);
}
