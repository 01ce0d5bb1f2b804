/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the threads whose stacks are taken. Knows nothing of Java. */
#ifndef HOTSTACK_THREADS_SELECT_H
#define HOTSTACK_THREADS_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

/* The facts of a thread after step one. */
typedef struct candidate {
    int64_t tid;
    int64_t owner;     /* of the lock it waits for; 0 = none */
    int64_t cpu_delta; /* since the previous snapshot; in the first one, since its start */
    uint8_t blocked;   /* waits for a lock */
    uint8_t stalled;   /* runnable, but used no CPU since the previous snapshot */
    uint8_t deadlocked;
    uint8_t why;      /* out: enum threads_why bits, 0 = not chosen */
    uint32_t rank;    /* out: the stack with the lower rank matters more */
    uint32_t waiters; /* out: how many threads wait for a lock that this one holds */
} candidate;

/*
 * Chooses at most `max` of the n candidates (sorted by tid). There are five kinds, which is also
 * the order of the ranks: deadlocked threads, owners of locks that others wait for, the busiest,
 * stalled ones, and blocked ones. From all other threads it takes those after *cursor and moves
 * *cursor on, so that each is taken in time. An eighth of `max` is reserved for these others, and
 * each kind has a fifth of the remainder, so that no kind crowds out another. The share that one
 * kind does not use goes to the others in the order of the kinds. Returns how many were chosen; 0
 * with *cursor unchanged when there is no memory.
 */
size_t select_threads(candidate *list, size_t n, size_t max, int64_t *cursor);

#endif
