/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the events of one type as a table with a row for each event. */
#include "tables/producer.h"

#include <stdlib.h>
#include <string.h>

#include "inputs/fields.h"
#include "values.h"

/* How a column is written in the current chunk. */
typedef struct cell {
    enum value_form form;
    uint32_t type; /* of its constants; JFR_NONE: their codes are not kept */
    codes known;   /* by constant */
} cell;

typedef struct events {
    producer base;
    char *type;
    int64_t from_ns, to_ns;
    field_list fields;
    cell *cells;
    jfr_variant *row;
    bool names_input;    /* in a column behind those of the fields ... */
    uint32_t input_code; /* ... by the number that its name has in the batch, once it has one */
    bool has_input_code;
    jfr_columns *columns; /* of the current chunk */
    jfr_events *walk;
    bytes text;
} events;

/* ---- a chunk ---- */

static void end_chunk(events *e)
{
    jfr_events_close(e->walk);
    jfr_columns_close(e->columns);
    e->walk = NULL;
    e->columns = NULL;
}

/* Damage in one chunk ends the events of that chunk, but not the table; loss() counts it. */
static int pass(int rc, const jfr_error *cause, failure *f)
{
    return rc == JFR_ERR_NOMEM ? failure_jfr(f, cause) : 0;
}

static bool begin_cell(events *e, size_t i, const jfr_type *types)
{
    cell *c = &e->cells[i];
    const jfr_field *field = jfr_columns_field(e->columns, i);
    uint32_t count;
    codes_free(&c->known);
    c->form = field != NULL ? value_form_of(field, types) : VALUE_SCALAR;
    c->type = JFR_NONE;
    if (field == NULL || !field->is_constant || e->base.rows.columns[i].kind != COLUMN_TEXT ||
        jfr_chunk_constant_count(e->base.w.chunk, field->type, &count, NULL) != 0)
        return true;
    c->type = field->type;
    return codes_size(&c->known, count);
}

static int open_columns(events *e, const jfr_type *type, failure *f)
{
    jfr_error cause;
    const char **paths = calloc(e->fields.count + 1, sizeof(*paths));
    if (paths == NULL)
        return failure_nomem(f);
    for (size_t i = 0; i < e->fields.count; i++)
        paths[i] = e->fields.list[i].path;
    int rc =
        jfr_columns_open(&e->columns, e->base.w.chunk, type->index, paths, e->fields.count, &cause);
    free(paths);
    if (rc < 0)
        e->columns = NULL;
    return rc < 0 ? failure_jfr(f, &cause) : 0;
}

/* Returns 1 when the chunk has the type, 0 when it has not, -1 on failure. */
static int begin_chunk(events *e, failure *f)
{
    jfr_events_options options = JFR_EVENTS_OPTIONS_INIT;
    const jfr_type *type;
    const jfr_type *types;
    uint32_t count;
    jfr_error cause;
    jfr_chunk *chunk = e->base.w.chunk;
    e->has_input_code = false;
    if (jfr_chunk_types(chunk, &types, &count, &cause) < 0)
        return failure_jfr(f, &cause);
    int rc = jfr_chunk_find_type(chunk, e->type, &type, &cause);
    if (rc != 1)
        return rc < 0 ? failure_jfr(f, &cause) : 0;
    if (open_columns(e, type, f) != 0)
        return -1;
    for (size_t i = 0; i < e->fields.count; i++)
        if (!begin_cell(e, i, types))
            return failure_nomem(f);
    options.events = e->type;
    options.from_ns = e->from_ns;
    options.to_ns = e->to_ns;
    if (jfr_events_open(&e->walk, chunk, &options, &cause) < 0) {
        e->walk = NULL;
        return failure_jfr(f, &cause);
    }
    return 1;
}

/* ---- cells ---- */

static int done(bool added, failure *f)
{
    return added ? 0 : failure_nomem(f);
}

static int add_text(events *e, size_t i, const jfr_variant *value, failure *f)
{
    column *c = &e->base.rows.columns[i];
    cell *at = &e->cells[i];
    uint32_t code;
    bool keep = value->constant != JFR_NONE && value->type == at->type;
    if (keep && codes_get(&at->known, value->constant, &code))
        return done(column_add_code(c, code), f);
    e->text.size = 0;
    int rc = value_text(e->base.w.chunk, value, at->form, &e->text, f);
    if (rc <= 0)
        return rc < 0 ? -1 : done(column_add_null(c), f);
    e->base.text += e->text.size;
    bool added = column_word(c, (const char *)e->text.data, e->text.size, &code) &&
                 (!keep || codes_set(&at->known, value->constant, code)) &&
                 column_add_code(c, code);
    return done(added, f);
}

static bool is_whole_number(const jfr_variant *value)
{
    return value->kind == JFR_VARIANT_INTEGER || value->kind == JFR_VARIANT_BOOLEAN ||
           value->kind == JFR_VARIANT_CHAR;
}

static bool add_double(column *c, const jfr_variant *value)
{
    double number = value->number;
    if (is_whole_number(value))
        number = (double)value->integer;
    else if (value->kind != JFR_VARIANT_FLOAT && value->kind != JFR_VARIANT_DOUBLE)
        return column_add_null(c);
    return column_add_bits(c, &number);
}

