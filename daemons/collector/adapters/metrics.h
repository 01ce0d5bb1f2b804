/* SPDX-License-Identifier: Apache-2.0 */
/* The page /metrics. Labels never hold a pid, a pod, a stack or a thread; those that hold workloads
 * are bounded by limits.workload_series. */
#ifndef COLLECTOR_ADAPTERS_METRICS_H
#define COLLECTOR_ADAPTERS_METRICS_H

#include "../core/collector.h"
#include "../core/uploader.h"
#include "kubernetes/kubernetes.h"
#include "transport.h"

/* What pages and the status show; all borrowed for as long as they are there. */
typedef struct shown_sources {
    const char *node;
    collector *core;
    uploader *uploads;
    queue *queued;
    const transport *http;
    const kubernetes *kubernetes; /* NULL = not in Kubernetes mode */
} shown_sources;

/* The text: malloc'd, *length bytes; NULL = no memory. Any thread. */
char *metrics_page(const shown_sources *sources, size_t *length);

#endif
