/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/store.h: the ports to the store, one for each concern. adapters/store implements them for
 * ClickHouse, and tests with a fake. Every function returns 0 or a STORE_ERR_ code with err filled.
 * Several threads may read at the same time.
 */
#ifndef BACKEND_STORE_H
#define BACKEND_STORE_H

#include <contract/payload.h>
#include <contract/verdict.h>

enum {
    STORE_OK = 0,
    STORE_ERR_UNAVAILABLE = -1, /* down, not migrated yet, or did not answer: try again later */
    STORE_ERR_BUSY = -2,        /* refuses because of load or memory: try again later */
    STORE_ERR_TIMEOUT = -3,     /* the query exceeded its time limit */
    STORE_ERR_FAILED = -4       /* will fail again: a bug, or a store that we do not understand */
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

/* The owner of stacks. */
typedef struct service_key {
    text cluster, namespace_name, workload;
} service_key;

/* A row of the table of stacks: stack index of the dictionary, under a service. */
typedef struct stack_use {
    uint32_t service; /* index into services */
    uint32_t stack;   /* index into the dictionary, or into the body's stack_ids: the member that
                         holds it says which */
} stack_use;

/* A batch that has been checked, with the data that the store needs to write it. */
typedef struct batch_write {
    const profile_batch *batch;
    const service_key *services;
    size_t service_count;
    const stack_use *stacks; /* rows for the stacks' table: dictionary indexes */
    size_t stack_count;
    uint64_t received_ms;
    const char *sender;    /* the token's name */
    unsigned token_number; /* used by the adapter only: the insert token of its blocks */
} batch_write;

/* ---- reads ---- */

/* The data that a user may see; an empty list: everything. */
typedef struct scope {
    const char *const *clusters;
    size_t cluster_count;
    const char *const *namespaces;
    size_t namespace_count;
    const char *const *workloads;
    size_t workload_count;
} scope;

/* The rows that a read selects. Strings NULL: any. */
typedef struct store_filter {
    const scope *scope;
    const char *cluster, *namespace_name, *workload;
    unsigned type; /* enum profile_type; 0: any */
    uint64_t from_ms, to_ms;
    uint64_t limit;
    /* Parts of a service, for samples, threads and deadlocks; target also for targets. */
    const char *pod, *container, *version, *pool;
    const char *object; /* for samples: the allocated class, or the class of the lock */
    uint64_t target;    /* 0: any */
    unsigned facet;     /* for samples: a part of their type (ingest.proto, Facet); 0: any */
    /* For reads of threads only. */
    uint64_t java_tid;     /* THREADS_OF_ONE */
    uint64_t bucket_ms;    /* THREADS_LANES; also for timelines and outcomes */
    uint64_t busy_percent; /* of a core, from which a thread counts as busy */
} store_filter;

/* Returns how many buckets of bucket_ms the filter's range has; the last one can be shorter. */
static inline uint64_t store_buckets(const store_filter *filter)
{
    return (filter->to_ms - filter->from_ms + filter->bucket_ms - 1) / filter->bucket_ms;
}

/* A service with its number of JVMs, and when it was last seen. */
typedef struct service_row {
    service_key key;
    uint64_t targets;
    uint64_t last_seen_ms;
} service_row;

/* The totals of one type of one service. */
typedef struct type_row {
    service_key key;
    unsigned type;
    uint64_t raw_total, value_total;
} type_row;

/* A thread pool of a selection, and in how many of its windows the pool's threads were sampled. */
typedef struct pool_row {
    text pool;
    uint64_t windows;
} pool_row;

typedef struct stack_frame {
    text class_name, method, file;
    uint32_t line;
    uint8_t kind;
} stack_frame;

/* The sum of the samples of one stack. */
typedef struct stack_sum {
    uint8_t stack_id[STACK_ID_BYTES];
    uint64_t raw_value, value, samples, rows;
} stack_sum;

/* A bucket of a timeline, counted from the filter's from_ms, that a window reaches which recorded
 * something. */
typedef struct bucket_row {
    uint64_t bucket, value, rows;
} bucket_row;

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
    text pod, container, node, service, version, jvm_version, detail;
    uint64_t target, pid, state, reason, session, mode;
    uint64_t until_ms; /* end of a temporary mode; 0 = it has none */
    uint64_t last_length_ms, last_covered_ms;
    uint64_t collector_ns; /* the collector's CPU time for that window, plus 1; 0 = unknown */
    uint64_t started_ms, last_window_ms, observed_ms;
    uint64_t reported_ms; /* the newest observation of any JVM from the same collector */
} target_row;

