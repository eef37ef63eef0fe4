// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What one switch of the fabric says: samples of the packets that pass it, its counters. */
#include <stdio.h>
#include <string.h>
#include <xsf/net.h>
#include <xsf/sflow.h>

#include "model/fabric_state.h"

#define FCS 4
#define MAX_SAMPLES 8 /* of a datagram */
#define MAX_POLLS 4   /* of them, counter samples */

/* Bytes of the longest samples. One is begun only where it would fit, so that its own size has no say in
 * which packets are sampled. */
#define FLOW_ROOM \
	(SFLOW_TAG_LEN + SFLOW_FLOW_EXPANDED_LEN + SFLOW_TAG_LEN + 16 + SFLOW_TAG_LEN + \
	 SFLOW_REC_HEADER_LEN + FABRIC_SAMPLED_BYTES)
#define COUNTER_ROOM 168

#define HOST_CLASS 2 /* physical entity */
#define HOST_INDEX 1
#define UNKNOWN 0xffffffff

/* ---- flow samples ---- */

static void add(struct xsf_fabric_sum *s, uint32_t rate, uint32_t len)
{
	s->samples++;
	s->packets += rate;
	s->bytes += (uint64_t)rate * len;
}

/* What `rate` packets like this one do to the counters of the ports they pass. */
static void count_ports(struct xsf_fabric *f, struct fabric_agent *a, const struct fabric_way *w,
			const struct xsf_traffic_truth *t, uint32_t rate, uint32_t len)
{
	struct fabric_port *in = &f->ports[a->first_port + w->in];
	uint64_t octets = (uint64_t)rate * len;

	in->now.in_octets += octets;
	if (t->broadcast)
		in->now.in_broadcast += rate;
	else if (t->multicast)
		in->now.in_multicast += rate;
	else
		in->now.in_ucast += rate;
	if (a->first_port + w->in == f->flaky)
		in->now.in_errors += xsf_random_below(&f->random, 3);
	if (w->out.format == SFLOW_IF_DISCARDED) {
		in->now.in_discards += rate;
	} else if (w->out.format == SFLOW_IF_MULTIPLE) {
		struct fabric_flood *to[2] = { &a->flood, &in->own };

		for (int i = 0; i < 2; i++) {
			to[i]->octets += octets;
			to[i]->multicast += t->multicast ? rate : 0;
			to[i]->broadcast += t->broadcast ? rate : 0;
		}
	} else if (w->out.value != SFLOW_IF_INTERNAL) {
		struct fabric_port *out = &f->ports[a->first_port + w->out_port];

		out->now.out_octets += octets;
		out->now.out_ucast += rate;
	}
}

/* What enters a switch, and what hosts send. */
static void count_ingress(struct xsf_fabric_truth *truth, enum fabric_share share,
			  const struct xsf_traffic_truth *t, uint32_t rate, uint32_t len)
{
	if (t->opcode >= 0 && (t->roce_tos & 3) == NET_ECN_CE)
		add(&truth->ingress_ce, rate, len);
	if (t->opcode == NET_OP_CNP)
		add(&truth->ingress_cnp, rate, len);
	if (share != FABRIC_UP)
		return;
	add(&truth->edge, rate, len);
	if (t->opcode >= 0)
		add(&truth->edge_opcode[t->opcode], rate, len);
	if (t->opcode >= 0 && t->has_reth) {
		add(&truth->edge_reth, rate, len);
		truth->edge_dma_length_scaled += (uint64_t)t->dma_length * rate;
	}
	if (t->opcode >= 0 && t->syndrome >= 0 && t->syndrome < 32)
		add(&truth->edge_ack[t->syndrome], rate, len);
}

static void count_truth(struct xsf_fabric *f, const struct fabric_way *w,
			const struct xsf_traffic_truth *t, uint32_t rate, uint32_t len)
{
	struct xsf_fabric_truth *truth = &f->truth;

	truth->flow_samples++;
	truth->sampled_packets += rate;
	truth->sampled_bytes += (uint64_t)rate * len;
	if (w->out.format == SFLOW_IF_DISCARDED)
		truth->sampled_drops[w->out.value]++;
	if (t->tos >> 2 == NET_DSCP_TRIMMED)
		add(&truth->trimmed, rate, len);
	if (t->opcode < 0)
		return;
	add(&truth->opcode[t->opcode], rate, len);
	add(&truth->ecn[t->roce_tos & 3], rate, len);
	if (t->has_reth) {
		add(&truth->reth, rate, len);
		truth->dma_length += t->dma_length;
		truth->dma_length_scaled += (uint64_t)t->dma_length * rate;
	}
	if (t->syndrome >= 0)
		add(&truth->syndrome[t->syndrome & 127], rate, len);
}

/* The record of the sampled bytes. */
uint32_t fabric_put_header(struct xsf_enc *e, const struct xsf_frame *frame)
{
	struct xsf_enc_header h = {
		.protocol = SFLOW_PROTO_ETHERNET,
		.frame_length = frame->wire + FCS,
		.stripped = FCS,
		.bytes = frame->bytes,
		.len = xsf_frame_seen(frame, FABRIC_SAMPLED_BYTES),
	};

	xsf_enc_header(e, &h);
	return h.frame_length;
}

/* VLANs of a sample on a host's link; the rest of the fabric is routed. */
static void put_switch(struct xsf_enc *e, const struct xsf_fabric *f, const struct fabric_way *w)
{
	int to_host = w->out.format == SFLOW_IF_SINGLE && w->out_port < f->c.ports;
	struct xsf_enc_switch s = {
		.src_vlan = w->in < f->c.ports ? FABRIC_HOST_VLAN : UNKNOWN,
		.dst_vlan = to_host ? FABRIC_HOST_VLAN : UNKNOWN,
	};

	xsf_enc_switch(e, &s);
}

