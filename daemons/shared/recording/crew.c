/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads at one piece of work. */
#include <pthread.h>

#include "internal.h"

void recording__at_once(recording_work *work, void *contexts, size_t size, uint32_t count)
{
    pthread_t threads[RECORDING_MAX_THREADS];
    bool started[RECORDING_MAX_THREADS] = {false};
    char *context = contexts;
    for (uint32_t i = 1; i < count; i++)
        started[i] = pthread_create(&threads[i], NULL, work, context + i * size) == 0;
    for (uint32_t i = 0; i < count; i++)
        if (!started[i])
            (void)work(context + i * size);
    for (uint32_t i = 1; i < count; i++)
        if (started[i])
            (void)pthread_join(threads[i], NULL);
}
