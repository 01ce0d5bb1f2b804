/* SPDX-License-Identifier: Apache-2.0 */
/* Values of methods by window of time, and the bootstrap over them. */
#include "aggregate/windows_impl.h"

#include <stdlib.h>
#include <string.h>

#include "aggregate/saturate_impl.h"
#include "fail_impl.h"

#define FIRST_SLOTS 1024u
#define BILLION     UINT64_C(1000000000)

__extension__ typedef unsigned __int128 u128;

int sagg_windows_new(sagg_windows **out, uint64_t window_ns, sagg_error *err)
{
    sagg__mem mem;
    if (window_ns == 0 || window_ns > INT64_MAX)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "A window must be longer than 0 ns.");
    sagg__mem_init(&mem, NULL, UINT64_MAX);
    sagg_windows *windows = sagg__alloc_zero(&mem, 1, sizeof(*windows));
    if (windows == NULL)
        return sagg__no_memory(err);
    *windows = (sagg_windows){.mem = mem, .window_ns = window_ns, .slot_count = FIRST_SLOTS};
    windows->slots = sagg__alloc_zero(&windows->mem, FIRST_SLOTS, sizeof(*windows->slots));
    if (windows->slots == NULL) {
        sagg_windows_free(windows);
        return sagg__no_memory(err);
    }
    *out = windows;
    return 0;
}

void sagg_windows_free(sagg_windows *windows)
{
    if (windows == NULL)
        return;
    sagg__array_free(&windows->mem, &windows->cells, sizeof(sagg__cell));
    sagg__release(&windows->mem, windows->slots, windows->slot_count * sizeof(*windows->slots));
    sagg__mem mem = windows->mem;
    sagg__release(&mem, windows, sizeof(*windows));
}

static sagg__cell *cell_at(const sagg_windows *w, uint32_t index)
{
    return (sagg__cell *)w->cells.items + index;
}

static size_t slot_of(const sagg_windows *w, uint64_t method, int64_t window)
{
    uint64_t hash =
        (method ^ (uint64_t)window * UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xD6E8FEB86659FD93);
    size_t mask = w->slot_count - 1;
    size_t slot = (size_t)(hash >> 32) & mask;
    while (w->slots[slot] != 0) {
        const sagg__cell *cell = cell_at(w, w->slots[slot] - 1);
        if (cell->method == method && cell->window == window)
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static int widen(sagg_windows *w)
{
    size_t old = w->slot_count;
    uint32_t *slots = sagg__alloc_zero(&w->mem, old * 2, sizeof(*slots));
    if (slots == NULL)
        return SAGG_ERR_NOMEM;
    sagg__release(&w->mem, w->slots, old * sizeof(*slots));
    w->slots = slots;
    w->slot_count = old * 2;
    for (uint32_t i = 0; i < w->count; i++)
        w->slots[slot_of(w, cell_at(w, i)->method, cell_at(w, i)->window)] = i + 1;
    return 0;
}

/* Adds a new cell. */
static int add_cell(sagg_windows *w, uint64_t method, int64_t window, size_t slot)
{
    const size_t count = (size_t)w->count + 1;
    int rc = sagg__grow(&w->mem, &w->cells, count, sizeof(sagg__cell));
    if (rc != 0)
        return rc;
    *cell_at(w, w->count) = (sagg__cell){.method = method, .window = window};
    w->slots[slot] = ++w->count;
    return count * 2 > w->slot_count ? widen(w) : 0;
}

/* Adds a value of the method with this hash; 0 = no method. */
static int add_value(sagg_windows *w, uint64_t method, int64_t time_ns, uint64_t value)
{
    const int64_t length = (int64_t)w->window_ns;
    const int64_t window = time_ns / length - (time_ns % length < 0 ? 1 : 0);
    size_t slot = slot_of(w, method, window);
    if (w->slots[slot] == 0) {
        int rc = add_cell(w, method, window, slot);
        if (rc != 0)
            return rc;
        slot = slot_of(w, method, window);
    }
    (void)sagg__add_to(&cell_at(w, w->slots[slot] - 1)->value, value);
    return 0;
}

int sagg_windows_add(sagg_windows *windows, const sagg_frame *leaf, int64_t time_ns, uint64_t value,
                     sagg_error *err)
{
    uint64_t method = 0;
    if (leaf != NULL)
        sagg_frame_hash(&method, NULL, leaf);
    return add_value(windows, method, time_ns, value) != 0 ? sagg__no_memory(err) : 0;
}

int sagg_windows_add_sample(sagg_windows *windows, const sagg *agg, const sagg_sample *sample,
                            sagg_error *err)
{
    if (sample->stack >= agg->stacks.count)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "There is no stack %u.", sample->stack);
    const sagg_stack stack =
        sagg__stack_view(agg, SAGG__AT(sagg__stack, agg->stacks.array, sample->stack));
    uint64_t method = 0;
    if (stack.count > 0) {
        const uint32_t leaf = sagg_stack_frame(&stack, 0);
        const sagg__frame *frame = SAGG__AT(sagg__frame, agg->frames.array, leaf);
        method = SAGG__AT(sagg__method, agg->methods.array, frame->method)->hash;
    }
    return add_value(windows, method, sample->time_ns, sample->value) != 0 ? sagg__no_memory(err)
                                                                           : 0;
}

/* ---- sides ---- */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t *sorted_windows(sagg__mem *mem, const sagg_windows *from, uint32_t *count)
{
    int64_t *windows = sagg__alloc(mem, ((size_t)from->count + 1) * sizeof(*windows));
    *count = 0;
    if (windows == NULL)
        return NULL;
    for (uint32_t i = 0; i < from->count; i++)
        windows[i] = cell_at(from, i)->window;
    qsort(windows, from->count, sizeof(*windows), by_number);
    for (uint32_t i = 0; i < from->count; i++)
        if (i == 0 || windows[i] != windows[*count - 1])
            windows[(*count)++] = windows[i];
    return windows;
}

static uint32_t find(const uint64_t *sorted, uint32_t count, uint64_t wanted)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sorted[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && sorted[low] == wanted ? low : count;
}

static void fill_side(sagg__side *side, const sagg_windows *from, const int64_t *windows,
                      const uint64_t *hashes, uint32_t methods)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const sagg__cell *cell = cell_at(from, i);
        const int64_t *at =
            bsearch(&cell->window, windows, side->windows, sizeof(*windows), by_number);
        size_t window = (size_t)(at - windows);
        uint32_t method = find(hashes, methods, cell->method);
        side->totals[window] += cell->value;
        if (method < methods)
            side->values[window * methods + method] += cell->value;
    }
}

