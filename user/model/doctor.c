// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/doctor_find.h"

/* Kernel floor (README). */
#define FLOOR_MAJOR 6
#define FLOOR_MINOR 1
/* Of the pinned maps and programs, roughly; only kernels before 5.11 charge it to the limit. */
#define MEMLOCK_NEEDED (128 << 20)

const char *xsf_level_name(enum xsf_level level)
{
	static const char *const names[XSF_LEVELS] = { "ok", "warn", "fail", "unknown" };

	return names[level];
}

/* Plain in every shell, also at the start of a word. */
static int plain(const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_.:@-";

	return *word && *word != '-' && word[strspn(word, safe)] == 0;
}

const char *xsf_doctor_word(const char *word, char buf[XSF_WORD_LEN])
{
	size_t n = 0;

	if (plain(word))
		return word;
	buf[n++] = '\'';
	for (; *word && n < XSF_WORD_LEN - 6; word++) {
		if (*word == '\'') {
			memcpy(buf + n, "'\\''", 4);
			n += 4;
		} else {
			buf[n++] = *word;
		}
	}
	buf[n++] = '\'';
	buf[n] = 0;
	return buf;
}

struct xsf_finding *xsf_find(struct xsf_diagnosis *d, const char *check, enum xsf_level level,
			     const char *format, ...)
{
	struct xsf_finding *found;
	va_list args;

	if (d->nr == XSF_MAX_FINDINGS)
		d->count[d->row[--d->nr].level]--;
	found = &d->row[d->nr++];
	d->count[level]++;
	found->check = check;
	found->level = level;
	found->mend[0] = 0;
	va_start(args, format);
	vsnprintf(found->text, sizeof(found->text), format, args);
	va_end(args);
	return found;
}

void xsf_mend(struct xsf_finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->mend, sizeof(finding->mend), format, args);
	va_end(args);
}

void xsf_find_unknown(struct xsf_diagnosis *d, const struct xsf_facts *f, const char *check,
		      const char *what, xsf_fact_t why)
{
	int denied = why == -EPERM || why == -EACCES;
	struct xsf_finding *found;
	char word[XSF_WORD_LEN];

	if (why == -EOPNOTSUPP)
		found = xsf_find(d, check, XSF_LEVEL_UNKNOWN,
				 "%s: this kernel or driver does not tell", what);
	else
		found = xsf_find(d, check, XSF_LEVEL_UNKNOWN, "%s: not measured: %s", what,
				 strerror((int)-why));
	if (denied && !f->root)
		xsf_mend(found, "sudo xdp-sflow doctor %s", xsf_doctor_word(f->iface, word));
}

static void newer_kernel(struct xsf_finding *found, const struct xsf_facts *f)
{
	const char *arch = !strcmp(f->machine, "x86_64")  ? "amd64" :
			   !strcmp(f->machine, "aarch64") ? "arm64" :
							    NULL;

	if (arch && f->debian)
		xsf_mend(found, "apt-get install linux-image-%s && reboot", arch);
}

static void kernel(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	char *end;
	unsigned long major = strtoul(f->release, &end, 10), minor;

	if (end == f->release || *end != '.') {
		xsf_find(d, "kernel", XSF_LEVEL_UNKNOWN, "release '%s' is no version", f->release);
		return;
	}
	minor = strtoul(end + 1, NULL, 10);
	if (major > FLOOR_MAJOR || (major == FLOOR_MAJOR && minor >= FLOOR_MINOR))
		xsf_find(d, "kernel", XSF_LEVEL_OK, "%s (%d.%d or later is needed)", f->release,
			 FLOOR_MAJOR, FLOOR_MINOR);
	else
		newer_kernel(xsf_find(d, "kernel", XSF_LEVEL_FAIL,
				      "%s is older than %d.%d, which the programs need", f->release,
				      FLOOR_MAJOR, FLOOR_MINOR),
			     f);
}

static void btf(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	if (f->btf < 0)
		xsf_find_unknown(d, f, "btf", "/sys/kernel/btf/vmlinux", f->btf);
	else if (f->btf == XSF_BTF_READABLE)
		xsf_find(d, "btf", XSF_LEVEL_OK, "/sys/kernel/btf/vmlinux is there");
	else if (f->btf == XSF_BTF_BROKEN)
		newer_kernel(
			xsf_find(d, "btf", XSF_LEVEL_FAIL,
				 "/sys/kernel/btf/vmlinux holds no type information (BTF): sFlow "
				 "is counted; checksum repair and the ledger need it"),
			f);
	else
		newer_kernel(
			xsf_find(d, "btf", XSF_LEVEL_WARN,
				 "no /sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF): sFlow is "
				 "counted; checksum repair and the ledger need it"),
			f);
}

