/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <jansson.h>
#include <stdlib.h>

static const char page[] = "<html><script type=\"application/json\" id=\"hotstack-data\">"
                           "/*HOTSTACK_DATA*/</script></html>\n";

static const int64_t start = INT64_C(1769846400123000000);
enum { MS = 1000000 };

/* ---- reading the output, by the format's documentation ---- */

static json_int_t member(const json_t *heat, const char *key)
{
    return json_integer_value(json_object_get(heat, key));
}

enum { BUCKETS = 4096, STACKS = 64 };

static uint64_t entry(const json_t *cells, const char *column, size_t at)
{
    return (uint64_t)json_integer_value(json_array_get(json_object_get(cells, column), at));
}

/* Reads the cells of a heat as sums by bucket and stack. Returns the number of entries. */
static uint64_t read_cells(const json_t *heat, uint64_t cells[BUCKETS][STACKS])
{
    const json_t *from = json_object_get(heat, "cells");
    const size_t count = json_array_size(json_object_get(from, "value"));
    uint64_t bucket = 0;
    memset(cells, 0, sizeof(uint64_t) * BUCKETS * STACKS);
    ck_assert_uint_eq(json_array_size(json_object_get(from, "bucket")), count);
    ck_assert_uint_eq(json_array_size(json_object_get(from, "stack")), count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t stack = entry(from, "stack", i);
        bucket += entry(from, "bucket", i);
        ck_assert_uint_lt(bucket, (uint64_t)member(heat, "buckets"));
        ck_assert(bucket < BUCKETS && stack < STACKS);
        ck_assert_uint_eq(cells[bucket][stack], 0); /* no cell is there twice */
        cells[bucket][stack] = entry(from, "value", i);
    }
    return count;
}

typedef struct world {
    sagg *agg;
    sagg_heat *heat;
    bool threads;
} world;

static world make_world(bool threads, uint32_t max_cells)
{
    sagg_options options = two_types();
    sagg_heat_options heat = SAGG_HEAT_OPTIONS_INIT;
    world w = {.threads = threads};
    options.group = threads ? SAGG_BY_THREAD : SAGG_BY_NONE;
    heat.threads = threads;
    heat.max_cells = max_cells;
    w.agg = make(&options);
    ck_assert_int_eq(sagg_heat_new(&w.heat, &heat, NULL), 0);
    return w;
}

static void add_at(const world *w, uint32_t by, const char *path, int64_t time_ns, uint64_t value)
{
    sagg_sample sample = {.type = CPU,
                          .thread = by,
                          .stack = stack(w->agg, path),
                          .raw_value = value,
                          .value = value,
                          .samples = 1,
                          .time_ns = time_ns};
    ck_assert_int_eq(sagg_add(w->agg, &sample, NULL), 0);
    ck_assert_int_eq(sagg_heat_add(w->heat, w->agg, &sample, NULL), 0);
}

static json_t *write(const world *w, uint32_t max_nodes, const sagg_span *spans, size_t span_count)
{
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree = NULL;
    sagg_error err = {0};
    memory to;
    sagg_sink sink = memory_sink(&to);
    options.type = CPU;
    options.max_nodes = max_nodes;
    options.threads = w->threads;
    ck_assert_int_eq(sagg_tree_new(&tree, w->agg, &options, NULL), 0);
    const sagg_tree *trees[] = {tree};
    const sagg_heat *heats[] = {w->heat};
    sagg_heatmap map = {w->agg, trees, heats, 1, spans, span_count};
    ck_assert_msg(sagg_write_heatmap_html(str(page), &map, str("{}"), NULL, &sink, &err) == 0, "%s",
                  err.message);
    sagg_tree_free(tree);
    const char *data = strstr(to.text, "data\">") + strlen("data\">");
    json_t *document = json_loads(data, JSON_DISABLE_EOF_CHECK, NULL);
    ck_assert_ptr_nonnull(document);
    free(to.text);
    return document;
}

static json_t *heat_of(const json_t *document)
{
    return json_object_get(json_array_get(json_object_get(document, "profiles"), 0), "heat");
}

static void end(world *w)
{
    sagg_heat_free(w->heat);
    sagg_free(w->agg);
}

/* ---- tests ---- */

