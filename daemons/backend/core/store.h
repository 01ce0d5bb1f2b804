/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/store.h: the ports to the store, one a concern. adapters/store fills them for ClickHouse;
 * tests with a fake. Every function returns 0 or a STORE_ERR_ code with err filled. Reads may come
 * from several threads at once.
 */
#ifndef BACKEND_STORE_H
#define BACKEND_STORE_H

#include <contract/payload.h>
#include <contract/verdict.h>

enum {
    STORE_OK = 0,
    STORE_ERR_UNAVAILABLE = -1, /* down, not migrated yet, or did not answer: try again later */
    STORE_ERR_BUSY = -2,        /* refuses for load or memory: try again later */
    STORE_ERR_TIMEOUT = -3,     /* the query ran past its budget */
    STORE_ERR_FAILED = -4       /* will fail again: a bug or a store that we do not understand */
};

typedef struct store_error {
    int code;
    char message[512];
} store_error;

/* A row of the ledger. */
typedef struct ledger_entry {
    bool found;
    unsigned char digest[16];
} ledger_entry;

/* Who the stacks belong to. */
typedef struct service_key {
    text cluster, namespace_name, workload;
} service_key;

/* What is written to the stacks' table: stack index of the dictionary, under a service. */
typedef struct stack_use {
    uint32_t service; /* index into services */
    uint32_t stack;   /* index into the dictionary, or the body's stack_ids: see where it is used */
} stack_use;

/* A batch that has been checked, with what the store needs to write it. */
typedef struct batch_write {
    const profile_batch *batch;
    const service_key *services;
    size_t service_count;
    const stack_use *stacks; /* rows for the stacks' table: dictionary indexes */
    size_t stack_count;
    uint64_t received_ms;
    const char *sender;    /* the token's name */
    unsigned token_number; /* of the adapter's own: which insert token its blocks carry */
} batch_write;

/* ---- reads ---- */

/* What a user may see; an empty list: everything. */
typedef struct scope {
    const char *const *clusters;
    size_t cluster_count;
    const char *const *namespaces;
    size_t namespace_count;
    const char *const *workloads;
    size_t workload_count;
} scope;

/* Which rows a read is about. Strings NULL: any. */
typedef struct store_filter {
    const scope *scope;
    const char *cluster, *namespace_name, *workload;
    unsigned type; /* enum profile_type; 0: any */
    uint64_t from_ms, to_ms;
    uint64_t limit;
    /* Parts of a service: of samples, threads and deadlocks; target also of targets. */
    const char *pod, *container, *version, *pool;
    const char *object; /* of samples: the class allocated, or of the lock */
    uint64_t target;    /* 0: any */
    unsigned facet;     /* of samples: a part of their type (ingest.proto, Facet); 0: any */
    /* Reads of threads alone. */
    uint64_t java_tid;     /* THREADS_OF_ONE */
    uint64_t bucket_ms;    /* THREADS_LANES */
    uint64_t busy_percent; /* of a core, from which on a thread is busy */
} store_filter;

/* One service's JVM count and last sign of life. */
typedef struct service_row {
    service_key key;
    uint64_t targets;
    uint64_t last_seen_ms;
} service_row;

/* Totals of one type of one service. */
typedef struct type_row {
    service_key key;
    unsigned type;
    uint64_t raw_total, value_total;
} type_row;

typedef struct stack_frame {
    text class_name, method, file;
    uint32_t line;
    uint8_t kind;
} stack_frame;

/* What the samples of one stack come to. */
typedef struct stack_sum {
    uint8_t stack_id[STACK_ID_BYTES];
    uint64_t raw_value, value, samples, rows;
} stack_sum;

/* The frames of one stack. */
typedef struct stack_row {
    const uint8_t *stack_id;
    unsigned flags;
    const stack_frame *frames; /* leaf first */
    size_t depth;
} stack_row;

