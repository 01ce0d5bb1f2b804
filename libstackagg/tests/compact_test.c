/* SPDX-License-Identifier: Apache-2.0 */
/* Tests caps: the heaviest stacks stay, totals stay exact, the error is within the stated bound. */
#include "support.h"

#include <stdlib.h>

static uint32_t numbered_stack(sagg *agg, uint32_t number)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "Main.main;p%u.C%u.m%u", number % 7, number % 100, number);
    return stack(agg, text);
}

static sagg *small(uint32_t max_stacks)
{
    sagg_options options = two_types();
    options.max_stacks = max_stacks;
    return make(&options);
}

START_TEST(the_heaviest_stay)
{
    sagg *agg = small(3);
    for (uint32_t i = 1; i <= 6; i++)
        add(agg, CPU, 0, numbered_stack(agg, i), UINT64_C(10) * i);
    ck_assert_uint_eq(sagg_stack_count(agg), 7);
    ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    ck_assert_uint_eq(sagg_stack_count(agg), 4);
    char *text = collapsed(agg, CPU, NULL);
    ck_assert_str_eq(text, "Main.main;p4.C4.m4 40\nMain.main;p5.C5.m5 50\n"
                           "Main.main;p6.C6.m6 60\n[dropped] 60\n");
    free(text);
    ck_assert_uint_eq(sagg_type_totals(agg, CPU).value, 210);
    ck_assert_uint_eq(sagg_losses(agg).stacks_dropped, 3);
    ck_assert_uint_eq(sagg_losses(agg).samples_dropped, 3);
    ck_assert_uint_eq(sagg_error_bound(agg, CPU), 30);
    sagg_free(agg);
}
END_TEST

START_TEST(a_stack_heavy_in_a_small_type_stays)
{
    sagg *agg = small(2);
    for (uint32_t i = 1; i <= 4; i++)
        add(agg, CPU, 0, numbered_stack(agg, i), UINT64_C(1000000) * i);
    add(agg, ALLOC, 0, numbered_stack(agg, 1), 1);
    ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    char *text = collapsed(agg, ALLOC, NULL);
    ck_assert_str_eq(text, "Main.main;p1.C1.m1 1\n");
    free(text);
    sagg_free(agg);
}
END_TEST

/* A stack that is heavy by the sum of two threads, which saturates at 2^64 - 1. */
START_TEST(a_stack_whose_sum_ends_is_the_heaviest)
{
    sagg *agg = small(1);
    add(agg, CPU, 0, numbered_stack(agg, 2), 5);
    add(agg, CPU, thread(agg, 1, "a"), numbered_stack(agg, 1), UINT64_C(1) << 63);
    add(agg, CPU, thread(agg, 2, "b"), numbered_stack(agg, 1), UINT64_C(1) << 63);
    ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    char *text = collapsed(agg, CPU, NULL);
    ck_assert_str_eq(text, "Main.main;p1.C1.m1 18446744073709551615\n[dropped] 5\n");
    free(text);
    ck_assert_uint_eq(sagg_error_bound(agg, CPU), 5);
    sagg_free(agg);
}
END_TEST

START_TEST(below_the_cap_nothing_changes)
{
    sagg *agg = small(10);
    uint32_t s = numbered_stack(agg, 1);
    add(agg, CPU, 0, s, 5);
    ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    ck_assert_uint_eq(numbered_stack(agg, 1), s);
    ck_assert_uint_eq(sagg_error_bound(agg, CPU), 0);
    sagg_free(agg);
}
END_TEST

/* Many more stacks than fit, some of them heavy, compared with exact sums. */
START_TEST(totals_stay_exact_and_errors_within_the_bound)
{
    enum { STACKS = 3000, ADDS = 60000 };
    static uint64_t truth[STACKS];
    sagg *agg = small(100);
    uint64_t state = 42;
    uint64_t total = 0;
    for (int i = 0; i < ADDS; i++) {
        uint32_t number =
            next_random(&state, 4) == 0 ? next_random(&state, STACKS) : next_random(&state, 30);
        if (sagg_full(agg))
            ck_assert_int_eq(sagg_compact(agg, NULL), 0);
        uint64_t value = 1 + next_random(&state, 100);
        add(agg, CPU, thread(agg, 1 + i % 3, "t"), numbered_stack(agg, number), value);
        truth[number] += value;
        total += value;
    }
    ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    ck_assert_uint_le(sagg_stack_count(agg), 101);
    ck_assert_uint_eq(sagg_type_totals(agg, CPU).value, total);
    uint64_t sum = 0;
    size_t cursor = 0;
    sagg_entry entry;
    while (sagg_next(agg, &cursor, &entry))
        sum += entry.totals.value;
    ck_assert_uint_eq(sum, total);
    uint64_t bound = sagg_error_bound(agg, CPU);
    for (uint32_t number = 0; number < 30; number++) {
        uint32_t s = numbered_stack(agg, number);
        uint64_t kept = 0;
        cursor = 0;
        while (sagg_next(agg, &cursor, &entry))
            kept += entry.stack == s ? entry.totals.value : 0;
        ck_assert_uint_le(kept, truth[number]);
        ck_assert_uint_le(truth[number] - kept, bound);
    }
    ck_assert_uint_lt(bound, total / 20);
    sagg_free(agg);
}
END_TEST

