/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many stacks to ask for at a time. HotSpot stops all threads while it walks the stacks of one
 * call: asked for in parts, each pause is short, and no more are begun when a budget is spent.
 * Knows nothing of Java.
 */
#ifndef HOTSTACK_THREADS_PAUSE_H
#define HOTSTACK_THREADS_PAUSE_H

#include <stddef.h>
#include <stdint.h>

/* The pauses of one snapshot so far; times are upper bounds. */
typedef struct pauses {
    uint64_t budget_ns;
    uint64_t spent_ns;    /* all of them */
    uint64_t longest_ns;  /* one of them */
    uint64_t shortest_ns; /* what one costs however little is asked for */
    uint64_t last_ns;     /* the last one, and its stacks */
    size_t last_stacks;
    uint64_t calls_ns; /* all of them, as the caller's clock has it */
    uint32_t n;
    int64_t first_ms; /* the JVM's own count when it began, and after the last pause */
    int64_t last_ms;
} pauses;

/* counted_ms: how long the JVM says that it has been stopped in its life; below 0 = it does not. */
void pauses_begin(pauses *p, uint64_t budget_ns, int64_t counted_ms);

/*
 * Notes a call that stopped the JVM, asked for so many stacks and returned after took_ns. That is
 * more than the pause: the calling thread may have waited for a CPU. So what the JVM counted since
 * bounds it too.
 */
void pauses_add(pauses *p, size_t stacks, uint64_t took_ns, int64_t counted_ms);

/*
 * How many of the `left` stacks to ask for next; 0 = the budget is spent. The first stacks are
 * always taken.
 */
size_t pauses_next(const pauses *p, size_t left);

#endif
