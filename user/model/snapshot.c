// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/snapshot.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <xsf/drop_reasons.h>
#include <xsf/opcodes.h>
#include <xsf/sflow.h>

static const struct {
	uint32_t code;
	const char *name;
} reason_table[] = {
#define REASON_ENTRY(code, name, category) { code, #name },
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

static int silent(const struct xsf_snapshot *s, uint64_t last_seen)
{
	return s->stale_ns && s->now_ns > last_seen && s->now_ns - last_seen > s->stale_ns;
}

int xsf_snapshot_agent_shown(const struct xsf_snapshot *s, uint32_t slot)
{
	return slot && slot < s->nr_agents && s->agents[slot].generation & 1 &&
	       !silent(s, s->agents[slot].last_seen_ns);
}

int xsf_snapshot_source_shown(const struct xsf_snapshot *s, uint32_t slot,
			      const struct xsf_agent **agent)
{
	const struct xsf_source *source = &s->sources[slot];

	if (!slot || slot >= s->nr_sources || !(source->generation & 1) ||
	    silent(s, source->last_seen_ns) || !source->key.agent ||
	    source->key.agent >= s->nr_agents)
		return 0;
	*agent = &s->agents[source->key.agent];
	return (*agent)->generation == source->key.agent_generation;
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

const char *xsf_reason_name(uint32_t code, char *buf, unsigned int len)
{
	for (size_t i = 0; i < sizeof(reason_table) / sizeof(reason_table[0]); i++) {
		if (reason_table[i].code == code)
			return reason_table[i].name;
	}
	snprintf(buf, len, "%u", code);
	return buf;
}

static uint32_t reason_canonical(uint32_t code)
{
	/* What the published header misspells and agents therefore send (SPEC 1.8). */
	return code == 33 ? 332 : code == 36 ? 366 : code;
}

void xsf_snapshot_reasons(const struct xsf_snapshot *s, int sampled,
			  void (*each)(void *arg, const char *name, uint64_t count), void *arg)
{
	const __u64 *count = sampled ? s->reasons.sampled : s->reasons.notified;
	uint64_t sum[XSF_REASONS] = { 0 };
	char buf[16];

	for (uint32_t code = 0; code < XSF_REASONS; code++)
		sum[reason_canonical(code)] += count[code];
	for (uint32_t code = 0; code < XSF_REASONS; code++) {
		if (sum[code])
			each(arg, xsf_reason_name(code, buf, sizeof(buf)), sum[code]);
	}
	for (uint32_t i = 0; i < s->nr_high; i++) {
		if (s->high[i].key.sampled == (uint32_t) !!sampled && s->high[i].count)
			each(arg, xsf_reason_name(s->high[i].key.code, buf, sizeof(buf)),
			     s->high[i].count);
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

const char *xsf_address_text(const uint8_t addr[16], char *buf)
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

	if (!memcmp(addr, mapped, sizeof(mapped)))
		return inet_ntop(AF_INET, addr + 12, buf, INET6_ADDRSTRLEN);
	return inet_ntop(AF_INET6, addr, buf, INET6_ADDRSTRLEN);
}
