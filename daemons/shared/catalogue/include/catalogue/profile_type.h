/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue of profile types: one table owns their numbers, names and units.
 *
 * Numbers stand in the contract (daemons/shared/contract) and in the store: they are never reused.
 * All functions are pure and may be called from any thread.
 */
#ifndef CATALOGUE_PROFILE_TYPE_H
#define CATALOGUE_PROFILE_TYPE_H

#include <stddef.h>

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
    PROFILE_TYPE_STORED_END,
    /* Only in files: no collector records them, no batch and no store holds them. */
    PROFILE_TYPE_EVENTS = PROFILE_TYPE_STORED_END, /* what async-profiler's event counts */
    PROFILE_TYPE_TRACE_COUNT,                      /* traced calls */
    PROFILE_TYPE_TRACE_TIME,                       /* ns that they took */
    PROFILE_TYPE_END
};

typedef struct profile_type_info {
    enum profile_type type;
    const char *name;  /* stable: API, UI, files */
    const char *unit;  /* "ns", "bytes" or "count" */
    const char *title; /* for people */
} profile_type_info;

/* The entry of a number, or NULL where the number is not in the catalogue. */
const profile_type_info *profile_type_get(unsigned number);

/* The entry of a name ("cpu"), or NULL. */
const profile_type_info *profile_type_find(const char *name);

#endif
