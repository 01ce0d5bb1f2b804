/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "events/generic_impl.h"

#include <string.h>

/* One part of a column's path after its first field. */
struct step {
    bool by_index;
    uint32_t index;         /* element of the array */
    const jfr_field *field; /* the field to read; for an element, the array's field */
    jfr__plan before;       /* skips the fields before it in its struct */
};

struct column {
    const jfr_field *field; /* the last step's field; NULL = the type does not have the path */
    uint32_t mark;          /* number of the mark that it begins with */
    const jfr_field *first;
    struct step *steps; /* after the first field */
    uint32_t step_count;
    jfr_variant
        *memo; /* cache: the value of the rest of the path, by constant of the first field */
    uint32_t memo_count;
};

/* A field of the root with which at least one column begins. */
struct mark {
    uint32_t field;
    jfr__plan before; /* skips the fields between the previous mark and this one */
    uint64_t at;      /* its offset in the current row */
};

struct jfr_columns {
    jfr_chunk *chunk;
    uint64_t serial; /* serial of the chunk that it was opened on */
    uint32_t type;
    struct column *columns; /* in the chunk's arena, with everything that they point to */
    size_t count;
    struct mark *marks; /* by field */
    uint32_t mark_count;
};

/* memo[].kind of a value that has not been read */
enum { NOT_YET = 0xFF };

static uint32_t count_parts(const char *path)
{
    uint32_t parts = 1;
    for (; *path != '\0'; path++)
        parts += *path == '.' || *path == '[';
    return parts;
}

static int fill_step(jfr_chunk *chunk, const jfr__spot *before, const jfr__spot *after,
                     const jfr__part *part, struct step *out, jfr_error *err)
{
    *out = (struct step){.by_index = part->by_index, .field = after->field};
    if (out->by_index) {
        out->index = part->index;
        return 0;
    }
    return jfr__skip_fields(chunk, before->type, 0, after->index, &out->before, err);
}

