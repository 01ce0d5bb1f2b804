/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core of the collector: it discovers JVMs through attachd, keeps a session in each JVM that
 * the rules choose, cuts windows at their borders, and turns recordings into batches in the queue.
 *
 * The core has no threads: collector_tick hands out jobs through ports.submit. All JVMs are served
 * at the same time. Each has two lanes, for its session and for its thread snapshots, and a lane
 * runs one job at a time.
 */
#ifndef COLLECTOR_CORE_COLLECTOR_H
#define COLLECTOR_CORE_COLLECTOR_H

#include <catalogue/reason.h>

#include "policy.h"
#include "queue.h"
#include "report.h"
#include "rules.h"

enum collector_call { CALL_DONE = 0, CALL_UNREACHABLE = -1, CALL_TIMED_OUT = -2 };

/* Everything outside of the core; the functions may be called on any thread. */
typedef struct collector_ports {
    void *context;
    uint64_t (*now_ms)(void *context);        /* Unix ms */
    uint64_t (*steady_ms)(void *context);     /* ms of a clock that cannot be set */
    uint64_t (*thread_cpu_ns)(void *context); /* CPU time of the calling thread */
    uint64_t (*random)(void *context);
    void (*log)(void *context, const char *message);
    /* Runs a job on a thread of its own. Returns false without a thread; the job then does not
     * run. */
    bool (*submit)(void *context, void (*job)(void *argument), void *argument);
    void (*wake)(void *context); /* asks for a call of collector_tick */

    /* Sends a request to attachd. Returns an enum collector_call; message on failure. */
    int (*call)(void *context, const local_request *request, local_answer *answer, char *message,
                size_t size);

    /* Makes a file for a recording's bytes; -1 = failed. */
    int (*new_file)(void *context);
    /* Appends bytes to it. Returns 0, or -1: there is no room. */
    int (*append)(void *context, int file, const uint8_t *bytes, size_t length);
    void (*close_file)(void *context, int file);
    /* Returns the Unix ms at which a recording begins, 0 = unknown. */
    uint64_t (*recording_start_ms)(void *context, int fd);
    /*
     * Reads a recording. `memory` is the state that the reader keeps for this JVM from window to
     * window (NULL at first), `span` the window (its covered_ms is not set), `events` the events of
     * the session. Returns 0, or -1 with a sentence.
     */
    int (*parse)(void *context, void **memory, int fd, uint64_t size, const window_span *span,
                 const event_intervals *events, profile *out, char *message, size_t message_size);
    void (*forget)(void *context, void *memory);
    /*
     * Reads a thread snapshot. `memory` is the state that the reader keeps for this JVM from
     * snapshot to snapshot (NULL at first). Returns 0, or -1 with a sentence.
     */
    int (*read_snapshot)(void *context, void **memory, int fd, uint64_t size, thread_snapshot *out,
                         char *message, size_t message_size);
    void (*forget_snapshot)(void *context, void *memory);
    /* Keeps a copy of a session's recording from a position on, for tests; NULL = no copies. */
    void (*keep)(void *context, int fd, uint64_t size, const queue_position *from);

    void (*user_name)(void *context, uint32_t uid, char *out, size_t size);
    /*
     * Fills labels and decision for a JVM that runs in a pod and returns true; false leaves the JVM
     * to the rules. NULL = there are no pods.
     */
    bool (*decide)(void *context, const local_jvm *jvm, target_labels *labels,
                   policy_decision *out);

    /* Encodes a batch for the queue; *out is malloc'd. Returns 0 or -1. */
    int (*encode)(void *context, const batch *one, uint8_t **out, size_t *length);
    void (*queued)(void *context);         /* the queue has a new entry */
    void (*status_changed)(void *context); /* the state or reason of a target has changed */
} collector_ports;

typedef struct collector_options {
    uint32_t window_ms;
    uint32_t jitter_ms;
    uint64_t discovery_ms; /* interval between two looks at the host */
    uint64_t flush_ms;     /* interval of batches, until the backend sends another */
    uint64_t cooldown_min_ms;
    uint64_t cooldown_max_ms;
    uint32_t call_ms; /* time limit of one operation on a JVM */
    uint64_t memlimit_bytes;
    uint32_t rate_limit; /* most events of one kind that the profiler records in a second */
    uint32_t max_targets;
    uint32_t max_snapshot_threads;
    uint32_t max_lanes;       /* most lanes that run at the same time */
    uint32_t max_workloads;   /* most workloads with counters of their own */
    size_t max_rows_per_part; /* of one window and type */
    batch_limits limits;      /* our limits; lower ones of the backend replace them */
} collector_options;

