// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Facts that were made up, and what doctor says about each: every finding of every check. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "doctor_facts.h"

static void test_healthy(void **state)
{
	(void)state;
	xsf_diagnose(&f, &d);
	for (uint32_t n = 0; n < d.nr; n++) {
		if (d.row[n].level != XSF_LEVEL_OK || d.row[n].mend[0])
			fail_msg("%s: %s", d.row[n].check, d.row[n].text);
	}
	assert_int_equal(d.count[XSF_LEVEL_OK], d.nr);
	assert_int_equal(d.nr, 27);
}

static void test_kernel(void **state)
{
	(void)state;
	strcpy(f.release, "6.0.12");
	says("kernel", XSF_LEVEL_FAIL, "6.0.12 is older than 6.1",
	     "apt-get install linux-image-amd64 && reboot");
	strcpy(f.release, "5.15.0");
	strcpy(f.machine, "aarch64");
	says("kernel", XSF_LEVEL_FAIL, "older", "apt-get install linux-image-arm64 && reboot");
	f.debian = 0;
	says("kernel", XSF_LEVEL_FAIL, "older", "");
	f.debian = 1;
	strcpy(f.machine, "riscv64");
	says("kernel", XSF_LEVEL_FAIL, "older", "");
	strcpy(f.release, "6.1");
	says("kernel", XSF_LEVEL_OK, "6.1", "");
	strcpy(f.release, "10.0.1");
	says("kernel", XSF_LEVEL_OK, "10.0.1", "");
	strcpy(f.release, "mine");
	strcpy(f.machine, "x86_64");
	f.memlock = INT64_MAX;
	says("kernel", XSF_LEVEL_UNKNOWN, "'mine' is no version", "");
}

static void test_memlock(void **state)
{
	const struct xsf_finding *found;

	(void)state;
	says("memlock", XSF_LEVEL_OK, "cgroup", "");
	strcpy(f.release, "5.10.0");
	xsf_diagnose(&f, &d);
	assert_int_equal(count("memlock", XSF_LEVEL_FAIL, &found), 1);
	assert_string_equal(found->mend, "ulimit -l unlimited");
	f.memlock = INT64_MAX;
	xsf_diagnose(&f, &d);
	assert_int_equal(count("memlock", XSF_LEVEL_OK, &found), 1);
	f.memlock = -EINVAL;
	xsf_diagnose(&f, &d);
	assert_int_equal(count("memlock", XSF_LEVEL_UNKNOWN, &found), 1);
}

static void test_btf(void **state)
{
	(void)state;
	f.btf = 0;
	says("btf", XSF_LEVEL_WARN, "repair and the ledger need it",
	     "apt-get install linux-image-amd64 && reboot");
	f.btf = XSF_BTF_BROKEN;
	says("btf", XSF_LEVEL_FAIL, "holds no type information",
	     "apt-get install linux-image-amd64 && reboot");
	f.btf = -EACCES;
	says("btf", XSF_LEVEL_UNKNOWN, "Permission denied", "");
}

static void test_bpffs(void **state)
{
	(void)state;
	f.bpffs = XSF_MOUNT_NONE;
	says("bpffs", XSF_LEVEL_WARN, "no BPF file system", "mount -t bpf bpf /sys/fs/bpf");
	f.bpffs = XSF_MOUNT_OTHER;
	says("bpffs", XSF_LEVEL_FAIL, "another file system", "mount -t bpf bpf /sys/fs/bpf");
	f.bpffs = XSF_MOUNT_BPF;
	f.bpffs_readonly = 1;
	says("bpffs", XSF_LEVEL_FAIL, "read-only", "mount -o remount,rw /sys/fs/bpf");
	f.bpffs = XSF_NO_FACT;
	says("bpffs", XSF_LEVEL_FAIL, "there is no /sys/fs/bpf", "mount -t sysfs sysfs /sys");
	f.bpffs = -EACCES;
	says("bpffs", XSF_LEVEL_UNKNOWN, "Permission denied", "");
}

