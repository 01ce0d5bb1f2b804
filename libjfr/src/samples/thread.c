/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "read/reader_impl.h"

static int text_at(jfr_chunk *chunk, uint64_t offset, jfr_str *out, jfr_error *err)
{
    return offset == 0 ? 0 : jfr__string_at(chunk, offset, out, err);
}

static int decode(jfr_chunk *chunk, uint32_t index, jfr_thread *out, jfr_error *err)
{
    uint64_t slots[JFR__POOL_SLOTS];
    int rc = jfr__pool_entry(chunk, JFR__POOL_THREAD, index, slots, err);
    if (rc < 0)
        return rc;
    out->os_tid = (int64_t)slots[JFR__SLOT_OS_TID];
    out->java_tid = (int64_t)slots[JFR__SLOT_JAVA_TID];
    out->is_virtual = slots[JFR__SLOT_VIRTUAL] != 0;
    rc = text_at(chunk, slots[JFR__SLOT_OS_NAME], &out->os_name, err);
    if (rc == 0)
        rc = text_at(chunk, slots[JFR__SLOT_JAVA_NAME], &out->java_name, err);
    if (rc == 0)
        rc = jfr__pool_text(chunk, JFR__POOL_GROUP, slots[JFR__SLOT_GROUP], &out->group, err);
    return rc;
}

int jfr_chunk_thread(jfr_chunk *chunk, uint32_t index, jfr_thread *out, jfr_error *err)
{
    uint32_t count = chunk->info.thread_count;
    if (index >= count)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "Thread %u does not exist: the chunk has %u.",
                         index, count);
    if (chunk->threads == NULL)
        chunk->threads = jfr__arena_zalloc(&chunk->arena, count, sizeof(*chunk->threads));
    if (chunk->threads == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    jfr__thread_entry *entry = &chunk->threads[index];
    if (!entry->decoded) {
        int rc = decode(chunk, index, &entry->thread, err);
        if (rc < 0)
            return rc;
        entry->decoded = true;
    }
    *out = entry->thread;
    return 0;
}
