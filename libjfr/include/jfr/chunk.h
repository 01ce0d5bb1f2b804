/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_CHUNK_H
#define JFR_CHUNK_H

#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/settings.h>
#include <stdbool.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/* A chunk's header, which includes its clock, and the sizes of its constant pools. */
typedef struct jfr_chunk_info {
    uint64_t offset; /* bytes from the recording's start to the chunk */
    uint64_t size;   /* bytes; in an unfinished chunk: the bytes present so far */
    uint16_t major;  /* format version: 1.0, 2.0, 2.1 */
    uint16_t minor;
    bool finished;        /* false: still being written, cut, or left by a JVM that died */
    bool compressed;      /* integers are LEB128 (all known writers) */
    int64_t start_ns;     /* UTC epoch */
    uint64_t duration_ns; /* 0 in an unfinished chunk */
    uint64_t start_ticks; /* the events' clock at start_ns */
    uint64_t ticks_per_second;
    int32_t utc_offset_s; /* of the recording JVM's time zone; 0 = not stated */
    /* Distinct stacks, methods, classes and threads. Indices of samples are below these counts. */
    uint32_t stack_count;
    uint32_t method_count;
    uint32_t class_count;
    uint32_t thread_count;
} jfr_chunk_info;

/* Returns the chunk's header, borrowed until the chunk ends (see jfr_next_chunk). */
JFR_EXPORT const jfr_chunk_info *jfr_chunk_get_info(const jfr_chunk *chunk);

/* The size of an array with an element for each jfr_sample_source; element 0 is unused. */
enum { JFR_SOURCE_COUNT = 19 };

/* Counts of the events and samples that were read from a chunk so far. */
typedef struct jfr_chunk_stats {
    uint64_t events;         /* events walked, of all types, checkpoints and metadata included */
    uint64_t samples;        /* samples yielded */
    uint64_t bad_events;     /* events skipped because their fields do not fit into their size */
    uint64_t idle_waits;     /* idle parks and Object.wait, left out */
    uint64_t native_samples; /* jdk.NativeMethodSample, left out */
    uint64_t
        failed_samples; /* yielded without a stack because jdk.CPUTimeSample failed to walk it */
    uint64_t stackless_samples; /* yielded with stack JFR_NONE */
    uint64_t unknown_pools;   /* constant pools of types that this library does not use: skipped */
    uint64_t undefined_pools; /* constant pools of types that the metadata does not define: they
                                 and the pools after them in their checkpoint were lost */
    /* Events left out because the chunk has a better event that counts the same thing. */
    uint64_t rival_events[JFR_SOURCE_COUNT]; /* by jfr_sample_source */
    /* Samples left out because their interval is unknown or is no time. */
    uint64_t unmeasured_events[JFR_SOURCE_COUNT]; /* by jfr_sample_source */
} jfr_chunk_stats;

/* Fills `out`. The counts are final once jfr_samples_next returned 0. */
JFR_EXPORT void jfr_chunk_get_stats(const jfr_chunk *chunk, jfr_chunk_stats *out);

JFR_END_DECLS

#endif