/* The thread snapshots of one JVM in the range, summed. */
typedef struct snapshot_source {
    service_key key;
    uint64_t target;
    text pod, container, node;
    uint64_t pid, taken, failed, reason;   /* reason: of the last failure */
    uint64_t cut, stacks_cut, no_cpu;      /* snapshots without some threads, stacks, CPU times */
    uint64_t first_ms, last_ms, failed_ms; /* first and last snapshot; last failure */
    uint64_t whole_ms; /* last snapshot that lacks no stacks and has one before it */
} snapshot_source;

/* The reads of threads; each says what its rows are. */
typedef enum thread_read {
    THREADS_USAGE,  /* one per (target, thread): sums over the range, most CPU first; threads that
                       neither ran nor used CPU are left out if the filter asks for busy ones */
    THREADS_OWNERS, /* one per (target, thread) that owns an awaited lock or is a carrier */
    THREADS_NEWEST, /* one per thread of each target's newest snapshot, by target and java_tid */
    THREADS_OF_ONE, /* one per snapshot of one thread, newest first */
    THREADS_LANES, /* one per (pool, bucket): sums, counts by state; first_ms: the bucket's begin */
    THREADS_WAITS, /* one per (target, thread, lock that it waits for) */
    THREADS_HOLDERS, /* one per (target, lock, its holder), of locks that are waited for */
    THREADS_PROFILE, /* one per (target, thread): CPU time by the profile */
    THREADS_DELAY,   /* one per class of lock: cpu_ns is the waiting time by the profile */
    THREAD_READS
} thread_read;

/* A row of such a read; fields that a read does not have are zero or empty. */
typedef struct thread_row {
    uint64_t target, first_ms, last_ms, java_tid, os_tid, state, flags;
    uint64_t cpu_ns, interval_ms; /* sums over the snapshots in which both are known */
    uint64_t snapshots, runnable, blocked, waiting, timed_waiting, lock_waits, threads;
    uint64_t lock_id, owner_tid, held_kind, held_depth, carries_tid;
    text name, pool, lock_class, owner, carries;
    text stack_id; /* STACK_ID_BYTES, all zero = none */
} thread_row;

/* A thread of a deadlock, over all its sightings. */
typedef struct sighting_row {
    service_key key;
    uint64_t target, cycle, first_ms, last_ms, position, java_tid, lock_id, lock_kind;
    uint64_t held_depth; /* plus 1; 0 = unknown */
    uint64_t inferred;
    text name, lock_class, stack_id;
} sighting_row;

/* Borrow the row for the call; return 0 to continue, else the read ends with STORE_ERR_FAILED. */
typedef int (*service_fn)(void *context, const service_row *row);
typedef int (*type_fn)(void *context, const type_row *row);
typedef int (*pool_fn)(void *context, const pool_row *row);
typedef int (*sum_fn)(void *context, const stack_sum *row);
typedef int (*bucket_fn)(void *context, const bucket_row *row);
typedef int (*stack_fn)(void *context, const stack_row *row);
typedef int (*target_fn)(void *context, const target_row *row);
typedef int (*source_fn)(void *context, const snapshot_source *row);
typedef int (*thread_fn)(void *context, const thread_row *row);
typedef int (*sighting_fn)(void *context, const sighting_row *row);

