/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SUM_H
#define JFR_SUM_H

#include <jfr/chunk.h>
#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/options.h>
#include <jfr/sample.h>
#include <stddef.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/*
 * The samples of a chunk, added up: for who wants totals by stack and thread and not each sample.
 * The sums are those of adding what jfr_samples_next yields one by one (less what flags leave out),
 * and the rows stand in the order in which their first sample does; it is many times faster.
 *
 *     jfr_sums_new(&sums, NULL, &err);
 *     while (jfr_next_chunk(file, &chunk, &err) == 1) {
 *         jfr_sums_fill(sums, chunk, &err);
 *         for (size_t at = 0; (n = jfr_sums_read(sums, &at, rows, 64)) > 0;)
 *             ...
 *     }
 *     jfr_sums_free(sums);
 *
 * One thread at a time may use it; several may fill one each from the same chunk (jfr_sums_parts).
 */
typedef struct jfr_sums jfr_sums;

/* Flags of jfr_sums_options.flags. */
enum jfr_sums_flags {
    JFR_SUMS_CLASSES = 1u << 0,    /* tell the classes apart that were allocated or locked */
    JFR_SUMS_NO_THREADS = 1u << 1, /* do not tell threads apart: fewer rows, read in less time */
    /* Leave out JFR_ALLOC_OBJECTS, whose estimate costs a division an event. */
    JFR_SUMS_NO_ALLOC_OBJECTS = 1u << 2
};

/* Options of jfr_sums_new; start from JFR_SUMS_OPTIONS_INIT, 0 = default. */
typedef struct jfr_sums_options {
    size_t size;       /* sizeof(jfr_sums_options); an unknown tail must be zero */
    uint32_t flags;    /* of enum jfr_sums_flags */
    uint32_t max_rows; /* rows of one chunk; 4 Mi, 50 to 70 bytes each. Past it: JFR_ERR_LIMIT */
    const jfr_allocator *allocator; /* NULL = malloc; copied */
} jfr_sums_options;

#ifdef __cplusplus
#define JFR_SUMS_OPTIONS_INIT                                                                      \
    [] {                                                                                           \
        jfr_sums_options init_ = jfr_sums_options();                                               \
        init_.size = sizeof(jfr_sums_options);                                                     \
        return init_;                                                                              \
    }()
#else
#define JFR_SUMS_OPTIONS_INIT                                                                      \
    {                                                                                              \
        .size = sizeof(jfr_sums_options)                                                           \
    }
#endif

/*
 * One row: the samples that agree in all of its fields up to value_count. Of waits for locks whose
 * threshold is known (jfr_intervals) each type has rows of its own, of one value and with all of
 * the samples: there a sample stands in two rows, and who counts samples does so by type.
 */
typedef struct jfr_sum {
    uint32_t stack;                      /* as in jfr_sample */
    uint32_t thread;                     /* the same; JFR_NONE with JFR_SUMS_NO_THREADS */
    uint32_t klass;                      /* as in jfr_sample; JFR_NONE without JFR_SUMS_CLASSES */
    uint8_t source;                      /* jfr_sample_source */
    uint8_t state;                       /* jfr_thread_state */
    uint8_t lock_kind;                   /* jfr_lock_kind */
    uint8_t value_count;                 /* 1 or 2 */
    uint64_t samples;                    /* how many; each has all values */
    jfr_value values[JFR_SAMPLE_VALUES]; /* sums, saturated at 2^64 - 1 */
} jfr_sum;

/* Makes an empty one; free it with jfr_sums_free. Errors: JFR_ERR_USAGE, JFR_ERR_NOMEM. */
JFR_EXPORT JFR_MUST_USE int jfr_sums_new(jfr_sums **out, const jfr_sums_options *opts,
                                         jfr_error *err);

/* Frees it; NULL is allowed. */
JFR_EXPORT void jfr_sums_free(jfr_sums *sums);

/*
 * Replaces the rows by the sums of all samples of `chunk`, from its first; what jfr_samples_next
 * would count in jfr_chunk_stats and report as loss is counted and reported here.
 * Errors: JFR_ERR_LIMIT (max_rows, max_string_bytes, max_decoded_bytes, or events that are damaged
 * with more behind them: read the chunk by samples then), JFR_ERR_NOMEM. There are no rows after an
 * error, and the chunk is as rewound.
 */
JFR_EXPORT JFR_MUST_USE int jfr_sums_fill(jfr_sums *sums, jfr_chunk *chunk, jfr_error *err);

/*
 * Tells which part of a chunk is read next: each of 0 .. parts - 1 is told once to one of the
 * threads, and those of one thread ascend. `parts` or more = there is none left.
 */
typedef uint32_t jfr_next_part(void *ctx);

