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
 * sum_loop.h walks them. An event's field positions depend on nothing but its type and on which of
 * its bytes continue an integer (their top bit): that pattern is a *layout*. One compare finds the
 * layout of an event; fields that lie near each other are then gathered all at once (pattern.h). A
 * layout is learned by running the type's plan (plan.h) over the first event that has it; events
 * that fit no layout (long ones, with strings, at the very end) are read by the plan one by one.
 *
 * Rows are keyed by the recording's own stack number and by a *lane*: the thread and whatever else
 * tells rows apart. Both are looked up in the pools once a row, not once an event.
 */

/* The fields that sums need, in the order of jfr__layout. */
enum jfr__sum_slot {
    JFR__SUM_THREAD = 0,
    JFR__SUM_STACK,
    JFR__SUM_FIRST,  /* what the recipe adds up */
    JFR__SUM_SECOND, /* the same, where it takes two */
    JFR__SUM_CLASS,
    JFR__SUM_STATE,
    JFR__SUM_FAILED,
    JFR__SUM_TIME, /* where seconds are asked for */
    JFR__SUM_SLOTS
};

/* What an event adds to its row beside a count: `a` and `b`, by its first and second field. */
typedef enum jfr__recipe {
    JFR__ADD_NOTHING = 0,
    JFR__ADD_FIRST,  /* a: first */
    JFR__ADD_TLAB,   /* first = size, second = weight. a: weight; b: weight / size */
    JFR__ADD_FLOOR,  /* a: first; b: first or the floor, whatever is more */
    JFR__ADD_SPAN,   /* first = duration. a: ns */
    JFR__ADD_WAIT,   /* first = duration. a: ns; b: as FLOOR; in the row of a second lane a: floor /
                        ns */
    JFR__ADD_PERIOD, /* first = period. a: ns; events without a period are not measured */
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
    JFR__LANES_NEAR = 256, /* lanes last used */
    JFR__EVENT_MAX = 61    /* bytes of an event that has a layout */
};

/*
 * Where the wanted fields lie in events of one pattern. In a near layout the first JFR__NEAR of
 * them lie within 16 bytes, and take four each at most.
 */
typedef struct jfr__layout {
    uint64_t key;               /* of size, type and pattern; with JFR__FAR if the layout is not
                                   near; that alone if there is none */
    jfr__picks picks;           /* of the bytes from `from` on */
    uint8_t from;               /* in the event */
    uint8_t at[JFR__SUM_SLOTS]; /* of the field's first byte in the event; 0 = it has none */
} jfr__layout;

#define JFR__FAR (UINT64_C(1) << 63)

/* A thread of events that need no more to find their lane. */
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
    bool simple;        /* neither class nor state nor failure is asked for or recorded */
    bool keep_class;    /* rows are told apart by class */
    bool judged;        /* the class tells whether events are samples */
    uint32_t type_mask; /* the first four bytes, under this mask, tell the type */
    uint32_t type_bits;
    uint64_t floor;
    uint8_t slots[JFR__SUM_SLOTS]; /* of jfr__event_slot, JFR__SKIP = none */
    jfr__near_lane near[JFR__LANES_NEAR];
    jfr__layout layouts[1 << JFR__LAYOUT_BITS];
} jfr__sum_shape;

enum { JFR__TO_COME = JFR_SOURCE_COUNT + 1 }; /* in the place of a shape that is not made yet */

typedef struct jfr__row {
    uint64_t key; /* lane << 32 | stack: the recording's number; its index once all are read */
    uint64_t count;
    uint64_t a;
    uint64_t b;
} jfr__row;

/* Where rows with like hashes are found: a number and a tag each, 0 = empty. It is filled from the
 * first slot on; what has no place goes into the next one. */
enum { JFR__BUCKET = 8 };
typedef struct jfr__bucket {
    uint32_t slots[JFR__BUCKET];
} jfr__bucket;

/* What an event adds to beside its first row. */
enum jfr__lane_split {
    JFR__LANE_WAITS = 1,  /* the second lane of JFR__ADD_WAIT */
    JFR__LANE_SECONDS = 2 /* rows by second: a row's key has the second in the stack's place */
};

/* What rows are told apart by beside the stack. Numbers are the recording's own. */
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
        uint32_t facets; /* all four at once */
    };
} jfr__lane;

