// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/simulate.h"

#include <inttypes.h>
#include <xsf/net.h>

#include "model/snapshot.h"

static void write_sum(FILE *out, const char *key, const struct xsf_fabric_sum *s)
{
	fprintf(out,
		"\"%s\":{\"samples\":%" PRIu64 ",\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
		key, s->samples, s->packets, s->bytes);
}

/* As write_sum(), without bytes. */
static void write_packets(FILE *out, const char *key, const struct xsf_fabric_sum *s)
{
	fprintf(out, "\"%s\":{\"samples\":%" PRIu64 ",\"packets\":%" PRIu64 "}", key, s->samples,
		s->packets);
}

/* "key":{"name":n,...} of those above 0. */
static void write_reasons(FILE *out, const char *key, const uint64_t *counts)
{
	const char *comma = "";
	char number[16];

	fprintf(out, ",\"%s\":{", key);
	for (uint32_t i = 0; i < XSF_FABRIC_REASONS; i++) {
		if (!counts[i])
			continue;
		fprintf(out, "%s\"%s\":%" PRIu64, comma, xsf_reason_name(i, number, sizeof(number)),
			counts[i]);
		comma = ",";
	}
	fputc('}', out);
}

/* "key":{"n":{...},...} of the sums that have samples. */
static void write_sums(FILE *out, const char *key, const struct xsf_fabric_sum *sums, uint32_t nr,
		       void (*each)(FILE *, const char *, const struct xsf_fabric_sum *))
{
	const char *comma = "";
	char number[16];

	fprintf(out, "\"%s\":{", key);
	for (uint32_t i = 0; i < nr; i++) {
		if (!sums[i].samples)
			continue;
		fputs(comma, out);
		snprintf(number, sizeof(number), "%u", i);
		each(out, number, &sums[i]);
		comma = ",";
	}
	fputc('}', out);
}

static void write_totals(FILE *out, const struct xsf_fabric_truth *t, uint64_t send_errors,
			 uint64_t wrong_checksums)
{
	fprintf(out,
		"{\"totals\":{\"datagrams\":%" PRIu64 ",\"bytes\":%" PRIu64
		",\"flow_samples\":%" PRIu64 ",\"counter_samples\":%" PRIu64
		",\"drop_samples\":%" PRIu64
		",\"malformed\":0,\"malformed_by_kind\":{},\"fragments\":0,\"send_errors\":%" PRIu64
		",\"wrong_checksums\":%" PRIu64 ",\"sampled_packets\":%" PRIu64
		",\"sampled_bytes\":%" PRIu64 ",",
		t->datagrams, t->bytes, t->flow_samples, t->counter_samples, t->drop_samples,
		send_errors, wrong_checksums, t->sampled_packets, t->sampled_bytes);
	write_sums(out, "roce_opcodes", t->opcode, 256, write_sum);
	fputs(",\"roce_v1_opcodes\":{}", out);
	write_reasons(out, "drop_reasons", t->notified);
	write_reasons(out, "sampled_discards", t->sampled_drops);
	fputc(',', out);
	write_sums(out, "ecn", t->ecn, 4, write_packets);
	fputc(',', out);
	write_packets(out, "trimmed", &t->trimmed);
	fprintf(out,
		",\"rdma_lengths\":{\"samples\":%" PRIu64 ",\"packets\":%" PRIu64
		",\"sum\":%" PRIu64 ",\"sum_scaled\":%" PRIu64 "},\"aeth\":{",
		t->reth.samples, t->reth.packets, t->dma_length, t->dma_length_scaled);
	write_sums(out, "ack", t->syndrome, 32, write_packets);
	fputc(',', out);
	write_sums(out, "rnr", t->syndrome + 32, 32, write_packets);
	fputc(',', out);
	write_sums(out, "nak", t->syndrome + 96, 32, write_packets);
	fputs("},", out);
	write_packets(out, "cnp", &t->opcode[NET_OP_CNP]);
	fputs("},\n", out);
}

/* What the AI metrics are made of: sums at the edge and over all that enters a switch. */
static void write_edge(FILE *out, const struct xsf_fabric_truth *t)
{
	fputs("\"edge\":{", out);
	write_sum(out, "ingress", &t->edge);
	fputc(',', out);
	write_sums(out, "roce_opcodes", t->edge_opcode, 256, write_sum);
	fprintf(out,
		",\"rdma_lengths\":{\"samples\":%" PRIu64 ",\"packets\":%" PRIu64
		",\"sum_scaled\":%" PRIu64 "},",
		t->edge_reth.samples, t->edge_reth.packets, t->edge_dma_length_scaled);
	write_sums(out, "ack", t->edge_ack, 32, write_packets);
	fputs("},\n\"ingress\":{", out);
	write_packets(out, "ce", &t->ingress_ce);
	fputc(',', out);
	write_packets(out, "cnp", &t->ingress_cnp);
	fputs("},\n", out);
}

