/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

static size_t begin(writer *w, uint64_t type_id)
{
    size_t at = w->len;
    put_be(w, 0, 4); /* the size, patched by end_event */
    put_long(w, type_id);
    return at;
}

size_t begin_event(writer *w, enum type type)
{
    return begin(w, w->base + (uint64_t)type);
}

void end_event(writer *w, size_t event)
{
    uint64_t size = w->len - event;
    if (w->plain)
        store_be(w->data + event, size, 4);
    else
        store_padded(w->data + event, size, 4);
}

void begin_chunk(writer *w, const chunk_params *params)
{
    w->chunk = w->len;
    w->last_pool = 0;
    w->base = params->base;
    w->plain = params->plain;
    put_bytes(w, "FLR", 4);
    put_be(w, 2, 2);
    put_be(w, 0, 2);
    put_be(w, 0x40000000, 8); /* as async-profiler writes it until the chunk is finished */
    put_be(w, 0, 8);
    put_be(w, 0, 8);
    put_be(w, (uint64_t)params->start_ns, 8);
    put_be(w, 0, 8);
    put_be(w, params->start_ticks, 8);
    put_be(w, params->ticks_per_second, 8);
    put_be(w, params->plain ? 0 : 1, 4);
    put_metadata(w, params->async);
}

void end_chunk(writer *w, const chunk_params *params)
{
    if (params->open)
        return;
    uint8_t *header = w->data + w->chunk;
    store_be(header + 8, w->len - w->chunk, 8);
    store_be(header + 16, w->last_pool - w->chunk, 8);
    store_be(header + 24, 68, 8);
    store_be(header + 40, 1000000000, 8);
}

size_t begin_checkpoint(writer *w)
{
    size_t at = begin(w, 1);
    put_long(w, 0);
    put_long(w, 0);
    put_long(w, w->last_pool == 0 ? 0 : (uint64_t)w->last_pool - (uint64_t)at);
    put_u8(w, 0);
    w->pool_count_at = w->len;
    put_be(w, 0, 4);
    w->pools = 0;
    w->last_pool = at;
    return at;
}

void begin_pool(writer *w, enum type type, uint64_t entries)
{
    w->pools++;
    put_long(w, w->base + (uint64_t)type);
    put_int(w, entries);
}

void end_checkpoint(writer *w, size_t checkpoint)
{
    if (w->plain)
        store_be(w->data + w->pool_count_at, w->pools, 4);
    else
        store_padded(w->data + w->pool_count_at, w->pools, 4);
    end_event(w, checkpoint);
}

void put_empty_checkpoint(writer *w, uint64_t delta)
{
    size_t checkpoint = w->len;
    put_be(w, 0, 4);
    put_long(w, 1);
    put_long(w, 0);
    put_long(w, 0);
    put_long(w, delta);
    put_u8(w, 0);
    put_int(w, 0);
    end_event(w, checkpoint);
    w->last_pool = checkpoint;
}

static void put_texts(writer *w, enum type type, const char *const *texts, uint64_t first,
                      uint64_t count)
{
    begin_pool(w, type, count);
    for (uint64_t i = 0; i < count; i++) {
        put_long(w, first + i);
        put_text(w, texts[i]);
    }
}

static void put_classes(writer *w)
{
    static const unsigned symbols[] = {1, 4, 5, 6, 7, 10, 1};
    begin_pool(w, T_CLASS, 7);
    for (unsigned i = 0; i < 7; i++) {
        put_long(w, i + 1);
        put_long(w, symbols[i]);
        put_int(w, 0); /* modifiers */
    }
}

static void put_method(writer *w, uint64_t id, uint64_t klass, uint64_t name, uint64_t descriptor)
{
    put_long(w, id);
    put_long(w, klass);
    put_long(w, name);
    put_long(w, descriptor);
    put_u8(w, 0); /* hidden */
}

static void put_frame(writer *w, uint64_t method, uint64_t line, uint64_t type)
{
    put_long(w, method);
    put_int(w, line);
    put_int(w, 0); /* bytecode index */
    put_long(w, type);
}

static void put_stacks(writer *w)
{
    begin_pool(w, T_STACK, 2);
    put_long(w, 7);
    put_u8(w, 0);
    put_int(w, 2);
    put_frame(w, 1, 42, 1);
    put_frame(w, 1, 7, 0);
    put_long(w, 9);
    put_u8(w, 1); /* truncated */
    put_int(w, 9);
    for (uint64_t type = 0; type < 8; type++)
        put_frame(w, type >= 3 && type < 6 ? 2 : 1, type, type);
    put_frame(w, 3, 0, 3);
}