typedef struct collector collector;

/* Borrows `rules`, until collector_set_rules, and `queued`. Returns NULL without memory. */
collector *collector_new(const collector_ports *ports, const collector_options *options,
                         const rule_set *rules, queue *queued);
/* Frees; no job may be running. */
void collector_free(collector *self);

/* Submits the jobs that are due; returns the Unix ms of the next call. One thread. */
uint64_t collector_tick(collector *self);

/* Says that decisions of ports.decide may have changed: the next tick asks for them again. Any
 * thread. */
void collector_policy_changed(collector *self);

/* Replaces the rules; they are borrowed. The old ones may be freed afterwards. Any thread. */
void collector_set_rules(collector *self, const rule_set *rules);

/* The result of a call for a profile on demand. */
typedef enum collector_demand {
    DEMAND_TAKEN,
    DEMAND_NO_JVM, /* no such process was seen on this host, or it is not profiled on demand */
    DEMAND_OFF     /* a setting forbids to profile it, or its pod is unknown */
} collector_demand;

/*
 * Profiles a JVM until a time, even if rules and annotations do not ask for it, unless they say
 * off. The profile is a temporary one. A later call replaces an earlier one. Any thread.
 */
collector_demand collector_profile_until(collector *self, uint32_t host_pid,
                                         const event_intervals *events, uint64_t until_ms);
/* Ends a profile on demand. Any thread. */
collector_demand collector_profile_stop(collector *self, uint32_t host_pid);

/* Sets the limits that the backend sent, and the interval in which it wants batches; 0 = none. */
void collector_set_limits(collector *self, const batch_limits *limits, uint64_t flush_ms);

/*
 * Ends the work; collector_tick then does nothing. Calls `idle` until no job runs, stops each
 * session and takes its last window (with `leave` it does neither), and flushes.
 */
void collector_finish(collector *self, bool leave, void (*idle)(void *context), void *context);

/* Fills the next status report. */
void collector_snapshot(collector *self, status_report *out);
/* Says that a report has been delivered with so many JVMs that had ended: they are not reported
 * again. One thread. */
void collector_exits_told(collector *self, size_t count);

typedef struct collector_stats {
    uint64_t discoveries, discovery_failures;
    uint64_t windows, windows_failed, windows_lost;
    uint64_t starts, start_failures;
    uint64_t snapshots_short;
    uint64_t batches, queue_failures;
    uint64_t recording_bytes;
    uint64_t window_ms, covered_ms; /* sums over all windows */
    uint64_t dropped_events;        /* dropped by the profilers, of all windows */
    uint64_t excess_events;         /* events over the limit of a window */
    uint64_t unknown_pods;
    unsigned lanes_running, lanes_waiting;
    uint64_t thread_failures; /* jobs delayed because no thread could be started */
    bool attachd_reachable;
    unsigned attachd_lacks;    /* findings of attachd's self-check */
    uint32_t workers_unreaped; /* attach workers that attachd has killed and that have not ended */
    profile_sum recorded[PROFILE_SOURCE_END];
} collector_stats;
collector_stats collector_get_stats(collector *self);

/* Counters that the metrics show by workload. */
typedef struct workload_stats {
    char namespace_name[64];
    char workload[254];
    /* The workload's JVMs at present: all; those to be profiled that can be; those that are; and
     * the others by enum reason. */
    uint64_t jvms, eligible, active;
    uint64_t skipped[REASON_END];
    uint64_t windows, parse_failures, snapshots;
    uint64_t window_ms, covered_ms;
    /* Operations that failed, by enum reason: before they reached the profiler, and in the
     * profiler. */
    uint64_t attach_failures[REASON_END], command_failures[REASON_END];
    uint64_t snapshot_failures[REASON_END];
} workload_stats;

/*
 * Returns malloc'd counters, *count of them; NULL = no memory. The first has no name and counts the
 * workloads over options.max_workloads. A workload whose JVMs have ended makes room for another.
 */
workload_stats *collector_get_workloads(collector *self, size_t *count);

#endif
