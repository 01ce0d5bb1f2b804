/* SPDX-License-Identifier: Apache-2.0 */
/* A tree under construction: children are found by (parent, frame). */
#ifndef STACKAGG_TRIE_H
#define STACKAGG_TRIE_H

#include "trees/tree_impl.h"

typedef struct sagg__trie_node {
    uint32_t parent;
    uint32_t frame;
    uint64_t self;
    uint64_t before; /* in a comparison: the older side's self */
    uint64_t omitted_total;
    uint64_t omitted_before;
    uint64_t omitted_nodes;
} sagg__trie_node;

typedef struct sagg__trie {
    sagg__mem *mem;
    sagg__array nodes; /* sagg__trie_node; 0 is the root */
    uint32_t count;
    uint32_t *slots;
    size_t slot_count;
} sagg__trie;

/* Returns 0 or SAGG_ERR_NOMEM; free it in both cases. */
int sagg__trie_init(sagg__trie *trie, sagg__mem *mem);
void sagg__trie_free(sagg__trie *trie);

sagg__trie_node *sagg__trie_at(const sagg__trie *trie, uint32_t node);

/* Finds the child of a node for a frame, adding it if it is new. Returns 0 or SAGG_ERR_NOMEM. */
int sagg__trie_child(sagg__trie *trie, uint32_t *child, uint32_t parent, uint32_t frame);

/* Returns the node of a frame on the path to `node`, itself included, or 0. */
uint32_t sagg__trie_on_path(const sagg__trie *trie, uint32_t node, uint32_t frame);

/*
 * Writes the nodes in preorder, siblings by the numbers of their frames, into `tree`, whose arrays
 * are empty, with totals and omitted blocks. `befores`, `omitted_befores`: NULL, or receive the
 * older side's self by node and value by omitted block. Returns 0 or SAGG_ERR_NOMEM.
 */
int sagg__trie_finish(const sagg__trie *trie, sagg_tree *tree, sagg__array *befores,
                      sagg__array *omitted_befores);

/* Adds each of `count` nodes' totals, in preorder, to its parent's. The parent is the nearest node
 * before it that is one less deep. `room` is for count * 2 numbers. */
void sagg__add_to_parents(const uint32_t *depth, uint64_t *total, size_t count, uint32_t *room);

#endif
