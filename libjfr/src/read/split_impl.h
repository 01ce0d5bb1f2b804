/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_SPLIT_H
#define JFR_SRC_SPLIT_H

#include "read/reader_impl.h"

/*
 * Reads several chunks of a recording at the same time, each with its own reader. jfr__split_settle
 * then passes settings from chunk to chunk, with the same result as reading the chunks one after
 * another with jfr_next_chunk.
 */

/* The place of a chunk in the recording. */
typedef struct jfr__place {
    uint64_t offset;
    uint64_t size;
} jfr__place;

/*
 * Opens another reader of the recording of `file`, with the same options. One thread at a time may
 * use it. It reads nothing before jfr__split_go. Close it before `file`. Returns 0 or
 * JFR_ERR_NOMEM.
 */
int jfr__split_reader(jfr_file **out, const jfr_file *file, jfr_error *err);

/* Limits jfr_next_chunk(reader) to the bytes at `place`, and resets the reader's losses. */
void jfr__split_go(jfr_file *reader, const jfr__place *place);

/*
 * Gives a reader's chunk the settings that apply from earlier chunks, and gives `file` the settings
 * and recording info that the chunk itself states. Call it for each chunk, in the order of the
 * chunks, before reading the chunk's samples. Returns 0, JFR_ERR_LIMIT (max_decoded_bytes) or
 * JFR_ERR_NOMEM.
 */
int jfr__split_settle(jfr_file *file, jfr_chunk *chunk, jfr_error *err);

#endif