static void test_pins(void **state)
{
	(void)state;
	f.pinned = XSF_PINS_NONE;
	says("pins", XSF_LEVEL_OK, "nothing is pinned", "");
	f.pinned = XSF_PINS_OTHER_LAYOUT;
	strcpy(f.pins_why, "xsf_agents has values of 300 bytes");
	says("pins", XSF_LEVEL_FAIL, "xsf_agents has values of 300 bytes",
	     "xdp-sflow unload --all --purge --maps /sys/fs/bpf/xdp-sflow/v2");
	f.pinned = XSF_PINS_RIGHT;
	f.other_abi = 2;
	says("pins", XSF_LEVEL_WARN, "another version (v2)",
	     "xdp-sflow unload --all --purge --maps /sys/fs/bpf/xdp-sflow/v2");
	f.pinned = -EACCES;
	says("pins", XSF_LEVEL_UNKNOWN, "Permission denied", "");
}

static void test_capabilities(void **state)
{
	(void)state;
	f.capabilities &= ~((xsf_fact_t)1 << XSF_CAP_PERFMON);
	says("capabilities", XSF_LEVEL_FAIL, "root without CAP_PERFMON,",
	     "docker run --network host --cap-add BPF --cap-add NET_ADMIN --cap-add PERFMON "
	     "--cap-add SYS_ADMIN ...");
	f.systemd = 1;
	says("capabilities", XSF_LEVEL_FAIL, "root without CAP_PERFMON,",
	     "systemd-run --pipe --wait xdp-sflow doctor eth0");
	f.root = 0;
	f.capabilities = 0;
	says("capabilities", XSF_LEVEL_WARN,
	     "lacks CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON, CAP_SYS_ADMIN,",
	     "sudo xdp-sflow doctor eth0");
	f.capabilities = ALL_CAPABILITIES;
	says("capabilities", XSF_LEVEL_OK, "CAP_BPF", "");
	f.initial_user_namespace = 0;
	says("capabilities", XSF_LEVEL_FAIL, "user namespace", "sudo xdp-sflow doctor eth0");
	f.initial_user_namespace = 1;
	f.capabilities = -EINVAL;
	says("capabilities", XSF_LEVEL_UNKNOWN, "Invalid argument", "");
}

static void test_jit(void **state)
{
	(void)state;
	f.jit = 0;
	says("jit", XSF_LEVEL_WARN, "interpreted", "sysctl -w net.core.bpf_jit_enable=1");
	f.jit = -EOPNOTSUPP;
	says("jit", XSF_LEVEL_UNKNOWN, "first network namespace", "");
	f.jit = -EPERM;
	f.root = 0;
	says("jit", XSF_LEVEL_UNKNOWN, "Operation not permitted", "sudo xdp-sflow doctor eth0");
}

static void test_group(void **state)
{
	(void)state;
	f.group = 0;
	f.pins_group = XSF_NO_FACT;
	says("group", XSF_LEVEL_WARN, "no group xdp-sflow", "groupadd --system xdp-sflow");
	f.group = 1;
	says("group", XSF_LEVEL_OK, "can read", "");
	f.pins_group = 0;
	says("group", XSF_LEVEL_WARN, "made after them",
	     "chgrp -R xdp-sflow /sys/fs/bpf/xdp-sflow/v2");
	f.pins_group = 1;
	f.bpffs_closed = 1;
	says("group", XSF_LEVEL_WARN, "pass through", "chmod o+x /sys/fs/bpf");
	f.group = -EIO;
	says("group", XSF_LEVEL_UNKNOWN, "Input/output error", "");
}

