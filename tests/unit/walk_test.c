// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The walk through a datagram: what is a fault and of which kind, what stands before and behind it, and
 * where the walk ends. */
#include "fed.h"

/* Number of faults of all kinds, and of one. */
static uint64_t faults(const struct xsf_snapshot *s)
{
	return xsf_total_sum(s, XSF_LIST_FAULTS);
}

/* A flow sample with one sampled packet: 96 bytes of body. */
static uint32_t flow(struct wire *w, uint32_t n)
{
	struct wire packet = { 0 };
	uint32_t body;

	wire_roce4(&packet, 4, 0, 2);
	body = wire_flow(w, n, 3, 100, 3, 4, 1);
	wire_header(w, 1, 1000, packet.p, packet.len);
	wire_close(w, body);
	return body;
}

static void test_headers(void **state)
{
	static const uint8_t agent6[16] = { 0x20, 1, [15] = 1 };
	struct fed *f = *state;
	const struct xsf_snapshot *s;

	/* Every length up to the header's, by its kind: the version, the address type, the rest. */
	for (int ip6 = 0; ip6 < 2; ip6++) {
		uint32_t header = ip6 ? 40 : 28;

		for (uint32_t len = 0; len <= header; len++) {
			uint64_t was;

			f->w.len = 0;
			if (ip6)
				wire_datagram6(&f->w, agent6, 0, len + 1, 1000, 0);
			else
				wire_datagram(&f->w, AGENT, 0, len + 1, 1000, 0);
			f->w.len = len;
			was = f->s.totals.fault_short_header;
			s = fed_end(f);
			assert_int_equal(s->totals.fault_short_header, was + (len < header));
		}
	}
	assert_int_equal(f->s.totals.datagram_sound, 2);
	assert_int_equal(f->s.totals.datagram_refused, 28 + 40);
	assert_int_equal(f->s.nr_agents, 3);

	for (uint32_t version = 0; version < 8; version++) {
		if (version == 5)
			continue;
		fed_begin(f, 0);
		f->w.p[3] = (uint8_t)version;
		f->w.len = 4;
		fed_end(f);
	}
	fed_begin(f, 0);
	f->w.p[0] = 5; /* little endian */
	f->w.p[3] = 0;
	s = fed_end(f);
	assert_int_equal(s->totals.fault_bad_version, 8);
	for (uint32_t type = 0; type < 5; type++) {
		if (type == 1 || type == 2)
			continue;
		fed_begin(f, 0);
		f->w.p[7] = (uint8_t)type;
		f->w.len = 8;
		fed_end(f);
	}
	assert_int_equal(f->s.totals.fault_bad_agent_type, 3);
	assert_int_equal(f->s.nr_agents, 3);
}

/* A datagram of all sample types cut at every byte: the samples that end before it count, all of each and
 * nothing of the next; then one fault. */
