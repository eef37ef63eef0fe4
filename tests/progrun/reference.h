/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A second sFlow decoder, written from the specifications (sflow_version_5.txt, sflow_drops.txt, RFC 791,
 * 8200, 7348, IBTA volume 1 chapter 9, annexes A16 and A17) to hold include/xsf against it. It shares with
 * it the structures that counts are kept in, and no code. Slow and plain on purpose. */
#ifndef XSF_PROGRUN_REFERENCE_H
#define XSF_PROGRUN_REFERENCE_H

#include <stddef.h>
#include <stdint.h>
#include <xsf/abi.h>
#include <xsf/event.h>

/* One agent, and one of its data sources, with what they said last. */
struct reference_agent {
	struct xsf_agent_key key;
	uint32_t next; /* in its bucket, + 1 */
	uint64_t datagrams, bytes, faulty, flow_samples, counter_samples, drop_samples;
	uint32_t drops;
	uint32_t name_len;
	uint8_t name[XSF_NAME_LEN];
};

struct reference_source {
	struct xsf_agent_key agent;
	uint32_t class, index;
	uint32_t next;
	uint32_t sampling_rate, sample_pool, drops;
	uint64_t drop_samples;
	struct xsf_traffic traffic[XSF_DIRECTIONS];
	uint8_t counters[88]; /* the last if_counters, as they came */
	uint32_t has_counters, counters_uptime;
	uint32_t aggregate;
	uint32_t name_len;
	uint8_t name[XSF_NAME_LEN];
};

/* Drop notifications of one agent, interface and reason. */
struct reference_place {
	struct xsf_agent_key agent;
	uint32_t ifindex, reason;
	uint32_t next;
	uint64_t notified;
};

#define REFERENCE_BUCKETS 4096

/* Sums over everything decoded so far. All zero is empty. */
struct reference {
	struct xsf_totals totals; /* but for what depends on tables: agents_full and the like */
	struct xsf_op_row ops[XSF_DIRECTIONS][XSF_CARRIERS];
	struct xsf_tos_row tos[XSF_DIRECTIONS];
	struct xsf_rdma_row rdma[XSF_DIRECTIONS];
	struct xsf_traffic traffic[XSF_DIRECTIONS];
	struct xsf_reasons reasons;
	uint64_t high_reasons; /* all at or above XSF_REASONS */

	struct reference_agent *agents;
	struct reference_source *sources;
	struct reference_place *places;
	uint32_t nr_agents, nr_sources, nr_places, room_agents, room_sources, room_places;
	uint32_t agent_bucket[REFERENCE_BUCKETS], source_bucket[REFERENCE_BUCKETS]; /* index + 1 */
	uint32_t place_bucket[REFERENCE_BUCKETS];
	/* is told of every flow sample and notification; may be NULL */
	void (*each)(void *arg, const struct xsf_event *event);
	void *arg;
	/* of the datagram at hand */
	uint32_t agent, uptime;
};

/* Empties it; keeps its memory, and who is told. */
void reference_reset(struct reference *r);
void reference_free(struct reference *r);

/* Index of an agent or source, made when absent. */
uint32_t reference_agent_of(struct reference *r, const struct xsf_agent_key *key);
uint32_t reference_source_of(struct reference *r, const struct xsf_agent_key *agent, uint32_t class,
			     uint32_t index);

/* The count of a place, made when absent. */
uint64_t *reference_place_of(struct reference *r, const struct xsf_agent_key *agent,
			     uint32_t ifindex, uint32_t reason);

/* One sFlow datagram. */
void reference_datagram(struct reference *r, const uint8_t *payload, size_t len);

/* One Ethernet frame, whole. ports: as in struct xsf_config. */
void reference_frame(struct reference *r, const uint8_t *frame, size_t len,
		     const uint16_t ports[XSF_MAX_PORTS]);

/* ---- the parts */

/* Bytes not read yet. */
struct bytes {
	const uint8_t *p;
	size_t left;
};

static inline uint32_t bytes_16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t bytes_32(const uint8_t *p)
{
	return bytes_16(p) << 16 | bytes_16(p + 2);
}

/* Takes n bytes off the front; NULL when there are fewer. */
static inline const uint8_t *bytes_take(struct bytes *b, size_t n)
{
	const uint8_t *p = b->p;

	if (b->left < n)
		return NULL;
	b->p += n;
	b->left -= n;
	return p;
}

enum reference_end {
	END_NONE,
	END_OTHER_PROTOCOL,
	END_CUT,
	END_NOT_IP,
	END_BAD_IP,
	END_FRAGMENT,
	END_IP,
	END_OTHER_TUNNEL,
	END_ROCE,
	END_ROCE_TUNNEL,
	END_ROCE_V1,
	END_BTH_CUT,
};

/* What a sampled packet turned out to be. */
struct reference_packet {
	enum reference_end end;
	int is_ip, is_roce, has_bth, has_reth, has_aeth;
	uint8_t tos;	  /* of the first IP header */
	uint8_t roce_tos; /* of the one that carries RoCE */
	enum xsf_carrier carrier;
	uint8_t opcode, bth_flags, syndrome;
	uint32_t dma_length;
};

void reference_packet(struct bytes header, uint32_t header_protocol, struct reference_packet *out);

/* One of the records 1036 to 1043 of a sample of that tag, others pass: kept in more[tag - 1036] when it is
 * the first and of interest. 0: it lacks some of its fields. */
int reference_more(uint32_t sample, uint32_t tag, struct bytes body, struct bytes more[8]);

/* Tells r->each of a sample: its tag, fixed fields, sampled header record and what reference_more kept. */
void reference_event(struct reference *r, uint32_t tag, const uint8_t *fixed, struct bytes header,
		     const struct bytes more[8]);

/* Offsets from the start of the BTH, by the rules of IBTA volume 1, 9.2 and 9.3; 0 = has none. */
uint32_t reference_dma_length_at(uint8_t opcode);
uint32_t reference_syndrome_at(uint8_t opcode);

#endif
