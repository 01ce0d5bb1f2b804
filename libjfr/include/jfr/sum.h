/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SUM_H
#define JFR_SUM_H

#include <jfr/chunk.h>
#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/file.h>
#include <jfr/options.h>
#include <jfr/sample.h>
#include <stddef.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/*
 * The samples of each chunk, added up: for callers that need totals by stack and thread, and not
 * each sample. The sums are those of adding what jfr_samples_next yields one by one; they come many
 * times faster.
 *
 *     jfr_sums_open(&sums, file, NULL, &err);
 *     while (jfr_sums_next(sums, &chunk, &err) == 1) {
 *         const jfr_sums_info *info = jfr_sums_get_info(sums);
 *         ... jfr_sums_read(sums, 0, rows, info->row_count) ...
 *         ... rows[i].value[0] of type info->lanes[rows[i].lane].types[0] ...
 *     }
 *     jfr_sums_close(sums);
 *
 * The library starts no threads. A caller that has some lends them through `parallel_for`: several
 * small chunks are then read at a time, and a large one in parts. The rows are the same.
 */
typedef struct jfr_sums jfr_sums;

/* Flags of jfr_sums_options.flags. */
enum jfr_sums_flags {
    JFR_SUMS_CLASSES = 1u << 0,    /* tell the classes apart that were allocated or locked */
    JFR_SUMS_NO_THREADS = 1u << 1, /* do not tell threads apart: fewer rows, read in less time */
    /* Leave out JFR_ALLOC_OBJECTS, whose estimate costs a division an event. */
    JFR_SUMS_NO_ALLOC_OBJECTS = 1u << 2
};

/* A piece of work: one of several that may be done at the same time. */
typedef void jfr_work(void *ctx, uint32_t index);

/* Calls work(work_ctx, i) once for each i below `count`, on any threads and in any order, and
 * returns when all calls have returned. */
typedef void jfr_parallel_for(void *ctx, uint32_t count, jfr_work *work, void *work_ctx);

enum { JFR_SUMS_MAX_THREADS = 64 };

/* Options of jfr_sums_open; start from JFR_SUMS_OPTIONS_INIT, 0 = default. */
typedef struct jfr_sums_options {
    size_t size;       /* sizeof(jfr_sums_options); an unknown tail must be zero */
    uint32_t flags;    /* of enum jfr_sums_flags */
    uint32_t max_rows; /* rows that one thread makes of a chunk; 4 Mi, 50 to 70 bytes each. A chunk
                          with more is not added up */
    uint32_t seconds;  /* also add up by second, so many from origin_ns on; at most 86,400 */
    uint32_t threads;  /* that parallel_for has, up to JFR_SUMS_MAX_THREADS; default 1 */
    jfr_parallel_for *parallel_for; /* NULL = all is done on the calling thread */
    void *parallel_ctx;
    int64_t origin_ns;              /* the beginning of the first second, UTC epoch */
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
 * What the rows of a lane have in common. Of waits for locks whose threshold is known
 * (jfr_intervals) each type has lanes of its own, with all of the samples: such a sample is in two
 * rows, so callers that count samples count them by type. Two lanes can be alike.
 */
typedef struct jfr_sums_lane {
    uint32_t thread;                  /* as in jfr_sample; JFR_NONE with JFR_SUMS_NO_THREADS */
    uint32_t klass;                   /* as in jfr_sample; JFR_NONE without JFR_SUMS_CLASSES */
    uint8_t source;                   /* jfr_sample_source */
    uint8_t state;                    /* jfr_thread_state */
    uint8_t lock_kind;                /* jfr_lock_kind */
    uint8_t value_count;              /* 1 or 2; 0 = the lane has no rows */
    uint8_t types[JFR_SAMPLE_VALUES]; /* jfr_profile_type */
    uint8_t reserved[2];
} jfr_sums_lane;

/* Samples of one stack and lane. */
typedef struct jfr_sums_row {
    uint32_t stack;                    /* as in jfr_sample; in a row of a second: its number, with
                                          options.seconds = later and JFR_NONE = earlier */
    uint32_t lane;                     /* index in jfr_sums_info.lanes */
    uint64_t samples;                  /* how many; each has all values of the lane */
    uint64_t raw[JFR_SAMPLE_VALUES];   /* sums, saturated at 2^64 - 1 */
    uint64_t value[JFR_SAMPLE_VALUES]; /* the same */
} jfr_sums_row;

/* The rows of a chunk. Those of one stack are in the order of their first samples. */
typedef struct jfr_sums_info {
    const jfr_sums_lane *lanes;
    uint32_t lane_count;
    uint32_t row_count;     /* the rows by stack */
    uint32_t second_count;  /* the rows by second: the rows numbered row_count and up */
    uint32_t thread_count;  /* threads that read the chunk */
    const uint32_t *begins; /* the rows of stack i are those from begins[i] up to, but without,
                               begins[i + 1]; the rows without a stack are behind all others, from
                               begins[jfr_chunk_info.stack_count] on */
} jfr_sums_info;

/*
 * Begins to add up a recording.
 *   out   close with jfr_sums_close, before `file`
 *   file  opened and not read yet; only jfr_file_loss and jfr_file_span may be called for it until
 *         jfr_sums_close
 * Errors: JFR_ERR_USAGE (options), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_sums_open(jfr_sums **out, jfr_file *file,
                                          const jfr_sums_options *opts, jfr_error *err);

/*
 * Goes to the next chunk, as jfr_next_chunk does, and adds up its samples. What jfr_samples_next
 * would count in jfr_chunk_stats and report as loss is counted and reported.
 *   chunk   receives the chunk, borrowed until the next jfr_sums_next or jfr_sums_close
 * Returns and errors: as jfr_next_chunk.
 */
JFR_EXPORT JFR_MUST_USE int jfr_sums_next(jfr_sums *sums, jfr_chunk **chunk, jfr_error *err);

/*
 * Reads small chunks that come next, for jfr_sums_next to have them at hand. One thread may do so
 * while another one uses the current chunk, and nobody calls jfr_sums_next. Nothing is read where
 * chunks are at hand already, the current or the next chunk is large, or there is no parallel_for.
 * Errors: JFR_ERR_NOMEM; what could not be read is read by jfr_sums_next.
 */
JFR_EXPORT JFR_MUST_USE int jfr_sums_read_ahead(jfr_sums *sums, jfr_error *err);

/*
 * The current chunk's sums, borrowed until the next jfr_sums_next. NULL for a chunk that has none,
 * and is to be read by jfr_samples_next: an unfinished one, one with more rows than max_rows, and
 * one with damaged events that sound ones follow.
 */
JFR_EXPORT const jfr_sums_info *jfr_sums_get_info(const jfr_sums *sums);

/*
 * Reads up to `room` rows, from the one numbered `first` on. Returns how many there were; 0 at the
 * end. Several threads may read at a time.
 */
JFR_EXPORT size_t jfr_sums_read(const jfr_sums *sums, uint32_t first, jfr_sums_row *rows,
                                size_t room);

/* Frees the sums with the chunk. NULL is allowed. */
JFR_EXPORT void jfr_sums_close(jfr_sums *sums);

JFR_END_DECLS

#endif
