/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_AGGREGATE_H
#define STACKAGG_AGGREGATE_H

#include <stdbool.h>

#include <stackagg/frame.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * An aggregate: frames and stacks interned once, and totals by (profile type, thread or pool,
 * stack), within hard caps. Samples that do not fit are summed into one stack, SAGG_DROPPED, per
 * type and thread, so that totals are exact at all times.
 *
 * An aggregate may be used by one thread at a time; two aggregates are independent of each other.
 * Reading functions do not change it: several threads may read while none writes.
 */
typedef struct sagg sagg;

/** The stack of all dropped samples: one frame "[dropped]", kind unknown. Always index 0. */
#define SAGG_DROPPED 0u
/** The thread of samples that have none; its name and pool are empty. Always index 0. */
#define SAGG_NO_THREAD 0u
/** The thread into which threads beyond every cap are summed; name and pool are "[dropped]". Always
 * index 1. */
#define SAGG_DROPPED_THREAD 1u
/** Profile type ids are 1 .. SAGG_MAX_TYPE. */
#define SAGG_MAX_TYPE 63u

/** An aggregate holds at most this many labels; sagg_add_label returns label 0 for further ones. */
#define SAGG_MAX_LABELS 65536u

/** One row of the table of profile types. The library gives types no meaning. */
typedef struct sagg_type {
    uint32_t id;      /**< 1 .. SAGG_MAX_TYPE */
    const char *name; /**< such as "cpu"; copied */
    const char *unit; /**< such as "ns"; copied */
} sagg_type;

/** What separates entries besides type and stack. */
enum sagg_group {
    SAGG_BY_THREAD = 0, /**< exact threads */
    SAGG_BY_POOL = 1,   /**< thread pools; exact threads keep only their totals per type */
    SAGG_BY_NONE = 2,   /**< neither: every entry has SAGG_NO_THREAD; threads keep their totals */
};

/**
 * The functions that an aggregate allocates memory with: set all of them, or none for the C
 * library's. They are called on the thread that calls the library. When one returns NULL, the
 * library's function returns SAGG_ERR_NOMEM. An aggregate, and each object made from it, calls them
 * from one thread at a time. Objects that several threads make from one aggregate share its
 * allocator, which must then allow that, as malloc does.
 */
typedef struct sagg_allocator {
    void *(*alloc)(void *ctx, size_t bytes);
    void *(*realloc)(void *ctx, void *block, size_t old_bytes, size_t new_bytes);
    void (*free)(void *ctx, void *block, size_t bytes);
    void *ctx;
} sagg_allocator;

/**
 * Options of sagg_new. Start from SAGG_OPTIONS_INIT; 0 means the default. Caps are hard: memory
 * stays below `max_bytes`, with two exceptions. Each thread has one row of totals per type in
 * addition; and two calls need more while they run: sagg_compact 40 bytes per stack and 4 or 5 per
 * frame, method and name; sagg_merge 4 bytes per stack, frame, thread and label of the aggregate
 * that is merged, and 128 per frame of its deepest stack.
 */
typedef struct sagg_options {
    size_t size;            /**< sizeof(sagg_options); an unknown tail must be zero */
    const sagg_type *types; /**< `type_count` rows, ids distinct; read by sagg_new only */
    size_t type_count;      /**< 1 .. SAGG_MAX_TYPE */
    int normaliser;      /**< enum sagg_normaliser, taken as given: the INIT macro sets version 1 */
    int group;           /**< enum sagg_group */
    uint32_t max_stacks; /**< stacks that sagg_compact keeps, default 200,000; up to twice as many
                            live between compactions */
    uint32_t max_threads; /**< exact threads, and pools, each; default 10,000 */
    uint32_t max_frames; /**< frames of one stack, at least 2; default 2,048. A deeper one keeps its
                            leaf-most frames and ends with the root "[truncated]", kind unknown */
    uint32_t seconds;    /**< of per-second totals, 0 = none are kept; at most 86,400 */
    uint64_t max_bytes;  /**< all memory; default 512 MiB, least 1 MiB */
    int64_t origin_ns;   /**< start of the per-second totals, UTC ns */
    sagg_allocator allocator; /**< zero = malloc, realloc, free */
} sagg_options;

