/* SPDX-License-Identifier: Apache-2.0 */
#include "trees/trie_impl.h"

#include <string.h>

#include "aggregate/saturate_impl.h"
#include "trees/sort_impl.h"

#define FIRST_SLOTS 1024u

sagg__trie_node *sagg__trie_at(const sagg__trie *trie, uint32_t node)
{
    return SAGG__AT(sagg__trie_node, trie->nodes, node);
}

int sagg__trie_init(sagg__trie *trie, sagg__mem *mem)
{
    *trie = (sagg__trie){.mem = mem, .slot_count = FIRST_SLOTS};
    trie->slots = sagg__alloc_zero(mem, trie->slot_count, sizeof(*trie->slots));
    if (trie->slots == NULL || sagg__grow(mem, &trie->nodes, 1, sizeof(sagg__trie_node)) != 0)
        return SAGG_ERR_NOMEM;
    *sagg__trie_at(trie, trie->count++) = (sagg__trie_node){.frame = SAGG_ROOT_FRAME};
    return 0;
}

void sagg__trie_free(sagg__trie *trie)
{
    sagg__array_free(trie->mem, &trie->nodes, sizeof(sagg__trie_node));
    sagg__release(trie->mem, trie->slots, trie->slot_count * sizeof(*trie->slots));
}

