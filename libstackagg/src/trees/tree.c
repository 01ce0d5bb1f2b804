/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a flame tree from the stacks of an aggregate: sorts them root first by the rank of their
 * frames, then writes the nodes in preorder. Each stack opens only the nodes that it does not share
 * with the previous one.
 */
#include "trees/tree_impl.h"

#include <string.h>

#include "aggregate/saturate_impl.h"
#include "fail_impl.h"
#include "options_impl.h"
#include "trees/paths_impl.h"

struct build {
    const sagg *agg;
    sagg_tree *tree;
    const sagg_tree_options *options;
    sagg__array items; /* sagg__path */
    uint32_t item_count;
    uint32_t *item_of; /* of a stack, when threads are not separate; UINT32_MAX = none yet */
    sagg__paths paths;
    sagg__array sums; /* uint64_t, by depth */
};

/* ---- items ---- */

static int add_item(struct build *b, const sagg_entry *entry)
{
    uint32_t *known = &b->item_of[entry->stack];
    uint32_t thread =
        b->options->threads ? b->tree->palette.of_thread[entry->thread] : SAGG__NO_RANK;
    if (thread == SAGG__NO_RANK && *known != UINT32_MAX) {
        sagg__path *item = SAGG__AT(sagg__path, b->items, *known);
        (void)sagg__add_to(&item->value, entry->totals.value);
        return 0;
    }
    int rc = sagg__extend(&b->tree->mem, &b->items, (size_t)b->item_count + 1, sizeof(sagg__path));
    if (rc != 0)
        return rc;
    *known = b->item_count;
    *SAGG__AT(sagg__path, b->items, b->item_count++) =
        (sagg__path){entry->stack, thread, entry->totals.value};
    return 0;
}

static int collect(struct build *b)
{
    uint32_t stacks = b->agg->stacks.count;
    b->item_of = sagg__alloc(&b->tree->mem, stacks * sizeof(*b->item_of));
    if (b->item_of == NULL)
        return SAGG_ERR_NOMEM;
    memset(b->item_of, 0xFF, stacks * sizeof(*b->item_of));
    size_t cursor = 0;
    sagg_entry entry;
    int rc = 0;
    while (rc == 0 && sagg_next(b->agg, &cursor, &entry))
        if (entry.type == b->options->type)
            rc = add_item(b, &entry);
    return rc;
}

/* ---- nodes ---- */

static int open_node(struct build *b, uint32_t depth, uint32_t frame)
{
    sagg__nodes *nodes = &b->tree->nodes;
    sagg__mem *mem = &b->tree->mem;
    size_t count = nodes->count + 1;
    int rc = sagg__extend(mem, &nodes->depth, count, sizeof(uint32_t));
    if (rc == 0)
        rc = sagg__extend(mem, &nodes->frame, count, sizeof(uint32_t));
    if (rc == 0)
        rc = sagg__grow(mem, &nodes->self, count, sizeof(uint64_t));
    if (rc == 0)
        rc = sagg__grow(mem, &nodes->total, count, sizeof(uint64_t));
    if (rc != 0)
        return rc;
    *SAGG__AT(uint32_t, nodes->depth, nodes->count) = depth;
    *SAGG__AT(uint32_t, nodes->frame, nodes->count) = frame;
    nodes->count = count;
    return 0;
}

/* Adds a path. The node that was opened last is always the end of the previous path, since sorted
 * paths never return to an earlier node. */
static int add_path(struct build *b, const sagg__path_place *place, uint32_t shared)
{
    uint32_t length = sagg__path_length(&b->paths, place);
    int rc = 0;
    for (uint32_t at = shared; rc == 0 && at < length; at++)
        rc = open_node(b, at + 1, sagg__path_rank(&b->paths, place, at));
    if (rc != 0)
        return rc;
    uint64_t *self = SAGG__AT(uint64_t, b->tree->nodes.self, b->tree->nodes.count - 1);
    (void)sagg__add_to(self, b->paths.items[place->item].value);
    return 0;
}

static int write_nodes(struct build *b)
{
    int rc = open_node(b, 0, SAGG_ROOT_FRAME);
    for (uint32_t i = 0; rc == 0 && i < b->item_count; i++)
        rc = add_path(b, &b->paths.places[i], b->paths.shared[i]);
    return rc;
}

