// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel.h"
#include "model/fields.h"

/* Names of the fields that a difference can be in; what is not listed is shown by its offset. */
struct field {
	const char *name;
	size_t offset;
	size_t size;
};

#define FIELD(type, name) \
	{ \
#name, offsetof(struct type, name), sizeof(((struct type *)0)->name) \
	}

#define COUNTS(part) \
	FIELD(xsf_agent, part.datagrams), FIELD(xsf_agent, part.bytes), \
		FIELD(xsf_agent, part.faulty), FIELD(xsf_agent, part.lost), \
		FIELD(xsf_agent, part.duplicate), FIELD(xsf_agent, part.reordered), \
		FIELD(xsf_agent, part.restarts), FIELD(xsf_agent, part.flow_samples), \
		FIELD(xsf_agent, part.counter_samples), FIELD(xsf_agent, part.drop_samples)

static const struct field agent_fields[] = {
	FIELD(xsf_agent, key),
	FIELD(xsf_agent, generation),
	FIELD(xsf_agent, cpu),
	FIELD(xsf_agent, uptime_ms),
	FIELD(xsf_agent, uptime_moves),
	FIELD(xsf_agent, sequence),
	COUNTS(own),
	COUNTS(shared),
	FIELD(xsf_agent, drops),
	FIELD(xsf_agent, source_port),
	FIELD(xsf_agent, name_len),
	FIELD(xsf_agent, source),
	FIELD(xsf_agent, name),
	FIELD(xsf_agent, drops_suppressed),
	FIELD(xsf_agent, drops_lost),
	FIELD(xsf_agent, drops_duplicate),
	FIELD(xsf_agent, drops_reordered),
	FIELD(xsf_agent, drops_restarts),
	FIELD(xsf_agent, drops_fresh),
	FIELD(xsf_agent, reserved),
	{ NULL, 0, 0 },
};

#define TRAFFIC(d) \
	FIELD(xsf_source, d.samples), FIELD(xsf_source, d.packets), FIELD(xsf_source, d.bytes), \
		FIELD(xsf_source, d.roce_packets), FIELD(xsf_source, d.roce_bytes), \
		FIELD(xsf_source, d.ce_packets), FIELD(xsf_source, d.cnp_packets), \
		FIELD(xsf_source, d.trimmed_packets)

static const struct field source_fields[] = {
	FIELD(xsf_source, key),		  FIELD(xsf_source, generation),
	FIELD(xsf_source, cpu),		  FIELD(xsf_source, sampling_rate),
	FIELD(xsf_source, sample_pool),	  FIELD(xsf_source, drops),
	FIELD(xsf_source, flow_sequence), FIELD(xsf_source, counter_sequence),
	FIELD(xsf_source, drop_sequence), TRAFFIC(own[XSF_INGRESS]),
	TRAFFIC(own[XSF_EGRESS]),	  TRAFFIC(own[XSF_OTHER]),
	TRAFFIC(shared[XSF_INGRESS]),	  TRAFFIC(shared[XSF_EGRESS]),
	TRAFFIC(shared[XSF_OTHER]),	  { NULL, 0, 0 },
};

static const struct field interface_fields[] = {
	FIELD(xsf_interface, agent),
	FIELD(xsf_interface, class),
	FIELD(xsf_interface, index),
	FIELD(xsf_interface, generation),
	FIELD(xsf_interface, has_counters),
	FIELD(xsf_interface, counters_uptime_ms),
	FIELD(xsf_interface, speed),
	FIELD(xsf_interface, in_octets),
	FIELD(xsf_interface, out_octets),
	FIELD(xsf_interface, type),
	FIELD(xsf_interface, direction),
	FIELD(xsf_interface, status),
	FIELD(xsf_interface, in_ucast),
	FIELD(xsf_interface, in_multicast),
	FIELD(xsf_interface, in_broadcast),
	FIELD(xsf_interface, in_discards),
	FIELD(xsf_interface, in_errors),
	FIELD(xsf_interface, in_unknown),
	FIELD(xsf_interface, out_ucast),
	FIELD(xsf_interface, out_multicast),
	FIELD(xsf_interface, out_broadcast),
	FIELD(xsf_interface, out_discards),
	FIELD(xsf_interface, out_errors),
	FIELD(xsf_interface, promiscuous),
	FIELD(xsf_interface, name_len),
	FIELD(xsf_interface, name),
	FIELD(xsf_interface, flow_lost),
	FIELD(xsf_interface, flow_duplicate),
	FIELD(xsf_interface, flow_reordered),
	FIELD(xsf_interface, counter_lost),
	FIELD(xsf_interface, counter_duplicate),
	FIELD(xsf_interface, counter_reordered),
	FIELD(xsf_interface, sample_restarts),
	FIELD(xsf_interface, drop_samples),
	FIELD(xsf_interface, aggregate),
	FIELD(xsf_interface, drop_total),
	FIELD(xsf_interface, drop_window),
	{ NULL, 0, 0 },
};

