/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <limits.h>

#include <stdlib.h>

START_TEST(the_same_content_has_the_same_index)
{
    sagg *agg = make(NULL);
    uint32_t a = stack(agg, "Main.main;a.B.c");
    ck_assert_uint_eq(stack(agg, "Main.main;a.B.c"), a);
    ck_assert_uint_ne(stack(agg, "a.B.c;Main.main"), a);
    ck_assert_uint_eq(sagg_stack_count(agg), 3); /* [dropped] is one */
    ck_assert_uint_eq(sagg_frame_count(agg), 3);
    ck_assert_uint_eq(thread(agg, 7, "main"), thread(agg, 7, "main"));
    ck_assert_uint_ne(thread(agg, 7, "main"), thread(agg, 8, "main"));
    sagg_free(agg);
}
END_TEST

START_TEST(a_type_can_be_renamed)
{
    sagg *agg = make(NULL);
    sagg_error err;
    sagg_type row;
    ck_assert_int_eq(sagg_type_rename(agg, CPU, "page-faults", &err), 0);
    ck_assert_int_eq(sagg_type_rename(agg, CPU, "faults", &err), 0);
    ck_assert_int_eq(sagg_type_rename(agg, SAGG_MAX_TYPE + 1, "none", &err), SAGG_ERR_USAGE);
    ck_assert_int_eq(sagg_type_rename(agg, SAGG_MAX_TYPE, "none", &err), SAGG_ERR_USAGE);
    ck_assert(sagg_type_at(agg, 0, &row));
    ck_assert_uint_eq(row.id, CPU);
    ck_assert_str_eq(row.name, "faults");
    sagg_free(agg);
}
END_TEST

/* Adds the frames "package.Class.method:line" of a stack `depth` deep, by both interfaces. */
static void add_both_ways(sagg *agg, uint32_t seed, uint32_t depth, uint32_t *plain,
                          uint32_t *quick)
{
    uint32_t frames[64], lines[64], method;
    for (uint32_t i = 0; i < depth; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "m%u", (seed + i) % 7);
        sagg_frame frame = {
            .class_name = str("a/B$$Lambda$7.0x1"), .method = str(name), .line = i % 3};
        ck_assert_int_eq(sagg_add_method(agg, &method, &frame, NULL), 0);
        ck_assert_int_eq(sagg_add_line(agg, &lines[i], method, frame.line, NULL), 0);
        if (plain != NULL)
            ck_assert_int_eq(sagg_add_frame(agg, &frames[i], &frame, NULL), 0);
    }
    ck_assert_int_eq(sagg_add_stack(agg, quick, lines, depth, NULL), 0);
    if (plain != NULL)
        ck_assert_int_eq(sagg_add_stack(agg, plain, frames, depth, NULL), 0);
}

START_TEST(frames_by_method_and_line_make_the_same_stacks)
{
    sagg_options options = two_types();
    options.max_frames = 10;
    sagg *agg = make(&options);
    sagg *other = make(&options);
    for (uint32_t seed = 0; seed < 50; seed++) {
        uint32_t plain, quick, alone;
        add_both_ways(agg, seed, seed % 14, &plain, &quick);
        ck_assert_uint_eq(plain, quick);
        ck_assert_uint_ne(quick, SAGG_DROPPED);
        add_both_ways(other, seed, seed % 14, NULL, &alone);
        sagg_stack a, b;
        ck_assert(sagg_stack_at(agg, plain, &a) && sagg_stack_at(other, alone, &b));
        sagg_stack_id one, same;
        ck_assert(sagg_stack_id_at(agg, plain, &one) && sagg_stack_id_at(other, alone, &same));
        ck_assert_mem_eq(&one, &same, sizeof(one));
        ck_assert_uint_eq(a.count, seed % 14 < 10 ? seed % 14 : 10);
        ck_assert_uint_eq(a.count, b.count);
    }
    ck_assert_uint_eq(sagg_frame_count(agg), sagg_frame_count(other));
    uint32_t frame;
    sagg_error err;
    ck_assert_int_eq(sagg_add_line(agg, &frame, 1000, 1, &err), SAGG_ERR_USAGE);
    ck_assert_int_eq(sagg_add_line(agg, &frame, UINT32_MAX, 1, &err), SAGG_ERR_USAGE);
    sagg_free(agg);
    sagg_free(other);
}
END_TEST

