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
    *out = (jfr__part){.name = {NULL, 0}, .index = (uint32_t)index};
    *rest = p + 1;
    return 1;
}

/* A dot stands before every name but the first; the caller's `*rest` then begins with it. */
int jfr__path_next(const char **rest, jfr__part *out, jfr_error *err)
{
    const char *p = *rest;
    if (*p == '\0')
        return 0;
    if (*p == '[')
        return take_index(rest, out, err);
    if (*p == '.')
        p++;
    size_t len = strcspn(p, ".[]");
    if (len == 0 || p[len] == ']')
        return no_path(*rest, err);
    *out = (jfr__part){.name = {p, len}, .index = 0};
    *rest = p + len;
    return 1;
}

static bool is_name(jfr_str s, jfr_str name)
{
    return s.len == name.len && s.data != NULL && memcmp(s.data, name.data, s.len) == 0;
}

bool jfr__spot_step(const jfr_type *types, jfr__spot *spot, const jfr__part *part)
{
    bool by_index = part->name.data == NULL;
    if (by_index != spot->is_array || spot->type == JFR_NONE)
        return false;
    if (by_index) {
        spot->is_array = false;
        return true;
    }
    const jfr_type *type = &types[spot->type];
    if (type->is_simple)
        return false;
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (is_name(type->fields[i].name, part->name)) {
            spot->field = &type->fields[i];
            spot->index = i;
            spot->type = spot->field->type;
            spot->is_array = spot->field->is_array;
            return true;
        }
    }
    return false;
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

/* One part of a path on. */
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
    while ((rc = jfr__path_next(&path, &part, err)) == 1) {
        if (!jfr__spot_step(g->types, &spot, &part))
            return 0;
        rc = go_on(chunk, &part, &spot, &at, err);
        if (rc < 0)
            return rc;
    }
    *out = at;
    return rc < 0 ? rc : 1;
}
