/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/metrics.h: counters and gauges in Prometheus' text format.
 *
 * A label's values come from fixed tables (outcomes, codes, routes), never from pids, stacks,
 * threads or anything a client sends. Thread rule: any thread.
 */
#ifndef BACKEND_METRICS_H
#define BACKEND_METRICS_H

#include <stddef.h>
#include <stdint.h>

typedef struct metrics metrics;

typedef enum metric_kind { METRIC_COUNTER, METRIC_GAUGE } metric_kind;

enum { METRICS_MAX = 256 };

metrics *metrics_new(void);
void metrics_free(metrics *m);

/*
 * Adds to a counter, or sets a gauge or a counter that is kept elsewhere. name, help, label, value:
 * static strings; label and value NULL when the metric has none. The first use makes it; past
 * METRICS_MAX nothing is kept.
 */
void metrics_add(metrics *m, const char *name, const char *help, const char *label,
                 const char *value, uint64_t amount);
void metrics_set(metrics *m, metric_kind kind, const char *name, const char *help, uint64_t amount);

/* The text; from malloc, *length without the NUL. NULL when there is no memory. */
char *metrics_text(metrics *m, size_t *length);

#endif
