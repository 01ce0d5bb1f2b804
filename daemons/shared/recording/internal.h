/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORDING_INTERNAL_H
#define RECORDING_INTERNAL_H

#include <recording/recording.h>

/* Most loss records that are kept for messages; all losses are counted. */
#define RECORDING_LOSSES 64

/* The caps of an aggregate that recording_options leaves to libstackagg. */
#define RECORDING_MAX_STACKS      200000u
#define RECORDING_MAX_THREAD_ROWS 10000u
#define RECORDING_MAX_FRAMES      2048u
#define RECORDING_MAX_BYTES       (UINT64_C(512) << 20)

struct recording {
    recording_options options;
    jfr_intervals inherited;
    sagg *agg;
    recording_info info;
    jfr_loss_record losses[RECORDING_LOSSES];
    size_t loss_count;
    recording_unread unread[RECORDING_MAX_UNREAD];
    size_t unread_count;
    sagg_span spans[RECORDING_MAX_SPANS]; /* ascending, not overlapping */
    size_t span_count;
    uint32_t *frames; /* of the sample being added (recording_add_sample) */
    size_t frame_room;
};

/* Returns the catalogue's type for a type of libjfr. */
enum profile_type recording__type(jfr_profile_type type);

/*
 * Adds all samples of a chunk, its settings and its counts. It adds the sums of `sums`, or the
 * samples one by one if `sums` has none of this chunk. Returns 0 or RECORDING_E_NOMEM.
 */
int recording__add_chunk(recording *rec, jfr_chunk *chunk, const jfr_sums *sums,
                         recording_error *err);

/*
 * A jfr_parallel_for for up to RECORDING_MAX_THREADS work items; it does not use `ctx`. The calling
 * thread runs the first item, and the items for which no thread could be started.
 */
void recording__parallel_for(void *ctx, uint32_t count, jfr_work *work, void *work_ctx);

/* A lock between threads of recording__parallel_for. NULL = there are no threads, or no memory. */
typedef struct recording_lock recording_lock;
recording_lock *recording__lock_new(void);
void recording__lock_free(recording_lock *lock);
/* Take and release a lock. NULL is allowed if only one thread runs. */
void recording__lock_take(recording_lock *lock);
void recording__lock_give(recording_lock *lock);

/* Adds the losses of a file. */
void recording__take_loss(recording *rec, const jfr_file *file);

/* Copies an error of libjfr and returns its code as a recording_code. */
int recording__from_jfr(recording_error *err, const jfr_error *cause);

/* Returns whether the tap wants a sample. Without a tap all samples are wanted. */
bool recording__keeps(const recording *rec, int64_t time_ns, uint32_t thread, uint8_t state);

/* Turns a failure at the caps into the stack [dropped]: sets *stack and returns 0. Returns any
 * other `rc` unchanged. */
int recording__drop_on_limit(int rc, uint32_t *stack);

/* Take over a chunk's settings, counts and time; `last_ns` is the time of its last sample. */
void recording__take_settings(recording *rec, const jfr_chunk *chunk);
void recording__take_counts(recording_counts *to, const jfr_chunk *chunk);
void recording__take_time(recording *rec, const jfr_chunk *chunk, int64_t last_ns);

/* Makes an aggregate with the recording's options and this limit of bytes. Returns 0 or a code of
 * libstackagg. */
int recording__new_aggregate(const recording *rec, sagg **out, uint64_t max_bytes);

/* Return the caps from the recording's options. */
uint32_t recording__max_stacks(const recording *rec);
uint32_t recording__max_frames(const recording *rec);
uint64_t recording__max_bytes(const recording *rec);

/* Reserves space for `count` numbers. Returns 0 or SAGG_ERR_NOMEM. */
int recording__reserve(uint32_t **numbers, size_t *room, size_t count);

/* Adds to the time that the inputs cover. */
void recording__take_unread(recording *rec, const jfr_chunk *chunk);
void recording__add_span(recording *rec, int64_t start_ns, int64_t end_ns);

int recording__fail(recording_error *err, int code, uint64_t offset, const char *message);

#endif
