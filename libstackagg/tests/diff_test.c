/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <jansson.h>
#include <stdlib.h>

#include <stackagg/diff.h>

static const char page[] = "<html><script type=\"application/json\" id=\"hotstack-data\">"
                           "/*HOTSTACK_DATA*/</script></html>\n";

static const char *const stacks[] = {"m.main;a.A.f;b.B.g", "m.main;a.A.f", "m.main;b.B.g;a.A.f",
                                     "m.main;c.C.h",       "d.D.i",        ""};
enum { STACKS = 6, SECONDS = 40 };

static sagg_tree *tree_of(const uint64_t values[STACKS], uint32_t type)
{
    sagg *agg = make(NULL);
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree = NULL;
    for (int i = 0; i < STACKS; i++)
        if (values[i] > 0)
            add(agg, type, 0, stack(agg, stacks[i]), values[i]);
    options.type = type;
    ck_assert_int_eq(sagg_tree_new(&tree, agg, &options, NULL), 0);
    sagg_free(agg);
    return tree;
}

static sagg_diff *diff_of(const uint64_t before[STACKS], const uint64_t after[STACKS],
                          const sagg_diff_options *options)
{
    sagg_tree *old = tree_of(before, CPU);
    sagg_tree *new = tree_of(after, CPU);
    sagg_diff *diff = NULL;
    sagg_error err = {0};
    ck_assert_msg(sagg_diff_new(&diff, old, new, options, &err) == 0, "%s", err.message);
    sagg_tree_free(old); /* a comparison borrows nothing */
    sagg_tree_free(new);
    return diff;
}

static const uint64_t before[STACKS] = {10, 20, 30, 0, 40, 0};
static const uint64_t after[STACKS] = {10, 20, 0, 60, 100, 10};

/* Writes the stack of a node as text, root first. */
static void name_node(char *to, size_t room, const sagg_tree_view *view, size_t node)
{
    to[0] = '\0';
    for (uint32_t depth = 1; depth <= view->depth[node]; depth++) {
        size_t at = node;
        while (view->depth[at] != depth)
            at--;
        const sagg_frame *frame = &view->frames[view->frame[at]];
        (void)snprintf(to + strlen(to), room - strlen(to), "%s%.*s.%.*s", depth > 1 ? ";" : "",
                       (int)frame->class_name.size, frame->class_name.data, (int)frame->method.size,
                       frame->method.data);
    }
}

static bool begins(const char *text, const char *with)
{
    size_t size = strlen(with);
    return strncmp(text, with, size) == 0 && (size == 0 || text[size] == '\0' || text[size] == ';');
}

START_TEST(each_node_has_both_sides)
{
    sagg_diff *diff = diff_of(before, after, NULL);
    const sagg_diff_view *view = sagg_diff_get(diff);
    for (size_t node = 0; node < view->after->node_count; node++) {
        char name[128];
        uint64_t sums[4] = {0};
        name_node(name, sizeof(name), view->after, node);
        for (int i = 0; i < STACKS; i++) {
            bool is_it = strcmp(stacks[i], name) == 0;
            sums[0] += is_it ? before[i] : 0;
            sums[1] += is_it ? after[i] : 0;
            sums[2] += begins(stacks[i], name) ? before[i] : 0;
            sums[3] += begins(stacks[i], name) ? after[i] : 0;
        }
        ck_assert_uint_eq(view->before_self[node], sums[0]);
        ck_assert_uint_eq(view->after->self[node], sums[1]);
        ck_assert_uint_eq(view->before_total[node], sums[2]);
        ck_assert_uint_eq(view->after->total[node], sums[3]);
        int64_t wanted = (int64_t)(sums[3] * 1000000000 / 200) - (int64_t)(sums[2] * 10000000);
        ck_assert_int_eq(view->change[node], wanted);
    }
    ck_assert_uint_eq(view->before_totals.value, 100);
    ck_assert_uint_eq(view->after->totals.value, 200);
    sagg_diff_free(diff);
}
END_TEST

