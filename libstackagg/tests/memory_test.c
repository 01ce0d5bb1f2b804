/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a failure of each allocation of each function: the function reports it, frees its memory,
 * and leaves its arguments unchanged. */
#include "failing_memory.h"
#include "support.h"

#include <limits.h>
#include <stdlib.h>

/* ---- the inputs ---- */

static const char page[] = "<html><script type=\"application/json\" id=\"hotstack-data\">"
                           "/*HOTSTACK_DATA*/</script></html>\n";

enum { STACKS = 300, SAMPLES = 400, TENTH = 100000000 };

static const int64_t start = INT64_C(1769846400000000000);

static sagg *aggregate, *other, *crowded, *seconds;
static sagg_tree *tree, *older;
static sagg_heat *heat;
static sagg_windows *windows;

/* A hash of everything that a run wrote and returned. */
static uint64_t seen;

static void note(uint64_t number)
{
    seen = (seen ^ number) * UINT64_C(0x9E3779B97F4A7C15);
}

static int take(void *ctx, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    (void)ctx;
    for (size_t i = 0; i < size; i++)
        note(bytes[i]);
    return 0;
}

static const sagg_sink sink = {.write = take};

static void note_tree(const sagg_tree *of)
{
    const sagg_tree_view *view = sagg_tree_get(of);
    for (size_t i = 0; i < view->node_count; i++) {
        note(view->depth[i]);
        note(view->total[i]);
    }
}

static void note_entries(const sagg *agg)
{
    sagg_entry entry;
    for (size_t at = 0; sagg_next(agg, &at, &entry);) {
        note(entry.type);
        note(entry.totals.value);
    }
}

static void fill(sagg *agg, uint64_t seed)
{
    for (uint32_t i = 0; i < STACKS; i++) {
        char text[96], name[16];
        (void)snprintf(text, sizeof(text), "m.M.main;m.M.a%u;m.M.b%u;m.M.a%u;\xc3\xa9.<c>%u",
                       next_random(&seed, 4), next_random(&seed, 9), next_random(&seed, 4), i);
        (void)snprintf(name, sizeof(name), "w-%u", i % 7);
        const uint32_t at = stack(agg, text);
        const uint32_t who = thread(agg, i % 40, name);
        add(agg, CPU, who, at, 1 + next_random(&seed, 1000));
        add(agg, ALLOC, who, at, 1 + next_random(&seed, 1000));
    }
}

static sagg *filled(const sagg_options *options, uint64_t seed)
{
    sagg *agg = make(options);
    fill(agg, seed);
    return agg;
}

static int add_windows(sagg_windows *to, sagg_error *err)
{
    uint64_t state = 5;
    int rc = 0;
    for (int64_t i = 0; rc == 0 && i < SAMPLES; i++) {
        const sagg_sample sample = {.type = CPU,
                                    .stack = 1 + next_random(&state, STACKS),
                                    .value = (uint64_t)(1 + i % 9),
                                    .time_ns = start + i * TENTH};
        rc = sagg_windows_add_sample(to, aggregate, &sample, err);
    }
    return rc;
}

static int add_heat(sagg_heat *to, sagg_error *err)
{
    uint64_t state = 6;
    int rc = 0;
    for (int64_t i = 0; rc == 0 && i < 5 * SAMPLES; i++) {
        const sagg_sample sample = {.type = CPU,
                                    .stack = 1 + next_random(&state, STACKS),
                                    .value = 1 + (uint64_t)i,
                                    .samples = 1,
                                    .time_ns = start + i * TENTH};
        rc = sagg_heat_add(to, aggregate, &sample, err);
    }
    return rc;
}

static sagg_heat_options few_cells(void)
{
    sagg_heat_options options = SAGG_HEAT_OPTIONS_INIT;
    options.max_cells = 1000;
    return options;
}

static void setup(void)
{
    sagg_options options = two_types();
    const sagg_heat_options cells = few_cells();
    aggregate = filled(&options, 1);
    other = filled(&options, 2);
    options.max_stacks = 100;
    crowded = filled(&options, 3);
    options = two_types();
    options.seconds = 60;
    seconds = filled(&options, 4);
    tree = whole_tree(aggregate);
    older = whole_tree(other);
    ck_assert_int_eq(sagg_heat_new(&heat, &cells, NULL), 0);
    ck_assert_int_eq(add_heat(heat, NULL), 0);
    ck_assert_int_eq(sagg_windows_new(&windows, 1000000000, NULL), 0);
    ck_assert_int_eq(add_windows(windows, NULL), 0);
}

static void teardown(void)
{
    sagg_free(aggregate);
    sagg_free(other);
    sagg_free(crowded);
    sagg_free(seconds);
    sagg_tree_free(tree);
    sagg_tree_free(older);
    sagg_heat_free(heat);
    sagg_windows_free(windows);
}

/* ---- the functions under test ---- */

static int merge_both(const sagg_options *options, const sagg *a, const sagg *b, sagg_error *err)
{
    sagg *into = NULL;
    int rc = sagg_new(&into, options, err);
    if (rc == 0)
        rc = sagg_merge(into, a, err);
    if (rc == 0)
        rc = sagg_merge(into, b, err);
    if (rc == 0)
        note_entries(into);
    sagg_free(into);
    return rc;
}

static int merge(sagg_error *err)
{
    const sagg_options options = two_types();
    return merge_both(&options, aggregate, other, err);
}

static int merge_seconds(sagg_error *err)
{
    sagg_options options = two_types();
    options.seconds = 60;
    return merge_both(&options, seconds, seconds, err);
}

/* A failed compaction changes nothing. The test's assertions free memory, so only the leak checker
 * can tell whether it leaks. */
