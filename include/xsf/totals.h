/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every early return and every total, once: name and help. The struct of per-CPU counters, the metrics
 * and the JSON are made from these lists; new ones go to the end of the last list of struct xsf_totals. */
#ifndef XSF_TOTALS_H
#define XSF_TOTALS_H

#include "base.h"

/* What became of a frame: exactly one of these, or `datagrams`. */
#define XSF_FRAME_OUTCOMES(X) \
	X(short_frame, "frame ends inside its Ethernet, IP or UDP header") \
	X(not_ip, "EtherType is neither IPv4 nor IPv6") \
	X(vlan_depth, "more than two VLAN tags") \
	X(bad_ip, "IP version, header length or total length does not fit the frame") \
	X(ext_depth, "more than three IPv6 extension headers") \
	X(not_udp, "another transport protocol") \
	X(fragments, "fragment of a UDP datagram of any port; passed, never parsed") \
	X(other_port, "UDP to a port that is not configured") \
	X(capture_cut, "cut by the capture's snap length; live: headers beyond the first buffer")

/* What became of a datagram (unfragmented UDP to a configured port): exactly one of these. */
#define XSF_DATAGRAM_OUTCOMES(X) \
	X(sound, "every announced sample was read") \
	X(faulty, "header sound, at least one sample faulty") \
	X(refused, "header faulty: nothing of it counted") \
	X(too_long, "payload above 9000 bytes: passed, not parsed") \
	X(denied, "source not in the allow-list") \
	X(unreadable, "the kernel could not hand over the payload")

/* Faults, by kind (DESIGN 4.1): one per faulty header or sample. */
#define XSF_FAULTS(X) \
	X(short_header, "datagram ends inside its sFlow header") \
	X(bad_version, "version is not 5") \
	X(bad_agent_type, "agent address type is neither IPv4 nor IPv6") \
	X(udp_length, "UDP length does not fit the IP packet") \
	X(sample_overrun, "sample missing or longer than the datagram") \
	X(short_body, "sample or record shorter than its fixed fields") \
	X(record_overrun, "record missing or longer than its sample") \
	X(header_overrun, "sampled header longer than its record")

#define XSF_SAMPLE_TYPES(X) \
	X(flow, "flow_sample") \
	X(counter, "counters_sample") \
	X(flow_expanded, "flow_sample_expanded") \
	X(counter_expanded, "counters_sample_expanded") \
	X(drop, "discarded_packet") \
	X(unknown, "another sample format, skipped by its length")

/* How far the sampled packet of a flow sample could be read: exactly one of these each. */
#define XSF_HEADER_OUTCOMES(X) \
	X(none, "no packet data in the sample") \
	X(other_protocol, "header_protocol other than Ethernet, IPv4, IPv6") \
	X(cut, "sampled header ends before its network layer is known") \
	X(not_ip, "neither IPv4 nor IPv6 nor RoCEv1") \
	X(bad_ip, "IP version or header length wrong") \
	X(fragment, "later fragment: no transport header") \
	X(ip, "IP without RoCE") \
	X(other_tunnel, "GRE or GENEVE: the inner packet is not read") \
	X(roce, "RoCEv2 with a whole BTH") \
	X(roce_tunnel, "RoCEv2 with a whole BTH inside VXLAN or MPLS") \
	X(roce_v1, "RoCEv1 with a whole BTH") \
	X(bth_cut, "RoCE, but the sampled header ends inside the BTH")

/* Bounds that were met, and other things worth knowing. */
#define XSF_EVENTS(X) \
	X(fragments_first, "first fragments to a configured port (within fragments)") \
	X(consumed, "sound datagrams to this host that were dropped here on purpose") \
	X(denied_dropped, "denied datagrams that were dropped on request") \
	X(bytes, "UDP payload bytes of datagrams that were not denied") \
	X(sampled_packets, "sum of sampling_rate over flow samples") \
	X(sampled_bytes, "sum of sampling_rate times frame length over flow samples") \
	X(bad_rate, "flow samples with sampling_rate 0, weighted 1") \
	X(output_discarded, "flow samples whose output says discarded") \
	X(output_multiple, "flow samples whose output says multiple interfaces") \
	X(output_undefined, "flow samples with an undefined interface format") \
	X(drops_roce, "discarded-packet samples of RoCE packets") \
	X(duplicate_samples, "samples left out because their datagram was a duplicate") \
	X(agents_full, "datagrams of agents that found no place in the table") \
	X(sources_full, "samples of data sources that found no place in the table") \
	X(agents_reclaimed, "places of silent agents that were given to others") \
	X(sources_reclaimed, "places of silent data sources that were given to others") \
	X(groups_full, "samples of a group beyond the configured number of fabrics") \
	X(reasons_full, "drop reasons above 511 that found no place in the table") \
	X(sequence_contended, "sequence updates given up after four tries") \
	X(names_cut, "host or port names longer than 63 bytes") \
	X(drops_shed, "drop notifications that the ring of a reader had no room for") \
	X(samples_shed, "flow samples that the ring of a reader got too many of") \
	X(places_full, "drop notifications whose place or agent found no row of its own") \
	X(places_reclaimed, "rows of places silent for long that were given to others") \
	X(drop_texts_cut, "texts of drop notifications longer than 64 bytes")

#define XSF_FIELD_PLAIN(name, help) __u64 name;
#define XSF_FIELD_OUTCOME(name, help) __u64 datagram_##name;
#define XSF_FIELD_FAULT(name, help) __u64 fault_##name;
#define XSF_FIELD_SAMPLE(name, help) __u64 sample_##name;
#define XSF_FIELD_HEADER(name, help) __u64 header_##name;

/* Per-CPU; only ever grows. */
struct xsf_totals {
	__u64 datagrams;
	XSF_FRAME_OUTCOMES(XSF_FIELD_PLAIN)
	XSF_DATAGRAM_OUTCOMES(XSF_FIELD_OUTCOME)
	XSF_FAULTS(XSF_FIELD_FAULT)
	XSF_SAMPLE_TYPES(XSF_FIELD_SAMPLE)
	XSF_HEADER_OUTCOMES(XSF_FIELD_HEADER)
	XSF_EVENTS(XSF_FIELD_PLAIN)
	__u64 reserved[21];
};

#define XSF_NR_TOTALS (sizeof(struct xsf_totals) / sizeof(__u64))
_Static_assert(XSF_NR_TOTALS == 88, "a new total takes a reserved word; the layout is ABI");

#endif
