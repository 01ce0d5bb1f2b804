/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the frames of stacks. */
#include <stdlib.h>

#include "read.h"

typedef struct stacks {
    stack_fn each;
    void *context;
    stack_frame *frames; /* of the current row */
    size_t capacity;
} stacks;

/* The columns of a block of stacks. */
typedef struct stack_columns {
    chs_strings id, class_name, method, file;
    chs_uints flags, line, kind;
} stack_columns;

static int bind_stacks(stack_columns *c, const chs_result *block)
{
    if (read_strings(&c->id, block, "stack_id") != 0 || read_uints(&c->flags, block, "flags") != 0)
        return -1;
    return chs_result_string_arrays(&c->class_name, block, "class", NULL) != 0 ||
                   chs_result_string_arrays(&c->method, block, "method", NULL) != 0 ||
                   chs_result_string_arrays(&c->file, block, "file", NULL) != 0 ||
                   chs_result_uint_arrays(&c->line, block, "line", NULL) != 0 ||
                   chs_result_uint_arrays(&c->kind, block, "kind", NULL) != 0
               ? -1
               : 0;
}

/* Whether the five arrays of a stack have the same length. The store's data is not trusted. */
static bool same_lengths(const stack_columns *c, uint64_t row, size_t *first, size_t *depth)
{
    const uint64_t *const ends[] = {c->class_name.ends, c->method.ends, c->file.ends, c->line.ends,
                                    c->kind.ends};

    *first = row > 0 ? ends[0][row - 1] : 0;
    *depth = ends[0][row] - *first;
    for (size_t i = 1; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (ends[i][row] != ends[0][row])
            return false;
    }
    return true;
}

static text text_at(const chs_strings *column, size_t index)
{
    return (text){column->values[index].data, column->values[index].length};
}

static int gather_frames(stacks *r, const stack_columns *c, size_t first, size_t depth)
{
    if (depth > r->capacity) {
        stack_frame *frames = realloc(r->frames, depth * sizeof(*frames));
        if (frames == NULL)
            return -1;
        r->frames = frames;
        r->capacity = depth;
    }
    for (size_t i = 0; i < depth; i++)
        r->frames[i] =
            (stack_frame){text_at(&c->class_name, first + i), text_at(&c->method, first + i),
                          text_at(&c->file, first + i), (uint32_t)c->line.values[first + i],
                          (uint8_t)c->kind.values[first + i]};
    return 0;
}

static int on_stacks(void *context, const chs_result *block)
{
    stacks *r = context;
    stack_columns c;
    size_t first, depth;

    if (chs_result_rows(block) == 0)
        return 0;
    if (bind_stacks(&c, block) != 0)
        return -1;
    for (uint64_t i = 0; i < c.id.rows; i++) {
        if (c.id.values[i].length != STACK_ID_BYTES || !same_lengths(&c, i, &first, &depth) ||
            gather_frames(r, &c, first, depth) != 0)
            return -1;
        stack_row row = {
            .stack_id = (const uint8_t *)c.id.values[i].data,
            .flags = (unsigned)c.flags.values[i],
            .frames = r->frames,
            .depth = depth,
        };
        if (r->each(r->context, &row) != 0)
            return -1;
    }
    return 0;
}

/* Most ids of one statement, so that it stays short enough. */
enum { FRAMES_PER_QUERY = 5000 };

static int read_some_frames(clickhouse *c, const store_filter *filter, const uint8_t *const *ids,
                            size_t count, stacks *r, store_error *err)
{
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT stack_id, flags, class, method, file, line, kind FROM profile_stacks");
    sql_where_days(&s, filter, "day");
    sql_add(&s, " AND stack_id IN {ids:Array(FixedString(16))} LIMIT 1 BY stack_id");
    sql_filter_params(&s, filter);
    sql_ids(&s, "ids", ids, count);
    return read_run(c, &s, on_stacks, r, err);
}

int clickhouse__read_frames(void *self, const store_filter *filter, const uint8_t *const *ids,
                            size_t count, stack_fn each, void *context, store_error *err)
{
    stacks r = {.each = each, .context = context};
    int rc = 0;

    for (size_t first = 0; first < count && rc == 0; first += FRAMES_PER_QUERY) {
        size_t left = count - first;
        rc = read_some_frames(self, filter, ids + first,
                              left < FRAMES_PER_QUERY ? left : FRAMES_PER_QUERY, &r, err);
    }
    free(r.frames);
    return rc;
}