/* The windows of a selection, summed. */
typedef struct store_freshness {
    uint64_t until_ms;    /* end of the newest; 0 when there is none */
    uint64_t lost_events; /* lost by profiler or reader before they were counted, of all types */
    uint64_t asked_ms,
        recorded_ms;               /* sums over the windows: their lengths, and the recorded time */
    uint64_t lost_windows, reason; /* windows without a recording; why, for the newest */
    uint64_t fingerprint; /* of the windows: as long as it is the same, their samples are, too */
} store_freshness;

/* A batch that was not stored, for the ledger; where batch_id is zero, several batches of one
 * sender. */
typedef struct refusal {
    outcome status;
    uint8_t batch_id[16];
    char sender[64]; /* the token's name */
    char cluster[254], node[254], instance[254];
    char code[32];
    char message[256];
    uint64_t batches; /* number of batches in this row */
    uint64_t attempts, first_ms, last_ms;
    uint64_t created_ms;     /* when the collector cut it; last_ms where that is unknown */
    uint64_t from_ms, to_ms; /* time of its data */
    uint64_t body_bytes, windows, rows;
} refusal;

/* The newest heartbeat of a collector. */
typedef struct collector_row {
    text cluster, node, instance, version, engine;
    uint64_t run_id, received_ms, sent_ms, started_ms;
    uint64_t queued_bytes, queued_batches, queue_bytes, oldest_queued_ms;
    uint64_t cut_batches, last_success_ms, jvms_seen, jvms_profiled;
} collector_row;

/* Batches that a collector lost for one cause (catalogue/drop_cause.h). */
typedef struct drop_row {
    text cluster, instance;
    uint64_t cause, batches;
    uint64_t oldest_ms, newest_ms; /* when they were cut; 0 = unknown */
} drop_row;

/* Batches by outcome in one bucket of time. */
typedef struct outcome_row {
    uint64_t time_ms;
    uint64_t accepted, duplicate, rejected, retry;
    uint64_t rows; /* sample rows of the accepted ones */
} outcome_row;

/* A row of the ledger about a batch that was not accepted. */
typedef struct refused_row {
    text batch_id; /* 16 bytes; all zero where the row is about several */
    text status, sender, cluster, node, instance, code, message;
    uint64_t batches, attempts, first_ms, last_ms, body_bytes, windows, rows;
} refused_row;

/* The events of the windows in a range: all that were seen, and those that were cut or lost. */
typedef struct store_events {
    uint64_t seen, truncated, dropped, lost;
} store_events;

/* Batches that were never stored. */
typedef struct store_loss {
    uint64_t dropped, oldest_dropped_ms; /* by collectors */
    uint64_t rejected;
    char code[32]; /* of the newest rejection; "" = there is none */
} store_loss;

/* The content of a table of the store. */
typedef struct stored_table {
    text name;
    uint64_t rows, bytes, parts;
    uint64_t oldest_s;  /* Unix time of the oldest row; 0: the table is empty */
    uint64_t ttl_lag_s; /* how long that row has outlived the retention */
} stored_table;

typedef int (*stored_table_fn)(void *context, const stored_table *row);
typedef int (*collector_fn)(void *context, const collector_row *row);
typedef int (*drop_fn)(void *context, const drop_row *row);
typedef int (*outcome_fn)(void *context, const outcome_row *row);
typedef int (*refused_fn)(void *context, const refused_row *row);

/* ---- the ports, one for each concern; every function returns 0 or a STORE_ERR_ code ---- */

/* The port for batches; the writer's threads call it. */
typedef struct batch_port {
    /* Looks a stored batch up in the ledger. */
    int (*find_batch)(void *self, const uint8_t batch_id[16], ledger_entry *out, store_error *err);
    /* Sets known[i] if ids[i] is known for the service on that day; known is false at first. */
    int (*find_stacks)(void *self, const service_key *service, uint32_t day,
                       const uint8_t *const *ids, size_t count, bool *known, store_error *err);
    /* Writes all tables in order, the ledger last; 0 means that the whole batch is stored. */
    int (*write_batch)(void *self, const batch_write *write, store_error *err);
} batch_port;

