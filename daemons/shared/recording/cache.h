/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a chunk to an aggregate. Each stack, thread and class of the chunk is interned once and then
 * found by its index. */
#ifndef RECORDING_CACHE_H
#define RECORDING_CACHE_H

#include "internal.h"

/* The number of facets that can be root frames (recording_options.wall_states). */
enum { RECORDING_STATES = 2 };

/* Labels of one class: one for each facet. */
enum { RECORDING_FACETS = RECORDING_FACET_WALL_WAITING + 1 };

/* The aggregate's method for a method of the chunk, as last used. */
typedef struct recording_method {
    uint32_t method; /* the aggregate's index + 1; 0 = none */
    uint8_t kind;    /* kind of the frame reference */
} recording_method;

/* frames.c: the stacks of a chunk as numbers of their frames. `number` sets number_rc. */
typedef struct recording_frames {
    const jfr_chunk *chunk;
    jfr_number_frame *number;
    void *ctx;
    jfr_stacks *stacks;
    int number_rc;     /* the error for which a frame has no number, or 0 */
    uint32_t *numbers; /* of the frames of stacks, one stack after the other */
    size_t room;
} recording_frames;

/* Returns false without memory; free it in any case. */
bool recording__frames_init(recording_frames *f, const jfr_chunk *chunk, jfr_number_frame *number,
                            void *ctx);
/* Drops all numbers. Returns false without memory. */
bool recording__frames_forget(recording_frames *f);
void recording__frames_free(recording_frames *f);
/* Reads a stack into f->numbers, after the numbers in use. A damaged stack has no frames. Returns
 * 0, number_rc or SAGG_ERR_NOMEM. */
int recording__frames_read(recording_frames *f, uint32_t stack, size_t used, jfr_stack_ref *out,
                           bool *damaged);

/* The line of a frame, 0 = unknown. The JDK writes -1 for an unknown line. */
static inline uint32_t recording__line(const jfr_frame_ref *ref)
{
    return ref->line <= INT32_MAX ? ref->line : 0;
}

/* Maps the chunk's indices to the aggregate's. Entries are an index of the aggregate + 1; 0 = not
 * mapped yet. */
typedef struct recording_cache {
    const recording *rec;
    sagg *agg; /* the recording's, or one thread's share */
    jfr_chunk *chunk;
    const jfr_sums *sums;      /* of the chunk; NULL = samples are read one by one */
    const jfr_sums_info *info; /* info of `sums` */
    recording_lock
        *lock; /* held while names of the chunk are read; NULL = only one thread reads names */
    uint64_t bad_stacks;
    uint64_t samples;        /* read so far */
    uint64_t excess_samples; /* past max_samples */
    uint64_t truncated_raw[PROFILE_TYPE_END];
    uint32_t *stacks;
    bool *cut; /* by stack: the recorder or max_frames cut its root */
    uint32_t *threads;
    uint32_t *state_stacks[RECORDING_STATES]; /* by stack: the stack below its state's frame; NULL =
                                                 not wanted */
    uint32_t state_frames[RECORDING_STATES];
    uint32_t *numbers; /* of the frames of one stack */
    size_t number_room;
    uint8_t *lane_facets; /* by lane: its facet */
    sagg_lane *lanes; /* rows.c: the sums' lanes, and as many for second types; NULL = none yet */
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

/* Gives the names of a frame. Returns 0, SAGG_ERR_LIMIT (its stacks are to be dropped) or
 * SAGG_ERR_NOMEM. */
int recording__name_frame(const recording_cache *c, const jfr_frame_ref *ref, sagg_frame *out);

/* How many stacks are interned at a time. */
enum { RECORDING_STACKS = 64 };

/* Call before adding rows: if a cap is reached, it compacts the aggregate, which invalidates the
 * numbers of stacks. Returns 0 or SAGG_ERR_NOMEM, as the next two do. */
int recording__make_room(recording_cache *c);
/* Interns up to RECORDING_STACKS stacks of the chunk that are not known yet. A damaged stack counts
 * as no stack; a stack beyond the caps stays unknown. */
int recording__map_stacks(recording_cache *c, const uint32_t *indices, size_t count);
/* Give the aggregate's number of a stack, a thread and a label of the chunk, and intern them when
 * first used. Return 0 or SAGG_ERR_NOMEM. */
int recording__map_stack(recording_cache *c, uint32_t index, uint32_t *stack);
int recording__map_thread(recording_cache *c, uint32_t index, uint32_t *thread);
int recording__map_label(recording_cache *c, const jfr_sums_lane *lane, uint32_t *label);
/* Returns the facet of a lane's samples. */
uint32_t recording__facet(const jfr_sums_lane *lane);
/* Replaces the aggregate's stack by one below the frame of the facet's state, if such frames are
 * wanted. Returns 0 or SAGG_ERR_NOMEM. */
int recording__map_state(recording_cache *c, uint32_t facet, uint32_t index, uint32_t *stack);

/* Adds the rows of the stacks from `from` up to `to`; the index after all stacks stands for no
 * stack. The stacks must be interned. Returns 0 or SAGG_ERR_NOMEM. */
int recording__add_rows(recording_cache *c, uint32_t from, uint32_t to);
/* Adds the rows by second. Returns the same codes. */
int recording__add_seconds(recording_cache *c);

/* Adds all sums of the chunk, with several threads if that is faster. Returns the same codes. */
int recording__add_sums(recording_cache *c);

#endif
