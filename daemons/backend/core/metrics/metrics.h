/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/metrics/metrics.h: counters, gauges and histograms in Prometheus' text format.
 *
 * The values of labels come from fixed tables (outcomes, codes, routes, tables), never from pids,
 * stacks, threads or data of clients. Thread rule: any thread.
 */
#ifndef BACKEND_METRICS_H
#define BACKEND_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "families.h"

typedef struct metrics metrics;

enum { METRICS_MAX = 512 }; /* most series; further ones are not kept */

metrics *metrics_new(void);
void metrics_free(metrics *m);

/*
 * Add to a counter; set a gauge, or a counter that is kept elsewhere; add one duration to a
 * histogram. first, second: the labels' values, static strings, NULL for labels that the family
 * does not have.
 */
void metrics_add(metrics *m, metric_id id, const char *first, const char *second, uint64_t amount);
void metrics_set(metrics *m, metric_id id, const char *first, uint64_t amount);
void metrics_observe(metrics *m, metric_id id, const char *first, uint64_t ns);

/* Makes the page: malloc'd, *length without the NUL. NULL when there is no memory. */
char *metrics_text(metrics *m, size_t *length);

#endif