START_TEST(methods_are_sorted_by_change)
{
    static const struct {
        const char *method;
        uint64_t before, after;
        int64_t before_share, after_share;
    } wanted[] = {
        {"f", 50, 20, 500000000, 100000000},
        {"h", 0, 60, 0, 300000000},
        {"i", 40, 100, 400000000, 500000000},
        {"g", 10, 10, 100000000, 50000000},
    };
    sagg_diff *diff = diff_of(before, after, NULL);
    const sagg_diff_view *view = sagg_diff_get(diff);
    ck_assert_uint_eq(view->change_count, 4); /* m.main has no self on either side */
    for (size_t i = 0; i < 4; i++) {
        const sagg_change *row = &view->changes[i];
        ck_assert_int_eq(row->method.method.data[0], wanted[i].method[0]);
        ck_assert_uint_eq(row->before_self, wanted[i].before);
        ck_assert_uint_eq(row->after_self, wanted[i].after);
        ck_assert_int_eq(row->before_share, wanted[i].before_share);
        ck_assert_int_eq(row->after_share, wanted[i].after_share);
        ck_assert(!row->has_interval);
    }
    sagg_diff_free(diff);
}
END_TEST

START_TEST(a_limit_cuts_by_both_sides_and_counts)
{
    sagg_diff_options options = SAGG_DIFF_OPTIONS_INIT;
    options.max_nodes = 4;
    sagg_diff *whole = diff_of(before, after, NULL);
    sagg_diff *diff = diff_of(before, after, &options);
    const sagg_diff_view *view = sagg_diff_get(diff);
    const sagg_tree_view *tree = view->after;
    uint64_t nodes = tree->node_count;
    uint64_t old = 0;
    uint64_t new = 0;
    for (size_t i = 0; i < tree->omitted_count; i++) {
        nodes += tree->omitted_nodes[i];
        old += view->omitted_before[i];
        new += tree->omitted_total[i];
    }
    for (size_t i = 0; i < tree->node_count; i++) {
        old += view->before_self[i];
        new += tree->self[i];
    }
    ck_assert_uint_eq(tree->node_count, 4);
    ck_assert_uint_eq(nodes, sagg_diff_get(whole)->after->node_count);
    ck_assert_uint_eq(old, 100);
    ck_assert_uint_eq(new, 200);
    ck_assert_uint_eq(view->change_count, sagg_diff_get(whole)->change_count);
    sagg_diff_free(diff);
    sagg_diff_free(whole);
}
END_TEST

/* ---- significance ---- */

/* Makes windows of a load that varies: f and g share everything that is not `planted`. */
static sagg_windows *windows_of(uint64_t seed, uint64_t planted)
{
    const sagg_frame f = {.class_name = str("a.A"), .method = str("f")};
    const sagg_frame g = {.class_name = str("b.B"), .method = str("g")};
    const sagg_frame h = {.class_name = str("c.C"), .method = str("h")};
    sagg_windows *windows = NULL;
    ck_assert_int_eq(sagg_windows_new(&windows, 1000000000, NULL), 0);
    for (int64_t second = -5; second < SECONDS - 5; second++) {
        int64_t at = second * 1000000000 + 7;
        uint64_t wave = next_random(&seed, 40);
        ck_assert_int_eq(sagg_windows_add(windows, &f, at, 80 + wave, NULL), 0);
        ck_assert_int_eq(sagg_windows_add(windows, &g, at + 5, 100 - wave, NULL), 0);
        if (planted > 0)
            ck_assert_int_eq(sagg_windows_add(windows, &h, at + 9, planted, NULL), 0);
    }
    return windows;
}

static sagg_diff *diff_of_windows(uint64_t seed, uint64_t planted)
{
    sagg_diff_options options = SAGG_DIFF_OPTIONS_INIT;
    sagg_windows *old = windows_of(seed, 0);
    sagg_windows *new = windows_of(seed + 1000, planted);
    const uint64_t old_values[STACKS] = {90 * SECONDS, 90 * SECONDS};
    const uint64_t new_values[STACKS] = {90 * SECONDS, 90 * SECONDS, 0, planted * SECONDS};
    options.before = old;
    options.after = new;
    sagg_diff *diff = diff_of(old_values, new_values, &options);
    sagg_windows_free(old);
    sagg_windows_free(new);
    return diff;
}