START_TEST(a_stack_without_frames_needs_no_array)
{
    sagg_options options = two_types();
    sagg *agg = make(&options);
    const uint32_t none[1] = {0};
    uint32_t a, b;
    ck_assert_int_eq(sagg_add_stack(agg, &a, NULL, 0, NULL), 0);
    ck_assert_int_eq(sagg_add_stack(agg, &b, none, 0, NULL), 0);
    ck_assert_uint_eq(a, b);
    sagg_free(agg);
}
END_TEST

/* Makes stacks of 0 to 13 of the aggregate's first three frames, some of them twice. Returns the
 * number of frames. */
static size_t many_stacks(sagg *agg, uint32_t *frames, uint32_t *depths, size_t count)
{
    static const char *const names[] = {"a", "b", "c"};
    uint32_t known[3];
    size_t used = 0;
    for (size_t i = 0; i < 3; i++) {
        sagg_frame frame = {.class_name = str("X"), .method = str(names[i])};
        ck_assert_int_eq(sagg_add_frame(agg, &known[i], &frame, NULL), 0);
    }
    for (size_t i = 0; i < count; i++) {
        depths[i] = (uint32_t)(i % 14);
        for (size_t at = 0; at < depths[i]; at++)
            frames[used++] = known[(i % 37 * at + i % 5) % 3];
    }
    return used;
}

START_TEST(stacks_all_together_are_as_one_after_the_other)
{
    enum { STACKS = 200 };
    uint32_t frames[STACKS * 14], depths[STACKS], together[STACKS], one;
    sagg_options options = two_types();
    options.max_frames = 10;
    sagg *agg = make(&options);
    sagg *other = make(&options);
    (void)many_stacks(agg, frames, depths, STACKS);
    ck_assert_int_eq(sagg_add_stacks(agg, together, frames, depths, STACKS, NULL), 0);
    (void)many_stacks(other, frames, depths, STACKS);
    const uint32_t *at = frames;
    for (size_t i = 0; i < STACKS; i++) {
        ck_assert_int_eq(sagg_add_stack(other, &one, at, depths[i], NULL), 0);
        ck_assert_uint_eq(together[i], one);
        at += depths[i];
    }
    ck_assert_uint_eq(sagg_stack_count(agg), sagg_stack_count(other));
    ck_assert_uint_eq(sagg_losses(agg).stacks_cut, sagg_losses(other).stacks_cut);
    ck_assert_uint_gt(sagg_losses(agg).stacks_cut, 0);
    sagg_free(agg);
    sagg_free(other);
}
END_TEST

START_TEST(stacks_before_a_bad_one_are_added)
{
    enum { STACKS = 60, BAD = 41 };
    uint32_t frames[STACKS * 14], depths[STACKS], stacks[STACKS], again[STACKS];
    sagg *agg = make(NULL);
    sagg_error err;
    size_t used = many_stacks(agg, frames, depths, STACKS);
    size_t at = 0;
    for (size_t i = 0; i <= BAD; i++)
        at += depths[i];
    ck_assert_uint_lt(at, used);
    const uint32_t bad[] = {sagg_frame_count(agg), 4711, 70000, UINT32_C(1) << 31, UINT32_MAX};
    char name[24];
    (void)snprintf(name, sizeof(name), "Frame %u ", bad[_i]);
    uint32_t good = frames[at - 1];
    frames[at - 1] = bad[_i];
    ck_assert_int_eq(sagg_add_stacks(agg, stacks, frames, depths, STACKS, &err), SAGG_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, name));
    uint32_t count = sagg_stack_count(agg);
    ck_assert_int_eq(sagg_add_stacks(agg, again, frames, depths, BAD, NULL), 0);
    ck_assert_mem_eq(again, stacks, BAD * sizeof(*stacks));
    ck_assert_uint_eq(sagg_stack_count(agg), count);
    frames[at - 1] = good;
    ck_assert_int_eq(sagg_add_stacks(agg, again, frames, depths, STACKS, NULL), 0);
    ck_assert_uint_gt(sagg_stack_count(agg), count);
    sagg_free(agg);
}
END_TEST

