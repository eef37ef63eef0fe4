/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the targets share: the native store with its insides in sight, made so that a read behind the
 * payload is found, and emptied between inputs. */
#ifndef XSF_FUZZ_TARGET_H
#define XSF_FUZZ_TARGET_H

#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>
/* These copy by words, and often; the store below copies payloads. */
#include <xsf/base.h>

static void *target_copy(void *to, const void *from, size_t len);

#define memcpy target_copy
#include "../../user/model/store.c"
#undef memcpy

#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct xsf_store *target;

/* As memcpy. Of the walk's buffer only the payload, rounded up to the 4 bytes of XDR, can be read then. */
static void *target_copy(void *to, const void *from, size_t len)
{
	if (target && to == target->walk.buf) {
		size_t readable = (len + 3) & ~(size_t)3;

		ASAN_UNPOISON_MEMORY_REGION(target->walk.buf, sizeof(target->walk.buf));
		__builtin_memcpy(to, from, len);
		ASAN_POISON_MEMORY_REGION(target->walk.buf + readable,
					  sizeof(target->walk.buf) - readable);
		return to;
	}
	return __builtin_memcpy(to, from, len);
}

/* The store with nothing counted; only what the last input touched has to be wiped. */
static inline struct xsf_store *target_empty(uint32_t flags)
{
	struct xsf_store *s = target;
	struct xsf_config config;
	uint32_t agents, sources;

	if (!s) {
		xsf_config_defaults(&config);
		s = target = xsf_store_new(&config);
		if (!s)
			abort();
	}
	s->config.flags = flags;
	agents = slots_used(&s->control[XSF_TABLE_AGENTS], XSF_AGENTS);
	sources = slots_used(&s->control[XSF_TABLE_SOURCES], XSF_SOURCES);
	current = s;
	for (uint32_t i = 1; i < agents; i++)
		xsf_erase(XSF_TABLE_AGENTS, &s->agents[i].key);
	for (uint32_t i = 1; i < sources; i++)
		xsf_erase(XSF_TABLE_SOURCES, &s->sources[i].key);
	memset(s->agents, 0, agents * sizeof(*s->agents));
	memset(s->hints, 0, agents * sizeof(*s->hints));
	memset(s->sources, 0, sources * sizeof(*s->sources));
	memset(s->interfaces, 0, sources * sizeof(*s->interfaces));
	memset(s->control, 0, sizeof(s->control));
	if (s->totals.sample_drop)
		memset(s->places, 0, XSF_PLACES * sizeof(*s->places));
	if (s->totals.sample_flow + s->totals.sample_flow_expanded) {
		memset(s->ops, 0, XSF_DIRECTIONS * XSF_CARRIERS * sizeof(*s->ops));
		memset(s->tos, 0, XSF_DIRECTIONS * sizeof(*s->tos));
		memset(s->rdma, 0, XSF_DIRECTIONS * sizeof(*s->rdma));
	}
	memset(&s->totals, 0, sizeof(s->totals));
	memset(&s->reasons, 0, sizeof(s->reasons));
	memset(s->high, 0, s->nr_high * sizeof(*s->high));
	s->nr_high = 0;
	return s;
}

/* Everything adds up, and is what the reference (NULL: none) has. */
static inline void target_check(struct reference *reference)
{
	static struct xsf_snapshot snapshot;

	xsf_store_snapshot(target, &snapshot);
	/* No source is in a group, so the other rows are empty. */
	snapshot.nr_groups = 1;
	check(&snapshot, reference);
}

#endif
