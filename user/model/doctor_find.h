/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Within model/doctor*.c: writing findings. */
#ifndef XSF_DOCTOR_FIND_H
#define XSF_DOCTOR_FIND_H

#include "model/doctor.h"

/* A word for a shell: as it is, or in quotes where that matters. */
#define XSF_WORD_LEN 72
const char *xsf_doctor_word(const char *word, char buf[XSF_WORD_LEN]);

/* Adds a finding; its text follows. What does not fit in XSF_MAX_FINDINGS replaces the last one. */
struct xsf_finding *xsf_find(struct xsf_diagnosis *d, const char *check, enum xsf_level level,
			     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Its mending command. */
void xsf_mend(struct xsf_finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "what: not known: why", with what lets it be measured. */
void xsf_find_unknown(struct xsf_diagnosis *d, const struct xsf_facts *f, const char *check,
		      const char *what, xsf_fact_t why);

/* The load that keeps what is in force on the interface: with `more` besides, and with --port of these ports
 * (0 ends; NULL: those in force). Returns buf; "" when not all that is in force can be named. */
#define XSF_DOCTOR_LOAD 384
const char *xsf_doctor_load(const struct xsf_facts *f, const char *more, const uint16_t *ports,
			    char buf[XSF_DOCTOR_LOAD]);

/* The driver is known to be without native XDP. */
int xsf_doctor_no_native(const struct xsf_facts *f);

/* The parts, in their order. */
void xsf_diagnose_machine(const struct xsf_facts *f, struct xsf_diagnosis *d);
void xsf_diagnose_device(const struct xsf_facts *f, struct xsf_diagnosis *d);
void xsf_diagnose_programs(const struct xsf_facts *f, struct xsf_diagnosis *d);
void xsf_diagnose_receiving(const struct xsf_facts *f, struct xsf_diagnosis *d);

#endif
