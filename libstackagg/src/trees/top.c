/* SPDX-License-Identifier: Apache-2.0 */
/* Computes self and total per method, over all entries. */
#include <string.h>

#include "aggregate/saturate_impl.h"
#include "fail_impl.h"
#include "trees/sort_impl.h"
#include "trees/tree_impl.h"

struct sagg_top {
    sagg__mem mem;
    sagg__palette palette;
    sagg__array rows; /* sagg_top_row */
    size_t count;
    size_t omitted;
};

/* Sums by rank in the palette. */
struct sums {
    sagg_top *top;
    uint64_t *self;
    uint64_t *total;
    uint32_t *seen; /* the last stack, counted from 1, that contained the method */
    uint32_t *order;
    uint32_t *room;
};

static void sum_entry(struct sums *s, const sagg *agg, const sagg_entry *entry, uint32_t number)
{
    sagg_stack stack;
    if (!sagg_stack_at(agg, entry->stack, &stack))
        return;
    for (uint32_t i = 0; i < stack.count; i++) {
        uint32_t rank = s->top->palette.of_frame[sagg_stack_frame(&stack, i)];
        if (i == 0)
            (void)sagg__add_to(&s->self[rank], entry->totals.value);
        if (s->seen[rank] == number)
            continue;
        s->seen[rank] = number;
        (void)sagg__add_to(&s->total[rank], entry->totals.value);
    }
}

static void sum_entries(struct sums *s, const sagg *agg, uint32_t type)
{
    size_t cursor = 0;
    sagg_entry entry;
    uint32_t number = 0;
    while (sagg_next(agg, &cursor, &entry))
        if (entry.type == type)
            sum_entry(s, agg, &entry, ++number);
}

/* Orders by self, then total. Ranks are in the order of names, and sorting is stable. */
static int by_self(const void *context, uint32_t a, uint32_t b)
{
    const struct sums *s = context;
    if (s->self[a] != s->self[b])
        return s->self[a] > s->self[b] ? -1 : 1;
    if (s->total[a] != s->total[b])
        return s->total[a] > s->total[b] ? -1 : 1;
    return 0;
}

static int write_rows(struct sums *s, size_t limit)
{
    sagg_top *top = s->top;
    uint32_t count = 0;
    for (uint32_t i = 0; i < top->palette.count; i++)
        if (s->seen[i] != 0)
            s->order[count++] = i;
    sagg__sort(s->order, s->room, count, by_self, s);
    top->count = limit > 0 && limit < count ? limit : count;
    top->omitted = count - top->count;
    int rc = sagg__grow(&top->mem, &top->rows, top->count, sizeof(sagg_top_row));
    for (size_t i = 0; rc == 0 && i < top->count; i++) {
        uint32_t rank = s->order[i];
        *SAGG__AT(sagg_top_row, top->rows, i) =
            (sagg_top_row){top->palette.frames[rank], s->self[rank], s->total[rank]};
    }
    return rc;
}

static int fill(sagg_top *top, const sagg *agg, uint32_t type, size_t limit)
{
    sagg__mem *mem = &top->mem;
    int rc = sagg__palette_new(&top->palette, mem, agg, false, SAGG__NO_THREADS);
    if (rc != 0)
        return rc;
    uint32_t count = top->palette.count;
    struct sums s = {.top = top};
    s.self = sagg__alloc_zero(mem, count, sizeof(*s.self));
    s.total = sagg__alloc_zero(mem, count, sizeof(*s.total));
    s.seen = sagg__alloc_zero(mem, count, sizeof(*s.seen));
    s.order = sagg__alloc_zero(mem, count, sizeof(*s.order));
    s.room = sagg__alloc_zero(mem, count, sizeof(*s.room));
    rc = SAGG_ERR_NOMEM;
    if (s.self != NULL && s.total != NULL && s.seen != NULL && s.order != NULL && s.room != NULL) {
        sum_entries(&s, agg, type);
        rc = write_rows(&s, limit);
    }
    sagg__release(mem, s.self, count * sizeof(*s.self));
    sagg__release(mem, s.total, count * sizeof(*s.total));
    sagg__release(mem, s.seen, count * sizeof(*s.seen));
    sagg__release(mem, s.order, count * sizeof(*s.order));
    sagg__release(mem, s.room, count * sizeof(*s.room));
    sagg__palette_drop_maps(&top->palette, mem);
    return rc;
}

int sagg_top_new(sagg_top **out, const sagg *agg, uint32_t type, size_t limit, sagg_error *err)
{
    if (type > SAGG_MAX_TYPE || agg->slot_of[type] == SAGG__NO_SLOT)
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "Profile type %u is not in the aggregate's table.", type);
    sagg__mem mem;
    sagg__mem_init(&mem, &agg->mem.allocator, UINT64_MAX);
    sagg_top *top = sagg__alloc_zero(&mem, 1, sizeof(*top));
    if (top == NULL)
        return sagg__no_memory(err);
    top->mem = mem;
    if (fill(top, agg, type, limit) != 0) {
        sagg_top_free(top);
        return sagg__no_memory(err);
    }
    *out = top;
    return 0;
}

void sagg_top_free(sagg_top *top)
{
    if (top == NULL)
        return;
    sagg__palette_free(&top->palette, &top->mem);
    sagg__array_free(&top->mem, &top->rows, sizeof(sagg_top_row));
    sagg__mem mem = top->mem;
    sagg__release(&mem, top, sizeof(*top));
}

const sagg_top_row *sagg_top_rows(const sagg_top *top, size_t *count, size_t *omitted)
{
    *count = top->count;
    if (omitted != NULL)
        *omitted = top->omitted;
    return top->rows.items;
}