static void test_interface(void **state)
{
	(void)state;
	f.carrier = 0;
	says("interface", XSF_LEVEL_FAIL, "no carrier: cable", "ethtool eth0");
	strcpy(f.kind, "veth");
	says("interface", XSF_LEVEL_FAIL, "other end (veth)", "ip -d link show dev eth0");
	f.up = 0;
	says("interface", XSF_LEVEL_FAIL, "eth0 is down", "ip link set dev eth0 up");
}

static void test_addresses(void **state)
{
	(void)state;
	f.addresses = 0;
	says("addresses", XSF_LEVEL_OK, "none on eth0; consume mode goes by the 2", "");
	f.addresses_all = 0;
	says("addresses", XSF_LEVEL_WARN, "none", "ip address add 192.0.2.1/24 dev eth0");
	f.addresses = -ENOMEM;
	says("addresses", XSF_LEVEL_UNKNOWN, "Cannot allocate memory", "");
}

static void test_driver(void **state)
{
	(void)state;
	f.xdp_features = 0;
	says("driver", XSF_LEVEL_FAIL, "i40e: no native XDP", "xdp-sflow load eth0 --mode generic");
	f.holder = XSF_XDP_OURS;
	strcpy(f.mode, "generic");
	says("driver", XSF_LEVEL_OK, "generic mode, the one there is", "");
	f.xdp_features = XSF_XDP_BASIC;
	says("driver", XSF_LEVEL_WARN, "generic mode, which is slower",
	     "xdp-sflow load eth0 --mode native");
	strcpy(f.mode, "native");
	says("driver", XSF_LEVEL_OK, "attached in native mode", "");
	f.holder = XSF_XDP_NOBODY;
	f.xdp_features = -EOPNOTSUPP;
	says("driver", XSF_LEVEL_OK, "the kernel does not tell", "");
	strcpy(f.driver, "e1000");
	says("driver", XSF_LEVEL_UNKNOWN, "nor is it known here",
	     "xdp-sflow load eth0 --confirm 60");
	f.ethernet = 0;
	says("driver", XSF_LEVEL_FAIL, "no Ethernet header", "");
	f.ethernet = 1;
	f.driver[0] = 0;
	says("driver", XSF_LEVEL_FAIL, "no driver", "xdp-sflow load eth0 --mode generic");
}

static void test_mtu(void **state)
{
	(void)state;
	f.mtu = 3046;
	says("mtu", XSF_LEVEL_OK, "one buffer", "");
	f.mtu = 3047;
	says("mtu", XSF_LEVEL_WARN, "may not fit", "ip link set dev eth0 mtu 3046");
	f.mtu = 9000;
	says("mtu", XSF_LEVEL_FAIL, "load is refused", "ip link set dev eth0 mtu 3046");
	f.xdp_features |= XSF_XDP_RX_SG;
	says("mtu", XSF_LEVEL_OK, "load takes the program for several", "");
	f.xdp_features = -EOPNOTSUPP;
	says("mtu", XSF_LEVEL_WARN, "this kernel does not tell", "ip link set dev eth0 mtu 3046");
	strcpy(f.driver, "bnxt_en");
	says("mtu", XSF_LEVEL_OK, "bnxt_en has", "");
	f.xdp_features = XSF_XDP_BASIC;
	f.holder = XSF_XDP_OURS;
	strcpy(f.mode, "native");
	says("mtu", XSF_LEVEL_OK, "took the program", "");
	f.frags = 1;
	says("mtu", XSF_LEVEL_OK, "several buffers is attached", "");
	/* veth: its other end's, and it takes several. */
	f.holder = XSF_XDP_NOBODY;
	strcpy(f.driver, "veth");
	f.peer_mtu = 1500;
	says("mtu", XSF_LEVEL_OK, "1500 of its other end: frames fit", "");
	f.peer_mtu = 3507;
	says("mtu", XSF_LEVEL_OK, "above one buffer (3506)", "");
}

