/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counts of the native build: the same walk as the kernel's, over plain tables. For `replay`, and for
 * the tests that hold the kernel against it. */
#ifndef XSF_MODEL_STORE_H
#define XSF_MODEL_STORE_H

#include <stddef.h>
#include <stdint.h>
#include <xsf/abi.h>
#include "model/snapshot.h"

struct xsf_store;

/* The program's defaults, as in the object: port 6343, ten minutes until a slot may be given away. */
void xsf_config_defaults(struct xsf_config *config);

/* Empty tables of the sizes in abi.h (about 40 MB of address space, touched as they fill). NULL: no
 * memory. */
struct xsf_store *xsf_store_new(const struct xsf_config *config);
void xsf_store_free(struct xsf_store *store);

/* One frame as it was on the wire: `caplen` bytes of `len` at `data`. `type` 0: starts with an Ethernet
 * header; else the EtherType of what stands at `data` (captures without link layer). `now_ns` must not
 * go back. Returns nonzero when it was a sound datagram. */
int xsf_store_frame(struct xsf_store *store, const uint8_t *data, uint32_t caplen, uint32_t len,
		    uint32_t type, uint64_t now_ns);

/* One sFlow datagram without the frame around it, at most XSF_MAX_PAYLOAD bytes, from 192.0.2.0. */
int xsf_store_datagram(struct xsf_store *store, const uint8_t *payload, uint32_t len,
		       uint64_t now_ns);

/* Puts the source (of a data source slot) into a group, as user space does for the kernel. */
void xsf_store_group(struct xsf_store *store, uint32_t slot, uint8_t group);

/* Sum of the port's rows of what arrived. */
void xsf_store_port(const struct xsf_store *store, uint16_t port, struct xsf_port *sum);

/* From now on calls `each` for every drop notification, and with XSF_EVENT_FLOW set for every flow sample, as
 * the programs give them to a reader's ring. An event is valid during the call. NULL: no more. */
void xsf_store_on_event(struct xsf_store *store,
			void (*each)(void *arg, const struct xsf_event *event), void *arg);

/* Fills *out; its pointers stay the store's. */
void xsf_store_snapshot(const struct xsf_store *store, struct xsf_snapshot *out);

#endif
