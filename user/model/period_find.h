/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is there a period in a series of counts, and which? Arithmetic alone; model/period.h has the clock.
 *
 * The normalised autocorrelation (DESIGN 5.4) is taken at lags from 0.1 to 25 s, each over windows of its
 * own: the last 9 s or 2.85 lags, whatever is longer, so that a job is found within 10 s or three of its
 * periods whatever was before; and longer ones, which see a period through more noise. It is Pearson's, of
 * the counts against those a lag earlier, with a linear trend of both taken out. Long lags take the counts
 * in longer bins. A peak counts when chance would hardly make it: Fisher's z of it, with as many
 * independent pairs as the width of its own bursts leaves (Bartlett), so that three bursts at random
 * distances are none; and when it moves the load by 5 % of its mean or more. When a job ends, what is older
 * than the shortest window is forgotten, so that there is none within 10 s or three periods. */
#ifndef XSF_PERIOD_FIND_H
#define XSF_PERIOD_FIND_H

#include <stdint.h>

#define XSF_PERIOD_BIN_S 0.01
#define XSF_PERIOD_BINS 7500 /* that are looked at: 75 s, three of the longest periods */
#define XSF_PERIOD_MIN 10    /* bins: 0.1 s */
#define XSF_PERIOD_MAX 2500  /* 25 s */

/* sFlow version 5: an agent may hold a sample back for so long. */
#define XSF_PERIOD_HOLD_S 1.0

/* What the next search wants to know. */
struct xsf_period_past {
	double job;	 /* s: found again and again, until it has ended; 0: none */
	double strength; /* its highest confidence */
	uint32_t times;	 /* that it was found, one after the other */
	uint32_t
		keep; /* so many of the newest counts are still of use: earlier ones are of a job that has
			  * ended, and are to be left out from now on */
};

struct xsf_period_found {
	double seconds; /* 0: there is none */
	double confidence; /* the autocorrelation at it, above 0.3 and at most 1; 0 when there is none */
	struct xsf_period_past past;
};

struct xsf_period_work;

/* Memory for one search at a time, 0.5 MB. NULL: there is none. */
struct xsf_period_work *xsf_period_work_new(void);
void xsf_period_work_free(struct xsf_period_work *work);

/* Of `nr` counts, one each XSF_PERIOD_BIN_S, the newest is the last. Looks at XSF_PERIOD_BINS at
 * most. held_back: most counts come from agents whose datagrams wait for a timer rather than fill
 * (model/period.h): the timer's period is taken out, and none is found below 2 s. `last`: what the
 * previous search found; a period that goes on needs less to be believed. */
struct xsf_period_found xsf_period_find(struct xsf_period_work *work, const float *bins,
					uint32_t nr, int held_back,
					const struct xsf_period_found *last);

#endif
