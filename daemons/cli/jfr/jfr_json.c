/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/jfr/jfr_json.h"

#include <math.h>
#include <stdlib.h>

#include "cli/jfr/jfr_times.h"

/* How deep structs may be nested; the JDK's chains of references to old objects have 400 levels. */
enum { MAX_DEPTH = 1024 };

/*
 * Constants (methods, classes, threads) repeat from event to event, so that their text is kept and
 * copied. Whole stack traces are not kept: they are too large, and their methods are kept anyway.
 */
enum { MAX_KEPT_TEXT = 1 << 14, MAX_KEPT_TOTAL = 1 << 26, KEPT_DEPTHS = 24 };

/* A constant's text at one depth of indentation. */
typedef struct kept {
    char *text;
    uint32_t len;
} kept;

/* The text that precedes a field's value: its name, the colon and the blank of the layout. */
typedef struct label {
    const char *text; /* in label_text */
    uint32_t len;
} label;

struct jfr_json {
    text *out;
    jfr_json_layout layout;
    json_style style;
    uint32_t stack_depth;
    jfr_chunk *chunk;
    const jfr_type *types;
    uint32_t type_count;
    kept **tables;    /* by type and depth, then by constant; NULL where nothing is kept yet */
    uint32_t *counts; /* by type: how many constants it has */
    size_t kept_total;
    text label_text;                   /* the labels of all fields of all types */
    label *labels;                     /* of all types, type after type */
    const label **named;               /* by type: its first label */
    const label *within;               /* labels of the struct that is being written */
    const label *outer[MAX_DEPTH + 1]; /* labels of the enclosing structs */
    uint32_t nesting;
    uint32_t depth;             /* of indentation */
    size_t starts[KEPT_DEPTHS]; /* by depth: where the text of the constant begins that is being
                                   written */
};

jfr_json *jfr_json_new(text *out, jfr_json_layout layout, uint32_t stack_depth)
{
    jfr_json *json = calloc(1, sizeof(*json));
    if (json == NULL)
        return NULL;
    json->out = out;
    json->layout = layout;
    json->style = layout == JFR_JSON_JDK ? JSON_ASCII : JSON_UTF8;
    json->stack_depth = stack_depth;
    return json;
}

static void forget_kept(jfr_json *json)
{
    for (size_t i = 0; json->tables != NULL && i < (size_t)json->type_count * KEPT_DEPTHS; i++) {
        kept *table = json->tables[i];
        for (uint32_t k = 0; table != NULL && k < json->counts[i / KEPT_DEPTHS]; k++)
            free(table[k].text);
        free(table);
    }
    free(json->tables);
    free(json->counts);
    json->tables = NULL;
    json->counts = NULL;
    json->kept_total = 0;
}

static void forget(jfr_json *json)
{
    forget_kept(json);
    text_free(&json->label_text);
    free(json->labels);
    free(json->named);
    json->labels = NULL;
    json->named = NULL;
}

void jfr_json_free(jfr_json *json)
{
    if (json == NULL)
        return;
    forget(json);
    free(json);
}

static int no_memory(jfr_error *err)
{
    *err = (jfr_error){.code = JFR_ERR_NOMEM, .message = "There is no memory to print events."};
    return JFR_ERR_NOMEM;
}

/* The buffer of labels moves while it grows: it is filled first, and pointed into afterwards. */
static bool make_labels(jfr_json *json)
{
    size_t fields = 0;
    for (uint32_t i = 0; i < json->type_count; i++)
        fields += json->types[i].field_count;
    json->labels = calloc(fields + 1, sizeof(*json->labels));
    json->named = calloc((size_t)json->type_count + 1, sizeof(const label *));
    if (json->labels == NULL || json->named == NULL)
        return false;
    label *next = json->labels;
    for (uint32_t i = 0; i < json->type_count; i++) {
        json->named[i] = next;
        for (uint32_t k = 0; k < json->types[i].field_count; k++, next++) {
            jfr_str name = json->types[i].fields[k].name;
            size_t start = json->label_text.len;
            text_json(&json->label_text, name.data, name.len, json->style);
            text_bytes(&json->label_text, ": ", json->layout == JFR_JSON_JDK ? 2 : 1);
            next->len = (uint32_t)(json->label_text.len - start);
        }
    }
    const char *at = json->label_text.data;
    for (size_t i = 0; i < fields; at += json->labels[i++].len)
        json->labels[i].text = at;
    return json->label_text.error == 0;
}