static void test_every_cut(void **state)
{
	struct fed *f = *state;
	uint32_t ends[8], nr = 0, body;
	struct wire whole;

	fed_begin(f, 6);
	flow(&f->w, 1);
	ends[nr++] = f->w.len;
	body = wire_flow_expanded(&f->w, 1, 0, 5, 100, (struct wire_if){ 0, 5 },
				  (struct wire_if){ 0, 6 }, 0);
	wire_close(&f->w, body);
	ends[nr++] = f->w.len;
	body = wire_counters(&f->w, 1, 3, 2);
	wire_if_counters(&f->w, 3, 5);
	wire_string(&f->w, 1005, "eth0", 4);
	wire_close(&f->w, body);
	ends[nr++] = f->w.len;
	body = wire_counters_expanded(&f->w, 1, 2, 1, 1);
	wire_string(&f->w, 2000, "leaf1", 5);
	wire_close(&f->w, body);
	ends[nr++] = f->w.len;
	body = wire_drop(&f->w, 1, 0, 0, 1, 258, 1);
	wire_string(&f->w, 1038, "nf_hook_slow", 12);
	wire_close(&f->w, body);
	ends[nr++] = f->w.len;
	body = wire_open(&f->w, 4300 << 12 | 1002);
	wire_fill(&f->w, 0, 8);
	wire_close(&f->w, body);
	ends[nr++] = f->w.len;
	whole = f->w;

	for (uint32_t len = 28; len <= whole.len; len++) {
		uint32_t there = 0;
		struct xsf_totals *t = &f->s.totals;
		struct xsf_config config;

		while (there < nr && ends[there] <= len)
			there++;
		xsf_config_defaults(&config);
		fed_again(f, &config);
		f->w = whole;
		f->w.len = len;
		fed_end(f);
		assert_int_equal(t->sample_flow, there >= 1);
		assert_int_equal(t->sample_flow_expanded, there >= 2);
		assert_int_equal(t->sample_counter, there >= 3);
		assert_int_equal(t->sample_counter_expanded, there >= 4);
		assert_int_equal(t->sample_drop, there >= 5);
		assert_int_equal(t->sample_unknown, there >= 6);
		assert_int_equal(t->fault_sample_overrun, there < nr);
		assert_int_equal(faults(&f->s), there < nr);
		assert_int_equal(t->sampled_packets, there >= 2 ? 200 : there * 100);
		assert_int_equal(f->s.agents[1].name_len, there >= 4 ? 5 : 0);
	}
}

/* A sample of `tag` with `len` bytes of body that begin with these words, between two sound ones. */
static const struct xsf_snapshot *between(struct fed *f, uint32_t tag, const uint32_t *words,
					  uint32_t nr, uint32_t len)
{
	uint32_t body;

	fed_begin(f, 3);
	flow(&f->w, 2 * f->sequence);
	body = wire_open(&f->w, tag);
	for (uint32_t i = 0; i < nr && 4 * i < len; i++)
		wire_32(&f->w, words[i]);
	if (f->w.len - body < len)
		wire_fill(&f->w, 0, len - (f->w.len - body));
	f->w.len = body + len;
	wire_close(&f->w, body);
	flow(&f->w, 2 * f->sequence + 1);
	return fed_end(f);
}

/* Shorter than its fixed part: nothing of the sample counts, its neighbours do. */
static void test_short_samples(void **state)
{
	static const uint32_t fixed[6] = { 0, 32, 12, 44, 16, 32 };
	static const uint32_t zeros[11];
	struct fed *f = *state;
	uint64_t short_body = 0, samples = 0;

	for (uint32_t tag = 1; tag <= 5; tag++) {
		for (uint32_t len = 0; len <= fixed[tag] + 5; len++) {
			between(f, tag, zeros, 11, len);
			short_body += len < fixed[tag];
			samples += len >= fixed[tag];
			assert_int_equal(f->s.totals.fault_short_body, short_body);
			assert_int_equal(f->s.totals.datagram_faulty, short_body);
			assert_int_equal(faults(&f->s), short_body);
			assert_int_equal(xsf_total_sum(&f->s, XSF_LIST_SAMPLES),
					 samples + 2 * (samples + short_body));
		}
	}
	/* Other tags have no fixed part. */
	for (uint32_t tag = 6; tag < 9; tag++)
		between(f, tag, zeros, 0, tag % 3);
	between(f, 0, zeros, 0, 0);
	between(f, 1 << 12 | 1, zeros, 0, 4);
	between(f, 0xffffffff, zeros, 0, 7);
	assert_int_equal(f->s.totals.sample_unknown, 6);
	assert_int_equal(faults(&f->s), short_body);
}

