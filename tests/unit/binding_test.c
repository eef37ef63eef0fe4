// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which fabric and role agents and interfaces have, as names, agents and aggregates come and go. */
#include <errno.h>
#include <stdio.h>

#include "fed.h"
#include "model/binding.h"

#define LEAF1 0x0a010001
#define LEAF2 0x0a010002
#define SPINE1 0x0a020001

struct bound {
	struct fed *f;
	struct xsf_bindings *b;
	uint32_t sequence;
};

static int bound_setup(void **state)
{
	struct bound *t = calloc(1, sizeof(*t));

	if (!t || fed_setup((void **)&t->f))
		return -1;
	t->b = xsf_bindings_new();
	*state = t;
	return t->b ? 0 : -1;
}

static int bound_teardown(void **state)
{
	struct bound *t = *state;

	xsf_bindings_free(t->b);
	fed_teardown((void **)&t->f);
	free(t);
	return 0;
}

/* A fabric with this topology (NULL: none), in force. */
static uint32_t fabric(struct bound *t, const char *name, const char *text)
{
	struct xsf_topology *topology = NULL;
	int n = xsf_bindings_find(t->b, name);
	char why[256];

	if (n < 0)
		n = xsf_bindings_add(t->b, name);
	assert_true(n >= 0);
	if (text && xsf_topology_parse(text, strlen(text), &topology, why, sizeof(why)))
		fail_msg("%s: %s", text, why);
	assert_int_equal(xsf_bindings_set(t->b, (uint32_t)n, topology), 0);
	xsf_topology_put(topology);
	return (uint32_t)n;
}

static const struct xsf_snapshot *update(struct bound *t)
{
	xsf_store_snapshot(t->f->store, &t->f->s);
	assert_int_equal(xsf_bindings_update(t->b, &t->f->s), 0);
	return &t->f->s;
}

static struct wire *begin(struct bound *t, uint32_t agent, uint32_t sub_agent, uint32_t samples)
{
	t->f->w.len = 0;
	t->sequence++;
	wire_datagram(&t->f->w, agent, sub_agent, t->sequence, 1000 * t->sequence, samples);
	return &t->f->w;
}

static void end(struct bound *t)
{
	fed_end(t->f);
}

/* An agent says its host name. */
static void says_host(struct bound *t, uint32_t agent, uint32_t sub_agent, const char *name)
{
	struct wire *w = begin(t, agent, sub_agent, 1);
	uint32_t body = wire_counters_expanded(w, 1, 2, 1, 1);

	wire_string(w, 2000, name, (uint32_t)strlen(name));
	wire_close(w, body);
	end(t);
}

/* Counters of an interface; NULL: without name; aggregate 0: without that record. */
static void says_port(struct bound *t, uint32_t agent, uint32_t ifindex, const char *name,
		      uint32_t aggregate)
{
	struct wire *w = begin(t, agent, 0, 1);
	uint32_t body = wire_counters(w, t->sequence, ifindex, 1u + !!name + !!aggregate);

	wire_if_counters(w, ifindex, 5);
	if (name)
		wire_string(w, 1005, name, (uint32_t)strlen(name));
	if (aggregate)
		wire_lag(w, aggregate);
	wire_close(w, body);
	end(t);
}

static void says_flow(struct bound *t, uint32_t agent, uint32_t sub_agent, uint32_t ifindex)
{
	struct wire *w = begin(t, agent, sub_agent, 1);
	uint32_t body = wire_flow(w, t->sequence, ifindex, 10, ifindex, 4, 0);

	wire_close(w, body);
	end(t);
}

/* "none", "edge", "core" (and "~" when it follows another), of an interface of whatever sub-agent. */
static const char *role_of(struct bound *t, uint32_t agent, uint32_t ifindex)
{
	static char text[16];
	const struct xsf_snapshot *s = update(t);

	for (uint32_t slot = 1; slot < s->nr_sources; slot++) {
		const struct xsf_source_key *k = &s->sources[slot].key;
		const struct xsf_place *p;

		if (k->class || k->index != ifindex ||
		    memcmp(s->agents[k->agent].key.addr + 12,
			   (uint8_t[]){ agent >> 24, agent >> 16 & 255, agent >> 8 & 255,
					agent & 255 },
			   4))
			continue;
		p = xsf_bindings_source(t->b, s, slot);
		snprintf(text, sizeof(text), "%s%s", p->follows ? "~" : "",
			 xsf_role_names[p->role]);
		return text;
	}
	return "absent";
}

