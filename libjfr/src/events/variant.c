/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "events/generic_impl.h"
#include "events/values_impl.h"
#include "read/text_impl.h"

#include <string.h>

int jfr__bad_value(uint64_t offset, jfr_error *err)
{
    return jfr__fail(err, JFR_ERR_FORMAT, offset,
                     "The bytes at this offset do not fit the type that the metadata gives them.");
}

static int64_t widen(uint64_t raw, unsigned width, bool is_unsigned)
{
    unsigned shift = 64 - 8 * width;
    return is_unsigned ? (int64_t)(raw << shift >> shift) : (int64_t)(raw << shift) >> shift;
}

static uint64_t read_integer(jfr__cursor *c, unsigned width)
{
    return c->compressed && width > 1 ? jfr__varint(c) : jfr__read_be(c, width);
}

static double float_of(uint64_t raw)
{
    uint32_t bits = (uint32_t)raw;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return (double)value;
}

static double double_of(uint64_t raw)
{
    double value;
    memcpy(&value, &raw, sizeof(value));
    return value;
}

static void read_number(jfr__cursor *c, uint8_t kind, bool is_unsigned, jfr_variant *out)
{
    static const uint8_t widths[] = {
        [JFR_KIND_BYTE] = 1, [JFR_KIND_SHORT] = 2, [JFR_KIND_INT] = 4, [JFR_KIND_LONG] = 8};
    switch (kind) {
    case JFR_KIND_BOOLEAN:
        out->kind = JFR_VARIANT_BOOLEAN;
        out->integer = jfr__read_u8(c) != 0;
        return;
    case JFR_KIND_CHAR:
        out->kind = JFR_VARIANT_CHAR;
        out->integer = widen(read_integer(c, 2), 2, true);
        return;
    case JFR_KIND_FLOAT:
        out->kind = JFR_VARIANT_FLOAT;
        out->number = float_of(jfr__read_be(c, 4));
        return;
    case JFR_KIND_DOUBLE:
        out->kind = JFR_VARIANT_DOUBLE;
        out->number = double_of(jfr__read_be(c, 8));
        return;
    default:
        out->kind = JFR_VARIANT_INTEGER;
        out->is_unsigned = is_unsigned;
        out->integer = widen(read_integer(c, widths[kind]), widths[kind], is_unsigned);
    }
}

/* Reads the text of a constant. A text that is kept as long as the chunk is converted only once. */
static int read_constant_text(jfr_chunk *chunk, uint64_t offset, jfr__arena *arena, jfr_str *out,
                              jfr_error *err)
{
    const bool stays = arena == &chunk->arena;
    uint64_t key;
    if (stays && jfr__kept_find(chunk, jfr__kept_text(offset), out))
        return 0;
    jfr__cursor c = jfr__chunk_cursor(chunk, offset, chunk->end);
    int rc = jfr__read_string(&c, arena, chunk->file->options.max_string_bytes, out, &key, err);
    if (rc < 0 || !stays)
        return rc < 0 ? rc : 0;
    return jfr__kept_put(chunk, jfr__kept_text(offset), *out, err);
}

/* Reads a string. It may be a reference into the pool of its type, where strings are no references.
 */
static int read_text(jfr_chunk *chunk, uint32_t type, jfr__cursor *c, jfr__arena *arena,
                     jfr_variant *out, jfr_error *err)
{
    uint64_t limit = chunk->file->options.max_string_bytes;
    uint64_t key = 0;
    int rc = jfr__read_string(c, arena, limit, &out->text, &key, err);
    if (rc == JFR__POOL) {
        uint32_t index;
        uint64_t offset = 0;
        rc = jfr__constant_find(chunk, type, key, &index, &offset, err);
        if (rc == 1) {
            out->type = type;
            out->constant = index;
            rc = read_constant_text(chunk, offset, arena, &out->text, err);
        }
    }
    if (rc < 0)
        return rc;
    out->kind = out->text.data != NULL ? JFR_VARIANT_STRING : JFR_VARIANT_NULL;
    return 0;
}

/* A value to read: its type and its cursor. */
struct reading {
    jfr_chunk *chunk;
    jfr__cursor *c;
    jfr__cursor entry; /* the constant's cursor; `c` points to it once a constant is entered */
    jfr__arena *arena;
    bool is_unsigned;
};

/* Follows a reference. Returns 1 when the constant is missing. */
static int enter_constant(struct reading *r, uint32_t type, jfr_variant *out, jfr_error *err)
{
    uint64_t at = jfr__cursor_offset(r->c);
    uint64_t id = jfr__read_long(r->c);
    if (r->c->failed)
        return jfr__bad_value(at, err);
    uint64_t offset = 0;
    uint32_t index = JFR_NONE;
    int rc = type != JFR_NONE ? jfr__constant_find(r->chunk, type, id, &index, &offset, err) : 0;
    if (rc < 0)
        return rc;
    if (rc == 0)
        return 1;
    out->type = type;
    out->constant = index;
    r->entry = jfr__chunk_cursor(r->chunk, offset, r->chunk->end);
    r->c = &r->entry;
    return 0;
}

