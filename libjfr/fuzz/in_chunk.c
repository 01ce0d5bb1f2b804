/* SPDX-License-Identifier: Apache-2.0 */
#include "in_chunk.h"

#include "../tests/support/writer.h"
#include "walk.h"

#include <jfr/options.h>

enum { PLAIN = 1, ASYNC = 2, IDLE = 4, MAX_POOLS = 64 };

/*
 * Writes a checkpoint whose head is valid; its number of pools may exceed the pools in the bytes.
 */
static void put_fuzzed_pools(writer *w, const uint8_t *data, size_t size)
{
    size_t checkpoint = begin_checkpoint(w);
    put_bytes(w, data, size);
    w->pools = MAX_POOLS;
    end_checkpoint(w, checkpoint);
}

static void put_fuzzed_events(writer *w, const uint8_t *data, size_t size)
{
    put_standard_pools(w);
    put_setting(w, T_RECORDING, "event", "cpu");
    put_setting(w, T_EXECUTION, "interval", "10000000");
    put_setting(w, T_EXECUTION, "wall", "20000000");
    put_setting(w, T_EXECUTION, "period", "10 ms");
    put_bytes(w, data, size);
}

/*
 * Begins a chunk in `w`. Its header and types are always the same, so they are written only once.
 */
static void begin_known_chunk(writer *w, const chunk_params *params)
{
    static writer known[PLAIN + ASYNC + 1];
    writer *one = &known[(params->plain ? PLAIN : 0) + (params->async ? ASYNC : 0)];
    if (one->len == 0)
        begin_chunk(one, params);
    *w = *one;
    w->data = NULL;
    w->len = 0;
    w->cap = 0;
    put_bytes(w, one->data, one->len);
}

void read_in_chunk(enum in_chunk_part part, const uint8_t *data, size_t size)
{
    if (size == 0)
        return;
    chunk_params params = CHUNK_PARAMS_INIT;
    params.plain = (data[0] & PLAIN) != 0;
    params.async = (data[0] & ASYNC) != 0;
    writer w;
    begin_known_chunk(&w, &params);
    if (part == IN_CHUNK_POOLS) {
        put_execution(&w, 600, 70, 7, 1);
        put_monitor_enter(&w, 600, 100, 4);
        put_park(&w, 100, 5);
        put_fuzzed_pools(&w, data + 1, size - 1);
    } else {
        put_fuzzed_events(&w, data + 1, size - 1);
    }
    end_chunk(&w, &params);
    uint32_t flags = data[0] & IDLE ? JFR_KEEP_IDLE_WAITS | JFR_KEEP_NATIVE_SAMPLES : 0;
    walk_recording(w.data, w.len, flags);
    writer_free(&w);
}