#define LINKS \
	"{\"links\":{\"L1\":{\"node1\":\"leaf1\",\"port1\":\"swp2\",\"node2\":\"spine1\"," \
	"\"port2\":\"swp1\"},\"L2\":{\"node1\":\"leaf2\",\"port1\":\"swp2\",\"node2\":\"spine1\"," \
	"\"port2\":\"swp2\"}}}"

/* Links alone: names decide, and may come after the traffic. */
static void test_names_later(void **state)
{
	struct bound *t = *state;
	uint64_t version;

	fabric(t, "a", LINKS);
	says_flow(t, LEAF1, 0, 3);
	says_flow(t, LEAF1, 0, 4);
	says_flow(t, SPINE1, 0, 3);
	assert_string_equal(role_of(t, LEAF1, 3), "none");
	version = xsf_bindings_version(t->b);
	says_host(t, LEAF1, 0, "leaf1");
	assert_string_equal(role_of(t, LEAF1, 3), "edge");
	assert_true(xsf_bindings_version(t->b) > version);
	assert_string_equal(role_of(t, LEAF1, 4), "edge");
	says_port(t, LEAF1, 4, "swp2", 0);
	assert_string_equal(role_of(t, LEAF1, 4), "core");
	assert_string_equal(role_of(t, SPINE1, 3), "none");
	says_port(t, SPINE1, 3, "swp1", 0);
	says_host(t, SPINE1, 0, "spine1");
	assert_string_equal(role_of(t, SPINE1, 3), "core");
	version = xsf_bindings_version(t->b);
	update(t);
	assert_true(xsf_bindings_version(t->b) == version);
	/* renamed */
	says_port(t, LEAF1, 4, "swp9", 0);
	assert_string_equal(role_of(t, LEAF1, 4), "edge");
	says_host(t, LEAF1, 0, "another");
	assert_string_equal(role_of(t, LEAF1, 4), "none");
}

/* nodes[] decides before names do. */
static void test_given(void **state)
{
	struct bound *t = *state;

	fabric(t, "a",
	       "{\"links\":{\"L1\":{\"node1\":\"leaf1\",\"port1\":\"up\",\"node2\":\"spine1\","
	       "\"port2\":\"swp1\"}},\"nodes\":{\"leaf1\":{\"agent\":\"10.1.0.1\",\"ports\":"
	       "{\"up\":{\"ifindex\":7}}},\"spine1\":{\"agent\":\"10.2.0.1\"}}}");
	says_flow(t, LEAF1, 0, 7);
	says_flow(t, LEAF1, 0, 8);
	assert_string_equal(role_of(t, LEAF1, 7), "core");
	assert_string_equal(role_of(t, LEAF1, 8), "edge");
	/* whatever it calls itself, and its ports */
	says_host(t, LEAF1, 0, "spine1");
	says_port(t, LEAF1, 8, "up", 0);
	assert_string_equal(role_of(t, LEAF1, 8), "edge");
	assert_string_equal(role_of(t, LEAF1, 7), "core");
	/* another agent is not a node that has its own */
	says_host(t, LEAF2, 0, "spine1");
	says_flow(t, LEAF2, 0, 7);
	assert_string_equal(role_of(t, LEAF2, 7), "none");
	/* an agent is given, its ports by name */
	says_port(t, SPINE1, 3, "swp1", 0);
	assert_string_equal(role_of(t, SPINE1, 3), "core");
	/* sub-agents go with it; other classes and unknown indexes have no role */
	says_flow(t, SPINE1, 100000, 9);
	assert_string_equal(role_of(t, SPINE1, 9), "edge");
	says_flow(t, SPINE1, 0, 2u << 24 | 1);
	says_flow(t, SPINE1, 0, 0);
	update(t);
	for (uint32_t slot = 1; slot < t->f->s.nr_sources; slot++) {
		if (!xsf_source_is_interface(&t->f->s.sources[slot]))
			assert_int_equal(xsf_bindings_source(t->b, &t->f->s, slot)->role, 0);
	}
}

