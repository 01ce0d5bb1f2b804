/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the top table from all stacks; each method (or method and line) counts once per stack. */
#include <base/seeded_hash.h>
#include <stdlib.h>
#include <string.h>

#include "query.h"
#include <base/index_set.h>

/* The sums of the rows; frames that are equal in the table share a row. */
typedef struct summer {
    const sagg *stacks;
    bool lines;
    uint32_t *row_of_frame;
    uint32_t *last_stack; /* by row: the last stack that it counted, plus one */
    top_row *rows;
    size_t count;
} summer;

static sagg_frame frame_at(const summer *s, uint32_t index)
{
    sagg_frame frame = {0};

    sagg_frame_at(s->stacks, index, &frame);
    return frame;
}

static bool equal_str(sagg_str a, sagg_str b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static bool equal_frame(const void *context, uint32_t a, uint32_t b)
{
    const summer *s = context;
    sagg_frame left = frame_at(s, a), right = frame_at(s, b);

    return left.kind == right.kind && (!s->lines || left.line == right.line) &&
           equal_str(left.class_name, right.class_name) && equal_str(left.method, right.method);
}

static uint64_t hash_frame(const summer *s, uint32_t index)
{
    sagg_frame frame = frame_at(s, index);
    uint64_t method_hash, frame_id;

    sagg_frame_hash(&method_hash, &frame_id, &frame);
    uint64_t key = s->lines ? frame_id : method_hash;
    return seeded_hash(&key, sizeof(key));
}

static int assign_rows(summer *s, uint32_t frames)
{
    index_set set;

    s->row_of_frame = malloc((frames + 1) * sizeof(*s->row_of_frame));
    s->last_stack = calloc(frames + 1, sizeof(*s->last_stack));
    s->rows = calloc(frames + 1, sizeof(*s->rows));
    if (index_set_init(&set, frames, equal_frame, s) != 0 || s->row_of_frame == NULL ||
        s->last_stack == NULL || s->rows == NULL) {
        index_set_free(&set);
        return -1;
    }
    for (uint32_t i = 0; i < frames; i++) {
        uint32_t same = index_set_add(&set, hash_frame(s, i), i);
        if (same != INDEX_SET_NONE) {
            s->row_of_frame[i] = s->row_of_frame[same];
            continue;
        }
        s->row_of_frame[i] = (uint32_t)s->count;
        s->rows[s->count].frame = frame_at(s, i);
        if (!s->lines)
            s->rows[s->count].frame.line = 0;
        s->count++;
    }
    index_set_free(&set);
    return 0;
}

static void add_entry(summer *s, const sagg_entry *entry)
{
    sagg_stack stack;

    if (!sagg_stack_at(s->stacks, entry->stack, &stack))
        return;
    for (uint32_t i = 0; i < stack.count; i++) {
        uint32_t row = s->row_of_frame[sagg_stack_frame(&stack, i)];
        if (i == 0)
            s->rows[row].self += entry->totals.value;
        if (s->last_stack[row] != entry->stack + 1)
            s->rows[row].total += entry->totals.value;
        s->last_stack[row] = entry->stack + 1;
    }
}

static int compare_str(sagg_str a, sagg_str b)
{
    size_t shorter = a.size < b.size ? a.size : b.size;
    int order = shorter > 0 ? memcmp(a.data, b.data, shorter) : 0;

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_rows(const void *a, const void *b)
{
    const top_row *left = a, *right = b;

    if (left->self != right->self)
        return left->self > right->self ? -1 : 1;
    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    int order = compare_str(left->frame.class_name, right->frame.class_name);
    if (order == 0)
        order = compare_str(left->frame.method, right->frame.method);
    return order != 0
               ? order
               : (left->frame.line > right->frame.line) - (left->frame.line < right->frame.line);
}

int profile_top(const profile *p, bool lines, size_t limit, top_table *out, query_meta *meta)
{
    summer s = {.stacks = p->stacks, .lines = lines};
    sagg_entry entry;
    size_t cursor = 0, used = 0;
    int rc = assign_rows(&s, sagg_frame_count(p->stacks));

    while (rc == 0 && sagg_next(p->stacks, &cursor, &entry))
        add_entry(&s, &entry);
    for (size_t i = 0; rc == 0 && i < s.count; i++) {
        if (s.rows[i].total > 0)
            s.rows[used++] = s.rows[i];
    }
    if (rc == 0)
        qsort(s.rows, used, sizeof(*s.rows), compare_rows);
    free(s.row_of_frame);
    free(s.last_stack);
    *out = (top_table){s.rows, used < limit ? used : limit};
    for (size_t i = out->count; i < used; i++)
        meta->omitted += s.rows[i].self;
    meta->nodes_omitted += used - out->count;
    return rc;
}

void top_table_free(top_table *table)
{
    free(table->rows);
    *table = (top_table){NULL, 0};
}
