// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/doctor.h"

#include "serve/json_write.h"

/* Width of the columns before the text. */
#define LEVEL_WIDTH 8
#define CHECK_WIDTH 13

static void padded(struct xsf_text *t, const char *s, size_t width)
{
	xsf_text_str(t, s);
	for (size_t n = strlen(s); n < width; n++)
		xsf_text_char(t, ' ');
}

/* One line, whatever a name in it holds. */
static void printable(struct xsf_text *t, const char *s)
{
	for (; *s; s++)
		xsf_text_char(t, (unsigned char)*s < ' ' || *s == 127 ? '?' : *s);
}

void xsf_doctor_text(const struct xsf_diagnosis *d, struct xsf_text *t)
{
	for (uint32_t n = 0; n < d->nr; n++) {
		const struct xsf_finding *found = &d->row[n];

		padded(t, xsf_level_name(found->level), LEVEL_WIDTH);
		padded(t, found->check, CHECK_WIDTH);
		printable(t, found->text);
		if (found->mend[0]) {
			XSF_TEXT_LIT(t, "; to mend: ");
			printable(t, found->mend);
		}
		xsf_text_char(t, '\n');
	}
	for (int level = 0; level < XSF_LEVELS; level++) {
		if (level)
			XSF_TEXT_LIT(t, ", ");
		xsf_text_u64(t, d->count[level]);
		xsf_text_char(t, ' ');
		xsf_text_str(t, xsf_level_name((enum xsf_level)level));
	}
	xsf_text_char(t, '\n');
}

/* Longer than XSF_NAME_LEN, so in pieces; no piece ends inside a character of several bytes. */
static void json_text(struct xsf_writer *w, const char *key, const char *s)
{
	size_t left = strlen(s), n;

	xsf_json_key(w, key);
	xsf_text_char(w->t, '"');
	for (; left; s += n, left -= n) {
		n = left < XSF_NAME_LEN ? left : XSF_NAME_LEN;
		while (n > XSF_NAME_LEN - 4 && n < left && ((unsigned char)s[n] & 0xc0) == 0x80)
			n--;
		xsf_text_name(w->t, (const uint8_t *)s, n);
	}
	xsf_text_char(w->t, '"');
	w->comma = 1;
}

void xsf_doctor_json(const char *iface, const struct xsf_diagnosis *d, struct xsf_text *t)
{
	struct xsf_writer w = { .t = t };

	xsf_text_char(t, '{');
	json_text(&w, "interface", iface);
	for (int level = 0; level < XSF_LEVELS; level++)
		xsf_json_u64(&w, xsf_level_name((enum xsf_level)level), d->count[level]);
	xsf_json_open_at(&w, "checks", '[');
	for (uint32_t n = 0; n < d->nr; n++) {
		const struct xsf_finding *found = &d->row[n];

		xsf_json_open_at(&w, NULL, '{');
		xsf_json_str(&w, "check", found->check);
		xsf_json_str(&w, "level", xsf_level_name(found->level));
		json_text(&w, "text", found->text);
		if (found->mend[0])
			json_text(&w, "mend", found->mend);
		xsf_json_shut(&w, '}');
	}
	xsf_json_shut(&w, ']');
	xsf_json_shut(&w, '}');
	xsf_text_char(t, '\n');
}