/* Records: too many announced, too long, fewer announced than there are. */
static void test_records(void **state)
{
	struct fed *f = *state;
	/* seq, source, rate, pool, drops, in, out, records; then records: tag, length, body */
	uint32_t w[] = { 1, 9, 10, 0, 0, 9, 4, 2, 0x1001, 4, 7, 0x1002, 4, 8 };
	const uint32_t all = sizeof(w);
	uint64_t overrun = 0, sound = 0;

	between(f, 1, w, 14, all);
	sound++;
	w[7] = 1; /* one announced: the second is not looked at */
	w[12] = 0xffffffff;
	between(f, 1, w, 14, all);
	sound++;
	w[12] = 4;
	w[7] = 0;
	between(f, 1, w, 14, all);
	sound++;
	assert_int_equal(faults(&f->s), 0);
	/* three, or 2^32 - 1, announced and two there */
	for (uint32_t n = 3; n; n = n == 3 ? 0x80000000 : n == 0x80000000 ? 0xffffffff : 0) {
		w[7] = n;
		between(f, 1, w, 14, all);
		overrun++;
	}
	w[7] = 2;
	/* the second ends behind the sample, by 1 byte or by 2^32 - 5 */
	for (uint32_t n = 5; n; n = n == 5 ? 0x7fffffff : n == 0x7fffffff ? 0xfffffff8 : 0) {
		w[12] = n;
		between(f, 1, w, 14, all);
		overrun++;
	}
	w[12] = 4;
	/* its head ends behind the sample */
	for (uint32_t cut = 1; cut <= 12; cut++) {
		between(f, 1, w, 14, all - cut);
		overrun++;
	}
	/* a record's length that ends inside: what follows is read as the next one's head */
	w[9] = 3;
	between(f, 1, w, 14, all);
	sound++;
	w[9] = 1;
	between(f, 1, w, 14, all);
	sound++;
	assert_int_equal(f->s.totals.fault_record_overrun, overrun);
	assert_int_equal(faults(&f->s), overrun);
	assert_int_equal(f->s.totals.sample_flow, sound + 2 * (sound + overrun));
	assert_int_equal(fed_source(f, 0, 9)->own[XSF_INGRESS].samples, sound);
}

/* header_length and the record it lies in, at their limits. */
static void test_header_length(void **state)
{
	struct fed *f = *state;
	uint32_t w[8 + 2 + 4 + 3] = { 1, 9, 10, 0, 0, 9, 4, 1, 1, 16 + 12, 1, 100, 4, 12 };
	uint64_t sound = 0;

	for (uint32_t n = 0; n <= 12; n++) {
		w[13] = n;
		between(f, 1, w, 17, sizeof(w));
		sound++;
	}
	assert_int_equal(faults(&f->s), 0);
	for (uint32_t n = 13; n; n = n == 13	     ? 0x80000000 :
				     n == 0x80000000 ? 0xfffffff0 :
				     n == 0xfffffff0 ? 0xffffffff :
						       0) {
		w[13] = n;
		between(f, 1, w, 17, sizeof(w));
	}
	assert_int_equal(f->s.totals.fault_header_overrun, 4);
	/* the record ends in its own fixed part */
	w[13] = 0;
	for (uint32_t n = 0; n < 16; n++) {
		w[9] = n;
		between(f, 1, w, 17, sizeof(w));
	}
	assert_int_equal(f->s.totals.fault_short_body, 16);
	w[9] = 16;
	between(f, 1, w, 17, sizeof(w));
	sound++;
	assert_int_equal(faults(&f->s), 4 + 16);
	assert_int_equal(fed_source(f, 0, 9)->own[XSF_INGRESS].samples, sound);
}

/* Of two sampled headers the first counts; a fault in the second is one all the same. */
static void test_two_headers(void **state)
{
	struct fed *f = *state;
	struct wire a = { 0 }, b = { 0 };
	uint32_t body;

	wire_roce4(&a, 4, 0, 0);
	wire_roce4(&b, 17, 0, 4);
	fed_begin(f, 1);
	body = wire_flow(&f->w, 1, 3, 10, 3, 4, 2);
	wire_header(&f->w, 1, 111, a.p, a.len);
	wire_header(&f->w, 1, 222, b.p, b.len);
	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(f->s.ops[0].opcode[4].samples, 1);
	assert_int_equal(f->s.ops[0].opcode[17].samples, 0);
	assert_int_equal(f->s.totals.sampled_bytes, 1110);

	fed_begin(f, 1);
	body = wire_flow(&f->w, 2, 3, 10, 3, 4, 2);
	wire_header(&f->w, 1, 111, a.p, a.len);
	wire_header(&f->w, 1, 222, b.p, b.len);
	wire_put32(f->w.p + f->w.len - b.len - (-b.len & 3) - 4, 1000);
	wire_close(&f->w, body);
	fed_end(f);
	assert_int_equal(f->s.totals.fault_header_overrun, 1);
	assert_int_equal(f->s.totals.sample_flow, 1);
}

