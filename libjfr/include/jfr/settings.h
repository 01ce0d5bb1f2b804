/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SETTINGS_H
#define JFR_SETTINGS_H

#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/string.h>
#include <stddef.h>
#include <stdint.h>

JFR_BEGIN_DECLS

typedef struct jfr_chunk jfr_chunk;

/* The recorder that wrote a chunk. A file made with async-profiler's jfrsync has chunks of both. */
typedef enum jfr_producer { JFR_PRODUCER_JDK = 1, JFR_PRODUCER_ASYNC_PROFILER = 2 } jfr_producer;

/* The quantity that async-profiler's samples of its main event measure. */
typedef enum jfr_main_event {
    JFR_MAIN_UNKNOWN = 0,
    JFR_MAIN_CPU = 1,    /* time on CPU: cpu, cpu-clock, ctimer, itimer */
    JFR_MAIN_WALL = 2,   /* wall clock */
    JFR_MAIN_COUNTER = 3 /* a hardware or software counter, a method, ...: not a time */
} jfr_main_event;

/*
 * Sampling intervals, as the recording itself states them (jdk.ActiveSetting). 0 = not stated: that
 * kind of sampling is off, or no settings were read. Where async-profiler states 0 for "default",
 * the field holds the default that it then uses (10 ms cpu, 50 ms wall).
 */
typedef struct jfr_intervals {
    size_t size; /* sizeof(jfr_intervals) */
    uint64_t cpu_ns;
    uint64_t native_ns; /* jdk.NativeMethodSample */
    uint64_t wall_ns;
    uint64_t alloc_bytes;     /* async-profiler */
    uint64_t lock_ns;         /* async-profiler: a sampling interval of accumulated wait */
    uint64_t native_lock_ns;  /* async-profiler */
    uint64_t nativemem_bytes; /* async-profiler */
    uint64_t events;          /* async-profiler: counts of a JFR_MAIN_COUNTER between samples */
    uint32_t main_event;      /* a jfr_main_event */
    uint32_t reserved;        /* 0 */
} jfr_intervals;

#ifdef __cplusplus
#define JFR_INTERVALS_INIT                                                                         \
    [] {                                                                                           \
        jfr_intervals init_ = jfr_intervals();                                                     \
        init_.size = sizeof(jfr_intervals);                                                        \
        return init_;                                                                              \
    }()
#else
#define JFR_INTERVALS_INIT                                                                         \
    {                                                                                              \
        .size = sizeof(jfr_intervals)                                                              \
    }
#endif

/* One jdk.ActiveSetting event: setting `name` of event type `event` is `value`. */
typedef struct jfr_setting {
    jfr_str event; /* e.g. "jdk.ExecutionSample"; null when the chunk does not define the type */
    jfr_str name;
    jfr_str value;
} jfr_setting;

/* The JVM and the profiler that wrote the recording. Strings are null when the file says nothing.
 */
typedef struct jfr_recording_info {
    jfr_producer producer;
    jfr_str profiler_version; /* async-profiler's, e.g. "4.5" */
    jfr_str engine;           /* async-profiler's CPU engine: "perf_events", "ctimer", ... */
    jfr_str event;            /* async-profiler's event argument: "cpu", "wall", ... */
    jfr_str jvm_name;         /* jdk.JVMInformation */
    jfr_str jvm_version;
    jfr_str jvm_args;
    jfr_str jvm_flags;
    jfr_str java_args;    /* main class or jar, with its arguments */
    int64_t jvm_start_ms; /* UTC epoch; 0 = unknown */
    int64_t pid;          /* in the JVM's own pid namespace; 0 = unknown */
} jfr_recording_info;

/*
 * Fills `out` with the intervals that apply to a chunk's samples. The chunk's own settings override
 * those of the chunks read before it, and these override jfr_options.inherit. `out->size` must be
 * set (JFR_INTERVALS_INIT). Returns 0 or JFR_ERR_USAGE.
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_intervals(const jfr_chunk *chunk, jfr_intervals *out,
                                                jfr_error *err);

/*
 * Returns what the file says about its JVM and profiler, up to and including this chunk. The record
 * and its strings are borrowed until the chunk ends.
 */
JFR_EXPORT const jfr_recording_info *jfr_chunk_recording(const jfr_chunk *chunk);

/*
 * Count the chunk's jdk.ActiveSetting events, and give one, in file order. async-profiler writes
 * them into the first chunk of a file only. Strings: borrowed until the chunk ends (see
 * jfr_next_chunk). jfr_chunk_setting returns 0, or JFR_ERR_USAGE when `index` >= the count.
 */
JFR_EXPORT size_t jfr_chunk_setting_count(const jfr_chunk *chunk);
JFR_EXPORT JFR_MUST_USE int jfr_chunk_setting(const jfr_chunk *chunk, size_t index,
                                              jfr_setting *out, jfr_error *err);

JFR_END_DECLS

#endif
