/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_SUM_H
#define JFR_SRC_SUM_H

#include "events/event_head_impl.h"
#include "read/reader_impl.h"
#include "sums/pattern_impl.h"

#include <jfr/sum.h>

/*
 * How jfr__tally adds up events.
 *
 * sum_loop_impl.h walks the events. The positions of an event's fields depend only on its type and
 * on the pattern of bytes that continue an integer (their top bit). A *layout* has the positions
 * for one pattern. One comparison finds the layout of an event; fields within 16 bytes are then
 * read all at once (pattern_impl.h). Running the type's plan (plan_impl.h) over the first event
 * with a pattern makes its layout. Events without a layout (long events, events with strings, and
 * the last ones) are read by the plan, one by one.
 *
 * The key of a row is the recording's own stack number and a *lane*: the thread and all other
 * properties that separate rows. Both are looked up in the pools once per row, not once per event.
 */

/* The fields that sums need, in the order of jfr__layout. */
enum jfr__sum_slot {
    JFR__SUM_THREAD = 0,
    JFR__SUM_STACK,
    JFR__SUM_FIRST,  /* the field that the recipe adds up */
    JFR__SUM_SECOND, /* the second field of a recipe of two */
    JFR__SUM_CLASS,
    JFR__SUM_STATE,
    JFR__SUM_FAILED,
    JFR__SUM_TIME, /* only when rows by second are wanted */
    JFR__SUM_SLOTS
};

/* The amounts that an event adds to its row besides a count: `a` and `b`, computed from its first
 * and second field. */
typedef enum jfr__recipe {
    JFR__ADD_NOTHING = 0,
    JFR__ADD_FIRST,  /* a: first */
    JFR__ADD_TLAB,   /* first = size, second = weight. a: weight; b: weight / size */
    JFR__ADD_FLOOR,  /* a: first; b: the larger of first and the floor */
    JFR__ADD_SPAN,   /* first = duration. a: ns */
    JFR__ADD_WAIT,   /* first = duration. a: ns; b: as FLOOR; in the row of a second lane a: floor /
                        ns */
    JFR__ADD_PERIOD, /* first = period. a: ns; events without a period are unmeasured */
    JFR__COUNT_ONLY  /* the event yields no sample: it is counted by `skip` */
} jfr__recipe;

/* Why an event yields no sample. */
typedef enum jfr__skip {
    JFR__RIVAL = 0,
    JFR__NATIVE,
    JFR__IDLE,
    JFR__UNMEASURED,
    JFR__SKIPS
} jfr__skip;

enum {
    JFR__LAYOUT_BITS = 7,  /* log2 of the layouts that a shape keeps */
    JFR__LANES_NEAR = 256, /* lanes in a shape's cache */
    JFR__EVENT_MAX = 61    /* bytes of an event that has a layout */
};

/*
 * The places of the wanted fields in events of one pattern. In a near layout the first JFR__NEAR
 * fields are within 16 bytes, and each takes at most four bytes.
 */
typedef struct jfr__layout {
    uint64_t key; /* of size, type and pattern; includes JFR__FAR if the layout is not near; only
                     JFR__FAR if there is no layout */
    jfr__picks picks; /* of the bytes from `from` on */
    uint8_t from;     /* in the event */
    uint8_t
        at[JFR__SUM_SLOTS]; /* offset of each field's first byte in the event; 0 = no such field */
} jfr__layout;

#define JFR__FAR (UINT64_C(1) << 63)

/* A cached lane of a shape whose events need only the thread to find their lane. */
typedef struct jfr__near_lane {
    uint64_t thread; /* JFR__NO_THREAD = free */
    uint64_t key;    /* of its rows, without the stack */
} jfr__near_lane;

#define JFR__NO_THREAD UINT64_MAX /* a number of eight bytes has 56 bits */

/* An event type that yields samples. */
typedef struct jfr__sum_shape {
    const jfr__event_plan *plan;
    jfr__recipe recipe;
    jfr__skip skip;
    bool simple;        /* class, state and failure are not wanted or not recorded */
    bool keep_class;    /* each class has separate rows */
    bool judged;        /* the class decides whether an event is a sample */
    uint32_t type_mask; /* the first four bytes, under this mask, tell the type */
    uint32_t type_bits;
    uint64_t floor;
    uint8_t slots[JFR__SUM_SLOTS]; /* of jfr__event_slot, JFR__SKIP = none */
    jfr__near_lane near[JFR__LANES_NEAR];
    jfr__layout layouts[1 << JFR__LAYOUT_BITS];
} jfr__sum_shape;

enum { JFR__TO_COME = JFR_SOURCE_COUNT + 1 }; /* index of a shape that is not made yet */

typedef struct jfr__row {
    uint64_t key; /* lane << 32 | stack: the recording's stack number, or the stack's index once all
                     events are read */
    uint64_t count;
    uint64_t a;
    uint64_t b;
} jfr__row;

