/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sFlow version 5 on the wire (sflow.org, sflow_version_5.txt; drops: sflow_drops.txt). Bytes and tags. */
#ifndef XSF_SFLOW_H
#define XSF_SFLOW_H

#define SFLOW_VERSION 5
#define SFLOW_PORT 6343

#define SFLOW_ADDR_IP4 1
#define SFLOW_ADDR_IP6 2
#define SFLOW_HEADER_IP4_LEN 28
#define SFLOW_HEADER_IP6_LEN 40

/* Samples: tag (enterprise 0), bytes of the fixed body. */
#define SFLOW_FLOW 1
#define SFLOW_COUNTER 2
#define SFLOW_FLOW_EXPANDED 3
#define SFLOW_COUNTER_EXPANDED 4
#define SFLOW_DROP 5
#define SFLOW_FLOW_LEN 32
#define SFLOW_COUNTER_LEN 12
#define SFLOW_FLOW_EXPANDED_LEN 44
#define SFLOW_COUNTER_EXPANDED_LEN 16
#define SFLOW_DROP_LEN 32

/* Records of flow and discarded-packet samples. */
#define SFLOW_REC_HEADER 1
#define SFLOW_REC_ETHERNET 2
#define SFLOW_REC_IP4 3
#define SFLOW_REC_IP6 4
#define SFLOW_REC_HEADER_LEN 16
#define SFLOW_REC_ETHERNET_LEN 20
#define SFLOW_REC_IP4_LEN 32
#define SFLOW_REC_IP6_LEN 56

/* Records of discarded-packet samples; those of fixed length also of flow samples. */
#define SFLOW_REC_MORE 1036	/* the first; up to SFLOW_REC_TIME */
#define SFLOW_REC_QUEUE 1036	/* u32 */
#define SFLOW_REC_FUNCTION 1038 /* string */
#define SFLOW_REC_DELAY 1039	/* u32, ns */
#define SFLOW_REC_DEPTH 1040	/* u32, bytes */
#define SFLOW_REC_TRAP 1041	/* strings: group, name */
#define SFLOW_REC_LINUX 1042	/* string */
#define SFLOW_REC_TIME 1043	/* u64, ns */

/* Records of counters samples. */
#define SFLOW_REC_IF_COUNTERS 1
#define SFLOW_REC_LAG 7 /* lag_port_stats: attachedAggID behind two MAC addresses */
#define SFLOW_REC_PORT_NAME 1005
#define SFLOW_REC_HOST_DESCR 2000
#define SFLOW_REC_IF_COUNTERS_LEN 88
#define SFLOW_REC_LAG_LEN 56

#define SFLOW_PROTO_ETHERNET 1
#define SFLOW_PROTO_IP4 11
#define SFLOW_PROTO_IP6 12

#define SFLOW_CLASS_IFINDEX 0
#define SFLOW_CLASS_ENTITY 2 /* a physical entity; 3 a logical one */

/* Interface formats, and the values that are no interface. */
#define SFLOW_IF_SINGLE 0
#define SFLOW_IF_DISCARDED 1
#define SFLOW_IF_MULTIPLE 2
#define SFLOW_IF_UNKNOWN 0
#define SFLOW_IF_INTERNAL 0x3fffffff
#define SFLOW_IF_NONE 0xffffffff

#endif
