// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/snapshot.h"

#include <stdio.h>
#include <string.h>
#include <xsf/drop_reasons.h>
#include <xsf/opcodes.h>
#include <xsf/sequence.h>
#include <xsf/sflow.h>

static const char *const reason_table[XSF_REASONS] = {
#define REASON_ENTRY(code, name, category) [code] = #name,
	XSF_DROP_REASONS(REASON_ENTRY)
};

static const struct {
	const char *transport;
	const char *ibta;
	const char *op;
} opcode_table[256] = {
#define OPCODE_ENTRY(number, transport, ibta, op, reth, aeth) [number] = { transport, ibta, op },
	XSF_OPCODES(OPCODE_ENTRY)
};

int xsf_snapshot_silent(const struct xsf_snapshot *s, uint64_t last_seen)
{
	return s->stale_ns && s->now_ns > last_seen && s->now_ns - last_seen > s->stale_ns;
}

int xsf_snapshot_agent_shown(const struct xsf_snapshot *s, uint32_t slot)
{
	return slot && slot < s->nr_agents && s->agents[slot].generation & 1 &&
	       !xsf_snapshot_silent(s, s->agents[slot].last_seen_ns);
}

int xsf_snapshot_source_agent(const struct xsf_snapshot *s, uint32_t slot,
			      const struct xsf_agent **agent)
{
	const struct xsf_source_key *key = &s->sources[slot].key;
	uint32_t at = key->agent;

	if (!at || at >= s->nr_agents)
		return 0;
	*agent = &s->agents[at];
	return (*agent)->generation == key->agent_generation;
}

int xsf_snapshot_source_shown(const struct xsf_snapshot *s, uint32_t slot,
			      const struct xsf_agent **agent)
{
	const struct xsf_source *source = &s->sources[slot];

	return slot && slot < s->nr_sources && source->generation & 1 &&
	       !xsf_snapshot_silent(s, source->last_seen_ns) &&
	       xsf_snapshot_source_agent(s, slot, agent);
}

int xsf_source_is_interface(const struct xsf_source *source)
{
	return source->key.class == SFLOW_CLASS_IFINDEX && source->key.index != SFLOW_IF_UNKNOWN &&
	       source->key.index != SFLOW_IF_INTERNAL && source->key.index != SFLOW_IF_NONE;
}

const struct xsf_interface *xsf_snapshot_interface(const struct xsf_snapshot *s, uint32_t slot)
{
	const struct xsf_interface *i = &s->interfaces[slot];

	return i->generation == s->sources[slot].generation ? i : NULL;
}

/* Both structs are nothing but counts. */
static void sum_words(const __u64 *own, const __u64 *shared, __u64 *sum, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*sum); i++)
		sum[i] = own[i] + shared[i];
}

void xsf_agent_sum(const struct xsf_agent *agent, struct xsf_agent_counts *sum)
{
	sum_words((const __u64 *)&agent->own, (const __u64 *)&agent->shared, (__u64 *)sum,
		  sizeof(*sum));
}

void xsf_source_sum(const struct xsf_source *source, enum xsf_direction direction,
		    struct xsf_traffic *sum)
{
	sum_words((const __u64 *)&source->own[direction], (const __u64 *)&source->shared[direction],
		  (__u64 *)sum, sizeof(*sum));
}

int xsf_snapshot_interface_shown(const struct xsf_snapshot *s, uint32_t slot,
				 const struct xsf_agent **agent)
{
	const struct xsf_source *source = &s->sources[slot];
	const struct xsf_interface *i;

	if (!xsf_snapshot_source_shown(s, slot, agent) || !xsf_source_is_interface(source))
		return 0;
	for (int d = 0; d < XSF_DIRECTIONS; d++) {
		if (source->own[d].samples || source->shared[d].samples)
			return 1;
	}
	i = xsf_snapshot_interface(s, slot);
	return i && (i->has_counters || i->name_len || i->drop_samples);
}

void xsf_snapshot_fill(const struct xsf_snapshot *s, enum xsf_table table, struct xsf_fill *fill)
{
	uint32_t nr = table == XSF_TABLE_AGENTS ? s->nr_agents : s->nr_sources;

	memset(fill, 0, sizeof(*fill));
	/* A snapshot may end at the last slot that was ever used; slot 0 is nobody's. */
	fill->size = (table == XSF_TABLE_AGENTS ? XSF_AGENTS : XSF_SOURCES) - 1;
	for (uint32_t slot = 1; slot < nr; slot++) {
		int agents = table == XSF_TABLE_AGENTS;
		uint32_t generation =
			agents ? s->agents[slot].generation : s->sources[slot].generation;

		if (!(generation & 1))
			continue;
		fill->used++;
		fill->stale += (uint32_t)xsf_snapshot_silent(
			s, agents ? s->agents[slot].last_seen_ns : s->sources[slot].last_seen_ns);
	}
}

