/* SPDX-License-Identifier: Apache-2.0 */
/* Compares each shape with the simplest way to make it: paths as texts, one by one. */
#include "support.h"

#include <stdlib.h>

#include <stackagg/shape.h>

enum { MAX_STACKS = 400, MAX_PATH = 12 };

/* A stack as a list of letters, root first: letter 'c' is the frame "p.c". */
typedef struct path {
    char names[MAX_PATH + 1];
    uint64_t value;
} path;

typedef struct paths {
    path rows[MAX_STACKS];
    size_t count;
} paths;

static void put(paths *to, const char *names, uint64_t value)
{
    size_t at = 0;
    while (at < to->count && strcmp(to->rows[at].names, names) != 0)
        at++;
    if (at == to->count) {
        ck_assert_uint_lt(to->count, MAX_STACKS);
        (void)snprintf(to->rows[to->count].names, sizeof(to->rows[0].names), "%s", names);
        to->rows[to->count++].value = 0;
    }
    to->rows[at].value += value;
}

static paths random_paths(uint64_t seed)
{
    paths made = {.count = 0};
    for (int i = 0; i < 150; i++) {
        char names[MAX_PATH + 1] = "";
        uint32_t depth = next_random(&seed, MAX_PATH);
        for (uint32_t d = 0; d < depth; d++)
            names[d] = (char)('a' + next_random(&seed, 5));
        names[depth] = '\0';
        put(&made, names, 1 + next_random(&seed, 1000));
    }
    return made;
}

static sagg *aggregate_of(const paths *from)
{
    sagg *agg = make(NULL);
    for (size_t i = 0; i < from->count; i++) {
        char text[MAX_PATH * 4 + 1] = "";
        for (const char *c = from->rows[i].names; *c != '\0'; c++)
            (void)snprintf(text + strlen(text), 5, "%sp.%c", c == from->rows[i].names ? "" : ";",
                           *c);
        add(agg, CPU, 0, stack(agg, text), from->rows[i].value);
    }
    return agg;
}

/* ---- the plain way ---- */

static void plain_reverse(char *to, const char *from)
{
    size_t size = strlen(from);
    for (size_t i = 0; i < size; i++)
        to[i] = from[size - 1 - i];
    to[size] = '\0';
}

static void plain_fold(char *to, const char *from)
{
    size_t size = 0;
    for (; *from != '\0'; from++) {
        to[size] = '\0';
        char *again = strchr(to, *from);
        if (again != NULL)
            size = (size_t)(again - to);
        to[size++] = *from;
    }
    to[size] = '\0';
}

/* Returns whether the stack is in the new tree, and its form there. */
static bool plain(char *to, const char *from, int shape, char method)
{
    const char *at = strchr(from, method);
    char head[MAX_PATH + 1];
    switch (shape) {
    case SAGG_SHAPE_REVERSED:
        plain_reverse(to, from);
        return true;
    case SAGG_SHAPE_FOLDED:
        plain_fold(to, from);
        return true;
    case SAGG_SHAPE_CALLEES:
        (void)snprintf(to, MAX_PATH + 1, "%s", at != NULL ? at : "");
        return at != NULL;
    case SAGG_SHAPE_CALLERS:
        if (at == NULL)
            return false;
        (void)snprintf(head, sizeof(head), "%.*s", (int)(at - from) + 1, from);
        plain_reverse(to, head);
        return true;
    default:
        (void)snprintf(to, MAX_PATH + 1, "%s", from);
        return at == NULL;
    }
}

static paths expected(const paths *from, int shape, char method)
{
    paths result = {.count = 0};
    for (size_t i = 0; i < from->count; i++) {
        char names[MAX_PATH + 1];
        if (plain(names, from->rows[i].names, shape, method))
            put(&result, names, from->rows[i].value);
    }
    return result;
}

static uint64_t value_of(const paths *from, const char *names)
{
    for (size_t i = 0; i < from->count; i++)
        if (strcmp(from->rows[i].names, names) == 0)
            return from->rows[i].value;
    return 0;
}

/* Checks that the tree has exactly these values, in order, with correct totals. */
static void check_tree(const sagg_tree *tree, const paths *wanted)
{
    const sagg_tree_view *view = sagg_tree_get(tree);
    char names[MAX_PATH + 1] = "";
    uint64_t sum = 0;
    size_t seen = 0;
    for (size_t i = 0; i < view->node_count; i++) {
        uint32_t depth = view->depth[i];
        if (depth > 0) {
            const sagg_frame *frame = &view->frames[view->frame[i]];
            ck_assert_uint_eq(frame->method.size, 1);
            names[depth - 1] = frame->method.data[0];
        }
        names[depth] = '\0';
        ck_assert_msg(view->self[i] == value_of(wanted, names), "%s", names);
        seen += view->self[i] > 0 ? 1 : 0;
        sum += view->self[i];
        uint64_t below = view->self[i];
        char last = 0;
        for (size_t j = i + 1; j < view->node_count && view->depth[j] > depth; j++) {
            if (view->depth[j] != depth + 1)
                continue;
            below += view->total[j];
            char name = view->frames[view->frame[j]].method.data[0];
            ck_assert_int_gt(name, last);
            last = name;
        }
        ck_assert_uint_eq(below, view->total[i]);
    }
    ck_assert_uint_eq(seen, wanted->count);
    ck_assert_uint_eq(sum, view->totals.value);
}