static void test_offloads(void **state)
{
	(void)state;
	f.lro = XSF_FEATURE_ON;
	says("lro", XSF_LEVEL_WARN, "refuse native XDP", "ethtool -K eth0 lro off");
	f.lro = XSF_FEATURE_ON | XSF_FEATURE_FIXED;
	says("lro", XSF_LEVEL_WARN, "cannot be switched off", "");
	f.lro = XSF_FEATURE_FIXED;
	says("lro", XSF_LEVEL_OK, "is off", "");
	f.lro = XSF_NO_FACT;
	says("lro", XSF_LEVEL_OK, "no such feature", "");
	f.lro = -EIO;
	says("lro", XSF_LEVEL_UNKNOWN, "Input/output error", "");
	f.lro = XSF_FEATURE_ON;
	f.holder = XSF_XDP_OURS;
	strcpy(f.mode, "native");
	says("lro", XSF_LEVEL_OK, "all the same", "");
	f.holder = XSF_XDP_NOBODY;
	f.lro = 0;
	f.gro_hw = XSF_FEATURE_ON;
	says("gro-hw", XSF_LEVEL_WARN, "is on", "ethtool -K eth0 rx-gro-hw off");
	f.gro_hw = 0;
	f.gro_forward = XSF_FEATURE_ON;
	says("gro-forward", XSF_LEVEL_WARN, "is on", "ethtool -K eth0 rx-udp-gro-forwarding off");
	f.gro_forward = 0;
	f.gro_list = XSF_FEATURE_ON;
	says("gro-list", XSF_LEVEL_WARN, "is on", "ethtool -K eth0 rx-gro-list off");
}

static void test_vlan(void **state)
{
	(void)state;
	f.vlans = 2;
	says("vlan", XSF_LEVEL_OK, "stay in the frames", "");
	f.rx_vlan = XSF_FEATURE_ON;
	says("vlan", XSF_LEVEL_WARN, "2 VLAN device(s)", "ethtool -K eth0 rxvlan off");
	f.vlans = 0;
	says("vlan", XSF_LEVEL_OK, "do not depend on it", "");
	f.rx_vlan = -EIO;
	says("vlan", XSF_LEVEL_UNKNOWN, "Input/output error", "");
}

static void test_channels(void **state)
{
	(void)state;
	f.queues = 1;
	says("channels", XSF_LEVEL_WARN, "1 receive queue(s) for 4 CPUs",
	     "ethtool -L eth0 combined 4");
	f.queues_combined = 0;
	f.queues_max = 2;
	says("channels", XSF_LEVEL_WARN, "the device has 2", "ethtool -L eth0 rx 2");
	f.queues_max = 1;
	says("channels", XSF_LEVEL_OK, "1 receive queue(s) of 1", "");
	f.queues = XSF_NO_FACT;
	says("channels", XSF_LEVEL_OK, "no channels", "");
	f.queues = -EIO;
	says("channels", XSF_LEVEL_UNKNOWN, "Input/output error", "");
	strcpy(f.driver, "veth");
	f.queues = 1;
	f.peer_queues = 2;
	says("channels", XSF_LEVEL_FAIL, "veth refuses", "ethtool -L eth0 rx 2");
}

static void test_ring(void **state)
{
	(void)state;
	f.missed = 7;
	says("ring", XSF_LEVEL_WARN, "7 frames found no room", "ethtool -G eth0 rx 4096");
	f.ring = 4096;
	says("ring", XSF_LEVEL_OK, "7 frames found no room", "");
	f.ring = -EOPNOTSUPP;
	says("ring", XSF_LEVEL_OK, "no rings to set; 7", "");
	f.ring = -EIO;
	says("ring", XSF_LEVEL_UNKNOWN, "Input/output error", "");
}

static void test_numa(void **state)
{
	(void)state;
	f.numa_nodes = 2;
	f.numa_node = 1;
	says("numa", XSF_LEVEL_OK, "node 1 of 2", "cat /sys/class/net/eth0/device/local_cpulist");
	f.numa_node = XSF_NO_FACT;
	says("numa", XSF_LEVEL_OK, "none of the 2 nodes", "");
	f.numa_node = -EACCES;
	says("numa", XSF_LEVEL_UNKNOWN, "Permission denied", "");
}