static void bpffs(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	struct xsf_finding *found;

	if (f->bpffs == XSF_NO_FACT) {
		found = xsf_find(d, "bpffs", XSF_LEVEL_FAIL,
				 "there is no /sys/fs/bpf: sysfs is not mounted, or the kernel is "
				 "without CONFIG_BPF_SYSCALL");
		xsf_mend(found, "mount -t sysfs sysfs /sys");
		return;
	}
	if (f->bpffs < 0) {
		xsf_find_unknown(d, f, "bpffs", "/sys/fs/bpf", f->bpffs);
		return;
	}
	if (f->bpffs == XSF_MOUNT_BPF && !f->bpffs_readonly) {
		xsf_find(d, "bpffs", XSF_LEVEL_OK, "mounted at /sys/fs/bpf");
	} else if (f->bpffs == XSF_MOUNT_BPF) {
		found = xsf_find(d, "bpffs", XSF_LEVEL_FAIL,
				 "/sys/fs/bpf is mounted read-only: nothing can be pinned");
		xsf_mend(found, "mount -o remount,rw /sys/fs/bpf");
	} else if (f->bpffs == XSF_MOUNT_OTHER) {
		found = xsf_find(
			d, "bpffs", XSF_LEVEL_FAIL,
			"another file system is mounted at /sys/fs/bpf: nothing can be pinned");
		xsf_mend(found, "mount -t bpf bpf /sys/fs/bpf");
	} else {
		found = xsf_find(d, "bpffs", XSF_LEVEL_WARN,
				 "no BPF file system at /sys/fs/bpf; load mounts one, in its own "
				 "mount namespace");
		xsf_mend(found, "mount -t bpf bpf /sys/fs/bpf");
	}
}

static void pins(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	struct xsf_finding *found;

	if (f->pinned < 0) {
		xsf_find_unknown(d, f, "pins", f->pins, f->pinned);
		return;
	}
	if (f->pinned == XSF_PINS_OTHER_LAYOUT) {
		found = xsf_find(d, "pins", XSF_LEVEL_FAIL, "%s", f->pins_why);
		xsf_mend(found, "xdp-sflow unload --all --purge --maps %s", f->pins);
	} else if (f->other_abi) {
		found = xsf_find(d, "pins", XSF_LEVEL_WARN,
				 "pins of another version (v%" PRIu32
				 ") lie beside %s: what counts "
				 "there is not seen here",
				 f->other_abi, f->pins);
		xsf_mend(found, "xdp-sflow unload --all --purge --maps %.*s/v%" PRIu32,
			 (int)(strrchr(f->pins, '/') ? strrchr(f->pins, '/') - f->pins : 0),
			 f->pins, f->other_abi);
	} else if (f->pinned == XSF_PINS_RIGHT) {
		xsf_find(d, "pins", XSF_LEVEL_OK, "%s has maps of this version (ABI %d)", f->pins,
			 XSF_ABI);
	} else {
		xsf_find(d, "pins", XSF_LEVEL_OK, "nothing is pinned in %s yet (ABI %d)", f->pins,
			 XSF_ABI);
	}
}

static void capabilities(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	static const struct {
		int bit;
		const char *name;
	} needed[] = { { XSF_CAP_BPF, "CAP_BPF" },
		       { XSF_CAP_NET_ADMIN, "CAP_NET_ADMIN" },
		       { XSF_CAP_PERFMON, "CAP_PERFMON" },
		       { XSF_CAP_SYS_ADMIN, "CAP_SYS_ADMIN" } };
	struct xsf_finding *found;
	char lacking[80] = "", word[XSF_WORD_LEN];
	size_t len = 0;

	if (f->capabilities < 0) {
		xsf_find_unknown(d, f, "capabilities", "capabilities", f->capabilities);
		return;
	}
	for (size_t n = 0; n < sizeof(needed) / sizeof(needed[0]); n++) {
		if (!((uint64_t)f->capabilities >> needed[n].bit & 1))
			len += (size_t)snprintf(lacking + len, sizeof(lacking) - len, "%s%s",
						len ? ", " : "", needed[n].name);
	}
	if (!f->initial_user_namespace) {
		found = xsf_find(
			d, "capabilities", XSF_LEVEL_FAIL,
			"this is a user namespace of its own, whose capabilities do not count "
			"for loading programs; outside of it");
		xsf_mend(found, "sudo xdp-sflow doctor %s", xsf_doctor_word(f->iface, word));
	} else if (!lacking[0]) {
		xsf_find(d, "capabilities", XSF_LEVEL_OK,
			 "CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON and CAP_SYS_ADMIN");
	} else if (f->root) {
		found = xsf_find(d, "capabilities", XSF_LEVEL_FAIL,
				 "root without %s, which load needs: give them to the container or "
				 "unit (docker --cap-add, CapabilityBoundingSet=)",
				 lacking);
		if (f->systemd)
			xsf_mend(found, "systemd-run --pipe --wait xdp-sflow doctor %s",
				 xsf_doctor_word(f->iface, word));
		else
			xsf_mend(found, "docker run --network host --cap-add BPF --cap-add "
					"NET_ADMIN --cap-add "
					"PERFMON --cap-add SYS_ADMIN ...");
	} else {
		found = xsf_find(
			d, "capabilities", XSF_LEVEL_WARN,
			"this user lacks %s, which load needs; some lines below could not be "
			"measured",
			lacking);
		xsf_mend(found, "sudo xdp-sflow doctor %s", xsf_doctor_word(f->iface, word));
	}
}

