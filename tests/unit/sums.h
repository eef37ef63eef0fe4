/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What must add up, whatever was received: the same packets counted by outcome, by source, by operation
 * and by mark. Holds for every snapshot, of the kernel's maps as of the native store. */
#ifndef XSF_TEST_SUMS_H
#define XSF_TEST_SUMS_H

#include <stdio.h>
#include "model/snapshot.h"

struct sums {
	uint64_t agents_datagrams, agents_bytes, agents_faulty;
	uint64_t agents_flow, agents_counter, agents_drop;
	struct xsf_traffic traffic;
	uint64_t carrier[XSF_CARRIERS]; /* samples */
	uint64_t roce_packets, roce_bytes, cnp_packets;
	uint64_t tos_samples, tos_packets, trimmed_packets;
	uint64_t tos_roce_samples, tos_roce_packets, ce_packets;
	uint64_t reth_samples, aeth_samples, cnp_samples, cnp_counted;
	uint64_t reasons;
	uint64_t places;
};

static inline void sums_traffic(struct xsf_traffic *to, const struct xsf_traffic *from)
{
	to->samples += from->samples;
	to->packets += from->packets;
	to->bytes += from->bytes;
	to->roce_packets += from->roce_packets;
	to->roce_bytes += from->roce_bytes;
	to->ce_packets += from->ce_packets;
	to->cnp_packets += from->cnp_packets;
	to->trimmed_packets += from->trimmed_packets;
}

static inline void sums_of_tables(const struct xsf_snapshot *s, struct sums *n)
{
	for (uint32_t i = 0; i < s->nr_agents; i++) {
		const struct xsf_agent *a = &s->agents[i];

		n->agents_datagrams += a->own.datagrams + a->shared.datagrams;
		n->agents_bytes += a->own.bytes + a->shared.bytes;
		n->agents_faulty += a->own.faulty + a->shared.faulty;
		n->agents_flow += a->own.flow_samples + a->shared.flow_samples;
		n->agents_counter += a->own.counter_samples + a->shared.counter_samples;
		n->agents_drop += a->own.drop_samples + a->shared.drop_samples;
	}
	for (uint32_t i = 0; i < s->nr_sources; i++) {
		for (uint32_t d = 0; d < XSF_DIRECTIONS; d++) {
			sums_traffic(&n->traffic, &s->sources[i].own[d]);
			sums_traffic(&n->traffic, &s->sources[i].shared[d]);
		}
	}
	for (uint32_t i = 0; i < XSF_REASONS; i++)
		n->reasons += s->reasons.notified[i] + s->reasons.sampled[i];
	for (uint32_t i = 0; i < s->nr_high; i++)
		n->reasons += s->high[i].count;
	for (uint32_t i = 0; i < s->nr_places; i++)
		n->places += s->places[i].notified;
}

static inline void sums_of_rows(const struct xsf_snapshot *s, struct sums *n)
{
	for (uint32_t row = 0; row < s->nr_groups * XSF_DIRECTIONS; row++) {
		for (uint32_t i = 0; i < 256; i++) {
			const struct xsf_count *all = &s->tos[row].all[i];
			const struct xsf_count *roce = &s->tos[row].roce[i];

			n->tos_samples += all->samples;
			n->tos_packets += all->packets;
			if (i >> 2 == 11)
				n->trimmed_packets += all->packets;
			n->tos_roce_samples += roce->samples;
			n->tos_roce_packets += roce->packets;
			if ((i & 3) == 3)
				n->ce_packets += roce->packets;
			for (uint32_t c = 0; c < XSF_CARRIERS; c++) {
				const struct xsf_op *op = &s->ops[row * XSF_CARRIERS + c].opcode[i];

				n->carrier[c] += op->samples;
				n->roce_packets += op->packets;
				n->roce_bytes += op->bytes;
				if (i == 0x81) {
					n->cnp_packets += op->packets;
					n->cnp_samples += op->samples;
				}
			}
		}
		for (uint32_t i = 0; i < XSF_RDMA_BUCKETS; i++)
			n->reth_samples += s->rdma[row].length[i].samples;
		for (uint32_t i = 0; i < 32; i++) {
			n->aeth_samples += s->rdma[row].ack[i].samples +
					   s->rdma[row].rnr[i].samples +
					   s->rdma[row].reserved_syndrome[i].samples +
					   s->rdma[row].nak[i].samples;
		}
		for (uint32_t i = 0; i < 4; i++)
			n->cnp_counted += s->rdma[row].cnp[i].samples;
	}
}

