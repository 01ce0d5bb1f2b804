/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's report on its targets as plain structs: the source of StatusReport and
 * Heartbeat. */
#ifndef COLLECTOR_CORE_REPORT_H
#define COLLECTOR_CORE_REPORT_H

#include "batches/batch.h"
#include "queue.h"

/* A lane of a target (core/lanes.c). */
typedef struct lane_status {
    bool running;
    uint64_t due_ms; /* when its next job is due; 0 = never */
} lane_status;

typedef struct target_status {
    local_jvm jvm;
    target_labels labels;
    uint64_t observed_ms;
    uint32_t state;          /* enum target_state */
    uint32_t reason;         /* enum reason */
    uint32_t session;        /* enum session_state */
    uint32_t mode;           /* enum target_mode: the decision */
    uint64_t until_ms;       /* end of a temporary mode; 0 = it is not temporary */
    uint64_t last_window_ms; /* start of the last whole window; 0 = none yet */
    uint32_t last_length_ms;
    uint32_t last_covered_ms;
    uint64_t collector_ns; /* the collector's CPU time for that window, plus 1; 0 = unknown */
    lane_status session_lane, snapshot_lane;
    char detail[512];
} target_status;

typedef struct status_report {
    target_status *targets; /* owned */
    size_t count;
    size_t exited;     /* how many of them, at the end, are JVMs that have ended */
    size_t profiled;   /* how many of them are in state profiling */
    char engine[64];   /* the profiler and its version; "" = unknown */
    char attachd[512]; /* why hotstack-attachd cannot be reached; "" = it can */
    local_finding lacks[LOCAL_FINDINGS_MAX]; /* findings of its self-check */
    size_t lack_count;
} status_report;

void status_report_clear(status_report *report);

typedef struct heartbeat {
    uint64_t sent_ms;
    uint64_t started_ms;
    char engine[64];
    queue_stats queued;
    uint64_t split_batches;   /* batches that were split into two, both of which were pushed */
    uint64_t last_success_ms; /* when the backend last took a batch; 0 = not in this run */
    uint32_t jvms_seen;
    uint32_t jvms_profiled;
} heartbeat;

#endif