/* A hash bucket: row numbers with their tags, 0 = empty. It is filled from the first slot on; rows
 * that do not fit go into the next bucket. */
enum { JFR__BUCKET = 8 };
typedef struct jfr__bucket {
    uint32_t slots[JFR__BUCKET];
} jfr__bucket;

/* The further rows that an event adds to. */
enum jfr__lane_split {
    JFR__LANE_WAITS = 1,  /* the second lane of JFR__ADD_WAIT */
    JFR__LANE_SECONDS = 2 /* rows by second: a row's key has the second in the stack's place */
};

/* The properties other than the stack that separate rows. Numbers are the recording's own. */
typedef struct jfr__lane {
    uint64_t thread;
    uint64_t klass;
    union {
        struct {
            uint8_t shape;
            uint8_t state; /* jfr_thread_state */
            uint8_t failed;
            uint8_t split; /* of enum jfr__lane_split */
        };
        uint32_t facets; /* the four bytes above in one number */
    };
} jfr__lane;

/* A part of the chunk's events that was walked. */
typedef struct jfr__piece {
    uint32_t part;
    uint32_t first_row; /* first row that the piece added */
    uint64_t from;
    uint64_t reached;
} jfr__piece;

typedef struct jfr__tally jfr__tally;

/*
 * Walks events that begin between `p` and `stop`, as long as their heads have a common form. `stop`
 * must be at least JFR__READ_AHEAD bytes before the end of readable bytes. Returns where it
 * stopped: jfr__sums_slow must read the event there, or sums->rc has an error.
 */
typedef const uint8_t *jfr__sums_loop(jfr__tally *sums, const uint8_t *p, const uint8_t *stop);

/* How the events were read, for tests. */
typedef struct jfr__tally_stats {
    uint64_t events;      /* events walked since jfr__tally_new */
    uint64_t slow_events; /* sample events that were read field by field, because their layout was
                             new or unusual */
    uint64_t reread;      /* chunks that jfr__tally_join read again */
} jfr__tally_stats;

/* The rows and lanes that one thread makes of a chunk, or of some parts of it. */
struct jfr__tally {
    jfr_allocator allocator;
    uint32_t flags;
    uint32_t seconds;  /* 0 = no rows by second */
    int64_t origin_ns; /* of the first second */
    uint32_t max_rows;
    jfr__sums_loop *loop;
    uint64_t multiplier; /* odd and random, so that nobody can choose ids that collide */

    const jfr_chunk *chunk;
    uint8_t shape_of[JFR__TYPES_NEAR]; /* index + 1 of the shape by type id; 0 = no samples; or
                                          JFR__TO_COME */
    bool shaped[JFR_SOURCE_COUNT];     /* which shapes have been made */

    jfr__row *rows;       /* from 1 on; row 0 has a key that no event has */
    void *row_block;      /* memory of the rows, which begin at a multiple of their size */
    size_t row_cap;       /* of the block, in rows: one more than max_rows allows */
    jfr__bucket *buckets; /* from the hash of a row's key to its number and tag; with `guesses`,
                             only for rows whose guess is another row */
    void *bucket_block;   /* memory of the buckets, which begin at a multiple of their size */
    /* Only without threads, else NULL. By the low bits of stack and lane: the number of the first
     * row with these bits, 0 = none. */
    uint32_t *guesses;
    unsigned guess_bits;  /* log2 of how many */
    uint32_t number_mask; /* the bits of a slot that hold a row's number */
    uint32_t row_count;
    uint32_t in_buckets;   /* of the rows */
    unsigned bucket_bits;  /* log2 of how many; 0 = none */
    unsigned bucket_shift; /* 64 - bucket_bits */

    jfr__lane *lanes;
    size_t lane_cap;
    struct jfr__view *views; /* what each lane means in the chunk, once resolved */
    size_t view_cap;
    uint32_t *lane_slots;
    uint32_t lane_count;
    unsigned lane_bits;

    uint32_t parts;     /* of the chunk */
    jfr__piece *pieces; /* the parts that were walked, ascending */
    size_t piece_cap;
    uint32_t piece_count;
    uint32_t next_piece; /* position of the loop over the pieces */

    int rc;           /* 0, or the JFR_ERR_LIMIT or JFR_ERR_NOMEM of a walk */
    uint64_t reached; /* where the last walk ended */
    uint64_t kept;    /* start of the pages that were walked but not released */
    bool lost;        /* there is no valid event at `reached` */
    uint64_t events;  /* walked, of this chunk */
    uint64_t bad_events;
    uint64_t skipped[JFR_SOURCE_COUNT][JFR__SKIPS]; /* events by jfr_sample_source and reason */
    jfr__tally_stats stats;

    /* By index of chunk->event_plans. A shape is made at its first event, because shapes are large
     * and most types have no events. */
    jfr__sum_shape shapes[JFR_SOURCE_COUNT];
};