/* Compaction moves everything in place: elements that stay must still be found, not added again. */
START_TEST(what_stays_is_found_again)
{
    sagg *agg = small(50);
    for (uint32_t i = 0; i < 100; i++)
        add(agg, CPU, thread(agg, 1, "t-1"), numbered_stack(agg, i), i + 1);
    ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    uint32_t stacks = sagg_stack_count(agg);
    uint32_t frames = sagg_frame_count(agg);
    for (uint32_t i = 50; i < 100; i++)
        add(agg, CPU, thread(agg, 1, "t-1"), numbered_stack(agg, i), 1);
    ck_assert_uint_eq(sagg_stack_count(agg), stacks);
    ck_assert_uint_eq(sagg_frame_count(agg), frames);
    sagg_frame given[] = {{.class_name = str("p0.C77"), .method = str("m77")},
                          {.class_name = str("Main"), .method = str("main")}};
    sagg_stack_id id, got;
    ck_assert(sagg_stack_id_at(agg, numbered_stack(agg, 77), &got));
    ck_assert_int_eq(sagg_stack_id_of(&id, given, 2, 1, NULL), 0);
    ck_assert_mem_eq(&id, &got, sizeof(id));
    sagg_free(agg);
}
END_TEST

START_TEST(a_caller_that_never_compacts_loses_no_total)
{
    sagg *agg = small(10);
    for (uint32_t i = 0; i < 1000; i++)
        add(agg, CPU, 0, numbered_stack(agg, i), 2);
    ck_assert_uint_eq(sagg_stack_count(agg), 21);
    ck_assert_uint_eq(sagg_type_totals(agg, CPU).value, 2000);
    ck_assert_uint_eq(sagg_losses(agg).samples_dropped, 980);
    ck_assert(sagg_full(agg));
    sagg_free(agg);
}
END_TEST

START_TEST(bytes_stay_below_their_cap)
{
    sagg_options options = two_types();
    options.max_bytes = 1u << 20;
    sagg *agg = make(&options);
    uint64_t total = 0;
    for (uint32_t i = 0; i < 50000; i++) {
        char name[256];
        memset(name, 'x', sizeof(name));
        (void)snprintf(name, sizeof(name), "%u", i);
        name[strlen(name)] = 'y';
        sagg_frame frame = {.class_name = {name, sizeof(name)}, .method = str("m")};
        uint32_t index, s = SAGG_DROPPED;
        int rc = sagg_add_frame(agg, &index, &frame, NULL);
        ck_assert(rc == 0 || rc == SAGG_ERR_LIMIT);
        if (rc == 0)
            ck_assert_int_eq(sagg_add_stack(agg, &s, &index, 1, NULL), 0);
        add(agg, CPU, 0, s, 3);
        total += 3;
        ck_assert_uint_le(sagg_bytes(agg), (1u << 20) + 4096);
        if (sagg_full(agg))
            ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    }
    ck_assert_uint_eq(sagg_type_totals(agg, CPU).value, total);
    ck_assert_uint_gt(sagg_stack_count(agg), 100);
    sagg_free(agg);
}
END_TEST

/* Names that compaction cannot free fill the cap. Then sagg_full must not request a compaction for
 * each sample. */
START_TEST(a_useless_compaction_is_not_asked_for_again)
{
    sagg_options options = two_types();
    options.max_bytes = 1u << 20;
    sagg *agg = make(&options);
    uint32_t label;
    for (uint32_t i = 0; i < 3000; i++) {
        char text[600];
        memset(text, 'x', sizeof(text));
        (void)snprintf(text, sizeof(text), "%u", i);
        text[strlen(text)] = 'y';
        ck_assert_int_eq(sagg_add_label(agg, &label, 1, (sagg_str){text, sizeof(text)}, NULL), 0);
    }
    ck_assert_uint_eq(label, 0); /* the cap was reached */
    uint32_t compactions = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "a.method_with_a_name_of_its_own_%u", i);
        sagg_frame frame = {.method = str(name)};
        uint32_t index, s = SAGG_DROPPED;
        int rc = sagg_add_frame(agg, &index, &frame, NULL);
        ck_assert(rc == 0 || rc == SAGG_ERR_LIMIT);
        if (rc == 0)
            ck_assert_int_eq(sagg_add_stack(agg, &s, &index, 1, NULL), 0);
        add(agg, CPU, 0, s, 1);
        if (sagg_full(agg)) {
            ck_assert_int_eq(sagg_compact(agg, NULL), 0);
            compactions++;
        }
    }
    ck_assert_uint_eq(sagg_type_totals(agg, CPU).value, 20000);
    ck_assert_uint_lt(compactions, 500);
    sagg_free(agg);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compact");
    TCase *tcase = tcase_create("compact");
    tcase_add_test(tcase, the_heaviest_stay);
    tcase_add_test(tcase, a_stack_heavy_in_a_small_type_stays);
    tcase_add_test(tcase, a_stack_whose_sum_ends_is_the_heaviest);
    tcase_add_test(tcase, below_the_cap_nothing_changes);
    tcase_add_test(tcase, totals_stay_exact_and_errors_within_the_bound);
    tcase_add_test(tcase, what_stays_is_found_again);
    tcase_add_test(tcase, a_caller_that_never_compacts_loses_no_total);
    tcase_add_test(tcase, bytes_stay_below_their_cap);
    tcase_add_test(tcase, a_useless_compaction_is_not_asked_for_again);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
