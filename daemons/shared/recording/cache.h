/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk's way into an aggregate: each stack, thread and class is interned once, then found by its
 * index. */
#ifndef RECORDING_CACHE_H
#define RECORDING_CACHE_H

#include "internal.h"

/* The facets that can be root frames (recording_options.wall_states). */
enum { RECORDING_STATES = 2 };

/* Labels of one class: one a facet. */
enum { RECORDING_FACETS = RECORDING_FACET_WALL_WAITING + 1 };

/* What a method of the chunk was last met as. */
typedef struct recording_method {
    uint32_t method; /* of the aggregate, + 1; 0 = none */
    uint8_t kind;    /* of the reference */
} recording_method;

/* frames.c: the stacks of a chunk as numbers of their frames. `number` sets learn_rc. */
typedef struct recording_frames {
    const jfr_chunk *chunk;
    jfr_number_frame *number;
    void *ctx;
    jfr_stacks *stacks;
    int learn_rc;      /* why a frame has no number */
    uint32_t *numbers; /* of the frames of stacks, one behind the other */
    size_t room;
} recording_frames;

/* Returns false without memory; free it in any case. */
bool recording__frames_init(recording_frames *f, const jfr_chunk *chunk, jfr_number_frame *number,
                            void *ctx);
/* Forgets all numbers. Returns false without memory. */
bool recording__frames_forget(recording_frames *f);
void recording__frames_free(recording_frames *f);
/* Reads a stack into f->numbers, behind those in use. A damaged one has no frames. Returns 0,
 * learn_rc or SAGG_ERR_NOMEM. */
int recording__frames_read(recording_frames *f, uint32_t stack, size_t used, jfr_stack_ref *out,
                           bool *damaged);

/* The line of a frame. The JDK writes -1 where it knows none. */
static inline uint32_t recording__line(const jfr_frame_ref *ref)
{
    return ref->line <= INT32_MAX ? ref->line : 0;
}

/* What is known about the chunk's indices. Entries are an index of the aggregate + 1; 0 = not met
 * yet. */
typedef struct recording_cache {
    const recording *rec;
    sagg *agg; /* the recording's, or a share's */
    jfr_chunk *chunk;
    const jfr_sums *sums;      /* of the chunk; NULL = samples are read one by one */
    const jfr_sums_info *info; /* theirs */
    recording_lock *lock; /* held while the chunk is asked for names; NULL = by one thread only */
    uint64_t bad_stacks;
    uint64_t samples;        /* read so far */
    uint64_t excess_samples; /* past max_samples */
    uint64_t truncated_raw[PROFILE_TYPE_END];
    uint32_t *stacks;
    bool *cut; /* by stack: the recorder or max_frames left its root out */
    uint32_t *threads;
    uint32_t
        *state_stacks[RECORDING_STATES]; /* by stack: the same below its state; NULL = not wanted */
    uint32_t state_frames[RECORDING_STATES];
    uint32_t *numbers; /* of the frames of one stack */
    size_t number_room;
    uint8_t *lane_facets; /* by lane that was met */
    sagg_lane *lanes; /* rows.c: of the sums', and as many for second types; NULL = none is met */
    uint32_t (*labels)[RECORDING_FACETS]; /* by class; the last row is for samples without one */
    recording_method *methods;            /* the last is for frames whose method is unknown */
    uint32_t stack_count, thread_count, class_count, method_count, lane_count;
    recording_frames frames; /* of the stacks being interned, in the aggregate's numbers */
} recording_cache;

/* `sums` may be NULL, or have none of the chunk. Returns false without memory; free it in any case.
 */
bool recording__cache_init(recording_cache *c, const recording *rec, sagg *agg, jfr_chunk *chunk,
                           const jfr_sums *sums);
void recording__cache_free(recording_cache *c);

/* Tells the names of a frame. Returns 0, SAGG_ERR_LIMIT (its stacks are to be dropped) or
 * SAGG_ERR_NOMEM. */
int recording__name_frame(const recording_cache *c, const jfr_frame_ref *ref, sagg_frame *out);

/* Stacks that are interned at a time. */
enum { RECORDING_STACKS = 64 };

/* Before rows are added: where a cap is reached the aggregate is compacted, which makes the numbers
 * of stacks void. Returns 0 or SAGG_ERR_NOMEM, as the next two do. */
int recording__make_room(recording_cache *c);
/* Interns up to RECORDING_STACKS stacks of the chunk that are not known yet. A damaged one counts
 * as none; one that finds no room stays unknown. */
int recording__map_stacks(recording_cache *c, const uint32_t *indices, size_t count);
/* The aggregate's number of a stack, a thread and a label of the chunk, which are interned when
 * they are first met. Return 0 or SAGG_ERR_NOMEM. */
int recording__map_stack(recording_cache *c, uint32_t index, uint32_t *stack);
int recording__map_thread(recording_cache *c, uint32_t index, uint32_t *thread);
int recording__map_label(recording_cache *c, const jfr_sums_lane *lane, uint32_t *label);
/* The facet of a lane's samples. */
uint32_t recording__facet(const jfr_sums_lane *lane);
/* Puts the aggregate's stack of a chunk's stack below the state that the facet tells, where that is
 * wanted. Returns 0 or SAGG_ERR_NOMEM. */
int recording__map_state(recording_cache *c, uint32_t facet, uint32_t index, uint32_t *stack);

/* Adds the rows of the stacks from one number to another; the one behind them all stands for none.
 * The stacks are interned. Returns 0 or SAGG_ERR_NOMEM. */
int recording__add_rows(recording_cache *c, uint32_t from, uint32_t to);
/* Adds the rows of seconds. Returns as the above. */
int recording__add_seconds(recording_cache *c);

/* Adds all sums of the chunk, by several threads where that pays. Returns as the above. */
int recording__add_sums(recording_cache *c);

#endif