/* Returns the slot of a child: its own, or the empty one for it. */
static size_t slot_of(const sagg__trie *trie, uint32_t parent, uint32_t frame)
{
    uint64_t hash = ((uint64_t)parent << 32 | frame) * UINT64_C(0x9E3779B97F4A7C15);
    size_t mask = trie->slot_count - 1;
    size_t slot = (size_t)(hash >> 32) & mask;
    while (trie->slots[slot] != 0) {
        const sagg__trie_node *node = sagg__trie_at(trie, trie->slots[slot]);
        if (node->parent == parent && node->frame == frame)
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static int widen(sagg__trie *trie)
{
    size_t old = trie->slot_count;
    uint32_t *slots = sagg__alloc_zero(trie->mem, old * 2, sizeof(*slots));
    if (slots == NULL)
        return SAGG_ERR_NOMEM;
    sagg__release(trie->mem, trie->slots, old * sizeof(*slots));
    trie->slots = slots;
    trie->slot_count = old * 2;
    for (uint32_t i = 1; i < trie->count; i++) {
        const sagg__trie_node *node = sagg__trie_at(trie, i);
        trie->slots[slot_of(trie, node->parent, node->frame)] = i;
    }
    return 0;
}

int sagg__trie_child(sagg__trie *trie, uint32_t *child, uint32_t parent, uint32_t frame)
{
    size_t slot = slot_of(trie, parent, frame);
    *child = trie->slots[slot];
    if (*child != 0)
        return 0;
    if (sagg__grow(trie->mem, &trie->nodes, (size_t)trie->count + 1, sizeof(sagg__trie_node)) != 0)
        return SAGG_ERR_NOMEM;
    *child = trie->count++;
    *sagg__trie_at(trie, *child) = (sagg__trie_node){.parent = parent, .frame = frame};
    trie->slots[slot] = *child;
    return (size_t)trie->count * 2 > trie->slot_count ? widen(trie) : 0;
}

uint32_t sagg__trie_on_path(const sagg__trie *trie, uint32_t node, uint32_t frame)
{
    while (node > 0 && sagg__trie_at(trie, node)->frame != frame)
        node = sagg__trie_at(trie, node)->parent;
    return node;
}

/* ---- into a tree ---- */

static int by_place(const void *context, uint32_t a, uint32_t b)
{
    const sagg__trie_node *left = sagg__trie_at(context, a);
    const sagg__trie_node *right = sagg__trie_at(context, b);
    if (left->parent != right->parent)
        return left->parent < right->parent ? -1 : 1;
    return (left->frame > right->frame) - (left->frame < right->frame);
}

/* The arrays of a walk, in one block: the nodes by parent and frame, where each node's children
 * begin in that, and the nodes still to be written with their depths. */
struct walk {
    uint32_t *order;
    uint32_t *first;
    uint32_t *pending;
    uint32_t *depth;
};

static void find_children(const sagg__trie *trie, struct walk *w)
{
    for (uint32_t i = 0; i + 1 < trie->count; i++)
        w->order[i] = i + 1;
    sagg__sort(w->order, w->pending, trie->count - 1, by_place, trie);
    uint32_t at = 0;
    for (uint32_t node = 0; node < trie->count; node++) {
        w->first[node] = at;
        while (at < trie->count - 1 && sagg__trie_at(trie, w->order[at])->parent == node)
            at++;
    }
    w->first[trie->count] = at;
}

static int reserve(sagg_tree *tree, size_t count)
{
    sagg__nodes *nodes = &tree->nodes;
    int rc = sagg__grow(&tree->mem, &nodes->depth, count, sizeof(uint32_t));
    if (rc == 0)
        rc = sagg__grow(&tree->mem, &nodes->frame, count, sizeof(uint32_t));
    if (rc == 0)
        rc = sagg__grow(&tree->mem, &nodes->self, count, sizeof(uint64_t));
    return rc == 0 ? sagg__grow(&tree->mem, &nodes->total, count, sizeof(uint64_t)) : rc;
}

static int add_omitted(sagg_tree *tree, const sagg__trie_node *node, sagg__array *befores)
{
    size_t at = tree->omitted_count;
    if (node->omitted_total == 0 && node->omitted_before == 0)
        return 0;
    int rc = sagg__grow(&tree->mem, &tree->omitted_node, at + 1, sizeof(uint32_t));
    if (rc == 0)
        rc = sagg__grow(&tree->mem, &tree->omitted_total, at + 1, sizeof(uint64_t));
    if (rc == 0)
        rc = sagg__grow(&tree->mem, &tree->omitted_nodes, at + 1, sizeof(uint64_t));
    if (rc == 0 && befores != NULL)
        rc = sagg__grow(&tree->mem, befores, at + 1, sizeof(uint64_t));
    if (rc != 0)
        return rc;
    *SAGG__AT(uint32_t, tree->omitted_node, at) = (uint32_t)(tree->nodes.count - 1);
    *SAGG__AT(uint64_t, tree->omitted_total, at) = node->omitted_total;
    *SAGG__AT(uint64_t, tree->omitted_nodes, at) = node->omitted_nodes;
    if (befores != NULL)
        *SAGG__AT(uint64_t, *befores, at) = node->omitted_before;
    tree->omitted_count++;
    return 0;
}

static int write_nodes(const sagg__trie *trie, struct walk *w, sagg_tree *tree,
                       sagg__array *befores, sagg__array *omitted_befores)
{
    uint32_t open = 0;
    int rc = 0;
    w->pending[open] = 0;
    w->depth[open++] = 0;
    while (rc == 0 && open > 0) {
        uint32_t number = w->pending[--open];
        uint32_t depth = w->depth[open];
        const sagg__trie_node *node = sagg__trie_at(trie, number);
        size_t at = tree->nodes.count++;
        *SAGG__AT(uint32_t, tree->nodes.depth, at) = depth;
        *SAGG__AT(uint32_t, tree->nodes.frame, at) = node->frame;
        *SAGG__AT(uint64_t, tree->nodes.self, at) = node->self;
        *SAGG__AT(uint64_t, tree->nodes.total, at) = node->self;
        (void)sagg__add_to(SAGG__AT(uint64_t, tree->nodes.total, at), node->omitted_total);
        if (befores != NULL)
            *SAGG__AT(uint64_t, *befores, at) = node->before;
        rc = add_omitted(tree, node, omitted_befores);
        for (uint32_t i = w->first[number + 1]; i-- > w->first[number];) {
            w->pending[open] = w->order[i];
            w->depth[open++] = depth + 1;
        }
    }
    return rc;
}

void sagg__add_to_parents(const uint32_t *depth, uint64_t *total, size_t count, uint32_t *room)
{
    uint32_t *path = room;
    uint32_t *parent = room + count;
    for (uint32_t i = 0; i < count; i++) {
        parent[i] = depth[i] > 0 ? path[depth[i] - 1] : 0;
        path[depth[i]] = i;
    }
    for (size_t i = count; i-- > 1;)
        (void)sagg__add_to(&total[parent[i]], total[i]);
}

int sagg__trie_finish(const sagg__trie *trie, sagg_tree *tree, sagg__array *befores,
                      sagg__array *omitted_befores)
{
    size_t slots = (size_t)trie->count + 1;
    uint32_t *block = sagg__alloc(trie->mem, slots * 4 * sizeof(*block));
    if (block == NULL)
        return SAGG_ERR_NOMEM;
    struct walk w = {block, block + slots, block + 2 * slots, block + 3 * slots};
    int rc = reserve(tree, trie->count);
    if (rc == 0 && befores != NULL)
        rc = sagg__grow(&tree->mem, befores, trie->count, sizeof(uint64_t));
    if (rc == 0) {
        find_children(trie, &w);
        rc = write_nodes(trie, &w, tree, befores, omitted_befores);
    }
    if (rc == 0)
        sagg__add_to_parents(tree->nodes.depth.items, tree->nodes.total.items, tree->nodes.count,
                             block);
    sagg__release(trie->mem, block, slots * 4 * sizeof(*block));
    return rc;
}
