/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "read/reader_impl.h"

/*
 * Thousands of classes, methods or settings may refer to the same symbol or string. Texts below
 * these lengths are not cached but made again each time, which costs at most a few times the bytes
 * of the reference.
 */
enum { LEAST_MADE = 64, LEAST_LOOKED_AT = 4096 };

bool jfr__lies_in_file(const jfr_chunk *chunk, jfr_str text)
{
    const char *data = (const char *)chunk->file->data;
    return text.len == 0 || (text.data >= data && text.data < data + chunk->file->len);
}

bool jfr__kept_find(const jfr_chunk *chunk, uint64_t key, jfr_str *out)
{
    if (chunk->kept_at.count == 0)
        return false;
    uint32_t index = jfr__idmap_find(&chunk->kept_at, key);
    if (index == JFR_NONE)
        return false;
    *out = chunk->kept[index];
    return true;
}

int jfr__kept_put(jfr_chunk *chunk, uint64_t key, jfr_str text, jfr_error *err)
{
    size_t least = jfr__lies_in_file(chunk, text) ? LEAST_LOOKED_AT : LEAST_MADE;
    if (text.len < least)
        return 0;
    void *kept = chunk->kept;
    if (jfr__grow(&chunk->file->allocator, &kept, &chunk->kept_cap,
                  (size_t)chunk->kept_at.count + 1, sizeof(*chunk->kept)) < 0)
        return jfr__fail_nomem(err);
    chunk->kept = kept;
    uint32_t index = jfr__idmap_put(&chunk->kept_at, key);
    if (index == JFR_NONE)
        return jfr__fail_nomem(err);
    chunk->kept[index] = text;
    return 0;
}
