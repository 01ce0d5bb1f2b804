/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/values.h"

enum { MAX_COLUMNS = 4096, MAX_PATH = 1024, MAX_DEPTH = 4 };

static int no_room(failure *f)
{
    return failure_set(f, FAILURE_LIMIT,
                       "The event type has more fields than a table has columns (4,096): name the "
                       "columns that are needed.");
}

/* Returns the column of a path, and makes it when it is new. NULL on failure. */
static field_column *column_of(field_list *l, const char *path, failure *f)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->list[i].path, path) == 0)
            return &l->list[i];
    if (l->count == MAX_COLUMNS) {
        (void)no_room(f);
        return NULL;
    }
    if (l->count == l->room) {
        size_t room = l->room == 0 ? 32 : l->room * 2;
        field_column *list = realloc(l->list, room * sizeof(*list));
        if (list == NULL) {
            (void)failure_nomem(f);
            return NULL;
        }
        l->list = list;
        l->room = room;
    }
    char *copy = strdup(path);
    if (copy == NULL) {
        (void)failure_nomem(f);
        return NULL;
    }
    l->list[l->count] = (field_column){.path = copy};
    return &l->list[l->count++];
}

static enum column_kind kind_of(const jfr_field *field)
{
    if (field->is_array)
        return COLUMN_TEXT;
    if (field->unit == JFR_UNIT_TIME_TICKS || field->unit == JFR_UNIT_TIME_MS)
        return COLUMN_TIME;
    if (field->unit != JFR_UNIT_NONE)
        return COLUMN_SPAN;
    switch (field->kind) {
    case JFR_KIND_BOOLEAN:
        return COLUMN_BOOL;
    case JFR_KIND_BYTE:
    case JFR_KIND_CHAR:
    case JFR_KIND_SHORT:
    case JFR_KIND_INT:
        return COLUMN_INT;
    case JFR_KIND_LONG:
        return field->is_unsigned ? COLUMN_UINT : COLUMN_INT;
    case JFR_KIND_FLOAT:
    case JFR_KIND_DOUBLE:
        return COLUMN_DOUBLE;
    default:
        return COLUMN_TEXT;
    }
}

static void meet(field_column *known, const jfr_field *field)
{
    enum column_kind kind = kind_of(field);
    known->kind = known->met ? column_kind_join(known->kind, kind) : kind;
    known->met = true;
}

/* ---- all fields of a type ---- */

typedef struct expansion {
    field_list *out;
    const jfr_type *types;
    char path[MAX_PATH];
    int depth;      /* levels of structs within structs that are expanded */
    unsigned steps; /* fields that were looked at */
    failure *f;
} expansion;

/* Returns whether a path can lead to a field of that name. If a name had brackets, or nothing
 * before or after a dot, a chunk without the field would refuse the path as malformed. */
static bool is_in_paths(jfr_str name)
{
    if (name.data == NULL || name.len == 0 || name.len >= MAX_PATH / 4)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char before = i > 0 ? name.data[i - 1] : '.';
        if (strchr("[]", name.data[i]) != NULL || (name.data[i] == '.' && before == '.'))
            return false;
    }
    return name.data[name.len - 1] != '.';
}

static int expand_type(expansion *e, const jfr_type *type, size_t used, int depth);

/* Adds a thread's columns: its name, and its numbers as far as its type has them. */
static int add_thread(expansion *e, size_t used)
{
    static const char *const parts[] = {"", ".osThreadId", ".javaThreadId"};
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(e->path + used, sizeof(e->path) - used, "%s", parts[i]);
        if (column_of(e->out, e->path, e->f) == NULL)
            return -1;
    }
    return 0;
}

static int expand_field(expansion *e, const jfr_field *field, size_t used, int depth)
{
    if (++e->steps > MAX_COLUMNS)
        return no_room(e->f);
    if (!is_in_paths(field->name) || used + field->name.len + 16 > sizeof(e->path))
        return 0;
    used += (size_t)snprintf(e->path + used, sizeof(e->path) - used, "%s%.*s", used > 0 ? "." : "",
                             (int)field->name.len, field->name.data);
    enum value_form form = value_form_of(field, e->types);
    if (form == VALUE_THREAD)
        return add_thread(e, used);
    if (form == VALUE_TREE && !field->is_array && depth < e->depth &&
        e->types[field->type].field_count > 0)
        return expand_type(e, &e->types[field->type], used, depth + 1);
    return column_of(e->out, e->path, e->f) != NULL ? 0 : -1;
}