static const struct field traffic_fields[] = {
	FIELD(xsf_traffic, samples),
	FIELD(xsf_traffic, packets),
	FIELD(xsf_traffic, bytes),
	FIELD(xsf_traffic, roce_packets),
	FIELD(xsf_traffic, roce_bytes),
	FIELD(xsf_traffic, ce_packets),
	FIELD(xsf_traffic, cnp_packets),
	FIELD(xsf_traffic, trimmed_packets),
	{ NULL, 0, 0 },
};

static const struct field op_row_fields[] = { FIELD(xsf_op_row, opcode), { NULL, 0, 0 } };
static const struct field tos_row_fields[] = { FIELD(xsf_tos_row, all),
					       FIELD(xsf_tos_row, roce),
					       { NULL, 0, 0 } };
static const struct field rdma_row_fields[] = {
	FIELD(xsf_rdma_row, length_sum),
	FIELD(xsf_rdma_row, length_sum_scaled),
	FIELD(xsf_rdma_row, length),
	FIELD(xsf_rdma_row, ack),
	FIELD(xsf_rdma_row, rnr),
	FIELD(xsf_rdma_row, reserved_syndrome),
	FIELD(xsf_rdma_row, nak),
	FIELD(xsf_rdma_row, cnp),
	{ NULL, 0, 0 },
};
static const struct field reasons_fields[] = { FIELD(xsf_reasons, notified),
					       FIELD(xsf_reasons, sampled),
					       { NULL, 0, 0 } };

/* The first byte in which the two differ belongs to a field, named after `what`. */
static const char *differ(const char *what, uint32_t index, const struct field *fields,
			  const void *kernel, const void *native, size_t size,
			  char text[COMPARE_TEXT])
{
	const uint8_t *a = kernel, *b = native;
	size_t at = 0, word;
	uint64_t is = 0, want = 0;
	int n;

	if (!memcmp(a, b, size))
		return NULL;
	while (a[at] == b[at])
		at++;
	for (; fields->name; fields++) {
		if (at >= fields->offset && at < fields->offset + fields->size)
			break;
	}
	word = at - (fields->name ? fields->offset : 0);
	if (fields->name && (fields->size == 4 || fields->size == 2))
		memcpy(&is, a + fields->offset, fields->size),
			memcpy(&want, b + fields->offset, fields->size);
	else if (at / 8 * 8 + 8 <= size)
		memcpy(&is, a + at / 8 * 8, 8), memcpy(&want, b + at / 8 * 8, 8);
	n = snprintf(text, COMPARE_TEXT, "%s %u: %s", what, index,
		     fields->name ? fields->name : "offset");
	if (!fields->name || fields->size > 8)
		n += snprintf(text + n, COMPARE_TEXT - (size_t)n, " + %zu", word);
	snprintf(text + n, COMPARE_TEXT - (size_t)n, ": %llu and %llu", (unsigned long long)is,
		 (unsigned long long)want);
	return text;
}