int jfr_json_begin_chunk(jfr_json *json, jfr_chunk *chunk, jfr_error *err)
{
    forget(json);
    json->chunk = chunk;
    int rc = jfr_chunk_types(chunk, &json->types, &json->type_count, err);
    if (rc < 0)
        return rc;
    json->tables = calloc((size_t)json->type_count * KEPT_DEPTHS + 1, sizeof(*json->tables));
    json->counts = calloc((size_t)json->type_count + 1, sizeof(*json->counts));
    if (json->tables == NULL || json->counts == NULL || !make_labels(json))
        return no_memory(err);
    for (uint32_t i = 0; rc == 0 && i < json->type_count; i++)
        rc = jfr_chunk_constant_count(chunk, i, &json->counts[i], err);
    return rc;
}

/* ---- layout ---- */

static void put_indent(jfr_json *json)
{
    if (json->layout == JFR_JSON_JDK)
        text_spaces(json->out, (size_t)json->depth * 2);
}

static void put_comma(jfr_json *json, bool between_fields)
{
    if (json->layout == JFR_JSON_LINE)
        text_char(json->out, ',');
    else
        text_bytes(json->out, ", \n", between_fields ? 3 : 2);
}

static void put_name(jfr_json *json, const char *name, size_t len)
{
    put_indent(json);
    text_json(json->out, name, len, json->style);
    text_bytes(json->out, ": ", json->layout == JFR_JSON_JDK ? 2 : 1);
}

static void begin_object(jfr_json *json)
{
    text_bytes(json->out, "{\n", json->layout == JFR_JSON_JDK ? 2 : 1);
    json->depth++;
}

static void end_object(jfr_json *json)
{
    json->depth--;
    if (json->layout == JFR_JSON_JDK)
        text_char(json->out, '\n');
    put_indent(json);
    text_char(json->out, '}');
}

/* Writes a comma, a new line and the indentation in one call. */
static void put_break(jfr_json *json, bool comma)
{
    static const char blank[] =
        ", \n                                                                ";
    size_t indent = (size_t)json->depth * 2;
    if (indent + 4 > sizeof(blank)) {
        if (comma)
            put_comma(json, true);
        put_indent(json);
        return;
    }
    text_bytes(json->out, comma ? blank : blank + 3, (comma ? 3 : 0) + indent);
}

/* Writes what precedes a value: a comma before all but the first, and the name of a field. */
static void begin_value(jfr_json *json, uint32_t index, bool is_element)
{
    if (is_element) {
        if (index > 0)
            put_comma(json, false);
        return;
    }
    if (json->layout == JFR_JSON_JDK)
        put_break(json, index > 0);
    else if (index > 0)
        text_char(json->out, ',');
    const label *l = &json->within[index];
    text_bytes(json->out, l->text, l->len);
}

/* ---- kept texts ---- */

/* Returns where the text of that constant is kept or will be; NULL when it is not kept. */
static kept *find_kept(jfr_json *json, const jfr_variant *value)
{
    uint32_t depth = json->layout == JFR_JSON_JDK ? json->depth : 0;
    if (value->constant == JFR_NONE || depth >= KEPT_DEPTHS)
        return NULL;
    kept **table = &json->tables[(size_t)value->type * KEPT_DEPTHS + depth];
    if (*table == NULL)
        *table = calloc(json->counts[value->type], sizeof(**table));
    return *table != NULL ? &(*table)[value->constant] : NULL;
}

static void keep(jfr_json *json, const jfr_variant *value, size_t start)
{
    size_t len = json->out->len - start;
    kept *slot = find_kept(json, value);
    if (slot == NULL || len > MAX_KEPT_TEXT || json->kept_total + len > MAX_KEPT_TOTAL)
        return;
    slot->text = malloc(len);
    if (slot->text == NULL)
        return; /* without memory the text is not kept, and written anew each time */
    memcpy(slot->text, json->out->data + start, len);
    slot->len = (uint32_t)len;
    json->kept_total += len;
}

/* ---- values ---- */

static bool is_frame(const jfr_json *json, const jfr_variant *value)
{
    static const char ending[] = ".types.StackFrame";
    if (value->type >= json->type_count)
        return false;
    jfr_str name = json->types[value->type].name;
    size_t len = sizeof(ending) - 1;
    return name.len > len && memcmp(name.data + name.len - len, ending, len) == 0;
}

