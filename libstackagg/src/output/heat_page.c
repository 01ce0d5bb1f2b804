/* SPDX-License-Identifier: Apache-2.0 */
/* Writes heatmaps in a page: the cells of each profile, identified by the stacks of its tree. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/aggregate_impl.h"
#include "aggregate/saturate_impl.h"
#include "fail_impl.h"
#include "frames/id_impl.h"
#include "output/document_impl.h"
#include "output/heat_impl.h"
#include "trees/tree_impl.h"

/* The most buckets that a reader accepts. */
#define MAX_BUCKETS (INT64_C(1) << 20)
#define NOWHERE     UINT32_MAX

/* A cell as it is written. */
struct placed {
    int64_t bucket;
    uint32_t stack;
    uint64_t value;
};

/* The aggregate's stacks by their ids. */
struct by_id {
    sagg_stack_id *ids;
    sagg__index index;
};

/* One profile: the numbers of its stacks, and its cells. */
struct map {
    sagg__mem *mem;
    const sagg *agg;
    const struct by_id *stacks;
    const sagg_tree *tree;
    const sagg_heat *heat;
    bool lines;
    /* The index that finds a node by its parent and frame. */
    uint32_t *parent;
    sagg__index children;
    uint32_t *frame_of; /* by frame of the aggregate: the tree's frame + 1, 0 = not searched yet */
    /* Numbers of stacks: by node, and by node for its omitted block. */
    uint32_t *stack_of;
    uint32_t *omitted_of;
    uint32_t nameless; /* the number for values without a stack */
    struct placed *cells;
    uint32_t cell_count;
    int64_t first; /* bucket 0 */
    int64_t buckets;
    uint64_t step_ns;
    uint64_t outside; /* value before or after all spans */
    const sagg_heatmap *page;
};

/* ---- stacks by their ids ---- */

static int find_ids(struct by_id *stacks, const sagg *agg, sagg__mem *mem)
{
    const uint32_t count = agg->stacks.count;
    stacks->ids = sagg__alloc(mem, count * sizeof(*stacks->ids));
    if (stacks->ids == NULL)
        return SAGG_ERR_NOMEM;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        sagg__stack_id(agg, i, &stacks->ids[i]);
        rc = sagg__index_reserve(mem, &stacks->index);
        if (rc == 0)
            sagg__index_put(&stacks->index, sagg__id_hash(&stacks->ids[i]), i);
    }
    return rc;
}

static void forget_ids(struct by_id *stacks, const sagg *agg, sagg__mem *mem)
{
    sagg__release(mem, stacks->ids, agg->stacks.count * sizeof(*stacks->ids));
    sagg__index_free(mem, &stacks->index);
}

struct wanted_id {
    const struct by_id *stacks;
    const sagg_stack_id *id;
};

static bool is_id(const void *context, uint32_t value)
{
    const struct wanted_id *wanted = context;
    return memcmp(&wanted->stacks->ids[value], wanted->id, sizeof(*wanted->id)) == 0;
}

/* Returns the stack, or SAGG_DROPPED for one that the aggregate has dropped. */
static uint32_t find_stack(const struct by_id *stacks, const sagg_stack_id *id)
{
    struct wanted_id wanted = {stacks, id};
    uint32_t index = SAGG_DROPPED;
    (void)sagg__index_find(&stacks->index, sagg__id_hash(id), is_id, &wanted, &index);
    return index;
}

/* ---- walking the tree from the root ---- */

static uint64_t child_hash(uint32_t parent, uint32_t frame)
{
    return ((uint64_t)parent << 32 | frame) * UINT64_C(0x9E3779B97F4A7C15);
}

struct wanted_child {
    const struct map *map;
    uint32_t parent, frame;
};

static bool is_child(const void *context, uint32_t value)
{
    const struct wanted_child *wanted = context;
    const sagg_tree_view *view = sagg_tree_get(wanted->map->tree);
    return wanted->map->parent[value] == wanted->parent && view->frame[value] == wanted->frame;
}

static uint32_t find_child(const struct map *map, uint32_t parent, uint32_t frame)
{
    struct wanted_child wanted = {map, parent, frame};
    uint32_t node;
    return sagg__index_find(&map->children, child_hash(parent, frame), is_child, &wanted, &node)
               ? node
               : NOWHERE;
}