static const char *differ_totals(const struct xsf_totals *a, const struct xsf_totals *b,
				 char text[COMPARE_TEXT])
{
	struct xsf_snapshot as = { .totals = *a }, bs = { .totals = *b };

	if (!memcmp(a, b, sizeof(*a)))
		return NULL;
	if (a->datagrams != b->datagrams) {
		snprintf(text, COMPARE_TEXT, "totals: datagrams: %llu and %llu",
			 (unsigned long long)a->datagrams, (unsigned long long)b->datagrams);
		return text;
	}
	for (uint32_t list = 0; list < XSF_TOTAL_LISTS; list++) {
		const struct xsf_total *total;

		for (uint32_t i = 0; (total = xsf_total_at(list, i)); i++) {
			uint64_t is = xsf_total_value(&as, total);
			uint64_t want = xsf_total_value(&bs, total);

			if (is == want)
				continue;
			snprintf(text, COMPARE_TEXT, "totals: %s (list %u): %llu and %llu",
				 total->name, list, (unsigned long long)is,
				 (unsigned long long)want);
			return text;
		}
	}
	return "totals: a reserved word";
}

static int by_key(const void *a, const void *b)
{
	const struct xsf_reason_high *x = a, *y = b;

	if (x->key.sampled != y->key.sampled)
		return x->key.sampled < y->key.sampled ? -1 : 1;
	return x->key.code < y->key.code ? -1 : x->key.code > y->key.code;
}

static const char *differ_high(const struct xsf_snapshot *kernel, const struct xsf_snapshot *native,
			       char text[COMPARE_TEXT])
{
	struct xsf_reason_high a[XSF_REASONS_HIGH], b[XSF_REASONS_HIGH];

	if (kernel->nr_high != native->nr_high) {
		snprintf(text, COMPARE_TEXT, "high reasons: %u and %u", kernel->nr_high,
			 native->nr_high);
		return text;
	}
	memcpy(a, kernel->high, sizeof(a));
	memcpy(b, native->high, sizeof(b));
	qsort(a, kernel->nr_high, sizeof(*a), by_key);
	qsort(b, kernel->nr_high, sizeof(*b), by_key);
	for (uint32_t i = 0; i < kernel->nr_high; i++) {
		if (!by_key(&a[i], &b[i]) && a[i].count == b[i].count)
			continue;
		snprintf(text, COMPARE_TEXT,
			 "high reason: sampled %u code %u: %llu and sampled %u code %u: %llu",
			 a[i].key.sampled, a[i].key.code, (unsigned long long)a[i].count,
			 b[i].key.sampled, b[i].key.code, (unsigned long long)b[i].count);
		return text;
	}
	return NULL;
}

/* One slot's times on both sides; native ones are different for every input. */
struct seen {
	uint64_t kernel, native;
};

static int by_native(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return x->native < y->native ? -1 : x->native > y->native;
}

/* Who was seen later natively was not seen earlier in the kernel. */
static const char *order(const char *what, struct seen *seen, uint32_t nr, char text[COMPARE_TEXT])
{
	qsort(seen, nr, sizeof(*seen), by_native);
	for (uint32_t i = 1; i < nr; i++) {
		if (seen[i].kernel >= seen[i - 1].kernel && !seen[i].kernel == !seen[i].native)
			continue;
		snprintf(text, COMPARE_TEXT, "%s: kernel %llu then %llu, native %llu then %llu",
			 what, (unsigned long long)seen[i - 1].kernel,
			 (unsigned long long)seen[i].kernel, (unsigned long long)seen[i - 1].native,
			 (unsigned long long)seen[i].native);
		return text;
	}
	return NULL;
}

static const char *differ_agents(const struct xsf_snapshot *kernel,
				 const struct xsf_snapshot *native, char text[COMPARE_TEXT])
{
	static struct seen last[XSF_AGENTS];
	const char *found = NULL;

	for (uint32_t i = 0; i < native->nr_agents && !found; i++) {
		struct xsf_agent a = kernel->agents[i], b = native->agents[i];

		last[i] = (struct seen){ a.last_seen_ns, b.last_seen_ns };
		if (a.first_seen_ns > a.last_seen_ns || b.first_seen_ns > b.last_seen_ns) {
			snprintf(text, COMPARE_TEXT, "agent %u: first seen after last seen", i);
			return text;
		}
		/* The native build has one CPU, 0. */
		if (a.cpu == kernel_cpu())
			a.cpu = 0;
		a.first_seen_ns = a.last_seen_ns = b.first_seen_ns = b.last_seen_ns = 0;
		found = differ("agent", i, agent_fields, &a, &b, sizeof(a), text);
	}
	return found ? found : order("agents' last_seen_ns", last, native->nr_agents, text);
}

