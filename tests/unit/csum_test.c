// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the audit of checksums says: verdicts, advice, JSON, metrics. */
#include "model/csum.h"

#include <jansson.h>
#include "cmd/load.h"
#include "cmd/repair.h"
#include "exposition.h"
#include "kernel/options.h"
#include "serve/json.h"

static struct xsf_csum_port ports[XSF_CSUM_PORTS];
static struct xsf_csum_address sources[1024];
static struct xsf_csum_attached attached[2];
static struct xsf_prefix_key from[XSF_CSUM_FROM_SHOWN];

static void source_address(uint8_t addr[16], uint32_t n)
{
	static const uint8_t documentation[4] = { 0x20, 0x01, 0x0d, 0xb8 };

	memset(addr, 0, 16);
	memcpy(addr, documentation, sizeof(documentation));
	addr[14] = (uint8_t)(n >> 8);
	addr[15] = (uint8_t)n;
}

static void watch(struct xsf_csum_attached *a, int n, uint16_t port, int repair)
{
	a->policy.watch[n].port = port;
	a->policy.watch[n].row = (uint8_t)n;
	a->policy.watch[n].repair = (uint8_t)repair;
}

/* eth0 observes the default ports; nothing has come. */
static void fill(struct xsf_csum *c)
{
	memset(ports, 0, sizeof(ports));
	memset(sources, 0, sizeof(sources));
	memset(attached, 0, sizeof(attached));
	memset(from, 0, sizeof(from));
	memset(c, 0, sizeof(*c));
	c->present = 1;
	c->ports = ports;
	c->sources = sources;
	c->attached = attached;
	c->nr_attached = 1;
	strcpy(attached[0].ifname, "eth0");
	strcpy(attached[0].how, "load");
	strcpy(attached[0].qdisc, "clsact");
	attached[0].policy_known = 1;
	attached[0].policy.set = 1;
	attached[0].pref = 10;
	attached[0].handle = 1;
	attached[0].from = from;
	watch(&attached[0], 0, 4739, 0);
	watch(&attached[0], 1, 6343, 0);
	watch(&attached[0], 2, 2055, 0);
}

static struct xsf_csum_address *add_source(struct xsf_csum *c, uint32_t n, uint64_t good,
					   uint64_t wrong)
{
	struct xsf_csum_address *s = &sources[c->nr_sources++];

	source_address(s->addr, n);
	s->counts.good = good;
	s->counts.observed_wrong = wrong;
	s->counts.first_seen_ns = 100 * SECOND;
	s->counts.last_seen_ns = 900 * SECOND;
	ports[0].port = 4739;
	ports[0].counts.good += good;
	ports[0].counts.observed_wrong += wrong;
	return s;
}

static enum xsf_csum_verdict verdict(uint64_t good, uint64_t wrong)
{
	struct xsf_csum_counts c = { .good = good, .observed_wrong = wrong };

	return xsf_csum_verdict(&c);
}