/* A kept name is shorter than its place, and nothing stands behind it. */
static inline int sums_name_bad(const __u8 *name, uint32_t len)
{
	if (len >= XSF_NAME_LEN)
		return 1;
	for (uint32_t i = len; len && i < XSF_NAME_LEN; i++) {
		if (name[i])
			return 1;
	}
	return 0;
}

static inline uint64_t sums_names_bad(const struct xsf_snapshot *s)
{
	uint64_t bad = 0;

	for (uint32_t i = 0; i < s->nr_agents; i++)
		bad += (uint64_t)sums_name_bad(s->agents[i].name, s->agents[i].name_len);
	for (uint32_t i = 0; i < s->nr_sources; i++)
		bad += (uint64_t)sums_name_bad(s->interfaces[i].name, s->interfaces[i].name_len);
	return bad;
}

/* NULL, or which sum does not hold (in buf). */
static inline const char *sums_broken(const struct xsf_snapshot *s, char *buf, size_t len)
{
	const struct xsf_totals *t = &s->totals;
	struct sums n = { 0 };
	uint64_t flow = t->sample_flow + t->sample_flow_expanded;
	uint64_t counter = t->sample_counter + t->sample_counter_expanded;
	uint64_t sample_faults = t->fault_sample_overrun + t->fault_short_body +
				 t->fault_record_overrun + t->fault_header_overrun;
	uint64_t bth = t->header_roce + t->header_roce_tunnel + t->header_roce_v1;
	uint64_t ip = t->header_ip + t->header_fragment + t->header_other_tunnel + t->header_roce +
		      t->header_roce_tunnel;

#define SUMS_HOLD(what, is, want) \
	do { \
		uint64_t is_ = (is), want_ = (want); \
		if (is_ != want_) { \
			snprintf(buf, len, "%s: %llu, not %llu", what, (unsigned long long)is_, \
				 (unsigned long long)want_); \
			return buf; \
		} \
	} while (0)
#define SUMS_BELOW(what, is, most) \
	do { \
		uint64_t below_ = (is), most_ = (most); \
		if (below_ > most_) { \
			snprintf(buf, len, "%s: %llu, above %llu", what, \
				 (unsigned long long)below_, (unsigned long long)most_); \
			return buf; \
		} \
	} while (0)

	SUMS_HOLD("datagrams by outcome",
		  t->datagram_sound + t->datagram_faulty + t->datagram_refused +
			  t->datagram_too_long + t->datagram_denied + t->datagram_unreadable,
		  t->datagrams);
	SUMS_HOLD("header faults",
		  t->fault_short_header + t->fault_bad_version + t->fault_bad_agent_type +
			  t->fault_udp_length,
		  t->datagram_refused);
	SUMS_BELOW("faulty datagrams by sample fault", t->datagram_faulty, sample_faults);
	if (!t->datagram_faulty)
		SUMS_HOLD("sample faults without a faulty datagram", sample_faults, 0);
	SUMS_HOLD("flow samples by header outcome",
		  t->header_none + t->header_other_protocol + t->header_cut + t->header_not_ip +
			  t->header_bad_ip + t->header_fragment + t->header_ip +
			  t->header_other_tunnel + t->header_roce + t->header_roce_tunnel +
			  t->header_roce_v1 + t->header_bth_cut,
		  flow);

	sums_of_tables(s, &n);
	SUMS_HOLD("datagrams of agents", n.agents_datagrams,
		  t->datagram_sound + t->datagram_faulty);
	SUMS_BELOW("bytes of agents", n.agents_bytes, t->bytes);
	SUMS_HOLD("faulty datagrams of agents", n.agents_faulty, t->datagram_faulty);
	SUMS_HOLD("flow samples of agents", n.agents_flow, flow);
	SUMS_HOLD("counter samples of agents", n.agents_counter, counter);
	SUMS_HOLD("drop samples of agents", n.agents_drop, t->sample_drop);
	SUMS_HOLD("flow samples of sources", n.traffic.samples, flow);
	SUMS_HOLD("packets of sources", n.traffic.packets, t->sampled_packets);
	SUMS_HOLD("bytes of sources", n.traffic.bytes, t->sampled_bytes);
	SUMS_BELOW("datagrams without an agent's place", t->agents_full,
		   s->agents[0].shared.datagrams);
	if (s->places)
		SUMS_HOLD("drops by place", n.places, 2 * t->sample_drop);
	SUMS_HOLD("drop reasons", n.reasons + t->reasons_full,
		  t->sample_drop + t->output_discarded);

	SUMS_HOLD("names too long or not ended", sums_names_bad(s), 0);

	sums_of_rows(s, &n);
	SUMS_HOLD("RoCEv2 operations", n.carrier[XSF_ROCE_V2], t->header_roce);
	SUMS_HOLD("RoCEv2 operations in tunnels", n.carrier[XSF_ROCE_TUNNEL],
		  t->header_roce_tunnel);
	SUMS_HOLD("RoCEv1 operations", n.carrier[XSF_ROCE_V1], t->header_roce_v1);
	SUMS_HOLD("RoCE samples by TOS", n.tos_roce_samples, bth + t->header_bth_cut);
	SUMS_HOLD("RoCE packets of sources", n.traffic.roce_packets, n.tos_roce_packets);
	SUMS_BELOW("RoCE packets with an operation", n.roce_packets, n.tos_roce_packets);
	SUMS_HOLD("CE packets", n.traffic.ce_packets, n.ce_packets);
	SUMS_HOLD("CNP packets", n.traffic.cnp_packets, n.cnp_packets);
	SUMS_HOLD("CNP samples by flags", n.cnp_counted, n.cnp_samples);
	SUMS_HOLD("trimmed packets", n.traffic.trimmed_packets, n.trimmed_packets);
	SUMS_BELOW("IP samples at least", ip, n.tos_samples);
	SUMS_BELOW("IP samples at most", n.tos_samples, ip + t->header_bth_cut + t->header_roce_v1);
	SUMS_BELOW("samples with a length or a syndrome", n.reth_samples + n.aeth_samples, bth);
	return NULL;
#undef SUMS_HOLD
#undef SUMS_BELOW
}