/* The last verdict on one JVM. */
typedef struct target_row {
    service_key key;
    text pod, container, node, service, jvm_version, detail;
    uint64_t target, pid, state, reason, session, mode;
    uint64_t until_ms; /* end of a temporary mode; 0 = it has none */
    uint64_t last_length_ms, last_covered_ms;
    uint64_t collector_ns; /* CPU time of the collector for that window, plus 1; 0 = not known */
    uint64_t started_ms, last_window_ms, observed_ms;
    uint64_t reported_ms; /* the newest observation that its collector sent of any JVM */
} target_row;

/* What the thread snapshots of one JVM in the range came to. */
typedef struct snapshot_source {
    service_key key;
    uint64_t target;
    text pod, container, node;
    uint64_t pid, taken, failed, reason;   /* reason: of the last that failed */
    uint64_t cut, stacks_cut, no_cpu;      /* snapshots that lack threads, stacks, CPU times */
    uint64_t first_ms, last_ms, failed_ms; /* of those taken; of the last that failed */
} snapshot_source;

/* What is asked of threads; each says what its rows are. */
typedef enum thread_read {
    THREADS_USAGE,  /* one a (target, thread): sums over the range, the most CPU first; where the
                       filter asks for busy ones, without those that neither ran nor used CPU */
    THREADS_OWNERS, /* one a (target, thread) that owns a lock which another one waits for, or is a
                       carrier */
    THREADS_NEWEST, /* one a thread of each target's newest snapshot, by target and java_tid */
    THREADS_OF_ONE, /* one a snapshot of one thread, the newest first */
    THREADS_LANES, /* one a (pool, bucket): sums, counts by state; first_ms is the bucket's begin */
    THREADS_WAITS, /* one a (target, thread, lock that it waits for) */
    THREADS_HOLDERS, /* one a (target, lock, thread that holds it), of locks that are waited for */
    THREADS_PROFILE, /* one a (target, thread): CPU time by the profile */
    THREADS_DELAY,   /* one a class of lock: cpu_ns is the waiting time by the profile */
    THREAD_READS
} thread_read;

/* A row of such a read; what a read does not have is zero or empty. */
typedef struct thread_row {
    uint64_t target, first_ms, last_ms, java_tid, os_tid, state, flags;
    uint64_t cpu_ns, interval_ms; /* sums over the snapshots in which both are known */
    uint64_t snapshots, runnable, blocked, waiting, timed_waiting, lock_waits, threads;
    uint64_t lock_id, owner_tid, held_kind, held_depth, carries_tid;
    text name, pool, lock_class, owner, carries;
    text stack_id; /* STACK_ID_BYTES, all zero = none */
} thread_row;

/* A thread of a deadlock, over all sightings of it. */
typedef struct sighting_row {
    service_key key;
    uint64_t target, cycle, first_ms, last_ms, position, java_tid, lock_id, lock_kind;
    uint64_t held_depth; /* plus 1; 0 = not known */
    uint64_t inferred;
    text name, lock_class, stack_id;
} sighting_row;

/* Borrowed for the call; returns 0 to go on, else the read ends with STORE_ERR_FAILED. */
typedef int (*service_fn)(void *context, const service_row *row);
typedef int (*type_fn)(void *context, const type_row *row);
typedef int (*sum_fn)(void *context, const stack_sum *row);
typedef int (*stack_fn)(void *context, const stack_row *row);
typedef int (*target_fn)(void *context, const target_row *row);
typedef int (*source_fn)(void *context, const snapshot_source *row);
typedef int (*thread_fn)(void *context, const thread_row *row);
typedef int (*sighting_fn)(void *context, const sighting_row *row);