static void put_threads(writer *w)
{
    begin_pool(w, T_THREAD, 2);
    put_long(w, 70);
    put_text(w, "os-main");
    put_long(w, 1234);
    put_text(w, "main");
    put_long(w, 1);
    put_long(w, 5);
    put_u8(w, 0);
    put_long(w, 71);
    put_text(w, "GC Thread#0");
    put_long(w, 1240);
    put_text(w, NULL);
    put_long(w, 0);
    put_long(w, 0);
    put_u8(w, 1);
    begin_pool(w, T_GROUP, 1);
    put_long(w, 5);
    put_long(w, 0); /* parent */
    put_text(w, "workers");
}

void put_standard_pools(writer *w)
{
    static const char *const frame_types[] = {"Interpreted", "JIT compiled", "Inlined",
                                              "Native",      "C++",          "Kernel",
                                              "C1 compiled", "Quantum"};
    static const char *const states[] = {"STATE_DEFAULT", "STATE_RUNNABLE", "STATE_SLEEPING",
                                         "STATE_PARKED_TIMED"};
    static const char *const symbols[] = {"java/util/HashMap",
                                          "put",
                                          "(I)V",
                                          "[[I",
                                          "[Ljava/lang/String;",
                                          "java/util/concurrent/locks/ReentrantLock$NonfairSync",
                                          "java/util/concurrent/FutureTask",
                                          "memcpy",
                                          "[unknown_Java]",
                                          ""};
    size_t checkpoint = begin_checkpoint(w);
    put_texts(w, T_FRAME_TYPE, frame_types, 0, 8);
    put_texts(w, T_STATE, states, 0, 4);
    put_texts(w, T_SYMBOL, symbols, 1, 10);
    put_classes(w);
    begin_pool(w, T_METHOD, 3);
    put_method(w, 1, 1, 2, 3);
    put_method(w, 2, 6, 8, 10);
    put_method(w, 3, 6, 9, 10);
    put_stacks(w);
    put_threads(w);
    end_checkpoint(w, checkpoint);
}

void put_setting(writer *w, enum type of, const char *name, const char *value)
{
    size_t event = begin_event(w, T_SETTING);
    put_long(w, 0);
    put_long(w, w->base + (uint64_t)of);
    put_text(w, name);
    put_text(w, value);
    end_event(w, event);
}

void put_execution(writer *w, uint64_t time, uint64_t thread, uint64_t stack, uint64_t state)
{
    size_t event = begin_event(w, T_EXECUTION);
    put_long(w, time);
    put_long(w, thread);
    put_long(w, stack);
    put_long(w, state);
    end_event(w, event);
}

void put_wall(writer *w, uint64_t samples)
{
    put_wall_in(w, samples, 2);
}

void put_wall_in(writer *w, uint64_t samples, uint64_t state)
{
    size_t event = begin_event(w, T_WALL);
    put_long(w, 600);
    put_long(w, 70);
    put_long(w, 7);
    put_long(w, state);
    put_int(w, samples);
    end_event(w, event);
}

void put_monitor_enter(writer *w, uint64_t time, uint64_t duration, uint64_t klass)
{
    size_t event = begin_event(w, T_MONITOR_ENTER);
    put_long(w, time);
    put_long(w, duration);
    put_long(w, 70);
    put_long(w, 7);
    put_long(w, klass);
    end_event(w, event);
}

void put_park(writer *w, uint64_t duration, uint64_t klass)
{
    size_t event = begin_event(w, T_PARK);
    put_long(w, 600);
    put_long(w, duration);
    put_long(w, 70);
    put_long(w, 7);
    put_long(w, klass);
    put_long(w, 0); /* timeout */
    end_event(w, event);
}

static size_t begin_alloc(writer *w, enum type type, uint64_t klass)
{
    size_t event = begin_event(w, type);
    put_long(w, 600);
    put_long(w, 70);
    put_long(w, 7);
    put_long(w, klass);
    return event;
}

void put_in_tlab(writer *w, uint64_t klass, uint64_t size, uint64_t tlab_size)
{
    size_t event = begin_alloc(w, T_IN_TLAB, klass);
    put_long(w, size);
    put_long(w, tlab_size);
    end_event(w, event);
}

void put_outside(writer *w, uint64_t klass, uint64_t size)
{
    size_t event = begin_alloc(w, T_OUTSIDE, klass);
    put_long(w, size);
    end_event(w, event);
}

void put_alloc_sample(writer *w, uint64_t klass, uint64_t weight)
{
    size_t event = begin_alloc(w, T_ALLOC_SAMPLE, klass);
    put_long(w, weight);
    end_event(w, event);
}
