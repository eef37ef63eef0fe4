// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/event_filter.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xsf/base.h>
#include <xsf/drop_reasons.h>
#include <xsf/sflow.h>
#include "model/prefix.h"

#define SNAPLEN 65535

/* One of a list. */
struct item {
	const char *name; /* into the filter's copy of the list */
	uint32_t number;  /* reason or ifIndex */
	int is_number;
	int is_address;
	uint8_t addr[16];
};

struct list {
	char *text; /* NULL: all */
	struct item item[XSF_FILTER_ITEMS];
	uint32_t nr;
};

struct code {
	struct bpf_program program;
	int compiled;
};

struct xsf_event_filter {
	struct list reasons, agents, interfaces;
	int expression;
	struct code ethernet, ip;
};

static const struct {
	const char *name;
	uint32_t code;
} reasons[] = {
#define REASON(code, name, category) { #name, code },
	XSF_DROP_REASONS(REASON)
};

/* 1 and *number when the whole text is a number of 32 bits. */
static int number(const char *text, uint32_t *to)
{
	unsigned long long v;
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || *end || v > UINT32_MAX)
		return 0;
	*to = (uint32_t)v;
	return 1;
}

/* Agents send two reasons by numbers that the published header misspells: one reason all the same. */
static uint32_t canonical(uint32_t reason)
{
	return reason == 33 ? 332 : reason == 36 ? 366 : reason;
}

/* 0, or -EINVAL with a reason. */
static int split(struct list *l, const char *text, const char *what, char *why, size_t len)
{
	if (!text)
		return 0;
	if (strlen(text) > XSF_FILTER_TEXT) {
		snprintf(why, len, "%s: longer than %d bytes", what, XSF_FILTER_TEXT);
		return -EINVAL;
	}
	l->text = strdup(text);
	if (!l->text)
		return -ENOMEM;
	for (char *at = l->text, *end; at; at = end) {
		end = strchr(at, ',');
		if (end)
			*end++ = 0;
		if (!*at) {
			snprintf(why, len, "%s: an empty item", what);
			return -EINVAL;
		}
		if (l->nr == XSF_FILTER_ITEMS) {
			snprintf(why, len, "%s: more than %d items", what, XSF_FILTER_ITEMS);
			return -EINVAL;
		}
		l->item[l->nr++] = (struct item){ .name = at };
	}
	return 0;
}

/* With those that it is a part of, or that are a part of it; a few at most. */
static void no_reason(const char *name, char *why, size_t len)
{
	char like[160] = "";
	size_t n = 0;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]) && n < sizeof(like) / 2; i++) {
		if (strstr(reasons[i].name, name) || strstr(name, reasons[i].name))
			n += (size_t)snprintf(like + n, sizeof(like) - n, "%s%s", n ? ", " : "",
					      reasons[i].name);
	}
	if (n)
		snprintf(why, len, "--reason: no reason is called '%.64s'; like it: %s", name,
			 like);
	else
		snprintf(why, len,
			 "--reason: no reason is called '%.64s'; they look like acl, ttl_exceeded, "
			 "no_buffer_space, port_unreachable; or give a code",
			 name);
}

static int find_reasons(struct list *l, char *why, size_t len)
{
	for (uint32_t i = 0; i < l->nr; i++) {
		struct item *item = &l->item[i];
		size_t n = 0;

		if (number(item->name, &item->number)) {
			item->number = canonical(item->number);
			continue;
		}
		while (n < sizeof(reasons) / sizeof(reasons[0]) &&
		       strcmp(reasons[n].name, item->name) != 0)
			n++;
		if (n == sizeof(reasons) / sizeof(reasons[0])) {
			no_reason(item->name, why, len);
			return -EINVAL;
		}
		item->number = canonical(reasons[n].code);
	}
	return 0;
}

static void find_addresses(struct list *l)
{
	for (uint32_t i = 0; i < l->nr; i++) {
		struct item *item = &l->item[i];

		item->is_address = !xsf_address_parse(item->name, strlen(item->name), item->addr);
	}
}

static void find_numbers(struct list *l)
{
	for (uint32_t i = 0; i < l->nr; i++)
		l->item[i].is_number = number(l->item[i].name, &l->item[i].number);
}

