/* SPDX-License-Identifier: Apache-2.0 */
#include <catalogue/profile_type.h>

#include <string.h>

#define TYPE(id, name, unit, title, source, measure)                                               \
    [PROFILE_TYPE_##                                                                               \
        id] = {PROFILE_TYPE_##id, name, unit, title, PROFILE_SOURCE_##source, PROFILE_##measure}

static const profile_type_info types[PROFILE_TYPE_END] = {
    TYPE(CPU, "cpu", "ns", "CPU time", CPU, AMOUNT),
    TYPE(ALLOC_BYTES, "alloc_bytes", "bytes", "Allocated bytes", ALLOC, AMOUNT),
    TYPE(ALLOC_OBJECTS, "alloc_objects", "count", "Allocated objects", ALLOC, COUNT),
    TYPE(LOCK_COUNT, "lock_count", "count", "Lock contentions", LOCK, COUNT),
    TYPE(LOCK_DELAY, "lock_delay", "ns", "Lock waiting time", LOCK, AMOUNT),
    TYPE(WALL, "wall", "ns", "Wall time", WALL, AMOUNT),
    TYPE(LIVE_BYTES, "live_bytes", "bytes", "Live bytes", LIVE, AMOUNT),
    TYPE(NATIVEMEM_BYTES, "nativemem_bytes", "bytes", "Native memory", NATIVEMEM, AMOUNT),
    TYPE(EVENTS, "events", "count", "Counted events", EVENTS, AMOUNT),
    TYPE(TRACE_COUNT, "trace_count", "count", "Traced calls", TRACE, COUNT),
    TYPE(TRACE_TIME, "trace_time", "ns", "Time of traced calls", TRACE, AMOUNT),
};

static const char *const sources[PROFILE_SOURCE_END] = {
    [PROFILE_SOURCE_CPU] = "cpu",       [PROFILE_SOURCE_WALL] = "wall",
    [PROFILE_SOURCE_ALLOC] = "alloc",   [PROFILE_SOURCE_LOCK] = "lock",
    [PROFILE_SOURCE_LIVE] = "live",     [PROFILE_SOURCE_NATIVEMEM] = "nativemem",
    [PROFILE_SOURCE_EVENTS] = "events", [PROFILE_SOURCE_TRACE] = "trace",
};

const profile_type_info *profile_type_get(unsigned number)
{
    if (number == PROFILE_TYPE_NONE || number >= PROFILE_TYPE_END)
        return NULL;
    return &types[number];
}

const profile_type_info *profile_type_find(const char *name)
{
    for (unsigned i = PROFILE_TYPE_NONE + 1; i < PROFILE_TYPE_END; i++) {
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    }
    return NULL;
}

const char *profile_source_name(unsigned number)
{
    return number < PROFILE_SOURCE_END ? sources[number] : NULL;
}

enum profile_type profile_type_of(unsigned source, enum profile_measure measure)
{
    for (unsigned i = PROFILE_TYPE_NONE + 1; i < PROFILE_TYPE_END; i++) {
        if (types[i].source == source && types[i].measure == measure)
            return types[i].type;
    }
    return PROFILE_TYPE_NONE;
}
