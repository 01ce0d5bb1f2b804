/* SPDX-License-Identifier: Apache-2.0 */
/* The private part of a decoded snapshot. */
#ifndef ATTACH_THREADS_INTERNAL_H
#define ATTACH_THREADS_INTERNAL_H

#include <attach/threads.h>

struct attach_threads {
    attach_threads_meta meta;
    attach_thread *list;
    size_t n;
    char *text; /* all strings, each with its NUL */
    const char **strings;
    size_t n_strings;
    attach_thread_lock *locks;
    size_t n_locks;
    attach_thread_frame *frames;
    size_t n_frames;
    uint32_t *stack_frames;
    attach_held_lock *held;
    const attach_thread **cycle_threads;
    attach_deadlock *deadlocks;
    size_t n_deadlocks;
};

/* Finds the cycles among the threads flagged deadlocked. Returns 0 or ATTACH_ERR_NOMEM. */
int attach__threads_find_cycles(attach_threads *t, attach_error *err);

#endif
