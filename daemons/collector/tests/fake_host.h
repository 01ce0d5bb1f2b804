/* SPDX-License-Identifier: Apache-2.0 */
/* A collector with a fake attachd, a fake reader and a clock that the test turns. */
#ifndef COLLECTOR_FAKE_HOST_H
#define COLLECTOR_FAKE_HOST_H

#include "collector_tests.h"

enum { SPANS_MAX = 128, WINDOW = 10000 };

/* What the host does, which a test sets, and what the collector did. */
typedef struct fake_host {
    uint64_t now, cpu_ns;
    int64_t set_ms; /* the clock that people set is so much ahead */
    local_jvm jvms[4];
    size_t jvm_count;
    bool unreachable;
    bool threadless;       /* no job finds a thread */
    unsigned lost_answers; /* so many calls are done, but their answer does not come */
    uint32_t start_reason, window_reason;
    uint32_t session;       /* as a START answers */
    bool unclaimed;         /* attachd was started anew: no START has taken the session over */
    uint8_t ids[SPANS_MAX]; /* of WINDOW requests, first byte; a repeated one is done once */
    size_t id_count;
    unsigned starts, windows, stops, reads_done;
    local_request last_start, last_window;
    uint64_t offsets[SPANS_MAX]; /* of WINDOW and STOP requests */
    size_t offset_count;
    uint64_t session_ms;   /* when the session of the JVM began */
    uint64_t start_offset; /* as a START answers */
    unsigned lost_windows; /* so many windows are gone when they are fetched */
    bool parse_fails;
    uint64_t dropped; /* events, as attachd tells of each window */
    uint64_t excess;  /* events, as the reader tells of each window */
    uint64_t queued_lost;
    uint32_t absent;        /* events that the profiler refuses, as attachd tells of a start */
    event_intervals parsed; /* of the last window */
    uint64_t recording_start;
    uint64_t covered;
    window_span spans[SPANS_MAX]; /* as given to the reader */
    size_t span_count;
    unsigned status_changes;
    uint64_t queued_windows, queued_raw;
    uint32_t days[SPANS_MAX];
    size_t batches;
    unsigned forgotten;
    bool in_pod; /* the pod decides */
    policy_decision decision;
    unsigned snapshots, snapshots_forgotten;
    uint32_t lease_ms, snapshot_reason;
    bool contention;
    batch_snapshot queued_snapshots[SPANS_MAX];
    size_t queued_snapshot_count;
    uint64_t threads_ms;          /* of the next rule */
    batch_window lost[SPANS_MAX]; /* windows of which nothing was recorded */
    size_t lost_count;
} fake_host;

extern fake_host host;
extern queue *queued;
extern rule_set *rules;
extern collector *core;

/* The fixture: one JVM of the class Shop, and no rule. */
void fake_host_set_up(void);
void fake_host_tear_down(void);

/* Another collector on the same host, with the same rules and queue, in place of the one before,
 * which may have been killed. */
void fake_host_begin_anew(void);

/* What the collector has counted as a member of workload_stats, over all workloads; of a member
 * that is an array, over all reasons. */
#define COUNTED(member)                                                                            \
    fake_host_counted(offsetof(workload_stats, member), sizeof(((workload_stats *)0)->member))
uint64_t fake_host_counted(size_t offset, size_t size);

/* A rule for a main class; its thread snapshots are taken every host.threads_ms. */
void add_rule(const char *main_class, bool off, uint64_t delay_ms);

/* Turns the clock to `until`, ticking at each time that the collector asks for. */
void run_to(uint64_t until);

/* What the collector reports of a pid; zero where it reports nothing. */
target_status status_of(uint32_t pid);

/* A port that does nothing. */
void nothing(void *context);

#endif
