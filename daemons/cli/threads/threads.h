/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack threads`: what its files share. */
#ifndef HOTSTACK_CLI_THREADS_H
#define HOTSTACK_CLI_THREADS_H

#include <attach/attach.h>
#include <jansson.h>
#include <stdbool.h>

typedef struct threads_options {
    const char *jvm;      /* its process id or name */
    uint32_t duration_ms; /* of the window that CPU time is measured over; 0 = none */
    bool watch;
    bool json;
    bool full;
    bool synchronizers;
    bool contention;
    uint32_t stacks;
    uint32_t depth;
    uint32_t max_threads;
    uint32_t pause_ms; /* 0 = the library's default */
    uint32_t top;      /* of each list, in text */
} threads_options;

/* As convert_parse: -1 to go on, or an exit code. `out` borrows from argv. */
int threads_parse(threads_options *out, int argc, char **argv);

/* A thread with what it did in the window; ATTACH_THREADS_UNKNOWN where that is not known. */
typedef struct threads_row {
    const attach_thread *thread;
    uint64_t cpu_ns;
    uint64_t user_ns;
    uint64_t allocated_bytes;
    double share; /* of one core; 0 where not known */
} threads_row;

/*
 * Two snapshots, told apart as a user asks: `busy` used CPU in the window (without one: are
 * runnable and not in native code), heaviest first; `blocked` wait for something that a thread
 * holds; `waiting` are all others. A busy thread may be blocked too.
 */
typedef struct threads_view {
    const attach_jvm *jvm;
    const attach_threads *now;
    const attach_threads *before; /* NULL: CPU time is the whole life's */
    double seconds;               /* of the window; 0 without one */
    threads_row *busy, *blocked, *waiting;
    size_t n_busy, n_blocked, n_waiting;
} threads_view;

/* False without memory. The view borrows its arguments. */
bool threads_view_make(threads_view *out, const attach_jvm *jvm, const attach_threads *now,
                       const attach_threads *before);
void threads_view_free(threads_view *view);

/*
 * Who `thread` waits for, and who that one waits for, and so on: at most `max` threads in chain[].
 * *cycle: the chain comes back to one of its own. Returns how many there are.
 */
size_t threads_chain(const attach_thread **chain, size_t max, const attach_thread *thread,
                     bool *cycle);

/* How many threads have a stack. */
size_t threads_stacks(const attach_threads *threads);

/* What of the snapshot is missing, as words of the bits, separated by ", "; empty when nothing is.
 */
void threads_missing(char *out, size_t cap, const attach_threads_meta *meta);

/* The lock that cycle's thread i waits for, or NULL. */
const attach_thread_lock *threads_cycle_lock(const attach_deadlock *cycle, size_t i);

/* Prints for people; top = rows of each list. False when standard output fails. */
bool threads_print_text(const threads_view *view, uint32_t top);

/* The document of docs/formats/threads-json.md; NULL without memory. */
json_t *threads_json(const threads_view *view);

#endif
