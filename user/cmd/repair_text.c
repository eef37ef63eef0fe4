// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/output.h"
#include "cmd/repair.h"
#include "model/snapshot.h"

/* The watched ports with this mark; returns how many. */
static int ports_text(const struct xsf_csum_policy *p, int repair, char *buf, size_t size)
{
	size_t len = 0;
	int nr = 0;

	buf[0] = 0;
	for (int n = 0; n < XSF_MAX_PORTS && p->watch[n].port && len < size; n++) {
		if (p->watch[n].repair != repair)
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%u", nr++ ? ", " : "",
					p->watch[n].port);
	}
	return nr;
}

const char *xsf_repairing_text(const struct xsf_csum_policy *policy, char buf[XSF_POLICY_TEXT])
{
	char ports[64], from[48] = "";

	buf[0] = 0;
	if (!policy->set)
		snprintf(buf, XSF_POLICY_TEXT, "repairing its default ports from any source");
	else if (ports_text(policy, 1, ports, sizeof(ports))) {
		if (policy->nr_prefixes)
			snprintf(from, sizeof(from), " from %u prefix%s", policy->nr_prefixes,
				 policy->nr_prefixes == 1 ? "" : "es");
		snprintf(buf, XSF_POLICY_TEXT, "repairing %s%s", ports, from);
	}
	return buf;
}

const char *xsf_policy_text(const struct xsf_csum_policy *policy, char buf[XSF_POLICY_TEXT])
{
	char observes[64];
	size_t len = strlen(xsf_repairing_text(policy, buf));

	if (policy->set && ports_text(policy, 0, observes, sizeof(observes)))
		snprintf(buf + len, XSF_POLICY_TEXT - len, "%sobserving %s", len ? ", " : "",
			 observes);
	return buf;
}

static void print_attached(const struct xsf_csum_attached *a)
{
	char policy[XSF_POLICY_TEXT], prefix[XSF_CSUM_PREFIX_TEXT];
	const char *by = !strcmp(a->how, "external")	? "by tc" :
			 !strcmp(a->how, "elsewhere")	? "in another network namespace" :
			 !strcmp(a->how, "unconfirmed") ? "by load, not yet confirmed" :
			 !strcmp(a->how, "abandoned")	? "by a load --confirm that was killed" :
							  "by load";

	printf("  %-15s %s, %s, tc preference %" PRIu32 ", program %" PRIu32 "\n", a->ifname,
	       a->policy_known ? xsf_policy_text(&a->policy, policy) : "unknown policy", by,
	       a->pref, a->prog_id);
	if (!strcmp(a->how, "abandoned"))
		printf("  %-15s not confirmed, and nothing undoes it: xdp-sflow unload %s\n", "",
		       a->ifname);
	for (uint32_t n = 0; n < a->nr_from && n < XSF_SUMMARY_ROWS; n++)
		printf("  %-15s repairs from %s\n", "", xsf_csum_prefix_text(&a->from[n], prefix));
	if (a->nr_from > XSF_SUMMARY_ROWS)
		printf("  %-15s ... and %" PRIu32 " more prefixes\n", "",
		       a->policy.nr_prefixes - XSF_SUMMARY_ROWS);
	if (a->before)
		printf("  %-15s behind %" PRIu32 " filter%s: %s; what %s a verdict on does not "
		       "reach it\n",
		       "", a->before, a->before == 1 ? "" : "s", a->ahead,
		       a->before == 1 ? "that one gives" : "those give");
	if (a->run_count)
		printf("  %-15s %" PRIu64 " runs, %" PRIu64 " ns each\n", "", a->run_count,
		       a->run_time_ns / a->run_count);
}

static void print_counts(const struct xsf_csum_counts *c)
{
	printf(" %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64,
	       (uint64_t)c->good, xsf_csum_wrong(c), xsf_csum_zero(c), xsf_csum_repaired(c),
	       xsf_csum_left(c));
}

static void head(const char *what, const char *last)
{
	printf("  %-39s %10s %10s %10s %10s %10s %s\n", what, "right", "wrong", "zero", "repaired",
	       "left", last);
}

/* What `left` is made of. */
static void print_left(const struct xsf_csum *c)
{
	const struct xsf_csum_outcome *o;

	for (uint32_t i = 0; (o = xsf_csum_outcome_at(i)); i++) {
		uint64_t sum = 0;

		for (uint32_t row = 0; row < XSF_CSUM_PORTS; row++)
			sum += xsf_csum_value(&c->ports[row].counts, o);
		if (sum && !strncmp(o->name, "left_", 5))
			printf("  %-39s %10" PRIu64 " %s\n", o->name, sum, o->help);
	}
}