uint32_t xsf_agent_pending(const struct xsf_agent *agent)
{
	return xsf_seq_pending(agent->sequence);
}

const char *xsf_reason_name(uint32_t code, char *buf, unsigned int len)
{
	if (code < XSF_REASONS && reason_table[code])
		return reason_table[code];
	snprintf(buf, len, "%u", code);
	return buf;
}

/* What the published header misspells and agents therefore send (DESIGN 4.4). */
uint32_t xsf_reason_code(uint32_t code)
{
	return code == 33 ? 332 : code == 36 ? 366 : code;
}

uint32_t xsf_snapshot_nr_reasons(const struct xsf_snapshot *s)
{
	return XSF_REASONS + XSF_MIN(s->nr_high, XSF_REASONS_HIGH);
}

uint64_t xsf_snapshot_reason(const struct xsf_snapshot *s, int sampled, uint32_t i,
			     const char **name, char *buf)
{
	const __u64 *count = sampled ? s->reasons.sampled : s->reasons.notified;
	const struct xsf_reason_high *high;

	if (i < XSF_REASONS) {
		*name = xsf_reason_name(i, buf, 16);
		switch (i) {
		case 33:
		case 36:
			return 0;
		case 332:
			return count[332] + count[33];
		case 366:
			return count[366] + count[36];
		}
		return count[i];
	}
	high = &s->high[i - XSF_REASONS];
	if (high->key.sampled != (uint32_t) !!sampled || high->key.code < XSF_REASONS)
		return 0;
	*name = xsf_reason_name(high->key.code, buf, 16);
	return high->count;
}

void xsf_snapshot_reasons(const struct xsf_snapshot *s, int sampled,
			  void (*each)(void *arg, const char *name, uint64_t count), void *arg)
{
	char buf[16];

	for (uint32_t i = 0; i < xsf_snapshot_nr_reasons(s); i++) {
		const char *name;
		uint64_t count = xsf_snapshot_reason(s, sampled, i, &name, buf);

		if (count)
			each(arg, name, count);
	}
}

int xsf_opcode_names(uint8_t opcode, const char **transport, const char **ibta, const char **op)
{
	if (!opcode_table[opcode].op) {
		*transport = *ibta = *op = "unknown";
		return 0;
	}
	*transport = opcode_table[opcode].transport;
	*ibta = opcode_table[opcode].ibta;
	*op = opcode_table[opcode].op;
	return 1;
}

static char *put_byte(char *p, uint8_t v)
{
	if (v >= 100)
		*p++ = (char)('0' + v / 100);
	if (v >= 10)
		*p++ = (char)('0' + v / 10 % 10);
	*p++ = (char)('0' + v % 10);
	return p;
}

static char *put_ip4(char *p, const uint8_t addr[4])
{
	for (int i = 0; i < 4; i++) {
		if (i)
			*p++ = '.';
		p = put_byte(p, addr[i]);
	}
	return p;
}

static char *put_word(char *p, uint32_t v)
{
	int shift = 12;

	while (shift && !(v >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[v >> shift & 15];
	return p;
}

/* Written by hand because a large scrape writes millions of addresses; inet_ntop takes ten times as long. */
const char *xsf_address_text(const uint8_t addr[16], char *buf)
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	int zeros = -1, nr_zeros = 1, run = 0;
	char *p = buf;

	if (!memcmp(addr, mapped, sizeof(mapped))) {
		*put_ip4(p, addr + 12) = 0;
		return buf;
	}
	/* The first of the longest runs of two or more zero words (RFC 5952, 4.2). */
	for (int i = 0; i < 8; i++) {
		run = addr[2 * i] | addr[2 * i + 1] ? 0 : run + 1;
		if (run > nr_zeros) {
			nr_zeros = run;
			zeros = i + 1 - run;
		}
	}
	for (int i = 0; i < 8; i++) {
		if (i == zeros) {
			*p++ = ':';
			*p++ = ':';
			i += nr_zeros - 1;
			continue;
		}
		if (i && i != zeros + nr_zeros)
			*p++ = ':';
		/* ::192.0.2.1, as inet_ntop writes it */
		if (i == 6 && !zeros && nr_zeros == 6) {
			p = put_ip4(p, addr + 12);
			break;
		}
		p = put_word(p, (uint32_t)addr[2 * i] << 8 | addr[2 * i + 1]);
	}
	*p = 0;
	return buf;
}

size_t xsf_name_copy(uint8_t to[XSF_NAME_LEN], const volatile uint8_t *name, uint32_t len)
{
	len = XSF_MIN(len, XSF_NAME_LEN - 1);
	for (uint32_t i = 0; i < len; i++)
		to[i] = name[i];
	return len;
}