START_TEST(stacks_of_lines_past_the_cap_are_dropped)
{
    sagg_options options = two_types();
    options.max_stacks = 3;
    sagg *agg = make(&options);
    uint32_t stack = SAGG_DROPPED;
    for (uint32_t seed = 0; seed < 7; seed++)
        add_both_ways(agg, seed, 5, NULL, &stack);
    ck_assert_uint_eq(stack, SAGG_DROPPED);
    ck_assert_uint_gt(sagg_losses(agg).stacks_dropped, 0);
    ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    add_both_ways(agg, 3, 5, NULL, &stack);
    ck_assert_uint_ne(stack, SAGG_DROPPED);
    sagg_free(agg);
}
END_TEST

START_TEST(totals_add_up_by_type_thread_and_stack)
{
    sagg *agg = make(NULL);
    uint32_t s = stack(agg, "Main.main;a.B.c");
    uint32_t t = thread(agg, 7, "exec-1");
    uint32_t u = thread(agg, 8, "exec-2");
    add(agg, CPU, t, s, 10);
    add(agg, CPU, t, s, 5);
    add(agg, CPU, u, s, 1);
    add(agg, ALLOC, t, s, 100);
    sagg_totals totals = sagg_type_totals(agg, CPU);
    ck_assert_uint_eq(totals.value, 16);
    ck_assert_uint_eq(totals.raw_value, 13);
    ck_assert_uint_eq(totals.samples, 3);
    ck_assert_uint_eq(sagg_thread_totals(agg, t, CPU).value, 15);
    sagg_thread row;
    ck_assert(sagg_thread_at(agg, t, &row));
    ck_assert_uint_eq(row.pool.size, strlen("exec-#"));
    ck_assert_mem_eq(row.pool.data, "exec-#", row.pool.size);
    ck_assert_uint_eq(sagg_thread_totals(agg, row.pool_thread, CPU).value, 16);
    size_t cursor = 0;
    size_t count = 0;
    sagg_entry entry;
    while (sagg_next(agg, &cursor, &entry))
        count++;
    ck_assert_uint_eq(count, 3);
    sagg_free(agg);
}
END_TEST

START_TEST(pools_replace_threads_in_entries)
{
    sagg_options options = two_types();
    options.group = SAGG_BY_POOL;
    sagg *agg = make(&options);
    uint32_t s = stack(agg, "Main.main");
    uint32_t t = thread(agg, 7, "exec-1");
    add(agg, CPU, t, s, 10);
    add(agg, CPU, thread(agg, 8, "exec-2"), s, 1);
    size_t cursor = 0;
    sagg_entry entry;
    ck_assert(sagg_next(agg, &cursor, &entry));
    ck_assert_uint_eq(entry.totals.value, 11);
    sagg_thread row;
    ck_assert(sagg_thread_at(agg, entry.thread, &row));
    ck_assert_uint_eq(row.name.size, 0);
    ck_assert_uint_eq(row.pool_thread, entry.thread);
    ck_assert(!sagg_next(agg, &cursor, &entry));
    ck_assert_uint_eq(sagg_thread_totals(agg, t, CPU).value, 10);
    sagg_free(agg);
}
END_TEST

START_TEST(labels_keep_parts_of_a_type_apart)
{
    sagg *agg = make(NULL);
    uint32_t label, tag = 0;
    sagg_str text;
    ck_assert_int_eq(sagg_add_label(agg, &label, 3, str("byte[]"), NULL), 0);
    ck_assert_uint_eq(label, 1);
    sagg_sample sample = {.type = ALLOC, .stack = stack(agg, "a.B.c"), .value = 5, .samples = 1};
    ck_assert_int_eq(sagg_add(agg, &sample, NULL), 0);
    sample.label = label;
    ck_assert_int_eq(sagg_add(agg, &sample, NULL), 0);
    size_t cursor = 0;
    sagg_entry entry;
    ck_assert(sagg_next(agg, &cursor, &entry));
    ck_assert_uint_eq(entry.label, 0);
    ck_assert(sagg_next(agg, &cursor, &entry));
    ck_assert(sagg_label_at(agg, entry.label, &tag, &text));
    ck_assert_uint_eq(tag, 3);
    ck_assert_mem_eq(text.data, "byte[]", text.size);
    sagg_free(agg);
}
END_TEST