/* Returns 1 when the type has the path, 0 when it does not, or a negative code. */
static int compile(jfr_columns *columns, struct column *out, const char *path, jfr_error *err)
{
    jfr_chunk *chunk = columns->chunk;
    const jfr_type *types = chunk->generic->types;
    jfr__spot spot = {.type = columns->type};
    jfr__part part;
    uint32_t parts = count_parts(path);
    out->steps = jfr__arena_zalloc(&chunk->arena, parts, sizeof(*out->steps));
    if (out->steps == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    int rc = jfr__path_next(types, &spot, &path, &part, err);
    if (rc <= 0)
        return rc;
    if (!jfr__spot_step(types, &spot, &part))
        return 0;
    out->first = spot.field;
    out->mark = spot.index;
    while ((rc = jfr__path_next(types, &spot, &path, &part, err)) == 1) {
        const jfr__spot before = spot;
        if (!jfr__spot_step(types, &spot, &part))
            return 0;
        rc = fill_step(chunk, &before, &spot, &part, &out->steps[out->step_count], err);
        if (rc < 0)
            return rc;
        out->step_count++;
    }
    out->field = spot.field;
    return rc < 0 ? rc : 1;
}

/* Constants repeat from row to row, so the value of a path inside a constant is cached. */
static int make_memo(jfr_columns *columns, struct column *out, jfr_error *err)
{
    jfr_chunk *chunk = columns->chunk;
    if (!out->first->is_constant || out->first->is_array || out->first->type == JFR_NONE ||
        out->step_count == 0)
        return 0;
    int rc = jfr_chunk_constant_count(chunk, out->first->type, &out->memo_count, err);
    if (rc < 0)
        return rc;
    out->memo = jfr__arena_alloc(&chunk->arena, out->memo_count * sizeof(*out->memo));
    if (out->memo == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    for (uint32_t i = 0; i < out->memo_count; i++)
        out->memo[i].kind = NOT_YET;
    return 0;
}

static int add_column(jfr_columns *columns, struct column *out, const char *path, bool *wanted,
                      jfr_error *err)
{
    int rc = compile(columns, out, path, err);
    if (rc <= 0) {
        out->field = NULL;
        return rc;
    }
    wanted[out->mark] = true;
    return make_memo(columns, out, err);
}

/* Makes marks of the wanted fields, in the order of the fields. */
static int add_marks(jfr_columns *columns, const bool *wanted, jfr_error *err)
{
    jfr_chunk *chunk = columns->chunk;
    const jfr_type *type = &chunk->generic->types[columns->type];
    columns->marks = jfr__arena_zalloc(&chunk->arena, type->field_count, sizeof(struct mark));
    if (columns->marks == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    uint32_t from = 0;
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (!wanted[i])
            continue;
        struct mark *mark = &columns->marks[columns->mark_count++];
        mark->field = i;
        int rc = jfr__skip_fields(chunk, columns->type, from, i - from, &mark->before, err);
        if (rc < 0)
            return rc;
        from = i;
    }
    for (size_t i = 0; i < columns->count; i++) {
        uint32_t mark = 0;
        while (mark < columns->mark_count && columns->marks[mark].field != columns->columns[i].mark)
            mark++;
        columns->columns[i].mark = mark;
    }
    return 0;
}

static int build(jfr_columns *columns, const char *const *paths, jfr_error *err)
{
    jfr__arena *arena = &columns->chunk->arena;
    const jfr_type *type = &columns->chunk->generic->types[columns->type];
    columns->columns = jfr__arena_zalloc(arena, columns->count, sizeof(*columns->columns));
    bool *wanted = jfr__arena_zalloc(arena, type->field_count, sizeof(*wanted));
    if (columns->columns == NULL || wanted == NULL)
        return jfr__arena_fail(arena, err);
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < columns->count; i++)
        rc = add_column(columns, &columns->columns[i], paths[i], wanted, err);
    return rc < 0 ? rc : add_marks(columns, wanted, err);
}

int jfr_columns_open(jfr_columns **out, jfr_chunk *chunk, uint32_t type, const char *const *paths,
                     size_t count, jfr_error *err)
{
    const jfr_allocator *alloc = &chunk->file->allocator;
    jfr__generic *g = NULL;
    int rc = jfr__generic_get(chunk, &g, err);
    if (rc < 0)
        return rc;
    if (type >= g->type_count)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "Type %u does not exist: the chunk has %u.", type,
                         g->type_count);
    jfr_columns *columns = alloc->alloc(alloc->ctx, sizeof(*columns));
    if (columns == NULL)
        return jfr__fail_nomem(err);
    *columns = (jfr_columns){.chunk = chunk, .serial = chunk->serial, .type = type, .count = count};
    rc = build(columns, paths, err);
    if (rc < 0) {
        jfr_columns_close(columns);
        return rc;
    }
    *out = columns;
    return 0;
}

void jfr_columns_close(jfr_columns *columns)
{
    if (columns == NULL)
        return;
    const jfr_allocator *alloc = &columns->chunk->file->allocator;
    alloc->free(alloc->ctx, columns);
}

static bool is_current(const jfr_columns *columns)
{
    return columns->chunk->serial == columns->serial;
}

const jfr_field *jfr_columns_field(const jfr_columns *columns, size_t index)
{
    return is_current(columns) && index < columns->count ? columns->columns[index].field : NULL;
}

/* Follows one step from `from`. A missing value is null. */
static int take_step(jfr_chunk *chunk, const struct step *step, const jfr_variant *from,
                     jfr__arena *arena, jfr_variant *out, jfr_error *err)
{
    jfr__cursor c = jfr__variant_cursor(chunk, from);
    *out = (jfr_variant){.type = step->field->type, .constant = JFR_NONE};
    if (!step->by_index) {
        if (from->kind != JFR_VARIANT_STRUCT)
            return 0;
        jfr__plan_run(&step->before, &c, NULL);
        return jfr__variant_read(chunk, step->field, false, &c, arena, out, err);
    }
    if (from->kind != JFR_VARIANT_ARRAY || step->index >= from->count)
        return 0;
    for (uint32_t i = 0; i < step->index; i++) {
        int rc = jfr__skip_value(chunk, step->field, true, &c, err);
        if (rc < 0)
            return rc;
    }
    return jfr__variant_read(chunk, step->field, true, &c, arena, out, err);
}

