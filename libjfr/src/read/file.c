/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "options_impl.h"
#include "read/input_impl.h"
#include "read/reader_impl.h"

#include <inttypes.h>
#include <string.h>

int jfr__file_new(jfr_file **out, const jfr_options *opts, jfr_error *err)
{
    jfr_options options;
    jfr_allocator allocator;
    jfr_intervals intervals;
    int rc = jfr__options_resolve(&options, &allocator, &intervals, opts, err);
    if (rc < 0)
        return rc;
    jfr_file *file = allocator.alloc(allocator.ctx, sizeof(*file));
    if (file == NULL)
        return jfr__fail_nomem(err);
    memset(file, 0, sizeof(*file));
    file->options = options;
    file->allocator = allocator;
    file->frames_loop = jfr__frames_loop_best();
    for (int producer = 0; producer <= JFR_PRODUCER_ASYNC_PROFILER; producer++)
        file->intervals[producer] = intervals;
    jfr__arena_init(&file->recording_arena, &file->allocator, options.max_decoded_bytes);
    jfr__chunk_init(&file->chunk, file);
    *out = file;
    return 0;
}

static int set_data(jfr_file *file, const void *data, size_t len, jfr_error *err)
{
    jfr__header header;
    jfr__unpacked unpacked = {0};
    file->data = data;
    file->len = len;
    if (jfr__is_gzip(data, len)) {
        int rc = jfr__gunzip(&unpacked, data, len, file->options.max_unpacked_bytes,
                             &file->allocator, err);
        if (rc < 0)
            return rc;
        file->unpacked = unpacked.data;
        file->data = unpacked.data;
        file->len = unpacked.len;
    }
    if (!unpacked.damaged)
        return jfr__header_read(&header, file->data, file->len, 0, err);
    if (jfr__header_read(&header, file->data, file->len, 0, NULL) < 0)
        return JFR_ERR_FORMAT; /* `err` describes the damage */
    jfr__loss_add(file, JFR_LOSS_BAD_GZIP, file->len, unpacked.left, file->len);
    return 0;
}

int jfr_open_mem(jfr_file **out, const void *data, size_t len, const jfr_options *opts,
                 jfr_error *err)
{
    jfr_file *file;
    int rc = jfr__file_new(&file, opts, err);
    if (rc < 0)
        return rc;
    rc = set_data(file, data, len, err);
    if (rc < 0) {
        jfr_close(file);
        return rc;
    }
    *out = file;
    return 0;
}

int jfr_open_file(jfr_file **out, const char *path, const jfr_options *opts, jfr_error *err)
{
    jfr_file *file;
    int rc = jfr__file_new(&file, opts, err);
    if (rc < 0)
        return rc;
    rc = jfr__map_file(&file->mapped, &file->mapped_len, path, err);
    if (rc == 0)
        rc = set_data(file, file->mapped, file->mapped_len, err);
    if (rc < 0) {
        jfr_close(file);
        return rc;
    }
    *out = file;
    return 0;
}

void jfr_close(jfr_file *file)
{
    if (file == NULL)
        return;
    const jfr_allocator allocator = file->allocator;
    jfr__chunk_free(&file->chunk);
    jfr__arena_free(&file->recording_arena);
    if (file->unpacked != NULL)
        allocator.free(allocator.ctx, file->unpacked);
    if (!file->is_part)
        jfr__unmap_file(file->mapped, file->mapped_len);
    allocator.free(allocator.ctx, file);
}

void jfr__file_leave(jfr_file *file)
{
    file->chunk.serial++;
    if (!file->chunk_open)
        return;
    if (file->chunk_damaged)
        file->loss.chunks_partial++;
    else
        file->loss.chunks_whole++;
    file->chunk_open = false;
    jfr__drop_pages(file, file->chunk.info.offset, file->chunk.end);
}

/* Returns the offset of the next chunk at or after `from`, or the file's end. */
static uint64_t next_chunk(const jfr_file *file, const jfr__header *header, uint64_t offset,
                           uint64_t from)
{
    uint64_t at = jfr__header_find(file->data, file->len, from);
    jfr__header found;
    while (jfr__header_read(&found, file->data, file->len, at, NULL) == 0 &&
           jfr__header_is_copy(&found, header, at - offset))
        at = jfr__header_find(file->data, file->len, at + 1);
    return at;
}

/*
 * Returns the end of the chunk at `offset`: the one that its header states, or else the start of
 * the next chunk or the end of the file. The header of a chunk that a JDK still writes states the
 * size at its last flush, which can be too small.
 */
static uint64_t chunk_end(const jfr_file *file, const jfr__header *header, uint64_t offset)
{
    bool inside = header->size >= JFR__HEADER_SIZE && header->size <= file->len - offset;
    if (inside && header->state == 0)
        return offset + header->size;
    uint64_t from = offset + (inside ? header->size : JFR__HEADER_SIZE);
    return next_chunk(file, header, offset, from);
}

/* Records the bytes before the next chunk header as lost, because there is no header where one must
 * be. */
static void skip_garbage(jfr_file *file)
{
    uint64_t at = file->next;
    file->next = jfr__header_find(file->data, file->len, at + 1);
    bool cut = file->len - at < JFR__HEADER_SIZE;
    jfr__loss_add(file, cut ? JFR_LOSS_TRUNCATED : JFR_LOSS_BAD_HEADER, at, file->next - at, at);
    file->loss.chunks_lost++;
}

/* Returns 1 with a chunk, 0 to continue with the next, or a negative code. */
static int try_chunk(jfr_file *file, jfr_error *err)
{
    uint64_t offset = file->next;
    jfr__header header;
    if (jfr__header_read(&header, file->data, file->len, offset, NULL) < 0) {
        skip_garbage(file);
        return 0;
    }
    if (file->chunks_seen++ == file->options.max_chunks) {
        file->ended = true;
        jfr__loss_add(file, JFR_LOSS_LIMIT, offset, file->len - offset, offset);
        return jfr__fail(err, JFR_ERR_LIMIT, offset,
                         "The recording has more chunks than max_chunks (%" PRIu32 ").",
                         file->options.max_chunks);
    }
    file->next = chunk_end(file, &header, offset);
    bool written = jfr__header_is_finished(&header);
    bool whole = written && header.size <= file->len - offset;
    jfr_loss_reason cut = written ? JFR_LOSS_TRUNCATED : JFR_LOSS_UNFINISHED;
    if (!whole && (file->options.flags & JFR_WALK_UNFINISHED) == 0) {
        jfr__loss_add(file, cut, offset, file->next - offset, offset);
        file->loss.chunks_lost++;
        return 0;
    }
    int rc = jfr__chunk_open(&file->chunk, &header, offset, file->next, whole, err);
    if (rc < 0) {
        file->loss.chunks_lost++;
        return rc == JFR_ERR_FORMAT ? 0 : rc;
    }
    file->chunk_open = true;
    if (!whole) /* its end is missing, however much of it can be read */
        jfr__loss_add(file, cut, file->next, 0, offset);
    return 1;
}

int jfr_next_chunk(jfr_file *file, jfr_chunk **chunk, jfr_error *err)
{
    jfr__file_leave(file);
    while (!file->ended && file->next < file->len) {
        file->chunk_damaged = false;
        int rc = try_chunk(file, err);
        if (rc > 0)
            *chunk = &file->chunk;
        if (rc != 0)
            return rc;
    }
    return 0;
}
