/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The interfaces and addresses of this network namespace, by rtnetlink. Needs no rights. */
#ifndef XSF_KERNEL_NET_H
#define XSF_KERNEL_NET_H

#include <net/if.h>
#include <stdint.h>

/* Interfaces looked at; a namespace with more is refused with -E2BIG. */
#define XSF_MAX_IFS 65536

struct xsf_if {
	uint32_t ifindex;
	char name[IF_NAMESIZE];
	char kind[16];	/* "veth", "vlan", "bond", ...; empty for hardware */
	uint32_t flags; /* IFF_* */
	uint32_t mtu;
	uint16_t type;	 /* ARPHRD_* of <net/if_arp.h> */
	uint32_t master; /* ifindex of bond or bridge above, 0 = none */
	uint32_t
		lower; /* ifindex of what a VLAN and the like stand on, in this namespace; 0 = none */
	uint32_t peer;	   /* ifindex of a veth's other end, in this namespace; 0 = none */
	uint32_t xdp_mode; /* XDP_ATTACHED_* of <linux/if_link.h> */
	uint32_t xdp_prog; /* program id, 0 = none */
};

struct xsf_ifs {
	struct xsf_if *row;
	uint32_t nr;
};

/* All interfaces; the caller frees with xsf_ifs_free, which accepts an empty one. 0 or negative errno. */
int xsf_ifs_get(struct xsf_ifs *ifs);
void xsf_ifs_free(struct xsf_ifs *ifs);

/* NULL when there is none. */
const struct xsf_if *xsf_ifs_name(const struct xsf_ifs *ifs, const char *name);
const struct xsf_if *xsf_ifs_index(const struct xsf_ifs *ifs, uint32_t ifindex);
const struct xsf_if *xsf_ifs_prog(const struct xsf_ifs *ifs, uint32_t prog_id);

/* "native", "generic", "offload" or "". */
const char *xsf_xdp_mode_name(uint32_t xdp_mode);

/* Calls `each` for every unicast address of the namespace in v4-mapped or IPv6 form, loopback ones left
 * out, until it returns nonzero, which is then returned. */
int xsf_addresses_each(int (*each)(void *arg, const uint8_t addr[16]), void *arg);

/* A nonblocking socket that becomes readable when an address comes or goes; or negative errno. */
int xsf_addresses_watch(void);
/* Empties it. Whatever was said, and also when the kernel had more to say than fits (-ENOBUFS), the
 * addresses are to be read again. 1 = something was said, 0 = nothing, or negative errno. */
int xsf_addresses_changed(int fd);

#endif