START_TEST(chance_is_not_named_and_a_plant_is)
{
    sagg_diff *same = diff_of_windows((uint64_t)_i, 0);
    const sagg_diff_view *view = sagg_diff_get(same);
    for (size_t i = 0; i < view->change_count; i++) {
        ck_assert(view->changes[i].has_interval);
        ck_assert_int_lt(view->changes[i].low, 0);
        ck_assert_int_gt(view->changes[i].high, 0);
    }
    sagg_diff *changed = diff_of_windows((uint64_t)_i, 20); /* a tenth */
    const sagg_change *first = &sagg_diff_get(changed)->changes[0];
    ck_assert_int_eq(first->method.method.data[0], 'h');
    ck_assert_int_gt(first->low, 90000000);
    ck_assert_int_lt(first->high, 110000000);
    sagg_diff_free(same);
    sagg_diff_free(changed);
}
END_TEST

START_TEST(equal_seeds_give_equal_intervals)
{
    sagg_diff *one = diff_of_windows(3, 20);
    sagg_diff *two = diff_of_windows(3, 20);
    const sagg_diff_view *a = sagg_diff_get(one);
    const sagg_diff_view *b = sagg_diff_get(two);
    for (size_t i = 0; i < a->change_count; i++) {
        ck_assert_int_eq(a->changes[i].low, b->changes[i].low);
        ck_assert_int_eq(a->changes[i].high, b->changes[i].high);
    }
    sagg_diff_free(one);
    sagg_diff_free(two);
}
END_TEST

/* Adds samples of various stacks, as samples or by their leaves. */
static sagg_windows *windows_of_samples(const sagg *agg, bool by_leaf, uint64_t seed)
{
    sagg_windows *windows = NULL;
    ck_assert_int_eq(sagg_windows_new(&windows, 1000000000, NULL), 0);
    for (int i = 0; i < 2000; i++) {
        sagg_stack of;
        sagg_frame leaf;
        const sagg_sample sample = {.type = CPU,
                                    .stack = next_random(&seed, sagg_stack_count(agg)),
                                    .value = next_random(&seed, 100),
                                    .time_ns = (int64_t)next_random(&seed, 30) * 999999999 - 5};
        ck_assert(sagg_stack_at(agg, sample.stack, &of));
        bool has_leaf = of.count > 0 && sagg_frame_at(agg, sagg_stack_frame(&of, 0), &leaf);
        int rc = by_leaf ? sagg_windows_add(windows, has_leaf ? &leaf : NULL, sample.time_ns,
                                            sample.value, NULL)
                         : sagg_windows_add_sample(windows, agg, &sample, NULL);
        ck_assert_int_eq(rc, 0);
    }
    return windows;
}

START_TEST(samples_count_as_their_leaves_do)
{
    sagg_options options = two_types();
    sagg *agg = make(&options);
    uint32_t empty;
    add(agg, CPU, 0, stack(agg, "a.A.f;b.B.g"), 30);
    add(agg, CPU, 0, stack(agg, "a.A.f"), 20);
    add(agg, CPU, 0, stack(agg, "a.A.f;c.C.h;b.B.g"), 10);
    ck_assert_int_eq(sagg_add_stack(agg, &empty, NULL, 0, NULL), 0);
    add(agg, CPU, 0, empty, 5);
    sagg_tree *tree = whole_tree(agg);
    sagg_diff *diffs[2];
    for (int i = 0; i < 2; i++) {
        sagg_diff_options o = SAGG_DIFF_OPTIONS_INIT;
        sagg_windows *old = windows_of_samples(agg, i == 1, 1);
        sagg_windows *new = windows_of_samples(agg, i == 1, 2);
        o.before = old;
        o.after = new;
        ck_assert_int_eq(sagg_diff_new(&diffs[i], tree, tree, &o, NULL), 0);
        sagg_windows_free(old);
        sagg_windows_free(new);
    }
    const sagg_diff_view *a = sagg_diff_get(diffs[0]);
    const sagg_diff_view *b = sagg_diff_get(diffs[1]);
    ck_assert_uint_gt(a->change_count, 1);
    for (size_t i = 0; i < a->change_count; i++) {
        ck_assert(a->changes[i].has_interval);
        ck_assert_int_ne(a->changes[i].low, a->changes[i].high);
        ck_assert_int_eq(a->changes[i].low, b->changes[i].low);
        ck_assert_int_eq(a->changes[i].high, b->changes[i].high);
    }
    sagg_diff_free(diffs[0]);
    sagg_diff_free(diffs[1]);
    sagg_tree_free(tree);
    sagg_windows *windows = NULL;
    sagg_error err;
    const sagg_sample stray = {.type = CPU, .stack = sagg_stack_count(agg), .value = 1};
    ck_assert_int_eq(sagg_windows_new(&windows, 1000000000, NULL), 0);
    ck_assert_int_eq(sagg_windows_add_sample(windows, agg, &stray, &err), SAGG_ERR_USAGE);
    sagg_windows_free(windows);
    sagg_free(agg);
}
END_TEST

