/* SPDX-License-Identifier: Apache-2.0 */
/* Values of stacks by bucket of time, within a maximum number of cells. */
#include "output/heat_impl.h"

#include <string.h>

#include "aggregate/aggregate_impl.h"
#include "aggregate/saturate_impl.h"
#include "fail_impl.h"
#include "frames/id_impl.h"
#include "trees/sort_impl.h"

#define SECOND        UINT64_C(1000000000)
#define DEFAULT_STEP  UINT64_C(20000000)
#define DEFAULT_CELLS 1000000u
#define LEAST_CELLS   1000u
/* Stacks that are kept separate, at any cost in time resolution. */
#define LEAST_KEYS 256u
/* Buckets on either side of the first sample: 248 days at 20 ms. Samples beyond count in the last
 * bucket. */
#define MOST_BUCKETS (INT64_C(1) << 30)

int64_t sagg__floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0 ? 1 : 0);
}

/* ---- keys ---- */

static sagg__heat_key *key_at(const sagg_heat *heat, uint32_t index)
{
    return (sagg__heat_key *)heat->keys.items + index;
}

static uint64_t key_hash(const sagg__heat_key *key)
{
    return sagg__id_hash(&key->stack) ^ (uint64_t)key->thread * UINT64_C(0x9E3779B97F4A7C15);
}

struct wanted_key {
    const sagg_heat *heat;
    const sagg__heat_key *key;
};

static bool is_key(const void *context, uint32_t value)
{
    const struct wanted_key *wanted = context;
    const sagg__heat_key *key = key_at(wanted->heat, value);
    return key->thread == wanted->key->thread &&
           memcmp(&key->stack, &wanted->key->stack, sizeof(key->stack)) == 0;
}

static int add_key(sagg_heat *heat, const sagg__heat_key *key, uint32_t *index)
{
    struct wanted_key wanted = {heat, key};
    uint64_t hash = key_hash(key);
    if (sagg__index_find(&heat->key_index, hash, is_key, &wanted, index))
        return 0;
    int rc = sagg__index_reserve(&heat->mem, &heat->key_index);
    if (rc == 0)
        rc = sagg__extend(&heat->mem, &heat->keys, (size_t)heat->key_count + 1, sizeof(*key));
    if (rc != 0)
        return rc;
    *index = heat->key_count++;
    *key_at(heat, *index) = *key;
    sagg__index_put(&heat->key_index, hash, *index);
    return 0;
}

/* ---- cells ---- */

static sagg__heat_cell *cell_at(const sagg_heat *heat, uint32_t index)
{
    return (sagg__heat_cell *)heat->cells.items + index;
}

static uint64_t cell_hash(const sagg__heat_cell *cell)
{
    return ((uint64_t)cell->key << 32 | (uint32_t)cell->bucket) * UINT64_C(0xD6E8FEB86659FD93);
}

struct wanted_cell {
    const sagg_heat *heat;
    const sagg__heat_cell *cell;
};

static bool is_cell(const void *context, uint32_t value)
{
    const struct wanted_cell *wanted = context;
    const sagg__heat_cell *cell = cell_at(wanted->heat, value);
    return cell->key == wanted->cell->key && cell->bucket == wanted->cell->bucket;
}

static int add_cell(sagg_heat *heat, const sagg__heat_cell *cell)
{
    struct wanted_cell wanted = {heat, cell};
    uint64_t hash = cell_hash(cell);
    uint32_t index;
    if (sagg__index_find(&heat->cell_index, hash, is_cell, &wanted, &index)) {
        (void)sagg__add_to(&cell_at(heat, index)->value, cell->value);
        return 0;
    }
    int rc = sagg__index_reserve(&heat->mem, &heat->cell_index);
    if (rc == 0)
        rc = sagg__extend(&heat->mem, &heat->cells, (size_t)heat->cell_count + 1, sizeof(*cell));
    if (rc != 0)
        return rc;
    index = heat->cell_count++;
    *cell_at(heat, index) = *cell;
    sagg__index_put(&heat->cell_index, hash, index);
    return 0;
}

