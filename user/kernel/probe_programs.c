// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* XDP programs and tc filters that are on the interface already. */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel/attach.h"
#include "kernel/csum_maps.h"
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

static void keep(struct xsf_facts *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds to what a load again must name. */
static void keep(struct xsf_facts *f, const char *format, ...)
{
	size_t len = strlen(f->kept);
	va_list args;
	int more;

	va_start(args, format);
	more = vsnprintf(f->kept + len, sizeof(f->kept) - len, format, args);
	va_end(args);
	if (more < 0 || len + (size_t)more >= sizeof(f->kept))
		f->kept_whole = 0;
}

/* The options of our XDP program. */
static void keep_options(const char *dir, const struct xsf_config *config, struct xsf_facts *f)
{
	const uint64_t second = 1000000000, usual = 600 * second; /* the object's, maps.bpf.h */

	/* The prefixes are not listed here. */
	f->kept_whole = !(config->flags & (XSF_F_ALLOW_LIST | XSF_F_DROP_DENIED));
	memcpy(f->kept_ports, config->ports, sizeof(f->kept_ports));
	if (config->flags & XSF_F_CONSUME)
		keep(f, " --consume");
	if (config->flags & XSF_F_DROP_DUPLICATES)
		keep(f, " --drop-duplicates");
	if (config->stale_ns && config->stale_ns != usual)
		keep(f, " --stale %" PRIu64, (uint64_t)(config->stale_ns / second));
	if (strcmp(dir, xsf_pins_default()) != 0)
		keep(f, " --maps %s", dir);
}

/* What our tc program does here, and what it leaves to be done. */
static void probe_csum(const char *dir, const struct xsf_if *i, struct xsf_facts *f)
{
	const struct xsf_csum_attached *a = NULL;
	struct xsf_csum_maps *maps = NULL;
	static struct xsf_csum_advice advice;
	char show[XSF_CSUM_SHOW];
	struct xsf_csum c;

	if (xsf_csum_maps_read(&maps, dir, 1, &c) || !c.present)
		goto out;
	for (uint32_t n = 0; n < c.nr_attached; n++) {
		if (c.attached[n].ifindex == i->ifindex &&
		    strcmp(c.attached[n].how, "elsewhere") != 0)
			a = &c.attached[n];
	}
	if (!a)
		goto out;
	copy_text(f->csum_how, sizeof(f->csum_how), a->how);
	copy_text(f->csum_mode, sizeof(f->csum_mode), xsf_csum_mode(a));
	if (xsf_csum_advice(&c, a, &advice)) {
		f->csum_chips = advice.nr_sources;
		memcpy(f->csum_chip, advice.first, sizeof(f->csum_chip));
		for (uint32_t n = 0; n < c.nr_sources; n++) {
			if (!memcmp(c.sources[n].addr, advice.first, sizeof(advice.first)))
				xsf_csum_says(&c.sources[n].counts, f->csum_says);
		}
		copy_text(f->csum_mend, sizeof(f->csum_mend),
			  strlen(advice.command) < sizeof(f->csum_mend) ?
				  advice.command :
				  xsf_csum_show(i->name, c.maps, show));
	}
	if (f->holder == XSF_XDP_OURS)
		keep(f, "%s", advice.options);
out:
	xsf_csum_maps_free(maps);
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
		keep_options(dir, &config, f);
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
	probe_csum(dir, i, f);
}
