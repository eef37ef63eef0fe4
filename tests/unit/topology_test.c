// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Topologies as they come: what is taken, what is refused and why, at the bounds; and who is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/topology.h"

static struct xsf_topology *good(const char *text)
{
	struct xsf_topology *t;
	char why[512] = "";

	if (xsf_topology_parse(text, strlen(text), &t, why, sizeof(why)))
		fail_msg("%s: %s", text, why);
	assert_string_equal(t->text, text);
	assert_int_equal(t->text_len, strlen(text));
	return t;
}

static void test_good(void **state)
{
	struct xsf_topology *t = good(
		"{\"links\":{\"L2\":{\"node1\":\"leaf1\",\"port1\":\"swp1\",\"node2\":\"spine1\","
		"\"port2\":\"swp1\",\"bandwidth\":1},"
		"\"L1\":{\"node1\":\"spine2\",\"port1\":\"e1\",\"node2\":\"leaf1\",\"port2\":"
		"\"swp2\"}},"
		"\"nodes\":{\"leaf1\":{\"agent\":\"10.0.0.1\",\"ports\":{\"swp1\":{\"ifindex\":"
		"\"3\"},"
		"\"swp7\":{\"ifindex\":4294967295},\"swp8\":{}}},\"alone\":{\"agent\":\"2001:db8::"
		"1\"},"
		"\"bare\":{}},\"more\":[1,2]}");
	uint8_t addr[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
	uint8_t addr6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 1 };
	const struct xsf_topology_port *p;
	uint32_t leaf1, port;

	(void)state;
	assert_int_equal(t->nr_links, 2);
	assert_string_equal(t->links[0].name, "L1");
	assert_string_equal(t->links[1].name, "L2");
	assert_int_equal(t->nr_nodes, 5);
	assert_int_equal(t->nr_ports, 6);
	/* ends in their order, whatever the order of names is */
	p = &t->ports[t->links[0].port[0]];
	assert_string_equal(t->nodes[p->node].name, "spine2");
	assert_string_equal(p->name, "e1");
	assert_int_equal(p->link, 0);
	p = &t->ports[t->links[0].port[1]];
	assert_string_equal(t->nodes[p->node].name, "leaf1");
	assert_string_equal(p->name, "swp2");
	assert_int_equal(p->link, 0);
	assert_int_equal(p->ifindex, 0);

	leaf1 = xsf_topology_node_of_agent(t, addr);
	assert_string_equal(t->nodes[leaf1].name, "leaf1");
	assert_int_equal(t->nodes[leaf1].nr_ports, 4);
	assert_string_equal(t->nodes[xsf_topology_node_of_agent(t, addr6)].name, "alone");
	addr[15] = 2;
	assert_int_equal(xsf_topology_node_of_agent(t, addr), XSF_TOPOLOGY_NONE);
	assert_string_equal(t->nodes[xsf_topology_node_named(t, (const uint8_t *)"spine1", 6)].name,
			    "spine1");
	assert_int_equal(xsf_topology_node_named(t, (const uint8_t *)"spine", 5),
			 XSF_TOPOLOGY_NONE);
	assert_int_equal(xsf_topology_node_named(t, (const uint8_t *)"spine11", 7),
			 XSF_TOPOLOGY_NONE);
	assert_int_equal(xsf_topology_node_named(t, (const uint8_t *)"", 0), XSF_TOPOLOGY_NONE);
	assert_int_equal(xsf_topology_node_named(t, (const uint8_t *)"bare\0x", 6),
			 XSF_TOPOLOGY_NONE);

	port = xsf_topology_port_of_ifindex(t, leaf1, 3);
	assert_string_equal(t->ports[port].name, "swp1");
	assert_int_equal(t->ports[port].link, 1);
	port = xsf_topology_port_of_ifindex(t, leaf1, 4294967295u);
	assert_string_equal(t->ports[port].name, "swp7");
	assert_int_equal(xsf_topology_port_of_ifindex(t, leaf1, 0), XSF_TOPOLOGY_NONE);
	assert_int_equal(xsf_topology_port_of_ifindex(t, leaf1, 4), XSF_TOPOLOGY_NONE);
	/* its ifindex says who it is, not its name */
	assert_int_equal(xsf_topology_port_named(t, leaf1, (const uint8_t *)"swp1", 4),
			 XSF_TOPOLOGY_NONE);
	port = xsf_topology_port_named(t, leaf1, (const uint8_t *)"swp2", 4);
	assert_string_equal(t->ports[port].name, "swp2");
	assert_int_equal(xsf_topology_port_named(t, leaf1, (const uint8_t *)"swp9", 4),
			 XSF_TOPOLOGY_NONE);

	xsf_topology_get(t);
	xsf_topology_put(t);
	assert_string_equal(t->nodes[leaf1].name, "leaf1");
	xsf_topology_put(t);
}

