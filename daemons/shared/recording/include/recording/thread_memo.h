/* SPDX-License-Identifier: Apache-2.0 */
/** Remembers a recording_tap's decision about each thread, so that it examines a name only once. */
#ifndef RECORDING_THREAD_MEMO_H
#define RECORDING_THREAD_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stackagg/stackagg.h>

/** Zeroed = empty. It takes one byte per thread. Only one thread at a time may use it. */
typedef struct thread_memo {
    unsigned char *known; /**< by thread: 0 not asked yet, 1 no, 2 yes */
    size_t count;
} thread_memo;

/** Decides about thread `index` of an aggregate. */
typedef bool thread_question(void *ctx, const sagg *agg, uint32_t index);

/**
 * Returns the decision about a thread. It is made on the first call only, or on each call if there
 * is no memory to remember it.
 */
bool thread_memo_ask(thread_memo *memo, thread_question *question, void *ctx, const sagg *agg,
                     uint32_t index);

/** Frees the decisions; the memo is empty then. */
void thread_memo_free(thread_memo *memo);

#endif