/* The port for reports of collectors. Rows are collected in memory and written together. */
typedef struct report_port {
    /* STORE_ERR_BUSY: no room until the next flush. Any thread. */
    int (*add_status)(void *self, const status_batch *report, store_error *err);
    int (*add_heartbeat)(void *self, const heartbeat *beat, uint64_t received_ms, store_error *err);
    /* Writes the collected rows, and rows of the ledger. Rows that could not be written stay for
     * the next call, except those of the ledger, which the caller keeps. One thread. */
    int (*flush)(void *self, const refusal *refused, size_t count, store_error *err);
    /* Counts the collectors with a heartbeat since then. */
    int (*count_collectors)(void *self, uint64_t since_ms, uint64_t *count, store_error *err);
} report_port;

/* Queries of services and their profiles. */
typedef struct profile_port {
    int (*read_services)(void *self, const store_filter *filter, service_fn each, void *context,
                         store_error *err);
    int (*read_types)(void *self, const store_filter *filter, type_fn each, void *context,
                      store_error *err);
    /* The pools that the most windows have samples of come first. */
    int (*read_pools)(void *self, const store_filter *filter, pool_fn each, void *context,
                      store_error *err);
    /* One row per stack; filter has a type. */
    int (*read_sums)(void *self, const store_filter *filter, sum_fn each, void *context,
                     store_error *err);
    /* One row per bucket of filter->bucket_ms; filter has a type, and no facet and no object. */
    int (*read_timeline)(void *self, const store_filter *filter, bucket_fn each, void *context,
                         store_error *err);
    int (*read_fresh)(void *self, const store_filter *filter, store_freshness *out,
                      store_error *err);
    /* Reads the frames of `count` stacks of the filter's services, in any order, without those that
     * the store does not have. */
    int (*read_frames)(void *self, const store_filter *filter, const uint8_t *const *ids,
                       size_t count, stack_fn each, void *context, store_error *err);
} profile_port;

/* Queries of JVMs and their reports. */
typedef struct status_port {
    int (*read_targets)(void *self, const store_filter *filter, target_fn each, void *context,
                        store_error *err);
    /* Reads every observation of filter->target, newest first. */
    int (*read_history)(void *self, const store_filter *filter, target_fn each, void *context,
                        store_error *err);
} status_port;

/* Queries of thread snapshots. */
typedef struct thread_port {
    int (*read_sources)(void *self, const store_filter *filter, source_fn each, void *context,
                        store_error *err);
    int (*read_threads)(void *self, thread_read what, const store_filter *filter, thread_fn each,
                        void *context, store_error *err);
    /* Sorted by target, cycle and position; newest cycles first. */
    int (*read_sightings)(void *self, const store_filter *filter, sighting_fn each, void *context,
                          store_error *err);
} thread_port;

/* Queries of collectors and of the ledger. Hourly sums have a port of their own: rollups.h. */
typedef struct ingestion_port {
    /* One row per collector: its newest heartbeat in the range. */
    int (*read_collectors)(void *self, const store_filter *filter, collector_fn each, void *context,
                           store_error *err);
    /* The drops in the range, by collector and cause. */
    int (*read_drops)(void *self, const store_filter *filter, drop_fn each, void *context,
                      store_error *err);
    /* The batches of each status in buckets of filter->bucket_ms, by time. */
    int (*read_outcomes)(void *self, const store_filter *filter, outcome_fn each, void *context,
                         store_error *err);
    /* Rows of the ledger about batches that were not accepted, newest first. */
    int (*read_refused)(void *self, const store_filter *filter, refused_fn each, void *context,
                        store_error *err);
    int (*read_events)(void *self, const store_filter *filter, store_events *out, store_error *err);
    /* The losses of data of the range, on the nodes that the filter selects. */
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
