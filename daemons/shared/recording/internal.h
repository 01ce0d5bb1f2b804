/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORDING_INTERNAL_H
#define RECORDING_INTERNAL_H

#include <recording/recording.h>

/* Loss records that are kept to be named; all are counted. */
#define RECORDING_LOSSES 64

/* The caps of an aggregate that recording_options leaves to libstackagg. */
#define RECORDING_MAX_STACKS      200000u
#define RECORDING_MAX_THREAD_ROWS 10000u
#define RECORDING_MAX_FRAMES      2048u
#define RECORDING_MAX_BYTES       (UINT64_C(512) << 20)

#define RECORDING_MAX_SUMS (RECORDING_MAX_THREADS + 1)

struct recording {
    recording_options options;
    jfr_intervals inherited;
    sagg *agg;
    jfr_sums *sums[RECORDING_MAX_SUMS]; /* one a thread; of several, one more (split.c) */
    uint32_t sums_count;                /* threads */
    recording_info info;
    jfr_loss_record losses[RECORDING_LOSSES];
    size_t loss_count;
    recording_unread unread[RECORDING_MAX_UNREAD];
    size_t unread_count;
    sagg_span spans[RECORDING_MAX_SPANS]; /* ascending, apart */
    size_t span_count;
    uint32_t *frames; /* of the sample being added (recording_add_sample) */
    size_t frame_room;
};

/* The catalogue's type of a type of libjfr. */
enum profile_type recording__type(jfr_profile_type type);

/* The sums of a chunk, of one thread each. */
typedef struct recording_filled {
    jfr_sums *const *sums; /* some of the recording's */
    uint32_t count;
    int rc; /* 0, or of libjfr: there are no sums */
} recording_filled;

/* Adds all samples of a chunk, and its settings and counts. `filled` may be NULL: its sums are then
 * made here. Returns 0 or RECORDING_E_NOMEM. */
int recording__add_chunk(recording *rec, jfr_chunk *chunk, const recording_filled *filled,
                         recording_error *err);

/*
 * Reads all chunks of the file by several threads, a chunk each. Returns false when they are better
 * read in a row, or true with *rc: 0 or a negative code, with its error.
 */
bool recording__split(recording *rec, jfr_file *file, int *rc, recording_error *err);

/* What a thread does; returns NULL. */
typedef void *recording_work(void *context);
/*
 * Does a piece of work with each of `count` contexts, up to RECORDING_MAX_THREADS, which are `size`
 * bytes apart (0 = they are one), at the same time. The calling thread does the first one, and
 * those that no thread can be had for.
 */
void recording__at_once(recording_work *work, void *contexts, size_t size, uint32_t count);

/* Counts what the file lost, in all. */
void recording__take_loss(recording *rec, const jfr_file *file);

/* Returns the code that a libjfr's error is here. */
int recording__from_jfr(recording_error *err, const jfr_error *cause);

/*
 * Whether the chunk's samples may be added up before they are looked at: nobody wants to know when
 * they were.
 */
bool recording__can_sum(const recording *rec, const jfr_chunk *chunk);

/* Adds the chunk's samples up into the first filled->parts of rec->sums, with as many threads. */
void recording__fill_sums(recording *rec, jfr_chunk *chunk, recording_filled *filled);

/*
 * As jfr_next_chunk; adds the chunk's samples up while it is opened, where that pays.
 *   second  of jfr_split_reader(file); NULL = none, and nothing is added up
 *   filled  receives the sums; `count` is 0 where there are none
 */
int recording__next_chunk(recording *rec, jfr_file *file, jfr_file *second, jfr_chunk **chunk,
                          recording_filled *filled, jfr_error *cause);

/* Whether the tap wants a sample; all are wanted where there is none. */
bool recording__keeps(const recording *rec, int64_t time_ns, uint32_t thread, uint8_t state);

/* A stack whose frames have no room under the caps is dropped. Returns `rc`, or 0 then. */
int recording__drop_on_limit(int rc, uint32_t *stack);

/* What a chunk states, what it counted, and how long it was; `last_ns` of its last sample read. */
void recording__take_settings(recording *rec, const jfr_chunk *chunk);
void recording__take_counts(recording_counts *to, const jfr_chunk *chunk);
void recording__take_time(recording *rec, const jfr_chunk *chunk, int64_t last_ns);

/* Makes an aggregate by the recording's options, within so many bytes. Returns 0 or a code of
 * libstackagg. */
int recording__new_aggregate(const recording *rec, sagg **out, uint64_t max_bytes);

/* The caps by the recording's options. */
uint32_t recording__max_stacks(const recording *rec);
uint32_t recording__max_frames(const recording *rec);
uint64_t recording__max_bytes(const recording *rec);

/* Makes room for `count` numbers. Returns 0 or SAGG_ERR_NOMEM. */
int recording__reserve(uint32_t **numbers, size_t *room, size_t count);

/* Adds to the time that the inputs cover. */
void recording__take_unread(recording *rec, const jfr_chunk *chunk);
void recording__add_span(recording *rec, int64_t start_ns, int64_t end_ns);

int recording__fail(recording_error *err, int code, uint64_t offset, const char *message);

#endif
