// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/pcapng.h"

#include <stdlib.h>
#include <xsf/sflow.h>
#include "model/random.h"
#include "serve/event_text.h"

#define BLOCK_SECTION 0x0a0d0d0a
#define BLOCK_INTERFACE 1
#define BLOCK_PACKET 6
#define BYTE_ORDER_MAGIC 0x1a2b3c4d

#define OPT_END 0
#define OPT_COMMENT 1
#define OPT_APPLICATION 4 /* of a section */
#define OPT_DROPCOUNT 4	  /* of a packet: those before it that were left out */
#define OPT_IF_NAME 2	  /* of an interface */
#define OPT_IF_TSRESOL 9
#define NANOSECONDS 9

/* www.tcpdump.org/linktypes.html */
#define LINK_ETHERNET 1
#define LINK_RAW 101   /* IPv4 or IPv6 */
#define LINK_USER0 147 /* a header_protocol that is not decoded here */

enum link { ETHERNET, RAW, USER, LINKS };
static const uint16_t link_types[LINKS] = { LINK_ETHERNET, LINK_RAW, LINK_USER0 };

#define NONE UINT32_MAX

/* What an interface is told apart by. A switch or port that gets another name is a new one: blocks that are
 * written keep theirs. */
struct key {
	struct xsf_agent_key agent;
	uint32_t ifindex;
	uint32_t link;
	uint32_t reserved;
	uint64_t names; /* hash */
};
_Static_assert(sizeof(struct key) == 40, "no padding: compared as bytes");

struct interface {
	struct key key;
	uint32_t number; /* in the file */
};

struct xsf_pcapng {
	uint64_t seed;
	uint64_t other;
	uint32_t nr_blocks; /* interfaces written, those called "other" included */
	uint32_t nr;
	uint32_t max;
	uint32_t mask;
	uint32_t others[LINKS]; /* numbers, or NONE */
	uint32_t *hash;		/* indexes of interfaces, or NONE; at most half full */
	struct interface *interfaces;
};

struct xsf_pcapng *xsf_pcapng_new(uint32_t max, uint64_t seed)
{
	struct xsf_pcapng *p = calloc(1, sizeof(*p));
	uint32_t size = 16;

	if (!p)
		return NULL;
	p->seed = seed;
	p->max = max && max < XSF_PCAPNG_INTERFACES ? max : XSF_PCAPNG_INTERFACES;
	while (size < 2 * p->max)
		size *= 2;
	p->mask = size - 1;
	p->hash = malloc(size * sizeof(*p->hash));
	p->interfaces = calloc(p->max, sizeof(*p->interfaces));
	if (!p->hash || !p->interfaces) {
		xsf_pcapng_free(p);
		return NULL;
	}
	memset(p->hash, 0xff, size * sizeof(*p->hash));
	memset(p->others, 0xff, sizeof(p->others));
	return p;
}

void xsf_pcapng_free(struct xsf_pcapng *p)
{
	if (!p)
		return;
	free(p->hash);
	free(p->interfaces);
	free(p);
}

uint64_t xsf_pcapng_other(const struct xsf_pcapng *p)
{
	return p->other;
}

/* ---- blocks: all numbers in this machine's order, which the section tells ---- */

static void u16(struct xsf_text *t, uint16_t v)
{
	xsf_text_add(t, (const char *)&v, sizeof(v));
}

static void u32(struct xsf_text *t, uint32_t v)
{
	xsf_text_add(t, (const char *)&v, sizeof(v));
}

static void pad(struct xsf_text *t, size_t n)
{
	static const char zeros[4];

	xsf_text_add(t, zeros, -n & 3);
}

/* The length of a block stands at both its ends; it is known when the block is. */
static size_t block(struct xsf_text *t, uint32_t type)
{
	size_t at = t->len;

	u32(t, type);
	u32(t, 0);
	return at;
}

static void end_block(struct xsf_text *t, size_t at)
{
	uint32_t len = (uint32_t)(t->len - at) + 4;

	u32(t, len);
	if (!t->full)
		memcpy(t->buf + at + 4, &len, sizeof(len));
}

static void option(struct xsf_text *t, uint16_t code, const char *value, size_t n)
{
	u16(t, code);
	u16(t, (uint16_t)n);
	xsf_text_add(t, value, n);
	pad(t, n);
}

static void end_options(struct xsf_text *t)
{
	u16(t, OPT_END);
	u16(t, 0);
}

void xsf_pcapng_begin(struct xsf_text *t, const char *application)
{
	size_t at = block(t, BLOCK_SECTION);

	u32(t, BYTE_ORDER_MAGIC);
	u16(t, 1);
	u16(t, 0);
	u32(t, 0xffffffff); /* length of the section: not told */
	u32(t, 0xffffffff);
	option(t, OPT_APPLICATION, application, strlen(application));
	end_options(t);
	end_block(t, at);
}