#ifdef __cplusplus
#define SAGG_OPTIONS_INIT                                                                          \
    [] {                                                                                           \
        sagg_options init_ = sagg_options();                                                       \
        init_.size = sizeof(sagg_options);                                                         \
        init_.normaliser = SAGG_NORMALISE_V1;                                                      \
        return init_;                                                                              \
    }()
#else
#define SAGG_OPTIONS_INIT                                                                          \
    {                                                                                              \
        .size = sizeof(sagg_options), .normaliser = SAGG_NORMALISE_V1                              \
    }
#endif

/**
 * Makes an empty aggregate.
 * @param out      receives it; the caller frees it with sagg_free
 * @param options  must not be NULL: the types have no default
 * @return 0; SAGG_ERR_USAGE; SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_new(sagg **out, const sagg_options *options, sagg_error *err);

/** Frees an aggregate; NULL is allowed. Everything borrowed from it ends. */
SAGG_EXPORT void sagg_free(sagg *agg);

/* ---- interning: cheap, repeatable, same content gives the same index ---- */

/**
 * Interns a frame, cleaned and normalised.
 * @param frame_index  receives its index, valid until sagg_compact
 * @return 0; SAGG_ERR_USAGE (unknown kind); SAGG_ERR_LIMIT (max_bytes reached: give its stack as
 *         SAGG_DROPPED, see sagg_full); SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_add_frame(sagg *agg, uint32_t *frame_index,
                                             const sagg_frame *frame, sagg_error *err);

/**
 * Interns a stack of interned frames.
 * @param stack   receives its index, valid until sagg_compact; SAGG_DROPPED when the caps leave no
 * room
 * @param frames  `count` frame indices, leaf to root; `count` may be 0
 * @return 0; SAGG_ERR_USAGE (a frame index out of range); SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_add_stack(sagg *agg, uint32_t *stack, const uint32_t *frames,
                                             size_t count, sagg_error *err);

/**
 * Interns several stacks, as sagg_add_stack does for one, in less time per stack.
 * @param stacks  receives `count` indices
 * @param frames  the frames of all stacks, each leaf to root, one stack after the other
 * @param depths  how many frames each of the `count` stacks has
 * @return 0; SAGG_ERR_USAGE: the stacks before the bad one were added; SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_add_stacks(sagg *agg, uint32_t *stacks, const uint32_t *frames,
                                              const uint32_t *depths, size_t count,
                                              sagg_error *err);

/**
 * Interns a method: a frame without regard to its line.
 * @param method  receives its index for sagg_add_line, valid until sagg_compact
 * @return as sagg_add_frame
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_add_method(sagg *agg, uint32_t *method, const sagg_frame *frame,
                                              sagg_error *err);

/**
 * Interns the frame of an interned method at a line, as sagg_add_frame does, without hashing names
 * again.
 * @param frame_index  receives its index, valid until sagg_compact
 * @param method       index from sagg_add_method
 * @param line         0 = none
 * @return as sagg_add_frame; SAGG_ERR_USAGE (a method index out of range)
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_add_line(sagg *agg, uint32_t *frame_index, uint32_t method,
                                            uint32_t line, sagg_error *err);

/** A thread, as passed in or as returned. */
typedef struct sagg_thread {
    int64_t os_tid;   /**< 0 = not known */
    int64_t java_tid; /**< 0 = none or not known */
    sagg_str name;    /**< any bytes; cleaned to UTF-8 */
    sagg_str pool;    /**< passed in: empty = folded from the name, else used unchanged. Returned:
                         always    set */
    uint32_t pool_thread; /**< returned only: index of the pool's thread */
} sagg_thread;