static void flow(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e, uint64_t time)
{
	enum xsf_traffic_phase phase = fabric_phase(f, time);
	enum fabric_share share = fabric_draw_share(f, a);
	uint32_t kind = fabric_kind_at(xsf_traffic_draw(&f->mix, phase, &f->random), share), port,
		 rate, len;
	struct xsf_traffic_truth t;
	struct fabric_report *report;
	struct xsf_frame frame;
	struct xsf_enc_flow s;
	struct fabric_way w;

	fabric_choose_way(f, a, share, kind, phase, &w);
	if (kind == xsf_traffic_unwanted())
		w.out = (struct xsf_enc_if){ SFLOW_IF_DISCARDED, FABRIC_REASON_ACL };
	xsf_traffic_build(kind, &w.hop, &f->random, &frame, &t);

	port = w.egress ? w.out_port : w.in;
	rate = f->edge_rate * (w.egress ? EGRESS_RATE : share == FABRIC_UP ? 1 : CORE_RATE);
	report = &f->reports[a->first_port + port];
	s = (struct xsf_enc_flow){
		.expanded = (int)a->is_spine,
		.sequence = ++f->ports[a->first_port + port].flow_sequence,
		.source = { SFLOW_CLASS_IFINDEX, XSF_FABRIC_FIRST_IFINDEX + port },
		.sampling_rate = rate,
		.sample_pool = f->ports[a->first_port + port].pool += rate,
		.input = { SFLOW_IF_SINGLE, XSF_FABRIC_FIRST_IFINDEX + w.in },
		.output = w.out,
	};
	xsf_enc_flow(e, &s);
	if (share == FABRIC_UP || share == FABRIC_OUT)
		put_switch(e, f, &w);
	len = fabric_put_header(e, &frame);
	if (xsf_enc_end(e)) /* cannot be: FLOW_ROOM */
		return;
	a->flow_samples++;
	add(w.egress ? &report->egress : &report->ingress, rate, len);
	count_truth(f, &w, &t, rate, len);
	if (!w.egress)
		count_ingress(&f->truth, share, &t, rate, len);
	if (!w.egress)
		count_ports(f, a, &w, &t, rate, len);
}

void fabric_flows(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e, uint64_t time)
{
	while (e->samples < MAX_SAMPLES && xsf_enc_room(e) >= FLOW_ROOM)
		flow(f, a, e, time);
}

/* ---- counters ---- */

int fabric_poll_is_due(const struct xsf_fabric *f, const struct fabric_agent *a, uint64_t time)
{
	return f->c.polling_ns && time >= a->poll_due;
}

static void poll_host(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e)
{
	struct xsf_enc_counter s = {
		.expanded = (int)a->is_spine,
		.sequence = ++a->host_sequence,
		.source = { HOST_CLASS, HOST_INDEX },
	};
	struct xsf_enc_host h = { .machine = 3, .os = 2, .release = "6.1.0" };
	char name[XSF_FABRIC_NAME];

	fabric_agent_name(a, name);
	h.name = name;
	for (uint32_t i = 0; i < 16; i++)
		h.uuid[i] = (uint8_t)xsf_random_mix(f->c.seed << 16 ^ a->first_port << 4 ^ i);
	h.uuid[6] = (uint8_t)(0x40 | (h.uuid[6] & 15)); /* RFC 4122: random, version 4 */
	h.uuid[8] = (uint8_t)(0x80 | (h.uuid[8] & 63));
	xsf_enc_counter(e, &s);
	xsf_enc_host(e, &h);
}

static void poll_port(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e,
		      uint32_t port)
{
	struct fabric_port *p = &f->ports[a->first_port + port];
	struct xsf_enc_counter s = {
		.expanded = (int)a->is_spine,
		.sequence = ++p->counter_sequence,
		.source = { SFLOW_CLASS_IFINDEX, XSF_FABRIC_FIRST_IFINDEX + port },
	};
	struct xsf_enc_if_counters c = p->now;
	char name[XSF_FABRIC_NAME];

	if (!a->is_spine && port < f->c.ports) {
		c.out_octets += a->flood.octets - p->own.octets;
		c.out_multicast += a->flood.multicast - p->own.multicast;
		c.out_broadcast += a->flood.broadcast - p->own.broadcast;
	}
	snprintf(name, sizeof(name), "swp%u", port + 1);
	xsf_enc_counter(e, &s);
	xsf_enc_if_counters(e, &c);
	xsf_enc_port_name(e, name);
	f->reports[a->first_port + port].last = c;
}

void fabric_polls(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e, uint64_t time)
{
	uint64_t round = f->c.polling_ns;

	while (e->samples < MAX_POLLS && xsf_enc_room(e) >= COUNTER_ROOM &&
	       fabric_poll_is_due(f, a, time)) {
		if (a->poll_next)
			poll_port(f, a, e, a->poll_next - 1);
		else
			poll_host(f, a, e);
		if (xsf_enc_end(e)) /* cannot be: COUNTER_ROOM */
			return;
		a->counter_samples++;
		f->truth.counter_samples++;
		/* The first round in a second, so that names are known; then evenly. Rounds that the
		 * datagram rate left no room for are skipped. */
		if (a->poll_due + round < time)
			a->poll_due = time;
		if (!a->poll_later && round > SECOND)
			round = SECOND;
		a->poll_due += round / (a->nr_ports + 1);
		if (++a->poll_next > a->nr_ports) {
			a->poll_next = 0;
			a->poll_later = 1;
		}
	}
}