START_TEST(cells_are_what_was_added)
{
    static uint64_t cells[BUCKETS][STACKS];
    static const sagg_span spans[] = {{start, start + 100 * MS},
                                      {start + 200 * MS, start + 300 * MS}};
    world w = make_world(false, 0);
    add_at(&w, 0, "a.A.f", start, 6);
    add_at(&w, 0, "a.A.f;b.B.g", start + 5 * MS, 4); /* the same 20 ms */
    add_at(&w, 0, "a.A.f", start + 16 * MS, 10);
    add_at(&w, 0, "a.A.f", start + 17 * MS, 2);  /* the next: buckets are aligned */
    add_at(&w, 0, "", start + 299 * MS, 8);      /* the root's own */
    add_at(&w, 0, "c.C.h", start - 500 * MS, 2); /* before all spans: counts in the first */
    json_t *document = write(&w, 0, spans, 2);
    const json_t *heat = heat_of(document);
    (void)read_cells(heat, cells);
    ck_assert_str_eq(json_string_value(json_object_get(heat, "origin_ns")), "1769846400120000000");
    ck_assert_int_eq(member(heat, "step_ns"), 20 * MS);
    ck_assert_int_eq(member(heat, "buckets"), 16);
    ck_assert_str_eq(json_string_value(json_object_get(heat, "outside")), "2");
    char *text = json_dumps(json_object_get(heat, "spans"), JSON_COMPACT);
    ck_assert_str_eq(text, "[3,103,203,303]");
    free(text);
    /* Stacks in preorder: the root, f, g, h. */
    static const uint64_t wanted[3][4] = {{0, 16, 4, 2}, {0, 2, 0, 0}, {8, 0, 0, 0}};
    for (int stack = 0; stack < 4; stack++) {
        ck_assert_uint_eq(cells[0][stack], wanted[0][stack]);
        ck_assert_uint_eq(cells[1][stack], wanted[1][stack]);
        ck_assert_uint_eq(cells[15][stack], wanted[2][stack]);
    }
    json_decref(document);
    end(&w);
}
END_TEST

/* Values that a cut removes are in its block; values without a stack in the tree come after all
 * blocks. */
START_TEST(a_cut_tree_keeps_the_values)
{
    static uint64_t cells[BUCKETS][STACKS];
    world w = make_world(false, 0);
    add_at(&w, 0, "a.A.f", start, 50);
    add_at(&w, 0, "a.A.f;b.B.g", start, 3);
    add_at(&w, 0, "a.A.f;c.C.h;d.D.i", start + 40 * MS, 2);
    add_at(&w, 0, "e.E.j", start + 40 * MS, 1);
    json_t *document = write(&w, 2, NULL, 0);
    (void)read_cells(heat_of(document), cells);
    /* Stacks: f; then the blocks below the root and below f. */
    ck_assert_uint_eq(cells[0][0], 50);
    ck_assert_uint_eq(cells[0][2], 3);
    ck_assert_uint_eq(cells[2][2], 2);
    ck_assert_uint_eq(cells[2][1], 1);
    json_decref(document);
    end(&w);
}
END_TEST

START_TEST(threads_are_told_apart_when_asked)
{
    static uint64_t cells[BUCKETS][STACKS];
    world w = make_world(true, 0);
    uint32_t one = thread(w.agg, 1, "one");
    uint32_t two = thread(w.agg, 2, "two");
    add_at(&w, two, "a.A.f", start, 7);
    add_at(&w, one, "a.A.f", start, 5);
    add_at(&w, SAGG_NO_THREAD, "a.A.f", start, 3);
    json_t *document = write(&w, 0, NULL, 0);
    (void)read_cells(heat_of(document), cells);
    ck_assert_uint_eq(cells[0][0], 3); /* "[no thread]" is sorted first */
    ck_assert_uint_eq(cells[0][1], 5);
    ck_assert_uint_eq(cells[0][2], 7);
    json_decref(document);
    end(&w);
}
END_TEST

static uint64_t sum_of(uint64_t cells[BUCKETS][STACKS], uint64_t *nameless, size_t stacks)
{
    uint64_t sum = 0;
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        for (size_t stack = 0; stack < STACKS; stack++)
            sum += cells[bucket][stack];
        *nameless += cells[bucket][stacks];
    }
    return sum;
}

/* Past the cap the time resolution is reduced first, and sums stay exact; a compaction in between
 * has no effect. */
START_TEST(the_cap_holds_and_sums_stay)
{
    static uint64_t cells[BUCKETS][STACKS];
    world w = make_world(false, 1000);
    uint64_t state = 1;
    uint64_t sum = 0;
    for (int i = 0; i < 60000; i++) {
        char path[32];
        uint64_t value = 1 + next_random(&state, 9);
        (void)snprintf(path, sizeof(path), "a.A.m%u", next_random(&state, 40));
        add_at(&w, 0, path, start + (int64_t)i * MS, value);
        sum += value;
        if (i == 30000)
            ck_assert_int_eq(sagg_compact(w.agg, NULL), 0);
    }
    json_t *document = write(&w, 0, NULL, 0);
    const json_t *heat = heat_of(document);
    uint64_t nameless = 0;
    ck_assert_uint_le(read_cells(heat, cells), 1000);
    ck_assert_uint_gt(sagg_heat_step(w.heat), UINT64_C(20) * MS);
    ck_assert_uint_eq(sum_of(cells, &nameless, 40), sum);
    ck_assert_uint_eq(nameless, 0); /* 40 stacks are few enough to keep all */
    json_decref(document);
    end(&w);
}
END_TEST

