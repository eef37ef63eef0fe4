/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why something failed, in the words that the user will read; and what libbpf and the kernel said. */
#ifndef XSF_WHY_H
#define XSF_WHY_H

/* What failed, on what, why, what to do: one line without its end. */
struct xsf_why {
	char text[768];
};

/* Writes the line and returns err, so that `return xsf_because(why, -EBUSY, ...)` is one statement. */
int xsf_because(struct xsf_why *why, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "Operation not permitted" and the like, for 0 < -err or 0 < err. */
const char *xsf_errno_text(int err);

/* From here on libbpf and libxdp are silent and their warnings are kept; `also` (or NULL) sees all lines. */
void xsf_log_capture(void (*also)(const char *line));

/* Forgets what was kept. */
void xsf_log_clear(void);

/* The kernel's own message (netlink's extended ack) since xsf_log_clear, else "" . */
const char *xsf_log_kernel_word(void);

/* The first warning since then, without its end, else "". */
const char *xsf_log_first(void);

#endif
