/* SPDX-License-Identifier: Apache-2.0 */
/* The page /metrics. No label holds a pid, a pod, a stack or a thread; limits.workload_series
 * bounds the labels that name workloads. */
#ifndef COLLECTOR_ADAPTERS_METRICS_H
#define COLLECTOR_ADAPTERS_METRICS_H

#include "../core/collector.h"
#include "../core/uploader.h"
#include "kubernetes/kubernetes.h"
#include "transport.h"

/* The sources of the pages and of the status. All are borrowed and must outlive the pages. */
typedef struct shown_sources {
    const char *node;
    collector *core;
    uploader *uploads;
    queue *queued;
    const transport *http;
    const kubernetes *kubernetes; /* NULL = not in Kubernetes mode */
} shown_sources;

/* Makes the page: malloc'd, *length bytes; NULL = no memory. Any thread. */
char *metrics_page(const shown_sources *sources, size_t *length);

#endif
