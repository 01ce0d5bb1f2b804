/* SPDX-License-Identifier: Apache-2.0 */
#include "metadata/metadata_impl.h"

#include "error_impl.h"
#include "read/text_impl.h"

#include <inttypes.h>
#include <jfr/sample.h>
#include <stdlib.h>
#include <string.h>

/*
 * The metadata event: size, type 0, start, duration, metadata id, a table of strings, and a tree of
 * elements "root" > ("metadata" > "class"* > ("field" | "setting" | "annotation")*, "region"). An
 * element is: name, number of attributes, their (key, value) pairs, number of children, the
 * children; names, keys and values are indices into the string table (JDK
 * jdk.jfr.internal.MetadataReader).
 */
struct reader {
    jfr__metadata *meta;
    jfr__cursor *c;
    const jfr_options *limits;
    jfr_error *err;
    uint32_t string_count;
    uint32_t elements; /* elements and attributes so far */
};

/* The attributes of one element that the library uses. */
struct attributes {
    jfr_str name;
    jfr_str super_name;
    uint64_t id;
    uint64_t class_id;
    int64_t utc_offset_ms; /* attribute of "region" */
    bool constant_pool;
    bool array;
    bool simple;
};

bool jfr__str_is(jfr_str s, const char *text)
{
    return s.data != NULL && s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}

bool jfr__str_starts(jfr_str s, const char *prefix)
{
    size_t len = strlen(prefix);
    return s.data != NULL && s.len >= len && memcmp(s.data, prefix, len) == 0;
}

void jfr__metadata_init(jfr__metadata *meta, const jfr_allocator *alloc, uint64_t max_bytes)
{
    *meta = (jfr__metadata){.type_count = 0};
    jfr__idmap_init(&meta->by_id, alloc);
    jfr__arena_init(&meta->arena, alloc, max_bytes);
}

void jfr__metadata_free(jfr__metadata *meta)
{
    const jfr_allocator *alloc = meta->by_id.alloc;
    if (meta->types != NULL)
        alloc->free(alloc->ctx, meta->types);
    if (meta->fields != NULL)
        alloc->free(alloc->ctx, meta->fields);
    if (meta->annotations != NULL)
        alloc->free(alloc->ctx, meta->annotations);
    if (meta->attributes != NULL)
        alloc->free(alloc->ctx, meta->attributes);
    jfr__idmap_free(&meta->by_id);
    jfr__arena_free(&meta->arena);
}

void jfr__metadata_forget(jfr__metadata *meta)
{
    meta->body = NULL;
}

static int damaged(const struct reader *r, const char *what)
{
    return jfr__fail(r->err, JFR_ERR_FORMAT, jfr__cursor_offset(r->c),
                     "The chunk's metadata is damaged at this offset: %s.", what);
}

static int over_limit(const struct reader *r, const char *field, uint32_t limit)
{
    return jfr__fail(r->err, JFR_ERR_LIMIT, jfr__cursor_offset(r->c),
                     "The chunk's metadata passes %s (%" PRIu32 ").", field, limit);
}

