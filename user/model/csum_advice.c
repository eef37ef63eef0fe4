// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What to repair, as a command. The audit counts ports and sources apart: which of a source's datagrams went
 * to which port is not known, so whom a command repairs is told by naming sources. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/csum.h"
#include "model/snapshot.h"

/* An interface's name in quotes. */
#define NAME_TEXT 64

struct plan {
	const struct xsf_csum *c;
	const struct xsf_csum_attached *a;
	const struct xsf_csum_address *missed[XSF_CSUM_ADVISED]; /* chips, not repaired */
	uint32_t nr_missed;					 /* also those beyond the array */
	const struct xsf_csum_address
		*beside; /* first of those, not chips, that it repairs as well */
	uint32_t nr_beside;
	uint64_t noise; /* not repaired, of sources that are not known for chips */
	int others;	/* some source is known not to be a chip, or not known */
	int anybody;	/* sources cannot be named: all are repaired now */
};

static uint64_t observed(const struct xsf_csum_counts *c)
{
	return c->observed_wrong + c->observed_zero;
}

static int is_other(const struct xsf_csum_address *s)
{
	enum xsf_csum_verdict v = xsf_csum_verdict(&s->counts);

	return v == XSF_CSUM_LINE || v == XSF_CSUM_UNCLEAR;
}

/* Does the policy name it, or everybody? */
static int in_force_for(const struct plan *p, const uint8_t addr[16])
{
	return p->anybody || xsf_csum_from_has(p->a, addr);
}

static void look(struct plan *p)
{
	const struct xsf_csum *c = p->c;

	p->anybody = !p->a->policy.nr_prefixes && !strcmp(xsf_csum_mode(p->a), "repair");
	p->noise = observed(&c->totals.other_sources);
	p->others = p->noise != 0;
	for (uint32_t n = 0; n < c->nr_sources; n++) {
		const struct xsf_csum_address *s = &c->sources[n];

		if (xsf_csum_verdict(&s->counts) != XSF_CSUM_CHIP)
			p->noise += observed(&s->counts);
		if (!is_other(s))
			continue;
		p->others = 1;
		if (!in_force_for(p, s->addr))
			continue;
		if (!p->nr_beside++)
			p->beside = s;
	}
}

/* A watched port that wrong checksums came to which are to be repaired. Where that would repair others than
 * chips as well, only one for which chips alone can account. */
static int is_candidate(const struct plan *p, const struct xsf_csum_watch *w)
{
	const struct xsf_csum_port *row = &p->c->ports[w->row % XSF_CSUM_PORTS];

	return row->port == w->port && !w->repair &&
	       observed(&row->counts) > (p->anybody || p->nr_beside ? p->noise : 0);
}

static int misses(const struct plan *p, const struct xsf_csum_address *s)
{
	if (!observed(&s->counts))
		return 0;
	for (int n = 0; n < XSF_MAX_PORTS && p->a->policy.watch[n].port; n++) {
		const struct xsf_csum_watch *w = &p->a->policy.watch[n];
		const struct xsf_csum_port *row = &p->c->ports[w->row % XSF_CSUM_PORTS];

		if (is_candidate(p, w) || (w->repair && row->port == w->port &&
					   observed(&row->counts) && !in_force_for(p, s->addr)))
			return 1;
	}
	return 0;
}

static void find_missed(struct plan *p)
{
	for (uint32_t n = 0; n < p->c->nr_sources; n++) {
		const struct xsf_csum_address *s = &p->c->sources[n];

		if (xsf_csum_verdict(&s->counts) != XSF_CSUM_CHIP || !misses(p, s))
			continue;
		if (p->nr_missed < XSF_CSUM_ADVISED)
			p->missed[p->nr_missed] = s;
		p->nr_missed++;
	}
}

/* ---- text ---- */

struct command {
	char *buf;
	size_t len;
	size_t max;
};

static void add(struct command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct command *c, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(c->buf + c->len, c->max - c->len, format, args);
	va_end(args);
	if (len > 0)
		c->len += (size_t)len < c->max - c->len ? (size_t)len : c->max - c->len - 1;
}

/* As a shell takes it. -1: it does not fit, or holds what no terminal should be sent. */
static int word(const char *text, char *buf, size_t max)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._@:%+=,/-";
	struct command c = { .buf = buf, .max = max };
	size_t needed = 3; /* two quotes and the end */

	for (const char *p = text; *p; p++) {
		if (*p < ' ' || *p > '~')
			return -1;
		needed += *p == '\'' ? 4 : 1;
	}
	if (!*text || needed > max)
		return -1;
	if (!text[strspn(text, plain)]) {
		add(&c, "%s", text);
		return 0;
	}
	add(&c, "'");
	for (const char *p = text; *p; p++) {
		if (*p == '\'')
			add(&c, "'\\''");
		else
			add(&c, "%c", *p);
	}
	add(&c, "'");
	return 0;
}

/* "" for the default directory. -1: it cannot be written. */
static int maps_option(const char *maps, char buf[XSF_CSUM_ADVICE_DIR + 16])
{
	char dir[XSF_CSUM_ADVICE_DIR + 1];

	buf[0] = 0;
	if (!maps)
		return 0;
	if (word(maps, dir, sizeof(dir)))
		return -1;
	snprintf(buf, XSF_CSUM_ADVICE_DIR + 16, " --maps %s", dir);
	return 0;
}

