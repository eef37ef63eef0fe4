// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Families of what was seen inside sampled packets, by group (fabric and role) and direction. Rows are per
 * CPU in the kernel and summed in the snapshot; nothing here changes while it is read. */
#include "model/binding.h"
#include "serve/families.h"

enum { SAMPLES, PACKETS, BYTES };

static uint64_t pick(const struct xsf_count *count, uint32_t what)
{
	return what == SAMPLES ? count->samples : count->packets;
}

/* {fabric="default" */
static void fabric_label(const struct xsf_metrics *m, struct xsf_text *t, uint32_t fabric)
{
	/* A fabric that nobody here knows was counted before this process began. */
	if (m->s->bindings && fabric < xsf_bindings_nr_fabrics(m->s->bindings))
		xsf_label(t, "{fabric=", xsf_bindings_name(m->s->bindings, fabric));
	else
		xsf_label_u64(t, "{fabric=", fabric);
}

/* name{fabric="default",role="edge",direction="ingress" */
static void row_begin(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t row,
		      struct xsf_text *t, const char *suffix)
{
	uint32_t group = row / XSF_DIRECTIONS;

	xsf_text_add(t, f->name, f->name_len);
	xsf_text_str(t, suffix);
	if (group) {
		fabric_label(m, t, (group - 1) / 2);
		xsf_label(t, ",role=", group & 1 ? "edge" : "core");
	} else {
		XSF_TEXT_LIT(t, "{fabric=\"none\",role=\"none\"");
	}
	xsf_label(t, ",direction=", xsf_direction_names[row % XSF_DIRECTIONS]);
}

static uint64_t op_value(const struct xsf_op *op, uint32_t what)
{
	return what == SAMPLES ? op->samples : what == PACKETS ? op->packets : op->bytes;
}

/* One opcode, or all reserved ones together: which of those a sender makes up is not worth a series. */
static void operation(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		      struct xsf_text *t)
{
	uint32_t opcode = i % XSF_NR_OPS, row = i / XSF_NR_OPS, carrier = row % XSF_CARRIERS;
	const struct xsf_op *ops = m->s->ops[row].opcode;
	const char *transport, *ibta, *op;
	uint64_t value = 0;

	if (opcode < 256) {
		if (!ops[opcode].samples ||
		    !xsf_opcode_names((uint8_t)opcode, &transport, &ibta, &op))
			return;
		value = op_value(&ops[opcode], f->arg);
	} else {
		uint64_t samples = 0;

		for (uint32_t n = 0; n < 256; n++) {
			if (xsf_opcode_names((uint8_t)n, &transport, &ibta, &op))
				continue;
			samples += ops[n].samples;
			value += op_value(&ops[n], f->arg);
		}
		if (!samples)
			return;
		transport = ibta = op = "reserved";
	}
	row_begin(m, f, row / XSF_CARRIERS, t, "");
	xsf_label(t, ",version=", carrier == XSF_ROCE_V1 ? "1" : "2");
	xsf_label(t, ",carrier=", xsf_carrier_names[carrier]);
	xsf_label(t, ",transport=", transport);
	xsf_label(t, ",operation=", op);
	xsf_label(t, ",opname=", ibta);
	if (opcode < 256)
		xsf_label_u64(t, ",opcode=", opcode);
	else
		xsf_label(t, ",opcode=", op);
	xsf_line_end(t, value);
}

static const struct xsf_count *tos_of(const struct xsf_metrics *m, uint32_t row, int roce)
{
	return roce ? m->s->tos[row].roce : m->s->tos[row].all;
}

/* arg: SAMPLES or PACKETS; offset: 1 = of the header that carries RoCE. */
static void ecn(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t row,
		struct xsf_text *t)
{
	const struct xsf_count *tos = tos_of(m, row, f->offset);

	if (!xsf_tos_samples(tos))
		return;
	for (uint32_t bits = 0; bits < 4; bits++) {
		struct xsf_count count = xsf_tos_ecn(tos, bits);

		row_begin(m, f, row, t, "");
		xsf_label(t, ",ecn=", xsf_ecn_names[bits]);
		xsf_line_end(t, pick(&count, f->arg));
	}
}

/* A line for each of the chosen DSCPs, at 0 too, where there is IP at all. */
static void trimmed(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t row,
		    struct xsf_text *t)
{
	const struct xsf_count *tos = tos_of(m, row, 0);