static int read_strings(struct reader *r)
{
    uint32_t count = jfr__read_count(r->c);
    if (r->c->failed || count > jfr__cursor_left(r->c))
        return damaged(r, "more strings than bytes");
    if (count > r->limits->max_metadata_elements)
        return over_limit(r, "max_metadata_elements", r->limits->max_metadata_elements);
    jfr__arena *arena = &r->meta->arena;
    r->meta->strings = jfr__arena_zalloc(arena, count, sizeof(*r->meta->strings));
    if (r->meta->strings == NULL)
        return jfr__arena_fail(arena, r->err);
    for (; r->string_count < count; r->string_count++) {
        uint64_t pool_key;
        int rc = jfr__read_string(r->c, arena, r->limits->max_string_bytes,
                                  &r->meta->strings[r->string_count], &pool_key, r->err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Reads the index of a string. Returns JFR_NONE, with the cursor failed, when there is no such
 * string. */
static uint32_t read_index(struct reader *r)
{
    uint32_t index = jfr__read_count(r->c);
    if (index < r->string_count)
        return index;
    r->c->failed = true;
    return JFR_NONE;
}

static jfr_str string_at(const struct reader *r, uint32_t index)
{
    return index != JFR_NONE ? r->meta->strings[index] : (jfr_str){NULL, 0};
}

static uint64_t parse_id(jfr_str s)
{
    uint64_t value = 0;
    for (size_t i = 0; i < s.len && s.data[i] >= '0' && s.data[i] <= '9'; i++)
        value = value * 10 + (uint64_t)(s.data[i] - '0');
    return value;
}

static int64_t parse_signed(jfr_str s)
{
    if (s.len == 0 || s.data[0] != '-')
        return (int64_t)(parse_id(s) & INT32_MAX);
    return -(int64_t)(parse_id((jfr_str){s.data + 1, s.len - 1}) & INT32_MAX);
}

static void take_attribute(struct attributes *out, jfr_str key, jfr_str value)
{
    if (jfr__str_is(key, "name"))
        out->name = value;
    else if (jfr__str_is(key, "id"))
        out->id = parse_id(value);
    else if (jfr__str_is(key, "class"))
        out->class_id = parse_id(value);
    else if (jfr__str_is(key, "superType"))
        out->super_name = value;
    else if (jfr__str_is(key, "constantPool"))
        out->constant_pool = jfr__str_is(value, "true");
    else if (jfr__str_is(key, "simpleType"))
        out->simple = jfr__str_is(value, "true");
    else if (jfr__str_is(key, "dimension"))
        out->array = jfr__str_is(value, "1");
    else if (jfr__str_is(key, "gmtOffset") || jfr__str_is(key, "dst"))
        out->utc_offset_ms += parse_signed(value);
}

static int keep_attribute(struct reader *r, uint32_t key, uint32_t value)
{
    jfr__metadata *m = r->meta;
    void *list = m->attributes;
    if (jfr__grow(m->by_id.alloc, &list, &m->attribute_cap, m->attribute_count + 1,
                  sizeof(*m->attributes)) < 0)
        return jfr__fail_nomem(r->err);
    m->attributes = list;
    m->attributes[m->attribute_count++] = (jfr__attribute){key, value};
    return 0;
}

/*
 * Reads the attributes of an element. `keep`: keep all of them, because they are an annotation's.
 */
static int read_attributes(struct reader *r, struct attributes *out, bool keep)
{
    *out = (struct attributes){.id = 0};
    uint32_t count = jfr__read_count(r->c);
    for (uint32_t i = 0; i < count && !r->c->failed; i++) {
        if (++r->elements > r->limits->max_metadata_elements)
            return over_limit(r, "max_metadata_elements", r->limits->max_metadata_elements);
        uint32_t key_index = read_index(r);
        uint32_t value = read_index(r);
        jfr_str key = string_at(r, key_index);
        take_attribute(out, key, string_at(r, value));
        int rc = keep && !jfr__str_is(key, "class") ? keep_attribute(r, key_index, value) : 0;
        if (rc < 0)
            return rc;
    }
    return r->c->failed ? damaged(r, "an attribute is no index into the strings") : 0;
}

static jfr__shape shape_of(jfr_str name)
{
    static const char *const names[] = {
        [JFR__BOOLEAN] = "boolean", [JFR__BYTE] = "byte",     [JFR__CHAR] = "char",
        [JFR__SHORT] = "short",     [JFR__INT] = "int",       [JFR__LONG] = "long",
        [JFR__FLOAT] = "float",     [JFR__DOUBLE] = "double", [JFR__STRING] = "java.lang.String",
    };
    for (int shape = JFR__BOOLEAN; shape <= JFR__STRING; shape++) {
        if (jfr__str_is(name, names[shape]))
            return (jfr__shape)shape;
    }
    return JFR__STRUCT;
}

static int add_type(struct reader *r, const struct attributes *a)
{
    jfr__metadata *m = r->meta;
    void *types = m->types;
    if (jfr__grow(m->by_id.alloc, &types, &m->type_cap, m->type_count + 1, sizeof(*m->types)) < 0)
        return jfr__fail_nomem(r->err);
    m->types = types;
    uint32_t index = jfr__idmap_put(&m->by_id, a->id);
    if (index == JFR_NONE)
        return jfr__fail_nomem(r->err);
    if (index != m->type_count)
        return damaged(r, "two types have one id");
    m->types[m->type_count++] = (jfr__type){
        .id = a->id,
        .name = a->name,
        .super_name = a->super_name,
        .shape = shape_of(a->name),
        .simple = a->simple,
        .last_annotation = JFR_NONE,
        .first_field = (uint32_t)m->field_count,
    };
    return 0;
}

static int add_field(struct reader *r, const struct attributes *a)
{
    jfr__metadata *m = r->meta;
    if (m->type_count == 0)
        return damaged(r, "a field outside of a type");
    void *fields = m->fields;
    if (jfr__grow(m->by_id.alloc, &fields, &m->field_cap, m->field_count + 1, sizeof(*m->fields)) <
        0)
        return jfr__fail_nomem(r->err);
    m->fields = fields;
    m->fields[m->field_count++] = (jfr__field){
        .name = a->name,
        .type_id = a->class_id,
        .constant_pool = a->constant_pool,
        .array = a->array,
        .last_annotation = JFR_NONE,
    };
    m->types[m->type_count - 1].field_count++;
    return 0;
}

/* Returns the list for an annotation, by its parent. The annotation of a setting or of an unknown
 * element has none: it is skipped, with its attributes. */
static uint32_t *annotation_list(const jfr__metadata *m, jfr_str parent)
{
    if (jfr__str_is(parent, "field") && m->field_count > 0)
        return &m->fields[m->field_count - 1].last_annotation;
    if (jfr__str_is(parent, "class") && m->type_count > 0)
        return &m->types[m->type_count - 1].last_annotation;
    return NULL;
}

static int add_annotation(struct reader *r, const struct attributes *a, jfr_str parent,
                          size_t first_attribute)
{
    jfr__metadata *m = r->meta;
    uint32_t *last = annotation_list(m, parent);
    if (last == NULL) {
        m->attribute_count = first_attribute;
        return 0;
    }
    void *list = m->annotations;
    if (jfr__grow(m->by_id.alloc, &list, &m->annotation_cap, m->annotation_count + 1,
                  sizeof(*m->annotations)) < 0)
        return jfr__fail_nomem(r->err);
    m->annotations = list;
    m->annotations[m->annotation_count] = (jfr__annotation){
        .class_id = a->class_id,
        .before = *last,
        .first_attribute = (uint32_t)first_attribute,
        .attribute_count = (uint32_t)(m->attribute_count - first_attribute),
    };
    *last = (uint32_t)m->annotation_count++;
    return 0;
}

static int read_element(struct reader *r, uint32_t depth, jfr_str parent)
{
    if (depth > r->limits->max_metadata_depth)
        return over_limit(r, "max_metadata_depth", r->limits->max_metadata_depth);
    if (++r->elements > r->limits->max_metadata_elements)
        return over_limit(r, "max_metadata_elements", r->limits->max_metadata_elements);
    jfr_str name = string_at(r, read_index(r));
    size_t first_attribute = r->meta->attribute_count;
    struct attributes attributes;
    int rc = read_attributes(r, &attributes, jfr__str_is(name, "annotation"));
    if (rc == 0 && jfr__str_is(name, "class"))
        rc = add_type(r, &attributes);
    else if (rc == 0 && jfr__str_is(name, "field"))
        rc = add_field(r, &attributes);
    else if (rc == 0 && jfr__str_is(name, "annotation"))
        rc = add_annotation(r, &attributes, parent, first_attribute);
    else if (rc == 0 && jfr__str_is(name, "region"))
        r->meta->utc_offset_s = (int32_t)(attributes.utc_offset_ms / 1000);
    uint32_t children = rc == 0 ? jfr__read_count(r->c) : 0;
    if (rc == 0 && r->c->failed)
        rc = damaged(r, "it ends inside an element");
    for (uint32_t i = 0; rc == 0 && i < children; i++)
        rc = read_element(r, depth + 1, name);
    return rc;
}

static jfr__unit unit_of(jfr_str value)
{
    if (jfr__str_is(value, "TICKS"))
        return JFR__UNIT_TICKS;
    if (jfr__str_is(value, "NANOSECONDS"))
        return JFR__UNIT_NANOS;
    return jfr__str_is(value, "MILLISECONDS") ? JFR__UNIT_MILLIS : JFR__UNIT_NONE;
}

/* Returns the text of an annotation with a single value ("value"), or the first text of an array.
 */
static jfr_str only_value(const jfr__metadata *m, const jfr__annotation *a)
{
    for (uint32_t i = 0; i < a->attribute_count; i++) {
        const jfr__attribute *t = &m->attributes[a->first_attribute + i];
        jfr_str name = m->strings[t->name];
        if (jfr__str_is(name, "value") || jfr__str_is(name, "value-0"))
            return m->strings[t->text];
    }
    return (jfr_str){NULL, 0};
}

static const jfr__annotation *find_annotation(const jfr__metadata *m, uint32_t last,
                                              const char *class_name)
{
    for (; last != JFR_NONE; last = m->annotations[last].before) {
        const jfr__annotation *a = &m->annotations[last];
        if (a->type != JFR_NONE && jfr__str_is(m->types[a->type].name, class_name))
            return a;
    }
    return NULL;
}

static void resolve(struct reader *r)
{
    jfr__metadata *m = r->meta;
    jfr__idmap_finish(&m->by_id);
    for (size_t i = 0; i < m->annotation_count; i++)
        m->annotations[i].type = jfr__idmap_find(&m->by_id, m->annotations[i].class_id);
    for (size_t i = 0; i < m->field_count; i++) {
        jfr__field *f = &m->fields[i];
        f->type = jfr__idmap_find(&m->by_id, f->type_id);
        const jfr__annotation *span = find_annotation(m, f->last_annotation, "jdk.jfr.Timespan");
        f->unit = span != NULL ? unit_of(only_value(m, span)) : JFR__UNIT_NONE;
    }
    for (size_t i = 0; i < m->type_count; i++) {
        jfr__type *t = &m->types[i];
        const jfr__annotation *label = find_annotation(m, t->last_annotation, "jdk.jfr.Label");
        t->label = label != NULL ? only_value(m, label) : (jfr_str){NULL, 0};
    }
}

/* Returns whether the bytes at the cursor equal those that `meta` was read from. */
static bool is_known(const jfr__metadata *meta, const jfr__cursor *c)
{
    return meta->body != NULL && meta->body_compressed == c->compressed &&
           meta->body_size == jfr__cursor_left(c) &&
           memcmp(meta->body, c->pos, meta->body_size) == 0;
}

static int read_body(struct reader *r)
{
    jfr__metadata *meta = r->meta;
    jfr__arena_reset(&meta->arena);
    jfr__idmap_clear(&meta->by_id);
    meta->type_count = 0;
    meta->field_count = 0;
    meta->annotation_count = 0;
    meta->attribute_count = 0;
    meta->utc_offset_s = 0;
    int rc = read_strings(r);
    if (rc == 0)
        rc = read_element(r, 1, (jfr_str){NULL, 0});
    if (rc == 0)
        resolve(r);
    return rc;
}

int jfr__metadata_read(jfr__metadata *meta, jfr__cursor *c, const jfr_options *limits,
                       jfr_error *err)
{
    struct reader r = {.meta = meta, .c = c, .limits = limits, .err = err};
    uint64_t at = jfr__cursor_offset(c);
    uint32_t size = jfr__read_count(c);
    uint64_t type = jfr__read_long(c);
    (void)jfr__read_long(c); /* start */
    (void)jfr__read_long(c); /* duration */
    (void)jfr__read_long(c); /* id: changes when the types do */
    uint64_t end = at + size;
    if (c->failed || type != 0 || end < jfr__cursor_offset(c) || end > (uint64_t)(c->end - c->base))
        return damaged(&r, "this is no metadata event");
    c->end = c->base + end;
    if (is_known(meta, c))
        return 0;
    const uint8_t *body = c->pos;
    meta->body = NULL;
    int rc = read_body(&r);
    if (rc < 0)
        return rc;
    meta->body = body;
    meta->body_size = (size_t)(c->end - body);
    meta->body_compressed = c->compressed;
    return 0;
}

const jfr__type *jfr__metadata_type(const jfr__metadata *meta, uint64_t id)
{
    uint32_t index = jfr__idmap_find(&meta->by_id, id);
    return index == JFR_NONE ? NULL : &meta->types[index];
}

const jfr__type *jfr__metadata_named(const jfr__metadata *meta, const char *name)
{
    for (size_t i = 0; i < meta->type_count; i++) {
        if (jfr__str_is(meta->types[i].name, name))
            return &meta->types[i];
    }
    return NULL;
}