const char *xsf_csum_show(const char *ifname, const char *maps, char buf[XSF_CSUM_SHOW])
{
	char name[NAME_TEXT], option[XSF_CSUM_ADVICE_DIR + 16];
	int named = ifname[0] && !word(ifname, name, sizeof(name));

	if (maps_option(maps, option))
		snprintf(option, sizeof(option), " --maps DIR");
	/* A name like an option comes behind them. */
	snprintf(buf, XSF_CSUM_SHOW, "xdp-sflow repair show%s%s%s", option,
		 !named		  ? "" :
		 ifname[0] == '-' ? " -- " :
				    " ",
		 named ? name : "");
	return buf;
}

static void add_from(struct command *c, const struct xsf_prefix_key *p)
{
	char text[XSF_CSUM_PREFIX_TEXT];

	add(c, " --repair-from %s", xsf_csum_prefix_text(p, text));
}

/* The ports; returns how many. `more`: candidates as well. */
static int add_ports(struct command *c, const struct plan *p, int more,
		     uint16_t ports[XSF_MAX_PORTS])
{
	int nr = 0;

	for (int n = 0; n < XSF_MAX_PORTS && p->a->policy.watch[n].port; n++) {
		const struct xsf_csum_watch *w = &p->a->policy.watch[n];

		if (!w->repair && !(more && is_candidate(p, w)))
			continue;
		add(c, "%s%u", nr ? "," : " --repair ", w->port);
		ports[nr++] = w->port;
	}
	return nr;
}

static void warn(const struct plan *p, struct xsf_csum_advice *out)
{
	struct command c = { .buf = out->warning, .max = sizeof(out->warning) };
	char address[XSF_ADDRESS_TEXT];
	int more = 0;

	for (int n = 0; n < XSF_MAX_PORTS && p->a->policy.watch[n].port; n++)
		more |= is_candidate(p, &p->a->policy.watch[n]);
	if (!more || (!p->nr_beside && !(p->anybody && p->others)))
		return;
	if (!p->nr_beside) {
		add(&c, "also repairs sources that found no place in the table");
		return;
	}
	add(&c, "also repairs %s, %s", xsf_address_text(p->beside->addr, address),
	    xsf_csum_verdict(&p->beside->counts) == XSF_CSUM_LINE ? "a line" : "unclear");
	if (p->nr_beside > 1)
		add(&c, ", and %u other source%s not known for chips", p->nr_beside - 1,
		    p->nr_beside == 2 ? "" : "s");
}

/* The sources of the new policy. 0: they cannot be named and must be. */
static int add_sources(struct command *c, const struct plan *p)
{
	uint32_t in_force = p->a->nr_from, nr = p->nr_missed;

	if (p->anybody)
		return 1;
	if (in_force + nr > XSF_CSUM_ADVISED && !p->others)
		return 1;
	/* The next ones follow once these are repaired. */
	if (nr > XSF_CSUM_ADVISED)
		nr = XSF_CSUM_ADVISED;
	if (in_force + nr > XSF_CSUM_NAMED) {
		if (in_force >= XSF_CSUM_NAMED)
			return 0;
		nr = XSF_CSUM_NAMED - in_force;
	}
	for (uint32_t n = 0; n < in_force; n++)
		add_from(c, &p->a->from[n]);
	for (uint32_t n = 0; n < nr; n++) {
		struct xsf_prefix_key key = { .prefixlen = 128 };

		memcpy(key.addr, p->missed[n]->addr, sizeof(key.addr));
		add_from(c, &key);
	}
	return 1;
}

static void put_in_force(const struct plan *p, struct xsf_csum_advice *out)
{
	struct command c = { .buf = out->options, .max = sizeof(out->options) };
	uint16_t ignored[XSF_MAX_PORTS];

	memset(out->options, 0, sizeof(out->options));
	if (!add_ports(&c, p, 0, ignored) || p->a->nr_from > XSF_CSUM_NAMED)
		return;
	for (uint32_t n = 0; n < p->a->nr_from; n++)
		add_from(&c, &p->a->from[n]);
}

size_t xsf_csum_advice(const struct xsf_csum *c, const struct xsf_csum_attached *a,
		       struct xsf_csum_advice *out)
{
	struct command options = { .buf = out->options, .max = sizeof(out->options) };
	struct command command = { .buf = out->command, .max = sizeof(out->command) };
	char name[NAME_TEXT], maps[XSF_CSUM_ADVICE_DIR + 16];
	struct plan p = { .c = c, .a = a };

	memset(out, 0, sizeof(*out));
	/* From here a command cannot reach what is elsewhere. */
	if (!a->policy_known || !a->policy.set || a->nr_from < a->policy.nr_prefixes ||
	    !strcmp(a->how, "elsewhere"))
		return 0;
	look(&p);
	find_missed(&p);
	if (!p.nr_missed || word(a->ifname, name, sizeof(name)) || maps_option(c->maps, maps) ||
	    !add_ports(&options, &p, 1, out->ports) || !add_sources(&options, &p)) {
		memset(out->ports, 0, sizeof(out->ports));
		put_in_force(&p, out);
		return 0;
	}
	warn(&p, out);
	memcpy(out->first, p.missed[0]->addr, sizeof(out->first));
	out->nr_sources = p.nr_missed;
	if (a->ifname[0] == '-')
		add(&command, "xdp-sflow repair set%s%s -- %s", out->options, maps, name);
	else
		add(&command, "xdp-sflow repair set %s%s%s", name, out->options, maps);
	return command.len;
}
