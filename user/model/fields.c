// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/fields.h"

#include <stddef.h>

#define TOTAL(name, field, help) { name, help, offsetof(struct xsf_totals, field) },
#define TOTAL_PLAIN(name, help) TOTAL(#name, name, help)
#define TOTAL_DATAGRAM(name, help) TOTAL(#name, datagram_##name, help)
#define TOTAL_FAULT(name, help) TOTAL(#name, fault_##name, help)
#define TOTAL_SAMPLE(name, help) TOTAL(#name, sample_##name, help)
#define TOTAL_HEADER(name, help) TOTAL(#name, header_##name, help)
#define TOTAL_END \
	{ \
		NULL, NULL, 0 \
	}

static const struct xsf_total frames[] = { XSF_FRAME_OUTCOMES(TOTAL_PLAIN) TOTAL_END };
static const struct xsf_total datagrams[] = { XSF_DATAGRAM_OUTCOMES(TOTAL_DATAGRAM) TOTAL_END };
static const struct xsf_total faults[] = { XSF_FAULTS(TOTAL_FAULT) TOTAL_END };
static const struct xsf_total samples[] = { XSF_SAMPLE_TYPES(TOTAL_SAMPLE) TOTAL_END };
static const struct xsf_total headers[] = { XSF_HEADER_OUTCOMES(TOTAL_HEADER) TOTAL_END };
static const struct xsf_total events[] = { XSF_EVENTS(TOTAL_PLAIN) TOTAL_END };

static const struct {
	const struct xsf_total *entries;
	uint32_t nr;
} lists[XSF_TOTAL_LISTS] = {
#define LIST(list) \
	{ \
		list, sizeof(list) / sizeof(list[0]) - 1 \
	}
	[XSF_LIST_FRAMES] = LIST(frames),   [XSF_LIST_DATAGRAMS] = LIST(datagrams),
	[XSF_LIST_FAULTS] = LIST(faults),   [XSF_LIST_SAMPLES] = LIST(samples),
	[XSF_LIST_HEADERS] = LIST(headers), [XSF_LIST_EVENTS] = LIST(events),
};

const struct xsf_total *xsf_total_at(enum xsf_total_list list, uint32_t i)
{
	return i < lists[list].nr ? &lists[list].entries[i] : NULL;
}

uint64_t xsf_total_sum(const struct xsf_snapshot *s, enum xsf_total_list list)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < lists[list].nr; i++)
		sum += xsf_total_value(s, &lists[list].entries[i]);
	return sum;
}

static const struct {
	const char *name;
	uint16_t offset;
	uint16_t bits;
} if_counters[XSF_NR_IF_COUNTERS] = {
#define IF_COUNTER(name, bits, help) { #name, offsetof(struct xsf_interface, name), bits },
	XSF_IF_COUNTERS(IF_COUNTER)
};

const char *xsf_if_counter_name(enum xsf_if_counter which)
{
	return if_counters[which].name;
}

int xsf_if_counter_read(const struct xsf_interface *i, enum xsf_if_counter which, uint64_t *value)
{
	const char *p = (const char *)i + if_counters[which].offset;

	/* Read once: the agent may send another value meanwhile. */
	if (if_counters[which].bits == 64) {
		*value = *(const volatile uint64_t *)p;
		return *value != UINT64_MAX;
	}
	*value = *(const volatile uint32_t *)p;
	return *value != UINT32_MAX;
}

const char *xsf_if_direction_name(uint32_t direction)
{
	static const char *const names[] = { "unknown", "full", "half", "in", "out" };

	return direction < sizeof(names) / sizeof(names[0]) ? names[direction] : names[0];
}

const char *const xsf_direction_names[XSF_DIRECTIONS] = {
	[XSF_INGRESS] = "ingress",
	[XSF_EGRESS] = "egress",
	[XSF_OTHER] = "other",
};

const char *const xsf_carrier_names[XSF_CARRIERS] = {
	[XSF_ROCE_V2] = "v2",
	[XSF_ROCE_TUNNEL] = "tunnel",
	[XSF_ROCE_V1] = "v1",
};

const char *const xsf_ecn_names[4] = { "not_ect", "ect1", "ect0", "ce" };

const uint32_t xsf_credits[XSF_CREDIT_CODES] = {
	0,    1,    2,	  3,	4,    6,     8,	    12,	   16,	  24,	32,
	48,   64,   96,	  128,	192,  256,   384,   512,   768,	  1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

static void add(struct xsf_count *sum, const struct xsf_count *count)
{
	sum->samples += count->samples;
	sum->packets += count->packets;
}

struct xsf_count xsf_tos_ecn(const struct xsf_count tos[256], uint32_t ecn)
{
	struct xsf_count sum = { 0 };

	for (uint32_t i = ecn & 3; i < 256; i += 4)
		add(&sum, &tos[i]);
	return sum;
}

struct xsf_count xsf_tos_dscp(const struct xsf_count tos[256], uint32_t dscp)
{
	struct xsf_count sum = { 0 };

	for (uint32_t ecn = 0; ecn < 4; ecn++)
		add(&sum, &tos[(dscp & 63) << 2 | ecn]);
	return sum;
}

uint64_t xsf_tos_samples(const struct xsf_count tos[256])
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 256; i++)
		sum += tos[i].samples;
	return sum;
}

const char *xsf_nak_name(uint32_t code)
{
	static const char *const names[XSF_NAK_CODES] = {
		"psn_sequence_error",	    "invalid_request",	  "remote_access_error",
		"remote_operational_error", "invalid_rd_request",
	};

	return code < XSF_NAK_CODES ? names[code] : "reserved";
}