/* Finds each node's parent, from the last node of each depth, and numbers the stacks. */
static int number_nodes(struct map *map)
{
    const sagg_tree_view *view = sagg_tree_get(map->tree);
    uint32_t stacks = 0;
    uint32_t at = 0;
    int rc = 0;
    for (uint32_t node = 0; rc == 0 && node < view->node_count; node++) {
        map->stack_of[node] = view->self[node] > 0 ? stacks++ : NOWHERE;
        map->omitted_of[node] = NOWHERE;
        map->parent[node] = NOWHERE;
        if (node == 0)
            continue;
        while (view->depth[at] >= view->depth[node])
            at = map->parent[at];
        map->parent[node] = at;
        at = node;
        rc = sagg__index_reserve(map->mem, &map->children);
        if (rc == 0)
            sagg__index_put(&map->children, child_hash(map->parent[node], view->frame[node]), node);
    }
    for (size_t i = 0; i < view->omitted_count; i++)
        map->omitted_of[view->omitted_node[i]] = stacks++;
    map->nameless = stacks;
    return rc;
}

/* ---- from a stack to its number ---- */

static uint32_t tree_frame(const struct map *map, const sagg_frame *frame)
{
    const sagg_tree_view *view = sagg_tree_get(map->tree);
    uint32_t index = sagg__frame_find(map->tree, frame);
    bool found = index < view->frame_count && sagg__frame_order(&view->frames[index], frame) == 0;
    return found ? index : NOWHERE;
}

static uint32_t frame_of(const struct map *map, uint32_t index)
{
    if (map->frame_of[index] == 0) {
        sagg_frame frame = {0};
        (void)sagg_frame_at(map->agg, index, &frame);
        frame.line = map->lines ? frame.line : 0;
        map->frame_of[index] = tree_frame(map, &frame) + 1; /* NOWHERE + 1 = 0: searched again */
    }
    return map->frame_of[index] - 1;
}

/* Makes a step down. Where the tree was cut, *stack becomes the block of omitted nodes. */
static bool step(const struct map *map, uint32_t *node, uint32_t frame, uint32_t *stack)
{
    uint32_t child = frame != NOWHERE ? find_child(map, *node, frame) : NOWHERE;
    if (child == NOWHERE)
        *stack = map->omitted_of[*node];
    else
        *node = child;
    return child != NOWHERE;
}

static uint32_t walk(const struct map *map, const sagg__heat_key *key, const sagg_stack *stack)
{
    uint32_t node = 0;
    uint32_t number = NOWHERE;
    if (sagg_tree_get(map->tree)->threads) {
        sagg_frame thread = sagg__thread_frame(map->agg, key->thread);
        if (!step(map, &node, tree_frame(map, &thread), &number))
            return number;
    }
    for (uint32_t i = stack->count; i-- > 0;)
        if (!step(map, &node, frame_of(map, sagg_stack_frame(stack, i)), &number))
            return number;
    return map->stack_of[node];
}

static uint32_t number_of(const struct map *map, const sagg__heat_key *key)
{
    sagg_stack stack;
    uint32_t number = NOWHERE;
    if (sagg_stack_at(map->agg, find_stack(map->stacks, &key->stack), &stack))
        number = walk(map, key, &stack);
    return number == NOWHERE ? map->nameless : number;
}

/* ---- time ---- */

static void set_range(struct map *map, int64_t start_ns, int64_t end_ns)
{
    int64_t step = (int64_t)map->step_ns;
    map->first = sagg__floor_div(start_ns, step);
    map->buckets = sagg__floor_div(end_ns - (end_ns > start_ns ? 1 : 0), step) - map->first + 1;
}

/* Joins buckets until a reader accepts their number. */
static void find_range(struct map *map)
{
    const sagg_heatmap *page = map->page;
    const sagg_heat *heat = map->heat;
    const sagg__heat_cell *cells = heat->cells.items;
    int64_t low = INT64_MAX;
    int64_t high = INT64_MIN;
    for (uint32_t i = 0; page->span_count == 0 && i < heat->cell_count; i++) {
        int64_t start_ns = (heat->first + cells[i].bucket) * (int64_t)heat->step_ns;
        low = start_ns < low ? start_ns : low;
        high = start_ns + 1 > high ? start_ns + 1 : high;
    }
    if (page->span_count > 0) {
        low = sagg__sane_time(page->spans[0].start_ns);
        high = sagg__sane_time(page->spans[page->span_count - 1].end_ns);
    }
    map->step_ns = heat->step_ns;
    set_range(map, low <= high ? low : 0, low <= high ? high : 1);
    for (uint32_t joins = heat->joins; map->buckets > MAX_BUCKETS; joins++) {
        map->step_ns *= (uint64_t)sagg__joined_by(joins);
        set_range(map, low, high);
    }
}