/* Sums totals from the leaves up: in reverse order, all children of a node come before it. */
static int sum_nodes(struct build *b)
{
    sagg__nodes *nodes = &b->tree->nodes;
    for (size_t i = nodes->count; i-- > 0;) {
        uint32_t depth = *SAGG__AT(uint32_t, nodes->depth, i);
        int rc = sagg__grow(&b->tree->mem, &b->sums, (size_t)depth + 2, sizeof(uint64_t));
        if (rc != 0)
            return rc;
        uint64_t *below = SAGG__AT(uint64_t, b->sums, depth + 1);
        uint64_t *beside = SAGG__AT(uint64_t, b->sums, depth);
        uint64_t total = *SAGG__AT(uint64_t, nodes->self, i);
        (void)sagg__add_to(&total, *below);
        *SAGG__AT(uint64_t, nodes->total, i) = total;
        *below = 0;
        (void)sagg__add_to(beside, total);
    }
    return 0;
}

/* ---- finishing ---- */

/* Drops unused frames; the others keep their order. */
int sagg__tree_drop_frames(sagg_tree *tree)
{
    sagg__palette *palette = &tree->palette;
    sagg__nodes *nodes = &tree->nodes;
    uint32_t slots = palette->count;
    uint32_t *moved = sagg__alloc_zero(&tree->mem, slots, sizeof(*moved));
    if (moved == NULL)
        return SAGG_ERR_NOMEM;
    for (size_t i = 1; i < nodes->count; i++)
        moved[*SAGG__AT(uint32_t, nodes->frame, i)] = 1;
    palette->count = 0;
    for (uint32_t i = 0; i < slots; i++) {
        if (moved[i] == 0)
            continue;
        palette->frames[palette->count] = palette->frames[i];
        moved[i] = palette->count++;
    }
    for (size_t i = 1; i < nodes->count; i++) {
        uint32_t *frame = SAGG__AT(uint32_t, nodes->frame, i);
        *frame = moved[*frame];
    }
    sagg__release(&tree->mem, moved, slots * sizeof(*moved));
    return 0;
}

static int name_type(sagg_tree *tree, const sagg *agg, uint32_t type)
{
    const sagg_type *row = &agg->types[agg->slot_of[type]];
    size_t name = strlen(row->name);
    size_t unit = strlen(row->unit);
    tree->type_text_size = name + unit;
    tree->type_text = sagg__alloc(&tree->mem, tree->type_text_size);
    if (tree->type_text == NULL)
        return SAGG_ERR_NOMEM;
    memcpy(tree->type_text, row->name, name);
    memcpy(tree->type_text + name, row->unit, unit);
    tree->view.type = (sagg_str){tree->type_text, name};
    tree->view.unit = (sagg_str){tree->type_text + name, unit};
    return 0;
}

void sagg__tree_view_fill(sagg_tree *tree)
{
    sagg_tree_view *view = &tree->view;
    view->frame_count = tree->palette.count;
    view->frames = tree->palette.frames;
    view->node_count = tree->nodes.count;
    view->depth = tree->nodes.depth.items;
    view->frame = tree->nodes.frame.items;
    view->self = tree->nodes.self.items;
    view->total = tree->nodes.total.items;
    view->omitted_count = tree->omitted_count;
    view->omitted_node = tree->omitted_node.items;
    view->omitted_total = tree->omitted_total.items;
    view->omitted_nodes = tree->omitted_nodes.items;
}

/* Returns how many nodes both limits leave; 0 = all of them. */
static size_t nodes_to_keep(const sagg_tree *tree, uint32_t max_nodes, uint64_t min_total)
{
    size_t keep = 1; /* the root */
    if (min_total == 0)
        return max_nodes;
    for (size_t i = 1; i < tree->nodes.count; i++)
        keep += *SAGG__AT(uint64_t, tree->nodes.total, i) >= min_total ? 1 : 0;
    return max_nodes > 0 && max_nodes < keep ? max_nodes : keep;
}

int sagg__tree_finish(sagg_tree *tree, uint32_t max_nodes, uint64_t min_total)
{
    size_t keep = nodes_to_keep(tree, max_nodes, min_total);
    int rc = keep > 0 ? sagg__tree_cut(tree, keep) : 0;
    if (rc == 0)
        rc = sagg__tree_drop_frames(tree);
    if (rc == 0)
        sagg__tree_view_fill(tree);
    return rc;
}

