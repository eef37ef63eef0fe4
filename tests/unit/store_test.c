// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The native store: what becomes of a frame, layer by layer, and what its tables say afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "model/fields.h"
#include "model/store.h"
#include "sums.h"
#include "wire.h"

#define PORT 6343

struct fixture {
	struct xsf_store *store;
	struct xsf_snapshot s;
	struct wire payload; /* a sound datagram of one sample */
	uint64_t now_ns;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct xsf_config config;
	struct wire packet = { 0 };
	uint32_t body;

	xsf_config_defaults(&config);
	f->store = xsf_store_new(&config);
	f->now_ns = 1;
	wire_datagram(&f->payload, 0x0a000001, 0, 1, 1000, 1);
	wire_roce4(&packet, 4, 0, 16);
	body = wire_flow(&f->payload, 1, 3, 100, 3, 4, 1);
	wire_header(&f->payload, 1, packet.len + 4, packet.p, packet.len);
	wire_close(&f->payload, body);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	xsf_store_free(f->store);
	free(f);
	return 0;
}

static const struct xsf_snapshot *snapshot(struct fixture *f)
{
	char text[256];
	const char *broken;

	xsf_store_snapshot(f->store, &f->s);
	broken = sums_broken(&f->s, text, sizeof(text));
	if (!broken)
		broken = sums_timeline(&f->s, text, sizeof(text));
	if (broken)
		fail_msg("%s", broken);
	return &f->s;
}

/* Value of a total by its name in one of the lists; "datagrams" besides. */
static uint64_t total(const struct xsf_snapshot *s, enum xsf_total_list list, const char *name)
{
	const struct xsf_total *t;

	if (!strcmp(name, "datagrams"))
		return s->totals.datagrams;
	for (uint32_t i = 0; (t = xsf_total_at(list, i)); i++) {
		if (!strcmp(t->name, name))
			return xsf_total_value(s, t);
	}
	fail_msg("no total %s", name);
	return 0;
}

/* The frame has exactly this outcome; cut anywhere it has `short_frame` or less, never a datagram. */
static void becomes(struct fixture *f, const struct wire *w, const char *outcome)
{
	uint64_t before = total(snapshot(f), XSF_LIST_FRAMES, outcome);
	uint64_t all = f->s.totals.datagrams + xsf_total_sum(&f->s, XSF_LIST_FRAMES);

	xsf_store_frame(f->store, w->p, w->len, w->len, 0, ++f->now_ns);
	snapshot(f);
	if (total(&f->s, XSF_LIST_FRAMES, outcome) != before + 1)
		fail_msg("frame is not counted as %s", outcome);
	assert_int_equal(f->s.totals.datagrams + xsf_total_sum(&f->s, XSF_LIST_FRAMES), all + 1);
}

static void test_carriers(void **state)
{
	static const uint32_t tag_types[] = { 0x8100, 0x88a8, 0x9100 };
	struct fixture *f = *state;
	struct wire w;

	wire_carry4(&w, f->payload.p, f->payload.len, PORT);
	becomes(f, &w, "datagrams");
	wire_carry6(&w, f->payload.p, f->payload.len, PORT);
	becomes(f, &w, "datagrams");
	wire_carry4(&w, f->payload.p, f->payload.len, PORT + 1);
	becomes(f, &w, "other_port");

	for (uint32_t tags = 1; tags <= 4; tags++) {
		for (uint32_t type = 0; type < 3; type++) {
			struct wire plain;

			wire_carry4(&plain, f->payload.p, f->payload.len, PORT);
			w.len = 0;
			wire_eth(&w, tag_types[type]);
			for (uint32_t i = 1; i < tags; i++)
				wire_tag(&w, i, tag_types[(type + i) % 3]);
			wire_tag(&w, 7, 0x0800);
			wire_bytes(&w, plain.p + 14, plain.len - 14);
			becomes(f, &w, tags <= 2 ? "datagrams" : "vlan_depth");
		}
	}
	for (uint32_t options = 0; options <= 40; options += 4) {
		w.len = 0;
		wire_eth(&w, 0x0800);
		wire_ip4(&w, 0, 17, 0x4000, options, 8 + f->payload.len);
		wire_udp(&w, 1, PORT, f->payload.len);
		wire_bytes(&w, f->payload.p, f->payload.len);
		becomes(f, &w, "datagrams");
	}
	w.len = 0;
	wire_eth(&w, 0x0806);
	wire_fill(&w, 0, 46);
	becomes(f, &w, "not_ip");
	w.len = 0;
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 0, 6, 0x4000, 0, 20);
	wire_fill(&w, 0, 20);
	becomes(f, &w, "not_udp");
}

