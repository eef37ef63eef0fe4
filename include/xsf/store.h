/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the walk needs of the place where counts are kept. The BPF program answers with its maps, the
 * native build with plain tables; whoever includes walk.h defines these functions. All return NULL (0) or a
 * value that stays where it is. `id` is a constant. */
#ifndef XSF_STORE_H
#define XSF_STORE_H

#include "abi.h"

enum xsf_map {
	XSF_MAP_TOTALS,	    /* struct xsf_totals, index 0 */
	XSF_MAP_AGENTS,	    /* struct xsf_agent, by slot */
	XSF_MAP_SOURCES,    /* struct xsf_source, by slot */
	XSF_MAP_INTERFACES, /* struct xsf_interface, by source slot */
	XSF_MAP_GROUPS,	    /* struct xsf_group, by source slot */
	XSF_MAP_HINTS,	    /* struct xsf_hints, by agent slot */
	XSF_MAP_CONTROL,    /* struct xsf_control, by enum xsf_table */
	XSF_MAP_OPS,	    /* struct xsf_op_row */
	XSF_MAP_TOS,	    /* struct xsf_tos_row */
	XSF_MAP_RDMA,	    /* struct xsf_rdma_row */
	XSF_MAP_REASONS,    /* struct xsf_reasons, index 0 */
	XSF_MAP_PORTS,	    /* struct xsf_port (ports.h) */
	XSF_MAP_TIMELINE,   /* struct xsf_timeline_row */
	XSF_MAP_PLACES,	    /* struct xsf_drop_place (places.h) */
	XSF_MAP_WANTED,	    /* struct xsf_event_wanted, index 0 */
	XSF_MAP_EVENT,	    /* struct xsf_event, index 0: scratch (emit.h) */
};

static __always_inline const struct xsf_config *xsf_cfg(void);
/* Bit n: a packet of DSCP n was trimmed. */
static __always_inline __u64 xsf_trimmed(void);

static __always_inline void *xsf_lookup(enum xsf_map id, __u32 index);

/* Slot of a key in one of the slot tables; find: 0 when absent; insert: nonzero when another was faster
 * or there is no room; erase: nothing when absent. */
static __always_inline __u32 xsf_find(enum xsf_table table, const void *key);
static __always_inline int xsf_insert(enum xsf_table table, const void *key, __u32 slot);
static __always_inline void xsf_erase(enum xsf_table table, const void *key);

/* Counter of a reason at or above XSF_REASONS, made when absent. */
static __always_inline __u64 *xsf_reason_high(const struct xsf_reason_key *key);

#endif