/*
 * The same by several threads. Each calls jfr_sums_parts with sums of its own and the same chunk
 * and `parts`; who shares the parts out is `next`. Meanwhile nothing else may use the file. Then
 * one thread calls jfr_sums_join with the sums of all `count` threads: it finds out whether the
 * parts fit together (a part begins where it takes an event to begin, which can be wrong), reads
 * the chunk again where they do not, and counts and reports as jfr_sums_fill. The rows stay where
 * they are: one stack and thread can have a row in each of the sums.
 * Errors: as jfr_sums_fill. An error of jfr_sums_parts is returned by jfr_sums_join too.
 */
JFR_EXPORT JFR_MUST_USE int jfr_sums_parts(jfr_sums *sums, const jfr_chunk *chunk, uint32_t parts,
                                           jfr_next_part *next, void *ctx, jfr_error *err);
JFR_EXPORT JFR_MUST_USE int jfr_sums_join(jfr_sums *const *sums, uint32_t count, jfr_chunk *chunk,
                                          jfr_error *err);

/*
 * Makes sums that jfr_sums_parts filled from a chunk of jfr_split_peek those of `chunk`, the same
 * one opened as a whole, for jfr_sums_join. Each thread may do so with its own at the same time.
 * Where the chunk turns out to be another than it seemed to be (thread states or settings that
 * stand behind its stacks), jfr_sums_join reads it again. Sums of `chunk` itself stay as they are.
 * Errors: as jfr_sums_parts, and JFR_ERR_USAGE (of another chunk).
 */
JFR_EXPORT JFR_MUST_USE int jfr_sums_settle(jfr_sums *sums, const jfr_chunk *chunk, jfr_error *err);

/*
 * Reads up to `room` rows.
 *   cursor  0 at first, then as left by the call before
 * Returns how many were written to `rows`, 0 at the end. The indices of a row mean something while
 * its chunk is current.
 */
JFR_EXPORT size_t jfr_sums_read(const jfr_sums *sums, size_t *cursor, jfr_sum *rows, size_t room);

/*
 * All rows of one jfr_sums_join, by their stacks: who makes something of the stacks meets them in
 * the order in which they lie in the file, and can share them out.
 *
 * jfr_sums_count tells how many rows there are at most. jfr_sums_sort numbers them and sorts them
 * by their stacks, those of one stack in the order in which their first sample stands in the chunk,
 * whoever read it.
 *   stacks  jfr_chunk_stack_count of the chunk
 *   begins  receives stacks + 2 numbers: the rows of stack i are order[begins[i]] and so on up to,
 *           but without, order[begins[i + 1]]; rows without a stack are behind all others
 *   order   receives the rows' numbers; has room for jfr_sums_count, which is below 2^32
 *
 * jfr_sums_pick writes the rows of `count` such numbers. Several threads may pick at a time.
 */
JFR_EXPORT size_t jfr_sums_count(jfr_sums *const *sums, uint32_t count);
JFR_EXPORT void jfr_sums_sort(jfr_sums *const *sums, uint32_t count, uint32_t stacks,
                              uint32_t *begins, uint32_t *order);
JFR_EXPORT void jfr_sums_pick(jfr_sums *const *sums, const uint32_t *numbers, size_t count,
                              jfr_sum *rows);

/*
 * The same rows in two parts, for who makes something of each thread or class: what the rows of a
 * lane have in common, and what each has by itself. Lanes are numbered from 0 on, those of each of
 * the sums behind those of the ones before it. Two lanes can have the same in common.
 */
typedef struct jfr_sum_row {
    uint32_t stack;                    /* as in jfr_sum */
    uint32_t lane;                     /* below jfr_sums_lane_count */
    uint64_t samples;                  /* as in jfr_sum */
    uint64_t raw[JFR_SAMPLE_VALUES];   /* of the lane's values, as many as it has */
    uint64_t value[JFR_SAMPLE_VALUES]; /* the same */
} jfr_sum_row;

/*
 * jfr_sums_lane_count tells how many lanes there are; some can have no rows. jfr_sums_lane writes
 * what all rows of a lane have in common: there is no stack, and samples and sums are zero.
 * jfr_sums_pick_rows writes rows as jfr_sums_pick. Several threads may call these at a time.
 */
JFR_EXPORT uint32_t jfr_sums_lane_count(jfr_sums *const *sums, uint32_t count);
JFR_EXPORT void jfr_sums_lane(jfr_sums *const *sums, uint32_t lane, jfr_sum *out);
JFR_EXPORT void jfr_sums_pick_rows(jfr_sums *const *sums, const uint32_t *numbers, size_t count,
                                   jfr_sum_row *rows);

/* How the events were read, for who measures; all zero before the first chunk. */
typedef struct jfr_sums_stats {
    uint64_t events;      /* events walked since jfr_sums_new */
    uint64_t slow_events; /* of those that are samples: read field by field, because their layout
                             was met for the first time or is an odd one */
    uint64_t rows;        /* of the last chunk */
    uint64_t reread;      /* chunks that jfr_sums_join read again */
} jfr_sums_stats;

/* Fills `out`. */
JFR_EXPORT void jfr_sums_get_stats(const jfr_sums *sums, jfr_sums_stats *out);

JFR_END_DECLS

#endif
