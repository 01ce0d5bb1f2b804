/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORDING_INTERNAL_H
#define RECORDING_INTERNAL_H

#include <recording/recording.h>

/* Loss records that are kept to be named; all are counted. */
#define RECORDING_LOSSES 64

struct recording {
    recording_options options;
    jfr_intervals inherited;
    sagg *agg;
    jfr_sums *sums[RECORDING_MAX_THREADS]; /* one a thread */
    uint32_t sums_count;
    recording_info info;
    jfr_loss_record losses[RECORDING_LOSSES];
    size_t loss_count;
    sagg_span spans[RECORDING_MAX_SPANS]; /* ascending, apart */
    size_t span_count;
    uint32_t *frames; /* of the sample being added (recording_add_sample) */
    size_t frame_room;
};

/* The catalogue's type of a type of libjfr. */
enum profile_type recording__type(jfr_profile_type type);

/* Adds all samples of a chunk, and its settings and counts. Returns 0 or RECORDING_E_NOMEM. */
int recording__add_chunk(recording *rec, jfr_chunk *chunk, recording_error *err);

/*
 * Adds the chunk's samples up into the first `*parts` of rec->sums, with as many threads.
 * Returns as jfr_sums_join.
 */
int recording__fill_sums(recording *rec, jfr_chunk *chunk, uint32_t *parts, jfr_error *cause);

/* Adds to the time that the inputs cover. */
void recording__add_span(recording *rec, int64_t start_ns, int64_t end_ns);

int recording__fail(recording_error *err, int code, uint64_t offset, const char *message);

#endif
