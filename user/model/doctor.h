/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What would go wrong on an interface: facts in, findings out. Pure; who measures is kernel/probe.h. */
#ifndef XSF_MODEL_DOCTOR_H
#define XSF_MODEL_DOCTOR_H

#include <stdint.h>
#include <xsf/abi.h>
#include "model/csum.h"

/* A number from 0 on, or the negative errno with which it could not be measured. */
typedef int64_t xsf_fact_t;

/* Not a fact of this machine or interface at all: what it is about does not exist. */
#define XSF_NO_FACT ((xsf_fact_t)-6) /* -ENXIO */

/* Telemetry ports: 4739, 6343 and 2055, those a loaded program is configured for, or those asked for. */
#define XSF_DOCTOR_PORTS 16
#define XSF_DOCTOR_SOCKETS 32
#define XSF_DOCTOR_FILTERS 16
#define XSF_DOCTOR_CHAINS 16

/* Capabilities that load needs (README), by their number in <linux/capability.h>. */
#define XSF_CAP_NET_ADMIN 12
#define XSF_CAP_SYS_ADMIN 21
#define XSF_CAP_PERFMON 38
#define XSF_CAP_BPF 39

/* What is mounted at a path. */
enum xsf_mounted { XSF_MOUNT_NONE, XSF_MOUNT_BPF, XSF_MOUNT_OTHER };

/* /sys/kernel/btf/vmlinux: not there; types can be read from it; none can. */
enum xsf_btf { XSF_BTF_NONE, XSF_BTF_READABLE, XSF_BTF_BROKEN };

/* What is pinned in the pin directory. */
enum xsf_pinned { XSF_PINS_NONE, XSF_PINS_RIGHT, XSF_PINS_OTHER_LAYOUT };

/* A feature of a device: off, on, and "cannot be changed". */
#define XSF_FEATURE_ON 1
#define XSF_FEATURE_FIXED 2

/* Bits of the kernel's netdev family (enum netdev_xdp_act). */
#define XSF_XDP_BASIC 1
#define XSF_XDP_RX_SG 32

/* Who holds the interface's XDP place. */
enum xsf_xdp_holder {
	XSF_XDP_NOBODY,
	XSF_XDP_OURS,	    /* attached by load, or by load --share */
	XSF_XDP_ELSEWHERE,  /* ours, of another pin directory */
	XSF_XDP_BY_HAND,    /* ours, attached by ip or bpftool */
	XSF_XDP_DISPATCHER, /* libxdp's, without ours */
	XSF_XDP_FOREIGN,
};

/* Does a filter end the chain for what it matches? */
enum xsf_ends { XSF_ENDS_NO, XSF_ENDS_YES, XSF_ENDS_PERHAPS };

/* One preference at tc ingress. */
struct xsf_doctor_filter {
	uint32_t pref;
	char kind[16];
	char name[64];
	int ours;
	enum xsf_ends ends;
};

/* A UDP socket on one of the ports. */
struct xsf_doctor_socket {
	uint16_t port;
	int ipv6;
	int loopback;	 /* bound to a loopback address */
	uint64_t drops;	 /* datagrams, since it was opened */
	uint64_t losing; /* of these, during the sample */
	uint32_t pid;	 /* 0: not known */
	char command[16];
};

/* A base chain of nftables that may drop UDP datagrams to this host. */
struct xsf_doctor_chain {
	char family[8];
	char table[64];
	char name[64];
	int policy_drop;
	uint32_t drops;	   /* rules with a drop or reject, in it or in chains of its table */
	uint32_t accepted; /* bit n: port n is accepted before the first of them */
};

