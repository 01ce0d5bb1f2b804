/* SPDX-License-Identifier: Apache-2.0 */
#include "events/source_impl.h"

#include <stddef.h>
#include <string.h>

#define INTERVAL(field) ((uint8_t)offsetof(jfr_intervals, field))

_Static_assert(JFR_SOURCE_COUNT == JFR_SOURCE_METHOD_TRACE + 1, "every source is counted");

const jfr__source jfr__sources[JFR_SOURCE_COUNT] = {
    [JFR_SOURCE_EXECUTION] = {"jdk.ExecutionSample", JFR__RULE_MAIN_TIME, JFR_CPU, JFR__SKIP,
                              JFR_LOCK_NONE, INTERVAL(cpu_ns)},
    [JFR_SOURCE_CPU_TIME] = {"jdk.CPUTimeSample", JFR__RULE_PERIOD, JFR_CPU, JFR__SLOT_PERIOD,
                             JFR_LOCK_NONE, 0},
    [JFR_SOURCE_NATIVE_METHOD] = {"jdk.NativeMethodSample", JFR__RULE_TIME, JFR_CPU, JFR__SKIP,
                                  JFR_LOCK_NONE, INTERVAL(native_ns)},
    [JFR_SOURCE_WALL_CLOCK] = {"profiler.WallClockSample", JFR__RULE_TIME, JFR_WALL,
                               JFR__SLOT_SAMPLES, JFR_LOCK_NONE, INTERVAL(wall_ns)},
    [JFR_SOURCE_ALLOC_IN_TLAB] = {"jdk.ObjectAllocationInNewTLAB", JFR__RULE_TLAB, JFR_ALLOC_BYTES,
                                  JFR__SLOT_WEIGHT, JFR_LOCK_NONE, 0},
    [JFR_SOURCE_ALLOC_OUTSIDE] = {"jdk.ObjectAllocationOutsideTLAB", JFR__RULE_OBJECT,
                                  JFR_ALLOC_BYTES, JFR__SLOT_SIZE, JFR_LOCK_NONE, 0},
    [JFR_SOURCE_ALLOC_SAMPLE] = {"jdk.ObjectAllocationSample", JFR__RULE_AMOUNT, JFR_ALLOC_BYTES,
                                 JFR__SLOT_WEIGHT, JFR_LOCK_NONE, 0},
    [JFR_SOURCE_LIVE_OBJECT] = {"profiler.LiveObject", JFR__RULE_FLOOR, JFR_LIVE_BYTES,
                                JFR__SLOT_SIZE, JFR_LOCK_NONE, INTERVAL(alloc_bytes)},
    [JFR_SOURCE_MALLOC] = {"profiler.Malloc", JFR__RULE_FLOOR, JFR_NATIVEMEM_BYTES, JFR__SLOT_SIZE,
                           JFR_LOCK_NONE, INTERVAL(nativemem_bytes)},
    [JFR_SOURCE_MONITOR_ENTER] = {"jdk.JavaMonitorEnter", JFR__RULE_WAIT, JFR_LOCK_COUNT,
                                  JFR__SLOT_DURATION, JFR_LOCK_MONITOR, INTERVAL(lock_ns)},
    [JFR_SOURCE_MONITOR_WAIT] = {"jdk.JavaMonitorWait", JFR__RULE_WAIT, JFR_LOCK_COUNT,
                                 JFR__SLOT_DURATION, JFR_LOCK_MONITOR_WAIT, INTERVAL(lock_ns)},
    [JFR_SOURCE_THREAD_PARK] = {"jdk.ThreadPark", JFR__RULE_WAIT, JFR_LOCK_COUNT,
                                JFR__SLOT_DURATION, JFR_LOCK_PARK, INTERVAL(lock_ns)},
    [JFR_SOURCE_NATIVE_LOCK] = {"profiler.NativeLock", JFR__RULE_WAIT, JFR_LOCK_COUNT,
                                JFR__SLOT_DURATION, JFR_LOCK_NATIVE, INTERVAL(native_lock_ns)},
    [JFR_SOURCE_DATADOG_CPU] = {"datadog.ExecutionSample", JFR__RULE_TIME, JFR_CPU,
                                JFR__SLOT_WEIGHT, JFR_LOCK_NONE, INTERVAL(cpu_ns)},
    [JFR_SOURCE_DATADOG_WALL] = {"datadog.MethodSample", JFR__RULE_TIME, JFR_WALL, JFR__SLOT_WEIGHT,
                                 JFR_LOCK_NONE, INTERVAL(wall_ns)},
    [JFR_SOURCE_DATADOG_ALLOC] = {"datadog.ObjectSample", JFR__RULE_WEIGHTED, JFR_ALLOC_BYTES,
                                  JFR__SLOT_SIZE, JFR_LOCK_NONE, 0},
    [JFR_SOURCE_DATADOG_LIVE] = {"datadog.HeapLiveObject", JFR__RULE_WEIGHTED, JFR_LIVE_BYTES,
                                 JFR__SLOT_SIZE, JFR_LOCK_NONE, 0},
    [JFR_SOURCE_METHOD_TRACE] = {"jdk.MethodTrace", JFR__RULE_SPAN, JFR_TRACE_COUNT,
                                 JFR__SLOT_DURATION, JFR_LOCK_NONE, 0},
};

uint64_t jfr__source_interval(const jfr_chunk *chunk, jfr_sample_source source)
{
    uint64_t interval = 0;
    uint8_t at = jfr__sources[source].interval;
    if (at != 0)
        memcpy(&interval, (const char *)&chunk->intervals + at, sizeof(interval));
    return interval;
}

int jfr__source_wait(jfr_chunk *chunk, jfr_sample_source source, uint32_t klass, uint8_t *lock_kind,
                     bool *is_wanted, jfr_error *err)
{
    uint8_t kind = jfr__sources[source].lock_kind;
    bool is_lock = true;
    int rc = 0;
    /* async-profiler applies the same rule when it records. */
    if (kind == JFR_LOCK_PARK && chunk->producer == JFR_PRODUCER_JDK)
        rc = jfr__class_is_lock(chunk, klass, &is_lock, err);
    if (!is_lock)
        kind = JFR_LOCK_IDLE_PARK;
    bool is_idle = kind == JFR_LOCK_IDLE_PARK || kind == JFR_LOCK_MONITOR_WAIT;
    *lock_kind = kind;
    *is_wanted = !is_idle || (chunk->file->options.flags & JFR_KEEP_IDLE_WAITS) != 0;
    return rc;
}