static int read_array(struct reading *r, const jfr_field *field, jfr_variant *out, jfr_error *err)
{
    uint64_t at = jfr__cursor_offset(r->c);
    out->kind = JFR_VARIANT_ARRAY;
    out->type = field->type;
    out->count = jfr__read_count(r->c);
    out->offset = jfr__cursor_offset(r->c);
    out->end = (uint64_t)(r->c->end - r->c->base);
    out->elements = field;
    return r->c->failed ? jfr__bad_value(at, err) : 0;
}

/* Reads the value at the cursor as that type, which is not simple. */
static int read_plain(struct reading *r, uint32_t type, jfr_variant *out, jfr_error *err)
{
    uint64_t at = jfr__cursor_offset(r->c);
    uint8_t kind = r->chunk->generic->types[type].kind;
    if (kind == JFR_KIND_STRING)
        return read_text(r->chunk, type, r->c, r->arena, out, err);
    if (kind == JFR_KIND_STRUCT) {
        out->kind = JFR_VARIANT_STRUCT;
        out->offset = at;
        out->end = (uint64_t)(r->c->end - r->c->base);
        return 0;
    }
    read_number(r->c, kind, r->is_unsigned, out);
    return r->c->failed ? jfr__bad_value(at, err) : 0;
}

/*
 * As read_plain, but unwraps simple types (jfr_type.is_simple) down to a number or string. The
 * value has the index of the outermost constant.
 */
static int read_wrapped(struct reading *r, uint32_t type, jfr_variant *out, jfr_error *err)
{
    const jfr_type *types = r->chunk->generic->types;
    jfr_variant inner = *out;
    while (types[type].is_simple) {
        const jfr_field *field = &types[type].fields[0];
        if (field->is_constant) {
            int rc = enter_constant(r, field->type, &inner, err);
            if (rc != 0)
                return rc < 0 ? rc : 0;
        }
        type = field->type;
    }
    int rc = read_plain(r, type, &inner, err);
    if (rc == 0 && out->constant != JFR_NONE) {
        inner.type = out->type;
        inner.constant = out->constant;
    }
    *out = inner;
    return rc;
}

int jfr__variant_read(jfr_chunk *chunk, const jfr_field *field, bool element, jfr__cursor *c,
                      jfr__arena *arena, jfr_variant *out, jfr_error *err)
{
    struct reading r = {.chunk = chunk,
                        .c = c,
                        .arena = arena,
                        .is_unsigned = field->is_unsigned && field->unit < JFR_UNIT_SPAN_TICKS};
    *out = (jfr_variant){.type = field->type, .constant = JFR_NONE};
    if (field->is_array && !element)
        return read_array(&r, field, out, err);
    if (field->is_constant) {
        int rc = enter_constant(&r, field->type, out, err);
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
    if (field->type == JFR_NONE)
        return jfr__bad_value(jfr__cursor_offset(c), err);
    return read_wrapped(&r, field->type, out, err);
}

int jfr__constant_read(jfr_chunk *chunk, uint32_t type, uint32_t index, uint64_t offset,
                       jfr__arena *arena, jfr_variant *out, jfr_error *err)
{
    struct reading r = {.chunk = chunk, .arena = arena};
    r.entry = jfr__chunk_cursor(chunk, offset, chunk->end);
    r.c = &r.entry;
    *out = (jfr_variant){.type = type, .constant = index};
    return read_wrapped(&r, type, out, err);
}

static int64_t times(int64_t value, int64_t factor)
{
    int64_t product;
    if (__builtin_mul_overflow(value, factor, &product))
        return value < 0 ? INT64_MIN : INT64_MAX;
    return product;
}

static bool has_number(const jfr_variant *value)
{
    return (value->kind == JFR_VARIANT_INTEGER || value->kind == JFR_VARIANT_CHAR) &&
           value->integer != INT64_MIN;
}

bool jfr_variant_time_ns(const jfr_chunk_info *clock, const jfr_field *field,
                         const jfr_variant *value, int64_t *out)
{
    if (!has_number(value))
        return false;
    if (field->unit == JFR_UNIT_TIME_TICKS)
        *out = jfr__time_ns(clock, (uint64_t)value->integer);
    else if (field->unit == JFR_UNIT_TIME_MS)
        *out = times(value->integer, 1000000);
    else
        return false;
    return true;
}

bool jfr_variant_span_ns(const jfr_chunk_info *clock, const jfr_field *field,
                         const jfr_variant *value, int64_t *out)
{
    static const int64_t factors[] = {[JFR_UNIT_SPAN_NS] = 1,
                                      [JFR_UNIT_SPAN_US] = 1000,
                                      [JFR_UNIT_SPAN_MS] = 1000000,
                                      [JFR_UNIT_SPAN_S] = 1000000000};
    if (!has_number(value) || field->unit < JFR_UNIT_SPAN_TICKS)
        return false;
    if (value->integer == INT64_MAX) /* forever, in any unit */
        *out = INT64_MAX;
    else
        *out = field->unit == JFR_UNIT_SPAN_TICKS ? jfr__ticks_to_ns(clock, value->integer)
                                                  : times(value->integer, factors[field->unit]);
    return true;
}