/* Two agents of one name: the first has it, until it falls silent. */
static void test_same_name(void **state)
{
	struct bound *t = *state;
	struct xsf_config config;

	fabric(t, "a", LINKS);
	says_host(t, LEAF2, 0, "leaf1");
	says_flow(t, LEAF2, 0, 3);
	assert_string_equal(role_of(t, LEAF2, 3), "edge");
	/* its address is lower, but it comes later */
	says_host(t, LEAF1, 0, "leaf1");
	says_flow(t, LEAF1, 0, 3);
	assert_string_equal(role_of(t, LEAF2, 3), "edge");
	assert_string_equal(role_of(t, LEAF1, 3), "none");
	xsf_config_defaults(&config);
	t->f->now_ns += config.stale_ns + SECOND;
	says_flow(t, LEAF1, 0, 3);
	xsf_store_snapshot(t->f->store, &t->f->s);
	t->f->s.stale_ns = config.stale_ns;
	xsf_bindings_update(t->b, &t->f->s);
	for (uint32_t slot = 1; slot < t->f->s.nr_agents; slot++) {
		if (t->f->s.agents[slot].key.addr[15] == 1)
			assert_int_equal(xsf_bindings_agent(t->b, &t->f->s, slot)->fabric, 0);
	}
	assert_int_equal(t->f->s.agents[xsf_bindings_node_slot(t->b, 0, 0)].key.addr[15], 1);
}

static void test_fabrics(void **state)
{
	struct bound *t = *state;
	const struct xsf_place *p;

	assert_int_equal(fabric(t, "a", LINKS), 0);
	assert_int_equal(
		fabric(t, "b", "{\"nodes\":{\"leaf1\":{},\"leaf9\":{\"agent\":\"10.1.0.2\"}}}"), 1);
	assert_int_equal(xsf_bindings_add(t->b, "a"), -EEXIST);
	assert_int_equal(xsf_bindings_add(t->b, "a/b"), -EINVAL);
	assert_int_equal(xsf_bindings_add(t->b, ".a"), -EINVAL);
	assert_int_equal(xsf_bindings_add(t->b, ""), -EINVAL);
	assert_int_equal(xsf_bindings_add(t->b, "a23456789012345678901234567890ab"), -EINVAL);
	says_host(t, LEAF1, 0, "leaf1"); /* of both: the first has it */
	says_flow(t, LEAF1, 0, 3);
	says_flow(t, LEAF2, 0, 3);
	assert_string_equal(role_of(t, LEAF1, 3), "edge");
	assert_string_equal(role_of(t, LEAF2, 3), "edge");
	for (uint32_t slot = 1; slot < t->f->s.nr_sources; slot++) {
		const struct xsf_agent *a = &t->f->s.agents[t->f->s.sources[slot].key.agent];

		if (t->f->s.sources[slot].key.class)
			continue;
		p = xsf_bindings_source(t->b, &t->f->s, slot);
		assert_int_equal(p->fabric, a->key.addr[15] - 1);
		assert_int_equal(xsf_place_group(p), 1 + 2 * (a->key.addr[15] - 1));
	}
	for (uint32_t n = 2; n < XSF_FABRICS_MAX; n++) {
		char name[8];

		snprintf(name, sizeof(name), "f%u", n);
		assert_int_equal(xsf_bindings_add(t->b, name), n);
	}
	assert_int_equal(xsf_bindings_add(t->b, "more"), -E2BIG);
	/* another topology, then none */
	fabric(t, "a", "{\"nodes\":{\"leaf2\":{\"agent\":\"10.1.0.2\"}}}");
	assert_string_equal(role_of(t, LEAF1, 3), "edge");
	fabric(t, "b", NULL);
	assert_string_equal(role_of(t, LEAF1, 3), "none");
	assert_string_equal(role_of(t, LEAF2, 3), "edge");
	fabric(t, "a", NULL);
	assert_string_equal(role_of(t, LEAF2, 3), "none");
}

static void test_all_edge(void **state)
{
	struct bound *t = *state;

	says_flow(t, LEAF1, 0, 3);
	fabric(t, "a", NULL);
	assert_string_equal(role_of(t, LEAF1, 3), "none");
	xsf_bindings_all_edge(t->b, 1);
	assert_string_equal(role_of(t, LEAF1, 3), "edge");
	fabric(t, "a", LINKS);
	assert_string_equal(role_of(t, LEAF1, 3), "none");
	fabric(t, "a", NULL);
	assert_string_equal(role_of(t, LEAF1, 3), "edge");
	fabric(t, "a", "{}");
	assert_string_equal(role_of(t, LEAF1, 3), "edge");
	fabric(t, "a", "{\"links\":{},\"nodes\":{}}");
	assert_string_equal(role_of(t, LEAF1, 3), "edge");
}