	if (!xsf_tos_samples(tos))
		return;
	for (uint32_t dscp = 0; dscp < 64; dscp++) {
		struct xsf_count count;

		if (!(m->o.trimmed_dscps >> dscp & 1))
			continue;
		count = xsf_tos_dscp(tos, dscp);
		row_begin(m, f, row, t, "");
		xsf_label_u64(t, ",dscp=", dscp);
		xsf_line_end(t, pick(&count, f->arg));
	}
}

static void cnp(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t row,
		struct xsf_text *t)
{
	for (uint32_t i = 0; i < 4; i++) {
		const struct xsf_count *count = &m->s->rdma[row].cnp[i];

		if (!count->samples)
			continue;
		row_begin(m, f, row, t, "");
		xsf_label_u64(t, ",se=", i >> 1);
		xsf_label_u64(t, ",m=", i & 1);
		xsf_line_end(t, pick(count, f->arg));
	}
}

static void bucket(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t row,
		   struct xsf_text *t, uint64_t le, uint64_t value)
{
	row_begin(m, f, row, t, "_bucket");
	xsf_label_u64(t, ",le=", le);
	xsf_line_end(t, value);
}

static void buckets_end(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t row,
			struct xsf_text *t, uint64_t sum, uint64_t count)
{
	row_begin(m, f, row, t, "_bucket");
	xsf_label(t, ",le=", "+Inf");
	xsf_line_end(t, count);
	row_begin(m, f, row, t, "_sum");
	xsf_line_end(t, sum);
	row_begin(m, f, row, t, "_count");
	xsf_line_end(t, count);
}

static void rdma_length(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t row,
			struct xsf_text *t)
{
	const struct xsf_rdma_row *r = &m->s->rdma[row];
	uint64_t count = 0;

	for (uint32_t n = 0; n < XSF_RDMA_BUCKETS; n++)
		count += r->length[n].samples;
	if (!count)
		return;
	count = 0;
	for (uint32_t n = 0; n < XSF_RDMA_BUCKETS; n++) {
		count += pick(&r->length[n], f->arg);
		bucket(m, f, row, t, 1ull << n, count);
	}
	buckets_end(m, f, row, t, f->arg == SAMPLES ? r->length_sum : r->length_sum_scaled, count);
}

static void credits(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t row,
		    struct xsf_text *t)
{
	const struct xsf_count *ack = m->s->rdma[row].ack;
	uint64_t count = 0, sum = 0;

	for (uint32_t code = 0; code < XSF_CREDIT_CODES; code++)
		count += ack[code].samples;
	if (!count)
		return;
	count = 0;
	for (uint32_t code = 0; code < XSF_CREDIT_CODES; code++) {
		uint64_t n = pick(&ack[code], f->arg);

		count += n;
		sum += n * xsf_credits[code];
		bucket(m, f, row, t, xsf_credits[code], count);
	}
	buckets_end(m, f, row, t, sum, count);
}

static void no_credits(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t row,
		       struct xsf_text *t)
{
	const struct xsf_count *count = &m->s->rdma[row].ack[XSF_CREDIT_INVALID];

	if (!count->samples)
		return;
	row_begin(m, f, row, t, "");
	xsf_line_end(t, pick(count, f->arg));
}

static void nak(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t row,
		struct xsf_text *t)
{
	const struct xsf_count *naks = m->s->rdma[row].nak;

	for (uint32_t code = 0; code <= XSF_NAK_CODES; code++) {
		struct xsf_count count = naks[code];

		/* The reserved ones together. */
		for (uint32_t n = code + 1; code == XSF_NAK_CODES && n < 32; n++) {
			count.samples += naks[n].samples;
			count.packets += naks[n].packets;
		}
		if (!count.samples)
			continue;
		row_begin(m, f, row, t, "");
		xsf_label(t, ",code=", xsf_nak_name(code));
		xsf_line_end(t, pick(&count, f->arg));
	}
}

/* offset: of an array of 32 within struct xsf_rdma_row. */
static void syndromes(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t row,
		      struct xsf_text *t)
{
	const struct xsf_count *c =
		(const struct xsf_count *)((const char *)&m->s->rdma[row] + f->offset);
	struct xsf_count sum = { 0 };

