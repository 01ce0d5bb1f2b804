/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "read/reader_impl.h"

#include <string.h>

/*
 * Returns the element type of an array in a descriptor: "I", "Ljava/lang/String;" or a bare name.
 */
static jfr_str element_name(jfr_str s)
{
    static const struct {
        char letter;
        const char *name;
    } primitives[] = {{'Z', "boolean"}, {'B', "byte"}, {'C', "char"},  {'S', "short"},
                      {'I', "int"},     {'J', "long"}, {'F', "float"}, {'D', "double"}};
    if (s.len == 1) {
        for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++) {
            if (s.data[0] == primitives[i].letter)
                return (jfr_str){primitives[i].name, strlen(primitives[i].name)};
        }
    }
    if (s.len > 2 && s.data[0] == 'L' && s.data[s.len - 1] == ';')
        return (jfr_str){s.data + 1, s.len - 2};
    return s;
}

/* Gives the name to display: "java/util/Map" becomes "java.util.Map", "[[B" becomes "byte[][]". */
static int display_name(jfr_chunk *chunk, jfr_str raw, jfr_str *out, jfr_error *err)
{
    size_t dimensions = 0;
    while (dimensions < raw.len && raw.data[dimensions] == '[')
        dimensions++;
    jfr_str name = raw;
    if (dimensions > 0)
        name = element_name((jfr_str){raw.data + dimensions, raw.len - dimensions});
    if (raw.len == 0 || (dimensions == 0 && memchr(raw.data, '/', raw.len) == NULL)) {
        *out = raw;
        return 0;
    }
    char *copy = jfr__arena_alloc(&chunk->arena, name.len + dimensions * 2);
    if (copy == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    for (size_t i = 0; i < name.len; i++)
        copy[i] = name.data[i] == '/' ? '.' : name.data[i];
    for (size_t i = 0; i < dimensions; i++)
        memcpy(copy + name.len + i * 2, "[]", 2);
    *out = (jfr_str){copy, name.len + dimensions * 2};
    return 0;
}

/* Gives the name of a class, from its symbol. */
static int name_of_symbol(jfr_chunk *chunk, uint64_t id, jfr_str *out, jfr_error *err)
{
    const jfr__pool *symbols = &chunk->pools[JFR__POOL_SYMBOL];
    const uint32_t index = jfr__idmap_find(&symbols->index, id);
    jfr_str symbol;
    *out = (jfr_str){NULL, 0};
    if (index == JFR_NONE)
        return 0;
    const uint64_t key = jfr__kept_class_name(symbols->offsets[index]);
    if (jfr__kept_find(chunk, key, out))
        return 0;
    int rc = jfr__pool_text_at(chunk, JFR__POOL_SYMBOL, index, &symbol, err);
    if (rc == 0)
        rc = display_name(chunk, symbol, out, err);
    return rc < 0 ? rc : jfr__kept_put(chunk, key, *out, err);
}

static int decode(jfr_chunk *chunk, uint32_t index, jfr_class *out, jfr_error *err)
{
    uint64_t slots[JFR__POOL_SLOTS];
    int rc = jfr__pool_entry(chunk, JFR__POOL_CLASS, index, slots, err);
    return rc < 0 ? rc : name_of_symbol(chunk, slots[JFR__SLOT_NAME], &out->name, err);
}

static int get_entry(jfr_chunk *chunk, uint32_t index, jfr__class_entry **out, jfr_error *err)
{
    uint32_t count = chunk->info.class_count;
    if (index >= count)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "Class %u does not exist: the chunk has %u.", index,
                         count);
    if (chunk->classes == NULL)
        chunk->classes = jfr__arena_zalloc(&chunk->arena, count, sizeof(*chunk->classes));
    if (chunk->classes == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    jfr__class_entry *entry = &chunk->classes[index];
    if (!entry->decoded) {
        int rc = decode(chunk, index, &entry->klass, err);
        if (rc < 0)
            return rc;
        entry->decoded = true;
    }
    *out = entry;
    return 0;
}

int jfr_chunk_class(jfr_chunk *chunk, uint32_t index, jfr_class *out, jfr_error *err)
{
    jfr__class_entry *entry = NULL;
    int rc = get_entry(chunk, index, &entry, err);
    if (rc == 0)
        *out = entry->klass;
    return rc;
}

int jfr__class_is_lock(jfr_chunk *chunk, uint32_t index, bool *out, jfr_error *err)
{
    static const char *const locks[] = {"java.util.concurrent.locks.Reentrant",
                                        "java.util.concurrent.locks.StampedLock",
                                        "java.util.concurrent.Semaphore"};
    *out = false;
    if (index == JFR_NONE)
        return 0;
    jfr_class klass;
    int rc = jfr_chunk_class(chunk, index, &klass, err);
    if (rc < 0)
        return rc == JFR_ERR_FORMAT ? 0 : rc;
    for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++)
        *out = *out || jfr__str_starts(klass.name, locks[i]);
    return 0;
}