static void jit(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	if (f->jit == -EOPNOTSUPP)
		xsf_find(d, "jit", XSF_LEVEL_UNKNOWN,
			 "only the first network namespace shows net.core.bpf_jit_enable, and no "
			 "program is loaded that would tell");
	else if (f->jit < 0)
		xsf_find_unknown(d, f, "jit", "net.core.bpf_jit_enable", f->jit);
	else if (f->jit)
		xsf_find(d, "jit", XSF_LEVEL_OK, "programs are compiled");
	else
		xsf_mend(xsf_find(d, "jit", XSF_LEVEL_WARN,
				  "programs are interpreted: several times slower"),
			 "sysctl -w net.core.bpf_jit_enable=1");
}

static void memlock(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	unsigned long major, minor = 0;
	char *end;

	major = strtoul(f->release, &end, 10);
	if (*end == '.')
		minor = strtoul(end + 1, NULL, 10);
	if (major > 5 || (major == 5 && minor >= 11))
		xsf_find(d, "memlock", XSF_LEVEL_OK,
			 "no limit for BPF: this kernel charges the cgroup's memory");
	else if (f->memlock < 0)
		xsf_find_unknown(d, f, "memlock", "ulimit -l", f->memlock);
	else if (f->memlock >= MEMLOCK_NEEDED)
		xsf_find(d, "memlock", XSF_LEVEL_OK, "%" PRId64 " MiB may be locked",
			 f->memlock >> 20);
	else
		xsf_mend(xsf_find(d, "memlock", XSF_LEVEL_FAIL,
				  "%" PRId64
				  " KiB may be locked; on this kernel the maps need %d MiB",
				  f->memlock >> 10, MEMLOCK_NEEDED >> 20),
			 "ulimit -l unlimited");
}

static void group(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	if (f->group < 0)
		xsf_find_unknown(d, f, "group", "group xdp-sflow", f->group);
	else if (!f->group)
		xsf_mend(xsf_find(d, "group", XSF_LEVEL_WARN,
				  "no group xdp-sflow: only root can read the pins, so export runs "
				  "as "
				  "root; load gives new pins to the group"),
			 "groupadd --system xdp-sflow");
	else if (f->pins_group == 0)
		xsf_mend(xsf_find(d, "group", XSF_LEVEL_WARN,
				  "the pins are not of the group xdp-sflow, which was made after "
				  "them: "
				  "only root can read them"),
			 "chgrp -R xdp-sflow %s", f->pins);
	else if (f->bpffs == XSF_MOUNT_BPF && f->bpffs_closed == 1)
		xsf_mend(xsf_find(d, "group", XSF_LEVEL_WARN,
				  "users of the group xdp-sflow may not pass through /sys/fs/bpf, "
				  "which "
				  "is mounted for root alone"),
			 "chmod o+x /sys/fs/bpf");
	else
		xsf_find(d, "group", XSF_LEVEL_OK,
			 "users of the group xdp-sflow can read the pins of load");
}

void xsf_diagnose_machine(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	kernel(f, d);
	btf(f, d);
	bpffs(f, d);
	pins(f, d);
	capabilities(f, d);
	jit(f, d);
	memlock(f, d);
	group(f, d);
}

void xsf_diagnose(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	memset(d, 0, sizeof(*d));
	xsf_diagnose_machine(f, d);
	xsf_diagnose_device(f, d);
	xsf_diagnose_programs(f, d);
	xsf_diagnose_receiving(f, d);
}