/**
 * Interns a thread by (os_tid, java_tid, name, pool). A thread that has only a pool represents the
 * pool. Beyond max_threads threads the pool's thread is returned, and beyond as many pools
 * SAGG_DROPPED_THREAD.
 * @param index  receives its index, valid for the aggregate's life
 * @return 0; SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_add_thread(sagg *agg, uint32_t *index, const sagg_thread *thread,
                                              sagg_error *err);

/**
 * Interns a label. Entries of one type, thread and stack are separate if their labels differ. A
 * label is a number, such as the part of the type that a sample belongs to, and a text, such as the
 * class that was allocated. (0, empty) is label 0.
 * @param label  receives its index, valid for the aggregate's life; 0 when there are
 * SAGG_MAX_LABELS labels or max_bytes leaves no room. A text is cut to 1,024 bytes
 * @return 0; SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_add_label(sagg *agg, uint32_t *label, uint32_t tag,
                                             sagg_str text, sagg_error *err);

/* ---- adding ---- */

/** One sample, or many of the same kind at once. Sums saturate at 2^64 - 1.
 */
typedef struct sagg_sample {
    uint32_t type;      /**< an id of the table */
    uint32_t thread;    /**< thread index or SAGG_NO_THREAD */
    uint32_t stack;     /**< stack index or SAGG_DROPPED */
    uint32_t label;     /**< label index or 0 */
    uint64_t raw_value; /**< as recorded */
    uint64_t value;     /**< the estimate */
    uint64_t samples;   /**< how many samples this stands for */
    int64_t time_ns;    /**< UTC ns; read only when per-second totals are kept */
} sagg_sample;

/**
 * Adds a sample to the totals. Nothing is lost: a sample for which there is no room is added to
 * SAGG_DROPPED.
 * @return 0; SAGG_ERR_USAGE (an unknown type, an index out of range); SAGG_ERR_NOMEM: nothing is
 * added
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_add(sagg *agg, const sagg_sample *sample, sagg_error *err);

/**
 * Adds several samples, as sagg_add does for one, in about half the time.
 * @return 0; SAGG_ERR_USAGE: the samples before the bad one were added; SAGG_ERR_NOMEM: the
 * aggregate holds a part of them and must be freed
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_add_all(sagg *agg, const sagg_sample *samples, size_t count,
                                           sagg_error *err);

/** The type, thread and label that several rows share. A lane may have two types of the same
 * events, such as bytes and objects allocated; a row then stands for a sample of each. */
typedef struct sagg_lane {
    uint32_t type;   /**< an id of the table */
    uint32_t twin;   /**< id of the second type; 0 = there is none */
    uint32_t thread; /**< as in sagg_sample */
    uint32_t label;  /**< as in sagg_sample */
} sagg_lane;

/** Samples of one stack and lane. */
typedef struct sagg_row {
    uint32_t stack;     /**< as in sagg_sample */
    uint32_t lane;      /**< index of a lane */
    uint64_t raw_value; /**< the type's raw value; with a twin also its value */
    uint64_t
        value; /**< the type's value; with a twin the twin's value, whose raw value is `samples` */
    uint64_t samples; /**< how many samples this stands for */
} sagg_row;

/**
 * Adds the samples of rows, as sagg_add does, in a fraction of the time where rows of one stack
 * follow each other. Rows have no time: sagg_add_second adds to the per-second totals.
 * @param lanes       `lane_count` lanes, borrowed during the call; a lane that no row names is
 * ignored
 * @param lane_count  the number of lanes; dozens are as fast as one
 * @param rows        `count` rows; hundreds at a time are faster than a few
 * @return 0; SAGG_ERR_USAGE (an unknown type, a twin that is the type, an index out of range: the
 *         rows before the bad one were added); SAGG_ERR_NOMEM: the aggregate holds a part and must
 * be freed
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_add_rows(sagg *agg, const sagg_lane *lanes, size_t lane_count,
                                            const sagg_row *rows, size_t count, sagg_error *err);

/**
 * Adds to the per-second totals alone: the value of samples that sagg_add_rows adds.
 * @param sample  its type, thread, time_ns, value and samples are used
 * @return 0; SAGG_ERR_USAGE (an unknown type or thread, an aggregate without per-second totals);
 *         SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_add_second(sagg *agg, const sagg_sample *sample,
                                              sagg_error *err);

/**
 * Tells the aggregate how many stacks and entries (by type, thread and stack) it will hold in all.
 * This is a hint that saves growing tables step by step; results do not depend on it. Too high a
 * number costs memory within the cap, and a number that would come near the cap is ignored.
 */
