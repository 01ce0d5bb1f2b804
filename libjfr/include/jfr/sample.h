/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SAMPLE_H
#define JFR_SAMPLE_H

#include <jfr/chunk.h>
#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/string.h>
#include <stddef.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/* An index that stands for "no stack", "no thread" or "no class". */
#define JFR_NONE UINT32_MAX

/* The quantity that a value measures. The constants are dense from 0 and stable. */
typedef enum jfr_profile_type {
    JFR_CPU = 0,         /* ns on CPU */
    JFR_WALL,            /* ns of wall time */
    JFR_ALLOC_BYTES,     /* bytes allocated on the heap */
    JFR_ALLOC_OBJECTS,   /* objects allocated */
    JFR_LOCK_COUNT,      /* contended lock acquisitions */
    JFR_LOCK_DELAY,      /* ns waited for them */
    JFR_LIVE_BYTES,      /* bytes of sampled objects alive at the end */
    JFR_NATIVEMEM_BYTES, /* bytes allocated by malloc and similar functions */
    JFR_EVENTS,          /* counts of async-profiler's main event: calls, page faults, ... */
    JFR_TRACE_COUNT,     /* traced calls of methods */
    JFR_TRACE_TIME       /* ns that the traced calls took */
} jfr_profile_type;

enum { JFR_PROFILE_TYPE_COUNT = 11 };

/* The event that a sample was made from. */
typedef enum jfr_sample_source {
    JFR_SOURCE_EXECUTION = 1, /* jdk.ExecutionSample */
    JFR_SOURCE_CPU_TIME,      /* jdk.CPUTimeSample */
    JFR_SOURCE_NATIVE_METHOD, /* jdk.NativeMethodSample */
    JFR_SOURCE_WALL_CLOCK,    /* profiler.WallClockSample */
    JFR_SOURCE_ALLOC_IN_TLAB, /* jdk.ObjectAllocationInNewTLAB */
    JFR_SOURCE_ALLOC_OUTSIDE, /* jdk.ObjectAllocationOutsideTLAB */
    JFR_SOURCE_ALLOC_SAMPLE,  /* jdk.ObjectAllocationSample */
    JFR_SOURCE_LIVE_OBJECT,   /* profiler.LiveObject */
    JFR_SOURCE_MALLOC,        /* profiler.Malloc */
    JFR_SOURCE_MONITOR_ENTER, /* jdk.JavaMonitorEnter */
    JFR_SOURCE_MONITOR_WAIT,  /* jdk.JavaMonitorWait */
    JFR_SOURCE_THREAD_PARK,   /* jdk.ThreadPark */
    JFR_SOURCE_NATIVE_LOCK,   /* profiler.NativeLock */
    JFR_SOURCE_DATADOG_CPU,   /* datadog.ExecutionSample */
    JFR_SOURCE_DATADOG_WALL,  /* datadog.MethodSample */
    JFR_SOURCE_DATADOG_ALLOC, /* datadog.ObjectSample */
    JFR_SOURCE_DATADOG_LIVE,  /* datadog.HeapLiveObject */
    JFR_SOURCE_METHOD_TRACE   /* jdk.MethodTrace, of async-profiler or of JDK 25 */
} jfr_sample_source;

/* The kind of lock that a thread waited for. */
typedef enum jfr_lock_kind {
    JFR_LOCK_NONE = 0,    /* the sample is no lock sample */
    JFR_LOCK_MONITOR,     /* synchronized */
    JFR_LOCK_PARK,        /* a java.util.concurrent lock */
    JFR_LOCK_NATIVE,      /* pthread mutex or rwlock */
    JFR_LOCK_IDLE_PARK,   /* parked without a lock; with JFR_KEEP_IDLE_WAITS only */
    JFR_LOCK_MONITOR_WAIT /* Object.wait; with JFR_KEEP_IDLE_WAITS only */
} jfr_lock_kind;

/* The state of the thread when it was sampled. */
typedef enum jfr_thread_state {
    JFR_STATE_UNKNOWN = 0, /* the event has no state, or async-profiler's STATE_DEFAULT */
    JFR_STATE_RUNNABLE,
    JFR_STATE_SLEEPING, /* asleep, waiting, parked or blocked */
    JFR_STATE_NATIVE    /* the JDK's STATE_IN_NATIVE */
} jfr_thread_state;

/* One measured value of a sample. The sum of `raw` is what the recorder saw; the sum of `value` is
 * the best estimate of what happened. */
typedef struct jfr_value {
    jfr_profile_type type;
    uint64_t raw;
    uint64_t value;
} jfr_value;

enum { JFR_SAMPLE_VALUES = 2 };

