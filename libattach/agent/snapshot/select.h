/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads' stacks are worth taking. Knows nothing of Java. */
#ifndef HOTSTACK_THREADS_SELECT_H
#define HOTSTACK_THREADS_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

/* What step one knows of a thread. */
typedef struct candidate {
    int64_t tid;
    int64_t owner;     /* of the lock it waits for; 0 = none */
    int64_t cpu_delta; /* since the snapshot before, or since its start in a first one */
    uint8_t blocked;   /* waits for a lock */
    uint8_t stalled;   /* should run, and used no CPU since the snapshot before */
    uint8_t deadlocked;
    uint8_t why;      /* out: enum threads_why bits, 0 = not chosen */
    uint32_t rank;    /* out: of two chosen ones the lower matters more */
    uint32_t waiters; /* out: how many threads wait for a lock of this one */
} candidate;

/*
 * Chooses at most `max` of the n candidates (sorted by tid): deadlocked threads, owners of what
 * others wait for, the busiest, stalled ones, blocked ones; and of the rest those that come after
 * *cursor, which moves on, so that in time each is seen. None of these can crowd out another: an
 * eighth of `max` is kept for the rest, each of the five has a fifth of what remains, and what one
 * does not use goes to the others in that order, which is also that of their ranks; those of the
 * rest keep their turn. Returns how many were chosen; 0 with *cursor kept when there is no memory.
 */
size_t select_threads(candidate *list, size_t n, size_t max, int64_t *cursor);

#endif
