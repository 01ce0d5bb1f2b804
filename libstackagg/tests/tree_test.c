/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <stdlib.h>

static sagg_tree *tree_of(const sagg *agg, uint32_t max_nodes, bool lines, bool threads)
{
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree = NULL;
    options.type = CPU;
    options.max_nodes = max_nodes;
    options.lines = lines;
    options.threads = threads;
    ck_assert_int_eq(sagg_tree_new(&tree, agg, &options, NULL), 0);
    return tree;
}

/* Checks that total = self + children + omitted for every node, and that depths never jump. */
static void check_sums(const sagg_tree_view *view)
{
    for (size_t i = 0; i < view->node_count; i++) {
        uint64_t sum = view->self[i];
        for (size_t j = i + 1; j < view->node_count && view->depth[j] > view->depth[i]; j++)
            sum += view->depth[j] == view->depth[i] + 1 ? view->total[j] : 0;
        for (size_t j = 0; j < view->omitted_count; j++)
            sum += view->omitted_node[j] == i ? view->omitted_total[j] : 0;
        ck_assert_uint_eq(sum, view->total[i]);
        ck_assert(i == 0 ? view->depth[0] == 0
                         : view->depth[i] >= 1 && view->depth[i] <= view->depth[i - 1] + 1);
    }
    ck_assert_uint_eq(view->total[0], view->totals.value);
}

START_TEST(siblings_are_sorted_by_name_and_sums_hold)
{
    sagg *agg = make(NULL);
    add(agg, CPU, 0, stack(agg, "m.main;b.B.x;a.A.y"), 3);
    add(agg, CPU, 0, stack(agg, "m.main;a.A.y"), 5);
    add(agg, CPU, 0, stack(agg, "m.main;b.B.x"), 7);
    add(agg, CPU, 0, stack(agg, ""), 1);
    sagg_tree *tree = tree_of(agg, 0, false, false);
    const sagg_tree_view *view = sagg_tree_get(tree);
    ck_assert_uint_eq(view->node_count, 5);
    const uint32_t depth[] = {0, 1, 2, 2, 3};
    const uint64_t self[] = {1, 0, 5, 7, 3};
    const uint64_t total[] = {16, 15, 5, 10, 3};
    ck_assert_mem_eq(view->depth, depth, sizeof(depth));
    ck_assert_mem_eq(view->self, self, sizeof(self));
    ck_assert_mem_eq(view->total, total, sizeof(total));
    ck_assert_uint_eq(view->frame[0], SAGG_ROOT_FRAME);
    ck_assert_uint_eq(view->frame_count, 3); /* [dropped] is not used */
    sagg_tree_free(tree);
    sagg_free(agg);
}
END_TEST

static uint32_t lined(sagg *agg, uint32_t line, uint8_t kind, const char *file)
{
    sagg_frame frame = {.class_name = str("a.A"),
                        .method = str("m"),
                        .file = str(file),
                        .line = line,
                        .kind = kind};
    uint32_t index, s;
    ck_assert_int_eq(sagg_add_frame(agg, &index, &frame, NULL), 0);
    ck_assert_int_eq(sagg_add_stack(agg, &s, &index, 1, NULL), 0);
    return s;
}

START_TEST(lines_merge_unless_asked_for)
{
    sagg *agg = make(NULL);
    add(agg, CPU, 0, lined(agg, 9, SAGG_JAVA, "Z.java"), 1);
    add(agg, CPU, 0, lined(agg, 4, SAGG_JAVA, "B.java"), 2);
    add(agg, CPU, 0, lined(agg, 4, SAGG_NATIVE, ""), 4);
    sagg_tree *merged = tree_of(agg, 0, false, false);
    const sagg_tree_view *view = sagg_tree_get(merged);
    ck_assert_uint_eq(view->node_count, 3);
    ck_assert_uint_eq(view->total[1], 3);
    ck_assert_mem_eq(view->frames[0].file.data, "B.java", 6);
    ck_assert_uint_eq(view->frames[0].line, 0);
    ck_assert_uint_eq(view->frames[1].kind, SAGG_NATIVE);
    sagg_tree *apart = tree_of(agg, 0, true, false);
    view = sagg_tree_get(apart);
    ck_assert_uint_eq(view->node_count, 4);
    ck_assert_uint_eq(view->frames[0].line, 4);
    ck_assert_uint_eq(view->frames[1].line, 9);
    sagg_tree_free(merged);
    sagg_tree_free(apart);
    sagg_free(agg);
}
END_TEST

