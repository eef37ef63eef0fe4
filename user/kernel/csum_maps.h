/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps of the tc program, for readers: as kernel/maps.h, which calls this. */
#ifndef XSF_CSUM_MAPS_H
#define XSF_CSUM_MAPS_H

#include "model/csum.h"

struct xsf_csum_maps;

/* Fills *out from what is pinned in `dir` now; out->present = 0 when nothing is. *maps holds what out points
 * to: NULL at first, the same one at each call, and freed by xsf_csum_maps_free. `programs`: who is attached
 * as well. 0 or negative errno. */
int xsf_csum_maps_read(struct xsf_csum_maps **maps, const char *dir, int programs,
		       struct xsf_csum *out);
void xsf_csum_maps_free(struct xsf_csum_maps *maps);

#endif
