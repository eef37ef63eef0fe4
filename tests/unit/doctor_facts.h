/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts of a machine where nothing is wrong, and what doctor says of them. For doctor*_test.c. */
#ifndef XSF_DOCTOR_FACTS_H
#define XSF_DOCTOR_FACTS_H

#include <string.h>
#include "model/doctor.h"

#define ALL_CAPABILITIES \
	((xsf_fact_t)1 << XSF_CAP_BPF | (xsf_fact_t)1 << XSF_CAP_NET_ADMIN | \
	 (xsf_fact_t)1 << XSF_CAP_PERFMON | (xsf_fact_t)1 << XSF_CAP_SYS_ADMIN)

static struct xsf_facts f;
static struct xsf_diagnosis d;

/* A machine where nothing is wrong, and a collector on each port. */
static int healthy(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	strcpy(f.iface, "eth0");
	f.ports[0] = 4739;
	f.ports[1] = 6343;
	f.nr_ports = 2;
	strcpy(f.release, "6.1.0-30-amd64");
	strcpy(f.machine, "x86_64");
	f.root = f.initial_user_namespace = 1;
	f.capabilities = ALL_CAPABILITIES;
	f.btf = f.jit = f.group = 1;
	f.bpffs = XSF_MOUNT_BPF;
	strcpy(f.pins, "/sys/fs/bpf/xdp-sflow/v2");
	f.pinned = XSF_PINS_RIGHT;
	f.pins_group = 1;
	f.memlock = 8 << 20;
	f.kept_whole = 1;
	f.cpus = 4;
	f.numa_nodes = 1;
	strcpy(f.driver, "i40e");
	f.mtu = 1500;
	f.up = f.carrier = f.ethernet = f.debian = 1;
	f.addresses = f.addresses_all = 2;
	f.xdp_features = XSF_XDP_BASIC;
	f.queues = 4;
	f.queues_max = 16;
	f.queues_combined = 1;
	f.peer_queues = XSF_NO_FACT;
	f.ring = 512;
	f.ring_max = 4096;
	f.our_pref = 10;
	f.tcx = XSF_NO_FACT;
	f.rmem_default = 212992;
	f.rmem_max = 4194304;
	f.sample_ms = 1000;
	f.our_rate = XSF_NO_FACT;
	f.sockets = f.nr_sockets = 2;
	for (int n = 0; n < 2; n++) {
		f.socket[n].port = f.ports[n];
		f.socket[n].pid = 42;
		strcpy(f.socket[n].command, "nfcapd");
	}
	return 0;
}

/* How many findings of a check have this level, and the first of them. */
static uint32_t count(const char *check, enum xsf_level level, const struct xsf_finding **first)
{
	uint32_t nr = 0;

	*first = NULL;
	for (uint32_t n = 0; n < d.nr; n++) {
		if (strcmp(d.row[n].check, check) || d.row[n].level != level)
			continue;
		*first = *first ? *first : &d.row[n];
		nr++;
	}
	return nr;
}

/* One finding of the check is of that level, says `text` somewhere and is mended by exactly `mend`; all other
 * checks are as in the healthy machine: ok. */
static void says(const char *check, enum xsf_level level, const char *text, const char *mend)
{
	const struct xsf_finding *found = NULL;

	xsf_diagnose(&f, &d);
	if (count(check, level, &found) < 1)
		fail_msg("%s: no finding is %s", check, xsf_level_name(level));
	if (!found)
		return;
	if (!strstr(found->text, text))
		fail_msg("%s: '%s' does not say '%s'", check, found->text, text);
	assert_string_equal(found->mend, mend);
	for (uint32_t n = 0; n < d.nr; n++) {
		if (d.row[n].level != XSF_LEVEL_OK && strcmp(d.row[n].check, check))
			fail_msg("%s is %s besides: %s", d.row[n].check,
				 xsf_level_name(d.row[n].level), d.row[n].text);
	}
}

#endif
