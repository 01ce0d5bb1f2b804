/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides how many stacks to request at a time. HotSpot stops all threads while it walks the stacks
 * of one call. Several calls make each pause short, and no further call is made once a budget is
 * spent. Knows nothing of Java.
 */
#ifndef HOTSTACK_THREADS_PAUSE_H
#define HOTSTACK_THREADS_PAUSE_H

#include <stddef.h>
#include <stdint.h>

/* The pauses of one snapshot so far; times are upper bounds. */
typedef struct pauses {
    uint64_t budget_ns;
    uint64_t spent_ns;    /* the sum of the pauses */
    uint64_t longest_ns;  /* the longest pause */
    uint64_t shortest_ns; /* the shortest pause: its cost apart from the stacks */
    uint64_t last_ns;     /* the last pause; last_stacks has its stacks */
    size_t last_stacks;
    uint64_t calls_ns; /* the sum of the pauses by the caller's clock */
    uint32_t n;
    int64_t first_ms; /* the JVM's own count at the beginning; last_ms: after the last pause */
    int64_t last_ms;
} pauses;

/* Begins a snapshot. counted_ms: how long the JVM reports that it has been stopped since its start;
 * below 0 = it does not report it. */
void pauses_begin(pauses *p, uint64_t budget_ns, int64_t counted_ms);

/*
 * Records a call that stopped the JVM, requested so many stacks and returned after took_ns. The
 * pause is shorter than the call, since the calling thread may have waited for a CPU. Therefore the
 * JVM's own count also bounds it.
 */
void pauses_add(pauses *p, size_t stacks, uint64_t took_ns, int64_t counted_ms);

/* Returns how many of the `left` stacks to request next; 0 = the budget is spent. The first stacks
 * are always taken. */
size_t pauses_next(const pauses *p, size_t left);

#endif