/* Hop-by-hop, destination options, routing and fragment headers, 0 to 4 of them. */
static void test_extension_headers(void **state)
{
	static const uint32_t kinds[] = { 0, 60, 43, 44 };
	struct fixture *f = *state;
	struct wire w;

	for (uint32_t n = 0; n <= 4; n++) {
		for (uint32_t first = 0; first < 4; first++) {
			uint32_t len = 8 + f->payload.len;

			for (uint32_t i = 0; i < n; i++)
				len += kinds[(first + i) % 4] == 44 ? 8 : 8 + 8 * i;
			w.len = 0;
			wire_eth(&w, 0x86dd);
			wire_ip6(&w, 0, n ? kinds[first] : 17, len);
			for (uint32_t i = 0; i < n; i++) {
				uint32_t next = i + 1 < n ? kinds[(first + i + 1) % 4] : 17;

				if (kinds[(first + i) % 4] == 44)
					wire_fragment(&w, next, 0, 0);
				else
					wire_ext(&w, next, i);
			}
			wire_udp(&w, 1, PORT, f->payload.len);
			wire_bytes(&w, f->payload.p, f->payload.len);
			becomes(f, &w, n <= 3 ? "datagrams" : "ext_depth");
		}
	}
}

/* One fragment header after another: the packet is whole only when none says otherwise. */
static void fragment6(struct fixture *f, uint32_t offset, uint32_t more, uint32_t offset2,
		      uint32_t more2, const char *outcome)
{
	struct wire w = { 0 };

	wire_eth(&w, 0x86dd);
	wire_ip6(&w, 0, 44, 8 + 8 + 8 + f->payload.len);
	wire_fragment(&w, 44, offset, more);
	wire_fragment(&w, 17, offset2, more2);
	wire_udp(&w, 1, PORT, f->payload.len);
	wire_bytes(&w, f->payload.p, f->payload.len);
	becomes(f, &w, outcome);
}

static void test_fragments(void **state)
{
	struct fixture *f = *state;
	struct wire w;

	/* IPv4: don't fragment, first, middle, last, and the reserved bit that means nothing. */
	static const struct {
		uint32_t field;
		const char *outcome;
	} cases[] = { { 0x4000, "datagrams" }, { 0, "datagrams" },	{ 0x8000, "datagrams" },
		      { 0x2000, "fragments" }, { 0x2001, "fragments" }, { 1, "fragments" },
		      { 0x1fff, "fragments" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		w.len = 0;
		wire_eth(&w, 0x0800);
		wire_ip4(&w, 0, 17, cases[i].field, 0, 8 + f->payload.len);
		wire_udp(&w, 1, PORT, f->payload.len);
		wire_bytes(&w, f->payload.p, f->payload.len);
		becomes(f, &w, cases[i].outcome);
	}
	assert_int_equal(f->s.totals.fragments_first, 1);
	fragment6(f, 0, 0, 0, 0, "datagrams");
	fragment6(f, 0, 0, 0, 1, "fragments");
	fragment6(f, 0, 1, 0, 0, "fragments");
	fragment6(f, 0, 0, 8, 0, "fragments");
	/* The second header is not there: what it would be is the payload of a later fragment. */
	fragment6(f, 8, 0, 0, 0, "not_udp");
	assert_int_equal(f->s.totals.fragments_first, 3);
	/* a first fragment to another port, and one that ends inside the UDP header */
	w.len = 0;
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 0, 17, 0x2000, 0, 16);
	wire_udp(&w, 1, PORT + 1, 2000);
	wire_fill(&w, 0, 8);
	becomes(f, &w, "fragments");
	w.len = 0;
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 0, 17, 0x2000, 0, 0);
	becomes(f, &w, "fragments");
	assert_int_equal(f->s.totals.fragments_first, 3);
}

