/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a comparison by the weight of both sides together. */
#include "aggregate/saturate_impl.h"
#include "aggregate/windows_impl.h"
#include "trees/sort_impl.h"
#include "trees/tree_impl.h"

struct cut {
    sagg_tree *tree;
    uint64_t *before_self;
    uint64_t *before_total;
    uint64_t *weight;  /* by node: both shares */
    uint32_t *numbers; /* two blocks of as many numbers as there are nodes */
};

/* Orders nodes by weight. No node weighs more than its parent, which comes before it, so the first
 * nodes always form a tree. */
static int by_weight(const void *context, uint32_t a, uint32_t b)
{
    const uint64_t *weight = context;
    if (weight[a] != weight[b])
        return weight[a] > weight[b] ? -1 : 1;
    return (a > b) - (a < b);
}

/* Sets the weight of the removed nodes to 0. */
static void choose(const struct cut *c, const sagg_diff_options *o)
{
    uint32_t count = (uint32_t)c->tree->nodes.count;
    const uint64_t *total = c->tree->nodes.total.items;
    for (uint32_t i = 0; i < count; i++) {
        c->weight[i] = (uint64_t)sagg__share(total[i], total[0]) +
                       (uint64_t)sagg__share(c->before_total[i], c->before_total[0]) + 1;
        c->numbers[i] = i;
    }
    sagg__sort(c->numbers, c->numbers + count, count, by_weight, c->weight);
    for (uint32_t i = 1; i < count; i++) {
        uint64_t *weight = &c->weight[c->numbers[i]];
        if ((o->max_nodes > 0 && i >= o->max_nodes) || (*weight - 1) / 2 < o->min_share)
            *weight = 0;
    }
}

struct gone {
    uint64_t total;
    uint64_t before;
    uint64_t nodes;
};

/* Moves the nodes that stay to the front; removed ones are summed at their parent. `above`: by
 * depth, the kept node's new number. */
static void squeeze(const struct cut *c, struct gone *gone, uint32_t *above)
{
    sagg__nodes *nodes = &c->tree->nodes;
    uint32_t *depth = nodes->depth.items;
    uint64_t *self = nodes->self.items;
    uint64_t *total = nodes->total.items;
    uint32_t cut_depth = UINT32_MAX;
    size_t kept = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        if (depth[i] <= cut_depth)
            cut_depth = UINT32_MAX;
        if (cut_depth != UINT32_MAX || c->weight[i] == 0) {
            struct gone *to = &gone[above[(cut_depth != UINT32_MAX ? cut_depth : depth[i]) - 1]];
            if (cut_depth == UINT32_MAX) {
                cut_depth = depth[i];
                (void)sagg__add_to(&to->total, total[i]);
                (void)sagg__add_to(&to->before, c->before_total[i]);
            }
            to->nodes++;
            continue;
        }
        above[depth[i]] = (uint32_t)kept;
        depth[kept] = depth[i];
        *SAGG__AT(uint32_t, nodes->frame, kept) = *SAGG__AT(uint32_t, nodes->frame, i);
        self[kept] = self[i];
        total[kept] = total[i];
        c->before_self[kept] = c->before_self[i];
        c->before_total[kept++] = c->before_total[i];
    }
    nodes->count = kept;
}

static int write_omitted(sagg_tree *tree, const struct gone *gone, sagg__array *omitted_before)
{
    for (uint32_t i = 0; i < tree->nodes.count; i++) {
        size_t at = tree->omitted_count;
        if (gone[i].nodes == 0)
            continue;
        int rc = sagg__grow(&tree->mem, &tree->omitted_node, at + 1, sizeof(uint32_t));
        if (rc == 0)
            rc = sagg__grow(&tree->mem, &tree->omitted_total, at + 1, sizeof(uint64_t));
        if (rc == 0)
            rc = sagg__grow(&tree->mem, &tree->omitted_nodes, at + 1, sizeof(uint64_t));
        if (rc == 0)
            rc = sagg__grow(&tree->mem, omitted_before, at + 1, sizeof(uint64_t));
        if (rc != 0)
            return rc;
        *SAGG__AT(uint32_t, tree->omitted_node, at) = i;
        *SAGG__AT(uint64_t, tree->omitted_total, at) = gone[i].total;
        *SAGG__AT(uint64_t, tree->omitted_nodes, at) = gone[i].nodes;
        *SAGG__AT(uint64_t, *omitted_before, at) = gone[i].before;
        tree->omitted_count++;
    }
    return 0;
}

/* Adds the nodes that were omitted from the given trees to those that are removed now. */
static void take_omitted(sagg_tree *tree, struct gone *gone, const uint64_t *before,
                         const uint64_t *weight, const uint32_t *moved)
{
    for (size_t i = 0; i < tree->omitted_count; i++) {
        uint32_t node = *SAGG__AT(uint32_t, tree->omitted_node, i);
        if (weight[node] == 0)
            continue; /* it is part of a removed node's total */
        struct gone *to = &gone[moved[node]];
        (void)sagg__add_to(&to->total, *SAGG__AT(uint64_t, tree->omitted_total, i));
        (void)sagg__add_to(&to->before, before[i]);
        to->nodes += *SAGG__AT(uint64_t, tree->omitted_nodes, i);
    }
    tree->omitted_count = 0;
}

int sagg__diff_cut(sagg_tree *tree, sagg__array *before_self, sagg__array *before_total,
                   sagg__array *omitted_before, const sagg_diff_options *o)
{
    size_t count = tree->nodes.count;
    sagg__mem *mem = &tree->mem;
    if (o->max_nodes == 0 && o->min_share == 0)
        return 0;
    struct cut c = {tree, before_self->items, before_total->items,
                    sagg__alloc(mem, count * sizeof(uint64_t)),
                    sagg__alloc(mem, count * 2 * sizeof(uint32_t))};
    struct gone *gone = sagg__alloc_zero(mem, count, sizeof(*gone));
    int rc = SAGG_ERR_NOMEM;
    if (c.weight != NULL && c.numbers != NULL && gone != NULL) {
        choose(&c, o);
        uint32_t moved = 0;
        for (size_t i = 0; i < count; i++)
            c.numbers[i] = c.weight[i] > 0 ? moved++ : 0;
        squeeze(&c, gone, c.numbers + count);
        take_omitted(tree, gone, omitted_before->items, c.weight, c.numbers);
        rc = write_omitted(tree, gone, omitted_before);
    }
    sagg__release(mem, c.weight, count * sizeof(uint64_t));
    sagg__release(mem, c.numbers, count * 2 * sizeof(uint32_t));
    sagg__release(mem, gone, count * sizeof(*gone));
    return rc;
}