/* Follows the remaining steps of a column. Every value below a null is null. */
static int take_steps(jfr_chunk *chunk, const struct column *column, jfr_variant *value,
                      jfr__arena *arena, jfr_error *err)
{
    for (uint32_t i = 0; i < column->step_count; i++) {
        const jfr_variant from = *value;
        if (from.kind == JFR_VARIANT_NULL) {
            *value = (jfr_variant){.type = column->field->type, .constant = JFR_NONE};
            return 0;
        }
        int rc = take_step(chunk, &column->steps[i], &from, arena, value, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Converts numbers with a unit to nanoseconds. */
static void apply_unit(const jfr_chunk *chunk, const jfr_field *field, jfr_variant *value)
{
    if (field->unit == JFR_UNIT_NONE || value->kind == JFR_VARIANT_NULL ||
        value->kind == JFR_VARIANT_ARRAY)
        return;
    int64_t ns;
    uint8_t kind = JFR_VARIANT_NULL;
    if (jfr_variant_time_ns(&chunk->info, field, value, &ns))
        kind = JFR_VARIANT_TIME;
    else if (jfr_variant_span_ns(&chunk->info, field, value, &ns))
        kind = JFR_VARIANT_SPAN;
    value->kind = kind;
    if (kind != JFR_VARIANT_NULL)
        value->integer = ns;
}

static int read_column(jfr_columns *columns, const struct column *column, jfr__cursor c,
                       jfr_variant *out, jfr_error *err)
{
    jfr_chunk *chunk = columns->chunk;
    int rc = jfr__variant_read(chunk, column->first, false, &c, &chunk->scratch, out, err);
    if (rc < 0)
        return rc;
    bool memoised = column->memo != NULL && out->constant != JFR_NONE;
    jfr_variant *memo = memoised ? &column->memo[out->constant] : NULL;
    if (memo != NULL && memo->kind != NOT_YET) {
        *out = *memo;
        return 0;
    }
    /* A cached value must live as long as the chunk. */
    rc = take_steps(chunk, column, out, memo != NULL ? &chunk->arena : &chunk->scratch, err);
    if (rc < 0)
        return rc;
    apply_unit(chunk, column->field, out);
    if (memo != NULL)
        *memo = *out;
    return 0;
}

static int find_marks(jfr_columns *columns, const jfr_variant *value, jfr_error *err)
{
    jfr__cursor c = jfr__variant_cursor(columns->chunk, value);
    for (uint32_t i = 0; i < columns->mark_count; i++) {
        jfr__plan_run(&columns->marks[i].before, &c, NULL);
        columns->marks[i].at = jfr__cursor_offset(&c);
    }
    return c.failed ? jfr__bad_value(jfr__cursor_offset(&c), err) : 0;
}

int jfr_columns_read(jfr_columns *columns, const jfr_variant *value, jfr_variant *row,
                     jfr_error *err)
{
    if (!is_current(columns) || value->kind != JFR_VARIANT_STRUCT || value->type != columns->type)
        return jfr__fail(err, JFR_ERR_USAGE, 0,
                         "The value is not of the type of these columns, or their chunk has "
                         "ended.");
    jfr_chunk *chunk = columns->chunk;
    jfr__arena_reset(&chunk->scratch);
    int rc = find_marks(columns, value, err);
    for (size_t i = 0; rc == 0 && i < columns->count; i++) {
        const struct column *column = &columns->columns[i];
        if (column->field == NULL) {
            row[i] = (jfr_variant){.type = JFR_NONE, .constant = JFR_NONE};
            continue;
        }
        uint64_t at = columns->marks[column->mark].at;
        rc = read_column(columns, column, jfr__chunk_cursor(chunk, at, value->end), &row[i], err);
    }
    return rc;
}