/* One sampled header that fills its sample: the usual sample, and what is almost it. */
static void test_almost_usual(void **state)
{
	static const struct {
		uint32_t records;
		int32_t sample, record, header; /* added to the lengths */
		uint64_t sound, record_overrun, header_overrun, none;
	} cases[] = {
		{ 1, 0, 0, 0, 1, 0, 0, 0 },   { 2, 0, 0, 0, 0, 1, 0, 0 },
		{ 0, 0, 0, 0, 1, 0, 0, 1 },   { 0xffffffff, 0, 0, 0, 0, 1, 0, 0 },
		{ 1, 0, 4, 0, 0, 1, 0, 0 },   { 1, 0, -4, 0, 0, 0, 1, 0 },
		{ 1, 0, -4, -4, 1, 0, 0, 0 }, { 1, 0, 0, 4, 0, 0, 1, 0 },
		{ 1, 0, 0, -4, 1, 0, 0, 0 },  { 1, -4, 0, 0, 0, 1, 0, 0 },
		{ 1, 4, 0, 0, 1, 0, 0, 0 },   { 1, -4, -4, -4, 1, 0, 0, 0 },
		{ 2, 8, 0, 0, 1, 0, 0, 0 },   { 1, 8, 8, 8, 1, 0, 0, 0 },
	};
	struct fed *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xsf_totals was = f->s.totals;
		struct wire packet = { 0 };
		uint32_t body, record;

		wire_roce4(&packet, 4, 0, 2);
		fed_begin(f, 1);
		body = wire_flow(&f->w, f->sequence, 3, 100, 3, 4, cases[i].records);
		record = wire_open(&f->w, 1);
		wire_32(&f->w, 1);
		wire_32(&f->w, 1000);
		wire_32(&f->w, 4);
		wire_32(&f->w, packet.len + (uint32_t)cases[i].header);
		wire_bytes(&f->w, packet.p, packet.len);
		wire_put32(f->w.p + record - 4, f->w.len - record + (uint32_t)cases[i].record);
		wire_put32(f->w.p + body - 4, f->w.len - body + (uint32_t)cases[i].sample);
		wire_fill(&f->w, 0, 8); /* behind the sample, and inside the datagram */
		fed_end(f);
		assert_int_equal(f->s.totals.sample_flow - was.sample_flow, cases[i].sound);
		assert_int_equal(f->s.totals.fault_record_overrun - was.fault_record_overrun,
				 cases[i].record_overrun);
		assert_int_equal(f->s.totals.fault_header_overrun - was.fault_header_overrun,
				 cases[i].header_overrun);
		assert_int_equal(f->s.totals.header_none - was.header_none, cases[i].none);
		assert_int_equal(faults(&f->s) - faults(&(struct xsf_snapshot){ .totals = was }),
				 cases[i].record_overrun + cases[i].header_overrun);
	}
}

/* Number of samples: what is announced and there is read, no more and no less. */
static void test_sample_counts(void **state)
{
	struct fed *f = *state;

	for (uint32_t there = 0; there <= 3; there++) {
		for (uint32_t said = 0; said <= 5; said++) {
			uint64_t was = f->s.totals.sample_flow;
			uint64_t fault = f->s.totals.fault_sample_overrun;
			uint32_t n = said == 5 ? 0xffffffff : said;

			fed_begin(f, n);
			for (uint32_t i = 0; i < there; i++)
				flow(&f->w, 10 * f->sequence + i);
			fed_end(f);
			assert_int_equal(f->s.totals.sample_flow, was + (n < there ? n : there));
			assert_int_equal(f->s.totals.fault_sample_overrun, fault + (n > there));
		}
	}
	assert_int_equal(faults(&f->s), f->s.totals.fault_sample_overrun);
}

