/* SPDX-License-Identifier: Apache-2.0 */
/* base/clock.h: the system's clocks, in the form of a core's port: `context` is not used. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since 1970-01-01 UTC. */
uint64_t clock_unix_ms(void *context);
/* Milliseconds of the monotonic clock. */
uint64_t clock_monotonic_ms(void *context);
/* The same clock in nanoseconds, to measure with. */
uint64_t clock_monotonic_ns(void);

/* CPU time of the calling thread. */
uint64_t clock_thread_cpu_ns(void *context);

#endif