/* Returns its number. */
static uint32_t write_interface(struct xsf_pcapng *p, struct xsf_text *t, enum link link,
				const char *name, size_t len)
{
	static const char resolution[1] = { NANOSECONDS };
	size_t at = block(t, BLOCK_INTERFACE);

	u16(t, link_types[link]);
	u16(t, 0);
	u32(t, 0); /* snap length: each agent has its own */
	option(t, OPT_IF_NAME, name, len);
	option(t, OPT_IF_TSRESOL, resolution, sizeof(resolution));
	end_options(t);
	end_block(t, at);
	return p->nr_blocks++;
}

/* ---- interfaces ---- */

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
	const uint8_t *at = p;

	for (size_t i = 0; i < n; i++)
		h = xsf_random_mix(h ^ at[i]);
	return h;
}

static enum link link_of(const struct xsf_event *e)
{
	if (!(e->flags & XSF_EVENT_HAS_HEADER) || e->protocol == SFLOW_PROTO_ETHERNET)
		return ETHERNET;
	return e->protocol == SFLOW_PROTO_IP4 || e->protocol == SFLOW_PROTO_IP6 ? RAW : USER;
}

static uint32_t other(struct xsf_pcapng *p, struct xsf_text *t, enum link link)
{
	p->other++;
	if (p->others[link] == NONE)
		p->others[link] = write_interface(p, t, link, "other", 5);
	return p->others[link];
}

/* The number of the event's interface; writes it when it is new. */
static uint32_t interface(struct xsf_pcapng *p, struct xsf_text *t, const struct xsf_event_view *v)
{
	struct key key = { .agent = v->event->agent,
			   .ifindex = v->ifindex,
			   .link = link_of(v->event) };
	char buf[4 * XSF_VIEW_NAME + 8];
	struct xsf_text name = { .buf = buf, .max = sizeof(buf) };
	uint32_t i;

	key.names = mix(mix(p->seed, v->switch_, strlen(v->switch_) + 1), v->port, strlen(v->port));
	for (i = (uint32_t)mix(p->seed, &key, sizeof(key)) & p->mask; p->hash[i] != NONE;
	     i = (i + 1) & p->mask) {
		if (!memcmp(&p->interfaces[p->hash[i]].key, &key, sizeof(key)))
			return p->interfaces[p->hash[i]].number;
	}
	if (p->nr == p->max)
		return other(p, t, key.link);
	xsf_event_text_place(&name, v);
	p->hash[i] = p->nr;
	p->interfaces[p->nr].key = key;
	p->interfaces[p->nr].number = write_interface(p, t, key.link, buf, name.len);
	return p->interfaces[p->nr++].number;
}

/* ---- packets ---- */

/* "acl (258) at leaf1 swp1 function=... queue=3" */
static size_t comment(const struct xsf_event_view *v, char *buf, size_t max)
{
	struct xsf_text t = { .buf = buf, .max = max };

	xsf_text_str(&t, v->reason);
	if (v->reason != v->reason_number) {
		XSF_TEXT_LIT(&t, " (");
		xsf_text_u64(&t, v->event->reason);
		xsf_text_char(&t, ')');
	}
	XSF_TEXT_LIT(&t, " at ");
	xsf_event_text_place(&t, v);
	xsf_event_text_details(&t, v);
	if (link_of(v->event) == USER) {
		XSF_TEXT_LIT(&t, " header_protocol=");
		xsf_text_u64(&t, v->event->protocol);
	}
	return t.len;
}

void xsf_pcapng_event(struct xsf_pcapng *p, struct xsf_text *t, const struct xsf_event_view *v)
{
	const struct xsf_event *e = v->event;
	uint32_t number = interface(p, t, v), kept = XSF_MIN(e->header_kept, XSF_EVENT_HEADER);
	uint64_t ns = xsf_event_drop_time(v), shed = e->shed;
	char said[XSF_EVENT_LINE];
	size_t at = block(t, BLOCK_PACKET);

	if (!(e->flags & XSF_EVENT_HAS_HEADER))
		kept = 0;
	u32(t, number);
	u32(t, (uint32_t)(ns >> 32));
	u32(t, (uint32_t)ns);
	u32(t, kept);
	u32(t, v->length);
	xsf_text_add(t, (const char *)e->header, kept);
	pad(t, kept);
	option(t, OPT_COMMENT, said, comment(v, said, sizeof(said)));
	if (shed)
		option(t, OPT_DROPCOUNT, (const char *)&shed, sizeof(shed));
	end_options(t);
	end_block(t, at);
}
