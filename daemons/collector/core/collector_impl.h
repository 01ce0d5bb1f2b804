/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the collector's core share. */
#ifndef COLLECTOR_CORE_IMPL_H
#define COLLECTOR_CORE_IMPL_H

#include "collector.h"

#include <pthread.h>

enum { FLUSH_MS_MAX = 300000 };

typedef enum phase {
    PHASE_OFF,       /* nobody asked, or it cannot be: see reason */
    PHASE_WARMING,   /* the start-up delay runs */
    PHASE_STARTING,  /* to be started at due_ms */
    PHASE_PROFILING, /* a window ends at due_ms */
    PHASE_COOLDOWN,  /* failed; started again at due_ms */
    PHASE_STOPPING,  /* no longer wanted as it runs; stopped at due_ms, then judged anew */
} phase;

/* One JVM. Guarded by the collector's lock; a job works on a copy. */
typedef struct target {
    struct target *next;
    collector *owner;
    local_jvm jvm;
    rule_verdict rule;
    uint32_t window_ms;       /* length of a window */
    uint64_t until_ms;        /* end of a temporary; 0 = none */
    uint64_t demand_until_ms; /* collector_profile_for: until when; 0 = not asked for */
    event_intervals demand_events;
    uint32_t off_reason; /* why it is not wanted */
    char off_detail[512];
    event_intervals stopping_events; /* PHASE_STOPPING: what the session records */
    char warning[512];               /* settings that cannot be used, while others are in force */
    phase phase;
    uint32_t reason; /* the last, until a success */
    uint32_t session;
    char detail[512];
    uint32_t absent; /* 1 << event_id of what the session was to record and does not */
    char absent_reason[256];
    bool busy;          /* a job runs on it */
    bool seen;          /* in the last list */
    uint64_t exited_ms; /* the process was first missing then; 0 = it runs */
    uint32_t jitter_ms;
    uint64_t due_ms;
    /* The session whose recording was read: when it began, 0 = none; up to where, in the batch
     * under way; and up to where in the queue. */
    uint64_t session_ms;
    uint64_t offset;
    uint64_t settled;
    /* Unix ms up to which the batch under way and those before it have windows of it; 0 = nobody
     * wanted any. */
    uint64_t told_ms;
    bool inherited; /* from a collector before this one, whose queue says how far it was read: no
                       START has been answered since */
    uint64_t backoff_ms;
    uint64_t window_start_ms; /* nominal; kept over a cooldown, for an adopted session goes on */
    uint64_t
        failing_since_ms; /* no session could be started since then; 0 = one was, or not tried */
    uint64_t last_window_ms;
    uint32_t last_length_ms;
    uint32_t last_covered_ms;
    uint64_t last_collector_ns; /* CPU time that we spent on that window, plus 1; 0 = none yet */
    void *memory;               /* the recording reader's */
    bool snapping;              /* a thread snapshot is taken */
    uint64_t snapshot_due_ms;
    char snapshot_failure[256]; /* why the last snapshot failed; "" = it did not */
    void *snapshot_memory;      /* the snapshot reader's */
} target;

struct collector {
    collector_ports ports;
    collector_options options;
    const rule_set *rules;
    queue *queued;
    pthread_mutex_t lock;
    target *targets;
    target *exited; /* processes that have ended, which is still to be told; the oldest first */
    bool finishing;
    bool discovering;
    bool policy_changed;
    uint64_t clock_apart_ms; /* Unix time less ports.steady_ms */
    int64_t clock_moved_ms;  /* by so much the Unix time was set since the start */
    uint64_t next_discovery_ms;
    unsigned jobs;      /* that run */
    bool attachd_known; /* the first look has been answered or failed */
    bool merged;        /* the JVMs of a look are in the list */
    char attachd_detail[512];
    local_finding lacks[LOCAL_FINDINGS_MAX]; /* what attachd lacks; stats.attachd_lacks of them */
    batch pending;
    bool has_pending;
    uint64_t pending_since_ms;
    uint32_t flush_phase; /* random: collectors flush at different moments of the interval */
    uint64_t drops_seen;  /* queue drops that a report has told */
    bool queue_full;
    batch_limits backend_limits;
    uint64_t backend_flush_ms; /* 0 = it has not said */
    char engine[64];           /* the profiler and its version, as the recordings say */
    collector_stats stats;
    workload_stats *workloads; /* options.max_workloads and 1; the first is of all others */
    size_t workload_count;
};

