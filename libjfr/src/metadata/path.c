/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "events/generic_impl.h"

#include <string.h>

enum { MAX_INDEX = INT32_MAX };

static int no_path(const char *what, jfr_error *err)
{
    return jfr__fail(err, JFR_ERR_USAGE, 0,
                     "A path is wrong near \"%.40s\": write field names with dots between them and "
                     "array indices in brackets, as in \"stackTrace.frames[0].lineNumber\".",
                     what);
}

static int take_index(const char **rest, jfr__part *out, jfr_error *err)
{
    const char *p = *rest + 1;
    uint64_t index = 0;
    while (*p >= '0' && *p <= '9' && index <= MAX_INDEX)
        index = index * 10 + (uint64_t)(*p++ - '0');
    if (*p != ']' || p == *rest + 1 || index > MAX_INDEX)
        return no_path(*rest, err);
    *out = (jfr__part){.by_index = true, .index = (uint32_t)index};
    *rest = p + 1;
    return 1;
}

static bool ends_part(char c)
{
    return c == '\0' || c == '.' || c == '[';
}

/*
 * Returns the field of the struct at `spot` with the longest name that `path` begins with, since
 * names may have dots. JFR_NONE when there is no such field.
 */
static uint32_t find_field(const jfr_type *types, const jfr__spot *spot, const char *path)
{
    if (spot->is_array || spot->type == JFR_NONE || types[spot->type].is_simple)
        return JFR_NONE;
    const jfr_type *type = &types[spot->type];
    size_t left = strlen(path);
    size_t longest = 0;
    uint32_t found = JFR_NONE;
    for (uint32_t i = 0; i < type->field_count; i++) {
        jfr_str name = type->fields[i].name;
        if (name.data == NULL || name.len <= longest || name.len > left)
            continue;
        if (memcmp(name.data, path, name.len) != 0 || !ends_part(path[name.len]))
            continue;
        longest = name.len;
        found = i;
    }
    return found;
}

/* Every name except the first follows a dot, with which `*rest` then begins. */
int jfr__path_next(const jfr_type *types, const jfr__spot *spot, const char **rest, jfr__part *out,
                   jfr_error *err)
{
    const char *p = *rest;
    if (*p == '\0')
        return 0;
    if (*p == '.')
        p++;
    uint32_t field = find_field(types, spot, p);
    if (field == JFR_NONE && **rest == '[')
        return take_index(rest, out, err);
    size_t len = field != JFR_NONE ? types[spot->type].fields[field].name.len : strcspn(p, ".[]");
    if (len == 0 || p[len] == ']')
        return no_path(*rest, err);
    *out = (jfr__part){.index = field};
    *rest = p + len;
    return 1;
}

bool jfr__spot_step(const jfr_type *types, jfr__spot *spot, const jfr__part *part)
{
    if (part->by_index != spot->is_array || spot->type == JFR_NONE || part->index == JFR_NONE)
        return false;
    if (part->by_index) {
        spot->is_array = false;
        return true;
    }
    spot->field = &types[spot->type].fields[part->index];
    spot->index = part->index;
    spot->type = spot->field->type;
    spot->is_array = spot->field->is_array;
    return true;
}

int jfr_variant_field(jfr_chunk *chunk, const jfr_variant *from, uint32_t index, jfr_variant *out,
                      jfr_error *err)
{
    if (from->kind != JFR_VARIANT_STRUCT || chunk->generic == NULL ||
        index >= chunk->generic->types[from->type].field_count)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "The value has no field %u.", index);
    const jfr_field *fields = chunk->generic->types[from->type].fields;
    jfr__cursor c = jfr__variant_cursor(chunk, from);
    for (uint32_t i = 0; i < index; i++) {
        int rc = jfr__skip_value(chunk, &fields[i], false, &c, err);
        if (rc < 0)
            return rc;
    }
    return jfr__variant_read(chunk, &fields[index], false, &c, &chunk->scratch, out, err);
}

int jfr_variant_element(jfr_chunk *chunk, const jfr_variant *from, uint32_t index, jfr_variant *out,
                        jfr_error *err)
{
    if (from->kind != JFR_VARIANT_ARRAY || index >= from->count || chunk->generic == NULL)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "The value has no element %u.", index);
    jfr__cursor c = jfr__variant_cursor(chunk, from);
    for (uint32_t i = 0; i < index; i++) {
        int rc = jfr__skip_value(chunk, from->elements, true, &c, err);
        if (rc < 0)
            return rc;
    }
    return jfr__variant_read(chunk, from->elements, true, &c, &chunk->scratch, out, err);
}

/* Follows one part of a path. */
static int go_on(jfr_chunk *chunk, const jfr__part *part, const jfr__spot *spot, jfr_variant *at,
                 jfr_error *err)
{
    const jfr_variant from = *at;
    *at = (jfr_variant){.type = spot->type, .constant = JFR_NONE};
    if (from.kind == JFR_VARIANT_STRUCT)
        return jfr_variant_field(chunk, &from, spot->index, at, err);
    if (from.kind == JFR_VARIANT_ARRAY && part->index < from.count)
        return jfr_variant_element(chunk, &from, part->index, at, err);
    return 0;
}

int jfr_variant_path(jfr_chunk *chunk, const jfr_variant *root, const char *path, jfr_variant *out,
                     jfr_error *err)
{
    jfr__generic *g = NULL;
    int rc = jfr__generic_get(chunk, &g, err);
    jfr__spot spot = {.type = root->type, .is_array = root->kind == JFR_VARIANT_ARRAY};
    jfr_variant at = *root;
    jfr__part part;
    if (rc < 0)
        return rc;
    while ((rc = jfr__path_next(g->types, &spot, &path, &part, err)) == 1) {
        if (!jfr__spot_step(g->types, &spot, &part))
            return 0;
        rc = go_on(chunk, &part, &spot, &at, err);
        if (rc < 0)
            return rc;
    }
    *out = at;
    return rc < 0 ? rc : 1;
}
