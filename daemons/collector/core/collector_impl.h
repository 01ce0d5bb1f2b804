/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of the collector's core share. */
#ifndef COLLECTOR_CORE_IMPL_H
#define COLLECTOR_CORE_IMPL_H

#include "collector.h"

#include <pthread.h>

enum { FLUSH_MS_MAX = 300000 };

typedef enum phase {
    PHASE_OFF,       /* not asked for, or not possible: see reason */
    PHASE_WARMING,   /* the start-up delay runs */
    PHASE_STARTING,  /* starts at due_ms */
    PHASE_PROFILING, /* the current window ends at due_ms */
    PHASE_COOLDOWN,  /* failed; starts again at due_ms */
    PHASE_STOPPING,  /* no longer wanted in this form; stops at due_ms, then judged again */
} phase;

/* One JVM. The collector's lock guards it; a job works on a copy. */
typedef struct target {
    struct target *next;
    collector *owner;
    local_jvm jvm;
    rule_verdict rule;
    uint32_t window_ms;       /* length of a window */
    uint64_t until_ms;        /* end of a temporary; 0 = none */
    uint64_t demand_until_ms; /* profiled on demand until then; 0 = not asked for */
    event_intervals demand_events;
    uint32_t off_reason; /* why it is not profiled */
    char off_detail[512];
    event_intervals stopping_events; /* PHASE_STOPPING: the events that the session records */
    char warning[512];               /* settings that cannot be used, although others apply */
    phase phase;
    uint32_t reason; /* of the last failure, until a success */
    uint32_t session;
    char detail[512];
    uint32_t absent; /* 1 << event_id of the events that the session should record and does not */
    char absent_reason[256];
    bool busy;          /* a job runs on it */
    bool seen;          /* in the last list of attachd */
    uint64_t exited_ms; /* when the process was first missing; 0 = it runs */
    uint32_t jitter_ms;
    uint64_t due_ms;
    /* The session whose recording was read: its beginning, 0 = none; how far it was read into the
     * current batch; and how far into the queue. */
    uint64_t session_ms;
    uint64_t offset;
    uint64_t settled;
    /* Unix ms up to which the open batch and earlier batches have windows of it; 0 = it is not to
     * be profiled. */
    uint64_t told_ms;
    bool inherited; /* the queue of an earlier collector says how far it was read, and no START has
                       succeeded since */
    uint64_t backoff_ms;
    uint64_t window_start_ms;  /* nominal; kept over a cooldown, as an adopted session goes on */
    uint64_t failing_since_ms; /* since then no session could be started; 0 = one was, or none was
                                  tried */
    uint64_t last_window_ms;
    uint32_t last_length_ms;
    uint32_t last_covered_ms;
    uint64_t last_collector_ns; /* the collector's CPU time for that window, plus 1; 0 = none yet */
    void *memory;               /* of the recording reader */
    bool snapping;              /* a thread snapshot is being taken */
    uint64_t snapshot_due_ms;
    char snapshot_failure[256]; /* why the last snapshot failed; "" = it did not */
    void *snapshot_memory;      /* of the snapshot reader */
} target;

struct collector {
    collector_ports ports;
    collector_options options;
    const rule_set *rules;
    queue *queued;
    pthread_mutex_t lock;
    target *targets;
    target *exited; /* JVMs that have ended and must still be reported; oldest first */
    bool finishing;
    bool discovering;
    bool policy_changed;
    uint64_t clock_apart_ms; /* Unix time minus ports.steady_ms */
    int64_t clock_moved_ms;  /* how far the Unix time was moved since the start */
    uint64_t next_discovery_ms;
    unsigned jobs;      /* jobs that run */
    bool attachd_known; /* the first look was answered or failed */
    bool merged;        /* the list holds the JVMs of a look */
    char attachd_detail[512];
    local_finding lacks[LOCAL_FINDINGS_MAX]; /* findings of attachd; stats.attachd_lacks of them */
    batch pending;
    bool has_pending;
    uint64_t pending_since_ms;
    uint32_t flush_phase; /* random, so that collectors flush at different times */
    uint64_t drops_seen;  /* queue drops that have been reported */
    bool queue_full;
    batch_limits backend_limits;
    uint64_t backend_flush_ms; /* 0 = the backend has sent none */
    char engine[64];           /* the profiler and its version, from the recordings */
    collector_stats stats;
    workload_stats *workloads; /* options.max_workloads + 1; the first counts all others */
    size_t workload_count;
};

