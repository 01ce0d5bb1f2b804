/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Struct values within structs that JSON shows; frames of one stack. */
enum { TREE_DEPTH = 8, STACK_FRAMES = 4096 };

static bool is_name(jfr_str name, const char *text)
{
    return name.len == strlen(text) && memcmp(name.data, text, name.len) == 0;
}

enum value_form value_form_of(const jfr_field *field, const jfr_type *types)
{
    if (field->is_array)
        return VALUE_TREE;
    if (field->kind != JFR_KIND_STRUCT || field->type == JFR_NONE)
        return VALUE_SCALAR;
    jfr_str name = types[field->type].name;
    if (is_name(name, "java.lang.Class"))
        return VALUE_CLASS;
    if (is_name(name, "jdk.types.Method"))
        return VALUE_METHOD;
    if (is_name(name, "java.lang.Thread"))
        return VALUE_THREAD;
    if (is_name(name, "jdk.types.StackTrace"))
        return VALUE_STACK;
    return VALUE_TREE;
}

static bool add_str(bytes *out, const char *text)
{
    return bytes_add(out, text, strlen(text));
}

/* ---- names ---- */

/*
 * Reads the string at `path` below `from`. Returns 1 with it, 0 when there is none, -1 on failure.
 */
static int part(jfr_chunk *chunk, const jfr_variant *from, const char *path, jfr_str *out,
                failure *f)
{
    jfr_variant value;
    jfr_error cause;
    int rc = jfr_variant_path(chunk, from, path, &value, &cause);
    if (rc == JFR_ERR_NOMEM)
        return failure_jfr(f, &cause);
    if (rc != 1 || value.kind != JFR_VARIANT_STRING)
        return 0;
    *out = value.text;
    return 1;
}

/* Appends a class name with dots, because recordings of the JDK write class names with slashes. */
static bool add_dotted(bytes *out, const char *data, size_t size)
{
    size_t start = out->size;
    if (!bytes_add(out, data, size))
        return false;
    for (size_t i = start; i < out->size; i++)
        if (out->data[i] == '/')
            out->data[i] = '.';
    return true;
}

/* Writes "[Ljava/lang/String;" as "java.lang.String[]", and other names as they are. */
static bool add_class_name(bytes *out, jfr_str name)
{
    static const char letters[] = "ZBCSIJFD";
    static const char *const simple[] = {"boolean", "byte", "char",  "short",
                                         "int",     "long", "float", "double"};
    size_t dims = 0;
    while (dims < name.len && name.data[dims] == '[')
        dims++;
    const char *rest = name.data + dims;
    size_t size = name.len - dims;
    const char *letter = size == 1 ? strchr(letters, *rest) : NULL;
    bool good;
    if (dims > 0 && letter != NULL && *letter != '\0')
        good = add_str(out, simple[letter - letters]);
    else if (dims > 0 && size > 2 && rest[0] == 'L' && rest[size - 1] == ';')
        good = add_dotted(out, rest + 1, size - 2);
    else
        return add_dotted(out, name.data, name.len);
    for (size_t i = 0; good && i < dims; i++)
        good = add_str(out, "[]");
    return good;
}

static int class_text(jfr_chunk *chunk, const jfr_variant *value, bytes *out, failure *f)
{
    jfr_str name = {NULL, 0};
    int rc = part(chunk, value, "name", &name, f);
    if (rc == 1 && !add_class_name(out, name))
        return failure_nomem(f);
    return rc;
}

static int thread_text(jfr_chunk *chunk, const jfr_variant *value, bytes *out, failure *f)
{
    jfr_str name = {NULL, 0};
    int rc = part(chunk, value, "javaName", &name, f);
    if (rc == 0 || (rc == 1 && name.len == 0))
        rc = part(chunk, value, "osName", &name, f);
    if (rc == 1 && !bytes_add(out, name.data, name.len))
        return failure_nomem(f);
    return rc;
}

/*
 * Appends a method's class and name, with '_' for line ends and for ';', which separates methods.
 */
static int method_text(jfr_chunk *chunk, const jfr_variant *value, bytes *out, failure *f)
{
    jfr_str name = {NULL, 0};
    size_t start = out->size;
    int rc = part(chunk, value, "type.name", &name, f);
    if (rc == 1 && name.len > 0 && (!add_class_name(out, name) || !add_str(out, ".")))
        return failure_nomem(f);
    if (rc >= 0)
        rc = part(chunk, value, "name", &name, f);
    if (rc == 1 && !bytes_add(out, name.data, name.len))
        return failure_nomem(f);
    for (size_t i = start; i < out->size; i++)
        if (out->data[i] == ';' || out->data[i] == '\n' || out->data[i] == '\r')
            out->data[i] = '_';
    return rc;
}

/* ---- stacks ---- */

/* The methods of a stack, leaf first, from a visit that goes no deeper than the frames. */
typedef struct methods {
    jfr_variant *list;
    uint32_t count;
} methods;

static int begin_frame(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    methods *m = ctx;
    (void)index;
    if (field == NULL || !is_name(field->name, "method"))
        return 0;
    if (m->count < STACK_FRAMES)
        m->list[m->count++] = *value;
    return 1;
}

static int end_frame(void *ctx, const jfr_field *field, const jfr_variant *value)
{
    (void)ctx;
    (void)field;
    (void)value;
    return 0;
}

static int pass_scalar(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    (void)ctx;
    (void)field;
    (void)index;
    (void)value;
    return 0;
}

