// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "csum_trio.h"

#include <stdio.h>

static void print_packet(const uint8_t *frame, uint32_t len)
{
	printf("# %u bytes:", len);
	for (uint32_t i = 0; i < len && i < 400; i++)
		printf("%s%02x", i % 32 ? "" : "\n# ", frame[i]);
	printf("\n");
}

static void same(const struct csum_result *a, const char *name, const struct csum_result *b,
		 const char *what, const uint8_t *frame, uint32_t len)
{
	if (!strcmp(a->outcome, b->outcome) && a->port == b->port && !memcmp(a->p, b->p, len))
		return;
	printf("# %s: reference %s, port %u; %s %s, port %u\n", what, a->outcome, a->port, name,
	       b->outcome, b->port);
	for (uint32_t i = 0; i < len; i++) {
		if (a->p[i] != b->p[i])
			printf("# byte %u: %02x, %s %02x\n", i, a->p[i], name, b->p[i]);
	}
	print_packet(frame, len);
	fail();
}

/* Whatever a packet is: nothing but a wrong checksum is ever changed, and then it is right. */
static void rules_hold(const struct csum_result *r, const char *what, const uint8_t *frame,
		       uint32_t len)
{
	int repaired = !strncmp(r->outcome, "repaired_", 9), before, after;
	uint32_t at = 0, changed = 0;

	before = csum_verify(frame, len, &at);
	after = csum_verify(r->p, len, &at);
	for (uint32_t i = 0; i < len; i++)
		changed += frame[i] != r->p[i] && !(repaired && (i == at || i == at + 1));
	if (!changed &&
	    (repaired ? before != 1 && before != -1 && after == 1 : !memcmp(frame, r->p, len)) &&
	    (strcmp(r->outcome, "good") || before == 1))
		return;
	printf("# %s: %s, checksum %d before and %d afterwards, %u other bytes changed\n", what,
	       r->outcome, before, after, changed);
	print_packet(frame, len);
	fail();
}

const struct csum_result *csum_all(struct csum_kernel *k, const struct csum_rules *rules,
				   const char *what, const uint8_t *frame, uint32_t len,
				   const struct csum_how *how)
{
	static struct csum_result reference, native, kernel;

	csum_reference(rules, frame, len, how, &reference);
	rules_hold(&reference, what, frame, len);
	csum_native(rules, frame, len, how, &native);
	same(&reference, "native", &native, what, frame, len);
	if (!k || how->partial || !csum_kernel_takes(frame, len))
		return &reference;
	csum_kernel_run(k, frame, len, how, &kernel);
	same(&reference, "kernel", &kernel, what, frame, len);
	rules_hold(&kernel, what, frame, len);
	return &reference;
}
