/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel thread a Java thread is, by /proc/PID/task, where that is certain. */
#ifndef ATTACH_THREADS_NATIVE_H
#define ATTACH_THREADS_NATIVE_H

#include "jvm/target_impl.h"
#include <attach/threads.h>

/* A kernel thread, looked at before and after the JVM was asked. */
typedef struct attach__task {
    uint32_t tid;
    char name[16]; /* comm: what fits of the thread's name */
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
 * Fills os_tids[0..count) for the snapshot's threads, 0 where it is not certain: a thread whose CPU
 * time is exactly that of one idle task, or lies within the time that one task used during the
 * snapshot; its name must fit where it has one that others share. A task is given to one thread
 * only.
 */
void attach__tasks_join(uint32_t *os_tids, attach__tasks *tasks, const attach_threads *threads);

#endif
