/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector tells of its targets, plain: the source of StatusReport and Heartbeat. */
#ifndef COLLECTOR_CORE_REPORT_H
#define COLLECTOR_CORE_REPORT_H

#include "batches/batch.h"
#include "queue.h"

/* A lane of a target (core/lanes.c). */
typedef struct lane_status {
    bool running;
    uint64_t due_ms; /* when its next job is due; 0 = none is */
} lane_status;

typedef struct target_status {
    local_jvm jvm;
    target_labels labels;
    uint64_t observed_ms;
    uint32_t state;          /* enum target_state */
    uint32_t reason;         /* enum reason */
    uint32_t session;        /* enum session_state */
    uint32_t mode;           /* enum target_mode: what is wanted */
    uint64_t until_ms;       /* end of a temporary mode; 0 = it has none */
    uint64_t last_window_ms; /* start of the last whole window; 0 = none yet */
    uint32_t last_length_ms;
    uint32_t last_covered_ms;
    uint64_t collector_ns; /* CPU time that we spent on that window, plus 1; 0 = not known */
    lane_status session_lane, snapshot_lane;
    char detail[512];
} target_status;

typedef struct status_report {
    target_status *targets; /* owned */
    size_t count;
    size_t exited;     /* of them, the last: JVMs that have ended, told once more */
    size_t profiled;   /* of them in state profiling */
    char engine[64];   /* the profiler and its version; "" = not known yet */
    char attachd[512]; /* why hotstack-attachd cannot be reached; "" = it can */
    local_finding lacks[LOCAL_FINDINGS_MAX]; /* what its self-check found */
    size_t lack_count;
} status_report;

void status_report_clear(status_report *report);

typedef struct heartbeat {
    uint64_t sent_ms;
    uint64_t started_ms;
    char engine[64];
    queue_stats queued;
    uint64_t split_batches;   /* that were cut again into two, both of them pushed */
    uint64_t last_success_ms; /* when the backend took a batch last; 0 = not in this run */
    uint32_t jvms_seen;
    uint32_t jvms_profiled;
} heartbeat;

#endif
