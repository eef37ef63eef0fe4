// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The interface: is it up, what its driver can, and what it does to frames before XDP sees them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/doctor_find.h"

/* Frames of one buffer in native XDP: 3,046 bytes of MTU with the least drivers (i40e, ice: buffers of
 * 3 KiB), 3,498 to 3,506 with most (a 4 KiB page less headroom and the kernel's own data). */
#define MTU_SURE 3046
#define MTU_MOST 3498
/* veth on pages of 4 KiB: 4096 - 258 headroom - 14 Ethernet - 320 (drivers/net/veth.c). */
#define MTU_VETH 3506

/* Drivers that had native XDP by 6.1, for kernels that do not say so themselves (before 6.3). */
static const char *const native_drivers[] = {
	"veth",	   "virtio_net",  "tun",	  "mlx4_en", "mlx5_core", "i40e",     "ice",
	"ixgbe",   "ixgbevf",	  "igb",	  "igc",     "bnxt_en",	  "ena",      "qede",
	"nfp",	   "sfc",	  "mvneta",	  "mvpp2",   "hv_netvsc", "atlantic", "aquantia",
	"thunder", "nicvf",	  "dpaa2-eth",	  "fsl_dpa", "fsl_enetc", "st_gmac",  "ti_cpsw",
	"lan966x", "mtk_soc_eth", "xen_netfront", "vif",
};

/* Those that took frames of several buffers by 6.1. */
static const char *const frags_drivers[] = { "veth", "mvneta", "mlx5_core", "bnxt_en" };

static int one_of(const char *driver, const char *const *list, size_t nr)
{
	for (size_t n = 0; n < nr; n++) {
		if (!strcmp(driver, list[n]))
			return 1;
	}
	return 0;
}

#define ONE_OF(driver, list) one_of(driver, list, sizeof(list) / sizeof((list)[0]))

static int ours_native(const struct xsf_facts *f)
{
	return f->holder == XSF_XDP_OURS && !strcmp(f->mode, "native");
}

static int ours_generic(const struct xsf_facts *f)
{
	return f->holder == XSF_XDP_OURS && !strcmp(f->mode, "generic");
}

/* 1 it can, 0 it cannot, -1 not known. */
static int can_native(const struct xsf_facts *f)
{
	/* veth takes its features back while it has too few queues: that is a line of its own. */
	if (f->xdp_features >= 0 && strcmp(f->driver, "veth"))
		return f->xdp_features & XSF_XDP_BASIC;
	if (ONE_OF(f->driver, native_drivers))
		return 1;
	return f->driver[0] ? -1 : 0;
}

int xsf_doctor_no_native(const struct xsf_facts *f)
{
	return !can_native(f);
}

static int can_frags(const struct xsf_facts *f)
{
	if (f->xdp_features >= 0 && strcmp(f->driver, "veth"))
		return !!(f->xdp_features & XSF_XDP_RX_SG);
	if (ONE_OF(f->driver, frags_drivers))
		return 1;
	return can_native(f) == 0 ? 0 : -1;
}

static void interface(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	char word[XSF_WORD_LEN];
	const char *iface = xsf_doctor_word(f->iface, word);

	if (!f->up)
		xsf_mend(xsf_find(d, "interface", XSF_LEVEL_FAIL, "%s is down: nothing arrives",
				  f->iface),
			 "ip link set dev %s up", iface);
	else if (!f->carrier && f->kind[0])
		xsf_mend(xsf_find(d, "interface", XSF_LEVEL_FAIL,
				  "%s has no carrier: its other end (%s) is down or nobody has it "
				  "open",
				  f->iface, f->kind),
			 "ip -d link show dev %s", iface);
	else if (!f->carrier)
		xsf_mend(xsf_find(d, "interface", XSF_LEVEL_FAIL,
				  "%s has no carrier: cable, transceiver or the switch's port",
				  f->iface),
			 "ethtool %s", iface);
	else
		xsf_find(d, "interface", XSF_LEVEL_OK, "%s is up and has carrier", f->iface);
}