START_TEST(seconds_are_kept_by_pool)
{
    sagg_options options = two_types();
    options.seconds = 3;
    options.origin_ns = 1000000000;
    sagg *agg = make(&options);
    uint32_t t = thread(agg, 7, "exec-1");
    sagg_sample sample = {
        .type = CPU, .thread = t, .stack = stack(agg, "a.b"), .value = 4, .samples = 1};
    const int64_t times[] = {0, 1000000000, 2999999999, 3000000000, 99000000000};
    for (size_t i = 0; i < 5; i++) {
        sample.time_ns = times[i];
        ck_assert_int_eq(sagg_add(agg, &sample, NULL), 0);
    }
    sagg_thread row;
    ck_assert(sagg_thread_at(agg, t, &row));
    const uint64_t *seconds = sagg_seconds(agg, CPU, row.pool_thread);
    ck_assert_ptr_nonnull(seconds);
    ck_assert_uint_eq(seconds[0], 8);
    ck_assert_uint_eq(seconds[1], 4);
    ck_assert_uint_eq(seconds[2], 8);
    ck_assert_uint_eq(sagg_losses(agg).outside_seconds, 2);
    ck_assert_ptr_null(sagg_seconds(agg, ALLOC, row.pool_thread));
    sagg_free(agg);
}
END_TEST

START_TEST(sums_saturate_and_say_so)
{
    sagg *agg = make(NULL);
    sagg_sample sample = {
        .type = CPU, .stack = stack(agg, "a.b"), .value = UINT64_MAX, .samples = 1};
    ck_assert_int_eq(sagg_add(agg, &sample, NULL), 0);
    ck_assert_uint_eq(sagg_losses(agg).saturated, 0);
    ck_assert_int_eq(sagg_add(agg, &sample, NULL), 0);
    ck_assert_uint_eq(sagg_type_totals(agg, CPU).value, UINT64_MAX);
    ck_assert_uint_gt(sagg_losses(agg).saturated, 0);
    sagg_free(agg);
}
END_TEST

START_TEST(deep_stacks_keep_their_leaves)
{
    sagg_options options = two_types();
    options.max_frames = 3;
    sagg *agg = make(&options);
    add(agg, CPU, 0, stack(agg, "a.r;a.s;a.t;a.u;a.v"), 5);
    char *text = collapsed(agg, CPU, NULL);
    ck_assert_str_eq(text, "[truncated];a.u;a.v 5\n");
    ck_assert_uint_eq(sagg_losses(agg).stacks_cut, 1);
    free(text);
    sagg_free(agg);
}
END_TEST

START_TEST(threads_past_the_cap_count_with_their_pool)
{
    sagg_options options = two_types();
    options.max_threads = 2;
    sagg *agg = make(&options);
    uint32_t s = stack(agg, "a.b");
    uint64_t sum = 0;
    for (int i = 0; i < 10; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "%s-%d",
                       i < 6   ? "first"
                       : i < 8 ? "second"
                               : "third",
                       i);
        add(agg, CPU, thread(agg, i + 1, name), s, 1);
        sum++;
    }
    ck_assert_uint_eq(sagg_type_totals(agg, CPU).value, sum);
    ck_assert_uint_eq(sagg_thread_count(agg), 2 + 2 + 2); /* none, dropped; exact; pools */
    ck_assert_uint_eq(sagg_thread_totals(agg, SAGG_DROPPED_THREAD, CPU).value, 2);
    ck_assert_uint_eq(sagg_losses(agg).threads_folded, 8);
    uint64_t pools = 0;
    for (uint32_t i = 0; i < sagg_thread_count(agg); i++) {
        sagg_thread row;
        ck_assert(sagg_thread_at(agg, i, &row));
        if (row.pool_thread == i)
            pools += sagg_thread_totals(agg, i, CPU).value;
    }
    ck_assert_uint_eq(pools, sum);
    sagg_free(agg);
}
END_TEST

