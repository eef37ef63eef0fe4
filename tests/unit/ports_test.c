// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows of xsf_ports: each interface and port its own, and a place for what finds none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <xsf/abi.h>
#include <xsf/store.h>

static struct xsf_port rows[XSF_PORT_ROWS];

static __always_inline const struct xsf_config *xsf_cfg(void)
{
	return NULL;
}

static __always_inline __u64 xsf_trimmed(void)
{
	return 0;
}

static __always_inline void *xsf_lookup(enum xsf_map id, __u32 index)
{
	assert_int_equal(id, XSF_MAP_PORTS);
	assert_true(index < XSF_PORT_ROWS);
	return &rows[index];
}

static __always_inline __u32 xsf_find(enum xsf_table table, const void *key)
{
	(void)table;
	(void)key;
	return 0;
}

static __always_inline int xsf_insert(enum xsf_table table, const void *key, __u32 slot)
{
	(void)table;
	(void)key;
	(void)slot;
	return 0;
}

static __always_inline void xsf_erase(enum xsf_table table, const void *key)
{
	(void)table;
	(void)key;
}

static __always_inline __u64 *xsf_reason_high(const struct xsf_reason_key *key)
{
	(void)key;
	return NULL;
}

#include <xsf/ports.h>

static int empty(void **state)
{
	(void)state;
	memset(rows, 0, sizeof(rows));
	return 0;
}

static struct xsf_port *arrive(uint32_t port, uint32_t ifindex, uint32_t outcome)
{
	const struct xsf_outer o = { .telemetry = port };

	return xsf_port_arrived(&o, outcome, ifindex);
}

static uint64_t sum(void)
{
	uint64_t n = 0;

	for (int i = 0; i < XSF_PORT_ROWS; i++)
		n += rows[i].datagrams + rows[i].fragments_first;
	return n;
}

static void other_traffic(void **state)
{
	(void)state;
	assert_null(arrive(0, 2, XSF_FRAME_other_port));
	assert_null(arrive(0, 2, XSF_FRAME_fragments));
	assert_int_equal(sum(), 0);
}

static void own_rows(void **state)
{
	struct xsf_port *a = arrive(4739, 2, XSF_FRAME_other_port),
			*b = arrive(4739, 3, XSF_FRAME_datagram);

	(void)state;
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(arrive(4739, 2, XSF_FRAME_fragments), a);
	assert_int_equal(a->datagrams, 1);
	assert_int_equal(a->fragments_first, 1);
	assert_int_equal(a->ifindex, 2);
	assert_int_equal(a->port, 4739);
	assert_ptr_not_equal(arrive(2055, 2, XSF_FRAME_datagram), a);
	assert_int_equal(b->datagrams, 1);
}

/* Far more than there are places: none is lost, none is given to another. */
static void full(void **state)
{
	uint64_t others;

	(void)state;
	for (uint32_t i = 0; i < 4 * XSF_PORT_SLOTS; i++)
		assert_non_null(arrive(6343, i + 1, XSF_FRAME_datagram));
	assert_int_equal(sum(), 4 * XSF_PORT_SLOTS);
	others = rows[XSF_PORT_SLOTS].datagrams;
	assert_int_equal(rows[XSF_PORT_SLOTS].port, 0);
	assert_true(others >= 3 * XSF_PORT_SLOTS && others < 4 * XSF_PORT_SLOTS - 256);
	for (int i = 0; i < XSF_PORT_SLOTS; i++)
		assert_true(rows[i].datagrams <= 1);
}

/* Few interfaces, as hosts have them: nobody is left without a row. */
static void fits(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 16; i++) {
		for (uint32_t port = 0; port < 11; port++)
			arrive(6343 + 37 * port, i, XSF_FRAME_datagram);
	}
	assert_int_equal(rows[XSF_PORT_SLOTS].datagrams, 0);
	assert_int_equal(sum(), 16 * 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(other_traffic, empty),
		cmocka_unit_test_setup(own_rows, empty),
		cmocka_unit_test_setup(full, empty),
		cmocka_unit_test_setup(fits, empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
