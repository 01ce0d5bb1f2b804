/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces threads.c in a build without threads, for the browser. */
#include "internal.h"

void recording__parallel_for(void *ctx, uint32_t count, jfr_work *work, void *work_ctx)
{
    (void)ctx;
    for (uint32_t i = 0; i < count; i++)
        work(work_ctx, i);
}

recording_lock *recording__lock_new(void)
{
    return NULL;
}

void recording__lock_free(recording_lock *lock)
{
    (void)lock;
}

void recording__lock_take(recording_lock *lock)
{
    (void)lock;
}

void recording__lock_give(recording_lock *lock)
{
    (void)lock;
}