START_TEST(mistakes_are_named)
{
    sagg *agg = make(NULL);
    sagg_sample sample = {.type = 9, .samples = 1};
    sagg_error err = {0};
    ck_assert_int_eq(sagg_add(agg, &sample, &err), SAGG_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "type 9"));
    sample.type = CPU;
    sample.stack = 77;
    ck_assert_int_eq(sagg_add(agg, &sample, &err), SAGG_ERR_USAGE);
    uint32_t bad = 55, index;
    ck_assert_int_eq(sagg_add_stack(agg, &index, &bad, 1, &err), SAGG_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "Frame 55"));
    sagg_free(agg);
}
END_TEST

static const sagg_type twice[] = {{1, "a", "b"}, {1, "c", "d"}};
static const sagg_type no_id[] = {{0, "a", "b"}};
static const sagg_type no_name[] = {{1, NULL, "b"}};

START_TEST(bad_options_are_refused)
{
    sagg_options rows[8];
    for (size_t i = 0; i < 8; i++)
        rows[i] = two_types();
    rows[0].type_count = 0;
    rows[1].types = twice;
    rows[2].types = no_id, rows[2].type_count = 1;
    rows[3].types = no_name, rows[3].type_count = 1;
    rows[4].normaliser = 2;
    rows[5].group = 3;
    rows[6].max_bytes = 1;
    rows[7].seconds = 86401;
    for (size_t i = 0; i < 8; i++) {
        sagg *agg = NULL;
        sagg_error err = {0};
        ck_assert_int_eq(sagg_new(&agg, &rows[i], &err), SAGG_ERR_USAGE);
        ck_assert_ptr_null(agg);
        ck_assert_uint_gt(strlen(err.message), 10);
    }
    ck_assert_int_eq(sagg_new(NULL, NULL, NULL), SAGG_ERR_USAGE);
}
END_TEST

START_TEST(options_of_a_newer_header_must_be_zero_behind_ours)
{
    struct {
        sagg_options known;
        uint64_t later;
    } options = {two_types(), 0};
    sagg *agg = NULL;
    options.known.size = sizeof(options);
    ck_assert_int_eq(sagg_new(&agg, &options.known, NULL), 0);
    sagg_free(agg);
    options.later = 1;
    ck_assert_int_eq(sagg_new(&agg, &options.known, NULL), SAGG_ERR_USAGE);
}
END_TEST

/* An allocator that fails at the n-th call and counts the blocks in use. */
struct failing {
    long calls_left;
    size_t out;
};

static void *fail_alloc(void *ctx, size_t bytes)
{
    struct failing *f = ctx;
    if (f->calls_left-- <= 0)
        return NULL;
    f->out += bytes;
    return malloc(bytes);
}

static void *fail_realloc(void *ctx, void *block, size_t old_bytes, size_t new_bytes)
{
    struct failing *f = ctx;
    if (f->calls_left-- <= 0)
        return NULL;
    f->out += new_bytes - old_bytes;
    return realloc(block, new_bytes);
}

static void fail_free(void *ctx, void *block, size_t bytes)
{
    struct failing *f = ctx;
    f->out -= bytes;
    free(block);
}

static int use(sagg *agg)
{
    sagg_frame frame = {.class_name = str("a.B"), .method = str("c"), .file = str("B.java")};
    sagg_thread who = {.os_tid = 4, .name = str("worker-1")};
    sagg_sample sample = {.type = CPU, .value = 3, .samples = 1};
    uint32_t index;
    int rc = sagg_add_frame(agg, &index, &frame, NULL);
    if (rc == 0)
        rc = sagg_add_stack(agg, &sample.stack, &index, 1, NULL);
    if (rc == 0)
        rc = sagg_add_thread(agg, &sample.thread, &who, NULL);
    if (rc == 0)
        rc = sagg_add(agg, &sample, NULL);
    sagg_tree *tree = NULL;
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    options.type = CPU;
    if (rc == 0)
        rc = sagg_tree_new(&tree, agg, &options, NULL);
    sagg_tree_free(tree);
    return rc;
}