static int compact(sagg_error *err)
{
    sagg_options options = two_types();
    options.max_stacks = 100;
    const long some = memory_left;
    const long before = memory_held;
    memory_left = LONG_MAX;
    sagg *agg = filled(&options, 3);
    memory_left = some;
    int rc = sagg_compact(agg, err);
    memory_left = LONG_MAX;
    if (rc != 0) {
        same_entries(agg, crowded);
        ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    }
    ck_assert_uint_le(sagg_stack_count(agg), options.max_stacks + SAGG_DROPPED + 1);
    note_entries(agg);
    sagg_free(agg);
    memory_left = some;
    memory_held = before;
    return rc;
}

static int make_tree(sagg_error *err)
{
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    options.type = ALLOC;
    options.threads = true;
    options.lines = true;
    options.max_nodes = 200;
    sagg_tree *made = NULL;
    int rc = sagg_tree_new(&made, aggregate, &options, err);
    if (rc == 0)
        note_tree(made);
    sagg_tree_free(made);
    return rc;
}

static int shape_trees(sagg_error *err)
{
    int rc = 0;
    for (int shape = SAGG_SHAPE_REVERSED; rc == 0 && shape <= SAGG_SHAPE_WITHOUT; shape++) {
        sagg_shape_options options = SAGG_SHAPE_OPTIONS_INIT;
        options.shape = shape;
        options.max_nodes = 150;
        options.method = (sagg_frame){.class_name = str("m.M"), .method = str("a1")};
        sagg_tree *made = NULL;
        rc = sagg_tree_shape(&made, tree, &options, err);
        if (rc == 0)
            note_tree(made);
        sagg_tree_free(made);
    }
    return rc;
}

static int make_top(sagg_error *err)
{
    sagg_top *top = NULL;
    int rc = sagg_top_new(&top, aggregate, CPU, 10, err);
    size_t count = 0, omitted = 0;
    const sagg_top_row *rows = rc == 0 ? sagg_top_rows(top, &count, &omitted) : NULL;
    for (size_t i = 0; i < count; i++)
        note(rows[i].self);
    note(omitted);
    sagg_top_free(top);
    return rc;
}

static int write_lines(sagg_error *err)
{
    sagg_collapsed_options options = SAGG_COLLAPSED_OPTIONS_INIT;
    options.threads = true;
    options.lines = true;
    sagg_collapsed *writer = NULL;
    int rc = sagg_collapsed_new(&writer, aggregate, &options, err);
    if (rc == 0)
        rc = sagg_collapsed_write(writer, CPU, &sink, err);
    if (rc == 0)
        rc = sagg_collapsed_write(writer, ALLOC, &sink, err);
    sagg_collapsed_free(writer);
    return rc;
}

static int write_documents(sagg_error *err)
{
    const sagg_tree *trees[] = {tree, older};
    const sagg_str meta = str("{\"title\": \"a </b>\"}");
    int rc = sagg_write_json(trees, 2, meta, &sink, err);
    return rc == 0 ? sagg_write_html(str(page), trees, 2, meta, NULL, &sink, err) : rc;
}

static int compare(sagg_error *err)
{
    sagg_diff_options options = SAGG_DIFF_OPTIONS_INIT;
    options.before = options.after = windows;
    options.rounds = 200;
    options.max_nodes = 200;
    sagg_diff *diff = NULL;
    int rc = sagg_diff_new(&diff, older, tree, &options, err);
    const sagg_diff *diffs[] = {diff};
    if (rc == 0)
        rc = sagg_write_diff_html(str(page), diffs, 1, str("{}"), NULL, &sink, err);
    sagg_diff_free(diff);
    return rc;
}

static int count_windows(sagg_error *err)
{
    sagg_windows *made = NULL;
    int rc = sagg_windows_new(&made, 1000000000, err);
    if (rc == 0)
        rc = add_windows(made, err);
    sagg_windows_free(made);
    return rc;
}

static int draw_heat(sagg_error *err)
{
    const sagg_tree *trees[] = {tree};
    const sagg_heat *heats[] = {heat};
    const sagg_heatmap map = {.agg = aggregate, .trees = trees, .heats = heats, .count = 1};
    return sagg_write_heatmap_html(str(page), &map, str("{}"), NULL, &sink, err);
}

static int count_heat(sagg_error *err)
{
    const sagg_heat_options options = few_cells();
    sagg_heat *made = NULL;
    int rc = sagg_heat_new(&made, &options, err);
    if (rc == 0)
        rc = add_heat(made, err);
    if (rc == 0)
        note(sagg_heat_step(made));
    sagg_heat_free(made);
    return rc;
}

static int (*const works[])(sagg_error *err) = {
    merge,       merge_seconds,   compact, make_tree,     shape_trees, make_top,
    write_lines, write_documents, compare, count_windows, draw_heat,   count_heat,
};

START_TEST(no_allocation_that_fails_harms_anything)
{
    sagg_error err = {0};
    seen = 0;
    ck_assert_msg(works[_i](&err) == 0, "%s", err.message);
    const uint64_t wanted = seen;
    int rc = SAGG_ERR_NOMEM;
    long count = 0;
    for (; rc != 0; count++) {
        err = (sagg_error){0};
        seen = 0;
        memory_limit(count);
        rc = works[_i](&err);
        memory_lift();
        ck_assert(rc == 0 || rc == SAGG_ERR_NOMEM);
        ck_assert_int_eq(err.code, rc);
        ck_assert_int_eq(err.message[0] != '\0', rc != 0);
    }
    ck_assert_int_gt(count, 1);
    ck_assert_uint_eq(seen, wanted);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("memory");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, no_allocation_that_fails_harms_anything, 0, ROWS(works));
    Suite *suite = suite_create("memory");
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
