/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "events/generic_impl.h"

#include <string.h>

static jfr_str value_of(const jfr_annotation *a)
{
    for (uint32_t i = 0; a != NULL && i < a->value_count; i++) {
        if (jfr__str_is(a->values[i].name, "value"))
            return a->values[i].text;
    }
    return (jfr_str){NULL, 0};
}

const jfr_annotation *jfr_annotation_find(const jfr_annotation *list, uint32_t count,
                                          const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (jfr__str_is(list[i].name, name))
            return &list[i];
    }
    return NULL;
}

static int fill_annotation(jfr_chunk *chunk, const jfr__annotation *a, jfr_annotation *out,
                           jfr_error *err)
{
    const jfr__metadata *m = &chunk->meta;
    jfr_annotation_value *values =
        jfr__arena_zalloc(&chunk->arena, a->attribute_count, sizeof(*values));
    if (values == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    for (uint32_t i = 0; i < a->attribute_count; i++) {
        const jfr__attribute *from = &m->attributes[a->first_attribute + i];
        values[i] = (jfr_annotation_value){m->strings[from->name], m->strings[from->text]};
    }
    *out = (jfr_annotation){
        .name = a->type != JFR_NONE ? m->types[a->type].name : (jfr_str){NULL, 0},
        .values = values,
        .value_count = a->attribute_count,
    };
    return 0;
}

/* The list runs from the last annotation to the first. */
static int fill_annotations(jfr_chunk *chunk, uint32_t last, const jfr_annotation **out,
                            uint32_t *out_count, jfr_error *err)
{
    const jfr__annotation *all = chunk->meta.annotations;
    uint32_t count = 0;
    for (uint32_t i = last; i != JFR_NONE; i = all[i].before)
        count++;
    jfr_annotation *list = jfr__arena_zalloc(&chunk->arena, count, sizeof(*list));
    if (list == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    *out = list;
    *out_count = count;
    for (uint32_t i = last; i != JFR_NONE; i = all[i].before) {
        int rc = fill_annotation(chunk, &all[i], &list[--count], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

_Static_assert((int)JFR_KIND_LONG == (int)JFR__LONG && (int)JFR_KIND_STRING == (int)JFR__STRING,
               "jfr_kind is the public name of jfr__shape");

/*
 * Returns the kind of a type after unwrapping simple types, which may be nested. A type that claims
 * to be simple but does not wrap a single number or string counts as a struct.
 */
static uint8_t kind_of(const jfr_chunk *chunk, uint32_t type)
{
    const jfr__metadata *m = &chunk->meta;
    for (int depth = 0; type != JFR_NONE && depth <= JFR__MAX_WRAPPED; depth++) {
        const jfr__type *t = &m->types[type];
        if (t->shape != JFR__STRUCT)
            return (uint8_t)t->shape;
        if (!t->simple || t->field_count != 1 || m->fields[t->first_field].array)
            return JFR_KIND_STRUCT;
        type = m->fields[t->first_field].type;
    }
    return JFR_KIND_STRUCT;
}

static uint8_t unit_of(const jfr_field *f)
{
    static const struct {
        const char *annotation;
        const char *value;
        jfr_unit unit;
    } units[] = {
        {"jdk.jfr.Timestamp", "TICKS", JFR_UNIT_TIME_TICKS},
        {"jdk.jfr.Timestamp", "MILLISECONDS_SINCE_EPOCH", JFR_UNIT_TIME_MS},
        {"jdk.jfr.Timespan", "TICKS", JFR_UNIT_SPAN_TICKS},
        {"jdk.jfr.Timespan", "NANOSECONDS", JFR_UNIT_SPAN_NS},
        {"jdk.jfr.Timespan", "MICROSECONDS", JFR_UNIT_SPAN_US},
        {"jdk.jfr.Timespan", "MILLISECONDS", JFR_UNIT_SPAN_MS},
        {"jdk.jfr.Timespan", "SECONDS", JFR_UNIT_SPAN_S},
    };
    if (f->kind < JFR_KIND_BYTE || f->kind > JFR_KIND_LONG)
        return JFR_UNIT_NONE;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        const jfr_annotation *a =
            jfr_annotation_find(f->annotations, f->annotation_count, units[i].annotation);
        if (a != NULL && jfr__str_is(value_of(a), units[i].value))
            return (uint8_t)units[i].unit;
    }
    return JFR_UNIT_NONE;
}

/* Finds a field's content annotation: its class is itself annotated as a content type. */
static void find_content(const jfr__metadata *m, const jfr__generic *g, uint32_t last, jfr_field *f)
{
    uint32_t at = f->annotation_count;
    for (uint32_t i = last; i != JFR_NONE; i = m->annotations[i].before) {
        at--;
        if (m->annotations[i].type == JFR_NONE)
            continue;
        uint32_t type = m->annotations[i].type;
        if (!g->contents[type])
            continue;
        f->content = g->types[type].name;
        f->content_unit = value_of(&f->annotations[at]);
    }
}

static int fill_field(jfr_chunk *chunk, const jfr__generic *g, const jfr__field *from,
                      jfr_field *out, jfr_error *err)
{
    *out = (jfr_field){
        .name = from->name,
        .type = from->type,
        .kind = kind_of(chunk, from->type),
        .is_array = from->array,
        .is_constant = from->constant_pool,
    };
    int rc = fill_annotations(chunk, from->last_annotation, &out->annotations,
                              &out->annotation_count, err);
    if (rc < 0)
        return rc;
    const jfr_annotation *list = out->annotations;
    uint32_t count = out->annotation_count;
    out->label = value_of(jfr_annotation_find(list, count, "jdk.jfr.Label"));
    out->description = value_of(jfr_annotation_find(list, count, "jdk.jfr.Description"));
    out->is_unsigned = jfr_annotation_find(list, count, "jdk.jfr.Unsigned") != NULL;
    out->unit = unit_of(out);
    find_content(&chunk->meta, g, from->last_annotation, out);
    return 0;
}

static int fill_type(jfr_chunk *chunk, uint32_t index, jfr_type *out, jfr_error *err)
{
    const jfr__type *from = &chunk->meta.types[index];
    *out = (jfr_type){
        .id = from->id,
        .index = index,
        .kind = (uint8_t)from->shape,
        .is_event = jfr__str_is(from->super_name, "jdk.jfr.Event"),
        .is_simple = from->shape == JFR__STRUCT && kind_of(chunk, index) != JFR_KIND_STRUCT,
        .name = from->name,
        .super_name = from->super_name,
        .label = from->label,
        .field_count = from->field_count,
    };
    int rc = fill_annotations(chunk, from->last_annotation, &out->annotations,
                              &out->annotation_count, err);
    if (rc == 0)
        out->description = value_of(
            jfr_annotation_find(out->annotations, out->annotation_count, "jdk.jfr.Description"));
    return rc;
}

/* Computed once per type, because there are many annotations. */
static void find_contents(const jfr__generic *g)
{
    for (uint32_t i = 0; i < g->type_count; i++) {
        const jfr_type *t = &g->types[i];
        g->contents[i] =
            jfr_annotation_find(t->annotations, t->annotation_count, "jdk.jfr.ContentType") != NULL;
    }
}

static int fill_fields(jfr_chunk *chunk, jfr__generic *g, jfr_type *type, jfr_error *err)
{
    jfr_field *fields = jfr__arena_zalloc(&chunk->arena, type->field_count, sizeof(*fields));
    if (fields == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    type->fields = fields;
    uint32_t first = chunk->meta.types[type->index].first_field;
    for (uint32_t i = 0; i < type->field_count; i++) {
        int rc = fill_field(chunk, g, &chunk->meta.fields[first + i], &fields[i], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void *arena_alloc(void *ctx, size_t size)
{
    return jfr__arena_alloc(ctx, size);
}

static void *arena_realloc(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    void *next = jfr__arena_alloc(ctx, new_size);
    if (next != NULL && ptr != NULL)
        memcpy(next, ptr, old_size < new_size ? old_size : new_size);
    return next;
}

static void arena_free(void *ctx, void *ptr)
{
    (void)ctx;
    (void)ptr;
}

static int build(jfr_chunk *chunk, jfr__generic *g, jfr_error *err)
{
    jfr__arena *arena = &chunk->arena;
    g->type_count = (uint32_t)chunk->meta.type_count;
    g->types = jfr__arena_zalloc(arena, g->type_count, sizeof(*g->types));
    g->contents = jfr__arena_zalloc(arena, g->type_count, sizeof(*g->contents));
    g->skips = jfr__arena_zalloc(arena, g->type_count, sizeof(*g->skips));
    g->times = jfr__arena_zalloc(arena, g->type_count, sizeof(*g->times));
    if (g->types == NULL || g->contents == NULL || g->skips == NULL || g->times == NULL)
        return jfr__arena_fail(arena, err);
    g->from_arena = (jfr_allocator){arena_alloc, arena_realloc, arena_free, arena};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < g->type_count; i++)
        rc = fill_type(chunk, i, &g->types[i], err);
    if (rc == 0)
        find_contents(g);
    for (uint32_t i = 0; rc == 0 && i < g->type_count; i++)
        rc = fill_fields(chunk, g, &g->types[i], err);
    return rc;
}

int jfr__generic_get(jfr_chunk *chunk, jfr__generic **out, jfr_error *err)
{
    if (chunk->generic == NULL) {
        jfr__generic *g = jfr__arena_zalloc(&chunk->arena, 1, sizeof(*g));
        if (g == NULL)
            return jfr__arena_fail(&chunk->arena, err);
        int rc = build(chunk, g, err);
        if (rc < 0)
            return rc;
        chunk->generic = g;
    }
    *out = chunk->generic;
    return 0;
}

int jfr_chunk_types(jfr_chunk *chunk, const jfr_type **types, uint32_t *count, jfr_error *err)
{
    jfr__generic *g = NULL;
    int rc = jfr__generic_get(chunk, &g, err);
    if (rc < 0)
        return rc;
    *types = g->types;
    *count = g->type_count;
    return 0;
}

int jfr_chunk_find_type(jfr_chunk *chunk, const char *name, const jfr_type **out, jfr_error *err)
{
    jfr__generic *g = NULL;
    int rc = jfr__generic_get(chunk, &g, err);
    for (uint32_t i = 0; rc == 0 && i < g->type_count; i++) {
        if (jfr__str_is(g->types[i].name, name)) {
            *out = &g->types[i];
            return 1;
        }
    }
    return rc;
}

const jfr_field *jfr_type_field(const jfr_type *type, const char *name)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (jfr__str_is(type->fields[i].name, name))
            return &type->fields[i];
    }
    return NULL;
}
