/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two trees of one type, node by node. */
#include <stackagg/diff.h>

#include <string.h>

#include "aggregate/saturate_impl.h"
#include "aggregate/windows_impl.h"
#include "fail_impl.h"
#include "options_impl.h"
#include "trees/sort_impl.h"
#include "trees/trie_impl.h"

#define DEFAULT_ROUNDS 2000u
#define MAX_ROUNDS     100000u
/* Fewer windows than this say nothing about chance. */
#define LEAST_WINDOWS 5u
/* The most methods whose interval is computed: those with the greatest changes. */
#define MAX_INTERVALS 256u

struct sagg_diff {
    sagg_tree *tree;
    sagg__array before_self;    /* uint64_t, by node */
    sagg__array before_total;   /* uint64_t */
    sagg__array omitted_before; /* uint64_t, by omitted block */
    sagg__array change;         /* int64_t, by node */
    sagg_change *changes;
    size_t change_slots;
    sagg_diff_view view;
};

/* ---- the tree of both ---- */

struct joining {
    sagg__trie trie;
    sagg_tree *tree;
    bool is_before;
};

static int add_node(struct joining *j, const sagg_tree_view *from, size_t node, uint32_t *path)
{
    uint32_t depth = from->depth[node];
    path[depth] = 0;
    if (depth > 0) {
        uint32_t frame = sagg__frame_find(j->tree, &from->frames[from->frame[node]]);
        int rc = sagg__trie_child(&j->trie, &path[depth], path[depth - 1], frame);
        if (rc != 0)
            return rc;
    }
    sagg__trie_node *to = sagg__trie_at(&j->trie, path[depth]);
    (void)sagg__add_to(j->is_before ? &to->before : &to->self, from->self[node]);
    return 0;
}

static int add_side(struct joining *j, const sagg_tree *side)
{
    const sagg_tree_view *from = &side->view;
    size_t bytes = from->node_count * sizeof(uint32_t);
    uint32_t *path = sagg__alloc(&j->tree->mem, bytes);
    size_t block = 0;
    int rc = path != NULL ? 0 : SAGG_ERR_NOMEM;
    for (size_t node = 0; rc == 0 && node < from->node_count; node++) {
        rc = add_node(j, from, node, path);
        if (rc != 0 || block == from->omitted_count || from->omitted_node[block] != node)
            continue;
        sagg__trie_node *to = sagg__trie_at(&j->trie, path[from->depth[node]]);
        (void)sagg__add_to(j->is_before ? &to->omitted_before : &to->omitted_total,
                           from->omitted_total[block]);
        to->omitted_nodes += from->omitted_nodes[block++];
    }
    sagg__release(&j->tree->mem, path, bytes);
    return rc;
}

static int join(sagg_diff *diff, const sagg_tree *before, const sagg_tree *after)
{
    struct joining j = {.tree = diff->tree, .is_before = true};
    int rc = sagg__trie_init(&j.trie, &diff->tree->mem);
    if (rc == 0)
        rc = add_side(&j, before);
    j.is_before = false;
    if (rc == 0)
        rc = add_side(&j, after);
    if (rc == 0)
        rc = sagg__trie_finish(&j.trie, diff->tree, &diff->before_self, &diff->omitted_before);
    sagg__trie_free(&j.trie);
    return rc;
}

/* Sums the older side's totals as the tree's own totals. */
static int sum_before(sagg_diff *diff)
{
    sagg_tree *tree = diff->tree;
    size_t count = tree->nodes.count;
    uint32_t *room = sagg__alloc(&tree->mem, count * 2 * sizeof(*room));
    int rc = sagg__grow(&tree->mem, &diff->before_total, count, sizeof(uint64_t));
    if (rc != 0 || room == NULL) {
        sagg__release(&tree->mem, room, count * 2 * sizeof(*room));
        return SAGG_ERR_NOMEM;
    }
    uint64_t *total = diff->before_total.items;
    memcpy(total, diff->before_self.items, count * sizeof(*total));
    for (size_t i = 0; i < tree->omitted_count; i++)
        (void)sagg__add_to(&total[*SAGG__AT(uint32_t, tree->omitted_node, i)],
                           *SAGG__AT(uint64_t, diff->omitted_before, i));
    sagg__add_to_parents(tree->nodes.depth.items, total, count, room);
    sagg__release(&tree->mem, room, count * 2 * sizeof(*room));
    return 0;
}

/* ---- methods ---- */

static uint64_t size_of_change(const sagg_change *change)
{
    int64_t by = change->after_share - change->before_share;
    return by < 0 ? (uint64_t)-by : (uint64_t)by;
}

static int by_change(const void *context, uint32_t a, uint32_t b)
{
    const sagg_change *changes = context;
    uint64_t left = size_of_change(&changes[a]);
    uint64_t right = size_of_change(&changes[b]);
    return (left < right) - (left > right);
}

