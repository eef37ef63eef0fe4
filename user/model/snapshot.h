/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All counts at one moment, wherever they were kept: the pinned maps (kernel/maps.h) or the native store
 * (model/store.h). What serve/ and `status` read. Per-CPU values are summed; the tables of agents and
 * sources are the live ones, not copies, so a walk over them sees counts that still grow. */
#ifndef XSF_SNAPSHOT_H
#define XSF_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>
#include <xsf/abi.h>
#include <xsf/event.h>
#include "model/period_find.h"

#include "model/csum.h"

struct xsf_reason_high {
	struct xsf_reason_key key;
	__u64 count;
};

/* A program that is attached now; none in a replay. */
struct xsf_attached {
	char ifname[16];
	char mode[16];	  /* "native", "generic", "offload" */
	char verdict[16]; /* "pass", "consume" */
	char how[24];	  /* "link", "unconfirmed", "libxdp", "external" */
	uint32_t ifindex;
	uint32_t prog_id;
	uint32_t frags;	      /* 1: takes frames of several buffers */
	uint64_t run_time_ns; /* both 0 unless kernel.bpf_stats_enabled */
	uint64_t run_count;
	uint16_t ports[XSF_MAX_PORTS]; /* 0 = unused */
};

#define XSF_MAX_ATTACHED 64

struct xsf_bindings; /* model/binding.h */

#define XSF_MAX_PERIODS 17 /* lines of model/period.h: none, 16 fabrics */

struct xsf_snapshot {
	uint64_t now_ns;   /* CLOCK_MONOTONIC; in a replay the last packet's time */
	uint64_t stale_ns; /* agents and sources silent for longer are not shown; 0 = show all */
	struct xsf_totals totals;
	/* Slots 0..nr-1; slot 0 collects the counts of those without a place. A slot is in use while
	 * its generation is odd. */
	const struct xsf_agent *agents;
	uint32_t nr_agents;
	const struct xsf_source *sources;
	const struct xsf_interface
		*interfaces;		/* by source slot; valid while .generation equals it */
	const struct xsf_group *groups; /* by source slot; likewise */
	uint32_t nr_sources;
	uint32_t nr_groups; /* rows below are nr_groups * XSF_DIRECTIONS (* XSF_CARRIERS) */
	const struct xsf_op_row *ops;
	const struct xsf_tos_row *tos;
	const struct xsf_rdma_row *rdma;
	const struct xsf_timeline_row *timeline; /* live, as the tables; may be NULL: no rights to
						  * map it (kernel/maps.h), or no such map */
	struct xsf_reasons reasons;
	struct xsf_reason_high high[XSF_REASONS_HIGH];
	uint32_t nr_high;
	/* Drops by place and reason (xsf/event.h), live or a copy; rows that are IN_USE count. NULL and 0: no
	 * such map, its programs are older. */
	const struct xsf_drop_place *places;
	uint32_t nr_places;
	struct xsf_attached attached[XSF_MAX_ATTACHED];
	uint32_t nr_attached;
	struct xsf_csum csum;
	/* Fabrics and their topologies, where somebody keeps them; else NULL. Not part of the counts. */
	const struct xsf_bindings *bindings;
	/* Likewise the periods found, by line of model/period.h; 0 of them where nobody looks. */
	struct xsf_period_found periods[XSF_MAX_PERIODS];
	uint32_t nr_periods;
};

/* It was seen last at a time that is longer ago than --stale. */
int xsf_snapshot_silent(const struct xsf_snapshot *s, uint64_t last_seen_ns);

/* The agent is in use and not silent: it is shown. */
int xsf_snapshot_agent_shown(const struct xsf_snapshot *s, uint32_t slot);

/* The agent that the source in a slot belongs to; 0 when another has that agent's place by now. */
int xsf_snapshot_source_agent(const struct xsf_snapshot *s, uint32_t slot,
			      const struct xsf_agent **agent);

/* Likewise a source; its agent is *agent (never NULL when shown). */
int xsf_snapshot_source_shown(const struct xsf_snapshot *s, uint32_t slot,
			      const struct xsf_agent **agent);

/* The source is one interface (class 0, a real ifIndex). */
int xsf_source_is_interface(const struct xsf_source *source);

/* The source's interface record, or NULL when it has none (no counters or name came yet). */
const struct xsf_interface *xsf_snapshot_interface(const struct xsf_snapshot *s, uint32_t slot);

/* A shown source that is an interface and has counters, a name, traffic or drop notifications. */
int xsf_snapshot_interface_shown(const struct xsf_snapshot *s, uint32_t slot,
				 const struct xsf_agent **agent);

/* A table's places: how many there are, are taken, and are taken by someone silent. */
struct xsf_fill {
	uint32_t size;
	uint32_t used;
	uint32_t stale;
};
void xsf_snapshot_fill(const struct xsf_snapshot *s, enum xsf_table table, struct xsf_fill *fill);

/* What a slot's own CPU and the others counted, together. */
void xsf_agent_sum(const struct xsf_agent *agent, struct xsf_agent_counts *sum);
void xsf_source_sum(const struct xsf_source *source, enum xsf_direction direction,
		    struct xsf_traffic *sum);

/* Holes in an agent's window, neither lost nor filled yet. */
uint32_t xsf_agent_pending(const struct xsf_agent *agent);

/* Symbolic drop reason (drop_reasons.h), or the number in decimal; returns buf or a constant. */
const char *xsf_reason_name(uint32_t code, char *buf, unsigned int len);

/* One code for each name: that of the table for the codes that agents send by mistake (33 is 332, 36 is 366;
 * DESIGN 4.4), any other as it is. */
uint32_t xsf_reason_code(uint32_t code);

/* Sampled or notified drops by reason, aliases (33 = 332, 36 = 366) added up under one name. i runs from 0
 * to xsf_snapshot_nr_reasons() - 1; returns the count, *name set, or 0 when there is nothing at i. buf
 * holds 16 bytes. */
uint32_t xsf_snapshot_nr_reasons(const struct xsf_snapshot *s);
uint64_t xsf_snapshot_reason(const struct xsf_snapshot *s, int sampled, uint32_t i,
			     const char **name, char *buf);

/* Calls `each` once per such name with a count above 0. */
void xsf_snapshot_reasons(const struct xsf_snapshot *s, int sampled,
			  void (*each)(void *arg, const char *name, uint64_t count), void *arg);

/* BTH opcode -> its transport ("RC"), IBTA name and collapsed operation; 0 and "unknown" when reserved. */
int xsf_opcode_names(uint8_t opcode, const char **transport, const char **ibta, const char **op);

/* The name of a live agent or interface, as it is now; returns its length. */
size_t xsf_name_copy(uint8_t to[XSF_NAME_LEN], const volatile uint8_t *name, uint32_t len);

#define XSF_ADDRESS_TEXT 46

/* "10.0.0.1" or RFC 5952 text of an address in v4-mapped or IPv6 form. buf of XSF_ADDRESS_TEXT bytes;
 * returns it. */
const char *xsf_address_text(const uint8_t addr[16], char *buf);

#endif
