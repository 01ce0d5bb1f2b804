#include <jfr/split.h>

#include "error.h"
#include "reader.h"

#include <string.h>

/* Whether a chunk that its writer has finished lies at `offset`, with all of its bytes. */
static bool whole_chunk(const jfr_file *file, uint64_t offset, jfr_place *place)
{
    jfr__header header;
    if (jfr__header_read(&header, file->data, file->len, offset, NULL) < 0)
        return false;
    *place = (jfr_place){offset, header.size};
    return jfr__header_is_finished(&header) && header.state == 0 &&
           header.size >= JFR__HEADER_SIZE && header.size <= file->len - offset;
}

size_t jfr_split_places(const jfr_file *file, jfr_place *places, size_t room)
{
    size_t count = 0;
    for (uint64_t at = 0; at < file->len; count++) {
        jfr_place place;
        if (count == file->options.max_chunks || !whole_chunk(file, at, &place))
            return 0;
        if (count < room)
            places[count] = place;
        at += place.size;
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
    reader->origin = file->origin;
    return 0;
}

int jfr_split_go(jfr_file *reader, const jfr_place *place, jfr_error *err)
{
    const jfr_file *whole = reader->whole;
    if (whole == NULL)
        return jfr__fail(err, JFR_ERR_USAGE, 0,
                         "Only a reader of jfr_split_reader goes to a chunk.");
    if (place->offset > whole->len || place->size > whole->len - place->offset)
        return jfr__fail(err, JFR_ERR_USAGE, place->offset,
                         "The recording has no chunk at this offset.");
    reader->chunk_open = false;
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
