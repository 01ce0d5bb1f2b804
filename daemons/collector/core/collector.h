/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's heart: it discovers JVMs through attachd, keeps a session in each that the rules
 * choose, cuts windows at their borders, and turns recordings into batches in the queue.
 *
 * The core does nothing by itself: collector_tick hands out jobs through ports.submit. All JVMs go
 * side by side, each with two lanes, for its session and its thread snapshots, of one job at a
 * time.
 */
#ifndef COLLECTOR_CORE_COLLECTOR_H
#define COLLECTOR_CORE_COLLECTOR_H

#include <catalogue/reason.h>

#include "policy.h"
#include "queue.h"
#include "report.h"
#include "rules.h"

enum collector_call { CALL_DONE = 0, CALL_UNREACHABLE = -1, CALL_TIMED_OUT = -2 };

/* Everything outside; any thread. */
typedef struct collector_ports {
    void *context;
    uint64_t (*now_ms)(void *context);        /* Unix ms */
    uint64_t (*steady_ms)(void *context);     /* ms of a clock that nobody sets */
    uint64_t (*thread_cpu_ns)(void *context); /* CPU time of the calling thread */
    uint64_t (*random)(void *context);
    void (*log)(void *context, const char *message);
    /* Runs a job on a thread of its own. False where there is none: the job does not run. */
    bool (*submit)(void *context, void (*job)(void *argument), void *argument);
    void (*wake)(void *context); /* call collector_tick again */

    /* Asks attachd. An enum collector_call; message on failure. */
    int (*call)(void *context, const local_request *request, local_answer *answer, char *message,
                size_t size);

    /* A file for a recording's bytes, -1 = none. */
    int (*new_file)(void *context);
    /* Appends bytes to it. 0, or -1: no room. */
    int (*append)(void *context, int file, const uint8_t *bytes, size_t length);
    void (*close_file)(void *context, int file);
    /* Unix ms at which a recording begins, 0 = it cannot be told. */
    uint64_t (*recording_start_ms)(void *context, int fd);
    /*
     * Reads a recording. `memory` is what the reader keeps of this JVM from window to window (NULL
     * at first), `span` the window (its covered_ms is not set), `events` what the session records.
     * 0, or -1 with a sentence.
     */
    int (*parse)(void *context, void **memory, int fd, uint64_t size, const window_span *span,
                 const event_intervals *events, profile *out, char *message, size_t message_size);
    void (*forget)(void *context, void *memory);
    /*
     * Reads a thread snapshot. `memory` is what the reader keeps of this JVM from snapshot to
     * snapshot (NULL at first). 0, or -1 with a sentence.
     */
    int (*read_snapshot)(void *context, void **memory, int fd, uint64_t size, thread_snapshot *out,
                         char *message, size_t message_size);
    void (*forget_snapshot)(void *context, void *memory);
    /* Keeps a copy of the bytes that a session's recording holds from a position on, for tests;
     * NULL = no copies. */
    void (*keep)(void *context, int fd, uint64_t size, const queue_position *from);

    void (*user_name)(void *context, uint32_t uid, char *out, size_t size);
    /*
     * Fills labels and decision for a JVM that runs in a pod and returns true; false leaves it to
     * the rules. NULL = there are no pods.
     */
    bool (*decide)(void *context, const local_jvm *jvm, target_labels *labels,
                   policy_decision *out);

    /* The queue's form of a batch; *out is malloc'd. 0 or -1. */
    int (*encode)(void *context, const batch *one, uint8_t **out, size_t *length);
    void (*queued)(void *context);         /* there is a new entry */
    void (*status_changed)(void *context); /* a target's state or reason is another */
} collector_ports;

typedef struct collector_options {
    uint32_t window_ms;
    uint32_t jitter_ms;
    uint64_t discovery_ms; /* interval between two looks at the host */
    uint64_t flush_ms;     /* in which one batch is cut, until the backend says otherwise */
    uint64_t cooldown_min_ms;
    uint64_t cooldown_max_ms;
    uint32_t call_ms; /* deadline of one operation on a JVM */
    uint64_t memlimit_bytes;
    uint32_t rate_limit; /* events of one kind that the profiler records in a second */
    uint32_t max_targets;
    uint32_t max_snapshot_threads;
    uint32_t max_lanes;       /* that run at once */
    uint32_t max_workloads;   /* that counters are kept apart for */
    size_t max_rows_per_part; /* of one window and type */
    batch_limits limits;      /* ours; the backend's are taken where they are lower */
} collector_options;