	for (uint32_t n = 0; n < 32; n++) {
		sum.samples += c[n].samples;
		sum.packets += c[n].packets;
	}
	if (!sum.samples)
		return;
	row_begin(m, f, row, t, "");
	xsf_line_end(t, pick(&sum, f->arg));
}

/* offset: of a double within struct xsf_period_found. Fabrics of which nobody knows only when they have
 * one. */
static void period(const struct xsf_metrics *m, const struct xsf_family *f, uint32_t i,
		   struct xsf_text *t)
{
	const struct xsf_period_found *found = &m->s->periods[i];
	double value = *(const double *)((const char *)found + f->offset);

	if (i && !(value > 0) &&
	    (!m->s->bindings || i - 1 >= xsf_bindings_nr_fabrics(m->s->bindings)))
		return;
	xsf_text_add(t, f->name, f->name_len);
	if (i)
		fabric_label(m, t, i - 1);
	else
		XSF_TEXT_LIT(t, "{fabric=\"none\"");
	xsf_line_end_milli(t, (uint64_t)(1000 * value + 0.5));
}

#define PERIODS(n, where, text) \
	{ \
		XSF_FAMILY_GAUGE(n), .domain = XSF_OVER_PERIODS, .item = period, .offset = where, \
				     .help = text \
	}
#define OPS(n, what, text) \
	{ \
		XSF_FAMILY_COUNTER(n), .domain = XSF_OVER_OPS, .arg = what, .item = operation, \
				       .help = text \
	}
#define ROWS(n, what, writer, where, text) \
	{ \
		XSF_FAMILY_COUNTER(n), .domain = XSF_OVER_ROWS, .arg = what, .offset = where, \
				       .item = writer, .help = text \
	}
/* Each count twice: as sampled, and times sampling_rate. */
#define BOTH(n, writer, where, text) \
	ROWS(n "_samples", SAMPLES, writer, where, "Samples of " text), \
		ROWS(n "_packets", PACKETS, writer, where, "Estimated packets: " text)
#define HISTOGRAM(n, what, writer, text) \
	{ \
		XSF_FAMILY_HISTOGRAM(n), .domain = XSF_OVER_ROWS, .arg = what, .item = writer, \
					 .help = text \
	}

const struct xsf_family xsf_families_roce[] = {
	OPS("roce_operation_samples", SAMPLES, "Samples of packets with a whole BTH, by opcode."),
	OPS("roce_operation_packets", PACKETS, "These samples times their sampling_rate."),
	OPS("roce_operation_bytes", BYTES, "These samples times sampling_rate times frame length."),
	BOTH("ip_ecn", ecn, 0, "IP packets by ECN bits of the outermost IP header."),
	BOTH("roce_ecn", ecn, 1, "RoCE packets by ECN bits of the header that carries them."),
	BOTH("trimmed", trimmed, 0, "IP packets whose DSCP says that a switch cut their payload."),
	BOTH("roce_cnp", cnp, 0,
	     "congestion notification packets by the SE and M bits of the BTH."),
	HISTOGRAM("rdma_length_bytes", SAMPLES, rdma_length,
		  "RETH DMA length of sampled packets, as sampled."),
	HISTOGRAM("rdma_length_scaled_bytes", PACKETS, rdma_length,
		  "RETH DMA length, each sample taken sampling_rate times."),
	HISTOGRAM("aeth_credits", SAMPLES, credits,
		  "Credits of sampled acknowledgements, as sampled."),
	HISTOGRAM("aeth_credits_scaled", PACKETS, credits,
		  "Credits of acknowledgements, each sample taken sampling_rate times."),
	BOTH("aeth_no_credits", no_credits, 0,
	     "acknowledgements with credit code 31, which says nothing about credits."),
	BOTH("aeth_nak", nak, 0, "negative acknowledgements by code."),
	BOTH("aeth_rnr_nak", syndromes, offsetof(struct xsf_rdma_row, rnr),
	     "receiver-not-ready acknowledgements."),
	BOTH("aeth_reserved", syndromes, offsetof(struct xsf_rdma_row, reserved_syndrome),
	     "acknowledgements with a reserved syndrome."),
	PERIODS("period_seconds", offsetof(struct xsf_period_found, seconds),
		"Period of RoCE traffic at the fabric's edge; 0: none is seen."),
	PERIODS("period_confidence", offsetof(struct xsf_period_found, confidence),
		"Autocorrelation of that traffic at its period, 0.3 to 1; 0: no period."),
	{ .item = NULL },
};
