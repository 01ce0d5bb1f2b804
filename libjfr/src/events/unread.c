/* SPDX-License-Identifier: Apache-2.0 */
/* Events that look like samples, of types that the library does not read. */
#include "events/unread_impl.h"

#include "error_impl.h"

#include <string.h>

/* Returns whether the type has a field of that class, with any name, inline or in a constant pool,
 * single or as an array. */
static bool has_field_of(const jfr_chunk *chunk, const jfr__type *type, const char *class_name)
{
    const jfr__metadata *meta = &chunk->meta;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const jfr__field *f = &meta->fields[type->first_field + i];
        if (f->type != JFR_NONE && jfr__str_is(meta->types[f->type].name, class_name))
            return true;
    }
    return false;
}

static bool ends_with(jfr_str text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.data + text.len - len, end, len) == 0;
}

/* Most of the JDK's events have a stack trace; those that are samples say so in their name. Some
 * samples have no thread. async-profiler's profiler.Free ends an allocation of profiler.Malloc. */
static bool looks_like_a_sample(const jfr_chunk *chunk, const jfr__type *type)
{
    bool jdk = jfr__str_starts(type->name, "jdk.");
    return !jfr__str_is(type->name, "profiler.Free") && (!jdk || ends_with(type->name, "Sample")) &&
           has_field_of(chunk, type, "jdk.types.StackTrace");
}

int jfr__unread_define(jfr_chunk *chunk, jfr_error *err)
{
    const jfr__metadata *meta = &chunk->meta;
    chunk->unread_count = 0;
    chunk->unread_at =
        jfr__arena_zalloc(&chunk->arena, meta->type_count, sizeof(*chunk->unread_at));
    if (chunk->unread_at == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    for (uint32_t i = 0; i < meta->type_count; i++) {
        const jfr__type *type = &meta->types[i];
        if (jfr__idmap_find(&chunk->plan_by_type, type->id) == JFR_NONE &&
            looks_like_a_sample(chunk, type))
            chunk->unread_at[i] = (uint32_t)++chunk->unread_count;
    }
    chunk->unread = jfr__arena_zalloc(&chunk->arena, chunk->unread_count, sizeof(*chunk->unread));
    if (chunk->unread == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    for (uint32_t i = 0; i < meta->type_count; i++)
        if (chunk->unread_at[i] > 0)
            chunk->unread[chunk->unread_at[i] - 1].event = meta->types[i].name;
    return 0;
}

void jfr__unread_count(jfr_chunk *chunk, uint64_t type_id)
{
    if (chunk->unread_count == 0)
        return;
    uint32_t type = jfr__idmap_find(&chunk->meta.by_id, type_id);
    if (type != JFR_NONE && chunk->unread_at[type] > 0)
        chunk->unread[chunk->unread_at[type] - 1].count++;
}

const jfr_unread *jfr_chunk_unread(const jfr_chunk *chunk, size_t *count)
{
    *count = chunk->unread_count;
    return chunk->unread;
}