/* workloads.c; all with the lock held. Returns the counters of a workload, or of all others. */
workload_stats *collector__workload(collector *self, const target_labels *labels);
/* Counts a failed operation on one of the workload's JVMs. */
void collector__count_failure(collector *self, const target_labels *labels, uint32_t reason);

/* Returns an enum target_state. With the lock held. */
uint32_t collector__state(const target *one);

/* wanted.c; with the lock held. Decide what is wanted of a JVM without a running job, and its next
 * phase. */
void collector__decide(collector *self, target *one);
void collector__judge(collector *self, target *one);
/* Returns the last decision, as enum target_mode. */
uint32_t collector__mode(const target *one);
/* Decides again for all; returns the Unix ms at which the next temporary ends. */
uint64_t collector__reconsider(collector *self, uint64_t now);

/* A job's copy of the target's data, taken under the lock. */
typedef struct job {
    collector *self;
    target *on;
    uint64_t began_cpu_ns; /* of the job's thread */
    local_jvm jvm;
    rule_verdict rule;
    phase phase;
    uint32_t absent;
    uint32_t session; /* enum session_state */
    uint32_t jitter_ms;
    uint32_t window_ms;
    uint64_t window_start_ms;
    uint64_t due_ms;
    int64_t clock_moved_ms;
    uint64_t session_ms;
    uint64_t offset;
    uint64_t settled;
    void *memory;
} job;

job collector__begin(target *one);

/* A job of one of a target's lanes. */
typedef struct lane_job {
    void (*run)(void *argument);
    target *on;
} lane_job;

/* lanes.c; all with the lock held. */
/* Takes jobs that are due, up to `room`, within the cap on lanes; marks their lanes as running. */
size_t collector__take_due(collector *self, uint64_t now, lane_job *due, size_t room);
/* Says that a job found no thread: it is due again at that Unix ms. */
void collector__put_off(collector *self, lane_job due, uint64_t until_ms);
/* Returns the Unix ms at which the next job is due that may run; UINT64_MAX = none. */
uint64_t collector__next_due(const collector *self);
unsigned collector__lanes_running(const collector *self);
void collector__tell_lanes(const target *one, target_status *out);
/* Returns how many lanes have a job that is due and does not run. */
unsigned collector__lanes_waiting(const collector *self, uint64_t now);

/* Makes a request about the job's JVM, with an id of its own. */
local_request collector__about(const job *now, local_op op);

/*
 * Asks attachd, and sends the request once more when the answer was lost: attachd performs it once.
 * Returns 0, or -1 with the answer's reason and detail filled.
 */
int collector__ask(const job *now, const local_request *request, local_answer *answer);

/* Copies the bytes behind a handle into fd, then frees them in attachd. Returns 0, or -1 with a
 * sentence. */
int collector__fetch(const job *now, const local_answer *answer, int fd, char *message,
                     size_t size);

/* snapshots.c: takes the thread snapshot of a target that is due. A job. */
void collector__take_snapshot(void *argument);

/* discovery.c: looks at the host once. A job. */
void collector__discover(void *argument);

/* session.c: performs the step of a target's session that is due. A job. */
void collector__step(void *argument);
/* Stops the session of a target and takes its last window. A job. */
void collector__end_session(void *argument);

/* flush.c; both with the lock held. */
int collector__add_profile(collector *self, const local_jvm *jvm, const target_labels *labels,
                           const window_span *span, const profile *from);
int collector__add_snapshot(collector *self, const local_jvm *jvm, const target_labels *labels,
                            const thread_snapshot *from);
void collector__flush(collector *self);
/* Returns when the current batch must be cut; there must be one. */
uint64_t collector__flush_due(const collector *self);

/* lost.c; both with the lock held. Reports to the backend that nothing was recorded of these events
 * from `from_ms` to `to_ms`, and why. */
void collector__add_lost(target *one, const event_intervals *events, uint64_t from_ms,
                         uint64_t to_ms, uint32_t reason);
/* Reports all events as lost since the last window, or since no session could be started. */
void collector__lose_gap(target *one, uint64_t until_ms, uint32_t reason);
/* Reports the thread snapshots that a killed collector had not put into the queue. With the lock
 * held. */
void collector__lose_snapshots(target *one, uint64_t time_ms);

/* Frees the state that the readers keep for a target. */
void collector__forget(collector *self, target *one);

/* Sets the state and reason, and tells ports when they have changed. With the lock held. */
void collector__set_state(target *one, phase to, uint32_t reason, const char *detail);

void collector__say(collector *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