static void test_verdict(void **state)
{
	struct xsf_csum_counts c = { .repaired_zero = 5, .repaired_wrong = 4, .left_gso = 1000 };
	struct xsf_csum_counts left_alone = { .left_gso = 1000, .left_fragment = 1 };
	char says[XSF_CSUM_SAYS];

	(void)state;
	assert_int_equal(verdict(0, 0), XSF_CSUM_UNVERIFIED);
	assert_int_equal(xsf_csum_verdict(&left_alone), XSF_CSUM_UNVERIFIED);
	assert_string_equal(xsf_csum_verdict_name(XSF_CSUM_UNVERIFIED), "unverified");
	assert_string_equal(xsf_csum_says(&left_alone, says), "not verified");
	assert_int_equal(verdict(1000000, 0), XSF_CSUM_RIGHT);
	assert_int_equal(verdict(0, 1), XSF_CSUM_TOO_FEW);
	assert_int_equal(verdict(0, 9), XSF_CSUM_TOO_FEW);
	assert_int_equal(verdict(0, 10), XSF_CSUM_CHIP);
	assert_int_equal(verdict(9, 1), XSF_CSUM_CHIP);	    /* 10 % */
	assert_int_equal(verdict(10, 1), XSF_CSUM_UNCLEAR); /* 9.09 % */
	assert_int_equal(verdict(899, 100), XSF_CSUM_CHIP);
	assert_int_equal(verdict(901, 100), XSF_CSUM_UNCLEAR);
	assert_int_equal(verdict(99, 1), XSF_CSUM_UNCLEAR); /* 1 % */
	assert_int_equal(verdict(100, 1), XSF_CSUM_LINE);
	assert_int_equal(verdict(9900, 100), XSF_CSUM_UNCLEAR);
	assert_int_equal(verdict(9901, 100), XSF_CSUM_LINE);
	/* nothing overflows */
	assert_int_equal(verdict(1ull << 63, 1ull << 60), XSF_CSUM_CHIP);
	assert_int_equal(verdict(1ull << 63, 1ull << 50), XSF_CSUM_LINE);
	/* those repaired tell as much, those left alone nothing */
	assert_int_equal(xsf_csum_verdict(&c), XSF_CSUM_TOO_FEW);
	c.repaired_wrong++;
	assert_int_equal(xsf_csum_verdict(&c), XSF_CSUM_CHIP);
	assert_string_equal(xsf_csum_verdict_name(XSF_CSUM_CHIP), "chip");
	assert_string_equal(xsf_csum_verdict_text(XSF_CSUM_LINE), "rarely wrong: a line");

	c = (struct xsf_csum_counts){ .good = 120,
				      .observed_wrong = 70,
				      .repaired_zero = 10,
				      .first_seen_ns = 100 * SECOND,
				      .last_seen_ns = 112 * SECOND };
	assert_string_equal(xsf_csum_says(&c, says), "always wrong: a chip; 40 % of 200 in 12 s");
	c.good = 12000000;
	assert_string_equal(xsf_csum_says(&c, says),
			    "rarely wrong: a line; 0.000667 % of 12000080 in 12 s");
	c = (struct xsf_csum_counts){ .good = UINT64_MAX >> 1,
				      .observed_wrong = UINT64_MAX >> 2,
				      .last_seen_ns = UINT64_MAX };
	assert_non_null(strstr(xsf_csum_says(&c, says), " s"));
	c = (struct xsf_csum_counts){ .good = 1 };
	assert_string_equal(xsf_csum_says(&c, says), "right");
}

static void test_sums(void **state)
{
	struct xsf_csum_counts sum = { 0 }, one = { 0 };
	const struct xsf_csum_outcome *o;
	uint32_t n = 0;

	(void)state;
	/* each outcome a power of two: nothing is added twice, nothing left out */
	for (; (o = xsf_csum_outcome_at(n)); n++) {
		uint64_t bit = 1ull << n;

		memcpy((char *)&one + o->offset, &bit, sizeof(bit));
		assert_int_equal(xsf_csum_value(&one, o), bit);
	}
	assert_int_equal(n, XSF_SERIES_CSUM_PORT);
	assert_int_equal(n + 2, XSF_SERIES_CSUM_SOURCE);
	assert_int_equal(xsf_csum_repaired(&one), one.repaired_wrong + one.repaired_zero);
	assert_int_equal(xsf_csum_wrong(&one), xsf_csum_repaired(&one) + one.observed_wrong +
						       one.observed_zero + one.left_unwritable);
	assert_int_equal(xsf_csum_zero(&one), one.repaired_zero + one.observed_zero);
	assert_int_equal(xsf_csum_checked(&one), xsf_csum_wrong(&one) + one.good);
	assert_int_equal(xsf_csum_left(&one) + xsf_csum_checked(&one) - one.left_unwritable,
			 (1ull << n) - 1);

	one.first_seen_ns = 50;
	one.last_seen_ns = 60;
	xsf_csum_add(&sum, &one);
	one.first_seen_ns = 40;
	one.last_seen_ns = 55;
	xsf_csum_add(&sum, &one);
	one.first_seen_ns = 0; /* a CPU that saw nothing */
	one.last_seen_ns = 0;
	xsf_csum_add(&sum, &one);
	assert_int_equal(sum.good, 3 * one.good);
	assert_int_equal(sum.left_unwritable, 3 * one.left_unwritable);
	assert_int_equal(sum.first_seen_ns, 40);
	assert_int_equal(sum.last_seen_ns, 60);
}

static void prefix(struct xsf_csum_attached *a, uint32_t n, uint32_t len)
{
	struct xsf_prefix_key *p = &from[a->nr_from++];

	source_address(p->addr, n);
	p->prefixlen = len;
	a->policy.nr_prefixes++;
}

