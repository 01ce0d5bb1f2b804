/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads at one piece of work. */
#include <pthread.h>
#include <sched.h>

#include "internal.h"

/*
 * A new thread can stay on the CPU of who made it for ten milliseconds and more, however idle the
 * others are (Linux 6.18, two CPUs): that is as long as many a recording takes. It is sent to the
 * next CPU behind *cpu, and may go wherever it likes from there.
 */
static void send_away(pthread_t thread, int *cpu)
{
    cpu_set_t allowed, one;
    if (*cpu < 0 || sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < 2)
        return;
    do
        *cpu = (*cpu + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(*cpu, &allowed));
    CPU_ZERO(&one);
    CPU_SET(*cpu, &one);
    if (pthread_setaffinity_np(thread, sizeof(one), &one) == 0)
        (void)pthread_setaffinity_np(thread, sizeof(allowed), &allowed);
}

void recording__at_once(recording_work *work, void *contexts, size_t size, uint32_t count)
{
    pthread_t threads[RECORDING_MAX_THREADS];
    bool started[RECORDING_MAX_THREADS] = {false};
    char *context = contexts;
    int cpu = sched_getcpu();
    for (uint32_t i = 1; i < count; i++) {
        started[i] = pthread_create(&threads[i], NULL, work, context + i * size) == 0;
        if (started[i])
            send_away(threads[i], &cpu);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!started[i])
            (void)work(context + i * size);
    for (uint32_t i = 1; i < count; i++)
        if (started[i])
            (void)pthread_join(threads[i], NULL);
}