/* Adds all cells again, after their keys or buckets have changed. There is room, since their number
 * does not grow. */
static int join_cells(sagg_heat *heat)
{
    uint32_t count = heat->cell_count;
    int rc = 0;
    sagg__index_clear(&heat->cell_index);
    heat->cell_count = 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        sagg__heat_cell cell = *cell_at(heat, i);
        rc = add_cell(heat, &cell);
    }
    return rc;
}

/* ---- the cap ---- */

/* The steps are 20 ms, 100, 200, 400 ms, 2 s, so that a column of a round time has a whole number
 * of buckets. */
int64_t sagg__joined_by(uint32_t joins)
{
    return joins % 3 == 0 ? 5 : 2;
}

static int join_buckets(sagg_heat *heat)
{
    int64_t by = sagg__joined_by(heat->joins);
    int64_t first = sagg__floor_div(heat->first, by);
    for (uint32_t i = 0; i < heat->cell_count; i++) {
        sagg__heat_cell *cell = cell_at(heat, i);
        cell->bucket = (int32_t)(sagg__floor_div(heat->first + cell->bucket, by) - first);
    }
    heat->first = first;
    heat->step_ns *= (uint64_t)by;
    heat->joins++;
    return join_cells(heat);
}

static int by_weight(const void *context, uint32_t a, uint32_t b)
{
    const uint64_t *weights = context;
    if (weights[a] != weights[b])
        return weights[a] > weights[b] ? -1 : 1;
    return (a > b) - (a < b);
}

/* Removes the lighter half of the keys. `moved` receives the new numbers. */
static int thin_keys(sagg_heat *heat, uint64_t *weights, uint32_t *order, uint32_t *moved)
{
    uint32_t count = heat->key_count;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = 0; i < heat->cell_count; i++)
        (void)sagg__add_to(&weights[cell_at(heat, i)->key], cell_at(heat, i)->value);
    weights[SAGG__NAMELESS] = UINT64_MAX; /* it keeps its place */
    sagg__sort(order, moved, count, by_weight, weights);
    memset(moved, 0, count * sizeof(*moved));
    for (uint32_t i = 0; i < count / 2; i++)
        moved[order[i]] = 1;
    heat->key_count = 0;
    sagg__index_clear(&heat->key_index);
    for (uint32_t i = 0; i < count; i++) {
        bool stays = i == SAGG__NAMELESS || moved[i] != 0;
        sagg__heat_key key = *key_at(heat, i);
        moved[i] = SAGG__NAMELESS;
        if (stays && add_key(heat, &key, &moved[i]) != 0)
            return SAGG_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < heat->cell_count; i++)
        cell_at(heat, i)->key = moved[cell_at(heat, i)->key];
    return join_cells(heat);
}

static int drop_keys(sagg_heat *heat)
{
    uint32_t count = heat->key_count;
    uint64_t *weights = sagg__alloc_zero(&heat->mem, count, sizeof(*weights));
    uint32_t *order = sagg__alloc_zero(&heat->mem, count, sizeof(*order));
    uint32_t *moved = sagg__alloc_zero(&heat->mem, count, sizeof(*moved));
    int rc = SAGG_ERR_NOMEM;
    if (weights != NULL && order != NULL && moved != NULL)
        rc = thin_keys(heat, weights, order, moved);
    sagg__release(&heat->mem, weights, count * sizeof(*weights));
    sagg__release(&heat->mem, order, count * sizeof(*order));
    sagg__release(&heat->mem, moved, count * sizeof(*moved));
    return rc;
}

/* Reduces the resolution of time first, down to a second, then the number of names, and then time
 * again. */
static int make_room(sagg_heat *heat)
{
    int rc = 0;
    if (heat->cell_count < heat->max_cells)
        return 0;
    while (rc == 0 && heat->cell_count > heat->max_cells / 4 * 3)
        rc = heat->step_ns < SECOND || heat->key_count <= LEAST_KEYS ? join_buckets(heat)
                                                                     : drop_keys(heat);
    return rc;
}

/* ---- the interface ---- */