static void test_empty(void **state)
{
	static const char *const texts[] = { "{}", " { } \n", "{\"links\":{}}", "{\"nodes\":{}}",
					     "{\"links\":null,\"nodes\":{}}" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct xsf_topology *t = good(texts[i]);

		assert_int_equal(t->nr_links + t->nr_nodes + t->nr_ports, 0);
		xsf_topology_put(t);
	}
}

#define LINK(n, a, p, b, q) \
	"\"" n "\":{\"node1\":\"" a "\",\"port1\":\"" p "\",\"node2\":\"" b "\",\"port2\":\"" q \
	"\"}"

static void test_bad(void **state)
{
	static const struct {
		const char *text;
		const char *why; /* within the reason */
	} cases[] = {
		{ "", "line 1, column 0" },
		{ "x", "line 1, column 1" },
		{ "{\n\"links\":\n {]", "line 3, column 3" },
		{ "{\"links\":{}} x", "end of file expected" },
		{ "{\"links\":{},}", "line 1" },
		{ "\xff{}", "unable to decode byte 0xff" },
		{ "{\"links\":{\"a\\u0000b\":{}}}", "NUL" },
		{ "[]", "no object" },
		{ "3", "line 1" },
		{ "{\"link\":{}}", "neither links nor nodes" },
		{ "{\"links\":[]}", "links is no object" },
		{ "{\"nodes\":\"x\"}", "nodes is no object" },
		{ "{\"links\":{\"L1\":7}}", "link 'L1' is no object" },
		{ "{\"links\":{\"L1\":{\"node1\":\"a\",\"port1\":\"b\",\"node2\":\"c\"}}}",
		  "link 'L1': port2 is missing" },
		{ "{\"links\":{\"L1\":{\"node1\":\"a\",\"port1\":3,\"node2\":\"c\",\"port2\":\"d\"}"
		  "}}",
		  "link 'L1': port1 is no string" },
		{ "{\"links\":{" LINK("L1", "", "p", "b", "q") "}}", "node1 of 'L1' is empty" },
		{ "{\"links\":{" LINK("", "a", "p", "b", "q") "}}", "the name of a link" },
		{ "{\"links\":{" LINK("L1", "a", "p", "a", "p") "}}", "both ends at one port" },
		{ "{\"links\":{" LINK("L1", "a", "p", "b", "q") "," LINK("L2", "c", "r", "a",
									 "p") "}}",
		  "port 'p' of node 'a' is in two links, 'L1' and 'L2'" },
		{ "{\"links\":{" LINK("L1", "a", "p", "b", "q") "," LINK("L1", "c", "p", "d",
									 "q") "}}",
		  "duplicate" },
		{ "{\"nodes\":{\"a\":{},\"a\":{}}}", "duplicate" },
		{ "{\"nodes\":{\"a\":[]}}", "node 'a' is no object" },
		{ "{\"nodes\":{\"a\":{\"agent\":7}}}", "node 'a': agent is no IP address" },
		{ "{\"nodes\":{\"a\":{\"agent\":\"leaf1\"}}}", "agent is no IP address" },
		{ "{\"nodes\":{\"a\":{\"agent\":\"10.0.0.1\"},\"b\":{\"agent\":\"10.0.0.1\"}}}",
		  "nodes 'a' and 'b' have the same agent" },
		{ "{\"nodes\":{\"a\":{\"agent\":\"10.0.0.1\"},\"b\":{\"agent\":\"::ffff:10.0.0.1\"}"
		  "}}",
		  "the same agent" },
		{ "{\"nodes\":{\"a\":{\"ports\":[]}}}", "node 'a': ports is no object" },
		{ "{\"nodes\":{\"a\":{\"ports\":{\"p\":1}}}}",
		  "port 'p' of node 'a' is no object" },
		{ "{\"nodes\":{\"a\":{\"ports\":{\"p\":{\"ifindex\":0}}}}}",
		  "ifindex is no number" },
		{ "{\"nodes\":{\"a\":{\"ports\":{\"p\":{\"ifindex\":-1}}}}}",
		  "ifindex is no number" },
		{ "{\"nodes\":{\"a\":{\"ports\":{\"p\":{\"ifindex\":4294967296}}}}}", "ifindex" },
		{ "{\"nodes\":{\"a\":{\"ports\":{\"p\":{\"ifindex\":\"3x\"}}}}}", "ifindex" },
		{ "{\"nodes\":{\"a\":{\"ports\":{\"p\":{\"ifindex\":\"\"}}}}}", "ifindex" },
		{ "{\"nodes\":{\"a\":{\"ports\":{\"p\":{\"ifindex\":\"99999999999\"}}}}}",
		  "ifindex" },
		{ "{\"nodes\":{\"a\":{\"ports\":{\"p\":{\"ifindex\":true}}}}}", "ifindex" },
		{ "{\"nodes\":{\"a\":{\"ports\":{\"p\":{\"ifindex\":3},\"q\":{\"ifindex\":\"3\"}}}}"
		  "}",
		  "ports 'p' and 'q' of node 'a' have the same ifindex" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xsf_topology *t = NULL;
		char why[512] = "";
		int err = xsf_topology_parse(cases[i].text, strlen(cases[i].text), &t, why,
					     sizeof(why));

		if (err != -EINVAL || t || !strstr(why, cases[i].why))
			fail_msg("%s: %d, %s", cases[i].text, err, why);
	}
}

/* ---- bounds ---- */

struct text {
	char *p;
	size_t len, room;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
	va_list args;

	if (t->room - t->len < 1024) {
		t->room = 2 * t->room + 65536;
		t->p = realloc(t->p, t->room);
		assert_non_null(t->p);
	}
	va_start(args, format);
	t->len += (size_t)vsnprintf(t->p + t->len, 1024, format, args);
	va_end(args);
}

/* 0 or the error, with its reason in why. */
static int parse(struct text *t, char why[512])
{
	struct xsf_topology *topology = NULL;
	int err = xsf_topology_parse(t->p, t->len, &topology, why, 512);

	assert_int_equal(!err, topology != NULL);
	xsf_topology_put(topology);
	free(t->p);
	memset(t, 0, sizeof(*t));
	return err;
}

static void test_links_bound(void **state)
{
	struct text t = { 0 };
	char why[512];

	(void)state;
	for (int more = 0; more < 2; more++) {
		add(&t, "{\"links\":{");
		for (int i = 0; i < XSF_TOPOLOGY_LINKS + more; i++)
			add(&t,
			    "%s\"L%d\":{\"node1\":\"a%d\",\"port1\":\"p%d\",\"node2\":\"b%d\","
			    "\"port2\":\"p%d\"}",
			    i ? "," : "", i, i % 100, i, i % 50, i);
		add(&t, "}}");
		if (!more) {
			assert_int_equal(parse(&t, why), 0);
		} else {
			assert_int_equal(parse(&t, why), -E2BIG);
			assert_string_equal(why, "32769 links, more than 32768");
		}
	}
}

static void test_nodes_bound(void **state)
{
	struct text t = { 0 };
	char why[512];

	(void)state;
	for (int more = 0; more < 2; more++) {
		add(&t, "{\"nodes\":{");
		for (int i = 0; i < XSF_TOPOLOGY_NODES + more; i++)
			add(&t, "%s\"n%d\":{}", i ? "," : "", i);
		add(&t, "}}");
		assert_int_equal(parse(&t, why), more ? -E2BIG : 0);
	}
	assert_non_null(strstr(why, "32769 nodes, more than 32768"));
	/* those that only links name */
	add(&t, "{\"links\":{");
	for (int i = 0; i <= XSF_TOPOLOGY_NODES / 2; i++)
		add(&t,
		    "%s"
		    "\"L%d\":{\"node1\":\"a%d\",\"port1\":\"p\",\"node2\":\"b%d\",\"port2\":\"p\"}",
		    i ? "," : "", i, i, i);
	add(&t, "}}");
	assert_int_equal(parse(&t, why), -E2BIG);
	assert_string_equal(why, "more than 32768 nodes");
}

static void test_ports_bound(void **state)
{
	struct text t = { 0 };
	char why[512];

	(void)state;
	for (int more = 0; more < 2; more++) {
		add(&t, "{\"nodes\":{\"n\":{\"ports\":{");
		for (int i = 0; i < XSF_TOPOLOGY_PORTS + more; i++)
			add(&t, "%s\"p%d\":{\"ifindex\":%d}", i ? "," : "", i, i + 1);
		add(&t, "}}}}");
		assert_int_equal(parse(&t, why), more ? -E2BIG : 0);
	}
	assert_string_equal(why, "more than 65536 ports");
	/* of which there are so many that they are not even gathered */
	add(&t, "{\"nodes\":{\"n\":{\"ports\":{");
	for (int i = 0; i < 3 * XSF_TOPOLOGY_PORTS; i++)
		add(&t, "%s\"p%d\":{}", i ? "," : "", i);
	add(&t, "}}}}");
	assert_int_equal(parse(&t, why), -E2BIG);
}

static void test_names(void **state)
{
	static char name[300];
	struct text t = { 0 };
	char why[512];

	(void)state;
	for (size_t len = 250; len < 260; len++) {
		memset(name, 'x', len);
		name[len] = 0;
		add(&t, "{\"nodes\":{\"%s\":{}}}", name);
		assert_int_equal(parse(&t, why), len > XSF_TOPOLOGY_NAME ? -E2BIG : 0);
		add(&t, "{\"links\":{" LINK("L", "a", "%s", "b", "c") "}}", name);
		assert_int_equal(parse(&t, why), len > XSF_TOPOLOGY_NAME ? -E2BIG : 0);
	}
	/* What an agent cut at 63 bytes is the name that begins so. */
	for (size_t len = 60; len < 70; len++) {
		struct xsf_topology *topology;

		memset(name, 'x', len);
		name[len] = 0;
		add(&t, "{\"nodes\":{\"%s\":{},\"a\":{},\"y\":{}}}", name);
		topology = good(t.p);
		assert_int_equal(xsf_topology_node_named(topology, (const uint8_t *)name,
							 len > 63 ? 63 : len),
				 1);
		assert_int_equal(xsf_topology_node_named(topology, (const uint8_t *)name, 62),
				 len == 62 ? 1 : XSF_TOPOLOGY_NONE);
		xsf_topology_put(topology);
		free(t.p);
		memset(&t, 0, sizeof(t));
	}
}

static void test_hostile(void **state)
{
	struct text t = { .room = XSF_TOPOLOGY_BYTES + 2 };
	char why[512];

	(void)state;
	/* 8 MiB and one byte: not read at all */
	t.p = malloc(t.room);
	assert_non_null(t.p);
	memset(t.p, ' ', t.room);
	memcpy(t.p, "{}", 2);
	t.len = XSF_TOPOLOGY_BYTES + 1;
	assert_int_equal(parse(&t, why), -E2BIG);
	assert_non_null(strstr(why, "8388609 bytes, more than 8388608"));
	/* as deep as it is long */
	t.room = t.len = XSF_TOPOLOGY_BYTES;
	t.p = malloc(t.len);
	assert_non_null(t.p);
	memset(t.p, '[', t.len);
	assert_int_equal(parse(&t, why), -EINVAL);
	assert_non_null(strstr(why, "depth"));
	/* what would take a hundred times its length of memory */
	t.room = t.len = XSF_TOPOLOGY_BYTES;
	t.p = malloc(t.len);
	assert_non_null(t.p);
	for (size_t i = 0; i + 3 <= t.len; i += 3)
		memcpy(t.p + i, "{},", 3);
	t.p[0] = '[';
	t.p[1] = t.p[2] = ' ';
	t.p[t.len - 1] = ']';
	t.p[t.len - 2] = ' ';
	t.p[t.len - 3] = ' ';
	assert_int_equal(parse(&t, why), -E2BIG);
	assert_string_equal(why, "it takes more than 134217728 bytes of memory to read");
	/* and after that all is as before */
	add(&t, "{\"links\":{" LINK("L1", "a", "p", "b", "q") "}}");
	assert_int_equal(parse(&t, why), 0);
}

/* Cut at every byte, and every byte changed: an answer, and nothing else. */
static void test_mutations(void **state)
{
	static const char whole[] = "{\"links\":{" LINK("L1", "a", "p", "b", "q") "," LINK(
		"L2", "b", "r", "c", "s") "},"
					  "\"nodes\":{\"a\":{\"agent\":\"10.0.0.1\",\"ports\":{"
					  "\"p\":{\"ifindex\":\"3\"}}}}}";
	struct text t = { 0 };
	unsigned int taken = 0;
	char why[512];

	(void)state;
	for (size_t len = 0; len < sizeof(whole) - 1; len++) {
		add(&t, "%.*s", (int)len, whole);
		assert_int_equal(parse(&t, why), -EINVAL);
	}
	for (size_t at = 0; at < sizeof(whole) - 1; at++) {
		for (unsigned int byte = 1; byte < 256; byte++) {
			add(&t, "%s", whole);
			t.p[at] = (char)byte;
			taken += !parse(&t, why);
		}
	}
	assert_in_range(taken, 1000, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	    cmocka_unit_test(test_empty),
		cmocka_unit_test(test_bad),	    cmocka_unit_test(test_links_bound),
		cmocka_unit_test(test_nodes_bound), cmocka_unit_test(test_ports_bound),
		cmocka_unit_test(test_names),	    cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