static sagg_tree *shaped(const sagg_tree *tree, int shape, char method, uint32_t max_nodes)
{
    sagg_shape_options options = SAGG_SHAPE_OPTIONS_INIT;
    sagg_tree *result = NULL;
    options.shape = shape;
    options.max_nodes = max_nodes;
    options.method = (sagg_frame){.class_name = str("p"), .method = {&method, 1}};
    ck_assert_int_eq(sagg_tree_shape(&result, tree, &options, NULL), 0);
    return result;
}

START_TEST(every_shape_equals_the_plain_way)
{
    for (int shape = SAGG_SHAPE_REVERSED; shape <= SAGG_SHAPE_WITHOUT; shape++) {
        paths from = random_paths((uint64_t)_i * 7 + 1);
        sagg *agg = aggregate_of(&from);
        sagg_tree *tree = whole_tree(agg);
        sagg_free(agg);
        for (const char *method = "abcdef"; *method != '\0'; method++) {
            paths wanted = expected(&from, shape, *method);
            sagg_tree *result = shaped(tree, shape, *method, 0);
            check_tree(result, &wanted);
            sagg_tree_free(result);
        }
        sagg_tree_free(tree);
    }
}
END_TEST

START_TEST(both_halves_of_a_sandwich_weigh_the_same)
{
    paths from = random_paths(99);
    sagg *agg = aggregate_of(&from);
    sagg_tree *tree = whole_tree(agg);
    sagg_tree *callers = shaped(tree, SAGG_SHAPE_CALLERS, 'c', 0);
    sagg_tree *callees = shaped(tree, SAGG_SHAPE_CALLEES, 'c', 0);
    ck_assert_uint_gt(sagg_tree_get(callers)->total[0], 0);
    ck_assert_uint_eq(sagg_tree_get(callers)->total[0], sagg_tree_get(callees)->total[0]);
    sagg_tree_free(callers);
    sagg_tree_free(callees);
    sagg_tree_free(tree);
    sagg_free(agg);
}
END_TEST

START_TEST(a_limit_cuts_by_weight_and_counts)
{
    paths from = random_paths(5);
    sagg *agg = aggregate_of(&from);
    sagg_tree *tree = whole_tree(agg);
    sagg_tree *all = shaped(tree, SAGG_SHAPE_REVERSED, 'a', 0);
    sagg_tree *cut = shaped(tree, SAGG_SHAPE_REVERSED, 'a', 20);
    const sagg_tree_view *view = sagg_tree_get(cut);
    uint64_t nodes = view->node_count;
    uint64_t value = 0;
    for (size_t i = 0; i < view->omitted_count; i++) {
        nodes += view->omitted_nodes[i];
        value += view->omitted_total[i];
    }
    for (size_t i = 0; i < view->node_count; i++)
        value += view->self[i];
    ck_assert_uint_eq(view->node_count, 20);
    ck_assert_uint_eq(nodes, sagg_tree_get(all)->node_count);
    ck_assert_uint_eq(value, sagg_tree_get(all)->total[0]);
    sagg_tree_free(all);
    sagg_tree_free(cut);
    sagg_tree_free(tree);
    sagg_free(agg);
}
END_TEST

START_TEST(what_was_cut_before_stays_in_the_sum)
{
    paths from = random_paths(6);
    sagg *agg = aggregate_of(&from);
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree = NULL;
    options.type = CPU;
    options.max_nodes = 30;
    ck_assert_int_eq(sagg_tree_new(&tree, agg, &options, NULL), 0);
    for (int shape = SAGG_SHAPE_REVERSED; shape <= SAGG_SHAPE_FOLDED; shape++) {
        sagg_tree *result = shaped(tree, shape, 'a', 0);
        ck_assert_uint_eq(sagg_tree_get(result)->total[0], sagg_tree_get(tree)->total[0]);
        sagg_tree_free(result);
    }
    sagg_tree_free(tree);
    sagg_free(agg);
}
END_TEST

START_TEST(bad_options_are_refused)
{
    paths from = random_paths(1);
    sagg *agg = aggregate_of(&from);
    sagg_tree *tree = whole_tree(agg);
    sagg_tree *result = NULL;
    sagg_error err = {0};
    sagg_shape_options options = SAGG_SHAPE_OPTIONS_INIT;
    ck_assert_int_eq(sagg_tree_shape(&result, tree, NULL, &err), SAGG_ERR_USAGE);
    ck_assert_int_eq(sagg_tree_shape(&result, tree, &options, &err), SAGG_ERR_USAGE);
    options.shape = 99;
    ck_assert_int_eq(sagg_tree_shape(&result, tree, &options, &err), SAGG_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "99"));
    sagg_tree_free(tree);
    sagg_free(agg);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shape");
    TCase *tcase = tcase_create("shape");
    tcase_add_loop_test(tcase, every_shape_equals_the_plain_way, 0, 10);
    tcase_add_test(tcase, both_halves_of_a_sandwich_weigh_the_same);
    tcase_add_test(tcase, a_limit_cuts_by_weight_and_counts);
    tcase_add_test(tcase, what_was_cut_before_stays_in_the_sum);
    tcase_add_test(tcase, bad_options_are_refused);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
