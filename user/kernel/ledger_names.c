// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <bpf/btf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/ledger_internal.h"

/* Lines of /proc/kallsyms that are read: some 200,000 with all modules. */
#define MAX_SYMBOLS 4000000

#define PREFIX "SKB_DROP_REASON_"

/* "SKB_DROP_REASON_NO_SOCKET" is NO_SOCKET; the first names of the list have no prefix. */
static void take_reasons(const struct btf *btf, const struct btf_type *type,
			 struct xsf_ledger_names *names)
{
	const struct btf_enum *e = btf_enum(type);

	for (int n = 0; n < btf_vlen(type); n++, e++) {
		const char *name = btf__name_by_offset(btf, e->name_off);

		if (e->val < 0 || e->val >= XSF_LEDGER_REASONS)
			continue;
		if (!strncmp(name, PREFIX, sizeof(PREFIX) - 1))
			name += sizeof(PREFIX) - 1;
		snprintf(names->reason[e->val], XSF_LEDGER_NAME, "%s", name);
	}
}

/* Arguments of the tracepoint, the hidden first one included; negative when it has no BTF. */
static int tracepoint_args(const struct btf *btf, const char *name)
{
	char type_name[64];
	const struct btf_type *t;
	int id;

	snprintf(type_name, sizeof(type_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type_name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return id;
	t = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
	if (!t || !btf_is_ptr(t))
		return -EPROTO;
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? btf_vlen(t) : -EPROTO;
}

int xsf_ledger_names_read(struct xsf_ledger_names *names, struct xsf_why *why)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int args, id;

	if (!btf)
		return xsf_because(
			why, errno ? -errno : -ENOENT,
			"the kernel has no type information (BTF) for its tracepoints: %s; "
			"it needs CONFIG_DEBUG_INFO_BTF",
			strerror(errno));
	args = tracepoint_args(btf, "kfree_skb");
	id = btf__find_by_name_kind(btf, "skb_drop_reason", BTF_KIND_ENUM);
	if (args < 4 || id < 0) {
		btf__free(btf);
		return xsf_because(
			why, -EOPNOTSUPP,
			"this kernel's tracepoint kfree_skb tells no reasons (before 5.17); "
			"the ledger needs 6.1 or later");
	}
	names->has_socket = args > 4;
	take_reasons(btf, btf__type_by_id(btf, (__u32)id), names);
	btf__free(btf);
	names->symbols = fopen("/proc/kallsyms", "re");
	return 0;
}

static int place_of(struct xsf_ledger_names *names, uint64_t location)
{
	for (uint32_t n = 0; n < names->nr_places; n++) {
		if (names->place[n].location == location)
			return (int)n;
	}
	if (names->nr_places == XSF_LEDGER_PLACES)
		return -1;
	names->place[names->nr_places].location = location;
	return (int)names->nr_places++;
}

/* Symbols of modules come after the kernel's, so all are read. */
static void look_up(struct xsf_ledger_names *names)
{
	FILE *file = names->symbols;
	char line[512], *name;
	uint64_t address;

	if (!file)
		return;
	rewind(file);
	for (uint32_t lines = 0; lines < MAX_SYMBOLS && fgets(line, sizeof(line), file); lines++) {
		/* "ffffffff820427c0 t first_packet_length", in a module "\t[name]" behind it */
		address = strtoull(line, &name, 16);
		if (strlen(name) < 4)
			continue;
		name += 3;
		name[strcspn(name, " \t\n")] = 0;
		for (uint32_t n = names->nr_asked; n < names->nr_places; n++) {
			uint64_t location = names->place[n].location;

			/* No function is longer than 1 MB: what is farther is not in it. */
			if (address > location || address <= names->place[n].start ||
			    location - address > 1 << 20)
				continue;
			names->place[n].start = address;
			snprintf(names->place[n].name, XSF_LEDGER_NAME, "%.*s", XSF_LEDGER_NAME - 1,
				 name);
		}
	}
	names->nr_asked = names->nr_places;
}

void xsf_ledger_names_close(struct xsf_ledger_names *names)
{
	if (names->symbols)
		fclose(names->symbols);
	names->symbols = NULL;
}

static int is_drop(const struct xsf_ledger_row *row)
{
	return row->key.event == XSF_LEDGER_DROP || row->key.event == XSF_LEDGER_DROP_AFTER;
}

void xsf_ledger_names_fill(struct xsf_ledger_names *names, struct xsf_ledger_row *rows, uint32_t nr)
{
	for (uint32_t n = 0; n < nr; n++) {
		if (is_drop(&rows[n]))
			place_of(names, rows[n].key.location);
	}
	if (names->nr_asked < names->nr_places)
		look_up(names);
	for (uint32_t n = 0; n < nr; n++) {
		uint32_t reason = rows[n].key.reason;
		int place;

		if (!is_drop(&rows[n]))
			continue;
		if (reason < XSF_LEDGER_REASONS && names->reason[reason][0])
			memcpy(rows[n].reason, names->reason[reason], XSF_LEDGER_NAME);
		else /* of a subsystem, above 65535 */
			snprintf(rows[n].reason, XSF_LEDGER_NAME, "%" PRIu32, reason);
		place = place_of(names, rows[n].key.location);
		if (place >= 0)
			memcpy(rows[n].where, names->place[place].name, XSF_LEDGER_NAME);
	}
}