static bool same_method(const sagg_frame *a, const sagg_frame *b)
{
    return a->kind == b->kind && a->class_name.size == b->class_name.size &&
           a->method.size == b->method.size &&
           memcmp(a->class_name.data, b->class_name.data, a->class_name.size) == 0 &&
           memcmp(a->method.data, b->method.data, a->method.size) == 0;
}

/* Makes a row per method: the frames of one method, which differ in their line, are adjacent. */
static void count_methods(sagg_diff *diff, uint32_t *row_of)
{
    const sagg_tree *tree = diff->tree;
    size_t rows = 0;
    for (uint32_t i = 0; i < tree->palette.count; i++) {
        const sagg_frame *frame = &tree->palette.frames[i];
        if (rows == 0 || !same_method(&diff->changes[rows - 1].method, frame)) {
            diff->changes[rows] = (sagg_change){.method = *frame};
            diff->changes[rows++].method.line = 0;
        }
        row_of[i] = (uint32_t)rows - 1;
    }
    for (size_t i = 1; i < tree->nodes.count; i++) {
        sagg_change *row = &diff->changes[row_of[*SAGG__AT(uint32_t, tree->nodes.frame, i)]];
        (void)sagg__add_to(&row->before_self, *SAGG__AT(uint64_t, diff->before_self, i));
        (void)sagg__add_to(&row->after_self, *SAGG__AT(uint64_t, tree->nodes.self, i));
    }
    diff->view.change_count = rows;
}

static int sort_changes(sagg_diff *diff, uint32_t *order, uint32_t *room)
{
    size_t count = diff->view.change_count;
    uint64_t before = *SAGG__AT(uint64_t, diff->before_total, 0);
    uint64_t after = *SAGG__AT(uint64_t, diff->tree->nodes.total, 0);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        sagg_change row = diff->changes[i];
        if (row.before_self == 0 && row.after_self == 0)
            continue;
        row.before_share = sagg__share(row.before_self, before);
        row.after_share = sagg__share(row.after_self, after);
        diff->changes[kept] = row;
        order[kept] = (uint32_t)kept;
        kept++;
    }
    sagg_change *sorted = sagg__alloc_zero(&diff->tree->mem, diff->change_slots, sizeof(*sorted));
    if (sorted == NULL)
        return SAGG_ERR_NOMEM;
    sagg__sort(order, room, (uint32_t)kept, by_change, diff->changes);
    for (size_t i = 0; i < kept; i++)
        sorted[i] = diff->changes[order[i]];
    sagg__release(&diff->tree->mem, diff->changes, diff->change_slots * sizeof(*sorted));
    diff->changes = sorted;
    diff->view.change_count = kept;
    return 0;
}

static int find_changes(sagg_diff *diff)
{
    sagg__mem *mem = &diff->tree->mem;
    size_t slots = (size_t)diff->tree->palette.count + 1;
    uint32_t *numbers = sagg__alloc(mem, slots * 2 * sizeof(*numbers));
    diff->change_slots = slots;
    diff->changes = sagg__alloc_zero(mem, slots, sizeof(*diff->changes));
    int rc = SAGG_ERR_NOMEM;
    if (numbers != NULL && diff->changes != NULL) {
        count_methods(diff, numbers);
        rc = sort_changes(diff, numbers, numbers + slots);
    }
    sagg__release(mem, numbers, slots * 2 * sizeof(*numbers));
    return rc;
}

/* ---- significance ---- */

struct intervals {
    uint64_t hash[MAX_INTERVALS];
    uint32_t row[MAX_INTERVALS]; /* by hash: row of the changes */
    int64_t low[MAX_INTERVALS];
    int64_t high[MAX_INTERVALS];
};

/*
 * Chooses the methods with the greatest changes, sorted by hash (by insertion, since they are few).
 */
static uint32_t choose(const sagg_diff *diff, struct intervals *in)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < diff->view.change_count && count < MAX_INTERVALS; row++) {
        uint64_t hash;
        sagg_frame_hash(&hash, NULL, &diff->changes[row].method);
        uint32_t at = count++;
        for (; at > 0 && in->hash[at - 1] > hash; at--) {
            in->hash[at] = in->hash[at - 1];
            in->row[at] = in->row[at - 1];
        }
        in->hash[at] = hash;
        in->row[at] = row;
    }
    return count;
}

static int find_intervals(sagg_diff *diff, const sagg_diff_options *o)
{
    sagg__mem *mem = &diff->tree->mem;
    struct intervals *in = sagg__alloc_zero(mem, 1, sizeof(*in));
    sagg__side before = {0};
    sagg__side after = {0};
    if (in == NULL)
        return SAGG_ERR_NOMEM;
    uint32_t count = choose(diff, in);
    int rc = sagg__side_new(&before, mem, o->before, in->hash, count);
    if (rc == 0)
        rc = sagg__side_new(&after, mem, o->after, in->hash, count);
    bool enough = before.windows >= LEAST_WINDOWS && after.windows >= LEAST_WINDOWS && count > 0;
    if (rc == 0 && enough)
        rc = sagg__bootstrap(&before, &after, count, o->rounds, o->seed, in->low, in->high, mem);
    for (uint32_t i = 0; rc == 0 && enough && i < count; i++) {
        sagg_change *row = &diff->changes[in->row[i]];
        row->has_interval = true;
        row->low = in->low[i];
        row->high = in->high[i];
    }
    sagg__side_free(&before, mem, count);
    sagg__side_free(&after, mem, count);
    sagg__release(mem, in, sizeof(*in));
    return rc;
}