START_TEST(threads_stand_above_their_stacks)
{
    sagg *agg = make(NULL);
    uint32_t s = stack(agg, "m.main");
    add(agg, CPU, thread(agg, 1, "b"), s, 1);
    add(agg, CPU, thread(agg, 2, "a"), s, 2);
    add(agg, CPU, thread(agg, 3, "a"), s, 4); /* same name: one frame */
    add(agg, CPU, SAGG_NO_THREAD, s, 8);
    sagg_tree *tree = tree_of(agg, 0, false, true);
    const sagg_tree_view *view = sagg_tree_get(tree);
    ck_assert_uint_eq(view->node_count, 7);
    const uint64_t total[] = {15, 8, 8, 6, 6, 1, 1};
    ck_assert_mem_eq(view->total, total, sizeof(total));
    ck_assert_uint_eq(view->frames[view->frame[3]].kind, SAGG_UNKNOWN);
    check_sums(view);
    sagg_tree_free(tree);
    sagg_free(agg);
}
END_TEST

static sagg *random_tree(uint64_t seed)
{
    sagg *agg = make(NULL);
    for (int i = 0; i < 600; i++) {
        char text[256] = "";
        uint32_t depth = 1 + next_random(&seed, 12);
        for (uint32_t d = 0; d < depth; d++) {
            size_t used = strlen(text);
            (void)snprintf(text + used, sizeof(text) - used, "%sc%u.m%u", d > 0 ? ";" : "",
                           next_random(&seed, 3), next_random(&seed, 3));
        }
        add(agg, CPU, 0, stack(agg, text), next_random(&seed, 50));
    }
    return agg;
}

/* A tree cut to n nodes holds the n heaviest, and the rest is counted to the unit. */
START_TEST(cutting_keeps_the_heaviest_and_counts_the_rest)
{
    sagg *agg = random_tree((uint64_t)_i);
    sagg_tree *whole = tree_of(agg, 0, false, false);
    const sagg_tree_view *all = sagg_tree_get(whole);
    check_sums(all);
    ck_assert_uint_gt(all->node_count, 200);
    static const uint32_t limits[] = {1, 2, 17, 150};
    for (size_t l = 0; l < 4; l++) {
        sagg_tree *cut = tree_of(agg, limits[l], false, false);
        const sagg_tree_view *view = sagg_tree_get(cut);
        ck_assert_uint_eq(view->node_count, limits[l]);
        check_sums(view);
        uint64_t lightest = UINT64_MAX;
        uint64_t omitted = 0;
        size_t heavier = 0;
        for (size_t i = 0; i < view->node_count; i++)
            lightest = view->total[i] < lightest ? view->total[i] : lightest;
        for (size_t i = 0; i < all->node_count; i++)
            heavier += all->total[i] > lightest ? 1 : 0;
        for (size_t i = 0; i < view->omitted_count; i++) {
            omitted += view->omitted_nodes[i];
            ck_assert(i == 0 || view->omitted_node[i] > view->omitted_node[i - 1]);
        }
        ck_assert_uint_le(heavier, limits[l]);
        ck_assert_uint_eq(view->node_count + omitted, all->node_count);
        sagg_tree_free(cut);
    }
    sagg_tree_free(whole);
    sagg_free(agg);
}
END_TEST

static const int shapes[] = {-1, SAGG_SHAPE_REVERSED, SAGG_SHAPE_FOLDED};

/* Sums that would exceed 2^64 saturate: no node outweighs its parent, and none loses its place. */
START_TEST(sums_that_end_leave_a_tree)
{
    sagg *agg = make(NULL);
    add(agg, CPU, 0, stack(agg, "m.main;a.A.x"), UINT64_C(1) << 63);
    add(agg, CPU, 0, stack(agg, "m.main;b.B.y;c.C.z"), UINT64_C(1) << 63);
    add(agg, CPU, 0, stack(agg, "m.main;b.B.y"), 5);
    for (uint32_t max_nodes = 1; max_nodes < 8; max_nodes++) {
        sagg_tree *tree = tree_of(agg, shapes[_i] < 0 ? max_nodes : 0, false, false);
        sagg_tree *shaped = NULL;
        sagg_shape_options options = SAGG_SHAPE_OPTIONS_INIT;
        options.shape = shapes[_i];
        options.max_nodes = max_nodes;
        if (shapes[_i] >= 0)
            ck_assert_int_eq(sagg_tree_shape(&shaped, tree, &options, NULL), 0);
        const sagg_tree_view *view = sagg_tree_get(shaped != NULL ? shaped : tree);
        ck_assert_uint_le(view->node_count, max_nodes);
        ck_assert_uint_eq(view->total[0], UINT64_MAX);
        ck_assert_uint_eq(view->totals.value, UINT64_MAX);
        for (size_t i = 1; i < view->node_count; i++)
            ck_assert(view->depth[i] >= 1 && view->depth[i] <= view->depth[i - 1] + 1);
        sagg_tree_free(shaped);
        sagg_tree_free(tree);
    }
    sagg_free(agg);
}
END_TEST