/* Members follow their aggregate, however that is known, and it follows them. */
static void test_lag(void **state)
{
	struct bound *t = *state;

	fabric(t, "a",
	       "{\"links\":{\"L1\":{\"node1\":\"leaf1\",\"port1\":\"bond1\",\"node2\":\"spine1\","
	       "\"port2\":\"po9\"}},\"nodes\":{\"spine1\":{\"agent\":\"10.2.0.1\",\"ports\":"
	       "{\"po9\":{\"ifindex\":\"900\"}}}}}");
	says_host(t, LEAF1, 0, "leaf1");
	says_port(t, LEAF1, 3, "swp1", 100);
	says_port(t, LEAF1, 4, "swp2", 100);
	says_port(t, LEAF1, 5, "swp3", 101);
	says_port(t, LEAF1, 6, "swp4", 0);
	assert_string_equal(role_of(t, LEAF1, 3), "edge");
	says_port(t, LEAF1, 100, "bond1", 0);
	assert_string_equal(role_of(t, LEAF1, 100), "core");
	assert_string_equal(role_of(t, LEAF1, 3), "~core");
	assert_string_equal(role_of(t, LEAF1, 4), "~core");
	assert_string_equal(role_of(t, LEAF1, 5), "edge");
	assert_string_equal(role_of(t, LEAF1, 6), "edge");
	/* an aggregate that never sends: its ifindex is in the topology */
	says_port(t, SPINE1, 3, "eth1", 900);
	says_port(t, SPINE1, 4, "eth2", 901);
	assert_string_equal(role_of(t, SPINE1, 3), "~core");
	assert_string_equal(role_of(t, SPINE1, 4), "edge");
	/* left it */
	says_port(t, LEAF1, 4, "swp2", 4);
	assert_string_equal(role_of(t, LEAF1, 4), "edge");

	/* a link on one member: the aggregate is core, and so are the others */
	fabric(t, "a",
	       "{\"links\":{\"L1\":{\"node1\":\"leaf1\",\"port1\":\"swp1\",\"node2\":\"spine1\","
	       "\"port2\":\"eth1\"}}}");
	says_port(t, LEAF1, 4, "swp2", 100);
	assert_string_equal(role_of(t, LEAF1, 3), "core");
	assert_string_equal(role_of(t, LEAF1, 100), "~core");
	assert_string_equal(role_of(t, LEAF1, 4), "~core");
	assert_string_equal(role_of(t, LEAF1, 5), "edge");
}

static void test_status(void **state)
{
	struct bound *t = *state;
	struct xsf_topology_status st;
	const struct xsf_snapshot *s;
	uint32_t slot;

	fabric(t, "a", LINKS);
	s = update(t);
	xsf_bindings_status(t->b, s, 0, &st);
	assert_int_equal(st.links[XSF_LINK_UNMONITORED], 2);
	assert_int_equal(st.nodes[XSF_NODE_UNMONITORED], 3);
	assert_int_equal(st.ports_unknown, 4);

	says_host(t, LEAF1, 0, "leaf1");
	says_port(t, LEAF1, 4, "swp2", 0);
	says_host(t, SPINE1, 0, "spine1");
	says_port(t, SPINE1, 3, "swp1", 0);
	says_flow(t, SPINE1, 100000, 8);
	s = update(t);
	xsf_bindings_status(t->b, s, 0, &st);
	assert_int_equal(st.links[XSF_LINK_UNMONITORED], 1);
	assert_int_equal(st.links[XSF_LINK_UP] + st.links[XSF_LINK_DOWN], 1);
	assert_int_equal(st.nodes[XSF_NODE_UNMONITORED], 1);
	assert_int_equal(st.nodes[XSF_NODE_NOFLOWS], 1); /* leaf1 */
	assert_int_equal(st.nodes[XSF_NODE_FLOWS], 1);	 /* another sub-agent's */
	assert_int_equal(st.ports_unknown, 2);
	assert_int_equal(st.core, 2);
	assert_int_equal(st.edge, 1);

	/* up when both ends are up, administratively and in operation */
	slot = xsf_bindings_port_slot(t->b, 0, 0);
	assert_int_not_equal(slot, 0);
	for (uint32_t status = 0; status < 4; status++) {
		struct xsf_interface *i = (struct xsf_interface *)(uintptr_t)&s->interfaces[slot];
		uint32_t other = xsf_bindings_port_slot(t->b, 0, 2);

		((struct xsf_interface *)(uintptr_t)&s->interfaces[other])->status = 3;
		i->status = status;
		assert_int_equal(xsf_bindings_link(t->b, s, 0, 0),
				 status == 3 ? XSF_LINK_UP : XSF_LINK_DOWN);
	}
}

#define BOUND(name) cmocka_unit_test_setup_teardown(name, bound_setup, bound_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOUND(test_names_later), BOUND(test_given),    BOUND(test_same_name),
		BOUND(test_fabrics),	 BOUND(test_all_edge), BOUND(test_lag),
		BOUND(test_status),
	};

	return cmocka_run_group_tests_name("binding", tests, NULL, NULL);
}