SAGG_EXPORT void sagg_expect(sagg *agg, uint32_t stacks, uint32_t entries);

/**
 * Returns whether it is time for sagg_compact: a cap is reached, so that new stacks are dropped,
 * and enough was added since the last compaction for another one to be worth its time. A caller
 * that adds samples without end asks after each stack.
 */
SAGG_EXPORT bool sagg_full(const sagg *agg);

/**
 * Keeps the max_stacks heaviest stacks and sums the rest into SAGG_DROPPED. A stack's weight is its
 * largest share of any type's total; equal weights go by stack id. When max_bytes is the cap that
 * was reached, half of the stacks are summed. Does nothing below the caps. **Frame and stack
 * indices are invalid afterwards**; thread indices stay valid.
 * @return 0; SAGG_ERR_NOMEM: the aggregate is unchanged
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_compact(sagg *agg, sagg_error *err);

/**
 * Adds everything in `from` to `into`: entries, threads, per-second totals by their time, losses.
 * Type tables, normaliser and group must be equal. Below the caps the order of merges
 * does not matter.
 * @return 0; SAGG_ERR_USAGE; SAGG_ERR_NOMEM: `into` holds a part and must be freed
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_merge(sagg *into, const sagg *from, sagg_error *err);

/* ---- reading ---- */

/** Sums. */
typedef struct sagg_totals {
    uint64_t raw_value;
    uint64_t value;
    uint64_t samples;
} sagg_totals;

/** One row of the aggregate. */
typedef struct sagg_entry {
    uint32_t type;
    uint32_t thread; /**< per options.group: exact, the pool's, or SAGG_NO_THREAD */
    uint32_t stack;  /**< SAGG_DROPPED for dropped samples */
    uint32_t label;  /**< 0 for dropped samples */
    sagg_totals totals;
} sagg_entry;

/**
 * Steps through the entries, dropped ones last.
 * @param cursor  0 for the first call, then the value that the last call stored
 * @return true and one entry, or false at the end. Adding a sample makes the cursor invalid.
 */
SAGG_EXPORT bool sagg_next(const sagg *agg, size_t *cursor, sagg_entry *entry);

/** Returns the totals of one type; all zero for a type that is not in the table. */
SAGG_EXPORT sagg_totals sagg_type_totals(const sagg *agg, uint32_t type);
/** Returns the totals of one thread in one type; for a thread that represents a pool, those of the
 * whole pool. Zero for a thread or type that does not exist. */
SAGG_EXPORT sagg_totals sagg_thread_totals(const sagg *agg, uint32_t thread, uint32_t type);

/**
 * Counts the distinct stacks of each type; everything dropped counts as one stack, SAGG_DROPPED.
 * @param counts  by type id; 0 for ids that are not in the table
 */
SAGG_EXPORT void sagg_type_stacks(const sagg *agg, uint64_t counts[SAGG_MAX_TYPE + 1]);

/** Copies row `index` of the table of types to `*type`; false past its end. Its strings are
 * borrowed from the aggregate. */
SAGG_EXPORT bool sagg_type_at(const sagg *agg, size_t index, sagg_type *type);