static void addresses(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	char word[XSF_WORD_LEN];

	if (f->addresses < 0 || f->addresses_all < 0)
		xsf_find_unknown(d, f, "addresses", "addresses",
				 f->addresses < 0 ? f->addresses : f->addresses_all);
	else if (f->addresses)
		xsf_find(d, "addresses", XSF_LEVEL_OK, "%" PRId64 " on %s", f->addresses, f->iface);
	else if (f->addresses_all)
		xsf_find(d, "addresses", XSF_LEVEL_OK,
			 "none on %s; consume mode goes by the %" PRId64 " of other interfaces",
			 f->iface, f->addresses_all);
	else
		xsf_mend(
			xsf_find(d, "addresses", XSF_LEVEL_WARN,
				 "this host has none: collectors receive nothing, and consume mode "
				 "drops nothing; 192.0.2.1/24 stands for yours"),
			"ip address add 192.0.2.1/24 dev %s", xsf_doctor_word(f->iface, word));
}

static void native(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	const char *driver = f->driver[0] ? f->driver : f->kind[0] ? f->kind : "no driver";
	int can = can_native(f);
	char word[XSF_WORD_LEN], load[XSF_DOCTOR_LOAD];
	const char *iface = xsf_doctor_word(f->iface, word);

	if (!f->ethernet)
		xsf_find(d, "driver", XSF_LEVEL_FAIL,
			 "%s: its frames have no Ethernet header, so XDP counts nothing here "
			 "(checksum "
			 "repair works); load where they arrive with one",
			 driver);
	else if (ours_native(f))
		xsf_find(d, "driver", XSF_LEVEL_OK, "%s: attached in native mode", driver);
	else if (ours_generic(f) && can > 0)
		xsf_mend(xsf_find(d, "driver", XSF_LEVEL_WARN,
				  "%s: attached in generic mode, which is slower; the driver has "
				  "native "
				  "XDP",
				  driver),
			 "%s", xsf_doctor_load(f, " --mode native", NULL, load));
	else if (ours_generic(f))
		xsf_find(d, "driver", XSF_LEVEL_OK,
			 "%s: attached in generic mode, the one there is without native XDP",
			 driver);
	else if (can > 0)
		xsf_find(d, "driver", XSF_LEVEL_OK, "%s: native XDP%s", driver,
			 f->xdp_features < 0 ? " (known of this driver; the kernel does not tell)" :
					       "");
	else if (can == 0)
		xsf_mend(xsf_find(d, "driver", XSF_LEVEL_FAIL,
				  "%s: no native XDP, which load takes unless told otherwise; "
				  "generic "
				  "mode works, and is slower",
				  driver),
			 "xdp-sflow load %s --mode generic", iface);
	else
		xsf_mend(xsf_find(d, "driver", XSF_LEVEL_UNKNOWN,
				  "%s: this kernel does not tell whether it has native XDP, nor is "
				  "it "
				  "known here; load finds out, and undoes it by itself",
				  driver),
			 "xdp-sflow load %s --confirm 60", iface);
}

static void mtu(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	uint32_t limit = !strcmp(f->driver, "veth") ? MTU_VETH : MTU_SURE;
	/* veth: what counts is how long its other end may send. */
	uint32_t is = limit == MTU_VETH && f->peer_mtu ? f->peer_mtu : f->mtu;
	const char *whose = limit == MTU_VETH && f->peer_mtu ? " of its other end" : "";
	int frags = can_frags(f);
	char word[XSF_WORD_LEN];
	const char *iface = xsf_doctor_word(f->iface, word);

	if (is <= limit)
		xsf_find(d, "mtu", XSF_LEVEL_OK, "%" PRIu32 "%s: frames fit in one buffer", is,
			 whose);
	else if (ours_native(f) || ours_generic(f))
		xsf_find(d, "mtu", XSF_LEVEL_OK, "%" PRIu32 "%s: %s", is, whose,
			 f->frags	 ? "the program for frames of several buffers is attached" :
			 ours_generic(f) ? "generic mode takes frames of any length" :
					   "the driver took the program for frames of one buffer");
	else if (can_native(f) == 0)
		xsf_find(d, "mtu", XSF_LEVEL_OK,
			 "%" PRIu32 "%s: generic mode takes frames of any length", is, whose);
	else if (frags > 0)
		xsf_find(d, "mtu", XSF_LEVEL_OK,
			 "%" PRIu32 "%s is above one buffer (%" PRIu32
			 "): load takes the program for "
			 "several, which %s has",
			 is, whose, limit, f->driver);
	else if (is <= MTU_MOST)
		xsf_mend(xsf_find(d, "mtu", XSF_LEVEL_WARN,
				  "%" PRIu32
				  ": frames above %d bytes may not fit in one buffer of %s, "
				  "and several are not known to work",
				  is, MTU_SURE, f->driver),
			 "ip link set dev %s mtu %d", iface, MTU_SURE);
	else if (frags < 0)
		xsf_mend(xsf_find(d, "mtu", XSF_LEVEL_WARN,
				  "%" PRIu32
				  " is above one buffer (about %d); whether %s takes several "
				  "this kernel does not tell",
				  is, MTU_MOST, f->driver),
			 "ip link set dev %s mtu %d", iface, MTU_SURE);
	else
		xsf_mend(xsf_find(d, "mtu", XSF_LEVEL_FAIL,
				  "%" PRIu32 " is above one buffer (about %d) and %s does not take "
				  "several: load is refused; a smaller MTU, or --mode generic",
				  is, MTU_MOST, f->driver),
			 "ip link set dev %s mtu %d", iface, MTU_SURE);
}