static void end_build(struct build *b)
{
    sagg__mem *mem = &b->tree->mem;
    sagg__array_free(mem, &b->items, sizeof(sagg__path));
    sagg__array_free(mem, &b->sums, sizeof(uint64_t));
    sagg__release(mem, b->item_of, b->agg->stacks.count * sizeof(uint32_t));
    sagg__paths_free(&b->paths, mem);
    sagg__palette_drop_maps(&b->tree->palette, mem);
}

static int build_nodes(struct build *b)
{
    sagg_tree *tree = b->tree;
    int rc = sagg__palette_new(&tree->palette, &tree->mem, b->agg, b->options->lines,
                               b->options->threads ? SAGG__THREAD_NAMES : SAGG__NO_THREADS);
    if (rc == 0)
        rc = collect(b);
    if (rc == 0)
        rc = sagg__paths_sort(&b->paths, &tree->mem, b->agg, &tree->palette, b->items.items,
                              b->item_count);
    if (rc == 0)
        rc = write_nodes(b);
    if (rc == 0)
        rc = sum_nodes(b);
    end_build(b);
    return rc;
}

static int check(const sagg *agg, const sagg_tree_options *given, sagg_tree_options *out,
                 sagg_error *err)
{
    memset(out, 0, sizeof(*out));
    if (given == NULL || given->size < offsetof(sagg_tree_options, lines))
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "A tree needs options with a type.");
    int rc = sagg__options_copy(out, sizeof(*out), given,
                                "The tree options have fields set that this library does not know.",
                                err);
    if (rc != 0)
        return rc;
    if (out->type > SAGG_MAX_TYPE || agg->slot_of[out->type] == SAGG__NO_SLOT)
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "Profile type %u is not in the aggregate's table.", out->type);
    return 0;
}

int sagg_tree_new(sagg_tree **out, const sagg *agg, const sagg_tree_options *options,
                  sagg_error *err)
{
    sagg_tree_options o;
    int rc = check(agg, options, &o, err);
    if (rc != 0)
        return rc;
    sagg__mem mem;
    sagg__mem_init(&mem, &agg->mem.allocator, UINT64_MAX);
    sagg_tree *tree = sagg__alloc_zero(&mem, 1, sizeof(*tree));
    if (tree == NULL)
        return sagg__no_memory(err);
    tree->mem = mem;
    struct build b = {.agg = agg, .tree = tree, .options = &o};
    rc = build_nodes(&b);
    if (rc == 0)
        rc = sagg__tree_finish(tree, o.max_nodes, o.min_total);
    if (rc == 0)
        rc = name_type(tree, agg, o.type);
    if (rc != 0) {
        sagg_tree_free(tree);
        return sagg__no_memory(err);
    }
    tree->view.totals = sagg_type_totals(agg, o.type);
    tree->view.threads = o.threads;
    *out = tree;
    return 0;
}

void sagg__nodes_free(sagg__nodes *nodes, sagg__mem *mem)
{
    sagg__array_free(mem, &nodes->depth, sizeof(uint32_t));
    sagg__array_free(mem, &nodes->frame, sizeof(uint32_t));
    sagg__array_free(mem, &nodes->self, sizeof(uint64_t));
    sagg__array_free(mem, &nodes->total, sizeof(uint64_t));
}

void sagg_tree_free(sagg_tree *tree)
{
    if (tree == NULL)
        return;
    sagg__nodes_free(&tree->nodes, &tree->mem);
    sagg__palette_free(&tree->palette, &tree->mem);
    sagg__array_free(&tree->mem, &tree->omitted_node, sizeof(uint32_t));
    sagg__array_free(&tree->mem, &tree->omitted_total, sizeof(uint64_t));
    sagg__array_free(&tree->mem, &tree->omitted_nodes, sizeof(uint64_t));
    sagg__release(&tree->mem, tree->type_text, tree->type_text_size);
    sagg__mem mem = tree->mem;
    sagg__release(&mem, tree, sizeof(*tree));
}

const sagg_tree_view *sagg_tree_get(const sagg_tree *tree)
{
    return &tree->view;
}