static int add_cell(events *e, size_t i, const jfr_variant *value, failure *f)
{
    column *c = &e->base.rows.columns[i];
    if (value->kind == JFR_VARIANT_NULL)
        return done(column_add_null(c), f);
    switch (c->kind) {
    case COLUMN_TEXT:
        return add_text(e, i, value, f);
    case COLUMN_DOUBLE:
        return done(add_double(c, value), f);
    case COLUMN_BOOL:
        return done(is_whole_number(value) ? column_add_bool(c, value->integer != 0)
                                           : column_add_null(c),
                    f);
    case COLUMN_TIME:
    case COLUMN_SPAN:
        return done(value->kind == JFR_VARIANT_TIME || value->kind == JFR_VARIANT_SPAN
                        ? column_add_int(c, value->integer)
                        : column_add_null(c),
                    f);
    default:
        return done(is_whole_number(value) ? column_add_int(c, value->integer) : column_add_null(c),
                    f);
    }
}

/* ---- rows ---- */

static bool is_struct(const jfr_variant *value)
{
    return value->kind == JFR_VARIANT_STRUCT || value->kind == JFR_VARIANT_ARRAY;
}

static int add_input(events *e, failure *f)
{
    char name[INPUT_NAME];
    column *c = &e->base.rows.columns[e->fields.count];
    if (!e->has_input_code) {
        inputs_name(e->base.w.in, e->base.w.index, name);
        if (!column_word(c, name, strlen(name), &e->input_code))
            return failure_nomem(f);
        e->has_input_code = true;
    }
    return done(column_add_code(c, e->input_code), f);
}

/* Skips an event whose fields do not fit into its bytes. */
static int add_event(events *e, const jfr_event *event, failure *f)
{
    jfr_error cause;
    int rc = jfr_columns_read(e->columns, &event->value, e->row, &cause);
    if (rc < 0)
        return pass(rc, &cause, f);
    /* Strings of the row are valid until a struct is visited, so structs come last. */
    for (int structs = 0; structs < 2; structs++)
        for (size_t i = 0; i < e->fields.count; i++)
            if (is_struct(&e->row[i]) == (structs == 1) && add_cell(e, i, &e->row[i], f) != 0)
                return -1;
    e->base.rows.bare_rows += e->base.rows.count == 0;
    return e->names_input ? add_input(e, f) : 0;
}

/* Returns 1 when the batch is full, 0 when the chunk has ended, -1 on failure. */
static int add_chunk(events *e, failure *f)
{
    jfr_event event;
    jfr_error cause;
    int rc;
    while ((rc = jfr_events_next(e->walk, &event, &cause)) == 1) {
        if (add_event(e, &event, f) != 0)
            return -1;
        if (producer_is_full(&e->base))
            return 1;
    }
    return pass(rc, &cause, f);
}

static int fill(producer *p, failure *f)
{
    events *e = (events *)p;
    for (size_t i = 0; producer_is_empty(p) && i < e->fields.count; i++)
        codes_forget(&e->cells[i].known);
    if (producer_is_empty(p))
        e->has_input_code = false;
    for (;;) {
        int rc = 1;
        if (e->walk == NULL) {
            rc = walk_next(&p->w, f);
            if (rc != 1)
                return rc;
            rc = begin_chunk(e, f);
        }
        if (rc == 1)
            rc = add_chunk(e, f);
        if (rc != 0)
            return rc;
        end_chunk(e);
    }
}

static void free_events(producer *p)
{
    events *e = (events *)p;
    end_chunk(e);
    for (size_t i = 0; e->cells != NULL && i < e->fields.count; i++)
        codes_free(&e->cells[i].known);
    free(e->cells);
    free(e->row);
    free(e->type);
    fields_free(&e->fields);
    bytes_free(&e->text);
}

/* Copies the request into an object that is zero. */
static int set_up(events *e, inputs *in, const event_request *request, failure *f)
{
    e->base.fill = fill;
    e->base.free = free_events;
    e->from_ns = request->from_ns;
    e->to_ns = request->to_ns;
    e->names_input = request->input;
    e->type = strdup(request->type);
    if (e->type == NULL)
        return failure_nomem(f);
    if (fields_find(&e->fields, in, e->type, request->columns, request->count, f) != 0)
        return -1;
    size_t count = e->fields.count;
    e->cells = calloc(count + 1, sizeof(*e->cells));
    e->row = calloc(count + 1, sizeof(*e->row));
    bool good = e->cells != NULL && e->row != NULL &&
                table_init(&e->base.rows, count + (e->names_input ? 1 : 0));
    for (size_t i = 0; good && i < count; i++)
        good = table_name(&e->base.rows, i, e->fields.list[i].path, e->fields.list[i].kind);
    if (good && e->names_input)
        good = table_name(&e->base.rows, count, "input", COLUMN_TEXT);
    return good ? 0 : failure_nomem(f);
}

producer *events_open(inputs *in, const event_request *request, failure *f)
{
    events *e = calloc(1, sizeof(*e));
    if (e == NULL) {
        (void)failure_nomem(f);
        return NULL;
    }
    walk_begin(&e->base.w, in);
    if (set_up(e, in, request, f) == 0)
        return &e->base;
    producer_free(&e->base);
    return NULL;
}
