/* SPDX-License-Identifier: Apache-2.0 */
/* Tests windows in time, building and splitting of batches, and the contract's rules. */
#include "../core/spans.h"
#include "collector_tests.h"
#include "contract_verdict.h"

#include <stdio.h>
#include <string.h>

#include <xxhash.h>

START_TEST(borders_lie_at_utc_multiples_plus_jitter)
{
    ck_assert_uint_eq(span_next(NOON, 60000, 0), NOON + 60000);
    ck_assert_uint_eq(span_next(NOON + 1, 60000, 0), NOON + 60000);
    ck_assert_uint_eq(span_next(NOON, 60000, 1500), NOON + 1500);
    ck_assert_uint_eq(span_last(NOON + 59999, 60000, 0), NOON);
    ck_assert_uint_eq(span_last(NOON + 1499, 60000, 1500), NOON - 58500);
    ck_assert_uint_eq(span_last(NOON + 1500, 60000, 1500), NOON + 1500);
}
END_TEST

START_TEST(no_window_crosses_midnight)
{
    uint64_t midnight = (NOON / MS_PER_DAY + 1) * MS_PER_DAY;
    ck_assert_uint_eq(span_next(midnight - 58500, 60000, 1500), midnight);
    ck_assert_uint_eq(span_next(midnight, 60000, 1500), midnight + 1500);
    ck_assert_uint_eq(span_last(midnight + 700, 60000, 1500), midnight);
    uint64_t border = midnight - 300000;
    for (int i = 0; i < 20; i++) {
        uint64_t next = span_next(border, 60000, 1500);
        ck_assert_uint_gt(next, border);
        ck_assert_uint_eq(border / MS_PER_DAY, (next - 1) / MS_PER_DAY);
        ck_assert_uint_eq(span_last(next - 1, 60000, 1500),
                          border > midnight - 300000 ? border : span_last(border, 60000, 1500));
        border = next;
    }
}
END_TEST

START_TEST(jitter_is_stable_and_within_its_range)
{
    local_jvm jvm = sample_jvm(7);
    ck_assert_uint_eq(span_jitter(&jvm.id, 2000), span_jitter(&jvm.id, 2000));
    ck_assert_uint_lt(span_jitter(&jvm.id, 2000), 2000);
    ck_assert_uint_eq(span_jitter(&jvm.id, 0), 0);
}
END_TEST

START_TEST(a_batch_holds_what_was_added_once)
{
    batch one;
    sample_batch(&one, 1, 3, 5);
    assert_contract_holds(&one, NOON);
    ck_assert_uint_eq(one.target_count, 1);
    ck_assert_uint_eq(one.window_count, 3);
    ck_assert_uint_eq(one.row_count, 15);
    ck_assert_uint_eq(one.stack_ids.count, 5);
    ck_assert_uint_eq(one.frames.count, 5);
    batch_clear(&one);
}
END_TEST

START_TEST(limits_are_seen_before_a_part_is_added)
{
    batch one;
    profile more;
    sample_batch(&one, 1, 3, 5);
    sample_profile(&more, 1, 5);
    batch_limits limits = {.rows = 20};
    ck_assert(!batch_would_pass(&one, &limits, &more, 0));
    limits.rows = 19;
    ck_assert(batch_would_pass(&one, &limits, &more, 0));
    limits = (batch_limits){.windows = 3};
    ck_assert(batch_would_pass(&one, &limits, &more, 0));
    limits = (batch_limits){.payload_bytes = 600};
    ck_assert(batch_would_pass(&one, &limits, &more, 0));
    profile_clear(&more);
    batch_clear(&one);
}
END_TEST

START_TEST(a_split_keeps_every_window_whole)
{
    batch whole;
    batch parts[2];
    const uint8_t first[BATCH_ID_SIZE] = {2};
    const uint8_t second[BATCH_ID_SIZE] = {3};
    sample_batch(&whole, 1, 5, 4);
    ck_assert_int_eq(batch_split(&whole, &parts[0], &parts[1], first, second), 0);
    uint64_t raw = 0;
    for (int i = 0; i < 2; i++) {
        assert_contract_holds(&parts[i], NOON);
        ck_assert_uint_ge(parts[i].window_count, 2);
        for (size_t k = 0; k < parts[i].window_count; k++)
            raw += parts[i].windows[k].part.total.raw_amount;
    }
    ck_assert_uint_eq(parts[0].window_count + parts[1].window_count, 5);
    ck_assert_uint_eq(raw, 5 * (1 + 2 + 3 + 4));
    ck_assert_uint_eq(parts[0].second_count + parts[1].second_count, 5);
    size_t length = 0;
    const char *workload =
        string_table_at(&parts[1].strings, parts[1].targets[0].workload_str, &length);
    ck_assert(length == 4 && memcmp(workload, "shop", 4) == 0);
    batch_clear(&parts[0]);
    batch_clear(&parts[1]);
    batch_clear(&whole);
    sample_batch(&whole, 1, 1, 4);
    ck_assert_int_eq(batch_split(&whole, &parts[0], &parts[1], first, second), -1);
    batch_clear(&whole);
}
END_TEST

