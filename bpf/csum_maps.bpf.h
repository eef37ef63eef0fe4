/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps of csum6 (include/xsf/csum_abi.h). The audit is pinned by name and shared; the policy and the
 * scratch are each program's own. */
#ifndef XSF_CSUM_MAPS_BPF_H
#define XSF_CSUM_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "../include/xsf/csum_abi.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct xsf_csum_totals);
} xsf_csum_totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XSF_CSUM_PORTS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct xsf_csum_port);
} xsf_csum_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, XSF_CSUM_SOURCES);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct xsf_csum_addr);
	__type(value, struct xsf_csum_source);
} xsf_csum_sources SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, XSF_CSUM_SOURCES);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct xsf_csum_held);
} xsf_csum_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct xsf_csum_control);
} xsf_csum_control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xsf_csum_policy);
} xsf_csum_policy SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, XSF_CSUM_PREFIXES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct xsf_prefix_key);
	__type(value, __u8);
} xsf_csum_from SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xsf_csum_text);
} xsf_csum_scratch_map SEC(".maps");

#endif
