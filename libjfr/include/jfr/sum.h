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
 * The samples of each chunk, added up: for callers that need totals by stack and thread, but not
 * each sample. The sums equal those of adding the samples of jfr_samples_next one by one, and take
 * a small part of the time.
 *
 *     jfr_sums_open(&sums, file, NULL, &err);
 *     while (jfr_sums_next(sums, &chunk, &err) == 1) {
 *         const jfr_sums_info *info = jfr_sums_get_info(sums);
 *         ... jfr_sums_read(sums, 0, rows, info->row_count) ...
 *         ... rows[i].value[0] of type info->lanes[rows[i].lane].types[0] ...
 *     }
 *     jfr_sums_close(sums);
 *
 * The library starts no threads. A caller that has threads offers them through `parallel_for`; the
 * library then reads several small chunks at the same time, and a large chunk in parts. The rows
 * are the same with and without it.
 */
typedef struct jfr_sums jfr_sums;

/* Flags of jfr_sums_options.flags. */
enum jfr_sums_flags {
    JFR_SUMS_CLASSES = 1u << 0,    /* separate rows for each class that was allocated or locked */
    JFR_SUMS_NO_THREADS = 1u << 1, /* no separate rows for threads: fewer rows in less time */
    /* Leave out JFR_ALLOC_OBJECTS, whose estimate costs a division for each event. */
    JFR_SUMS_NO_ALLOC_OBJECTS = 1u << 2
};

/* A work item: several may run at the same time. */
typedef void jfr_work(void *ctx, uint32_t index);

/* A function of the caller that calls work(work_ctx, i) once for each i below `count`, on any
 * threads and in any order, and returns when all calls have returned. */
typedef void jfr_parallel_for(void *ctx, uint32_t count, jfr_work *work, void *work_ctx);

enum { JFR_SUMS_MAX_THREADS = 64 };

/* Options of jfr_sums_open. Start from JFR_SUMS_OPTIONS_INIT; 0 selects a field's default. */
typedef struct jfr_sums_options {
    size_t size;       /* sizeof(jfr_sums_options); an unknown tail must be zero */
    uint32_t flags;    /* bits of enum jfr_sums_flags */
    uint32_t max_rows; /* rows that one thread makes of a chunk, 50 to 70 bytes each; 4 Mi. A chunk
                          with more rows is not added up */
    uint32_t seconds;  /* also make rows for this many seconds from origin_ns on; at most 86,400;
                          0 = none */
    uint32_t threads;  /* threads of parallel_for, up to JFR_SUMS_MAX_THREADS; 1 */
    jfr_parallel_for *parallel_for; /* NULL = the calling thread does all work */
    void *parallel_ctx;
    int64_t origin_ns;              /* start of the first second, ns since 1970 UTC */
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
 * The properties that the rows of one lane have in common: thread, class, event, state, and types
 * of values. Two lanes can be equal. For lock waits whose threshold is known (jfr_intervals),
 * JFR_LOCK_COUNT and JFR_LOCK_DELAY have separate lanes, and each such sample is in a row of both:
 * a caller that counts samples counts them for each type.
 */
typedef struct jfr_sums_lane {
    uint32_t thread;                  /* as in jfr_sample; JFR_NONE with JFR_SUMS_NO_THREADS */
    uint32_t klass;                   /* as in jfr_sample; JFR_NONE without JFR_SUMS_CLASSES */
    uint8_t source;                   /* jfr_sample_source */
    uint8_t state;                    /* jfr_thread_state */
    uint8_t lock_kind;                /* jfr_lock_kind */
    uint8_t value_count;              /* 1 or 2; 0 for a lane without rows */
    uint8_t types[JFR_SAMPLE_VALUES]; /* jfr_profile_type */
    uint8_t reserved[2];
} jfr_sums_lane;

/* The samples of one stack in one lane, or of one second in one lane. */
typedef struct jfr_sums_row {
    uint32_t stack;                    /* as in jfr_sample. In a row by second: the second's number;
                                          options.seconds for later samples, JFR_NONE for earlier */
    uint32_t lane;                     /* index in jfr_sums_info.lanes */
    uint64_t samples;                  /* how many samples; each has all values of the lane */
    uint64_t raw[JFR_SAMPLE_VALUES];   /* sums of jfr_value.raw, saturated at 2^64 - 1 */
    uint64_t value[JFR_SAMPLE_VALUES]; /* sums of jfr_value.value, saturated at 2^64 - 1 */
} jfr_sums_row;

/* The rows of a chunk. Rows of the same stack are in the order of their first samples. */
typedef struct jfr_sums_info {
    const jfr_sums_lane *lanes;
    uint32_t lane_count;
    uint32_t row_count;     /* rows by stack */
    uint32_t second_count;  /* rows by second; they follow, numbered from row_count on */
    uint32_t thread_count;  /* threads that read the chunk */
    const uint32_t *begins; /* stack i has the rows from begins[i] up to, but not including,
                               begins[i + 1]. Rows without a stack come last, from
                               begins[jfr_chunk_info.stack_count] on */
} jfr_sums_info;

/*
 * Begins to add up a recording.
 *   out   receives the sums; close with jfr_sums_close, before `file`
 *   file  open, with no chunk read yet. Until jfr_sums_close the caller may call only jfr_file_loss
 *         and jfr_file_span for it
 * Errors: JFR_ERR_USAGE (options), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_sums_open(jfr_sums **out, jfr_file *file,
                                          const jfr_sums_options *opts, jfr_error *err);

/*
 * Goes to the next chunk, as jfr_next_chunk does, and adds up its samples. jfr_chunk_stats and
 * jfr_file_loss then hold what they would hold after a walk with jfr_samples_next.
 *   chunk   receives the chunk, borrowed until the next jfr_sums_next or jfr_sums_close
 * Returns and errors: as jfr_next_chunk.
 */
JFR_EXPORT JFR_MUST_USE int jfr_sums_next(jfr_sums *sums, jfr_chunk **chunk, jfr_error *err);

/*
 * Reads the next small chunks in advance, so that jfr_sums_next finds them ready. One thread may
 * call it while another uses the current chunk, as long as no thread calls jfr_sums_next. It reads
 * nothing when chunks are ready already, when the current or the next chunk is large, or without a
 * parallel_for.
 * Errors: JFR_ERR_NOMEM; jfr_sums_next then reads the chunks itself.
 */
JFR_EXPORT JFR_MUST_USE int jfr_sums_read_ahead(jfr_sums *sums, jfr_error *err);

/*
 * Returns the current chunk's sums, borrowed until the next jfr_sums_next. It returns NULL for a
 * chunk that could not be added up: one that is unfinished, has more rows than max_rows, or has
 * damaged events before sound ones. Read such a chunk with jfr_samples_next.
 */
JFR_EXPORT const jfr_sums_info *jfr_sums_get_info(const jfr_sums *sums);

/*
 * Copies up to `room` rows, from number `first` on, to `rows`. Returns how many it copied; 0 at the
 * end. Several threads may call it at the same time.
 */
JFR_EXPORT size_t jfr_sums_read(const jfr_sums *sums, uint32_t first, jfr_sums_row *rows,
                                size_t room);

/* Frees the sums and the current chunk. NULL is allowed. */
JFR_EXPORT void jfr_sums_close(jfr_sums *sums);

JFR_END_DECLS

#endif
