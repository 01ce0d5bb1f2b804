/* SPDX-License-Identifier: Apache-2.0 */
#include <jfr/split.h>

#include "error_impl.h"
#include "read/reader_impl.h"

#include <string.h>

bool jfr__whole_chunk(const jfr_file *file, uint64_t offset, jfr__header *header)
{
    return jfr__header_read(header, file->data, file->len, offset, NULL) == 0 &&
           jfr__header_is_finished(header) && header->state == 0 &&
           header->size >= JFR__HEADER_SIZE && header->size <= file->len - offset;
}

size_t jfr_split_places(const jfr_file *file, jfr_place *places, size_t room)
{
    size_t count = 0;
    for (uint64_t at = 0; at < file->len; count++) {
        jfr__header header;
        if (count == file->options.max_chunks || !jfr__whole_chunk(file, at, &header))
            return 0;
        if (count < room)
            places[count] = (jfr_place){at, header.size};
        at += header.size;
    }
    return count;
}

int jfr_split_reader(jfr_file **out, const jfr_file *file, jfr_error *err)
{
    jfr_options options = file->options;
    options.allocator = &file->allocator;
    options.inherit = NULL;
    int rc = jfr__file_new(out, &options, err);
    if (rc < 0)
        return rc;
    jfr_file *reader = *out;
    reader->whole = file;
    reader->data = file->data;
    reader->mapped = file->mapped;
    reader->mapped_len = file->mapped_len;
    return 0;
}

static int no_reader(jfr_error *err)
{
    return jfr__fail(err, JFR_ERR_USAGE, 0, "Only a reader of jfr_split_reader goes to a chunk.");
}

int jfr_split_go(jfr_file *reader, const jfr_place *place, jfr_error *err)
{
    const jfr_file *whole = reader->whole;
    if (whole == NULL)
        return no_reader(err);
    if (place->offset > whole->len || place->size > whole->len - place->offset)
        return jfr__fail(err, JFR_ERR_USAGE, place->offset,
                         "The recording has no chunk at this offset.");
    reader->chunk_open = false;
    reader->chunk.serial++;
    reader->ended = false;
    reader->chunks_seen = 0;
    reader->next = place->offset;
    reader->len = place->offset + place->size;
    reader->loss = (jfr_loss){0};
    reader->recording = (jfr_recording_info){0};
    jfr__arena_reset(&reader->recording_arena);
    return 0;
}

int jfr_split_settle(jfr_file *file, jfr_chunk *chunk, jfr_error *err)
{
    jfr_intervals *carried = &file->intervals[chunk->producer];
    if (chunk->states_settings)
        *carried = chunk->intervals;
    else
        chunk->intervals = *carried;
    int rc = jfr__recording_take(file, &chunk->file->recording, err);
    if (rc == 0)
        chunk->file->recording = file->recording; /* borrowed: readers are closed first */
    return rc;
}

/* Pools of fewer bytes are read in less time than a second look at the types takes. */
enum { LEAST_POOLS = 1 << 16 };

/*
 * Whether a chunk looks like one of async-profiler: its types come first, then events, then all
 * pools, small ones in front of the stacks.
 */
static bool ends_with_pools(const jfr__header *header, uint64_t least_pools)
{
    return header->metadata_offset == JFR__HEADER_SIZE &&
           header->pool_offset > header->metadata_offset && header->pool_offset < header->size &&
           header->size - header->pool_offset >= least_pools;
}

int jfr__split_peek(jfr_file *reader, uint64_t least_pools, jfr_chunk **chunk, jfr_error *err)
{
    const jfr_file *whole = reader->whole;
    jfr__header header;
    if (whole == NULL)
        return no_reader(err);
    uint64_t at = whole->next;
    if (whole->ended || at >= whole->len || !jfr__whole_chunk(whole, at, &header) ||
        !ends_with_pools(&header, least_pools))
        return 0;
    int rc = jfr_split_go(reader, &(jfr_place){at, header.size}, err);
    if (rc < 0)
        return rc;
    reader->next = reader->len;
    memcpy(reader->intervals, whole->intervals, sizeof(reader->intervals));
    *chunk = &reader->chunk;
    return jfr__chunk_peek(&reader->chunk, &header, at, reader->len, err);
}

int jfr_split_peek(jfr_file *reader, jfr_chunk **chunk, jfr_error *err)
{
    return jfr__split_peek(reader, LEAST_POOLS, chunk, err);
}
