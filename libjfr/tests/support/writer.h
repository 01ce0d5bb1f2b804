/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_TESTS_WRITER_H
#define JFR_TESTS_WRITER_H

/*
 * Writes small recordings byte by byte, valid or deliberately wrong. One `writer` is one file; its
 * buffer grows and is freed by writer_free. Running out of memory aborts.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct writer {
    uint8_t *data;
    size_t len;
    size_t cap;
    bool plain;       /* integers as fixed-width big-endian instead of LEB128 */
    size_t chunk;     /* offset of the current chunk */
    size_t last_pool; /* offset of the current chunk's last checkpoint; 0 = none yet */
    size_t pool_count_at;
    unsigned pools;
    uint32_t base; /* first type id of the current chunk */
    bool rich;   /* metadata as a JVM writes it: super types, simple types, units, the time zone */
    bool others; /* metadata with the types of other writers, too */
    uint64_t only; /* metadata of these types alone, bit 1 << type each; 0 = of all */
} writer;

/* Ids of the types that writer_metadata defines, added to the chunk's base. */
enum type {
    T_BOOLEAN,
    T_BYTE,
    T_CHAR,
    T_SHORT,
    T_INT,
    T_LONG,
    T_FLOAT,
    T_DOUBLE,
    T_STRING,
    T_CLASS,
    T_THREAD,
    T_GROUP,
    T_FRAME_TYPE,
    T_STATE,
    T_STACK,
    T_FRAME,
    T_METHOD,
    T_SYMBOL,
    T_WEIRD, /* a pool that the library does not use, with all kinds of fields */
    T_LABEL,
    T_TIMESPAN,
    T_RECORDING,
    T_SETTING,
    T_JVM,
    T_EXECUTION,
    T_CPU_TIME,
    T_NATIVE_METHOD,
    T_WALL,
    T_IN_TLAB,
    T_OUTSIDE,
    T_ALLOC_SAMPLE,
    T_LIVE,
    T_MALLOC,
    T_MONITOR_ENTER,
    T_MONITOR_WAIT,
    T_PARK,
    T_NATIVE_LOCK,
    T_COUNT,
    /* Only in rich metadata: */
    T_TIMESTAMP = T_COUNT,
    T_UNSIGNED,
    T_CONTENT_TYPE,
    T_DATA_AMOUNT,
    T_CATEGORY,
    T_SAMPLES_LOST,
    T_DATA_LOSS,
    T_ANYTHING, /* an event type that no reader knows, with all kinds of fields */
    T_RICH_COUNT,
    /* Only where w->others: */
    T_DATADOG_CONFIG = T_RICH_COUNT,
    T_DATADOG_CPU,
    T_DATADOG_WALL,
    T_DATADOG_ALLOC,
    T_DATADOG_LIVE,
    T_DATADOG_QUEUE,   /* no sample: it has no stack */
    T_DATADOG_STRANGE, /* a sample that no reader knows */
    T_METHOD_TRACE,
    T_ALL_COUNT
};

/* The fields of a chunk's header. */
typedef struct chunk_params {
    int64_t start_ns;
    uint64_t start_ticks;
    uint64_t ticks_per_second;
    uint32_t base; /* of type ids; at least 2 */
    bool async;    /* labelled as async-profiler's */
    bool plain;
    bool open; /* leave the header unfinished: no sizes, no offsets */
} chunk_params;

#define CHUNK_PARAMS_INIT                                                                          \
    {                                                                                              \
        .start_ns = 1000000000, .start_ticks = 500, .ticks_per_second = 1000000000, .base = 20     \
    }

/* Overwrite bytes that have been written. */
void store_be(uint8_t *out, uint64_t value, unsigned width);
void store_padded(uint8_t *out, uint64_t value, unsigned width);

void put_u8(writer *w, unsigned value);
void put_be(writer *w, uint64_t value, unsigned width);
void put_varint(writer *w, uint64_t value);
void put_padded(writer *w, uint64_t value, unsigned width); /* LEB128 of exactly that width */
void put_bytes(writer *w, const void *bytes, size_t len);
void put_long(writer *w, uint64_t value); /* by the chunk's integer format */
void put_int(writer *w, uint64_t value);
void put_text(writer *w, const char *text); /* encoding 3; NULL = encoding 0 */

/* Write the start and the end of an event. The result of begin is passed to end, which patches the
 * size, 4 bytes wide. */
size_t begin_event(writer *w, enum type type);
void end_event(writer *w, size_t event);

/* Write a chunk: header and metadata first, then events and pools in any order, then its end, which
 * patches the header. */
void begin_chunk(writer *w, const chunk_params *params);
void end_chunk(writer *w, const chunk_params *params);
void put_metadata(writer *w, bool async);