START_TEST(each_failed_allocation_is_reported_and_leaks_nothing)
{
    int rc = SAGG_ERR_NOMEM;
    for (long n = 0; n < 200 && rc != 0; n++) {
        struct failing f = {n, 0};
        sagg_options options = two_types();
        options.seconds = 2;
        options.allocator = (sagg_allocator){fail_alloc, fail_realloc, fail_free, &f};
        sagg *agg = NULL;
        rc = sagg_new(&agg, &options, NULL);
        if (rc == 0)
            rc = use(agg);
        ck_assert(rc == 0 || rc == SAGG_ERR_NOMEM);
        sagg_free(agg);
        ck_assert_uint_eq(f.out, 0);
    }
    ck_assert_int_eq(rc, 0);
}
END_TEST

/* Adds two types of the same events for each of `count` stacks, and one type in as many pools. */
static void add_pairs(sagg *agg, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char text[32];
        (void)snprintf(text, sizeof(text), "m.main;m.m%u", i);
        sagg_sample pair[2] = {{.type = ALLOC, .raw_value = 100, .value = 100, .samples = 3},
                               {.type = CPU, .raw_value = 3, .value = 7, .samples = 3}};
        pair[0].stack = pair[1].stack = stack(agg, text);
        ck_assert_int_eq(sagg_add_all(agg, pair, 2, NULL), 0);
        const char name[] = {(char)('a' + i % 26), (char)('a' + i / 26), '\0'};
        add(agg, CPU, thread(agg, i, name), pair[0].stack, 1);
    }
}

START_TEST(a_sample_without_memory_leaves_all_as_it_was)
{
    uint32_t failures = 0;
    for (long n = 0; n < 240; n++) {
        const uint32_t count = (uint32_t)n / 6 + 1;
        struct failing f = {LONG_MAX, 0};
        sagg_options options = two_types();
        options.seconds = 2;
        sagg *plain = make(&options);
        options.allocator = (sagg_allocator){fail_alloc, fail_realloc, fail_free, &f};
        sagg *agg = make(&options);
        add_pairs(agg, count);
        add_pairs(plain, count);
        sagg_sample sample = {.type = CPU, .raw_value = 1, .value = 1, .samples = 1};
        sample.thread = thread(agg, 1, "worker");
        ck_assert_uint_eq(thread(plain, 1, "worker"), sample.thread);
        sample.stack = stack(agg, "m.main;m.m0");
        if (n % 2 == 0)
            sample.thread = SAGG_NO_THREAD; /* the second's row exists, so the pair must be split */
        f.calls_left = n / 2 % 3;
        int rc = sagg_add(agg, &sample, NULL);
        f.calls_left = LONG_MAX;
        failures += rc != 0;
        if (rc == 0)
            ck_assert_int_eq(sagg_add(plain, &sample, NULL), 0);
        same_entries(agg, plain);
        sagg_free(agg);
        sagg_free(plain);
        ck_assert_uint_eq(f.out, 0);
    }
    ck_assert_uint_gt(failures, 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("aggregate");
    TCase *tcase = tcase_create("aggregate");
    tcase_add_test(tcase, a_type_can_be_renamed);
    tcase_add_test(tcase, the_same_content_has_the_same_index);
    tcase_add_test(tcase, frames_by_method_and_line_make_the_same_stacks);
    tcase_add_test(tcase, a_stack_without_frames_needs_no_array);
    tcase_add_test(tcase, stacks_all_together_are_as_one_after_the_other);
    tcase_add_loop_test(tcase, stacks_before_a_bad_one_are_added, 0, 5);
    tcase_add_test(tcase, stacks_of_lines_past_the_cap_are_dropped);
    tcase_add_test(tcase, totals_add_up_by_type_thread_and_stack);
    tcase_add_test(tcase, pools_replace_threads_in_entries);
    tcase_add_test(tcase, labels_keep_parts_of_a_type_apart);
    tcase_add_test(tcase, seconds_are_kept_by_pool);
    tcase_add_test(tcase, sums_saturate_and_say_so);
    tcase_add_test(tcase, deep_stacks_keep_their_leaves);
    tcase_add_test(tcase, threads_past_the_cap_count_with_their_pool);
    tcase_add_test(tcase, mistakes_are_named);
    tcase_add_test(tcase, bad_options_are_refused);
    tcase_add_test(tcase, options_of_a_newer_header_must_be_zero_behind_ours);
    tcase_add_test(tcase, each_failed_allocation_is_reported_and_leaks_nothing);
    tcase_add_test(tcase, a_sample_without_memory_leaves_all_as_it_was);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
