/* SPDX-License-Identifier: Apache-2.0 */
/* base/clock.h: the system's clocks, as functions for a core's port: `context` is not used. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Returns milliseconds since 1970-01-01 UTC. */
uint64_t clock_unix_ms(void *context);
/* Returns milliseconds of the monotonic clock. */
uint64_t clock_monotonic_ms(void *context);
/* Returns nanoseconds of the same clock, for measurements. */
uint64_t clock_monotonic_ns(void);

/* Returns the CPU time of the calling thread. */
uint64_t clock_thread_cpu_ns(void *context);

#endif
