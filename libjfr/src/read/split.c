/* SPDX-License-Identifier: Apache-2.0 */
#include "read/split_impl.h"

bool jfr__whole_chunk(const jfr_file *file, uint64_t offset, jfr__header *header)
{
    return jfr__header_read(header, file->data, file->len, offset, NULL) == 0 &&
           jfr__header_is_finished(header) && header->state == 0 &&
           header->size >= JFR__HEADER_SIZE && header->size <= file->len - offset;
}

int jfr__split_reader(jfr_file **out, const jfr_file *file, jfr_error *err)
{
    jfr_options options = file->options;
    options.allocator = &file->allocator;
    options.inherit = NULL;
    int rc = jfr__file_new(out, &options, err);
    if (rc < 0)
        return rc;
    jfr_file *reader = *out;
    reader->is_part = true;
    reader->data = file->data;
    reader->mapped = file->mapped;
    reader->mapped_len = file->mapped_len;
    return 0;
}

void jfr__split_go(jfr_file *reader, const jfr__place *place)
{
    reader->chunk_open = false;
    reader->chunk.serial++;
    reader->ended = false;
    reader->chunks_seen = 0;
    reader->next = place->offset;
    reader->len = place->offset + place->size;
    reader->loss = (jfr_loss){0};
    reader->recording = (jfr_recording_info){0};
    jfr__arena_reset(&reader->recording_arena);
}

int jfr__split_settle(jfr_file *file, jfr_chunk *chunk, jfr_error *err)
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
