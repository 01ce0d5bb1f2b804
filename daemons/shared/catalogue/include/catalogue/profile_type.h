/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue of sources and profile types: one table each owns their numbers, names and units.
 *
 * A source is a kind of event that an engine records. Its rows have an amount and a count, and each
 * profile type is one of the two. The contract (daemons/shared/contract) and the store hold the
 * numbers of sources; those of types are only used within a process. All functions are pure and may
 * be called from any thread.
 */
#ifndef CATALOGUE_PROFILE_TYPE_H
#define CATALOGUE_PROFILE_TYPE_H

#include <stddef.h>

enum profile_source {
    PROFILE_SOURCE_NONE = 0,
    PROFILE_SOURCE_CPU = 1,
    PROFILE_SOURCE_WALL = 2,
    PROFILE_SOURCE_ALLOC = 3,
    PROFILE_SOURCE_LOCK = 4,
    PROFILE_SOURCE_LIVE = 5,
    PROFILE_SOURCE_NATIVEMEM = 6,
    PROFILE_SOURCE_EVENTS = 7,
    PROFILE_SOURCE_TRACE = 8,
    PROFILE_SOURCE_END
};

enum profile_measure { PROFILE_AMOUNT, PROFILE_COUNT };

enum profile_type {
    PROFILE_TYPE_NONE = 0,
    PROFILE_TYPE_CPU = 1,             /* ns of CPU time: samples x the recording's interval */
    PROFILE_TYPE_ALLOC_BYTES = 2,     /* bytes: the engine's weight, in and outside TLAB */
    PROFILE_TYPE_ALLOC_OBJECTS = 3,   /* objects: weight / object size */
    PROFILE_TYPE_LOCK_COUNT = 4,      /* contended acquisitions */
    PROFILE_TYPE_LOCK_DELAY = 5,      /* ns waited for a contended lock */
    PROFILE_TYPE_WALL = 6,            /* ns of wall time */
    PROFILE_TYPE_LIVE_BYTES = 7,      /* bytes still reachable at the window's end */
    PROFILE_TYPE_NATIVEMEM_BYTES = 8, /* bytes of native memory */
    PROFILE_TYPE_EVENTS = 9,          /* the number of async-profiler's event */
    PROFILE_TYPE_TRACE_COUNT = 10,    /* traced calls */
    PROFILE_TYPE_TRACE_TIME = 11,     /* ns of traced calls */
    PROFILE_TYPE_END
};

typedef struct profile_type_info {
    enum profile_type type;
    const char *name;  /* stable: API, UI, files */
    const char *unit;  /* "ns", "bytes" or "count" */
    const char *title; /* for people */
    enum profile_source source;
    enum profile_measure measure;
} profile_type_info;

/* Returns the entry of a number, or NULL where the number is not in the catalogue. */
const profile_type_info *profile_type_get(unsigned number);

/* Returns the entry of a name ("cpu"), or NULL. */
const profile_type_info *profile_type_find(const char *name);

/* Returns the stable name of a source ("alloc"), or NULL where the number is not in the
 * catalogue. */
const char *profile_source_name(unsigned number);

/* Returns the type that shows that measure of a source, or PROFILE_TYPE_NONE. */
enum profile_type profile_type_of(unsigned source, enum profile_measure measure);

#endif
