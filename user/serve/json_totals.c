// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <xsf/net.h>
#include "serve/json_parts.h"

static uint32_t nr_rows(const struct xsf_snapshot *s)
{
	return s->nr_groups * XSF_DIRECTIONS;
}

static void list(struct xsf_json *j, const char *key, enum xsf_total_list which, int nonzero)
{
	const struct xsf_total *total;

	xsf_json_open_at(&j->w, key, '{');
	for (uint32_t i = 0; (total = xsf_total_at(which, i)); i++) {
		uint64_t value = xsf_total_value(j->s, total);

		if (value || !nonzero)
			xsf_json_u64(&j->w, total->name, value);
	}
	xsf_json_shut(&j->w, '}');
}

static void count(struct xsf_writer *w, const struct xsf_count *c)
{
	xsf_json_u64(w, "samples", c->samples);
	xsf_json_u64(w, "packets", c->packets);
}

void xsf_json_totals(struct xsf_json *j, uint32_t i)
{
	const struct xsf_totals *t = &j->s->totals;
	struct xsf_writer *w = &j->w;

	(void)i;
	xsf_json_u64(w, "datagrams", t->datagrams);
	xsf_json_u64(w, "flow_samples", t->sample_flow + t->sample_flow_expanded);
	xsf_json_u64(w, "counter_samples", t->sample_counter + t->sample_counter_expanded);
	xsf_json_u64(w, "drop_samples", t->sample_drop);
	xsf_json_u64(w, "malformed", xsf_total_sum(j->s, XSF_LIST_FAULTS));
	list(j, "malformed_by_kind", XSF_LIST_FAULTS, 1);
	xsf_json_u64(w, "fragments", t->fragments);
	xsf_json_u64(w, "fragments_first", t->fragments_first);
	xsf_json_u64(w, "capture_cut", t->capture_cut);
	xsf_json_u64(w, "bytes", t->bytes);
	xsf_json_u64(w, "sampled_packets", t->sampled_packets);
	xsf_json_u64(w, "sampled_bytes", t->sampled_bytes);
	list(j, "frames_by_outcome", XSF_LIST_FRAMES, 0);
	list(j, "datagrams_by_outcome", XSF_LIST_DATAGRAMS, 0);
	list(j, "samples_by_type", XSF_LIST_SAMPLES, 0);
	list(j, "sampled_headers_by_outcome", XSF_LIST_HEADERS, 0);
	list(j, "events", XSF_LIST_EVENTS, 0);
}

/* Sum of one opcode over groups, directions and these carriers. */
static void opcode(struct xsf_json *j, uint32_t op, int v1)
{
	struct xsf_op sum = { 0 };

	for (uint32_t row = 0; row < nr_rows(j->s) * XSF_CARRIERS; row++) {
		const struct xsf_op *o = &j->s->ops[row].opcode[op];

		if (v1 != (row % XSF_CARRIERS == XSF_ROCE_V1))
			continue;
		sum.samples += o->samples;
		sum.packets += o->packets;
		sum.bytes += o->bytes;
	}
	if (!sum.samples)
		return;
	xsf_json_key_u64(&j->w, op);
	xsf_json_open_at(&j->w, NULL, '{');
	xsf_json_u64(&j->w, "samples", sum.samples);
	xsf_json_u64(&j->w, "packets", sum.packets);
	xsf_json_u64(&j->w, "bytes", sum.bytes);
	xsf_json_shut(&j->w, '}');
}

void xsf_json_opcode_v2(struct xsf_json *j, uint32_t i)
{
	opcode(j, i, 0);
}

void xsf_json_opcode_v1(struct xsf_json *j, uint32_t i)
{
	opcode(j, i, 1);
}

static void reason(struct xsf_json *j, uint32_t i, int sampled)
{
	const char *name;
	char buf[16];
	uint64_t n = xsf_snapshot_reason(j->s, sampled, i, &name, buf);

	if (n)
		xsf_json_u64(&j->w, name, n);
}

void xsf_json_reason_notified(struct xsf_json *j, uint32_t i)
{
	reason(j, i, 0);
}

void xsf_json_reason_sampled(struct xsf_json *j, uint32_t i)
{
	reason(j, i, 1);
}

static void ecn(struct xsf_json *j, int roce)
{
	for (uint32_t bits = 0; bits < 4; bits++) {
		struct xsf_count sum = { 0 };

		for (uint32_t row = 0; row < nr_rows(j->s); row++) {
			const struct xsf_tos_row *tos = &j->s->tos[row];
			struct xsf_count c = xsf_tos_ecn(roce ? tos->roce : tos->all, bits);

			sum.samples += c.samples;
			sum.packets += c.packets;
		}
		xsf_json_key_u64(&j->w, bits);
		xsf_json_open_at(&j->w, NULL, '{');
		count(&j->w, &sum);
		xsf_json_shut(&j->w, '}');
	}
}

