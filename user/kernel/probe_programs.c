// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* XDP programs and tc filters that are on the interface already. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel/attach.h"
#include "kernel/load.h"
#include "kernel/probe.h"
#include "kernel/tc.h"

/* enum bpf_attach_type of kernels from 6.6 on. */
#define TCX_INGRESS 46

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%.*s", (int)size - 1, from);
}

/* The command within the line that says why load refuses. */
static void take_removal(const char *line, struct xsf_facts *f)
{
	static const char before[] = "remove it with: ";
	const char *at = strstr(line, before);
	char *end;

	if (!at)
		return;
	copy_text(f->removal, sizeof(f->removal), at + sizeof(before) - 1);
	end = strstr(f->removal, "; or ");
	if (end)
		*end = 0;
}

static void describe(const char *dir, const struct xsf_if *i, struct xsf_facts *f, uint16_t *ours)
{
	static const enum xsf_xdp_holder holders[] = {
		[XSF_FREE] = XSF_XDP_NOBODY,	       [XSF_OURS] = XSF_XDP_OURS,
		[XSF_OURS_LIBXDP] = XSF_XDP_OURS,      [XSF_OURS_BARE] = XSF_XDP_BY_HAND,
		[XSF_DISPATCHER] = XSF_XDP_DISPATCHER, [XSF_FOREIGN] = XSF_XDP_FOREIGN,
	};
	struct xsf_place place;
	struct xsf_config config;
	struct xsf_why why = { "" };
	int err = xsf_place_look(dir, i, &place, &why);

	if (err) {
		f->holder = err;
		return;
	}
	f->holder = holders[place.occupant];
	copy_text(f->prog_name, sizeof(f->prog_name), place.prog.name);
	f->frags = !!strstr(place.prog.name, "_frags");
	if (place.prog.id)
		f->prog_id = place.prog.id;
	if (place.occupant == XSF_OURS && place.elsewhere[0]) {
		f->holder = XSF_XDP_ELSEWHERE;
		copy_text(f->elsewhere, sizeof(f->elsewhere), place.elsewhere);
	}
	if (f->holder == XSF_XDP_OURS && !xsf_prog_config(&place.prog, &config)) {
		f->consume = !!(config.flags & XSF_F_CONSUME);
		memcpy(ours, config.ports, sizeof(config.ports));
	}
	if (f->holder == XSF_XDP_BY_HAND || f->holder == XSF_XDP_FOREIGN) {
		xsf_place_refuse(&place, i, &why);
		take_removal(why.text, f);
	}
	xsf_place_close(&place);
}

/* Would load refuse for another reason than the XDP program there? */
static void refusal(const char *dir, const struct xsf_if *i, struct xsf_facts *f)
{
	struct xsf_load_options o = { .dir = dir };
	struct xsf_why why;
	int err;

	if (f->holder != XSF_XDP_NOBODY && f->holder != XSF_XDP_OURS &&
	    f->holder != XSF_XDP_DISPATCHER)
		return;
	err = xsf_load_check(&o, i->name, &why);
	if (err == -EBUSY || err == -EXDEV ||
	    (err == -EPROTO && f->pinned != XSF_PINS_OTHER_LAYOUT))
		copy_text(f->refusal, sizeof(f->refusal), why.text);
}

static int is_ours(const struct xsf_tc_filter *t)
{
	struct xsf_prog_info prog;
	int fd, ours;

	if (strcmp(t->kind, "bpf"))
		return 0;
	fd = t->prog_id ? bpf_prog_get_fd_by_id(t->prog_id) : -1;
	if (fd < 0) /* no right to ask: by its name, or as tc names an object's */
		return strstr(t->name, "xsf_") || strstr(t->name, "csum6");
	ours = !xsf_prog_info(fd, &prog) && !strncmp(prog.name, "xsf_", 4);
	close(fd);
	return ours;
}

static void take_filter(const struct xsf_tc_filter *t, struct xsf_facts *f)
{
	struct xsf_doctor_filter *row = f->nr_filters ? &f->filter[f->nr_filters - 1] : NULL;

	/* Filters are in the order of their preferences. */
	if (!row || row->pref != t->pref) {
		f->filters++;
		if (f->nr_filters == XSF_DOCTOR_FILTERS)
			return;
		row = &f->filter[f->nr_filters++];
		memset(row, 0, sizeof(*row));
		row->pref = t->pref;
		copy_text(row->kind, sizeof(row->kind), t->kind);
	}
	if (t->name[0])
		copy_text(row->name, sizeof(row->name), t->name);
	row->ours |= is_ours(t);
	if (t->ends == 1)
		row->ends = XSF_ENDS_YES;
	else if (t->ends < 0 && row->ends == XSF_ENDS_NO)
		row->ends = XSF_ENDS_PERHAPS;
}

static void probe_filters(const struct xsf_if *i, struct xsf_facts *f)
{
	struct xsf_tc tc;
	int err = xsf_tc_get(i->ifindex, &tc);

	f->our_pref = XSF_TC_PREF;
	if (err) {
		f->filters = err;
		return;
	}
	for (uint32_t n = 0; n < tc.nr; n++) {
		if (!tc.row[n].chain)
			take_filter(&tc.row[n], f);
	}
	xsf_tc_free(&tc);
}

static xsf_fact_t probe_tcx(const struct xsf_if *i)
{
	LIBBPF_OPTS(bpf_prog_query_opts, opts);

	/* The kernel has the interface's number in the descriptor's place. */
	if (bpf_prog_query_opts((int)i->ifindex, TCX_INGRESS, &opts))
		return errno == EINVAL ? XSF_NO_FACT : -errno;
	return opts.prog_cnt;
}

void xsf_probe_programs(const char *dir, const struct xsf_if *i, struct xsf_facts *f,
			uint16_t *ours)
{
	f->prog_id = i->xdp_prog;
	copy_text(f->mode, sizeof(f->mode), xsf_xdp_mode_name(i->xdp_mode));
	describe(dir, i, f, ours);
	refusal(dir, i, f);
	probe_filters(i, f);
	f->tcx = probe_tcx(i);
}
