// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Findings as a user sees them: text, JSON, commands with odd names, bounds. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>
#include "doctor_facts.h"
#include "serve/doctor.h"

/* A name that a shell would take apart is quoted in commands; in text and JSON nothing breaks a line. */
static void test_names(void **state)
{
	(void)state;
	strcpy(f.iface, "a'b;$(x)");
	f.up = 0;
	says("interface", XSF_LEVEL_FAIL, "a'b;$(x) is down", "ip link set dev 'a'\\''b;$(x)' up");
	strcpy(f.iface, "-rf");
	says("interface", XSF_LEVEL_FAIL, "-rf is down", "ip link set dev '-rf' up");
	memset(f.iface, '\'', sizeof(f.iface) - 1);
	xsf_diagnose(&f, &d);
}

static char buf[XSF_DOCTOR_TEXT];

static void test_text(void **state)
{
	struct xsf_text t = { .buf = buf, .max = sizeof(buf) };
	uint32_t lines = 0;
	char want[64];

	(void)state;
	strcpy(f.socket[0].command, "bad\nname\033");
	f.jit = 0;
	xsf_diagnose(&f, &d);
	xsf_doctor_text(&d, &t);
	assert_int_equal(t.full, 0);
	buf[t.len] = 0;
	for (const char *s = buf; *s; s++)
		lines += *s == '\n';
	assert_int_equal(lines, d.nr + 1);
	assert_non_null(strstr(
		buf, "\nwarn    jit          programs are interpreted: several times slower; "
		     "to mend: sysctl -w net.core.bpf_jit_enable=1\n"));
	assert_non_null(strstr(buf, "bad?name? (pid 42)\n"));
	snprintf(want, sizeof(want), "\n%u ok, 1 warn, 0 fail, 0 unknown\n", d.nr - 1);
	assert_non_null(strstr(buf, want));
}

static void test_json(void **state)
{
	struct xsf_text t = { .buf = buf, .max = sizeof(buf) };
	json_t *root, *check;
	json_error_t error;

	(void)state;
	strcpy(f.socket[0].command, "a\"b\\\n\001");
	f.jit = 0;
	xsf_diagnose(&f, &d);
	xsf_doctor_json(f.iface, &d, &t);
	assert_int_equal(t.full, 0);
	root = json_loadb(buf, t.len, 0, &error);
	if (!root)
		fail_msg("%s: %.200s", error.text, buf);
	assert_string_equal(json_string_value(json_object_get(root, "interface")), "eth0");
	assert_int_equal(json_integer_value(json_object_get(root, "ok")), d.nr - 1);
	assert_int_equal(json_integer_value(json_object_get(root, "warn")), 1);
	assert_int_equal(json_integer_value(json_object_get(root, "fail")), 0);
	assert_int_equal(json_array_size(json_object_get(root, "checks")), d.nr);
	for (uint32_t n = 0; n < d.nr; n++) {
		const char *mend;

		check = json_array_get(json_object_get(root, "checks"), n);
		mend = json_string_value(json_object_get(check, "mend"));
		assert_string_equal(json_string_value(json_object_get(check, "check")),
				    d.row[n].check);
		assert_string_equal(json_string_value(json_object_get(check, "level")),
				    xsf_level_name(d.row[n].level));
		assert_string_equal(mend ? mend : "", d.row[n].mend);
		if (!strstr(d.row[n].text, "a\"b"))
			assert_string_equal(json_string_value(json_object_get(check, "text")),
					    d.row[n].text);
	}
	json_decref(root);
}

/* As many findings as there can be: the last place is kept for the newest. */
static void test_bounds(void **state)
{
	(void)state;
	f.nr_ports = XSF_DOCTOR_PORTS;
	for (uint32_t n = 0; n < XSF_DOCTOR_PORTS; n++)
		f.ports[n] = (uint16_t)(1000 + n);
	f.nr_sockets = XSF_DOCTOR_SOCKETS;
	for (uint32_t n = 0; n < XSF_DOCTOR_SOCKETS; n++)
		f.socket[n].port = (uint16_t)(1000 + n % XSF_DOCTOR_PORTS);
	f.nr_chains = XSF_DOCTOR_CHAINS;
	f.chains = 100;
	xsf_diagnose(&f, &d);
	assert_int_equal(d.nr, XSF_MAX_FINDINGS);
	assert_int_equal(d.count[0] + d.count[1] + d.count[2] + d.count[3], XSF_MAX_FINDINGS);
}

#define TEST(name) cmocka_unit_test_setup(name, healthy)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names),
		TEST(test_text),
		TEST(test_json),
		TEST(test_bounds),
	};

	return cmocka_run_group_tests_name("doctor_text", tests, NULL, NULL);
}