static int64_t clamp(struct map *map, int64_t bucket, uint64_t value)
{
    bool is_outside = bucket < 0 || bucket >= map->buckets;
    if (is_outside)
        (void)sagg__add_to(&map->outside, value);
    return bucket < 0 ? 0 : bucket >= map->buckets ? map->buckets - 1 : bucket;
}

/* ---- cells ---- */

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a;
    const struct placed *y = b;
    if (x->bucket != y->bucket)
        return x->bucket < y->bucket ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

/* Sorts the cells, and adds up those of the same place. */
static void join_places(struct map *map)
{
    uint32_t used = 0;
    qsort(map->cells, map->cell_count, sizeof(*map->cells), by_place);
    for (uint32_t i = 0; i < map->cell_count; i++) {
        struct placed *last = &map->cells[used > 0 ? used - 1 : 0];
        if (used == 0 || by_place(last, &map->cells[i]) != 0)
            map->cells[used++] = map->cells[i];
        else
            (void)sagg__add_to(&last->value, map->cells[i].value);
    }
    map->cell_count = used;
}

static int place_cells(struct map *map)
{
    const sagg_heat *heat = map->heat;
    const sagg__heat_cell *cells = heat->cells.items;
    int64_t joined = (int64_t)(map->step_ns / heat->step_ns);
    uint32_t *numbers = sagg__alloc(map->mem, heat->key_count * sizeof(*numbers));
    if (numbers == NULL)
        return SAGG_ERR_NOMEM;
    for (uint32_t i = 0; i < heat->key_count; i++)
        numbers[i] = i == SAGG__NAMELESS
                         ? map->nameless
                         : number_of(map, (const sagg__heat_key *)heat->keys.items + i);
    for (uint32_t i = 0; i < heat->cell_count; i++) {
        int64_t bucket = sagg__floor_div(heat->first + cells[i].bucket, joined) - map->first;
        map->cells[i] = (struct placed){.bucket = clamp(map, bucket, cells[i].value),
                                        .stack = numbers[cells[i].key],
                                        .value = cells[i].value};
    }
    map->cell_count = heat->cell_count;
    sagg__release(map->mem, numbers, heat->key_count * sizeof(*numbers));
    join_places(map);
    return 0;
}

static int make_map(struct map *map)
{
    const sagg_tree_view *view = sagg_tree_get(map->tree);
    for (size_t i = 0; i < view->frame_count; i++)
        map->lines = map->lines || view->frames[i].line > 0;
    map->parent = sagg__alloc(map->mem, view->node_count * sizeof(uint32_t));
    map->stack_of = sagg__alloc(map->mem, view->node_count * sizeof(uint32_t));
    map->omitted_of = sagg__alloc(map->mem, view->node_count * sizeof(uint32_t));
    map->frame_of =
        sagg__alloc_zero(map->mem, (size_t)map->agg->frames.count + 1, sizeof(uint32_t));
    map->cells = sagg__alloc(map->mem, ((size_t)map->heat->cell_count + 1) * sizeof(*map->cells));
    if (map->parent == NULL || map->stack_of == NULL || map->omitted_of == NULL ||
        map->frame_of == NULL || map->cells == NULL)
        return SAGG_ERR_NOMEM;
    int rc = number_nodes(map);
    if (rc != 0)
        return rc;
    find_range(map);
    return place_cells(map);
}

/* Frees everything that only building needs; the cells stay until they are written. */
static void end_making(struct map *map)
{
    size_t nodes = sagg_tree_get(map->tree)->node_count;
    sagg__index_free(map->mem, &map->children);
    sagg__release(map->mem, map->parent, nodes * sizeof(uint32_t));
    sagg__release(map->mem, map->stack_of, nodes * sizeof(uint32_t));
    sagg__release(map->mem, map->omitted_of, nodes * sizeof(uint32_t));
    sagg__release(map->mem, map->frame_of, ((size_t)map->agg->frames.count + 1) * sizeof(uint32_t));
    map->parent = map->stack_of = map->omitted_of = map->frame_of = NULL;
    map->stacks = NULL;
}

static void free_map(struct map *map)
{
    sagg__release(map->mem, map->cells, ((size_t)map->heat->cell_count + 1) * sizeof(*map->cells));
}

/* ---- writing ---- */

static void write_time(sagg__emit *emit, int64_t ns)
{
    char text[24];
    int size = snprintf(text, sizeof(text), "%" PRId64, ns);
    sagg__emit_bytes(emit, text, (size_t)size);
}

