/* SPDX-License-Identifier: Apache-2.0 */
/* Events of other writers: Datadog's profiler, and traces of methods. */
#include "writer.h"

#include <string.h>

/* Writes an event of Datadog's up to its stack. */
static size_t begin_datadog(writer *w, enum type type)
{
    size_t event = begin_event(w, type);
    put_long(w, 600);
    put_long(w, 70);
    put_long(w, 7);
    return event;
}

void put_datadog_time(writer *w, enum type type, uint64_t weight)
{
    size_t event = begin_datadog(w, type);
    put_long(w, 1);
    put_long(w, weight);
    put_long(w, 4711);
    end_event(w, event);
}

void put_datadog_object(writer *w, enum type type, uint64_t size, float weight)
{
    uint32_t bits;
    size_t event = begin_datadog(w, type);
    memcpy(&bits, &weight, sizeof(bits));
    put_long(w, 2);
    put_long(w, size);
    put_be(w, bits, 4);
    put_long(w, 4711);
    end_event(w, event);
}

void put_datadog_config(writer *w, uint64_t cpu, uint64_t wall)
{
    size_t event = begin_event(w, T_DATADOG_CONFIG);
    put_long(w, 600);
    put_long(w, 0);
    put_long(w, 70);
    put_long(w, cpu);
    put_long(w, wall);
    end_event(w, event);
}

void put_datadog_strange(writer *w)
{
    size_t event = begin_datadog(w, T_DATADOG_STRANGE);
    put_long(w, 4711);
    end_event(w, event);
}

void put_method_trace(writer *w, uint64_t duration)
{
    size_t event = begin_event(w, T_METHOD_TRACE);
    put_long(w, 600);
    put_long(w, duration);
    put_long(w, 70);
    put_long(w, 7);
    put_long(w, 0);
    end_event(w, event);
}

void write_datadog(writer *w, const chunk_params *params)
{
    w->others = true;
    for (int part = 0; part < 2; part++) {
        begin_chunk(w, params);
        put_setting(w, T_RECORDING, "asyncprofiler", "true");
        if (part == 0) {
            put_setting(w, T_DATADOG_CPU, "interval", "10000000");
            put_setting(w, T_DATADOG_WALL, "interval", "50000000");
        }
        put_datadog_time(w, T_DATADOG_CPU, 1);
        put_datadog_time(w, T_DATADOG_CPU, 3);
        put_datadog_time(w, T_DATADOG_WALL, 2);
        put_datadog_object(w, T_DATADOG_ALLOC, 1000, 20.5F);
        put_datadog_object(w, T_DATADOG_LIVE, 100, 1.25F);
        put_datadog_strange(w);
        put_datadog_strange(w);
        if (part == 1)
            put_datadog_config(w, 20, 100);
        put_standard_pools(w);
        end_chunk(w, params);
    }
}
