/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack threads`: declarations that its files share. */
#ifndef HOTSTACK_CLI_THREADS_H
#define HOTSTACK_CLI_THREADS_H

#include <attach/attach.h>
#include <diagnosis/deadlocks.h>
#include <diagnosis/locks.h>
#include <diagnosis/waits.h>
#include <jansson.h>
#include <stdbool.h>

#include "cli/options/options.h"

/* A thread and its activity in the window; ATTACH_THREADS_UNKNOWN where a value is not known. */
typedef struct threads_row {
    const attach_thread *thread;
    size_t index; /* the thread's index in the snapshot */
    wait_kind wait;
    uint64_t cpu_ns;
    uint64_t user_ns;
    uint64_t allocated_bytes;
    double share; /* of one core; 0 if unknown */
} threads_row;

/* A busy thread may be in a second list; every other thread is in exactly one. */
typedef enum threads_list {
    THREADS_LIST_BUSY,           /* heaviest first */
    THREADS_LIST_BLOCKED,        /* blocked by a lock whose holder has a name */
    THREADS_LIST_UNKNOWN_HOLDER, /* blocked by a lock whose holder the JVM does not know */
    THREADS_LIST_CLASS,          /* probably blocked by the initialisation of a class */
    THREADS_LIST_WAITING,        /* all others */
    THREADS_LISTS
} threads_list;

/* A snapshot, or two and their difference, as a user asked for. */
typedef struct threads_view {
    const attach_jvm *jvm;
    const attach_threads *now;
    const attach_threads *before; /* NULL: CPU times are those of the thread's whole life */
    double seconds;               /* of the window; 0 without one */
    double busy_percent;
    diagnosed_thread *threads; /* in the snapshot's order */
    size_t count;
    threads_row *rows[THREADS_LISTS];
    size_t n[THREADS_LISTS];
    diagnosed_locks locks;
    diagnosed_deadlocks deadlocks;
} threads_view;

/* Makes a view, which borrows its arguments. Returns false without memory. */
bool threads_view_make(threads_view *out, const attach_jvm *jvm, const attach_threads *now,
                       const attach_threads *before, double busy_percent);
void threads_view_free(threads_view *view);

/* The holder of a lock. */
typedef struct threads_holder {
    holder_kind kind;
    uint64_t java_tid;           /* 0 = unknown */
    const char *name;            /* "" = unknown, or it has none */
    const attach_thread *thread; /* NULL = not in the snapshot */
} threads_holder;

/* Returns the holder of the lock that thread `index` waits for. */
threads_holder threads_holder_of(const threads_view *view, size_t index);

/* Returns the thread that probably initialises the class that thread `index` waits for, or NULL;
 * *class_name is that class, or "". */
const attach_thread *threads_initialiser(const threads_view *view, size_t index,
                                         const char **class_name);

/* Returns how many threads have a stack. */
size_t threads_stacks(const attach_threads *threads);

/* Whether both threads have a stack, and the stacks are equal. */
bool threads_same_stack(const attach_thread *a, const attach_thread *b);

/* Writes the missing parts of the snapshot as words, separated by ", "; empty when nothing is
 * missing. */
void threads_missing(char *out, size_t cap, const attach_threads_meta *meta);

/* Prints a view for people; top = most rows of each list. Returns false when standard output
 * fails. */
bool threads_print_text(const threads_view *view, uint32_t top);

/* Makes the document of docs/formats/threads-json.md; NULL without memory. */
json_t *threads_json(const threads_view *view);

#endif