/* Writes where recording began and ended, alternately, in milliseconds from bucket 0 on. */
static void write_spans(const struct map *map, sagg__emit *emit)
{
    const int64_t ms = 1000000;
    int64_t origin = map->first * (int64_t)map->step_ns;
    sagg__emit_text(emit, ",\"spans\":[");
    for (size_t i = 0; i < map->page->span_count; i++) {
        const sagg_span *span = &map->page->spans[i];
        sagg__emit_text(emit, i > 0 ? "," : "");
        write_time(emit, sagg__floor_div(sagg__sane_time(span->start_ns) - origin, ms));
        sagg__emit_text(emit, ",");
        write_time(emit, sagg__floor_div(sagg__sane_time(span->end_ns) - origin + ms - 1, ms));
    }
    sagg__emit_text(emit, "]");
}

enum cell_column { BUCKET, STACK, VALUE };

static void write_column(const struct map *map, sagg__emit *emit, const char *key,
                         enum cell_column column)
{
    sagg__emit_text(emit, key);
    for (uint32_t i = 0; i < map->cell_count; i++) {
        const struct placed *cell = &map->cells[i];
        uint64_t number = column == STACK ? cell->stack : cell->value;
        if (column == BUCKET)
            number = (uint64_t)(cell->bucket - (i > 0 ? map->cells[i - 1].bucket : 0));
        if (i > 0)
            sagg__emit_text(emit, ",");
        sagg__emit_number(emit, number);
    }
    sagg__emit_text(emit, "]");
}

static void write_map(const void *ctx, sagg__emit *emit, const uint32_t *ids)
{
    const struct map *map = ctx;
    (void)ids;
    sagg__emit_text(emit, ",\"heat\":{\"origin_ns\":\"");
    write_time(emit, map->first * (int64_t)map->step_ns);
    sagg__emit_text(emit, "\",\"step_ns\":");
    sagg__emit_number(emit, map->step_ns);
    sagg__emit_text(emit, ",\"buckets\":");
    sagg__emit_number(emit, (uint64_t)map->buckets);
    write_spans(map, emit);
    sagg__emit_text(emit, ",\"outside\":\"");
    sagg__emit_number(emit, map->outside);
    sagg__emit_text(emit, "\",\"cells\":{");
    write_column(map, emit, "\"bucket\":[", BUCKET);
    write_column(map, emit, ",\"stack\":[", STACK);
    write_column(map, emit, ",\"value\":[", VALUE);
    sagg__emit_text(emit, "}}");
}

static int make_maps(struct map *maps, sagg__document_profile *profiles, const sagg_heatmap *page,
                     sagg__mem *mem)
{
    struct by_id stacks = {0};
    int rc = find_ids(&stacks, page->agg, mem);
    for (size_t i = 0; rc == 0 && i < page->count; i++) {
        maps[i] = (struct map){.mem = mem,
                               .agg = page->agg,
                               .stacks = &stacks,
                               .tree = page->trees[i],
                               .heat = page->heats[i],
                               .page = page};
        rc = make_map(&maps[i]);
        end_making(&maps[i]);
        profiles[i] = (sagg__document_profile){
            .view = sagg_tree_get(page->trees[i]), .more = write_map, .ctx = &maps[i]};
    }
    forget_ids(&stacks, page->agg, mem);
    return rc;
}

static int check(const sagg_heatmap *page, sagg_error *err)
{
    for (size_t i = 0; i < page->count; i++)
        if (page->heats[i]->threads != sagg_tree_get(page->trees[i])->threads)
            return sagg__fail(err, SAGG_ERR_USAGE, 0,
                              "A heat and its tree must agree on telling threads apart.");
    return 0;
}

int sagg_write_heatmap_html(sagg_str html_template, const sagg_heatmap *heatmap, sagg_str meta,
                            const sagg_compress *compress, const sagg_sink *sink, sagg_error *err)
{
    sagg__mem mem;
    size_t slots = heatmap->count + 1;
    int rc = check(heatmap, err);
    if (rc != 0)
        return rc;
    sagg__mem_init(&mem, NULL, UINT64_MAX);
    struct map *maps = sagg__alloc_zero(&mem, slots, sizeof(*maps));
    sagg__document_profile *profiles = sagg__alloc_zero(&mem, slots, sizeof(*profiles));
    if (maps == NULL || profiles == NULL || make_maps(maps, profiles, heatmap, &mem) != 0) {
        rc = sagg__no_memory(err);
    } else {
        sagg__document document = {.profiles = profiles, .count = heatmap->count, .meta = meta};
        rc = sagg__page_write(html_template, &document, compress, sink, err);
    }
    for (size_t i = 0; maps != NULL && i < heatmap->count && maps[i].mem != NULL; i++)
        free_map(&maps[i]);
    sagg__release(&mem, maps, slots * sizeof(*maps));
    sagg__release(&mem, profiles, slots * sizeof(*profiles));
    return rc;
}
