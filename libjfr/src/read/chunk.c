/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "read/reader_impl.h"

#include <string.h>

enum { METADATA_TYPE = 0 };

const jfr_chunk_info *jfr_chunk_get_info(const jfr_chunk *chunk)
{
    return &chunk->info;
}

void jfr_chunk_get_stats(const jfr_chunk *chunk, jfr_chunk_stats *out)
{
    *out = chunk->stats;
    out->unknown_pools = chunk->unknown_pools;
    out->undefined_pools = chunk->undefined_pools;
}

void jfr__chunk_init(jfr_chunk *chunk, jfr_file *file)
{
    const jfr_allocator *alloc = &file->allocator;
    chunk->file = file;
    jfr__arena_init(&chunk->arena, alloc, file->options.max_decoded_bytes);
    jfr__arena_init(&chunk->scratch, alloc, file->options.max_decoded_bytes);
    jfr__metadata_init(&chunk->meta, alloc, file->options.max_decoded_bytes);
    jfr__idmap_init(&chunk->plan_by_type, alloc);
    jfr__idmap_init(&chunk->kept_at, alloc);
    for (int role = 0; role < JFR__POOL_ROLES; role++)
        jfr__idmap_init(&chunk->pools[role].index, alloc);
}

/* Finds the metadata event. The header of an unfinished chunk may not state its offset; then the
 * last metadata event is used. */
static uint64_t find_metadata(const jfr_chunk *chunk)
{
    uint64_t start = chunk->info.offset;
    uint64_t room = chunk->end - start;
    uint64_t stated = chunk->header.metadata_offset;
    if (stated >= JFR__HEADER_SIZE && stated < room)
        return start + stated;
    uint64_t found = 0;
    jfr__cursor c = jfr__chunk_cursor(chunk, start + JFR__HEADER_SIZE, chunk->end);
    jfr__event_head head;
    while (jfr__cursor_left(&c) > 0 && jfr__event_next(&c, &head)) {
        if (head.type == METADATA_TYPE)
            found = head.offset;
        c.pos = c.base + head.end;
    }
    return found;
}

static int read_metadata(jfr_chunk *chunk, jfr_error *err)
{
    uint64_t at = find_metadata(chunk);
    if (at == 0)
        return jfr__fail(err, JFR_ERR_FORMAT, chunk->info.offset,
                         "The chunk's type descriptions are missing: its end was never written.");
    jfr__cursor c = jfr__chunk_cursor(chunk, at, chunk->end);
    const jfr_options *limits = &chunk->file->options;
    int rc = jfr__metadata_read(&chunk->meta, &c, limits, err);
    if (rc < 0)
        return rc;
    chunk->info.utc_offset_s = chunk->meta.utc_offset_s;
    const jfr__type *recording = jfr__metadata_named(&chunk->meta, "jdk.ActiveRecording");
    bool async = recording != NULL && jfr__str_starts(recording->label, "Async-profiler");
    chunk->producer = async ? JFR_PRODUCER_ASYNC_PROFILER : JFR_PRODUCER_JDK;
    return 0;
}

/* Resets the state of the previous chunk, but keeps its memory for reuse. */
static void forget(jfr_chunk *chunk)
{
    jfr__arena_reset(&chunk->arena);
    jfr__idmap_clear(&chunk->plan_by_type);
    for (int role = 0; role < JFR__POOL_ROLES; role++)
        jfr__idmap_clear(&chunk->pools[role].index);
    memset(chunk->states, 0, sizeof(chunk->states));
    memset(chunk->frame_types, 0, sizeof(chunk->frame_types));
    memset(chunk->seen, 0, sizeof(chunk->seen));
    memset(chunk->left_out, 0, sizeof(chunk->left_out));
    chunk->setting_count = 0;
    chunk->unread_count = 0;
    chunk->lost_to = 0;
    chunk->boundary_count = 0;
    chunk->middle = 0;
    chunk->undefined_pools = 0;
    chunk->unknown_pools = 0;
    chunk->methods = NULL;
    chunk->classes = NULL;
    chunk->threads = NULL;
    chunk->generic = NULL;
    jfr__idmap_clear(&chunk->kept_at);
}

