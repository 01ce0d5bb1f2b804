/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kernel thread of each Java thread in /proc/PID/task, where it is certain. */
#ifndef ATTACH_THREADS_NATIVE_H
#define ATTACH_THREADS_NATIVE_H

#include "jvm/target_impl.h"
#include <attach/threads.h>

/* A kernel thread, read before and after the agent took the snapshot. */
typedef struct attach__task {
    uint32_t tid;
    char name[16]; /* comm: the thread's name, shortened */
    uint64_t before_ns;
    uint64_t after_ns;
    bool taken;
} attach__task;

typedef struct attach__tasks {
    attach__task *list; /* sorted by tid */
    size_t n;
} attach__tasks;

/* Reads names and CPU times; without procfs, or without memory, there are none. free(list). */
void attach__tasks_read(attach__tasks *out, const attach_target *target);
/* Reads the CPU times again; tasks that are gone leave the list. */
void attach__tasks_read_again(attach__tasks *tasks, const attach_target *target);

/*
 * Fills os_tids[0..count) for the snapshot's threads, with 0 where the kernel thread is not
 * certain. A task matches when its CPU time is exactly the thread's and it was idle, or when the
 * thread's CPU time lies within the time that the task used during the snapshot. The name has to
 * match too, unless the time alone is distinctive. A task is assigned to one thread only.
 */
void attach__tasks_join(uint32_t *os_tids, attach__tasks *tasks, const attach_threads *threads);

#endif