/* sum_table.c: rows and lanes. These functions return NULL or JFR_NONE, and set sums->rc, when a
 * limit or the memory is exhausted. */
/* Empties the tally for a chunk with this many stacks. */
void jfr__sums_clear(jfr__tally *sums, uint32_t stacks);
/* Frees the buckets when no further row will be looked up. */
void jfr__sums_end(jfr__tally *sums);
uint32_t jfr__sums_find_lane(jfr__tally *sums, const jfr__lane *lane);

/* sum_walk.c */
void jfr__sums_prepare(jfr__tally *sums, const jfr_chunk *chunk);
void jfr__sums_walk(jfr__tally *sums, uint64_t from, uint64_t to);
/* Releases the pages that were walked. */
void jfr__sums_leave(jfr__tally *sums);
/* Reads one event with its plan. Returns the start of the next event, or NULL when this is no valid
 * event. */
const uint8_t *jfr__sums_slow(jfr__tally *sums, const uint8_t *p);
/* Makes the layout of the wanted event at `p`, whose body begins after `head` bytes. */
bool jfr__sums_make_layout(jfr__layout *out, const jfr__sum_shape *shape, const uint8_t *p,
                           size_t head, size_t size);
/* Puts the lane of a thread into the shape's cache. Returns NULL, with sums->rc set, when there is
 * no memory for a new lane. */
const jfr__near_lane *jfr__sums_near(jfr__tally *sums, jfr__sum_shape *shape, uint64_t thread);
/* Finds what seems to be an event at or after `offset`; jfr__tally_join verifies it. */
bool jfr__sums_guess(const jfr_chunk *chunk, uint64_t offset, uint64_t *out);

/* sum.c */
/* Makes an empty tally. Uses flags, seconds, max_rows and allocator of the options. Returns 0 or
 * JFR_ERR_NOMEM. */
int jfr__tally_new(jfr__tally **out, const jfr_sums_options *options, jfr_error *err);
/* NULL is allowed. */
void jfr__tally_free(jfr__tally *sums);
/* Replaces the recording's stack numbers by indices, once all rows exist. Returns 0 or
 * JFR_ERR_NOMEM. */
int jfr__sums_find_stacks(jfr__tally *sums);
/* Resolves what the lanes mean, and counts the samples of their rows. */
int jfr__sums_view(jfr__tally *sums, jfr_chunk *chunk, jfr_error *err);
/* Gives the properties of a lane. */
void jfr__tally_lane(const jfr__tally *sums, uint32_t lane, jfr_sums_lane *out);
/* Copies rows by their numbers among the rows of all `sums`. */
void jfr__tally_pick(jfr__tally *const *sums, const uint32_t *numbers, size_t count,
                     jfr_sums_row *rows);

/* sum_parts.c */
/*
 * Returns the part of a chunk to read next. Each of 0 .. parts - 1 is returned once, to one of the
 * threads; the parts of one thread ascend. A result of `parts` or more means that none is left.
 */
typedef uint32_t jfr__next_part(void *ctx);
/* Reads parts of the chunk until none is left. jfr__tally_join returns its errors. */
void jfr__tally_parts(jfr__tally *sums, const jfr_chunk *chunk, uint32_t parts,
                      jfr__next_part *next, void *ctx);
/*
 * Joins the parts of the chunk that `count` tallies read. A part begins where an event seems to
 * begin, which can be wrong: if the parts do not fit together, the function reads the chunk again.
 * It counts events and reports losses as jfr_samples_next does. The rows stay in their tallies, so
 * a stack and lane can have a row in each. Returns 0, JFR_ERR_LIMIT (there are no sums, and the
 * chunk is as rewound) or JFR_ERR_NOMEM.
 */
int jfr__tally_join(jfr__tally *const *sums, uint32_t count, jfr_chunk *chunk, jfr_error *err);
/* Does both with one thread. */
int jfr__tally_fill(jfr__tally *sums, jfr_chunk *chunk, jfr_error *err);
/* Returns an upper bound of the number of rows. */
size_t jfr__tally_count(jfr__tally *const *sums, uint32_t count);
/*
 * Numbers all rows and sorts them by stack. Rows of one stack are in the order of their first
 * samples in the chunk, whichever thread read them.
 *   begins  receives stacks + 3 numbers: the first row of each stack, the first row without a
 * stack, the first row by second, and the end order   receives the rows' numbers; must hold
 * jfr__tally_count numbers, which is below 2^32
 */
void jfr__tally_sort(jfr__tally *const *sums, uint32_t count, uint32_t stacks, uint32_t *begins,
                     uint32_t *order);

/* The loops; `best` is the fastest one that this CPU can run. */
jfr__sums_loop jfr__sums_loop_plain;
jfr__sums_loop jfr__sums_loop_bmi2;
jfr__sums_loop *jfr__sums_loop_best(void);

#endif