/* One device feature that should be off. */
static void off(const struct xsf_facts *f, struct xsf_diagnosis *d, const char *check,
		xsf_fact_t feature, const char *name, const char *option, const char *why)
{
	char word[XSF_WORD_LEN];
	struct xsf_finding *found;

	if (feature == XSF_NO_FACT)
		xsf_find(d, check, XSF_LEVEL_OK, "%s: no such feature", name);
	else if (feature < 0)
		xsf_find_unknown(d, f, check, name, feature);
	else if (!(feature & XSF_FEATURE_ON))
		xsf_find(d, check, XSF_LEVEL_OK, "%s is off", name);
	else if (ours_native(f) && (!strcmp(check, "lro") || !strcmp(check, "gro-hw")))
		xsf_find(d, check, XSF_LEVEL_OK,
			 "%s is on; the driver took native XDP all the same", name);
	else if (feature & XSF_FEATURE_FIXED)
		xsf_find(d, check, XSF_LEVEL_WARN, "%s is on and cannot be switched off: %s", name,
			 why);
	else {
		found = xsf_find(d, check, XSF_LEVEL_WARN, "%s is on: %s", name, why);
		xsf_mend(found, "ethtool -K %s %s off", xsf_doctor_word(f->iface, word), option);
	}
}

static void vlan(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	char word[XSF_WORD_LEN];

	if (f->rx_vlan < 0 && f->rx_vlan != XSF_NO_FACT)
		xsf_find_unknown(d, f, "vlan", "rx-vlan-offload", f->rx_vlan);
	else if (f->rx_vlan < 0 || !(f->rx_vlan & XSF_FEATURE_ON))
		xsf_find(d, "vlan", XSF_LEVEL_OK,
			 "VLAN tags stay in the frames; up to two are read");
	else if (!f->vlans)
		xsf_find(
			d, "vlan", XSF_LEVEL_OK,
			"rx-vlan-offload hides the outer tag from XDP; counts do not depend on it");
	else
		xsf_mend(
			xsf_find(
				d, "vlan", XSF_LEVEL_WARN,
				"rx-vlan-offload hides the outer tag from XDP, and %" PRIu32
				" VLAN device(s) stand on %s: datagrams of all VLANs count as one, "
				"and consume mode drops them in each",
				f->vlans, f->iface),
			"ethtool -K %s rxvlan off", xsf_doctor_word(f->iface, word));
}