static void test_repairs(void **state)
{
	struct xsf_csum_attached *a = &attached[0];
	struct xsf_csum c;
	uint8_t addr[16];

	(void)state;
	fill(&c);
	source_address(addr, 0x0105);
	assert_string_equal(xsf_csum_mode(a), "observe");
	assert_false(xsf_csum_repairs(a, 4739, addr));
	a->policy.watch[0].repair = 1;
	assert_string_equal(xsf_csum_mode(a), "repair");
	assert_true(xsf_csum_repairs(a, 4739, addr));
	assert_false(xsf_csum_repairs(a, 6343, addr));
	assert_false(xsf_csum_repairs(a, 9995, addr));
	prefix(a, 0x0106, 128);
	assert_false(xsf_csum_repairs(a, 4739, addr));
	prefix(a, 0x0104, 126); /* 104 to 107 */
	assert_true(xsf_csum_repairs(a, 4739, addr));
	source_address(addr, 0x0103);
	assert_false(xsf_csum_repairs(a, 4739, addr));
	source_address(addr, 0x0108);
	assert_false(xsf_csum_repairs(a, 4739, addr));
	prefix(a, 0, 0);
	assert_true(xsf_csum_repairs(a, 4739, addr));
	a->policy_known = 0;
	assert_string_equal(xsf_csum_mode(a), "unknown");
	assert_false(xsf_csum_repairs(a, 4739, addr));
	/* attached with tc alone */
	a->policy_known = 1;
	memset(&a->policy, 0, sizeof(a->policy));
	assert_string_equal(xsf_csum_mode(a), "default");
	assert_true(xsf_csum_repairs(a, 2055, addr));
	assert_false(xsf_csum_repairs(a, 9995, addr));
}

static struct xsf_csum_advice advice;

static void expect_warned(const struct xsf_csum *c, const char *want, const char *warning)
{
	size_t len = xsf_csum_advice(c, &attached[0], &advice);

	assert_string_equal(advice.command, want);
	assert_int_equal(len, strlen(want));
	assert_string_equal(advice.warning, warning);
}

static void expect_advice(const struct xsf_csum *c, const char *want)
{
	expect_warned(c, want, "");
}

