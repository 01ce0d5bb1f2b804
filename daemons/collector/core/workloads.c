/* SPDX-License-Identifier: Apache-2.0 */
/* Counters by workload, for metrics: a limited number of workloads, and the sum of all others. */
#include "collector_impl.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_named(const target_labels *labels, const workload_stats *one)
{
    return strcmp(labels->namespace_name, one->namespace_name) == 0 &&
           strcmp(labels->workload, one->workload) == 0;
}

static bool has_jvm(const collector *self, const workload_stats *one)
{
    for (const target *at = self->targets; at != NULL; at = at->next) {
        if (is_named(&at->rule.labels, one))
            return true;
    }
    return false;
}

/* Returns a free place, or that of a workload whose JVMs have all ended; 0 where there is none. */
static size_t find_room(collector *self)
{
    if (self->workload_count <= self->options.max_workloads)
        return self->workload_count++;
    for (size_t i = 1; i < self->workload_count; i++) {
        if (!has_jvm(self, &self->workloads[i]))
            return i;
    }
    return 0;
}

workload_stats *collector__workload(collector *self, const target_labels *labels)
{
    for (size_t i = 1; i < self->workload_count; i++) {
        if (is_named(labels, &self->workloads[i]))
            return &self->workloads[i];
    }
    size_t room = find_room(self);
    workload_stats *fresh = &self->workloads[room];
    if (room == 0)
        return fresh;
    *fresh = (workload_stats){0};
    (void)snprintf(fresh->namespace_name, sizeof(fresh->namespace_name), "%s",
                   labels->namespace_name);
    (void)snprintf(fresh->workload, sizeof(fresh->workload), "%s", labels->workload);
    return fresh;
}

/* Whether the failure is the profiler's; otherwise the operation did not reach it. */
static bool is_of_profiler(uint32_t reason)
{
    switch (reason) {
    case REASON_EXTERNAL_PROFILER:
    case REASON_PROFILER_ERROR:
    case REASON_EVENT_REFUSED:
    case REASON_DISK_FULL:
    case REASON_BUDGET_TRIPPED:
        return true;
    default:
        return false;
    }
}

void collector__count_failure(collector *self, const target_labels *labels, uint32_t reason)
{
    workload_stats *of = collector__workload(self, labels);
    uint32_t known = reason < REASON_END ? reason : REASON_INTERNAL;
    if (is_of_profiler(known))
        of->command_failures[known]++;
    else
        of->attach_failures[known]++;
}

/* Counts the present state of a target; the counters begin at 0. */
static void count_target(workload_stats *of, const target *one)
{
    uint32_t state = collector__state(one);
    of->jvms++;
    of->eligible += one->rule.profiled && state != TARGET_STATE_UNSUPPORTED;
    of->active += state == TARGET_STATE_PROFILING;
    if (state != TARGET_STATE_PROFILING && state != TARGET_STATE_WAITING &&
        one->reason < REASON_END)
        of->skipped[one->reason]++;
}

workload_stats *collector_get_workloads(collector *self, size_t *count)
{
    pthread_mutex_lock(&self->lock);
    for (const target *one = self->targets; one != NULL; one = one->next)
        (void)collector__workload(self, &one->rule.labels);
    workload_stats *all = calloc(self->workload_count, sizeof(*all));
    *count = all != NULL ? self->workload_count : 0;
    for (size_t i = 0; i < *count; i++)
        all[i] = self->workloads[i];
    for (const target *one = self->targets; one != NULL && all != NULL; one = one->next)
        count_target(&all[collector__workload(self, &one->rule.labels) - self->workloads], one);
    pthread_mutex_unlock(&self->lock);
    return all;
}
