/*
 * What one recording of one JVM came to: the collector's own plain form between the reader of
 * recordings and the builder of batches. Indexes point into the profile itself.
 */
#ifndef COLLECTOR_CORE_PROFILE_H
#define COLLECTOR_CORE_PROFILE_H

#include "intern.h"

#include <catalogue/profile_type.h>

enum { STACK_ID_SIZE = 16, STACK_TRUNCATED = 1 /* bit of profile_stack.flags */ };

/* One profile type of the window. */
typedef struct profile_part {
    uint32_t type; /* enum profile_type */
    char engine[16];
    uint64_t interval; /* in the type's unit, 0 = not known */
    uint64_t samples;
    uint64_t raw_total;
    uint64_t value_total;
    uint64_t truncated_raw;
    uint64_t dropped_raw;
    uint64_t dropped_stacks;
    uint64_t lost_events;
} profile_part;

/* One (part, pool, stack, facet, object). */
typedef struct profile_row {
    uint32_t part;
    uint32_t pool;   /* string */
    uint32_t stack;  /* stacks */
    uint32_t facet;  /* Facet of the contract */
    uint32_t object; /* string */
    uint64_t raw_value;
    uint64_t value;
    uint64_t samples;
} profile_row;

typedef struct profile_second {
    uint32_t part;
    uint32_t pool;
    uint32_t second; /* within the window */
    uint64_t value;
} profile_second;

typedef struct profile_thread {
    uint32_t part;
    uint64_t os_tid;
    uint64_t java_tid;
    uint32_t name;
    uint32_t pool;
    uint64_t raw_value;
    uint64_t value;
    uint64_t samples;
} profile_thread;

typedef struct profile_frame {
    uint32_t class_name; /* strings */
    uint32_t method;
    uint32_t file;
    uint32_t line;
    uint8_t kind;
} profile_frame;

typedef struct profile_stack {
    uint8_t id[STACK_ID_SIZE];
    uint8_t normaliser;
    uint8_t flags;
    uint32_t first; /* into stack_frames, leaf first */
    uint32_t depth;
} profile_stack;

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
    uint64_t covered_ms; /* how much time the recording covers, by its own chunks */
} profile;

void profile_clear(profile *one);

/*
 * Sums rows that have one part, pool, stack, facet and object, and seconds that have one part, pool
 * and second, into one each: threads without a name and threads of an unnamed pool look alike.
 */
void profile_unite(profile *one);

/*
 * Keeps the `max` heaviest rows of each part (by value) and sums the rest of each pool into its
 * [dropped] row, so that totals stay exact. 0 or -1 (no memory).
 */
int profile_fold(profile *one, size_t max);

#endif