static const char *differ_sources(const struct xsf_snapshot *kernel,
				  const struct xsf_snapshot *native, char text[COMPARE_TEXT])
{
	static struct seen last[XSF_SOURCES], counters[XSF_SOURCES];
	const char *found = NULL;

	for (uint32_t i = 0; i < native->nr_sources && !found; i++) {
		struct xsf_source a = kernel->sources[i], b = native->sources[i];
		struct xsf_interface c = kernel->interfaces[i], d = native->interfaces[i];

		last[i] = (struct seen){ a.last_seen_ns, b.last_seen_ns };
		counters[i] = (struct seen){ c.counters_ns, d.counters_ns };
		if (a.cpu == kernel_cpu())
			a.cpu = 0;
		a.last_seen_ns = b.last_seen_ns = 0;
		c.counters_ns = d.counters_ns = 0;
		found = differ("source", i, source_fields, &a, &b, sizeof(a), text);
		if (!found)
			found = differ("interface", i, interface_fields, &c, &d, sizeof(c), text);
	}
	if (!found)
		found = order("sources' last_seen_ns", last, native->nr_sources, text);
	if (!found)
		found = order("interfaces' counters_ns", counters, native->nr_sources, text);
	return found;
}

const char *compare_snapshots(const struct xsf_snapshot *kernel, const struct xsf_snapshot *native,
			      char text[COMPARE_TEXT])
{
	uint32_t rows = native->nr_groups * XSF_DIRECTIONS;
	const char *found = differ_totals(&kernel->totals, &native->totals, text);

	if (!found &&
	    (kernel->nr_agents != native->nr_agents || kernel->nr_sources != native->nr_sources)) {
		snprintf(text, COMPARE_TEXT, "slots: agents %u and %u, sources %u and %u",
			 kernel->nr_agents, native->nr_agents, kernel->nr_sources,
			 native->nr_sources);
		found = text;
	}
	if (!found)
		found = differ_agents(kernel, native, text);
	if (!found)
		found = differ_sources(kernel, native, text);
	for (uint32_t i = 0; i < rows * XSF_CARRIERS && !found; i++)
		found = differ("ops row", i, op_row_fields, &kernel->ops[i], &native->ops[i],
			       sizeof(kernel->ops[i]), text);
	for (uint32_t i = 0; i < rows && !found; i++)
		found = differ("tos row", i, tos_row_fields, &kernel->tos[i], &native->tos[i],
			       sizeof(kernel->tos[i]), text);
	for (uint32_t i = 0; i < rows && !found; i++)
		found = differ("rdma row", i, rdma_row_fields, &kernel->rdma[i], &native->rdma[i],
			       sizeof(kernel->rdma[i]), text);
	if (!found)
		found = differ("reasons", 0, reasons_fields, &kernel->reasons, &native->reasons,
			       sizeof(kernel->reasons), text);
	if (!found)
		found = compare_places(kernel, native, text);
	return found ? found : differ_high(kernel, native, text);
}

/* Adds the words of one structure to another. */
static void add_words(void *to, const void *from, size_t size)
{
	const uint64_t *f = from;
	uint64_t *t = to;

	for (size_t i = 0; i < size / sizeof(*t); i++)
		t[i] += f[i];
}

/* Compares one value by name. */
#define SAME(what, is, want) \
	do { \
		uint64_t is_ = (is), want_ = (want); \
		if (is_ != want_) { \
			snprintf(text, COMPARE_TEXT, "%s %u: %s: %llu and %llu", noun, slot, what, \
				 (unsigned long long)is_, (unsigned long long)want_); \
			return text; \
		} \
	} while (0)