/* Write a checkpoint, linked to the previous one of its chunk; it contains pools: type, count,
 * entries. */
size_t begin_checkpoint(writer *w);
void begin_pool(writer *w, enum type type, uint64_t entries);
void end_checkpoint(writer *w, size_t checkpoint);
/* Writes a checkpoint without pools, with the given delta to the previous one. */
void put_empty_checkpoint(writer *w, uint64_t delta);

/*
 * Writes the pools that most tests use, in one checkpoint:
 *   frame types 0 Interpreted, 1 JIT compiled, 2 Inlined, 3 Native, 4 C++, 5 Kernel, 6 C1 compiled,
 *   7 Quantum; states 0 STATE_DEFAULT, 1 STATE_RUNNABLE, 2 STATE_SLEEPING, 3 STATE_PARKED_TIMED
 *   symbols 1 "java/util/HashMap", 2 "put", 3 "(I)V", 4 "[[I", 5 "[Ljava/lang/String;",
 *   6 "java/util/concurrent/locks/ReentrantLock$NonfairSync", 7 "java/util/concurrent/FutureTask",
 *   8 "memcpy", 9 "[unknown_Java]", 10 ""
 *   classes 1-7 of symbols 1, 4, 5, 6, 7, 10, 1
 *   methods 1 HashMap.put(I)V, 2 memcpy, 3 [unknown_Java]
 *   stacks 7 = HashMap.put:42 (frame type 1) < HashMap.put:7 (0), 9 = one frame of each frame type
 *   thread 70: os "os-main", os tid 1234, java "main", java tid 1, group 5 "workers";
 *   thread 71: os "GC Thread#0", os tid 1240, no Java thread, virtual
 */
void put_standard_pools(writer *w);

/* Write events from their fields. Times are ticks. */
void put_setting(writer *w, enum type of, const char *name, const char *value);
void put_execution(writer *w, uint64_t time, uint64_t thread, uint64_t stack, uint64_t state);
/* Writes a wall sample at time 600, of thread 70 with stack 7 in state 2. */
void put_wall(writer *w, uint64_t samples);
/* Writes the same in that state. */
void put_wall_in(writer *w, uint64_t samples, uint64_t state);
void put_monitor_enter(writer *w, uint64_t time, uint64_t duration, uint64_t klass);
void put_park(writer *w, uint64_t duration, uint64_t klass);
void put_in_tlab(writer *w, uint64_t klass, uint64_t size, uint64_t tlab_size);
void put_outside(writer *w, uint64_t klass, uint64_t size);
void put_alloc_sample(writer *w, uint64_t klass, uint64_t weight);
/* Writes T_DATADOG_CPU or T_DATADOG_WALL, in thread 70 with stack 7. */
void put_datadog_time(writer *w, enum type type, uint64_t weight);
/* Writes T_DATADOG_ALLOC or T_DATADOG_LIVE, of class 2. */
void put_datadog_object(writer *w, enum type type, uint64_t size, float weight);
/* Writes the configuration; the intervals are in milliseconds. */
void put_datadog_config(writer *w, uint64_t cpu, uint64_t wall);
/* Writes an event of T_DATADOG_STRANGE. */
void put_datadog_strange(writer *w);
/* Writes a traced call in thread 70 with stack 7, of `duration` ticks. */
void put_method_trace(writer *w, uint64_t duration);
/*
 * Writes two chunks of Datadog's profiler with the standard pools: in each cpu samples of the
 * weights 1 and 3, a wall sample of 2, an allocation of 1000 bytes (20.5), a live object of 100
 * (1.25) and two events of T_DATADOG_STRANGE. The first has its intervals, 10 ms and 50 ms, as
 * settings; the second has 20 ms and 100 ms in its configuration, as in older versions.
 */
void write_datadog(writer *w, const chunk_params *params);

/*
 * Writes a test.Anything of that time and duration: flag true, small -2 as unsigned byte, letter
 * 'x', amount 1000 bytes, ratio 0.1f, precise -2.5, text "hi", none null, pooled string 40, state
 * 1, thread 70, stack 7, weird 3 (of put_anything_pool), numbers 1, 2, 3, names "a", "b", span 5
 * ms.
 */
void put_anything(writer *w, uint64_t time, uint64_t duration);
/*
 * Writes, in a checkpoint of its own, one test.Weird, 3: 'c', -1, 0.5f, 0.25, a method of class 1,
 * symbols 2 and 3, hidden; texts "x" and null; bytes 9 and 8; one frame of method 1 on line 11.
 * Also writes strings 40 "pooled" and 41 U+00E4 in Latin-1.
 */
void put_anything_pool(writer *w);

void writer_free(writer *w);

#endif
