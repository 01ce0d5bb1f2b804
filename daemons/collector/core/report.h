/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector tells of its targets, plain: the source of StatusReport and Heartbeat. */
#ifndef COLLECTOR_CORE_REPORT_H
#define COLLECTOR_CORE_REPORT_H

#include "batches/batch.h"

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
    char detail[512];
} target_status;

typedef struct status_report {
    target_status *targets; /* owned */
    size_t count;
    size_t profiled; /* of them in state profiling */
} status_report;

void status_report_clear(status_report *report);

typedef struct heartbeat {
    uint64_t sent_ms;
    uint64_t queued_bytes;
    uint64_t queued_batches;
    uint64_t dropped_batches;
    uint32_t jvms_seen;
    uint32_t jvms_profiled;
} heartbeat;

#endif
