// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/encode.h"

#include <errno.h>
#include <string.h>
#include <xsf/sflow.h>

static void fail(struct xsf_enc *e, int error)
{
	if (!e->error)
		e->error = error;
}

/* Room for `len` bytes; NULL when there is none or something failed before. */
static uint8_t *take(struct xsf_enc *e, uint32_t len)
{
	uint8_t *p;

	if (e->error)
		return NULL;
	if (len > e->cap - e->len) {
		fail(e, -ENOSPC);
		return NULL;
	}
	p = e->buf + e->len;
	e->len += len;
	return p;
}

static void store32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

static void put32(struct xsf_enc *e, uint32_t v)
{
	uint8_t *p = take(e, 4);

	if (p)
		store32(p, v);
}

static void put64(struct xsf_enc *e, uint64_t v)
{
	put32(e, (uint32_t)(v >> 32));
	put32(e, (uint32_t)v);
}

/* XDR opaque without its length: padded with zeros to 4 bytes. */
static void put_bytes(struct xsf_enc *e, const void *bytes, uint32_t len)
{
	uint32_t pad = -len & 3;
	uint8_t *p;

	if (len > e->cap) { /* so that adding the padding cannot wrap */
		fail(e, -ENOSPC);
		return;
	}
	p = take(e, len + pad);
	if (!p)
		return;
	memcpy(p, bytes, len);
	memset(p + len, 0, pad);
}

static void put_string(struct xsf_enc *e, const char *s)
{
	uint32_t len = (uint32_t)strnlen(s, e->cap);

	put32(e, len);
	put_bytes(e, s, len);
}

int xsf_enc_begin(struct xsf_enc *e, uint8_t *buf, uint32_t cap, const struct xsf_enc_datagram *d)
{
	memset(e, 0, sizeof(*e));
	e->buf = buf;
	e->cap = cap;
	put32(e, SFLOW_VERSION);
	put32(e, d->addr_type);
	if (d->addr_type == SFLOW_ADDR_IP4)
		put_bytes(e, d->addr, 4);
	else if (d->addr_type == SFLOW_ADDR_IP6)
		put_bytes(e, d->addr, 16);
	else
		fail(e, -EINVAL);
	put32(e, d->sub_agent);
	put32(e, d->sequence);
	put32(e, d->uptime_ms);
	e->samples_at = e->error ? 0 : e->len;
	put32(e, 0);
	return e->error;
}

/* Tag and, filled in at the end, length. */
static void sample_open(struct xsf_enc *e, uint32_t tag)
{
	if (e->sample || !e->samples_at) {
		fail(e, -EINVAL);
		return;
	}
	e->error = 0;
	e->sample = e->len;
	e->records = 0;
	put32(e, tag);
	put32(e, 0);
}

/* The number of records, the last fixed field of every sample. */
static void sample_records(struct xsf_enc *e)
{
	e->records_at = e->len;
	put32(e, 0);
}

static void put_source(struct xsf_enc *e, const struct xsf_enc_source *s, int expanded)
{
	if (expanded) {
		put32(e, s->class);
		put32(e, s->index);
		return;
	}
	if (s->class > 0xff || s->index > 0xffffff)
		fail(e, -ERANGE);
	put32(e, s->class << 24 | (s->index & 0xffffff));
}

static void put_if(struct xsf_enc *e, const struct xsf_enc_if *i, int expanded)
{
	if (expanded) {
		put32(e, i->format);
		put32(e, i->value);
		return;
	}
	if (i->format > 3 || i->value > 0x3fffffff)
		fail(e, -ERANGE);
	put32(e, i->format << 30 | (i->value & 0x3fffffff));
}

void xsf_enc_flow(struct xsf_enc *e, const struct xsf_enc_flow *s)
{
	sample_open(e, s->expanded ? SFLOW_FLOW_EXPANDED : SFLOW_FLOW);
	put32(e, s->sequence);
	put_source(e, &s->source, s->expanded);
	put32(e, s->sampling_rate);
	put32(e, s->sample_pool);
	put32(e, s->drops);
	put_if(e, &s->input, s->expanded);
	put_if(e, &s->output, s->expanded);
	sample_records(e);
}

void xsf_enc_counter(struct xsf_enc *e, const struct xsf_enc_counter *s)
{
	sample_open(e, s->expanded ? SFLOW_COUNTER_EXPANDED : SFLOW_COUNTER);
	put32(e, s->sequence);
	put_source(e, &s->source, s->expanded);
	sample_records(e);
}

void xsf_enc_drop(struct xsf_enc *e, const struct xsf_enc_drop *s)
{
	sample_open(e, SFLOW_DROP);
	put32(e, s->sequence);
	put_source(e, &s->source, 1);
	put32(e, s->drops);
	put32(e, s->input);
	put32(e, s->output);
	put32(e, s->reason);
	sample_records(e);
}