static int expand_type(expansion *e, const jfr_type *type, size_t used, int depth)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        e->path[used] = '\0';
        if (expand_field(e, &type->fields[i], used, depth) != 0)
            return -1;
    }
    return 0;
}

static void drop_columns(field_list *l, size_t count)
{
    while (l->count > count)
        free(l->list[--l->count].path);
}

/* Expands structs as deep as there is room for their columns. */
static int expand(field_list *l, const jfr_type *type, const jfr_type *types, failure *f)
{
    size_t before = l->count;
    for (int depth = MAX_DEPTH;; depth--) {
        expansion e = {.out = l, .types = types, .depth = depth, .f = f};
        int rc = expand_type(&e, type, 0, 0);
        if (rc == 0 || f->what != FAILURE_LIMIT || depth == 0)
            return rc;
        drop_columns(l, before);
        *f = (failure){0};
    }
}

/* ---- one chunk ---- */

static int meet_columns(field_list *l, jfr_chunk *chunk, uint32_t type, failure *f)
{
    jfr_columns *columns;
    jfr_error cause;
    const char **paths = calloc(l->count + 1, sizeof(*paths));
    if (paths == NULL)
        return failure_nomem(f);
    for (size_t i = 0; i < l->count; i++)
        paths[i] = l->list[i].path;
    int rc = jfr_columns_open(&columns, chunk, type, paths, l->count, &cause);
    free(paths);
    if (rc < 0)
        return failure_jfr(f, &cause);
    for (size_t i = 0; i < l->count; i++) {
        const jfr_field *field = jfr_columns_field(columns, i);
        if (field != NULL)
            meet(&l->list[i], field);
    }
    jfr_columns_close(columns);
    return 0;
}

static int meet_chunk(field_list *l, jfr_chunk *chunk, const char *name, bool all, failure *f)
{
    const jfr_type *type = NULL;
    const jfr_type *types = NULL;
    uint32_t count;
    jfr_error cause;
    int rc = jfr_chunk_find_type(chunk, name, &type, &cause);
    if (rc == 1)
        rc = jfr_chunk_types(chunk, &types, &count, &cause) == 0 ? 1 : cause.code;
    if (rc < 0)
        return failure_jfr(f, &cause);
    if (rc == 0 || !type->is_event)
        return 0;
    l->type_met = true;
    if (all && expand(l, type, types, f) != 0)
        return -1;
    return meet_columns(l, chunk, type->index, f);
}

/* ---- all chunks ---- */

/* Drops the columns that no chunk has: paths of names with dots that lead nowhere, and numbers that
 * a thread's type does not have. */
static void drop_absent(field_list *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (l->list[i].met)
            l->list[kept++] = l->list[i];
        else
            free(l->list[i].path);
    }
    l->count = kept;
}

static int check(const field_list *l, const char *type, failure *f)
{
    char message[256];
    if (!l->type_met) {
        (void)snprintf(message, sizeof(message),
                       "The recording has no event type '%s': event_types() lists them.", type);
        return failure_set(f, FAILURE_USAGE, message);
    }
    for (size_t i = 0; i < l->count; i++) {
        if (l->list[i].met)
            continue;
        (void)snprintf(
            message, sizeof(message),
            "Events of type '%s' have no field '%s': event_types()['%s'].fields lists them.", type,
            l->list[i].path, type);
        return failure_set(f, FAILURE_USAGE, message);
    }
    return 0;
}

int fields_find(field_list *out, inputs *in, const char *type, const char *const *paths,
                size_t count, failure *f)
{
    *out = (field_list){0};
    for (size_t i = 0; i < count; i++)
        if (column_of(out, paths[i], f) == NULL)
            return -1;
    walk *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return failure_nomem(f);
    int rc;
    walk_begin(w, in);
    while ((rc = walk_next(w, f)) == 1) {
        rc = meet_chunk(out, w->chunk, type, paths == NULL, f);
        if (rc != 0) {
            inputs_blame(in, w->index, f);
            break;
        }
    }
    walk_end(w);
    free(w);
    if (rc == 0 && paths == NULL)
        drop_absent(out);
    return rc == 0 ? check(out, type, f) : -1;
}

void fields_free(field_list *l)
{
    drop_columns(l, 0);
    free(l->list);
    *l = (field_list){0};
}
