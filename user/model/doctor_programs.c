// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* XDP programs and tc filters that are there already, and loading again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xsf/sflow.h>

#include "model/doctor_find.h"
#include "model/snapshot.h"

/* Those that load takes when it is told none. */
static int are_default(const uint16_t *ports)
{
	return ports[0] == SFLOW_PORT && !ports[1];
}

const char *xsf_doctor_load(const struct xsf_facts *f, const char *more, const uint16_t *ports,
			    char buf[XSF_DOCTOR_LOAD])
{
	int ours = f->holder == XSF_XDP_OURS;
	char word[XSF_WORD_LEN];
	size_t len;

	buf[0] = 0;
	if (ours && !f->kept_whole)
		return buf;
	if (!ports && ours && !are_default(f->kept_ports))
		ports = f->kept_ports;
	len = (size_t)snprintf(buf, XSF_DOCTOR_LOAD, "xdp-sflow load %s%s",
			       xsf_doctor_word(f->iface, word), more);
	for (int n = 0; ports && n < XSF_MAX_PORTS && ports[n] && len < XSF_DOCTOR_LOAD; n++)
		len += (size_t)snprintf(buf + len, XSF_DOCTOR_LOAD - len, "%s%u",
					n ? "," : " --port ", ports[n]);
	if (ours && len < XSF_DOCTOR_LOAD)
		len += (size_t)snprintf(buf + len, XSF_DOCTOR_LOAD - len, "%s", f->kept);
	if (len >= XSF_DOCTOR_LOAD)
		buf[0] = 0;
	return buf;
}

static void xdp(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	const char *name = f->prog_name[0] ? f->prog_name : "a program without a name";
	char word[XSF_WORD_LEN];
	const char *iface = xsf_doctor_word(f->iface, word);

	if (f->holder < 0) {
		char what[64];

		snprintf(what, sizeof(what), "whose the XDP program is (id %" PRIu32 ", %.15s)",
			 f->prog_id, f->mode);
		xsf_find_unknown(d, f, "xdp", what, f->holder);
		return;
	}
	switch ((enum xsf_xdp_holder)f->holder) {
	case XSF_XDP_NOBODY:
		xsf_find(d, "xdp", XSF_LEVEL_OK, "no XDP program is attached");
		break;
	case XSF_XDP_OURS:
		xsf_find(d, "xdp", XSF_LEVEL_OK, "%s (id %" PRIu32 ", %s, %s) counts here", name,
			 f->prog_id, f->mode, f->consume ? "consume" : "pass");
		break;
	case XSF_XDP_ELSEWHERE:
		xsf_mend(xsf_find(d, "xdp", XSF_LEVEL_WARN,
				  "%s (id %" PRIu32 ") counts into another pin directory, %s", name,
				  f->prog_id, f->elsewhere),
			 "xdp-sflow doctor %s --maps %s", iface, f->elsewhere);
		break;
	case XSF_XDP_BY_HAND:
		xsf_mend(xsf_find(d, "xdp", XSF_LEVEL_WARN,
				  "%s (id %" PRIu32
				  ") was attached by hand (ip, bpftool): it counts; load "
				  "cannot replace it",
				  name, f->prog_id),
			 "%s", f->removal);
		break;
	case XSF_XDP_DISPATCHER:
		xsf_find(d, "xdp", XSF_LEVEL_OK,
			 "libxdp's dispatcher (id %" PRIu32 "): load attaches beside its programs",
			 f->prog_id);
		break;
	case XSF_XDP_FOREIGN:
		if (f->prog_id)
			xsf_mend(xsf_find(d, "xdp", XSF_LEVEL_FAIL,
					  "another's program, %s (id %" PRIu32
					  ", %s), has the place: "
					  "remove it, or attach beside it (load --share)",
					  name, f->prog_id, f->mode),
				 "%s", f->removal);
		else
			xsf_mend(
				xsf_find(d, "xdp", XSF_LEVEL_FAIL,
					 "XDP programs of several modes are attached"),
				"ip link set dev %s xdp off; ip link set dev %s xdpoffload off; ip "
				"link set dev %s xdpgeneric off",
				iface, iface, iface);
		break;
	}
}

/* The command within a line of load's. */
static int command_of(const char *line, char *out, size_t size)
{
	static const char *const commands[] = { "xdp-sflow unload ", "tc filter del " };

	for (size_t n = 0; n < sizeof(commands) / sizeof(commands[0]); n++) {
		const char *at = strstr(line, commands[n]);

		if (!at)
			continue;
		snprintf(out, size, "%.*s", (int)strcspn(at, ";"), at);
		return 1;
	}
	return 0;
}

/* What load would refuse for other reasons: a program on the interface above or below, its tc filter. */
static void refused(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	char command[256], load[XSF_DOCTOR_LOAD];
	struct xsf_finding *found;

	if (!f->refusal[0])
		return;
	found = xsf_find(d, "load", XSF_LEVEL_FAIL, "it would be refused: %s", f->refusal);
	if (command_of(f->refusal, command, sizeof(command)))
		xsf_mend(found, "%s", command);
	else if (strstr(f->refusal, "--no-checksum"))
		xsf_mend(found, "%s", xsf_doctor_load(f, " --no-checksum", NULL, load));
}

