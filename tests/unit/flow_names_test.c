// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of switches, ports and links for the keys of flows. */
#include "fixture.h"

#include <stdio.h>
#include "model/flow_names.h"

/* Agent 1 is leaf1 of the topology by its address, with ports 1 (at the link, named swp1) and 2 (no name);
 * 2 is another sub-agent of its address, with port 3 (swp3) and the name of port 2; 3 says a hostile name;
 * 4 says nothing. */
struct made {
	struct fixture *f;
	struct xsf_bindings *b;
	struct xsf_name_table *t;
	struct xsf_event event;
};

#define TOPOLOGY \
	"{\"links\":{\"L\\\"1\":{\"node1\":\"leaf1\",\"port1\":\"swp1\",\"node2\":\"spine1\"," \
	"\"port2\":\"swp1\"},\"L2\":{\"node1\":\"leaf1\",\"port1\":\"far\",\"node2\":\"spine1\"," \
	"\"port2\":\"swp2\"}},\"nodes\":{\"leaf1\":{\"agent\":\"10.0.0.1\",\"ports\":" \
	"{\"far\":{\"ifindex\":\"9\"},\"spare\":{\"ifindex\":\"8\"}}}}}"

static void set(struct made *m, const char *text)
{
	struct xsf_topology *topology = NULL;
	char why[256];

	if (text && xsf_topology_parse(text, strlen(text), &topology, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(xsf_bindings_set(m->b, 0, topology), 0);
	xsf_topology_put(topology);
	xsf_bindings_update(m->b, &m->f->s);
	assert_int_equal(xsf_name_table_update(m->t, &m->f->s, m->b), 0);
}

static int setup(void **state)
{
	struct made *m = calloc(1, sizeof(*m));

	if (!m)
		return -1;
	m->f = fixture_new(6, 8);
	fixture_name(fixture_agent(m->f, 1, 0), "host1");
	fixture_agent(m->f, 2, 100000);
	memcpy(m->f->agents[2].key.addr, m->f->agents[1].key.addr, 16);
	fixture_name(fixture_agent(m->f, 3, 0), "a\"b\nc");
	fixture_agent(m->f, 4, 0);
	fixture_source(m->f, 1, 1, 0, 1);
	fixture_interface(m->f, 1, "swp1");
	fixture_source(m->f, 2, 1, 0, 2);
	fixture_source(m->f, 3, 2, 0, 3);
	fixture_interface(m->f, 3, "swp3");
	fixture_source(m->f, 4, 2, 0, 2);
	fixture_interface(m->f, 4, "swp2");
	fixture_source(m->f, 5, 3, 0, 0xfffffff0);
	fixture_source(m->f, 6, 3, 1, 1); /* a VLAN */
	fixture_interface(m->f, 6, "vlan1");
	m->b = xsf_bindings_new();
	m->t = xsf_name_table_new(42, NULL);
	assert_int_equal(xsf_bindings_add(m->b, "fabric"), 0);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	xsf_name_table_free(m->t);
	xsf_bindings_free(m->b);
	fixture_free(m->f);
	free(m);
	return 0;
}

static const struct xsf_event *from(struct made *m, uint32_t agent)
{
	fixture_ip4(m->event.agent.addr, 0x0a000000 + agent);
	m->event.agent.sub_agent = 77; /* which one does not matter */
	return &m->event;
}

static const char *node(struct made *m, uint32_t agent)
{
	const struct xsf_flow_names *n = xsf_name_table_names(m->t);

	return n->node(n->arg, from(m, agent), 1);
}

static const char *ifname(struct made *m, uint32_t agent, uint32_t ifindex)
{
	const struct xsf_flow_names *n = xsf_name_table_names(m->t);

	return n->ifname(n->arg, from(m, agent), ifindex);
}

static const char *link_at(struct made *m, uint32_t agent, uint32_t ifindex)
{
	const struct xsf_flow_names *n = xsf_name_table_names(m->t);
	const char *link = n->link(n->arg, from(m, agent), ifindex);

	return link ? link : "(none)";
}

/* Of a flow sample at that port; -1: not in the topology, and then without a role. */
static int role_at(struct made *m, uint32_t agent, uint32_t class, uint32_t ifindex)
{
	const struct xsf_flow_names *n = xsf_name_table_names(m->t);
	int in;

	from(m, agent);
	m->event.flags = XSF_EVENT_FLOW;
	m->event.class = class;
	m->event.index = ifindex;
	in = n->in_topology(n->arg, &m->event);
	if (!in)
		assert_int_equal(n->role(n->arg, &m->event), XSF_ROLE_NONE);
	return in ? (int)n->role(n->arg, &m->event) : -1;
}

static void test_empty(void **state)
{
	struct made *m = *state;

	assert_string_equal(node(m, 1), "10.0.0.1");
	assert_string_equal(ifname(m, 1, 1), "1");
	assert_string_equal(ifname(m, 1, 4294967294u), "4294967294");
	assert_string_equal(link_at(m, 1, 1), "(none)");
	assert_int_equal(role_at(m, 1, 0, 1), -1);
}

static void test_said(void **state)
{
	struct made *m = *state;

	set(m, NULL);
	assert_string_equal(node(m, 1), "host1");
	assert_string_equal(node(m, 3), "a\"b\nc");
	assert_string_equal(node(m, 4), "10.0.0.4");
	assert_string_equal(node(m, 5), "10.0.0.5");
	assert_string_equal(ifname(m, 1, 1), "swp1");
	/* Said by the other sub-agent. */
	assert_string_equal(ifname(m, 1, 2), "swp2");
	assert_string_equal(ifname(m, 1, 3), "swp3");
	assert_string_equal(ifname(m, 1, 4), "4");
	assert_string_equal(ifname(m, 1, 0), "unknown");
	assert_string_equal(ifname(m, 1, 0x3fffffff), "internal");
	assert_string_equal(ifname(m, 1, 0xffffffff), "unknown");
	assert_string_equal(ifname(m, 3, 1), "1");
	assert_string_equal(ifname(m, 4, 1), "1");
	assert_string_equal(link_at(m, 1, 1), "(none)");
	assert_int_equal(role_at(m, 1, 0, 1), -1);
}

static void test_planned(void **state)
{
	struct made *m = *state;

	set(m, TOPOLOGY);
	assert_string_equal(node(m, 1), "leaf1");
	assert_string_equal(node(m, 4), "10.0.0.4");
	assert_string_equal(ifname(m, 1, 1), "swp1");
	assert_string_equal(ifname(m, 1, 9), "far");
	assert_string_equal(ifname(m, 1, 8), "spare");
	assert_string_equal(ifname(m, 4, 9), "9");
	assert_string_equal(link_at(m, 1, 1), "L\"1");
	assert_string_equal(link_at(m, 1, 2), "(none)");
	assert_string_equal(link_at(m, 1, 9), "L2");
	assert_string_equal(link_at(m, 1, 8), "(none)");
	assert_int_equal(role_at(m, 1, 0, 1), XSF_ROLE_CORE);
	assert_int_equal(role_at(m, 1, 0, 2), XSF_ROLE_EDGE);
	assert_int_equal(role_at(m, 1, 0, 9), XSF_ROLE_CORE);
	assert_int_equal(role_at(m, 1, 0, 8), XSF_ROLE_EDGE);
	assert_int_equal(role_at(m, 1, 0, 7), XSF_ROLE_NONE);
	assert_int_equal(role_at(m, 1, 1, 1), XSF_ROLE_NONE);
	/* a switch that samples as a whole: where it came in */
	m->event.input = 1;
	assert_int_equal(role_at(m, 1, 2, 77), XSF_ROLE_CORE);
	m->event.input = 2;
	assert_int_equal(role_at(m, 1, 3, 0), XSF_ROLE_EDGE);
	assert_int_equal(role_at(m, 3, 0, 1), -1);
	/* The source of all drops of a switch: its input says. */
	m->event = (struct xsf_event){ .input = 1 };
	from(m, 1);
	assert_int_equal(xsf_name_table_names(m->t)->role(m->t, &m->event), XSF_ROLE_CORE);
	m->event.flags = XSF_EVENT_FLOW;
	assert_int_equal(xsf_name_table_names(m->t)->role(m->t, &m->event), XSF_ROLE_NONE);
	set(m, NULL);
	assert_string_equal(node(m, 1), "host1");
	assert_string_equal(ifname(m, 1, 9), "9");
}

static void test_all_edge(void **state)
{
	struct made *m = *state;

	xsf_bindings_all_edge(m->b, 1);
	set(m, NULL);
	assert_int_equal(role_at(m, 1, 0, 1), XSF_ROLE_EDGE);
	assert_int_equal(role_at(m, 3, 0, 0xfffffff0), XSF_ROLE_EDGE);
	assert_int_equal(role_at(m, 1, 0, 7), -1);
	assert_string_equal(link_at(m, 1, 1), "(none)");
}

/* Every place taken, each interface by its own name. */
static void test_full(void **state)
{
	struct made *m = *state;
	struct fixture *f = fixture_new(XSF_AGENTS, XSF_SOURCES);
	char name[16];

	for (uint32_t slot = 1; slot < XSF_AGENTS; slot++) {
		snprintf(name, sizeof(name), "h%u", slot);
		fixture_name(fixture_agent(f, slot, 0), name);
	}
	for (uint32_t slot = 1; slot < XSF_SOURCES; slot++) {
		snprintf(name, sizeof(name), "p%u", slot);
		fixture_source(f, slot, 1 + slot % (XSF_AGENTS - 1), 0, slot);
		fixture_interface(f, slot, name);
	}
	assert_int_equal(xsf_name_table_update(m->t, &f->s, m->b), 0);
	for (uint32_t slot = 1; slot < XSF_AGENTS; slot++) {
		snprintf(name, sizeof(name), "h%u", slot);
		assert_string_equal(node(m, slot), name);
	}
	for (uint32_t slot = 1; slot < XSF_SOURCES; slot++) {
		snprintf(name, sizeof(name), "p%u", slot);
		assert_string_equal(ifname(m, 1 + slot % (XSF_AGENTS - 1), slot), name);
	}
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_empty), T(test_said), T(test_planned), T(test_all_edge), T(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