/*
 * One profile sample. It is plain data that may be copied; its indices are valid while their chunk
 * is current.
 *
 * How an event becomes values (raw / value where they differ):
 *   cpu             the recording's own interval. CPUTimeSample: its own sampling period
 *   wall            samples x interval
 *   alloc_bytes     the weight as the recorder defines it: tlabSize of InNewTLAB, allocationSize of
 *                   OutsideTLAB, weight of ObjectAllocationSample. InNewTLAB and OutsideTLAB add up
 *   alloc_objects   1 / max(1, weight / object size); absent for ObjectAllocationSample, which has
 *                   no object size
 *   lock_count      1 / max(1, interval / duration)
 *   lock_delay      duration in ns, by this chunk's clock / max(duration, interval)
 *   live_bytes      allocationSize / max(allocationSize, interval of the allocations)
 *   nativemem_bytes size / max(size, interval)
 *   events          the interval of async-profiler's main event, where that is a count and no time:
 *                   `event=page-faults`, `event=Calls.target`; jfr_recording_info.event names it
 *   trace_count     1
 *   trace_time      the duration in ns
 * Datadog's profiler weighs its samples: cpu and wall are weight x interval, alloc_bytes and
 * live_bytes size x weight, alloc_objects 1 / weight.
 * Only async-profiler's chunks have an `interval` of locks, live and nativemem: its options
 * `lock=`, `alloc=` and `nativemem=` sample accumulated amounts, so an event stands for the whole
 * interval. The JDK's thresholds only drop short waits; its values are not scaled.
 *
 * No allocation and no CPU time of a chunk is counted twice:
 *   - ObjectAllocationSample is left out when the chunk has ObjectAllocationInNewTLAB events, which
 *     record every TLAB and the object's size; otherwise OutsideTLAB is left out when the chunk has
 *     ObjectAllocationSample events;
 *   - jdk.ExecutionSample is left out when the chunk has jdk.CPUTimeSample events.
 * jfr_chunk_stats.rival_events counts the events left out.
 *
 * async-profiler's ExecutionSample counts as wall when its main event is wall, or when its state is
 * not STATE_DEFAULT (wall samples written with `nobatch`), and else as cpu. jdk.NativeMethodSample
 * is left out: it also samples threads that sleep inside a system call, which is not cpu time.
 *
 * These waits are contention: JavaMonitorEnter; NativeLock; and ThreadPark when the thread parks on
 * a lock of java.util.concurrent, whose class name starts with
 * java.util.concurrent.locks.Reentrant, java.util.concurrent.locks.StampedLock or
 * java.util.concurrent.Semaphore (async-profiler's own rule for recording parks, plus StampedLock).
 * All other parks (thread pools waiting for work, futures, conditions, sleeps) and Object.wait are
 * idle. They are left out and counted in jfr_chunk_stats.idle_waits; with JFR_KEEP_IDLE_WAITS they
 * are yielded, with their own lock_kind.
 */
typedef struct jfr_sample {
    int64_t time_ns;   /* start of the event by this chunk's clock, ns since 1970 UTC */
    uint32_t stack;    /* index for jfr_chunk_stack, or JFR_NONE */
    uint32_t thread;   /* index for jfr_chunk_thread, or JFR_NONE */
    uint32_t klass;    /* class of the allocated object or lock: for jfr_chunk_class, or JFR_NONE */
    uint8_t source;    /* jfr_sample_source */
    uint8_t state;     /* jfr_thread_state */
    uint8_t lock_kind; /* jfr_lock_kind */
    uint8_t value_count; /* 1 or 2 */
    jfr_value values[JFR_SAMPLE_VALUES];
} jfr_sample;

/*
 * Yields the chunk's next sample, in the order of the file, which is not that of time.
 * Returns 1 with a sample, 0 at the chunk's end, negative on an error. An event can have an
 * impossible size, for example when a writer interrupted another. Reading then continues at the
 * next checkpoint of the chunk, or ends without one; jfr_file_loss reports the bytes in between.
 * Errors: JFR_ERR_LIMIT (max_string_bytes, max_decoded_bytes), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_samples_next(jfr_chunk *chunk, jfr_sample *sample, jfr_error *err);

/* Goes back to the chunk's first sample and resets the counts of jfr_chunk_get_stats. */
JFR_EXPORT void jfr_samples_rewind(jfr_chunk *chunk);

/*
 * An event type whose events look like samples, but which the library does not read: its events
 * have a stack trace, in a field of any name, and no profile type counts them. Most of the JDK's
 * own events have a stack trace; of them only those whose name ends in "Sample" count as unread
 * (jdk.OldObjectSample).
 */
typedef struct jfr_unread {
    jfr_str event;
    uint64_t count; /* its events in this chunk, as far as the chunk can be read */
} jfr_unread;

/* Returns the chunk's unread event types, also those without an event. Borrowed until the chunk
 * ends (see jfr_next_chunk). */
JFR_EXPORT const jfr_unread *jfr_chunk_unread(const jfr_chunk *chunk, size_t *count);

/* Returns the stable lower-case name of a type ("cpu", "alloc_bytes", ...); NULL when out of
 * range. */
JFR_EXPORT const char *jfr_profile_type_name(jfr_profile_type type);

/* Returns the unit of a type: "ns", "bytes" or "count"; NULL when out of range. */
JFR_EXPORT const char *jfr_profile_type_unit(jfr_profile_type type);

JFR_END_DECLS

#endif
