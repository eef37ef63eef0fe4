// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trio.h"

#include <stdio.h>
#include <time.h>
#include "../unit/sums.h"

#define XDP_PASS 2

void trio_begin(struct trio *t, enum kernel_program which, const struct xsf_config *config)
{
	struct timespec now;

	kernel_pin();
	memset(t, 0, sizeof(*t));
	xsf_config_defaults(&t->config);
	if (config)
		t->config = *config;
	t->which = which;
	t->kernel = kernel_new(&t->config);
	t->native = xsf_store_new(&t->config);
	t->reference = calloc(1, sizeof(*t->reference));
	assert_non_null(t->native);
	assert_non_null(t->reference);
	t->events = calloc(3, sizeof(*t->events));
	assert_non_null(t->events);
	kernel_listen(t->kernel, events_put, &t->events[0]);
	xsf_store_on_event(t->native, events_put, &t->events[1]);
	t->reference->each = events_put;
	t->reference->arg = &t->events[2];
	clock_gettime(CLOCK_MONOTONIC, &now);
	t->now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void trio_end(struct trio *t)
{
	kernel_free(t->kernel);
	xsf_store_free(t->native);
	reference_free(t->reference);
	free(t->events);
}

/* Whether its datagram came before, the reference does not know. */
static void compare_events(struct trio *t)
{
	char said[COMPARE_TEXT];

	if (t->events_fault[0])
		return;
	if (events_differ(&t->events[0], &t->events[1], 0, said, sizeof(said)))
		snprintf(t->events_fault, COMPARE_TEXT, "kernel and native: %.300s", said);
	else if (!t->no_reference && events_differ(&t->events[0], &t->events[2],
						   XSF_EVENT_DUPLICATE, said, sizeof(said)))
		snprintf(t->events_fault, COMPARE_TEXT, "both and the reference: %.300s", said);
}

int trio_frame(struct trio *t, const uint8_t *frame, uint32_t len)
{
	int verdict;

	if (!kernel_takes(t->which, len))
		return -1;
	for (int i = 0; i < 3; i++)
		events_clear(&t->events[i]);
	verdict = kernel_run(t->kernel, t->which, frame, len);
	xsf_store_frame(t->native, frame, len, len, 0, ++t->now_ns);
	if (!t->no_reference)
		reference_frame(t->reference, frame, len, t->config.ports);
	compare_events(t);
	return verdict;
}

/* xsf_ports of both, and against the totals, which the reference has checked. */
static const char *ports_differ(struct trio *t, const struct xsf_totals *totals, char *text)
{
	uint16_t ports[XSF_MAX_PORTS + 3] = { 4739, 6343, 2055 };
	uint64_t datagrams = 0, first = 0;

	for (unsigned int i = 0; i < XSF_MAX_PORTS; i++)
		ports[3 + i] = t->config.ports[i];
	for (unsigned int i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		struct xsf_port kernel, native;

		if (!ports[i])
			continue;
		kernel_port(t->kernel, ports[i], &kernel);
		xsf_store_port(t->native, ports[i], &native);
		if (kernel.datagrams != native.datagrams ||
		    kernel.fragments_first != native.fragments_first) {
			snprintf(text, COMPARE_TEXT,
				 "port %u: kernel %llu and %llu, native %llu and %llu", ports[i],
				 kernel.datagrams, kernel.fragments_first, native.datagrams,
				 native.fragments_first);
			return text;
		}
		datagrams += i < 3 ? 0 : kernel.datagrams;
		first += i < 3 ? 0 : kernel.fragments_first;
	}
	if (datagrams == totals->datagrams && first == totals->fragments_first)
		return NULL;
	snprintf(text, COMPARE_TEXT, "ports: %llu and %llu, totals %llu and %llu",
		 (unsigned long long)datagrams, (unsigned long long)first, totals->datagrams,
		 totals->fragments_first);
	return text;
}

const char *trio_compare(struct trio *t, char text[COMPARE_TEXT])
{
	static struct xsf_snapshot native;
	const struct xsf_snapshot *kernel = kernel_snapshot(t->kernel);
	const char *found;
	char said[COMPARE_TEXT];

	xsf_store_snapshot(t->native, &native);
	/* Nothing is dropped natively. */
	native.totals.consumed = kernel->totals.consumed;
	found = compare_snapshots(kernel, &native, said);
	if (found) {
		snprintf(text, COMPARE_TEXT, "kernel and native: %.300s", found);
		return text;
	}
	if (t->events_fault[0]) {
		snprintf(text, COMPARE_TEXT, "%s", t->events_fault);
		return text;
	}
	found = t->no_reference ? NULL : compare_reference(kernel, t->reference, said);
	if (found) {
		snprintf(text, COMPARE_TEXT, "both and the reference: %.300s", found);
		return text;
	}
	if (ports_differ(t, &kernel->totals, text))
		return text;
	found = sums_broken(kernel, said, sizeof(said));
	if (!found)
		found = sums_timeline(kernel, said, sizeof(said));
	if (!found)
		found = sums_timeline(&native, said, sizeof(said));
	if (found) {
		snprintf(text, COMPARE_TEXT, "sums: %.300s", found);
		return text;
	}
	return NULL;
}

void trio_check(struct trio *t, const char *what, const uint8_t *frame, uint32_t len)
{
	char text[COMPARE_TEXT];
	const char *found = trio_compare(t, text);

	if (!found)
		return;
	printf("# %s: %s\n", what, found);
	for (uint32_t i = 0; i < len; i++)
		printf("%s%02x", i % 48 ? "" : i ? "\n#   " : "#   ", frame[i]);
	printf("\n");
	trio_end(t);
	fail_msg("%s: %s", what, found);
}

static void run(struct trio *t, const char *what, trio_make *make, void *arg, uint32_t n,
		struct wire *frame)
{
	int verdict;

	make(arg, n, frame);
	verdict = trio_frame(t, frame->p, frame->len);
	if (verdict >= 0 && verdict != XDP_PASS)
		fail_msg("%s %u: verdict %d", what, n, verdict);
}

void trio_batches(enum kernel_program which, const char *what, trio_make *make, void *arg,
		  uint32_t nr, uint32_t batch)
{
	static struct wire frame;
	char name[128], text[COMPARE_TEXT];
	uint32_t n, begin = 0;
	struct trio t;

	trio_begin(&t, which, NULL);
	for (n = 0; n < nr; n++) {
		run(&t, what, make, arg, n, &frame);
		if ((n + 1) % batch && n + 1 < nr)
			continue;
		if (trio_compare(&t, text))
			break;
		begin = n + 1;
	}
	if (n == nr) {
		trio_end(&t);
		return;
	}
	printf("# %s: batch from %u: %s\n", what, begin, text);
	trio_end(&t);
	trio_begin(&t, which, NULL);
	for (n = 0; n < begin + batch && n < nr; n++) {
		run(&t, what, make, arg, n, &frame);
		if (n >= begin) {
			snprintf(name, sizeof(name), "%s %u", what, n);
			trio_check(&t, name, frame.p, frame.len);
		}
	}
	trio_end(&t);
	fail_msg("%s: %s; not seen again frame by frame", what, text);
}
