/* SPDX-License-Identifier: Apache-2.0 */
#include <base/clock.h>

#include <time.h>

static uint64_t read_ms(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t clock_unix_ms(void *context)
{
    (void)context;
    return read_ms(CLOCK_REALTIME);
}

uint64_t clock_monotonic_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t clock_monotonic_ms(void *context)
{
    (void)context;
    return read_ms(CLOCK_MONOTONIC);
}

uint64_t clock_thread_cpu_ns(void *context)
{
    struct timespec now = {0};

    (void)context;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
