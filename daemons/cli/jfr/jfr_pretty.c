/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/jfr/jfr_pretty.h"

#include <math.h>
#include <stdlib.h>

#include "cli/jfr/jfr_names.h"
#include "cli/jfr/jfr_times.h"
#include "cli/jfr/jfr_units.h"

/* The depth of nested structs, and the values of an event, that are shown: constants may refer to
 * each other without end. */
enum { MAX_DEPTH = 32, MAX_VALUES = 1000000 };

struct jfr_pretty {
    text *out;
    uint32_t stack_depth;
    jfr_chunk *chunk;
    const jfr_type *types;
    uint32_t depth; /* of indentation */
    uint32_t values_left;
    jfr_error *err;
};

jfr_pretty *jfr_pretty_new(text *out, uint32_t stack_depth)
{
    jfr_pretty *p = calloc(1, sizeof(*p));
    if (p != NULL)
        *p = (jfr_pretty){.out = out, .stack_depth = stack_depth};
    return p;
}

void jfr_pretty_free(jfr_pretty *pretty)
{
    free(pretty);
}

int jfr_pretty_begin_chunk(jfr_pretty *p, jfr_chunk *chunk, jfr_error *err)
{
    uint32_t count;
    p->chunk = chunk;
    return jfr_chunk_types(chunk, &p->types, &count, err);
}

static int show(jfr_pretty *p, const jfr_field *field, const jfr_variant *value);

static void line(jfr_pretty *p, const char *s)
{
    text_string(p->out, s);
    text_char(p->out, '\n');
}

static void indent(jfr_pretty *p)
{
    text_spaces(p->out, (size_t)p->depth * 2);
}

static uint8_t kind_of(const jfr_pretty *p, const jfr_variant *v)
{
    return v->type != JFR_NONE ? p->types[v->type].kind : JFR_KIND_STRUCT;
}

/* Whether the number is the least of its type, which means "none", except for bytes, shorts and
 * unsigned types. */
static bool is_least(const jfr_pretty *p, const jfr_field *field, const jfr_variant *v)
{
    bool is_int = kind_of(p, v) == JFR_KIND_INT && field->unit == JFR_UNIT_NONE;
    return v->integer == INT64_MIN || (is_int && !v->is_unsigned && v->integer == INT32_MIN);
}

/* Whether the value is the one by which a recording says "none". */
static bool is_none(const jfr_pretty *p, const jfr_field *field, const jfr_variant *v)
{
    bool is_number = v->kind == JFR_VARIANT_FLOAT || v->kind == JFR_VARIANT_DOUBLE;
    if (is_number)
        return isnan(v->number) || v->number == -INFINITY;
    return v->kind == JFR_VARIANT_NULL || v->kind == JFR_VARIANT_CUT ||
           (v->kind == JFR_VARIANT_INTEGER && is_least(p, field, v));
}

static void show_time(jfr_pretty *p, const jfr_field *field, const jfr_variant *value)
{
    const jfr_chunk_info *info = jfr_chunk_get_info(p->chunk);
    jfr_moment m = jfr_times_of(info, field, value->integer);
    if (jfr_unit_is_time(field->unit))
        units_time(p->out, m, info->utc_offset_s);
    else if (value->integer == INT64_MAX)
        text_string(p->out, "Forever");
    else
        units_duration(p->out, m);
}

/* Writes a unit of UTF-16 as UTF-8. Half of a surrogate pair is not a character. */
static void show_char(jfr_pretty *p, uint16_t unit)
{
    const char last = (char)(0x80 | (unit & 0x3F));
    const char one[] = {(char)unit};
    const char two[] = {(char)(0xC0 | unit >> 6), last};
    const char three[] = {(char)(0xE0 | unit >> 12), (char)(0x80 | (unit >> 6 & 0x3F)), last};
    if (unit >= 0xD800 && unit < 0xE000)
        text_char(p->out, '?');
    else if (unit >= 0x800)
        names_text_bare(p->out, (jfr_str){three, sizeof(three)});
    else if (unit >= 0x80)
        names_text_bare(p->out, (jfr_str){two, sizeof(two)});
    else
        names_text_bare(p->out, (jfr_str){one, sizeof(one)});
}

static void show_plain(jfr_pretty *p, const jfr_variant *v)
{
    switch (v->kind) {
    case JFR_VARIANT_BOOLEAN:
        text_string(p->out, v->integer ? "true" : "false");
        return;
    case JFR_VARIANT_FLOAT:
        text_float(p->out, (float)v->number);
        return;
    case JFR_VARIANT_DOUBLE:
        text_double(p->out, v->number);
        return;
    case JFR_VARIANT_STRING:
        names_text(p->out, v->text);
        return;
    default:
        if (kind_of(p, v) == JFR_KIND_CHAR)
            show_char(p, (uint16_t)v->integer);
        else if (v->is_unsigned)
            text_u64(p->out, (uint64_t)v->integer);
        else
            text_i64(p->out, v->integer);
    }
}

static void show_scalar(jfr_pretty *p, const jfr_field *field, const jfr_variant *value)
{
    if (is_none(p, field, value))
        text_string(p->out, "N/A");
    else if (field->unit != JFR_UNIT_NONE && !field->is_array)
        show_time(p, field, value);
    else if (!units_content(p->out, field, value))
        show_plain(p, value);
    text_char(p->out, '\n');
}