static void test_advice(void **state)
{
	struct xsf_csum c;

	(void)state;
	fill(&c);
	expect_advice(&c, "");
	add_source(&c, 1, 1000, 0);
	add_source(&c, 2, 1000, 1);
	add_source(&c, 3, 100, 5);
	expect_advice(&c, ""); /* right, a line, unclear: nothing to repair */
	add_source(&c, 4, 0, 100);
	expect_advice(&c, "xdp-sflow repair set eth0 --repair 4739 --repair-from 2001:db8::4");
	add_source(&c, 5, 50, 50);
	ports[1].port = 6343;
	ports[1].counts.observed_zero = 3;
	expect_advice(&c, "xdp-sflow repair set eth0 --repair 4739,6343 --repair-from 2001:db8::4 "
			  "--repair-from 2001:db8::5");

	/* what is repaired already stays so */
	ports[1].counts.observed_zero = 0;
	attached[0].policy.watch[0].repair = 1;
	attached[0].policy.watch[2].repair = 1;
	prefix(&attached[0], 4, 128);
	prefix(&attached[0], 0x0200, 120);
	expect_advice(&c, "xdp-sflow repair set eth0 --repair 4739,2055 --repair-from 2001:db8::4 "
			  "--repair-from 2001:db8::200/120 --repair-from 2001:db8::5");
	prefix(&attached[0], 5, 128);
	expect_advice(&c, "");

	/* of all sources: none is named */
	attached[0].nr_from = attached[0].policy.nr_prefixes = 0;
	expect_advice(&c, "");
	ports[1].counts.observed_wrong = 6; /* as many as can be of sources 2 and 3 */
	expect_advice(&c, "");
	ports[1].counts.observed_wrong = 7;
	expect_warned(&c, "xdp-sflow repair set eth0 --repair 4739,6343,2055",
		      "also repairs 2001:db8::2, a line, and 1 other source not known for chips");

	/* what cannot be known whole is not advised on */
	attached[0].policy.nr_prefixes = 65;
	expect_advice(&c, "");
	attached[0].policy.nr_prefixes = 0;
	attached[0].policy_known = 0;
	expect_advice(&c, "");
	attached[0].policy_known = 1;
	attached[0].policy.set = 0;
	expect_advice(&c, "");

	/* more than a command names; the longest fits */
	fill(&c);
	for (uint32_t n = 0; n < XSF_CSUM_ADVISED; n++) {
		struct xsf_csum_address *s = add_source(&c, n, 0, 10);

		memset(s->addr, 0xde, sizeof(s->addr));
		s->addr[15] = (uint8_t)n;
	}
	strcpy(attached[0].ifname, "fifteen.bytes.0");
	for (int n = 0; n < XSF_MAX_PORTS; n++)
		watch(&attached[0], n, (uint16_t)(65528 + n), 0);
	for (uint32_t n = 0; n < XSF_MAX_PORTS; n++) {
		ports[n].port = (uint16_t)(65528 + n);
		ports[n].counts.observed_wrong = 20;
	}
	for (uint32_t n = 0; n < XSF_CSUM_NAMED - XSF_CSUM_ADVISED; n++) {
		prefix(&attached[0], n, 127);
		memset(from[n].addr, 0xda, 15);
		from[n].addr[15] = (uint8_t)(2 * n);
	}
	watch(&attached[0], 0, 65528, 1);
	sources[99].counts.good = 10000;
	sources[99].counts.observed_wrong = 1; /* a line: the others must be named */
	c.nr_sources = 100;
	c.maps = "/sys/fs/bpf/a'b";
	{
		size_t len = xsf_csum_advice(&c, &attached[0], &advice);
		static const char last[] = ":dede:de0f --maps '/sys/fs/bpf/a'\\''b'";

		assert_true(len > 2300 && len < sizeof(advice.command) - XSF_CSUM_ADVICE_DIR);
		assert_string_equal(advice.command + len - strlen(last), last);
	}

	/* a host of those that are named already, and more than are named at once: some now, then others */
	fill(&c);
	for (uint32_t n = 0; n < 20; n++)
		add_source(&c, n, 0, 10);
	xsf_csum_advice(&c, &attached[0], &advice);
	assert_string_equal(advice.command, "xdp-sflow repair set eth0 --repair 4739");
	add_source(&c, 99, 1000, 1);
	xsf_csum_advice(&c, &attached[0], &advice);
	assert_non_null(strstr(advice.command, "--repair-from 2001:db8::f"));
	assert_null(strstr(advice.command, "--repair-from 2001:db8::10"));
	assert_string_equal(advice.warning, "");
}

/* A line beside a chip, and ports that this attachment does not watch. */
static void test_advice_beside(void **state)
{
	struct xsf_csum_address *s;
	struct xsf_csum c;

	(void)state;
	fill(&c);
	add_source(&c, 0xc, 0, 50);
	s = add_source(&c, 0xd, 2000, 3);
	ports[0].counts.observed_wrong -= 3;
	ports[1].port = 6343;
	ports[1].counts.good = 2000;
	ports[1].counts.observed_wrong = 3;
	ports[7].port = 7001; /* of another attachment, or of an earlier policy */
	ports[7].counts.observed_wrong = 20;
	expect_advice(&c, "xdp-sflow repair set eth0 --repair 4739,6343 --repair-from 2001:db8::c");
	/* all sources are repaired: that stays, and what only the line may have spoilt is not added */
	attached[0].policy.watch[2].repair = 1;
	expect_warned(&c, "xdp-sflow repair set eth0 --repair 4739,2055",
		      "also repairs 2001:db8::d, a line");
	attached[0].policy.watch[0].repair = 1;
	expect_advice(&c, "");
	/* a prefix in force has the line in it */
	attached[0].policy.watch[0].repair = 0;
	prefix(&attached[0], 0, 120);
	expect_warned(&c,
		      "xdp-sflow repair set eth0 --repair 4739,2055 --repair-from 2001:db8::/120 "
		      "--repair-from 2001:db8::c",
		      "also repairs 2001:db8::d, a line");
	s->counts.observed_wrong = 100;
	expect_advice(&c, "");

	/* whatever the name, and only where the command reaches */
	fill(&c);
	s = add_source(&c, 0xc, 0, 50);
	memset(s->addr, 0, 10);
	memset(s->addr + 10, 0xff, 2);
	memset(s->addr + 12, 10, 4);
	strcpy(attached[0].ifname, "-a b;");
	expect_advice(&c, "xdp-sflow repair set --repair 4739 --repair-from ::ffff:10.10.10.10 "
			  "-- '-a b;'");
	strcpy(attached[0].ifname, "eth\n0");
	expect_advice(&c, "");
	strcpy(attached[0].ifname, "eth0");
	strcpy(attached[0].how, "elsewhere");
	expect_advice(&c, "");
}

