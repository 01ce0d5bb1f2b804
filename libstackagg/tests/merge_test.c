/* SPDX-License-Identifier: Apache-2.0 */
/* Merged shards equal the whole, byte for byte, in any order. */
#include "support.h"

#include <stdlib.h>

static void add_random(sagg *agg, uint64_t *state)
{
    static const char *const files[] = {"", "A.java", "B.kt"};
    uint32_t frames[8];
    uint32_t depth = next_random(state, 8);
    for (uint32_t i = 0; i < depth; i++) {
        char class_name[32], method[32];
        (void)snprintf(class_name, sizeof(class_name), "p.C%u", next_random(state, 5));
        (void)snprintf(method, sizeof(method), "m%u", next_random(state, 3));
        sagg_frame frame = {.class_name = str(class_name),
                            .method = str(method),
                            .file = str(files[next_random(state, 3)]),
                            .line = next_random(state, 3),
                            .kind = (uint8_t)next_random(state, 2)};
        ck_assert_int_eq(sagg_add_frame(agg, &frames[i], &frame, NULL), 0);
    }
    char name[32];
    uint32_t tid = next_random(state, 20);
    (void)snprintf(name, sizeof(name), "pool%u-%u", tid % 3, tid);
    sagg_sample sample = {.type = 1 + next_random(state, 2), .samples = 1};
    sample.thread = thread(agg, tid, name);
    sample.value = next_random(state, 1000);
    sample.raw_value = sample.value / 2;
    sample.time_ns = (int64_t)next_random(state, 10) * 1000000000;
    ck_assert_int_eq(sagg_add_stack(agg, &sample.stack, frames, depth, NULL), 0);
    ck_assert_int_eq(sagg_add(agg, &sample, NULL), 0);
}

static sagg *shard(void)
{
    sagg_options options = two_types();
    options.seconds = 10;
    return make(&options);
}

/*
 * Returns everything that a reader can see, in a form that does not depend on the order of adding.
 */
static char *picture(const sagg *agg)
{
    sagg_collapsed_options options = SAGG_COLLAPSED_OPTIONS_INIT;
    options.threads = true;
    options.lines = true;
    char *parts[] = {json(agg, CPU, 0), json(agg, ALLOC, 0), json(agg, CPU, 40),
                     collapsed(agg, CPU, &options), collapsed(agg, ALLOC, &options)};
    size_t size = 1;
    for (size_t i = 0; i < 5; i++)
        size += strlen(parts[i]);
    char *all = calloc(1, size);
    ck_assert_ptr_nonnull(all);
    size_t used = 0;
    for (size_t i = 0; i < 5; i++) {
        size_t part = strlen(parts[i]);
        memcpy(all + used, parts[i], part);
        used += part;
        free(parts[i]);
    }
    return all;
}

static void check_equal(const sagg *a, const sagg *b)
{
    char *left = picture(a);
    char *right = picture(b);
    ck_assert_str_eq(left, right);
    free(left);
    free(right);
    for (uint32_t i = 0; i < sagg_thread_count(a); i++) {
        sagg_thread row;
        ck_assert(sagg_thread_at(a, i, &row));
        for (uint32_t j = 0; j < sagg_thread_count(b); j++) {
            sagg_thread other;
            ck_assert(sagg_thread_at(b, j, &other));
            if (other.os_tid != row.os_tid || other.name.size != row.name.size ||
                memcmp(other.name.data, row.name.data, row.name.size) != 0 ||
                other.pool.size != row.pool.size ||
                memcmp(other.pool.data, row.pool.data, row.pool.size) != 0)
                continue;
            sagg_totals x = sagg_thread_totals(a, i, CPU);
            sagg_totals y = sagg_thread_totals(b, j, CPU);
            ck_assert_mem_eq(&x, &y, sizeof(x));
            const uint64_t *s = sagg_seconds(a, CPU, i);
            const uint64_t *t = sagg_seconds(b, CPU, j);
            ck_assert((s == NULL) == (t == NULL));
            if (s != NULL)
                ck_assert_mem_eq(s, t, 10 * sizeof(*s));
        }
    }
}