/* In the order of their subjects. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct xsf_facts {
	char iface[16];
	uint16_t ports[XSF_DOCTOR_PORTS];
	uint32_t nr_ports;
	uint32_t counted; /* bit n: port n is one of the attached program of ours */

	/* the machine */
	char release[65];
	char machine[65]; /* uname -m */
	int debian;	  /* its packages are named as Debian names them */
	int systemd;	  /* it runs the machine */
	int root;
	int initial_user_namespace;
	xsf_fact_t capabilities; /* effective ones, a bit each */
	xsf_fact_t btf;		 /* enum xsf_btf */
	xsf_fact_t bpffs;	 /* enum xsf_mounted, at /sys/fs/bpf */
	xsf_fact_t bpffs_readonly;
	xsf_fact_t bpffs_closed; /* 1: others than root may not pass through it */
	char pins[256];		 /* the pin directory */
	xsf_fact_t pinned;	 /* enum xsf_pinned */
	char pins_why[256];	 /* XSF_PINS_OTHER_LAYOUT: what differs */
	uint32_t other_abi;	 /* another version's directory beside it; 0 = none */
	xsf_fact_t jit;		 /* 0 off, 1 on */
	xsf_fact_t memlock;	 /* bytes; INT64_MAX: unlimited */
	xsf_fact_t group;	 /* 1: there is a group xdp-sflow */
	xsf_fact_t pins_group;	 /* 1: the pins are of that group */
	uint32_t cpus;		 /* online */
	uint32_t numa_nodes;
	xsf_fact_t numa_node; /* of the device */

	/* the interface */
	char kind[16];	 /* "veth"; empty for hardware */
	char driver[32]; /* "": none */
	uint32_t mtu;
	uint32_t peer_mtu; /* of a veth's other end; 0: not known */
	int up;
	int carrier;
	int loopback;
	int ethernet;		  /* its frames have an Ethernet header */
	xsf_fact_t addresses;	  /* of the interface, */
	xsf_fact_t addresses_all; /* and of the namespace; loopback ones left out */
	uint32_t vlans;		  /* VLAN devices that stand on it */
	xsf_fact_t xdp_features;  /* XSF_XDP_* */
	xsf_fact_t lro;		  /* XSF_FEATURE_*, also the next four */
	xsf_fact_t gro_hw;
	xsf_fact_t gro_forward; /* rx-udp-gro-forwarding */
	xsf_fact_t gro_list;
	xsf_fact_t rx_vlan;
	xsf_fact_t queues; /* receive queues, */
	xsf_fact_t queues_max;
	int queues_combined;	/* counted in pairs with send queues */
	xsf_fact_t peer_queues; /* send queues of a veth's other end */
	xsf_fact_t ring;	/* receive descriptors, */
	xsf_fact_t ring_max;
	xsf_fact_t missed; /* frames that the device had no room for, since it is up */

	/* programs */
	xsf_fact_t holder; /* enum xsf_xdp_holder */
	uint32_t prog_id;
	char prog_name[16];
	char mode[16]; /* "native", "generic", ... */
	int frags;
	int consume;
	char elsewhere[256];
	/* Of our program here, which a load must name to keep: its ports, and further options as text,
	 * " --drop-duplicates --repair 4739"; kept_whole 0: not all can be written here. */
	uint16_t kept_ports[XSF_MAX_PORTS];
	char kept[256];
	int kept_whole;
	char removal[128]; /* XSF_XDP_BY_HAND, XSF_XDP_FOREIGN: what takes it off */
	/* Why load would refuse, for other reasons than the holder; "" = it would not. */
	char refusal[512];
	xsf_fact_t filters; /* preferences at tc ingress */
	xsf_fact_t tcx;	    /* programs that run before them */
	char csum_how
		[16]; /* our tc program here, as struct xsf_csum_attached says; "": none known */
	char csum_mode[16];
	uint32_t csum_chips;	       /* sources that are always wrong and not repaired, */
	uint8_t csum_chip[16];	       /* the first of them, */
	char csum_says[XSF_CSUM_SAYS]; /* what it is, */
	char csum_mend[384];	       /* and what repairs them */
	uint32_t our_pref;	       /* where load puts ours */
	uint32_t nr_filters;	       /* rows below */
	struct xsf_doctor_filter filter[XSF_DOCTOR_FILTERS];

	/* receiving */
	xsf_fact_t rmem_default; /* bytes */
	xsf_fact_t rmem_max;
	uint32_t sample_ms;
	xsf_fact_t udp_rate; /* UDP datagrams a second in this namespace, in the sample */
	xsf_fact_t our_rate; /* sFlow datagrams a second in our maps; XSF_NO_FACT: none loaded */
	xsf_fact_t rp_all;   /* net.ipv4.conf.all.rp_filter */
	xsf_fact_t rp_iface;
	xsf_fact_t rp_dropped; /* packets, since boot */
	xsf_fact_t sockets;    /* on the ports */
	uint32_t nr_sockets;   /* rows below */
	struct xsf_doctor_socket socket[XSF_DOCTOR_SOCKETS];
	xsf_fact_t chains;  /* of nftables, that may drop */
	uint32_t nr_chains; /* rows below */
	struct xsf_doctor_chain chain[XSF_DOCTOR_CHAINS];
	xsf_fact_t legacy; /* bit 0: iptables has filter rules of the old kind, bit 1: ip6tables */
};

enum xsf_level { XSF_LEVEL_OK, XSF_LEVEL_WARN, XSF_LEVEL_FAIL, XSF_LEVEL_UNKNOWN, XSF_LEVELS };

struct xsf_finding {
	const char *check; /* "kernel", "bpffs", ... : one of a fixed list */
	enum xsf_level level;
	char text[640];
	char mend[384]; /* a command; "" when there is nothing to mend */
};

#define XSF_MAX_FINDINGS 64

struct xsf_diagnosis {
	struct xsf_finding row[XSF_MAX_FINDINGS];
	uint32_t nr;
	uint32_t count[XSF_LEVELS];
};

/* "ok", "warn", "fail", "unknown" */
const char *xsf_level_name(enum xsf_level level);

/* Judges every fact, in a fixed order. */
void xsf_diagnose(const struct xsf_facts *f, struct xsf_diagnosis *d);

#endif