static int stack_text(jfr_chunk *chunk, const jfr_variant *value, bytes *out, failure *f)
{
    methods m = {.list = malloc(STACK_FRAMES * sizeof(*m.list))};
    jfr_visitor visitor = JFR_VISITOR_INIT;
    jfr_error cause;
    if (m.list == NULL)
        return failure_nomem(f);
    visitor.ctx = &m;
    visitor.begin = begin_frame;
    visitor.end = end_frame;
    visitor.scalar = pass_scalar;
    int rc = jfr_variant_visit(chunk, value, &visitor, &cause);
    rc = rc == JFR_ERR_NOMEM ? failure_jfr(f, &cause) : rc == 0;
    for (uint32_t i = m.count; rc == 1 && i-- > 0;) {
        int named = method_text(chunk, &m.list[i], out, f);
        if (named < 0 || (named == 0 && !add_str(out, "[unknown]")) ||
            (i > 0 && !add_str(out, ";")))
            rc = failure_nomem(f);
    }
    free(m.list);
    return rc;
}

/* ---- scalars ---- */

static bool add_number(bytes *out, double number)
{
    char text[40];
    if (!isfinite(number))
        return add_str(out, "null");
    (void)snprintf(text, sizeof(text), "%.17g", number);
    return add_str(out, text);
}

static bool add_integer(bytes *out, const jfr_variant *value)
{
    char text[24];
    if (value->is_unsigned)
        (void)snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)value->integer);
    else
        (void)snprintf(text, sizeof(text), "%" PRId64, value->integer);
    return add_str(out, text);
}

/* Appends a scalar as JSON writes it; the caller quotes strings. */
static bool add_scalar(bytes *out, const jfr_variant *value)
{
    switch (value->kind) {
    case JFR_VARIANT_BOOLEAN:
        return add_str(out, value->integer != 0 ? "true" : "false");
    case JFR_VARIANT_INTEGER:
    case JFR_VARIANT_CHAR:
    case JFR_VARIANT_TIME:
    case JFR_VARIANT_SPAN:
        return add_integer(out, value);
    case JFR_VARIANT_FLOAT:
    case JFR_VARIANT_DOUBLE:
        return add_number(out, value->number);
    default:
        return add_str(out, "null");
    }
}

/* ---- trees ---- */

typedef struct tree_writer {
    bytes *out;
    bool first; /* of its struct or array */
} tree_writer;

static bool add_quoted(bytes *out, jfr_str text)
{
    bool good = add_str(out, "\"");
    for (size_t i = 0; good && i < text.len; i++) {
        char escaped[8];
        unsigned char c = (unsigned char)text.data[i];
        if (c == '"' || c == '\\') {
            good = bytes_add(out, "\\", 1) && bytes_add(out, &text.data[i], 1);
        } else if (c < 0x20) {
            (void)snprintf(escaped, sizeof(escaped), "\\u%04x", c);
            good = add_str(out, escaped);
        } else {
            good = bytes_add(out, &text.data[i], 1);
        }
    }
    return good && add_str(out, "\"");
}

/* Writes a comma where one is needed, and the field's name when the value belongs to a struct. */
static bool begin_value(tree_writer *w, const jfr_field *field, const jfr_variant *value)
{
    bool good = w->first || add_str(w->out, ",");
    w->first = false;
    if (good && field != NULL && !value->is_element)
        good = add_quoted(w->out, field->name) && add_str(w->out, ":");
    return good;
}

static int tree_begin(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    tree_writer *w = ctx;
    (void)index;
    bool good = begin_value(w, field, value) &&
                add_str(w->out, value->kind == JFR_VARIANT_ARRAY ? "[" : "{");
    w->first = true;
    return good ? 0 : JFR_ERR_NOMEM;
}

static int tree_end(void *ctx, const jfr_field *field, const jfr_variant *value)
{
    tree_writer *w = ctx;
    (void)field;
    w->first = false;
    return add_str(w->out, value->kind == JFR_VARIANT_ARRAY ? "]" : "}") ? 0 : JFR_ERR_NOMEM;
}

static int tree_scalar(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    tree_writer *w = ctx;
    (void)index;
    bool good = begin_value(w, field, value) &&
                (value->kind == JFR_VARIANT_STRING ? add_quoted(w->out, value->text)
                                                   : add_scalar(w->out, value));
    return good ? 0 : JFR_ERR_NOMEM;
}

static int tree_text(jfr_chunk *chunk, const jfr_variant *value, bytes *out, failure *f)
{
    tree_writer w = {out, true};
    jfr_visitor visitor = JFR_VISITOR_INIT;
    visitor.ctx = &w;
    visitor.begin = tree_begin;
    visitor.end = tree_end;
    visitor.scalar = tree_scalar;
    visitor.max_depth = TREE_DEPTH;
    int rc = jfr_variant_visit(chunk, value, &visitor, NULL);
    return rc == JFR_ERR_NOMEM ? failure_nomem(f) : rc == 0;
}

int value_text(jfr_chunk *chunk, const jfr_variant *value, enum value_form form, bytes *out,
               failure *f)
{
    if (value->kind == JFR_VARIANT_NULL)
        return 0;
    if (value->kind == JFR_VARIANT_STRING)
        return bytes_add(out, value->text.data, value->text.len) ? 1 : failure_nomem(f);
    if (value->kind != JFR_VARIANT_STRUCT && value->kind != JFR_VARIANT_ARRAY)
        return add_scalar(out, value) ? 1 : failure_nomem(f);
    switch (form) {
    case VALUE_CLASS:
        return class_text(chunk, value, out, f);
    case VALUE_METHOD:
        return method_text(chunk, value, out, f);
    case VALUE_THREAD:
        return thread_text(chunk, value, out, f);
    case VALUE_STACK:
        return stack_text(chunk, value, out, f);
    default:
        return tree_text(chunk, value, out, f);
    }
}
