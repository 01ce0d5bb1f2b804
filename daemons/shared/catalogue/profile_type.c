/* SPDX-License-Identifier: Apache-2.0 */
#include <catalogue/profile_type.h>

#include <string.h>

static const profile_type_info types[PROFILE_TYPE_END] = {
    [PROFILE_TYPE_CPU] = {PROFILE_TYPE_CPU, "cpu", "ns", "CPU time"},
    [PROFILE_TYPE_ALLOC_BYTES] = {PROFILE_TYPE_ALLOC_BYTES, "alloc_bytes", "bytes",
                                  "Allocated bytes"},
    [PROFILE_TYPE_ALLOC_OBJECTS] = {PROFILE_TYPE_ALLOC_OBJECTS, "alloc_objects", "count",
                                    "Allocated objects"},
    [PROFILE_TYPE_LOCK_COUNT] = {PROFILE_TYPE_LOCK_COUNT, "lock_count", "count",
                                 "Lock contentions"},
    [PROFILE_TYPE_LOCK_DELAY] = {PROFILE_TYPE_LOCK_DELAY, "lock_delay", "ns", "Lock waiting time"},
    [PROFILE_TYPE_WALL] = {PROFILE_TYPE_WALL, "wall", "ns", "Wall time"},
    [PROFILE_TYPE_LIVE_BYTES] = {PROFILE_TYPE_LIVE_BYTES, "live_bytes", "bytes", "Live bytes"},
    [PROFILE_TYPE_NATIVEMEM_BYTES] = {PROFILE_TYPE_NATIVEMEM_BYTES, "nativemem_bytes", "bytes",
                                      "Native memory"},
    [PROFILE_TYPE_EVENTS] = {PROFILE_TYPE_EVENTS, "events", "count", "Counted events"},
    [PROFILE_TYPE_TRACE_COUNT] = {PROFILE_TYPE_TRACE_COUNT, "trace_count", "count", "Traced calls"},
    [PROFILE_TYPE_TRACE_TIME] = {PROFILE_TYPE_TRACE_TIME, "trace_time", "ns",
                                 "Time of traced calls"},
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
