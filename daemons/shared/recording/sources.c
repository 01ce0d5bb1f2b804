/* SPDX-License-Identifier: Apache-2.0 */
/* The event types that samples come from. */
#include <recording/recording.h>

const char *recording_source_event(unsigned source)
{
    static const char *const events[] = {
        "",
        "jdk.ExecutionSample",
        "jdk.CPUTimeSample",
        "jdk.NativeMethodSample",
        "profiler.WallClockSample",
        "jdk.ObjectAllocationInNewTLAB",
        "jdk.ObjectAllocationOutsideTLAB",
        "jdk.ObjectAllocationSample",
        "profiler.LiveObject",
        "profiler.Malloc",
        "jdk.JavaMonitorEnter",
        "jdk.JavaMonitorWait",
        "jdk.ThreadPark",
        "profiler.NativeLock",
        "datadog.ExecutionSample",
        "datadog.MethodSample",
        "datadog.ObjectSample",
        "datadog.HeapLiveObject",
        "jdk.MethodTrace",
    };
    _Static_assert(sizeof(events) / sizeof(events[0]) == JFR_SOURCE_COUNT,
                   "every source has its event");
    return source < JFR_SOURCE_COUNT ? events[source] : "";
}