START_TEST(shards_merge_to_the_whole)
{
    static const int counts[] = {1, 2, 64};
    int count = counts[_i];
    sagg *whole = shard();
    sagg *shards[64] = {0};
    for (int i = 0; i < count; i++)
        shards[i] = shard();
    uint64_t state = 7;
    uint64_t copy = 7;
    for (int i = 0; i < 5000; i++) {
        add_random(whole, &state);
        add_random(shards[i % count], &copy);
    }
    sagg *merged = shard();
    for (int i = count - 1; i >= 0; i--) {
        ck_assert_int_eq(sagg_merge(merged, shards[i], NULL), 0);
        sagg_free(shards[i]);
    }
    check_equal(whole, merged);
    sagg_free(whole);
    sagg_free(merged);
}
END_TEST

START_TEST(merging_above_the_caps_keeps_totals)
{
    sagg_options options = two_types();
    options.max_stacks = 20;
    sagg *into = make(&options);
    sagg *whole = shard();
    for (uint64_t part = 0; part < 4; part++) {
        sagg *from = make(NULL);
        uint64_t state = part;
        uint64_t copy = part;
        for (int i = 0; i < 500; i++) {
            add_random(from, &state);
            add_random(whole, &copy);
        }
        ck_assert_int_eq(sagg_merge(into, from, NULL), 0);
        sagg_free(from);
    }
    ck_assert_int_eq(sagg_compact(into, NULL), 0);
    ck_assert_uint_le(sagg_stack_count(into), 21);
    uint64_t sum = 0;
    size_t cursor = 0;
    sagg_entry entry;
    while (sagg_next(into, &cursor, &entry))
        sum += entry.type == CPU ? entry.totals.value : 0;
    ck_assert_uint_eq(sum, sagg_type_totals(whole, CPU).value);
    ck_assert_uint_eq(sagg_type_totals(into, CPU).value, sum);
    ck_assert_uint_gt(sagg_error_bound(into, CPU), 0);
    sagg_free(into);
    sagg_free(whole);
}
END_TEST

START_TEST(different_tables_do_not_merge)
{
    static const sagg_type other[] = {{CPU, "cpu", "ns"}, {ALLOC, "alloc_bytes", "KiB"}};
    sagg_options options = two_types();
    options.types = other;
    sagg *a = make(NULL);
    sagg *b = make(&options);
    sagg_error err = {0};
    ck_assert_int_eq(sagg_merge(a, b, &err), SAGG_ERR_USAGE);
    ck_assert_int_eq(sagg_merge(a, a, &err), SAGG_ERR_USAGE);
    sagg_free(a);
    sagg_free(b);
}
END_TEST

/* Seconds outside the range of the other aggregate are added to its last one and reported. */
START_TEST(seconds_outside_the_range_are_a_loss)
{
    sagg_options options = two_types();
    options.seconds = 10;
    sagg *into = make(&options);
    options.origin_ns = INT64_C(100000000000);
    sagg *from = make(&options);
    sagg_sample sample = {.type = CPU, .value = 5, .samples = 5, .time_ns = options.origin_ns};
    sample.stack = stack(from, "m.main");
    ck_assert_int_eq(sagg_add(from, &sample, NULL), 0);
    ck_assert_uint_eq(sagg_losses(from).outside_seconds, 0);
    ck_assert_int_eq(sagg_merge(into, from, NULL), 0);
    ck_assert_uint_eq(sagg_seconds(into, CPU, SAGG_NO_THREAD)[9], 5);
    ck_assert_uint_eq(sagg_losses(into).outside_seconds, 1);
    sagg_free(into);
    sagg_free(from);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge");
    TCase *tcase = tcase_create("merge");
    tcase_add_loop_test(tcase, shards_merge_to_the_whole, 0, 3);
    tcase_add_test(tcase, merging_above_the_caps_keeps_totals);
    tcase_add_test(tcase, seconds_outside_the_range_are_a_loss);
    tcase_add_test(tcase, different_tables_do_not_merge);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