/* 0, or -EINVAL with libpcap's reason. */
static int compile(struct code *code, int link, const char *expression, char *why, size_t len)
{
	pcap_t *pcap = pcap_open_dead(link, SNAPLEN);
	int err = 0;

	if (!pcap)
		return -ENOMEM;
	if (pcap_compile(pcap, &code->program, expression, 1, PCAP_NETMASK_UNKNOWN)) {
		snprintf(why, len, "filter: %s", pcap_geterr(pcap));
		err = -EINVAL;
	}
	code->compiled = !err;
	pcap_close(pcap);
	return err;
}

static int compile_both(struct xsf_event_filter *f, const char *expression, char *why, size_t len)
{
	char other[PCAP_ERRBUF_SIZE + 16];
	int err;

	if (!expression)
		return 0;
	f->expression = 1;
	if (strlen(expression) > XSF_FILTER_TEXT) {
		snprintf(why, len, "filter: longer than %d bytes", XSF_FILTER_TEXT);
		return -EINVAL;
	}
	err = compile(&f->ethernet, DLT_EN10MB, expression, why, len);
	if (err)
		return err;
	/* "ether host" and the like have no meaning there: then no such packet matches. */
	err = compile(&f->ip, DLT_RAW, expression, other, sizeof(other));
	return err == -ENOMEM ? err : 0;
}

int xsf_event_filter_new(const struct xsf_event_filter_options *o, struct xsf_event_filter **filter,
			 char *why, size_t len)
{
	struct xsf_event_filter *f = calloc(1, sizeof(*f));
	int err = f ? 0 : -ENOMEM;

	snprintf(why, len, "filter: no memory");
	if (!err)
		err = split(&f->reasons, o->reasons, "--reason", why, len);
	if (!err)
		err = split(&f->agents, o->agents, "--agent", why, len);
	if (!err)
		err = split(&f->interfaces, o->interfaces, "--interface", why, len);
	if (!err)
		err = find_reasons(&f->reasons, why, len);
	if (!err)
		err = compile_both(f, o->expression, why, len);
	if (err) {
		xsf_event_filter_free(f);
		return err;
	}
	find_addresses(&f->agents);
	find_numbers(&f->interfaces);
	*filter = f;
	return 0;
}

void xsf_event_filter_free(struct xsf_event_filter *f)
{
	if (!f)
		return;
	free(f->reasons.text);
	free(f->agents.text);
	free(f->interfaces.text);
	if (f->ethernet.compiled)
		pcap_freecode(&f->ethernet.program);
	if (f->ip.compiled)
		pcap_freecode(&f->ip.program);
	free(f);
}

static int match_reason(const struct list *l, const struct xsf_event_view *v)
{
	uint32_t reason = canonical(v->event->reason);

	for (uint32_t i = 0; i < l->nr; i++) {
		if (l->item[i].number == reason)
			return 1;
	}
	return 0;
}

static int match_agent(const struct list *l, const struct xsf_event_view *v)
{
	for (uint32_t i = 0; i < l->nr; i++) {
		const struct item *item = &l->item[i];

		if (item->is_address ? !memcmp(item->addr, v->event->agent.addr, 16) :
				       !strcmp(item->name, v->switch_))
			return 1;
	}
	return 0;
}

static int is_port(const struct item *item, uint32_t ifindex, const char *name)
{
	return ifindex &&
	       ((item->is_number && item->number == ifindex) || !strcmp(item->name, name));
}

static int match_interface(const struct list *l, const struct xsf_event_view *v)
{
	for (uint32_t i = 0; i < l->nr; i++) {
		if (is_port(&l->item[i], v->ifindex, v->port) ||
		    is_port(&l->item[i], v->event->output, v->output))
			return 1;
	}
	return 0;
}

static int match_packet(const struct xsf_event_filter *f, const struct xsf_event_view *v)
{
	const struct xsf_event *e = v->event;
	struct pcap_pkthdr header = { .caplen = e->header_kept, .len = v->length };
	const struct code *code = e->protocol == SFLOW_PROTO_ETHERNET ? &f->ethernet :
				  e->protocol == SFLOW_PROTO_IP4 || e->protocol == SFLOW_PROTO_IP6 ?
									&f->ip :
									NULL;

	if (!(e->flags & XSF_EVENT_HAS_HEADER) || !code || !code->compiled)
		return 0;
	return pcap_offline_filter(&code->program, &header, e->header) != 0;
}

int xsf_event_filter_match(const struct xsf_event_filter *f, const struct xsf_event_view *v)
{
	return (!f->reasons.text || match_reason(&f->reasons, v)) &&
	       (!f->agents.text || match_agent(&f->agents, v)) &&
	       (!f->interfaces.text || match_interface(&f->interfaces, v)) &&
	       (!f->expression || match_packet(f, v));
}