/**
 * Renames a type of the table; outputs use the new name. Two aggregates merge only when the names
 * of their types are equal.
 * @param name  copied
 * @return 0; SAGG_ERR_USAGE (no such type); SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_type_rename(sagg *agg, uint32_t type, const char *name,
                                               sagg_error *err);

/** Return the number of stacks, frames and threads; indices are 0 .. count - 1. */
SAGG_EXPORT uint32_t sagg_stack_count(const sagg *agg);
SAGG_EXPORT uint32_t sagg_frame_count(const sagg *agg);
SAGG_EXPORT uint32_t sagg_thread_count(const sagg *agg);

/** Copies frame `index` to `*frame`; its strings are borrowed until the next call that changes the
 * aggregate. False when there is no such frame. */
SAGG_EXPORT bool sagg_frame_at(const sagg *agg, uint32_t index, sagg_frame *frame);
/** Copies thread `index` to `*thread`; otherwise as sagg_frame_at. */
SAGG_EXPORT bool sagg_thread_at(const sagg *agg, uint32_t index, sagg_thread *thread);
/** Copies label `index` to `*tag` and `*text`; otherwise as sagg_frame_at. */
SAGG_EXPORT bool sagg_label_at(const sagg *agg, uint32_t index, uint32_t *tag, sagg_str *text);

/** A stack, borrowed until the next call that changes the aggregate. */
typedef struct sagg_stack {
    const void *frames; /**< `count` frame indices, leaf to root: see sagg_stack_frame */
    uint32_t count;
    uint32_t width; /**< bytes of each index: 2 where all are below 65,536, or 4 */
} sagg_stack;

/** Returns the index of frame `at` of a stack, counted from the leaf (0); `at` must be below its
 * count. */
static inline uint32_t sagg_stack_frame(const sagg_stack *stack, uint32_t at)
{
    return stack->width == 2 ? ((const uint16_t *)stack->frames)[at]
                             : ((const uint32_t *)stack->frames)[at];
}

/** Copies stack `index` to `*stack`; false when there is no such stack. */
SAGG_EXPORT bool sagg_stack_at(const sagg *agg, uint32_t index, sagg_stack *stack);

/**
 * Computes the id of stack `index` (docs/formats/stack-id.md) under the aggregate's normaliser: a
 * hash of 8 bytes per frame in each call.
 * @return false when there is none
 */
SAGG_EXPORT bool sagg_stack_id_at(const sagg *agg, uint32_t index, sagg_stack_id *id);

/**
 * Returns the totals of `value` per second of one type and pool, borrowed until the next change.
 * @param pool_thread  the pool's thread (sagg_thread.pool_thread)
 * @return options.seconds numbers, or NULL when nothing was added there
 */
SAGG_EXPORT const uint64_t *sagg_seconds(const sagg *agg, uint32_t type, uint32_t pool_thread);

/** The detail that was lost to the caps; all zero = none. Totals are exact in any case. */
typedef struct sagg_loss {
    uint64_t stacks_dropped; /**< stacks summed into SAGG_DROPPED; a stack that is added and dropped
                                again counts again */
    uint64_t samples_dropped; /**< samples in SAGG_DROPPED */
    uint64_t stacks_cut;      /**< stacks that max_frames cut, counted each time one is added */
    uint64_t threads_folded;  /**< how often a thread beyond the cap was counted with its pool or as
                                 dropped */
    uint64_t
        outside_seconds; /**< samples outside the per-second range, counted in its first or last
                            second; each second of a merged aggregate counts as one sample */
    uint64_t saturated;  /**< sums that reached 2^64 - 1 */
} sagg_loss;

SAGG_EXPORT sagg_loss sagg_losses(const sagg *agg);

/**
 * Returns by how much the `value` of any single stack of a type can be too small because of the
 * caps (0 = exact): the sum, over compactions and drops, of the most that one stack can have lost.
 */
SAGG_EXPORT uint64_t sagg_error_bound(const sagg *agg, uint32_t type);

/** Returns the bytes of memory in use, as counted against max_bytes. */
SAGG_EXPORT uint64_t sagg_bytes(const sagg *agg);

#ifdef __cplusplus
}
#endif

#endif