/* The tree has exactly the nodes of the whole tree that reach the least total, each unchanged. */
START_TEST(a_least_total_keeps_exactly_what_reaches_it)
{
    sagg *agg = random_tree((uint64_t)_i + 40);
    sagg_tree *whole = tree_of(agg, 0, false, false);
    const sagg_tree_view *all = sagg_tree_get(whole);
    static const uint64_t leasts[] = {1, 37, 400, 5000, UINT64_MAX};
    for (size_t l = 0; l < 5; l++) {
        sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
        sagg_tree *cut = NULL;
        options.type = CPU;
        options.min_total = leasts[l];
        ck_assert_int_eq(sagg_tree_new(&cut, agg, &options, NULL), 0);
        const sagg_tree_view *view = sagg_tree_get(cut);
        check_sums(view);
        size_t at = 0;
        for (size_t i = 0; i < all->node_count; i++) {
            if (i > 0 && all->total[i] < leasts[l])
                continue;
            ck_assert_uint_lt(at, view->node_count);
            ck_assert_uint_eq(view->depth[at], all->depth[i]);
            ck_assert_uint_eq(view->self[at], all->self[i]);
            ck_assert_uint_eq(view->total[at++], all->total[i]);
        }
        ck_assert_uint_eq(at, view->node_count);
        sagg_tree_free(cut);
    }
    sagg_tree_free(whole);
    sagg_free(agg);
}
END_TEST

static const sagg_top_row *find_row(const sagg_top *top, const char *method)
{
    size_t count;
    const sagg_top_row *rows = sagg_top_rows(top, &count, NULL);
    for (size_t i = 0; i < count; i++)
        if (rows[i].frame.method.size == strlen(method) &&
            memcmp(rows[i].frame.method.data, method, strlen(method)) == 0)
            return &rows[i];
    return NULL;
}

START_TEST(top_counts_recursion_once)
{
    sagg *agg = make(NULL);
    add(agg, CPU, 0, stack(agg, "m.main;r.rec;r.rec;r.rec"), 10);
    add(agg, CPU, 0, stack(agg, "m.main;r.rec;x.leaf"), 5);
    add(agg, CPU, 0, stack(agg, "m.main"), 1);
    add(agg, ALLOC, 0, stack(agg, "m.main;z.other"), 1);
    sagg_top *top = NULL;
    size_t count, omitted;
    ck_assert_int_eq(sagg_top_new(&top, agg, CPU, 0, NULL), 0);
    const sagg_top_row *rows = sagg_top_rows(top, &count, &omitted);
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(omitted, 0);
    ck_assert_ptr_eq(find_row(top, "rec"), &rows[0]);
    ck_assert_uint_eq(rows[0].self, 10);
    ck_assert_uint_eq(rows[0].total, 15);
    ck_assert_uint_eq(find_row(top, "main")->total, 16);
    ck_assert_uint_eq(find_row(top, "leaf")->self, 5);
    sagg_top_free(top);
    ck_assert_int_eq(sagg_top_new(&top, agg, CPU, 2, NULL), 0);
    (void)sagg_top_rows(top, &count, &omitted);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(omitted, 1);
    sagg_top_free(top);
    sagg_free(agg);
}
END_TEST

START_TEST(an_empty_type_has_a_root_only)
{
    sagg *agg = make(NULL);
    sagg_tree *tree = tree_of(agg, 10, false, true);
    ck_assert_uint_eq(sagg_tree_get(tree)->node_count, 1);
    ck_assert_uint_eq(sagg_tree_get(tree)->frame_count, 0);
    sagg_tree_free(tree);
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    options.type = 40;
    ck_assert_int_eq(sagg_tree_new(&tree, agg, &options, NULL), SAGG_ERR_USAGE);
    sagg_free(agg);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tree");
    TCase *tcase = tcase_create("tree");
    tcase_add_test(tcase, siblings_are_sorted_by_name_and_sums_hold);
    tcase_add_test(tcase, lines_merge_unless_asked_for);
    tcase_add_test(tcase, threads_stand_above_their_stacks);
    tcase_add_loop_test(tcase, cutting_keeps_the_heaviest_and_counts_the_rest, 0, 5);
    tcase_add_loop_test(tcase, sums_that_end_leave_a_tree, 0, 3);
    tcase_add_loop_test(tcase, a_least_total_keeps_exactly_what_reaches_it, 0, 5);
    tcase_add_test(tcase, top_counts_recursion_once);
    tcase_add_test(tcase, an_empty_type_has_a_root_only);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
