// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/csum.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/snapshot.h"

#define OUTCOME(id, text) { #id, text, offsetof(struct xsf_csum_counts, id) },
static const struct xsf_csum_outcome outcomes[] = { XSF_CSUM_OUTCOMES(OUTCOME) };

#define PACKET_OUTCOME(id, text) { #id, text, offsetof(struct xsf_csum_totals, id) },
static const struct xsf_csum_outcome packet_outcomes[] = { XSF_CSUM_PACKET_OUTCOMES(
	PACKET_OUTCOME) };

#define NR(table) (sizeof(table) / sizeof((table)[0]))

const struct xsf_csum_outcome *xsf_csum_outcome_at(uint32_t i)
{
	return i < NR(outcomes) ? &outcomes[i] : NULL;
}

const struct xsf_csum_outcome *xsf_csum_packet_outcome_at(uint32_t i)
{
	return i < NR(packet_outcomes) ? &packet_outcomes[i] : NULL;
}

uint64_t xsf_csum_value(const struct xsf_csum_counts *counts, const struct xsf_csum_outcome *o)
{
	uint64_t value;

	memcpy(&value, (const char *)counts + o->offset, sizeof(value));
	return value;
}

void xsf_csum_add(struct xsf_csum_counts *sum, const struct xsf_csum_counts *one)
{
#define ADD(id, help) sum->id += one->id;
	XSF_CSUM_OUTCOMES(ADD)
	if (one->first_seen_ns && (!sum->first_seen_ns || one->first_seen_ns < sum->first_seen_ns))
		sum->first_seen_ns = one->first_seen_ns;
	if (one->last_seen_ns > sum->last_seen_ns)
		sum->last_seen_ns = one->last_seen_ns;
}

uint64_t xsf_csum_zero(const struct xsf_csum_counts *c)
{
	return c->repaired_zero + c->observed_zero;
}

uint64_t xsf_csum_repaired(const struct xsf_csum_counts *c)
{
	return c->repaired_wrong + c->repaired_zero;
}

uint64_t xsf_csum_wrong(const struct xsf_csum_counts *c)
{
	return xsf_csum_repaired(c) + c->observed_wrong + c->observed_zero + c->left_unwritable;
}

uint64_t xsf_csum_checked(const struct xsf_csum_counts *c)
{
	return c->good + xsf_csum_wrong(c);
}

uint64_t xsf_csum_left(const struct xsf_csum_counts *c)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < NR(outcomes); i++)
		all += xsf_csum_value(c, &outcomes[i]);
	return all - c->good - xsf_csum_repaired(c) - c->observed_wrong - c->observed_zero;
}

enum xsf_csum_verdict xsf_csum_verdict(const struct xsf_csum_counts *c)
{
	uint64_t wrong = xsf_csum_wrong(c), checked = xsf_csum_checked(c);

	if (!checked)
		return XSF_CSUM_UNVERIFIED;
	if (!wrong)
		return XSF_CSUM_RIGHT;
	if (checked < XSF_CSUM_FEW)
		return XSF_CSUM_TOO_FEW;
	/* Shares of what was counted once: divided, so that nothing overflows. */
	if (wrong >= (checked + 100 / XSF_CSUM_CHIP_PERCENT - 1) / (100 / XSF_CSUM_CHIP_PERCENT))
		return XSF_CSUM_CHIP;
	return wrong <= (checked - 1) / (100 / XSF_CSUM_LINE_PERCENT) ? XSF_CSUM_LINE :
									XSF_CSUM_UNCLEAR;
}

const char *xsf_csum_verdict_name(enum xsf_csum_verdict v)
{
	static const char *const names[] = {
		[XSF_CSUM_UNVERIFIED] = "unverified",
		[XSF_CSUM_RIGHT] = "right",
		[XSF_CSUM_TOO_FEW] = "few",
		[XSF_CSUM_CHIP] = "chip",
		[XSF_CSUM_LINE] = "line",
		[XSF_CSUM_UNCLEAR] = "unclear",
	};

	return names[v];
}