static void test_xdp(void **state)
{
	(void)state;
	f.prog_id = 17;
	strcpy(f.mode, "native");
	strcpy(f.prog_name, "xsf_xdp");
	f.holder = XSF_XDP_OURS;
	says("xdp", XSF_LEVEL_OK, "xsf_xdp (id 17, native, pass)", "");
	f.holder = XSF_XDP_ELSEWHERE;
	strcpy(f.elsewhere, "/run/bpf/x");
	says("xdp", XSF_LEVEL_WARN, "/run/bpf/x", "xdp-sflow doctor eth0 --maps /run/bpf/x");
	f.holder = XSF_XDP_BY_HAND;
	strcpy(f.removal, "ip link set dev eth0 xdp off");
	says("xdp", XSF_LEVEL_WARN, "by hand", "ip link set dev eth0 xdp off");
	f.holder = XSF_XDP_DISPATCHER;
	says("xdp", XSF_LEVEL_OK, "dispatcher (id 17)", "");
	f.holder = XSF_XDP_FOREIGN;
	f.prog_name[0] = 0;
	strcpy(f.removal, "bpftool link detach id 5");
	says("xdp", XSF_LEVEL_FAIL, "a program without a name (id 17, native)",
	     "bpftool link detach id 5");
	f.prog_id = 0;
	says("xdp", XSF_LEVEL_FAIL, "several modes",
	     "ip link set dev eth0 xdp off; ip link set dev eth0 xdpoffload off; ip link set dev "
	     "eth0 "
	     "xdpgeneric off");
	f.holder = -EPERM;
	f.prog_id = 17;
	says("xdp", XSF_LEVEL_UNKNOWN, "id 17, native", "");
}

static void test_stack(void **state)
{
	(void)state;
	strcpy(f.refusal, "eth0 stands below br0; leave one out, or first: xdp-sflow unload br0");
	says("load", XSF_LEVEL_FAIL, "stands below br0", "xdp-sflow unload br0");
	strcpy(f.refusal,
	       "by hand; remove it with: tc filter del dev eth0 ingress pref 9; or leave");
	says("load", XSF_LEVEL_FAIL, "by hand", "tc filter del dev eth0 ingress pref 9");
	strcpy(f.refusal, "eth0 shares its filters; leave the part out with --no-checksum");
	says("load", XSF_LEVEL_FAIL, "shares", "xdp-sflow load eth0 --no-checksum");
	strcpy(f.refusal, "something else");
	says("load", XSF_LEVEL_FAIL, "something else", "");
}

static void add_filter(uint32_t pref, const char *kind, int ours, enum xsf_ends ends)
{
	struct xsf_doctor_filter *t = &f.filter[f.nr_filters++];

	f.filters++;
	memset(t, 0, sizeof(*t));
	t->pref = pref;
	snprintf(t->kind, sizeof(t->kind), "%s", kind);
	t->ours = ours;
	t->ends = ends;
}