/* ---- the whole ---- */

static int fill_view(sagg_diff *diff, const sagg_tree *before, const sagg_tree *after)
{
    sagg_tree *tree = diff->tree;
    sagg_diff_view *view = &diff->view;
    int rc = sagg__tree_drop_frames(tree);
    if (rc == 0)
        rc = sagg__grow(&tree->mem, &diff->change, tree->nodes.count, sizeof(int64_t));
    if (rc != 0)
        return rc;
    const uint64_t *old = diff->before_total.items;
    const uint64_t *new = tree->nodes.total.items;
    for (size_t i = 0; i < tree->nodes.count; i++)
        *SAGG__AT(int64_t, diff->change, i) =
            sagg__share(new[i], new[0]) - sagg__share(old[i], old[0]);
    sagg__tree_view_fill(tree);
    tree->view.totals = after->view.totals;
    tree->view.threads = after->view.threads;
    view->after = &tree->view;
    view->before_totals = before->view.totals;
    view->before_self = diff->before_self.items;
    view->before_total = old;
    view->omitted_before = diff->omitted_before.items;
    view->change = diff->change.items;
    view->changes = diff->changes;
    return 0;
}

static int read_options(sagg_diff_options *out, const sagg_diff_options *given, sagg_error *err)
{
    *out = (sagg_diff_options)SAGG_DIFF_OPTIONS_INIT;
    int rc = 0;
    if (given != NULL)
        rc = sagg__options_copy(
            out, sizeof(*out), given,
            "The comparison's options have fields set that this library does not know.", err);
    if (rc != 0)
        return rc;
    out->rounds = out->rounds == 0 ? DEFAULT_ROUNDS : out->rounds;
    if (out->rounds > MAX_ROUNDS || out->rounds < 200)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "A bootstrap has 200 to %u rounds, not %u.",
                          MAX_ROUNDS, out->rounds);
    if ((out->before == NULL) != (out->after == NULL))
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "Give the windows of both sides, or of none.");
    return 0;
}

static bool same_type(const sagg_tree_view *a, const sagg_tree_view *b)
{
    return a->type.size == b->type.size && memcmp(a->type.data, b->type.data, a->type.size) == 0;
}

static int build(sagg_diff *diff, const sagg_tree *before, const sagg_tree *after,
                 const sagg_diff_options *o)
{
    int rc = join(diff, before, after);
    if (rc == 0)
        rc = sum_before(diff);
    if (rc == 0)
        rc = find_changes(diff);
    if (rc == 0 && o->before != NULL)
        rc = find_intervals(diff, o);
    if (rc == 0)
        rc = sagg__diff_cut(diff->tree, &diff->before_self, &diff->before_total,
                            &diff->omitted_before, o);
    return rc == 0 ? fill_view(diff, before, after) : rc;
}

int sagg_diff_new(sagg_diff **out, const sagg_tree *before, const sagg_tree *after,
                  const sagg_diff_options *options, sagg_error *err)
{
    sagg_diff_options o;
    sagg_tree *tree;
    int rc = read_options(&o, options, err);
    if (rc != 0)
        return rc;
    if (!same_type(&before->view, &after->view))
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "Trees of two profile types cannot be compared.");
    rc = sagg__tree_like(&tree, after, before);
    sagg_diff *diff = tree != NULL ? sagg__alloc_zero(&tree->mem, 1, sizeof(*diff)) : NULL;
    if (diff == NULL) {
        sagg_tree_free(tree);
        return sagg__no_memory(err);
    }
    diff->tree = tree;
    if (rc == 0)
        rc = build(diff, before, after, &o);
    if (rc != 0) {
        sagg_diff_free(diff);
        return sagg__no_memory(err);
    }
    *out = diff;
    return 0;
}

void sagg_diff_free(sagg_diff *diff)
{
    if (diff == NULL)
        return;
    sagg_tree *tree = diff->tree;
    sagg__array_free(&tree->mem, &diff->before_self, sizeof(uint64_t));
    sagg__array_free(&tree->mem, &diff->before_total, sizeof(uint64_t));
    sagg__array_free(&tree->mem, &diff->omitted_before, sizeof(uint64_t));
    sagg__array_free(&tree->mem, &diff->change, sizeof(int64_t));
    sagg__release(&tree->mem, diff->changes, diff->change_slots * sizeof(*diff->changes));
    sagg__release(&tree->mem, diff, sizeof(*diff));
    sagg_tree_free(tree);
}

const sagg_diff_view *sagg_diff_get(const sagg_diff *diff)
{
    return &diff->view;
}