static void test_lengths(void **state)
{
	struct fixture *f = *state;
	const uint32_t ip = 14, udp = 34;
	struct wire w;

	/* IP: version, header length, total length */
	wire_carry4(&w, f->payload.p, f->payload.len, PORT);
	w.p[ip] = 0x55;
	becomes(f, &w, "bad_ip");
	w.p[ip] = 0x44;
	becomes(f, &w, "bad_ip");
	wire_carry4(&w, f->payload.p, f->payload.len, PORT);
	w.p[ip + 3]++; /* one byte more than there is */
	becomes(f, &w, "bad_ip");
	w.p[ip + 2] = 0;
	w.p[ip + 3] = 19;
	becomes(f, &w, "bad_ip");
	w.p[ip + 3] = 27;
	becomes(f, &w, "short_frame");
	wire_carry6(&w, f->payload.p, f->payload.len, PORT);
	w.p[ip] = 0x40;
	becomes(f, &w, "bad_ip");
	wire_carry6(&w, f->payload.p, f->payload.len, PORT);
	w.p[ip + 5]++;
	becomes(f, &w, "bad_ip");
	assert_int_equal(f->s.totals.datagrams, 0);

	/* UDP: 7 and one byte too many are wrong, 8 is an empty datagram */
	wire_carry4(&w, f->payload.p, f->payload.len, PORT);
	w.p[udp + 5]++;
	becomes(f, &w, "datagrams");
	w.p[udp + 4] = 0;
	w.p[udp + 5] = 7;
	becomes(f, &w, "datagrams");
	assert_int_equal(f->s.totals.fault_udp_length, 2);
	w.p[udp + 5] = 8;
	becomes(f, &w, "datagrams");
	assert_int_equal(f->s.totals.fault_udp_length, 2);
	assert_int_equal(f->s.totals.fault_short_header, 1);
	assert_int_equal(f->s.totals.datagram_refused, 3);

	/* what stands behind the IP packet is not read */
	wire_carry4(&w, f->payload.p, f->payload.len, PORT);
	w.p[14 + 20 + 8 + 27] = 2; /* two samples announced */
	wire_bytes(&w, f->payload.p + 28, f->payload.len - 28);
	becomes(f, &w, "datagrams");
	assert_int_equal(f->s.totals.sample_flow, 1);
	assert_int_equal(f->s.totals.fault_sample_overrun, 1);
}

/* Cut by the frame's own end: never a datagram. Cut by the capture: all of it is known to be missing. */
static void test_cuts(void **state)
{
	struct fixture *f = *state;
	struct wire w;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		if (ip6)
			wire_carry6(&w, f->payload.p, f->payload.len, PORT);
		else
			wire_carry4(&w, f->payload.p, f->payload.len, PORT);
		for (uint32_t len = 0; len < w.len; len++) {
			uint64_t cut = snapshot(f)->totals.capture_cut;
			uint64_t wrong = f->s.totals.short_frame + f->s.totals.bad_ip;

			xsf_store_frame(f->store, w.p, len, w.len, 0, ++f->now_ns);
			assert_int_equal(snapshot(f)->totals.capture_cut, cut + 1);
			xsf_store_frame(f->store, w.p, len, len, 0, ++f->now_ns);
			assert_int_equal(snapshot(f)->totals.capture_cut, cut + 1);
			assert_int_equal(f->s.totals.short_frame + f->s.totals.bad_ip, wrong + 1);
		}
	}
	assert_int_equal(f->s.totals.datagrams, 0);
}

/* Captures without an Ethernet header name the type of what they start with. */
static void test_link_types(void **state)
{
	struct fixture *f = *state;
	struct wire w;

	wire_carry4(&w, f->payload.p, f->payload.len, PORT);
	xsf_store_frame(f->store, w.p + 14, w.len - 14, w.len - 14, 0x0800, ++f->now_ns);
	wire_carry6(&w, f->payload.p, f->payload.len, PORT);
	xsf_store_frame(f->store, w.p + 14, w.len - 14, w.len - 14, 0x86dd, ++f->now_ns);
	assert_int_equal(snapshot(f)->totals.sample_flow, 2);
	xsf_store_frame(f->store, w.p + 14, w.len - 14, w.len - 14, 0xffff, ++f->now_ns);
	assert_int_equal(snapshot(f)->totals.not_ip, 1);
	assert_memory_equal(f->s.agents[1].source, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	assert_int_equal(f->s.agents[1].source_port, 50000);
}

static void test_payload_limit(void **state)
{
	struct fixture *f = *state;
	static struct wire payload, w;
	uint32_t body;

	for (uint32_t len = 8999; len <= 9001; len++) {
		payload.len = 0;
		wire_datagram(&payload, 0x0a000001, 0, len, 1000, 1);
		body = wire_open(&payload, 99);
		wire_fill(&payload, 0, len - payload.len);
		wire_close(&payload, body);
		payload.len = len;
		wire_carry4(&w, payload.p, len, PORT);
		xsf_store_frame(f->store, w.p, w.len, w.len, 0, ++f->now_ns);
		xsf_store_datagram(f->store, payload.p, len, ++f->now_ns);
	}
	snapshot(f);
	assert_int_equal(f->s.totals.datagrams, 5); /* the store refuses more than 9000 bytes */
	assert_int_equal(f->s.totals.datagram_too_long, 1);
	assert_int_equal(f->s.totals.sample_unknown, 4);
	assert_int_equal(f->s.totals.bytes, 2 * (8999 + 9000) + 9001);
}

static void test_ports(void **state)
{
	struct fixture *f = *state;
	struct xsf_config config;
	struct xsf_store *store;
	static struct wire w;

	xsf_config_defaults(&config);
	for (uint32_t i = 0; i < XSF_MAX_PORTS; i++)
		config.ports[i] = (uint16_t)(7000 + i);
	store = xsf_store_new(&config);
	for (uint32_t port = 6999; port <= 7000 + XSF_MAX_PORTS; port++) {
		wire_carry4(&w, f->payload.p, f->payload.len, port);
		xsf_store_frame(store, w.p, w.len, w.len, 0, ++f->now_ns);
	}
	xsf_store_snapshot(store, &f->s);
	assert_int_equal(f->s.totals.datagrams, XSF_MAX_PORTS);
	assert_int_equal(f->s.totals.other_port, 2);
	xsf_store_free(store);
}

/* Packets and bytes of a bin of a row. */
static void bin_is(struct fixture *f, uint32_t row, uint32_t slot, uint64_t packets, uint64_t bytes)
{
	const struct xsf_bin *bin = &snapshot(f)->timeline[row].bin[slot];

	assert_int_equal(bin->packets, packets);
	assert_int_equal(bin->bytes, bytes);
}

/* Each end of a slot, and the same slot a revolution later. */
static void test_timeline(void **state)
{
	static const struct {
		uint64_t now_ns;
		uint32_t slot;
	} at[] = {
		{ 0, 0 },
		{ 9999999, 0 },
		{ 10000000, 1 },
		{ 19999999, 1 },
		{ 81909999999, 8190 },
		{ 81910000000, 8191 },
		{ 81919999999, 8191 },
		{ 81920000000, 0 },
		{ 81930000000, 1 },
		{ 163840000000, 0 },
		{ 163859999999, 1 },
	};
	uint64_t seen[XSF_TIMELINE_SLOTS] = { 0 }, len = 14 + 20 + 8 + 12 + 16 + 4;
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		xsf_store_datagram(f->store, f->payload.p, f->payload.len, at[i].now_ns);
		seen[at[i].slot] += 100;
		for (uint32_t slot = 0; slot < XSF_TIMELINE_SLOTS; slot += slot == 2 ? 8187 : 1)
			bin_is(f, XSF_INGRESS, slot, seen[slot], seen[slot] * len);
	}
}

