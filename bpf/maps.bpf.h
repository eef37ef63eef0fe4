/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps of the XDP program, and include/xsf/store.h answered with them. Pinned by name, so that the
 * programs of several interfaces, `ip link set ... xdp obj` and the readers share one set. */
#ifndef XSF_MAPS_BPF_H
#define XSF_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "../include/xsf/state.h"
#include "../include/xsf/store.h"
#include "../include/xsf/ports.h"

#define XSF_PINNED_ARRAY(name, kind, value_type, entries, map_flags_) \
	struct { \
		__uint(type, kind); \
		__uint(max_entries, entries); \
		__uint(map_flags, map_flags_); \
		__uint(pinning, LIBBPF_PIN_BY_NAME); \
		__type(key, __u32); \
		__type(value, value_type); \
	} name SEC(".maps")

/* Shared between CPUs and page aligned; readers map them. */
XSF_PINNED_ARRAY(xsf_agents, BPF_MAP_TYPE_ARRAY, struct xsf_agent, XSF_AGENTS, BPF_F_MMAPABLE);
XSF_PINNED_ARRAY(xsf_sources, BPF_MAP_TYPE_ARRAY, struct xsf_source, XSF_SOURCES, BPF_F_MMAPABLE);
XSF_PINNED_ARRAY(xsf_interfaces, BPF_MAP_TYPE_ARRAY, struct xsf_interface, XSF_SOURCES,
		 BPF_F_MMAPABLE);
XSF_PINNED_ARRAY(xsf_groups, BPF_MAP_TYPE_ARRAY, struct xsf_group, XSF_SOURCES, BPF_F_MMAPABLE);
XSF_PINNED_ARRAY(xsf_timeline, BPF_MAP_TYPE_ARRAY, struct xsf_timeline_row,
		 XSF_GROUPS *XSF_DIRECTIONS, BPF_F_MMAPABLE);
XSF_PINNED_ARRAY(xsf_places, BPF_MAP_TYPE_ARRAY, struct xsf_drop_place, XSF_PLACES, BPF_F_MMAPABLE);
XSF_PINNED_ARRAY(xsf_event_wanted, BPF_MAP_TYPE_ARRAY, struct xsf_event_wanted, 1, BPF_F_MMAPABLE);
XSF_PINNED_ARRAY(xsf_control, BPF_MAP_TYPE_ARRAY, struct xsf_control, XSF_TABLES, 0);

/* Small, per CPU, plain additions. */
XSF_PINNED_ARRAY(xsf_totals, BPF_MAP_TYPE_PERCPU_ARRAY, struct xsf_totals, 1, 0);
XSF_PINNED_ARRAY(xsf_ops, BPF_MAP_TYPE_PERCPU_ARRAY, struct xsf_op_row,
		 XSF_GROUPS *XSF_DIRECTIONS *XSF_CARRIERS, 0);
XSF_PINNED_ARRAY(xsf_tos, BPF_MAP_TYPE_PERCPU_ARRAY, struct xsf_tos_row, XSF_GROUPS *XSF_DIRECTIONS,
		 0);
XSF_PINNED_ARRAY(xsf_rdma, BPF_MAP_TYPE_PERCPU_ARRAY, struct xsf_rdma_row,
		 XSF_GROUPS *XSF_DIRECTIONS, 0);
XSF_PINNED_ARRAY(xsf_reasons, BPF_MAP_TYPE_PERCPU_ARRAY, struct xsf_reasons, 1, 0);
XSF_PINNED_ARRAY(xsf_ports, BPF_MAP_TYPE_PERCPU_ARRAY, struct xsf_port, XSF_PORT_ROWS, 0);

#define XSF_PINNED_HASH(name, kind, key_type, value_type, entries, map_flags_) \
	struct { \
		__uint(type, kind); \
		__uint(max_entries, entries); \
		__uint(map_flags, map_flags_); \
		__uint(pinning, LIBBPF_PIN_BY_NAME); \
		__type(key, key_type); \
		__type(value, value_type); \
	} name SEC(".maps")

XSF_PINNED_HASH(xsf_agent_ids, BPF_MAP_TYPE_HASH, struct xsf_agent_key, __u32, XSF_AGENTS, 0);
XSF_PINNED_HASH(xsf_source_ids, BPF_MAP_TYPE_HASH, struct xsf_source_key, __u32, XSF_SOURCES, 0);
XSF_PINNED_HASH(xsf_reason_ids, BPF_MAP_TYPE_HASH, struct xsf_reason_key, __u64, XSF_REASONS_HIGH,
		0);

/* Written by user space only: addresses of this host, and sources that are allowed. */
struct xsf_addr {
	__u8 addr[16];
};
XSF_PINNED_HASH(xsf_local, BPF_MAP_TYPE_HASH, struct xsf_addr, __u8, XSF_LOCAL_ADDRS, 0);
XSF_PINNED_HASH(xsf_allow, BPF_MAP_TYPE_LPM_TRIE, struct xsf_prefix_key, __u8, XSF_ALLOW_PREFIXES,
		BPF_F_NO_PREALLOC);