static double seconds_ago(uint64_t now_ns, uint64_t ns)
{
	return now_ns > ns ? (double)(now_ns - ns) / 1e9 : 0;
}

/* What one looks for comes first: chips, then what may be one, then lines. */
static int verdict_rank(const struct xsf_csum_address *s)
{
	static const int ranks[] = {
		[XSF_CSUM_CHIP] = 0,	[XSF_CSUM_UNCLEAR] = 1,	   [XSF_CSUM_LINE] = 2,
		[XSF_CSUM_TOO_FEW] = 3, [XSF_CSUM_UNVERIFIED] = 4, [XSF_CSUM_RIGHT] = 5,
	};

	return ranks[xsf_csum_verdict(&s->counts)];
}

/* Is `a` to stand before `b`, which has a later place in the table? */
static int comes_first(const struct xsf_csum_address *a, const struct xsf_csum_address *b)
{
	int rank_a = verdict_rank(a), rank_b = verdict_rank(b);

	return rank_a != rank_b ? rank_a < rank_b :
				  xsf_csum_wrong(&a->counts) >= xsf_csum_wrong(&b->counts);
}

/* The XSF_SUMMARY_ROWS that come first, in order. Returns how many there are. */
static uint32_t first_sources(const struct xsf_csum *c, const struct xsf_csum_address **first)
{
	uint32_t nr = 0;

	for (uint32_t n = 0; n < c->nr_sources; n++) {
		const struct xsf_csum_address *s = &c->sources[n];
		uint32_t at;

		if (nr == XSF_SUMMARY_ROWS && comes_first(first[nr - 1], s))
			continue;
		at = nr < XSF_SUMMARY_ROWS ? nr++ : nr - 1;
		for (; at && !comes_first(first[at - 1], s); at--)
			first[at] = first[at - 1];
		first[at] = s;
	}
	return nr;
}

static void print_sources(const struct xsf_csum *c, uint64_t now_ns)
{
	const struct xsf_csum_address *first[XSF_SUMMARY_ROWS];
	uint32_t nr = first_sources(c, first);
	char address[XSF_ADDRESS_TEXT], says[XSF_CSUM_SAYS];

	if (!nr)
		return;
	head("source", "  seen s ago");
	for (uint32_t n = 0; n < nr; n++) {
		const struct xsf_csum_counts *counts = &first[n]->counts;

		printf("  %-39s", xsf_address_text(first[n]->addr, address));
		print_counts(counts);
		printf(" %12.1f  %s\n", seconds_ago(now_ns, counts->last_seen_ns),
		       xsf_csum_says(counts, says));
	}
	if (nr < c->nr_sources)
		printf("  ... and %" PRIu32 " more (--json lists all)\n", c->nr_sources - nr);
	if (c->totals.sources_full)
		printf("  %-39s %10" PRIu64 " datagrams: no place in the table of %d sources\n",
		       "other", (uint64_t)c->totals.sources_full, XSF_CSUM_SOURCES);
	if (c->totals.sources_reclaimed)
		printf("  %-39s %10" PRIu64
		       " silent sources lost their places; their datagrams are "
		       "in the totals only\n",
		       "other", (uint64_t)c->totals.sources_reclaimed);
}

void xsf_print_csum(const struct xsf_csum *c, uint64_t now_ns)
{
	struct xsf_csum_advice advice;
	int shown = 0;

	if (!c->present)
		return;
	printf("UDP checksums over IPv6: %" PRIu32 " program%s%s at tc ingress saw %" PRIu64
	       " packets, %" PRIu64 " datagrams to watched ports\n",
	       c->nr_attached, c->nr_attached == 1 ? "" : "s",
	       c->nr_attached == XSF_MAX_ATTACHED ? " (no more are shown)" : "",
	       (uint64_t)c->totals.packets, (uint64_t)c->totals.datagrams);
	for (uint32_t n = 0; n < c->nr_attached; n++)
		print_attached(&c->attached[n]);
	for (uint32_t row = 0; row < XSF_CSUM_PORTS; row++) {
		if (!c->ports[row].port)
			continue;
		if (!shown++)
			head("port", "");
		printf("  %-39u", c->ports[row].port);
		print_counts(&c->ports[row].counts);
		putchar('\n');
	}
	print_left(c);
	print_sources(c, now_ns);
	for (uint32_t n = 0; n < c->nr_attached; n++) {
		if (!xsf_csum_advice(c, &c->attached[n], &advice))
			continue;
		printf("To repair: %s\n", advice.command);
		if (advice.warning[0])
			printf("           %s\n", advice.warning);
	}
}