/* A sample longer than the datagram ends it; those before it stand. */
static void test_sample_length(void **state)
{
	static const uint32_t more[] = { 1, 2, 3, 4, 100, 0x7fffffff, 0x80000000, 0xffffff00 };
	struct fed *f = *state;

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		uint32_t body;

		fed_begin(f, 2);
		flow(&f->w, 2 * f->sequence);
		body = flow(&f->w, 2 * f->sequence + 1);
		wire_put32(f->w.p + body - 4, f->w.len - body + more[i]);
		fed_end(f);
		assert_int_equal(f->s.totals.sample_flow, i + 1);
		assert_int_equal(f->s.totals.fault_sample_overrun, i + 1);
		assert_int_equal(faults(&f->s), i + 1);
	}
	/* The last one's padding may be missing. */
	for (uint32_t pad = 0; pad < 4; pad++) {
		uint32_t body;

		fed_begin(f, 1);
		body = wire_open(&f->w, 99);
		wire_fill(&f->w, 0, 5);
		wire_put32(f->w.p + body - 4, 5);
		wire_fill(&f->w, 0, pad);
		fed_end(f);
		assert_int_equal(f->s.totals.sample_unknown, pad + 1);
	}
	assert_int_equal(f->s.totals.datagram_sound, 4);
}

/* As many samples, and as many records, as 9000 bytes can hold: the walk sees the last one. */
static void test_longest(void **state)
{
	struct fed *f = *state;
	uint32_t body, n = (9000 - 28) / 8;

	fed_begin(f, n);
	for (uint32_t i = 0; i < n; i++)
		wire_64(&f->w, 77ull << 32);
	assert_in_range(f->w.len, 8993, 9000);
	fed_end(f);
	assert_int_equal(f->s.totals.sample_unknown, n);
	assert_int_equal(f->s.totals.datagram_sound, 1);

	/* flow samples without records */
	n = (9000 - 28) / 40;
	fed_begin(f, n);
	for (uint32_t i = 0; i < n; i++) {
		body = wire_flow(&f->w, i, 3, 1, 3, 4, 0);
		wire_close(&f->w, body);
	}
	fed_end(f);
	assert_int_equal(f->s.totals.sample_flow, n);

	/* counters samples without records: the shortest that count */
	n = (9000 - 28) / 20;
	fed_begin(f, n);
	for (uint32_t i = 0; i < n; i++) {
		body = wire_counters(&f->w, i, 3, 0);
		wire_close(&f->w, body);
	}
	fed_end(f);
	assert_int_equal(f->s.totals.sample_counter, n);

	/* one sample of empty records, the last of which is a sampled header */
	n = (9000 - 28 - 40 - 24) / 8;
	fed_begin(f, 1);
	body = wire_flow(&f->w, 1000, 3, 1, 3, 4, n + 1);
	for (uint32_t i = 0; i < n; i++)
		wire_64(&f->w, 1001ull << 32);
	wire_header(&f->w, 7, 60, "", 0);
	wire_close(&f->w, body);
	assert_in_range(f->w.len, 8993, 9000);
	fed_end(f);
	assert_int_equal(f->s.totals.header_other_protocol, 1);

	/* and samples that each end with a fault */
	n = (9000 - 28) / 28;
	fed_begin(f, n);
	for (uint32_t i = 0; i < n; i++) {
		body = wire_counters(&f->w, i, 3, 2);
		wire_64(&f->w, 6ull << 32);
		wire_close(&f->w, body);
	}
	fed_end(f);
	assert_int_equal(f->s.totals.fault_record_overrun, n);
	assert_int_equal(f->s.totals.datagram_sound, 4);
	assert_int_equal(f->s.totals.datagram_faulty, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FED(test_headers),	FED(test_every_cut),	 FED(test_short_samples),
		FED(test_records),	FED(test_header_length), FED(test_two_headers),
		FED(test_almost_usual), FED(test_sample_counts), FED(test_sample_length),
		FED(test_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