/* What the windows of a selection say together. */
typedef struct store_freshness {
    uint64_t until_ms;    /* end of the newest; 0 when there is none */
    uint64_t lost_events; /* lost before they were counted, by profiler or reader, of all types */
    uint64_t asked_ms,
        recorded_ms;               /* sums over the windows: their lengths, and what was recorded */
    uint64_t lost_windows, reason; /* of which nothing was recorded; why, of the newest */
    uint64_t fingerprint;          /* of the windows: while it is the same, so are their samples */
} store_freshness;

/* A call about a batch that ended otherwise than with it stored, for the ledger; or, where
 * batch_id is zero, several of one sender. */
typedef struct refusal {
    outcome status;
    uint8_t batch_id[16];
    char sender[64]; /* the token's name */
    char cluster[254], node[254], instance[254];
    char code[32];
    char message[256];
    uint64_t batches; /* that the row stands for */
    uint64_t attempts, first_ms, last_ms;
    uint64_t created_ms;     /* cut by the collector; last_ms where that is not known */
    uint64_t from_ms, to_ms; /* of its data */
    uint64_t body_bytes, windows, rows;
} refusal;

/* The newest heartbeat of a collector. */
typedef struct collector_row {
    text cluster, node, instance, version, engine;
    uint64_t run_id, received_ms, sent_ms, started_ms;
    uint64_t queued_bytes, queued_batches, queue_bytes, oldest_queued_ms;
    uint64_t cut_batches, last_success_ms, jvms_seen, jvms_profiled;
} collector_row;

/* Batches that a collector lost, of one cause (catalogue/drop_cause.h). */
typedef struct drop_row {
    text cluster, instance;
    uint64_t cause, batches;
    uint64_t oldest_ms, newest_ms; /* when they were cut; 0 = not known */
} drop_row;

/* Batches by outcome in one bucket of time. */
typedef struct outcome_row {
    uint64_t time_ms;
    uint64_t accepted, duplicate, rejected, retry;
    uint64_t rows; /* sample rows of those accepted */
} outcome_row;

/* A row of the ledger that is not of an accepted batch. */
typedef struct refused_row {
    text batch_id; /* 16 bytes; all zero where the row stands for several */
    text status, sender, cluster, node, instance, code, message;
    uint64_t batches, attempts, first_ms, last_ms, body_bytes, windows, rows;
} refused_row;

/* Events of the windows in a range: all that were seen, and of them what was cut. */
typedef struct store_events {
    uint64_t seen, truncated, dropped, lost;
} store_events;

/* Batches that never came into the store. */
typedef struct store_loss {
    uint64_t dropped, oldest_dropped_ms; /* by collectors */
    uint64_t rejected;
    char code[32]; /* of the newest rejection; "" = there is none */
} store_loss;

/* What a table of the store holds. */
typedef struct stored_table {
    text name;
    uint64_t rows, bytes, parts;
    uint64_t oldest_s;  /* Unix time of the oldest row; 0: there is none */
    uint64_t ttl_lag_s; /* how long that row has outlived the retention */
} stored_table;

typedef int (*stored_table_fn)(void *context, const stored_table *row);
typedef int (*collector_fn)(void *context, const collector_row *row);
typedef int (*drop_fn)(void *context, const drop_row *row);
typedef int (*outcome_fn)(void *context, const outcome_row *row);
typedef int (*refused_fn)(void *context, const refused_row *row);

/* ---- the ports, one a concern; every function returns 0 or a STORE_ERR_ code ---- */

/* What batches need; called by the writer's threads. */
typedef struct batch_port {
    /* Looks a stored batch up in the ledger. */
    int (*find_batch)(void *self, const uint8_t batch_id[16], ledger_entry *out, store_error *err);
    /* known[i] says whether ids[i] is known for the service on that day; false at first. */
    int (*find_stacks)(void *self, const service_key *service, uint32_t day,
                       const uint8_t *const *ids, size_t count, bool *known, store_error *err);
    /* Writes all tables in order, the ledger last: 0 means that the whole batch is stored. */
    int (*write_batch)(void *self, const batch_write *write, store_error *err);
} batch_port;