static void enter(jfr_json *json, const jfr_variant *value)
{
    json->outer[json->nesting++] = json->within;
    json->within = json->named[value->type];
    begin_object(json);
}

static int begin(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    jfr_json *json = ctx;
    if (field == NULL) { /* the event itself */
        enter(json, value);
        return 0;
    }
    if (value->is_element && index >= json->stack_depth && is_frame(json, value))
        return 1;
    begin_value(json, index, value->is_element);
    if (value->kind == JFR_VARIANT_ARRAY) {
        text_char(json->out, '[');
        return 0;
    }
    const kept *slot = find_kept(json, value);
    if (slot != NULL && slot->text != NULL) {
        text_bytes(json->out, slot->text, slot->len);
        return 1;
    }
    if (json->depth < KEPT_DEPTHS)
        json->starts[json->depth] = json->out->len;
    enter(json, value);
    return 0;
}

static int end(void *ctx, const jfr_field *field, const jfr_variant *value)
{
    jfr_json *json = ctx;
    (void)field;
    if (value->kind == JFR_VARIANT_ARRAY) {
        text_char(json->out, ']');
        return 0;
    }
    end_object(json);
    json->within = json->outer[--json->nesting];
    if (value->constant != JFR_NONE && json->depth < KEPT_DEPTHS)
        keep(json, value, json->starts[json->depth]);
    return 0;
}

/* Writes a value that has a unit as text. Returns false when it has none. */
static bool put_with_unit(jfr_json *json, const jfr_field *field, const jfr_variant *value)
{
    if (field->unit == JFR_UNIT_NONE || value->is_element)
        return false;
    text_char(json->out, '"');
    jfr_times_put(json->out, jfr_chunk_get_info(json->chunk), field, value->integer);
    text_char(json->out, '"');
    return true;
}

static void put_integer(jfr_json *json, const jfr_field *field, const jfr_variant *value)
{
    if (put_with_unit(json, field, value))
        return;
    if (value->is_unsigned)
        text_u64(json->out, (uint64_t)value->integer);
    else
        text_i64(json->out, value->integer);
}

static void put_char(jfr_json *json, const jfr_field *field, const jfr_variant *value)
{
    if (put_with_unit(json, field, value))
        return;
    char c = (char)value->integer;
    if (value->integer < 0x80)
        text_json(json->out, &c, 1, json->style);
    else
        text_printf(json->out, "\"\\u%04x\"", (unsigned)value->integer);
}

static void put_number(jfr_json *json, const jfr_variant *value)
{
    if (isnan(value->number) || isinf(value->number)) /* JSON has no NaN and no infinity */
        text_bytes(json->out, "null", 4);
    else if (value->kind == JFR_VARIANT_FLOAT)
        text_float(json->out, (float)value->number);
    else
        text_double(json->out, value->number);
}

static int scalar(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    jfr_json *json = ctx;
    begin_value(json, index, value->is_element);
    switch (value->kind) {
    case JFR_VARIANT_BOOLEAN:
        text_string(json->out, value->integer ? "true" : "false");
        break;
    case JFR_VARIANT_INTEGER:
        put_integer(json, field, value);
        break;
    case JFR_VARIANT_CHAR:
        put_char(json, field, value);
        break;
    case JFR_VARIANT_FLOAT:
    case JFR_VARIANT_DOUBLE:
        put_number(json, value);
        break;
    case JFR_VARIANT_STRING:
        text_json(json->out, value->text.data, value->text.len, json->style);
        break;
    default:
        text_bytes(json->out, "null", 4);
    }
    return json->out->error != 0 ? JFR_ERR_IO : 0;
}

int jfr_json_event(jfr_json *json, const jfr_event *event, uint32_t depth, jfr_error *err)
{
    jfr_visitor visitor = JFR_VISITOR_INIT;
    visitor.ctx = json;
    visitor.begin = begin;
    visitor.end = end;
    visitor.scalar = scalar;
    visitor.max_depth = MAX_DEPTH;
    size_t start = json->out->len;
    json->depth = depth;
    json->nesting = 0;
    begin_object(json);
    put_name(json, "type", 4);
    text_json(json->out, event->type->name.data, event->type->name.len, json->style);
    put_comma(json, true);
    put_name(json, "values", 6);
    int rc = jfr_variant_visit(json->chunk, &event->value, &visitor, err);
    json->depth = depth + 1;
    end_object(json);
    if (rc < 0)
        json->out->len = start;
    return rc;
}