/* workloads.c; all with the lock held. The counters of a workload, or those of all others. */
workload_stats *collector__workload(collector *self, const target_labels *labels);
/* An operation on one of its JVMs failed. */
void collector__count_failure(collector *self, const target_labels *labels, uint32_t reason);

/* With the lock held: enum target_state. */
uint32_t collector__state(const target *one);

/* wanted.c; with the lock held. What is wanted of a JVM that no job works on, and its next phase.
 */
void collector__decide(collector *self, target *one);
void collector__judge(collector *self, target *one);
/* What was decided last, as enum target_mode. */
uint32_t collector__mode(const target *one);
/* Decides anew for all; returns the Unix ms at which a temporary ends next. */
uint64_t collector__reconsider(collector *self, uint64_t now);

/* What a job needs of its target, taken under the lock. */
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
/* A job that found no thread: it is due again at that Unix ms. */
void collector__put_off(collector *self, lane_job due, uint64_t until_ms);
/* The Unix ms at which the next job is due that may run; UINT64_MAX = none. */
uint64_t collector__next_due(const collector *self);
unsigned collector__lanes_running(const collector *self);
void collector__tell_lanes(const target *one, target_status *out);
/* Lanes whose job is due and does not run. */
unsigned collector__lanes_waiting(const collector *self, uint64_t now);

/* A request about the job's JVM with an id of its own. */
local_request collector__about(const job *now, local_op op);

/*
 * Asks attachd, and asks the same once more where the answer was lost: attachd does it once. 0, or
 * -1 with the answer's reason and detail filled.
 */
int collector__ask(const job *now, const local_request *request, local_answer *answer);

/* Copies the bytes behind a handle into fd, then frees them there. 0, or -1 with a sentence. */
int collector__fetch(const job *now, const local_answer *answer, int fd, char *message,
                     size_t size);

/* snapshots.c: takes the thread snapshot that is due on a target. A job. */
void collector__take_snapshot(void *argument);

/* discovery.c: looks at the host once. A job. */
void collector__discover(void *argument);

/* session.c: the step that is due on one target. A job. */
void collector__step(void *argument);
/* Stops the session of a target that profiles and takes its last window. A job. */
void collector__end_session(void *argument);

/* flush.c; both with the lock held. */
int collector__add_profile(collector *self, const local_jvm *jvm, const target_labels *labels,
                           const window_span *span, const profile *from);
int collector__add_snapshot(collector *self, const local_jvm *jvm, const target_labels *labels,
                            const thread_snapshot *from);
void collector__flush(collector *self);
/* When the batch under way is to be cut; there is one. */
uint64_t collector__flush_due(const collector *self);

/* lost.c; both with the lock held. Tells the backend that of these events nothing was recorded
 * from `from_ms` to `to_ms`, and why. */
void collector__add_lost(target *one, const event_intervals *events, uint64_t from_ms,
                         uint64_t to_ms, uint32_t reason);
/* The same for all since the last window, or since no session could be started. */
void collector__lose_gap(target *one, uint64_t until_ms, uint32_t reason);
/* Tells that a collector before this one was killed with thread snapshots that were not in the
 * queue. With the lock held. */
void collector__lose_snapshots(target *one, uint64_t time_ms);

/* Frees what the readers keep of a target. */
void collector__forget(collector *self, target *one);

/* With the lock held: a new state or reason; tells when it is another. */
void collector__set_state(target *one, phase to, uint32_t reason, const char *detail);

void collector__say(collector *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
