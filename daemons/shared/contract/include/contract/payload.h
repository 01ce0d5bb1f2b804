/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payloads of a collector as columns (docs/formats/ingest.md), whatever their wire format was. All
 * pointers are borrowed from the decoded payload.
 */
#ifndef CONTRACT_PAYLOAD_H
#define CONTRACT_PAYLOAD_H

#include <contract/text.h>

/* A table of strings: their bytes one after another, and the length of each. */
typedef struct string_columns {
    text data;
    u32s length;
    uint32_t *offset; /* set by the check: where each entry begins; freed by the batch's owner */
} string_columns;

/* Returns entry index of a checked table. */
text string_at(const string_columns *table, uint32_t index);

typedef struct collector_id {
    text cluster;
    text node;
    text instance;
    text version;
    uint64_t run_id;
} collector_id;

typedef struct target_columns {
    u32s namespace_name, workload_kind, workload, pod, container, pod_uid, container_id, boot_id;
    u32s host_pid, ns_pid;
    u64s start_ticks, start_ms;
    u32s jvm_version, jvm_vendor, main_class, app_version, image, service;
} target_columns;

/* The four numbers of struct profile_sum. */
typedef struct sum_columns {
    u64s raw_amount, amount, raw_count, count;
} sum_columns;

typedef struct window_columns {
    u32s target, source;
    u64s start_ms;
    u32s length_ms, covered_ms, engine;
    u64s interval;
    sum_columns total;
    u64s truncated_amount, truncated_count, dropped_amount, dropped_count, dropped_stacks;
    u64s lost_events;
    u32s reason;
} window_columns;

typedef struct sample_columns {
    u32s window, pool, stack;
    sum_columns sum;
    u32s facet, object;
} sample_columns;

typedef struct second_columns {
    u32s window, pool, second;
    u64s amount, count;
} second_columns;

typedef struct thread_columns {
    u32s window;
    u64s os_tid, java_tid;
    u32s name, pool;
    sum_columns sum;
} thread_columns;

typedef struct snapshot_columns {
    u32s target;
    u64s taken_ms;
    u32s interval_ms, threads_total, reason, cut, offers;
    u64s longest_pause_ns;
} snapshot_columns;

typedef struct state_columns {
    u32s snapshot;
    u64s java_tid, os_tid;
    u32s name, pool, state, flags;
    u64s cpu_ns, allocated_bytes, blocked_ms, waited_ms; /* plus 1; 0 = unknown */
    u32s stack, lock;                                    /* plus 1; 0 = none */
    u64s owner_tid;
    u32s owner;
    u64s carries_tid;
    u32s carries;
} state_columns;

typedef struct lock_columns {
    u32s class_name, identity;
} lock_columns;

typedef struct held_columns {
    u32s thread, lock, kind, depth;
} held_columns;

typedef struct deadlock_columns {
    u64s cycle;
    u32s thread, inferred;
} deadlock_columns;

typedef struct stack_dictionary {
    string_columns strings;
    u32s frame_class, frame_method, frame_file, frame_line;
    text frame_kind;
    text stack_ids;
    text normaliser;
    u32s stack_depth;
    text stack_flags;
    u32s stack_frame;
} stack_dictionary;

typedef struct profile_batch {
    text batch_id;
    text body;
    text digest;
    uint32_t attempt;   /* above 1: an earlier try may have stored a part */
    uint64_t waited_ms; /* since the first try; 0 = this is the first */
    uint32_t contract;
    collector_id collector;
    uint32_t day;
    uint64_t created_ms;
    string_columns strings;
    target_columns targets;
    window_columns windows;
    sample_columns samples;
    second_columns seconds;
    thread_columns threads;
    snapshot_columns snapshots;
    state_columns states;
    lock_columns locks;
    held_columns held;
    deadlock_columns deadlocks;
    text stack_ids;
    stack_dictionary stacks;
} profile_batch;

typedef struct status_columns {
    u64s observed_ms;
    u32s state, reason, detail;
    u64s last_window_ms;
    u32s session, mode;
    u64s until_ms;
    u32s last_length_ms, last_covered_ms;
    u64s collector_ns; /* plus 1; 0 = unknown */
} status_columns;

typedef struct status_batch {
    uint32_t contract;
    collector_id collector;
    string_columns strings;
    target_columns targets;
    status_columns status;
} status_batch;

/* Batches that a collector lost for good, one entry per cause (catalogue/drop_cause.h). */
typedef struct drop_columns {
    u32s cause;
    u64s batches;              /* in the run */
    u64s oldest_ms, newest_ms; /* cut times of the batches that no earlier heartbeat reported */
} drop_columns;

typedef struct heartbeat {
    uint32_t contract;
    collector_id collector;
    uint64_t sent_ms, started_ms;
    text engine;
    uint64_t queued_bytes, queued_batches, queue_bytes, oldest_queued_ms;
    uint64_t cut_batches, last_success_ms;
    drop_columns drops;
    uint32_t jvms_seen, jvms_profiled;
} heartbeat;

enum { STACK_ID_BYTES = 16, DAY_MS = 86400000, HELD_PER_THREAD_MAX = 256 };

/* Returns the id of a target: XXH3-64 of boot id, host pid and start ticks
 * (docs/formats/storage.md). */
uint64_t target_id(text boot_id, uint32_t host_pid, uint64_t start_ticks);

/* Does the same for entry `index` of checked columns. */
uint64_t target_id_at(const target_columns *targets, const string_columns *strings, uint32_t index);

#endif