static void channels(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	xsf_fact_t want = f->queues_max < f->cpus ? f->queues_max : (xsf_fact_t)f->cpus;
	const char *kind = f->queues_combined ? "combined" : "rx";
	char word[XSF_WORD_LEN];
	const char *iface = xsf_doctor_word(f->iface, word);

	if (f->queues == XSF_NO_FACT || f->queues == -EOPNOTSUPP) {
		xsf_find(d, "channels", XSF_LEVEL_OK, "%s has no channels to set", f->iface);
	} else if (f->queues < 0) {
		xsf_find_unknown(d, f, "channels", "receive queues", f->queues);
	} else if (f->peer_queues > f->queues && !strcmp(f->driver, "veth")) {
		xsf_mend(xsf_find(d, "channels", XSF_LEVEL_FAIL,
				  "%" PRId64
				  " receive queue(s), and the other end sends on %" PRId64
				  ": veth refuses native XDP",
				  f->queues, f->peer_queues),
			 "ethtool -L %s rx %" PRId64, iface, f->peer_queues);
	} else if (f->queues < want && strcmp(f->driver, "veth")) {
		xsf_mend(xsf_find(d, "channels", XSF_LEVEL_WARN,
				  "%" PRId64 " receive queue(s) for %" PRIu32
				  " CPUs; the device has %" PRId64,
				  f->queues, f->cpus, f->queues_max),
			 "ethtool -L %s %s %" PRId64, iface, kind, want);
	} else {
		xsf_find(d, "channels", XSF_LEVEL_OK,
			 "%" PRId64 " receive queue(s) of %" PRId64 ", %" PRIu32 " CPU(s)",
			 f->queues, f->queues_max, f->cpus);
	}
}

static void ring(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	char word[XSF_WORD_LEN], missed[64] = "";

	if (f->missed > 0)
		snprintf(missed, sizeof(missed), "; %" PRId64 " frames found no room so far",
			 f->missed);
	if (f->ring == XSF_NO_FACT || f->ring == -EOPNOTSUPP)
		xsf_find(d, "ring", XSF_LEVEL_OK, "%s has no rings to set%s", f->iface, missed);
	else if (f->ring < 0)
		xsf_find_unknown(d, f, "ring", "receive ring", f->ring);
	else if (missed[0] && f->ring < f->ring_max)
		xsf_mend(xsf_find(d, "ring", XSF_LEVEL_WARN,
				  "%" PRId64 " receive descriptors of %" PRId64 "%s", f->ring,
				  f->ring_max, missed),
			 "ethtool -G %s rx %" PRId64, xsf_doctor_word(f->iface, word), f->ring_max);
	else
		xsf_find(d, "ring", XSF_LEVEL_OK,
			 "%" PRId64 " receive descriptors of %" PRId64 "%s", f->ring, f->ring_max,
			 missed);
}

static void numa(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	char word[XSF_WORD_LEN];

	if (f->numa_nodes <= 1)
		xsf_find(d, "numa", XSF_LEVEL_OK, "one node");
	else if (f->numa_node == XSF_NO_FACT)
		xsf_find(d, "numa", XSF_LEVEL_OK, "%s is on none of the %" PRIu32 " nodes",
			 f->iface, f->numa_nodes);
	else if (f->numa_node < 0)
		xsf_find_unknown(d, f, "numa", "node of the device", f->numa_node);
	else
		xsf_mend(xsf_find(d, "numa", XSF_LEVEL_OK,
				  "%s is on node %" PRId64 " of %" PRIu32
				  ": its interrupts belong on "
				  "that node's CPUs",
				  f->iface, f->numa_node, f->numa_nodes),
			 "cat /sys/class/net/%s/device/local_cpulist",
			 xsf_doctor_word(f->iface, word));
}

void xsf_diagnose_device(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	interface(f, d);
	addresses(f, d);
	native(f, d);
	mtu(f, d);
	off(f, d, "lro", f->lro, "large-receive-offload", "lro",
	    "drivers refuse native XDP with it, and it glues datagrams together in front of "
	    "generic XDP");
	off(f, d, "gro-hw", f->gro_hw, "rx-gro-hw", "rx-gro-hw",
	    "drivers may refuse native XDP with it (virtio_net: switch the guest's offloads off in "
	    "the "
	    "hypervisor)");
	off(f, d, "gro-forward", f->gro_forward, "rx-udp-gro-forwarding", "rx-udp-gro-forwarding",
	    "UDP datagrams reach tc glued together, where checksum repair leaves them alone");
	off(f, d, "gro-list", f->gro_list, "rx-gro-list", "rx-gro-list",
	    "UDP datagrams reach tc as a list, where checksum repair leaves them alone");
	vlan(f, d);
	channels(f, d);
	ring(f, d);
	numa(f, d);
}