/* A part of the chunk's events that was walked. */
typedef struct jfr__piece {
    uint32_t part;
    uint32_t first_row; /* that was met first in it */
    uint64_t from;
    uint64_t reached;
} jfr__piece;

typedef struct jfr__tally jfr__tally;

/*
 * Walks events from `p` on, those that begin below `stop`, as long as they are plain and `stop` is
 * JFR__READ_AHEAD bytes before the end of what can be read. Returns where it stopped: there the
 * event must be read by jfr__sums_slow, or sums->rc tells what went wrong.
 */
typedef const uint8_t *jfr__sums_loop(jfr__tally *sums, const uint8_t *p, const uint8_t *stop);

/* How the events were read, for tests. */
typedef struct jfr__tally_stats {
    uint64_t events;      /* events walked since jfr__tally_new */
    uint64_t slow_events; /* of those that are samples: read field by field, because their layout
                             was met for the first time or is an odd one */
    uint64_t reread;      /* chunks that jfr__tally_join read again */
} jfr__tally_stats;

/* Rows and lanes of one chunk, or of some parts of it: what one thread adds up. */
struct jfr__tally {
    jfr_allocator allocator;
    uint32_t flags;
    uint32_t seconds;  /* 0 = none are asked for */
    int64_t origin_ns; /* of the first second */
    uint32_t max_rows;
    jfr__sums_loop *loop;
    uint64_t multiplier; /* odd and random: nobody can choose ids that collide */

    const jfr_chunk *chunk;
    uint8_t shape_of[JFR__TYPES_NEAR]; /* + 1 by type id; 0 = no samples, or JFR__TO_COME */
    bool shaped[JFR_SOURCE_COUNT];     /* which of the shapes are there */

    jfr__row *rows;       /* from 1 on; the one at 0 has a key that nothing has */
    void *row_block;      /* memory of the rows, which begin at a multiple of their size */
    size_t row_cap;       /* of the block, in rows: one more than there can be */
    jfr__bucket *buckets; /* hash of a row's key -> row and tag; where there are guesses, of rows
                             whose guess is another's */
    void *bucket_block;   /* their memory: they begin at a multiple of their size */
    /* Where threads are not told apart, by low bits of stack and lane: the number of the first row
     * that they told of, 0 = none. NULL where threads are. */
    uint32_t *guesses;
    unsigned guess_bits;  /* log2 of how many */
    uint32_t number_mask; /* the bits of a slot that a row's number takes */
    uint32_t row_count;
    uint32_t in_buckets;   /* of the rows */
    unsigned bucket_bits;  /* log2 of how many; 0 = none */
    unsigned bucket_shift; /* 64 - bucket_bits */

    jfr__lane *lanes;
    size_t lane_cap;
    struct jfr__view *views; /* of lanes, once resolved: what they mean in the chunk */
    size_t view_cap;
    uint32_t *lane_slots;
    uint32_t lane_count;
    unsigned lane_bits;

    uint32_t parts;     /* of the chunk */
    jfr__piece *pieces; /* those that were walked, ascending */
    size_t piece_cap;
    uint32_t piece_count;
    uint32_t next_piece; /* of who goes through them */

    int rc;           /* JFR_ERR_LIMIT or JFR_ERR_NOMEM, met on the way */
    uint64_t reached; /* where the last walk ended */
    uint64_t kept;    /* where pages begin that were walked and not given back */
    bool lost;        /* `reached` is no event */
    uint64_t events;  /* walked, of this chunk */
    uint64_t bad_events;
    uint64_t skipped[JFR_SOURCE_COUNT][JFR__SKIPS]; /* events by jfr_sample_source and reason */
    jfr__tally_stats stats;

    /* By index of chunk->event_plans: made when the first such event comes, as they are large and
     * most types have none. */
    jfr__sum_shape shapes[JFR_SOURCE_COUNT];
};

/* sum_table.c: rows and lanes. NULL or JFR_NONE, with sums->rc set, where there is no room. */
/* `stacks` is how many the chunk has. */
void jfr__sums_clear(jfr__tally *sums, uint32_t stacks);
/* No row is looked for any more: the memory of the buckets is for others. */
void jfr__sums_end(jfr__tally *sums);
uint32_t jfr__sums_find_lane(jfr__tally *sums, const jfr__lane *lane);

