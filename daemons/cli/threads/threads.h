/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack threads`: what its files share. */
#ifndef HOTSTACK_CLI_THREADS_H
#define HOTSTACK_CLI_THREADS_H

#include <attach/attach.h>
#include <diagnosis/deadlocks.h>
#include <diagnosis/locks.h>
#include <diagnosis/waits.h>
#include <jansson.h>
#include <stdbool.h>

#include "cli/options/options.h"

/* A thread with what it did in the window; ATTACH_THREADS_UNKNOWN where that is not known. */
typedef struct threads_row {
    const attach_thread *thread;
    size_t index; /* of the thread in the snapshot */
    wait_kind wait;
    uint64_t cpu_ns;
    uint64_t user_ns;
    uint64_t allocated_bytes;
    double share; /* of one core; 0 where not known */
} threads_row;

/* A busy thread may be in another list too; any other thread is in one. */
typedef enum threads_list {
    THREADS_LIST_BUSY,           /* heaviest first */
    THREADS_LIST_BLOCKED,        /* by a lock whose holder has a name */
    THREADS_LIST_UNKNOWN_HOLDER, /* by a lock whose holder the JVM does not know */
    THREADS_LIST_CLASS,          /* probably by the initialisation of a class */
    THREADS_LIST_WAITING,        /* all others */
    THREADS_LISTS
} threads_list;

/* Two snapshots, told apart as a user asks. */
typedef struct threads_view {
    const attach_jvm *jvm;
    const attach_threads *now;
    const attach_threads *before; /* NULL: CPU time is the whole life's */
    double seconds;               /* of the window; 0 without one */
    double busy_percent;
    diagnosed_thread *threads; /* in the snapshot's order */
    size_t count;
    threads_row *rows[THREADS_LISTS];
    size_t n[THREADS_LISTS];
    diagnosed_locks locks;
    diagnosed_deadlocks deadlocks;
} threads_view;

/* False without memory. The view borrows its arguments. */
bool threads_view_make(threads_view *out, const attach_jvm *jvm, const attach_threads *now,
                       const attach_threads *before, double busy_percent);
void threads_view_free(threads_view *view);

/* What holds a lock. */
typedef struct threads_holder {
    holder_kind kind;
    uint64_t java_tid;           /* 0 = not known */
    const char *name;            /* "" = not known, or it has none */
    const attach_thread *thread; /* NULL = not in the snapshot */
} threads_holder;

/* The holder of the lock that thread `index` waits for. */
threads_holder threads_holder_of(const threads_view *view, size_t index);

/* The thread that probably initialises the class that thread `index` waits for, or NULL, and that
 * class, or "". */
const attach_thread *threads_initialiser(const threads_view *view, size_t index,
                                         const char **class_name);

/* How many threads have a stack. */
size_t threads_stacks(const attach_threads *threads);

/* Whether both have a stack, and the same one. */
bool threads_same_stack(const attach_thread *a, const attach_thread *b);

/* What of the snapshot is missing, as words of the bits, separated by ", "; empty when nothing is.
 */
void threads_missing(char *out, size_t cap, const attach_threads_meta *meta);

/* Prints for people; top = rows of each list. False when standard output fails. */
bool threads_print_text(const threads_view *view, uint32_t top);

/* The document of docs/formats/threads-json.md; NULL without memory. */
json_t *threads_json(const threads_view *view);

#endif