static int show_struct(jfr_pretty *p, const jfr_variant *value)
{
    const jfr_type *type = &p->types[value->type];
    int rc = 0;
    line(p, "{");
    p->depth++;
    for (uint32_t i = 0; rc == 0 && i < type->field_count; i++) {
        jfr_variant field;
        rc = jfr_variant_field(p->chunk, value, i, &field, p->err);
        indent(p);
        names_text_bare(p->out, type->fields[i].name);
        text_string(p->out, " = ");
        if (rc == 0)
            rc = show(p, &type->fields[i], &field);
    }
    p->depth--;
    indent(p);
    line(p, "}");
    return rc;
}

static int show_array(jfr_pretty *p, const jfr_field *field, const jfr_variant *value)
{
    int rc = 0;
    line(p, "[");
    p->depth++;
    for (uint32_t i = 0; rc == 0 && i < value->count; i++) {
        jfr_variant element;
        rc = jfr_variant_element(p->chunk, value, i, &element, p->err);
        indent(p);
        if (rc == 0)
            rc = show(p, field, &element);
    }
    p->depth--;
    indent(p);
    line(p, "]");
    return rc;
}

static int show(jfr_pretty *p, const jfr_field *field, const jfr_variant *value)
{
    p->values_left -= p->values_left > 0;
    if (value->kind == JFR_VARIANT_ARRAY)
        return show_array(p, field, value);
    if (value->kind != JFR_VARIANT_STRUCT) {
        show_scalar(p, field, value);
        return 0;
    }
    int rc = names_put(p->out, p->chunk, &p->types[value->type], value, p->err);
    if (rc == 0 && p->depth < MAX_DEPTH && p->values_left > 0)
        return show_struct(p, value);
    line(p, rc == 0 ? "..." : "");
    return rc < 0 ? rc : 0;
}

/* Writes frames without those that are hidden or not Java, as the JDK does. */
static int show_frames(jfr_pretty *p, const jfr_variant *frames, bool truncated)
{
    uint32_t shown = 0;
    uint32_t i = 0;
    for (; i < frames->count && shown < p->stack_depth; i++) {
        jfr_variant frame;
        size_t start = p->out->len;
        int rc = jfr_variant_element(p->chunk, frames, i, &frame, p->err);
        indent(p);
        if (rc == 0)
            rc = names_put_frame(p->out, p->chunk, &frame, p->err);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            p->out->len = start;
            continue;
        }
        text_char(p->out, '\n');
        shown++;
    }
    if (truncated || i == p->stack_depth) {
        indent(p);
        line(p, "...");
    }
    return 0;
}

static int show_stack(jfr_pretty *p, const jfr_variant *stack)
{
    jfr_variant frames = {.kind = JFR_VARIANT_NULL};
    jfr_variant truncated = {.kind = JFR_VARIANT_NULL};
    int rc = jfr_variant_path(p->chunk, stack, "frames", &frames, p->err);
    if (rc >= 0)
        rc = jfr_variant_path(p->chunk, stack, "truncated", &truncated, p->err);
    if (rc < 0)
        return rc;
    line(p, "[");
    p->depth++;
    bool cut = truncated.kind == JFR_VARIANT_BOOLEAN && truncated.integer != 0;
    rc = frames.kind == JFR_VARIANT_ARRAY ? show_frames(p, &frames, cut) : 0;
    p->depth--;
    indent(p);
    line(p, "]");
    return rc;
}

static bool is_called(const jfr_field *field, const char *name)
{
    return field->name.len == strlen(name) && memcmp(field->name.data, name, field->name.len) == 0;
}

/* The thread and the stack are shown last, in this order whatever the type's order is, and only if
 * the event has them. */
static const char *const late[] = {"eventThread", "stackTrace"};
enum { THREAD, STACK, LATE };

static int show_field(jfr_pretty *p, const jfr_event *event, uint32_t index, bool is_late)
{
    const jfr_field *field = &event->type->fields[index];
    jfr_variant value;
    int rc = jfr_variant_field(p->chunk, &event->value, index, &value, p->err);
    bool none = is_late ? value.kind != JFR_VARIANT_STRUCT
                        : is_called(field, "duration") && value.kind == JFR_VARIANT_INTEGER &&
                              value.integer == 0;
    if (rc < 0 || none)
        return rc;
    indent(p);
    names_text_bare(p->out, field->name);
    text_string(p->out, " = ");
    return is_called(field, late[STACK]) ? show_stack(p, &value) : show(p, field, &value);
}

static int show_fields(jfr_pretty *p, const jfr_event *event)
{
    uint32_t last[LATE] = {JFR_NONE, JFR_NONE};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < event->type->field_count; i++) {
        const jfr_field *field = &event->type->fields[i];
        if (is_called(field, late[THREAD]))
            last[THREAD] = i;
        else if (is_called(field, late[STACK]))
            last[STACK] = i;
        else
            rc = show_field(p, event, i, false);
    }
    for (int i = 0; rc == 0 && i < LATE; i++) {
        if (last[i] != JFR_NONE)
            rc = show_field(p, event, last[i], true);
    }
    return rc;
}

int jfr_pretty_event(jfr_pretty *p, const jfr_event *event, jfr_error *err)
{
    size_t start = p->out->len;
    p->err = err;
    p->depth = 1;
    p->values_left = MAX_VALUES;
    names_text_bare(p->out, event->type->name);
    line(p, " {");
    int rc = show_fields(p, event);
    line(p, "}\n");
    if (rc < 0)
        p->out->len = start;
    return rc;
}