/* With very many stacks the lightest are summed, second by second, and the heaviest stay. */
START_TEST(the_heaviest_stacks_stay)
{
    static uint64_t cells[BUCKETS][STACKS];
    world w = make_world(false, 1000);
    uint64_t sum = 0;
    for (int i = 0; i < 20000; i++) {
        char path[32];
        (void)snprintf(path, sizeof(path), "z.Z.m%d", i);
        add_at(&w, 0, path, start + (int64_t)i * MS, 1);
        add_at(&w, 0, "a.A.heavy", start + (int64_t)i * MS, 50);
        sum += 51;
    }
    json_t *document = write(&w, 2, NULL, 0);
    const json_t *heat = heat_of(document);
    uint64_t nameless = 0;
    (void)read_cells(heat, cells);
    ck_assert_int_eq(member(heat, "step_ns"), 2000 * MS);
    ck_assert_uint_eq(sum_of(cells, &nameless, 2), sum);
    ck_assert_uint_gt(nameless, 15000);
    uint64_t heavy = 0;
    for (size_t bucket = 0; bucket < BUCKETS; bucket++)
        heavy += cells[bucket][0];
    ck_assert_uint_eq(heavy, UINT64_C(50) * 20000);
    json_decref(document);
    end(&w);
}
END_TEST

static const int64_t odd_times[] = {INT64_MIN, -1, 0, INT64_MAX};

START_TEST(any_time_is_taken)
{
    static uint64_t cells[BUCKETS][STACKS];
    const sagg_span spans[] = {{odd_times[_i], odd_times[_i]}, {start, INT64_MAX}};
    world w = make_world(false, 0);
    add_at(&w, 0, "a.A.f", odd_times[_i], 4);
    add_at(&w, 0, "a.A.f", start, 5);
    add_at(&w, 0, "a.A.f", odd_times[3 - _i], 6);
    json_t *document =
        write(&w, 0, odd_times[_i] < start ? spans : spans + 1, odd_times[_i] < start ? 2 : 1);
    const json_t *heat = heat_of(document);
    ck_assert_int_le(member(heat, "buckets"), 1 << 20);
    if (member(heat, "buckets") <= BUCKETS)
        (void)read_cells(heat, cells);
    json_decref(document);
    end(&w);
}
END_TEST

START_TEST(wrong_use_is_refused)
{
    sagg_heat_options options = SAGG_HEAT_OPTIONS_INIT;
    sagg_heat *heat = NULL;
    sagg_error err = {0};
    options.max_cells = 999;
    ck_assert_int_eq(sagg_heat_new(&heat, &options, &err), SAGG_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "1000"));
    options.max_cells = 0;
    options.step_ns = UINT64_C(1000000001);
    ck_assert_int_eq(sagg_heat_new(&heat, &options, &err), SAGG_ERR_USAGE);
    world w = make_world(true, 0);
    sagg_sample sample = {.type = CPU, .stack = 99, .value = 1};
    ck_assert_int_eq(sagg_heat_add(w.heat, w.agg, &sample, &err), SAGG_ERR_USAGE);
    sagg_tree_options plain = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree = NULL;
    plain.type = CPU;
    ck_assert_int_eq(sagg_tree_new(&tree, w.agg, &plain, NULL), 0);
    const sagg_tree *trees[] = {tree};
    const sagg_heat *heats[] = {w.heat};
    sagg_heatmap map = {w.agg, trees, heats, 1, NULL, 0};
    memory to;
    sagg_sink sink = memory_sink(&to);
    ck_assert_int_eq(sagg_write_heatmap_html(str(page), &map, str("{}"), NULL, &sink, &err),
                     SAGG_ERR_USAGE);
    sagg_tree_free(tree);
    free(to.text);
    end(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("heat");
    TCase *tc = tcase_create("heat");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, cells_are_what_was_added);
    tcase_add_test(tc, a_cut_tree_keeps_the_values);
    tcase_add_test(tc, threads_are_told_apart_when_asked);
    tcase_add_test(tc, the_cap_holds_and_sums_stay);
    tcase_add_test(tc, the_heaviest_stacks_stay);
    tcase_add_loop_test(tc, any_time_is_taken, 0, 4);
    tcase_add_test(tc, wrong_use_is_refused);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
