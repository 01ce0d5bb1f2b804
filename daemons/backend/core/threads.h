/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The use cases behind /v1/threads, /v1/locks and /v1/deadlocks (docs/reference/query-api.md).
 * Thread rule: any thread; each call uses only its arguments and the store's read port.
 */
#ifndef BACKEND_THREADS_H
#define BACKEND_THREADS_H

#include <diagnosis/busy.h>
#include <diagnosis/locks.h>
#include <diagnosis/waits.h>

#include "copies.h"
#include "query.h"

/* How certain it is that a thread was busy. */
typedef enum confidence { EXACT_CPU, RUNNABLE_SAMPLES, PROFILE_ONLY } confidence;

typedef struct stack_entry {
    uint8_t id[STACK_ID_BYTES];
    const stack_frame *frames; /* leaf first */
    size_t depth;
} stack_entry;

/* A thread and its diagnosis; the report owns the row's texts. */
typedef struct thread_entry {
    thread_row row;
    confidence confidence; /* of busy ones */
    wait_kind wait;        /* for slow threads, as are the next members */
    uint64_t since_ms;
    uint64_t holder_tid; /* the thread that it waits for; 0 = unknown */
    text holder, holder_state;
    text awaited_class;      /* probably initialised by the holder; "" = it waits for a lock */
    holder_kind holder_kind; /* also for a holder of locks */
    text *chain;             /* names of the threads from the holder to the one that runs */
    size_t chain_length;
} thread_entry;

typedef struct thread_entries {
    thread_entry *items;
    size_t count, room;
} thread_entries;

/* A lock that threads waited for, by target, class and identity hash. */
typedef struct lock_entry {
    uint64_t target, lock_id, first_ms, last_ms;
    text lock_class;
    const char *kind;
    uint64_t waits;    /* waiting threads, summed over the snapshots */
    uint64_t waiters;  /* distinct threads that waited */
    uint64_t delay_ns; /* waiting time for this class of lock by the profile; 0 = not recorded */
    thread_entries waiting, holders;
} lock_entry;

/* A thread of a deadlock; the report owns the row's texts. */
typedef struct deadlock_entry {
    service_key key;
    uint64_t target, cycle, first_ms, last_ms;
    uint64_t ended_ms; /* 0: it still exists */
    const char *end_reason;
    bool inferred; /* probable: the JVM itself has not found it */
    sighting_row *threads;
    size_t thread_count;
} deadlock_entry;

/* Everything in one answer. Zero it to begin; free with thread_report_free. */
typedef struct thread_report {
    copies copies;
    bool begun; /* sources and meta are filled */
    snapshot_source *sources;
    size_t source_count, source_room;
    bool has_profile;
    thread_entries busy, slow, lanes, snapshots;
    lock_entry *locks;
    size_t lock_count, lock_room;
    deadlock_entry *deadlocks;
    size_t deadlock_count, deadlock_room;
    stack_entry *stacks; /* sorted by id */
    size_t stack_count, stack_room;
} thread_report;

void thread_report_free(thread_report *report);

/* Return the source of a target, or NULL; and the frames of a stack, or NULL where it is
 * unknown. */
const snapshot_source *report_source(const thread_report *report, uint64_t target);
const stack_entry *report_stack(const thread_report *report, text stack_id);

/* Returns the class of the innermost static initialiser on a stack of the report, or "". */
text report_initialised(const thread_report *report, text stack_id);

/* Returns "RUNNABLE", "BLOCKED" ...; never NULL. */
const char *thread_state_name(uint64_t state);

/* Reads the part that every answer begins with: how fresh the data is, and the sources. The
 * functions below call it, unless it has been called. */
query_code query_sources(const query *q, const store_filter *filter, thread_report *out,
                         query_meta *meta, store_error *err);
/* Returns the fingerprint of the snapshots and windows that query_sources read. As long as it is
 * the same, busy and slow threads, locks, and the snapshots of one thread are the same. */
uint64_t sources_fingerprint(const thread_report *report, const query_meta *meta);

/* Each function fills the data of its route, and meta; filter must have namespace and workload,
 * except for deadlocks. */
query_code query_threads(const query *q, const store_filter *filter, thread_report *out,
                         query_meta *meta, store_error *err);
query_code query_lanes(const query *q, const store_filter *filter, thread_report *out,
                       query_meta *meta, store_error *err);
query_code query_thread(const query *q, const store_filter *filter, thread_report *out,
                        query_meta *meta, store_error *err);
query_code query_locks(const query *q, const store_filter *filter, thread_report *out,
                       query_meta *meta, store_error *err);
/* cycle: only this one, of filter->target; 0: all. */
query_code query_deadlocks(const query *q, const store_filter *filter, uint64_t cycle,
                           thread_report *out, query_meta *meta, store_error *err);

/* ---- shared inside the core ---- */

/* Returns a row in the form for the diagnosis, borrowed. */
diagnosed_thread report_diagnosed(const thread_report *report, const thread_row *row);
/* Appends a row with copies of its texts. NULL: no memory. */
thread_entry *report_add(thread_report *report, thread_entries *to, const thread_row *row);
/* Reads the frames of those stacks of the entries that the report does not have yet. */
query_code report_read_stacks(const query *q, const store_filter *filter, thread_report *out,
                              const thread_entries *const *lists, size_t count, store_error *err);

#endif