int sagg__side_new(sagg__side *side, sagg__mem *mem, const sagg_windows *from,
                   const uint64_t *hashes, uint32_t methods)
{
    *side = (sagg__side){0};
    int64_t *windows = sorted_windows(mem, from, &side->windows);
    size_t slots = (size_t)side->windows + 1;
    side->values = sagg__alloc_zero(mem, slots * methods + 1, sizeof(uint64_t));
    side->totals = sagg__alloc_zero(mem, slots, sizeof(uint64_t));
    bool made = windows != NULL && side->values != NULL && side->totals != NULL;
    if (made)
        fill_side(side, from, windows, hashes, methods);
    sagg__release(mem, windows, ((size_t)from->count + 1) * sizeof(*windows));
    return made ? 0 : SAGG_ERR_NOMEM;
}

void sagg__side_free(sagg__side *side, sagg__mem *mem, uint32_t methods)
{
    size_t slots = (size_t)side->windows + 1;
    sagg__release(mem, side->values, (slots * methods + 1) * sizeof(uint64_t));
    sagg__release(mem, side->totals, slots * sizeof(uint64_t));
}

/* ---- the bootstrap ---- */

int64_t sagg__share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (int64_t)(((u128)part * BILLION + whole / 2) / whole);
}

/* Returns the next number of splitmix64, which is small and good enough to choose windows. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Sums as many windows as the side has, drawn with replacement. sums[methods] is the total. */
static void draw(const sagg__side *side, uint32_t methods, uint64_t *random, uint64_t *sums)
{
    memset(sums, 0, ((size_t)methods + 1) * sizeof(*sums));
    for (uint32_t i = 0; i < side->windows; i++) {
        size_t window = (size_t)((u128)next_random(random) * side->windows >> 64);
        const uint64_t *values = side->values + window * methods;
        for (uint32_t m = 0; m < methods; m++)
            sums[m] += values[m];
        sums[methods] += side->totals[window];
    }
}

int sagg__bootstrap(const sagg__side *before, const sagg__side *after, uint32_t methods,
                    uint32_t rounds, uint64_t seed, int64_t *low, int64_t *high, sagg__mem *mem)
{
    size_t drawn_bytes = (size_t)methods * rounds * sizeof(int64_t);
    size_t sums_bytes = 2 * ((size_t)methods + 1) * sizeof(uint64_t);
    int64_t *drawn = sagg__alloc(mem, drawn_bytes);
    uint64_t *old = sagg__alloc(mem, sums_bytes);
    if (drawn != NULL && old != NULL) {
        uint64_t *new = old + methods + 1;
        for (uint32_t round = 0; round < rounds; round++) {
            draw(before, methods, &seed, old);
            draw(after, methods, &seed, new);
            for (uint32_t m = 0; m < methods; m++)
                drawn[(size_t)m * rounds + round] =
                    sagg__share(new[m], new[methods]) - sagg__share(old[m], old[methods]);
        }
        for (uint32_t m = 0; m < methods; m++) {
            int64_t *row = drawn + (size_t)m * rounds;
            qsort(row, rounds, sizeof(*row), by_number);
            low[m] = row[rounds / 200];
            high[m] = row[rounds - 1 - rounds / 200];
        }
    }
    bool made = drawn != NULL && old != NULL;
    sagg__release(mem, drawn, drawn_bytes);
    sagg__release(mem, old, sums_bytes);
    return made ? 0 : SAGG_ERR_NOMEM;
}
