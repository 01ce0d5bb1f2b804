/* SPDX-License-Identifier: Apache-2.0 */
/* Events that look like samples and are none that the library reads. */
#include "events/unread_impl.h"

#include "error_impl.h"

#include <string.h>

/* A recording whose types are hostile can have any number of them. */
enum { MAX_UNREAD = 64 };

/* Whether a field of one of two names is a reference to a value of that type. */
static bool refers_to(const jfr_chunk *chunk, const jfr__type *type, const char *name,
                      const char *other_name, const char *class_name)
{
    const jfr__metadata *meta = &chunk->meta;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const jfr__field *f = &meta->fields[type->first_field + i];
        if ((jfr__str_is(f->name, name) || jfr__str_is(f->name, other_name)) && f->constant_pool &&
            f->type != JFR_NONE && jfr__str_is(meta->types[f->type].name, class_name))
            return true;
    }
    return false;
}

static bool ends_with(jfr_str text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.data + text.len - len, end, len) == 0;
}

/* Most of the JDK's events have a stack trace and a thread: those that are samples say so.
 * async-profiler's profiler.Free is what ends an allocation of profiler.Malloc. */
static bool looks_like_a_sample(const jfr_chunk *chunk, const jfr__type *type)
{
    bool jdk = jfr__str_starts(type->name, "jdk.");
    return !jfr__str_is(type->name, "profiler.Free") && (!jdk || ends_with(type->name, "Sample")) &&
           refers_to(chunk, type, "stackTrace", "stackTrace", "jdk.types.StackTrace") &&
           refers_to(chunk, type, "eventThread", "sampledThread", "java.lang.Thread");
}

int jfr__unread_define(jfr_chunk *chunk, jfr_error *err)
{
    const jfr__metadata *meta = &chunk->meta;
    chunk->unread_count = 0;
    chunk->unread = jfr__arena_zalloc(&chunk->arena, MAX_UNREAD, sizeof(*chunk->unread));
    chunk->unread_ids = jfr__arena_zalloc(&chunk->arena, MAX_UNREAD, sizeof(*chunk->unread_ids));
    if (chunk->unread == NULL || chunk->unread_ids == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    for (uint32_t i = 0; i < meta->type_count && chunk->unread_count < MAX_UNREAD; i++) {
        const jfr__type *type = &meta->types[i];
        if (jfr__idmap_find(&chunk->plan_by_type, type->id) != JFR_NONE ||
            !looks_like_a_sample(chunk, type))
            continue;
        chunk->unread[chunk->unread_count].event = type->name;
        chunk->unread_ids[chunk->unread_count++] = type->id;
    }
    return 0;
}

void jfr__unread_count(jfr_chunk *chunk, uint64_t type_id)
{
    for (size_t i = 0; i < chunk->unread_count; i++)
        chunk->unread[i].count += chunk->unread_ids[i] == type_id;
}

const jfr_unread *jfr_chunk_unread(const jfr_chunk *chunk, size_t *count)
{
    *count = chunk->unread_count;
    return chunk->unread;
}
