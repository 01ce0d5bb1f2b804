/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk's way into an aggregate: each stack, thread and class is interned once, then found by its
 * index. */
#ifndef RECORDING_CACHE_H
#define RECORDING_CACHE_H

#include <pthread.h>

#include "internal.h"

/* Labels of one class: one a facet. */
enum { RECORDING_FACETS = RECORDING_FACET_WALL_WAITING + 1 };

/* What a method of the chunk was last met as. */
typedef struct recording_method {
    uint32_t method; /* of the aggregate, + 1; 0 = none */
    uint8_t kind;    /* of the reference */
} recording_method;

/* What is known about the chunk's indices. Entries are an index of the aggregate + 1; 0 = not met
 * yet. */
typedef struct recording_cache {
    const recording *rec;
    sagg *agg; /* the recording's, or a share's */
    jfr_chunk *chunk;
    pthread_mutex_t *lock; /* held while the chunk is asked for names; NULL = by one thread only */
    uint64_t bad_stacks;
    uint64_t truncated_raw[PROFILE_TYPE_END];
    uint32_t *stacks;
    bool *cut; /* by stack: the recorder or max_frames left its root out */
    uint32_t *threads;
    uint32_t (*labels)[RECORDING_FACETS]; /* by class; the last row is for samples without one */
    recording_method *methods;            /* the last is for frames whose method is unknown */
    uint32_t stack_count, thread_count, class_count, method_count;
    jfr_frame_memo *memo; /* of the aggregate's frames */
    int learn_rc;         /* why a frame has none */
    uint32_t *frames;     /* of the stacks being interned */
    size_t frame_room;
} recording_cache;

/* Returns false without memory; free it in any case. */
bool recording__cache_init(recording_cache *c, const recording *rec, sagg *agg, jfr_chunk *chunk);
void recording__cache_free(recording_cache *c);

/* Rows, and stacks, that are added at a time. */
enum { RECORDING_ROWS = 64, RECORDING_STACKS = 64 };

/* Before rows are added: where a cap is reached the aggregate is compacted, which makes the numbers
 * of stacks void. Returns 0 or SAGG_E_NOMEM, as the next two do. */
int recording__make_room(recording_cache *c);
/* Interns up to RECORDING_STACKS stacks of the chunk that are not known yet. A damaged one counts
 * as none; one that finds no room stays unknown. */
int recording__map_stacks(recording_cache *c, const uint32_t *indices, size_t count);
/* Adds up to RECORDING_ROWS sums of the chunk. */
int recording__add_rows(recording_cache *c, const jfr_sum *rows, size_t count);

/* Adds all sums of the chunk, by as many threads as there are parts. Returns 0 or SAGG_E_NOMEM. */
int recording__add_sums(recording_cache *c, const recording_filled *filled);

#endif
