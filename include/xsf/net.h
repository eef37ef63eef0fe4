/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers of the protocols around and inside samples. */
#ifndef XSF_NET_H
#define XSF_NET_H

/* IEEE 802.3, 802.1Q, 802.1ad; 0x9100 is the pre-standard outer tag. */
#define NET_ETH_LEN 14
#define NET_TAG_LEN 4
#define NET_MAX_TAGS 2
#define NET_TYPE_IP4 0x0800
#define NET_TYPE_IP6 0x86dd
#define NET_TYPE_VLAN 0x8100
#define NET_TYPE_QINQ 0x88a8
#define NET_TYPE_QINQ_OLD 0x9100
#define NET_TYPE_MPLS 0x8847
#define NET_TYPE_MPLS_MULTICAST 0x8848
#define NET_TYPE_ROCE_V1 0x8915

#define NET_MPLS_LEN 4
#define NET_MAX_LABELS 4

/* RFC 791, RFC 8200, RFC 768. */
#define NET_IP4_LEN 20
#define NET_IP6_LEN 40
#define NET_UDP_LEN 8
#define NET_MAX_EXT 3
#define NET_PROTO_HOPOPTS 0
#define NET_PROTO_UDP 17
#define NET_PROTO_ROUTING 43
#define NET_PROTO_FRAGMENT 44
#define NET_PROTO_GRE 47
#define NET_PROTO_DSTOPTS 60

/* RFC 7348, RFC 8926, IBTA annexes A16 (RoCE) and A17 (RoCEv2). */
#define NET_PORT_VXLAN 4789
#define NET_VXLAN_LEN 8
#define NET_PORT_GENEVE 6081
#define NET_PORT_ROCE 4791
#define NET_GRH_LEN 40
#define NET_BTH_LEN 12
#define NET_OP_CNP 0x81

#define NET_ECN_CE 3
#define NET_DSCP_TRIMMED 11

#endif
