/* SPDX-License-Identifier: Apache-2.0 */
/* base/thread.h: threads without signals, their heaps, and waits by the monotonic clock. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Starts a thread on which all signals are blocked, so that only the program's own threads handle
 * them. Returns 0, or pthread_create's error. */
int thread_start(pthread_t *out, void *(*run)(void *context), void *context);

/* Lets all threads of the process share two heaps. For a program with many threads that work
 * briefly: with a heap for each, the memory that one thread has freed is no use to the others. Call
 * it before any thread starts. */
void thread_share_heaps(void);

/* Makes a condition whose timed waits take times of thread_deadline. */
void thread_condition_init(pthread_cond_t *out);

/* Returns the time `ms` milliseconds from now, by CLOCK_MONOTONIC. */
struct timespec thread_deadline(uint64_t ms);

#endif
