/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/table_order.h"

#include <stdlib.h>
#include <string.h>

static int by_text(sagg_str a, sagg_str b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
    return order != 0 ? order : a.size < b.size ? -1 : a.size > b.size;
}

/* ---- rows ---- */

int table_thread_order(const sagg *agg, uint32_t left, uint32_t right)
{
    sagg_thread first = {0};
    sagg_thread second = {0};
    if (left == right)
        return 0;
    (void)sagg_thread_at(agg, left, &first);
    (void)sagg_thread_at(agg, right, &second);
    int order = by_text(first.name, second.name);
    if (order != 0 || first.os_tid == second.os_tid)
        return order;
    return first.os_tid < second.os_tid ? -1 : 1;
}

int table_stack_order(const table_rows *rows, uint32_t left, uint32_t right)
{
    return memcmp(&rows->ids[left], &rows->ids[right], sizeof(*rows->ids));
}

static int by_row(const void *a, const void *b, void *rows_)
{
    const table_rows *rows = rows_;
    const sagg_entry *left = a;
    const sagg_entry *right = b;
    if (left->type != right->type)
        return left->type < right->type ? -1 : 1;
    int order = table_thread_order(rows->agg, left->thread, right->thread);
    return order != 0 ? order : table_stack_order(rows, left->stack, right->stack);
}

static bool collect_ids(table_rows *out)
{
    const uint32_t count = sagg_stack_count(out->agg);
    out->ids = calloc((size_t)count + 1, sizeof(*out->ids));
    for (uint32_t i = 0; out->ids != NULL && i < count; i++)
        (void)sagg_stack_id_at(out->agg, i, &out->ids[i]);
    return out->ids != NULL;
}

bool table_rows_collect(table_rows *out, const sagg *agg, uint32_t types)
{
    sagg_entry entry;
    size_t cursor = 0;
    *out = (table_rows){.agg = agg};
    if (!collect_ids(out))
        return false;
    while (sagg_next(agg, &cursor, &entry)) {
        if ((types >> entry.type & 1) == 0)
            continue;
        if (out->count == out->room) {
            size_t room = out->room * 2 + 1024;
            sagg_entry *rows = realloc(out->rows, room * sizeof(*rows));
            if (rows == NULL)
                return false;
            out->rows = rows;
            out->room = room;
        }
        out->rows[out->count++] = entry;
    }
    return true;
}

void table_rows_sort(table_rows *rows)
{
    if (rows->count > 0)
        qsort_r(rows->rows, rows->count, sizeof(*rows->rows), by_row, rows);
}

void table_rows_free(table_rows *rows)
{
    free(rows->rows);
    free(rows->ids);
    *rows = (table_rows){0};
}

/* ---- names ---- */

static int by_name(const void *a, const void *b, void *agg)
{
    sagg_frame left = {0};
    sagg_frame right = {0};
    (void)sagg_frame_at(agg, *(const uint32_t *)a, &left);
    (void)sagg_frame_at(agg, *(const uint32_t *)b, &right);
    int order = by_text(left.class_name, right.class_name);
    return order != 0 ? order : by_text(left.method, right.method);
}

bool table_names_make(table_names *out, const sagg *agg)
{
    const void *context = agg;
    *out = (table_names){.frames = sagg_frame_count(agg)};
    out->order = calloc((size_t)out->frames + 1, sizeof(*out->order));
    out->number = calloc((size_t)out->frames + 1, sizeof(*out->number));
    if (out->order == NULL || out->number == NULL)
        return false;
    for (uint32_t i = 0; i < out->frames; i++)
        out->order[i] = i;
    void *same = (void *)(uintptr_t)context;
    qsort_r(out->order, out->frames, sizeof(*out->order), by_name, same);
    for (uint32_t i = 0; i < out->frames; i++) {
        out->names += i == 0 || by_name(&out->order[i - 1], &out->order[i], same) != 0;
        out->number[out->order[i]] = out->names - 1;
    }
    return true;
}

void table_names_free(table_names *names)
{
    free(names->order);
    free(names->number);
    *names = (table_names){0};
}