START_TEST(folding_keeps_the_heaviest_and_every_total)
{
    profile one;
    sample_profile(&one, 2, 100);
    ck_assert_int_eq(profile_fold(&one, 10), 0);
    uint64_t raw[2] = {0};
    uint64_t rows[2] = {0};
    uint64_t heaviest[2] = {0};
    for (size_t i = 0; i < one.row_count; i++) {
        const profile_row *row = &one.rows[i];
        raw[row->part] += row->sum.raw_amount;
        rows[row->part]++;
        if (row->stack != 0 && row->sum.raw_amount > heaviest[row->part])
            heaviest[row->part] = row->sum.raw_amount;
    }
    for (int part = 0; part < 2; part++) {
        ck_assert_uint_eq(raw[part], 5050);
        ck_assert_uint_eq(rows[part], 10);
        ck_assert_uint_eq(heaviest[part], 100);
        ck_assert_uint_eq(one.parts[part].dropped_stacks, 91);
        ck_assert_uint_eq(one.parts[part].dropped_amount, 91 * 92 / 2);
        ck_assert_uint_eq(one.parts[part].dropped_count, 91);
    }
    profile_clear(&one);
}
END_TEST

START_TEST(rows_that_look_alike_become_one)
{
    profile one;
    sample_profile(&one, 1, 4);
    one.rows[1] = one.rows[0];
    one.rows[3] = one.rows[0];
    profile_unite(&one);
    ck_assert_uint_eq(one.row_count, 2);
    ck_assert_uint_eq(one.rows[0].sum.raw_amount, 3);
    ck_assert_uint_eq(one.rows[0].sum.count, 6);
    profile_clear(&one);
}
END_TEST

START_TEST(strings_are_clean_utf8)
{
    static const struct {
        const char *given;
        const char *kept;
    } cases[] = {{"plain", "plain"},
                 {"\xc3\xa9", "\xc3\xa9"},
                 {"a\xff\xfe", "a??"},
                 {"\xed\xa0\x80", "???"},
                 {"\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5"},
                 {"\xc0\xaf", "??"},
                 {"cut\xe2\x82", "cut??"}};
    string_table table = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t index = 0;
        size_t length = 0;
        ck_assert_int_eq(string_table_add(&table, cases[i].given, strlen(cases[i].given), &index),
                         0);
        const char *text = string_table_at(&table, index, &length);
        ck_assert_uint_eq(length, strlen(cases[i].kept));
        ck_assert(memcmp(text, cases[i].kept, length) == 0);
    }
    uint32_t index = 0;
    ck_assert_int_eq(string_table_add(&table, "a\0b", 3, &index), 0);
    size_t length = 0;
    ck_assert(memcmp(string_table_at(&table, index, &length), "a?b", 3) == 0);
    string_table_clear(&table);
}
END_TEST

/* Returns the longest run of used slots, which a search may have to walk. */
static size_t longest_run(const string_table *table)
{
    size_t longest = 0;
    for (size_t i = 0, run = 0; i < table->slot_count; i++) {
        run = table->slots[i] != 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

START_TEST(names_chosen_by_a_jvm_do_not_pile_up)
{
    enum { NAMES = 4000 };
    string_table table = {0};
    char name[24];
    for (unsigned long made = 0; table.count < NAMES; made++) {
        uint32_t index = 0;
        snprintf(name, sizeof(name), "%lx", made);
        if ((XXH3_64bits(name, strlen(name)) & 16383) < 256)
            ck_assert_int_eq(string_table_add(&table, name, strlen(name), &index), 0);
    }
    ck_assert_uint_lt(longest_run(&table), NAMES / 4);
    string_table_clear(&table);
}
END_TEST

TCase *batch_tests(void)
{
    TCase *tests = tcase_create("batch");
    tcase_add_test(tests, borders_lie_at_utc_multiples_plus_jitter);
    tcase_add_test(tests, no_window_crosses_midnight);
    tcase_add_test(tests, jitter_is_stable_and_within_its_range);
    tcase_add_test(tests, a_batch_holds_what_was_added_once);
    tcase_add_test(tests, limits_are_seen_before_a_part_is_added);
    tcase_add_test(tests, a_split_keeps_every_window_whole);
    tcase_add_test(tests, folding_keeps_the_heaviest_and_every_total);
    tcase_add_test(tests, rows_that_look_alike_become_one);
    tcase_add_test(tests, strings_are_clean_utf8);
    tcase_add_test(tests, names_chosen_by_a_jvm_do_not_pile_up);
    return tests;
}