/* What collectors report. Rows are gathered in memory and written together. */
typedef struct report_port {
    /* STORE_ERR_BUSY: there is no room until the next flush. Any thread. */
    int (*add_status)(void *self, const status_batch *report, store_error *err);
    int (*add_heartbeat)(void *self, const heartbeat *beat, uint64_t received_ms, store_error *err);
    /* Writes what is gathered, and rows of the ledger. What could not be written stays for the next
     * call, but the rows of the ledger, which the caller keeps. One thread. */
    int (*flush)(void *self, const refusal *refused, size_t count, store_error *err);
    /* Collectors with a heartbeat since then. */
    int (*count_collectors)(void *self, uint64_t since_ms, uint64_t *count, store_error *err);
} report_port;

/* Queries of services and their profiles. */
typedef struct profile_port {
    int (*read_services)(void *self, const store_filter *filter, service_fn each, void *context,
                         store_error *err);
    int (*read_types)(void *self, const store_filter *filter, type_fn each, void *context,
                      store_error *err);
    /* One a stack; filter has a type. */
    int (*read_sums)(void *self, const store_filter *filter, sum_fn each, void *context,
                     store_error *err);
    int (*read_fresh)(void *self, const store_filter *filter, store_freshness *out,
                      store_error *err);
    /* The frames of `count` stacks of the filter's services, in any order; none of those that the
     * store has not. */
    int (*read_frames)(void *self, const store_filter *filter, const uint8_t *const *ids,
                       size_t count, stack_fn each, void *context, store_error *err);
} profile_port;

/* Queries of JVMs and what was told of them. */
typedef struct status_port {
    int (*read_targets)(void *self, const store_filter *filter, target_fn each, void *context,
                        store_error *err);
    /* Every observation of filter->target, the newest first. */
    int (*read_history)(void *self, const store_filter *filter, target_fn each, void *context,
                        store_error *err);
} status_port;

/* Queries of thread snapshots. */
typedef struct thread_port {
    int (*read_sources)(void *self, const store_filter *filter, source_fn each, void *context,
                        store_error *err);
    int (*read_threads)(void *self, thread_read what, const store_filter *filter, thread_fn each,
                        void *context, store_error *err);
    /* By target, cycle and position; the newest cycles first. */
    int (*read_sightings)(void *self, const store_filter *filter, sighting_fn each, void *context,
                          store_error *err);
} thread_port;

/* Queries of collectors and of the ledger. Hourly sums have a port of their own: rollups.h. */
typedef struct ingestion_port {
    /* One row a collector: its newest heartbeat of the range. */
    int (*read_collectors)(void *self, const store_filter *filter, collector_fn each, void *context,
                           store_error *err);
    /* By collector and cause: what was dropped in the range. */
    int (*read_drops)(void *self, const store_filter *filter, drop_fn each, void *context,
                      store_error *err);
    /* By time: batches of each status in buckets of filter->bucket_ms. */
    int (*read_outcomes)(void *self, const store_filter *filter, outcome_fn each, void *context,
                         store_error *err);
    /* Rows of the ledger that are not of accepted batches, the newest first. */
    int (*read_refused)(void *self, const store_filter *filter, refused_fn each, void *context,
                        store_error *err);
    int (*read_events)(void *self, const store_filter *filter, store_events *out, store_error *err);
    /* What was lost on the way of data of the range, on the nodes that the filter is about. */
    int (*read_loss)(void *self, const store_filter *filter, store_loss *out, store_error *err);
    /* Every table whose rows expire, by name. */
    int (*read_tables)(void *self, stored_table_fn each, void *context, store_error *err);
} ingestion_port;

typedef struct store {
    const batch_port *batches;
    const report_port *reports;
    const profile_port *profiles;
    const status_port *status;
    const thread_port *threads;
    const ingestion_port *ingestion;
    void *self;
} store;

#endif
