/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Within serve/: the parts of the JSON document. Each writes what stands inside its section's brackets for
 * member i, or nothing. */
#ifndef XSF_JSON_PARTS_H
#define XSF_JSON_PARTS_H

#include "model/drop_rows.h"
#include "model/fields.h"
#include "serve/json.h"
#include "serve/json_write.h"

struct xsf_json {
	const struct xsf_snapshot *s; /* NULL: only csum */
	const struct xsf_csum *csum;
	struct xsf_drop_table drops; /* unless alone */
	struct xsf_writer w;
	uint32_t section;
	uint32_t item;
	int alone;  /* only the checksums */
	int opened; /* the section's bracket is written */
	struct xsf_pull pull;
};

/* json_totals.c; i: opcode or reason where there are many, else 0 */
void xsf_json_totals(struct xsf_json *j, uint32_t i);
void xsf_json_opcode_v2(struct xsf_json *j, uint32_t i);
void xsf_json_opcode_v1(struct xsf_json *j, uint32_t i);
void xsf_json_reason_notified(struct xsf_json *j, uint32_t i);
void xsf_json_reason_sampled(struct xsf_json *j, uint32_t i);
void xsf_json_ecn_roce(struct xsf_json *j, uint32_t i);
void xsf_json_ecn_all(struct xsf_json *j, uint32_t i);
void xsf_json_trimmed(struct xsf_json *j, uint32_t i);
void xsf_json_rdma_lengths(struct xsf_json *j, uint32_t i);
void xsf_json_aeth(struct xsf_json *j, uint32_t i);
void xsf_json_cnp(struct xsf_json *j, uint32_t i);

/* json_members.c; i: slot, table or place in a list */
void xsf_json_agent(struct xsf_json *j, uint32_t i);
void xsf_json_agent_other(struct xsf_json *j, uint32_t i);
void xsf_json_interface(struct xsf_json *j, uint32_t i);
void xsf_json_source(struct xsf_json *j, uint32_t i);
void xsf_json_source_other(struct xsf_json *j, uint32_t i);
void xsf_json_table(struct xsf_json *j, uint32_t i);
void xsf_json_attached(struct xsf_json *j, uint32_t i);
void xsf_json_topology(struct xsf_json *j, uint32_t i);

/* json_drops.c; i: slot of an agent, or row */
void xsf_json_drop_sums(struct xsf_json *j, uint32_t i); /* with its key */
void xsf_json_drop_agent(struct xsf_json *j, uint32_t i);
void xsf_json_drop_place(struct xsf_json *j, uint32_t i);
void xsf_json_drop_elsewhere(struct xsf_json *j, uint32_t i);

/* json_csum.c; i: place in a list, or row */
void xsf_json_csum_totals(struct xsf_json *j, uint32_t i);
void xsf_json_csum_attached(struct xsf_json *j, uint32_t i);
void xsf_json_csum_port(struct xsf_json *j, uint32_t i);
void xsf_json_csum_source(struct xsf_json *j, uint32_t i);
void xsf_json_csum_other(struct xsf_json *j, uint32_t i);

#endif