/* sum_walk.c */
void jfr__sums_prepare(jfr__tally *sums, const jfr_chunk *chunk);
void jfr__sums_walk(jfr__tally *sums, uint64_t from, uint64_t to);
/* Gives back the pages that were walked and are still there. */
void jfr__sums_leave(jfr__tally *sums);
/* Reads one event the plain way and returns where the next begins, or NULL: that is no event. */
const uint8_t *jfr__sums_slow(jfr__tally *sums, const uint8_t *p);
/* Learns the layout of the wanted event at `p`, whose body begins `head` bytes on. */
bool jfr__sums_learn(jfr__layout *out, const jfr__sum_shape *shape, const uint8_t *p, size_t head,
                     size_t size);
/* Makes the lane of a shape's thread, which is not near, near. NULL, with sums->rc set: no room. */
const jfr__near_lane *jfr__sums_near(jfr__tally *sums, jfr__sum_shape *shape, uint64_t thread);
/* Finds an event near `offset`, at or behind it: a guess, which jfr__tally_join verifies. */
bool jfr__sums_guess(const jfr_chunk *chunk, uint64_t offset, uint64_t *out);

/* sum.c */
/* Makes an empty tally, by flags, seconds, max_rows and allocator. Returns 0 or JFR_ERR_NOMEM. */
int jfr__tally_new(jfr__tally **out, const jfr_sums_options *options, jfr_error *err);
/* NULL is allowed. */
void jfr__tally_free(jfr__tally *sums);
/* Puts indices in the place of the recording's stack numbers, when all rows are there. Returns 0 or
 * JFR_ERR_NOMEM. */
int jfr__sums_find_stacks(jfr__tally *sums);
/* Finds out what the lanes mean, and counts what their rows hold. */
int jfr__sums_view(jfr__tally *sums, jfr_chunk *chunk, jfr_error *err);
/* Shows what the rows of a lane have in common. */
void jfr__tally_lane(const jfr__tally *sums, uint32_t lane, jfr_sums_lane *out);
/* Shows rows by their numbers among those of all `sums`. */
void jfr__tally_pick(jfr__tally *const *sums, const uint32_t *numbers, size_t count,
                     jfr_sums_row *rows);

/* sum_parts.c */
/*
 * Tells which part of a chunk is read next: each of 0 .. parts - 1 is told once to one of the
 * threads, and those of one thread ascend. `parts` or more = there is none left.
 */
typedef uint32_t jfr__next_part(void *ctx);
/* Reads parts of the chunk as long as there are some. jfr__tally_join returns what went wrong. */
void jfr__tally_parts(jfr__tally *sums, const jfr_chunk *chunk, uint32_t parts,
                      jfr__next_part *next, void *ctx);
/*
 * Makes one of what `count` tallies read of the chunk: finds out whether the parts fit together (a
 * part begins where an event seems to begin, which can be wrong) and reads the chunk again where
 * they do not. Counts and reports as jfr_samples_next. The rows stay where they are: one stack and
 * lane can have a row in each tally.
 * Returns 0, JFR_ERR_LIMIT (there are no sums, and the chunk is as rewound) or JFR_ERR_NOMEM.
 */
int jfr__tally_join(jfr__tally *const *sums, uint32_t count, jfr_chunk *chunk, jfr_error *err);
/* Both for one thread. */
int jfr__tally_fill(jfr__tally *sums, jfr_chunk *chunk, jfr_error *err);
/* How many rows there are at most. */
size_t jfr__tally_count(jfr__tally *const *sums, uint32_t count);
/*
 * Numbers all rows and sorts them by their stacks, those of one stack in the order in which their
 * first sample is in the chunk, whoever read it.
 *   begins  receives stacks + 3 numbers: where the rows of each stack begin, those without one,
 *           those of seconds, and the end
 *   order   receives the rows' numbers; has room for jfr__tally_count, which is below 2^32
 */
void jfr__tally_sort(jfr__tally *const *sums, uint32_t count, uint32_t stacks, uint32_t *begins,
                     uint32_t *order);

/* The loops; `best` is the fastest that this CPU runs. */
jfr__sums_loop jfr__sums_loop_plain;
jfr__sums_loop jfr__sums_loop_bmi2;
jfr__sums_loop *jfr__sums_loop_best(void);

#endif