static void test_tc(void **state)
{
	(void)state;
	add_filter(20, "u32", 0, XSF_ENDS_YES);
	says("tc", XSF_LEVEL_OK, "1 preference(s) in use at ingress, none in the way of ours (10)",
	     "");
	add_filter(5, "flower", 0, XSF_ENDS_NO);
	says("tc", XSF_LEVEL_OK, "2 preference(s)", "");
	add_filter(6, "bpf", 0, XSF_ENDS_PERHAPS);
	says("tc", XSF_LEVEL_WARN, "bpf at preference 6 runs before",
	     "tc filter show dev eth0 ingress");
	add_filter(7, "matchall", 0, XSF_ENDS_YES);
	says("tc", XSF_LEVEL_WARN, "matchall at preference 7 ends the chain",
	     "tc filter del dev eth0 ingress pref 7");
	add_filter(10, "bpf", 1, XSF_ENDS_PERHAPS);
	says("tc", XSF_LEVEL_FAIL, "reach the checksum program at 10",
	     "tc filter del dev eth0 ingress pref 7");
	f.filter[4].pref = 1;
	says("tc", XSF_LEVEL_OK, "the checksum program at preference 1 is there; 5", "");
	strcpy(f.csum_mode, "observe");
	says("tc", XSF_LEVEL_OK, "the checksum program at preference 1 observes; 5", "");
	strcpy(f.csum_mode, "repair");
	says("tc", XSF_LEVEL_OK, "the checksum program at preference 1 repairs; 5", "");
	strcpy(f.csum_how, "abandoned");
	says("tc", XSF_LEVEL_WARN, "left by a load --confirm that was killed",
	     "xdp-sflow unload eth0");
	f.csum_how[0] = 0;
	f.tcx = 1;
	says("tcx", XSF_LEVEL_WARN, "1 program(s)", "bpftool net show dev eth0");
	f.tcx = 0;
	f.filters = -ENOBUFS;
	says("tc", XSF_LEVEL_UNKNOWN, "No buffer space", "");
}

static void test_checksum(void **state)
{
	const struct xsf_finding *found;

	(void)state;
	strcpy(f.csum_mode, "unknown");
	xsf_diagnose(&f, &d);
	assert_int_equal(count("checksum", XSF_LEVEL_OK, &found), 0);
	strcpy(f.csum_mode, "observe");
	says("checksum", XSF_LEVEL_OK, "no source of IPv6 is always wrong", "");
	f.csum_chips = 1;
	f.csum_chip[0] = 0x20;
	f.csum_chip[1] = 0x01;
	f.csum_chip[15] = 1;
	strcpy(f.csum_says, "always wrong: a chip; 40 % of 200 in 12 s");
	strcpy(f.csum_mend, "xdp-sflow repair set eth0 --repair 4739");
	says("checksum", XSF_LEVEL_WARN,
	     "not repaired, the kernel drops them: 2001::1 (always wrong: a chip; 40 % of 200 in "
	     "12 s)",
	     "xdp-sflow repair set eth0 --repair 4739");
	f.csum_chips = 3;
	says("checksum", XSF_LEVEL_WARN, "12 s), and 2 more",
	     "xdp-sflow repair set eth0 --repair 4739");
}

/* What is advised to be loaded ends nothing that is in force. */
static void test_load_again(void **state)
{
	(void)state;
	f.nr_sockets = f.sockets = 0;
	f.ports[0] = 6343;
	f.nr_ports = 1;
	f.holder = XSF_XDP_OURS;
	f.kept_whole = 1;
	f.kept_ports[0] = 6343;
	strcpy(f.kept, " --drop-duplicates --repair 4739 --repair-from 2001:db8::1");
	says("listener", XSF_LEVEL_WARN, "nobody",
	     "xdp-sflow load eth0 --consume --port 6343 --drop-duplicates --repair 4739 "
	     "--repair-from 2001:db8::1");
	f.kept_ports[0] = 7000;
	f.kept_ports[1] = 7001;
	says("listener", XSF_LEVEL_WARN, "nobody",
	     "xdp-sflow load eth0 --consume --port 7000,7001,6343 --drop-duplicates --repair 4739 "
	     "--repair-from 2001:db8::1");
	/* Ports are full, or not all can be named: nothing is advised that ends it. */
	for (int n = 0; n < XSF_MAX_PORTS; n++)
		f.kept_ports[n] = (uint16_t)(7000 + n);
	says("listener", XSF_LEVEL_WARN, "nobody", "sfcapd -D -l /var/cache/nfdump -p 6343");
	f.kept_ports[1] = 0;
	f.kept_whole = 0;
	says("listener", XSF_LEVEL_WARN, "nobody", "sfcapd -D -l /var/cache/nfdump -p 6343");
}

