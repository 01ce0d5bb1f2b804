/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_HEADER_H
#define JFR_SRC_HEADER_H

#include <jfr/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JFR__HEADER_SIZE = 68 };

/* The fields of a chunk's header, which are big-endian in the file. */
typedef struct jfr__header {
    uint16_t major;
    uint16_t minor;
    uint64_t size;
    uint64_t pool_offset; /* offset of the last checkpoint from the chunk's start; 0 = not known */
    uint64_t metadata_offset; /* offset of the metadata event; 0 = not known */
    int64_t start_ns;
    uint64_t duration_ns;
    uint64_t start_ticks;
    uint64_t ticks_per_second;
    uint8_t state; /* 0 = finished; a JDK that still writes the chunk increments it */
    bool compressed;
} jfr__header;

/*
 * Reads the header at `offset` of the recording data[0, len).
 * Returns 0 or JFR_ERR_FORMAT: too few bytes, no magic number, an unknown version, no clock.
 */
int jfr__header_read(jfr__header *out, const uint8_t *data, size_t len, uint64_t offset,
                     jfr_error *err);

/* Returns true when sizes and offsets are those of a finished chunk. */
bool jfr__header_is_finished(const jfr__header *header);

/*
 * Returns whether the header found `distance` bytes after the start of the chunk `of` is a copy of
 * that chunk's header, and so begins no chunk. With each flush the JDK writes such a copy into a
 * checkpoint, with the size that the chunk has at that time (jfrChunkWriter.cpp,
 * write_chunk_header_checkpoint).
 */
bool jfr__header_is_copy(const jfr__header *header, const jfr__header *of, uint64_t distance);

/* Returns the offset of the next chunk header at or after `from`, or `len` when there is none. */
uint64_t jfr__header_find(const uint8_t *data, size_t len, uint64_t from);

#endif
