// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables of notifications by place, reason and flow: drawn on a terminal, one of them at a time; else all,
 * as text. */
#include <curses.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cmd/drops.h"
#include "model/event_top.h"
#include "serve/event_text.h"

#define TABLES 3
#define ROWS 20 /* of each table that is not on a terminal */

static const char *const titles[TABLES] = { "PLACE", "REASON", "FLOW" };
static const char keys[TABLES] = { 'p', 'r', 'f' };

struct xsf_drops_top {
	struct xsf_drops_out *out;
	struct xsf_top *table[TABLES];
	SCREEN *screen; /* NULL: no terminal */
	int shown;	/* of the tables */
	uint64_t total;
	uint64_t shed;
};

static void open_screen(struct xsf_drops_top *top)
{
	setlocale(LC_CTYPE, "");
	top->screen = newterm(NULL, stdout, stdin);
	if (!top->screen)
		return;
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
}

struct xsf_drops_top *xsf_drops_top_open(struct xsf_drops_out *out, int live)
{
	struct xsf_drops_top *top = calloc(1, sizeof(*top));
	uint64_t seed = 0;

	if (!top)
		return NULL;
	top->out = out;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uint64_t)getpid();
	for (int i = 0; i < TABLES; i++) {
		top->table[i] = xsf_top_new(seed + (uint64_t)i);
		if (!top->table[i]) {
			xsf_drops_top_close(top);
			return NULL;
		}
	}
	if (live && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		open_screen(top);
	return top;
}

void xsf_drops_top_close(struct xsf_drops_top *top)
{
	if (!top)
		return;
	if (top->screen) {
		endwin();
		delscreen(top->screen);
	}
	for (int i = 0; i < TABLES; i++)
		xsf_top_free(top->table[i]);
	free(top);
}

static void add(struct xsf_top *table,
		void (*key)(struct xsf_text *t, const struct xsf_event_view *v),
		const struct xsf_event_view *v)
{
	char buf[XSF_EVENT_LINE];
	struct xsf_text t = { .buf = buf, .max = sizeof(buf) };

	key(&t, v);
	xsf_top_add(table, buf, t.len);
}

void xsf_drops_top_add(struct xsf_drops_top *top, const struct xsf_event_view *v)
{
	add(top->table[0], xsf_event_text_place, v);
	xsf_top_add(top->table[1], v->reason, strlen(v->reason));
	add(top->table[2], xsf_event_text_flow, v);
	top->total++;
}

/* The figures first: a key may be cut, they may not. */
static void row(struct xsf_text *t, const struct xsf_top_row *r)
{
	char figures[64];

	snprintf(figures, sizeof(figures), "%12.1f %12" PRIu64 "  ", r->rate, r->total);
	xsf_text_str(t, figures);
	xsf_text_str(t, r->key ? r->key : "other");
}

static void head(struct xsf_text *t, int table)
{
	char line[64];

	snprintf(line, sizeof(line), "%12s %12s  %s", "DROPS/S", "TOTAL", titles[table]);
	xsf_text_str(t, line);
}

static void draw_line(int y, const struct xsf_text *t)
{
	mvaddnstr(y, 0, t->buf, (int)(t->len < (size_t)COLS ? t->len : (size_t)COLS));
}

static void draw(struct xsf_drops_top *top)
{
	char buf[XSF_TOP_KEY + 64];
	struct xsf_text t = { .buf = buf, .max = sizeof(buf) };
	const struct xsf_top_row *rows;
	uint32_t nr = xsf_top_rows(top->table[top->shown], &rows);

	erase();
	t.len = (size_t)snprintf(buf, sizeof(buf),
				 "%" PRIu64 " drops, %" PRIu64
				 " more shed; p place, r reason, f flow, q end",
				 top->total, top->shed);
	draw_line(0, &t);
	t.len = 0;
	head(&t, top->shown);
	attron(A_REVERSE);
	draw_line(1, &t);
	attroff(A_REVERSE);
	for (uint32_t i = 0; i < nr && (int)i + 2 < LINES; i++) {
		t.len = 0;
		row(&t, &rows[i]);
		draw_line((int)i + 2, &t);
	}
	refresh();
}

/* The same as text; the caller writes it. */
static void print(struct xsf_drops_top *top)
{
	struct xsf_text *t = &top->out->text;

	for (int table = 0; table < TABLES; table++) {
		const struct xsf_top_row *rows;
		uint32_t nr = xsf_top_rows(top->table[table], &rows);

		head(t, table);
		xsf_text_char(t, '\n');
		for (uint32_t i = 0; i < nr && i < ROWS; i++) {
			row(t, &rows[i]);
			xsf_text_char(t, '\n');
		}
		if (nr > ROWS) {
			char more[64];

			snprintf(more, sizeof(more), "%12s %12s  and %" PRIu32 " more\n", "", "",
				 nr - ROWS);
			xsf_text_str(t, more);
		}
		xsf_text_char(t, '\n');
	}
}

void xsf_drops_top_tick(struct xsf_drops_top *top, double seconds, uint64_t shed)
{
	top->shed = shed;
	for (int i = 0; i < TABLES && seconds > 0; i++)
		xsf_top_tick(top->table[i], seconds);
	if (top->screen)
		draw(top);
	else
		print(top);
}

int xsf_drops_top_fd(const struct xsf_drops_top *top)
{
	return top->screen ? STDIN_FILENO : -1;
}

int xsf_drops_top_keys(struct xsf_drops_top *top)
{
	int key, before = top->shown, end = 0, resized = 0;

	if (!top->screen)
		return 0;
	while ((key = getch()) != ERR) {
		const char *known = key > 0 && key < 128 ? memchr(keys, key, TABLES) : NULL;

		if (known)
			top->shown = (int)(known - keys);
		else if (key == '\t')
			top->shown = (top->shown + 1) % TABLES;
		else if (key == 'q')
			end = 1;
		else if (key == KEY_RESIZE)
			resized = 1;
	}
	if (top->shown != before || resized)
		draw(top);
	return end;
}