static void write_counters(FILE *out, const struct xsf_enc_if_counters *c)
{
	fprintf(out,
		",\"speed\":%" PRIu64 ",\"in_octets\":%" PRIu64
		",\"in_ucast\":%u,\"in_multicast\":%u,\"in_broadcast\":%u,\"in_discards\":%u,\"in_"
		"errors\":%u",
		c->speed, c->in_octets, c->in_ucast, c->in_multicast, c->in_broadcast,
		c->in_discards, c->in_errors);
	if (c->in_unknown != 0xffffffff)
		fprintf(out, ",\"in_unknown\":%u", c->in_unknown);
	fprintf(out,
		",\"out_octets\":%" PRIu64 ",\"out_ucast\":%u,\"out_multicast\":%u,\"out_"
		"broadcast\":%u,\"out_discards\":%u,\"out_errors\":%u",
		c->out_octets, c->out_ucast, c->out_multicast, c->out_broadcast, c->out_discards,
		c->out_errors);
}

static void write_interface(FILE *out, const char *agent, const struct xsf_fabric_interface *i)
{
	static const struct xsf_fabric_sum none;

	fprintf(out, "{\"agent\":\"%s\",\"ifindex\":%u", agent, i->ifindex);
	if (i->reported) {
		fprintf(out, ",\"ifname\":\"%s\"", i->name);
		write_counters(out, &i->counters);
	}
	fputs(",\"sampled\":{", out);
	write_sum(out, "ingress", &i->ingress);
	fputc(',', out);
	write_sum(out, "egress", &i->egress);
	fputc(',', out);
	write_sum(out, "other", &none);
	fputs("}}", out);
}

static void write_agent(FILE *out, const char *agent, const struct xsf_fabric_agent *a)
{
	fprintf(out, "{\"agent\":\"%s\",\"sub_agent\":0", agent);
	if (a->reported)
		fprintf(out, ",\"name\":\"%s\"", a->name);
	fprintf(out,
		",\"datagrams\":%" PRIu64 ",\"bytes\":%" PRIu64
		",\"lost\":0,\"duplicate\":0,\"reordered\":0,\"restarts\":0,\"flow_"
		"samples\":%" PRIu64 ",\"counter_samples\":%" PRIu64 ",\"drop_samples\":%" PRIu64,
		a->datagrams, a->bytes, a->flow_samples, a->counter_samples, a->drop_samples);
	fprintf(out,
		",\"drop_notifications\":{\"notified\":%" PRIu64 ",\"suppressed\":%" PRIu64
		",\"lost\":0,\"duplicate\":0,\"reordered\":0,\"restarts\":0,\"pending\":0,"
		"\"at_least\":%" PRIu64 "}}",
		a->drop_samples, a->drops_suppressed, a->drop_samples + a->drops_suppressed);
}

/* Where what was notified. */
static void write_places(FILE *out, const struct xsf_fabric *f)
{
	struct xsf_fabric_agent a;
	struct xsf_fabric_place p;
	const char *comma = "";
	char text[46], number[16];

	fputs("\"drop_places\":[", out);
	for (uint32_t n = 0; n < xsf_fabric_agents(f); n++) {
		xsf_fabric_agent(f, n, &a);
		xsf_address_text(a.addr, text);
		for (uint32_t i = 0; i < (a.nr_interfaces + 1) * XSF_FABRIC_DROP_REASONS; i++) {
			xsf_fabric_place(f, n, i, &p);
			if (!p.notified)
				continue;
			fprintf(out,
				"%s\n{\"agent\":\"%s\",\"sub_agent\":0,\"ifindex\":%u,\"reason\":"
				"\"%s\",\"notified\":%" PRIu64 "}",
				comma, text, p.ifindex,
				xsf_reason_name(p.reason, number, sizeof(number)), p.notified);
			comma = ",";
		}
	}
	fputs("],\n", out);
}

void simulate_write_truth(FILE *out, const struct xsf_fabric *f, uint64_t send_errors,
			  uint64_t wrong_checksums)
{
	struct xsf_fabric_interface i;
	struct xsf_fabric_agent a;
	const char *comma = "";
	char text[46];

	write_totals(out, xsf_fabric_truth(f), send_errors, wrong_checksums);
	write_edge(out, xsf_fabric_truth(f));
	fputs("\"agents\":[", out);
	for (uint32_t n = 0; n < xsf_fabric_agents(f); n++) {
		xsf_fabric_agent(f, n, &a);
		if (!a.datagrams)
			continue;
		fprintf(out, "%s\n", comma);
		write_agent(out, xsf_address_text(a.addr, text), &a);
		comma = ",";
	}
	fputs("],\n", out);
	write_places(out, f);
	fputs("\"interfaces\":[", out);
	comma = "";
	for (uint32_t n = 0; n < xsf_fabric_agents(f); n++) {
		xsf_fabric_agent(f, n, &a);
		xsf_address_text(a.addr, text);
		for (uint32_t p = 0; p < a.nr_interfaces; p++) {
			xsf_fabric_interface(f, n, p, &i);
			if (!i.reported && !i.ingress.samples && !i.egress.samples)
				continue;
			fprintf(out, "%s\n", comma);
			write_interface(out, text, &i);
			comma = ",";
		}
	}
	fputs("]}\n", out);
}
