/* SPDX-License-Identifier: Apache-2.0 */
/* A collector with a fake attachd, a fake reader and a clock that the test sets. */
#ifndef COLLECTOR_FAKE_HOST_H
#define COLLECTOR_FAKE_HOST_H

#include "collector_tests.h"

enum { SPANS_MAX = 128, WINDOW = 10000 };

/* The host's behaviour, which a test sets, and the calls that the collector made. */
typedef struct fake_host {
    uint64_t now, cpu_ns;
    int64_t set_ms; /* how far the clock that people can set is ahead */
    local_jvm jvms[4];
    size_t jvm_count;
    bool unreachable;
    bool threadless;       /* no thread can be started for a job */
    unsigned lost_answers; /* so many calls are performed, but their answers are lost */
    uint32_t start_reason, window_reason;
    uint32_t session;       /* in the answer to a START */
    bool unclaimed;         /* attachd was restarted: no START has taken the session over */
    uint8_t ids[SPANS_MAX]; /* first byte of the ids of WINDOW requests; repeated ones run once */
    size_t id_count;
    unsigned starts, windows, stops, reads_done;
    local_request last_start, last_window;
    uint64_t offsets[SPANS_MAX]; /* of WINDOW and STOP requests */
    size_t offset_count;
    uint64_t session_ms;   /* when the session of the JVM began */
    uint64_t start_offset; /* in the answer to a START */
    unsigned lost_windows; /* so many windows have been dropped before they are fetched */
    bool parse_fails;
    uint64_t dropped; /* dropped events that attachd reports for each window */
    uint64_t excess;  /* excess events that the reader reports for each window */
    uint64_t queued_lost;
    uint32_t absent; /* events that the profiler refuses, which attachd reports at the start */
    event_intervals parsed; /* of the last window */
    uint64_t recording_start;
    uint64_t covered;
    window_span spans[SPANS_MAX]; /* as the reader receives them */
    size_t span_count;
    unsigned status_changes;
    uint64_t queued_windows, queued_raw;
    uint32_t days[SPANS_MAX];
    size_t batches;
    unsigned forgotten;
    bool in_pod; /* the JVM runs in a pod, which decides */
    policy_decision decision;
    unsigned snapshots, snapshots_forgotten;
    uint32_t lease_ms, snapshot_reason;
    bool contention;
    batch_snapshot queued_snapshots[SPANS_MAX];
    size_t queued_snapshot_count;
    uint64_t threads_ms;          /* of the next rule */
    batch_window lost[SPANS_MAX]; /* windows in which nothing was recorded */
    size_t lost_count;
} fake_host;

extern fake_host host;
extern queue *queued;
extern rule_set *rules;
extern collector *core;

/* Sets up one JVM of the class Shop, and no rule. */
void fake_host_set_up(void);
void fake_host_tear_down(void);

/* Starts another collector on the same host, with the same rules and queue; the one before may have
 * been killed. */
void fake_host_begin_anew(void);

/* The value of a member of workload_stats, summed over all workloads and, for an array, over all
 * reasons. */
#define COUNTED(member)                                                                            \
    fake_host_counted(offsetof(workload_stats, member), sizeof(((workload_stats *)0)->member))
uint64_t fake_host_counted(size_t offset, size_t size);

/* Adds a rule for a main class; its thread snapshots are taken every host.threads_ms. */
void add_rule(const char *main_class, bool off, uint64_t delay_ms);

/* Sets the clock forward to `until`, with a tick at each time that the collector asks for. */
void run_to(uint64_t until);

/* Returns the collector's report on a pid; zeroes if there is none. */
target_status status_of(uint32_t pid);

/* A port function that does nothing. */
void nothing(void *context);

#endif