static const char *filter_name(const struct xsf_doctor_filter *t, char buf[96])
{
	snprintf(buf, 96, "%s%s%.64s", t->kind[0] ? t->kind : "filter", t->name[0] ? " " : "",
		 t->name);
	return buf;
}

static const char *csum_does(const struct xsf_facts *f)
{
	if (!strcmp(f->csum_mode, "observe"))
		return "observes";
	if (!strcmp(f->csum_mode, "repair") || !strcmp(f->csum_mode, "default"))
		return "repairs";
	return "is there";
}

/* Who sends wrong checksums, of which nobody but the kernel's counters would speak. */
static void checksum(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	char address[XSF_ADDRESS_TEXT], more[48] = "";

	if (!f->csum_mode[0] || !strcmp(f->csum_mode, "unknown"))
		return;
	if (!f->csum_chips) {
		xsf_find(d, "checksum", XSF_LEVEL_OK,
			 "no source of IPv6 is always wrong and not repaired");
		return;
	}
	if (f->csum_chips > 1)
		snprintf(more, sizeof(more), ", and %" PRIu32 " more", f->csum_chips - 1);
	xsf_mend(xsf_find(d, "checksum", XSF_LEVEL_WARN,
			  "wrong UDP checksums are not repaired, the kernel drops them: %s (%s)%s",
			  xsf_address_text(f->csum_chip, address), f->csum_says, more),
		 "%s", f->csum_mend);
}

static void tc(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	const struct xsf_doctor_filter *ours = NULL, *before = NULL;
	char word[XSF_WORD_LEN], name[96];
	const char *iface = xsf_doctor_word(f->iface, word);
	uint32_t pref;

	if (f->filters < 0) {
		xsf_find_unknown(d, f, "tc", "filters at ingress", f->filters);
		return;
	}
	for (uint32_t n = 0; n < f->nr_filters && !ours; n++) {
		if (f->filter[n].ours)
			ours = &f->filter[n];
	}
	pref = ours ? ours->pref : f->our_pref;
	/* The worst of those that run first. */
	for (uint32_t n = 0; n < f->nr_filters; n++) {
		const struct xsf_doctor_filter *t = &f->filter[n];

		if (t->ours || t->pref >= pref || t->ends == XSF_ENDS_NO)
			continue;
		if (!before || (t->ends == XSF_ENDS_YES && before->ends != XSF_ENDS_YES))
			before = t;
	}
	if (before && before->ends == XSF_ENDS_YES)
		xsf_mend(xsf_find(d, "tc", ours ? XSF_LEVEL_FAIL : XSF_LEVEL_WARN,
				  "%s at preference %" PRIu32
				  " ends the chain: what it matches does not "
				  "reach the checksum program at %" PRIu32,
				  filter_name(before, name), before->pref, pref),
			 "tc filter del dev %s ingress pref %" PRIu32, iface, before->pref);
	else if (before)
		xsf_mend(xsf_find(d, "tc", XSF_LEVEL_WARN,
				  "%s at preference %" PRIu32
				  " runs before the checksum program at %" PRIu32
				  " and may end the chain: it must end with \"next\" (-1) for "
				  "telemetry",
				  filter_name(before, name), before->pref, pref),
			 "tc filter show dev %s ingress", iface);
	else if (ours && !strcmp(f->csum_how, "abandoned"))
		xsf_mend(xsf_find(d, "tc", XSF_LEVEL_WARN,
				  "the checksum program at preference %" PRIu32
				  " was left by a load --confirm that was killed",
				  pref),
			 "xdp-sflow unload %s", iface);
	else if (ours)
		xsf_find(d, "tc", XSF_LEVEL_OK,
			 "the checksum program at preference %" PRIu32 " %s; %" PRId64
			 " preference(s) in use at ingress",
			 pref, csum_does(f), f->filters);
	else if (f->filters)
		xsf_find(d, "tc", XSF_LEVEL_OK,
			 "%" PRId64
			 " preference(s) in use at ingress, none in the way of ours (%" PRIu32 ")",
			 f->filters, pref);
	else
		xsf_find(d, "tc", XSF_LEVEL_OK, "no filters at ingress");
	if (f->tcx > 0)
		xsf_mend(xsf_find(d, "tcx", XSF_LEVEL_WARN,
				  "%" PRId64
				  " program(s) attached by tcx run before every filter and may "
				  "end the chain",
				  f->tcx),
			 "bpftool net show dev %s", iface);
}

void xsf_diagnose_programs(const struct xsf_facts *f, struct xsf_diagnosis *d)
{
	xdp(f, d);
	refused(f, d);
	tc(f, d);
	checksum(f, d);
}
