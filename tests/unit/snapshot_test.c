// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/snapshot.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <xsf/drop_reasons.h>
#include <xsf/opcodes.h>
#include "fixture.h"
#include "model/fields.h"

/* As inet_ntop of the C library, but for IPv4 in its v4-mapped form. */
static void expect_address(const uint8_t addr[16])
{
	char right[INET6_ADDRSTRLEN], buf[XSF_ADDRESS_TEXT];
	const char *text = xsf_address_text(addr, buf);

	inet_ntop(AF_INET6, addr, right, sizeof(right));
	if (!strncmp(right, "::ffff:", 7) && strchr(right, '.'))
		memmove(right, right + 7, strlen(right + 7) + 1);
	assert_string_equal(text, right);
}

static void test_addresses(void **state)
{
	uint8_t addr[16] = { 0 };
	uint32_t random = 1;
	char buf[XSF_ADDRESS_TEXT];

	(void)state;
	expect_address(addr);
	assert_string_equal(xsf_address_text(addr, buf), "::");
	fixture_ip4(addr, 0xffffffff);
	assert_string_equal(xsf_address_text(addr, buf), "255.255.255.255");
	fixture_ip4(addr, 0x0a006409);
	assert_string_equal(xsf_address_text(addr, buf), "10.0.100.9");
	/* every pattern of zero words, with words of each length */
	for (uint32_t zeros = 0; zeros < 256; zeros++) {
		for (uint32_t n = 0; n < 64; n++) {
			for (int i = 0; i < 8; i++) {
				random = random * 1664525 + 1013904223;
				addr[2 * i] = (uint8_t)(random >> 24 >> (random >> 8 & 12));
				addr[2 * i + 1] = (uint8_t)(random >> 16);
				if (zeros >> i & 1)
					addr[2 * i] = addr[2 * i + 1] = 0;
			}
			expect_address(addr);
		}
	}
	memset(addr, 0xff, 16);
	expect_address(addr);
	assert_int_equal(strlen(xsf_address_text(addr, buf)), 39);
}

static void test_shown(void **state)
{
	struct fixture *f = fixture_full();
	const struct xsf_agent *agent = NULL;

	(void)state;
	assert_int_equal(xsf_snapshot_agent_shown(&f->s, 0), 0);
	assert_int_equal(xsf_snapshot_agent_shown(&f->s, 1), 1);
	assert_int_equal(xsf_snapshot_agent_shown(&f->s, 3), 0); /* silent */
	assert_int_equal(xsf_snapshot_agent_shown(&f->s, 4), 0); /* free */
	assert_int_equal(xsf_snapshot_agent_shown(&f->s, 8), 0); /* no such slot */
	f->agents[1].generation = 6;				 /* changes hands */
	assert_int_equal(xsf_snapshot_agent_shown(&f->s, 1), 0);
	f->agents[1].generation = 5;

	f->agents[3].last_seen_ns = f->s.now_ns - f->s.stale_ns; /* just not silent */
	assert_int_equal(xsf_snapshot_agent_shown(&f->s, 3), 1);
	f->agents[3].last_seen_ns = f->s.now_ns + 1; /* seen after the snapshot's moment */
	assert_int_equal(xsf_snapshot_agent_shown(&f->s, 3), 1);
	f->agents[3].last_seen_ns = 1;
	f->s.stale_ns = 0; /* show all */
	assert_int_equal(xsf_snapshot_agent_shown(&f->s, 3), 1);
	f->s.stale_ns = 600 * SECOND;

	assert_int_equal(xsf_snapshot_source_shown(&f->s, 0, &agent), 0);
	assert_int_equal(xsf_snapshot_source_shown(&f->s, 16, &agent), 0);
	assert_int_equal(xsf_snapshot_source_shown(&f->s, 1, &agent), 1);
	assert_ptr_equal(agent, &f->agents[1]);
	assert_int_equal(xsf_snapshot_source_shown(&f->s, 4, &agent), 0); /* of a former agent */
	f->sources[1].key.agent = 8;					  /* out of the table */
	assert_int_equal(xsf_snapshot_source_shown(&f->s, 1, &agent), 0);
	f->sources[1].key.agent = 1;

	assert_int_equal(xsf_snapshot_interface_shown(&f->s, 1, &agent), 1);
	assert_int_equal(xsf_snapshot_interface_shown(&f->s, 2, &agent), 1); /* counters */
	assert_int_equal(xsf_snapshot_interface_shown(&f->s, 3, &agent), 0); /* VLAN */
	assert_int_equal(xsf_snapshot_interface_shown(&f->s, 5, &agent), 1); /* traffic */
	assert_int_equal(xsf_snapshot_interface_shown(&f->s, 6, &agent), 0); /* nothing */
	fixture_interface(f, 6, "swp15")->has_counters = 0;
	assert_int_equal(xsf_snapshot_interface_shown(&f->s, 6, &agent), 1); /* a name */
	f->interfaces[6].name_len = 0;
	assert_int_equal(xsf_snapshot_interface_shown(&f->s, 6, &agent), 0);
	f->interfaces[6].drop_samples = 1;
	assert_int_equal(xsf_snapshot_interface_shown(&f->s, 6, &agent), 1);
	assert_null(xsf_snapshot_interface(&f->s, 5));
	fixture_free(f);
}

static void test_special_interfaces(void **state)
{
	static const uint32_t not [] = { 0, 0x3fffffff, 0xffffffff };
	struct xsf_source s = { .key = { .class = 0, .index = 1 } };

	(void)state;
	assert_int_equal(xsf_source_is_interface(&s), 1);
	s.key.index = 0xfffffff0;
	assert_int_equal(xsf_source_is_interface(&s), 1);
	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++) {
		s.key.index = not [i];
		assert_int_equal(xsf_source_is_interface(&s), 0);
	}
	s.key.index = 1;
	s.key.class = 1;
	assert_int_equal(xsf_source_is_interface(&s), 0);
}