/* Starts a record; returns where its body starts, for record_close(). */
static uint32_t record_open(struct xsf_enc *e, uint32_t tag)
{
	if (!e->sample)
		fail(e, -EINVAL);
	put32(e, tag);
	put32(e, 0);
	return e->len;
}

static void record_close(struct xsf_enc *e, uint32_t body)
{
	if (e->error)
		return;
	store32(e->buf + body - 4, e->len - body);
	e->records++;
}

void xsf_enc_header(struct xsf_enc *e, const struct xsf_enc_header *h)
{
	uint32_t body = record_open(e, SFLOW_REC_HEADER);

	put32(e, h->protocol);
	put32(e, h->frame_length);
	put32(e, h->stripped);
	put32(e, h->len);
	put_bytes(e, h->bytes, h->len);
	record_close(e, body);
}

void xsf_enc_switch(struct xsf_enc *e, const struct xsf_enc_switch *s)
{
	uint32_t body = record_open(e, SFLOW_REC_SWITCH);

	put32(e, s->src_vlan);
	put32(e, s->src_priority);
	put32(e, s->dst_vlan);
	put32(e, s->dst_priority);
	record_close(e, body);
}

static void record_string(struct xsf_enc *e, uint32_t tag, const char *text)
{
	uint32_t body = record_open(e, tag);

	put_string(e, text);
	record_close(e, body);
}

void xsf_enc_function(struct xsf_enc *e, const char *symbol)
{
	record_string(e, SFLOW_REC_FUNCTION, symbol);
}

void xsf_enc_hw_trap(struct xsf_enc *e, const char *group, const char *trap)
{
	uint32_t body = record_open(e, SFLOW_REC_HW_TRAP);

	put_string(e, group);
	put_string(e, trap);
	record_close(e, body);
}

void xsf_enc_linux_reason(struct xsf_enc *e, const char *reason)
{
	record_string(e, SFLOW_REC_LINUX_REASON, reason);
}

static void record_u32(struct xsf_enc *e, uint32_t tag, uint32_t value)
{
	uint32_t body = record_open(e, tag);

	put32(e, value);
	record_close(e, body);
}

void xsf_enc_queue(struct xsf_enc *e, uint32_t queue)
{
	record_u32(e, SFLOW_REC_QUEUE, queue);
}

void xsf_enc_delay(struct xsf_enc *e, uint32_t ns)
{
	record_u32(e, SFLOW_REC_DELAY, ns);
}

void xsf_enc_depth(struct xsf_enc *e, uint32_t bytes)
{
	record_u32(e, SFLOW_REC_DEPTH, bytes);
}

void xsf_enc_timestamp(struct xsf_enc *e, uint64_t ns)
{
	uint32_t body = record_open(e, SFLOW_REC_TIMESTAMP);

	put64(e, ns);
	record_close(e, body);
}

void xsf_enc_if_counters(struct xsf_enc *e, const struct xsf_enc_if_counters *c)
{
	uint32_t body = record_open(e, SFLOW_REC_IF_COUNTERS);

	put32(e, c->index);
	put32(e, c->type);
	put64(e, c->speed);
	put32(e, c->direction);
	put32(e, c->status);
	put64(e, c->in_octets);
	put32(e, c->in_ucast);
	put32(e, c->in_multicast);
	put32(e, c->in_broadcast);
	put32(e, c->in_discards);
	put32(e, c->in_errors);
	put32(e, c->in_unknown);
	put64(e, c->out_octets);
	put32(e, c->out_ucast);
	put32(e, c->out_multicast);
	put32(e, c->out_broadcast);
	put32(e, c->out_discards);
	put32(e, c->out_errors);
	put32(e, c->promiscuous);
	record_close(e, body);
}

void xsf_enc_port_name(struct xsf_enc *e, const char *name)
{
	record_string(e, SFLOW_REC_PORT_NAME, name);
}

void xsf_enc_host(struct xsf_enc *e, const struct xsf_enc_host *h)
{
	uint32_t body = record_open(e, SFLOW_REC_HOST_DESCR);

	put_string(e, h->name);
	put_bytes(e, h->uuid, sizeof(h->uuid));
	put32(e, h->machine);
	put32(e, h->os);
	put_string(e, h->release);
	record_close(e, body);
}

int xsf_enc_end(struct xsf_enc *e)
{
	int error = e->error;

	e->error = 0;
	if (!e->sample)
		return error ? error : -EINVAL;
	if (error) {
		e->len = e->sample;
		e->sample = 0;
		return error;
	}
	store32(e->buf + e->sample + 4, e->len - e->sample - SFLOW_TAG_LEN);
	store32(e->buf + e->records_at, e->records);
	store32(e->buf + e->samples_at, ++e->samples);
	e->sample = 0;
	return 0;
}
