/* SPDX-License-Identifier: Apache-2.0 */
/* tests/sample_batch.h: a small valid batch in memory that a test may change. */
#ifndef BACKEND_SAMPLE_BATCH_H
#define BACKEND_SAMPLE_BATCH_H

#include <contract/check.h>

enum {
    SAMPLE_ROWS = 4,
    SAMPLE_STACKS = 3,
    SAMPLE_WINDOWS = 2,
    SAMPLE_TARGETS = 2,
    SAMPLE_THREADS = 2
};

#define SAMPLE_DAY    20000u
#define SAMPLE_NOW_MS ((uint64_t)SAMPLE_DAY * DAY_MS + 3600000)

/* The columns that tests change. Targets 0 and 1 belong to the workloads "shop" and "bank". */
typedef struct sample_batch {
    profile_batch batch;
    char body[4];
    uint8_t batch_id[16], digest[16];
    uint8_t stack_ids[SAMPLE_STACKS * 16];
    uint32_t zeros[8];
    uint32_t workload[2], boot_id[2], pid[2];
    uint64_t ticks[2];
    uint32_t window_target[2], source[2], reason[2], length_ms[2], covered_ms[2];
    uint64_t start_ms[2], raw_amount_total[2], amount_total[2], raw_count_total[2];
    uint64_t count_total[2], zeros64[8];
    uint32_t row_window[4], row_pool[4], row_stack[4], facet[4];
    uint64_t raw_amount[4], amount[4], raw_count[4], count[4];
    uint32_t second_window[1], second[1];
    uint64_t second_amount[1], second_count[1];
    char strings[64];
    uint32_t lengths[5];
    /* Snapshots of target 0: two threads in a deadlock, each of which holds the lock that the other
     * wants. */
    uint32_t snapshot_target[1], interval_ms[1], threads_total[1];
    uint64_t taken_ms[1];
    uint32_t state_snapshot[2], state_name[2], state[2], state_flags[2], state_stack[2];
    uint32_t state_lock[2], lock_class[2], lock_identity[2];
    uint64_t java_tid[2], cpu_ns[2], owner_tid[2], cycle[2];
    uint32_t held_thread[2], held_lock[2], held_kind[2], held_depth[2], deadlock_thread[2];
    uint32_t deadlock_inferred[2];
    /* The dictionary: two frames, stacks {0}, {1}, {0, 1}. */
    char frame_strings[16];
    uint32_t frame_lengths[3], frame_class[2], frame_method[2], frame_line[2];
    char kinds[2], versions[3], flags[3];
    uint32_t depth[3], frames[4];
} sample_batch;

/* Fills everything; it contains pointers to itself, so that it must not be copied. */
void sample_batch_make(sample_batch *s);

/* Computes the digest again, after the body was changed. */
void sample_batch_sign(sample_batch *s);

#endif
