/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread snapshot of one JVM: the collector's plain form between the reader of snapshots and the
 * builder of batches. Indexes refer to the snapshot itself. docs/formats/ingest.md defines the
 * fields, as columns.
 */
#ifndef COLLECTOR_CORE_SNAPSHOT_H
#define COLLECTOR_CORE_SNAPSHOT_H

#include <contract/batch.h>

typedef struct thread_snapshot {
    string_table strings;
    batch_snapshot meta; /* its target is not used */
    batch_state *states; /* sorted by java_tid; `snapshot` is not used, `stack` is an index into
                            stacks, plus 1 */
    size_t state_count;
    batch_lock *locks;
    size_t lock_count;
    batch_held *held; /* sorted by thread */
    size_t held_count;
    batch_deadlock *deadlocks;
    size_t deadlock_count;
    profile_frame *frames;
    size_t frame_count;
    profile_stack *stacks;
    size_t stack_count;
    uint32_t *stack_frames;
    size_t stack_frame_count;
} thread_snapshot;

void thread_snapshot_clear(thread_snapshot *one);

/* Makes a snapshot that could not be taken: the time, and an enum reason. */
void thread_snapshot_failed(thread_snapshot *out, uint64_t taken_ms, uint32_t reason);

#endif