/* Each program's own: scratch, and hints that can be lost. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xsf_walk);
} xsf_scratch SEC(".maps");

/* An event as it is built, and who gets it; what it stands for at each of those; and by kind and reader what
 * found no room since the last one that did, and the value of `wanted` that this is about. */
struct xsf_event_scratch {
	struct xsf_event event;
	__u32 shed[2][XSF_EVENT_READERS];
	__u8 reader[2][XSF_EVENT_READERS];
	__u32 stands_for[XSF_EVENT_READERS];
	__u32 readers; /* as bits; in a register they would be 2^8 states to the verifier */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xsf_event_scratch);
} xsf_event_scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, XSF_AGENTS);
	__type(key, __u32);
	__type(value, struct xsf_hints);
} xsf_hints SEC(".maps");

/* The loader overwrites it before the program loads. */
const volatile struct xsf_config xsf_config = {
	.stale_ns = 600000000000ull,
	.ports = { 6343 },
	.groups = XSF_GROUPS,
};

/* Likewise. Not part of the struct, which the pins hold too. */
const volatile __u64 xsf_trimmed_dscps = 1ull << NET_DSCP_TRIMMED;

static __always_inline __u64 xsf_trimmed(void)
{
	return xsf_trimmed_dscps;
}

static __always_inline const struct xsf_config *xsf_cfg(void)
{
	const struct xsf_config *cfg = (const struct xsf_config *)&xsf_config;

	XSF_OPAQUE(cfg);
	return cfg;
}

static __always_inline void *xsf_lookup(enum xsf_map id, __u32 index)
{
	switch (id) {
	case XSF_MAP_TOTALS:
		return bpf_map_lookup_elem(&xsf_totals, &index);
	case XSF_MAP_AGENTS:
		return bpf_map_lookup_elem(&xsf_agents, &index);
	case XSF_MAP_SOURCES:
		return bpf_map_lookup_elem(&xsf_sources, &index);
	case XSF_MAP_INTERFACES:
		return bpf_map_lookup_elem(&xsf_interfaces, &index);
	case XSF_MAP_GROUPS:
		return bpf_map_lookup_elem(&xsf_groups, &index);
	case XSF_MAP_HINTS:
		return bpf_map_lookup_elem(&xsf_hints, &index);
	case XSF_MAP_CONTROL:
		return bpf_map_lookup_elem(&xsf_control, &index);
	case XSF_MAP_OPS:
		return bpf_map_lookup_elem(&xsf_ops, &index);
	case XSF_MAP_TOS:
		return bpf_map_lookup_elem(&xsf_tos, &index);
	case XSF_MAP_RDMA:
		return bpf_map_lookup_elem(&xsf_rdma, &index);
	case XSF_MAP_REASONS:
		return bpf_map_lookup_elem(&xsf_reasons, &index);
	case XSF_MAP_PORTS:
		return bpf_map_lookup_elem(&xsf_ports, &index);
	case XSF_MAP_TIMELINE:
		return bpf_map_lookup_elem(&xsf_timeline, &index);
	case XSF_MAP_PLACES:
		return bpf_map_lookup_elem(&xsf_places, &index);
	case XSF_MAP_WANTED:
		return bpf_map_lookup_elem(&xsf_event_wanted, &index);
	case XSF_MAP_EVENT:
		return bpf_map_lookup_elem(&xsf_event_scratch, &index);
	}
	return 0;
}

static __always_inline __u32 xsf_find(enum xsf_table table, const void *key)
{
	__u32 *slot = table == XSF_TABLE_AGENTS ? bpf_map_lookup_elem(&xsf_agent_ids, key) :
						  bpf_map_lookup_elem(&xsf_source_ids, key);

	return slot ? *slot : 0;
}

static __always_inline int xsf_insert(enum xsf_table table, const void *key, __u32 slot)
{
	return table == XSF_TABLE_AGENTS ?
		       bpf_map_update_elem(&xsf_agent_ids, key, &slot, BPF_NOEXIST) != 0 :
		       bpf_map_update_elem(&xsf_source_ids, key, &slot, BPF_NOEXIST) != 0;
}

static __always_inline void xsf_erase(enum xsf_table table, const void *key)
{
	if (table == XSF_TABLE_AGENTS)
		bpf_map_delete_elem(&xsf_agent_ids, key);
	else
		bpf_map_delete_elem(&xsf_source_ids, key);
}

static __always_inline __u64 *xsf_reason_high(const struct xsf_reason_key *key)
{
	__u64 *count = bpf_map_lookup_elem(&xsf_reason_ids, key), zero = 0;

	if (count)
		return count;
	bpf_map_update_elem(&xsf_reason_ids, key, &zero, BPF_NOEXIST);
	return bpf_map_lookup_elem(&xsf_reason_ids, key);
}

#endif