static void test_buffers(void **state)
{
	(void)state;
	/* 200 ms of 244/s are 48 datagrams of 4,352 bytes: they fit into 212,992. */
	f.udp_rate = 244;
	says("buffers", XSF_LEVEL_OK, "= 48 datagrams; 244/s were seen in 1000 ms, 48 in a pause",
	     "");
	f.udp_rate = 250;
	says("buffers", XSF_LEVEL_WARN, "needs 217600 bytes",
	     "sysctl -w net.core.rmem_max=4194304 net.core.rmem_default=262144");
	/* The larger of the two rates; 200 ms of 10,000/s are 8.7 MB. */
	f.our_rate = 10000;
	says("buffers", XSF_LEVEL_WARN, "needs 8704000 bytes; rmem_max 4194304",
	     "sysctl -w net.core.rmem_max=16777216 net.core.rmem_default=16777216");
	f.our_rate = 1000000000;
	says("buffers", XSF_LEVEL_WARN, "needs",
	     "sysctl -w net.core.rmem_max=1073741824 net.core.rmem_default=1073741824");
	f.our_rate = 10000;
	f.udp_rate = 100;
	f.consume = 1;
	f.holder = XSF_XDP_OURS;
	strcpy(f.mode, "native");
	says("buffers", XSF_LEVEL_OK, "100/s were seen", "");
	f.our_rate = f.udp_rate = XSF_NO_FACT;
	says("buffers", XSF_LEVEL_UNKNOWN, "--seconds 0", "");
	f.rmem_default = -EMFILE;
	says("buffers", XSF_LEVEL_UNKNOWN, "Too many open files", "");
}

static void test_reverse_path(void **state)
{
	(void)state;
	f.rp_all = 1;
	f.rp_dropped = 3;
	says("rp_filter", XSF_LEVEL_WARN, "strict (all 1, eth0 0)",
	     "sysctl -w net.ipv4.conf.eth0.rp_filter=2");
	f.rp_iface = 2;
	says("rp_filter", XSF_LEVEL_OK, "loose", "");
	f.rp_all = 0;
	f.rp_iface = 1;
	strcpy(f.iface, "eth0.5");
	says("rp_filter", XSF_LEVEL_WARN, "3 packets dropped",
	     "sysctl -w net/ipv4/conf/eth0.5/rp_filter=2");
	f.rp_all = XSF_NO_FACT;
	says("rp_filter", XSF_LEVEL_UNKNOWN, "not measured", "");
}

static void test_firewall(void **state)
{
	struct xsf_doctor_chain *c = &f.chain[0];

	(void)state;
	f.chains = f.nr_chains = 1;
	strcpy(c->family, "inet");
	strcpy(c->table, "filter");
	strcpy(c->name, "input");
	c->policy_drop = 1;
	says("firewall", XSF_LEVEL_WARN, "policy drop; UDP to 4739, 6343",
	     "nft insert rule inet filter input udp dport '{ 4739, 6343 }' accept");
	c->accepted = 1;
	c->policy_drop = 0;
	c->drops = 2;
	says("firewall", XSF_LEVEL_WARN, "2 rule(s) that drop or reject; UDP to 6343",
	     "nft insert rule inet filter input udp dport '{ 6343 }' accept");
	c->accepted = 3;
	says("firewall", XSF_LEVEL_OK, "accepts the telemetry ports", "");
	c->accepted = 0;
	strcpy(c->table, "my table; reboot");
	says("firewall", XSF_LEVEL_WARN, "my table", "nft list ruleset");
	c->accepted = 3;
	f.chains = 3;
	says("firewall", XSF_LEVEL_UNKNOWN, "2 more chains", "nft list ruleset");
	f.nr_chains = 0;
	f.chains = -EPERM;
	says("firewall", XSF_LEVEL_UNKNOWN, "Operation not permitted", "");
	f.chains = 0;
	f.legacy = 1;
	says("firewall", XSF_LEVEL_WARN, "iptables of the old kind",
	     "iptables-legacy -L INPUT -v -n");
	f.legacy = 2;
	says("firewall", XSF_LEVEL_WARN, "ip6tables", "ip6tables-legacy -L INPUT -v -n");
	f.legacy = -EPERM;
	says("firewall", XSF_LEVEL_UNKNOWN, "iptables of the old kind", "");
}

