/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts a tree by weight to a number of nodes, independent of the order in which stacks were added.
 */
#include <string.h>

#include "aggregate/saturate_impl.h"
#include "trees/sort_impl.h"
#include "trees/tree_impl.h"

/* Orders the heaviest first, then in preorder. No node is heavier than its parent, which comes
 * before it in preorder, so the first `n` in this order always form a tree. */
static int by_total(const void *context, uint32_t a, uint32_t b)
{
    const uint64_t *total = context;
    if (total[a] != total[b])
        return total[a] > total[b] ? -1 : 1;
    return (a > b) - (a < b);
}

static int mark_heaviest(sagg_tree *tree, uint8_t *keep, size_t max_nodes)
{
    uint32_t count = (uint32_t)tree->nodes.count;
    uint32_t *order = sagg__alloc(&tree->mem, count * sizeof(*order));
    uint32_t *room = sagg__alloc(&tree->mem, count * sizeof(*room));
    int rc = SAGG_ERR_NOMEM;
    if (order != NULL && room != NULL) {
        for (uint32_t i = 0; i < count; i++)
            order[i] = i;
        sagg__sort(order, room, count, by_total, tree->nodes.total.items);
        for (size_t i = 0; i < max_nodes; i++)
            keep[order[i]] = 1;
        rc = 0;
    }
    sagg__release(&tree->mem, order, count * sizeof(*order));
    sagg__release(&tree->mem, room, count * sizeof(*room));
    return rc;
}

static void move_node(sagg__nodes *nodes, size_t from, size_t to)
{
    *SAGG__AT(uint32_t, nodes->depth, to) = *SAGG__AT(uint32_t, nodes->depth, from);
    *SAGG__AT(uint32_t, nodes->frame, to) = *SAGG__AT(uint32_t, nodes->frame, from);
    *SAGG__AT(uint64_t, nodes->self, to) = *SAGG__AT(uint64_t, nodes->self, from);
    *SAGG__AT(uint64_t, nodes->total, to) = *SAGG__AT(uint64_t, nodes->total, from);
}

/* The nodes that were cut away, by node that stays. */
struct cut {
    uint64_t *total;
    uint64_t *nodes;
};

/* Moves the nodes that stay to the front, and adds the removed ones to their nearest ancestor that
 * stays; `above` has it by depth. */
static void move_nodes(sagg_tree *tree, const uint8_t *keep, struct cut *cut, uint32_t *above)
{
    sagg__nodes *nodes = &tree->nodes;
    size_t kept = 0;
    uint32_t cut_depth = UINT32_MAX; /* of the subtree that is being removed */
    for (size_t i = 0; i < nodes->count; i++) {
        uint32_t depth = *SAGG__AT(uint32_t, nodes->depth, i);
        if (keep[i]) {
            cut_depth = UINT32_MAX;
            above[depth] = (uint32_t)kept;
            move_node(nodes, i, kept++);
            continue;
        }
        if (depth <= cut_depth) {
            cut_depth = depth;
            (void)sagg__add_to(&cut->total[above[depth - 1]], *SAGG__AT(uint64_t, nodes->total, i));
        }
        cut->nodes[above[cut_depth - 1]]++;
    }
    nodes->count = kept;
}

static int write_omitted(sagg_tree *tree, const struct cut *cut)
{
    for (size_t i = 0; i < tree->nodes.count; i++) {
        size_t count = tree->omitted_count + 1;
        if (cut->nodes[i] == 0)
            continue;
        int rc = sagg__grow(&tree->mem, &tree->omitted_node, count, sizeof(uint32_t));
        if (rc == 0)
            rc = sagg__grow(&tree->mem, &tree->omitted_total, count, sizeof(uint64_t));
        if (rc == 0)
            rc = sagg__grow(&tree->mem, &tree->omitted_nodes, count, sizeof(uint64_t));
        if (rc != 0)
            return rc;
        *SAGG__AT(uint32_t, tree->omitted_node, count - 1) = (uint32_t)i;
        *SAGG__AT(uint64_t, tree->omitted_total, count - 1) = cut->total[i];
        *SAGG__AT(uint64_t, tree->omitted_nodes, count - 1) = cut->nodes[i];
        tree->omitted_count = count;
    }
    return 0;
}

static uint32_t deepest(const sagg_tree *tree)
{
    uint32_t most = 0;
    for (size_t i = 0; i < tree->nodes.count; i++) {
        uint32_t depth = *SAGG__AT(uint32_t, tree->nodes.depth, i);
        most = depth > most ? depth : most;
    }
    return most;
}

int sagg__tree_cut(sagg_tree *tree, size_t max_nodes)
{
    size_t count = tree->nodes.count;
    if (count <= max_nodes)
        return 0;
    sagg__mem *mem = &tree->mem;
    size_t depths = (size_t)deepest(tree) + 1;
    uint8_t *keep = sagg__alloc_zero(mem, count, 1);
    uint32_t *above = sagg__alloc_zero(mem, depths, sizeof(*above));
    struct cut cut = {sagg__alloc_zero(mem, max_nodes, sizeof(uint64_t)),
                      sagg__alloc_zero(mem, max_nodes, sizeof(uint64_t))};
    int rc = SAGG_ERR_NOMEM;
    if (keep != NULL && above != NULL && cut.total != NULL && cut.nodes != NULL)
        rc = mark_heaviest(tree, keep, max_nodes);
    if (rc == 0) {
        move_nodes(tree, keep, &cut, above);
        rc = write_omitted(tree, &cut);
    }
    sagg__release(mem, keep, count);
    sagg__release(mem, above, depths * sizeof(*above));
    sagg__release(mem, cut.total, max_nodes * sizeof(uint64_t));
    sagg__release(mem, cut.nodes, max_nodes * sizeof(uint64_t));
    return rc;
}
