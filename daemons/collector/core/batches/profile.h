/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile in one recording of one JVM: the collector's plain form between the reader of
 * recordings and the builder of batches. Indexes refer to the profile itself.
 */
#ifndef COLLECTOR_CORE_PROFILE_H
#define COLLECTOR_CORE_PROFILE_H

#include <catalogue/profile_type.h>
#include <contract/batch.h>

/* The sums of one (part, pool, stack, facet, object). */
typedef struct profile_row {
    uint32_t part;
    uint32_t pool;   /* string */
    uint32_t stack;  /* stacks */
    uint32_t facet;  /* Facet of the contract */
    uint32_t object; /* string */
    profile_sum sum;
} profile_row;

typedef struct profile_second {
    uint32_t part;
    uint32_t pool;
    uint32_t second;        /* within the window */
    uint64_t amount, count; /* estimates */
} profile_second;

typedef struct profile_thread {
    uint32_t part;
    uint64_t os_tid;
    uint64_t java_tid;
    uint32_t name;
    uint32_t pool;
    profile_sum sum;
} profile_thread;

/* Stack 0 is always the one frame "[dropped]". */
typedef struct profile {
    string_table strings;
    profile_part *parts;
    size_t part_count;
    profile_row *rows;
    size_t row_count;
    profile_second *seconds;
    size_t second_count;
    profile_thread *threads;
    size_t thread_count;
    profile_frame *frames;
    size_t frame_count;
    profile_stack *stacks;
    size_t stack_count;
    uint32_t *stack_frames;
    size_t stack_frame_count;
    uint64_t excess_events;    /* over the limit of a window's events, summed as [dropped] */
    uint64_t uncounted_events; /* samples that are in no part: their interval is not known, or
                                  their event is not read */
    char uncounted[512];       /* names these events and those left out by design, once for each
                                  target; "" = nothing to say */
    uint64_t covered_ms;       /* the time that the recording covers, by its own chunks */
    char profiler[64];         /* with its version; "" = not in the recording */
} profile;

/* Returns the recorded amount of a profile type, from the sums of all sources. */
uint64_t profile_sum_raw(const profile_sum of[PROFILE_SOURCE_END], unsigned type);

void profile_clear(profile *one);

/*
 * Sums rows that have the same part, pool, stack, facet and object, and seconds that have the same
 * part, pool and second: threads without a name and threads of an unnamed pool look alike.
 */
void profile_unite(profile *one);

/*
 * Keeps the `max` heaviest rows of each part (by amount) and sums the others of each pool into its
 * [dropped] row, so that totals stay exact. Returns 0 or -1 (no memory).
 */
int profile_fold(profile *one, size_t max);

#endif
