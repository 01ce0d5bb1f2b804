/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <attach/threads.h>

/* Decodes a snapshot of a hostile JVM and reads everything in the result. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    attach_threads *threads = NULL;
    uint64_t sum = 0;
    if (attach_threads_decode(&threads, data, size, NULL) != ATTACH_OK)
        return 0;
    for (size_t i = 0; i < attach_threads_count(threads); i++) {
        const attach_thread *thread = attach_threads_at(threads, i);
        sum += (unsigned char)thread->name[0] + attach_thread_cpu_since(thread, threads);
        for (size_t j = 0; j < thread->n_frames; j++)
            sum += attach_threads_frame(threads, thread->frames[j])->line;
        for (size_t j = 0; j < thread->n_held; j++)
            sum += thread->held[j].lock->identity_hash;
        if (thread->lock != NULL)
            sum += (unsigned char)thread->lock->class_name[0];
    }
    for (size_t i = 0; i < attach_threads_deadlock_count(threads); i++) {
        const attach_deadlock *cycle = attach_threads_deadlock_at(threads, i);
        for (size_t j = 0; j < cycle->n; j++)
            sum += cycle->threads[j]->java_tid;
    }
    attach_threads_free(threads);
    return sum == 1 ? -1 : 0;
}
