/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF programs by test run: loaded without pins, so that nobody else's maps are touched, fed with frames
 * one at a time, and their maps read as a snapshot. Every failure of the kernel ends the test. */
#ifndef XSF_PROGRUN_KERNEL_H
#define XSF_PROGRUN_KERNEL_H

#include <stdint.h>
#include "model/snapshot.h"

struct kernel;

/* Of bpf/xdp_sflow.bpf.c. */
enum kernel_program { KERNEL_XDP, KERNEL_FRAGS, KERNEL_PROGRAMS };

extern const char *const kernel_program_names[KERNEL_PROGRAMS];

/* Runs on the first CPU that is allowed from now on: the one whose counts are a slot's own. */
void kernel_pin(void);
uint32_t kernel_cpu(void);

struct kernel *kernel_new(const struct xsf_config *config);
void kernel_free(struct kernel *k);

/* Runs a frame of at least 14 bytes and returns the verdict (XDP_PASS, XDP_DROP). The plain program takes
 * what one page holds, the frags program more. */
int kernel_run(struct kernel *k, enum kernel_program which, const uint8_t *frame, uint32_t len);

/* From now on `each` is told, before kernel_run returns, what a reader's rings got. NULL: no more. */
void kernel_listen(struct kernel *k, void (*each)(void *arg, const struct xsf_event *event),
		   void *arg);

/* fd of a map by its name. */
int kernel_map(struct kernel *k, const char *name);

/* 1 when the frame is one that the test run of this program can take. */
int kernel_takes(enum kernel_program which, uint32_t len);

/* Adds to xsf_local, and a prefix (of the v4-mapped form) to xsf_allow. */
void kernel_local(struct kernel *k, const uint8_t addr[16]);
void kernel_allow(struct kernel *k, const uint8_t addr[16], uint32_t prefixlen);

/* The value of xsf_groups at a slot. */
void kernel_group(struct kernel *k, uint32_t slot, uint32_t generation, uint8_t group);

/* All counts; what it points to stays until the next call. */
const struct xsf_snapshot *kernel_snapshot(struct kernel *k);

/* xsf_control of both tables, and the slot that the ids map has for a key, 0 = none. */
void kernel_control(struct kernel *k, struct xsf_control control[XSF_TABLES]);
uint32_t kernel_find(struct kernel *k, enum xsf_table table, const void *key);

/* Sum of the port's rows of xsf_ports. */
void kernel_port(struct kernel *k, uint16_t port, struct xsf_port *sum);

#endif
