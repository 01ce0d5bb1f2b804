/* SPDX-License-Identifier: Apache-2.0 */
/* Makes other trees of a tree's stacks: each node of the given tree has one place in the new one,
 * or none. */
#include <stackagg/shape.h>

#include <stddef.h>
#include <string.h>

#include "aggregate/saturate_impl.h"
#include "fail_impl.h"
#include "options_impl.h"
#include "trees/trie_impl.h"

#define NOWHERE UINT32_MAX

struct reshape {
    const sagg_tree_view *from;
    const sagg_shape_options *options;
    sagg__trie trie;
    uint32_t *parent;  /* by node */
    uint32_t *place;   /* by node: in the trie; NOWHERE = left out */
    uint32_t *omitted; /* by node: its omitted block + 1; 0 = none */
};

static bool same_text(sagg_str a, sagg_str b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static bool is_wanted(const struct reshape *r, size_t node)
{
    if (node == 0)
        return false;
    const sagg_frame *frame = &r->from->frames[r->from->frame[node]];
    const sagg_frame *method = &r->options->method;
    return frame->kind == method->kind && same_text(frame->class_name, method->class_name) &&
           same_text(frame->method, method->method);
}

/* Finds the place below a parent's place. */
static int below(struct reshape *r, uint32_t parent, size_t node)
{
    return sagg__trie_child(&r->trie, &r->place[node], parent, r->from->frame[node]);
}

static int find_place(struct reshape *r, size_t node)
{
    uint32_t above = node > 0 ? r->place[r->parent[node]] : 0;
    switch (r->options->shape) {
    case SAGG_SHAPE_FOLDED:
        r->place[node] = sagg__trie_on_path(&r->trie, above, r->from->frame[node]);
        return node == 0 || r->place[node] != 0 ? 0 : below(r, above, node);
    case SAGG_SHAPE_CALLEES:
        r->place[node] = NOWHERE;
        if (node > 0 && above != NOWHERE)
            return below(r, above, node);
        return is_wanted(r, node) ? below(r, 0, node) : 0;
    default: /* SAGG_SHAPE_WITHOUT */
        r->place[node] = node == 0 ? 0 : NOWHERE;
        return node == 0 || above == NOWHERE || is_wanted(r, node) ? 0 : below(r, above, node);
    }
}

static void omit(struct reshape *r, uint32_t place, uint32_t block)
{
    sagg__trie_node *to = sagg__trie_at(&r->trie, place);
    (void)sagg__add_to(&to->omitted_total, r->from->omitted_total[block]);
    to->omitted_nodes += r->from->omitted_nodes[block];
}

/* Makes the shapes folded, callees and without, in which nodes keep the order of their paths. */
static int downwards(struct reshape *r)
{
    for (size_t node = 0; node < r->from->node_count; node++) {
        if (find_place(r, node) != 0)
            return SAGG_ERR_NOMEM;
        if (r->place[node] == NOWHERE)
            continue;
        (void)sagg__add_to(&sagg__trie_at(&r->trie, r->place[node])->self, r->from->self[node]);
        if (r->omitted[node] > 0)
            omit(r, r->place[node], r->omitted[node] - 1);
    }
    return 0;
}

/* Adds the path from a node to the root, with a value at its end. */
static int climb(struct reshape *r, size_t node, uint64_t value)
{
    uint32_t place = 0;
    for (; node > 0; node = r->parent[node])
        if (sagg__trie_child(&r->trie, &place, place, r->from->frame[node]) != 0)
            return SAGG_ERR_NOMEM;
    (void)sagg__add_to(&sagg__trie_at(&r->trie, place)->self, value);
    return 0;
}

static int reverse(struct reshape *r)
{
    int rc = 0;
    for (size_t node = 0; rc == 0 && node < r->from->node_count; node++)
        if (r->from->self[node] > 0)
            rc = climb(r, node, r->from->self[node]);
    for (size_t i = 0; rc == 0 && i < r->from->omitted_count; i++)
        omit(r, 0, (uint32_t)i);
    return rc;
}

static int callers(struct reshape *r)
{
    uint32_t inside = UINT32_MAX; /* depth of the outermost call that is open */
    int rc = 0;
    for (size_t node = 0; rc == 0 && node < r->from->node_count; node++) {
        if (r->from->depth[node] <= inside)
            inside = UINT32_MAX;
        if (inside != UINT32_MAX || !is_wanted(r, node))
            continue;
        inside = r->from->depth[node];
        rc = climb(r, node, r->from->total[node]);
    }
    return rc;
}

/* Finds the parents. `path` has room for as many numbers as there are nodes. */
static void find_parents(struct reshape *r, uint32_t *path)
{
    for (uint32_t node = 0; node < r->from->node_count; node++) {
        uint32_t depth = r->from->depth[node];
        r->parent[node] = depth > 0 ? path[depth - 1] : 0;
        path[depth] = node;
    }
    for (size_t i = 0; i < r->from->omitted_count; i++)
        r->omitted[r->from->omitted_node[i]] = (uint32_t)i + 1;
}

static int fill(struct reshape *r)
{
    find_parents(r, r->place);
    if (r->options->shape == SAGG_SHAPE_REVERSED)
        return reverse(r);
    return r->options->shape == SAGG_SHAPE_CALLERS ? callers(r) : downwards(r);
}

static int rebuild(sagg_tree *tree, const sagg_tree_view *from, const sagg_shape_options *options)
{
    struct reshape r = {.from = from, .options = options};
    size_t each = from->node_count * sizeof(uint32_t);
    int rc = sagg__trie_init(&r.trie, &tree->mem);
    r.parent = sagg__alloc(&tree->mem, each);
    r.place = sagg__alloc(&tree->mem, each);
    r.omitted = sagg__alloc_zero(&tree->mem, from->node_count, sizeof(uint32_t));
    if (r.parent == NULL || r.place == NULL || r.omitted == NULL)
        rc = SAGG_ERR_NOMEM;
    if (rc == 0)
        rc = fill(&r);
    if (rc == 0)
        rc = sagg__trie_finish(&r.trie, tree, NULL, NULL);
    sagg__release(&tree->mem, r.parent, each);
    sagg__release(&tree->mem, r.place, each);
    sagg__release(&tree->mem, r.omitted, each);
    sagg__trie_free(&r.trie);
    return rc;
}

static int check(const sagg_shape_options *given, sagg_shape_options *out, sagg_error *err)
{
    memset(out, 0, sizeof(*out));
    if (given == NULL || given->size < offsetof(sagg_shape_options, max_nodes))
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "Another shape needs options that name it.");
    int rc = sagg__options_copy(
        out, sizeof(*out), given,
        "The shape's options have fields set that this library does not know.", err);
    if (rc != 0)
        return rc;
    if (out->shape < SAGG_SHAPE_REVERSED || out->shape > SAGG_SHAPE_WITHOUT)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "There is no shape %d.", out->shape);
    return 0;
}

int sagg_tree_shape(sagg_tree **out, const sagg_tree *tree, const sagg_shape_options *options,
                    sagg_error *err)
{
    sagg_shape_options o;
    int rc = check(options, &o, err);
    if (rc != 0)
        return rc;
    sagg_tree *result;
    const sagg_tree_view *from = &tree->view;
    rc = sagg__tree_like(&result, tree, NULL);
    if (rc == 0)
        rc = rebuild(result, from, &o);
    if (rc == 0)
        rc = sagg__tree_finish(result, o.max_nodes, o.min_total);
    if (rc != 0) {
        sagg_tree_free(result);
        return sagg__no_memory(err);
    }
    result->view.totals = from->totals;
    result->view.totals.value = result->view.total[0];
    *out = result;
    return 0;
}