static void test_fill(void **state)
{
	struct fixture *f = fixture_full();
	struct xsf_fill fill;

	(void)state;
	xsf_snapshot_fill(&f->s, XSF_TABLE_AGENTS, &fill);
	assert_int_equal(fill.size, XSF_AGENTS - 1);
	assert_int_equal(fill.used, 3);
	assert_int_equal(fill.stale, 1);
	xsf_snapshot_fill(&f->s, XSF_TABLE_SOURCES, &fill);
	assert_int_equal(fill.size, XSF_SOURCES - 1);
	assert_int_equal(fill.used, 6);
	assert_int_equal(fill.stale, 0);
	fixture_free(f);
	f = fixture_new(0, 0);
	xsf_snapshot_fill(&f->s, XSF_TABLE_AGENTS, &fill);
	assert_int_equal(fill.size, XSF_AGENTS - 1);
	assert_int_equal(fill.used, 0);
	fixture_free(f);
}

static void test_pending(void **state)
{
	struct xsf_agent a = { 0 };

	(void)state;
	assert_int_equal(xsf_agent_pending(&a), 0);
	a.sequence = 5ull << 32 | 0xffffffff;
	assert_int_equal(xsf_agent_pending(&a), 0);
	a.sequence = 5ull << 32 | 0x0fffff01;
	assert_int_equal(xsf_agent_pending(&a), 11);
}

struct seen {
	char text[512];
};

static void each(void *arg, const char *name, uint64_t count)
{
	struct seen *seen = arg;
	size_t n = strlen(seen->text);

	snprintf(seen->text + n, sizeof(seen->text) - n, "%s:%llu,", name,
		 (unsigned long long)count);
}

static void test_reasons(void **state)
{
	struct fixture *f = fixture_full();
	struct seen seen = { "" };
	char buf[16];

	(void)state;
	f->s.reasons.notified[36] = 9;
	f->s.high[2] = (struct xsf_reason_high){ { 0, UINT32_MAX }, 2 };
	f->s.nr_high = 3;
	xsf_snapshot_reasons(&f->s, 0, each, &seen);
	assert_string_equal(seen.text, "acl:5,dev_hdr:3,tc_egress:9,400:3,70000:6,4294967295:2,");
	seen.text[0] = 0;
	xsf_snapshot_reasons(&f->s, 1, each, &seen);
	assert_string_equal(seen.text, "port_unreachable:4,70000:7,");
#define REASON(code, name, category) assert_string_equal(xsf_reason_name(code, buf, 16), #name);
	XSF_DROP_REASONS(REASON)
	assert_string_equal(xsf_reason_name(16, buf, 16), "16");
	assert_string_equal(xsf_reason_name(511, buf, 16), "511");
	assert_string_equal(xsf_reason_name(512, buf, 16), "512");
	fixture_free(f);
}

static void test_opcodes(void **state)
{
	const char *transport, *ibta, *op;
	uint32_t known = 0;

	(void)state;
	for (uint32_t i = 0; i < 256; i++)
		known += (uint32_t)xsf_opcode_names((uint8_t)i, &transport, &ibta, &op);
#define ONE(...) +1
	assert_int_equal(known, 0 XSF_OPCODES(ONE));
	assert_int_equal(xsf_opcode_names(8, &transport, &ibta, &op), 1);
	assert_string_equal(transport, "RC");
	assert_string_equal(ibta, "RDMA WRITE Last");
	assert_string_equal(op, "RDMA_WRITE");
	assert_int_equal(xsf_opcode_names(0xff, &transport, &ibta, &op), 0);
	assert_string_equal(op, "unknown");
}

static void test_fields(void **state)
{
	struct fixture *f = fixture_full();
	struct xsf_interface i;
	uint64_t value, sum = 0;
	uint32_t lists = 0;

	(void)state;
	assert_string_equal(xsf_total_at(XSF_LIST_FRAMES, 0)->name, "short_frame");
	assert_int_equal(xsf_total_value(&f->s, xsf_total_at(XSF_LIST_FAULTS, 1)),
			 f->s.totals.fault_bad_version);
	/* with `datagrams` the lists name every word that is not reserved, once */
	for (int list = 0; list < XSF_TOTAL_LISTS; list++) {
		while (xsf_total_at(list, lists))
			lists++;
		sum += lists;
		lists = 0;
	}
	assert_int_equal(sum + 1 + sizeof(f->s.totals.reserved) / 8, XSF_NR_TOTALS);
	memset(&i, 0xff, sizeof(i));
	for (int n = 0; n < XSF_NR_IF_COUNTERS; n++)
		assert_int_equal(xsf_if_counter_read(&i, n, &value), 0);
	i.in_ucast = UINT32_MAX - 1;
	i.out_octets = UINT32_MAX; /* a value: the field has 64 bits */
	assert_int_equal(xsf_if_counter_read(&i, XSF_IF_in_ucast, &value), 1);
	assert_int_equal(value, UINT32_MAX - 1);
	assert_int_equal(xsf_if_counter_read(&i, XSF_IF_out_octets, &value), 1);
	assert_int_equal(value, UINT32_MAX);
	assert_string_equal(xsf_if_direction_name(4), "out");
	assert_string_equal(xsf_if_direction_name(5), "unknown");
	assert_string_equal(xsf_nak_name(4), "invalid_rd_request");
	assert_string_equal(xsf_nak_name(5), "reserved");
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_special_interfaces),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_pending),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_opcodes),
		cmocka_unit_test(test_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
