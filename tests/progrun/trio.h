/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The same frames through three decoders: the BPF program, the native build of the same headers, and the
 * reference. After a batch all counters of all three must agree, and add up. */
#ifndef XSF_PROGRUN_TRIO_H
#define XSF_PROGRUN_TRIO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "compare.h"
#include "events.h"
#include "inputs.h"
#include "kernel.h"
#include "model/store.h"

struct trio {
	struct xsf_config config;
	enum kernel_program which;
	struct kernel *kernel;
	struct xsf_store *native;
	struct reference *reference;
	uint64_t now_ns; /* native time; moves with every frame */
	struct events
		*events; /* of the last frame: the kernel's, the native build's, the reference's */
	char events_fault[COMPARE_TEXT];
	int no_reference; /* 1: the configuration has rules that the reference does not know */
};

/* config NULL: the defaults. */
void trio_begin(struct trio *t, enum kernel_program which, const struct xsf_config *config);
void trio_end(struct trio *t);

/* One frame; returns the verdict, or -1 for a frame that a test run cannot take (then nobody gets it). */
int trio_frame(struct trio *t, const uint8_t *frame, uint32_t len);

/* NULL when all agree; else what does not, in text. */
const char *trio_compare(struct trio *t, char text[COMPARE_TEXT]);

/* Fails the test with the difference and, when it has one, the frame in hexadecimal. */
void trio_check(struct trio *t, const char *what, const uint8_t *frame, uint32_t len);

/* Frames by number, as often as asked: for a difference that has to be narrowed down to one. */
typedef void trio_make(void *arg, uint32_t n, struct wire *frame);

/* Runs frames 0..nr-1, compares after each batch. A difference is looked for once more from the beginning,
 * frame by frame in the batch that had it. */
void trio_batches(enum kernel_program which, const char *what, trio_make *make, void *arg,
		  uint32_t nr, uint32_t batch);

#endif