static int lost(jfr_chunk *chunk, int rc, const jfr_error *why, jfr_loss_reason reason)
{
    uint64_t start = chunk->info.offset;
    if (rc == JFR_ERR_FORMAT || rc == JFR_ERR_LIMIT)
        jfr__loss_add(chunk->file, rc == JFR_ERR_LIMIT ? JFR_LOSS_LIMIT : reason, why->offset,
                      chunk->end - start, start);
    return rc;
}

static int read_types(jfr_chunk *chunk, jfr_error *err)
{
    int rc = read_metadata(chunk, err);
    if (rc == 0)
        rc = jfr__pools_define(chunk, err);
    if (rc == 0)
        rc = jfr__samples_define(chunk, err);
    return rc;
}

static int read_small(jfr_chunk *chunk, jfr_error *err)
{
    int rc = jfr__frame_types_read(chunk, err);
    return rc == 0 ? jfr__settings_read(chunk, err) : rc;
}

static void count_pools(jfr_chunk *chunk)
{
    chunk->info.stack_count = chunk->pools[JFR__POOL_STACK].index.count;
    chunk->info.method_count = chunk->pools[JFR__POOL_METHOD].index.count;
    chunk->info.class_count = chunk->pools[JFR__POOL_CLASS].index.count;
    chunk->info.thread_count = chunk->pools[JFR__POOL_THREAD].index.count;
}

static int open_steps(jfr_chunk *chunk, bool whole, jfr_loss_reason *reason, jfr_error *err)
{
    *reason = whole ? JFR_LOSS_BAD_METADATA : JFR_LOSS_UNFINISHED;
    int rc = read_types(chunk, err);
    if (rc < 0)
        return rc;
    *reason = JFR_LOSS_BAD_POOLS;
    rc = jfr__pools_read(chunk, err);
    if (rc < 0)
        return rc;
    count_pools(chunk);
    return read_small(chunk, err);
}

static void begin(jfr_chunk *chunk, const jfr__header *header, uint64_t offset, uint64_t end,
                  bool whole)
{
    chunk->header = *header;
    chunk->end = end;
    chunk->info = (jfr_chunk_info){
        .offset = offset,
        .size = end - offset,
        .major = header->major,
        .minor = header->minor,
        .finished = whole,
        .compressed = header->compressed,
        .start_ns = header->start_ns,
        .duration_ns = header->duration_ns,
        .start_ticks = header->start_ticks,
        .ticks_per_second = header->ticks_per_second,
    };
    chunk->serial++;
    forget(chunk);
}

int jfr__chunk_open(jfr_chunk *chunk, const jfr__header *header, uint64_t offset, uint64_t end,
                    bool whole, jfr_error *err)
{
    begin(chunk, header, offset, end, whole);
    jfr_error why = {.code = 0};
    jfr_loss_reason reason;
    int rc = open_steps(chunk, whole, &reason, &why);
    if (rc < 0) {
        if (why.offset <
            offset) /* the failure concerns a type, and no particular byte of the chunk */
            why.offset = offset;
        if (err != NULL)
            *err = why;
        return lost(chunk, rc, &why, reason);
    }
    jfr_samples_rewind(chunk);
    return 0;
}

void jfr__chunk_free(jfr_chunk *chunk)
{
    const jfr_allocator *alloc = &chunk->file->allocator;
    for (int role = 0; role < JFR__POOL_ROLES; role++) {
        jfr__idmap_free(&chunk->pools[role].index);
        if (chunk->pools[role].offsets != NULL)
            alloc->free(alloc->ctx, chunk->pools[role].offsets);
    }
    if (chunk->settings != NULL)
        alloc->free(alloc->ctx, chunk->settings);
    if (chunk->boundaries != NULL)
        alloc->free(alloc->ctx, chunk->boundaries);
    if (chunk->frames != NULL)
        alloc->free(alloc->ctx, chunk->frames);
    if (chunk->kept != NULL)
        alloc->free(alloc->ctx, chunk->kept);
    jfr__idmap_free(&chunk->kept_at);
    jfr__idmap_free(&chunk->plan_by_type);
    jfr__metadata_free(&chunk->meta);
    jfr__arena_free(&chunk->arena);
    jfr__arena_free(&chunk->scratch);
}