typedef struct collector collector;

/* `rules` and `queued` are borrowed; the rules up to collector_set_rules. NULL where memory ran
 * out. */
collector *collector_new(const collector_ports *ports, const collector_options *options,
                         const rule_set *rules, queue *queued);
/* No job may run any more. */
void collector_free(collector *self);

/* Submits what is due; returns the Unix ms at which it wants to be called again. One thread. */
uint64_t collector_tick(collector *self);

/* Decisions of ports.decide may be others now: asked again at the next tick. Any thread. */
void collector_policy_changed(collector *self);

/* Other rules, in force from now on; borrowed. Those before may be freed then. Any thread. */
void collector_set_rules(collector *self, const rule_set *rules);

/* What came of a call for a profile on demand. */
typedef enum collector_demand {
    DEMAND_TAKEN,
    DEMAND_NO_JVM, /* no such process was seen on this host, or it is not profiled on demand */
    DEMAND_OFF     /* a setting says that it must not be profiled, or its pod is not known */
} collector_demand;

/*
 * Profiles a JVM until a time, whatever the rules and annotations say, unless they say off: as a
 * temporary that these ask for. Another call replaces what is asked for. Any thread.
 */
collector_demand collector_profile_until(collector *self, uint32_t host_pid,
                                         const event_intervals *events, uint64_t until_ms);
/* Takes that back. Any thread. */
collector_demand collector_profile_stop(collector *self, uint32_t host_pid);

/* The limits that the backend advertises, and the time in which it wants one batch; 0 = none. */
void collector_set_limits(collector *self, const batch_limits *limits, uint64_t flush_ms);

/*
 * The end: after it collector_tick does nothing. Waits for running jobs by `idle` being called
 * until none runs, stops each session and takes its last window (with `leave` neither), and
 * flushes.
 */
void collector_finish(collector *self, bool leave, void (*idle)(void *context), void *context);

/* What to report now. */
void collector_snapshot(collector *self, status_report *out);
/* Somebody has read a report with so many JVMs that had ended: they are not reported again. One
 * thread. */
void collector_exits_told(collector *self, size_t count);

typedef struct collector_stats {
    uint64_t discoveries, discovery_failures;
    uint64_t windows, windows_failed, windows_lost;
    uint64_t starts, start_failures;
    uint64_t snapshots_short;
    uint64_t batches, queue_failures;
    uint64_t recording_bytes;
    uint64_t window_ms, covered_ms; /* sums over all windows */
    uint64_t dropped_events;        /* by the profilers, of all windows */
    uint64_t uncounted_events;      /* samples that are in no profile: profile.uncounted */
    uint64_t excess_events;         /* past the cap on a window's events */
    uint64_t unknown_pods;
    unsigned lanes_running, lanes_waiting;
    uint64_t thread_failures; /* jobs put off for want of a thread */
    bool attachd_reachable;
    unsigned attachd_lacks;    /* findings of attachd's self-check */
    uint32_t workers_unreaped; /* killed attach workers of attachd that have not ended */
    profile_sum recorded[PROFILE_SOURCE_END];
} collector_stats;
collector_stats collector_get_stats(collector *self);

/* Counters that the metrics tell apart by workload. */
typedef struct workload_stats {
    char namespace_name[64];
    char workload[254];
    /* Its JVMs now: all, those that are to be profiled and can be, those that are, and the others
     * by enum reason. */
    uint64_t jvms, eligible, active;
    uint64_t skipped[REASON_END];
    uint64_t windows, parse_failures, snapshots;
    uint64_t window_ms, covered_ms;
    /* Operations that failed, by enum reason: without reaching the profiler, and in it. */
    uint64_t attach_failures[REASON_END], command_failures[REASON_END];
    uint64_t snapshot_failures[REASON_END];
} workload_stats;

/*
 * Malloc'd, *count of them; NULL = no memory. The first has no name and holds what is past
 * options.max_workloads. A workload whose JVMs have ended makes room for another.
 */
workload_stats *collector_get_workloads(collector *self, size_t *count);

#endif