static uint32_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* A policy that `repair set` can have made, and an audit that need not be its own. */
static void make_up(struct xsf_csum *c)
{
	static const uint16_t some[] = { 7001, 7002, 7003, 7004, 7005, 9995 };
	int nr = 3, mode = (int)below(3);

	fill(c);
	for (int n = 0; mode && n < 3; n++)
		attached[0].policy.watch[n].repair = (uint8_t)below(2);
	for (size_t n = 0; mode && n < 6 && nr < XSF_MAX_PORTS; n++) {
		if (below(2))
			watch(&attached[0], nr++, some[n], 1);
	}
	if (mode == 2 && !strcmp(xsf_csum_mode(&attached[0]), "repair")) {
		for (uint32_t n = 1 + below(3) * below(30); n; n--) {
			if (attached[0].nr_from < XSF_CSUM_FROM_SHOWN)
				prefix(&attached[0], 16 * n, 128 - below(2) * 4);
		}
	}
	for (uint32_t n = below(3) * below(30); n; n--)
		add_source(c, n, below(2) * below(2000), below(2) * below(60));
	for (int n = 0; n < 20; n++) {
		ports[n].port = n < nr	 ? attached[0].policy.watch[n].port :
				below(2) ? (uint16_t)(20000 + n) :
					   0;
		ports[n].counts.observed_wrong = below(2) * below(300);
	}
	if (!below(4))
		c->totals.other_sources.observed_zero = below(100);
}

/* Takes the command as `repair set` does. */
static void take(struct xsf_csum_options *o)
{
	char line[XSF_CSUM_ADVICE], *at, *word;
	int opt = 0, nr = 0;

	memset(o, 0, sizeof(*o));
	snprintf(line, sizeof(line), "%s", advice.command);
	for (word = strtok_r(line, " ", &at); word; word = strtok_r(NULL, " ", &at), nr++) {
		static const char *const first[] = { "xdp-sflow", "repair", "set", "eth0" };

		if (nr < 4)
			assert_string_equal(word, first[nr]);
		else if (opt) {
			assert_int_equal(xsf_repair_arg(o, "repair", opt, word), 0);
			opt = 0;
		} else if (!strcmp(word, "--repair"))
			opt = XSF_OPT_REPAIR;
		else if (!strcmp(word, "--repair-from"))
			opt = XSF_OPT_REPAIR_FROM;
		else
			fail_msg("%s", word);
	}
	assert_int_equal(opt, 0);
	assert_true(o->repair[0] != 0);
	assert_int_equal(xsf_repair_args_check(o, "repair"), 0);
}

/* The attachment with the policy of the command, which takes the place of the one before. */
static void follow(const struct xsf_csum_options *o, struct xsf_csum_attached *now,
		   struct xsf_prefix_key now_from[XSF_CSUM_FROM_SHOWN])
{
	uint16_t known = 0;

	*now = attached[0];
	for (int n = 0; n < XSF_MAX_PORTS; n++)
		now->policy.watch[n].repair = 0;
	for (int i = 0; i < XSF_MAX_PORTS && o->repair[i]; i++) {
		for (int n = 0; n < XSF_MAX_PORTS; n++) {
			if (now->policy.watch[n].port == o->repair[i])
				known |= (uint16_t)(now->policy.watch[n].repair = 1);
		}
		assert_int_equal(known, 1); /* no port that is not watched */
		known = 0;
	}
	now->policy.nr_prefixes = now->nr_from = o->nr_from;
	assert_true(o->nr_from <= XSF_CSUM_FROM_SHOWN);
	memcpy(now_from, o->from, o->nr_from * sizeof(o->from[0]));
	now->from = now_from;
}

