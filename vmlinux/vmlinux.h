/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Made by scripts/vmlinux.sh: do not edit. Offsets are not those of any kernel: libbpf relocates
 * each access when the program loads (CO-RE). */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)
#endif

typedef unsigned char __u8;

typedef short unsigned int __u16;

typedef __u16 __be16;

struct nsproxy;

struct task_struct {
	struct nsproxy *nsproxy;
};

struct net;

struct nsproxy {
	struct net *net_ns;
};

typedef unsigned int sk_buff_data_t;

struct net_device;

struct sock;

struct sk_buff {
	union {
		struct {
			union {
				struct net_device *dev;
			};
		};
	};
	struct sock *sk;
	unsigned int len;
	unsigned int data_len;
	__u16 mac_len;
	union {
		struct {
			__u8 ip_summed: 2;
			__u8 csum_level: 2;
			int skb_iif;
			__be16 protocol;
			__u16 transport_header;
			__u16 network_header;
			__u16 mac_header;
		};
	};
	sk_buff_data_t end;
	unsigned char *head;
	unsigned char *data;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	union {
		struct {
			__u16 skc_num;
		};
	};
	short unsigned int skc_family;
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
};

struct net_device {
	int ifindex;
	possible_net_t nd_net;
};

struct skb_shared_info {
	short unsigned int gso_size;
	short unsigned int gso_segs;
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#endif /* __VMLINUX_H__ */
