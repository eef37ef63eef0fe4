// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A reader of events, for tests: event_reader [OPTION]...
 *
 *	--drops BYTES, --samples BYTES	its rings; 0 (as without): none
 *	--read FILE	reads nothing before there is such a file
 *	--stop FILE	reads what is there and ends when there is such a file
 *	--quiet		no line an event
 *
 * Says "ready" when it listens. A line an event: kind agent sub_agent class index sequence drops input output
 * reason flags shed function trap_group trap linux queue depth delay header, separated by tabs, bytes other
 * than letters, digits and _ as %xx, "-" for what is absent. At the end: counts, got and stood for, current.
 * Exit 1 when a ring cannot be opened, with why on stderr. */
#include <arpa/inet.h>
#include <ctype.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kernel/events.h"

#define WAIT_MS 50
#define ROUND 1024

struct totals {
	unsigned long long got[2], stood_for[2];
	int quiet;
};

static void text(const uint8_t *p, uint32_t len, int cut)
{
	printf("\t");
	for (uint32_t i = 0; i < len; i++)
		printf(isalnum(p[i]) || p[i] == '_' ? "%c" : "%%%02x", p[i]);
	printf("%s", cut ? "..." : len ? "" : "-");
}

static void number(uint32_t flags, uint32_t has, uint32_t value)
{
	if (flags & has)
		printf("\t%u", value);
	else
		printf("\t-");
}

static void line(const struct xsf_event *e)
{
	char address[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, e->agent.addr, address, sizeof(address));
	printf("%s\t%s\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u",
	       e->flags & XSF_EVENT_FLOW ? "flow" : "drop",
	       strncmp(address, "::ffff:", 7) ? address : address + 7, e->agent.sub_agent, e->class,
	       e->index, e->sequence, e->drops, e->input, e->output, e->reason, e->flags, e->shed);
	if (e->flags & XSF_EVENT_FLOW) {
		printf("\t-\t-\t-\t-");
	} else {
		text(e->function, e->function_len, !!(e->flags & XSF_EVENT_FUNCTION_CUT));
		text(e->trap_group, e->trap_group_len, !!(e->flags & XSF_EVENT_TRAP_GROUP_CUT));
		text(e->trap, e->trap_len, !!(e->flags & XSF_EVENT_TRAP_CUT));
		text(e->linux_reason, e->linux_len, !!(e->flags & XSF_EVENT_LINUX_CUT));
	}
	number(e->flags, XSF_EVENT_HAS_QUEUE, e->queue);
	number(e->flags, XSF_EVENT_HAS_DEPTH, e->depth);
	number(e->flags, XSF_EVENT_HAS_DELAY, e->delay_ns);
	printf("\t");
	for (uint32_t i = 0; i < e->header_kept; i++)
		printf("%02x", e->header[i]);
	printf("%s\n", e->header_kept ? "" : "-");
}

static int each(void *arg, const struct xsf_event *e)
{
	struct totals *t = arg;
	int flow = !!(e->flags & XSF_EVENT_FLOW);

	t->got[flow]++;
	t->stood_for[flow] += 1 + e->shed;
	if (!t->quiet)
		line(e);
	return 0;
}

static int there(const char *path)
{
	return !access(path, F_OK);
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "drops", 1, NULL, 'd' }, { "samples", 1, NULL, 's' }, { "read", 1, NULL, 'r' },
		{ "stop", 1, NULL, 'e' },  { "quiet", 0, NULL, 'q' },	{},
	};
	struct xsf_events_options o = { 0 };
	const char *begin = NULL, *stop = NULL;
	struct xsf_event_counts counts;
	struct totals t = { 0 };
	struct xsf_events *events;
	char why[768];
	int c, last = 0;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 'd')
			o.drops_ring = (uint32_t)strtoul(optarg, NULL, 0);
		else if (c == 's')
			o.samples_ring = (uint32_t)strtoul(optarg, NULL, 0);
		else if (c == 'r')
			begin = optarg;
		else if (c == 'e')
			stop = optarg;
		else if (c == 'q')
			t.quiet = 1;
		else
			return 2;
	}
	if (xsf_events_open(&o, &events, why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	xsf_events_want_drops(events, 1);
	xsf_events_want_samples(events, 1);
	printf("ready\n");
	fflush(stdout);
	while (!last) {
		struct pollfd p = { .fd = xsf_events_fd(events), .events = POLLIN };
		int nr;

		if (begin && !there(begin)) {
			usleep(WAIT_MS * 1000);
			continue;
		}
		last = stop && there(stop);
		poll(&p, 1, last ? 0 : WAIT_MS);
		do {
			nr = xsf_events_read(events, ROUND, each, &t);
		} while (nr > 0);
		fflush(stdout);
		if (nr < 0) {
			fprintf(stderr, "read: %s\n", strerror(-nr));
			return 1;
		}
	}
	if (xsf_events_counts(events, &counts))
		return 1;
	printf("drops sent %llu shed %llu got %llu for %llu\n", counts.drops_sent,
	       counts.drops_shed, t.got[0], t.stood_for[0]);
	printf("samples sent %llu shed %llu got %llu for %llu\n", counts.samples_sent,
	       counts.samples_shed, t.got[1], t.stood_for[1]);
	printf("current %d\n", xsf_events_current(events));
	xsf_events_close(events);
	return 0;
}