const char *xsf_csum_verdict_text(enum xsf_csum_verdict v)
{
	static const char *const texts[] = {
		[XSF_CSUM_UNVERIFIED] = "not verified",
		[XSF_CSUM_RIGHT] = "right",
		[XSF_CSUM_TOO_FEW] = "too few to tell",
		[XSF_CSUM_CHIP] = "always wrong: a chip",
		[XSF_CSUM_LINE] = "rarely wrong: a line",
		[XSF_CSUM_UNCLEAR] = "often wrong: unclear",
	};

	return texts[v];
}

const char *xsf_csum_says(const struct xsf_csum_counts *c, char buf[XSF_CSUM_SAYS])
{
	uint64_t wrong = xsf_csum_wrong(c), checked = xsf_csum_checked(c);
	const char *text = xsf_csum_verdict_text(xsf_csum_verdict(c));
	double seconds = 0;

	if (c->last_seen_ns > c->first_seen_ns)
		seconds = (double)(c->last_seen_ns - c->first_seen_ns) / 1e9;
	if (wrong)
		snprintf(buf, XSF_CSUM_SAYS, "%s; %.3g %% of %" PRIu64 " in %.0f s", text,
			 100 * ((double)wrong / (double)checked), checked, seconds);
	else
		snprintf(buf, XSF_CSUM_SAYS, "%s", text);
	return buf;
}

static int in_prefix(const struct xsf_prefix_key *p, const uint8_t addr[16])
{
	uint32_t bytes = p->prefixlen / 8, bits = p->prefixlen % 8;

	if (p->prefixlen > 128 || memcmp(p->addr, addr, bytes) != 0)
		return 0;
	return !bits || !((p->addr[bytes] ^ addr[bytes]) & (0xff00 >> bits & 0xff));
}

static int repairs_port(const struct xsf_csum_policy *policy, uint16_t port)
{
	for (int n = 0; n < XSF_MAX_PORTS && policy->watch[n].port; n++) {
		if (policy->watch[n].port == port)
			return policy->watch[n].repair;
	}
	return 0;
}

#define IS_DEFAULT(port, row) case port:
static int is_default(uint16_t port)
{
	switch (port) {
		XSF_CSUM_DEFAULTS(IS_DEFAULT)
		return 1;
	}
	return 0;
}

int xsf_csum_from_has(const struct xsf_csum_attached *a, const uint8_t addr[16])
{
	for (uint32_t n = 0; n < a->nr_from; n++) {
		if (in_prefix(&a->from[n], addr))
			return 1;
	}
	return 0;
}

int xsf_csum_repairs(const struct xsf_csum_attached *a, uint16_t port, const uint8_t addr[16])
{
	if (!a->policy_known)
		return 0;
	if (!a->policy.set)
		return is_default(port);
	if (!repairs_port(&a->policy, port))
		return 0;
	return !a->policy.nr_prefixes || xsf_csum_from_has(a, addr);
}

const char *xsf_csum_mode(const struct xsf_csum_attached *a)
{
	if (!a->policy_known)
		return "unknown";
	if (!a->policy.set)
		return "default";
	for (int n = 0; n < XSF_MAX_PORTS; n++) {
		if (a->policy.watch[n].port && a->policy.watch[n].repair)
			return "repair";
	}
	return "observe";
}

const char *xsf_csum_prefix_text(const struct xsf_prefix_key *p, char *buf)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char addr[XSF_ADDRESS_TEXT];
	/* An address of IPv6 all the same, and only in this form an option takes it. */
	const char *before = memcmp(p->addr, mapped, sizeof(mapped)) ? "" : "::ffff:";

	xsf_address_text(p->addr, addr);
	if (p->prefixlen >= 128)
		snprintf(buf, XSF_CSUM_PREFIX_TEXT, "%s%s", before, addr);
	else
		snprintf(buf, XSF_CSUM_PREFIX_TEXT, "%s%s/%u", before, addr, p->prefixlen);
	return buf;
}