/* Samples of one datagram by row, in any order; only RoCE. */
static void test_timeline_rows(void **state)
{
	static const struct {
		uint32_t source, rate;
		int roce, egress;
	} samples[] = {
		{ 5, 10, 1, 0 },  { 5, 20, 1, 0 },  { 6, 40, 1, 0 },  { 5, 80, 1, 0 },
		{ 6, 160, 0, 0 }, { 6, 320, 1, 1 }, { 7, 640, 1, 0 }, { 7, 1280, 1, 0 },
	};
	struct wire roce = { 0 }, other = { 0 }, *p = &((struct fixture *)*state)->payload;
	struct fixture *f = *state;
	uint32_t len;

	wire_roce4(&roce, 4, 0, 16);
	wire_eth(&other, 0x0800);
	wire_ip4(&other, 0, 6, 0x4000, 0, 40);
	wire_fill(&other, 0, 40);
	len = roce.len + 4;
	for (uint32_t n = 1; n <= 3; n++) {
		p->len = 0;
		wire_datagram(p, 0x0a000001, 0, n, 1000, 8);
		for (uint32_t i = 0; i < 8; i++) {
			const struct wire *packet = samples[i].roce ? &roce : &other;
			uint32_t source = samples[i].source, to = 99, body;

			body = wire_flow(p, n, source, samples[i].rate,
					 samples[i].egress ? to : source,
					 samples[i].egress ? source : to, 1);
			wire_header(p, 1, packet->len + 4, packet->p, packet->len);
			wire_close(p, body);
		}
		xsf_store_datagram(f->store, p->p, p->len, 20000000 * n);
		/* Slots of sources go by the order they came in. */
		if (n == 1) {
			bin_is(f, XSF_INGRESS, 2, 10 + 20 + 40 + 80 + 640 + 1280, 2070ull * len);
			bin_is(f, XSF_EGRESS, 2, 320, 320ull * len);
			xsf_store_group(f->store, 1, 1);
			xsf_store_group(f->store, 2, 4);
		}
	}
	for (uint32_t slot = 4; slot <= 6; slot += 2) {
		bin_is(f, 1 * XSF_DIRECTIONS + XSF_INGRESS, slot, 110, 110ull * len);
		bin_is(f, 4 * XSF_DIRECTIONS + XSF_INGRESS, slot, 40, 40ull * len);
		bin_is(f, 4 * XSF_DIRECTIONS + XSF_EGRESS, slot, 320, 320ull * len);
		bin_is(f, XSF_INGRESS, slot, 1920, 1920ull * len);
		bin_is(f, XSF_EGRESS, slot, 0, 0);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_carriers), T(test_extension_headers), T(test_fragments),	    T(test_lengths),
		T(test_cuts),	  T(test_link_types),	     T(test_payload_limit), T(test_ports),
		T(test_timeline), T(test_timeline_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
