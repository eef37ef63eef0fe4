/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A native store that tests feed with datagrams and look into: for those of the walk and of the tables. */
#ifndef XSF_TEST_FED_H
#define XSF_TEST_FED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "model/fields.h"
#include "model/store.h"
#include "sums.h"
#include "wire.h"

#define AGENT 0x0a000001
#define SECOND 1000000000ull

struct fed {
	struct xsf_store *store;
	struct xsf_snapshot s;
	struct wire w;
	uint64_t now_ns;
	uint32_t sequence;
};

static inline int fed_setup(void **state)
{
	struct fed *f = calloc(1, sizeof(*f));
	struct xsf_config config;

	if (!f)
		return -1;
	xsf_config_defaults(&config);
	f->store = xsf_store_new(&config);
	f->now_ns = SECOND;
	*state = f;
	return f->store ? 0 : -1;
}

static inline int fed_teardown(void **state)
{
	struct fed *f = *state;

	xsf_store_free(f->store);
	free(f);
	return 0;
}

/* Another store, with a configuration of its own. */
static inline void fed_again(struct fed *f, const struct xsf_config *config)
{
	xsf_store_free(f->store);
	f->store = xsf_store_new(config);
	assert_non_null(f->store);
	f->sequence = 0;
}

/* Starts a datagram of AGENT with the next sequence number. */
static inline struct wire *fed_begin(struct fed *f, uint32_t samples)
{
	f->w.len = 0;
	f->sequence++;
	wire_datagram(&f->w, AGENT, 0, f->sequence, 1000 * f->sequence, samples);
	return &f->w;
}

/* Feeds what is in f->w, a millisecond later; sums must hold. */
static inline const struct xsf_snapshot *fed_end(struct fed *f)
{
	char text[256];
	const char *broken;

	f->now_ns += 1000000;
	xsf_store_datagram(f->store, f->w.p, f->w.len, f->now_ns);
	xsf_store_snapshot(f->store, &f->s);
	broken = sums_broken(&f->s, text, sizeof(text));
	if (broken)
		fail_msg("%s", broken);
	return &f->s;
}

/* The source of AGENT (which has slot 1), or NULL. */
static inline const struct xsf_source *fed_source(const struct fed *f, uint32_t class,
						  uint32_t index)
{
	for (uint32_t i = 1; i < f->s.nr_sources; i++) {
		const struct xsf_source *s = &f->s.sources[i];

		if (s->generation & 1 && s->key.class == class && s->key.index == index &&
		    s->key.agent == 1)
			return s;
	}
	return NULL;
}

static inline const struct xsf_interface *fed_interface(const struct fed *f, uint32_t index)
{
	const struct xsf_source *s = fed_source(f, 0, index);

	assert_non_null(s);
	return &f->s.interfaces[s - f->s.sources];
}

#define FED(name) cmocka_unit_test_setup_teardown(name, fed_setup, fed_teardown)

#endif
