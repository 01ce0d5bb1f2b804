/* SPDX-License-Identifier: Apache-2.0 */
/** What a recording_tap has decided about each thread, so that it looks at a thread's name once. */
#ifndef RECORDING_THREAD_MEMO_H
#define RECORDING_THREAD_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stackagg/stackagg.h>

/** Zeroed = empty. One byte a thread. One thread at a time. */
typedef struct thread_memo {
    unsigned char *known; /**< by thread: 0 not asked yet, 1 no, 2 yes */
    size_t count;
} thread_memo;

/** Decides about thread `index` of an aggregate. */
typedef bool thread_question(void *ctx, const sagg *agg, uint32_t index);

/**
 * The answer about a thread, asked for the first time only; without memory to remember it, each
 * time.
 */
bool thread_memo_ask(thread_memo *memo, thread_question *question, void *ctx, const sagg *agg,
                     uint32_t index);

/** Frees what is remembered; the memo is empty then. */
void thread_memo_free(thread_memo *memo);

#endif