void xsf_json_ecn_roce(struct xsf_json *j, uint32_t i)
{
	(void)i;
	ecn(j, 1);
}

void xsf_json_ecn_all(struct xsf_json *j, uint32_t i)
{
	(void)i;
	ecn(j, 0);
}

void xsf_json_trimmed(struct xsf_json *j, uint32_t i)
{
	struct xsf_count sum = { 0 };

	(void)i;
	for (uint32_t row = 0; row < nr_rows(j->s); row++) {
		struct xsf_count c = xsf_tos_dscp(j->s->tos[row].all, NET_DSCP_TRIMMED);

		sum.samples += c.samples;
		sum.packets += c.packets;
	}
	count(&j->w, &sum);
}

/* Entry i of an array at `offset` of struct xsf_rdma_row, summed over groups and directions. */
static struct xsf_count rdma_sum(const struct xsf_snapshot *s, size_t offset, uint32_t i)
{
	struct xsf_count sum = { 0 };

	for (uint32_t row = 0; row < nr_rows(s); row++) {
		const struct xsf_count *c =
			(const struct xsf_count *)((const char *)&s->rdma[row] + offset) + i;

		sum.samples += c->samples;
		sum.packets += c->packets;
	}
	return sum;
}

/* Those above 0 of such an array, by number. */
static void codes(struct xsf_json *j, const char *key, size_t offset)
{
	xsf_json_open_at(&j->w, key, '{');
	for (uint32_t i = 0; i < 32; i++) {
		struct xsf_count c = rdma_sum(j->s, offset, i);

		if (!c.samples)
			continue;
		xsf_json_key_u64(&j->w, i);
		xsf_json_open_at(&j->w, NULL, '{');
		count(&j->w, &c);
		xsf_json_shut(&j->w, '}');
	}
	xsf_json_shut(&j->w, '}');
}

void xsf_json_rdma_lengths(struct xsf_json *j, uint32_t unused)
{
	struct xsf_count sum = { 0 };
	uint64_t length = 0, scaled = 0;

	(void)unused;
	for (uint32_t row = 0; row < nr_rows(j->s); row++) {
		length += j->s->rdma[row].length_sum;
		scaled += j->s->rdma[row].length_sum_scaled;
	}
	xsf_json_open_at(&j->w, "buckets", '{');
	for (uint32_t i = 0; i < XSF_RDMA_BUCKETS; i++) {
		struct xsf_count c = rdma_sum(j->s, offsetof(struct xsf_rdma_row, length), i);

		if (!c.samples)
			continue;
		sum.samples += c.samples;
		sum.packets += c.packets;
		xsf_json_key_u64(&j->w, 1ull << i);
		xsf_json_open_at(&j->w, NULL, '{');
		count(&j->w, &c);
		xsf_json_shut(&j->w, '}');
	}
	xsf_json_shut(&j->w, '}');
	count(&j->w, &sum);
	xsf_json_u64(&j->w, "sum", length);
	xsf_json_u64(&j->w, "sum_scaled", scaled);
}

void xsf_json_aeth(struct xsf_json *j, uint32_t i)
{
	(void)i;
	codes(j, "ack", offsetof(struct xsf_rdma_row, ack));
	codes(j, "rnr", offsetof(struct xsf_rdma_row, rnr));
	codes(j, "nak", offsetof(struct xsf_rdma_row, nak));
	codes(j, "reserved", offsetof(struct xsf_rdma_row, reserved_syndrome));
}

void xsf_json_cnp(struct xsf_json *j, uint32_t unused)
{
	static const char *const names[] = { "se0_m0", "se0_m1", "se1_m0", "se1_m1" };
	struct xsf_count sum = { 0 };

	(void)unused;
	xsf_json_open_at(&j->w, "by_se_m", '{');
	for (uint32_t i = 0; i < 4; i++) {
		struct xsf_count c = rdma_sum(j->s, offsetof(struct xsf_rdma_row, cnp), i);

		if (!c.samples)
			continue;
		sum.samples += c.samples;
		sum.packets += c.packets;
		xsf_json_open_at(&j->w, names[i], '{');
		count(&j->w, &c);
		xsf_json_shut(&j->w, '}');
	}
	xsf_json_shut(&j->w, '}');
	count(&j->w, &sum);
}