static int check(const sagg_heat_options *given, sagg_heat_options *out, sagg_error *err)
{
    memset(out, 0, sizeof(*out));
    if (given != NULL) {
        memcpy(out, given, given->size < sizeof(*out) ? given->size : sizeof(*out));
        for (size_t i = sizeof(*out); i < given->size; i++)
            if (((const uint8_t *)given)[i] != 0)
                return sagg__fail(err, SAGG_ERR_USAGE, 0,
                                  "The heat options have fields set that this library does not "
                                  "know.");
    }
    out->max_cells = out->max_cells != 0 ? out->max_cells : DEFAULT_CELLS;
    out->step_ns = out->step_ns != 0 ? out->step_ns : DEFAULT_STEP;
    if (out->max_cells < LEAST_CELLS)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "max_cells is %u: it must be at least %u.",
                          out->max_cells, LEAST_CELLS);
    if (out->step_ns > SECOND)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "A bucket can be at most 1 s long at first.");
    return 0;
}

int sagg_heat_new(sagg_heat **out, const sagg_heat_options *options, sagg_error *err)
{
    static const sagg__heat_key nameless;
    sagg_heat_options o;
    sagg__mem mem;
    uint32_t key;
    int rc = check(options, &o, err);
    if (rc != 0)
        return rc;
    sagg__mem_init(&mem, NULL, UINT64_MAX);
    sagg_heat *heat = sagg__alloc_zero(&mem, 1, sizeof(*heat));
    if (heat == NULL)
        return sagg__no_memory(err);
    *heat = (sagg_heat){
        .mem = mem, .threads = o.threads, .max_cells = o.max_cells, .step_ns = o.step_ns};
    if (add_key(heat, &nameless, &key) != 0) {
        sagg_heat_free(heat);
        return sagg__no_memory(err);
    }
    *out = heat;
    return 0;
}

void sagg_heat_free(sagg_heat *heat)
{
    if (heat == NULL)
        return;
    sagg__index_free(&heat->mem, &heat->key_index);
    sagg__index_free(&heat->mem, &heat->cell_index);
    sagg__array_free(&heat->mem, &heat->keys, sizeof(sagg__heat_key));
    sagg__array_free(&heat->mem, &heat->cells, sizeof(sagg__heat_cell));
    sagg__mem mem = heat->mem;
    sagg__release(&mem, heat, sizeof(*heat));
}

uint64_t sagg_heat_step(const sagg_heat *heat)
{
    return heat->step_ns;
}

/* Limits a time to 1970 to 2116, so that no sum of times can overflow. */
int64_t sagg__sane_time(int64_t time_ns)
{
    return time_ns < 0 ? 0 : time_ns > INT64_C(1) << 62 ? INT64_C(1) << 62 : time_ns;
}

static int32_t bucket_of(sagg_heat *heat, int64_t time_ns)
{
    int64_t bucket = sagg__floor_div(sagg__sane_time(time_ns), (int64_t)heat->step_ns);
    if (heat->cell_count == 0)
        heat->first = bucket;
    bucket -= heat->first;
    if (bucket > MOST_BUCKETS)
        return (int32_t)MOST_BUCKETS;
    return (int32_t)(bucket < -MOST_BUCKETS ? -MOST_BUCKETS : bucket);
}

int sagg_heat_add(sagg_heat *heat, const sagg *agg, const sagg_sample *sample, sagg_error *err)
{
    sagg__heat_key key = {0};
    sagg__heat_cell cell = {.value = sample->value};
    if (!sagg_stack_id_at(agg, sample->stack, &key.stack))
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "There is no stack %u.", sample->stack);
    if (sample->value == 0)
        return 0;
    key.thread = heat->threads ? sagg__group_thread(agg, sample->thread) : SAGG_NO_THREAD;
    int rc = make_room(heat);
    cell.bucket = bucket_of(heat, sample->time_ns);
    if (rc == 0)
        rc = add_key(heat, &key, &cell.key);
    if (rc == 0)
        rc = add_cell(heat, &cell);
    return rc == 0 ? 0 : sagg__no_memory(err);
}