static const char *same_agent(const struct xsf_agent *a, uint32_t slot,
			      const struct reference_agent *r, char text[COMPARE_TEXT])
{
	const char *noun = "agent";

	SAME("datagrams", a->own.datagrams + a->shared.datagrams, r->datagrams);
	SAME("bytes", a->own.bytes + a->shared.bytes, r->bytes);
	SAME("faulty", a->own.faulty + a->shared.faulty, r->faulty);
	SAME("flow_samples", a->own.flow_samples + a->shared.flow_samples, r->flow_samples);
	SAME("counter_samples", a->own.counter_samples + a->shared.counter_samples,
	     r->counter_samples);
	SAME("drop_samples", a->own.drop_samples + a->shared.drop_samples, r->drop_samples);
	SAME("drops", a->drops, r->drops);
	SAME("name_len", a->name_len, r->name_len);
	SAME("name differs", memcmp(a->name, r->name, r->name_len) != 0, 0);
	return NULL;
}

static uint64_t be64(const uint8_t *p)
{
	return (uint64_t)bytes_32(p) << 32 | bytes_32(p + 4);
}

/* if_counters (sflow_version_5.txt), field by field. */
static const char *same_counters(const struct xsf_interface *i, uint32_t slot,
				 const struct reference_source *r, char text[COMPARE_TEXT])
{
	const char *noun = "interface";
	const uint8_t *c = r->counters;

	SAME("index", i->index, bytes_32(c));
	SAME("counters_uptime_ms", i->counters_uptime_ms, r->counters_uptime);
	SAME("type", i->type, bytes_32(c + 4));
	SAME("speed", i->speed, be64(c + 8));
	SAME("direction", i->direction, bytes_32(c + 16));
	SAME("status", i->status, bytes_32(c + 20));
	SAME("in_octets", i->in_octets, be64(c + 24));
	SAME("in_ucast", i->in_ucast, bytes_32(c + 32));
	SAME("in_multicast", i->in_multicast, bytes_32(c + 36));
	SAME("in_broadcast", i->in_broadcast, bytes_32(c + 40));
	SAME("in_discards", i->in_discards, bytes_32(c + 44));
	SAME("in_errors", i->in_errors, bytes_32(c + 48));
	SAME("in_unknown", i->in_unknown, bytes_32(c + 52));
	SAME("out_octets", i->out_octets, be64(c + 56));
	SAME("out_ucast", i->out_ucast, bytes_32(c + 64));
	SAME("out_multicast", i->out_multicast, bytes_32(c + 68));
	SAME("out_broadcast", i->out_broadcast, bytes_32(c + 72));
	SAME("out_discards", i->out_discards, bytes_32(c + 76));
	SAME("out_errors", i->out_errors, bytes_32(c + 80));
	SAME("promiscuous", i->promiscuous, bytes_32(c + 84));
	return NULL;
}

static const char *same_source(const struct xsf_source *s, const struct xsf_interface *i,
			       uint32_t slot, const struct reference_source *r,
			       char text[COMPARE_TEXT])
{
	const char *noun = "source", *found;

	SAME("sampling_rate", s->sampling_rate, r->sampling_rate);
	SAME("sample_pool", s->sample_pool, r->sample_pool);
	SAME("drops", s->drops, r->drops);
	for (uint32_t d = 0; d < XSF_DIRECTIONS; d++) {
		struct xsf_traffic sum = s->own[d];

		add_words(&sum, &s->shared[d], sizeof(sum));
		found = differ("traffic of source", slot, traffic_fields, &sum, &r->traffic[d],
			       sizeof(sum), text);
		if (found)
			return found;
	}
	SAME("interface generation", i->generation, s->generation);
	SAME("drop_samples", i->drop_samples, r->drop_samples);
	SAME("name_len", i->name_len, r->name_len);
	SAME("name differs", memcmp(i->name, r->name, r->name_len) != 0, 0);
	SAME("has_counters", i->has_counters, r->has_counters);
	SAME("aggregate", i->aggregate, r->aggregate);
	return r->has_counters ? same_counters(i, slot, r, text) : NULL;
}