/* Whatever there is: the command is taken, ends nothing that is in force, and repairs no line unsaid. */
static void test_advice_property(void **state)
{
	static struct xsf_prefix_key now_from[XSF_CSUM_FROM_SHOWN];
	static struct xsf_csum_options o;
	uint32_t given = 0, warned = 0;
	struct xsf_csum c;

	(void)state;
	for (seed = 1; seed < 20001; seed++) {
		uint32_t at = seed, more = 0, lines = 0;
		struct xsf_csum_attached now;

		make_up(&c);
		seed = at;
		if (!xsf_csum_advice(&c, &attached[0], &advice))
			continue;
		given++;
		take(&o);
		follow(&o, &now, now_from);
		for (uint32_t s = 0; s < c.nr_sources; s++) {
			enum xsf_csum_verdict v = xsf_csum_verdict(&sources[s].counts);

			for (int n = 0; n < XSF_MAX_PORTS && now.policy.watch[n].port; n++) {
				uint16_t port = now.policy.watch[n].port;
				int was = xsf_csum_repairs(&attached[0], port, sources[s].addr);
				int is = xsf_csum_repairs(&now, port, sources[s].addr);

				assert_true(is || !was);
				more += is && !was && v == XSF_CSUM_CHIP;
				lines +=
					is && !was && (v == XSF_CSUM_LINE || v == XSF_CSUM_UNCLEAR);
			}
		}
		for (uint32_t n = 0; n < attached[0].nr_from; n++)
			assert_true(!now.nr_from || xsf_csum_from_has(&now, from[n].addr));
		assert_true(more > 0);
		assert_int_equal(!!lines, advice.warning[0] && !strstr(advice.warning, "no place"));
		warned += lines > 0;
	}
	/* It was about something. */
	assert_true(given > 2000);
	assert_true(warned > 100);
}

static ssize_t read_json(void *j, char *buf, size_t max)
{
	return xsf_json_read(j, buf, max);
}

static json_t *parse(struct xsf_json *j, size_t chunk)
{
	char *text = fixture_read(read_json, j, chunk);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		fail_msg("%d:%d %s", error.line, error.column, error.text);
	free(text);
	xsf_json_close(j);
	return root;
}

static void test_json(void **state)
{
	struct fixture *f = fixture_new(4, 4);
	json_t *alone, *whole, *c;

	(void)state;
	/* without the maps no such key */
	whole = parse(xsf_json_open(&f->s), 100);
	assert_null(json_object_get(whole, "checksum"));
	json_decref(whole);

	fill(&f->s.csum);
	add_source(&f->s.csum, 1, 7, 20);
	f->s.csum.totals.packets = 30;
	f->s.csum.totals.datagrams = 27;
	f->s.csum.totals.not_ip6 = 3;
	strcpy(attached[0].ahead, "bpf \"theirs\" (pref 1)");
	attached[0].before = 1;
	prefix(&attached[0], 0, 32);
	whole = parse(xsf_json_open(&f->s), 100);
	alone = parse(xsf_json_open_csum(&f->s.csum), 7);
	assert_int_equal(json_object_size(alone), 1);
	c = json_object_get(alone, "checksum");
	assert_true(json_equal(c, json_object_get(whole, "checksum")));
	assert_non_null(json_object_get(whole, "totals"));

	assert_int_equal(json_integer_value(json_object_get(c, "packets")), 30);
	c = json_array_get(json_object_get(c, "attached"), 0);
	assert_string_equal(json_string_value(json_object_get(c, "ifname")), "eth0");
	assert_string_equal(json_string_value(json_object_get(c, "mode")), "observe");
	assert_string_equal(json_string_value(json_object_get(c, "before")), attached[0].ahead);
	assert_int_equal(json_array_size(json_object_get(c, "ports")), 3);
	assert_string_equal(json_string_value(json_array_get(json_object_get(c, "repair_from"), 0)),
			    "2001:db8::/32");
	assert_string_equal(json_string_value(json_object_get(c, "advice")),
			    "xdp-sflow repair set eth0 --repair 4739 --repair-from 2001:db8::/32 "
			    "--repair-from 2001:db8::1");
	c = json_object_get(json_object_get(alone, "checksum"), "sources");
	assert_int_equal(json_array_size(c), 1);
	c = json_array_get(c, 0);
	assert_string_equal(json_string_value(json_object_get(c, "source")), "2001:db8::1");
	assert_string_equal(json_string_value(json_object_get(c, "verdict")), "chip");
	assert_int_equal(json_integer_value(json_object_get(c, "checked")), 27);
	assert_int_equal(json_integer_value(json_object_get(c, "observed_wrong")), 20);
	json_decref(alone);
	json_decref(whole);
	fixture_free(f);
}