/* The timeline has every RoCE packet of its row, as long as nothing else has written to it. Apart from the
 * others, since it reads 2 MB. */
static inline const char *sums_timeline(const struct xsf_snapshot *s, char *buf, size_t len)
{
	uint64_t bytes = 0, roce_bytes = 0;

	for (uint32_t row = 0; row < s->nr_groups * XSF_DIRECTIONS; row++) {
		const struct xsf_bin *bin = s->timeline[row].bin;
		uint64_t packets = 0, roce = 0;

		for (uint32_t i = 0; i < XSF_TIMELINE_SLOTS; i++) {
			packets += bin[i].packets;
			bytes += bin[i].bytes;
		}
		for (uint32_t i = 0; i < 256; i++)
			roce += s->tos[row].roce[i].packets;
		if (packets != roce) {
			snprintf(buf, len, "row %u: %llu RoCE packets in the timeline, not %llu",
				 row, (unsigned long long)packets, (unsigned long long)roce);
			return buf;
		}
	}
	for (uint32_t i = 0; i < s->nr_sources; i++) {
		for (uint32_t d = 0; d < XSF_DIRECTIONS; d++)
			roce_bytes += s->sources[i].own[d].roce_bytes +
				      s->sources[i].shared[d].roce_bytes;
	}
	if (bytes == roce_bytes)
		return NULL;
	snprintf(buf, len, "%llu RoCE bytes in the timeline, not %llu", (unsigned long long)bytes,
		 (unsigned long long)roce_bytes);
	return buf;
}

#endif
