/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The AI metrics under sFlow-RT's names (DESIGN 5.3, 5.6): Prometheus text without TYPE, and JSON. Each
 * returns a document that the caller frees, its length in *len; NULL: no memory. */
#ifndef XSF_SERVE_AI_H
#define XSF_SERVE_AI_H

#include <stddef.h>
#include "model/ai.h"
#include "model/ai_fast.h"

/* Keys of the rows in JSON. */
#define XSF_AI_OPERATIONS "top-5-operations"
#define XSF_AI_DROPS "top-5-drop-reasons"

/* 24 lines, and up to XSF_AI_TOP of each of the two families. */
char *xsf_ai_text(const struct xsf_ai *ai, size_t *len);

/* {"trend":{"maxPoints":300,"trends":{KEY:[...],...},"times":[ms,...]}}: points later than `after`, ms. */
char *xsf_ai_trend_json(const struct xsf_ai *ai, uint64_t after, size_t *len);

/* {KEY:value,...} as it is now; or one value, whose key is one of xsf_ai_keys or of the rows: -ENOENT and
 * *out NULL when it is not. */
char *xsf_ai_metric_json(const struct xsf_ai *ai, size_t *len);
int xsf_ai_value_json(const struct xsf_ai *ai, const char *key, char **out, size_t *len);

/* {"value","period","threshold","baselineLoad":{"n","mean","sdev","min","max"},"baselinePeriod":{...}}: RoCE
 * packets/s, and seconds. */
char *xsf_ai_period_json(const struct xsf_ai *ai, const struct xsf_ai_fast *fast, size_t *len);

#endif