static void test_metrics(void **state)
{
	static const char *const lines[] = {
		"xdp_sflow_checksum_program_info{ifname=\"eth0\",ifindex=\"0\",mode=\"observe\","
		"how=\"load\",pref=\"10\",filters_before=\"0\",prog_id=\"0\"} 1",
		"xdp_sflow_checksum_packets_total{outcome=\"not_ip6\"} 3",
		"xdp_sflow_checksum_packets_total{outcome=\"datagram\"} 27",
		"xdp_sflow_checksum_datagrams_total{port=\"4739\",outcome=\"good\"} 7",
		"xdp_sflow_checksum_datagrams_total{port=\"4739\",outcome=\"observed_wrong\"} 20",
		"xdp_sflow_checksum_source_datagrams_total{source=\"2001:db8::1\",outcome=\"good\"}"
		" 7",
		"xdp_sflow_checksum_source_first_seen_timestamp_seconds{source=\"2001:db8::1\"} "
		"4100.000",
		"xdp_sflow_checksum_source_last_seen_timestamp_seconds{source=\"2001:db8::1\"} "
		"4900.000",
		"xdp_sflow_checksum_sources 1",
		"xdp_sflow_checksum_sources_hidden 0",
		NULL,
	};
	const struct xsf_metrics_options o = { .unix_now_ns = 5000 * SECOND };
	struct fixture *f = fixture_new(4, 4);
	uint32_t families;
	char *text;

	(void)state;
	text = render(f, &o, 4096);
	assert_int_equal(count_of(text, "checksum"), 0);
	free(text);
	fill(&f->s.csum);
	add_source(&f->s.csum, 1, 7, 20);
	f->s.csum.totals.datagrams = 27;
	f->s.csum.totals.not_ip6 = 3;
	text = render(f, &o, 100);
	read_exposition(text, &families, NULL);
	expect_lines(text, lines);
	assert_int_equal(count_of(text, "left_gso"), 0);
	assert_int_equal(count_of(text, "{source=\"other\""), 0);
	free(text);
	fixture_free(f);
}

/* More sources than have series: the first ones stay, the others add up. */
static void test_metrics_bound(void **state)
{
	static const char *const lines[] = {
		"xdp_sflow_checksum_source_datagrams_total{source=\"other\",outcome=\"good\"} 264",
		/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
		"xdp_sflow_checksum_source_datagrams_total{source=\"other\",outcome=\"left_gso\"} "
		"5",
		"xdp_sflow_checksum_sources 600",
		"xdp_sflow_checksum_sources_hidden 88",
		"xdp_sflow_checksum_sources_full_total 5",
		"xdp_sflow_checksum_sources_reclaimed_total 7",
		NULL,
	};
	struct fixture *f = fixture_new(4, 4);
	uint32_t series;
	char *text;

	(void)state;
	fill(&f->s.csum);
	for (uint32_t n = 0; n < 600; n++)
		add_source(&f->s.csum, n, 3, 0);
	f->s.csum.totals.other_sources.left_gso = 5;
	f->s.csum.totals.sources_full = 5;
	f->s.csum.totals.sources_reclaimed = 7;
	text = render(f, NULL, 4096);
	read_exposition(text, NULL, &series);
	expect_lines(text, lines);
	assert_int_equal(count_of(text, "source=\"2001:db8::1ff\",outcome"), 1);
	assert_int_equal(count_of(text, "source=\"2001:db8::200\",outcome"), 0);
	assert_int_equal(count_of(text, "source_last_seen_timestamp_seconds{"), 512);
	free(text);

	/* the most of one port and one source */
	for (uint32_t n = 0; xsf_csum_outcome_at(n); n++) {
		const uint64_t one = 1;

		memcpy((char *)&sources[5].counts + xsf_csum_outcome_at(n)->offset, &one, 8);
		memcpy((char *)&ports[0].counts + xsf_csum_outcome_at(n)->offset, &one, 8);
	}
	text = render(f, NULL, 4096);
	assert_int_equal(count_of(text, "{source=\"2001:db8::5\""), XSF_SERIES_CSUM_SOURCE);
	assert_int_equal(count_of(text, "{port=\"4739\""), XSF_SERIES_CSUM_PORT);
	free(text);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdict),	      cmocka_unit_test(test_sums),
		cmocka_unit_test(test_repairs),	      cmocka_unit_test(test_advice),
		cmocka_unit_test(test_advice_beside), cmocka_unit_test(test_advice_property),
		cmocka_unit_test(test_json),	      cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_metrics_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