/* Every agent and source by its key; only while all of them have a place. */
static const char *same_tables(const struct xsf_snapshot *s, struct reference *r,
			       char text[COMPARE_TEXT])
{
	uint32_t nr_agents = r->nr_agents, nr_sources = r->nr_sources, slot = 0;
	const char *noun = "tables", *found = NULL;

	if (s->totals.agents_full || s->totals.sources_full || s->totals.agents_reclaimed)
		return NULL;
	SAME("agents", s->nr_agents - 1, nr_agents);
	SAME("sources", s->nr_sources - 1, nr_sources);
	for (slot = 1; slot < s->nr_agents && !found; slot++) {
		uint32_t i = reference_agent_of(r, &s->agents[slot].key);

		found = same_agent(&s->agents[slot], slot, &r->agents[i], text);
	}
	for (slot = 1; slot < s->nr_sources && !found; slot++) {
		const struct xsf_source *source = &s->sources[slot];
		uint32_t i = reference_source_of(r, &s->agents[source->key.agent].key,
						 source->key.class, source->key.index);

		found = same_source(source, &s->interfaces[slot], slot, &r->sources[i], text);
	}
	/* A key that the reference did not have was made by asking. */
	if (!found) {
		slot = 0;
		SAME("agents", r->nr_agents, nr_agents);
		SAME("sources", r->nr_sources, nr_sources);
	}
	return found;
}

const char *compare_reference(const struct xsf_snapshot *s, struct reference *r,
			      char text[COMPARE_TEXT])
{
	struct xsf_totals totals = s->totals;
	const char *found;
	uint64_t high = 0;

	/* Of tables, sequence numbers and verdicts the reference knows nothing. */
	totals.agents_full = totals.sources_full = totals.groups_full = totals.reasons_full = 0;
	totals.agents_reclaimed = totals.sources_reclaimed = totals.sequence_contended = 0;
	totals.consumed = totals.denied_dropped = totals.places_full = totals.places_reclaimed = 0;
	found = differ_totals(&totals, &r->totals, text);
	for (uint32_t d = 0; d < XSF_DIRECTIONS && !found; d++) {
		struct xsf_tos_row tos = { 0 };
		struct xsf_rdma_row rdma = { 0 };
		struct xsf_traffic traffic = { 0 };

		for (uint32_t c = 0; c < XSF_CARRIERS && !found; c++) {
			struct xsf_op_row ops = { 0 };

			for (uint32_t g = 0; g < s->nr_groups; g++)
				add_words(&ops,
					  &s->ops[(g * XSF_DIRECTIONS + d) * XSF_CARRIERS + c],
					  sizeof(ops));
			found = differ("operations of direction * 3 + carrier",
				       d * XSF_CARRIERS + c, op_row_fields, &ops, &r->ops[d][c],
				       sizeof(ops), text);
		}
		for (uint32_t g = 0; g < s->nr_groups; g++) {
			add_words(&tos, &s->tos[g * XSF_DIRECTIONS + d], sizeof(tos));
			add_words(&rdma, &s->rdma[g * XSF_DIRECTIONS + d], sizeof(rdma));
		}
		for (uint32_t i = 0; i < s->nr_sources; i++) {
			add_words(&traffic, &s->sources[i].own[d], sizeof(traffic));
			add_words(&traffic, &s->sources[i].shared[d], sizeof(traffic));
		}
		if (!found)
			found = differ("tos of direction", d, tos_row_fields, &tos, &r->tos[d],
				       sizeof(tos), text);
		if (!found)
			found = differ("rdma of direction", d, rdma_row_fields, &rdma, &r->rdma[d],
				       sizeof(rdma), text);
		if (!found)
			found = differ("traffic of direction", d, traffic_fields, &traffic,
				       &r->traffic[d], sizeof(traffic), text);
	}
	if (!found)
		found = differ("reasons", 0, reasons_fields, &s->reasons, &r->reasons,
			       sizeof(s->reasons), text);
	for (uint32_t i = 0; i < s->nr_high; i++)
		high += s->high[i].count;
	if (!found && high + s->totals.reasons_full != r->high_reasons) {
		snprintf(text, COMPARE_TEXT, "reasons from %u on: %llu and %llu", XSF_REASONS,
			 (unsigned long long)(high + s->totals.reasons_full),
			 (unsigned long long)r->high_reasons);
		found = text;
	}
	if (!found)
		found = compare_places_reference(s, r, text);
	return found ? found : same_tables(s, r, text);
}