START_TEST(bad_options_are_refused)
{
    sagg_diff *diff = NULL;
    sagg_error err = {0};
    sagg_tree *old = tree_of(before, CPU);
    sagg_tree *other = tree_of(after, ALLOC);
    sagg_diff_options options = SAGG_DIFF_OPTIONS_INIT;
    ck_assert_int_eq(sagg_diff_new(&diff, old, other, NULL, &err), SAGG_ERR_USAGE);
    options.rounds = 10;
    ck_assert_int_eq(sagg_diff_new(&diff, old, old, &options, &err), SAGG_ERR_USAGE);
    sagg_windows *windows = windows_of(1, 0);
    options.rounds = 0;
    options.before = windows;
    ck_assert_int_eq(sagg_diff_new(&diff, old, old, &options, &err), SAGG_ERR_USAGE);
    sagg_windows *none = NULL;
    ck_assert_int_eq(sagg_windows_new(&none, 0, &err), SAGG_ERR_USAGE);
    sagg_windows_free(windows);
    sagg_tree_free(old);
    sagg_tree_free(other);
}
END_TEST

START_TEST(the_page_holds_both_sides_and_the_changes)
{
    memory to;
    sagg_sink sink = memory_sink(&to);
    sagg_diff *diff = diff_of_windows(1, 20);
    const sagg_diff *diffs[] = {diff};
    ck_assert_int_eq(sagg_write_diff_html(str(page), diffs, 1, str(""), NULL, &sink, NULL), 0);
    const char *start = strstr(to.text, "data\">") + strlen("data\">");
    char *inner = strndup(start, (size_t)(strstr(start, "</script>") - start));
    json_t *document = json_loads(inner, JSON_DISABLE_EOF_CHECK, NULL);
    ck_assert_ptr_nonnull(document);
    json_t *profile = json_array_get(json_object_get(document, "profiles"), 0);
    json_t *nodes = json_object_get(profile, "nodes");
    ck_assert_uint_eq(json_array_size(json_object_get(nodes, "before")),
                      json_array_size(json_object_get(nodes, "self")));
    json_t *row = json_array_get(json_object_get(profile, "changes"), 0);
    ck_assert_uint_eq(json_array_size(row), 5);
    size_t frame = (size_t)json_integer_value(json_array_get(row, 0));
    json_t *methods = json_object_get(json_object_get(document, "frames"), "method");
    size_t name = (size_t)json_integer_value(json_array_get(methods, frame));
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(document, "strings"), name)),
                     "h");
    ck_assert_int_eq(json_integer_value(json_array_get(row, 2)), 100000000);
    json_decref(document);
    free(inner);
    free(to.text);
    sagg_diff_free(diff);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diff");
    TCase *tcase = tcase_create("diff");
    tcase_add_test(tcase, each_node_has_both_sides);
    tcase_add_test(tcase, methods_are_sorted_by_change);
    tcase_add_test(tcase, a_limit_cuts_by_both_sides_and_counts);
    tcase_add_loop_test(tcase, chance_is_not_named_and_a_plant_is, 0, 5);
    tcase_add_test(tcase, equal_seeds_give_equal_intervals);
    tcase_add_test(tcase, samples_count_as_their_leaves_do);
    tcase_add_test(tcase, bad_options_are_refused);
    tcase_add_test(tcase, the_page_holds_both_sides_and_the_changes);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
