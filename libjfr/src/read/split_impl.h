/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_SPLIT_H
#define JFR_SRC_SPLIT_H

#include "read/reader_impl.h"

/*
 * Several chunks of a recording at a time, by a reader each. What jfr__split_settle hands on from
 * one chunk to the next is what jfr_next_chunk makes of them when it reads one after the other.
 */

/* Where a chunk lies in the recording. */
typedef struct jfr__place {
    uint64_t offset;
    uint64_t size;
} jfr__place;

/*
 * Makes another reader of the recording that `file` has open: a file in its own right, for one
 * thread at a time, with the same options. It has nothing to read until jfr__split_go. Close it
 * before `file`. Returns 0 or JFR_ERR_NOMEM.
 */
int jfr__split_reader(jfr_file **out, const jfr_file *file, jfr_error *err);

/* Makes the bytes at `place` all that jfr_next_chunk(reader) reads; losses count from there. */
void jfr__split_go(jfr_file *reader, const jfr__place *place);

/*
 * Gives a reader's chunk the settings that it takes over from earlier ones, and `file` those that
 * it states, with what it tells of the recording. For each chunk before its samples are read, in
 * the order of the chunks. Returns 0, JFR_ERR_LIMIT (max_decoded_bytes) or JFR_ERR_NOMEM.
 */
int jfr__split_settle(jfr_file *file, jfr_chunk *chunk, jfr_error *err);

#endif
