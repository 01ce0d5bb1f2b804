/* SPDX-License-Identifier: Apache-2.0 */
#include <jfr/sample.h>
#include <stddef.h>

static const struct {
    const char *name;
    const char *unit;
} types[JFR_PROFILE_TYPE_COUNT] = {
    [JFR_CPU] = {"cpu", "ns"},
    [JFR_WALL] = {"wall", "ns"},
    [JFR_ALLOC_BYTES] = {"alloc_bytes", "bytes"},
    [JFR_ALLOC_OBJECTS] = {"alloc_objects", "count"},
    [JFR_LOCK_COUNT] = {"lock_count", "count"},
    [JFR_LOCK_DELAY] = {"lock_delay", "ns"},
    [JFR_LIVE_BYTES] = {"live_bytes", "bytes"},
    [JFR_NATIVEMEM_BYTES] = {"nativemem_bytes", "bytes"},
    [JFR_EVENTS] = {"events", "count"},
    [JFR_TRACE_COUNT] = {"trace_count", "count"},
    [JFR_TRACE_TIME] = {"trace_time", "ns"},
};

const char *jfr_profile_type_name(jfr_profile_type type)
{
    return (unsigned)type < JFR_PROFILE_TYPE_COUNT ? types[type].name : NULL;
}

const char *jfr_profile_type_unit(jfr_profile_type type)
{
    return (unsigned)type < JFR_PROFILE_TYPE_COUNT ? types[type].unit : NULL;
}