static void test_listener(void **state)
{
	const struct xsf_finding *found;

	(void)state;
	says("listener", XSF_LEVEL_OK, "UDP 4739 over IPv4: nfcapd (pid 42)", "");
	f.socket[0].ipv6 = 1;
	f.socket[0].pid = 0;
	says("listener", XSF_LEVEL_OK, "over IPv6: a process that", "");
	f.socket[0].drops = 5;
	says("listener", XSF_LEVEL_WARN, "dropped 5 datagrams, 0 of them",
	     "sysctl -w net.core.rmem_max=16777216 net.core.rmem_default=16777216");
	f.socket[0].losing = 2;
	says("listener", XSF_LEVEL_FAIL, "2 of them in the last 1000 ms",
	     "sysctl -w net.core.rmem_max=16777216 net.core.rmem_default=16777216");
	f.socket[0] = f.socket[1];
	f.nr_sockets = 1; /* 6343 */
	says("listener", XSF_LEVEL_WARN, "UDP 4739: nobody listens",
	     "xdp-sflow doctor eth0 --port 6343");
	f.socket[0].loopback = 1;
	says("listener", XSF_LEVEL_WARN, "UDP 4739: nobody",
	     "nfcapd -D -l /var/cache/nfdump -p 4739");
	f.ports[0] = 6343;
	f.nr_ports = 1;
	says("listener", XSF_LEVEL_WARN, "on a loopback address",
	     "xdp-sflow load eth0 --consume --port 6343");
	f.xdp_features = 0;
	xsf_diagnose(&f, &d);
	assert_int_equal(count("listener", XSF_LEVEL_WARN, &found), 1);
	assert_string_equal(found->mend,
			    "xdp-sflow load eth0 --consume --port 6343 --mode generic");
	f.xdp_features = XSF_XDP_BASIC;
	f.nr_sockets = 0;
	f.holder = XSF_XDP_OURS;
	f.kept_whole = 1;
	f.consume = 1;
	says("listener", XSF_LEVEL_WARN, "nobody", "xdp-sflow load eth0 --consume --port 6343");
	f.counted = 1;
	says("listener", XSF_LEVEL_OK, "XDP consumes it", "");
	f.consume = 0;
	says("listener", XSF_LEVEL_WARN, "nobody", "xdp-sflow load eth0 --consume --port 6343");
	f.sockets = -EACCES;
	says("listener", XSF_LEVEL_UNKNOWN, "Permission denied", "");
}

#define TEST(name) cmocka_unit_test_setup(name, healthy)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_healthy),	 TEST(test_kernel),	TEST(test_memlock),
		TEST(test_btf),		 TEST(test_bpffs),	TEST(test_pins),
		TEST(test_capabilities), TEST(test_jit),	TEST(test_group),
		TEST(test_interface),	 TEST(test_addresses),	TEST(test_driver),
		TEST(test_mtu),		 TEST(test_offloads),	TEST(test_vlan),
		TEST(test_channels),	 TEST(test_ring),	TEST(test_numa),
		TEST(test_xdp),		 TEST(test_stack),	TEST(test_tc),
		TEST(test_checksum),	 TEST(test_load_again), TEST(test_buffers),
		TEST(test_reverse_path), TEST(test_firewall),	TEST(test_listener),
	};

	return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
